/* lines.c: looks up and prepares the lines that a request names (lines.h). */
#include "server/api/lines.h"

#include "query/lines/metric_x.h"
#include "query/lines/scalars.h"
#include "base/banned.h"

bool sb_lines_read(sb_lines *lines, sb_http_request *q, sb_http_reply *r, sb_app *app,
                   const json_t *body) {
    *lines = (sb_lines){.q = q, .app = app, .err = sb_http_err(r), .budget = sb_api_budget(q)};
    return sb_lines_ask_read(&lines->ask, body, r) &&
           sb_compare_ask_read(&lines->compare, json_object_get(body, "compare"), r);
}

sb_status sb_lines_open(sb_lines *lines) {
    sb_status status = sb_api_take_runs(&lines->runs, lines->q, lines->app);
    lines->below = sb_arena_here(lines->q->arena);
    return status;
}

void sb_lines_close(sb_lines *lines) {
    sb_api_release_runs(&lines->runs);
}

static sb_status take_scalars(sb_lines *lines, uint32_t run_id, sb_slice tag, sb_series *out) {
    sb_run *run = sb_api_find_run(&lines->runs, run_id);
    sb_status status = run ? sb_series_take(run, tag, lines->q->arena, out) : SB_NOT_FOUND;
    if (status != SB_OK || out->meta->kind == SB_SERIES_SCALAR) return status;
    sb_series_release(out);
    return SB_NOT_FOUND;
}

/* Where x is another metric, lines are compared at equal steps. */
static sb_axis compared_along(const sb_lines *lines) {
    return lines->ask.axis == SB_AXIS_METRIC ? SB_AXIS_STEP : lines->ask.axis;
}

static sb_status make_baseline(sb_lines *lines, const sb_series *series) {
    sb_line line = {.series = series};
    sb_status status = sb_smooth_line(lines->app->smooth, &line, &lines->ask.smoothing,
                                      &lines->budget, lines->err);
    if (status != SB_OK) return status;
    status = sb_baseline_of(&lines->baseline, &line, compared_along(lines), &lines->budget,
                            lines->q->arena, lines->err);
    sb_smooth_release(lines->app->smooth, &line);
    return status;
}

static sb_status find_baseline(sb_lines *lines, sb_slice tag) {
    if (lines->is_known && sb_slice_eq(lines->tag, tag)) return SB_OK;
    sb_arena_reset(lines->q->arena, lines->below);
    lines->is_known = lines->has_baseline = false;
    sb_series series;
    sb_status status = take_scalars(lines, lines->compare.run, tag, &series);
    if (status == SB_OK) {
        status = make_baseline(lines, &series);
        sb_series_release(&series);
        lines->has_baseline = status == SB_OK;
    }
    if (status != SB_OK && status != SB_NOT_FOUND) return status;
    lines->is_known = true;
    lines->tag = tag;
    return SB_OK;
}

static sb_status take_metric(sb_lines *lines, uint32_t run, sb_taken_line *one) {
    if (lines->ask.axis != SB_AXIS_METRIC) return SB_OK;
    sb_status status = take_scalars(lines, run, lines->ask.x_tag, &one->metric);
    one->has_metric = status == SB_OK;
    one->lacks_x = status == SB_NOT_FOUND;
    if (one->has_metric) one->epoch = sb_epoch_mix(one->epoch, sb_baseline_epoch(&one->metric));
    return one->lacks_x ? SB_OK : status;
}

sb_status sb_lines_take(sb_lines *lines, const sb_series_ask *ask, sb_taken_line *out) {
    sb_status status = lines->compare.is_asked ? find_baseline(lines, ask->tag) : SB_OK;
    if (status != SB_OK) return status;
    out->mark = sb_arena_here(lines->q->arena);
    status = take_scalars(lines, ask->run, ask->tag, &out->series);
    if (status != SB_OK) {
        sb_arena_reset(lines->q->arena, out->mark);
        return status;
    }
    out->has_metric = out->lacks_x = false;
    out->own = (sb_line){.series = &out->series, .show_superseded = lines->ask.superseded};
    out->line = &out->own;
    out->epoch = sb_series_epoch(&out->series);
    out->n = sb_line_points(&out->own);
    out->lacks_baseline = lines->compare.is_asked && !lines->has_baseline;
    if (lines->compare.is_asked && lines->has_baseline)
        out->epoch = sb_epoch_mix(out->epoch, lines->baseline.epoch);
    status = take_metric(lines, ask->run, out);
    if (status != SB_OK) sb_lines_release(lines, out);
    return status;
}

sb_status sb_line_along(sb_line *line, const sb_series *metric, const sb_budget *budget,
                        sb_arena *arena, sb_err *err) {
    sb_baseline by_step;
    sb_status status =
        sb_baseline_of(&by_step, &(sb_line){.series = metric}, SB_AXIS_STEP, budget, arena, err);
    double *xs = NULL;
    if (status == SB_OK) status = sb_metric_xs(line, &by_step, budget, arena, &xs, err);
    line->xs = xs;
    return status;
}

static sb_status compare_with_baseline(sb_lines *lines, sb_taken_line *one) {
    sb_status status = sb_compare_line(&one->own, &lines->baseline, lines->compare.kind,
                                       &lines->budget, lines->q->arena, &one->compared, lines->err);
    one->line = &one->compared.line;
    return status;
}

sb_status sb_lines_ready(sb_lines *lines, sb_taken_line *one) {
    sb_status status = sb_smooth_line(lines->app->smooth, &one->own, &lines->ask.smoothing,
                                      &lines->budget, lines->err);
    if (status == SB_OK && lines->compare.is_asked) status = compare_with_baseline(lines, one);
    if (status == SB_OK && one->has_metric)
        status =
            sb_line_along(one->line, &one->metric, &lines->budget, lines->q->arena, lines->err);
    return status;
}

void sb_lines_release(sb_lines *lines, sb_taken_line *one) {
    sb_smooth_release(lines->app->smooth, &one->own);
    if (one->has_metric) sb_series_release(&one->metric);
    sb_series_release(&one->series);
    sb_arena_reset(lines->q->arena, one->mark);
}
