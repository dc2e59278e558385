"""Our writer in the style of TensorFlow 1 against tf.compat.v1.summary and FileWriter, event by event."""

import json

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import summary as custom_scalars
from tensorboard.plugins.mesh import summary as mesh
from tensorboard.plugins.pr_curve import summary as pr_curve

import sbctypes as sb
import writer_common as common

tf1 = tf.compat.v1
RNG = np.random.default_rng(5)


def real(tmp_path, *ops, steps=(4,), also=lambda writer: None):
    """Records of a FileWriter to which the results of the ops, given as functions, are added."""
    logdir = str(tmp_path / "real")
    with tf1.Graph().as_default(), tf1.Session() as session:
        summaries = [session.run(op()) for op in ops]
        writer = tf1.summary.FileWriter(logdir)
        for step in steps:
            for summary in summaries:
                writer.add_summary(summary, step)
        also(writer)
        writer.close()
    return common.records(logdir)[1:]


def ours(tmp_path, call):
    return common.write(tmp_path, sb.TF1, call)


def test_header_is_the_same(tmp_path):
    real(tmp_path, also=lambda writer: writer.add_event(tf1.Event(step=1)))
    sb.Writer(tmp_path / "ours", sb.TF1).close()
    header = [common.timeless(common.records(tmp_path / name)[0]) for name in ("real", "ours")]
    assert header[0] == header[1]


@pytest.mark.parametrize("value", [0.5, 0.0, -1e30, np.inf, np.nan])
def test_scalar(tmp_path, value):
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.scalar("a", value, 4)), real(tmp_path, lambda: tf1.summary.scalar("a", value))
    )


@pytest.mark.parametrize("value", ["hi", ["a", "", "c"], [["a", "b"], ["ü", "d"]]], ids=["0", "1", "2"])
def test_text_has_metadata_once(tmp_path, value):
    def write(writer):
        writer.text_array("t", value, 4)
        writer.text_array("t", value, 5)

    common.assert_same_bytes(
        ours(tmp_path, write), real(tmp_path, lambda: tf1.summary.text("t", tf.constant(value)), steps=(4, 5))
    )


# ---- histograms


@pytest.mark.parametrize("name", common.random_arrays())
def test_histogram(tmp_path, name):
    values = common.random_arrays()[name]
    if values.dtype in (np.uint32, np.uint64):
        values = values.astype(np.float64)  # the op has no kernel for them
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.histogram("h", values, 4)),
        real(tmp_path, lambda: tf1.summary.histogram("h", tf.constant(values))),
    )


def test_histogram_of_nothing(tmp_path):
    values = np.zeros(0, np.float32)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.histogram("h", values, 4)),
        real(tmp_path, lambda: tf1.summary.histogram("h", tf.constant(values))),
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_histogram_refuses_what_is_not_finite(tmp_path, bad):
    values = np.array([1.0, bad, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        real(tmp_path, lambda: tf1.summary.histogram("h", tf.constant(values)))
    writer = sb.Writer(tmp_path / "ours", sb.TF1)
    writer.histogram("h", values, 4)
    writer.scalar("after", 1.0, 5)
    with pytest.raises(sb.SeaboardError, match="value 1 is NaN or infinite"):
        writer.close()
    assert [event.summary.value[0].tag for event in common.events(tmp_path / "ours")] == ["after"]


def test_given_buckets_are_kept(tmp_path):
    histo = tf1.HistogramProto(
        min=-1, max=2, num=7, sum=3.5, sum_squares=9, bucket_limit=[0, 1, 2.5], bucket=[1, 2, 4]
    )
    summary = tf1.Summary(value=[tf1.Summary.Value(tag="h", histo=histo)])
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.histogram_raw("h", (-1, 2, 7, 3.5, 9), [0, 1, 2.5], [1, 2, 4], 4)),
        real(tmp_path, also=lambda writer: writer.add_summary(summary, 4)),
    )


# ---- pictures and sound


def pictures(dtype, shape):
    if dtype == np.uint8:
        return RNG.integers(0, 256, shape).astype(dtype)
    return RNG.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("sign", ["any", "positive"])
def test_image(tmp_path, dtype, channels, sign):
    data = pictures(dtype, (2, 6, 11, channels))
    if sign == "positive":
        data = np.abs(data) if dtype != np.uint8 else data
    common.assert_same_pictures(
        ours(tmp_path, lambda w: w.image("i", data, 4)),
        real(tmp_path, lambda: tf1.summary.image("i", tf.constant(data))),
    )


@pytest.mark.parametrize("count, most", [(5, 3), (5, 1), (2, 7), (1, 1), (1, 3), (0, 3)])
def test_max_outputs_of_images(tmp_path, count, most):
    data = pictures(np.uint8, (count, 4, 5, 3))
    common.assert_same_pictures(
        ours(tmp_path, lambda w: w.image("i", data, 4, max_outputs=most)),
        real(tmp_path, lambda: tf1.summary.image("i", tf.constant(data), max_outputs=most)),
    )


def test_bad_pixels_and_flat_pictures(tmp_path):
    for name, data in {
        "nan": np.float32([[[[np.nan, 0, 0], [1, 2, 3]], [[np.inf, 1, 1], [-1, 0, 0.5]]]]),
        "flat": np.full((1, 3, 3, 1), 1e-7, np.float32),
        "zero": np.zeros((1, 3, 3, 3), np.float32),
        "all_bad": np.full((1, 2, 2, 4), np.nan, np.float32),
    }.items():
        common.assert_same_pictures(
            common.write(tmp_path, sb.TF1, lambda w: w.image("i", data, 4), name),
            real(tmp_path / name, lambda: tf1.summary.image("i", tf.constant(data))),
        )


@pytest.mark.parametrize("rate", [8000, 44100.0, 8000.5, 11025.7])
@pytest.mark.parametrize("shape, most", [((2, 30), 3), ((2, 30, 2), 3), ((5, 8, 1), 3), ((5, 8), 1), ((0, 8), 3)])
def test_audio(tmp_path, shape, most, rate):
    data = RNG.uniform(-1.2, 1.2, shape).astype(np.float32)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.audio("a", data, rate, 4, max_outputs=most)),
        real(tmp_path, lambda: tf1.summary.audio("a", tf.constant(data), rate, max_outputs=most)),
    )


# ---- tensors, plugins

TENSORS = {
    "float32": np.float32([[1.5, -2.0], [0.0, 3.0]]),
    "scalar": np.float32(7),
    "int8": np.int8([-1, 2]),
    "uint8": np.uint8([0, 255]),
    "half": np.float16([1.5, -0.25]),
    "bool": np.array([True, False]),
    "empty": np.zeros((0, 4), np.float64),
    "strings": np.array([["a", "bc"], ["", "d"]], dtype=object),
    "bfloat16": np.array([1, 2.5], ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensor_always_has_metadata_at_first(tmp_path, name):
    def write(writer):
        writer.tensor("x", TENSORS[name], 4)
        writer.tensor("x", TENSORS[name], 5)

    common.assert_same_bytes(
        ours(tmp_path, write),
        real(tmp_path, lambda: tf1.summary.tensor_summary("x", tf.constant(TENSORS[name])), steps=(4, 5)),
    )


def test_tensor_with_names(tmp_path):
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.tensor("x", np.float32([1]), 4, display_name="dn", description="sd")),
        real(
            tmp_path,
            lambda: tf1.summary.tensor_summary(
                "x", tf.constant([1.0]), display_name="dn", summary_description="sd"
            ),
        ),
    )


@pytest.mark.parametrize("thresholds", [2, 17, 201])
@pytest.mark.parametrize("kind", ["inside", "outside"])
def test_pr_curve(tmp_path, thresholds, kind):
    labels = RNG.integers(0, 2, 2000).astype(bool)
    predictions = RNG.uniform(size=2000).astype(np.float32)
    if kind == "outside":
        predictions = predictions * 1.4 - 0.2

    def op():
        return pr_curve.op("pr", tf.constant(labels), tf.constant(predictions), num_thresholds=thresholds)

    def write(writer):
        writer.pr_curve("pr", labels, predictions, 4, thresholds)
        writer.pr_curve("pr", labels, predictions, 5, thresholds)

    common.assert_same_bytes(ours(tmp_path, write), real(tmp_path, op, steps=(4, 5)))


def test_pr_curve_with_weights(tmp_path):
    """Sums of weights are floats: TensorFlow's order of adding is its own business."""
    labels = RNG.integers(0, 2, 2000).astype(bool)
    predictions = RNG.uniform(size=2000).astype(np.float32)
    weights = RNG.uniform(size=2000).astype(np.float32)

    def op():
        return pr_curve.op("pr", tf.constant(labels), tf.constant(predictions), weights=tf.constant(weights))

    mine = ours(tmp_path, lambda w: w.pr_curve("pr", labels, predictions, 4, weights=weights))
    theirs = real(tmp_path, op)
    curves = []
    for record in (mine[0], theirs[0]):
        value = common.event_pb2.Event.FromString(record).summary.value[0]
        curves.append(np.frombuffer(value.tensor.tensor_content, np.float32).reshape(6, 201))
        assert value.tag == "pr/pr_curves"
    np.testing.assert_allclose(*curves, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("parts", ["v", "vf", "vc", "vfc"])
def test_mesh(tmp_path, parts):
    vertices = RNG.uniform(size=(2, 5, 3)).astype(np.float32)
    faces = RNG.integers(0, 5, (2, 4, 3)).astype(np.int32) if "f" in parts else None
    colors = RNG.integers(0, 256, (2, 5, 3)).astype(np.uint8) if "c" in parts else None
    config = {"material": {"cls": "MeshStandardMaterial", "wireframe": True}} if "f" in parts else None

    def op():
        return mesh.op("m", vertices, faces=faces, colors=colors, config_dict=config)

    text = json.dumps(config, sort_keys=True) if config else None
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.mesh("m", vertices, 4, colors, faces, text)), real(tmp_path, op)
    )


def test_custom_scalars(tmp_path):
    layout = layout_pb2.Layout(
        category=[
            layout_pb2.Category(
                title="c",
                chart=[layout_pb2.Chart(title="a", multiline=layout_pb2.MultilineChartContent(tag=["x"]))],
            )
        ]
    )

    def write(writer):
        writer.custom_scalars({"c": {"a": ["Multiline", ["x"]]}})
        writer.custom_scalars({"c": {"a": ["Multiline", ["x"]]}})

    common.assert_same_bytes(
        ours(tmp_path, write), real(tmp_path, lambda: custom_scalars.op(layout), steps=(0, 0))
    )


# ---- events that are no summaries


def graph_def():
    with tf1.Graph().as_default() as graph:
        tf1.placeholder(tf.float32, [2, 3], name="x")
        return graph.as_graph_def()


def test_graph_and_meta_graph(tmp_path):
    definition = graph_def()
    meta = tf1.MetaGraphDef(graph_def=definition)

    def write(writer):
        writer.graph(definition.SerializeToString(deterministic=True))
        writer.meta_graph(meta.SerializeToString(deterministic=True))

    def also(writer):
        writer.add_event(tf1.Event(graph_def=definition.SerializeToString(deterministic=True), wall_time=1.0))
        writer.add_event(tf1.Event(meta_graph_def=meta.SerializeToString(deterministic=True), wall_time=1.0))

    common.assert_same_bytes(ours(tmp_path, write), real(tmp_path, also=also))


def test_run_metadata_takes_a_tag_once(tmp_path):
    data = tf1.RunMetadata()
    data.step_stats.dev_stats.add(device="/cpu:0")

    def also(writer):
        writer.add_run_metadata(data, "one", 4)
        writer.add_run_metadata(data, "two", 5)
        with pytest.raises(ValueError):
            writer.add_run_metadata(data, "one", 6)

    theirs = real(tmp_path, also=also)
    writer = sb.Writer(tmp_path / "ours", sb.TF1)
    writer.scalar("one", 1.0, 0)  # summaries have their own tags
    for tag, step in (("one", 4), ("two", 5), ("one", 6)):
        writer.run_metadata(tag, data.SerializeToString(), step)
    with pytest.raises(sb.SeaboardError, match="used before"):
        writer.close()
    common.assert_same_bytes(common.records(tmp_path / "ours")[2:], theirs)


@pytest.mark.parametrize(
    "status, path, message", [(1, None, None), (2, None, "over"), (3, "model.ckpt-5", None), (3, "p", "m")]
)
def test_session_log(tmp_path, status, path, message):
    log = tf1.SessionLog(status=status, checkpoint_path=path, msg=message)
    common.assert_same_bytes(
        ours(tmp_path, lambda w: w.session(status, path, message, 4)),
        real(tmp_path, also=lambda writer: writer.add_session_log(log, 4)),
    )


def test_serialized_summaries_lose_metadata_they_had_before(tmp_path):
    metadata = tf1.SummaryMetadata(display_name="shown")
    value = tf1.Summary.Value(tag="x", simple_value=1, metadata=metadata)
    first = tf1.Summary(value=[value, tf1.Summary.Value(tag="y", simple_value=2)])
    second = tf1.Summary(value=[tf1.Summary.Value(tag="y", simple_value=2, metadata=metadata), value])

    def write(writer):
        for step, summary in enumerate((first, second, first)):
            writer.summary(summary.SerializeToString(), step)

    def also(writer):
        for step, summary in enumerate((first, second, first)):
            writer.add_summary(summary.SerializeToString(), step)

    common.assert_same_bytes(ours(tmp_path, write), real(tmp_path, also=also))


# ---- names

NAMES = [
    [("loss",), ("loss",), ("loss",), ("loss_1",), ("Loss",), ("LOSS_1",)],
    [("a b",), ("a_b",), ("/a b",), ("//x",), ("x:0",), ("a.b-c/d",)],
    [("x", None, "fam"), ("x", None, "fam"), ("fam/x",), ("x", None, "f m"), ("fam/fam/x",)],
    [("x", "scope"), ("x", "scope"), ("x",), ("scope/x",), ("scope",), ("y", "a/b"), ("a",), ("a/b",)],
    [("x", "outer", "fam"), ("x", "outer", "fam"), ("fam/x", "outer")],
    [("again/",), ("again/",), ("again",), ("again",), ("x/", "scope"), ("x/", None, "fam")],
    [("n_1",), ("n",), ("n",), ("n",), ("n_1",), ("n_2",)],
    [(f"v{i % 7}",) for i in range(60)],
]


@pytest.mark.parametrize("calls", NAMES, ids=range(len(NAMES)))
def test_names_are_those_of_a_graph(calls):
    names = sb.Names()
    with tf1.Graph().as_default() as graph:
        scopes = {}
        for name, scope, family in [(call + (None, None))[:3] for call in calls]:
            assert names.tag(name, scope, family) == real_tag(graph, scopes, name, scope, family)
    names.free()


def real_tag(graph, scopes, name, scope, family):
    """The tag of a scalar summary; each scope is entered once as new, and then as the one it became."""
    from tensorflow.python.ops import summary_op_util

    if scope is None:
        with summary_op_util.summary_scope(name, family) as (tag, _):
            return tag
    entered = ""
    for part in scope.split("/"):
        key = f"{entered}{part}"
        if key not in scopes:
            with graph.name_scope(entered or None), graph.name_scope(part) as made:
                scopes[key] = made
        entered = scopes[key]
    with graph.name_scope(entered), summary_op_util.summary_scope(name, family) as (tag, _):
        return tag


TAGS = ["plain", "a b", "/x", "///x/y", "a\tb\nc", "x:0", "", "///", "a//b", "größe", "中文 字", "e\u0301"]
TAGS += ["٣٤", "Ⅷ", "—", "€", "\U0001d400\U0001f600", "x" * 1000]


@pytest.mark.parametrize("tag", TAGS, ids=range(len(TAGS)))
def test_clean_tags(tag):
    from tensorflow.python.ops import summary_op_util

    assert sb.clean_tag(tag) == summary_op_util.clean_tag(tag)
