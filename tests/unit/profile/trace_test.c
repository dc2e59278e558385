/* trace_test.c: reading of traces: fixtures of every format, lanes, joins, and bad input. Expected
 * figures of fixtures were counted with Python's json and protobuf. */
#include "profile/trace/trace.h"

#include "profile/trace/window.h"
#include "unit/profile/trace_bed.h"
#include "base/banned.h"

/* ---- fixtures -------------------------------------------------------------------------------- */

static void xspace_of_jax_on_the_cpu_opens(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture("profile/jax/cpu_0.vm.xplane.pb.gz");
    assert_int_equal(t->sources.items[0].format, SB_FORMAT_XSPACE);
    assert_int_equal(t->span_count, 21442);
    assert_int_equal(count_named(t, "ThreadpoolListener::Record", NULL), 6616);
    assert_int_equal(count_kind(t, SB_SPAN_STEP), 10);
    /* an empty GPU plane is told and makes no device */
    assert_int_equal(t->odds[SB_TRACE_ODD_EMPTY_DEVICE].n, 1);
    assert_int_equal(t->devices.items[0].group, SB_NO_INDEX);
    assert_slice_is(t->devices.items[0].name, "NVIDIA H200");
    assert_true(t->base_ns > INT64_C(1794737076094723841));
    sb_trace_free(t);
}

static void xspace_of_jax_on_a_gpu_joins_launches_and_kernels(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture("profile/jax/cuda_0.vm.xplane.pb.gz");
    uint32_t stream = track_named(t, "Stream #14(MemcpyD2D,Compute)");
    assert_int_not_equal(stream, SB_NO_INDEX);
    assert_int_equal(t->tracks.items[stream].kind, SB_TRACK_STREAM);
    assert_int_equal(t->tracks.items[stream].spans.n, 184);
    assert_true(t->odds[SB_TRACE_ODD_CROSSING].n > 0);
    assert_true(t->tracks.items[stream].lane_count > 1);
    assert_true(t->flows.n > 0);
    assert_int_equal(t->tracks.items[t->flows.items[0].to_track].kind, SB_TRACK_STREAM);
    assert_int_not_equal(track_named(t, "XLA Modules"), SB_NO_INDEX);
    assert_true(t->memory.n >= 130);
    sb_trace_free(t);
}

static void torch_on_a_gpu_joins_every_kernel(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    assert_int_equal(t->sources.items[0].format, SB_FORMAT_KINETO);
    assert_int_equal(count_kind(t, SB_SPAN_KERNEL), 408);
    assert_int_equal(count_kind(t, SB_SPAN_COPY), 21);
    assert_int_equal(count_kind(t, SB_SPAN_OP), 3489);
    uint32_t launches = 0, backward = 0;
    for (size_t i = 0; i < t->flows.n; i++) {
        launches += t->flows.items[i].kind == SB_FLOW_LAUNCH;
        backward += t->flows.items[i].kind == SB_FLOW_FORWARD_BACKWARD;
    }
    assert_int_equal(launches, 429);
    assert_int_equal(backward, 282);
    int64_t total;
    assert_int_equal(count_named(t, "ProfilerStep#2", &total),
                     2); /* of the thread and of the stream */
    assert_int_equal(t->odds[SB_TRACE_ODD_CROSSING].n, 0);
    assert_int_equal(t->odds[SB_TRACE_ODD_BAD_JSON].n, 0);
    sb_trace_free(t);
}

static void torch_with_everything_on_opens(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(FULL);
    assert_int_equal(count_kind(t, SB_SPAN_OP), 5676);
    assert_int_equal(t->memory.n, 2507);
    assert_true(t->odds[SB_TRACE_ODD_CROSSING].n > 0);
    int64_t total;
    assert_int_equal(count_named(t, "ProfilerStep#2", &total), 1);
    assert_int_equal(total, INT64_C(46820445000)); /* exactly, in picoseconds */
    sb_trace_free(t);
}

static void a_trace_json_of_jax_holds_what_its_xspace_holds(void **state) {
    (void)state;
    sb_trace *x = trace_of_fixture("profile/jax/cpu_0.vm.xplane.pb.gz");
    sb_trace *j = trace_of_fixture("profile/jax/cpu_0.trace.json.gz");
    int64_t a, b;
    assert_int_equal(count_named(x, "train", &a), count_named(j, "train", &b));
    assert_int_equal(a, b);
    assert_int_equal(count_named(x, "PythonRefManager::CollectGarbage", &a),
                     count_named(j, "PythonRefManager::CollectGarbage", &b));
    assert_int_equal(a, b);
    sb_trace_free(j);
    sb_trace_free(x);
}

static void xspace_of_keras_opens(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_fixture("tf/keras/logs/train/plugins/profile/2026_11_15_10_38_43/vm.xplane.pb");
    assert_int_equal(count_named(t, "ExecutorState::Process", NULL), 167);
    assert_true(count_kind(t, SB_SPAN_INPUT) > 20);
    sb_trace_free(t);
}

static void ranks_share_one_axis(void **state) {
    (void)state;
    sb_trace *t = trace_of_ranks();
    assert_int_equal(t->sources.items[0].rank, 0);
    assert_int_equal(t->sources.items[1].rank, 1);
    assert_int_equal(t->sources.items[1].world, 2);
    int64_t first[2] = {0, 0};
    for (uint32_t i = 0; i < t->tracks.n; i++)
        for (uint32_t k = 0; k < t->tracks.items[i].spans.n; k++) {
            const sb_trace_span *s = &t->tracks.items[i].spans.items[k];
            if (sb_slice_eq(sb_trace_name(t, s->name), SB_LIT("ProfilerStep#2")))
                first[sb_track_source(t, &t->tracks.items[i])] = s->start;
        }
    /* both began the step within a tenth of a second */
    assert_true(llabs(first[0] - first[1]) < INT64_C(100000) * SB_PS_PER_US);
    assert_true(t->duration < INT64_C(10) * 1000000 * SB_PS_PER_US);
    sb_trace_free(t);
}

/* ---- lanes and windows ----------------------------------------------------------------------- */

static void what_ends_where_a_span_begins_is_not_inside_it(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_text("[" X("f", 0, 10) "," X("g", 5, 5) "," X("f", 10, 10) "," X("h", 10, 2) "]");
    const sb_track *k = &t->tracks.items[0];
    uint32_t children;
    assert_int_equal(sb_track_self(k, 0, &children), 5 * SB_PS_PER_US);
    assert_int_equal(children, 1);
    assert_int_equal(sb_track_self(k, 1, &children), 8 * SB_PS_PER_US);
    assert_int_equal(children, 1);
    sb_trace_free(t);
}

static void spans_that_cross_get_a_lane_and_keep_their_length(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" X("a", 0, 10) "," X("b", 2, 3) "," X("c", 4, 10) "]");
    const sb_track *k = &t->tracks.items[0];
    assert_int_equal(k->lane_count, 3);
    assert_int_equal(t->odds[SB_TRACE_ODD_CROSSING].n, 1);
    assert_int_equal(k->spans.items[2].dur, 10 * SB_PS_PER_US);
    assert_int_equal(sb_track_parent(k, 1), 0);
    assert_int_equal(sb_track_self(k, 0, NULL), 7 * SB_PS_PER_US);
    sb_trace_free(t);
}

/* Kernels of a stream may each begin before the last one has ended, thousands in a row. */
static void spans_that_cross_in_a_chain_take_turns_in_two_lanes(void **state) {
    (void)state;
    sb_buf text;
    const int n = 3000;
    for (int how = 0; how < 2; how++) {
        sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
        for (int i = 0; i < n; i++) {
            sb_buf_add_str(&text, i ? ",{" : "[{");
            sb_buf_printf(&text, "\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":%d,", i * 10);
            if (how)
                sb_buf_printf(&text, "\"cat\":\"rpc\",\"ph\":\"b\",\"id\":%d}", i);
            else
                sb_buf_add_str(&text, "\"cat\":\"kernel\",\"ph\":\"X\",\"dur\":11}");
            if (how)
                sb_buf_printf(&text,
                              ",{\"cat\":\"rpc\",\"ph\":\"e\",\"id\":%d,\"name\":\"a\","
                              "\"pid\":0,\"ts\":%d}",
                              i, i * 10 + 11);
        }
        sb_buf_add_byte(&text, ']');
        sb_trace *t = trace_of_bytes(sb_buf_slice(&text));
        assert_int_equal(t->tracks.items[0].lane_count, 2);
        assert_int_equal(t->span_count, n);
        assert_int_equal(t->odds[SB_TRACE_ODD_DEEP].n, 0);
        assert_int_equal(t->odds[SB_TRACE_ODD_CROSSING].n, n - 1);
        sb_trace_free(t);
        sb_buf_fini(&text);
    }
}

#define ON_STREAM(name, cat, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts      \
    ",\"dur\":" #dur "}"

/* What encloses a span stays above it, also where lanes are used again. */
/* With stacks, torch begins each step inside of functions that began in the step before, and end
 * in the new one. */
static void steps_inside_functions_that_outlive_the_last_step_share_a_lane(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        "[" X("run", 0, 300) "," X("enter", 8, 4) "," X("step", 10, 90) "," X("next", 98, 6) "," X(
            "enter", 99, 4) "," X("step", 101, 99) "," X("next", 198,
                                                         6) "," X("enter", 199,
                                                                  4) "," X("step", 201,
                                                                           89) "," X("work", 210,
                                                                                     50) "]");
    const sb_track *k = &t->tracks.items[0];
    uint32_t steps = 0;
    for (uint32_t i = 0; i < k->spans.n; i++) {
        const sb_trace_span *s = &k->spans.items[i];
        if (sb_slice_eq(sb_trace_name(t, s->name), SB_LIT("work")))
            assert_int_equal(k->spans.items[sb_track_parent(k, i)].start, 201 * SB_PS_PER_US);
        if (!sb_slice_eq(sb_trace_name(t, s->name), SB_LIT("step"))) continue;
        assert_int_equal(s->lane, 2);
        steps++;
    }
    assert_int_equal(steps, 3);
    assert_int_equal(k->lane_count, 4);
    sb_trace_free(t);
}

static void an_annotation_stays_above_the_kernels_that_cross_inside_it(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_text("[" ON_STREAM("around", "gpu_user_annotation", 0, 100) "," ON_STREAM(
            "a", "kernel", 1, 11) "," ON_STREAM("b", "kernel", 10, 15) "," ON_STREAM("c", "kernel",
                                                                                     20, 20) "]");
    const sb_track *k = &t->tracks.items[0];
    assert_int_equal(k->lane_count, 3);
    for (uint32_t i = 1; i < 4; i++) assert_int_equal(sb_track_parent(k, i), 0);
    assert_int_equal(count_named(t, "c", NULL), 1);
    sb_trace_free(t);
}

static void a_track_is_busy_while_anything_runs(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        "[" X("a", 0, 10) "," X("b", 5, 15) "," X("c", 30, 5) "," X("inside", 31, 2) "]");
    assert_int_equal(t->tracks.items[0].busy, 25 * SB_PS_PER_US);
    sb_trace_free(t);
}

static void a_stream_is_busy_while_a_kernel_or_a_copy_runs(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(GPU);
    uint32_t stream = SB_NO_INDEX;
    int64_t busy = 0;
    for (uint32_t i = 0; stream == SB_NO_INDEX && i < t->tracks.n; i++)
        if (t->tracks.items[i].kind == SB_TRACK_STREAM && t->tracks.items[i].spans.n) stream = i;
    const sb_track *k = &t->tracks.items[stream];
    for (size_t i = 0; i < k->spans.n; i++)
        if (k->spans.items[i].kind == SB_SPAN_KERNEL || k->spans.items[i].kind == SB_SPAN_COPY)
            busy += k->spans.items[i].dur;
    assert_int_equal(k->busy, busy); /* not the annotations around them */
    sb_trace_free(t);
}

static void the_window_of_a_capture_makes_nothing_busy(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture(FULL);
    uint32_t windows = 0;
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        const sb_track *k = &t->tracks.items[i];
        if (!sb_slice_eq(k->name, SB_LIT("PyTorch Profiler"))) continue;
        assert_slice_is(t->groups.items[k->group].name, "Spans");
        assert_int_equal(k->busy, 0);
        windows++;
    }
    assert_int_equal(windows, 1);
    assert_int_equal(count_named(t, "PyTorch Profiler (0)", NULL), 1);
    sb_trace_free(t);
}

static void ids_that_are_texts_are_names_by_themselves(void **state) {
    (void)state;
    sb_trace *t = trace_of_text(
        "[{\"name\":\"a\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":0,\"tid\":\"stream 7\",\"ts\":1,"
        "\"dur\":1},{\"name\":\"b\",\"ph\":\"X\",\"pid\":12,\"tid\":34,\"ts\":1,\"dur\":1},"
        "{\"name\":\"end\",\"ph\":\"i\",\"pid\":\"\",\"tid\":\"\",\"ts\":2}]");
    assert_slice_is(t->tracks.items[0].name, "stream 7");
    assert_slice_is(t->groups.items[t->tracks.items[0].group].name, "GPU 0");
    assert_slice_is(t->tracks.items[1].name, "thread 34");
    assert_slice_is(t->groups.items[t->tracks.items[1].group].name, "process 12");
    assert_slice_is(t->tracks.items[2].name, "marks of the profiler");
    sb_trace_free(t);
}

static void a_window_merges_what_is_narrower_than_a_pixel_and_loses_nothing(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture("profile/jax/cpu_0.vm.xplane.pb.gz");
    for (uint32_t pixels = 1; pixels <= 4096; pixels *= 8)
        for (uint32_t i = 0; i < t->tracks.n; i++) {
            const sb_track *k = &t->tracks.items[i];
            sb_rects rects = {0};
            uint64_t spans, sum = 0;
            double busy = 0, wanted = 0;
            sb_window w = {0, t->duration, pixels};
            assert_true(sb_window_rects(k, &w, &rects, &sb_alloc_libc, &spans));
            assert_int_equal(spans, k->spans.n);
            assert_true(rects.n <= (size_t)k->lane_count * (2u * pixels + 2));
            for (size_t n = 0; n < rects.n; n++) {
                sum += rects.items[n].count;
                busy += (double)rects.items[n].busy * (double)rects.items[n].dur;
                if (n && rects.items[n].lane == rects.items[n - 1].lane)
                    assert_true(rects.items[n].start >=
                                rects.items[n - 1].start + rects.items[n - 1].dur);
            }
            for (size_t n = 0; n < k->spans.n; n++) wanted += (double)k->spans.items[n].dur;
            assert_int_equal(sum, k->spans.n);
            assert_true(busy > wanted * 0.999 - 1e6 && busy < wanted * 1.001 + 1e6);
            SB_VEC_FREE(&rects, &sb_alloc_libc);
        }
    sb_trace_free(t);
}

static void counters_keep_their_extremes(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_text("[{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":0,\"args\":{\"v\":1}},"
                      "{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":5,\"args\":{\"v\":9}},"
                      "{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":6,\"args\":{\"v\":-3}},"
                      "{\"ph\":\"C\",\"name\":\"m\",\"pid\":1,\"ts\":99,\"args\":{\"v\":2}}]");
    sb_count_bars bars = {0};
    uint64_t points;
    sb_window w = {0, 100 * SB_PS_PER_US, 2};
    assert_true(sb_window_counts(&t->tracks.items[0], &w, &bars, &sb_alloc_libc, &points));
    assert_int_equal(points, 3);
    assert_int_equal(bars.n, 3);
    assert_true(bars.items[1].least == -3 && bars.items[1].greatest == 9 &&
                bars.items[1].last == -3);
    SB_VEC_FREE(&bars, &sb_alloc_libc);
    sb_trace_free(t);
}

/* ---- totals, search, arguments --------------------------------------------------------------- */

static void totals_cut_spans_at_the_edges_of_the_range(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" X("a", 0, 10) "," X("b", 2, 3) "," X("b", 6, 2) "]");
    sb_arena arena;
    sb_totals totals;
    uint32_t track = 0;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_totals_ask ask = {
        .tracks = &track, .track_count = 1, .from = 3 * SB_PS_PER_US, .to = 7 * SB_PS_PER_US};
    assert_ok(sb_trace_totals(t, &ask, &totals, &arena, NULL), NULL);
    assert_int_equal(totals.n, 2);
    assert_int_equal(totals.items[0].total, 4 * SB_PS_PER_US);
    assert_int_equal(totals.items[0].self, 1 * SB_PS_PER_US);
    assert_int_equal(totals.items[1].count, 2);
    assert_int_equal(totals.items[1].total, 3 * SB_PS_PER_US);
    assert_int_equal(totals.items[1].greatest, 3 * SB_PS_PER_US);
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

static void search_finds_parts_of_names_in_order_of_time(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" X("Conv2d", 5, 1) "," X("relu", 2, 1) "," X("conv", 1, 1) "]");
    sb_arena arena;
    sb_search_result found;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_search_ask ask = {.text = SB_LIT("CONV"), .to = INT64_MAX, .limit = 10};
    assert_ok(sb_trace_search(t, &ask, &found, &arena, NULL), NULL);
    assert_int_equal(found.total, 2);
    assert_int_equal(found.name_count, 2);
    assert_true(found.items[0].start < found.items[1].start);
    sb_arena_fini(&arena);
    sb_trace_free(t);
}

static void assert_args(const sb_trace *t, uint32_t track, uint32_t index, const char *part) {
    sb_buf out;
    sb_arena arena;
    sb_slice category;
    sb_err err = {0};
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_ok(sb_span_args(t, track, index, &out, &category, &arena, &err), &err);
    sb_buf_add_byte(&out, 0);
    if (!strstr((const char *)out.p, part)) fail_msg("%s is not in %s", part, (const char *)out.p);
    sb_arena_fini(&arena);
    sb_buf_fini(&out);
}

static void arguments_are_read_from_the_file(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture("profile/jax/cuda_0.vm.xplane.pb.gz");
    assert_args(t, track_named(t, "Stream #15(MemcpyH2D)"), 0, "\"correlation_id\":11");
    assert_args(t, track_named(t, "Stream #15(MemcpyH2D)"), 0,
                "kind_src:pinned kind_dst:device size:4");
    sb_trace_free(t);
    t = trace_of_fixture(GPU);
    uint32_t stream = track_named(t, "stream 7");
    assert_int_not_equal(stream, SB_NO_INDEX);
    assert_args(t, stream, 3, "\"External id\":");
    sb_trace_free(t);
}

/* Of spans whose arguments hold a text: how many; all must have this name. */
static uint64_t count_by_args(const sb_trace *t, const char *text, const char *name) {
    sb_arena arena;
    sb_search_result found;
    sb_err err = {0};
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 16 << 20);
    sb_search_ask ask = {
        .text = sb_slice_str(text), .in_args = true, .to = INT64_MAX, .limit = 10000};
    assert_ok(sb_trace_search(t, &ask, &found, &arena, &err), &err);
    for (size_t i = 0; i < found.n; i++) {
        const sb_found_span *f = &found.items[i];
        uint32_t id = t->tracks.items[f->track].spans.items[f->index].name;
        if (name && !sb_slice_eq(sb_trace_name(t, id), sb_slice_str(name)))
            fail_msg("found %.*s", SB_SHOWN(sb_trace_name(t, id)));
    }
    uint64_t total = found.total;
    sb_arena_fini(&arena);
    return total;
}

static void search_finds_what_json_writes_with_escapes(void **state) {
    sb_test_dir *d = *state;
    const char *path = sb_test_dir_put(
        d, "trace.json",
        SB_LIT("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,\"args\":{"
               "\"file\":\"C:\\\\data\",\"say\":\"a \\\"word\\\"\",\"zh\":\"\\u8BAD\\u7ec3\"}},"
               "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":9,\"dur\":5,\"args\":{"
               "\"zh\":\"\xe8\xae\xad\xe7\xbb\x83\"}}]"));
    sb_trace *t = trace_of_files(&(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1);
    assert_int_equal(count_by_args(t, "c:\\DATA", "a"), 1);
    assert_int_equal(count_by_args(t, "a \"word\"", "a"), 1);
    assert_int_equal(count_by_args(t, "\xe8\xae\xad\xe7\xbb\x83", NULL), 2);
    sb_trace_free(t);
}

static void search_finds_spans_by_their_arguments(void **state) {
    (void)state;
    sb_trace *t = trace_of_fixture("profile/jax/cuda_0.vm.xplane.pb.gz");
    assert_int_equal(count_by_args(t, "REGS:121", "gemm_fusion_dot_1"), 30);
    assert_int_equal(count_by_args(t, "kind_src:pinned", NULL), 1);
    assert_int_equal(count_by_args(t, "no such text", NULL), 0);
    sb_trace_free(t);
    t = trace_of_fixture(GPU);
    assert_int_equal(count_by_args(t, "registers per thread", NULL), 408);
    assert_int_equal(count_by_args(t, "traceEvents", NULL), 0); /* not in the arguments of a span */
    sb_trace_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xspace_of_jax_on_the_cpu_opens),
        cmocka_unit_test(xspace_of_jax_on_a_gpu_joins_launches_and_kernels),
        cmocka_unit_test(torch_on_a_gpu_joins_every_kernel),
        cmocka_unit_test(torch_with_everything_on_opens),
        cmocka_unit_test(a_trace_json_of_jax_holds_what_its_xspace_holds),
        cmocka_unit_test(xspace_of_keras_opens),
        cmocka_unit_test(ranks_share_one_axis),
        cmocka_unit_test(what_ends_where_a_span_begins_is_not_inside_it),
        cmocka_unit_test(spans_that_cross_get_a_lane_and_keep_their_length),
        cmocka_unit_test(spans_that_cross_in_a_chain_take_turns_in_two_lanes),
        cmocka_unit_test(steps_inside_functions_that_outlive_the_last_step_share_a_lane),
        cmocka_unit_test(an_annotation_stays_above_the_kernels_that_cross_inside_it),
        cmocka_unit_test(a_track_is_busy_while_anything_runs),
        cmocka_unit_test(a_stream_is_busy_while_a_kernel_or_a_copy_runs),
        cmocka_unit_test(the_window_of_a_capture_makes_nothing_busy),
        cmocka_unit_test(ids_that_are_texts_are_names_by_themselves),
        cmocka_unit_test(a_window_merges_what_is_narrower_than_a_pixel_and_loses_nothing),
        cmocka_unit_test(counters_keep_their_extremes),
        cmocka_unit_test(totals_cut_spans_at_the_edges_of_the_range),
        cmocka_unit_test(search_finds_parts_of_names_in_order_of_time),
        cmocka_unit_test(arguments_are_read_from_the_file),
        cmocka_unit_test(search_finds_spans_by_their_arguments),
        cmocka_unit_test_setup_teardown(search_finds_what_json_writes_with_escapes,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
