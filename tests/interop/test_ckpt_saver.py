"""TF1's Saver and ours, in both directions, over one graph that is built once."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf
from ckpt_ctypes import Saver, SeaboardError, Strings, latest_checkpoint, merge, write_tensors
from tensorflow.core.protobuf import saver_pb2

V1 = tf.compat.v1
VALUES = {"b": np.float64([1.5, 2.5]), "hidden/weights": np.arange(6, dtype=np.float32).reshape(3, 2), "step": np.array(7, np.int64)}


@pytest.fixture(scope="module")
def session():
    with V1.Graph().as_default(), V1.Session() as session:
        for name, value in VALUES.items():
            V1.Variable(value, name=name, use_resource=False)
        session.run(V1.global_variables_initializer())
        yield session


def zeros():
    return {name: np.zeros_like(value) for name, value in VALUES.items()}


def files_of(prefix):
    path = pathlib.Path(prefix)
    return {found.name: found.read_bytes() for found in path.parent.glob(path.name + ".*")}


def test_both_write_the_same_files(session, tmp_path):
    theirs, ours = V1.train.Saver(max_to_keep=2), Saver({name: value.copy() for name, value in VALUES.items()}, max_to_keep=2)
    for folder in ("theirs", "ours"):
        (tmp_path / folder).mkdir()
    for step in (1, 2, 3):
        path = theirs.save(session, str(tmp_path / "theirs/model.ckpt"), global_step=step)
        meta = pathlib.Path(path + ".meta").read_bytes()
        assert ours.save(tmp_path / "ours/model.ckpt", step, meta) == path.replace("theirs", "ours")
        listed = [sorted(found.name for found in (tmp_path / folder).iterdir()) for folder in ("theirs", "ours")]
        assert listed[0] == listed[1]
        assert files_of(tmp_path / f"ours/model.ckpt-{step}") == files_of(path)
        states = [(tmp_path / folder / "checkpoint").read_text().replace(folder, "") for folder in ("theirs", "ours")]
        assert states[0] == states[1]
    ours.close()


@pytest.mark.parametrize("sharded", [False, True])
def test_ours_restores_theirs(session, tmp_path, sharded):
    path = V1.train.Saver(sharded=sharded).save(session, str(tmp_path / "m"))
    arrays = zeros()
    ours = Saver(arrays)
    ours.restore(path)
    for name, value in VALUES.items():
        assert np.array_equal(arrays[name], value), name
    ours.close()
    more = Saver({**arrays, "nowhere": np.zeros(1)})
    with pytest.raises(SeaboardError, match="'nowhere'"):
        more.restore(path)
    more.close()


@pytest.mark.parametrize("shards", [1, 3])
def test_theirs_restores_ours(session, tmp_path, shards):
    changed = {name: np.asarray(value + 1) for name, value in VALUES.items()}
    ours = Saver(changed, shards=shards)
    path = ours.save(tmp_path / "deep/er/m", 12)
    ours.close()
    V1.train.Saver().restore(session, path)
    for name, value in changed.items():
        assert np.array_equal(session.run(name + ":0"), value), name
    session.run(V1.global_variables_initializer())


@pytest.fixture(scope="module")
def partitioned():
    """A session with two devices and a variable in three pieces, on both of them."""
    config = V1.ConfigProto(device_count={"CPU": 2})
    values = np.arange(40, dtype=np.float32).reshape(10, 4)
    with V1.Graph().as_default(), V1.Session(config=config) as session:
        number = iter(range(100))
        with V1.device(lambda op: f"/cpu:{next(number) % 2}" if op.type == "VariableV2" else ""):
            V1.get_variable("part", [10, 4], partitioner=V1.fixed_size_partitioner(3), use_resource=False,
                            initializer=lambda shape, dtype, partition_info: tf.constant(
                                values[partition_info.var_offset[0] :][: shape[0]]))
            V1.get_variable("whole", initializer=np.int32([[1, 2, 3]]), use_resource=False)
        session.run(V1.global_variables_initializer())
        yield session, values


@pytest.mark.parametrize("version", [saver_pb2.SaverDef.V1, saver_pb2.SaverDef.V2])
def test_ours_restores_pieces_that_theirs_saved_in_several_files(partitioned, tmp_path, version):
    session, values = partitioned
    path = V1.train.Saver(sharded=True, write_version=version).save(session, str(tmp_path / "m"), global_step=4)
    assert version != saver_pb2.SaverDef.V1 or path.endswith("m-4-?????-of-00002")
    assert latest_checkpoint(tmp_path) == path == tf.train.latest_checkpoint(str(tmp_path))
    arrays = {"part": np.zeros((10, 4), np.float32), "whole": np.zeros((1, 3), np.int32)}
    ours = Saver(arrays)
    ours.restore(path)
    ours.close()
    assert np.array_equal(arrays["part"], values) and arrays["whole"].tolist() == [[1, 2, 3]]
    if version == saver_pb2.SaverDef.V1:
        (tmp_path / "m-4-00001-of-00002").unlink()
        ours = Saver(arrays)
        with pytest.raises(SeaboardError, match="m-4-00001-of-00002: this file is missing"):
            ours.restore(path)
        ours.close()


def test_theirs_restores_pieces_that_ours_wrote(partitioned, tmp_path):
    session, values = partitioned
    changed = values * 2 + 1
    parts = []
    for i, (start, count) in enumerate([(0, 4), (4, 3), (7, 3)]):
        parts.append(tmp_path / f"part{i}")
        pieces = [("part", np.ascontiguousarray(changed[start : start + count]), (10, 4), (start, count, 0, 4))]
        if i == 1:
            pieces.append(("whole", np.int32([[4, 5, 6]]), None, None))
        write_tensors(parts[-1], pieces)
    merge(parts, tmp_path / "all")
    V1.train.Saver().restore(session, str(tmp_path / "all"))
    assert np.array_equal(np.concatenate(session.run([f"part/part_{i}:0" for i in range(3)])), changed)
    assert session.run("whole:0").tolist() == [[4, 5, 6]]
    session.run(V1.global_variables_initializer())


def test_reshape_and_strings(tmp_path):
    with V1.Graph().as_default(), V1.Session() as session:
        V1.Variable(np.arange(6, dtype=np.float32), name="w", use_resource=False)
        V1.Variable(["a", "", "ccc"], name="s", use_resource=False)
        session.run(V1.global_variables_initializer())
        path = V1.train.Saver().save(session, str(tmp_path / "m"))
        arrays = {"w": np.zeros((3, 2), np.float32), "s": Strings([b"", b"", b""])}
        ours = Saver(arrays)
        with pytest.raises(SeaboardError, match="'w' has another type or shape"):
            ours.restore(path)
        ours.close()
        ours = Saver(arrays, reshape=1)
        ours.restore(path)
        assert arrays["w"].tolist() == [[0, 1], [2, 3], [4, 5]]
        assert arrays["s"].values().tolist() == [b"a", b"", b"ccc"]
        arrays["w"] += 1
        again = ours.save(tmp_path / "ours", 1)
        ours.close()
        V1.train.Saver(reshape=True).restore(session, again)
        assert session.run("w:0").tolist() == [1, 2, 3, 4, 5, 6]
        assert session.run("s:0").tolist() == [b"a", b"", b"ccc"]


def test_a_saver_goes_on_where_one_of_tensorflow_stopped(session, tmp_path):
    theirs = V1.train.Saver(max_to_keep=3)
    for step in (1, 2, 3):
        theirs.save(session, str(tmp_path / "m"), global_step=step)
    ours = Saver(zeros(), max_to_keep=3)
    ours.recover(theirs.last_checkpoints)
    ours.save(tmp_path / "m", 4)
    assert ours.checkpoints == [str(tmp_path / f"m-{step}") for step in (2, 3, 4)]
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [f"m-{step}.index" for step in (2, 3, 4)]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == ours.checkpoints
    theirs.recover_last_checkpoints(state.all_model_checkpoint_paths)
    theirs.save(session, str(tmp_path / "m"), global_step=5)
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [f"m-{step}.index" for step in (3, 4, 5)]
    ours.close()


def test_names_with_slashes_at_odd_places(tmp_path):
    names = ["/", "//", "/a", "a/", "a//b", ".", "..", "../x", "a/../b", "~", "a b", "\x01", "ü/中", "%s", "x" * 5000]
    ours = Saver({name: np.array(i, np.int32) for i, name in enumerate(names)})
    path = ours.save(tmp_path / "odd", 1)
    ours.close()
    reader = tf.train.load_checkpoint(path)
    assert sorted(reader.get_variable_to_shape_map()) == sorted(names)
    assert [int(reader.get_tensor(name)) for name in names] == list(range(len(names)))
    arrays = {name: np.array(-1, np.int32) for name in names}
    ours = Saver(arrays)
    ours.restore(path)
    ours.close()
    assert [int(array) for array in arrays.values()] == list(range(len(names)))
