/* picture_ref.h: one picture of a log as a request names it, and its bytes: shared by the routes
 * that look into pictures.
 *
 * A query names it by run=ID, tag=T, index=I (0 is the first picture of the step) and
 * at=OFFSET-CRC; the second picture of a comparison by the same keys with a 2 behind. Threads:
 * any. */
#ifndef SB_SERVER_API_PICTURE_REF_H
#define SB_SERVER_API_PICTURE_REF_H

#include "media/view/picture.h"
#include "query/records/refs.h"
#include "server/api/api.h"

#define SB_PICTURE_KEY 96 /* room for the name of a picture, as a part of keys and entity tags */

/* Pixels of a picture that is scaled while it is read, and those that may be in memory at once. */
#define SB_PICTURE_PIXELS ((uint64_t)1 << 29)
#define SB_PICTURE_HELD ((uint64_t)1 << 23)

typedef struct sb_picture_ref {
    uint32_t run;
    sb_slice tag;
    uint64_t offset;
    uint32_t crc;
    uint32_t index;
} sb_picture_ref;

/* False when the query names none; the reply says so. suffix is "" or "2". */
bool sb_picture_ref_read(sb_picture_ref *out, sb_http_request *q, sb_http_reply *r,
                         const char *suffix);
/* Reads "OFFSET-CRC". */
bool sb_picture_ref_at(sb_slice text, uint64_t *offset, uint32_t *crc);
/* Names the bytes, for keys of caches and entity tags. */
size_t sb_picture_ref_name(char out[SB_PICTURE_KEY], const sb_picture_ref *ref);

/* The bytes of the picture, in the request's arena. SB_END: they are not there, and the reply says
 * so. */
sb_status sb_picture_ref_bytes(const sb_picture_ref *ref, sb_http_request *q, sb_http_reply *r,
                               sb_app *app, sb_slice *out);

/* Decodes it. SB_END: that is not possible, and the reply says why. */
sb_status sb_picture_ref_decode(sb_picture *out, sb_slice bytes, uint32_t box, uint32_t frame,
                                sb_http_request *q, sb_http_reply *r);

/* ---- what is made of pictures ---------------------------------------------------------------- */

/* Appends what was made before under this key. False when it has to be made: the caller does so and
 * calls sb_made_keep, with no bytes when that failed; other requests for it wait until then. */
bool sb_made_find(sb_app *app, sb_http_request *q, sb_slice key, sb_buf *out);
void sb_made_keep(sb_app *app, sb_slice key, sb_slice bytes);
/* The body is a PNG, named by its key, that never changes. */
sb_status sb_made_send_png(sb_http_reply *r, sb_slice key);
/* Appends the picture as a PNG: without alpha where it is opaque. */
sb_status sb_made_png(sb_buf *out, const sb_picture *picture, sb_http_request *q, sb_err *err);

#endif
