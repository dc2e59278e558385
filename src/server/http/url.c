/* url.c: the only decoder of paths and queries. */
#include "server/http/url.h"

#include "base/slice.h"
#include "base/text/utf8.h"
#include "base/banned.h"

int sb_url_hex(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Decodes into to (room for raw.n bytes) and answers how many bytes came out. */
static size_t decode_percent(uint8_t *to, sb_slice raw, bool plus_is_space) {
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        uint8_t c = raw.p[i];
        if (c == '%' && raw.n - i > 2) {
            int high = sb_url_hex(raw.p[i + 1]);
            int low = sb_url_hex(raw.p[i + 2]);
            if (high >= 0 && low >= 0) {
                to[n++] = (uint8_t)(high << 4 | low);
                i += 2;
                continue;
            }
        }
        to[n++] = c == '+' && plus_is_space ? ' ' : c;
    }
    return n;
}

sb_status sb_url_split(sb_slice target, sb_slice *path, sb_slice *query, sb_err *err) {
    if (target.n == 0 || target.p[0] != '/')
        return sb_fail(err, SB_INVALID, 0, "the request target does not begin with a slash");
    if (memchr(target.p, '#', target.n))
        return sb_fail(err, SB_INVALID, 0, "the request target holds a '#'");
    const uint8_t *mark = memchr(target.p, '?', target.n);
    size_t n = mark ? (size_t)(mark - target.p) : target.n;
    *path = sb_slice_of(target.p, n);
    *query = mark ? sb_slice_of(mark + 1, target.n - n - 1) : sb_slice_of(target.p + n, 0);
    return SB_OK;
}

static bool is_dots(const uint8_t *p, size_t n) {
    return (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
}

/* What is wrong with a decoded path, or NULL. */
static const char *path_problem(const uint8_t *p, size_t n) {
    size_t start = 0; /* of the part being looked at */
    for (size_t i = 0; i <= n; i++) {
        if (i == n || p[i] == '/') {
            if (is_dots(p + start, i - start)) return "the path holds a '.' or '..' part";
            start = i + 1;
            continue;
        }
        if (p[i] < 0x20 || p[i] == 0x7f) return "the path holds a control character";
        if (p[i] == '%' || p[i] == ';' || p[i] == '\\')
            return "the path holds a '%', ';' or '\\' after decoding";
    }
    return sb_utf8_valid(sb_slice_of(p, n)) ? NULL : "the path is not UTF-8";
}

sb_status sb_url_path(sb_arena *arena, sb_slice raw, sb_slice *out, sb_err *err) {
    if (raw.n == 0 || raw.p[0] != '/')
        return sb_fail(err, SB_INVALID, 0, "the path does not begin with a slash");
    uint8_t *to = sb_arena_get(arena, raw.n);
    if (!to) return sb_fail_nomem(err, "for the path");
    size_t n = decode_percent(to, raw, false);
    const char *problem = path_problem(to, n);
    if (problem) return sb_fail(err, SB_INVALID, 0, "%s", problem);
    while (n > 1 && to[0] == '/' && to[1] == '/') to++, n--;
    *out = sb_slice_of(to, n);
    return SB_OK;
}

static void add_escape(uint8_t **to, uint8_t byte) {
    static const char digits[] = "0123456789ABCDEF";
    *(*to)++ = '%';
    *(*to)++ = (uint8_t)digits[byte >> 4];
    *(*to)++ = (uint8_t)digits[byte & 15];
}

/* A byte that is not UTF-8 came from an escape of three characters, so giving it three again never
 * takes more room than raw has. */
static bool decode_text(sb_arena *arena, sb_slice raw, sb_slice *out) {
    uint8_t *to = sb_arena_get(arena, raw.n);
    if (!to) return false;
    sb_slice text = sb_slice_of(to, decode_percent(to, raw, true));
    if (sb_utf8_valid(text)) {
        *out = text;
        return true;
    }
    uint8_t *mended = sb_arena_get(arena, raw.n);
    if (!mended) return false;
    uint8_t *end = mended;
    while (text.n) {
        size_t n = sb_utf8_char(text);
        if (n == 0) {
            add_escape(&end, text.p[0]);
            n = 1;
        } else {
            memcpy(end, text.p, n);
            end += n;
        }
        text = sb_slice_of(text.p + n, text.n - n);
    }
    *out = sb_slice_of(mended, (size_t)(end - mended));
    return true;
}

/* Takes the next non-empty pair off *raw; false at the end. */
static bool next_pair(sb_slice *raw, sb_slice *key, sb_slice *value, sb_slice *whole) {
    while (raw->n) {
        const uint8_t *amp = memchr(raw->p, '&', raw->n);
        size_t n = amp ? (size_t)(amp - raw->p) : raw->n;
        sb_slice pair = sb_slice_of(raw->p, n);
        size_t used = amp ? n + 1 : n;
        *raw = sb_slice_of(raw->p + used, raw->n - used);
        if (n == 0) continue;
        const uint8_t *equals = memchr(pair.p, '=', n);
        size_t key_n = equals ? (size_t)(equals - pair.p) : n;
        *key = sb_slice_of(pair.p, key_n);
        *value = equals ? sb_slice_of(equals + 1, n - key_n - 1) : sb_slice_of(pair.p + n, 0);
        *whole = pair;
        return true;
    }
    return false;
}

sb_status sb_url_params(sb_arena *arena, sb_slice raw, size_t max_params, sb_http_params *out,
                        sb_err *err) {
    *out = (sb_http_params){NULL, 0};
    if (!sb_utf8_valid(raw)) return sb_fail(err, SB_INVALID, 0, "the query is not UTF-8");
    sb_slice left = raw, key, value, whole;
    size_t count = 0;
    while (next_pair(&left, &key, &value, &whole)) count++;
    if (count == 0) return SB_OK;
    if (count > max_params)
        return sb_fail(err, SB_LIMIT, 0, "the query has more than %zu parts", max_params);
    sb_http_param *items = sb_arena_zeroed(arena, count, sizeof *items);
    if (!items) return sb_fail_nomem(err, "for the query");
    left = raw;
    for (size_t i = 0; next_pair(&left, &key, &value, &whole); i++)
        if (!decode_text(arena, key, &items[i].key) || !decode_text(arena, value, &items[i].value))
            return sb_fail_nomem(err, "for the query");
    *out = (sb_http_params){items, count};
    return SB_OK;
}

/* Escapes all but letters, digits and the marks. */
static void add_url_escaped(sb_buf *out, sb_slice text, const char *marks) {
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = text.p[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c != 0 && strchr(marks, c))) {
            sb_buf_add_byte(out, c);
            continue;
        }
        uint8_t escape[3];
        uint8_t *end = escape;
        add_escape(&end, c);
        sb_buf_add(out, escape, sizeof escape);
    }
}

void sb_url_add_path(sb_buf *out, sb_slice path) {
    add_url_escaped(out, path, "/-._~!$'()*,:@=+");
}

void sb_url_add_value(sb_buf *out, sb_slice value) {
    add_url_escaped(out, value, "/-._~");
}

void sb_url_add_query_without(sb_buf *out, sb_arena *arena, sb_slice raw, sb_slice key) {
    sb_slice pair_key, value, whole, decoded;
    bool first = true;
    while (next_pair(&raw, &pair_key, &value, &whole)) {
        sb_arena_mark mark = sb_arena_here(arena);
        bool decodes = decode_text(arena, pair_key, &decoded);
        bool drop = decodes && sb_slice_eq(decoded, key);
        sb_arena_reset(arena, mark);
        if (!decodes) out->failed = SB_NOMEM;
        if (drop) continue;
        sb_buf_add_byte(out, first ? '?' : '&');
        sb_buf_add_slice(out, whole);
        first = false;
    }
}
