"""docs/guide/training.md and its Chinese twin as they are written: their C program is compiled and run."""

import os
import pathlib
import re
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ.get("SEABOARD_LIB", str(ROOT / "build/libseaboard.so")))
INCLUDE = os.environ.get("SEABOARD_INCLUDE", str(ROOT / "include"))


def program_of(guide):
    [program] = re.findall(r"```c\n(.*?)```", (ROOT / "docs/guide" / guide).read_text(), re.S)
    return program


def test_the_program_trains_logs_and_saves_as_written(tmp_path):
    (tmp_path / "train.c").write_text(program_of("training.md"))
    subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE, "train.c", "-o", "train",
                    str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], cwd=tmp_path, check=True)
    out = subprocess.run(["./train"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    losses = [float(x) for x in re.findall(r"^step \d+: loss ([0-9.]+)$", out, re.M)]
    assert len(losses) == 5 and losses[-1] < losses[0] / 2
    [events] = (tmp_path / "runs/circle").glob("events.out.tfevents.*")
    tags = {v.tag for e in tf.compat.v1.train.summary_iterator(str(events)) for v in e.summary.value}
    assert tags == {"loss", "hidden/values", "logits/values"}
    reader = tf.train.load_checkpoint(str(tmp_path / "runs/circle"))
    assert reader.get_tensor("global_step") == 2001 and reader.get_tensor("hidden/weights").shape == (2, 16)


def test_both_languages_have_the_same_program():
    assert program_of("training.md") == program_of("zh/training.md")
