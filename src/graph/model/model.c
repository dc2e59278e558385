/* model.c: runs the steps that build a model, finds boxes by name, and prints shapes. */
#include "graph/model/model.h"

#include "base/slice.h"
#include "base/vec.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_BYTES ((size_t)2 << 30)
#define MOST_BOXES (32u << 20)
#define MOST_DIMS 16
#define MOST_SLOT                                                                                  \
    4096 /* shapes of outputs with a larger index are not printed: the list is searched linearly */

const char *sb_odd_name(sb_odd_kind kind) {
    static const char *const names[SB_ODD_COUNT] = {
        [SB_ODD_CUT] = "cut",
        [SB_ODD_NODE] = "node",
        [SB_ODD_UNNAMED] = "unnamed",
        [SB_ODD_DUPLICATE] = "duplicate",
        [SB_ODD_DANGLING] = "dangling",
        [SB_ODD_CYCLE] = "cycle",
        [SB_ODD_RECURSION] = "recursion",
        [SB_ODD_FUNCTIONS] = "functions",
        [SB_ODD_DEEP] = "deep",
        [SB_ODD_LARGE] = "large",
    };
    return names[kind];
}

void sb_model_note(sb_model *m, sb_odd_kind kind, sb_slice name) {
    sb_odd *odd = &m->odds[kind];
    odd->n++;
    if (odd->shown >= SB_ODD_EXAMPLES) return;
    if (name.n > 400) name.n = 400;
    sb_slice kept = sb_arena_dup(&m->arena, name);
    if (kept.p)
        odd->examples[odd->shown++] = kept;
    else
        m->is_out_of_memory = true;
}

sb_box *sb_model_add_box(sb_model *m, sb_slice name, uint32_t parent, sb_box_kind kind) {
    uint32_t id;
    bool is_new;
    if (m->box_count == m->box_room) {
        size_t room = m->box_room;
        sb_box *grown =
            sb_vec_grow(m->alloc, m->boxes, &room, m->box_count, 1, sizeof *grown, MOST_BOXES);
        if (!grown) return NULL;
        m->boxes = grown;
        m->box_room = (uint32_t)room;
    }
    if (sb_intern_add(&m->names, name, &id, &is_new) != SB_OK || !is_new) return NULL;
    sb_slice kept = sb_intern_name(&m->names, id);
    const uint8_t *slash = kept.n ? memrchr(kept.p, '/', kept.n) : NULL;
    m->boxes[id] = (sb_box){
        .name = kept,
        .label = slash ? (uint32_t)(slash - kept.p + 1) : 0,
        .parent = parent,
        .kind = (uint8_t)kind,
        .op = SB_BOX_NONE,
        .device = SB_BOX_NONE,
    };
    m->box_count = id + 1;
    return &m->boxes[id];
}

/* progress assumes that all steps take equally long */
enum { READ, TREE, EDGES, TOTALS, SERIES, STEPS };
#define TOLD_IN 1000u

bool sb_raw_tell(sb_raw *r, size_t i, size_t n) {
    const sb_model_ask *ask = r->ask;
    if (!ask->progress) return true;
    uint64_t part = n ? (uint64_t)i * TOLD_IN / n : 0;
    if (!ask->progress(ask->progress_ud, r->step * TOLD_IN + part, STEPS * TOLD_IN))
        r->is_dropped = true;
    return !r->is_dropped;
}

static sb_status begin_step(sb_raw *r, unsigned step, sb_err *err) {
    r->step = step;
    return sb_raw_tell(r, 0, 0) ? SB_OK : sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
}

static sb_status group(sb_raw *r, sb_err *err) {
    sb_status status = begin_step(r, SERIES, err);
    if (status == SB_OK) status = sb_series_build(r->m, r->scratch, err);
    uint32_t most = r->ask->level_most ? r->ask->level_most : SB_LEVEL_MOST;
    if (status == SB_OK) status = sb_parts_build(r->m, most, r->scratch, err);
    return status;
}

static sb_status build(sb_raw *r, const sb_model_ask *ask, sb_err *err) {
    sb_model *m = r->m;
    if (!sb_model_add_box(m, (sb_slice){NULL, 0}, SB_BOX_NONE, SB_BOX_SCOPE))
        return sb_fail_nomem(err, "for a graph");
    sb_status status = sb_raw_read(r, ask->graph, err);
    if (status == SB_OK && ask->other.p) {
        m->is_difference = true;
        status = sb_raw_compare(r, ask->other, err);
    }
    if (status == SB_OK) status = begin_step(r, TREE, err);
    if (status == SB_OK) status = sb_tree_build(r, err);
    if (status == SB_OK) status = sb_tree_list(m, err);
    if (status == SB_OK) status = begin_step(r, EDGES, err);
    if (status == SB_OK) status = sb_edges_build(r, err);
    if (status == SB_OK) status = begin_step(r, TOTALS, err);
    if (status == SB_OK) status = sb_totals_build(r, ask, err);
    if (status == SB_OK) status = group(r, err);
    if (status == SB_OK && m->is_out_of_memory) status = sb_fail_nomem(err, "for a graph");
    return status;
}

sb_status sb_model_new(sb_model **out, const sb_model_ask *ask, sb_err *err) {
    size_t most = ask->most_bytes ? ask->most_bytes : MOST_BYTES;
    sb_model *m = sb_alloc_zeroed(ask->alloc, 1, sizeof *m);
    *out = NULL;
    if (!m) return sb_fail_nomem(err, "for a graph");
    m->alloc = ask->alloc;
    sb_arena_init(&m->arena, m->alloc, 64 << 10, most);
    sb_intern_init(&m->names, m->alloc, 0x5eab0a4d, MOST_BOXES);
    sb_intern_init(&m->texts, m->alloc, 0x5eab0a4d, MOST_BOXES);
    sb_arena scratch;
    sb_arena_init(&scratch, m->alloc, 256 << 10, most);
    sb_raw r = {.m = m, .scratch = &scratch, .alloc = sb_arena_alloc(&scratch), .ask = ask};
    sb_status status = build(&r, ask, err);
    if (r.is_dropped) status = sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    sb_arena_fini(&scratch);
    if (status != SB_OK) {
        sb_model_free(m);
        return status;
    }
    m->bytes = sizeof *m + m->arena.held + m->names.names.held + m->box_room * sizeof *m->boxes +
               m->names.item_room * 32;
    *out = m;
    return SB_OK;
}

void sb_model_free(sb_model *m) {
    if (!m) return;
    const sb_alloc *alloc = m->alloc;
    sb_alloc_put(alloc, m->boxes, m->box_room * sizeof *m->boxes);
    sb_intern_fini(&m->names);
    sb_intern_fini(&m->texts);
    sb_arena_fini(&m->arena);
    sb_alloc_put(alloc, m, sizeof *m);
}

uint32_t sb_model_find(const sb_model *m, sb_slice name) {
    uint32_t id = sb_intern_find(&m->names, name);
    return id == SB_INTERN_NONE ? SB_BOX_NONE : id;
}

bool sb_model_is_in(const sb_model *m, uint32_t box, uint32_t above) {
    while (box != SB_BOX_NONE && m->boxes[box].depth > m->boxes[above].depth)
        box = m->boxes[box].parent;
    return box == above;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool find_shape(const sb_box *b, int32_t slot, sb_slice *shape) {
    sb_items shapes = sb_items_of(b->outputs, SB_ATTR_LIST_SHAPE);
    for (int32_t i = 0; sb_items_next(&shapes, shape) == SB_OK; i++)
        if (i == slot) return true;
    return false;
}

void sb_model_shape(const sb_model *m, uint32_t op, int32_t slot, sb_buf *out) {
    sb_slice shape;
    sb_shape_view view;
    if (slot < 0 || slot > MOST_SLOT || !find_shape(&m->boxes[op], slot, &shape)) return;
    if (sb_shape_read(&view, shape) != SB_OK || view.unknown_rank) return;
    if (view.rank == 0) sb_buf_add_str(out, "scalar");
    sb_items dims = sb_items_of(shape, SB_SHAPE_DIM);
    int64_t size;
    for (size_t i = 0; i < MOST_DIMS && sb_shape_next(&dims, &size) == SB_OK; i++) {
        if (i) sb_buf_add_str(out, " × ");
        if (size < 0)
            sb_buf_add_str(out, "?");
        else
            sb_buf_printf(out, "%lld", (long long)size);
    }
}
