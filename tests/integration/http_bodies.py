"""Unpacks bodies of replies with the system's libzstd."""

import ctypes
import ctypes.util


def unzstd(packed, size):
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(size + 1)
    n = library.ZSTD_decompress(room, ctypes.c_size_t(size + 1), packed, ctypes.c_size_t(len(packed)))
    assert n == size
    return room.raw[:n]


def frame_size(packed):
    """How many bytes a frame holds, as its header tells."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_getFrameContentSize.restype = ctypes.c_uint64
    size = library.ZSTD_getFrameContentSize(packed, ctypes.c_size_t(len(packed)))
    assert size < 1 << 40  # neither unknown nor an error
    return size
