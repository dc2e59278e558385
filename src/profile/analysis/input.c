/* input.c: the time that the input pipeline takes, by stage. */
#include <stdlib.h>

#include "base/checked.h"
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define SLOW (50 * SB_PS_PER_US)

const char *sb_input_part_name(int part) {
    static const char *const names[SB_INPUT_PARTS] = {"read", "preprocess", "enqueue", "wait",
                                                      "other"};
    return names[part];
}

int sb_input_part_of(sb_slice name) {
    /* "Iterator::Prefetch::Map": the last component is the stage, the others are its consumers */
    size_t at = name.n;
    while (at > 1 && !(name.p[at - 1] == ':' && name.p[at - 2] == ':')) at--;
    sb_slice last = at > 1 ? sb_slice_of(name.p + at, name.n - at) : name;
    if (sb_text_has(name, "DataLoader") || sb_text_begins(name, "IteratorGetNext") ||
        sb_text_has(last, "Consume"))
        return 3;
    if (sb_text_has(last, "TFRecord") || sb_text_has(last, "File") || sb_text_has(last, "Tensor") ||
        sb_text_has(last, "Interleave") || sb_text_has(last, "Range") ||
        sb_text_has(last, "Generator"))
        return 0;
    if (sb_text_has(last, "Map") || sb_text_has(last, "Batch") || sb_text_has(last, "Shuffle") ||
        sb_text_has(last, "Filter") || sb_text_has(last, "Zip") || sb_text_has(last, "Repeat"))
        return 1;
    if (sb_text_has(last, "Prefetch") || sb_text_has(last, "Root") || sb_text_has(last, "Enqueue"))
        return 2;
    return 4;
}

static int compare_rows(const void *a, const void *b) {
    const sb_input_row *x = a, *y = b;
    if (x->self != y->self) return x->self > y->self ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* The stage that encloses this one; what else is inside a stage is its own work. */
static uint32_t stage_around(const sb_track *k, uint32_t index) {
    uint32_t at = sb_track_parent(k, index);
    while (at != SB_NO_INDEX && k->spans.items[at].kind != SB_SPAN_INPUT)
        at = sb_track_parent(k, at);
    return at;
}

bool sb_view_input(const sb_analysis *a, sb_input_view *out, sb_arena *arena) {
    const sb_trace *t = a->t;
    *out = (sb_input_view){.share = -1};
    sb_input_row *rows = sb_arena_zeroed(arena, (size_t)t->names.count + 1, sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind != SB_TRACK_THREAD) continue;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            const sb_trace_span *s = &k->spans.items[n];
            if (s->kind != SB_SPAN_INPUT) continue;
            sb_input_row *row = &rows[s->name];
            row->calls++;
            row->slow += s->dur > SLOW;
            sb_sum(&row->total, s->dur);
            sb_sum(&row->self, s->dur);
            uint32_t around = stage_around(k, n);
            if (around != SB_NO_INDEX) sb_sum(&rows[k->spans.items[around].name].self, -s->dur);
            if (s->dur > row->greatest) row->greatest = s->dur;
        }
    }
    for (uint32_t i = 0; i < t->names.count; i++) {
        if (!rows[i].calls) continue;
        if (rows[i].self < 0) rows[i].self = 0; /* stages that cross */
        sb_sum(&out->parts[sb_input_part_of(sb_trace_name(t, i))], rows[i].self);
        rows[out->row_count] = rows[i];
        rows[out->row_count++].name = i;
    }
    out->rows = rows;
    if (out->row_count) qsort(rows, out->row_count, sizeof *rows, compare_rows);
    /* of a median step, as the overview has it */
    if (a->stats.median)
        out->share = (double)a->stats.parts[SB_PART_INPUT] / (double)a->stats.median;
    return true;
}
