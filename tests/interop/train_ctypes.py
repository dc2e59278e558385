"""seaboard/train.h from Python, by ctypes, for the tests beside this file. Ops are addresses; arrays are numpy's."""

import ctypes as c

import numpy as np

from ckpt_ctypes import Err, SeaboardError, library

TYPES = {1: np.float32, 3: np.int32, 9: np.int64, 10: np.bool_, 4: np.uint8}
NUMBERS = {np.dtype(v): k for k, v in TYPES.items()}


class Dims(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("at", c.c_int64 * 8)]


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("rank", c.c_uint32), ("dims", c.POINTER(c.c_int64)),
                ("strides", c.c_void_p)]


class Bytes(c.Structure):
    _fields_ = [("p", c.c_void_p), ("n", c.c_size_t)]


class Feed(c.Structure):
    _fields_ = [("op", c.c_void_p), ("value", Array)]


ALL_AXES = Dims(2**32 - 1)


def dims(*sizes):
    return Dims(len(sizes), (c.c_int64 * 8)(*sizes))


def array(value, kept):
    value = np.ascontiguousarray(value)
    sizes = (c.c_int64 * max(1, value.ndim))(*value.shape)
    kept.append((value, sizes))
    return Array(value.ctypes.data, NUMBERS[value.dtype], value.ndim, sizes, None)


class Net:
    """net.add("relu", x) calls sb_net_relu(g, x, NULL)."""

    def __init__(self):
        self.g, self.kept, err = c.c_void_p(), [], Err()
        assert library.sb_net_new(c.byref(self.g), c.byref(err)) == 0, err.text

    def add(self, name, *args):
        call = getattr(library, f"sb_net_{name}")
        call.restype = c.c_void_p
        given = [c.c_void_p(a.value) if isinstance(a, c.c_void_p) else a for a in args]
        op = call(self.g, *given, None)
        err = Err()
        if library.sb_net_check(self.g, c.byref(err)) != 0:
            raise SeaboardError(err.text.decode())
        return c.c_void_p(op)

    def placeholder(self, value):
        return self.add("placeholder", NUMBERS[value.dtype], dims(*value.shape))

    def gradients(self, y, xs):
        given = (c.c_void_p * len(xs))(*[x.value for x in xs])
        out = (c.c_void_p * len(xs))()
        assert library.sb_net_gradients(self.g, y, given, len(xs), out)
        return [c.c_void_p(p) for p in out]

    def name(self, op):
        library.sb_op_name.restype = c.c_char_p
        return library.sb_op_name(op).decode()

    def graph_def(self):
        out, err = Bytes(), Err()
        assert library.sb_net_graph_def(self.g, c.byref(out), c.byref(err)) == 0, err.text
        return c.string_at(out.p, out.n)

    def run(self, fetches, feeds):
        session, err, kept = c.c_void_p(), Err(), []
        assert library.sb_net_session_open(c.byref(session), self.g, None, c.byref(err)) == 0, err.text
        ops = (c.c_void_p * len(fetches))(*[f.value for f in fetches])
        given = (Feed * max(1, len(feeds)))(*[Feed(op.value, array(value, kept)) for op, value in feeds])
        results = (Array * len(fetches))()
        status = library.sb_net_run(session, ops, c.c_size_t(len(fetches)), given, c.c_size_t(len(feeds)), results,
                                    c.byref(err))
        if status != 0:
            raise SeaboardError(err.text.decode())
        values = [numpy_of(r) for r in results]
        library.sb_net_session_close(session)
        return values

    def close(self):
        library.sb_net_free(self.g)


def numpy_of(result):
    shape = tuple(result.dims[i] for i in range(result.rank))
    kind = np.dtype(TYPES[result.dtype])
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    return np.frombuffer(c.string_at(result.data, size), kind).reshape(shape).copy()
