/* writer.h: the Writer type of the extension, for the files that add methods to it.
 *
 * A Writer knows how to open its event file, so that it can be opened again: what torch's writer
 * does when something is logged after close(). */
#ifndef SEABOARD_NATIVE_WRITER_H
#define SEABOARD_NATIVE_WRITER_H

#include "native.h"

typedef struct native_writer native_writer;
struct native_writer {
    PyObject_HEAD sb_writer *w; /* NULL: not open */
    char *logdir;
    char *suffix; /* NULL: the style's own */
    sb_style style;
    uint32_t max_queue, flush_millis;
    bool has_purge_step;
    int64_t purge_step;
    bool opens_again; /* a call after close() opens a new file; else it raises */
    bool is_off;      /* writes nothing: tensorboardX's write_to_disk=False */
    bool was_closed;
    bool has_warned;
    unsigned *busy;         /* calls on w that run without the global lock; one counter a file */
    unsigned generation;    /* of the process that used it last; forks count it up */
    sb_writer_stats before; /* of files that were closed */
    uint64_t failed;        /* reports of trouble */
    native_writer *next, **place; /* the list of open writers */
};

/* The open writer, opened when it has to be; NULL with an error, or without one when it is off. */
sb_writer *native_writer_get(native_writer *self);
/* What a call answered, as None, an exception, or a warning and None. */
PyObject *native_writer_done(native_writer *self, sb_writer *w, sb_status status);

/* CALL, without the global lock when large; `status` gets its result. */
#define NATIVE_CALL(self, large, status, CALL)                                                     \
    do {                                                                                           \
        unsigned *busy = (self)->busy; /* of this file: close() may begin meanwhile */             \
        ++*busy;                                                                                   \
        PyThreadState *saved = (large) ? PyEval_SaveThread() : NULL;                               \
        status = CALL;                                                                             \
        if (saved) PyEval_RestoreThread(saved);                                                    \
        --*busy;                                                                                   \
    } while (0)

/* What the methods for the kinds of summaries have in common. */
typedef struct native_call {
    const char *tag;
    int64_t step;
    sb_meta meta;
} native_call;

/* For PyArg_ParseTuple: tag, step, wall time, display name, description. */
#define NATIVE_CALL_FORMAT "O&O&O&zz"
#define NATIVE_CALL_ARGS(call)                                                                     \
    native_tag_of, &(call).tag, native_step_of, &(call).step, native_seconds_of,                   \
        &(call).meta.wall_time, &(call).meta.display_name, &(call).meta.description

extern PyMethodDef native_kind_methods[];   /* kinds.c */
extern PyMethodDef native_record_methods[]; /* records.c */

#endif
