/* The writer when the world fails: full disks, removed files, no memory, refused system calls.
 * Whatever happens, training goes on, the trouble is told, and the file holds whole records. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/event.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "writer/writer_int.h"

static sb_writer *open_over(const sb_env *env, const char *logdir, sb_full_policy when_full,
                            sb_err *err) {
    sb_writer *w = NULL;
    sb_writer_opts opts = SB_INIT(sb_writer_opts, .logdir = logdir, .style = SB_STYLE_TORCH,
                                  .ring_bytes = 1, .when_full = when_full);
    sb_writer_open_env(&w, &opts, env, err);
    return w;
}

static size_t count_records(sb_test_dir *d, const char *logdir, size_t *tail) {
    sb_test_files files = sb_test_event_files(d, logdir);
    size_t count = 0;
    *tail = 0;
    for (size_t i = 0; i < files.count; i++) {
        sb_test_records records = sb_test_read_records(d, files.paths[i]);
        count += records.count;
        *tail += records.tail;
        sb_test_records_free(&records);
    }
    return count;
}

/* ---- a full disk ----------------------------------------------------------------------------- */

static void full_disk_never_blocks_and_is_told_by_call_flush_and_close(void **state) {
    sb_test_dir *d = *state;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "full");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_WAIT, &err);
    assert_non_null(w);
    sb_fault_fs_disk(&fault, 1000, ENOSPC);
    for (int i = 0; i < 40; i++) sb_scalar(w, "x", i, i);
    assert_int_equal(sb_writer_flush(w, &err), SB_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    assert_non_null(strstr(err.text, logdir));
    /* What is in the file as a whole counts as written; the file's header is no call. */
    size_t tail;
    sb_writer_stats stats = SB_INIT(sb_writer_stats);
    sb_writer_get_stats(w, &stats);
    assert_true(stats.written > 10);
    assert_int_equal(stats.written, count_records(d, logdir, &tail) - 1);
    /* The next call tells too; and though the ring's policy is to wait, nothing waits. */
    assert_int_equal(sb_scalar(w, "x", 40, 40), SB_IO);
    for (int i = 0; i < 5000; i++) sb_scalar(w, "a tag of some length to fill the ring", i, i);
    sb_writer_get_stats(w, &stats);
    assert_true(stats.dropped > 0);
    assert_int_equal(sb_writer_close(w, &err), SB_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    size_t count = count_records(d, logdir, &tail);
    assert_int_equal(tail, 0); /* the incomplete record was cut off */
    assert_true(count > 10 && count < 41);
    sb_fault_fs_fini(&fault);
}

static void trouble_apart_is_told_once_and_by_no_call(void **state) {
    sb_test_dir *d = *state;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    sb_writer *w = NULL;
    sb_err err;
    sb_writer_opts opts = SB_INIT(sb_writer_opts, .logdir = sb_test_dir_join(d, "apart"),
                                  .style = SB_STYLE_TORCH, .trouble = SB_TROUBLE_APART);
    assert_int_equal(sb_writer_open_env(&w, &opts, &env, &err), SB_OK);
    assert_int_equal(sb_writer_trouble(w, &err), SB_OK);
    sb_fault_fs_disk(&fault, 0, ENOSPC);
    assert_int_equal(sb_scalar(w, "x", 1, 1), SB_OK);
    assert_int_equal(sb_writer_flush(w, &err), SB_IO);
    assert_int_equal(sb_scalar(w, "x", 2, 2), SB_OK);
    assert_int_equal(sb_text(w, "t", "text", 2), SB_OK);
    memset(&err, 0, sizeof err);
    assert_int_equal(sb_writer_trouble(w, &err), SB_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    sb_writer_close(w, NULL);
    sb_fault_fs_fini(&fault);
}

static void incomplete_record_is_completed_when_there_is_room_again(void **state) {
    sb_test_dir *d = *state;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "again");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_WAIT, &err);
    sb_fault_fs_disk(&fault, 777, ENOSPC);
    for (int i = 0; i < 100; i++) sb_scalar(w, "x", i, i);
    assert_int_equal(sb_writer_flush(w, &err), SB_IO);
    sb_fault_fs_disk_endless(&fault);
    assert_ok(sb_writer_flush(w, &err), &err);
    for (int i = 100; i < 200; i++) sb_scalar(w, "x", i, i);
    assert_ok(sb_writer_flush(w, &err), &err);
    sb_writer_stats stats = SB_INIT(sb_writer_stats);
    sb_writer_get_stats(w, &stats);
    assert_int_equal(stats.dropped, 0);
    assert_int_equal(sb_writer_close(w, &err), SB_IO); /* close has not heard of it yet */
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_int_equal(records.count, 201);
    for (int64_t i = 0; i < 200; i++) {
        sb_event event;
        assert_int_equal(sb_event_read(&event, records.payloads[i + 1]), SB_OK);
        assert_int_equal(event.step, i);
    }
    sb_test_records_free(&records);
    sb_fault_fs_fini(&fault);
}

static void short_writes_lose_nothing(void **state) {
    sb_test_dir *d = *state;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    sb_fault_fs_short(&fault, 0, 7);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "short");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_WAIT, &err);
    for (int i = 0; i < 300; i++) assert_int_equal(sb_scalar(w, "x", i, i), SB_OK);
    assert_ok(sb_writer_close(w, &err), &err);
    size_t tail;
    assert_int_equal(count_records(d, logdir, &tail), 301);
    assert_int_equal(tail, 0);
    sb_fault_fs_fini(&fault);
}

/* ---- a full ring ----------------------------------------------------------------------------- */

/* Holds the writer's thread back in its next write until the gate opens. */
typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool closed, reached;
} gate;

static void pass_gate(void *ud, sb_fault_call call, const char *path) {
    (void)path;
    gate *g = ud;
    if (call != SB_CALL_WRITE) return;
    pthread_mutex_lock(&g->mutex);
    if (g->closed) g->reached = true;
    pthread_cond_broadcast(&g->moved);
    while (g->closed) pthread_cond_wait(&g->moved, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void set_gate(gate *g, bool closed) {
    pthread_mutex_lock(&g->mutex);
    g->closed = closed;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->mutex);
}

static void wait_at_gate(gate *g) {
    pthread_mutex_lock(&g->mutex);
    while (!g->reached) pthread_cond_wait(&g->moved, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void full_ring_drops_and_counts_when_asked_to(void **state) {
    sb_test_dir *d = *state;
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    sb_fault_fs_hook(&fault, pass_gate, &g);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "drop");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_DROP, &err);
    set_gate(&g, true);
    for (int i = 0; i < 20; i++) sb_scalar(w, "x", i, i);
    wait_at_gate(&g);
    uint64_t refused = 0, taken = 20;
    for (int i = 0; i < 3000; i++) {
        sb_status status = sb_scalar(w, "x", i, i);
        assert_true(status == SB_OK || status == SB_DROPPED);
        if (status == SB_OK)
            taken++;
        else
            refused++;
    }
    assert_true(refused > 0);
    set_gate(&g, false);
    assert_ok(sb_writer_flush(w, &err), &err);
    sb_writer_stats stats = SB_INIT(sb_writer_stats);
    sb_writer_get_stats(w, &stats);
    assert_int_equal(stats.dropped, refused);
    assert_int_equal(stats.written, taken);
    assert_ok(sb_writer_close(w, &err), &err);
    size_t tail;
    assert_int_equal(count_records(d, logdir, &tail), 1 + taken);
    sb_fault_fs_fini(&fault);
}

typedef struct caller {
    sb_writer *w;
    _Atomic int done;
} caller;

static void *call_much(void *ud) {
    caller *c = ud;
    for (int i = 0; i < 3000; i++)
        if (sb_scalar(c->w, "x", i, i) == SB_OK) c->done++;
    return NULL;
}

static void full_ring_makes_callers_wait_and_loses_nothing(void **state) {
    sb_test_dir *d = *state;
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    sb_fault_fs_hook(&fault, pass_gate, &g);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "wait");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_WAIT, &err);
    set_gate(&g, true);
    caller c = {w, 0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, call_much, &c);
    wait_at_gate(&g);
    set_gate(&g, false);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_int_equal(c.done, 6000);
    assert_ok(sb_writer_close(w, &err), &err);
    size_t tail;
    assert_int_equal(count_records(d, logdir, &tail), 6001);
    sb_fault_fs_fini(&fault);
}

/* ---- removed files --------------------------------------------------------------------------- */

static void removed_file_is_told_and_followed_by_a_new_one(void **state) {
    sb_test_dir *d = *state;
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    const char *logdir = sb_test_dir_join(d, "removed/run");
    sb_err err;
    sb_writer *w = open_over(&env, logdir, SB_FULL_WAIT, &err);
    sb_scalar(w, "x", 1, 1);
    assert_ok(sb_writer_flush(w, &err), &err);
    assert_int_equal(remove(sb_test_event_files(d, logdir).paths[0]), 0);
    assert_int_equal(rmdir(logdir), 0);
    for (int i = 2; i < 12; i++) sb_scalar(w, "x", i, i);
    assert_int_equal(sb_writer_flush(w, &err), SB_IO);
    assert_non_null(strstr(err.text, "was removed"));
    assert_int_equal(sb_scalar(w, "x", 12, 12), SB_IO);
    assert_int_equal(sb_scalar(w, "x", 13, 13), SB_OK);
    assert_ok(sb_writer_flush(w, &err), &err);
    assert_int_equal(sb_writer_close(w, &err), SB_IO);
    size_t tail;
    assert_int_equal(count_records(d, logdir, &tail), 1 + 12);
}

/* ---- every allocation and every system call -------------------------------------------------- */

/* A short life of a writer over the given world. What was told to be flushed must be there. */
static sb_status live(const sb_env *env, sb_test_dir *d, const char *logdir) {
    sb_err err = {.code = SB_OK};
    sb_writer *w = open_over(env, logdir, SB_FULL_WAIT, &err);
    if (!w) {
        assert_true(err.code != SB_OK && err.text[0]);
        return err.code;
    }
    size_t n = (size_t)100 << 10;
    uint8_t *summary = calloc(1, n + 4);
    memcpy(summary, "\x7a\x80\xa0\x06", 4);
    sb_status first = SB_OK;
    size_t taken = 0;
    for (int i = 0; i < 5; i++) {
        sb_status status = sb_scalar(w, "x", i, i);
        if (status == SB_OK) taken++;
        if (first == SB_OK) first = status;
        status = sb_summary(w, sb_slice_of(summary, n + 4), i);
        if (status == SB_OK) taken++;
        if (first == SB_OK) first = status;
    }
    free(summary);
    sb_status flushed = sb_writer_flush(w, &err);
    size_t tail;
    if (first == SB_OK && flushed == SB_OK)
        assert_true(count_records(d, logdir, &tail) >= taken + 1);
    if (first == SB_OK) first = flushed;
    sb_status closed = sb_writer_close(w, &err);
    if (first == SB_OK) first = closed;
    count_records(d, logdir, &tail); /* asserts that all whole records are good */
    return first;
}

static void refused_allocations_are_told_and_leave_whole_records(void **state) {
    sb_test_dir *d = *state;
    for (uint64_t n = 1; n < 10000; n++) {
        sb_fault_alloc fault;
        sb_fault_alloc_init(&fault);
        sb_fault_alloc_fail_at(&fault, n, false);
        const sb_env env = {&fault.alloc, &sb_fs_local, &sb_test_clock};
        char name[32];
        snprintf(name, sizeof name, "alloc%d", (int)n);
        sb_status status = live(&env, d, sb_test_dir_join(d, name));
        bool failed = fault.failures > 0;
        assert_int_equal(status, failed ? SB_NOMEM : SB_OK);
        sb_fault_alloc_fini(&fault);
        if (!failed) return;
    }
    fail_msg("the sweep never ended");
}

static void refused_system_calls_are_told_and_leave_whole_records(void **state) {
    sb_test_dir *d = *state;
    const int errors[] = {EIO, EACCES, EROFS, ENOSPC};
    for (uint64_t n = 1; n < 1000; n++) {
        for (size_t e = 0; e < SB_COUNT(errors); e++) {
            sb_fault_fs fault;
            sb_fault_fs_init(&fault, &sb_fs_local);
            sb_fault_fs_fail(&fault, SB_CALL_ANY, n, errors[e], e % 2 == 1);
            const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
            char name[32];
            snprintf(name, sizeof name, "call%d-%d", (int)n, (int)e);
            sb_status status = live(&env, d, sb_test_dir_join(d, name));
            bool failed = sb_fault_fs_failures(&fault) > 0;
            if (!failed) assert_int_equal(status, SB_OK);
            sb_fault_fs_fini(&fault);
            if (!failed && e == 0) return;
        }
    }
    fail_msg("the sweep never ended");
}

static void read_only_directory_is_refused_with_the_reason(void **state) {
    sb_test_dir *d = *state;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    sb_fault_fs_fail(&fault, SB_CALL_OPEN, 1, EROFS, true);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
    sb_err err;
    assert_null(open_over(&env, sb_test_dir_join(d, "readonly"), SB_FULL_WAIT, &err));
    assert_int_equal(err.code, SB_IO);
    assert_non_null(strstr(err.text, "Read-only file system"));
    assert_non_null(strstr(err.text, "readonly"));
    sb_fault_fs_fini(&fault);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(full_disk_never_blocks_and_is_told_by_call_flush_and_close),
        DIR_TEST(trouble_apart_is_told_once_and_by_no_call),
        DIR_TEST(incomplete_record_is_completed_when_there_is_room_again),
        DIR_TEST(short_writes_lose_nothing),
        DIR_TEST(full_ring_drops_and_counts_when_asked_to),
        DIR_TEST(full_ring_makes_callers_wait_and_loses_nothing),
        DIR_TEST(removed_file_is_told_and_followed_by_a_new_one),
        DIR_TEST(refused_allocations_are_told_and_leave_whole_records),
        DIR_TEST(refused_system_calls_are_told_and_leave_whole_records),
        DIR_TEST(read_only_directory_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
