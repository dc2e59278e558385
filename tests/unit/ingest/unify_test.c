/* unify_test.c: with the memory of what repeats, a run holds the same points as without. */
#include "ingest/unify.h"

#include <stdio.h>

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "support/fault_alloc.h"
#include "support/test.h"

typedef struct side {
    sb_store *store;
    sb_run *run;
    uint32_t file;
    sb_unify_counts counts;
} side;

static side new_side(void) {
    side s = {0};
    assert_ok(sb_store_new(&s.store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL), NULL);
    assert_ok(sb_store_add_run(s.store, SB_LIT("run"), SB_LIT("/run"), &s.run, NULL), NULL);
    assert_ok(sb_run_add_file(s.run, SB_LIT("/run/a"), &s.file, NULL), NULL);
    return s;
}

static void free_side(side *s) {
    sb_run_release(s->run);
    sb_store_free(s->store);
}

static void take(side *s, sb_slice payload, uint64_t offset, sb_repeats *repeats) {
    sb_record record = {.payload = payload, .length = payload.n, .size = payload.n + 16};
    assert_ok(sb_unify_event(s->run, s->file, &record, offset, repeats, &s->counts), NULL);
}

/* A scalar in the old form, the new one, with several values, or a start of a session. */
static void make_event(sb_buf *b, sb_test_random *random, uint64_t tag, int64_t step) {
    sb_buf_clear(b);
    sb_pb_add_double(b, SB_EVENT_WALL_TIME, 1e9 + (double)sb_test_below(random, 1000));
    sb_pb_add_int_nz(b, SB_EVENT_STEP, step);
    if (sb_test_below(random, 500) == 0) {
        size_t session = sb_pb_begin(b, SB_EVENT_SESSION_LOG, 8);
        sb_pb_add_int_nz(b, SB_SESSION_LOG_STATUS, SB_SESSION_STATUS_START);
        sb_pb_end(b, session);
        return;
    }
    size_t summary = sb_pb_begin(b, SB_EVENT_SUMMARY, 64);
    uint64_t values = sb_test_below(random, 20) ? 1 : 2;
    for (uint64_t i = 0; i < values; i++) {
        char name[32];
        snprintf(name, sizeof name, "tag_%llu", (unsigned long long)(tag + i));
        size_t value = sb_pb_begin(b, SB_SUMMARY_VALUE, 64);
        sb_pb_add_bytes(b, SB_VALUE_TAG, sb_slice_str(name));
        uint8_t raw[4];
        sb_store32(raw, (uint32_t)sb_test_u64(random));
        if (tag % 2) {
            size_t tensor = sb_pb_begin(b, SB_VALUE_TENSOR, 16);
            sb_pb_add_int_nz(b, SB_TENSOR_DTYPE, SB_FLOAT);
            sb_pb_add_bytes(b, SB_TENSOR_TENSOR_CONTENT, sb_slice_of(raw, 4));
            sb_pb_end(b, tensor);
            size_t metadata = sb_pb_begin(b, SB_VALUE_METADATA, 32);
            size_t plugin = sb_pb_begin(b, SB_METADATA_PLUGIN_DATA, 16);
            sb_pb_add_bytes(b, SB_PLUGIN_DATA_PLUGIN_NAME, SB_LIT("scalars"));
            sb_pb_end(b, plugin);
            sb_pb_end(b, metadata);
        } else {
            sb_pb_add_float(b, SB_VALUE_SIMPLE_VALUE, sb_bits_float(sb_load32(raw)));
        }
        sb_pb_end(b, value);
    }
    sb_pb_end(b, summary);
}

static void assert_same_points(side *a, side *b) {
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    sb_run_commit(a->run);
    sb_run_commit(b->run);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    sb_series_info *series, *others;
    size_t n, m;
    assert_ok(sb_run_list(a->run, &arena, &series, &n), NULL);
    assert_ok(sb_run_list(b->run, &arena, &others, &m), NULL);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        static sb_points x, y;
        sb_series s, t;
        assert_ok(sb_series_take(a->run, series[i].tag, &arena, &s), NULL);
        assert_ok(sb_series_take(b->run, series[i].tag, &arena, &t), NULL);
        assert_int_equal(s.points, t.points);
        sb_scalar_walk first = sb_scalars_of(&s, false), second = sb_scalars_of(&t, false);
        for (size_t k; (k = sb_scalars_next(&first, &x, NULL));) {
            assert_int_equal(sb_scalars_next(&second, &y, NULL), k);
            assert_memory_equal(x.steps, y.steps, k * sizeof *x.steps);
            assert_memory_equal(x.walls, y.walls, k * sizeof *x.walls);
            assert_memory_equal(x.values, y.values, k * sizeof *x.values);
        }
        sb_series_release(&s);
        sb_series_release(&t);
    }
    sb_arena_fini(&arena);
}

/* tags in turn, now and then out of order; how many were known by their form is answered. */
static void compare(uint64_t tags, uint64_t events, bool *was_used, bool *is_off) {
    side quick = new_side(), plain = new_side();
    sb_fault_alloc alloc;
    sb_fault_alloc_init(&alloc);
    sb_repeats repeats;
    sb_repeats_init(&repeats, &alloc.alloc);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_test_random random = sb_test_random_of(tags);
    for (uint64_t i = 0; i < events; i++) {
        uint64_t tag = sb_test_below(&random, 50) ? i % tags : sb_test_below(&random, tags);
        make_event(&b, &random, tag, (int64_t)(i / tags));
        take(&quick, sb_buf_slice(&b), i * 100, &repeats);
        take(&plain, sb_buf_slice(&b), i * 100, NULL);
        if (i % 7000 == 0) {
            sb_run_commit(quick.run);
            sb_run_commit(plain.run);
        }
    }
    assert_same_points(&quick, &plain);
    assert_true(alloc.peak_bytes <= 4096 * 128 + 2048 * 128);
    *was_used = repeats.learned < events / 2;
    *is_off = repeats.is_off;
    sb_repeats_fini(&repeats);
    sb_fault_alloc_fini(&alloc);
    sb_buf_fini(&b);
    free_side(&quick);
    free_side(&plain);
}

static void what_repeats_gives_the_same_points_as_reading_in_full(void **state) {
    (void)state;
    bool was_used, is_off;
    for (uint64_t tags = 1; tags < 200; tags = tags * 3 + 1) {
        compare(tags, 20000, &was_used, &is_off);
        assert_true(was_used);
        assert_false(is_off);
    }
}

static void too_many_series_for_the_table_cost_no_more_than_a_while(void **state) {
    (void)state;
    bool was_used, is_off;
    compare(6000, 30000, &was_used, &is_off);
    assert_true(is_off);
}

static void short_readings_make_no_table(void **state) {
    (void)state;
    side s = new_side();
    sb_fault_alloc alloc;
    sb_fault_alloc_init(&alloc);
    sb_repeats repeats;
    sb_repeats_init(&repeats, &alloc.alloc);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_test_random random = sb_test_random_of(1);
    for (uint64_t i = 0; i < 200; i++) {
        make_event(&b, &random, 0, (int64_t)i);
        take(&s, sb_buf_slice(&b), i, &repeats);
    }
    assert_int_equal(alloc.peak_bytes, 0);
    sb_repeats_fini(&repeats);
    sb_fault_alloc_fini(&alloc);
    sb_buf_fini(&b);
    free_side(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_repeats_gives_the_same_points_as_reading_in_full),
        cmocka_unit_test(too_many_series_for_the_table_cost_no_more_than_a_while),
        cmocka_unit_test(short_readings_make_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
