/* profiles.h: the captures of the log directory, and those that are open: parsed, in memory.
 *
 * A thread walks the log directory now and then and keeps the list; seldom where nobody asks for
 * it, so that an idle server costs nothing. A capture is opened by a background job; the result is
 * a trace that stays until others need its room. A request that uses a trace holds a reference to
 * it.
 *
 * Threads: all functions but new and free may be called from any. */
#ifndef SB_SERVER_PROFILES_H
#define SB_SERVER_PROFILES_H

#include "profile/analysis/analysis.h"
#include "profile/find/capture.h"
#include "profile/read/read.h"
#include "server/jobs/jobs.h"

typedef struct sb_profiles sb_profiles;

typedef struct sb_profiles_opts {
    const sb_env *env;
    const sb_capture_root *roots; /* copied */
    size_t root_count;
    double interval; /* seconds between walks; 0: one walk */
    size_t bytes;    /* of traces that are kept; one may be larger: it is then the only one */
    const char *spool_dir;
    void (*changed)(void *ud); /* the list changed, or a capture was opened; may be NULL */
    void *ud;
} sb_profiles_opts;

sb_status sb_profiles_new(sb_profiles **out, const sb_profiles_opts *opts, sb_err *err);
/* Ends the walk, and waits for it; NULL is fine. */
void sb_profiles_stop(sb_profiles *p);
/* Every trace must have been released. */
void sb_profiles_free(sb_profiles *p);

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct sb_profile_list {
    sb_captures captures;
    bool is_scanning; /* the first walk is not over */
    uint64_t version; /* changes with the list */
} sb_profile_list;

/* The list as it is now, held for the caller until it is released. */
void *sb_profiles_hold_list(sb_profiles *p, sb_profile_list *out);
void sb_profiles_release_list(sb_profiles *p, void *held);
size_t sb_profiles_count(sb_profiles *p);

/* ---- open captures --------------------------------------------------------------------------- */

typedef struct sb_kept_trace {
    const sb_trace *trace;
    const sb_analysis *analysis;
    char epoch[SB_CAPTURE_ID + 1];
} sb_kept_trace;

typedef struct sb_profile_summary {
    bool is_known;
    int64_t step_ps;
    double busy; /* -1: no device */
    double read;
    uint64_t odd;
} sb_profile_summary;

typedef enum sb_profile_state {
    SB_PROFILE_CLOSED,
    SB_PROFILE_OPEN,
    SB_PROFILE_FAILED
} sb_profile_state;

typedef struct sb_profile_info {
    sb_profile_state state;
    uint64_t job; /* the last one that was submitted; 0: none */
    sb_profile_summary summary;
    sb_status why; /* it failed; SB_OK: it did not */
    char error[200];
} sb_profile_info;

/* The trace, held for the caller; NULL: it is not open, or its files have changed since. */
const sb_kept_trace *sb_profiles_find(sb_profiles *p, sb_slice id);
void sb_profiles_release(sb_profiles *p, const sb_kept_trace *kept);
void sb_profiles_info(sb_profiles *p, const sb_capture *c, sb_profile_info *out);
/* A text that is different for every time that a capture has to be parsed; for the job's key. */
uint64_t sb_profiles_generation(sb_profiles *p, const sb_capture *c);
/* Before a job is submitted: forgets that it failed. The job may be over before its number is
 * set. */
void sb_profiles_try_again(sb_profiles *p, const sb_capture *c);
void sb_profiles_set_job(sb_profiles *p, const sb_capture *c, uint64_t job);
/* Parses; on the thread of the job. */
sb_status sb_profiles_open(sb_profiles *p, sb_slice id, const sb_trace_file *stats,
                           bool (*progress)(void *ud, uint64_t done, uint64_t total), void *ud,
                           sb_err *err);
void sb_profiles_failed(sb_profiles *p, sb_slice id, sb_status why, const char *text);

#endif
