/* ckpt.c: the tensors of a checkpoint by name (sb_ckpt): numbers as views of the mapped file. */
#include "checkpoint.h"

typedef struct ckpt {
    PyObject_HEAD sb_ckpt *c;
} ckpt;

static PyTypeObject *ckpt_type;

static int ckpt_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    ckpt *self = (ckpt *)object;
    PyObject *path = NULL;
    sb_err err;
    if (self->c) return PyErr_SetString(PyExc_RuntimeError, "it is open already"), -1;
    if (!PyArg_ParseTuple(args, "O&:Tensors", PyUnicode_FSConverter, &path)) return -1;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_ckpt_open(&self->c, PyBytes_AsString(path), &err);
    PyEval_RestoreThread(saved);
    Py_DECREF(path);
    return status == SB_OK ? 0 : (native_raise(status, err.text), -1);
}

static void ckpt_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    sb_ckpt_close(((ckpt *)object)->c);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* A list of (name, type's name, shape). */
static PyObject *ckpt_list(PyObject *object, PyObject *unused) {
    (void)unused;
    const sb_ckpt *c = ((ckpt *)object)->c;
    PyObject *list = PyList_New((Py_ssize_t)sb_ckpt_count(c));
    for (size_t i = 0; list && i < sb_ckpt_count(c); i++) {
        const sb_ckpt_tensor *t = sb_ckpt_at(c, i);
        PyObject *item = Py_BuildValue("NsN", native_text(t->name), native_dtype_name(t->dtype),
                                       native_shape(t->dims, t->rank));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static const sb_ckpt_tensor *find(ckpt *self, PyObject *name) {
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const sb_ckpt_tensor *t = text ? sb_ckpt_find(self->c, text) : NULL;
    if (!t && !PyErr_Occurred()) PyErr_Format(PyExc_KeyError, "%U", name);
    return t;
}

/* Numbers that can't be mapped, those of a partitioned variable for instance, in bytes of their
 * own. */
static PyObject *read_copy(ckpt *self, const sb_ckpt_tensor *t) {
    sb_err err;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)t->bytes);
    if (!bytes) return NULL;
    void *to = PyBytes_AsString(bytes);
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_ckpt_read(self->c, t, NULL, to, (size_t)t->bytes, &err);
    PyEval_RestoreThread(saved);
    if (status == SB_OK) return bytes;
    Py_DECREF(bytes);
    return native_raise(status, err.text);
}

/* Something with the buffer protocol that has the bytes of a tensor; of strings a list of bytes. */
static PyObject *ckpt_get(PyObject *object, PyObject *name) {
    ckpt *self = (ckpt *)object;
    const sb_ckpt_tensor *t = find(self, name);
    const sb_slice *texts;
    sb_slice mapped;
    sb_err err;
    if (!t) return NULL;
    if (t->dtype == SB_STRING || t->dtype == SB_VARIANT) {
        sb_status status = sb_ckpt_strings(self->c, t, &texts, &err);
        return status == SB_OK ? native_bytes_list(texts, (size_t)t->count)
                               : native_raise(status, err.text);
    }
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = sb_ckpt_map(self->c, t, &mapped, &err);
    PyEval_RestoreThread(saved);
    if (status == SB_INVALID) return read_copy(self, t);
    if (status != SB_OK) return native_raise(status, err.text);
    return native_column(object, mapped.p, mapped.n, 1, "B");
}

bool native_ckpt_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"list", ckpt_list, METH_NOARGS, "(name, type, shape) of all tensors."},
        {"get", ckpt_get, METH_O, "The bytes of a tensor, mapped; of strings a list."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_class(module, "seaboard._native.Tensors", sizeof(ckpt), ckpt_init,
                            ckpt_dealloc, methods, &ckpt_type);
}
