/* args_test.c: arguments of spans: from an XSpace, whose events share some, and as they are written
 * into a Chrome trace. */
#include "codec/proto/proto.h"
#include "profile/chrome_write.h"
#include "unit/profile/analysis_bed.h"

/* Appends an entry of a map of metadata: {1: id, 2: {1: id, 2: name}} and what `more` adds. */
static void add_meta(sb_buf *plane, uint32_t field, uint64_t id, const char *name, sb_slice more) {
    size_t entry = sb_pb_begin(plane, field, 40);
    sb_pb_add_uint(plane, 1, id);
    size_t meta = sb_pb_begin(plane, 2, 30);
    sb_pb_add_uint(plane, 1, id);
    sb_pb_add_bytes(plane, 2, sb_slice_str(name));
    sb_buf_add_slice(plane, more);
    sb_pb_end(plane, meta);
    sb_pb_end(plane, entry);
}

static void add_stat(sb_buf *event, uint32_t field, uint64_t id, uint32_t value_field, uint64_t x) {
    size_t stat = sb_pb_begin(event, field, 20);
    sb_pb_add_uint(event, 1, id);
    sb_pb_add_uint(event, value_field, x);
    sb_pb_end(event, stat);
}

/* A plane with one event. Statistic 1 ("shared") is in its metadata, 2 ("both") in its metadata and
 * in itself, 3 to 5 in itself alone. */
static sb_trace *trace_of_event_on(sb_test_dir *d, const char *plane_name, const char *line_name) {
    sb_buf space, shared;
    sb_buf_init(&space, &sb_alloc_libc, 1 << 16);
    sb_buf_init(&shared, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&space, 1, 300);
    sb_pb_add_bytes(&space, 2, sb_slice_str(plane_name));
    size_t line = sb_pb_begin(&space, 3, 100);
    sb_pb_add_bytes(&space, 2, sb_slice_str(line_name));
    size_t event = sb_pb_begin(&space, 4, 80);
    sb_pb_add_uint(&space, 1, 7);
    sb_pb_add_uint(&space, 2, 5);
    sb_pb_add_uint(&space, 3, 9);
    add_stat(&space, 4, 2, 4, 20);
    add_stat(&space, 4, 3, 3, UINT64_MAX);
    add_stat(&space, 4, 4, 4, (uint64_t)INT64_MIN);
    add_stat(&space, 4, 5, 4, (uint64_t)-3);
    sb_pb_end(&space, event);
    sb_pb_end(&space, line);
    add_stat(&shared, 5, 1, 4, 1);
    add_stat(&shared, 5, 2, 4, 2);
    add_meta(&space, 4, 7, "step", sb_buf_slice(&shared));
    add_meta(&space, 5, 1, "shared", SB_LIT(""));
    add_meta(&space, 5, 2, "both", SB_LIT(""));
    add_meta(&space, 5, 3, "large", SB_LIT(""));
    add_meta(&space, 5, 4, "least", SB_LIT(""));
    add_meta(&space, 5, 5, "negative", SB_LIT(""));
    sb_pb_end(&space, plane);
    assert_int_equal(sb_buf_check(&space, "a space", NULL), SB_OK);
    const char *path = sb_test_dir_put(d, "vm.xplane.pb", sb_buf_slice(&space));
    sb_buf_fini(&shared);
    sb_buf_fini(&space);
    return trace_of_files(&(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1);
}

static sb_trace *trace_of_event(sb_test_dir *d) {
    return trace_of_event_on(d, "/host:CPU", "thread");
}

/* The arguments of the first span of a track. */
static sb_status args_of(const sb_trace *t, const char *track, sb_buf *out) {
    sb_arena arena;
    sb_slice category;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_buf_init(out, &sb_alloc_libc, 1 << 20);
    sb_status status = sb_span_args(t, track_named(t, track), 0, out, &category, &arena, NULL);
    sb_arena_fini(&arena);
    return status;
}

static void what_an_event_says_itself_wins_and_whole_numbers_keep_their_digits(void **state) {
    sb_trace *t = trace_of_event(*state);
    sb_buf out;
    assert_int_equal(args_of(t, "thread", &out), SB_OK);
    sb_slice wanted = SB_LIT("{\"both\":20,\"large\":\"18446744073709551615\","
                             "\"least\":\"-9223372036854775808\",\"negative\":-3,\"shared\":1}");
    if (!sb_slice_eq(sb_buf_slice(&out), wanted)) fail_msg("%.*s", SB_SHOWN(sb_buf_slice(&out)));
    sb_buf_fini(&out);
    sb_trace_free(t);
}

static void what_stands_where_arguments_belong_is_an_argument(void **state) {
    static const char *const values[][2] = {{"null", "{}"},
                                            {"[1,2]", "{\"args\":[1,2]}"},
                                            {"\"text\"", "{\"args\":\"text\"}"},
                                            {"7", "{\"args\":7}"},
                                            {"{\"a\":7}", "{\"a\":7}"}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[200];
        sb_buf out;
        snprintf(text, sizeof text, "[" AT("a", 1, "\"ph\":\"X\",\"dur\":2,\"args\":%s") "]",
                 values[i][0]);
        const char *path = sb_test_dir_put(*state, "odd.json", sb_slice_str(text));
        sb_trace *t = trace_of_files(&(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1);
        assert_int_equal(args_of(t, "thread 2", &out), SB_OK);
        assert_true(sb_slice_eq(sb_buf_slice(&out), sb_slice_str(values[i][1])));
        sb_trace_free(t);
        sb_buf_fini(&out);
    }
}

static void arguments_of_a_file_that_changed_are_refused(void **state) {
    sb_trace *t = trace_of_event(*state);
    sb_buf out;
    sb_test_dir_put(*state, "vm.xplane.pb", SB_LIT("another one"));
    assert_int_equal(args_of(t, "thread", &out), SB_REPLACED);
    sb_buf_fini(&out);
    sb_trace_free(t);
}

static sb_status keep_text(void *ud, sb_slice piece, uint64_t done, uint64_t total, sb_err *err) {
    (void)done;
    (void)total;
    (void)err;
    sb_buf_add_slice(ud, piece);
    return SB_OK;
}

static sb_trace *written_and_read_again(const sb_trace *t, sb_test_dir *d) {
    sb_buf text;
    sb_err err = {0};
    sb_buf_init(&text, &sb_alloc_libc, 64 << 20);
    assert_ok(sb_chrome_write(t, INT64_MIN / 4, INT64_MAX / 4, keep_text, &text, &err), &err);
    const char *path = sb_test_dir_put(d, "saved.trace.json", sb_buf_slice(&text));
    sb_buf_fini(&text);
    return trace_of_files(&(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1);
}

static uint64_t count_args(const sb_trace *t, const char *text) {
    sb_arena arena;
    sb_search_result found;
    sb_err err = {0};
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 16 << 20);
    sb_search_ask ask = {
        .text = sb_slice_str(text), .in_args = true, .to = INT64_MAX, .limit = 10000};
    assert_ok(sb_trace_search(t, &ask, &found, &arena, &err), &err);
    uint64_t total = found.total;
    sb_arena_fini(&arena);
    return total;
}

/* The lines above the operators of a TPU are in the file, and so are their arguments. */
static void lines_above_operators_have_the_arguments_of_the_file(void **state) {
    sb_trace *t = trace_of_event_on(*state, "/device:TPU:0", "XLA Modules");
    sb_buf out;
    assert_int_equal(args_of(t, "XLA Modules", &out), SB_OK);
    assert_true(out.n > 2);
    sb_buf_fini(&out);
    assert_int_equal(count_args(t, "18446744073709551615"), 1);
    sb_trace_free(t);
}

/* TensorFlow shows the type of an operator; which one it is, only the whole name tells. */
static void the_whole_name_of_an_event_is_an_argument_and_found(void **state) {
    sb_buf space, shown, out;
    sb_buf_init(&space, &sb_alloc_libc, 1 << 16);
    sb_buf_init(&shown, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&space, 1, 300);
    sb_pb_add_bytes(&space, 2, SB_LIT("/host:CPU"));
    size_t line = sb_pb_begin(&space, 3, 100);
    sb_pb_add_bytes(&space, 2, SB_LIT("thread"));
    for (uint64_t id = 7; id < 9; id++) {
        size_t event = sb_pb_begin(&space, 4, 80);
        sb_pb_add_uint(&space, 1, id);
        sb_pb_add_uint(&space, 2, 10 * id);
        sb_pb_add_uint(&space, 3, 9);
        sb_pb_end(&space, event);
    }
    sb_pb_end(&space, line);
    sb_pb_add_bytes(&shown, 4, SB_LIT("MatMul"));
    add_meta(&space, 4, 7, "model/dense_1/MatMul:MatMul", sb_buf_slice(&shown));
    add_meta(&space, 4, 8, "model/dense_2/MatMul:MatMul", sb_buf_slice(&shown));
    sb_pb_end(&space, plane);
    const char *path = sb_test_dir_put(*state, "vm.xplane.pb", sb_buf_slice(&space));
    sb_trace *t = trace_of_files(&(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1);
    assert_int_equal(args_of(t, "thread", &out), SB_OK);
    assert_true(
        sb_slice_eq(sb_buf_slice(&out), SB_LIT("{\"long_name\":\"model/dense_1/MatMul:MatMul\"}")));
    assert_int_equal(count_args(t, "dense_2"), 1);
    assert_int_equal(count_args(t, "dense_"), 2);
    assert_int_equal(count_args(t, "dense_3"), 0);
    sb_trace_free(t);
    sb_buf_fini(&out);
    sb_buf_fini(&shown);
    sb_buf_fini(&space);
}

static void a_saved_trace_has_the_arguments_of_its_spans(void **state) {
    static const char *const fixtures[] = {GPU, "profile/jax/cuda_0.vm.xplane.pb.gz"};
    static const char *const texts[][2] = {{"registers per thread", "External id"},
                                           {"regs:121", "kind_src:pinned"}};
    for (int i = 0; i < 2; i++) {
        sb_trace *t = trace_of_fixture(fixtures[i]), *again = written_and_read_again(t, *state);
        for (int k = 0; k < 2; k++) {
            assert_true(count_args(t, texts[i][k]) > 0);
            assert_int_equal(count_args(again, texts[i][k]), count_args(t, texts[i][k]));
        }
        sb_trace_free(again);
        sb_trace_free(t);
    }
}

/* The time of all calls of each operator, by name. */
static void assert_same_tables(const sb_analysis *a, const sb_analysis *b) {
    assert_int_equal(a->rule, b->rule);
    assert_int_equal(a->step_count, b->step_count);
    for (size_t i = 0; i < a->step_count; i++) {
        assert_int_equal(a->steps[i].dur, b->steps[i].dur);
        for (int part = 0; part < SB_PART_COUNT; part++)
            assert_int_equal(a->steps[i].parts[part], b->steps[i].parts[part]);
    }
    assert_int_equal(a->op_count, b->op_count);
    assert_int_equal(a->kernel_count, b->kernel_count);
    for (size_t i = 0; i < a->op_count; i++) {
        assert_int_equal(a->ops[i].calls, b->ops[i].calls);
        assert_int_equal(a->ops[i].host_self, b->ops[i].host_self);
        assert_int_equal(a->ops[i].device_self, b->ops[i].device_self);
    }
    for (size_t i = 0; i < a->kernel_count; i++)
        assert_int_equal(a->kernels[i].total, b->kernels[i].total);
}

static void a_saved_trace_says_what_the_capture_says(void **state) {
    static const char *const files[] = {GPU, FULL, "profile/jax/cpu_0.vm.xplane.pb.gz",
                                        "profile/jax/cuda_0.vm.xplane.pb.gz"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sb_trace *t = trace_of_fixture(files[i]), *again = written_and_read_again(t, *state);
        sb_analysis *a = analysis_of(t, ""), *b = analysis_of(again, "");
        assert_same_tables(a, b);
        sb_analysis_free(a);
        sb_analysis_free(b);
        sb_trace_free(again);
        sb_trace_free(t);
    }
}

static void counts_that_json_cannot_say_are_saved_as_null(void **state) {
    sb_trace *t = trace_of_text("[" AT("c", 1, "\"ph\":\"C\",\"args\":{\"v\":1e999}") "," AT(
        "c", 2, "\"ph\":\"C\",\"args\":{\"v\":3}") "]");
    sb_trace *again = written_and_read_again(t, *state);
    assert_int_equal(again->odds[SB_TRACE_ODD_BAD_JSON].n, 0);
    sb_trace_free(again);
    sb_trace_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_an_event_says_itself_wins_and_whole_numbers_keep_their_digits, sb_test_dir_setup,
            sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(what_stands_where_arguments_belong_is_an_argument,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(arguments_of_a_file_that_changed_are_refused,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(lines_above_operators_have_the_arguments_of_the_file,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(the_whole_name_of_an_event_is_an_argument_and_found,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(a_saved_trace_has_the_arguments_of_its_spans,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(a_saved_trace_says_what_the_capture_says, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(counts_that_json_cannot_say_are_saved_as_null,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
