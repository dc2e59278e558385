/* event_file.h: one event file being written: its name, its header record, its bytes.
 *
 * Names (docs/formats/event-files.md): events.out.tfevents.SECONDS.HOST[.PID.N]SUFFIX. A name is
 * never taken twice: files are opened so that an existing one makes us try the next N.
 * Threads: belongs to the writer's thread (to the opener before it runs). */
#ifndef SB_WRITER_EVENT_FILE_H
#define SB_WRITER_EVENT_FILE_H

#include "base/buf.h"
#include "base/env.h"
#include "seaboard/writer.h"

typedef struct sb_event_file {
    const sb_env *env;
    sb_style style;
    const char *logdir;
    const char *suffix; /* NULL: the style's own */
    sb_buf path;        /* terminated */
    int file;           /* -1: none */
    uint64_t size;      /* bytes written to the file */
} sb_event_file;

void sb_event_file_init(sb_event_file *f, const sb_env *env, sb_style style, const char *logdir,
                        const char *suffix);
/* Creates the directory and a new file with its header record. Closes the previous file, if there
 * is one. */
sb_status sb_event_file_open(sb_event_file *f, sb_err *err);
/* Was the file removed from its directory since it was opened? */
bool sb_event_file_is_gone(const sb_event_file *f);
/* Appends data to the file. *done is the number of bytes written, also on failure. SB_IO with the
 * path and the system's reason. */
sb_status sb_event_file_write(sb_event_file *f, sb_slice data, size_t *done, sb_err *err);
/* Truncates the file to size bytes. */
sb_status sb_event_file_cut(sb_event_file *f, uint64_t size, sb_err *err);
sb_status sb_event_file_close(sb_event_file *f, sb_err *err);

static inline const char *sb_event_file_path(const sb_event_file *f) {
    return f->path.p ? (const char *)f->path.p : f->logdir;
}

#endif
