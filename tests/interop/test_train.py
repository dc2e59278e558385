"""The programs of examples/mnist and examples/linear_regression: whole trainings beside TensorFlow and torch, checkpoints
that TensorFlow restores and trains on, data, flags and failures. test_train_ops.py compares single ops."""

import fcntl
import gzip
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tensorflow.tsl.profiler.protobuf import xplane_pb2  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ckpt_ctypes import ROOT  # noqa: E402

tf1 = tf.compat.v1
PROGRAM = pathlib.Path(os.environ.get("SEABOARD_BIN", ROOT / "build/seaboard")).parent / "examples/fully_connected_feed"
NAMES = ["hidden1/weights", "hidden1/biases", "hidden2/weights", "hidden2/biases", "softmax_linear/weights",
         "softmax_linear/biases"]

# ---- the program -------------------------------------------------------------------------------------------------


def train(log_dir, *more, code=0):
    done = subprocess.run([PROGRAM, "--log_dir", log_dir, *map(str, more)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def parameters(log_dir, step):
    reader = tf.train.load_checkpoint(str(log_dir / f"model.ckpt-{step}"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def events(log_dir):
    found = []
    for path in sorted(log_dir.glob("events.out.tfevents.*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            size = struct.unpack("<Q", data[at : at + 8])[0]
            found.append(tf1.Event.FromString(data[at + 12 : at + 12 + size]))
            at += 16 + size
    return found


@pytest.fixture(scope="module")
def small_data(tmp_path_factory):
    """6000 random pictures in mnist.npz: 1000 to train with."""
    folder, random = tmp_path_factory.mktemp("digits"), np.random.RandomState(1)
    labels = random.randint(0, 10, 7000).astype(np.uint8)
    images = (random.randint(0, 60, (7000, 28, 28)) + 15 * labels[:, None, None]).astype(np.uint8)
    np.savez_compressed(folder / "mnist.npz", x_train=images[:6000], y_train=labels[:6000], x_test=images[6000:],
                        y_test=labels[6000:])
    return folder


def shape_text(shape):
    return "?" if shape.unknown_rank else "[" + ",".join(str(dim.size) for dim in shape.dim) + "]"


def test_the_graph_equals_tensorflows_node_by_node(tmp_path):
    train(tmp_path, "--fake_data", "--max_steps", 1)
    graph = tf1.GraphDef.FromString(next(e.graph_def for e in events(tmp_path) if e.graph_def))
    lines = []
    for node in graph.node:
        shapes = " ".join(shape_text(s) for s in node.attr["_output_shapes"].list.shape)
        where = " " + node.attr["_class"].list.s[0].decode()[4:] if "_class" in node.attr else ""
        lines.append(f"{node.name} {node.op} ({', '.join(node.input)}) {shapes}{where}".rstrip())
    assert lines == (ROOT / "tests/fixtures/train/fully_connected_feed.txt").read_text().splitlines()


def test_files_and_prints_are_the_tutorials(tmp_path, small_data):
    out = train(tmp_path, "--input_data_dir", small_data, "--max_steps", 250)
    number = r"\d+\.\d{2} \(\d+\.\d{3} sec\)"
    line = r"  Num examples: \d+  Num correct: \d+  Precision @ 1: [01]\.\d{4}\n"
    assert re.fullmatch(
        rf"Extracting .*mnist.npz\nStep 0: loss = {number}\nStep 100: loss = {number}\nStep 200: loss = {number}\n"
        rf"Training Data Eval:\n{line}Validation Data Eval:\n{line}Test Data Eval:\n{line}", out), out
    names = {p.name for p in tmp_path.iterdir()}
    assert {"checkpoint", "model.ckpt-249.index", "model.ckpt-249.meta", "model.ckpt-249.data-00000-of-00001"} < names
    assert len(names) == 5
    found = events(tmp_path)
    assert [e.WhichOneof("what") for e in found[:3]] == ["file_version", "graph_def", "meta_graph_def"]
    assert [e.step for e in found[3:]] == [0, 100, 200]
    assert all(v.tag == "loss" for e in found[3:] for v in e.summary.value)
    assert parameters(tmp_path, 249)["global_step"] == 250


@pytest.mark.parametrize("threads", [1, 2])
def test_restored_training_equals_an_uninterrupted_one_bit_by_bit(tmp_path, small_data, threads):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    more = ["--input_data_dir", small_data, "--threads", threads, "--hidden1", 16, "--hidden2", 8]
    train(whole, *more, "--max_steps", 1100)
    train(parts, *more, "--max_steps", 640)
    train(parts, *more, "--max_steps", 1100, "--restore")
    name = "model.ckpt-1099.data-00000-of-00001"
    assert (whole / name).read_bytes() == (parts / name).read_bytes()
    assert (parts / "model.ckpt-639.index").exists()  # nothing is deleted


def test_tensorflow_restores_our_checkpoint_and_trains_on_like_us(tmp_path):
    train(tmp_path / "a", "--fake_data", "--max_steps", 10)
    train(tmp_path / "b", "--fake_data", "--max_steps", 30)
    graph = tf.Graph()
    with graph.as_default(), tf1.Session(graph=graph) as session:
        saver = tf1.train.import_meta_graph(str(tmp_path / "a/model.ckpt-9.meta"))
        saver.restore(session, str(tmp_path / "a/model.ckpt-9"))
        feed = {"Placeholder:0": np.ones((100, 784), np.float32), "Placeholder_1:0": np.zeros(100, np.int32)}
        for _ in range(20):
            session.run("GradientDescent", feed)
        theirs = {name: session.run(f"{name}:0") for name in [*NAMES, "global_step"]}
    ours = parameters(tmp_path / "b", 29)
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-3, atol=1e-5, err_msg=name)


def test_torch_trains_to_the_same_parameters(tmp_path):
    torch = pytest.importorskip("torch")
    train(tmp_path / "a", "--fake_data", "--max_steps", 10)
    train(tmp_path / "b", "--fake_data", "--max_steps", 30)
    start, end = parameters(tmp_path / "a", 9), parameters(tmp_path / "b", 29)
    weights = [torch.tensor(start[name], requires_grad=True) for name in NAMES]
    images, labels = torch.ones(100, 784), torch.zeros(100, dtype=torch.long)
    for _ in range(20):
        x = images
        for i in (0, 2, 4):
            x = x @ weights[i] + weights[i + 1]
            x = torch.relu(x) if i < 4 else x
        torch.nn.functional.cross_entropy(x, labels).backward()
        with torch.no_grad():
            for w in weights:
                w -= 0.01 * w.grad
                w.grad = None
    for name, value in zip(NAMES, weights):
        np.testing.assert_allclose(end[name], value.detach().numpy(), rtol=1e-3, atol=1e-5, err_msg=name)


def test_an_interrupt_saves_and_prints_how_to_go_on(tmp_path, small_data):
    log = tmp_path / "it's a log"
    command = [PROGRAM, "--log_dir", log, "--input_data_dir", small_data, "--max_steps", "100000000", "--hidden1", "16"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            if line.startswith("Step 100:"):
                running.send_signal(signal.SIGINT)
                break
        rest = running.stdout.read()
    assert running.returncode == 130
    stopped = re.search(r"Stopped after step (\d+)\. To go on:\n(.*--restore.*)\n", rest)
    step = int(stopped.group(1))
    assert parameters(log, step)["global_step"] == step + 1
    shorter = stopped.group(2).replace("--max_steps 100000000", f"--max_steps {step + 3}")
    assert shorter != stopped.group(2)
    # the command that was printed, as a shell takes it
    again = subprocess.run(["sh", "-c", shorter], capture_output=True, text=True, timeout=300)
    assert again.returncode == 0 and f"Restoring parameters from {log}/model.ckpt-{step}\n" in again.stdout, again.stderr
    assert parameters(log, step + 2)["global_step"] == step + 3


def test_clearing_leaves_what_is_not_the_trainers(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "model.ckpt-old.py").write_text("mine")
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"old")
    (tmp_path / "model.ckpt-7.index").write_bytes(b"old")
    train(tmp_path, "--fake_data", "--max_steps", 1)
    assert (tmp_path / "notes.txt").exists() and (tmp_path / "model.ckpt-old.py").exists()
    assert not (tmp_path / "events.out.tfevents.1.host").exists() and not (tmp_path / "model.ckpt-7.index").exists()


def test_a_loss_that_is_not_a_number_stops_with_good_parameters(tmp_path, small_data):
    said = train(tmp_path, "--input_data_dir", small_data, "--learning_rate", "1e30", "--max_steps", 200, code=1)
    assert "Model diverged with loss = NaN" in said
    [index] = tmp_path.glob("model.ckpt-*.index")
    good = parameters(tmp_path, int(index.stem.rsplit("-", 1)[1]))
    assert all(np.isfinite(value).all() for value in good.values())


def write_idx(folder, count=6000, label=3, magic=2051, cut=0, rows=28):
    folder.mkdir(exist_ok=True)
    for name, n in (("train", count), ("t10k", 1000)):
        images = struct.pack(">IIII", magic, n, rows, 28) + bytes(n * 784)
        labels = struct.pack(">II", 2049, n) + bytes([label]) * n
        packed = gzip.compress(images, 1)
        (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(packed[: len(packed) - cut])
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(labels)
    return folder


def test_idx_files_plain_and_gzip_are_read(tmp_path):
    folder = write_idx(tmp_path / "data")
    assert "Num examples: 5000" in train(tmp_path / "log", "--input_data_dir", folder, "--max_steps", 1)


@pytest.mark.parametrize("change, message", [
    ({"magic": 2050}, "Invalid magic number 2050 in MNIST image file"),
    ({"label": 10}, "there are classes 0 to 9"),
    ({"cut": 20}, "or is damaged"),
    ({"rows": 27}, "pictures of 27x28"),
    ({"count": 5000}, "Validation size should be between 0 and 5000"),
])
def test_bad_data_is_refused_by_name(tmp_path, change, message):
    folder = write_idx(tmp_path / "data", **change)
    assert message in train(tmp_path / "log", "--input_data_dir", folder, "--max_steps", 1, code=1)


def test_bad_npz_is_refused_by_name(tmp_path, small_data):
    whole = (small_data / "mnist.npz").read_bytes()
    for i, (bad, message) in enumerate([(whole[:1000], "no zip archive"), (b"PK", "no zip archive")]):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "mnist.npz").write_bytes(bad)
        assert message in train(tmp_path / "log", "--input_data_dir", folder, code=1)
    folder = tmp_path / "form"
    folder.mkdir()
    np.savez(folder / "mnist.npz", x_train=np.zeros((6000, 28, 28)))
    assert "x_train.npy is no array of uint8" in train(tmp_path / "log", "--input_data_dir", folder, code=1)


def test_a_damaged_npz_is_noticed_by_its_checksum(tmp_path):
    arrays = dict(x_train=np.zeros((6000, 28, 28), np.uint8), y_train=np.zeros(6000, np.uint8),
                  x_test=np.zeros((100, 28, 28), np.uint8), y_test=np.zeros(100, np.uint8))
    np.savez(tmp_path / "mnist.npz", **arrays)
    data = bytearray((tmp_path / "mnist.npz").read_bytes())
    data[100_000] ^= 4
    (tmp_path / "mnist.npz").write_bytes(data)
    said = subprocess.run([PROGRAM, "--input_data_dir", tmp_path, "--log_dir", tmp_path / "log"], capture_output=True, text=True)
    assert said.returncode == 1 and "x_train.npy is damaged" in said.stderr


# ---- the terminal, and digits that the program draws ------------------------------------------------------------------


def on_a_terminal(command, columns=80, env=None):
    """Everything that a program prints when its output is a terminal."""
    main, worker = pty.openpty()
    fcntl.ioctl(worker, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdout=worker, stderr=worker, stdin=worker, env=env)
    os.close(worker)
    said = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(main)
    assert process.wait() == 0, said
    return said.decode()


def screen(said):
    """The lines that stay on the screen, as a terminal shows them."""
    lines, column = [""], 0
    for piece in re.findall(r"\x1b\[K|\r|\n|[^\r\n\x1b]+", said):
        if piece == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif piece == "\r":
            column = 0
        elif piece == "\n":
            lines, column = [*lines, ""], 0
        else:
            lines[-1] = lines[-1][:column] + piece + lines[-1][column + len(piece):]
            column += len(piece)
    return lines


def test_a_terminal_gets_a_bar_that_leaves_the_classic_lines_alone(tmp_path):
    command = [PROGRAM, "--fake_data", "--max_steps", "1000", "--seed", "3", "--log_dir"]
    said = on_a_terminal([*command, tmp_path / "a"])
    bars = re.findall(r"\r\[(#*)(\.*)\] (\d+)/1000  (\d+) steps/s ", said)
    assert bars and all(len(full) + len(rest) == 40 for full, rest, _, _ in bars)
    counts = [int(count) for _, _, count, _ in bars]
    assert counts == sorted(counts) and 0 < counts[0] <= counts[-1] <= 1000
    assert all(len(full) == int(count) * 40 // 1000 for full, _, count, _ in bars)
    # what stays are the lines that a file would get, without the times that differ
    plain = subprocess.run([*command, tmp_path / "b"], capture_output=True, text=True, check=True)
    assert "\r" not in plain.stdout and plain.stderr == ""
    times = re.compile(r"\(\d+\.\d+ sec\)")
    assert [times.sub("", line) for line in screen(said)] == [times.sub("", line) for line in plain.stdout.split("\n")]


@pytest.mark.parametrize("program", ["fully_connected_feed", "convnet"])
def test_without_the_real_digits_generated_ones_are_used_and_said(tmp_path, program, generated):
    cache, log = generated, tmp_path / "log"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    arguments = [log, "1"] if program == "convnet" else ["--log_dir", log, "--max_steps", "1", "--seed", "1"]
    said = subprocess.run([PROGRAM.parent / program, *arguments], capture_output=True, text=True, check=True, cwd=tmp_path,
                          env=environment).stdout
    assert "drawn by a program" in said or "These digits are generated, not MNIST" in said
    texts = [value.tensor.string_val[0].decode() for path in log.rglob("events.out.tfevents.*") for event in events(path.parent)
             for value in event.summary.value if value.metadata.plugin_data.plugin_name == "text" and value.tensor.string_val]
    assert any("generated" in text and "not MNIST" in text for text in texts)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A cache into which the program has drawn its digits: they take some seconds."""
    cache = tmp_path_factory.mktemp("cache")
    subprocess.run([PROGRAM, "--log_dir", cache / "log", "--max_steps", "1"], capture_output=True, check=True, cwd=cache,
                   env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    return cache


def test_generated_digits_are_idx_files_always_the_same_and_marked(generated, tmp_path):
    folder = generated / "seaboard/mnist-generated"
    assert "not MNIST" in (folder / "GENERATED.txt").read_text()
    images = (folder / "train-images-idx3-ubyte").read_bytes()
    labels = (folder / "train-labels-idx1-ubyte").read_bytes()
    assert struct.unpack(">IIII", images[:16]) == (2051, 60000, 28, 28) and len(images) == 16 + 60000 * 784
    assert struct.unpack(">II", labels[:8]) == (2049, 60000) and len(labels) == 8 + 60000
    counts = np.bincount(np.frombuffer(labels, np.uint8, offset=8), minlength=10)
    assert len(counts) == 10 and counts.min() > 5000
    pictures = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    assert 10 < pictures.mean() < 70 and pictures.max() > 200
    assert len(np.unique(pictures[:2000].reshape(2000, -1), axis=0)) == 2000
    subprocess.run([PROGRAM, "--log_dir", tmp_path / "log", "--max_steps", "1"], capture_output=True, check=True, cwd=tmp_path,
                   env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "seaboard/mnist-generated" / path.name).read_bytes()


def test_every_flag_does_what_it_says(tmp_path, small_data):
    def graph_of(log):
        return {node.name: node for node in tf1.GraphDef.FromString(next(e.graph_def for e in events(log) if e.graph_def)).node}

    log = tmp_path / "a"
    out = train(log, "--learning_rate=0.5", "--max_steps=3", "--hidden1", 16, "--hidden2=8", "--batch_size", 50,
                f"--input_data_dir={small_data}", "--seed", 4, "--threads=1")
    assert f"Extracting {small_data}" in out and "Num examples: 1000 " in out
    nodes = graph_of(log)
    assert nodes["GradientDescent/learning_rate"].attr["value"].tensor.float_val == [0.5]
    assert [d.size for d in nodes["Placeholder"].attr["shape"].shape.dim] == [50, 784]
    shapes = {name: value.shape for name, value in parameters(log, 2).items()}
    assert shapes["hidden1/weights"] == (784, 16) and shapes["hidden2/weights"] == (16, 8) and shapes["hidden2/biases"] == (8,)
    assert parameters(log, 2)["global_step"] == 3

    # the same seed gives the same weights, another one others
    more = ["--fake_data", "--max_steps", 1, "--hidden1", 4, "--hidden2", 4]
    weights = []
    for name, seed in (("b", 5), ("c", 5), ("d", 6)):
        train(tmp_path / name, *more, "--seed", seed)
        weights.append(parameters(tmp_path / name, 0)["hidden1/weights"])
    assert (weights[0] == weights[1]).all() and (weights[0] != weights[2]).any()

    said = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  --(\w+)", said, re.M) == ["learning_rate", "max_steps", "hidden1", "hidden2", "batch_size", "input_data_dir",
                                                     "log_dir", "fake_data", "restore", "seed", "threads"]


def test_the_default_folders_are_the_tutorials(tmp_path, small_data):
    """Below $TEST_TMPDIR: data is looked for there, and the log goes there."""
    data = tmp_path / "tensorflow/mnist/input_data"
    data.mkdir(parents=True)
    (data / "mnist.npz").symlink_to(small_data / "mnist.npz")
    out = subprocess.run([PROGRAM, "--max_steps", "1"], capture_output=True, text=True, check=True, env={**os.environ, "TEST_TMPDIR": str(tmp_path)})
    assert f"Extracting {data}" in out.stdout
    assert parameters(tmp_path / "tensorflow/mnist/logs/fully_connected_feed", 0)["global_step"] == 1


@pytest.mark.parametrize("flag, value", [
    ("learning_rate", "-1"), ("learning_rate", "fast"), ("learning_rate", "nan"), ("max_steps", "0"), ("max_steps", "1.5"), ("hidden1", "0"),
    ("hidden2", "-3"), ("batch_size", "0"), ("batch_size", "many"), ("seed", "0"), ("threads", "-1"), ("log_dir", ""), ("input_data_dir", ""),
])
def test_a_flag_without_sense_is_refused_by_name(tmp_path, flag, value):
    given = ["--fake_data", f"--{flag}={value}", *(["--log_dir", tmp_path] if flag != "log_dir" else [])]
    done = subprocess.run([PROGRAM, *given], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and f"--{flag}: " in done.stderr, done.stderr
    assert subprocess.run([PROGRAM, f"--{flag}"], capture_output=True, text=True).stderr == f"--{flag}: expected one argument\n"


def test_bad_usage_is_refused(tmp_path, small_data):
    (tmp_path / "file").write_text("")
    assert "cannot be" in train(tmp_path / "file/log", "--fake_data", code=1)
    assert "there is neither" in train(tmp_path / "a", "--input_data_dir", tmp_path / "nothing", code=1)
    said = train(tmp_path / "a", "--fake_data", "--batch_size", 64, code=1)
    assert "--batch_size 64 does not divide the 10000, 10000 and 10000 examples" in said and " 50 " in said
    assert "is no whole number" in train(tmp_path / "a", "--max_steps", "ten", code=2)
    train(tmp_path / "empty", "--fake_data", "--restore", code=1)
    train(tmp_path / "small", "--fake_data", "--hidden1", 64, "--max_steps", 1)
    said = train(tmp_path / "small", "--fake_data", "--restore", code=1)
    assert "another type or shape in the file than in the program" in said
    assert "passed over" in subprocess.run(
        [PROGRAM, "--unknown", "--fake_data", "--max_steps", "1", "--log_dir", tmp_path / "b"],
        capture_output=True, text=True).stderr


def test_linear_regression_saves_and_a_second_program_predicts(tmp_path):
    folder = PROGRAM.parent
    out = subprocess.run([folder / "linear_regression", tmp_path], capture_output=True, text=True, check=True).stdout
    assert out.count("Epoch: ") == 20 and f"Model saved in file: {tmp_path}/model.ckpt\n" in out
    assert [e.step for e in events(tmp_path)[2:]] == [17 * epoch for epoch in range(1000)]
    reader = tf.train.load_checkpoint(str(tmp_path / "model.ckpt"))
    out = subprocess.run([folder / "linear_regression_predict", tmp_path, "6.1"], capture_output=True, text=True, check=True).stdout
    x, y = map(float, re.fullmatch(r"X= (\S+) prediction= (\S+)\n", out).groups())
    assert x == pytest.approx(6.1) and y == pytest.approx(6.1 * reader.get_tensor("weight") + reader.get_tensor("bias"), rel=1e-4)


def test_the_convolutional_network_feeds_every_tab(tmp_path):
    said = subprocess.run([PROGRAM.parent / "convnet", tmp_path, "3"], capture_output=True, text=True, check=True).stdout
    assert said.count("validation accuracy") == 8
    plugins, tags = set(), set()
    for path in tmp_path.rglob("events.out.tfevents.*"):
        for event in events(path.parent):
            plugins |= {v.metadata.plugin_data.plugin_name for v in event.summary.value}
            plugins |= {"histo" for v in event.summary.value if v.WhichOneof("value") == "histo"}
            plugins |= {event.WhichOneof("what")}
            tags |= {v.tag for v in event.summary.value}
    assert plugins >= {"scalars", "images", "text", "pr_curves", "hparams", "histo", "graph_def", "tagged_run_metadata"}
    assert tags >= {"conv1/filters", "conv1/histogram", "digits/loss", "digits/accuracy", "digits/wrong predictions",
                    "digits/confusion", "digits/notes"}
    [config] = tmp_path.rglob("projector_config.pbtxt")
    assert "sprite" in config.read_text() and "metadata" in config.read_text()
    assert len(list(tmp_path.glob("*/validation"))) == 8
    [profile] = tmp_path.glob("adam-lr0.002-drop0.4/plugins/profile/*/*.xplane.pb")
    space = xplane_pb2.XSpace.FromString(profile.read_bytes())
    assert not space.warnings
    plane = space.planes[0]
    [loop] = [line for line in plane.lines if line.name == "training loop"]
    names = [plane.event_metadata[event.metadata_id].name for event in loop.events]
    assert names.count("train") == 4 and names.count("gradients/conv1/Conv2D_grad/Conv2DBackpropFilter:Conv2DBackpropFilter") == 4
    steps = [event for event, name in zip(loop.events, names) if name == "train"]
    for event, name in zip(loop.events, names):  # a timeline without crossings: each op lies within its step
        assert any(s.offset_ps <= event.offset_ps and event.offset_ps + event.duration_ps <= s.offset_ps + s.duration_ps
                   for s in steps), name
    assert "memory of the session (bytes)" in {metadata.name for metadata in plane.event_metadata.values()}


def test_the_default_run_reaches_the_published_accuracy_on_the_real_digits(tmp_path):
    said = subprocess.run([ROOT / "tools/setup", "digits-path"], capture_output=True, text=True)
    folder = pathlib.Path(said.stdout.strip() or "/nonexistent")
    if not (folder / "complete").exists():
        pytest.skip("the real digits are not here; tools/setup digits brings them")
    out = train(tmp_path, "--input_data_dir", folder)
    precisions = [float(x) for x in re.findall(r"Precision @ 1: ([0-9.]+)", out)]
    assert 0.845 < precisions[2] < 0.885
    assert 0.897 < precisions[5] < 0.9065
