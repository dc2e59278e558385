/* graph_test.c: graphs sorted, merged, made smaller, as text; and what damaged ones do. */
#include "graph/formats/graph.h"

#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

typedef struct room {
    sb_buf out;
    sb_arena scratch;
} room;

static room room_new(const sb_alloc *alloc) {
    room r;
    sb_buf_init(&r.out, alloc, 1 << 20);
    sb_arena_init(&r.scratch, alloc, 4096, 1 << 20);
    return r;
}

static void room_free(room *r) {
    sb_buf_fini(&r->out);
    sb_arena_fini(&r->scratch);
}

/* An encoded message from its text; the buffer is the caller's. */
static sb_buf encoded(sb_message_id id, const char *text) {
    sb_buf out;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_text_parse(&out, id, sb_slice_str(text), &err), &err);
    return out;
}

static void assert_text(sb_message_id id, sb_slice message, const char *wanted) {
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    assert_ok(sb_graph_text(&r.out, id, message, &r.scratch, &err), &err);
    assert_slice_is(sb_buf_slice(&r.out), wanted);
    room_free(&r);
}

static void entries_of_maps_come_by_key_and_the_later_of_two_counts(void **state) {
    (void)state;
    sb_buf graph = encoded(
        SB_MSG_GRAPH,
        "node { name: 'n' attr { key: 'b' value { i: 1 } } attr { key: 'a' value { i: 2 } } "
        "attr { key: 'b' value { i: 3 } } }");
    assert_text(
        SB_MSG_GRAPH, sb_buf_slice(&graph),
        "node {\n  name: \"n\"\n  attr {\n    key: \"a\"\n    value {\n      i: 2\n    }\n  }\n"
        "  attr {\n    key: \"b\"\n    value {\n      i: 3\n    }\n  }\n}\n");
    sb_buf_fini(&graph);
}

static void maps_inside_functions_are_sorted_too(void **state) {
    (void)state;
    sb_buf graph =
        encoded(SB_MSG_GRAPH,
                "library { function { ret { key: 'z' value: '1' } ret { key: 'y' value: '2' } "
                "arg_attr { key: 10 value {} } arg_attr { key: 9 value {} } } }");
    assert_text(SB_MSG_GRAPH, sb_buf_slice(&graph),
                "library {\n  function {\n    ret {\n      key: \"y\"\n      value: \"2\"\n    }\n "
                "   ret {\n"
                "      key: \"z\"\n      value: \"1\"\n    }\n    arg_attr {\n      key: 9\n      "
                "value {\n      }\n    }\n"
                "    arg_attr {\n      key: 10\n      value {\n      }\n    }\n  }\n}\n");
    sb_buf_fini(&graph);
}

/* ---- merging --------------------------------------------------------------------------------- */

static void one_graph_stays_as_it_is_and_none_is_empty(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_buf graph = encoded(SB_MSG_GRAPH, "node { name: 'x' }");
    sb_slice one = sb_buf_slice(&graph);
    sb_err err;
    assert_ok(sb_graph_merge(&r.out, NULL, 0, SB_FUNCTIONS_RENAMED, &err), &err);
    assert_int_equal(r.out.n, 0);
    assert_ok(sb_graph_merge(&r.out, &one, 1, SB_FUNCTIONS_RENAMED, &err), &err);
    assert_slice_equal(sb_buf_slice(&r.out), one);
    sb_buf_fini(&graph);
    room_free(&r);
}

static void graphs_made_one_get_names_of_their_own(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    sb_buf a = encoded(
        SB_MSG_GRAPH, "node { name: 'x' op: 'PartitionedCall' input: 'y' input: '^z' "
                      "attr { key: 'f' value { func { name: 'fn' } } } } versions { producer: 5 }");
    sb_buf b =
        encoded(SB_MSG_GRAPH,
                "node { name: 'x' op: 'Add' attr { key: 'f' value { func { name: 'fn' } } } } "
                "library { function { signature { name: 'fn' } } "
                "gradient { function_name: 'g' gradient_func: 'h' } } versions { producer: 5 }");
    sb_slice both[] = {sb_buf_slice(&a), sb_buf_slice(&b)};
    assert_ok(sb_graph_merge(&r.out, both, 2, SB_FUNCTIONS_RENAMED, &err), &err);
    assert_text(SB_MSG_GRAPH, sb_buf_slice(&r.out),
                "node {\n  name: \"graph_1/x\"\n  op: \"PartitionedCall\"\n  input: \"graph_1/y\"\n"
                "  input: \"graph_1/^z\"\n  attr {\n    key: \"f\"\n    value {\n      func {\n"
                "        name: \"graph_1_fn\"\n      }\n    }\n  }\n}\nnode {\n  name: "
                "\"graph_2/x\"\n  op: \"Add\"\n"
                "  attr {\n    key: \"f\"\n    value {\n      func {\n        name: \"fn\"\n      "
                "}\n    }\n  }\n}\n"
                "library {\n  function {\n    signature {\n      name: \"graph_2_fn\"\n    }\n  "
                "}\n  gradient {\n"
                "    function_name: \"graph_2_g\"\n    gradient_func: \"graph_2_h\"\n  "
                "}\n}\nversions {\n  producer: 5\n}\n");
    sb_buf_fini(&a);
    sb_buf_fini(&b);
    room_free(&r);
}

static void functions_keep_their_names_so_that_every_call_finds_its_function(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    sb_buf a = encoded(
        SB_MSG_GRAPH, "node { name: 'x' op: 'StatefulPartitionedCall' "
                      "attr { key: 'f' value { func { name: 'fn' } } } } "
                      "library { function { signature { name: 'fn' } node_def { op: 'inner' } } }");
    sb_buf b = encoded(SB_MSG_GRAPH, "node { name: 'y' op: 'Fill' }");
    sb_slice both[] = {sb_buf_slice(&a), sb_buf_slice(&b)};
    assert_ok(sb_graph_merge(&r.out, both, 2, SB_FUNCTIONS_KEPT, &err), &err);
    assert_text(SB_MSG_GRAPH, sb_buf_slice(&r.out),
                "node {\n  name: \"graph_1/x\"\n  op: \"StatefulPartitionedCall\"\n  attr {\n"
                "    key: \"f\"\n    value {\n      func {\n        name: \"fn\"\n      }\n    "
                "}\n  }\n}\nnode {\n  name: \"graph_2/y\"\n  op: \"Fill\"\n}\nlibrary {\n  "
                "function {\n    signature {\n      name: \"fn\"\n    }\n    node_def {\n      "
                "op: \"inner\"\n    }\n  }\n}\n");
    sb_buf_fini(&a);
    sb_buf_fini(&b);
    room_free(&r);
}

static void graphs_of_different_versions_are_not_mixed(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    sb_buf a = encoded(SB_MSG_GRAPH, "versions { producer: 5 }"),
           b = encoded(SB_MSG_GRAPH, "versions { producer: 6 }");
    sb_slice both[] = {sb_buf_slice(&a), sb_buf_slice(&b)};
    assert_int_equal(sb_graph_merge(&r.out, both, 2, SB_FUNCTIONS_RENAMED, &err), SB_INVALID);
    assert_string_equal(err.text, "Cannot combine GraphDefs of different versions.");
    sb_buf_fini(&a);
    sb_buf_fini(&b);
    room_free(&r);
}

static void functions_of_run_metadata_become_one_graph(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    sb_buf metadata = encoded(SB_MSG_RUN_METADATA,
                              "function_graphs { pre_optimization_graph { node { name: 'a' } } "
                              "post_optimization_graph { node { name: 'no' } } } "
                              "function_graphs { pre_optimization_graph { node { name: 'b' } } }");
    assert_ok(sb_graph_of_run_metadata(&r.out, sb_buf_slice(&metadata), SB_FUNCTIONS_RENAMED,
                                       &r.scratch, &err),
              &err);
    assert_text(SB_MSG_GRAPH, sb_buf_slice(&r.out),
                "node {\n  name: \"graph_1/a\"\n}\nnode {\n  name: \"graph_2/b\"\n}\n");
    sb_buf_fini(&metadata);
    room_free(&r);
}

/* ---- large attributes ------------------------------------------------------------------------ */

static void large_attributes_leave_their_names(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    sb_buf graph = encoded(SB_MSG_GRAPH,
                           "node { name: 'n' attr { key: 'small' value { s: 'x' } } "
                           "attr { key: 'big' value { s: '0123456789' } } "
                           "attr { key: 'also' value { s: '0123456789' } } } node { name: 'm' }");
    assert_ok(
        sb_graph_limit_attrs(&r.out, sb_buf_slice(&graph), 8, SB_LIT("_left"), &r.scratch, &err),
        &err);
    assert_text(SB_MSG_GRAPH, sb_buf_slice(&r.out),
                "node {\n  name: \"n\"\n  attr {\n    key: \"_left\"\n    value {\n      list {\n  "
                "      s: \"also\"\n"
                "        s: \"big\"\n      }\n    }\n  }\n  attr {\n    key: \"small\"\n    value "
                "{\n      s: \"x\"\n"
                "    }\n  }\n}\nnode {\n  name: \"m\"\n}\n");
    sb_buf_fini(&graph);
    room_free(&r);
}

static void a_lean_graph_has_all_but_large_values(void **state) {
    (void)state;
    sb_buf value, text, graph, lean;
    sb_err err;
    sb_buf_init(&value, &sb_alloc_libc, 1 << 20);
    for (int i = 0; i < 2000; i++) sb_buf_add_byte(&value, 'z');
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    sb_buf_printf(&text,
                  "node { name: 'c' op: 'Const' input: '^a' attr { key: 'value' value { s: '%.*s' "
                  "} } attr { key: 'dtype' value { type: DT_FLOAT } } } library { function { "
                  "signature { name: 'f' } node_def { name: 'k' attr { key: 'value' value { s: "
                  "'%.*s' } } } } } versions { producer: 27 }",
                  (int)value.n, (const char *)value.p, (int)value.n, (const char *)value.p);
    sb_buf_init(&graph, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&lean, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_text_parse(&graph, SB_MSG_GRAPH, sb_buf_slice(&text), &err), &err);
    assert_ok(sb_graph_lean(&lean, sb_buf_slice(&graph), &err), &err);
    sb_buf wanted;
    sb_buf_init(&wanted, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_text_parse(&wanted, SB_MSG_GRAPH,
                            SB_LIT("node { name: 'c' op: 'Const' input: '^a' attr { key: 'dtype' "
                                   "value { type: DT_FLOAT } } } library { function { signature { "
                                   "name: 'f' } node_def { name: 'k' } } } versions { producer: 27 "
                                   "}"),
                            &err),
              &err);
    assert_slice_equal(sb_buf_slice(&lean), sb_buf_slice(&wanted));
    /* of one that is cut, what came before */
    sb_buf_clear(&lean);
    assert_ok(sb_graph_lean(&lean, sb_slice_of(graph.p, graph.n - 3), &err), &err);
    assert_true(lean.n < 200);
    sb_buf_fini(&wanted);
    sb_buf_fini(&lean);
    sb_buf_fini(&graph);
    sb_buf_fini(&text);
    sb_buf_fini(&value);
}

static void an_attribute_just_within_the_limit_stays(void **state) {
    (void)state;
    sb_err err;
    sb_buf graph = encoded(
        SB_MSG_GRAPH, "node { attr { key: 'a' value { s: '123456' } } }"); /* 8 bytes of value */
    for (uint64_t limit = 7; limit <= 8; limit++) {
        room r = room_new(&sb_alloc_libc);
        assert_ok(sb_graph_limit_attrs(&r.out, sb_buf_slice(&graph), limit, SB_LIT("k"), &r.scratch,
                                       &err),
                  &err);
        assert_int_equal(memmem(r.out.p, r.out.n, "123456", 6) != NULL, limit == 8);
        room_free(&r);
    }
    sb_buf_fini(&graph);
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void do_everything(sb_slice input) {
    const sb_message_id ids[] = {SB_MSG_GRAPH, SB_MSG_RUN_METADATA};
    for (size_t i = 0; i < SB_COUNT(ids); i++) {
        room r = room_new(&sb_alloc_libc);
        sb_slice twice[] = {input, input};
        sb_err err;
        sb_status status = sb_graph_text(&r.out, ids[i], input, &r.scratch, &err);
        assert_true(status == SB_OK || status == SB_CORRUPT || status == SB_LIMIT);
        sb_buf_clear(&r.out);
        sb_graph_limit_attrs(&r.out, input, 3, SB_LIT("k"), &r.scratch, &err);
        sb_buf_clear(&r.out);
        sb_graph_merge(&r.out, twice, 2, SB_FUNCTIONS_RENAMED, &err);
        sb_buf_clear(&r.out);
        sb_graph_of_run_metadata(&r.out, input, SB_FUNCTIONS_KEPT, &r.scratch, &err);
        room_free(&r);
    }
}

static sb_buf sample(void) {
    return encoded(
        SB_MSG_GRAPH,
        "node { name: 'x' op: 'PartitionedCall' input: 'y' attr { key: 'f' value { func { "
        "name: 'fn' attr { key: 'q' value { list { i: 1 i: 2 } } } } } } } library { function { "
        "signature { name: 's' } } gradient { function_name: 'g' } } versions { producer: 3 }");
}

static void damaged_graphs_are_refused_or_read_never_more(void **state) {
    (void)state;
    sb_buf graph = sample();
    hostile_cuts(sb_buf_slice(&graph), do_everything);
    hostile_flips(sb_buf_slice(&graph), do_everything);
    hostile_noise(7, 2000, do_everything);
    sb_buf_fini(&graph);
}

static void nesting_has_an_end(void **state) {
    (void)state;
    room r = room_new(&sb_alloc_libc);
    sb_err err;
    /* node { attr { value { func { attr { value { func ... */
    sb_buf inner, outer;
    sb_buf_init(&inner, &sb_alloc_libc, 1 << 20);
    sb_buf_init(&outer, &sb_alloc_libc, 1 << 20);
    for (int i = 0; i < 200; i++) {
        static const uint32_t numbers[] = {SB_ATTR_VALUE_FUNC, SB_NODE_ATTR_VALUE,
                                           SB_NAME_ATTRS_ATTR};
        sb_buf_clear(&outer);
        sb_pb_add_bytes(&outer, numbers[i % 3], sb_buf_slice(&inner));
        sb_buf swap = inner;
        inner = outer;
        outer = swap;
    }
    sb_buf_clear(&outer);
    sb_pb_add_bytes(&outer, SB_NODE_ATTR, sb_buf_slice(&inner));
    sb_buf_clear(&inner);
    sb_pb_add_bytes(&inner, SB_GRAPH_NODE, sb_buf_slice(&outer));
    assert_int_equal(sb_graph_text(&r.out, SB_MSG_GRAPH, sb_buf_slice(&inner), &r.scratch, &err),
                     SB_LIMIT);
    sb_buf_fini(&inner);
    sb_buf_fini(&outer);
    room_free(&r);
}

static sb_status with_little_memory(const sb_alloc *alloc, void *ud) {
    const sb_buf *graph = ud;
    sb_slice twice[] = {sb_buf_slice(graph), sb_buf_slice(graph)};
    room r = room_new(alloc);
    sb_err err;
    sb_status status = sb_graph_limit_attrs(&r.out, twice[0], 3, SB_LIT("k"), &r.scratch, &err);
    if (status == SB_OK) status = sb_graph_merge(&r.out, twice, 2, SB_FUNCTIONS_RENAMED, &err);
    sb_buf_clear(&r.out);
    if (status == SB_OK) status = sb_graph_text(&r.out, SB_MSG_GRAPH, twice[0], &r.scratch, &err);
    room_free(&r);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_buf graph = sample();
    sb_fault_alloc_sweep(with_little_memory, &graph);
    sb_buf_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_maps_come_by_key_and_the_later_of_two_counts),
        cmocka_unit_test(maps_inside_functions_are_sorted_too),
        cmocka_unit_test(one_graph_stays_as_it_is_and_none_is_empty),
        cmocka_unit_test(graphs_made_one_get_names_of_their_own),
        cmocka_unit_test(functions_keep_their_names_so_that_every_call_finds_its_function),
        cmocka_unit_test(graphs_of_different_versions_are_not_mixed),
        cmocka_unit_test(functions_of_run_metadata_become_one_graph),
        cmocka_unit_test(large_attributes_leave_their_names),
        cmocka_unit_test(a_lean_graph_has_all_but_large_values),
        cmocka_unit_test(an_attribute_just_within_the_limit_stays),
        cmocka_unit_test(damaged_graphs_are_refused_or_read_never_more),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
