/* status.c: the status table and the making of error texts. Nothing here allocates. */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

#define NAME_ROW(name, text, exit_code, meaning) text,
#define MEANING_ROW(name, text, exit_code, meaning) meaning,
#define EXIT_ROW(name, text, exit_code, meaning) exit_code,

static const char *const names[] = {SB_STATUS_MAP(NAME_ROW)};
static const char *const meanings[] = {SB_STATUS_MAP(MEANING_ROW)};
static const int exit_codes[] = {SB_STATUS_MAP(EXIT_ROW)};

static int is_known(sb_status status) {
    return (size_t)status < sizeof exit_codes / sizeof exit_codes[0];
}

const char *sb_status_name(sb_status status) {
    return is_known(status) ? names[status] : "unknown";
}

const char *sb_status_meaning(sb_status status) {
    return is_known(status) ? meanings[status] : "unknown";
}

int sb_status_exit_code(sb_status status) {
    return is_known(status) ? exit_codes[status] : 1;
}

static void make_printable(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f) *c = '?';
}

/* Cuts a multi-byte character that vsnprintf may have split at the end of the buffer. */
static void trim_split_character(char *text, size_t n) {
    size_t i = n;
    while (i > 0 && n - i < 4 && ((unsigned char)text[i - 1] & 0xC0) == 0x80) i--;
    if (i == 0) return;
    unsigned char lead = (unsigned char)text[i - 1];
    size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (n - (i - 1) < want) text[i - 1] = '\0';
}

__attribute__((format(printf, 4, 0))) static void fill(sb_err *err, sb_status code, uint64_t offset,
                                                       const char *format, va_list args) {
    err->code = code;
    err->offset = offset;
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    if (n >= (int)sizeof err->text) trim_split_character(err->text, sizeof err->text - 1);
    make_printable(err->text);
}

sb_status sb_fail(sb_err *err, sb_status code, uint64_t offset, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, offset, format, args);
        va_end(args);
    }
    return code;
}

sb_status sb_fail_errno(sb_err *err, sb_status code, int error_number, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, 0, format, args);
        va_end(args);
        char reason[128];
        /* GNU strerror_r: returns the text, which may or may not be in the buffer. */
        const char *text = strerror_r(error_number, reason, sizeof reason);
        /* When both do not fit, the path is cut and the system's reason is kept. */
        size_t reason_size = strnlen(text, sizeof reason) + 2;
        size_t used = strlen(err->text);
        if (used > sizeof err->text - 1 - reason_size) {
            used = sizeof err->text - 1 - reason_size;
            err->text[used] = '\0';
            trim_split_character(err->text, used);
            used = strlen(err->text);
        }
        snprintf(err->text + used, sizeof err->text - used, ": %s", text);
    }
    return code;
}

sb_status sb_fail_nomem(sb_err *err, const char *what) {
    return sb_fail(err, SB_NOMEM, 0, "out of memory %s", what);
}
