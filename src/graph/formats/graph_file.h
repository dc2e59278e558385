/* graph_file.h: a file that holds a graph, of whatever kind, as a GraphDef.
 *
 * Kinds: GraphDef, MetaGraphDef and SavedModel of TensorFlow as protobuf or (GraphDef only) as
 * text, ONNX models, and the JSON of a Keras model. What it is follows from the bytes, not from the
 * name. Threads: no state. */
#ifndef SB_GRAPH_GRAPH_FILE_H
#define SB_GRAPH_GRAPH_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "codec/proto/text_format.h"

typedef enum sb_graph_format {
    SB_FORMAT_GRAPH,
    SB_FORMAT_GRAPH_TEXT,
    SB_FORMAT_META_GRAPH,
    SB_FORMAT_SAVED_MODEL,
    SB_FORMAT_ONNX,
    SB_FORMAT_KERAS,
    SB_FORMAT_COUNT,
} sb_graph_format;

const char *sb_graph_format_name(sb_graph_format format);

typedef struct sb_graph_file {
    sb_graph_format format;
    sb_slice graph; /* the GraphDef: a part of the file where it stands there, else in out */
    bool is_cut;    /* only its beginning could be read */
    sb_err problem; /* what was wrong with the rest */
} sb_graph_file;

/* Finds the GraphDef in the file, or appends one that is made of it: large values are not copied.
 * watch: how far a text is, of all kinds the one that takes long; may be NULL. SB_CORRUPT when the
 * bytes are none of these kinds, SB_DROPPED when the watch says so. */
sb_status sb_graph_file_read(sb_buf *out, sb_slice bytes, sb_graph_file *info,
                             const sb_text_watch *watch, sb_arena *scratch, sb_err *err);

/* onnx.c: appends an ONNX ModelProto as a GraphDef: nodes by name (or kind and number), values by
 * the node that makes them, initializers as nodes of the kind "Initializer" with their shape, in
 * the scope that uses them, inputs and outputs of the graph as "Input" and "Output". SB_CORRUPT
 * when it is none. A model that is cut gives what came before (*is_cut). */
sb_status sb_onnx_graph(sb_buf *out, sb_slice model, bool *is_cut, sb_arena *scratch, sb_err *err);

#endif
