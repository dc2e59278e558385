"""Our writer in the style of TensorFlow 2 against tf.summary, event by event."""

import json

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import summary as custom_scalars
from tensorboard.plugins.hparams import api as hp
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.mesh import summary_v2 as mesh
from tensorboard.plugins.pr_curve import summary as pr_curve

import sbctypes as sb
import writer_common as common

RNG = np.random.default_rng(3)


def real(tmp_path, call):
    logdir = str(tmp_path / "real")
    writer = tf.summary.create_file_writer(logdir)
    with writer.as_default():
        call()
    writer.close()
    return common.records(logdir)[1:]


def ours(tmp_path, call):
    return common.write(tmp_path, sb.TF2, call)


def test_header_is_the_same(tmp_path):
    tf.summary.create_file_writer(str(tmp_path / "real")).close()
    sb.Writer(tmp_path / "ours").close()
    header = [common.timeless(common.records(tmp_path / name)[0]) for name in ("real", "ours")]
    assert header[0] == header[1]


@pytest.mark.parametrize("value", [0.5, 0.0, 1e30, 1e-42, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("step", [0, 7, -1, 2**40])
def test_scalar(tmp_path, value, step):
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.scalar("a/b", value, step, description="*why*")),
        real(tmp_path, lambda: tf.summary.scalar("a/b", value, step, description="*why*")),
    )


@pytest.mark.parametrize(
    "value",
    ["hi", "", "größer 中文 \U0001f600", ["a"], ["a", "", "c"], [["a", "b"], ["c", "d"]], [[["x"]], [["y"]]], []],
    ids=lambda value: str(len(str(value))),
)
def test_text(tmp_path, value):
    data = tf.constant(value, tf.string)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.text_array("t", value, 3, description="d")),
        real(tmp_path, lambda: tf.summary.text("t", data, 3, description="d")),
    )


def test_a_single_text_has_rank_0(tmp_path):
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.text("t", "one", 3)), real(tmp_path, lambda: tf.summary.text("t", "one", 3))
    )


# ---- histograms


@pytest.mark.parametrize("name", common.random_arrays())
@pytest.mark.parametrize("buckets", [None, 1, 7])
def test_histogram(tmp_path, name, buckets):
    values = common.random_arrays()[name]
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.histogram("h", values, 5, buckets=buckets)),
        real(tmp_path, lambda: tf.summary.histogram("h", values, 5, buckets=buckets)),
    )


@pytest.mark.parametrize(
    "values, buckets",
    [
        ([], None),
        ([], 0),
        ([1.0, 2.0], 0),
        ([1.0, 2.0], -3),
        ([np.nan, 1.0, 2.0], 5),
        ([1.0, np.inf, 2.0, 3.0], 5),
        ([-np.inf, 1.0, 2.0], 5),
        ([np.inf, np.inf], 5),
        ([-np.inf, np.inf], 5),
        ([np.nan], 5),
        ([1e308, -1e308, 0.0], 5),
        ([1.0] * 100 + [np.nan], 5),
    ],
)
def test_histogram_of_odd_values(tmp_path, values, buckets):
    values = np.array(values, np.float64)
    mine = ours(tmp_path, lambda w: w.histogram("h", values, 5, buckets=buckets))
    theirs = real(tmp_path, lambda: tf.summary.histogram("h", values, 5, buckets=buckets))
    # NaN has several bit patterns, and whose they are depends on the processor's order of operands.
    mine, theirs = (common.event_pb2.Event.FromString(r[0]).summary.value[0] for r in (mine, theirs))
    np.testing.assert_array_equal(*(np.frombuffer(v.tensor.tensor_content) for v in (mine, theirs)))
    mine.tensor.tensor_content = theirs.tensor.tensor_content = b""
    assert mine == theirs


def test_histogram_of_bfloat16_and_bool(tmp_path):
    for values in (RNG.normal(size=300).astype(ml_dtypes.bfloat16), RNG.integers(0, 2, 50).astype(bool)):
        name = str(values.dtype)
        common.assert_same_bytes(
            common.write(tmp_path, sb.TF2, lambda w: w.histogram("h", values, 5), name),
            real(tmp_path / name, lambda: tf.summary.histogram("h", values, 5)),
        )


def test_given_rows_are_what_tf_would_write(tmp_path):
    values = RNG.normal(size=100)
    theirs = real(tmp_path, lambda: tf.summary.histogram("h", values, 5))
    tensor = common.event_pb2.Event.FromString(theirs[0]).summary.value[0].tensor
    rows = np.frombuffer(tensor.tensor_content).reshape(30, 3)
    common.assert_same_bytes(ours(tmp_path, lambda w: w.histogram_rows("h", rows, 5)), theirs)


# ---- pictures and sound

IMAGE_TYPES = [
    np.uint8,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint16,
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.float64,
]


def pictures(dtype, shape):
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, shape, dtype)
    return RNG.uniform(-0.1, 1.1, shape).astype(dtype)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", IMAGE_TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_image(tmp_path, dtype, channels):
    data = pictures(dtype, (2, 9, 13, channels))
    common.assert_same_pictures(
        ours(tmp_path, lambda w: w.image("i", data, 4, description="d")),
        real(tmp_path, lambda: tf.summary.image("i", data, 4, description="d")),
    )


@pytest.mark.parametrize("count, most", [(5, 3), (5, 1), (2, 7), (1, 1), (0, 3)])
def test_max_outputs_of_images(tmp_path, count, most):
    data = pictures(np.uint8, (count, 4, 5, 3))
    common.assert_same_pictures(
        ours(tmp_path, lambda w: w.image("i", data, 4, max_outputs=most)),
        real(tmp_path, lambda: tf.summary.image("i", data, 4, max_outputs=most)),
    )


@pytest.mark.parametrize("layout", ["NCHW", "CHWN", "WHC", "HW", "CHW"])
def test_any_layout_gives_the_picture_of_nhwc(tmp_path, layout):
    data = pictures(np.float32, [{"N": 2, "C": 3, "H": 5, "W": 7}[axis] for axis in layout])
    full = data
    letters = layout
    for axis in "NC":
        if axis not in letters:
            full, letters = full[..., None], letters + axis
    full = full.transpose([letters.index(axis) for axis in "NHWC"])
    common.assert_same_pictures(
        ours(tmp_path, lambda w: w.image("i", data, 4, layout=layout)),
        real(tmp_path, lambda: tf.summary.image("i", full, 4)),
    )


@pytest.mark.parametrize(
    "shape, most", [((1, 100, 1), 0), ((2, 50, 2), 0), ((5, 10, 1), 0), ((5, 10, 1), 2), ((0, 10, 1), 0)]
)
def test_audio(tmp_path, shape, most):
    data = RNG.uniform(-1.2, 1.2, shape).astype(np.float32)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.audio("a", data, 44100, 2, max_outputs=most)),
        real(tmp_path, lambda: tf.summary.audio("a", data, 44100, 2, max_outputs=most or 3)),
    )


# ---- tensors

TENSORS = {
    "float32": np.float32([[1.5, -2.0], [0.0, 3.0]]),
    "scalar": np.float32(7),
    "int32": np.int32([-1, 2]),
    "int64": np.int64([-(2**60), 5]),
    "uint8": np.uint8([0, 255]),
    "uint64": np.uint64([0, 2**64 - 1]),
    "half": np.float16([1.5, -0.25]),
    "bool": np.array([True, False]),
    "complex": np.complex64([1 + 2j, 3]),
    "empty": np.zeros((0, 4), np.float64),
    "strings": np.array([["a", "bc"], ["", "d"]], dtype=object),
    "bfloat16": np.array([1, 2.5], ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensor(tmp_path, name):
    values = TENSORS[name]
    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="mine", content=b"\x01\xff")
    )
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.tensor("x", values, 4, plugin="mine", content=b"\x01\xff")),
        real(tmp_path, lambda: tf.summary.write("x", tf.constant(values), 4, metadata=metadata)),
    )


def test_tensor_without_a_plugin_has_no_metadata(tmp_path):
    values = np.float32([1, 2])
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.tensor("x", values, 4)), real(tmp_path, lambda: tf.summary.write("x", values, 4))
    )


# ---- graphs


@tf.function
def traced(x):
    return tf.nn.relu(tf.matmul(x, x))


def test_graph(tmp_path):
    theirs = real(tmp_path, lambda: tf.summary.graph(traced.get_concrete_function(tf.ones((2, 2))).graph))
    graph_def = common.event_pb2.Event.FromString(theirs[0]).graph_def
    assert len(graph_def) > 100
    common.assert_same_bytes(ours(tmp_path, lambda w: w.graph(graph_def)), theirs)


def test_trace_export_of_a_graph(tmp_path):
    def export():
        tf.summary.trace_on(graph=True, profiler=False)
        traced(tf.ones((2, 2)))
        tf.summary.trace_export("trace", step=9)

    theirs = real(tmp_path, export)
    graphs = common.event_pb2.Event.FromString(theirs[0]).summary.value[0].tensor.string_val[0]
    assert tf.compat.v1.RunMetadata.FromString(graphs).function_graphs
    # Joined as bytes: parsing and serializing again would shuffle the attributes of nodes.
    stats = tf.compat.v1.RunMetadata()
    stats.step_stats.dev_stats.add(device="left out")
    data = stats.SerializeToString() + graphs
    common.assert_same_bytes(ours(tmp_path, lambda w: w.trace("trace", data, False, 9)), theirs)


def test_trace_with_a_profile_keeps_all(tmp_path):
    data = tf.compat.v1.RunMetadata()
    data.step_stats.dev_stats.add(device="kept")
    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="graph_run_metadata", content=b"1")
    )
    data = data.SerializeToString()
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.trace("t", data, True, 9)),
        real(tmp_path, lambda: tf.summary.write("t", data, 9, metadata=metadata)),
    )


def test_keras_model(tmp_path):
    model = json.dumps({"class_name": "Sequential", "config": {"name": "große", "layers": []}})
    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="graph_keras_model", content=b"1")
    )
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.keras_model("keras", model, 0)),
        real(tmp_path, lambda: tf.summary.write("keras", model, 0, metadata=metadata)),
    )


# ---- plugins without a function in tf.summary


def raw_pb(summary):
    return lambda: tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=4)


@pytest.mark.parametrize("thresholds", [2, 11, 201, 500])
def test_pr_curve(tmp_path, thresholds):
    labels = RNG.integers(0, 2, 3000).astype(bool)
    predictions = RNG.uniform(size=3000).astype(np.float32)
    summary = pr_curve.pb("pr", labels, predictions, num_thresholds=thresholds, description="d")
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.pr_curve("pr", labels, predictions, 4, thresholds, description="d")),
        real(tmp_path, raw_pb(summary)),
    )


def test_pr_curve_rows(tmp_path):
    rows = RNG.uniform(size=(6, 13))
    summary = pr_curve.raw_data_pb("pr", *rows, num_thresholds=13, display_name="shown")
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.pr_curve_raw("pr", rows, 4, display_name="shown")),
        real(tmp_path, raw_pb(summary)),
    )


@pytest.mark.parametrize("parts", ["v", "vf", "vc", "vfc"])
def test_mesh(tmp_path, parts):
    vertices = RNG.uniform(size=(2, 5, 3)).astype(np.float32)
    faces = RNG.integers(0, 5, (2, 4, 3)).astype(np.int32) if "f" in parts else None
    colors = RNG.integers(0, 256, (2, 5, 3)).astype(np.uint8) if "c" in parts else None
    config = {"camera": {"cls": "PerspectiveCamera", "fov": 75}} if "f" in parts else None
    text = json.dumps(config, sort_keys=True) if config else None
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.mesh("m", vertices, 3, colors, faces, text, description="d")),
        real(
            tmp_path, lambda: mesh.mesh("m", vertices, faces, colors, config_dict=config, step=3, description="d")
        ),
    )


def test_custom_scalars(tmp_path):
    layout = layout_pb2.Layout(
        category=[
            layout_pb2.Category(
                title="losses",
                chart=[
                    layout_pb2.Chart(title="all", multiline=layout_pb2.MultilineChartContent(tag=["loss.*", "x"])),
                    layout_pb2.Chart(
                        title="band",
                        margin=layout_pb2.MarginChartContent(
                            series=[layout_pb2.MarginChartContent.Series(value="v", lower="l", upper="u")]
                        ),
                    ),
                ],
            )
        ]
    )
    given = {"losses": {"all": ["Multiline", ["loss.*", "x"]], "band": ["Margin", ["v", "l", "u"]]}}

    def write():
        tf.summary.experimental.write_raw_pb(custom_scalars.pb(layout).SerializeToString(), step=0)

    common.assert_same_bytes(ours(tmp_path, lambda w: w.custom_scalars(given)), real(tmp_path, write))


HPARAMS = [
    {"lr": 0.1, "layers": 3, "optimizer": "adam", "nesterov": True},
    {},
    {"one": 1.0},
    {"big": 2**60, "small": -7, "zero": 0},
    {"a": 1e-7, "b": 1e16, "c": 123456789.125, "d": -0.0, "e": 1e22, "f": 5e-324},
    {"text": 'quotes " \\ / \n\r\t\f\b \x01 \x7f', "ünïcode": "中文 \U0001f600 é", "": "empty name"},
    {"no": False, "B": 1, "a": 2, "Ä": 3, "z": 4},
    {"inf": float("inf"), "minus": float("-inf"), "nan": float("nan")},
]


@pytest.mark.parametrize("values", HPARAMS, ids=range(len(HPARAMS)))
def test_hparams_and_the_name_of_their_group(tmp_path, values):
    common.assert_same_messages(
        ours(tmp_path, lambda w: w.hparams_start(values, start_time=12.5)),
        real(tmp_path, lambda: hp.hparams(values, start_time_secs=12.5)),
        lambda content: str(plugin_data_pb2.HParamsPluginData.FromString(content)),
    )


def test_hparams_with_a_trial_id(tmp_path):
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.hparams_start({"lr": 0.5}, "trial", 3.0)),
        real(tmp_path, lambda: hp.hparams({"lr": 0.5}, trial_id="trial", start_time_secs=3.0)),
    )


def test_hparams_config(tmp_path):
    hparams = [
        hp.HParam("units", hp.IntInterval(16, 512), display_name="Units", description="how *many*"),
        hp.HParam("dropout", hp.RealInterval(0.0, 0.5)),
        hp.HParam("optimizer", hp.Discrete(["adam", "sgd"])),
        hp.HParam("flag", hp.Discrete([False, True])),
        hp.HParam("open"),
    ]
    metrics = [
        hp.Metric("accuracy", group="validation", display_name="Acc", dataset_type=hp.Metric.VALIDATION),
        hp.Metric("loss", description="d", dataset_type=hp.Metric.TRAINING),
    ]
    mine = [
        {"name": "units", "type": 3, "has_interval": True, "min": 16, "max": 512, "display_name": "Units"},
        {"name": "dropout", "type": 3, "has_interval": True, "min": 0, "max": 0.5},
        {"name": "optimizer", "type": 1, "values": ["adam", "sgd"]},
        {"name": "flag", "type": 2, "values": [False, True]},
        {"name": "open"},
    ]
    mine[0]["description"] = "how *many*"
    shown = [
        {"tag": "accuracy", "group": "validation", "display_name": "Acc", "dataset": 2},
        {"tag": "loss", "description": "d", "dataset": 1},
    ]
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.hparams_config(mine, shown, 7.5)),
        real(tmp_path, lambda: hp.hparams_config(hparams, metrics, time_created_secs=7.5)),
    )


def test_hparams_end(tmp_path):
    from tensorboard.plugins.hparams import summary as v1

    summary = v1.session_end_pb(status=1, end_time_secs=99.5)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.hparams_end(sb.SUCCESS, 99.5)),
        real(tmp_path, lambda: tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=0)),
    )
