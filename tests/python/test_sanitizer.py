"""The extension module under AddressSanitizer and UBSan: the dev build's, in an interpreter of its own.

Leaks are not looked for: the interpreter leaves plenty itself.
"""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEV = ROOT / "build/dev/python"
PROGRAM = """
import gc, os, threading, warnings
import numpy as np
import seaboard, seaboard.summary, seaboard.tensorboardX
from seaboard import _native, train

def refused(call, *args, **named):
    try:
        call(*args, **named)
    except (TypeError, ValueError, AssertionError, NotImplementedError, OSError, RuntimeError, KeyError, IndexError) as error:
        return error
    raise SystemExit(f"{call} took {args}")

rng = np.random.default_rng(0)
for kind in (seaboard.SummaryWriter, seaboard.tensorboardX.SummaryWriter):
    with kind("runs/" + kind.__module__) as w:
        def work(thread):
            for step in range(200):
                w.add_scalar(f"s{thread}", np.float32(step), step)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        w.add_scalars("many", {"a": 1, "b": 2.0}, 1)
        w.add_histogram("h", rng.normal(size=(7, 9))[::2, ::-3], 1)
        w.add_histogram_raw("r", 0, 1, 2, 3, 4, [1.0, 2.0], [1, 1], 0)
        w.add_image("i", rng.integers(0, 255, (3, 5, 6)).astype("uint8"), 1)
        w.add_images("is", rng.uniform(size=(2, 3, 5, 6)), 1)
        w.add_audio("a", rng.uniform(-1, 1, 64), 1)
        w.add_text("t", "text \\N{SNOWMAN}", 1)
        w.add_video("v", rng.integers(0, 255, (1, 3, 3, 4, 4)).astype("uint8"), 1)
        w.add_pr_curve("p", [0, 1, 1], [0.1, 0.5, 0.9], 1)
        w.add_mesh("m", rng.normal(size=(1, 4, 3)))
        w.add_embedding(rng.normal(size=(3, 2)), ["x", "y", "z"])
        w.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name="trial")
        w.add_custom_scalars({"a": {"b": ["Multiline", ["x"]]}})
        w.add_tensor("tensor", rng.normal(size=(2, 3)).T)
        for wrong in (object(), [[1], [1, 2]], np.array(["a"], object), np.zeros((2, 2), "M8[s]")):
            refused(w.add_histogram, "h", wrong)
        refused(w.add_image, "i", np.zeros((2, 2, 2, 2, 2)))
        refused(w.add_scalar, 3, 1.0)
        w.flush()
log = seaboard.read("runs", kinds="all")
columns = [(series.steps, getattr(series, "values", None)) for series in log]
del log
gc.collect()
assert sum(int(np.sum(steps)) for steps, _ in columns) > 0  # arrays outlive what they were read from
for event in seaboard.summary_iterator(next(path for path in map(str, __import__("pathlib").Path("runs").rglob("*tfevents*")))):
    pass

arrays = {"w": rng.normal(size=(3, 4)), "t": np.array(["a", "bb"], object), "n": np.array(4), "e": np.zeros((0, 3))}
net = train.Module()
net.a, net.self_ = arrays, net
checkpoint = train.Checkpoint(net=net, other=arrays["w"])
manager = train.CheckpointManager(checkpoint, "ckpt", 2)
for _ in range(4):
    path = manager.save()
status = checkpoint.restore(path)
status.assert_consumed()
fresh = train.Checkpoint()
status = fresh.restore(path)
refused(status.assert_consumed)
fresh.net = train.Module()
fresh.net.a = {"w": np.zeros((3, 4)), "t": np.array(["", ""], object), "n": np.array(0), "e": np.zeros((0, 3))}
fresh.other = fresh.net.a["w"]
assert fresh.net.a["t"].tolist() == ["a", "bb"]
refused(train.Checkpoint(other=np.zeros(5)).restore, path)
refused(train.Checkpoint(w=np.zeros(5)).restore, "none")
tensors = [train.load_variable(path, name) for name, _ in train.list_variables(path)]
gc.collect()
assert all(np.size(tensor) >= 0 for tensor in tensors)
saver = train.Saver({"w": arrays["w"]}, max_to_keep=1)
for step in range(3):
    saved = saver.save(None, "m", global_step=step)
saver.restore(None, saved)
refused(train.Saver({"x": np.zeros(1)}).restore, None, saved)
words = np.array(["a", "b"], object)
saver = train.Saver({"t": words, "w": arrays["w"]})
saved = saver.save(None, "s", global_step=1)
words[...] = ["a longer text", ""]
saver.save(None, "s", global_step=2)
saver.restore(None, saved)
assert words.tolist() == ["a", "b"]
bare = _native.Saver(5, 1.0, False, False, 1, False, "checkpoint", True)
bare.add("t", (("a",), (1,)))
bare.set_strings(0, (("another",), (1,)))
assert bare.strings(0) == [b"another"]
for wrong in ((0, (("a", "b"), (2,))), (1, (("a",), (1,))), (-1, (("a",), (1,))), (0, 5), (0, ((3,), (1,)))):
    refused(bare.set_strings, *wrong)
refused(bare.strings, 1)
tree = _native.Tree()
assert tree.awaited_slots(0, 0) == []
refused(tree.awaited_slots, 0, 9), refused(tree.awaited_slots, 9, 0)
refused(tree.add, 7, "x"), refused(tree.strings, 0), refused(tree.get_value, 0, "x"), refused(tree.check, "consumed")
refused(tree.variable, 0, "x", None, np.zeros((4, 4))[::2], True), refused(tree.slot, 0, 0, "m", None, np.zeros(1), True)
from seaboard._sampler import Sampler
sampler = Sampler("profile", 0.001)
sampler.start()
sum(range(200000))
sampler.stop()
print("all of it")
"""


def test_the_extension_touches_no_memory_that_is_not_its_own(tmp_path):
    if not (DEV / "seaboard").is_dir():
        pytest.skip("there is no dev build with the Python package")
    pytest.importorskip("numpy")
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        if os.path.sep in found:
            libraries.append(os.path.realpath(found))
    if len(libraries) != 2:
        pytest.skip("gcc has no sanitizers here")
    options = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    environment = {**os.environ, **options, "LD_PRELOAD": " ".join(libraries), "PYTHONPATH": str(DEV), "PYTHONMALLOC": "malloc"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "all of it\n", done.stderr
