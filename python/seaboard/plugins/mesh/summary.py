"""tensorboard.plugins.mesh.summary: meshes and point clouds."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

from seaboard._proto.message import define
from seaboard.summary._kinds import record

__all__ = ["mesh", "op", "pb"]

VERTEX, FACE, COLOR = 1, 2, 3
_NAMES = {VERTEX: "VERTEX", FACE: "FACE", COLOR: "COLOR"}
_TYPES = {VERTEX: "f4", FACE: "i4", COLOR: "u1"}
_Data = define(
    """
MeshPluginData
    1 version int32
    2 name string
    3 content_type enum
    5 json_config string
    6 shape int32 repeated
    7 components uint32
"""
)["MeshPluginData"]


def _config(config_dict: Mapping[str, Any] | None) -> str:
    return "{}" if config_dict is None else json.dumps(config_dict, sort_keys=True)


def mesh(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    config_dict: Mapping[str, Any] | None = None,
    step: Any = None,
    description: str | None = None,
) -> bool:
    """Writes a mesh with the default writer: vertices (B, N, 3), faces (B, M, 3), colors (B, N, 3) from 0 to 255."""

    def write(native: Any, tag: str, points: Any, at: Any) -> None:
        native._mesh(tag, at, None, None, description, points, colors, faces, _config(config_dict))

    return record(name, vertices, step, write)


def pb(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    display_name: str | None = None,
    description: str | None = None,
    config_dict: Mapping[str, Any] | None = None,
) -> Any:
    """The Summary of a mesh, as TF1 programs write it."""
    from seaboard._arrays import as_numpy
    from seaboard._proto import messages
    from seaboard._values import tensor_proto

    parts = [(VERTEX, vertices), (FACE, faces), (COLOR, colors)]
    parts = [(kind, as_numpy(data).astype(_TYPES[kind])) for kind, data in parts if data is not None]
    components = sum(1 << kind for kind, _ in parts)
    made = messages.Summary()
    for kind, data in parts:
        content = _Data(
            name=name,
            content_type=kind,
            json_config=_config(config_dict),
            shape=list(data.shape),
            components=components,
        )
        metadata = messages.SummaryMetadata(
            display_name=name if display_name is None else display_name,
            summary_description=description or "",
            plugin_data=messages.SummaryMetadata.PluginData(plugin_name="mesh", content=content.SerializeToString()),
        )
        made.value.add(tag=f"{name}_{_NAMES[kind]}", tensor=tensor_proto(data), metadata=metadata)
    return made


def op(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    display_name: str | None = None,
    description: str | None = None,
    collections: Sequence[Any] | None = None,
    config_dict: Mapping[str, Any] | None = None,
) -> Any:
    """The same as an operation of a TF1 graph."""
    from seaboard.plugins._ops import summary_op

    given = [("faces", faces), ("colors", colors)]
    names = [key for key, tensor in given if tensor is not None]

    def make(points: Any, *others: Any) -> Any:
        more = dict(zip(names, others))
        return pb(name, points, display_name=display_name, description=description, config_dict=config_dict, **more)

    return summary_op(name, make, [vertices, *(tensor for _, tensor in given if tensor is not None)], collections)
