/* array.c: arrays of other libraries as sb_array, without importing any of these libraries.
 *
 * Tried in this order: Python's own numbers; the buffer protocol (numpy, array, memoryview); DLPack
 * (torch, JAX, ...) for memory of the processor; __array__ (what remains: TensorFlow, pandas,
 * pictures, tensors of other devices after cpu()); nested lists. Nothing is copied where the memory
 * can be borrowed: strides go to the library as they are. */
#include "native.h"

#include <math.h>

/* ---- releasing ------------------------------------------------------------------------------- */

void native_array_drop(native_array *a) {
    if (a->has_view) PyBuffer_Release(&a->view);
    a->has_view = false;
    Py_CLEAR(a->kept);
    free(a->strings);
    a->strings = NULL;
}

const sb_array *native_array_ref(const native_array *a) {
    return a->array.dtype == SB_NO_DTYPE ? NULL : &a->array;
}

static bool set_shape(native_array *a, const void *data, sb_dtype dtype, size_t itemsize,
                      int64_t rank) {
    if (rank > NATIVE_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array of %lld dimensions: the most is %d",
                     (long long)rank, NATIVE_MAX_RANK);
        return false;
    }
    a->array = (sb_array){data, dtype, (uint32_t)rank, a->dims, a->strides};
    a->bytes = itemsize;
    for (int64_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(a->bytes, (size_t)a->dims[i], &a->bytes)) a->bytes = SIZE_MAX;
    return true;
}

/* ---- the buffer protocol --------------------------------------------------------------------- */

static sb_dtype integer_dtype(bool is_signed, Py_ssize_t itemsize) {
    switch (itemsize) {
    case 1:
        return is_signed ? SB_INT8 : SB_UINT8;
    case 2:
        return is_signed ? SB_INT16 : SB_UINT16;
    case 4:
        return is_signed ? SB_INT32 : SB_UINT32;
    case 8:
        return is_signed ? SB_INT64 : SB_UINT64;
    default:
        return SB_NO_DTYPE;
    }
}

/* The type that a format of the struct module means; SB_NO_DTYPE for other byte orders, objects and
 * what this library has no type for. */
static sb_dtype format_dtype(const char *format, Py_ssize_t itemsize) {
    if (!format) return SB_UINT8;
    if (*format == '@' || *format == '=' || *format == '<' || *format == '|') format++;
    size_t n = strlen(format);
    if (n == 2 && format[0] == 'Z')
        return format[1] == 'f' ? SB_COMPLEX64 : format[1] == 'd' ? SB_COMPLEX128 : SB_NO_DTYPE;
    if (n != 1) return SB_NO_DTYPE;
    switch (*format) {
    case 'e':
        return SB_HALF;
    case 'f':
        return SB_FLOAT;
    case 'd':
        return SB_DOUBLE;
    case '?':
        return SB_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return integer_dtype(true, itemsize);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return integer_dtype(false, itemsize);
    case 'g':
        return itemsize == 8 ? SB_DOUBLE : SB_NO_DTYPE;
    default:
        return SB_NO_DTYPE;
    }
}

/* 1: done; 0: the object does not support this way (no error is set); -1: failed. dtype: what the
 * bytes really are, when the buffer can't say it; else SB_NO_DTYPE. */
static int take_buffer(native_array *a, PyObject *object, sb_dtype dtype) {
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &a->view, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
        PyErr_Clear(); /* ml_dtypes' arrays and arrays of dates: __array__ sorts them out */
        return 0;
    }
    a->has_view = true;
    const Py_buffer *view = &a->view;
    if (dtype == SB_NO_DTYPE) dtype = format_dtype(view->format, view->itemsize);
    if (dtype == SB_NO_DTYPE || view->ndim > NATIVE_MAX_RANK) {
        PyBuffer_Release(&a->view);
        a->has_view = false;
        return 0;
    }
    for (int i = 0; i < view->ndim; i++) {
        a->dims[i] = view->shape[i];
        a->strides[i] = view->strides[i];
    }
    return set_shape(a, view->buf, dtype, (size_t)view->itemsize, view->ndim) ? 1 : -1;
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    const int64_t *shape;
    const int64_t *strides; /* in elements; NULL: contiguous */
    uint64_t byte_offset;
} dl_tensor;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 };

static sb_dtype dl_dtype(const dl_tensor *t) {
    static const sb_dtype eights[] = {SB_FLOAT8_E4M3B11FNUZ, SB_FLOAT8_E4M3FN, SB_FLOAT8_E4M3FNUZ,
                                      SB_FLOAT8_E5M2, SB_FLOAT8_E5M2FNUZ};
    if (t->dtype.lanes != 1 || t->dtype.bits % 8 != 0) return SB_NO_DTYPE;
    switch (t->dtype.code) {
    case 0:
    case 1:
        return integer_dtype(t->dtype.code == 0, t->dtype.bits / 8);
    case 2:
        return t->dtype.bits == 16   ? SB_HALF
               : t->dtype.bits == 32 ? SB_FLOAT
               : t->dtype.bits == 64 ? SB_DOUBLE
                                     : SB_NO_DTYPE;
    case 4:
        return t->dtype.bits == 16 ? SB_BFLOAT16 : SB_NO_DTYPE;
    case 5:
        return t->dtype.bits == 64    ? SB_COMPLEX64
               : t->dtype.bits == 128 ? SB_COMPLEX128
                                      : SB_NO_DTYPE;
    case 6:
        return t->dtype.bits == 8 ? SB_BOOL : SB_NO_DTYPE;
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
        return t->dtype.bits == 8 ? eights[t->dtype.code - 9] : SB_NO_DTYPE;
    default:
        return SB_NO_DTYPE;
    }
}

static int take_capsule(native_array *a, PyObject *capsule) {
    const dl_tensor *t = PyCapsule_GetPointer(capsule, "dltensor");
    if (!t) {
        PyErr_Clear();
        return 0;
    }
    bool is_here = t->device.type == DL_CPU || t->device.type == DL_CUDA_HOST ||
                   t->device.type == DL_ROCM_HOST;
    sb_dtype dtype = dl_dtype(t);
    if (!is_here || dtype == SB_NO_DTYPE || t->rank < 0 || t->rank > NATIVE_MAX_RANK) return 0;
    int64_t itemsize = t->dtype.bits / 8, next = itemsize;
    for (int32_t i = t->rank - 1; i >= 0; i--) {
        a->dims[i] = t->shape[i];
        a->strides[i] = t->strides ? t->strides[i] * itemsize : next;
        next *= t->shape[i];
    }
    a->kept = Py_NewRef(capsule); /* gives the tensor back when it is gone */
    const uint8_t *data = (const uint8_t *)t->data + t->byte_offset;
    return set_shape(a, data, dtype, (size_t)itemsize, t->rank) ? 1 : -1;
}

/* Calls a method without arguments if there is one: a new reference, else NULL without an error. */
static PyObject *call_if_there(PyObject *object, const char *name) {
    PyObject *method = PyObject_GetAttrString(object, name);
    PyObject *result = method ? PyObject_CallNoArgs(method) : NULL;
    Py_XDECREF(method);
    if (!result) PyErr_Clear();
    return result;
}

static bool is_true_attribute(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    bool is_true = value && PyObject_IsTrue(value) == 1;
    Py_XDECREF(value);
    PyErr_Clear();
    return is_true;
}

static int take_dlpack(native_array *a, PyObject *object) {
    PyObject *plain = NULL;
    /* torch refuses to export a tensor that requires gradients */
    if (is_true_attribute(object, "requires_grad")) plain = call_if_there(object, "detach");
    PyObject *capsule = call_if_there(plain ? plain : object, "__dlpack__");
    int taken = capsule ? take_capsule(a, capsule) : 0;
    Py_XDECREF(capsule);
    Py_XDECREF(plain);
    return taken;
}

/* ---- __array__ ------------------------------------------------------------------------------- */

/* The type that a numpy dtype's name stands for, for those that buffers can't express. */
static sb_dtype named_dtype(const char *name, size_t *itemsize) {
#define ROW(symbol, number, bytes, text)                                                           \
    if (strcmp(name, text) == 0) return *itemsize = bytes, SB_##symbol;
    SB_DTYPE_MAP(ROW)
#undef ROW
    return SB_NO_DTYPE;
}

/* A numpy array in the machine's byte order, or of a type that buffers can't express, as one that
 * has a buffer. A new reference, NULL without an error. */
static PyObject *numpy_view(PyObject *object, sb_dtype *dtype) {
    PyObject *type = PyObject_GetAttrString(object, "dtype");
    PyObject *name = type ? PyObject_GetAttrString(type, "name") : NULL;
    PyObject *result = NULL;
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    size_t itemsize = 0;
    if (text) {
        *dtype = named_dtype(text, &itemsize);
        bool is_special = *dtype == SB_BFLOAT16 || (*dtype >= SB_FLOAT8_E5M2 && itemsize == 1);
        if (is_special) {
            result = PyObject_CallMethod(object, "view", "s", itemsize == 2 ? "u2" : "u1");
        } else if (strcmp(text, "float128") == 0 || strcmp(text, "float96") == 0) {
            result = PyObject_CallMethod(object, "astype", "s", "f8");
        } else if (*dtype != SB_NO_DTYPE && *dtype != SB_STRING) { /* the other byte order */
            PyObject *native = PyObject_CallMethod(type, "newbyteorder", "s", "=");
            result = native ? PyObject_CallMethod(object, "astype", "O", native) : NULL;
            Py_XDECREF(native);
        }
        if (!is_special) *dtype = SB_NO_DTYPE;
    }
    Py_XDECREF(type);
    Py_XDECREF(name);
    PyErr_Clear();
    return result;
}

static int take_numpy(native_array *a, PyObject *array) {
    int taken = take_buffer(a, array, SB_NO_DTYPE);
    if (taken) return taken;
    sb_dtype dtype = SB_NO_DTYPE;
    PyObject *view = numpy_view(array, &dtype);
    if (!view) return 0;
    taken = take_buffer(a, view, dtype); /* the buffer keeps the view alive */
    Py_DECREF(view);
    return taken;
}

/* Tensors of graphics cards are copied to the processor first, by their own cpu(). */
static PyObject *array_method(PyObject *object) {
    PyObject *plain = call_if_there(object, "detach");
    PyObject *here = call_if_there(plain ? plain : object, "cpu");
    PyObject *from = here ? here : plain ? plain : object;
    PyObject *real = is_true_attribute(from, "is_sparse") ? call_if_there(from, "to_dense") : NULL;
    PyObject *result = call_if_there(real ? real : from, "__array__");
    Py_XDECREF(real);
    Py_XDECREF(here);
    Py_XDECREF(plain);
    return result;
}

static int take_array_method(native_array *a, PyObject *object) {
    PyObject *here = call_if_there(object, "cpu");
    int taken = here ? take_dlpack(a, here) : 0;
    Py_XDECREF(here);
    if (taken) return taken;
    PyObject *array = array_method(object);
    if (!array) return 0;
    taken = take_numpy(a, array);
    Py_DECREF(array);
    return taken;
}

/* ---- Python's own numbers and lists ---------------------------------------------------------- */

static int take_number(native_array *a, PyObject *object) {
    int overflow = 0;
    if (PyBool_Check(object)) {
        a->one.boolean = object == Py_True;
        return set_shape(a, &a->one, SB_BOOL, 1, 0) ? 1 : -1;
    }
    if (PyLong_Check(object)) {
        a->one.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (!overflow) return set_shape(a, &a->one, SB_INT64, 8, 0) ? 1 : -1;
    }
    if (!PyFloat_Check(object) && !overflow) return 0;
    a->one.real = PyFloat_AsDouble(object);
    if (a->one.real == -1 && PyErr_Occurred()) return -1;
    return set_shape(a, &a->one, SB_DOUBLE, 8, 0) ? 1 : -1;
}

/* Lists without numpy: all numbers of a nested list, whose shape is that of its first items. */
typedef struct flat {
    double *numbers;
    size_t n, room;
} flat;

static bool flatten(flat *f, native_array *a, PyObject *list, int depth, int rank) {
    if (depth == rank) {
        double number;
        if (!native_number(list, &number)) return false;
        if (f->n == f->room) {
            size_t room = f->room ? 2 * f->room : 64;
            double *more = realloc(f->numbers, room * sizeof *more);
            if (!more) return PyErr_NoMemory(), false;
            f->numbers = more;
            f->room = room;
        }
        f->numbers[f->n++] = number;
        return true;
    }
    Py_ssize_t n = PySequence_Size(list);
    if (n != a->dims[depth]) {
        PyErr_SetString(PyExc_ValueError, "a nested list whose rows have different lengths");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        bool ok = item && flatten(f, a, item, depth + 1, rank);
        Py_XDECREF(item);
        if (!ok) return false;
    }
    return true;
}

static int take_plain_list(native_array *a, PyObject *list) {
    int rank = 0;
    PyObject *at = Py_NewRef(list);
    while (at && (PyList_Check(at) || PyTuple_Check(at)) && rank < NATIVE_MAX_RANK) {
        Py_ssize_t n = PySequence_Size(at);
        a->dims[rank++] = n;
        PyObject *first = n > 0 ? PySequence_GetItem(at, 0) : NULL;
        Py_DECREF(at);
        at = first;
    }
    Py_XDECREF(at);
    PyErr_Clear();
    flat f = {0};
    bool ok = flatten(&f, a, list, 0, rank);
    a->kept =
        ok ? PyBytes_FromStringAndSize((const char *)f.numbers, (Py_ssize_t)(f.n * sizeof(double)))
           : NULL;
    free(f.numbers);
    if (!a->kept) return -1;
    int64_t next = sizeof(double);
    for (int i = rank - 1; i >= 0; i--) {
        a->strides[i] = next;
        next *= a->dims[i];
    }
    return set_shape(a, PyBytes_AsString(a->kept), SB_DOUBLE, sizeof(double), rank) ? 1 : -1;
}

static int take_list(native_array *a, PyObject *list) {
    if (!PyList_Check(list) && !PyTuple_Check(list)) return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) {
        PyErr_Clear();
        return take_plain_list(a, list);
    }
    PyObject *array = PyObject_CallMethod(numpy, "asarray", "O", list);
    Py_DECREF(numpy);
    if (!array) return -1;
    int taken = take_numpy(a, array);
    Py_DECREF(array);
    return taken;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Is this an array of texts, by numpy's type of it? */
static bool has_texts(PyObject *dtype) {
    PyObject *kind = PyObject_GetAttrString(dtype, "kind");
    if (!kind) PyErr_Clear();
    bool found = kind && PyUnicode_Check(kind) &&
                 (PyUnicode_CompareWithASCIIString(kind, "U") == 0 ||
                  PyUnicode_CompareWithASCIIString(kind, "S") == 0);
    Py_XDECREF(kind);
    return found;
}

/* With the types that torch's SummaryWriter raises: NotImplementedError for an object that is no
 * array, ValueError for texts, TypeError for other arrays. */
static int refuse(PyObject *object) {
    PyObject *dtype = PyObject_GetAttrString(object, "dtype");
    if (!dtype) PyErr_Clear();
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (dtype)
        PyErr_Format(has_texts(dtype) ? PyExc_ValueError : PyExc_TypeError,
                     "an array of dtype %S holds no numbers that can be logged", dtype);
    else
        PyErr_Format(PyExc_NotImplementedError,
                     "Got %R, but an array is expected: a numpy array, a tensor of torch, "
                     "TensorFlow or JAX, a number or a list of numbers",
                     type);
    Py_XDECREF(dtype);
    return 0;
}

int native_array_of(PyObject *object, void *out) {
    native_array *a = out;
    if (!object) { /* a later argument was refused */
        native_array_drop(a);
        return 1;
    }
    int taken = take_number(a, object);
    if (!taken) taken = take_buffer(a, object, SB_NO_DTYPE);
    if (!taken && PyObject_HasAttrString(object, "__array_interface__"))
        taken = take_numpy(a, object);
    if (!taken && PyObject_HasAttrString(object, "__dlpack__")) taken = take_dlpack(a, object);
    if (!taken) taken = take_list(a, object);
    if (!taken && PyObject_HasAttrString(object, "__array__")) taken = take_array_method(a, object);
    if (!taken) refuse(object);
    if (taken > 0) return Py_CLEANUP_SUPPORTED;
    native_array_drop(a);
    return 0;
}

int native_array_or_none(PyObject *object, void *out) {
    if (object == Py_None) return Py_CLEANUP_SUPPORTED;
    return native_array_of(object, out);
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool string_slice(PyObject *item, sb_slice *out) {
    Py_ssize_t n = 0;
    const char *text = NULL;
    if (PyBytes_Check(item)) {
        text = PyBytes_AsString(item);
        n = PyBytes_Size(item);
    } else if (PyUnicode_Check(item)) {
        text = PyUnicode_AsUTF8AndSize(item, &n);
    } else {
        PyErr_Format(PyExc_TypeError, "a text must be str or bytes, not %R",
                     (PyObject *)Py_TYPE(item));
    }
    *out = (sb_slice){(const uint8_t *)text, (size_t)n};
    return text != NULL;
}

int native_strings_of(PyObject *object, void *out) {
    native_array *a = out;
    if (!object) {
        native_array_drop(a);
        return 1;
    }
    PyObject *items = NULL, *shape = NULL;
    if (!PyArg_ParseTuple(object, "O!O!", &PyTuple_Type, &items, &PyTuple_Type, &shape)) return 0;
    Py_ssize_t count = PyTuple_Size(items), rank = PyTuple_Size(shape);
    a->strings = calloc((size_t)count + 1, sizeof *a->strings);
    if (!a->strings) return PyErr_NoMemory(), 0;
    a->kept = Py_NewRef(items);
    int64_t product = 1;
    for (Py_ssize_t i = 0; i < rank && i < NATIVE_MAX_RANK; i++) {
        a->dims[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        if (a->dims[i] < 0 || __builtin_mul_overflow(product, a->dims[i], &product)) product = -1;
    }
    bool ok = rank <= NATIVE_MAX_RANK && product == count && !PyErr_Occurred();
    if (!ok && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%zd texts do not fill their shape %R", count, shape);
    for (Py_ssize_t i = 0; ok && i < count; i++)
        ok = string_slice(PyTuple_GetItem(items, i), &a->strings[i]);
    a->array = (sb_array){a->strings, SB_STRING, (uint32_t)rank, a->dims, NULL};
    if (ok) return Py_CLEANUP_SUPPORTED;
    native_array_drop(a);
    return 0;
}

/* ---- histograms ------------------------------------------------------------------------------ */

static bool is_countable(const uint8_t *p, sb_dtype dtype) {
    double number = 0;
    if (dtype == SB_FLOAT) {
        float f;
        memcpy(&f, p, sizeof f);
        number = (double)f;
    } else if (dtype == SB_DOUBLE) {
        memcpy(&number, p, sizeof number);
    } else if (dtype == SB_HALF || dtype == SB_BFLOAT16) {
        uint16_t bits;
        memcpy(&bits, p, sizeof bits);
        uint16_t exponent = dtype == SB_HALF ? 0x7c00 : 0x7f80;
        if ((bits & exponent) == exponent) return false;
        /* bfloat16 reaches beyond the last bucket: 2^67 is over 1e20 */
        return dtype == SB_HALF || (bits & exponent) >> 7 < 127 + 67;
    }
    return fabs(number) <= 9.920775621859783e19; /* false for NaN */
}

bool native_array_has_countable(const native_array *a) {
    const sb_array *array = &a->array;
    bool is_float = array->dtype == SB_FLOAT || array->dtype == SB_DOUBLE ||
                    array->dtype == SB_HALF || array->dtype == SB_BFLOAT16;
    if (!is_float) return true;
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->dims[i] == 0) return true; /* the library has a sentence on empty arrays */
    int64_t at[NATIVE_MAX_RANK] = {0};
    const uint8_t *p = array->data;
    for (;;) {
        if (is_countable(p, array->dtype)) return true;
        uint32_t i = array->rank;
        while (i > 0) {
            i--;
            p += a->strides[i];
            if (++at[i] < a->dims[i]) break;
            p -= a->strides[i] * a->dims[i];
            at[i] = 0;
            if (i == 0) return false;
        }
        if (array->rank == 0) return false;
    }
}
