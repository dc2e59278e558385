/* sniff.h: detects the media type of a blob from its bytes, never from what the log says about it.
 * Input is hostile and may be truncated anywhere; a prefix of a few kilobytes is enough for
 * everything but the size of some JPEG files. Threads: no state. Cost: no allocation; a few
 * comparisons, and for a JPEG's size a walk over its markers. */
#ifndef SB_MEDIA_SNIFF_H
#define SB_MEDIA_SNIFF_H

#include "base/status.h"
#include "seaboard/types.h"

/* name, content type, the content type that TensorBoard uses when the blob is in an image
 * summary */
#define SB_MEDIA_MAP(X)                                                                            \
    X(UNKNOWN, "application/octet-stream", "application/octet-stream")                             \
    X(PNG, "image/png", "image/png")                                                               \
    X(JPEG, "image/jpeg", "image/jpeg")                                                            \
    X(GIF, "image/gif", "image/gif")                                                               \
    X(BMP, "image/bmp", "image/bmp")                                                               \
    X(WEBP, "image/webp", "application/octet-stream")                                              \
    X(SVG, "image/svg+xml", "application/octet-stream")                                            \
    X(WAV, "audio/wav", "application/octet-stream")                                                \
    X(MP3, "audio/mpeg", "application/octet-stream")                                               \
    X(OGG, "audio/ogg", "application/octet-stream")                                                \
    X(FLAC, "audio/flac", "application/octet-stream")                                              \
    X(M4A, "audio/mp4", "application/octet-stream")                                                \
    X(MP4, "video/mp4", "application/octet-stream")                                                \
    X(AVIF, "image/avif", "application/octet-stream")

#define SB_MEDIA_ENUM(name, type, in_tensorboard) SB_MEDIA_##name,
typedef enum sb_media { SB_MEDIA_MAP(SB_MEDIA_ENUM) } sb_media;
#undef SB_MEDIA_ENUM

/* SB_MEDIA_UNKNOWN for everything else, and for a prefix that is too short. An SVG can contain
 * scripts: code that serves one with its content type must forbid scripts. */
sb_media sb_media_sniff(sb_slice bytes);

/* Static text; numbers outside the table count as unknown. */
const char *sb_media_type(sb_media media);
const char *sb_media_type_in_tensorboard(sb_media media);

/* Width and height of a PNG, JPEG, GIF, BMP or WebP picture as its header claims them: a hint for
 * layout, and no promise that the picture can be decoded. Both are 1 or more on success.
 *   SB_MORE       the bytes end before the size is known
 *   SB_CORRUPT    the header contradicts itself, or the picture would have no pixels
 *   SB_NOT_FOUND  no such picture */
sb_status sb_media_picture_size(uint32_t *width, uint32_t *height, sb_slice bytes, sb_err *err);

#endif
