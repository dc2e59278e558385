"""Object-based checkpoints between TensorFlow and seaboard/checkpoint.h, in both directions."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import pytest
import tensorflow as tf
from ckpt_ctypes import Checkpoint, Manager, Saver, SeaboardError, Strings, latest_checkpoint, mirror
from tensorflow.core.protobuf import trackable_object_graph_pb2


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.reshape(tf.range(6, dtype=tf.float32), [3, 2]), name="w")
        self.b = tf.Variable([0.5, -1.0], name="b")


FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/tf"
OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.01),
    "sgd": lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9), momentum=0.9, nesterov=True),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.1, centered=True),
    "adamw": lambda: keras.optimizers.AdamW(0.01, use_ema=True),
}


def keras_model(optimizer="adam"):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"),
                              keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile(OPTIMIZERS[optimizer](), "mse", run_eagerly=True)
    return model


class State(tf.train.experimental.PythonState):
    def __init__(self, value):
        self.value = value

    def serialize(self):
        return self.value

    def deserialize(self, value):
        self.value = value


def with_strings(filled):
    """Python state, tables and a variable of strings, with values or without."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    numbers = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    if filled:
        table.insert(["a", "", "ccc"], [1, 2, 3])
        numbers.insert([7], [0.5])
    return {"state": State('{"epoch": 3}' if filled else ""), "table": table, "numbers": numbers,
            "text": tf.Variable(["x", "zero\0"] if filled else ["", ""], name="text")}


DATA = np.random.default_rng(1).normal(size=(16, 4)).astype(np.float32), np.ones((16, 1), np.float32)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Checkpoints as TensorFlow and Keras write them: {name: prefix}."""
    root = tmp_path_factory.mktemp("objects")
    found = {}
    saved = tf.train.Checkpoint(model=Model(), step=tf.Variable(5, dtype=tf.int64), items=[tf.Variable(1.0), tf.Variable(2.0)],
                                table={"a/b.c": tf.Variable(3.0)}, empty=[])
    found["modules"] = saved.save(str(root / "modules/ckpt"))
    for name in OPTIMIZERS:
        model = keras_model(name)
        model.fit(*DATA, verbose=0, shuffle=False)
        found[name] = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(root / name / "k"))
    found["strings"] = tf.train.Checkpoint(**with_strings(True)).save(str(root / "strings/s"))
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
    return *mirror(graph, reader), reader


def value_of(memory):
    return memory.values() if isinstance(memory, Strings) else memory


def same(mine, theirs):
    theirs = np.asarray(theirs)
    return mine.shape == theirs.shape and mine.tolist() == theirs.tolist() if mine.dtype == object else (
        mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes())


def assert_restored(prefix, counter):
    """A program with the objects of a file gets every value of it."""
    program, memory, values, reader = mirrored(prefix)
    restored = program.restore(prefix)
    restored.assert_consumed()
    assert restored.unused() == []
    for key, found in memory.items():
        assert same(value_of(found), reader.get_tensor(key)), key
    for made, name, key in values:
        assert same(program.get_value(made, name), reader.get_tensor(key)), key
    assert program.save_counter == counter == reader.get_tensor("save_counter/.ATTRIBUTES/VARIABLE_VALUE")
    return program


def files_of(prefix):
    path = pathlib.Path(prefix)
    return {found.name.removeprefix(path.name): found.read_bytes() for found in path.parent.glob(path.name + ".*")}


@pytest.mark.parametrize("name", ["modules", "slots", "strings", *OPTIMIZERS])
def test_a_mirrored_program_restores_every_value_and_saves_the_same_bytes(made, tmp_path, name):
    assert_restored(made[name], 1).close()
    # a program that never restored: its first save is number 1, as TensorFlow's was
    again, memory, values, reader = mirrored(made[name])
    for key, found in memory.items():
        if isinstance(found, Strings):
            filled = Strings(reader.get_tensor(key))
            found.slices[:] = filled.slices
            again.arrays.append(filled)
        else:
            found[...] = reader.get_tensor(key)
    for owner, attribute, key in values:
        value = reader.get_tensor(key)
        again.set_value(owner, attribute, Strings(value) if reader.get_variable_to_dtype_map()[key] == tf.string else value)
    again.save(tmp_path / pathlib.Path(made[name]).name.rsplit("-", 1)[0])
    assert files_of(tmp_path / pathlib.Path(made[name]).name) == files_of(made[name])
    again.close()


def test_the_fixtures_of_objects_are_restored_whole():
    for number in (3, 4):
        assert_restored(str(FIXTURES / f"ckpt/ckpt-{number}"), number).close()


def test_tensorflow_restores_strings_and_python_state_that_a_c_program_saved(tmp_path):
    program = Checkpoint()
    state, table, numbers = (program.add(program.root, name) for name in ("state", "table", "numbers"))
    program.set_value(state, "py_state", Strings(np.array(b"from C", object)))
    program.set_value(table, "table-keys", Strings([b"k", b"kk"]))
    program.set_value(table, "table-values", np.int64([5, 6]))
    program.set_value(numbers, "table-keys", np.int64([8]))
    program.set_value(numbers, "table-values", np.float32([0.25]))
    texts = Strings([b"one", b""])
    program.add_variable(program.root, "text", texts)
    path = program.save(tmp_path / "c")
    program.close()
    theirs = with_strings(False)
    tf.train.Checkpoint(**theirs).restore(path).assert_consumed()
    assert theirs["state"].value == b"from C"
    assert theirs["table"].lookup(tf.constant(["k", "kk"])).numpy().tolist() == [5, 6]
    assert theirs["numbers"].lookup(tf.constant([8], tf.int64)).numpy().tolist() == [0.25]
    assert theirs["text"].numpy().tolist() == [b"one", b""]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_tensorflow_restores_and_trains_on_with_equal_results(made, tmp_path, optimizer):
    def trained(prefix):
        model = keras_model(optimizer)
        model.fit(*DATA, verbose=0, shuffle=False)  # builds the optimizer's variables
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        checkpoint.restore(prefix).assert_consumed()
        model.fit(*DATA, verbose=0, shuffle=False, epochs=2)
        return [weight.numpy() for weight in model.weights + model.optimizer.variables]

    program, *_ = mirrored(made[optimizer])
    program.restore(made[optimizer])
    expected = trained(made[optimizer])
    for shards in (1, 3) if optimizer == "adam" else (1,):
        path = program.save(tmp_path / f"ours{shards}", shards)
        for ours, theirs in zip(trained(path), expected):
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
    restored.expect_partial()
    assert restored.unused() == []
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
