"""Errors that name the right method: a keyword that a neighbour has is the most common slip."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, TypeVar

_SCALAR = ("tag", "scalar_value", "global_step", "walltime", "new_style", "double_precision", "display_name")
_Method = TypeVar("_Method", bound=Callable[..., Any])


@functools.cache
def _owners() -> dict[str, list[str]]:
    """Which public methods of SummaryWriter have a keyword."""
    from seaboard.torch import SummaryWriter

    owners: dict[str, list[str]] = {}
    for name in sorted(vars(SummaryWriter)):
        method = getattr(SummaryWriter, name)
        if name.startswith("add_") and inspect.isfunction(method):
            for keyword in inspect.signature(method).parameters:
                owners.setdefault(keyword, []).append(name)
    return owners


def refuse_keyword(method: str, keyword: str) -> None:
    """Raises the TypeError for a keyword that a method does not have."""
    owners = [owner for owner in _owners().get(keyword, []) if owner != method]
    hint = f"; {' and '.join(owners[:3])} {'has' if len(owners) == 1 else 'have'} it" if owners else ""
    raise TypeError(f"{method}() got an unexpected keyword argument {keyword!r}{hint}")


def hinted(method: _Method) -> _Method:
    """The method, with a better message for keywords that it does not have."""
    known = frozenset(inspect.signature(method).parameters)

    @functools.wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:
        if not known.issuperset(keywords):
            refuse_keyword(method.__name__, next(name for name in keywords if name not in known))
        return method(*args, **keywords)

    return call  # type: ignore[return-value]
