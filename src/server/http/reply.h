/* reply.h: a reply between the handler and the socket; inside server/http only.
 *
 *     handler fills -> settle (errors, not-modified, range, which coding) -> compress -> wire
 *
 * settle and wire are cheap and never fail; compress may take milliseconds and may be left out, the
 * body is then sent as it is. Nothing here touches a socket, so all of it is tested alone.
 * Threads: belongs to the thread that owns the request. */
#ifndef SB_SERVER_HTTP_REPLY_H
#define SB_SERVER_HTTP_REPLY_H

#include "server/http/compress.h"
#include "server/http/http.h"
#include "server/http/negotiate.h"

#define SB_REPLY_HEADERS 24

typedef enum sb_reply_body {
    SB_REPLY_EMPTY,
    SB_REPLY_BUFFER,
    SB_REPLY_LENT,
    SB_REPLY_FILE,
    SB_REPLY_ASSET,
    SB_REPLY_MADE,
} sb_reply_body;

/* What all replies of one server have in common. */
typedef struct sb_reply_rules {
    const char *policy;          /* Content-Security-Policy of HTML */
    const char *frame_ancestors; /* of the policy of every page; NULL or "": none */
    sb_http_hooks hooks;
    void *app;
    size_t reply_memory;
    size_t compress_min;
    size_t compress_min_loopback;
} sb_reply_rules;

struct sb_http_reply {
    sb_http_request *request;
    const sb_reply_rules *rules;
    int status;
    const char *type; /* NULL: none, for replies without a body */
    sb_http_param headers[SB_REPLY_HEADERS];
    size_t header_count;
    sb_reply_body kind;
    sb_buf buffer;     /* of SB_REPLY_BUFFER; the next piece of SB_REPLY_MADE */
    sb_buf compressed; /* what compress made of the body */
    sb_slice lent;
    void (*release)(void *ud);
    void *release_ud;
    sb_http_make_fn make; /* with release_ud */
    const sb_http_asset *asset;
    int fd; /* -1: none */
    uint64_t file_offset;
    uint64_t file_size;
    sb_slice etag;
    bool ranges;
    bool sandboxed;
    sb_http_cache cache;
    sb_http_coding coding_wish;
    const char *policy; /* NULL: the server's */
    sb_err err;
    const char *allow; /* of a 405 */
    bool is_answered;  /* a body or an error was set */
    bool must_close;   /* the connection must be closed after this reply */
    /* decided by settle */
    sb_coding coding;
    bool varies;
    bool has_error_text;
    uint64_t part_first; /* of a 206 */
    uint64_t part_n;
    uint64_t whole; /* size of the body before a range was cut out of it */
};

void sb_reply_init(sb_http_reply *r, sb_http_request *q, const sb_reply_rules *rules);
/* Releases everything it holds: buffers, lent bytes, the file. */
void sb_reply_fini(sb_http_reply *r);

/* A reply of a status and headers only. */
void sb_reply_no_body(sb_http_reply *r, int status);
/* A redirect to the same path without one key of the query; relative, so that it is right behind
 * any proxy. */
sb_status sb_reply_redirect_here(sb_http_reply *r, int status, sb_slice path, sb_slice raw_query,
                                 sb_slice without_key);

/* From the handler's status to a complete reply. Sets coding; the caller decides whether to
 * compress. */
void sb_reply_settle(sb_http_reply *r, sb_status status);
/* How many bytes compress would read; 0 when there is nothing to do. */
size_t sb_reply_compress_size(const sb_http_reply *r);
void sb_reply_compress(sb_http_reply *r, sb_compressors *c);

/* Puts the next pieces of a SB_REPLY_MADE into the buffer, in place of those before. SB_OK: more
 * follows; SB_END: these are the last; any other status: the pieces must not be sent. */
sb_status sb_reply_make_more(sb_http_reply *r);

/* What is sent: the headers in this order, then the body: bytes in memory, a part of the file
 * fd, or the pieces that the handler makes while it is sent (is_made). */
typedef struct sb_reply_wire {
    int status;
    sb_http_param headers[SB_REPLY_HEADERS + 16];
    size_t header_count;
    sb_slice body;
    bool is_made; /* the body begins with the reply's buffer and goes on with sb_reply_make_more */
    int fd;       /* -1: the body is bytes; else it becomes the caller's */
    uint64_t file_offset;
    uint64_t file_size;
} sb_reply_wire;
/* SB_NOMEM when the request's arena is used up. The slices live as long as the reply. */
sb_status sb_reply_to_wire(sb_http_reply *r, sb_reply_wire *out);

/* The status code that a handler's SB_ status becomes. */
int sb_reply_code_of(sb_status status);

#endif
