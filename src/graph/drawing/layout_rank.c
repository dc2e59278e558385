/* layout_rank.c: breaks cycles, assigns nodes to ranks, and divides edges that span several
 * ranks. */
#include <string.h>

#include "graph/drawing/layout_int.h"
#include "base/banned.h"

/* The number of bends is limited. An edge that spans more ranks than LONGEST_EDGE, or that would
 * exceed the total number of bends, gets no bends and is drawn as one straight line. */
#define LONGEST_EDGE 400u
#define BENDS_A_NODE 6u

typedef struct ranking {
    sb_level *v;
    uint32_t *outs, *first_out; /* outgoing edges by node (adjacency lists) */
    uint32_t *state, *stack, *next;
    uint32_t *order; /* nodes in topological order */
    uint32_t *waiting;
} ranking;

static bool is_loop(const sb_layout_edge *e) {
    return e->from == e->to;
}
static uint32_t top_of(const sb_layout_edge *e) {
    return e->is_up ? e->to : e->from;
}
static uint32_t bottom_of(const sb_layout_edge *e) {
    return e->is_up ? e->from : e->to;
}

/* Builds adjacency lists: the edges of each node at the end that `which` returns. */
static bool list_edges(sb_level *v, uint32_t (*which)(const sb_layout_edge *), uint32_t **list,
                       uint32_t **first) {
    sb_level_layout *l = v->l;
    *first = sb_arena_zeroed(v->arena, l->node_count + 2, sizeof **first);
    *list = sb_arena_get(v->arena, ((size_t)l->edge_count + 1) * sizeof **list);
    if (!*first || !*list) return false;
    for (uint32_t i = 0; i < l->edge_count; i++) (*first)[which(&l->edges[i]) + 2]++;
    for (uint32_t i = 1; i < l->node_count + 2; i++) (*first)[i] += (*first)[i - 1];
    for (uint32_t i = 0; i < l->edge_count; i++) (*list)[(*first)[which(&l->edges[i]) + 1]++] = i;
    return true;
}

/* Reverses edges that close a cycle, with a depth-first search: an edge to a node on the current
 * path is marked as leading upwards. The caller starts with nodes that must be at the top, then
 * with nodes without inputs, then with the rest, so that the edges that are reversed are those a
 * reader expects. */
static void turn_cycles(ranking *r, uint32_t start) {
    enum { NEW, ON_THE_WAY, DONE };
    sb_level_layout *l = r->v->l;
    uint32_t n = 0;
    if (r->state[start] != NEW) return;
    r->stack[n++] = start;
    r->state[start] = ON_THE_WAY;
    while (n) {
        uint32_t node = r->stack[n - 1];
        uint32_t at = r->first_out[node] + r->next[node];
        if (at == r->first_out[node + 1]) {
            r->state[node] = DONE;
            n--;
            continue;
        }
        r->next[node]++;
        sb_layout_edge *e = &l->edges[r->outs[at]];
        if (is_loop(e)) continue;
        if (r->state[e->to] == ON_THE_WAY) e->is_up = true;
        if (r->state[e->to] != NEW) continue;
        r->state[e->to] = ON_THE_WAY;
        r->stack[n++] = e->to;
    }
}

static uint32_t from_of(const sb_layout_edge *e) {
    return e->from;
}

static bool break_cycles(ranking *r) {
    sb_level_layout *l = r->v->l;
    uint32_t n = l->node_count;
    if (!list_edges(r->v, from_of, &r->outs, &r->first_out)) return false;
    r->state = sb_arena_zeroed(r->v->arena, n + 1, sizeof *r->state);
    r->next = sb_arena_zeroed(r->v->arena, n + 1, sizeof *r->next);
    r->stack = sb_arena_get(r->v->arena, ((size_t)n + 1) * sizeof *r->stack);
    uint32_t *inputs = sb_arena_zeroed(r->v->arena, n + 1, sizeof *inputs);
    if (!r->state || !r->next || !r->stack || !inputs) return false;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        l->edges[i].is_up = l->nodes[l->edges[i].to].end == SB_END_TOP ||
                            l->nodes[l->edges[i].from].end == SB_END_BOTTOM;
        if (!is_loop(&l->edges[i])) inputs[l->edges[i].to]++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (l->nodes[i].end == SB_END_TOP) turn_cycles(r, i);
    for (uint32_t i = 0; i < n; i++)
        if (inputs[i] == 0) turn_cycles(r, i);
    for (uint32_t i = 0; i < n; i++) turn_cycles(r, i);
    return true;
}

/* Assigns ranks: the rank of a node is the length of the longest path to it (longest-path layering,
 * in topological order). Then nodes with more outputs than inputs are moved down, next to the nodes
 * that they feed, which makes edges shorter. */
static bool rank_nodes(ranking *r) {
    sb_level_layout *l = r->v->l;
    uint32_t n = l->node_count, *ins, *first_in, *outs, *first_out, top = 0, filled = 0;
    if (!list_edges(r->v, top_of, &outs, &first_out) ||
        !list_edges(r->v, bottom_of, &ins, &first_in))
        return false;
    r->order = r->stack;
    memset(r->next, 0, n * sizeof *r->next);
    for (uint32_t i = 0; i < l->edge_count; i++)
        if (!is_loop(&l->edges[i])) r->next[bottom_of(&l->edges[i])]++;
    for (uint32_t i = 0; i < n; i++) {
        l->nodes[i].rank = 0;
        if (l->nodes[i].end == SB_END_TOP) top = 1;
        if (r->next[i] == 0) r->order[filled++] = i;
    }
    for (uint32_t i = 0; i < filled; i++) {
        uint32_t node = r->order[i];
        if (l->nodes[node].rank < top && l->nodes[node].end != SB_END_TOP)
            l->nodes[node].rank = top;
        for (uint32_t k = first_out[node]; k < first_out[node + 1]; k++) {
            if (is_loop(&l->edges[outs[k]])) continue;
            sb_layout_node *below = &l->nodes[bottom_of(&l->edges[outs[k]])];
            if (below->rank < l->nodes[node].rank + 1) below->rank = l->nodes[node].rank + 1;
            if (--r->next[bottom_of(&l->edges[outs[k]])] == 0)
                r->order[filled++] = bottom_of(&l->edges[outs[k]]);
        }
    }
    uint32_t last = 0;
    for (uint32_t i = filled; i-- > 0;) {
        uint32_t node = r->order[i], nearest = UINT32_MAX, down = 0, up = 0;
        if (l->nodes[node].end == SB_END_TOP) continue;
        for (uint32_t k = first_out[node]; k < first_out[node + 1]; k++) {
            if (is_loop(&l->edges[outs[k]])) continue;
            uint32_t rank = l->nodes[bottom_of(&l->edges[outs[k]])].rank;
            if (l->nodes[bottom_of(&l->edges[outs[k]])].end == SB_END_BOTTOM) continue;
            if (rank < nearest) nearest = rank;
            down++;
        }
        for (uint32_t k = first_in[node]; k < first_in[node + 1]; k++)
            up += !is_loop(&l->edges[ins[k]]);
        if (nearest != UINT32_MAX && down > up) l->nodes[node].rank = nearest - 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (l->nodes[i].rank > last) last = l->nodes[i].rank;
    bool has_bottom = false;
    for (uint32_t i = 0; i < n; i++) has_bottom |= l->nodes[i].end == SB_END_BOTTOM;
    for (uint32_t i = 0; i < n; i++)
        if (l->nodes[i].end == SB_END_BOTTOM) l->nodes[i].rank = last + 1;
    r->v->rank_count = last + 1 + has_bottom;
    return true;
}

/* Removes empty ranks and numbers the others consecutively. */
static bool close_ranks(sb_level *v) {
    sb_level_layout *l = v->l;
    uint32_t *new_rank = sb_arena_zeroed(v->arena, v->rank_count + 1, sizeof *new_rank), n = 0;
    if (!new_rank) return false;
    for (uint32_t i = 0; i < l->node_count; i++)
        if (v->vertex_of[i] != SB_NO_NODE) new_rank[l->nodes[i].rank] = 1;
    for (uint32_t i = 0; i < v->rank_count; i++) new_rank[i] = new_rank[i] ? ++n : n;
    for (uint32_t i = 0; i < l->node_count; i++)
        if (v->vertex_of[i] != SB_NO_NODE) l->nodes[i].rank = new_rank[l->nodes[i].rank] - 1;
    v->rank_count = n;
    return true;
}

bool sb_level_rank(sb_level *v) {
    ranking r = {.v = v};
    sb_level_layout *l = v->l;
    v->vertex_of = sb_arena_get(v->arena, ((size_t)l->node_count + 1) * sizeof *v->vertex_of);
    if (!v->vertex_of || !break_cycles(&r) || !rank_nodes(&r)) return false;
    memset(v->vertex_of, 0xff, l->node_count * sizeof *v->vertex_of);
    for (uint32_t i = 0; i < l->edge_count; i++)
        if (!is_loop(&l->edges[i]))
            v->vertex_of[l->edges[i].from] = v->vertex_of[l->edges[i].to] = 0;
    for (uint32_t i = 0; i < l->node_count; i++)
        if (l->nodes[i].is_port) v->vertex_of[i] = 0;
    for (uint32_t i = 0; i < l->node_count; i++)
        if (v->vertex_of[i] == 0) v->vertex_of[i] = v->real_count++;
    return close_ranks(v);
}

bool sb_level_bend(sb_level *v) {
    sb_level_layout *l = v->l;
    uint64_t bends = 0, hops = 0, most = (uint64_t)BENDS_A_NODE * v->real_count + 5000;
    v->first_bend = sb_arena_zeroed(v->arena, l->edge_count + 1, sizeof *v->first_bend);
    v->bend_count = sb_arena_zeroed(v->arena, l->edge_count + 1, sizeof *v->bend_count);
    if (!v->first_bend || !v->bend_count) return false;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const sb_layout_edge *e = &l->edges[i];
        if (is_loop(e)) continue;
        uint32_t passed = l->nodes[bottom_of(e)].rank - l->nodes[top_of(e)].rank - 1;
        if (passed > LONGEST_EDGE || bends + passed > most) continue;
        v->bend_count[i] = passed;
        bends += passed;
        hops += passed + 1;
    }
    v->vertex_count = v->real_count + (uint32_t)bends;
    size_t n = (size_t)v->vertex_count + 1;
    v->node_of = sb_arena_get(v->arena, n * sizeof *v->node_of);
    v->rank = sb_arena_get(v->arena, n * sizeof *v->rank);
    v->hops = sb_arena_get(v->arena, (hops + 1) * sizeof *v->hops);
    if (!v->node_of || !v->rank || !v->hops) return false;
    for (uint32_t i = 0; i < l->node_count; i++) {
        if (v->vertex_of[i] == SB_NO_NODE) continue;
        v->node_of[v->vertex_of[i]] = i;
        v->rank[v->vertex_of[i]] = l->nodes[i].rank;
    }
    uint32_t at = v->real_count;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const sb_layout_edge *e = &l->edges[i];
        if (is_loop(e)) continue;
        uint32_t top = l->nodes[top_of(e)].rank, bottom = l->nodes[bottom_of(e)].rank;
        /* too long: drawn as one straight line */
        if (v->bend_count[i] == 0 && bottom - top != 1) continue;
        uint32_t above = v->vertex_of[top_of(e)];
        v->first_bend[i] = at;
        for (uint32_t k = 0; k < v->bend_count[i]; k++) {
            v->node_of[at] = SB_NO_NODE;
            v->rank[at] = top + 1 + k;
            v->hops[v->hop_count++] = (sb_hop){above, at};
            above = at++;
        }
        v->hops[v->hop_count++] = (sb_hop){above, v->vertex_of[bottom_of(e)]};
    }
    return true;
}
