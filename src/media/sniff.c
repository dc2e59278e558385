/* sniff.c: the first bytes of each kind.
 *
 *   PNG   89 50 4e 47 0d 0a 1a 0a      JPEG  ff d8 ff           GIF   "GIF87a" or "GIF89a"
 *   BMP   "BM", and at 14 the u32 size of a header that exists  WEBP  "RIFF" size "WEBP"
 *   WAV   "RIFF" size "WAVE"           OGG   "OggS"             FLAC  "fLaC"
 *   MP3   "ID3", or the 32-bit header of an MPEG layer 3 frame
 *   MP4   u32 size below 65536, "ftyp", brand: "M4A " is sound, "avif" a picture, other still
 *         pictures are unknown
 *   SVG   "<svg" behind any white space, XML declaration, comments and document type */
#include "media/sniff.h"

#include <stdbool.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "base/banned.h"

enum { svg_window = 4096 };

static bool has_at(sb_slice bytes, size_t at, const char *text, size_t n) {
    return bytes.n >= at && bytes.n - at >= n && memcmp(bytes.p + at, text, n) == 0;
}
#define HAS(bytes, at, literal) has_at(bytes, at, literal, sizeof(literal) - 1)

static bool is_bmp(sb_slice b) {
    static const uint8_t header_sizes[] = {12, 40, 52, 56, 64, 108, 124};
    if (b.n < 18 || !HAS(b, 0, "BM")) return false;
    uint32_t size = sb_load32(b.p + 14);
    return size <= UINT8_MAX && memchr(header_sizes, (int)size, sizeof header_sizes);
}

/* 11 sync bits, version not reserved, layer 3, bit rate and sample rate neither free nor bad. */
static bool is_mp3_frame(sb_slice b) {
    if (b.n < 4 || b.p[0] != 0xff || (b.p[1] & 0xe0) != 0xe0) return false;
    unsigned version = b.p[1] >> 3 & 3, layer = b.p[1] >> 1 & 3;
    unsigned bit_rate = b.p[2] >> 4, sample_rate = b.p[2] >> 2 & 3;
    return version != 1 && layer == 1 && bit_rate != 0 && bit_rate != 15 && sample_rate != 3;
}

static sb_media iso_media(sb_slice b) {
    static const char still[][5] = {"heic", "heix", "hevc", "mif1", "msf1"};
    if (!HAS(b, 0, "\0\0") || !HAS(b, 4, "ftyp") || b.n < 12) return SB_MEDIA_UNKNOWN;
    if (HAS(b, 8, "avif") || HAS(b, 8, "avis")) return SB_MEDIA_AVIF;
    for (size_t i = 0; i < sizeof still / sizeof still[0]; i++) {
        if (has_at(b, 8, still[i], 4)) return SB_MEDIA_UNKNOWN;
    }
    return HAS(b, 8, "M4A ") ? SB_MEDIA_M4A : SB_MEDIA_MP4;
}

/* The rest after the next occurrence of the text; empty when there is none. */
static size_t after_text(sb_slice b, size_t at, const char *text) {
    const uint8_t *p = memmem(b.p + at, b.n - at, text, strlen(text));
    return p ? (size_t)(p - b.p) + strlen(text) : b.n;
}

static bool is_svg(sb_slice b) {
    if (b.n > svg_window) b.n = svg_window;
    size_t at = HAS(b, 0, "\xef\xbb\xbf") ? 3 : 0;
    for (;;) {
        while (at < b.n && memchr(" \t\r\n", b.p[at], 4)) at++;
        if (HAS(b, at, "<?")) {
            at = after_text(b, at, "?>");
        } else if (HAS(b, at, "<!--")) {
            at = after_text(b, at, "-->");
        } else if (HAS(b, at, "<!DOCTYPE svg")) {
            at = after_text(b, at, ">");
        } else {
            break;
        }
    }
    return HAS(b, at, "<svg") && b.n - at > 4 && memchr(" \t\r\n/>", b.p[at + 4], 6);
}

sb_media sb_media_sniff(sb_slice bytes) {
    if (HAS(bytes, 0, "\x89PNG\r\n\x1a\n")) return SB_MEDIA_PNG;
    if (HAS(bytes, 0, "\xff\xd8\xff")) return SB_MEDIA_JPEG;
    if (HAS(bytes, 0, "GIF87a") || HAS(bytes, 0, "GIF89a")) return SB_MEDIA_GIF;
    if (is_bmp(bytes)) return SB_MEDIA_BMP;
    if (HAS(bytes, 0, "RIFF") && HAS(bytes, 8, "WEBP")) return SB_MEDIA_WEBP;
    if (HAS(bytes, 0, "RIFF") && HAS(bytes, 8, "WAVE")) return SB_MEDIA_WAV;
    if (HAS(bytes, 0, "OggS")) return SB_MEDIA_OGG;
    if (HAS(bytes, 0, "fLaC")) return SB_MEDIA_FLAC;
    if (HAS(bytes, 0, "ID3") || is_mp3_frame(bytes)) return SB_MEDIA_MP3;
    sb_media iso = iso_media(bytes);
    if (iso != SB_MEDIA_UNKNOWN) return iso;
    return is_svg(bytes) ? SB_MEDIA_SVG : SB_MEDIA_UNKNOWN;
}

struct types {
    const char *type, *in_tensorboard;
};

static struct types types_of(sb_media media) {
#define TYPES(name, type, in_tensorboard) {type, in_tensorboard},
    static const struct types table[] = {SB_MEDIA_MAP(TYPES)};
#undef TYPES
    size_t i = (size_t)media;
    return table[i < sizeof table / sizeof table[0] ? i : SB_MEDIA_UNKNOWN];
}

const char *sb_media_type(sb_media media) {
    return types_of(media).type;
}

const char *sb_media_type_in_tensorboard(sb_media media) {
    return types_of(media).in_tensorboard;
}
