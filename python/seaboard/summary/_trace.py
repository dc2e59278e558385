"""trace_on, trace_export and trace_off: graphs of tf.functions and profiles, as TensorFlow records them."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any, NamedTuple

from seaboard.summary._state import chosen_step, current_scope, state, truth


class _Trace(NamedTuple):
    graph: bool
    profiler: bool
    own: Any  # our own profile of the Python process, without TensorFlow


_current: _Trace | None = None
_lock = threading.Lock()


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Starts recording: graphs of the tf.functions that are called, and with profiler a profile into profiler_outdir.

    Without TensorFlow a profile of the Python process itself is recorded: which functions its threads were in.
    """
    global _current
    tensorflow = sys.modules.get("tensorflow")
    with _lock:
        if _current is not None:
            warnings.warn("trace_on: a trace is being recorded already", RuntimeWarning, stacklevel=2)
            return
        own = None
        if tensorflow is not None:
            tensorflow.summary.trace_on(graph=graph, profiler=profiler, profiler_outdir=profiler_outdir)
        elif profiler:
            from seaboard._sampler import Sampler

            own = Sampler(profiler_outdir)
            own.start()
        else:
            warnings.warn(
                "trace_on: TensorFlow is not loaded, so there is no graph to record; "
                "profiler=True records a profile of the Python process",
                RuntimeWarning,
                stacklevel=2,
            )
        _current = _Trace(graph, profiler, own)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Stops recording and writes what was recorded with the default writer; a profile goes to its directory."""
    global _current
    with _lock:
        if _current is None:
            raise ValueError("Must enable trace before export through seaboard.summary.trace_on.")
        trace, _current = _current, None
    writer = state.writer
    if trace.own is not None:
        trace.own.stop(profiler_outdir or (writer._logdir if writer else None))
        return
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        warnings.warn("trace_export: nothing was recorded, since TensorFlow is not loaded", RuntimeWarning, stacklevel=2)
        return
    from tensorflow.python.eager import context
    from tensorflow.python.profiler import profiler_v2

    recorded = context.context().export_run_metadata()
    if trace.profiler and profiler_v2._profiler is not None:
        profiler_v2.stop()
    tensorflow.summary.trace_off()
    if writer is None or not truth(state.condition):
        warnings.warn("trace_export: there is no default writer, so the trace is not written", RuntimeWarning, stacklevel=2)
        return
    at = chosen_step(step)
    if not recorded.ByteSize():
        warnings.warn(
            f"trace_export: {name!r} is empty: no tf.function was traced since trace_on() "
            "(one that had been called before is not traced again)",
            RuntimeWarning,
            stacklevel=2,
        )
    writer._native._trace(current_scope() + name, recorded.SerializeToString(), trace.profiler, at)


def trace_off() -> None:
    """Stops recording; what was recorded is thrown away."""
    global _current
    with _lock:
        trace, _current = _current, None
    if trace is None:
        return
    if trace.own is not None:
        trace.own.discard()
    elif "tensorflow" in sys.modules:
        sys.modules["tensorflow"].summary.trace_off()
