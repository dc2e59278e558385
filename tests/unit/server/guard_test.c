/* guard_test.c: names that are ours, origins that match, tokens that are right. Exact comparisons
 * only: each case that a pattern or a prefix would have let through is here. */
#include "server/http/guard/guard.h"

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct fixture {
    sb_arena arena;
    sb_guard guard;
} fixture;

static void make(fixture *f, const char *const *allow, size_t count, const char *token) {
    sb_http_options o;
    sb_http_defaults(&o);
    o.allow_hosts = allow;
    o.allow_host_count = count;
    o.token = token;
    sb_err err;
    sb_arena_init(&f->arena, &sb_alloc_libc, 4096, 1u << 20);
    assert_ok(sb_guard_init(&f->guard, &f->arena, &o, &err), &err);
}

static bool host(const fixture *f, const char *text) {
    return sb_guard_host(&f->guard, sb_slice_str(text));
}

static void loopback_names_are_known(void **state) {
    (void)state;
    fixture f;
    make(&f, NULL, 0, NULL);
    static const char *const good[] = {
        "localhost",     "localhost:6006", "LOCALHOST:1",          "localhost.",
        "localhost.:80", "127.0.0.1",      "127.0.0.1:6006",       "127.1.2.3",
        "[::1]",         "[::1]:6006",     "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]",
    };
    for (size_t i = 0; i < SB_COUNT(good); i++)
        if (!host(&f, good[i])) fail_msg("%s was refused", good[i]);
    sb_arena_fini(&f.arena);
}

/* CVE-2025-14279: a page of evil.example whose name leads to 127.0.0.1. */
static void rebinding_names_are_refused(void **state) {
    (void)state;
    fixture f;
    make(&f, NULL, 0, NULL);
    static const char *const bad[] = {
        "evil.example",
        "evil.example:6006",
        "evil.example.",
        "localhost.evil.example",
        "evil-localhost",
        "localhostx",
        "xlocalhost",
        "localhost..",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io",
        "128.0.0.1",
        "10.0.0.1",
        "192.168.1.5:6006",
        "0.0.0.0",
        "2130706433",
        "0x7f.0.0.1",
        "127.1",
        "[::2]",
        "[::1",
        "::1",
        "[::1]x",
        "[::1]:",
        "[::1%25lo]",
        "[]",
        "[::ffff:10.0.0.1]",
        "",
        ":",
        ":80",
        "localhost:",
        "localhost:x",
        "localhost:99999",
        "localhost:-1",
        "localhost:80:80",
        "localhost/",
        "localhost@evil.example",
        "evil.example@localhost",
        "localhost,evil.example",
        "localhost evil.example",
        "local\thost",
        "l\xc3\xb6"
        "calhost",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        if (host(&f, bad[i])) fail_msg("'%s' was let in", bad[i]);
    assert_false(sb_guard_host(&f.guard, sb_slice_of("localhost\0", 10)));
    assert_false(sb_guard_host(&f.guard, (sb_slice){NULL, 0}));
    sb_arena_fini(&f.arena);
}

static void allowed_names_are_compared_whole(void **state) {
    (void)state;
    static const char *const allow[] = {"Board.example", "only.example:8080", "[fd00::1]"};
    fixture f;
    make(&f, allow, 3, NULL);
    assert_true(host(&f, "board.example"));
    assert_true(host(&f, "BOARD.EXAMPLE.:443"));
    assert_true(host(&f, "only.example:8080"));
    assert_true(host(&f, "[FD00::1]:6006"));
    assert_true(host(&f, "localhost"));
    assert_false(host(&f, "only.example"));
    assert_false(host(&f, "only.example:80"));
    assert_false(host(&f, "xboard.example"));
    assert_false(host(&f, "boardxexample")); /* CVE-2026-40110: a dot is a dot */
    assert_false(host(&f, "board.example.evil.example"));
    assert_false(host(&f, "evil.example"));
    sb_arena_fini(&f.arena);
}

static void without_a_check_only_the_form_matters(void **state) {
    (void)state;
    sb_http_options o;
    sb_http_defaults(&o);
    o.check_host = false;
    fixture f;
    sb_arena_init(&f.arena, &sb_alloc_libc, 4096, 1u << 20);
    assert_ok(sb_guard_init(&f.guard, &f.arena, &o, NULL), NULL);
    assert_true(host(&f, "anything.example:1"));
    assert_false(host(&f, "any thing"));
    assert_false(host(&f, "<script>"));
    sb_arena_fini(&f.arena);
    /* Naming hosts asks for the check. */
    static const char *const allow[] = {"board.example"};
    o.allow_hosts = allow;
    o.allow_host_count = 1;
    sb_arena_init(&f.arena, &sb_alloc_libc, 4096, 1u << 20);
    assert_ok(sb_guard_init(&f.guard, &f.arena, &o, NULL), NULL);
    assert_true(host(&f, "board.example"));
    assert_false(host(&f, "anything.example:1"));
    sb_arena_fini(&f.arena);
}

static bool origin(const fixture *f, const char *from, const char *to, const char *site) {
    return sb_guard_origin(&f->guard, sb_slice_str(from), sb_slice_str(to), sb_slice_str(site));
}

static void an_origin_must_be_the_host_itself(void **state) {
    (void)state;
    fixture f;
    make(&f, NULL, 0, NULL);
    assert_true(origin(&f, NULL, "localhost:6006", NULL)); /* a program, not a page */
    assert_true(origin(&f, "http://localhost:6006", "localhost:6006", NULL));
    assert_true(origin(&f, "https://Localhost:6006", "localhost:6006", NULL));
    static const char *const bad[] = {
        "http://localhost",
        "http://localhost:6007",
        "http://127.0.0.1:6006",
        "http://evil.example",
        "http://localhost:6006.evil.example",
        "http://evil.example/?localhost:6006",
        "http://localhost:6006@evil.example",
        "http://localhost:6006/",
        "http://xlocalhost:6006",
        "localhost:6006",
        "file://localhost:6006",
        "null",
        "NULL",
        "",
        "http://",
        "http://localhost:6006, http://evil.example",
        "HTTP://evil.example",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        if (origin(&f, bad[i], "localhost:6006", NULL)) fail_msg("%s was let in", bad[i]);
    assert_false(origin(&f, "http://evil.example", "localhost:6006", "cross-site"));
    assert_false(origin(&f, "http://evil.example", "localhost:6006", "same-site"));
    sb_arena_fini(&f.arena);
}

static void a_proxy_that_replaces_the_host_does_not_hurt_browsers(void **state) {
    (void)state;
    static const char *const allow[] = {"board.example"};
    fixture f;
    make(&f, allow, 1, NULL);
    assert_true(origin(&f, "https://board.example", "127.0.0.1:6006", NULL));
    assert_false(origin(&f, "https://other.example", "127.0.0.1:6006", NULL));
    assert_true(origin(&f, "https://other.example", "127.0.0.1:6006", "same-origin"));
    sb_arena_fini(&f.arena);
}

static bool fetch(const char *site, const char *mode, sb_http_method method) {
    return sb_guard_fetch(sb_slice_str(site), sb_slice_str(mode), method);
}

/* CVE-2019-9644 and CVE-2023-40170: data pulled in by another site's page. */
static void other_sites_may_link_but_not_include(void **state) {
    (void)state;
    assert_true(fetch(NULL, NULL, SB_HTTP_POST));
    assert_true(fetch("same-origin", "cors", SB_HTTP_POST));
    assert_true(fetch("none", "navigate", SB_HTTP_GET));
    assert_true(fetch("cross-site", "navigate", SB_HTTP_GET));
    assert_true(fetch("same-site", "navigate", SB_HTTP_HEAD));
    assert_false(fetch("cross-site", "navigate", SB_HTTP_POST));
    assert_false(fetch("cross-site", "no-cors", SB_HTTP_GET));
    assert_false(fetch("same-site", "no-cors", SB_HTTP_GET));
    assert_false(fetch("cross-site", "cors", SB_HTTP_GET));
    assert_false(fetch("cross-site", NULL, SB_HTTP_GET));
    assert_false(fetch("", "no-cors", SB_HTTP_GET));
    assert_false(fetch("made-up", "cors", SB_HTTP_GET));
}

static void only_the_whole_token_opens(void **state) {
    (void)state;
    fixture f;
    make(&f, NULL, 0, "s3cret-token.x");
    assert_true(sb_guard_token(&f.guard, SB_LIT("s3cret-token.x")));
    static const char *const bad[] = {
        "",
        "s",
        "s3cret-token.",
        "s3cret-token.xx",
        "S3cret-token.x",
        "s3cret-token.y",
        "s3cret-token.xs3cret-token.x",
        "null",
        "undefined",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_false(sb_guard_token(&f.guard, sb_slice_str(bad[i])));
    assert_false(sb_guard_token(&f.guard, (sb_slice){NULL, 0}));
    assert_false(sb_guard_token(&f.guard, sb_slice_of("s3cret-token.x\0", 15)));
    sb_arena_fini(&f.arena);
    make(&f, NULL, 0, NULL);
    assert_true(sb_guard_token(&f.guard, (sb_slice){NULL, 0}));
    sb_arena_fini(&f.arena);
}

static void every_wrong_byte_of_a_token_is_noticed(void **state) {
    (void)state;
    const char *right = "0123456789abcdef0123456789abcdef";
    fixture f;
    make(&f, NULL, 0, right);
    for (size_t bit = 0; bit < strlen(right) * 8; bit++) {
        uint8_t copy[32];
        memcpy(copy, right, sizeof copy);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(sb_guard_token(&f.guard, sb_slice_of(copy, sizeof copy)));
    }
    for (size_t n = 0; n < strlen(right); n++)
        assert_false(sb_guard_token(&f.guard, sb_slice_of(right, n)));
    sb_arena_fini(&f.arena);
}

static void a_bearer_token_is_found(void **state) {
    (void)state;
    assert_slice_is(sb_bearer_token(SB_LIT("Bearer abc")), "abc");
    assert_slice_is(sb_bearer_token(SB_LIT("bearer   abc ")), "abc");
    assert_int_equal(sb_bearer_token(SB_LIT("Basic abc")).n, 0);
    assert_int_equal(sb_bearer_token(SB_LIT("Bearer ")).n, 0);
    assert_int_equal(sb_bearer_token(SB_LIT("Bearerabc")).n, 0);
    assert_int_equal(sb_bearer_token(SB_LIT("")).n, 0);
}

static void a_cookie_is_found_among_others(void **state) {
    (void)state;
    fixture f;
    make(&f, NULL, 0, "tok");
    assert_true(sb_guard_cookie(&f.guard, SB_LIT("seaboard=tok")));
    assert_true(sb_guard_cookie(&f.guard, SB_LIT("a=b; seaboard=tok ;c=d")));
    assert_true(sb_guard_cookie(&f.guard, SB_LIT("seaboard=old; seaboard=tok")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("seaboard=old")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("xseaboard=tok")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("Seaboard=tok")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("seaboard")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("seaboard=")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT("a=seaboard=tok")));
    assert_false(sb_guard_cookie(&f.guard, SB_LIT(";;;=;")));
    assert_false(sb_guard_cookie(&f.guard, (sb_slice){NULL, 0}));
    sb_arena_fini(&f.arena);
}

static void options_that_cannot_work_are_invalid(void **state) {
    (void)state;
    static const char *const hosts[] = {"http://x", "a b", "", "*", "x/", "*.example", "x:y"};
    sb_http_options o;
    sb_err err;
    fixture f;
    for (size_t i = 0; i < SB_COUNT(hosts); i++) {
        sb_http_defaults(&o);
        o.allow_hosts = &hosts[i];
        o.allow_host_count = 1;
        sb_arena_init(&f.arena, &sb_alloc_libc, 4096, 1u << 20);
        assert_int_equal(sb_guard_init(&f.guard, &f.arena, &o, &err), SB_INVALID);
        sb_arena_fini(&f.arena);
    }
    static const char *const tokens[] = {"", "a b", "a;b", "a\nb", "\xc3\xa4", "a,b", "a\"b"};
    for (size_t i = 0; i < SB_COUNT(tokens); i++) {
        sb_http_defaults(&o);
        o.token = tokens[i];
        sb_arena_init(&f.arena, &sb_alloc_libc, 4096, 1u << 20);
        assert_int_equal(sb_guard_init(&f.guard, &f.arena, &o, &err), SB_INVALID);
        sb_arena_fini(&f.arena);
    }
    sb_http_defaults(&o);
    o.cookie_name = "a=b";
    sb_arena_init(&f.arena, &sb_alloc_libc, 4096, 1u << 20);
    assert_int_equal(sb_guard_init(&f.guard, &f.arena, &o, &err), SB_INVALID);
    sb_arena_fini(&f.arena);
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    static const char *const allow[] = {"a.example", "b.example"};
    sb_http_options o;
    sb_http_defaults(&o);
    o.allow_hosts = allow;
    o.allow_host_count = 2;
    o.token = "tok";
    sb_arena arena;
    sb_guard guard;
    sb_err err;
    sb_arena_init(&arena, alloc, 16, 1u << 20);
    sb_status status = sb_guard_init(&guard, &arena, &o, &err);
    sb_arena_fini(&arena);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_names_are_known),
        cmocka_unit_test(rebinding_names_are_refused),
        cmocka_unit_test(allowed_names_are_compared_whole),
        cmocka_unit_test(without_a_check_only_the_form_matters),
        cmocka_unit_test(an_origin_must_be_the_host_itself),
        cmocka_unit_test(a_proxy_that_replaces_the_host_does_not_hurt_browsers),
        cmocka_unit_test(other_sites_may_link_but_not_include),
        cmocka_unit_test(only_the_whole_token_opens),
        cmocka_unit_test(every_wrong_byte_of_a_token_is_noticed),
        cmocka_unit_test(a_bearer_token_is_found),
        cmocka_unit_test(a_cookie_is_found_among_others),
        cmocka_unit_test(options_that_cannot_work_are_invalid),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
