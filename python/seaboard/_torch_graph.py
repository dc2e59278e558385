"""The graph of a torch module: torch.jit.trace records it, this turns it into a GraphDef.

Names are those that torch.utils.tensorboard gives: an operation is called MODULE/Layer[name]/.../VALUE, inputs are
input/VALUE, outputs output/output.N. Values of modules themselves are left out; a parameter's node is called by the
path of attributes that leads to it.
"""

from __future__ import annotations

from typing import Any, Iterator

from seaboard._proto import messages as pb

GET_ATTRIBUTE = "prim::GetAttr"
CLASS = "ClassType"


class _Node:
    """One node of the picture: a value, what makes it, and where it comes from."""

    def __init__(self, value: str, op: str, inputs: list[str], size: Any, attributes: str = "", scope: str | None = None):
        self.value, self.op, self.inputs = value, op, inputs
        self.size, self.attributes, self.scope = size, attributes, scope
        self.name = value


def trace_module(model: Any, example: Any, verbose: bool, strict: bool) -> tuple[bytes, bytes]:
    """The GraphDef and the RunMetadata of a module, serialized."""
    traced, graph = _trace(model, example, strict)
    if verbose:
        print(graph)
    nodes = [_definition(node) for node in _nodes(graph, traced)]
    definition = pb.GraphDef(node=nodes, versions=pb.VersionDef(producer=22))
    stats = pb.StepStats(dev_stats=[pb.DeviceStepStats(device="/device:CPU:0")])
    return definition.SerializeToString(), pb.RunMetadata(step_stats=stats).SerializeToString()


def _trace(model: Any, example: Any, strict: bool) -> tuple[Any, Any]:
    import torch

    was_training = getattr(model, "training", None)
    if was_training is not None:
        model.train(False)
    try:
        traced = torch.jit.trace(model, example, strict=strict)
        graph = traced.graph
        torch._C._jit_pass_inline(graph)
    finally:
        if was_training is not None:
            model.train(was_training)
    return traced, graph


def _size(value: Any) -> Any:
    return value.type().sizes() if value.isCompleteTensor() else None


def _edge_size(value: Any) -> Any:
    try:
        return value.type().sizes()
    except RuntimeError:
        return [1]


def _attributes(node: Any) -> str:
    found = {name: getattr(node, node.kindOf(name))(name) for name in node.attributeNames()}
    return str(found).replace("'", " ")


def _layer_names(traced: Any) -> dict[str, str]:
    """How a module is called in the picture: Linear[fc1] for __module.fc1."""
    return {path: f"{_class_name(module)}[{path.split('.')[-1]}]" for path, module in traced.named_modules(prefix="__module")}


def _class_name(module: Any) -> str:
    import torch

    if isinstance(module, torch.jit.TracedModule):
        return module._name
    return getattr(module, "original_name", "Module")


def _operations(graph: Any) -> Iterator[tuple[Any, str]]:
    """The operations of a graph with the path of the module that they belong to."""
    paths: dict[str, str] = {}
    for node in graph.nodes():
        if node.kind() != GET_ATTRIBUTE:
            yield node, node.scopeName()
            continue
        name, parent = node.s("name"), node.input().node()
        if parent.kind() == GET_ATTRIBUTE:
            above = paths[parent.output().debugName()]
            path = f"{above}/{above.split('/')[-1]}.{name}"
        else:
            path = f"__module.{name}"
        paths[node.output().debugName()] = path
        if node.output().type().kind() != CLASS:
            yield node, path


def _nodes(graph: Any, traced: Any) -> list[_Node]:
    base = _class_name(traced)
    layers = _layer_names(traced)
    nodes: dict[str, _Node] = {}
    names: dict[str, str] = {}
    for value in graph.inputs():
        if value.uses() and value.type().kind() != CLASS:
            key = value.debugName()
            nodes[key] = _Node(key, "IO Node", [], _edge_size(value))
            names[key] = f"input/{key}"
    made: list[_Node] = []
    for operation, path in _operations(graph):
        parts = [layers.get(part) or part.split(".")[-1] for part in path.split("/")]
        scope = base + "/" + "/".join(parts) if any(parts) else base
        inputs = [value.debugName() for value in operation.inputs()]
        for value in operation.outputs():
            key = value.debugName()
            made.append(_Node(key, operation.kind(), inputs, _size(value), _attributes(operation), scope))
        # What has no node of its own (a module) is called by the last place where it is used.
        names.update((source, f"{scope}/{source}") for source in inputs if source not in nodes)
    for index, value in enumerate(graph.outputs(), 1):
        key = f"output.{index}"
        nodes[key] = _Node(key, "IO Node", [value.debugName()], _edge_size(value))
        names[key] = f"output/{key}"
    for node in made:
        nodes[node.value] = node
        names[node.value] = f"{node.scope}/{node.value}"
    for node in nodes.values():
        node.inputs = [names[source] for source in node.inputs]
        node.name = names.get(node.value, node.value)
    return list(nodes.values())


def _definition(node: _Node) -> pb.NodeDef:
    definition = pb.NodeDef(name=node.name, op=node.op, input=node.inputs)
    definition.attr["attr"] = pb.AttrValue(s=node.attributes.encode())
    if node.size is not None:
        shape = pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in node.size])
        definition.attr["_output_shapes"] = pb.AttrValue(list=pb.AttrValue.ListValue(shape=[shape]))
    return definition
