/* object_report.c: what became of a restore: which values of the file and which objects of the
 * program have found each other, and why others have not. */
#include "base/slice.h"
#include "ckpt/object/restore_int.h"
#include "base/banned.h"

/* "(root).model.w": the way to a node, by the first edges found. */
static void add_node_path(sb_buf *out, const sb_restore *r, uint32_t node, unsigned depth) {
    if (node == 0 || depth > 64) {
        sb_buf_add_str(out, "(root)");
        return;
    }
    for (size_t n = 0; n < r->count; n++) {
        for (uint32_t i = 0; i < r->nodes[n].edge_count; i++)
            if (r->nodes[n].edges[i].node == node && n < node) {
                add_node_path(out, r, (uint32_t)n, depth + 1);
                sb_buf_printf(out, ".%.*s", SB_SHOWN(r->nodes[n].edges[i].name));
                return;
            }
        for (uint32_t i = 0; i < r->nodes[n].slot_count; i++)
            if (r->nodes[n].slots[i].value == node) {
                add_node_path(out, r, (uint32_t)n, depth + 1);
                sb_buf_printf(out, "'s state '%.*s' for ", SB_SHOWN(r->nodes[n].slots[i].name));
                add_node_path(out, r, r->nodes[n].slots[i].variable, depth + 1);
                return;
            }
    }
    sb_buf_printf(out, "node %u", node);
}

static bool file_has_edge(const sb_graph_node *node, sb_slice name) {
    for (uint32_t i = 0; i < node->edge_count; i++)
        if (sb_slice_eq(node->edges[i].name, name)) return true;
    return false;
}

/* Where the file and the program part: an object that both have, an edge that only the file has;
 * and what the program has there that the file has not. */
static void add_parting(sb_buf *out, const sb_restore *r, uint32_t node) {
    for (size_t n = 0; n < r->count; n++)
        for (uint32_t i = 0; i < r->nodes[n].edge_count; i++) {
            const sb_graph_edge *edge = &r->nodes[n].edges[i];
            if (edge->node != node || n >= node) continue;
            if (!r->objects[n]) {
                add_parting(out, r, (uint32_t)n);
                return;
            }
            sb_buf_add_str(out, "; at ");
            add_node_path(out, r, (uint32_t)n, 0);
            sb_buf_printf(out, " the file has '%.*s', the program has ", SB_SHOWN(edge->name));
            size_t shown = 0;
            const sb_object *o = r->objects[n];
            for (size_t k = 0; k < o->edges.n && shown < 5; k++) {
                sb_slice name = o->edges.items[k].name;
                if (file_has_edge(&r->nodes[n], name) || o->edges.items[k].child == r->c->counter)
                    continue;
                sb_buf_printf(out, "%s'%.*s'", shown ? ", " : "", SB_SHOWN(name));
                shown++;
            }
            if (!shown) sb_buf_add_str(out, "nothing else there");
            return;
        }
}

static bool is_unused(const sb_restore *r, size_t n) {
    return r->nodes[n].value_count && !r->objects[n];
}

static sb_status fail_with(const sb_restore *r, sb_buf *text, sb_err *err) {
    sb_fail(err, SB_INVALID, 0, "%.*s: %.*s", SB_SHOWN(r->path), (int)text->n,
            text->p ? (const char *)text->p : "");
    sb_buf_fini(text);
    return SB_INVALID;
}

/* Marks the objects that have a node in the file, for is_bound. */
static void mark_bound(const sb_restore *r) {
    for (size_t n = 0; n < r->count; n++)
        if (r->objects[n]) r->objects[n]->bound_by = r->number;
}

static bool is_bound(const sb_restore *r, const sb_object *o) {
    if (r->by_name) return o == r->c->counter || sb_bundle_find(r->b, o->full_name);
    return o->bound_by == r->number;
}

/* Was the variable of an object set by this restore or a newer one? */
static bool is_restored(const sb_restore *r, const sb_object *o) {
    return !o->is_variable || o == r->c->counter || (is_bound(r, o) && o->restored_by >= r->number);
}

static void add_missing(sb_buf *text, size_t *missing, sb_slice name, sb_slice attribute) {
    if ((*missing)++ >= 10) return;
    sb_buf_printf(text, "%s'%.*s%s%.*s'", *missing > 1 ? ", " : "", SB_SHOWN(name),
                  attribute.n ? "/" : "", SB_SHOWN(attribute));
}

sb_status sb_restore_assert_existing_objects_matched(sb_restore *r, sb_err *err) {
    const sb_checkpoint *c = r->c;
    sb_buf text;
    size_t missing = 0;
    mark_bound(r);
    sb_buf_init(&text, c->env.alloc, 1 << 16);
    for (size_t i = 0; i < c->objects.n; i++) {
        const sb_object *o = c->objects.items[i];
        if (!is_restored(r, o)) add_missing(&text, &missing, o->full_name, SB_LIT(""));
        for (size_t k = 0; k < o->values.n; k++)
            if (o->values.items[k].restored_by < r->number)
                add_missing(&text, &missing, o->name, o->values.items[k].name);
    }
    if (missing == 0) {
        sb_buf_fini(&text);
        return SB_OK;
    }
    sb_buf_printf(&text, "%s the file has no value for %s", missing > 10 ? ", ...:" : ":",
                  missing > 1 ? "these variables of the program" : "this variable of the program");
    for (size_t n = 0; n < r->count; n++)
        if (is_unused(r, n)) {
            add_parting(&text, r, (uint32_t)n);
            break;
        }
    return fail_with(r, &text, err);
}

sb_status sb_restore_assert_consumed(sb_restore *r, sb_err *err) {
    sb_buf text;
    sb_buf_init(&text, r->c->env.alloc, 1 << 16);
    for (size_t n = 0; n < r->count; n++) {
        if (!is_unused(r, n)) continue;
        add_node_path(&text, r, (uint32_t)n, 0);
        sb_buf_add_str(&text, " is in the file and was not restored");
        add_parting(&text, r, (uint32_t)n);
        return fail_with(r, &text, err);
    }
    if (r->unused.n) {
        const sb_unused_value *u = &r->unused.items[0];
        sb_buf_printf(&text, "'%.*s' is in the file, and its object has no such value",
                      SB_SHOWN(r->nodes[u->node].values[u->value].key));
        return fail_with(r, &text, err);
    }
    sb_buf_fini(&text);
    return sb_restore_assert_existing_objects_matched(r, err);
}

sb_status sb_restore_assert_nontrivial_match(sb_restore *r, sb_err *err) {
    for (size_t n = 1; n < r->count; n++)
        if (r->objects[n]) return SB_OK;
    for (size_t i = 0; r->by_name && i < r->c->objects.n; i++)
        if (r->c->objects.items[i]->is_variable && is_bound(r, r->c->objects.items[i]) &&
            r->c->objects.items[i] != r->c->counter)
            return SB_OK;
    return sb_fail(err, SB_INVALID, 0,
                   "%.*s: nothing in this file matches an object of the program",
                   SB_SHOWN(r->path));
}

void sb_restore_expect_partial(sb_restore *r) {
    r->is_partial = true;
}

const char *sb_restore_unused(sb_restore *r, size_t i) {
    if (r->is_partial) return NULL;
    for (size_t n = 0; n < r->count; n++)
        for (uint32_t k = 0; is_unused(r, n) && k < r->nodes[n].value_count; k++)
            if (i-- == 0) return (const char *)sb_arena_dup(&r->arena, r->nodes[n].values[k].key).p;
    if (i >= r->unused.n) return NULL;
    const sb_unused_value *u = &r->unused.items[i];
    return (const char *)sb_arena_dup(&r->arena, r->nodes[u->node].values[u->value].key).p;
}
