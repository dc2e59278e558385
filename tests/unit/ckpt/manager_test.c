/* manager_test.c: numbered checkpoints, the state file, what is kept and what is removed. */
#include <stdio.h>

#include "ckpt/object/object_int.h"
#include "ckpt/state.h"
#include "support/test.h"
#include "base/banned.h"

/* A clock that the test moves. */
static uint64_t wall_ns;

static uint64_t wall(void *ctx) {
    (void)ctx;
    return wall_ns;
}

static const sb_clock clock_of_test = {.wall = wall, .steady = wall};
static const sb_env world = {&sb_alloc_libc, &sb_fs_local, &clock_of_test};

static float value;

static sb_checkpoint *new_program(void) {
    sb_checkpoint *c;
    sb_err err;
    const int64_t one = 1;
    assert_ok(sb_checkpoint_new_env(&c, &world, &err), &err);
    assert_ok(sb_object_add_variable(
                  NULL, sb_checkpoint_root(c), "v",
                  &SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &one, .data = &value),
                  &err),
              &err);
    return c;
}

static sb_manager *open_manager(sb_checkpoint *c, const sb_manager_opts *opts) {
    sb_manager *m;
    sb_err err;
    assert_ok(sb_manager_open(&m, c, opts, &err), &err);
    return m;
}

static void save(sb_manager *m) {
    sb_err err;
    wall_ns += 1000000000u;
    assert_ok(sb_manager_save(m, SB_NEXT_NUMBER, NULL, &err), &err);
}

static bool is_there(sb_test_dir *d, const char *name) {
    sb_file_info info;
    return sb_fs_local.stat(NULL, sb_test_dir_join(d, name), &info) == 0;
}

static int setup(void **state) {
    wall_ns = 1700000000000000000u;
    return sb_test_dir_setup(state);
}

static void the_oldest_ones_are_removed(void **state) {
    sb_checkpoint *c = new_program();
    const char *dir = sb_test_dir_join(*state, "a/b");
    sb_manager *m = open_manager(c, &SB_INIT(sb_manager_opts, .directory = dir, .max_to_keep = 3));
    assert_null(sb_manager_latest(m));
    for (int i = 0; i < 5; i++) save(m);
    assert_false(is_there(*state, "a/b/ckpt-2.index"));
    assert_false(is_there(*state, "a/b/ckpt-2.data-00000-of-00001"));
    assert_true(is_there(*state, "a/b/ckpt-3.index") && is_there(*state, "a/b/ckpt-5.index"));
    assert_string_equal(sb_manager_at(m, 0), sb_test_dir_join(*state, "a/b/ckpt-3"));
    assert_string_equal(sb_manager_latest(m), sb_test_dir_join(*state, "a/b/ckpt-5"));
    assert_null(sb_manager_at(m, 3));
    sb_slice text = sb_test_dir_get(*state, sb_test_dir_join(*state, "a/b/checkpoint"));
    assert_slice_is(text, "model_checkpoint_path: \"ckpt-5\"\n"
                          "all_model_checkpoint_paths: \"ckpt-3\"\n"
                          "all_model_checkpoint_paths: \"ckpt-4\"\n"
                          "all_model_checkpoint_paths: \"ckpt-5\"\n"
                          "all_model_checkpoint_timestamps: 1700000003.0\n"
                          "all_model_checkpoint_timestamps: 1700000004.0\n"
                          "all_model_checkpoint_timestamps: 1700000005.0\n"
                          "last_preserved_timestamp: 1699999999.0\n");
    sb_manager_close(m);
    /* another process goes on */
    sb_checkpoint *next = new_program();
    m = open_manager(next, &SB_INIT(sb_manager_opts, .directory = dir, .max_to_keep = 2));
    const char *path;
    sb_err err;
    assert_ok(sb_manager_restore_or_initialize(m, &path, &err), &err);
    assert_string_equal(path, sb_test_dir_join(*state, "a/b/ckpt-5"));
    save(m);
    assert_string_equal(sb_manager_latest(m), sb_test_dir_join(*state, "a/b/ckpt-6"));
    assert_false(is_there(*state, "a/b/ckpt-4.index"));
    assert_true(is_there(*state, "a/b/ckpt-5.index"));
    sb_manager_close(m);
    sb_checkpoint_free(c);
    sb_checkpoint_free(next);
}

static void one_every_n_hours_is_preserved(void **state) {
    sb_checkpoint *c = new_program();
    sb_manager *m = open_manager(c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_path(*state),
                                             .max_to_keep = 1, .keep_every_n_hours = 1,
                                             .checkpoint_name = "m"));
    for (int i = 0; i < 6; i++) {
        wall_ns += 1800000000000u; /* half an hour */
        save(m);
    }
    for (int i = 1; i <= 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "m-%d.index", i);
        assert_int_equal(is_there(*state, name), i == 2 || i == 4 || i == 6);
    }
    sb_manager_close(m);
    sb_checkpoint_free(c);
}

static void checkpoints_of_others_are_never_removed(void **state) {
    sb_checkpoint *c = new_program();
    sb_err err;
    const char *path;
    assert_ok(sb_checkpoint_save(c, sb_test_dir_join(*state, "other"), NULL, &path, &err), &err);
    sb_manager *m = open_manager(
        c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_path(*state), .max_to_keep = 1));
    assert_string_equal(sb_manager_latest(m), sb_test_dir_join(*state, "other-1"));
    assert_null(sb_manager_at(m, 0)); /* it has no time in the state file */
    save(m);
    save(m);
    assert_true(is_there(*state, "other-1.index") && is_there(*state, "ckpt-3.index"));
    assert_false(is_there(*state, "ckpt-2.index"));
    sb_manager_close(m);
    sb_checkpoint_free(c);
}

static void what_another_process_put_in_place_stays(void **state) {
    sb_checkpoint *c = new_program(), *other = new_program();
    sb_err err;
    sb_manager *m = open_manager(
        c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_path(*state), .max_to_keep = 1));
    save(m);
    assert_ok(sb_checkpoint_write(other, sb_test_dir_join(*state, "ckpt-1"), NULL, &err), &err);
    save(m);
    save(m);
    assert_true(is_there(*state, "ckpt-1.index")); /* it is not the one that the manager wrote */
    assert_false(is_there(*state, "ckpt-2.index"));
    sb_manager_close(m);
    sb_checkpoint_free(c);
    sb_checkpoint_free(other);
}

static void numbers_steps_and_intervals(void **state) {
    sb_checkpoint *c = new_program();
    int64_t step = 0;
    sb_manager *m = open_manager(c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_path(*state),
                                             .step_counter = &step, .checkpoint_interval = 10));
    const char *path;
    sb_err err;
    assert_ok(sb_manager_save(m, 700, &path, &err), &err);
    assert_string_equal(path, sb_test_dir_join(*state, "ckpt-700"));
    assert_int_equal(sb_checkpoint_save_counter(c), 1);
    static const struct {
        int64_t step;
        bool is_saved;
    } cases[] = {{0, false}, {9, false}, {10, true}, {10, false}, {25, true}, {34, false}};
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        step = cases[i].step;
        assert_ok(sb_manager_save(m, SB_NEXT_NUMBER, &path, &err), &err);
        assert_int_equal(path != NULL, cases[i].is_saved);
    }
    assert_int_equal(sb_checkpoint_save_counter(c), 3);
    sb_manager_close(m);
    sb_checkpoint_free(c);
}

static sb_status initialize(void *ud, sb_err *err) {
    (void)err;
    ++*(int *)ud;
    return SB_OK;
}

static void without_a_checkpoint_the_program_initializes(void **state) {
    sb_checkpoint *c = new_program();
    int calls = 0;
    sb_manager *m =
        open_manager(c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_join(*state, "none"),
                                 .init = initialize, .init_ud = &calls));
    const char *path;
    sb_err err;
    assert_ok(sb_manager_restore_or_initialize(m, &path, &err), &err);
    assert_null(path);
    assert_int_equal(calls, 1);
    value = 4;
    assert_ok(sb_manager_save(m, SB_NEXT_NUMBER, NULL, &err), &err);
    value = 0;
    assert_ok(sb_manager_restore_or_initialize(m, &path, &err), &err);
    assert_true(value == 4 && calls == 1);
    sb_manager_close(m);
    sb_checkpoint_free(c);
}

static void options_that_make_no_sense_are_refused(void **state) {
    sb_checkpoint *c = new_program();
    sb_manager *m;
    sb_err err;
    const sb_manager_opts bad[] = {
        SB_INIT(sb_manager_opts, .directory = NULL),
        SB_INIT(sb_manager_opts, .directory = "d", .checkpoint_interval = 3),
        SB_INIT(sb_manager_opts, .directory = "d", .checkpoint_name = "a/b"),
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(sb_manager_open(&m, c, &bad[i], &err), SB_INVALID);
    sb_test_dir_put(*state, "checkpoint", SB_LIT("model_checkpoint_path: 7"));
    assert_int_equal(
        sb_manager_open(&m, c, &SB_INIT(sb_manager_opts, .directory = sb_test_dir_path(*state)),
                        &err),
        SB_CORRUPT);
    sb_manager_close(NULL);
    sb_checkpoint_free(c);
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(the_oldest_ones_are_removed),
        ON_DISK(one_every_n_hours_is_preserved),
        ON_DISK(checkpoints_of_others_are_never_removed),
        ON_DISK(what_another_process_put_in_place_stays),
        ON_DISK(numbers_steps_and_intervals),
        ON_DISK(without_a_checkpoint_the_program_initializes),
        ON_DISK(options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
