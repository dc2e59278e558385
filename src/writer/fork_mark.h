/* fork_mark.h: tells a process that it is the child of a fork, for the price of one load.
 *
 * The mark lies on a page that the kernel wipes when the process forks; where the kernel can't, the
 * process id is compared instead. */
#ifndef SB_WRITER_FORK_MARK_H
#define SB_WRITER_FORK_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

enum { SB_FORK_WIPED = 0, SB_FORK_BUSY = 1, SB_FORK_SET = 2, SB_FORK_BROKEN = 3 };

typedef struct sb_fork_mark {
    void *memory;
    _Atomic uint32_t *page; /* the same page as the words stored in it */
    size_t page_size;
    pid_t pid; /* 0: the kernel clears the page */
} sb_fork_mark;

sb_status sb_fork_mark_init(sb_fork_mark *m, sb_err *err);
void sb_fork_mark_fini(sb_fork_mark *m);

/* The slow variant for kernels that cannot clear the page: compares the process id, and clears the
 * page when it has changed. */
bool sb_fork_mark_check_pid(const sb_fork_mark *m);

static inline bool sb_fork_mark_is_set(const sb_fork_mark *m) {
    if (__builtin_expect(m->pid != 0, 0) && !sb_fork_mark_check_pid(m)) return false;
    return atomic_load_explicit(m->page, memory_order_acquire) == SB_FORK_SET;
}

#endif
