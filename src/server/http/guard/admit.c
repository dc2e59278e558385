/* admit.c: the steps of admit.h, in their order. */
#include "server/http/guard/admit.h"

#include "base/slice.h"
#include "server/http/guard/login.h"
#include "server/http/text.h"
#include "server/http/url.h"
#include "base/banned.h"

sb_http_method sb_method_of(const char *word) {
    static const struct {
        const char *word;
        sb_http_method method;
    } methods[] = {
        {"GET", SB_HTTP_GET},         {"HEAD", SB_HTTP_HEAD},   {"POST", SB_HTTP_POST},
        {"PUT", SB_HTTP_PUT},         {"PATCH", SB_HTTP_PATCH}, {"DELETE", SB_HTTP_DELETE},
        {"OPTIONS", SB_HTTP_OPTIONS},
    };
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].word, word) == 0) return methods[i].method;
    return SB_HTTP_OTHER;
}

static sb_status check_prefix(sb_slice prefix, sb_err *err) {
    sb_slice part, rest = prefix;
    bool fine = prefix.n == 0 || (prefix.p[0] == '/' && prefix.p[prefix.n - 1] != '/');
    for (sb_http_segment(&rest, &part); fine && sb_http_segment(&rest, &part);)
        fine = part.n > 0; /* "/a//b" would never match, "//a" would lead elsewhere */
    if (!fine)
        return sb_fail(err, SB_INVALID, 0,
                       "a path prefix begins with one slash and ends without: '%.*s'",
                       SB_SHOWN(prefix));
    return SB_OK;
}

sb_status sb_gate_init(sb_gate *g, const sb_http_options *o, uint64_t seed, sb_err *err) {
    *g = (sb_gate){
        .hooks = o->hooks,
        .app = o->app,
        .is_tls = o->tls_cert != NULL,
        .max_target = o->max_target,
        .max_headers = o->max_headers,
        .max_params = o->max_params,
    };
    sb_arena_init(&g->memory, o->alloc, 4096, 1u << 20);
    sb_slice prefix = sb_slice_str(o->path_prefix);
    sb_status status = check_prefix(prefix, err);
    if (status == SB_OK) {
        g->prefix = sb_arena_dup(&g->memory, prefix);
        g->app_name = sb_arena_dup(&g->memory, sb_slice_str(o->app_name));
        g->guesses = sb_arena_zeroed(&g->memory, 1, sizeof *g->guesses);
        if (!g->prefix.p || !g->app_name.p || !g->guesses)
            status = sb_fail_nomem(err, "for the server's options");
    }
    if (status == SB_OK) status = sb_guard_init(&g->guard, &g->memory, o, err);
    if (status == SB_OK)
        status = sb_routes_init(&g->routes, o->alloc, o->routes, o->route_count, seed, err);
    if (status != SB_OK) sb_arena_fini(&g->memory);
    return status;
}

void sb_gate_fini(sb_gate *g) {
    sb_routes_fini(&g->routes);
    sb_arena_fini(&g->memory);
}

/* ---- form ------------------------------------------------------------------------------------ */

static bool is_visible(sb_slice s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] == 0x7f) return false;
    return true;
}

static bool is_header_text(sb_slice s) {
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f) return false;
    return true;
}

static size_t count_header(const sb_http_request *q, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < q->headers.count; i++)
        count += sb_text_same(q->headers.items[i].key, name);
    return count;
}

static bool request_has_header(const sb_http_request *q, const char *name) {
    return sb_http_header(q, name).p != NULL;
}

/* True when the request is well formed; else the reply says what is wrong. */
static bool check_form(const sb_gate *g, const sb_http_request *q, sb_http_reply *r) {
    if (q->target.n > g->max_target) {
        sb_http_fail(r, 414, "The address is longer than %zu bytes.", g->max_target);
        return false;
    }
    if (q->headers.count > g->max_headers) {
        sb_http_fail(r, 431, "The request has more than %zu headers.", g->max_headers);
        return false;
    }
    if (!is_visible(q->target)) {
        sb_http_fail(r, 400, "The address holds a blank or a control character.");
        return false;
    }
    for (size_t i = 0; i < q->headers.count; i++) {
        if (is_header_text(q->headers.items[i].value) && sb_text_is_token(q->headers.items[i].key))
            continue;
        sb_http_fail(r, 400, "A header holds a control character.");
        return false;
    }
    if (request_has_header(q, "Transfer-Encoding") && request_has_header(q, "Content-Length")) {
        /* Two lengths (request smuggling): a proxy and this server could disagree where the body
         * ends and the next request begins. */
        sb_http_fail(r, 400, "The request has both a length and a transfer coding.");
        r->must_close = true;
        return false;
    }
    if (count_header(q, "Content-Length") > 1) {
        sb_http_fail(r, 400, "The request has more than one Content-Length header.");
        r->must_close = true;
        return false;
    }
    if (count_header(q, "Host") != 1) {
        sb_http_fail(r, 400, "The request needs exactly one Host header.");
        return false;
    }
    return true;
}

/* ---- who asks -------------------------------------------------------------------------------- */

static bool check_guards(const sb_gate *g, const sb_http_request *q, sb_http_reply *r) {
    sb_slice host = sb_http_header(q, "Host");
    if (!sb_guard_host(&g->guard, host)) {
        sb_http_fail(
            r, 403,
            "This server does not know the host name in your request. If that name is right, "
            "start the server with --allow_host NAME to let it in.");
        return false;
    }
    sb_slice site = sb_http_header(q, "Sec-Fetch-Site");
    if (!sb_guard_fetch(site, sb_http_header(q, "Sec-Fetch-Mode"), q->method)) {
        sb_http_fail(r, 403, "Pages of other sites may not read from this server.");
        return false;
    }
    bool may_change = !(q->method & SB_HTTP_READ);
    if (may_change && !sb_guard_origin(&g->guard, sb_http_header(q, "Origin"), host, site)) {
        sb_http_fail(r, 403,
                     "Pages of other sites may not change anything on this server. If the page is "
                     "your own, start the server with --allow_host NAME for its host.");
        return false;
    }
    return true;
}

static bool is_forwarded(const sb_http_request *q) {
    static const char *const names[] = {"X-Forwarded-For",   "Forwarded", "X-Forwarded-Host",
                                        "X-Forwarded-Proto", "X-Real-IP", "Via"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (request_has_header(q, names[i])) return true;
    return false;
}

/* ---- where to -------------------------------------------------------------------------------- */

/* Fills query, root and path. */
static bool read_target(const sb_gate *g, sb_http_request *q, sb_http_reply *r,
                        sb_slice *raw_query) {
    sb_slice raw_path;
    sb_status status = sb_url_split(q->target, &raw_path, raw_query, &r->err);
    if (status == SB_OK) status = sb_url_path(q->arena, raw_path, &q->path, &r->err);
    if (status == SB_OK)
        status = sb_url_params(q->arena, *raw_query, g->max_params, &q->query, &r->err);
    if (status == SB_OK) return true;
    char text[sizeof r->err.text];
    memcpy(text, r->err.text, sizeof text);
    sb_http_fail(r, status == SB_LIMIT ? 414 : sb_reply_code_of(status), "Bad address: %s.", text);
    return false;
}

/* Moves the prefix from path to root; compares whole parts, so /ab is not below /a. */
static bool take_prefix(const sb_gate *g, sb_http_request *q) {
    size_t n = g->prefix.n;
    q->root = sb_slice_of(q->path.p, 0);
    if (!sb_slice_starts(q->path, g->prefix)) return false;
    if (q->path.n > n && n > 0 && q->path.p[n] != '/') return false;
    q->root = sb_slice_of(q->path.p, n);
    q->path = sb_slice_of(q->path.p + n, q->path.n - n);
    return true;
}

static void redirect_to_root(sb_http_request *q, sb_http_reply *r) {
    sb_buf path;
    sb_buf_init(&path, q->alloc, 256u << 10);
    sb_buf_add_slice(&path, q->root);
    sb_buf_add_byte(&path, '/');
    if (sb_http_redirect(r, 301, sb_buf_slice(&path), (sb_slice){NULL, 0}) != SB_OK)
        sb_http_fail(r, 400, "That address leads nowhere.");
    sb_buf_fini(&path);
}

static const char *allow_text(sb_arena *arena, unsigned methods) {
    static const struct {
        sb_http_method method;
        const char *text;
    } words[] = {
        {SB_HTTP_GET, "GET"},         {SB_HTTP_HEAD, "HEAD"},   {SB_HTTP_POST, "POST"},
        {SB_HTTP_PUT, "PUT"},         {SB_HTTP_PATCH, "PATCH"}, {SB_HTTP_DELETE, "DELETE"},
        {SB_HTTP_OPTIONS, "OPTIONS"},
    };
    char text[64];
    size_t n = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(methods & words[i].method)) continue;
        size_t word = strlen(words[i].text);
        if (n) memcpy(text + n, ", ", 2), n += 2;
        memcpy(text + n, words[i].text, word);
        n += word;
    }
    sb_slice copy = sb_arena_dup(arena, sb_slice_of(text, n));
    return copy.p ? (const char *)copy.p : "GET";
}

/* ---- all together ---------------------------------------------------------------------------- */

/* The route of the path. Whether the client has the token is checked afterwards. */
static sb_verdict find_route(const sb_gate *g, sb_http_request *q, sb_http_reply *r,
                             const sb_http_route **row, sb_status *status) {
    *row = NULL;
    if (!take_prefix(g, q)) {
        sb_http_fail(r, 404, "Not found");
        return SB_VERDICT_REPLY;
    }
    if (g->hooks.rewrite) *status = g->hooks.rewrite(q, r, g->app);
    if (*status != SB_OK) return SB_VERDICT_REPLY;
    if (q->path.n == 0) {
        redirect_to_root(q, r);
        return SB_VERDICT_REPLY;
    }
    sb_route_match match = sb_routes_find(&g->routes, q->path, q->method);
    if (match.row) {
        *row = match.row;
        q->rest = match.rest;
        return SB_VERDICT_RUN;
    }
    if (match.methods) {
        r->allow = allow_text(q->arena, match.methods);
        sb_http_fail(r, 405, "Method not allowed");
    } else {
        sb_http_fail(r, 404, "Not found");
    }
    return SB_VERDICT_REPLY;
}

sb_verdict sb_gate_admit(const sb_gate *g, sb_http_request *q, sb_http_reply *r,
                         const sb_http_route **row, sb_status *status) {
    *row = NULL;
    *status = SB_OK;
    q->is_forwarded = is_forwarded(q);
    sb_slice raw_query;
    if (!check_form(g, q, r) || !check_guards(g, q, r) || !read_target(g, q, r, &raw_query))
        return SB_VERDICT_REPLY;
    sb_slice path = q->path;
    sb_verdict verdict = find_route(g, q, r, row, status);
    if (g->guard.token.n == 0 || (*row && (*row)->is_open)) return verdict;
    switch (sb_login_check(g, q)) {
    case SB_LOGIN_KNOWN:
        return verdict;
    case SB_LOGIN_BY_LINK:
        *row = NULL;
        *status = SB_OK;
        sb_login_welcome(g, q, r, path, raw_query);
        return SB_VERDICT_REPLY;
    case SB_LOGIN_TOO_MANY:
        *row = NULL;
        *status = SB_OK;
        sb_login_slow_down(r);
        return SB_VERDICT_REPLY;
    case SB_LOGIN_BY_FORM:
        *row = NULL;
        *status = SB_OK;
        return SB_VERDICT_LOGIN;
    default:
        *row = NULL;
        *status = SB_OK;
        sb_login_refuse(g, q, r);
        return SB_VERDICT_REPLY;
    }
}

void sb_gate_login(const sb_gate *g, sb_http_request *q, sb_http_reply *r) {
    sb_http_params form;
    sb_slice path, raw_path, raw_query, token = {NULL, 0};
    bool fine = sb_http_form(q, &form, &r->err) == SB_OK &&
                sb_url_split(q->target, &raw_path, &raw_query, &r->err) == SB_OK &&
                sb_url_path(q->arena, raw_path, &path, &r->err) == SB_OK;
    if (fine) token = sb_http_param_get(form, SB_LIT("token"));
    if (fine && sb_login_try(g, q, sb_text_trim(token)))
        sb_login_welcome(g, q, r, path, raw_query);
    else
        sb_login_refuse(g, q, r);
}
