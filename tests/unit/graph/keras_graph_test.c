/* keras_graph_test.c: models as graphs of their layers; expected texts are TensorBoard's own
 * answers. */
#include "graph/formats/keras_graph.h"

#include "codec/proto/messages.h"
#include "graph/formats/graph.h"
#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static sb_status convert(const sb_alloc *alloc, sb_slice json, sb_keras_detail detail, sb_buf *text,
                         sb_err *err) {
    sb_buf graph;
    sb_arena arena;
    sb_buf_init(&graph, alloc, 1 << 20);
    sb_arena_init(&arena, alloc, 1024, 1 << 20);
    sb_status status = sb_keras_graph(&graph, json, detail, &arena, err);
    if (status == SB_OK)
        status = sb_graph_text(text, SB_MSG_GRAPH, sb_buf_slice(&graph), &arena, err);
    sb_arena_fini(&arena);
    sb_buf_fini(&graph);
    return status;
}

static void assert_graph(const char *json, const char *wanted) {
    sb_buf text;
    sb_err err;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    assert_ok(convert(&sb_alloc_libc, sb_slice_str(json), SB_KERAS_PLAIN, &text, &err), &err);
    assert_slice_is(sb_buf_slice(&text), wanted);
    sb_buf_fini(&text);
}

#define EDGE(name) "{\"config\": {\"keras_history\": [\"" name "\", 0, 0]}}"

static void layers_of_a_sequential_model_follow_each_other(void **state) {
    (void)state;
    assert_graph(
        "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": ["
        "{\"class_name\": \"Dense\", \"config\": {\"name\": \"a\", \"dtype\": \"float32\"}},"
        "{\"class_name\": \"Dense\", \"config\": {\"name\": \"b\", \"dtype\": {\"config\": "
        "{\"name\": \"half\"}}}},"
        "{\"config\": {\"name\": \"c\", \"dtype\": \"mixed_float16\"}}]}}",
        "node {\n  name: \"s/a\"\n  attr {\n    key: \"dtype\"\n    value {\n      type: "
        "DT_FLOAT\n    }\n  }\n"
        "  attr {\n    key: \"keras_class\"\n    value {\n      s: \"Dense\"\n    }\n  }\n}\n"
        "node {\n  name: \"s/b\"\n  input: \"s/a\"\n  attr {\n    key: \"dtype\"\n    value {\n"
        "      type: DT_HALF\n    }\n  }\n  attr {\n    key: \"keras_class\"\n    value {\n      "
        "s: \"Dense\"\n"
        "    }\n  }\n}\nnode {\n  name: \"s/c\"\n  input: \"s/b\"\n}\n");
}

static void layers_of_a_functional_model_say_where_they_come_from(void **state) {
    (void)state;
    assert_graph(
        "{\"config\": {\"name\": \"f\", \"input_layers\": [[\"i\", 0, 0]], \"output_layers\": "
        "[[\"o\", 0, 0]],"
        "\"layers\": [{\"config\": {\"name\": \"i\"}, \"inbound_nodes\": []},"
        "{\"config\": {\"name\": \"o\"}, \"inbound_nodes\": [{\"args\": [[" EDGE("i") ", " EDGE(
            "x") "]]}]},"
                 "{\"config\": {\"name\": \"old\"}, \"inbound_nodes\": [[[\"i\", 0, 0, {}]]]}]}}",
        "node {\n  name: \"f/i\"\n}\nnode {\n  name: \"f/o\"\n  input: \"f/i\"\n  input: "
        "\"f/x\"\n}\n"
        "node {\n  name: \"f/old\"\n}\n");
}

static void an_inner_model_stands_for_its_outputs_and_is_fed_at_its_inputs(void **state) {
    (void)state;
    assert_graph(
        "{\"config\": {\"name\": \"m\", \"input_layers\": [\"i\", 0, 0], \"output_layers\": "
        "[\"z\", 0, 0], \"layers\": ["
        "{\"config\": {\"name\": \"i\"}, \"inbound_nodes\": []},"
        "{\"inbound_nodes\": [{\"args\": [" EDGE(
            "i") "]}], \"config\": {\"name\": \"inner\", \"input_layers\": "
                 "[\"in\", 0, 0], \"output_layers\": [[\"p\", 0, 0], [\"q\", 0, 0]], \"layers\": ["
                 "{\"config\": {\"name\": \"in\"}, \"inbound_nodes\": []},"
                 "{\"config\": {\"name\": \"q\"}, \"inbound_nodes\": [{\"args\": [" EDGE(
                     "in") "]}]}]}},"
                           "{\"config\": {\"name\": \"z\"}, \"inbound_nodes\": [{\"args\": "
                           "[{\"config\": {\"keras_history\": "
                           "[\"inner\", 0, 1]}}]}]},"
                           "{\"config\": {\"name\": \"y\"}, \"inbound_nodes\": [{\"args\": "
                           "[{\"config\": {\"keras_history\": "
                           "[\"inner\", 0, 9]}}]}]}]}}",
        "node {\n  name: \"m/i\"\n}\nnode {\n  name: \"m/inner/in\"\n  input: \"m/i\"\n}\n"
        "node {\n  name: \"m/inner/q\"\n  input: \"m/inner/in\"\n}\nnode {\n  name: \"m/z\"\n"
        "  input: \"m/inner/q\"\n}\nnode {\n  name: \"m/y\"\n  input: \"m/inner/q\"\n}\n");
}

static void layers_are_counted_and_shaped_when_asked_for(void **state) {
    (void)state;
    sb_buf text;
    sb_err err;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    static const char json[] =
        "{\"config\": {\"name\": \"s\", \"layers\": [{\"class_name\": \"Dense\", \"config\": "
        "{\"name\": \"a\", \"units\": 5}, \"build_config\": {\"input_shape\": [null, 6]}}, "
        "{\"module\": \"mine\", \"class_name\": \"Own\", \"config\": {\"name\": \"b\"}, "
        "\"build_config\": {\"input_shape\": [null, 5]}}]}}";
    assert_ok(convert(&sb_alloc_libc, sb_slice_str(json), SB_KERAS_COUNTED, &text, &err), &err);
    sb_buf_add_byte(&text, 0);
    const char *shown = (const char *)text.p;
    const char *own = strstr(shown, "name: \"s/b\"");
    assert_non_null(strstr(shown, "key: \"parameters\"\n    value {\n      i: 35\n"));
    assert_non_null(strstr(shown, "size: -1\n"));
    assert_non_null(own);
    assert_non_null(strstr(own, "i: -1\n"));
    assert_null(strstr(own, "_output_shapes"));
    sb_buf_fini(&text);
}

static void what_is_no_model_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "", "{", "[]", "1", "{}", "{\"config\": 1}", "{\"config\": {\"layers\": [1]}}"};
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_buf text;
        sb_err err;
        sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
        assert_int_equal(convert(&sb_alloc_libc, sb_slice_str(bad[i]), SB_KERAS_PLAIN, &text, &err),
                         SB_CORRUPT);
        sb_buf_fini(&text);
    }
}

static void models_nested_without_end_are_refused(void **state) {
    (void)state;
    sb_buf json, text;
    sb_err err;
    sb_buf_init(&json, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    for (int i = 0; i < 300; i++) sb_buf_add_str(&json, "{\"config\":{\"name\":\"m\",\"layers\":[");
    for (int i = 0; i < 300; i++) sb_buf_add_str(&json, "]}}");
    assert_int_equal(convert(&sb_alloc_libc, sb_buf_slice(&json), SB_KERAS_COUNTED, &text, &err),
                     SB_LIMIT);
    sb_buf_fini(&json);
    sb_buf_fini(&text);
}

#define SMALL                                                                                      \
    "{\"config\":{\"name\":\"f\",\"input_layers\":[\"i\"],\"output_layers\":[\"o\"],\"layers\":[{" \
    "\"config\":{\"name\":\"i\","                                                                  \
    "\"dtype\":\"int8\"}},{\"config\":{\"name\":\"o\"},\"inbound_nodes\":[{\"args\":[" EDGE(       \
        "i") "]}]}]}}"

static void convert_any(sb_slice input) {
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    convert(&sb_alloc_libc, input, SB_KERAS_COUNTED, &text, NULL);
    sb_buf_fini(&text);
}

static void damaged_models_do_no_harm(void **state) {
    (void)state;
    hostile_cuts(SB_LIT(SMALL), convert_any);
    hostile_flips(SB_LIT(SMALL), convert_any);
}

static sb_status with_little_memory(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf text;
    sb_buf_init(&text, alloc, 1 << 20);
    sb_status status = convert(alloc, SB_LIT(SMALL), SB_KERAS_COUNTED, &text, NULL);
    sb_buf_fini(&text);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(with_little_memory, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_a_sequential_model_follow_each_other),
        cmocka_unit_test(layers_of_a_functional_model_say_where_they_come_from),
        cmocka_unit_test(an_inner_model_stands_for_its_outputs_and_is_fed_at_its_inputs),
        cmocka_unit_test(layers_are_counted_and_shaped_when_asked_for),
        cmocka_unit_test(what_is_no_model_is_refused),
        cmocka_unit_test(models_nested_without_end_are_refused),
        cmocka_unit_test(damaged_models_do_no_harm),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
