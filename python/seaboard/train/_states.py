"""Objects with state_dict and load_state_dict: torch's modules, optimizers and schedulers, and what is like them.

Tensors become variables, "conv1.weight" under the names conv1 and weight. What is no tensor (learning rates, counts of
epochs) goes into one string of the object, py_state, which also says where each tensor belongs: an optimizer that has not
made its tensors yet gets them from there.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from seaboard._native import DataError

__all__ = ["StateDict"]

_PLAIN = (str, int, float, bool, type(None))


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def _parts(key: Any) -> tuple[str, ...]:
    return tuple(part or "_" for part in key.split(".")) if isinstance(key, str) else (str(key),)


class _Split:
    """A state as its tensors by path, and the rest as JSON."""

    def __init__(self, state: Any):
        self.tensors: dict[tuple[str, ...], Any] = {}
        self.is_plain = True  # only dictionaries with texts as keys, and tensors
        self.rest = self._encode(state, ())

    def _encode(self, value: Any, path: tuple[str, ...]) -> Any:
        if _is_tensor(value):
            if path in self.tensors:
                raise ValueError(f"two tensors of a state are called {'.'.join(path)!r}")
            self.tensors[path] = value
            kind = "numpy" if isinstance(value, np.ndarray) else "torch"
            return {"tensor": path, "of": kind, "dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
        if isinstance(value, dict):
            self.is_plain &= all(isinstance(key, str) for key in value)
            for key in value:
                if not isinstance(key, _PLAIN):
                    raise TypeError(f"a state with the key {key!r} can't be saved")
            return {"dict": [[key, self._encode(item, path + _parts(key))] for key, item in value.items()]}
        self.is_plain = False
        if isinstance(value, (list, tuple)):
            items = [self._encode(item, (*path, str(index))) for index, item in enumerate(value)]
            return {"tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, np.generic):
            value = value.item()
        if not isinstance(value, _PLAIN):
            where = ".".join(path)
            raise TypeError(f"{where!r} of a state is {type(value).__name__}; tensors, numbers, texts, lists and dictionaries are saved")
        return value


def _decode(rest: Any, tensor: Any) -> Any:
    """The state again; tensor: answers the tensor of an entry."""
    if isinstance(rest, list):
        return [_decode(item, tensor) for item in rest]
    if not isinstance(rest, dict):
        return rest
    if "tensor" in rest:
        return tensor(rest)
    if "tuple" in rest:
        return tuple(_decode(item, tensor) for item in rest["tuple"])
    return {key: _decode(item, tensor) for key, item in rest["dict"]}


def _copy(tensor: Any) -> Any:
    """Contiguous memory of the processor with the same elements."""
    if isinstance(tensor, np.ndarray):
        return np.array(tensor, order="C")
    plain = tensor.detach().cpu()
    torch = sys.modules["torch"]
    return (plain.to_dense() if plain.is_sparse else plain).clone(memory_format=torch.contiguous_format)


def _empty(entry: dict[str, Any]) -> Any:
    if entry["of"] == "numpy":
        return np.empty(entry["shape"], entry["dtype"])
    import torch

    return torch.empty(entry["shape"], dtype=getattr(torch, entry["dtype"]))


class StateDict:
    """One such object in a tree."""

    def __init__(self, tree: Any, number: int, thing: Any):
        self._tree, self._number, self._thing = tree, number, thing
        self._split = _Split(thing.state_dict())
        self._memory: dict[tuple[str, ...], Any] = {}
        self._variables: dict[tuple[str, ...], int] = {}
        if not self._split.is_plain:
            text = b"" if tree.is_written else json.dumps(self._split.rest).encode()
            tree.native.set_value(number, "py_state", ((text,), ()))
        for path, tensor in self._split.tensors.items():
            self._add(path, _copy(tensor) if tree.is_written else tensor)

    def _add(self, path: tuple[str, ...], tensor: Any) -> None:
        from seaboard.train._objects import held

        memory = held(tensor, False).memory
        self._memory[path] = memory
        self._variables[path] = self._tree.variable_at(self._number, path, memory)

    def _is_restored(self, path: tuple[str, ...]) -> bool:
        return bool(self._tree.native.is_restored(self._variables[path]))

    def _tensor(self, entry: dict[str, Any]) -> Any:
        path = tuple(entry["tensor"])
        if path not in self._variables:
            self._add(path, _empty(entry))
        return self._memory[path]

    def deliver(self) -> bool:
        """Gives the object what was restored; false: nothing was, yet."""
        text = b"" if self._split.is_plain else self._tree.native.get_value(self._number, "py_state")[2][0]
        if not text and not any(self._is_restored(path) for path in self._variables):
            return False
        self._thing.load_state_dict(self._state(text))
        for number in self._variables.values():
            self._tree.native.release(number)
        self._memory.clear()
        return True

    def _state(self, text: bytes) -> Any:
        try:
            return _decode(json.loads(text) if text else self._split.rest, self._tensor)
        except (AttributeError, KeyError, RecursionError, RuntimeError, TypeError, ValueError) as error:
            kind = type(self._thing).__name__
            raise DataError(f"the state of a {kind} in this checkpoint is not what a state_dict was saved as: {error}") from error
