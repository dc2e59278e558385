/* analysis_test.c: steps, parts, operators, kernels, memory, modules, input and differences. */
#include "profile/analysis/analysis.h"

#include "profile/analysis/views.h"
#include "unit/profile/analysis_bed.h"
#include "base/banned.h"

static const sb_op_row *op_named(const sb_analysis *a, const char *name) {
    for (size_t i = 0; i < a->op_count; i++)
        if (sb_slice_eq(sb_trace_name(a->t, a->ops[i].name), sb_slice_str(name))) return &a->ops[i];
    return NULL;
}

static void parts_of_a_step_add_up_to_its_length(void **state) {
    (void)state;
    static const char *const files[] = {GPU, FULL, "profile/jax/cuda_0.vm.xplane.pb.gz",
                                        "profile/jax/cpu_0.vm.xplane.pb.gz"};
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        sb_trace *t = trace_of_fixture(files[f]);
        sb_analysis *a = analysis_of(t, NULL);
        assert_true(a->step_count > 0);
        for (size_t i = 0; i < a->step_count; i++) {
            int64_t sum = 0;
            for (int k = 0; k < SB_PART_COUNT; k++) {
                assert_true(a->steps[i].parts[k] >= 0);
                sum += a->steps[i].parts[k];
            }
            assert_int_equal(sum, a->steps[i].dur);
        }
        assert_int_equal(a->has_device, f == 0 || f == 2);
        sb_analysis_free(a);
        sb_trace_free(t);
    }
}

static void every_kernel_of_torch_belongs_to_an_operator(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    sb_analysis *a = analysis_of(t, NULL);
    int64_t kernels = 0;
    uint64_t calls = 0;
    for (size_t i = 0; i < a->kernel_count; i++) {
        kernels += a->kernels[i].total;
        calls += a->kernels[i].calls;
        assert_true(a->kernels[i].op != 0);
    }
    assert_int_equal(calls, 429);
    assert_int_equal(a->device_time, kernels);
    assert_int_equal(a->rule, SB_STEPS_MARKED);
    assert_int_equal(a->steps[0].number, 2);
    assert_true(a->steps[0].parts[SB_PART_COMPUTE] > 0);
    sb_analysis_free(a);
    sb_trace_free(t);
}

#define LAUNCHER(name, ts, id)                                                                     \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" #ts       \
    ",\"dur\":10,\"args\":{\"External id\":" #id "}}"
#define LAUNCHED(name, ts, dur, id)                                                                \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts       \
    ",\"dur\":" #dur ",\"args\":{\"External id\":" #id "}}"

/* Such as in a file that somebody made of those of several processes. */
static void a_kernel_of_an_id_used_again_belongs_to_the_operator_before_it(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" LAUNCHER("a", 0, 3) "," LAUNCHED("k", 20, 5, 3) "," LAUNCHER(
        "b", 40, 3) "," LAUNCHED("m", 60, 7, 3) "]");
    sb_analysis *a = analysis_of(t, NULL);
    assert_int_equal(op_named(a, "a")->device_self, 5 * SB_PS_PER_US);
    assert_int_equal(op_named(a, "b")->device_self, 7 * SB_PS_PER_US);
    for (size_t i = 0; i < a->kernel_count; i++) {
        bool is_first = sb_slice_eq(sb_trace_name(t, a->kernels[i].name), SB_LIT("k"));
        assert_slice_is(sb_trace_name(t, a->kernels[i].op - 1), is_first ? "a" : "b");
    }
    sb_analysis_free(a);
    sb_trace_free(t);
}

#define OP(name, ts, dur)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" #ts       \
    ",\"dur\":" #dur "}"

static void self_time_is_what_the_operators_inside_leave(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" OP("a", 0, 100) "," OP("b", 10, 20) "," OP("b", 15, 5) "," OP(
        "d", 22, 2) "," OP("c", 40, 30) "]");
    sb_analysis *a = analysis_of(t, NULL);
    assert_int_equal(op_named(a, "a")->host_self, 50 * SB_PS_PER_US);
    /* a call inside one of the same name counts twice in the total, as torch counts it */
    assert_int_equal(op_named(a, "b")->host_total, 25 * SB_PS_PER_US);
    assert_int_equal(op_named(a, "b")->host_self, 18 * SB_PS_PER_US);
    assert_int_equal(op_named(a, "b")->calls, 2);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void an_overload_that_only_calls_another_is_one_call(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        "[" OP("a", 0, 100) "," OP("a", 10, 80) "," OP("a", 20, 60) "," OP("c", 40, 30) "]");
    sb_analysis *a = analysis_of(t, NULL);
    assert_int_equal(op_named(a, "a")->calls, 1);
    assert_int_equal(op_named(a, "a")->host_total, 100 * SB_PS_PER_US);
    assert_int_equal(op_named(a, "a")->host_self, 70 * SB_PS_PER_US);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void any_name_can_be_the_step(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    sb_analysis *a = analysis_of(t, "Optimizer.step#Adam.step");
    assert_int_equal(a->rule, SB_STEPS_NAME);
    assert_int_equal(a->step_count, 3);
    sb_analysis_free(a);
    a = analysis_of(t, "no such name");
    assert_int_equal(a->rule, SB_STEPS_NONE);
    assert_int_equal(a->step_count, 0);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void without_marks_the_heaviest_name_that_repeats_is_the_step(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" OP("batch", 0, 10) "," OP("x", 11, 1) "," OP(
        "batch", 20, 10) "," OP("batch", 40, 10) "," OP("setup", 60, 90) "]");
    sb_analysis *a = analysis_of(t, NULL);
    assert_int_equal(a->rule, SB_STEPS_PERIODIC);
    assert_int_equal(a->step_count, 3);
    assert_int_equal(a->stats.median, 10 * SB_PS_PER_US);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void memory_of_torch_has_its_peak_and_who_holds_it(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(FULL);
    sb_arena arena;
    sb_memory_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_memory(t, 0, 100, &v, &arena));
    assert_int_equal(v.events, 2507);
    assert_true(v.point_count <= 102);
    int64_t greatest = 0, held = 0;
    for (size_t i = 0; i < t->memory.n; i++)
        if (t->memory.items[i].allocated > greatest) greatest = t->memory.items[i].allocated;
    assert_int_equal(v.peak, greatest);
    bool is_shown = false;
    for (size_t i = 0; i < v.point_count; i++) is_shown |= v.points[i].allocated == greatest;
    assert_true(is_shown);
    for (size_t i = 0; i < v.row_count; i++) held += v.rows[i].peak;
    assert_true(held > 0 && held <= greatest);
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

#define ALLOCATED(ts, address, bytes, total)                                                       \
    AT("[memory]", ts,                                                                             \
       "\"ph\":\"i\",\"s\":\"t\",\"args\":{\"Device Type\":0,\"Device Id\":-1,\"Addr\":" #address  \
       ",\"Bytes\":" #bytes ",\"Total Allocated\":" #total "}")

static void what_is_held_at_the_peak_is_all_that_was_allocated_by_then(void **state) {
    (void)state;
    /* three allocations have the same time: the peak is after the last of them */
    sb_trace *t = trace_of_text(
        "{\"schemaVersion\":1,\"traceEvents\":[" ALLOCATED(1, 16, 100, 100) "," ALLOCATED(
            5, 32, 20, 120) "," ALLOCATED(5, 48, 30,
                                          150) "," ALLOCATED(5, 64, 50,
                                                             200) "," ALLOCATED(9, 64, -50,
                                                                                150) "]}");
    sb_arena arena;
    sb_memory_view v;
    int64_t held = 0;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_memory(t, 0, 100, &v, &arena));
    for (size_t i = 0; i < v.row_count; i++) held += v.rows[i].peak;
    assert_int_equal(v.peak, 200);
    assert_int_equal(held, 200);
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

static void modules_of_torch_are_a_tree(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(FULL);
    sb_arena arena;
    sb_module_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_modules(t, &v, &arena));
    assert_true(v.n > 3);
    assert_slice_is(sb_trace_name(t, v.rows[0].name), "nn.Module: Sequential_0");
    assert_int_equal(v.rows[0].parent, -1);
    assert_int_equal(v.rows[0].calls, 3);
    for (size_t i = 1; i < v.n; i++) {
        assert_true(v.rows[i].parent < (int32_t)i);
        if (v.rows[i].parent >= 0)
            assert_true(v.rows[i].host_total <= v.rows[v.rows[i].parent].host_total);
    }
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

static void every_gap_of_a_device_has_its_cause(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    sb_analysis *a = analysis_of(t, NULL);
    size_t before = t->tracks.n;
    assert_ok(sb_trace_add_idle(t, a, NULL), NULL);
    assert_int_equal(t->tracks.n, before + 1);
    const sb_track *idle = &t->tracks.items[before];
    const sb_source_parts *p = &a->sources[0];
    int64_t sum = 0, wanted = 0;
    for (size_t i = 0; i < idle->spans.n; i++) {
        const sb_trace_span *s = &idle->spans.items[i];
        assert_int_equal(s->lane, 0);
        assert_int_equal(sb_intervals_inside(&p->active[SB_PART_COMPUTE], s->start, sb_span_end(s)),
                         0);
        sum += s->dur;
    }
    for (int part = SB_PART_INPUT; part < SB_PART_COUNT; part++) wanted += p->parts[part];
    assert_int_equal(sum, wanted);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void a_stage_of_input_spends_what_the_stages_inside_leave(void **state) {
    (void)state;
    /* operators and Python frames inside a stage are its work; another stage inside is not */
    sb_trace *t = trace_of_text(STEP_100 ON_THREAD(
        2, "user_annotation", "enumerate(DataLoader)#_Iter.__next__", 10,
        50) "," ON_THREAD(2, "python_function", "collate.py(7): collate", 12,
                          46) "," ON_THREAD(2, "cpu_op", "aten::stack", 20,
                                            30) "," ON_THREAD(2, "user_annotation",
                                                              "enumerate(DataPipe)#read", 22,
                                                              8) "]");
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_input_view v;
    int64_t sum = 0;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_input(a, &v, &arena));
    assert_int_equal(v.row_count, 2);
    assert_int_equal(v.rows[0].total, 50 * SB_PS_PER_US);
    assert_int_equal(v.rows[0].self, 42 * SB_PS_PER_US);
    assert_int_equal(v.rows[1].self, 8 * SB_PS_PER_US);
    for (int i = 0; i < SB_INPUT_PARTS; i++) sum += v.parts[i];
    assert_int_equal(sum, 50 * SB_PS_PER_US);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

#define TF(tid, name, ts, dur)                                                                     \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur  \
    "}"

static void a_pipeline_that_runs_ahead_is_nothing_that_a_step_waits_for(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        "[" TF(1, "SessionRun", 0, 100) "," TF(1, "IteratorGetNextOp::DoCompute", 0, 20) "," TF(
            1, "Iterator::Prefetch", 2,
            16) "," TF(1, "dense:MatMul", 40, 30) "," TF(2,
                                                         "PrefetchProd"
                                                         "uce",
                                                         5, 95) "," TF(2, "Iterator::ParallelMapV2",
                                                                       6, 90) "]");
    sb_analysis *a = analysis_of(t, "SessionRun");
    sb_arena arena;
    sb_advice *v;
    size_t n;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_int_equal(a->stats.parts[SB_PART_INPUT], 20 * SB_PS_PER_US);
    assert_int_equal(a->stats.parts[SB_PART_HOST], 30 * SB_PS_PER_US);
    assert_int_equal(a->sources[0].host_busy, 100 * SB_PS_PER_US);
    assert_true(sb_view_advice(a, &v, &n, &arena));
    assert_true(n >= 1);
    assert_string_equal(v[0].id, "input");
    assert_int_equal(v[0].count, 1);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void functions_of_an_input_pipeline_are_no_steps(void **state) {
    (void)state;
#define MAPPED(ts)                                                                                 \
    TF(2, "InstantiatedCapturedFunction::RunAsync", ts, 9) "," TF(2, "FunctionRun", ts, 8) ","
    sb_trace *t = trace_of_text("[" MAPPED(0) MAPPED(10) MAPPED(20) MAPPED(30) MAPPED(40) TF(
        1, "FunctionRun", 0, 10) "," TF(1, "FunctionRun", 20, 10) "]");
    sb_analysis *a = analysis_of(t, NULL);
    assert_int_equal(a->rule, SB_STEPS_FUNCTION);
    assert_int_equal(a->step_count, 2);
    sb_analysis_free(a);
    a = analysis_of(t, "FunctionRun"); /* who asks for all of them gets them, the outermost */
    assert_int_equal(a->step_count, 5);
    sb_analysis_free(a);
    sb_trace_free(t);
#undef MAPPED
}

static void memory_of_torch_counts_for_what_the_program_marks(void **state) {
    (void)state;
#define MEMORY(ts, bytes, address)                                                                 \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"       \
    "\"ts\":" #ts ",\"args\":{\"Device Type\":0,\"Addr\":" #address ",\"Bytes\":" #bytes "}}"
    sb_trace *t = trace_of_text("{\"schemaVersion\":1,\"traceEvents\":" STEP_100 ON_THREAD(
        2, "user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 10,
        20) "," ON_THREAD(2, "cpu_op", "aten::mm", 40,
                          20) "," MEMORY(15, -64, 1) "," MEMORY(45, 256, 2) "," MEMORY(70, -256,
                                                                                       2) "]}");
    sb_arena arena;
    sb_memory_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_int_equal(t->memory_devices.n, 1);
    assert_true(sb_view_memory(t, 0, 10, &v, &arena));
    assert_int_equal(v.row_count, 3);
    for (size_t i = 0; i < v.row_count; i++) {
        assert_true(v.rows[i].name > 0);
        sb_slice name = sb_trace_name(t, v.rows[i].name - 1);
        int64_t held = v.rows[i].bytes - v.rows[i].freed;
        if (sb_slice_eq(name, SB_LIT("aten::mm")))
            assert_int_equal(held, 256);
        else if (sb_slice_eq(name, SB_LIT("ProfilerStep*")))
            assert_int_equal(held, -256);
        else
            assert_int_equal(held, -64);
    }
    sb_arena_fini(&arena);
    sb_trace_free(t);
#undef MEMORY
}

static void a_capture_does_not_differ_from_itself(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_difference d;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    for (int by = SB_DIFFER_OPS; by <= SB_DIFFER_MODULES; by++) {
        assert_true(sb_view_difference(a, a, (sb_difference_by)by, &d, &arena));
        for (size_t i = 0; i < d.n; i++) assert_int_equal(d.rows[i].total[0], d.rows[i].total[1]);
    }
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void captures_with_and_without_a_device_are_compared_by_time_of_the_host(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU), *u = trace_of_fixture(FULL);
    sb_analysis *a = analysis_of(t, NULL), *b = analysis_of(u, NULL);
    const sb_op_row *op = op_named(a, "aten::mm");
    sb_arena arena;
    sb_difference d;
    bool is_found = false;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(a->has_device && !b->has_device && op->device_self > 0);
    assert_true(sb_view_difference(a, b, SB_DIFFER_OPS, &d, &arena));
    for (size_t i = 0; i < d.n; i++) {
        if (!sb_slice_eq(d.rows[i].name, SB_LIT("aten::mm"))) continue;
        is_found = true;
        assert_int_equal(d.rows[i].total[0], op->host_self / (int64_t)a->step_count);
    }
    assert_true(is_found);
    sb_arena_fini(&arena);
    sb_analysis_free(b);
    sb_analysis_free(a);
    sb_trace_free(u);
    sb_trace_free(t);
}

static void advice_names_its_evidence(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" OP("enumerate(DataLoader)#_Single.__next__", 0, 60) "," OP(
        "aten::mm", 60, 40) "," OP("ProfilerStep#1", 0, 100) "]");
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_advice *v;
    size_t n;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_advice(a, &v, &n, &arena));
    assert_int_equal(n, 1);
    assert_string_equal(v[0].id, "input");
    assert_int_equal(v[0].saves, 60 * SB_PS_PER_US);
    assert_int_equal(v[0].slice_count, 1);
    assert_int_equal(t->tracks.items[v[0].tracks[0]].spans.items[v[0].slices[0]].dur,
                     60 * SB_PS_PER_US);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void advice_about_idle_time_wins_that_of_a_median_step(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_text("[" ON_THREAD(2, "user_annotation", "ProfilerStep#1", 0, 100) "," ON_THREAD(
            2, "user_annotation", "ProfilerStep#2", 100,
            100) "," ON_THREAD(2, "user_annotation", "ProfilerStep#3", 200,
                               2000) "," KERNEL(7, "a", 10,
                                                20) "," KERNEL(7, "a", 110,
                                                               20) "," KERNEL(7, "a", 210, 20) "]");
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_advice *v;
    size_t n;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_advice(a, &v, &n, &arena));
    assert_int_equal(n, 1);
    assert_string_equal(v[0].id, "idle");
    assert_int_equal(a->stats.median, 100 * SB_PS_PER_US);
    assert_int_equal(v[0].saves, 80 * SB_PS_PER_US);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void a_search_finds_the_slices_of_advice(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" OP("enumerate(DataLoader)#_Single.__next__", 0, 60) "," OP(
        "DataLoader.setup", 60, 10) "," OP("enumerate(DataLoader)#_Single.__next__", 70, 5) "]");
    sb_evidence evidence = {SB_TRACK_THREAD, SB_SPAN_INPUT, 50 * SB_PS_PER_US};
    sb_search_ask ask = {.evidence = &evidence, .to = INT64_MAX / 4, .limit = 10};
    sb_search_result found;
    sb_arena arena;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_ok(sb_trace_search(t, &ask, &found, &arena, &err), &err);
    assert_int_equal(found.total, 1);
    assert_int_equal(found.items[0].start, 70 * SB_PS_PER_US);
    evidence.shorter_than = 0;
    assert_ok(sb_trace_search(t, &ask, &found, &arena, &err), &err);
    assert_int_equal(found.total, 2);
    ask.text = SB_LIT("setup");
    assert_ok(sb_trace_search(t, &ask, &found, &arena, &err), &err);
    assert_int_equal(found.total, 0);
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

static void the_host_is_idle_while_it_waits_for_the_device(void **state) {
    (void)state;
#define ON_HOST(cat, name, ts, dur) AT(name, ts, "\"ph\":\"X\",\"cat\":\"" cat "\",\"dur\":" #dur)
    sb_trace *t = trace_of_text("{\"schemaVersion\":1,\"traceEvents\":[" ON_HOST(
        "user_annotation", "ProfilerStep#1", 0,
        100) "," ON_HOST("cpu_op", "a", 0,
                         20) "," ON_HOST("cpu_op", "b", 10,
                                         10) "," ON_HOST("cuda_runtime", "cudaDeviceSynchronize",
                                                         30, 60) "," ON_HOST("cuda_runtime",
                                                                             "cudaLaunchKernel", 90,
                                                                             5) "]}");
#undef ON_HOST
    sb_analysis *a;
    assert_int_equal(sb_analysis_new(&a, t, NULL, NULL), SB_OK);
    assert_int_equal(a->sources[0].host_busy, 25 * SB_PS_PER_US);
    assert_true(a->host_busy == 0.25);
    assert_false(a->has_device);
    sb_analysis_free(a);
    sb_trace_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_idle_while_it_waits_for_the_device),
        cmocka_unit_test(parts_of_a_step_add_up_to_its_length),
        cmocka_unit_test(every_kernel_of_torch_belongs_to_an_operator),
        cmocka_unit_test(a_kernel_of_an_id_used_again_belongs_to_the_operator_before_it),
        cmocka_unit_test(self_time_is_what_the_operators_inside_leave),
        cmocka_unit_test(an_overload_that_only_calls_another_is_one_call),
        cmocka_unit_test(any_name_can_be_the_step),
        cmocka_unit_test(without_marks_the_heaviest_name_that_repeats_is_the_step),
        cmocka_unit_test(memory_of_torch_has_its_peak_and_who_holds_it),
        cmocka_unit_test(what_is_held_at_the_peak_is_all_that_was_allocated_by_then),
        cmocka_unit_test(modules_of_torch_are_a_tree),
        cmocka_unit_test(every_gap_of_a_device_has_its_cause),
        cmocka_unit_test(a_stage_of_input_spends_what_the_stages_inside_leave),
        cmocka_unit_test(a_pipeline_that_runs_ahead_is_nothing_that_a_step_waits_for),
        cmocka_unit_test(functions_of_an_input_pipeline_are_no_steps),
        cmocka_unit_test(memory_of_torch_counts_for_what_the_program_marks),
        cmocka_unit_test(a_capture_does_not_differ_from_itself),
        cmocka_unit_test(captures_with_and_without_a_device_are_compared_by_time_of_the_host),
        cmocka_unit_test(advice_names_its_evidence),
        cmocka_unit_test(advice_about_idle_time_wins_that_of_a_median_step),
        cmocka_unit_test(a_search_finds_the_slices_of_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
