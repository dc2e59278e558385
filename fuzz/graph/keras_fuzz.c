/* keras_fuzz.c: the JSON of a Keras model, plain and with its weights counted, made a model. */
#include "graph/formats/keras_graph.h"
#include "graph_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sb_status plain(sb_buf *graph, sb_slice file, sb_arena *scratch, sb_err *err) {
    return sb_keras_graph(graph, file, SB_KERAS_PLAIN, scratch, err);
}

static sb_status counted(sb_buf *graph, sb_slice file, sb_arena *scratch, sb_err *err) {
    return sb_keras_graph(graph, file, SB_KERAS_COUNTED, scratch, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bed_make_model(data, size, plain);
    bed_make_model(data, size, counted);
    return 0;
}
