/* app_test.c: the whole way from a log directory to answers, in one process: loading beside
 * answering, closing in the middle of everything, memory that runs out. What the answers hold is
 * tested by tests/conformance. */
#include "server/app.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "server/app_int.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

/* ---- a log ----------------------------------------------------------------------------------- */

static void add_point(sb_buf *file, const char *tag, int64_t step, float value) {
    sb_buf summary;
    sb_buf_init(&summary, &sb_alloc_libc, 1 << 16);
    size_t at = sb_pb_begin(&summary, SB_SUMMARY_VALUE, 40);
    sb_pb_add_bytes(&summary, SB_VALUE_TAG, sb_slice_str(tag));
    sb_pb_add_float(&summary, SB_VALUE_SIMPLE_VALUE, value);
    sb_pb_end(&summary, at);
    size_t record = sb_record_begin(file);
    sb_pb_add_double(file, SB_EVENT_WALL_TIME, 1000.0 + (double)step);
    sb_pb_add_int_nz(file, SB_EVENT_STEP, step);
    sb_pb_add_bytes(file, SB_EVENT_SUMMARY, sb_buf_slice(&summary));
    sb_record_end(file, record);
    sb_buf_fini(&summary);
}

static void put_run(sb_test_dir *dir, const char *name, int64_t points) {
    sb_buf file;
    char path[128];
    sb_buf_init(&file, &sb_alloc_libc, 1 << 26);
    for (int64_t step = 0; step < points; step++) add_point(&file, "loss", step, (float)step);
    snprintf(path, sizeof path, "%s/events.out.tfevents.1", name);
    sb_test_dir_put(dir, path, sb_buf_slice(&file));
    sb_buf_fini(&file);
}

/* ---- a server -------------------------------------------------------------------------------- */

typedef struct running {
    sb_app *app;
    unsigned port;
} running;

static sb_status start_with(running *r, const sb_alloc *alloc, const char *path, bool load_first,
                            const char *token, sb_err *err) {
    static sb_env env; /* outlives the threads of a test that failed */
    env = (sb_env){alloc, &sb_fs_local, &sb_clock_system};
    sb_ingest_root root = {.path = path};
    const sb_app_sample samples[] = {{"images", 3}};
    sb_app_opts o = {
        .env = &env,
        .ingest = {.roots = &root, .root_count = 1, .reload_interval = 0.1, .threads = 2},
        .load_first = load_first,
        .version = "1",
        .data_location = path,
        .window_title = "t",
        .flags_json = "{}",
        .samples = samples,
        .sample_count = 1};
    sb_http_bound bound;
    sb_http_defaults(&o.http);
    o.http.threads = 2;
    o.http.workers = 2;
    o.http.token = token;
    sb_status status = sb_http_bind(&bound, &(sb_http_bind_options){.tries = 1}, err);
    if (status != SB_OK) return status;
    r->port = bound.port;
    status = sb_app_open(&r->app, &o, &bound.listener, err);
    assert_int_equal(bound.listener, -1);
    return status;
}

static sb_status start(running *r, const sb_alloc *alloc, const char *path, bool load_first,
                       sb_err *err) {
    return start_with(r, alloc, path, load_first, NULL, err);
}

/* Does a request's answer hold the text? The connection ends with it. */
static bool answers(unsigned port, const char *target, const char *wanted) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = 60};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char request[512];
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target);
    bool found = false;
    sb_buf reply;
    sb_buf_init(&reply, &sb_alloc_libc, 1 << 26);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
        send(fd, request, (size_t)n, MSG_NOSIGNAL) == n) {
        char piece[4096];
        ssize_t got;
        while ((got = recv(fd, piece, sizeof piece, 0)) > 0) sb_buf_add(&reply, piece, (size_t)got);
        found = reply.n && memmem(reply.p, reply.n, wanted, strlen(wanted));
    }
    close(fd);
    sb_buf_fini(&reply);
    return found;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_is_in_the_directory_is_served(void **state) {
    sb_test_dir *dir = *state;
    running r;
    sb_err err;
    put_run(dir, "a", 3);
    put_run(dir, "b c", 5000);
    assert_ok(start(&r, &sb_alloc_libc, sb_test_dir_path(dir), true, &err), &err);
    assert_true(answers(r.port, "/data/runs", "[\"a\", \"b c\"]"));
    const char *one = "/data/plugin/scalars/scalars?run=a&tag=loss";
    for (int i = 0; i < 2; i++) /* made, then kept */
        assert_true(
            answers(r.port, one, "\r\n\r\n[[1000.0, 0, 0.0], [1001.0, 1, 1.0], [1002.0, 2, 2.0]]"));
    /* more than a listener should do by itself */
    assert_true(answers(r.port, "/data/plugin/scalars/scalars?run=b+c&tag=loss",
                        "[5999.0, 4999, 4999.0]]"));
    assert_true(
        answers(r.port, "/experiment/x/data/plugin/timeseries/tags", "\"b c\": [\"loss\"]"));
    assert_true(answers(r.port, "/healthz", "200 OK"));
    sb_ingest_progress progress;
    sb_app_progress(r.app, &progress);
    assert_int_equal(progress.points, 5003);
    sb_app_close(r.app);
    sb_app_close(NULL);
}

static void answers_that_were_kept_give_way_to_new_points(void **state) {
    sb_test_dir *dir = *state;
    running r;
    sb_err err;
    put_run(dir, "a", 3);
    assert_ok(start(&r, &sb_alloc_libc, sb_test_dir_path(dir), true, &err), &err);
    const char *target = "/data/plugin/scalars/scalars?run=a&tag=loss";
    assert_true(answers(r.port, target, "[1002.0, 2, 2.0]]"));
    put_run(dir, "a", 4);
    while (!answers(r.port, target, "[1003.0, 3, 3.0]]"))
        ; /* ctest ends a test that hangs */
    sb_app_close(r.app);
}

/* Whatever is added to the table: nobody gets in without the token. */
static void every_route_but_one_asks_for_the_token(void **state) {
    sb_test_dir *dir = *state;
    running r;
    sb_err err;
    assert_ok(start_with(&r, &sb_alloc_libc, sb_test_dir_path(dir), true, "the-secret-token", &err),
              &err);
    size_t open = 0;
    for (size_t i = 0; i < sb_app_route_count; i++) {
        char path[256];
        int n = snprintf(path, sizeof path, "%s", sb_app_routes[i].path);
        if (path[n - 1] == '*') path[n - 1] = 'x';
        if (sb_app_routes[i].is_open) {
            assert_string_equal(path, "/healthz");
            open++;
            continue;
        }
        bool refused = answers(r.port, path, "HTTP/1.1 401 ");
        if (!refused) fail_msg("%s is answered without a token", path);
    }
    assert_int_equal(open, 1);
    assert_true(answers(r.port, "/healthz", "HTTP/1.1 200 "));
    assert_true(answers(r.port, "/data/runs?token=the-secret-token", "HTTP/1.1 200 "));
    sb_app_close(r.app);
}

typedef struct client {
    unsigned port;
    unsigned number;
} client;

static void *ask_on(void *ud) {
    static const char *const targets[] = {
        "/",
        "/data/runs",
        "/data/environment",
        "/data/plugin/scalars/tags",
        "/data/plugin/scalars/scalars?run=r1&tag=loss",
        "/data/plugin/timeseries/"
        "timeSeries?requests=[{%22plugin%22:%22scalars%22,%22tag%22:%22loss%22}]",
        "/data/plugin/hparams/experiment?request={}",
        "/data/plugins_listing",
        "/data/plugin/images/tags"};
    client *c = ud;
    for (unsigned i = 0; i < 20; i++)
        answers(c->port, targets[(i + c->number) % SB_COUNT(targets)], "200 OK");
    return NULL;
}

static void many_ask_while_much_is_read(void **state) {
    sb_test_dir *dir = *state;
    running r;
    sb_err err;
    assert_ok(start(&r, &sb_alloc_libc, sb_test_dir_path(dir), false, &err), &err);
    pthread_t threads[4];
    client clients[SB_COUNT(threads)];
    for (unsigned i = 0; i < SB_COUNT(threads); i++) {
        clients[i] = (client){r.port, i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &clients[i]), 0);
    }
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i % 4);
        put_run(dir, name, 500 * (i + 1));
    }
    for (size_t i = 0; i < SB_COUNT(threads); i++) pthread_join(threads[i], NULL);
    sb_app_close(r.app);
}

static void closing_while_clients_ask_is_clean(void **state) {
    sb_test_dir *dir = *state;
    put_run(dir, "r1", 20000);
    for (int round = 0; round < 3; round++) {
        running r;
        sb_err err;
        assert_ok(start(&r, &sb_alloc_libc, sb_test_dir_path(dir), false, &err), &err);
        pthread_t threads[3];
        client clients[SB_COUNT(threads)];
        for (unsigned i = 0; i < SB_COUNT(threads); i++) {
            clients[i] = (client){r.port, i};
            assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &clients[i]), 0);
        }
        answers(r.port, "/data/runs", "x");
        sb_app_close(r.app);
        for (size_t i = 0; i < SB_COUNT(threads); i++) pthread_join(threads[i], NULL);
    }
}

static void memory_that_runs_out_while_opening_is_told(void **state) {
    sb_test_dir *dir = *state;
    put_run(dir, "a", 3);
    for (uint64_t n = 1; n <= 200; n++) {
        sb_fault_alloc f;
        running r;
        sb_err err;
        sb_fault_alloc_init(&f);
        sb_fault_alloc_fail_at(&f, n, false);
        sb_status status = start(&r, &f.alloc, sb_test_dir_path(dir), false, &err);
        if (status == SB_OK) sb_app_close(r.app);
        bool refused = f.failures > 0; /* no thread is left that could count */
        assert_true(status == SB_OK || refused);
        sb_fault_alloc_fini(&f);
        if (!refused) break;
    }
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIR(what_is_in_the_directory_is_served),
        IN_DIR(answers_that_were_kept_give_way_to_new_points),
        IN_DIR(every_route_but_one_asks_for_the_token),
        IN_DIR(many_ask_while_much_is_read),
        IN_DIR(closing_while_clients_ask_is_clean),
        IN_DIR(memory_that_runs_out_while_opening_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
