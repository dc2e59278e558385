/* jobs.c: the queue of background jobs, and what a running job may call.
 *
 * One mutex guards the list of jobs and their states. Counters that a running job changes often are
 * atomic. A job is freed only when no thread of the pool has it any more (is_in_pool). */
#include "server/jobs/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lru.h"
#include "base/slice.h"
#include "base/system/pool.h"
#include "base/system/temp_file.h"
#include "base/banned.h"

struct sb_job {
    sb_lru_link use;
    sb_jobs *jobs;
    const sb_job_kind *kind;
    uint64_t id;
    uint8_t *texts; /* args, then key */
    size_t args_n, key_n;
    _Atomic bool is_cancelled;
    _Atomic uint64_t done, total;
    _Atomic uint64_t bytes;
    int fd; /* of the result; -1: none yet. Set by the worker before the job is done */
    const char *content_type, *file_name;
    const char *code; /* of its failure; NULL: none */
    char facts[SB_JOB_FACTS];
    uint64_t told_percent; /* the worker's: what `changed` was last called for */
    /* guarded by the mutex: */
    sb_job_state state;
    bool is_in_pool;
    uint32_t askers;
    sb_err err;
};

struct sb_jobs {
    const sb_alloc *alloc;
    sb_jobs_opts o;
    char folder[512];
    sb_pool *pool;
    _Atomic uint64_t news;
    pthread_mutex_t mutex; /* guards all below */
    sb_lru order;
    size_t count;
    uint64_t bytes; /* of all results, those being written included */
    uint64_t next_id;
    bool is_closing;
};

static void publish_news(sb_jobs *jobs) {
    uint64_t count = atomic_fetch_add(&jobs->news, 1) + 1;
    if (jobs->o.changed) jobs->o.changed(jobs->o.changed_ud, count);
}

void sb_jobs_tell(sb_jobs *jobs) {
    if (jobs) publish_news(jobs);
}

/* ---- a job's memory -------------------------------------------------------------------------- */

static void free_job(sb_job *job) {
    if (job->fd >= 0) close(job->fd);
    const sb_alloc *alloc = job->jobs->alloc;
    sb_alloc_put(alloc, job->texts, job->args_n + job->key_n + 1);
    sb_alloc_put(alloc, job, sizeof *job);
}

static sb_job *new_job(sb_jobs *jobs, const sb_job_kind *kind, sb_slice args, sb_slice key) {
    sb_job *job = sb_alloc_zeroed(jobs->alloc, 1, sizeof *job);
    if (!job) return NULL;
    job->jobs = jobs;
    job->kind = kind;
    job->fd = -1;
    job->askers = 1;
    job->content_type = "application/octet-stream";
    job->file_name = "result";
    job->args_n = args.n;
    job->key_n = key.n;
    job->texts = sb_alloc_zeroed(jobs->alloc, args.n + key.n + 1, 1);
    if (!job->texts) {
        sb_alloc_put(jobs->alloc, job, sizeof *job);
        return NULL;
    }
    if (args.n) memcpy(job->texts, args.p, args.n);
    if (key.n) memcpy(job->texts + args.n, key.p, key.n);
    return job;
}

/* ---- the list, with the mutex held ----------------------------------------------------------- */

#define JOB_OF(link) SB_LRU_ENTRY(link, sb_job, use)

static sb_job *find_job(const sb_jobs *jobs, uint64_t id) {
    for (sb_lru_link *at = jobs->order.newest; at; at = at->older)
        if (JOB_OF(at)->id == id) return JOB_OF(at);
    return NULL;
}

/* One that can answer this question: it is under way, or done and not yet evicted. */
static sb_job *find_equal(const sb_jobs *jobs, const sb_job_kind *kind, sb_slice key) {
    for (sb_lru_link *at = jobs->order.newest; at; at = at->older) {
        sb_job *job = JOB_OF(at);
        bool is_useful = job->state <= SB_JOB_DONE && !atomic_load(&job->is_cancelled);
        if (is_useful && job->kind == kind &&
            sb_slice_eq(key, sb_slice_of(job->texts + job->args_n, job->key_n)))
            return job;
    }
    return NULL;
}

static void remove_job(sb_jobs *jobs, sb_job *job) {
    sb_lru_remove(&jobs->order, &job->use);
    jobs->count--;
    jobs->bytes -= atomic_load(&job->bytes);
    free_job(job);
}

/* Evicts the finished job that was longest not used; false when there is none. */
static bool evict_oldest_job(sb_jobs *jobs) {
    for (sb_lru_link *at = jobs->order.oldest; at; at = at->newer) {
        sb_job *job = JOB_OF(at);
        if (job->is_in_pool) continue;
        remove_job(jobs, job);
        return true;
    }
    return false;
}

/* ---- running --------------------------------------------------------------------------------- */

static sb_status open_result_file(sb_job *job, sb_err *err) {
    job->fd = sb_temp_file_or_tmp(job->jobs->folder);
    if (job->fd >= 0) return SB_OK;
    return sb_fail_errno(err, SB_IO, errno, "no temporary file can be made");
}

/* A result that can no longer be asked for does not count. */
static void discard_result(sb_jobs *jobs, sb_job *job) {
    jobs->bytes -= atomic_exchange(&job->bytes, 0);
    if (job->fd >= 0) close(job->fd);
    job->fd = -1;
}

static void finish_job(sb_job *job, sb_status status, const sb_err *err) {
    sb_jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->mutex);
    job->state = atomic_load(&job->is_cancelled) ? SB_JOB_CANCELLED
                 : status == SB_OK               ? SB_JOB_DONE
                                                 : SB_JOB_FAILED;
    if (job->state == SB_JOB_FAILED) job->err = *err;
    if (job->state != SB_JOB_DONE) discard_result(jobs, job);
    job->is_in_pool = false;
    pthread_mutex_unlock(&jobs->mutex);
    publish_news(jobs);
}

static void run_job(void *arg) {
    sb_job *job = arg;
    sb_jobs *jobs = job->jobs;
    sb_err err = {.code = SB_OK};
    sb_status status = SB_OK;
    pthread_mutex_lock(&jobs->mutex);
    bool is_wanted = !atomic_load(&job->is_cancelled);
    if (is_wanted) job->state = SB_JOB_RUNNING;
    pthread_mutex_unlock(&jobs->mutex);
    if (is_wanted) {
        publish_news(jobs);
        status = open_result_file(job, &err);
        if (status == SB_OK) status = job->kind->run(job, jobs->o.ctx, &err);
    }
    finish_job(job, status, &err);
}

/* ---- for run functions ----------------------------------------------------------------------- */

sb_slice sb_job_args(const sb_job *job) {
    return sb_slice_of(job->texts, job->args_n);
}

bool sb_job_is_cancelled(const sb_job *job) {
    return atomic_load_explicit(&job->is_cancelled, memory_order_relaxed);
}

void sb_job_report(sb_job *job, uint64_t done, uint64_t total) {
    atomic_store(&job->done, done);
    atomic_store(&job->total, total);
    uint64_t percent = total ? (uint64_t)((double)done / (double)total * 100) : 0;
    if (percent == job->told_percent) return;
    job->told_percent = percent;
    publish_news(job->jobs);
}

/* Takes room for so many bytes of this job's result, evicting finished ones. */
static bool reserve_bytes(sb_job *job, size_t n) {
    sb_jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->mutex);
    bool fits = n <= jobs->o.max_bytes;
    while (fits && jobs->bytes > jobs->o.max_bytes - n) fits = evict_oldest_job(jobs);
    if (fits) {
        jobs->bytes += n;
        atomic_fetch_add(&job->bytes, n);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return fits;
}

sb_status sb_job_write(sb_job *job, sb_slice bytes, sb_err *err) {
    uint64_t at = atomic_load(&job->bytes);
    if (!reserve_bytes(job, bytes.n))
        return sb_fail(err, SB_LIMIT, 0, "the results of all jobs may take %llu MB",
                       (unsigned long long)(job->jobs->o.max_bytes >> 20));
    for (size_t n = 0; n < bytes.n;) {
        ssize_t written = pwrite(job->fd, bytes.p + n, bytes.n - n, (off_t)(at + n));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return sb_fail_errno(err, SB_IO, errno, "the result can't be written");
        n += (size_t)written;
    }
    return SB_OK;
}

void sb_job_set_code(sb_job *job, const char *code, sb_slice facts) {
    job->code = code;
    if (facts.n && facts.n < sizeof job->facts) memcpy(job->facts, facts.p, facts.n);
}

void sb_job_describe_result(sb_job *job, const char *content_type, const char *file_name) {
    job->content_type = content_type;
    job->file_name = file_name;
}

/* ---- the queue ------------------------------------------------------------------------------- */

sb_status sb_jobs_open(sb_jobs **out, const sb_jobs_opts *opts, sb_err *err) {
    sb_jobs *jobs = sb_alloc_zeroed(opts->alloc, 1, sizeof *jobs);
    if (!jobs) return sb_fail_nomem(err, "for the background jobs");
    jobs->alloc = opts->alloc;
    jobs->o = *opts;
    jobs->next_id = opts->first_id ? opts->first_id : 1;
    snprintf(jobs->folder, sizeof jobs->folder, "%s", opts->folder ? opts->folder : "/tmp");
    sb_status status =
        sb_pool_new_background(&jobs->pool, opts->alloc, opts->workers, opts->max_jobs, err);
    if (status != SB_OK) {
        sb_alloc_put(opts->alloc, jobs, sizeof *jobs);
        return status;
    }
    pthread_mutex_init(&jobs->mutex, NULL);
    *out = jobs;
    return SB_OK;
}

void sb_jobs_close(sb_jobs *jobs) {
    if (!jobs) return;
    pthread_mutex_lock(&jobs->mutex);
    jobs->is_closing = true;
    for (sb_lru_link *at = jobs->order.newest; at; at = at->older)
        atomic_store(&JOB_OF(at)->is_cancelled, true);
    pthread_mutex_unlock(&jobs->mutex);
    sb_pool_free(jobs->pool); /* joins */
    while (jobs->order.oldest) remove_job(jobs, JOB_OF(jobs->order.oldest));
    pthread_mutex_destroy(&jobs->mutex);
    sb_alloc_put(jobs->alloc, jobs, sizeof *jobs);
}

/* With the mutex held: a new job in the list and in the pool. */
static sb_status start_job(sb_jobs *jobs, const sb_job_kind *kind, sb_slice args, sb_slice key,
                           uint64_t *id, sb_err *err) {
    while (jobs->count >= jobs->o.max_jobs)
        if (!evict_oldest_job(jobs))
            return sb_fail(err, SB_DROPPED, 0, "too many background jobs are under way");
    sb_job *job = new_job(jobs, kind, args, key);
    if (!job) return sb_fail_nomem(err, "for a background job");
    job->id = jobs->next_id++;
    job->is_in_pool = true;
    sb_status status = sb_pool_submit(jobs->pool, run_job, job);
    if (status != SB_OK) {
        free_job(job);
        return sb_fail(err, status, 0, "too many background jobs are under way");
    }
    sb_lru_add(&jobs->order, &job->use);
    jobs->count++;
    *id = job->id;
    return SB_OK;
}

sb_status sb_jobs_submit(sb_jobs *jobs, const sb_job_kind *kind, sb_slice args, sb_slice key,
                         uint64_t *id, sb_err *err) {
    pthread_mutex_lock(&jobs->mutex);
    sb_status status = SB_OK;
    sb_job *equal = find_equal(jobs, kind, key);
    if (jobs->is_closing) {
        status = sb_fail(err, SB_CLOSED, 0, "the server is ending");
    } else if (equal) {
        equal->askers++;
        sb_lru_touch(&jobs->order, &equal->use);
        *id = equal->id;
    } else {
        status = start_job(jobs, kind, args, key, id, err);
    }
    pthread_mutex_unlock(&jobs->mutex);
    if (status == SB_OK && !equal) publish_news(jobs);
    return status;
}

sb_status sb_jobs_cancel(sb_jobs *jobs, uint64_t id) {
    pthread_mutex_lock(&jobs->mutex);
    sb_job *job = find_job(jobs, id);
    bool is_found = job != NULL;
    bool is_last = job && (job->askers == 0 || --job->askers == 0);
    if (is_last && job->is_in_pool) {
        atomic_store(&job->is_cancelled, true);
        if (job->state == SB_JOB_WAITING) job->state = SB_JOB_CANCELLED;
    } else if (is_last) {
        remove_job(jobs, job);
    }
    pthread_mutex_unlock(&jobs->mutex);
    if (is_last) publish_news(jobs);
    return is_found ? SB_OK : SB_NOT_FOUND;
}

const char *sb_job_state_name(sb_job_state state) {
    static const char *const names[] = {[SB_JOB_WAITING] = "waiting",
                                        [SB_JOB_RUNNING] = "running",
                                        [SB_JOB_DONE] = "done",
                                        [SB_JOB_FAILED] = "failed",
                                        [SB_JOB_CANCELLED] = "cancelled"};
    return names[state];
}

static void fill_job_info(const sb_job *job, sb_job_info *out) {
    *out = (sb_job_info){.id = job->id,
                         .kind = job->kind->name,
                         .state = job->state,
                         .done = atomic_load(&job->done),
                         .total = atomic_load(&job->total),
                         .bytes = atomic_load(&job->bytes),
                         .err = job->err,
                         .code = job->state == SB_JOB_FAILED ? job->code : NULL};
    if (out->code) memcpy(out->facts, job->facts, sizeof out->facts);
}

sb_status sb_jobs_get(sb_jobs *jobs, uint64_t id, sb_job_info *out) {
    pthread_mutex_lock(&jobs->mutex);
    const sb_job *job = find_job(jobs, id);
    if (job) fill_job_info(job, out);
    pthread_mutex_unlock(&jobs->mutex);
    return job ? SB_OK : SB_NOT_FOUND;
}

sb_status sb_jobs_list(sb_jobs *jobs, sb_arena *arena, sb_job_info **out, size_t *n) {
    *n = 0;
    pthread_mutex_lock(&jobs->mutex);
    *out = sb_arena_zeroed(arena, jobs->count, sizeof **out);
    for (sb_lru_link *at = jobs->order.newest; *out && at; at = at->older)
        fill_job_info(JOB_OF(at), &(*out)[(*n)++]);
    pthread_mutex_unlock(&jobs->mutex);
    return *out ? SB_OK : SB_NOMEM;
}

sb_status sb_jobs_open_result(sb_jobs *jobs, uint64_t id, sb_job_result *out, sb_err *err) {
    sb_status status = SB_OK;
    pthread_mutex_lock(&jobs->mutex);
    sb_job *job = find_job(jobs, id);
    if (!job)
        status = sb_fail(err, SB_NOT_FOUND, 0, "there is no such job, or its result was evicted");
    else if (job->state < SB_JOB_DONE)
        status = sb_fail(err, SB_MORE, 0, "the job is not done yet");
    else if (job->state > SB_JOB_DONE)
        status = sb_fail(err, SB_DROPPED, 0, "the job has no result: it %s",
                         job->state == SB_JOB_FAILED ? "failed" : "was cancelled");
    if (status == SB_OK) {
        *out = (sb_job_result){.fd = fcntl(job->fd, F_DUPFD_CLOEXEC, 0),
                               .bytes = atomic_load(&job->bytes),
                               .content_type = job->content_type,
                               .file_name = job->file_name};
        if (out->fd < 0) status = sb_fail_errno(err, SB_IO, errno, "the result can't be opened");
        sb_lru_touch(&jobs->order, &job->use);
    }
    pthread_mutex_unlock(&jobs->mutex);
    return status;
}
