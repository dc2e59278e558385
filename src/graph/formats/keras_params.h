/* keras_params.h: how many weights a Keras layer has, and the shape of what it gives, by its
 * configuration.
 *
 * A model's JSON does not list weights, but it tells what they follow from: the settings of a layer
 * and, since Keras 3, the shape that it was built for ("build_config"). Counted is what
 * model.count_params() counts: all weights, those that are not trained included.
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
    int64_t dims[SB_KERAS_MOST_DIMS]; /* -1: not known */
} sb_keras_shape;

/* false: the JSON is no shape. */
bool sb_keras_shape_read(sb_keras_shape *out, const json_t *value);

/* The shape that a layer was built for; false: its JSON does not tell it. */
bool sb_keras_built_for(sb_keras_shape *out, const json_t *layer);

/* The weights of a layer, -1 when its JSON does not tell them: a class that is not Keras's own, or
 * a layer that was not built. */
int64_t sb_keras_params(const json_t *layer);

/* The shape of what a layer gives; false: not told. */
bool sb_keras_output(sb_keras_shape *out, const json_t *layer);

#endif
