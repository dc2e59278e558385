/* saver.c: variables by name without objects, as TF1's Saver writes them (sb_saver). The arrays are
 * those that were added; the Python class brings their values up to date before a save. */
#include "checkpoint.h"

typedef struct saver {
    PyObject_HEAD sb_saver *s;
    native_array **arrays;
    size_t count;
    bool is_busy;
} saver;

static PyTypeObject *saver_type;

static int saver_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    saver *self = (saver *)object;
    sb_saver_opts opts = SB_INIT(sb_saver_opts);
    unsigned long long most;
    int has_state;
    if (self->s) return PyErr_SetString(PyExc_RuntimeError, "the saver is there already"), -1;
    if (!PyArg_ParseTuple(args, "KdppIpsp:Saver", &most, &opts.keep_every_n_hours,
                          &opts.pad_step_number, &opts.relative_paths, &opts.shards, &opts.reshape,
                          &opts.latest_filename, &has_state))
        return -1;
    sb_err err;
    opts.no_state = !has_state;
    opts.max_to_keep = most ? most : SB_KEEP_ALL;
    sb_status status = sb_saver_new(&self->s, &opts, &err);
    return status == SB_OK ? 0 : (native_raise(status, err.text), -1);
}

static void saver_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    saver *self = (saver *)object;
    sb_saver_free(self->s);
    for (size_t i = 0; i < self->count; i++) {
        native_array_drop(self->arrays[i]);
        free(self->arrays[i]);
    }
    free(self->arrays);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static bool is_free(const saver *self) {
    if (self->s && !self->is_busy) return true;
    PyErr_SetString(PyExc_RuntimeError, "another thread is saving or restoring");
    return false;
}

static PyObject *saver_add(PyObject *object, PyObject *args) {
    saver *self = (saver *)object;
    const char *name;
    PyObject *given;
    sb_variable v;
    sb_err err;
    if (!PyArg_ParseTuple(args, "sO:add", &name, &given) || !is_free(self)) return NULL;
    native_array **more = realloc(self->arrays, (self->count + 1) * sizeof *more);
    native_array *a = more ? calloc(1, sizeof *a) : NULL;
    if (more) self->arrays = more;
    if (!a) return PyErr_NoMemory();
    self->arrays[self->count++] = a;
    bool is_text = PyTuple_Check(given);
    if (!(is_text ? native_strings_of(given, a) : native_array_of(given, a))) return NULL;
    if (!native_variable_of(&v, a, NULL, true)) return NULL;
    sb_status status = sb_saver_add(self->s, name, &v, &err);
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

/* path, step or None, encoded MetaGraphDef */
static PyObject *saver_save(PyObject *object, PyObject *args) {
    saver *self = (saver *)object;
    PyObject *path = NULL, *given;
    Py_buffer meta = {0};
    const char *written = NULL;
    sb_err err;
    if (!PyArg_ParseTuple(args, "O&Oy*:save", PyUnicode_FSConverter, &path, &given, &meta))
        return NULL;
    int64_t step = given == Py_None ? SB_NO_STEP : PyLong_AsLongLong(given);
    PyObject *result = NULL;
    if (!PyErr_Occurred() && is_free(self)) {
        sb_slice graph = {meta.buf, (size_t)meta.len};
        self->is_busy = true;
        PyThreadState *saved = PyEval_SaveThread();
        sb_status status =
            sb_saver_save(self->s, PyBytes_AsString(path), step, graph, &written, &err);
        PyEval_RestoreThread(saved);
        self->is_busy = false;
        result =
            status == SB_OK ? PyUnicode_DecodeFSDefault(written) : native_raise(status, err.text);
    }
    PyBuffer_Release(&meta);
    Py_DECREF(path);
    return result;
}

static PyObject *saver_restore(PyObject *object, PyObject *args) {
    saver *self = (saver *)object;
    PyObject *path = NULL;
    sb_err err;
    if (!PyArg_ParseTuple(args, "O&:restore", PyUnicode_FSConverter, &path)) return NULL;
    if (!is_free(self)) return Py_DECREF(path), NULL;
    self->is_busy = true;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_saver_restore(self->s, PyBytes_AsString(path), &err);
    PyEval_RestoreThread(saved);
    self->is_busy = false;
    Py_DECREF(path);
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

static size_t string_count(const native_array *a) {
    size_t count = 1;
    for (uint32_t d = 0; d < a->array.rank; d++) count *= (size_t)a->array.dims[d];
    return count;
}

/* The strings of the variable that was added as the i-th. */
static PyObject *saver_strings(PyObject *object, PyObject *index) {
    saver *self = (saver *)object;
    size_t i = PyLong_AsSize_t(index);
    if (PyErr_Occurred()) return NULL;
    const native_array *a = i < self->count ? self->arrays[i] : NULL;
    if (!a || a->array.dtype != SB_STRING)
        return PyErr_SetString(PyExc_TypeError, "this is no variable of strings"), NULL;
    return native_bytes_list(a->array.data, string_count(a));
}

/* New strings for the variable that was added as the i-th: as many as before. */
static PyObject *saver_set_strings(PyObject *object, PyObject *args) {
    saver *self = (saver *)object;
    Py_ssize_t i;
    PyObject *given;
    native_array fresh = {0};
    if (!PyArg_ParseTuple(args, "nO!:set_strings", &i, &PyTuple_Type, &given) || !is_free(self))
        return NULL;
    native_array *a = i >= 0 && (size_t)i < self->count ? self->arrays[i] : NULL;
    if (!a || a->array.dtype != SB_STRING)
        return PyErr_SetString(PyExc_TypeError, "this is no variable of strings"), NULL;
    if (!native_strings_of(given, &fresh)) return NULL;
    size_t count = string_count(a);
    if (string_count(&fresh) != count) {
        native_array_drop(&fresh);
        return PyErr_SetString(PyExc_ValueError, "the number of strings has changed"), NULL;
    }
    memcpy(a->strings, fresh.strings, count * sizeof *a->strings);
    PyObject *old = a->kept;
    a->kept = fresh.kept; /* the strings point into it */
    fresh.kept = old;
    native_array_drop(&fresh);
    Py_RETURN_NONE;
}

static PyObject *saver_paths(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *path;
    for (size_t i = 0; list && (path = sb_saver_at(((saver *)object)->s, i)); i++) {
        PyObject *text = PyUnicode_DecodeFSDefault(path);
        if (!text || PyList_Append(list, text) != 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *saver_recover(PyObject *object, PyObject *paths) {
    saver *self = (saver *)object;
    if (!PyTuple_Check(paths)) return PyErr_SetString(PyExc_TypeError, "paths: a tuple"), NULL;
    if (!is_free(self)) return NULL;
    Py_ssize_t count = PyTuple_Size(paths);
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    if (!texts) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        texts[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
    sb_err err;
    sb_status status = SB_OK;
    if (!PyErr_Occurred())
        status = sb_saver_recover_last_checkpoints(self->s, texts, (size_t)count, &err);
    free(texts);
    if (PyErr_Occurred()) return NULL;
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

bool native_saver_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"add", saver_add, METH_VARARGS, "Adds a variable: name, array."},
        {"save", saver_save, METH_VARARGS, "path, step or None, encoded MetaGraphDef."},
        {"restore", saver_restore, METH_VARARGS, "All variables, or none."},
        {"strings", saver_strings, METH_O, "The strings of the i-th variable."},
        {"set_strings", saver_set_strings, METH_VARARGS, "New strings for the i-th variable."},
        {"paths", saver_paths, METH_NOARGS, "What it wrote, oldest first."},
        {"recover", saver_recover, METH_O, "Takes checkpoints as its own: paths as bytes."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_class(module, "seaboard._native.Saver", sizeof(saver), saver_init,
                            saver_dealloc, methods, &saver_type);
}
