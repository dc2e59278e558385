/* scalar_ask.c: reading what a request for lines asks for. */
#include "server/api/scalar_ask.h"

#include <math.h>
#include <string.h>

#include "query/lines/decimate.h"
#include "base/banned.h"

static bool refuse_ask(sb_http_reply *r, const char *text) {
    sb_api_fail(r, 400, "invalid", "%s", text);
    return false;
}

/* The index of a name in a list, or -1. */
static int choice(const json_t *value, const char *const *names, size_t n) {
    const char *name = json_string_value(value);
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(name, names[i]) == 0) return (int)i;
    return -1;
}

static bool read_axis(sb_lines_ask *out, const json_t *x, sb_http_reply *r) {
    static const char *const names[] = {"step", "step_relative", "wall", "relative"};
    static const sb_axis axes[] = {SB_AXIS_STEP, SB_AXIS_STEP_RELATIVE, SB_AXIS_WALL,
                                   SB_AXIS_RELATIVE};
    const json_t *tag = json_object_get(x, "tag");
    if (json_is_string(tag)) {
        out->axis = SB_AXIS_METRIC;
        out->x_tag = sb_slice_of(json_string_value(tag), json_string_length(tag));
        return true;
    }
    int which = x ? choice(x, names, 4) : 0;
    if (which < 0)
        return refuse_ask(r,
                          "\"x\" must be step, step_relative, wall, relative or {\"tag\": a name}");
    out->axis = axes[which];
    return true;
}

/* Where x is the step or another metric, smoothing follows the order of the points. */
static sb_axis smoothed_over(sb_axis axis) {
    return axis == SB_AXIS_WALL || axis == SB_AXIS_RELATIVE ? axis : SB_AXIS_STEP;
}

static bool read_range(sb_lines_ask *out, const json_t *range, sb_http_reply *r) {
    out->from = out->to = NAN;
    if (!range || json_is_null(range)) return true;
    const json_t *from = json_array_get(range, 0), *to = json_array_get(range, 1);
    if (json_array_size(range) != 2 || !json_is_number(from) || !json_is_number(to))
        return refuse_ask(r, "\"range\" must be two numbers");
    out->from = json_number_value(from);
    out->to = json_number_value(to);
    return out->from <= out->to || refuse_ask(r, "\"range\" must begin before it ends");
}

/* The parameter of a logarithmic x axis. */
static bool read_near(sb_lines_ask *out, const json_t *near, sb_http_reply *r) {
    if (!near || json_is_null(near)) return true;
    out->near = json_number_value(near);
    return (json_is_number(near) && out->near > 0 && isfinite(out->near)) ||
           refuse_ask(r, "\"near\" must be a number above 0");
}

static bool read_smoothing(sb_smoothing *out, const json_t *s, sb_axis axis, sb_http_reply *r) {
    static const char *const names[] = {"none", "ema", "time_ema", "window", "gaussian", "median"};
    static const sb_smooth_kind kinds[] = {SB_SMOOTH_NONE,   SB_SMOOTH_EMA,      SB_SMOOTH_TIME_EMA,
                                           SB_SMOOTH_WINDOW, SB_SMOOTH_GAUSSIAN, SB_SMOOTH_MEDIAN};
    *out = (sb_smoothing){.kind = SB_SMOOTH_NONE, .axis = smoothed_over(axis)};
    if (!s || json_is_null(s)) return true;
    int which = choice(json_object_get(s, "kind"), names, 6);
    if (which < 0)
        return refuse_ask(
            r, "\"smoothing.kind\" must be none, ema, time_ema, window, gaussian or median");
    out->kind = kinds[which];
    const json_t *weight = json_object_get(s, "weight"), *points = json_object_get(s, "points");
    if ((weight && !json_is_number(weight)) || (points && !json_is_number(points)))
        return refuse_ask(r, "\"smoothing.weight\" and \"smoothing.points\" must be numbers");
    out->weight = json_number_value(weight);
    out->points = json_number_value(points);
    return true;
}

static bool read_columns(sb_lines_ask *out, const json_t *list, sb_http_reply *r) {
    static const char *const names[] = {"step", "wall", "value", "smooth", "flags", "x"};
    out->columns = list && !json_is_null(list) ? 0 : SB_COLUMN_ALL;
    if (out->columns) return true;
    if (!json_is_array(list)) return refuse_ask(r, "\"columns\" must be a list of names");
    for (size_t i = 0; i < json_array_size(list); i++) {
        int which = choice(json_array_get(list, i), names, 6);
        if (which < 0)
            return refuse_ask(r, "\"columns\" may have step, wall, value, smooth, flags and x");
        out->columns |= 1u << which;
    }
    return true;
}

bool sb_lines_ask_read(sb_lines_ask *out, const json_t *body, sb_http_reply *r) {
    *out = (sb_lines_ask){.superseded = json_is_true(json_object_get(body, "superseded"))};
    const json_t *width = json_object_get(body, "width");
    json_int_t pixels = json_integer_value(width);
    if ((width && !json_is_integer(width)) || pixels < 0 || pixels > SB_MAX_PIXELS)
        return refuse_ask(r, "\"width\" must be a number of pixels from 0 to 65536");
    out->width = (uint32_t)pixels;
    return read_axis(out, json_object_get(body, "x"), r) &&
           read_range(out, json_object_get(body, "range"), r) &&
           read_near(out, json_object_get(body, "near"), r) &&
           read_columns(out, json_object_get(body, "columns"), r) &&
           read_smoothing(&out->smoothing, json_object_get(body, "smoothing"), out->axis, r);
}

static bool read_run(uint32_t *out, const json_t *run) {
    json_int_t id = json_integer_value(run);
    if (!json_is_integer(run) || id < 0 || id > UINT32_MAX) return false;
    *out = (uint32_t)id;
    return true;
}

bool sb_compare_ask_read(sb_compare_ask *out, const json_t *compare, sb_http_reply *r) {
    static const char *const names[] = {"difference", "ratio"};
    static const sb_compare_kind kinds[] = {SB_COMPARE_DIFFERENCE, SB_COMPARE_RATIO};
    *out = (sb_compare_ask){.is_asked = compare && !json_is_null(compare)};
    if (!out->is_asked) return true;
    if (!read_run(&out->run, json_object_get(compare, "run")))
        return refuse_ask(r, "\"compare\" must name a run by its id");
    int which = choice(json_object_get(compare, "kind"), names, 2);
    if (which < 0) return refuse_ask(r, "\"compare.kind\" must be difference or ratio");
    out->kind = kinds[which];
    return true;
}

static uint64_t count_of(const json_t *x) {
    json_int_t n = json_integer_value(x);
    return n > 0 ? (uint64_t)n : 0;
}

bool sb_series_ask_read(sb_series_ask *out, const json_t *item, sb_http_reply *r) {
    const json_t *tag = json_object_get(item, "tag");
    uint32_t run;
    if (!read_run(&run, json_object_get(item, "run")) || !json_is_string(tag))
        return refuse_ask(r, "each of \"series\" must have a run (its id) and a tag");
    *out = (sb_series_ask){
        .run = run,
        .tag = sb_slice_of(json_string_value(tag), json_string_length(tag)),
        .epoch = count_of(json_object_get(item, "epoch")),
        .n = count_of(json_object_get(item, "n")),
    };
    return true;
}
