/* ckpt_test.c: saving a checkpoint while calls fail, the disk fills up or the process dies. The
 * checkpoint of before, or the new one, is always whole. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt/bundle/bundle_write.h"
#include "ckpt/object/object_int.h"
#include "ckpt/saver_int.h"
#include "support/events.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

#define COUNT 3000

/* fsync is counted and may be refused, but costs nothing here: what it is good for, a power cut,
 * can't be tried anyway. */
static int no_sync_at_all(void *ctx, int file) {
    (void)ctx;
    (void)file;
    return 0;
}

static void init_faults(sb_fault_fs *f, sb_fs *quick) {
    *quick = sb_fs_local;
    quick->sync = no_sync_at_all;
    sb_fault_fs_init(f, quick);
}

/* Saves three tensors whose elements are all `value`, in two shards. */
static sb_status save(const sb_env *env, const char *prefix, float value, bool no_sync,
                      sb_err *err) {
    sb_bundle_writer *w;
    sb_bundle_writer_opts opts = {.shards = 2, .threads = 1, .no_sync = no_sync};
    static float x[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = value;
    const int64_t n = COUNT, two = 2;
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT("bb")};
    const sb_bundle_item items[] = {
        {.name = SB_LIT("a"), .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x},
        {.name = SB_LIT("b"), .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x},
        {.name = SB_LIT("s"), .dtype = SB_STRING, .rank = 1, .dims = &two, .strings = strings},
    };
    sb_status status = sb_bundle_writer_open(&w, env, prefix, &opts, err);
    for (uint32_t i = 0; i < 3 && status == SB_OK; i++)
        status = sb_bundle_write(w, i % 2, &items[i], err);
    if (status == SB_OK) return sb_bundle_writer_finish(&w, err);
    sb_bundle_writer_abandon(&w);
    return status;
}

/* Every tensor is whole; answers the value that all elements have. */
static float load(const char *prefix) {
    sb_bundle *b;
    sb_err err;
    assert_ok(
        sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL, sb_slice_str(prefix), NULL, &err),
        &err);
    assert_int_equal(sb_bundle_count(b), 3);
    float value = -1;
    for (size_t k = 0; k < 3; k++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, k);
        assert_ok(sb_bundle_verify(b, t, &err), &err);
        if (t->dtype != SB_FLOAT) continue;
        float x[COUNT];
        assert_ok(sb_bundle_read_box(b, t, NULL, x, sizeof x, &err), &err);
        if (k == 0) value = x[0];
        for (size_t i = 0; i < COUNT; i++) assert_true(x[i] == value);
    }
    sb_bundle_close(b);
    return value;
}

static int count_names(void *ud, const char *name) {
    (void)name;
    ++*(size_t *)ud;
    return 0;
}

static size_t count_files(sb_test_dir *d) {
    size_t n = 0;
    sb_fs_local.list(NULL, sb_test_dir_path(d), count_names, &n);
    return n;
}

/* The n-th call fails, and with `dies` all calls after it: what a crash at that point leaves. */
static void sweep(sb_test_dir *d, bool dies) {
    const char *prefix = sb_test_dir_join(d, "ckpt");
    const sb_env real = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    sb_err err;
    assert_ok(save(&real, prefix, 1, true, &err), &err);
    float before = 1;
    for (uint64_t n = 1;; n++) {
        sb_fault_fs f;
        sb_fs quick;
        init_faults(&f, &quick);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, dies);
        sb_fault_fs_short(&f, 0, 4099);
        const sb_env env = {&sb_alloc_libc, &f.fs, &sb_test_clock};
        sb_status status = save(&env, prefix, before + 1, false, &err);
        bool failed = sb_fault_fs_failures(&f) > 0;
        sb_fault_fs_fini(&f);
        float after = load(prefix);
        assert_true(after == before || after == before + 1);
        if (status == SB_OK) assert_true(after == before + 1);
        /* Whoever lives on cleans up: an index, its data files, and one file that refused. */
        if (!dies) assert_true(count_files(d) <= 7);
        before = after;
        if (!failed) break;
    }
}

/* A process that restores the newest checkpoint, counts up and saves, with a manager that keeps
 * two. */
static sb_status run_process(const sb_env *env, const char *dir, sb_err *err) {
    sb_checkpoint *c;
    sb_manager *m = NULL;
    static float x[COUNT];
    const int64_t n = COUNT;
    sb_status status = sb_checkpoint_new_env(&c, env, err);
    sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x);
    if (status == SB_OK) status = sb_object_add_variable(NULL, c->root, "x", &v, err);
    sb_manager_opts opts = SB_INIT(sb_manager_opts, .directory = dir, .max_to_keep = 2);
    if (status == SB_OK) status = sb_manager_open(&m, c, &opts, err);
    if (status == SB_OK) status = sb_manager_restore_or_initialize(m, NULL, err);
    for (size_t i = 0; i < COUNT; i++) x[i] += 1;
    if (status == SB_OK) status = sb_manager_save(m, SB_NEXT_NUMBER, NULL, err);
    sb_manager_close(m);
    sb_checkpoint_free(c);
    return status;
}

/* The newest checkpoint is there and whole; answers the number that all its elements have. */
static float newest_value(const char *dir) {
    char path[4096];
    sb_ckpt *c;
    sb_err err;
    float x[COUNT];
    assert_ok(sb_latest_checkpoint(dir, path, sizeof path, &err), &err);
    assert_ok(sb_ckpt_open(&c, path, &err), &err);
    const sb_ckpt_tensor *t = sb_ckpt_find(c, "x/.ATTRIBUTES/VARIABLE_VALUE");
    assert_non_null(t);
    assert_ok(sb_ckpt_read(c, t, NULL, x, sizeof x, &err), &err);
    for (size_t i = 1; i < COUNT; i++) assert_true(x[i] == x[0]);
    sb_ckpt_close(c);
    return x[0];
}

static void a_manager_that_crashes_at_any_call_leaves_a_newest_that_is_whole(void **state) {
    const char *dir = sb_test_dir_join(*state, "run");
    const sb_env real = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    sb_err err;
    for (int i = 0; i < 2; i++) assert_ok(run_process(&real, dir, &err), &err);
    float before = newest_value(dir);
    for (uint64_t n = 1;; n++) {
        sb_fault_fs f;
        sb_fs quick;
        init_faults(&f, &quick);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, true);
        const sb_env env = {&sb_alloc_libc, &f.fs, &sb_clock_system};
        sb_status status = run_process(&env, dir, &err);
        bool failed = sb_fault_fs_failures(&f) > 0;
        sb_fault_fs_fini(&f);
        float after = newest_value(dir);
        assert_true(after == before || after == before + 1);
        if (status == SB_OK) assert_true(after == before + 1);
        if (!failed) break;
        /* The next process finds its way, and removes what the crashed one did not get to. */
        const sb_env next = {&sb_alloc_libc, &quick, &sb_clock_system};
        assert_ok(run_process(&next, dir, &err), &err);
        before = newest_value(dir);
        assert_true(before == after + 1);
    }
}

/* Saves steps 1, 2, ... with TF1's Saver, which keeps two, until a call fails; then all calls
 * do. */
static sb_status save_steps(const sb_env *env, const char *prefix, int64_t steps, sb_err *err) {
    static float x[COUNT];
    const int64_t n = COUNT;
    sb_saver *s;
    sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x);
    sb_status status = sb_saver_new_env(&s, env, &SB_INIT(sb_saver_opts, .max_to_keep = 2), err);
    if (status != SB_OK) return status;
    status = sb_saver_add(s, "x/.ATTRIBUTES/VARIABLE_VALUE", &v, err);
    for (int64_t step = 1; step <= steps && status == SB_OK; step++) {
        for (size_t i = 0; i < COUNT; i++) x[i] = (float)step;
        status = sb_saver_save(s, prefix, step, SB_LIT("meta"), NULL, err);
    }
    sb_saver_free(s);
    return status;
}

static void a_saver_that_crashes_at_any_call_leaves_a_newest_that_is_whole(void **state) {
    for (uint64_t n = 1;; n++) {
        char name[32];
        sb_fault_fs f;
        sb_fs quick;
        sb_err err;
        snprintf(name, sizeof name, "run%llu", (unsigned long long)n);
        const char *dir = sb_test_dir_join(*state, name);
        snprintf(name, sizeof name, "run%llu/m", (unsigned long long)n);
        const char *prefix = sb_test_dir_join(*state, name);
        init_faults(&f, &quick);
        const sb_env before = {&sb_alloc_libc, &quick, &sb_clock_system};
        assert_ok(save_steps(&before, prefix, 1, &err), &err);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, true);
        const sb_env env = {&sb_alloc_libc, &f.fs, &sb_clock_system};
        sb_status status = save_steps(&env, prefix, 4, &err);
        bool failed = sb_fault_fs_failures(&f) > 0;
        sb_fault_fs_fini(&f);
        float value = newest_value(dir);
        assert_true(value >= 1 && value <= 4);
        if (status == SB_OK) assert_true(value == 4);
        if (!failed) break;
    }
}

static void one_failing_call_never_damages_a_checkpoint(void **state) {
    sweep(*state, false);
}

static void a_crash_at_any_call_leaves_the_old_or_the_new_checkpoint(void **state) {
    sweep(*state, true);
}

static void a_full_disk_is_named_and_leaves_nothing_behind(void **state) {
    const char *prefix = sb_test_dir_join(*state, "ckpt");
    const sb_env real = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    sb_err err;
    assert_ok(save(&real, prefix, 1, true, &err), &err);
    size_t files = count_files(*state);
    for (uint64_t room = 0; room < 26000; room += 997) {
        sb_fault_fs f;
        sb_fs quick;
        init_faults(&f, &quick);
        sb_fault_fs_disk(&f, room, ENOSPC);
        const sb_env env = {&sb_alloc_libc, &f.fs, &sb_test_clock};
        sb_status status = save(&env, prefix, 2, false, &err);
        sb_fault_fs_fini(&f);
        if (status == SB_OK) {
            assert_true(load(prefix) == 2);
            return;
        }
        assert_int_equal(status, SB_IO);
        assert_non_null(strstr(err.text, "No space"));
        assert_true(load(prefix) == 1);
        assert_int_equal(count_files(*state), files);
    }
    fail_msg("it never fitted");
}

static void a_directory_that_cannot_be_written_to_is_named(void **state) {
    const char *dir = sb_test_dir_join(*state, "locked");
    assert_int_equal(sb_fs_local.make_dir(NULL, dir), 0);
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    sb_fault_fs_fail(&f, SB_CALL_OPEN, 1, EROFS, true);
    const sb_env env = {&sb_alloc_libc, &f.fs, &sb_test_clock};
    sb_err err = {0};
    assert_int_equal(save(&env, sb_test_dir_join(*state, "locked/ckpt"), 1, false, &err), SB_IO);
    sb_fault_fs_fini(&f);
    assert_non_null(strstr(err.text, "locked/ckpt"));
    assert_non_null(strstr(err.text, "Read-only"));
}

/* ---- kill -9 --------------------------------------------------------------------------------- */

#define KILLS 500

static void save_until_killed(const char *prefix, int pipe, float first) {
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    for (float value = first;; value += 1) {
        sb_err err;
        if (save(&env, prefix, value, true, &err) != SB_OK) _exit(1);
        if (write(pipe, &value, sizeof value) != (ssize_t)sizeof value) _exit(1);
    }
}

static uint64_t now_ns(void) {
    return sb_clock_system.steady(sb_clock_system.ctx);
}

static void a_killed_process_leaves_a_whole_checkpoint(void **state) {
    const char *prefix = sb_test_dir_join(*state, "ckpt");
    sb_test_random random = sb_test_random_of(10);
    float saved = 0;
    sb_err err;
    const sb_env real = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    assert_ok(save(&real, prefix, saved, true, &err), &err);
    uint64_t begin = now_ns();
    assert_ok(save(&real, prefix, saved, true, &err), &err);
    uint64_t one_save = now_ns() - begin; /* moments are spread over about two of them */
    for (int kill_number = 0; kill_number < KILLS; kill_number++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            save_until_killed(prefix, ends[1], saved + 1);
        }
        close(ends[1]);
        float said;
        /* It is killed in its first save, or somewhere in its second. */
        if (sb_test_below(&random, 2))
            if (read(ends[0], &said, sizeof said) == (ssize_t)sizeof said) saved = said;
        for (uint64_t end = now_ns() + sb_test_below(&random, 2 * one_save + 1); now_ns() < end;) {
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(ends[0], &said, sizeof said) == (ssize_t)sizeof said) saved = said;
        close(ends[0]);
        float found = load(prefix);
        assert_true(found == saved || found == saved + 1);
        saved = found;
    }
}

/* ---- two processes --------------------------------------------------------------------------- */

#define ROUNDS 60

/* Saves until it is killed, with a manager of its own that knows nothing of the other process: both
 * count from 1 and keep two. A save that the other one removed already is reported; nothing else
 * may fail. */
static void save_beside_another(const char *dir, int failures) {
    sb_checkpoint *c;
    sb_manager *m;
    sb_err err = {0};
    static float x[COUNT];
    const int64_t n = COUNT;
    sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x);
    sb_manager_opts opts = SB_INIT(sb_manager_opts, .directory = dir, .max_to_keep = 2,
                                   .save.durability = SB_BUFFERED);
    sb_status status = sb_checkpoint_new(&c, &err);
    if (status == SB_OK) status = sb_object_add_variable(NULL, c->root, "x", &v, &err);
    if (status == SB_OK) status = sb_manager_open(&m, c, &opts, &err);
    for (float value = 1; status == SB_OK; value += 1) {
        for (size_t k = 0; k < COUNT; k++) x[k] = value;
        status = sb_manager_save(m, SB_NEXT_NUMBER, NULL, &err);
        if (status != SB_OK && strstr(err.text, "another process saves")) status = SB_OK;
    }
    if (write(failures, err.text, strlen(err.text)) < 0) _exit(2);
    _exit(1);
}

static void two_processes_that_save_into_one_directory_leave_whole_checkpoints(void **state) {
    const char *dir = sb_test_dir_join(*state, "run");
    sb_test_random random = sb_test_random_of(11);
    int failures[2];
    assert_int_equal(pipe(failures), 0);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t children[2];
        char latest[4096];
        for (int i = 0; i < 2; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) save_beside_another(dir, failures[1]);
        }
        while (sb_latest_checkpoint(dir, latest, sizeof latest, NULL) != SB_OK) {
        }
        for (uint64_t end = now_ns() + sb_test_below(&random, 20000000); now_ns() < end;) {
        }
        for (int i = 0; i < 2; i++) kill(children[i], SIGKILL);
        for (int i = 0; i < 2; i++) waitpid(children[i], NULL, 0);
        assert_true(newest_value(dir) > 0);
    }
    close(failures[1]);
    char text[512] = "";
    if (read(failures[0], text, sizeof text - 1) != 0) fail_msg("a save failed: %s", text);
    close(failures[0]);
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        /* first: a process with little memory is copied faster */
        ON_DISK(a_killed_process_leaves_a_whole_checkpoint),
        ON_DISK(two_processes_that_save_into_one_directory_leave_whole_checkpoints),
        ON_DISK(one_failing_call_never_damages_a_checkpoint),
        ON_DISK(a_crash_at_any_call_leaves_the_old_or_the_new_checkpoint),
        ON_DISK(a_manager_that_crashes_at_any_call_leaves_a_newest_that_is_whole),
        ON_DISK(a_saver_that_crashes_at_any_call_leaves_a_newest_that_is_whole),
        ON_DISK(a_full_disk_is_named_and_leaves_nothing_behind),
        ON_DISK(a_directory_that_cannot_be_written_to_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
