/* profile_slice.c: one slice of a profile with all that is known of it, and arrows of a window. */
#include "base/search.h"
#include "profile/read/read.h"
#include "server/api/profile/profile_ask.h"
#include "base/banned.h"

#define MOST_PARENTS 64
#define MOST_FLOWS 200u

static const char *const flow_kinds[] = {"launch", "forward_backward", "flow"};

static void add_flow(sb_json *j, const sb_trace *t, const sb_flow *f, bool is_out) {
    sb_json_begin_object(j);
    sb_json_put_str(j, "direction", is_out ? "out" : "in");
    sb_json_put_str(j, "kind", flow_kinds[f->kind]);
    sb_json_key_str(j, "other");
    if (is_out)
        sb_profile_add_ref(j, t, f->to_track, f->to);
    else
        sb_profile_add_ref(j, t, f->from_track, f->from);
    sb_json_end_object(j);
}

static void add_flows(sb_json *j, const sb_trace *t, uint32_t track, uint32_t index) {
    size_t i = sb_flows_from(t, track, index), shown = 0;
    sb_json_open_array(j, "flows");
    for (; i < t->flows.n && t->flows.items[i].from_track == track &&
           t->flows.items[i].from == index && shown < MOST_FLOWS;
         i++, shown++)
        add_flow(j, t, &t->flows.items[i], true);
    for (i = sb_flows_to(t, track, index); i < t->flows.n && shown < 2 * MOST_FLOWS; i++, shown++) {
        const sb_flow *f = sb_flow_by_end(t, i);
        if (f->to_track != track || f->to != index) break;
        add_flow(j, t, f, false);
    }
    sb_json_end_array(j);
}

static void add_parents(sb_json *j, const sb_trace *t, uint32_t track, uint32_t index) {
    const sb_track *k = &t->tracks.items[track];
    uint32_t parents[MOST_PARENTS], n = 0;
    for (uint32_t at = sb_track_parent(k, index); at != SB_NO_INDEX && n < MOST_PARENTS;
         at = sb_track_parent(k, at))
        parents[n++] = at;
    sb_json_open_array(j, "parents");
    while (n-- > 0) sb_profile_add_ref(j, t, track, parents[n]);
    sb_json_end_array(j);
}

static sb_slice step_of(const sb_profile_ask *p, uint32_t track, const sb_trace_span *s) {
    uint32_t source = sb_track_source(p->t, &p->t->tracks.items[track]);
    for (size_t i = 0; i < p->a->step_count; i++) {
        const sb_step *step = &p->a->steps[i];
        if (step->source == source && s->start >= step->start && s->start < step->start + step->dur)
            return sb_trace_name(p->t, step->name);
    }
    return SB_LIT("");
}

static sb_status add_slice(sb_json *j, sb_profile_ask *p, uint32_t track, uint32_t index,
                           sb_http_reply *r) {
    const sb_trace *t = p->t;
    const sb_track *k = &t->tracks.items[track];
    const sb_trace_span *s = &k->spans.items[index];
    sb_alloc alloc = sb_arena_alloc(&p->arena);
    sb_buf args;
    sb_slice category;
    uint32_t children;
    sb_buf_init(&args, &alloc, (size_t)256 << 20);
    sb_status status = sb_span_args(t, track, index, &args, &category, &p->arena, sb_http_err(r));
    if (status == SB_OK) status = sb_buf_check(&args, "a slice", sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "track", track);
    sb_json_put_uint(j, "index", index);
    sb_json_put_text(j, "name", sb_trace_name(t, s->name));
    sb_json_put_uint(j, "kind", s->kind);
    sb_json_put_text(j, "category", category);
    sb_json_put_int(j, "startPs", s->start);
    sb_json_put_int(j, "durationPs", s->dur);
    sb_json_put_int(j, "selfPs", sb_track_self(k, index, &children));
    sb_json_put_uint(j, "depth", s->lane);
    sb_json_key_str(j, "args");
    sb_json_raw(j, sb_buf_slice(&args));
    add_parents(j, t, track, index);
    sb_json_put_uint(j, "children", children);
    add_flows(j, t, track, index);
    sb_json_put_text(j, "step", step_of(p, track, s));
    return SB_OK;
}

static sb_status answer_slice(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    int64_t track = sb_profile_number(p, "track", -1), index = sb_profile_number(p, "index", -1);
    if (track < 0 || (uint64_t)track >= p->t->tracks.n || index < 0 ||
        (uint64_t)index >= p->t->tracks.items[track].spans.n)
        return sb_api_fail(r, 404, "not_found", "there is no such slice");
    sb_profile_begin(&j, p, r);
    sb_status status = add_slice(&j, p, (uint32_t)track, (uint32_t)index, r);
    if (status == SB_REPLACED)
        return sb_api_fail(r, 410, "gone", "the trace file has changed: open the capture again");
    return status == SB_OK ? sb_api_end(&j, r) : status;
}

sb_status sb_api_profile_slice(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_slice);
}

/* ---- arrows of a window ---------------------------------------------------------------------- */

static void add_flow_row(sb_json *j, const sb_trace *t, const sb_flow *f) {
    const sb_trace_span *from = &t->tracks.items[f->from_track].spans.items[f->from];
    const sb_trace_span *to = &t->tracks.items[f->to_track].spans.items[f->to];
    sb_json_begin_array(j);
    sb_json_uint(j, f->from_track);
    sb_json_uint(j, f->from);
    sb_json_int(j, from->start);
    sb_json_uint(j, from->lane);
    sb_json_uint(j, f->to_track);
    sb_json_uint(j, f->to);
    sb_json_int(j, to->start);
    sb_json_uint(j, to->lane);
    sb_json_uint(j, f->kind);
    sb_json_end_array(j);
}

static sb_status answer_flows(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    size_t n;
    const sb_trace *t = p->t;
    uint32_t *tracks = sb_profile_track_list(p, &n);
    uint8_t *wanted = sb_arena_zeroed(&p->arena, t->tracks.n + 1, 1);
    int64_t from = sb_profile_number(p, "from", 0), to = sb_profile_number(p, "to", t->duration);
    int64_t limit = sb_profile_number(p, "limit", 1000);
    if (!tracks || !wanted) return SB_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (tracks[i] < t->tracks.n) wanted[tracks[i]] = 1;
    sb_profile_begin(&j, p, r);
    sb_json_open_array(&j, "flows");
    uint64_t total = 0;
    for (size_t i = 0; i < t->flows.n; i++) {
        const sb_flow *f = &t->flows.items[i];
        if (!wanted[f->from_track] || !wanted[f->to_track]) continue;
        int64_t a = t->tracks.items[f->from_track].spans.items[f->from].start;
        int64_t b = t->tracks.items[f->to_track].spans.items[f->to].start;
        if ((a < from && b < from) || (a > to && b > to)) continue;
        if ((int64_t)total++ < limit && total <= 20000) add_flow_row(&j, t, f);
    }
    sb_json_end_array(&j);
    sb_json_put_uint(&j, "total", total);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_flows(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_flows);
}
