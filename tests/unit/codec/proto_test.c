/* proto_test.c: the wire format is read without trust and written byte for byte. */
#include "codec/proto/proto.h"

#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 16 << 20);
    return b;
}

/* A copy of exactly n bytes in its own block, so that the sanitizer sees a read past it. */
static sb_slice exact(sb_slice s, size_t n) {
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n) memcpy(copy, s.p, n);
    return sb_slice_of(copy, n);
}

static void drop(sb_slice s) {
    free((void *)(uintptr_t)s.p);
}

/* The only field of a message given in hex. */
static sb_pb_field only_field(const char *hex) {
    static uint8_t room[256];
    sb_pb c = sb_pb_over(sb_test_bytes(room, sizeof room, hex));
    sb_pb_field f = {0};
    assert_int_equal(sb_pb_next(&c, &f), SB_PB_FIELD);
    sb_pb_field end;
    assert_int_equal(sb_pb_next(&c, &end), SB_PB_END);
    return f;
}

/* What the first step over a message in hex answers. */
static sb_pb_step first_step(const char *hex) {
    uint8_t room[1024];
    sb_slice message = sb_test_bytes(room, sizeof room, hex);
    sb_slice window = exact(message, message.n);
    sb_pb c = sb_pb_over(window);
    sb_pb_field f;
    sb_pb_step step = sb_pb_next(&c, &f);
    drop(window);
    return step;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void each_wire_type_is_read(void **state) {
    (void)state;
    sb_pb_field f = only_field("08 9601");
    assert_int_equal(f.number, 1);
    assert_int_equal(f.wire, SB_PB_VARINT);
    assert_int_equal(f.u64, 150);
    f = only_field("09 182d4454fb210940");
    assert_int_equal(f.wire, SB_PB_FIXED64);
    assert_true(sb_pb_double(&f) == 3.141592653589793);
    f = only_field("12 07 74657374696e67");
    assert_int_equal(f.number, 2);
    assert_int_equal(f.wire, SB_PB_BYTES);
    assert_slice_is(f.bytes, "testing");
    f = only_field("15 0000c03f");
    assert_int_equal(f.number, 2);
    assert_int_equal(f.wire, SB_PB_FIXED32);
    assert_true(sb_pb_float(&f) == 1.5f);
    f = only_field("10 ffffffffffffffffff01");
    assert_int_equal(sb_pb_int64(&f), -1);
    assert_int_equal(sb_pb_int32(&f), -1);
    f = only_field("12 00");
    assert_int_equal(f.bytes.n, 0);
}

static void an_empty_message_ends_at_once(void **state) {
    (void)state;
    sb_pb c = sb_pb_over((sb_slice){NULL, 0});
    sb_pb_field f;
    assert_int_equal(sb_pb_next(&c, &f), SB_PB_END);
    assert_int_equal(sb_pb_next(&c, &f), SB_PB_END);
}

static void field_numbers_reach_from_one_to_the_largest(void **state) {
    (void)state;
    assert_int_equal(only_field("f8ffffff0f 01").number, (1u << 29) - 1);
    assert_int_equal(only_field("8001 05").number, 16);
    assert_int_equal(first_step("00 01"), SB_PB_BAD);         /* number 0 */
    assert_int_equal(first_step("02 00"), SB_PB_BAD);         /* number 0, bytes */
    assert_int_equal(first_step("f8ffffff1f 01"), SB_PB_BAD); /* past 32 bits */
    assert_int_equal(first_step("808080808001 01"), SB_PB_BAD);
}

static void unknown_wire_types_are_bad(void **state) {
    (void)state;
    assert_int_equal(first_step("0e 00000000"), SB_PB_BAD);
    assert_int_equal(first_step("0f 00000000"), SB_PB_BAD);
}

static void overlong_varints_count_up_to_ten_bytes(void **state) {
    (void)state;
    assert_int_equal(only_field("08 8000").u64, 0);
    assert_int_equal(only_field("08 81808000").u64, 1);
    assert_int_equal(only_field("08 81808080808080808000").u64, 1);
    assert_int_equal(only_field("8880808000 07").number, 1);
    assert_int_equal(first_step("08 8180808080808080808000"), SB_PB_BAD); /* eleven */
    assert_int_equal(first_step("08 ffffffffffffffffffff01"), SB_PB_BAD);
    /* What does not fit in the tenth byte falls off. */
    assert_int_equal(only_field("08 ffffffffffffffffff7f").u64, UINT64_MAX);
    assert_int_equal(only_field("08 8080808080808080807e").u64, 0);
    assert_int_equal(only_field("08 80808080808080808001").u64, (uint64_t)1 << 63);
}

static void lengths_past_the_window_are_bad(void **state) {
    (void)state;
    assert_int_equal(first_step("12 01"), SB_PB_BAD);
    assert_int_equal(first_step("12 03 6161"), SB_PB_BAD);
    assert_int_equal(first_step("12 ffffffff0f 61"), SB_PB_BAD);
    assert_int_equal(first_step("12 ffffffffffffffffff01 61"), SB_PB_BAD);
    assert_int_equal(first_step("12"), SB_PB_BAD);
}

static void groups_are_stepped_over_whole(void **state) {
    (void)state;
    /* Field 1 as a group with one field of each wire type and an inner group; then field 2. */
    static const char group[] = "0b 0801 11 0102030405060708 1a 03 616263 25 01020304 2b 2c 0c";
    char with_field[200];
    size_t n = sizeof group - 1;
    memcpy(with_field, group, n);
    memcpy(with_field + n, " 1007", 6);
    sb_pb_field f = only_field(with_field);
    assert_int_equal(f.number, 2);
    assert_int_equal(f.u64, 7);
    assert_int_equal(first_step(group), SB_PB_END);
    assert_int_equal(first_step("0b 0c 0b 0c 0b 0c"), SB_PB_END);
}

static void groups_must_close_as_they_opened(void **state) {
    (void)state;
    assert_int_equal(first_step("0b"), SB_PB_BAD);            /* never closed */
    assert_int_equal(first_step("0b 14"), SB_PB_BAD);         /* closed as field 2 */
    assert_int_equal(first_step("0b 13 0c 14"), SB_PB_BAD);   /* closed crosswise */
    assert_int_equal(first_step("0c"), SB_PB_BAD);            /* closed, never opened */
    assert_int_equal(first_step("0b 00 0c"), SB_PB_BAD);      /* number 0 inside */
    assert_int_equal(first_step("0b 0e 0c"), SB_PB_BAD);      /* unknown wire type inside */
    assert_int_equal(first_step("0b 1205 61 0c"), SB_PB_BAD); /* length past the end inside */
    assert_int_equal(first_step("0b 0d 010203"), SB_PB_BAD);
    assert_int_equal(first_step("0b 09 01020304050607"), SB_PB_BAD);
}

static void groups_nest_up_to_the_limit(void **state) {
    (void)state;
    for (size_t depth = 1; depth <= SB_PB_MAX_DEPTH + 2; depth++) {
        sb_buf b = new_buf();
        for (size_t i = 0; i < depth; i++) sb_buf_add_byte(&b, 0x0b);
        for (size_t i = 0; i < depth; i++) sb_buf_add_byte(&b, 0x0c);
        sb_pb c = sb_pb_over(sb_buf_slice(&b));
        sb_pb_field f;
        assert_int_equal(sb_pb_next(&c, &f), depth <= SB_PB_MAX_DEPTH ? SB_PB_END : SB_PB_BAD);
        sb_buf_fini(&b);
    }
    /* A million of them need no stack. */
    sb_buf b = new_buf();
    for (size_t i = 0; i < 1000000; i++) sb_buf_add_byte(&b, 0x0b);
    sb_pb c = sb_pb_over(sb_buf_slice(&b));
    sb_pb_field f;
    assert_int_equal(sb_pb_next(&c, &f), SB_PB_BAD);
    sb_buf_fini(&b);
}

/* ---- hostile input --------------------------------------------------------------------------- */

/* One message with everything in it. */
static sb_buf rich_message(void) {
    sb_buf b = new_buf();
    static const double doubles[] = {1, -2, 0.5};
    static const float floats[] = {1, 2};
    sb_pb_add_double(&b, 1, 1234.5);
    sb_pb_add_int(&b, 2, -7);
    sb_pb_add_bytes(&b, 3, SB_LIT("brain.Event:2"));
    sb_buf_add(&b, "\x23\x28\x01\x2b\x2c\x24", 6); /* a group 4 with a field and a group inside */
    size_t at = sb_pb_begin(&b, 5, 10);
    sb_pb_add_float(&b, 2, 0.25f);
    sb_pb_add_packed_doubles(&b, 6, doubles, SB_COUNT(doubles));
    sb_pb_add_packed_floats(&b, 7, floats, SB_COUNT(floats));
    sb_pb_end(&b, at);
    sb_pb_add_uint(&b, 300, 1u << 20);
    return b;
}

/* Walks a message and, as guesses, all its length-delimited fields. Counts the fields. */
static size_t walk(sb_slice window, int depth, bool *bad) {
    sb_pb c = sb_pb_over(window);
    sb_pb_field f;
    size_t count = 0;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        count++;
        assert_true(f.number >= 1 && f.number < 1u << 29);
        assert_true(f.wire == 0 || f.wire == 1 || f.wire == 2 || f.wire == 5);
        static const uint32_t wires[] = {SB_PB_VARINT, SB_PB_FIXED64, SB_PB_FIXED32};
        for (size_t i = 0; i < 3; i++) {
            sb_pb_many many = sb_pb_many_of(&f, wires[i]);
            uint64_t bits;
            size_t elements = 0, counted = 0;
            sb_pb_step more;
            while ((more = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) elements++;
            if (sb_pb_many_count(&f, wires[i], &counted)) {
                if (more == SB_PB_END) assert_int_equal(counted, elements);
            } else {
                assert_int_equal(more, SB_PB_BAD);
            }
        }
        if (f.wire != SB_PB_BYTES) continue;
        assert_true(f.bytes.p >= window.p && f.bytes.p + f.bytes.n <= window.p + window.n);
        bool inner_bad = false;
        if (depth) walk(f.bytes, depth - 1, &inner_bad);
    }
    assert_true(c.p >= window.p && c.p <= window.p + window.n);
    *bad = step == SB_PB_BAD;
    return count;
}

static void a_message_cut_anywhere_gives_its_whole_fields(void **state) {
    (void)state;
    sb_buf b = rich_message();
    bool bad;
    size_t all = walk(sb_buf_slice(&b), 3, &bad), before = 0;
    assert_false(bad);
    assert_int_equal(all, 5);
    for (size_t cut = 0; cut < b.n; cut++) {
        sb_slice window = exact(sb_buf_slice(&b), cut);
        size_t count = walk(window, 3, &bad);
        assert_true(count == before || count == before + 1);
        before = count;
        drop(window);
    }
    sb_buf_fini(&b);
}

static void flipped_bits_stay_inside_the_window(void **state) {
    (void)state;
    sb_buf b = rich_message();
    for (size_t bit = 0; bit < b.n * 8; bit++) {
        sb_slice window = exact(sb_buf_slice(&b), b.n);
        ((uint8_t *)(uintptr_t)window.p)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool bad;
        walk(window, 3, &bad);
        drop(window);
    }
    sb_buf_fini(&b);
}

static void noise_stays_inside_the_window(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(1);
    for (int round = 0; round < 20000; round++) {
        uint8_t noise[64];
        size_t n = (size_t)sb_test_below(&r, sizeof noise);
        sb_test_fill(&r, noise, n);
        sb_slice window = exact(sb_slice_of(noise, n), n);
        bool bad;
        walk(window, 3, &bad);
        drop(window);
    }
}

/* ---- repeated numbers ------------------------------------------------------------------------ */

static void packed_and_single_elements_are_the_same(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint32_t wire;
        size_t count;
        uint64_t first, last;
    } rows[] = {
        {"0a 03 01 9601", SB_PB_VARINT, 2, 1, 150},
        {"08 05", SB_PB_VARINT, 1, 5, 5},
        {"0a 08 01000000 02000000", SB_PB_FIXED32, 2, 1, 2},
        {"0d 07000000", SB_PB_FIXED32, 1, 7, 7},
        {"0a 10 0100000000000000 0200000000000080", SB_PB_FIXED64, 2, 1, 0x8000000000000002u},
        {"09 0900000000000000", SB_PB_FIXED64, 1, 9, 9},
        {"0a 00", SB_PB_VARINT, 0, 0, 0},
        {"0a 00", SB_PB_FIXED64, 0, 0, 0},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_pb_field f = only_field(rows[i].hex);
        size_t count;
        assert_true(sb_pb_many_count(&f, rows[i].wire, &count));
        assert_int_equal(count, rows[i].count);
        sb_pb_many many = sb_pb_many_of(&f, rows[i].wire);
        uint64_t bits = 0;
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(sb_pb_many_next(&many, &bits), SB_PB_FIELD);
            if (k == 0) assert_int_equal(bits, rows[i].first);
        }
        assert_int_equal(bits, rows[i].last);
        assert_int_equal(sb_pb_many_next(&many, &bits), SB_PB_END);
        assert_int_equal(sb_pb_many_next(&many, &bits), SB_PB_END);
    }
}

static void elements_of_another_type_or_cut_are_bad(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint32_t wire;
    } rows[] = {
        {"08 05", SB_PB_FIXED32},
        {"0d 07000000", SB_PB_VARINT},
        {"0d 07000000", SB_PB_FIXED64},
        {"0a 03 010203", SB_PB_FIXED32},
        {"0a 07 01020304050607", SB_PB_FIXED64},
        {"0a 01 80", SB_PB_VARINT},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_pb_field f = only_field(rows[i].hex);
        size_t count;
        assert_false(sb_pb_many_count(&f, rows[i].wire, &count));
        sb_pb_many many = sb_pb_many_of(&f, rows[i].wire);
        uint64_t bits;
        assert_int_equal(sb_pb_many_next(&many, &bits), SB_PB_BAD);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void varints_have_the_right_size_at_every_border(void **state) {
    (void)state;
    uint8_t bytes[10];
    for (unsigned k = 0; k < 64; k++)
        for (int d = -1; d <= 1; d++) {
            uint64_t x = ((uint64_t)1 << k) + (uint64_t)(int64_t)d;
            size_t n = sb_pb_put_varint(bytes, x);
            assert_int_equal(n, sb_pb_varint_size(x));
            sb_pb c = sb_pb_over(sb_slice_of(bytes, n));
            uint64_t back;
            assert_true(sb_pb_varint(&c, &back));
            assert_int_equal(back, x);
            assert_ptr_equal(c.p, c.end);
            c = sb_pb_over(sb_slice_of(bytes, n - 1));
            assert_false(sb_pb_varint(&c, &back));
        }
}

static void fields_are_written_byte_for_byte(void **state) {
    (void)state;
    sb_buf b = new_buf();
    static const double doubles[] = {1, -2};
    static const float floats[] = {0.5f};
    uint8_t room[256];
    sb_pb_add_uint(&b, 1, 150);
    sb_pb_add_int(&b, 2, -1);
    sb_pb_add_float(&b, 3, 1.5f);
    sb_pb_add_double(&b, 4, 3.141592653589793);
    sb_pb_add_bytes(&b, 5, SB_LIT("testing"));
    sb_pb_add_packed_doubles(&b, 6, doubles, 2);
    sb_pb_add_packed_floats(&b, 7, floats, 1);
    sb_pb_add_uint(&b, (1u << 29) - 1, 0);
    assert_slice_equal(sb_buf_slice(&b),
                       sb_test_bytes(room, sizeof room,
                                     "08 9601  10 ffffffffffffffffff01  1d 0000c03f"
                                     "21 182d4454fb210940  2a 07 74657374696e67"
                                     "32 10 000000000000f03f 00000000000000c0"
                                     "3a 04 0000003f  f8ffffff0f 00"));
    sb_buf_fini(&b);
}

static void default_values_are_left_out_by_the_nz_forms(void **state) {
    (void)state;
    sb_buf b = new_buf();
    sb_pb_add_uint_nz(&b, 1, 0);
    sb_pb_add_int_nz(&b, 1, 0);
    sb_pb_add_float_nz(&b, 1, 0.0f);
    sb_pb_add_double_nz(&b, 1, 0.0);
    sb_pb_add_bytes_nz(&b, 1, (sb_slice){NULL, 0});
    sb_pb_add_packed_doubles(&b, 1, NULL, 0);
    sb_pb_add_packed_floats(&b, 1, NULL, 0);
    assert_int_equal(b.n, 0);
    uint8_t room[64];
    sb_pb_add_double_nz(&b, 1, -0.0);
    sb_pb_add_float_nz(&b, 1, -0.0f);
    sb_pb_add_uint_nz(&b, 1, 1);
    sb_pb_add_int_nz(&b, 1, 1);
    sb_pb_add_bytes_nz(&b, 1, SB_LIT("x"));
    sb_pb_add_bytes(&b, 1, (sb_slice){NULL, 0});
    assert_slice_equal(
        sb_buf_slice(&b),
        sb_test_bytes(room, sizeof room, "09 0000000000000080 0d 00000080 0801 0801 0a0178 0a00"));
    sb_buf_fini(&b);
}

/* Whatever length was expected, the bytes are those of a message whose length was known. */
static void a_length_is_put_right_whatever_was_expected(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 127, 128, 129, 16383, 16384, 16385, 2097151, 2097152};
    static const size_t expected[] = {0, 1, 127, 128, 16383, 16384, 3000000, SIZE_MAX};
    uint8_t *content = malloc(2097152);
    assert_non_null(content);
    sb_test_random r = sb_test_random_of(2);
    sb_test_fill(&r, content, 2097152);
    for (size_t i = 0; i < SB_COUNT(sizes); i++)
        for (size_t k = 0; k < SB_COUNT(expected); k++) {
            sb_slice body = sb_slice_of(content, sizes[i]);
            sb_buf want = new_buf(), b = new_buf();
            sb_pb_add_uint(&want, 1, 5);
            sb_pb_add_bytes(&want, 2, body);
            sb_pb_add_uint(&want, 3, 6);
            sb_pb_add_uint(&b, 1, 5);
            size_t at = sb_pb_begin(&b, 2, expected[k]);
            sb_buf_add_slice(&b, body);
            sb_pb_end(&b, at);
            sb_pb_add_uint(&b, 3, 6);
            assert_slice_equal(sb_buf_slice(&b), sb_buf_slice(&want));
            sb_buf_fini(&want);
            sb_buf_fini(&b);
        }
    free(content);
}

static void messages_nest_with_wrong_guesses_at_each_level(void **state) {
    (void)state;
    enum { DEPTH = 40 };
    for (size_t guess = 0; guess <= 20000; guess = guess * 10 + 1) {
        sb_buf b = new_buf();
        size_t at[DEPTH];
        for (uint32_t i = 0; i < DEPTH; i++) {
            at[i] = sb_pb_begin(&b, i + 1, guess);
            sb_pb_add_uint(&b, 100, i);
        }
        for (size_t i = DEPTH; i-- > 0;) sb_pb_end(&b, at[i]);
        assert_ok(sb_buf_check(&b, "it", NULL), NULL);
        sb_slice level = sb_buf_slice(&b);
        for (uint32_t i = 0; i < DEPTH; i++) {
            sb_pb c = sb_pb_over(level);
            sb_pb_field f;
            assert_int_equal(sb_pb_next(&c, &f), SB_PB_FIELD);
            assert_int_equal(f.number, i + 1);
            assert_ptr_equal(c.p, c.end);
            level = f.bytes;
            c = sb_pb_over(level);
            assert_int_equal(sb_pb_next(&c, &f), SB_PB_FIELD);
            assert_int_equal(f.u64, i);
            level = sb_slice_of(c.p, (size_t)(c.end - c.p));
        }
        sb_buf_fini(&b);
    }
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    static const double doubles[50] = {1};
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    size_t outer = sb_pb_begin(&b, 1, 0);
    for (int i = 0; i < 20; i++) {
        size_t inner = sb_pb_begin(&b, 2, 0);
        sb_pb_add_packed_doubles(&b, 3, doubles, 50);
        sb_pb_add_float(&b, 4, 1);
        sb_pb_end(&b, inner);
    }
    sb_pb_end(&b, outer);
    sb_status status = sb_buf_check(&b, "message", NULL);
    sb_buf_fini(&b);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

static void a_message_over_the_cap_fails_at_any_place(void **state) {
    (void)state;
    sb_buf want = new_buf();
    for (size_t cap = 0; cap < 400; cap++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, cap);
        size_t outer = sb_pb_begin(&b, 1, 0);
        for (int i = 0; i < 10; i++) {
            size_t inner = sb_pb_begin(&b, 2, 0);
            sb_pb_add_bytes(&b, 3, SB_LIT("0123456789abcdef"));
            sb_pb_add_double(&b, 4, 1);
            sb_pb_end(&b, inner);
        }
        sb_buf_add(&b, "\x2a\x04tail", 6); /* may end just where the buffer does */
        sb_pb_end(&b, outer);
        assert_true(b.n <= cap);
        assert_true(b.failed == SB_OK || b.failed == SB_LIMIT);
        if (b.failed == SB_OK) {
            if (want.n == 0) sb_buf_add_slice(&want, sb_buf_slice(&b));
            assert_slice_equal(sb_buf_slice(&b), sb_buf_slice(&want));
        }
        sb_buf_fini(&b);
    }
    assert_true(want.n > 0);
    sb_buf_fini(&want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wire_type_is_read),
        cmocka_unit_test(an_empty_message_ends_at_once),
        cmocka_unit_test(field_numbers_reach_from_one_to_the_largest),
        cmocka_unit_test(unknown_wire_types_are_bad),
        cmocka_unit_test(overlong_varints_count_up_to_ten_bytes),
        cmocka_unit_test(lengths_past_the_window_are_bad),
        cmocka_unit_test(groups_are_stepped_over_whole),
        cmocka_unit_test(groups_must_close_as_they_opened),
        cmocka_unit_test(groups_nest_up_to_the_limit),
        cmocka_unit_test(a_message_cut_anywhere_gives_its_whole_fields),
        cmocka_unit_test(flipped_bits_stay_inside_the_window),
        cmocka_unit_test(noise_stays_inside_the_window),
        cmocka_unit_test(packed_and_single_elements_are_the_same),
        cmocka_unit_test(elements_of_another_type_or_cut_are_bad),
        cmocka_unit_test(varints_have_the_right_size_at_every_border),
        cmocka_unit_test(fields_are_written_byte_for_byte),
        cmocka_unit_test(default_values_are_left_out_by_the_nz_forms),
        cmocka_unit_test(a_length_is_put_right_whatever_was_expected),
        cmocka_unit_test(messages_nest_with_wrong_guesses_at_each_level),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_message_over_the_cap_fails_at_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
