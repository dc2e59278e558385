/* resource_params_test.c: which variables that a traced function is handed are parameters, and how
 * large they are: by the function as it was optimised, by what reads them, or not at all. */
#include "unit/graph/model_bed.h"
#include "base/banned.h"

#define ARG(name)                                                                                  \
    "node { name: '" name "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_RESOURCE } } " \
    "}\n"
#define READ(name, of, dims)                                                                       \
    "node { name: '" name "' op: 'ReadVariableOp' input: '" of "' attr { key: 'dtype' value { "    \
    "type: DT_FLOAT } } attr { key: '_output_shapes' value { list { shape { " dims " } } } } }\n"
#define D(n) "dim { size: " #n " } "

static model_bed open_with(const char *graph, const char *metadata) {
    model_bed bed = {.bytes = bed_encode(SB_MSG_GRAPH, graph)};
    sb_buf functions = bed_encode(SB_MSG_RUN_METADATA, metadata);
    sb_err err;
    sb_model_ask ask = {.alloc = &sb_alloc_libc,
                        .graph = sb_buf_slice(&bed.bytes),
                        .functions = sb_buf_slice(&functions)};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 64 << 10, 64 << 20);
    sb_buf_fini(&functions);
    return bed;
}

static uint64_t params_of(const model_bed *bed, const char *name) {
    return bed->m->boxes[bed_box(bed, name)].params;
}
static uint32_t unsized_of(const model_bed *bed, const char *name) {
    return bed->m->boxes[bed_box(bed, name)].unsized;
}

static void a_variable_is_as_large_as_what_is_read(void **state) {
    (void)state;
    model_bed bed = open_with(ARG("w") READ("net/read", "w", D(3) D(4)), "");
    assert_int_equal(params_of(&bed, "w"), 12);
    assert_int_equal(unsized_of(&bed, "w"), 0);
    bed_close(&bed);
}

static void a_variable_of_unknown_shape_is_counted_as_unsized(void **state) {
    (void)state;
    model_bed bed =
        open_with(ARG("w") "node { name: 'net/look' op: 'ResourceGather' input: 'w' }", "");
    assert_int_equal(params_of(&bed, "w"), 0);
    assert_int_equal(unsized_of(&bed, "w"), 1);
    bed_close(&bed);
}

static void the_optimised_function_tells_shapes(void **state) {
    (void)state;
    const char *graph = ARG("w") ARG("n") "node { name: 'net/read' op: 'ReadVariableOp' input: "
                                          "'w' } node { name: 'net/n' op: 'ReadVariableOp' input: "
                                          "'n' }";
    model_bed bed = open_with(
        graph, "function_graphs { post_optimization_graph { node { name: 'w' op: '_Arg' attr { "
               "key: '_handle_shapes' value { list { shape { dim { size: 5 } dim { size: 6 } } } } "
               "} attr { key: '_handle_dtypes' value { list { type: DT_FLOAT } } } } node { name: "
               "'n' op: '_Arg' attr { key: '_handle_shapes' value { list { shape { dim { size: 9 } "
               "} } } } attr { key: '_handle_dtypes' value { list { type: DT_INT64 } } } } } }");
    assert_int_equal(params_of(&bed, "w"), 30);
    assert_int_equal(params_of(&bed, "n"), 0); /* whole numbers are no weights */
    assert_int_equal(unsized_of(&bed, "n"), 0);
    bed_close(&bed);
}

static void what_is_read_only_where_it_is_assigned_to_belongs_to_the_optimiser(void **state) {
    (void)state;
    model_bed bed = open_with(
        ARG("w") ARG("momentum") READ("net/read", "w", D(8)) READ("adam/old", "momentum", D(8))
            READ("adam/w", "w", D(8)) "node { name: 'adam/new' op: 'AssignVariableOp' input: "
                                      "'momentum' input: 'adam/old' } node { name: 'adam/apply' "
                                      "op: 'AssignSubVariableOp' input: 'w' input: 'adam/w' }",
        "");
    assert_int_equal(params_of(&bed, "w"), 8);
    assert_int_equal(params_of(&bed, "momentum"), 0);
    bed_close(&bed);
}

static void a_single_number_that_only_an_optimiser_reads_is_a_setting(void **state) {
    (void)state;
    model_bed bed = open_with(ARG("rate") ARG("w") READ("sgd/rate", "rate", "")
                                  READ("net/read", "w", D(2)) "node { name: 'sgd/apply' op: "
                                                              "'ResourceApplyGradientDescent' "
                                                              "input: 'w' input: 'sgd/rate' }",
                              "");
    assert_int_equal(params_of(&bed, "rate"), 0);
    assert_int_equal(params_of(&bed, "w"), 2);
    bed_close(&bed);
}

static void a_variable_is_followed_through_calls_also_round_and_round(void **state) {
    (void)state;
    model_bed bed = open_with(
        ARG("w") "node { name: 'call' op: 'f' input: 'w' }"
                 "library { function { signature { name: 'f' input_arg { name: 'v' } } node_def { "
                 "name: 'again' op: 'f' input: 'v' } node_def { name: 'in/read' op: "
                 "'ReadVariableOp' input: 'v' attr { key: '_output_shapes' value { list { shape { "
                 "dim { size: 7 } } } } } } } }",
        "");
    assert_int_equal(params_of(&bed, "w"), 7);
    assert_int_equal(bed.m->boxes[SB_BOX_ROOT].params, 7); /* counted once, where it is given */
    bed_close(&bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_is_as_large_as_what_is_read),
        cmocka_unit_test(a_variable_of_unknown_shape_is_counted_as_unsized),
        cmocka_unit_test(the_optimised_function_tells_shapes),
        cmocka_unit_test(what_is_read_only_where_it_is_assigned_to_belongs_to_the_optimiser),
        cmocka_unit_test(a_single_number_that_only_an_optimiser_reads_is_a_setting),
        cmocka_unit_test(a_variable_is_followed_through_calls_also_round_and_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
