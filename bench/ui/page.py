"""The web app in Chromium: script on the wire, time to the first chart of L2, frames while hovering and zooming, a filter
over ten thousand tags, heap; TensorBoard's own page beside it where it can be asked the same."""

import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))

import logs  # isort: skip
from servers import OURS, PEER, Server, loaded  # isort: skip
import common  # isort: skip

MS = 1e6
PATIENCE = 240


def node():
    said = subprocess.run(["tools/setup", "node-path"], cwd=HERE.parents[1], capture_output=True, text=True, check=True)
    path = os.pathsep.join(filter(None, [said.stdout.strip(), os.environ["PATH"]]))
    return {**os.environ, "PATH": path}


def browse(what, server, *more):
    command = ["node", str(HERE / "browser.mjs"), what, f"http://localhost:{server.port}/", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=node())
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def median(values):
    return sorted(values)[len(values) // 2]


def first(who, repeat, *more):
    with Server(who, logs.logdir("L2")) as server:
        loaded(server, 1000)
        found = [browse("first", server, *more) for _ in range(repeat)]
    report = common.report
    report(who, "web app", "script of the first page", "KB", found[0]["bytes"] / 1000)
    chart = median([one["chart"] for one in found]) * MS
    report(who, "web app, L2", "navigation to first chart, 1000 runs", "ns", chart)
    report(who, "web app, L2", "heap then", "MB", median([one["heap"] for one in found]) / 1e6)


def frames():
    with Server(OURS, logs.logdir("L2")) as server:
        loaded(server, 1000)
        found = browse("frames", server)
    for part in ("hover", "zoom"):
        title = f"{part} over 1000 lines, "
        common.report(OURS, "web app, L2", title + "longest frame", "ns", found[part]["longest"] * MS)
        common.report(OURS, "web app, L2", title + "median frame", "ns", found[part]["median"] * MS)


def tags(repeat):
    with Server(OURS, logs.logdir("tags")) as server:
        read_whole(server)
        found = [browse("tags", server) for _ in range(repeat)]
    for key, title in (("listed", "navigation to list"), ("key", "filter, a keystroke"), ("slowest", "filter, the slowest")):
        common.report(OURS, "web app, 10 000 tags", title, "ns", median([one[key] for one in found]) * MS)


def listed_by_peer(server, plugin, runs=20):
    """Waits until TensorBoard lists the tags of the last of so many runs."""
    while len(json.loads(server.ask(f"/data/plugin/{plugin}/tags"))) < runs:
        time.sleep(0.2)


def read_whole(server):
    """Waits until ours has read all of the log."""
    while json.loads(server.ask("/api/v1/status"))["loading"]["isLoading"]:
        time.sleep(0.05)


def beside(measure):
    """Measures the peer's page; one that can't be measured is told and is no failure of ours."""
    try:
        measure()
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        print(f"{PEER}: its page could not be measured: {str(problem)[-300:]}", file=sys.stderr)


def main():
    args = common.arguments()
    repeat = common.scaled(5, args)
    first(OURS, repeat)
    frames()
    tags(repeat)
    beside(lambda: first(PEER, 1, "peer"))


if __name__ == "__main__":
    main()
