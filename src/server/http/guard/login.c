/* login.c: the ways to log in (login.h), and the login page. */
#include "server/http/guard/login.h"

#include "base/slice.h"
#include "server/http/text.h"
#include "base/banned.h"

#define COOKIE_SECONDS "2592000" /* thirty days */

/* Styles only: the page holds nothing that came from outside but the program's own name. */
#define LOGIN_POLICY                                                                               \
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"

/* Is it a browser that shows the reply as a page, and not a program or a script? */
static bool is_visit(const sb_http_request *q) {
    sb_slice mode = sb_http_header(q, "Sec-Fetch-Mode");
    if (mode.p) return sb_text_same(mode, "navigate");
    sb_slice accepted = sb_http_header(q, "Accept");
    return accepted.n && memmem(accepted.p, accepted.n, "text/html", 9) != NULL;
}

static bool is_form(const sb_http_request *q) {
    sb_slice type = sb_http_header(q, "Content-Type");
    size_t n = 0;
    while (n < type.n && type.p[n] != ';') n++;
    return sb_text_same(sb_text_trim(sb_slice_of(type.p, n)), "application/x-www-form-urlencoded");
}

bool sb_login_may_guess(const sb_gate *g, const sb_http_request *q, sb_guess_kind kind) {
    return sb_guesses_allow(g->guesses, kind, q->peer, q->clock->steady(q->clock->ctx));
}

/* Notes a wrong guess; returns is_right. */
static bool judge(const sb_gate *g, const sb_http_request *q, sb_guess_kind kind, bool is_right) {
    if (!is_right) sb_guesses_count(g->guesses, kind, q->peer, q->clock->steady(q->clock->ctx));
    return is_right;
}

bool sb_login_try(const sb_gate *g, const sb_http_request *q, sb_slice token) {
    return judge(g, q, SB_GUESS_TOKEN, sb_guard_token(&g->guard, token));
}

/* A cookie is ignored when this address has sent too many wrong ones. */
static bool has_cookie(const sb_gate *g, const sb_http_request *q) {
    sb_slice cookies = sb_http_header(q, "Cookie"), name = g->guard.cookie_name;
    if (!cookies.n || !memmem(cookies.p, cookies.n, name.p, name.n)) return false;
    return sb_login_may_guess(g, q, SB_GUESS_COOKIE) &&
           judge(g, q, SB_GUESS_COOKIE, sb_guard_cookie(&g->guard, cookies));
}

sb_login sb_login_check(const sb_gate *g, const sb_http_request *q) {
    sb_slice bearer = sb_bearer_token(sb_http_header(q, "Authorization"));
    sb_slice link = sb_http_query(q, "token");
    bool is_form_sent = q->method == SB_HTTP_POST && is_visit(q) && is_form(q);
    bool may_guess = sb_login_may_guess(g, q, SB_GUESS_TOKEN);
    if (may_guess && bearer.n && sb_login_try(g, q, bearer)) return SB_LOGIN_KNOWN;
    if (may_guess && link.n && sb_login_try(g, q, link))
        return is_visit(q) && (q->method & SB_HTTP_READ) ? SB_LOGIN_BY_LINK : SB_LOGIN_KNOWN;
    if (has_cookie(g, q)) return SB_LOGIN_KNOWN;
    if (!may_guess && (bearer.n || link.n || is_form_sent)) return SB_LOGIN_TOO_MANY;
    return is_form_sent ? SB_LOGIN_BY_FORM : SB_LOGIN_UNKNOWN;
}

void sb_login_slow_down(sb_http_reply *r) {
    r->header_count = 0;
    r->allow = NULL;
    sb_http_fail(r, 429, "Too many wrong tokens; try again in a few seconds.");
    sb_http_set_header(r, "Retry-After", SB_LIT("10"));
    r->cache = SB_HTTP_CACHE_NEVER;
}

static sb_status set_cookie(const sb_gate *g, sb_http_request *q, sb_http_reply *r) {
    sb_buf cookie;
    sb_buf_init(&cookie, q->alloc, 4096);
    sb_buf_add_slice(&cookie, g->guard.cookie_name);
    sb_buf_add_byte(&cookie, '=');
    sb_buf_add_slice(&cookie, g->guard.token);
    sb_buf_add_str(&cookie, "; Path=");
    if (g->prefix.n)
        sb_buf_add_slice(&cookie, g->prefix);
    else
        sb_buf_add_byte(&cookie, '/');
    sb_buf_add_str(&cookie, "; Max-Age=" COOKIE_SECONDS "; HttpOnly; SameSite=Lax");
    /* A proxy that terminates TLS says so in this header; a client that lies about it harms only
     * its own cookie. */
    if (g->is_tls || sb_text_same(sb_http_header(q, "X-Forwarded-Proto"), "https"))
        sb_buf_add_str(&cookie, "; Secure");
    sb_status status = sb_buf_check(&cookie, "a cookie", &r->err);
    if (status == SB_OK) status = sb_http_set_header(r, "Set-Cookie", sb_buf_slice(&cookie));
    sb_buf_fini(&cookie);
    return status;
}

void sb_login_welcome(const sb_gate *g, sb_http_request *q, sb_http_reply *r, sb_slice path,
                      sb_slice raw_query) {
    r->header_count = 0;
    r->has_error_text = false;
    r->allow = NULL;
    r->cache = SB_HTTP_CACHE_NEVER;
    sb_status status = set_cookie(g, q, r);
    if (status == SB_OK) status = sb_reply_redirect_here(r, 303, path, raw_query, SB_LIT("token"));
    if (status != SB_OK) sb_http_fail(r, sb_reply_code_of(status), "The login failed.");
}

static void add_html_escaped(sb_buf *out, sb_slice text) {
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '<':
            sb_buf_add_str(out, "&lt;");
            break;
        case '>':
            sb_buf_add_str(out, "&gt;");
            break;
        case '&':
            sb_buf_add_str(out, "&amp;");
            break;
        case '"':
            sb_buf_add_str(out, "&quot;");
            break;
        default:
            sb_buf_add_byte(out, text.p[i]);
        }
    }
}

static void write_page(const sb_gate *g, const sb_http_request *q, sb_buf *out) {
    bool tried = q->method == SB_HTTP_POST || sb_http_query(q, "token").p;
    sb_buf_add_str(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    add_html_escaped(out, g->app_name);
    sb_buf_add_str(
        out,
        "</title>\n<style>\n"
        ":root { color-scheme: light dark; font: 16px system-ui, sans-serif }\n"
        "body { max-width: 26rem; margin: 15vh auto; padding: 0 1rem }\n"
        "input, button { font: inherit; padding: .5rem; width: 100%; box-sizing: border-box }\n"
        "button { margin-top: .5rem }\n"
        "</style>\n<h1>");
    add_html_escaped(out, g->app_name);
    sb_buf_add_str(out, "</h1>\n");
    if (tried)
        sb_buf_add_str(out, "<p role=\"alert\"><b>That token is not the right one.</b></p>\n");
    sb_buf_add_str(
        out,
        "<p>This server asks for its token. It is part of the address that was printed when the "
        "server started: the text behind <code>token=</code>.</p>\n"
        "<form method=\"post\">\n"
        "<label>Token <input name=\"token\" type=\"password\" autofocus required "
        "autocomplete=\"current-password\"></label>\n"
        "<button>Log in</button>\n</form>\n");
}

void sb_login_refuse(const sb_gate *g, sb_http_request *q, sb_http_reply *r) {
    r->header_count = 0;
    r->allow = NULL;
    sb_http_fail(r, 401, "Unauthenticated: this server asks for its token.");
    sb_http_set_header(r, "WWW-Authenticate", SB_LIT("Bearer"));
    r->cache = SB_HTTP_CACHE_NEVER;
    if (!is_visit(q)) return;
    r->has_error_text = false;
    sb_http_type(r, "text/html; charset=utf-8");
    sb_http_policy(r, LOGIN_POLICY);
    write_page(g, q, sb_http_body(r));
}
