/* fault_alloc.c: blocks of the C library with a header in front that remembers the size. */
#include "support/fault_alloc.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/banned.h"

typedef struct header {
    alignas(max_align_t) size_t size;
    uint64_t magic;
} header;

#define LIVE 0x6C6976652D736261u

static header *header_of(void *p) {
    header *h = (header *)p - 1;
    if (h->magic != LIVE) {
        print_error("a block was given back that is not of this allocator\n");
        abort();
    }
    return h;
}

/* Under the lock: is this request one to refuse? */
static bool refuses(sb_fault_alloc *f) {
    f->calls++;
    bool hit = f->fail_at && (f->calls == f->fail_at || (f->all_after && f->calls > f->fail_at));
    f->failures += hit;
    return hit;
}

static void *fault_resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    sb_fault_alloc *f = ctx;
    pthread_mutex_lock(&f->lock);
    header *old = p ? header_of(p) : NULL;
    size_t true_size = old ? old->size : 0;
    if (old_size != true_size) f->wrong_sizes++;
    header *fresh = NULL;
    if (new_size && !refuses(f)) {
        fresh = malloc(sizeof *fresh + new_size);
        if (!fresh) abort();
        *fresh = (header){.size = new_size, .magic = LIVE};
        /* Filled with a pattern, not zeros: code that forgets to initialise it shows. */
        memset(fresh + 1, 0xA5, new_size);
        if (old) memcpy(fresh + 1, old + 1, true_size < new_size ? true_size : new_size);
        f->blocks++;
        f->bytes += new_size;
    }
    if (old && (fresh || new_size == 0)) {
        old->magic = 0;
        free(old);
        f->blocks--;
        f->bytes -= true_size;
    }
    if (f->bytes > f->peak_bytes) f->peak_bytes = f->bytes;
    pthread_mutex_unlock(&f->lock);
    return fresh ? fresh + 1 : NULL;
}

void sb_fault_alloc_init(sb_fault_alloc *f) {
    *f = (sb_fault_alloc){.alloc = {.resize = fault_resize, .ctx = f}};
    pthread_mutex_init(&f->lock, NULL);
}

void sb_fault_alloc_fail_at(sb_fault_alloc *f, uint64_t n, bool all_after) {
    pthread_mutex_lock(&f->lock);
    f->calls = 0;
    f->fail_at = n;
    f->all_after = all_after;
    pthread_mutex_unlock(&f->lock);
}

void sb_fault_alloc_fini(sb_fault_alloc *f) {
    pthread_mutex_destroy(&f->lock);
    if (f->blocks || f->bytes)
        fail_msg("%zu blocks with %zu bytes were not given back (failing request: %llu)", f->blocks,
                 f->bytes, (unsigned long long)f->fail_at);
    if (f->wrong_sizes)
        fail_msg("%llu blocks were given back with a wrong size",
                 (unsigned long long)f->wrong_sizes);
}

static void sweep(sb_fault_run_fn run, void *ud, bool may_do_without) {
    for (uint64_t n = 1;; n++) {
        sb_fault_alloc f;
        sb_fault_alloc_init(&f);
        sb_fault_alloc_fail_at(&f, n, false);
        sb_status status = run(&f.alloc, ud);
        bool refused = f.failures != 0;
        sb_fault_alloc_fini(&f);
        if (status != (refused ? SB_NOMEM : SB_OK) && !(may_do_without && status == SB_OK))
            fail_msg("request %llu %s, and the answer was %s", (unsigned long long)n,
                     refused ? "refused" : "never came", sb_status_name(status));
        if (!refused) return;
    }
}

void sb_fault_alloc_sweep(sb_fault_run_fn run, void *ud) {
    sweep(run, ud, false);
}

void sb_fault_alloc_sweep_lenient(sb_fault_run_fn run, void *ud) {
    sweep(run, ud, true);
}
