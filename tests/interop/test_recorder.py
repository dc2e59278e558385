"""Recordings of seaboard/profile.h as TensorFlow reads them: its own XSpace messages find the same slices, steps and numbers,
recorded by many Python threads through the library."""

import ctypes as c
import pathlib
import sys
import threading
import time

import pytest

xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ckpt_ctypes import Err, library  # noqa: E402


class Opts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("session", c.c_char_p), ("host", c.c_char_p), ("memory_bytes", c.c_size_t),
                ("when_full", c.c_uint64)]


for name, arguments in {
    "begin": [c.c_void_p, c.c_uint32, c.c_uint32],
    "end": [c.c_void_p, c.c_uint32],
    "step": [c.c_void_p, c.c_uint32, c.c_uint32, c.c_int64],
    "span": [c.c_void_p, c.c_uint32, c.c_uint32, c.c_uint64, c.c_uint64],
    "instant": [c.c_void_p, c.c_uint32, c.c_uint32],
    "count": [c.c_void_p, c.c_uint32, c.c_double],
}.items():
    call = getattr(library, f"sb_recorder_{name}")
    call.argtypes, call.restype = arguments, None
for name in ("track", "name"):
    getattr(library, f"sb_recorder_{name}").argtypes = [c.c_void_p, c.c_char_p]
    getattr(library, f"sb_recorder_{name}").restype = c.c_uint32
library.sb_recorder_now.argtypes, library.sb_recorder_now.restype = [c.c_void_p], c.c_uint64
library.sb_recorder_stop.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]


def start(**opts):
    r, err = c.c_void_p(), Err()
    given = Opts(c.sizeof(Opts), b"session", b"worker-0", **opts)
    assert library.sb_recorder_start(c.byref(r), c.byref(given), c.byref(err)) == 0, err.text
    return r


def stop(r, folder):
    err = Err()
    assert library.sb_recorder_stop(r, str(folder).encode(), c.byref(err)) == 0, err.text
    space = xplane_pb2.XSpace()
    space.ParseFromString((folder / "plugins/profile/session/worker-0.xplane.pb").read_bytes())
    return space


def slices(plane):
    """{line name: [(event name, start, duration, {stat name: value})]}"""
    def stats(event):
        return {plane.stat_metadata[s.metadata_id].name: getattr(s, s.WhichOneof("value")) for s in event.stats}

    return {line.name: [(plane.event_metadata[e.metadata_id].name, e.offset_ps, e.duration_ps, stats(e)) for e in line.events]
            for line in plane.lines}


def test_tensorflow_reads_slices_steps_instants_and_counters(tmp_path):
    r = start()
    loop, memory = library.sb_recorder_track(r, "loop 训练".encode()), library.sb_recorder_track(r, b"memory")
    train, load, mark = (library.sb_recorder_name(r, n) for n in (b"train", b"load", b"mark"))
    began = time.time_ns()
    for step in range(3):
        library.sb_recorder_step(r, loop, train, step)
        library.sb_recorder_begin(r, loop, load)
        library.sb_recorder_end(r, loop)
        library.sb_recorder_instant(r, loop, mark)
        library.sb_recorder_count(r, memory, 1e9 + step)
        library.sb_recorder_end(r, loop)
    now = library.sb_recorder_now(r)
    assert abs(now - time.monotonic_ns()) < 10**9
    library.sb_recorder_span(r, loop, load, now, 12345)
    space = stop(r, tmp_path)
    assert space.hostnames == ["worker-0"] and not space.warnings and not space.errors
    host, environment = space.planes
    assert (host.name, environment.name) == ("/host:CPU", "Task Environment")
    lines = slices(host)
    assert set(lines) == {"loop 训练", "_counters_"}
    names = [event[0] for event in lines["loop 训练"]]
    assert names == ["train", "load", "mark"] * 3 + ["load"]
    for i in range(3):
        outer, inner, moment = lines["loop 训练"][3 * i:3 * i + 3]
        assert outer[3] == {"_r": 1, "step_num": i} and inner[3] == {}
        assert outer[1] <= inner[1] and inner[1] + inner[2] <= moment[1] <= outer[1] + outer[2]
        assert outer[2] > 0 and moment[2] == 0
    assert lines["loop 训练"][-1][2] == 12345000
    assert [(e[0], e[3]) for e in lines["_counters_"]] == [("memory", {"counter_value": 1e9 + i}) for i in range(3)]
    times = {environment.stat_metadata[s.metadata_id].name: s.uint64_value for s in environment.stats}
    assert abs(times["profile_start_time"] - began) < 10 * 10**9
    assert times["profile_stop_time"] > times["profile_start_time"]


def test_every_slice_of_every_thread_is_there(tmp_path):
    r = start()
    threads, count = 6, 2000
    started = threading.Barrier(threads)

    def work(i):
        track = library.sb_recorder_track(r, f"thread {i}".encode())
        name = library.sb_recorder_name(r, f"op {i}".encode())
        started.wait()
        for _ in range(count):
            library.sb_recorder_begin(r, track, name)
            library.sb_recorder_end(r, track)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    space = stop(r, tmp_path)
    lines = slices(space.planes[0])
    assert len(lines) == threads
    for i in range(threads):
        events = lines[f"thread {i}"]
        assert len(events) == count and {event[0] for event in events} == {f"op {i}"}
        for (_, start_ps, duration, _), after in zip(events, events[1:]):
            assert start_ps + duration <= after[1]


def test_what_was_dropped_is_a_warning(tmp_path):
    r = start(memory_bytes=200_000)
    track, name = library.sb_recorder_track(r, b"t"), library.sb_recorder_name(r, b"n")
    for _ in range(50_000):
        library.sb_recorder_instant(r, track, name)
    space = stop(r, tmp_path)
    kept = len(space.planes[0].lines[0].events)
    assert 0 < kept < 50_000
    assert f"{50_000 - kept} calls at the beginning were dropped" in space.warnings[0]
