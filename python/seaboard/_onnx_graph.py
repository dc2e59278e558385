"""Graphs of ONNX and OpenVINO files as a GraphDef. Neither package is needed: the few fields are read here."""

from __future__ import annotations

import os
from typing import Any

from seaboard._proto import messages as pb
from seaboard._proto.message import define

_ONNX = define(
    """
Model
    7 graph Graph
Graph
    1 node Node repeated
    11 input ValueInfo repeated
    12 output ValueInfo repeated
Node
    1 input string repeated
    2 output string repeated
    3 name string
    4 op_type string
    5 attribute Attribute repeated
Attribute
    1 name string
    2 f float
    3 i int64
    4 s bytes
    7 floats float repeated
    8 ints int64 repeated
    9 strings bytes repeated
    20 type enum
ValueInfo
    1 name string
    2 type Type
Type
    1 tensor_type TensorType
TensorType
    1 elem_type enum
    2 shape Shape
Shape
    1 dim Dim repeated
Dim
    1 dim_value int64
"""
)


def read_onnx(path: str | os.PathLike[str]) -> bytes:
    """The serialized GraphDef of an ONNX file: inputs and outputs are variables, nodes are called by their output."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        graph = _ONNX["Model"].FromString(data).graph
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)} is not an ONNX model: {error}") from None
    nodes = [_variable(edge) for edge in [*graph.input, *graph.output]]
    for node in graph.node:
        if node.output:
            text = ", ".join(" = ".join(str(value) for _, value in item.ListFields()) for item in node.attribute)
            made = pb.NodeDef(name=node.output[0], op=node.op_type, input=list(node.input))
            made.attr["parameters"] = pb.AttrValue(s=text.encode())
            nodes.append(made)
    return pb.GraphDef(node=nodes, versions=pb.VersionDef(producer=22)).SerializeToString()


def _variable(edge: Any) -> pb.NodeDef:
    tensor = edge.type.tensor_type
    shape = pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=dim.dim_value) for dim in tensor.shape.dim])
    node = pb.NodeDef(name=edge.name, op="Variable")
    node.attr["dtype"] = pb.AttrValue(type=tensor.elem_type)
    node.attr["shape"] = pb.AttrValue(shape=shape)
    return node


def read_openvino(path: str | os.PathLike[str]) -> bytes:
    """The serialized GraphDef of an OpenVINO model: one node a layer, named by it, with the layers before it."""
    import xml.etree.ElementTree as xml

    root = xml.parse(path).getroot()
    layers = {layer.get("id"): layer for layer in root.iter("layer")}
    sources: dict[str | None, list[str]] = {}
    for edge in root.iter("edge"):
        source = layers.get(edge.get("from-layer"))
        if source is not None:
            sources.setdefault(edge.get("to-layer"), []).append(source.get("name") or "")
    nodes = [
        pb.NodeDef(name=layer.get("name") or key or "", op=layer.get("type") or "op", input=sources.get(key, []))
        for key, layer in layers.items()
    ]
    return pb.GraphDef(node=nodes, versions=pb.VersionDef(producer=22)).SerializeToString()
