"""The functions of tf.summary that write: each makes one event, if there is a default writer and recording is on.

Inside a tf.function arguments are symbols without values: the call is then recorded in the graph (tf.py_function) and
made when the graph runs, with the writer that was the default one at that place of the program.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

from seaboard._arrays import strings_of
from seaboard.summary._state import chosen_step, current_scope, state, truth

Write = Callable[[Any, str, Any, Any], None]  # native writer, tag, data, step


def _is_symbolic(value: Any) -> bool:
    tensorflow = sys.modules.get("tensorflow")
    check = getattr(tensorflow, "is_symbolic_tensor", None)
    return bool(check and check(value))


def _in_graph() -> bool:
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and hasattr(tensorflow, "inside_function") and tensorflow.inside_function()


def _later(write: Write, writer: Any, tag: str, data: Any, step: Any, condition: Any) -> bool:
    """Records the call in the graph that is being traced."""
    tensorflow = sys.modules["tensorflow"]

    def call(data: Any, step: Any, is_wanted: Any) -> None:
        if bool(is_wanted):
            write(writer._native, tag, data, step)

    wanted = condition() if callable(condition) else condition
    tensorflow.py_function(call, [data, step, wanted], [])
    return True


def record(name: str, data: Any, step: Any, write: Write) -> bool:
    """Writes one summary; False when nothing was written."""
    writer = state.writer
    if writer is None:
        return False
    step = chosen_step(step)
    tag = current_scope() + name
    condition = state.condition
    if _is_symbolic(data) or _is_symbolic(step) or _is_symbolic(condition):
        return _later(write, writer, tag, data, step, condition)
    if not truth(condition):
        return False
    if writer._is_closed:
        return False
    write(writer._native, tag, data() if callable(data) else data, step)
    return True


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes a number: a Python number, or an array or tensor of rank 0. Stored as float32."""

    def write(native: Any, tag: str, value: Any, at: Any) -> None:
        native.add_scalar(tag, value, at, None, "", description or "")

    return record(name, data, step, write)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> bool:
    """Writes the distribution of numbers in equal buckets, 30 unless told."""
    count = 0 if buckets is None else int(buckets) or -1

    def write(native: Any, tag: str, values: Any, at: Any) -> None:
        native._histogram(tag, at, None, None, description, values, count, 0)

    return record(name, data, step, write)


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> bool:
    """Writes pictures (k, height, width, channels), the first max_outputs of them: uint8, or floats from 0 to 1."""
    most = int(max_outputs)
    if most < 0:
        raise ValueError(f"max_outputs must be >= 0, not {most}")

    def write(native: Any, tag: str, pixels: Any, at: Any) -> None:
        native._image(tag, at, None, None, description, pixels, "NHWC", most)

    return record(name, data, step, write)


def audio(
    name: str,
    data: Any,
    sample_rate: float,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> bool:
    """Writes sounds (k, frames, channels) of floats from -1 to 1, the first max_outputs of them, as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}; 'wav' is the only one")
    most = int(max_outputs)

    def write(native: Any, tag: str, samples: Any, at: Any) -> None:
        native._audio(tag, at, None, None, description, samples, float(sample_rate), most)

    return record(name, data, step, write)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes a text or an array of texts, shown as Markdown."""

    def write(native: Any, tag: str, strings: Any, at: Any) -> None:
        native._text(tag, at, None, None, description, strings_of(strings))

    return record(name, data, step, write)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> bool:
    """Writes a tensor (or what a function returns) with given metadata: a SummaryMetadata, or its bytes."""
    from seaboard._proto.messages import SummaryMetadata

    given = None
    if metadata is not None:
        data = metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
        given = SummaryMetadata.FromString(data)

    def put(native: Any, full_tag: str, value: Any, at: Any) -> None:
        _put_tensor(native, full_tag, value, at, given)

    if state.writer is None:
        return False
    scope = current_scope()
    return record(tag[len(scope) :] if scope and tag.startswith(scope) else tag, tensor, step, put)


def _is_text(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, (list, tuple)):
        return bool(value) and _is_text(value[0])
    dtype = getattr(value, "dtype", None)
    return getattr(dtype, "kind", "") in ("S", "U", "O") or getattr(dtype, "name", "") == "string"


def _put_tensor(native: Any, tag: str, value: Any, step: Any, metadata: Any) -> None:
    data = strings_of(value) if _is_text(value) else value
    if metadata is None:
        native._tensor(tag, step, None, None, None, data, None, b"")
        return
    plugin = metadata.plugin_data
    names = metadata.display_name or None, metadata.summary_description or None
    if metadata.data_class or not plugin.plugin_name:
        _put_whole(native, tag, value, step, metadata)
    else:
        native._tensor(tag, step, None, *names, data, plugin.plugin_name, plugin.content)


def _put_whole(native: Any, tag: str, value: Any, step: Any, metadata: Any) -> None:
    """Metadata that the C interface has no arguments for: the Summary is made here."""
    from seaboard._proto import messages as pb
    from seaboard._values import tensor_proto

    summary = pb.Summary(value=[pb.Summary.Value(tag=tag, tensor=tensor_proto(value), metadata=metadata)])
    native._summary(summary.SerializeToString(), step)


def graph(graph_data: Any) -> bool:
    """Writes a graph: a tf.Graph, a GraphDef, or a GraphDef's bytes."""
    writer = state.writer
    if writer is None or not truth(state.condition):
        return False
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    if hasattr(graph_data, "SerializeToString"):
        graph_data = graph_data.SerializeToString()
    if not isinstance(graph_data, bytes):
        raise ValueError(f"The graph data must be a tf.Graph or a GraphDef, not {type(graph_data).__name__}")
    writer._native._graph(graph_data)
    return True
