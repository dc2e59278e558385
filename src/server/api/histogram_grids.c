/* histogram_grids.c: histograms of many series on grids of bins, and their percentiles, as columns.
 *
 * Two readings of what is shown: the first finds where the values are, the second puts them on the
 * grid that follows from it. Series of one tag share a grid, so that runs can be compared. */
#include <math.h>
#include <string.h>

#include "query/kinds/histogram_steps.h"
#include "server/api/columns.h"
#include "server/api/one_series.h"
#include "server/api/scalar_ask.h"
#include "base/banned.h"

#define MAX_SERIES 500u
#define MAX_STEPS 4096
#define MAX_BINS 1024
#define MAX_CELLS ((size_t)16 << 20) /* of a reply */

/* An entry of the answer: offsets of its fields, and its flags. */
enum {
#define SB_GRID_ENTRY(magic, bytes) ENTRY = (bytes),
#define SB_GRID_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_GRID_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
#define SB_GRID_ENTRY(magic, bytes) static const char container[] = magic;
#include "server/api/columns.def"

#define SB_GRID_MARK(name, bit, what)                                                              \
    _Static_assert((bit) == SB_HISTO_##name, "marks are sent as the query has them");
#include "server/api/columns.def"

/* One series of the request. */
typedef struct entry {
    sb_series_ask ask;
    sb_series series;
    bool is_held;
    uint32_t flags;
    sb_histo_steps steps;
    bool is_done; /* its tag's grid was made */
} entry;

typedef struct answer {
    sb_http_request *q;
    sb_http_reply *r;
    sb_app *app;
    sb_budget budget;
    sb_histo_ask ask;
    size_t bins;
    bool is_log, is_all;
    bool has_values;
    sb_value_range values;
    sb_column_body body;
    entry *entries;
    uint32_t n;
} answer;

/* ---- the request ----------------------------------------------------------------------------- */

static bool refuse(answer *a, const char *text) {
    sb_api_fail(a->r, 400, "invalid", "%s", text);
    return false;
}

/* A whole number from 0 to most. */
static bool read_count(size_t *out, const json_t *value, json_int_t most) {
    json_int_t x = json_integer_value(value);
    if (!json_is_integer(value) || x < 0 || x > most) return false;
    *out = (size_t)x;
    return true;
}

static bool is_text(const json_t *value, const char *text) {
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool read_values(answer *a, const json_t *values) {
    a->is_all = is_text(values, "all");
    if (!values || json_is_null(values) || a->is_all || is_text(values, "most")) return true;
    const json_t *low = json_array_get(values, 0), *high = json_array_get(values, 1);
    a->has_values = json_array_size(values) == 2 && json_is_number(low) && json_is_number(high);
    a->values = (sb_value_range){json_number_value(low), json_number_value(high)};
    return (a->has_values && a->values.low < a->values.high) ||
           refuse(a, "\"values\" must be most, all, or two numbers, the lesser one first");
}

static bool read_request(answer *a, const json_t *body) {
    sb_lines_ask lines;
    const json_t *at = json_object_get(body, "at"), *scale = json_object_get(body, "scale");
    if (!sb_lines_ask_read(&lines, body, a->r)) return false;
    if (lines.axis != SB_AXIS_STEP && lines.axis != SB_AXIS_WALL && lines.axis != SB_AXIS_RELATIVE)
        return refuse(a, "\"x\" must be step, wall or relative");
    a->ask = (sb_histo_ask){.axis = lines.axis,
                            .from = lines.from,
                            .to = lines.to,
                            .has_at = json_is_number(at),
                            .at = json_number_value(at),
                            .show_superseded = lines.superseded};
    a->is_log = is_text(scale, "log");
    if (scale && !a->is_log && !is_text(scale, "linear"))
        return refuse(a, "\"scale\" must be linear or log");
    if (!read_count(&a->ask.most, json_object_get(body, "steps"), MAX_STEPS) || a->ask.most == 0 ||
        !read_count(&a->bins, json_object_get(body, "bins"), MAX_BINS))
        return refuse(a, "\"steps\" must be a number from 1 to 4096, \"bins\" from 0 to 1024");
    return read_values(a, json_object_get(body, "values"));
}

/* ---- the first reading ----------------------------------------------------------------------- */

static sb_status take_entry(answer *a, const sb_run_index *runs, entry *e) {
    sb_run *run = sb_api_find_run(runs, e->ask.run);
    sb_status status =
        run ? sb_series_take(run, e->ask.tag, a->q->arena, &e->series) : SB_NOT_FOUND;
    if (status == SB_NOT_FOUND) e->flags = IS_ABSENT;
    if (status != SB_OK) return status == SB_NOT_FOUND ? SB_OK : status;
    e->is_held = true;
    if (e->series.meta->kind != SB_SERIES_TENSOR) {
        e->flags = IS_OF_SCALARS;
        return SB_OK;
    }
    status = sb_histo_steps_pick(&e->series, &a->ask, a->q->arena, &e->steps, sb_http_err(a->r));
    if (status != SB_OK) return status;
    bool is_same =
        e->ask.n && e->ask.n == e->steps.total && e->ask.epoch == sb_series_epoch(&e->series);
    if (is_same) e->flags = IS_SAME;
    return SB_OK;
}

/* SB_END: an item made no sense, and the reply says so. */
static sb_status take_entries(answer *a, const json_t *list) {
    sb_run_index runs;
    a->entries = sb_arena_zeroed(a->q->arena, a->n + 1, sizeof *a->entries);
    sb_status status = a->entries ? sb_api_take_runs(&runs, a->q, a->app) : SB_NOMEM;
    if (status != SB_OK) return status;
    for (uint32_t i = 0; i < a->n && status == SB_OK; i++)
        status = sb_series_ask_read(&a->entries[i].ask, json_array_get(list, i), a->r)
                     ? take_entry(a, &runs, &a->entries[i])
                     : SB_END;
    sb_api_release_runs(&runs);
    return status;
}

/* ---- a tag's grid, and the second reading ---------------------------------------------------- */

typedef struct grid {
    size_t bins;
    double near;
    double *edges;
} grid;

/* The facts of all series of the tag in one piece. */
static sb_status make_grid(answer *a, uint32_t first, grid *g) {
    size_t n = 0;
    sb_slice tag = a->entries[first].ask.tag;
    for (uint32_t i = first; i < a->n; i++)
        if (sb_slice_eq(a->entries[i].ask.tag, tag)) n += a->entries[i].steps.n;
    *g = (grid){.bins = a->bins};
    g->edges = sb_arena_zeroed(a->q->arena, a->bins + 1, sizeof *g->edges);
    sb_histo_facts *all = sb_arena_zeroed(a->q->arena, n + 1, sizeof *all);
    if (!g->edges || !all) return SB_NOMEM;
    n = 0;
    for (uint32_t i = first; i < a->n; i++) {
        const entry *e = &a->entries[i];
        if (!sb_slice_eq(e->ask.tag, tag) || !e->steps.n) continue;
        memcpy(all + n, e->steps.facts, e->steps.n * sizeof *all);
        n += e->steps.n;
    }
    sb_value_range range = a->values;
    sb_status status = SB_OK;
    if (!a->has_values) status = sb_histo_range_of(all, n, a->is_all, a->q->arena, &range);
    if (status == SB_OK && g->bins) sb_histo_edges(range, a->is_log, g->bins, g->edges, &g->near);
    return status;
}

static sb_status add_cells(answer *a, uint32_t i, const grid *g) {
    const sb_histo_steps *s = &a->entries[i].steps;
    float *shares = sb_arena_zeroed(a->q->arena, s->n * g->bins + 1, sizeof *shares);
    float *beyond = sb_arena_zeroed(a->q->arena, s->n + 1, 2 * sizeof *beyond);
    if (!shares || !beyond) return SB_NOMEM;
    sb_status status =
        sb_histo_steps_bin(s, a->app->blobs, SB_MAX_SMALL_RECORD, g->edges, g->bins, shares, beyond,
                           beyond + s->n, &a->budget, a->q->arena, sb_http_err(a->r));
    if (status != SB_OK) return status;
    sb_column_f64(&a->body, i, AT_NEAR, g->near);
    sb_column_add_doubles(&a->body, i, AT_EDGES, g->edges, g->bins + 1);
    sb_column_add_floats(&a->body, i, AT_SHARES, shares, s->n * g->bins);
    sb_column_add_floats(&a->body, i, AT_BELOW, beyond, s->n);
    sb_column_add_floats(&a->body, i, AT_ABOVE, beyond + s->n, s->n);
    return SB_OK;
}

static sb_status add_facts(answer *a, uint32_t i) {
    const sb_histo_steps *s = &a->entries[i].steps;
    size_t n = s->n, k = SB_DISTRIBUTION_POINTS;
    double *numbers = sb_arena_zeroed(a->q->arena, n + 1, (4 + k + 2) * sizeof *numbers);
    int64_t *steps = sb_arena_zeroed(a->q->arena, n + 1, sizeof *steps);
    uint8_t *marks = sb_arena_zeroed(a->q->arena, n + 1, 1);
    if (!numbers || !steps || !marks) return SB_NOMEM;
    double *wall = numbers, *total = wall + n, *mean = total + n, *deviation = mean + n;
    double *percentiles = deviation + n, *ends = percentiles + k * n;
    double least = INFINITY, greatest = -INFINITY;
    for (size_t at = 0; at < n; at++) {
        const sb_histo_facts *f = &s->facts[at];
        steps[at] = s->items[at].step;
        wall[at] = s->items[at].wall;
        marks[at] = f->marks;
        total[at] = f->total;
        mean[at] = f->mean;
        deviation[at] = f->deviation;
        memcpy(percentiles + at * k, f->percentiles, sizeof f->percentiles);
        ends[at * 2] = f->least;
        ends[at * 2 + 1] = f->greatest;
        least = fmin(least, f->least);
        greatest = fmax(greatest, f->greatest);
    }
    sb_column_f64(&a->body, i, AT_LEAST, least);
    sb_column_f64(&a->body, i, AT_GREATEST, greatest);
    sb_column_add_int64s(&a->body, i, AT_STEP, steps, n);
    sb_column_add_doubles(&a->body, i, AT_WALL, wall, n);
    sb_column_add_bytes(&a->body, i, AT_MARKS, marks, n);
    sb_column_add_doubles(&a->body, i, AT_TOTAL, total, n);
    sb_column_add_doubles(&a->body, i, AT_MEAN, mean, n);
    sb_column_add_doubles(&a->body, i, AT_DEVIATION, deviation, n);
    sb_column_add_doubles(&a->body, i, AT_PERCENTILES, percentiles, n * k);
    sb_column_add_doubles(&a->body, i, AT_ENDS, ends, n * 2);
    return SB_OK;
}

static sb_status add_grid_entry(answer *a, uint32_t i, const grid *g) {
    sb_arena_mark mark = sb_arena_here(a->q->arena);
    const sb_histo_steps *s = &a->entries[i].steps;
    if (!s->n) return SB_OK;
    sb_column_u32(&a->body, i, AT_STEPS, (uint32_t)s->n);
    sb_column_u32(&a->body, i, AT_BINS, (uint32_t)g->bins);
    sb_status status = add_facts(a, i);
    if (status == SB_OK && g->bins) status = add_cells(a, i, g);
    sb_arena_reset(a->q->arena, mark);
    return status;
}

/* Are all series of the tag as the client has them? Then so is their grid. */
static bool is_tag_same(const answer *a, uint32_t first) {
    for (uint32_t i = first; i < a->n; i++)
        if (sb_slice_eq(a->entries[i].ask.tag, a->entries[first].ask.tag) &&
            !(a->entries[i].flags & (IS_SAME | IS_ABSENT | IS_OF_SCALARS)))
            return false;
    return true;
}

/* All series of the tag of the first one. */
static sb_status answer_tag(answer *a, uint32_t first) {
    sb_arena_mark mark = sb_arena_here(a->q->arena);
    sb_slice tag = a->entries[first].ask.tag;
    bool is_same = is_tag_same(a, first);
    sb_status status = SB_OK;
    for (uint32_t i = first; i < a->n && status == SB_OK; i++) {
        entry *e = &a->entries[i];
        if (!sb_slice_eq(e->ask.tag, tag)) continue;
        e->is_done = true;
        if (is_same) {
            e->steps.n = 0;
            continue;
        }
        e->flags &= ~(uint32_t)IS_SAME;
        if (e->steps.n)
            status = sb_histo_steps_read(&e->steps, a->app->blobs, SB_MAX_SMALL_RECORD, &a->budget,
                                         a->q->arena, sb_http_err(a->r));
    }
    grid g = {0};
    if (status == SB_OK && !is_same) status = make_grid(a, first, &g);
    for (uint32_t i = first; i < a->n && status == SB_OK; i++) {
        const entry *e = &a->entries[i];
        if (!sb_slice_eq(e->ask.tag, tag)) continue;
        sb_column_u32(&a->body, i, AT_FLAGS, e->flags);
        sb_column_u64(&a->body, i, AT_EPOCH, e->is_held ? sb_series_epoch(&e->series) : 0);
        sb_column_u64(&a->body, i, AT_N, e->steps.total);
        sb_column_u64(&a->body, i, AT_IN_RANGE, e->steps.in_range);
        sb_column_f64(&a->body, i, AT_FIRST_WALL, e->steps.first_wall);
        status = add_grid_entry(a, i, &g);
    }
    sb_arena_reset(a->q->arena, mark);
    return status;
}

static sb_status answer_grids(answer *a, const json_t *list) {
    sb_http_type(a->r, "application/x-seaboard-columns");
    sb_http_compress(a->r, SB_HTTP_CODING_YES);
    sb_column_begin(&a->body, sb_http_body(a->r), container, sb_api_version(a->r, a->app), a->n,
                    ENTRY);
    sb_status status = take_entries(a, list);
    for (uint32_t i = 0; i < a->n && status == SB_OK; i++) {
        sb_column_u32(&a->body, i, AT_RUN, a->entries[i].ask.run);
        if (!a->entries[i].is_done) status = answer_tag(a, i);
    }
    for (uint32_t i = 0; a->entries && i < a->n; i++)
        if (a->entries[i].is_held) sb_series_release(&a->entries[i].series);
    return status == SB_END ? SB_OK : status;
}

sb_status sb_api_histogram_grids(sb_http_request *q, sb_http_reply *r, void *opaque) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    answer a = {.q = q, .r = r, .app = opaque, .budget = sb_api_budget(q)};
    const json_t *list = json_object_get(body, "series");
    a.n = (uint32_t)json_array_size(list);
    sb_status status = SB_OK;
    if (!json_is_array(list) || a.n > MAX_SERIES)
        sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    else if (read_request(&a, body)) {
        if (a.n * a.ask.most * (a.bins + 1) > MAX_CELLS)
            sb_api_fail(r, 400, "invalid", "series times steps times bins must be at most %zu",
                        MAX_CELLS);
        else
            status = answer_grids(&a, list);
    }
    json_decref(body);
    return status;
}
