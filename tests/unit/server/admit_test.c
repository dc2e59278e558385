/* admit_test.c: every request is looked at in the same order, and every path is closed by
 * default. */
#include "server/http/guard/admit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

#define TOKEN "tok3n"

static sb_status nothing(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)r, (void)app;
    return SB_OK;
}

static const sb_http_route rows[] = {
    {.methods = SB_HTTP_READ, .path = "/", .run = nothing},
    {.methods = SB_HTTP_ALL, .path = "/data/runs", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/only/get", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/below/*", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/stream", .how = SB_HTTP_STREAM},
    {.methods = SB_HTTP_READ, .path = "/healthz", .run = nothing, .is_open = true},
};

/* One request through one gate; texts as a client sends them. */
typedef struct asked {
    sb_gate gate;
    sb_reply_rules rules;
    sb_arena arena;
    sb_http_request q;
    sb_http_reply r;
    sb_http_param headers[120];
    const sb_http_route *row;
    sb_status status;
    sb_verdict verdict;
    sb_reply_wire wire;
} asked;

static const sb_alloc *memory = &sb_alloc_libc; /* what the code under test gets its memory from */

static void options_of(sb_http_options *o, const char *prefix, const char *token) {
    sb_http_defaults(o);
    o->alloc = memory;
    o->routes = rows;
    o->route_count = SB_COUNT(rows);
    o->path_prefix = prefix;
    o->token = token;
}

/* header_lines: "Name: value" lines, each ended by '\n'. */
static void begin(asked *a, const sb_http_options *o, const char *method, sb_slice target,
                  const char *header_lines) {
    sb_err err;
    assert_ok(sb_gate_init(&a->gate, o, 7, &err), &err);
    sb_arena_init(&a->arena, o->alloc, 1024, 1u << 20);
    a->rules = (sb_reply_rules){.policy = "p", .reply_memory = 1u << 20, .compress_min = 1024};
    a->q = (sb_http_request){.method = sb_method_of(method),
                             .target = target,
                             .arena = &a->arena,
                             .alloc = o->alloc,
                             .clock = &sb_clock_system};
    size_t n = 0;
    while (*header_lines) {
        const char *colon = strchr(header_lines, ':'), *end = strchr(header_lines, '\n');
        a->headers[n++] = (sb_http_param){sb_slice_of(header_lines, (size_t)(colon - header_lines)),
                                          sb_slice_of(colon + 2, (size_t)(end - colon - 2))};
        header_lines = end + 1;
    }
    a->q.headers = (sb_http_params){a->headers, n};
    sb_reply_init(&a->r, &a->q, &a->rules);
    a->verdict = sb_gate_admit(&a->gate, &a->q, &a->r, &a->row, &a->status);
}

static void end(asked *a) {
    sb_reply_fini(&a->r);
    sb_arena_fini(&a->arena);
    sb_gate_fini(&a->gate);
}

static void settle(asked *a) {
    sb_reply_settle(&a->r, a->status);
    assert_int_equal(sb_reply_to_wire(&a->r, &a->wire), SB_OK);
}

static const char *header(const asked *a, const char *name) {
    for (size_t i = 0; i < a->wire.header_count; i++)
        if (sb_slice_eq(a->wire.headers[i].key, sb_slice_str(name)))
            return (const char *)a->wire.headers[i].value.p;
    return NULL;
}

/* What a request is answered with: 0 when a handler would run. */
static int code(const sb_http_options *o, const char *method, const char *target,
                const char *header_lines) {
    asked a;
    begin(&a, o, method, sb_slice_str(target), header_lines);
    int result = 0;
    if (a.verdict != SB_VERDICT_RUN) {
        assert_null(a.row);
        settle(&a);
        result = a.wire.status;
    } else {
        assert_non_null(a.row);
    }
    end(&a);
    return result;
}

#define HOST "Host: localhost\n"

static void a_plain_request_reaches_its_row(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/below/a/b?run=x&run=y"), HOST);
    assert_int_equal(a.verdict, SB_VERDICT_RUN);
    assert_ptr_equal(a.row, &rows[3]);
    assert_slice_is(a.q.path, "/below/a/b");
    assert_slice_is(a.q.rest, "a/b");
    assert_slice_is(a.q.root, "");
    assert_slice_is(sb_http_query(&a.q, "run"), "x");
    assert_int_equal(a.q.query.count, 2);
    end(&a);
}

static void unknown_paths_and_methods_are_told_apart(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    assert_int_equal(code(&o, "GET", "/nope", HOST), 404);
    assert_int_equal(code(&o, "DELETE", "/data/runs", HOST), 0);
    assert_int_equal(code(&o, "HEAD", "/only/get", HOST), 0);
    asked a;
    begin(&a, &o, "PUT", SB_LIT("/only/get"), HOST);
    settle(&a);
    assert_int_equal(a.wire.status, 405);
    assert_string_equal(header(&a, "Allow"), "GET, HEAD");
    end(&a);
    assert_int_equal(code(&o, "BREW", "/data/runs", HOST), 405);
    assert_int_equal(code(&o, "get", "/data/runs", HOST), 405);
    assert_int_equal(code(&o, "OPTIONS", "/only/get", HOST), 405);
}

static void malformed_requests_are_bad_requests(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    assert_int_equal(code(&o, "GET", "/", ""), 400);
    assert_int_equal(code(&o, "GET", "/", HOST HOST), 400);
    assert_int_equal(code(&o, "GET", "/", HOST "host: evil.example\n"), 400);
    assert_int_equal(code(&o, "GET", "*", HOST), 400);
    assert_int_equal(code(&o, "GET", "http://localhost/", HOST), 400);
    assert_int_equal(code(&o, "GET", "/a b", HOST), 400);
    assert_int_equal(code(&o, "GET", "/a\tb", HOST), 400);
    assert_int_equal(code(&o, "GET", "/%2e%2e/x", HOST), 400);
    assert_int_equal(code(&o, "GET", "/?a=\xff", HOST), 400);
    assert_int_equal(code(&o, "GET", "/", HOST "X: a\001b\n"), 400);
    assert_int_equal(code(&o, "GET", "/", HOST "X y: ab\n"), 400);
    assert_int_equal(
        code(&o, "POST", "/data/runs", HOST "Content-Length: 3\nTransfer-Encoding: chunked\n"),
        400);
}

static void sizes_have_their_limits(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    o.max_target = 20;
    o.max_headers = 3;
    o.max_params = 2;
    assert_int_equal(code(&o, "GET", "/data/runs?a=1234567", HOST), 0);
    assert_int_equal(code(&o, "GET", "/data/runs?a=12345678", HOST), 414);
    assert_int_equal(code(&o, "GET", "/data/runs?a&b", HOST), 0);
    assert_int_equal(code(&o, "GET", "/data/runs?a&b&c", HOST), 414);
    assert_int_equal(code(&o, "GET", "/", HOST "A: 1\nB: 2\n"), 0);
    assert_int_equal(code(&o, "GET", "/", HOST "A: 1\nB: 2\nC: 3\n"), 431);
}

/* The 403 must not carry what the client sent (CVE-2023-6568). */
static void foreign_hosts_are_refused_and_not_echoed(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/"), "Host: evil.example:6006\n");
    settle(&a);
    assert_int_equal(a.wire.status, 403);
    assert_null(memmem(a.wire.body.p, a.wire.body.n, "evil", 4));
    assert_non_null(memmem(a.wire.body.p, a.wire.body.n, "--allow_host", 12));
    assert_string_equal(header(&a, "X-Content-Type-Options"), "nosniff");
    end(&a);
    assert_int_equal(code(&o, "GET", "/healthz", "Host: evil.example\n"), 403);
    assert_int_equal(code(&o, "GET", "/nope", "Host: evil.example\n"), 403);
}

static void changes_from_other_origins_are_refused(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    assert_int_equal(code(&o, "POST", "/data/runs", HOST "Origin: http://localhost\n"), 0);
    assert_int_equal(code(&o, "POST", "/data/runs", HOST), 0);
    assert_int_equal(code(&o, "POST", "/data/runs", HOST "Origin: http://evil.example\n"), 403);
    assert_int_equal(code(&o, "POST", "/data/runs", HOST "Origin: null\n"), 403);
    assert_int_equal(code(&o, "DELETE", "/data/runs", HOST "Origin: http://localhost:1\n"), 403);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST "Origin: http://evil.example\n"), 0);
    assert_int_equal(
        code(&o, "GET", "/data/runs", HOST "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\n"),
        403);
    assert_int_equal(
        code(&o, "GET", "/", HOST "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\n"), 0);
}

static void a_prefix_is_compared_part_by_part(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "/pre/fix", NULL);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/pre/fix/data/runs"), HOST);
    assert_int_equal(a.verdict, SB_VERDICT_RUN);
    assert_slice_is(a.q.root, "/pre/fix");
    assert_slice_is(a.q.path, "/data/runs");
    end(&a);
    assert_int_equal(code(&o, "GET", "/pre/fix/", HOST), 0);
    assert_int_equal(code(&o, "GET", "/pre/fixdata/runs", HOST), 404);
    assert_int_equal(code(&o, "GET", "/pre/fix-secret/data/runs", HOST), 404); /* CVE-2026-35397 */
    assert_int_equal(code(&o, "GET", "/pre", HOST), 404);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST), 404);
    begin(&a, &o, "GET", SB_LIT("/pre/fix?x=y"), HOST);
    settle(&a);
    assert_int_equal(a.wire.status, 301);
    assert_string_equal(header(&a, "Location"), "/pre/fix/");
    assert_null(header(&a, "Content-Type"));
    assert_int_equal(a.wire.body.n, 0);
    end(&a);
}

static void prefixes_that_cannot_work_are_invalid(void **state) {
    (void)state;
    static const char *const bad[] = {"x", "/", "/x/", "//x", "/x//y", "x/"};
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_http_options o;
        options_of(&o, bad[i], NULL);
        sb_gate gate;
        sb_err err;
        if (sb_gate_init(&gate, &o, 7, &err) != SB_INVALID) fail_msg("'%s' was taken", bad[i]);
    }
}

/* ---- the rewrite hook ------------------------------------------------------------------------ */

/* Takes "/exp/<name>" off the front, as a server with several experiments does. */
static sb_status take_experiment(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)app;
    if (sb_slice_starts(q->path, SB_LIT("/teapot"))) {
        sb_http_status(r, 418);
        sb_buf_add_str(sb_http_body(r), "short and stout");
        return SB_END;
    }
    if (sb_slice_starts(q->path, SB_LIT("/broken")))
        return sb_fail(sb_http_err(r), SB_INVALID, 0, "broken it is");
    sb_slice rest = q->path, part;
    if (!sb_slice_starts(rest, SB_LIT("/exp/"))) return SB_OK;
    rest = sb_slice_of(rest.p + 5, rest.n - 5);
    if (!sb_http_segment(&rest, &part)) part = sb_slice_of(rest.p, 0);
    size_t taken = 5 + part.n;
    q->root = sb_slice_of(q->root.p, q->root.n + taken); /* the path follows the root in memory */
    q->path = sb_slice_of(q->path.p + taken, q->path.n - taken);
    return SB_OK;
}

static void the_rewrite_hook_moves_the_front_to_the_root(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "/p", NULL);
    o.hooks.rewrite = take_experiment;
    asked a;
    begin(&a, &o, "GET", SB_LIT("/p/exp/one/data/runs"), HOST);
    assert_int_equal(a.verdict, SB_VERDICT_RUN);
    assert_slice_is(a.q.path, "/data/runs");
    assert_slice_is(a.q.root, "/p/exp/one");
    end(&a);
    begin(&a, &o, "GET", SB_LIT("/p/exp/a%20b"), HOST);
    settle(&a);
    assert_int_equal(a.wire.status, 301);
    assert_string_equal(header(&a, "Location"), "/p/exp/a%20b/");
    end(&a);
    begin(&a, &o, "GET", SB_LIT("/p/teapot"), HOST);
    settle(&a);
    assert_int_equal(a.wire.status, 418);
    assert_slice_is(a.wire.body, "short and stout");
    end(&a);
    begin(&a, &o, "GET", SB_LIT("/p/broken"), HOST);
    settle(&a);
    assert_int_equal(a.wire.status, 400);
    assert_slice_is(a.wire.body, "broken it is\n");
    end(&a);
}

static void the_hook_answers_nobody_without_the_token(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", TOKEN);
    o.hooks.rewrite = take_experiment;
    assert_int_equal(code(&o, "GET", "/teapot", HOST), 401);
    assert_int_equal(code(&o, "GET", "/broken", HOST), 401);
    assert_int_equal(code(&o, "GET", "/teapot", HOST "Authorization: Bearer " TOKEN "\n"), 418);
}

/* ---- the token ------------------------------------------------------------------------------- */

/* CVE-2026-0545, CVE-2026-2651, CVE-2026-85663: a route that was added and forgotten. */
static void every_route_asks_for_the_token_unless_marked_open(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", TOKEN);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        char path[64];
        snprintf(path, sizeof path, "%s", rows[i].path);
        char *star = strchr(path, '*');
        if (star) *star = 'x';
        static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
        for (size_t m = 0; m < SB_COUNT(methods); m++) {
            bool is_right = rows[i].methods & sb_method_of(methods[m]);
            int expected = rows[i].is_open && is_right ? 0 : 401;
            assert_int_equal(code(&o, methods[m], path, HOST), expected);
            int known = code(&o, methods[m], path, HOST "Authorization: Bearer " TOKEN "\n");
            assert_int_equal(known, is_right ? 0 : 405);
        }
    }
    assert_int_equal(code(&o, "GET", "/nope", HOST), 401); /* what exists is nobody's business */
    assert_int_equal(code(&o, "BREW", "/", HOST), 401);
    assert_int_equal(code(&o, "GET", "/stream", HOST "Upgrade: websocket\n"), 401);
}

static void header_cookie_and_query_open(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", TOKEN);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST "Authorization: Bearer " TOKEN "\n"), 0);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST "Cookie: a=b; seaboard=" TOKEN "\n"), 0);
    assert_int_equal(code(&o, "GET", "/data/runs?token=" TOKEN, HOST), 0);
    assert_int_equal(code(&o, "POST", "/data/runs?token=" TOKEN, HOST), 0);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST "Authorization: Bearer x\n"), 401);
    assert_int_equal(code(&o, "GET", "/data/runs", HOST "Cookie: seaboard=x\n"), 401);
    assert_int_equal(code(&o, "GET", "/data/runs?token=x", HOST), 401);
    assert_int_equal(code(&o, "GET", "/data/runs?token=x&token=" TOKEN, HOST), 401);
    assert_int_equal(code(&o, "GET", "/data/runs?token", HOST), 401);
}

#define VISIT HOST "Accept: text/html,*/*\n"

static void a_link_with_the_token_becomes_a_cookie(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "/p", TOKEN);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/p/data/ru:ns?a=1&token=" TOKEN "&b=%22"), VISIT);
    settle(&a);
    assert_int_equal(a.wire.status, 303);
    assert_string_equal(header(&a, "Location"), "./ru:ns?a=1&b=%22");
    assert_string_equal(header(&a, "Set-Cookie"),
                        "seaboard=" TOKEN "; Path=/p; Max-Age=2592000; HttpOnly; SameSite=Lax");
    assert_string_equal(header(&a, "Cache-Control"), "no-store");
    end(&a);
    o.tls_cert = o.tls_key = "pem";
    o.path_prefix = "";
    begin(&a, &o, "GET", SB_LIT("//evil.example/?token=" TOKEN), VISIT);
    settle(&a);
    assert_string_equal(header(&a, "Location"), "./");
    assert_non_null(strstr(header(&a, "Set-Cookie"), "Path=/;"));
    assert_non_null(strstr(header(&a, "Set-Cookie"), "; Secure"));
    end(&a);
}

static void visitors_get_a_login_page_and_programs_a_line(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", TOKEN);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/data/runs?x=<script>alert(1)</script>"), VISIT);
    settle(&a);
    assert_int_equal(a.wire.status, 401);
    assert_string_equal(header(&a, "Content-Type"), "text/html; charset=utf-8");
    assert_non_null(strstr(header(&a, "Content-Security-Policy"), "default-src 'none'"));
    assert_non_null(memmem(a.wire.body.p, a.wire.body.n, "<form method=\"post\">", 20));
    assert_null(memmem(a.wire.body.p, a.wire.body.n, "alert(1)", 8));
    assert_null(memmem(a.wire.body.p, a.wire.body.n, TOKEN, strlen(TOKEN)));
    end(&a);
    begin(&a, &o, "GET", SB_LIT("/data/runs"), HOST "Accept: */*\n");
    settle(&a);
    assert_int_equal(a.wire.status, 401);
    assert_string_equal(header(&a, "Content-Type"), "text/plain; charset=utf-8");
    assert_string_equal(header(&a, "WWW-Authenticate"), "Bearer");
    end(&a);
}

static void log_in(asked *a, const sb_http_options *o, const char *body) {
    begin(a, o, "POST", SB_LIT("/data/runs?x=1"),
          VISIT "Content-Type: application/x-www-form-urlencoded\nOrigin: http://localhost\n");
    assert_int_equal(a->verdict, SB_VERDICT_LOGIN);
    assert_null(a->row);
    a->q.body = sb_slice_str(body);
    sb_gate_login(&a->gate, &a->q, &a->r);
    settle(a);
}

static void a_posted_token_becomes_a_cookie(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", TOKEN);
    asked a;
    log_in(&a, &o, "token=+" TOKEN "%0A&next=http%3A%2F%2Fevil.example");
    assert_int_equal(a.wire.status, 401); /* a line end is not a blank */
    end(&a);
    log_in(&a, &o, "token=+" TOKEN "+&next=http%3A%2F%2Fevil.example");
    assert_int_equal(a.wire.status, 303);
    assert_string_equal(header(&a, "Location"), "./runs?x=1");
    assert_non_null(header(&a, "Set-Cookie"));
    end(&a);
    static const char *const bad[] = {"token=wrong", "token=", "", "tok=" TOKEN, "token=%ff"};
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        log_in(&a, &o, bad[i]);
        assert_int_equal(a.wire.status, 401);
        assert_null(header(&a, "Set-Cookie"));
        assert_non_null(memmem(a.wire.body.p, a.wire.body.n, "not the right one", 17));
        end(&a);
    }
    assert_int_equal(code(&o, "POST", "/data/runs",
                          VISIT "Content-Type: application/x-www-form-urlencoded\n"
                                "Origin: http://evil.example\n"),
                     403);
}

static void proxies_are_noticed(void **state) {
    (void)state;
    sb_http_options o;
    options_of(&o, "", NULL);
    asked a;
    begin(&a, &o, "GET", SB_LIT("/"), HOST "x-forwarded-for: 10.0.0.1\n");
    assert_true(a.q.is_forwarded);
    end(&a);
    begin(&a, &o, "GET", SB_LIT("/"), HOST);
    assert_false(a.q.is_forwarded);
    end(&a);
}

static void random_requests_are_survived(void **state) {
    (void)state;
    static const char alphabet[] = "/%.;\\?&=#:@[]\x01\xc3\xa4 abdnrstu2e0token";
    sb_http_options o;
    options_of(&o, "/d", TOKEN);
    sb_test_random random = sb_test_random_of(3);
    for (int round = 0; round < 3000; round++) {
        uint8_t text[40];
        size_t n = sb_test_below(&random, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = (uint8_t)alphabet[sb_test_below(&random, sizeof alphabet - 1)];
        if (n && round % 2) text[0] = '/';
        asked a;
        begin(&a, &o, "GET", sb_slice_of(text, n), round % 3 ? VISIT : HOST);
        assert_int_not_equal(a.verdict, SB_VERDICT_RUN);
        settle(&a);
        int status = a.wire.status;
        assert_true(status == 400 || status == 401);
        end(&a);
    }
}

static sb_status ask(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_http_options o;
    memory = alloc;
    options_of(&o, "/p", TOKEN);
    memory = &sb_alloc_libc;
    sb_gate gate;
    sb_err err;
    sb_status status = sb_gate_init(&gate, &o, 7, &err);
    if (status != SB_OK) return status;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, 1u << 20);
    sb_http_param headers[] = {{SB_LIT("Host"), SB_LIT("localhost")},
                               {SB_LIT("Accept"), SB_LIT("text/html")}};
    sb_http_request q = {.method = SB_HTTP_GET,
                         .target = SB_LIT("/p/data/runs?a=%ff&token=" TOKEN),
                         .headers = {headers, 2},
                         .arena = &arena,
                         .alloc = alloc,
                         .clock = &sb_clock_system};
    sb_reply_rules rules = {.policy = "p", .reply_memory = 1u << 20};
    sb_http_reply r;
    sb_reply_init(&r, &q, &rules);
    const sb_http_route *row;
    sb_verdict verdict = sb_gate_admit(&gate, &q, &r, &row, &status);
    assert_int_equal(verdict, SB_VERDICT_REPLY);
    sb_reply_settle(&r, status);
    sb_reply_wire wire;
    status = sb_reply_to_wire(&r, &wire);
    /* Short of memory the answer is an error, and never the way in. */
    if (status == SB_OK) status = wire.status == 303 ? SB_OK : SB_NOMEM;
    sb_reply_fini(&r);
    sb_arena_fini(&arena);
    sb_gate_fini(&gate);
    return status;
}

static void memory_that_runs_out_lets_nobody_in(void **state) {
    (void)state;
    sb_fault_alloc_sweep(ask, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_request_reaches_its_row),
        cmocka_unit_test(unknown_paths_and_methods_are_told_apart),
        cmocka_unit_test(malformed_requests_are_bad_requests),
        cmocka_unit_test(sizes_have_their_limits),
        cmocka_unit_test(foreign_hosts_are_refused_and_not_echoed),
        cmocka_unit_test(changes_from_other_origins_are_refused),
        cmocka_unit_test(a_prefix_is_compared_part_by_part),
        cmocka_unit_test(prefixes_that_cannot_work_are_invalid),
        cmocka_unit_test(the_rewrite_hook_moves_the_front_to_the_root),
        cmocka_unit_test(the_hook_answers_nobody_without_the_token),
        cmocka_unit_test(every_route_asks_for_the_token_unless_marked_open),
        cmocka_unit_test(header_cookie_and_query_open),
        cmocka_unit_test(a_link_with_the_token_becomes_a_cookie),
        cmocka_unit_test(visitors_get_a_login_page_and_programs_a_line),
        cmocka_unit_test(a_posted_token_becomes_a_cookie),
        cmocka_unit_test(proxies_are_noticed),
        cmocka_unit_test(random_requests_are_survived),
        cmocka_unit_test(memory_that_runs_out_lets_nobody_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
