/* table.c: all points of a log directory as columns (sb_reader_table_read).
 *
 * A Table owns what was read. A Column is a view of one of its columns: it has the buffer protocol,
 * so that numpy makes an array of it without a copy, and keeps its Table alive. */
#include "native.h"

typedef struct table {
    PyObject_HEAD sb_reader_table *table;
} table;

typedef struct column {
    PyObject_HEAD PyObject *owner;
    const void *data;
    Py_ssize_t count, itemsize;
    const char *format;
} column;

static PyTypeObject *table_type, *column_type;

/* ---- columns --------------------------------------------------------------------------------- */

static int column_buffer(PyObject *object, Py_buffer *view, int flags) {
    static char nothing;
    column *self = (column *)object;
    void *data = self->count ? (void *)(uintptr_t)self->data : &nothing;
    if (PyBuffer_FillInfo(view, object, data, self->count * self->itemsize, 1, flags) != 0)
        return -1;
    view->itemsize = self->itemsize;
    if (flags & PyBUF_FORMAT) view->format = (char *)(uintptr_t)self->format;
    if (view->shape) {
        view->shape = &self->count;
        view->strides = flags & PyBUF_STRIDES ? &self->itemsize : NULL;
    }
    return 0;
}

static Py_ssize_t column_length(PyObject *object) {
    return ((column *)object)->count;
}

static void column_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((column *)object)->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyObject *native_column(PyObject *owner, const void *data, size_t count, size_t itemsize,
                        const char *format) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(column_type, Py_tp_alloc);
    column *self = (column *)allocate(column_type, 0);
    if (!self) return NULL;
    self->owner = Py_NewRef(owner);
    self->data = data;
    self->count = (Py_ssize_t)count;
    self->itemsize = (Py_ssize_t)itemsize;
    self->format = format;
    return (PyObject *)self;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void table_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    sb_reader_table *read = ((table *)object)->table;
    PyThreadState *saved = PyEval_SaveThread();
    sb_reader_table_free(read);
    PyEval_RestoreThread(saved);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* The texts of a sequence; kept alive by the sequence. */
static bool texts_of(PyObject *tuple, const char ***out, size_t *count) {
    *out = NULL;
    *count = 0;
    if (tuple == Py_None) return true;
    if (!PyTuple_Check(tuple)) return PyErr_SetString(PyExc_TypeError, "tags: a tuple"), false;
    *count = (size_t)PyTuple_Size(tuple);
    *out = calloc(*count + 1, sizeof **out);
    if (!*out) return PyErr_NoMemory(), false;
    for (size_t i = 0; i < *count; i++) {
        if (!native_tag_of(PyTuple_GetItem(tuple, (Py_ssize_t)i), &(*out)[i])) {
            free(*out);
            return false;
        }
    }
    return true;
}

static PyObject *table_read(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *path = NULL, *tags;
    const char *run;
    unsigned int kinds;
    if (!PyArg_ParseTuple(args, "O&zOI:read_table", PyUnicode_FSConverter, &path, &run, &tags,
                          &kinds))
        return NULL;
    sb_reader_table_opts opts = SB_INIT(sb_reader_table_opts, .run = run, .kinds = kinds);
    const char **names;
    if (!texts_of(tags, &names, &opts.tag_count)) {
        Py_DECREF(path);
        return NULL;
    }
    opts.tags = names;
    sb_reader_table *read = NULL;
    sb_err err;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_reader_table_read(&read, PyBytes_AsString(path), &opts, &err);
    PyEval_RestoreThread(saved);
    free(names);
    Py_DECREF(path);
    if (status != SB_OK) return native_raise(status, err.text);
    allocfunc allocate = (allocfunc)PyType_GetSlot(table_type, Py_tp_alloc);
    table *self = (table *)allocate(table_type, 0);
    if (!self) {
        sb_reader_table_free(read);
        return NULL;
    }
    self->table = read;
    return (PyObject *)self;
}

/* ---- what was read --------------------------------------------------------------------------- */

/* Points without an array of numbers: a list of lists of bytes. */
static PyObject *items_of(const sb_reader_columns *c) {
    PyObject *points = PyList_New((Py_ssize_t)c->count);
    size_t at = 0;
    for (size_t i = 0; points && i < c->count; i++) {
        PyObject *point = PyList_New((Py_ssize_t)(c->ends[i] - at));
        for (Py_ssize_t k = 0; point && at < c->ends[i]; at++, k++) {
            PyObject *item = native_bytes(c->items[at]);
            if (!item || PyList_SetItem(point, k, item) != 0) Py_CLEAR(point);
        }
        if (!point || PyList_SetItem(points, (Py_ssize_t)i, point) != 0) Py_CLEAR(points);
    }
    return points;
}

/* The i-th series as a tuple, None behind the last: run, tag, kind, plugin, content, display name,
 * description, steps, wall times, values (scalars) or None, skipped. */
static PyObject *table_at(PyObject *object, PyObject *index) {
    size_t i = PyLong_AsSize_t(index);
    if (PyErr_Occurred()) return NULL;
    const sb_reader_columns *c = sb_reader_table_at(((table *)object)->table, i);
    if (!c) Py_RETURN_NONE;
    PyObject *values = c->values ? native_column(object, c->values, c->count, sizeof(double), "d")
                                 : Py_NewRef(Py_None);
    return Py_BuildValue(
        "NNiNNNNNNNn", native_text((sb_slice){(const uint8_t *)c->run, strlen(c->run)}),
        native_text(c->tag), (int)c->kind, native_text(c->plugin_name),
        native_bytes(c->plugin_content), native_text(c->display_name), native_text(c->description),
        native_column(object, c->steps, c->count, sizeof(int64_t), "q"),
        native_column(object, c->wall_times, c->count, sizeof(double), "d"), values,
        (Py_ssize_t)c->skipped);
}

static PyObject *table_items(PyObject *object, PyObject *index) {
    size_t i = PyLong_AsSize_t(index);
    if (PyErr_Occurred()) return NULL;
    const sb_reader_columns *c = sb_reader_table_at(((table *)object)->table, i);
    if (!c || !c->items) Py_RETURN_NONE;
    return items_of(c);
}

/* A list of (run, path, offset, bytes, kind) of what could not be read. */
static PyObject *table_damage(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    const sb_reader_gap *gap;
    for (size_t i = 0; list && (gap = sb_reader_table_damage(((table *)object)->table, i)); i++) {
        PyObject *item =
            Py_BuildValue("ssKKs", gap->run, gap->path, (unsigned long long)gap->offset,
                          (unsigned long long)gap->bytes, sb_status_name(gap->kind));
        if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

bool native_table_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"at", table_at, METH_O, "The i-th series, None behind the last."},
        {"items", table_items, METH_O, "The bytes of the points of the i-th series."},
        {"damage", table_damage, METH_NOARGS, "What could not be read."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot table_slots[] = {
        {Py_tp_dealloc, table_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec table_spec = {"seaboard._native.Table", sizeof(table), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     table_slots};
    static PyType_Slot column_slots[] = {{Py_tp_dealloc, column_dealloc},
                                         {Py_sq_length, column_length},
                                         {Py_bf_getbuffer, column_buffer},
                                         {0, NULL}};
    static PyType_Spec column_spec = {"seaboard._native.Column", sizeof(column), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                      column_slots};
    static PyMethodDef functions[] = {
        {"read_table", table_read, METH_VARARGS, "Reads a log directory: path, run, tags, kinds."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_type(module, &table_spec, &table_type) &&
           native_add_type(module, &column_spec, &column_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
