/* keras_graph.h: a Keras model's JSON as a graph of its layers.
 *
 * In:  what model.to_json() gives: {"class_name", "config": {"name", "layers": [...], ...}, ...}; a
 *      layer may be a model itself.
 * Out: an encoded GraphDef: one node a layer, named by the models it is in, "model/sub/dense"; its
 *      class and type as attributes; its inputs as edges.
 *
 * Edges: a layer of a functional model says where its inputs come from (Keras 3's form; older forms
 * give no edges, as in TensorBoard); a layer of a sequential model follows the one before it. A
 * model named as an input stands for its output layers; the inputs of an inner model are joined to
 * what was given to it.
 *
 * Threads: no state. Cost: one pass over the JSON, a look-up an edge. */
#ifndef SB_GRAPH_KERAS_GRAPH_H
#define SB_GRAPH_KERAS_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"

typedef enum sb_keras_detail {
    SB_KERAS_PLAIN,  /* what TensorBoard's server answers */
    SB_KERAS_COUNTED /* and for each layer: "parameters" (-1: not told) and "_output_shapes" */
} sb_keras_detail;

/* SB_CORRUPT when it is no such JSON. */
sb_status sb_keras_graph(sb_buf *graph_def, sb_slice json, sb_keras_detail detail, sb_arena *arena,
                         sb_err *err);

#endif
