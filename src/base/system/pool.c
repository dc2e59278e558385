/* pool.c: the ring of waiting jobs behind one lock, and the threads that empty it. */
#include "base/system/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/banned.h"

#define MAX_THREADS 1024
/* Background workers may keep every core busy. With a lower priority they are preempted as soon as
 * another thread has something to do. Five levels mean a third of the weight: beside a training
 * that takes all cores they still get on. */
#define BACKGROUND_NICE 5

typedef struct job {
    sb_pool_fn run;
    void *arg;
} job;

struct sb_pool {
    const sb_alloc *alloc;
    pthread_mutex_t lock; /* guards everything below; held for a few instructions only */
    pthread_cond_t work;  /* a job came, or closing began */
    job *jobs;            /* a ring */
    size_t room;
    size_t first;
    size_t waiting;
    bool closing;
    pthread_t *threads;
    unsigned thread_count; /* those that were started and not yet joined */
    unsigned thread_room;
    bool is_background;
};

/* On Linux a thread has a priority of its own, under its thread id. */
static void lower_priority(void) {
#ifdef __linux__
    id_t thread = (id_t)gettid();
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + BACKGROUND_NICE);
#endif
}

static void *work(void *arg) {
    sb_pool *p = arg;
    if (p->is_background) lower_priority();
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->waiting == 0 && !p->closing) pthread_cond_wait(&p->work, &p->lock);
        if (p->waiting == 0) break;
        job next = p->jobs[p->first];
        p->first = p->first + 1 == p->room ? 0 : p->first + 1;
        p->waiting--;
        pthread_mutex_unlock(&p->lock);
        next.run(next.arg);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static sb_status start_threads(sb_pool *p, sb_err *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the threads inherit it */
    int error = 0;
    while (p->thread_count < p->thread_room && !error) {
        error = pthread_create(&p->threads[p->thread_count], NULL, work, p);
        if (!error) p->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error ? sb_fail_errno(err, SB_NOMEM, error, "cannot start a worker thread") : SB_OK;
}

static sb_status make_pool(sb_pool **out, const sb_alloc *alloc, unsigned threads, size_t queue,
                           bool is_background, sb_err *err) {
    *out = NULL;
    if (threads == 0 || threads > MAX_THREADS || queue == 0)
        return sb_fail(err, SB_INVALID, 0, "a pool of %u threads with %zu places makes no sense",
                       threads, queue);
    sb_pool *p = sb_alloc_zeroed(alloc, 1, sizeof *p);
    if (!p) return sb_fail_nomem(err, "for a thread pool");
    p->alloc = alloc;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    p->room = queue;
    p->thread_room = threads;
    p->is_background = is_background;
    p->jobs = sb_alloc_zeroed(alloc, queue, sizeof *p->jobs);
    p->threads = p->jobs ? sb_alloc_zeroed(alloc, threads, sizeof *p->threads) : NULL;
    sb_status status =
        p->threads ? start_threads(p, err) : sb_fail_nomem(err, "for a thread pool's queue");
    if (status != SB_OK) {
        sb_pool_free(p);
        return status;
    }
    *out = p;
    return SB_OK;
}

sb_status sb_pool_new(sb_pool **out, const sb_alloc *alloc, unsigned threads, size_t queue,
                      sb_err *err) {
    return make_pool(out, alloc, threads, queue, false, err);
}

sb_status sb_pool_new_background(sb_pool **out, const sb_alloc *alloc, unsigned threads,
                                 size_t queue, sb_err *err) {
    return make_pool(out, alloc, threads, queue, true, err);
}

sb_status sb_pool_submit(sb_pool *p, sb_pool_fn run, void *arg) {
    pthread_mutex_lock(&p->lock);
    sb_status status = p->closing ? SB_CLOSED : p->waiting == p->room ? SB_DROPPED : SB_OK;
    if (status == SB_OK) {
        size_t at = p->first + p->waiting;
        p->jobs[at < p->room ? at : at - p->room] = (job){run, arg};
        p->waiting++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

void sb_pool_close(sb_pool *p) {
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    while (p->thread_count) pthread_join(p->threads[--p->thread_count], NULL);
}

void sb_pool_free(sb_pool *p) {
    if (!p) return;
    sb_pool_close(p);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    sb_alloc_put(p->alloc, p->threads, p->thread_room * sizeof *p->threads);
    sb_alloc_put(p->alloc, p->jobs, p->room * sizeof *p->jobs);
    sb_alloc_put(p->alloc, p, sizeof *p);
}

size_t sb_pool_waiting(sb_pool *p) {
    pthread_mutex_lock(&p->lock);
    size_t waiting = p->waiting;
    pthread_mutex_unlock(&p->lock);
    return waiting;
}
