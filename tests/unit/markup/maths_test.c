/* maths_test.c: what is a formula, what is money, and what is code. */
#include "markup/maths.h"

#include <stdlib.h>

#include "base/slice.h"
#include "base/vec.h"
#include "markup/markdown.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

#define MARK(n) "\xee\x80\x80" n "\xee\x80\x81"

static void becomes(const char *text, const char *marked, const char *first, bool display) {
    sb_buf out;
    sb_formulas found = {0};
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_maths_take(&out, sb_slice_str(text), &found, &sb_alloc_libc), NULL);
    assert_slice_is(sb_buf_slice(&out), marked);
    assert_int_equal(found.n > 0, first != NULL);
    if (first) {
        assert_slice_is(found.items[0].tex, first);
        assert_int_equal(found.items[0].display, display);
    }
    SB_VEC_FREE(&found, &sb_alloc_libc);
    sb_buf_fini(&out);
}

static void formulas_are_taken_out(void **state) {
    (void)state;
    becomes("so $a_1 + b_1$ is", "so " MARK("0") " is", "a_1 + b_1", false);
    becomes("$x$, $y$", MARK("0") ", " MARK("1"), "x", false);
    becomes("\\(x^2\\)", MARK("0"), "x^2", false);
    becomes("$$\\frac{1}{2}\n+ 3$$", MARK("0"), "\\frac{1}{2}\n+ 3", true);
    becomes("\\[ a \\]", MARK("0"), " a ", true);
    becomes("$a \\$ b$", MARK("0"), "a \\$ b", false);
}

static void money_code_and_halves_stay(void **state) {
    (void)state;
    static const char *const same[] = {
        "it costs $5 and $6",
        "from $5 to $6.50 a day",
        "$ x $",
        "$5-$10",
        "`$x$` and ``a`$x$``",
        "```\n$x$\n```\nend",
        "~~~~\n$$x$$\n~~~~",
        "    $x$\ntext",
        "\t$x$",
        "a $x\n\ny$ b",
        "$$$$",
        "\\$x\\$",
        "$$ x",
        "\\( x",
        "",
        "$",
    };
    for (size_t i = 0; i < SB_COUNT(same); i++) becomes(same[i], same[i], NULL, false);
    becomes("``` is no fence $x$", "``` is no fence " MARK("0"), "x", false);
    becomes("`one tick $x$", "`one tick " MARK("0"), "x", false);
}

static void a_mark_comes_through_markdown_and_the_gate(void **state) {
    (void)state;
    sb_buf marked, html;
    sb_formulas found = {0};
    sb_buf_init(&marked, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_maths_take(&marked,
                            sb_slice_str("**Loss** $a_1 * b_1 * c_1$ and\n\n$$<script>x$$"), &found,
                            &sb_alloc_libc),
              NULL);
    assert_ok(sb_markdown_render(&html, sb_buf_slice(&marked), NULL, NULL), NULL);
    assert_slice_is(sb_buf_slice(&html),
                    "<p><strong>Loss</strong> " MARK("0") " and</p>\n<p>" MARK("1") "</p>");
    assert_slice_is(found.items[1].tex, "<script>x");
    SB_VEC_FREE(&found, &sb_alloc_libc);
    sb_buf_fini(&html);
    sb_buf_fini(&marked);
}

static void many_formulas_and_many_dollars_take_linear_time_and_end(void **state) {
    (void)state;
    size_t n = 1 << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    sb_buf out;
    sb_formulas found = {0};
    sb_buf_init(&out, &sb_alloc_libc, 1 << 26);
    for (size_t i = 0; i < n; i++) text[i] = "$a "[i % 3]; /* never closed */
    assert_ok(sb_maths_take(&out, sb_slice_of(text, n), &found, &sb_alloc_libc), NULL);
    assert_int_equal(found.n, 0);
    assert_int_equal(out.n, n);
    sb_buf_clear(&out);
    for (size_t i = 0; i < n; i++) text[i] = "$a$ "[i % 4];
    assert_ok(sb_maths_take(&out, sb_slice_of(text, n), &found, &sb_alloc_libc), NULL);
    assert_int_equal(found.n, SB_MATHS_MOST);
    SB_VEC_FREE(&found, &sb_alloc_libc);
    sb_buf_fini(&out);
    free(text);
}

static void any_bytes_are_kept_or_marked(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(3);
    static const char letters[] = "$$\\()[]`~\n a1";
    for (int round = 0; round < 3000; round++) {
        char text[40];
        size_t n = (size_t)sb_test_below(&random, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = letters[sb_test_below(&random, sizeof letters - 1)];
        char *copy = malloc(n ? n : 1); /* a block of its own: reading past it is seen */
        assert_non_null(copy);
        memcpy(copy, text, n);
        sb_buf out;
        sb_formulas found = {0};
        sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
        assert_ok(sb_maths_take(&out, sb_slice_of(copy, n), &found, &sb_alloc_libc), NULL);
        size_t taken = 0;
        for (size_t i = 0; i < found.n; i++) taken += found.items[i].tex.n;
        assert_true(out.n + taken <= n + 7 * found.n);
        if (found.n == 0) assert_slice_equal(sb_buf_slice(&out), sb_slice_of(copy, n));
        SB_VEC_FREE(&found, &sb_alloc_libc);
        sb_buf_fini(&out);
        free(copy);
    }
}

static sb_status take_two(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf out;
    sb_formulas found = {0};
    sb_buf_init(&out, alloc, 1 << 16);
    sb_status status = sb_maths_take(&out, sb_slice_str("$x$ and $y$"), &found, alloc);
    if (status == SB_OK) status = out.failed;
    SB_VEC_FREE(&found, alloc);
    sb_buf_fini(&out);
    return status;
}

static void memory_that_fails_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(take_two, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_taken_out),
        cmocka_unit_test(money_code_and_halves_stay),
        cmocka_unit_test(a_mark_comes_through_markdown_and_the_gate),
        cmocka_unit_test(many_formulas_and_many_dollars_take_linear_time_and_end),
        cmocka_unit_test(any_bytes_are_kept_or_marked),
        cmocka_unit_test(memory_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
