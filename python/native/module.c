/* module.c: the extension module seaboard._native: its types, its exceptions, small conversions. */
#include "native.h"

static PyObject *data_error;

PyObject *native_raise(sb_status status, const char *text) {
    PyObject *type;
    switch (status) {
    case SB_NOMEM:
        type = PyExc_MemoryError;
        break;
    case SB_IO:
        type = PyExc_OSError;
        break;
    case SB_NOT_FOUND:
        type = PyExc_FileNotFoundError;
        break;
    case SB_CORRUPT:
    case SB_BAD_LENGTH:
    case SB_BAD_PAYLOAD:
    case SB_GARBAGE:
        type = data_error;
        break;
    case SB_TIMEOUT:
        type = PyExc_TimeoutError;
        break;
    case SB_CLOSED:
        type = PyExc_RuntimeError;
        break;
    default:
        type = PyExc_ValueError;
        break;
    }
    PyErr_SetString(type, text);
    return NULL;
}

PyObject *native_path(PyObject *path) {
    PyObject *bytes = NULL;
    return PyUnicode_FSConverter(path, &bytes) ? bytes : NULL;
}

PyObject *native_text(sb_slice text) {
    return PyUnicode_DecodeUTF8((const char *)text.p, (Py_ssize_t)text.n, "surrogateescape");
}

PyObject *native_bytes(sb_slice bytes) {
    return PyBytes_FromStringAndSize((const char *)bytes.p, (Py_ssize_t)bytes.n);
}

bool native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (!type) return false;
    *out = (PyTypeObject *)type;
    return PyModule_AddType(module, *out) == 0;
}

bool native_add_class(PyObject *module, const char *name, size_t size, initproc init,
                      destructor dealloc, PyMethodDef *methods, PyTypeObject **out) {
    PyType_Slot slots[] = {{Py_tp_init, (void *)init},
                           {Py_tp_dealloc, (void *)dealloc},
                           {Py_tp_methods, methods},
                           {0, NULL}};
    PyType_Spec spec = {name, (int)size, 0, Py_TPFLAGS_DEFAULT, slots};
    return native_add_type(module, &spec, out);
}

PyObject *native_bytes_list(const sb_slice *texts, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *text = native_bytes(texts[i]);
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) != 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *native_shape(const int64_t *dims, uint32_t rank) {
    PyObject *shape = PyTuple_New((Py_ssize_t)rank);
    for (uint32_t i = 0; shape && i < rank; i++) {
        PyObject *size = PyLong_FromLongLong(dims[i]);
        if (!size || PyTuple_SetItem(shape, (Py_ssize_t)i, size) != 0) Py_CLEAR(shape);
    }
    return shape;
}

const char *native_dtype_name(sb_dtype dtype) {
#define ROW(symbol, number, bytes, text)                                                           \
    if (dtype == SB_##symbol) return text;
    SB_DTYPE_MAP(ROW)
#undef ROW
    return "invalid";
}

size_t native_itemsize(sb_dtype dtype) {
#define ROW(symbol, number, bytes, text)                                                           \
    if (dtype == SB_##symbol) return bytes;
    SB_DTYPE_MAP(ROW)
#undef ROW
    return 0;
}

static PyObject *shape_of(PyObject *module, PyObject *object) {
    (void)module;
    native_array a = {0};
    if (!native_array_of(object, &a)) return NULL;
    PyObject *shape = native_shape(a.dims, a.array.rank);
    native_array_drop(&a);
    return shape;
}

static PyMethodDef functions[] = {
    {"shape_of", shape_of, METH_O, "The shape of an array of any library."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "seaboard._native",
    .m_doc = "Seaboard's C library. The package's own modules are what programs use.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    data_error = PyErr_NewExceptionWithDoc("seaboard.DataError",
                                           "A file is damaged, or is not what it should be.",
                                           PyExc_ValueError, NULL);
    bool ok = data_error && PyModule_AddObjectRef(module, "DataError", data_error) == 0 &&
              PyModule_AddStringConstant(module, "__version__", sb_version()) == 0 &&
              native_writer_init(module) && native_table_init(module) &&
              native_events_init(module) && native_checkpoint_init(module) &&
              native_recorder_init(module);
    if (!ok) Py_CLEAR(module);
    return module;
}
