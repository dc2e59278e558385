/* http.h: HTTP as a handler sees it. Nothing here knows what is served, nor which library listens.
 *
 *     static sb_status runs(sb_http_request *q, sb_http_reply *r, void *app) {
 *         sb_slice tag = sb_http_query(q, "tag");
 *         if (!tag.p) return sb_http_fail(r, 400, "tag is missing");
 *         sb_http_type(r, "application/json");
 *         write_runs(sb_http_body(r), app, tag);
 *         return SB_OK;
 *     }
 *     static const sb_http_route routes[] = {
 *         {.methods = SB_HTTP_READ, .path = "/data/runs", .run = runs},
 *         {.methods = SB_HTTP_READ, .path = "/data/slow", .run = slow, .how = SB_HTTP_POOLED},
 *     };
 *
 * Life of a request: limits and form of what was sent, Host, fetch metadata, Origin, path prefix,
 * the rewrite hook, the route, the token, the body, then the handler. A handler that is inline runs
 * on the listener's own thread and must answer from memory within a millisecond; a pooled one runs
 * on a worker while its connection is suspended. What it leaves in the reply is then compressed,
 * cut to a range, or replaced by "not modified", as the client asked.
 *
 * Who is let in is decided before any handler runs, and for every path: a route is closed unless
 * its row says open. HEAD is answered wherever GET is.
 *
 * Threads: a request and its reply belong to the handler until it returns. Memory from the
 * request's arena lives until the reply is sent. */
#ifndef SB_SERVER_HTTP_H
#define SB_SERVER_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"

typedef struct sb_http_server sb_http_server;
typedef struct sb_http_reply sb_http_reply;

/* ---- requests -------------------------------------------------------------------------------- */

typedef enum sb_http_method {
    SB_HTTP_GET = 1,
    SB_HTTP_HEAD = 2,
    SB_HTTP_POST = 4,
    SB_HTTP_PUT = 8,
    SB_HTTP_PATCH = 16,
    SB_HTTP_DELETE = 32,
    SB_HTTP_OPTIONS = 64,
    SB_HTTP_OTHER = 128, /* any word that is none of these; no route should allow it */
} sb_http_method;

#define SB_HTTP_READ (SB_HTTP_GET | SB_HTTP_HEAD)
#define SB_HTTP_ALL                                                                                \
    (SB_HTTP_READ | SB_HTTP_POST | SB_HTTP_PUT | SB_HTTP_PATCH | SB_HTTP_DELETE | SB_HTTP_OPTIONS)

typedef struct sb_http_param {
    sb_slice key;
    sb_slice value;
} sb_http_param;

/* In the order they came; a key may come more than once. */
typedef struct sb_http_params {
    const sb_http_param *items;
    size_t count;
} sb_http_params;

typedef struct sb_http_request {
    sb_http_method method;
    sb_slice target;        /* as it was sent, still encoded */
    sb_slice root;          /* the prefix that was removed from the front of the path; "" or "/x" */
    sb_slice path;          /* decoded once, without root; begins with '/' */
    sb_slice rest;          /* of a prefix route: the path behind the prefix */
    sb_http_params query;   /* decoded */
    sb_http_params headers; /* values trimmed */
    sb_slice body;
    sb_slice peer; /* the client's address as text, without port */
    bool peer_is_loopback;
    bool is_tls;
    bool is_forwarded; /* a proxy forwarded the request for another client */
    sb_arena *arena;   /* of this request, with a cap */
    const sb_alloc *alloc;
    const sb_clock *clock;
    uint64_t deadline;              /* steady nanoseconds: the request is given up after this */
    const _Atomic uint64_t *cut_at; /* a server that ends gives all requests an earlier deadline; 0
                                       while it does not end. May be NULL */
    bool is_inline;                 /* runs on the listener's thread: other requests of that thread
                                       wait until it is done */
} sb_http_request;

/* The first value of a query key; .p is NULL when there is none. */
sb_slice sb_http_query(const sb_http_request *q, const char *key);
/* The first value of a header, whatever the case of its name; .p is NULL when there is none. */
sb_slice sb_http_header(const sb_http_request *q, const char *name);
/* The first value of a key among params; .p is NULL when there is none. */
sb_slice sb_http_param_get(sb_http_params params, sb_slice key);
/* Did an equal pair of key and value come before pair i? */
bool sb_http_param_is_repeated(sb_http_params params, size_t i);
/* The fields of a form sent as application/x-www-form-urlencoded or multipart/form-data, in the
 * request's arena. Any other content type gives none. SB_INVALID for a body that is no such
 * form. */
sb_status sb_http_form(sb_http_request *q, sb_http_params *out, sb_err *err);
/* Takes the text up to the next '/' off the front of *path; false when nothing is left. */
bool sb_http_segment(sb_slice *path, sb_slice *segment);
/* Is the time budget used up? Long work checks this regularly and then returns SB_TIMEOUT. */
bool sb_http_expired(const sb_http_request *q);

/* ---- replies --------------------------------------------------------------------------------- */

/* A reply begins as 200, "text/plain; charset=utf-8", empty, not to be cached. */
void sb_http_status(sb_http_reply *r, int status);
/* The text must outlive the reply: a literal, or memory of the request's arena. */
void sb_http_type(sb_http_reply *r, const char *content_type);
/* Copies the value. SB_INVALID when it holds a control character, or the name is not a token. */
sb_status sb_http_set_header(sb_http_reply *r, const char *name, sb_slice value);

/* The body to append to; its cap is the request's memory budget. A failed append turns the reply
 * into an error by itself. */
sb_buf *sb_http_body(sb_http_reply *r);
/* A body whose memory the handler owns; release (may be NULL) is called when it was sent or is not
 * needed any more. */
void sb_http_lend(sb_http_reply *r, sb_slice body, void (*release)(void *ud), void *ud);
/* n bytes of an open file from offset on; the server closes the descriptor, also after an error. */
void sb_http_take_file(sb_http_reply *r, int fd, uint64_t offset, uint64_t n);

/* Appends the next piece of a body, a few hundred kilobytes at most. SB_OK: more follows; SB_END:
 * that was the last one; anything else: the body can't be finished. Runs on a worker, which owns
 * the request until this returns, as a handler does. Each piece has a deadline of its own. */
typedef sb_status (*sb_http_make_fn)(void *ud, sb_buf *out);
/* A streamed body: it is made piece by piece while the client reads it, and takes the memory of one
 * piece, however long it is. The first pieces are made by this call. When the body ends with them,
 * it is sent like any other; when they fail, this returns that status, and the handler returns it
 * too. A later failure closes the connection without the last chunk, so that a client does not take
 * an incomplete body for a complete one. release (may be NULL) is called once, when no more is
 * needed, also after a failure. Not for inline handlers. */
sb_status sb_http_make(sb_http_reply *r, sb_http_make_fn make, void (*release)(void *ud), void *ud);

/* The same bytes in several codings, made ahead of time; those that do not exist are empty, only
 * identity must be there. The bytes must outlive the server. */
typedef struct sb_http_asset {
    sb_slice identity;
    sb_slice gzip;
    sb_slice br;
    const char *content_type;
    const char *etag; /* without quotes; NULL: none */
} sb_http_asset;
void sb_http_send_asset(sb_http_reply *r, const sb_http_asset *asset);

/* An entity tag for these bytes, 1 to 120 visible characters without '"', which makes If-None-Match
 * work. Equal tags must mean equal bytes, so it is not made from the time. */
sb_status sb_http_etag(sb_http_reply *r, sb_slice name);
/* Lets a client ask for a part of the body. */
void sb_http_allow_ranges(sb_http_reply *r);

typedef enum sb_http_cache {
    SB_HTTP_CACHE_NO,      /* "no-cache, must-revalidate", Expires 0 */
    SB_HTTP_CACHE_DAY,     /* private, one day */
    SB_HTTP_CACHE_FOREVER, /* private, immutable */
    SB_HTTP_CACHE_NEVER,   /* no-store: not even the back button shows it */
} sb_http_cache;
void sb_http_cache_for(sb_http_reply *r, sb_http_cache how);

typedef enum sb_http_coding {
    SB_HTTP_CODING_AUTO, /* by content type: text and JSON are compressed, the rest is not */
    SB_HTTP_CODING_YES,  /* compress although bodies of this content type usually do not shrink */
    SB_HTTP_CODING_NO,
} sb_http_coding;
void sb_http_compress(sb_http_reply *r, sb_http_coding how);

/* Bytes that came from a log file, which are not trusted: a browser must not execute them. Sets a
 * sandbox policy in place of the server's own. With a file name the browser saves them under that
 * name instead of showing them; without one it saves them when it would show them as a page. */
void sb_http_user_content(sb_http_reply *r, sb_slice file_name);
/* A policy other than the server's for this page. The text must outlive the reply. */
void sb_http_policy(sb_http_reply *r, const char *content_security_policy);

/* An error: the text goes through the error-page hook, or is sent as plain text. Answers SB_OK, so
 * that a handler ends with "return sb_http_fail(...)". */
sb_status sb_http_fail(sb_http_reply *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* To a path of this server, given decoded and with its root: "/x/y". SB_INVALID when a browser
 * could read it as another host. */
sb_status sb_http_redirect(sb_http_reply *r, int status, sb_slice path, sb_slice raw_query);
/* Where a handler may leave the reason for a status other than SB_OK. */
sb_err *sb_http_err(sb_http_reply *r);

/* ---- routes ---------------------------------------------------------------------------------- */

/* What a status other than SB_OK turns into is a table in settle.c; the text is that of
 * sb_http_err. */
typedef sb_status (*sb_http_handler)(sb_http_request *q, sb_http_reply *r, void *app);

typedef enum sb_http_how {
    SB_HTTP_INLINE, /* from memory, within a millisecond */
    SB_HTTP_POOLED, /* may read files, may take long */
    SB_HTTP_QUICK,  /* too much for inline, but never long: listings and static files. They have
                       workers of their own, so that slow questions can't hold them up */
    SB_HTTP_EITHER, /* inline first; a handler that sees more work than that answers SB_MORE before
                       it has put anything into the reply, and is called again by a worker */
    SB_HTTP_STREAM, /* server-sent events: the newest version; run is NULL */
} sb_http_how;

typedef struct sb_http_route {
    unsigned methods;    /* a sum of sb_http_method; SB_HTTP_GET includes HEAD */
    const char *path;    /* "/a/b" exactly, or "/a/" and a star: all below "/a/" */
    sb_http_handler run; /* several rows may share a path if their methods differ */
    sb_http_how how;
    bool is_open;    /* answered without a token */
    size_t max_body; /* where it is more than the server's; 0: the server's */
} sb_http_route;

typedef struct sb_http_hooks {
    /* Before the route is looked up; may move the front of q->path to q->root (slices of what they
     * were, or of the arena) or answer by itself: SB_END. An empty path is answered with a redirect
     * to root + "/" afterwards. */
    sb_status (*rewrite)(sb_http_request *q, sb_http_reply *r, void *app);
    /* Fills the body and the type of an error reply; its status is set. */
    void (*error_page)(sb_http_request *q, sb_http_reply *r, int status, const char *text,
                       void *app);
} sb_http_hooks;

/* ---- the server ------------------------------------------------------------------------------ */

#define SB_HTTP_INSTANCE 32

typedef struct sb_http_options {
    const sb_alloc *alloc;
    const sb_clock *clock;
    const sb_http_route *routes; /* must outlive the server, as app must */
    size_t route_count;
    sb_http_hooks hooks;
    void *app;
    const char *path_prefix; /* "" or "/x", no slash at the end */
    const char *instance; /* tells this process from another one on the same port; sent with every
                      event of a stream. Letters and digits, at most SB_HTTP_INSTANCE; copied */
    uint64_t version;     /* what streams are told before anything is published: clients may connect
                         before the owner of the server can call sb_http_publish */

    /* Who is let in. The texts are copied. */
    bool check_host;                /* names other than this machine's own loopback are refused */
    bool allow_addresses;           /* but numeric addresses are accepted: unlike a name, an address
                                       cannot be made to point to another machine (DNS rebinding) */
    const char *const *allow_hosts; /* further names, or "name:port" */
    size_t allow_host_count;
    const char *token;           /* NULL: no token is asked for */
    const char *cookie_name;     /* a token; two servers on one host need two names */
    const char *policy;          /* Content-Security-Policy of HTML replies */
    const char *frame_ancestors; /* the frame-ancestors of that policy: which pages may show ours in
                                    a frame; NULL: all */
    const char *app_name;        /* title of the login page */

    const char *tls_cert; /* PEM; both or none */
    const char *tls_key;

    /* Limits. */
    unsigned threads;         /* that listen and answer inline */
    unsigned workers;         /* for pooled routes */
    unsigned quick_workers;   /* for quick routes */
    size_t queue;             /* pooled requests that may wait */
    unsigned max_connections; /* one address may have half of them; beyond that its own idle
                                 connections are closed */
    unsigned max_per_address; /* more are not accepted; 0: no limit; all clients of a proxy have one
                             address */
    unsigned max_streams;     /* one address may have half of them */
    size_t connection_memory; /* request line, headers and reply headers of one request */
    size_t max_target;        /* bytes of path and query */
    size_t max_headers;
    size_t max_params;
    size_t max_body;
    size_t request_memory;    /* cap of the arena */
    size_t reply_memory;      /* cap of a body */
    size_t memory;            /* of all requests and replies together; 0: no limit */
    uint64_t memory_wait;     /* how long a request waits for memory before it is refused */
    uint64_t request_time;    /* nanoseconds until sb_http_expired */
    uint64_t header_time;     /* from the connection's first moment to the last header */
    uint64_t idle_time;       /* between two requests, and without progress */
    uint64_t transfer_time;   /* for a body of either direction, plus its size at min_rate */
    uint64_t min_rate;        /* bytes per second */
    uint64_t stream_interval; /* least time between two events of one client */
    uint64_t heartbeat;
    size_t compress_min;          /* smaller bodies are sent as they are */
    size_t compress_min_loopback; /* the same for a client on this machine */
    size_t compress_inline_max;   /* larger bodies are compressed by a worker */
    uint64_t close_time;          /* how long closing waits for replies under way */
} sb_http_options;

/* The defaults of all options; there are no routes. */
void sb_http_defaults(sb_http_options *o);

/* Serves from now on, on a listening socket from sb_http_bind, which is closed by us even if this
 * fails. *out is set before the first request is taken, so that handlers may find it through app.
 * SB_INVALID for options that make no sense, two rows for one thing, a bad certificate. */
sb_status sb_http_open(sb_http_server **out, const sb_http_options *o, int *listener, sb_err *err);
/* Accepts no more requests, waits for the workers, ends the streams, and waits a little for replies
 * that are being sent. NULL is allowed. */
void sb_http_close(sb_http_server *s);

/* Publishes a new version to all streams. Cheap; may be called from any thread and at any rate. */
void sb_http_publish(sb_http_server *s, uint64_t version);
/* The same for a second number, which counts the changes of background jobs. */
void sb_http_publish_jobs(sb_http_server *s, uint64_t count);

typedef struct sb_http_counts {
    uint64_t connections;  /* open now */
    uint64_t streams;      /* open now */
    uint64_t requests;     /* answered since the start */
    uint64_t refused;      /* refused before a handler ran, since the start */
    uint64_t too_slow;     /* connections closed by the time limits, since the start */
    uint64_t queued;       /* pooled requests that wait now */
    uint64_t memory;       /* of all requests and replies, now */
    uint64_t memory_limit; /* of the same; 0: none */
    uint64_t no_memory;    /* requests refused because of it, since the start */
} sb_http_counts;
void sb_http_count(sb_http_server *s, sb_http_counts *out);

/* ---- where to listen ------------------------------------------------------------------------- */

typedef enum sb_http_bind_problem {
    SB_HTTP_BIND_FINE,
    SB_HTTP_BIND_IN_USE,        /* the one port that was asked for */
    SB_HTTP_BIND_ALL_IN_USE,    /* every one that was tried */
    SB_HTTP_BIND_NO_PORT,       /* port 0, and the system has none left */
    SB_HTTP_BIND_DENIED,        /* a port below 1024, as an ordinary user */
    SB_HTTP_BIND_NO_ADDRESS,    /* not an address of this machine */
    SB_HTTP_BIND_NO_FAMILY,     /* IPv6 on a system without it */
    SB_HTTP_BIND_UNKNOWN_HOST,  /* the name has no address */
    SB_HTTP_BIND_NO_REUSE_PORT, /* the system does not offer it */
    SB_HTTP_BIND_BAD_PORT,      /* above 65535 */
    SB_HTTP_BIND_OTHER,
} sb_http_bind_problem;

typedef struct sb_http_bind_options {
    const char *host; /* NULL or "": "localhost" */
    bool all;         /* every address, IPv4 and IPv6 where both exist */
    unsigned port;    /* 0: the system chooses */
    unsigned tries;   /* how many ports are tried, upwards from `port`; near 65535 it begins lower;
                         at least 1 */
    bool reuse_port;
} sb_http_bind_options;

typedef struct sb_http_bound {
    int listener; /* goes to sb_http_open, or is closed by the caller */
    unsigned port;
    bool is_loopback; /* only this machine can reach it */
    bool is_ipv6;
    char address[64]; /* as text */
    sb_http_bind_problem problem;
    unsigned problem_port; /* the last port that was tried */
} sb_http_bound;

/* On failure out->problem says which, err has one sentence. A port on which a server answers on
 * 127.0.0.1 counts as in use, even if binding to another address would work. */
sb_status sb_http_bind(sb_http_bound *out, const sb_http_bind_options *o, sb_err *err);

#endif
