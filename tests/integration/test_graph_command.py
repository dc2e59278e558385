"""seaboard graph FILE: the modules of a model with their parameters, from every kind of file, and from odd ones."""

import json
import pathlib

import pytest
from command import FIXTURES, field, seaboard

PBTXT = """
node { name: 'x' op: 'Placeholder' }
node { name: 'net/w' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: 3 } dim { size: 4 } } } } }
node { name: 'net/y' op: 'MatMul' input: 'x' input: 'net/w' }
"""
KERAS = {
    "class_name": "Sequential",
    "config": {
        "name": "small",
        "layers": [
            {
                "module": "keras.layers",
                "class_name": "Dense",
                "config": {"name": "dense", "units": 4},
                "build_config": {"input_shape": [None, 3]},
            }
        ],
    },
}


ONNX = b"\x08\x08" + field(7, field(1, field(2, b"y") + field(3, b"/net/Relu") + field(4, b"Relu")) + field(2, b"g"))


def show(tmp_path, data, *options, name="file"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return seaboard("graph", *options, path)


def test_modules_are_listed_with_operations_shapes_and_parameters(tmp_path):
    done = show(tmp_path, PBTXT)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "GraphDef as text: 3 operations, 2 edges, 12 parameters"
    assert any(line.split() == ["net", "2", "operations,", "12", "parameters"] for line in lines)
    assert any(line.split()[:2] == ["y", "MatMul"] for line in lines)


@pytest.mark.parametrize(
    "data, head",
    [
        (json.dumps(KERAS), "Keras model: 1 operations, 0 edges, 16 parameters"),
        (ONNX, "ONNX: 1 operations, 0 edges"),
        ((FIXTURES / "tf/v1/model.ckpt-6.meta").read_bytes(), "MetaGraphDef: "),
    ],
    ids=["keras", "onnx", "meta graph"],
)
def test_the_kind_of_a_file_follows_from_its_bytes(tmp_path, data, head):
    done = show(tmp_path, data)
    assert done.returncode == 0
    assert done.stdout.decode().startswith(head)


def test_depth_and_json(tmp_path):
    assert b"MatMul" not in show(tmp_path, PBTXT, "--depth", 1).stdout
    boxes = [json.loads(line) for line in show(tmp_path, PBTXT, "--json").stdout.splitlines()]
    assert [(box["name"], box["kind"], box["parameters"]) for box in boxes] == [
        ("net", "scope", 12),
        ("net/w", "operation", 12),
        ("net/y", "operation", 0),
        ("x", "operation", 0),
    ]
    assert show(tmp_path, PBTXT, "--depth", "deep").returncode == 2


def test_a_cut_file_is_shown_as_far_as_it_goes(tmp_path):
    done = show(tmp_path, PBTXT + "node { name: 'cu")
    assert done.returncode == 3
    assert b"MatMul" in done.stdout and b"only a part of it could be read" in done.stderr


def test_odd_things_are_listed(tmp_path):
    done = show(tmp_path, PBTXT + "node { name: 'z' op: 'Neg' input: 'nowhere' }")
    assert done.returncode == 0
    assert "odd: 1 inputs that don't exist: nowhere" in done.stdout.decode()


@pytest.mark.parametrize("data", [b"", b"dear reader", b"\x00\x01\x02" * 100, b"{}"], ids=["empty", "text", "bytes", "json"])
def test_what_is_no_graph_is_refused_with_a_reason(tmp_path, data):
    done = show(tmp_path, data)
    assert done.returncode == 3 and done.stdout == b""
    assert b"file" in done.stderr


def torchscript(tmp_path):
    """A file as torch.jit.save writes it: a zip archive with code and data."""
    import zipfile

    path = pathlib.Path(tmp_path) / "traced.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("traced/data.pkl", b"\x80\x02.")
        archive.writestr("traced/code/__torch__.py", "class Net(Module):\n  pass\n")
    return path.read_bytes()


def test_a_torchscript_file_is_named_as_what_it_is(tmp_path):
    done = show(tmp_path, torchscript(tmp_path))
    assert done.returncode == 3
    assert b"TorchScript" in done.stderr and b"add_graph" in done.stderr


def test_a_file_that_is_not_there(tmp_path):
    assert seaboard("graph", tmp_path / "none").returncode == 4
