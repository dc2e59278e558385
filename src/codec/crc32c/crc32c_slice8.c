/* crc32c_slice8.c: eight bytes a step with eight tables, for processors without an instruction for
 * this checksum. Table k tells what a byte becomes that has k more bytes behind it in the step. */
#include "base/bytes.h"
#include "codec/crc32c/crc32c.h"
#include "base/banned.h"

/* One table from its eight bytes with a single bit; see crc32c_ref.c for why that is enough. */
#define E1(i, a, b, c, d, e, f, g, h)                                                              \
    (((i)&1 ? a : 0) ^ ((i)&2 ? b : 0) ^ ((i)&4 ? c : 0) ^ ((i)&8 ? d : 0) ^ ((i)&16 ? e : 0) ^    \
     ((i)&32 ? f : 0) ^ ((i)&64 ? g : 0) ^ ((i)&128 ? h : 0))
#define E4(i, ...)                                                                                 \
    E1(i, __VA_ARGS__), E1((i) + 1, __VA_ARGS__), E1((i) + 2, __VA_ARGS__), E1((i) + 3, __VA_ARGS__)
#define E16(i, ...)                                                                                \
    E4(i, __VA_ARGS__), E4((i) + 4, __VA_ARGS__), E4((i) + 8, __VA_ARGS__),                        \
        E4((i) + 12, __VA_ARGS__)
#define E64(i, ...)                                                                                \
    E16(i, __VA_ARGS__), E16((i) + 16, __VA_ARGS__), E16((i) + 32, __VA_ARGS__),                   \
        E16((i) + 48, __VA_ARGS__)
#define ROW(...)                                                                                   \
    { E64(0, __VA_ARGS__), E64(64, __VA_ARGS__), E64(128, __VA_ARGS__), E64(192, __VA_ARGS__) }

static const uint32_t table[8][256] = {
    ROW(0xF26B8303u, 0xE13B70F7u, 0xC79A971Fu, 0x8AD958CFu, 0x105EC76Fu, 0x20BD8EDEu, 0x417B1DBCu,
        0x82F63B78u),
    ROW(0x13A29877u, 0x274530EEu, 0x4E8A61DCu, 0x9D14C3B8u, 0x3FC5F181u, 0x7F8BE302u, 0xFF17C604u,
        0xFBC3FAF9u),
    ROW(0xA541927Eu, 0x4F6F520Du, 0x9EDEA41Au, 0x38513EC5u, 0x70A27D8Au, 0xE144FB14u, 0xC76580D9u,
        0x8B277743u),
    ROW(0xDD45AAB8u, 0xBF672381u, 0x7B2231F3u, 0xF64463E6u, 0xE964B13Du, 0xD725148Bu, 0xABA65FE7u,
        0x52A0C93Fu),
    ROW(0x38116FACu, 0x7022DF58u, 0xE045BEB0u, 0xC5670B91u, 0x8F2261D3u, 0x1BA8B557u, 0x37516AAEu,
        0x6EA2D55Cu),
    ROW(0xEF306B19u, 0xDB8CA0C3u, 0xB2F53777u, 0x6006181Fu, 0xC00C303Eu, 0x85F4168Du, 0x0E045BEBu,
        0x1C08B7D6u),
    ROW(0x68032CC8u, 0xD0065990u, 0xA5E0C5D1u, 0x4E2DFD53u, 0x9C5BFAA6u, 0x3D5B83BDu, 0x7AB7077Au,
        0xF56E0EF4u),
    ROW(0x493C7D27u, 0x9278FA4Eu, 0x211D826Du, 0x423B04DAu, 0x847609B4u, 0x0D006599u, 0x1A00CB32u,
        0x34019664u),
};

static uint32_t slice8(uint32_t crc, const void *p, size_t n) {
    const uint8_t *byte = p;
    crc = ~crc;
    for (; n >= 8; n -= 8, byte += 8) {
        uint64_t x = sb_load64(byte) ^ crc;
        crc = table[7][x & 0xFF] ^ table[6][x >> 8 & 0xFF] ^ table[5][x >> 16 & 0xFF] ^
              table[4][x >> 24 & 0xFF] ^ table[3][x >> 32 & 0xFF] ^ table[2][x >> 40 & 0xFF] ^
              table[1][x >> 48 & 0xFF] ^ table[0][x >> 56];
    }
    for (; n; n--) crc = crc >> 8 ^ table[0][(crc ^ *byte++) & 0xFF];
    return ~crc;
}

sb_crc32c_fn sb_crc32c_slice8_kernel(void) {
    return slice8;
}
