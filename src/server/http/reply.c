/* reply.c: the reply builder that handlers use. settle.c turns it into the response. */
#include "server/http/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/slice.h"
#include "server/http/text.h"
#include "server/http/url.h"
#include "base/banned.h"

#define MAX_ETAG 120
#define MAX_FILE_NAME 200
#define PIECE_BYTES ((size_t)256 << 10) /* of a body that is made while it is sent */

void sb_reply_init(sb_http_reply *r, sb_http_request *q, const sb_reply_rules *rules) {
    /* Field by field: the list of headers is large and need not be cleared. */
    r->request = q;
    r->rules = rules;
    r->status = 200;
    r->type = "text/plain; charset=utf-8";
    r->header_count = 0;
    r->kind = SB_REPLY_EMPTY;
    sb_buf_init(&r->buffer, q->alloc, rules->reply_memory);
    sb_buf_init(&r->compressed, q->alloc, rules->reply_memory);
    r->lent = (sb_slice){NULL, 0};
    r->release = NULL;
    r->release_ud = NULL;
    r->make = NULL;
    r->asset = NULL;
    r->fd = -1;
    r->file_offset = r->file_size = 0;
    r->etag = (sb_slice){NULL, 0};
    r->ranges = r->sandboxed = false;
    r->cache = SB_HTTP_CACHE_NO;
    r->coding_wish = SB_HTTP_CODING_AUTO;
    r->policy = NULL;
    r->err.code = SB_OK;
    r->err.text[0] = '\0';
    r->allow = NULL;
    r->is_answered = r->must_close = false;
    r->coding = SB_CODING_IDENTITY;
    r->varies = r->has_error_text = false;
    r->part_first = r->part_n = r->whole = 0;
}

/* Forgets the body, whatever kind it has. */
static void drop_body(sb_http_reply *r) {
    if (r->release) r->release(r->release_ud);
    r->release = NULL;
    r->lent = (sb_slice){NULL, 0};
    if (r->fd >= 0) close(r->fd);
    r->fd = -1;
    sb_buf_clear(&r->buffer);
    r->kind = SB_REPLY_EMPTY;
}

void sb_reply_fini(sb_http_reply *r) {
    drop_body(r);
    sb_buf_fini(&r->buffer);
    sb_buf_fini(&r->compressed);
}

void sb_reply_no_body(sb_http_reply *r, int status) {
    drop_body(r);
    r->status = status;
    r->type = NULL;
    r->is_answered = true;
}

void sb_http_status(sb_http_reply *r, int status) {
    r->status = status;
}

void sb_http_type(sb_http_reply *r, const char *content_type) {
    r->type = content_type;
}

static bool has_control(sb_slice s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] == 0x7f) return true;
    return false;
}

sb_status sb_http_set_header(sb_http_reply *r, const char *name, sb_slice value) {
    value = sb_text_trim(value);
    if (has_control(value) || !sb_text_is_token(sb_slice_str(name)))
        return sb_fail(&r->err, SB_INVALID, 0, "header %s cannot be sent", name);
    if (r->header_count == SB_REPLY_HEADERS)
        return sb_fail(&r->err, SB_LIMIT, 0, "a reply has at most %d headers", SB_REPLY_HEADERS);
    sb_slice copy = sb_arena_dup(r->request->arena, value);
    if (!copy.p) return sb_fail_nomem(&r->err, "for a header");
    r->headers[r->header_count++] = (sb_http_param){sb_slice_str(name), copy};
    return SB_OK;
}

sb_buf *sb_http_body(sb_http_reply *r) {
    if (r->kind != SB_REPLY_BUFFER) drop_body(r);
    r->kind = SB_REPLY_BUFFER;
    r->is_answered = true;
    return &r->buffer;
}

void sb_http_lend(sb_http_reply *r, sb_slice body, void (*release)(void *ud), void *ud) {
    drop_body(r);
    r->kind = SB_REPLY_LENT;
    r->lent = body;
    r->release = release;
    r->release_ud = ud;
    r->is_answered = true;
}

sb_status sb_reply_make_more(sb_http_reply *r) {
    sb_buf_clear(&r->buffer);
    sb_status status = SB_OK;
    while (status == SB_OK && r->buffer.n < PIECE_BYTES) {
        status = r->make(r->release_ud, &r->buffer);
        if (r->buffer.failed != SB_OK) status = r->buffer.failed;
    }
    return status;
}

sb_status sb_http_make(sb_http_reply *r, sb_http_make_fn make, void (*release)(void *ud),
                       void *ud) {
    drop_body(r);
    r->kind = SB_REPLY_MADE;
    r->make = make;
    r->release = release;
    r->release_ud = ud;
    r->is_answered = true;
    sb_status status = sb_reply_make_more(r);
    if (status != SB_END) return status;
    r->kind = SB_REPLY_BUFFER;
    if (release) release(ud);
    r->release = NULL;
    return SB_OK;
}

void sb_http_take_file(sb_http_reply *r, int fd, uint64_t offset, uint64_t n) {
    drop_body(r);
    r->kind = SB_REPLY_FILE;
    r->fd = fd;
    r->file_offset = offset;
    r->file_size = n;
    r->is_answered = true;
}

void sb_http_send_asset(sb_http_reply *r, const sb_http_asset *asset) {
    drop_body(r);
    r->kind = SB_REPLY_ASSET;
    r->asset = asset;
    r->type = asset->content_type;
    if (asset->etag) r->etag = sb_slice_str(asset->etag);
    r->is_answered = true;
}

sb_status sb_http_etag(sb_http_reply *r, sb_slice name) {
    bool fits = name.n > 0 && name.n <= MAX_ETAG;
    for (size_t i = 0; fits && i < name.n; i++)
        fits = name.p[i] > 0x20 && name.p[i] < 0x7f && name.p[i] != '"';
    if (!fits) return sb_fail(&r->err, SB_INVALID, 0, "that is no name for an entity");
    sb_slice copy = sb_arena_dup(r->request->arena, name);
    if (!copy.p) return sb_fail_nomem(&r->err, "for a header");
    r->etag = copy;
    return SB_OK;
}

void sb_http_allow_ranges(sb_http_reply *r) {
    r->ranges = true;
}

void sb_http_cache_for(sb_http_reply *r, sb_http_cache how) {
    r->cache = how;
}

void sb_http_compress(sb_http_reply *r, sb_http_coding how) {
    r->coding_wish = how;
}

static bool is_plain(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

void sb_http_user_content(sb_http_reply *r, sb_slice file_name) {
    r->sandboxed = true;
    if (file_name.n == 0) return;
    char text[64 + MAX_FILE_NAME * 3];
    size_t n = (size_t)snprintf(text, sizeof text, "attachment; filename*=UTF-8''");
    for (size_t i = 0; i < file_name.n && i < MAX_FILE_NAME; i++) {
        uint8_t c = file_name.p[i];
        if (is_plain(c))
            text[n++] = (char)c;
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%%%02X", c);
    }
    sb_http_set_header(r, "Content-Disposition", sb_slice_of(text, n));
}

void sb_http_policy(sb_http_reply *r, const char *content_security_policy) {
    r->policy = content_security_policy;
}

sb_err *sb_http_err(sb_http_reply *r) {
    return &r->err;
}

sb_status sb_http_fail(sb_http_reply *r, int status, const char *format, ...) {
    drop_body(r);
    r->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(r->err.text, sizeof r->err.text, format, args);
    va_end(args);
    r->has_error_text = true;
    r->is_answered = true;
    r->etag = (sb_slice){NULL, 0};
    r->ranges = false;
    r->sandboxed = false;
    r->cache = SB_HTTP_CACHE_NO;
    r->policy = NULL;
    r->coding_wish = SB_HTTP_CODING_AUTO;
    return SB_OK;
}

/* A raw query as it may stand in a header: characters that a URL may not contain are escaped, all
 * others stay. */
static void add_query(sb_buf *out, sb_slice raw) {
    for (size_t i = 0; i < raw.n; i++) {
        uint8_t c = raw.p[i];
        if (c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}", c))
            sb_buf_add_byte(out, c);
        else
            sb_buf_printf(out, "%%%02X", c);
    }
}

sb_status sb_http_redirect(sb_http_reply *r, int status, sb_slice path, sb_slice raw_query) {
    bool is_ours = path.n > 0 && path.p[0] == '/' &&
                   (path.n == 1 || (path.p[1] != '/' && path.p[1] != '\\')) && !has_control(path);
    if (!is_ours) return sb_fail(&r->err, SB_INVALID, 0, "that is no path of this server");
    sb_buf location;
    sb_buf_init(&location, r->request->alloc, 256u << 10);
    sb_url_add_path(&location, path);
    add_query(&location, raw_query);
    sb_status result = sb_buf_check(&location, "a redirect", &r->err);
    if (result == SB_OK) result = sb_http_set_header(r, "Location", sb_buf_slice(&location));
    sb_buf_fini(&location);
    if (result != SB_OK) return result;
    sb_reply_no_body(r, status);
    return SB_OK;
}

/* "./b?x=1" for "/a/b": relative, so that it is right also behind a proxy that removes a prefix;
 * the dot keeps a colon in the name from being read as the end of a scheme. */
sb_status sb_reply_redirect_here(sb_http_reply *r, int status, sb_slice path, sb_slice raw_query,
                                 sb_slice without_key) {
    size_t start = path.n;
    while (start > 0 && path.p[start - 1] != '/') start--;
    sb_buf location, query;
    sb_buf_init(&location, r->request->alloc, 256u << 10);
    sb_buf_init(&query, r->request->alloc, 64u << 10);
    sb_buf_add_str(&location, "./");
    sb_url_add_path(&location, sb_slice_of(path.p + start, path.n - start));
    sb_url_add_query_without(&query, r->request->arena, raw_query, without_key);
    add_query(&location, sb_buf_slice(&query));
    sb_status result = sb_buf_check(&query, "a redirect", &r->err);
    if (result == SB_OK) result = sb_buf_check(&location, "a redirect", &r->err);
    if (result == SB_OK) result = sb_http_set_header(r, "Location", sb_buf_slice(&location));
    sb_buf_fini(&query);
    sb_buf_fini(&location);
    if (result != SB_OK) return result;
    sb_reply_no_body(r, status);
    return SB_OK;
}
