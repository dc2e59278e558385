"""What can be saved: variables of all libraries as memory that is read and written, and the objects that lead to them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Held", "Module", "Variable", "children_of", "dtype_named", "held", "is_trackable", "is_variable", "text_array", "texts_of",
           "values_of"]

OWN = "_seaboard_"  # attributes of Modules that are not the program's


class Variable:
    """A numpy array with a name, whose value is assigned. dtype: as TensorFlow takes numbers, int32 and float32."""

    def __init__(self, initial_value: Any, dtype: Any = None, name: str | None = None):
        array = np.array(initial_value, dtype=dtype)
        if dtype is None and not hasattr(initial_value, "dtype"):
            array = array.astype({"int64": np.int32, "float64": np.float32}.get(array.dtype.name, array.dtype))
        self._array = array
        self.name = name

    @property
    def shape(self) -> tuple[int, ...]:
        """As numpy has it."""
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """As numpy has it."""
        return self._array.dtype

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself."""
        return self._array

    def assign(self, value: Any) -> Variable:
        """Sets all elements; the shape stays."""
        value = np.asarray(value)
        if value.shape != self.shape:
            raise ValueError(f"Cannot assign value of shape {value.shape} to a variable of shape {self.shape}")
        self._array[...] = value
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Adds to all elements."""
        return self.assign(self._array + delta)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtracts from all elements."""
        return self.assign(self._array - delta)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._array, dtype=dtype) if dtype is not None or copy else self._array

    def __int__(self) -> int:
        return int(self._array)

    def __index__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        return float(self._array)

    def __repr__(self) -> str:
        return f"<seaboard.train.Variable {self.name or ''} {self._array!r}>"


class Module:
    """An object whose attributes are saved, as far as they can be: arrays, variables, other Modules, lists, dictionaries.

    When an attribute comes after restore(), it gets the value that the file has for it.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if not name.startswith(OWN):
            for arrived in list(self.__dict__.get(OWN + "waiting", ())):
                arrived(name, value)


# ---- variables


def dtype_named(name: str) -> np.dtype[Any]:
    """numpy's type of TensorFlow's name; small floats come with the package ml_dtypes."""
    plain = name.removeprefix("q")  # quantized integers are stored as integers
    if plain in ("string", "variant", "resource"):
        return np.dtype(object)
    try:
        return np.dtype(plain)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, plain))


class Held(NamedTuple):
    """A variable while it is saved or restored."""

    memory: Any  # contiguous memory of the processor; of strings (texts, shape)
    full_name: str | None
    deliver: Callable[[Any], None] | None  # puts what was restored back; None: it is there already


def is_variable(thing: Any) -> bool:
    """Whether it is an array whose elements can be read and assigned."""
    if isinstance(thing, (np.ndarray, Variable)):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(thing, torch.Tensor):
        return True
    if isinstance(thing, type) or not hasattr(thing, "dtype"):
        return False
    return callable(getattr(thing, "assign", None)) and callable(getattr(thing, "numpy", None))


def full_name_of(variable: Any) -> str | None:
    """The global name of a variable, which files of TF1 have it under; None: it has none."""
    name = getattr(variable, "path", None) or getattr(variable, "name", None)
    return name.split(":")[0] if isinstance(name, str) and name else None


def held(variable: Any, is_written: bool) -> Held:
    """A variable as memory. is_written: it is to be restored."""
    if isinstance(variable, np.ndarray):
        return _held_array(variable, is_written, None)
    if isinstance(variable, Variable):
        return _held_array(variable.numpy(), is_written, variable.name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(variable, torch.Tensor):
        return _held_tensor(variable, is_written)
    name = full_name_of(variable)
    if getattr(variable, "_value", variable) is None:
        return _held_uninitialized(variable, name)
    value = np.asarray(variable.numpy())
    if value.dtype.kind in "OSU":
        return Held(texts_of(value), name, lambda texts: variable.assign(text_array(texts, value)))
    memory = np.empty(value.shape, value.dtype) if is_written else np.ascontiguousarray(value).reshape(value.shape)
    return Held(memory, name, lambda _: variable.assign(memory))


def _held_uninitialized(variable: Any, name: str | None) -> Held:
    """A variable of Keras that is made while its model is traced, and gets its value when that is done."""
    import keras

    memory = np.empty(tuple(variable.shape), dtype_named(str(variable.dtype)))

    def deliver(_: Any) -> None:
        variable._initializer = lambda shape, dtype=None: keras.ops.convert_to_tensor(memory, dtype)

    return Held(memory, name, deliver)


def _held_array(array: np.ndarray[Any, Any], is_written: bool, name: str | None) -> Held:
    def put(value: Any) -> None:
        array[...] = value

    if is_written and not array.flags.writeable:
        raise ValueError("an array that is read-only can't be restored; make a copy of it")
    if array.dtype.kind in "OSU":
        return Held(texts_of(array), name, lambda texts: put(text_array(texts, array)))
    if array.flags.c_contiguous and array.dtype.isnative:
        return Held(array, name, None)
    memory = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    return Held(memory, name, lambda _: put(memory))


def _held_tensor(tensor: Any, is_written: bool) -> Held:
    plain = tensor.detach()
    is_here = plain.device.type == "cpu" and plain.layout == sys.modules["torch"].strided
    if is_here and plain.is_contiguous() and not plain.is_conj() and not plain.is_neg():
        return Held(plain, None, None)
    memory = plain.cpu()
    memory = (memory.to_dense() if memory.is_sparse else memory).resolve_conj().resolve_neg().contiguous()
    return Held(memory, None, (lambda _: plain.copy_(memory)) if is_written else None)


def texts_of(array: np.ndarray[Any, Any]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """An array of texts as the library takes it: the texts, and their shape."""
    texts = tuple(array.reshape(-1).tolist())
    for text in texts:
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"an array of objects can be saved when they are texts, not {type(text).__name__}")
    return texts, array.shape


def text_array(texts: list[bytes], like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What was restored, as str where there was str."""
    is_str = like.dtype.kind == "U" or any(isinstance(old, str) for old in like.reshape(-1).tolist())
    found = np.empty(len(texts), object)
    found[:] = [text.decode(errors="surrogateescape") for text in texts] if is_str else texts
    return found.reshape(like.shape)


# ---- objects


def is_trackable(thing: Any) -> bool:
    """Whether it can be part of a checkpoint."""
    return (
        isinstance(thing, (Module, dict, list, tuple))
        or is_variable(thing)
        or (not isinstance(thing, type) and (hasattr(thing, "_trackable_children") or has_state(thing)))
        or variables_of(thing) is not None
    )


def has_state(thing: Any) -> bool:
    """Whether it answers its state and takes it back, as a dictionary or as a string."""
    return any(
        callable(getattr(thing, read, None)) and callable(getattr(thing, write, None))
        for read, write in (("state_dict", "load_state_dict"), ("serialize", "deserialize"))
    )


def has_state_dict(thing: Any) -> bool:
    """Whether it is saved by state_dict: not when TensorFlow or Keras know its variables."""
    return (
        not hasattr(thing, "_trackable_children")
        and callable(getattr(thing, "state_dict", None))
        and callable(getattr(thing, "load_state_dict", None))
        and not isinstance(thing, (Module, dict))
        and variables_of(thing) is None
    )


def variables_of(thing: Any) -> list[Any] | None:
    """The variables of a layer, a model or an optimizer of Keras with another backend than TensorFlow; None: it is none."""
    if isinstance(thing, type) or hasattr(thing, "_trackable_children"):
        return None
    found = getattr(thing, "variables", None)
    if not isinstance(found, (list, tuple)) or not all(is_variable(variable) for variable in found):
        return None
    return list(found)


def children_of(thing: Any) -> Iterable[tuple[str, Any]]:
    """(name, object) of what an object leads to."""
    if isinstance(thing, Module):
        found = [(name, value) for name, value in vars(thing).items() if not name.startswith(OWN)]
        return [(name, value) for name, value in found if is_trackable(value)]
    if hasattr(thing, "_trackable_children"):  # TensorFlow's own objects, and Keras' on TensorFlow
        return list(thing._trackable_children().items())
    if isinstance(thing, dict):
        found = [(name, value) for name, value in thing.items() if is_trackable(value)]
        for name, _ in found:
            if not isinstance(name, str):
                raise ValueError(f"a dictionary with the key {name!r} can't be saved: keys must be strings")
        return found
    if isinstance(thing, (list, tuple)):
        return [(str(index), value) for index, value in enumerate(thing) if is_trackable(value)]
    variables = variables_of(thing)
    return [("variables", variables)] if variables is not None else []


def values_of(thing: Any) -> tuple[dict[str, Any], Callable[[dict[str, Any]], None]] | None:
    """What an object saves besides variables, by name, and what takes it back; None: nothing."""
    if callable(getattr(thing, "serialize", None)) and callable(getattr(thing, "deserialize", None)):

        def put(found: dict[str, Any]) -> None:
            thing.deserialize(found["py_state"])

        return {"py_state": np.array(thing.serialize(), object)}, put
    if hasattr(thing, "_serialize_to_tensors") and not is_variable(thing):
        try:
            tensors = thing._serialize_to_tensors()
        except NotImplementedError:
            tensors = None
        if tensors and all(isinstance(name, str) and hasattr(value, "numpy") for name, value in tensors.items()):

            def restore(found: dict[str, Any]) -> None:
                thing._restore_from_tensors({name.removeprefix("table"): value for name, value in found.items()})

            named = {"table" + name if name.startswith("-") else name: value for name, value in tensors.items()}
            return {name: np.asarray(value.numpy()) for name, value in named.items()}, restore
    return None
