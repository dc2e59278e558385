/* guard.c: the rules of guard.h; all of them plain comparisons, no patterns. */
#include "server/http/guard/guard.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/slice.h"
#include "server/http/text.h"
#include "base/banned.h"

#define MAX_NAME 255 /* of a host, and of a token */

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name_char(uint8_t c) {
    c = sb_text_lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static bool is_ipv6_char(uint8_t c) {
    c = sb_text_lower(c);
    return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

static bool all_are(sb_slice s, bool (*is)(uint8_t)) {
    for (size_t i = 0; i < s.n; i++)
        if (!is(s.p[i])) return false;
    return s.n > 0 && s.n <= MAX_NAME;
}

bool sb_authority_split(sb_slice a, sb_slice *name, sb_slice *port) {
    size_t end;
    if (a.n && a.p[0] == '[') {
        const uint8_t *bracket = memchr(a.p, ']', a.n);
        if (!bracket) return false;
        end = (size_t)(bracket - a.p) + 1;
        *name = sb_slice_of(a.p + 1, end - 2);
        if (!all_are(*name, is_ipv6_char)) return false;
    } else {
        const uint8_t *colon = a.n ? memchr(a.p, ':', a.n) : NULL;
        end = colon ? (size_t)(colon - a.p) : a.n;
        *name = sb_slice_of(a.p, end);
        if (!all_are(*name, is_name_char)) return false;
    }
    *port = sb_slice_of(a.p + end, 0);
    if (end == a.n) return true;
    if (a.p[end] != ':') return false;
    *port = sb_slice_of(a.p + end + 1, a.n - end - 1);
    uint64_t number;
    return sb_text_number(*port, &number) && number <= 65535;
}

/* "localhost." is localhost; "localhost.." is nothing. */
static sb_slice without_last_dot(sb_slice name) {
    if (name.n > 1 && name.p[name.n - 1] == '.') name.n--;
    return name;
}

/* The family of a numeric address, in four or six; AF_UNSPEC: it is none. */
static int read_address(sb_slice name, struct in_addr *four, struct in6_addr *six) {
    char text[INET6_ADDRSTRLEN];
    if (name.n >= sizeof text) return AF_UNSPEC;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    if (inet_pton(AF_INET, text, four) == 1) return AF_INET;
    return inet_pton(AF_INET6, text, six) == 1 ? AF_INET6 : AF_UNSPEC;
}

bool sb_is_loopback_name(sb_slice name) {
    name = without_last_dot(name);
    if (sb_text_same(name, "localhost")) return true;
    struct in_addr four;
    struct in6_addr six;
    int family = read_address(name, &four, &six);
    if (family == AF_INET) return ntohl(four.s_addr) >> 24 == 127;
    if (family == AF_UNSPEC) return false;
    if (IN6_IS_ADDR_V4MAPPED(&six)) return six.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_address(sb_slice name) {
    struct in_addr four;
    struct in6_addr six;
    return read_address(name, &four, &six) != AF_UNSPEC;
}

/* ---- building -------------------------------------------------------------------------------- */

static bool is_token_char(uint8_t c) {
    /* What a cookie value and a header take unchanged. */
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("-._~+/=", c));
}

static sb_status copy_allowed(sb_guard *g, sb_arena *arena, const sb_http_options *o, sb_err *err) {
    g->allowed =
        sb_arena_zeroed(arena, o->allow_host_count ? o->allow_host_count : 1, sizeof *g->allowed);
    if (!g->allowed) return sb_fail_nomem(err, "for the allowed hosts");
    for (size_t i = 0; i < o->allow_host_count; i++) {
        sb_slice name, port, given = sb_slice_str(o->allow_hosts[i]);
        if (!sb_authority_split(given, &name, &port))
            return sb_fail(
                err, SB_INVALID, 0,
                "'%s' is not a host name; write NAME or NAME:PORT, an IPv6 address in []",
                o->allow_hosts[i]);
        sb_slice copy = sb_arena_dup(arena, given);
        if (!copy.p) return sb_fail_nomem(err, "for the allowed hosts");
        g->allowed[g->allowed_count++] = copy;
    }
    return SB_OK;
}

sb_status sb_guard_init(sb_guard *g, sb_arena *arena, const sb_http_options *o, sb_err *err) {
    *g = (sb_guard){.check_host = o->check_host || o->allow_host_count > 0,
                    .allow_addresses = o->allow_addresses};
    if (o->token) {
        sb_slice token = sb_slice_str(o->token);
        if (!all_are(token, is_token_char))
            return sb_fail(
                err, SB_INVALID, 0,
                "a token has 1 to %d letters, digits or characters of -._~+/=", MAX_NAME);
        g->token = sb_arena_dup(arena, token);
        if (!g->token.p) return sb_fail_nomem(err, "for the token");
    }
    sb_slice cookie = sb_slice_str(o->cookie_name);
    if (!sb_text_is_token(cookie))
        return sb_fail(err, SB_INVALID, 0, "'%s' is not a cookie name",
                       o->cookie_name ? o->cookie_name : "");
    g->cookie_name = sb_arena_dup(arena, cookie);
    if (!g->cookie_name.p) return sb_fail_nomem(err, "for the cookie's name");
    return copy_allowed(g, arena, o, err);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool is_allowed(const sb_guard *g, sb_slice name, sb_slice port) {
    for (size_t i = 0; i < g->allowed_count; i++) {
        sb_slice allowed_name, allowed_port;
        if (!sb_authority_split(g->allowed[i], &allowed_name, &allowed_port)) continue;
        if (allowed_port.n && !sb_slice_eq(allowed_port, port)) continue;
        if (sb_text_same_slice(without_last_dot(allowed_name), without_last_dot(name))) return true;
    }
    return false;
}

bool sb_guard_host(const sb_guard *g, sb_slice host) {
    sb_slice name, port;
    if (!sb_authority_split(host, &name, &port)) return false;
    if (!g->check_host) return true;
    return sb_is_loopback_name(name) || (g->allow_addresses && is_address(name)) ||
           is_allowed(g, name, port);
}

bool sb_guard_origin(const sb_guard *g, sb_slice origin, sb_slice host, sb_slice fetch_site) {
    if (!origin.p) return true;
    if (sb_text_same(fetch_site, "same-origin")) return true;
    sb_slice authority;
    if (sb_slice_starts(origin, SB_LIT("http://")))
        authority = sb_slice_of(origin.p + 7, origin.n - 7);
    else if (sb_slice_starts(origin, SB_LIT("https://")))
        authority = sb_slice_of(origin.p + 8, origin.n - 8);
    else
        return false;
    sb_slice name, port;
    if (!sb_authority_split(authority, &name, &port)) return false;
    return sb_text_same_slice(authority, host) || is_allowed(g, name, port);
}

bool sb_guard_fetch(sb_slice site, sb_slice mode, sb_http_method method) {
    if (!site.p || sb_text_same(site, "same-origin") || sb_text_same(site, "none")) return true;
    return sb_text_same(mode, "navigate") && (method & SB_HTTP_READ);
}

bool sb_guard_token(const sb_guard *g, sb_slice offered) {
    if (g->token.n == 0) return true;
    if (offered.n == 0) return false;
    /* Compares every byte, whatever was sent, so that the time it takes tells nothing but the
     * length. */
    uint8_t difference = offered.n == g->token.n ? 0 : 1;
    for (size_t i = 0; i < g->token.n; i++)
        difference |= (uint8_t)(g->token.p[i] ^ offered.p[i % offered.n]);
    return difference == 0;
}

sb_slice sb_bearer_token(sb_slice authorization) {
    sb_slice scheme = SB_LIT("Bearer ");
    if (authorization.n <= scheme.n ||
        !sb_text_same_slice(sb_slice_of(authorization.p, scheme.n), scheme))
        return (sb_slice){NULL, 0};
    return sb_text_trim(sb_slice_of(authorization.p + scheme.n, authorization.n - scheme.n));
}

bool sb_guard_cookie(const sb_guard *g, sb_slice cookies) {
    bool found = false;
    while (cookies.n) {
        const uint8_t *end = memchr(cookies.p, ';', cookies.n);
        size_t n = end ? (size_t)(end - cookies.p) : cookies.n;
        sb_slice pair = sb_text_trim(sb_slice_of(cookies.p, n));
        size_t used = end ? n + 1 : n;
        cookies = sb_slice_of(cookies.p + used, cookies.n - used);
        const uint8_t *equals = pair.n ? memchr(pair.p, '=', pair.n) : NULL;
        if (!equals) continue;
        size_t name_n = (size_t)(equals - pair.p);
        if (!sb_slice_eq(sb_slice_of(pair.p, name_n), g->cookie_name)) continue;
        if (sb_guard_token(g, sb_slice_of(equals + 1, pair.n - name_n - 1))) found = true;
    }
    return found;
}
