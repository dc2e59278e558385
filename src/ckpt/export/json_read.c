/* json_read.c: tokens of JSON. */
#include "ckpt/export/json_read.h"

#include "base/text/utf8.h"
#include "base/banned.h"

#define MAX_DEPTH 64

static void skip_blanks(sb_json_cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

bool sb_json_skip(sb_json_cursor *c, char token) {
    skip_blanks(c);
    if (c->p == c->end || *c->p != (uint8_t)token) return false;
    c->p++;
    return true;
}

bool sb_json_at_end(sb_json_cursor *c) {
    skip_blanks(c);
    return c->p == c->end;
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool read_hex(sb_json_cursor *c, uint32_t *out) {
    *out = 0;
    if (c->end - c->p < 4) return false;
    for (int i = 0; i < 4; i++, c->p++) {
        uint8_t x = *c->p;
        uint32_t digit = x >= '0' && x <= '9'   ? x - '0' + 0u
                         : x >= 'a' && x <= 'f' ? x - 'a' + 10u
                         : x >= 'A' && x <= 'F' ? x - 'A' + 10u
                                                : 16u;
        if (digit > 15) return false;
        *out = *out << 4 | digit;
    }
    return true;
}

/* What follows "\u"; two of them are one character when they are a surrogate pair. */
static bool read_code(sb_json_cursor *c, sb_buf *out) {
    uint32_t code, low;
    if (!read_hex(c, &code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (c->end - c->p < 2 || c->p[0] != '\\' || c->p[1] != 'u') return false;
        c->p += 2;
        if (!read_hex(c, &low) || low < 0xdc00 || low > 0xdfff) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return sb_utf8_add(out, code);
}

static bool read_escape(sb_json_cursor *c, sb_buf *out) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (c->p == c->end) return false;
    uint8_t x = *c->p++;
    if (x == 'u') return read_code(c, out);
    const char *found = x ? strchr(names, x) : NULL;
    if (!found) return false;
    sb_buf_add_byte(out, (uint8_t)meant[found - names]);
    return true;
}

bool sb_json_read_string(sb_json_cursor *c, sb_buf *out) {
    if (!sb_json_skip(c, '"')) return false;
    size_t begin = out->n;
    while (c->p < c->end && *c->p != '"') {
        uint8_t x = *c->p++;
        if (x < 0x20) return false;
        if (x != '\\')
            sb_buf_add_byte(out, x);
        else if (!read_escape(c, out))
            return false;
    }
    if (c->p == c->end || out->failed != SB_OK) return false;
    c->p++;
    return sb_utf8_valid((sb_slice){out->p ? out->p + begin : NULL, out->n - begin});
}

/* ---- other values ---------------------------------------------------------------------------- */

bool sb_json_read_uint(sb_json_cursor *c, uint64_t *out) {
    skip_blanks(c);
    const uint8_t *begin = c->p;
    *out = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*c->p - '0'), out))
            return false;
    bool is_number = c->p > begin && !(c->p - begin > 1 && *begin == '0');
    return is_number && (c->p == c->end || !strchr(".eE+-", *c->p) || *c->p == 0);
}

/* A number, true, false or null: all up to the next token. */
static bool skip_word(sb_json_cursor *c) {
    const uint8_t *begin = c->p;
    while (c->p < c->end &&
           (*c->p == '.' || *c->p == '+' || *c->p == '-' || (*c->p >= '0' && *c->p <= '9') ||
            (*c->p >= 'A' && *c->p <= 'Z') || (*c->p >= 'a' && *c->p <= 'z')))
        c->p++;
    return c->p > begin;
}

static bool skip_nested(sb_json_cursor *c, sb_buf *scratch, unsigned depth);

/* The items behind '[' or '{'. */
static bool skip_items(sb_json_cursor *c, sb_buf *scratch, bool is_object, unsigned depth) {
    char close = is_object ? '}' : ']';
    if (sb_json_skip(c, close)) return true;
    do {
        sb_buf_clear(scratch);
        if (is_object && (!sb_json_read_string(c, scratch) || !sb_json_skip(c, ':'))) return false;
        if (!skip_nested(c, scratch, depth + 1)) return false;
    } while (sb_json_skip(c, ','));
    return sb_json_skip(c, close);
}

static bool skip_nested(sb_json_cursor *c, sb_buf *scratch, unsigned depth) {
    if (depth > MAX_DEPTH) return false;
    if (sb_json_skip(c, '{')) return skip_items(c, scratch, true, depth);
    if (sb_json_skip(c, '[')) return skip_items(c, scratch, false, depth);
    if (c->p < c->end && *c->p == '"') {
        sb_buf_clear(scratch);
        return sb_json_read_string(c, scratch);
    }
    return skip_word(c);
}

bool sb_json_skip_value(sb_json_cursor *c, sb_buf *scratch) {
    return skip_nested(c, scratch, 0);
}
