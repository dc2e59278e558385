/* graph_keys.h: changes the keys that an object graph (the string tensor of an object-based
 * checkpoint) refers to, for copies that leave tensors out or rename them. */
#ifndef SB_CKPT_OBJECT_GRAPH_KEYS_H
#define SB_CKPT_OBJECT_GRAPH_KEYS_H

#include "base/buf.h"

#define SB_OBJECT_GRAPH_KEY "_CHECKPOINTABLE_OBJECT_GRAPH"

/* Appends to `to` what a key is called from now on; false: the value is not there any more. */
typedef bool (*sb_graph_key_fn)(void *ud, sb_slice key, sb_buf *to);

/* Appends the serialized TrackableObjectGraph with other keys. Values that are not there any more
 * are left out of their objects. All else stays as it is, unknown fields too. SB_CORRUPT when the
 * graph is malformed. */
sb_status sb_graph_keys_change(sb_buf *out, sb_slice graph, sb_graph_key_fn change, void *ud,
                               sb_err *err);

#endif
