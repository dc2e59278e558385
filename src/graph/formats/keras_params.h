/* keras_params.h: computes the number of weights of a Keras layer and its output shape from the
 * configuration of the layer.
 *
 * The JSON of a model does not list weights, but their number follows from the settings of each
 * layer and from the input shape that the layer was built for ("build_config", written since Keras
 * 3). The result is the same as model.count_params(): all weights are counted, including those that
 * are not trained.
 *
 * Threads: no state. */
#ifndef SB_GRAPH_KERAS_PARAMS_H
#define SB_GRAPH_KERAS_PARAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_KERAS_MOST_DIMS 16

typedef struct sb_keras_shape {
    size_t rank;
    int64_t dims[SB_KERAS_MOST_DIMS]; /* -1: unknown */
} sb_keras_shape;

/* Returns false when the JSON value is not a shape. */
bool sb_keras_shape_read(sb_keras_shape *out, const json_t *value);

/* Reads the input shape that a layer was built for. Returns false when the JSON does not contain
 * it. */
bool sb_keras_built_for(sb_keras_shape *out, const json_t *layer);

/* Returns the number of weights of a layer. Returns -1 when it cannot be computed: the class is not
 * one of Keras's own, or the layer was not built when the model was saved. */
int64_t sb_keras_params(const json_t *layer);

/* Computes the output shape of a layer. Returns false when the JSON does not contain enough for
 * that. */
bool sb_keras_output(sb_keras_shape *out, const json_t *layer);

#endif
