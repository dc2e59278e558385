/* made_cache.h: a cache on disk of what was made from blobs of the logs: thumbnails, comparisons,
 * waveforms.
 *
 * One unlinked file of a fixed size, written round and round: what is oldest is overwritten. The
 * key says everything that the bytes depend on, so nothing is ever stale; it goes with the process.
 * Where the folder can't be written nothing is kept, and everything is made anew.
 *
 * Threads: all functions may be called from any. Cost: one read or write of the file; in memory 64
 * bytes an entry. */
#ifndef SB_SERVER_MADE_CACHE_H
#define SB_SERVER_MADE_CACHE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/status.h"

typedef struct sb_made_cache sb_made_cache;

/* At most so many bytes on disk. folder NULL: /tmp. */
sb_status sb_made_cache_new(sb_made_cache **out, const sb_alloc *alloc, const char *folder,
                            uint64_t bytes, sb_err *err);
void sb_made_cache_free(sb_made_cache *c);

/* Appends the bytes of that key; false when they are not there. */
bool sb_made_cache_find(sb_made_cache *c, sb_slice key, sb_buf *out);
/* Keeps a copy. What is larger than a sixteenth of the whole is not kept. */
void sb_made_cache_keep(sb_made_cache *c, sb_slice key, sb_slice bytes);

/* Equal questions at the same time are made once: the first to begin makes it and calls end, the
 * others wait in begin until it is there, its maker has given up, or is_over(ud) says so (it is
 * asked every few milliseconds). False: another thread was making it: look into the cache again.
 * True: the caller has to make it. */
bool sb_made_cache_begin(sb_made_cache *c, sb_slice key, bool (*is_over)(void *ud), void *ud);
void sb_made_cache_end(sb_made_cache *c, sb_slice key);

#endif
