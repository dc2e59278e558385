/* strings.h: arrays of strings as the data of a call.
 *
 * A single string is stored as it is; several as their lengths, 8 bytes each, and then their
 * bytes. */
#ifndef SB_WRITER_STRINGS_H
#define SB_WRITER_STRINGS_H

#include "writer/kinds/kinds.h"

typedef struct sb_packed_strings {
    sb_piece *pieces; /* for sb_call_put */
    size_t count;
    sb_piece single; /* what pieces points to when there is one string only */
    uint64_t *lengths;
} sb_packed_strings;

/* Checks an array of strings: shape, pointers, and UTF-8 when utf8 is true. On success free the
 * pieces with sb_strings_free. *out must not be moved in memory, since it may point into itself. */
sb_status sb_strings_pack(sb_writer *w, const char *what, const sb_array *strings, bool utf8,
                          sb_shape *shape, sb_packed_strings *out);
void sb_strings_free(sb_writer *w, sb_packed_strings *packed);

/* The reverse on the thread's side: an array whose elements are in the arena and whose bytes are in
 * data. SB_NOMEM or SB_OK. */
sb_status sb_strings_unpack(sb_arena *arena, const sb_shape *shape, sb_slice data, sb_array *out);

#endif
