/* analysis_test.c: steps, parts, operators, kernels, memory, modules, ranks and differences. */
#include "profile/analysis/analysis.h"

#include "profile/analysis/views.h"
#include "unit/profile/trace_bed.h"
#include "base/banned.h"

static sb_analysis *analysis_of(const sb_trace *t, const char *steps) {
    sb_analysis *a = NULL;
    sb_err err = {0};
    sb_analysis_ask ask = {.step_name = sb_slice_str(steps)};
    assert_ok(sb_analysis_new(&a, t, &ask, &err), &err);
    return a;
}

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

static void ranks_show_who_waits_for_whom(void **state) {
    (void)state;
    sb_trace *t = trace_of_ranks();
    sb_analysis *analysis = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(analysis, &v, &arena));
    assert_int_equal(v.rank_count, 2);
    assert_int_equal(v.collective_count, 1);
    assert_slice_is(sb_trace_name(t, v.collectives[0].name), "gloo:all_reduce");
    assert_int_equal(v.collectives[0].calls, 4);
    assert_int_equal(v.collectives[0].bytes, 4 * (2 * 263424 + 2 * 263680));
    for (size_t i = 0; i < 2; i++) {
        const sb_rank_row *r = &v.ranks[i];
        assert_int_equal(r->compute + r->overlap + r->communication + r->other, r->span);
    }
    sb_arena_fini(&arena);
    sb_analysis_free(analysis);
    sb_trace_free(t);
}

#define ON_THREAD(tid, cat, name, ts, dur)                                                         \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid              \
    ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define STEP_100 "[" ON_THREAD(2, "user_annotation", "ProfilerStep#1", 0, 100) ","
#define KERNEL(stream, name, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream            \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":" #stream "}}"

/* Computing, overlap and exposed communication of the only rank, in microseconds. What the steps
 * say about communication must be the same. */
static void check_communication(const char *events, int64_t computing, int64_t overlap,
                                int64_t exposed) {
    sb_trace *t = trace_of_text(events);
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.ranks[0].compute, computing * SB_PS_PER_US);
    assert_int_equal(v.ranks[0].overlap, overlap * SB_PS_PER_US);
    assert_int_equal(v.ranks[0].communication, exposed * SB_PS_PER_US);
    assert_int_equal(a->step_count, 1);
    assert_int_equal(a->steps[0].parts[SB_PART_COMMUNICATION], v.ranks[0].communication);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void without_a_device_operators_of_other_threads_hide_communication(void **state) {
    (void)state;
    check_communication(STEP_100 ON_THREAD(9, "user_annotation", "gloo:all_reduce", 20,
                                           50) "," ON_THREAD(2, "cpu_op", "aten::mm", 10, 40) "]",
                        10, 30, 20);
}

static void an_operator_does_not_hide_the_collective_that_it_calls(void **state) {
    (void)state;
    /* the call that starts it, and the hook of the backward pass around that call */
    check_communication(
        STEP_100 ON_THREAD(9, "user_annotation", "gloo:all_reduce", 20, 50) "," ON_THREAD(
            2, "cpu_op", "autograd::engine::evaluate_function: AccumulateGrad", 10,
            80) "," ON_THREAD(2, "cpu_op", "c10d::allreduce_", 15, 45) "]",
        25, 10, 40);
    /* a collective that runs on the caller's own thread, with its own operators inside */
    check_communication(STEP_100 ON_THREAD(2, "cpu_op", "c10d::allreduce_", 10, 80) "," ON_THREAD(
                            2, "cpu_op", "aten::add_", 40,
                            10) "," ON_THREAD(2, "cpu_op", "record_param_comms", 20, 60) "]",
                        0, 0, 60);
    /* an operator that only waits */
    check_communication(
        STEP_100 ON_THREAD(9, "user_annotation", "gloo:all_reduce", 20, 50) "," ON_THREAD(
            2, "cpu_op", "_c10d_functional::wait_tensor", 25, 50) "]",
        0, 0, 50);
}

static void with_a_device_only_its_kernels_hide_communication(void **state) {
    (void)state;
    check_communication(STEP_100 KERNEL(7, "gemm", 30, 30) "," KERNEL(
                            20, "ncclDevKernel_AllReduce", 40,
                            40) "," ON_THREAD(3, "cpu_op", "aten::mm", 0, 100) "]",
                        10, 20, 20);
}

static void a_call_that_launches_communication_on_a_device_is_work_of_the_host(void **state) {
    (void)state;
    check_communication(STEP_100 KERNEL(20, "ncclDevKernel_AllReduce", 40, 40) "," ON_THREAD(
                            2, "user_annotation", "nccl:all_reduce", 5, 30) "]",
                        0, 0, 40);
}

/* torch projects annotations of the host on the streams, around the kernels that they launched. */
#define PROJECTED(stream, name, ts, dur)                                                           \
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"" name                               \
    "\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define PROJECTED_TRACE                                                                            \
    STEP_100 PROJECTED(7, "ProfilerStep#1", 10, 80) "," KERNEL(7, "gemm", 10, 20) "," PROJECTED(   \
        20, "nccl:all_reduce", 39, 42) "," KERNEL(20, "ncclDevKernel_AllReduce", 40, 40) "]"

static void annotations_on_a_stream_are_neither_kernels_nor_collectives(void **state) {
    (void)state;
    check_communication(PROJECTED_TRACE, 20, 0, 40);
    sb_trace *t = trace_of_text(PROJECTED_TRACE);
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.collective_count, 1);
    assert_slice_is(sb_trace_name(t, v.collectives[0].name), "ncclDevKernel_AllReduce");
    assert_int_equal(a->kernel_count, 2);
    assert_int_equal(a->kernels[0].total + a->kernels[1].total, 60 * SB_PS_PER_US);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

static void a_collective_inside_another_call_of_the_library_is_one_collective(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        STEP_100 ON_THREAD(9, "user_annotation", "gloo:all_reduce", 20,
                           50) "," ON_THREAD(9, "cpu_op", "record_param_comms", 25, 40) "]");
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.collective_count, 1);
    assert_slice_is(sb_trace_name(t, v.collectives[0].name), "gloo:all_reduce");
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

#define HLO(tid, name, ts, dur)                                                                    \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur  \
    ",\"args\":{\"hlo_op\":\"" name "\",\"hlo_module\":\"jit_step\"}}"

static void collectives_of_xla_on_host_threads_are_communication(void **state) {
    (void)state;
    check_communication(STEP_100 HLO(3, "all-reduce.1", 20, 50) "," HLO(
                            4, "collective-broadcast", 75, 5) "," HLO(3, "dot.2", 5, 10) "]",
                        10, 0, 55);
}

static void the_overview_and_the_ranks_agree_on_communication(void **state) {
    (void)state;
    sb_trace *t = trace_of_ranks();
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    for (size_t i = 0; i < 2; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < a->step_count; k++)
            if (a->steps[k].source == i) sum += a->steps[k].parts[SB_PART_COMMUNICATION];
        /* of 4.3 to 12.3 ms in a step a fraction is not hidden: the calls of the library, and what
         * lies between two operators */
        assert_true(sum > 0 && sum < SB_PS_PER_US * 1000);
        /* there is no communication between the steps */
        assert_int_equal(v.ranks[i].communication, sum);
        assert_true(v.ranks[i].overlap > 10 * sum);
    }
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
}

/* Waits of a window are those that the ranks are charged with. */
static void waits_inside_collectives_add_up_to_those_of_the_ranks(void **state) {
    (void)state;
    sb_trace *t = trace_of_ranks();
    sb_analysis *analysis = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_wait *waits;
    size_t n;
    uint64_t total;
    int64_t sums[2] = {0};
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(analysis, &v, &arena));
    assert_true(sb_view_waits(t, 0, t->duration, 100, &waits, &n, &total, &arena));
    assert_int_equal(n, 4); /* of two ranks the later one does not wait */
    assert_int_equal(total, 4);
    for (size_t i = 0; i < n; i++) {
        const sb_track *k = &t->tracks.items[waits[i].track];
        const sb_trace_span *s = &k->spans.items[waits[i].index];
        assert_int_equal(waits[i].start, s->start);
        assert_true(waits[i].wait > 0 && waits[i].wait < s->dur);
        assert_int_not_equal(waits[i].last, sb_track_source(t, k));
        sums[sb_track_source(t, k)] += waits[i].wait;
    }
    assert_int_equal(sums[0], v.ranks[0].wait);
    assert_int_equal(sums[1], v.ranks[1].wait);
    /* no more than asked for, and none of another window */
    assert_true(sb_view_waits(t, 0, t->duration, 1, &waits, &n, &total, &arena));
    assert_int_equal(n, 1);
    assert_int_equal(total, 4);
    assert_true(
        sb_view_waits(t, t->duration + 1, t->duration + 2, 100, &waits, &n, &total, &arena));
    assert_int_equal(total, 0);
    sb_arena_fini(&arena);
    sb_analysis_free(analysis);
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
        cmocka_unit_test(self_time_is_what_the_operators_inside_leave),
        cmocka_unit_test(an_overload_that_only_calls_another_is_one_call),
        cmocka_unit_test(any_name_can_be_the_step),
        cmocka_unit_test(without_marks_the_heaviest_name_that_repeats_is_the_step),
        cmocka_unit_test(memory_of_torch_has_its_peak_and_who_holds_it),
        cmocka_unit_test(what_is_held_at_the_peak_is_all_that_was_allocated_by_then),
        cmocka_unit_test(modules_of_torch_are_a_tree),
        cmocka_unit_test(every_gap_of_a_device_has_its_cause),
        cmocka_unit_test(ranks_show_who_waits_for_whom),
        cmocka_unit_test(without_a_device_operators_of_other_threads_hide_communication),
        cmocka_unit_test(an_operator_does_not_hide_the_collective_that_it_calls),
        cmocka_unit_test(with_a_device_only_its_kernels_hide_communication),
        cmocka_unit_test(a_call_that_launches_communication_on_a_device_is_work_of_the_host),
        cmocka_unit_test(annotations_on_a_stream_are_neither_kernels_nor_collectives),
        cmocka_unit_test(a_collective_inside_another_call_of_the_library_is_one_collective),
        cmocka_unit_test(collectives_of_xla_on_host_threads_are_communication),
        cmocka_unit_test(the_overview_and_the_ranks_agree_on_communication),
        cmocka_unit_test(waits_inside_collectives_add_up_to_those_of_the_ranks),
        cmocka_unit_test(a_stage_of_input_spends_what_the_stages_inside_leave),
        cmocka_unit_test(a_capture_does_not_differ_from_itself),
        cmocka_unit_test(captures_with_and_without_a_device_are_compared_by_time_of_the_host),
        cmocka_unit_test(advice_names_its_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
