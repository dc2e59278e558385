/* parts.c: groups the children of a box that has too many of them into parts, which open like
 * scopes.
 *
 * A part holds consecutive children in the order of the graph and is named after its first and last
 * one: "op0 … op499". Its usual size is a quarter of the largest number of children that a box may
 * have. When a box has very many children, its parts are larger and are divided again. So every
 * level of a drawing is small enough to be laid out, sent and drawn quickly. */
#include "base/slice.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

/* Writes the name of a part: the parent's name, then the labels of the first and the last
 * member. */
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

/* Returns false when memory runs out. */
static bool fold(sb_model *m, uint32_t parent, uint32_t most, sb_buf *name) {
    uint32_t count = m->boxes[parent].child_count, first = m->boxes[parent].first_child;
    uint32_t size = count / (most / 2 + 1) + 1; /* for very many children: about most / 2 parts */
    if (size < most / 4) size = most / 4;
    for (uint32_t from = 0; from < count; from += size) {
        const uint32_t *members = m->children + first + from;
        uint32_t n = count - from < size ? count - from : size;
        name_part(name, m, parent, members[0], members[n - 1]);
        if (name->failed != SB_OK) return false;
        /* the name is taken: these children are not grouped */
        if (sb_model_find(m, sb_buf_slice(name)) != SB_BOX_NONE) continue;
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
    /* Parts that were just created are checked again, because they may be too large as well. */
    for (uint32_t from = 0, to = m->box_count; from < to; from = to, to = m->box_count) {
        for (uint32_t i = from; i < to; i++)
            if (m->boxes[i].child_count > most && !fold(m, i, most, &name))
                return sb_fail_nomem(err, "for a graph");
        sb_status status = m->box_count > to ? sb_tree_list(m, err) : SB_OK;
        if (status != SB_OK) return status;
    }
    return SB_OK;
}
