/* crc32c_ref.c: the checksum as the book has it, one byte a step. It is the reference that the fast
 * kernels are compared with and is not meant to be fast.
 *
 * The polynomial is 0x1EDC6F41, here with the bits reflected: 0x82F63B78. The register starts as
 * all ones and is inverted at the end. */
#include "codec/crc32c/crc32c.h"
#include "base/banned.h"

/* What eight steps of the register make of a byte is linear over XOR, so the eight bytes with a
 * single bit give all 256 entries. BIT7 is the polynomial itself. */
#define BIT0 0xF26B8303u
#define BIT1 0xE13B70F7u
#define BIT2 0xC79A971Fu
#define BIT3 0x8AD958CFu
#define BIT4 0x105EC76Fu
#define BIT5 0x20BD8EDEu
#define BIT6 0x417B1DBCu
#define BIT7 0x82F63B78u

#define E1(i)                                                                                      \
    (((i)&1 ? BIT0 : 0) ^ ((i)&2 ? BIT1 : 0) ^ ((i)&4 ? BIT2 : 0) ^ ((i)&8 ? BIT3 : 0) ^           \
     ((i)&16 ? BIT4 : 0) ^ ((i)&32 ? BIT5 : 0) ^ ((i)&64 ? BIT6 : 0) ^ ((i)&128 ? BIT7 : 0))
#define E4(i) E1(i), E1((i) + 1), E1((i) + 2), E1((i) + 3)
#define E16(i) E4(i), E4((i) + 4), E4((i) + 8), E4((i) + 12)
#define E64(i) E16(i), E16((i) + 16), E16((i) + 32), E16((i) + 48)

static const uint32_t table[256] = {E64(0), E64(64), E64(128), E64(192)};

uint32_t sb_crc32c_ref(uint32_t crc, const void *p, size_t n) {
    const uint8_t *byte = p;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) crc = crc >> 8 ^ table[(crc ^ byte[i]) & 0xFF];
    return ~crc;
}
