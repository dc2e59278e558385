/* server.h: the server from inside: connections, the ticker, and how they reach libmicrohttpd.
 * Inside server/http only; nothing above it sees that library.
 *
 * Threads that meet here:
 *   listeners   libmicrohttpd's; each owns its connections, runs inline handlers, sends
 *   workers     of the two pools; have a connection's request while that connection is suspended
 *   ticker      one; wakes streams and requests that wait for memory, notices clients that are
 *               gone, cuts those that are too slow, gives freed memory back to the system
 *
 * Lock order: ticker.lock, then locks inside libmicrohttpd (suspend and resume are called under
 * it). A request needs no lock: it has one owner at a time, and suspend, submit and resume hand it
 * on. */
#ifndef SB_SERVER_HTTP_SERVER_H
#define SB_SERVER_HTTP_SERVER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

#include "base/system/pool.h"
#include "base/system/quota.h"
#include "server/http/guard/admit.h"
#include "server/http/guard/shares.h"

typedef struct sb_conn sb_conn;
typedef struct sb_stream sb_stream;
typedef struct sb_made sb_made;

/* ---- ticker.c -------------------------------------------------------------------------------- */

/* The numbers in an event of a live stream. */
typedef struct sb_news {
    uint64_t version, jobs;
} sb_news;

typedef struct sb_ticker {
    const sb_alloc *alloc;
    const sb_clock *clock;
    uint64_t interval;
    uint64_t heartbeat;
    size_t max_streams;
    char instance[SB_HTTP_INSTANCE + 1];
    _Atomic uint64_t version; /* the newest that was published */
    _Atomic uint64_t jobs;    /* likewise */
    _Atomic bool dirty;       /* published since the ticker last looked */
    _Atomic uint64_t too_slow;
    pthread_mutex_t lock; /* guards all below, and the links of connections and streams */
    pthread_cond_t wake;
    bool ending;
    sb_conn *conns;
    uint64_t conn_count;
    uint64_t crowd;        /* with more connections than this, idle ones are closed early */
    sb_shares conn_shares; /* of connections, and of streams */
    sb_shares stream_shares;
    sb_stream *streams;
    uint64_t stream_count;
    sb_conn *waiting;      /* requests that wait for memory; their connections are suspended */
    sb_quota *quota;       /* of the server */
    size_t trimmed;        /* quota->freed when memory was last given back to the system */
    struct pollfd *polled; /* room for max_streams */
    sb_news seen;          /* the numbers that streams are compared with */
    uint64_t last_look;
    uint64_t next_tick;
    uint64_t wake_at; /* when the thread will wake up */
    pthread_t thread;
    bool is_running;
} sb_ticker;

/* most_connections: with more than half of them open, idle ones are closed after a second. */
sb_status sb_ticker_start(sb_ticker *t, const sb_http_options *o, unsigned most_connections,
                          sb_quota *quota, sb_err *err);
/* Ends all streams, resumes the requests that wait for memory, and accepts no new ones; the thread
 * continues to close slow connections. */
void sb_ticker_end_streams(sb_ticker *t);
/* Ends the thread. Connections may still be removed afterwards. */
void sb_ticker_stop(sb_ticker *t);
void sb_ticker_fini(sb_ticker *t);

void sb_ticker_publish(sb_ticker *t, uint64_t version);
void sb_ticker_publish_jobs(sb_ticker *t, uint64_t count);
void sb_ticker_add(sb_ticker *t, sb_conn *c);
void sb_ticker_remove(sb_ticker *t, sb_conn *c);
/* May an address have one more connection? When it has reached its limit, its connection that was
 * idle longest is closed; when none is idle, the answer is no. */
bool sb_ticker_admits(sb_ticker *t, unsigned slot);

/* Suspends the connection until there is memory again or its wait_until has come; false when the
 * server is ending. */
bool sb_ticker_await_memory(sb_ticker *t, sb_conn *c);
/* Is there too little memory left to begin with a request of this kind? Listings may begin as long
 * as there is any. */
bool sb_memory_is_short(const sb_quota *quota, sb_http_how how);

/* The response of a live stream, which lasts until the client leaves or the server ends. SB_DROPPED
 * when there are too many streams, SB_CLOSED when the server is ending. */
sb_status sb_stream_open(sb_ticker *t, sb_conn *c, struct MHD_Response **out);

/* ---- conn.c ---------------------------------------------------------------------------------- */

typedef enum sb_phase {
    SB_PHASE_IDLE,
    SB_PHASE_HEAD,  /* the request line was read */
    SB_PHASE_BODY,  /* the headers were; a body may follow */
    SB_PHASE_AWAY,  /* suspended, a worker owns the request */
    SB_PHASE_READY, /* the reply is settled */
    SB_PHASE_SENT,  /* the reply was given to libmicrohttpd */
} sb_phase;

struct sb_conn {
    sb_http_server *server;
    struct MHD_Connection *mhd;
    int fd;
    sb_conn *prev, *next;        /* in ticker.conns */
    _Atomic uint64_t cut_at;     /* steady nanoseconds; 0: not now */
    _Atomic bool is_reading;     /* the server waits for bytes of the client, not for the client to
                                    read */
    _Atomic uint64_t idle_since; /* steady nanoseconds; 0: a request is under way */
    unsigned slot;               /* index of the counter of its address */
    char peer[INET6_ADDRSTRLEN];
    bool peer_is_loopback;
    sb_arena arena;
    sb_arena_mark empty; /* where the arena begins; its first block stays for the next request */
    sb_phase phase;
    sb_http_request request;
    sb_http_reply reply;
    bool has_reply;
    sb_buf body;
    uint64_t body_limit;
    uint64_t body_seen;
    bool body_too_large;
    sb_verdict verdict;
    const sb_http_route *row;
    sb_status status;
    bool only_compress;    /* the worker only compresses the body */
    bool body_failed;      /* there was no memory for the request's body */
    uint64_t wait_until;   /* of a request that waits for memory; 0: it never did */
    sb_conn *next_waiting; /* in ticker.waiting */
};

void sb_conn_begin(void *server, struct MHD_Connection *mhd, void **context,
                   enum MHD_ConnectionNotificationCode code);
void *sb_conn_uri(void *server, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result sb_conn_call(void *server, struct MHD_Connection *mhd, const char *url,
                             const char *method, const char *version, const char *data,
                             size_t *data_size, void **context);
void sb_conn_done(void *server, struct MHD_Connection *mhd, void **context,
                  enum MHD_RequestTerminationCode code);

/* The time limit for the client to read so many bytes; and none at all. */
void sb_conn_allow_send(sb_conn *c, uint64_t bytes);
void sb_conn_no_limit(sb_conn *c);

/* ---- made.c ---------------------------------------------------------------------------------- */

/* The rest of a SB_REPLY_MADE. May set the reply's coding, so it comes before the headers. NULL: no
 * memory. */
sb_made *sb_made_new(sb_conn *c);
/* Owns m from now on, also when it fails. */
struct MHD_Response *sb_made_response(sb_made *m);
void sb_made_free(sb_made *m);

/* ---- server.c -------------------------------------------------------------------------------- */

struct sb_http_server {
    const sb_alloc *alloc;
    const sb_clock *clock;
    sb_http_options o; /* numbers only: the texts are in the gate's memory */
    sb_quota quota;    /* of all requests and replies */
    uint64_t seed;     /* of hashes */
    sb_gate gate;
    sb_reply_rules rules;
    sb_compressors compressors;
    sb_ticker ticker;
    sb_pool *pool;  /* for questions that may take long */
    sb_pool *quick; /* for those that never do */
    struct MHD_Daemon *daemon;
    _Atomic bool ending;
    _Atomic uint64_t cut_at; /* when requests that are still under way are cut; 0: not ending */
    _Atomic uint64_t active; /* requests between their first header and their last byte */
    _Atomic uint64_t requests;
    _Atomic uint64_t refused;
    _Atomic uint64_t no_memory;
    pthread_mutex_t idle_lock;
    pthread_cond_t idle; /* active became 0 while ending */
};

/* Steady nanoseconds now. */
static inline uint64_t sb_server_now(const sb_http_server *s) {
    return s->clock->steady(s->clock->ctx);
}

#endif
