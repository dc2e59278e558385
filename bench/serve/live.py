"""From a record appended to a log until a client can know: ours by the event stream, TensorBoard by asking again."""

import http.client
import json
import pathlib
import random
import sys
import tempfile
import time

from servers import HERE, OURS, PEER, Server

import common  # isort: skip

sys.path.insert(0, str(HERE.parents[1] / "tests/conformance"))


def writer(folder):
    import sbctypes

    return sbctypes.Writer(folder, style=sbctypes.TF2)


def append(log, step):
    begin = time.perf_counter_ns()
    log.scalar("loss", 1.0 / (step + 1), step)
    log.flush()
    return begin


def ours(count, *options):
    times = []
    with tempfile.TemporaryDirectory() as folder, writer(pathlib.Path(folder) / "run") as log:
        append(log, 0)
        with Server(OURS, folder, *options) as server:
            known = 0
            while not known or json.loads(server.ask("/api/v1/status"))["loading"]["isLoading"]:
                known = json.loads(server.ask("/api/v1/changes?since=0"))["version"]
            stream = http.client.HTTPConnection("localhost", server.port, timeout=60)
            stream.request("GET", "/api/v1/events")
            events = stream.getresponse()
            for step in range(1, count + 1):
                time.sleep(random.uniform(0.06, 0.2))
                begin = append(log, step)
                points = 0
                while points < step + 1:
                    while not events.readline().startswith(b"data:"):
                        pass
                    news = json.loads(server.ask(f"/api/v1/changes?since={known}"))
                    known = news["version"]
                    points = max((series[2] for series in news["series"]), default=points)
                times.append(time.perf_counter_ns() - begin)
            stream.close()
    return sorted(times)


def peer(count):
    times = []
    with tempfile.TemporaryDirectory() as folder, writer(pathlib.Path(folder) / "run") as log:
        append(log, 0)
        with Server(PEER, folder) as server:
            points = 0
            for step in range(count + 1):
                begin = append(log, step) if step else time.perf_counter_ns()
                while points < step + 1:
                    try:
                        points = len(json.loads(server.ask("/data/plugin/scalars/scalars?run=run&tag=loss")))
                    except RuntimeError:
                        pass
                    time.sleep(0.02)
                if step:
                    times.append(time.perf_counter_ns() - begin)
    return sorted(times)


def main():
    common.arguments()
    work = "appended to seen"
    times = ours(60)
    common.report(OURS, work, "p50", "ns", times[len(times) // 2])
    common.report(OURS, work, "p95", "ns", times[int(len(times) * 0.95)])
    times = ours(40, "--no_inotify")
    common.report(OURS, work, "p95 without inotify", "ns", times[int(len(times) * 0.95)])
    times = peer(3)
    common.report(PEER + ", reload 5 s", work, "p50", "ns", times[1])


main()
