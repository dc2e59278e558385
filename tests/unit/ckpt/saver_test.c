/* saver_test.c: the public functions for variables and tensors by name: Saver, reading, writing,
 * merging. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fsio/fs.h"
#include "seaboard/checkpoint.h"
#include "support/test.h"
#include "base/banned.h"

#define BUFFERED SB_INIT(sb_save_opts, .durability = SB_BUFFERED)

static bool is_there(sb_test_dir *d, const char *name) {
    sb_file_info info;
    return sb_fs_local.stat(NULL, sb_test_dir_join(d, name), &info) == 0;
}

static sb_saver *new_saver(float *w, int64_t *step, const sb_saver_opts *opts) {
    sb_saver *s;
    sb_err err;
    const int64_t two = 2;
    assert_ok(sb_saver_new(&s, opts, &err), &err);
    assert_ok(
        sb_saver_add(s, "hidden/weights",
                     &SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &two, .data = w),
                     &err),
        &err);
    assert_ok(sb_saver_add(s, "global_step", &SB_INIT(sb_variable, .dtype = SB_INT64, .data = step),
                           &err),
              &err);
    return s;
}

static void a_saver_keeps_the_newest_ones_and_restores(void **state) {
    float w[2] = {0};
    int64_t step = 0;
    sb_err err;
    const char *path = NULL;
    sb_saver *s =
        new_saver(w, &step, &SB_INIT(sb_saver_opts, .max_to_keep = 2, .durability = SB_BUFFERED));
    for (step = 10; step <= 40; step += 10) {
        w[0] = (float)step;
        assert_ok(sb_saver_save(s, sb_test_dir_join(*state, "a/model.ckpt"), step, SB_LIT("meta"),
                                &path, &err),
                  &err);
    }
    assert_string_equal(path, sb_test_dir_join(*state, "a/model.ckpt-40"));
    assert_false(is_there(*state, "a/model.ckpt-20.index") ||
                 is_there(*state, "a/model.ckpt-20.meta") ||
                 is_there(*state, "a/model.ckpt-20.data-00000-of-00001"));
    assert_true(is_there(*state, "a/model.ckpt-30.index") &&
                is_there(*state, "a/model.ckpt-30.meta"));
    char latest[4096];
    assert_ok(sb_latest_checkpoint(sb_test_dir_join(*state, "a"), latest, sizeof latest, &err),
              &err);
    assert_string_equal(latest, path);
    w[0] = 0;
    step = 0;
    assert_ok(sb_saver_restore(s, latest, &err), &err);
    assert_true(w[0] == 40 && step == 40);
    /* the directory is absolute, and so are the paths in the state file */
    sb_slice text = sb_test_dir_get(*state, sb_test_dir_join(*state, "a/checkpoint"));
    char wanted[4096];
    snprintf(wanted, sizeof wanted,
             "model_checkpoint_path: \"%s-40\"\nall_model_checkpoint_paths: \"%s-30\"\n"
             "all_model_checkpoint_paths: \"%s-40\"\n",
             sb_test_dir_join(*state, "a/model.ckpt"), sb_test_dir_join(*state, "a/model.ckpt"),
             sb_test_dir_join(*state, "a/model.ckpt"));
    assert_slice_is(text, wanted);
    sb_saver_free(s);
}

static void options_of_a_saver(void **state) {
    float w[2] = {1, 2};
    int64_t step = 3;
    sb_err err;
    const char *path;
    sb_saver *s =
        new_saver(w, &step,
                  &SB_INIT(sb_saver_opts, .max_to_keep = SB_KEEP_ALL, .pad_step_number = 1,
                           .relative_paths = 1, .shards = 2, .durability = SB_BUFFERED));
    for (int64_t i = 0; i < 3; i++)
        assert_ok(
            sb_saver_save(s, sb_test_dir_join(*state, "m"), i, (sb_slice){NULL, 0}, &path, &err),
            &err);
    assert_string_equal(path, sb_test_dir_join(*state, "m-00000002"));
    assert_true(is_there(*state, "m-00000000.data-00001-of-00002"));
    assert_false(is_there(*state, "m-00000000.meta"));
    assert_slice_is(sb_test_dir_get(*state, sb_test_dir_join(*state, "checkpoint")),
                    "model_checkpoint_path: \"m-00000002\"\n"
                    "all_model_checkpoint_paths: \"m-00000002\"\n");
    assert_ok(sb_saver_save(s, sb_test_dir_join(*state, "plain"), SB_NO_STEP, (sb_slice){NULL, 0},
                            &path, &err),
              &err);
    assert_string_equal(path, sb_test_dir_join(*state, "plain"));
    assert_int_equal(sb_saver_save(s, sb_test_dir_join(*state, "checkpoint"), SB_NO_STEP,
                                   (sb_slice){NULL, 0}, NULL, &err),
                     SB_INVALID);
    sb_saver_free(s);
    sb_saver_free(NULL);
}

static void a_saver_names_what_is_missing_and_takes_objects_by_full_name(void **state) {
    float w[2] = {1, 2}, other[2] = {0};
    int64_t step = 3, found = 0;
    sb_err err;
    sb_checkpoint *c;
    const int64_t two = 2;
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &two, .data = w,
                            .full_name = "hidden/weights");
    assert_ok(sb_object_add_variable(NULL, sb_checkpoint_root(c), "w", &v, &err), &err);
    const char *path = sb_test_dir_join(*state, "objects");
    assert_ok(sb_checkpoint_write(c, path, NULL, &err), &err);
    sb_saver *s = new_saver(other, &found, NULL);
    assert_int_equal(sb_saver_restore(s, path, &err), SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "'global_step'"));
    assert_true(other[0] == 0);
    v = SB_INIT(sb_variable, .dtype = SB_INT64, .data = &step, .full_name = "global_step");
    assert_ok(sb_object_add_variable(NULL, sb_checkpoint_root(c), "s", &v, &err), &err);
    assert_ok(sb_checkpoint_write(c, path, NULL, &err), &err);
    assert_ok(sb_saver_restore(s, path, &err), &err);
    assert_true(other[1] == 2 && found == 3);
    sb_saver_free(s);
    sb_checkpoint_free(c);
}

static void a_saver_without_a_state_file_removes_nothing(void **state) {
    float w[2] = {0};
    int64_t step = 0;
    sb_err err;
    const char *path = NULL;
    sb_saver *s = new_saver(
        w, &step,
        &SB_INIT(sb_saver_opts, .max_to_keep = 1, .durability = SB_BUFFERED, .no_state = 1));
    for (step = 1; step <= 2; step++)
        assert_ok(sb_saver_save(s, sb_test_dir_join(*state, "m"), step, SB_LIT(""), &path, &err),
                  &err);
    assert_string_equal(path, sb_test_dir_join(*state, "m-2"));
    assert_true(is_there(*state, "m-1.index") && is_there(*state, "m-2.index"));
    assert_false(is_there(*state, "checkpoint"));
    sb_saver_free(s);
}

static void a_saver_restores_strings_and_other_shapes(void **state) {
    const char *path = sb_test_dir_join(*state, "m");
    const int64_t six = 6, pairs[] = {3, 2}, two = 2;
    float from[6] = {1, 2, 3, 4, 5, 6}, to[3][2] = {{0}};
    sb_slice texts[] = {SB_LIT("a"), SB_LIT("bb")}, found[2] = {{NULL, 0}};
    sb_variable w = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &six, .data = from);
    sb_variable s =
        SB_INIT(sb_variable, .dtype = SB_STRING, .rank = 1, .dims = &two, .data = texts);
    sb_saver *saver;
    sb_err err;
    assert_ok(sb_saver_new(&saver, NULL, &err), &err);
    assert_ok(sb_saver_add(saver, "w", &w, &err), &err);
    assert_ok(sb_saver_add(saver, "s", &s, &err), &err);
    assert_ok(sb_saver_save(saver, path, SB_NO_STEP, (sb_slice){NULL, 0}, NULL, &err), &err);
    sb_saver_free(saver);
    w = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 2, .dims = pairs, .data = to);
    s.data = found;
    for (uint32_t reshape = 0; reshape < 2; reshape++) {
        assert_ok(sb_saver_new(&saver, &SB_INIT(sb_saver_opts, .reshape = reshape), &err), &err);
        assert_ok(sb_saver_add(saver, "w", &w, &err), &err);
        assert_ok(sb_saver_add(saver, "s", &s, &err), &err);
        if (!reshape)
            assert_int_equal(sb_saver_restore(saver, path, &err), SB_INVALID);
        else
            assert_ok(sb_saver_restore(saver, path, &err), &err);
        assert_true(to[2][1] == (reshape ? 6 : 0));
        if (reshape) assert_slice_is(found[1], "bb");
        sb_saver_free(saver);
    }
}

static void a_saver_takes_over_what_an_earlier_one_wrote(void **state) {
    float w[2] = {1, 2};
    int64_t step = 0;
    sb_err err;
    const sb_saver_opts opts = SB_INIT(sb_saver_opts, .max_to_keep = 2, .durability = SB_BUFFERED,
                                       .latest_filename = "newest");
    const char *prefix = sb_test_dir_join(*state, "m");
    sb_saver *first = new_saver(w, &step, &opts), *second = new_saver(w, &step, &opts);
    for (int64_t i = 1; i < 3; i++)
        assert_ok(sb_saver_save(first, prefix, i, (sb_slice){NULL, 0}, NULL, &err), &err);
    const char *paths[] = {sb_test_dir_join(*state, "m-0"), sb_saver_at(first, 0),
                           sb_saver_at(first, 1)};
    assert_ok(sb_saver_recover_last_checkpoints(second, paths, 3, &err), &err);
    assert_string_equal(sb_saver_at(second, 0), sb_test_dir_join(*state, "m-1"));
    assert_string_equal(sb_saver_at(second, 1), sb_test_dir_join(*state, "m-2"));
    assert_null(sb_saver_at(second, 2));
    sb_saver_free(first);
    assert_ok(sb_saver_save(second, prefix, 3, (sb_slice){NULL, 0}, NULL, &err), &err);
    assert_false(is_there(*state, "m-1.index"));
    assert_true(is_there(*state, "m-2.index") && is_there(*state, "m-3.index"));
    assert_true(is_there(*state, "newest") && !is_there(*state, "checkpoint"));
    assert_int_equal(sb_saver_save(second, sb_test_dir_join(*state, "newest"), SB_NO_STEP,
                                   (sb_slice){NULL, 0}, NULL, &err),
                     SB_INVALID);
    sb_saver_free(second);
    assert_int_equal(sb_saver_new(&second, &SB_INIT(sb_saver_opts, .latest_filename = "a/b"), &err),
                     SB_INVALID);
}

static void tensors_by_name_are_written_merged_and_read(void **state) {
    const float x[] = {0, 1, 2, 3, 4, 5};
    const int64_t dims[] = {3, 2}, top[] = {0, 2, 0, 2}, bottom[] = {2, 1, 0, 2};
    const int64_t two_rows[] = {2, 2}, one_row[] = {1, 2}, three[] = {3};
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT(""), SB_LIT("ccc")};
    const char *parts[2];
    sb_err err;
    for (int i = 0; i < 2; i++) {
        sb_ckpt_writer *w;
        char name[32];
        snprintf(name, sizeof name, "tmp/part%d", i);
        parts[i] = sb_test_dir_join(*state, name);
        assert_ok(sb_ckpt_writer_open(&w, parts[i], &BUFFERED, &err), &err);
        sb_array piece = {
            .data = i ? x + 4 : x, .dtype = SB_FLOAT, .rank = 2, .dims = i ? one_row : two_rows};
        assert_ok(sb_ckpt_add(w, "split", &piece, dims, i ? bottom : top, &err), &err);
        sb_array text = {.data = strings, .dtype = SB_STRING, .rank = 1, .dims = three};
        sb_array whole = {.data = x, .dtype = SB_FLOAT, .rank = 2, .dims = dims};
        assert_ok(i ? sb_ckpt_add(w, "text", &text, NULL, NULL, &err)
                    : sb_ckpt_add(w, "whole", &whole, NULL, NULL, &err),
                  &err);
        assert_int_equal(sb_ckpt_add(w, "bad", &whole, dims, top, &err), SB_INVALID);
        whole.strides = dims;
        assert_int_equal(sb_ckpt_add(w, "bad", &whole, NULL, NULL, &err), SB_INVALID);
        assert_ok(sb_ckpt_finish(w, &err), &err);
    }
    assert_ok(sb_ckpt_merge(parts, 2, sb_test_dir_join(*state, "all"), &BUFFERED, &err), &err);
    sb_ckpt *c;
    assert_ok(sb_ckpt_open(&c, sb_test_dir_join(*state, "all"), &err), &err);
    assert_int_equal(sb_ckpt_count(c), 3);
    const sb_ckpt_tensor *split = sb_ckpt_find(c, "split"), *whole = sb_ckpt_find(c, "whole");
    assert_true(split == sb_ckpt_at(c, 0) && split->pieces == 2 && split->bytes == sizeof x);
    float out[6], both[6], corner[2];
    const int64_t box[] = {1, 2, 1, 1};
    assert_ok(sb_ckpt_read(c, split, NULL, out, sizeof out, &err), &err);
    assert_memory_equal(out, x, sizeof x);
    assert_ok(sb_ckpt_read(c, split, box, corner, sizeof corner, &err), &err);
    assert_true(corner[0] == 3 && corner[1] == 5);
    memset(out, 0, sizeof out);
    assert_ok(sb_ckpt_read_many(c, (const sb_ckpt_tensor *[]){split, whole}, (void *[]){out, both},
                                2, &err),
              &err);
    assert_memory_equal(out, x, sizeof x);
    assert_memory_equal(both, x, sizeof x);
    sb_slice mapped;
    assert_ok(sb_ckpt_map(c, whole, &mapped, &err), &err);
    assert_slice_equal(mapped, sb_slice_of(x, sizeof x));
    assert_int_equal(sb_ckpt_map(c, split, &mapped, &err), SB_INVALID);
    const sb_slice *text;
    assert_ok(sb_ckpt_strings(c, sb_ckpt_find(c, "text"), &text, &err), &err);
    assert_slice_is(text[2], "ccc");
    assert_null(sb_ckpt_find(c, "none"));
    assert_null(sb_ckpt_at(c, 3));
    sb_ckpt_close(c);
    sb_ckpt_close(NULL);
    sb_ckpt_abandon(NULL);
    assert_int_equal(sb_ckpt_open(&c, sb_test_dir_path(*state), &err), SB_NOT_FOUND);
    sb_ckpt_writer *w;
    assert_ok(sb_ckpt_writer_open(&w, sb_test_dir_join(*state, "gone"), NULL, &err), &err);
    sb_ckpt_abandon(w);
    assert_false(is_there(*state, "gone.index"));
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(a_saver_keeps_the_newest_ones_and_restores),
        ON_DISK(options_of_a_saver),
        ON_DISK(a_saver_without_a_state_file_removes_nothing),
        ON_DISK(a_saver_restores_strings_and_other_shapes),
        ON_DISK(a_saver_takes_over_what_an_earlier_one_wrote),
        ON_DISK(a_saver_names_what_is_missing_and_takes_objects_by_full_name),
        ON_DISK(tensors_by_name_are_written_merged_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
