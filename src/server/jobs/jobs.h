/* jobs.h: background jobs: work that takes longer than a request may.
 *
 *     sb_jobs_submit(jobs, kind, args, key, &id, err)    a new job, or the one that has this key
 *     sb_jobs_get(jobs, id, &info)                       state and progress, as often as one likes
 *     sb_jobs_open_result(jobs, id, &result, err)        a descriptor of the finished result
 *     sb_jobs_cancel(jobs, id)                           who asked does not want it any more
 *
 * A kind of job is a row of a table with a function. The function runs on a thread of its own pool,
 * writes its result piece by piece, reports progress, and looks often whether it is cancelled. It
 * knows nothing of requests; the queue knows nothing of what a job does.
 *
 * Equal questions (same kind, same key) share one job and its result: it is cancelled only when
 * every client that submitted it has cancelled it. The submitter puts into the key everything that
 * the result depends on, the version of the data included.
 *
 * Bounds: `workers` threads; `max_jobs` jobs that wait, run or are remembered; `max_bytes` of all
 * results together, which lie in unlinked temporary files. Finished jobs are evicted, the longest
 * unused first, to make room; jobs under way are not.
 *
 * Threads: all functions may be called from any, except open and close. */
#ifndef SB_SERVER_JOBS_H
#define SB_SERVER_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

typedef struct sb_jobs sb_jobs;
typedef struct sb_job sb_job;

/* ---- what a kind of job is ------------------------------------------------------------------- */

typedef struct sb_job_kind {
    const char *name;
    /* Are these arguments (JSON, an object) such that the job can be run? SB_INVALID and a reason
     * for people when not. */
    sb_status (*check)(sb_slice args, sb_err *err);
    /* Does the work. ctx is that of sb_jobs_opts. What it returns after it was cancelled does not
     * matter; a status other than SB_OK makes the job a failed one, with the error as the
     * reason. */
    sb_status (*run)(sb_job *job, void *ctx, sb_err *err);
    /* Appends what the result depends on beside the arguments. NULL: on all data, by the version of
     * the store. */
    sb_status (*add_key)(sb_slice args, void *ctx, sb_buf *key, sb_err *err);
} sb_job_kind;

/* For run functions, on the thread of the job: */

sb_slice sb_job_args(const sb_job *job);
/* To be asked at least every few milliseconds. */
bool sb_job_is_cancelled(const sb_job *job);
/* How much of the work is done, in any unit; total 0: unknown. Cheap. */
void sb_job_report(sb_job *job, uint64_t done, uint64_t total);
/* Appends to the result. SB_LIMIT when results would take more than max_bytes. */
sb_status sb_job_write(sb_job *job, sb_slice bytes, sb_err *err);
/* The content type and the file name of the result, for its download. Both texts are literals; the
 * name is empty where the client is to choose it. */
void sb_job_describe_result(sb_job *job, const char *content_type, const char *file_name);
/* A word for the reason of the failure that run is about to return, for which the page has a
 * sentence in the reader's language: a literal. And what else the sentence needs, as JSON: copied,
 * empty if there is none or if it takes more than SB_JOB_FACTS. */
#define SB_JOB_FACTS 640
void sb_job_set_code(sb_job *job, const char *code, sb_slice facts);

/* ---- the queue ------------------------------------------------------------------------------- */

typedef struct sb_jobs_opts {
    const sb_alloc *alloc;
    unsigned workers;
    size_t max_jobs;
    uint64_t max_bytes;
    uint64_t first_id;  /* of the jobs, which are counted from there; 0: 1 */
    const char *folder; /* of temporary files; copied. NULL, or where it can't be used: /tmp */
    void *ctx;          /* for run */
    /* Called after every change of a job's state, and as it goes on, with a number that grows; must
     * be quick. May be NULL. */
    void (*changed)(void *ud, uint64_t count);
    void *changed_ud;
} sb_jobs_opts;

sb_status sb_jobs_open(sb_jobs **out, const sb_jobs_opts *opts, sb_err *err);
/* Cancels all jobs and waits until none runs. NULL is fine. */
void sb_jobs_close(sb_jobs *jobs);

/* Tells all who follow the jobs that there is news, though no job has changed: a list that jobs
 * work on has. NULL is fine. */
void sb_jobs_tell(sb_jobs *jobs);

/* A job for this question, or the one that waits, runs or is done already. args and key are copied;
 * kind must outlive the jobs. SB_DROPPED when max_jobs are under way. */
sb_status sb_jobs_submit(sb_jobs *jobs, const sb_job_kind *kind, sb_slice args, sb_slice key,
                         uint64_t *id, sb_err *err);
/* One of those who submitted it does not want it any more. When it was the last one, the job is
 * cancelled, or its result given back. SB_NOT_FOUND. */
sb_status sb_jobs_cancel(sb_jobs *jobs, uint64_t id);

typedef enum sb_job_state {
    SB_JOB_WAITING,
    SB_JOB_RUNNING,
    SB_JOB_DONE,
    SB_JOB_FAILED,
    SB_JOB_CANCELLED,
} sb_job_state;
const char *sb_job_state_name(sb_job_state state);

typedef struct sb_job_info {
    uint64_t id;
    const char *kind;
    sb_job_state state;
    uint64_t done, total; /* as last reported */
    uint64_t bytes;       /* of the result so far */
    sb_err err;           /* of a failed job */
    const char *code;     /* likewise; NULL: its kind has no word for the reason */
    char facts[SB_JOB_FACTS];
} sb_job_info;
/* SB_NOT_FOUND: there is no such job, or it was evicted. */
sb_status sb_jobs_get(sb_jobs *jobs, uint64_t id, sb_job_info *out);
/* All that are remembered, the newest first; in the arena. */
sb_status sb_jobs_list(sb_jobs *jobs, sb_arena *arena, sb_job_info **out, size_t *n);

typedef struct sb_job_result {
    int fd; /* the caller's to close; read it with pread: the position is shared */
    uint64_t bytes;
    const char *content_type, *file_name;
} sb_job_result;
/* SB_NOT_FOUND, SB_MORE: the job is not done yet, SB_DROPPED: it failed or was cancelled. */
sb_status sb_jobs_open_result(sb_jobs *jobs, uint64_t id, sb_job_result *out, sb_err *err);

#endif
