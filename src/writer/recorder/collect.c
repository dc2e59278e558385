/* collect.c: records to slices.
 *
 * In:  the lanes of a recorder that has stopped, each a list of chunks in the order of its calls.
 * Out: slices with start and duration, sorted as files have them: track by track, by start, those
 *      that last longer first.
 * A slice takes its place when it begins and gets its duration when it ends, so that slices of one
 * thread are in order already; a track that several threads used is sorted.
 * Memory: about 48 bytes a record. Cost: one pass, and the sorting. */
#include "writer/recorder/recorder_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#include "base/banned.h"

#define NONE UINT32_MAX
#define MOST_PS ((uint64_t)INT64_MAX)

/* While one lane is read: what is open on each track. Nodes are a stack a track, linked downwards
 * and reused. */
typedef struct open_node {
    uint32_t mark;
    uint32_t below;
} open_node;

typedef struct track_top {
    uint32_t lane; /* whose `top` this is: other lanes have nothing open */
    uint32_t top;
} track_top;

typedef struct collector {
    sb_marks *m;
    const sb_recorder *r;
    const sb_alloc *alloc;
    double ps_per_tick;
    int64_t stop; /* in picoseconds */
    uint32_t lane;
    track_top *tops; /* by track */
    SB_VEC(open_node) nodes;
    uint32_t free_node;
    uint32_t open_count;
    size_t lane_begin; /* first mark of this lane */
} collector;

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t ps_of_ns(uint64_t ns) {
    return ns > MOST_PS / 1000 ? INT64_MAX : (int64_t)(ns * 1000);
}

static int64_t ps_of_ticks(const collector *c, uint64_t ticks) {
    if (ticks <= c->r->start.ticks) return 0;
    uint64_t since = ticks - c->r->start.ticks;
    if (!c->r->uses_counter) return ps_of_ns(since);
    double ps = (double)since * c->ps_per_tick;
    return ps < (double)c->stop ? (int64_t)ps : c->stop;
}

/* ---- one record ------------------------------------------------------------------------------ */

static sb_mark *add_mark(collector *c, const sb_recorded *record, uint32_t track,
                         sb_mark_kind kind) {
    sb_mark *mark = SB_VEC_PUSH(c->m, c->alloc, NONE - 1);
    if (!mark) return NULL;
    *mark = (sb_mark){.start = ps_of_ticks(c, record->time),
                      .value = record->value,
                      .name = record->name - 1,
                      .track = track,
                      .kind = kind};
    return mark;
}

static bool begin_slice(collector *c, const sb_recorded *record, uint32_t track,
                        sb_mark_kind kind) {
    sb_mark *mark = add_mark(c, record, track, kind);
    if (!mark) return false;
    mark->is_open = true;
    uint32_t node = c->free_node;
    if (node != NONE) {
        c->free_node = c->nodes.items[node].below;
    } else {
        if (!SB_VEC_RESERVE(&c->nodes, c->alloc, 1, NONE - 1)) return false;
        node = (uint32_t)c->nodes.n++;
    }
    track_top *top = &c->tops[track];
    uint32_t below = top->lane == c->lane ? top->top : NONE;
    c->nodes.items[node] = (open_node){(uint32_t)(c->m->n - 1), below};
    *top = (track_top){c->lane, node};
    c->open_count++;
    return true;
}

static void end_mark(collector *c, sb_mark *mark, int64_t end) {
    mark->duration = end > mark->start ? end - mark->start : 0;
    mark->is_open = false;
    c->open_count--;
}

static void end_slice(collector *c, const sb_recorded *record, uint32_t track) {
    track_top *top = &c->tops[track];
    if (top->lane != c->lane || top->top == NONE) {
        c->m->no_begin++;
        return;
    }
    uint32_t node = top->top;
    top->top = c->nodes.items[node].below;
    end_mark(c, &c->m->items[c->nodes.items[node].mark], ps_of_ticks(c, record->time));
    c->nodes.items[node].below = c->free_node;
    c->free_node = node;
}

static bool add_span(collector *c, const sb_recorded *record, uint32_t track) {
    uint64_t start = c->r->start.ns;
    if (record->time < start || record->time - start > MOST_PS / 2000 ||
        record->value > MOST_PS / 2000) {
        c->m->misplaced++;
        return true;
    }
    sb_mark *mark = add_mark(c, record, track, SB_MARK_SLICE);
    if (!mark) return false;
    mark->start = ps_of_ns(record->time - start);
    mark->duration = ps_of_ns(record->value);
    return true;
}

/* The thread of this lane has ended: what it has not ended lasts until its last record. */
static void close_lane(collector *c, int64_t end) {
    c->m->unfinished += c->open_count;
    for (size_t i = c->m->n; i > c->lane_begin && c->open_count > 0; i--)
        if (c->m->items[i - 1].is_open) end_mark(c, &c->m->items[i - 1], end);
    c->lane++;
    c->lane_begin = c->m->n;
    c->nodes.n = 0;
    c->free_node = NONE;
}

static bool take(collector *c, const sb_recorded *record) {
    sb_recorded_kind kind = record->track & 7;
    uint32_t track = (record->track >> 3) - 1;
    bool has_name = kind != SB_RECORDED_END && kind != SB_RECORDED_COUNT;
    if (kind == SB_RECORDED_RESET) {
        int64_t end = c->m->n > c->lane_begin ? c->m->items[c->m->n - 1].start : 0;
        close_lane(c, end);
        return true;
    }
    if (track >= c->r->tracks.count || (has_name && record->name - 1 >= c->r->names.count)) {
        c->m->unknown++;
        return true;
    }
    switch (kind) {
    case SB_RECORDED_BEGIN:
        return begin_slice(c, record, track, SB_MARK_SLICE);
    case SB_RECORDED_STEP:
        return begin_slice(c, record, track, SB_MARK_STEP);
    case SB_RECORDED_END:
        end_slice(c, record, track);
        return true;
    case SB_RECORDED_SPAN:
        return add_span(c, record, track);
    case SB_RECORDED_INSTANT:
        return add_mark(c, record, track, SB_MARK_SLICE) != NULL;
    default:
        return add_mark(c, record, track, SB_MARK_COUNT) != NULL;
    }
}

/* ---- all records ----------------------------------------------------------------------------- */

static bool read_lanes(collector *c) {
    for (const sb_lane *lane = c->r->lanes; lane; lane = lane->next) {
        for (sb_record_chunk *chunk = lane->first; chunk; chunk = chunk->next) {
            uint32_t n = atomic_load_explicit(&chunk->n, memory_order_acquire);
            for (uint32_t i = 0; i < n; i++)
                if (!take(c, &chunk->records[i])) return false;
        }
        close_lane(c, c->stop);
    }
    return true;
}

static int compare(const void *a, const void *b, void *ud) {
    const sb_mark *items = ud;
    const sb_mark *x = &items[*(const uint32_t *)a], *y = &items[*(const uint32_t *)b];
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->duration != y->duration) return x->duration > y->duration ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void sort_track(sb_marks *m, uint32_t *order, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (compare(&order[i - 1], &order[i], m->items) > 0) {
            qsort_r(order, n, sizeof *order, compare, m->items);
            return;
        }
}

static bool sort_marks(sb_marks *m, const sb_recorder *r) {
    m->track_count = r->tracks.count;
    m->track_begin = sb_alloc_zeroed(r->env.alloc, m->track_count + 1, sizeof *m->track_begin);
    m->order = sb_alloc_get(r->env.alloc, (m->n + 1) * sizeof *m->order);
    if (!m->track_begin || !m->order) return false;
    /* Counted one track ahead: next[t] is where track t begins, and filling in moves it to its
     * end. */
    size_t *next = m->track_begin + 1;
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].track + 2 <= m->track_count) next[m->items[i].track + 1]++;
    for (size_t t = 1; t < m->track_count; t++) next[t] += next[t - 1];
    for (size_t i = 0; i < m->n; i++) m->order[next[m->items[i].track]++] = (uint32_t)i;
    for (size_t t = 0; t < m->track_count; t++)
        sort_track(m, m->order + m->track_begin[t], m->track_begin[t + 1] - m->track_begin[t]);
    return true;
}

sb_status sb_marks_collect(sb_marks *m, sb_recorder *r, sb_moment stop, sb_err *err) {
    collector c = {.m = m, .r = r, .alloc = r->env.alloc, .lane = 1, .free_node = NONE};
    c.stop = ps_of_ns(stop.ns - r->start.ns);
    c.ps_per_tick =
        stop.ticks > r->start.ticks ? (double)c.stop / (double)(stop.ticks - r->start.ticks) : 0;
    c.tops = sb_alloc_zeroed(c.alloc, r->tracks.count + 1, sizeof *c.tops);
    bool ok = c.tops && read_lanes(&c) && sort_marks(m, r);
    sb_alloc_put(c.alloc, c.tops, (r->tracks.count + 1) * sizeof *c.tops);
    SB_VEC_FREE(&c.nodes, c.alloc);
    return ok ? SB_OK : sb_fail_nomem(err, "for the slices of a recording");
}

void sb_marks_free(sb_marks *m, const sb_recorder *r) {
    const sb_alloc *alloc = r->env.alloc;
    sb_alloc_put(alloc, m->track_begin, (m->track_count + 1) * sizeof *m->track_begin);
    sb_alloc_put(alloc, m->order, (m->n + 1) * sizeof *m->order);
    SB_VEC_FREE(m, alloc);
}
