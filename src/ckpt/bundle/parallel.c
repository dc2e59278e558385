/* parallel.c: jobs handed out by one atomic counter. */
#include "ckpt/bundle/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/system/pool.h"
#include "base/banned.h"

#define MOST_THREADS 64

typedef struct work {
    sb_parallel_fn run;
    void *ud;
    size_t jobs;
    atomic_size_t next;
    atomic_bool has_failed;
    pthread_mutex_t lock; /* guards what follows */
    size_t failed_job;
    sb_status status;
    sb_err err;
} work;

static void note_failure(work *w, size_t job, sb_status status, const sb_err *err) {
    pthread_mutex_lock(&w->lock);
    if (w->status == SB_OK || job < w->failed_job) {
        w->status = status;
        w->failed_job = job;
        w->err = *err;
    }
    pthread_mutex_unlock(&w->lock);
    atomic_store(&w->has_failed, true);
}

static void take_jobs(void *arg) {
    work *w = arg;
    while (!atomic_load(&w->has_failed)) {
        size_t job = atomic_fetch_add(&w->next, 1);
        if (job >= w->jobs) return;
        sb_err err = {0};
        sb_status status = w->run(w->ud, job, &err);
        if (status != SB_OK) note_failure(w, job, status, &err);
    }
}

static unsigned thread_count(unsigned wanted, size_t jobs) {
    long processors = wanted ? (long)wanted : sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = processors < 1              ? 1
                 : processors > MOST_THREADS ? MOST_THREADS
                                             : (unsigned)processors;
    return jobs < n ? (unsigned)jobs : n;
}

sb_status sb_parallel(const sb_alloc *alloc, unsigned threads, size_t jobs, sb_parallel_fn run,
                      void *ud, sb_err *err) {
    work w = {.run = run, .ud = ud, .jobs = jobs};
    unsigned n = thread_count(threads, jobs);
    sb_pool *pool = NULL;
    pthread_mutex_init(&w.lock, NULL);
    /* The caller's thread works as well. Without a pool it does everything. */
    if (n > 1 && sb_pool_new(&pool, alloc, n - 1, n, NULL) == SB_OK)
        for (unsigned i = 1; i < n; i++) sb_pool_submit(pool, take_jobs, &w);
    take_jobs(&w);
    sb_pool_free(pool);
    pthread_mutex_destroy(&w.lock);
    if (w.status != SB_OK && err) *err = w.err;
    return w.status;
}
