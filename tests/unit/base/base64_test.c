/* base64_test.c: the vectors of RFC 4648, both alphabets, and text that is no base64. */
#include "base/text/base64.h"

#include <stdio.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static const struct {
    const char *bytes, *padded, *for_url;
} vectors[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xef\xbe", "++++", "----"},
    {"\xff\xff\xfe\xff", "///+/w==", "___-_w"},
};

static void bytes_become_the_text_of_the_standard(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(vectors); i++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 64);
        sb_buf_add_str(&b, ">");
        sb_base64_add(&b, sb_slice_str(vectors[i].bytes), SB_BASE64);
        sb_buf_add_str(&b, " ");
        sb_base64_add(&b, sb_slice_str(vectors[i].bytes), SB_BASE64_URL);
        char expected[64];
        snprintf(expected, sizeof expected, ">%s %s", vectors[i].padded, vectors[i].for_url);
        assert_slice_is(sb_buf_slice(&b), expected);
        sb_buf_fini(&b);
    }
}

static void text_becomes_the_bytes_again_padded_or_not(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(vectors); i++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 64);
        assert_true(sb_base64_read(&b, sb_slice_str(vectors[i].padded)));
        assert_slice_is(sb_buf_slice(&b), vectors[i].bytes);
        sb_buf_clear(&b);
        assert_true(sb_base64_read(&b, sb_slice_str(vectors[i].for_url)));
        assert_slice_is(sb_buf_slice(&b), vectors[i].bytes);
        sb_buf_fini(&b);
    }
}

static void random_bytes_come_back_at_every_length(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(64);
    uint8_t bytes[100];
    sb_test_fill(&r, bytes, sizeof bytes);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        sb_buf text, back;
        sb_buf_init(&text, &sb_alloc_libc, (n + 2) / 3 * 4); /* exactly what it takes */
        sb_buf_init(&back, &sb_alloc_libc, n);
        sb_base64_add(&text, sb_slice_of(bytes, n), n % 2 ? SB_BASE64 : SB_BASE64_URL);
        assert_int_equal(text.failed, SB_OK);
        assert_true(sb_base64_read(&back, sb_buf_slice(&text)));
        assert_slice_equal(sb_buf_slice(&back), sb_slice_of(bytes, n));
        sb_buf_fini(&text);
        sb_buf_fini(&back);
    }
}

static void what_is_no_base64_appends_nothing(void **state) {
    (void)state;
    static const char *const wrong[] = {"Z", "Zm9vY", "Zm 9", "Zm9v\n", "Z=g=", "Zg*=", "\xc3\xa4"};
    for (size_t i = 0; i < SB_COUNT(wrong); i++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 64);
        sb_buf_add_str(&b, "kept");
        assert_false(sb_base64_read(&b, sb_slice_str(wrong[i])));
        assert_slice_is(sb_buf_slice(&b), "kept");
        sb_buf_fini(&b);
    }
}

static void the_cap_of_the_buffer_holds(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 7);
    sb_base64_add(&b, SB_LIT("four"), SB_BASE64);
    assert_int_equal(b.failed, SB_LIMIT);
    sb_buf_clear(&b);
    assert_false(sb_base64_read(&b, SB_LIT("Zm9vYmFyZm9v")));
    assert_int_equal(b.failed, SB_LIMIT);
    assert_int_equal(b.n, 0);
    sb_buf_fini(&b);
}

static sb_status there_and_back(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf text, back;
    sb_buf_init(&text, alloc, 64);
    sb_buf_init(&back, alloc, 64);
    sb_base64_add(&text, SB_LIT("foobar"), SB_BASE64);
    bool ok = text.failed == SB_OK && sb_base64_read(&back, sb_buf_slice(&text));
    sb_buf_fini(&text);
    sb_buf_fini(&back);
    return ok ? SB_OK : SB_NOMEM;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(there_and_back, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_the_text_of_the_standard),
        cmocka_unit_test(text_becomes_the_bytes_again_padded_or_not),
        cmocka_unit_test(random_bytes_come_back_at_every_length),
        cmocka_unit_test(what_is_no_base64_appends_nothing),
        cmocka_unit_test(the_cap_of_the_buffer_holds),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
