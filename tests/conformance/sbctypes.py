"""The C writer from Python, by ctypes: for tests that compare its files with those of the real programs.

The library is build/libseaboard.so, or what SEABOARD_LIB names. Every method raises SeaboardError when the
call is refused, with the text of sb_writer_error. Arrays are numpy arrays (bfloat16 by ml_dtypes).
"""

import ctypes as c
import os
import pathlib

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("SEABOARD_LIB", str(ROOT / "build" / "libseaboard.so"))

TF2, TF1, TORCH, TBX = range(4)
STYLES = {"tf2": TF2, "tf1": TF1, "torch": TORCH, "tbx": TBX}
SIMPLE, TENSOR, DOUBLE = 1, 2, 3
START, STOP, CHECKPOINT = 1, 2, 3
SUCCESS = 1

DTYPES = {
    np.dtype(np.float32): 1,
    np.dtype(np.float64): 2,
    np.dtype(np.int32): 3,
    np.dtype(np.uint8): 4,
    np.dtype(np.int16): 5,
    np.dtype(np.int8): 6,
    np.dtype(np.complex64): 8,
    np.dtype(np.int64): 9,
    np.dtype(np.bool_): 10,
    np.dtype(ml_dtypes.bfloat16): 14,
    np.dtype(np.uint16): 17,
    np.dtype(np.complex128): 18,
    np.dtype(np.float16): 19,
    np.dtype(np.uint32): 22,
    np.dtype(np.uint64): 23,
    np.dtype(ml_dtypes.float8_e4m3fn): 25,
}
STRING = 7


class Slice(c.Structure):
    _fields_ = [("p", c.c_char_p), ("n", c.c_size_t)]


class Array(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("dtype", c.c_int),
        ("rank", c.c_uint32),
        ("dims", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
    ]


class Sized(c.Structure):
    """A struct that may grow: its first member is its size, as SB_INIT sets it."""

    def __init__(self, *fields, **named):
        super().__init__(c.sizeof(type(self)), *fields, **named)


class Err(c.Structure):
    _fields_ = [("code", c.c_int), ("offset", c.c_uint64), ("text", c.c_char * 496)]


class Opts(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("logdir", c.c_char_p),
        ("style", c.c_int),
        ("when_full", c.c_int),
        ("filename_suffix", c.c_char_p),
        ("max_queue", c.c_uint32),
        ("flush_millis", c.c_uint32),
        ("ring_bytes", c.c_size_t),
        ("big_bytes", c.c_size_t),
    ]


class Meta(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("display_name", c.c_char_p),
        ("description", c.c_char_p),
        ("wall_time", c.c_double),
    ]


class ImageOpts(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("layout", c.c_char_p),
        ("max_outputs", c.c_uint64),
    ]


class HistogramOpts(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("buckets", c.c_int32),
        ("max_bins", c.c_uint32),
    ]


class HistogramData(Sized):
    _fields_ = [("size", c.c_size_t)] + [(name, c.c_double) for name in ("min", "max", "num", "sum", "sum_squares")] + [
        ("limits", c.POINTER(c.c_double)),
        ("counts", c.POINTER(c.c_double)),
        ("n", c.c_size_t),
    ]


class HparamValue(c.Structure):
    _fields_ = [("type", c.c_int), ("number", c.c_double), ("string", c.c_char_p), ("integer", c.c_int64)]


class Hparam(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", HparamValue)]


class HparamInfo(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("display_name", c.c_char_p),
        ("description", c.c_char_p),
        ("type", c.c_int),
        ("values", c.POINTER(HparamValue)),
        ("value_count", c.c_size_t),
        ("has_interval", c.c_bool),
        ("min", c.c_double),
        ("max", c.c_double),
    ]


class MetricInfo(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("dataset", c.c_int),
        ("group", c.c_char_p),
        ("tag", c.c_char_p),
        ("display_name", c.c_char_p),
        ("description", c.c_char_p),
    ]


class Experiment(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("description", c.c_char_p),
        ("user", c.c_char_p),
        ("time_created", c.c_double),
        ("hparams", c.POINTER(HparamInfo)),
        ("hparam_count", c.c_size_t),
        ("metrics", c.POINTER(MetricInfo)),
        ("metric_count", c.c_size_t),
    ]


class Chart(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("is_margin", c.c_bool),
        ("title", c.c_char_p),
        ("tags", c.POINTER(c.c_char_p)),
        ("tag_count", c.c_size_t),
    ]


class Category(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("closed", c.c_bool),
        ("title", c.c_char_p),
        ("charts", c.POINTER(Chart)),
        ("chart_count", c.c_size_t),
    ]


class EmbeddingOpts(Sized):
    _fields_ = [
        ("size", c.c_size_t),
        ("metadata", c.POINTER(c.c_char_p)),
        ("metadata_columns", c.c_size_t),
        ("metadata_header", c.POINTER(c.c_char_p)),
        ("images", c.POINTER(Array)),
    ]


class SeaboardError(Exception):
    """What the library answered instead of SB_OK."""


def load():
    lib = c.CDLL(LIBRARY)
    lib.sb_names_tag.restype = c.c_char_p
    lib.sb_names_tag.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p, c.c_char_p]
    lib.sb_names_free.argtypes = [c.c_void_p]
    lib.sb_tag_clean.restype = c.c_size_t
    lib.sb_tag_clean.argtypes = [c.c_char_p, c.c_char_p, c.c_size_t]
    lib.sb_writer_path.restype = c.c_size_t
    return lib


LIB = load()


def text(value):
    return None if value is None else value.encode() if isinstance(value, str) else value


def raw(data):
    return Slice(data, len(data))


def numbers(values):
    return (c.c_double * len(values))(*[float(value) for value in values])


def array(values):
    """An Array over a numpy array or view of one (kept alive by it), or over strings in a numpy object array."""
    if values is None:
        return None
    values = np.asarray(values)
    if values.dtype == object or values.dtype.kind in "US":
        flat = [text(item) for item in values.reshape(-1).tolist()]
        store = (Slice * max(len(flat), 1))(*[raw(item) for item in flat])
        result = Array(c.cast(store, c.c_void_p), STRING, values.ndim, (c.c_int64 * values.ndim)(*values.shape))
        result.kept = (store, flat)
        return result
    dims = (c.c_int64 * values.ndim)(*values.shape)
    strides = (c.c_int64 * values.ndim)(*values.strides)
    result = Array(values.ctypes.data, DTYPES[values.dtype], values.ndim, dims, strides)
    result.kept = values
    return result


def ref(structure):
    return None if structure is None else c.byref(structure)


def hparam_value(value):
    if isinstance(value, bool):
        return HparamValue(2, float(value), None, 0)
    if isinstance(value, int):
        return HparamValue(4, 0, None, value)
    if isinstance(value, float):
        return HparamValue(3, value, None, 0)
    return HparamValue(1, 0, text(value), 0)


class Writer:
    """One sb_writer; the methods are its calls. wall_time is that of every event that can take one."""

    def __init__(self, logdir, style=TF2, suffix=None, wall_time=0.0):
        self.handle = c.c_void_p()
        self.wall_time = wall_time
        err = Err()
        opts = Opts(logdir=text(str(logdir)), style=style, filename_suffix=text(suffix), big_bytes=1 << 30)
        self.check(LIB.sb_writer_open(c.byref(self.handle), c.byref(opts), c.byref(err)), err)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close() if kind is None else LIB.sb_writer_close(self.handle, None)

    def check(self, status, err=None):
        if status == 0:
            return
        if err is None:
            err = Err()
            LIB.sb_writer_error(self.handle, c.byref(err))
        raise SeaboardError(f"{status}: {err.text.decode()}")

    def close(self):
        err = Err()
        status = LIB.sb_writer_close(self.handle, c.byref(err))
        if status:
            raise SeaboardError(f"{status}: {err.text.decode()}")

    def flush(self):
        err = Err()
        self.check(LIB.sb_writer_flush(self.handle, c.byref(err)), err)

    def path(self):
        room = c.create_string_buffer(4096)
        LIB.sb_writer_path(self.handle, room, c.c_size_t(4096))
        return room.value.decode()

    def meta(self, description=None, display_name=None):
        return c.byref(Meta(text(display_name), text(description), self.wall_time))

    def scalar(self, tag, value, step, form=0, **meta):
        self.check(
            LIB.sb_scalar_as(self.handle, text(tag), c.c_double(value), c.c_int64(step), form, self.meta(**meta))
        )

    def image(self, tag, pixels, step, layout=None, max_outputs=0, **meta):
        opts = ImageOpts(text(layout), max_outputs)
        self.check(
            LIB.sb_image(
                self.handle, text(tag), ref(array(pixels)), c.c_int64(step), c.byref(opts), self.meta(**meta)
            )
        )

    def image_encoded(self, tag, files, step, width=0, height=0, **meta):
        slices = (Slice * len(files))(*[raw(file) for file in files])
        self.check(
            LIB.sb_image_encoded(
                self.handle,
                text(tag),
                slices,
                c.c_size_t(len(files)),
                width,
                height,
                c.c_int64(step),
                self.meta(**meta),
            )
        )

    def video(self, tag, frames, step, fps=4.0, layout=None, **meta):
        self.check(
            LIB.sb_video(
                self.handle,
                text(tag),
                ref(array(frames)),
                c.c_double(fps),
                c.c_int64(step),
                text(layout),
                self.meta(**meta),
            )
        )

    def audio(self, tag, samples, rate, step, max_outputs=0, **meta):
        self.check(
            LIB.sb_audio(
                self.handle,
                text(tag),
                ref(array(samples)),
                c.c_double(rate),
                max_outputs,
                c.c_int64(step),
                self.meta(**meta),
            )
        )

    def text(self, tag, value, step):
        self.check(LIB.sb_text(self.handle, text(tag), text(value), c.c_int64(step)))

    def text_array(self, tag, values, step, **meta):
        values = array(np.array(values, dtype=object))
        self.check(LIB.sb_text_array(self.handle, text(tag), ref(values), c.c_int64(step), self.meta(**meta)))

    def histogram(self, tag, values, step, buckets=None, max_bins=0, **meta):
        # zero buckets are asked for by a negative number; 0 is the default
        opts = HistogramOpts(0 if buckets is None else buckets or -1, max_bins)
        self.check(
            LIB.sb_histogram(
                self.handle, text(tag), ref(array(values)), c.c_int64(step), c.byref(opts), self.meta(**meta)
            )
        )

    def histogram_raw(self, tag, sums, limits, counts, step, **meta):
        data = HistogramData(*sums, numbers(limits), numbers(counts), len(limits))
        self.check(LIB.sb_histogram_raw(self.handle, text(tag), c.byref(data), c.c_int64(step), self.meta(**meta)))

    def histogram_rows(self, tag, rows, step, **meta):
        rows = np.ascontiguousarray(rows, np.float64)
        data = rows.ctypes.data_as(c.c_void_p)
        self.check(
            LIB.sb_histogram_rows(
                self.handle, text(tag), data, c.c_size_t(len(rows)), c.c_int64(step), self.meta(**meta)
            )
        )

    def tensor(self, tag, values, step, plugin=None, content=b"", **meta):
        self.check(
            LIB.sb_tensor(
                self.handle,
                text(tag),
                ref(array(values)),
                c.c_int64(step),
                text(plugin),
                raw(content),
                self.meta(**meta),
            )
        )

    def summary(self, data, step):
        self.check(LIB.sb_summary(self.handle, raw(data), c.c_int64(step)))

    def raw_event(self, data):
        self.check(LIB.sb_raw_event(self.handle, raw(data)))

    def graph(self, data):
        self.check(LIB.sb_graph(self.handle, raw(data)))

    def meta_graph(self, data):
        self.check(LIB.sb_meta_graph(self.handle, raw(data)))

    def run_metadata(self, tag, data, step):
        self.check(LIB.sb_run_metadata(self.handle, text(tag), raw(data), c.c_int64(step)))

    def trace(self, name, data, with_profile, step):
        self.check(LIB.sb_trace(self.handle, text(name), raw(data), c.c_bool(with_profile), c.c_int64(step)))

    def keras_model(self, tag, json, step):
        self.check(LIB.sb_keras_model(self.handle, text(tag), text(json), c.c_int64(step)))

    def profile(self, session, data):
        err = Err()
        self.check(LIB.sb_profile(self.handle, text(session), raw(data), c.byref(err)), err)

    def session(self, status, path, message, step):
        self.check(LIB.sb_session(self.handle, status, text(path), text(message), c.c_int64(step)))

    def purge_step(self, step):
        self.check(LIB.sb_purge_step(self.handle, c.c_int64(step)))

    def hparams_config(self, hparams, metrics, time_created=0.0, step=0):
        """hparams: dicts with the fields of HparamInfo, values as a list; metrics: dicts of MetricInfo."""
        infos, kept = [], []
        for given in hparams:
            row = {name: text(value) if isinstance(value, str) else value for name, value in given.items()}
            values = [hparam_value(value) for value in row.pop("values", [])]
            kept.append((HparamValue * len(values))(*values))
            infos.append(HparamInfo(values=kept[-1], value_count=len(values), **row))
        rows = [MetricInfo(**{k: text(v) if isinstance(v, str) else v for k, v in row.items()}) for row in metrics]
        experiment = Experiment(
            time_created=time_created,
            hparams=(HparamInfo * len(infos))(*infos),
            hparam_count=len(infos),
            metrics=(MetricInfo * len(rows))(*rows),
            metric_count=len(rows),
        )
        self.check(LIB.sb_hparams_config(self.handle, c.byref(experiment), c.c_int64(step)))

    def hparams_start(self, values, group_name=None, start_time=0.0, step=0):
        rows = (Hparam * len(values))(*[Hparam(text(name), hparam_value(v)) for name, v in values.items()])
        self.check(
            LIB.sb_hparams_start(
                self.handle, rows, c.c_size_t(len(rows)), text(group_name), c.c_double(start_time), c.c_int64(step)
            )
        )

    def hparams_end(self, status, end_time=0.0, step=0):
        self.check(LIB.sb_hparams_end(self.handle, status, c.c_double(end_time), c.c_int64(step)))

    def pr_curve(self, tag, labels, predictions, step, thresholds=0, weights=None, **meta):
        self.check(
            LIB.sb_pr_curve(
                self.handle,
                text(tag),
                ref(array(labels)),
                ref(array(predictions)),
                ref(array(weights)),
                thresholds,
                c.c_int64(step),
                self.meta(**meta),
            )
        )

    def pr_curve_raw(self, tag, rows, step, **meta):
        rows = np.ascontiguousarray(rows, np.float64)
        data = rows.ctypes.data_as(c.c_void_p)
        self.check(
            LIB.sb_pr_curve_raw(self.handle, text(tag), data, rows.shape[1], c.c_int64(step), self.meta(**meta))
        )

    def mesh(self, tag, vertices, step, colors=None, faces=None, config=None, **meta):
        self.check(
            LIB.sb_mesh(
                self.handle,
                text(tag),
                ref(array(vertices)),
                ref(array(colors)),
                ref(array(faces)),
                text(config),
                c.c_int64(step),
                self.meta(**meta),
            )
        )

    def custom_scalars(self, layout):
        """layout: {category: {chart: [kind, tags]}}, as torch's add_custom_scalars takes it."""
        categories, kept = [], []
        for title, charts in layout.items():
            rows = []
            for name, (kind, tags) in charts.items():
                strings = (c.c_char_p * len(tags))(*[text(tag) for tag in tags])
                kept.append(strings)
                rows.append(Chart(kind == "Margin", text(name), strings, len(tags)))
            kept.append((Chart * len(rows))(*rows))
            categories.append(Category(False, text(title), kept[-1], len(rows)))
        store = (Category * len(categories))(*categories)
        self.check(LIB.sb_custom_scalars(self.handle, store, c.c_size_t(len(categories))))

    def embedding(self, matrix, tag=None, labels=None, header=None, images=None, step=0):
        rows = None if labels is None else [row if isinstance(row, list) else [row] for row in labels]
        cells = [] if rows is None else [text(str(cell)) for row in rows for cell in row]
        opts = EmbeddingOpts(
            metadata=None if rows is None else (c.c_char_p * len(cells))(*cells),
            metadata_columns=0 if rows is None else len(rows[0]),
            metadata_header=None if header is None else (c.c_char_p * len(header))(*[text(h) for h in header]),
            images=None if images is None else c.pointer(array(images)),
        )
        err = Err()
        status = LIB.sb_embedding(
            self.handle, text(tag), ref(array(matrix)), c.c_int64(step), c.byref(opts), c.byref(err)
        )
        self.check(status, err)


def clean_tag(tag):
    room = c.create_string_buffer(4 * len(tag) + 8)
    LIB.sb_tag_clean(text(tag), room, len(room))
    return room.value.decode()


class Names:
    """An sb_names."""

    def __init__(self):
        self.handle = c.c_void_p()
        if LIB.sb_names_new(c.byref(self.handle), None):
            raise SeaboardError("no memory")

    def tag(self, name, scope=None, family=None):
        return LIB.sb_names_tag(self.handle, text(scope), text(family), text(name)).decode()

    def free(self):
        LIB.sb_names_free(self.handle)
