/* modules.c: the tree of nn.Module calls, with the time that each module takes. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/intern.h"
#include "base/search.h"
#include "profile/analysis/views.h"
#include "base/banned.h"

/* A node of the tree while it is built. The rows are put in order at the end. */
typedef struct node {
    sb_module_row row;
    uint32_t parent;            /* index of the parent + 1; 0: it is a root */
    uint32_t first, next, last; /* first and last child, next sibling: indexes + 1; 0: none */
} node;

typedef struct growing {
    const sb_trace *t;
    sb_intern keys; /* the key of a node: its parent and its name */
    SB_VEC(node) nodes;
    uint32_t **of; /* [track][span]: the node of a module's span + 1; 0: it is no module */
    sb_arena *arena;
} growing;

static uint32_t node_of(growing *g, uint32_t parent, uint32_t name) {
    uint32_t pair[2] = {parent, name}, id;
    bool is_new;
    if (sb_intern_add(&g->keys, sb_slice_of(pair, sizeof pair), &id, &is_new) != SB_OK) return 0;
    if (!is_new) return id + 1;
    node *n = SB_VEC_PUSH(&g->nodes, g->t->alloc, UINT32_MAX - 1);
    if (!n) return 0;
    *n = (node){.row = {.name = name}, .parent = parent};
    if (parent) {
        node *p = &g->nodes.items[parent - 1];
        n->row.depth = p->row.depth + 1;
        if (p->last)
            g->nodes.items[p->last - 1].next = id + 1;
        else
            p->first = id + 1;
        p->last = id + 1;
    }
    return id + 1;
}

/* The innermost module that encloses a span, as an index + 1; 0: none does. */
static uint32_t module_around(const growing *g, uint32_t track, uint32_t index) {
    const sb_track *k = &g->t->tracks.items[track];
    if (!g->of[track]) return 0;
    for (uint32_t at = sb_track_parent(k, index); at != SB_NO_INDEX; at = sb_track_parent(k, at))
        if (g->of[track][at]) return g->of[track][at];
    return 0;
}

static bool grow_track(growing *g, uint32_t track) {
    const sb_track *k = &g->t->tracks.items[track];
    uint32_t found = 0;
    for (uint32_t n = 0; n < k->spans.n; n++) found += k->spans.items[n].kind == SB_SPAN_MODULE;
    if (k->kind != SB_TRACK_THREAD || !found) return true;
    g->of[track] = sb_arena_zeroed(g->arena, k->spans.n, sizeof **g->of);
    if (!g->of[track]) return false;
    /* spans come lane by lane from the outermost, so whatever encloses a span has its node
     * already */
    for (uint32_t n = 0; n < k->spans.n; n++) {
        const sb_trace_span *s = &k->spans.items[n];
        if (s->kind != SB_SPAN_MODULE) continue;
        uint32_t parent = module_around(g, track, n), id = node_of(g, parent, s->name);
        if (!id) return false;
        g->of[track][n] = id;
        node *m = &g->nodes.items[id - 1];
        m->row.calls++;
        sb_sum(&m->row.host_total, s->dur);
        sb_sum(&m->row.host_self, s->dur);
        if (parent) sb_sum(&g->nodes.items[parent - 1].row.host_self, -s->dur);
    }
    for (uint32_t n = 0; n < k->spans.n; n++)
        if (k->spans.items[n].kind == SB_SPAN_OP) {
            uint32_t id = module_around(g, track, n);
            if (id) g->nodes.items[id - 1].row.operators++;
        }
    return true;
}

/* The module of a backward operator: that of the forward operator from which the file draws an
 * arrow to it. */
static uint32_t module_of_forward(const growing *g, uint32_t track, uint32_t index) {
    const sb_trace *t = g->t;
    const sb_track *k = &t->tracks.items[track];
    for (uint32_t at = index; at != SB_NO_INDEX; at = sb_track_parent(k, at)) {
        for (size_t i = sb_flows_to(t, track, at); i < t->flows.n; i++) {
            const sb_flow *f = sb_flow_by_end(t, i);
            if (f->to_track != track || f->to != at) break;
            if (f->kind == SB_FLOW_FORWARD_BACKWARD)
                return module_around(g, f->from_track, f->from);
        }
    }
    return 0;
}

static void add_device_time(growing *g) {
    const sb_trace *t = g->t;
    for (size_t i = 0; i < t->flows.n; i++) {
        const sb_flow *f = &t->flows.items[i];
        if (f->kind != SB_FLOW_LAUNCH) continue;
        uint32_t id = module_around(g, f->from_track, f->from);
        if (!id) id = module_of_forward(g, f->from_track, f->from);
        int64_t dur = t->tracks.items[f->to_track].spans.items[f->to].dur;
        if (id) sb_sum(&g->nodes.items[id - 1].row.device_self, dur);
        for (; id; id = g->nodes.items[id - 1].parent)
            sb_sum(&g->nodes.items[id - 1].row.device_total, dur);
    }
}

/* Depth first, but without recursion: the file decides how deep modules nest, so a recursion could
 * overflow the stack. */
static void flatten(growing *g, sb_module_view *out, int32_t *place) {
    for (uint32_t root = 1; root <= g->nodes.n; root++) {
        if (g->nodes.items[root - 1].parent) continue;
        uint32_t at = root;
        while (at) {
            const node *n = &g->nodes.items[at - 1];
            place[at - 1] = (int32_t)out->n;
            sb_module_row *row = &out->rows[out->n++];
            *row = n->row;
            row->parent = n->parent ? place[n->parent - 1] : -1;
            if (row->host_self < 0) row->host_self = 0;
            if (n->first) {
                at = n->first;
                continue;
            }
            while (at && at != root && !g->nodes.items[at - 1].next)
                at = g->nodes.items[at - 1].parent;
            at = at == root || !at ? 0 : g->nodes.items[at - 1].next;
        }
    }
}

bool sb_view_modules(const sb_trace *t, sb_module_view *out, sb_arena *arena) {
    growing g = {.t = t, .arena = arena};
    *out = (sb_module_view){0};
    g.of = sb_arena_zeroed(arena, t->tracks.n + 1, sizeof *g.of);
    bool is_done = g.of != NULL;
    sb_intern_init(&g.keys, t->alloc, 61, UINT32_MAX - 1);
    for (uint32_t i = 0; is_done && i < t->tracks.n; i++) is_done = grow_track(&g, i);
    if (is_done) add_device_time(&g);
    out->rows = sb_arena_get(arena, (g.nodes.n + 1) * sizeof *out->rows);
    int32_t *place = sb_arena_get(arena, (g.nodes.n + 1) * sizeof *place);
    is_done = is_done && out->rows && place;
    if (is_done) flatten(&g, out, place);
    SB_VEC_FREE(&g.nodes, t->alloc);
    sb_intern_fini(&g.keys);
    return is_done;
}
