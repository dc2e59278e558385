/* critical_path_test.c: which work bounds a step: streams, launches, waits, threads; in traces made
 * by hand and in those of torch and JAX. */
#include "profile/analysis/critical_path.h"

#include "support/fault_alloc.h"
#include "unit/profile/trace_bed.h"
#include "base/banned.h"

/* Events of torch: on thread `tid` of the host, or on a stream of device 0. */
#define HOST(cat, name, tid, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid              \
    ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define STEP(ts, dur) HOST("user_annotation", "ProfilerStep#1", 2, ts, dur)
#define OP(name, ts, dur) HOST("cpu_op", name, 2, ts, dur)
#define CALL(name, ts, dur, id)                                                                    \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"
#define KERNEL(name, stream, ts, dur, id)                                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream            \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":" #stream                  \
    ",\"correlation\":" #id "}}"

typedef struct path {
    sb_trace *t;
    sb_analysis *a;
    sb_arena arena;
    sb_path_view v;
} path;

static void take_path(path *p, size_t step) {
    sb_path_ask ask = {.step = step, .most_pieces = SIZE_MAX};
    assert_int_equal(sb_view_path(p->a, &ask, &p->v, &p->arena, NULL), SB_OK);
    const sb_step *s = &p->a->steps[step];
    int64_t at = s->start, sum = 0;
    for (size_t i = 0; i < p->v.n; i++) {
        assert_int_equal(p->v.pieces[i].start, at);
        assert_true(p->v.pieces[i].dur > 0);
        at += p->v.pieces[i].dur;
    }
    assert_int_equal(at, s->start + s->dur);
    for (size_t i = 0; i < p->v.row_count; i++) sum += p->v.rows[i].dur;
    assert_int_equal(sum, s->dur);
}

static void open_path(path *p, sb_trace *t) {
    *p = (path){.t = t};
    sb_arena_init(&p->arena, &sb_alloc_libc, 1 << 16, (size_t)1 << 30);
    assert_int_equal(sb_analysis_new(&p->a, t, NULL, NULL), SB_OK);
}

static void close_path(path *p) {
    sb_analysis_free(p->a);
    sb_trace_free(p->t);
    sb_arena_fini(&p->arena);
}

static void assert_path(const char *events, const char *expected, path *p) {
    char text[4000], got[4000];
    size_t n = 0;
    snprintf(text, sizeof text, "{\"schemaVersion\":1,\"traceEvents\":[%s]}", events);
    open_path(p, trace_of_text(text));
    take_path(p, 0);
    for (size_t i = 0; i < p->v.n; i++) {
        const sb_path_piece *of = &p->v.pieces[i];
        sb_slice name =
            of->index == SB_NO_INDEX
                ? SB_LIT("-")
                : sb_trace_name(p->t, p->t->tracks.items[of->track].spans.items[of->index].name);
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s %s %lld%s", i ? ", " : "",
                              SB_SHOWN(name), sb_path_state_name(of->state),
                              (long long)(of->dur / SB_PS_PER_US), of->is_guess ? "?" : "");
    }
    assert_string_equal(got, expected);
}

static void a_step_that_launches_too_slowly_is_bound_by_its_thread(void **state) {
    (void)state;
    path p;
    assert_path(
        STEP(0, 100) "," OP("a", 0, 40) "," CALL("launch", 30, 5, 1) "," OP("b", 50, 40) "," CALL(
            "launch", 80, 5, 2) "," KERNEL("k1", 7, 40, 10, 1) "," KERNEL("k2", 7, 90, 20, 2),
        /* k1 is hidden: the thread is what the step waits for */
        "a work 30, launch work 5, a work 5, - nothing 10, b work 30, launch work 5, "
        "- launch 5, k2 work 20",
        &p);
    assert_int_equal(p.v.launches, 1);
    assert_int_equal(p.v.guesses, 0);
    assert_true(p.v.is_linked);
    close_path(&p);
}

static void a_busy_stream_is_the_path_until_its_first_launch(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 30) "," CALL("launch", 5, 5, 1) "," CALL("launch", 12, 5, 2) "," KERNEL(
                    "k1", 7, 12, 50, 1) "," KERNEL("k2", 7, 63, 30, 2),
                "- nothing 5, launch work 5, - launch 2, k1 work 50, - queue 1, k2 work 30", &p);
    /* by name, the longest first, the times between spans together */
    assert_int_equal(p.v.row_count, 6);
    assert_string_equal((const char *)sb_trace_name(p.t, p.v.rows[0].name - 1).p, "k1");
    assert_int_equal(p.v.rows[0].dur, 50 * SB_PS_PER_US);
    assert_true(p.v.rows[0].is_device);
    close_path(&p);
}

static void a_call_that_synchronises_waits_for_the_device(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 100) "," CALL("launch", 0, 10, 1) "," CALL(
                    "cudaStreamSynchronize", 20, 60, 9) "," OP("print", 82,
                                                               18) "," KERNEL("k", 7, 12, 66, 1),
                "launch work 10, - launch 2, k work 66, cudaStreamSynchronize wait 2, - nothing 2, "
                "print work 18",
                &p);
    assert_int_equal(p.v.waits, 1);
    close_path(&p);
}

static void a_copy_that_waits_for_itself_leads_to_the_device(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 50) "," CALL("cudaMemcpy", 10, 40, 1) "," KERNEL("copy", 7, 20, 28, 1),
                "- nothing 10, cudaMemcpy work 10, copy work 28, cudaMemcpy wait 2", &p);
    close_path(&p);
}

static void a_kernel_that_begins_late_waited_for_another_stream(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 20) "," CALL("launch", 0, 5, 1) "," CALL("launch", 6, 5, 2) "," KERNEL(
                    "slow", 7, 5, 80, 1) "," KERNEL("join", 8, 86, 10, 2),
                "launch work 5, slow work 80, - queue 1?, join work 10", &p);
    assert_int_equal(p.v.guesses, 1);
    close_path(&p);
}

static void a_thread_without_work_waits_for_the_one_that_ended_last(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 100) "," OP("forward", 0, 30) "," OP("optimizer", 80, 20) "," HOST(
                    "cpu_op", "backward", 3, 32, 45),
                "forward work 30, - handover 2?, backward work 45, - nothing 3?, optimizer work 20",
                &p);
    assert_int_equal(p.v.guesses, 2);
    close_path(&p);
}

static void without_launches_in_the_file_the_path_says_so(void **state) {
    (void)state;
    path p;
    assert_path(STEP(0, 44) "," OP("a", 0, 10) "," KERNEL("k", 7, 12, 30, 5),
                "a work 10, - launch 2?, k work 30, - nothing 2", &p);
    assert_false(p.v.is_linked);
    close_path(&p);
}

static void every_step_of_a_capture_has_a_path_of_its_length(void **state) {
    (void)state;
    static const char *const files[] = {GPU, FULL, "profile/jax/cuda_0.vm.xplane.pb.gz",
                                        "profile/jax/cpu_0.vm.xplane.pb.gz"};
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        path p;
        open_path(&p, trace_of_fixture(files[f]));
        assert_true(sb_typical_step(p.a) < p.a->step_count);
        for (size_t i = 0; i < p.a->step_count; i++) {
            take_path(&p, i);
            assert_true(p.v.n > 1);
            /* the file knows its launches, whether or not the path goes over one of them */
            assert_true(f != 0 || p.v.is_linked);
        }
        close_path(&p);
    }
}

static void of_a_long_path_the_earliest_pieces_are_kept_and_all_are_summed(void **state) {
    (void)state;
    path p;
    sb_path_view few;
    open_path(&p, trace_of_fixture(GPU));
    take_path(&p, 0);
    sb_path_ask ask = {.step = 0, .most_pieces = 3};
    assert_true(p.v.n > 6);
    assert_int_equal(sb_view_path(p.a, &ask, &few, &p.arena, NULL), SB_OK);
    assert_int_equal(few.n, 3);
    assert_int_equal(few.total, p.v.n);
    for (size_t i = 0; i < 3; i++) assert_int_equal(few.pieces[i].start, p.v.pieces[i].start);
    assert_int_equal(few.row_count, p.v.row_count);
    assert_memory_equal(few.rows, p.v.rows, few.row_count * sizeof *few.rows);
    close_path(&p);
}

static bool count_down(void *ud) {
    return --*(int *)ud < 0;
}

static void a_path_that_nobody_waits_for_any_more_ends_early(void **state) {
    (void)state;
    path p;
    open_path(&p, trace_of_fixture(GPU));
    for (int turns = 0;; turns++) {
        int left = turns;
        sb_path_ask ask = {.most_pieces = 10, .is_expired = count_down, .ud = &left};
        sb_status status = sb_view_path(p.a, &ask, &p.v, &p.arena, NULL);
        if (status == SB_OK) {
            assert_true(turns > 0);
            break;
        }
        assert_int_equal(status, SB_TIMEOUT);
    }
    close_path(&p);
}

static sb_status try_path(const sb_alloc *alloc, void *ud) {
    sb_analysis a = *((path *)ud)->a;
    sb_trace t = *a.t;
    sb_arena arena;
    sb_path_view v;
    t.alloc = alloc;
    a.t = &t;
    sb_arena_init(&arena, alloc, 1 << 12, (size_t)1 << 30);
    sb_status status = sb_view_path(&a, &(sb_path_ask){.most_pieces = 10}, &v, &arena, NULL);
    sb_arena_fini(&arena);
    return status;
}

static void a_path_without_memory_fails_and_leaks_nothing(void **state) {
    (void)state;
    path p;
    open_path(&p, trace_of_fixture(GPU));
    sb_fault_alloc_sweep(try_path, &p);
    close_path(&p);
}

/* One call that launches much and has much inside: twice as much of both may not take four times
 * as long. Quadratic, this runs into the time limit of the tests. */
static void a_call_with_many_launches_and_many_spans_inside_is_walked_once(void **state) {
    (void)state;
    enum { MANY = 100000 };
    path p;
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, (size_t)64 << 20);
    sb_buf_printf(&text, "{\"schemaVersion\":1,\"traceEvents\":[%s,%s",
                  HOST("user_annotation", "ProfilerStep#1", 2, 0, 3000000),
                  CALL("cudaGraphLaunch", 1, 2000000, 7));
    for (int i = 0; i < MANY; i++)
        sb_buf_printf(&text,
                      ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":2,"
                      "\"ts\":%d,\"dur\":5},"
                      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                      "\"ts\":%d,\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}}",
                      10 + 10 * i, 2100000 + 2 * i);
    sb_buf_printf(&text, "]}");
    open_path(&p, trace_of_bytes(sb_buf_slice(&text)));
    take_path(&p, 0);
    assert_true(p.v.n > MANY);
    close_path(&p);
    sb_buf_fini(&text);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_launches_too_slowly_is_bound_by_its_thread),
        cmocka_unit_test(a_busy_stream_is_the_path_until_its_first_launch),
        cmocka_unit_test(a_call_that_synchronises_waits_for_the_device),
        cmocka_unit_test(a_copy_that_waits_for_itself_leads_to_the_device),
        cmocka_unit_test(a_kernel_that_begins_late_waited_for_another_stream),
        cmocka_unit_test(a_thread_without_work_waits_for_the_one_that_ended_last),
        cmocka_unit_test(without_launches_in_the_file_the_path_says_so),
        cmocka_unit_test(of_a_long_path_the_earliest_pieces_are_kept_and_all_are_summed),
        cmocka_unit_test(a_path_that_nobody_waits_for_any_more_ends_early),
        cmocka_unit_test(a_path_without_memory_fails_and_leaks_nothing),
        cmocka_unit_test(a_call_with_many_launches_and_many_spans_inside_is_walked_once),
        cmocka_unit_test(every_step_of_a_capture_has_a_path_of_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
