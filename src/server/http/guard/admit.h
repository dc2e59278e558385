/* admit.h: everything that is decided about a request before a handler sees it.
 *
 *     form and size of target and headers -> Host -> fetch metadata -> Origin -> prefix -> rewrite
 *     hook -> route -> token
 *
 * The token is asked for last, but for every path that is not marked open, known or not: a new
 * route that does not say otherwise needs the token. Nothing here touches a socket.
 * Threads: a gate is read-only after init. */
#ifndef SB_SERVER_HTTP_ADMIT_H
#define SB_SERVER_HTTP_ADMIT_H

#include "server/http/guard/guard.h"
#include "server/http/reply.h"
#include "server/http/route.h"

typedef struct sb_gate {
    sb_guard guard;
    sb_routes routes;
    sb_slice prefix;
    sb_slice app_name;
    sb_http_hooks hooks;
    void *app;
    bool is_tls;
    size_t max_target;
    size_t max_headers;
    size_t max_params;
    struct sb_guesses *guesses;
    sb_arena memory; /* of the copies of the options' texts */
} sb_gate;

sb_status sb_gate_init(sb_gate *g, const sb_http_options *o, uint64_t seed, sb_err *err);
void sb_gate_fini(sb_gate *g);

/* The method of a request line. */
sb_http_method sb_method_of(const char *word);

typedef enum sb_verdict {
    SB_VERDICT_RUN,   /* the row's handler answers */
    SB_VERDICT_REPLY, /* r is the complete reply */
    SB_VERDICT_LOGIN, /* read the body, then ask sb_gate_login */
} sb_verdict;

/* Looks at method, target, headers and peer of q, and fills root, path, rest, query, is_forwarded.
 * *status goes with r to sb_reply_settle. */
sb_verdict sb_gate_admit(const sb_gate *g, sb_http_request *q, sb_http_reply *r,
                         const sb_http_route **row, sb_status *status);

/* The body has been read: a form with the right token gets the cookie; everything else gets the
 * login page again. */
void sb_gate_login(const sb_gate *g, sb_http_request *q, sb_http_reply *r);

#endif
