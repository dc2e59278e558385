/* negotiate_test.c: codings, entity tags, ranges and dates, by the rules of RFC 9110. */
#include "server/http/negotiate.h"

#include <stdlib.h>

#include "base/slice.h"
#include "server/http/text.h"
#include "support/test.h"
#include "base/banned.h"

#define ALL (SB_CODING_GZIP | SB_CODING_ZSTD | SB_CODING_BR)
#define DYNAMIC (SB_CODING_GZIP | SB_CODING_ZSTD)

static void chosen(const char *header, unsigned offered, sb_coding expected) {
    sb_coding got = sb_accept_coding(sb_slice_str(header), offered);
    if (got != expected) fail_msg("'%s' gave %d, expected %d", header, (int)got, (int)expected);
}

static void the_best_coding_that_both_know_is_chosen(void **state) {
    (void)state;
    chosen(NULL, ALL, SB_CODING_IDENTITY);
    chosen("", ALL, SB_CODING_IDENTITY);
    chosen("gzip, deflate, br, zstd", ALL, SB_CODING_BR);
    chosen("gzip, deflate, br, zstd", DYNAMIC, SB_CODING_ZSTD);
    chosen("gzip, deflate", DYNAMIC, SB_CODING_GZIP);
    chosen("deflate", ALL, SB_CODING_IDENTITY);
    chosen("GZip", DYNAMIC, SB_CODING_GZIP);
    chosen("x-gzip", DYNAMIC, SB_CODING_GZIP);
    chosen("*", DYNAMIC, SB_CODING_ZSTD);
    chosen("identity", ALL, SB_CODING_IDENTITY);
    chosen("gzip", SB_CODING_BR, SB_CODING_IDENTITY);
    chosen("gzip", 0, SB_CODING_IDENTITY);
}

static void quality_values_decide(void **state) {
    (void)state;
    chosen("gzip;q=1.0", DYNAMIC, SB_CODING_GZIP);
    chosen("gzip;q=0", DYNAMIC, SB_CODING_IDENTITY);
    chosen("gzip;q=0.0", DYNAMIC, SB_CODING_IDENTITY);
    chosen("gzip;q=0.001", DYNAMIC, SB_CODING_GZIP);
    chosen("gzip;q=0.9, zstd;q=0.8", DYNAMIC, SB_CODING_GZIP);
    chosen("gzip;q=0.8, zstd;q=0.80", DYNAMIC, SB_CODING_ZSTD);
    chosen("gzip ; Q=0.5 , zstd; q = 0.4", DYNAMIC, SB_CODING_GZIP);
    chosen("*;q=0.5, zstd;q=0", DYNAMIC, SB_CODING_GZIP);
    chosen("*;q=0", DYNAMIC, SB_CODING_IDENTITY);
    chosen("identity;q=1, gzip;q=0.5", DYNAMIC, SB_CODING_IDENTITY);
    chosen("identity;q=0.5, gzip;q=0.5", DYNAMIC, SB_CODING_GZIP);
    chosen("identity;q=0, deflate", DYNAMIC, SB_CODING_IDENTITY);
    chosen("gzip;q=0, gzip", DYNAMIC, SB_CODING_IDENTITY); /* the first word counts */
}

static void nonsense_is_as_if_it_was_not_sent(void **state) {
    (void)state;
    static const char *const bad[] = {
        "gzip;q=2",   "gzip;q=-1",   "gzip;q=",      "gzip;q",       "gzip;x=1",
        "gzip;q=1.5", "gzip;q=0.5a", "gzip;q=00000", "gzip;q=.5",    "gzip;q=1,",
        ";;;",        ",,,",         "gzi",          "gzipp",        "\"gzip",
        "g zip",      "gzip;",       "q=1",          "gzip;q=1.001", "gzip;q=0,5",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_coding got = sb_accept_coding(sb_slice_str(bad[i]), SB_CODING_GZIP);
        bool is_good = strcmp(bad[i], "gzip;q=1,") == 0;
        assert_int_equal(got, is_good ? SB_CODING_GZIP : SB_CODING_IDENTITY);
    }
}

static void random_headers_are_survived(void **state) {
    (void)state;
    static const char alphabet[] = "gzipbrstd*;q=01.,- \t\"W/bytes";
    sb_test_random random = sb_test_random_of(11);
    for (int round = 0; round < 50000; round++) {
        size_t n = sb_test_below(&random, 33);
        uint8_t *text = malloc(n ? n : 1);
        for (size_t i = 0; i < n; i++)
            text[i] = (uint8_t)alphabet[sb_test_below(&random, sizeof alphabet - 1)];
        sb_slice header = sb_slice_of(text, n);
        sb_coding coding = sb_accept_coding(header, DYNAMIC);
        assert_true((coding & ~(unsigned)DYNAMIC) == 0);
        sb_etag_matches(header, SB_LIT("x"));
        sb_if_range_holds(header, SB_LIT("x"));
        uint64_t first, part;
        if (sb_range_parse(header, 1000, &first, &part) == SB_RANGE_PART)
            assert_true(part > 0 && first < 1000 && first + part <= 1000);
        free(text);
    }
}

static void text_compresses_and_pictures_do_not(void **state) {
    (void)state;
    assert_true(sb_type_compresses("text/html; charset=utf-8"));
    assert_true(sb_type_compresses("application/json"));
    assert_true(sb_type_compresses("Application/JSON;charset=x"));
    assert_true(sb_type_compresses("image/svg+xml"));
    assert_true(sb_type_compresses("text/csv"));
    assert_false(sb_type_compresses("image/png"));
    assert_false(sb_type_compresses("audio/wav"));
    assert_false(sb_type_compresses("application/octet-stream"));
    assert_false(sb_type_compresses("arraybuffer"));
    assert_false(sb_type_compresses("text/event-stream"));
    assert_false(sb_type_compresses("text"));
    assert_false(sb_type_compresses(""));
    assert_true(sb_type_is("text/html ; charset=utf-8", "text/html"));
    assert_false(sb_type_is("text/htmlx", "text/html"));
}

static void entity_tags_compare_weakly(void **state) {
    (void)state;
    sb_slice name = SB_LIT("abc");
    assert_true(sb_etag_matches(SB_LIT("\"abc\""), name));
    assert_true(sb_etag_matches(SB_LIT("W/\"abc\""), name));
    assert_true(sb_etag_matches(SB_LIT("\"x\", W/\"abc\" , \"y\""), name));
    assert_true(sb_etag_matches(SB_LIT("*"), name));
    assert_true(sb_etag_matches(SB_LIT("\"a,b\", \"abc\""), name));
    assert_false(sb_etag_matches(SB_LIT("abc"), name));
    assert_false(sb_etag_matches(SB_LIT("\"abcd\""), name));
    assert_false(sb_etag_matches(SB_LIT("\"ab\""), name));
    assert_false(sb_etag_matches(SB_LIT("w/\"abc\""), name));
    assert_false(sb_etag_matches(SB_LIT("\"abc"), name));
    assert_false(sb_etag_matches(SB_LIT(""), name));
    assert_false(sb_etag_matches(SB_LIT("\""), name));
}

static void if_range_compares_strongly(void **state) {
    (void)state;
    sb_slice name = SB_LIT("abc");
    assert_true(sb_if_range_holds((sb_slice){NULL, 0}, name));
    assert_true(sb_if_range_holds(SB_LIT("\"abc\""), name));
    assert_false(sb_if_range_holds(SB_LIT("W/\"abc\""), name));
    assert_false(sb_if_range_holds(SB_LIT("Sun, 06 Nov 1994 08:49:37 GMT"), name));
    assert_false(sb_if_range_holds(SB_LIT("\"\""), SB_LIT("")));
}

static void range_is(const char *header, uint64_t size, sb_range what, uint64_t first, uint64_t n) {
    uint64_t got_first = 0, got_n = 0;
    sb_range got = sb_range_parse(sb_slice_str(header), size, &got_first, &got_n);
    if (got != what || (got == SB_RANGE_PART && (got_first != first || got_n != n)))
        fail_msg("'%s' of %llu gave %d %llu+%llu", header, (unsigned long long)size, (int)got,
                 (unsigned long long)got_first, (unsigned long long)got_n);
}

static void one_range_is_cut_out(void **state) {
    (void)state;
    range_is("bytes=0-0", 10, SB_RANGE_PART, 0, 1);
    range_is("bytes=0-9", 10, SB_RANGE_PART, 0, 10);
    range_is("bytes=2-5", 10, SB_RANGE_PART, 2, 4);
    range_is("bytes=9-", 10, SB_RANGE_PART, 9, 1);
    range_is("bytes=0-", 10, SB_RANGE_PART, 0, 10);
    range_is("bytes=5-99", 10, SB_RANGE_PART, 5, 5);
    range_is("bytes=-3", 10, SB_RANGE_PART, 7, 3);
    range_is("bytes=-99", 10, SB_RANGE_PART, 0, 10);
    range_is("Bytes= 1 - 2 ", 10, SB_RANGE_PART, 1, 2);
    range_is("bytes=0-18446744073709551615", 10, SB_RANGE_PART, 0, 10);
    range_is("bytes=18446744073709551614-18446744073709551615", UINT64_MAX, SB_RANGE_PART,
             UINT64_MAX - 1, 1);
}

static void a_range_outside_is_told(void **state) {
    (void)state;
    range_is("bytes=10-", 10, SB_RANGE_OUTSIDE, 0, 0);
    range_is("bytes=10-20", 10, SB_RANGE_OUTSIDE, 0, 0);
    range_is("bytes=-0", 10, SB_RANGE_OUTSIDE, 0, 0);
    range_is("bytes=0-", 0, SB_RANGE_OUTSIDE, 0, 0);
    range_is("bytes=-5", 0, SB_RANGE_OUTSIDE, 0, 0);
}

static void several_ranges_and_nonsense_mean_all(void **state) {
    (void)state;
    static const char *const all[] = {
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=5",
        "bytes=5-2",
        "bytes=a-b",
        "bytes=0-1,3-4",
        "bytes=0x1-2",
        "items=0-1",
        "bytes=--1",
        "bytes=1--2",
        "bytes=+1-2",
        "bytes=0-18446744073709551616",
        "bytes 0-1",
        "bytes=1.5-2",
    };
    for (size_t i = 0; i < SB_COUNT(all); i++) range_is(all[i], 10, SB_RANGE_WHOLE, 0, 0);
}

static void dates_are_spelled_as_rfc_9110_does(void **state) {
    (void)state;
    char text[SB_HTTP_DATE_SIZE];
    sb_http_date(text, 784111777);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    sb_http_date(text, 0);
    assert_string_equal(text, "Thu, 01 Jan 1970 00:00:00 GMT");
    sb_http_date(text, 951782400);
    assert_string_equal(text, "Tue, 29 Feb 2000 00:00:00 GMT");
    sb_http_date(text, UINT64_MAX);
    assert_string_equal(text, "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void lists_are_cut_at_commas_outside_quotes(void **state) {
    (void)state;
    sb_slice list = SB_LIT(" a , \"b,c\" ,, d"), element;
    assert_true(sb_text_next(&list, &element));
    assert_slice_is(element, "a");
    assert_true(sb_text_next(&list, &element));
    assert_slice_is(element, "\"b,c\"");
    assert_true(sb_text_next(&list, &element));
    assert_slice_is(element, "d");
    assert_false(sb_text_next(&list, &element));
}

static void numbers_are_digits_only(void **state) {
    (void)state;
    uint64_t n = 5;
    assert_true(sb_text_number(SB_LIT("18446744073709551615"), &n));
    assert_true(n == UINT64_MAX);
    assert_false(sb_text_number(SB_LIT("18446744073709551616"), &n));
    assert_false(sb_text_number(SB_LIT("99999999999999999999"), &n));
    assert_false(sb_text_number(SB_LIT(""), &n));
    assert_false(sb_text_number(SB_LIT("-1"), &n));
    assert_false(sb_text_number(SB_LIT("1 "), &n));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_coding_that_both_know_is_chosen),
        cmocka_unit_test(quality_values_decide),
        cmocka_unit_test(nonsense_is_as_if_it_was_not_sent),
        cmocka_unit_test(random_headers_are_survived),
        cmocka_unit_test(text_compresses_and_pictures_do_not),
        cmocka_unit_test(entity_tags_compare_weakly),
        cmocka_unit_test(if_range_compares_strongly),
        cmocka_unit_test(one_range_is_cut_out),
        cmocka_unit_test(a_range_outside_is_told),
        cmocka_unit_test(several_ranges_and_nonsense_mean_all),
        cmocka_unit_test(dates_are_spelled_as_rfc_9110_does),
        cmocka_unit_test(lists_are_cut_at_commas_outside_quotes),
        cmocka_unit_test(numbers_are_digits_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
