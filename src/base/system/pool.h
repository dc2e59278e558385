/* pool.h: a fixed number of threads that do jobs from a bounded queue, oldest first.
 *
 * A full queue refuses a job at once instead of blocking the caller, who decides what to do then.
 * Closing drains the queue and then joins the threads, so every job that was accepted is done
 * exactly once.
 *
 * Threads: submit, wait_idle and waiting may be called from any thread, a job included (but
 * wait_idle from a job would wait for itself). close and free belong to one thread, and not to a
 * job. Cost: one lock for each submit and for each job taken; no allocation after new. */
#ifndef SB_BASE_POOL_H
#define SB_BASE_POOL_H

#include "base/alloc.h"
#include "base/status.h"

typedef struct sb_pool sb_pool;
typedef void (*sb_pool_fn)(void *arg);

/* threads (1 to 1024) workers and room for queue (at least 1) jobs that wait. The workers take no
 * signals: those are for the program's main thread. */
sb_status sb_pool_new(sb_pool **out, const sb_alloc *alloc, unsigned threads, size_t queue,
                      sb_err *err);
/* The same with workers of a lower scheduling priority than the thread that makes them has: for
 * long computations beside threads that must answer quickly. Where threads of a process can't have
 * priorities of their own, all stay equal. */
sb_status sb_pool_new_background(sb_pool **out, const sb_alloc *alloc, unsigned threads,
                                 size_t queue, sb_err *err);
/* Closes it when that was not done. NULL is fine. */
void sb_pool_free(sb_pool *p);

/* SB_DROPPED when the queue is full, SB_CLOSED after close; the job is then not done. */
sb_status sb_pool_submit(sb_pool *p, sb_pool_fn job, void *arg);
/* Accepts no more jobs, drains the queue, and joins the threads. */
void sb_pool_close(sb_pool *p);

/* How many jobs wait now, not counting those being done. */
size_t sb_pool_waiting(sb_pool *p);

#endif
