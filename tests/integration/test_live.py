"""Logs that grow while they are looked at: what is appended reaches an open event stream, whole and once.

Times are printed, never tested: a busy machine is not a mistake.
"""

import random
import statistics
import threading
import time

import pytest
from command import frame, scalar
from serve_driver import Events, Seaboard

HEADER = frame(b"\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2")
WAYS = pytest.mark.parametrize("options", [(), ("--no_inotify",)], ids=["inotify", "by-the-clock"])


def records(tag, first, count):
    return [frame(scalar(tag, step, float(step % 1000))) for step in range(first, first + count)]


def log_file(folder, number=0):
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"events.out.tfevents.{1700000000 + number}.host.{number}"


def steps(server, run, tag):
    """What is there of a series, checked: the steps from 0 on, each once, with its value."""
    reply = server.get(f"/data/plugin/scalars/scalars?run={run}&tag={tag}")
    if reply.status == 404:
        return 0
    points = reply.json()
    assert [point[1:] for point in points] == [[i, float(i % 1000)] for i in range(len(points))]
    return len(points)


@WAYS
def test_an_appended_record_reaches_the_stream(tmp_path, options, capsys):
    path = log_file(tmp_path / "run")
    rounds = 60
    times = []
    with open(path, "wb", buffering=0) as out:
        out.write(HEADER + records(b"loss", 0, 1)[0])
        with Seaboard(tmp_path, *options) as server, Events(server.connect()) as events, server.connect() as asking:
            server.loaded()
            known = events.version()
            assert known, "with version 0 a client is told no series"
            while steps(server, "run", "loss") < 1:
                known = events.version()
            for step in range(1, rounds + 1):
                time.sleep(random.uniform(0, 0.12))  # so that no rhythm of ours meets one of the server's
                begin = time.monotonic()
                out.write(records(b"loss", step, 1)[0])
                grown = 0
                while grown < step + 1:
                    events.version()
                    news = asking.ask(f"/api/v1/changes?since={known}").json()
                    known = news["version"]
                    grown = max([points for _, tag, points, *_ in news["series"] if tag == "loss"], default=grown)
                times.append(time.monotonic() - begin)
                assert grown == step + 1
            assert steps(server, "run", "loss") == rounds + 1
    times.sort()
    with capsys.disabled():
        print(
            f"\nappend to stream, {'by the clock' if options else 'inotify'}:"
            f" p50 {statistics.median(times) * 1e3:.1f} ms,"
            f" p95 {times[int(len(times) * 0.95)] * 1e3:.1f} ms, max {times[-1] * 1e3:.1f} ms"
        )


def append_in_cuts(path, data, seed, pause):
    """Writes data in pieces whose ends have nothing to do with those of records."""
    chance = random.Random(seed)
    with open(path, "ab", buffering=0) as out:
        at = 0
        while at < len(data):
            size = chance.choice([1, 3, 11, 12, 13, 50, 100, 400])
            out.write(data[at : at + size])
            at += size
            if chance.random() < pause:
                time.sleep(chance.uniform(0, 0.02))


@WAYS
def test_nothing_is_lost_of_two_writers_that_write_in_random_cuts(tmp_path, options):
    """Two files of one run, and one of another, all at once; each answer on the way is a prefix of the truth."""
    count = 6000
    writers = [
        (log_file(tmp_path / "one", 0), "one", b"a"),
        (log_file(tmp_path / "one", 1), "one", b"b"),
        (log_file(tmp_path / "two", 2), "two", b"a"),
    ]
    threads = [
        threading.Thread(
            target=append_in_cuts, args=(path, HEADER + b"".join(records(tag, 0, count)), seed, 0.1)
        )
        for seed, (path, _, tag) in enumerate(writers)
    ]
    with Seaboard(tmp_path, "--reload_interval", 0.5, *options) as server, Events(server.connect()) as events:
        known, grown, names = 0, {}, {}
        for thread in threads:
            thread.start()
        looks = 0
        while len(grown) < 3 or min(grown.values()) < count:
            version = events.version()
            # what a client of the stream does: asks what is new, and only for that
            since, news = known, server.json(f"/api/v1/changes?since={known}")
            assert news["version"] >= version and not news["more"]
            known = news["version"]
            names.update({run["id"]: run["name"] for run in news["runs"]})
            for run, tag, points, *_ in news["series"]:
                key = names[run], tag
                assert points >= grown.get(key, 0)
                grown[key] = points
            if since == 0:  # which lists no series: a first look at what is there
                grown.update({(run, tag.decode()): steps(server, run, tag.decode()) for _, run, tag in writers})
            looks += 1
            for _, run, tag in writers[looks % 3 :: 3]:
                assert steps(server, run, tag.decode()) >= grown.get((run, tag.decode()), 0)
        for thread in threads:
            thread.join()
        for path, run, tag in writers:
            assert steps(server, run, tag.decode()) == count
        status = server.json("/api/v1/status?files=1")
        assert [(file["damaged"], file["lost"]) for file in status["files"]] == [(0, 0)] * 3
        assert looks > 3


@WAYS
def test_runs_come_and_go_on_the_stream(tmp_path, options):
    """Deleted, made again in the same place, and a directory that was not there."""
    logdir = tmp_path / "not yet"
    with Seaboard(logdir, "--reload_interval", "0.2", *options) as server, Events(server.connect()) as events:
        server.loaded()
        path = log_file(logdir / "run")
        path.write_bytes(HEADER + b"".join(records(b"loss", 0, 50)))
        while steps(server, "run", "loss") != 50:
            events.version()
        path.unlink()
        log_file(logdir / "run", 7).write_bytes(HEADER + b"".join(records(b"loss", 0, 20)))
        while steps(server, "run", "loss") != 20:
            events.version()
        log_file(logdir / "run", 7).unlink()
        (logdir / "run").rmdir()
        while server.json("/data/runs"):
            events.version()


def test_many_listeners_hear_of_the_same_version(tmp_path):
    path = log_file(tmp_path / "run")
    with open(path, "wb", buffering=0) as out, Seaboard(tmp_path) as server:
        out.write(HEADER)
        listeners = [Events(server.connect()) for _ in range(200)]
        for listener in listeners:
            listener.version()
        out.write(records(b"loss", 0, 1)[0])
        server.wait(lambda: steps(server, "run", "loss"))
        newest = server.status()["version"]
        for listener in listeners:
            while listener.version() < newest:
                pass
            listener.close()
