/* number.c: single numbers, steps, times and tags from Python objects of all kinds. */
#include "native.h"

/* The single number of an array or a tensor, by its item(). 1: done, 0: there is no item(), -1:
 * failed. */
static int number_by_item(PyObject *object, double *out) {
    PyObject *method = PyObject_GetAttrString(object, "item");
    if (!method) {
        PyErr_Clear();
        return 0;
    }
    PyObject *item = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (!item) {
        PyErr_Clear();
        PyObject *shape = PyObject_GetAttrString(object, "shape");
        if (!shape) PyErr_Clear();
        PyErr_Format(PyExc_AssertionError,
                     "scalar should be 0D: one number is expected, this has the shape %S",
                     shape ? shape : Py_None);
        Py_XDECREF(shape);
        return -1;
    }
    *out = PyFloat_AsDouble(item);
    Py_DECREF(item);
    return PyErr_Occurred() ? -1 : 1;
}

/* TensorFlow's tensors have no item(), but numpy(). */
static int number_by_numpy(PyObject *object, double *out) {
    PyObject *method = PyObject_GetAttrString(object, "numpy");
    PyObject *array = method ? PyObject_CallNoArgs(method) : NULL;
    Py_XDECREF(method);
    PyErr_Clear();
    int done = array ? number_by_item(array, out) : 0;
    Py_XDECREF(array);
    return done;
}

/* torch takes a text for the number that it names, and raises ValueError for any other. */
static bool number_of_text(PyObject *text, double *out) {
    PyObject *number = PyFloat_FromString(text);
    if (!number) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "Got the text %R, but a number is expected", text);
        return false;
    }
    *out = PyFloat_AsDouble(number);
    Py_DECREF(number);
    return true;
}

bool native_number(PyObject *object, double *out) {
    if (PyFloat_Check(object) || PyLong_Check(object)) {
        *out = PyFloat_AsDouble(object);
        return *out != -1 || !PyErr_Occurred();
    }
    if (PyUnicode_Check(object)) return number_of_text(object, out);
    int done = number_by_item(object, out);
    if (!done) done = number_by_numpy(object, out);
    if (done) return done > 0;
    if (PyObject_HasAttrString(object, "__float__")) {
        *out = PyFloat_AsDouble(object);
        return *out != -1 || !PyErr_Occurred();
    }
    /* The type that torch's SummaryWriter raises for an object that is no number. */
    PyErr_Format(PyExc_NotImplementedError,
                 "Got %R, but a number is expected: a Python number, or an array or tensor of one "
                 "element",
                 (PyObject *)Py_TYPE(object));
    return false;
}

int native_step_of(PyObject *object, void *int64_out) {
    int64_t *out = int64_out;
    *out = 0;
    if (object == Py_None) return 1;
    int overflow = 0;
    if (PyLong_Check(object)) {
        *out = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) goto too_large;
        return *out != -1 || !PyErr_Occurred();
    }
    PyObject *integer = PyNumber_Long(object);
    if (!integer && (PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "a step must be a whole number or None, not %R",
                     (PyObject *)Py_TYPE(object));
    }
    if (!integer) return 0;
    *out = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow) goto too_large;
    return *out != -1 || !PyErr_Occurred();
too_large:
    PyErr_Format(PyExc_ValueError, "the step %S does not fit into 64 bits", object);
    return 0;
}

int native_seconds_of(PyObject *object, void *double_out) {
    double *out = double_out;
    *out = 0;
    return object == Py_None || native_number(object, out);
}

int native_tag_of(PyObject *object, void *chars_out) {
    const char **out = chars_out;
    Py_ssize_t n = 0;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "a tag must be a str, not %R: %R",
                     (PyObject *)Py_TYPE(object), object);
        return 0;
    }
    *out = PyUnicode_AsUTF8AndSize(object, &n);
    if (!*out) return 0;
    if (strlen(*out) != (size_t)n) {
        PyErr_SetString(PyExc_ValueError, "a tag can't have a NUL character in it");
        return 0;
    }
    return 1;
}
