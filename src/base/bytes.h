/* bytes.h: fixed-size little-endian numbers at any alignment. */
#ifndef SB_BASE_BYTES_H
#define SB_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SB_LE16(x) (x)
#define SB_LE32(x) (x)
#define SB_LE64(x) (x)
#else
#define SB_LE16(x) __builtin_bswap16(x)
#define SB_LE32(x) __builtin_bswap32(x)
#define SB_LE64(x) __builtin_bswap64(x)
#endif

static inline uint16_t sb_load16(const void *p) {
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return (uint16_t)SB_LE16(x);
}

static inline uint32_t sb_load32(const void *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return SB_LE32(x);
}

static inline uint64_t sb_load64(const void *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return SB_LE64(x);
}

static inline void sb_store16(void *p, uint16_t x) {
    x = (uint16_t)SB_LE16(x);
    memcpy(p, &x, sizeof x);
}

static inline void sb_store32(void *p, uint32_t x) {
    x = SB_LE32(x);
    memcpy(p, &x, sizeof x);
}

static inline void sb_store64(void *p, uint64_t x) {
    x = SB_LE64(x);
    memcpy(p, &x, sizeof x);
}

static inline double sb_bits_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t sb_double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float sb_bits_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t sb_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
