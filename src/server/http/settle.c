/* settle.c: turns the reply that a handler built into the response that is sent. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/slice.h"
#include "server/http/reply.h"
#include "base/banned.h"

#define SANDBOX "sandbox; default-src 'none'"
/* The policy of replies that hold data: if a browser ever shows one as a page, that page may load
 * nothing. Scripts are not among them, since a worker runs under the policy of its script. */
#define DATA_POLICY "default-src 'none'"
static const char *const data_types[] = {"application/json", "text/csv", "text/plain",
                                         "text/tab-separated-values",
                                         "application/x-seaboard-columns"};
#define DAY_SECONDS 86400u
#define MAX_TEXT 160 /* of a header that is put together here */

/* ---- status ---------------------------------------------------------------------------------- */

int sb_reply_code_of(sb_status status) {
    switch (status) {
    case SB_OK:
    case SB_END:
        return 200;
    case SB_INVALID:
        return 400;
    case SB_NOT_FOUND:
        return 404;
    case SB_REPLACED:
        return 410;
    case SB_LIMIT:
        return 413;
    case SB_MORE:
    case SB_NOMEM:
    case SB_CLOSED:
    case SB_DROPPED:
    case SB_TIMEOUT:
        return 503;
    default:
        return 500;
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The text stays where it is (in r->err) while the page is written, so the hook may use it. */
static void write_error_page(sb_http_reply *r) {
    const sb_reply_rules *rules = r->rules;
    r->type = "text/plain; charset=utf-8";
    if (rules->hooks.error_page) {
        rules->hooks.error_page(r->request, r, r->status, r->err.text, rules->app);
    } else {
        sb_buf_add_str(sb_http_body(r), r->err.text);
        sb_buf_add_byte(sb_http_body(r), '\n');
    }
    if (r->kind == SB_REPLY_BUFFER && r->buffer.failed != SB_OK) sb_buf_clear(&r->buffer);
}

static void settle_errors(sb_http_reply *r, sb_status status) {
    if (status == SB_OK && r->kind == SB_REPLY_BUFFER)
        status = sb_buf_check(&r->buffer, "the answer", &r->err);
    if (status != SB_OK && status != SB_END) {
        /* The reason that the handler gave, if it belongs to this status. */
        char text[sizeof r->err.text];
        bool has_words = r->err.code == status && r->err.text[0];
        snprintf(text, sizeof text, "%s", has_words ? r->err.text : sb_status_meaning(status));
        r->header_count = 0;
        sb_http_fail(r, sb_reply_code_of(status), "%s", text);
    }
    if (r->has_error_text) write_error_page(r);
}

/* ---- what the client asked for --------------------------------------------------------------- */

static uint64_t body_size(const sb_http_reply *r) {
    switch (r->kind) {
    case SB_REPLY_BUFFER:
        return r->buffer.n;
    case SB_REPLY_LENT:
        return r->lent.n;
    case SB_REPLY_FILE:
        return r->file_size;
    case SB_REPLY_ASSET:
        return r->asset->identity.n;
    default:
        return 0;
    }
}

/* True when the client has these bytes already. */
static bool settle_not_modified(sb_http_reply *r) {
    const sb_http_request *q = r->request;
    if (r->status != 200 || r->etag.n == 0 || !(q->method & SB_HTTP_READ)) return false;
    sb_slice wanted = sb_http_header(q, "If-None-Match");
    if (!wanted.p || !sb_etag_matches(wanted, r->etag)) return false;
    r->status = 304;
    return true;
}

/* True when the reply is a part of the body (206) or the range is outside of it (416). */
static bool settle_range(sb_http_reply *r) {
    const sb_http_request *q = r->request;
    r->whole = body_size(r);
    r->part_n = r->whole;
    if (!r->ranges || r->kind == SB_REPLY_MADE || r->status != 200 || q->method != SB_HTTP_GET)
        return false;
    sb_slice range = sb_http_header(q, "Range");
    if (!range.p || !sb_if_range_holds(sb_http_header(q, "If-Range"), r->etag)) return false;
    switch (sb_range_parse(range, r->whole, &r->part_first, &r->part_n)) {
    case SB_RANGE_PART:
        r->status = 206;
        return true;
    case SB_RANGE_OUTSIDE:
        r->status = 416;
        r->part_first = r->part_n = 0;
        return true;
    default:
        return false;
    }
}

static void settle_coding(sb_http_reply *r) {
    const sb_http_request *q = r->request;
    sb_slice accepted = sb_http_header(q, "Accept-Encoding");
    if (r->kind == SB_REPLY_ASSET) {
        const sb_http_asset *asset = r->asset;
        unsigned offered =
            (asset->gzip.n ? SB_CODING_GZIP : 0u) | (asset->br.n ? SB_CODING_BR : 0u);
        r->varies = offered != 0;
        r->coding = sb_accept_coding(accepted, offered);
        return;
    }
    bool is_made = r->kind == SB_REPLY_MADE;
    if (r->kind != SB_REPLY_BUFFER && r->kind != SB_REPLY_LENT && !is_made) return;
    bool pays = r->coding_wish == SB_HTTP_CODING_YES ||
                (r->coding_wish == SB_HTTP_CODING_AUTO && r->type && sb_type_compresses(r->type));
    if (!pays || (!is_made && r->whole < r->rules->compress_min)) return;
    r->varies = true;
    bool is_near = q->peer_is_loopback && !q->is_forwarded;
    if (!is_made && is_near && r->whole < r->rules->compress_min_loopback) return;
    /* Streamed bodies are compressed by zstd only. */
    r->coding =
        sb_accept_coding(accepted, SB_CODING_ZSTD | (is_made ? 0u : (unsigned)SB_CODING_GZIP));
}

void sb_reply_settle(sb_http_reply *r, sb_status status) {
    settle_errors(r, status);
    if (settle_not_modified(r)) {
        /* The same Vary as the full reply has: caches look at it. */
        r->whole = body_size(r);
        settle_coding(r);
        return;
    }
    if (!settle_range(r)) settle_coding(r);
}

/* ---- compression ----------------------------------------------------------------------------- */

static sb_slice bytes_of(const sb_http_reply *r) {
    return r->kind == SB_REPLY_BUFFER ? sb_buf_slice(&r->buffer) : r->lent;
}

size_t sb_reply_compress_size(const sb_http_reply *r) {
    bool is_bytes = r->kind == SB_REPLY_BUFFER || r->kind == SB_REPLY_LENT;
    if (!is_bytes || r->coding == SB_CODING_IDENTITY || r->status == 304) return 0;
    return bytes_of(r).n;
}

void sb_reply_compress(sb_http_reply *r, sb_compressors *c) {
    if (sb_reply_compress_size(r) == 0) return;
    if (!sb_compress(c, r->coding, bytes_of(r), &r->compressed)) r->coding = SB_CODING_IDENTITY;
}

/* ---- headers --------------------------------------------------------------------------------- */

static void add(sb_reply_wire *w, const char *name, const char *value) {
    w->headers[w->header_count++] = (sb_http_param){sb_slice_str(name), sb_slice_str(value)};
}

static bool reply_has_header(const sb_http_reply *r, const char *name) {
    for (size_t i = 0; i < r->header_count; i++)
        if (sb_slice_eq(r->headers[i].key, sb_slice_str(name))) return true;
    return false;
}

/* Formats into the request's arena; false when that is used up. */
__attribute__((format(printf, 4, 5))) static bool
add_text(sb_reply_wire *w, sb_http_reply *r, const char *name, const char *format, ...) {
    char text[MAX_TEXT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) return false;
    sb_slice copy = sb_arena_dup(r->request->arena, sb_slice_of(text, (size_t)n));
    if (!copy.p) return false;
    w->headers[w->header_count++] = (sb_http_param){sb_slice_str(name), copy};
    return true;
}

static bool add_cache(sb_reply_wire *w, sb_http_reply *r) {
    if (reply_has_header(r, "Cache-Control")) return true;
    char date[SB_HTTP_DATE_SIZE];
    switch (r->cache) {
    case SB_HTTP_CACHE_DAY:
        add(w, "Cache-Control", "private, max-age=86400");
        sb_http_date(date,
                     r->request->clock->wall(r->request->clock->ctx) / 1000000000u + DAY_SECONDS);
        return add_text(w, r, "Expires", "%s", date);
    case SB_HTTP_CACHE_FOREVER:
        add(w, "Cache-Control", "private, max-age=31536000, immutable");
        return true;
    case SB_HTTP_CACHE_NEVER:
        add(w, "Cache-Control", "no-store");
        return true;
    default:
        add(w, "Cache-Control", "no-cache, must-revalidate");
        add(w, "Expires", "0");
        return true;
    }
}

static bool add_entity(sb_reply_wire *w, sb_http_reply *r) {
    bool fine = true;
    if (r->etag.n) {
        const char *weak = r->coding == SB_CODING_IDENTITY ? "" : "W/";
        fine = add_text(w, r, "ETag", "%s\"%.*s\"", weak, SB_SHOWN(r->etag));
    }
    if (r->coding != SB_CODING_IDENTITY && r->status != 304)
        add(w, "Content-Encoding", sb_coding_name(r->coding));
    if (r->varies) add(w, "Vary", "Accept-Encoding");
    if (r->ranges) add(w, "Accept-Ranges", "bytes");
    if (r->status == 206)
        fine &= add_text(
            w, r, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)r->part_first,
            (unsigned long long)(r->part_first + r->part_n - 1), (unsigned long long)r->whole);
    if (r->status == 416)
        fine &= add_text(w, r, "Content-Range", "bytes */%llu", (unsigned long long)r->whole);
    return fine;
}

static const char *policy_of(const sb_http_reply *r) {
    if (r->sandboxed) return SANDBOX;
    if (r->policy) return r->policy;
    if (!r->type) return NULL;
    if (sb_type_is(r->type, "text/html")) return r->rules->policy;
    for (size_t i = 0; i < sizeof data_types / sizeof data_types[0]; i++)
        if (sb_type_is(r->type, data_types[i])) return DATA_POLICY;
    return NULL;
}

/* Does a browser want to show the bytes as a page or in a frame? */
static bool is_for_page(const sb_http_request *q) {
    static const char *const pages[] = {"document", "iframe", "frame", "object", "embed"};
    sb_slice dest = sb_http_header(q, "Sec-Fetch-Dest");
    for (size_t i = 0; dest.p && i < sizeof pages / sizeof pages[0]; i++)
        if (sb_slice_eq(dest, sb_slice_str(pages[i]))) return true;
    return false;
}

static bool add_guards(sb_reply_wire *w, const sb_http_reply *r) {
    /* Bytes of a log are meant for <img> and <audio>. A browser that navigates to them saves them
     * as a file. */
    if (r->sandboxed && is_for_page(r->request) && !reply_has_header(r, "Content-Disposition"))
        add(w, "Content-Disposition", "attachment");
    add(w, "X-Content-Type-Options", "nosniff");
    add(w, "Referrer-Policy", "same-origin");
    add(w, "Cross-Origin-Resource-Policy", "same-origin");
    const char *policy = policy_of(r), *frame = r->rules->frame_ancestors;
    bool is_page = r->type && sb_type_is(r->type, "text/html");
    if (!policy) return true;
    if (r->sandboxed || !is_page || !frame || !*frame) {
        add(w, "Content-Security-Policy", policy);
        return true;
    }
    size_t n = strlen(policy) + sizeof "; frame-ancestors " + strlen(frame);
    char *text = sb_arena_get(r->request->arena, n);
    if (!text) return false;
    snprintf(text, n, "%s; frame-ancestors %s", policy, frame);
    add(w, "Content-Security-Policy", text);
    return true;
}

/* ---- the body -------------------------------------------------------------------------------- */

static sb_slice wire_bytes(const sb_http_reply *r) {
    if (r->kind == SB_REPLY_ASSET) {
        const sb_http_asset *asset = r->asset;
        if (r->coding == SB_CODING_BR) return asset->br;
        if (r->coding == SB_CODING_GZIP) return asset->gzip;
        return asset->identity;
    }
    if (r->compressed.n) return sb_buf_slice(&r->compressed);
    return bytes_of(r);
}

static void put_body(sb_reply_wire *w, sb_http_reply *r) {
    w->fd = -1;
    w->is_made = false;
    w->body = (sb_slice){NULL, 0};
    if (r->status == 304 || r->status == 416 || r->kind == SB_REPLY_EMPTY) return;
    if (r->kind == SB_REPLY_FILE) {
        w->fd = r->fd;
        r->fd = -1;
        w->file_offset = r->file_offset + r->part_first;
        w->file_size = r->part_n;
        return;
    }
    if (r->kind == SB_REPLY_MADE) {
        w->is_made = true;
        return;
    }
    w->body = wire_bytes(r);
    if (r->status == 206 && sb_inside((size_t)r->part_first, (size_t)r->part_n, w->body.n))
        w->body = sb_slice_of(w->body.p + r->part_first, (size_t)r->part_n);
}

sb_status sb_reply_to_wire(sb_http_reply *r, sb_reply_wire *out) {
    /* A body that could not be compressed is sent as it is. */
    if (sb_reply_compress_size(r) && r->compressed.n == 0) r->coding = SB_CODING_IDENTITY;
    out->status = r->status;
    out->header_count = 0;
    bool has_body = r->status != 304 && r->status != 416 && r->type;
    if (has_body) add(out, "Content-Type", r->type);
    bool fine = add_guards(out, r) && add_cache(out, r) && add_entity(out, r);
    if (r->allow) add(out, "Allow", r->allow);
    if (r->status == 503) add(out, "Retry-After", "1");
    for (size_t i = 0; i < r->header_count; i++) out->headers[out->header_count++] = r->headers[i];
    put_body(out, r);
    return fine ? SB_OK : SB_NOMEM;
}
