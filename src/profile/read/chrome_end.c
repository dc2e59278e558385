/* chrome_end.c: applies the names of processes and threads to the tracks, when the whole file has
 * been read: a file may name them before or after their events. */
#include <stdio.h>

#include "base/checked.h"
#include "profile/read/chrome_int.h"
#include "profile/read/read.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

/* 10^14 microseconds is 1973: larger times are Unix time */
#define UNIX_MICROS INT64_C(100000000000000)

static uint32_t find_group(const sb_chrome *c, sb_slice pid) {
    const sb_trace_build *b = c->t->build;
    char key[256];
    size_t n = pid.n > sizeof key - 4 ? sizeof key - 4 : pid.n;
    memcpy(key, &b->source, 4);
    if (n) memcpy(key + 4, pid.p, n);
    uint32_t id = sb_intern_find(&b->group_keys, sb_slice_of(key, n + 4));
    return id == SB_INTERN_NONE ? SB_NO_INDEX : b->group_of.items[id];
}

static uint32_t find_track(const sb_chrome *c, uint32_t group, sb_slice tid) {
    const sb_trace_build *b = c->t->build;
    char key[512];
    size_t n = tid.n > sizeof key - 4 ? sizeof key - 4 : tid.n;
    memcpy(key, &group, 4);
    if (n) memcpy(key + 4, tid.p, n);
    uint32_t id = sb_intern_find(&b->track_keys, sb_slice_of(key, n + 4));
    return id == SB_INTERN_NONE ? SB_NO_INDEX : b->track_of.items[id];
}

static sb_slice trimmed(sb_slice s) {
    while (s.n && s.p[s.n - 1] == ' ') s.n--;
    return s;
}

static void apply_label(sb_chrome *c, const sb_chrome_label *l) {
    sb_trace *t = c->t;
    int64_t sort;
    uint32_t group = find_group(c, l->pid);
    if (group == SB_NO_INDEX) return;
    sb_trace_group *g = &t->groups.items[group];
    if (!l->tid.p) {
        if (l->what == 'n' && l->value.n) g->name = trimmed(l->value);
        if (l->what == 's' && sb_scan_int(l->value, &sort)) g->sort = sort;
        if (l->what == 'l' && l->value.n) {
            char text[300];
            int n =
                snprintf(text, sizeof text, "%.*s (%.*s)", SB_SHOWN(g->name), SB_SHOWN(l->value));
            g->name = sb_build_text(t, sb_slice_of(text, (size_t)n));
        }
        return;
    }
    uint32_t track = find_track(c, group, l->tid);
    if (track == SB_NO_INDEX) return;
    if (l->what == 'n' && l->value.n) t->tracks.items[track].name = trimmed(l->value);
    if (l->what == 's' && sb_scan_int(l->value, &sort)) t->tracks.items[track].sort = sort;
}

static bool is_named_stream(const sb_track *k) {
    return sb_text_begins(k->name, "Stream #");
}

/* For a trace.json that XProf made from an XSpace: its processes are the planes of the XSpace. What
 * "XLA Ops" are on a TPU is derived from the streams of a GPU. */
static bool apply_plane_names(sb_chrome *c) {
    sb_trace *t = c->t;
    size_t n = t->groups.n;
    bool *has_streams = sb_alloc_zeroed(t->alloc, n, sizeof *has_streams); /* by group */
    if (!has_streams) return false;
    for (size_t i = t->build->first_track; i < t->tracks.n; i++)
        has_streams[t->tracks.items[i].group] |= is_named_stream(&t->tracks.items[i]);
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) {
        sb_track *k = &t->tracks.items[i];
        sb_trace_group *g = &t->groups.items[k->group];
        if (!sb_text_begins(g->name, "/device:") || k->kind == SB_TRACK_COUNTER) continue;
        g->kind = SB_GROUP_DEVICE;
        bool is_stream = is_named_stream(k) ||
                         (sb_slice_eq(k->name, SB_LIT("XLA Ops")) && !has_streams[k->group]);
        k->kind = is_stream                               ? SB_TRACK_STREAM
                  : sb_slice_eq(k->name, SB_LIT("Steps")) ? SB_TRACK_STEPS
                                                          : SB_TRACK_DERIVED;
        for (size_t m = 0; is_stream && m < k->spans.n; m++)
            k->spans.items[m].kind =
                (uint8_t)sb_classify_device(sb_trace_name(t, k->spans.items[m].name));
    }
    sb_alloc_put(t->alloc, has_streams, n * sizeof *has_streams);
    return true;
}

/* Finds launches, steps and XLA operators among the host spans of such a file. */
static void apply_facts(sb_chrome *c) {
    sb_trace *t = c->t;
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) {
        sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_THREAD) continue;
        for (size_t n = 0; n < k->spans.n; n++) {
            sb_trace_span *s = &k->spans.items[n];
            const sb_extra *e = sb_span_extra(t, s);
            if (!e || s->dur == 0) continue;
            if (e->flags & SB_EXTRA_HAS_NUMBER)
                s->kind = SB_SPAN_STEP;
            else if (e->correlation)
                s->kind = SB_SPAN_RUNTIME;
            else if (e->text)
                s->kind = (uint8_t)sb_classify_hlo(sb_trace_name(t, s->name));
        }
    }
}

static void link_devices(sb_chrome *c) {
    sb_trace *t = c->t;
    for (size_t i = 0; i < t->devices.n; i++) {
        sb_device *d = &t->devices.items[i];
        char pid[24];
        if (d->source != t->build->source) continue;
        int n = snprintf(pid, sizeof pid, "%lld", (long long)d->id);
        uint32_t group = find_group(c, sb_slice_of(pid, (size_t)n));
        if (group != SB_NO_INDEX && t->groups.items[group].kind == SB_GROUP_DEVICE)
            d->group = group;
    }
}

/* Shows the end of the recording window, unless it is absurd: torch has written times that are
 * years away. */
static bool add_window_end(sb_chrome *c) {
    int64_t last = 0;
    if (!c->has_window_end) return true;
    for (size_t i = c->t->build->first_track; i < c->t->tracks.n; i++) {
        const sb_track *k = &c->t->tracks.items[i];
        for (size_t n = 0; n < k->spans.n; n++)
            if (sb_span_end(&k->spans.items[n]) > last) last = sb_span_end(&k->spans.items[n]);
    }
    if (c->window_end > last + INT64_C(86400) * 1000 * SB_PS_PER_US) {
        sb_trace_note(c->t, SB_TRACE_ODD_FAR, 1, SB_LIT("Record Window End"));
        return true;
    }
    uint32_t name = sb_build_name(c->t, SB_LIT("Record Window End"));
    return sb_build_span(c->t, c->window_end_track, c->window_end, 0, name, SB_SPAN_MARKER, 0) !=
           NULL;
}

bool sb_chrome_end(sb_chrome *c) {
    sb_trace *t = c->t;
    sb_trace_source *s = &t->sources.items[t->build->source];
    /* names first, then labels, which are appended to the names */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < c->labels.n; i++)
            if ((c->labels.items[i].what == 'l') == (pass == 1))
                apply_label(c, &c->labels.items[i]);
    if (s->format == SB_FORMAT_CHROME) {
        if (!apply_plane_names(c)) return false;
        apply_facts(c);
    }
    link_devices(c);
    /* times are since 1970, or since a base that the file names; otherwise the absolute time is
     * unknown */
    if ((s->base_ns || c->base > UNIX_MICROS) && c->base < INT64_MAX / 2000 &&
        c->base > INT64_MIN / 2000)
        sb_sum(&s->base_ns, c->base * 1000);
    return add_window_end(c);
}
