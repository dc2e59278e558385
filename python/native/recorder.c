/* recorder.c: a profile that a Python program records (sb_recorder). */
#include "native.h"

typedef struct recorder {
    PyObject_HEAD sb_recorder *r;
} recorder;

static PyTypeObject *recorder_type;

static int recorder_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    recorder *self = (recorder *)object;
    sb_err err;
    if (!PyArg_ParseTuple(args, ":Recorder")) return -1;
    if (self->r) return PyErr_SetString(PyExc_RuntimeError, "it records already"), -1;
    sb_status status = sb_recorder_start(&self->r, NULL, &err);
    return status == SB_OK ? 0 : (native_raise(status, err.text), -1);
}

static void recorder_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    recorder *self = (recorder *)object;
    sb_err err;
    if (self->r) (void)sb_recorder_stop(self->r, NULL, &err);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *number_of(PyObject *object, PyObject *text,
                           uint32_t (*number)(sb_recorder *, const char *)) {
    const char *name = PyUnicode_AsUTF8AndSize(text, NULL);
    return name ? PyLong_FromUnsignedLong(number(((recorder *)object)->r, name)) : NULL;
}

static PyObject *recorder_track(PyObject *object, PyObject *text) {
    return number_of(object, text, sb_recorder_track);
}

static PyObject *recorder_name(PyObject *object, PyObject *text) {
    return number_of(object, text, sb_recorder_name);
}

/* track, name, start, duration: nanoseconds of now() */
static PyObject *recorder_span(PyObject *object, PyObject *args) {
    unsigned int track, name;
    unsigned long long start, duration;
    if (!PyArg_ParseTuple(args, "IIKK:span", &track, &name, &start, &duration)) return NULL;
    sb_recorder_span(((recorder *)object)->r, track, name, start, duration);
    Py_RETURN_NONE;
}

static PyObject *recorder_now(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(sb_recorder_now(((recorder *)object)->r));
}

/* Writes the profile below a directory; None: it is thrown away. */
static PyObject *recorder_stop(PyObject *object, PyObject *folder) {
    recorder *self = (recorder *)object;
    PyObject *path = NULL;
    sb_err err;
    if (!self->r) return PyErr_SetString(PyExc_RuntimeError, "nothing is recorded"), NULL;
    if (folder != Py_None && !(path = native_path(folder))) return NULL;
    sb_recorder *r = self->r;
    self->r = NULL;
    const char *text = path ? PyBytes_AsString(path) : NULL;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_recorder_stop(r, text, &err);
    PyEval_RestoreThread(saved);
    Py_XDECREF(path);
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

bool native_recorder_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"track", recorder_track, METH_O, "The number of a track."},
        {"name", recorder_name, METH_O, "The number of a name."},
        {"span", recorder_span, METH_VARARGS, "A slice: track, name, start, duration."},
        {"now", recorder_now, METH_NOARGS, "The recorder's clock in nanoseconds."},
        {"stop", recorder_stop, METH_O, "Writes the profile below a directory, or none."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_class(module, "seaboard._native.Recorder", sizeof(recorder), recorder_init,
                            recorder_dealloc, methods, &recorder_type);
}
