/* fork_mark.c: one page with MADV_WIPEONFORK (Linux 4.14). */
#include "writer/fork_mark.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/banned.h"

sb_status sb_fork_mark_init(sb_fork_mark *m, sb_err *err) {
    long page_size = sysconf(_SC_PAGESIZE);
    m->page_size = page_size > 0 ? (size_t)page_size : 4096;
    void *page =
        mmap(NULL, m->page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return sb_fail_errno(err, SB_NOMEM, errno, "can't map a page");
    m->memory = page;
    m->page = page;
    m->pid = 0;
#ifdef MADV_WIPEONFORK
    if (madvise(page, m->page_size, MADV_WIPEONFORK) != 0) m->pid = getpid();
#else
    m->pid = getpid();
#endif
    atomic_store_explicit(m->page, SB_FORK_SET, memory_order_release);
    return SB_OK;
}

void sb_fork_mark_fini(sb_fork_mark *m) {
    if (m->memory) munmap(m->memory, m->page_size);
    m->memory = NULL;
}

bool sb_fork_mark_check_pid(const sb_fork_mark *m) {
    /* The page's second word holds the owner's process id, so that only one thread of the child
     * clears the mark. */
    _Atomic uint32_t *owner = m->page + 1;
    uint32_t mine = (uint32_t)getpid();
    uint32_t seen = atomic_load(owner);
    if (seen == mine || (seen == 0 && mine == (uint32_t)m->pid)) return true;
    if (atomic_compare_exchange_strong(owner, &seen, mine)) atomic_store(m->page, SB_FORK_WIPED);
    return atomic_load(m->page) == SB_FORK_SET;
}
