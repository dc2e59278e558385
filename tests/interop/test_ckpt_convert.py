"""`seaboard ckpt import` and `export` beside NumPy, safetensors and TensorFlow; and all of `ckpt` in little memory."""

import json
import os
import pathlib
import resource
import struct
import subprocess
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("SEABOARD_BIN", str(ROOT / "build/seaboard"))
ARRAYS = {
    "f4": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    "turned": np.arange(6, dtype=np.int64).reshape(3, 2).T,
    "one_row": np.asfortranarray(np.arange(5, dtype=np.int16).reshape(1, 5)),
    "big_endian": np.arange(5, dtype=">i4"),
    "complex": np.array([1 + 2j, -3j], ">c16"),
    "bytes": np.array([[b"a", b""], [b"ccc", b"\0x"]]),
    "text": np.array(["ü", "", "中文 😀"]),
    "scalar": np.float64(3),
    "none": np.zeros((0, 4), np.int8),
    "deep/er/name.with.dots": np.array([True, False]),
    "half": np.float16([1, 0.5]),
}


def ckpt(*args, code=0, **more):
    done = subprocess.run([COMMAND, "ckpt", *map(str, args)], capture_output=True, text=True, **more)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def as_tensorflow_has_it(array):
    if array.dtype.kind == "U":
        return np.array([text.encode() for text in array.reshape(-1)], object).reshape(array.shape)
    return array


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_numpys_archives_become_checkpoints(tmp_path, save):
    save(tmp_path / "x.npz", **ARRAYS)
    assert f"{len(ARRAYS)} tensors" in ckpt("import", tmp_path / "x.npz", tmp_path / "c")
    reader = tf.train.load_checkpoint(str(tmp_path / "c"))
    assert sorted(reader.get_variable_to_shape_map()) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        wanted, found = as_tensorflow_has_it(array), np.asarray(reader.get_tensor(name))
        assert found.shape == wanted.shape and found.tolist() == wanted.tolist(), name
        assert found.dtype == (object if wanted.dtype.kind == "S" else wanted.dtype.newbyteorder("=")), name
    assert "0 damaged" in ckpt("verify", tmp_path / "c")


def test_bfloat16_goes_through_npz(tmp_path):
    values = np.array([1, 2, 3], ml_dtypes.bfloat16)
    np.savez(tmp_path / "x.npz", b=values)
    ckpt("import", tmp_path / "x.npz", tmp_path / "c")
    assert tf.train.load_variable(str(tmp_path / "c"), "b").tolist() == values.tolist()


def test_safetensors_both_ways(tmp_path):
    arrays = {name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("=")) for name, array in ARRAYS.items()
              if array.dtype.kind not in "SUc"}
    arrays["ü/中"] = np.array([1, 2], np.uint64)
    safetensors.numpy.save_file(arrays, tmp_path / "x.safetensors", metadata={"format": "np", "a": '{"b": [1]}'})
    ckpt("import", tmp_path / "x.safetensors", tmp_path / "c")
    reader = tf.train.load_checkpoint(str(tmp_path / "c"))
    assert sorted(reader.get_variable_to_shape_map()) == sorted(arrays)
    for name, array in arrays.items():
        found = np.asarray(reader.get_tensor(name))
        assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes(), name
    ckpt("export", tmp_path / "c", tmp_path / "y.safetensors")
    for name, found in safetensors.numpy.load_file(tmp_path / "y.safetensors").items():
        assert found.dtype == arrays[name].dtype and np.array_equal(found, arrays[name]), name


def test_objects_survive_an_archive(tmp_path):
    saved = tf.train.Checkpoint(model=[tf.Variable([1.0, 2.0]), tf.Variable("text")], empty=[]).save(str(tmp_path / "c"))
    ckpt("export", saved, tmp_path / "c.npz")
    ckpt("import", tmp_path / "c.npz", tmp_path / "again")
    program = [tf.Variable([0.0, 0.0]), tf.Variable("")]
    tf.train.Checkpoint(model=program, empty=[]).restore(str(tmp_path / "again")).assert_consumed()
    assert program[0].numpy().tolist() == [1, 2] and program[1].numpy() == b"text"
    # some of it: the graph names only what is there
    ckpt("import", tmp_path / "c.npz", tmp_path / "some", "--only", "model/0/*", "--only", "_CHECK*")
    program = [tf.Variable([0.0, 0.0])]
    tf.train.Checkpoint(model=program).read(str(tmp_path / "some")).assert_consumed()
    assert program[0].numpy().tolist() == [1, 2]


def test_archives_that_are_not_for_us_are_refused_by_name(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, good=np.zeros(2), objects=np.array([{}, None], object))
    said = ckpt("import", path, tmp_path / "c", code=2)
    assert "'objects'" in said and "pickle" in said and "--without" in said
    assert list(tmp_path.iterdir()) == [path]
    assert "1 tensor" in ckpt("import", path, tmp_path / "c", "--without", "objects")
    np.savez(path, when=np.array(["2020-01-01"], "M8[D]"))
    assert "M8[D]" in ckpt("import", path, tmp_path / "c", code=2)
    np.savez(path, pairs=np.zeros(2, [("a", "f4"), ("b", "i4")]))
    assert "'pairs'" in ckpt("import", path, tmp_path / "c", code=3)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "'readme.txt' is no array" in ckpt("import", path, tmp_path / "c", code=2)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("x.npy", b"hello")
    assert "method 12" in ckpt("import", path, tmp_path / "c", code=2)
    path.write_bytes(b"not an archive")
    assert "no ZIP archive" in ckpt("import", path, tmp_path / "c", code=3)
    assert "none.npz" in ckpt("import", tmp_path / "none.npz", tmp_path / "c", code=1)
    assert "ending" in ckpt("import", tmp_path / "x.txt", tmp_path / "c", code=2)


def test_a_changed_array_is_noticed(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, w=np.arange(1000))
    data = bytearray(path.read_bytes())
    data[4000] ^= 1
    path.write_bytes(data)
    said = ckpt("import", path, tmp_path / "c", code=3)
    assert "checksum of 'w.npy'" in said and str(path) in said


# A tensor of 128 MiB in a process that may have 64 MiB.
HUGE, MEMORY = 32 << 20, 64 << 20


def in_little_memory(*args, code=0):
    return ckpt(*args, code=code, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)))


def test_a_tensor_larger_than_memory(tmp_path):
    header = json.dumps({"w": {"dtype": "F32", "shape": [HUGE // 1024, 1024], "data_offsets": [0, 4 * HUGE]}}).encode()
    with (tmp_path / "in.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 4 * HUGE)  # zeros that take no place on the disk
    prefix = tmp_path / "c"
    in_little_memory("import", tmp_path / "in.safetensors", prefix)
    assert "0 damaged" in in_little_memory("verify", prefix)
    [row] = json.loads(in_little_memory("stats", prefix, "--json"))
    assert row["zeros"] == row["count"] == HUGE
    assert "32768, 1024" in in_little_memory("show", prefix, "w")
    in_little_memory("cp", prefix, tmp_path / "copy")
    data = tmp_path / "copy.data-00000-of-00001"
    assert "1 equal, 0 different" in in_little_memory("diff", prefix, tmp_path / "copy")
    for out in ("w.npz", "w.safetensors"):
        in_little_memory("export", prefix, tmp_path / out)
        (tmp_path / out).unlink()
    with data.open("r+b") as file:
        file.seek(4 * HUGE - 1)
        file.write(b"\1")
    assert "1 damaged" in in_little_memory("verify", tmp_path / "copy", code=3)
    assert "checksum of 'w'" in in_little_memory("diff", prefix, tmp_path / "copy", code=3)
