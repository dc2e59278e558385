/* json.c: the streaming JSON writer. The rules for text are those of Python's json module: what is
 * below a space, the quote and the backslash are escaped (the five short forms where there is one),
 * and, unless UTF-8 is asked for, DEL and all beyond ASCII, as one or two \uXXXX. */
#include "base/text/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/banned.h"

/* ---- text -------------------------------------------------------------------------------------*/

#define EACH(byte) (0x0101010101010101u * (byte))

/* Are all eight bytes written as they are, with and without ASCII escapes? That is: none is below a
 * space, a quote, a backslash or above '~'. A carry or borrow into the next byte can make that byte
 * look wrong, but it comes only from a byte that is one of these, so the answer is right. */
static bool all_plain(uint64_t x) {
    uint64_t quote = x ^ EACH('"'), backslash = x ^ EACH('\\');
    uint64_t no = (x - EACH(0x20)) | (quote - EACH(1)) | (backslash - EACH(1)) | (x + EACH(1)) | x;
    return (no & EACH(0x80)) == 0;
}

static bool is_plain(uint8_t byte) {
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

static size_t plain_prefix(const uint8_t *p, size_t n) {
    size_t i = 0;
    while (n - i >= 8 && all_plain(sb_load64(p + i))) i += 8;
    while (i < n && is_plain(p[i])) i++;
    return i;
}

static void add_unit(sb_buf *out, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\',          'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15],
                    hex[unit & 15]};
    sb_buf_add(out, text, sizeof text);
}

/* A byte below 0x80 that is not plain. */
static void add_special(sb_buf *out, uint8_t byte, bool utf8) {
    static const char short_forms[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                          {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
    for (size_t i = 0; i < sizeof short_forms / sizeof short_forms[0]; i++)
        if (short_forms[i][0] == (char)byte) {
            sb_buf_add(out, (char[]){'\\', short_forms[i][1]}, 2);
            return;
        }
    if (byte == 0x7F && utf8)
        sb_buf_add_byte(out, byte);
    else
        add_unit(out, byte);
}

/* The character of n bytes (2 to 4) at p, which is valid. */
static void add_wide(sb_buf *out, const uint8_t *p, size_t n) {
    uint32_t c = p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) c = c << 6 | (p[i] & 0x3Fu);
    if (c < 0x10000) {
        add_unit(out, c);
        return;
    }
    c -= 0x10000;
    add_unit(out, 0xD800 | c >> 10);
    add_unit(out, 0xDC00 | (c & 0x3FF));
}

void sb_json_quote(sb_buf *out, sb_slice text, bool utf8) {
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < text.n;) {
        size_t n = plain_prefix(text.p + i, text.n - i);
        sb_buf_add(out, text.p + i, n);
        i += n;
        if (i == text.n) break;
        if (text.p[i] < 0x80) {
            add_special(out, text.p[i++], utf8);
            continue;
        }
        n = sb_utf8_char(sb_slice_of(text.p + i, text.n - i));
        sb_slice character = n ? sb_slice_of(text.p + i, n) : SB_LIT("\xEF\xBF\xBD");
        if (utf8)
            sb_buf_add_slice(out, character);
        else
            add_wide(out, character.p, character.n);
        i += n ? n : 1;
    }
    sb_buf_add_byte(out, '"');
}

/* ---- structure --------------------------------------------------------------------------------*/

void sb_json_init(sb_json *j, sb_buf *out, const sb_json_opts *opts) {
    *j = (sb_json){.out = out};
    if (opts) j->opts = *opts;
}

sb_status sb_json_finish(const sb_json *j, const char *what, sb_err *err) {
    assert(j->depth == 0 && j->any);
    return sb_buf_check(j->out, what, err);
}

/* For assertions; inline, since release builds have none. */
static inline bool in_object(const sb_json *j) {
    if (j->depth == 0 || j->depth > SB_JSON_MAX_DEPTH) return false;
    uint32_t level = j->depth - 1;
    return j->objects[level / 64] >> level % 64 & 1;
}

static void add_line(sb_json *j) {
    size_t n = (size_t)j->depth * j->opts.indent;
    sb_buf_add_byte(j->out, '\n');
    if (n == 0 || !sb_buf_reserve(j->out, n)) return;
    memset(j->out->p + j->out->n, ' ', n);
    j->out->n += n;
}

/* Writes the comma, line break and indentation between the previous item and this one. */
static void separate(sb_json *j) {
    if (j->any) {
        sb_buf_add_byte(j->out, ',');
        if (j->opts.spaced && !j->opts.indent) sb_buf_add_byte(j->out, ' ');
    }
    if (j->opts.indent && j->depth) add_line(j);
    j->any = true;
}

static void before_value(sb_json *j) {
    if (j->has_key) {
        j->has_key = false;
        return;
    }
    assert(!in_object(j));           /* a value in an object needs a key */
    assert(j->depth > 0 || !j->any); /* a document is exactly one value */
    separate(j);
}

static void begin_level(sb_json *j, char bracket, bool object) {
    before_value(j);
    sb_buf_add_byte(j->out, (uint8_t)bracket);
    uint32_t level = j->depth++;
    j->any = false;
    if (level >= SB_JSON_MAX_DEPTH) {
        if (j->out->failed == SB_OK) j->out->failed = SB_LIMIT;
        return;
    }
    uint64_t bit = (uint64_t)1 << level % 64;
    j->objects[level / 64] = (j->objects[level / 64] & ~bit) | (object ? bit : 0);
}

static void end_level(sb_json *j, char bracket, bool object) {
    assert(j->depth > 0 && !j->has_key);
    assert(j->depth > SB_JSON_MAX_DEPTH || in_object(j) == object);
    (void)object;
    bool any = j->any;
    j->depth--;
    j->any = true;
    if (any && j->opts.indent) add_line(j);
    sb_buf_add_byte(j->out, (uint8_t)bracket);
}

void sb_json_begin_object(sb_json *j) {
    begin_level(j, '{', true);
}

void sb_json_end_object(sb_json *j) {
    end_level(j, '}', true);
}

void sb_json_begin_array(sb_json *j) {
    begin_level(j, '[', false);
}

void sb_json_end_array(sb_json *j) {
    end_level(j, ']', false);
}

void sb_json_key(sb_json *j, sb_slice name) {
    assert(!j->has_key && (in_object(j) || j->depth > SB_JSON_MAX_DEPTH));
    separate(j);
    sb_json_quote(j->out, name, j->opts.utf8);
    sb_buf_add_byte(j->out, ':');
    if (j->opts.spaced || j->opts.indent) sb_buf_add_byte(j->out, ' ');
    j->has_key = true;
}

void sb_json_key_str(sb_json *j, const char *name) {
    sb_json_key(j, sb_slice_str(name));
}

/* ---- values -----------------------------------------------------------------------------------*/

void sb_json_text(sb_json *j, sb_slice text) {
    before_value(j);
    sb_json_quote(j->out, text, j->opts.utf8);
}

void sb_json_str(sb_json *j, const char *text) {
    sb_json_text(j, sb_slice_str(text));
}

void sb_json_raw(sb_json *j, sb_slice json) {
    before_value(j);
    sb_buf_add_slice(j->out, json);
}

void sb_json_bool(sb_json *j, bool x) {
    sb_json_raw(j, x ? SB_LIT("true") : SB_LIT("false"));
}

void sb_json_null(sb_json *j) {
    sb_json_raw(j, SB_LIT("null"));
}

/* Prints in place when the buffer has room for the longest number, which is nearly always. */
#define ADD_NUMBER(out, print, x)                                                                  \
    do {                                                                                           \
        sb_buf *b = (out);                                                                         \
        if (b->room - b->n >= SB_NUMBER_ROOM && b->failed == SB_OK) {                              \
            b->n += print((char *)b->p + b->n, x);                                                 \
        } else {                                                                                   \
            char text[SB_NUMBER_ROOM];                                                             \
            sb_buf_add(b, text, print(text, x));                                                   \
        }                                                                                          \
    } while (0)

void sb_json_int(sb_json *j, int64_t x) {
    before_value(j);
    ADD_NUMBER(j->out, sb_print_int64, x);
}

void sb_json_uint(sb_json *j, uint64_t x) {
    before_value(j);
    ADD_NUMBER(j->out, sb_print_uint64, x);
}

static void add_nonfinite(sb_json *j, double x) {
    if (j->opts.nonfinite == SB_JSON_NULL) {
        sb_buf_add_str(j->out, "null");
        return;
    }
    if (j->opts.nonfinite == SB_JSON_QUOTED) sb_buf_add_byte(j->out, '"');
    ADD_NUMBER(j->out, sb_print_double, x);
    if (j->opts.nonfinite == SB_JSON_QUOTED) sb_buf_add_byte(j->out, '"');
}

void sb_json_double(sb_json *j, double x) {
    before_value(j);
    if (isfinite(x))
        ADD_NUMBER(j->out, sb_print_double, x);
    else
        add_nonfinite(j, x);
}

void sb_json_float(sb_json *j, float x) {
    before_value(j);
    if (isfinite(x))
        ADD_NUMBER(j->out, sb_print_float, x);
    else
        add_nonfinite(j, (double)x);
}
