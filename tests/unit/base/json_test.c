/* json_test.c: the bytes that Python's json.dumps would write, in every layout; broken text, full
 * buffers and wrong calls included. */
#include "base/text/json.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef void (*write_fn)(sb_json *j);

/* What a function writes is, byte for byte, the text. */
static void expect(const sb_json_opts *opts, write_fn write, const char *want) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_json j;
    sb_json_init(&j, &b, opts);
    write(&j);
    assert_ok(sb_json_finish(&j, "it", NULL), NULL);
    assert_slice_is(sb_buf_slice(&b), want);
    sb_buf_fini(&b);
}

/* One value of each kind, and each kind of container empty, with one item and with more. */
static void write_all(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_key(j, SB_LIT("a"));
    sb_json_begin_array(j);
    sb_json_end_array(j);
    sb_json_key_str(j, "b");
    sb_json_begin_object(j);
    sb_json_end_object(j);
    sb_json_key_str(j, "c");
    sb_json_begin_array(j);
    sb_json_int(j, -1);
    sb_json_begin_object(j);
    sb_json_key_str(j, "d");
    sb_json_null(j);
    sb_json_end_object(j);
    sb_json_bool(j, true);
    sb_json_bool(j, false);
    sb_json_end_array(j);
    sb_json_key_str(j, "e");
    sb_json_double(j, 0.5);
    sb_json_key_str(j, "f");
    sb_json_str(j, "x");
    sb_json_key_str(j, "g");
    sb_json_raw(j, SB_LIT("[1,  2]"));
    sb_json_end_object(j);
}

static void compact_has_no_spaces(void **state) {
    (void)state;
    expect(NULL, write_all,
           "{\"a\":[],\"b\":{},\"c\":[-1,{\"d\":null},true,false],\"e\":0.5,\"f\":\"x\","
           "\"g\":[1,  2]}");
}

static void spaced_is_as_json_dumps_has_it(void **state) {
    (void)state;
    expect(&(sb_json_opts){.spaced = true}, write_all,
           "{\"a\": [], \"b\": {}, \"c\": [-1, {\"d\": null}, true, false], \"e\": 0.5, "
           "\"f\": \"x\", \"g\": [1,  2]}");
}

static void indented_is_as_json_dumps_has_it(void **state) {
    (void)state;
    static const char want[] = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    -1,\n    {\n"
                               "      \"d\": null\n    },\n    true,\n    false\n  ],\n"
                               "  \"e\": 0.5,\n  \"f\": \"x\",\n  \"g\": [1,  2]\n}";
    expect(&(sb_json_opts){.indent = 2}, write_all, want);
    expect(&(sb_json_opts){.indent = 2, .spaced = true}, write_all, want);
}

static void write_one_text(sb_json *j) {
    sb_json_str(j, "alone");
}

static void write_one_array(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_end_array(j);
}

static void one_value_may_stand_alone(void **state) {
    (void)state;
    expect(NULL, write_one_text, "\"alone\"");
    expect(&(sb_json_opts){.indent = 4}, write_one_text, "\"alone\"");
    expect(&(sb_json_opts){.indent = 4}, write_one_array, "[]");
}

/* ---- numbers ----------------------------------------------------------------------------------*/

static void write_numbers(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_int(j, INT64_MIN);
    sb_json_uint(j, UINT64_MAX);
    sb_json_double(j, 1e16);
    sb_json_double(j, (double)0.1f);
    sb_json_float(j, 0.1f);
    sb_json_double(j, -0.0);
    sb_json_end_array(j);
}

static void numbers_have_the_fewest_digits(void **state) {
    (void)state;
    expect(NULL, write_numbers,
           "[-9223372036854775808,18446744073709551615,1e+16,0.10000000149011612,0.1,-0.0]");
}

static void write_nonfinite(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_double(j, NAN);
    sb_json_double(j, INFINITY);
    sb_json_double(j, -INFINITY);
    sb_json_float(j, NAN);
    sb_json_float(j, -INFINITY);
    sb_json_end_array(j);
}

static void what_is_not_finite_is_spelled_as_asked(void **state) {
    (void)state;
    expect(NULL, write_nonfinite, "[\"NaN\",\"Infinity\",\"-Infinity\",\"NaN\",\"-Infinity\"]");
    expect(&(sb_json_opts){.nonfinite = SB_JSON_BARE}, write_nonfinite,
           "[NaN,Infinity,-Infinity,NaN,-Infinity]");
    expect(&(sb_json_opts){.nonfinite = SB_JSON_NULL}, write_nonfinite,
           "[null,null,null,null,null]");
}

/* ---- text -------------------------------------------------------------------------------------*/

static void expect_quoted(sb_slice text, const char *ascii, const char *utf8) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_json_quote(&b, text, false);
    assert_slice_is(sb_buf_slice(&b), ascii);
    sb_buf_clear(&b);
    sb_json_quote(&b, text, true);
    assert_slice_is(sb_buf_slice(&b), utf8);
    sb_buf_fini(&b);
}

static void text_is_escaped_as_python_does(void **state) {
    (void)state;
    expect_quoted(SB_LIT(""), "\"\"", "\"\"");
    expect_quoted((sb_slice){NULL, 0}, "\"\"", "\"\"");
    expect_quoted(SB_LIT("a \"b\" \\ / '"), "\"a \\\"b\\\" \\\\ / '\"", "\"a \\\"b\\\" \\\\ / '\"");
    expect_quoted(SB_LIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"", "\"\\b\\f\\n\\r\\t\"");
    expect_quoted(SB_LIT("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\\u007f\"",
                  "\"\\u0000\\u0001\\u001f\x7f\"");
    expect_quoted(SB_LIT("\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF"), "\"\\u00e9\\u20ac\\uffff\"",
                  "\"\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF\"");
    expect_quoted(SB_LIT("\xF0\x9F\x8C\x8A"), "\"\\ud83c\\udf0a\"", "\"\xF0\x9F\x8C\x8A\"");
    expect_quoted(SB_LIT("\xF4\x8F\xBF\xBF"), "\"\\udbff\\udfff\"", "\"\xF4\x8F\xBF\xBF\"");
    expect_quoted(SB_LIT("\xF0\x90\x80\x80"), "\"\\ud800\\udc00\"", "\"\xF0\x90\x80\x80\"");
}

static void bytes_that_are_no_text_are_replaced(void **state) {
    (void)state;
    expect_quoted(SB_LIT("a\xFFz"), "\"a\\ufffdz\"", "\"a\xEF\xBF\xBDz\"");
    expect_quoted(SB_LIT("\xE2\x82"), "\"\\ufffd\\ufffd\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    expect_quoted(SB_LIT("\xC3\"x"), "\"\\ufffd\\\"x\"", "\"\xEF\xBF\xBD\\\"x\"");
    expect_quoted(SB_LIT("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"",
                  "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

/* The slow way: one character after the other. */
static void quote_slowly(sb_buf *out, sb_slice s, bool utf8) {
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n;) {
        sb_slice rest = sb_slice_of(s.p + i, s.n - i);
        size_t n = sb_utf8_char(rest);
        if (n == 1 && rest.p[0] >= 0x20 && rest.p[0] < 0x7F && rest.p[0] != '"' &&
            rest.p[0] != '\\') {
            sb_buf_add_byte(out, rest.p[0]);
        } else if (n != 1 || rest.p[0] == 0x7F) {
            uint32_t c =
                n == 0   ? 0xFFFD
                : n == 1 ? 0x7F
                : n == 2 ? (rest.p[0] & 0x1Fu) << 6 | (rest.p[1] & 0x3Fu)
                : n == 3 ? (rest.p[0] & 0xFu) << 12 | (rest.p[1] & 0x3Fu) << 6 | (rest.p[2] & 0x3Fu)
                         : (rest.p[0] & 0x7u) << 18 | (rest.p[1] & 0x3Fu) << 12 |
                               (rest.p[2] & 0x3Fu) << 6 | (rest.p[3] & 0x3Fu);
            if (utf8)
                sb_buf_add(out, n ? (const void *)rest.p : "\xEF\xBF\xBD", n ? n : 3);
            else if (c >= 0x10000)
                sb_buf_printf(out, "\\u%04x\\u%04x", 0xD7C0 + (c >> 10), 0xDC00 + (c & 0x3FF));
            else
                sb_buf_printf(out, "\\u%04x", c);
        } else {
            static const char forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
            const char *form = strchr(forms, rest.p[0]);
            if (rest.p[0] && form && (form - forms) % 2 == 0)
                sb_buf_printf(out, "\\%c", form[1]);
            else
                sb_buf_printf(out, "\\u%04x", rest.p[0]);
        }
        i += n ? n : 1;
    }
    sb_buf_add_byte(out, '"');
}

static void noise_is_quoted_as_one_character_at_a_time_would_be(void **state) {
    (void)state;
    sb_test_random r = sb_test_random_of(1);
    sb_buf fast, slow;
    sb_buf_init(&fast, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&slow, &sb_alloc_libc, 1 << 20);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)sb_test_below(&r, 40);
        uint8_t *noise = malloc(n ? n : 1);
        assert_non_null(noise);
        sb_test_fill(&r, noise, n);
        for (size_t i = 0; i < n; i++) { /* mostly text, with every kind of trouble in between */
            uint64_t kind = sb_test_below(&r, 20);
            if (kind > 3) noise[i] = (uint8_t)(0x20 + noise[i] % 0x5F);
            if (kind == 0) noise[i] = (uint8_t) "\"\\\n\x7f\xE2\x82\xAC\x1f"[noise[i] % 8];
        }
        bool utf8 = round & 1;
        sb_buf_clear(&fast);
        sb_buf_clear(&slow);
        sb_json_quote(&fast, sb_slice_of(noise, n), utf8);
        quote_slowly(&slow, sb_slice_of(noise, n), utf8);
        assert_slice_equal(sb_buf_slice(&fast), sb_buf_slice(&slow));
        free(noise);
    }
    sb_buf_fini(&fast);
    sb_buf_fini(&slow);
}

static void each_byte_is_seen_at_each_place_of_a_word(void **state) {
    (void)state;
    sb_buf fast, slow;
    sb_buf_init(&fast, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&slow, &sb_alloc_libc, 1 << 20);
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < 16; at++)
            for (unsigned fill = 0; fill < 3; fill++) {
                uint8_t word[16];
                memset(word, " a~"[fill], sizeof word);
                word[at] = (uint8_t)byte;
                sb_buf_clear(&fast);
                sb_buf_clear(&slow);
                sb_json_quote(&fast, sb_slice_of(word, sizeof word), false);
                quote_slowly(&slow, sb_slice_of(word, sizeof word), false);
                assert_slice_equal(sb_buf_slice(&fast), sb_buf_slice(&slow));
            }
    sb_buf_fini(&fast);
    sb_buf_fini(&slow);
}

static void write_keys(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_key(j, SB_LIT("a\"\xC3\xA9\xFF"));
    sb_json_text(j, SB_LIT("\xC3\xA9"));
    sb_json_end_object(j);
}

static void keys_are_escaped_as_texts_are(void **state) {
    (void)state;
    expect(NULL, write_keys, "{\"a\\\"\\u00e9\\ufffd\":\"\\u00e9\"}");
    expect(&(sb_json_opts){.utf8 = true}, write_keys,
           "{\"a\\\"\xC3\xA9\xEF\xBF\xBD\":\"\xC3\xA9\"}");
}

/* ---- limits and failures ----------------------------------------------------------------------*/

static sb_status nest(uint32_t depth, bool objects) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_json j;
    sb_json_init(&j, &b, NULL);
    for (uint32_t i = 0; i < depth; i++) {
        if (objects) {
            sb_json_begin_object(&j);
            sb_json_key_str(&j, "k");
        } else {
            sb_json_begin_array(&j);
        }
    }
    sb_json_null(&j);
    for (uint32_t i = 0; i < depth; i++) {
        if (objects)
            sb_json_end_object(&j);
        else
            sb_json_end_array(&j);
    }
    sb_status status = sb_json_finish(&j, "it", NULL);
    sb_buf_fini(&b);
    return status;
}

static void nesting_too_deep_is_over_the_limit(void **state) {
    (void)state;
    for (int objects = 0; objects < 2; objects++) {
        assert_int_equal(nest(SB_JSON_MAX_DEPTH, objects), SB_OK);
        assert_int_equal(nest(SB_JSON_MAX_DEPTH + 1, objects), SB_LIMIT);
        assert_int_equal(nest(10 * SB_JSON_MAX_DEPTH, objects), SB_LIMIT);
    }
}

static void levels_used_before_are_forgotten(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_json j;
    sb_json_init(&j, &b, NULL);
    sb_json_begin_array(&j);
    for (int i = 0; i < 3; i++) {
        sb_json_begin_object(&j);
        sb_json_end_object(&j);
        sb_json_begin_array(&j);
        sb_json_int(&j, i);
        sb_json_end_array(&j);
    }
    sb_json_end_array(&j);
    assert_ok(sb_json_finish(&j, "it", NULL), NULL);
    assert_slice_is(sb_buf_slice(&b), "[{},[0],{},[1],{},[2]]");
    sb_buf_fini(&b);
}

static void a_reply_over_its_cap_says_so(void **state) {
    (void)state;
    sb_buf whole;
    sb_buf_init(&whole, &sb_alloc_libc, 1 << 20);
    sb_json j;
    sb_json_init(&j, &whole, &(sb_json_opts){.indent = 3});
    write_all(&j);
    for (size_t cap = 0; cap <= whole.n; cap++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, cap);
        sb_json_init(&j, &b, &(sb_json_opts){.indent = 3});
        write_all(&j);
        sb_err err;
        sb_status status = sb_json_finish(&j, "the reply", &err);
        assert_int_equal(status, cap < whole.n ? SB_LIMIT : SB_OK);
        /* What fitted is the start of the whole. */
        assert_true(sb_slice_starts(sb_buf_slice(&whole), sb_buf_slice(&b)));
        if (status != SB_OK) assert_non_null(strstr(err.text, "the reply"));
        sb_buf_fini(&b);
    }
    sb_buf_fini(&whole);
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    sb_json j;
    sb_json_init(&j, &b, NULL);
    sb_json_begin_array(&j);
    for (int i = 0; i < 200; i++) {
        write_all(&j);
        write_numbers(&j);
        write_nonfinite(&j);
    }
    sb_json_end_array(&j);
    sb_status status = sb_json_finish(&j, "it", NULL);
    sb_buf_fini(&b);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

/* ---- wrong calls ------------------------------------------------------------------------------*/

static void value_without_key(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_int(j, 1);
}

static void key_in_array(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_key_str(j, "k");
}

static void key_alone(sb_json *j) {
    sb_json_key_str(j, "k");
}

static void two_keys(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "k");
    sb_json_key_str(j, "k");
}

static void end_after_key(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "k");
    sb_json_end_object(j);
}

static void wrong_end(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_end_array(j);
}

static void end_of_nothing(sb_json *j) {
    sb_json_end_array(j);
}

static void two_values(sb_json *j) {
    sb_json_null(j);
    sb_json_null(j);
}

static void finish_too_early(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_finish(j, "it", NULL);
}

static void finish_nothing(sb_json *j) {
    sb_json_finish(j, "it", NULL);
}

static bool aborts(write_fn write) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) dup2(nowhere, 2);
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
        sb_json j;
        sb_json_init(&j, &b, NULL);
        write(&j);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void wrong_calls_fail_an_assertion(void **state) {
    (void)state;
#ifdef NDEBUG
    skip();
#endif
    static const write_fn wrong[] = {value_without_key, key_in_array,  key_alone,      two_keys,
                                     end_after_key,     wrong_end,     end_of_nothing, two_values,
                                     finish_too_early,  finish_nothing};
    for (size_t i = 0; i < SB_COUNT(wrong); i++)
        if (!aborts(wrong[i])) fail_msg("wrong call %zu went unnoticed", i);
    assert_false(aborts(write_all));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_has_no_spaces),
        cmocka_unit_test(spaced_is_as_json_dumps_has_it),
        cmocka_unit_test(indented_is_as_json_dumps_has_it),
        cmocka_unit_test(one_value_may_stand_alone),
        cmocka_unit_test(numbers_have_the_fewest_digits),
        cmocka_unit_test(what_is_not_finite_is_spelled_as_asked),
        cmocka_unit_test(text_is_escaped_as_python_does),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(noise_is_quoted_as_one_character_at_a_time_would_be),
        cmocka_unit_test(each_byte_is_seen_at_each_place_of_a_word),
        cmocka_unit_test(keys_are_escaped_as_texts_are),
        cmocka_unit_test(nesting_too_deep_is_over_the_limit),
        cmocka_unit_test(levels_used_before_are_forgotten),
        cmocka_unit_test(a_reply_over_its_cap_says_so),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(wrong_calls_fail_an_assertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
