/* ranks_test.c: communication: which of it is hidden, who waits for whom, what counts as a
 * collective. */
#include "codec/proto/proto.h"
#include "profile/analysis/views.h"
#include "unit/profile/analysis_bed.h"
#include "base/banned.h"

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

static void add_text_stat(sb_buf *out, uint32_t field, uint64_t id, sb_slice text) {
    size_t stat = sb_pb_begin(out, field, 30);
    sb_pb_add_uint(out, 1, id);
    sb_pb_add_bytes(out, field == 4 ? 5 : 2, text);
    sb_pb_end(out, stat);
}

static void add_entry(sb_buf *out, uint32_t field, uint64_t id, sb_slice name) {
    size_t entry = sb_pb_begin(out, field, 40);
    sb_pb_add_uint(out, 1, id);
    add_text_stat(out, 2, id, name);
    sb_pb_end(out, entry);
}

/* An XSpace does not say how many bytes a collective moves. */
static void a_collective_of_an_xspace_has_no_bytes(void **state) {
    (void)state;
    sb_buf out;
    sb_rank_view v;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&out, 1, 200);
    sb_pb_add_bytes(&out, 2, SB_LIT("/host:CPU"));
    size_t line = sb_pb_begin(&out, 3, 80), event = sb_pb_begin(&out, 4, 60);
    sb_pb_add_uint(&out, 1, 1);
    sb_pb_add_uint(&out, 3, 5000);
    add_text_stat(&out, 4, 1, SB_LIT("all-reduce.1"));
    add_text_stat(&out, 4, 2, SB_LIT("jit_step"));
    sb_pb_end(&out, event);
    sb_pb_end(&out, line);
    add_entry(&out, 4, 1, SB_LIT("all-reduce.1"));
    add_entry(&out, 5, 1, SB_LIT("hlo_op"));
    add_entry(&out, 5, 2, SB_LIT("hlo_module"));
    sb_pb_end(&out, plane);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    sb_analysis *a = analysis_of(t, NULL);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.collective_count, 1);
    assert_int_equal(v.collectives[0].bytes, 0);
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    sb_trace_free(t);
    sb_buf_fini(&out);
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

/* ---- process groups -------------------------------------------------------------------------- */

/* A rank of a program: a collective of 300 microseconds each millisecond, on a stream. */
typedef struct told_rank {
    int64_t clock_us; /* when the first one begins */
    int first, calls; /* the sequence number of the first one, and how many there are */
    const char *args; /* of each collective, behind its sequence number */
    bool is_without_seq;
} told_rank;

static void add_rank(sb_buf *out, size_t rank, const told_rank *r) {
    sb_buf_clear(out);
    sb_buf_printf(out,
                  "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1790857026000000000,"
                  "\"distributedInfo\":{\"rank\":%zu,\"world_size\":4},\"traceEvents\":[",
                  rank);
    for (int i = 0; i < r->calls; i++) {
        sb_buf_printf(out,
                      "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\","
                      "\"pid\":0,\"tid\":7,\"ts\":%lld,\"dur\":300,\"args\":{",
                      i ? "," : "", (long long)(r->clock_us + i * 1000));
        if (!r->is_without_seq) sb_buf_printf(out, "\"Seq\":%d,", r->first + i);
        sb_buf_printf(out, "%s}}", r->args);
    }
    sb_buf_add_str(out, "]}");
}

/* Reads one more rank, from a text. */
static void read_rank(sb_trace *t, sb_slice text) {
    sb_err err = {0};
    char path[] = "/tmp/seaboard-trace-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
    close(fd);
    sb_trace_file file = {.path = path, .name = SB_LIT("rank")};
    assert_ok(sb_trace_read(t, &sb_fs_local, &file, &err), &err);
    unlink(path);
}

static sb_trace *trace_of_told(const told_rank *ranks, size_t n) {
    sb_trace *t = NULL;
    sb_err err = {0};
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    assert_ok(sb_trace_new(&t, &sb_alloc_libc, NULL, &err), &err);
    for (size_t i = 0; i < n; i++) {
        add_rank(&text, i, &ranks[i]);
        read_rank(t, sb_buf_slice(&text));
    }
    assert_ok(sb_trace_finish(t, &err), &err);
    sb_buf_fini(&text);
    return t;
}

static sb_trace *trace_of_texts(const char *const *texts, size_t n) {
    sb_trace *t = NULL;
    sb_err err = {0};
    assert_ok(sb_trace_new(&t, &sb_alloc_libc, NULL, &err), &err);
    for (size_t i = 0; i < n; i++) read_rank(t, sb_slice_str(texts[i]));
    assert_ok(sb_trace_finish(t, &err), &err);
    return t;
}

#define RANK(events)                                                                               \
    "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1790857026000000000,\"traceEvents\":[" events "]}"
#define CALL(start, dur, group)                                                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"pid\":0,\"tid\":7,\"ts\":" #start        \
    ",\"dur\":" #dur ",\"args\":{" group "}}"
#define GROUP(name, ranks) "\"Process Group Name\":\"" name "\",\"Process Group Ranks\":" ranks

static void check_skews(const sb_trace *t, const int64_t *wanted_us) {
    for (size_t i = 0; i < t->sources.n; i++)
        assert_int_equal(t->sources.items[i].skew, wanted_us[i] * SB_PS_PER_US);
}

static uint64_t calls_of(const sb_trace *t) {
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.collective_count, 1);
    uint64_t calls = v.collectives[0].calls;
    sb_arena_fini(&arena);
    sb_analysis_free(a);
    return calls;
}

static void collectives_of_different_process_groups_are_not_matched(void **state) {
    (void)state;
    /* two stages of a pipeline; the second one begins 50 ms later */
    const told_rank stages[] = {{1000000, 0, 10, GROUP("1", "[0, 1]"), false},
                                {1000000, 0, 10, GROUP("1", "[0, 1]"), false},
                                {1050000, 0, 10, GROUP("2", "[2, 3]"), false},
                                {1050000, 0, 10, GROUP("2", "[2, 3]"), false}};
    sb_trace *t = trace_of_told(stages, 4);
    check_skews(t, (const int64_t[]){0, 0, 0, 0});
    assert_int_equal(t->odds[SB_TRACE_ODD_SKEW].n, 0);
    assert_int_equal(calls_of(t), 20);
    sb_trace_free(t);
    /* groups of the same name and different ranks; and the ranks as a text */
    const told_rank names[] = {{1000000, 0, 5, GROUP("tp", "[0, 1]"), true},
                               {1000000, 0, 5, GROUP("tp", "\"[0, 1]\""), true},
                               {1050000, 0, 5, GROUP("tp", "[2, 3]"), true}};
    t = trace_of_told(names, 3);
    check_skews(t, (const int64_t[]){0, 0, 0});
    assert_int_equal(calls_of(t), 10);
    sb_trace_free(t);
}

static void clocks_are_corrected_along_the_groups_that_ranks_share(void **state) {
    (void)state;
    /* ranks 1 and 3 share no group with 0 and 2 */
    const told_rank ranks[] = {{1000000, 0, 9, GROUP("a", "[0, 2]"), false},
                               {1090000, 0, 9, GROUP("b", "[1, 3]"), false},
                               {1020000, 0, 9, GROUP("a", "[0, 2]"), false},
                               {1095000, 0, 9, GROUP("b", "[1, 3]"), false}};
    sb_trace *t = trace_of_told(ranks, 4);
    check_skews(t, (const int64_t[]){0, 0, -20000, -5000});
    assert_int_equal(t->odds[SB_TRACE_ODD_SKEW].n, 2);
    sb_trace_free(t);
    /* the last rank shares a group with the second one only, which shares one with the first */
    static const char *const texts[] = {
        RANK(CALL(1000, 100, GROUP("a", "[0, 1]"))),
        RANK(CALL(41000, 100, GROUP("a", "[0, 1]")) "," CALL(45000, 100, GROUP("b", "[1, 2]"))),
        RANK(CALL(11000, 100, GROUP("b", "[1, 2]")))};
    t = trace_of_texts(texts, 3);
    check_skews(t, (const int64_t[]){0, -40000, -6000});
    sb_trace_free(t);
}

static void sequence_numbers_match_collectives_of_captures_that_begin_apart(void **state) {
    (void)state;
    /* the second rank is recorded from the fourth collective on */
    const told_rank ranks[] = {{1000000, 0, 10, GROUP("0", "[0, 1]"), false},
                               {1003000, 3, 10, GROUP("0", "[0, 1]"), false}};
    sb_trace *t = trace_of_told(ranks, 2);
    check_skews(t, (const int64_t[]){0, 0});
    assert_int_equal(calls_of(t), 13);
    sb_trace_free(t);
}

static void without_process_groups_the_kth_of_a_name_is_matched(void **state) {
    (void)state;
    const told_rank ranks[] = {{1000000, 0, 10, "\"stream\":7", true},
                               {1070000, 0, 10, "\"stream\":7", true}};
    sb_trace *t = trace_of_told(ranks, 2);
    check_skews(t, (const int64_t[]){0, -70000});
    assert_int_equal(calls_of(t), 10);
    sb_trace_free(t);
}

static void a_message_is_matched_with_the_rank_that_gets_it(void **state) {
    (void)state;
    /* rank 0 sends to 1, which is told as the destination only; rank 2 sends to 3, later */
    const told_rank ranks[] = {
        {1000000, 0, 9, GROUP("pp", "[0, 1, 2, 3]") ",\"Dst Rank\":1", false},
        {1000000, 5, 9, GROUP("pp", "[0, 1, 2, 3]") ",\"Src Rank\":0", false},
        {1050000, 0, 9, GROUP("pp", "[0, 1, 2, 3]") ",\"Dst Rank\":3", false},
        {1050000, 0, 9, GROUP("pp", "[0, 1, 2, 3]") ",\"Src Rank\":2", false}};
    sb_trace *t = trace_of_told(ranks, 4);
    check_skews(t, (const int64_t[]){0, 0, 0, 0});
    assert_int_equal(calls_of(t), 18);
    sb_trace_free(t);
}

/* The ranks of the second group do not wait at all; those of the first one wait for rank 1. */
static void the_straggler_is_a_rank_that_others_wait_for(void **state) {
    (void)state;
    static const char *const texts[] = {
        RANK(CALL(1000, 50, GROUP("b", "[0]"))), RANK(CALL(1000, 900, GROUP("a", "[1, 2]"))),
        RANK(CALL(1800, 100, GROUP("a", "[1, 2]"))), RANK(CALL(1000, 50, GROUP("c", "[3]")))};
    sb_trace *t = trace_of_texts(texts, 4);
    sb_analysis *a = analysis_of(t, NULL);
    sb_arena arena;
    sb_rank_view v;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_true(sb_view_ranks(a, &v, &arena));
    assert_int_equal(v.straggler, 2);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_show_who_waits_for_whom),
        cmocka_unit_test(without_a_device_operators_of_other_threads_hide_communication),
        cmocka_unit_test(an_operator_does_not_hide_the_collective_that_it_calls),
        cmocka_unit_test(with_a_device_only_its_kernels_hide_communication),
        cmocka_unit_test(a_call_that_launches_communication_on_a_device_is_work_of_the_host),
        cmocka_unit_test(annotations_on_a_stream_are_neither_kernels_nor_collectives),
        cmocka_unit_test(a_collective_inside_another_call_of_the_library_is_one_collective),
        cmocka_unit_test(a_collective_of_an_xspace_has_no_bytes),
        cmocka_unit_test(collectives_of_xla_on_host_threads_are_communication),
        cmocka_unit_test(the_overview_and_the_ranks_agree_on_communication),
        cmocka_unit_test(collectives_of_different_process_groups_are_not_matched),
        cmocka_unit_test(clocks_are_corrected_along_the_groups_that_ranks_share),
        cmocka_unit_test(sequence_numbers_match_collectives_of_captures_that_begin_apart),
        cmocka_unit_test(without_process_groups_the_kth_of_a_name_is_matched),
        cmocka_unit_test(a_message_is_matched_with_the_rank_that_gets_it),
        cmocka_unit_test(the_straggler_is_a_rank_that_others_wait_for),
        cmocka_unit_test(waits_inside_collectives_add_up_to_those_of_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
