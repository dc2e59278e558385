/* form.c: forms; the layout of a multipart body is in form.h. */
#include "server/http/form.h"

#include "base/slice.h"
#include "server/http/text.h"
#include "server/http/url.h"
#include "base/banned.h"

#define MAX_BOUNDARY 200 /* RFC 2046 allows 70; some clients send a few more */

/* One value, quoted or not, off the front of *left. In quotes a backslash hides the next character.
 */
static bool take_value(sb_arena *arena, sb_slice *left, sb_slice *out) {
    if (left->n == 0 || left->p[0] != '"') {
        size_t n = 0;
        while (n < left->n && left->p[n] != ';') n++;
        *out = sb_text_trim(sb_slice_of(left->p, n));
        *left = sb_slice_of(left->p + n, left->n - n);
        return true;
    }
    uint8_t *to = sb_arena_get(arena, left->n);
    if (!to) return false;
    size_t n = 0, i = 1;
    for (; i < left->n && left->p[i] != '"'; i++) {
        /* Browsers escape a quote as %22 but send a backslash as it is: only \" and \\ are
         * escapes. */
        bool escape = left->p[i] == '\\' && i + 1 < left->n &&
                      (left->p[i + 1] == '"' || left->p[i + 1] == '\\');
        if (escape) i++;
        to[n++] = left->p[i];
    }
    if (i >= left->n) return false;
    *out = sb_slice_of(to, n);
    *left = sb_slice_of(left->p + i + 1, left->n - i - 1);
    return true;
}

sb_slice sb_form_header_param(sb_arena *arena, sb_slice header, const char *name) {
    sb_slice none = {NULL, 0};
    const uint8_t *semicolon = memchr(header.p ? header.p : (const uint8_t *)"", ';', header.n);
    while (semicolon) {
        sb_slice left = sb_slice_of(semicolon + 1, header.n - (size_t)(semicolon + 1 - header.p));
        size_t n = 0;
        while (n < left.n && left.p[n] != '=' && left.p[n] != ';') n++;
        sb_slice key = sb_text_trim(sb_slice_of(left.p, n));
        if (n == left.n || left.p[n] == ';') {
            semicolon = n == left.n ? NULL : left.p + n;
            continue;
        }
        left = sb_slice_of(left.p + n + 1, left.n - n - 1);
        sb_slice value;
        if (!take_value(arena, &left, &value)) return none;
        if (sb_text_same(key, name)) return value;
        semicolon = left.n ? memchr(left.p, ';', left.n) : NULL;
    }
    return none;
}

/* The value of a header line among the lines of a part; .p is NULL when there is none. */
static sb_slice part_header(sb_slice lines, const char *name) {
    while (lines.n) {
        const uint8_t *end = memmem(lines.p, lines.n, "\r\n", 2);
        sb_slice line = sb_slice_of(lines.p, end ? (size_t)(end - lines.p) : lines.n);
        size_t used = end ? line.n + 2 : line.n;
        lines = sb_slice_of(lines.p + used, lines.n - used);
        const uint8_t *colon = memchr(line.p, ':', line.n);
        if (!colon) continue;
        if (sb_text_same(sb_slice_of(line.p, (size_t)(colon - line.p)), name))
            return sb_text_trim(sb_slice_of(colon + 1, line.n - (size_t)(colon + 1 - line.p)));
    }
    return (sb_slice){NULL, 0};
}

/* The body cut at its delimiters. */
typedef struct parts {
    sb_slice left;                  /* begins right behind a delimiter */
    uint8_t mark[4 + MAX_BOUNDARY]; /* CRLF "--" boundary */
    size_t mark_n;
} parts;

static bool parts_begin(parts *m, sb_slice boundary, sb_slice body) {
    if (boundary.n == 0 || boundary.n > MAX_BOUNDARY) return false;
    memcpy(m->mark, "\r\n--", 4);
    memcpy(m->mark + 4, boundary.p, boundary.n);
    m->mark_n = boundary.n + 4;
    /* The first delimiter has no line end in front when the body begins with it. */
    sb_slice first = sb_slice_of(m->mark + 2, m->mark_n - 2);
    if (sb_slice_starts(body, first)) {
        m->left = sb_slice_of(body.p + first.n, body.n - first.n);
        return true;
    }
    const uint8_t *at = body.n ? memmem(body.p, body.n, m->mark, m->mark_n) : NULL;
    if (!at) return false;
    size_t used = (size_t)(at - body.p) + m->mark_n;
    m->left = sb_slice_of(body.p + used, body.n - used);
    return true;
}

/* The next part: SB_OK, SB_END behind the last one, SB_INVALID. */
static sb_status parts_next(parts *m, sb_slice *headers, sb_slice *value) {
    if (sb_slice_starts(m->left, SB_LIT("--"))) return SB_END;
    while (m->left.n && (m->left.p[0] == ' ' || m->left.p[0] == '\t'))
        m->left = sb_slice_of(m->left.p + 1, m->left.n - 1);
    if (!sb_slice_starts(m->left, SB_LIT("\r\n"))) return SB_INVALID;
    const uint8_t *end = memmem(m->left.p, m->left.n, m->mark, m->mark_n);
    if (!end) return SB_INVALID;
    sb_slice part = sb_slice_of(m->left.p, (size_t)(end - m->left.p));
    size_t used = part.n + m->mark_n;
    m->left = sb_slice_of(m->left.p + used, m->left.n - used);
    /* Of an empty field some clients let the blank line end with the line end of the delimiter. */
    const uint8_t *blank = memmem(part.p, part.n + 2, "\r\n\r\n", 4);
    if (!blank) return SB_INVALID;
    size_t head = (size_t)(blank - part.p);
    *headers = head > 2 ? sb_slice_of(part.p + 2, head - 2) : sb_slice_of(part.p, 0);
    *value = head + 4 <= part.n ? sb_slice_of(blank + 4, part.n - head - 4)
                                : sb_slice_of(part.p + part.n, 0);
    return SB_OK;
}

static sb_status damaged(sb_err *err) {
    return sb_fail(err, SB_INVALID, 0, "the form in the request's body is damaged");
}

static sb_status parse_multipart(sb_arena *arena, sb_slice content_type, sb_slice body,
                                 size_t max_fields, sb_http_params *out, sb_err *err) {
    parts m, counting;
    sb_slice boundary = sb_form_header_param(arena, content_type, "boundary");
    if (!boundary.p || !parts_begin(&m, boundary, body)) return damaged(err);
    counting = m;
    sb_slice headers, value;
    size_t count = 0;
    sb_status status;
    while ((status = parts_next(&counting, &headers, &value)) == SB_OK)
        if (++count > max_fields)
            return sb_fail(err, SB_LIMIT, 0, "the form has more than %zu fields", max_fields);
    if (status != SB_END) return damaged(err);
    sb_http_param *items = sb_arena_zeroed(arena, count ? count : 1, sizeof *items);
    if (!items) return sb_fail_nomem(err, "for a form");
    for (size_t i = 0; i < count; i++) {
        if (parts_next(&m, &headers, &value) != SB_OK) return damaged(err);
        sb_slice disposition = part_header(headers, "content-disposition");
        sb_slice name = sb_form_header_param(arena, disposition, "name");
        if (!name.p) return damaged(err);
        items[i] = (sb_http_param){name, value};
    }
    *out = (sb_http_params){items, count};
    return SB_OK;
}

sb_status sb_form_parse(sb_arena *arena, sb_slice content_type, sb_slice body, size_t max_fields,
                        sb_http_params *out, sb_err *err) {
    *out = (sb_http_params){NULL, 0};
    size_t n = 0;
    while (n < content_type.n && content_type.p[n] != ';') n++;
    sb_slice type = sb_text_trim(sb_slice_of(content_type.p, n));
    if (sb_text_same(type, "application/x-www-form-urlencoded"))
        return sb_url_params(arena, body, max_fields, out, err);
    if (sb_text_same(type, "multipart/form-data"))
        return parse_multipart(arena, content_type, body, max_fields, out, err);
    return SB_OK;
}
