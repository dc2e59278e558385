"""`seaboard ckpt` over checkpoints that TensorFlow wrote, and TensorFlow over those that it writes.

Every checkpoint is made once, by one fixture: importing TensorFlow and tracing its graphs takes most of the time.
"""

import json
import os
import pathlib
import struct
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saver_pb2

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "tests/fixtures/tf"
COMMAND = os.environ.get("SEABOARD_BIN", str(ROOT / "build/seaboard"))
V1 = tf.compat.v1


def ckpt(*args, code=0):
    done = subprocess.run([COMMAND, "ckpt", *map(str, args)], capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def listed(path, *more):
    return {row["name"]: row for row in json.loads(ckpt("ls", path, "--json", *more))}


def save_v2(prefix, names, slices, tensors):
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=slices, tensors=tensors)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.reshape(tf.range(6, dtype=tf.float32), [3, 2]), name="w")
        self.b = tf.Variable([0.5, -1.0], name="b")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Checkpoints of every kind that TensorFlow writes."""
    root = tmp_path_factory.mktemp("ckpt")
    with V1.Graph().as_default(), V1.Session() as session:
        V1.Variable(np.arange(12, dtype=np.float32).reshape(3, 4), name="w")
        V1.Variable(np.int64(7), name="step")
        V1.Variable(np.array([1 + 2j, 3 - 4j], np.complex64), name="c")
        V1.Variable([True, False], name="b")
        V1.Variable(np.array([-1, 2, -3], np.int32), name="i")
        V1.Variable(["a", "", "ccc"], name="s")
        V1.Variable(np.float16([1, 0.5]), name="h")
        V1.get_variable("part", shape=[10, 4], partitioner=V1.fixed_size_partitioner(3), use_resource=False,
                        initializer=V1.random_uniform_initializer())
        session.run(V1.global_variables_initializer())
        for folder in ("v1", "saver", "sharded"):
            (root / folder).mkdir()
        V1.train.Saver(write_version=saver_pb2.SaverDef.V1).save(session, str(root / "v1/m"), global_step=3)
        V1.train.Saver().save(session, str(root / "saver/m"))
        V1.train.Saver(sharded=True).save(session, str(root / "sharded/m"))
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=Model(), step=tf.Variable(5, dtype=tf.int64), items=[tf.Variable(1.0)],
                            table={"a/b.c": tf.Variable(3.0)}), str(root / "objects"), max_to_keep=3)
    for _ in range(4):
        manager.save()
    names = [f"layer_{i:05}/" + "kernel/.ATTRIBUTES/VARIABLE_VALUE" * (1 + i % 3) for i in range(20001)]
    save_v2(root / "many", names, [""] * len(names), [tf.constant([float(i), 1.0]) for i in range(len(names))])
    parts = []
    for i in range(3):
        parts.append(str(root / f"part{i}"))
        save_v2(parts[-1], [f"v{i}", "split"], ["", f"6 2 {2 * i},2:-"],
                [tf.range(i * 10, i * 10 + 4), tf.fill([2, 2], float(i))])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(root / "merged"))
    return root


def prefixes(made):
    return [made / "saver/m", made / "sharded/m", made / "objects/ckpt-4", made / "merged", FIXTURES / "ckpt/ckpt-4",
            FIXTURES / "ckpt_sharded/m", FIXTURES / "projector/embedding.ckpt-1", FIXTURES / "v1/model.ckpt-16"]


def files_of(prefix):
    return {path.name.removeprefix(prefix.name): path.read_bytes() for path in prefix.parent.glob(prefix.name + ".*")
            if not path.name.endswith(".meta")}


def test_ls_lists_what_tensorflow_lists(made):
    for prefix in prefixes(made) + [made / "v1/m-3", made / "many"]:
        reader = tf.train.load_checkpoint(str(prefix))
        shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        rows = listed(prefix)
        assert list(rows) == sorted(shapes, key=str.encode)
        for name, row in rows.items():
            assert row["dtype"] == types[name].name and row["shape"] == list(shapes[name]), name
            if types[name] != tf.string:
                assert row["bytes"] == np.prod(shapes[name], dtype=int) * types[name].size, name
            assert set(row) == {"name", "dtype", "shape", "bytes"}


def test_a_directory_means_its_newest_checkpoint(made):
    assert listed(made / "objects") == listed(made / "objects/ckpt-4") == listed(made / "objects/ckpt-4.index")
    assert "no such file" in ckpt("ls", made / "nothing", code=1)
    assert "checkpoint" in ckpt("ls", made, code=1)


def test_ls_filters_and_sorts(made):
    assert list(listed(made / "saver/m", "--only", "w", "--only", "p*")) == ["part", "w"]
    assert "part" not in listed(made / "saver/m", "--without", "p*")
    sizes = [row["bytes"] for row in listed(made / "saver/m", "--sort", "bytes").values()]
    assert sizes == sorted(sizes, reverse=True)
    assert "--sort" in ckpt("ls", made / "saver/m", "--sort", "colour", code=2)


def test_a_copy_has_the_same_bytes(made, tmp_path):
    for number, prefix in enumerate(prefixes(made) + [made / "many"]):
        copy = tmp_path / f"copy{number}"
        ckpt("cp", prefix, copy)
        assert files_of(copy) == files_of(prefix), prefix


def test_a_copy_of_version_1_is_read_by_tensorflow(made, tmp_path):
    ckpt("cp", made / "v1/m-3", tmp_path / "new")
    # TensorFlow's reader of version 1 has no strings: the same values are in a file of version 2
    old, new = (tf.train.load_checkpoint(str(path)) for path in (made / "saver/m", tmp_path / "new"))
    assert old.get_variable_to_shape_map() == new.get_variable_to_shape_map()
    for name in old.get_variable_to_shape_map():
        assert np.array_equal(old.get_tensor(name), new.get_tensor(name)), name


def test_a_filtered_copy_of_objects_is_restored_by_tensorflow(made, tmp_path):
    ckpt("cp", made / "objects/ckpt-4", tmp_path / "model", "--only", "model/*")
    model = Model()
    model.w.assign(tf.zeros([3, 2]))
    tf.train.Checkpoint(model=model).read(str(tmp_path / "model")).assert_consumed()
    assert model.w.numpy().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_renamed_checkpoint_is_restored_by_tensorflow(made, tmp_path):
    ckpt("cp", made / "objects/ckpt-4", tmp_path / "c")
    ckpt("rename", tmp_path / "c", "model", "net")
    assert "net/w/.ATTRIBUTES/VARIABLE_VALUE" in listed(tmp_path / "c")
    model = Model()
    model.w.assign(tf.zeros([3, 2]))
    tf.train.Checkpoint(model=model).restore(str(tmp_path / "c")).expect_partial().assert_existing_objects_matched()
    assert model.w.numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    ckpt("rename", made / "saver/m", "part", "new/part", "--output", tmp_path / "s")
    reader = tf.train.load_checkpoint(str(tmp_path / "s"))
    assert np.array_equal(reader.get_tensor("new/part"), tf.train.load_variable(str(made / "saver/m"), "part"))
    assert "no tensor is called" in ckpt("rename", tmp_path / "s", "part", "x", code=1)


def test_npz_holds_every_tensor(made, tmp_path):
    for number, prefix in enumerate(prefixes(made) + [made / "v1/m-3"]):
        out = tmp_path / f"{number}.npz"
        ckpt("export", prefix, out)
        reader = tf.train.load_checkpoint(str(made / "saver/m" if prefix == made / "v1/m-3" else prefix))
        shapes = reader.get_variable_to_shape_map()
        with np.load(out) as arrays:
            assert sorted(arrays.files) == sorted(shapes)
            for name in shapes:
                value = np.asarray(reader.get_tensor(name))
                if value.dtype == object:
                    assert arrays[name].tolist() == value.tolist() or name.startswith("_CHECKPOINTABLE"), name
                else:
                    assert arrays[name].tobytes() == value.tobytes() and arrays[name].shape == value.shape, name


def test_safetensors_holds_every_tensor_of_numbers(made, tmp_path):
    prefix, out = made / "saver/m", tmp_path / "deep/er/x.safetensors"
    assert "1 left out" in ckpt("export", prefix, out)
    data = out.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    assert length % 8 == 0
    header = json.loads(data[8 : 8 + length])
    reader = tf.train.load_checkpoint(str(prefix))
    assert sorted(header) == sorted(name for name in reader.get_variable_to_shape_map() if name != "s")
    end = 0
    for name, entry in header.items():
        value = np.asarray(reader.get_tensor(name))
        begin, after = entry["data_offsets"]
        assert begin == end and entry["shape"] == list(value.shape)
        assert data[8 + length + begin : 8 + length + after] == value.tobytes(), name
        end = after
    assert 8 + length + end == len(data)
    assert "ending" in ckpt("export", prefix, tmp_path / "x.txt", code=2)


def test_stats_are_numpys(made):
    rows = {row["name"]: row for row in json.loads(ckpt("stats", made / "saver/m", "--json"))}
    value = tf.train.load_variable(str(made / "saver/m"), "part").astype(np.float64)
    row = rows["part"]
    for key, expected in (("min", value.min()), ("max", value.max()), ("mean", value.mean()), ("std", value.std()),
                          ("l2", np.linalg.norm(value))):
        assert np.isclose(row[key], expected), key
    assert sum(row["bins"]) == row["count"] == 40
    assert row["bins"] == np.histogram(value, 20)[0].tolist()
    assert "s" not in rows


def test_show_tells_what_it_is(made):
    assert "version 1, name-based" in ckpt("show", made / "v1/m-3")
    assert "version 2, object-based" in ckpt("show", made / "objects")
    assert "1+2i  3-4i" in ckpt("show", made / "saver/m", "c")
    assert '"ccc"' in ckpt("show", made / "saver/m", "s")
    assert "there is no tensor 'x'" in ckpt("show", made / "saver/m", "x", code=1)


def copy_files(prefix, folder):
    for suffix, data in files_of(prefix).items():
        (folder / ("c" + suffix)).write_bytes(data)
    return folder / "c"


def test_verify_names_damage_by_file_variable_and_byte(made, tmp_path):
    for prefix in prefixes(made) + [made / "v1/m-3"]:
        assert "0 damaged" in ckpt("verify", prefix)
    prefix = copy_files(made / "saver/m", tmp_path)
    row = listed(prefix, "--long")["w"]
    path = tmp_path / "c.data-00000-of-00001"
    good = path.read_bytes()
    bad = bytearray(good)
    bad[row["offset"] + 5] ^= 1
    path.write_bytes(bad)
    said = ckpt("verify", prefix, code=3)
    assert "1 damaged" in said and str(path) in said and "'w'" in said and f"bytes {row['offset']} to" in said
    found = json.loads(ckpt("verify", prefix, "--json", code=3))
    assert [(item["name"], item["offset"]) for item in found] == [("w", row["offset"])]
    path.write_bytes(good[:-20])
    assert "cut short" in ckpt("verify", prefix, code=3)
    path.unlink()
    assert "is missing" in ckpt("verify", prefix, code=3)
    index = tmp_path / "c.index"
    index.write_bytes(index.read_bytes()[:-1])
    assert "c.index" in ckpt("verify", prefix, code=3)


def test_verify_of_a_partitioned_variable_looks_at_each_piece(made, tmp_path):
    prefix = copy_files(made / "merged", tmp_path)
    path = tmp_path / "c.data-00001-of-00003"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "c.data-00001-of-00003" in ckpt("verify", prefix, code=3)


def test_diff_tells_what_changed(made, tmp_path):
    assert "6 equal, 1 different" in ckpt("diff", made / "objects/ckpt-3", made / "objects/ckpt-4", code=1)
    assert "0 different" in ckpt("diff", made / "saver/m", made / "v1/m-3")
    names, values = ["same", "moved", "shape", "old"], [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [3.0]]
    save_v2(tmp_path / "a", names, [""] * 4, [tf.constant(value) for value in values])
    names[3], values[1], values[2] = "new", [4.0, 6.0], [[1.0, 2.0]]
    save_v2(tmp_path / "b", names, [""] * 4, [tf.constant(value) for value in values])
    rows = {row["name"]: row for row in json.loads(ckpt("diff", tmp_path / "a", tmp_path / "b", "--json", code=1))}
    assert sorted(rows) == ["moved", "new", "old", "shape"]
    assert (rows["moved"]["l2"], rows["moved"]["max"], rows["moved"]["elements"]) == (5.0, 4.0, 2)
    assert rows["shape"]["first"]["shape"] == [2] and rows["shape"]["second"]["shape"] == [1, 2]
    assert rows["old"]["change"].startswith("only in the first")


def test_a_checkpoint_from_the_future_says_so(tmp_path, made):
    prefix = copy_files(made / "saver/m", tmp_path)
    from tensorflow.core.protobuf import tensor_bundle_pb2

    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
    header.version.producer = 9
    header.version.min_consumer = 5
    assert header.SerializeToString() != b""
    table = (tmp_path / "c.index").read_bytes()
    old = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
    old.version.producer = 1
    # the header's bytes differ in length, so the table is rewritten by hand: one block, one entry
    entry = header.SerializeToString()
    block = bytes([0, 0, len(entry)]) + entry + struct.pack("<II", 0, 1)
    (tmp_path / "c.index").write_bytes(make_table(block))
    assert old.SerializeToString() in table
    assert "newer version" in ckpt("ls", prefix, code=2)


def make_table(block):
    """A table of one block, as LevelDB lays it out."""

    def sealed(body):
        return body + b"\0" + struct.pack("<I", masked(body + b"\0"))

    def masked(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        crc ^= 0xFFFFFFFF
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    first = sealed(block)
    meta = sealed(struct.pack("<II", 0, 1))
    index = sealed(bytes([0, 1, 2]) + b"z" + bytes([0, len(block)]) + struct.pack("<II", 0, 1))
    footer = bytes([len(first), 8, len(first) + len(meta), len(index) - 5]).ljust(40, b"\0")
    return first + meta + index + footer + struct.pack("<Q", 0xDB4775248B80FB57)
