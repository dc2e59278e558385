/* bench_graph.c: model graphs of 1000, 10 000 and 100 000 nodes: bytes to a model, a drawing of the
 * top with one scope of every depth open, and one level that holds every node.
 *
 * The graph is that of a deep model: blocks of twenty operations in groups of fifty, each block fed
 * by the one before and, every seventh, by one further up. */
#include <stdio.h>

#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "graph/drawing/draw.h"
#include "harness.h"
#include "base/banned.h"

#define OPS 20u
#define BLOCKS 50u

typedef struct work {
    sb_bench *b;
    sb_buf graph;
    sb_model *m;
    uint32_t *open;
    size_t open_count;
    float w;
    bool is_flat; /* one level, which is not folded into parts */
} work;

static void add_text(sb_buf *out, uint32_t number, const char *format, uint32_t group,
                     uint32_t block, uint32_t op, bool is_flat) {
    char text[96];
    int n = is_flat ? snprintf(text, sizeof text, "op%ux", (group * BLOCKS + block) * OPS + op)
                    : snprintf(text, sizeof text, "%s%u/block_%u/op%u", format, group, block, op);
    sb_pb_add_bytes(out, number, sb_slice_of(text, (size_t)n));
}

static void add_node(sb_buf *out, uint32_t i, bool is_flat) {
    static const char *const kinds[] = {"MatMul", "AddV2", "Relu", "Mul", "Softmax"};
    uint32_t op = i % OPS, block = i / OPS % BLOCKS, group = i / OPS / BLOCKS;
    size_t node = sb_pb_begin(out, SB_GRAPH_NODE, 100);
    add_text(out, SB_NODE_NAME, "stage", group, block, op, is_flat);
    sb_pb_add_bytes(out, SB_NODE_OP, sb_slice_str(kinds[(op + op / 5) % 5]));
    if (i) {
        uint32_t k = i - 1;
        add_text(out, SB_NODE_INPUT, "stage", k / OPS / BLOCKS, k / OPS % BLOCKS, k % OPS, is_flat);
    }
    if (i % 7 == 0 && i > 60) {
        uint32_t k = i - 13 - i % 41;
        add_text(out, SB_NODE_INPUT, "stage", k / OPS / BLOCKS, k / OPS % BLOCKS, k % OPS, is_flat);
    }
    sb_pb_end(out, node);
}

static void build_model(void *ud) {
    work *w = ud;
    sb_err err;
    sb_model_free(w->m);
    sb_model_ask ask = {.alloc = &sb_alloc_libc,
                        .graph = sb_buf_slice(&w->graph),
                        .level_most = w->is_flat ? UINT32_MAX : 0};
    if (sb_model_new(&w->m, &ask, &err) != SB_OK) sb_bench_fail(w->b, err.text);
}

static void draw_model(void *ud) {
    work *w = ud;
    sb_err err;
    sb_arena arena;
    sb_drawing d;
    sb_draw_ask ask = {.open = w->open, .open_count = w->open_count, .extract = true};
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 20, (size_t)2 << 30);
    if (sb_draw(&d, w->m, &ask, &arena, &err) != SB_OK) sb_bench_fail(w->b, err.text);
    w->w = d.w;
    sb_arena_fini(&arena);
}

static void measure(sb_bench *b, uint32_t nodes, const char *what) {
    for (int is_flat = 0; is_flat < 2; is_flat++) {
        work w = {.b = b, .is_flat = is_flat};
        sb_buf_init(&w.graph, &sb_alloc_libc, (size_t)1 << 30);
        for (uint32_t i = 0; i < nodes; i++) add_node(&w.graph, i, is_flat);
        double ns = sb_bench_best_ns(b, build_model, &w);
        if (!w.m) break;
        if (!is_flat) {
            uint32_t open[8], n = 0; /* a block, and all that it is in */
            uint32_t box = sb_model_find(w.m, SB_LIT("stage0/block_7"));
            for (; box != SB_BOX_NONE && n < 8; box = w.m->boxes[box].parent) open[n++] = box;
            w.open = open;
            w.open_count = n;
            sb_bench_report(what, "bytes to model", "ns", ns);
            sb_bench_report(what, "model, memory", "MB", (double)w.m->bytes / 1e6);
            sb_bench_report(what, "opened level laid out", "ns",
                            sb_bench_best_ns(b, draw_model, &w));
        } else {
            sb_bench_report(what, "all nodes in one level", "ns",
                            sb_bench_best_ns(b, draw_model, &w));
        }
        sb_model_free(w.m);
        sb_buf_fini(&w.graph);
    }
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    measure(&b, 1000, "graph of 1000 nodes");
    measure(&b, 10000, "graph of 10 000 nodes");
    measure(&b, (uint32_t)sb_bench_count(&b, 100000), "graph of 100 000 nodes");
    return sb_bench_end(&b);
}
