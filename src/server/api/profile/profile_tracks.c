/* profile_tracks.c: the tracks of a capture, and its names. */
#include "base/text/number.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

#define MOST_NAMES 16384u
#define MOST_STEPS 10000u

typedef struct group_sum {
    uint64_t spans;
    int64_t busy; /* of the busiest track */
} group_sum;

static group_sum *sum_groups(const sb_trace *t, sb_arena *arena) {
    group_sum *sums = sb_arena_zeroed(arena, t->groups.n + 1, sizeof *sums);
    for (size_t i = 0; sums && i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        group_sum *of = &sums[k->group];
        of->spans += k->spans.n;
        if (k->kind != SB_TRACK_DERIVED && k->busy > of->busy) of->busy = k->busy;
    }
    return sums;
}

static void add_groups(sb_json *j, const sb_trace *t, const group_sum *sums) {
    static const char *const kinds[] = {"host", "process", "device"};
    sb_json_open_array(j, "groups");
    for (size_t i = 0; i < t->groups.n; i++) {
        const sb_trace_group *g = &t->groups.items[i];
        sb_json_begin_object(j);
        sb_json_put_uint(j, "id", i);
        sb_json_put_int(j, "parent", g->parent == SB_NO_INDEX ? -1 : (int64_t)g->parent);
        sb_json_put_text(j, "name", g->name);
        bool is_rank = g->kind == SB_GROUP_HOST && t->sources.items[g->source].rank >= 0;
        sb_json_put_str(j, "kind", is_rank ? "rank" : kinds[g->kind]);
        sb_json_put_uint(j, "source", g->source);
        double busy = (double)sums[i].busy;
        sb_json_put_double(j, "busy", t->duration ? busy / (double)t->duration : 0);
        sb_json_put_uint(j, "slices", sums[i].spans);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static void add_track(sb_json *j, const sb_trace *t, uint32_t id) {
    static const char *const kinds[] = {"thread", "stream", "counter", "async", "derived", "steps"};
    const sb_track *k = &t->tracks.items[id];
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", id);
    sb_json_put_uint(j, "group", k->group);
    sb_json_put_text(j, "name", k->name);
    sb_json_put_str(j, "kind", kinds[k->kind]);
    sb_json_put_uint(j, "depth", k->lane_count);
    sb_json_put_uint(j, "slices", k->kind == SB_TRACK_COUNTER ? k->points.n : k->spans.n);
    sb_json_put_uint(j, "instants", k->instants);
    sb_json_put_double(j, "busy", t->duration ? (double)k->busy / (double)t->duration : 0);
    sb_json_put_int(j, "startPs", k->first);
    sb_json_put_int(j, "endPs", k->last);
    sb_json_put_double(j, "least", k->points.n ? k->least : 0);
    sb_json_put_double(j, "greatest", k->points.n ? k->greatest : 0);
    sb_json_end_object(j);
}

static void add_sources(sb_json *j, const sb_trace *t) {
    sb_json_open_array(j, "sources");
    for (size_t i = 0; i < t->sources.n; i++) {
        const sb_trace_source *s = &t->sources.items[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", s->name);
        sb_json_put_int_or_null(j, "rank", s->rank, s->rank >= 0);
        sb_json_put_str(j, "format", sb_trace_format_name(s->format));
        sb_json_put_uint(j, "bytes", s->size);
        sb_json_put_int(j, "skewPs", s->skew);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static void add_odds(sb_json *j, const sb_trace *t) {
    sb_json_open_array(j, "odd");
    for (int i = 0; i < SB_TRACE_ODD_COUNT; i++) {
        const sb_oddity *o = &t->odds[i];
        if (o->n == 0) continue;
        sb_json_begin_object(j);
        sb_json_put_str(j, "kind", sb_trace_odd_name((sb_trace_odd)i));
        sb_json_put_uint(j, "n", o->n);
        sb_json_open_array(j, "examples");
        for (uint32_t k = 0; k < o->shown; k++) sb_json_text(j, o->examples[k]);
        sb_json_end_array(j);
        sb_json_put_str(j, "text", sb_trace_odd_text((sb_trace_odd)i));
        sb_json_put_bool(j, "remark", sb_trace_odd_is_remark((sb_trace_odd)i));
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status answer_tracks(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    const sb_trace *t = p->t;
    char base[SB_NUMBER_ROOM];
    size_t n = t->base_ns ? sb_print_int64(base, t->base_ns) : 0;
    const group_sum *sums = sum_groups(t, &p->arena);
    if (!sums) return SB_NOMEM;
    sb_profile_begin(&j, p, r);
    sb_json_put_text(&j, "baseNs", sb_slice_of(base, n));
    sb_json_put_int(&j, "durationPs", t->duration);
    sb_json_put_uint(&j, "names", t->names.count);
    sb_json_put_uint(&j, "slices", t->span_count);
    add_sources(&j, t);
    add_groups(&j, t, sums);
    sb_json_open_array(&j, "tracks");
    for (size_t i = 0; i < t->tracks.n; i++)
        if (t->tracks.items[t->track_order[i]].spans.n ||
            t->tracks.items[t->track_order[i]].points.n)
            add_track(&j, t, t->track_order[i]);
    sb_json_end_array(&j);
    add_odds(&j, t);
    sb_profile_add_steps(&j, p->a, MOST_STEPS, false);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_tracks(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_tracks);
}

static sb_status answer_names(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    int64_t from = sb_profile_number(p, "from", 0), n = sb_profile_number(p, "n", 4096);
    uint32_t total = p->t->names.count;
    uint32_t first = from < 0 ? 0 : from > total ? total : (uint32_t)from;
    if (n < 0 || n > MOST_NAMES) n = MOST_NAMES;
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "from", first);
    sb_json_put_uint(&j, "total", total);
    sb_json_open_array(&j, "names");
    for (uint32_t i = first; i < total && i - first < (uint32_t)n; i++)
        sb_json_text(&j, sb_trace_name(p->t, i));
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_names(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_names);
}
