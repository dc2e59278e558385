"""The tables in src/codec/proto/messages*.def say the same as TensorFlow's and TensorBoard's own descriptors:
every message, every field with its number, name, type and label, every value of every enumeration."""

import importlib
import os
import pathlib
import re

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from google.protobuf import descriptor_pool, struct_pb2, wrappers_pb2  # noqa: E402,F401
from google.protobuf.descriptor import FieldDescriptor  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODEC = ROOT / "src" / "codec" / "proto"

MODULES = [
    *(f"tensorflow.core.framework.{name}_pb2" for name in (
        "cost_graph", "full_type", "graph", "graph_debug_info", "op_def", "step_stats", "summary", "tensor",
        "tensor_slice")),
    *(f"tensorflow.core.protobuf.{name}_pb2" for name in (
        "config", "meta_graph", "saver", "tensor_bundle", "trackable_object_graph")),
    "tensorflow.core.util.event_pb2",
    "tensorflow.tsl.profiler.protobuf.xplane_pb2",
    "tensorflow.python.training.checkpoint_state_pb2",
    *(f"tensorboard.compat.proto.{name}_pb2" for name in (
        "config", "cost_graph", "event", "graph", "graph_debug_info", "meta_graph", "op_def", "saver", "step_stats",
        "summary", "tensor")),
    *(f"tensorboard.plugins.{name}_pb2" for name in (
        "audio.plugin_data", "custom_scalar.layout", "histogram.plugin_data", "hparams.api", "hparams.plugin_data",
        "image.plugin_data", "mesh.plugin_data", "pr_curve.plugin_data", "projector.projector_config",
        "scalar.plugin_data", "text.plugin_data")),
]

# Messages of which the table gives only what Seaboard reads.
PARTIAL = {"tensorflow.MetaGraphDef", "tensorflow.MetaGraphDef.MetaInfoDef"}

TYPE_NAMES = {
    value: name.removeprefix("TYPE_") for name, value in vars(FieldDescriptor).items() if name.startswith("TYPE_")
}


def read_defs():
    """{message id: (full name, [(number, name, type, label, sub)])}, {enum id: (full name, {name: number})}"""
    messages, enums = {}, {}
    text = "\n".join(path.read_text() for path in sorted(CODEC.glob("messages_*.def")))
    for match in re.finditer(r"^SB_(\w+)\(([^)]*)\)", text, re.M):
        kind = match.group(1)
        args = [part.strip() for part in match.group(2).split(",")]
        if kind == "MESSAGE":
            messages[args[0]] = (args[1].strip('"'), [])
        elif kind == "FIELD":
            owner, constant, number, name, type_name, label, sub = args
            assert constant == name.strip('"').upper()
            messages[owner][1].append((int(number), name.strip('"'), type_name, label, sub))
        elif kind == "ENUM":
            enums[args[0]] = (args[1].strip('"'), {})
        elif kind == "ENUM_VALUE":
            enums[args[0]][1][args[3].strip('"')] = int(args[2])
        else:
            assert kind in ("MESSAGE_END", "ENUM_END"), kind
    dtypes = {}
    types = (ROOT / "include" / "seaboard" / "types.h").read_text()
    for name, number in re.findall(r"^\s*X\((\w+), (\d+), \d+, \"", types, re.M):
        if int(number) == 0:
            dtypes["DT_INVALID"] = 0
            continue
        dtypes[f"DT_{name}"] = int(number)
        dtypes[f"DT_{name}_REF"] = int(number) + 100
    enums["DATA_TYPE"] = ("tensorflow.DataType", dtypes)
    return messages, enums


MESSAGES, ENUMS = read_defs()


@pytest.fixture(scope="module")
def pool():
    for module in MODULES:
        importlib.import_module(module)
    return descriptor_pool.Default()


def label_of(field):
    if field.is_repeated:
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            return "MAP"
        return "PACKED" if field.is_packed else "MANY"
    if field.containing_type.GetOptions().map_entry:
        return "ONE"  # an entry's key and value are always shown
    if field.containing_oneof is not None and not field.containing_oneof.name.startswith("_"):
        return "ONEOF"
    if field.has_presence and field.type != FieldDescriptor.TYPE_MESSAGE:
        return "OPTIONAL"
    return "ONE"


def sub_of(field):
    """The full name that the last column stands for."""
    if field.message_type is not None:
        return field.message_type.full_name
    return field.enum_type.full_name if field.enum_type is not None else None


def resolve(sub):
    if sub.startswith("SB_MSG_"):
        return MESSAGES[sub.removeprefix("SB_MSG_")][0]
    if sub.startswith("SB_ENUM_"):
        return ENUMS[sub.removeprefix("SB_ENUM_")][0]
    assert sub == "0"
    return None


def rows(descriptor):
    return [(f.number, f.name, TYPE_NAMES[f.type], label_of(f), sub_of(f)) for f in
            sorted(descriptor.fields, key=lambda f: f.number)]


def test_the_table_is_not_empty():
    assert len(MESSAGES) > 100
    assert sum(len(fields) for _, fields in MESSAGES.values()) > 400


@pytest.mark.parametrize("message_id", sorted(MESSAGES))
def test_message_equals_the_reference(pool, message_id):
    full_name, fields = MESSAGES[message_id]
    descriptor = pool.FindMessageTypeByName(full_name)
    ours = [(number, name, type_name, label, resolve(sub)) for number, name, type_name, label, sub in fields]
    theirs = rows(descriptor)
    if full_name in PARTIAL:
        theirs = [row for row in theirs if row[0] in {number for number, *_ in ours}]
    assert ours == theirs
    oneofs = [oneof for oneof in descriptor.oneofs if not oneof.name.startswith("_")]
    assert len(oneofs) <= 1  # the label ONEOF needs no name while this holds


@pytest.mark.parametrize("message_id", sorted(MESSAGES))
def test_message_equals_tensorboards_copy(pool, message_id):
    """TensorBoard carries its own copies of TensorFlow's messages, sometimes of another age: what both know is equal."""
    full_name, fields = MESSAGES[message_id]
    if not full_name.startswith("tensorflow."):
        return
    try:
        descriptor = pool.FindMessageTypeByName(full_name.replace("tensorflow.", "tensorboard.", 1))
    except KeyError:
        return
    theirs = {number: (name, type_name, label) for number, name, type_name, label, _ in rows(descriptor)}
    for number, name, type_name, label, _ in fields:
        if number in theirs:
            assert theirs[number] == (name, type_name, label)


@pytest.mark.parametrize("enum_id", sorted(ENUMS))
def test_enumeration_equals_the_reference(pool, enum_id):
    full_name, values = ENUMS[enum_id]
    descriptor = pool.FindEnumTypeByName(full_name)
    assert values == {value.name: value.number for value in descriptor.values}


def test_every_sub_message_is_in_the_table():
    for _, fields in MESSAGES.values():
        for *_, sub in fields:
            resolve(sub)
