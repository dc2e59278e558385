/* slice_key.c: numbers and names whose bytes sort as they do. */
#include "ckpt/bundle/slice_key.h"

#include "base/banned.h"

static void add_name(sb_buf *out, sb_slice name) {
    for (size_t i = 0; i < name.n; i++) {
        sb_buf_add_byte(out, name.p[i]);
        if (name.p[i] == 0x00) sb_buf_add_byte(out, 0xFF);
        if (name.p[i] == 0xFF) sb_buf_add_byte(out, 0x00);
    }
    sb_buf_add(out, "\x00\x01", 2);
}

static void add_unsigned(sb_buf *out, uint64_t x) {
    uint8_t bytes[8];
    size_t n = 0;
    for (; x; x >>= 8) bytes[7 - n++] = (uint8_t)x;
    sb_buf_add_byte(out, (uint8_t)n);
    sb_buf_add(out, bytes + 8 - n, n);
}

static void add_signed(sb_buf *out, int64_t x) {
    /* How many bytes: 7n - 1 bits beside the sign. */
    uint64_t magnitude = (uint64_t)(x < 0 ? ~x : x);
    size_t n = 1;
    while (n < 10 && (7 * n - 1 >= 64 ? 0 : magnitude >> (7 * n - 1))) n++;
    uint8_t bytes[10];
    for (size_t i = 0; i < n; i++) {
        size_t shift = 8 * (n - 1 - i);
        bytes[i] = (uint8_t)(shift >= 64 ? (x < 0 ? 0xFFu : 0u) : (uint64_t)x >> shift);
    }
    bytes[0] = (uint8_t)(bytes[0] ^ (n >= 8 ? 0xFF : 0xFF00u >> n));
    if (n > 8) bytes[1] = (uint8_t)(bytes[1] ^ (0xFF00u >> (n - 8)));
    sb_buf_add(out, bytes, n);
}

void sb_slice_key_add(sb_buf *out, sb_slice name, const int64_t *extents, uint32_t rank) {
    add_unsigned(out, 0);
    add_name(out, name);
    add_unsigned(out, rank);
    for (size_t i = 0; i < (size_t)rank * 2; i++) add_signed(out, extents[i]);
}
