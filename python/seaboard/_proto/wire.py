"""Protobuf's wire format: keys, varints and fixed numbers, both ways."""

import struct
from typing import Any, Callable, Iterator, NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a message ends in the middle of a number")
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result & ((1 << 64) - 1), at
        shift += 7


def fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """(field number, wire type, value) of a message: an int for numbers as they are stored, else a memoryview."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            value = int.from_bytes(data[at : at + size], "little")
            at += size
        elif kind == BYTES:
            size, at = read_varint(data, at)
            value = data[at : at + size]
            at += size
        else:
            raise ValueError(f"field {number} has the wire type {kind}, which no message here has")
        if at > len(data) or number == 0:
            raise ValueError(f"field {number} runs past the end of its message")
        yield number, kind, value


class Scalar(NamedTuple):
    """How one type of numbers or texts is stored."""

    wire: int
    default: Any
    encode: Callable[[Any], bytes]
    decode: Callable[[Any], Any]


def _signed(bits: int, number: int) -> int:
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def _bounded(low: int, high: int) -> Callable[[Any], bytes]:
    def encode(value: Any) -> bytes:
        number = int(value)
        if not low <= number < high:
            raise ValueError(f"{value} is out of range")
        return varint(number)

    return encode


def _packed(form: str) -> tuple[Callable[[Any], bytes], Callable[[int], Any]]:
    packer = struct.Struct(form)
    return packer.pack, lambda bits: packer.unpack(bits.to_bytes(packer.size, "little"))[0]


def _text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


SCALARS = {
    "int32": Scalar(VARINT, 0, _bounded(-(1 << 31), 1 << 31), lambda n: _signed(32, n)),
    "int64": Scalar(VARINT, 0, _bounded(-(1 << 63), 1 << 63), lambda n: _signed(64, n)),
    "uint32": Scalar(VARINT, 0, _bounded(0, 1 << 32), lambda n: n & 0xFFFFFFFF),
    "uint64": Scalar(VARINT, 0, _bounded(0, 1 << 64), lambda n: n),
    "enum": Scalar(VARINT, 0, _bounded(-(1 << 31), 1 << 31), lambda n: _signed(32, n)),
    "bool": Scalar(VARINT, False, lambda value: b"\1" if value else b"\0", bool),
    "double": Scalar(FIXED64, 0.0, *_packed("<d")),
    "float": Scalar(FIXED32, 0.0, *_packed("<f")),
    "fixed64": Scalar(FIXED64, 0, *_packed("<Q")),
    "string": Scalar(BYTES, "", _text, lambda data: bytes(data).decode("utf-8", "surrogateescape")),
    "bytes": Scalar(BYTES, b"", _text, bytes),
}
