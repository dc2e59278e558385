"""seaboard.keras.TensorBoard beside Keras' own callback: the same training, both directories read by real TensorBoard."""

import os
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

import seaboard.keras
import seaboard.summary
from peers import assert_same, events, runs

CALLBACKS = {"theirs": keras.callbacks.TensorBoard, "ours": seaboard.keras.TensorBoard}


def model(embedding=False):
    keras.backend.clear_session()  # names of layers begin anew
    keras.utils.set_random_seed(3)
    layers = [keras.Input((6, 6, 1)), keras.layers.Conv2D(2, 3, name="conv"), keras.layers.Flatten()]
    if embedding:
        layers = [keras.Input((4,), dtype="int32"), keras.layers.Embedding(9, 3, name="words"), keras.layers.Flatten()]
    made = keras.Sequential([*layers, keras.layers.Dense(2, name="head")], name="net")
    made.compile("sgd", "mse", metrics=["mae"])
    return made


def data(embedding=False):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, (32, 4)) if embedding else rng.normal(size=(32, 6, 6, 1)).astype("float32")
    return x, rng.normal(size=(32, 2)).astype("float32")


def train(tmp_path, embedding=False, **options):
    for name, kind in CALLBACKS.items():
        net = model(embedding)
        x, y = data(embedding)
        (tmp_path / name).mkdir()
        callback = kind(str(tmp_path / name), **options)
        net.fit(x, y, batch_size=8, epochs=2, validation_data=(x[:8], y[:8]), callbacks=[callback], verbose=0, shuffle=False)


@pytest.mark.parametrize("options", [{}, {"update_freq": "batch"}], ids=str)
def test_the_same_runs_tags_and_values(tmp_path, options):
    train(tmp_path, write_graph=False, **options)
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_histograms_and_images_of_weights(tmp_path):
    train(tmp_path, write_graph=False, histogram_freq=1, write_images=True)
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_the_graph_of_the_model_and_of_the_training(tmp_path):
    train(tmp_path)
    found = {}
    for name in CALLBACKS:
        values = [v for e in events(tmp_path / name)["train"] for v in e.summary.value]
        found[name] = next(v for v in values if v.metadata.plugin_data.plugin_name == "graph_keras_model")
    assert found["ours"] == found["theirs"]
    # Keras itself forgets the graph of the training step since it has a plain function around it.
    (graph,) = [e.graph_def for e in events(tmp_path / "ours")["train"] if e.graph_def]
    nodes = tf.compat.v1.GraphDef.FromString(graph).library.function
    assert any(node.op == "Conv2D" for function in nodes for node in function.node_def) or b"Conv2D" in graph


def test_the_graph_is_written_once_when_fit_is_called_again(tmp_path):
    net, callback = model(), seaboard.keras.TensorBoard(str(tmp_path))
    for _ in range(2):
        net.fit(*data(), batch_size=8, epochs=1, callbacks=[callback], verbose=0)
    kinds = [e.WhichOneof("what") for e in events(tmp_path)["train"]]
    assert kinds.count("graph_def") == 1


def test_steps_per_second(tmp_path):
    train(tmp_path, write_graph=False, write_steps_per_second=True, update_freq="batch")
    tags = [
        sorted({v.tag for found in events(tmp_path / name).values() for e in found for v in e.summary.value})
        for name in CALLBACKS
    ]
    assert tags[0] == tags[1] and "epoch_steps_per_second" in tags[0] and "batch_steps_per_second" in tags[0]


def test_epochs_are_written_whatever_the_last_batch_is(tmp_path):
    train(tmp_path, write_graph=False, update_freq=3)
    tags = {
        name: {(run, e.step, v.tag) for run, found in events(tmp_path / name).items() for e in found for v in e.summary.value}
        for name in CALLBACKS
    }
    assert tags["theirs"] < tags["ours"]
    assert {tag.split("_")[0] for _, _, tag in tags["ours"] - tags["theirs"]} <= {"epoch", "evaluation"}
    assert {("train", 1, "epoch_loss"), ("train", 3, "batch_loss"), ("validation", 8, "evaluation_mae_vs_iterations")} <= tags["ours"]


def test_embeddings(tmp_path):
    train(tmp_path, embedding=True, write_graph=False, embeddings_freq=1, embeddings_metadata="words.tsv")
    texts = [(tmp_path / name / "projector_config.pbtxt").read_text() for name in CALLBACKS]
    assert texts[0] == texts[1]
    files = [sorted(file for file in os.listdir(tmp_path / name / "train") if file.endswith(".h5")) for name in CALLBACKS]
    assert files[0] == files[1] and len(files[0]) == 2


def test_embeddings_are_a_checkpoint_that_the_projector_reads(tmp_path):
    net = model(True)
    callback = seaboard.keras.TensorBoard(str(tmp_path), write_graph=False, embeddings_freq=1, embeddings_metadata={"words": "w.tsv"})
    net.fit(*data(True), batch_size=8, epochs=3, callbacks=[callback], verbose=0)
    folder = tmp_path / "train"
    (named,) = re.findall(r'tensor_name: "(.*)"', (folder / "projector_config.pbtxt").read_text())
    assert 'metadata_path: "w.tsv"' in (folder / "projector_config.pbtxt").read_text()
    newest = tf.train.latest_checkpoint(str(folder))
    assert newest == str(folder / "keras_embedding.ckpt-2")
    assert np.array_equal(tf.train.load_variable(newest, named), net.layers[0].embeddings.numpy())


def test_unknown_names_of_embedding_layers_are_refused(tmp_path):
    callback = seaboard.keras.TensorBoard(str(tmp_path), embeddings_freq=1, embeddings_metadata={"nobody": "x.tsv"})
    with pytest.raises(ValueError, match="nobody"):
        model(True).fit(*data(True), epochs=1, callbacks=[callback], verbose=0)


@pytest.mark.parametrize("batches", [2, "2,3", (2, 3)])
def test_profile_batch(tmp_path, batches):
    callback = seaboard.keras.TensorBoard(str(tmp_path), profile_batch=batches, write_graph=False)
    model().fit(*data(), batch_size=8, epochs=1, callbacks=[callback], verbose=0)
    values = [v for e in events(tmp_path)["train"] for v in e.summary.value]
    last = 2 if batches == 2 else 3
    traced = [v for v in values if v.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"]
    assert [v.tag for v in traced] == [f"batch_{last}"]
    assert list((tmp_path / "train").rglob("*.xplane.pb"))


def test_a_profile_that_is_never_reached_is_harmless(tmp_path):
    callback = seaboard.keras.TensorBoard(str(tmp_path), profile_batch=1000, write_graph=False)
    model().fit(*data(), batch_size=8, epochs=1, callbacks=[callback], verbose=0)
    assert "train" in runs(tmp_path) and not list(tmp_path.rglob("*.xplane.pb"))


@pytest.mark.parametrize("batches", [-1, (3, 2), (1, 2, 3), "4,1"])
def test_a_profile_batch_that_makes_no_sense_is_refused(tmp_path, batches):
    for kind in CALLBACKS.values():
        with pytest.raises(ValueError, match="profile_batch"):
            kind(str(tmp_path), profile_batch=batches)


def test_summaries_of_the_models_own_have_a_default_writer(tmp_path):
    class Loud(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seaboard.summary.scalar("mine", batch)

    callback = seaboard.keras.TensorBoard(str(tmp_path), update_freq="batch", write_graph=False)
    model().fit(*data(), batch_size=8, epochs=1, callbacks=[callback, Loud()], verbose=0)
    steps = [e.step for e in events(tmp_path)["train"] for v in e.summary.value if v.tag == "mine"]
    assert steps == [1, 2, 3, 4]
