/* measure.c: what many lines do between two places, or at one, as numbers for a table. */
#include <math.h>

#include "query/lines/measure.h"
#include "server/api/lines.h"
#include "base/banned.h"

#define MAX_SERIES 20000u

static void add_measure_point(sb_json *j, const char *key, const sb_measure_point *p) {
    sb_json_key_str(j, key);
    sb_json_begin_object(j);
    sb_json_key_str(j, "step");
    sb_api_step(j, p->step);
    sb_json_put_double(j, "wall", p->wall);
    sb_json_put_double(j, "value", p->value);
    sb_json_put_double(j, "smooth", p->smooth);
    sb_json_end_object(j);
}

/* Extremes and mean of the raw or of the smoothed values; null where none is finite. */
static void add_measure_values(sb_json *j, const sb_measure_values *v, const char *const keys[3]) {
    if (v->finite) {
        add_measure_point(j, keys[0], &v->min);
        add_measure_point(j, keys[1], &v->max);
        sb_json_put_double(j, keys[2], v->mean);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        sb_json_key_str(j, keys[i]);
        sb_json_null(j);
    }
}

static void add_measure(sb_json *j, const sb_series_ask *ask, const sb_measure *m) {
    static const char *const raw[] = {"min", "max", "mean"};
    static const char *const smooth[] = {"minSmooth", "maxSmooth", "meanSmooth"};
    sb_json_begin_object(j);
    sb_json_put_uint(j, "run", ask->run);
    sb_json_put_text(j, "tag", ask->tag);
    sb_json_put_uint(j, "n", m->n);
    add_measure_point(j, "start", &m->start);
    add_measure_point(j, "end", &m->end);
    add_measure_values(j, &m->raw, raw);
    add_measure_values(j, &m->smooth, smooth);
    sb_json_end_object(j);
}

static sb_status add_measured_series(sb_json *j, sb_lines *lines, const sb_series_ask *ask,
                                     sb_measure_ask *where) {
    sb_taken_line one;
    sb_measure m = {0};
    sb_status status = sb_lines_take(lines, ask, &one);
    if (status == SB_OK) {
        where->axis = lines->ask.axis;
        bool is_known = !one.lacks_baseline && !one.lacks_x;
        if (is_known) status = sb_lines_ready(lines, &one);
        if (is_known && status == SB_OK)
            status = sb_measure_line(one.line, where, &lines->budget, &m, lines->err);
        sb_lines_release(lines, &one);
    }
    if (status == SB_NOT_FOUND) status = SB_OK;
    if (status == SB_OK && m.n)
        add_measure(j, ask, &m);
    else if (status == SB_OK)
        sb_json_null(j);
    return status;
}

static sb_status answer_measures(sb_lines *lines, sb_http_reply *r, const json_t *list,
                                 sb_measure_ask *where) {
    sb_json j;
    sb_api_begin(&j, r, lines->app);
    sb_json_key_str(&j, "series");
    sb_json_begin_array(&j);
    sb_status status = sb_lines_open(lines);
    for (size_t i = 0; status == SB_OK && i < json_array_size(list); i++) {
        sb_series_ask ask;
        if (!sb_series_ask_read(&ask, json_array_get(list, i), r)) status = SB_END;
        if (status == SB_OK) status = add_measured_series(&j, lines, &ask, where);
    }
    sb_lines_close(lines);
    if (status != SB_OK) return status == SB_END ? SB_OK : status; /* the reply says why */
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

static bool read_where(sb_measure_ask *out, const json_t *body, sb_http_reply *r) {
    const json_t *from = json_object_get(body, "from"), *to = json_object_get(body, "to");
    bool is_single = !to || json_is_null(to);
    if (!json_is_number(from) || (!is_single && !json_is_number(to))) {
        sb_api_fail(r, 400, "invalid", "\"from\" must be a number, \"to\" one or absent");
        return false;
    }
    out->from = json_number_value(from);
    out->to = is_single ? out->from : json_number_value(to);
    if (out->from <= out->to) return true;
    sb_api_fail(r, 400, "invalid", "\"from\" must not lie behind \"to\"");
    return false;
}

sb_status sb_api_measure(sb_http_request *q, sb_http_reply *r, void *app) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    const json_t *list = json_object_get(body, "series");
    sb_lines lines;
    sb_measure_ask where;
    sb_status status = SB_OK;
    if (!json_is_array(list) || json_array_size(list) > MAX_SERIES) {
        sb_api_fail(r, 400, "invalid", "\"series\" must be a list of at most %u", MAX_SERIES);
    } else if (sb_lines_read(&lines, q, r, app, body) && read_where(&where, body, r)) {
        status = answer_measures(&lines, r, list, &where);
    }
    json_decref(body);
    return status;
}
