/* value.h: what a reference means, taken out of the payload of its record.
 *
 * In:  the payload as blob.h read it.  Out: slices into it, or into the arena where TensorBoard's
 * converted form has bytes that stand nowhere in the log (the decimal width of an old-style image).
 *
 *   images, new   string tensor [width, height, picture...]: blob i is string i
 *   image, old    width and height in decimals, then the picture
 *   audio, new    string tensor [clip...], or [k, 2] with labels, which are dropped
 *   audio, old    the clip
 *   graphs        the bytes of graph_def, of run metadata, or of a string tensor of rank 0
 *
 * Threads: no state.  Cost: one pass over the record's fields. */
#ifndef SB_QUERY_RECORDS_VALUE_H
#define SB_QUERY_RECORDS_VALUE_H

#include "base/arena.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "store/store.h"

/* The summary value with the reference's index. SB_CORRUPT when the record holds none. */
sb_status sb_ref_value(const sb_ref *ref, sb_slice payload, sb_value *out, sb_err *err);

/* Its tensor; a value without one is the null tensor (float32 of shape [0]). SB_CORRUPT for values
 * that are no tensor. */
sb_status sb_ref_tensor(const sb_ref *ref, sb_slice payload, sb_tensor_view *out, sb_err *err);

/* How many blobs there are, and blob i. SB_NOT_FOUND: there are not so many. SB_CORRUPT: this holds
 * no blobs. */
sb_status sb_ref_blob(const sb_ref *ref, sb_slice payload, uint32_t i, sb_arena *arena,
                      sb_slice *out, sb_err *err);

#endif
