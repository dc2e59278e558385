/* recorder.c: starting and stopping a recording, and the calls that record. */
#include "writer/recorder/recorder_int.h"

#include <string.h>

#include "base/bytes.h"
#include "base/sized.h"
#include "base/slice.h"
#include "fsio/fs.h"
#include "writer/recorder/ticks.h"

#include "base/banned.h"

#define DEFAULT_MEMORY ((size_t)64 << 20)
#define MOST_MEMORY ((size_t)1 << 30)
#define LEAST_CHUNKS 4
#define MOST_FILE (((size_t)1 << 31) - 1) /* protobuf's limit */

/* ---- start ----------------------------------------------------------------------------------- */

static sb_status keep_name(char to[SB_HOST_ROOM], const char *name, const char *what, sb_err *err) {
    if (!name) return SB_OK;
    if (!sb_profile_name_ok(name))
        return sb_fail(err, SB_INVALID, 0,
                       "the %s '%.*s' of a recording can't be the name of a file", what,
                       SB_SHOWN(sb_slice_str(name)));
    memcpy(to, name, strlen(name) + 1);
    return SB_OK;
}

static sb_status keep_opts(sb_recorder *r, const sb_recorder_opts *opts, sb_err *err) {
    if (opts->when_full > SB_RECORDER_KEEP_FIRST)
        return sb_fail(err, SB_INVALID, 0, "%llu is not a policy for a full recording",
                       (unsigned long long)opts->when_full);
    if (opts->memory_bytes > MOST_MEMORY)
        return sb_fail(err, SB_LIMIT, 0,
                       "a recording with %zu bytes of memory is too large: the most is %zu",
                       opts->memory_bytes, MOST_MEMORY);
    size_t memory = opts->memory_bytes ? opts->memory_bytes : DEFAULT_MEMORY;
    r->when_full = opts->when_full;
    r->chunks_max = memory / sizeof(sb_record_chunk);
    if (r->chunks_max < LEAST_CHUNKS) r->chunks_max = LEAST_CHUNKS;
    sb_profile_host(r->host);
    sb_status status = keep_name(r->session, opts->session, "session", err);
    return status == SB_OK ? keep_name(r->host, opts->host, "host", err) : status;
}

static sb_status prepare(sb_recorder *r, const sb_recorder_opts *opts, sb_err *err) {
    sb_status status = keep_opts(r, opts, err);
    if (status != SB_OK) return status;
    if (!sb_lane_key(&r->key)) return sb_fail_nomem(err, "for a recorder's key");
    if (pthread_mutex_init(&r->mutex, NULL) != 0) return sb_fail_nomem(err, "for a recorder");
    status = sb_fork_mark_init(&r->fork_mark, err);
    if (status != SB_OK) {
        pthread_mutex_destroy(&r->mutex);
        return status;
    }
    const sb_clock *clock = r->env.clock;
    r->start_wall = clock->wall(clock->ctx);
    sb_intern_init(&r->tracks, r->env.alloc, r->start_wall, SB_RECORDED_NAMES_MAX);
    sb_intern_init(&r->names, r->env.alloc, r->start_wall, SB_RECORDED_NAMES_MAX);
    r->uses_counter = sb_ticks_counter(&r->env);
    r->start = sb_moment_now(r);
    return SB_OK;
}

sb_status sb_recorder_start_env(sb_recorder **out, const sb_recorder_opts *opts, const sb_env *env,
                                sb_err *err) {
    sb_recorder_opts own = SB_INIT(sb_recorder_opts);
    *out = NULL;
    sb_status status = SB_OK;
    if (opts) status = sb_sized_read(&own, sizeof own, opts, 0, "sb_recorder_opts", err);
    if (status != SB_OK) return status;
    sb_recorder *r = sb_alloc_zeroed(env->alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for a recorder");
    r->env = *env;
    status = prepare(r, &own, err);
    if (status != SB_OK) {
        sb_alloc_put(env->alloc, r, sizeof *r);
        return status;
    }
    *out = r;
    return SB_OK;
}

sb_status sb_recorder_start(sb_recorder **out, const sb_recorder_opts *opts, sb_err *err) {
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    return sb_recorder_start_env(out, opts, &env, err);
}

/* ---- stop ------------------------------------------------------------------------------------ */

/* Kept and lost records; the mutex is held. */
static sb_recorder_stats count(sb_recorder *r) {
    sb_recorder_stats stats = {.recorded = r->queued, .dropped = r->dropped};
    for (sb_lane *lane = r->lanes; lane; lane = lane->next) {
        if (lane->chunk) stats.recorded += atomic_load(&lane->chunk->n);
        stats.dropped += atomic_load(&lane->dropped);
    }
    return stats;
}

static sb_status save(sb_recorder *r, const char *logdir, sb_moment stop, uint64_t dropped,
                      sb_err *err) {
    sb_marks marks = {0};
    sb_buf file;
    sb_buf_init(&file, r->env.alloc, MOST_FILE);
    sb_status status = sb_marks_collect(&marks, r, stop, err);
    if (status == SB_OK) status = sb_marks_encode(&file, &marks, r, stop, dropped, err);
    sb_marks_free(&marks, r);
    char now[SB_SESSION_ROOM];
    sb_profile_session(now, r->start_wall);
    sb_profile_place place = {logdir, r->session[0] ? r->session : now, r->host, !r->session[0]};
    if (status == SB_OK) status = sb_profile_put(&r->env, &place, sb_buf_slice(&file), err);
    sb_buf_fini(&file);
    return status;
}

sb_status sb_recorder_stop(sb_recorder *r, const char *logdir, sb_err *err) {
    if (!r) return SB_OK;
    sb_moment stop = sb_moment_now(r);
    bool is_ours = sb_fork_mark_is_set(&r->fork_mark);
    sb_status status = SB_OK;
    if (logdir && !logdir[0])
        status = sb_fail(err, SB_INVALID, 0, "the name of the log directory is empty");
    else if (logdir && !is_ours)
        status = sb_fail(err, SB_CLOSED, 0,
                         "the recorder belongs to the process that started it; after fork() a "
                         "child starts its own");
    if (is_ours) { /* else the lock may be held by a thread that does not exist here */
        pthread_mutex_lock(&r->mutex);
        uint64_t dropped = count(r).dropped;
        pthread_mutex_unlock(&r->mutex);
        sb_lanes_stop(r);
        if (logdir && status == SB_OK) status = save(r, logdir, stop, dropped, err);
        sb_lanes_free(r);
        sb_intern_fini(&r->tracks);
        sb_intern_fini(&r->names);
        pthread_mutex_destroy(&r->mutex);
        sb_fork_mark_fini(&r->fork_mark);
        sb_alloc_put(r->env.alloc, r, sizeof *r);
    }
    return status;
}

sb_status sb_recorder_get_stats(sb_recorder *r, sb_recorder_stats *out) {
    if (!out) return SB_INVALID;
    sb_recorder_stats stats = {0};
    if (r && sb_fork_mark_is_set(&r->fork_mark)) {
        pthread_mutex_lock(&r->mutex);
        stats = count(r);
        pthread_mutex_unlock(&r->mutex);
    }
    return sb_sized_write(out, &stats, sizeof stats, "sb_recorder_stats", NULL);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t number_of(sb_recorder *r, sb_intern *table, const char *name) {
    uint32_t id;
    if (!name || !sb_fork_mark_is_set(&r->fork_mark)) return 0;
    pthread_mutex_lock(&r->mutex);
    sb_status status = sb_intern_add(table, sb_slice_str(name), &id, NULL);
    pthread_mutex_unlock(&r->mutex);
    return status == SB_OK ? id + 1 : 0;
}

uint32_t sb_recorder_track(sb_recorder *r, const char *name) {
    return r ? number_of(r, &r->tracks, name) : 0;
}

uint32_t sb_recorder_name(sb_recorder *r, const char *name) {
    return r ? number_of(r, &r->names, name) : 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Room for a record in this thread's chunk, which `publish` then counts. NULL: it is lost. */
static inline sb_recorded *room_for(sb_recorder *r, sb_record_chunk **chunk) {
    const sb_thread_lanes *t = pthread_getspecific(r->key);
    if (__builtin_expect(t != NULL && t->first != NULL, 1)) {
        const sb_lane *lane = t->first;
        if (__builtin_expect(atomic_load_explicit(&lane->recorder, memory_order_relaxed) == r &&
                                 lane->chunk && sb_fork_mark_is_set(&r->fork_mark),
                             1)) {
            *chunk = lane->chunk;
            uint32_t n = atomic_load_explicit(&lane->chunk->n, memory_order_relaxed);
            if (__builtin_expect(n < SB_RECORD_CHUNK_CALLS, 1)) return &lane->chunk->records[n];
        }
    }
    return sb_lane_room_slow(r, chunk);
}

static inline void publish(sb_record_chunk *chunk) {
    uint32_t n = atomic_load_explicit(&chunk->n, memory_order_relaxed);
    atomic_store_explicit(&chunk->n, n + 1, memory_order_release);
}

static inline void put(sb_recorder *r, sb_recorded_kind kind, uint32_t track, uint32_t name,
                       uint64_t time, uint64_t value) {
    sb_record_chunk *chunk;
    sb_recorded *record = room_for(r, &chunk);
    if (!record) return;
    *record = (sb_recorded){time, value, name, track << 3 | kind};
    publish(chunk);
}

/* A slice begins when everything that recording it costs is done. */
static inline void put_begin(sb_recorder *r, sb_recorded_kind kind, uint32_t track, uint32_t name,
                             uint64_t value) {
    sb_record_chunk *chunk;
    sb_recorded *record = room_for(r, &chunk);
    if (!record) return;
    record->value = value;
    record->name = name;
    record->track = track << 3 | kind;
    record->time = sb_ticks(r);
    publish(chunk);
}

void sb_recorder_begin(sb_recorder *r, uint32_t track, uint32_t name) {
    if (r) put_begin(r, SB_RECORDED_BEGIN, track, name, 0);
}

void sb_recorder_step(sb_recorder *r, uint32_t track, uint32_t name, int64_t step) {
    if (r) put_begin(r, SB_RECORDED_STEP, track, name, (uint64_t)step);
}

void sb_recorder_end(sb_recorder *r, uint32_t track) {
    if (r) put(r, SB_RECORDED_END, track, 0, sb_ticks(r), 0);
}

void sb_recorder_span(sb_recorder *r, uint32_t track, uint32_t name, uint64_t start_ns,
                      uint64_t duration_ns) {
    if (r) put(r, SB_RECORDED_SPAN, track, name, start_ns, duration_ns);
}

void sb_recorder_instant(sb_recorder *r, uint32_t track, uint32_t name) {
    if (r) put(r, SB_RECORDED_INSTANT, track, name, sb_ticks(r), 0);
}

void sb_recorder_count(sb_recorder *r, uint32_t track, double value) {
    if (r) put(r, SB_RECORDED_COUNT, track, 0, sb_ticks(r), sb_double_bits(value));
}

uint64_t sb_recorder_now(const sb_recorder *r) {
    return r ? r->env.clock->steady(r->env.clock->ctx) : 0;
}
