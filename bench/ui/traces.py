"""Traces of torch's profiler of 10 MB, 100 MB and 1 GB (100 000 slices, a million, ten millions) in Chromium: from navigation to the
first picture of the timeline (the server reads the file meanwhile), frames while it is zoomed and moved, memory of page and
server. Chromium draws without a GPU: the canvas is painted by the processor, and so it says on standard error."""

import json
import sys
import time

import page

logs, common, OURS, Server = page.logs, page.common, page.OURS, page.Server
SIZES = ((0.1, "10 MB", 3), (1, "100 MB", 3), (10, "1 GB", 1))  # millions of slices, name, how often


def measure(millions, name, repeat):
    found, memory = [], []
    for _ in range(repeat):
        with Server(OURS, logs.logdir(f"T{millions:g}")) as server:  # each time a server that has not read it
            while not json.loads(server.ask("/api/v1/profile/captures"))["captures"]:
                time.sleep(0.02)
            found.append(page.browse("trace", server))
            memory.append(server.memory())
    report = lambda part, unit, value: common.report(OURS, f"web app, trace of {name}", part, unit, value)  # noqa: E731
    report("open to first picture", "ns", page.median([one["first"] for one in found]) * page.MS)
    report("zoom and move, longest frame", "ns", max(one["moved"]["longest"] for one in found) * page.MS)
    report("zoom and move, median frame", "ns", page.median([one["moved"]["median"] for one in found]) * page.MS)
    report("heap of the page", "MB", page.median([one["heap"] for one in found]) / 1e6)
    report("memory of the page's process", "MB", page.median([one["process"] for one in found]) / 1e6)
    report("memory of the server", "MB", page.median(memory))
    return found[0]["renderer"]


def main():
    args = common.arguments()
    for millions, name, repeat in SIZES:
        renderer = measure(millions * args.scale, name, common.scaled(repeat, args))
        print(f"trace of {name}: frames were drawn by {renderer}", file=sys.stderr)


main()
