/* hparams.c: /data/plugin/hparams: questions in and answers out as proto3 JSON. */
#include "query/hparams/hparams.h"

#include "codec/proto/items.h"
#include "query/hparams/hparams_table.h"
#include "server/compat/compat.h"
#include "server/compat/hparams_request.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define MOST_NESTING 32

/* ---- asking ---------------------------------------------------------------------------------- */

/* The request message: in the body of a POST, else in the query; .p is NULL when there is none. */
static sb_slice question(const sb_http_request *q) {
    return q->method == SB_HTTP_POST ? q->body : sb_http_query(q, "request");
}

/* The reply for a failure: the error page of TensorBoard's web framework. */
static sb_status refuse_hparams(sb_http_reply *r, sb_status status) {
    const sb_err *err = sb_http_err(r);
    if (status != SB_INVALID && status != SB_CORRUPT) return status;
    char text[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    return sb_compat_page(r, 400, sb_slice_str(text));
}

/* ---- proto3 JSON ----------------------------------------------------------------------------- */

/* Two blanks per level, as MessageToJson writes it. */
static void begin_json(sb_json *j, sb_http_reply *r) {
    sb_http_type(r, "application/json");
    sb_json_init(j, sb_http_body(r), &(sb_json_opts){.spaced = true, .indent = 2});
}

static void add_hparams_text(sb_json *j, const char *key, sb_slice text) {
    sb_json_key_str(j, key);
    sb_json_text(j, text);
}

static void add_hparams_double(sb_json *j, const char *key, double x) {
    sb_json_key_str(j, key);
    sb_json_double(j, x);
}

static void add_enum(sb_json *j, const char *key, sb_enum_id id, int32_t number) {
    const char *name = sb_enum_name(id, number);
    sb_json_key_str(j, key);
    if (name)
        sb_json_str(j, name);
    else
        sb_json_int(j, number);
}

/* A google.protobuf.Value. */
static void add_hparam_value(sb_json *j, const sb_any *value, unsigned depth) {
    sb_any inner;
    sb_slice item;
    switch (depth < MOST_NESTING ? value->kind : SB_ANY_NULL) {
    case SB_ANY_NUMBER:
        sb_json_double(j, value->number);
        return;
    case SB_ANY_STRING:
        sb_json_text(j, value->body);
        return;
    case SB_ANY_BOOL:
        sb_json_bool(j, value->boolean);
        return;
    case SB_ANY_LIST: {
        sb_items items = sb_items_of(value->body, SB_PB_LIST_VALUES);
        sb_json_begin_array(j);
        while (sb_items_next(&items, &item) == SB_OK)
            if (sb_any_read(&inner, item) == SB_OK) add_hparam_value(j, &inner, depth + 1);
        sb_json_end_array(j);
        return;
    }
    case SB_ANY_STRUCT: {
        sb_items items = sb_items_of(value->body, SB_PB_STRUCT_FIELDS);
        sb_hparam_view entry;
        sb_json_begin_object(j);
        while (sb_hparam_next(&items, &entry) == SB_OK) {
            sb_json_key(j, entry.name);
            add_hparam_value(j, &entry.value, depth + 1);
        }
        sb_json_end_object(j);
        return;
    }
    default:
        sb_json_null(j);
    }
}

static void add_metric_name(sb_json *j, sb_slice group, sb_slice tag) {
    sb_json_key_str(j, "name");
    sb_json_begin_object(j);
    add_hparams_text(j, "group", group);
    add_hparams_text(j, "tag", tag);
    sb_json_end_object(j);
}

/* ---- /experiment ----------------------------------------------------------------------------- */

static void add_column(sb_json *j, const sb_hparam_column *c) {
    sb_json_begin_object(j);
    add_hparams_text(j, "name", c->name);
    add_enum(j, "type", SB_ENUM_HPARAM_TYPE, c->type);
    if (c->domain == SB_HPARAM_INFO_DOMAIN_INTERVAL) {
        sb_json_key_str(j, "domainInterval");
        sb_json_begin_object(j);
        add_hparams_double(j, "minValue", c->min);
        add_hparams_double(j, "maxValue", c->max);
        sb_json_end_object(j);
    }
    if (c->domain == SB_HPARAM_INFO_DOMAIN_DISCRETE) {
        sb_json_key_str(j, "domainDiscrete");
        sb_json_begin_array(j);
        for (size_t i = 0; i < c->value_n; i++) add_hparam_value(j, &c->values[i], 0);
        sb_json_end_array(j);
    }
    add_hparams_text(j, "displayName", c->display_name);
    add_hparams_text(j, "description", c->description);
    sb_json_put_bool(j, "differs", c->differs);
    sb_json_end_object(j);
}

static void add_experiment(sb_json *j, const sb_hparams_experiment_view *e) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "hparamInfos");
    sb_json_begin_array(j);
    for (size_t i = 0; i < e->hparam_n; i++) add_column(j, &e->hparams[i]);
    sb_json_end_array(j);
    sb_json_key_str(j, "metricInfos");
    sb_json_begin_array(j);
    for (size_t i = 0; i < e->metric_n; i++) {
        const sb_metric_info_view *m = &e->metrics[i];
        sb_json_begin_object(j);
        add_metric_name(j, m->group, m->tag);
        add_hparams_text(j, "displayName", m->display_name);
        add_hparams_text(j, "description", m->description);
        add_enum(j, "datasetType", SB_ENUM_DATASET_TYPE, m->dataset_type);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    add_hparams_text(j, "name", e->name);
    add_hparams_text(j, "description", e->description);
    add_hparams_text(j, "user", e->user);
    add_hparams_double(j, "timeCreatedSecs", e->time_created_secs);
    sb_json_end_object(j);
}

SB_COMPAT_HANDLER(hparams_experiment) {
    sb_app *a = app;
    sb_err *err = sb_http_err(r);
    sb_experiment_ask ask;
    sb_status status = sb_hparams_read_experiment(&ask, question(q), err);
    if (status != SB_OK) return refuse_hparams(r, status);
    sb_hparams h;
    sb_hparams_experiment_view e;
    sb_budget budget = sb_compat_budget(q);
    status = sb_hparams_begin(&h, a->store, q->arena, &budget, a->show_superseded, err);
    if (status != SB_OK) return status;
    status = sb_hparams_experiment(&h, ask.with_metrics, ask.limit, &e, err);
    if (status == SB_OK) {
        sb_json j;
        begin_json(&j, r);
        add_experiment(&j, &e);
        status = sb_compat_json_end(&j, r);
    }
    sb_hparams_close(&h);
    return refuse_hparams(r, status);
}

/* ---- /session_groups ------------------------------------------------------------------------- */

static void add_metric_values(sb_json *j, const sb_metric_value *values, size_t n) {
    sb_json_key_str(j, "metricValues");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        add_metric_name(j, values[i].group, values[i].tag);
        add_hparams_double(j, "value", values[i].value);
        sb_json_put_int(j, "trainingStep", values[i].step);
        add_hparams_double(j, "wallTimeSecs", values[i].wall);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static void add_session(sb_json *j, const sb_hparams_session *s) {
    sb_json_begin_object(j);
    add_hparams_text(j, "name", s->name);
    add_hparams_double(j, "startTimeSecs", s->start_secs);
    add_hparams_double(j, "endTimeSecs", s->end_secs);
    add_enum(j, "status", SB_ENUM_HPARAM_STATUS, s->status);
    add_hparams_text(j, "modelUri", s->model_uri);
    add_metric_values(j, s->metrics, s->metric_n);
    add_hparams_text(j, "monitorUrl", s->monitor_url);
    sb_json_end_object(j);
}

static void add_session_group(sb_json *j, const sb_session_group *g) {
    sb_json_begin_object(j);
    add_hparams_text(j, "name", g->name);
    sb_json_key_str(j, "hparams");
    sb_json_begin_object(j);
    for (size_t i = 0; i < g->hparam_n; i++) {
        sb_json_key(j, g->hparams[i].name);
        add_hparam_value(j, &g->hparams[i].value, 0);
    }
    sb_json_end_object(j);
    add_metric_values(j, g->metrics, g->metric_n);
    sb_json_key_str(j, "sessions");
    sb_json_begin_array(j);
    for (size_t i = 0; i < g->session_n; i++) add_session(j, &g->sessions[i]);
    sb_json_end_array(j);
    add_hparams_text(j, "monitorUrl", g->monitor_url);
    sb_json_end_object(j);
}

SB_COMPAT_HANDLER(hparams_session_groups) {
    sb_app *a = app;
    sb_err *err = sb_http_err(r);
    sb_groups_ask ask;
    sb_status status = sb_hparams_read_groups(&ask, question(q), q->arena, err);
    if (status != SB_OK) return refuse_hparams(r, status);
    sb_hparams h;
    sb_groups_answer answer;
    sb_budget budget = sb_compat_budget(q);
    status = sb_hparams_begin(&h, a->store, q->arena, &budget, a->show_superseded, err);
    if (status != SB_OK) return status;
    status = sb_hparams_groups(&h, &ask, &answer, err);
    if (status == SB_OK) {
        sb_json j;
        begin_json(&j, r);
        sb_json_begin_object(&j);
        sb_json_key_str(&j, "sessionGroups");
        sb_json_begin_array(&j);
        for (size_t i = 0; i < answer.n; i++) add_session_group(&j, &answer.groups[i]);
        sb_json_end_array(&j);
        sb_json_put_uint(&j, "totalSize", answer.total);
        sb_json_end_object(&j);
        status = sb_compat_json_end(&j, r);
    }
    sb_hparams_close(&h);
    return refuse_hparams(r, status);
}

/* ---- /metric_evals --------------------------------------------------------------------------- */

SB_COMPAT_HANDLER(hparams_metric_evals) {
    sb_metric_ask ask;
    sb_status status = sb_hparams_read_metric(&ask, question(q), q->arena, sb_http_err(r));
    if (status != SB_OK) return refuse_hparams(r, status);
    sb_slice run = sb_hparams_metric_run(q->arena, ask.session, ask.group);
    if (!run.p) return SB_NOMEM;
    return sb_compat_scalar_series(q, r, app, run, ask.tag);
}

/* ---- /download_data -------------------------------------------------------------------------- */

static sb_status write_table(const sb_hparams_table *table, sb_slice format, sb_http_reply *r) {
    sb_buf *out = sb_http_body(r);
    if (sb_slice_eq(format, SB_LIT("json"))) {
        sb_http_type(r, "application/json");
        return sb_hparams_table_json(table, out, sb_http_err(r));
    }
    if (sb_slice_eq(format, SB_LIT("csv"))) {
        sb_http_type(r, "text/csv; charset=utf-8");
        sb_hparams_table_csv(table, out);
        return SB_OK;
    }
    if (sb_slice_eq(format, SB_LIT("latex"))) {
        sb_http_type(r, "application/x-latex");
        sb_hparams_table_latex(table, out);
        return SB_OK;
    }
    return sb_fail(sb_http_err(r), SB_INVALID, 0, "Invalid reponses format: %.*s",
                   SB_SHOWN(format.p ? format : SB_LIT("None")));
}

SB_COMPAT_HANDLER(hparams_download) {
    sb_app *a = app;
    sb_err *err = sb_http_err(r);
    sb_groups_ask ask;
    bool *visible = NULL;
    sb_hparams_table table = {0};
    sb_status status = sb_hparams_read_visible(
        &visible, &table.visible_n, sb_http_query(q, "columnsVisibility"), q->arena, err);
    if (status == SB_OK) status = sb_hparams_read_groups(&ask, question(q), q->arena, err);
    if (status != SB_OK) return refuse_hparams(r, status);
    sb_hparams h;
    sb_groups_answer answer;
    sb_hparams_experiment_view e;
    sb_budget budget = sb_compat_budget(q);
    status = sb_hparams_begin(&h, a->store, q->arena, &budget, a->show_superseded, err);
    if (status != SB_OK) return status;
    status = sb_hparams_groups(&h, &ask, &answer, err);
    if (status == SB_OK) status = sb_hparams_experiment(&h, ask.with_metrics, 0, &e, err);
    if (status == SB_OK) {
        table.experiment = &e;
        table.groups = &answer;
        table.visible = visible;
        status = write_table(&table, sb_http_query(q, "format"), r);
    }
    sb_hparams_close(&h);
    return refuse_hparams(r, status);
}
