/* parallel.h: does a number of independent jobs on several threads and waits for all of them.
 *
 * Jobs are numbers; each thread takes the next one that nobody has. After a job has failed no new
 * one is begun, and the failure of the smallest number is reported, so that a caller gets the same
 * message in every run. With one job or one thread everything runs on the caller's thread. */
#ifndef SB_CKPT_BUNDLE_PARALLEL_H
#define SB_CKPT_BUNDLE_PARALLEL_H

#include "base/alloc.h"
#include "base/status.h"

typedef sb_status (*sb_parallel_fn)(void *ud, size_t job, sb_err *err);

/* threads 0: one for each processor. */
sb_status sb_parallel(const sb_alloc *alloc, unsigned threads, size_t jobs, sb_parallel_fn run,
                      void *ud, sb_err *err);

#endif
