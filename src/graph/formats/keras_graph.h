/* keras_graph.h: converts the JSON of a Keras model to a graph of its layers.
 *
 * In:  what model.to_json() gives: {"class_name", "config": {"name", "layers": [...], ...}, ...}; a
 *      layer may be a model itself.
 * Out: an encoded GraphDef: one node a layer, named by the models it is in, "model/sub/dense"; its
 *      class and type as attributes; its inputs as edges.
 *
 * Edges: a layer of a functional model lists where its inputs come from (only the form of Keras 3
 * is read; older forms give no edges, as in TensorBoard). A layer of a sequential model is
 * connected to the layer before it. When a whole model is used as an input, the edge comes from its
 * output layers. The input layers of an inner model are connected to the layers that feed the inner
 * model.
 *
 * Threads: no state. Cost: one pass over the JSON, and one hash table lookup per edge. */
#ifndef SB_GRAPH_KERAS_GRAPH_H
#define SB_GRAPH_KERAS_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"

typedef enum sb_keras_detail {
    SB_KERAS_PLAIN, /* the same result as TensorBoard's server */
    /* also the attributes "parameters" (-1: unknown) and "_output_shapes" of each layer */
    SB_KERAS_COUNTED
} sb_keras_detail;

/* Appends the GraphDef. Returns SB_CORRUPT when the text is not the JSON of a Keras model, and
 * SB_LIMIT when models are nested too deeply. */
sb_status sb_keras_graph(sb_buf *graph_def, sb_slice json, sb_keras_detail detail, sb_arena *arena,
                         sb_err *err);

#endif
