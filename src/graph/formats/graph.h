/* graph.h: prepares graphs for TensorBoard's front end: merges several GraphDefs into one, removes
 * attributes that are too large, and prints the result in protobuf text format.
 *
 * In:  encoded messages from a log.  Out: encoded messages and text, appended to a buffer.
 *
 * The text is the same as the one that Google's protobuf library prints: fields are in ascending
 * order of their numbers, and entries of maps in ascending order of their keys. When a map has
 * several entries with the same key, only the last one is printed.
 *
 * Threads: no state.  Cost: a copy of the message, and a sort of each map's entries. */
#ifndef SB_GRAPH_GRAPH_H
#define SB_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/proto/messages.h"

/* Appends the message with the entries of all its maps sorted by key; of several entries with the
 * same key only the last one is kept. Returns SB_CORRUPT for a malformed message and SB_LIMIT for
 * one that is nested too deeply. The scratch arena is reset to its state before the call. */
sb_status sb_message_sort(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                          sb_err *err);

/* Appends a GraphDef or a RunMetadata in protobuf text format. The status codes are those of
 * sb_message_sort. */
sb_status sb_graph_text(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                        sb_err *err);

/* Appends the GraphDef without those node attributes whose value is larger than `limit` bytes. The
 * names of the attributes that were removed from a node are listed in a new attribute of that node,
 * which is called `key`. TensorBoard's server does the same. */
sb_status sb_graph_limit_attrs(sb_buf *out, sb_slice graph_def, uint64_t limit, sb_slice key,
                               sb_arena *scratch, sb_err *err);

#define SB_LEAN_BYTES 1024u
/* Appends the GraphDef without the large attributes (more than SB_LEAN_BYTES) of its nodes and of
 * the nodes of its functions. Output shapes are kept whatever their size. The server keeps files in
 * this form, because the page never asks for the values of constants. Malformed data is not an
 * error here: copying stops at the first field that cannot be read. Returns SB_NOMEM or SB_LIMIT
 * when the buffer cannot grow. */
sb_status sb_graph_lean(sb_buf *out, sb_slice graph_def, sb_err *err);

/* What happens to the names of functions when graphs are merged. */
typedef enum sb_function_names {
    /* As in TensorBoard: the names of functions in the library get the prefix graph_1_, but only
     * nodes of the type PartitionedCall are changed to call the new names. A
     * StatefulPartitionedCall, or a call inside the body of a function, then refers to a function
     * that no longer exists. */
    SB_FUNCTIONS_RENAMED,
    /* Function names are not changed. Graphs of one program share one library, so functions with
     * equal names are equal. */
    SB_FUNCTIONS_KEPT,
} sb_function_names;

/* Appends one GraphDef that is made of several. A single graph is copied unchanged. When there are
 * more, the node names of each graph get a prefix: graph_1/, graph_2/ and so on. Returns SB_INVALID
 * when the graphs have different producer versions, and SB_CORRUPT when one is malformed. */
sb_status sb_graph_merge(sb_buf *out, const sb_slice *graphs, size_t n, sb_function_names names,
                         sb_err *err);

/* Merges the graphs of all functions that a RunMetadata lists, in their form before optimization
 * (pre_optimization_graph). Otherwise the same as sb_graph_merge. */
sb_status sb_graph_of_run_metadata(sb_buf *out, sb_slice run_metadata, sb_function_names names,
                                   sb_arena *scratch, sb_err *err);

#endif
