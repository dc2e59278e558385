/* hparams.c: hyperparameters: the experiment, a trial's start and its end.
 *
 * In:  structs of texts and numbers, turned into a Summary on the caller's side.
 * Out: values without data whose metadata hold it all: tags _hparams_/experiment,
 *      _hparams_/session_start_info, _hparams_/session_end_info; plugin "hparams".
 *      TF2, TF1 add an empty float tensor, torch and TBX nothing.
 *
 * The name of a group, when none is given in a TF style, is the SHA-256 of the values as JSON, with
 * sorted names and no spaces, as TensorBoard makes it: {"lr":0.1,"n":3}. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "codec/plugin.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "writer/kinds/hparams_int.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MAX_TEXT ((size_t)16 << 20)
#define MAX_SUMMARY ((size_t)256 << 20)
#define MAX_COUNT ((size_t)1 << 20)

/* What the three calls share while they build a summary: memory that is freed at the end of the
 * call. */
typedef struct builder {
    sb_writer *w;
    sb_arena arena;
    sb_buf body;
    sb_status status; /* SB_OK, or the status of the first refusal */
} builder;

static void builder_init(builder *b, sb_writer *w) {
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    *b = (builder){.w = w};
    sb_arena_init(&b->arena, alloc, 4096, MAX_SUMMARY);
    sb_buf_init(&b->body, alloc, MAX_SUMMARY);
}

static void builder_fini(builder *b) {
    sb_buf_fini(&b->body);
    sb_arena_fini(&b->arena);
}

static void *hparam_memory(builder *b, size_t count, size_t size) {
    void *p = b->status == SB_OK ? sb_arena_zeroed(&b->arena, count ? count : 1, size) : NULL;
    if (!p && b->status == SB_OK)
        b->status = sb_call_refuse(b->w, SB_NOMEM, "hparams: out of memory");
    return p;
}

static sb_slice hparam_text(builder *b, const char *what, const char *text, bool may_miss) {
    sb_slice out = {NULL, 0};
    if (b->status == SB_OK) b->status = sb_take_text(b->w, what, text, may_miss, MAX_TEXT, &out);
    return out;
}

static void check_count(builder *b, const char *what, const void *items, size_t count) {
    if (b->status != SB_OK) return;
    if (count && !items)
        b->status = sb_call_refuse(b->w, SB_INVALID, "hparams: the %s are missing", what);
    else if (count > MAX_COUNT)
        b->status = sb_call_refuse(b->w, SB_LIMIT, "hparams: %zu %s are too many", count, what);
}

static sb_any take_value(builder *b, const sb_hparam_value *v) {
    sb_any any = {.kind = SB_ANY_NUMBER, .number = v->number};
    switch (v->type) {
    case SB_HPARAM_STRING:
        any.kind = SB_ANY_STRING;
        any.body = hparam_text(b, "hparams: a value", v->string, false);
        break;
    case SB_HPARAM_BOOL:
        any.kind = SB_ANY_BOOL;
        any.boolean = v->number != 0;
        break;
    case SB_HPARAM_INTEGER:
        any.number = (double)v->integer;
        break;
    case SB_HPARAM_NUMBER:
        break;
    default:
        if (b->status == SB_OK)
            b->status =
                sb_call_refuse(b->w, SB_INVALID, "hparams: %d is no type of values", (int)v->type);
    }
    return any;
}

/* ---- the group's name ------------------------------------------------------------------------ */

static uint32_t next_code(sb_slice s, size_t *at) {
    const uint8_t *p = s.p + *at;
    size_t n = sb_utf8_char(sb_slice_of(p, s.n - *at));
    *at += n ? n : 1;
    if (n < 2) return p[0];
    uint32_t code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) code = code << 6 | (p[i] & 0x3fu);
    return code;
}

/* A JSON text in ASCII, as Python's json.dumps writes it. */
static void add_json_text(sb_buf *out, sb_slice s) {
    sb_buf_add_byte(out, '"');
    for (size_t at = 0; at < s.n;) {
        uint32_t code = next_code(s, &at);
        const char *escaped = code == '"'    ? "\\\""
                              : code == '\\' ? "\\\\"
                              : code == '\n' ? "\\n"
                              : code == '\r' ? "\\r"
                              : code == '\t' ? "\\t"
                              : code == '\f' ? "\\f"
                              : code == '\b' ? "\\b"
                                             : NULL;
        if (escaped)
            sb_buf_add_str(out, escaped);
        else if (code >= ' ' && code <= '~')
            sb_buf_add_byte(out, (uint8_t)code);
        else if (code < 0x10000)
            sb_buf_printf(out, "\\u%04x", code);
        else
            sb_buf_printf(out, "\\u%04x\\u%04x", 0xd800u + ((code - 0x10000) >> 10),
                          0xdc00u + (code & 0x3ffu));
    }
    sb_buf_add_byte(out, '"');
}

static void add_json_value(sb_buf *out, const sb_hparam_value *v) {
    char text[SB_NUMBER_ROOM];
    if (v->type == SB_HPARAM_STRING)
        add_json_text(out, sb_slice_str(v->string));
    else if (v->type == SB_HPARAM_BOOL)
        sb_buf_add_str(out, v->number != 0 ? "true" : "false");
    else if (v->type == SB_HPARAM_INTEGER)
        sb_buf_add(out, text, sb_print_int64(text, v->integer));
    else
        sb_buf_add(out, text, sb_print_double(text, v->number));
}

void sb_hparams_json(sb_buf *out, const sb_hparam *const *sorted, size_t count) {
    sb_buf_add_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i) sb_buf_add_byte(out, ',');
        add_json_text(out, sb_slice_str(sorted[i]->name));
        sb_buf_add_byte(out, ':');
        add_json_value(out, &sorted[i]->value);
    }
    sb_buf_add_byte(out, '}');
}

/* ---- the summary ----------------------------------------------------------------------------- */

void sb_hparams_summary(sb_buf *out, sb_style style, sb_slice tag, int kind, sb_slice body) {
    static const uint8_t null_tensor[] = {0x08, 0x01, 0x12, 0x02, 0x12, 0x00};
    size_t value = sb_pb_begin(out, SB_SUMMARY_VALUE, body.n + tag.n + 40);
    sb_pb_add_bytes(out, SB_VALUE_TAG, tag);
    if (sb_style_is_tf(style))
        sb_pb_add_bytes(out, SB_VALUE_TENSOR, sb_slice_of(null_tensor, sizeof null_tensor));
    size_t metadata = sb_pb_begin(out, SB_VALUE_METADATA, body.n + 20);
    size_t plugin = sb_pb_begin(out, SB_METADATA_PLUGIN_DATA, body.n + 16);
    sb_pb_add_bytes(out, SB_PLUGIN_DATA_PLUGIN_NAME, SB_LIT("hparams"));
    size_t content = sb_pb_begin(out, SB_PLUGIN_DATA_CONTENT, body.n + 4);
    const sb_hparams_plugin data = {.kind = (sb_hparams_kind)kind, .body = body};
    sb_hparams_plugin_add(out, &data);
    sb_pb_end(out, content);
    sb_pb_end(out, plugin);
    sb_pb_end(out, metadata);
    sb_pb_end(out, value);
}

/* Queues the summary with b->body as its content, and frees the builder. */
static sb_status put_and_end(builder *b, sb_slice tag, sb_hparams_kind kind, int64_t step) {
    if (b->status == SB_OK && b->body.failed)
        b->status = sb_call_refuse(b->w, b->body.failed, "hparams: too large, or out of memory");
    if (b->status == SB_OK) {
        sb_buf summary;
        sb_buf_init(&summary, sb_writer_env(b->w)->alloc, MAX_SUMMARY);
        sb_hparams_summary(&summary, sb_writer_style(b->w), tag, (int)kind, sb_buf_slice(&b->body));
        b->status = summary.failed ? sb_call_refuse(b->w, summary.failed, "hparams: out of memory")
                                   : sb_summary(b->w, sb_buf_slice(&summary), step);
        sb_buf_fini(&summary);
    }
    builder_fini(b);
    return b->status;
}

/* ---- the experiment -------------------------------------------------------------------------- */

static sb_hparam_info_view take_info(builder *b, const sb_hparam_info *infos, size_t at) {
    sb_hparam_info own = {0}, *info = &own;
    if (b->status == SB_OK) b->status = SB_READ_SIZED(b->w, &own, sb_hparam_info, infos, at);
    sb_hparam_info_view out = {
        .name = hparam_text(b, "hparams: a name", info->name, false),
        .display_name = hparam_text(b, "hparams: a display name", info->display_name, true),
        .description = hparam_text(b, "hparams: a description", info->description, true),
        .type = info->type == SB_HPARAM_INTEGER ? SB_HPARAM_NUMBER : (int32_t)info->type,
    };
    if (b->status == SB_OK && (info->type < SB_HPARAM_UNSET || info->type > SB_HPARAM_INTEGER))
        b->status = sb_call_refuse(b->w, SB_INVALID, "hparams: %d is no type", (int)info->type);
    if (b->status == SB_OK && info->value_count && info->has_interval)
        b->status = sb_call_refuse(b->w, SB_INVALID,
                                   "hparams: '%s' has a list of values and an interval; give one",
                                   info->name);
    check_count(b, "values", info->values, info->value_count);
    if (info->has_interval) {
        out.domain = SB_HPARAM_INFO_DOMAIN_INTERVAL;
        out.min = info->min;
        out.max = info->max;
    }
    if (b->status != SB_OK || !info->value_count) return out;
    sb_any *values = hparam_memory(b, info->value_count, sizeof *values);
    for (size_t i = 0; values && i < info->value_count; i++)
        values[i] = take_value(b, &info->values[i]);
    sb_buf list;
    sb_buf_init(&list, b->arena.alloc, MAX_SUMMARY);
    if (values) sb_any_list_add(&list, values, info->value_count);
    out.domain = SB_HPARAM_INFO_DOMAIN_DISCRETE;
    out.discrete = sb_arena_dup(&b->arena, sb_buf_slice(&list));
    if (b->status == SB_OK && (list.failed || !out.discrete.p))
        b->status = sb_call_refuse(b->w, SB_NOMEM, "hparams: out of memory");
    sb_buf_fini(&list);
    return out;
}

static sb_metric_info_view take_metric(builder *b, const sb_metric_info *infos, size_t at) {
    sb_metric_info own = {0}, *info = &own;
    if (b->status == SB_OK) b->status = SB_READ_SIZED(b->w, &own, sb_metric_info, infos, at);
    if (b->status == SB_OK && (unsigned)info->dataset > SB_DATASET_VALIDATION)
        b->status = sb_call_refuse(b->w, SB_INVALID, "hparams: %d is no kind of data set",
                                   (int)info->dataset);
    return (sb_metric_info_view){
        .group = hparam_text(b, "hparams: a metric's group", info->group, true),
        .tag = hparam_text(b, "hparams: a metric's tag", info->tag, true),
        .display_name = hparam_text(b, "hparams: a display name", info->display_name, true),
        .description = hparam_text(b, "hparams: a description", info->description, true),
        .dataset_type = (int32_t)info->dataset,
    };
}

sb_status sb_hparams_config(sb_writer *w, const sb_experiment *given, int64_t step) {
    if (!w) return SB_INVALID;
    if (!given) return sb_call_refuse(w, SB_INVALID, "hparams: the experiment is missing");
    sb_experiment own, *experiment = &own;
    sb_status status = SB_READ_SIZED(w, &own, sb_experiment, given, 0);
    if (status != SB_OK) return status;
    builder b;
    builder_init(&b, w);
    check_count(&b, "hyperparameters", experiment->hparams, experiment->hparam_count);
    check_count(&b, "metrics", experiment->metrics, experiment->metric_count);
    const sb_experiment_view about = {
        .name = hparam_text(&b, "hparams: the experiment's name", experiment->name, true),
        .description = hparam_text(&b, "hparams: the description", experiment->description, true),
        .user = hparam_text(&b, "hparams: the user", experiment->user, true),
        .time_created_secs = experiment->time_created,
    };
    sb_hparam_info_view *infos = hparam_memory(&b, experiment->hparam_count, sizeof *infos);
    sb_metric_info_view *metrics = hparam_memory(&b, experiment->metric_count, sizeof *metrics);
    for (size_t i = 0; infos && b.status == SB_OK && i < experiment->hparam_count; i++)
        infos[i] = take_info(&b, experiment->hparams, i);
    for (size_t i = 0; metrics && b.status == SB_OK && i < experiment->metric_count; i++)
        metrics[i] = take_metric(&b, experiment->metrics, i);
    if (b.status == SB_OK)
        sb_experiment_add(&b.body, &about, infos, experiment->hparam_count, metrics,
                          experiment->metric_count);
    return put_and_end(&b, SB_LIT("_hparams_/experiment"), SB_HPARAMS_EXPERIMENT, step);
}

/* ---- one trial ------------------------------------------------------------------------------- */

static int by_hparam_name(const void *a, const void *b) {
    const sb_hparam *const *x = a, *const *y = b;
    return sb_slice_cmp(sb_slice_str((*x)->name), sb_slice_str((*y)->name));
}

static void refuse_doubles(builder *b, const sb_hparam *const *sorted, size_t count) {
    for (size_t i = 1; i < count && b->status == SB_OK; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            b->status =
                sb_call_refuse(b->w, SB_INVALID, "hparams: '%s' has two values", sorted[i]->name);
}

/* The name of the trial's group: the given one, or, in a TF style, the hash of the values. */
static sb_slice group_of(builder *b, const sb_hparam *const *sorted, size_t count,
                         const char *group_name) {
    sb_slice given = hparam_text(b, "hparams: the group's name", group_name, true);
    if (group_name || !sb_style_is_tf(sb_writer_style(b->w)) || b->status != SB_OK) return given;
    char *hex = hparam_memory(b, SB_SHA256_HEX + 1, 1);
    sb_buf json;
    sb_buf_init(&json, b->arena.alloc, MAX_SUMMARY);
    sb_hparams_json(&json, sorted, count);
    if (json.failed && b->status == SB_OK)
        b->status = sb_call_refuse(b->w, json.failed, "hparams: out of memory");
    if (b->status == SB_OK) sb_sha256_hex(sb_buf_slice(&json), hex);
    sb_buf_fini(&json);
    return b->status == SB_OK ? sb_slice_of(hex, SB_SHA256_HEX) : given;
}

static double hparams_now(sb_writer *w) {
    const sb_clock *clock = sb_writer_env(w)->clock;
    return (double)(clock->wall(clock->ctx) / 1000u) / 1e6;
}

sb_status sb_hparams_start(sb_writer *w, const sb_hparam *hparams, size_t count,
                           const char *group_name, double start_time, int64_t step) {
    if (!w) return SB_INVALID;
    bool tf = sb_style_is_tf(sb_writer_style(w));
    builder b;
    builder_init(&b, w);
    check_count(&b, "values", hparams, count);
    const sb_hparam **sorted = hparam_memory(&b, count, sizeof *sorted);
    sb_hparam_view *views = hparam_memory(&b, count, sizeof *views);
    for (size_t i = 0; b.status == SB_OK && i < count; i++) {
        hparam_text(&b, "hparams: a name", hparams[i].name, false);
        take_value(&b, &hparams[i].value);
        sorted[i] = &hparams[i];
    }
    sb_session_start_view info = {.start_time_secs = start_time};
    if (b.status == SB_OK) {
        qsort(sorted, count, sizeof *sorted, by_hparam_name);
        refuse_doubles(&b, sorted, count);
        info.group_name = group_of(&b, sorted, count, group_name);
        if (tf && start_time == 0) info.start_time_secs = hparams_now(w);
    }
    for (size_t i = 0; b.status == SB_OK && i < count; i++) {
        const sb_hparam *from = tf ? sorted[i] : &hparams[i];
        views[i] = (sb_hparam_view){sb_slice_str(from->name), take_value(&b, &from->value)};
    }
    if (b.status == SB_OK) sb_session_start_add(&b.body, &info, views, count);
    return put_and_end(&b, SB_LIT("_hparams_/session_start_info"), SB_HPARAMS_SESSION_START, step);
}

sb_status sb_hparams_end(sb_writer *w, sb_session_end status, double end_time, int64_t step) {
    if (!w) return SB_INVALID;
    if ((unsigned)status > SB_SESSION_RUNNING)
        return sb_call_refuse(w, SB_INVALID, "hparams: %d is no way to end", (int)status);
    builder b;
    builder_init(&b, w);
    const sb_session_end_view info = {.status = (int32_t)status, .end_time_secs = end_time};
    sb_session_end_add(&b.body, &info);
    return put_and_end(&b, SB_LIT("_hparams_/session_end_info"), SB_HPARAMS_SESSION_END, step);
}
