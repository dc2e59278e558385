/* hparams_groups.c: sessions, their metrics, groups of them; filters, order, the slice asked for.
 */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/slice.h"
#include "codec/proto/items.h"
#include "query/hparams/hparams.h"
#include "query/lines/scalars.h"
#include "query/tag_regex.h"
#include "base/banned.h"

/* ---- metrics of a session -------------------------------------------------------------------- */

sb_slice sb_hparams_metric_run(sb_arena *arena, sb_slice session, sb_slice group) {
    if (group.n == 0) return session.p ? session : SB_LIT("");
    uint8_t *name = sb_arena_get(arena, session.n + group.n + 1);
    if (!name) return (sb_slice){NULL, 0};
    size_t n = session.n;
    if (n) memcpy(name, session.p, n);
    if (n && name[n - 1] != '/') name[n++] = '/';
    memcpy(name + n, group.p, group.n);
    n += group.n;
    if (name[n - 1] == '/') n--;
    return sb_slice_of(name, n);
}

/* SB_NOT_FOUND when the run has no such metric. */
static sb_status last_value(sb_hparams *h, sb_run *run, sb_slice tag, sb_metric_value *out,
                            sb_err *err) {
    sb_series series;
    sb_scalar_summary sum;
    sb_arena_mark mark = sb_arena_here(h->arena);
    sb_status status = sb_series_take(run, tag, h->arena, &series);
    if (status == SB_NOMEM) return sb_fail_nomem(err, "for a metric");
    if (status != SB_OK) return status;
    bool is_metric = series.meta->kind == SB_SERIES_SCALAR &&
                     sb_slice_eq(series.meta->plugin_name, SB_LIT("scalars"));
    status = is_metric ? sb_scalar_sum_up(&series, h->budget, &sum, err) : SB_NOT_FOUND;
    if (status == SB_OK && sum.n == 0) status = SB_NOT_FOUND;
    if (status == SB_OK) {
        out->value = sum.last_value;
        out->step = sum.last_step;
        out->wall = sum.last_wall;
    }
    sb_series_release(&series);
    sb_arena_reset(h->arena, mark);
    return status;
}

static sb_status add_metrics(sb_hparams *h, const sb_hparams_run *session,
                             const sb_hparams_experiment_view *experiment, sb_hparams_session *out,
                             sb_err *err) {
    out->metrics = sb_arena_zeroed(h->arena, experiment->metric_n + 1, sizeof *out->metrics);
    if (!out->metrics) return sb_fail_nomem(err, "for metrics");
    sb_run *run = NULL; /* of the group looked at last */
    sb_slice group = {NULL, 0};
    sb_status status = SB_OK;
    for (size_t i = 0; i < experiment->metric_n && status == SB_OK; i++) {
        const sb_metric_info_view *metric = &experiment->metrics[i];
        if (i == 0 || !sb_slice_eq(metric->group, group)) {
            group = metric->group;
            sb_slice name = sb_hparams_metric_run(h->arena, session->name, group);
            sb_run_release(run);
            run = name.p ? sb_store_find_run(h->store, name) : NULL;
            if (!name.p) status = sb_fail_nomem(err, "for metrics");
        }
        if (!run || status != SB_OK) continue;
        sb_metric_value *value = &out->metrics[out->metric_n];
        *value = (sb_metric_value){.group = metric->group, .tag = metric->tag, .column = i};
        status = last_value(h, run, metric->tag, value, err);
        if (status == SB_OK) out->metric_n++;
        if (status == SB_NOT_FOUND) status = SB_OK;
    }
    sb_run_release(run);
    return status;
}

/* ---- sessions -------------------------------------------------------------------------------- */

typedef struct building {
    sb_hparams *h;
    const sb_groups_ask *ask;
    sb_hparams_experiment_view experiment;
    sb_hparams_session *sessions; /* by number */
    sb_slice *names;              /* of their groups */
    sb_session_start_view *starts;
    size_t n;
    sb_session_group *groups;
    size_t group_n;
} building;

static sb_status read_session(building *b, const sb_hparams_run *run, sb_err *err) {
    sb_hparams_plugin plugin;
    sb_session_start_view start;
    sb_session_end_view end = {.status = SB_HPARAM_STATUS_UNKNOWN};
    if (sb_hparams_plugin_read(&plugin, run->start) != SB_OK || plugin.version != 0 ||
        plugin.kind != SB_HPARAMS_SESSION_START ||
        sb_session_start_read(&start, plugin.body) != SB_OK)
        return sb_fail(err, SB_INVALID, 0,
                       "Expected plugin_data.session_start_info of version 0 in run '%.*s'",
                       SB_SHOWN(run->name));
    if (run->end.p &&
        (sb_hparams_plugin_read(&plugin, run->end) != SB_OK || plugin.version != 0 ||
         plugin.kind != SB_HPARAMS_SESSION_END || sb_session_end_read(&end, plugin.body) != SB_OK))
        return sb_fail(err, SB_INVALID, 0,
                       "Expected plugin_data.session_end_info of version 0 in run '%.*s'",
                       SB_SHOWN(run->name));
    if (end.status < 0 || end.status > 31 || !(b->ask->statuses >> end.status & 1)) return SB_OK;
    sb_hparams_session *s = &b->sessions[b->n];
    *s = (sb_hparams_session){.name = run->name,
                              .model_uri = start.model_uri,
                              .monitor_url = start.monitor_url,
                              .start_secs = start.start_time_secs,
                              .end_secs = end.end_time_secs,
                              .status = end.status};
    b->starts[b->n] = start;
    b->names[b->n] = start.group_name.n ? start.group_name : run->name;
    b->n++;
    return b->ask->with_metrics ? add_metrics(b->h, run, &b->experiment, s, err) : SB_OK;
}

typedef struct stored_hparam {
    sb_hparam_view view;
    size_t order;
} stored_hparam;

static int by_hparam(const void *a, const void *b) {
    const stored_hparam *x = a, *y = b;
    int order = sb_slice_cmp(x->view.name, y->view.name);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Sorted by name; of two with one name the later; numbers that JSON can't write are left out. */
static sb_status read_hparams(sb_session_group *g, const sb_session_start_view *start,
                              sb_arena *arena) {
    sb_items entries = sb_items_of(start->message, SB_SESSION_START_HPARAMS);
    sb_hparam_view one;
    size_t n = 0;
    while (sb_hparam_next(&entries, &one) == SB_OK) n++;
    stored_hparam *all = sb_arena_zeroed(arena, n + 1, sizeof *all);
    g->hparams = sb_arena_zeroed(arena, n + 1, sizeof *g->hparams);
    if (!all || !g->hparams) return SB_NOMEM;
    entries = sb_items_of(start->message, SB_SESSION_START_HPARAMS);
    for (size_t i = 0; i < n && sb_hparam_next(&entries, &one) == SB_OK; i++)
        all[i] = (stored_hparam){one, i};
    qsort(all, n, sizeof *all, by_hparam);
    for (size_t i = 0; i < n; i++) {
        const sb_hparam_view *view = &all[i].view;
        if (i + 1 < n && sb_slice_eq(view->name, all[i + 1].view.name)) continue;
        if (view->value.kind == SB_ANY_NUMBER && !isfinite(view->value.number)) continue;
        g->hparams[g->hparam_n++] = *view;
    }
    return SB_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct member {
    sb_slice group;
    size_t session;
} member;

static int by_group(const void *a, const void *b) {
    const member *x = a, *y = b;
    int order = sb_slice_cmp(x->group, y->group);
    return order ? order : (x->session > y->session) - (x->session < y->session);
}

/* Groups in order of their names; sessions are in order of theirs already. */
static sb_status make_groups(building *b, sb_err *err) {
    sb_arena *arena = b->h->arena;
    member *members = sb_arena_zeroed(arena, b->n + 1, sizeof *members);
    sb_hparams_session *ordered = sb_arena_zeroed(arena, b->n + 1, sizeof *ordered);
    b->groups = sb_arena_zeroed(arena, b->n + 1, sizeof *b->groups);
    if (!members || !ordered || !b->groups) return sb_fail_nomem(err, "for groups of sessions");
    for (size_t i = 0; i < b->n; i++) members[i] = (member){b->names[i], i};
    qsort(members, b->n, sizeof *members, by_group);
    for (size_t i = 0; i < b->n; i++) {
        ordered[i] = b->sessions[members[i].session];
        if (i && sb_slice_eq(members[i].group, members[i - 1].group)) {
            b->groups[b->group_n - 1].session_n++;
            continue;
        }
        sb_session_group *g = &b->groups[b->group_n++];
        const sb_session_start_view *start = &b->starts[members[i].session];
        *g = (sb_session_group){.name = members[i].group,
                                .monitor_url = start->monitor_url,
                                .sessions = &ordered[i],
                                .session_n = 1};
        if (read_hparams(g, start, arena) != SB_OK)
            return sb_fail_nomem(err, "for groups of sessions");
    }
    return SB_OK;
}

/* ---- aggregation ----------------------------------------------------------------------------- */

typedef struct mean {
    double total, wall;
    __int128 step;
    int64_t count;
} mean;

static int64_t floor_div(__int128 a, int64_t b) {
    __int128 q = a / b;
    return (int64_t)(a % b != 0 && a < 0 ? q - 1 : q);
}

static sb_status aggregate_mean(building *b, sb_session_group *g, sb_err *err) {
    size_t columns = b->experiment.metric_n;
    sb_arena_mark mark = sb_arena_here(b->h->arena);
    sb_metric_value *out = sb_arena_zeroed(b->h->arena, columns + 1, sizeof *out);
    mark = out ? sb_arena_here(b->h->arena) : mark;
    mean *means = sb_arena_zeroed(b->h->arena, columns + 1, sizeof *means);
    if (!out || !means) return sb_fail_nomem(err, "for metrics");
    for (size_t i = 0; i < g->session_n; i++) {
        for (size_t k = 0; k < g->sessions[i].metric_n; k++) {
            const sb_metric_value *value = &g->sessions[i].metrics[k];
            mean *m = &means[value->column];
            m->total += value->value;
            m->wall += value->wall;
            m->step += value->step;
            m->count++;
        }
    }
    for (size_t c = 0; c < columns; c++) {
        const mean *m = &means[c];
        if (m->count == 0) continue;
        out[g->metric_n++] = (sb_metric_value){.group = b->experiment.metrics[c].group,
                                               .tag = b->experiment.metrics[c].tag,
                                               .column = c,
                                               .value = m->total / (double)m->count,
                                               .step = floor_div(m->step, m->count),
                                               .wall = m->wall / (double)m->count};
    }
    g->metrics = out;
    sb_arena_reset(b->h->arena, mark);
    return SB_OK;
}

static const sb_metric_value *find_metric(const sb_metric_value *values, size_t n, sb_slice group,
                                          sb_slice tag) {
    for (size_t i = 0; i < n; i++)
        if (sb_slice_eq(values[i].tag, tag) && sb_slice_eq(values[i].group, group))
            return &values[i];
    return NULL;
}

typedef struct measurement {
    double value;
    size_t session;
} measurement;

/* NaN is sorted behind all numbers. */
static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int by_value(const void *a, const void *b) {
    const measurement *x = a, *y = b;
    int order = compare_numbers(x->value, y->value);
    return order ? order : (x->session > y->session) - (x->session < y->session);
}

/* The values of the group are those of one session: the one that has the median, the least or the
 * greatest value of one metric. */
static sb_status aggregate_one(building *b, sb_session_group *g, sb_err *err) {
    const sb_groups_ask *ask = b->ask;
    sb_arena_mark mark = sb_arena_here(b->h->arena);
    measurement *all = sb_arena_zeroed(b->h->arena, g->session_n + 1, sizeof *all);
    size_t n = 0;
    if (!all) return sb_fail_nomem(err, "for metrics");
    for (size_t i = 0; i < g->session_n; i++) {
        const sb_metric_value *found = find_metric(g->sessions[i].metrics, g->sessions[i].metric_n,
                                                   ask->aggregation_group, ask->aggregation_tag);
        if (found) all[n++] = (measurement){found->value, i};
    }
    if (n == 0)
        return sb_fail(err, SB_INVALID, 0,
                       "No session of group '%.*s' has the aggregation metric '%.*s'",
                       SB_SHOWN(g->name), SB_SHOWN(ask->aggregation_tag));
    qsort(all, n, sizeof *all, by_value);
    size_t chosen = ask->aggregation == SB_AGGREGATE_MEDIAN ? (n - 1) / 2 : 0;
    if (ask->aggregation == SB_AGGREGATE_GREATEST) { /* of equal ones the first, as Python's max */
        chosen = n - 1;
        while (chosen && compare_numbers(all[chosen - 1].value, all[n - 1].value) == 0) chosen--;
    }
    const sb_hparams_session *session = &g->sessions[all[chosen].session];
    g->metrics = session->metrics;
    g->metric_n = session->metric_n;
    sb_arena_reset(b->h->arena, mark);
    return SB_OK;
}

static sb_status aggregate(building *b, sb_err *err) {
    int32_t how = b->ask->aggregation;
    if (how < SB_AGGREGATE_UNSET || how > SB_AGGREGATE_GREATEST)
        return sb_fail(err, SB_INVALID, 0, "Unknown aggregation_type in request: %d", how);
    sb_status status = SB_OK;
    for (size_t i = 0; i < b->group_n && status == SB_OK; i++)
        status = how == SB_AGGREGATE_UNSET || how == SB_AGGREGATE_MEAN
                     ? aggregate_mean(b, &b->groups[i], err)
                     : aggregate_one(b, &b->groups[i], err);
    return status;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The value of a column in a group; kind SB_ANY_NONE: there is none. */
static sb_any value_in(const sb_session_group *g, const sb_hparam_ask *column) {
    if (column->is_metric) {
        const sb_metric_value *found =
            find_metric(g->metrics, g->metric_n, column->group, column->tag);
        if (!found) return (sb_any){.kind = SB_ANY_NONE};
        return (sb_any){.kind = SB_ANY_NUMBER, .number = found->value};
    }
    size_t i;
    SB_PARTITION_POINT(i, 0, g->hparam_n, sb_slice_cmp(g->hparams[i].name, column->hparam) < 0);
    bool is_there = i < g->hparam_n && sb_slice_eq(g->hparams[i].name, column->hparam);
    return is_there ? g->hparams[i].value : (sb_any){.kind = SB_ANY_NONE};
}

/* Python counts a bool as a number. */
static bool is_number(const sb_any *value) {
    return value->kind == SB_ANY_NUMBER || value->kind == SB_ANY_BOOL;
}

static double number_of(const sb_any *value) {
    return value->kind == SB_ANY_BOOL ? (double)value->boolean : value->number;
}

static const char *python_type(const sb_any *value) {
    return value->kind == SB_ANY_NUMBER ? "float" : value->kind == SB_ANY_BOOL ? "bool" : "str";
}

static bool is_among(const sb_any *value, const sb_any *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (is_number(value) && is_number(&values[i]) && number_of(value) == number_of(&values[i]))
            return true;
        if (value->kind == SB_ANY_STRING && values[i].kind == SB_ANY_STRING &&
            sb_slice_eq(value->body, values[i].body))
            return true;
    }
    return false;
}

/* An empty pattern (NULL) is found everywhere. */
static sb_status search(sb_tag_regex *regex, sb_slice text, sb_err *err) {
    bool matches = true;
    sb_status status = regex ? sb_tag_regex_search(regex, text, &matches, err) : SB_OK;
    return status != SB_OK || matches ? status : SB_NOT_FOUND;
}

/* SB_OK: passes, SB_NOT_FOUND: does not. */
static sb_status passes(const sb_hparam_ask *column, const sb_any *value, sb_tag_regex *regex,
                        sb_err *err) {
    bool is_there = is_number(value) || value->kind == SB_ANY_STRING;
    if (!is_there) return column->no_missing ? SB_NOT_FOUND : SB_OK;
    switch (column->filter) {
    case SB_FILTER_REGEXP:
        if (value->kind != SB_ANY_STRING)
            return sb_fail(err, SB_INVALID, 0,
                           "Cannot use a regexp filter for a value of type <class '%s'>.",
                           python_type(value));
        return search(regex, value->body, err);
    case SB_FILTER_INTERVAL:
        if (!is_number(value))
            return sb_fail(err, SB_INVALID, 0,
                           "Cannot use an interval filter for a value of type: <class '%s'>",
                           python_type(value));
        return column->min <= number_of(value) && number_of(value) <= column->max ? SB_OK
                                                                                  : SB_NOT_FOUND;
    case SB_FILTER_DISCRETE:
        return is_among(value, column->values, column->value_n) ? SB_OK : SB_NOT_FOUND;
    default:
        return SB_OK;
    }
}

static sb_status filter_groups(building *b, const sb_hparam_ask *column, sb_err *err) {
    if (column->filter == SB_FILTER_NONE && !column->no_missing) return SB_OK;
    sb_tag_regex *regex = NULL;
    sb_status status = SB_OK;
    if (column->filter == SB_FILTER_REGEXP && column->regexp.n)
        status = sb_tag_regex_new(&regex, b->h->arena->alloc, column->regexp, NULL, err);
    size_t kept = 0;
    for (size_t i = 0; i < b->group_n && status == SB_OK; i++) {
        sb_any value = value_in(&b->groups[i], column);
        status = passes(column, &value, regex, err);
        if (status == SB_OK) b->groups[kept++] = b->groups[i];
        if (status == SB_NOT_FOUND) status = SB_OK;
    }
    if (status == SB_OK) b->group_n = kept;
    sb_tag_regex_free(regex);
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct sort_key {
    sb_any value;
    size_t group;
    bool is_missing, missing_first, falling;
} sort_key;

/* Numbers before texts, where a column has both. */
static int compare_values(const sb_any *a, const sb_any *b) {
    if (is_number(a) != is_number(b)) return is_number(a) ? -1 : 1;
    return is_number(a) ? compare_numbers(number_of(a), number_of(b))
                        : sb_slice_cmp(a->body, b->body);
}

static int by_key(const void *a, const void *b) {
    const sort_key *x = a, *y = b;
    int order = 0;
    if (x->is_missing != y->is_missing) return x->is_missing == x->missing_first ? -1 : 1;
    if (!x->is_missing) order = compare_values(&x->value, &y->value);
    if (x->falling) order = -order;
    return order ? order : (x->group > y->group) - (x->group < y->group);
}

static sb_status sort_groups(building *b, const sb_hparam_ask *column, sb_err *err) {
    if (column->order == SB_ORDER_NONE) return SB_OK;
    if (column->order != SB_ORDER_RISING && column->order != SB_ORDER_FALLING)
        return sb_fail(err, SB_INVALID, 0, "Unknown col_param.order given: %d", column->order);
    sb_arena_mark mark = sb_arena_here(b->h->arena);
    sort_key *keys = sb_arena_zeroed(b->h->arena, b->group_n + 1, sizeof *keys);
    sb_session_group *old = sb_arena_zeroed(b->h->arena, b->group_n + 1, sizeof *old);
    if (!keys || !old) return sb_fail_nomem(err, "for sorting");
    for (size_t i = 0; i < b->group_n; i++) {
        sb_any value = value_in(&b->groups[i], column);
        bool is_there = is_number(&value) || value.kind == SB_ANY_STRING;
        keys[i] = (sort_key){.value = value,
                             .group = i,
                             .is_missing = !is_there,
                             .missing_first = column->missing_first,
                             .falling = column->order == SB_ORDER_FALLING};
        old[i] = b->groups[i];
    }
    qsort(keys, b->group_n, sizeof *keys, by_key);
    for (size_t i = 0; i < b->group_n; i++) b->groups[i] = old[keys[i].group];
    sb_arena_reset(b->h->arena, mark);
    return SB_OK;
}

/* ---- what of them goes into the answer ------------------------------------------------------- */

static bool is_wanted(const sb_groups_ask *ask, sb_slice name) {
    for (size_t i = 0; i < ask->column_n; i++) {
        const sb_hparam_ask *column = &ask->columns[i];
        if (column->is_metric || column->include == 0) continue;
        if (column->hparam.n && sb_slice_eq(column->hparam, name)) return true;
    }
    return false;
}

static void reduce_hparams(building *b) {
    bool is_asked = false;
    for (size_t i = 0; i < b->ask->column_n; i++) is_asked |= b->ask->columns[i].include >= 0;
    for (size_t i = 0; is_asked && i < b->group_n; i++) {
        sb_session_group *g = &b->groups[i];
        size_t kept = 0;
        for (size_t k = 0; k < g->hparam_n; k++)
            if (is_wanted(b->ask, g->hparams[k].name)) g->hparams[kept++] = g->hparams[k];
        g->hparam_n = kept;
    }
}

static sb_status build(building *b, sb_err *err) {
    sb_hparams *h = b->h;
    b->sessions = sb_arena_zeroed(h->arena, h->session_n + 1, sizeof *b->sessions);
    b->names = sb_arena_zeroed(h->arena, h->session_n + 1, sizeof *b->names);
    b->starts = sb_arena_zeroed(h->arena, h->session_n + 1, sizeof *b->starts);
    if (!b->sessions || !b->names || !b->starts) return sb_fail_nomem(err, "for sessions");
    for (size_t i = 0; i < h->session_n; i++) {
        if (sb_budget_over(h->budget)) return sb_fail_timeout(err);
        sb_status status = read_session(b, h->sessions[i], err);
        if (status != SB_OK) return status;
    }
    sb_status status = make_groups(b, err);
    return status == SB_OK ? aggregate(b, err) : status;
}

sb_status sb_hparams_groups(sb_hparams *h, const sb_groups_ask *ask, sb_groups_answer *out,
                            sb_err *err) {
    building b = {.h = h, .ask = ask};
    sb_status status = sb_hparams_experiment(h, ask->with_metrics, 0, &b.experiment, err);
    if (status == SB_OK) status = build(&b, err);
    for (size_t i = 0; i < ask->column_n && status == SB_OK; i++)
        status = filter_groups(&b, &ask->columns[i], err);
    /* the last column first, each keeping the order of those behind it */
    for (size_t i = ask->column_n; i > 0 && status == SB_OK; i--)
        status = sort_groups(&b, &ask->columns[i - 1], err);
    if (status != SB_OK) return status;
    reduce_hparams(&b);
    size_t start = ask->start <= 0                    ? 0
                   : (uint64_t)ask->start < b.group_n ? (size_t)ask->start
                                                      : b.group_n;
    size_t size = ask->size <= 0                            ? 0
                  : (uint64_t)ask->size < b.group_n - start ? (size_t)ask->size
                                                            : b.group_n - start;
    *out = (sb_groups_answer){.groups = b.groups + start, .n = size, .total = b.group_n};
    return SB_OK;
}
