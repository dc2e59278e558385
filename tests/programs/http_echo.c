/* http_echo.c: a small server over server/http for tests/integration to drive.
 *
 *     http_echo [name=value ...]
 *
 * Names are those of the options below (limits in bytes, counts or milliseconds; token, prefix,
 * host, cert, key as text; allow may come several times). It prints one line, "port N, started in N
 * us", serves until its standard input ends, closes, prints "closed" and exits 0. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"
#include "fsio/fs.h"
#include "server/http/http.h"
#include "base/banned.h"

#define MILLISECOND 1000000ull
#define SERVED_BYTES (48u << 10)

typedef struct app {
    sb_http_server *server;
    uint8_t bytes[SERVED_BYTES]; /* what /bytes, /file and /lent serve */
    char file[64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned waiting; /* requests at the gate */
    unsigned lent;    /* bodies that were lent and not given back */
    bool is_open;
} app;

/* ---- handlers -------------------------------------------------------------------------------- */

static uint64_t number(const sb_http_request *q, const char *key, uint64_t otherwise) {
    sb_slice text = sb_http_query(q, key);
    char copy[32];
    if (!text.p || text.n == 0 || text.n >= sizeof copy) return otherwise;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return strtoull(copy, NULL, 10);
}

static sb_status hello(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q, (void)ud;
    sb_http_type(r, "application/json");
    sb_buf_add_str(
        sb_http_body(r),
        "{\"version\": \"0.1.0\", \"data_location\": \"/somewhere/on/this/machine/logs\", "
        "\"window_title\": \"x\"}");
    return SB_OK;
}

/* n bytes that compress well, or, with random=1, hardly. */
static sb_status bytes(sb_http_request *q, sb_http_reply *r, void *ud) {
    app *a = ud;
    uint64_t n = number(q, "n", SERVED_BYTES);
    bool random = number(q, "random", 0) != 0;
    sb_slice type = sb_http_query(q, "type");
    sb_slice copy = sb_arena_dup(q->arena, type);
    sb_http_type(r, type.n && copy.p ? (const char *)copy.p : "application/json");
    sb_buf *body = sb_http_body(r);
    uint64_t state = 88172645463325252u;
    uint8_t block[SERVED_BYTES / 6];
    for (uint64_t done = 0; done < n && body->failed == SB_OK; done += sizeof block) {
        for (size_t i = 0; random && i < sizeof block; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            block[i] = (uint8_t)state;
        }
        size_t part = n - done < sizeof block ? (size_t)(n - done) : sizeof block;
        sb_buf_add(body, random ? block : a->bytes + done % SERVED_BYTES, part);
    }
    return SB_OK;
}

/* The body is made once; what is measured is the way out. */
static sb_status fixed(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q;
    app *a = ud;
    sb_http_type(r, "application/json");
    sb_buf_add(sb_http_body(r), a->bytes, SERVED_BYTES);
    return SB_OK;
}

static void give_back(void *ud) {
    app *a = ud;
    pthread_mutex_lock(&a->lock);
    a->lent--;
    pthread_mutex_unlock(&a->lock);
}

static sb_status lent(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q;
    app *a = ud;
    pthread_mutex_lock(&a->lock);
    a->lent++;
    pthread_mutex_unlock(&a->lock);
    sb_http_type(r, "audio/wav");
    sb_http_lend(r, sb_slice_of(a->bytes, SERVED_BYTES), give_back, a);
    sb_http_allow_ranges(r);
    sb_http_cache_for(r, SB_HTTP_CACHE_FOREVER);
    return sb_http_etag(r, SB_LIT("bytes-1"));
}

static sb_status file(sb_http_request *q, sb_http_reply *r, void *ud) {
    app *a = ud;
    int fd = open(a->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return sb_fail_errno(sb_http_err(r), SB_IO, errno, "cannot open the file");
    sb_http_type(r, "application/octet-stream");
    sb_http_take_file(r, fd, number(q, "offset", 0), number(q, "n", SERVED_BYTES));
    sb_http_allow_ranges(r);
    return SB_OK;
}

static sb_status asset(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q, (void)ud;
    static const sb_http_asset page = {
        .identity = {(const uint8_t *)"<p>plain", 8},
        .gzip = {(const uint8_t *)"gzip!", 5},
        .br = {(const uint8_t *)"br!", 3},
        .content_type = "text/html; charset=utf-8",
        .etag = "asset-7",
    };
    sb_http_send_asset(r, &page);
    sb_http_cache_for(r, SB_HTTP_CACHE_DAY);
    return SB_OK;
}

static void add_hex(sb_buf *out, sb_slice s) {
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < s.n; i++) sb_buf_printf(out, "%02x", s.p[i]);
    sb_buf_add_byte(out, '"');
}

static void add_pairs(sb_buf *out, const char *name, sb_http_params params) {
    sb_buf_printf(out, ", \"%s\": [", name);
    for (size_t i = 0; i < params.count; i++) {
        sb_buf_add_str(out, i ? ", [" : "[");
        add_hex(out, params.items[i].key);
        sb_buf_add_str(out, ", ");
        add_hex(out, params.items[i].value);
        sb_buf_add_str(out, "]");
    }
    sb_buf_add_str(out, "]");
}

/* All texts in hex, so that no escaping hides a difference. */
static sb_status echo(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    sb_http_params form;
    sb_status status = sb_http_form(q, &form, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_http_type(r, "application/json");
    sb_buf *out = sb_http_body(r);
    sb_buf_printf(out, "{\"method\": %d, \"loopback\": %d, \"forwarded\": %d", (int)q->method,
                  q->peer_is_loopback, q->is_forwarded);
    const struct {
        const char *name;
        sb_slice text;
    } texts[] = {{"target", q->target}, {"root", q->root}, {"path", q->path},
                 {"rest", q->rest},     {"body", q->body}, {"peer", q->peer}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sb_buf_printf(out, ", \"%s\": ", texts[i].name);
        add_hex(out, texts[i].text);
    }
    add_pairs(out, "query", q->query);
    add_pairs(out, "headers", q->headers);
    add_pairs(out, "form", form);
    sb_buf_add_str(out, "}\n");
    return SB_OK;
}

static sb_status size(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    sb_buf_printf(sb_http_body(r), "%zu", q->body.n);
    return SB_OK;
}

/* Waits until somebody opens the gate; on a worker, so the listener stays free. */
static sb_status wait_at_gate(sb_http_request *q, sb_http_reply *r, void *ud) {
    app *a = ud;
    pthread_mutex_lock(&a->lock);
    a->waiting++;
    pthread_cond_broadcast(&a->changed);
    while (!a->is_open) pthread_cond_wait(&a->changed, &a->lock);
    a->waiting--;
    pthread_mutex_unlock(&a->lock);
    sb_buf_add_str(sb_http_body(r), "through ");
    sb_buf_add_slice(sb_http_body(r), sb_http_query(q, "name"));
    return SB_OK;
}

static sb_status set_gate(sb_http_request *q, sb_http_reply *r, void *ud) {
    app *a = ud;
    pthread_mutex_lock(&a->lock);
    a->is_open = number(q, "open", 1) != 0;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    sb_buf_add_str(sb_http_body(r), "ok");
    return SB_OK;
}

static sb_status until_expired(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    while (!sb_http_expired(q)) continue;
    return sb_fail(sb_http_err(r), SB_DROPPED, 0, "gave up in time");
}

static sb_status eat_memory(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    for (;;)
        if (!sb_arena_get(q->arena, 1u << 20)) return sb_fail_nomem(sb_http_err(r), "for a feast");
}

static sb_status answer_status(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)r, (void)ud;
    return (sb_status)number(q, "s", 0);
}

static sb_status answer_fail(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    sb_slice text = sb_http_query(q, "text");
    return sb_http_fail(r, (int)number(q, "code", 400), "%.*s", SB_SHOWN(text));
}

static sb_status html(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q, (void)ud;
    sb_http_type(r, "text/html; charset=utf-8");
    sb_buf_add_str(sb_http_body(r), "<!doctype html><p>hello");
    return SB_OK;
}

static sb_status user(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    sb_http_type(r, "image/svg+xml");
    sb_buf_add_str(sb_http_body(r), "<svg xmlns='http://www.w3.org/2000/svg'/>");
    sb_http_user_content(r, sb_http_query(q, "name"));
    return SB_OK;
}

static sb_status set_header(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    sb_buf_add_str(sb_http_body(r), "x");
    return sb_http_set_header(r, "X-Test", sb_http_query(q, "value"));
}

static sb_status go(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)ud;
    return sb_http_redirect(r, 302, sb_http_query(q, "to"), (sb_slice){NULL, 0});
}

static sb_status publish(sb_http_request *q, sb_http_reply *r, void *ud) {
    app *a = ud;
    uint64_t from = number(q, "v", 1), count = number(q, "count", 1);
    for (uint64_t i = 0; i < count; i++) sb_http_publish(a->server, from + i);
    sb_buf_add_str(sb_http_body(r), "ok");
    return SB_OK;
}

static sb_status counts(sb_http_request *q, sb_http_reply *r, void *ud) {
    (void)q;
    app *a = ud;
    sb_http_counts c;
    sb_http_count(a->server, &c);
    pthread_mutex_lock(&a->lock);
    unsigned waiting = a->waiting, out = a->lent;
    pthread_mutex_unlock(&a->lock);
    sb_http_type(r, "application/json");
    sb_buf_printf(
        sb_http_body(r),
        "{\"connections\": %llu, \"streams\": %llu, \"requests\": %llu, \"refused\": %llu, "
        "\"too_slow\": %llu, \"queued\": %llu, \"waiting\": %u, \"lent\": %u}",
        (unsigned long long)c.connections, (unsigned long long)c.streams,
        (unsigned long long)c.requests, (unsigned long long)c.refused,
        (unsigned long long)c.too_slow, (unsigned long long)c.queued, waiting, out);
    return SB_OK;
}

#define READ SB_HTTP_READ
#define ALL SB_HTTP_ALL
static const sb_http_route routes[] = {
    {.methods = READ, .path = "/", .run = html},
    {.methods = READ, .path = "/hello", .run = hello},
    {.methods = READ, .path = "/bytes", .run = bytes},
    {.methods = READ, .path = "/pooled/bytes", .run = bytes, .how = SB_HTTP_POOLED},
    {.methods = READ, .path = "/quick/bytes", .run = bytes, .how = SB_HTTP_QUICK},
    {.methods = READ, .path = "/fixed", .run = fixed},
    {.methods = READ, .path = "/lent", .run = lent},
    {.methods = READ, .path = "/file", .run = file, .how = SB_HTTP_POOLED},
    {.methods = READ, .path = "/asset", .run = asset},
    {.methods = ALL, .path = "/echo", .run = echo},
    {.methods = ALL, .path = "/pooled/echo", .run = echo, .how = SB_HTTP_POOLED},
    {.methods = ALL, .path = "/below/*", .run = echo},
    {.methods = SB_HTTP_POST, .path = "/size", .run = size},
    {.methods = READ, .path = "/gate/wait", .run = wait_at_gate, .how = SB_HTTP_POOLED},
    {.methods = READ, .path = "/gate/set", .run = set_gate},
    {.methods = READ, .path = "/expire", .run = until_expired, .how = SB_HTTP_POOLED},
    {.methods = READ, .path = "/memory", .run = eat_memory, .how = SB_HTTP_POOLED},
    {.methods = READ, .path = "/status", .run = answer_status},
    {.methods = READ, .path = "/fail", .run = answer_fail},
    {.methods = READ, .path = "/user", .run = user},
    {.methods = READ, .path = "/header", .run = set_header},
    {.methods = READ, .path = "/go", .run = go},
    {.methods = READ, .path = "/publish", .run = publish},
    {.methods = READ, .path = "/counts", .run = counts, .is_open = true},
    {.methods = READ, .path = "/healthz", .run = hello, .is_open = true},
    {.methods = READ, .path = "/stream", .how = SB_HTTP_STREAM},
};

/* ---- options --------------------------------------------------------------------------------- */

typedef struct settings {
    sb_http_options o;
    sb_http_bind_options bind;
    const char *allow[16];
} settings;

static const char *read_text(const char *path) {
    sb_slice text;
    sb_err err;
    if (sb_fs_get(&sb_fs_local, &sb_alloc_libc, path, 1u << 20, &text, &err) != SB_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    char *copy = malloc(text.n + 1);
    if (!copy) exit(1);
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    sb_alloc_put(&sb_alloc_libc, (void *)(uintptr_t)text.p, text.n);
    return copy; /* kept until the program ends */
}

static bool set_number(sb_http_options *o, const char *name, unsigned long long value) {
    const struct {
        const char *name;
        size_t *place;
    } sizes[] = {
        {"queue", &o->queue},
        {"connection_memory", &o->connection_memory},
        {"max_target", &o->max_target},
        {"max_headers", &o->max_headers},
        {"max_params", &o->max_params},
        {"max_body", &o->max_body},
        {"request_memory", &o->request_memory},
        {"reply_memory", &o->reply_memory},
        {"compress_min_loopback", &o->compress_min_loopback},
        {"compress_inline_max", &o->compress_inline_max},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(sizes[i].name, name) == 0) return *sizes[i].place = value, true;
    const struct {
        const char *name;
        unsigned *place;
    } counts_of[] = {{"threads", &o->threads},
                     {"workers", &o->workers},
                     {"max_connections", &o->max_connections},
                     {"max_per_address", &o->max_per_address},
                     {"max_streams", &o->max_streams}};
    for (size_t i = 0; i < sizeof counts_of / sizeof counts_of[0]; i++)
        if (strcmp(counts_of[i].name, name) == 0)
            return *counts_of[i].place = (unsigned)value, true;
    const struct {
        const char *name;
        uint64_t *place;
    } times[] = {{"request_ms", &o->request_time},     {"header_ms", &o->header_time},
                 {"idle_ms", &o->idle_time},           {"transfer_ms", &o->transfer_time},
                 {"interval_ms", &o->stream_interval}, {"heartbeat_ms", &o->heartbeat}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (strcmp(times[i].name, name) == 0) return *times[i].place = value * MILLISECOND, true;
    if (strcmp(name, "min_rate") == 0) return o->min_rate = value, true;
    return false;
}

static void set_option(settings *s, const char *argument) {
    const char *equals = strchr(argument, '=');
    char name[32];
    size_t n = equals ? (size_t)(equals - argument) : 0;
    if (n == 0 || n >= sizeof name) {
        fprintf(stderr, "name=value, please: %s\n", argument);
        exit(2);
    }
    memcpy(name, argument, n);
    name[n] = '\0';
    const char *value = equals + 1;
    if (strcmp(name, "token") == 0)
        s->o.token = value;
    else if (strcmp(name, "prefix") == 0)
        s->o.path_prefix = value;
    else if (strcmp(name, "host") == 0)
        s->bind.host = value;
    else if (strcmp(name, "all") == 0)
        s->bind.all = true;
    else if (strcmp(name, "check_host") == 0)
        s->o.check_host = strcmp(value, "0") != 0;
    else if (strcmp(name, "allow") == 0 && s->o.allow_host_count < 16)
        s->allow[s->o.allow_host_count++] = value;
    else if (strcmp(name, "cert") == 0)
        s->o.tls_cert = read_text(value);
    else if (strcmp(name, "key") == 0)
        s->o.tls_key = read_text(value);
    else if (!set_number(&s->o, name, strtoull(value, NULL, 10))) {
        fprintf(stderr, "unknown: %s\n", name);
        exit(2);
    }
}

static void fill(app *a) {
    for (size_t i = 0; i < SERVED_BYTES; i++) a->bytes[i] = (uint8_t)("0123456789, ["[i * 7 % 13]);
    snprintf(a->file, sizeof a->file, "/tmp/http_echo.XXXXXX");
    int fd = mkstemp(a->file);
    if (fd < 0 || write(fd, a->bytes, SERVED_BYTES) != SERVED_BYTES) exit(1);
    close(fd);
}

int main(int argc, char **argv) {
    static app a;
    static settings s;
    sb_http_defaults(&s.o);
    s.o.allow_hosts = s.allow;
    s.o.instance = "test";
    s.bind.tries = 1;
    s.o.routes = routes;
    s.o.route_count = sizeof routes / sizeof routes[0];
    s.o.app = &a;
    for (int i = 1; i < argc; i++) set_option(&s, argv[i]);
    pthread_mutex_init(&a.lock, NULL);
    pthread_cond_init(&a.changed, NULL);
    fill(&a);
    sb_err err;
    sb_http_bound bound;
    uint64_t before = sb_clock_system.steady(NULL);
    sb_status status = sb_http_bind(&bound, &s.bind, &err);
    if (status == SB_OK) status = sb_http_open(&a.server, &s.o, &bound.listener, &err);
    uint64_t after = sb_clock_system.steady(NULL);
    if (status != SB_OK) {
        fprintf(stderr, "%s\n", err.text);
        unlink(a.file);
        return 1;
    }
    printf("port %u, started in %llu us\n", bound.port,
           (unsigned long long)(after - before) / 1000);
    fflush(stdout);
    char ignored[64];
    while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) continue;
    sb_http_close(a.server);
    unlink(a.file);
    printf("closed\n");
    return 0;
}
