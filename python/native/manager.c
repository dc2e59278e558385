/* manager.c: numbered checkpoints in a directory (sb_manager), over a Tree that is filled anew
 * before each save. The Python class looks after steps and intervals. */
#include "checkpoint.h"

typedef struct manager {
    PyObject_HEAD sb_manager *m;
    native_tree *tree;
} manager;

static PyTypeObject *manager_type;

static int manager_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    manager *self = (manager *)object;
    PyObject *tree, *directory = NULL, *name = NULL;
    unsigned long long most;
    double hours;
    sb_err err;
    if (!PyArg_ParseTuple(args, "O!O&O&Kd:Manager", native_tree_type, &tree, PyUnicode_FSConverter,
                          &directory, PyUnicode_FSConverter, &name, &most, &hours))
        return -1;
    bool is_free = !self->m && native_tree_is_free((native_tree *)tree);
    sb_status status = SB_OK;
    if (is_free) {
        const sb_manager_opts opts =
            SB_INIT(sb_manager_opts, .directory = PyBytes_AsString(directory),
                    .checkpoint_name = PyBytes_AsString(name), .max_to_keep = most,
                    .keep_every_n_hours = hours);
        status = sb_manager_open(&self->m, ((native_tree *)tree)->c, &opts, &err);
    }
    Py_DECREF(directory);
    Py_DECREF(name);
    if (!is_free) return -1;
    if (status != SB_OK) return native_raise(status, err.text), -1;
    self->tree = (native_tree *)Py_NewRef(tree);
    return 0;
}

static void manager_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    manager *self = (manager *)object;
    sb_manager_close(self->m); /* before its checkpoint */
    Py_XDECREF((PyObject *)self->tree);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *path_or_none(const char *path) {
    if (!path) Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

/* A number, or None for the tree's save_counter. */
static PyObject *manager_save(PyObject *object, PyObject *given) {
    manager *self = (manager *)object;
    int64_t number = SB_NEXT_NUMBER;
    const char *path = NULL;
    sb_err err;
    if (given != Py_None) number = PyLong_AsLongLong(given);
    if (PyErr_Occurred() || !native_tree_is_free(self->tree)) return NULL;
    self->tree->is_busy = true;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_manager_save(self->m, number, &path, &err);
    PyEval_RestoreThread(saved);
    self->tree->is_busy = false;
    return status == SB_OK ? path_or_none(path) : native_raise(status, err.text);
}

static PyObject *manager_latest(PyObject *object, PyObject *unused) {
    (void)unused;
    return path_or_none(sb_manager_latest(((manager *)object)->m));
}

static PyObject *manager_paths(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    const char *path;
    for (size_t i = 0; list && (path = sb_manager_at(((manager *)object)->m, i)); i++) {
        PyObject *text = PyUnicode_DecodeFSDefault(path);
        if (!text || PyList_Append(list, text) != 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *latest_checkpoint(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *directory = NULL;
    char path[1 << 12];
    sb_err err;
    if (!PyArg_ParseTuple(args, "O&:latest_checkpoint", PyUnicode_FSConverter, &directory))
        return NULL;
    sb_status status = sb_latest_checkpoint(PyBytes_AsString(directory), path, sizeof path, &err);
    Py_DECREF(directory);
    if (status == SB_NOT_FOUND) Py_RETURN_NONE;
    return status == SB_OK ? path_or_none(path) : native_raise(status, err.text);
}

bool native_manager_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"save", manager_save, METH_O, "Saves the tree under a number."},
        {"latest", manager_latest, METH_NOARGS, "The newest checkpoint."},
        {"paths", manager_paths, METH_NOARGS, "Those that are kept, oldest first."},
        {NULL, NULL, 0, NULL},
    };
    static PyMethodDef functions[] = {
        {"latest_checkpoint", latest_checkpoint, METH_VARARGS,
         "The newest checkpoint of a directory, or None."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_class(module, "seaboard._native.Manager", sizeof(manager), manager_init,
                            manager_dealloc, methods, &manager_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
