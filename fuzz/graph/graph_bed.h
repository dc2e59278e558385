/* graph_bed.h: for the fuzz targets of files that do not hold a GraphDef: converts a file to a
 * GraphDef and builds a model of it. All functions are inline. */
#ifndef SB_FUZZ_GRAPH_BED_H
#define SB_FUZZ_GRAPH_BED_H

#include "base/slice.h"
#include "graph/model/model.h"

#define BED_MOST ((size_t)64 << 20)

typedef sb_status bed_convert(sb_buf *graph, sb_slice file, sb_arena *scratch, sb_err *err);

static inline void bed_make_model(const uint8_t *data, size_t size, bed_convert *convert) {
    sb_arena scratch;
    sb_buf graph;
    sb_err err;
    sb_model *m = NULL;
    sb_arena_init(&scratch, &sb_alloc_libc, 4096, BED_MOST);
    sb_buf_init(&graph, &sb_alloc_libc, BED_MOST);
    if (convert(&graph, sb_slice_of(data, size), &scratch, &err) == SB_OK)
        sb_model_new(&m,
                     &(sb_model_ask){.alloc = &sb_alloc_libc,
                                     .graph = sb_buf_slice(&graph),
                                     .most_bytes = BED_MOST},
                     &err);
    sb_model_free(m);
    sb_buf_fini(&graph);
    sb_arena_fini(&scratch);
}

#endif
