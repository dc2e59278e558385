"""seaboard inspect beside tensorboard --inspect, byte for byte.

TensorBoard lists directories in the system's order, we in that of bytes. So it runs with its two listing
functions sorted; all else is its own code. Two runs of the unchanged command are compared as well."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from command import FIXTURES, event_files, frame, scalar, seaboard

# Reads [[how, path, tag], ...] and prints the outputs as JSON.
ORACLE = """
import contextlib, io, json, os, sys
from tensorboard.backend.event_processing import event_file_inspector
from tensorboard.compat import tf

def walk(top, topdown=True):
    for directory, folders, files in os.walk(top, followlinks=True):
        folders.sort()
        yield directory, folders, sorted(files)

tf.io.gfile.walk = walk
tf.io.gfile.listdir = lambda path: sorted(os.listdir(path))
outputs = []
for how, path, tag in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        event_file_inspector.inspect(tag=tag, **{how: path})
    outputs.append(out.getvalue())
json.dump(outputs, sys.stdout)
"""

LOGDIRS = ["tf/v2", "tf/v1", "tf/hparams", "tf/plugins", "tf/keras", "torch_writer", "tf", "."]
TAGS = [("tf/v2", "loss"), ("tf/v1", "loss_1"), ("torch_writer", "no such tag"), ("tf/awkward/weird tags", "a//b")]


def quiet():
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def oracle(questions):
    result = subprocess.run(
        [sys.executable, "-c", ORACLE],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env=quiet(),
    )
    return json.loads(result.stdout)


def inspect(*args):
    result = seaboard("inspect", *args)
    assert result.stderr == b""
    assert result.returncode == 0
    return result.stdout.decode()


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """All fixtures but the one behind whose damage TensorBoard sees nothing."""
    root = tmp_path_factory.mktemp("logs")
    for path in event_files():
        if path.parent.name == "bitflip":
            continue
        copy = root / path.relative_to(FIXTURES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    # Order: a directory's own files, then what is in it, then what is beside it.
    for name in ("order/a/b", "order/a-c", "order/a", "order/B", "order"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "x.tfevents.2").write_bytes(frame(scalar(b"t", 3, 1.0)))
        (root / name / "x.tfevents.10").write_bytes(frame(scalar(b"t", 5, 1.0)) * 2)
    (root / "empty").mkdir()
    return root


def test_every_directory_and_file_as_tensorboard_shows_it(logdir):
    files = sorted(path for path in logdir.rglob("*tfevents*") if path.is_file())
    questions = [["logdir", str(logdir / name), ""] for name in [*LOGDIRS, "order", "empty", "nowhere", "no.tfevents"]]
    questions += [["logdir", str(logdir / name) + "/", ""] for name in ("tf/v2", "tf/v1")]
    questions += [["logdir", str(logdir / name), tag] for name, tag in TAGS]
    questions += [["event_file", str(path), ""] for path in files]
    questions += [["event_file", str(files[-1]), "loss"]]
    differing = []
    for (how, path, tag), theirs in zip(questions, oracle(questions)):
        args = [f"--{how}", path] + (["--tag", tag] if tag else [])
        if inspect(*args) != theirs:
            differing.append(args)
    assert differing == []


def test_a_path_may_be_either(logdir):
    file = next((logdir / "tf/v1").glob("*tfevents*"))
    assert inspect(file) == inspect("--event_file", file)
    assert inspect(logdir) == inspect("--logdir", logdir)
    assert inspect(logdir, "--tag", "loss") == inspect("--logdir", logdir, "--tag=loss")


def real_tensorboard(*args):
    program = pathlib.Path(sys.executable).parent / "tensorboard"
    return subprocess.run([program, "--inspect", *args], capture_output=True, timeout=300, check=True, env=quiet()).stdout.decode()


def test_the_unchanged_command_on_one_file(logdir):
    file = next((logdir / "tf/v1").glob("*tfevents*"))
    assert inspect(file) == real_tensorboard("--event_file", str(file))


def test_the_unchanged_command_on_a_directory(logdir):
    ours, theirs = inspect(logdir / "tf/v2"), real_tensorboard("--logdir", str(logdir / "tf/v2"))
    start = "These tags are in "
    assert sorted(ours.split(start)[1:]) == sorted(theirs.split(start)[1:])
    assert sorted(ours.split(start)[0].splitlines()) == sorted(theirs.split(start)[0].splitlines())


def test_records_behind_damage_are_counted_too():
    path = next((FIXTURES / "tf/awkward/bitflip").glob("*"))
    ours = inspect(path)
    (theirs,) = oracle([["event_file", str(path), ""]])
    changed = [(a, b) for a, b in zip(ours.splitlines(), theirs.splitlines()) if a != b]
    assert len(ours.splitlines()) == len(theirs.splitlines())
    assert [(a.split(), b.split()) for a, b in changed] == [
        (["last_step", "29"], ["last_step", "13"]),
        (["max_step", "29"], ["max_step", "13"]),
        (["num_steps", "29"], ["num_steps", "14"]),
    ]


def test_steps_in_any_order(tmp_path):
    steps = [5, 5, 3, 3, 9, -1, 2**40, 7, 7]
    (tmp_path / "x.tfevents").write_bytes(b"".join(frame(scalar(b"t", step, 1.0)) for step in steps))
    (theirs,) = oracle([["logdir", str(tmp_path), ""]])
    assert inspect(tmp_path) == theirs
    assert "[(5, 3), (9, -1), (1099511627776, 7)]" in theirs
