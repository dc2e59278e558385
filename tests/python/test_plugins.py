"""seaboard.plugins beside tensorboard.plugins: the same calls, both files read by real TensorBoard."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins import projector as real_projector
from tensorboard.plugins.custom_scalar import layout_pb2 as real_layout
from tensorboard.plugins.custom_scalar import summary as real_custom
from tensorboard.plugins.hparams import api as real_hp
from tensorboard.plugins.mesh import summary as real_mesh
from tensorboard.plugins.mesh import summary_v2 as real_mesh_v2
from tensorboard.plugins.pr_curve import summary as real_pr

import seaboard.summary
from peers import assert_same, events
from seaboard.plugins import projector
from seaboard.plugins.custom_scalar import layout_pb2, summary as custom
from seaboard.plugins.hparams import api as hp
from seaboard.plugins.mesh import summary as mesh
from seaboard.plugins.pr_curve import summary as pr

rng = np.random.default_rng(4)
VERTICES = rng.normal(size=(2, 5, 3)).astype(np.float32)
COLORS = rng.integers(0, 255, (2, 5, 3)).astype(np.uint8)
FACES = rng.integers(0, 5, (2, 3, 3)).astype(np.int32)


def compare(tmp_path, ours, theirs):
    """A call with a default writer, once with each module."""
    for name, module, call in (("ours", seaboard.summary, ours), ("theirs", tf.summary, theirs)):
        writer = module.create_file_writer(str(tmp_path / name))
        with writer.as_default():
            call()
        writer.close()
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def experiment(api):
    return dict(
        hparams=[
            api.HParam("lr", api.RealInterval(1e-4, 0.1), "Rate", "how *fast*"),
            api.HParam("units", api.IntInterval(1, 8)),
            api.HParam("optimizer", api.Discrete(["sgd", "adam"])),
            api.HParam("on", api.Discrete([True, False])),
            api.HParam("n", api.Discrete([3, 1, 2])),
            api.HParam("free"),
        ],
        metrics=[
            api.Metric("accuracy", "validation", "Accuracy", "d", api.Metric.VALIDATION),
            api.Metric("loss"),
        ],
    )


def test_hparams_config(tmp_path):
    compare(
        tmp_path,
        lambda: hp.hparams_config(**experiment(hp), time_created_secs=12.5),
        lambda: real_hp.hparams_config(**experiment(real_hp), time_created_secs=12.5),
    )


@pytest.mark.parametrize("trial", [None, "mine"])
def test_hparams(tmp_path, trial):
    def values(api):
        lr = api.HParam("lr", api.RealInterval(0.0, 1.0))
        return {lr: 0.1, "units": 3, "opt": "adam", "on": True, "np": np.float32(0.5)}

    compare(
        tmp_path,
        lambda: hp.hparams(values(hp), trial, start_time_secs=3.5),
        lambda: real_hp.hparams(values(real_hp), trial, start_time_secs=3.5),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda api: api.HParam("x", 3),
        lambda api: api.IntInterval(1.5, 2),
        lambda api: api.RealInterval(2.0, 1.0),
        lambda api: api.Discrete([]),
        lambda api: api.Discrete([1, "a"]),
        lambda api: api.Metric("x", dataset_type=7),
        lambda api: api.hparams_pb({"x": [1]}),
        lambda api: api.hparams_pb({api.HParam("x"): 1, "x": 2}),
        lambda api: api.hparams_pb({"x": 1}, trial_id=3),
    ],
)
def test_what_makes_no_sense_is_refused_as_in_tensorboard(wrong):
    kinds = []
    for api in (hp, real_hp):
        with pytest.raises((TypeError, ValueError)) as raised:
            wrong(api)
        kinds.append(raised.type)
    assert kinds[0] is kinds[1]


def test_keras_callback(tmp_path):
    keras.backend.clear_session()
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    callback = hp.KerasCallback(str(tmp_path), {"lr": 0.1})
    net.fit(np.zeros((4, 2)), np.zeros((4, 1)), callbacks=[callback], verbose=0)
    tags = [v.tag for e in events(tmp_path)["."] for v in e.summary.value]
    assert tags == ["_hparams_/session_start_info", "_hparams_/session_end_info"]
    with pytest.raises(RuntimeError, match="cannot be reused"):
        callback.on_train_begin()


def test_projector(tmp_path):
    for name, module in (("ours", projector), ("theirs", real_projector)):
        config = module.ProjectorConfig()
        entry = config.embeddings.add()
        entry.tensor_name = "words/中文"
        entry.metadata_path = 'a "quoted" path.tsv'
        entry.sprite.image_path = "sprite.png"
        entry.sprite.single_image_dim.extend([28, 28])
        (tmp_path / name).mkdir()
        module.visualize_embeddings(str(tmp_path / name), config)
    texts = [(tmp_path / name / "projector_config.pbtxt").read_text() for name in ("ours", "theirs")]
    assert texts[0] == texts[1]


def test_mesh(tmp_path):
    config = {"camera": {"cls": "PerspectiveCamera"}}
    compare(
        tmp_path,
        lambda: mesh.mesh("m", VERTICES, FACES, COLORS, config, step=3, description="d"),
        lambda: real_mesh_v2.mesh("m", VERTICES, FACES, COLORS, config, step=3, description="d"),
    )


def same_summary(ours, theirs):
    assert tf.compat.v1.Summary.FromString(ours.SerializeToString()) == theirs


def test_summaries_of_tf1(tmp_path):
    same_summary(mesh.pb("m", VERTICES, FACES, COLORS), real_mesh.pb("m", VERTICES, FACES, COLORS))
    labels, predictions = rng.integers(0, 2, 50), rng.uniform(0, 1, 50)
    same_summary(pr.pb("p", labels, predictions), real_pr.pb("p", labels, predictions))
    weights = rng.uniform(0, 1, 50)
    same_summary(
        pr.pb("p", labels, predictions, 10, weights, "dn", "d"), real_pr.pb("p", labels, predictions, 10, weights, "dn", "d")
    )

    def layout(module):
        series = module.MarginChartContent.Series(value="v", lower="l", upper="u")
        charts = [
            module.Chart(title="lines", multiline=module.MultilineChartContent(tag=["loss.*"])),
            module.Chart(title="margin", margin=module.MarginChartContent(series=[series])),
        ]
        return module.Layout(category=[module.Category(title="c", chart=charts, closed=True)])

    same_summary(custom.pb(layout(layout_pb2)), real_custom.pb(layout(real_layout)))


def test_operations_of_tf1():
    labels, predictions = rng.integers(0, 2, 50).astype(bool), rng.uniform(-0.2, 1.2, 50).astype(np.float32)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ours = pr.op("p", tf.constant(labels), tf.constant(predictions), 20)
        theirs = real_pr.op("p", labels=tf.constant(labels), predictions=tf.constant(predictions), num_thresholds=20)
        merged = tf.compat.v1.summary.merge_all()
        assert merged is not None
        found = [tf.compat.v1.Summary.FromString(data) for data in session.run([ours, theirs])]
    arrays = [tf.make_ndarray(summary.value[0].tensor) for summary in found]
    np.testing.assert_allclose(arrays[0], arrays[1], rtol=1e-6)
    assert [summary.value[0].metadata for summary in found][0] == found[1].value[0].metadata
