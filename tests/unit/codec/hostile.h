/* hostile.h: damages good input in every way that tests of parsers share.
 *
 * Each damaged input lies in a block of exactly its size, so that the sanitizer sees one byte too
 * many read. */
#ifndef SB_TESTS_CODEC_HOSTILE_H
#define SB_TESTS_CODEC_HOSTILE_H

#include <stdlib.h>

#include "support/test.h"

typedef void (*hostile_fn)(sb_slice input);

/* The input cut short at every offset, the whole included. */
static inline void hostile_cuts(sb_slice input, hostile_fn fn) {
    for (size_t n = 0; n <= input.n; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        if (n) memcpy(copy, input.p, n);
        fn(sb_slice_of(copy, n));
        free(copy);
    }
}

/* The input with each bit flipped, and each byte set to the values that lengths like least. */
static inline void hostile_flips(sb_slice input, hostile_fn fn) {
    static const uint8_t nasty[] = {0x00, 0x7F, 0x80, 0xFF};
    uint8_t *copy = malloc(input.n ? input.n : 1);
    assert_non_null(copy);
    if (input.n) memcpy(copy, input.p, input.n);
    for (size_t i = 0; i < input.n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (uint8_t)(input.p[i] ^ (1u << bit));
            fn(sb_slice_of(copy, input.n));
        }
        for (size_t k = 0; k < sizeof nasty; k++) {
            copy[i] = nasty[k];
            fn(sb_slice_of(copy, input.n));
        }
        copy[i] = input.p[i];
    }
    free(copy);
}

/* Random bytes of all small lengths, the same in every run. */
static inline void hostile_noise(uint64_t seed, int rounds, hostile_fn fn) {
    sb_test_random random = sb_test_random_of(seed);
    for (int i = 0; i < rounds; i++) {
        size_t n = (size_t)sb_test_below(&random, 48);
        uint8_t *bytes = malloc(n ? n : 1);
        assert_non_null(bytes);
        sb_test_fill(&random, bytes, n);
        fn(sb_slice_of(bytes, n));
        free(bytes);
    }
}

#endif
