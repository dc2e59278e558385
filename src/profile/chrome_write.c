/* chrome_write.c: writes a trace as Chrome trace JSON.
 *
 * The order of events is free in this format. Spans are written a batch at a time, each batch in
 * the order in which the records lie in the file, so that arguments are read from begin to end. */
#include "profile/chrome_write.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/json.h"
#include "profile/read/read.h"
#include "base/banned.h"

#define PIECE ((size_t)256 << 10)
#define MOST_ARGS ((size_t)64 << 20)
#define BATCH ((size_t)64 << 10)

typedef struct span_place {
    uint64_t at;
    uint32_t index;
} span_place;

typedef struct writing {
    const sb_trace *t;
    int64_t from, to;
    sb_buf out, args;
    sb_args_reader *reader;
    sb_arena categories;
    span_place *batch;
    sb_chrome_sink sink;
    void *ud;
    uint64_t done;
    bool any;
} writing;

static sb_status pass_on(writing *w, bool is_last, sb_err *err) {
    sb_status status = sb_buf_check(&w->out, "a trace", err);
    if (status != SB_OK || (w->out.n < PIECE && !is_last)) return status;
    status = w->sink(w->ud, sb_buf_slice(&w->out), w->done, w->t->span_count, err);
    sb_buf_clear(&w->out);
    return status;
}

static void begin_event(writing *w) {
    sb_buf_add_str(&w->out, w->any ? ",\n" : "\n");
    w->any = true;
}

/* Writes picoseconds as decimal microseconds, without rounding. */
static void add_micros(sb_buf *out, int64_t ps) {
    const char *sign = ps < 0 ? "-" : "";
    uint64_t x = ps < 0 ? (uint64_t)-ps : (uint64_t)ps;
    sb_buf_printf(out, "%s%llu.%06llu", sign, (unsigned long long)(x / 1000000),
                  (unsigned long long)(x % 1000000));
}

static void add_names(writing *w) {
    const sb_trace *t = w->t;
    for (uint32_t i = 0; i < t->groups.n; i++) {
        begin_event(w);
        sb_buf_printf(&w->out,
                      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":", i);
        sb_json_quote(&w->out, t->groups.items[i].name, true);
        sb_buf_add_str(&w->out, "}}");
    }
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (k->kind == SB_TRACK_COUNTER) continue;
        begin_event(w);
        sb_buf_printf(
            &w->out,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
            k->group, i);
        sb_json_quote(&w->out, k->name, true);
        sb_buf_add_str(&w->out, "}}");
    }
}

static sb_status add_span(writing *w, uint32_t track, uint32_t index, sb_err *err) {
    const sb_track *k = &w->t->tracks.items[track];
    const sb_trace_span *s = &k->spans.items[index];
    sb_slice category;
    sb_buf_clear(&w->args);
    sb_arena_mark mark = sb_arena_here(&w->categories);
    sb_status status =
        sb_args_add(w->reader, track, index, &w->args, &category, &w->categories, err);
    if (status == SB_CORRUPT) { /* its record is too large, for example: the slice alone */
        sb_buf_clear(&w->args);
        status = SB_OK;
    }
    if (status == SB_OK) status = sb_buf_check(&w->args, "the arguments of a slice", err);
    if (status != SB_OK) return status;
    begin_event(w);
    if (!category.n) category = sb_slice_str(sb_span_kind_name((sb_span_kind)s->kind));
    sb_buf_printf(&w->out, "{\"ph\":\"%s\",\"cat\":", s->dur ? "X" : "i");
    sb_json_quote(&w->out, category, true);
    sb_arena_reset(&w->categories, mark);
    sb_buf_printf(&w->out, ",\"pid\":%u,\"tid\":%u,\"name\":", k->group, track);
    sb_json_quote(&w->out, sb_trace_name(w->t, s->name), true);
    sb_buf_add_str(&w->out, ",\"ts\":");
    add_micros(&w->out, s->start);
    if (s->dur) {
        sb_buf_add_str(&w->out, ",\"dur\":");
        add_micros(&w->out, s->dur);
    } else {
        sb_buf_add_str(&w->out, ",\"s\":\"t\"");
    }
    if (w->args.n > 2) { /* more than "{}" */
        sb_buf_add_str(&w->out, ",\"args\":");
        sb_buf_add_slice(&w->out, sb_buf_slice(&w->args));
    }
    sb_buf_add_byte(&w->out, '}');
    return SB_OK;
}

static int compare_places(const void *a, const void *b) {
    const span_place *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static sb_status add_batch(writing *w, uint32_t track, size_t n, sb_err *err) {
    sb_status status = SB_OK;
    if (n) qsort(w->batch, n, sizeof *w->batch, compare_places);
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        status = add_span(w, track, w->batch[i].index, err);
        if (status == SB_OK) status = pass_on(w, false, err);
    }
    return status;
}

static sb_status add_spans(writing *w, uint32_t track, sb_err *err) {
    const sb_track *k = &w->t->tracks.items[track];
    sb_status status = SB_OK;
    size_t n = 0;
    for (uint32_t i = 0; i < k->spans.n && status == SB_OK; i++, w->done++) {
        const sb_trace_span *s = &k->spans.items[i];
        if (s->start > w->to || sb_span_end(s) < w->from) continue;
        w->batch[n++] = (span_place){s->at, i};
        if (n < BATCH) continue;
        status = add_batch(w, track, n, err);
        n = 0;
    }
    return status == SB_OK ? add_batch(w, track, n, err) : status;
}

static sb_status add_points(writing *w, const sb_track *k, sb_err *err) {
    sb_status status = SB_OK;
    for (size_t i = 0; i < k->points.n && status == SB_OK; i++) {
        const sb_count_point *p = &k->points.items[i];
        if (p->time < w->from || p->time > w->to) continue;
        begin_event(w);
        sb_buf_printf(&w->out, "{\"ph\":\"C\",\"pid\":%u,\"name\":", k->group);
        sb_json_quote(&w->out, k->name, true);
        sb_buf_add_str(&w->out, ",\"ts\":");
        add_micros(&w->out, p->time);
        if (isfinite(p->value))
            sb_buf_printf(&w->out, ",\"args\":{\"value\":%.17g}}", p->value);
        else
            sb_buf_add_str(&w->out, ",\"args\":{\"value\":null}}");
        status = pass_on(w, false, err);
    }
    return status;
}

/* Writes the arrows that begin and end inside the window. */
static sb_status add_flows(writing *w, sb_err *err) {
    const sb_trace *t = w->t;
    sb_status status = SB_OK;
    for (size_t i = 0; i < t->flows.n && status == SB_OK; i++) {
        const sb_flow *f = &t->flows.items[i];
        const sb_trace_span *a = &t->tracks.items[f->from_track].spans.items[f->from];
        const sb_trace_span *b = &t->tracks.items[f->to_track].spans.items[f->to];
        if (a->start < w->from || a->start > w->to || b->start < w->from || b->start > w->to)
            continue;
        begin_event(w);
        sb_buf_printf(&w->out,
                      "{\"ph\":\"s\",\"cat\":\"flow\",\"name\":\"flow\",\"id\":%llu,\"pid\":%u,"
                      "\"tid\":%u,\"ts\":",
                      (unsigned long long)i, t->tracks.items[f->from_track].group, f->from_track);
        add_micros(&w->out, a->start);
        sb_buf_printf(&w->out,
                      "},\n{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"flow\",\"name\":\"flow\",\"id\":%"
                      "llu,\"pid\":%u,\"tid\":%u,\"ts\":",
                      (unsigned long long)i, t->tracks.items[f->to_track].group, f->to_track);
        add_micros(&w->out, b->start);
        sb_buf_add_byte(&w->out, '}');
        status = pass_on(w, false, err);
    }
    return status;
}

static sb_status add_everything(writing *w, sb_err *err) {
    const sb_trace *t = w->t;
    bool is_torch = true;
    for (size_t i = 0; i < t->sources.n; i++)
        is_torch &= t->sources.items[i].format == SB_FORMAT_KINETO;
    sb_buf_add_str(&w->out, is_torch ? "{\"schemaVersion\":1," : "{");
    sb_buf_printf(&w->out,
                  "\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%lld,\"traceEvents\":[",
                  (long long)t->base_ns);
    add_names(w);
    sb_status status = pass_on(w, false, err);
    for (uint32_t i = 0; i < t->tracks.n && status == SB_OK; i++) {
        if (t->tracks.items[i].is_made) continue;
        status = add_spans(w, i, err);
        if (status == SB_OK) status = add_points(w, &t->tracks.items[i], err);
    }
    if (status == SB_OK) status = add_flows(w, err);
    sb_buf_add_str(&w->out, "\n]}\n");
    return status == SB_OK ? pass_on(w, true, err) : status;
}

sb_status sb_chrome_write(const sb_trace *t, int64_t from, int64_t to, sb_chrome_sink sink,
                          void *ud, sb_err *err) {
    writing w = {.t = t, .from = from, .to = to, .sink = sink, .ud = ud};
    sb_buf_init(&w.out, t->alloc, PIECE + MOST_ARGS);
    sb_buf_init(&w.args, t->alloc, MOST_ARGS);
    sb_arena_init(&w.categories, t->alloc, 256, 1 << 20);
    w.batch = sb_alloc_get(t->alloc, BATCH * sizeof *w.batch);
    sb_status status =
        w.batch ? sb_args_open(&w.reader, t, err) : sb_fail_nomem(err, "for the slices of a trace");
    if (status == SB_OK) status = add_everything(&w, err);
    sb_args_close(w.reader);
    if (w.batch) sb_alloc_put(t->alloc, w.batch, BATCH * sizeof *w.batch);
    sb_arena_fini(&w.categories);
    sb_buf_fini(&w.args);
    sb_buf_fini(&w.out);
    return status;
}
