"""Our writer in the styles of torch and tensorboardX against their SummaryWriters, event by event."""

import glob
import io
import json
import os
import wave

import numpy as np
import PIL.Image
import pytest
import tensorboardX
import tensorflow as tf
import torch
from tensorboard.compat.proto import event_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorflow.core.framework import tensor_pb2
from torch.utils.tensorboard import SummaryWriter as TorchWriter
from torch.utils.tensorboard._utils import _prepare_video

import sbctypes as sb
import writer_common as common

RNG = np.random.default_rng(11)
WRITERS = {"torch": TorchWriter, "tbx": tensorboardX.SummaryWriter}
both = pytest.mark.parametrize("style", WRITERS)


def real(tmp_path, style, call):
    writer = WRITERS[style](str(tmp_path / "real"))
    call(writer)
    writer.close()
    return common.records(tmp_path / "real")[1:]


def ours(tmp_path, style, call):
    return common.write(tmp_path, sb.STYLES[style], call)


@both
def test_header_is_the_same(tmp_path, style):
    real(tmp_path, style, lambda w: w.add_scalar("x", 1, 1))
    sb.Writer(tmp_path / "ours", sb.STYLES[style]).close()
    header = [common.timeless(common.records(tmp_path / name)[0]) for name in ("real", "ours")]
    assert header[0] == header[1]


@both
@pytest.mark.parametrize("value", [0.5, 0.0, 1e30, np.inf, np.nan])
@pytest.mark.parametrize("tag", ["loss", "a b:c", "/lead"])
def test_scalar(tmp_path, style, value, tag):
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.scalar(tag, value, 7)),
        real(tmp_path, style, lambda w: w.add_scalar(tag, value, 7)),
    )


@pytest.mark.parametrize("precise", [False, True])
def test_scalar_of_the_new_style(tmp_path, precise):
    form = sb.DOUBLE if precise else sb.TENSOR
    common.assert_same_bytes(
        ours(tmp_path, "torch", lambda w: w.scalar("x", 0.1, 7, form=form)),
        real(
            tmp_path, "torch", lambda w: w.add_scalar("x", 0.1, 7, new_style=True, double_precision=precise)
        ),
    )


def test_scalar_with_names(tmp_path):
    common.assert_same_bytes(
        ours(tmp_path, "tbx", lambda w: w.scalar("x", 0.1, 7, display_name="dn", description="sd")),
        real(
            tmp_path, "tbx", lambda w: w.add_scalar("x", 0.1, 7, display_name="dn", summary_description="sd")
        ),
    )


@both
@pytest.mark.parametrize("value", ["hi", "", "größer 中文 \U0001f600\n| a | b |"], ids=["hi", "empty", "unicode"])
def test_text(tmp_path, style, value):
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.text("no/te 1", value, 7)),
        real(tmp_path, style, lambda w: w.add_text("no/te 1", value, 7)),
    )


# ---- histograms


def assert_same_histograms(mine, theirs):
    """Equal but for the last bits of sum_squares, which torch gets from whatever BLAS numpy has."""
    assert len(mine) == len(theirs) == 1
    mine, theirs = event_pb2.Event.FromString(mine[0]), event_pb2.Event.FromString(theirs[0])
    left, right = (event.summary.value[0].histo for event in (mine, theirs))
    np.testing.assert_allclose(left.sum_squares, right.sum_squares, rtol=1e-12)
    for name in ("bucket_limit", "bucket", "min", "max", "num", "sum"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    mine.wall_time = theirs.wall_time = 0
    left.Clear()
    right.Clear()
    assert mine == theirs


@both
@pytest.mark.parametrize("name", common.random_arrays())
def test_histogram(tmp_path, style, name):
    values = common.random_arrays()[name]
    assert_same_histograms(
        ours(tmp_path, style, lambda w: w.histogram("h h", values, 5)),
        real(tmp_path, style, lambda w: w.add_histogram("h h", values, 5)),
    )


@both
@pytest.mark.parametrize("most", [1, 2, 3, 10, 64, 773, 774, 1000, 1547, 1548, 5000])
def test_histogram_with_few_bins(tmp_path, style, most):
    values = common.random_arrays()["log_uniform"]
    assert_same_histograms(
        ours(tmp_path, style, lambda w: w.histogram("h", values, 5, max_bins=most)),
        real(tmp_path, style, lambda w: w.add_histogram("h", values, 5, max_bins=most)),
    )


@both
@pytest.mark.parametrize(
    "values",
    [[1.0, np.nan, 2.0], [np.inf, 1.0], [-np.inf, 1.0, np.nan], [1e21, 1.0], [-1e21, 3.0], [9.920775621859783e19]],
)
def test_histogram_tolerates_odd_values(tmp_path, style, values):
    values = np.array(values)
    assert_same_histograms(
        ours(tmp_path, style, lambda w: w.histogram("h", values, 5)),
        real(tmp_path, style, lambda w: w.add_histogram("h", values, 5)),
    )


@both
def test_histogram_of_nothing_is_refused(tmp_path, style):
    with pytest.raises(ValueError):
        real(tmp_path, style, lambda w: w.add_histogram("h", np.zeros(0), 5))
    with sb.Writer(tmp_path / "empty", sb.STYLES[style]) as writer:
        with pytest.raises(sb.SeaboardError, match="no values"):
            writer.histogram("h", np.zeros(0), 5)
    writer = sb.Writer(tmp_path / "nan", sb.STYLES[style])
    writer.histogram("h", np.full(3, np.nan), 5)
    with pytest.raises(sb.SeaboardError, match="all 3 values are NaN"):
        writer.close()


@both
def test_given_buckets_are_kept(tmp_path, style):
    values = RNG.normal(size=100)
    counts, limits = np.histogram(values, bins=20)
    sums = (values.min(), values.max(), len(values), values.sum(), values.dot(values))
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.histogram_raw("h h", sums, limits[1:], counts, 5)),
        real(
            tmp_path,
            style,
            lambda w: w.add_histogram_raw("h h", *sums, limits[1:].tolist(), counts.tolist(), 5),
        ),
    )


# ---- pictures, sound, video

LAYOUTS = ["CHW", "HWC", "WHC", "HW", "WH", "NCHW", "NHWC", "WNCH"]
SIZES = {"N": 10, "C": 3, "H": 5, "W": 7}


@both
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_image(tmp_path, style, layout, dtype, channels):
    shape = [dict(SIZES, C=channels)[axis] for axis in layout]
    data = RNG.uniform(0, 1, shape).astype(dtype) if dtype != np.uint8 else RNG.integers(0, 256, shape, np.uint8)
    add = "add_images" if "N" in layout else "add_image"
    common.assert_same_pictures(
        ours(tmp_path, style, lambda w: w.image("i i", data, 4, layout=layout)),
        real(tmp_path, style, lambda w: getattr(w, add)("i i", data, 4, dataformats=layout)),
    )


@both
def test_levels_of_every_double_between_bytes(tmp_path, style):
    """k / 255 in float32 and float64, where rounding decides between two levels."""
    for dtype in (np.float32, np.float64, np.float16):
        data = np.stack([np.arange(256) / 255, np.arange(256) / 256, np.linspace(0, 1, 256)])[None].astype(dtype)
        name = np.dtype(dtype).name
        common.assert_same_pictures(
            common.write(tmp_path, sb.STYLES[style], lambda w: w.image("i", data, 4), name),
            real(tmp_path / name, style, lambda w: w.add_image("i", data, 4)),
        )


@both
def test_picture_with_alpha(tmp_path, style):
    data = RNG.integers(0, 256, (4, 5, 6), np.uint8)
    common.assert_same_pictures(
        ours(tmp_path, style, lambda w: w.image("i", data, 4)),
        real(tmp_path, style, lambda w: w.add_image("i", data, 4)),
    )


def test_batch_with_alpha(tmp_path):
    data = RNG.integers(0, 256, (3, 4, 5, 6), np.uint8)
    common.assert_same_pictures(
        ours(tmp_path, "tbx", lambda w: w.image("i", data, 4)),
        real(tmp_path, "tbx", lambda w: w.add_images("i", data, 4)),
    )


def test_out_of_range_is_clipped_as_torch_does(tmp_path):
    data = RNG.uniform(-2, 3, (3, 8, 9))
    mine = ours(tmp_path, "torch", lambda w: w.image("i", data, 4))
    common.assert_same_pictures(mine, real(tmp_path, "torch", lambda w: w.add_image("i", data, 4)))
    # tensorboardX lets them wrap around; nobody wants that.
    common.assert_same_pictures(common.write(tmp_path, sb.TBX, lambda w: w.image("i", data, 4), "tbx"), mine)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_])
def test_integers_of_torch_pictures(tmp_path, dtype):
    data = RNG.integers(0, 2, (3, 4, 5)).astype(dtype)
    common.assert_same_pictures(
        ours(tmp_path, "torch", lambda w: w.image("i", data, 4)),
        real(tmp_path, "torch", lambda w: w.add_image("i", data, 4)),
    )


def png(array):
    out = io.BytesIO()
    PIL.Image.fromarray(array).save(out, format="PNG")
    return out.getvalue()


@both
def test_encoded_pictures_pass_through(tmp_path, style):
    file = png(RNG.integers(0, 256, (4, 6, 3), np.uint8))
    event = event_pb2.Event.FromString(ours(tmp_path, style, lambda w: w.image_encoded("i", [file], 3))[0])
    image = event.summary.value[0].image
    assert (image.width, image.height, image.colorspace) == (6, 4, 3)
    assert image.encoded_image_string == file


@both
@pytest.mark.parametrize("clips", [1, 2, 3, 5])
def test_video_shows_the_frames_of_torch(tmp_path, style, clips):
    """moviepy is not needed here: what it would be given is compared with our GIF's frames."""
    data = RNG.choice(np.uint8([0, 85, 170, 255]), (clips, 4, 3, 6, 8))
    event = event_pb2.Event.FromString(ours(tmp_path, style, lambda w: w.video("v v", data, 3, fps=10))[0])
    value = event.summary.value[0]
    assert value.tag == ("v_v" if style == "tbx" else "v v")
    expected = (_prepare_video(data) * 255).astype(np.float32).clip(0, 255).astype(np.uint8)
    assert (value.image.height, value.image.width) == expected.shape[1:3]
    assert value.image.colorspace == 3
    frames = common.pixels_of(value.image.encoded_image_string)[1][..., :3]
    np.testing.assert_array_equal(frames, expected)


@pytest.mark.parametrize("shape", [(100,), (1, 100), (100, 1), (1, 1, 50, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1.0, 1.5])
def test_audio_of_torch(tmp_path, shape, dtype, most):
    data = RNG.uniform(-most, most, shape).astype(dtype)
    common.assert_same_bytes(
        ours(tmp_path, "torch", lambda w: w.audio("a", data, 22050, 4)),
        real(tmp_path, "torch", lambda w: w.add_audio("a", data, 4, sample_rate=22050)),
    )


@pytest.mark.parametrize("shape", [(100,), (100, 1), (100, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_audio_of_tensorboardx(tmp_path, shape, dtype):
    """As libsndfile rounds: to 32 bits, then the upper 16. tensorboardX needs it and it is not here."""
    data = RNG.uniform(-1.2, 1.2, shape).astype(dtype)
    data.reshape(-1)[:5] = [1, -1, 0.5, -0.5, 1 - 2**-20]
    event = event_pb2.Event.FromString(ours(tmp_path, "tbx", lambda w: w.audio("a a", data, 8000, 4))[0])
    value = event.summary.value[0]
    assert value.tag == "a a"
    audio = value.audio
    channels = 1 if len(shape) == 1 else shape[1]
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, channels, 100)
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (channels, 8000, 2)
        samples = np.frombuffer(file.readframes(100), np.int16)
    scaled = np.rint(np.clip(data.reshape(-1).astype(np.float64), -1, 1) * 2**31).clip(-(2**31), 2**31 - 1)
    np.testing.assert_array_equal(samples, np.floor(scaled / 65536).astype(np.int16))


# ---- plugins


@both
@pytest.mark.parametrize("thresholds", [2, 33, 127, 500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_pr_curve(tmp_path, style, thresholds, dtype, weighted):
    labels = RNG.integers(0, 2, 150000 if weighted else 1000)
    predictions = RNG.uniform(-0.1, 1.1, labels.shape).astype(dtype)
    weights = RNG.uniform(size=labels.shape) if weighted else None
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.pr_curve("p p", labels, predictions, 4, thresholds, weights)),
        real(
            tmp_path, style, lambda w: w.add_pr_curve("p p", labels, predictions, 4, thresholds, weights=weights)
        ),
    )


@both
def test_pr_curve_rows(tmp_path, style):
    rows = RNG.uniform(size=(6, 9))
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.pr_curve_raw("p", rows, 4)),
        real(tmp_path, style, lambda w: w.add_pr_curve_raw("p", *rows, global_step=4, num_thresholds=9)),
    )


@both
@pytest.mark.parametrize("parts", ["v", "vf", "vc", "vfc"])
def test_mesh(tmp_path, style, parts):
    vertices = RNG.uniform(size=(2, 5, 3)).astype(np.float32)
    faces = RNG.integers(0, 5, (2, 4, 3)) if "f" in parts else None
    colors = RNG.integers(0, 256, (2, 5, 3)) if "c" in parts else None
    config = {"lights": [{"cls": "AmbientLight", "color": "#ffffff"}]} if "f" in parts else None
    text = json.dumps(config, sort_keys=True) if config else None
    as_torch = [None if part is None else torch.as_tensor(part) for part in (vertices, colors, faces)]
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.mesh("m m", vertices, 3, colors, faces, text)),
        real(
            tmp_path,
            style,
            lambda w: w.add_mesh("m m", as_torch[0], as_torch[1], as_torch[2], config, global_step=3),
        ),
    )


LAYOUT = {
    "Taiwan": {"twse": ["Multiline", ["twse/0050", "twse/2330.*"]], "empty": ["Multiline", []]},
    "größer": {"dow": ["Margin", ["dow/aaa", "dow/bbb", "dow/ccc"]]},
}


@both
def test_custom_scalars(tmp_path, style):
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.custom_scalars(LAYOUT)),
        real(tmp_path, style, lambda w: w.add_custom_scalars(LAYOUT)),
    )


@both
def test_hparams(tmp_path, style):
    values = {"lr": 0.1, "layers": 3, "optimizer": "adam", "größe": "中"}
    info = [{"name": name, "type": 1 if isinstance(v, str) else 3} for name, v in values.items()]

    def write(writer):
        writer.hparams_config(info, [{"tag": "accuracy"}, {"tag": "loss"}])
        writer.hparams_start(values)
        writer.hparams_end(sb.SUCCESS)

    mine = ours(tmp_path, style, write)
    writer = WRITERS[style](str(tmp_path / "real"))
    name = {"run_name": "r"} if style == "torch" else {"name": "r"}
    writer.add_hparams(values, {"accuracy": 1.0, "loss": 2.0}, **name)
    writer.close()
    theirs = common.records(tmp_path / "real" / "r")[1:]
    common.assert_same_messages(
        mine, theirs[:3], lambda content: str(plugin_data_pb2.HParamsPluginData.FromString(content))
    )


@both
def test_purge_step(tmp_path, style):
    writer = WRITERS[style](str(tmp_path / "real"), purge_step=42)
    writer.close()
    common.assert_same_bytes(
        ours(tmp_path, style, lambda w: w.purge_step(42)), common.records(tmp_path / "real")[1:]
    )


def test_graph(tmp_path):
    theirs = real(tmp_path, "torch", lambda w: w.add_graph(torch.nn.Linear(2, 3), torch.zeros(1, 2)))
    parsed = [event_pb2.Event.FromString(record) for record in theirs]

    def write(writer):
        writer.graph(parsed[0].graph_def)
        tagged = parsed[1].tagged_run_metadata
        writer.run_metadata(tagged.tag, tagged.run_metadata, 0)

    common.assert_same_bytes(ours(tmp_path, "torch", write), theirs)


# ---- tensors

GOOD = [torch.float32, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool]
GOOD += [torch.complex64, torch.complex128]


@pytest.mark.parametrize("dtype", GOOD, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 4)], ids=str)
def test_tensor(tmp_path, dtype, shape):
    values = torch.as_tensor(RNG.integers(-5 if dtype.is_signed else 0, 6, shape)).to(dtype)
    common.assert_same_bytes(
        ours(tmp_path, "torch", lambda w: w.tensor("x", values.numpy(), 4)),
        real(tmp_path, "torch", lambda w: w.add_tensor("x", values, 4)),
    )


def test_tensors_that_torch_garbles_can_be_read(tmp_path):
    import ml_dtypes

    given = {
        "half": np.float16([1.5, -2, 65504, 1e-7]),
        "bfloat16": np.array([1.5, -2, 3e38], ml_dtypes.bfloat16),
        "uint8": np.uint8([0, 127, 255]),
        "uint16": np.uint16([0, 65535]),
        "uint32": np.uint32([0, 2**32 - 1]),
        "uint64": np.uint64([0, 2**64 - 1]),
    }

    def write(writer):
        for name, values in given.items():
            writer.tensor(name, values, 1)

    for record in ours(tmp_path, "torch", write):
        value = event_pb2.Event.FromString(record).summary.value[0]
        assert value.metadata.plugin_data.plugin_name == "tensor"
        read = tf.make_ndarray(tensor_pb2.TensorProto.FromString(value.tensor.SerializeToString()))
        assert read.dtype == given[value.tag].dtype
        np.testing.assert_array_equal(read, given[value.tag])


# ---- embeddings


def tree(folder):
    found = {}
    for path in glob.glob(os.path.join(str(folder), "**"), recursive=True):
        if os.path.isfile(path) and "tfevents" not in path:
            with open(path, "rb") as file:
                found[os.path.relpath(path, str(folder))] = file.read()
    return found


def assert_same_trees(left, right):
    assert sorted(left) == sorted(right)
    for name, data in left.items():
        if name.endswith(".png"):
            np.testing.assert_array_equal(common.pixels_of(data)[1], common.pixels_of(right[name])[1])
        else:
            assert data == right[name], name


EMBEDDINGS = [
    {"mat": np.float32(RNG.normal(size=(5, 3)))},
    {"mat": RNG.normal(size=(4, 2)), "global_step": 7, "tag": "a/b%c\\d e"},
    {"mat": RNG.integers(-9, 9, (4, 2)), "metadata": ["a", "ü", "", "d"], "global_step": 123456},
    {"mat": np.float32([[np.nan, np.inf], [-np.inf, 1e-30]]), "metadata": ["x", "y"], "tag": "odd"},
    {
        "mat": np.float32(RNG.normal(size=(3, 3))),
        "metadata": [["a", "1"], ["b", "2"], ["c", "3"]],
        "metadata_header": ["name", "number"],
        "tag": "columns",
    },
    {"mat": np.float32(RNG.normal(size=(5, 3))), "label_img": np.float32(RNG.uniform(size=(5, 3, 4, 4))), "tag": "s"},
    {"mat": np.float32(RNG.normal(size=(2, 3))), "label_img": np.float32(RNG.uniform(size=(2, 1, 4, 4))), "tag": "g"},
    {"mat": np.float32(RNG.normal(size=(5, 3)))},  # the first one again: replaced, not doubled
]


def test_embeddings_are_the_files_of_torch(tmp_path):
    writer = TorchWriter(str(tmp_path / "real"))
    # torch adds an entry each time; a name that is there already would stand twice in its config.
    for row in EMBEDDINGS[1:]:
        row = dict(row)
        row["mat"] = torch.as_tensor(row["mat"])
        if "label_img" in row:
            row["label_img"] = torch.as_tensor(row["label_img"])
        row.setdefault("global_step", 0)
        writer.add_embedding(**row)
    writer.close()
    with sb.Writer(tmp_path / "ours", sb.TORCH) as mine:
        for row in EMBEDDINGS[1:] + EMBEDDINGS[-1:]:
            mine.embedding(
                row["mat"],
                row.get("tag"),
                row.get("metadata"),
                row.get("metadata_header"),
                row.get("label_img"),
                row.get("global_step", 0),
            )
    assert_same_trees(tree(tmp_path / "ours"), tree(tmp_path / "real"))


def test_entries_of_other_writers_are_kept(tmp_path):
    """torch's and tensorboardX's entries, a checkpoint path, and ours, which replaces its namesake."""
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    tbx = tensorboardX.SummaryWriter(str(tmp_path))
    tbx.add_embedding(torch.ones(2, 2), global_step=1, tag="theirs")
    tbx.close()
    path = tmp_path / "projector_config.pbtxt"
    path.write_text('model_checkpoint_path: "model.ckpt"\n' + path.read_text())
    with sb.Writer(tmp_path, sb.TORCH) as mine:
        mine.embedding(np.ones((2, 2)), "ours", ["a", "b"])
        mine.embedding(np.ones((2, 2)), "theirs", ["a", "b"], step=1)
    config = text_format.Parse(path.read_text(), ProjectorConfig())
    assert config.model_checkpoint_path == "model.ckpt"
    assert [row.tensor_name for row in config.embeddings] == ["theirs:00001", "ours:00000"]
    assert config.embeddings[0].metadata_path == "00001/theirs/metadata.tsv"
    path.write_text("embeddings { tensor_name: ")
    with sb.Writer(tmp_path, sb.TORCH) as mine:
        with pytest.raises(sb.SeaboardError, match="left as it is"):
            mine.embedding(np.ones((2, 2)), "more")
    assert path.read_text() == "embeddings { tensor_name: "


def test_bytes_as_sprites_keep_their_levels(tmp_path):
    images = RNG.integers(0, 256, (4, 3, 8, 8), np.uint8)
    with sb.Writer(tmp_path, sb.TORCH) as writer:
        writer.embedding(np.ones((4, 2)), "x", images=images)
    sprite = common.pixels_of((tmp_path / "00000" / "x" / "sprite.png").read_bytes())[1][0, ..., :3]
    grid = np.concatenate([np.concatenate(list(images[i : i + 2]), axis=2) for i in (0, 2)], axis=1)
    np.testing.assert_array_equal(sprite, grid.transpose(1, 2, 0))


def test_tags_never_leave_the_log_directory(tmp_path):
    for tag in ("..", ".", "../../x", "/etc/x", "a/../../b", "..\\x"):
        with sb.Writer(tmp_path / "inside", sb.TORCH) as writer:
            writer.embedding(np.ones((2, 2)), tag)
    assert os.listdir(tmp_path) == ["inside"]
    assert sorted(os.listdir(tmp_path / "inside" / "00000")) == sorted(
        ["%2e%2e", "%2e", "..%2f..%2fx", "%2fetc%2fx", "a%2f..%2f..%2fb", "..%5cx"]
    )
