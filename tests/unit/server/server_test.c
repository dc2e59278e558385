/* server_test.c: opening, answering, closing, with threads under TSan and with memory that runs
 * out. What goes over the wire in detail is tested by tests/integration. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/slice.h"
#include "server/http/http.h"
#include "support/fault_alloc.h"
#include "support/http_client.h"
#include "support/test.h"
#include "base/banned.h"

static sb_status hello(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)app;
    sb_buf_add_str(sb_http_body(r), "hello");
    return SB_OK;
}

static sb_status big(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)app;
    sb_http_type(r, "application/json");
    for (int i = 0; i < 100000; i++) sb_buf_add_str(sb_http_body(r), "[1, 2]");
    return SB_OK;
}

/* 2 MB, each byte known by its place. */
#define NUMBERS 300000

static sb_status numbers(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)app;
    for (int i = 0; i < NUMBERS; i++) sb_buf_printf(sb_http_body(r), "%d ", i);
    return SB_OK;
}

/* Says where it ran; ?long=1 is more than the listener's thread should do. */
static sb_status either(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)app;
    if (q->is_inline && sb_http_query(q, "long").p) return SB_MORE;
    sb_buf_add_str(sb_http_body(r), q->is_inline ? "by the listener" : "by a worker");
    return SB_OK;
}

static const sb_http_route routes[] = {
    {.methods = SB_HTTP_READ, .path = "/hello", .run = hello},
    {.methods = SB_HTTP_READ, .path = "/pooled", .run = hello, .how = SB_HTTP_POOLED},
    {.methods = SB_HTTP_READ, .path = "/either", .run = either, .how = SB_HTTP_EITHER},
    {.methods = SB_HTTP_READ, .path = "/big", .run = big},
    {.methods = SB_HTTP_READ, .path = "/numbers", .run = numbers},
    {.methods = SB_HTTP_READ, .path = "/stream", .how = SB_HTTP_STREAM},
};

typedef struct running {
    sb_http_server *server;
    unsigned port;
} running;

static sb_status start_at(running *s, uint64_t version, const sb_alloc *alloc, sb_err *err) {
    sb_http_options o;
    sb_http_bind_options where = {.tries = 1};
    sb_http_bound bound;
    sb_http_defaults(&o);
    o.alloc = alloc;
    o.routes = routes;
    o.route_count = SB_COUNT(routes);
    o.threads = 2;
    o.workers = 2;
    o.stream_interval = 1000000;
    o.heartbeat = 1000000000;
    o.version = version;
    sb_status status = sb_http_bind(&bound, &where, err);
    if (status != SB_OK) return status;
    s->port = bound.port;
    status = sb_http_open(&s->server, &o, &bound.listener, err);
    assert_int_equal(bound.listener, -1);
    return status;
}

static sb_status start(running *s, const sb_alloc *alloc, sb_err *err) {
    return start_at(s, 0, alloc, err);
}

static void a_server_answers_and_closes(void **state) {
    (void)state;
    running s;
    sb_err err;
    assert_ok(start(&s, &sb_alloc_libc, &err), &err);
    int fd = open_client(s.port);
    assert_true(ask(fd, "/hello", ""));
    assert_true(read_until(fd, "\r\n\r\nhello"));
    assert_true(ask(fd, "/pooled", "")); /* on the same connection */
    assert_true(read_until(fd, "\r\n\r\nhello"));
    assert_true(ask(fd, "/big", "Accept-Encoding: zstd\r\n")); /* compressed by a worker */
    assert_true(read_until(fd, "Content-Encoding: zstd"));
    sb_http_counts counts;
    sb_http_count(s.server, &counts);
    assert_int_equal(counts.connections, 1);
    assert_int_equal(counts.requests, 3);
    assert_int_equal(counts.refused, 0);
    close(fd);
    sb_http_close(s.server);
    sb_http_close(NULL);
    assert_int_equal(open_client(s.port), -1);
}

static void large_bodies_arrive_whole_and_in_order(void **state) {
    (void)state;
    running s;
    sb_err err;
    char wanted[32];
    assert_ok(start(&s, &sb_alloc_libc, &err), &err);
    int fd = open_client(s.port);
    for (int round = 0; round < 2; round++) { /* on the same connection */
        assert_true(ask(fd, "/numbers", ""));
        assert_true(read_until(fd, "Content-Length: 1988890"));
        assert_true(read_until(fd, "\r\n\r\n"));
        for (int i = 0; i < NUMBERS; i++) {
            char got[8] = {0};
            int n = snprintf(wanted, sizeof wanted, "%d ", i);
            assert_int_equal(recv(fd, got, (size_t)n, MSG_WAITALL), n);
            if (memcmp(got, wanted, (size_t)n) != 0) fail_msg("\"%s\" is not \"%s\"", got, wanted);
        }
    }
    close(fd);
    sb_http_close(s.server);
}

static void more_work_than_a_listener_should_do_goes_to_a_worker(void **state) {
    (void)state;
    running s;
    sb_err err;
    assert_ok(start(&s, &sb_alloc_libc, &err), &err);
    int fd = open_client(s.port);
    for (int i = 0; i < 3; i++) {
        assert_true(ask(fd, "/either", ""));
        assert_true(read_until(fd, "\r\n\r\nby the listener"));
        assert_true(ask(fd, "/either?long=1", ""));
        assert_true(read_until(fd, "\r\n\r\nby a worker"));
    }
    close(fd);
    sb_http_close(s.server);
}

/* A client may connect before the owner of the server has published anything. If it were greeted
 * with version 0 and asked for the changes since then, the reply would name no series at all. */
static void streams_are_greeted_with_the_version_of_the_beginning(void **state) {
    (void)state;
    running s;
    sb_err err;
    assert_ok(start_at(&s, 7, &sb_alloc_libc, &err), &err);
    int fd = open_client(s.port);
    assert_true(ask(fd, "/stream", ""));
    assert_true(read_until(fd, "data: {\"version\": 7, \"instance\": \"\", \"jobs\": 0}\n\n"));
    sb_http_publish(s.server, 8);
    assert_true(read_until(fd, "data: {\"version\": 8, \"instance\": \"\", \"jobs\": 0}\n\n"));
    close(fd);
    sb_http_close(s.server);
}

static void closing_ends_streams_and_idle_connections(void **state) {
    (void)state;
    running s;
    sb_err err;
    assert_ok(start(&s, &sb_alloc_libc, &err), &err);
    int fds[8];
    for (int i = 0; i < 8; i++) {
        fds[i] = open_client(s.port);
        assert_true(ask(fds[i], i % 2 ? "/stream" : "/hello", ""));
        assert_true(
            read_until(fds[i], i % 2 ? "data: {\"version\": 0, \"instance\": \"\", \"jobs\": 0}\n\n"
                                     : "hello"));
    }
    sb_http_publish(s.server, 41);
    for (int i = 1; i < 8; i += 2)
        assert_true(
            read_until(fds[i], "data: {\"version\": 41, \"instance\": \"\", \"jobs\": 0}\n\n"));
    sb_http_close(s.server);
    for (int i = 0; i < 8; i++) {
        assert_false(read_until(fds[i], "never sent"));
        close(fds[i]);
    }
}

typedef struct clients {
    unsigned port;
    _Atomic unsigned answered;
    _Atomic unsigned streamed;
} clients;

static void *be_clients(void *arg) {
    clients *c = arg;
    for (int round = 0; round < 30; round++) {
        int fd = open_client(c->port);
        if (fd < 0) break;
        static const char *const paths[] = {"/hello", "/pooled", "/big", "/pooled"};
        for (int i = 0; i < 4; i++) {
            if (!ask(fd, paths[i], i == 2 ? "Accept-Encoding: gzip\r\n" : "")) break;
            if (!read_until(fd, i == 2 ? "Content-Encoding: gzip" : "\r\n\r\nhello")) break;
            atomic_fetch_add(&c->answered, 1);
            if (i == 2) break; /* leaves in the middle of a large body */
        }
        close(fd);
        fd = open_client(c->port);
        if (fd < 0) break;
        if (ask(fd, "/stream", "") && read_until(fd, "data: ")) atomic_fetch_add(&c->streamed, 1);
        close(fd); /* a stream client that vanishes */
    }
    return NULL;
}

static void many_clients_and_publishers_do_not_race(void **state) {
    (void)state;
    running s;
    sb_err err;
    assert_ok(start(&s, &sb_alloc_libc, &err), &err);
    clients c = {.port = s.port};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_clients, &c), 0);
    for (uint64_t version = 1; version < 20000; version++) sb_http_publish(s.server, version);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&c.answered), 4 * 30 * 3);
    assert_int_equal(atomic_load(&c.streamed), 4 * 30);
    sb_http_close(s.server);
}

static void closing_in_the_middle_of_everything_is_clean(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        running s;
        sb_err err;
        assert_ok(start(&s, &sb_alloc_libc, &err), &err);
        clients c = {.port = s.port};
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, be_clients, &c), 0);
        while (atomic_load(&c.answered) < (unsigned)(round * 3 + 1)) sched_yield();
        sb_http_close(s.server);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    }
}

static void options_that_make_no_sense_are_invalid(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        sb_http_options o;
        sb_http_defaults(&o);
        sb_http_bind_options where = {.tries = 1};
        sb_http_bound bound;
        assert_ok(sb_http_bind(&bound, &where, NULL), NULL);
        if (i == 0) o.threads = 0;
        if (i == 1) o.workers = 0;
        if (i == 2) o.queue = 0;
        if (i == 3) o.max_connections = 0;
        if (i == 4) o.path_prefix = "x";
        if (i == 5) o.tls_cert = "x";
        if (i == 6) o.token = "";
        if (i == 7) o.tls_cert = o.tls_key = "not a certificate";
        sb_http_server *server;
        sb_err err = {.text = ""};
        assert_int_equal(sb_http_open(&server, &o, &bound.listener, &err), SB_INVALID);
        assert_null(server);
        assert_int_equal(bound.listener, -1); /* taken, and closed */
        assert_true(err.text[0] != '\0');
    }
}

static sb_status open_and_close(const sb_alloc *alloc, void *ud) {
    (void)ud;
    running s;
    sb_err err;
    sb_status status = start(&s, alloc, &err);
    if (status == SB_OK) sb_http_close(s.server);
    return status;
}

static void memory_that_runs_out_while_opening_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(open_and_close, NULL);
}

/* A request for which memory runs out costs that connection at most; the next one is answered. */
static void memory_that_runs_out_while_serving_costs_one_request(void **state) {
    (void)state;
    static const char *const paths[] = {"/hello", "/pooled", "/stream", "/none"};
    for (size_t p = 0; p < SB_COUNT(paths); p++) {
        for (uint64_t n = 1; n < 12; n++) {
            sb_fault_alloc f;
            sb_fault_alloc_init(&f);
            running s;
            sb_err err;
            assert_ok(start(&s, &f.alloc, &err), &err);
            sb_fault_alloc_fail_at(&f, n, false);
            int fd = open_client(s.port);
            ask(fd, paths[p], "");
            read_until(fd, "HTTP/1.1 ");
            close(fd);
            sb_fault_alloc_fail_at(&f, 0, false);
            fd = open_client(s.port);
            assert_true(ask(fd, "/hello", ""));
            assert_true(read_until(fd, "\r\n\r\nhello"));
            close(fd);
            sb_http_close(s.server);
            sb_fault_alloc_fini(&f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_answers_and_closes),
        cmocka_unit_test(large_bodies_arrive_whole_and_in_order),
        cmocka_unit_test(more_work_than_a_listener_should_do_goes_to_a_worker),
        cmocka_unit_test(streams_are_greeted_with_the_version_of_the_beginning),
        cmocka_unit_test(closing_ends_streams_and_idle_connections),
        cmocka_unit_test(many_clients_and_publishers_do_not_race),
        cmocka_unit_test(closing_in_the_middle_of_everything_is_clean),
        cmocka_unit_test(options_that_make_no_sense_are_invalid),
        cmocka_unit_test(memory_that_runs_out_while_opening_is_told),
        cmocka_unit_test(memory_that_runs_out_while_serving_costs_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
