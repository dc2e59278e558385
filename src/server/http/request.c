/* request.c: the accessors of a request, for handlers. */
#include "base/slice.h"
#include "server/http/form.h"
#include "server/http/http.h"
#include "server/http/text.h"
#include "base/banned.h"

#define MAX_FIELDS 10000

sb_slice sb_http_param_get(sb_http_params params, sb_slice key) {
    for (size_t i = 0; i < params.count; i++)
        if (sb_slice_eq(params.items[i].key, key)) return params.items[i].value;
    return (sb_slice){NULL, 0};
}

sb_slice sb_http_query(const sb_http_request *q, const char *key) {
    return sb_http_param_get(q->query, sb_slice_str(key));
}

sb_slice sb_http_header(const sb_http_request *q, const char *name) {
    sb_slice wanted = sb_slice_str(name);
    for (size_t i = 0; i < q->headers.count; i++)
        if (sb_text_same_slice(q->headers.items[i].key, wanted)) return q->headers.items[i].value;
    return (sb_slice){NULL, 0};
}

sb_status sb_http_form(sb_http_request *q, sb_http_params *out, sb_err *err) {
    sb_slice type = sb_http_header(q, "Content-Type");
    return sb_form_parse(q->arena, type, q->body, MAX_FIELDS, out, err);
}

bool sb_http_param_is_repeated(sb_http_params params, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (sb_slice_eq(params.items[k].value, params.items[i].value) &&
            sb_slice_eq(params.items[k].key, params.items[i].key))
            return true;
    return false;
}

bool sb_http_segment(sb_slice *path, sb_slice *segment) {
    if (path->n == 0) return false;
    const uint8_t *slash = memchr(path->p, '/', path->n);
    size_t n = slash ? (size_t)(slash - path->p) : path->n;
    *segment = sb_slice_of(path->p, n);
    size_t used = slash ? n + 1 : n;
    *path = sb_slice_of(path->p + used, path->n - used);
    return true;
}

bool sb_http_expired(const sb_http_request *q) {
    uint64_t now = q->clock->steady(q->clock->ctx);
    uint64_t cut_at = q->cut_at ? atomic_load_explicit(q->cut_at, memory_order_relaxed) : 0;
    return now >= q->deadline || (cut_at && now >= cut_at);
}
