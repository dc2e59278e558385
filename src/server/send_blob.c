/* send_blob.c: memory or file. */
#include "server/send_blob.h"

#include "codec/record.h"
#include "query/records/blob.h"
#include "base/banned.h"

#define FROM_FILE ((size_t)1 << 20) /* larger ones are */

void sb_send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app, const sb_blob_place *place,
                  sb_slice blob) {
    const uint8_t *begin = place->payload.p;
    bool is_inside =
        blob.n > FROM_FILE && blob.p >= begin && blob.p + blob.n <= begin + place->payload.n;
    int fd =
        is_inside ? sb_blob_open_file(app->blobs, place->run, place->item->file, q->arena) : -1;
    if (fd < 0) {
        sb_http_lend(r, blob, NULL, NULL);
        return;
    }
    uint64_t offset = place->item->ref.offset + SB_RECORD_HEADER + (uint64_t)(blob.p - begin);
    sb_http_take_file(r, fd, offset, blob.n);
    sb_arena_reset(q->arena, place->before);
}
