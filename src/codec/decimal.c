/* decimal.c: floating-point numbers as decimal text and back.
 *
 * The C library does the arithmetic. It writes and reads the locale's decimal point, so every text
 * is changed between that and '.' on the way. */
#include "codec/decimal_int.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { TEXT_ROOM = 64, NUMBER_ROOM = 1024 };

/* Digits and exponent of x: d.ddd... times ten to the exponent. */
typedef struct digits {
    char digit[20];
    int count;
    int exponent;
    bool negative;
} digits;

/* Takes "-d.ddde-xx" apart, whatever the point looks like. */
static digits split(const char *text) {
    digits d = {.negative = *text == '-'};
    const char *p = text + d.negative;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && d.count < (int)sizeof d.digit) d.digit[d.count++] = *p;
    if (*p == 'e') d.exponent = (int)strtol(p + 1, NULL, 10);
    while (d.count > 1 && d.digit[d.count - 1] == '0') d.count--;
    return d;
}

static void add_digits(sb_buf *out, const digits *d) {
    if (d->negative) sb_buf_add_byte(out, '-');
    if (d->exponent < -4 || d->exponent >= 16) {
        sb_buf_add(out, d->digit, 1);
        if (d->count > 1) sb_buf_add_byte(out, '.');
        sb_buf_add(out, d->digit + 1, (size_t)d->count - 1);
        sb_buf_printf(out, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
        return;
    }
    int at = 0;
    if (d->exponent < 0) sb_buf_add_byte(out, '0');
    for (; at <= d->exponent; at++)
        sb_buf_add_byte(out, at < d->count ? (uint8_t)d->digit[at] : '0');
    sb_buf_add_byte(out, '.');
    for (int i = d->exponent + 1; i < 0; i++) sb_buf_add_byte(out, '0');
    if (at >= d->count) sb_buf_add_byte(out, '0');
    for (; at < d->count; at++) sb_buf_add_byte(out, (uint8_t)d->digit[at]);
}

void sb_decimal_add_double(sb_buf *out, double x) {
    char text[TEXT_ROOM];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, x);
        if (precision == 16 || strtod(text, NULL) == x) break;
    }
    digits d = split(text);
    add_digits(out, &d);
}

void sb_decimal_add_float(sb_buf *out, float x) {
    char text[TEXT_ROOM];
    for (int precision = 0; precision <= 8; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, (double)x);
        if (precision == 8 || strtof(text, NULL) == x) break;
    }
    digits d = split(text);
    add_digits(out, &d);
}

/* Copies a decimal number with the locale's point; false when it is not one or has no room. */
static bool localise(sb_slice text, char *to, size_t room) {
    const char *point = localeconv()->decimal_point;
    size_t point_size = strlen(point), n = 0, i = 0;
    size_t digit_count = 0;
    bool seen_point = false, seen_exponent = false;
    for (; i < text.n; i++) {
        char c = (char)text.p[i];
        if (n + point_size + 1 > room) return false;
        if (c == '.' && !seen_point && !seen_exponent) {
            memcpy(to + n, point, point_size);
            n += point_size;
            seen_point = true;
            continue;
        }
        if (c >= '0' && c <= '9')
            digit_count++;
        else if ((c == 'e' || c == 'E') && digit_count && !seen_exponent) {
            seen_exponent = true;
            digit_count = 0; /* the exponent needs digits of its own */
        } else if (c == '-' || c == '+') {
            bool at_start = i == 0 || text.p[i - 1] == 'e' || text.p[i - 1] == 'E';
            if (!at_start) return false;
        } else
            return false;
        to[n++] = c;
    }
    to[n] = 0;
    return digit_count > 0;
}

bool sb_decimal_parse(sb_slice text, double *out) {
    char number[NUMBER_ROOM];
    if (!localise(text, number, sizeof number)) return false;
    *out = strtod(number, NULL);
    return true;
}

bool sb_decimal_parse_float(sb_slice text, float *out) {
    char number[NUMBER_ROOM];
    if (!localise(text, number, sizeof number)) return false;
    *out = strtof(number, NULL);
    return true;
}
