"""Answering: requests a second by wrk, one tag of a thousand runs, and a small question beside two big ones."""

import http.client
import json
import re
import subprocess
import threading
import time

import logs
from servers import OURS, PEER, Server, loaded, requests_a_second

import common  # isort: skip

SECONDS = 3
FORM = b'--x\r\nContent-Disposition: form-data; name="requests"\r\n\r\n%s\r\n--x--\r\n'
SCALARS = "/data/plugin/scalars/scalars?run=run0000&tag=layer_0%2Floss"


def one_tag():
    return FORM % json.dumps([{"plugin": "scalars", "tag": "layer_0/loss"}]).encode()


def small(who):
    with Server(who, logs.logdir("one")) as server:
        loaded(server, 1)
        base = f"http://localhost:{server.port}"
        for part, target in (("/data/environment", "/data/environment"), ("scalars/scalars, 1000 points", SCALARS)):
            common.report(who, "wrk, 8 connections", part, "requests/s", requests_a_second(base + target, SECONDS))


def thousand_runs(who):
    with Server(who, logs.logdir("L2")) as server:
        loaded(server, 1000)
        times = []
        for _ in range(10 if who == OURS else 2):
            begin = time.perf_counter_ns()
            data = server.ask(
                "/data/plugin/timeseries/timeSeries",
                one_tag(),
                **{"Content-Type": "multipart/form-data; boundary=x", "X-XSRF-Protected": "1"},
            )
            times.append(time.perf_counter_ns() - begin)
        assert len(json.loads(data)[0]["runToSeries"]) == 1000
        common.report(who, "one tag of L2", "timeSeries, 1000 runs", "ns", sorted(times)[len(times) // 2])
        common.report(who, "one tag of L2", "timeSeries, size", "MB", len(data) / 1e6)
        if who == OURS:
            binary(server)
            beside_big_ones(server)


def binary(server):
    """The same by the web app's own interface: all points of 1000 runs in columns."""
    runs = [run["id"] for run in json.loads(server.ask("/api/v1/runs"))["runs"]]
    body = {"width": 0, "columns": ["step", "value"], "series": [{"run": run, "tag": "layer_0/loss"} for run in runs]}
    times = []
    for _ in range(20):
        begin = time.perf_counter_ns()
        data = server.ask("/api/v1/scalars", json.dumps(body).encode(), **{"Content-Type": "application/json"})
        times.append(time.perf_counter_ns() - begin)
    common.report(OURS, "one tag of L2", "columns of /api/v1, 1000 runs", "ns", sorted(times)[10])
    common.report(OURS, "one tag of L2", "columns, size", "MB", len(data) / 1e6)


def beside_big_ones(server):
    """p99 of /data/environment while two clients ask for a tag of all runs again and again."""
    stop = threading.Event()
    done = [0, 0]

    def ask_much(which):
        client = http.client.HTTPConnection("localhost", server.port)
        while not stop.is_set():
            tag = f"layer_{done[which] % 10}/loss"
            body = FORM % json.dumps([{"plugin": "scalars", "tag": tag}]).encode()
            headers = {"Content-Type": "multipart/form-data; boundary=x", "X-XSRF-Protected": "1"}
            client.request("POST", "/data/plugin/timeseries/timeSeries", body, headers)
            client.getresponse().read()
            done[which] += 1

    threads = [threading.Thread(target=ask_much, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    command = ["wrk", "-t", "1", "-c", "1", "-d", f"{SECONDS}s", "--latency"]
    try:
        url = f"http://localhost:{server.port}/data/environment"
        text = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    ns = float(value) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    common.report(OURS, "beside two slow questions", "/data/environment, p99", "ns", ns)


def main():
    common.arguments()
    for who in (OURS, PEER):
        small(who)
        thousand_runs(who)


main()
