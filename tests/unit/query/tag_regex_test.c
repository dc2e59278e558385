/* Patterns as Python's re has them: every row was asked of Python 3.11. */
#include "query/tag_regex.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/fault_alloc.h"
#include "support/test.h"

enum { NO, YES, BAD };

static const struct {
    const char *pattern, *text;
    int want; /* of re.match(pattern, text) */
} cases[] = {
#include "unit/query/tag_regex_cases.def"
};

static void patterns_mean_what_python_means(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_tag_regex *r = NULL;
        sb_err err = {0};
        bool matches = false;
        sb_status status =
            sb_tag_regex_new(&r, &sb_alloc_libc, sb_slice_str(cases[i].pattern), NULL, &err);
        int got = BAD;
        if (status == SB_OK) {
            assert_ok(sb_tag_regex_match(r, sb_slice_str(cases[i].text), &matches, &err), &err);
            got = matches ? YES : NO;
        } else {
            assert_int_equal(status, SB_INVALID);
            assert_true(err.text[0] != 0);
        }
        if (got != cases[i].want)
            fail_msg("/%s/ on \"%s\": %d, Python says %d (%s)", cases[i].pattern, cases[i].text,
                     got, cases[i].want, err.text);
        sb_tag_regex_free(r);
    }
}

static void empty_and_broken_patterns_are_refused(void **state) {
    (void)state;
    sb_tag_regex *r;
    sb_err err;
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT(""), NULL, &err), SB_INVALID);
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT("a\xff"), NULL, &err), SB_INVALID);
    sb_regex_limits small = sb_regex_limits_default;
    small.pattern = 3;
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT("abcd"), &small, &err),
                     SB_INVALID);
    sb_tag_regex_free(NULL);
}

static void tags_may_hold_any_bytes(void **state) {
    (void)state;
    sb_tag_regex *r;
    bool matches;
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT("lo.*s"), NULL, NULL), SB_OK);
    assert_int_equal(sb_tag_regex_match(r, SB_LIT("loss\xff\xfe"), &matches, NULL), SB_OK);
    assert_true(matches);
    assert_int_equal(sb_tag_regex_match(r, SB_LIT("\xff"), &matches, NULL), SB_OK);
    assert_false(matches);
    assert_int_equal(sb_tag_regex_match(r, (sb_slice){NULL, 0}, &matches, NULL), SB_OK);
    assert_false(matches);
    sb_tag_regex_free(r);
}

static void all_matches_of_a_pattern_have_one_limit(void **state) {
    (void)state;
    sb_tag_regex *r;
    bool matches;
    sb_regex_limits limits = sb_regex_limits_default;
    limits.match = 100000;
    limits.total = 1000000;
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT("(a+)+$"), &limits, NULL), SB_OK);
    /* 2^12 ways to split the letters: more than the first thousand steps, fewer than the limit. */
    int answered = 0;
    while (answered < 1000 &&
           sb_tag_regex_match(r, SB_LIT("aaaaaaaaaaaa-"), &matches, NULL) == SB_OK)
        answered++;
    assert_in_range(answered, 1, 100);
    /* What needs few steps is still answered. */
    assert_int_equal(sb_tag_regex_match(r, SB_LIT("aaa"), &matches, NULL), SB_OK);
    assert_true(matches);
    sb_tag_regex_free(r);
}

static void patterns_that_try_for_ever_give_up(void **state) {
    (void)state;
    sb_tag_regex *r;
    sb_err err;
    bool matches;
    assert_int_equal(sb_tag_regex_new(&r, &sb_alloc_libc, SB_LIT("(a|aa)+$"), NULL, NULL), SB_OK);
    assert_int_equal(sb_tag_regex_match(r,
                                        SB_LIT("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
                                        &matches, &err),
                     SB_LIMIT);
    sb_tag_regex_free(r);
}

static void nothing_that_was_typed_does_harm(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(9);
    static const char alphabet[] = "\\()[]{}?*+.^$|,-:<>=!#PiamsuLx019AbZdwvnNuU\"' a\n\xc3\xa9";
    for (int round = 0; round < 20000; round++) {
        char pattern[24];
        size_t n = 1 + (size_t)sb_test_below(&r, sizeof pattern - 1);
        for (size_t i = 0; i < n; i++)
            pattern[i] = alphabet[sb_test_below(&r, sizeof alphabet - 1)];
        uint8_t *exact = malloc(n);
        memcpy(exact, pattern, n);
        sb_tag_regex *regex;
        bool matches;
        if (sb_tag_regex_new(&regex, &sb_alloc_libc, sb_slice_of(exact, n), NULL, NULL) == SB_OK) {
            sb_tag_regex_match(regex, SB_LIT("loss/a1 \xc3\xa9"), &matches, NULL);
            sb_tag_regex_free(regex);
        }
        free(exact);
    }
}

static size_t count_of(const char *pattern, bool is_literal, bool any_case, sb_slice text) {
    sb_tag_regex *r;
    sb_err err = {0};
    assert_ok(sb_tag_regex_new_find(&r, &sb_alloc_libc, sb_slice_str(pattern), is_literal, any_case,
                                    NULL, &err),
              &err);
    size_t n = 0, begin, end = 0;
    sb_status status;
    while ((status = sb_tag_regex_find(r, text, end, NULL, &begin, &end, &err)) == SB_OK) {
        assert_true(begin < end && end <= text.n);
        n++;
    }
    assert_int_equal(status, SB_NOT_FOUND);
    sb_tag_regex_free(r);
    return n;
}

static void places_in_texts_are_found(void **state) {
    (void)state;
    sb_slice text =
        SB_LIT("The Lighthouse; a lighthouse. a.b \xff\xe7\x81\xaf\xe5\xa1\x94 \xc3\x89t\xc3\xa9");
    assert_int_equal(count_of("lighthouse", true, true, text), 2);
    assert_int_equal(count_of("lighthouse", true, false, text), 1);
    assert_int_equal(count_of("a.b", true, false, text), 1);
    assert_int_equal(count_of("l\\w+e", false, true, text), 2);
    assert_int_equal(count_of("x*", false, false, text), 0); /* nothing is no place */
    assert_int_equal(count_of("\xe7\x81\xaf", true, false, text), 1);
    assert_int_equal(count_of("\xc3\xa9t\xc3\x89", true, true, text), 1);
    assert_int_equal(count_of("^The", false, false, text), 1);
    assert_int_equal(count_of("a", true, false, SB_LIT("")), 0);
    sb_tag_regex *r;
    assert_int_equal(sb_tag_regex_new_find(&r, &sb_alloc_libc, SB_LIT(""), true, false, NULL, NULL),
                     SB_INVALID);
}

/* Places in every chunk and across their ends, each once; characters of three bytes all over. */
static void long_texts_are_looked_through_in_chunks(void **state) {
    (void)state;
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 24);
    size_t expected = 0;
    while (text.n < 1 << 20) {
        if (text.n % 997 < 12) {
            sb_buf_add_str(&text, "needle");
            expected++;
        }
        sb_buf_add_str(&text, "\xe7\x81\xaf\xe5\xa1\x94 ");
    }
    assert_true(expected > 100);
    assert_int_equal(count_of("needle", true, true, sb_buf_slice(&text)), expected);
    assert_int_equal(count_of("ne+d[l]e", false, false, sb_buf_slice(&text)), expected);
    sb_buf_fini(&text);
}

static bool is_late(void *ud) {
    return ++*(int *)ud > 3;
}

static void a_search_that_tries_for_ever_gives_up(void **state) {
    (void)state;
    enum { n = 200000 };
    static uint8_t text[n];
    memset(text, 'a', n);
    sb_tag_regex *r;
    size_t begin, end;
    assert_ok(
        sb_tag_regex_new_find(&r, &sb_alloc_libc, SB_LIT("(a+a+)+[bc]"), false, false, NULL, NULL),
        NULL);
    assert_int_equal(sb_tag_regex_find(r, sb_slice_of(text, n), 0, NULL, &begin, &end, NULL),
                     SB_LIMIT);
    int asked = 0;
    sb_budget budget = {is_late, &asked};
    asked = 3;
    assert_int_equal(sb_tag_regex_find(r, sb_slice_of(text, n), 0, &budget, &begin, &end, NULL),
                     SB_TIMEOUT);
    sb_tag_regex_free(r);
}

static sb_status compile_with(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_tag_regex *r;
    bool matches;
    sb_status status =
        sb_tag_regex_new(&r, alloc, SB_LIT("(?i)(train|val)/[^/]+/lo{2,}s*"), NULL, NULL);
    if (status != SB_OK) return status;
    status = sb_tag_regex_match(r, SB_LIT("train/x/looss"), &matches, NULL);
    sb_tag_regex_free(r);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    sb_fault_alloc_sweep(compile_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_mean_what_python_means),
        cmocka_unit_test(empty_and_broken_patterns_are_refused),
        cmocka_unit_test(tags_may_hold_any_bytes),
        cmocka_unit_test(all_matches_of_a_pattern_have_one_limit),
        cmocka_unit_test(patterns_that_try_for_ever_give_up),
        cmocka_unit_test(nothing_that_was_typed_does_harm),
        cmocka_unit_test(places_in_texts_are_found),
        cmocka_unit_test(long_texts_are_looked_through_in_chunks),
        cmocka_unit_test(a_search_that_tries_for_ever_gives_up),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
