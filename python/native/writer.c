/* writer.c: the Writer type: opening, closing, flushing, counting, and scalars.
 *
 * Scalars have their public method here, not in Python, since they are what is called a million
 * times. Everything else has a Python method on top. */
#include "writer.h"

#include <unistd.h>

static PyTypeObject *writer_type;
static native_writer *open_writers;
/* Set in the child of a fork; the first call there tells Python's part (_life.py). */
static bool is_new_process;
static unsigned generation; /* how many forks lie between this process and the first one */
static PyObject *new_process_hook;

/* ---- opening and closing --------------------------------------------------------------------- */

static void link_writer(native_writer *self) {
    self->next = open_writers;
    self->place = &open_writers;
    if (open_writers) open_writers->place = &self->next;
    open_writers = self;
}

static void unlink_writer(native_writer *self) {
    if (!self->place) return;
    *self->place = self->next;
    if (self->next) self->next->place = self->place;
    self->place = NULL;
}

static bool open_file(native_writer *self) {
    sb_err err;
    sb_writer *w = NULL;
    sb_status status;
    const sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = self->logdir, .style = self->style,
                .filename_suffix = self->suffix, .max_queue = self->max_queue,
                .flush_millis = self->flush_millis, .trouble = SB_TROUBLE_APART);
    PyThreadState *saved = PyEval_SaveThread();
    status = sb_writer_open(&w, &opts, &err);
    PyEval_RestoreThread(saved);
    if (status != SB_OK) return native_raise(status, err.text), false;
    unsigned *busy = self->w ? NULL : calloc(1, sizeof *busy);
    if (!busy) { /* another thread was faster, or there is no memory */
        sb_writer_close(w, NULL);
        return self->w || (PyErr_NoMemory(), false);
    }
    self->busy = busy;
    self->w = w;
    link_writer(self);
    if (self->has_purge_step && (!self->was_closed || self->style == SB_STYLE_TBX))
        sb_purge_step(w, self->purge_step);
    return true;
}

static bool tell_new_process(void) {
    is_new_process = false;
    if (!new_process_hook) return true;
    PyObject *result = PyObject_CallNoArgs(new_process_hook);
    Py_XDECREF(result);
    return result != NULL;
}

sb_writer *native_writer_get(native_writer *self) {
    if (is_new_process && !tell_new_process()) return NULL;
    self->generation = generation;
    if (self->w) return self->w;
    if (self->is_off) return NULL;
    if (!self->logdir) {
        PyErr_SetString(PyExc_RuntimeError, "this writer's __init__ was not called");
        return NULL;
    }
    if (self->was_closed && !self->opens_again) {
        PyErr_SetString(PyExc_RuntimeError, "SummaryWriter is already closed");
        return NULL;
    }
    return open_file(self) ? self->w : NULL;
}

static void add_stats(sb_writer_stats *sum, const sb_writer_stats *more) {
    sum->written += more->written;
    sum->dropped += more->dropped;
    sum->bytes += more->bytes;
    sum->pending += more->pending;
}

/* Nobody uses the file any more: waits for calls of other threads that copy large arrays. */
static sb_status close_file(native_writer *self, sb_err *err) {
    sb_writer *w = self->w;
    if (!w) return SB_OK;
    unsigned *busy = self->busy;
    self->w = NULL;
    self->busy = NULL;
    self->was_closed = true;
    unlink_writer(self);
    sb_status status;
    sb_writer_stats counts = SB_INIT(sb_writer_stats, .written = 0);
    bool is_ours = self->generation == generation;
    while (is_ours && *busy) {
        PyThreadState *let = PyEval_SaveThread();
        usleep(200);
        PyEval_RestoreThread(let);
    }
    PyThreadState *saved = PyEval_SaveThread();
    if (is_ours) { /* a child that never logged has nothing to write, and makes no file */
        sb_writer_flush(w, NULL);
        sb_writer_get_stats(w, &counts);
    }
    status = sb_writer_close(w, err);
    PyEval_RestoreThread(saved);
    free(busy);
    add_stats(&self->before, &counts);
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Trouble on the writer's thread (a full disk) does not stop a training: one warning a writer. */
static bool warn_once(native_writer *self, const char *text) {
    self->failed++;
    if (self->has_warned) return true;
    self->has_warned = true;
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 2,
                            "seaboard: %s (logging goes on; writer.stats() counts what is lost)",
                            text) == 0;
}

PyObject *native_writer_done(native_writer *self, sb_writer *w, sb_status status) {
    sb_err err;
    if (status != SB_OK) {
        bool is_trouble = status == SB_IO || status == SB_DROPPED;
        if (sb_writer_error(w, &err) == SB_OK)
            memcpy(err.text, sb_status_meaning(status), strlen(sb_status_meaning(status)) + 1);
        if (!is_trouble) return native_raise(status, err.text);
        sb_writer_trouble(w, NULL);
        return warn_once(self, err.text) ? Py_NewRef(Py_None) : NULL;
    }
    if (sb_writer_trouble(w, &err) != SB_OK && !warn_once(self, err.text)) return NULL;
    return Py_NewRef(Py_None);
}

/* ---- scalars --------------------------------------------------------------------------------- */

enum {
    TAG,
    VALUE,
    STEP,
    TIME,
    NEW_STYLE,
    DOUBLE_PRECISION,
    DISPLAY_NAME,
    DESCRIPTION,
    SCALAR_ARGS
};

static const char *const scalar_names[SCALAR_ARGS] = {
    "tag",       "scalar_value",     "global_step",  "walltime",
    "new_style", "double_precision", "display_name", "summary_description"};
static PyObject *scalar_keys[SCALAR_ARGS]; /* the same, interned */
static PyObject *wrong_keyword_hook;

static int scalar_place(PyObject *key) {
    for (int i = 0; i < SCALAR_ARGS; i++)
        if (key == scalar_keys[i]) return i;
    for (int i = 0; i < SCALAR_ARGS; i++)
        if (PyUnicode_CompareWithASCIIString(key, scalar_names[i]) == 0) return i;
    return -1;
}

/* Says which method has a keyword that add_scalar has not. */
static bool refuse_keyword(PyObject *key) {
    if (wrong_keyword_hook) {
        PyObject *result = PyObject_CallFunction(wrong_keyword_hook, "sO", "add_scalar", key);
        Py_XDECREF(result);
        if (PyErr_Occurred()) return false;
    }
    PyErr_Format(PyExc_TypeError, "add_scalar() got an unexpected keyword argument '%U'", key);
    return false;
}

static bool sort_scalar_args(const native_writer *self, PyObject *const *args, Py_ssize_t n,
                             PyObject *names, PyObject **sorted) {
    Py_ssize_t most = self->style == SB_STYLE_TORCH ? SCALAR_ARGS : SCALAR_ARGS - 2;
    if (n > most) {
        PyErr_Format(PyExc_TypeError, "add_scalar() takes at most %zd arguments, %zd were given",
                     most, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        /* tensorboardX has no new_style */
        bool is_named = i > TIME && self->style != SB_STYLE_TORCH;
        sorted[is_named ? i + 2 : i] = args[i];
    }
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *key = PyTuple_GetItem(names, i);
        int place = scalar_place(key);
        if (place < 0) return refuse_keyword(key);
        if (sorted[place]) {
            PyErr_Format(PyExc_TypeError, "add_scalar() got two values for '%U'", key);
            return false;
        }
        sorted[place] = args[n + i];
    }
    if (sorted[TAG] && sorted[VALUE]) return true;
    PyErr_Format(PyExc_TypeError, "add_scalar() is called without '%s'",
                 scalar_names[sorted[TAG] ? VALUE : TAG]);
    return false;
}

static bool optional_text(PyObject *object, const char **out) {
    if (!object || object == Py_None) return true;
    if (!native_tag_of(object, out)) return false;
    if (!**out) *out = NULL;
    return true;
}

PyDoc_STRVAR(
    add_scalar_doc,
    "add_scalar($self, tag, scalar_value, global_step=None, walltime=None, new_style=False,\n"
    "           double_precision=False, display_name='', summary_description='')\n"
    "--\n\n"
    "Adds one number to a series.\n\n"
    "tag: the name of the series. scalar_value: a number, or an array or tensor of one element.\n"
    "global_step: the step (x axis); None is 0. walltime: seconds since 1970; None is now.\n"
    "new_style: store it as a tensor with metadata, as tf.summary does.\n"
    "double_precision: with new_style, store all 64 bits.\n"
    "display_name, summary_description: shown with the chart (Markdown).");

static PyObject *add_scalar(PyObject *object, PyObject *const *args, Py_ssize_t n,
                            PyObject *names) {
    native_writer *self = (native_writer *)object;
    PyObject *sorted[SCALAR_ARGS] = {0};
    if (!names && n <= 4) memcpy(sorted, args, (size_t)n * sizeof *sorted);
    if ((names || n > 4 || n < 2) && !sort_scalar_args(self, args, n, names, sorted)) return NULL;
    const char *tag;
    double value;
    int64_t step = 0;
    if (!native_tag_of(sorted[TAG], &tag) || !native_number(sorted[VALUE], &value)) return NULL;
    if (sorted[STEP] && !native_step_of(sorted[STEP], &step)) return NULL;
    sb_writer *w = native_writer_get(self);
    if (!w) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    sb_status status;
    if (!names && n <= 3) {
        status = sb_scalar(w, tag, value, step);
    } else {
        sb_meta meta = SB_INIT(sb_meta, .wall_time = 0);
        sb_scalar_form form = SB_SCALAR_DEFAULT;
        if (sorted[TIME] && !native_seconds_of(sorted[TIME], &meta.wall_time)) return NULL;
        if (!optional_text(sorted[DISPLAY_NAME], &meta.display_name)) return NULL;
        if (!optional_text(sorted[DESCRIPTION], &meta.description)) return NULL;
        if (sorted[NEW_STYLE] && PyObject_IsTrue(sorted[NEW_STYLE])) {
            bool is_double = sorted[DOUBLE_PRECISION] && PyObject_IsTrue(sorted[DOUBLE_PRECISION]);
            form = is_double ? SB_SCALAR_DOUBLE : SB_SCALAR_TENSOR;
        }
        status = sb_scalar_as(w, tag, value, step, form, &meta);
    }
    return native_writer_done(self, w, status);
}

/* ---- methods --------------------------------------------------------------------------------- */

static PyObject *flush(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    if (!self->w || self->generation != generation) Py_RETURN_NONE;
    sb_err err;
    sb_status status;
    sb_writer *w = self->w;
    NATIVE_CALL(self, true, status, sb_writer_flush(w, &err));
    sb_writer_trouble(w, NULL); /* this failure is reported below */
    if (status == SB_OK) Py_RETURN_NONE;
    return warn_once(self, err.text) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *close_writer(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    sb_err err;
    sb_status status = close_file(self, &err);
    self->was_closed = true;
    if (status == SB_OK) Py_RETURN_NONE;
    return warn_once(self, err.text) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *open_writer(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    if (self->is_off) Py_RETURN_NONE;
    bool was_closed = self->was_closed;
    self->was_closed = self->was_closed && self->opens_again;
    sb_writer *w = native_writer_get(self);
    self->was_closed = was_closed;
    return w ? Py_NewRef(Py_None) : NULL;
}

static PyObject *stats(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    sb_writer_stats now = SB_INIT(sb_writer_stats, .written = 0);
    if (self->w && self->generation == generation) sb_writer_get_stats(self->w, &now);
    add_stats(&now, &self->before);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "written", (unsigned long long)now.written,
                         "dropped", (unsigned long long)now.dropped, "bytes",
                         (unsigned long long)now.bytes, "pending", (unsigned long long)now.pending,
                         "failures", (unsigned long long)self->failed);
}

static PyObject *event_path(PyObject *object, PyObject *unused) {
    (void)unused;
    native_writer *self = (native_writer *)object;
    if (!self->w) Py_RETURN_NONE;
    size_t n = sb_writer_path(self->w, NULL, 0);
    char *path = malloc(n + 1);
    if (!path) return PyErr_NoMemory();
    sb_writer_path(self->w, path, n + 1);
    PyObject *result = PyUnicode_DecodeFSDefaultAndSize(path, (Py_ssize_t)n);
    free(path);
    return result;
}

static PyObject *is_open(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((native_writer *)object)->w != NULL);
}

/* ---- the type -------------------------------------------------------------------------------- */

static char *copy_path(PyObject *path) {
    PyObject *bytes = native_path(path);
    char *copy = bytes ? strdup(PyBytes_AsString(bytes)) : NULL;
    if (bytes && !copy) PyErr_NoMemory();
    Py_XDECREF(bytes);
    return copy;
}

/* logdir, style, max_queue, flush_millis, filename_suffix, purge_step, opens_again, is_off */
static int init(PyObject *object, PyObject *args, PyObject *names) {
    (void)names;
    native_writer *self = (native_writer *)object;
    PyObject *logdir, *purge_step = Py_None;
    const char *suffix = NULL;
    int style = 0, opens_again = 0, is_off = 0;
    long long max_queue = 10, flush_millis = 120000;
    if (!PyArg_ParseTuple(args, "O|iLLzOpp:Writer", &logdir, &style, &max_queue, &flush_millis,
                          &suffix, &purge_step, &opens_again, &is_off))
        return -1;
    if (self->logdir) {
        PyErr_SetString(PyExc_RuntimeError, "a writer can't be initialised twice");
        return -1;
    }
    self->has_purge_step = purge_step != Py_None;
    if (!native_step_of(purge_step, &self->purge_step)) return -1;
    self->logdir = copy_path(logdir);
    if (!self->logdir) return -1;
    self->suffix = suffix ? strdup(suffix) : NULL;
    self->style = (sb_style)style;
    self->max_queue = max_queue < 1 ? 1 : max_queue > UINT32_MAX ? UINT32_MAX : (uint32_t)max_queue;
    self->flush_millis = flush_millis < 1            ? 1
                         : flush_millis > UINT32_MAX ? UINT32_MAX
                                                     : (uint32_t)flush_millis;
    self->opens_again = opens_again;
    self->is_off = is_off;
    return 0;
}

static void dealloc(PyObject *object) {
    native_writer *self = (native_writer *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    close_file(self, NULL);
    PyErr_Restore(kind, value, trace);
    free(self->logdir);
    free(self->suffix);
    freefunc give_back = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give_back(object);
    Py_DECREF(type);
}

static PyMethodDef own_methods[] = {
    {"add_scalar", (PyCFunction)(void (*)(void))add_scalar, METH_FASTCALL | METH_KEYWORDS,
     add_scalar_doc},
    {"flush", flush, METH_NOARGS,
     "flush($self)\n--\n\nReturns when everything logged so far is in the file."},
    {"close", close_writer, METH_NOARGS,
     "close($self)\n--\n\nWrites what is pending and closes the event file."},
    {"_open", open_writer, METH_NOARGS, "Opens the event file now."},
    {"stats", stats, METH_NOARGS,
     "stats($self)\n--\n\nCounts: calls written, calls dropped (full disk), bytes in the file, "
     "bytes pending,\nand reports of trouble."},
    {"_event_path", event_path, METH_NOARGS, "The path of the open event file, or None."},
    {"_is_open", is_open, METH_NOARGS, "Whether an event file is open."},
    {NULL, NULL, 0, NULL},
};

/* All methods in one table: those of this file, then those of the others. */
static PyMethodDef *join_methods(void) {
    PyMethodDef *const parts[] = {own_methods, native_kind_methods, native_record_methods};
    static PyMethodDef all[64];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const PyMethodDef *m = parts[i]; m->ml_name && n < 63; m++) all[n++] = *m;
    return all;
}

/* ---- the life of the process ----------------------------------------------------------------- */

static PyObject *flush_all(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    for (native_writer *at = open_writers; at;) {
        native_writer *next = at->next;
        Py_INCREF((PyObject *)at);
        PyObject *result = flush((PyObject *)at, NULL);
        if (!result) PyErr_Clear();
        Py_XDECREF(result);
        Py_DECREF((PyObject *)at);
        at = next;
    }
    Py_RETURN_NONE;
}

static PyObject *process_is_new(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    is_new_process = true;
    generation++;
    Py_RETURN_NONE;
}

static PyObject *set_hooks(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *process, *keyword;
    if (!PyArg_ParseTuple(args, "OO", &process, &keyword)) return NULL;
    Py_XDECREF(new_process_hook);
    Py_XDECREF(wrong_keyword_hook);
    new_process_hook = Py_NewRef(process);
    wrong_keyword_hook = Py_NewRef(keyword);
    is_new_process = true;
    Py_RETURN_NONE;
}

static PyObject *clean_tag(PyObject *module, PyObject *tag) {
    (void)module;
    const char *text;
    if (!native_tag_of(tag, &text)) return NULL;
    size_t n = sb_tag_clean(text, NULL, 0);
    char *clean = malloc(n + 1);
    if (!clean) return PyErr_NoMemory();
    sb_tag_clean(text, clean, n + 1);
    PyObject *result = PyUnicode_FromStringAndSize(clean, (Py_ssize_t)n);
    free(clean);
    return result;
}

static PyMethodDef functions[] = {
    {"flush_all", flush_all, METH_NOARGS, "Flushes every open writer."},
    {"process_is_new", process_is_new, METH_NOARGS, "Called in the child of a fork."},
    {"set_hooks", set_hooks, METH_VARARGS,
     "What to call in a new process and for a wrong keyword."},
    {"clean_tag", clean_tag, METH_O, "A tag as TF1 and tensorboardX clean it."},
    {NULL, NULL, 0, NULL},
};

bool native_writer_init(PyObject *module) {
    static char doc[] = "An event file that is being written: what SummaryWriter and tf.summary's "
                        "writer stand on.";
    static PyType_Slot slots[] = {
        {Py_tp_init, init}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, NULL}, {Py_tp_doc, doc},
        {0, NULL},
    };
    slots[2].pfunc = join_methods();
    static PyType_Spec spec = {"seaboard._native.Writer", sizeof(native_writer), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    for (int i = 0; i < SCALAR_ARGS; i++) {
        scalar_keys[i] = PyUnicode_InternFromString(scalar_names[i]);
        if (!scalar_keys[i]) return false;
    }
    return native_add_type(module, &spec, &writer_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
