/* record_test.c: frames are found, damage has a name, and no payload that differs from what was
 * written ever comes out. */
#include "codec/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "codec/crc32c/crc32c.h"
#include "support/fault_alloc.h"
#include "support/frame.h"
#include "support/test.h"
#include "base/banned.h"

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 64 << 20);
    return b;
}

/* A header with a good checksum for any length. */
static void add_header(sb_buf *b, uint64_t length) {
    uint8_t header[SB_RECORD_HEADER];
    sb_store64(header, length);
    sb_store32(header + 8, sb_crc32c_masked(header, 8));
    sb_buf_add(b, header, sizeof header);
}

/* A copy of exactly n bytes in its own block, so that the sanitizer sees a read past it. */
static uint8_t *exact(const uint8_t *p, size_t n) {
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n) memcpy(copy, p, n);
    return copy;
}

/* ---- single frames --------------------------------------------------------------------------- */

static void a_frame_is_made_byte_by_byte_as_specified(void **state) {
    (void)state;
    sb_buf b = new_buf();
    uint8_t room[64];
    sb_test_add_record(&b, SB_LIT(""));
    assert_slice_equal(sb_buf_slice(&b),
                       sb_test_bytes(room, sizeof room, "0000000000000000 29039807 d8ea82a2"));
    sb_buf_clear(&b);
    sb_test_add_record(&b, SB_LIT("\x1a\x11"
                                  "CRC test, one two"));
    assert_int_equal(sb_load64(b.p), 19);
    assert_int_equal(sb_load32(b.p + 12 + 19), 0x5794D08Au);
    assert_int_equal(b.n, 19 + SB_RECORD_OVERHEAD);
    sb_buf_fini(&b);
}

static void a_whole_frame_is_ok(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 8, 60, 767, 768, 5000, 70000};
    sb_test_random r = sb_test_random_of(1);
    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        uint8_t *payload = malloc(sizes[i] + 1);
        assert_non_null(payload);
        sb_test_fill(&r, payload, sizes[i]);
        sb_buf b = new_buf();
        sb_test_add_record(&b, sb_slice_of(payload, sizes[i]));
        sb_buf_add_str(&b, "what follows does not matter");
        sb_record record;
        assert_ok(sb_record_read(&record, sb_buf_slice(&b)), NULL);
        assert_slice_equal(record.payload, sb_slice_of(payload, sizes[i]));
        assert_ptr_equal(record.payload.p, b.p + SB_RECORD_HEADER);
        assert_int_equal(record.length, sizes[i]);
        assert_int_equal(record.size, sizes[i] + SB_RECORD_OVERHEAD);
        assert_int_equal(record.payload_crc, sb_crc32c_masked(payload, sizes[i]));
        sb_record header;
        assert_ok(sb_record_read_header(&header, sb_slice_of(b.p, SB_RECORD_HEADER)), NULL);
        assert_int_equal(header.size, record.size);
        assert_int_equal(header.length_crc, record.length_crc);
        sb_buf_fini(&b);
        free(payload);
    }
}

static void begin_and_end_make_the_same_frame(void **state) {
    (void)state;
    sb_buf a = new_buf(), b = new_buf();
    sb_test_add_record(&a, SB_LIT("first"));
    sb_test_add_record(&a, SB_LIT(""));
    sb_test_add_record(&a, SB_LIT("second"));
    size_t at = sb_record_begin(&b);
    sb_buf_add_str(&b, "fir");
    sb_buf_add_str(&b, "st");
    sb_record_end(&b, at);
    at = sb_record_begin(&b);
    sb_record_end(&b, at);
    at = sb_record_begin(&b);
    sb_buf_add_str(&b, "second");
    sb_record_end(&b, at);
    assert_slice_equal(sb_buf_slice(&a), sb_buf_slice(&b));
    sb_buf_fini(&a);
    sb_buf_fini(&b);
}

static void truncated_tail_reports_more(void **state) {
    (void)state;
    sb_buf b = new_buf();
    sb_test_add_record(&b, SB_LIT("a payload of some bytes"));
    for (size_t cut = 0; cut < b.n; cut++) {
        uint8_t *window = exact(b.p, cut);
        sb_record record = {0};
        assert_int_equal(sb_record_read(&record, sb_slice_of(window, cut)), SB_MORE);
        assert_int_equal(record.size, cut < SB_RECORD_HEADER ? SB_RECORD_HEADER : b.n);
        free(window);
    }
    sb_buf_fini(&b);
}

static void a_length_that_differs_from_its_checksum_is_bad_length(void **state) {
    (void)state;
    sb_buf b = new_buf();
    sb_test_add_record(&b, SB_LIT("payload"));
    for (size_t bit = 0; bit < SB_RECORD_HEADER * 8; bit++) {
        b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        sb_record record;
        assert_int_equal(sb_record_read(&record, sb_buf_slice(&b)), SB_BAD_LENGTH);
        assert_int_equal(sb_record_read_header(&record, sb_buf_slice(&b)), SB_BAD_LENGTH);
        assert_int_equal(record.length, sb_load64(b.p));
        assert_int_equal(record.length_crc, sb_load32(b.p + 8));
        b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sb_buf_fini(&b);
}

static void a_payload_that_differs_from_its_checksum_is_bad_payload(void **state) {
    (void)state;
    sb_buf b = new_buf();
    sb_test_add_record(&b, SB_LIT("payload"));
    for (size_t bit = SB_RECORD_HEADER * 8; bit < b.n * 8; bit++) {
        b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        sb_record record;
        assert_int_equal(sb_record_read(&record, sb_buf_slice(&b)), SB_BAD_PAYLOAD);
        assert_int_equal(record.size, b.n);
        assert_int_equal(record.payload.n, 7);
        assert_int_equal(record.payload_crc, sb_load32(b.p + b.n - 4));
        b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sb_buf_fini(&b);
}

static void a_zero_filled_region_is_bad_length(void **state) {
    (void)state;
    static const uint8_t zeros[64] = {0};
    sb_record record;
    assert_int_equal(sb_record_read(&record, sb_slice_of(zeros, sizeof zeros)), SB_BAD_LENGTH);
    assert_int_equal(sb_record_read(&record, sb_slice_of(zeros, 12)), SB_BAD_LENGTH);
    assert_int_equal(sb_record_read(&record, sb_slice_of(zeros, 11)), SB_MORE);
}

static void absurd_lengths_are_told_but_never_followed(void **state) {
    (void)state;
    static const struct {
        uint64_t length;
        sb_status want;
    } rows[] = {
        {UINT64_MAX, SB_BAD_LENGTH},        {UINT64_MAX - 15, SB_BAD_LENGTH},
        {UINT64_MAX - 16, SB_MORE},         {(uint64_t)1 << 63, SB_MORE},
        {((uint64_t)1 << 32) + 4, SB_MORE}, {1000, SB_MORE},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_buf b = new_buf();
        add_header(&b, rows[i].length);
        sb_buf_add_str(&b, "and a few bytes more behind it");
        sb_record record;
        assert_int_equal(sb_record_read(&record, sb_buf_slice(&b)), rows[i].want);
        if (rows[i].want == SB_MORE)
            assert_int_equal(record.size, rows[i].length + SB_RECORD_OVERHEAD);
        sb_buf_fini(&b);
    }
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    for (int i = 0; i < 100; i++) sb_test_add_record(&b, SB_LIT("some payload"));
    size_t at = sb_record_begin(&b);
    sb_buf_add_str(&b, "more");
    sb_record_end(&b, at);
    sb_status status = sb_buf_check(&b, "records", NULL);
    sb_buf_fini(&b);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

static void a_frame_over_the_cap_is_not_half_made_without_notice(void **state) {
    (void)state;
    for (size_t cap = 0; cap < 25; cap++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, cap);
        sb_test_add_record(&b, SB_LIT("123456789"));
        assert_int_equal(b.failed, SB_LIMIT);
        sb_buf_fini(&b);
    }
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 25);
    sb_test_add_record(&b, SB_LIT("123456789"));
    assert_int_equal(b.failed, SB_OK);
    sb_buf_fini(&b);
}

/* ---- a file with damage anywhere ------------------------------------------------------------- */

typedef struct yield {
    unsigned good; /* one bit for each true payload that came out */
    unsigned others;
    unsigned last;
    bool in_order;
} yield;

static void note(yield *y, const sb_slice truth[3], sb_slice payload) {
    for (unsigned i = 0; i < 3; i++)
        if (sb_slice_eq(payload, truth[i])) {
            if (y->good && i <= y->last) y->in_order = false;
            y->good |= 1u << i;
            y->last = i;
            return;
        }
    y->others++;
}

static bool is_frame(sb_slice rest) {
    sb_record record;
    return sb_record_read(&record, rest) == SB_OK;
}

/* Reads a window as the readers do: a bad payload is stepped over, a bad length looked past. */
static yield read_all(const sb_slice truth[3], sb_slice window) {
    yield y = {.in_order = true};
    size_t i = 0;
    for (;;) {
        sb_record record;
        sb_status status = sb_record_read(&record, sb_slice_of(window.p + i, window.n - i));
        if (status == SB_MORE) return y;
        if (status == SB_OK) note(&y, truth, record.payload);
        if (status == SB_OK || status == SB_BAD_PAYLOAD) {
            i += (size_t)record.size;
            continue;
        }
        assert_int_equal(status, SB_BAD_LENGTH);
        do i++;
        while (i < window.n && !is_frame(sb_slice_of(window.p + i, window.n - i)));
        if (i == window.n) return y;
    }
}

static const sb_slice truth[3] = {
    {(const uint8_t *)"the first payload", 17},
    {(const uint8_t *)"and the second, which is longer than the first", 46},
    {(const uint8_t *)"third", 5},
};

static sb_buf three_records(size_t ends[3]) {
    sb_buf b = new_buf();
    for (int i = 0; i < 3; i++) {
        sb_test_add_record(&b, truth[i]);
        ends[i] = b.n;
    }
    return b;
}

static void one_flipped_bit_loses_one_record_and_no_more(void **state) {
    (void)state;
    size_t ends[3];
    sb_buf b = three_records(ends);
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        uint8_t *file = exact(b.p, b.n);
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        unsigned hit = bit / 8 < ends[0] ? 0 : bit / 8 < ends[1] ? 1 : 2;
        yield y = read_all(truth, sb_slice_of(file, b.n));
        assert_int_equal(y.others, 0);
        assert_true(y.in_order);
        assert_int_equal(y.good, 7 & ~(1u << hit));
        free(file);
    }
    sb_buf_fini(&b);
}

static void two_flipped_bits_never_yield_an_untrue_payload(void **state) {
    (void)state;
    size_t ends[3];
    sb_buf b = three_records(ends);
    sb_test_random r = sb_test_random_of(4);
    for (int round = 0; round < 20000; round++) {
        size_t one = (size_t)sb_test_below(&r, b.n * 8), two = (size_t)sb_test_below(&r, b.n * 8);
        b.p[one / 8] ^= (uint8_t)(1u << one % 8);
        b.p[two / 8] ^= (uint8_t)(1u << two % 8);
        yield y = read_all(truth, sb_buf_slice(&b));
        assert_int_equal(y.others, 0);
        assert_true(y.in_order);
        b.p[one / 8] ^= (uint8_t)(1u << one % 8);
        b.p[two / 8] ^= (uint8_t)(1u << two % 8);
    }
    sb_buf_fini(&b);
}

static void a_file_cut_anywhere_yields_its_whole_records(void **state) {
    (void)state;
    size_t ends[3];
    sb_buf b = three_records(ends);
    for (size_t cut = 0; cut <= b.n; cut++) {
        uint8_t *file = exact(b.p, cut);
        unsigned whole = cut < ends[0] ? 0 : cut < ends[1] ? 1 : cut < ends[2] ? 2 : 3;
        yield y = read_all(truth, sb_slice_of(file, cut));
        assert_int_equal(y.others, 0);
        assert_int_equal(y.good, (1u << whole) - 1);
        free(file);
    }
    sb_buf_fini(&b);
}

static void bytes_lost_or_added_anywhere_never_yield_an_untrue_payload(void **state) {
    (void)state;
    size_t ends[3];
    sb_buf b = three_records(ends);
    for (size_t at = 0; at < b.n; at++)
        for (size_t count = 1; count <= 13; count += 4) {
            size_t lost = count < b.n - at ? count : b.n - at;
            uint8_t *file = exact(b.p, b.n);
            memmove(file + at, b.p + at + lost, b.n - at - lost);
            assert_int_equal(read_all(truth, sb_slice_of(file, b.n - lost)).others, 0);
            free(file);
            file = malloc(b.n + count);
            assert_non_null(file);
            memcpy(file, b.p, at);
            memset(file + at, 0, count);
            memcpy(file + at + count, b.p + at, b.n - at);
            yield y = read_all(truth, sb_slice_of(file, b.n + count));
            assert_int_equal(y.others, 0);
            /* Zeros between two records cost neither of them. */
            if (at == 0 || at == ends[0] || at == ends[1]) assert_int_equal(y.good, 7);
            free(file);
        }
    sb_buf_fini(&b);
}

/* sb_record_take and a loop of sb_record_read agree, whatever the bytes are. */
static void assert_taken_alike(sb_slice window, uint64_t longest, size_t max) {
    sb_record many[64];
    size_t n = sb_record_take(window, longest, many, max), at = 0;
    assert_true(n <= max);
    for (size_t i = 0; i < n; i++) {
        sb_record one;
        assert_int_equal(sb_record_read(&one, sb_slice_of(window.p + at, window.n - at)), SB_OK);
        assert_ptr_equal(many[i].payload.p, one.payload.p);
        assert_int_equal(many[i].payload.n, one.payload.n);
        assert_int_equal(many[i].length, one.length);
        assert_int_equal(many[i].size, one.size);
        assert_int_equal(many[i].length_crc, one.length_crc);
        assert_int_equal(many[i].payload_crc, one.payload_crc);
        at += (size_t)one.size;
    }
    sb_record rest;
    if (n < max && sb_record_read(&rest, sb_slice_of(window.p + at, window.n - at)) == SB_OK)
        assert_true(rest.length > longest);
}

static void many_at_once_are_the_same_as_one_after_the_other(void **state) {
    (void)state;
    sb_buf b = new_buf();
    uint8_t bytes[2000];
    sb_test_random random = sb_test_random_of(7);
    for (int i = 0; i < 12; i++) {
        size_t n = i % 4 == 3 ? (size_t)sb_test_below(&random, sizeof bytes) : 40;
        sb_test_fill(&random, bytes, n);
        sb_test_add_record(&b, sb_slice_of(bytes, n));
    }
    for (size_t cut = 0; cut <= b.n; cut++) {
        uint8_t *copy = exact(b.p, cut);
        assert_taken_alike(sb_slice_of(copy, cut), UINT64_MAX, 64);
        free(copy);
    }
    for (size_t i = 0; i < b.n * 8; i++) {
        b.p[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_taken_alike(sb_buf_slice(&b), UINT64_MAX, 64);
        b.p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t max = 0; max < 14; max++) assert_taken_alike(sb_buf_slice(&b), 1000, max);
    sb_buf_clear(&b);
    add_header(&b, UINT64_MAX - 3); /* good checksum, and the sum with the overhead wraps */
    sb_buf_add(&b, bytes, 64);
    assert_taken_alike(sb_buf_slice(&b), UINT64_MAX, 4);
    sb_buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_made_byte_by_byte_as_specified),
        cmocka_unit_test(a_whole_frame_is_ok),
        cmocka_unit_test(begin_and_end_make_the_same_frame),
        cmocka_unit_test(truncated_tail_reports_more),
        cmocka_unit_test(a_length_that_differs_from_its_checksum_is_bad_length),
        cmocka_unit_test(a_payload_that_differs_from_its_checksum_is_bad_payload),
        cmocka_unit_test(a_zero_filled_region_is_bad_length),
        cmocka_unit_test(absurd_lengths_are_told_but_never_followed),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_frame_over_the_cap_is_not_half_made_without_notice),
        cmocka_unit_test(one_flipped_bit_loses_one_record_and_no_more),
        cmocka_unit_test(two_flipped_bits_never_yield_an_untrue_payload),
        cmocka_unit_test(a_file_cut_anywhere_yields_its_whole_records),
        cmocka_unit_test(bytes_lost_or_added_anywhere_never_yield_an_untrue_payload),
        cmocka_unit_test(many_at_once_are_the_same_as_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
