/* text_parse.c: text to messages. The language is described in text_format.h.
 *
 *   message  = { field [ "," | ";" ] }
 *   field    = name ":" ( value | "[" [ value { "," value } ] "]" )
 *            | name [ ":" ] ( block | "[" [ block { "," block } ] "]" )
 *   block    = "{" message "}" | "<" message ">"
 *
 * Fields are encoded as they come, repeated numbers one key an element. A level of the parser is a
 * level of the C stack, so the depth is bounded. */
#include <math.h>

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "base/banned.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name or a number, with its sign */
    TOKEN_QUOTED, /* the quotes are part of it */
    TOKEN_MARK,   /* one of : , ; { } < > [ ] and anything else */
} token_kind;

typedef struct parser {
    sb_slice text;
    size_t at; /* behind the current token */
    token_kind kind;
    sb_slice token;
    sb_buf *out;
    sb_err *err;
    sb_text_fault *fault; /* may be NULL */
    uint32_t depth;
    const sb_text_watch *watch; /* may be NULL */
    size_t told;                /* up to there */
} parser;

#define TOLD_EVERY ((size_t)1 << 20)

#define WORD_ROW(name, word, text) [SB_TEXT_##name] = word,
#define MESSAGE_ROW(name, word, text) [SB_TEXT_##name] = text,

const char *sb_text_reason_word(sb_text_reason reason) {
    static const char *const words[] = {SB_TEXT_REASON_MAP(WORD_ROW)};
    return words[reason];
}

/* Copies a token, without the part of a character that does not fit. */
static void keep_token(sb_text_fault *fault, sb_slice token) {
    size_t n = token.n < sizeof fault->token ? token.n : sizeof fault->token - 1;
    while (n > 0 && n < token.n && (token.p[n] & 0xC0) == 0x80) n--;
    if (n) memcpy(fault->token, token.p, n);
    fault->token[n] = '\0';
}

static sb_status fail_at(parser *p, sb_status status, size_t offset, sb_text_reason reason,
                         sb_slice shown) {
    static const char *const messages[] = {SB_TEXT_REASON_MAP(MESSAGE_ROW)};
    size_t line = 1, column = 1;
    for (size_t i = 0; i < offset && i < p->text.n; i++) {
        column++;
        if (p->text.p[i] == '\n') {
            line++;
            column = 1;
        }
    }
    if (p->fault) {
        *p->fault = (sb_text_fault){.reason = reason, .line = line, .column = column};
        keep_token(p->fault, shown);
    }
    return sb_fail(p->err, status, offset, "line %zu, column %zu: %s%s%.*s", line, column,
                   messages[reason], shown.n ? " " : "", SB_SHOWN(shown));
}

static sb_status fail(parser *p, sb_text_reason reason) {
    size_t offset = p->kind == TOKEN_END ? p->text.n : (size_t)(p->token.p - p->text.p);
    return fail_at(p, SB_CORRUPT, offset, reason, p->token);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static bool is_word(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

static void skip_blank(parser *p) {
    for (; p->at < p->text.n; p->at++) {
        uint8_t c = p->text.p[p->at];
        if (c == '#') {
            while (p->at < p->text.n && p->text.p[p->at] != '\n') p->at++;
            if (p->at == p->text.n) return;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') {
            return;
        }
    }
}

/* Moves on to the next token. A quoted text must end on its line. */
static sb_status next_token(parser *p) {
    skip_blank(p);
    size_t from = p->at;
    if (from == p->text.n) {
        p->kind = TOKEN_END;
        p->token = sb_slice_of(NULL, 0);
        return SB_OK;
    }
    uint8_t c = p->text.p[from];
    p->at++;
    if (c == '"' || c == '\'') {
        p->kind = TOKEN_QUOTED;
        for (;; p->at++) {
            if (p->at == p->text.n || p->text.p[p->at] == '\n')
                return fail_at(p, SB_CORRUPT, from, SB_TEXT_QUOTE, sb_slice_of(NULL, 0));
            if (p->text.p[p->at] == c) break;
            if (p->text.p[p->at] == '\\' && p->at + 1 < p->text.n && p->text.p[p->at + 1] != '\n')
                p->at++;
        }
        p->at++;
    } else if (is_word(c)) {
        p->kind = TOKEN_WORD;
        while (p->at < p->text.n && is_word(p->text.p[p->at])) p->at++;
    } else {
        p->kind = TOKEN_MARK; /* a whole character, so that a message can show it */
        while (c >= 0xC0 && p->at < p->text.n && (p->text.p[p->at] & 0xC0) == 0x80) p->at++;
    }
    p->token = sb_slice_of(p->text.p + from, p->at - from);
    return SB_OK;
}

static bool is_mark(const parser *p, char mark) {
    return p->kind == TOKEN_MARK && *p->token.p == (uint8_t)mark;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static int digit_of(uint8_t c, int base) {
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    return digit < base ? digit : -1;
}

/* At most max digits at *i; false when there is not even one, or fewer than exactly `max` where
 * that is asked for. */
static bool read_digits(sb_slice s, size_t *i, int base, int max, bool exactly, uint32_t *out) {
    int n = 0;
    *out = 0;
    for (; n < max && *i < s.n && digit_of(s.p[*i], base) >= 0; n++, (*i)++)
        *out = *out * (uint32_t)base + (uint32_t)digit_of(s.p[*i], base);
    return exactly ? n == max : n > 0;
}

/* The escape whose letter is at *i. */
static bool add_escape(sb_buf *out, sb_slice s, size_t *i) {
    static const char letter[] = "abfnrtv\\'\"?";
    static const char meaning[] = "\a\b\f\n\r\t\v\\'\"?";
    uint32_t x;
    uint8_t c = s.p[*i];
    const char *found = c ? strchr(letter, c) : NULL;
    if (found) {
        (*i)++;
        sb_buf_add_byte(out, (uint8_t)meaning[found - letter]);
        return true;
    }
    if (digit_of(c, 8) >= 0) {
        if (!read_digits(s, i, 8, 3, false, &x) || x > 0xFF) return false;
        sb_buf_add_byte(out, (uint8_t)x);
        return true;
    }
    (*i)++;
    if (c == 'x' || c == 'X') {
        if (!read_digits(s, i, 16, 2, false, &x)) return false;
        sb_buf_add_byte(out, (uint8_t)x);
        return true;
    }
    if (c != 'u' && c != 'U') return false;
    return read_digits(s, i, 16, c == 'u' ? 4 : 8, true, &x) && sb_utf8_add(out, x);
}

/* One or more quoted texts, joined. */
static sb_status parse_text(parser *p, const sb_field_info *field) {
    if (p->kind != TOKEN_QUOTED) return fail(p, SB_TEXT_QUOTED);
    size_t offset = (size_t)(p->token.p - p->text.p);
    size_t at = sb_pb_begin(p->out, field->number, p->token.n - 2);
    while (p->kind == TOKEN_QUOTED) {
        sb_slice inside = sb_slice_of(p->token.p + 1, p->token.n - 2);
        for (size_t i = 0; i < inside.n;) {
            if (inside.p[i] != '\\') {
                sb_buf_add_byte(p->out, inside.p[i++]);
                continue;
            }
            i++; /* something follows: a quoted token does not end with a lone backslash */
            if (!add_escape(p->out, inside, &i)) return fail(p, SB_TEXT_ESCAPE);
        }
        sb_status status = next_token(p);
        if (status != SB_OK) return status;
    }
    if (p->out->failed != SB_OK) return SB_OK; /* reported at the end */
    sb_slice whole = sb_slice_of(p->out->p + at, p->out->n - at);
    if (field->type == SB_TYPE_STRING && !sb_utf8_valid(whole))
        return fail_at(p, SB_CORRUPT, offset, SB_TEXT_UTF8, sb_slice_of(NULL, 0));
    sb_pb_end(p->out, at);
    return SB_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* Decimal, 0x hexadecimal or 0 octal, as magnitude and sign. */
static bool read_integer(sb_slice s, uint64_t *magnitude, bool *negative) {
    size_t i = 0;
    *negative = s.n && s.p[0] == '-';
    if (*negative) i++;
    int base = 10;
    if (s.n - i > 1 && s.p[i] == '0') {
        bool hex = s.p[i + 1] == 'x' || s.p[i + 1] == 'X';
        base = hex ? 16 : 8;
        i += hex ? 2 : 1;
    }
    if (i == s.n) return false;
    for (*magnitude = 0; i < s.n; i++) {
        int digit = digit_of(s.p[i], base);
        if (digit < 0 || __builtin_mul_overflow(*magnitude, (uint64_t)base, magnitude) ||
            __builtin_add_overflow(*magnitude, (uint64_t)digit, magnitude))
            return false;
    }
    return true;
}

static sb_status parse_integer(parser *p, const sb_field_info *field) {
    bool is_signed =
        field->type == SB_TYPE_INT32 || field->type == SB_TYPE_INT64 || field->type == SB_TYPE_ENUM;
    bool is_wide = field->type == SB_TYPE_INT64 || field->type == SB_TYPE_UINT64 ||
                   field->type == SB_TYPE_FIXED64;
    uint64_t magnitude, most = is_wide ? UINT64_MAX : UINT32_MAX;
    bool negative;
    if (p->kind != TOKEN_WORD || !read_integer(p->token, &magnitude, &negative))
        return fail(p, SB_TEXT_WHOLE);
    if (is_signed)
        most = most / 2 + negative;
    else if (negative && magnitude)
        most = 0;
    if (magnitude > most) return fail(p, SB_TEXT_RANGE);
    uint64_t x = negative ? 0 - magnitude : magnitude;
    uint32_t wire = sb_field_wire(field);
    sb_pb_add_key(p->out, field->number, wire);
    if (wire == SB_PB_VARINT) {
        sb_pb_add_varint(p->out, x);
    } else {
        uint8_t raw[8];
        sb_store64(raw, x);
        sb_buf_add(p->out, raw, wire == SB_PB_FIXED64 ? 8 : 4);
    }
    return next_token(p);
}

/* As number.h reads it, with two differences: a final f is allowed, and a leading zero is not,
 * since an octal number would be misread. */
static bool read_real(sb_slice s, double *out) {
    size_t sign = s.n && s.p[0] == '-';
    if (s.n - sign > 1 && s.p[sign] == '0' && digit_of(s.p[sign + 1], 10) >= 0) return false;
    if (sb_parse_double(s, out)) {
        /* The name does not say which NaN is meant: the plain quiet one is used, with its sign. */
        if (isnan(*out)) *out = sb_bits_double((sign ? 0xFFF8ull : 0x7FF8ull) << 48);
        return true;
    }
    if (s.n < 2 || (s.p[s.n - 1] != 'f' && s.p[s.n - 1] != 'F')) return false;
    return sb_parse_double(sb_slice_of(s.p, s.n - 1), out);
}

static sb_status parse_real(parser *p, const sb_field_info *field) {
    double x;
    if (p->kind != TOKEN_WORD || !read_real(p->token, &x)) return fail(p, SB_TEXT_NUMBER);
    if (field->type == SB_TYPE_DOUBLE)
        sb_pb_add_double(p->out, field->number, x);
    else
        sb_pb_add_float(p->out, field->number, (float)x);
    return next_token(p);
}

static sb_status parse_bool(parser *p, const sb_field_info *field) {
    static const char *const yes[] = {"true", "True", "t", "1"};
    static const char *const no[] = {"false", "False", "f", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        bool is_yes = sb_slice_eq(p->token, sb_slice_str(yes[i]));
        if (!is_yes && !sb_slice_eq(p->token, sb_slice_str(no[i]))) continue;
        sb_pb_add_uint(p->out, field->number, is_yes);
        return next_token(p);
    }
    return fail(p, SB_TEXT_FLAG);
}

static sb_status parse_enum(parser *p, const sb_field_info *field) {
    int32_t number;
    if (!sb_enum_number((sb_enum_id)field->sub, p->token, &number)) {
        bool is_name = p->kind == TOKEN_WORD && digit_of(*p->token.p, 10) < 0 && *p->token.p != '-';
        return is_name ? fail(p, SB_TEXT_VALUE) : parse_integer(p, field);
    }
    sb_pb_add_int(p->out, field->number, number);
    return next_token(p);
}

static sb_status parse_scalar(parser *p, const sb_field_info *field) {
    switch ((sb_field_type)field->type) {
    case SB_TYPE_DOUBLE:
    case SB_TYPE_FLOAT:
        return parse_real(p, field);
    case SB_TYPE_BOOL:
        return parse_bool(p, field);
    case SB_TYPE_ENUM:
        return parse_enum(p, field);
    case SB_TYPE_STRING:
    case SB_TYPE_BYTES:
        return parse_text(p, field);
    default:
        return parse_integer(p, field);
    }
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static sb_status parse_fields(parser *p, sb_message_id id, char closing);

static sb_status parse_block(parser *p, const sb_field_info *field) {
    bool angle = is_mark(p, '<');
    if (!angle && !is_mark(p, '{')) return fail(p, SB_TEXT_BRACE);
    if (p->depth == SB_TEXT_MAX_DEPTH)
        return fail_at(p, SB_LIMIT, (size_t)(p->token.p - p->text.p), SB_TEXT_DEEP,
                       sb_slice_of(NULL, 0));
    sb_status status = next_token(p);
    if (status != SB_OK) return status;
    size_t at = sb_pb_begin(p->out, field->number, 100);
    p->depth++;
    status = parse_fields(p, (sb_message_id)field->sub, angle ? '>' : '}');
    p->depth--;
    if (status != SB_OK) return status;
    sb_pb_end(p->out, at);
    return next_token(p);
}

static sb_status parse_value(parser *p, const sb_field_info *field) {
    return field->type == SB_TYPE_MESSAGE ? parse_block(p, field) : parse_scalar(p, field);
}

static sb_status parse_list(parser *p, const sb_field_info *field) {
    sb_status status = next_token(p);
    if (status != SB_OK) return status;
    if (is_mark(p, ']')) return next_token(p);
    for (;;) {
        if ((status = parse_value(p, field)) != SB_OK) return status;
        if (is_mark(p, ']')) return next_token(p);
        if (!is_mark(p, ',')) return fail(p, SB_TEXT_LIST);
        if ((status = next_token(p)) != SB_OK) return status;
    }
}

/* Single fields may be given once, and only one member of a oneof. `seen` has a bit for each field
 * of the message. */
static bool may_set(const sb_message_info *info, const sb_field_info *field, uint64_t *seen) {
    uint64_t bit = (uint64_t)1 << (field - info->fields);
    if (sb_field_repeated(field)) return true;
    if (*seen & bit) return false;
    for (size_t i = 0; field->label == SB_LABEL_ONEOF && i < info->count; i++)
        if (info->fields[i].label == SB_LABEL_ONEOF && *seen >> i & 1) return false;
    *seen |= bit;
    return true;
}

static sb_status parse_field(parser *p, const sb_message_info *info, uint64_t *seen) {
    if (p->kind != TOKEN_WORD) return fail(p, SB_TEXT_NAME);
    const sb_field_info *field = sb_field_by_name(info, p->token);
    if (!field) return fail(p, SB_TEXT_FIELD);
    if (!may_set(info, field, seen)) return fail(p, SB_TEXT_TWICE);
    sb_status status = next_token(p);
    if (status != SB_OK) return status;
    bool colon = is_mark(p, ':');
    if (colon && (status = next_token(p)) != SB_OK) return status;
    if (!colon && field->type != SB_TYPE_MESSAGE) return fail(p, SB_TEXT_COLON);
    bool list = sb_field_repeated(field) && is_mark(p, '[');
    status = list ? parse_list(p, field) : parse_value(p, field);
    if (status == SB_OK && (is_mark(p, ',') || is_mark(p, ';'))) status = next_token(p);
    return status;
}

static sb_status tell(parser *p) {
    p->told = p->at;
    if (p->watch->progress(p->watch->ud, p->at, p->text.n)) return SB_OK;
    return sb_fail(p->err, SB_CANCELLED, p->at, "not wanted any more");
}

/* Up to the closing mark, which stays the current token, or up to the end of the text for 0. */
static sb_status parse_fields(parser *p, sb_message_id id, char closing) {
    const sb_message_info *info = sb_message_get(id);
    uint64_t seen = 0;
    for (;;) {
        if (closing ? is_mark(p, closing) : p->kind == TOKEN_END) return SB_OK;
        if (p->kind == TOKEN_END) return fail(p, SB_TEXT_BLOCK);
        sb_status status = parse_field(p, info, &seen);
        if (status == SB_OK && p->watch && p->at - p->told >= TOLD_EVERY) status = tell(p);
        if (status != SB_OK) return status;
    }
}

sb_status sb_text_parse(sb_buf *out, sb_message_id id, sb_slice text, sb_err *err) {
    return sb_text_parse_watched(out, id, text, NULL, NULL, err);
}

sb_status sb_text_parse_watched(sb_buf *out, sb_message_id id, sb_slice text,
                                const sb_text_watch *watch, sb_text_fault *fault, sb_err *err) {
    parser p = {.text = text, .out = out, .err = err, .fault = fault, .watch = watch};
    sb_status status = next_token(&p);
    if (status == SB_OK) status = parse_fields(&p, id, 0);
    return status == SB_OK ? sb_buf_check(out, "a message from text", err) : status;
}
