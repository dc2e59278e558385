/* ingest.c: the thread that finds files and schedules the turns of the loaders on the pool. */
#include "ingest/ingest.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/slice.h"
#include "base/system/pool.h"
#include "base/vec.h"
#include "fsio/fs.h"
#include "ingest/loader.h"
#include "ingest/watch.h"
#include "logdir/discover.h"

#include "base/banned.h"

#define MS ((uint64_t)1000 * 1000)
#define TURN_NS (200 * MS)
#define LOOK_NS (200 * MS)
#define LIVE_NS (10 * 1000 * MS)
#define EMPTY_WALK_NS (1000 * MS) /* between two walks while the directory has no run */
#define LEAST_WALK_NS (100 * MS)  /* between two walks that hints ask for */
#define WALK_CAP ((size_t)4 << 30)

struct sb_ingest {
    const sb_env *env;
    sb_store *store;
    sb_ingest_opts opts;
    sb_arena texts; /* copies of the options' texts */
    sb_pool *pool;
    sb_watch *watch;
    int wake; /* an eventfd that ends the thread's wait: a turn ended, a sync is wanted, or stop */
    pthread_t thread;
    bool has_thread;
    _Atomic bool stopping;
    _Atomic uint64_t sync_wanted;
    _Atomic size_t busy;                              /* turns that are queued or running */
    _Atomic size_t behind;                            /* loaders that have not caught up */
    _Atomic uint64_t by_inotify, by_polling, by_walk; /* sb_ingest_noticed */
    /* guarded by mutex: */
    pthread_mutex_t mutex;
    pthread_cond_t synced;
    uint64_t sync_done;
    bool was_loaded; /* the first reading is over */
    uint64_t problems;
    char problem[240];
    SB_VEC(sb_loader *) loaders; /* the thread changes them, under the mutex */
    /* the thread's own: */
    uint64_t walk_at, walked_at, look_at;
    bool walk_missed;   /* a loader was busy when its run was found */
    bool has_new_names; /* a directory was listed before it was watched */
    bool is_remote;     /* a log directory is on a remote file system */
    bool is_asked;      /* the present walk was asked for by a sync */
};

static uint64_t now_of(const sb_ingest *in) {
    return in->env->clock->steady(in->env->clock->ctx);
}

static void wake_thread(sb_ingest *in) {
    uint64_t one = 1;
    ssize_t ignored = write(in->wake, &one, sizeof one);
    (void)ignored; /* a full counter wakes just as well */
}

/* ---- turns ----------------------------------------------------------------------------------- */

typedef struct job {
    sb_ingest *in;
    sb_loader *loader;
} job;

/* True when it was the last one that was behind. */
static bool catch_up(sb_ingest *in, sb_loader *l) {
    if (atomic_fetch_or(&l->flags, SB_LOADER_CAUGHT_UP) & SB_LOADER_CAUGHT_UP) return false;
    return atomic_fetch_sub(&in->behind, 1) == 1;
}

static void fall_behind(sb_ingest *in, sb_loader *l) {
    if (atomic_fetch_and(&l->flags, ~SB_LOADER_CAUGHT_UP) & SB_LOADER_CAUGHT_UP)
        atomic_fetch_add(&in->behind, 1);
}

/* Wakes the ingest thread only when there is something for it to do, since each time it looks at
 * every run. The loader is not touched once it is not busy any more. */
static void end_turn(sb_ingest *in, sb_loader *l, bool has_more) {
    bool all_caught_up = !has_more && catch_up(in, l);
    unsigned flags = atomic_fetch_and(&l->flags, ~SB_LOADER_BUSY);
    bool was_last = atomic_fetch_sub(&in->busy, 1) == 1;
    if (has_more || was_last || all_caught_up || (flags & SB_LOADER_AGAIN)) wake_thread(in);
}

static void do_turn(void *arg) {
    job *j = arg;
    sb_ingest *in = j->in;
    sb_loader *l = j->loader;
    sb_alloc_put(in->env->alloc, j, sizeof *j);
    if (!atomic_load(&in->stopping)) sb_loader_turn(l, TURN_NS);
    end_turn(in, l, sb_loader_has_news(l));
}

static bool is_busy(const sb_loader *l) {
    return atomic_load(&l->flags) & SB_LOADER_BUSY;
}

static void schedule_turn(sb_ingest *in, sb_loader *l) {
    if (is_busy(l)) return;
    if (atomic_fetch_and(&l->flags, ~SB_LOADER_AGAIN) & SB_LOADER_AGAIN)
        atomic_fetch_add(&in->by_inotify, sb_loader_look(l, true));
    if (!sb_loader_has_news(l)) {
        catch_up(in, l);
        return;
    }
    job *j = sb_alloc_get(in->env->alloc, sizeof *j);
    if (!j) { /* no memory: the next round tries again */
        catch_up(in, l);
        return;
    }
    *j = (job){in, l};
    atomic_fetch_or(&l->flags, SB_LOADER_BUSY);
    atomic_fetch_add(&in->busy, 1);
    if (sb_pool_submit(in->pool, do_turn, j) == SB_OK) return;
    end_turn(in, l, false);
    sb_alloc_put(in->env->alloc, j, sizeof *j);
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Loaders are kept in the order of their roots, then of their paths: roots may overlap, and each
 * has a loader of its own for a directory. */
static int compare_loader(const sb_loader *l, uint32_t root, sb_slice path) {
    if (l->root != root) return l->root < root ? -1 : 1;
    return sb_slice_cmp(sb_slice_str(l->path), path);
}

static size_t find_loader(const sb_ingest *in, uint32_t root, sb_slice path, bool *is_there) {
    size_t i;
    SB_PARTITION_POINT(i, 0, in->loaders.n, compare_loader(in->loaders.items[i], root, path) < 0);
    *is_there = i < in->loaders.n && compare_loader(in->loaders.items[i], root, path) == 0;
    return i;
}

static bool keep_loader(sb_ingest *in, sb_loader *l, size_t at) {
    pthread_mutex_lock(&in->mutex);
    sb_loader **slot = SB_VEC_INSERT(&in->loaders, in->env->alloc, at, SIZE_MAX);
    if (slot) {
        *slot = l;
        atomic_fetch_add(&in->behind, 1);
    }
    pthread_mutex_unlock(&in->mutex);
    return slot != NULL;
}

/* The name that a run is shown under: bytes that are no UTF-8 were replaced, so two may collide. */
static sb_status make_loader(sb_ingest *in, uint32_t root_index, const sb_found_run *found,
                             sb_loader **out) {
    const sb_ingest_root *root = &in->opts.roots[root_index];
    sb_buf name;
    sb_buf_init(&name, in->env->alloc, 1 << 20);
    if (root->name && root->name[0]) {
        sb_buf_add_str(&name, root->name);
        sb_buf_add_byte(&name, '/');
    }
    sb_buf_add_slice(&name, found->name);
    size_t plain = name.n;
    sb_status status = sb_buf_check(&name, "a run's name", NULL);
    if (status == SB_OK) {
        status = sb_loader_new(out, in->env, in->store, sb_buf_slice(&name), found->path, NULL);
        for (int i = 2; status == SB_INVALID && i < 1000; i++) {
            name.n = plain;
            sb_buf_printf(&name, " (%d)", i);
            status = sb_loader_new(out, in->env, in->store, sb_buf_slice(&name), found->path, NULL);
        }
    }
    sb_buf_fini(&name);
    if (status != SB_OK) return status;
    (*out)->root = root_index;
    (*out)->watched.owner = *out;
    return SB_OK;
}

static void update_run(sb_ingest *in, uint32_t root, const sb_found_run *found, sb_hidden hidden) {
    bool is_there;
    size_t at = find_loader(in, root, found->path, &is_there);
    sb_loader *l = is_there ? in->loaders.items[at] : NULL;
    if (!l) {
        if (make_loader(in, root, found, &l) != SB_OK) return;
        if (!keep_loader(in, l, at)) {
            sb_store_drop_run(in->store, l->run);
            sb_loader_free(l);
            return;
        }
    }
    if (l->is_found) return; /* it was new, and published during this walk */
    sb_watch_subscribe(in->watch, &l->watched, l->path);
    l->is_found = true;
    if (is_busy(l)) {
        in->walk_missed = true;
        return;
    }
    size_t grown;
    sb_loader_update(l, found, hidden, &grown);
    atomic_fetch_add(&in->by_walk, grown);
    if (in->is_asked) sb_loader_retry(l);
    if (!l->is_updated) fall_behind(in, l);
    l->is_updated = true;
    schedule_turn(in, l);
}

static void note_problem(sb_ingest *in, const sb_found_problem *p) {
    snprintf(in->problem, sizeof in->problem, "%.140s: %.95s", (const char *)p->path.p,
             sb_left_out_text(p->error));
}

/* The state of the walk that is going on. */
typedef struct walking {
    sb_ingest *in;
    uint32_t root;
    uint64_t turns_at; /* when loaders are given turns again */
} walking;

/* Runs that are new are read while the walk goes on: it may take minutes. Known ones wait for its
 * end, since only then is it known what could not be looked at. */
static void visited_dir(void *ctx, const sb_found_run *run) {
    walking *w = ctx;
    sb_ingest *in = w->in;
    bool is_there = true;
    if (run) find_loader(in, w->root, run->path, &is_there);
    if (!is_there) update_run(in, w->root, run, (sb_hidden){0});
    if (now_of(in) < w->turns_at) return;
    for (size_t i = 0; i < in->loaders.n; i++) schedule_turn(in, in->loaders.items[i]);
    w->turns_at = now_of(in) + LEAST_WALK_NS;
}

/* Returns the paths that could not be read, in the arena. */
static sb_hidden walk_root(sb_ingest *in, uint32_t index, sb_arena *arena,
                           sb_found_problem *whole) {
    const sb_ingest_root *root = &in->opts.roots[index];
    const sb_fs *fs = in->env->fs;
    if (fs->kind && fs->kind(fs->ctx, root->path) == SB_FS_REMOTE) in->is_remote = true;
    sb_found found;
    sb_err err = {.code = SB_OK};
    walking w = {.in = in, .root = index, .turns_at = now_of(in) + LEAST_WALK_NS};
    sb_discover_opts opts = {.each_dir = visited_dir, .ctx = &w, .stop = &in->stopping};
    sb_status status = sb_discover(&found, in->env, arena, root->path, &opts, &err);
    if (status == SB_NOT_FOUND) return (sb_hidden){0};
    if (status != SB_OK) {
        pthread_mutex_lock(&in->mutex);
        snprintf(in->problem, sizeof in->problem, "%.239s", err.text);
        pthread_mutex_unlock(&in->mutex);
        *whole = (sb_found_problem){.path = sb_slice_str(root->path), .error = EIO};
        return (sb_hidden){whole, 1};
    }
    sb_hidden hidden = {found.problems, found.problem_count};
    for (size_t i = 0; i < found.bare_count; i++)
        if (sb_watch_names(in->watch, (const char *)found.bare[i].p)) in->has_new_names = true;
    for (size_t i = 0; i < found.run_count; i++) update_run(in, index, &found.runs[i], hidden);
    pthread_mutex_lock(&in->mutex);
    for (size_t i = 0; i < found.problem_count; i++) note_problem(in, &found.problems[i]);
    pthread_mutex_unlock(&in->mutex);
    return hidden;
}

static bool is_hidden(const sb_loader *l, const sb_hidden *hidden, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (sb_loader_is_hidden(l, hidden[i])) return true;
    return false;
}

/* Runs whose directory holds no event file any more leave the store. Those that could not be looked
 * at stay as they are: a disk that does not answer is no reason to forget what was on it. */
static void drop_lost_runs(sb_ingest *in, const sb_hidden *hidden) {
    for (size_t i = 0; i < in->loaders.n;) {
        sb_loader *l = in->loaders.items[i];
        if (l->is_found) {
            i++;
            continue;
        }
        if (is_busy(l)) { /* a turn is reading: the pool thread owns the list of files */
            in->walk_missed = true;
            i++;
            continue;
        }
        if (is_hidden(l, hidden, in->opts.root_count)) {
            l->is_updated = true; /* no memory: the list stays incomplete until the next walk */
            i++;
            continue;
        }
        catch_up(in, l);
        pthread_mutex_lock(&in->mutex);
        SB_VEC_REMOVE(&in->loaders, i);
        pthread_mutex_unlock(&in->mutex);
        sb_watch_unsubscribe(in->watch, &l->watched);
        sb_store_drop_run(in->store, l->run);
        sb_loader_free(l);
    }
}

static void mark_updated(sb_ingest *in, bool is_updated) {
    for (size_t i = 0; i < in->loaders.n; i++) in->loaders.items[i]->is_updated = is_updated;
}

/* How long this thread has been running on a processor: on a busy machine a walk lasts long, but
 * that is not what it costs. */
static uint64_t thread_time(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* A walk of a large tree costs time, and finds nothing most of the time. Where inotify reports
 * every change, walks take at most half a percent of a processor, else at most five percent; but
 * there is one every five minutes, or every half minute. */
uint64_t sb_walk_pause(double interval, uint64_t walk_ns, bool is_told) {
    if (interval <= 0 || interval >= 1e9) return UINT64_MAX / 2;
    uint64_t pause = (uint64_t)(interval * 1e9);
    uint64_t share = (is_told ? 199 : 19) * walk_ns, most = (is_told ? 300000 : 30000) * MS;
    if (share > most) share = most;
    if (pause < share) pause = share;
    return pause < LEAST_WALK_NS ? LEAST_WALK_NS : pause;
}

static void walk_tree(sb_ingest *in) {
    sb_arena arena;
    sb_arena_init(&arena, in->env->alloc, 256u << 10, WALK_CAP);
    uint64_t began = now_of(in), began_thread = thread_time();
    in->walk_missed = in->has_new_names = in->is_remote = false;
    for (size_t i = 0; i < in->loaders.n; i++) in->loaders.items[i]->is_found = false;
    uint64_t problems = 0;
    sb_hidden *hidden = sb_arena_zeroed(&arena, in->opts.root_count, sizeof *hidden);
    sb_found_problem *whole = sb_arena_zeroed(&arena, in->opts.root_count, sizeof *whole);
    sb_watch_begin_walk(in->watch);
    for (uint32_t i = 0; hidden && whole && i < in->opts.root_count; i++) {
        hidden[i] = walk_root(in, i, &arena, &whole[i]);
        problems += hidden[i].n;
    }
    sb_watch_end_walk(in->watch);
    if (hidden && whole)
        drop_lost_runs(in, hidden);
    else
        mark_updated(in, true); /* no memory: the rest comes with the next walk */
    sb_arena_fini(&arena);
    pthread_mutex_lock(&in->mutex);
    in->problems = problems;
    pthread_mutex_unlock(&in->mutex);
    in->walked_at = now_of(in);
    double interval = in->opts.reload_interval;
    uint64_t pause = sb_walk_pause(interval, thread_time() - began_thread,
                                   sb_watch_is_complete(in->watch) && !in->is_remote);
    if (in->loaders.n == 0 && interval > 0 && pause > EMPTY_WALK_NS) pause = EMPTY_WALK_NS;
    /* What was missed is checked again soon, but walks must not keep the thread busy all the
     * time. */
    uint64_t again = LEAST_WALK_NS + 9 * (in->walked_at - began);
    if ((in->walk_missed || in->has_new_names) && pause > again) pause = again;
    in->walk_at = in->walked_at + pause;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void run_changed(void *ctx, void *owner) {
    sb_ingest *in = ctx;
    sb_loader *l = owner;
    atomic_fetch_or(&l->flags, SB_LOADER_AGAIN);
    schedule_turn(in, l);
}

static void look_at_live(sb_ingest *in) {
    uint64_t now = now_of(in);
    if (now < in->look_at) return;
    in->look_at = now + LOOK_NS;
    for (size_t i = 0; i < in->loaders.n; i++) {
        sb_loader *l = in->loaders.items[i];
        if (!is_busy(l) && sb_loader_is_live(l, LIVE_NS))
            atomic_fetch_add(&in->by_polling, sb_loader_look(l, false));
    }
}

/* Has every run been looked at and read to where its files ended then? Not whether all are at rest:
 * among many that grow all the time one is always being read. */
static bool has_caught_up(const sb_ingest *in) {
    if (atomic_load(&in->behind)) return false;
    for (size_t i = 0; i < in->loaders.n; i++)
        if (!in->loaders.items[i]->is_updated) return false;
    return true;
}

static void finish_syncs(sb_ingest *in, uint64_t sync_seen) {
    if (in->was_loaded && sync_seen == in->sync_done) return;
    if (!has_caught_up(in)) return;
    pthread_mutex_lock(&in->mutex);
    in->was_loaded = true;
    if (sync_seen > in->sync_done) {
        in->sync_done = sync_seen;
        pthread_cond_broadcast(&in->synced);
    }
    pthread_mutex_unlock(&in->mutex);
}

static int pause_ms(const sb_ingest *in) {
    uint64_t now = now_of(in);
    uint64_t until = in->walk_at;
    if (in->opts.reload_interval > 0) {
        for (size_t i = 0; i < in->loaders.n; i++)
            if (!is_busy(in->loaders.items[i]) &&
                sb_loader_is_live(in->loaders.items[i], LIVE_NS)) {
                until = in->look_at < until ? in->look_at : until;
                break;
            }
    }
    if (until <= now) return 0;
    uint64_t ms = (until - now) / MS + 1;
    return ms > 60000 ? 60000 : (int)ms;
}

static void wait_for_news(sb_ingest *in) {
    struct pollfd files[2] = {{.fd = in->wake, .events = POLLIN},
                              {.fd = sb_watch_file(in->watch), .events = POLLIN}};
    poll(files, files[1].fd >= 0 ? 2 : 1, pause_ms(in));
    uint64_t ignored;
    ssize_t n = read(in->wake, &ignored, sizeof ignored);
    (void)n;
    bool names_changed = false;
    sb_watch_drain(in->watch, run_changed, in, &names_changed);
    uint64_t soon = in->walked_at + LEAST_WALK_NS;
    if (names_changed && in->opts.reload_interval > 0 && in->walk_at > soon) in->walk_at = soon;
}

static void *run_ingest(void *arg) {
    sb_ingest *in = arg;
    bool repeats = in->opts.reload_interval > 0;
    uint64_t synced = 0;
    while (!atomic_load(&in->stopping)) {
        uint64_t wanted = atomic_load(&in->sync_wanted);
        if (now_of(in) >= in->walk_at || wanted > synced) {
            if (wanted > synced) mark_updated(in, false);
            in->is_asked = wanted > synced || (in->is_asked && in->walk_missed);
            walk_tree(in);
            synced = wanted;
        }
        if (repeats) look_at_live(in);
        for (size_t i = 0; i < in->loaders.n; i++) schedule_turn(in, in->loaders.items[i]);
        finish_syncs(in, synced);
        if (in->walk_missed && atomic_load(&in->busy) == 0)
            in->walk_at = now_of(in);
        else
            wait_for_news(in);
    }
    return NULL;
}

/* ---- the public face ------------------------------------------------------------------------- */

static sb_status copy_opts(sb_ingest *in, const sb_ingest_opts *opts, sb_err *err) {
    in->opts = *opts;
    sb_arena_init(&in->texts, in->env->alloc, 4096, 16u << 20);
    sb_ingest_root *roots = sb_arena_zeroed(&in->texts, opts->root_count, sizeof *roots);
    if (!roots) return sb_fail_nomem(err, "for the log directories");
    for (size_t i = 0; i < opts->root_count; i++) {
        sb_slice path = sb_arena_dup(&in->texts, sb_slice_str(opts->roots[i].path));
        sb_slice name = sb_arena_dup(&in->texts, sb_slice_str(opts->roots[i].name));
        if (!path.p || !name.p) return sb_fail_nomem(err, "for the log directories");
        roots[i] = (sb_ingest_root){(const char *)name.p, (const char *)path.p};
    }
    in->opts.roots = roots;
    return SB_OK;
}

static unsigned thread_count(uint32_t wanted) {
    if (wanted) return wanted > 256 ? 256 : wanted;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > 64 ? 64 : (unsigned)online;
}

static sb_status start_threads(sb_ingest *in, const sb_ingest_opts *opts, sb_err *err) {
    sb_status status = copy_opts(in, opts, err);
    if (status != SB_OK) return status;
    in->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (in->wake < 0) return sb_fail(err, SB_IO, 0, "the system has no event counter left");
    if (!opts->no_inotify && opts->reload_interval > 0) in->watch = sb_watch_new(in->env->alloc);
    status = sb_pool_new(&in->pool, in->env->alloc, thread_count(opts->threads), 1 << 20, err);
    if (status != SB_OK) return status;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&in->thread, NULL, run_ingest, in);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0) return sb_fail_errno(err, SB_NOMEM, result, "can't start the reading thread");
    in->has_thread = true;
    return SB_OK;
}

sb_status sb_ingest_start(sb_ingest **out, const sb_env *env, sb_store *store,
                          const sb_ingest_opts *opts, sb_err *err) {
    sb_ingest *in = sb_alloc_zeroed(env->alloc, 1, sizeof *in);
    if (!in) return sb_fail_nomem(err, "for reading");
    in->env = env;
    in->store = store;
    in->wake = -1;
    pthread_mutex_init(&in->mutex, NULL);
    pthread_cond_init(&in->synced, NULL);
    sb_status status = start_threads(in, opts, err);
    if (status != SB_OK) {
        sb_ingest_stop(in);
        return status;
    }
    *out = in;
    return SB_OK;
}

void sb_ingest_stop(sb_ingest *in) {
    if (!in) return;
    atomic_store(&in->stopping, true);
    if (in->has_thread) {
        wake_thread(in);
        pthread_join(in->thread, NULL);
    }
    if (in->pool) sb_pool_free(in->pool);
    for (size_t i = 0; i < in->loaders.n; i++) {
        sb_watch_unsubscribe(in->watch, &in->loaders.items[i]->watched);
        sb_loader_free(in->loaders.items[i]);
    }
    SB_VEC_FREE(&in->loaders, in->env->alloc);
    sb_watch_free(in->watch);
    if (in->wake >= 0) close(in->wake);
    sb_arena_fini(&in->texts);
    pthread_cond_destroy(&in->synced);
    pthread_mutex_destroy(&in->mutex);
    sb_alloc_put(in->env->alloc, in, sizeof *in);
}

void sb_ingest_get_progress(sb_ingest *in, sb_ingest_progress *out) {
    *out = (sb_ingest_progress){0};
    pthread_mutex_lock(&in->mutex);
    out->runs = in->loaders.n;
    out->is_loading = !in->was_loaded;
    out->problems = in->problems;
    memcpy(out->problem, in->problem, sizeof out->problem);
    for (size_t i = 0; i < in->loaders.n; i++) {
        const sb_loader *l = in->loaders.items[i];
        out->bytes += atomic_load(&l->bytes);
        out->bytes_done += atomic_load(&l->bytes_done);
        out->points += atomic_load(&l->points);
        out->files += atomic_load(&l->files_seen);
    }
    pthread_mutex_unlock(&in->mutex);
    out->noticed = (sb_ingest_noticed){.by_inotify = atomic_load(&in->by_inotify),
                                       .by_polling = atomic_load(&in->by_polling),
                                       .by_walk = atomic_load(&in->by_walk)};
}

uint64_t sb_ingest_begin_sync(sb_ingest *in) {
    uint64_t ticket = atomic_fetch_add(&in->sync_wanted, 1) + 1;
    wake_thread(in);
    return ticket;
}

bool sb_ingest_wait_sync(sb_ingest *in, uint64_t ticket, unsigned milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int result = 0;
    pthread_mutex_lock(&in->mutex);
    while (in->sync_done < ticket && result == 0)
        result = pthread_cond_timedwait(&in->synced, &in->mutex, &until);
    bool is_done = in->sync_done >= ticket;
    pthread_mutex_unlock(&in->mutex);
    return is_done;
}
