/* touch.h: walks through everything that can be reached from some bytes, for tests of hostile input
 * and for fuzz targets. Every slice handed out is read to its end, so that the sanitizer sees one
 * that points outside; answers are checked against each other where two ways lead to them. */
#ifndef SB_TESTS_CODEC_TOUCH_H
#define SB_TESTS_CODEC_TOUCH_H

#include <math.h>
#include <stdlib.h>

#include "codec/event.h"
#include "codec/form.h"
#include "codec/graph.h"
#include "codec/plain_int.h"
#include "codec/plugin.h"
#include "codec/summary.h"
#include "codec/tensor.h"

/* Fails outside of cmocka too. */
#define TOUCH_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) abort();                                                                 \
    } while (0)

static inline void touch_slice(sb_slice s) {
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < s.n; i++) sum = (uint8_t)(sum + s.p[i]);
}

static inline bool touch_same_slice(sb_slice a, sb_slice b) {
    return a.p == b.p && a.n == b.n;
}

static inline bool touch_same_bits(double a, double b) {
    return sb_double_bits(a) == sb_double_bits(b);
}

static inline void touch_tensor_numbers(const sb_tensor_view *t) {
    enum { SOME = 40 };
    double doubles[SOME], pairs[2 * SOME];
    float floats[SOME];
    size_t n = t->count < SOME ? t->count : SOME, from = t->count - n;
    TOUCH_CHECK(sb_tensor_doubles(t, from, n, doubles) == SB_OK);
    TOUCH_CHECK(sb_tensor_floats(t, from, n, floats) == SB_OK);
    TOUCH_CHECK(sb_tensor_complex(t, from, n, pairs) == SB_OK);
    for (size_t i = 0; i < n; i++) {
        sb_number x;
        TOUCH_CHECK(sb_tensor_at(t, from + i, &x) == SB_OK);
        TOUCH_CHECK(touch_same_bits(x.re, doubles[i]));
        TOUCH_CHECK(touch_same_bits(x.re, pairs[2 * i]) && touch_same_bits(x.im, pairs[2 * i + 1]));
        TOUCH_CHECK(isnan(x.re) ? isnan(floats[i]) : (float)x.re == floats[i]);
    }
    TOUCH_CHECK(sb_tensor_doubles(t, t->count, 1, doubles) == SB_INVALID);
}

static inline void touch_tensor(sb_slice tensor) {
    sb_tensor_view t;
    double fast = 0, plain = 0;
    sb_dtype fast_type = SB_NO_DTYPE, plain_type = SB_NO_DTYPE;
    bool scalar = sb_tensor_scalar(tensor, &fast, &fast_type);
    TOUCH_CHECK(scalar == sb_tensor_scalar_plain(tensor, &plain, &plain_type));
    TOUCH_CHECK(touch_same_bits(fast, plain) && fast_type == plain_type);
    if (sb_tensor_read(&t, tensor) != SB_OK) return;
    touch_slice(t.content);
    sb_number x;
    if (sb_dtype_numeric(t.dtype))
        touch_tensor_numbers(&t);
    else
        TOUCH_CHECK(sb_tensor_at(&t, 0, &x) == SB_INVALID);
    sb_strings strings = sb_tensor_strings(&t);
    sb_slice s;
    for (int i = 0; i < 100 && sb_strings_next(&strings, &s); i++) touch_slice(s);
}

static inline void touch_metadata(sb_slice metadata) {
    sb_metadata m;
    int32_t version;
    if (sb_metadata_read(&m, metadata) != SB_OK) return;
    touch_slice(m.plugin_name);
    touch_slice(m.content);
    touch_slice(m.display_name);
    touch_slice(m.description);
    (void)sb_plugin_version(&version, m.content);
}

static inline void touch_histogram(sb_slice body) {
    sb_summary_histo h;
    if (sb_summary_histo_read(&h, body) != SB_OK) return;
    TOUCH_CHECK(h.limits.count == h.buckets.count);
    double first, some[20];
    size_t n = h.limits.count < 20 ? h.limits.count : 20;
    sb_doubles_copy(&h.limits, h.limits.count - n, n, some);
    sb_doubles_copy(&h.buckets, h.buckets.count - n, n, some);
    if (n == 0) return;
    sb_doubles_copy(&h.buckets, h.buckets.count - n, 1, &first);
    TOUCH_CHECK(touch_same_bits(first, some[0]));
}

static inline void touch_value(const sb_value *value) {
    sb_summary_image image;
    sb_summary_audio audio;
    double x;
    touch_slice(value->tag);
    touch_slice(value->node_name);
    touch_slice(value->body);
    touch_slice(sb_value_tag(value));
    touch_metadata(value->metadata);
    (void)sb_scalar_of(value, &x, NULL);
    switch (value->kind) {
    case SB_VALUE_KIND_IMAGE:
        if (sb_summary_image_read(&image, value->body) == SB_OK) touch_slice(image.encoded);
        break;
    case SB_VALUE_KIND_AUDIO:
        if (sb_summary_audio_read(&audio, value->body) != SB_OK) break;
        touch_slice(audio.encoded);
        touch_slice(audio.content_type);
        break;
    case SB_VALUE_KIND_HISTO:
        touch_histogram(value->body);
        break;
    case SB_VALUE_KIND_TENSOR:
        touch_tensor(value->body);
        break;
    default:
        break;
    }
}

static inline void touch_summary(sb_slice summary) {
    sb_summary_walk values = sb_summary_over(summary);
    sb_items items = sb_items_of(summary, SB_SUMMARY_VALUE);
    sb_value value, plain;
    sb_slice item;
    sb_status status;
    while ((status = sb_summary_next(&values, &value)) == SB_OK) {
        touch_value(&value);
        TOUCH_CHECK(sb_items_next(&items, &item) == SB_OK);
        TOUCH_CHECK(sb_value_read_plain(&plain, item) == SB_OK);
        TOUCH_CHECK(plain.kind == value.kind && touch_same_slice(plain.tag, value.tag) &&
                    touch_same_slice(plain.body, value.body) &&
                    touch_same_slice(plain.metadata, value.metadata) &&
                    touch_same_slice(plain.node_name, value.node_name) &&
                    sb_float_bits(plain.simple) == sb_float_bits(value.simple));
    }
    TOUCH_CHECK(status == SB_END || status == SB_CORRUPT);
}

static inline void touch_attr(sb_slice value) {
    sb_attr_value attr;
    sb_shape_view shape;
    int64_t size;
    if (sb_attr_value_read(&attr, value) != SB_OK) return;
    touch_slice(attr.body);
    if (attr.kind == SB_ATTR_TENSOR) touch_tensor(attr.body);
    if (attr.kind != SB_ATTR_SHAPE || sb_shape_read(&shape, attr.body) != SB_OK) return;
    sb_items dims = sb_items_of(shape.message, SB_SHAPE_DIM);
    size_t rank = 0;
    while (sb_shape_next(&dims, &size) == SB_OK) rank++;
    TOUCH_CHECK(rank <= shape.rank);
}

static inline void touch_node(sb_slice item) {
    sb_node node;
    sb_attr attr;
    sb_slice input, found;
    if (sb_node_read(&node, item) != SB_OK) return;
    touch_slice(node.name);
    touch_slice(node.op);
    touch_slice(node.device);
    size_t count = 0;
    sb_items inputs = sb_items_of(node.message, SB_NODE_INPUT);
    while (sb_items_next(&inputs, &input) == SB_OK) {
        sb_node_input parsed = sb_node_input_parse(input);
        touch_slice(parsed.name);
        TOUCH_CHECK(parsed.slot >= -1);
        count++;
    }
    TOUCH_CHECK(count == node.input_count);
    sb_items attrs = sb_items_of(node.message, SB_NODE_ATTR);
    while (sb_attr_next(&attrs, &attr) == SB_OK) {
        touch_slice(attr.key);
        touch_attr(attr.value);
        TOUCH_CHECK(sb_node_find_attr(&found, &node, attr.key) == SB_OK);
    }
}

static inline void touch_function(sb_slice item) {
    sb_function function;
    sb_op_arg arg;
    sb_slice part, key, value;
    if (sb_function_read(&function, item) != SB_OK) return;
    touch_slice(function.name);
    sb_items args = sb_items_of(function.signature, SB_OP_INPUT_ARG);
    while (sb_items_next(&args, &part) == SB_OK)
        if (sb_op_arg_read(&arg, part) == SB_OK) touch_slice(arg.name);
    sb_items nodes = sb_items_of(function.message, SB_FUNCTION_NODE_DEF);
    while (sb_items_next(&nodes, &part) == SB_OK) touch_node(part);
    sb_items returns = sb_items_of(function.message, SB_FUNCTION_RET);
    while (sb_text_entry_next(&returns, &key, &value) == SB_OK) touch_slice(value);
}

static inline void touch_graph(sb_slice graph_def) {
    sb_graph_view graph;
    sb_slice item;
    if (sb_graph_read(&graph, graph_def) != SB_OK) return;
    size_t count = 0;
    sb_items nodes = sb_items_of(graph.message, SB_GRAPH_NODE);
    for (; sb_items_next(&nodes, &item) == SB_OK; count++) touch_node(item);
    TOUCH_CHECK(count == graph.node_count);
    sb_items functions = sb_items_of(graph.library, SB_LIBRARY_FUNCTION);
    while (sb_items_next(&functions, &item) == SB_OK) touch_function(item);
}

static inline void touch_node_stats(sb_slice item) {
    sb_node_stats stats;
    sb_memory_used memory;
    sb_node_output output;
    sb_slice part;
    if (sb_node_stats_read(&stats, item) != SB_OK) return;
    touch_slice(stats.name);
    touch_slice(stats.label);
    sb_items memories = sb_items_of(stats.message, SB_NODE_STATS_MEMORY);
    while (sb_items_next(&memories, &part) == SB_OK)
        if (sb_memory_used_read(&memory, part) == SB_OK) touch_slice(memory.allocator);
    sb_items outputs = sb_items_of(stats.message, SB_NODE_STATS_OUTPUT);
    while (sb_items_next(&outputs, &part) == SB_OK) {
        if (sb_node_output_read(&output, part) != SB_OK) continue;
        touch_slice(output.shape);
        touch_slice(output.allocator);
    }
}

static inline void touch_run_metadata(sb_slice run_metadata) {
    sb_run_metadata_view view;
    sb_device_stats device;
    sb_slice item;
    if (sb_run_metadata_read(&view, run_metadata) != SB_OK) return;
    sb_items devices = sb_items_of(view.step_stats, SB_STEP_STATS_DEV_STATS);
    while (sb_items_next(&devices, &item) == SB_OK) {
        if (sb_device_stats_read(&device, item) != SB_OK) continue;
        touch_slice(device.device);
        sb_items nodes = sb_items_of(device.message, SB_DEVICE_STATS_NODE_STATS);
        while (sb_items_next(&nodes, &item) == SB_OK) touch_node_stats(item);
    }
    sb_items graphs = sb_items_of(view.message, SB_RUN_METADATA_PARTITION_GRAPHS);
    while (sb_items_next(&graphs, &item) == SB_OK) touch_graph(item);
}

static inline void touch_event_body(const sb_event *event) {
    sb_session_log session;
    sb_log_message message;
    sb_tagged_run_metadata tagged;
    sb_slice graph;
    switch (event->what) {
    case SB_WHAT_SUMMARY:
        touch_summary(event->body);
        break;
    case SB_WHAT_GRAPH_DEF:
        touch_graph(event->body);
        break;
    case SB_WHAT_META_GRAPH_DEF:
        if (sb_meta_graph_graph(&graph, event->body) == SB_OK) touch_graph(graph);
        break;
    case SB_WHAT_SESSION_LOG:
        if (sb_session_log_read(&session, event->body) != SB_OK) break;
        touch_slice(session.checkpoint_path);
        touch_slice(session.message);
        break;
    case SB_WHAT_LOG_MESSAGE:
        if (sb_log_message_read(&message, event->body) == SB_OK) touch_slice(message.message);
        break;
    case SB_WHAT_TAGGED_RUN_METADATA:
        if (sb_tagged_run_metadata_read(&tagged, event->body) != SB_OK) break;
        touch_slice(tagged.tag);
        touch_run_metadata(tagged.run_metadata);
        break;
    default:
        touch_slice(event->body);
        break;
    }
}

/* An event that has a form is a lone scalar, and reads by its form as it does plainly. */
static inline void touch_form(sb_slice payload, const sb_event *event) {
    sb_form form;
    if (!sb_form_learn(&form, payload)) return;
    sb_form_point point;
    sb_value value;
    double number;
    TOUCH_CHECK(event->what == SB_WHAT_SUMMARY);
    sb_summary_walk values = sb_summary_over(event->body);
    TOUCH_CHECK(sb_summary_next(&values, &value) == SB_OK && sb_scalar_of(&value, &number, NULL));
    TOUCH_CHECK(sb_summary_next(&values, &value) == SB_END);
    if (!sb_form_read(&form, payload, &point)) return; /* a step of ten bytes */
    TOUCH_CHECK(touch_same_bits(point.wall_time, event->wall_time) && point.step == event->step &&
                touch_same_bits(point.number, number));
}

static inline void touch_event(sb_slice payload) {
    sb_event event, plain;
    sb_status status = sb_event_read(&event, payload);
    TOUCH_CHECK(status == SB_OK || status == SB_CORRUPT);
    TOUCH_CHECK(status == sb_event_read_plain(&plain, payload));
    TOUCH_CHECK(!sb_event_looks_valid(payload) || status == SB_OK);
    if (status != SB_OK) return;
    TOUCH_CHECK(touch_same_bits(event.wall_time, plain.wall_time) && event.step == plain.step &&
                event.what == plain.what && touch_same_slice(event.body, plain.body) &&
                touch_same_slice(event.source_writer, plain.source_writer));
    touch_slice(event.source_writer);
    touch_event_body(&event);
    touch_form(payload, &event);
}

static inline void touch_hparams(sb_slice content) {
    sb_experiment_view experiment;
    sb_hparam_info_view info;
    sb_metric_info_view metric;
    sb_session_start_view start;
    sb_session_end_view end;
    sb_hparam_view hparam;
    sb_slice item;
    sb_any any;
    if (sb_experiment_read(&experiment, content) == SB_OK) {
        touch_slice(experiment.name);
        sb_items infos = sb_items_of(content, SB_EXPERIMENT_HPARAM_INFOS);
        while (sb_items_next(&infos, &item) == SB_OK)
            if (sb_hparam_info_read(&info, item) == SB_OK) touch_slice(info.discrete);
        sb_items metrics = sb_items_of(content, SB_EXPERIMENT_METRIC_INFOS);
        while (sb_items_next(&metrics, &item) == SB_OK)
            if (sb_metric_info_read(&metric, item) == SB_OK) touch_slice(metric.tag);
    }
    if (sb_session_start_read(&start, content) == SB_OK) touch_slice(start.group_name);
    sb_items hparams = sb_items_of(content, SB_SESSION_START_HPARAMS);
    while (sb_hparam_next(&hparams, &hparam) == SB_OK) touch_slice(hparam.value.body);
    (void)sb_session_end_read(&end, content);
    if (sb_any_read(&any, content) == SB_OK) touch_slice(any.body);
}

static inline void touch_layout(sb_slice content) {
    sb_layout layout;
    sb_category category;
    sb_chart_view chart;
    sb_margin_series series;
    sb_slice item;
    if (sb_layout_read(&layout, content) != SB_OK) return;
    sb_items categories = sb_items_of(layout.message, SB_LAYOUT_CATEGORY);
    while (sb_items_next(&categories, &item) == SB_OK) {
        if (sb_category_read(&category, item) != SB_OK) continue;
        touch_slice(category.title);
        sb_items charts = sb_items_of(category.message, SB_CATEGORY_CHART);
        while (sb_items_next(&charts, &item) == SB_OK) {
            if (sb_chart_read(&chart, item) != SB_OK) continue;
            touch_slice(chart.title);
            sb_items parts = sb_items_of(chart.body, SB_MARGIN_SERIES);
            while (sb_items_next(&parts, &item) == SB_OK)
                if (sb_margin_series_read(&series, item) == SB_OK) touch_slice(series.value);
        }
    }
}

static inline void touch_plugin(sb_slice content) {
    sb_audio_plugin audio;
    sb_mesh_plugin mesh;
    sb_hparams_plugin hparams;
    int32_t version;
    (void)sb_plugin_version(&version, content);
    (void)sb_audio_plugin_read(&audio, content);
    if (sb_mesh_plugin_read(&mesh, content) == SB_OK) {
        touch_slice(mesh.name);
        touch_slice(mesh.json_config);
    }
    touch_hparams(content);
    if (sb_hparams_plugin_read(&hparams, content) == SB_OK) touch_hparams(hparams.body);
    touch_layout(content);
    touch_metadata(content);
}

#endif
