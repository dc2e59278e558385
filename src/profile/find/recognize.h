/* recognize.h: is a JSON file a trace, and of which rank? Told by its first bytes, since its name
 * may say nothing: torch's `export_chrome_trace` and TensorFlow 1's `Timeline` write to whatever
 * name they are given (`trace_10.json`, `timeline.json`).
 *
 * What was found out about a file is remembered until its size or its time changes: a log directory
 * may hold many thousand other JSON files, and is walked again and again.
 *
 * Threads: a memory belongs to one thread. Cost: the first time a file is seen, or after it has
 * changed, three system calls and 16 KiB; else a look-up. */
#ifndef SB_PROFILE_RECOGNIZE_H
#define SB_PROFILE_RECOGNIZE_H

#include "base/env.h"
#include "fsio/fs.h"
#include "profile/trace/trace.h"

typedef struct sb_recognized sb_recognized;

typedef struct sb_trace_head {
    sb_trace_format format; /* Kineto or Chrome */
    /* of torch, which writes `distributedInfo` before the events; -1: these bytes do not say */
    int64_t rank, world;
} sb_trace_head;

/* NULL: no memory. */
sb_recognized *sb_recognized_new(const sb_alloc *alloc);
void sb_recognized_free(sb_recognized *r);

/* Is this file, of which `info` was just asked for, a trace, plain or gzip? Then *head is filled.
 * What cannot be read is none. With r = NULL nothing is remembered. */
bool sb_recognize_trace(sb_recognized *r, const sb_env *env, const char *path,
                        const sb_file_info *info, sb_trace_head *head);
/* The same for the first bytes of its content. */
bool sb_begins_trace(sb_slice text, sb_trace_head *head);

#endif
