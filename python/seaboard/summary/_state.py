"""The default writer, the default step and the recording condition: one set a thread, as tf.summary has them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from seaboard.summary._writer import SummaryWriter

Condition = Any  # a bool, a tensor of one, or a function that returns one


class _State(threading.local):
    writer: SummaryWriter | None = None
    step: Any = None
    condition: Condition = True


state = _State()


def truth(condition: Condition) -> bool:
    """What a recording condition says now."""
    return bool(condition() if callable(condition) else condition)


def should_record_summaries() -> bool:
    """Whether there is a default writer and the condition of record_if holds."""
    return state.writer is not None and truth(state.condition)


def chosen_step(step: Any) -> Any:
    """The step that is given, or the default one; ValueError when there is neither."""
    if step is not None:
        return step
    if state.step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "seaboard.summary.experimental.set_step()"
        )
    return state.step


class record_if:
    """A context in which summaries are written only if the condition holds: a bool, a tensor, or a function."""

    def __init__(self, condition: Condition):
        self._condition = condition
        self._before: list[Condition] = []

    def __enter__(self) -> None:
        self._before.append(state.condition)
        state.condition = self._condition

    def __exit__(self, *_: object) -> None:
        state.condition = self._before.pop()


def current_scope() -> str:
    """The name scope of TensorFlow that the program is in, with a slash; empty without TensorFlow."""
    import sys

    tensorflow = sys.modules.get("tensorflow")
    get: Callable[[], str] | None = getattr(tensorflow, "get_current_name_scope", None)
    scope = get() if get else ""
    return scope + "/" if scope else ""
