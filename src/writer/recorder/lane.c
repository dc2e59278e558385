/* lane.c: which memory a thread records into.
 *
 * A thread finds its lanes through one key of the process, whose destructor runs when the thread
 * ends. Its newest lane is the first of its list. Lanes and lists come from libc's allocator, not
 * from the recorder's: a thread may leave a lane long after the recorder's world is gone. */
#include "writer/recorder/recorder_int.h"

#include "base/banned.h"

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key_of_process;
static bool has_key;

/* ---- threads come and go --------------------------------------------------------------------- */

static void leave(sb_lane *lane) {
    if (atomic_fetch_sub_explicit(&lane->users, 1, memory_order_acq_rel) == 1)
        sb_alloc_put(&sb_alloc_libc, lane, sizeof *lane);
}

static void thread_ends(void *value) {
    sb_thread_lanes *t = value;
    for (sb_lane *lane = t->first, *next; lane; lane = next) {
        next = lane->next_of_thread;
        atomic_store_explicit(&lane->is_idle, true, memory_order_release);
        leave(lane);
    }
    sb_alloc_put(&sb_alloc_libc, t, sizeof *t);
}

static void make_key(void) {
    has_key = pthread_key_create(&key_of_process, thread_ends) == 0;
}

bool sb_lane_key(pthread_key_t *key) {
    pthread_once(&key_once, make_key);
    *key = key_of_process;
    return has_key;
}

static sb_thread_lanes *lanes_of_thread(sb_recorder *r) {
    sb_thread_lanes *t = pthread_getspecific(r->key);
    if (t) return t;
    t = sb_alloc_zeroed(&sb_alloc_libc, 1, sizeof *t);
    if (t && pthread_setspecific(r->key, t) != 0) {
        sb_alloc_put(&sb_alloc_libc, t, sizeof *t);
        return NULL;
    }
    return t;
}

/* The thread's lane of this recorder as the first of its list; lanes of recorders that have stopped
 * are left. NULL: it has none yet. */
static sb_lane *find_lane(sb_thread_lanes *t, const sb_recorder *r) {
    sb_lane *found = NULL;
    for (sb_lane **at = &t->first; *at;) {
        sb_lane *lane = *at;
        const sb_recorder *owner = atomic_load_explicit(&lane->recorder, memory_order_acquire);
        if (owner && owner != r) {
            at = &lane->next_of_thread;
            continue;
        }
        *at = lane->next_of_thread;
        if (owner)
            found = lane;
        else
            leave(lane);
    }
    if (found) {
        found->next_of_thread = t->first;
        t->first = found;
    }
    return found;
}

/* A lane that a thread has left is used again: programs with many short threads need few. The
 * mutex is held. */
static sb_lane *new_lane(sb_recorder *r, bool *is_used) {
    *is_used = true;
    for (sb_lane *lane = r->lanes; lane; lane = lane->next) {
        bool idle = true;
        if (!atomic_compare_exchange_strong(&lane->is_idle, &idle, false)) continue;
        atomic_fetch_add(&lane->users, 1);
        return lane;
    }
    *is_used = false;
    sb_lane *lane = sb_alloc_zeroed(&sb_alloc_libc, 1, sizeof *lane);
    if (!lane) return NULL;
    atomic_store(&lane->recorder, r);
    atomic_store(&lane->users, 2);
    lane->next = r->lanes;
    r->lanes = lane;
    return lane;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* A chunk to fill: new memory, else the oldest of the queue. The mutex is held. */
static sb_record_chunk *take_chunk(sb_recorder *r) {
    sb_record_chunk *chunk = NULL;
    if (r->chunk_count < r->chunks_max) chunk = sb_alloc_get(r->env.alloc, sizeof *chunk);
    if (chunk) {
        r->chunk_count++;
    } else if (r->when_full == SB_RECORDER_KEEP_NEWEST && r->oldest) {
        chunk = r->oldest;
        r->oldest = chunk->next;
        if (!r->oldest) r->newest = NULL;
        r->queued -= SB_RECORD_CHUNK_CALLS;
        r->dropped += SB_RECORD_CHUNK_CALLS;
    }
    if (chunk) {
        chunk->next = NULL;
        atomic_init(&chunk->n, 0);
    }
    return chunk;
}

/* The lane's chunk is full, or it has none. The mutex is held. */
static void change_chunk(sb_recorder *r, sb_lane *lane) {
    sb_record_chunk *full = lane->chunk;
    if (full) {
        *(r->oldest ? &r->newest->next : &r->oldest) = full;
        r->newest = full;
        r->queued += SB_RECORD_CHUNK_CALLS;
    }
    lane->chunk = take_chunk(r);
    if (lane->chunk) lane->chunk->lane = lane;
    lane->is_closed = !lane->chunk && r->when_full == SB_RECORDER_KEEP_FIRST;
}

static void add_reset(sb_recorder *r, sb_lane *lane) {
    if (!lane->chunk || atomic_load(&lane->chunk->n) == SB_RECORD_CHUNK_CALLS)
        change_chunk(r, lane);
    if (!lane->chunk) return;
    uint32_t n = atomic_load(&lane->chunk->n);
    lane->chunk->records[n] = (sb_recorded){.track = SB_RECORDED_RESET};
    atomic_store(&lane->chunk->n, n + 1);
}

static sb_lane *enter(sb_recorder *r) {
    sb_thread_lanes *t = lanes_of_thread(r);
    if (!t) return NULL;
    sb_lane *lane = find_lane(t, r);
    if (lane) return lane;
    bool is_used;
    pthread_mutex_lock(&r->mutex);
    lane = new_lane(r, &is_used);
    if (lane && is_used) add_reset(r, lane);
    pthread_mutex_unlock(&r->mutex);
    if (!lane) return NULL;
    lane->next_of_thread = t->first;
    t->first = lane;
    return lane;
}

sb_recorded *sb_lane_room_slow(sb_recorder *r, sb_record_chunk **chunk) {
    if (!sb_fork_mark_is_set(&r->fork_mark)) return NULL;
    sb_lane *lane = enter(r);
    if (!lane) {
        pthread_mutex_lock(&r->mutex);
        r->dropped++;
        pthread_mutex_unlock(&r->mutex);
        return NULL;
    }
    if (!lane->is_closed &&
        (!lane->chunk ||
         atomic_load_explicit(&lane->chunk->n, memory_order_relaxed) == SB_RECORD_CHUNK_CALLS)) {
        pthread_mutex_lock(&r->mutex);
        change_chunk(r, lane);
        pthread_mutex_unlock(&r->mutex);
    }
    if (!lane->chunk) {
        atomic_fetch_add_explicit(&lane->dropped, 1, memory_order_relaxed);
        return NULL;
    }
    *chunk = lane->chunk;
    return &lane->chunk->records[atomic_load_explicit(&lane->chunk->n, memory_order_relaxed)];
}

/* ---- the end --------------------------------------------------------------------------------- */

static void append(sb_record_chunk *chunk) {
    sb_lane *lane = chunk->lane;
    chunk->next = NULL;
    *(lane->first ? &lane->last->next : &lane->first) = chunk;
    lane->last = chunk;
}

void sb_lanes_stop(sb_recorder *r) {
    pthread_mutex_lock(&r->mutex);
    for (sb_record_chunk *chunk = r->oldest, *next; chunk; chunk = next) {
        next = chunk->next;
        append(chunk);
    }
    r->oldest = r->newest = NULL;
    for (sb_lane *lane = r->lanes; lane; lane = lane->next) {
        if (lane->chunk) append(lane->chunk);
        atomic_store_explicit(&lane->recorder, NULL, memory_order_release);
    }
    pthread_mutex_unlock(&r->mutex);
}

void sb_lanes_free(sb_recorder *r) {
    for (sb_lane *lane = r->lanes, *next; lane; lane = next) {
        next = lane->next;
        for (sb_record_chunk *chunk = lane->first, *after; chunk; chunk = after) {
            after = chunk->next;
            sb_alloc_put(r->env.alloc, chunk, sizeof *chunk);
        }
        leave(lane);
    }
    sb_thread_lanes *t = pthread_getspecific(r->key);
    if (t) find_lane(t, r); /* this thread leaves at once */
}
