/* graph.h: graphs as TensorBoard's front end wants them: several made one, large attributes left
 * out, as protobuf text.
 *
 * In:  encoded messages from a log.  Out: encoded messages and text, appended to a buffer.
 *
 * The text is what Google's library prints: fields in the order of their numbers, entries of maps
 * in the order of their keys, of several entries with one key the last.
 *
 * Threads: no state.  Cost: a copy of the message, and a sort of each map's entries. */
#ifndef SB_GRAPH_GRAPH_H
#define SB_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/proto/messages.h"

/* Appends the message with the entries of all its maps sorted by key, one a key. SB_CORRUPT for a
 * malformed message, SB_LIMIT for one that is nested too deep; scratch goes back to where it was.
 */
sb_status sb_message_sort(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                          sb_err *err);

/* Appends a GraphDef or a RunMetadata as text. */
sb_status sb_graph_text(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                        sb_err *err);

/* Appends the GraphDef without those attributes of its nodes whose value is larger than limit
 * bytes; their names go into the list attribute `key` of their node. */
sb_status sb_graph_limit_attrs(sb_buf *out, sb_slice graph_def, uint64_t limit, sb_slice key,
                               sb_arena *scratch, sb_err *err);

#define SB_LEAN_BYTES 1024u
/* Appends the GraphDef without the attributes of its nodes and functions that are larger than
 * SB_LEAN_BYTES, but for shapes: what is kept of a file, since nobody asks for the values of its
 * constants. What can't be read ends it. SB_NOMEM, SB_LIMIT. */
sb_status sb_graph_lean(sb_buf *out, sb_slice graph_def, sb_err *err);

/* What happens to the names of functions when graphs are merged. */
typedef enum sb_function_names {
    /* As in TensorBoard: graph_1_ in front of the names in the library, but of the nodes that call
     * them only PartitionedCall follows. The calls of a StatefulPartitionedCall and of functions in
     * functions lead nowhere then. */
    SB_FUNCTIONS_RENAMED,
    /* They stay. Graphs of one program have one library, so equal names mean equal functions. */
    SB_FUNCTIONS_KEPT,
} sb_function_names;

/* Appends one GraphDef made of several. One stays as it is; of more each gets a name in front of
 * the names of its nodes: graph_1/, graph_2/. SB_INVALID when they were made by different versions.
 */
sb_status sb_graph_merge(sb_buf *out, const sb_slice *graphs, size_t n, sb_function_names names,
                         sb_err *err);

/* The same for the graphs of all functions in a RunMetadata, as they were before they were
 * optimised. */
sb_status sb_graph_of_run_metadata(sb_buf *out, sb_slice run_metadata, sb_function_names names,
                                   sb_arena *scratch, sb_err *err);

#endif
