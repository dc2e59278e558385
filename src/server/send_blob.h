/* send_blob.h: sending bytes of a log: small ones from memory, large ones in pieces from the file,
 * so that a client that reads slowly holds no memory. Threads: no state. */
#ifndef SB_SERVER_SEND_BLOB_H
#define SB_SERVER_SEND_BLOB_H

#include "query/records/refs.h"
#include "server/app_int.h"

/* Where bytes stand: in a record that was read whole and found good. */
typedef struct sb_blob_place {
    sb_run *run;
    const sb_ref_item *item;
    sb_slice payload;     /* of the record */
    sb_arena_mark before; /* where the request's arena was before the record was read into it */
} sb_blob_place;

/* The body of the reply. A blob that does not stand in the payload is sent from memory. The record
 * and the blob are gone afterwards. */
void sb_send_blob(sb_http_request *q, sb_http_reply *r, sb_app *app, const sb_blob_place *place,
                  sb_slice blob);

#endif
