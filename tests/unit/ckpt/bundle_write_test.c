/* bundle_write_test.c: what the writer writes, byte for byte and read back; replacing, merging,
 * removing. Crashes and full disks are in tests/fault/ckpt_test.c, TensorFlow's own reading in
 * tests/interop. */
#include "ckpt/bundle/bundle_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ckpt/bundle/publish.h"
#include "codec/tensor.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "unit/ckpt/made.h"
#include "base/banned.h"

#define GOLDEN_DATA "0000003f000080bf0700000000000000020078270b346869"
#define GOLDEN_INDEX                                                                               \
    "00000608011a02080100010f620801120412020802280835c5af2152000b0d67"                             \
    "6c6f62616c5f73746570080912002008280835bbd79f11000111730807120412"                             \
    "02080220102808359e9e48ed00010d7a080112021200201835d8ea82a2000000"                             \
    "00010000000005704a75000000000100000000c0f2a1b00001027b0065000000"                             \
    "0001000000001cf9a45a6a08770e000000000000000000000000000000000000"                             \
    "00000000000000000000000000000000000057fb808b247547db"

static const sb_env world = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};

static sb_bundle_writer *open_writer(sb_test_dir *d, const char *name,
                                     const sb_bundle_writer_opts *opts) {
    sb_bundle_writer *w;
    sb_err err;
    assert_ok(sb_bundle_writer_open(&w, &world, sb_test_dir_join(d, name), opts, &err), &err);
    return w;
}

static void add_floats(sb_bundle_writer *w, uint32_t shard, const char *name, const float *x,
                       int64_t n) {
    sb_err err;
    sb_bundle_item item = {
        .name = sb_slice_str(name), .dtype = SB_FLOAT, .rank = 1, .dims = &n, .data = x};
    assert_ok(sb_bundle_write(w, shard, &item, &err), &err);
}

static void finish(sb_bundle_writer *w) {
    sb_err err;
    assert_ok(sb_bundle_writer_finish(&w, &err), &err);
    assert_null(w);
}

static sb_bundle *open_bundle(sb_test_dir *d, const char *name) {
    sb_bundle *b;
    sb_err err;
    assert_ok(sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL,
                             sb_slice_str(sb_test_dir_join(d, name)), NULL, &err),
              &err);
    return b;
}

static float first_float(sb_bundle *b, const char *name) {
    const sb_bundle_tensor *t = sb_bundle_find(b, sb_slice_str(name));
    sb_buf out = made_buf();
    sb_err err;
    assert_non_null(t);
    assert_ok(made_read(b, t, &out, &err), &err);
    float x = sb_bits_float(sb_load32(out.p));
    sb_buf_fini(&out);
    return x;
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

static void the_golden_bundle_is_written(void **state) {
    sb_bundle_writer *w = open_writer(*state, "new/sub/g", NULL);
    const float b[] = {0.5f, -1};
    const int64_t step = 7, two = 2, zero = 0;
    const sb_slice strings[] = {SB_LIT("hi"), SB_LIT("")};
    sb_err err;
    add_floats(w, 0, "b", b, 2);
    const sb_bundle_item items[] = {
        {.name = SB_LIT("global_step"), .dtype = SB_INT64, .data = &step},
        {.name = SB_LIT("s"), .dtype = SB_STRING, .rank = 1, .dims = &two, .strings = strings},
        {.name = SB_LIT("z"), .dtype = SB_FLOAT, .rank = 1, .dims = &zero},
    };
    for (size_t i = 0; i < SB_COUNT(items); i++)
        assert_ok(sb_bundle_write(w, 0, &items[i], &err), &err);
    finish(w);
    uint8_t room[256];
    assert_slice_equal(sb_test_dir_get(*state, sb_test_dir_join(*state, "new/sub/g.index")),
                       sb_test_bytes(room, sizeof room, GOLDEN_INDEX));
    assert_slice_equal(
        sb_test_dir_get(*state, sb_test_dir_join(*state, "new/sub/g.data-00000-of-00001")),
        sb_test_bytes(room, sizeof room, GOLDEN_DATA));
}

static void shards_pieces_and_variants_are_read_back(void **state) {
    sb_bundle_writer *w = open_writer(*state, "x", &(sb_bundle_writer_opts){.shards = 3});
    const float low[] = {0, 1, 2, 3}, high[] = {4, 5};
    const int64_t dims[] = {3, 2}, two = 2, first[] = {0, 2, 0, -1}, second[] = {2, 1, 0, 2};
    const sb_slice variants[] = {SB_LIT("abc"), SB_LIT("")};
    sb_err err;
    const sb_bundle_item items[] = {
        {.name = SB_LIT("w"),
         .dtype = SB_FLOAT,
         .rank = 2,
         .dims = dims,
         .extents = first,
         .data = low},
        {.name = SB_LIT("w"),
         .dtype = SB_FLOAT,
         .rank = 2,
         .dims = dims,
         .extents = second,
         .data = high},
        {.name = SB_LIT("v"), .dtype = SB_VARIANT, .rank = 1, .dims = &two, .strings = variants},
    };
    for (uint32_t i = 0; i < 3; i++) assert_ok(sb_bundle_write(w, i, &items[i], &err), &err);
    finish(w);
    sb_bundle *b = open_bundle(*state, "x");
    assert_int_equal(sb_bundle_shards(b), 3);
    assert_int_equal(sb_bundle_count(b), 2);
    const sb_bundle_tensor *t = sb_bundle_find(b, SB_LIT("w"));
    assert_int_equal(t->slice_count, 2);
    float out[6];
    assert_ok(sb_bundle_read_box(b, t, NULL, out, sizeof out, &err), &err);
    for (int i = 0; i < 6; i++) assert_true(out[i] == (float)i);
    sb_arena arena;
    sb_slice *strings;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_ok(sb_bundle_read_strings(b, sb_bundle_find(b, SB_LIT("v")), &arena, &strings, &err),
              &err);
    assert_slice_is(strings[0], "abc");
    assert_slice_is(strings[1], "");
    for (size_t i = 0; i < sb_bundle_count(b); i++)
        assert_ok(sb_bundle_verify(b, sb_bundle_at(b, i), &err), &err);
    sb_arena_fini(&arena);
    sb_bundle_close(b);
}

/* The bytes of a tensor as a cursor gives them, and how many times it gave some. */
static size_t stream_all(sb_bundle *b, const char *name, sb_buf *out) {
    sb_bundle_cursor *c;
    sb_slice bytes;
    sb_err err;
    size_t blocks = 0;
    assert_ok(sb_bundle_cursor_open(&c, b, sb_bundle_find(b, sb_slice_str(name)), &err), &err);
    for (;; blocks++) {
        assert_ok(sb_bundle_cursor_next(c, &bytes, &err), &err);
        if (bytes.n == 0) break;
        sb_buf_add_slice(out, bytes);
    }
    sb_bundle_cursor_close(c);
    return blocks;
}

static void pieces_are_streamed_in_order_however_they_were_cut(void **state) {
    static const struct {
        const char *name;
        int64_t dims[2], boxes[3][4];
        size_t blocks; /* 3: a piece each, 1: all rows at once */
    } cases[] = {
        {"rows", {6, 4}, {{4, 2, 0, -1}, {0, 3, 0, 4}, {3, 1, 0, -1}}, 3},
        {"one row", {1, 9}, {{0, 1, 6, 3}, {0, -1, 0, 4}, {0, 1, 4, 2}}, 3},
        {"columns", {3, 6}, {{0, 3, 4, 2}, {0, -1, 0, 3}, {0, 3, 3, 1}}, 1},
    };
    sb_bundle_writer *w = open_writer(*state, "x", &(sb_bundle_writer_opts){.shards = 2});
    sb_err err;
    for (size_t k = 0; k < SB_COUNT(cases); k++)
        for (size_t i = 0; i < 3; i++) {
            const int64_t *box = cases[k].boxes[i], *dims = cases[k].dims;
            int64_t rows = box[1] < 0 ? dims[0] : box[1], columns = box[3] < 0 ? dims[1] : box[3];
            int32_t values[32];
            for (int64_t at = 0; at < rows * columns; at++)
                values[at] = (int32_t)((box[0] + at / columns) * dims[1] + box[2] + at % columns);
            sb_bundle_item item = {.name = sb_slice_str(cases[k].name),
                                   .dtype = SB_INT32,
                                   .rank = 2,
                                   .dims = dims,
                                   .extents = box,
                                   .data = values};
            assert_ok(sb_bundle_write(w, (uint32_t)i % 2, &item, &err), &err);
        }
    finish(w);
    sb_bundle *b = open_bundle(*state, "x");
    for (size_t k = 0; k < SB_COUNT(cases); k++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 10);
        assert_int_equal(stream_all(b, cases[k].name, &out), cases[k].blocks);
        assert_int_equal(out.n, cases[k].dims[0] * cases[k].dims[1] * 4);
        for (size_t i = 0; i < out.n / 4; i++) assert_int_equal(sb_load32(out.p + 4 * i), i);
        sb_buf_fini(&out);
    }
    sb_bundle_close(b);
}

static void a_checkpoint_of_nothing_is_read_back(void **state) {
    finish(open_writer(*state, "x", NULL));
    sb_bundle *b = open_bundle(*state, "x");
    assert_int_equal(sb_bundle_count(b), 0);
    sb_bundle_close(b);
}

static void a_piece_that_is_all_of_it_is_saved_whole(void **state) {
    sb_bundle_writer *w = open_writer(*state, "x", NULL);
    const float x[] = {1, 2};
    const int64_t two = 2, all[] = {0, 2};
    sb_err err;
    sb_bundle_item item = {
        .name = SB_LIT("w"), .dtype = SB_FLOAT, .rank = 1, .dims = &two, .extents = all, .data = x};
    assert_ok(sb_bundle_write(w, 0, &item, &err), &err);
    finish(w);
    sb_bundle *b = open_bundle(*state, "x");
    assert_int_equal(sb_bundle_at(b, 0)->slice_count, 0);
    sb_bundle_close(b);
}

static void large_tensors_and_hundred_thousand_small_ones_are_read_back(void **state) {
    const int64_t n = 3000000;
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)i;
    sb_bundle_writer *w = open_writer(*state, "x", &(sb_bundle_writer_opts){.no_sync = true});
    sb_err err;
    for (int i = 0; i < 100000; i++) {
        char name[64];
        int64_t value = i;
        snprintf(name, sizeof name, "layer%d//kernel/.ATTRIBUTES/VARIABLE_VALUE/", i);
        sb_bundle_item item = {.name = sb_slice_str(name), .dtype = SB_INT64, .data = &value};
        assert_ok(sb_bundle_write(w, 0, &item, &err), &err);
    }
    add_floats(w, 0, "y_large", x, n);
    sb_bundle_item item = {.name = SB_LIT("z_streamed"), .dtype = SB_FLOAT, .rank = 1, .dims = &n};
    assert_ok(sb_bundle_write_begin(w, 0, &item, &err), &err);
    for (int64_t at = 0; at < n; at += 1000)
        assert_ok(sb_bundle_write_bytes(w, 0, x + at, 4000, &err), &err);
    assert_ok(sb_bundle_write_end(w, 0, &err), &err);
    finish(w);
    sb_bundle *b = open_bundle(*state, "x");
    assert_int_equal(sb_bundle_count(b), 100002);
    for (size_t i = 0; i < 2; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, 100000 + i);
        float *out = malloc((size_t)t->size);
        assert_ok(sb_bundle_read_box(b, t, NULL, out, (size_t)t->size, &err), &err);
        assert_memory_equal(out, x, (size_t)t->size);
        free(out);
    }
    for (size_t i = 0; i < 100000; i += 97)
        assert_ok(sb_bundle_verify(b, sb_bundle_at(b, i), &err), &err);
    sb_bundle_close(b);
    free(x);
}

static void a_checkpoint_that_replaces_one_leaves_no_old_file(void **state) {
    for (int round = 0; round < 4; round++) {
        float x = (float)round;
        sb_bundle_writer *w = open_writer(*state, "x", NULL);
        add_floats(w, 0, "v", &x, 1);
        finish(w);
        sb_bundle *b = open_bundle(*state, "x");
        assert_true(first_float(b, "v") == x);
        assert_int_equal(sb_bundle_shards(b), round % 2 ? 2 : 1);
        assert_int_equal(count_files(*state), round % 2 ? 3 : 2);
        sb_bundle_close(b);
    }
}

static void what_makes_no_sense_is_refused(void **state) {
    const float x[4] = {0};
    const int64_t negative = -1, two = 2, outside[] = {1, 2};
    static const struct {
        const char *reason;
        int which;
    } cases[] = {{"name", 0}, {"shape", 1}, {"type", 2}, {"outside", 3}, {"shard", 4}};
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_bundle_writer *w = open_writer(*state, "x", NULL);
        sb_bundle_item item = {
            .name = SB_LIT("v"), .dtype = SB_FLOAT, .rank = 1, .dims = &two, .data = x};
        if (i == 0) item.name = SB_LIT("");
        if (i == 1) item.dims = &negative;
        if (i == 2) item.dtype = SB_RESOURCE;
        if (i == 3) item.extents = outside;
        sb_err err = {0};
        assert_int_equal(sb_bundle_write(w, i == 4, &item, &err), SB_INVALID);
        if (!strstr(err.text, cases[i].reason)) fail_msg("case %zu: %s", i, err.text);
        sb_bundle_writer_abandon(&w);
        assert_null(w);
    }
    sb_bundle_writer *w = open_writer(*state, "x", NULL);
    sb_err err = {0};
    add_floats(w, 0, "twice", x, 1);
    add_floats(w, 0, "twice", x, 2);
    assert_int_equal(sb_bundle_writer_finish(&w, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "'twice' was added twice"));
    w = open_writer(*state, "x", NULL);
    sb_bundle_item item = {.name = SB_LIT("v"), .dtype = SB_FLOAT, .rank = 1, .dims = &two};
    assert_ok(sb_bundle_write_begin(w, 0, &item, &err), &err);
    assert_int_equal(sb_bundle_write_bytes(w, 0, x, 12, &err), SB_INVALID);
    assert_ok(sb_bundle_write_bytes(w, 0, x, 4, &err), &err);
    assert_int_equal(sb_bundle_write_end(w, 0, &err), SB_INVALID);
    assert_int_equal(sb_bundle_writer_finish(&w, &err), SB_INVALID);
    assert_int_equal(sb_bundle_writer_open(&w, &world, "dir/", NULL, &err), SB_INVALID);
    assert_int_equal(count_files(*state), 0);
}

static void parts_are_merged_and_their_files_moved(void **state) {
    const float x[] = {1, 2, 3, 4};
    const int64_t dims[] = {4}, pieces[2][2] = {{0, 2}, {2, 2}};
    const char *prefixes[2];
    sb_err err;
    for (uint32_t i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "x_temp/part-%u", i);
        prefixes[i] = sb_test_dir_join(*state, name);
        sb_bundle_writer *w = open_writer(*state, name, NULL);
        snprintf(name, sizeof name, "own%u", i);
        add_floats(w, 0, name, x + i, 1);
        sb_bundle_item item = {.name = SB_LIT("shared"),
                               .dtype = SB_FLOAT,
                               .rank = 1,
                               .dims = dims,
                               .extents = pieces[i],
                               .data = x + 2 * i};
        assert_ok(sb_bundle_write(w, 0, &item, &err), &err);
        finish(w);
    }
    assert_ok(sb_bundle_merge(&world, prefixes, 2, sb_test_dir_join(*state, "x"), NULL, &err),
              &err);
    assert_int_equal(count_files(*state), 3); /* the parts' directory is gone */
    sb_bundle *b = open_bundle(*state, "x");
    float out[4];
    assert_ok(sb_bundle_read_box(b, sb_bundle_find(b, SB_LIT("shared")), NULL, out, 16, &err),
              &err);
    assert_memory_equal(out, x, 16);
    assert_true(first_float(b, "own0") == 1 && first_float(b, "own1") == 2);
    assert_int_equal(sb_bundle_shards(b), 2);
    sb_bundle_close(b);
}

static void parts_with_one_name_in_two_are_left_as_they_were(void **state) {
    const float x = 1;
    const char *prefixes[] = {sb_test_dir_join(*state, "a"), sb_test_dir_join(*state, "b")};
    for (int i = 0; i < 2; i++) {
        sb_bundle_writer *w = open_writer(*state, i ? "b" : "a", NULL);
        add_floats(w, 0, "v", &x, 1);
        finish(w);
    }
    sb_err err = {0};
    assert_int_equal(
        sb_bundle_merge(&world, prefixes, 2, sb_test_dir_join(*state, "x"), NULL, &err),
        SB_INVALID);
    assert_int_equal(sb_bundle_merge(&world, prefixes, 0, "x", NULL, &err), SB_INVALID);
    assert_int_equal(count_files(*state), 4);
    sb_bundle *b = open_bundle(*state, "a");
    assert_true(first_float(b, "v") == 1);
    sb_bundle_close(b);
}

static void removing_takes_only_the_files_of_that_checkpoint(void **state) {
    const float x = 1;
    static const char *const names[] = {"c-1", "c-10"};
    for (int i = 0; i < 2; i++) {
        sb_bundle_writer *w = open_writer(*state, names[i], NULL);
        add_floats(w, 0, "v", &x, 1);
        finish(w);
    }
    sb_test_dir_put(*state, "c-1.meta", SB_LIT("m"));
    sb_test_dir_put(*state, "c-1.data-notes", SB_LIT("mine"));
    sb_err err;
    assert_ok(sb_bundle_remove(&world, sb_test_dir_join(*state, "c-1"), NULL, &err), &err);
    assert_ok(sb_bundle_remove(&world, sb_test_dir_join(*state, "c-1"), NULL, &err), &err);
    assert_int_equal(count_files(*state), 3);
    sb_bundle_close(open_bundle(*state, "c-10"));
}

static sb_status write_with(const sb_alloc *alloc, void *ud) {
    const sb_env env = {alloc, &sb_fs_local, &sb_test_clock};
    sb_bundle_writer *w;
    sb_err err = {0};
    const float x[4] = {1, 2, 3, 4};
    const int64_t dims[] = {4}, piece[] = {0, 2}, one = 1;
    const sb_slice text = SB_LIT("text");
    const sb_bundle_item items[] = {
        {.name = SB_LIT("p"),
         .dtype = SB_FLOAT,
         .rank = 1,
         .dims = dims,
         .extents = piece,
         .data = x},
        {.name = SB_LIT("w"), .dtype = SB_FLOAT, .rank = 1, .dims = dims, .data = x},
        {.name = SB_LIT("s"), .dtype = SB_STRING, .rank = 1, .dims = &one, .strings = &text},
    };
    sb_status status =
        sb_bundle_writer_open(&w, &env, ud, &(sb_bundle_writer_opts){.threads = 1}, &err);
    for (size_t i = 0; i < SB_COUNT(items) && status == SB_OK; i++)
        status = sb_bundle_write(w, 0, &items[i], &err);
    if (status == SB_OK) return sb_bundle_writer_finish(&w, &err);
    sb_bundle_writer_abandon(&w);
    return status;
}

static void failing_memory_is_reported(void **state) {
    sb_fault_alloc_sweep(write_with, (void *)(uintptr_t)sb_test_dir_join(*state, "x"));
    assert_true(count_files(*state) <= 3);
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(the_golden_bundle_is_written),
        ON_DISK(shards_pieces_and_variants_are_read_back),
        ON_DISK(pieces_are_streamed_in_order_however_they_were_cut),
        ON_DISK(a_checkpoint_of_nothing_is_read_back),
        ON_DISK(a_piece_that_is_all_of_it_is_saved_whole),
        ON_DISK(large_tensors_and_hundred_thousand_small_ones_are_read_back),
        ON_DISK(a_checkpoint_that_replaces_one_leaves_no_old_file),
        ON_DISK(what_makes_no_sense_is_refused),
        ON_DISK(parts_are_merged_and_their_files_moved),
        ON_DISK(parts_with_one_name_in_two_are_left_as_they_were),
        ON_DISK(removing_takes_only_the_files_of_that_checkpoint),
        ON_DISK(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
