/* errors.c: TensorBoard's error bodies: one line of text for what the client did wrong, its web
 * framework's small page for the rest. */
#include <stdarg.h>
#include <stdio.h>

#include "base/text/utf8.h"
#include "server/compat/compat.h"
#include "base/banned.h"

/* ---- text from outside ----------------------------------------------------------------------- */

static uint32_t code_point(sb_slice s, size_t n) {
    if (n == 1) return s.p[0];
    uint32_t c = s.p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) c = c << 6 | (s.p[i] & 0x3Fu);
    return c;
}

/* Does Python's repr show this character as it is? Exact for letters, digits and punctuation;
 * control characters, combining marks and separators that hide or reverse text are shown by
 * number. */
static bool is_printable(uint32_t c) {
    if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) return false;
    if (c >= 0x2000 && c <= 0x200F) return false;
    if ((c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F)) return false;
    return c != 0x1680 && c != 0x3000 && c != 0xFEFF && !(c >= 0xE000 && c <= 0xF8FF) &&
           c < 0xE0000;
}

static void add_by_number(sb_buf *out, uint32_t c) {
    if (c == '\n' || c == '\r' || c == '\t')
        sb_buf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    else if (c < 0x100)
        sb_buf_printf(out, "\\x%02x", c);
    else
        sb_buf_printf(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void sb_compat_add_repr(sb_buf *out, sb_slice text) {
    bool has_single = text.n && memchr(text.p, '\'', text.n);
    bool has_double = text.n && memchr(text.p, '"', text.n);
    uint8_t quote = has_single && !has_double ? '"' : '\'';
    sb_buf_add_byte(out, quote);
    while (text.n) {
        size_t n = sb_utf8_char(text);
        uint32_t c = n ? code_point(text, n) : 0xFFFD;
        if (!n) n = 1;
        if (c == quote || c == '\\') {
            sb_buf_add_byte(out, '\\');
            sb_buf_add_byte(out, (uint8_t)c);
        } else if (is_printable(c) && sb_utf8_char(text)) {
            sb_buf_add(out, text.p, n);
        } else {
            add_by_number(out, c);
        }
        text = sb_slice_of(text.p + n, text.n - n);
    }
    sb_buf_add_byte(out, quote);
}

void sb_compat_add_html(sb_buf *out, sb_slice text) {
    for (size_t i = 0; i < text.n; i++) {
        const char *entity = NULL;
        switch (text.p[i]) {
        case '<':
            entity = "&lt;";
            break;
        case '>':
            entity = "&gt;";
            break;
        case '&':
            entity = "&amp;";
            break;
        case '"':
            entity = "&quot;";
            break;
        case '\'':
            entity = "&#39;";
            break;
        default:
            break;
        }
        if (entity)
            sb_buf_add_str(out, entity);
        else
            sb_buf_add_byte(out, text.p[i]);
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* An empty body with the status and type of an error. */
static sb_buf *begin_error_body(sb_http_reply *r, int status) {
    sb_http_status(r, status);
    sb_http_type(r, "text/plain; charset=utf-8");
    sb_buf *out = sb_http_body(r);
    sb_buf_clear(out);
    return out;
}

/* The text may be longer than a buffer on the stack could be: it holds names of runs and tags. */
__attribute__((format(printf, 2, 0))) static void add_text(sb_buf *out, const char *format,
                                                           va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n <= 0 || !sb_buf_reserve(out, (size_t)n + 1)) return;
    vsnprintf((char *)out->p + out->n, (size_t)n + 1, format, args);
    out->n += (size_t)n;
}

sb_status sb_compat_invalid(sb_http_reply *r, const char *format, ...) {
    sb_buf *out = begin_error_body(r, 400);
    sb_buf_add_str(out, "Invalid argument: ");
    va_list args;
    va_start(args, format);
    add_text(out, format, args);
    va_end(args);
    return SB_OK;
}

sb_status sb_compat_not_found(sb_http_reply *r, const char *format, ...) {
    sb_buf *out = begin_error_body(r, 404);
    sb_buf_add_str(out, "Not found: ");
    va_list args;
    va_start(args, format);
    add_text(out, format, args);
    va_end(args);
    return SB_OK;
}

sb_status sb_compat_plain(sb_http_reply *r, int status, const char *format, ...) {
    sb_buf *out = begin_error_body(r, status);
    va_list args;
    va_start(args, format);
    add_text(out, format, args);
    va_end(args);
    return SB_OK;
}

sb_status sb_compat_no_data(sb_http_reply *r, const char *what, sb_slice run, sb_slice tag) {
    sb_buf *out = begin_error_body(r, 404);
    sb_buf_printf(out, "Not found: No %s data for run=", what);
    sb_compat_add_repr(out, run);
    sb_buf_add_str(out, ", tag=");
    sb_compat_add_repr(out, tag);
    return SB_OK;
}

/* The text of a status when the handler gives none, as TensorBoard's web framework has it. */
static const struct {
    int status;
    const char *name, *text;
} pages[] = {
    {400, "Bad Request", "The request could not be understood."},
    {405, "Method Not Allowed", "The method is not allowed for this address."},
    {413, "Content Too Large", "There is more of it than this server takes."},
    {500, "Internal Server Error", "The server met something that it did not expect."},
    {503, "Service Unavailable", "The server is busy; try again in a moment."},
};

static void add_page(sb_buf *out, int status, sb_slice text) {
    const char *name = "Error";
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (pages[i].status != status) continue;
        name = pages[i].name;
        if (text.n == 0) text = sb_slice_str(pages[i].text);
    }
    sb_buf_printf(out, "<!doctype html>\n<html lang=en>\n<title>%d %s</title>\n<h1>%s</h1>\n<p>",
                  status, name, name);
    sb_compat_add_html(out, text);
    sb_buf_add_str(out, "</p>\n");
}

sb_status sb_compat_page(sb_http_reply *r, int status, sb_slice text) {
    sb_buf *out = begin_error_body(r, status);
    sb_http_type(r, "text/html; charset=utf-8");
    add_page(out, status, text);
    return SB_OK;
}

void sb_compat_error_page(sb_http_request *q, sb_http_reply *r, int status, const char *text,
                          void *app) {
    (void)q, (void)app;
    sb_buf *out = sb_http_body(r);
    if (status == 405 || status == 413 || status >= 500) {
        sb_http_type(r, "text/html; charset=utf-8");
        add_page(out, status, sb_slice_str(text));
        return;
    }
    sb_http_type(r, "text/plain; charset=utf-8");
    sb_buf_add_str(out, text);
}

/* ---- answers --------------------------------------------------------------------------------- */

void sb_compat_json_begin(sb_json *j, sb_http_reply *r) {
    sb_http_type(r, "application/json");
    sb_json_init(j, sb_http_body(r), &(sb_json_opts){.spaced = true});
}

sb_status sb_compat_json_end(sb_json *j, sb_http_reply *r) {
    return sb_json_finish(j, "the answer", sb_http_err(r));
}
