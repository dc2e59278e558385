/* tail_damage_test.c: event files with damage: what is good is found, what is lost is told. */
#include "logdir/tail.h"

#include <stdlib.h>

#include "codec/crc32c/crc32c.h"
#include "logdir/tail_int.h"
#include "unit/logdir/frames.h"
#include "base/banned.h"

/* Reads to the end. Every answer must follow the one before without a gap, and what is handed out
 * as good must be as it was written. seen[i]: did frame i come? Returns where it ended. */
static uint64_t read_to_end(reading *r, const frames *truth, bool *seen) {
    uint64_t at = sb_tail_stats(r->tail).offset;
    for (size_t answers = 0;; answers++) {
        sb_tail_record record;
        sb_status status = reading_next(r, &record);
        if (status == SB_MORE) break;
        assert_true(status == SB_OK || status == SB_BAD_LENGTH || status == SB_BAD_PAYLOAD);
        assert_int_equal(record.offset, at);
        assert_true(record.size > 0);
        assert_true(answers < 10000);
        at += record.size;
        if (status != SB_OK) continue;
        size_t i = frames_at(truth, record.offset);
        assert_true(i < truth->count && !seen[i]);
        assert_slice_equal(record.payload, frames_payload(truth, i));
        seen[i] = true;
    }
    sb_tail_ending rest = sb_tail_rest(r->tail);
    assert_int_equal(rest.offset, at);
    assert_int_equal(rest.offset + rest.bytes, r->m.data.n);
    return at;
}

/* ---- one fault ------------------------------------------------------------------------------- */

static void one_flipped_bit_costs_one_record(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 6);
    sb_slice truth_bytes = sb_buf_slice(&f.bytes);
    uint8_t *bytes = malloc(truth_bytes.n);
    assert_non_null(bytes);
    memcpy(bytes, truth_bytes.p, truth_bytes.n);
    for (size_t bit = 0; bit < truth_bytes.n * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool seen[MAX_FRAMES] = {false};
        reading r;
        reading_begin_with(&r, sb_slice_of(bytes, truth_bytes.n),
                           &(sb_tail_opts){.window = 64 + bit % 200});
        read_to_end(&r, &f, seen);
        for (size_t i = 0; i < f.count; i++) {
            bool hit = bit / 8 >= f.offset[i] && bit / 8 < f.offset[i + 1];
            assert_int_equal(seen[i], !hit);
        }
        /* A record that is added later comes, whatever is the matter before it. */
        frames_add_scalar(&f, 99, 3);
        uint8_t *longer = malloc(f.bytes.n);
        assert_non_null(longer);
        memcpy(longer, f.bytes.p, f.bytes.n);
        longer[bit / 8] ^= (uint8_t)(1u << bit % 8);
        r.m.data = sb_slice_of(longer, f.bytes.n);
        read_to_end(&r, &f, seen);
        assert_true(seen[f.count - 1]);
        sb_tail_counts counts = sb_tail_stats(r.tail);
        assert_int_equal(counts.damaged, 1);
        assert_int_equal(counts.records, f.count - 1);
        reading_end(&r);
        free(longer);
        f.bytes.n = f.offset[--f.count];
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
    frames_fini(&f);
}

static void a_bad_payload_is_named_and_stepped_over(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 6);
    f.bytes.p[f.offset[3] + 20] ^= 1;
    reading r;
    reading_begin(&r, sb_buf_slice(&f.bytes));
    for (size_t i = 0; i < 3; i++) reading_expect(&r, &f, i);
    reading_expect_gap(&r, SB_BAD_PAYLOAD, f.offset[3], f.offset[4]);
    reading_expect_from(&r, &f, 4);
    reading_expect_status(&r, SB_MORE);
    sb_tail_counts counts = sb_tail_stats(r.tail);
    assert_int_equal(counts.damaged, 1);
    assert_int_equal(counts.lost_bytes, f.offset[4] - f.offset[3]);
    assert_int_equal(counts.last_error, SB_BAD_PAYLOAD);
    assert_int_equal(counts.last_error_offset, f.offset[3]);
    reading_end(&r);
    frames_fini(&f);
}

static void a_bad_payload_at_the_end_is_named_at_once(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 2);
    f.bytes.p[f.offset[2] + 20] ^= 1;
    reading r;
    reading_begin(&r, sb_buf_slice(&f.bytes));
    for (size_t i = 0; i < 2; i++) reading_expect(&r, &f, i);
    reading_expect_gap(&r, SB_BAD_PAYLOAD, f.offset[2], f.offset[3]);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void a_bad_length_is_searched_past(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 9);
    f.bytes.p[f.offset[3] + 9] ^= 1;
    f.bytes.p[f.offset[4]] ^= 1;
    f.bytes.p[f.offset[7]] ^= 1;
    for (size_t window = 64; window < 400; window += 9) {
        reading r;
        reading_begin_with(&r, sb_buf_slice(&f.bytes), &(sb_tail_opts){.window = window});
        for (size_t i = 0; i < 3; i++) reading_expect(&r, &f, i);
        reading_expect_gap(&r, SB_BAD_LENGTH, f.offset[3], f.offset[5]);
        for (size_t i = 5; i < 7; i++) reading_expect(&r, &f, i);
        reading_expect_gap(&r, SB_BAD_LENGTH, f.offset[7], f.offset[8]);
        reading_expect_from(&r, &f, 8);
        reading_expect_status(&r, SB_MORE);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void a_long_search_can_be_done_in_pieces(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 5);
    for (int kind = 0; kind < 2; kind++) { /* zeros, and bytes that mean nothing */
        sb_buf log;
        sb_buf_init(&log, &sb_alloc_libc, SIZE_MAX / 2);
        sb_buf_add(&log, f.bytes.p, f.offset[3]);
        for (int i = 0; i < 1 << 20; i++) sb_buf_add_byte(&log, kind ? (uint8_t)(i * 37 + 11) : 0);
        size_t end = log.n;
        sb_buf_add(&log, f.bytes.p + f.offset[3], f.bytes.n - f.offset[3]);
        reading r;
        reading_begin_with(&r, sb_buf_slice(&log),
                           &(sb_tail_opts){.window = 4096, .search = 64 << 10});
        for (size_t i = 0; i < 3; i++) reading_expect(&r, &f, i);
        sb_tail_record record;
        sb_status status;
        int pieces = 0;
        while ((status = reading_next(&r, &record)) == SB_TIMEOUT) pieces++;
        assert_int_equal(status, SB_BAD_LENGTH);
        assert_int_equal(record.offset, f.offset[3]);
        assert_int_equal(record.offset + record.size, end);
        assert_in_range(pieces, 10, 17);
        for (size_t i = 3; i < f.count; i++) {
            assert_ok(reading_next(&r, &record), &r.err);
            assert_slice_equal(record.payload, frames_payload(&f, i));
        }
        reading_expect_status(&r, SB_MORE);
        reading_end(&r);
        sb_buf_fini(&log);
    }
    frames_fini(&f);
}

static void garbage_and_missing_bytes_are_searched_past(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(5);
    for (int round = 0; round < 300; round++) {
        frames f;
        frames_log(&f, 40);
        frames damaged; /* offsets as they are in the damaged file */
        frames_init(&damaged);
        bool whole[MAX_FRAMES];
        for (size_t i = 0; i < f.count; i++) {
            sb_slice frame = sb_slice_of(f.bytes.p + f.offset[i], f.offset[i + 1] - f.offset[i]);
            uint64_t dice = sb_test_below(&random, 12);
            whole[i] = dice > 1;
            if (dice == 0) { /* the beginning is gone, or the end */
                size_t lost = 1 + sb_test_below(&random, frame.n - 1);
                frame.n -= lost;
                if (sb_test_below(&random, 2)) frame.p += lost;
            }
            if (dice == 1) { /* something was written over it */
                uint8_t noise[40];
                sb_test_fill(&random, noise, sizeof noise);
                if (sb_test_below(&random, 2)) memset(noise, 0, sizeof noise);
                frame = sb_slice_of(noise, 1 + sb_test_below(&random, sizeof noise));
                sb_buf_add_slice(&damaged.bytes, frame);
            } else {
                sb_buf_add_slice(&damaged.bytes, frame);
            }
            damaged.offset[++damaged.count] = damaged.bytes.n;
        }
        reading r;
        bool seen[MAX_FRAMES] = {false};
        reading_begin_with(&r, sb_buf_slice(&damaged.bytes),
                           &(sb_tail_opts){.window = 64 + sb_test_below(&random, 1000)});
        read_to_end(&r, &damaged, seen);
        /* Only a frame at the end that is cut can keep its neighbours waiting, and there are none.
         *  */
        for (size_t i = 0; i < f.count; i++) assert_int_equal(seen[i], whole[i]);
        reading_end(&r);
        frames_fini(&damaged);
        frames_fini(&f);
    }
}

static void records_inside_what_a_cut_one_claims_are_found(void **state) {
    (void)state;
    frames f;
    frames_init(&f);
    frames_add_header(&f);
    frames_add_scalar(&f, 1, 1000);
    f.bytes.n = f.offset[1] + 300; /* the program died here; another one went on in the same file */
    f.offset[2] = f.bytes.n;
    for (int64_t i = 0; i < 60; i++) frames_add_scalar(&f, i, 0);
    reading r;
    reading_begin(&r, sb_buf_slice(&f.bytes));
    reading_expect(&r, &f, 0);
    reading_expect_gap(&r, SB_BAD_PAYLOAD, f.offset[1], f.offset[2]);
    reading_expect_from(&r, &f, 2);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void what_parses_as_no_event_is_no_way_back(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 2);
    f.bytes.p[f.offset[2]] ^= 1;
    frames_add(&f, SB_LIT("\x07\xff no message at all"));
    frames_add_scalar(&f, 7, 0);
    reading r;
    reading_begin(&r, sb_buf_slice(&f.bytes));
    for (size_t i = 0; i < 2; i++) reading_expect(&r, &f, i);
    reading_expect_gap(&r, SB_BAD_LENGTH, f.offset[2], f.offset[4]);
    reading_expect(&r, &f, 4);
    reading_end(&r);
    frames_fini(&f);
}

/* ---- damage at the end ----------------------------------------------------------------------- */

static void zeros_at_the_end_may_still_become_data(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 12);
    sb_slice truth = sb_buf_slice(&f.bytes);
    uint8_t *bytes = malloc(truth.n);
    assert_non_null(bytes);
    for (size_t from = 0; from < truth.n; from++) {
        memcpy(bytes, truth.p, truth.n);
        memset(bytes + from, 0, truth.n - from);
        size_t i = 0;
        reading r;
        reading_begin(&r, sb_slice_of(bytes, truth.n));
        /* A record is whole when its last byte that is not zero is there. */
        while (i < f.count && memcmp(bytes, truth.p, f.offset[i + 1]) == 0)
            reading_expect(&r, &f, i++);
        for (int again = 0; again < 3; again++) reading_expect_status(&r, SB_MORE);
        sb_tail_ending rest = sb_tail_rest(r.tail);
        assert_int_equal(rest.offset, f.offset[i]);
        assert_true(rest.kind == SB_BAD_LENGTH || rest.kind == SB_BAD_PAYLOAD || rest.bytes == 0);
        if (from % 3 == 0) sb_tail_sleep(r.tail);
        memcpy(bytes, truth.p, truth.n);
        if (from % 2) r.m.mtime_ns++; /* the time of the last change need not tell */
        bool partly = i < f.count && from >= f.offset[i] + SB_RECORD_HEADER;
        if (partly && memcmp(bytes + f.offset[i + 1] - 4, "\0\0\0\0", 4) == 0) r.m.mtime_ns++;
        reading_expect_from(&r, &f, i);
        assert_int_equal(sb_tail_stats(r.tail).damaged, 0);
        reading_end(&r);
    }
    free(bytes);
    frames_fini(&f);
}

static void a_lost_end_is_not_searched_again_in_vain(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 3);
    size_t good = f.bytes.n;
    sb_test_random random = sb_test_random_of(3);
    size_t noise = 3000000;
    uint8_t *p = malloc(noise);
    assert_non_null(p);
    sb_test_fill(&random, p, noise);
    sb_buf_add(&f.bytes, p, noise);
    frames_add_scalar(&f, 50, 0);
    size_t end = f.bytes.n;

    reading r;
    reading_begin(&r, sb_slice_of(f.bytes.p, good + 1000000));
    for (size_t i = 0; i < 4; i++) reading_expect(&r, &f, i);
    reading_expect_status(&r, SB_MORE);
    assert_int_equal(sb_tail_rest(r.tail).kind, SB_BAD_LENGTH);
    uint64_t before = sb_tail_stats(r.tail).bytes_read;
    for (int i = 0; i < 100; i++) reading_expect_status(&r, SB_MORE);
    assert_int_equal(sb_tail_stats(r.tail).bytes_read, before);
    for (size_t n = good + 1000000; n < good + noise; n += 10000) {
        r.m.data.n = n;
        reading_expect_status(&r, SB_MORE);
    }
    assert_true(sb_tail_stats(r.tail).bytes_read < before + 2 * noise + 100 * SB_TAIL_WINDOW);
    r.m.data.n = end;
    reading_expect_gap(&r, SB_BAD_LENGTH, good, good + noise);
    sb_tail_record record;
    assert_ok(reading_next(&r, &record), &r.err);
    assert_int_equal(record.offset, good + noise);
    assert_int_equal(sb_tail_stats(r.tail).lost_bytes, noise);
    reading_end(&r);
    free(p);
    frames_fini(&f);
}

static void a_record_still_being_written_behind_damage_is_waited_for(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 3);
    f.bytes.p[f.offset[3]] ^= 1;
    frames_add_scalar(&f, 50, 700000);
    reading r;
    reading_begin(&r, sb_slice_of(f.bytes.p, f.offset[4] + 14));
    for (size_t i = 0; i < 3; i++) reading_expect(&r, &f, i);
    for (size_t n = f.offset[4] + 14; n < f.bytes.n; n += 50000) {
        r.m.data.n = n;
        reading_expect_status(&r, SB_MORE);
        assert_int_equal(sb_tail_rest(r.tail).offset, f.offset[3]);
    }
    r.m.data.n = f.bytes.n;
    reading_expect_gap(&r, SB_BAD_LENGTH, f.offset[3], f.offset[4]);
    reading_expect(&r, &f, 4);
    assert_true(sb_tail_stats(r.tail).bytes_read < 10 * f.bytes.n);
    reading_end(&r);
    frames_fini(&f);
}

/* A file made to keep readers busy: each of many good headers claims a large payload. */
static void many_false_headers_cost_no_more_than_their_share(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 2);
    size_t good = f.bytes.n;
    sb_buf_add(&f.bytes, "not the beginning of a frame", 28);
    for (int i = 0; i < 200000; i++) {
        uint8_t header[SB_RECORD_HEADER];
        sb_store64(header, 1000000);
        sb_store32(header + 8, sb_crc32c_masked(header, 8));
        sb_buf_add(&f.bytes, header, sizeof header);
    }
    size_t at = f.bytes.n;
    frames_add_scalar(&f, 3, 0);
    reading r;
    reading_begin(&r, sb_buf_slice(&f.bytes));
    for (size_t i = 0; i < 3; i++) reading_expect(&r, &f, i);
    reading_expect_gap(&r, SB_BAD_LENGTH, good, at);
    sb_tail_record record;
    assert_ok(reading_next(&r, &record), &r.err);
    assert_int_equal(record.offset, at);
    assert_true(r.tail->spent <= ((uint64_t)64 << 20) + 4 * f.bytes.n);
    reading_end(&r);
    frames_fini(&f);
}

static void several_faults_at_random_places_yield_only_the_truth(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(77);
    frames f;
    frames_log(&f, 50);
    uint8_t *bytes = malloc(f.bytes.n);
    assert_non_null(bytes);
    for (int round = 0; round < 2000; round++) {
        memcpy(bytes, f.bytes.p, f.bytes.n);
        bool hit[MAX_FRAMES] = {false};
        for (uint64_t k = sb_test_below(&random, 6); k < 8; k++) {
            size_t at = sb_test_below(&random, f.bytes.n);
            bytes[at] ^= (uint8_t)(1 + sb_test_below(&random, 255));
            for (size_t i = 0; i < f.count; i++)
                if (at >= f.offset[i] && at < f.offset[i + 1]) hit[i] = true;
        }
        for (size_t i = 0; i < f.count; i++) /* two faults may have undone each other */
            hit[i] = memcmp(bytes + f.offset[i], f.bytes.p + f.offset[i],
                            f.offset[i + 1] - f.offset[i]) != 0;
        bool seen[MAX_FRAMES] = {false};
        reading r;
        size_t window = 64 + sb_test_below(&random, 3000);
        reading_begin_with(&r, sb_slice_of(bytes, f.bytes.n), &(sb_tail_opts){.window = window});
        read_to_end(&r, &f, seen);
        for (size_t i = 0; i < f.count; i++) assert_int_equal(seen[i], !hit[i]);
        reading_end(&r);
    }
    free(bytes);
    frames_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_flipped_bit_costs_one_record),
        cmocka_unit_test(a_bad_payload_is_named_and_stepped_over),
        cmocka_unit_test(a_bad_payload_at_the_end_is_named_at_once),
        cmocka_unit_test(a_bad_length_is_searched_past),
        cmocka_unit_test(a_long_search_can_be_done_in_pieces),
        cmocka_unit_test(garbage_and_missing_bytes_are_searched_past),
        cmocka_unit_test(records_inside_what_a_cut_one_claims_are_found),
        cmocka_unit_test(what_parses_as_no_event_is_no_way_back),
        cmocka_unit_test(zeros_at_the_end_may_still_become_data),
        cmocka_unit_test(a_lost_end_is_not_searched_again_in_vain),
        cmocka_unit_test(a_record_still_being_written_behind_damage_is_waited_for),
        cmocka_unit_test(many_false_headers_cost_no_more_than_their_share),
        cmocka_unit_test(several_faults_at_random_places_yield_only_the_truth),
    };
    return cmocka_run_group_tests_name("logdir/tail_damage", tests, NULL, NULL);
}
