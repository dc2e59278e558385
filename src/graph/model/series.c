/* series.c: groups similar siblings into one box (a series), which can be opened like a scope.
 *
 * Members of a series are operations of the same type, or scopes with equal structure and equal
 * numbers of parameters, whose names differ only in one number. For operations, the number must be
 * at the end of the name, with no other digit before it. This is TensorBoard's rule, and the series
 * has the same name as there: "Add_[1-6]". TensorBoard does not group scopes. Here their number is
 * the last one in the name ("name_7", "name7", "name.7" or "Name[7]"), and a plain "name" counts as
 * number 0 of "name_1": "name[0-7]". At least five members with consecutive numbers make a
 * series. */
#include <stdlib.h>

#include "base/slice.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

typedef struct member {
    sb_slice prefix, suffix;
    uint64_t kind; /* the type of the operation, or a hash of structure and parameters */
    uint64_t number;
    uint32_t box;
} member;

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

/* Splits a label at its last number into prefix, number and suffix. */
static void split_label(member *m, sb_slice label, bool is_op) {
    size_t end = label.n;
    if (!is_op)
        while (end && !is_digit(label.p[end - 1])) end--;
    size_t begin = end;
    while (begin && end - begin < 9 && is_digit(label.p[begin - 1])) begin--;
    bool is_numbered = begin < end;
    for (size_t i = 0; is_op && is_numbered && i < begin; i++)
        if (is_digit(label.p[i])) is_numbered = false;
    if (!is_numbered) {
        *m = (member){.prefix = label, .box = m->box, .kind = m->kind};
        return;
    }
    m->number = 0;
    for (size_t i = begin; i < end; i++) m->number = m->number * 10 + (uint64_t)(label.p[i] - '0');
    m->prefix = sb_slice_of(label.p, begin);
    m->suffix = sb_slice_of(label.p + end, label.n - end);
    /* "dense", "dense_1": the plain name counts as number 0 */
    if (!is_op && m->suffix.n == 0 && begin > 1 && label.p[begin - 1] == '_') m->prefix.n--;
}

static int by_series(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = sb_slice_cmp(x->prefix, y->prefix);
    if (order == 0) order = sb_slice_cmp(x->suffix, y->suffix);
    if (order) return order;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

static bool continues(const member *a, const member *b) {
    return a->kind == b->kind && sb_slice_eq(a->prefix, b->prefix) &&
           sb_slice_eq(a->suffix, b->suffix) && b->number == a->number + 1;
}

void sb_series_adopt(sb_model *m, uint32_t series, uint32_t child) {
    sb_box *box = &m->boxes[series], *one = &m->boxes[child];
    bool is_first = box->ops == 0;
    box->label = one->label;
    box->op = is_first || box->op == one->op ? one->op : SB_BOX_NONE;
    box->device = is_first || box->device == one->device ? one->device : SB_BOX_NONE;
    box->structure = one->structure * 31 + 7;
    box->ops += one->ops;
    box->incompatible += one->incompatible;
    box->unsized += one->unsized;
    box->params += one->params;
    box->time += one->time;
    box->bytes += one->bytes;
    box->has_stats |= one->has_stats;
    if (one->side != SB_SIDE_SAME) box->side = SB_SIDE_CHANGED;
    one->parent = series;
}

static bool add_series(sb_model *m, uint32_t parent, const member *members, size_t n,
                       sb_arena *scratch) {
    sb_arena_mark mark = sb_arena_here(scratch);
    sb_alloc alloc = sb_arena_alloc(scratch);
    sb_buf name;
    sb_buf_init(&name, &alloc, (size_t)1 << 30);
    if (parent != SB_BOX_ROOT) {
        sb_buf_add_slice(&name, m->boxes[parent].name);
        sb_buf_add_byte(&name, '/');
    }
    sb_buf_add_slice(&name, members[0].prefix);
    sb_buf_printf(&name, "[%llu-%llu]", (unsigned long long)members[0].number,
                  (unsigned long long)members[n - 1].number);
    sb_buf_add_slice(&name, members[0].suffix);
    sb_slice text = sb_buf_slice(&name);
    bool is_done = true;
    if (name.failed == SB_OK && sb_model_find(m, text) == SB_BOX_NONE) {
        sb_box *box = sb_model_add_box(m, text, parent, SB_BOX_SERIES);
        is_done = box != NULL;
        uint32_t id = box ? (uint32_t)(box - m->boxes) : 0;
        for (size_t i = 0; box && i < n; i++) sb_series_adopt(m, id, members[i].box);
    }
    sb_arena_reset(scratch, mark);
    return is_done && name.failed == SB_OK;
}

static bool group_children(sb_model *m, uint32_t parent, member *members, sb_arena *scratch) {
    uint32_t count = m->boxes[parent].child_count, first = m->boxes[parent].first_child;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = m->children[first + i];
        const sb_box *b = &m->boxes[child];
        bool is_op = b->kind == SB_BOX_OP;
        members[i] = (member){
            .box = child,
            .kind = is_op ? b->op : (b->structure ^ b->params * 0x9e3779b9u) | (uint64_t)1 << 63};
        split_label(&members[i], sb_box_label(b), is_op);
    }
    qsort(members, count, sizeof *members, by_series);
    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && continues(&members[i + n - 1], &members[i + n]); n++)
            ;
        if (n >= SB_SERIES_LEAST && !add_series(m, parent, members + i, n, scratch)) return false;
    }
    return true;
}

sb_status sb_series_build(sb_model *m, sb_arena *scratch, sb_err *err) {
    uint32_t boxes = m->box_count, most = 0, before = boxes;
    for (uint32_t i = 0; i < boxes; i++)
        if (m->boxes[i].child_count > most) most = m->boxes[i].child_count;
    member *members = sb_arena_get(scratch, ((size_t)most + 1) * sizeof *members);
    if (!members) return sb_fail_nomem(err, "for a graph");
    for (uint32_t i = 0; i < boxes; i++)
        if (m->boxes[i].child_count >= SB_SERIES_LEAST && !group_children(m, i, members, scratch))
            return sb_fail_nomem(err, "for a graph");
    return m->box_count == before ? SB_OK : sb_tree_list(m, err);
}
