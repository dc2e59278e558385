/* events.c: event files record by record (sb_reader), while they are being written too. */
#include "native.h"

typedef struct events {
    PyObject_HEAD sb_reader *reader;
    bool is_busy; /* a thread is reading without the global lock */
} events;

static PyTypeObject *events_type;

static int events_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    events *self = (events *)object;
    PyObject *path = NULL;
    const char *run = NULL;
    if (!PyArg_ParseTuple(args, "O&|z:Events", PyUnicode_FSConverter, &path, &run)) return -1;
    sb_err err;
    sb_reader *reader = NULL;
    const sb_reader_opts opts = SB_INIT(sb_reader_opts, .run = run);
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_reader_open(&reader, PyBytes_AsString(path), &opts, &err);
    PyEval_RestoreThread(saved);
    Py_DECREF(path);
    if (status != SB_OK) return native_raise(status, err.text), -1;
    sb_reader_close(self->reader);
    self->reader = reader;
    return 0;
}

static void events_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    sb_reader_close(((events *)object)->reader);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The next (run, path, encoded Event); ends at what is written so far, and may be asked again. */
static PyObject *events_next(PyObject *object) {
    events *self = (events *)object;
    if (!self->reader || self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        self->is_busy ? "another thread is reading" : "the reader is not open");
        return NULL;
    }
    const sb_reader_event *event = NULL;
    sb_err err;
    self->is_busy = true;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_reader_next(self->reader, &event, &err);
    PyEval_RestoreThread(saved);
    self->is_busy = false;
    if (status == SB_MORE) return NULL;
    if (status != SB_OK) return native_raise(status, err.text);
    return Py_BuildValue("sNN", event->run, PyUnicode_DecodeFSDefault(event->path),
                         native_bytes(event->record));
}

static PyObject *events_damage(PyObject *object, PyObject *unused) {
    (void)unused;
    events *self = (events *)object;
    PyObject *list = PyList_New(0);
    const sb_reader_gap *gap;
    for (size_t i = 0; list && self->reader && (gap = sb_reader_damage(self->reader, i)); i++) {
        PyObject *item =
            Py_BuildValue("ssKKs", gap->run, gap->path, (unsigned long long)gap->offset,
                          (unsigned long long)gap->bytes, sb_status_name(gap->kind));
        if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

bool native_events_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"damage", events_damage, METH_NOARGS, "What could not be read."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {{Py_tp_init, events_init},       {Py_tp_dealloc, events_dealloc},
                                  {Py_tp_iter, PyObject_SelfIter}, {Py_tp_iternext, events_next},
                                  {Py_tp_methods, methods},        {0, NULL}};
    static PyType_Spec spec = {"seaboard._native.Events", sizeof(events), 0, Py_TPFLAGS_DEFAULT,
                               slots};
    return native_add_type(module, &spec, &events_type);
}
