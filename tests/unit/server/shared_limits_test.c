/* shared_limits_test.c: what all clients share, with threads under TSan: bodies that are made while
 * they are sent, the memory of all requests, and the share of connections that one address has. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/slice.h"
#include "server/http/server.h"
#include "support/http_client.h"
#include "support/test.h"
#include "base/banned.h"

#define MEMORY ((size_t)4 << 20)
#define MOST_OF_IT (MEMORY - MEMORY / 8) /* more than a request may find used and still begin */
#define PIECES 24
#define PIECE ((size_t)64 << 10)

/* What the handlers share with the test. */
typedef struct world {
    sb_http_server *server;
    unsigned port;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;       /* handlers of /hold may go on */
    unsigned holding;   /* handlers of /hold that wait for that */
    _Atomic int begun;  /* bodies of /made, ever */
    _Atomic int ended;  /* of them, those that were released */
    _Atomic bool wrong; /* a client got something else than it should have */
} world;

static sb_status hello(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)app;
    sb_buf_add_str(sb_http_body(r), "hello");
    return SB_OK;
}

/* Takes most of the memory of all requests, and keeps it until the test opens the gate. */
static sb_status hold(sb_http_request *q, sb_http_reply *r, void *app) {
    world *w = app;
    if (!sb_arena_get(q->arena, MOST_OF_IT)) return SB_NOMEM;
    pthread_mutex_lock(&w->lock);
    w->holding++;
    pthread_cond_broadcast(&w->changed);
    while (!w->is_open) pthread_cond_wait(&w->changed, &w->lock);
    w->holding--;
    pthread_mutex_unlock(&w->lock);
    sb_buf_add_str(sb_http_body(r), "held");
    return SB_OK;
}

typedef struct body {
    world *w;
    int pieces;
} body;

static sb_status make_piece(void *ud, sb_buf *out) {
    body *b = ud;
    bool is_last = ++b->pieces == PIECES;
    for (size_t i = 0; i + 8 < PIECE; i += 8) sb_buf_add_str(out, "abcdefgh");
    sb_buf_add_str(out, is_last ? "the end." : "........");
    return is_last ? SB_END : SB_OK;
}

static void release_body(void *ud) {
    body *b = ud;
    atomic_fetch_add(&b->w->ended, 1);
    free(b);
}

static sb_status made(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q;
    body *b = malloc(sizeof *b);
    if (!b) return SB_NOMEM;
    *b = (body){.w = app};
    atomic_fetch_add(&b->w->begun, 1);
    return sb_http_make(r, make_piece, release_body, b);
}

static const sb_http_route routes[] = {
    {.methods = SB_HTTP_READ, .path = "/hello", .run = hello},
    {.methods = SB_HTTP_READ, .path = "/pooled", .run = hello, .how = SB_HTTP_POOLED},
    {.methods = SB_HTTP_READ, .path = "/hold", .run = hold, .how = SB_HTTP_POOLED},
    {.methods = SB_HTTP_READ, .path = "/made", .run = made, .how = SB_HTTP_POOLED},
};

static void start(world *w, unsigned max_connections, size_t memory, uint64_t memory_wait) {
    *w = (world){0};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    sb_http_options o;
    sb_http_bind_options where = {.tries = 1};
    sb_http_bound bound;
    sb_err err;
    sb_http_defaults(&o);
    o.routes = routes;
    o.route_count = SB_COUNT(routes);
    o.app = w;
    o.threads = o.workers = 2;
    o.max_connections = max_connections;
    o.memory = o.request_memory = o.reply_memory = memory;
    o.memory_wait = memory_wait;
    assert_ok(sb_http_bind(&bound, &where, &err), &err);
    w->port = bound.port;
    assert_ok(sb_http_open(&w->server, &o, &bound.listener, &err), &err);
}

static void stop(world *w) {
    sb_http_close(w->server);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static void run_threads(void *(*run)(void *), world *w, int count) {
    pthread_t threads[8];
    for (int i = 0; i < count; i++) assert_int_equal(pthread_create(&threads[i], NULL, run, w), 0);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    assert_false(atomic_load(&w->wrong));
}

/* ---- bodies that are made while they are sent ------------------------------------------------ */

static void *read_bodies(void *arg) {
    world *w = arg;
    for (int round = 0; round < 12; round++) {
        int fd = open_client(w->port);
        bool is_packed = round % 3 == 1, leaves = round % 3 == 2;
        bool ok = fd >= 0 && ask(fd, "/made", is_packed ? "Accept-Encoding: zstd\r\n" : "") &&
                  read_until(fd, is_packed ? "Content-Encoding: zstd" : "HTTP/1.1 200");
        /* one of three leaves in the middle of the body; chunked bodies end with a chunk of 0 */
        if (ok && !leaves) ok = read_until(fd, is_packed ? "0\r\n\r\n" : "the end.");
        if (!ok) atomic_store(&w->wrong, true);
        if (fd >= 0) close(fd);
    }
    return NULL;
}

static void bodies_made_in_pieces_are_whole_and_released(void **state) {
    (void)state;
    world w;
    start(&w, 64, 64 * MEMORY, 0);
    run_threads(read_bodies, &w, 4);
    stop(&w);
    assert_int_equal(atomic_load(&w.begun), 4 * 12);
    assert_int_equal(atomic_load(&w.ended), 4 * 12);
}

/* ---- the memory of all requests -------------------------------------------------------------- */

static int hold_memory(world *w) {
    int fd = open_client(w->port);
    assert_true(ask(fd, "/hold", ""));
    pthread_mutex_lock(&w->lock);
    while (w->holding == 0) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return fd;
}

static void set_gate(world *w, bool is_open) {
    pthread_mutex_lock(&w->lock);
    w->is_open = is_open;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* How many requests wait for memory now. */
static unsigned count_waiting(world *w) {
    unsigned n = 0;
    pthread_mutex_lock(&w->server->ticker.lock);
    for (const sb_conn *c = w->server->ticker.waiting; c; c = c->next_waiting) n++;
    pthread_mutex_unlock(&w->server->ticker.lock);
    return n;
}

static void requests_wait_until_memory_is_free(void **state) {
    (void)state;
    enum { WAITING = 6 };
    world w;
    start(&w, 64, MEMORY, UINT64_C(300) * 1000000000);
    for (int round = 0; round < 3; round++) {
        set_gate(&w, false);
        int holder = hold_memory(&w), fds[WAITING];
        for (int i = 0; i < WAITING; i++) {
            fds[i] = open_client(w.port);
            assert_true(ask(fds[i], "/pooled", ""));
        }
        while (count_waiting(&w) < WAITING) sched_yield();
        int other = open_client(w.port); /* what needs no memory does not wait */
        assert_true(ask(other, "/hello", "") && read_until(other, "\r\n\r\nhello"));
        close(other);
        close(fds[0]); /* one client leaves while it waits */
        set_gate(&w, true);
        assert_true(read_until(holder, "held"));
        close(holder);
        for (int i = 1; i < WAITING; i++) {
            assert_true(read_until(fds[i], "\r\n\r\nhello"));
            close(fds[i]);
        }
    }
    sb_http_counts counts;
    sb_http_count(w.server, &counts);
    assert_int_equal(counts.no_memory, 0);
    stop(&w);
}

static void *ask_in_vain(void *arg) {
    world *w = arg;
    for (int round = 0; round < 5; round++) {
        int fd = open_client(w->port);
        if (!ask(fd, "/pooled", "") || !read_until(fd, "HTTP/1.1 503"))
            atomic_store(&w->wrong, true);
        close(fd);
    }
    return NULL;
}

static void requests_that_waited_too_long_are_refused(void **state) {
    (void)state;
    world w;
    start(&w, 64, MEMORY, 1000000);
    int holder = hold_memory(&w);
    run_threads(ask_in_vain, &w, 4);
    sb_http_counts counts;
    sb_http_count(w.server, &counts);
    assert_int_equal(counts.no_memory, 4 * 5);
    set_gate(&w, true);
    assert_true(read_until(holder, "held"));
    assert_true(ask(holder, "/pooled", "") && read_until(holder, "\r\n\r\nhello"));
    close(holder);
    stop(&w);
}

/* Closing resumes those that wait: libmicrohttpd must not stop with suspended connections. */
static void closing_ends_the_wait_for_memory(void **state) {
    (void)state;
    world w;
    start(&w, 64, MEMORY, UINT64_C(300) * 1000000000);
    int holder = hold_memory(&w), waiting = open_client(w.port);
    assert_true(ask(waiting, "/pooled", ""));
    while (count_waiting(&w) < 1) sched_yield();
    set_gate(&w, true);
    stop(&w);
    close(holder);
    close(waiting);
}

/* ---- shares of addresses --------------------------------------------------------------------- */

#define CONNECTIONS 400
#define SHARE (CONNECTIONS / 2)

/* Keeps every connection open; each one is idle after its first answer. */
static void *take_many(void *arg) {
    world *w = arg;
    enum { TRIES = SHARE + 40 };
    int fds[TRIES];
    for (int i = 0; i < TRIES; i++) {
        fds[i] = open_client_from(w->port, 2);
        if (fds[i] < 0 || !ask(fds[i], "/hello", "") || !read_until(fds[i], "\r\n\r\nhello"))
            atomic_store(&w->wrong, true);
    }
    for (int i = 0; i < TRIES; i++)
        if (fds[i] >= 0) close(fds[i]);
    return NULL;
}

static void *take_few(void *arg) {
    world *w = arg;
    static _Atomic uint32_t next = 3;
    uint32_t host = atomic_fetch_add(&next, 1);
    for (int round = 0; round < 20; round++) {
        int fd = open_client_from(w->port, host);
        for (int i = 0; i < 5; i++)
            if (fd < 0 || !ask(fd, "/pooled", "") || !read_until(fd, "\r\n\r\nhello"))
                atomic_store(&w->wrong, true);
        if (fd >= 0) close(fd);
    }
    return NULL;
}

static void an_address_with_its_share_makes_room_by_its_own_idle_connections(void **state) {
    (void)state;
    world w;
    start(&w, CONNECTIONS, MEMORY, 0);
    pthread_t greedy;
    assert_int_equal(pthread_create(&greedy, NULL, take_many, &w), 0);
    run_threads(take_few, &w, 3);
    pthread_join(greedy, NULL);
    assert_false(atomic_load(&w.wrong));
    sb_http_counts counts;
    sb_http_count(w.server, &counts);
    assert_true(counts.too_slow >= 30); /* that made room; two listeners may accept at once */
    stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_made_in_pieces_are_whole_and_released),
        cmocka_unit_test(requests_wait_until_memory_is_free),
        cmocka_unit_test(requests_that_waited_too_long_are_refused),
        cmocka_unit_test(closing_ends_the_wait_for_memory),
        cmocka_unit_test(an_address_with_its_share_makes_room_by_its_own_idle_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
