"""What points of a log hold, from the bytes that the native reader gives."""

from __future__ import annotations

from typing import Any

_TYPES = {
    1: ("<f4", "float_val"),
    2: ("<f8", "double_val"),
    3: ("<i4", "int_val"),
    4: ("u1", "int_val"),
    5: ("<i2", "int_val"),
    6: ("i1", "int_val"),
    8: ("<c8", "scomplex_val"),
    9: ("<i8", "int64_val"),
    10: ("?", "bool_val"),
    17: ("<u2", "int_val"),
    18: ("<c16", "dcomplex_val"),
    19: ("<f2", "half_val"),
    22: ("<u4", "uint32_val"),
    23: ("<u8", "uint64_val"),
}
STRING, BFLOAT16 = 7, 14


def decode(kind: str, items: list[list[bytes]] | None) -> list[Any]:
    """The points of a series that is not one of scalars."""
    items = items or []
    if kind == "text":
        texts = [[item.decode("utf-8", "replace") for item in point] for point in items]
        return [point[0] if len(point) == 1 else point for point in texts]
    if kind in ("images", "audio"):
        return items
    from seaboard._proto.messages import Summary

    values = [Summary.Value.FromString(point[0]) for point in items]
    if kind == "histograms":
        return [histogram_rows(value) for value in values]
    return [make_ndarray(value.tensor) if value.HasField("tensor") else None for value in values]


def histogram_rows(value: Any) -> Any:
    """(left, right, count) of each bucket."""
    import numpy as np

    if value.HasField("tensor"):
        return make_ndarray(value.tensor).reshape(-1, 3)
    histo = value.histo
    limits, counts = np.array(histo.bucket_limit), np.array(histo.bucket)
    rows = np.stack([np.concatenate([[-np.inf], limits[:-1]]), limits, counts], axis=1)
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        return rows[:0]
    rows = rows[filled[0] : filled[-1] + 1].copy()
    rows[0, 0] = max(rows[0, 0], histo.min)
    rows[-1, 1] = min(rows[-1, 1], histo.max)
    return rows


def make_ndarray(tensor: Any) -> Any:
    """The numpy array of a TensorProto."""
    import numpy as np

    shape = [dim.size for dim in tensor.tensor_shape.dim]
    count = int(np.prod(shape)) if shape else 1
    if tensor.dtype == STRING:
        strings = list(tensor.string_val)
        strings = strings * count if len(strings) == 1 else strings
        made = np.empty(len(strings), object)
        made[:] = strings
        return made.reshape(shape)
    if tensor.dtype == BFLOAT16:
        bits = np.frombuffer(tensor.tensor_content, "<u2") if tensor.tensor_content else np.array(tensor.half_val, "u2")
        return _filled((bits.astype("u4") << 16).view("f4"), count).reshape(shape)
    if tensor.dtype not in _TYPES:
        raise TypeError(f"a tensor of the data type {tensor.dtype} is no numpy array")
    dtype, field = _TYPES[tensor.dtype]
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype).copy().reshape(shape)
    stored = getattr(tensor, field)
    if field.endswith("complex_val"):
        parts = np.array(stored, "f4" if dtype == "<c8" else "f8")
        return _filled(parts.view(dtype), count).reshape(shape)
    if field == "half_val":
        return _filled(np.array(stored, "u2").view("<f2"), count).reshape(shape)
    return _filled(np.array(stored, dtype), count).reshape(shape)


def _filled(values: Any, count: int) -> Any:
    """One value for many elements is repeated."""
    import numpy as np

    return np.repeat(values, count) if len(values) == 1 and count > 1 else values


def tensor_proto(value: Any) -> Any:
    """A TensorProto of numbers or texts, as TensorFlow's writer stores them."""
    from seaboard._arrays import as_numpy, strings_of
    from seaboard._proto import messages as pb

    if isinstance(value, (str, bytes)) or getattr(getattr(value, "dtype", None), "name", "") == "string":
        strings, shape = strings_of(value)
        stored = [item.encode() if isinstance(item, str) else item for item in strings]
        tensor = pb.TensorProto(dtype=STRING, string_val=stored)
    else:
        array = as_numpy(value)
        number = next((key for key, (dtype, _) in _TYPES.items() if array.dtype == dtype), None)
        if number is None:
            raise TypeError(f"an array of dtype {array.dtype} can't be stored in a tensor")
        shape = array.shape
        tensor = pb.TensorProto(dtype=number, tensor_content=array.tobytes())
    tensor.tensor_shape.CopyFrom(pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in shape]))
    return tensor
