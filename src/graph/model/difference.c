/* difference.c: merges two graphs into one for a comparison. Nodes are matched by name (see
 * renumber.c for those of Keras), and each gets the side it is on. A node that both graphs have is
 * marked as changed when its operation, device, inputs or attributes differ. */
#include "base/slice.h"
#include "base/vec.h"
#include "graph/formats/graph.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_NODES (16u << 20)

static bool same_items(sb_slice a, sb_slice b, uint32_t number) {
    sb_items x = sb_items_of(a, number), y = sb_items_of(b, number);
    sb_slice one = {0}, two = {0};
    for (;;) {
        sb_status p = sb_items_next(&x, &one), q = sb_items_next(&y, &two);
        if (p != SB_OK || q != SB_OK) return p == q;
        if (!sb_slice_eq(one, two)) return false;
    }
}

/* Compares attributes regardless of their order, because map entries have none. Values larger than
 * `most` bytes are ignored. */
static bool same_attrs(sb_slice a, sb_slice b, size_t most) {
    sb_node y = {.message = b};
    sb_items entries = sb_items_of(a, SB_NODE_ATTR);
    sb_attr attr;
    sb_slice other;
    size_t n = 0, m = 0;
    while (sb_attr_next(&entries, &attr) == SB_OK) {
        if (attr.value.n > most) continue;
        n++;
        if (sb_node_find_attr(&other, &y, attr.key) != SB_OK || !sb_slice_eq(other, attr.value))
            return false;
    }
    entries = sb_items_of(b, SB_NODE_ATTR);
    while (sb_attr_next(&entries, &attr) == SB_OK) m += attr.value.n <= most;
    return n == m;
}

static bool same_node(const sb_raw_node *a, const sb_raw_node *b, size_t most) {
    return sb_slice_eq(a->op, b->op) && sb_slice_eq(a->device, b->device) &&
           sb_slice_eq(a->input, b->input) && same_items(a->inputs, b->inputs, SB_NODE_INPUT) &&
           same_attrs(a->message, b->message, most);
}

sb_status sb_raw_compare(sb_raw *r, sb_slice other, sb_err *err) {
    sb_raw second = {.m = r->m, .scratch = r->scratch, .alloc = r->alloc, .ask = r->ask};
    size_t most = r->ask->is_lean ? SB_LEAN_BYTES : SIZE_MAX;
    sb_status status = sb_raw_read(&second, other, err);
    if (status != SB_OK) return status;
    r->is_dropped |= second.is_dropped;
    r->m->op_count -= second.own;
    status = sb_raw_renumber(r, &second, err);
    if (status != SB_OK) return status;
    sb_intern names;
    sb_intern_init(&names, r->m->alloc, 2, MOST_NODES);
    uint32_t first_count = (uint32_t)r->nodes.n;
    uint32_t *node_of = sb_arena_get(r->scratch, ((size_t)first_count + 1) * sizeof *node_of);
    if (!node_of) status = SB_NOMEM;
    for (uint32_t i = 0; status == SB_OK && i < first_count; i++) {
        uint32_t id;
        bool is_new;
        status = sb_intern_add(&names, r->nodes.items[i].name, &id, &is_new);
        if (status == SB_OK && is_new) node_of[id] = i;
        r->nodes.items[i].side = SB_SIDE_REMOVED;
    }
    for (size_t i = 0; status == SB_OK && i < second.nodes.n; i++) {
        sb_raw_node *theirs = &second.nodes.items[i];
        uint32_t id = sb_intern_find(&names, theirs->name);
        if (id != SB_INTERN_NONE) {
            sb_raw_node *ours = &r->nodes.items[node_of[id]];
            ours->side = same_node(ours, theirs, most) ? SB_SIDE_SAME : SB_SIDE_CHANGED;
            continue;
        }
        sb_raw_node *added = SB_VEC_PUSH(&r->nodes, &r->alloc, MOST_NODES);
        if (!added) status = SB_NOMEM;
        if (!added) break;
        *added = *theirs;
        added->side = SB_SIDE_ADDED;
        added->call = SB_BOX_NONE; /* its body was added too, as an ordinary scope */
        r->m->op_count++;
    }
    sb_intern_fini(&names);
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for a graph");
}
