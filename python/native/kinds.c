/* kinds.c: methods of Writer for summaries that are made from arrays. Each takes the tag, the step,
 * the wall time, the display name and the description first, then its own arguments, all by
 * position: the Python methods on top have the names and the defaults. */
#include "writer.h"

static PyObject *image(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array pixels = {0};
    const char *layout;
    long long max_outputs;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&zL:_image", NATIVE_CALL_ARGS(call),
                          native_array_of, &pixels, &layout, &max_outputs))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        const sb_image_opts opts =
            SB_INIT(sb_image_opts, .layout = layout,
                    .max_outputs = max_outputs < 0 ? 0 : (uint64_t)max_outputs);
        sb_status status;
        NATIVE_CALL(self, pixels.bytes > NATIVE_LARGE, status,
                    sb_image(w, call.tag, &pixels.array, call.step, &opts, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&pixels);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *image_encoded(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array images = {0};
    unsigned int width, height;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&II:_image_encoded", NATIVE_CALL_ARGS(call),
                          native_strings_of, &images, &width, &height))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(self, true, status,
                    sb_image_encoded(w, call.tag, images.strings, (size_t)images.dims[0], width,
                                     height, call.step, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&images);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *video(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array frames = {0};
    double fps;
    const char *layout;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&dz:_video", NATIVE_CALL_ARGS(call),
                          native_array_of, &frames, &fps, &layout))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(self, frames.bytes > NATIVE_LARGE, status,
                    sb_video(w, call.tag, &frames.array, fps, call.step, layout, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&frames);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *audio(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array samples = {0};
    double rate;
    unsigned int max_outputs;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&dI:_audio", NATIVE_CALL_ARGS(call),
                          native_array_of, &samples, &rate, &max_outputs))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(
            self, samples.bytes > NATIVE_LARGE, status,
            sb_audio(w, call.tag, &samples.array, rate, max_outputs, call.step, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&samples);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *text(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array strings = {0};
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&:_text", NATIVE_CALL_ARGS(call),
                          native_strings_of, &strings))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(self, false, status,
                    sb_text_array(w, call.tag, &strings.array, call.step, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&strings);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* torch and tensorboardX have no histogram without a bucket; the library would find out later. */
static bool check_countable(const native_writer *self, const native_array *values) {
    if (self->style != SB_STYLE_TORCH && self->style != SB_STYLE_TBX) return true;
    if (native_array_has_countable(values)) return true;
    PyErr_SetString(PyExc_ValueError,
                    "The histogram is empty: all values are NaN, infinite or beyond 1e20");
    return false;
}

static PyObject *histogram(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array values = {0};
    int buckets;
    unsigned int max_bins;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&iI:_histogram", NATIVE_CALL_ARGS(call),
                          native_array_of, &values, &buckets, &max_bins))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w && check_countable(self, &values)) {
        const sb_histogram_opts opts =
            SB_INIT(sb_histogram_opts, .buckets = buckets, .max_bins = max_bins);
        sb_status status;
        NATIVE_CALL(self, values.bytes > NATIVE_LARGE, status,
                    sb_histogram(w, call.tag, &values.array, call.step, &opts, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&values);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *histogram_raw(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    sb_histogram_data data = SB_INIT(sb_histogram_data, .n = 0);
    Py_buffer limits, counts;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "dddddy*y*:_histogram_raw",
                          NATIVE_CALL_ARGS(call), &data.min, &data.max, &data.num, &data.sum,
                          &data.sum_squares, &limits, &counts))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w && limits.len != counts.len) {
        PyErr_Format(
            PyExc_ValueError,
            "len(bucket_limits) != len(bucket_counts): there are %zd limits and %zd counts",
            limits.len / 8, counts.len / 8);
    } else if (w) {
        data.limits = limits.buf;
        data.counts = counts.buf;
        data.n = (size_t)limits.len / sizeof(double);
        result = native_writer_done(self, w,
                                    sb_histogram_raw(w, call.tag, &data, call.step, &call.meta));
    }
    PyBuffer_Release(&limits);
    PyBuffer_Release(&counts);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* Numbers (an array) or strings (a tuple of their tuple and their shape) under a plugin's name. */
static PyObject *tensor(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array data = {0};
    PyObject *value;
    const char *plugin;
    Py_buffer content;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "Ozy*:_tensor", NATIVE_CALL_ARGS(call), &value,
                          &plugin, &content))
        return NULL;
    int taken =
        PyTuple_Check(value) ? native_strings_of(value, &data) : native_array_of(value, &data);
    PyObject *result = NULL;
    sb_writer *w = taken ? native_writer_get(self) : NULL;
    if (w) {
        const sb_slice bytes = {content.buf, (size_t)content.len};
        sb_status status;
        NATIVE_CALL(self, data.bytes > NATIVE_LARGE, status,
                    sb_tensor(w, call.tag, &data.array, call.step, plugin, bytes, &call.meta));
        result = native_writer_done(self, w, status);
    }
    PyBuffer_Release(&content);
    if (taken) native_array_drop(&data);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *pr_curve(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array labels = {0}, predictions = {0}, weights = {0};
    unsigned int thresholds;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&O&O&I:_pr_curve", NATIVE_CALL_ARGS(call),
                          native_array_of, &labels, native_array_of, &predictions,
                          native_array_or_none, &weights, &thresholds))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(self, labels.bytes + predictions.bytes > NATIVE_LARGE, status,
                    sb_pr_curve(w, call.tag, &labels.array, &predictions.array,
                                native_array_ref(&weights), thresholds, call.step, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&labels);
    native_array_drop(&predictions);
    native_array_drop(&weights);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* Six rows of doubles, one after the other. */
static PyObject *pr_curve_raw(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    Py_buffer rows;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "y*:_pr_curve_raw", NATIVE_CALL_ARGS(call),
                          &rows))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        uint32_t n = (uint32_t)((size_t)rows.len / sizeof(double) / 6);
        result = native_writer_done(
            self, w, sb_pr_curve_raw(w, call.tag, rows.buf, n, call.step, &call.meta));
    }
    PyBuffer_Release(&rows);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *mesh(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    native_call call = {.meta = SB_INIT(sb_meta, .wall_time = 0)};
    native_array vertices = {0}, colors = {0}, faces = {0};
    const char *config;
    if (!PyArg_ParseTuple(args, NATIVE_CALL_FORMAT "O&O&O&z:_mesh", NATIVE_CALL_ARGS(call),
                          native_array_of, &vertices, native_array_or_none, &colors,
                          native_array_or_none, &faces, &config))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        sb_status status;
        NATIVE_CALL(self, vertices.bytes > NATIVE_LARGE, status,
                    sb_mesh(w, call.tag, &vertices.array, native_array_ref(&colors),
                            native_array_ref(&faces), config, call.step, &call.meta));
        result = native_writer_done(self, w, status);
    }
    native_array_drop(&vertices);
    native_array_drop(&colors);
    native_array_drop(&faces);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

PyMethodDef native_kind_methods[] = {
    {"_image", image, METH_VARARGS, NULL},
    {"_image_encoded", image_encoded, METH_VARARGS, NULL},
    {"_video", video, METH_VARARGS, NULL},
    {"_audio", audio, METH_VARARGS, NULL},
    {"_text", text, METH_VARARGS, NULL},
    {"_histogram", histogram, METH_VARARGS, NULL},
    {"_histogram_raw", histogram_raw, METH_VARARGS, NULL},
    {"_tensor", tensor, METH_VARARGS, NULL},
    {"_pr_curve", pr_curve, METH_VARARGS, NULL},
    {"_pr_curve_raw", pr_curve_raw, METH_VARARGS, NULL},
    {"_mesh", mesh, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
