/* picture_size.c: where each kind of picture says how large it is.
 *
 *   PNG   16 u32 width, 20 u32 height, big-endian, behind 8 u32 13, 12 "IHDR"
 *   GIF    6 u16 width,  8 u16 height, little-endian
 *   BMP   14 u32 header size; 12: 18 u16, 20 u16; else 18 i32 width, 22 i32 height, which is
 *         negative when rows go down; little-endian
 *   WEBP  12 "VP8 ": 20 frame tag of 3, 23 9d 01 2a, 26 u16 and 28 u16, of which 14 bits count
 *         12 "VP8L": 20 2f, 21 14 bits of width - 1, then 14 bits of height - 1
 *         12 "VP8X": 24 u24 width - 1, 27 u24 height - 1; little-endian
 *   JPEG  markers ff xx with u16 length (itself included) from 2 on; the first start of frame
 *         (c0..cf without c4, c8, cc) has 4 u8 depth, 5 u16 height, 7 u16 width, big-endian */
#include <stdbool.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "media/sniff.h"
#include "base/banned.h"

struct size {
    uint32_t width, height;
};

static uint32_t be16(const uint8_t *p) {
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p) {
    return be16(p) << 16 | be16(p + 2);
}

static uint32_t le24(const uint8_t *p) {
    return sb_load16(p) | (uint32_t)p[2] << 16;
}

static sb_status png_size(struct size *size, sb_slice b) {
    if (b.n < 24) return SB_MORE;
    if (be32(b.p + 8) != 13 || memcmp(b.p + 12, "IHDR", 4) != 0) return SB_CORRUPT;
    *size = (struct size){be32(b.p + 16), be32(b.p + 20)};
    return SB_OK;
}

static sb_status gif_size(struct size *size, sb_slice b) {
    if (b.n < 10) return SB_MORE;
    *size = (struct size){sb_load16(b.p + 6), sb_load16(b.p + 8)};
    return SB_OK;
}

static sb_status bmp_size(struct size *size, sb_slice b) {
    bool is_old = sb_load32(b.p + 14) == 12;
    if (b.n < (is_old ? 22u : 26u)) return SB_MORE;
    if (is_old) {
        *size = (struct size){sb_load16(b.p + 18), sb_load16(b.p + 20)};
        return SB_OK;
    }
    uint32_t height = sb_load32(b.p + 22);
    *size = (struct size){sb_load32(b.p + 18), height > INT32_MAX ? 0u - height : height};
    return SB_OK;
}

static sb_status webp_size(struct size *size, sb_slice b) {
    if (b.n < 30) return SB_MORE;
    const uint8_t *p = b.p;
    if (memcmp(p + 12, "VP8X", 4) == 0) {
        *size = (struct size){le24(p + 24) + 1, le24(p + 27) + 1};
    } else if (memcmp(p + 12, "VP8L", 4) == 0 && p[20] == 0x2f) {
        uint32_t bits = sb_load32(p + 21);
        *size = (struct size){(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
    } else if (memcmp(p + 12, "VP8 ", 4) == 0 && memcmp(p + 23, "\x9d\x01\x2a", 3) == 0) {
        *size = (struct size){sb_load16(p + 26) & 0x3fffu, sb_load16(p + 28) & 0x3fffu};
    } else {
        return SB_CORRUPT;
    }
    return SB_OK;
}

static bool is_start_of_frame(uint8_t marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool stands_alone(uint8_t marker) {
    return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

/* Stray bytes between markers are skipped, as decoders do. */
static sb_status jpeg_size(struct size *size, sb_slice b) {
    size_t at = 2;
    for (;;) {
        while (at < b.n && b.p[at] != 0xff) at++;
        while (at < b.n && b.p[at] == 0xff) at++;
        if (at >= b.n) return SB_MORE;
        uint8_t marker = b.p[at++];
        if (marker == 0 || stands_alone(marker)) continue;
        if (marker == 0xd9 || marker == 0xda)
            return SB_CORRUPT; /* end of image, or start of the scan: no size can follow */
        if (b.n - at < 2) return SB_MORE;
        size_t length = be16(b.p + at);
        if (length < 2) return SB_CORRUPT;
        if (is_start_of_frame(marker)) {
            if (length < 8) return SB_CORRUPT;
            if (b.n - at < 7) return SB_MORE;
            *size = (struct size){be16(b.p + at + 5), be16(b.p + at + 3)};
            return SB_OK;
        }
        at += length; /* may be past the end; the next search for a marker notices that */
    }
}

/* Could more bytes make this one of the pictures above? */
static bool may_become_picture(sb_slice b) {
    static const struct {
        const char *text;
        size_t n;
    } begins[] = {
        {"\x89PNG\r\n\x1a\n", 8},
        {"\xff\xd8\xff", 3},
        {"GIF87a", 6},
        {"GIF89a", 6},
        {"RIFF", 4},
        {"BM", 2},
    };
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        size_t n = b.n < begins[i].n ? b.n : begins[i].n;
        if (n > 0 && memcmp(b.p, begins[i].text, n) != 0) continue;
        if (begins[i].text[0] == 'B') return b.n < 18; /* the header's size decides */
        if (begins[i].text[0] != 'R') return true;
        size_t more = b.n > 12 ? 4 : b.n > 8 ? b.n - 8 : 0;
        return more == 0 || memcmp(b.p + 8, "WEBP", more) == 0;
    }
    return false;
}

sb_status sb_media_picture_size(uint32_t *width, uint32_t *height, sb_slice bytes, sb_err *err) {
    struct size size = {0, 0};
    sb_status status;
    sb_media media = sb_media_sniff(bytes);
    switch (media) {
    case SB_MEDIA_PNG:
        status = png_size(&size, bytes);
        break;
    case SB_MEDIA_JPEG:
        status = jpeg_size(&size, bytes);
        break;
    case SB_MEDIA_GIF:
        status = gif_size(&size, bytes);
        break;
    case SB_MEDIA_BMP:
        status = bmp_size(&size, bytes);
        break;
    case SB_MEDIA_WEBP:
        status = webp_size(&size, bytes);
        break;
    default:
        if (media == SB_MEDIA_UNKNOWN && may_become_picture(bytes)) return SB_MORE;
        return sb_fail(err, SB_NOT_FOUND, 0, "no picture of a known kind");
    }
    if (status == SB_MORE) return SB_MORE;
    if (status != SB_OK || size.width == 0 || size.height == 0 || size.width > INT32_MAX ||
        size.height > INT32_MAX) {
        return sb_fail(err, SB_CORRUPT, 0, "%s: the header gives no sensible size",
                       sb_media_type(media));
    }
    *width = size.width;
    *height = size.height;
    return SB_OK;
}
