/* keras_fuzz.c: the JSON of a Keras model, plain and with its weights counted, made a model. */
#include "base/slice.h"
#include "graph/keras_graph.h"
#include "graph/model.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int detail = SB_KERAS_PLAIN; detail <= SB_KERAS_COUNTED; detail++) {
        sb_arena scratch;
        sb_buf graph;
        sb_err err;
        sb_model *m = NULL;
        sb_arena_init(&scratch, &sb_alloc_libc, 4096, 64 << 20);
        sb_buf_init(&graph, &sb_alloc_libc, 64 << 20);
        if (sb_keras_graph(&graph, sb_slice_of(data, size), (sb_keras_detail)detail, &scratch,
                           &err) == SB_OK)
            sb_model_new(&m,
                         &(sb_model_ask){.alloc = &sb_alloc_libc,
                                         .graph = sb_buf_slice(&graph),
                                         .most_bytes = 64 << 20},
                         &err);
        sb_model_free(m);
        sb_buf_fini(&graph);
        sb_arena_fini(&scratch);
    }
    return 0;
}
