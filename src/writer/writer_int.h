/* writer_int.h: the inside of a writer, for src/writer and its tests.
 *
 * A writer is a handle with its options, and the work: ring, thread, file, encoder. A forked child
 * abandons the parent's work, whose locks and buffers may have been in use at that moment, and
 * makes its own.
 *
 * Locks: work.mutex guards the fields named below it. It is never held while encoding or
 * writing. */
#ifndef SB_WRITER_WRITER_INT_H
#define SB_WRITER_WRITER_INT_H

#include <pthread.h>

#include "base/ring.h"
#include "fsio/fs.h"
#include "writer/call.h"
#include "writer/event_file.h"
#include "writer/fork_mark.h"

/* Calls that are larger than this are stored in a block of their own, outside the ring. */
#define SB_INLINE_MAX (64u << 10)

/* How long the thread sleeps while calls come in, when it writes, and when it goes to sleep until
 * it is woken. */
#define SB_NAP_NS (10u * 1000 * 1000)
#define SB_WRITE_AGE_NS (60u * 1000 * 1000)
#define SB_IDLE_NS (1000u * 1000 * 1000)
#define SB_BATCH_BYTES ((size_t)1 << 20)
#define SB_RETRY_NS (250u * 1000 * 1000)

/* Parameters and data of a call are padded to the alignment of the ring. */
static inline uint64_t sb_ring_padded(uint64_t n) {
    return (n + SB_RING_ALIGN - 1) / SB_RING_ALIGN * SB_RING_ALIGN;
}

/* A call in the ring: this fixed part follows the entry's header. After it: params, data (both
 * padded to 16 bytes), tag, display name, description. */
typedef struct sb_packed_call {
    double wall_time;
    int64_t step;
    double number;
    uint64_t data_n;
    uint32_t params_n;
    uint32_t tag_n;
    uint32_t display_name_n;
    uint32_t description_n;
    uint32_t kind;
    uint32_t spare;
} sb_packed_call;
_Static_assert(sizeof(sb_packed_call) + SB_RING_HEADER == 64, "params begin at a multiple of 16");

/* A ring entry that points to a block of its own, which holds the call as it would be stored in the
 * ring. */
typedef struct sb_big_call {
    uint8_t *block;
    uint64_t size;
} sb_big_call;

enum { SB_ENTRY_CALL = 1, SB_ENTRY_BIG = 2 };

typedef enum sb_sleep { SB_AWAKE, SB_NAPPING, SB_ASLEEP } sb_sleep;

/* Bits: who has not been told about the newest failure yet. */
enum { SB_TELL_CALL = 1, SB_TELL_FLUSH = 2, SB_TELL_CLOSE = 4, SB_TELL_APART = 8 };

typedef struct sb_work {
    sb_ring ring;
    void *ring_memory;
    _Atomic uint32_t sleep;   /* sb_sleep */
    _Atomic uint32_t waiters; /* producers that wait for room */
    _Atomic uint32_t tell;    /* SB_TELL_ bits */
    uint32_t listeners;       /* the bits that a failure sets; by sb_writer_opts.trouble */
    _Atomic bool failing;     /* the last attempt to write the file failed */
    _Atomic uint64_t big_used;
    _Atomic uint64_t dropped;
    _Atomic uint64_t written;
    _Atomic uint64_t bytes;

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* the thread waits on it */
    pthread_cond_t done; /* flushers wait on it */
    pthread_cond_t room; /* producers wait on it */
    /* guarded by mutex: */
    bool wake_wanted;
    bool closing;
    uint64_t flush_target;     /* ring position up to which a flush waits */
    uint64_t written_to;       /* ring position up to which everything is written */
    uint64_t failures;         /* failed attempts to write */
    uint64_t lost_since_flush; /* dropped calls that no flush has reported yet */
    sb_err trouble;            /* the newest failure on the thread */
    sb_err latest;             /* that, or the newest call that was refused */
    char *path;                /* the file's path, for other threads */
    size_t path_room;

    /* used by the writer's thread only: */
    sb_event_file file;
    sb_encoder encoder;
    sb_buf batch; /* complete records, of which batch_done bytes are written */
    size_t batch_done;
    uint64_t batch_calls;
    size_t batch_whole;     /* bytes of its records that are in the file from beginning to end, */
    uint64_t batch_counted; /* and how many records that are: they count as written */
    uint64_t batch_to;      /* ring position after the last call in batch */
    uint64_t batch_since;   /* steady time of its oldest call, 0 when empty */
    uint64_t last_active;
    uint64_t prepared; /* bytes of the ring whose pages are resident */
    uint64_t retry_at;
} sb_work;

struct sb_writer {
    sb_work *work;
    sb_fork_mark fork_mark;
    const sb_env *env; /* the copy below */
    sb_env env_copy;
    sb_writer_opts opts; /* texts point into storage */
    char *storage;
    size_t storage_n;
    uint32_t inline_max;
    sb_err fork_err; /* why this forked child could not start its own work */
};

/* sb_writer_open with allocator, file system and clock passed in; the members of env must outlive
 * the writer. */
sb_status sb_writer_open_env(sb_writer **out, const sb_writer_opts *opts, const sb_env *env,
                             sb_err *err);

/* A work with its file open and its thread running. */
sb_status sb_work_new(sb_work **out, const sb_writer *w, sb_err *err);
/* Lets the thread write what it can, stops it, reports failures and frees everything. */
sb_status sb_work_close(sb_work *work, const sb_writer *w, sb_err *err);
/* The thread's function. */
typedef struct sb_thread_args {
    sb_work *work;
    const sb_writer *writer;
} sb_thread_args;
void *sb_writer_thread(void *args);

/* Publishes the file's path to sb_writer_path. */
sb_status sb_work_share_path(sb_work *work, const sb_writer *w, sb_err *err);
void sb_work_wake(sb_work *work);
/* Records a failure for the next call, flush and close. The mutex must not be held. */
void sb_work_trouble(sb_work *work, const sb_err *err);

/* The work of this process; in a forked child a new one. NULL when it could not be started: see
 * fork_err. */
sb_work *sb_writer_enter_slow(sb_writer *w);
static inline sb_work *sb_writer_enter(sb_writer *w) {
    if (__builtin_expect(sb_fork_mark_is_set(&w->fork_mark), 1)) return w->work;
    return sb_writer_enter_slow(w);
}

/* Reserves room in the ring: waits or drops by the writer's policy. NULL and *status when the call
 * was dropped. */
uint8_t *sb_work_reserve_slow(sb_writer *w, sb_work *work, uint32_t size, uint64_t *end,
                              sb_status *status);
/* The status that a successful call returns: SB_OK, or a failure of the thread that was not
 * reported yet. */
sb_status sb_work_tell_call(sb_work *work);

/* Called after an entry was published: wakes the thread when it sleeps until woken, or when the
 * ring is filling up. */
static inline void sb_work_nudge(const sb_writer *w, sb_work *work, uint64_t end) {
    uint32_t sleep = atomic_load_explicit(&work->sleep, memory_order_seq_cst);
    if (__builtin_expect(sleep == SB_AWAKE, 0)) return;
    if (sleep == SB_ASLEEP || w->opts.max_queue == 1 ||
        end - atomic_load_explicit(&work->ring.tail, memory_order_relaxed) > work->ring.size / 2)
        sb_work_wake(work);
}

#endif
