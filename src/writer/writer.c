/* writer.c: opening, flushing and closing a writer; what happens after a fork. */
#include "writer/writer_int.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/sized.h"
#include "base/slice.h"
#include "base/banned.h"

#define DEFAULT_RING ((size_t)4 << 20)
#define LEAST_RING ((size_t)64 << 10)
#define MOST_RING ((size_t)1 << 31)
#define DEFAULT_BIG ((size_t)256 << 20)
#define BATCH_CAP (SIZE_MAX / 2)
#define SCRATCH_CAP (SIZE_MAX / 2)
#define SEEN_TAGS_MAX 10000000u

/* ---- options --------------------------------------------------------------------------------- */

static sb_status check_opts(const sb_writer_opts *opts, sb_err *err) {
    if (!opts->logdir || !opts->logdir[0])
        return sb_fail(err, SB_INVALID, 0, "a writer needs a log directory");
    if ((unsigned)opts->style > SB_STYLE_TBX)
        return sb_fail(err, SB_INVALID, 0, "%d is not a writer style", (int)opts->style);
    if ((unsigned)opts->when_full > SB_FULL_DROP)
        return sb_fail(err, SB_INVALID, 0, "%d is not a policy for a full ring",
                       (int)opts->when_full);
    if (opts->trouble > SB_TROUBLE_APART)
        return sb_fail(err, SB_INVALID, 0, "%llu is not a policy for trouble",
                       (unsigned long long)opts->trouble);
    if (opts->ring_bytes > MOST_RING)
        return sb_fail(err, SB_LIMIT, 0, "a ring of %zu bytes is too large: the most is %zu",
                       opts->ring_bytes, MOST_RING);
    if (opts->filename_suffix && strchr(opts->filename_suffix, '/'))
        return sb_fail(err, SB_INVALID, 0, "the file name suffix '%s' contains a slash",
                       opts->filename_suffix);
    return SB_OK;
}

static size_t ring_size(size_t wanted) {
    if (wanted == 0) return DEFAULT_RING;
    size_t size = LEAST_RING;
    while (size < wanted) size *= 2;
    return size;
}

/* Copies the options and their strings, and fills in the defaults. */
static sb_status keep_opts(sb_writer *w, const sb_writer_opts *opts, sb_err *err) {
    size_t logdir_n = strlen(opts->logdir) + 1;
    size_t suffix_n = opts->filename_suffix ? strlen(opts->filename_suffix) + 1 : 0;
    w->storage_n = logdir_n + suffix_n;
    w->storage = sb_alloc_get(w->env->alloc, w->storage_n);
    if (!w->storage) return sb_fail_nomem(err, "for a writer");
    memcpy(w->storage, opts->logdir, logdir_n);
    if (suffix_n) memcpy(w->storage + logdir_n, opts->filename_suffix, suffix_n);
    w->opts = *opts;
    w->opts.logdir = w->storage;
    w->opts.filename_suffix = suffix_n ? w->storage + logdir_n : NULL;
    if (!w->opts.max_queue) w->opts.max_queue = 10;
    if (!w->opts.flush_millis) w->opts.flush_millis = 120000;
    if (!w->opts.big_bytes) w->opts.big_bytes = DEFAULT_BIG;
    w->opts.ring_bytes = ring_size(opts->ring_bytes);
    size_t quarter = w->opts.ring_bytes / 4;
    w->inline_max = (uint32_t)(quarter < SB_INLINE_MAX ? quarter : SB_INLINE_MAX);
    return SB_OK;
}

/* ---- the work -------------------------------------------------------------------------------- */

static bool init_locks(sb_work *work) {
    pthread_condattr_t steady;
    if (pthread_condattr_init(&steady) != 0) return false;
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    bool ok = pthread_mutex_init(&work->mutex, NULL) == 0 &&
              pthread_cond_init(&work->wake, &steady) == 0 &&
              pthread_cond_init(&work->done, &steady) == 0 &&
              pthread_cond_init(&work->room, &steady) == 0;
    pthread_condattr_destroy(&steady);
    return ok;
}

static void free_work(sb_work *work, const sb_writer *w) {
    const sb_alloc *alloc = w->env->alloc;
    sb_encoder_fini(&work->encoder);
    sb_buf_fini(&work->batch);
    sb_alloc_put(alloc, work->path, work->path_room);
    sb_alloc_put(alloc, work->ring_memory, w->opts.ring_bytes + SB_RING_ALIGN);
    pthread_cond_destroy(&work->room);
    pthread_cond_destroy(&work->done);
    pthread_cond_destroy(&work->wake);
    pthread_mutex_destroy(&work->mutex);
    sb_alloc_put(alloc, work, sizeof *work);
}

/* All signals are blocked in the writer's thread: they are delivered to the program's own
 * threads. */
static int start_thread(sb_work *work, const sb_writer *w, sb_thread_args *args) {
    *args = (sb_thread_args){work, w};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&work->thread, NULL, sb_writer_thread, args);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static sb_status start_work(sb_work *work, const sb_writer *w, sb_err *err) {
    const sb_alloc *alloc = w->env->alloc;
    work->ring_memory = sb_alloc_zeroed(alloc, 1, w->opts.ring_bytes + SB_RING_ALIGN);
    if (!work->ring_memory) return sb_fail_nomem(err, "for the writer's ring");
    uintptr_t at =
        ((uintptr_t)work->ring_memory + SB_RING_ALIGN - 1) / SB_RING_ALIGN * SB_RING_ALIGN;
    uint8_t *aligned = (uint8_t *)work->ring_memory + (at - (uintptr_t)work->ring_memory);
    sb_ring_init(&work->ring, aligned, w->opts.ring_bytes);
    sb_status status = sb_event_file_open(&work->file, err);
    if (status != SB_OK) return status;
    atomic_store(&work->bytes, work->file.size);
    status = sb_work_share_path(work, w, err);
    if (status != SB_OK) return status;
    sb_thread_args *args = sb_alloc_get(alloc, sizeof *args);
    if (!args) return sb_fail_nomem(err, "for the writer's thread");
    int result = start_thread(work, w, args);
    if (result != 0) {
        sb_alloc_put(alloc, args, sizeof *args);
        return sb_fail_errno(err, SB_NOMEM, result, "can't start the writer's thread");
    }
    return SB_OK;
}

sb_status sb_work_new(sb_work **out, const sb_writer *w, sb_err *err) {
    const sb_alloc *alloc = w->env->alloc;
    sb_work *work = sb_alloc_zeroed(alloc, 1, sizeof *work);
    if (!work) return sb_fail_nomem(err, "for a writer");
    if (!init_locks(work)) {
        sb_alloc_put(alloc, work, sizeof *work);
        return sb_fail_nomem(err, "for a writer's locks");
    }
    work->listeners = SB_TELL_FLUSH | SB_TELL_CLOSE;
    work->listeners |= w->opts.trouble == SB_TROUBLE_APART ? SB_TELL_APART : SB_TELL_CALL;
    sb_encoder_init(&work->encoder, w->env, w->opts.style, SCRATCH_CAP, SEEN_TAGS_MAX);
    sb_buf_init(&work->batch, alloc, BATCH_CAP);
    sb_event_file_init(&work->file, w->env, w->opts.style, w->opts.logdir, w->opts.filename_suffix);
    sb_status status = start_work(work, w, err);
    if (status != SB_OK) {
        sb_event_file_close(&work->file, NULL);
        free_work(work, w);
        return status;
    }
    *out = work;
    return SB_OK;
}

void sb_work_wake(sb_work *work) {
    pthread_mutex_lock(&work->mutex);
    work->wake_wanted = true;
    pthread_cond_signal(&work->wake);
    pthread_mutex_unlock(&work->mutex);
}

void sb_work_trouble(sb_work *work, const sb_err *err) {
    pthread_mutex_lock(&work->mutex);
    work->trouble = *err;
    work->latest = *err;
    atomic_store(&work->tell, work->listeners);
    pthread_mutex_unlock(&work->mutex);
}

sb_status sb_work_share_path(sb_work *work, const sb_writer *w, sb_err *err) {
    size_t n = work->file.path.n;
    char *path = sb_alloc_get(w->env->alloc, n);
    if (!path) return sb_fail_nomem(err, "for a path");
    memcpy(path, work->file.path.p, n);
    pthread_mutex_lock(&work->mutex);
    char *old = work->path;
    size_t old_n = work->path_room;
    work->path = path;
    work->path_room = n;
    pthread_mutex_unlock(&work->mutex);
    sb_alloc_put(w->env->alloc, old, old_n);
    return SB_OK;
}

/* Reports the newest failure to this kind of listener, unless it was reported to it before. The
 * mutex is held. */
static sb_status report_failure(sb_work *work, uint32_t who, sb_err *err) {
    if (!(atomic_fetch_and(&work->tell, ~who) & who)) return SB_OK;
    if (err) *err = work->trouble;
    return work->trouble.code;
}

sb_status sb_work_tell_call(sb_work *work) {
    pthread_mutex_lock(&work->mutex);
    sb_status status = report_failure(work, SB_TELL_CALL, NULL);
    pthread_mutex_unlock(&work->mutex);
    return status;
}

sb_status sb_work_close(sb_work *work, const sb_writer *w, sb_err *err) {
    pthread_mutex_lock(&work->mutex);
    work->closing = true;
    work->wake_wanted = true;
    pthread_cond_signal(&work->wake);
    pthread_mutex_unlock(&work->mutex);
    pthread_join(work->thread, NULL);
    sb_err closing;
    sb_status closed = sb_event_file_close(&work->file, &closing);
    if (closed != SB_OK) sb_work_trouble(work, &closing);
    sb_status status = report_failure(work, SB_TELL_CLOSE, err);
    free_work(work, w);
    return status;
}

/* ---- after a fork ---------------------------------------------------------------------------- */

sb_work *sb_writer_enter_slow(sb_writer *w) {
    uint32_t state = SB_FORK_WIPED;
    if (atomic_compare_exchange_strong(w->fork_mark.page, &state, SB_FORK_BUSY)) {
        /* The parent's work is abandoned and never accessed again: its locks may be held and its
         * buffers half changed by threads that do not exist in this process. Only the file
         * descriptor is closed. */
        int inherited = w->work->file.file;
        if (inherited >= 0) w->env->fs->close(w->env->fs->ctx, inherited);
        sb_work *work = NULL;
        sb_status status = sb_work_new(&work, w, &w->fork_err);
        if (status == SB_OK) w->work = work;
        state = status == SB_OK ? SB_FORK_SET : SB_FORK_BROKEN;
        atomic_store_explicit(w->fork_mark.page, state, memory_order_release);
    }
    while ((state = atomic_load_explicit(w->fork_mark.page, memory_order_acquire)) == SB_FORK_BUSY)
        sched_yield();
    return state == SB_FORK_SET ? w->work : NULL;
}

/* ---- the public face ------------------------------------------------------------------------- */

sb_status sb_writer_open_env(sb_writer **out, const sb_writer_opts *opts, const sb_env *env,
                             sb_err *err) {
    sb_writer_opts own;
    *out = NULL;
    if (!opts) return sb_fail(err, SB_INVALID, 0, "a writer needs a log directory");
    sb_status status = sb_sized_read(&own, sizeof own, opts, 0, "sb_writer_opts", err);
    if (status == SB_OK) status = check_opts(&own, err);
    if (status != SB_OK) return status;
    sb_writer *w = sb_alloc_zeroed(env->alloc, 1, sizeof *w);
    if (!w) return sb_fail_nomem(err, "for a writer");
    w->env_copy = *env;
    w->env = &w->env_copy;
    status = keep_opts(w, &own, err);
    if (status == SB_OK) status = sb_fork_mark_init(&w->fork_mark, err);
    if (status == SB_OK) status = sb_work_new(&w->work, w, err);
    if (status != SB_OK) {
        sb_fork_mark_fini(&w->fork_mark);
        sb_alloc_put(env->alloc, w->storage, w->storage_n);
        sb_alloc_put(env->alloc, w, sizeof *w);
        return status;
    }
    *out = w;
    return SB_OK;
}

sb_status sb_writer_open(sb_writer **out, const sb_writer_opts *opts, sb_err *err) {
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    return sb_writer_open_env(out, opts, &env, err);
}

/* Waits until the thread has written everything up to target, or failed to do so. */
static sb_status wait_for(sb_work *work, uint64_t target, sb_err *err) {
    pthread_mutex_lock(&work->mutex);
    uint64_t failures = work->failures;
    if (target > work->flush_target) work->flush_target = target;
    work->wake_wanted = true;
    pthread_cond_signal(&work->wake);
    while (work->written_to < target && work->failures == failures)
        pthread_cond_wait(&work->done, &work->mutex);
    sb_status status = report_failure(work, SB_TELL_FLUSH, err);
    uint64_t lost = work->lost_since_flush;
    work->lost_since_flush = 0;
    pthread_mutex_unlock(&work->mutex);
    if (status == SB_OK && lost)
        status = sb_fail(err, SB_DROPPED, 0, "%llu calls were given up since the last flush",
                         (unsigned long long)lost);
    return status;
}

sb_status sb_writer_flush(sb_writer *w, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "there is no writer");
    sb_work *work = sb_writer_enter(w);
    if (!work) return sb_writer_error(w, err);
    return wait_for(work, atomic_load(&work->ring.head), err);
}

sb_status sb_writer_close(sb_writer *w, sb_err *err) {
    if (!w) return SB_OK;
    /* A forked child that never logged has no thread to stop. */
    sb_status status = SB_OK;
    if (sb_fork_mark_is_set(&w->fork_mark)) status = sb_work_close(w->work, w, err);
    sb_fork_mark_fini(&w->fork_mark);
    const sb_alloc *alloc = w->env->alloc;
    sb_alloc_put(alloc, w->storage, w->storage_n);
    sb_alloc_put(alloc, w, sizeof *w);
    return status;
}

sb_status sb_writer_error(sb_writer *w, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "there is no writer");
    sb_work *work = sb_writer_enter(w);
    if (!work) {
        if (err) *err = w->fork_err;
        return w->fork_err.code;
    }
    pthread_mutex_lock(&work->mutex);
    sb_status status = work->latest.code;
    if (status != SB_OK && err) *err = work->latest;
    pthread_mutex_unlock(&work->mutex);
    return status;
}

sb_status sb_writer_trouble(sb_writer *w, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "there is no writer");
    sb_work *work = sb_writer_enter(w);
    if (!work) return sb_writer_error(w, err);
    if (!(atomic_load_explicit(&work->tell, memory_order_relaxed) & SB_TELL_APART)) return SB_OK;
    pthread_mutex_lock(&work->mutex);
    sb_status status = report_failure(work, SB_TELL_APART, err);
    pthread_mutex_unlock(&work->mutex);
    return status;
}

size_t sb_writer_path(sb_writer *w, char *path, size_t n) {
    sb_work *work = sb_writer_enter(w);
    if (n) path[0] = 0;
    if (!work) return 0;
    pthread_mutex_lock(&work->mutex);
    size_t full = work->path_room - 1;
    if (n) {
        size_t kept = full < n - 1 ? full : n - 1;
        memcpy(path, work->path, kept);
        path[kept] = 0;
    }
    pthread_mutex_unlock(&work->mutex);
    return full;
}

sb_status sb_writer_get_stats(sb_writer *w, sb_writer_stats *out) {
    if (!w || !out) return SB_INVALID;
    sb_work *work = sb_writer_enter(w);
    sb_writer_stats stats = {0};
    if (work) {
        stats.written = atomic_load(&work->written);
        stats.dropped = atomic_load(&work->dropped);
        stats.bytes = atomic_load(&work->bytes);
        stats.pending = sb_ring_used(&work->ring);
    }
    sb_err err;
    sb_status status = sb_sized_write(out, &stats, sizeof stats, "sb_writer_stats", &err);
    return status == SB_OK ? SB_OK : sb_call_refuse(w, status, "%s", err.text);
}

sb_style sb_writer_style(const sb_writer *w) {
    return w->opts.style;
}

const sb_env *sb_writer_env(const sb_writer *w) {
    return w->env;
}

const char *sb_writer_logdir(const sb_writer *w) {
    return w->opts.logdir;
}
