"""docs/guide/checkpoints.md as it is written: its C program is compiled and run, its commands work."""

import os
import pathlib
import re
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guide/checkpoints.md").read_text()
COMMAND = pathlib.Path(os.environ.get("SEABOARD_BIN", str(ROOT / "build/seaboard")))
LIBRARY = pathlib.Path(os.environ.get("SEABOARD_LIB", str(ROOT / "build/libseaboard.so")))
INCLUDE = os.environ.get("SEABOARD_INCLUDE", str(ROOT / "include"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder in which the guide's program ran twice, and what it said."""
    folder = tmp_path_factory.mktemp("guide")
    [program] = re.findall(r"```c\n(.*?)```", GUIDE, re.S)
    (folder / "program.c").write_text(program)
    subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE, "program.c", "-o", "program",
                    str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], cwd=folder, check=True)
    said = [subprocess.run(["./program"], cwd=folder, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    return folder, said


def test_the_program_goes_on_where_it_stopped_and_tensorflow_reads_it(ran):
    folder, said = ran
    assert said == ["a new run\n", "run/ckpt-4\n"]
    assert sorted(path.name for path in folder.glob("run/*.index")) == [f"ckpt-{i}.index" for i in (6, 7, 8)]
    model, step = tf.Module(), tf.Variable(0, dtype=tf.int64)
    model.w = tf.Variable(tf.zeros([3, 2]))
    latest = tf.train.latest_checkpoint(str(folder / "run"))
    tf.train.Checkpoint(model=model, step=step).restore(latest).assert_consumed()
    assert step.numpy() == 8000 and model.w.numpy()[0, 0] == 4000


def test_the_commands_work_as_written(ran):
    folder, _ = ran
    name = "model/w/.ATTRIBUTES/VARIABLE_VALUE"
    commands = re.findall(r"^\| `(seaboard ckpt [^`]+)` \|", GUIDE, re.M)
    assert len(commands) == 10
    for command in commands:
        given = {"PATH": "run", "PREFIX": "copy", "[NAME]": name, "NAME": name, "OLD": "model", "NEW": "net", "IN.npz": "OUT.npz"}
        words = [given.get(word, word) for word in command.split()]
        done = subprocess.run([str(COMMAND), *words[1:]], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, (words, done.stderr)
