/* native.h: what the files of the extension module share.
 *
 * seaboard._native is a thin layer over the public C headers: it turns Python's arguments into C's,
 * calls one function of the library, and turns the status into an exception or a warning. What a
 * method means, its defaults and its documentation are the business of the Python files.
 *
 * It is written in the limited API of Python 3.11, so that one file serves this version and all
 * later ones. Arrays come in by the buffer protocol, by DLPack or by __array__ (array.c): no
 * framework is imported here.
 *
 * Locks: Python's global lock is held, but for calls that wait or that copy large arrays. */
#ifndef SEABOARD_NATIVE_H
#define SEABOARD_NATIVE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seaboard/seaboard.h"

/* Copies larger than this are made without the global lock. */
#define NATIVE_LARGE ((size_t)32 << 10)

/* ---- errors (module.c) ----------------------------------------------------------------------- */

/* Raises the exception that belongs to a status; returns NULL. */
PyObject *native_raise(sb_status status, const char *text);
/* Text or bytes as a path in the file system's encoding; a new bytes object, NULL with an error. */
PyObject *native_path(PyObject *path);
PyObject *native_text(sb_slice text); /* as str; bytes that are not UTF-8 are kept by escapes */
PyObject *native_bytes(sb_slice bytes);
/* Adds a type to the module; false with an error. */
bool native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out);
/* The same for a type with nothing but a constructor, a destructor and methods, which must be
 * static. */
bool native_add_class(PyObject *module, const char *name, size_t size, initproc init,
                      destructor dealloc, PyMethodDef *methods, PyTypeObject **out);

bool native_writer_init(PyObject *module);
bool native_table_init(PyObject *module);
bool native_events_init(PyObject *module);
/* A read-only view of memory that belongs to owner, which it keeps alive; format as the struct
 * module has it. It has the buffer protocol. */
PyObject *native_column(PyObject *owner, const void *data, size_t count, size_t itemsize,
                        const char *format);
bool native_checkpoint_init(PyObject *module);
bool native_recorder_init(PyObject *module);

/* ---- arrays (array.c) ------------------------------------------------------------------------ */

#define NATIVE_MAX_RANK 32

/* An array argument while it is borrowed. Zero it before the first use; native_array_drop releases
 * what it holds, and may be called twice. */
typedef struct native_array {
    sb_array array;
    size_t bytes; /* of all elements; strings: 0 */
    int64_t dims[NATIVE_MAX_RANK];
    int64_t strides[NATIVE_MAX_RANK];
    Py_buffer view;
    bool has_view;
    PyObject *kept; /* the object that the memory belongs to */
    sb_slice *strings;
    union {
        double real;
        int64_t integer;
        uint8_t boolean;
    } one; /* a plain Python number */
} native_array;

/* Converters for PyArg_ParseTuple's "O&": 0 with an error, or Py_CLEANUP_SUPPORTED. The second one
 * takes None too, for which array.data stays NULL and rank 0. */
int native_array_of(PyObject *object, void *out);
int native_array_or_none(PyObject *object, void *out);
/* From (sequence of str or bytes, shape): an array of strings. */
int native_strings_of(PyObject *object, void *out);
void native_array_drop(native_array *a);
/* NULL for an argument that was None. */
const sb_array *native_array_ref(const native_array *a);
/* TensorFlow's name of a type, as in "float32", and the bytes of an element; strings: 0. */
const char *native_dtype_name(sb_dtype dtype);
size_t native_itemsize(sb_dtype dtype);
/* A tuple of numbers; NULL with an error. */
PyObject *native_shape(const int64_t *dims, uint32_t rank);
PyObject *native_bytes_list(const sb_slice *texts, size_t count);
/* Whether a number of the array can be counted in a histogram: finite and not huge. */
bool native_array_has_countable(const native_array *a);

/* ---- numbers (number.c) ---------------------------------------------------------------------- */

/* A number from a Python number, or from anything with one element: a numpy array, a tensor. False
 * with an error. */
bool native_number(PyObject *object, double *out);
/* Steps: None is 0, floats are truncated, anything with __int__ or item() is taken. Converters for
 * "O&". */
int native_step_of(PyObject *object, void *int64_out);
/* A wall time: None is 0, which means now. */
int native_seconds_of(PyObject *object, void *double_out);
/* A tag: a str without a NUL. */
int native_tag_of(PyObject *object, void *chars_out);

#endif
