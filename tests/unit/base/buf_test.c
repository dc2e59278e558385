/* buf_test.c: a buffer keeps what it was given, stops at its cap and remembers its first failure.
 */
#include "base/buf.h"

#include <stdlib.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static void bytes_come_out_as_they_went_in(void **state) {
    (void)state;
    enum { TOTAL = 50000 };
    sb_test_random r = sb_test_random_of(1);
    uint8_t *model = malloc(TOTAL);
    assert_non_null(model);
    sb_test_fill(&r, model, TOTAL);
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_buf b;
    sb_buf_init(&b, &f.alloc, SIZE_MAX);
    for (size_t at = 0; at < TOTAL;) {
        size_t n = (size_t)sb_test_below(&r, 300);
        if (n > TOTAL - at) n = TOTAL - at;
        if (n == 1)
            sb_buf_add_byte(&b, model[at]);
        else if (n % 2)
            sb_buf_add(&b, model + at, n);
        else
            sb_buf_add_slice(&b, sb_slice_of(model + at, n));
        at += n;
    }
    assert_slice_equal(sb_buf_slice(&b), sb_slice_of(model, TOTAL));
    assert_ok(sb_buf_check(&b, "it", NULL), NULL);
    sb_buf_fini(&b);
    sb_fault_alloc_fini(&f);
    free(model);
}

static void text_is_appended_without_its_nul(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 4096);
    sb_buf_add_str(&b, "steps: ");
    sb_buf_printf(&b, "%d of %s", 12, "many");
    sb_buf_printf(&b, "%s", "");
    sb_buf_add_str(&b, "");
    assert_slice_is(sb_buf_slice(&b), "steps: 12 of many");
    sb_buf_fini(&b);
}

static void long_formatted_text_grows_the_buffer(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 4096);
    sb_buf_printf(&b, "%01000d|", 7);
    assert_int_equal(b.n, 1001);
    assert_int_equal(b.p[0], '0');
    assert_int_equal(b.p[999], '7');
    assert_int_equal(b.p[1000], '|');
    sb_buf_fini(&b);
}

static void nothing_passes_the_cap(void **state) {
    (void)state;
    static const size_t caps[] = {0, 1, 7, 255, 256, 257, 1000};
    for (size_t i = 0; i < SB_COUNT(caps); i++) {
        sb_fault_alloc f;
        sb_fault_alloc_init(&f);
        sb_buf b;
        sb_buf_init(&b, &f.alloc, caps[i]);
        for (size_t k = 0; k < caps[i]; k++) sb_buf_add_byte(&b, 1);
        assert_int_equal(b.n, caps[i]);
        assert_int_equal(b.failed, SB_OK);
        assert_true(f.peak_bytes <= 2 * caps[i]);
        sb_buf_add_byte(&b, 2);
        assert_int_equal(b.n, caps[i]);
        sb_err err;
        assert_int_equal(sb_buf_check(&b, "a reply", &err), SB_LIMIT);
        assert_non_null(strstr(err.text, "a reply"));
        sb_buf_fini(&b);
        sb_fault_alloc_fini(&f);
    }
}

static void a_size_near_the_end_of_memory_is_over_the_limit(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_buf_add_str(&b, "x");
    assert_false(sb_buf_reserve(&b, SIZE_MAX));
    assert_int_equal(b.failed, SB_LIMIT);
    sb_buf_fini(&b);
}

static void after_a_failure_appends_do_nothing_until_cleared(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_buf b;
    sb_buf_init(&b, &f.alloc, 1 << 20);
    sb_buf_add_str(&b, "kept");
    sb_fault_alloc_fail_at(&f, 1, false);
    char large[1000] = {0};
    sb_buf_add(&b, large, sizeof large); /* has to grow, and cannot */
    sb_buf_add_byte(&b, 'x');            /* would fit */
    sb_buf_printf(&b, "y");
    sb_buf_add_str(&b, "z");
    assert_slice_is(sb_buf_slice(&b), "kept");
    sb_err err;
    assert_int_equal(sb_buf_check(&b, "a record", &err), SB_NOMEM);
    assert_string_equal(err.text, "out of memory for a record");
    sb_buf_clear(&b);
    sb_buf_add(&b, large, sizeof large);
    assert_int_equal(b.n, sizeof large);
    assert_ok(sb_buf_check(&b, "a record", &err), &err);
    sb_buf_fini(&b);
    sb_fault_alloc_fini(&f);
}

static void clearing_keeps_the_memory(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_buf b;
    sb_buf_init(&b, &f.alloc, 1 << 20);
    assert_true(sb_buf_reserve(&b, 5000));
    uint64_t before = f.calls;
    for (int round = 0; round < 10; round++) {
        sb_buf_clear(&b);
        for (int i = 0; i < 5000; i++) sb_buf_add_byte(&b, (uint8_t)i);
    }
    assert_int_equal(f.calls, before);
    sb_buf_fini(&b);
    sb_buf_fini(&b); /* twice is harmless */
    sb_fault_alloc_fini(&f);
}

static void adding_nothing_from_nowhere_is_fine(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 10);
    sb_buf_add(&b, NULL, 0);
    sb_buf_add_slice(&b, (sb_slice){NULL, 0});
    assert_int_equal(b.n, 0);
    assert_null(b.p);
    assert_ok(sb_buf_check(&b, "it", NULL), NULL);
    sb_buf_fini(&b);
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    for (int i = 0; i < 2000; i++) {
        sb_buf_add_byte(&b, (uint8_t)i);
        sb_buf_printf(&b, "%d", i);
    }
    sb_status status = sb_buf_check(&b, "it", NULL);
    sb_buf_fini(&b);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_out_as_they_went_in),
        cmocka_unit_test(text_is_appended_without_its_nul),
        cmocka_unit_test(long_formatted_text_grows_the_buffer),
        cmocka_unit_test(nothing_passes_the_cap),
        cmocka_unit_test(a_size_near_the_end_of_memory_is_over_the_limit),
        cmocka_unit_test(after_a_failure_appends_do_nothing_until_cleared),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(adding_nothing_from_nowhere_is_fine),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
