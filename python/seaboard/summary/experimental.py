"""tf.summary.experimental: the default step, scopes of names, and prepared summaries."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from seaboard.summary._state import chosen_step, current_scope, state, truth

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]


def get_step() -> Any:
    """The default step of this thread; None when there is none."""
    return state.step


def set_step(step: Any) -> None:
    """Sets the default step of this thread: a whole number, or a variable that is read at every summary."""
    state.step = step


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """A context for own kinds of summaries: gives the tag, which is name below the current scope, and the scope."""
    scope = current_scope()
    tag = scope + (name or default_name)
    yield tag, tag + "/"


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> bool:
    """Writes serialized Summary messages as one event."""
    writer = state.writer
    if writer is None or not truth(state.condition):
        return False
    from seaboard._arrays import strings_of

    data = b"".join(strings_of(tensor)[0])
    writer._native._summary(data, chosen_step(step))
    return True
