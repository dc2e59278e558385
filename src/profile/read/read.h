/* read.h: reads trace files of all formats into a trace. */
#ifndef SB_PROFILE_READ_H
#define SB_PROFILE_READ_H

#include "base/buf.h"
#include "fsio/fs.h"
#include "profile/read/bytes.h"
#include "profile/trace/trace.h"

typedef struct sb_trace_file {
    const char *path;
    sb_slice name; /* the name of the host or worker, as it is shown */
    /* For step statistics: the bytes of a RunMetadata message, instead of a path. */
    sb_slice run_metadata;
} sb_trace_file;

/* Reads one file of the capture, in any of the formats, as far as it can be read. SB_INVALID: its
 * format is none of them. SB_CANCELLED: the progress function cancelled the reading. */
sb_status sb_trace_read(sb_trace *t, const sb_fs *fs, const sb_trace_file *file, sb_err *err);
/* Called before the first file with the sum of all sizes, so that the progress is known. */
void sb_trace_expect(sb_trace *t, uint64_t bytes);
/* Reads one or more files into a new trace and finishes it. */
sb_status sb_trace_open(sb_trace **out, const sb_alloc *alloc, const sb_fs *fs,
                        const sb_trace_file *files, size_t n, const sb_trace_opts *opts,
                        sb_err *err);

/* The arguments of many spans: the file stays open, and names that they share stay loaded. It is
 * quickest in the order in which their records lie in the file. */
typedef struct sb_args_reader sb_args_reader;
sb_status sb_args_open(sb_args_reader **out, const sb_trace *t, sb_err *err);
void sb_args_close(sb_args_reader *r);
/* Appends the arguments of a span to `out`, as a JSON object; *category is in the arena. Only
 * traces of JSON have one. SB_REPLACED: the file has changed since it was read. */
sb_status sb_args_add(sb_args_reader *r, uint32_t track, uint32_t index, sb_buf *out,
                      sb_slice *category, sb_arena *arena, sb_err *err);
/* The same for one span. */
sb_status sb_span_args(const sb_trace *t, uint32_t track, uint32_t index, sb_buf *out,
                       sb_slice *category, sb_arena *arena, sb_err *err);

/* Inside the layer: the arguments of one record of a Chrome trace. */
sb_status sb_json_args(sb_trace_bytes *bytes, uint64_t at, sb_buf *out, sb_slice *category,
                       sb_arena *arena, sb_err *err);
/* Inside the layer: the readers of each format. */
sb_status sb_read_xspace(sb_trace *t, sb_trace_bytes *bytes, sb_err *err);
sb_status sb_read_chrome(sb_trace *t, sb_trace_bytes *bytes, sb_err *err);
sb_status sb_read_step_stats(sb_trace *t, sb_slice run_metadata, sb_err *err);
bool sb_derive_device_lines(sb_trace *t, uint32_t group);

#endif
