/* crc32c_test.c: every kernel against its plain twin, and the plain twin against known values. */
#include "codec/crc32c/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/crc32c/crc32c_int.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct kernel {
    const char *name;
    sb_crc32c_fn run; /* NULL: not on this machine */
} kernel;

#define KERNELS 5

static void list_kernels(kernel out[KERNELS]) {
    out[0] = (kernel){"slice8", sb_crc32c_slice8_kernel()};
    out[1] = (kernel){"sse42", sb_crc32c_sse42_kernel()};
    out[2] = (kernel){"sse42_wide", sb_crc32c_sse42_wide_kernel()};
    out[3] = (kernel){"armv8", sb_crc32c_armv8_kernel()};
    out[4] = (kernel){"chosen", sb_crc32c};
}

/* The polynomial division bit by bit: what even the reference twin has to agree with. */
static uint32_t bit_by_bit(uint32_t crc, const uint8_t *p, size_t n) {
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    }
    return ~crc;
}

static void known_values_come_out(void **state) {
    (void)state;
    static const uint8_t zeros[32] = {0};
    assert_int_equal(sb_crc32c(0, "123456789", 9), 0xE3069283u);
    assert_int_equal(sb_crc32c_masked("123456789", 9), 0xC78AB0E5u);
    assert_int_equal(sb_crc32c(0, zeros, 32), 0x8A9136AAu);
    assert_int_equal(sb_crc32c(0, "", 0), 0);
    assert_int_equal(sb_crc32c_masked("", 0), 0xA282EAD8u);
    assert_int_equal(sb_crc32c_masked(zeros, 8), 0x07980329u);
    static const uint8_t length24[8] = {24}, length50[8] = {50};
    assert_int_equal(sb_crc32c_masked(length24, 8), 0x224B7FA3u);
    assert_int_equal(sb_crc32c_masked(length50, 8), 0xEC561924u);
    assert_int_equal(sb_crc32c_masked("\x1a\x11"
                                      "CRC test, one two",
                                      19),
                     0x5794D08Au);
}

static void reference_divides_as_the_polynomial_says(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(1);
    uint8_t bytes[300];
    sb_test_fill(&r, bytes, sizeof bytes);
    for (size_t n = 0; n <= sizeof bytes; n++)
        assert_int_equal(sb_crc32c_ref(0, bytes, n), bit_by_bit(0, bytes, n));
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t one = (uint8_t)byte;
        assert_int_equal(sb_crc32c_ref(0x12345678u, &one, 1), bit_by_bit(0x12345678u, &one, 1));
    }
}

/* A block of exactly n bytes at the asked alignment, so that reading past it is seen. */
static void compare(const kernel *k, uint8_t *block, size_t alignment, size_t n, uint32_t start,
                    uint32_t want) {
    uint32_t got = k->run(start, block + alignment, n);
    if (got != want)
        fail_msg("%s: %08x and not %08x for %zu bytes at alignment %zu", k->name, got, want, n,
                 alignment);
}

static void kernels_agree_at_every_length_and_alignment(void **state) {
    (void)state;
    enum { LONGEST = 4096 };
    kernel kernels[KERNELS];
    list_kernels(kernels);
    sb_test_random r = sb_test_random_of(2);
    uint8_t *bytes = malloc(LONGEST);
    uint8_t *block = NULL;
    assert_non_null(bytes);
    sb_test_fill(&r, bytes, LONGEST);
    assert_int_equal(posix_memalign((void **)&block, 64, LONGEST + 16), 0);
    for (size_t alignment = 0; alignment < 16; alignment++) {
        memcpy(block + alignment, bytes, LONGEST);
        uint32_t start = (uint32_t)sb_test_u64(&r);
        uint32_t want = start;
        for (size_t n = 0; n <= LONGEST; n++) {
            if (n) want = sb_crc32c_ref(want, bytes + n - 1, 1);
            for (size_t k = 0; k < KERNELS; k++)
                if (kernels[k].run) compare(&kernels[k], block, alignment, n, start, want);
        }
    }
    free(block);
    free(bytes);
}

static void kernels_agree_on_long_inputs(void **state) {
    (void)state;
    static const size_t sizes[] = {6143,  6144,  6145,  6911,   6912,   12287, 12288,
                                   16384, 65535, 65536, 100003, 262144, 300001};
    kernel kernels[KERNELS];
    list_kernels(kernels);
    sb_test_random r = sb_test_random_of(3);
    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        uint8_t *block = malloc(sizes[i]);
        assert_non_null(block);
        sb_test_fill(&r, block, sizes[i]);
        uint32_t want = sb_crc32c_ref(7, block, sizes[i]);
        for (size_t k = 0; k < KERNELS; k++)
            if (kernels[k].run) compare(&kernels[k], block, 0, sizes[i], 7, want);
        free(block);
    }
}

static void kernels_do_not_read_past_the_end(void **state) {
    (void)state;
    kernel kernels[KERNELS];
    list_kernels(kernels);
    for (size_t n = 0; n <= 80; n++) {
        uint8_t *block = malloc(n ? n : 1); /* the sanitizer guards both ends */
        assert_non_null(block);
        memset(block, 0x5A, n);
        uint32_t want = sb_crc32c_ref(0, block, n);
        for (size_t k = 0; k < KERNELS; k++)
            if (kernels[k].run) compare(&kernels[k], block, 0, n, 0, want);
        free(block);
    }
}

static void pieces_give_the_same_as_the_whole(void **state) {
    (void)state;
    enum { SIZE = 20000 };
    kernel kernels[KERNELS];
    list_kernels(kernels);
    sb_test_random r = sb_test_random_of(4);
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    sb_test_fill(&r, bytes, SIZE);
    uint32_t whole = sb_crc32c_ref(0, bytes, SIZE);
    for (size_t k = 0; k < KERNELS; k++) {
        if (!kernels[k].run) continue;
        for (int round = 0; round < 100; round++) {
            uint32_t crc = 0;
            for (size_t at = 0; at < SIZE;) {
                size_t n = (size_t)sb_test_below(&r, 7000);
                if (n > SIZE - at) n = SIZE - at;
                crc = kernels[k].run(crc, bytes + at, n);
                at += n;
            }
            assert_int_equal(crc, whole);
        }
    }
    free(bytes);
}

static void an_empty_piece_changes_nothing(void **state) {
    (void)state;
    kernel kernels[KERNELS];
    list_kernels(kernels);
    for (size_t k = 0; k < KERNELS; k++)
        if (kernels[k].run) assert_int_equal(kernels[k].run(0xDEADBEEFu, NULL, 0), 0xDEADBEEFu);
}

static void two_checksums_join_to_that_of_the_whole(void **state) {
    (void)state;
    uint8_t bytes[4096];
    sb_test_random random = sb_test_random_of(12);
    sb_test_fill(&random, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut += cut < 70 ? 1 : 61) {
        uint32_t first = sb_crc32c(0, bytes, cut);
        uint32_t second = sb_crc32c(0, bytes + cut, sizeof bytes - cut);
        assert_int_equal(sb_crc32c_join(first, second, sizeof bytes - cut),
                         sb_crc32c(0, bytes, sizeof bytes));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_come_out),
        cmocka_unit_test(reference_divides_as_the_polynomial_says),
        cmocka_unit_test(kernels_agree_at_every_length_and_alignment),
        cmocka_unit_test(kernels_agree_on_long_inputs),
        cmocka_unit_test(kernels_do_not_read_past_the_end),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
        cmocka_unit_test(an_empty_piece_changes_nothing),
        cmocka_unit_test(two_checksums_join_to_that_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
