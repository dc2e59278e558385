"""Graphs of 1000, 10 000 and 100 000 nodes in Chromium: from navigation to the first picture, the longest task of the page while
it opens and while it is moved, memory of page and server, and the time of the server's answer alone. TensorBoard's own page
beside it, for as long as a person would wait."""

import json
import subprocess
import sys
import time

import page

logs, common, OURS, PEER, Server = page.logs, page.common, page.OURS, page.PEER, page.Server
SIZES = (1000, 10_000, 100_000)


def work(nodes):
    return f"web app, graph of {nodes:,} nodes".replace(",", " ")


def read_whole(server):
    while json.loads(server.ask("/api/v1/status"))["loading"]["isLoading"]:
        time.sleep(0.02)


def answer_ns(server):
    """The first level: the graph is read, made a model and laid out."""
    (graph,) = json.loads(server.ask("/api/v1/graphs"))["graphs"]
    body = {"source": {"graph": {"run": graph["run"], "tag": graph["tag"]}}, "open": [], "auto": True}
    began = time.perf_counter_ns()
    server.ask("/api/v1/graph/draw", json.dumps(body), **{"Content-Type": "application/json"})
    return time.perf_counter_ns() - began


def ours(nodes, repeat):
    with Server(OURS, logs.logdir(f"G{nodes}")) as server:
        read_whole(server)
        report = lambda part, unit, value: common.report(OURS, work(nodes), part, unit, value)  # noqa: E731
        report("read, laid out and answered", "ns", answer_ns(server))
        found = [page.browse("graph", server) for _ in range(repeat)]
        report("first picture", "ns", page.median([one["first"] for one in found]) * page.MS)
        report("longest task while it opens (50 ms: none longer)", "ns", max(one["opened"] for one in found) * page.MS)
        report("longest task while it is moved (50 ms: none longer)", "ns", max(one["moved"] for one in found) * page.MS)
        report("heap of the page", "MB", page.median([one["heap"] for one in found]) / 1e6)
        report("memory of the server", "MB", server.memory())


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
    for nodes in (common.scaled(size, args) for size in SIZES):
        ours(nodes, common.scaled(3, args))
        try:
            peer(nodes)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            print(f"{PEER}, {nodes} nodes: no picture: {str(problem)[-200:]}", file=sys.stderr)


main()
