/* plugin.h: views and builders of what dashboards keep in SummaryMetadata.plugin_data.content, and
 * of custom scalar layouts.
 *
 * In:  borrowed encoded messages.  Out: numbers, and slices into them; nothing is copied. Repeated
 * parts are walked with items.h over `message` and the field number given beside it, and each
 * element read with its own view.
 *
 * A builder sb_..._add appends the fields of the message, without key and length, in ascending
 * order and without default values, as the reference writers do; failures stay in the buffer.
 *
 * Threads: views are values.  Cost: one pass, no allocation.
 *
 * Some names end in _view since seaboard/writer.h has public types without the suffix, and the
 * writer includes both headers. */
#ifndef SB_CODEC_PLUGIN_H
#define SB_CODEC_PLUGIN_H

#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "codec/tensor.h"

/* Which message a plugin keeps as its content; SB_MSG_NONE for those that keep none. */
sb_message_id sb_plugin_content_message(sb_slice plugin_name);

/* The version field, which every content message has as number 1. Empty content is version 0, and
 * so is "{}", which early text and histogram writers left there. */
sb_status sb_plugin_version(int32_t *version, sb_slice content);

/* ---- audio, meshes ----------------------------------------------------------------------------
 */

typedef struct sb_audio_plugin {
    int32_t version;
    int32_t encoding; /* SB_AUDIO_ENCODING_... */
    bool converted_to_tensor;
} sb_audio_plugin;

sb_status sb_audio_plugin_read(sb_audio_plugin *out, sb_slice content);

typedef struct sb_mesh_plugin {
    int32_t version;
    sb_slice name;
    int32_t content_type; /* SB_MESH_CONTENT_... */
    sb_slice json_config;
    size_t rank; /* as many dims as there are; shape holds the first SB_MAX_RANK */
    int32_t shape[SB_MAX_RANK];
    uint32_t components; /* which parts the mesh has: 1 << SB_MESH_CONTENT_..., summed */
} sb_mesh_plugin;

/* components 0 is read as all three parts, as TensorBoard does. */
sb_status sb_mesh_plugin_read(sb_mesh_plugin *out, sb_slice content);
void sb_mesh_plugin_add(sb_buf *b, const sb_mesh_plugin *plugin);

/* ---- google.protobuf.Value --------------------------------------------------------------------
 */

/* The numbers are those of the fields. */
typedef enum sb_any_kind {
    SB_ANY_NONE = 0,
    SB_ANY_NULL = SB_PB_VALUE_NULL_VALUE,
    SB_ANY_NUMBER = SB_PB_VALUE_NUMBER_VALUE,
    SB_ANY_STRING = SB_PB_VALUE_STRING_VALUE,
    SB_ANY_BOOL = SB_PB_VALUE_BOOL_VALUE,
    SB_ANY_STRUCT = SB_PB_VALUE_STRUCT_VALUE,
    SB_ANY_LIST = SB_PB_VALUE_LIST_VALUE,
} sb_any_kind;

typedef struct sb_any {
    sb_any_kind kind;
    bool boolean;
    double number;
    sb_slice body; /* text; an encoded Struct; an encoded ListValue (SB_PB_LIST_VALUES) */
} sb_any;

sb_status sb_any_read(sb_any *out, sb_slice value);
void sb_any_add(sb_buf *b, const sb_any *value);
/* The fields of a ListValue. */
void sb_any_list_add(sb_buf *b, const sb_any *values, size_t n);

/* ---- hparams ----------------------------------------------------------------------------------
 */

/* The numbers are those of the fields. */
typedef enum sb_hparams_kind {
    SB_HPARAMS_NONE = 0,
    SB_HPARAMS_EXPERIMENT = SB_HPARAMS_PLUGIN_EXPERIMENT,
    SB_HPARAMS_SESSION_START = SB_HPARAMS_PLUGIN_SESSION_START_INFO,
    SB_HPARAMS_SESSION_END = SB_HPARAMS_PLUGIN_SESSION_END_INFO,
} sb_hparams_kind;

typedef struct sb_hparams_plugin {
    int32_t version; /* readers refuse all but 0 */
    sb_hparams_kind kind;
    sb_slice body; /* the encoded message that kind names */
} sb_hparams_plugin;

sb_status sb_hparams_plugin_read(sb_hparams_plugin *out, sb_slice content);
void sb_hparams_plugin_add(sb_buf *b, const sb_hparams_plugin *plugin);

typedef struct sb_hparam_info_view {
    sb_slice name, display_name, description;
    int32_t type;      /* SB_HPARAM_TYPE_... */
    int32_t domain;    /* 0, SB_HPARAM_INFO_DOMAIN_DISCRETE or SB_HPARAM_INFO_DOMAIN_INTERVAL */
    sb_slice discrete; /* an encoded ListValue: SB_PB_LIST_VALUES */
    double min, max;   /* of an interval */
    bool differs;
} sb_hparam_info_view;

sb_status sb_hparam_info_read(sb_hparam_info_view *out, sb_slice info);
void sb_hparam_info_add(sb_buf *b, const sb_hparam_info_view *info);

typedef struct sb_metric_info_view {
    sb_slice group, tag;
    sb_slice display_name, description;
    int32_t dataset_type; /* SB_DATASET_TYPE_... */
} sb_metric_info_view;

sb_status sb_metric_info_read(sb_metric_info_view *out, sb_slice info);
void sb_metric_info_add(sb_buf *b, const sb_metric_info_view *info);

typedef struct sb_experiment_view {
    sb_slice name, description, user;
    double time_created_secs;
    sb_slice message; /* SB_EXPERIMENT_HPARAM_INFOS, SB_EXPERIMENT_METRIC_INFOS; the builder takes
                         arrays instead */
} sb_experiment_view;

sb_status sb_experiment_read(sb_experiment_view *out, sb_slice experiment);
void sb_experiment_add(sb_buf *b, const sb_experiment_view *experiment,
                       const sb_hparam_info_view *hparams, size_t hparam_count,
                       const sb_metric_info_view *metrics, size_t metric_count);

typedef struct sb_hparam_view {
    sb_slice name;
    sb_any value;
} sb_hparam_view;

typedef struct sb_session_start_view {
    sb_slice model_uri, monitor_url, group_name;
    double start_time_secs;
    sb_slice message; /* hparams: sb_hparam_next over SB_SESSION_START_HPARAMS; the builder takes an
                         array instead */
} sb_session_start_view;

sb_status sb_session_start_read(sb_session_start_view *out, sb_slice info);
/* Entries of the map, as stored: a name may come twice, and the later one is then meant. SB_OK,
 * SB_END or SB_CORRUPT. */
sb_status sb_hparam_next(sb_items *entries, sb_hparam_view *out);
/* The entries are written in the order given. */
void sb_session_start_add(sb_buf *b, const sb_session_start_view *info,
                          const sb_hparam_view *hparams, size_t n);

typedef struct sb_session_end_view {
    int32_t status; /* SB_HPARAM_STATUS_... */
    double end_time_secs;
} sb_session_end_view;

sb_status sb_session_end_read(sb_session_end_view *out, sb_slice info);
void sb_session_end_add(sb_buf *b, const sb_session_end_view *info);

/* ---- custom scalar layouts --------------------------------------------------------------------
 */

typedef struct sb_layout {
    int32_t version;
    sb_slice message; /* SB_LAYOUT_CATEGORY */
} sb_layout;

sb_status sb_layout_read(sb_layout *out, sb_slice layout);

typedef struct sb_category {
    sb_slice title;
    bool closed;
    sb_slice message; /* SB_CATEGORY_CHART */
} sb_category;

sb_status sb_category_read(sb_category *out, sb_slice category);

typedef struct sb_chart_view {
    sb_slice title;
    int32_t kind;  /* 0, SB_CHART_MULTILINE or SB_CHART_MARGIN */
    sb_slice body; /* SB_MULTILINE_TAG (texts), or SB_MARGIN_SERIES */
} sb_chart_view;

sb_status sb_chart_read(sb_chart_view *out, sb_slice chart);

typedef struct sb_margin_series {
    sb_slice value, lower, upper;
} sb_margin_series;

sb_status sb_margin_series_read(sb_margin_series *out, sb_slice series);

/* For building: a chart has series (margin) or, when there are none, tags (multiline), of which
 * there may be none too, as from torch. */
typedef struct sb_chart_plan {
    sb_slice title;
    const sb_slice *tags;
    size_t tag_count;
    const sb_margin_series *series;
    size_t series_count;
} sb_chart_plan;

typedef struct sb_category_plan {
    sb_slice title;
    bool closed;
    const sb_chart_plan *charts;
    size_t chart_count;
} sb_category_plan;

void sb_layout_add(sb_buf *b, const sb_category_plan *categories, size_t n);

#endif
