/* hparams.c: finding the sessions of an experiment, and what it varied. */
#include "query/hparams/hparams.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/text/json.h"
#include "codec/proto/items.h"
#include "base/banned.h"

/* ---- the runs -------------------------------------------------------------------------------- */

static int by_run_name(const void *a, const void *b) {
    const sb_hparams_run *x = a, *y = b;
    return sb_slice_cmp(x->name, y->name);
}

/* The plugin content of one tag; .p is NULL when the run has no such tag of this plugin. */
static sb_slice content_of(sb_run *run, sb_slice tag) {
    sb_series_info info;
    bool is_there = sb_run_find_info(run, tag, &info) == SB_OK &&
                    info.meta->kind == SB_SERIES_TENSOR &&
                    sb_slice_eq(info.meta->plugin_name, SB_LIT("hparams"));
    if (!is_there) return (sb_slice){NULL, 0};
    sb_slice content = info.meta->plugin_content;
    return content.p ? content : SB_LIT("");
}

sb_status sb_hparams_begin(sb_hparams *h, sb_store *store, sb_arena *arena, const sb_budget *budget,
                           bool show_superseded, sb_err *err) {
    *h = (sb_hparams){
        .store = store, .arena = arena, .budget = budget, .show_superseded = show_superseded};
    sb_status status = sb_store_runs(store, arena, &h->runs);
    if (status != SB_OK) return sb_fail_nomem(err, "for the list of runs");
    h->items = sb_arena_zeroed(arena, h->runs.n + 1, sizeof *h->items);
    h->sessions = sb_arena_zeroed(arena, h->runs.n + 1, sizeof(void *));
    if (!h->items || !h->sessions) {
        sb_hparams_close(h);
        return sb_fail_nomem(err, "for the list of sessions");
    }
    for (size_t i = 0; i < h->runs.n; i++) {
        sb_run *run = h->runs.items[i];
        sb_run_info info;
        sb_hparams_run item = {
            .run = run,
            .experiment = content_of(run, SB_LIT(SB_HPARAMS_EXPERIMENT_TAG)),
            .start = content_of(run, SB_LIT(SB_HPARAMS_START_TAG)),
            .end = content_of(run, SB_LIT(SB_HPARAMS_END_TAG)),
        };
        if (!item.experiment.p && !item.start.p && !item.end.p) continue;
        sb_run_get_info(run, &info);
        item.name = info.name;
        h->items[h->n++] = item;
    }
    qsort(h->items, h->n, sizeof *h->items, by_run_name);
    for (size_t i = 0; i < h->n; i++)
        if (h->items[i].start.p) h->sessions[h->session_n++] = &h->items[i];
    return SB_OK;
}

void sb_hparams_close(sb_hparams *h) {
    sb_runs_release(&h->runs);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* SB_HPARAM_TYPE_UNSET for what is neither number, text nor bool. */
static int32_t type_of(const sb_any *value) {
    switch (value->kind) {
    case SB_ANY_NUMBER:
        return SB_HPARAM_TYPE_FLOAT64;
    case SB_ANY_STRING:
        return SB_HPARAM_TYPE_STRING;
    case SB_ANY_BOOL:
        return SB_HPARAM_TYPE_BOOL;
    default:
        return SB_HPARAM_TYPE_UNSET;
    }
}

/* As JSON writes it, texts without their quotes; in the arena. .p is NULL: no memory. */
static sb_slice text_of(const sb_any *value, sb_arena *arena) {
    sb_buf out;
    sb_buf_init(&out, arena->alloc, (size_t)64 << 20);
    sb_json j;
    sb_json_init(&j, &out, NULL);
    if (value->kind == SB_ANY_STRING)
        sb_json_text(&j, value->body);
    else if (value->kind == SB_ANY_BOOL)
        sb_json_bool(&j, value->boolean);
    else
        sb_json_double(&j, value->number);
    sb_slice text = sb_buf_slice(&out);
    if (value->kind == SB_ANY_STRING && text.n >= 2) text = sb_slice_of(text.p + 1, text.n - 2);
    sb_slice copy = out.failed == SB_OK ? sb_arena_dup(arena, text) : (sb_slice){NULL, 0};
    sb_buf_fini(&out);
    return copy;
}

/* ---- an experiment made from sessions -------------------------------------------------------- */

/* All values of one parameter, one after the other in an array sorted by name. */
typedef struct named_value {
    sb_slice name;
    sb_any value;
    size_t order;
} named_value;

static int values_by_name(const void *a, const void *b) {
    const named_value *x = a, *y = b;
    int order = sb_slice_cmp(x->name, y->name);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int32_t common_type(const named_value *values, size_t n) {
    int32_t type = SB_HPARAM_TYPE_UNSET;
    for (size_t i = 0; i < n && type != SB_HPARAM_TYPE_STRING; i++) {
        int32_t one = type_of(&values[i].value);
        if (one == SB_HPARAM_TYPE_UNSET) continue;
        type = type == SB_HPARAM_TYPE_UNSET || type == one ? one : SB_HPARAM_TYPE_STRING;
    }
    return type;
}

static int by_text(const void *a, const void *b) {
    const sb_any *x = a, *y = b;
    return sb_slice_cmp(x->body, y->body);
}

static sb_status fill_texts(sb_hparam_column *c, const named_value *values, size_t n,
                            sb_arena *arena) {
    sb_any *texts = sb_arena_zeroed(arena, n, sizeof *texts);
    size_t m = 0, kept = 0;
    if (!texts) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const sb_any *value = &values[i].value;
        bool is_number = value->kind == SB_ANY_NUMBER;
        if (type_of(value) == SB_HPARAM_TYPE_UNSET || (is_number && !isfinite(value->number)))
            continue;
        texts[m] = (sb_any){.kind = SB_ANY_STRING, .body = text_of(value, arena)};
        if (!texts[m++].body.p) return SB_NOMEM;
    }
    qsort(texts, m, sizeof *texts, by_text);
    for (size_t i = 0; i < m; i++)
        if (i == 0 || !sb_slice_eq(texts[i].body, texts[kept - 1].body)) texts[kept++] = texts[i];
    c->domain = SB_HPARAM_INFO_DOMAIN_DISCRETE;
    c->values = texts;
    c->value_n = kept;
    c->differs = kept > 1;
    return SB_OK;
}

static sb_status fill_bools(sb_hparam_column *c, const named_value *values, size_t n,
                            sb_arena *arena) {
    sb_any *bools = sb_arena_zeroed(arena, 2, sizeof *bools);
    if (!bools) return SB_NOMEM;
    for (int wanted = 0; wanted < 2; wanted++) {
        bool is_there = false;
        for (size_t i = 0; i < n && !is_there; i++) {
            const sb_any *value = &values[i].value;
            is_there = (value->kind == SB_ANY_BOOL && value->boolean) == (wanted == 1);
        }
        if (is_there) bools[c->value_n++] = (sb_any){.kind = SB_ANY_BOOL, .boolean = wanted == 1};
    }
    c->domain = SB_HPARAM_INFO_DOMAIN_DISCRETE;
    c->values = bools;
    c->differs = c->value_n > 1;
    return SB_OK;
}

static void fill_interval(sb_hparam_column *c, const named_value *values, size_t n) {
    c->domain = SB_HPARAM_INFO_DOMAIN_INTERVAL;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        double x = values[i].value.kind == SB_ANY_NUMBER ? values[i].value.number : 0;
        if (isnan(x)) continue;
        if (any && x != c->min) c->differs = true;
        if (!any || x < c->min) c->min = x;
        if (!any || x > c->max) c->max = x;
        any = true;
    }
}

static sb_status collect_values(sb_hparams *h, named_value **out, size_t *n, sb_err *err) {
    size_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (size_t i = 0; i < h->session_n; i++) {
            sb_hparams_plugin plugin;
            sb_slice content = h->sessions[i]->start;
            if (sb_hparams_plugin_read(&plugin, content) != SB_OK || plugin.version != 0 ||
                plugin.kind != SB_HPARAMS_SESSION_START)
                return sb_fail(err, SB_INVALID, 0,
                               "Expected plugin_data.session_start_info of version 0 in run '%.*s'",
                               SB_SHOWN(h->sessions[i]->name));
            sb_items entries = sb_items_of(plugin.body, SB_SESSION_START_HPARAMS);
            sb_hparam_view one;
            while (sb_hparam_next(&entries, &one) == SB_OK) {
                if (pass) (*out)[at] = (named_value){one.name, one.value, at};
                at++;
            }
        }
        if (pass) break;
        total = at;
        *out = sb_arena_zeroed(h->arena, total + 1, sizeof **out);
        if (!*out) return sb_fail_nomem(err, "for hyperparameters");
    }
    *n = total;
    qsort(*out, total, sizeof **out, values_by_name);
    return SB_OK;
}

static sb_status make_columns(sb_hparams *h, sb_hparams_experiment_view *out, sb_err *err) {
    named_value *values = NULL;
    size_t n = 0;
    sb_status status = collect_values(h, &values, &n, err);
    if (status != SB_OK) return status;
    size_t names = 0;
    for (size_t i = 0; i < n; i++)
        names += i == 0 || !sb_slice_eq(values[i].name, values[i - 1].name);
    out->hparams = sb_arena_zeroed(h->arena, names + 1, sizeof *out->hparams);
    if (!out->hparams) return sb_fail_nomem(err, "for hyperparameters");
    for (size_t i = 0, next; i < n && status == SB_OK; i = next) {
        for (next = i + 1; next < n && sb_slice_eq(values[next].name, values[i].name);) next++;
        int32_t type = common_type(values + i, next - i);
        if (type == SB_HPARAM_TYPE_UNSET) continue;
        sb_hparam_column *c = &out->hparams[out->hparam_n++];
        *c = (sb_hparam_column){.name = values[i].name, .type = type};
        if (type == SB_HPARAM_TYPE_STRING)
            status = fill_texts(c, values + i, next - i, h->arena);
        else if (type == SB_HPARAM_TYPE_BOOL)
            status = fill_bools(c, values + i, next - i, h->arena);
        else
            fill_interval(c, values + i, next - i);
    }
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for hyperparameters");
}

/* ---- metrics --------------------------------------------------------------------------------- */

static const sb_hparams_run *find_session(const sb_hparams *h, sb_slice name) {
    size_t i;
    SB_PARTITION_POINT(i, 0, h->session_n, sb_slice_cmp(h->sessions[i]->name, name) < 0);
    return i < h->session_n && sb_slice_eq(h->sessions[i]->name, name) ? h->sessions[i] : NULL;
}

/* The part of a run's name below the longest session that it lies in; false when it lies in none.
 */
static bool group_of(const sb_hparams *h, sb_slice run, sb_slice *group) {
    sb_slice path = run;
    for (;;) {
        if (find_session(h, path)) {
            *group =
                path.n < run.n ? sb_slice_of(run.p + path.n + 1, run.n - path.n - 1) : SB_LIT("");
            return true;
        }
        while (path.n && path.p[path.n - 1] != '/') path.n--;
        if (path.n == 0) return false;
        path.n--;
    }
}

static int by_metric(const void *a, const void *b) {
    const sb_metric_info_view *x = a, *y = b;
    int order = sb_slice_cmp(x->tag, y->tag);
    return order ? order : sb_slice_cmp(x->group, y->group);
}

static bool is_scalar(const sb_series_info *info) {
    return info->meta->kind == SB_SERIES_SCALAR &&
           sb_slice_eq(info->meta->plugin_name, SB_LIT("scalars"));
}

/* Sorted, each once. */
static size_t unique_metrics(sb_metric_info_view *metrics, size_t n) {
    size_t kept = 0;
    if (n == 0) return 0;
    qsort(metrics, n, sizeof *metrics, by_metric);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_metric(&metrics[i], &metrics[kept - 1]) != 0) metrics[kept++] = metrics[i];
    return kept;
}

/* Every scalar series in or below a session names a metric. Most names come from many runs, so what
 * is collected is made unique whenever it has doubled. */
static sb_status make_metrics(sb_hparams *h, sb_hparams_experiment_view *out, sb_err *err) {
    sb_metric_info_view *all = NULL;
    size_t n = 0, room = 0;
    for (size_t i = 0; i < h->runs.n; i++) {
        sb_run_info run;
        sb_slice group;
        sb_series_info *series;
        size_t count;
        if (sb_budget_over(h->budget)) return sb_fail_timeout(err);
        sb_run_get_info(h->runs.items[i], &run);
        if (!group_of(h, run.name, &group)) continue;
        if (sb_run_list(h->runs.items[i], h->arena, &series, &count) != SB_OK)
            return sb_fail_nomem(err, "for the list of metrics");
        if (n + count > room) {
            n = unique_metrics(all, n);
            size_t wanted = 2 * (n + count) + 64;
            sb_metric_info_view *more = sb_arena_zeroed(h->arena, wanted, sizeof *more);
            if (!more) return sb_fail_nomem(err, "for the list of metrics");
            if (n) memcpy(more, all, n * sizeof *all);
            all = more;
            room = wanted;
        }
        for (size_t k = 0; k < count; k++)
            if (is_scalar(&series[k]))
                all[n++] = (sb_metric_info_view){.group = group, .tag = series[k].tag};
    }
    out->metrics = all;
    out->metric_n = unique_metrics(all, n);
    return SB_OK;
}

/* ---- an experiment that was declared --------------------------------------------------------- */

static sb_status read_column(sb_hparam_column *c, sb_slice encoded, sb_arena *arena) {
    sb_hparam_info_view info;
    if (sb_hparam_info_read(&info, encoded) != SB_OK) return SB_CORRUPT;
    *c = (sb_hparam_column){.name = info.name,
                            .display_name = info.display_name,
                            .description = info.description,
                            .type = info.type,
                            .domain = info.domain,
                            .min = info.min,
                            .max = info.max,
                            .differs = info.differs};
    if (info.domain != SB_HPARAM_INFO_DOMAIN_DISCRETE) return SB_OK;
    sb_items items = sb_items_of(info.discrete, SB_PB_LIST_VALUES);
    sb_slice one;
    size_t n = 0;
    while (sb_items_next(&items, &one) == SB_OK) n++;
    sb_any *values = sb_arena_zeroed(arena, n + 1, sizeof *values);
    if (!values) return SB_NOMEM;
    items = sb_items_of(info.discrete, SB_PB_LIST_VALUES);
    for (size_t i = 0; i < n && sb_items_next(&items, &one) == SB_OK; i++)
        if (sb_any_read(&values[c->value_n], one) == SB_OK) c->value_n++;
    c->values = values;
    return SB_OK;
}

static size_t count_items(sb_slice message, uint32_t number) {
    sb_items items = sb_items_of(message, number);
    sb_slice one;
    size_t n = 0;
    while (sb_items_next(&items, &one) == SB_OK) n++;
    return n;
}

static sb_status read_declared(sb_hparams *h, sb_slice content, bool with_metrics,
                               sb_hparams_experiment_view *out, sb_err *err) {
    sb_hparams_plugin plugin;
    sb_experiment_view e;
    if (sb_hparams_plugin_read(&plugin, content) != SB_OK || plugin.version != 0 ||
        plugin.kind != SB_HPARAMS_EXPERIMENT || sb_experiment_read(&e, plugin.body) != SB_OK)
        return sb_fail(err, SB_INVALID, 0, "Expected plugin_data.experiment of version 0");
    *out = (sb_hparams_experiment_view){.name = e.name,
                                        .description = e.description,
                                        .user = e.user,
                                        .time_created_secs = e.time_created_secs};
    size_t hparams = count_items(e.message, SB_EXPERIMENT_HPARAM_INFOS);
    size_t metrics = with_metrics ? count_items(e.message, SB_EXPERIMENT_METRIC_INFOS) : 0;
    out->hparams = sb_arena_zeroed(h->arena, hparams + 1, sizeof *out->hparams);
    out->metrics = sb_arena_zeroed(h->arena, metrics + 1, sizeof *out->metrics);
    if (!out->hparams || !out->metrics) return sb_fail_nomem(err, "for hyperparameters");
    sb_items items = sb_items_of(e.message, SB_EXPERIMENT_HPARAM_INFOS);
    sb_slice one;
    while (out->hparam_n < hparams && sb_items_next(&items, &one) == SB_OK) {
        sb_status status = read_column(&out->hparams[out->hparam_n], one, h->arena);
        if (status == SB_NOMEM) return sb_fail_nomem(err, "for hyperparameters");
        if (status != SB_OK) return sb_fail(err, SB_INVALID, 0, "The experiment is damaged");
        out->hparam_n++;
    }
    items = sb_items_of(e.message, SB_EXPERIMENT_METRIC_INFOS);
    while (out->metric_n < metrics && sb_items_next(&items, &one) == SB_OK)
        if (sb_metric_info_read(&out->metrics[out->metric_n], one) == SB_OK) out->metric_n++;
    return SB_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static int differing_first(const void *a, const void *b) {
    const sb_hparam_column *x = a, *y = b;
    if (x->differs != y->differs) return x->differs ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

sb_status sb_hparams_experiment(sb_hparams *h, bool with_metrics, int64_t limit,
                                sb_hparams_experiment_view *out, sb_err *err) {
    *out = (sb_hparams_experiment_view){.name = SB_LIT("")};
    sb_status status = SB_OK;
    size_t declared = 0;
    while (declared < h->n && !h->items[declared].experiment.p) declared++;
    if (declared < h->n) {
        status = read_declared(h, h->items[declared].experiment, with_metrics, out, err);
    } else {
        status = make_columns(h, out, err);
        if (status == SB_OK && with_metrics && out->hparam_n) status = make_metrics(h, out, err);
    }
    if (status != SB_OK) return status;
    qsort(out->hparams, out->hparam_n, sizeof *out->hparams, differing_first);
    if (limit > 0 && (uint64_t)limit < out->hparam_n) out->hparam_n = (size_t)limit;
    return SB_OK;
}
