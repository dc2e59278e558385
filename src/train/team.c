/* team.c: a fixed set of threads around one atomic counter. */
#include "train/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/banned.h"

#define MOST_THREADS 256
/* Looks before a thread sleeps: some ten microseconds. */
#define LOOKS 4000
#define OPEN (1u << 31)

/* A member, and where it records what it does. */
typedef struct member_info {
    struct team *team;
    pthread_t thread;
    uint32_t track;
} member_info;

struct team {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    unsigned size, started;
    member_info members[MOST_THREADS]; /* the owner is the first */
    /* the current work */
    team_fn *fn;
    void *work;
    size_t count;
    sb_recorder *recorder; /* NULL: nothing is recorded */
    uint32_t name;
    atomic_size_t next;   /* the first piece that nobody has taken */
    atomic_uint gate;     /* OPEN while members may join the work; below it: how many have */
    atomic_uint round;    /* changes when there is new work */
    atomic_uint sleeping; /* threads that wait for wake */
    atomic_bool is_closed;
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

static void take_pieces(team *t) {
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->count) return;
        t->fn(t->work, i);
    }
}

/* A member that comes late must not look at work that is being replaced. */
static bool join_work(team *t) {
    unsigned gate = atomic_load_explicit(&t->gate, memory_order_relaxed);
    while (gate & OPEN)
        if (atomic_compare_exchange_weak_explicit(&t->gate, &gate, gate + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Returns when the round is another one. */
static void await_round(team *t, unsigned seen) {
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&t->round, memory_order_acquire) != seen) return;
        relax();
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleeping, 1);
    while (atomic_load(&t->round) == seen) pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->sleeping, 1);
    pthread_mutex_unlock(&t->lock);
}

static void *member(void *arg) {
    const member_info *self = arg;
    team *t = self->team;
    for (unsigned seen = 0;;) {
        await_round(t, seen);
        seen = atomic_load_explicit(&t->round, memory_order_acquire);
        if (atomic_load(&t->is_closed)) return NULL;
        if (!join_work(t)) continue; /* the work ended before this thread joined it */
        sb_recorder_begin(t->recorder, self->track, t->name);
        take_pieces(t);
        sb_recorder_end(t->recorder, self->track);
        atomic_fetch_sub_explicit(&t->gate, 1, memory_order_release);
    }
}

static void next_round(team *t) {
    atomic_fetch_add(&t->round, 1);
    if (atomic_load(&t->sleeping) == 0) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

sb_status sb_team_new(team **out, unsigned threads, sb_err *err) {
    *out = NULL;
    if (threads < 1) threads = 1;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    team *t = sb_alloc_zeroed(&sb_alloc_libc, 1, sizeof *t);
    if (!t) return sb_fail_nomem(err, "for threads");
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    t->size = 1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    int error = 0;
    while (t->size < threads && error == 0) {
        member_info *m = &t->members[t->size];
        m->team = t;
        error = pthread_create(&m->thread, NULL, member, m);
        if (error == 0) t->size++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *out = t;
    return SB_OK; /* fewer threads than asked for are fine */
}

void sb_team_free(team *t) {
    if (!t) return;
    atomic_store(&t->is_closed, true);
    next_round(t);
    for (unsigned i = 1; i < t->size; i++) pthread_join(t->members[i].thread, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    sb_alloc_put(&sb_alloc_libc, t, sizeof *t);
}

unsigned sb_team_size(const team *t) {
    return t ? t->size : 1;
}

void sb_team_make_tracks(team *t, sb_recorder *r) {
    for (unsigned i = 1; i < sb_team_size(t); i++) {
        char name[32];
        snprintf(name, sizeof name, "session thread %u", i);
        t->members[i].track = sb_recorder_track(r, name);
    }
}

void sb_team_record(team *t, sb_recorder *r, uint32_t name) {
    if (!t) return;
    t->recorder = r;
    t->name = name;
}

void sb_team_run(team *t, size_t count, team_fn *fn, void *work) {
    if (!t || t->size == 1 || count <= 1) {
        for (size_t i = 0; i < count; i++) fn(work, i);
        return;
    }
    t->fn = fn;
    t->work = work;
    t->count = count;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    atomic_store_explicit(&t->gate, OPEN, memory_order_release);
    next_round(t);
    take_pieces(t);
    atomic_fetch_and_explicit(&t->gate, ~OPEN, memory_order_relaxed);
    for (int i = 0; atomic_load_explicit(&t->gate, memory_order_acquire); i++)
        if (i < LOOKS)
            relax();
        else
            sched_yield();
}
