"""Checkpoints: ours (tests/programs/ckpt_dump) against TensorFlow's own reader, names, types, shapes and every byte.

The fixtures are compared with what was written down when they were made, too. Checkpoints that no fixture has (every
type, thousands of entries in several blocks, pieces along any axis, several data files) are written here.
"""

import json
import os
import pathlib
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import pytest
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "tests/fixtures/tf"


def find_program():
    named = os.environ.get("SEABOARD_PROGRAMS")
    folders = named.split(":") if named else [str(path) for path in sorted(ROOT.glob("build/*/tests/programs"))]
    for folder in folders:
        path = pathlib.Path(folder) / "ckpt_dump"
        if path.exists():
            return path
    pytest.fail("tests/programs/ckpt_dump is not built")


PROGRAM = find_program()


def run(*args):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)


def ours(prefix):
    done = run(prefix)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_same(prefix):
    """All that TensorFlow sees in it, we see, and the other way round."""
    mine = ours(prefix)
    reader = tf.train.load_checkpoint(str(prefix))
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert sorted(mine) == sorted(shapes)
    for name, shape in shapes.items():
        entry = mine[name]
        assert entry["shape"] == list(shape), name
        assert entry["dtype"] == types[name].name, name
        value = np.asarray(reader.get_tensor(name))
        if types[name] == tf.string:
            expected = [item.hex() for item in value.reshape(-1).tolist()]
            assert entry["strings"] == expected, name
        else:
            assert entry["hex"] == np.ascontiguousarray(value).tobytes().hex(), name
    return mine


@pytest.mark.parametrize(
    "prefix", ["ckpt/ckpt-3", "ckpt/ckpt-4", "ckpt_sharded/m", "projector/embedding.ckpt-1"]
    + [f"v1/model.ckpt-{step}" for step in (6, 11, 16)]
)
def test_fixtures_are_read_as_tensorflow_does(prefix):
    assert_same(FIXTURES / prefix)


def test_fixtures_hold_what_was_written_down():
    mine = ours(FIXTURES / "ckpt/ckpt-4")
    for name, expected in json.loads((FIXTURES / "ckpt_expected.json").read_text()).items():
        entry = mine[name]
        assert (entry["dtype"], entry["shape"]) == (expected["dtype"], expected["shape"]), name
        if entry["dtype"] == "string":
            if "value" in expected and expected["value"] is not None:
                assert bytes.fromhex(entry["strings"][0]).decode() == expected["value"], name
            continue
        value = np.frombuffer(bytes.fromhex(entry["hex"]), expected["dtype"]).reshape(expected["shape"])
        if expected.get("value") is not None and not np.iscomplexobj(value):
            assert np.array_equal(value, np.array(expected["value"], value.dtype)), name
        if expected.get("sum") is not None:
            assert np.isclose(np.sum(value.astype(np.complex128)), complex(expected["sum"]), rtol=1e-3), name
    sharded = ours(FIXTURES / "ckpt_sharded/m")
    for name, expected in json.loads((FIXTURES / "ckpt_sharded_expected.json").read_text()).items():
        kind = sharded[name]["dtype"]
        value = np.frombuffer(bytes.fromhex(sharded[name]["hex"]), kind).reshape(sharded[name]["shape"])
        assert np.array_equal(value, np.array(expected, kind)), name


def save_v2(prefix, names, slices, tensors):
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=slices, tensors=tensors)


def test_every_type(tmp_path):
    random = np.random.default_rng(7)
    tensors = {}
    for kind in ("float32 float64 int32 uint8 int16 int8 complex64 int64 bool uint16 complex128 float16 uint32 uint64"
                 " bfloat16").split():
        dtype = getattr(tf, kind)
        values = random.integers(0, 2 if kind == "bool" else 100, (3, 5))
        tensors[kind] = tf.cast(tf.constant(values), dtype)
        tensors[kind + "_scalar"] = tf.cast(tf.constant(1), dtype)
        tensors[kind + "_none"] = tf.zeros([4, 0, 2], dtype)
    for kind, through in [("float8_e5m2", tf.float32), ("float8_e4m3fn", tf.float32), ("int4", tf.int8), ("uint4", tf.uint8)]:
        tensors[kind] = tf.cast(tf.constant([[1, 2], [3, 4]], through), getattr(tf.dtypes.experimental, kind))
    for kind in (tf.qint8, tf.quint8, tf.qint32, tf.qint16, tf.quint16):
        tensors[kind.name] = tf.bitcast(tf.constant([1, 2, 3], {1: tf.int8, 2: tf.int16, 4: tf.int32}[kind.size]), kind)
    tensors["strings"] = tf.constant([["", "a"], ["\0\xff", "x" * 70000]])
    tensors["string"] = tf.constant("中文")
    tensors["no_strings"] = tf.zeros([0], tf.string)
    names = sorted(tensors)
    save_v2(tmp_path / "all", names, [""] * len(names), [tensors[name] for name in names])
    mine = ours(tmp_path / "all")
    reader = tf.train.load_checkpoint(str(tmp_path / "all"))
    assert sorted(mine) == sorted(reader.get_variable_to_shape_map()) == names
    for name in names:
        entry, tensor = mine[name], tensors[name]
        assert entry["shape"] == tensor.shape.as_list() and entry["dtype"] == tensor.dtype.name
        value = np.asarray(tensor.numpy())
        if tensor.dtype == tf.string:
            assert entry["strings"] == [item.hex() for item in value.reshape(-1).tolist()], name
        else:
            assert entry["hex"] == np.ascontiguousarray(value).tobytes().hex(), name


def test_pieces_along_any_axis(tmp_path):
    whole = np.arange(2 * 6 * 5, dtype=np.int32).reshape(2, 6, 5)
    boxes = [("0,2:0,2:0,5", whole[:, 0:2]), ("-:2,4:0,3", whole[:, 2:6, 0:3]), ("0,1:2,4:3,2", whole[0:1, 2:6, 3:5]),
             ("1,1:2,4:3,2", whole[1:2, 2:6, 3:5])]
    texts = np.array([b"a", b"bb", b"", b"dddd", b"e", b"ff"]).reshape(3, 2)
    names = ["w"] * 4 + ["t"] * 2
    slices = [f"2 6 5 {spec}" for spec, _ in boxes] + ["3 2 0,1:-", "3 2 1,2:0,2"]
    save_v2(tmp_path / "p", names, slices,
            [tf.constant(np.ascontiguousarray(box)) for _, box in boxes] + [tf.constant(texts[:1]), tf.constant(texts[1:])])
    mine = ours(tmp_path / "p")
    assert mine["w"]["pieces"] == 4 and mine["t"]["pieces"] == 2
    assert mine["w"]["hex"] == whole.tobytes().hex()
    assert mine["t"]["strings"] == [item.hex() for item in texts.reshape(-1).tolist()]
    for first in range(3):
        for count in range(3 - first):
            done = run("--rows", first, count, "w", tmp_path / "p")
            assert done.stdout == whole[first : first + count].tobytes().hex(), done.stderr


def test_pieces_that_do_not_cover_are_refused(tmp_path):
    save_v2(tmp_path / "p", ["w"], ["4 2 0,2:-"], [tf.zeros([2, 2])])
    done = run(tmp_path / "p")
    assert done.returncode == 1 and "don't cover" in done.stderr


def test_rows_of_a_tensor(tmp_path):
    whole = np.random.default_rng(3).normal(size=(200000, 3)).astype(np.float32)
    save_v2(tmp_path / "r", ["w"], [""], [tf.constant(whole)])
    for first, count in [(0, 1), (0, 200000), (199999, 1), (77777, 5), (100, 0), (200000, 0), (50000, 100000)]:
        done = run("--rows", first, count, "w", tmp_path / "r")
        assert done.stdout == whole[first : first + count].tobytes().hex(), done.stderr
    assert "has 200000 rows" in run("--rows", 200000, 1, "w", tmp_path / "r").stderr


def test_thousands_of_entries_in_several_blocks(tmp_path):
    names = [f"layer_{i:05}/" + "kernel/.ATTRIBUTES/VARIABLE_VALUE" * (1 + i % 3) for i in range(20001)]
    save_v2(tmp_path / "many", names, [""] * len(names), [tf.constant([float(i), 1.0]) for i in range(len(names))])
    assert (tmp_path / "many.index").stat().st_size > 3 * 262144
    mine = assert_same_names(tmp_path / "many")
    for i in (0, 1, 9999, 20000):
        assert mine[names[i]]["hex"] == np.array([i, 1], np.float32).tobytes().hex()


def assert_same_names(prefix):
    mine = ours(prefix)
    shapes = tf.train.load_checkpoint(str(prefix)).get_variable_to_shape_map()
    assert {name: entry["shape"] for name, entry in mine.items()} == shapes
    return mine


def test_several_data_files(tmp_path):
    prefixes = []
    for i in range(3):
        prefixes.append(str(tmp_path / f"part{i}"))
        save_v2(prefixes[-1], [f"v{i}", "split"], ["", f"6 2 {2 * i},2:-"],
                [tf.range(i * 10, i * 10 + 4), tf.fill([2, 2], float(i))])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=str(tmp_path / "all"))
    assert (tmp_path / "all.data-00002-of-00003").exists()
    mine = assert_same(tmp_path / "all")
    assert mine["split"]["pieces"] == 3


def test_a_flipped_bit_is_noticed(tmp_path):
    for suffix in ("index", "data-00000-of-00001"):
        data = (FIXTURES / f"projector/embedding.ckpt-1.{suffix}").read_bytes()
        (tmp_path / f"e.{suffix}").write_bytes(data)
    path = tmp_path / "e.data-00000-of-00001"
    data = bytearray(path.read_bytes())
    data[5] ^= 4
    path.write_bytes(data)
    assert "checksum" in run(tmp_path / "e").stderr
    with pytest.raises(Exception, match="[Cc]hecksum"):
        tf.train.load_checkpoint(str(tmp_path / "e")).get_tensor("embedding/.ATTRIBUTES/VARIABLE_VALUE")


def test_the_newest_checkpoint(tmp_path):
    model = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    manager = tf.train.CheckpointManager(model, str(tmp_path / "m"), max_to_keep=3)
    assert run("--latest", tmp_path / "m").returncode == 1
    for _ in range(5):
        manager.save()
        assert run("--latest", tmp_path / "m").stdout == tf.train.latest_checkpoint(str(tmp_path / "m"))
    for folder in (FIXTURES / name for name in ("ckpt", "ckpt_sharded", "v1", "projector")):
        assert run("--latest", folder).stdout == (tf.train.latest_checkpoint(str(folder)) or "")
    odd = tmp_path / "dir with 'quotes' 中"
    odd.mkdir()
    saved = tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(odd / 'c"k'))
    for path in (os.path.basename(saved), saved):
        tf.compat.v1.train.update_checkpoint_state(str(odd), path)
        assert run("--latest", odd).stdout == tf.train.latest_checkpoint(str(odd))
    (odd / "checkpoint").write_text('model_checkpoint_path: "gone"')
    assert run("--latest", odd).returncode == 1
    (odd / "checkpoint").write_text("model_checkpoint_path: 7")
    assert run("--latest", odd).returncode == 1


def test_random_checkpoints(tmp_path):
    random = np.random.default_rng(11)
    for round_number in range(8):
        names = sorted({"".join(random.choice(list("ab/.~ü_"), random.integers(1, 30))) for _ in range(random.integers(1, 80))})
        tensors = [tf.constant(random.normal(size=random.integers(0, 5, random.integers(0, 4)))) for _ in names]
        save_v2(tmp_path / f"r{round_number}", names, [""] * len(names), tensors)
        assert_same(tmp_path / f"r{round_number}")
