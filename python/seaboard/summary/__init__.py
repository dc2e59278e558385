"""tf.summary without TensorFlow: the same functions, the same files.

    import seaboard.summary as summary            instead of: from tensorflow import summary

    writer = summary.create_file_writer("logs")
    with writer.as_default():
        summary.scalar("loss", 0.5, step=1)

Data may be Python numbers, numpy arrays, and tensors of TensorFlow, torch or JAX. Calls inside a tf.function are made
when its graph runs. seaboard.summary.v1 has TF1's FileWriter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seaboard.summary import experimental
from seaboard.summary._kinds import audio, graph, histogram, image, scalar, text, write
from seaboard.summary._state import record_if, should_record_summaries
from seaboard.summary._trace import trace_export, trace_off, trace_on
from seaboard.summary._writer import SummaryWriter, create_file_writer, create_noop_writer, flush

if TYPE_CHECKING:
    from seaboard.summary import v1

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "v1",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "v1":
        import importlib

        return importlib.import_module("seaboard.summary.v1")
    raise AttributeError(f"module 'seaboard.summary' has no attribute {name!r}")
