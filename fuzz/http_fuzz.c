/* http_fuzz.c: a request as it comes over the wire, through everything that is decided about it.
 *
 * Input:  lines "METHOD target", then headers "Name: value", a blank line, and the body.
 * Held:   nothing is read outside the input; without the token no handler is reached but an open
 *         one; what a handler is given of the path is plain; the reply has a sane status, no header
 *         holds a line end, and a redirect stays on this server. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "server/http/guard/admit.h"
#include "base/banned.h"

#define MAX_HEADERS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(int promise) {
    if (!promise) abort();
}

static sb_status nothing(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)r, (void)app;
    return SB_OK;
}

static const sb_http_route rows[] = {
    {.methods = SB_HTTP_READ, .path = "/", .run = nothing},
    {.methods = SB_HTTP_ALL, .path = "/a", .run = nothing},
    {.methods = SB_HTTP_ALL, .path = "/b/*", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/open/*", .run = nothing, .is_open = true},
};

static sb_slice take_line(sb_slice *left) {
    const uint8_t *end = left->n ? memchr(left->p, '\n', left->n) : NULL;
    sb_slice line = sb_slice_of(left->p, end ? (size_t)(end - left->p) : left->n);
    size_t used = end ? line.n + 1 : line.n;
    *left = sb_slice_of(left->p + used, left->n - used);
    return line;
}

static size_t take_headers(sb_slice *left, sb_http_param *headers) {
    size_t count = 0;
    for (;;) {
        sb_slice line = take_line(left);
        if (line.n == 0 || count == MAX_HEADERS) return count;
        const uint8_t *colon = memchr(line.p, ':', line.n);
        size_t n = colon ? (size_t)(colon - line.p) : line.n;
        sb_slice value = sb_slice_of(line.p + n, line.n - n);
        for (int i = 0; i < 2 && value.n; i++) value = sb_slice_of(value.p + 1, value.n - 1);
        headers[count++] = (sb_http_param){sb_slice_of(line.p, n), value};
    }
}

static void check_path(const sb_http_request *q) {
    hold(q->path.n > 0 && q->path.p[0] == '/' && sb_utf8_valid(q->path));
    sb_slice rest = q->path, part;
    while (sb_http_segment(&rest, &part)) {
        hold(!sb_slice_eq(part, SB_LIT(".")) && !sb_slice_eq(part, SB_LIT("..")));
        for (size_t i = 0; i < part.n; i++)
            hold(part.p[i] >= 0x20 && part.p[i] != 0x7f && !strchr("%;\\", part.p[i]));
    }
}

static void check_reply(sb_http_reply *r, sb_status status) {
    sb_reply_wire wire;
    sb_reply_settle(r, status);
    if (sb_reply_to_wire(r, &wire) != SB_OK) return;
    hold(wire.status >= 200 && wire.status < 600);
    for (size_t i = 0; i < wire.header_count; i++) {
        sb_slice value = wire.headers[i].value;
        hold(strlen((const char *)value.p) == value.n && !memchr(value.p, '\n', value.n) &&
             !memchr(value.p, '\r', value.n));
        if (!sb_slice_eq(wire.headers[i].key, SB_LIT("Location"))) continue;
        bool is_absolute = value.n && value.p[0] == '/';
        hold(is_absolute || sb_slice_starts(value, SB_LIT("./")));
        hold(!is_absolute || value.n == 1 || (value.p[1] != '/' && value.p[1] != '\\'));
    }
}

static void run(sb_slice input, const char *token, const char *prefix) {
    sb_http_options o;
    sb_http_defaults(&o);
    o.routes = rows;
    o.route_count = sizeof rows / sizeof rows[0];
    o.token = token;
    o.path_prefix = prefix;
    sb_gate gate;
    hold(sb_gate_init(&gate, &o, 7, NULL) == SB_OK);
    sb_http_param headers[MAX_HEADERS];
    sb_slice left = input, first = take_line(&left);
    const uint8_t *blank = first.n ? memchr(first.p, ' ', first.n) : NULL;
    size_t word = blank ? (size_t)(blank - first.p) : first.n;
    char method[8] = "GET";
    if (word < sizeof method)
        memcpy(method, first.p ? (const char *)first.p : "", word), method[word] = 0;
    size_t skip = blank ? word + 1 : word;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_request q = {.method = sb_method_of(method),
                         .target = sb_slice_of(first.p + skip, first.n - skip),
                         .arena = &arena,
                         .alloc = &sb_alloc_libc,
                         .clock = &sb_clock_system};
    q.headers = (sb_http_params){headers, take_headers(&left, headers)};
    sb_reply_rules rules = {.policy = "p", .reply_memory = 1u << 20};
    sb_http_reply r;
    sb_reply_init(&r, &q, &rules);
    const sb_http_route *row;
    sb_status status;
    sb_verdict verdict = sb_gate_admit(&gate, &q, &r, &row, &status);
    q.body = left;
    if (verdict == SB_VERDICT_RUN) {
        check_path(&q);
        bool shows = memmem(input.p, input.n, "token", 5) != NULL;
        hold(row && (!token || row->is_open || shows));
        sb_http_params form;
        if (sb_http_form(&q, &form, NULL) == SB_OK)
            for (size_t i = 0; i < form.count; i++) hold(form.items[i].value.n <= left.n);
    } else {
        hold(!row);
        if (verdict == SB_VERDICT_LOGIN) sb_gate_login(&gate, &q, &r);
    }
    check_reply(&r, status);
    sb_reply_fini(&r);
    sb_arena_fini(&arena);
    sb_gate_fini(&gate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_slice input = sb_slice_of(data, size);
    run(input, NULL, "");
    run(input, "token", "");
    run(input, NULL, "/p");
    return 0;
}
