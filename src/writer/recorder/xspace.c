/* xspace.c: slices to an XSpace.
 *
 *   plane /host:CPU         a line a track; steps carry the stats _r (a root of level 1) and
 *                           step_num; counters are events of the line _counters_ with the stat
 *                           counter_value
 *   plane Task Environment  when it was, as stats profile_start_time and profile_stop_time
 *   warnings                what is missing or odd
 * Numbers of event metadata: names first, then tracks (the names of counters). */
#include "writer/recorder/recorder_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "base/vec.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"

#include "base/banned.h"

enum { STAT_ROOT = 1, STAT_STEP, STAT_COUNTER };
enum { STAT_START = 1, STAT_STOP };

typedef struct encoder {
    sb_buf *out;
    const sb_marks *m;
    const sb_recorder *r;
    bool *is_used; /* by number of metadata */
} encoder;

/* Strings in protobuf are UTF-8; other bytes are replaced. */
static void add_text(sb_buf *b, uint32_t number, sb_slice text) {
    size_t at = sb_pb_begin(b, number, text.n);
    sb_utf8_repair(b, text);
    sb_pb_end(b, at);
}

static void add_int_stat(sb_buf *b, uint32_t number, int64_t stat, int64_t value) {
    size_t at = sb_pb_begin(b, number, 8);
    sb_pb_add_int(b, SB_XSTAT_METADATA_ID, stat);
    sb_pb_add_int(b, SB_XSTAT_INT64_VALUE, value);
    sb_pb_end(b, at);
}

static void add_mark_event(encoder *e, const sb_mark *mark) {
    sb_buf *b = e->out;
    size_t at = sb_pb_begin(b, SB_XLINE_EVENTS, 20);
    bool counts = mark->kind == SB_MARK_COUNT;
    uint32_t metadata = (counts ? e->r->names.count + mark->track : mark->name) + 1;
    e->is_used[metadata] = true;
    sb_pb_add_uint(b, SB_XEVENT_METADATA_ID, metadata);
    sb_pb_add_int(b, SB_XEVENT_OFFSET_PS, mark->start);
    sb_pb_add_int_nz(b, SB_XEVENT_DURATION_PS, mark->duration);
    if (mark->kind == SB_MARK_STEP) {
        add_int_stat(b, SB_XEVENT_STATS, STAT_ROOT, 1);
        add_int_stat(b, SB_XEVENT_STATS, STAT_STEP, (int64_t)mark->value);
    } else if (counts) {
        size_t stat = sb_pb_begin(b, SB_XEVENT_STATS, 12);
        sb_pb_add_int(b, SB_XSTAT_METADATA_ID, STAT_COUNTER);
        sb_pb_add_double(b, SB_XSTAT_DOUBLE_VALUE, sb_bits_double(mark->value));
        sb_pb_end(b, stat);
    }
    sb_pb_end(b, at);
}

static void add_recorder_track(encoder *e, uint32_t track) {
    const sb_marks *m = e->m;
    size_t begin = m->track_begin[track], end = m->track_begin[track + 1], slices = 0;
    for (size_t i = begin; i < end; i++) slices += m->items[m->order[i]].kind != SB_MARK_COUNT;
    if (slices == 0) return;
    size_t at = sb_pb_begin(e->out, SB_XPLANE_LINES, slices * 16);
    sb_pb_add_uint(e->out, SB_XLINE_ID, track + 1u);
    add_text(e->out, SB_XLINE_NAME, sb_intern_name(&e->r->tracks, track));
    for (size_t i = begin; i < end; i++) {
        const sb_mark *mark = &m->items[m->order[i]];
        if (mark->kind != SB_MARK_COUNT) add_mark_event(e, mark);
    }
    sb_pb_end(e->out, at);
}

static int compare_times(const void *a, const void *b, void *ud) {
    const sb_mark *items = ud;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (items[x].start != items[y].start) return items[x].start < items[y].start ? -1 : 1;
    return x < y ? -1 : 1;
}

/* All counters share one line, whose events are in the order of time. */
static bool add_counters(encoder *e) {
    const sb_marks *m = e->m;
    const sb_alloc *alloc = e->r->env.alloc;
    SB_VEC(uint32_t) found = {0};
    bool ok = true;
    for (size_t i = 0; i < m->n && ok; i++) {
        const sb_mark *mark = &m->items[m->order[i]];
        uint32_t *slot = NULL;
        if (mark->kind != SB_MARK_COUNT) continue;
        ok = (slot = SB_VEC_PUSH(&found, alloc, SIZE_MAX)) != NULL;
        if (ok) *slot = m->order[i];
    }
    if (ok && found.n) {
        qsort_r(found.items, found.n, sizeof *found.items, compare_times, m->items);
        size_t at = sb_pb_begin(e->out, SB_XPLANE_LINES, found.n * 30);
        sb_pb_add_uint(e->out, SB_XLINE_ID, m->track_count + 1);
        sb_pb_add_bytes(e->out, SB_XLINE_NAME, SB_LIT("_counters_"));
        for (size_t i = 0; i < found.n; i++) add_mark_event(e, &m->items[found.items[i]]);
        sb_pb_end(e->out, at);
    }
    SB_VEC_FREE(&found, alloc);
    return ok;
}

/* An entry of a map from numbers to metadata, both kinds of which begin with id and name. */
static void add_metadata(sb_buf *b, uint32_t map, uint32_t id, sb_slice name) {
    size_t entry = sb_pb_begin(b, map, name.n + 12);
    sb_pb_add_uint(b, SB_XPLANE_EVENT_META_KEY, id);
    size_t value = sb_pb_begin(b, SB_XPLANE_EVENT_META_VALUE, name.n + 6);
    sb_pb_add_uint(b, SB_XEVENT_META_ID, id);
    add_text(b, SB_XEVENT_META_NAME, name);
    sb_pb_end(b, value);
    sb_pb_end(b, entry);
}

static bool add_host_plane(encoder *e) {
    const sb_recorder *r = e->r;
    size_t at = sb_pb_begin(e->out, SB_XSPACE_PLANES, e->m->n * 16);
    sb_pb_add_bytes(e->out, SB_XPLANE_NAME, SB_LIT("/host:CPU"));
    for (uint32_t t = 0; t < r->tracks.count; t++) add_recorder_track(e, t);
    if (!add_counters(e)) return false;
    for (uint32_t i = 0; i < r->names.count + r->tracks.count; i++)
        if (e->is_used[i + 1])
            add_metadata(e->out, SB_XPLANE_EVENT_METADATA, i + 1,
                         i < r->names.count ? sb_intern_name(&r->names, i)
                                            : sb_intern_name(&r->tracks, i - r->names.count));
    add_metadata(e->out, SB_XPLANE_STAT_METADATA, STAT_ROOT, SB_LIT("_r"));
    add_metadata(e->out, SB_XPLANE_STAT_METADATA, STAT_STEP, SB_LIT("step_num"));
    add_metadata(e->out, SB_XPLANE_STAT_METADATA, STAT_COUNTER, SB_LIT("counter_value"));
    sb_pb_end(e->out, at);
    return true;
}

static void add_time_stat(sb_buf *b, int64_t stat, uint64_t wall_ns) {
    size_t at = sb_pb_begin(b, SB_XPLANE_STATS, 12);
    sb_pb_add_int(b, SB_XSTAT_METADATA_ID, stat);
    sb_pb_add_uint(b, SB_XSTAT_UINT64_VALUE, wall_ns);
    sb_pb_end(b, at);
}

static void add_environment(sb_buf *b, const sb_recorder *r, sb_moment stop) {
    size_t at = sb_pb_begin(b, SB_XSPACE_PLANES, 120);
    sb_pb_add_bytes(b, SB_XPLANE_NAME, SB_LIT("Task Environment"));
    add_metadata(b, SB_XPLANE_STAT_METADATA, STAT_START, SB_LIT("profile_start_time"));
    add_metadata(b, SB_XPLANE_STAT_METADATA, STAT_STOP, SB_LIT("profile_stop_time"));
    add_time_stat(b, STAT_START, r->start_wall);
    add_time_stat(b, STAT_STOP, r->start_wall + (stop.ns - r->start.ns));
    sb_pb_end(b, at);
}

/* One sentence for each kind of loss; `count` of them, or none. */
static void warn(sb_buf *b, uint64_t count, const char *text) {
    if (!count) return;
    size_t at = sb_pb_begin(b, SB_XSPACE_WARNINGS, 120);
    sb_buf_printf(b, "%llu %s", (unsigned long long)count, text);
    sb_pb_end(b, at);
}

static void add_warnings(sb_buf *b, const sb_marks *m, const sb_recorder *r, uint64_t dropped) {
    warn(b, dropped,
         r->when_full == SB_RECORDER_KEEP_NEWEST
             ? "calls at the beginning were dropped: the recorder's memory was full "
               "(sb_recorder_opts.memory_bytes)"
             : "calls at the end were dropped: the recorder's memory was full "
               "(sb_recorder_opts.memory_bytes)");
    warn(b, m->unfinished, "slices had not ended; they are shown up to the end");
    /* With losses an end may have lost its beginning; without, the program made a mistake. */
    if (!dropped) warn(b, m->no_begin, "calls of sb_recorder_end had no slice to end");
    warn(b, m->unknown, "calls had a number that is not a track or a name of this recorder");
    warn(b, m->misplaced, "spans were left out: they begin before the recording or are too long");
}

sb_status sb_marks_encode(sb_buf *out, const sb_marks *m, const sb_recorder *r, sb_moment stop,
                          uint64_t dropped, sb_err *err) {
    size_t used_n = (size_t)r->names.count + r->tracks.count + 1;
    encoder e = {out, m, r, sb_alloc_zeroed(r->env.alloc, used_n, sizeof(bool))};
    bool ok = e.is_used && add_host_plane(&e);
    sb_alloc_put(r->env.alloc, e.is_used, used_n * sizeof(bool));
    if (!ok) return sb_fail_nomem(err, "for the file of a recording");
    add_environment(out, r, stop);
    add_warnings(out, m, r, dropped);
    add_text(out, SB_XSPACE_HOSTNAMES, sb_slice_str(r->host));
    return sb_buf_check(out, "the file of a recording", err);
}
