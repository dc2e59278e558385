/* base64.c: see base64.h. Three bytes are four digits of six bits, most significant first. */
#include "base/text/base64.h"

#include "base/checked.h"
#include "base/banned.h"

static const char digits[2][65] = {
    [SB_BASE64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [SB_BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

void sb_base64_add(sb_buf *out, sb_slice data, sb_base64_kind kind) {
    size_t n = data.n / 3, left = data.n % 3;
    size_t last = left == 0 ? 0 : kind == SB_BASE64 ? 4 : left + 1, room;
    if (!sb_mul_size(&room, n, 4) || !sb_add_size(&room, room, last)) room = SIZE_MAX;
    if (room == 0 || !sb_buf_reserve(out, room)) return;
    const char *digit = digits[kind];
    const uint8_t *p = data.p;
    uint8_t *to = out->p + out->n;
    for (size_t i = 0; i < n; i++, p += 3, to += 4) {
        uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        for (int k = 0; k < 4; k++) to[k] = (uint8_t)digit[bits >> (18 - 6 * k) & 63];
    }
    if (left) {
        uint32_t bits = (uint32_t)p[0] << 16 | (left == 2 ? (uint32_t)p[1] << 8 : 0);
        for (size_t k = 0; k <= left; k++) *to++ = (uint8_t)digit[bits >> (18 - 6 * k) & 63];
        for (size_t k = left; kind == SB_BASE64 && k < 3; k++) *to++ = '=';
    }
    out->n = (size_t)(to - out->p);
}

static int value_of_digit(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '-' || c == '+') return 62;
    return c == '_' || c == '/' ? 63 : -1;
}

bool sb_base64_read(sb_buf *out, sb_slice text) {
    while (text.n && text.p[text.n - 1] == '=') text.n--;
    if (text.n == 0) return true;
    if (text.n % 4 == 1 || !sb_buf_reserve(out, text.n / 4 * 3 + text.n % 4 * 3 / 4)) return false;
    uint8_t *to = out->p + out->n;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.n; i++) {
        int value = value_of_digit(text.p[i]);
        if (value < 0) return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4) *to++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    out->n = (size_t)(to - out->p);
    return true;
}
