/* base64.h: bytes as base64 text and back (RFC 4648). */
#ifndef SB_BASE_TEXT_BASE64_H
#define SB_BASE_TEXT_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

typedef enum sb_base64_kind {
    SB_BASE64,     /* with + and /, padded with = */
    SB_BASE64_URL, /* with - and _, without padding: fit for a URL */
} sb_base64_kind;

/* Appends the text of `data`. */
void sb_base64_add(sb_buf *out, sb_slice data, sb_base64_kind kind);

/* Appends the bytes that `text` stands for. Both alphabets are read, mixed too, and padding may be
 * missing; false, with nothing appended, when there is any other character, when the length is
 * impossible, or when the buffer failed. */
bool sb_base64_read(sb_buf *out, sb_slice text);

#endif
