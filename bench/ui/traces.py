"""A trace of torch's profiler of 100 MB (a million slices) in Chromium: from navigation to the first picture of its timeline (the
server reads the file meanwhile), frames while it is zoomed and moved, memory of page and server. Chromium draws without a GPU."""

import json
import time

import page

logs, common, OURS, Server = page.logs, page.common, page.OURS, page.Server
WORK = "web app, trace of 100 MB"


def main():
    args = common.arguments()
    found, memory = [], []
    for _ in range(common.scaled(3, args)):
        with Server(OURS, logs.logdir(f"T{args.scale}")) as server:  # each time a server that has not read it
            while not json.loads(server.ask("/api/v1/profile/captures"))["captures"]:
                time.sleep(0.02)
            found.append(page.browse("trace", server))
            memory.append(server.memory())
    report = lambda part, unit, value: common.report(OURS, WORK, part, unit, value)  # noqa: E731
    report("open to first picture", "ns", page.median([one["first"] for one in found]) * page.MS)
    report("zoom and move, longest frame", "ns", max(one["moved"]["longest"] for one in found) * page.MS)
    report("zoom and move, median frame", "ns", page.median([one["moved"]["median"] for one in found]) * page.MS)
    report("heap of the page", "MB", page.median([one["heap"] for one in found]) / 1e6)
    report("memory of the page's process", "MB", page.median([one["process"] for one in found]) / 1e6)
    report("memory of the server", "MB", page.median(memory))


main()
