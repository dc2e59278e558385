/* model_test.c: scopes, series, functions, edges, parameters, statistics, differences, and what odd
 * and damaged graphs do. */
#include "graph/model/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/proto/proto.h"
#include "graph/model/walk.h"
#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "unit/graph/model_bed.h"
#include "base/banned.h"

#define NODE(name, op, rest) "node { name: '" name "' op: '" op "' " rest " }\n"

static const sb_box *box_of(const model_bed *bed, const char *name) {
    return &bed->m->boxes[bed_box(bed, name)];
}

static void names_become_scopes_and_an_operation_that_is_a_scope_too_stands_in_it(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NODE("x", "Placeholder", "") NODE("layer/w", "VarHandleOp", "")
                       NODE("layer/mm", "MatMul", "input: 'x' input: 'layer/w'")
                           NODE("layer", "Relu", "input: 'layer/mm'")
                               NODE("out", "Identity", "input: 'layer'"));
    assert_int_equal(bed.m->boxes[SB_BOX_ROOT].child_count, 3);
    assert_int_equal(box_of(&bed, "layer")->kind, SB_BOX_SCOPE);
    const sb_box *relu = box_of(&bed, "layer/(layer)");
    assert_int_equal(relu->kind, SB_BOX_OP);
    assert_int_equal(relu->parent, bed_box(&bed, "layer"));
    assert_int_equal(bed.m->edges[relu->first_in].from, bed_box(&bed, "layer/mm"));
    /* an input that names the scope means the operation */
    assert_int_equal(bed.m->edges[box_of(&bed, "out")->first_in].from,
                     bed_box(&bed, "layer/(layer)"));
    assert_int_equal(box_of(&bed, "layer")->ops, 3);
    assert_int_equal(bed.m->op_count, 5);
    bed_close(&bed);
}

static void inputs_tell_slots_and_control(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NODE("a", "Split", "") NODE("b", "NoOp", "")
                       NODE("c", "Add", "input: 'a:1' input: 'a' input: '^b'"));
    const sb_box *c = box_of(&bed, "c");
    assert_int_equal(c->in_count, 3);
    const sb_edge *e = &bed.m->edges[c->first_in];
    assert_int_equal(e[0].slot, 1);
    assert_int_equal(e[1].slot, 0);
    assert_int_equal(e[2].slot, -1);
    assert_int_equal(e[2].flags, SB_EDGE_CONTROL);
    assert_int_equal(e[2].from, bed_box(&bed, "b"));
    assert_int_equal(box_of(&bed, "a")->out_count, 2);
    bed_close(&bed);
}

static void five_alike_are_a_series_and_four_are_not(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed,
             NODE("a/add", "Add", "") NODE("a/add_1", "Add", "") NODE("a/add_2", "Add", "")
                 NODE("a/add_3", "Add", "") NODE("a/add_4", "Add", "") NODE("a/add_5", "Add", "")
                     NODE("a/mul_1", "Mul", "") NODE("a/mul_2", "Mul", "")
                         NODE("a/mul_3", "Mul", "") NODE("a/mul_4", "Mul", "")
                             NODE("a/add_7", "Add", "") NODE("a/add_6", "Sub", ""));
    const sb_box *series = box_of(&bed, "a/add_[1-5]");
    assert_int_equal(series->kind, SB_BOX_SERIES);
    assert_int_equal(series->child_count, 5);
    assert_int_equal(series->ops, 5);
    assert_int_equal(box_of(&bed, "a/add_3")->parent, bed_box(&bed, "a/add_[1-5]"));
    assert_int_equal(box_of(&bed, "a/mul_1")->parent, bed_box(&bed, "a"));
    assert_int_equal(box_of(&bed, "a/add_7")->parent, bed_box(&bed, "a"));
    assert_int_equal(box_of(&bed, "a/add")->parent, bed_box(&bed, "a"));
    assert_int_equal(box_of(&bed, "a")->child_count, 1 + 1 + 4 + 2);
    bed_close(&bed);
}

static sb_buf blocks(const char *prefix, const char *suffix, int n, int odd_one) {
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 16 << 20);
    sb_buf_add_str(&text, NODE("x", "Placeholder", ""));
    for (int i = 0; i < n; i++) {
        char name[64], before[64];
        snprintf(name, sizeof name, "%s%d%s", prefix, i, suffix);
        snprintf(before, sizeof before, "%s%d%s", prefix, i - 1, suffix);
        sb_buf_printf(&text,
                      "node { name: '%s/w' op: 'VarHandleOp' attr { key: 'dtype' value { type: "
                      "DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: 8 } dim { "
                      "size: 8 } } } } }\n",
                      name);
        sb_buf_printf(&text, "node { name: '%s/mm' op: 'MatMul' input: '%s%s' input: '%s/w' }\n",
                      name, i ? before : "x", i ? "/act" : "", name);
        sb_buf_printf(&text, "node { name: '%s/act' op: '%s' input: '%s/mm' }\n", name,
                      i == odd_one ? "Tanh" : "Relu", name);
    }
    sb_buf_add_byte(&text, 0);
    return text;
}

static void equal_blocks_are_folded_whatever_way_they_are_numbered(void **state) {
    (void)state;
    static const char *const patterns[][3] = {{"net/layer_", "", "net/layer[0-5]"},
                                              {"net/Block[", "]", "net/Block[[0-5]]"},
                                              {"net/h.", "", "net/h.[0-5]"},
                                              {"net/conv", "", "net/conv[0-5]"}};
    for (size_t i = 0; i < SB_COUNT(patterns); i++) {
        sb_buf text = blocks(patterns[i][0], patterns[i][1], 6, -1);
        model_bed bed;
        bed_open(&bed, (const char *)text.p);
        const sb_box *series = box_of(&bed, patterns[i][2]);
        assert_int_equal(series->kind, SB_BOX_SERIES);
        assert_int_equal(series->child_count, 6);
        assert_int_equal(series->params, 6 * 64);
        bed_close(&bed);
        sb_buf_fini(&text);
    }
}

static void a_block_of_another_structure_is_not_folded_and_has_another_colour(void **state) {
    (void)state;
    sb_buf text = blocks("net/layer_", "", 12, 5);
    model_bed bed;
    bed_open(&bed, (const char *)text.p);
    assert_int_equal(box_of(&bed, "net/layer[0-4]")->child_count, 5);
    assert_int_equal(box_of(&bed, "net/layer[6-11]")->child_count, 6);
    assert_int_equal(box_of(&bed, "net/layer_5")->parent, bed_box(&bed, "net"));
    assert_true(box_of(&bed, "net/layer_1")->structure == box_of(&bed, "net/layer_7")->structure);
    assert_true(box_of(&bed, "net/layer_1")->structure != box_of(&bed, "net/layer_5")->structure);
    assert_int_equal(box_of(&bed, "net")->params, 12 * 64);
    bed_close(&bed);
    sb_buf_fini(&text);
}

#define CALLS                                                                                      \
    NODE("x", "Placeholder", "")                                                                   \
    NODE("call", "StatefulPartitionedCall",                                                        \
         "input: 'x' attr { key: 'f' value { func { name: 'f' } "                                  \
         "} }")                                                                                    \
    NODE("y", "Identity", "input: 'call:0'")                                                       \
    "library { function { signature { name: 'f' input_arg { name: 'a' } output_arg { name: 'r' } " \
    "} node_def { name: 'sq' op: 'Square' input: 'a' } ret { key: 'r' value: 'sq:y:0' } } }"

static void a_call_holds_the_body_of_its_function_and_edges_go_through(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, CALLS);
    assert_int_equal(box_of(&bed, "call")->kind, SB_BOX_CALL);
    assert_int_equal(box_of(&bed, "call")->child_count, 3);
    const sb_box *arg = box_of(&bed, "call/a"), *ret = box_of(&bed, "call/r_RetVal");
    assert_int_equal(bed.m->edges[arg->first_in].from, bed_box(&bed, "x"));
    assert_int_equal(bed.m->edges[ret->first_in].from, bed_box(&bed, "call/sq"));
    assert_int_equal(bed.m->edges[box_of(&bed, "y")->first_in].from,
                     bed_box(&bed, "call/r_RetVal"));
    assert_int_equal(bed.m->op_count, 3);
    bed_close(&bed);
}

static void
a_function_that_calls_itself_is_copied_once_and_one_that_nobody_calls_is_there(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NODE("c", "f",
                        "") "library { function { signature { name: 'f' } node_def { name: "
                            "'again' op: 'f' } node_def { name: 'n' op: 'NoOp' } } function { "
                            "signature { name: 'lonely' } node_def { name: 'z' op: 'Neg' } } }");
    assert_int_equal(box_of(&bed, "c/again")->kind, SB_BOX_OP);
    assert_int_equal(bed.m->odds[SB_ODD_RECURSION].n, 1);
    assert_slice_is(bed.m->odds[SB_ODD_RECURSION].examples[0], "c/again");
    assert_int_equal(box_of(&bed, "functions/lonely/z")->kind, SB_BOX_OP);
    bed_close(&bed);
}

static void odd_things_are_listed_and_the_rest_is_there(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NODE("a", "Add", "input: 'b' input: 'nowhere'") NODE("b", "Add", "input: 'a'")
                       NODE("a", "Sub", "") NODE("", "Mul", ""));
    assert_int_equal(bed.m->odds[SB_ODD_DANGLING].n, 1);
    assert_slice_is(bed.m->odds[SB_ODD_DANGLING].examples[0], "nowhere");
    assert_int_equal(bed.m->odds[SB_ODD_CYCLE].n, 1);
    assert_int_equal(bed.m->odds[SB_ODD_DUPLICATE].n, 1);
    assert_int_equal(bed.m->odds[SB_ODD_UNNAMED].n, 1);
    assert_int_equal(bed.m->boxes[SB_BOX_ROOT].child_count, 4);
    bed_box(&bed, "a (2)");
    bed_close(&bed);
}

static void large_attributes_are_left_out_and_shapes_are_kept(void **state) {
    (void)state;
    char text[8000];
    char large[3000];
    memset(large, 'z', sizeof large);
    snprintf(text, sizeof text,
             "node { name: 'c' op: 'Const' attr { key: 'value' value { s: '%.*s' } } attr { key: "
             "'_output_shapes' value { list { shape { dim { size: 3 } dim { size: -1 } } } } } }",
             2900, large);
    model_bed bed;
    bed_open(&bed, text);
    assert_int_equal(bed.m->odds[SB_ODD_LARGE].n, 1);
    assert_true(box_of(&bed, "c")->attrs.n < 300);
    sb_buf shape;
    sb_buf_init(&shape, &sb_alloc_libc, 1000);
    sb_model_shape(bed.m, bed_box(&bed, "c"), 0, &shape);
    assert_slice_is(sb_buf_slice(&shape), "3 × ?");
    sb_buf_fini(&shape);
    bed_close(&bed);
}

static void parameters_of_torch_follow_from_shapes_or_are_counted_as_unsized(void **state) {
    (void)state;
#define SHAPE(a, b)                                                                                \
    "attr { key: '_output_shapes' value { list { shape { dim { size: " #a " } dim { size: " #b     \
    " } } } } }"
    model_bed bed;
    bed_open(&bed, NODE("input/x", "IO Node", SHAPE(2, 144)) NODE("Net/w", "prim::GetAttr",
                                                                  "input: 'Net/weight/f'")
                       NODE("Net/b", "prim::GetAttr", "input: 'Net/weight/f'")
                           NODE("Net/k", "prim::GetAttr", "")
                               NODE("Net/y", "aten::linear",
                                    "input: 'input/x' input: 'Net/w' input: 'Net/b' " SHAPE(2, 3))
                                   NODE("Net/z", "aten::embedding", "input: 'Net/k'"));
    assert_int_equal(box_of(&bed, "Net")->params, 144 * 3 + 3);
    assert_int_equal(box_of(&bed, "Net")->unsized, 1);
    assert_int_equal(bed.m->odds[SB_ODD_DANGLING].n, 0);
    assert_true(box_of(&bed, "input/x")->is_input);
    bed_close(&bed);
}

#define FETCH "attr { key: 'attr' value { s: '{ name : weight}' } }"
#define NUMBER(n) "attr { key: 'attr' value { s: '{ value : " #n "}' } }"
#define SHAPE4(a, b, c, d)                                                                         \
    "attr { key: '_output_shapes' value { list { shape { dim { size: " #a " } dim { size: " #b     \
    " } dim { size: " #c " } dim { size: " #d " } } } } }"

static void a_torch_parameter_that_is_fetched_twice_counts_once(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed,
             NODE("x", "IO Node", SHAPE(2, 8)) NODE("Net/w/1", "prim::GetAttr",
                                                    FETCH) NODE("Net/w/2", "prim::GetAttr", FETCH)
                 NODE("Net/y", "aten::linear", "input: 'x' input: 'Net/w/1' " SHAPE(2, 8))
                     NODE("Net/z", "aten::linear", "input: 'Net/y' input: 'Net/w/2' " SHAPE(2, 8)));
    assert_int_equal(box_of(&bed, "Net")->params, 8 * 8);
    assert_int_equal(box_of(&bed, "Net")->unsized, 0);
    bed_close(&bed);
}

/* A convolution with a kernel of 3 or 4, by its stride. */
static void assert_kernel(const char *stride, uint64_t params, uint32_t unsized) {
    static const char graph[] = NODE("x", "IO Node", SHAPE4(1, 3, 9, 9))
        NODE("s", "prim::Constant", "attr { key: 'attr' value { s: '{ value : %s}' } }")
            NODE("p", "prim::Constant", NUMBER(0)) NODE("d", "prim::Constant", NUMBER(1)) NODE(
                "S", "prim::ListConstruct",
                "input: 's' input: 's'") NODE("P", "prim::ListConstruct", "input: 'p' input: 'p'")
                NODE("D", "prim::ListConstruct", "input: 'd' input: 'd'")
                    NODE("w", "prim::GetAttr", FETCH)
                        NODE("y", "aten::_convolution",
                             "input: 'x' input: 'w' input: 'none' input: 'S' input: 'P' input: 'D' "
                             "input: 'p' input: 'P' input: 'd' %s");
    char text[4096];
    bool is_one = stride[0] == '1';
    snprintf(text, sizeof text, graph, stride, is_one ? SHAPE4(1, 5, 7, 7) : SHAPE4(1, 5, 4, 4));
    model_bed bed;
    bed_open(&bed, text);
    assert_int_equal(box_of(&bed, "")->params, params);
    assert_int_equal(box_of(&bed, "")->unsized, unsized);
    bed_close(&bed);
}

static void a_torch_kernel_is_counted_when_only_one_size_fits(void **state) {
    (void)state;
    assert_kernel("1", 5 * 3 * 3 * 3, 0);
    assert_kernel("2", 0, 1); /* 2 or 3 */
}

static void variables_are_counted_without_what_an_optimiser_keeps(void **state) {
    (void)state;
#define VARIABLE                                                                                   \
    "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { "    \
    "size: 6 } } } }"
    model_bed bed;
    bed_open(&bed,
             NODE("a/kernel", "VarHandleOp", VARIABLE)
                 NODE("a/kernel/Adam", "VarHandleOp", VARIABLE)
                     NODE("a/kernel/Adam_1", "VarHandleOp", VARIABLE)
                         NODE("a/kernel/Adam/Assign", "AssignVariableOp", "input: 'a/kernel/Adam'")
                             NODE("beta1_power", "VariableV2", VARIABLE)
                                 NODE("step", "VarHandleOp",
                                      "attr { key: 'dtype' value { type: DT_INT64 } } attr { key: "
                                      "'shape' value { shape { } } }"));
    assert_int_equal(box_of(&bed, "")->params, 6);
    assert_int_equal(box_of(&bed, "")->unsized, 0);
    bed_close(&bed);
}

static void statistics_are_summed_over_scopes(void **state) {
    (void)state;
    sb_err err;
    sb_buf graph = bed_encode(SB_MSG_GRAPH,
                              NODE("a/x", "Add", "") NODE("a/y", "Mul", "") NODE("a", "Neg", ""));
    sb_buf stats = bed_encode(
        SB_MSG_RUN_METADATA,
        "step_stats { dev_stats { device: '/cpu:0' node_stats { node_name: 'a/x' "
        "all_end_rel_micros: 7 memory { total_bytes: 100 } } node_stats { node_name: 'a' "
        "all_end_rel_micros: 5 } node_stats { node_name: 'elsewhere' all_end_rel_micros: 900 } } "
        "dev_stats { device: '/gpu:0/stream:1' node_stats { node_name: 'a/y' all_end_rel_micros: "
        "50 } } }");
    sb_model_ask ask = {
        .alloc = &sb_alloc_libc, .graph = sb_buf_slice(&graph), .metadata = sb_buf_slice(&stats)};
    model_bed bed = {.bytes = graph};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_true(bed.m->has_stats);
    assert_true(box_of(&bed, "a")->time == 12);
    assert_true(box_of(&bed, "a/x")->bytes == 100);
    assert_false(box_of(&bed, "a/y")->has_stats);
    assert_slice_is(sb_model_text(bed.m, box_of(&bed, "a/x")->device), "/cpu:0");
    sb_buf_fini(&stats);
    bed_close(&bed);
}

static void a_difference_tells_what_was_added_removed_and_changed(void **state) {
    (void)state;
    sb_err err;
    sb_buf one =
        bed_encode(SB_MSG_GRAPH, NODE("x", "Placeholder", "") NODE("s/a", "Relu", "input: 'x'")
                                     NODE("old/b", "Neg", "input: 's/a'"));
    sb_buf two =
        bed_encode(SB_MSG_GRAPH, NODE("x", "Placeholder", "") NODE("s/a", "Tanh", "input: 'x'")
                                     NODE("new/c", "Neg", "input: 's/a'"));
    sb_model_ask ask = {
        .alloc = &sb_alloc_libc, .graph = sb_buf_slice(&one), .other = sb_buf_slice(&two)};
    model_bed bed = {.bytes = one};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_int_equal(box_of(&bed, "x")->side, SB_SIDE_SAME);
    assert_int_equal(box_of(&bed, "s/a")->side, SB_SIDE_CHANGED);
    assert_int_equal(box_of(&bed, "s")->side, SB_SIDE_CHANGED);
    assert_int_equal(box_of(&bed, "old")->side, SB_SIDE_REMOVED);
    assert_int_equal(box_of(&bed, "new/c")->side, SB_SIDE_ADDED);
    assert_int_equal(bed.m->edges[box_of(&bed, "new/c")->first_in].from, bed_box(&bed, "s/a"));
    sb_buf_fini(&two);
    bed_close(&bed);
}

#define LAYER(name, class, more)                                                                   \
    "node { name: '" name "' " more " attr { key: 'keras_class' value { s: '" class "' } } } "

static void layers_of_keras_are_matched_though_their_counters_differ(void **state) {
    (void)state;
    sb_err err;
    sb_buf one = bed_encode(SB_MSG_GRAPH,
                            LAYER("net/dense", "Dense", "")
                                LAYER("net/dense_1", "Dense", "input: 'net/dense'")
                                    LAYER("net/drop_1", "Dropout", "input: 'net/dense_1'")
                                        LAYER("net/head_3", "Dense", "input: 'net/drop_1'")
                                            LAYER("net/head_7", "Dense", "input: 'net/drop_1'"));
    sb_buf two = bed_encode(SB_MSG_GRAPH,
                            LAYER("net_1/dense_1", "Dense", "") LAYER("net_1/dense_2", "Dense",
                                                                      "input: 'net_1/dense_1'")
                                LAYER("net_1/dense_3", "Dense", "input: 'net_1/dense_2'")
                                    LAYER("net_1/drop_2", "Dropout", "input: 'net_1/dense_3'")
                                        LAYER("net_1/head_7", "Dense", "input: 'net_1/drop_2'"));
    sb_model_ask ask = {
        .alloc = &sb_alloc_libc, .graph = sb_buf_slice(&one), .other = sb_buf_slice(&two)};
    model_bed bed = {.bytes = one};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_int_equal(bed.m->boxes[SB_BOX_ROOT].child_count, 1);
    assert_int_equal(box_of(&bed, "net/dense")->side, SB_SIDE_SAME);
    assert_int_equal(box_of(&bed, "net/dense_1")->side, SB_SIDE_SAME);
    assert_int_equal(box_of(&bed, "net/dense_2")->side, SB_SIDE_ADDED);
    assert_int_equal(box_of(&bed, "net/drop_1")->side, SB_SIDE_CHANGED); /* fed by dense_2 */
    /* these numbers have a gap: a person gave them */
    assert_int_equal(box_of(&bed, "net/head_3")->side, SB_SIDE_REMOVED);
    assert_int_equal(box_of(&bed, "net/head_7")->side, SB_SIDE_SAME);
    assert_int_equal(bed.m->renamed_count, 6);
    const sb_renamed *scope = &bed.m->renamed[0], *added = &bed.m->renamed[3];
    assert_slice_is(scope->name, "net");
    assert_slice_is(scope->other, "net_1");
    assert_true(scope->is_matched);
    assert_slice_is(added->other, "net_1/dense_3");
    assert_false(added->is_matched);
    sb_buf_fini(&two);
    bed_close(&bed);
}

static void nodes_of_other_frameworks_are_compared_by_their_names_alone(void **state) {
    (void)state;
    sb_err err;
    sb_buf one = bed_encode(SB_MSG_GRAPH, NODE("dense", "Relu", ""));
    sb_buf two = bed_encode(SB_MSG_GRAPH, NODE("dense_1", "Relu", ""));
    sb_model_ask ask = {
        .alloc = &sb_alloc_libc, .graph = sb_buf_slice(&one), .other = sb_buf_slice(&two)};
    model_bed bed = {.bytes = one};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_int_equal(box_of(&bed, "dense")->side, SB_SIDE_REMOVED);
    assert_int_equal(box_of(&bed, "dense_1")->side, SB_SIDE_ADDED);
    assert_int_equal(bed.m->renamed_count, 0);
    sb_buf_fini(&two);
    bed_close(&bed);
}

static void walks_find_what_feeds_a_box_and_the_way_between_two(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed,
             NODE("x", "Placeholder", "") NODE("w", "VarHandleOp", "")
                 NODE("a/m", "MatMul", "input: 'x' input: 'w'") NODE("a/r", "Relu", "input: 'a/m'")
                     NODE("b", "Neg", "input: 'a/r'") NODE("alone", "NoOp", ""));
    uint8_t *marked = sb_arena_zeroed(&bed.arena, bed.m->box_count, 1);
    uint32_t n;
    assert_true(sb_walk_inputs(bed.m, bed_box(&bed, "a"), marked, &n, &bed.arena));
    assert_int_equal(n, 4);
    assert_false(marked[bed_box(&bed, "b")]);
    sb_way way;
    assert_true(sb_walk_way(&way, bed.m, bed_box(&bed, "w"), bed_box(&bed, "b"), &bed.arena));
    assert_int_equal(way.n, 4);
    assert_false(way.is_back);
    assert_int_equal(way.boxes[1], bed_box(&bed, "a/m"));
    assert_true(sb_walk_way(&way, bed.m, bed_box(&bed, "b"), bed_box(&bed, "x"), &bed.arena));
    assert_true(way.is_back);
    assert_true(sb_walk_way(&way, bed.m, bed_box(&bed, "w"), bed_box(&bed, "x"), &bed.arena));
    assert_true(way.is_loose);
    assert_true(sb_walk_way(&way, bed.m, bed_box(&bed, "x"), bed_box(&bed, "alone"), &bed.arena));
    assert_int_equal(way.n, 0);
    bed_close(&bed);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void use_model(sb_slice bytes) {
    sb_model *m;
    sb_err err;
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = bytes};
    if (sb_model_new(&m, &ask, &err) != SB_OK) return;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 64 << 20);
    uint32_t all[64];
    for (uint32_t i = 0; i < 64; i++) all[i] = i;
    sb_draw_ask draw = {.open = all, .open_count = 64, .extract = true};
    sb_drawing d;
    assert_ok(sb_draw(&d, m, &draw, &arena, &err), &err);
    sb_arena_fini(&arena);
    sb_model_free(m);
}

static void damaged_graphs_are_drawn_as_far_as_they_go(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, CALLS);
    hostile_cuts(sb_buf_slice(&graph), use_model);
    hostile_flips(sb_buf_slice(&graph), use_model);
    hostile_noise(11, 3000, use_model);
    sb_buf_fini(&graph);
}

static void a_cut_graph_says_after_which_node(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, NODE("a", "Add", "") NODE("b", "Add", ""));
    sb_model *m;
    sb_err err;
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = sb_slice_of(graph.p, graph.n - 2)};
    assert_ok(sb_model_new(&m, &ask, &err), &err);
    assert_int_equal(m->odds[SB_ODD_CUT].n, 1);
    assert_slice_is(m->odds[SB_ODD_CUT].examples[0], "a");
    sb_model_free(m);
    ask.graph = SB_LIT("\xff\xff no graph at all");
    assert_int_equal(sb_model_new(&m, &ask, &err), SB_CORRUPT);
    sb_buf_fini(&graph);
}

static void progress_is_told_and_a_model_that_is_not_wanted_any_more_is_given_up(void **state) {
    (void)state;
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 8 << 20);
    for (unsigned i = 0; i < 20000; i++)
        sb_buf_printf(&text, "node { name: 's%u/n%ux' op: 'Neg' input: 's%u/n%ux' }", i / 50, i,
                      i / 100, i / 2);
    sb_buf_add_byte(&text, 0);
    sb_buf graph = bed_encode(SB_MSG_GRAPH, (const char *)text.p);
    watching w = {.most = 1000};
    sb_model *m;
    sb_err err;
    sb_model_ask ask = {.alloc = &sb_alloc_libc,
                        .graph = sb_buf_slice(&graph),
                        .progress = watch,
                        .progress_ud = &w};
    assert_ok(sb_model_new(&m, &ask, &err), &err);
    sb_model_free(m);
    assert_true(w.calls > 12 && w.last * 2 > w.total);
    unsigned calls = w.calls;
    for (unsigned most = 1; most <= calls; most++) {
        w = (watching){.most = most};
        assert_int_equal(sb_model_new(&m, &ask, &err), SB_CANCELLED);
        assert_null(m);
    }
    sb_buf_fini(&graph);
    sb_buf_fini(&text);
}

static void a_box_with_very_many_children_has_parts_in_parts(void **state) {
    (void)state;
    enum { MANY = 3000, MOST = 20 };
    sb_buf graph;
    sb_buf_init(&graph, &sb_alloc_libc, 1 << 20);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        int n = snprintf(name, sizeof name, "n%ux", i);
        size_t node = sb_pb_begin(&graph, SB_GRAPH_NODE, 32);
        sb_pb_add_bytes(&graph, SB_NODE_NAME, sb_slice_of(name, (size_t)n));
        sb_pb_end(&graph, node);
    }
    sb_model *m;
    sb_err err;
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = sb_buf_slice(&graph), .level_most = MOST};
    assert_ok(sb_model_new(&m, &ask, &err), &err);
    assert_int_equal(m->op_count, MANY);
    assert_int_equal(m->boxes[SB_BOX_ROOT].ops, MANY);
    for (uint32_t i = 0; i < m->box_count; i++)
        if (m->boxes[i].child_count > MOST)
            fail_msg("a box with %u children", m->boxes[i].child_count);
    assert_true(m->boxes[sb_model_find(m, SB_LIT("n1234x"))].depth > 2);
    sb_model_free(m);
    sb_buf_fini(&graph);
}

/* Work that grows with the square of these would take minutes here. */
static void very_many_nodes_of_one_name_and_outputs_of_one_node_take_little_time(void **state) {
    (void)state;
    enum { MANY = 60000 };
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 32 << 20);
    sb_buf_add_str(&text,
                   "node { name: 'split' op: 'Split' attr { key: '_output_shapes' value { list {");
    for (unsigned i = 0; i < MANY; i++) sb_buf_printf(&text, "shape { dim { size: %u } }\n", i + 1);
    sb_buf_add_str(&text, "} } } }\n");
    for (unsigned i = 0; i < MANY; i++)
        sb_buf_printf(&text, "node { name: 'same' op: 'Neg' input: 'split:%u' }\n", i);
    sb_buf_add_byte(&text, 0);
    model_bed bed;
    bed_open(&bed, (const char *)text.p);
    assert_int_equal(bed.m->odds[SB_ODD_DUPLICATE].n, MANY - 1);
    assert_int_equal(bed.m->edge_count, MANY);
    const sb_box *last = &bed.m->boxes[bed_box(&bed, "same (60000)")];
    assert_true(bed.m->edges[last->first_in].size == (float)MANY);
    assert_int_equal(bed.m->edges[last->first_in].slot, MANY - 1);
    bed_close(&bed);
    sb_buf_fini(&text);
}

static sb_status build_with(const sb_alloc *alloc, void *ud) {
    sb_buf *graph = ud;
    sb_model *m;
    sb_err err;
    sb_model_ask ask = {.alloc = alloc, .graph = sb_buf_slice(graph)};
    sb_status status = sb_model_new(&m, &ask, &err);
    if (status != SB_OK) return status;
    sb_arena arena;
    sb_drawing d;
    sb_arena_init(&arena, alloc, 4096, 64 << 20);
    status = sb_draw(&d, m, &(sb_draw_ask){.extract = true}, &arena, &err);
    sb_arena_fini(&arena);
    sb_model_free(m);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, CALLS NODE("x", "Dup", "input: 'nowhere'"));
    sb_fault_alloc_sweep(build_with, &graph);
    sb_buf_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_scopes_and_an_operation_that_is_a_scope_too_stands_in_it),
        cmocka_unit_test(inputs_tell_slots_and_control),
        cmocka_unit_test(five_alike_are_a_series_and_four_are_not),
        cmocka_unit_test(equal_blocks_are_folded_whatever_way_they_are_numbered),
        cmocka_unit_test(a_block_of_another_structure_is_not_folded_and_has_another_colour),
        cmocka_unit_test(a_call_holds_the_body_of_its_function_and_edges_go_through),
        cmocka_unit_test(
            a_function_that_calls_itself_is_copied_once_and_one_that_nobody_calls_is_there),
        cmocka_unit_test(odd_things_are_listed_and_the_rest_is_there),
        cmocka_unit_test(large_attributes_are_left_out_and_shapes_are_kept),
        cmocka_unit_test(parameters_of_torch_follow_from_shapes_or_are_counted_as_unsized),
        cmocka_unit_test(a_torch_parameter_that_is_fetched_twice_counts_once),
        cmocka_unit_test(a_torch_kernel_is_counted_when_only_one_size_fits),
        cmocka_unit_test(variables_are_counted_without_what_an_optimiser_keeps),
        cmocka_unit_test(statistics_are_summed_over_scopes),
        cmocka_unit_test(a_difference_tells_what_was_added_removed_and_changed),
        cmocka_unit_test(layers_of_keras_are_matched_though_their_counters_differ),
        cmocka_unit_test(nodes_of_other_frameworks_are_compared_by_their_names_alone),
        cmocka_unit_test(walks_find_what_feeds_a_box_and_the_way_between_two),
        cmocka_unit_test(damaged_graphs_are_drawn_as_far_as_they_go),
        cmocka_unit_test(a_cut_graph_says_after_which_node),
        cmocka_unit_test(progress_is_told_and_a_model_that_is_not_wanted_any_more_is_given_up),
        cmocka_unit_test(a_box_with_very_many_children_has_parts_in_parts),
        cmocka_unit_test(very_many_nodes_of_one_name_and_outputs_of_one_node_take_little_time),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
