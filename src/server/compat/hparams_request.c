/* hparams_request.c: requests of the hparams routes. */
#include "server/compat/hparams_request.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/text/number.h"
#include "codec/proto/messages.h"
#include "server/json_load.h"
#include "base/banned.h"

typedef struct reading {
    sb_arena *arena;
    sb_err *err;
} reading;

typedef sb_status (*read_fn)(reading *r, json_t *value, void *out);

/* One field of a message: its name, the function that reads it, and where the value is stored. */
typedef struct field {
    const char *camel, *snake;
    read_fn read;
    size_t offset;
} field;

static sb_status bad(reading *r, const char *name, const char *what) {
    return sb_fail(r->err, SB_INVALID, 0, "%s: %s", name, what);
}

static sb_status read_object(reading *r, json_t *object, const field *fields, size_t n, void *out) {
    if (!json_is_object(object)) return bad(r, "request", "an object is expected");
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        size_t i = 0;
        while (i < n && strcmp(fields[i].camel, name) != 0 && strcmp(fields[i].snake, name) != 0)
            i++;
        if (i == n) return bad(r, name, "there is no such field");
        if (json_is_null(value)) continue;
        sb_status status = fields[i].read(r, value, (char *)out + fields[i].offset);
        if (status == SB_NOMEM) return sb_fail_nomem(r->err, "for the request");
        if (status != SB_OK) return bad(r, name, "is not what it should be");
    }
    return SB_OK;
}
#define READ_OBJECT(r, object, fields, out)                                                        \
    read_object((r), (object), (fields), sizeof(fields) / sizeof *(fields), (out))

/* ---- plain values ---------------------------------------------------------------------------- */

static sb_slice request_text(const json_t *value) {
    return sb_slice_of(json_string_value(value), json_string_length(value));
}

static sb_status read_text(reading *r, json_t *value, void *out) {
    if (!json_is_string(value)) return SB_INVALID;
    *(sb_slice *)out = sb_arena_dup(r->arena, request_text(value));
    return ((sb_slice *)out)->p ? SB_OK : SB_NOMEM;
}

static sb_status ignore_text(reading *r, json_t *value, void *out) {
    (void)r, (void)out;
    return json_is_string(value) ? SB_OK : SB_INVALID;
}

static sb_status read_double(reading *r, json_t *value, void *out) {
    (void)r;
    double *to = out;
    if (json_is_number(value)) {
        *to = json_number_value(value);
        return SB_OK;
    }
    return json_is_string(value) && sb_parse_double(request_text(value), to) ? SB_OK : SB_INVALID;
}

static sb_status read_int(reading *r, json_t *value, void *out) {
    double number;
    int64_t *to = out;
    if (json_is_integer(value)) {
        *to = json_integer_value(value);
        return SB_OK;
    }
    if (read_double(r, value, &number) != SB_OK || number != floor(number) ||
        fabs(number) >= 0x1p53)
        return SB_INVALID;
    *to = (int64_t)number;
    return SB_OK;
}

static sb_status read_bool(reading *r, json_t *value, void *out) {
    (void)r;
    *(bool *)out = json_is_true(value);
    return json_is_boolean(value) ? SB_OK : SB_INVALID;
}

/* Stores 1 or 0; leaves the value as it is when the field is null. */
static sb_status read_optional_bool(reading *r, json_t *value, void *out) {
    (void)r;
    *(int8_t *)out = json_is_true(value);
    return json_is_boolean(value) ? SB_OK : SB_INVALID;
}

typedef struct word {
    const char *name;
    int32_t number;
} word;

static sb_status read_word(json_t *value, const word *words, size_t n, int32_t *out) {
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *out = number < INT32_MIN || number > INT32_MAX ? -1 : (int32_t)number;
        return SB_OK;
    }
    for (size_t i = 0; json_is_string(value) && i < n; i++) {
        if (!sb_slice_eq(request_text(value), sb_slice_str(words[i].name))) continue;
        *out = words[i].number;
        return SB_OK;
    }
    return SB_INVALID;
}
#define READ_WORD(value, words, out)                                                               \
    read_word((value), (words), sizeof(words) / sizeof *(words), (out))

/* ---- columns --------------------------------------------------------------------------------- */

static sb_status read_order(reading *r, json_t *value, void *out) {
    (void)r;
    static const word words[] = {{"ORDER_UNSPECIFIED", SB_ORDER_NONE},
                                 {"ORDER_ASC", SB_ORDER_RISING},
                                 {"ORDER_DESC", SB_ORDER_FALLING}};
    return READ_WORD(value, words, (int32_t *)out);
}

static sb_status read_column_metric(reading *r, json_t *value, void *out) {
    static const field fields[] = {{"group", "group", read_text, offsetof(sb_hparam_ask, group)},
                                   {"tag", "tag", read_text, offsetof(sb_hparam_ask, tag)}};
    sb_hparam_ask *column = out;
    column->is_metric = true;
    return READ_OBJECT(r, value, fields, column);
}

static sb_status read_column_hparam(reading *r, json_t *value, void *out) {
    sb_hparam_ask *column = out;
    return read_text(r, value, &column->hparam);
}

static sb_status read_regexp(reading *r, json_t *value, void *out) {
    sb_hparam_ask *column = out;
    column->filter = SB_FILTER_REGEXP;
    return read_text(r, value, &column->regexp);
}

static sb_status read_interval(reading *r, json_t *value, void *out) {
    static const field fields[] = {
        {"minValue", "min_value", read_double, offsetof(sb_hparam_ask, min)},
        {"maxValue", "max_value", read_double, offsetof(sb_hparam_ask, max)}};
    sb_hparam_ask *column = out;
    column->filter = SB_FILTER_INTERVAL;
    return READ_OBJECT(r, value, fields, column);
}

/* A google.protobuf.ListValue; what is neither number, text nor bool equals nothing. */
static sb_status read_discrete(reading *r, json_t *value, void *out) {
    sb_hparam_ask *column = out;
    if (!json_is_array(value)) return SB_INVALID;
    size_t n = json_array_size(value);
    sb_any *values = sb_arena_zeroed(r->arena, n + 1, sizeof *values);
    if (!values) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_array_get(value, i);
        if (json_is_number(one)) {
            values[i] = (sb_any){.kind = SB_ANY_NUMBER, .number = json_number_value(one)};
        } else if (json_is_boolean(one)) {
            values[i] = (sb_any){.kind = SB_ANY_BOOL, .boolean = json_is_true(one)};
        } else if (json_is_string(one)) {
            values[i].kind = SB_ANY_STRING;
            sb_status status = read_text(r, one, &values[i].body);
            if (status != SB_OK) return status;
        }
    }
    column->filter = SB_FILTER_DISCRETE;
    column->values = values;
    column->value_n = n;
    return SB_OK;
}

static sb_status read_column(reading *r, json_t *value, sb_hparam_ask *out) {
    static const field fields[] = {
        {"metric", "metric", read_column_metric, 0},
        {"hparam", "hparam", read_column_hparam, 0},
        {"order", "order", read_order, offsetof(sb_hparam_ask, order)},
        {"missingValuesFirst", "missing_values_first", read_bool,
         offsetof(sb_hparam_ask, missing_first)},
        {"filterRegexp", "filter_regexp", read_regexp, 0},
        {"filterInterval", "filter_interval", read_interval, 0},
        {"filterDiscrete", "filter_discrete", read_discrete, 0},
        {"excludeMissingValues", "exclude_missing_values", read_bool,
         offsetof(sb_hparam_ask, no_missing)},
        {"includeInResult", "include_in_result", read_optional_bool,
         offsetof(sb_hparam_ask, include)},
    };
    *out = (sb_hparam_ask){.include = -1};
    sb_status status = READ_OBJECT(r, value, fields, out);
    if (status != SB_OK) return status;
    if (!out->is_metric && !out->hparam.p)
        return bad(r, "colParams", "Got ColParam with both \"metric\" and \"hparam\" fields unset");
    return SB_OK;
}

/* ---- requests -------------------------------------------------------------------------------- */

typedef struct groups_room {
    sb_groups_ask ask;
    int8_t with_metrics;
} groups_room;

static sb_status read_columns(reading *r, json_t *value, void *out) {
    sb_groups_ask *ask = out;
    if (!json_is_array(value)) return SB_INVALID;
    size_t n = json_array_size(value);
    sb_hparam_ask *columns = sb_arena_zeroed(r->arena, n + 1, sizeof *columns);
    if (!columns) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        sb_status status = read_column(r, json_array_get(value, i), &columns[i]);
        if (status != SB_OK) return status;
    }
    ask->columns = columns;
    ask->column_n = n;
    return SB_OK;
}

static sb_status read_statuses(reading *r, json_t *value, void *out) {
    (void)r;
    static const word words[] = {{"STATUS_UNKNOWN", SB_HPARAM_STATUS_UNKNOWN},
                                 {"STATUS_SUCCESS", SB_HPARAM_STATUS_SUCCESS},
                                 {"STATUS_FAILURE", SB_HPARAM_STATUS_FAILURE},
                                 {"STATUS_RUNNING", SB_HPARAM_STATUS_RUNNING}};
    uint32_t *statuses = out;
    if (!json_is_array(value)) return SB_INVALID;
    for (size_t i = 0; i < json_array_size(value); i++) {
        int32_t number;
        if (READ_WORD(json_array_get(value, i), words, &number) != SB_OK) return SB_INVALID;
        if (number >= 0 && number < 32) *statuses |= 1u << number;
    }
    return SB_OK;
}

static sb_status read_aggregation(reading *r, json_t *value, void *out) {
    (void)r;
    static const word words[] = {{"AGGREGATION_UNSET", SB_AGGREGATE_UNSET},
                                 {"AGGREGATION_AVG", SB_AGGREGATE_MEAN},
                                 {"AGGREGATION_MEDIAN", SB_AGGREGATE_MEDIAN},
                                 {"AGGREGATION_MIN", SB_AGGREGATE_LEAST},
                                 {"AGGREGATION_MAX", SB_AGGREGATE_GREATEST}};
    return READ_WORD(value, words, (int32_t *)out);
}

static sb_status read_aggregation_metric(reading *r, json_t *value, void *out) {
    static const field fields[] = {
        {"group", "group", read_text, offsetof(sb_groups_ask, aggregation_group)},
        {"tag", "tag", read_text, offsetof(sb_groups_ask, aggregation_tag)}};
    return READ_OBJECT(r, value, fields, out);
}

static sb_status load_request(json_t **out, sb_slice json, sb_err *err) {
    sb_err why;
    sb_status status = sb_json_load(out, json, JSON_DECODE_ANY, &why);
    if (status == SB_OK) return SB_OK;
    return sb_fail(err, status, 0, "Expected JSON-formatted request data: %s", why.text);
}

sb_status sb_hparams_read_groups(sb_groups_ask *out, sb_slice json, sb_arena *arena, sb_err *err) {
    static const field fields[] = {
        {"experimentName", "experiment_name", ignore_text, 0},
        {"allowedStatuses", "allowed_statuses", read_statuses, offsetof(groups_room, ask.statuses)},
        {"colParams", "col_params", read_columns, offsetof(groups_room, ask)},
        {"aggregationType", "aggregation_type", read_aggregation,
         offsetof(groups_room, ask.aggregation)},
        {"aggregationMetric", "aggregation_metric", read_aggregation_metric,
         offsetof(groups_room, ask)},
        {"startIndex", "start_index", read_int, offsetof(groups_room, ask.start)},
        {"sliceSize", "slice_size", read_int, offsetof(groups_room, ask.size)},
        {"includeMetrics", "include_metrics", read_optional_bool,
         offsetof(groups_room, with_metrics)},
    };
    groups_room room = {.with_metrics = 1};
    json_t *object;
    sb_status status = load_request(&object, json, err);
    if (status != SB_OK) return status;
    status = READ_OBJECT(&((reading){arena, err}), object, fields, &room);
    json_decref(object);
    room.ask.with_metrics = room.with_metrics == 1;
    *out = room.ask;
    return status;
}

sb_status sb_hparams_read_experiment(sb_experiment_ask *out, sb_slice json, sb_err *err) {
    typedef struct {
        int8_t with_metrics;
        int64_t limit;
    } room;
    static const field fields[] = {
        {"experimentName", "experiment_name", ignore_text, 0},
        {"includeMetrics", "include_metrics", read_optional_bool, offsetof(room, with_metrics)},
        {"hparamsLimit", "hparams_limit", read_int, offsetof(room, limit)},
    };
    room read = {.with_metrics = 1};
    json_t *object;
    sb_status status = load_request(&object, json, err);
    if (status != SB_OK) return status;
    status = READ_OBJECT(&((reading){NULL, err}), object, fields, &read);
    json_decref(object);
    *out = (sb_experiment_ask){.with_metrics = read.with_metrics == 1, .limit = read.limit};
    return status;
}

static sb_status read_metric_name(reading *r, json_t *value, void *out) {
    static const field fields[] = {{"group", "group", read_text, offsetof(sb_metric_ask, group)},
                                   {"tag", "tag", read_text, offsetof(sb_metric_ask, tag)}};
    return READ_OBJECT(r, value, fields, out);
}

sb_status sb_hparams_read_metric(sb_metric_ask *out, sb_slice json, sb_arena *arena, sb_err *err) {
    static const field fields[] = {
        {"experimentName", "experiment_name", ignore_text, 0},
        {"sessionName", "session_name", read_text, offsetof(sb_metric_ask, session)},
        {"metricName", "metric_name", read_metric_name, 0},
    };
    *out = (sb_metric_ask){.session = SB_LIT(""), .group = SB_LIT(""), .tag = SB_LIT("")};
    json_t *object;
    sb_status status = load_request(&object, json, err);
    if (status != SB_OK) return status;
    status = READ_OBJECT(&((reading){arena, err}), object, fields, out);
    json_decref(object);
    return status;
}

sb_status sb_hparams_read_visible(bool **out, size_t *n, sb_slice json, sb_arena *arena,
                                  sb_err *err) {
    json_t *array;
    sb_status status = load_request(&array, json, err);
    if (status != SB_OK) return status;
    if (json_is_array(array)) {
        *n = json_array_size(array);
        *out = sb_arena_zeroed(arena, *n + 1, sizeof **out);
        if (!*out) status = sb_fail_nomem(err, "for the request");
        for (size_t i = 0; i < *n && *out; i++) { /* the values that Python takes for true */
            json_t *one = json_array_get(array, i);
            (*out)[i] = json_is_true(one) || (json_is_number(one) && json_number_value(one) != 0);
        }
    } else {
        status = sb_fail(err, SB_INVALID, 0, "columnsVisibility must be a list of booleans");
    }
    json_decref(array);
    return status;
}
