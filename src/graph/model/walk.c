/* walk.c: breadth-first searches over the edges of a model. */
#include "graph/model/walk.h"

#include "base/banned.h"

typedef enum direction { FORWARD, BACKWARD, ANY } direction;

/* Appends all operations inside a box that were not seen before; returns the new length of the
 * list. */
static uint32_t add_ops(const sb_model *m, uint32_t box, uint32_t *list, uint32_t n,
                        uint8_t *seen) {
    uint32_t first = n;
    list[n++] = box;
    for (uint32_t i = first; i < n; i++) {
        const sb_box *b = &m->boxes[list[i]];
        for (uint32_t k = 0; k < b->child_count; k++) list[n++] = m->children[b->first_child + k];
    }
    uint32_t kept = first;
    for (uint32_t i = first; i < n; i++)
        if (m->boxes[list[i]].kind == SB_BOX_OP && !seen[list[i]]) {
            seen[list[i]] = 1;
            list[kept++] = list[i];
        }
    return kept;
}

bool sb_walk_inputs(const sb_model *m, uint32_t box, uint8_t *marked, uint32_t *count,
                    sb_arena *scratch) {
    uint32_t *list = sb_arena_get(scratch, ((size_t)m->box_count + 1) * sizeof *list);
    if (!list) return false;
    uint32_t n = add_ops(m, box, list, 0, marked);
    for (uint32_t i = 0; i < n; i++) {
        const sb_box *b = &m->boxes[list[i]];
        for (uint32_t k = 0; k < b->in_count; k++) {
            uint32_t from = m->edges[b->first_in + k].from;
            if (marked[from]) continue;
            marked[from] = 1;
            list[n++] = from;
        }
    }
    *count = n;
    return true;
}

static void visit(uint32_t to, uint32_t from, uint32_t *before, uint32_t *list, uint32_t *n) {
    if (before[to] != SB_BOX_NONE) return;
    before[to] = from;
    list[(*n)++] = to;
}

/* Breadth-first search from the operations of `from`. Returns the first goal that is reached, or
 * NONE. `before` has the predecessor of each visited operation, which gives the path back. */
static uint32_t search(const sb_model *m, uint32_t from, const uint8_t *goals, direction how,
                       uint32_t *before, uint32_t *list, uint8_t *seen) {
    for (uint32_t i = 0; i < m->box_count; i++) before[i] = SB_BOX_NONE, seen[i] = 0;
    uint32_t n = add_ops(m, from, list, 0, seen);
    for (uint32_t i = 0; i < n; i++) before[list[i]] = list[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = list[i];
        const sb_box *b = &m->boxes[op];
        if (goals[op]) return op;
        if (how != BACKWARD)
            for (uint32_t k = 0; k < b->out_count; k++)
                visit(m->edges[m->outs[b->first_out + k]].to, op, before, list, &n);
        if (how != FORWARD)
            for (uint32_t k = 0; k < b->in_count; k++)
                visit(m->edges[b->first_in + k].from, op, before, list, &n);
    }
    return SB_BOX_NONE;
}

bool sb_walk_way(sb_way *out, const sb_model *m, uint32_t from, uint32_t to, sb_arena *arena) {
    size_t n = (size_t)m->box_count + 1;
    uint32_t *before = sb_arena_get(arena, n * sizeof *before);
    uint32_t *list = sb_arena_get(arena, n * sizeof *list);
    uint8_t *goals = sb_arena_zeroed(arena, n, 1), *seen = sb_arena_zeroed(arena, n, 1);
    *out = (sb_way){0};
    if (!before || !list || !goals || !seen) return false;
    add_ops(m, to, list, 0, goals);
    uint32_t end = SB_BOX_NONE;
    for (direction how = FORWARD; how <= ANY && end == SB_BOX_NONE; how++) {
        end = search(m, from, goals, how, before, list, seen);
        out->is_back = how == BACKWARD;
        out->is_loose = how == ANY;
    }
    if (end == SB_BOX_NONE) return true;
    out->boxes = list;
    for (uint32_t at = end;; at = before[at]) {
        list[out->n++] = at;
        if (before[at] == at) break;
    }
    for (uint32_t i = 0; i < out->n / 2; i++) {
        uint32_t kept = list[i];
        list[i] = list[out->n - 1 - i];
        list[out->n - 1 - i] = kept;
    }
    return true;
}
