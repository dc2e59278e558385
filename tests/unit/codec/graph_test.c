/* graph_test.c: graphs and run metadata, against the numbers that Google's own library gives for
 * the same files. */
#include "codec/graph.h"

#include "codec/event.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "unit/codec/touch.h"
#include "base/banned.h"

#define V1 SB_FIXTURES "/tf/v1/events.out.tfevents.1794739122.vm"
#define TORCH SB_FIXTURES "/torch_writer/run/events.out.tfevents.1794739088.vm.6213.0"
#define TRACED SB_FIXTURES "/tf/v2/graph_func/events.out.tfevents.1794739122.vm.6291.2.v2"

/* A copy of the body of the n-th event of one kind; freed with fixture_free. */
typedef struct wanted {
    sb_event_what what;
    int skip;
    sb_slice body;
} wanted;

static void take_body(const char *path, sb_slice payload, void *ud) {
    (void)path;
    wanted *w = ud;
    sb_event event;
    assert_int_equal(sb_event_read(&event, payload), SB_OK);
    if (event.what != w->what || w->skip-- != 0) return;
    uint8_t *copy = malloc(event.body.n);
    assert_non_null(copy);
    memcpy(copy, event.body.p, event.body.n);
    w->body = sb_slice_of(copy, event.body.n);
}

static sb_slice body_of(const char *path, sb_event_what what, int skip) {
    wanted w = {.what = what, .skip = skip};
    fixture_records(path, take_body, &w);
    assert_non_null(w.body.p);
    return w.body;
}

typedef struct totals {
    size_t nodes, inputs, attrs;
} totals;

static totals count_nodes(const sb_graph_view *graph) {
    totals sum = {0};
    sb_items nodes = sb_items_of(graph->message, SB_GRAPH_NODE);
    sb_slice item;
    sb_node node;
    while (sb_items_next(&nodes, &item) == SB_OK) {
        assert_int_equal(sb_node_read(&node, item), SB_OK);
        assert_true(node.name.n > 0 && node.op.n > 0);
        sum.nodes++;
        sum.inputs += node.input_count;
        sum.attrs += node.attr_count;
    }
    return sum;
}

static void graphs_of_the_fixtures_are_whole(void **state) {
    (void)state;
    static const struct {
        const char *path;
        size_t nodes, inputs, attrs;
        int32_t producer;
    } cases[] = {{V1, 95, 126, 288, 2474}, {TORCH, 23, 36, 30, 22}};
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_slice body = body_of(cases[i].path, SB_WHAT_GRAPH_DEF, 0);
        sb_graph_view graph;
        assert_int_equal(sb_graph_read(&graph, body), SB_OK);
        assert_int_equal(graph.node_count, cases[i].nodes);
        assert_int_equal(graph.producer, cases[i].producer);
        totals sum = count_nodes(&graph);
        assert_int_equal(sum.nodes, cases[i].nodes);
        assert_int_equal(sum.inputs, cases[i].inputs);
        assert_int_equal(sum.attrs, cases[i].attrs);
        fixture_free(body);
    }
}

static void a_meta_graph_holds_its_graph(void **state) {
    (void)state;
    sb_slice body = body_of(V1, SB_WHAT_META_GRAPH_DEF, 0), graph_def;
    sb_graph_view graph;
    assert_int_equal(sb_meta_graph_graph(&graph_def, body), SB_OK);
    assert_int_equal(sb_graph_read(&graph, graph_def), SB_OK);
    assert_int_equal(graph.node_count, 95);
    fixture_free(body);
    assert_int_equal(sb_meta_graph_graph(&graph_def, SB_LIT("\x08\x01")), SB_OK);
    assert_int_equal(graph_def.n, 0);
    assert_int_equal(sb_meta_graph_graph(&graph_def, SB_LIT("\x12\x05")), SB_CORRUPT);
}

static sb_node find_node(sb_slice graph_def, const char *name) {
    sb_items nodes = sb_items_of(graph_def, SB_GRAPH_NODE);
    sb_slice item;
    sb_node node = {0};
    while (sb_items_next(&nodes, &item) == SB_OK) {
        assert_int_equal(sb_node_read(&node, item), SB_OK);
        if (sb_slice_eq(node.name, sb_slice_str(name))) return node;
    }
    fail_msg("no node %s", name);
    return node;
}

static void a_node_tells_inputs_and_attributes(void **state) {
    (void)state;
    sb_slice body = body_of(V1, SB_WHAT_GRAPH_DEF, 0), item, value;
    sb_node node = find_node(body, "hidden1/MatMul");
    assert_slice_is(node.op, "MatMul");
    assert_int_equal(node.device.n, 0);
    assert_int_equal(node.attr_count, 6);
    sb_items inputs = sb_items_of(node.message, SB_NODE_INPUT);
    assert_int_equal(sb_items_next(&inputs, &item), SB_OK);
    assert_slice_is(item, "hidden1/x");
    assert_int_equal(sb_items_next(&inputs, &item), SB_OK);
    assert_slice_is(item, "hidden1/MatMul/ReadVariableOp");
    assert_int_equal(sb_items_next(&inputs, &item), SB_END);
    sb_attr_value attr;
    assert_int_equal(sb_node_find_attr(&value, &node, SB_LIT("T")), SB_OK);
    assert_int_equal(sb_attr_value_read(&attr, value), SB_OK);
    assert_int_equal(attr.kind, SB_ATTR_TYPE);
    assert_int_equal(attr.i, SB_FLOAT);
    assert_int_equal(sb_node_find_attr(&value, &node, SB_LIT("nothing")), SB_NOT_FOUND);

    node = find_node(body, "hidden1/x");
    assert_int_equal(sb_node_find_attr(&value, &node, SB_LIT("shape")), SB_OK);
    assert_int_equal(sb_attr_value_read(&attr, value), SB_OK);
    assert_int_equal(attr.kind, SB_ATTR_SHAPE);
    sb_shape_view shape;
    int64_t size;
    assert_int_equal(sb_shape_read(&shape, attr.body), SB_OK);
    assert_int_equal(shape.rank, 2);
    assert_false(shape.unknown_rank);
    sb_items dims = sb_items_of(shape.message, SB_SHAPE_DIM);
    assert_int_equal(sb_shape_next(&dims, &size), SB_OK);
    assert_int_equal(size, -1);
    assert_int_equal(sb_shape_next(&dims, &size), SB_OK);
    assert_int_equal(size, 16);
    assert_int_equal(sb_shape_next(&dims, &size), SB_END);
    fixture_free(body);
}

static void inputs_are_taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        int64_t slot;
        bool control;
    } cases[] = {
        {"a", "a", 0, false},       {"a/b:3", "a/b", 3, false}, {"^a/b", "a/b", -1, true},
        {"n:out:1", "n", 1, false}, {"", "", 0, false},         {"^", "", -1, true},
        {"a:", "a", 0, false},      {"a:x", "a", 0, false},     {"a:99999999999", "a", 0, false},
        {":1", "", 1, false},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_node_input input = sb_node_input_parse(sb_slice_str(cases[i].text));
        assert_slice_is(input.name, cases[i].name);
        assert_int_equal(input.slot, cases[i].slot);
        assert_int_equal(input.control, cases[i].control);
    }
}

static void attributes_of_each_kind_are_read(void **state) {
    (void)state;
    uint8_t room[64];
    static const struct {
        const char *hex;
        sb_attr_kind kind;
        int64_t i;
        float f;
        size_t body;
    } cases[] = {
        {"0a02 1800", SB_ATTR_LIST, 0, 0, 2},
        {"1203 616263", SB_ATTR_STRING, 0, 0, 3},
        {"1807", SB_ATTR_INT, 7, 0, 0},
        {"25 0000003f", SB_ATTR_FLOAT, 0, 0.5f, 0},
        {"2801", SB_ATTR_BOOL, 1, 0, 0},
        {"3003", SB_ATTR_TYPE, 3, 0, 0},
        {"3a00", SB_ATTR_SHAPE, 0, 0, 0},
        {"4202 0801", SB_ATTR_TENSOR, 0, 0, 2},
        {"4a01 78", SB_ATTR_PLACEHOLDER, 0, 0, 1},
        {"5203 0a0166", SB_ATTR_FUNC, 0, 0, 3},
        {"", SB_ATTR_NONE, 0, 0, 0},
        {"1807 2801", SB_ATTR_BOOL, 1, 0, 0},
        {"1d 00000000 2801", SB_ATTR_BOOL, 1, 0, 0},
        {"18ffffffffffffffffff01", SB_ATTR_INT, -1, 0, 0},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_attr_value attr;
        sb_slice value = sb_test_bytes(room, sizeof room, cases[i].hex);
        assert_int_equal(sb_attr_value_read(&attr, value), SB_OK);
        assert_int_equal(attr.kind, cases[i].kind);
        assert_int_equal(attr.i, cases[i].i);
        assert_true(attr.f == cases[i].f);
        assert_int_equal(attr.body.n, cases[i].body);
    }
}

static void functions_tell_signature_nodes_and_returns(void **state) {
    (void)state;
    uint8_t room[256];
    /* signature {name "f", input_arg {name "x", type float}}, one node, ret {"y": "n:out:0"} */
    sb_slice function_def = sb_test_bytes(
        room, sizeof room,
        "0a0a 0a0166 1205 0a0178 1801 1a06 0a016e 120141 220c 0a0179 1207 6e3a6f75743a30");
    sb_function function;
    sb_op_arg arg;
    sb_slice item, key, value;
    assert_int_equal(sb_function_read(&function, function_def), SB_OK);
    assert_slice_is(function.name, "f");
    assert_int_equal(function.node_count, 1);
    sb_items args = sb_items_of(function.signature, SB_OP_INPUT_ARG);
    assert_int_equal(sb_items_next(&args, &item), SB_OK);
    assert_int_equal(sb_op_arg_read(&arg, item), SB_OK);
    assert_slice_is(arg.name, "x");
    assert_int_equal(arg.type, SB_FLOAT);
    sb_items returns = sb_items_of(function.message, SB_FUNCTION_RET);
    assert_int_equal(sb_text_entry_next(&returns, &key, &value), SB_OK);
    assert_slice_is(key, "y");
    assert_slice_is(value, "n:out:0");
    assert_int_equal(sb_text_entry_next(&returns, &key, &value), SB_END);
    hostile_cuts(function_def, touch_function);
    hostile_flips(function_def, touch_function);
}

/* ---- run metadata ---------------------------------------------------------------------------- */

typedef struct stats_totals {
    size_t nodes, outputs;
    int64_t micros, nanos, memory, requested;
} stats_totals;

static void add_node_stats(stats_totals *sum, sb_slice item) {
    sb_node_stats stats;
    sb_memory_used memory;
    sb_node_output output;
    sb_slice part;
    assert_int_equal(sb_node_stats_read(&stats, item), SB_OK);
    if (sum->nodes++ == 5) {
        assert_slice_is(stats.name, "gradients/loss/Mean_grad/GatherV2/axis");
        assert_slice_is(stats.label, "gradients/loss/Mean_grad/GatherV2/axis = Const()");
    }
    sum->micros += stats.all_end_rel_micros;
    sum->nanos += stats.all_end_rel_nanos;
    sb_items memories = sb_items_of(stats.message, SB_NODE_STATS_MEMORY);
    while (sb_items_next(&memories, &part) == SB_OK) {
        assert_int_equal(sb_memory_used_read(&memory, part), SB_OK);
        sum->memory += memory.total_bytes;
    }
    sb_items outputs = sb_items_of(stats.message, SB_NODE_STATS_OUTPUT);
    while (sb_items_next(&outputs, &part) == SB_OK) {
        assert_int_equal(sb_node_output_read(&output, part), SB_OK);
        sum->requested += output.requested_bytes;
        sum->outputs++;
    }
}

static void step_stats_add_up(void **state) {
    (void)state;
    sb_slice body = body_of(V1, SB_WHAT_TAGGED_RUN_METADATA, 0), item;
    sb_tagged_run_metadata tagged;
    sb_run_metadata_view view;
    sb_device_stats device;
    assert_int_equal(sb_tagged_run_metadata_read(&tagged, body), SB_OK);
    assert_slice_is(tagged.tag, "step 3");
    assert_int_equal(sb_run_metadata_read(&view, tagged.run_metadata), SB_OK);
    sb_items devices = sb_items_of(view.step_stats, SB_STEP_STATS_DEV_STATS);
    assert_int_equal(sb_items_next(&devices, &item), SB_OK);
    assert_int_equal(sb_device_stats_read(&device, item), SB_OK);
    assert_slice_is(device.device, "/job:localhost/replica:0/task:0/device:CPU:0");
    assert_int_equal(device.node_count, 44);
    stats_totals sum = {0};
    sb_items nodes = sb_items_of(device.message, SB_DEVICE_STATS_NODE_STATS);
    while (sb_items_next(&nodes, &item) == SB_OK) add_node_stats(&sum, item);
    assert_int_equal(sum.nodes, 44);
    assert_int_equal(sum.micros, 126);
    assert_int_equal(sum.nanos, 124746);
    assert_int_equal(sum.memory, 1652);
    assert_int_equal(sum.requested, 4168);
    assert_int_equal(sum.outputs, 40);
    fixture_free(body);
}

static void traced_functions_have_their_graphs(void **state) {
    (void)state;
    static const size_t want[] = {3, 4, 7};
    sb_slice body = body_of(TRACED, SB_WHAT_SUMMARY, 0), item;
    sb_summary_walk values = sb_summary_over(body);
    sb_value value;
    sb_tensor_view tensor;
    sb_run_metadata_view view;
    sb_graph_view graph;
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_int_equal(sb_tensor_read(&tensor, value.body), SB_OK);
    sb_strings strings = sb_tensor_strings(&tensor);
    assert_true(sb_strings_next(&strings, &item));
    assert_int_equal(sb_run_metadata_read(&view, item), SB_OK);
    sb_items graphs = sb_items_of(view.message, SB_RUN_METADATA_PARTITION_GRAPHS);
    for (size_t i = 0; i < SB_COUNT(want); i++) {
        assert_int_equal(sb_items_next(&graphs, &item), SB_OK);
        assert_int_equal(sb_graph_read(&graph, item), SB_OK);
        assert_int_equal(graph.node_count, want[i]);
    }
    assert_int_equal(sb_items_next(&graphs, &item), SB_END);
    fixture_free(body);
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void touch_all(sb_slice input) {
    touch_graph(input);
    touch_node(input);
    touch_function(input);
    touch_run_metadata(input);
    touch_node_stats(input);
    touch_attr(input);
}

static void damaged_graphs_are_survived(void **state) {
    (void)state;
    sb_slice body = body_of(TORCH, SB_WHAT_GRAPH_DEF, 0);
    touch_graph(body);
    hostile_cuts(body, touch_graph);
    fixture_free(body);
    body = body_of(V1, SB_WHAT_GRAPH_DEF, 0);
    sb_node node = find_node(body, "hidden1/MatMul");
    hostile_cuts(node.message, touch_node);
    hostile_flips(node.message, touch_node);
    fixture_free(body);
    hostile_noise(6, 20000, touch_all);
}

static void damaged_step_stats_are_survived(void **state) {
    (void)state;
    sb_slice body = body_of(V1, SB_WHAT_TAGGED_RUN_METADATA, 0), item;
    sb_tagged_run_metadata tagged;
    sb_run_metadata_view view;
    assert_int_equal(sb_tagged_run_metadata_read(&tagged, body), SB_OK);
    touch_run_metadata(tagged.run_metadata);
    assert_int_equal(sb_run_metadata_read(&view, tagged.run_metadata), SB_OK);
    sb_items devices = sb_items_of(view.step_stats, SB_STEP_STATS_DEV_STATS);
    assert_int_equal(sb_items_next(&devices, &item), SB_OK);
    sb_items nodes = sb_items_of(item, SB_DEVICE_STATS_NODE_STATS);
    assert_int_equal(sb_items_next(&nodes, &item), SB_OK);
    hostile_cuts(item, touch_node_stats);
    hostile_flips(item, touch_node_stats);
    fixture_free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_of_the_fixtures_are_whole),
        cmocka_unit_test(a_meta_graph_holds_its_graph),
        cmocka_unit_test(a_node_tells_inputs_and_attributes),
        cmocka_unit_test(inputs_are_taken_apart),
        cmocka_unit_test(attributes_of_each_kind_are_read),
        cmocka_unit_test(functions_tell_signature_nodes_and_returns),
        cmocka_unit_test(step_stats_add_up),
        cmocka_unit_test(traced_functions_have_their_graphs),
        cmocka_unit_test(damaged_graphs_are_survived),
        cmocka_unit_test(damaged_step_stats_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
