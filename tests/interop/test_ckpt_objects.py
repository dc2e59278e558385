"""Object-based checkpoints between TensorFlow and seaboard/checkpoint.h, in both directions."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import pytest
import tensorflow as tf
from ckpt_ctypes import Checkpoint, Manager, Saver, SeaboardError, latest_checkpoint, mirror
from tensorflow.core.protobuf import trackable_object_graph_pb2


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.reshape(tf.range(6, dtype=tf.float32), [3, 2]), name="w")
        self.b = tf.Variable([0.5, -1.0], name="b")


def keras_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"),
                              keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model


DATA = np.random.default_rng(1).normal(size=(16, 4)).astype(np.float32), np.ones((16, 1), np.float32)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Checkpoints as TensorFlow and Keras write them: {name: prefix}."""
    root = tmp_path_factory.mktemp("objects")
    found = {}
    saved = tf.train.Checkpoint(model=Model(), step=tf.Variable(5, dtype=tf.int64), items=[tf.Variable(1.0), tf.Variable(2.0)],
                                table={"a/b.c": tf.Variable(3.0)}, empty=[])
    found["modules"] = saved.save(str(root / "modules/ckpt"))
    model = keras_model()
    model.fit(*DATA, verbose=0, shuffle=False)
    found["keras"] = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(root / "keras/k"))
    with_slots, optimizer = Model(), tf.compat.v1.train.AdamOptimizer()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(with_slots.w) + tf.reduce_sum(with_slots.b)
    variables = [with_slots.w, with_slots.b]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    found["slots"] = tf.train.Checkpoint(model=with_slots, optimizer=optimizer).save(str(root / "slots/s"))
    return found


def mirrored(prefix):
    reader = tf.train.load_checkpoint(prefix)
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    program, arrays = mirror(graph, reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map())
    return program, arrays, reader


def files_of(prefix):
    path = pathlib.Path(prefix)
    return {found.name.removeprefix(path.name): found.read_bytes() for found in path.parent.glob(path.name + ".*")}


@pytest.mark.parametrize("name", ["modules", "keras", "slots"])
def test_a_mirrored_program_restores_every_value_and_saves_the_same_bytes(made, tmp_path, name):
    program, arrays, reader = mirrored(made[name])
    restored = program.restore(made[name])
    restored.assert_consumed()
    assert restored.unused() == []
    for key, array in arrays.items():
        assert array.tobytes() == np.asarray(reader.get_tensor(key)).tobytes(), key
    assert program.save_counter == 1 == reader.get_tensor("save_counter/.ATTRIBUTES/VARIABLE_VALUE")
    program.close()
    # a program that never restored: its first save is number 1, as TensorFlow's was
    again, arrays, _ = mirrored(made[name])
    for key, array in arrays.items():
        array[...] = reader.get_tensor(key)
    again.save(tmp_path / pathlib.Path(made[name]).name.rsplit("-", 1)[0])
    assert files_of(tmp_path / pathlib.Path(made[name]).name) == files_of(made[name])
    again.close()


def test_tensorflow_restores_and_trains_on_with_equal_results(made, tmp_path):
    def trained(prefix):
        model = keras_model()
        model.fit(*DATA, verbose=0, shuffle=False)  # builds the optimizer's variables
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        checkpoint.restore(prefix).assert_consumed()
        model.fit(*DATA, verbose=0, shuffle=False, epochs=2)
        return [weight.numpy() for weight in model.weights + model.optimizer.variables]

    program, _, _ = mirrored(made["keras"])
    program.restore(made["keras"])
    for shards in (1, 3):
        path = program.save(tmp_path / f"ours{shards}", shards)
        for ours, theirs in zip(trained(path), trained(made["keras"])):
            assert np.array_equal(ours, theirs)
    program.close()


def test_what_a_c_program_saves_tensorflow_restores(tmp_path):
    program = Checkpoint()
    w, b, step = np.arange(6, dtype=np.float32).reshape(3, 2) + 1, np.float32([8, 9]), np.array(77, np.int64)
    model = program.add(program.root, "model")
    program.add_variable(model, "w", w)
    program.add_variable(model, "b", b)
    program.add_variable(program.root, "step", step)
    path = program.save(tmp_path / "new/dir/ckpt")
    assert path == str(tmp_path / "new/dir/ckpt-1") == tf.train.latest_checkpoint(str(tmp_path / "new/dir"))
    theirs, counter = Model(), tf.Variable(0, dtype=tf.int64)
    tf.train.Checkpoint(model=theirs, step=counter).restore(path).assert_consumed()
    assert np.array_equal(theirs.w.numpy(), w) and np.array_equal(theirs.b.numpy(), b) and counter.numpy() == 77
    w += 1
    program.write(tmp_path / "plain")
    tf.train.Checkpoint(model=theirs, step=counter).read(str(tmp_path / "plain")).expect_partial()
    assert np.array_equal(theirs.w.numpy(), w)
    program.close()


def test_values_wait_for_objects_that_come_later(made):
    program = Checkpoint()
    restored = program.restore(made["modules"])
    assert sorted(restored.unused()) == [
        "items/0/.ATTRIBUTES/VARIABLE_VALUE", "items/1/.ATTRIBUTES/VARIABLE_VALUE", "model/b/.ATTRIBUTES/VARIABLE_VALUE",
        "model/w/.ATTRIBUTES/VARIABLE_VALUE", "step/.ATTRIBUTES/VARIABLE_VALUE", "table/a.Sb..c/.ATTRIBUTES/VARIABLE_VALUE"]
    w = np.zeros((3, 2), np.float32)
    program.add_variable(program.add(program.root, "model"), "w", w)
    assert w.tolist() == [[0, 1], [2, 3], [4, 5]]
    restored.assert_existing_objects_matched()
    with pytest.raises(SeaboardError, match="is in the file and was not restored"):
        restored.assert_consumed()
    program.close()


def test_messages_name_both_sides(made, tmp_path):
    saved = tf.train.Checkpoint(myAwesomeModel=Model()).save(str(tmp_path / "ckpt"))
    program = Checkpoint()
    program.add_variable(program.add(program.root, "model"), "w", np.zeros((3, 2), np.float32))
    restored = program.restore(saved)
    with pytest.raises(SeaboardError, match="the file has 'myAwesomeModel', the program has 'model'"):
        restored.assert_consumed()
    with pytest.raises(SeaboardError, match=r"the file has float32 \[3, 2\], the program has float32 \[2, 3\]"):
        program.add_variable(program.add(program.root, "myAwesomeModel"), "w", np.zeros((2, 3), np.float32))
    program.close()


def test_files_without_objects_are_matched_by_name(tmp_path):
    with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.Variable(np.float32([1, 2, 3]), name="hidden/weights")
        tf.compat.v1.Variable(np.int64(4), name="global_step")
        session.run(tf.compat.v1.global_variables_initializer())
        saved = tf.compat.v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=9)
    assert latest_checkpoint(tmp_path) == saved == tf.train.latest_checkpoint(str(tmp_path))
    program = Checkpoint()
    w, later, other = np.zeros(3, np.float32), np.array(0, np.int64), np.zeros(1, np.float32)
    program.add_variable(program.root, "w", w, "hidden/weights")
    restored = program.restore(saved)
    restored.assert_consumed()
    assert w.tolist() == [1, 2, 3]
    program.add_variable(program.root, "step", later, "global_step")
    assert later == 4
    program.add_variable(program.root, "other", other, "nowhere")
    with pytest.raises(SeaboardError, match="nowhere"):
        restored.assert_existing_objects_matched()
    program.close()


def test_managers_of_both_take_turns_in_one_directory(tmp_path):
    folder = tmp_path / "runs/first"
    step = np.array(0, np.int64)
    for turn in range(6):
        if turn % 2:
            program = Checkpoint()
            program.add_variable(program.root, "step", step)
            manager = Manager(program, folder, 3)
            assert manager.restore_or_initialize() == str(folder / f"ckpt-{turn}")
            assert step == turn
            step += 1
            assert manager.save() == str(folder / f"ckpt-{turn + 1}")
            ours = manager.checkpoints
            assert manager.latest == tf.train.latest_checkpoint(str(folder))
            manager.close()
            program.close()
            assert ours == tf.train.CheckpointManager(tf.train.Checkpoint(), str(folder), max_to_keep=3).checkpoints
        else:
            variable = tf.Variable(0, dtype=tf.int64)
            manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=variable), str(folder), max_to_keep=3)
            manager.restore_or_initialize()
            assert variable.numpy() == turn
            variable.assign_add(1)
            assert manager.save() == str(folder / f"ckpt-{turn + 1}") == latest_checkpoint(folder)
    assert sorted(path.name for path in folder.glob("*.index")) == [f"ckpt-{i}.index" for i in (4, 5, 6)]
    assert len(list(folder.iterdir())) == 7


def test_a_saver_restores_objects_by_their_full_names(tmp_path):
    saved = tf.train.Checkpoint(v=tf.Variable([4.0, 5.0], name="hidden/weights")).save(str(tmp_path / "c"))
    arrays = {"hidden/weights": np.zeros(2, np.float32)}
    ours = Saver(arrays)
    ours.restore(saved)
    assert arrays["hidden/weights"].tolist() == [4, 5]
    ours.close()
