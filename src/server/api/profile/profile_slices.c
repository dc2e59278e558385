/* profile_slices.c: windows of tracks and counters, as columns. */
#include "profile/trace/window.h"
#include "server/api/columns.h"
#include "server/api/profile/profile_ask.h"
#include "base/banned.h"

#define MOST_TRACKS 4096u
#define MOST_PIXELS 16384

enum {
#define SB_SPAN_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_SPAN_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_SPAN_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
#define SB_COUNT_ENTRY(magic, bytes) COUNT_ENTRY = (bytes),
#define SB_COUNT_FIELD(name, at, type, key, what) COUNT_AT_##name = (at),
#define SB_COUNT_FLAG(name, bit, what) COUNT_IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_SPAN_ENTRY(magic, bytes) static const char container[] = magic;
#define SB_COUNT_ENTRY(magic, bytes) static const char count_container[] = magic;
#include "server/api/columns.def"

static sb_window window_of(const sb_profile_ask *p) {
    sb_window w = {.from = sb_profile_number(p, "from", 0),
                   .to = sb_profile_number(p, "to", p->t->duration)};
    int64_t pixels = sb_profile_number(p, "pixels", 1000);
    if (w.to < w.from) w.to = w.from;
    w.pixels = pixels < 1 ? 1 : pixels > MOST_PIXELS ? MOST_PIXELS : (uint32_t)pixels;
    return w;
}

static bool add_rects(sb_column_body *body, uint32_t entry, const sb_rects *rects,
                      sb_arena *arena) {
    size_t n = rects->n;
    double *start = sb_arena_get(arena, (n + 1) * sizeof *start);
    double *dur = sb_arena_get(arena, (n + 1) * sizeof *dur);
    uint32_t *name = sb_arena_get(arena, (n + 1) * sizeof *name);
    uint32_t *index = sb_arena_get(arena, (n + 1) * sizeof *index);
    uint32_t *count = sb_arena_get(arena, (n + 1) * sizeof *count);
    float *busy = sb_arena_get(arena, (n + 1) * sizeof *busy);
    uint8_t *depth = sb_arena_get(arena, n + 1), *kind = sb_arena_get(arena, n + 1);
    if (!start || !dur || !name || !index || !count || !busy || !depth || !kind) return false;
    for (size_t i = 0; i < n; i++) {
        const sb_rect *r = &rects->items[i];
        start[i] = (double)r->start;
        dur[i] = (double)r->dur;
        name[i] = r->name;
        index[i] = r->index;
        count[i] = r->count;
        busy[i] = r->busy;
        depth[i] = r->lane < 255 ? (uint8_t)r->lane : 255;
        kind[i] = r->kind;
    }
    sb_column_u32(body, entry, AT_N, (uint32_t)n);
    sb_column_add_doubles(body, entry, AT_START, start, n);
    sb_column_add_doubles(body, entry, AT_DURATION, dur, n);
    sb_column_add_u32s(body, entry, AT_NAME, name, n);
    sb_column_add_u32s(body, entry, AT_INDEX, index, n);
    sb_column_add_bytes(body, entry, AT_DEPTH, depth, n);
    sb_column_add_bytes(body, entry, AT_KIND, kind, n);
    sb_column_add_u32s(body, entry, AT_COUNT, count, n);
    sb_column_add_floats(body, entry, AT_BUSY, busy, n);
    return true;
}

static sb_status add_window(sb_profile_ask *p, sb_column_body *body, uint32_t entry, uint32_t track,
                            const sb_window *w) {
    sb_column_u32(body, entry, AT_TRACK, track);
    if (track >= p->t->tracks.n) {
        sb_column_u32(body, entry, AT_FLAGS, IS_NO_TRACK);
        return SB_OK;
    }
    const sb_track *k = &p->t->tracks.items[track];
    sb_rects rects = {0};
    uint64_t spans;
    const sb_alloc *alloc = p->q->alloc;
    bool is_done = sb_window_rects(k, w, &rects, alloc, &spans);
    sb_column_u64(body, entry, AT_SLICES, is_done ? spans : 0);
    sb_column_u32(body, entry, AT_LANES, k->lane_count);
    is_done = is_done && add_rects(body, entry, &rects, &p->arena);
    SB_VEC_FREE(&rects, alloc);
    return is_done ? SB_OK : SB_NOMEM;
}

static sb_status add_bars(sb_profile_ask *p, sb_column_body *body, uint32_t entry, uint32_t track,
                          const sb_window *w) {
    sb_column_u32(body, entry, COUNT_AT_TRACK, track);
    if (track >= p->t->tracks.n || p->t->tracks.items[track].points.n == 0) {
        sb_column_u32(body, entry, COUNT_AT_FLAGS, COUNT_IS_NO_COUNTER);
        return SB_OK;
    }
    sb_count_bars bars = {0};
    uint64_t points = 0;
    const sb_alloc *alloc = p->q->alloc;
    bool is_done = sb_window_counts(&p->t->tracks.items[track], w, &bars, alloc, &points);
    double *columns[4];
    for (int i = 0; i < 4; i++) {
        columns[i] = sb_arena_get(&p->arena, (bars.n + 1) * sizeof *columns[i]);
        is_done = is_done && columns[i];
    }
    for (size_t i = 0; is_done && i < bars.n; i++) {
        columns[0][i] = (double)bars.items[i].time;
        columns[1][i] = bars.items[i].least;
        columns[2][i] = bars.items[i].greatest;
        columns[3][i] = bars.items[i].last;
    }
    if (is_done) {
        static const uint32_t places[] = {COUNT_AT_TIME, COUNT_AT_LOW, COUNT_AT_HIGH,
                                          COUNT_AT_LAST};
        sb_column_u64(body, entry, COUNT_AT_POINTS, points);
        sb_column_u32(body, entry, COUNT_AT_N, (uint32_t)bars.n);
        for (int i = 0; i < 4; i++)
            sb_column_add_doubles(body, entry, places[i], columns[i], bars.n);
    }
    SB_VEC_FREE(&bars, alloc);
    return is_done ? SB_OK : SB_NOMEM;
}

typedef sb_status (*add_entry)(sb_profile_ask *p, sb_column_body *body, uint32_t entry,
                               uint32_t track, const sb_window *w);

static sb_status answer(sb_profile_ask *p, sb_http_reply *r, const char *magic, uint32_t size,
                        add_entry add) {
    size_t n;
    uint32_t *tracks = sb_profile_track_list(p, &n);
    sb_window w = window_of(p);
    sb_status status = SB_OK;
    sb_column_body body;
    if (!tracks) return SB_NOMEM;
    if (n > MOST_TRACKS)
        return sb_api_fail(r, 400, "invalid", "at most %u tracks at once", MOST_TRACKS);
    sb_http_type(r, "application/x-seaboard-columns");
    sb_http_compress(r, SB_HTTP_CODING_YES);
    sb_column_begin(&body, sb_http_body(r), magic, sb_api_version(r, p->app), (uint32_t)n, size);
    for (uint32_t i = 0; i < n && status == SB_OK; i++) {
        sb_arena_mark mark = sb_arena_here(&p->arena);
        status = sb_http_expired(p->q) ? SB_TIMEOUT : add(p, &body, i, tracks[i], &w);
        sb_arena_reset(&p->arena, mark);
    }
    return status;
}

static sb_status answer_slices(sb_profile_ask *p, sb_http_reply *r) {
    return answer(p, r, container, ENTRY, add_window);
}

sb_status sb_api_profile_slices(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_slices);
}

static sb_status answer_counters(sb_profile_ask *p, sb_http_reply *r) {
    return answer(p, r, count_container, COUNT_ENTRY, add_bars);
}

sb_status sb_api_profile_counters(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_counters);
}
