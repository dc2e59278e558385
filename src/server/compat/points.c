/* points.c: prints points straight into the reply's buffer, since most bytes of most replies are
 * points. */
#include "server/compat/points.h"

#include <math.h>

#include "base/text/number.h"
#include "query/lines/scalars.h"
#include "base/banned.h"

/* The longest point: three numbers and the text around them. */
#define POINT_ROOM (3 * SB_NUMBER_ROOM + 64)

static size_t put_text(char *to, const char *text, size_t n) {
    memcpy(to, text, n);
    return n;
}
#define PUT(to, text) put_text((to), "" text, sizeof(text) - 1)

static size_t put_json_double(char *to, double x) {
    if (isfinite(x)) return sb_print_double(to, x);
    to[0] = '"';
    size_t n = 1 + sb_print_double(to + 1, x);
    to[n] = '"';
    return n + 1;
}

/* Python's repr has these in lower case. */
static size_t put_csv_double(char *to, double x) {
    if (isfinite(x)) return sb_print_double(to, x);
    if (isnan(x)) return PUT(to, "nan");
    return x < 0 ? PUT(to, "-inf") : PUT(to, "inf");
}

/* False for -0.0: no integer is. */
static bool is_int64(double x) {
    if (!(x >= -0x1p63 && x < 0x1p63)) return false;
    int64_t whole = (int64_t)x;
    return (double)whole == x && !(whole == 0 && signbit(x));
}

/* Integers have no decimal point, booleans are words. The kind of a point may be wrong where it
 * changed very often (store.h), so a number that is no integer is shown as the real number that it
 * is. */
static size_t put_value(char *to, double x, sb_number_kind kind, bool csv) {
    if (kind == SB_NUMBER_BOOL && (x == 0 || x == 1)) {
        if (csv) return x != 0 ? PUT(to, "True") : PUT(to, "False");
        return x != 0 ? PUT(to, "true") : PUT(to, "false");
    }
    if (kind != SB_NUMBER_REAL && is_int64(x)) return sb_print_int64(to, (int64_t)x);
    return csv ? put_csv_double(to, x) : put_json_double(to, x);
}

static size_t put_point(char *to, double wall, int64_t step, double value, sb_number_kind kind,
                        sb_points_form form) {
    char *at = to;
    switch (form) {
    case SB_POINTS_ROWS:
        at += PUT(at, "[");
        at += put_json_double(at, wall);
        at += PUT(at, ", ");
        at += sb_print_int64(at, step);
        at += PUT(at, ", ");
        at += put_value(at, value, kind, false);
        at += PUT(at, "]");
        break;
    case SB_POINTS_OBJECTS:
        at += PUT(at, "{\"wallTime\": ");
        at += put_json_double(at, wall);
        at += PUT(at, ", \"step\": ");
        at += sb_print_int64(at, step);
        at += PUT(at, ", \"value\": ");
        at += put_value(at, value, kind, false);
        at += PUT(at, "}");
        break;
    case SB_POINTS_CSV:
        at += put_csv_double(at, wall);
        at += PUT(at, ",");
        at += sb_print_int64(at, step);
        at += PUT(at, ",");
        at += put_value(at, value, kind, true);
        at += PUT(at, "\r\n");
        break;
    }
    return (size_t)(at - to);
}

/* Which points to show: all of them, or those whose indexes are in a list. */
typedef struct picking {
    const uint64_t *places; /* NULL: all */
    size_t n, next;
    uint64_t place; /* of the next point */
} picking;

static bool is_picked(picking *p) {
    uint64_t place = p->place++;
    if (!p->places) return true;
    if (p->next == p->n || p->places[p->next] != place) return false;
    p->next++;
    return true;
}

static sb_status begin_picking(picking *p, const sb_series *series, bool show_superseded,
                               const sb_sampling *sampling, sb_arena *arena, sb_err *err) {
    *p = (picking){.places = NULL};
    if (!sampling || (sampling->reservoir == 0 && sampling->limit == SB_NO_LIMIT)) return SB_OK;
    sb_line line = {.series = series, .show_superseded = show_superseded};
    uint64_t *places;
    sb_status status = sb_sampling_pick(sampling, sb_line_points(&line), arena, &places, &p->n);
    if (status != SB_OK) return sb_fail(err, status, 0, "the points can't be sampled");
    p->places = places;
    return SB_OK;
}

sb_status sb_compat_add_points(sb_buf *out, const sb_series *series, const sb_app *app,
                               const sb_sampling *sampling, sb_points_form form,
                               const sb_http_request *q, sb_err *err) {
    picking picked;
    sb_points points;
    sb_arena_mark mark = sb_arena_here(q->arena);
    sb_status status =
        begin_picking(&picked, series, app->show_superseded, sampling, q->arena, err);
    if (status != SB_OK) return status;
    bool is_json = form != SB_POINTS_CSV, any = false;
    sb_scalar_walk walk = sb_scalars_of(series, !app->show_superseded);
    size_t n, part;
    if (is_json) sb_buf_add_byte(out, '[');
    while (status == SB_OK && (n = sb_scalars_next(&walk, &points, &part)) > 0) {
        sb_number_kind kind = (sb_number_kind)series->parts[part].number_kind;
        for (size_t i = 0; i < n; i++) {
            if (!is_picked(&picked) || !sb_buf_reserve(out, POINT_ROOM)) continue;
            char *at = (char *)out->p + out->n;
            if (is_json && any) at += PUT(at, ", ");
            any = true;
            at += put_point(at, points.walls[i], points.steps[i], points.values[i], kind, form);
            out->n = (size_t)(at - (char *)out->p);
        }
        if (out->failed != SB_OK) break;
        if (sb_http_expired(q))
            status = sb_fail(err, SB_TIMEOUT, 0, "the answer took longer than allowed");
    }
    if (is_json) sb_buf_add_byte(out, ']');
    sb_arena_reset(q->arena, mark);
    return status;
}
