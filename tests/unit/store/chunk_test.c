/* Sealed chunks give back every bit, and know their own extremes. */
#include "store/chunk.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "support/test.h"

static sb_blocks *blocks;

static int make_blocks(void **state) {
    (void)state;
    return sb_blocks_new(&blocks, &sb_alloc_libc, 0, NULL, NULL) == SB_OK ? 0 : -1;
}

static int free_blocks(void **state) {
    (void)state;
    sb_blocks_free(blocks);
    return 0;
}

/* Steps, walls and values come back bit by bit; the summary agrees with a plain pass over them. */
static sb_chunk *assert_kept(const sb_points *in) {
    sb_chunk *c = sb_chunk_seal(blocks, in->steps, in->walls, in->values);
    assert_non_null(c);
    static sb_points out;
    sb_chunk_steps(c, out.steps);
    sb_chunk_walls(c, out.walls);
    sb_chunk_values(c, out.values);
    assert_memory_equal(out.steps, in->steps, sizeof in->steps);
    assert_memory_equal(out.walls, in->walls, sizeof in->walls);
    assert_memory_equal(out.values, in->values, sizeof in->values);
    sb_walls_done done = {0};
    memset(out.walls, 0, sizeof out.walls);
    for (uint32_t n = 1; n < SB_CHUNK_POINTS; n = n * 3 + 1) {
        sb_chunk_walls_to(c, out.walls, n, &done);
        assert_memory_equal(out.walls, in->walls, n * sizeof in->walls[0]);
    }
    sb_chunk_walls_to(c, out.walls, SB_CHUNK_POINTS, &done);
    sb_chunk_walls_to(c, out.walls, 5, &done);
    assert_memory_equal(out.walls, in->walls, sizeof in->walls);
    int64_t least = INT64_MAX, most = INT64_MIN;
    double low = INFINITY, high = -INFINITY;
    size_t nans = 0;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        if (in->steps[i] < least) least = in->steps[i];
        if (in->steps[i] > most) most = in->steps[i];
        if (in->values[i] < low) low = in->values[i];
        if (in->values[i] > high) high = in->values[i];
        nans += in->values[i] != in->values[i];
        assert_int_equal(sb_double_bits(sb_chunk_value_at(c, i)), sb_double_bits(in->values[i]));
    }
    assert_int_equal(c->min_step, least);
    assert_int_equal(c->max_step, most);
    assert_int_equal(c->nan_count, nans);
    if (nans < SB_CHUNK_POINTS) {
        assert_true(c->min_value == low && in->values[c->min_at] == low);
        assert_true(c->max_value == high && in->values[c->max_at] == high);
    }
    return c;
}

static void ordinary_points_cost_about_seven_bytes(void **state) {
    (void)state;
    static sb_points p;
    sb_test_random random = sb_test_random_of(3);
    double wall = 1.7e9;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        p.steps[i] = i * 10;
        wall += 0.05 + 1e-6 * (double)sb_test_below(&random, 500);
        p.walls[i] = wall;
        p.values[i] = (float)sin(i * 0.01);
    }
    sb_chunk *c = assert_kept(&p);
    assert_true(c->flags & SB_CHUNK_EVEN_STEPS);
    assert_true(c->flags & SB_CHUNK_FLOATS);
    assert_true(c->flags & SB_CHUNK_RISING);
    assert_true(c->flags & SB_CHUNK_RISING_WALLS);
    assert_true(c->block_size < 8 * SB_CHUNK_POINTS);
    sb_chunk_release(c);
}

static void any_bits_survive(void **state) {
    (void)state;
    static sb_points p;
    sb_test_random random = sb_test_random_of(11);
    for (int round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
            p.steps[i] = (int64_t)sb_test_u64(&random);
            p.walls[i] = sb_bits_double(sb_test_u64(&random));
            p.values[i] = sb_bits_double(sb_test_u64(&random));
            if (round % 3 == 1) p.values[i] = (double)sb_bits_float((uint32_t)sb_test_u64(&random));
        }
        sb_chunk_release(assert_kept(&p));
    }
}

static void even_steps_of_any_stride_survive(void **state) {
    (void)state;
    static sb_points p;
    const uint64_t strides[] = {0,
                                1,
                                (uint64_t)-1,
                                1000,
                                (uint64_t)-7,
                                (uint64_t)1 << 51,
                                (uint64_t)1 << 52,
                                (uint64_t)1 << 60,
                                (uint64_t)1 << 63};
    for (size_t s = 0; s < SB_COUNT(strides); s++) {
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
            p.steps[i] = (int64_t)((uint64_t)INT64_MIN / 2 + i * strides[s]);
            p.walls[i] = 0;
            p.values[i] = 1;
        }
        sb_chunk_release(assert_kept(&p));
    }
}

static void special_values_are_counted_and_kept(void **state) {
    (void)state;
    static sb_points p;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        p.steps[i] = (int64_t)(SB_CHUNK_POINTS - i);
        p.walls[i] = i % 5 ? (double)i : (double)NAN;
        p.values[i] = i % 7 == 0    ? (double)NAN
                      : i % 11 == 0 ? (double)INFINITY
                                    : -(double)i * 1e300;
    }
    sb_chunk *c = assert_kept(&p);
    assert_false(c->flags & SB_CHUNK_FLOATS);
    assert_false(c->flags & SB_CHUNK_RISING);
    assert_false(c->flags & SB_CHUNK_RISING_WALLS);
    sb_chunk_release(c);
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) p.values[i] = (double)NAN;
    c = assert_kept(&p);
    assert_true(c->min_value > c->max_value);
    sb_chunk_release(c);
}

static void chunks_beyond_the_limit_go_to_a_file_and_read_the_same(void **state) {
    sb_test_dir *d = *state;
    sb_blocks *small;
    sb_err err;
    assert_ok(sb_blocks_new(&small, &sb_alloc_libc, 1 << 20, sb_test_dir_path(d), &err), &err);
    static sb_points p, out;
    static sb_chunk *chunks[2000];
    for (size_t k = 0; k < SB_COUNT(chunks); k++) {
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
            p.steps[i] = (int64_t)(k * SB_CHUNK_POINTS + i);
            p.walls[i] = (double)k;
            p.values[i] = (double)(float)(k + i);
        }
        chunks[k] = sb_chunk_seal(small, p.steps, p.walls, p.values);
        assert_non_null(chunks[k]);
    }
    sb_blocks_stats stats;
    sb_blocks_get_stats(small, &stats);
    assert_int_equal(stats.memory, 1 << 20);
    assert_true(stats.spilled > (4 << 20));
    for (size_t k = 0; k < SB_COUNT(chunks); k++) {
        sb_chunk_steps(chunks[k], out.steps);
        sb_chunk_values(chunks[k], out.values);
        assert_int_equal(out.steps[5], (int64_t)(k * SB_CHUNK_POINTS + 5));
        assert_true(out.values[1023] == (double)(float)(k + 1023));
        sb_chunk_release(chunks[k]);
    }
    /* What was freed is used again before the file grows. */
    for (size_t k = 0; k < 100; k++) chunks[k] = sb_chunk_seal(small, p.steps, p.walls, p.values);
    sb_blocks_stats after;
    sb_blocks_get_stats(small, &after);
    assert_int_equal(after.spilled, stats.spilled);
    for (size_t k = 0; k < 100; k++) sb_chunk_release(chunks[k]);
    sb_blocks_free(small);
    assert_int_equal(sb_blocks_new(&small, &sb_alloc_libc, 1, "/nonexistent/dir", &err), SB_IO);
}

/* A limit on the size of files does what a full disk does. */
static void full_spill_disk_leaves_chunks_in_memory(void **state) {
    sb_test_dir *d = *state;
    sb_blocks *spilling;
    sb_err err;
    assert_ok(sb_blocks_new(&spilling, &sb_alloc_libc, 1 << 20, sb_test_dir_path(d), &err), &err);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = {.rlim_cur = 2 << 20, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    static void *held[100];
    for (size_t i = 0; i < SB_COUNT(held); i++) {
        held[i] = sb_blocks_get(spilling, 60000);
        if (held[i]) memset(held[i], 1, 60000);
    }
    sb_blocks_stats full;
    sb_blocks_get_stats(spilling, &full);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    for (size_t i = 0; i < SB_COUNT(held); i++) assert_non_null(held[i]);
    assert_int_equal(full.spilled, 2 << 20);
    assert_true(full.memory > 2 << 20);
    assert_int_equal(full.spill_error, EFBIG);
    void *more[20]; /* there is room again: one slab's worth and a bit */
    for (size_t i = 0; i < SB_COUNT(more); i++) more[i] = sb_blocks_get(spilling, 60000);
    sb_blocks_stats after;
    sb_blocks_get_stats(spilling, &after);
    assert_true(after.spilled > full.spilled);
    assert_int_equal(after.spill_error, 0);
    for (size_t i = 0; i < SB_COUNT(more); i++) sb_blocks_put(spilling, more[i]);
    for (size_t i = 0; i < SB_COUNT(held); i++) sb_blocks_put(spilling, held[i]);
    sb_blocks_free(spilling);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_points_cost_about_seven_bytes),
        cmocka_unit_test(any_bits_survive),
        cmocka_unit_test(even_steps_of_any_stride_survive),
        cmocka_unit_test(special_values_are_counted_and_kept),
        cmocka_unit_test_setup_teardown(full_spill_disk_leaves_chunks_in_memory, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(chunks_beyond_the_limit_go_to_a_file_and_read_the_same,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, make_blocks, free_blocks);
}
