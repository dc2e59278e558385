/* utf8.c: validation after the table of well-formed byte sequences in the Unicode standard. */
#include "base/text/utf8.h"

#include "base/bytes.h"
#include "base/slice.h"
#include "base/banned.h"

static bool in(uint8_t byte, uint8_t low, uint8_t high) {
    return byte >= low && byte <= high;
}

size_t sb_utf8_char(sb_slice s) {
    if (s.n == 0) return 0;
    const uint8_t *p = s.p;
    uint8_t lead = p[0];
    if (lead < 0x80) return 1;
    if (in(lead, 0xC2, 0xDF)) return s.n >= 2 && in(p[1], 0x80, 0xBF) ? 2 : 0;
    if (in(lead, 0xE0, 0xEF)) {
        if (s.n < 3) return 0;
        uint8_t low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
        return in(p[1], low, high) && in(p[2], 0x80, 0xBF) ? 3 : 0;
    }
    if (in(lead, 0xF0, 0xF4)) {
        if (s.n < 4) return 0;
        uint8_t low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
        return in(p[1], low, high) && in(p[2], 0x80, 0xBF) && in(p[3], 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/* How many bytes from the start are valid. */
static size_t valid_prefix(sb_slice s) {
    size_t i = 0;
    while (i < s.n) {
        if (s.n - i >= 8 && (sb_load64(s.p + i) & 0x8080808080808080u) == 0) {
            i += 8;
            continue;
        }
        size_t n = sb_utf8_char(sb_slice_of(s.p + i, s.n - i));
        if (n == 0) break;
        i += n;
    }
    return i;
}

bool sb_utf8_valid(sb_slice s) {
    return valid_prefix(s) == s.n;
}

bool sb_utf8_add(sb_buf *out, uint32_t c) {
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
    if (c < 0x80) {
        sb_buf_add_byte(out, (uint8_t)c);
        return true;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    sb_buf_add_byte(out, (uint8_t)(lead[more] | c >> (6 * more)));
    for (int i = more - 1; i >= 0; i--)
        sb_buf_add_byte(out, (uint8_t)(0x80 | (c >> (6 * i) & 0x3F)));
    return true;
}

static void replace_invalid(sb_buf *out, sb_slice s, bool with_digits) {
    static const char digits[] = "0123456789abcdef";
    for (;;) {
        size_t n = valid_prefix(s);
        sb_buf_add(out, s.p, n);
        if (n == s.n) return;
        sb_buf_add(out, "\xEF\xBF\xBD", 3);
        if (with_digits) {
            sb_buf_add_byte(out, (uint8_t)digits[s.p[n] >> 4]);
            sb_buf_add_byte(out, (uint8_t)digits[s.p[n] & 15]);
        }
        s = sb_slice_of(s.p + n + 1, s.n - n - 1);
    }
}

void sb_utf8_repair(sb_buf *out, sb_slice s) {
    replace_invalid(out, s, false);
}

void sb_utf8_spell(sb_buf *out, sb_slice s) {
    replace_invalid(out, s, true);
}
