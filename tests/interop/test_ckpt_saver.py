"""TF1's Saver and ours, in both directions, over one graph that is built once."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf
from ckpt_ctypes import Saver, SeaboardError

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
