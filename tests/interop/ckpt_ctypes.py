"""seaboard/checkpoint.h from Python, by ctypes, for the tests beside this file. Variables are numpy arrays."""

import ctypes as c
import os
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("SEABOARD_LIB", str(ROOT / "build/libseaboard.so"))
DTYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
          "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23}
STRING = 7
NEXT_NUMBER = -(2**63)
BUFFERED = 1


class Err(c.Structure):
    _fields_ = [("code", c.c_int), ("offset", c.c_uint64), ("text", c.c_char * 496)]


class Variable(c.Structure):
    _fields_ = [("size", c.c_size_t), ("dtype", c.c_int), ("rank", c.c_uint32), ("dims", c.POINTER(c.c_int64)),
                ("data", c.c_void_p), ("full_name", c.c_char_p)]


class SaveOpts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("durability", c.c_int), ("shards", c.c_uint32)]


class ManagerOpts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("directory", c.c_char_p), ("checkpoint_name", c.c_char_p), ("max_to_keep", c.c_uint64),
                ("keep_every_n_hours", c.c_double), ("step_counter", c.c_void_p), ("checkpoint_interval", c.c_int64),
                ("init", c.c_void_p), ("init_ud", c.c_void_p), ("save", SaveOpts)]


class SaverOpts(c.Structure):
    _fields_ = [("size", c.c_size_t), ("max_to_keep", c.c_uint64), ("keep_every_n_hours", c.c_double),
                ("pad_step_number", c.c_uint32), ("relative_paths", c.c_uint32), ("durability", c.c_int), ("shards", c.c_uint32),
                ("reshape", c.c_uint32), ("latest_filename", c.c_char_p)]


class Slice(c.Structure):
    _fields_ = [("p", c.c_char_p), ("n", c.c_size_t)]


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("rank", c.c_uint32), ("dims", c.POINTER(c.c_int64)),
                ("strides", c.c_void_p)]


class SeaboardError(Exception):
    pass


library = c.CDLL(LIBRARY)
library.sb_checkpoint_root.restype = c.c_void_p
library.sb_checkpoint_root.argtypes = [c.c_void_p]
library.sb_checkpoint_free.argtypes = [c.c_void_p]
library.sb_checkpoint_save_counter.restype = c.c_int64
library.sb_checkpoint_save_counter.argtypes = [c.c_void_p]
library.sb_restore_unused.restype = c.c_char_p
library.sb_restore_unused.argtypes = [c.c_void_p, c.c_size_t]
library.sb_manager_latest.restype = c.c_char_p
library.sb_manager_latest.argtypes = [c.c_void_p]
library.sb_manager_at.restype = c.c_char_p
library.sb_manager_at.argtypes = [c.c_void_p, c.c_size_t]
library.sb_manager_close.argtypes = [c.c_void_p]
library.sb_saver_free.argtypes = [c.c_void_p]
library.sb_saver_at.restype = c.c_char_p
library.sb_restore_expect_partial.argtypes = [c.c_void_p]


def call(name, *args):
    err = Err()
    if getattr(library, name)(*args, c.byref(err)) != 0:
        raise SeaboardError(err.text.decode())


def variable(array, full_name, kept):
    """An sb_variable over an array; what it points to is kept alive in a list."""
    dims = (c.c_int64 * max(array.ndim, 1))(*array.shape)
    kept.append((array, dims))
    return c.byref(Variable(c.sizeof(Variable), dtype_of(array), array.ndim, dims, array.ctypes.data,
                            full_name.encode() if full_name else None))


class Strings:
    """A numpy array of bytes objects as the library has it: one sb_slice an element."""

    def __init__(self, values):
        self.shape = np.shape(values)
        texts = np.asarray(values, object).reshape(-1).tolist()
        self.count = len(texts)
        self.slices = (Slice * max(self.count, 1))(*[Slice(text, len(text)) for text in texts])
        self.ctypes = self
        self.data = c.addressof(self.slices)
        self.ndim = len(self.shape)

    def values(self):
        return np.array(read_slices(self.data, self.count), object).reshape(self.shape)


def read_slices(address, count):
    words = (c.c_size_t * (2 * count)).from_address(address) if count else []
    return [c.string_at(words[2 * i], words[2 * i + 1]) for i in range(count)]


def dtype_of(array):
    return STRING if isinstance(array, Strings) else DTYPES[array.dtype.name]


def array_of(values, kept):
    """An sb_array over a numpy array or Strings."""
    dims = (c.c_int64 * max(values.ndim, 1))(*values.shape)
    kept.append((values, dims))
    return Array(values.ctypes.data, dtype_of(values), values.ndim, dims, None)


def text(value):
    return None if value is None else value.decode()


class Checkpoint:
    """A tree of objects; each object is the address of its sb_object."""

    def __init__(self):
        self.p, self.arrays = c.c_void_p(), []
        call("sb_checkpoint_new", c.byref(self.p))
        self.root = library.sb_checkpoint_root(self.p)

    def close(self):
        library.sb_checkpoint_free(self.p)
        self.p = None

    def add(self, parent, name):
        out = c.c_void_p()
        call("sb_object_add", c.byref(out), c.c_void_p(parent), name.encode())
        return out.value

    def link(self, parent, name, child):
        call("sb_object_link", c.c_void_p(parent), name.encode(), c.c_void_p(child))

    def add_variable(self, parent, name, array, full_name=None):
        out = c.c_void_p()
        call("sb_object_add_variable", c.byref(out), c.c_void_p(parent), name.encode(), variable(array, full_name, self.arrays))
        return out.value

    def add_slot(self, optimizer, owner, name, array, full_name=None):
        out = c.c_void_p()
        call("sb_object_add_slot", c.byref(out), c.c_void_p(optimizer), c.c_void_p(owner), name.encode(),
             variable(array, full_name, self.arrays))
        return out.value

    def set_value(self, owner, name, values):
        call("sb_object_set_value", c.c_void_p(owner), name.encode(), c.byref(array_of(values, [])))

    def get_value(self, owner, name):
        out = Array()
        call("sb_object_get_value", c.c_void_p(owner), name.encode(), c.byref(out))
        shape = tuple(out.dims[i] for i in range(out.rank))
        count = int(np.prod(shape, dtype=int))
        if out.dtype == STRING:
            return np.array(read_slices(out.data, count), object).reshape(shape)
        kind = next(name for name, number in DTYPES.items() if number == out.dtype)
        return np.frombuffer(c.string_at(out.data, count * np.dtype(kind).itemsize), kind).reshape(shape)

    def save(self, prefix, shards=1):
        path = c.c_char_p()
        call("sb_checkpoint_save", self.p, str(prefix).encode(), c.byref(SaveOpts(c.sizeof(SaveOpts), BUFFERED, shards)),
             c.byref(path))
        return text(path.value)

    def write(self, prefix):
        call("sb_checkpoint_write", self.p, str(prefix).encode(), None)

    def restore(self, path, how="restore"):
        out = c.c_void_p()
        call(f"sb_checkpoint_{how}", self.p, str(path).encode(), c.byref(out))
        return Restore(out)

    @property
    def save_counter(self):
        return library.sb_checkpoint_save_counter(self.p)


class Restore:
    def __init__(self, p):
        self.p = p

    def assert_consumed(self):
        call("sb_restore_assert_consumed", self.p)

    def assert_existing_objects_matched(self):
        call("sb_restore_assert_existing_objects_matched", self.p)

    def expect_partial(self):
        library.sb_restore_expect_partial(self.p)

    def unused(self):
        keys = []
        while (key := library.sb_restore_unused(self.p, len(keys))) is not None:
            keys.append(key.decode())
        return keys


class Manager:
    def __init__(self, checkpoint, directory, max_to_keep):
        self.p = c.c_void_p()
        opts = ManagerOpts(size=c.sizeof(ManagerOpts), directory=str(directory).encode(), max_to_keep=max_to_keep)
        opts.save.durability = BUFFERED
        call("sb_manager_open", c.byref(self.p), checkpoint.p, c.byref(opts))

    def close(self):
        library.sb_manager_close(self.p)

    def save(self):
        path = c.c_char_p()
        call("sb_manager_save", self.p, c.c_int64(NEXT_NUMBER), c.byref(path))
        return text(path.value)

    def restore_or_initialize(self):
        path = c.c_char_p()
        call("sb_manager_restore_or_initialize", self.p, c.byref(path))
        return text(path.value)

    @property
    def latest(self):
        return text(library.sb_manager_latest(self.p))

    @property
    def checkpoints(self):
        found = []
        while (path := library.sb_manager_at(self.p, len(found))) is not None:
            found.append(path.decode())
        return found


class Saver:
    def __init__(self, variables, **opts):
        self.p, self.arrays = c.c_void_p(), []
        call("sb_saver_new", c.byref(self.p), c.byref(SaverOpts(size=c.sizeof(SaverOpts), durability=BUFFERED, **opts)))
        for name, array in variables.items():
            call("sb_saver_add", self.p, name.encode(), variable(array, None, self.arrays))

    def close(self):
        library.sb_saver_free(self.p)

    def save(self, path, step, meta=b""):
        out = c.c_char_p()
        call("sb_saver_save", self.p, str(path).encode(), c.c_int64(step), Slice(meta, len(meta)), c.byref(out))
        return text(out.value)

    def restore(self, path):
        call("sb_saver_restore", self.p, str(path).encode())

    def recover(self, paths):
        given = (c.c_char_p * len(paths))(*[path.encode() for path in paths])
        call("sb_saver_recover_last_checkpoints", self.p, given, c.c_size_t(len(paths)))

    @property
    def checkpoints(self):
        found = []
        while (path := library.sb_saver_at(self.p, c.c_size_t(len(found)))) is not None:
            found.append(path.decode())
        return found


def write_tensors(prefix, tensors):
    """A checkpoint of named tensors: (name, array, shape of the whole or None, extents or None)."""
    writer, kept = c.c_void_p(), []
    call("sb_ckpt_writer_open", c.byref(writer), str(prefix).encode(), c.byref(SaveOpts(c.sizeof(SaveOpts), BUFFERED, 1)))
    for name, values, shape, extents in tensors:
        dims = (c.c_int64 * len(shape))(*shape) if shape else None
        pairs = (c.c_int64 * len(extents))(*extents) if extents else None
        call("sb_ckpt_add", writer, name.encode(), c.byref(array_of(values, kept)), dims, pairs)
    call("sb_ckpt_finish", writer)


def merge(prefixes, prefix):
    given = (c.c_char_p * len(prefixes))(*[str(one).encode() for one in prefixes])
    call("sb_ckpt_merge", given, c.c_size_t(len(prefixes)), str(prefix).encode(), None)


def latest_checkpoint(directory):
    room = c.create_string_buffer(4096)
    call("sb_latest_checkpoint", str(directory).encode(), room, c.c_size_t(len(room)))
    return room.value.decode()


def mirror(graph, reader):
    """A program with the objects of a TrackableObjectGraph (TensorFlow's message): (Checkpoint, {key: memory}, values).

    Memory is a numpy array, or Strings. values: (object, name, key) of those that the checkpoint keeps itself.
    save_counter is left out: the library makes it itself.
    """
    program, memory, values, built = Checkpoint(), {}, [], {}
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()

    def zeros(key, shape):
        return Strings(np.full(shape, b"", object)) if types[key].name == "string" else np.zeros(shape, types[key].as_numpy_dtype)

    def memory_of(attribute):
        key = attribute.checkpoint_key
        memory[key] = zeros(key, shapes[key])
        return memory[key]

    def add(parent, name, node):
        attribute = node.attributes[0] if node.attributes else None
        if attribute and attribute.name == "VARIABLE_VALUE":
            return program.add_variable(parent, name, memory_of(attribute), attribute.full_name)
        made = program.add(parent, name)
        for attribute in node.attributes:
            for key in sorted(key for key in shapes if key.startswith(attribute.checkpoint_key)):
                values.append((made, attribute.name + key.removeprefix(attribute.checkpoint_key), key))
                # of another shape than the file's; restoring brings that
                program.set_value(made, values[-1][1], zeros(key, [0] * len(shapes[key])))
        return made

    built[0] = program.root
    queue = [0]
    for node_id in queue:
        for child in graph.nodes[node_id].children:
            if node_id == 0 and child.local_name == "save_counter":
                continue
            if child.node_id in built:
                program.link(built[node_id], child.local_name, built[child.node_id])
                continue
            built[child.node_id] = add(built[node_id], child.local_name, graph.nodes[child.node_id])
            queue.append(child.node_id)
    for node_id in queue:
        for slot in graph.nodes[node_id].slot_variables:
            attribute = graph.nodes[slot.slot_variable_node_id].attributes[0]
            program.add_slot(built[node_id], built[slot.original_variable_node_id], slot.slot_name, memory_of(attribute),
                             attribute.full_name)
    return program, memory, values
