"""seaboard.train: checkpoints of Python programs, both ways with real TensorFlow."""

import gc
import os
import pathlib

import numpy as np
import pytest

from seaboard import train

os.environ.setdefault("KERAS_BACKEND", "tensorflow")


def arrays():
    return {"w": np.arange(6, dtype=np.float32).reshape(3, 2), "b": np.array([0.5, -1.0]), "step": np.array(7, np.int64)}


def zeros():
    return {name: np.zeros_like(value) for name, value in arrays().items()}


class Net(train.Module):
    def __init__(self, fill=0.0):
        self.kernel = np.full((2, 3), fill, np.float32)
        self.layers = [train.Variable([fill, fill]), {"gain": np.full(1, fill)}]
        self.title = "not saved"


# ---- one program


def test_arrays_are_saved_and_restored_in_place(tmp_path):
    path = train.Checkpoint(**arrays()).save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt-1") == train.latest_checkpoint(tmp_path)
    mine = zeros()
    restored = train.Checkpoint(**mine)
    assert restored.restore(path).assert_consumed() is not None
    for name, value in arrays().items():
        assert mine[name].tolist() == value.tolist()
    assert int(restored.save_counter) == 1
    assert restored.save(tmp_path / "ckpt") == str(tmp_path / "ckpt-2")


def test_every_type_of_array_survives(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kinds = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
             "complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
    given = {f"a{i}": np.array([[0, 1, 2], [3, 4, 5]]).astype(kind) for i, kind in enumerate(kinds)}
    given["big_endian"] = np.arange(4, dtype=">f8")
    given["strided"] = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    given["empty"] = np.zeros((0, 4), np.float32)
    given["text"] = np.array([["a", "bé"], ["", "d"]], object)
    given["bytes"] = np.array(b"x\0y", object)
    path = train.Checkpoint(**given).save(tmp_path / "c")
    mine = {name: np.zeros_like(value) for name, value in given.items()}
    mine["text"][...], mine["bytes"][...] = "", b""
    train.Checkpoint(**mine).restore(path).assert_consumed()
    for name, value in given.items():
        assert mine[name].dtype == value.dtype and mine[name].tolist() == value.tolist(), name


def test_objects_lists_and_shared_objects_are_matched_by_their_names(tmp_path):
    shared = np.array([3.0])
    path = train.Checkpoint(net=Net(2.0), one=shared, two=shared).save(tmp_path / "c")
    names = [name for name, _ in train.list_variables(path)]
    assert "net/layers/1/gain/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert sum("one" in name or "two" in name for name in names) == 1
    net, other = Net(), np.zeros(1)
    train.Checkpoint(net=net, two=other).restore(path).expect_partial()
    assert net.kernel.tolist() == Net(2.0).kernel.tolist()
    assert net.layers[0].numpy().tolist() == [2, 2] and net.layers[1]["gain"].tolist() == [2]
    assert other.tolist() == [3]


def test_values_wait_for_attributes_that_come_later(tmp_path):
    path = train.Checkpoint(net=Net(5.0), step=np.array(4)).save(tmp_path / "c")
    checkpoint = train.Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.step = np.array(0)
    assert checkpoint.step == 4
    net = train.Module()
    checkpoint.net = net
    net.kernel = np.zeros((2, 3), np.float32)
    assert net.kernel[0, 0] == 5
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"\(root\)\.net\.layers"):
        status.assert_consumed()
    net.layers = Net().layers
    assert net.layers[0].numpy().tolist() == [5, 5]
    status.assert_consumed()


def test_statuses_say_what_does_not_match(tmp_path, caplog):
    path = train.Checkpoint(model=Net(1.0)).write(tmp_path / "c")
    status = train.Checkpoint(net=Net()).read(path)
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        with pytest.raises(AssertionError):
            check()
    with pytest.raises(AssertionError, match="the file has 'model', the program has 'net'"):
        status.assert_consumed()
    nothing = train.Checkpoint(net=Net()).restore(None)
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        nothing.assert_consumed()
    assert nothing.expect_partial() is nothing
    nothing.initialize_or_restore()
    caplog.clear()
    train.Checkpoint(net=Net()).read(path).expect_partial()
    assert caplog.text == ""
    train.Checkpoint(net=Net()).read(path)
    gc.collect()
    assert "restored to no object" in caplog.text and "model/kernel" in caplog.text


def test_bad_input_raises_as_the_original_does(tmp_path):
    with pytest.raises(ValueError, match="trackable"):
        train.Checkpoint(step=1)
    path = train.Checkpoint(w=np.zeros(3, np.float32)).save(tmp_path / "c")
    with pytest.raises(ValueError, match=r"the file has float32 \[3\], the program has float32 \[4\]"):
        train.Checkpoint(w=np.zeros(4, np.float32)).restore(path)
    with pytest.raises(ValueError, match="float64"):
        train.Checkpoint(w=np.zeros(3)).restore(path)
    with pytest.raises(FileNotFoundError):
        train.Checkpoint(w=np.zeros(3)).restore(tmp_path / "none")
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        train.Checkpoint(w=frozen).restore(path)
    with pytest.raises(TypeError):
        train.Checkpoint(w=np.array([object()])).save(tmp_path / "o")
    with pytest.raises(ValueError, match="keys must be strings"):
        train.Checkpoint(d={1: np.zeros(1)}).save(tmp_path / "d")
    data = tmp_path / "c-1.data-00000-of-00001"
    data.write_bytes(bytes([data.read_bytes()[0] ^ 1]) + data.read_bytes()[1:])
    with pytest.raises(train.DataLossError):
        train.Checkpoint(w=np.zeros(3, np.float32)).restore(path)
    assert not list(tmp_path.glob("*temp*"))


def test_write_and_read_have_no_counter_and_no_state_file(tmp_path):
    checkpoint = train.Checkpoint(w=np.ones(2))
    assert checkpoint.write(tmp_path / "plain") == str(tmp_path / "plain")
    assert not (tmp_path / "checkpoint").exists()
    assert [name for name, _ in train.list_variables(tmp_path / "plain")] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH", "w/.ATTRIBUTES/VARIABLE_VALUE"]
    w = np.zeros(2)
    train.Checkpoint(w=w).read(tmp_path / "plain").assert_consumed()
    assert w.tolist() == [1, 1]


def test_a_root_lends_its_children(tmp_path):
    net = Net(4.0)
    path = train.Checkpoint(net, extra=np.ones(1)).save(tmp_path / "c")
    assert "kernel/.ATTRIBUTES/VARIABLE_VALUE" in dict(train.list_variables(path))
    other = Net()
    train.Checkpoint(other).restore(path).expect_partial()
    assert other.kernel[0, 0] == 4
    with pytest.raises(ValueError, match="kernel"):
        train.Checkpoint(net, kernel=np.ones(1))


def test_python_state_is_a_string(tmp_path):
    class Epoch(train.experimental.PythonState):
        def __init__(self, number):
            self.number = number

        def serialize(self):
            return str(self.number)

        def deserialize(self, string_value):
            self.number = int(string_value)

    path = train.Checkpoint(epoch=Epoch(12)).save(tmp_path / "c")
    mine = Epoch(0)
    train.Checkpoint(epoch=mine).restore(path).assert_consumed()
    assert mine.number == 12


# ---- torch


def torch_program(torch, seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    return model, optimizer, schedule


def train_torch(torch, model, optimizer, schedule, steps):
    generator = torch.Generator().manual_seed(steps)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 1, 4, 4, generator=generator)).square().mean().backward()
        optimizer.step()
        schedule.step()
    return [value.tolist() for value in model.state_dict().values()]


def test_torch_goes_on_as_if_it_had_not_been_stopped(tmp_path):
    torch = pytest.importorskip("torch")
    first = torch_program(torch, 1)
    train_torch(torch, *first, 3)
    names = dict(zip(("model", "optimizer", "schedule"), first))
    path = train.Checkpoint(**names).save(tmp_path / "c")
    expected = train_torch(torch, *first, 5)
    second = torch_program(torch, 2)
    status = train.Checkpoint(**dict(zip(names, second))).restore(path)
    status.assert_consumed()
    assert second[1].state_dict()["param_groups"][0]["lr"] == 0.001
    assert train_torch(torch, *second, 5) == expected


def test_a_state_that_is_no_state_is_refused(tmp_path):
    torch = pytest.importorskip("torch")

    class Odd(train.experimental.PythonState):
        def __init__(self, text):
            self.text = text

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            pass

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    for text in ("not json", "[" * 100_000, '{"dict": 3}', '{"tensor": ["x"], "of": "torch", "dtype": "load", "shape": [1]}',
                 '{"tensor": ["x"], "of": "numpy", "dtype": "f4", "shape": [-1]}'):
        path = train.Checkpoint(optimizer=Odd(text)).write(tmp_path / "c")
        with pytest.raises(train.DataLossError, match="SGD"):
            train.Checkpoint(optimizer=optimizer).read(path)


def test_a_restored_checkpoint_holds_no_copy_of_the_values(tmp_path):
    torch = pytest.importorskip("torch")
    model, turned = torch.nn.Linear(3, 2), np.ones((3, 4)).T
    path = train.Checkpoint(model=model, turned=turned).write(tmp_path / "c")
    tree = train.Checkpoint(model=model, turned=turned).read(path).assert_consumed()._tree
    assert not tree._held and not tree._states
    numbers = range(1, 1 + len(train.list_variables(path)))
    assert all("no variable" in str(pytest.raises(TypeError, tree.native.strings, number).value) for number in numbers)


def test_torch_tensors_of_all_kinds(tmp_path):
    torch = pytest.importorskip("torch")
    given = {"plain": torch.arange(4.0), "half": torch.ones(3, dtype=torch.bfloat16), "turned": torch.arange(6).reshape(2, 3).T,
             "grad": torch.nn.Parameter(torch.ones(2)), "flags": torch.tensor([True, False])}
    path = train.Checkpoint(**given).save(tmp_path / "c")
    mine = {name: torch.zeros_like(value) for name, value in given.items()}
    mine["turned"] = torch.zeros(2, 3, dtype=torch.int64).T
    mine["grad"] = torch.nn.Parameter(torch.zeros(2))
    train.Checkpoint(**mine).restore(path).assert_consumed()
    for name, value in given.items():
        assert torch.equal(mine[name], value), name


# ---- TensorFlow, both ways


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


def test_tensorflow_restores_ours_and_we_restore_its(tf, tmp_path):
    path = train.Checkpoint(**arrays(), items=[np.array(1.0)], table={"a/b.c": np.array(3)}).save(tmp_path / "ours")
    theirs = {name: tf.Variable(value) for name, value in zeros().items()}
    more = {"items": [tf.Variable(0.0, dtype=tf.float64)], "table": {"a/b.c": tf.Variable(0, dtype=tf.int64)}}
    their_checkpoint = tf.train.Checkpoint(**theirs, **more)
    their_checkpoint.restore(path).assert_consumed()
    for name, value in arrays().items():
        assert theirs[name].numpy().tolist() == value.tolist()
    assert more["table"]["a/b.c"].numpy() == 3
    assert their_checkpoint.save_counter.numpy() == 1
    again = their_checkpoint.save(str(tmp_path / "theirs"))
    mine = {**zeros(), "items": [np.array(0.0)], "table": {"a/b.c": np.array(0)}}
    train.Checkpoint(**mine).restore(again).assert_consumed()
    assert mine["w"].tolist() == arrays()["w"].tolist() and mine["items"][0] == 1
    assert their_checkpoint.save_counter.numpy() == 2


def test_objects_of_tensorflow_are_saved_byte_for_byte_as_it_does(tf, tmp_path):
    import keras

    class State(tf.train.experimental.PythonState):
        def serialize(self):
            return "epoch 3"

        def deserialize(self, value):
            self.value = value

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile("adam", "mse", run_eagerly=True)
    model.fit(np.ones((8, 4), np.float32), np.ones((8, 1), np.float32), verbose=0)
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    objects = {"model": model, "optimizer": model.optimizer, "table": table, "state": State(),
               "texts": tf.Variable(["x", "yy"]), "list": [tf.Variable(1.0), {"k": tf.Variable(2)}]}
    theirs = tf.train.Checkpoint(**objects).save(str(tmp_path / "theirs/c"))
    ours = train.Checkpoint(**objects).save(tmp_path / "ours/c")
    for end in (".index", ".data-00000-of-00001"):
        assert pathlib.Path(ours + end).read_bytes() == pathlib.Path(theirs + end).read_bytes(), end
    expected = [weight.numpy() for weight in model.weights + model.optimizer.variables]
    for weight in model.weights + model.optimizer.variables:
        weight.assign(np.zeros_like(weight.numpy()))
    table.insert(["a"], [9])
    objects["texts"].assign(["", ""])
    train.Checkpoint(**objects).restore(theirs).assert_consumed()
    for weight, value in zip(model.weights + model.optimizer.variables, expected):
        assert weight.numpy().tolist() == value.tolist()
    assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [1, 2]
    assert objects["texts"].numpy().tolist() == [b"x", b"yy"] and objects["state"].value == b"epoch 3"


def test_slots_of_tf1_optimizers_are_saved_byte_for_byte(tf, tmp_path):
    variable, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.AdamOptimizer()
    optimizer.apply_gradients([(tf.constant([0.5, 0.25]), variable)])
    theirs = tf.train.Checkpoint(v=variable, optimizer=optimizer).save(str(tmp_path / "theirs/c"))
    ours = train.Checkpoint(v=variable, optimizer=optimizer).save(tmp_path / "ours/c")
    for end in (".index", ".data-00000-of-00001"):
        assert pathlib.Path(ours + end).read_bytes() == pathlib.Path(theirs + end).read_bytes(), end
    slot = optimizer.get_slot(variable, "m")
    expected = slot.numpy().tolist()
    slot.assign([0.0, 0.0])
    train.Checkpoint(v=variable, optimizer=optimizer).restore(theirs).assert_consumed()
    assert slot.numpy().tolist() == expected


def test_slots_that_a_tf1_optimizer_makes_after_the_restore_get_their_values(tf, tmp_path):
    def made():
        return tf.Variable([1.0, 2.0]), tf.compat.v1.train.AdamOptimizer()

    def trained(variable, optimizer, steps):
        for _ in range(steps):
            optimizer.apply_gradients([(tf.constant([0.5, 0.25]), variable)])
        return [variable.numpy().tolist(), *(optimizer.get_slot(variable, name).numpy().tolist() for name in ("m", "v"))]

    whole = made()
    trained(*whole, 3)
    path = tf.train.Checkpoint(v=whole[0], optimizer=whole[1]).save(str(tmp_path / "c"))
    expected = trained(*whole, 2)
    for kind in (tf.train.Checkpoint, train.Checkpoint):
        variable, optimizer = made()  # without slots and powers: those come with the first gradients
        status = kind(v=variable, optimizer=optimizer).restore(path)
        if kind is train.Checkpoint:
            assert optimizer.get_slot(variable, "m") is None
        assert trained(variable, optimizer, 2) == expected
        status.assert_consumed()


def test_a_model_that_is_built_later_gets_its_values_then(tf, tmp_path):
    import keras

    class MLP(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense1, self.dense2 = keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense2(self.dense1(inputs))

    x = np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)
    trained = MLP()
    expected = trained(x).numpy().tolist()
    for checkpoint in (train.Checkpoint, tf.train.Checkpoint):
        path = checkpoint(myAwesomeModel=trained).save(str(tmp_path / checkpoint.__module__ / "c"))
        fresh = MLP()
        status = train.Checkpoint(myAwesomeModel=fresh).restore(path)
        assert fresh(x).numpy().tolist() == expected
        status.assert_consumed()


def test_managers_of_both_take_turns_in_one_directory(tf, tmp_path):
    folder = tmp_path / "runs/first"
    for turn in range(6):
        if turn % 2:
            step = train.Variable(0, "int64")
            manager = train.CheckpointManager(train.Checkpoint(step=step), folder, max_to_keep=3)
            assert manager.restore_or_initialize() == str(folder / f"ckpt-{turn}")
        else:
            step = tf.Variable(0, dtype=tf.int64)
            manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(folder), max_to_keep=3)
            manager.restore_or_initialize()
        assert step.numpy() == turn
        step.assign_add(1)
        assert manager.save() == str(folder / f"ckpt-{turn + 1}") == train.latest_checkpoint(folder)
        assert manager.latest_checkpoint == tf.train.latest_checkpoint(str(folder))
        theirs = tf.train.CheckpointManager(tf.train.Checkpoint(), str(folder), max_to_keep=3)
        assert theirs.checkpoints == manager.checkpoints
    assert sorted(path.name for path in folder.glob("*.index")) == [f"ckpt-{i}.index" for i in (4, 5, 6)]


def test_a_manager_saves_by_the_step_counter_as_the_original_does(tf, tmp_path):
    said = {}
    for name, module, step in (("ours", train, train.Variable(0)), ("theirs", tf.train, tf.Variable(0))):
        started = []
        checkpoint = module.Checkpoint(step=step)
        manager = module.CheckpointManager(
            checkpoint, str(tmp_path / name), 2, step_counter=step, checkpoint_interval=3, checkpoint_name="model",
            init_fn=lambda started=started: started.append(1))
        answers = [manager.restore_or_initialize(), len(started)]
        for now in (0, 1, 3, 3, 4, 6):
            step.assign(now)
            answers.append(manager.save())
        answers += [manager.save(check_interval=False), manager.save(checkpoint_number=99), manager.checkpoint_interval]
        step.assign(7)
        answers += [manager.save(check_interval=False), manager.save(checkpoint_number=99, check_interval=False)]
        step.assign(20)
        answers += [manager.save(checkpoint_number=99), manager.checkpoints, manager.latest_checkpoint]
        answers += [int(checkpoint.save_counter.numpy()), sorted(path.name for path in (tmp_path / name).iterdir())]
        said[name] = str(answers).replace(str(tmp_path / name), "")
    assert said["ours"] == said["theirs"]
    for module in (train, tf.train):
        with pytest.raises(ValueError, match="max_to_keep"):
            module.CheckpointManager(module.Checkpoint(), str(tmp_path), 0)
        with pytest.raises(ValueError, match="step_counter"):
            module.CheckpointManager(module.Checkpoint(), str(tmp_path), 1, checkpoint_interval=2)


def test_exceptions_are_those_of_tensorflow_where_it_is_loaded(tf, tmp_path):
    path = train.Checkpoint(w=np.zeros(3, np.float32)).save(tmp_path / "c")
    for module, w in ((train, np.zeros(3)), (tf.train, tf.Variable(np.zeros(3)))):
        with pytest.raises(tf.errors.NotFoundError):
            module.Checkpoint(w=w).restore(str(tmp_path / "none"))
        with pytest.raises(tf.errors.InvalidArgumentError):
            module.Checkpoint(w=w).restore(path)
        with pytest.raises(tf.errors.NotFoundError):
            module.load_variable(path, "none")
        with pytest.raises(ValueError, match="Couldn't find 'checkpoint'"):
            module.list_variables(str(tmp_path / "..")) if module is tf.train else module.list_variables(tmp_path.parent)
        (tmp_path / "bad.index").write_bytes(b"x" * 100)
        with pytest.raises(tf.errors.OpError):
            module.load_checkpoint(str(tmp_path / "bad"))


def test_tensors_are_listed_and_loaded_as_tensorflow_does_without_copies(tf, tmp_path):
    given = {"w": np.arange(5, dtype=np.float32), "half": np.ones(3, tf.bfloat16.as_numpy_dtype), "text": np.array(["a", "b"], object),
             "one": np.array(4), "none": np.zeros((0, 2))}
    path = train.Checkpoint(**given).save(tmp_path / "c")
    assert train.list_variables(path) == train.list_variables(tmp_path) == tf.train.list_variables(path)
    ours, theirs = train.load_checkpoint(path), tf.train.load_checkpoint(path)
    assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
    for name in ours.get_variable_to_shape_map():
        mine, real = ours.get_tensor(name), theirs.get_tensor(name)
        assert np.asarray(mine).tolist() == np.asarray(real).tolist(), name
        assert ours.has_tensor(name)
        if isinstance(mine, np.ndarray) and mine.dtype != object:
            assert mine.dtype == real.dtype and ours.get_variable_to_dtype_map()[name] == mine.dtype
    mapped = train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE")
    assert not mapped.flags.writeable and not mapped.flags.owndata
    os.remove(path + ".data-00000-of-00001")
    assert mapped.tolist() == [0, 1, 2, 3, 4]  # the mapping outlives its reader and its file


def test_partitioned_variables_are_loaded(tf, tmp_path):
    fixed = tf.compat.v1.fixed_size_partitioner(3)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("big", [9, 2], partitioner=fixed, initializer=tf.compat.v1.zeros_initializer())
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver().save(session, str(tmp_path / "p"))
    assert train.load_variable(path, "big").shape == (9, 2)


# ---- Saver


def test_savers_of_both_read_each_other_and_keep_the_same_files(tf, tmp_path):
    v1 = tf.compat.v1
    said = {}
    for name in ("ours", "theirs"):
        folder = tmp_path / name
        with tf.Graph().as_default(), v1.Session() as session:
            weights, step = v1.Variable([1.0, 2.0], name="hidden/weights"), v1.Variable(0, name="global_step")
            session.run(v1.global_variables_initializer())
            saver = (train.Saver if name == "ours" else v1.train.Saver)(max_to_keep=2, pad_step_number=True)
            for number in (1, 2, 3):
                session.run(v1.assign(step, number))
                written = saver.save(session, str(folder / "model.ckpt"), global_step=step)
            said[name] = [written.replace(str(folder), ""), [path.replace(str(folder), "") for path in saver.last_checkpoints],
                          sorted(path.name for path in folder.iterdir()),
                          (folder / "checkpoint").read_text().replace(str(folder), "")]
    assert said["ours"] == said["theirs"]
    for writer in ("ours", "theirs"):
        path = str(tmp_path / writer / "model.ckpt-00000003")
        with tf.Graph().as_default(), v1.Session() as session:
            weights, step = v1.Variable([0.0, 0.0], name="hidden/weights"), v1.Variable(0, name="global_step")
            session.run(v1.global_variables_initializer())
            (v1.train.Saver if writer == "ours" else train.Saver)().restore(session, path)
            assert session.run([weights, step])[0].tolist() == [1, 2] and session.run(step) == 3
    with tf.Graph().as_default(), v1.Session() as session:  # its .meta builds the graph again
        v1.train.import_meta_graph(str(tmp_path / "ours/model.ckpt-00000003.meta")).restore(
            session, str(tmp_path / "ours/model.ckpt-00000003"))
        assert session.run("hidden/weights/Read/ReadVariableOp:0").tolist() == [1, 2]


def test_savers_of_both_have_variables_of_strings(tf, tmp_path):
    v1, written = tf.compat.v1, {}
    for name, kind in (("ours", train.Saver), ("theirs", v1.train.Saver)):
        with tf.Graph().as_default(), v1.Session() as session:
            texts = v1.Variable(["a", "long " * 50, ""], name="texts")
            one, number = v1.Variable("one", name="one"), v1.Variable([1.5], name="number")
            session.run(v1.global_variables_initializer())
            saver = kind()
            saver.save(session, str(tmp_path / name / "m"), global_step=1)
            session.run([v1.assign(texts, ["x", "yy", "zzz"]), v1.assign(one, "two")])
            written[name] = saver.save(session, str(tmp_path / name / "m"), global_step=2)
    for end in (".index", ".data-00000-of-00001"):
        assert pathlib.Path(written["ours"] + end).read_bytes() == pathlib.Path(written["theirs"] + end).read_bytes(), end
    with tf.Graph().as_default(), v1.Session() as session:
        texts, one, number = v1.Variable(["", "", ""], name="texts"), v1.Variable("", name="one"), v1.Variable([0.0], name="number")
        session.run(v1.global_variables_initializer())
        train.Saver().restore(session, written["theirs"])
        assert session.run([texts, one, number])[0].tolist() == [b"x", b"yy", b"zzz"]
        assert session.run(one) == b"two" and session.run(number).tolist() == [1.5]


def test_a_saver_over_arrays_of_strings(tmp_path):
    words, step = np.array(["a", "bc"], object), train.Variable(0, name="step")
    saver = train.Saver({"words": words, "step": step})
    first = saver.save(None, tmp_path / "m", global_step=1)
    words[...] = ["different", "words"]
    second = saver.save(None, tmp_path / "m", global_step=2)
    saver.restore(None, first)
    assert words.tolist() == ["a", "bc"]
    saver.restore(None, second)
    assert words.tolist() == ["different", "words"]
    with pytest.raises(ValueError, match="'words' has another type or shape"):
        train.Saver({"words": np.array(["x", "y", "z"], object)}).restore(None, first)


def test_a_saver_over_arrays(tmp_path):
    w, step = np.ones((2, 2), np.float32), train.Variable(3, name="step")
    saver = train.Saver({"w": w, "step": step}, max_to_keep=None, sharded=2)
    first = saver.save(None, tmp_path / "m", global_step=step)
    assert first == str(tmp_path / "m-3") and sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint", "m-3.data-00000-of-00002", "m-3.data-00001-of-00002", "m-3.index"]
    w[...] = 0
    step.assign(4)
    quiet = saver.save(None, tmp_path / "quiet", write_state=False)
    assert train.latest_checkpoint(tmp_path) == first
    saver.restore(None, first)
    assert w.tolist() == [[1, 1], [1, 1]] and int(step) == 3
    saver.restore(None, quiet)
    assert w.tolist() == [[0, 0], [0, 0]] and int(step) == 4
    flat = np.zeros(4, np.float32)
    train.Saver({"w": flat}, reshape=True).restore(None, first)
    assert flat.tolist() == [1, 1, 1, 1]
    other = saver.save(None, tmp_path / "m", global_step=9, latest_filename="newest")
    assert train.latest_checkpoint(tmp_path, "newest") == other and train.latest_checkpoint(tmp_path) == first
    again = train.Saver({"w": w}, max_to_keep=1)
    again.recover_last_checkpoints([first])
    assert again.last_checkpoints == [first]
    again.save(None, tmp_path / "m", global_step=10)
    assert not pathlib.Path(first + ".index").exists()


def test_a_saver_refuses_as_the_original_does(tmp_path):
    saver = train.Saver([train.Variable(1.0, name="v")])
    with pytest.raises(ValueError, match="None"):
        saver.restore(None, None)
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        saver.restore(None, tmp_path / "none")
    with pytest.raises(ValueError, match="collides"):
        saver.save(None, tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="path components"):
        saver.save(None, tmp_path / "m", latest_filename="a/b")
    with pytest.raises(ValueError, match="Parent directory"):
        saver.save(None, tmp_path / "a/b/c")
    with pytest.raises(ValueError, match="No variables"):
        train.Saver({})
    with pytest.raises(ValueError, match="without a name"):
        train.Saver([np.zeros(1)])
    path = saver.save(None, tmp_path / "m")
    with pytest.raises(FileNotFoundError, match="other"):
        train.Saver({"other": np.zeros(1)}).restore(None, path)


def test_new_checkpoints_are_iterated(tmp_path):
    checkpoint = train.Checkpoint(w=np.zeros(1))
    found, asked = [], []

    def timed_out():
        asked.append(1)
        checkpoint.save(tmp_path / "c")
        return len(asked) > 2

    for path in train.checkpoints_iterator(tmp_path, timeout=0, timeout_fn=timed_out):
        found.append(pathlib.Path(path).name)
    assert found == ["c-1", "c-2"]
