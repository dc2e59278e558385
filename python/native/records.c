/* records.c: methods of Writer for messages that are serialized already (summaries, events, graphs,
 * run metadata) and for embeddings, which are files beside the event file. */
#include "writer.h"

typedef sb_status bytes_call(sb_writer *w, sb_slice bytes);

static PyObject *put_bytes(PyObject *object, PyObject *bytes, bytes_call *call) {
    native_writer *self = (native_writer *)object;
    char *data;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(bytes, &data, &n) != 0) return NULL;
    sb_writer *w = native_writer_get(self);
    if (!w) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    const sb_slice slice = {(const uint8_t *)data, (size_t)n};
    sb_status status;
    NATIVE_CALL(self, slice.n > NATIVE_LARGE, status, call(w, slice));
    return native_writer_done(self, w, status);
}

static PyObject *raw_event(PyObject *object, PyObject *bytes) {
    return put_bytes(object, bytes, sb_raw_event);
}

static PyObject *graph(PyObject *object, PyObject *bytes) {
    return put_bytes(object, bytes, sb_graph);
}

static PyObject *meta_graph(PyObject *object, PyObject *bytes) {
    return put_bytes(object, bytes, sb_meta_graph);
}

static PyObject *summary(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    Py_buffer bytes;
    int64_t step;
    if (!PyArg_ParseTuple(args, "y*O&:_summary", &bytes, native_step_of, &step)) return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        const sb_slice slice = {bytes.buf, (size_t)bytes.len};
        sb_status status;
        NATIVE_CALL(self, slice.n > NATIVE_LARGE, status, sb_summary(w, slice, step));
        result = native_writer_done(self, w, status);
    }
    PyBuffer_Release(&bytes);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *run_metadata(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    const char *tag;
    Py_buffer bytes;
    int64_t step;
    if (!PyArg_ParseTuple(args, "O&y*O&:_run_metadata", native_tag_of, &tag, &bytes, native_step_of,
                          &step))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        const sb_slice slice = {bytes.buf, (size_t)bytes.len};
        result = native_writer_done(self, w, sb_run_metadata(w, tag, slice, step));
    }
    PyBuffer_Release(&bytes);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *trace(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    const char *name;
    Py_buffer bytes;
    int with_profile;
    int64_t step;
    if (!PyArg_ParseTuple(args, "O&y*pO&:_trace", native_tag_of, &name, &bytes, &with_profile,
                          native_step_of, &step))
        return NULL;
    PyObject *result = NULL;
    sb_writer *w = native_writer_get(self);
    if (w) {
        const sb_slice slice = {bytes.buf, (size_t)bytes.len};
        sb_status status;
        NATIVE_CALL(self, true, status, sb_trace(w, name, slice, with_profile, step));
        result = native_writer_done(self, w, status);
    }
    PyBuffer_Release(&bytes);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

static PyObject *keras_model(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    const char *tag, *json;
    int64_t step;
    if (!PyArg_ParseTuple(args, "O&sO&:_keras_model", native_tag_of, &tag, &json, native_step_of,
                          &step))
        return NULL;
    sb_writer *w = native_writer_get(self);
    if (!w) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return native_writer_done(self, w, sb_keras_model(w, tag, json, step));
}

static PyObject *session(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    int status;
    const char *path, *message;
    int64_t step;
    if (!PyArg_ParseTuple(args, "izzO&:_session", &status, &path, &message, native_step_of, &step))
        return NULL;
    sb_writer *w = native_writer_get(self);
    if (!w) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return native_writer_done(self, w,
                              sb_session(w, (sb_session_status)status, path, message, step));
}

/* ---- embeddings ------------------------------------------------------------------------------ */

/* The texts of a tuple; NULL with an error. The tuple keeps them alive. */
static const char **texts_of(PyObject *tuple) {
    Py_ssize_t n = PyTuple_Size(tuple);
    const char **texts = calloc((size_t)n + 1, sizeof *texts);
    if (!texts) return (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
        if (!texts[i]) {
            free(texts);
            return NULL;
        }
    }
    return texts;
}

/* tag, step, matrix, metadata (a flat tuple or None), columns, header (a tuple or None), images */
static PyObject *embedding(PyObject *object, PyObject *args) {
    native_writer *self = (native_writer *)object;
    const char *tag;
    int64_t step;
    native_array matrix = {0}, images = {0};
    PyObject *metadata, *header;
    unsigned int columns;
    if (!PyArg_ParseTuple(args, "O&O&O&OIOO&:_embedding", native_tag_of, &tag, native_step_of,
                          &step, native_array_of, &matrix, &metadata, &columns, &header,
                          native_array_or_none, &images))
        return NULL;
    const char **labels = metadata == Py_None ? NULL : texts_of(metadata);
    const char **names = header == Py_None ? NULL : texts_of(header);
    PyObject *result = NULL;
    sb_writer *w = PyErr_Occurred() ? NULL : native_writer_get(self);
    if (w) {
        sb_err err;
        sb_status status;
        const sb_embedding_opts opts =
            SB_INIT(sb_embedding_opts, .metadata = labels, .metadata_columns = columns,
                    .metadata_header = names, .images = native_array_ref(&images));
        NATIVE_CALL(self, true, status, sb_embedding(w, tag, &matrix.array, step, &opts, &err));
        result = status == SB_OK ? Py_NewRef(Py_None) : native_raise(status, err.text);
    }
    free(labels);
    free(names);
    native_array_drop(&matrix);
    native_array_drop(&images);
    return w || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

PyMethodDef native_record_methods[] = {
    {"_raw_event", raw_event, METH_O, NULL},
    {"_graph", graph, METH_O, NULL},
    {"_meta_graph", meta_graph, METH_O, NULL},
    {"_summary", summary, METH_VARARGS, NULL},
    {"_run_metadata", run_metadata, METH_VARARGS, NULL},
    {"_trace", trace, METH_VARARGS, NULL},
    {"_keras_model", keras_model, METH_VARARGS, NULL},
    {"_session", session, METH_VARARGS, NULL},
    {"_embedding", embedding, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
