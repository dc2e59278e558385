/* unicode_word_test.c: word characters of several scripts, and the edges of the table. */
#include "base/text/unicode_word.h"

#include "support/test.h"

#include "base/banned.h"

static void ascii_words_are_letters_digits_and_underscore(void **state) {
    const char *word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    size_t found = 0;
    (void)state;
    for (uint32_t c = 0; c < 0x80; c++) found += sb_unicode_word(c);
    assert_int_equal(found, strlen(word));
    for (const char *c = word; *c; c++) assert_true(sb_unicode_word((uint32_t)*c));
}

static void letters_and_numbers_of_all_scripts_belong(void **state) {
    static const uint32_t yes[] = {0xaa,    0xb2,    0xbd,   0xe9,   0x3b1,  0x416,
                                   0x660,   0x2160,  0x2460, 0x3042, 0x4e2d, 0xac00,
                                   0x20000, 0x1d400, 0x9fff, 0xfb00, 0x0e33};
    static const uint32_t no[] = {0xa0,   0xa9,    0xd7,   0xf7,     0x300,    0x2014,    0x20ac,
                                  0x3000, 0x1f600, 0xe000, 0x10ffff, 0x110000, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < SB_COUNT(yes); i++) assert_true(sb_unicode_word(yes[i]));
    for (size_t i = 0; i < SB_COUNT(no); i++) assert_false(sb_unicode_word(no[i]));
}

/* What Python counts with the same Unicode version. */
static void as_many_characters_as_python_counts(void **state) {
    uint32_t count = 0;
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) count += sb_unicode_word(c);
    assert_int_equal(count, 133548);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_words_are_letters_digits_and_underscore),
        cmocka_unit_test(letters_and_numbers_of_all_scripts_belong),
        cmocka_unit_test(as_many_characters_as_python_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
