/* tree.c: creates boxes for nodes and for the scopes in their names. */
#include "base/search.h"
#include "base/slice.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_PARTS 100u
#define MOST_REPEATS (1u << 30)

/* Returns the box of a scope. Creates it, and the scopes that contain it, when it does not exist.
 * `parts` limits the depth; below the limit the rest of the name is not split any further. */
static uint32_t scope_of(sb_model *m, sb_slice name, unsigned parts) {
    if (name.n == 0) return SB_BOX_ROOT;
    uint32_t found = sb_intern_find(&m->names, name);
    if (found != SB_INTERN_NONE) return found;
    const uint8_t *slash = memrchr(name.p, '/', name.n);
    uint32_t parent = SB_BOX_ROOT;
    if (slash && parts > 1)
        parent = scope_of(m, sb_slice_of(name.p, (size_t)(slash - name.p)), parts - 1);
    if (parent == SB_BOX_NONE) return SB_BOX_NONE;
    sb_box *box = sb_model_add_box(m, name, parent, SB_BOX_SCOPE);
    return box ? (uint32_t)(box - m->boxes) : SB_BOX_NONE;
}

static bool is_too_deep(sb_slice name) {
    size_t parts = 0;
    for (size_t i = 0; i < name.n; i++) parts += name.p[i] == '/';
    return parts >= MOST_PARTS;
}

static sb_slice part_before(sb_slice name) {
    const uint8_t *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
    return sb_slice_of(name.p, slash ? (size_t)(slash - name.p) : 0);
}

/* Returns the name of an operation whose own name is taken: "a/(a)" for n = 0, when a scope has the
 * name; otherwise "a (2)", "a (3)" and so on for duplicates. */
static sb_slice other_name(sb_raw *r, sb_slice name, uint32_t n) {
    sb_buf text;
    sb_buf_init(&text, &r->alloc, 1 << 20);
    sb_buf_add_slice(&text, name);
    if (n == 0) {
        sb_slice before = part_before(name);
        size_t from = before.n ? before.n + 1 : name.n && name.p[0] == '/' ? 1 : 0;
        sb_buf_add_str(&text, "/(");
        sb_buf_add(&text, name.p + from, name.n - from);
        sb_buf_add_str(&text, ")");
    } else {
        sb_buf_printf(&text, " (%u)", n + 1);
    }
    return sb_buf_slice(&text); /* allocated in the scratch arena */
}

static bool is_taken(sb_raw *r, sb_slice name, uint32_t n) {
    sb_arena_mark mark = sb_arena_here(r->scratch);
    bool is_there = sb_intern_find(&r->m->names, other_name(r, name, n)) != SB_INTERN_NONE;
    sb_arena_reset(r->scratch, mark);
    return is_there;
}

/* Returns the first free name of "a (2)", "a (3)", ... They are used in order without gaps, so it
 * is found by binary search: a file may have a hundred thousand nodes of the same name. */
static sb_slice free_name(sb_raw *r, sb_slice name) {
    uint32_t last = 0, next = 1, n;
    while (next < MOST_REPEATS && is_taken(r, name, next)) last = next, next *= 2;
    SB_PARTITION_POINT(n, last + 1, next, is_taken(r, name, n));
    return other_name(r, name, n);
}

/* Creates the box of a node that is not a call. */
static sb_box *op_box(sb_raw *r, sb_raw_node *node) {
    sb_model *m = r->m;
    sb_slice name = node->name;
    uint32_t parent = scope_of(m, part_before(name), MOST_PARTS);
    if (parent == SB_BOX_NONE) return NULL;
    uint32_t taken = sb_intern_find(&m->names, name);
    if (taken != SB_INTERN_NONE && m->boxes[taken].kind == SB_BOX_SCOPE) {
        name = other_name(r, name, 0);
        parent = taken;
        taken = sb_intern_find(&m->names, name);
    }
    if (taken != SB_INTERN_NONE) sb_model_note(m, SB_ODD_DUPLICATE, node->name);
    if (taken != SB_INTERN_NONE) name = free_name(r, name);
    return name.p ? sb_model_add_box(m, name, parent, SB_BOX_OP) : NULL;
}

static bool add_text(sb_model *m, sb_slice text, uint32_t *id) {
    *id = SB_BOX_NONE;
    return text.n == 0 || sb_intern_add(&m->texts, text, id, NULL) == SB_OK;
}

static bool add_scopes(sb_raw *r) {
    for (size_t i = 0; i < r->nodes.n; i++) {
        sb_raw_node *node = &r->nodes.items[i];
        if (is_too_deep(node->name)) sb_model_note(r->m, SB_ODD_DEEP, node->name);
        if (scope_of(r->m, part_before(node->name), MOST_PARTS) == SB_BOX_NONE) return false;
        /* When two calls have the same name, the second one stays a plain operation. */
        if (node->call == SB_BOX_NONE) continue;
        uint32_t box = scope_of(r->m, node->name, MOST_PARTS);
        if (box == SB_BOX_NONE) return false;
        if (r->m->boxes[box].kind == SB_BOX_CALL) continue;
        r->m->boxes[box].kind = SB_BOX_CALL;
        node->box = box;
    }
    return true;
}

sb_status sb_tree_build(sb_raw *r, sb_err *err) {
    sb_model *m = r->m;
    if (!add_scopes(r)) return sb_fail_nomem(err, "for a graph");
    for (size_t i = 0; i < r->nodes.n; i++) {
        if (!sb_raw_goes_on(r, i, r->nodes.n)) return SB_CANCELLED;
        sb_raw_node *node = &r->nodes.items[i];
        sb_box *box = node->box == SB_BOX_NONE ? op_box(r, node) : &m->boxes[node->box];
        if (!box) return sb_fail_nomem(err, "for a graph");
        node->box = (uint32_t)(box - m->boxes);
        box->side = node->side;
        if (!add_text(m, node->op, &box->op) || !add_text(m, node->device, &box->device))
            return sb_fail_nomem(err, "for a graph");
    }
    return SB_OK;
}

sb_status sb_tree_list(sb_model *m, sb_err *err) {
    uint32_t n = m->box_count;
    m->children = sb_arena_zeroed(&m->arena, n, sizeof *m->children);
    if (!m->children) return sb_fail_nomem(err, "for a graph");
    for (uint32_t i = 0; i < n; i++) m->boxes[i].child_count = 0;
    for (uint32_t i = 1; i < n; i++) m->boxes[m->boxes[i].parent].child_count++;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        m->boxes[i].first_child = at;
        at += m->boxes[i].child_count;
        m->boxes[i].child_count = 0;
    }
    for (uint32_t i = 1; i < n; i++) {
        sb_box *parent = &m->boxes[m->boxes[i].parent];
        m->children[parent->first_child + parent->child_count++] = i;
    }
    /* A parent may have a larger index than its children (series), so a breadth-first walk from the
     * root is needed to compute depths. */
    uint32_t *order = sb_arena_get(&m->arena, n * sizeof *order);
    if (!order) return sb_fail_nomem(err, "for a graph");
    uint32_t filled = 1;
    order[0] = SB_BOX_ROOT;
    for (uint32_t i = 0; i < filled; i++) {
        const sb_box *b = &m->boxes[order[i]];
        for (uint32_t k = 0; k < b->child_count; k++) {
            uint32_t child = m->children[b->first_child + k];
            m->boxes[child].depth = b->depth + 1;
            order[filled++] = child;
        }
    }
    m->downwards = order;
    return SB_OK;
}
