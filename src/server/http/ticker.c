/* ticker.c: the timer thread: wakes live streams and cuts off slow clients.
 *
 * A stream has no queue. Its connection sleeps (suspended) until there is a newer version and the
 * interval since its last event has passed, or a heartbeat is due; the ticker then resumes it,
 * libmicrohttpd asks for bytes, and the event is written with the newest version at that moment. So
 * a stream costs one struct, however many versions were skipped and however slowly its client
 * reads.
 *
 *     retry: 1000          sent once, with the first event
 *     id: 42
 *     data: {"version": 42, "instance": "0f3a9c1d2b4e6f80", "jobs": 7}
 *
 * Publishing is a store and, once per look of the ticker, a wake-up. After a look the ticker does
 * not look again for an interval, so a thousand versions a second still mean twenty sweeps.
 *
 * Slow clients: every connection carries the moment at which its present phase must be over; once a
 * second those past it are shut down, which libmicrohttpd sees as a client that left. */
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "server/http/server.h"
#include "base/banned.h"

#define SECOND 1000000000u
#define CROWDED_IDLE SECOND
#define FEW 128 /* with so few connections, idle ones are not closed early */
#define EVENT_ROOM (192 + SB_HTTP_INSTANCE)
#define MEMORY_LOOK (SECOND / 50)     /* between two checks whether there is memory again */
#define TRIM_BYTES ((size_t)32 << 20) /* so many freed bytes are worth a call of malloc_trim */

struct sb_stream {
    sb_ticker *ticker;
    sb_conn *conn;
    sb_stream *prev, *next;
    unsigned slot; /* index of the counter of the client's address */
    bool is_suspended;
    bool is_over; /* the client left, or the server ends */
    bool greeted;
    sb_news told;       /* what was sent last */
    uint64_t told_at;   /* steady nanoseconds */
    uint64_t spoken_at; /* the same for events and heartbeats */
};

static uint64_t ticker_now(const sb_ticker *t) {
    return t->clock->steady(t->clock->ctx);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- streams --------------------------------------------------------------------------------- */

static sb_news newest(const sb_ticker *t) {
    return (sb_news){atomic_load(&t->version), atomic_load(&t->jobs)};
}

static bool is_told(const sb_stream *s, sb_news news) {
    return news.version == s->told.version && news.jobs == s->told.jobs;
}

static bool has_news(const sb_stream *s, sb_news news, uint64_t now) {
    return !is_told(s, news) && now - s->told_at >= s->ticker->interval;
}

static bool needs_heartbeat(const sb_stream *s, uint64_t now) {
    return now - s->spoken_at >= s->ticker->heartbeat;
}

/* What to send now; 0 when there is nothing. */
static size_t write_event(sb_stream *s, char *to, size_t room, uint64_t now) {
    sb_news news = newest(s->ticker);
    int n = 0;
    if (!s->greeted || has_news(s, news, now)) {
        n = snprintf(to, room,
                     "%sid: %llu\n"
                     "data: {\"version\": %llu, \"instance\": \"%s\", \"jobs\": %llu}\n\n",
                     s->greeted ? "" : "retry: 1000\n", (unsigned long long)news.version,
                     (unsigned long long)news.version, s->ticker->instance,
                     (unsigned long long)news.jobs);
        s->greeted = true;
        s->told = news;
        s->told_at = now;
    } else if (needs_heartbeat(s, now)) {
        n = snprintf(to, room, ":\n\n");
    } else {
        return 0;
    }
    s->spoken_at = now;
    return n > 0 ? (size_t)n : 0;
}

/* When a suspended stream has to be resumed, if nothing is published until then. */
static uint64_t due_at(const sb_stream *s, sb_news news) {
    uint64_t heartbeat = s->spoken_at + s->ticker->heartbeat;
    return is_told(s, news) ? heartbeat : earlier(heartbeat, s->told_at + s->ticker->interval);
}

/* libmicrohttpd asks for bytes. */
static ssize_t stream_read(void *cls, uint64_t pos, char *buf, size_t max) {
    (void)pos;
    sb_stream *s = cls;
    sb_ticker *t = s->ticker;
    if (max < EVENT_ROOM) return MHD_CONTENT_READER_END_WITH_ERROR;
    ssize_t result = MHD_CONTENT_READER_END_OF_STREAM;
    pthread_mutex_lock(&t->lock);
    if (!s->is_over) {
        result = (ssize_t)write_event(s, buf, EVENT_ROOM, ticker_now(t));
        if (result == 0) {
            s->is_suspended = true;
            MHD_suspend_connection(s->conn->mhd);
            /* The ticker chose its wake-up time before this stream was suspended, and may have to
             * wake up earlier. */
            if (due_at(s, newest(t)) < t->wake_at) pthread_cond_signal(&t->wake);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return result;
}

static void stream_free(void *cls) {
    sb_stream *s = cls;
    sb_ticker *t = s->ticker;
    pthread_mutex_lock(&t->lock);
    if (s->prev)
        s->prev->next = s->next;
    else
        t->streams = s->next;
    if (s->next) s->next->prev = s->prev;
    t->stream_count--;
    sb_share_give(&t->stream_shares, s->slot);
    pthread_mutex_unlock(&t->lock);
    sb_alloc_put(t->alloc, s, sizeof *s);
}

sb_status sb_stream_open(sb_ticker *t, sb_conn *c, struct MHD_Response **out) {
    sb_stream *s = sb_alloc_zeroed(t->alloc, 1, sizeof *s);
    if (!s) return SB_NOMEM;
    *s = (sb_stream){.ticker = t, .conn = c, .slot = c->slot};
    pthread_mutex_lock(&t->lock);
    bool is_full =
        t->stream_count >= t->max_streams || sb_share_is_used_up(&t->stream_shares, c->slot);
    sb_status status = t->ending ? SB_CLOSED : is_full ? SB_DROPPED : SB_OK;
    if (status == SB_OK) {
        sb_share_take(&t->stream_shares, c->slot);
        s->next = t->streams;
        if (s->next) s->next->prev = s;
        t->streams = s;
        t->stream_count++;
    }
    pthread_mutex_unlock(&t->lock);
    if (status != SB_OK) {
        sb_alloc_put(t->alloc, s, sizeof *s);
        return status;
    }
    *out = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, stream_read, s, stream_free);
    if (*out) return SB_OK;
    stream_free(s);
    return SB_NOMEM;
}

static void resume_stream(sb_stream *s) {
    s->is_suspended = false;
    MHD_resume_connection(s->conn->mhd);
}

/* Resumes the streams that are due; returns when the next one will be. */
static uint64_t wake_due_streams(sb_ticker *t, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (sb_stream *s = t->streams; s; s = s->next) {
        if (!s->is_suspended) continue;
        if (s->is_over || has_news(s, t->seen, now) || needs_heartbeat(s, now)) {
            resume_stream(s);
            continue;
        }
        next = earlier(next, due_at(s, t->seen));
    }
    return next;
}

/* libmicrohttpd does not watch a suspended connection, so we poll all of them for clients that
 * left. */
static void find_gone(sb_ticker *t) {
    nfds_t n = 0;
    for (sb_stream *s = t->streams; s; s = s->next)
        if (s->is_suspended)
            t->polled[n++] = (struct pollfd){.fd = s->conn->fd, .events = POLLRDHUP};
    if (n == 0 || poll(t->polled, n, 0) <= 0) return;
    n = 0;
    for (sb_stream *s = t->streams; s; s = s->next)
        if (s->is_suspended && (t->polled[n++].revents & (POLLRDHUP | POLLHUP | POLLERR)))
            s->is_over = true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

bool sb_memory_is_short(const sb_quota *quota, sb_http_how how) {
    if (quota->limit == 0 || how == SB_HTTP_INLINE || how == SB_HTTP_STREAM) return false;
    size_t most = how == SB_HTTP_QUICK ? quota->limit : quota->limit - quota->limit / 4;
    return sb_quota_used(quota) > most;
}

bool sb_ticker_await_memory(sb_ticker *t, sb_conn *c) {
    pthread_mutex_lock(&t->lock);
    bool waits = !t->ending;
    if (waits) {
        c->next_waiting = t->waiting;
        t->waiting = c;
        MHD_suspend_connection(c->mhd);
        pthread_cond_signal(&t->wake);
    }
    pthread_mutex_unlock(&t->lock);
    return waits;
}

/* Resumes the requests that have waited long enough or for which there is memory now; returns the
 * time of the next check. */
static uint64_t wake_waiting(sb_ticker *t, uint64_t now) {
    sb_conn *rest = NULL;
    for (sb_conn *c = t->waiting, *next; c; c = next) {
        next = c->next_waiting;
        if (!t->ending && now < c->wait_until && sb_memory_is_short(t->quota, c->row->how)) {
            c->next_waiting = rest;
            rest = c;
        } else {
            MHD_resume_connection(c->mhd);
        }
    }
    t->waiting = rest;
    return rest ? now + MEMORY_LOOK : UINT64_MAX;
}

/* The C library keeps freed memory for later allocations. After large replies that is a lot, so it
 * is returned to the system, at most once a second. The lock is released meanwhile, since
 * malloc_trim takes milliseconds. */
static void give_memory_back(sb_ticker *t) {
    size_t freed = atomic_load_explicit(&t->quota->freed, memory_order_relaxed);
    if (freed - t->trimmed < TRIM_BYTES) return;
    t->trimmed = freed;
    pthread_mutex_unlock(&t->lock);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    pthread_mutex_lock(&t->lock);
}

void sb_ticker_end_streams(sb_ticker *t) {
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    for (sb_stream *s = t->streams; s; s = s->next) {
        s->is_over = true;
        if (s->is_suspended) resume_stream(s);
    }
    wake_waiting(t, 0);
    pthread_mutex_unlock(&t->lock);
}

/* Wakes the thread once for all versions that are published before it looks. */
static void wake_for_news(sb_ticker *t) {
    if (atomic_exchange(&t->dirty, true)) return; /* the ticker knows, and has not looked yet */
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void sb_ticker_publish(sb_ticker *t, uint64_t version) {
    atomic_store(&t->version, version);
    wake_for_news(t);
}

void sb_ticker_publish_jobs(sb_ticker *t, uint64_t count) {
    atomic_store(&t->jobs, count);
    wake_for_news(t);
}

/* ---- connections ----------------------------------------------------------------------------- */

void sb_ticker_add(sb_ticker *t, sb_conn *c) {
    pthread_mutex_lock(&t->lock);
    c->prev = NULL;
    c->next = t->conns;
    if (c->next) c->next->prev = c;
    t->conns = c;
    t->conn_count++;
    sb_share_take(&t->conn_shares, c->slot);
    pthread_mutex_unlock(&t->lock);
}

void sb_ticker_remove(sb_ticker *t, sb_conn *c) {
    pthread_mutex_lock(&t->lock);
    if (c->prev)
        c->prev->next = c->next;
    else
        t->conns = c->next;
    if (c->next) c->next->prev = c->prev;
    t->conn_count--;
    sb_share_give(&t->conn_shares, c->slot);
    pthread_mutex_unlock(&t->lock);
}

/* Has the client sent bytes that we have not read yet? Then the delay is ours, not the client's. */
static bool has_sent_more(const sb_conn *c) {
    int waiting = 0;
    return atomic_load_explicit(&c->is_reading, memory_order_relaxed) &&
           ioctl(c->fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* When many connections are open, idle ones are closed early, so that new clients can connect. */
static bool is_idle_in_crowd(const sb_ticker *t, const sb_conn *c, uint64_t now) {
    if (t->conn_count <= t->crowd) return false;
    uint64_t since = atomic_load_explicit(&c->idle_since, memory_order_relaxed);
    return since && now > since + CROWDED_IDLE;
}

/* The descriptor is still open: a connection leaves the list before it is closed. */
static void cut_conn(sb_ticker *t, sb_conn *c) {
    atomic_store_explicit(&c->cut_at, 0, memory_order_relaxed);
    shutdown(c->fd, SHUT_RDWR);
    atomic_fetch_add(&t->too_slow, 1);
}

bool sb_ticker_admits(sb_ticker *t, unsigned slot) {
    if (!sb_share_is_used_up(&t->conn_shares, slot)) return true;
    uint64_t oldest = UINT64_MAX;
    sb_conn *idle = NULL;
    pthread_mutex_lock(&t->lock);
    for (sb_conn *c = t->conns; c; c = c->next) {
        uint64_t since = atomic_load_explicit(&c->idle_since, memory_order_relaxed);
        uint64_t cut_at = atomic_load_explicit(&c->cut_at, memory_order_relaxed);
        if (c->slot != slot || since == 0 || cut_at == 0 || since >= oldest || has_sent_more(c))
            continue;
        oldest = since;
        idle = c;
    }
    if (idle) cut_conn(t, idle);
    pthread_mutex_unlock(&t->lock);
    return idle != NULL;
}

static void cut_slow(sb_ticker *t, uint64_t now) {
    for (sb_conn *c = t->conns; c; c = c->next) {
        uint64_t cut_at = atomic_load_explicit(&c->cut_at, memory_order_relaxed);
        bool is_late = now >= cut_at || is_idle_in_crowd(t, c, now);
        if (cut_at != 0 && is_late && !has_sent_more(c)) cut_conn(t, c);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void wait_until(sb_ticker *t, uint64_t now, uint64_t moment) {
    uint64_t span = moment > now ? moment - now : 0;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + span % SECOND;
    until.tv_sec += (time_t)(span / SECOND + nanoseconds / SECOND);
    until.tv_nsec = (long)(nanoseconds % SECOND);
    pthread_cond_timedwait(&t->wake, &t->lock, &until);
}

static void *run_ticker(void *arg) {
    sb_ticker *t = arg;
    pthread_mutex_lock(&t->lock);
    while (t->is_running) {
        uint64_t now = ticker_now(t);
        if (now >= t->next_tick) {
            cut_slow(t, now);
            find_gone(t);
            give_memory_back(t);
            t->next_tick = now + SECOND;
        }
        uint64_t next = t->next_tick;
        if (atomic_load(&t->dirty)) {
            if (now - t->last_look >= t->interval) {
                t->last_look = now;
                atomic_store(&t->dirty, false);
                t->seen = newest(t);
            } else {
                next = earlier(next, t->last_look + t->interval);
            }
        }
        next = earlier(next, wake_waiting(t, now));
        t->wake_at = earlier(next, wake_due_streams(t, now));
        wait_until(t, now, t->wake_at);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

sb_status sb_ticker_start(sb_ticker *t, const sb_http_options *o, unsigned most_connections,
                          sb_quota *quota, sb_err *err) {
    *t = (sb_ticker){
        .alloc = o->alloc,
        .clock = o->clock,
        .interval = o->stream_interval,
        .heartbeat = o->heartbeat,
        .max_streams = o->max_streams,
        /* Half, since the library distributes connections unevenly over its threads. */
        .crowd = most_connections < FEW ? UINT64_MAX : most_connections / 2,
        .quota = quota,
        .is_running = true,
    };
    sb_shares_init(&t->conn_shares, most_connections);
    sb_shares_init(&t->stream_shares, o->max_streams);
    snprintf(t->instance, sizeof t->instance, "%s", o->instance);
    atomic_init(&t->version, o->version);
    t->seen.version = o->version;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&t->lock, NULL);
    t->polled = sb_alloc_zeroed(o->alloc, t->max_streams ? t->max_streams : 1, sizeof *t->polled);
    int error = t->polled ? pthread_create(&t->thread, NULL, run_ticker, t) : 0;
    if (t->polled && error == 0) return SB_OK;
    t->is_running = false;
    sb_ticker_fini(t);
    return error ? sb_fail_errno(err, SB_NOMEM, error, "cannot start a thread")
                 : sb_fail_nomem(err, "for the streams");
}

void sb_ticker_stop(sb_ticker *t) {
    pthread_mutex_lock(&t->lock);
    bool was_running = t->is_running;
    t->is_running = false;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    if (was_running) pthread_join(t->thread, NULL);
}

void sb_ticker_fini(sb_ticker *t) {
    sb_alloc_put(t->alloc, t->polled, (t->max_streams ? t->max_streams : 1) * sizeof *t->polled);
    t->polled = NULL;
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}
