"""Histograms and distributions in Chromium: 100 tags of 1000 steps in 20 runs, from opening the tab to the first card; the
time of the server's answer, memory of server and page. TensorBoard's own page beside it, which keeps 500 steps of a tag."""

import json
import time

import page

logs, common, OURS, PEER, Server = page.logs, page.common, page.OURS, page.PEER, page.Server
WHERE = "histograms, 100 tags x 1000 steps x 20 runs"


def answer_ns(server, runs, steps, bins):
    body = {"series": [{"run": run, "tag": "layer_3/weight_1"} for run in runs], "steps": steps, "bins": bins}
    began = time.perf_counter_ns()
    server.ask("/api/v1/histograms/grids", json.dumps(body), **{"Content-Type": "application/json"})
    return time.perf_counter_ns() - began


def ours(repeat):
    with Server(OURS, logs.logdir("H")) as server:
        page.read_whole(server)
        runs = [run["id"] for run in json.loads(server.ask("/api/v1/runs"))["runs"]]
        for what, count, steps, bins in (("a card of ridges", 1, 50, 60), ("a heat map of all steps", 1, 1200, 80), ("20 runs at one step", 20, 32, 60)):
            taken = [answer_ns(server, runs[:count], steps, bins) for _ in range(repeat + 1)]
            common.report(OURS, WHERE, f"answer for {what}", "ns", page.median(taken[1:]))
        for tab in ("histograms", "distributions"):
            found = [page.browse(tab, server) for _ in range(repeat)]
            common.report(OURS, WHERE, f"open {tab} to first card", "ns", page.median([one["first"] for one in found]) * page.MS)
            common.report(OURS, WHERE, f"open {tab} to all cards in sight", "ns", page.median([one["all"] for one in found]) * page.MS)
            common.report(OURS, WHERE, f"heap of the page, {tab}", "MB", page.median([one["heap"] for one in found]) / 1e6)
        common.report(OURS, WHERE, "memory of the server", "MB", server.memory())


def peer():
    with Server(PEER, logs.logdir("H")) as server:
        page.listed_by_peer(server, "histograms")
        found = page.browse("histograms", server, "peer")
        common.report(PEER, WHERE, "open histograms to first card", "ns", found["first"] * page.MS)
        common.report(PEER, WHERE, "heap of the page, histograms", "MB", found["heap"] / 1e6)
        common.report(PEER, WHERE, "memory of the server", "MB", server.memory())


def main():
    args = common.arguments()
    ours(common.scaled(5, args))
    page.beside(peer)


main()
