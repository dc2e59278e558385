/* server.c: opening and closing of the server; requests are handled in conn.c and ticker.c.
 *
 * Closing, in this order, because libmicrohttpd must not be stopped while a connection is
 * suspended:
 *   1 no new connections     2 pooled requests are refused, those taken are finished (all resumed)
 *   3 streams end (all resumed), new ones are refused     4 replies under way get a little time
 *   5 the listeners end, and with them every connection   6 the memory goes */
#include "server/http/server.h"

#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/banned.h"

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull
#define ALPHANUMERIC "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define SPARE_FILES 64 /* descriptors that connections may not take */

#define DEFAULT_POLICY                                                                             \
    "default-src 'self'; base-uri 'none'; connect-src 'self'; font-src 'self' data:; "             \
    "form-action 'self'; frame-src 'self'; img-src 'self' data: blob:; object-src 'none'; "        \
    "script-src 'self'; style-src 'self'; worker-src 'self' blob:"

/* A priority string of GnuTLS: TLS 1.2 or later. */
#define TLS_VERSIONS "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static unsigned cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}

void sb_http_defaults(sb_http_options *o) {
    unsigned cpus = cpu_count();
    *o = (sb_http_options){
        .alloc = &sb_alloc_libc,
        .clock = &sb_clock_system,
        .path_prefix = "",
        .instance = "",
        .check_host = true,
        .cookie_name = "seaboard",
        .policy = DEFAULT_POLICY,
        .app_name = "Seaboard",
        .threads = cpus < 4 ? cpus : 4,
        .workers = cpus < 2 ? 2 : cpus,
        .quick_workers = 2,
        .queue = 256,
        .max_connections = 8192,
        .max_streams = 4096,
        .connection_memory = 32u << 10,
        .max_target = 24u << 10,
        .max_headers = 100,
        .max_params = 4096,
        .max_body = 16u << 20,
        .request_memory = 64u << 20,
        .reply_memory = 1u << 30,
        .memory_wait = SECOND,
        .request_time = 30 * SECOND,
        .header_time = 15 * SECOND,
        .idle_time = 60 * SECOND,
        .transfer_time = 30 * SECOND,
        .min_rate = 4096,
        .stream_interval = 50 * MILLISECOND,
        .heartbeat = 15 * SECOND,
        .compress_min = 1024,
        .compress_min_loopback = 64u << 10,
        .compress_inline_max = 128u << 10,
        .close_time = 500 * MILLISECOND,
    };
}

/* ---- opening --------------------------------------------------------------------------------- */

static sb_status check_options(const sb_http_options *o, sb_err *err) {
    if (!o->alloc || !o->clock || !o->policy || !o->app_name || !o->instance)
        return sb_fail(err, SB_INVALID, 0, "an option that must be there is missing");
    if ((o->tls_cert == NULL) != (o->tls_key == NULL))
        return sb_fail(err, SB_INVALID, 0, "TLS needs both a certificate and a key");
    if (strlen(o->instance) > SB_HTTP_INSTANCE ||
        strspn(o->instance, ALPHANUMERIC) != strlen(o->instance))
        return sb_fail(err, SB_INVALID, 0, "an instance is a short text of letters and digits");
    if (o->threads == 0 || o->threads > 64 || o->workers == 0 || o->quick_workers == 0 ||
        o->queue == 0)
        return sb_fail(err, SB_INVALID, 0, "a server needs threads, workers and a queue");
    if (o->max_connections == 0 || o->connection_memory < 4096 || o->max_headers == 0)
        return sb_fail(err, SB_INVALID, 0, "a server needs room for at least one request");
    return SB_OK;
}

/* No more connections than there may be open files. */
static unsigned connection_limit(const sb_http_options *o) {
    struct rlimit files;
    unsigned limit = o->max_connections;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
        rlim_t room =
            files.rlim_cur > 2 * SPARE_FILES ? files.rlim_cur - SPARE_FILES : files.rlim_cur / 2;
        if (room < limit) limit = (unsigned)room;
    }
    return limit < o->threads ? o->threads : limit;
}

/* Paths and queries are decoded by us, from what was sent. */
static size_t leave_encoded(void *cls, struct MHD_Connection *mhd, char *text) {
    (void)cls, (void)mhd;
    return strlen(text);
}

static void add_option(struct MHD_OptionItem *list, size_t *n, enum MHD_OPTION what, intptr_t value,
                       void *pointer) {
    list[(*n)++] = (struct MHD_OptionItem){what, value, pointer};
}

/* libmicrohttpd reads a function's address from an integer. */
#define FUNCTION(f) ((intptr_t)(f))

static void *mutable_text(const char *s) {
    return (void *)(uintptr_t)s; /* it is read, never written */
}

/* Limits the connections of one address. While the server is ending, no new connection is accepted.
 * (MHD_quiesce_daemon may end the program: it and a listener's thread both take the socket out of
 * the epoll set, and the library treats the second time as fatal.) */
static enum MHD_Result accept_conn(void *server, const struct sockaddr *address, socklen_t size) {
    (void)size;
    sb_http_server *s = server;
    if (atomic_load(&s->ending)) return MHD_NO;
    return sb_ticker_admits(&s->ticker, sb_share_slot(s->seed, address)) ? MHD_YES : MHD_NO;
}

static struct MHD_Daemon *start_daemon(sb_http_server *s, const sb_http_options *o, int listener) {
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem list[20];
    size_t n = 0;
    unsigned idle = (unsigned)(o->idle_time / SECOND);
    add_option(list, &n, MHD_OPTION_LISTEN_SOCKET, listener, NULL);
    add_option(list, &n, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)o->connection_memory, NULL);
    add_option(list, &n, MHD_OPTION_CONNECTION_LIMIT, (intptr_t)connection_limit(o), NULL);
    add_option(list, &n, MHD_OPTION_CONNECTION_TIMEOUT, idle ? idle : 1, NULL);
    add_option(list, &n, MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
    add_option(list, &n, MHD_OPTION_NOTIFY_COMPLETED, FUNCTION(sb_conn_done), s);
    add_option(list, &n, MHD_OPTION_NOTIFY_CONNECTION, FUNCTION(sb_conn_begin), s);
    add_option(list, &n, MHD_OPTION_URI_LOG_CALLBACK, FUNCTION(sb_conn_uri), s);
    add_option(list, &n, MHD_OPTION_UNESCAPE_CALLBACK, FUNCTION(leave_encoded), s);
    if (o->max_per_address)
        add_option(list, &n, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)o->max_per_address,
                   NULL);
    if (o->threads > 1)
        add_option(list, &n, MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)o->threads, NULL);
    if (o->tls_cert) {
        flags |= MHD_USE_TLS;
        add_option(list, &n, MHD_OPTION_HTTPS_PRIORITIES, 0, mutable_text(TLS_VERSIONS));
        add_option(list, &n, MHD_OPTION_HTTPS_MEM_CERT, 0, mutable_text(o->tls_cert));
        add_option(list, &n, MHD_OPTION_HTTPS_MEM_KEY, 0, mutable_text(o->tls_key));
    }
    add_option(list, &n, MHD_OPTION_END, 0, NULL);
    return MHD_start_daemon(flags, 0, accept_conn, s, sb_conn_call, s, MHD_OPTION_ARRAY, list,
                            MHD_OPTION_END);
}

/* Threads that are started here block all signals; the main thread handles them. */
static sb_status start_threads(sb_http_server *s, const sb_http_options *o, int *listener,
                               sb_err *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sb_status status = sb_ticker_start(&s->ticker, o, connection_limit(o), &s->quota, err);
    if (status == SB_OK) {
        status = sb_pool_new_background(&s->pool, o->alloc, o->workers, o->queue, err);
        if (status == SB_OK)
            status = sb_pool_new(&s->quick, o->alloc, o->quick_workers, o->queue, err);
        if (status == SB_OK) {
            s->daemon = start_daemon(s, o, *listener);
            if (s->daemon)
                *listener = -1;
            else
                status =
                    sb_fail(err, SB_INVALID, 0,
                            o->tls_cert ? "cannot serve: the certificate or the key is not valid"
                                        : "cannot serve: the system refused");
        }
        if (status != SB_OK) {
            sb_pool_free(s->pool);
            sb_pool_free(s->quick);
            sb_ticker_stop(&s->ticker);
            sb_ticker_fini(&s->ticker);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static void free_server(sb_http_server *s) {
    sb_compressors_fini(&s->compressors);
    sb_gate_fini(&s->gate);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->idle_lock);
    sb_alloc_put(s->alloc, s, sizeof *s);
}

static sb_status make_server(sb_http_server **out, const sb_http_options *o, sb_err *err) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed = 0;
    sb_http_server *s = sb_alloc_zeroed(o->alloc, 1, sizeof *s);
    if (!s) return sb_fail_nomem(err, "for the server");
    s->alloc = o->alloc;
    s->clock = o->clock;
    s->o = *o;
    s->seed = seed;
    sb_quota_init(&s->quota, o->alloc, o->memory);
    sb_status status = sb_gate_init(&s->gate, o, seed, err);
    if (status != SB_OK) {
        sb_alloc_put(o->alloc, s, sizeof *s);
        return status;
    }
    pthread_mutex_init(&s->idle_lock, NULL);
    pthread_cond_init(&s->idle, NULL);
    sb_compressors_init(&s->compressors, o->alloc);
    s->rules = (sb_reply_rules){
        .policy = (const char *)sb_arena_dup(&s->gate.memory, sb_slice_str(o->policy)).p,
        .frame_ancestors =
            (const char *)sb_arena_dup(&s->gate.memory, sb_slice_str(o->frame_ancestors)).p,
        .hooks = o->hooks,
        .app = o->app,
        .reply_memory = o->reply_memory,
        .compress_min = o->compress_min,
        .compress_min_loopback = o->compress_min_loopback,
    };
    *out = s;
    if (s->rules.policy && s->rules.frame_ancestors) return SB_OK;
    free_server(s);
    return sb_fail_nomem(err, "for the server");
}

sb_status sb_http_open(sb_http_server **out, const sb_http_options *o, int *listener, sb_err *err) {
    *out = NULL;
    sb_http_server *s = NULL;
    sb_status status = check_options(o, err);
    if (status == SB_OK) status = make_server(&s, o, err);
    if (status == SB_OK) {
        *out = s; /* before the first thread: a handler may look for it there at once */
        status = start_threads(s, o, listener, err);
        if (status != SB_OK) free_server(s);
    }
    if (status == SB_OK) return SB_OK;
    *out = NULL;
    if (*listener >= 0) close(*listener);
    *listener = -1;
    return status;
}

/* ---- closing --------------------------------------------------------------------------------- */

static void wait_for_replies(sb_http_server *s) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + s->o.close_time;
    until.tv_sec += (time_t)(nanoseconds / SECOND);
    until.tv_nsec = (long)(nanoseconds % SECOND);
    pthread_mutex_lock(&s->idle_lock);
    while (atomic_load(&s->active) > 0 &&
           pthread_cond_timedwait(&s->idle, &s->idle_lock, &until) == 0)
        ;
    pthread_mutex_unlock(&s->idle_lock);
}

void sb_http_close(sb_http_server *s) {
    if (!s) return;
    atomic_store(&s->ending, true);
    atomic_store(&s->cut_at, sb_server_now(s) + s->o.close_time / 2);
    sb_pool_close(s->pool);
    sb_pool_close(s->quick);
    sb_ticker_end_streams(&s->ticker);
    wait_for_replies(s);
    MHD_stop_daemon(s->daemon);
    sb_ticker_stop(&s->ticker);
    sb_pool_free(s->pool);
    sb_pool_free(s->quick);
    sb_ticker_fini(&s->ticker);
    free_server(s);
}

/* ---- small questions ------------------------------------------------------------------------- */

void sb_http_publish(sb_http_server *s, uint64_t version) {
    sb_ticker_publish(&s->ticker, version);
}

void sb_http_publish_jobs(sb_http_server *s, uint64_t count) {
    sb_ticker_publish_jobs(&s->ticker, count);
}

void sb_http_count(sb_http_server *s, sb_http_counts *out) {
    pthread_mutex_lock(&s->ticker.lock);
    out->connections = s->ticker.conn_count;
    out->streams = s->ticker.stream_count;
    pthread_mutex_unlock(&s->ticker.lock);
    out->requests = atomic_load(&s->requests);
    out->refused = atomic_load(&s->refused);
    out->too_slow = atomic_load(&s->ticker.too_slow);
    out->queued = sb_pool_waiting(s->pool) + sb_pool_waiting(s->quick);
    out->memory = sb_quota_used(&s->quota);
    out->memory_limit = s->quota.limit;
    out->no_memory = atomic_load(&s->no_memory) + atomic_load(&s->quota.refused);
}
