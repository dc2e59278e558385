/* fingerprint_test.c: names of bytes: as published for xxh3, and another under another seed. */
#include "base/fingerprint.h"

#include "base/slice.h"
#include "support/test.h"
#include "base/banned.h"

static void no_bytes_have_the_published_name(void **state) {
    (void)state;
    char text[SB_FINGERPRINT_TEXT];
    sb_fingerprint((sb_slice){NULL, 0}, 0, text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
}

static void names_differ_by_one_bit_and_by_seed(void **state) {
    (void)state;
    uint8_t bytes[1000] = {0};
    char one[SB_FINGERPRINT_TEXT], again[SB_FINGERPRINT_TEXT], other[SB_FINGERPRINT_TEXT];
    sb_fingerprint(sb_slice_of(bytes, sizeof bytes), 7, one);
    sb_fingerprint(sb_slice_of(bytes, sizeof bytes), 7, again);
    assert_string_equal(one, again);
    sb_fingerprint(sb_slice_of(bytes, sizeof bytes), 8, other);
    assert_string_not_equal(one, other);
    bytes[999] ^= 1;
    sb_fingerprint(sb_slice_of(bytes, sizeof bytes), 7, other);
    assert_string_not_equal(one, other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bytes_have_the_published_name),
        cmocka_unit_test(names_differ_by_one_bit_and_by_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
