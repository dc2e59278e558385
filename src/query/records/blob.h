/* blob.h: reading a record of a log again, for what the store keeps by reference only.
 *
 * A reference is a file of a run, the record's offset in it, its length and checksum. Reading opens
 * the file (a few stay open), makes sure that it is still the one that was loaded, reads the frame
 * and checks both checksums and that the payload's is the one the reference names. So a caller gets
 * the bytes that were logged, or hears why not:
 *
 *   SB_REPLACED  they are not there any more: the file is gone, was replaced, cut short or
 *                overwritten, or does not belong to the run any more. The server answers 410
 *   SB_IO        the system refused to read
 *   SB_LIMIT     the record is larger than allowed
 *   SB_NOMEM, SB_TIMEOUT
 *
 * Packed files: offsets count unpacked bytes, so reading unpacks from the front, or from where the
 * last reading ended when that was before. Many records of one file are best asked for together.
 *
 * Threads: all functions may be called from any thread; a packed file is read by one at a time.
 * Lock order: the cache's mutex is never held while a file is opened, read or closed. */
#ifndef SB_QUERY_RECORDS_BLOB_H
#define SB_QUERY_RECORDS_BLOB_H

#include "base/env.h"
#include "query/budget.h"
#include "query/records/refs.h"

typedef struct sb_blob_cache sb_blob_cache;

/* At most max_open files stay open when nobody reads them. env must outlive the cache. */
sb_status sb_blob_cache_new(sb_blob_cache **out, const sb_env *env, size_t max_open, sb_err *err);
void sb_blob_cache_free(sb_blob_cache *cache);
/* Closes what nobody uses. */
void sb_blob_cache_drop(sb_blob_cache *cache);

/* The payload of the record, in the arena. A ref whose length is 0 is read with the length that
 * stands in the log. */
sb_status sb_blob_read(sb_blob_cache *cache, sb_run *run, uint32_t file, const sb_ref *ref,
                       size_t max_bytes, sb_arena *arena, sb_slice *payload, sb_err *err);

/* The file of the run once more, with a descriptor of its own for the caller to close, so that
 * bytes of it can be sent without being held in memory. -1: not a plain file of this machine, or
 * another one by now. */
int sb_blob_open_file(sb_blob_cache *cache, sb_run *run, uint32_t file, sb_arena *arena);

/* One item that was read, or was not: status and err say why, payload is valid until it returns.
 * index: of the item. Anything but SB_OK ends the reading and is its answer. */
typedef sb_status (*sb_blob_each_fn)(void *ud, size_t index, sb_status status, sb_slice payload,
                                     const sb_err *err);

/* Many records, in the order of files and offsets; neighbours are read with one call of the system.
 * arena: for the order; what is read at a time comes from the arena's allocator and goes back, so
 * that each may keep what it likes in the same arena. */
sb_status sb_blob_read_many(sb_blob_cache *cache, sb_run *run, const sb_ref_item *items, size_t n,
                            size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                            sb_blob_each_fn each, void *ud, sb_err *err);

#endif
