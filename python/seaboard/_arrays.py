"""Arrays of other libraries as numpy arrays, where a method needs numpy itself."""

from __future__ import annotations

from typing import Any


def as_numpy(array: Any) -> Any:
    """A numpy array of a tensor, wherever it lives, of a number or of a list."""
    import numpy as np

    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        array = array.detach()
        if hasattr(array, "cpu"):
            array = array.cpu()
        if str(getattr(array, "dtype", "")).endswith("bfloat16"):
            array = array.float()
    if hasattr(array, "numpy") and not callable(getattr(array, "__array__", None)):
        array = array.numpy()
    return np.asarray(array)


def strings_of(data: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """A text, a nested list of texts or an array of texts as a flat tuple and its shape."""
    if isinstance(data, (str, bytes)):
        return (data,), ()
    if hasattr(data, "numpy"):  # TensorFlow's strings
        data = data.numpy()
        if isinstance(data, (str, bytes)):
            return (data,), ()
    if hasattr(data, "shape") and hasattr(data, "tolist"):
        flat = data.reshape(-1).tolist()
        return tuple(flat), tuple(data.shape)
    shape: list[int] = []
    level = list(data)
    shape.append(len(level))
    while level and isinstance(level[0], (list, tuple)):
        shape.append(len(level[0]))
        level = [item for row in level for item in row]
    return tuple(level), tuple(shape)
