/* json_read.h: reads JSON by a cursor, one token a call; no tree. What is expected is asked for: an
 * answer of false means that something else stands there, or that the text is not JSON. */
#ifndef SB_CKPT_EXPORT_JSON_READ_H
#define SB_CKPT_EXPORT_JSON_READ_H

#include "base/buf.h"

typedef struct sb_json_cursor {
    const uint8_t *p, *end;
} sb_json_cursor;

/* Skips blanks, and one of '{', '}', '[', ']', ',' and ':' if it is next. */
bool sb_json_skip(sb_json_cursor *c, char token);
/* A string, unescaped, appended to out as UTF-8; half surrogate pairs are refused. */
bool sb_json_read_string(sb_json_cursor *c, sb_buf *out);
/* A whole number from 0 on, without exponent. */
bool sb_json_read_uint(sb_json_cursor *c, uint64_t *out);
/* Skips a value of any kind. */
bool sb_json_skip_value(sb_json_cursor *c, sb_buf *scratch);
/* Only blanks are left. */
bool sb_json_at_end(sb_json_cursor *c);

#endif
