"""The exceptions of checkpoints. Where TensorFlow is loaded they are its exceptions too, so that `except` clauses of
programs that were written for it go on working."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from seaboard._native import DataError

__all__ = ["DataLossError", "InvalidArgumentError", "NotFoundError", "translated"]


class NotFoundError(FileNotFoundError):
    """There is no such checkpoint, or no such tensor in it."""


class InvalidArgumentError(ValueError):
    """File and program have different types or shapes."""


class DataLossError(DataError):
    """The file of a checkpoint is damaged."""


_doubles: dict[type, type] = {}


def original(kind: type[Exception], message: str) -> Exception:
    """An exception of that class; also of TensorFlow's class of that name, if TensorFlow is loaded."""
    errors = getattr(sys.modules.get("tensorflow"), "errors", None)
    theirs = getattr(errors, kind.__name__, None)
    if theirs is None:
        return kind(message)
    if kind not in _doubles:

        def __init__(self: Exception, text: str) -> None:
            kind.__init__(self, text)
            theirs.__init__(self, None, None, text)
            self.args = (text,)

        names = {"__init__": __init__, "__str__": lambda self: self.args[0], "__module__": kind.__module__, "__doc__": kind.__doc__}
        _doubles[kind] = type(kind.__name__, (kind, theirs), names)
    return _doubles[kind](message)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """What the library refuses, as the exceptions of this module."""
    try:
        yield
    except FileNotFoundError as error:
        raise original(NotFoundError, str(error)) from None
    except DataError as error:
        raise original(DataLossError, str(error)) from None
    except ValueError as error:
        raise original(InvalidArgumentError, str(error)) from None
