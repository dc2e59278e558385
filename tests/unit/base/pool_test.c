/* pool_test.c: every accepted job is done once, a full queue refuses, closing finishes the work. */
#include "base/system/pool.h"

#include <sched.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

/* A gate that jobs wait at until the test opens it. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned arrived;
} gate;

static void gate_init(gate *g) {
    *g = (gate){.open = false};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

static void gate_fini(gate *g) {
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
}

static void pass_gate(void *arg) {
    gate *g = arg;
    pthread_mutex_lock(&g->lock);
    g->arrived++;
    pthread_cond_broadcast(&g->changed);
    while (!g->open) pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void gate_await(gate *g, unsigned count) {
    pthread_mutex_lock(&g->lock);
    while (g->arrived < count) pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void gate_open(gate *g) {
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void count_one(void *arg) {
    atomic_fetch_add((_Atomic unsigned *)arg, 1);
}

static void every_accepted_job_is_done_once(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_pool *p;
    sb_err err;
    assert_ok(sb_pool_new(&p, &f.alloc, 4, 64, &err), &err);
    _Atomic unsigned done = 0;
    unsigned accepted = 0;
    for (unsigned i = 0; i < 20000; i++)
        if (sb_pool_submit(p, count_one, &done) == SB_OK) accepted++;
    sb_pool_close(p);
    assert_int_equal(atomic_load(&done), accepted);
    assert_int_equal(sb_pool_waiting(p), 0);
    sb_pool_free(p);
    sb_fault_alloc_fini(&f);
}

static void a_full_queue_refuses_at_once(void **state) {
    (void)state;
    sb_pool *p;
    gate g;
    gate_init(&g);
    assert_ok(sb_pool_new(&p, &sb_alloc_libc, 1, 3, NULL), NULL);
    assert_int_equal(sb_pool_submit(p, pass_gate, &g), SB_OK);
    gate_await(&g, 1); /* the only worker is busy now, the queue empty */
    _Atomic unsigned done = 0;
    for (int i = 0; i < 3; i++) assert_int_equal(sb_pool_submit(p, count_one, &done), SB_OK);
    assert_int_equal(sb_pool_waiting(p), 3);
    assert_int_equal(sb_pool_submit(p, count_one, &done), SB_DROPPED);
    gate_open(&g);
    while (atomic_load(&done) < 3) sched_yield();
    assert_int_equal(sb_pool_submit(p, count_one, &done), SB_OK); /* there is room again */
    sb_pool_free(p);
    assert_int_equal(atomic_load(&done), 4);
    gate_fini(&g);
}

typedef struct order {
    unsigned seen[8];
    unsigned count;
} order;

typedef struct numbered {
    order *into;
    unsigned number;
} numbered;

static void note(void *arg) {
    numbered *n = arg;
    n->into->seen[n->into->count++] = n->number; /* one worker: no lock needed */
}

static void jobs_are_done_oldest_first(void **state) {
    (void)state;
    sb_pool *p;
    order o = {.count = 0};
    numbered jobs[8];
    gate g;
    gate_init(&g);
    assert_ok(sb_pool_new(&p, &sb_alloc_libc, 1, 8, NULL), NULL);
    assert_int_equal(sb_pool_submit(p, pass_gate, &g), SB_OK);
    gate_await(&g, 1);
    for (unsigned i = 0; i < 8; i++) {
        jobs[i] = (numbered){&o, i};
        assert_int_equal(sb_pool_submit(p, note, &jobs[i]), SB_OK);
    }
    gate_open(&g);
    sb_pool_free(p);
    assert_int_equal(o.count, 8);
    for (unsigned i = 0; i < 8; i++) assert_int_equal(o.seen[i], i);
    gate_fini(&g);
}

static void closing_does_what_was_taken_and_then_refuses(void **state) {
    (void)state;
    sb_pool *p;
    assert_ok(sb_pool_new(&p, &sb_alloc_libc, 2, 100, NULL), NULL);
    _Atomic unsigned done = 0;
    for (int i = 0; i < 100; i++) sb_pool_submit(p, count_one, &done);
    sb_pool_close(p);
    assert_int_equal(atomic_load(&done), 100);
    assert_int_equal(sb_pool_submit(p, count_one, &done), SB_CLOSED);
    sb_pool_close(p); /* a second time changes nothing */
    sb_pool_free(p);
    assert_int_equal(atomic_load(&done), 100);
}

typedef struct again {
    sb_pool *pool;
    _Atomic unsigned left;
} again;

static void submit_again(void *arg) {
    again *a = arg;
    if (atomic_fetch_sub(&a->left, 1) > 1) sb_pool_submit(a->pool, submit_again, a);
}

static void a_job_may_hand_over_another(void **state) {
    (void)state;
    again a = {.left = 500};
    assert_ok(sb_pool_new(&a.pool, &sb_alloc_libc, 2, 2, NULL), NULL);
    assert_int_equal(sb_pool_submit(a.pool, submit_again, &a), SB_OK);
    while (atomic_load(&a.left) > 0) sched_yield();
    sb_pool_free(a.pool);
}

static void note_priority(void *arg) {
    _Atomic int *priority = arg;
    atomic_store(priority, getpriority(PRIO_PROCESS, (id_t)gettid()));
}

/* The threads of the program that answer quickly are scheduled before those of long work. */
static void workers_in_the_background_have_a_lower_priority(void **state) {
    (void)state;
    int own = getpriority(PRIO_PROCESS, 0);
    if (own >= 19) skip(); /* there is no lower one */
    _Atomic int plain = -100, background = -100;
    sb_pool *p;
    assert_ok(sb_pool_new(&p, &sb_alloc_libc, 1, 1, NULL), NULL);
    assert_int_equal(sb_pool_submit(p, note_priority, &plain), SB_OK);
    sb_pool_free(p);
    assert_ok(sb_pool_new_background(&p, &sb_alloc_libc, 1, 1, NULL), NULL);
    assert_int_equal(sb_pool_submit(p, note_priority, &background), SB_OK);
    sb_pool_free(p);
    assert_int_equal(atomic_load(&plain), own);
    assert_true(atomic_load(&background) > own);
}

static void senseless_sizes_are_invalid(void **state) {
    (void)state;
    sb_pool *p;
    sb_err err;
    assert_int_equal(sb_pool_new(&p, &sb_alloc_libc, 0, 1, &err), SB_INVALID);
    assert_null(p);
    assert_int_equal(sb_pool_new(&p, &sb_alloc_libc, 1025, 1, &err), SB_INVALID);
    assert_int_equal(sb_pool_new(&p, &sb_alloc_libc, 1, 0, &err), SB_INVALID);
    assert_int_equal(sb_pool_new(&p, &sb_alloc_libc, 1, SIZE_MAX, &err), SB_NOMEM);
    sb_pool_free(NULL);
}

static sb_status make_and_use(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_pool *p;
    sb_err err;
    sb_status status = sb_pool_new(&p, alloc, 2, 4, &err);
    if (status != SB_OK) return status;
    _Atomic unsigned done = 0;
    sb_pool_submit(p, count_one, &done);
    sb_pool_free(p);
    return atomic_load(&done) == 1 ? SB_OK : SB_INVALID;
}

static void memory_that_runs_out_leaves_nothing_behind(void **state) {
    (void)state;
    sb_fault_alloc_sweep(make_and_use, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_accepted_job_is_done_once),
        cmocka_unit_test(a_full_queue_refuses_at_once),
        cmocka_unit_test(jobs_are_done_oldest_first),
        cmocka_unit_test(closing_does_what_was_taken_and_then_refuses),
        cmocka_unit_test(a_job_may_hand_over_another),
        cmocka_unit_test(workers_in_the_background_have_a_lower_priority),
        cmocka_unit_test(senseless_sizes_are_invalid),
        cmocka_unit_test(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
