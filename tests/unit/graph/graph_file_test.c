/* graph_file_test.c: kinds of files that hold graphs, ONNX above all, and files that hold none. */
#include "graph/formats/graph_file.h"

#include "codec/proto/proto.h"
#include "graph/model/model.h"
#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "unit/graph/model_bed.h"
#include "base/banned.h"

/* ---- an ONNX model: x (1 × 4) -> MatMul(w 4 × 3) -> Split -> y ------------------------------- */

static void add_value(sb_buf *b, uint32_t number, const char *name, const int64_t *dims, size_t n) {
    size_t info = sb_pb_begin(b, number, 64), type, tensor, shape, dim;
    sb_pb_add_bytes(b, 1, sb_slice_str(name));
    type = sb_pb_begin(b, 2, 32);
    tensor = sb_pb_begin(b, 1, 32);
    sb_pb_add_uint(b, 1, 1);
    shape = sb_pb_begin(b, 2, 32);
    for (size_t i = 0; i < n; i++) {
        dim = sb_pb_begin(b, 1, 8);
        if (dims[i] < 0)
            sb_pb_add_bytes(b, 2, SB_LIT("batch"));
        else
            sb_pb_add_int(b, 1, dims[i]);
        sb_pb_end(b, dim);
    }
    sb_pb_end(b, shape);
    sb_pb_end(b, tensor);
    sb_pb_end(b, type);
    sb_pb_end(b, info);
}

static void add_node(sb_buf *b, const char *name, const char *op, const char *const *in, size_t ins,
                     const char *const *out, size_t outs) {
    size_t node = sb_pb_begin(b, 1, 64), attr;
    for (size_t i = 0; i < ins; i++) sb_pb_add_bytes(b, 1, sb_slice_str(in[i]));
    for (size_t i = 0; i < outs; i++) sb_pb_add_bytes(b, 2, sb_slice_str(out[i]));
    sb_pb_add_bytes_nz(b, 3, sb_slice_str(name));
    sb_pb_add_bytes(b, 4, sb_slice_str(op));
    attr = sb_pb_begin(b, 5, 16);
    sb_pb_add_bytes(b, 1, SB_LIT("axis"));
    sb_pb_add_int(b, 3, 1);
    sb_pb_end(b, attr);
    sb_pb_end(b, node);
}

static sb_buf onnx_model(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_pb_add_uint(&b, 1, 8);
    sb_pb_add_bytes(&b, 2, SB_LIT("pytorch"));
    size_t graph = sb_pb_begin(&b, 7, 1000), tensor;
    add_node(&b, "/net/fc/MatMul", "MatMul", (const char *const[]){"x", "net.fc.w"}, 2,
             (const char *const[]){"h"}, 1);
    add_node(&b, "", "Split", (const char *const[]){"h", ""}, 2, (const char *const[]){"a", "y"},
             2);
    add_node(&b, "last", "Relu", (const char *const[]){"y"}, 1, (const char *const[]){"z"}, 1);
    tensor = sb_pb_begin(&b, 5, 200);
    sb_pb_add_int(&b, 1, 4);
    sb_pb_add_int(&b, 1, 3);
    sb_pb_add_uint(&b, 2, 1);
    sb_pb_add_bytes(&b, 8, SB_LIT("net.fc.w"));
    sb_pb_add_bytes(&b, 9, SB_LIT("................................................"));
    sb_pb_end(&b, tensor);
    add_value(&b, 11, "x", (const int64_t[]){-1, 4}, 2);
    add_value(&b, 12, "z", (const int64_t[]){-1, 2}, 2);
    add_value(&b, 13, "h", (const int64_t[]){-1, 3}, 2);
    sb_pb_end(&b, graph);
    return b;
}

typedef struct file_bed {
    sb_buf graph;
    sb_arena scratch;
    sb_graph_file info;
    sb_err err;
} file_bed;

static sb_status file_read(file_bed *f, const sb_alloc *alloc, sb_slice bytes) {
    sb_buf_init(&f->graph, alloc, 64 << 20);
    sb_arena_init(&f->scratch, alloc, 4096, 64 << 20);
    return sb_graph_file_read(&f->graph, bytes, &f->info, NULL, &f->scratch, &f->err);
}
static void file_close(file_bed *f) {
    sb_buf_fini(&f->graph);
    sb_arena_fini(&f->scratch);
}

/* As torch calls weights that it has transposed, and nodes of operators of its own. */
static void names_with_colons_are_no_numbers_of_outputs(void **state) {
    (void)state;
    model_bed bed = {0};
    file_bed f;
    sb_buf_init(&bed.bytes, &sb_alloc_libc, 1 << 20);
    size_t graph = sb_pb_begin(&bed.bytes, 7, 1000);
    add_node(&bed.bytes, "/fc/MatMul", "MatMul", (const char *const[]){"in::0", "onnx::MatMul_326"},
             2, (const char *const[]){"h"}, 1);
    add_node(&bed.bytes, "aten::silu", "silu", (const char *const[]){"h"}, 1,
             (const char *const[]){"y"}, 1);
    size_t tensor = sb_pb_begin(&bed.bytes, 5, 200);
    sb_pb_add_int(&bed.bytes, 1, 6);
    sb_pb_add_uint(&bed.bytes, 2, 1);
    sb_pb_add_bytes(&bed.bytes, 8, SB_LIT("onnx::MatMul_326"));
    sb_pb_end(&bed.bytes, tensor);
    add_value(&bed.bytes, 11, "in::0", (const int64_t[]){4}, 1);
    add_value(&bed.bytes, 12, "y", (const int64_t[]){4}, 1);
    sb_pb_end(&bed.bytes, graph);
    assert_ok(file_read(&f, &sb_alloc_libc, sb_buf_slice(&bed.bytes)), &f.err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = f.info.graph};
    assert_ok(sb_model_new(&bed.m, &ask, &f.err), &f.err);
    const sb_box *mm = &bed.m->boxes[bed_box(&bed, "fc/MatMul")];
    assert_int_equal(mm->in_count, 2);
    assert_int_equal(bed.m->edges[mm->first_in].from, bed_box(&bed, "in.0"));
    assert_int_equal(bed.m->edges[mm->first_in + 1].from, bed_box(&bed, "fc/onnx.MatMul_326"));
    assert_int_equal(bed.m->boxes[bed_box(&bed, "fc")].params, 6);
    const sb_box *out = &bed.m->boxes[bed_box(&bed, "y (output)")];
    assert_int_equal(bed.m->edges[out->first_in].from, bed_box(&bed, "aten.silu"));
    bed_close(&bed);
    file_close(&f);
}

static void an_onnx_model_has_nodes_weights_ends_and_shapes(void **state) {
    (void)state;
    sb_buf bytes = onnx_model();
    file_bed f;
    assert_ok(file_read(&f, &sb_alloc_libc, sb_buf_slice(&bytes)), &f.err);
    assert_int_equal(f.info.format, SB_FORMAT_ONNX);
    assert_false(f.info.is_cut);
    model_bed bed = {.bytes = bytes};
    sb_arena_init(&bed.arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = f.info.graph};
    assert_ok(sb_model_new(&bed.m, &ask, &f.err), &f.err);
    const sb_box *mm = &bed.m->boxes[bed_box(&bed, "net/fc/MatMul")];
    assert_int_equal(mm->in_count, 2);
    assert_int_equal(bed.m->edges[mm->first_in].from, bed_box(&bed, "x"));
    assert_int_equal(bed.m->edges[mm->first_in + 1].from, bed_box(&bed, "net/fc/w"));
    assert_int_equal(bed.m->boxes[bed_box(&bed, "net/fc/w")].params, 12);
    assert_int_equal(bed.m->boxes[bed_box(&bed, "net/fc")].params, 12); /* who uses it */
    assert_true(bed.m->boxes[bed_box(&bed, "x")].is_input);
    assert_true(bed.m->boxes[bed_box(&bed, "z (output)")].is_output);
    const sb_box *last = &bed.m->boxes[bed_box(&bed, "last")];
    assert_int_equal(bed.m->edges[last->first_in].from, bed_box(&bed, "Split_1"));
    assert_int_equal(bed.m->edges[last->first_in].slot, 1);
    sb_buf shape;
    sb_buf_init(&shape, &sb_alloc_libc, 1000);
    sb_model_shape(bed.m, bed_box(&bed, "net/fc/MatMul"), 0, &shape);
    assert_slice_is(sb_buf_slice(&shape), "? × 3");
    sb_buf_fini(&shape);
    for (int i = 0; i < SB_ODD_COUNT; i++) assert_int_equal(bed.m->odds[i].n, 0);
    file_close(&f);
    bed_close(&bed);
}

static void graphs_come_as_protobuf_as_text_in_a_meta_graph_or_a_saved_model(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, "node { name: 'n' op: 'Add' }"), meta, saved;
    sb_buf_init(&meta, &sb_alloc_libc, 1000);
    sb_buf_init(&saved, &sb_alloc_libc, 1000);
    sb_pb_add_bytes(&meta, SB_META_GRAPH_GRAPH_DEF, sb_buf_slice(&graph));
    sb_pb_add_uint(&saved, 1, 1);
    sb_pb_add_bytes(&saved, 2, sb_buf_slice(&meta));
    const struct {
        sb_slice bytes;
        sb_graph_format format;
    } cases[] = {
        {sb_buf_slice(&graph), SB_FORMAT_GRAPH},
        {SB_LIT("# a graph\nnode { name: 'n' op: 'Add' }"), SB_FORMAT_GRAPH_TEXT},
        {sb_buf_slice(&meta), SB_FORMAT_META_GRAPH},
        {sb_buf_slice(&saved), SB_FORMAT_SAVED_MODEL},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        file_bed f;
        assert_ok(file_read(&f, &sb_alloc_libc, cases[i].bytes), &f.err);
        assert_int_equal(f.info.format, cases[i].format);
        assert_slice_equal(f.info.graph, sb_buf_slice(&graph));
        file_close(&f);
    }
    sb_buf_fini(&saved);
    sb_buf_fini(&meta);
    sb_buf_fini(&graph);
}

static void values_of_a_graph_are_not_copied(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, "node { name: 'n' op: 'Const' }");
    file_bed f;
    assert_int_equal(file_read(&f, &sb_alloc_libc, sb_buf_slice(&graph)), SB_OK);
    assert_ptr_equal(f.info.graph.p, graph.p);
    assert_int_equal(f.graph.n, 0);
    file_close(&f);
    sb_buf_fini(&graph);
}

static void a_text_that_goes_wrong_gives_what_came_before_and_says_where(void **state) {
    (void)state;
    file_bed f;
    assert_ok(file_read(&f, &sb_alloc_libc,
                        SB_LIT("node { name: 'a' op: 'Add' }\nnode { name: 'b' op: ")),
              &f.err);
    assert_true(f.info.is_cut);
    assert_non_null(strstr(f.info.problem.text, "2:"));
    file_close(&f);
}

static void
how_much_of_a_text_is_parsed_is_told_and_one_not_wanted_any_more_is_given_up(void **state) {
    (void)state;
    file_bed f;
    sb_buf text;
    watching w = {.most = 100};
    sb_text_watch told = {watch, &w};
    sb_buf_init(&text, &sb_alloc_libc, 64 << 20);
    while (text.n < 3 << 20) sb_buf_printf(&text, "node { name: 'n%zu' op: 'Add' }\n", text.n);
    sb_slice bytes = sb_buf_slice(&text);
    sb_buf_init(&f.graph, &sb_alloc_libc, 64 << 20);
    sb_arena_init(&f.scratch, &sb_alloc_libc, 4096, 64 << 20);
    assert_ok(sb_graph_file_read(&f.graph, bytes, &f.info, &told, &f.scratch, &f.err), &f.err);
    assert_true(w.calls >= 2 && w.last > bytes.n / 2 && w.total == bytes.n);
    w = (watching){.most = 2};
    assert_int_equal(sb_graph_file_read(&f.graph, bytes, &f.info, &told, &f.scratch, &f.err),
                     SB_CANCELLED);
    file_close(&f);
    sb_buf_fini(&text);
}

static void what_is_no_graph_is_refused_with_what_would_be(void **state) {
    (void)state;
    static const struct {
        sb_slice bytes;
        const char *word;
    } others[] = {
        {{(const uint8_t *)"", 0}, "empty"},
        {{(const uint8_t *)"\x89PNG\r\n\x1a\n....", 12}, "unknown"},
        {{(const uint8_t *)"hello, this is a letter", 23}, "syntax"},
        {{(const uint8_t *)"{\"class_name\": ", 15}, "json"},
        {{(const uint8_t *)"PK\x03\x04\x14\x00\x00\x00\x08\x00", 10}, "torch"},
        {{(const uint8_t *)"PK\x03\x04\x14\x00/code/", 12}, "torchscript"},
        {{(const uint8_t *)"PK\x03\x04\x14\x00"
                           "config.json",
          17},
         "keras_archive"},
    };
    for (size_t i = 0; i < SB_COUNT(others); i++) {
        file_bed f;
        assert_int_equal(file_read(&f, &sb_alloc_libc, others[i].bytes), SB_CORRUPT);
        assert_true(f.err.text[0] != 0);
        assert_string_equal(sb_graph_trouble_name(f.info.trouble), others[i].word);
        file_close(&f);
    }
}

static void use_file(sb_slice bytes) {
    file_bed f;
    if (file_read(&f, &sb_alloc_libc, bytes) == SB_OK) {
        sb_model *m;
        sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = f.info.graph};
        if (sb_model_new(&m, &ask, &f.err) == SB_OK) sb_model_free(m);
    }
    file_close(&f);
}

static void damaged_models_harm_nobody(void **state) {
    (void)state;
    sb_buf bytes = onnx_model();
    hostile_cuts(sb_buf_slice(&bytes), use_file);
    hostile_flips(sb_buf_slice(&bytes), use_file);
    hostile_noise(3, 3000, use_file);
    sb_buf_fini(&bytes);
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    file_bed f;
    sb_status status = file_read(&f, alloc, sb_buf_slice(ud));
    file_close(&f);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_buf graph = bed_encode(SB_MSG_GRAPH, "node { name: 'n' op: 'Add' }");
    sb_fault_alloc_sweep(read_with, &graph);
    sb_buf_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_colons_are_no_numbers_of_outputs),
        cmocka_unit_test(an_onnx_model_has_nodes_weights_ends_and_shapes),
        cmocka_unit_test(graphs_come_as_protobuf_as_text_in_a_meta_graph_or_a_saved_model),
        cmocka_unit_test(values_of_a_graph_are_not_copied),
        cmocka_unit_test(a_text_that_goes_wrong_gives_what_came_before_and_says_where),
        cmocka_unit_test(
            how_much_of_a_text_is_parsed_is_told_and_one_not_wanted_any_more_is_given_up),
        cmocka_unit_test(what_is_no_graph_is_refused_with_what_would_be),
        cmocka_unit_test(damaged_models_harm_nobody),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
