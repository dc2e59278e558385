"""All points as columns (sb_reader_table_read, by ctypes) against TensorBoard's own accumulator, over the fixtures."""

import ctypes as c
import pathlib

import numpy as np
import pytest
from sbctypes import LIBRARY, Err, Sized
from tensorboard.backend.event_processing import io_wrapper, plugin_event_accumulator
from tensorboard.util import tensor_util

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
SCALAR, IMAGES, TEXT = 1, 3, 5
PLUGINS = {"scalars": SCALAR, "images": IMAGES, "text": TEXT}


class Bytes(c.Structure):
    """A slice whose bytes may hold zeros."""

    _fields_ = [("p", c.c_void_p), ("n", c.c_size_t)]

    def get(self):
        return c.string_at(self.p, self.n)


class Columns(c.Structure):
    _fields_ = [
        ("run", c.c_char_p),
        ("tag", Bytes),
        ("kind", c.c_int),
        ("plugin_name", Bytes),
        ("plugin_content", Bytes),
        ("display_name", Bytes),
        ("description", Bytes),
        ("data_class", c.c_int32),
        ("count", c.c_size_t),
        ("steps", c.POINTER(c.c_int64)),
        ("wall_times", c.POINTER(c.c_double)),
        ("values", c.POINTER(c.c_double)),
        ("items", c.POINTER(Bytes)),
        ("ends", c.POINTER(c.c_size_t)),
        ("skipped", c.c_size_t),
        ("positions", c.POINTER(c.c_uint64)),
    ]

    def points(self):
        """(step, wall time, number or list of bytes) of every point."""
        for i in range(self.count):
            if self.kind == SCALAR:
                value = self.values[i]
            else:
                first = self.ends[i - 1] if i else 0
                value = [self.items[k].get() for k in range(first, self.ends[i])]
            yield self.steps[i], self.wall_times[i], value


class TableOpts(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("run", c.c_char_p),
        ("tags", c.c_void_p),
        ("tag_count", c.c_size_t),
        ("kinds", c.c_uint32),
        ("threads", c.c_uint32),
        ("max_payload", c.c_uint64),
        ("max_bytes", c.c_uint64),
        ("resize", c.c_void_p),
        ("ud", c.c_void_p),
        ("columns", c.c_uint32),
        ("flags", c.c_uint32),
    ]


def library():
    lib = c.CDLL(LIBRARY)
    lib.sb_reader_table_read.argtypes = [c.POINTER(c.c_void_p), c.c_char_p, c.POINTER(TableOpts), c.POINTER(Err)]
    lib.sb_reader_table_at.argtypes = [c.c_void_p, c.c_size_t]
    lib.sb_reader_table_at.restype = c.POINTER(Columns)
    lib.sb_reader_table_free.argtypes = [c.c_void_p]
    return lib


def read_table(folder):
    """{run: {tag: (kind, points)}}"""
    lib, table, err = library(), c.c_void_p(), Err()
    opts = TableOpts(kinds=sum(1 << kind for kind in PLUGINS.values()))
    status = lib.sb_reader_table_read(c.byref(table), str(folder).encode(), c.byref(opts), c.byref(err))
    assert status == 0, err.text
    runs, i = {}, 0
    while columns := lib.sb_reader_table_at(table, i):
        one = columns.contents
        tag = one.tag.get().decode(errors="replace")
        runs.setdefault(one.run.decode(), {})[tag] = (one.kind, list(one.points()))
        i += 1
    lib.sb_reader_table_free(table)
    return runs


def value_of(kind, proto):
    if kind == SCALAR:
        return float(np.asarray(tensor_util.make_ndarray(proto)).item())
    strings = list(proto.string_val) or [s for s in tensor_util.make_ndarray(proto).ravel()]
    return strings[2:] if kind == IMAGES else strings


def read_accumulator(folder):
    """{tag: (kind, points)} of one run, as TensorBoard has it in memory."""
    loaded = plugin_event_accumulator.EventAccumulator(str(folder), size_guidance={}, tensor_size_guidance={
        plugin: 0 for plugin in PLUGINS
    }, purge_orphaned_data=False)
    loaded.Reload()
    found = {}
    for plugin, kind in PLUGINS.items():
        try:
            tags = loaded.PluginTagToContent(plugin)
        except KeyError:
            continue
        for tag in tags:
            events = loaded.Tensors(tag)
            found[tag] = (kind, [(e.step, e.wall_time, value_of(kind, e.tensor_proto)) for e in events])
    return found


def same(ours, theirs):
    (kind, mine), (other_kind, wanted) = ours, theirs
    if kind != other_kind or len(mine) != len(wanted):
        return False
    for (step, wall, value), (other_step, other_wall, other) in zip(mine, wanted):
        if step != other_step or wall != other_wall:
            return False
        if kind == SCALAR and not (value == other or (np.isnan(value) and np.isnan(other))):
            return False
        if kind != SCALAR and value != other:
            return False
    return True


@pytest.mark.parametrize("folder", ["tf/v1", "tf/v2", "torch_writer"])
def test_columns_are_what_tensorboard_accumulates(folder):
    ours = read_table(FIXTURES / folder)
    compared = 0
    for path in io_wrapper.GetLogdirSubdirectories(str(FIXTURES / folder)):
        run = str(pathlib.Path(path).relative_to(FIXTURES / folder))
        for tag, theirs in read_accumulator(path).items():
            assert same(ours[run][tag], theirs), (run, tag)
            compared += 1
    assert compared >= 3
