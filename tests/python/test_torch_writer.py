"""seaboard.torch and seaboard.tensorboardX beside torch.utils.tensorboard and tensorboardX: the same calls, the same
data; both directories read by real TensorBoard and compared."""

import json
import os
import re

import numpy as np
import pytest
import tensorboardX
import torch
from torch.utils.tensorboard import SummaryWriter as TorchWriter

import seaboard.tensorboardX
import seaboard.torch
from peers import assert_same, events

WRITERS = {
    "torch": (TorchWriter, seaboard.torch.SummaryWriter),
    "tbx": (tensorboardX.SummaryWriter, seaboard.tensorboardX.SummaryWriter),
}
both = pytest.mark.parametrize("style", WRITERS)


def rng():
    return np.random.default_rng(3)


def timeless(run):
    return re.sub(r"\d{9,}\.\d+", "TIME", run)


def compare(tmp_path, style, call, **options):
    for writer, name in zip(WRITERS[style], ("theirs", "ours")):
        with writer(str(tmp_path / name), **options) as w:
            call(w)
    assert_same(tmp_path / "ours", tmp_path / "theirs", timeless)


SCALARS = {
    "a float": 0.5,
    "an int": 3,
    "a bool": True,
    "numpy float32": np.float32(0.1),
    "numpy of one": np.array([2.5]),
    "numpy rank 0": np.array(2.5),
    "numpy rank 2 of one": np.array([[7]]),
    "torch": torch.tensor(1.25),
    "torch with a gradient": torch.tensor([1.25], requires_grad=True),
    "torch bfloat16": torch.tensor(1.25, dtype=torch.bfloat16),
    "nan": float("nan"),
    "infinite": float("-inf"),
    "over float32": 1e300,
}


@both
@pytest.mark.parametrize("name", SCALARS)
def test_add_scalar(tmp_path, style, name):
    if name == "over float32" or (name, style) == ("torch bfloat16", "tbx"):
        pytest.skip("the original raises or warns here")
    compare(tmp_path, style, lambda w: w.add_scalar("a tag/x", SCALARS[name], 7))


@both
@pytest.mark.parametrize("step", [None, 0, 5, -3, 2**40, 2.9, np.int64(4), np.float32(4.5), torch.tensor(6), "11"])
def test_a_step_is_taken_as_the_original_takes_it(tmp_path, style, step):
    compare(tmp_path, style, lambda w: w.add_scalar("x", 1.5, step))


@both
def test_a_given_walltime_is_kept(tmp_path, style):
    compare(tmp_path, style, lambda w: w.add_scalar("x", 1.5, 3, walltime=12.25))
    assert [event.wall_time for event in events(tmp_path / "ours")["."]] == [12.25]


def test_scalars_of_the_new_style(tmp_path):
    def call(w):
        w.add_scalar("x", 0.1, 1, new_style=True)
        w.add_scalar("y", 0.1, 1, None, True, True)

    compare(tmp_path, "torch", call)


def test_scalars_with_a_name_and_a_description(tmp_path):
    def call(w):
        w.add_scalar("x", 0.1, 1, display_name="X", summary_description="**the** x")
        w.add_scalar("y", 0.1, 1, None, "Y", "the y")

    compare(tmp_path, "tbx", call)


@both
def test_add_scalars(tmp_path, style):
    def call(w):
        for step in range(3):
            w.add_scalars("main/tag", {"a": step, "b": np.float32(step / 2)}, step)

    compare(tmp_path, style, call)


def test_export_scalars_to_json(tmp_path):
    def call(w):
        w.add_scalars("m", {"a": 1}, 3, walltime=5.0)
        w.export_scalars_to_json(os.path.join(w.logdir, "s.json"))

    compare(tmp_path, "tbx", call)
    found = [json.loads((tmp_path / name / "s.json").read_text()) for name in ("theirs", "ours")]
    assert [list(exported.values()) for exported in found] == [[[[5.0, 3, 1.0]]]] * 2


HISTOGRAMS = {
    "numpy": rng().normal(size=500),
    "numpy float32, rank 3": rng().normal(size=(4, 5, 6)).astype(np.float32),
    "a strided view": rng().normal(size=(40, 6))[::3, ::-2],
    "integers": rng().integers(-50, 50, 300),
    "torch": torch.from_numpy(rng().normal(size=100)),
    "torch with a gradient": torch.from_numpy(rng().normal(size=100)).requires_grad_(),
    "a transposed tensor": torch.from_numpy(rng().normal(size=(8, 9))).t(),
    "one number": 3.5,
    "with NaN": np.array([1.0, np.nan, 2.0]),
}


@both
@pytest.mark.parametrize("name", HISTOGRAMS)
def test_add_histogram(tmp_path, style, name):
    compare(tmp_path, style, lambda w: w.add_histogram("h", HISTOGRAMS[name], 4))


@both
@pytest.mark.parametrize("bins", ["auto", "fd", 10, [-1.0, 0.0, 0.5, 2.0]], ids=str)
@pytest.mark.parametrize("max_bins", [None, 3])
def test_add_histogram_with_bins_of_numpy(tmp_path, style, bins, max_bins):
    values = rng().normal(size=500)
    compare(tmp_path, style, lambda w: w.add_histogram("h", values, 4, bins=bins, max_bins=max_bins))


@both
def test_add_histogram_raw(tmp_path, style):
    def call(w):
        w.add_histogram_raw("h", 0.0, 2.0, 3, 3.5, 5.25, [0.5, 1.0, 2.0], [1, 0, 2], 4)

    compare(tmp_path, style, call)


PICTURES = {
    "CHW": (3, 5, 7),
    "HWC": (5, 7, 3),
    "HW": (5, 7),
    "WHC": (7, 5, 1),
    "chw": (1, 5, 7),
}


@both
@pytest.mark.parametrize("layout", PICTURES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_add_image(tmp_path, style, layout, dtype):
    data = rng().uniform(0, 1, PICTURES[layout])
    data = (data * 255).astype("uint8") if dtype == "uint8" else data.astype(dtype)

    def call(w):
        w.add_image("i", data, 2, dataformats=layout)
        w.add_image("t", torch.from_numpy(data), 2, dataformats=layout)

    compare(tmp_path, style, call)


@both
def test_add_images(tmp_path, style):
    data = rng().uniform(0, 1, (10, 3, 5, 7))
    compare(tmp_path, style, lambda w: w.add_images("i", data, 2))


def test_add_images_takes_a_list_as_tensorboardx_does(tmp_path):
    data = [rng().uniform(0, 1, (3, 5, 7)) for _ in range(3)]
    compare(tmp_path, "tbx", lambda w: w.add_images("i", data, 2, dataformats="CHW"))


@both
def test_add_image_with_boxes(tmp_path, style):
    data = rng().uniform(0, 1, (3, 40, 60)).astype(np.float32)
    boxes = np.array([[3, 4, 30, 20], [10, 10, 50, 35]])

    def call(w):
        w.add_image_with_boxes("b", data, boxes, 2)
        w.add_image_with_boxes("l", data, boxes, 2, labels=["one", "two"])

    compare(tmp_path, style, call)


def test_boxes_are_rescaled_as_torch_does(tmp_path):
    data = rng().integers(0, 255, (40, 60, 3), np.uint8)
    boxes = torch.tensor([[3.0, 4, 30, 20]])
    compare(tmp_path, "torch", lambda w: w.add_image_with_boxes("b", data, boxes, 2, None, 2, "HWC"))


@both
def test_add_figure(tmp_path, style):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")

    def call(w):
        figures = [pyplot.figure(figsize=(2, 1)) for _ in range(3)]
        for index, figure in enumerate(figures):
            figure.add_subplot().plot([0, index, 1])
        w.add_figure("one", figures[0], 3)
        w.add_figure("some", figures[1:], 3, close=False)
        pyplot.close("all")

    compare(tmp_path, style, call)


def test_add_audio(tmp_path):
    sound = np.sin(np.linspace(0, 60, 4410)).astype(np.float32)

    def call(w):
        w.add_audio("a", sound, 3, sample_rate=4410)
        w.add_audio("b", torch.from_numpy(sound)[None] * 1.5, 3)

    compare(tmp_path, "torch", call)


def test_add_audio_of_tensorboardx_has_channels(tmp_path):
    pytest.importorskip("soundfile")
    sound = rng().uniform(-1, 1, (300, 2)).astype(np.float32)
    compare(tmp_path, "tbx", lambda w: w.add_audio("a", sound, 3, sample_rate=8000))


@both
def test_add_text(tmp_path, style):
    def call(w):
        w.add_text("t", "**bold** 中文", 3)
        w.add_text("t", "", 4, walltime=5.5)

    compare(tmp_path, style, call)


@both
def test_add_pr_curve(tmp_path, style):
    labels, predictions = rng().integers(0, 2, 100), rng().uniform(0, 1, 100)

    def call(w):
        w.add_pr_curve("a", labels, predictions, 3)
        w.add_pr_curve("b", torch.from_numpy(labels), torch.from_numpy(predictions), 3, num_thresholds=20)
        w.add_pr_curve("c", labels, predictions, 3, weights=rng().uniform(0, 1, 100))

    compare(tmp_path, style, call)


@both
def test_add_pr_curve_raw(tmp_path, style):
    rows = [rng().uniform(0, 1, 5) for _ in range(6)]
    compare(tmp_path, style, lambda w: w.add_pr_curve_raw("a", *rows, 3, num_thresholds=5))


@both
def test_add_mesh(tmp_path, style):
    vertices = torch.from_numpy(rng().normal(size=(1, 6, 3)))
    colors = torch.from_numpy(rng().integers(0, 255, (1, 6, 3)))
    faces = torch.from_numpy(rng().integers(0, 6, (1, 4, 3)))

    def call(w):
        w.add_mesh("points", vertices, global_step=1)
        w.add_mesh("m", vertices, colors, faces, {"camera": {"cls": "PerspectiveCamera", "fov": 75}}, 2)

    compare(tmp_path, style, call)


@both
def test_add_custom_scalars(tmp_path, style):
    def call(w):
        w.add_custom_scalars({"A": {"b": ["Multiline", ["x", "y"]], "c": ["Margin", ["v", "l", "u"]]}, "D": {}})
        w.add_custom_scalars_multilinechart(["x"], "cat", "title")
        w.add_custom_scalars_marginchart(["v", "l", "u"])

    compare(tmp_path, style, call)


@both
def test_add_hparams(tmp_path, style):
    def call(w):
        w.add_hparams({"lr": 0.1, "bs": 3, "opt": "adam", "on": True, "none": None}, {"loss": 0.5, "acc": 1})

    compare(tmp_path, style, call)


def test_add_hparams_of_torch_with_domains(tmp_path):
    def call(w):
        values = {"lr": 0.1, "opt": "adam", "t": torch.tensor([3.0])}
        domains = {"lr": [0.1, 0.2], "opt": ["adam", "sgd"]}
        w.add_hparams(values, {"loss": 0.5}, domains, run_name="trial", global_step=9)

    compare(tmp_path, "torch", call)


TENSORS = ["float32", "float64", "int8", "int16", "int32", "int64", "bool", "complex64"]


@pytest.mark.parametrize("dtype", TENSORS)
def test_add_tensor(tmp_path, dtype):
    data = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    compare(tmp_path, "torch", lambda w: w.add_tensor("t", data, 3))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2))
        self.dropout = torch.nn.Dropout()
        self.head = torch.nn.Linear(16, 3)

    def forward(self, x):
        y = self.features(x).flatten(1)
        return torch.log_softmax(self.head(self.dropout(y)), 1), y.sum()


class Two(torch.nn.Module):
    def forward(self, a, b):
        return {"sum": a + b, "unused": a * 2}["sum"]


@both
@pytest.mark.parametrize("model", ["net", "two inputs", "constant"])
def test_add_graph(tmp_path, style, model):
    torch.manual_seed(0)
    nets = {
        "net": (Net(), torch.zeros(2, 1, 6, 6)),
        "two inputs": (Two(), (torch.zeros(3), torch.ones(3))),
        "constant": (torch.nn.Identity(), torch.zeros(1)),
    }
    module, example = nets[model]
    compare(tmp_path, style, lambda w: w.add_graph(module, example))
    assert module.training


@both
def test_add_embedding(tmp_path, style):
    matrix = rng().normal(size=(5, 3)).astype(np.float32)
    images = torch.from_numpy(rng().uniform(0, 1, (5, 3, 8, 8)).astype(np.float32))

    def call(w):
        w.add_embedding(matrix, global_step=2)
        w.add_embedding(matrix, ["a", "b", 3, "d", "e"], images, 3, "my/tag")
        w.add_embedding(matrix, [["a", 1]] * 5, None, 4, "t", metadata_header=["x", "y"])

    compare(tmp_path, style, call)
    files = {
        name: sorted(
            str(path.relative_to(tmp_path / name)) for path in (tmp_path / name).rglob("*.*") if "tfevents" not in path.name
        )
        for name in ("theirs", "ours")
    }
    assert files["ours"] == files["theirs"] and files["ours"]
    for file in files["ours"]:
        if file.endswith(".tsv"):
            assert (tmp_path / "ours" / file).read_text() == (tmp_path / "theirs" / file).read_text(), file


@both
def test_purge_step(tmp_path, style):
    compare(tmp_path, style, lambda w: w.add_scalar("x", 1, 11), purge_step=10)


def test_prepared_summaries_pass_through(tmp_path):
    from tensorboard.compat.proto import summary_pb2

    summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="x", simple_value=0.5)])

    def call(w):
        w.file_writer.add_summary(summary, 3)
        w._get_file_writer().add_summary(summary, 4, 12.5)

    compare(tmp_path, "torch", call)


@both
def test_logging_after_close_opens_a_new_file(tmp_path, style):
    def call(w):
        w.add_scalar("x", 1, 1)
        w.close()
        w.flush()
        w.add_scalar("x", 2, 2)

    compare(tmp_path, style, call) if style == "torch" else call(WRITERS[style][1](str(tmp_path / "ours")))
    assert len(list((tmp_path / "ours").glob("*tfevents*"))) == 2


def test_default_directory_and_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours, theirs = seaboard.torch.SummaryWriter(comment="_c"), TorchWriter(comment="_c")
    ours.close(), theirs.close()
    seconds = re.compile(r"-\d\d_")
    assert seconds.sub("-SS_", ours.log_dir) == seconds.sub("-SS_", theirs.log_dir)
    assert ours.get_logdir() == ours.log_dir == ours.logdir


def test_file_name_has_the_suffix(tmp_path):
    with seaboard.torch.SummaryWriter(tmp_path, filename_suffix=".mine"):
        pass
    (file,) = os.listdir(tmp_path)
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.mine", file)


def test_nothing_is_written_without_write_to_disk(tmp_path):
    with seaboard.tensorboardX.SummaryWriter(str(tmp_path / "x"), write_to_disk=False) as w:
        w.add_scalar("a", 1, 1)
        w.add_scalars("m", {"a": 1}, 1)
        w.add_text("t", "x")
        w.add_histogram("h", np.ones(3))
        w.add_hparams({"a": 1}, {"b": 1})
        w.add_embedding(np.ones((3, 3)))
    assert not (tmp_path / "x").exists()


def test_add_video_needs_no_moviepy(tmp_path):
    frames = rng().integers(0, 255, (2, 4, 3, 8, 8), np.uint8)
    with seaboard.torch.SummaryWriter(tmp_path) as w:
        w.add_video("v", frames, 3, fps=10)
    (event,) = events(tmp_path)["."]
    assert event.summary.value[0].image.encoded_image_string[:6] == b"GIF89a"
