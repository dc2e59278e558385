/* session.c: opening a session, feeding, running a plan, and the variables. */
#include "train/session.h"

#include <sched.h>
#include <sys/random.h>
#include <time.h>

#include "base/env.h"
#include "base/sized.h"
#include "base/status.h"
#include "codec/tensor.h"
#include "train/ops.h"
#include "base/banned.h"

#define ALIGN 64
#define MOST_PLANS 256

/* ---- life ------------------------------------------------------------------------------------ */

static unsigned processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

static uint64_t random_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed || seed == 0)
        seed = (uint64_t)time(NULL) | 1;
    return seed;
}

static uint8_t *aligned(uint8_t *p) {
    return p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN;
}

static sb_status make_variables(sb_net_session *s, sb_err *err) {
    const sb_net *g = s->g;
    size_t bytes = ALIGN;
    s->variable_count = g->variables.n;
    for (size_t i = 0; i < g->variables.n; i++) {
        const op_out *o = &g->variables.items[i].ref->outs[0];
        bytes += (o->count * sb_element_size(o->dtype) + ALIGN - 1) / ALIGN * ALIGN;
    }
    s->variables = sb_alloc_zeroed(NET_ALLOC, g->variables.n + 1, sizeof *s->variables);
    s->is_set = sb_alloc_zeroed(NET_ALLOC, g->variables.n + 1, sizeof *s->is_set);
    s->draws = sb_alloc_zeroed(NET_ALLOC, g->ops.n + 1, sizeof *s->draws);
    s->variable_memory = sb_alloc_zeroed(NET_ALLOC, 1, bytes);
    s->variable_bytes = bytes;
    s->op_count = g->ops.n;
    if (!s->variables || !s->is_set || !s->draws || !s->variable_memory)
        return sb_fail_nomem(err, "for the variables of a session");
    uint8_t *at = aligned(s->variable_memory);
    for (size_t i = 0; i < g->variables.n; i++) {
        const op_out *o = &g->variables.items[i].ref->outs[0];
        s->variables[i] = at;
        at += (o->count * sb_element_size(o->dtype) + ALIGN - 1) / ALIGN * ALIGN;
    }
    return SB_OK;
}

sb_status sb_net_session_open(sb_net_session **out, sb_net *g, const sb_net_session_opts *given,
                              sb_err *err) {
    sb_net_session_opts opts = {0};
    *out = NULL;
    sb_status status = sb_net_check(g, err);
    if (status == SB_OK && given)
        status = sb_sized_read(&opts, sizeof opts, given, 0, "sb_net_session_opts", err);
    if (status != SB_OK) return status;
    sb_net_session *s = sb_alloc_zeroed(NET_ALLOC, 1, sizeof *s);
    if (!s) return sb_fail_nomem(err, "for a session");
    s->g = g;
    s->has_saver_opts = opts.saver != NULL;
    s->seed = opts.seed ? opts.seed : random_seed();
    sb_arena_init(&s->run_arena, NET_ALLOC, 4096, SIZE_MAX / 2);
    if (opts.saver)
        status = sb_sized_read(&s->saver_opts, sizeof s->saver_opts, opts.saver, 0, "sb_saver_opts",
                               err);
    if (status == SB_OK) status = make_variables(s, err);
    if (status == SB_OK)
        status = sb_team_new(&s->team, opts.threads ? opts.threads : processors(), err);
    if (status == SB_OK)
        *out = s;
    else
        sb_net_session_close(s);
    return status;
}

void sb_net_session_close(sb_net_session *s) {
    if (!s) return;
    sb_team_free(s->team);
    sb_recording_fini(&s->recording);
    sb_saver_free(s->saver);
    for (size_t i = 0; i < s->plans.n; i++) sb_plan_free(s->plans.items[i]);
    SB_VEC_FREE(&s->plans, NET_ALLOC);
    sb_alloc_put(NET_ALLOC, s->variables, (s->variable_count + 1) * sizeof *s->variables);
    sb_alloc_put(NET_ALLOC, s->is_set, (s->variable_count + 1) * sizeof *s->is_set);
    sb_alloc_put(NET_ALLOC, s->draws, (s->op_count + 1) * sizeof *s->draws);
    sb_alloc_put(NET_ALLOC, s->variable_memory, s->variable_bytes);
    sb_alloc_put(NET_ALLOC, s->memory, s->memory_bytes);
    sb_arena_fini(&s->run_arena);
    sb_alloc_put(NET_ALLOC, s, sizeof *s);
}

/* ---- feeds ----------------------------------------------------------------------------------- */

static bool is_widening(sb_dtype from, sb_dtype to) {
    return (from == SB_UINT8 && (to == SB_INT32 || to == SB_INT64)) ||
           (from == SB_INT32 && to == SB_INT64);
}

static sb_status check_feed(const sb_feed *feed, sb_err *err) {
    const sb_op *op = feed->op;
    if (!is_kind(op, OP_PLACEHOLDER) && !(is_kind(op, OP_CONST) && op->outs[0].dtype == SB_STRING))
        return sb_fail(err, SB_INVALID, 0, "%s is a %s: only placeholders are fed", op->name,
                       op->kind->type);
    const op_out *want = &op->outs[0];
    const sb_array *have = &feed->value;
    sb_dims dims = {.rank = have->rank};
    for (uint32_t i = 0; i < have->rank && i < SB_NET_MAX_RANK; i++) dims.at[i] = have->dims[i];
    if (have->rank > SB_NET_MAX_RANK || !sb_dims_equal(&dims, &want->dims))
        return sb_fail(err, SB_INVALID, 0,
                       "cannot feed a value of shape %s for '%s', which has shape %s",
                       sb_show_dims(&dims).text, op->name, sb_show_dims(&want->dims).text);
    if (have->dtype != want->dtype && !is_widening(have->dtype, want->dtype))
        return sb_fail(err, SB_INVALID, 0, "cannot feed %s for '%s', which is %s",
                       sb_dtype_name(have->dtype), op->name, sb_dtype_name(want->dtype));
    if (have->strides)
        return sb_fail(err, SB_INVALID, 0, "the value for '%s' is not contiguous", op->name);
    if (want->count && !have->data)
        return sb_fail(err, SB_INVALID, 0, "the value for '%s' has no data", op->name);
    return SB_OK;
}

static sb_status widen(sb_net_session *s, const sb_feed *feed, const void **data, sb_err *err) {
    const op_out *want = &feed->op->outs[0];
    void *made = sb_arena_get(&s->run_arena, want->count * sb_element_size(want->dtype));
    if (!made) return sb_fail_nomem(err, "for a fed value");
    for (size_t i = 0; i < want->count; i++) {
        int32_t x = feed->value.dtype == SB_UINT8 ? ((const uint8_t *)feed->value.data)[i]
                                                  : ((const int32_t *)feed->value.data)[i];
        if (want->dtype == SB_INT32)
            ((int32_t *)made)[i] = x;
        else
            ((int64_t *)made)[i] = x;
    }
    *data = made;
    return SB_OK;
}

/* The address of each fed value. */
static sb_status take_feeds(sb_net_session *s, const sb_feed *feeds, size_t count,
                            const void **data, sb_err *err) {
    for (size_t i = 0; i < count; i++) {
        if (!feeds[i].op) return sb_fail(err, SB_INVALID, 0, "feed %zu has no op", i);
        sb_status status = check_feed(&feeds[i], err);
        data[i] = feeds[i].value.data;
        if (status == SB_OK && feeds[i].value.dtype != feeds[i].op->outs[0].dtype)
            status = widen(s, &feeds[i], &data[i], err);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool is_for(const plan *p, sb_op *const *fetches, size_t fetch_count, const sb_feed *feeds,
                   size_t feed_count) {
    if (p->fetch_count != fetch_count || p->feed_count != feed_count) return false;
    for (size_t i = 0; i < fetch_count; i++)
        if (p->fetches[i] != fetches[i]) return false;
    for (size_t i = 0; i < feed_count; i++)
        if (p->feeds[i] != feeds[i].op) return false;
    return true;
}

static sb_status make_plan(sb_net_session *s, plan **out, sb_op *const *fetches, size_t fetch_count,
                           const sb_feed *feeds, size_t feed_count, sb_err *err) {
    sb_op **fed = sb_arena_zeroed(&s->run_arena, feed_count + 1, sizeof *fed);
    if (!fed) return sb_fail_nomem(err, "for a plan");
    for (size_t i = 0; i < feed_count; i++) fed[i] = feeds[i].op;
    if (s->plans.n >= MOST_PLANS) {
        sb_plan_free(s->plans.items[0]);
        SB_VEC_REMOVE(&s->plans, 0);
    }
    sb_status status = sb_plan_new(out, s->g, fetches, fetch_count, fed, feed_count, err);
    if (status != SB_OK) return status;
    size_t bytes = (*out)->bytes + ALIGN;
    plan **slot = SB_VEC_PUSH(&s->plans, NET_ALLOC, SIZE_MAX);
    if (slot) *slot = *out;
    if (slot && bytes <= s->memory_bytes) return SB_OK;
    uint8_t *memory = slot ? sb_alloc_zeroed(NET_ALLOC, 1, bytes) : NULL;
    if (!memory) {
        if (slot) s->plans.n--;
        sb_plan_free(*out);
        return sb_fail_nomem(err, "for what a run computes");
    }
    sb_alloc_put(NET_ALLOC, s->memory, s->memory_bytes);
    s->memory = memory;
    s->memory_bytes = bytes;
    return SB_OK;
}

static sb_status find_plan(sb_net_session *s, plan **out, sb_op *const *fetches, size_t fetch_count,
                           const sb_feed *feeds, size_t feed_count, sb_err *err) {
    for (size_t i = 0; i < s->plans.n; i++)
        if (is_for(s->plans.items[i], fetches, fetch_count, feeds, feed_count)) {
            *out = s->plans.items[i];
            return SB_OK;
        }
    for (size_t i = 0; i < fetch_count; i++)
        if (!fetches[i] || fetches[i]->net != s->g)
            return sb_fail(err, SB_INVALID, 0, "fetch %zu is no op of this graph", i);
    if (s->g->ops.n != s->op_count)
        return sb_fail(err, SB_INVALID, 0,
                       "ops were added to the graph after the session was opened; open a new one");
    return make_plan(s, out, fetches, fetch_count, feeds, feed_count, err);
}

/* ---- running --------------------------------------------------------------------------------- */

static void *address_of(const sb_net_session *s, const place *p, const void *const *feeds) {
    switch (p->kind) {
    case AT_CONSTANT:
        return (void *)(uintptr_t)p->p;
    case AT_VARIABLE:
        return s->variables[p->at];
    case AT_FEED:
        return (void *)(uintptr_t)feeds[p->at];
    case AT_OFFSET:
        return aligned(s->memory) + p->at;
    default:
        return NULL;
    }
}

static sb_status fail_unset(const sb_net_session *s, size_t variable, sb_err *err) {
    return sb_fail(err, SB_INVALID, 0,
                   "attempting to use uninitialized value %s: run the initializer or restore a "
                   "checkpoint first",
                   s->g->variables.items[variable].ref->name);
}

static sb_status run_step(sb_net_session *s, const plan_step *step, bool is_shared,
                          const void *const *feeds, sb_err *err) {
    const sb_op *op = step->op;
    bool is_assign = is_kind(op, OP_ASSIGN);
    for (uint32_t i = 0; i < op->input_count; i++) {
        const place *p = &step->in[i];
        if (p->kind == AT_VARIABLE && !s->is_set[p->at] && !(is_assign && i == 0))
            return fail_unset(s, p->at, err);
        step->in_data[i] = address_of(s, p, feeds);
    }
    for (uint32_t i = 0; i < op->out_count; i++)
        step->out_data[i] = address_of(s, &step->out[i], feeds);
    const op_call call = {.op = op,
                          .in = step->in_data,
                          .out = step->out_data,
                          .scratch = aligned(s->memory) + step->scratch,
                          .team = is_shared ? s->team : NULL,
                          .session = s};
    sb_status status = op->kind->run(&call, err);
    if (status == SB_OK && is_assign) s->is_set[step->in[0].at] = true;
    return status;
}

static sb_status give_results(const sb_net_session *s, const plan *p, const void *const *feeds,
                              sb_array *results, sb_err *err) {
    for (size_t i = 0; i < p->fetch_count; i++) {
        const sb_op *op = p->fetches[i];
        results[i] = (sb_array){0};
        if (op->out_count == 0) continue;
        if (p->results[i].kind == AT_VARIABLE && !s->is_set[p->results[i].at])
            return fail_unset(s, p->results[i].at, err);
        results[i] = (sb_array){.data = address_of(s, &p->results[i], feeds),
                                .dtype = op->outs[0].dtype,
                                .rank = op->outs[0].dims.rank,
                                .dims = op->outs[0].dims.at};
    }
    return SB_OK;
}

/* A step as a slice of a profile. */
static sb_status run_recorded_step(sb_net_session *s, const plan_step *step, bool is_shared,
                                   const void *const *feeds, sb_err *err) {
    const recording *r = &s->recording;
    uint32_t name = r->names[step->op->id];
    sb_team_record(s->team, r->recorder, name);
    sb_recorder_count(r->recorder, r->memory, (double)(s->variable_bytes + step->live));
    sb_recorder_begin(r->recorder, r->track, name);
    sb_status status = run_step(s, step, is_shared, feeds, err);
    sb_recorder_end(r->recorder, r->track);
    return status;
}

static uint64_t now(void) {
    return sb_clock_system.steady(sb_clock_system.ctx);
}

/* One step after the other, measured to learn which ones are worth several threads. */
static sb_status run_tuning_steps(sb_net_session *s, plan *p, const void *const *feeds,
                                  sb_err *err) {
    sb_status status = SB_OK;
    uint64_t begin = now(), before = begin;
    for (size_t i = 0; i < p->step_count && status == SB_OK; i++) {
        status = run_step(s, &p->steps[i], sb_tune_is_shared(&p->tune, i), feeds, err);
        uint64_t after = now();
        sb_tune_step(&p->tune, i, after - before);
        before = after;
    }
    if (status == SB_OK) sb_tune_run(&p->tune, before - begin);
    return status;
}

/* The same without measuring. */
static sb_status run_tuned_steps(sb_net_session *s, plan *p, const void *const *feeds,
                                 sb_err *err) {
    sb_status status = SB_OK;
    for (size_t i = 0; i < p->step_count && status == SB_OK; i++)
        status = run_step(s, &p->steps[i], p->tune.steps[i].is_shared, feeds, err);
    if (status == SB_OK) sb_tune_run(&p->tune, 0);
    return status;
}

/* The same for a run that is traced (the time of each step is kept) or recorded (each step
 * becomes a slice). Measuring slows the steps down, so the tuner does not get these times. */
static sb_status run_watched_steps(sb_net_session *s, const plan *p, const void *const *feeds,
                                   sb_err *err) {
    const recording *r = &s->recording;
    sb_status status = SB_OK;
    sb_recorder_begin(r->recorder, r->track, r->run);
    for (size_t i = 0; i < p->step_count && status == SB_OK; i++) {
        bool is_shared = sb_tune_is_shared(&p->tune, i);
        if (s->times) s->times[i].begin = now();
        status = r->recorder ? run_recorded_step(s, &p->steps[i], is_shared, feeds, err)
                             : run_step(s, &p->steps[i], is_shared, feeds, err);
        if (s->times) s->times[i].end = now();
    }
    sb_recorder_end(r->recorder, r->track);
    return status;
}

static sb_status run_steps(sb_net_session *s, plan *p, const void *const *feeds, sb_err *err) {
    if (s->recording.recorder) return run_watched_steps(s, p, feeds, err);
    if (sb_team_size(s->team) == 1 || sb_tune_phase(&p->tune) == TUNE_DONE)
        return run_tuned_steps(s, p, feeds, err);
    return run_tuning_steps(s, p, feeds, err);
}

static sb_status run_traced_steps(sb_net_session *s, const plan *p, const void *const *feeds,
                                  sb_slice *metadata, sb_err *err) {
    const sb_clock *clock = &sb_clock_system;
    uint64_t wall = clock->wall(clock->ctx), steady = clock->steady(clock->ctx);
    s->times = sb_arena_zeroed(&s->run_arena, p->step_count + 1, sizeof *s->times);
    if (!s->times) return sb_fail_nomem(err, "for the times of a run");
    sb_status status = run_watched_steps(s, p, feeds, err);
    if (status == SB_OK)
        status = sb_metadata_make(p, s->times, wall - steady, &s->run_arena, metadata, err);
    s->times = NULL;
    return status;
}

static sb_status run(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                     const sb_feed *feeds, size_t feed_count, sb_array *results, sb_slice *metadata,
                     sb_err *err) {
    plan *p = NULL;
    sb_arena_reset(&s->run_arena, (sb_arena_mark){0});
    const void **data = sb_arena_zeroed(&s->run_arena, feed_count + 1, sizeof *data);
    if (!data) return sb_fail_nomem(err, "for a run");
    sb_status status = take_feeds(s, feeds, feed_count, data, err);
    if (status == SB_OK) status = find_plan(s, &p, fetches, fetch_count, feeds, feed_count, err);
    if (status == SB_OK)
        status =
            metadata ? run_traced_steps(s, p, data, metadata, err) : run_steps(s, p, data, err);
    if (status == SB_OK && results) status = give_results(s, p, data, results, err);
    return status;
}

sb_status sb_net_run(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                     const sb_feed *feeds, size_t feed_count, sb_array *results, sb_err *err) {
    return run(s, fetches, fetch_count, feeds, feed_count, results, NULL, err);
}

sb_status sb_net_run_traced(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                            const sb_feed *feeds, size_t feed_count, sb_array *results,
                            sb_slice *metadata, sb_err *err) {
    return run(s, fetches, fetch_count, feeds, feed_count, results, metadata, err);
}

/* ---- variables ------------------------------------------------------------------------------- */

static sb_status find_variable(const sb_net_session *s, const sb_op *op, size_t *number,
                               sb_err *err) {
    const var_ops *v = sb_net_variable_of_op(op);
    if (!v || op->net != s->g || (size_t)(v - s->g->variables.items) >= s->variable_count)
        return sb_fail(err, SB_INVALID, 0, "%s is no variable of this session",
                       op ? op->name : "NULL");
    *number = (size_t)(v - s->g->variables.items);
    return SB_OK;
}

sb_status sb_net_get_variable(sb_net_session *s, sb_op *variable, sb_array *out, sb_err *err) {
    size_t i = 0;
    sb_status status = find_variable(s, variable, &i, err);
    if (status != SB_OK) return status;
    if (!s->is_set[i]) return fail_unset(s, i, err);
    const op_out *o = &s->g->variables.items[i].ref->outs[0];
    *out = (sb_array){
        .data = s->variables[i], .dtype = o->dtype, .rank = o->dims.rank, .dims = o->dims.at};
    return SB_OK;
}

sb_status sb_net_set_variable(sb_net_session *s, sb_op *variable, const sb_array *value,
                              sb_err *err) {
    size_t i = 0;
    sb_status status = find_variable(s, variable, &i, err);
    if (status != SB_OK) return status;
    const op_out *o = &s->g->variables.items[i].ref->outs[0];
    sb_dims dims = {.rank = value->rank};
    for (uint32_t k = 0; k < value->rank && k < SB_NET_MAX_RANK; k++) dims.at[k] = value->dims[k];
    if (value->rank > SB_NET_MAX_RANK || !sb_dims_equal(&dims, &o->dims) ||
        value->dtype != o->dtype || value->strides)
        return sb_fail(err, SB_INVALID, 0, "%s is %s of shape %s; the value has another form",
                       s->g->variables.items[i].ref->name, sb_dtype_name(o->dtype),
                       sb_show_dims(&o->dims).text);
    if (o->count) memcpy(s->variables[i], value->data, o->count * sb_element_size(o->dtype));
    s->is_set[i] = true;
    return SB_OK;
}
