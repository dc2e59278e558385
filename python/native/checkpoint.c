/* checkpoint.c: the objects of a Python program as the library's, to save and to restore them.
 *
 * A Tree is filled by the Python files, one call an object: variables borrow the memory of arrays,
 * which are kept until the tree is cleared. The library knows what the tree means
 * (seaboard/checkpoint.h): matching, deferred values, keys, files. */
#include "checkpoint.h"

PyTypeObject *native_tree_type;

/* ---- life ------------------------------------------------------------------------------------ */

static void drop_nodes(native_tree *self) {
    for (size_t i = 0; i < self->count; i++) {
        if (!self->nodes[i].array) continue;
        native_array_drop(self->nodes[i].array);
        free(self->nodes[i].array);
    }
    self->count = 0;
    self->restore = NULL;
}

/* The number of a new node, -1 with an error. */
static Py_ssize_t push_node(native_tree *self, sb_object *object, native_array *array) {
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 64;
        native_node *more = realloc(self->nodes, room * sizeof *more);
        if (!more) return PyErr_NoMemory(), -1;
        self->nodes = more;
        self->room = room;
    }
    self->nodes[self->count] = (native_node){object, array};
    return (Py_ssize_t)self->count++;
}

static int tree_init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    native_tree *self = (native_tree *)object;
    sb_err err;
    if (!PyArg_ParseTuple(args, ":Tree")) return -1;
    if (self->c) return PyErr_SetString(PyExc_RuntimeError, "the tree is there already"), -1;
    sb_status status = sb_checkpoint_new(&self->c, &err);
    if (status != SB_OK) return native_raise(status, err.text), -1;
    return push_node(self, sb_checkpoint_root(self->c), NULL) < 0 ? -1 : 0;
}

static void tree_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    native_tree *self = (native_tree *)object;
    sb_checkpoint_free(self->c);
    drop_nodes(self);
    free(self->nodes);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

bool native_tree_is_free(native_tree *self) {
    if (self->c && !self->is_busy) return true;
    PyErr_SetString(PyExc_RuntimeError,
                    self->is_busy ? "another thread is saving or restoring this checkpoint"
                                  : "the checkpoint is not open");
    return false;
}

static PyObject *tree_clear(PyObject *object, PyObject *unused) {
    (void)unused;
    native_tree *self = (native_tree *)object;
    if (!native_tree_is_free(self)) return NULL;
    sb_checkpoint_clear(self->c);
    drop_nodes(self);
    if (push_node(self, sb_checkpoint_root(self->c), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- objects --------------------------------------------------------------------------------- */

static native_node *node_at(native_tree *self, Py_ssize_t i) {
    if (!native_tree_is_free(self)) return NULL;
    if (i >= 0 && (size_t)i < self->count) return &self->nodes[i];
    PyErr_Format(PyExc_IndexError, "there is no object %zd", i);
    return NULL;
}

static PyObject *number_of(native_tree *self, sb_object *made, native_array *array) {
    Py_ssize_t number = push_node(self, made, array);
    return number < 0 ? NULL : PyLong_FromSsize_t(number);
}

static PyObject *tree_add(PyObject *object, PyObject *args) {
    native_tree *self = (native_tree *)object;
    Py_ssize_t parent;
    const char *name;
    sb_object *made = NULL;
    sb_err err;
    if (!PyArg_ParseTuple(args, "ns:add", &parent, &name)) return NULL;
    native_node *at = node_at(self, parent);
    if (!at) return NULL;
    sb_status status = sb_object_add(&made, at->object, name, &err);
    return status == SB_OK ? number_of(self, made, NULL) : native_raise(status, err.text);
}

static PyObject *tree_link(PyObject *object, PyObject *args) {
    native_tree *self = (native_tree *)object;
    Py_ssize_t parent, child;
    const char *name;
    sb_err err;
    if (!PyArg_ParseTuple(args, "nsn:link", &parent, &name, &child)) return NULL;
    native_node *from = node_at(self, parent), *to = from ? node_at(self, child) : NULL;
    if (!to) return NULL;
    sb_status status = sb_object_link(from->object, name, to->object, &err);
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool is_contiguous(const native_array *a) {
    int64_t next = (int64_t)a->bytes;
    if (a->array.dtype == SB_STRING) return true;
    for (uint32_t i = 0; i < a->array.rank; i++) {
        if (a->dims[i] == 0) return true;
        next /= a->dims[i];
        if (a->dims[i] != 1 && a->strides[i] != next) return false;
    }
    return true;
}

bool native_variable_of(sb_variable *out, native_array *a, const char *full_name, bool is_written) {
    const char *trouble = !is_contiguous(a) ? "the array of a variable must be contiguous"
                          : is_written && a->has_view && a->view.readonly
                              ? "the array of a variable is read-only, so it can't be restored"
                              : NULL;
    if (trouble) return PyErr_SetString(PyExc_ValueError, trouble), false;
    *out = SB_INIT(sb_variable, .dtype = a->array.dtype, .rank = a->array.rank, .dims = a->dims,
                   .data = (void *)(uintptr_t)a->array.data, .full_name = full_name);
    return true;
}

/* An array argument on the heap, where its memory stays: from an array, or (strings, shape). */
static native_array *array_of(PyObject *given) {
    native_array *a = calloc(1, sizeof *a);
    if (!a) return PyErr_NoMemory(), NULL;
    bool is_text = PyTuple_Check(given) && PyTuple_Size(given) == 2 &&
                   PyTuple_Check(PyTuple_GetItem(given, 0));
    if (is_text ? native_strings_of(given, a) : native_array_of(given, a)) return a;
    free(a);
    return NULL;
}

static void free_array(native_array *a) {
    native_array_drop(a);
    free(a);
}

/* With a slot's variable: the slot of an optimizer; else the child of an object. */
static PyObject *add_variable(native_tree *self, Py_ssize_t parent, Py_ssize_t owner,
                              const char *name, const char *full_name, PyObject *given,
                              int is_written) {
    native_node *at = node_at(self, parent), *of = owner < 0 ? NULL : node_at(self, owner);
    if (!at || (owner >= 0 && !of)) return NULL;
    sb_object *parent_object = at->object, *owner_object = of ? of->object : NULL, *made = NULL;
    native_array *a = array_of(given);
    sb_variable v;
    sb_err err;
    if (!a) return NULL;
    if (!native_variable_of(&v, a, full_name, is_written)) return free_array(a), NULL;
    sb_status status = owner_object
                           ? sb_object_add_slot(&made, parent_object, owner_object, name, &v, &err)
                           : sb_object_add_variable(&made, parent_object, name, &v, &err);
    if (made) { /* it points to the array, even when its value could not be read */
        PyObject *number = number_of(self, made, a);
        if (status == SB_OK) return number;
        Py_XDECREF(number);
    } else {
        free_array(a);
    }
    return native_raise(status, err.text);
}

static PyObject *tree_variable(PyObject *object, PyObject *args) {
    Py_ssize_t parent;
    const char *name, *full_name;
    PyObject *given;
    int is_written;
    if (!PyArg_ParseTuple(args, "nszOp:variable", &parent, &name, &full_name, &given, &is_written))
        return NULL;
    return add_variable((native_tree *)object, parent, -1, name, full_name, given, is_written);
}

static PyObject *tree_slot(PyObject *object, PyObject *args) {
    Py_ssize_t optimizer, variable;
    const char *name, *full_name;
    PyObject *given;
    int is_written;
    if (!PyArg_ParseTuple(args, "nnszOp:slot", &optimizer, &variable, &name, &full_name, &given,
                          &is_written))
        return NULL;
    return add_variable((native_tree *)object, optimizer, variable, name, full_name, given,
                        is_written);
}

static size_t count_of(const sb_array *a) {
    size_t count = 1;
    for (uint32_t i = 0; i < a->rank; i++) count *= (size_t)a->dims[i];
    return count;
}

/* The strings of a variable, as they are now. */
static PyObject *tree_strings(PyObject *object, PyObject *index) {
    native_node *at = node_at((native_tree *)object, PyLong_AsSsize_t(index));
    if (!at || PyErr_Occurred()) return NULL;
    if (!at->array || at->array->array.dtype != SB_STRING)
        return PyErr_SetString(PyExc_TypeError, "this is no variable of strings"), NULL;
    return native_bytes_list(at->array->array.data, count_of(&at->array->array));
}

static PyObject *tree_is_restored(PyObject *object, PyObject *index) {
    native_node *at = node_at((native_tree *)object, PyLong_AsSsize_t(index));
    if (!at || PyErr_Occurred()) return NULL;
    return PyBool_FromLong(sb_object_is_restored(at->object, NULL));
}

static PyObject *tree_is_value_restored(PyObject *object, PyObject *args) {
    Py_ssize_t index;
    const char *name;
    if (!PyArg_ParseTuple(args, "ns:is_value_restored", &index, &name)) return NULL;
    native_node *at = node_at((native_tree *)object, index);
    return at ? PyBool_FromLong(sb_object_is_restored(at->object, name)) : NULL;
}

/* Lets go of the memory of a variable that was restored: the library does not look at it again,
 * since a tree is restored once. */
static PyObject *tree_release(PyObject *object, PyObject *index) {
    native_node *at = node_at((native_tree *)object, PyLong_AsSsize_t(index));
    if (!at || PyErr_Occurred()) return NULL;
    if (at->array && sb_object_is_restored(at->object, NULL)) {
        free_array(at->array);
        at->array = NULL;
    }
    Py_RETURN_NONE;
}

static void append_name(PyObject **names, const char *name) {
    PyObject *text = PyUnicode_FromString(name);
    if (!text || PyList_Append(*names, text) != 0) Py_CLEAR(*names);
    Py_XDECREF(text);
}

static PyObject *tree_awaited(PyObject *object, PyObject *index) {
    native_node *at = node_at((native_tree *)object, PyLong_AsSsize_t(index));
    if (!at || PyErr_Occurred()) return NULL;
    PyObject *names = PyList_New(0);
    const char *name;
    for (size_t i = 0; names && (name = sb_object_awaited(at->object, i)); i++)
        append_name(&names, name);
    return names;
}

static PyObject *tree_awaited_slots(PyObject *object, PyObject *args) {
    Py_ssize_t optimizer, variable;
    const char *name;
    if (!PyArg_ParseTuple(args, "nn:awaited_slots", &optimizer, &variable)) return NULL;
    native_node *at = node_at((native_tree *)object, optimizer);
    native_node *of = at ? node_at((native_tree *)object, variable) : NULL;
    if (!of) return NULL;
    PyObject *names = PyList_New(0);
    for (size_t i = 0; names && (name = sb_object_awaited_slot(at->object, of->object, i)); i++)
        append_name(&names, name);
    return names;
}

/* ---- values that are no variables ------------------------------------------------------------ */

static PyObject *tree_set_value(PyObject *object, PyObject *args) {
    Py_ssize_t index;
    const char *name;
    PyObject *given;
    sb_err err;
    if (!PyArg_ParseTuple(args, "nsO:set_value", &index, &name, &given)) return NULL;
    native_node *at = node_at((native_tree *)object, index);
    native_array *a = at ? array_of(given) : NULL;
    if (!a) return NULL;
    sb_array array = a->array;
    array.strides = NULL;
    sb_status status = SB_INVALID;
    if (is_contiguous(a))
        status = sb_object_set_value(at->object, name, &array, &err);
    else
        PyErr_SetString(PyExc_ValueError, "the array of a value must be contiguous");
    free_array(a);
    if (PyErr_Occurred()) return NULL;
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

/* (type's name, shape, bytes or a list of bytes) */
static PyObject *tree_get_value(PyObject *object, PyObject *args) {
    Py_ssize_t index;
    const char *name;
    sb_array array;
    sb_err err;
    if (!PyArg_ParseTuple(args, "ns:get_value", &index, &name)) return NULL;
    native_node *at = node_at((native_tree *)object, index);
    if (!at) return NULL;
    sb_status status = sb_object_get_value(at->object, name, &array, &err);
    if (status != SB_OK) return native_raise(status, err.text);
    PyObject *shape = native_shape(array.dims, array.rank);
    if (!shape) return NULL;
    size_t count = count_of(&array);
    PyObject *data =
        array.dtype == SB_STRING || array.dtype == SB_VARIANT
            ? native_bytes_list(array.data, count)
            : native_bytes((sb_slice){array.data, count * native_itemsize(array.dtype)});
    return data ? Py_BuildValue("sNN", native_dtype_name(array.dtype), shape, data)
                : (Py_DECREF(shape), NULL);
}

/* ---- saving and restoring -------------------------------------------------------------------- */

static PyObject *write_files(native_tree *self, PyObject *args, bool is_numbered) {
    PyObject *prefix = NULL;
    const char *path = NULL;
    sb_err err;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &prefix)) return NULL;
    if (!native_tree_is_free(self)) return Py_DECREF(prefix), NULL;
    const char *text = PyBytes_AsString(prefix);
    self->is_busy = true;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = is_numbered ? sb_checkpoint_save(self->c, text, NULL, &path, &err)
                                   : sb_checkpoint_write(self->c, text, NULL, &err);
    PyEval_RestoreThread(saved);
    self->is_busy = false;
    PyObject *result = status == SB_OK ? PyUnicode_DecodeFSDefault(is_numbered ? path : text)
                                       : native_raise(status, err.text);
    Py_DECREF(prefix);
    return result;
}

static PyObject *tree_save(PyObject *object, PyObject *args) {
    return write_files((native_tree *)object, args, true);
}

static PyObject *tree_write(PyObject *object, PyObject *args) {
    return write_files((native_tree *)object, args, false);
}

static PyObject *tree_restore(PyObject *object, PyObject *args) {
    native_tree *self = (native_tree *)object;
    PyObject *path = NULL;
    int with_counter;
    sb_err err;
    if (!PyArg_ParseTuple(args, "O&p:restore", PyUnicode_FSConverter, &path, &with_counter))
        return NULL;
    if (!native_tree_is_free(self)) return Py_DECREF(path), NULL;
    self->is_busy = true;
    PyThreadState *saved = PyEval_SaveThread();
    sb_status status = (with_counter ? sb_checkpoint_restore : sb_checkpoint_read)(
        self->c, PyBytes_AsString(path), &self->restore, &err);
    PyEval_RestoreThread(saved);
    self->is_busy = false;
    Py_DECREF(path);
    if (status != SB_OK) return native_raise(status, err.text);
    Py_RETURN_NONE;
}

/* None, or what is wrong, as a text. */
static PyObject *tree_check(PyObject *object, PyObject *args) {
    native_tree *self = (native_tree *)object;
    const char *what;
    sb_err err;
    if (!PyArg_ParseTuple(args, "s:check", &what) || !native_tree_is_free(self)) return NULL;
    if (!self->restore) return PyErr_SetString(PyExc_RuntimeError, "nothing was restored"), NULL;
    sb_status status = strcmp(what, "consumed") == 0
                           ? sb_restore_assert_consumed(self->restore, &err)
                       : strcmp(what, "existing") == 0
                           ? sb_restore_assert_existing_objects_matched(self->restore, &err)
                           : sb_restore_assert_nontrivial_match(self->restore, &err);
    if (status == SB_OK) Py_RETURN_NONE;
    return native_text((sb_slice){(const uint8_t *)err.text, strlen(err.text)});
}

static PyObject *tree_unused(PyObject *object, PyObject *unused) {
    (void)unused;
    native_tree *self = (native_tree *)object;
    PyObject *keys = PyList_New(0);
    const char *key;
    for (size_t i = 0; keys && self->restore && (key = sb_restore_unused(self->restore, i)); i++) {
        PyObject *text = PyUnicode_DecodeUTF8(key, (Py_ssize_t)strlen(key), "surrogateescape");
        if (!text || PyList_Append(keys, text) != 0) Py_CLEAR(keys);
        Py_XDECREF(text);
    }
    return keys;
}

static PyObject *tree_counter(PyObject *object, PyObject *unused) {
    (void)unused;
    native_tree *self = (native_tree *)object;
    return native_tree_is_free(self) ? PyLong_FromLongLong(sb_checkpoint_save_counter(self->c))
                                     : NULL;
}

static PyObject *tree_set_counter(PyObject *object, PyObject *count) {
    native_tree *self = (native_tree *)object;
    int64_t number = PyLong_AsLongLong(count);
    if (PyErr_Occurred() || !native_tree_is_free(self)) return NULL;
    sb_checkpoint_set_save_counter(self->c, number);
    Py_RETURN_NONE;
}

bool native_checkpoint_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"add", tree_add, METH_VARARGS, "Adds an object: parent, name."},
        {"link", tree_link, METH_VARARGS, "One more edge: parent, name, child."},
        {"variable", tree_variable, METH_VARARGS, "parent, name, full name, array, is written."},
        {"slot", tree_slot, METH_VARARGS,
         "optimizer, variable, name, full name, array, is written."},
        {"strings", tree_strings, METH_O, "The strings of a variable."},
        {"is_restored", tree_is_restored, METH_O, "Whether a restore has set this variable."},
        {"is_value_restored", tree_is_value_restored, METH_VARARGS, "object, name of the value."},
        {"release", tree_release, METH_O, "Lets go of the memory of a restored variable."},
        {"awaited", tree_awaited, METH_O, "Children that a restore has values for."},
        {"awaited_slots", tree_awaited_slots, METH_VARARGS,
         "Slots that a restore has values for: optimizer, variable."},
        {"set_value", tree_set_value, METH_VARARGS, "object, name, array."},
        {"get_value", tree_get_value, METH_VARARGS, "object, name."},
        {"save", tree_save, METH_VARARGS, "Writes PREFIX-<counter>."},
        {"write", tree_write, METH_VARARGS, "Writes PREFIX."},
        {"restore", tree_restore, METH_VARARGS, "path, with save_counter."},
        {"check", tree_check, METH_VARARGS, "What is wrong, or None."},
        {"unused", tree_unused, METH_NOARGS, "Keys that no object has asked for."},
        {"counter", tree_counter, METH_NOARGS, "save_counter."},
        {"set_counter", tree_set_counter, METH_O, "Sets save_counter."},
        {"clear", tree_clear, METH_NOARGS, "Removes all objects."},
        {NULL, NULL, 0, NULL},
    };
    return native_add_class(module, "seaboard._native.Tree", sizeof(native_tree), tree_init,
                            tree_dealloc, methods, &native_tree_type) &&
           native_manager_init(module) && native_saver_init(module) && native_ckpt_init(module);
}
