"""Graphs of 1000, 10 000 and 100 000 nodes in Chromium: from navigation to the first picture (the server reads the graph
meanwhile), the longest task of the page while it opens, frames and tasks while it is moved and while boxes are opened, memory of
page and server; and the time of the server's answer alone. TensorBoard's own page beside it, for as long as a person would wait."""

import json
import subprocess
import sys
import time

import page

logs, common, OURS, PEER, Server = page.logs, page.common, page.OURS, page.PEER, page.Server
SIZES = (1000, 10_000, 100_000)
LEAST = 200  # nodes, however small the scale


def work(nodes):
    shown = str(nodes) if nodes < 10_000 else f"{nodes:,}".replace(",", " ")
    return f"web app, graph of {shown} nodes"


def answer_ns(server):
    """The first level: the graph is read, made a model and laid out."""
    (graph,) = json.loads(server.ask("/api/v1/graphs"))["graphs"]
    body = {"source": {"graph": {"run": graph["run"], "tag": graph["tag"]}}, "open": [], "auto": True}
    began = time.perf_counter_ns()
    headers = {"Content-Type": "application/json", "X-Seaboard-Request": "1"}
    if "isLarge" in json.loads(server.ask("/api/v1/graph/draw", json.dumps(body), **headers)):
        job = json.loads(server.ask("/api/v1/jobs", json.dumps({"kind": "graph", "args": body}), **headers))["job"]
        while job["state"] in ("waiting", "running"):
            time.sleep(0.002)
            job = json.loads(server.ask(f"/api/v1/job?id={job['id']}"))["job"]
        assert job["state"] == "done", job
        server.ask(f"/api/v1/job/result?id={job['id']}")
    return time.perf_counter_ns() - began


def with_server(nodes, measure):
    """Each time a server that has not read the graph."""
    with Server(OURS, logs.logdir(f"G{nodes}")) as server:
        page.read_whole(server)
        return measure(server), server.memory()


def ours(nodes, repeat):
    answers = [with_server(nodes, answer_ns)[0] for _ in range(repeat)]
    seen = [with_server(nodes, lambda server: page.browse("graph", server)) for _ in range(repeat)]
    found, memory = [one for one, _ in seen], [size for _, size in seen]
    report = lambda part, unit, value: common.report(OURS, work(nodes), part, unit, value)  # noqa: E731
    report("read, laid out and answered", "ns", page.median(answers))
    report("first picture", "ns", page.median([one["first"] for one in found]) * page.MS)
    report("longest task while it opens (50 ms: none longer)", "ns", page.median([one["opened"] for one in found]) * page.MS)
    for what, doing in (("moved", "it is moved"), ("expanded", "boxes are opened")):
        of = [one[what] for one in found]
        report(f"longest task while {doing} (50 ms: none longer)", "ns", page.median([one["task"] for one in of]) * page.MS)
        report(f"longest frame while {doing}", "ns", page.median([one["longest"] for one in of]) * page.MS)
        report(f"median frame while {doing}", "ns", page.median([one["median"] for one in of]) * page.MS)
    report("heap of the page", "MB", page.median([one["heap"] for one in found]) / 1e6)
    report("memory of the server", "MB", page.median(memory))


def peer(nodes):
    with Server(PEER, logs.logdir(f"G{nodes}")) as server:
        while "run0000" not in json.loads(server.ask("/data/plugin/graphs/info")):
            time.sleep(0.1)
        found = page.browse("graph", server, "peer")
        common.report(PEER, work(nodes), "first picture", "ns", found["first"] * page.MS)
        common.report(PEER, work(nodes), "longest task while it opens (50 ms: none longer)", "ns", found["opened"] * page.MS)
        common.report(PEER, work(nodes), "heap of the page", "MB", found["heap"] / 1e6)
        common.report(PEER, work(nodes), "memory of the server", "MB", server.memory())


def main():
    args = common.arguments()
    for nodes in sorted({max(LEAST, common.scaled(size, args)) for size in SIZES}):
        ours(nodes, common.scaled(3, args))
        try:
            peer(nodes)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            print(f"{PEER}, {nodes} nodes: no picture: {str(problem)[-200:]}", file=sys.stderr)


main()
