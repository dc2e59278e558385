"""What is not always installed: arrays of JAX, Keras on torch and on JAX, graphs of ONNX; and rarely used names of tensorboardX."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorboardX
from peers import assert_same, events

import seaboard
import seaboard.tensorboardX

PROGRAM = """
import sys, numpy as np, keras
from seaboard import train
import seaboard.keras

def model():
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="first"), keras.layers.Dense(2, name="head")], name="net")
    net.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return net

rng = np.random.default_rng(1)
x, y = rng.normal(size=(32, 4)).astype("float32"), rng.normal(size=(32, 2)).astype("float32")
def fit(net, callbacks=()):
    net.fit(x, y, batch_size=8, epochs=2, validation_data=(x, y), callbacks=list(callbacks), verbose=0, shuffle=False)

assert keras.config.backend() == sys.argv[2]
kinds = {"ours": seaboard.keras.TensorBoard, "theirs": keras.callbacks.TensorBoard}
for name, kind in kinds.items():
    fit(model(), [kind(f"{sys.argv[1]}/{name}", histogram_freq=1, update_freq="batch")])
fit(model(), [seaboard.keras.TensorBoard(f"{sys.argv[1]}/profiled", profile_batch=2)])
first = model()
fit(first)
path = train.Checkpoint(model=first, optimizer=first.optimizer).save(f"{sys.argv[1]}/ckpt")
second = model()
second.optimizer.build(second.trainable_variables)
train.Checkpoint(model=second, optimizer=second.optimizer).restore(path).assert_consumed()
for net in (first, second):
    fit(net)
assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(first.weights, second.weights))
"""


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras_on_another_backend_logs_the_same_and_goes_on_from_a_checkpoint(tmp_path, backend):
    pytest.importorskip(backend)
    environment = {**os.environ, "KERAS_BACKEND": backend}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), backend]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "ours", tmp_path / "theirs")
    assert list((tmp_path / "profiled/train/plugins/profile").rglob("*.xplane.pb"))


def test_arrays_of_jax_are_what_numpy_has(tmp_path):
    jax = pytest.importorskip("jax")
    values = np.linspace(-1, 1, 48, dtype=np.float32)
    for name, make in (("jax", jax.numpy.asarray), ("numpy", np.asarray)):
        with seaboard.SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("a", make(values)[3], make(np.int32(7)))
            writer.add_histogram("h", make(values), 1)
            writer.add_histogram("half", make(values).astype("bfloat16" if name == "jax" else jax.numpy.bfloat16), 1)
            writer.add_image("i", make(values.reshape(3, 4, 4)), 1)
            writer.add_tensor("t", make(values.reshape(6, 8)).T, 2)
    assert_same(tmp_path / "jax", tmp_path / "numpy")


def test_a_jax_array_is_no_variable(tmp_path):
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match="trackable"):
        seaboard.train.Checkpoint(w=jax.numpy.ones(3))
    path = seaboard.train.Checkpoint(w=seaboard.train.Variable(jax.numpy.ones(3))).save(tmp_path / "c")
    assert seaboard.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1, 1, 1]


def test_the_graph_of_an_onnx_file_is_tensorboardx_own(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    kind = onnx.TensorProto.FLOAT
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv", kernel_shape=[3, 3], group=1, auto_pad="SAME_UPPER"),
             helper.make_node("Relu", ["c"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", kind, [1, 1, 4, 4]), helper.make_tensor_value_info("w", kind, [2, 1, 3, 3])]
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_tensor_value_info("y", kind, [1, 2, 4, 4])])
    onnx.save(helper.make_model(graph), tmp_path / "net.onnx")
    for name, package in (("ours", seaboard.tensorboardX), ("theirs", tensorboardX)):
        with package.SummaryWriter(str(tmp_path / name)) as writer:
            writer.add_onnx_graph(onnx_model_file=str(tmp_path / "net.onnx"))
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_a_file_that_is_no_onnx_graph_is_refused(tmp_path):
    (tmp_path / "x.onnx").write_bytes(b"\x3a\xff\xff\xff\xff\x0f not a graph")
    with seaboard.SummaryWriter(tmp_path / "run") as writer, pytest.raises(ValueError):
        writer.add_onnx_graph(str(tmp_path / "x.onnx"))


def test_metadata_for_a_while(tmp_path):
    from tensorboardX.proto import event_pb2, summary_pb2

    for name, package in (("ours", seaboard.tensorboardX), ("theirs", tensorboardX)):
        writer = package.FileWriter(str(tmp_path / name))
        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="a", simple_value=0.5)])
        with writer.use_metadata(global_step=10, walltime=12.5):
            writer.add_event(event_pb2.Event(summary=summary))
            writer.add_summary(summary)
            with pytest.raises(AssertionError):
                writer.use_metadata(global_step=11).__enter__()
        with pytest.raises(AssertionError):
            writer.use_metadata().__enter__()
        writer.add_summary(summary, 3)
        writer.close()
    assert_same(tmp_path / "ours", tmp_path / "theirs")
    assert [(event.step, event.wall_time == 12.5) for event in events(tmp_path / "ours")["."]] == [(10, True), (10, True), (3, False)]


def test_metadata_of_a_writer_for_a_while(tmp_path):
    for name, package in (("ours", seaboard.tensorboardX), ("theirs", tensorboardX)):
        with package.SummaryWriter(str(tmp_path / name)) as writer:
            with writer.use_metadata(global_step=10, walltime=12.5):
                writer.add_scalar("a", 0.5)
                writer.add_scalar("a", 0.25, 11)
                writer.add_scalar("a", 0.125, walltime=13.5)
                writer.add_histogram("h", [1.0, 2.0])
                writer.add_images("i", np.zeros((2, 3, 4, 4), "uint8"))
                writer.add_text("t", "words")
                writer.add_custom_scalars({"c": {"chart": ["Multiline", ["a"]]}})
                with pytest.raises(AssertionError):
                    writer.use_metadata(global_step=11).__enter__()
            with pytest.raises(AssertionError):
                writer.use_metadata().__enter__()
            writer.add_scalar("a", 1.0, 3)
    assert_same(tmp_path / "ours", tmp_path / "theirs")
    found = [(event.step, event.wall_time) for event in events(tmp_path / "ours")["."]]
    assert found[:-1] == [(10, 12.5), (11, 12.5), (10, 13.5), *[(10, 12.5)] * 4] and found[-1][0] == 3


def test_nothing_goes_to_comet(tmp_path):
    seaboard.tensorboardX.SummaryWriter(tmp_path, comet_config={"disabled": True}).close()
    with pytest.warns(UserWarning, match="not to Comet"):
        seaboard.tensorboardX.SummaryWriter(tmp_path, comet_config={"disabled": False}).close()


def test_a_precision_recall_curve_over_batches(tmp_path):
    import tensorflow as tf
    from tensorboard.plugins.pr_curve import summary as theirs

    from seaboard.plugins.pr_curve import summary as ours

    v1 = tf.compat.v1
    rng = np.random.default_rng(0)
    batches = [(rng.integers(0, 2, 50), rng.uniform(size=50).astype(np.float32)) for _ in range(3)]
    found = {}
    for name, module in (("ours", ours), ("theirs", theirs)):
        with tf.Graph().as_default(), v1.Session() as session:
            labels, guesses = v1.placeholder(tf.int32, [None]), v1.placeholder(tf.float32, [None])
            curve, update = module.streaming_op("pr", labels, guesses, 11, weights=0.5, description="d", updates_collections=["u"])
            assert v1.get_collection("u") == [update]
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            for truth, guess in batches:
                session.run(update, {labels: truth, guesses: guess})
            found[name] = v1.Summary.FromString(session.run(curve))
    (mine,), (real,) = found["ours"].value, found["theirs"].value
    assert mine.metadata == real.metadata and mine.tag == real.tag
    assert np.array_equal(tf.make_ndarray(mine.tensor), tf.make_ndarray(real.tensor))
