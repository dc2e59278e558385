"""`seaboard export`: every point, exactly."""

import csv
import io
import json
import math
import struct
import subprocess
from urllib.parse import quote

import pytest
from command import BINARY, FIXTURES, frame, scalar, seaboard
from serve_driver import Seaboard

LOGS = FIXTURES / "tf"


def exported(*arguments):
    done = seaboard("export", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def rows(*arguments):
    found = list(csv.reader(io.StringIO(exported(*arguments), newline="")))
    assert found[0] == ["run", "tag", "step", "wall_time", "value"]
    return found[1:]


def test_everything_that_is_served_is_exported():
    served = {}
    with Seaboard(LOGS) as server:
        server.loaded()
        for run, tags in server.json("/data/plugin/scalars/tags").items():
            for tag in tags:
                points = server.json(f"/data/plugin/scalars/scalars?run={quote(run)}&tag={quote(tag)}")
                served[run, tag] = [(step, wall, value) for wall, step, value in points]
    found = {}
    for run, tag, step, wall, value in rows(LOGS):
        found.setdefault((run, tag), []).append((int(step), float(wall), float(value)))
    plain = {key: [(s, w, float(v)) for s, w, v in points] for key, points in served.items()}
    assert {key: [p for p in points if not math.isnan(p[2])] for key, points in found.items()} == {
        key: [p for p in points if not math.isnan(p[2])] for key, points in plain.items()
    }
    objects = json.loads(exported(LOGS, "--format", "json"))
    assert len(objects) == sum(map(len, found.values()))
    assert set(objects[0]) == {"run", "tag", "step", "wall_time", "value"}


def test_one_run_and_one_tag():
    found = rows(LOGS, "--run", "v2/train", "--tag", "loss")
    assert {(row[0], row[1]) for row in found} == {("v2/train", "loss")}
    assert rows(LOGS, "--run", "nobody") == []
    assert json.loads(exported(LOGS, "--run", "nobody", "--format", "json")) == []


@pytest.mark.parametrize("value", [0.1, 1e-45, 3.4028234663852886e38, -0.0, 123456.789, math.inf, -math.inf, math.nan])
def test_values_are_exact(tmp_path, value):
    (tmp_path / "events.out.tfevents.1").write_bytes(frame(scalar(b"x", -7, value, 1700000000.123456)))
    ((_, _, step, wall, got),) = rows(tmp_path)
    stored = struct.unpack("<f", struct.pack("<f", value))[0]
    assert (int(step), float(wall)) == (-7, 1700000000.123456)
    assert math.isnan(float(got)) if math.isnan(value) else repr(float(got)) == repr(stored)
    (one,) = json.loads(exported(tmp_path, "--format", "json"))
    assert float(one["value"]) == stored or math.isnan(stored)
    assert isinstance(one["value"], float) == math.isfinite(stored)


def test_odd_names_survive(tmp_path):
    names = ['a,b"c', "new\nline", "训练 é 😊", "'", " x "]
    for i, name in enumerate(names):
        folder = tmp_path / f"run,{i}"
        folder.mkdir()
        (folder / "events.out.tfevents.1").write_bytes(frame(scalar(name.encode(), 1, 1.0)))
    found = rows(tmp_path)
    assert [row[:2] for row in found] == [[f"run,{i}", name] for i, name in enumerate(names)]
    objects = json.loads(exported(tmp_path, "--format", "json"))
    assert [one["tag"] for one in objects] == names


def test_superseded_points_come_when_asked_for():
    plain = rows(LOGS / "awkward", "--run", "restart")
    everything = rows(LOGS / "awkward", "--run", "restart", "--superseded")
    assert len(everything) > len(plain)
    assert len({row[2] for row in plain}) == len(plain)


def test_a_reader_that_had_enough_is_no_failure_to_talk_about(tmp_path):
    frames = b"".join(frame(scalar(b"x", step, float(step))) for step in range(20000))
    (tmp_path / "events.out.tfevents.1").write_bytes(frames)
    done = subprocess.run(f"'{BINARY}' export '{tmp_path}' | head -3", shell=True, capture_output=True, timeout=120)
    assert done.stdout.count(b"\n") == 3
    assert done.stderr == b""


def test_what_cannot_be_exported_is_said(tmp_path):
    assert seaboard("export", tmp_path / "nowhere").returncode == 1
    assert seaboard("export", tmp_path, "--format", "xml").returncode == 2
    assert seaboard("export").returncode == 2
    assert rows(tmp_path) == []
