/* plan.c: chooses the ops of a run and places their values. */
#include "train/plan.h"

#include "base/status.h"
#include "codec/tensor.h"
#include "train/ops.h"
#include "train/session.h"
#include "base/banned.h"

#define ALIGN 64
#define FOREVER SIZE_MAX

size_t sb_element_size(sb_dtype dtype) {
    return dtype == SB_STRING ? sizeof(sb_slice) : sb_dtype_size(dtype);
}

typedef struct planning {
    plan *p;
    const sb_net *g;
    uint8_t *seen;     /* by op: 1 its effects are wanted, 2 its value too */
    place **places;    /* by op and output; NULL: not placed */
    size_t **last_use; /* by op and output: the last step that reads its memory */
    port **root;       /* by op and output: whose memory it is */
    sb_err *err;
} planning;

/* ---- which ops ------------------------------------------------------------------------------- */

enum { EFFECT = 1, VALUE = 2 };

static bool is_fed(const planning *pl, const sb_op *op) {
    for (size_t i = 0; i < pl->p->feed_count; i++)
        if (pl->p->feeds[i] == op) return true;
    return false;
}

/* A known value needs no op, unless the op is a stateful one or waits for another. */
static bool is_known(const sb_op *op) {
    return op->out_count && op->outs[0].value && op->control_count == 0;
}

/* Walks backwards over ids, since every edge leads to a smaller one. */
static void mark(planning *pl) {
    for (size_t i = 0; i < pl->p->fetch_count; i++) pl->seen[pl->p->fetches[i]->id] = VALUE;
    for (size_t i = pl->g->ops.n; i-- > 0;) {
        const sb_op *op = pl->g->ops.items[i];
        uint8_t *seen = &pl->seen[i];
        if (*seen == 0 || is_fed(pl, op)) continue;
        if (op->kind->flags & OP_STATE || is_kind(op, OP_NO_OP)) *seen = VALUE;
        if (is_known(op)) continue;
        for (uint32_t k = 0; k < op->input_count; k++) {
            uint8_t *input = &pl->seen[op->inputs[k].op->id];
            if (*input < *seen) *input = *seen;
        }
        for (uint32_t k = 0; k < op->control_count; k++) {
            uint8_t *control = &pl->seen[op->controls[k]->id];
            if (*control < EFFECT) *control = EFFECT;
        }
    }
}

/* Does the op take part in the run, as a step or as the source of a value? */
static bool is_wanted(const planning *pl, const sb_op *op) {
    return pl->seen[op->id] == VALUE;
}

static bool is_step(const planning *pl, const sb_op *op) {
    if (!is_wanted(pl, op) || is_fed(pl, op) || op->kind->run == sb_run_none) return false;
    if (op->out_count && op->outs[0].value) return false;
    return !(sb_op_is_alias(op) && !(op->kind->flags & OP_REF));
}

/* ---- where values are ------------------------------------------------------------------------ */

static sb_status place_source(planning *pl, const sb_op *op, uint32_t slot, place *at) {
    for (size_t i = 0; i < pl->p->feed_count; i++)
        if (pl->p->feeds[i] == op) {
            *at = (place){.kind = AT_FEED, .at = i};
            return SB_OK;
        }
    if (op->outs[slot].value)
        *at = (place){.kind = AT_CONSTANT, .p = op->outs[slot].value};
    else if (op->variable != UINT32_MAX)
        *at = (place){.kind = AT_VARIABLE, .at = op->variable};
    else if (is_kind(op, OP_PLACEHOLDER))
        return sb_fail(pl->err, SB_INVALID, 0,
                       "you must feed a value for placeholder '%s' with type %s and shape %s",
                       op->name, sb_dtype_name(op->outs[0].dtype),
                       sb_show_dims(&op->outs[0].dims).text);
    return SB_OK;
}

static sb_status find_roots(planning *pl) {
    for (size_t i = 0; i < pl->g->ops.n; i++) {
        sb_op *op = pl->g->ops.items[i];
        if (!is_wanted(pl, op) || op->out_count == 0) continue;
        pl->places[i] = sb_arena_zeroed(&pl->p->arena, op->out_count, sizeof(place));
        pl->last_use[i] = sb_arena_zeroed(&pl->p->arena, op->out_count, sizeof(size_t));
        pl->root[i] = sb_arena_zeroed(&pl->p->arena, op->out_count, sizeof(port));
        if (!pl->places[i] || !pl->last_use[i] || !pl->root[i])
            return sb_fail_nomem(pl->err, "for a plan");
        for (uint32_t k = 0; k < op->out_count; k++) {
            bool is_alias = k == 0 && sb_op_is_alias(op) && !is_fed(pl, op) && !op->outs[0].value;
            if (is_alias) {
                port from = op->inputs[0];
                pl->root[i][k] = pl->root[from.op->id][from.slot];
                continue;
            }
            pl->root[i][k] = (port){op, k};
            sb_status status = place_source(pl, op, k, &pl->places[i][k]);
            if (status != SB_OK) return status;
        }
    }
    return SB_OK;
}

static place *place_of_port(planning *pl, port p) {
    port root = pl->root[p.op->id][p.slot];
    return &pl->places[root.op->id][root.slot];
}

static void use_at(planning *pl, port p, size_t step) {
    port root = pl->root[p.op->id][p.slot];
    size_t *last = &pl->last_use[root.op->id][root.slot];
    if (*last < step) *last = step;
}

static void find_last_uses(planning *pl) {
    for (size_t s = 0; s < pl->p->step_count; s++) {
        const sb_op *op = pl->p->steps[s].op;
        for (uint32_t i = 0; i < op->input_count; i++) use_at(pl, op->inputs[i], s);
        for (uint32_t i = 0; i < op->out_count; i++)
            use_at(pl, (port){(sb_op *)(uintptr_t)op, i}, s);
    }
    for (size_t i = 0; i < pl->p->fetch_count; i++)
        if (pl->p->fetches[i]->out_count) use_at(pl, port_of(pl->p->fetches[i]), FOREVER);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct block {
    size_t offset, bytes, last;
} block;

typedef struct block_list {
    block *items; /* by offset */
    size_t n, room;
} block_list;

/* The lowest gap that is large enough. */
static bool take_block(block_list *live, size_t bytes, size_t last, size_t *offset, size_t *top) {
    size_t at = 0, i = 0;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    for (; i < live->n && live->items[i].offset - at < bytes; i++)
        at = live->items[i].offset + live->items[i].bytes;
    block *slot = SB_VEC_INSERT(live, NET_ALLOC, i, SIZE_MAX);
    if (!slot) return false;
    *slot = (block){at, bytes, last};
    *offset = at;
    if (at + bytes > *top) *top = at + bytes;
    return true;
}

static void release_blocks(block_list *live, size_t before) {
    size_t kept = 0;
    for (size_t i = 0; i < live->n; i++)
        if (live->items[i].last >= before) live->items[kept++] = live->items[i];
    live->n = kept;
}

static bool place_step(planning *pl, size_t s, block_list *live) {
    plan_step *step = &pl->p->steps[s];
    const sb_op *op = step->op;
    release_blocks(live, s);
    for (uint32_t i = 0; i < op->out_count; i++) {
        port root = pl->root[op->id][i];
        if (root.op != op) continue;
        place *at = &pl->places[op->id][i];
        size_t bytes = op->outs[i].count * sb_element_size(op->outs[i].dtype);
        at->kind = AT_OFFSET;
        if (!take_block(live, bytes, pl->last_use[op->id][i], &at->at, &pl->p->bytes)) return false;
    }
    size_t scratch = op->kind->scratch ? op->kind->scratch(op) : 0;
    if (!take_block(live, scratch, s, &step->scratch, &pl->p->bytes)) return false;
    for (size_t i = 0; i < live->n; i++) step->live += live->items[i].bytes;
    return true;
}

static sb_status place_steps(planning *pl) {
    block_list live = {0};
    bool done = true;
    for (size_t s = 0; s < pl->p->step_count && done; s++) done = place_step(pl, s, &live);
    SB_VEC_FREE(&live, NET_ALLOC);
    return done ? SB_OK : sb_fail_nomem(pl->err, "for a plan");
}

/* ---- the plan -------------------------------------------------------------------------------- */

static sb_status list_steps(planning *pl) {
    size_t n = 0;
    for (size_t i = 0; i < pl->g->ops.n; i++) n += is_step(pl, pl->g->ops.items[i]);
    pl->p->steps = sb_arena_zeroed(&pl->p->arena, n + 1, sizeof *pl->p->steps);
    pl->p->tune.steps = sb_arena_zeroed(&pl->p->arena, n + 1, sizeof *pl->p->tune.steps);
    pl->p->tune.count = n;
    if (!pl->p->steps || !pl->p->tune.steps) return sb_fail_nomem(pl->err, "for a plan");
    for (size_t i = 0; i < pl->g->ops.n; i++)
        if (is_step(pl, pl->g->ops.items[i]))
            pl->p->steps[pl->p->step_count++].op = pl->g->ops.items[i];
    return SB_OK;
}

/* Every step gets the places of its inputs and outputs, and room for their addresses. */
static sb_status fill_steps(planning *pl) {
    for (size_t s = 0; s < pl->p->step_count; s++) {
        plan_step *step = &pl->p->steps[s];
        const sb_op *op = step->op;
        place *in = sb_arena_zeroed(&pl->p->arena, op->input_count + 1, sizeof *in);
        place *out = sb_arena_zeroed(&pl->p->arena, op->out_count + 1, sizeof *out);
        step->in_data = sb_arena_zeroed(&pl->p->arena, op->input_count + 1, sizeof(void *));
        step->out_data = sb_arena_zeroed(&pl->p->arena, op->out_count + 1, sizeof(void *));
        if (!in || !out || !step->in_data || !step->out_data)
            return sb_fail_nomem(pl->err, "for a plan");
        for (uint32_t i = 0; i < op->input_count; i++) in[i] = *place_of_port(pl, op->inputs[i]);
        for (uint32_t i = 0; i < op->out_count; i++)
            out[i] = *place_of_port(pl, (port){(sb_op *)(uintptr_t)op, i});
        step->in = in;
        step->out = out;
    }
    for (size_t i = 0; i < pl->p->fetch_count; i++)
        if (pl->p->fetches[i]->out_count)
            pl->p->results[i] = *place_of_port(pl, port_of(pl->p->fetches[i]));
    return SB_OK;
}

static sb_status copy_lists(plan *p, sb_op *const *fetches, sb_op *const *feeds, sb_err *err) {
    p->fetches = sb_arena_zeroed(&p->arena, p->fetch_count + 1, sizeof *p->fetches);
    p->results = sb_arena_zeroed(&p->arena, p->fetch_count + 1, sizeof *p->results);
    p->feeds = sb_arena_zeroed(&p->arena, p->feed_count + 1, sizeof *p->feeds);
    if (!p->fetches || !p->results || !p->feeds) return sb_fail_nomem(err, "for a plan");
    for (size_t i = 0; i < p->fetch_count; i++) p->fetches[i] = fetches[i];
    for (size_t i = 0; i < p->feed_count; i++) p->feeds[i] = feeds[i];
    return SB_OK;
}

sb_status sb_plan_new(plan **out, const sb_net *g, sb_op *const *fetches, size_t fetch_count,
                      sb_op *const *feeds, size_t feed_count, sb_err *err) {
    *out = NULL;
    plan *p = sb_alloc_zeroed(NET_ALLOC, 1, sizeof *p);
    if (!p) return sb_fail_nomem(err, "for a plan");
    sb_arena_init(&p->arena, NET_ALLOC, 8192, SIZE_MAX / 2);
    p->fetch_count = fetch_count;
    p->feed_count = feed_count;
    planning pl = {.p = p, .g = g, .err = err};
    pl.seen = sb_arena_zeroed(&p->arena, g->ops.n + 1, sizeof *pl.seen);
    pl.places = sb_arena_zeroed(&p->arena, g->ops.n + 1, sizeof *pl.places);
    pl.last_use = sb_arena_zeroed(&p->arena, g->ops.n + 1, sizeof *pl.last_use);
    pl.root = sb_arena_zeroed(&p->arena, g->ops.n + 1, sizeof *pl.root);
    sb_status status = pl.seen && pl.places && pl.last_use && pl.root
                           ? copy_lists(p, fetches, feeds, err)
                           : sb_fail_nomem(err, "for a plan");
    if (status == SB_OK) {
        mark(&pl);
        status = find_roots(&pl);
    }
    if (status == SB_OK) status = list_steps(&pl);
    if (status == SB_OK) {
        find_last_uses(&pl);
        status = place_steps(&pl);
    }
    if (status == SB_OK) status = fill_steps(&pl);
    if (status == SB_OK)
        *out = p;
    else
        sb_plan_free(p);
    return status;
}

void sb_plan_free(plan *p) {
    if (!p) return;
    sb_arena_fini(&p->arena);
    sb_alloc_put(NET_ALLOC, p, sizeof *p);
}
