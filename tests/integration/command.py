"""Runs the seaboard command, and makes small event files for it."""

import os
import pathlib
import struct
import subprocess

BINARY = os.environ["SEABOARD_BIN"]
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"


def seaboard(*args, **options):
    """The finished command: returncode, stdout and stderr as bytes."""
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, timeout=120, check=False, **options)


def event_files():
    """Every event file among the fixtures, in a stable order."""
    return sorted(path for path in FIXTURES.rglob("*tfevents*") if path.is_file())


def _crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload):
    """One record around a payload."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def scalar(tag, step, value, wall_time=1700000000.0):
    """The payload of a scalar event in TF1's form. tag: bytes, shorter than 100."""
    inner = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes([len(inner)]) + inner
    steps = b"\x10" + varint(step) if step else b""
    return b"\x09" + struct.pack("<d", wall_time) + steps + b"\x2a" + bytes([len(summary)]) + summary


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, payload):
    """A field of bytes, as protobuf has it."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload
