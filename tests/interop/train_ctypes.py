"""seaboard/train.h from Python, by ctypes, for the tests beside this file. Ops are addresses; arrays are numpy's."""

import ctypes as c

import numpy as np

from ckpt_ctypes import Err, SeaboardError, library

TYPES = {1: np.float32, 3: np.int32, 9: np.int64, 10: np.bool_, 4: np.uint8}
STRING = 7
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


class Optimizer(c.Structure):
    _fields_ = [("size", c.c_size_t), ("learning_rate", c.c_double), ("momentum", c.c_double), ("beta1", c.c_double),
                ("beta2", c.c_double), ("epsilon", c.c_double), ("kind", c.c_int), ("nesterov", c.c_uint32)]


class SessionOpts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("seed", c.c_uint64), ("threads", c.c_uint32), ("flags", c.c_uint32), ("saver", c.c_void_p)]


ALL_AXES = Dims(2**32 - 1)
GRADIENT_DESCENT, MOMENTUM, ADAM = range(3)


def dims(*sizes):
    return Dims(len(sizes), (c.c_int64 * 8)(*sizes))


def array(value, kept):
    """kept holds what the array points into."""
    if isinstance(value, (str, bytes)):
        text = value.encode() if isinstance(value, str) else value
        one = Bytes(c.cast(c.c_char_p(text), c.c_void_p), len(text))
        kept.append((text, one))
        return Array(c.addressof(one), STRING, 0, None, None)
    value = np.asarray(value, order="C")
    sizes = (c.c_int64 * max(1, value.ndim))(*value.shape)
    kept.append((value, sizes))
    return Array(value.ctypes.data, NUMBERS[value.dtype], value.ndim, sizes, None)


class Net:
    """net.add("relu", x) calls sb_net_relu(g, x, NULL)."""

    def __init__(self):
        self.g, self.kept, err = c.c_void_p(), [], Err()
        assert library.sb_net_new(c.byref(self.g), c.byref(err)) == 0, err.text

    def add(self, name, *args, called=None):
        return self.call(name, *args, called.encode() if called else None)

    def call(self, name, *args):
        """A function that takes no name last."""
        call = getattr(library, f"sb_net_{name}")
        call.restype = c.c_void_p
        given = [c.c_void_p(a.value) if isinstance(a, c.c_void_p) else a for a in args]
        op = call(self.g, *given)
        err = Err()
        if library.sb_net_check(self.g, c.byref(err)) != 0:
            raise SeaboardError(err.text.decode())
        return c.c_void_p(op)

    def variable(self, value, trainable=True, called=None):
        return self.add("variable_of", c.byref(array(value, self.kept)), c.c_bool(trainable), called=called)

    def constant(self, value):
        return self.add("constant", c.byref(array(value, self.kept)))

    def group(self, ops, called=None):
        return self.add("group", op_list(ops), c.c_size_t(len(ops)), called=called)

    def minimize(self, loss, step, **options):
        return self.call("minimize", c.byref(Optimizer(size=c.sizeof(Optimizer), **options)), loss, step)

    def find(self, name):
        library.sb_net_find.restype = c.c_void_p
        return c.c_void_p(library.sb_net_find(self.g, name.encode()))

    def placeholder(self, value):
        return self.add("placeholder", NUMBERS[value.dtype], dims(*value.shape))

    def gradients(self, y, xs):
        """None where y does not depend on it."""
        out = (c.c_void_p * len(xs))()
        assert library.sb_net_gradients(self.g, y, op_list(xs), c.c_size_t(len(xs)), out)
        return [c.c_void_p(p) if p else None for p in out]

    def name(self, op):
        library.sb_op_name.restype = c.c_char_p
        return library.sb_op_name(op).decode()

    def graph_def(self):
        out, err = Bytes(), Err()
        assert library.sb_net_graph_def(self.g, c.byref(out), c.byref(err)) == 0, err.text
        return c.string_at(out.p, out.n)

    def session(self, seed=0, threads=0):
        return Session(self, seed, threads)

    def run(self, fetches, feeds):
        with self.session() as session:
            return session.run(fetches, feeds)

    def close(self):
        library.sb_net_free(self.g)


class Session:
    def __init__(self, net, seed, threads):
        self.s, self.kept, err = c.c_void_p(), [], Err()
        options = SessionOpts(size=c.sizeof(SessionOpts), seed=seed, threads=threads)
        assert library.sb_net_session_open(c.byref(self.s), net.g, c.byref(options), c.byref(err)) == 0, err.text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        library.sb_net_session_close(self.s)

    def run(self, fetches, feeds=(), traced=False):
        """The values of the fetches; traced: (values, a serialized RunMetadata)."""
        err, results, metadata = Err(), (Array * len(fetches))(), Bytes()
        self.kept = []
        given = (Feed * max(1, len(feeds)))(*[Feed(op.value, array(value, self.kept)) for op, value in feeds])
        arguments = [self.s, op_list(fetches), c.c_size_t(len(fetches)), given, c.c_size_t(len(feeds)), results]
        if traced:
            status = library.sb_net_run_traced(*arguments, c.byref(metadata), c.byref(err))
        else:
            status = library.sb_net_run(*arguments, c.byref(err))
        if status != 0:
            raise SeaboardError(err.text.decode())
        values = [numpy_of(r) for r in results]
        return (values, c.string_at(metadata.p, metadata.n)) if traced else values


def op_list(ops):
    return (c.c_void_p * max(1, len(ops)))(*[op.value for op in ops])


def numpy_of(result):
    """None of an op that has no value; a string as bytes."""
    if not result.data:
        return None
    if result.dtype == STRING:
        one = c.cast(result.data, c.POINTER(Bytes))[0]
        return c.string_at(one.p, one.n)
    shape = tuple(result.dims[i] for i in range(result.rank))
    kind = np.dtype(TYPES[result.dtype])
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    return np.frombuffer(c.string_at(result.data, size), kind).reshape(shape).copy()
