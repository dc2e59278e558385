"""The tensors of a checkpoint by name, as numpy arrays over the mapped file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from seaboard import _native
from seaboard.train._errors import NotFoundError, original, translated
from seaboard.train._objects import dtype_named

__all__ = ["CheckpointReader", "list_variables", "load_checkpoint", "load_variable"]


class CheckpointReader:
    """An open checkpoint: what tf.train.load_checkpoint answers."""

    def __init__(self, path: str | os.PathLike[str]):
        with translated():
            self._native = _native.Tensors(path)
        self._tensors = {name: (dtype, shape) for name, dtype, shape in self._native.list()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of that name."""
        return tensor_str in self._tensors

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Shapes by name."""
        return {name: list(shape) for name, (_, shape) in self._tensors.items()}

    def get_variable_to_dtype_map(self) -> dict[str, np.dtype[Any]]:
        """numpy's types by name."""
        return {name: dtype_named(dtype) for name, (dtype, _) in self._tensors.items()}

    def get_tensor(self, tensor_str: str) -> Any:
        """A tensor as a numpy array over the mapped file: read-only, checked, not copied. Strings: bytes, or an array."""
        if tensor_str not in self._tensors:
            raise original(NotFoundError, f"Key {tensor_str} not found in checkpoint")
        name, shape = self._tensors[tensor_str]
        with translated():
            data = self._native.get(tensor_str)
        if isinstance(data, list):
            array = np.empty(len(data), object)
            array[:] = data
            return array.reshape(shape) if shape else data[0]
        return np.frombuffer(data, dtype_named(name)).reshape(shape) if len(data) else np.empty(shape, dtype_named(name))

    def debug_string(self) -> bytes:
        """One line a tensor: name, type, shape."""
        lines = [f"{name} ({dtype}) [{','.join(map(str, shape))}]\n" for name, (dtype, shape) in self._tensors.items()]
        return "".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """Opens a checkpoint, or the newest one of a directory."""
    from seaboard.train._manager import latest_checkpoint

    path: str | None = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(ckpt_dir_or_file):
        path = latest_checkpoint(ckpt_dir_or_file)
    if path is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {os.fspath(ckpt_dir_or_file)}")
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """(name, shape) of all tensors of a checkpoint, in order of names."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Any:
    """One tensor of a checkpoint as a numpy array over the mapped file."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
