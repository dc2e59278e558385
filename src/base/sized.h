/* sized.h: reads and writes structs of the public interface that may grow.
 *
 * Such a struct begins with its size as the caller's compiler saw it (seaboard/types.h, SB_INIT).
 * The caller may have been compiled with an older or a newer header than this library:
 *
 *   older caller   the fields that it does not know are read as zero, and are not written
 *   newer caller   accepted when the fields that we do not know are zero, which means the default
 *
 * A new field goes to the end of its struct, and no such struct may end in padding: a new field
 * would take the place of the padding and be read from memory that an older caller never set.
 * sized.c checks this for every struct when the library is compiled. Threads: no state. */
#ifndef SB_BASE_SIZED_H
#define SB_BASE_SIZED_H

#include <stddef.h>

#include "base/status.h"

/* Copies element i of the caller's array of structs into ours, which is `size` bytes long. The
 * caller's elements are as far apart as the size in the first one says. A single struct is element
 * 0. `type` is its name in messages. The result's own size is `size`. SB_INVALID when a size is
 * not plausible, or when the caller sets a field that this library does not know. */
sb_status sb_sized_read(void *to, size_t size, const void *first, size_t i, const char *type,
                        sb_err *err);

/* Copies our struct into the caller's as far as that one reaches, and keeps the caller's size. */
sb_status sb_sized_write(void *to, const void *from, size_t size, const char *type, sb_err *err);

#endif
