/* profile_ask.c: the open capture that a request is about. */
#include "server/api/profile/profile_ask.h"

#include <stdio.h>

#include "base/text/number.h"
#include "server/graph_source.h"
#include "base/banned.h"

#define ASK_BYTES ((size_t)4 << 30)

sb_slice sb_profile_text(const sb_profile_ask *p, const char *key) {
    if (!p->body) return sb_http_query(p->q, key);
    const json_t *text = json_object_get(p->body, key);
    return json_is_string(text) ? sb_slice_of(json_string_value(text), json_string_length(text))
                                : (sb_slice){NULL, 0};
}

int64_t sb_profile_number(const sb_profile_ask *p, const char *key, int64_t otherwise) {
    double real;
    if (p->body) {
        const json_t *number = json_object_get(p->body, key);
        if (!json_is_number(number)) return otherwise;
        real = json_number_value(number);
    } else {
        sb_slice text = sb_http_query(p->q, key);
        if (!text.p || !sb_parse_double(text, &real)) return otherwise;
    }
    if (!(real > -4e18)) return -INT64_C(4000000000000000000);
    return real < 4e18 ? (int64_t)real : INT64_C(4000000000000000000);
}

static void set_etag(const sb_profile_ask *p, sb_http_reply *r) {
    char id[SB_CAPTURE_ID + 1], tag[64];
    sb_capture_set_id(id, p->q->target);
    int n = snprintf(tag, sizeof tag, "%s-%s-%s", p->app->instance, p->kept->epoch, id);
    sb_http_etag(r, sb_slice_of(tag, (size_t)n));
}

static sb_status choose_steps(sb_profile_ask *p, sb_http_reply *r) {
    sb_slice steps = sb_profile_text(p, "steps");
    if (steps.n == 0) return SB_OK;
    sb_status status =
        sb_analysis_new(&p->made, p->t, &(sb_analysis_ask){.step_name = steps}, sb_http_err(r));
    if (status == SB_OK) p->a = p->made;
    return status;
}

/* SB_END: the reply says why not. To be ended in any case. */
static sb_status begin(sb_profile_ask *p, sb_http_request *q, sb_http_reply *r, void *app) {
    *p = (sb_profile_ask){.q = q, .app = app};
    sb_arena_init(&p->arena, q->alloc, 256 << 10, ASK_BYTES);
    if (q->method == SB_HTTP_POST) {
        p->body = sb_api_body(q, r);
        if (!p->body) return SB_END;
    }
    p->kept = sb_profiles_find(p->app->profiles, sb_profile_text(p, "capture"));
    if (!p->kept) {
        sb_api_fail(r, 409, "not_open",
                    "this capture is not open: POST profile/open {\"capture\"} first");
        return SB_END;
    }
    p->own_trace = *p->kept->trace;
    p->own_trace.alloc = q->alloc;
    p->t = &p->own_trace;
    p->own_analysis = *p->kept->analysis;
    p->own_analysis.t = p->t;
    p->a = &p->own_analysis;
    sb_status status = choose_steps(p, r);
    if (status == SB_OK && !p->body) set_etag(p, r);
    return status;
}

sb_status sb_profile_answer(sb_http_request *q, sb_http_reply *r, void *app,
                            sb_status (*answer)(sb_profile_ask *p, sb_http_reply *r)) {
    sb_profile_ask p;
    sb_status status = begin(&p, q, r, app);
    if (status == SB_OK) status = answer(&p, r);
    sb_analysis_free(p.made);
    sb_profiles_release(p.app->profiles, p.kept);
    sb_arena_fini(&p.arena);
    json_decref(p.body);
    return status == SB_END ? SB_OK : status;
}

void sb_profile_begin(sb_json *j, const sb_profile_ask *p, sb_http_reply *r) {
    sb_api_begin(j, r, p->app);
    sb_json_put_str(j, "epoch", p->kept->epoch);
}

bool sb_profile_is_expired(void *request) {
    return sb_http_expired(request);
}

/* Torch draws marks of the profiler itself, as long as the capture, on tracks of their own. */
static bool has_marks_only(const sb_track *k) {
    if (k->spans.n > 16) return false;
    for (uint32_t i = 0; i < k->spans.n; i++)
        if (k->spans.items[i].kind != SB_SPAN_MARKER) return false;
    return true;
}

uint32_t *sb_profile_track_list(sb_profile_ask *p, size_t *n) {
    const json_t *list = json_object_get(p->body, "tracks");
    const sb_trace *t = p->t;
    size_t most = json_is_array(list) ? json_array_size(list) : t->tracks.n;
    uint32_t *out = sb_arena_get(&p->arena, (most + 1) * sizeof *out);
    *n = 0;
    if (!out) return NULL;
    if (json_is_array(list)) {
        for (size_t i = 0; i < most; i++) {
            json_int_t id = json_integer_value(json_array_get(list, i));
            if (id >= 0 && (uint64_t)id <= UINT32_MAX) out[(*n)++] = (uint32_t)id;
        }
        return out;
    }
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        sb_track_kind kind = t->tracks.items[i].kind;
        if (kind != SB_TRACK_COUNTER && kind != SB_TRACK_DERIVED && kind != SB_TRACK_STEPS &&
            !has_marks_only(&t->tracks.items[i]))
            out[(*n)++] = i;
    }
    return out;
}

void sb_profile_add_ref(sb_json *j, const sb_trace *t, uint32_t track, uint32_t index) {
    const sb_trace_span *s = &t->tracks.items[track].spans.items[index];
    sb_json_begin_object(j);
    sb_json_put_uint(j, "track", track);
    sb_json_put_uint(j, "index", index);
    sb_json_put_text(j, "name", sb_trace_name(t, s->name));
    sb_json_put_uint(j, "kind", s->kind);
    sb_json_put_int(j, "startPs", s->start);
    sb_json_put_int(j, "durationPs", s->dur);
    sb_json_put_uint(j, "depth", s->lane);
    sb_json_end_object(j);
}

/* ---- step statistics in event files ---------------------------------------------------------- */

static void describe_stats(sb_capture *c, sb_slice run, sb_slice tag, const sb_ref_item *item) {
    char text[600];
    int n = snprintf(text, sizeof text, "stats %.*s\n%.*s", SB_SHOWN(run), SB_SHOWN(tag));
    *c = (sb_capture){.run = run, .name = tag, .tag = tag, .format = SB_FORMAT_STEP_STATS};
    sb_capture_set_id(c->id, sb_slice_of(text, (size_t)n));
    memcpy(c->epoch, c->id, sizeof c->epoch);
    c->time_ns = item->wall > 0 && item->wall < 9e9 ? (int64_t)(item->wall * 1e9) : 0;
    c->bytes = item->ref.length;
}

static sb_status each_of_run(sb_app *app, sb_run *run, sb_arena *arena,
                             bool (*each)(void *, const sb_capture *, const sb_series *), void *ud,
                             bool *is_over, sb_err *err) {
    sb_series_info *list;
    size_t n = 0;
    sb_status status = sb_run_list(run, arena, &list, &n);
    for (size_t i = 0; status == SB_OK && i < n && !*is_over; i++) {
        sb_series series;
        sb_ref_item item;
        sb_capture c;
        if (!(sb_graph_offers(&list[i]) & SB_GRAPH_PROFILE)) continue;
        status = sb_series_take(run, list[i].tag, arena, &series);
        if (status == SB_NOT_FOUND) {
            status = SB_OK;
            continue;
        }
        if (status != SB_OK) break;
        if (sb_graph_blob(app, &series, arena, &item, NULL, err) == SB_OK) {
            sb_run_info info;
            sb_run_get_info(run, &info);
            describe_stats(&c, info.name, list[i].tag, &item);
            *is_over = each(ud, &c, &series);
        }
        sb_series_release(&series);
    }
    return status;
}

sb_status sb_profile_each_stats(sb_app *app, sb_arena *arena,
                                bool (*each)(void *ud, const sb_capture *c, const sb_series *s),
                                void *ud, sb_err *err) {
    sb_runs runs;
    bool is_over = false;
    sb_status status = sb_store_runs(app->store, arena, &runs);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < runs.n && status == SB_OK && !is_over; i++) {
        sb_arena_mark mark = sb_arena_here(arena);
        status = each_of_run(app, runs.items[i], arena, each, ud, &is_over, err);
        sb_arena_reset(arena, mark);
    }
    sb_runs_release(&runs);
    return status;
}
