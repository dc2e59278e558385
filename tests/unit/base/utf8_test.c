/* utf8_test.c: what is text, judged against an encoder and a decoder written for this test. */
#include "base/text/utf8.h"

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static size_t encode(uint8_t out[4], uint32_t c) {
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(leads[n] | c);
    return n;
}

/* A decoder that takes any well-shaped sequence and then asks whether its number is allowed. */
static size_t slow_char(const uint8_t *p, size_t n) {
    if (n == 0) return 0;
    size_t want = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (want == 0 || want > n || p[0] >= 0xF8) return 0;
    uint32_t c = want == 1 ? p[0] : p[0] & (0xFFu >> (want + 1));
    for (size_t i = 1; i < want; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[want] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0;
    return want;
}

static void every_character_is_known_by_its_length(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        uint8_t bytes[4];
        size_t n = encode(bytes, c);
        bool surrogate = c >= 0xD800 && c <= 0xDFFF;
        if (sb_utf8_char(sb_slice_of(bytes, n)) != (surrogate ? 0 : n)) fail_msg("U+%04X", c);
    }
}

static void a_cut_character_is_none(void **state) {
    (void)state;
    static const uint32_t characters[] = {0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF};
    for (size_t i = 0; i < SB_COUNT(characters); i++) {
        uint8_t bytes[4];
        size_t n = encode(bytes, characters[i]);
        for (size_t cut = 0; cut < n; cut++) {
            assert_int_equal(sb_utf8_char(sb_slice_of(bytes, cut)), 0);
            if (cut) assert_false(sb_utf8_valid(sb_slice_of(bytes, cut)));
        }
    }
}

static void every_short_sequence_is_judged_as_the_slow_decoder_does(void **state) {
    (void)state;
    for (uint32_t x = 0; x < 1u << 24; x += 1 + (x & 0x7) * 3) {
        uint8_t bytes[4] = {(uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x, 0x80};
        for (size_t n = 1; n <= 4; n++)
            if (sb_utf8_char(sb_slice_of(bytes, n)) != slow_char(bytes, n))
                fail_msg("%02x %02x %02x %02x, %zu bytes", bytes[0], bytes[1], bytes[2], bytes[3],
                         n);
    }
}

static void one_bad_byte_is_found_at_every_place(void **state) {
    (void)state;
    uint8_t text[40];
    memset(text, 'a', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++) assert_true(sb_utf8_valid(sb_slice_of(text, n)));
    for (size_t at = 0; at < sizeof text; at++)
        for (unsigned bad = 0x80; bad <= 0xFF; bad++) {
            text[at] = (uint8_t)bad;
            assert_false(sb_utf8_valid(sb_slice_of(text, sizeof text)));
            assert_true(sb_utf8_valid(sb_slice_of(text, at)));
            text[at] = 'a';
        }
}

static void nothing_is_valid_text(void **state) {
    (void)state;
    assert_true(sb_utf8_valid((sb_slice){NULL, 0}));
}

static void valid_text_is_not_changed_by_repair(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_slice text = SB_LIT("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A end\0behind");
    sb_utf8_repair(&b, text);
    assert_slice_equal(sb_buf_slice(&b), text);
    sb_buf_fini(&b);
}

static void each_bad_byte_becomes_one_replacement(void **state) {
    (void)state;
    static const struct {
        const char *in;
        const char *out;
    } rows[] = {
        {"a\xFFz", "a\xEF\xBF\xBDz"},
        {"\x80", "\xEF\xBF\xBD"},
        {"ab\xC3", "ab\xEF\xBF\xBD"},
        {"\xC3(", "\xEF\xBF\xBD("},
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"", ""},
    };
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_buf_clear(&b);
        sb_utf8_repair(&b, sb_slice_str(rows[i].in));
        assert_slice_is(sb_buf_slice(&b), rows[i].out);
    }
    sb_buf_fini(&b);
}

static void repaired_noise_is_valid_and_keeps_its_good_parts(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(1);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    for (int round = 0; round < 3000; round++) {
        uint8_t noise[64];
        size_t n = (size_t)sb_test_below(&r, sizeof noise);
        sb_test_fill(&r, noise, n);
        if (round % 2)
            for (size_t i = 0; i < n; i++)
                if (sb_test_below(&r, 4)) noise[i] &= 0x7F;
        sb_buf_clear(&b);
        sb_utf8_repair(&b, sb_slice_of(noise, n));
        assert_true(sb_utf8_valid(sb_buf_slice(&b)));
        assert_int_equal(sb_utf8_valid(sb_slice_of(noise, n)),
                         sb_slice_eq(sb_buf_slice(&b), sb_slice_of(noise, n)));
    }
    sb_buf_fini(&b);
}

static void spelled_bytes_can_be_told_apart(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 10);
    sb_utf8_spell(&b, SB_LIT("a\xff\xc3\xa9\x80z"));
    assert_slice_is(sb_buf_slice(&b), "a\xef\xbf\xbd"
                                      "ff\xc3\xa9\xef\xbf\xbd"
                                      "80z");
    assert_true(sb_utf8_valid(sb_buf_slice(&b)));
    sb_buf_fini(&b);
}

static sb_status repair(const sb_alloc *alloc, void *ud) {
    (void)ud;
    uint8_t bad[500];
    memset(bad, 0xFF, sizeof bad);
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    sb_utf8_repair(&b, sb_slice_of(bad, sizeof bad));
    sb_status status = sb_buf_check(&b, "text", NULL);
    sb_buf_fini(&b);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(repair, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_known_by_its_length),
        cmocka_unit_test(a_cut_character_is_none),
        cmocka_unit_test(every_short_sequence_is_judged_as_the_slow_decoder_does),
        cmocka_unit_test(one_bad_byte_is_found_at_every_place),
        cmocka_unit_test(nothing_is_valid_text),
        cmocka_unit_test(valid_text_is_not_changed_by_repair),
        cmocka_unit_test(each_bad_byte_becomes_one_replacement),
        cmocka_unit_test(repaired_noise_is_valid_and_keeps_its_good_parts),
        cmocka_unit_test(spelled_bytes_can_be_told_apart),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
