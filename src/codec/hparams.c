/* hparams.c: hparams contents and the dynamic values in them. See plugin.h. */
#include "codec/plugin.h"
#include "codec/proto/pick_int.h"
#include "base/banned.h"

/* ---- google.protobuf.Value --------------------------------------------------------------------
 */

sb_status sb_any_read(sb_any *out, sb_slice value) {
    *out = (sb_any){.kind = SB_ANY_NONE};
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        const sb_field_info *info = sb_field_by_number(sb_message_get(SB_MSG_PB_VALUE), f.number);
        if (!info || f.wire != sb_field_wire(info)) continue;
        *out = (sb_any){.kind = (sb_any_kind)f.number};
        if (f.wire == SB_PB_BYTES)
            out->body = f.bytes;
        else if (f.wire == SB_PB_FIXED64)
            out->number = sb_pb_double(&f);
        else
            out->boolean = f.number == SB_PB_VALUE_BOOL_VALUE && f.u64 != 0;
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

void sb_any_add(sb_buf *b, const sb_any *value) {
    uint32_t number = (uint32_t)value->kind;
    switch (value->kind) {
    case SB_ANY_NONE:
        break;
    case SB_ANY_NULL:
        sb_pb_add_uint(b, number, 0);
        break;
    case SB_ANY_NUMBER:
        sb_pb_add_double(b, number, value->number);
        break;
    case SB_ANY_BOOL:
        sb_pb_add_uint(b, number, value->boolean);
        break;
    case SB_ANY_STRING:
    case SB_ANY_STRUCT:
    case SB_ANY_LIST:
        sb_pb_add_bytes(b, number, value->body);
        break;
    }
}

void sb_any_list_add(sb_buf *b, const sb_any *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t at = sb_pb_begin(b, SB_PB_LIST_VALUES, values[i].body.n + 4);
        sb_any_add(b, &values[i]);
        sb_pb_end(b, at);
    }
}

/* ---- the plugin's content ---------------------------------------------------------------------
 */

sb_status sb_hparams_plugin_read(sb_hparams_plugin *out, sb_slice content) {
    *out = (sb_hparams_plugin){.kind = SB_HPARAMS_NONE};
    sb_pb c = sb_pb_over(content);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_HPARAMS_PLUGIN_VERSION && f.wire == SB_PB_VARINT) {
            out->version = sb_pb_int32(&f);
        } else if (f.number >= SB_HPARAMS_PLUGIN_EXPERIMENT &&
                   f.number <= SB_HPARAMS_PLUGIN_SESSION_END_INFO && f.wire == SB_PB_BYTES) {
            out->kind = (sb_hparams_kind)f.number;
            out->body = f.bytes;
        }
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

void sb_hparams_plugin_add(sb_buf *b, const sb_hparams_plugin *plugin) {
    sb_pb_add_int_nz(b, SB_HPARAMS_PLUGIN_VERSION, plugin->version);
    if (plugin->kind != SB_HPARAMS_NONE) sb_pb_add_bytes(b, (uint32_t)plugin->kind, plugin->body);
}

/* ---- experiments ------------------------------------------------------------------------------
 */

static const sb_pick info_picks[] = {
    SB_PICK(sb_hparam_info_view, name, SB_HPARAM_INFO_NAME),
    SB_PICK(sb_hparam_info_view, display_name, SB_HPARAM_INFO_DISPLAY_NAME),
    SB_PICK(sb_hparam_info_view, description, SB_HPARAM_INFO_DESCRIPTION),
    SB_PICK(sb_hparam_info_view, type, SB_HPARAM_INFO_TYPE),
};
static const sb_pick info_end_picks[] = {
    SB_PICK(sb_hparam_info_view, differs, SB_HPARAM_INFO_DIFFERS),
};
static const sb_pick interval_picks[] = {
    SB_PICK(sb_hparam_info_view, min, SB_INTERVAL_MIN_VALUE),
    SB_PICK(sb_hparam_info_view, max, SB_INTERVAL_MAX_VALUE),
};

sb_status sb_hparam_info_read(sb_hparam_info_view *out, sb_slice info) {
    *out = (sb_hparam_info_view){0};
    if (SB_PICK_READ(out, info, info_picks) != SB_OK ||
        SB_PICK_READ(out, info, info_end_picks) != SB_OK)
        return SB_CORRUPT;
    sb_slice domain = {0};
    sb_pb c = sb_pb_over(info);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number != SB_HPARAM_INFO_DOMAIN_DISCRETE &&
            f.number != SB_HPARAM_INFO_DOMAIN_INTERVAL)
            continue;
        out->domain = (int32_t)f.number;
        domain = f.bytes;
    }
    if (out->domain == SB_HPARAM_INFO_DOMAIN_INTERVAL)
        return SB_PICK_READ(out, domain, interval_picks);
    out->discrete = domain;
    return SB_OK;
}

void sb_hparam_info_add(sb_buf *b, const sb_hparam_info_view *info) {
    SB_PICK_ADD(b, info, info_picks);
    if (info->domain == SB_HPARAM_INFO_DOMAIN_DISCRETE) {
        sb_pb_add_bytes(b, SB_HPARAM_INFO_DOMAIN_DISCRETE, info->discrete);
    } else if (info->domain == SB_HPARAM_INFO_DOMAIN_INTERVAL) {
        size_t at = sb_pb_begin(b, SB_HPARAM_INFO_DOMAIN_INTERVAL, 18);
        SB_PICK_ADD(b, info, interval_picks);
        sb_pb_end(b, at);
    }
    SB_PICK_ADD(b, info, info_end_picks);
}

static const sb_pick metric_picks[] = {
    SB_PICK(sb_metric_info_view, display_name, SB_METRIC_INFO_DISPLAY_NAME),
    SB_PICK(sb_metric_info_view, description, SB_METRIC_INFO_DESCRIPTION),
    SB_PICK(sb_metric_info_view, dataset_type, SB_METRIC_INFO_DATASET_TYPE),
};
static const sb_pick metric_name_picks[] = {
    SB_PICK(sb_metric_info_view, group, SB_METRIC_NAME_GROUP),
    SB_PICK(sb_metric_info_view, tag, SB_METRIC_NAME_TAG),
};

sb_status sb_metric_info_read(sb_metric_info_view *out, sb_slice info) {
    *out = (sb_metric_info_view){0};
    if (SB_PICK_READ(out, info, metric_picks) != SB_OK) return SB_CORRUPT;
    sb_items names = sb_items_of(info, SB_METRIC_INFO_NAME);
    sb_slice name;
    while (sb_items_next(&names, &name) == SB_OK)
        if (SB_PICK_READ(out, name, metric_name_picks) != SB_OK) return SB_CORRUPT;
    return SB_OK;
}

void sb_metric_info_add(sb_buf *b, const sb_metric_info_view *info) {
    size_t at = sb_pb_begin(b, SB_METRIC_INFO_NAME, info->group.n + info->tag.n + 4);
    SB_PICK_ADD(b, info, metric_name_picks);
    sb_pb_end(b, at);
    SB_PICK_ADD(b, info, metric_picks);
}

static const sb_pick experiment_picks[] = {
    SB_PICK(sb_experiment_view, description, SB_EXPERIMENT_DESCRIPTION),
    SB_PICK(sb_experiment_view, user, SB_EXPERIMENT_USER),
    SB_PICK(sb_experiment_view, time_created_secs, SB_EXPERIMENT_TIME_CREATED_SECS),
};
static const sb_pick experiment_end_picks[] = {
    SB_PICK(sb_experiment_view, name, SB_EXPERIMENT_NAME),
};

sb_status sb_experiment_read(sb_experiment_view *out, sb_slice experiment) {
    *out = (sb_experiment_view){.message = experiment};
    if (SB_PICK_READ(out, experiment, experiment_picks) != SB_OK) return SB_CORRUPT;
    return SB_PICK_READ(out, experiment, experiment_end_picks);
}

void sb_experiment_add(sb_buf *b, const sb_experiment_view *experiment,
                       const sb_hparam_info_view *hparams, size_t hparam_count,
                       const sb_metric_info_view *metrics, size_t metric_count) {
    SB_PICK_ADD(b, experiment, experiment_picks);
    for (size_t i = 0; i < hparam_count; i++) {
        size_t at = sb_pb_begin(b, SB_EXPERIMENT_HPARAM_INFOS, 60);
        sb_hparam_info_add(b, &hparams[i]);
        sb_pb_end(b, at);
    }
    for (size_t i = 0; i < metric_count; i++) {
        size_t at = sb_pb_begin(b, SB_EXPERIMENT_METRIC_INFOS, 60);
        sb_metric_info_add(b, &metrics[i]);
        sb_pb_end(b, at);
    }
    SB_PICK_ADD(b, experiment, experiment_end_picks);
}

/* ---- sessions ---------------------------------------------------------------------------------
 */

static const sb_pick start_picks[] = {
    SB_PICK(sb_session_start_view, model_uri, SB_SESSION_START_MODEL_URI),
    SB_PICK(sb_session_start_view, monitor_url, SB_SESSION_START_MONITOR_URL),
    SB_PICK(sb_session_start_view, group_name, SB_SESSION_START_GROUP_NAME),
    SB_PICK(sb_session_start_view, start_time_secs, SB_SESSION_START_START_TIME_SECS),
};

sb_status sb_session_start_read(sb_session_start_view *out, sb_slice info) {
    *out = (sb_session_start_view){.message = info};
    return SB_PICK_READ(out, info, start_picks);
}

sb_status sb_hparam_next(sb_items *entries, sb_hparam_view *out) {
    typedef struct entry {
        sb_slice key, value;
    } entry;
    static const sb_pick picks[] = {
        SB_PICK(entry, key, SB_SESSION_START_HPARAM_KEY),
        SB_PICK(entry, value, SB_SESSION_START_HPARAM_VALUE),
    };
    sb_slice item;
    sb_status status = sb_items_next(entries, &item);
    if (status != SB_OK) return status;
    entry read = {0};
    if (SB_PICK_READ(&read, item, picks) != SB_OK) return SB_CORRUPT;
    out->name = read.key;
    return sb_any_read(&out->value, read.value);
}

void sb_session_start_add(sb_buf *b, const sb_session_start_view *info,
                          const sb_hparam_view *hparams, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t at = sb_pb_begin(b, SB_SESSION_START_HPARAMS, 30);
        sb_pb_add_bytes(b, SB_SESSION_START_HPARAM_KEY, hparams[i].name);
        size_t value = sb_pb_begin(b, SB_SESSION_START_HPARAM_VALUE, hparams[i].value.body.n + 4);
        sb_any_add(b, &hparams[i].value);
        sb_pb_end(b, value);
        sb_pb_end(b, at);
    }
    SB_PICK_ADD(b, info, start_picks);
}

static const sb_pick end_picks[] = {
    SB_PICK(sb_session_end_view, status, SB_SESSION_END_STATUS),
    SB_PICK(sb_session_end_view, end_time_secs, SB_SESSION_END_END_TIME_SECS),
};

SB_PICK_CODEC(sb_session_end_view, sb_session_end, end_picks)
