/* conn.c: one connection and its requests, as libmicrohttpd calls us.
 *
 *     sb_conn_uri    the request line: a fresh request with the target as it was sent
 *     sb_conn_call   first with the headers: is the request admitted, how large is its body
 *                    then with pieces of the body
 *                    then with none: the handler, or a worker and suspend
 *                    and once more after resume: send
 *     sb_conn_done   the last byte went, or the client did
 *
 * The reply is queued in the call without data and never in the first one, because libmicrohttpd
 * closes the connection after a reply that came before the end of the request. Only a body that is
 * too large is refused that way: there closing is the point.
 *
 * Memory: a connection keeps the first block of its arena; everything else goes after each
 * request. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/slice.h"
#include "server/http/server.h"
#include "server/http/text.h"
#include "base/banned.h"

#define ARENA_BLOCK (8u << 10)
#define REFUSED_BODY_LIMIT (64u << 10) /* of a request that is refused */
#define FILE_BLOCK (64u << 10)
#define LARGE_BODY (512u << 10)
#define BODY_BLOCK (128u << 10)
#define OVERRUN (1u << 20) /* bytes above the limit that are still read, for a proper answer */
#define SECOND 1000000000u

typedef enum wait_for {
    WAIT_TO_READ,
    WAIT_TO_SEND,
} wait_for;

/* Sets the time limit for the next step of the client (to send its request, or to read our reply);
 * 0: no limit. */
static void set_cut(sb_conn *c, uint64_t span, wait_for what) {
    uint64_t at = span ? sb_server_now(c->server) + span : 0;
    atomic_store_explicit(&c->is_reading, what == WAIT_TO_READ, memory_order_relaxed);
    atomic_store_explicit(&c->cut_at, at, memory_order_relaxed);
}

/* The time limit for transferring that many bytes. */
static uint64_t transfer_span(const sb_http_server *s, uint64_t bytes) {
    uint64_t rate = s->o.min_rate ? s->o.min_rate : 1;
    uint64_t seconds = bytes / rate;
    if (seconds > 1000000) seconds = 1000000;
    return s->o.transfer_time + seconds * SECOND;
}

void sb_conn_allow_send(sb_conn *c, uint64_t bytes) {
    set_cut(c, transfer_span(c->server, bytes), WAIT_TO_SEND);
}

void sb_conn_no_limit(sb_conn *c) {
    set_cut(c, 0, WAIT_TO_SEND);
}

/* ---- connections ----------------------------------------------------------------------------- */

static void note_peer(sb_conn *c) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    c->slot = sb_share_slot(c->server->seed, address);
    c->peer[0] = '\0';
    if (address && address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        inet_ntop(AF_INET, &four->sin_addr, c->peer, sizeof c->peer);
    } else if (address && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        inet_ntop(AF_INET6, &six->sin6_addr, c->peer, sizeof c->peer);
    }
    c->peer_is_loopback = sb_is_loopback_name(sb_slice_str(c->peer));
}

static void conn_start(sb_http_server *s, struct MHD_Connection *mhd, void **context) {
    sb_conn *c = sb_alloc_zeroed(s->alloc, 1, sizeof *c);
    *context = c;
    if (!c) return;
    c->server = s;
    c->mhd = mhd;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    c->fd = info ? info->connect_fd : -1;
    note_peer(c);
    sb_arena_init(&c->arena, &s->quota.alloc, ARENA_BLOCK, s->o.request_memory);
    sb_arena_get(&c->arena, 0);
    c->empty = sb_arena_here(&c->arena);
    sb_buf_init(&c->body, &s->quota.alloc, s->o.max_body);
    set_cut(c, s->o.header_time, WAIT_TO_READ);
    atomic_store_explicit(&c->idle_since, sb_server_now(s), memory_order_relaxed);
    sb_ticker_add(&s->ticker, c);
}

/* Releases everything of the request, so that the connection is as conn_start left it. Also for a
 * request that was only begun. */
static void end_request(sb_conn *c) {
    if (c->phase == SB_PHASE_IDLE) return;
    sb_http_server *s = c->server;
    if (c->has_reply) sb_reply_fini(&c->reply);
    c->has_reply = false;
    sb_buf_fini(&c->body);
    sb_buf_clear(&c->body);
    sb_arena_reset(&c->arena, c->empty);
    c->phase = SB_PHASE_IDLE;
    if (atomic_fetch_sub(&s->active, 1) == 1 && atomic_load(&s->ending)) {
        pthread_mutex_lock(&s->idle_lock);
        pthread_cond_broadcast(&s->idle);
        pthread_mutex_unlock(&s->idle_lock);
    }
}

void sb_conn_begin(void *server, struct MHD_Connection *mhd, void **context,
                   enum MHD_ConnectionNotificationCode code) {
    sb_http_server *s = server;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        conn_start(s, mhd, context);
        return;
    }
    sb_conn *c = *context;
    if (!c) return;
    sb_ticker_remove(&s->ticker, c);
    end_request(c);
    sb_arena_fini(&c->arena);
    sb_alloc_put(s->alloc, c, sizeof *c);
    *context = NULL;
}

/* ---- the head of a request ------------------------------------------------------------------- */

/* Right after sb_conn_uri, libmicrohttpd splits the query and keeps every parameter in the
 * connection's memory. There is no option that turns this off. When a few hundred parameters have
 * used that memory up, version 0.9.75 hangs or crashes: any client could end the server so. We
 * parse the query from our own copy, hence end libmicrohttpd's text behind the question mark.
 *
 * The callback gets the text as const, yet it is not: it is the connection's read buffer, into
 * which libmicrohttpd itself writes a NUL at the question mark as its next step.
 * test_http_load.py::test_long_queries_fit fails when a version of the library behaves
 * otherwise. Decision 0008 lists what else was tried. */
static void hide_query(const char *uri) {
    char *mark = (char *)(uintptr_t)strchr(uri, '?');
    if (mark && mark[1]) mark[1] = '\0';
}

void *sb_conn_uri(void *server, const char *uri, struct MHD_Connection *mhd) {
    sb_http_server *s = server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    sb_conn *c = info ? info->socket_context : NULL;
    if (!c) return NULL;
    end_request(c);
    atomic_store_explicit(&c->idle_since, 0, memory_order_relaxed);
    atomic_fetch_add(&s->active, 1);
    c->phase = SB_PHASE_HEAD;
    c->request = (sb_http_request){
        .target = sb_arena_dup(&c->arena, sb_slice_str(uri)),
        .peer = sb_slice_str(c->peer),
        .peer_is_loopback = c->peer_is_loopback,
        .is_tls = s->gate.is_tls,
        .arena = &c->arena,
        .alloc = &s->quota.alloc,
        .clock = s->clock,
        .cut_at = &s->cut_at,
    };
    hide_query(uri);
    sb_reply_init(&c->reply, &c->request, &s->rules);
    c->has_reply = true;
    c->body_seen = 0;
    c->body_too_large = c->body_failed = c->only_compress = false;
    c->wait_until = 0;
    c->row = NULL;
    c->status = SB_OK;
    return c;
}

typedef struct header_list {
    sb_http_param *items;
    size_t count; /* also of those beyond room */
    size_t room;
} header_list;

static enum MHD_Result take_header(void *cls, enum MHD_ValueKind kind, const char *key,
                                   size_t key_size, const char *value, size_t value_size) {
    (void)kind;
    header_list *list = cls;
    if (list->count < list->room)
        list->items[list->count] = (sb_http_param){
            sb_slice_of(key, key_size),
            sb_text_trim(value ? sb_slice_of(value, value_size) : sb_slice_of("", 0))};
    list->count++;
    return MHD_YES;
}

/* The slices are libmicrohttpd's, which keeps them until the request is done. */
static bool read_headers(sb_conn *c) {
    header_list list = {.room = c->server->o.max_headers + 1};
    int there = MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND, NULL, NULL);
    if (there >= 0 && (size_t)there < list.room) list.room = (size_t)there;
    list.items = sb_arena_zeroed(&c->arena, list.room ? list.room : 1, sizeof *list.items);
    if (!list.items) return false;
    MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND, take_header, &list);
    c->request.headers =
        (sb_http_params){list.items, list.count < list.room ? list.count : list.room};
    return true;
}

/* How much body is expected: its length, UINT64_MAX when that is not said, 0 for none. */
static uint64_t announced_body(const sb_http_request *q) {
    if (sb_http_header(q, "Transfer-Encoding").p) return UINT64_MAX;
    uint64_t n = 0;
    sb_slice length = sb_http_header(q, "Content-Length");
    return length.p && sb_text_number(length, &n) ? n : 0;
}

static enum MHD_Result send_reply(sb_conn *c);

static enum MHD_Result refuse_body(sb_conn *c) {
    sb_http_fail(&c->reply, 413, "The request's body is larger than %llu bytes.",
                 (unsigned long long)c->body_limit);
    c->reply.must_close = true;
    sb_reply_settle(&c->reply, SB_OK);
    return send_reply(c);
}

static enum MHD_Result read_head(sb_conn *c, const char *method) {
    sb_http_server *s = c->server;
    sb_http_request *q = &c->request;
    if (!q->target.p || !read_headers(c)) return MHD_NO;
    q->method = sb_method_of(method);
    c->verdict = sb_gate_admit(&s->gate, q, &c->reply, &c->row, &c->status);
    if (c->verdict != SB_VERDICT_RUN)
        atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
    c->body_limit = c->verdict == SB_VERDICT_RUN ? s->o.max_body : REFUSED_BODY_LIMIT;
    if (c->verdict == SB_VERDICT_RUN && c->row && c->row->max_body > c->body_limit)
        c->body_limit = c->body.cap = c->row->max_body;
    c->phase = SB_PHASE_BODY;
    uint64_t announced = announced_body(q);
    if (announced == 0) return MHD_YES;
    set_cut(c, transfer_span(s, announced == UINT64_MAX ? c->body_limit : announced), WAIT_TO_READ);
    if (announced != UINT64_MAX && announced > c->body_limit) return refuse_body(c);
    return MHD_YES;
}

/* A reply can only be queued before the body or after it. So bytes above the limit are read and
 * discarded, and the connection is closed when a client sends many more of them. */
static enum MHD_Result read_body(sb_conn *c, const char *data, size_t n) {
    c->body_seen += n;
    if (c->body_seen <= c->body_limit) {
        sb_buf_add(&c->body, data, n);
        c->body_failed = c->body.failed != SB_OK; /* the rest is read, and the answer is 503 */
        return MHD_YES;
    }
    c->body_too_large = true;
    sb_buf_clear(&c->body);
    return c->body_seen - c->body_limit <= OVERRUN ? MHD_YES : MHD_NO;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static enum MHD_Result queue_reply(sb_conn *c, struct MHD_Response *response,
                                   const sb_reply_wire *wire) {
    enum MHD_Result result = MHD_YES;
    for (size_t i = 0; i < wire->header_count && result == MHD_YES; i++)
        result = MHD_add_response_header(response, (const char *)wire->headers[i].key.p,
                                         (const char *)wire->headers[i].value.p);
    if ((c->reply.must_close || atomic_load(&c->server->ending)) && result == MHD_YES)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (result == MHD_YES) result = MHD_queue_response(c->mhd, (unsigned)wire->status, response);
    MHD_destroy_response(response);
    c->phase = SB_PHASE_SENT;
    atomic_fetch_add_explicit(&c->server->requests, 1, memory_order_relaxed);
    return result;
}

/* libmicrohttpd only reads the bytes, but its parameter is not const. */
static void *writable(sb_slice s) {
    return s.n ? (void *)(uintptr_t)s.p : NULL;
}

/* A file that is being sent. libmicrohttpd can send a file by itself, but when the file is shorter
 * than announced it waits for the rest forever. Log files do get truncated, so we read them
 * ourselves and end the connection in that case. */
typedef struct file_body {
    const sb_alloc *alloc;
    int fd;
    uint64_t offset;
} file_body;

static ssize_t file_read(void *cls, uint64_t pos, char *buf, size_t max) {
    file_body *file = cls;
    ssize_t n;
    do n = pread(file->fd, buf, max, (off_t)(file->offset + pos));
    while (n < 0 && errno == EINTR);
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void file_free(void *cls) {
    file_body *file = cls;
    close(file->fd);
    sb_alloc_put(file->alloc, file, sizeof *file);
}

/* Owns the descriptor from now on, also when it fails. */
static struct MHD_Response *file_response(const sb_alloc *alloc, const sb_reply_wire *wire) {
    file_body *file = sb_alloc_get(alloc, sizeof *file);
    if (!file) {
        close(wire->fd);
        return NULL;
    }
    *file = (file_body){alloc, wire->fd, wire->file_offset};
    struct MHD_Response *response =
        MHD_create_response_from_callback(wire->file_size, FILE_BLOCK, file_read, file, file_free);
    if (!response) file_free(file);
    return response;
}

/* A body in memory that is large. Given as a whole, libmicrohttpd hands all of it to the system in
 * one call, which takes milliseconds in which other clients of the same listener wait. */
typedef struct large_body {
    const sb_alloc *alloc;
    sb_slice bytes;
} large_body;

static ssize_t body_read(void *cls, uint64_t pos, char *to, size_t room) {
    const large_body *body = cls;
    size_t left = body->bytes.n - pos;
    size_t n = left < room ? left : room;
    memcpy(to, body->bytes.p + pos, n);
    return (ssize_t)n;
}

static void body_free(void *cls) {
    large_body *body = cls;
    sb_alloc_put(body->alloc, body, sizeof *body);
}

/* The bytes live as long as the reply. */
static struct MHD_Response *body_response(const sb_alloc *alloc, sb_slice bytes) {
    if (bytes.n <= LARGE_BODY)
        return MHD_create_response_from_buffer(bytes.n, writable(bytes), MHD_RESPMEM_PERSISTENT);
    large_body *body = sb_alloc_get(alloc, sizeof *body);
    if (!body) return NULL;
    *body = (large_body){alloc, bytes};
    struct MHD_Response *response =
        MHD_create_response_from_callback(bytes.n, BODY_BLOCK, body_read, body, body_free);
    if (!response) body_free(body);
    return response;
}

static enum MHD_Result send_reply(sb_conn *c) {
    sb_reply_wire wire;
    sb_made *made = NULL;
    if (c->reply.kind == SB_REPLY_MADE && c->reply.status == 200 && !(made = sb_made_new(c)))
        return MHD_NO;
    if (sb_reply_to_wire(&c->reply, &wire) != SB_OK) {
        if (wire.fd >= 0) close(wire.fd);
        sb_made_free(made);
        return MHD_NO;
    }
    struct MHD_Response *response;
    uint64_t size = wire.body.n;
    if (made) {
        size = c->reply.buffer.n;
        response = sb_made_response(made);
    } else if (wire.fd >= 0) {
        size = wire.file_size;
        response = file_response(c->server->alloc, &wire);
    } else {
        response = body_response(c->server->alloc, wire.body);
    }
    if (!response) return MHD_NO;
    sb_conn_allow_send(c, size);
    return queue_reply(c, response, &wire);
}

static enum MHD_Result open_stream(sb_conn *c) {
    sb_http_reply *r = &c->reply;
    struct MHD_Response *response = NULL;
    sb_status status = sb_stream_open(&c->server->ticker, c, &response);
    if (status != SB_OK) {
        sb_http_fail(r, 503,
                     "There are too many live streams; ask for changes now and then instead.");
        sb_reply_settle(r, SB_OK);
        return send_reply(c);
    }
    sb_http_type(r, "text/event-stream");
    sb_http_cache_for(r, SB_HTTP_CACHE_NEVER);
    sb_http_set_header(r, "X-Accel-Buffering", SB_LIT("no")); /* nginx would hold events back */
    sb_reply_settle(r, SB_OK);
    sb_reply_wire wire;
    if (sb_reply_to_wire(r, &wire) != SB_OK) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    set_cut(c, 0, WAIT_TO_SEND);
    return queue_reply(c, response, &wire);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* A worker owns the request from the moment when it takes it from the queue until the connection is
 * resumed. */
static void run_on_worker(void *arg) {
    sb_conn *c = arg;
    sb_http_server *s = c->server;
    if (!c->only_compress) {
        if (sb_http_expired(&c->request))
            sb_http_fail(&c->reply, 503, "The server was too busy to answer in time.");
        else
            c->status = c->row->run(&c->request, &c->reply, s->o.app);
        sb_reply_settle(&c->reply, c->status);
    }
    sb_reply_compress(&c->reply, &s->compressors);
    c->phase = SB_PHASE_READY;
    MHD_resume_connection(c->mhd);
}

/* False when there is no room in the queue; the connection then goes on without a worker. */
static bool send_away(sb_conn *c) {
    c->phase = SB_PHASE_AWAY;
    set_cut(c, 0, WAIT_TO_SEND);
    MHD_suspend_connection(c->mhd);
    bool is_quick = c->only_compress || c->row->how == SB_HTTP_QUICK;
    sb_pool *pool = is_quick ? c->server->quick : c->server->pool;
    if (sb_pool_submit(pool, run_on_worker, c) == SB_OK) return true;
    c->phase = SB_PHASE_READY;
    MHD_resume_connection(c->mhd);
    return false;
}

static enum MHD_Result finish_here(sb_conn *c) {
    sb_http_server *s = c->server;
    sb_reply_settle(&c->reply, c->status);
    size_t size = sb_reply_compress_size(&c->reply);
    if (size > s->o.compress_inline_max) {
        /* The queue of the workers is full: the body is sent uncompressed. In both cases
         * libmicrohttpd calls us again. */
        c->only_compress = true;
        send_away(c);
        return MHD_YES;
    }
    sb_reply_compress(&c->reply, &s->compressors);
    return send_reply(c);
}

/* Suspends the connection until there is memory, or the time limit for that has passed; answer is
 * called again then. False: the time limit has passed, or the server is ending. */
static bool wait_for_memory(sb_conn *c) {
    sb_http_server *s = c->server;
    uint64_t now = sb_server_now(s);
    if (c->wait_until == 0) c->wait_until = now + s->o.memory_wait;
    return now < c->wait_until && sb_ticker_await_memory(&s->ticker, c);
}

static enum MHD_Result refuse_for_memory(sb_conn *c) {
    atomic_fetch_add_explicit(&c->server->no_memory, 1, memory_order_relaxed);
    sb_http_fail(&c->reply, 503,
                 "Other requests use all the memory that this server may take for answers; try "
                 "again in a moment.");
    return finish_here(c);
}

static enum MHD_Result answer(sb_conn *c) {
    sb_http_server *s = c->server;
    if (c->body_too_large) return refuse_body(c);
    c->request.body = sb_buf_slice(&c->body);
    if (c->verdict == SB_VERDICT_LOGIN) sb_gate_login(&s->gate, &c->request, &c->reply);
    if (c->verdict != SB_VERDICT_RUN) return finish_here(c);
    if (c->body_failed) return refuse_for_memory(c);
    if (sb_memory_is_short(&s->quota, c->row->how))
        return wait_for_memory(c) ? MHD_YES : refuse_for_memory(c);
    c->request.deadline = sb_server_now(s) + s->o.request_time;
    if (c->row->how == SB_HTTP_STREAM) {
        if (c->request.method != SB_HTTP_HEAD) return open_stream(c);
        /* An empty reply: a stream's body would be freed by libmicrohttpd without having begun. */
        sb_http_type(&c->reply, "text/event-stream");
        return finish_here(c);
    }
    if (c->row->how != SB_HTTP_POOLED && c->row->how != SB_HTTP_QUICK) {
        c->request.is_inline = true;
        c->status = c->row->run(&c->request, &c->reply, s->o.app);
        if (c->row->how != SB_HTTP_EITHER || c->status != SB_MORE) return finish_here(c);
        c->request.is_inline = false;
        c->status = SB_OK; /* a worker puts its result, or the error, into the reply */
    }
    if (!send_away(c)) {
        sb_http_fail(&c->reply, 503, "The server is busy; try again in a moment.");
        sb_reply_settle(&c->reply, SB_OK);
    }
    return MHD_YES;
}

enum MHD_Result sb_conn_call(void *server, struct MHD_Connection *mhd, const char *url,
                             const char *method, const char *version, const char *data,
                             size_t *data_size, void **context) {
    (void)server, (void)mhd, (void)url, (void)version;
    sb_conn *c = *context;
    if (!c) return MHD_NO;
    switch (c->phase) {
    case SB_PHASE_HEAD:
        return read_head(c, method);
    case SB_PHASE_BODY:
        if (*data_size) {
            size_t n = *data_size;
            *data_size = 0;
            return read_body(c, data, n);
        }
        return answer(c);
    case SB_PHASE_READY:
        return send_reply(c);
    default:
        *data_size = 0;
        return MHD_YES;
    }
}

void sb_conn_done(void *server, struct MHD_Connection *mhd, void **context,
                  enum MHD_RequestTerminationCode code) {
    (void)server, (void)mhd, (void)code;
    sb_conn *c = *context;
    *context = NULL;
    if (!c) return;
    end_request(c);
    atomic_store_explicit(&c->idle_since, sb_server_now(c->server), memory_order_relaxed);
    set_cut(c, c->server->o.idle_time + c->server->o.header_time, WAIT_TO_READ);
}
