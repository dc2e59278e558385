/* json_scan.c: a tolerant JSON tokenizer. */
#include "profile/read/json_scan.h"

#include "base/text/json.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/banned.h"

#define MOST_DEPTH 128
/* With more of these it is no event that somebody wrote badly, but no event at all. Without these
 * limits each place that looks like the beginning of an event could be read to the end of the
 * file. */
#define MOST_REPAIRS 256u
#define MOST_WORD ((ptrdiff_t)4096)

static inline bool is_blank(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

void sb_scan_blank(sb_scan *s) {
    while (s->p < s->end && is_blank(*s->p)) s->p++;
}

static sb_scan_step out_of_text(const sb_scan *s) {
    return s->is_last ? SB_SCAN_BAD : SB_SCAN_MORE;
}

/* Is this quote the end of a string? It is if a comma, a colon or a closing bracket follows;
 * otherwise somebody forgot to escape it, and it is part of the string. 1: yes, 0: no, -1: the
 * text ends too early to know. */
static int may_end_here(const sb_scan *s, const uint8_t *p) {
    while (p < s->end && is_blank(*p)) p++;
    if (p == s->end) return s->is_last ? 1 : -1;
    return *p == ',' || *p == '}' || *p == ']' || *p == ':';
}

static sb_scan_step scan_text(sb_scan *s, sb_slice *out, bool *has_escapes) {
    const uint8_t *from = ++s->p, *p = from, *end = s->end;
    *has_escapes = false;
    for (;;) {
        while (p < end && *p != '"' && *p != '\\') p++;
        if (p == end) return out_of_text(s);
        if (*p == '\\') {
            if (end - p < 2) return out_of_text(s);
            *has_escapes = true;
            p += 2;
            continue;
        }
        if (p + 1 < end && (p[1] == ',' || p[1] == ':' || p[1] == '}')) break;
        int ends = may_end_here(s, p + 1);
        if (ends < 0) return SB_SCAN_MORE;
        if (ends) break;
        if (++s->repaired > MOST_REPAIRS) return SB_SCAN_BAD;
        p++;
    }
    *out = sb_slice_of(from, (size_t)(p - from));
    s->p = p + 1;
    return SB_SCAN_OK;
}

/* Scans a number or a bare word, up to the next structural character. */
static sb_scan_step scan_word(sb_scan *s, sb_slice *out) {
    const uint8_t *p = s->p, *most = s->end - p > MOST_WORD ? p + MOST_WORD : s->end;
    while (p < most && *p != ',' && *p != '}' && *p != ']' && !is_blank(*p)) p++;
    if (p == s->end && !s->is_last) return SB_SCAN_MORE;
    if (p == s->p || p - s->p == MOST_WORD) return SB_SCAN_BAD;
    *out = sb_slice_of(s->p, (size_t)(p - s->p));
    s->p = p;
    return SB_SCAN_OK;
}

static sb_scan_step scan_nested(sb_scan *s) {
    int depth = 0;
    while (s->p < s->end) {
        uint8_t c = *s->p;
        if (c == '"') {
            sb_slice text;
            bool escapes;
            sb_scan_step step = scan_text(s, &text, &escapes);
            if (step != SB_SCAN_OK) return step;
            continue;
        }
        s->p++;
        if (c == '{' || c == '[') {
            if (++depth > MOST_DEPTH) return SB_SCAN_BAD;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return SB_SCAN_OK;
        }
    }
    return out_of_text(s);
}

sb_scan_step sb_scan_value_next(sb_scan *s, sb_scan_value *out) {
    sb_scan_blank(s);
    if (s->p == s->end) return out_of_text(s);
    const uint8_t *from = s->p;
    out->has_escapes = false;
    sb_scan_step step;
    switch (*from) {
    case '"':
        out->kind = SB_SCAN_TEXT;
        return scan_text(s, &out->raw, &out->has_escapes);
    case '{':
    case '[':
        out->kind = *from == '{' ? SB_SCAN_OBJECT : SB_SCAN_ARRAY;
        step = scan_nested(s);
        out->raw = sb_slice_of(from, (size_t)(s->p - from));
        return step;
    default:
        out->kind = SB_SCAN_NUMBER;
        return scan_word(s, &out->raw);
    }
}

sb_scan_step sb_scan_key(sb_scan *s, bool *first, sb_slice *key) {
    bool escapes;
    if (*first) {
        if (s->p == s->end || *s->p != '{') return SB_SCAN_BAD;
        s->p++;
    }
    sb_scan_blank(s);
    while (s->p < s->end && *s->p == ',') { /* extra commas are skipped */
        s->p++;
        sb_scan_blank(s);
    }
    *first = false;
    if (s->p == s->end) return out_of_text(s);
    if (*s->p == '}') {
        s->p++;
        return SB_SCAN_END;
    }
    if (*s->p != '"') return SB_SCAN_BAD;
    sb_scan_step step = scan_text(s, key, &escapes);
    if (step != SB_SCAN_OK) return step;
    sb_scan_blank(s);
    if (s->p == s->end) return out_of_text(s);
    if (*s->p != ':') return SB_SCAN_BAD;
    s->p++;
    return SB_SCAN_OK;
}

sb_scan_step sb_scan_member(sb_scan *s, bool *first, sb_slice *key, sb_scan_value *value) {
    sb_scan_step step = sb_scan_key(s, first, key);
    return step == SB_SCAN_OK ? sb_scan_value_next(s, value) : step;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static bool hex4(sb_slice raw, size_t at, uint32_t *out) {
    *out = 0;
    if (at + 4 > raw.n) return false;
    for (size_t i = at; i < at + 4; i++) {
        uint8_t c = raw.p[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32u) - 'a' + 10u;
        else
            return false;
        *out = *out * 16 + digit;
    }
    return true;
}

static size_t add_unicode(sb_buf *out, sb_slice raw, size_t at) {
    uint32_t code, low;
    if (!hex4(raw, at, &code)) {
        sb_buf_add_str(out, "\\u");
        return 0;
    }
    if (code >= 0xd800 && code < 0xdc00 && at + 10 <= raw.n && raw.p[at + 4] == '\\' &&
        raw.p[at + 5] == 'u' && hex4(raw, at + 6, &low) && low >= 0xdc00 && low < 0xe000) {
        sb_utf8_add(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        return 10;
    }
    if (!sb_utf8_add(out, code)) sb_buf_add_byte(out, '?');
    return 4;
}

void sb_scan_unescape(sb_buf *out, sb_slice raw) {
    for (size_t i = 0; i < raw.n; i++) {
        uint8_t c = raw.p[i];
        if (c != '\\' || i + 1 == raw.n) {
            sb_buf_add_byte(out, c);
            continue;
        }
        c = raw.p[++i];
        switch (c) {
        case 'n':
            sb_buf_add_byte(out, '\n');
            break;
        case 't':
            sb_buf_add_byte(out, '\t');
            break;
        case 'r':
            sb_buf_add_byte(out, '\r');
            break;
        case 'b':
            sb_buf_add_byte(out, '\b');
            break;
        case 'f':
            sb_buf_add_byte(out, '\f');
            break;
        case 'u':
            i += add_unicode(out, raw, i + 1);
            break;
        case '"':
        case '\\':
        case '/':
            sb_buf_add_byte(out, c);
            break;
        default:
            sb_buf_add_byte(out, '\\');
            sb_buf_add_byte(out, c);
        }
    }
}

static void rewrite_text(sb_buf *out, sb_slice raw, bool has_escapes) {
    if (!has_escapes) {
        sb_json_quote(out, raw, true);
        return;
    }
    sb_buf plain;
    sb_buf_init(&plain, out->alloc, raw.n + 16);
    sb_scan_unescape(&plain, raw);
    sb_json_quote(out, sb_buf_slice(&plain), true);
    sb_buf_fini(&plain);
}

static bool is_json_number(sb_slice raw) {
    size_t i = raw.n && raw.p[0] == '-' ? 1 : 0, digits = i;
    while (i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9') i++;
    if (i == digits || (raw.p[digits] == '0' && i > digits + 1)) return false;
    if (i < raw.n && raw.p[i] == '.') {
        digits = ++i;
        while (i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9') i++;
        if (i == digits) return false;
    }
    if (i < raw.n && (raw.p[i] | 32) == 'e') {
        i++;
        if (i < raw.n && (raw.p[i] == '+' || raw.p[i] == '-')) i++;
        digits = i;
        while (i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9') i++;
        if (i == digits) return false;
    }
    return i == raw.n;
}

/* Writes integers that a double cannot hold as strings, so that no reader rounds them. */
static void rewrite_word(sb_buf *out, sb_slice raw) {
    bool is_word = sb_slice_eq(raw, SB_LIT("true")) || sb_slice_eq(raw, SB_LIT("false")) ||
                   sb_slice_eq(raw, SB_LIT("null"));
    if (is_word || (is_json_number(raw) && raw.n <= 15)) {
        sb_buf_add_slice(out, raw);
        return;
    }
    bool is_whole = is_json_number(raw);
    for (size_t i = 0; i < raw.n; i++)
        if (raw.p[i] == '.' || (raw.p[i] | 32) == 'e') is_whole = false;
    if (is_json_number(raw) && !is_whole)
        sb_buf_add_slice(out, raw);
    else
        sb_json_quote(out, raw, true);
}

static void rewrite_array(sb_buf *out, sb_slice raw, int depth) {
    sb_scan s = {raw.p + 1, raw.p + raw.n, true, 0};
    sb_scan_value value;
    bool any = false;
    sb_buf_add_byte(out, '[');
    for (;;) {
        sb_scan_blank(&s);
        while (s.p < s.end && *s.p == ',') {
            s.p++;
            sb_scan_blank(&s);
        }
        if (s.p >= s.end || *s.p == ']' || sb_scan_value_next(&s, &value) != SB_SCAN_OK) break;
        if (any) sb_buf_add_byte(out, ',');
        sb_scan_rewrite(out, &value, depth + 1);
        any = true;
    }
    sb_buf_add_byte(out, ']');
}

void sb_scan_rewrite(sb_buf *out, const sb_scan_value *value, int depth) {
    if (value->kind == SB_SCAN_TEXT || depth > 64) {
        rewrite_text(out, value->raw, value->has_escapes);
    } else if (value->kind == SB_SCAN_NUMBER) {
        rewrite_word(out, value->raw);
    } else if (value->kind == SB_SCAN_ARRAY) {
        rewrite_array(out, value->raw, depth);
    } else {
        sb_scan s = {value->raw.p, value->raw.p + value->raw.n, true, 0};
        bool first = true, any = false;
        sb_slice key;
        sb_scan_value inner;
        sb_buf_add_byte(out, '{');
        while (sb_scan_member(&s, &first, &key, &inner) == SB_SCAN_OK) {
            if (any) sb_buf_add_byte(out, ',');
            rewrite_text(out, key, memchr(key.p, '\\', key.n) != NULL);
            sb_buf_add_byte(out, ':');
            sb_scan_rewrite(out, &inner, depth + 1);
            any = true;
        }
        sb_buf_add_byte(out, '}');
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool sb_scan_int(sb_slice raw, int64_t *out) {
    double real;
    if (sb_parse_int64(raw, out)) return true;
    if (!sb_parse_double(raw, &real) || !(real > -9e18 && real < 9e18)) return false;
    *out = (int64_t)real;
    return true;
}

bool sb_scan_uint(sb_slice raw, uint64_t *out) {
    int64_t x;
    if (sb_parse_uint64(raw, out)) return true;
    if (!sb_scan_int(raw, &x)) return false;
    *out = (uint64_t)x;
    return true;
}

bool sb_scan_micros(sb_slice raw, int64_t *micros, int64_t *picos) {
    size_t i = 0;
    bool is_negative = raw.n && raw.p[0] == '-';
    if (is_negative) i++;
    int64_t whole = 0, part = 0, unit = 100000;
    size_t digits = i;
    for (; i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9'; i++) {
        if (whole > INT64_MAX / 20) return false;
        whole = whole * 10 + (raw.p[i] - '0');
    }
    if (i == digits) return false;
    if (i < raw.n && raw.p[i] == '.') {
        size_t first = ++i;
        for (; i < raw.n && raw.p[i] >= '0' && raw.p[i] <= '9'; i++, unit /= 10)
            part += (raw.p[i] - '0') * unit;
        /* rounds: writers print doubles with 17 digits, and 3.1039999999999999 is 3.104 */
        if (i > first + 6 && raw.p[first + 6] >= '5') part++;
    }
    if (i < raw.n) { /* a number with an exponent, as in 1.5e3 */
        double real;
        if (!sb_parse_double(raw, &real) || !(real > -1e18 && real < 1e18)) return false;
        *micros = (int64_t)real;
        *picos = (int64_t)((real - (double)*micros) * 1e6);
        return true;
    }
    *micros = is_negative ? -whole : whole;
    *picos = is_negative ? -part : part;
    return true;
}
