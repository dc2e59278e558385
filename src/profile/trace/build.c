/* build.c: collects groups, tracks, spans and counters while the files are read. */
#include "profile/trace/build.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/banned.h"

#define MOST_POINTS ((size_t)1 << 31)
#define NOWHERE (INT64_MAX / 4) /* so far away that it is left out at the end */
#define ONE_DAY (INT64_C(86400) * 1000000 * SB_PS_PER_US)

sb_slice sb_build_text(sb_trace *t, sb_slice text) {
    if (text.n > SB_TRACE_NAME_BYTES) {
        sb_trace_note(t, SB_TRACE_ODD_LONG_NAME, 1, text);
        text.n = SB_TRACE_NAME_BYTES;
    }
    return sb_arena_dup(&t->texts, text);
}

uint32_t sb_build_name(sb_trace *t, sb_slice name) {
    uint32_t id;
    if (name.n > SB_TRACE_NAME_BYTES) {
        sb_trace_note(t, SB_TRACE_ODD_LONG_NAME, 1, name);
        name.n = SB_TRACE_NAME_BYTES;
    }
    return sb_intern_add(&t->names, name, &id, NULL) == SB_OK ? id : SB_NO_INDEX;
}

void sb_build_begin_source(sb_trace *t) {
    sb_trace_build *b = t->build;
    b->source = (uint32_t)t->sources.n - 1;
    b->first_track = (uint32_t)t->tracks.n;
    b->first_memory = t->memory.n;
    b->first_end = b->ends.n;
    for (int kind = 0; kind < SB_TRACK_KIND_COUNT; kind++) b->rest[kind] = SB_NO_INDEX;
}

static bool make_key(char *out, size_t room, size_t *n, uint32_t above, sb_slice key) {
    memcpy(out, &above, sizeof above);
    if (key.n > room - sizeof above) key.n = room - sizeof above;
    if (key.n) memcpy(out + sizeof above, key.p, key.n);
    *n = key.n + sizeof above;
    return true;
}

uint32_t sb_build_group(sb_trace *t, sb_slice key, uint32_t parent, sb_group_kind kind,
                        sb_slice name) {
    sb_trace_build *b = t->build;
    char full[256];
    size_t n;
    uint32_t id;
    bool is_new;
    make_key(full, sizeof full, &n, b->source, key);
    if (t->groups.n >= SB_TRACE_MOST_TRACKS && parent != SB_NO_INDEX) {
        id = sb_intern_find(&b->group_keys, sb_slice_of(full, n));
        if (id != SB_INTERN_NONE) return b->group_of.items[id];
        sb_trace_note(t, SB_TRACE_ODD_TRACKS, 1, key);
        return parent;
    }
    if (sb_intern_add(&b->group_keys, sb_slice_of(full, n), &id, &is_new) != SB_OK)
        return SB_NO_INDEX;
    if (!is_new) return b->group_of.items[id];
    /* each source has its own, whatever the others took */
    uint32_t *slot = SB_VEC_PUSH(&b->group_of, t->alloc, 2 * SB_TRACE_MOST_TRACKS);
    sb_trace_group *g = slot ? SB_VEC_PUSH(&t->groups, t->alloc, 2 * SB_TRACE_MOST_TRACKS) : NULL;
    if (!g) return SB_NO_INDEX;
    *g = (sb_trace_group){.parent = parent, .source = b->source, .kind = kind};
    g->name = sb_build_text(t, name);
    g->sort = parent == SB_NO_INDEX ? 0 : t->groups.items[parent].sort;
    *slot = (uint32_t)t->groups.n - 1;
    return g->name.p ? *slot : SB_NO_INDEX;
}

static uint32_t add_track(sb_trace *t, uint32_t group, sb_track_kind kind, sb_slice name) {
    sb_track *k = SB_VEC_PUSH(&t->tracks, t->alloc, 8 * SB_TRACE_MOST_TRACKS);
    if (!k) return SB_NO_INDEX;
    *k = (sb_track){.group = group, .kind = kind, .name = sb_build_text(t, name)};
    uint32_t *top = SB_VEC_PUSH(&t->build->open_top, t->alloc, SIZE_MAX);
    if (!top || !k->name.p) return SB_NO_INDEX;
    *top = 0;
    return (uint32_t)t->tracks.n - 1;
}

uint32_t sb_build_track(sb_trace *t, uint32_t group, sb_slice key, sb_track_kind kind,
                        sb_slice name) {
    sb_trace_build *b = t->build;
    char full[512];
    size_t n;
    uint32_t id;
    bool is_new;
    make_key(full, sizeof full, &n, group, key);
    if (t->tracks.n >= SB_TRACE_MOST_TRACKS) {
        id = sb_intern_find(&b->track_keys, sb_slice_of(full, n));
        if (id != SB_INTERN_NONE) return b->track_of.items[id];
        sb_trace_note(t, SB_TRACE_ODD_TRACKS, 1, name);
        if (b->rest[kind] == SB_NO_INDEX)
            b->rest[kind] = add_track(t, group, kind, SB_LIT("all other threads"));
        if (b->rest[kind] != SB_NO_INDEX) t->tracks.items[b->rest[kind]].is_mixed = true;
        return b->rest[kind];
    }
    if (sb_intern_add(&b->track_keys, sb_slice_of(full, n), &id, &is_new) != SB_OK)
        return SB_NO_INDEX;
    if (!is_new) return b->track_of.items[id];
    uint32_t *slot = SB_VEC_PUSH(&b->track_of, t->alloc, SIZE_MAX);
    uint32_t track = slot ? add_track(t, group, kind, name) : SB_NO_INDEX;
    if (slot) *slot = track;
    return track;
}

sb_trace_span *sb_build_span(sb_trace *t, uint32_t track, int64_t start, int64_t dur, uint32_t name,
                             sb_span_kind kind, uint64_t at) {
    sb_track *k = &t->tracks.items[track];
    if (name == SB_NO_INDEX || ++t->span_count > t->opts.most_spans) return NULL;
    if (dur < 0) {
        sb_trace_note(t, SB_TRACE_ODD_NEGATIVE, 1, sb_trace_name(t, name));
        dur = 0;
    }
    if (dur > INT64_MAX / 4 || start > INT64_MAX / 4 || start < INT64_MIN / 4) {
        sb_trace_note(t, SB_TRACE_ODD_FAR, 1, sb_trace_name(t, name));
        dur = 0;
        start = NOWHERE;
    }
    sb_trace_span *s = SB_VEC_PUSH(&k->spans, t->alloc, UINT32_MAX - 1);
    if (!s) return NULL;
    *s = (sb_trace_span){.start = start, .dur = dur, .name = name, .kind = (uint8_t)kind};
    if (at < UINT64_C(1) << 44) s->at = at & ((UINT64_C(1) << 44) - 1);
    return s;
}

sb_extra *sb_build_extra(sb_trace *t, sb_trace_span *s) {
    if (s->extra) return &t->extras.items[s->extra];
    sb_extra *e = SB_VEC_PUSH(&t->extras, t->alloc, UINT32_MAX - 1);
    if (!e) return NULL;
    *e = (sb_extra){0};
    s->extra = (uint32_t)(t->extras.n - 1);
    return e;
}

/* Such times must be wrong, and the sum of two of them could overflow. */
static bool is_absurd(int64_t time) {
    return time > INT64_MAX / 4 || time < INT64_MIN / 4;
}

bool sb_build_point(sb_trace *t, uint32_t track, int64_t time, double value) {
    if (is_absurd(time)) {
        sb_trace_note(t, SB_TRACE_ODD_FAR, 1, t->tracks.items[track].name);
        return true;
    }
    sb_count_point *p = SB_VEC_PUSH(&t->tracks.items[track].points, t->alloc, MOST_POINTS);
    if (p) *p = (sb_count_point){time, value};
    return p != NULL;
}

bool sb_build_flow_end(sb_trace *t, const sb_flow_end *end) {
    sb_flow_end *e = SB_VEC_PUSH(&t->build->ends, t->alloc, MOST_POINTS);
    if (e) *e = *end;
    return e != NULL;
}

bool sb_build_fact(sb_trace *t, sb_slice name, sb_slice value) {
    if (t->facts.n >= 1000 || value.n > 2000) return true;
    sb_fact *f = SB_VEC_PUSH(&t->facts, t->alloc, 1001);
    if (!f) return false;
    *f = (sb_fact){t->build->source, sb_build_text(t, name), sb_build_text(t, value)};
    return f->name.p && f->value.p;
}

bool sb_build_memory(sb_trace *t, const sb_memory_event *e) {
    if (is_absurd(e->time) || e->bytes == INT64_MIN) {
        sb_trace_note(t, SB_TRACE_ODD_FAR, 1, t->memory_devices.items[e->device].name);
        return true;
    }
    sb_memory_event *m = SB_VEC_PUSH(&t->memory, t->alloc, MOST_POINTS);
    if (!m) return false;
    *m = *e;
    m->order = (uint32_t)t->memory.n;
    return true;
}

uint32_t sb_build_memory_device(sb_trace *t, sb_slice name) {
    for (uint32_t i = 0; i < t->memory_devices.n; i++)
        if (t->memory_devices.items[i].source == t->build->source &&
            sb_slice_eq(t->memory_devices.items[i].name, name))
            return i;
    sb_memory_device *d = SB_VEC_PUSH(&t->memory_devices, t->alloc, 1024);
    if (!d) return t->memory_devices.n ? 0 : SB_NO_INDEX;
    *d = (sb_memory_device){.source = t->build->source, .name = sb_build_text(t, name)};
    return (uint32_t)t->memory_devices.n - 1;
}

bool sb_build_progress(sb_trace *t, uint64_t done) {
    sb_trace_build *b = t->build;
    if (!b->is_cancelled && t->opts.progress &&
        !t->opts.progress(t->opts.ud, b->done_before + done, b->total))
        b->is_cancelled = true;
    return !b->is_cancelled;
}

uint64_t sb_build_hash(sb_slice a, sb_slice b) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < a.n; i++) h = (h ^ a.p[i]) * UINT64_C(0x100000001b3);
    h = (h ^ 0xff) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < b.n; i++) h = (h ^ b.p[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* ---- begin and end --------------------------------------------------------------------------- */

bool sb_build_begin(sb_trace *t, uint32_t track, int64_t start, uint32_t name, sb_span_kind kind,
                    uint64_t at) {
    sb_trace_build *b = t->build;
    sb_trace_span *s = sb_build_span(t, track, start, 0, name, kind, at);
    sb_open_span *o = s ? SB_VEC_PUSH(&b->open, t->alloc, MOST_POINTS) : NULL;
    if (!o) return false;
    *o = (sb_open_span){track, (uint32_t)t->tracks.items[track].spans.n - 1,
                        b->open_top.items[track]};
    b->open_top.items[track] = (uint32_t)b->open.n;
    return true;
}

bool sb_build_end(sb_trace *t, uint32_t track, int64_t end) {
    sb_trace_build *b = t->build;
    uint32_t top = b->open_top.items[track];
    if (!top) {
        sb_trace_note(t, SB_TRACE_ODD_MISSING_BEGIN, 1, t->tracks.items[track].name);
        return true;
    }
    sb_open_span *o = &b->open.items[top - 1];
    sb_trace_span *s = &t->tracks.items[track].spans.items[o->index];
    b->open_top.items[track] = o->below;
    if (end >= s->start)
        s->dur = end - s->start;
    else
        sb_trace_note(t, SB_TRACE_ODD_NEGATIVE, 1, sb_trace_name(t, s->name));
    if (top == b->open.n) b->open.n--;
    return true;
}

/* ---- what lies far away ---------------------------------------------------------------------- */

#define SAMPLES 1023

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median of a sample of all start times: unlike the mean it does not move if some are
 * wrong. */
static bool middle_of(const sb_trace *t, int64_t *middle) {
    int64_t sample[SAMPLES];
    size_t n = 0;
    uint64_t all = 0, seen = 0, next = 0;
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) all += t->tracks.items[i].spans.n;
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        while (n < SAMPLES && next < seen + k->spans.n) {
            sample[n++] = k->spans.items[next - seen].start;
            next += all / SAMPLES + 1;
        }
        seen += k->spans.n;
    }
    if (n == 0) return false;
    qsort(sample, n, sizeof sample[0], compare_times);
    *middle = sample[n / 2];
    return true;
}

static bool is_near(int64_t time, int64_t middle) {
    return time > middle - ONE_DAY && time < middle + ONE_DAY;
}

/* ---- what has not ended ---------------------------------------------------------------------- */

/* The last time of a track that is not far away from the others. */
static int64_t track_end(const sb_track *k, int64_t middle) {
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < k->spans.n; i++) {
        int64_t mine = sb_span_end(&k->spans.items[i]);
        if (mine > end && is_near(mine, middle)) end = mine;
    }
    return end;
}

static void end_at(sb_trace *t, sb_trace_span *s, int64_t end) {
    s->dur = end > s->start ? end - s->start : 0;
    sb_trace_note(t, SB_TRACE_ODD_MISSING_END, 1, sb_trace_name(t, s->name));
}

static void close_open(sb_trace *t, int64_t middle) {
    sb_trace_build *b = t->build;
    for (uint32_t track = b->first_track; track < t->tracks.n; track++) {
        if (!b->open_top.items[track]) continue;
        sb_track *k = &t->tracks.items[track];
        int64_t end = track_end(k, middle);
        while (b->open_top.items[track]) {
            sb_open_span *o = &b->open.items[b->open_top.items[track] - 1];
            end_at(t, &k->spans.items[o->index], end);
            b->open_top.items[track] = o->below;
        }
    }
    b->open.n = 0;
}

/* The same for what ran beside the threads. */
static void close_async(sb_trace *t, int64_t middle) {
    for (uint32_t track = t->build->first_track; track < t->tracks.n; track++) {
        sb_track *k = &t->tracks.items[track];
        if (k->kind != SB_TRACK_ASYNC) continue;
        int64_t end = track_end(k, middle);
        for (size_t i = 0; i < k->spans.n; i++)
            if (k->spans.items[i].dur == SB_STILL_OPEN) end_at(t, &k->spans.items[i], end);
    }
}

/* ---- the end of a source --------------------------------------------------------------------- */

static void leave_out_far(sb_trace *t, int64_t middle) {
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) {
        sb_track *k = &t->tracks.items[i];
        size_t kept = 0, points = 0;
        for (size_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            if (is_near(s->start, middle) && s->dur < ONE_DAY)
                k->spans.items[kept++] = *s;
            else if (s->start != NOWHERE) /* that one was noted when it came */
                sb_trace_note(t, SB_TRACE_ODD_FAR, 1, sb_trace_name(t, s->name));
        }
        k->spans.n = kept;
        for (size_t n = 0; n < k->points.n; n++)
            if (is_near(k->points.items[n].time, middle))
                k->points.items[points++] = k->points.items[n];
        if (points < k->points.n) sb_trace_note(t, SB_TRACE_ODD_FAR, k->points.n - points, k->name);
        k->points.n = points;
    }
    size_t memory = t->build->first_memory;
    for (size_t n = memory; n < t->memory.n; n++) {
        const sb_memory_event *e = &t->memory.items[n];
        if (is_near(e->time, middle)) t->memory.items[memory++] = *e;
    }
    t->memory.n = memory;
}

sb_status sb_build_end_source(sb_trace *t, sb_err *err) {
    int64_t middle;
    if (middle_of(t, &middle)) {
        close_open(t, middle);
        close_async(t, middle);
        leave_out_far(t, middle);
    }
    return sb_finish_tracks(t, t->build->first_track, err);
}
