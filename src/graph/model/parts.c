/* parts.c: a box with more children than anybody can look at shows them in parts: a quarter of what
 * a box may have, as they follow one another in the graph, named by the first and the last of them,
 * "op0 … op499". A part opens like a scope. With very many children parts are folded in their turn,
 * so that no level of a drawing is ever too large to lay out, to send and to draw at once. */
#include "base/slice.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

/* The parent's name, then those of the first and the last member. */
static void name_part(sb_buf *out, const sb_model *m, uint32_t parent, uint32_t first,
                      uint32_t last) {
    sb_buf_clear(out);
    if (parent != SB_BOX_ROOT) {
        sb_buf_add_slice(out, m->boxes[parent].name);
        sb_buf_add_byte(out, '/');
    }
    sb_buf_add_slice(out, sb_box_label(&m->boxes[first]));
    sb_buf_add_str(out, " … ");
    sb_buf_add_slice(out, sb_box_label(&m->boxes[last]));
}

/* false: no memory. */
static bool fold(sb_model *m, uint32_t parent, uint32_t most, sb_buf *name) {
    uint32_t count = m->boxes[parent].child_count, first = m->boxes[parent].first_child;
    uint32_t size = count / (most / 2 + 1) + 1; /* with very many: half as many parts as may be */
    if (size < most / 4) size = most / 4;
    for (uint32_t from = 0; from < count; from += size) {
        const uint32_t *members = m->children + first + from;
        uint32_t n = count - from < size ? count - from : size;
        name_part(name, m, parent, members[0], members[n - 1]);
        if (name->failed != SB_OK) return false;
        if (sb_model_find(m, sb_buf_slice(name)) != SB_BOX_NONE) continue; /* taken: left as is */
        sb_box *part = sb_model_add_box(m, sb_buf_slice(name), parent, SB_BOX_PART);
        if (!part) return false;
        uint32_t id = (uint32_t)(part - m->boxes), label = part->label;
        for (uint32_t i = 0; i < n; i++) sb_series_adopt(m, id, members[i]);
        m->boxes[id].label = label;
    }
    return true;
}

sb_status sb_parts_build(sb_model *m, uint32_t most, sb_arena *scratch, sb_err *err) {
    sb_buf name;
    sb_alloc alloc = sb_arena_alloc(scratch);
    sb_buf_init(&name, &alloc, (size_t)1 << 30);
    /* parts that were made are looked at again */
    for (uint32_t from = 0, to = m->box_count; from < to; from = to, to = m->box_count) {
        for (uint32_t i = from; i < to; i++)
            if (m->boxes[i].child_count > most && !fold(m, i, most, &name))
                return sb_fail_nomem(err, "for a graph");
        sb_status status = m->box_count > to ? sb_tree_list(m, err) : SB_OK;
        if (status != SB_OK) return status;
    }
    return SB_OK;
}
