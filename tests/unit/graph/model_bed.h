/* model_bed.h: models and drawings made from graphs written as protobuf text. */
#ifndef SB_TESTS_GRAPH_MODEL_BED_H
#define SB_TESTS_GRAPH_MODEL_BED_H

#include "codec/proto/text_format.h"
#include "graph/drawing/draw.h"
#include "graph/model/model.h"
#include "support/test.h"

typedef struct model_bed {
    sb_buf bytes;
    sb_model *m;
    sb_arena arena;
} model_bed;

static inline sb_buf bed_encode(sb_message_id id, const char *text) {
    sb_buf out;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 64 << 20);
    assert_ok(sb_text_parse(&out, id, sb_slice_str(text), &err), &err);
    return out;
}

static inline void bed_open(model_bed *bed, const char *graph) {
    sb_err err;
    bed->bytes = bed_encode(SB_MSG_GRAPH, graph);
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = sb_buf_slice(&bed->bytes)};
    assert_ok(sb_model_new(&bed->m, &ask, &err), &err);
    sb_arena_init(&bed->arena, &sb_alloc_libc, 64 << 10, (size_t)1 << 30);
}

static inline void bed_close(model_bed *bed) {
    sb_model_free(bed->m);
    sb_buf_fini(&bed->bytes);
    sb_arena_fini(&bed->arena);
}

static inline uint32_t bed_box(const model_bed *bed, const char *name) {
    uint32_t box = sb_model_find(bed->m, sb_slice_str(name));
    if (box == SB_BOX_NONE) print_error("no box %s\n", name);
    assert_true(box != SB_BOX_NONE);
    return box;
}

/* Hears progress, which must rise, and stops the work at the call `most`. */
typedef struct watching {
    uint64_t last, total;
    unsigned calls, most;
} watching;

static inline bool watch(void *ud, uint64_t done, uint64_t total) {
    watching *w = ud;
    assert_true(done >= w->last && done <= total);
    w->last = done;
    w->total = total;
    return ++w->calls < w->most;
}

#endif
