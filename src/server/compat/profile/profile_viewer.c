/* profile_viewer.c: reads a question of the trace viewer, and finds the events that it asks for. */
#include "server/compat/profile/profile_viewer.h"

#include "base/text/number.h"
#include "base/banned.h"

#define ALL_SPANS 200000u /* up to so many are sent one by one */
#define ALL_ARGS 50000u   /* up to so many with their arguments */
#define RESOLUTION 8000
#define NANOSECOND 1000 /* a time is told in milliseconds, and may have been rounded */

static double number_of(sb_http_request *q, const char *key, double otherwise) {
    sb_slice text = sb_http_query(q, key);
    double x;
    return text.n && sb_parse_double(text, &x) && x > -1e9 && x < 1e9 ? x : otherwise;
}

/* A time of the axis; `otherwise` where the request does not tell it. */
static int64_t time_of(const sb_viewer *v, const char *key, int64_t otherwise) {
    if (!sb_http_query(v->q, key).n) return otherwise;
    return (int64_t)(number_of(v->q, key, 0) * 1e9) - v->origin;
}

static bool is_true(sb_http_request *q, const char *key) {
    sb_slice text = sb_http_query(q, key);
    return sb_slice_eq(text, SB_LIT("true")) || sb_slice_eq(text, SB_LIT("True")) ||
           sb_slice_eq(text, SB_LIT("1"));
}

static const uint64_t *number_tracks(const sb_trace *t, sb_arena *arena) {
    uint64_t *numbers = sb_arena_get(arena, (t->tracks.n + 1) * sizeof *numbers);
    uint64_t next = 1;
    for (size_t i = 0; numbers && i < t->tracks.n; i++) {
        numbers[i] = next;
        next += t->tracks.items[i].spans.n;
    }
    return numbers;
}

static sb_status mark_names(sb_viewer *v, sb_slice prefix) {
    uint8_t *names = sb_arena_zeroed(v->q->arena, (size_t)v->t->names.count + 1, 1);
    if (!names) return SB_NOMEM;
    for (uint32_t i = 0; i < v->t->names.count; i++) {
        sb_slice name = sb_trace_name(v->t, i);
        names[i] = name.n >= prefix.n && memcmp(name.p, prefix.p, prefix.n) == 0;
    }
    v->names = names;
    return SB_OK;
}

static bool has_number(const sb_viewer *v, uint64_t number, uint32_t name) {
    for (size_t i = 0; number && i < v->t->tracks.n; i++) {
        const sb_track *k = &v->t->tracks.items[i];
        if (number >= v->numbers[i] && number - v->numbers[i] < k->spans.n)
            return k->spans.items[number - v->numbers[i]].name == name;
    }
    return false;
}

static sb_status mark_one(sb_viewer *v, sb_slice name) {
    uint32_t id = sb_intern_find(&v->t->names, name);
    uint8_t *names = sb_arena_zeroed(v->q->arena, (size_t)v->t->names.count + 1, 1);
    double number = number_of(v->q, "unique_id", 0);
    if (!names) return SB_NOMEM;
    if (id == SB_INTERN_NONE) return SB_NOT_FOUND;
    names[id] = 1;
    v->is_one = true;
    v->names = names;
    v->one = number >= 1 && has_number(v, (uint64_t)number, id) ? (uint64_t)number : 0;
    v->one_start = time_of(v, "start_time_ms", INT64_MIN);
    v->one_dur = sb_http_query(v->q, "duration_ms").n
                     ? (int64_t)(number_of(v->q, "duration_ms", 0) * 1e9)
                     : INT64_MIN;
    return SB_OK;
}

sb_status sb_viewer_ask(sb_viewer *v, sb_http_request *q, const sb_trace *t) {
    sb_slice tag = sb_http_query(q, "tag"), one = sb_http_query(q, "event_name");
    sb_slice prefix = sb_http_query(q, "search_prefix");
    double resolution = number_of(q, "resolution", RESOLUTION);
    *v = (sb_viewer){.q = q, .t = t, .numbers = number_tracks(t, q->arena)};
    if (!v->numbers) return SB_NOMEM;
    v->origin = t->sources.n && t->sources.items[0].format == SB_FORMAT_XSPACE ? t->origin : 0;
    v->window.from = time_of(v, "start_time_ms", -1);
    v->window.to = time_of(v, "end_time_ms", t->duration + 1);
    v->window.pixels = resolution >= 1 ? (uint32_t)resolution : RESOLUTION;
    v->is_streaming = tag.n && tag.p[tag.n - 1] == '@';
    v->is_all = resolution == 0 || t->span_count <= ALL_SPANS;
    if (one.n) {
        v->is_all = v->has_args = true;
        v->window.from = INT64_MIN / 4;
        v->window.to = INT64_MAX / 4;
        return mark_one(v, one);
    }
    if (prefix.n) {
        v->is_all = true;
        v->has_args = is_true(q, "search_metadata");
        return mark_names(v, prefix);
    }
    v->has_args = v->is_all && t->span_count <= ALL_ARGS && !v->is_streaming;
    return SB_OK;
}

sb_slice sb_viewer_process(const sb_viewer *v, uint32_t group) {
    sb_slice name = v->t->groups.items[group].name;
    sb_slice host = v->t->sources.items[v->t->groups.items[group].source].name;
    uint8_t *p = NULL;
    if (v->is_streaming && !sb_slice_eq(name, host))
        p = sb_arena_get(v->q->arena, host.n + 1 + name.n);
    if (!p) return name;
    if (host.n) memcpy(p, host.p, host.n);
    p[host.n] = ' ';
    if (name.n) memcpy(p + host.n + 1, name.p, name.n);
    return sb_slice_of(p, host.n + 1 + name.n);
}

bool sb_viewer_wants_track(const sb_viewer *v, const sb_track *k) {
    return !k->is_made && (k->spans.n > 0 || k->points.n > 0) &&
           sb_compat_profile_wants(v->q, v->t, sb_track_source(v->t, k));
}

uint64_t sb_viewer_number(const sb_viewer *v, uint32_t track, const sb_rect *event) {
    return event->count == 1 ? v->numbers[track] + event->index : 0;
}

static bool is_near(int64_t x, int64_t asked) {
    return asked == INT64_MIN || (x >= asked - NANOSECOND && x <= asked + NANOSECOND);
}

static bool is_wanted(const sb_viewer *v, uint32_t track, uint32_t index) {
    const sb_trace_span *s = &v->t->tracks.items[track].spans.items[index];
    if (s->start > v->window.to || sb_span_end(s) < v->window.from) return false;
    if (v->names && !v->names[s->name]) return false;
    if (!v->is_one) return true;
    if (v->one) return v->numbers[track] + index == v->one;
    return is_near(s->start, v->one_start) && is_near(s->dur, v->one_dur);
}

sb_status sb_viewer_events(const sb_viewer *v, uint32_t track, sb_rects *out) {
    const sb_track *k = &v->t->tracks.items[track];
    uint64_t spans;
    if (!v->is_all)
        return sb_window_rects(k, &v->window, out, v->q->alloc, &spans) ? SB_OK : SB_NOMEM;
    for (uint32_t i = 0; i < k->spans.n; i++) {
        const sb_trace_span *s = &k->spans.items[i];
        if ((i & 0xffff) == 0xffff && sb_http_expired(v->q)) return SB_TIMEOUT;
        if (!is_wanted(v, track, i)) continue;
        sb_rect *event = SB_VEC_PUSH(out, v->q->alloc, SIZE_MAX);
        if (!event) return SB_NOMEM;
        *event = (sb_rect){s->start, s->dur, s->name, i, 1, s->lane, s->kind, 1};
    }
    return SB_OK;
}

sb_status sb_viewer_counts(const sb_viewer *v, const sb_track *k, sb_count_bars *out) {
    uint64_t points;
    if (k->points.n == 0 || v->names) return SB_OK;
    return sb_window_counts(k, &v->window, out, v->q->alloc, &points) ? SB_OK : SB_NOMEM;
}
