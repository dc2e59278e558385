/* blob_key.h: the keys under which the compatible API serves pictures, clips and graphs.
 *
 * A key is what TensorBoard's own loader makes: base64 (with - and _, without padding) of the JSON
 * array [experiment, plugin, run, tag, step, index] without blanks, in ASCII. The form of its fast
 * loader, which lacks the plugin, is understood too. Threads: no state. */
#ifndef SB_SERVER_COMPAT_BLOB_KEY_H
#define SB_SERVER_COMPAT_BLOB_KEY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "server/compat/compat.h"

typedef struct sb_blob_key {
    sb_slice experiment, plugin, run, tag; /* plugin: .p is NULL when the key does not say */
    int64_t step;
    int64_t index;
} sb_blob_key;

/* Appends the key. */
void sb_blob_key_add(sb_buf *out, const sb_blob_key *key);
/* SB_INVALID when the text is no key; the slices are in the arena. */
sb_status sb_blob_key_read(sb_blob_key *out, sb_slice text, sb_arena *arena, sb_err *err);

/* Sends the bytes that a key names, with an entity tag that changes when they do, and so that a
 * browser never runs them. content_type NULL: the one that TensorBoard gives to such a picture.
 * SB_INVALID for a text that is no key, SB_NOT_FOUND, SB_REPLACED, ... */
sb_status sb_blob_key_send(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_slice text,
                           const char *plugin, const char *content_type);

#endif
