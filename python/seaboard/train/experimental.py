"""What tf.train.experimental has for checkpoints."""

from __future__ import annotations

import abc

__all__ = ["PythonState"]


class PythonState(abc.ABC):
    """An object that is saved as a string: the base class of what has serialize() and deserialize()."""

    @abc.abstractmethod
    def serialize(self) -> str | bytes:
        """The state of the object, as it is saved."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes back what serialize() answered."""
