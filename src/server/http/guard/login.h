/* login.h: authentication with the token: by link, by form, by header, by cookie.
 *
 * A link with ?token= opened in a browser is answered with a cookie and a redirect to the same
 * address without it, so that the token does not stay in the address bar. Programs get the reply to
 * their request directly. No parameter says where to redirect to: the redirect goes to the path of
 * the request itself. The cookie holds the token itself, so that a new token ends every session.
 * Threads: none. */
#ifndef SB_SERVER_HTTP_LOGIN_H
#define SB_SERVER_HTTP_LOGIN_H

#include "server/http/guard/admit.h"
#include "server/http/guard/guesses.h"

typedef enum sb_login {
    SB_LOGIN_UNKNOWN,
    SB_LOGIN_KNOWN,    /* header, cookie, or the token in a program's query */
    SB_LOGIN_BY_LINK,  /* a browser followed a link with the token */
    SB_LOGIN_BY_FORM,  /* a posted form may hold it */
    SB_LOGIN_TOO_MANY, /* this address has sent too many wrong tokens */
} sb_login;

sb_login sb_login_check(const sb_gate *g, const sb_http_request *q);
/* Is this the token? A wrong one is counted (guesses.h). */
bool sb_login_try(const sb_gate *g, const sb_http_request *q, sb_slice token);
/* May this client send a token, or a cookie, now? */
bool sb_login_may_guess(const sb_gate *g, const sb_http_request *q, sb_guess_kind kind);
/* Sets the cookie and sends the browser to path without the token. */
void sb_login_welcome(const sb_gate *g, sb_http_request *q, sb_http_reply *r, sb_slice path,
                      sb_slice raw_query);
/* 429: see guesses.h. */
void sb_login_slow_down(sb_http_reply *r);
/* 401: the login page for browsers, one line for programs. */
void sb_login_refuse(const sb_gate *g, sb_http_request *q, sb_http_reply *r);

#endif
