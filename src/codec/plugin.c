/* plugin.c: plugin contents but for hparams, and custom scalar layouts. See plugin.h. */
#include "codec/plugin.h"

#include "codec/proto/pick_int.h"
#include "base/banned.h"

typedef struct known_plugin {
    const char *name;
    sb_message_id content;
} known_plugin;

static const known_plugin known_plugins[] = {
    {"scalars", SB_MSG_SCALAR_PLUGIN},
    {"images", SB_MSG_IMAGE_PLUGIN},
    {"audio", SB_MSG_AUDIO_PLUGIN},
    {"text", SB_MSG_TEXT_PLUGIN},
    {"histograms", SB_MSG_HISTOGRAM_PLUGIN},
    {"pr_curves", SB_MSG_PR_CURVE_PLUGIN},
    {"mesh", SB_MSG_MESH_PLUGIN},
    {"hparams", SB_MSG_HPARAMS_PLUGIN},
};

sb_message_id sb_plugin_content_message(sb_slice plugin_name) {
    for (size_t i = 0; i < sizeof known_plugins / sizeof *known_plugins; i++)
        if (sb_slice_eq(plugin_name, sb_slice_str(known_plugins[i].name)))
            return known_plugins[i].content;
    return SB_MSG_NONE;
}

sb_status sb_plugin_version(int32_t *version, sb_slice content) {
    /* `version` has the same field number in the messages of all plugins: audio's is read. */
    static const sb_pick picks[] = {SB_PICK(sb_audio_plugin, version, SB_AUDIO_PLUGIN_VERSION)};
    sb_audio_plugin any = {0};
    *version = 0;
    if (sb_slice_eq(content, SB_LIT("{}"))) return SB_OK;
    sb_status status = SB_PICK_READ(&any, content, picks);
    *version = any.version;
    return status;
}

sb_status sb_audio_plugin_read(sb_audio_plugin *out, sb_slice content) {
    static const sb_pick picks[] = {
        SB_PICK(sb_audio_plugin, version, SB_AUDIO_PLUGIN_VERSION),
        SB_PICK(sb_audio_plugin, encoding, SB_AUDIO_PLUGIN_ENCODING),
        SB_PICK(sb_audio_plugin, converted_to_tensor, SB_AUDIO_PLUGIN_CONVERTED_TO_TENSOR),
    };
    *out = (sb_audio_plugin){0};
    return SB_PICK_READ(out, content, picks);
}

/* ---- meshes -----------------------------------------------------------------------------------
 */

static const sb_pick mesh_picks[] = {
    SB_PICK(sb_mesh_plugin, version, SB_MESH_PLUGIN_VERSION),
    SB_PICK(sb_mesh_plugin, name, SB_MESH_PLUGIN_NAME),
    SB_PICK(sb_mesh_plugin, content_type, SB_MESH_PLUGIN_CONTENT_TYPE),
    SB_PICK(sb_mesh_plugin, json_config, SB_MESH_PLUGIN_JSON_CONFIG),
};
static const sb_pick mesh_end_picks[] = {
    SB_PICK(sb_mesh_plugin, components, SB_MESH_PLUGIN_COMPONENTS),
};

static bool read_mesh_shape(sb_mesh_plugin *out, const sb_pb_field *f) {
    sb_pb_many many = sb_pb_many_of(f, SB_PB_VARINT);
    uint64_t bits;
    sb_pb_step step;
    while ((step = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) {
        if (out->rank < SB_MAX_RANK) out->shape[out->rank] = (int32_t)(uint32_t)bits;
        out->rank++;
    }
    return step == SB_PB_END;
}

sb_status sb_mesh_plugin_read(sb_mesh_plugin *out, sb_slice content) {
    *out = (sb_mesh_plugin){0};
    if (SB_PICK_READ(out, content, mesh_picks) != SB_OK ||
        SB_PICK_READ(out, content, mesh_end_picks) != SB_OK)
        return SB_CORRUPT;
    sb_pb c = sb_pb_over(content);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != SB_MESH_PLUGIN_SHAPE) continue;
        if (f.wire != SB_PB_VARINT && f.wire != SB_PB_BYTES) continue;
        if (!read_mesh_shape(out, &f)) return SB_CORRUPT;
    }
    if (out->components == 0)
        out->components =
            1u << SB_MESH_CONTENT_VERTEX | 1u << SB_MESH_CONTENT_FACE | 1u << SB_MESH_CONTENT_COLOR;
    return SB_OK;
}

void sb_mesh_plugin_add(sb_buf *b, const sb_mesh_plugin *plugin) {
    SB_PICK_ADD(b, plugin, mesh_picks);
    size_t rank = plugin->rank < SB_MAX_RANK ? plugin->rank : SB_MAX_RANK;
    if (rank) {
        size_t at = sb_pb_begin(b, SB_MESH_PLUGIN_SHAPE, rank * 2);
        for (size_t i = 0; i < rank; i++) sb_pb_add_varint(b, (uint64_t)(int64_t)plugin->shape[i]);
        sb_pb_end(b, at);
    }
    SB_PICK_ADD(b, plugin, mesh_end_picks);
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

sb_status sb_layout_read(sb_layout *out, sb_slice layout) {
    static const sb_pick picks[] = {SB_PICK(sb_layout, version, SB_LAYOUT_VERSION)};
    *out = (sb_layout){.message = layout};
    return SB_PICK_READ(out, layout, picks);
}

sb_status sb_category_read(sb_category *out, sb_slice category) {
    static const sb_pick picks[] = {
        SB_PICK(sb_category, title, SB_CATEGORY_TITLE),
        SB_PICK(sb_category, closed, SB_CATEGORY_CLOSED),
    };
    *out = (sb_category){.message = category};
    return SB_PICK_READ(out, category, picks);
}

sb_status sb_chart_read(sb_chart_view *out, sb_slice chart) {
    *out = (sb_chart_view){0};
    sb_pb c = sb_pb_over(chart);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_CHART_TITLE) out->title = f.bytes;
        if (f.number != SB_CHART_MULTILINE && f.number != SB_CHART_MARGIN) continue;
        out->kind = (int32_t)f.number;
        out->body = f.bytes;
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

static const sb_pick series_picks[] = {
    SB_PICK(sb_margin_series, value, SB_MARGIN_SERIES_VALUE),
    SB_PICK(sb_margin_series, lower, SB_MARGIN_SERIES_LOWER),
    SB_PICK(sb_margin_series, upper, SB_MARGIN_SERIES_UPPER),
};

sb_status sb_margin_series_read(sb_margin_series *out, sb_slice series) {
    *out = (sb_margin_series){0};
    return SB_PICK_READ(out, series, series_picks);
}

static void add_chart(sb_buf *b, const sb_chart_plan *chart) {
    size_t at = sb_pb_begin(b, SB_CATEGORY_CHART, 100);
    sb_pb_add_bytes_nz(b, SB_CHART_TITLE, chart->title);
    if (chart->series_count) {
        size_t margin = sb_pb_begin(b, SB_CHART_MARGIN, 60);
        for (size_t i = 0; i < chart->series_count; i++) {
            size_t series = sb_pb_begin(b, SB_MARGIN_SERIES, 30);
            SB_PICK_ADD(b, &chart->series[i], series_picks);
            sb_pb_end(b, series);
        }
        sb_pb_end(b, margin);
    } else {
        size_t lines = sb_pb_begin(b, SB_CHART_MULTILINE, 60);
        for (size_t i = 0; i < chart->tag_count; i++)
            sb_pb_add_bytes(b, SB_MULTILINE_TAG, chart->tags[i]);
        sb_pb_end(b, lines);
    }
    sb_pb_end(b, at);
}

void sb_layout_add(sb_buf *b, const sb_category_plan *categories, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t at = sb_pb_begin(b, SB_LAYOUT_CATEGORY, 200);
        sb_pb_add_bytes_nz(b, SB_CATEGORY_TITLE, categories[i].title);
        for (size_t k = 0; k < categories[i].chart_count; k++)
            add_chart(b, &categories[i].charts[k]);
        sb_pb_add_uint_nz(b, SB_CATEGORY_CLOSED, categories[i].closed);
        sb_pb_end(b, at);
    }
}
