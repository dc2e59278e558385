/* model_fuzz.c: a file of any kind that holds a graph: read, made a model, compared with itself and
 * drawn with everything open. */
#include "base/slice.h"
#include "graph/drawing/draw.h"
#include "graph/formats/graph_file.h"
#include "graph/model/model.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw_all(const sb_model *m) {
    sb_arena arena;
    sb_drawing d;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 64 << 10, 64 << 20);
    uint32_t *all = sb_arena_get(&arena, m->box_count * sizeof *all);
    for (uint32_t i = 0; all && i < m->box_count; i++) all[i] = i;
    sb_draw_ask ask = {.open = all, .open_count = all ? m->box_count : 0, .extract = true};
    sb_draw(&d, m, &ask, &arena, &err);
    sb_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_arena scratch;
    sb_buf graph;
    sb_err err;
    sb_graph_file info;
    sb_arena_init(&scratch, &sb_alloc_libc, 4096, 64 << 20);
    sb_buf_init(&graph, &sb_alloc_libc, 64 << 20);
    if (sb_graph_file_read(&graph, sb_slice_of(data, size), &info, NULL, &scratch, &err) == SB_OK) {
        sb_slice bytes = info.graph;
        for (int i = 0; i < 2; i++) {
            sb_model *m;
            sb_model_ask ask = {.alloc = &sb_alloc_libc,
                                .graph = bytes,
                                .other =
                                    i ? sb_slice_of(bytes.p, bytes.n / 2) : (sb_slice){NULL, 0},
                                .metadata = sb_slice_of(data, size),
                                .most_bytes = 64 << 20};
            if (sb_model_new(&m, &ask, &err) != SB_OK) continue;
            draw_all(m);
            sb_model_free(m);
        }
    }
    sb_buf_fini(&graph);
    sb_arena_fini(&scratch);
    return 0;
}
