/* guard.h: checks of who may send requests: Host, Origin, fetch metadata, token.
 *
 * Host: the owner of a page on another site may point its name at this machine (DNS rebinding), and
 * the page would then have our origin. So on a loopback address only the names of loopback are
 * answered, and those that were allowed by name. Names are compared whole, without case and without
 * one dot at the end; the port does not matter unless the allowed entry names one, since tunnels
 * change it.
 *
 * Origin: a request that may change something must come from a page of ours. Exact comparison with
 * the Host of the same request or with an allowed name; "null" never matches. Requests without an
 * Origin come from programs, not from pages. Behind a proxy that replaces Host the header
 * Sec-Fetch-Site: same-origin, which the browser sets and no page can forge, is accepted as well.
 *
 * Fetch metadata: a page elsewhere may link to us or frame us, but it may not load our data as a
 * script, an image or a style sheet.
 *
 * Token: compared in time that does not depend on where the difference is.
 *
 * Threads: a guard is read-only after init. */
#ifndef SB_SERVER_HTTP_GUARD_H
#define SB_SERVER_HTTP_GUARD_H

#include "server/http/http.h"

typedef struct sb_guard {
    bool check_host;
    bool allow_addresses; /* numeric addresses are accepted */
    sb_slice *allowed;    /* as given: NAME or NAME:PORT */
    size_t allowed_count;
    sb_slice token; /* empty: none is asked for */
    sb_slice cookie_name;
} sb_guard;

/* Copies into the arena. SB_INVALID for an allowed name that is none, a token or a cookie name that
 * cannot be sent. */
sb_status sb_guard_init(sb_guard *g, sb_arena *arena, const sb_http_options *o, sb_err *err);

/* Splits "name", "name:80", "[::1]:80" (port empty when absent). False when it is none of these. */
bool sb_authority_split(sb_slice authority, sb_slice *name, sb_slice *port);
/* localhost, 127.x.y.z, ::1 (without brackets), and IPv4 inside IPv6. */
bool sb_is_loopback_name(sb_slice name);

bool sb_guard_host(const sb_guard *g, sb_slice host);
/* origin.p is NULL when the header is absent. */
bool sb_guard_origin(const sb_guard *g, sb_slice origin, sb_slice host, sb_slice fetch_site);
bool sb_guard_fetch(sb_slice site, sb_slice mode, sb_http_method method);

bool sb_guard_token(const sb_guard *g, sb_slice offered);
/* The token in "Authorization: Bearer x" or in our cookie; the empty slice when there is none. */
sb_slice sb_bearer_token(sb_slice authorization);
/* The first cookie of that name whose value is the token decides; a stale one beside it does
 * not. */
bool sb_guard_cookie(const sb_guard *g, sb_slice cookies);

#endif
