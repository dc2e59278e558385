/* fault_alloc.h: an allocator that fails on demand and sees every mistake in giving back.
 *
 * Each block carries its size, so a wrong size given back is noticed at once; a resize always moves
 * the block, so that a pointer kept too long is a use after free to the sanitizer. A request that
 * fails leaves the old block as it was. Threads: may be used by several; init, fail_at and check
 * belong to the test's own thread. */
#ifndef SB_TESTS_SUPPORT_FAULT_ALLOC_H
#define SB_TESTS_SUPPORT_FAULT_ALLOC_H

#include <pthread.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "seaboard/status.h"

typedef struct sb_fault_alloc {
    sb_alloc alloc; /* give &f.alloc to the code under test */
    pthread_mutex_t lock;
    uint64_t calls;    /* requests for memory (new blocks and resizes) since the last fail_at */
    uint64_t fail_at;  /* the number of the request that fails, from 1; 0: none */
    bool all_after;    /* the requests after that one fail too */
    uint64_t failures; /* how many requests were refused */
    size_t blocks;     /* outstanding now */
    size_t bytes;
    size_t peak_bytes;
    uint64_t wrong_sizes; /* blocks given back or resized with a size that is not theirs */
} sb_fault_alloc;

/* Fails nothing until told to. */
void sb_fault_alloc_init(sb_fault_alloc *f);
/* Counting starts anew: the n-th request from now on fails (0: none does). */
void sb_fault_alloc_fail_at(sb_fault_alloc *f, uint64_t n, bool all_after);
/* Asserts that everything was given back, with the right sizes, and ends the use of f. */
void sb_fault_alloc_fini(sb_fault_alloc *f);

/* Runs `run` with the first request failing, then the second, and so on, until a run in which
 * nothing failed. Each run must give all memory back; one with a refused request must answer
 * SB_NOMEM, the last one SB_OK. */
typedef sb_status (*sb_fault_run_fn)(const sb_alloc *alloc, void *ud);
void sb_fault_alloc_sweep(sb_fault_run_fn run, void *ud);
/* The same for code that may do without the memory, as with fewer threads: then it answers
 * SB_OK. */
void sb_fault_alloc_sweep_lenient(sb_fault_run_fn run, void *ud);

#endif
