/* url_test.c: a path is decoded once and must be plain; a query reads as Werkzeug reads it. */
#include "server/http/url.h"

#include <stdlib.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct room {
    sb_arena arena;
    sb_err err;
} room;

static void room_init(room *r) {
    sb_arena_init(&r->arena, &sb_alloc_libc, 4096, 1u << 20);
    r->err.code = SB_OK;
}

static void path_is(const char *raw, const char *decoded) {
    room r;
    room_init(&r);
    sb_slice out;
    assert_ok(sb_url_path(&r.arena, sb_slice_str(raw), &out, &r.err), &r.err);
    assert_slice_is(out, decoded);
    sb_arena_fini(&r.arena);
}

static void path_refused(sb_slice raw) {
    room r;
    room_init(&r);
    sb_slice out;
    sb_status status = sb_url_path(&r.arena, raw, &out, &r.err);
    if (status != SB_INVALID) fail_msg("'%.*s' was taken as a path", SB_SHOWN(raw));
    assert_true(r.err.text[0] != '\0');
    sb_arena_fini(&r.arena);
}

static void a_path_is_decoded_exactly_once(void **state) {
    (void)state;
    path_is("/", "/");
    path_is("/data/runs", "/data/runs");
    path_is("/data/runs/", "/data/runs/");
    path_is("/a%20b", "/a b");
    path_is("/a+b", "/a+b");
    path_is("/%e4%b8%ad", "/\xe4\xb8\xad");
    path_is("/\xe4\xb8\xad", "/\xe4\xb8\xad");
    path_is("/data%2Fruns", "/data/runs");
    path_is("/...", "/...");
    path_is("/a..b/.c", "/a..b/.c");
    path_is("/data//runs", "/data//runs");
}

static void slashes_at_the_front_count_as_one(void **state) {
    (void)state;
    path_is("//data/runs", "/data/runs");
    path_is("////", "/");
    path_is("/%2f%2Fevil.example/x", "/evil.example/x");
}

/* The corpus of CVE-2023-1177, CVE-2024-1560 and their kin. */
static void nothing_is_left_for_a_second_decoder(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "data",
        "*",
        "http://evil.example/",
        "/..",
        "/.",
        "/../etc/passwd",
        "/a/../b",
        "/a/./b",
        "/a/..",
        "/%2e%2e/etc/passwd",
        "/%2E./x",
        "/.%2e/x",
        "/..%2fetc",
        "/%2e%2e%2fetc",
        "/%252e%252e/etc",
        "/%25",
        "/a%",
        "/a%2",
        "/a%zz",
        "/a%%41",
        "/a;b",
        "/a%3bb",
        "/..;/x",
        "/a\\b",
        "/%5c..%5cwindows",
        "/a%00.png",
        "/%0d%0aSet-Cookie:x",
        "/a%09b",
        "/a%7f",
        "/%c0%ae%c0%ae/x",
        "/%c0%af",
        "/%e0%80%af",
        "/%f0%80%80%af",
        "/%ff",
        "/%ed%a0%80",
        "/%f4%90%80%80",
        "/%e4%b8",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) path_refused(sb_slice_str(bad[i]));
    path_refused(sb_slice_of("/a\0b", 4));
}

static void a_target_is_split_at_its_first_question_mark(void **state) {
    (void)state;
    sb_slice path, query;
    assert_int_equal(sb_url_split(SB_LIT("/a?b?c"), &path, &query, NULL), SB_OK);
    assert_slice_is(path, "/a");
    assert_slice_is(query, "b?c");
    assert_int_equal(sb_url_split(SB_LIT("/a"), &path, &query, NULL), SB_OK);
    assert_int_equal(query.n, 0);
    assert_int_equal(sb_url_split(SB_LIT("/a?"), &path, &query, NULL), SB_OK);
    assert_int_equal(query.n, 0);
    assert_int_equal(sb_url_split(SB_LIT(""), &path, &query, NULL), SB_INVALID);
    assert_int_equal(sb_url_split(SB_LIT("a/b"), &path, &query, NULL), SB_INVALID);
    assert_int_equal(sb_url_split(SB_LIT("/a#b"), &path, &query, NULL), SB_INVALID);
    assert_int_equal(sb_url_split(SB_LIT("http://h/a"), &path, &query, NULL), SB_INVALID);
}

/* Pairs as "key=value|key=value", with the decoded bytes as they are. */
static void query_is(const char *raw, const char *pairs) {
    room r;
    room_init(&r);
    sb_http_params params;
    assert_ok(sb_url_params(&r.arena, sb_slice_str(raw), 100, &params, &r.err), &r.err);
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1u << 16);
    for (size_t i = 0; i < params.count; i++) {
        if (i) sb_buf_add_byte(&text, '|');
        sb_buf_add_slice(&text, params.items[i].key);
        sb_buf_add_byte(&text, '=');
        sb_buf_add_slice(&text, params.items[i].value);
    }
    assert_slice_is(sb_buf_slice(&text), pairs);
    sb_buf_fini(&text);
    sb_arena_fini(&r.arena);
}

static void a_query_reads_as_werkzeug_reads_it(void **state) {
    (void)state;
    query_is("", "");
    query_is("&&&", "");
    query_is("a=1&b=2", "a=1|b=2");
    query_is("a", "a=");
    query_is("a=", "a=");
    query_is("=a", "=a");
    query_is("=", "=");
    query_is("a=b=c", "a=b=c");
    query_is("run=A&run=B&run=A", "run=A|run=B|run=A");
    query_is("a=x+y%2Bz", "a=x y+z");
    query_is("a+b=c", "a b=c");
    query_is("tag=%E4%B8%AD%20%2F", "tag=\xe4\xb8\xad /");
    query_is("tag=\xe4\xb8\xad", "tag=\xe4\xb8\xad");
    query_is("a=%", "a=%");
    query_is("a=%4", "a=%4");
    query_is("a=%zz%41", "a=%zzA");
    query_is("a=%ff", "a=%FF");
    query_is("a=%c3%28", "a=%C3(");
    query_is("a=%e4%b8", "a=%E4%B8");
    query_is("a=%ed%a0%80", "a=%ED%A0%80");
    query_is("a=%2541", "a=%41");
    query_is("a;b=c", "a;b=c");
    query_is("a=<script>", "a=<script>");
}

static void a_decoded_nul_is_kept_in_a_query(void **state) {
    (void)state;
    room r;
    room_init(&r);
    sb_http_params params;
    assert_ok(sb_url_params(&r.arena, SB_LIT("a=x%00y"), 9, &params, &r.err), &r.err);
    assert_slice_equal(params.items[0].value, sb_slice_of("x\0y", 3));
    sb_arena_fini(&r.arena);
}

static void raw_bytes_that_are_not_utf8_are_invalid(void **state) {
    (void)state;
    room r;
    room_init(&r);
    sb_http_params params;
    assert_int_equal(sb_url_params(&r.arena, SB_LIT("a=\xff"), 9, &params, &r.err), SB_INVALID);
    assert_int_equal(params.count, 0);
    sb_arena_fini(&r.arena);
}

static void more_parts_than_allowed_is_a_limit(void **state) {
    (void)state;
    room r;
    room_init(&r);
    sb_http_params params;
    assert_int_equal(sb_url_params(&r.arena, SB_LIT("a&b&c"), 3, &params, &r.err), SB_OK);
    assert_int_equal(sb_url_params(&r.arena, SB_LIT("a&b&c&d"), 3, &params, &r.err), SB_LIMIT);
    sb_arena_fini(&r.arena);
}

/* Whatever comes in, what comes out is UTF-8 and no longer than it was. */
static void random_queries_come_out_as_text(void **state) {
    (void)state;
    static const char alphabet[] = "%%%0123456789abcdefABCDEF&=+;/\xe4\xb8\xad";
    sb_test_random random = sb_test_random_of(7);
    for (int round = 0; round < 20000; round++) {
        uint8_t *raw = malloc(48);
        size_t n = sb_test_below(&random, 49);
        for (size_t i = 0; i < n; i++)
            raw[i] = (uint8_t)alphabet[sb_test_below(&random, sizeof alphabet - 1)];
        room r;
        room_init(&r);
        sb_http_params params;
        sb_status status = sb_url_params(&r.arena, sb_slice_of(raw, n), 100, &params, &r.err);
        assert_true(status == SB_OK || status == SB_INVALID);
        size_t total = 0;
        for (size_t i = 0; i < params.count; i++) {
            total += params.items[i].key.n + params.items[i].value.n;
            assert_true(sb_utf8_valid(params.items[i].key));
            assert_true(sb_utf8_valid(params.items[i].value));
        }
        assert_true(total <= n);
        sb_slice path;
        status = sb_url_path(&r.arena, sb_slice_of(raw, n), &path, &r.err);
        assert_true(status == SB_OK || status == SB_INVALID);
        sb_arena_fini(&r.arena);
        free(raw);
    }
}

static void every_prefix_of_an_escape_is_handled(void **state) {
    (void)state;
    const char *whole = "/%41%e4%b8%ad/x";
    for (size_t cut = 0; cut <= strlen(whole); cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* a block of its own: reading past it is seen */
        memcpy(copy, whole, cut);
        room r;
        room_init(&r);
        sb_slice out;
        sb_status status = sb_url_path(&r.arena, sb_slice_of(copy, cut), &out, &r.err);
        bool is_whole = cut == 1 || cut == 4 || cut >= 13;
        assert_int_equal(status, is_whole ? SB_OK : SB_INVALID);
        sb_arena_fini(&r.arena);
        free(copy);
    }
}

static void a_path_is_encoded_so_that_it_reads_back(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 4096);
    sb_url_add_path(&out, SB_LIT("/a b/\xe4?#%\"<>\r\n"));
    assert_slice_is(sb_buf_slice(&out), "/a%20b/%E4%3F%23%25%22%3C%3E%0D%0A");
    sb_buf_fini(&out);
}

static void one_key_is_left_out_of_a_query(void **state) {
    (void)state;
    room r;
    room_init(&r);
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 4096);
    sb_url_add_query_without(&out, &r.arena, SB_LIT("a=1&token=x&b=%20&%74oken=y&token"),
                             SB_LIT("token"));
    assert_slice_is(sb_buf_slice(&out), "?a=1&b=%20");
    sb_buf_clear(&out);
    sb_url_add_query_without(&out, &r.arena, SB_LIT("token=x"), SB_LIT("token"));
    assert_int_equal(out.n, 0);
    sb_buf_fini(&out);
    sb_arena_fini(&r.arena);
}

static sb_status parse_all(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, 1u << 20);
    sb_slice path;
    sb_http_params params;
    sb_err err;
    sb_status status =
        sb_url_path(&arena, SB_LIT("/some/longer/path/than/a/block/of/memory/holds"), &path, &err);
    if (status == SB_OK)
        status = sb_url_params(&arena, SB_LIT("a=%ff&b=%20&c=%e4%b8%ad"), 9, &params, &err);
    sb_arena_fini(&arena);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(parse_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_decoded_exactly_once),
        cmocka_unit_test(slashes_at_the_front_count_as_one),
        cmocka_unit_test(nothing_is_left_for_a_second_decoder),
        cmocka_unit_test(a_target_is_split_at_its_first_question_mark),
        cmocka_unit_test(a_query_reads_as_werkzeug_reads_it),
        cmocka_unit_test(a_decoded_nul_is_kept_in_a_query),
        cmocka_unit_test(raw_bytes_that_are_not_utf8_are_invalid),
        cmocka_unit_test(more_parts_than_allowed_is_a_limit),
        cmocka_unit_test(random_queries_come_out_as_text),
        cmocka_unit_test(every_prefix_of_an_escape_is_handled),
        cmocka_unit_test(a_path_is_encoded_so_that_it_reads_back),
        cmocka_unit_test(one_key_is_left_out_of_a_query),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
