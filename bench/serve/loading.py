"""Loading: how long until everything is there, and how much memory it takes then. Ours checks every record and keeps
every point; the Rust data server is measured without its checksums and with them, and keeps 1 point of 100."""

import json
import sys
import tempfile
import time
import types

import logs
from servers import OURS, PEER, PYTHON, RUST, Server, resident, rust_server

import common  # isort: skip  (beside the peers' scripts, which servers.py has made known)


def ours(work, points):
    """Nanoseconds from the start of the process until all is there, and MB then."""
    with Server(OURS, logs.logdir(work)) as server:
        while True:
            status = json.loads(server.ask("/api/v1/status"))
            if not status["loading"]["isLoading"]:
                break
            time.sleep(0.0005)
        ns = server.ns()
        assert status["loading"]["points"] == points, status["loading"]
        return ns, server.memory()


def rust(work, *options):
    with rust_server(logs.logdir(work), *options) as (process, ns):
        return ns, resident(process.pid)


def load(work, points, rounds):
    """All in turn, round after round, so that a busy moment of the machine meets each of them; the best counts."""
    who = {
        OURS: lambda: ours(work, points),
        RUST: lambda: rust(work),
        RUST + ", checksums": lambda: rust(work, "--checksum"),
    }
    logs.warm(logs.logdir(work))
    found = {name: [] for name in who}
    for _ in range(rounds):
        for name, measure in who.items():
            found[name].append(measure())
    for name, results in found.items():
        common.report(name, f"load {work}", "start to all there", "ns", min(ns for ns, _ in results))
        common.report(name, f"load {work}", "memory then", "MB", max(memory for _, memory in results))


def python_loader():
    """TensorBoard's own loader over 50 000 records; for all of L1 it would take 200 times as long."""
    sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
    from tensorboard.backend.event_processing import event_accumulator

    begin = time.perf_counter_ns()
    event_accumulator.EventAccumulator(str(logs.logdir("few") / "run0000")).Reload()
    ns = time.perf_counter_ns() - begin
    common.report(PYTHON + " (a 200th, times 200)", "load L1", "start to all there", "ns", ns * 200)


def first_byte(repeat):
    for who in (OURS, PEER):
        with tempfile.TemporaryDirectory() as empty:
            best, memory = None, 0.0
            for _ in range(repeat if who == OURS else 2):
                with Server(who, empty) as server:
                    server.ask("/" if who == OURS else "/index.html")
                    ns = server.ns()
                    best = min(best or ns, ns)
                    time.sleep(0.2)
                    memory = max(memory, server.memory())
            common.report(who, "empty logdir", "start to first byte of /", "ns", best)
            common.report(who, "empty logdir", "memory", "MB", memory)


def all_runs_listed():
    for who in (OURS, PEER):
        best = None
        for _ in range(3 if who == OURS else 1):
            with Server(who, logs.logdir("L2")) as server:
                while len(json.loads(server.ask("/data/runs"))) < 1000:
                    time.sleep(0.0005 if who == OURS else 0.02)
                ns = server.ns()
                best = min(best or ns, ns)
        common.report(who, "L2", "start to 1000 runs listed", "ns", best)


def main():
    common.arguments()
    load("L1", 10_000_000, 3)
    load("L3", 10_000, 3)
    python_loader()
    first_byte(5)
    all_runs_listed()


main()
