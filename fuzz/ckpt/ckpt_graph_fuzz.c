/* ckpt_graph_fuzz.c: object graphs: parsed, and with their keys changed. A graph that is parsed
 * stays one when its keys are changed, with as many objects. */
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/object/graph_keys.h"
#include "ckpt/object/object_graph.h"
#include "base/banned.h"

static void check(bool holds) {
    if (!holds) abort();
}

/* Drops keys that begin with 'd', puts a letter before the others. */
static bool change(void *ud, sb_slice key, sb_buf *to) {
    ++*(size_t *)ud;
    sb_buf_add_byte(to, 'x');
    sb_buf_add_slice(to, key);
    return !(key.n && key.p[0] == 'd');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_arena arena;
    sb_graph_node *nodes, *others;
    size_t count, other_count, keys = 0;
    sb_err err;
    sb_buf out;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, (size_t)64 << 20);
    sb_buf_init(&out, &sb_alloc_libc, (size_t)16 << 20);
    sb_slice graph = sb_slice_of(data, size);
    sb_status parsed = sb_graph_parse(&nodes, &count, graph, &arena, &err);
    if (parsed == SB_OK) {
        for (size_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < nodes[i].edge_count; k++)
                check(nodes[i].edges[k].node < count);
            for (uint32_t k = 0; k < nodes[i].slot_count; k++)
                check(nodes[i].slots[k].value < count && nodes[i].slots[k].variable < count);
        }
        sb_status changed = sb_graph_keys_change(&out, graph, change, &keys, &err);
        if (changed == SB_OK) {
            sb_status again =
                sb_graph_parse(&others, &other_count, sb_buf_slice(&out), &arena, &err);
            check(again == SB_NOMEM || (again == SB_OK && other_count == count));
        }
    }
    sb_buf_fini(&out);
    sb_arena_fini(&arena);
    return 0;
}
