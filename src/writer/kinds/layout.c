/* layout.c: the custom scalars' layout: categories of charts.
 *
 * Out: a string tensor of rank 0, a serialized Layout, tag custom_scalars__config__, plugin
 *      "custom_scalars"; the same in all styles. The newest one of a run counts. */
#include "base/slice.h"
#include "codec/plugin.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/summary.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MAX_TEXT ((size_t)1 << 20)
#define MAX_LAYOUT ((size_t)64 << 20)
#define MAX_COUNT ((size_t)1 << 20)

typedef struct builder {
    sb_writer *w;
    sb_arena arena;
    sb_status status; /* of the first refusal */
} builder;

static void *layout_memory(builder *b, size_t count, size_t size) {
    if (b->status == SB_OK && count > MAX_COUNT)
        b->status =
            sb_call_refuse(b->w, SB_LIMIT, "custom scalars: %zu of a kind are too many", count);
    void *p = b->status == SB_OK ? sb_arena_zeroed(&b->arena, count ? count : 1, size) : NULL;
    if (!p && b->status == SB_OK)
        b->status = sb_call_refuse(b->w, SB_NOMEM, "custom scalars: out of memory");
    return p;
}

static sb_slice layout_text(builder *b, const char *what, const char *text, bool may_miss) {
    sb_slice out = {NULL, 0};
    if (b->status == SB_OK) b->status = sb_take_text(b->w, what, text, may_miss, MAX_TEXT, &out);
    return out;
}

static void refuse_layout(builder *b, const char *text) {
    if (b->status == SB_OK)
        b->status = sb_call_refuse(b->w, SB_INVALID, "custom scalars: %s", text);
}

static sb_chart_plan take_chart(builder *b, const sb_chart *charts, size_t at) {
    sb_chart own = {0}, *chart = &own;
    if (b->status == SB_OK) b->status = SB_READ_SIZED(b->w, &own, sb_chart, charts, at);
    sb_chart_plan plan = {.title = layout_text(b, "custom scalars: a title", chart->title, true)};
    if (chart->tag_count && !chart->tags) refuse_layout(b, "the tags of a chart are missing");
    if (chart->is_margin && (chart->tag_count == 0 || chart->tag_count % 3))
        refuse_layout(b, "a margin chart needs tags by threes: value, lower, upper");
    sb_slice *tags = layout_memory(b, chart->tag_count, sizeof *tags);
    for (size_t i = 0; b->status == SB_OK && i < chart->tag_count; i++)
        tags[i] = layout_text(b, "custom scalars: a tag", chart->tags[i], false);
    if (!chart->is_margin) {
        plan.tags = tags;
        plan.tag_count = chart->tag_count;
        return plan;
    }
    size_t count = chart->tag_count / 3;
    sb_margin_series *series = layout_memory(b, count, sizeof *series);
    for (size_t i = 0; b->status == SB_OK && i < count; i++)
        series[i] = (sb_margin_series){tags[3 * i], tags[3 * i + 1], tags[3 * i + 2]};
    plan.series = series;
    plan.series_count = count;
    return plan;
}

static sb_category_plan take_category(builder *b, const sb_chart_category *categories, size_t at) {
    sb_chart_category own = {0}, *category = &own;
    if (b->status == SB_OK)
        b->status = SB_READ_SIZED(b->w, &own, sb_chart_category, categories, at);
    if (category->chart_count && !category->charts)
        refuse_layout(b, "the charts of a category are missing");
    sb_chart_plan *charts = layout_memory(b, category->chart_count, sizeof *charts);
    for (size_t i = 0; b->status == SB_OK && i < category->chart_count; i++)
        charts[i] = take_chart(b, category->charts, i);
    return (sb_category_plan){
        .title = layout_text(b, "custom scalars: a title", category->title, true),
        .closed = category->closed,
        .charts = charts,
        .chart_count = category->chart_count,
    };
}

static void add_summary(sb_buf *out, const sb_category_plan *plans, size_t count) {
    size_t value = sb_pb_begin(out, SB_SUMMARY_VALUE, 256);
    sb_pb_add_bytes(out, SB_VALUE_TAG, SB_LIT("custom_scalars__config__"));
    size_t tensor = sb_pb_begin(out, SB_VALUE_TENSOR, 192);
    sb_pb_add_uint(out, SB_TENSOR_DTYPE, SB_STRING);
    sb_pb_add_bytes(out, SB_TENSOR_TENSOR_SHAPE, SB_LIT(""));
    size_t layout = sb_pb_begin(out, SB_TENSOR_STRING_VAL, 180);
    sb_layout_add(out, plans, count);
    sb_pb_end(out, layout);
    sb_pb_end(out, tensor);
    sb_metadata_add(out, SB_VALUE_METADATA,
                    &(sb_metadata){.plugin_name = SB_LIT("custom_scalars")});
    sb_pb_end(out, value);
}

sb_status sb_custom_scalars(sb_writer *w, const sb_chart_category *categories, size_t count) {
    if (!w) return SB_INVALID;
    if (count && !categories)
        return sb_call_refuse(w, SB_INVALID, "custom scalars: the categories are missing");
    builder b = {.w = w};
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    sb_arena_init(&b.arena, alloc, 4096, MAX_LAYOUT);
    sb_category_plan *plans = layout_memory(&b, count, sizeof *plans);
    for (size_t i = 0; b.status == SB_OK && i < count; i++)
        plans[i] = take_category(&b, categories, i);
    if (b.status == SB_OK) {
        sb_buf summary;
        sb_buf_init(&summary, alloc, MAX_LAYOUT);
        add_summary(&summary, plans, count);
        b.status = summary.failed
                       ? sb_call_refuse(w, summary.failed, "custom scalars: out of memory")
                       : sb_summary(w, sb_buf_slice(&summary), 0);
        sb_buf_fini(&summary);
    }
    sb_arena_fini(&b.arena);
    return b.status;
}
