/* jobs_test.c: background jobs: results, sharing, cancelling, bounds, closing, many threads. */
#include "server/jobs/jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

/* ---- kinds of jobs for the tests ------------------------------------------------------------- */

/* What jobs and test share: news, and a gate at which jobs wait. */
typedef struct stage {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t news;
    unsigned begun; /* jobs that reached the gate */
    bool is_open;
    sb_jobs *jobs;
} stage;

static void note_news(void *ud, uint64_t count) {
    stage *s = ud;
    pthread_mutex_lock(&s->mutex);
    if (count > s->news) s->news = count;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

static sb_status accept_args(sb_slice args, sb_err *err) {
    (void)args, (void)err;
    return SB_OK;
}

/* Its result is its arguments. */
static sb_status echo(sb_job *job, void *ctx, sb_err *err) {
    (void)ctx;
    sb_job_describe_result(job, "text/plain", "echo.txt");
    sb_job_report(job, 1, 2);
    sb_status status = sb_job_write(job, sb_job_args(job), err);
    sb_job_report(job, 2, 2);
    return status;
}

/* Waits until the gate is open, or it is cancelled; then as echo. */
static sb_status wait_at_gate(sb_job *job, void *ctx, sb_err *err) {
    stage *s = ctx;
    pthread_mutex_lock(&s->mutex);
    s->begun++;
    pthread_cond_broadcast(&s->changed);
    while (!s->is_open && !sb_job_is_cancelled(job)) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 1000000;
        if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&s->changed, &s->mutex, &soon);
    }
    pthread_mutex_unlock(&s->mutex);
    return sb_job_is_cancelled(job) ? SB_CLOSED : echo(job, ctx, err);
}

static sb_status fail_always(sb_job *job, void *ctx, sb_err *err) {
    (void)job, (void)ctx;
    return sb_fail(err, SB_CORRUPT, 0, "it was never meant to work");
}

static const sb_job_kind echo_kind = {"echo", accept_args, echo, NULL};
static const sb_job_kind gate_kind = {"gate", accept_args, wait_at_gate, NULL};
static const sb_job_kind failing_kind = {"failing", accept_args, fail_always, NULL};

/* ---- helpers --------------------------------------------------------------------------------- */

static void open_stage(stage *s, size_t max_jobs, uint64_t max_bytes) {
    sb_err err;
    *s = (stage){.news = 0};
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    sb_jobs_opts o = {.alloc = &sb_alloc_libc,
                      .workers = 1,
                      .max_jobs = max_jobs,
                      .max_bytes = max_bytes,
                      .folder = "/there/is/no/such/folder", /* then it is /tmp */
                      .ctx = s,
                      .changed = note_news,
                      .changed_ud = s};
    assert_ok(sb_jobs_open(&s->jobs, &o, &err), &err);
}

static void close_stage(stage *s) {
    sb_jobs_close(s->jobs);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
}

static uint64_t submit(stage *s, const sb_job_kind *kind, const char *text) {
    uint64_t id;
    sb_err err;
    sb_slice args = sb_slice_str(text);
    assert_ok(sb_jobs_submit(s->jobs, kind, args, args, &id, &err), &err);
    return id;
}

static sb_job_state state_of(stage *s, uint64_t id) {
    sb_job_info info;
    assert_int_equal(sb_jobs_get(s->jobs, id, &info), SB_OK);
    return info.state;
}

/* Returns when the job is in that state: news come with every change. */
static void wait_for_state(stage *s, uint64_t id, sb_job_state wanted) {
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        uint64_t seen = s->news;
        pthread_mutex_unlock(&s->mutex);
        sb_job_state state = state_of(s, id);
        pthread_mutex_lock(&s->mutex);
        if (state == wanted) break;
        while (s->news == seen) pthread_cond_wait(&s->changed, &s->mutex);
    }
    pthread_mutex_unlock(&s->mutex);
}

static void wait_until_begun(stage *s, unsigned count) {
    pthread_mutex_lock(&s->mutex);
    while (s->begun < count) pthread_cond_wait(&s->changed, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
}

static void open_gate(stage *s) {
    pthread_mutex_lock(&s->mutex);
    s->is_open = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

static void assert_result(stage *s, uint64_t id, const char *text) {
    sb_job_result result;
    sb_err err;
    char read[256] = "";
    assert_ok(sb_jobs_open_result(s->jobs, id, &result, &err), &err);
    assert_int_equal(result.bytes, strlen(text));
    assert_int_equal(pread(result.fd, read, sizeof read - 1, 0), strlen(text));
    assert_string_equal(read, text);
    assert_string_equal(result.content_type, "text/plain");
    assert_string_equal(result.file_name, "echo.txt");
    close(result.fd);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void job_is_done_and_its_result_can_be_read_more_than_once(void **state) {
    (void)state;
    stage s;
    sb_job_info info;
    open_stage(&s, 8, 1000);
    uint64_t id = submit(&s, &echo_kind, "hello");
    wait_for_state(&s, id, SB_JOB_DONE);
    assert_result(&s, id, "hello");
    assert_result(&s, id, "hello");
    assert_int_equal(sb_jobs_get(s.jobs, id, &info), SB_OK);
    assert_string_equal(info.kind, "echo");
    assert_int_equal(info.done, 2);
    assert_int_equal(info.total, 2);
    assert_int_equal(info.bytes, 5);
    assert_int_equal(sb_jobs_get(s.jobs, id + 1, &info), SB_NOT_FOUND);
    close_stage(&s);
}

static void failed_job_says_why_and_is_tried_again(void **state) {
    (void)state;
    stage s;
    sb_job_info info;
    sb_job_result result;
    sb_err err;
    open_stage(&s, 8, 1000);
    uint64_t id = submit(&s, &failing_kind, "x");
    wait_for_state(&s, id, SB_JOB_FAILED);
    assert_int_equal(sb_jobs_get(s.jobs, id, &info), SB_OK);
    assert_string_equal(info.err.text, "it was never meant to work");
    assert_int_equal(sb_jobs_open_result(s.jobs, id, &result, &err), SB_DROPPED);
    assert_int_not_equal(submit(&s, &failing_kind, "x"), id);
    close_stage(&s);
}

static void equal_questions_share_one_job(void **state) {
    (void)state;
    stage s;
    open_stage(&s, 8, 1000);
    uint64_t first = submit(&s, &gate_kind, "same");
    wait_until_begun(&s, 1);
    assert_int_equal(submit(&s, &gate_kind, "same"), first);
    assert_int_not_equal(submit(&s, &gate_kind, "other"), first);
    assert_int_not_equal(submit(&s, &echo_kind, "same"), first);
    open_gate(&s);
    wait_for_state(&s, first, SB_JOB_DONE);
    assert_int_equal(submit(&s, &gate_kind, "same"), first); /* done already */
    sb_jobs_close(s.jobs);
    assert_true(s.begun <= 2); /* "same" once, "other" at most once */
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.mutex);
}

static void job_ends_when_the_last_asker_cancels_it(void **state) {
    (void)state;
    stage s;
    sb_job_info info;
    open_stage(&s, 8, 1000);
    uint64_t id = submit(&s, &gate_kind, "same");
    submit(&s, &gate_kind, "same");
    wait_until_begun(&s, 1);
    assert_int_equal(sb_jobs_cancel(s.jobs, id), SB_OK);
    assert_int_equal(state_of(&s, id), SB_JOB_RUNNING);
    assert_int_equal(sb_jobs_cancel(s.jobs, id), SB_OK);
    wait_for_state(&s, id, SB_JOB_CANCELLED);
    uint64_t again = submit(&s, &gate_kind, "same"); /* a cancelled one answers nobody */
    assert_int_not_equal(again, id);
    open_gate(&s);
    wait_for_state(&s, again, SB_JOB_DONE);
    assert_int_equal(sb_jobs_cancel(s.jobs, again), SB_OK); /* gives the result back */
    assert_int_equal(sb_jobs_get(s.jobs, again, &info), SB_NOT_FOUND);
    assert_int_equal(sb_jobs_cancel(s.jobs, again), SB_NOT_FOUND);
    close_stage(&s);
}

static void waiting_job_that_is_cancelled_never_runs(void **state) {
    (void)state;
    stage s;
    sb_err err;
    sb_job_result result;
    open_stage(&s, 8, 1000);
    uint64_t running = submit(&s, &gate_kind, "first");
    wait_until_begun(&s, 1);
    uint64_t waiting = submit(&s, &gate_kind, "second");
    assert_int_equal(state_of(&s, waiting), SB_JOB_WAITING);
    assert_int_equal(sb_jobs_open_result(s.jobs, waiting, &result, &err), SB_MORE);
    assert_int_equal(sb_jobs_cancel(s.jobs, waiting), SB_OK);
    assert_int_equal(state_of(&s, waiting), SB_JOB_CANCELLED);
    open_gate(&s);
    uint64_t last = submit(&s, &gate_kind, "third");
    wait_for_state(&s, last, SB_JOB_DONE);
    assert_int_equal(state_of(&s, running), SB_JOB_DONE);
    assert_int_equal(s.begun, 2);
    close_stage(&s);
}

static void results_stay_within_their_bytes(void **state) {
    (void)state;
    stage s;
    sb_job_info info;
    open_stage(&s, 8, 10);
    uint64_t first = submit(&s, &echo_kind, "1234");
    wait_for_state(&s, first, SB_JOB_DONE);
    uint64_t second = submit(&s, &echo_kind, "5678");
    wait_for_state(&s, second, SB_JOB_DONE);
    assert_result(&s, first, "1234"); /* now the second one is longest unused */
    uint64_t third = submit(&s, &echo_kind, "abcd");
    wait_for_state(&s, third, SB_JOB_DONE);
    assert_int_equal(sb_jobs_get(s.jobs, second, &info), SB_NOT_FOUND);
    assert_result(&s, first, "1234");
    uint64_t large = submit(&s, &echo_kind, "more than ten bytes");
    wait_for_state(&s, large, SB_JOB_FAILED);
    assert_int_equal(sb_jobs_get(s.jobs, large, &info), SB_OK);
    assert_int_equal(info.err.code, SB_LIMIT);
    assert_int_equal(info.bytes, 0);
    close_stage(&s);
}

static void result_outlives_its_eviction_for_those_who_opened_it(void **state) {
    (void)state;
    stage s;
    sb_job_result result;
    sb_err err;
    char read[8] = "";
    open_stage(&s, 8, 4);
    uint64_t first = submit(&s, &echo_kind, "1234");
    wait_for_state(&s, first, SB_JOB_DONE);
    assert_ok(sb_jobs_open_result(s.jobs, first, &result, &err), &err);
    wait_for_state(&s, submit(&s, &echo_kind, "5678"), SB_JOB_DONE);
    assert_int_equal(pread(result.fd, read, 4, 0), 4);
    assert_string_equal(read, "1234");
    close(result.fd);
    close_stage(&s);
}

static void jobs_beyond_the_limit_are_refused_while_all_are_under_way(void **state) {
    (void)state;
    stage s;
    uint64_t id;
    sb_err err;
    sb_arena arena;
    sb_job_info *all;
    size_t n;
    open_stage(&s, 2, 1000);
    uint64_t first = submit(&s, &gate_kind, "1");
    wait_until_begun(&s, 1);
    uint64_t second = submit(&s, &gate_kind, "2");
    assert_int_equal(sb_jobs_submit(s.jobs, &gate_kind, SB_LIT("3"), SB_LIT("3"), &id, &err),
                     SB_DROPPED);
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 12, 1 << 20);
    assert_int_equal(sb_jobs_list(s.jobs, &arena, &all, &n), SB_OK);
    assert_int_equal(n, 2);
    assert_int_equal(all[0].id, second);
    assert_int_equal(all[1].id, first);
    sb_arena_fini(&arena);
    open_gate(&s);
    wait_for_state(&s, second, SB_JOB_DONE);
    wait_for_state(&s, submit(&s, &gate_kind, "3"), SB_JOB_DONE); /* evicts the first one */
    close_stage(&s);
}

static void closing_cancels_what_runs_and_what_waits(void **state) {
    (void)state;
    stage s;
    open_stage(&s, 8, 1000);
    submit(&s, &gate_kind, "runs");
    wait_until_begun(&s, 1);
    submit(&s, &gate_kind, "waits");
    close_stage(&s); /* the gate stays shut */
    assert_int_equal(s.begun, 1);
}

static void *use_jobs(void *ud) {
    stage *s = ud;
    for (unsigned i = 0; i < 300; i++) {
        char text[16];
        uint64_t id;
        sb_job_info info;
        sb_job_result result;
        snprintf(text, sizeof text, "%u", i % 7);
        sb_slice args = sb_slice_str(text);
        if (sb_jobs_submit(s->jobs, &echo_kind, args, args, &id, NULL) != SB_OK) continue;
        sb_jobs_get(s->jobs, id, &info);
        if (i % 3 == 0) sb_jobs_cancel(s->jobs, id);
        if (sb_jobs_open_result(s->jobs, id, &result, NULL) == SB_OK) {
            char read[16] = "";
            assert_int_equal(pread(result.fd, read, sizeof read - 1, 0), 1);
            assert_string_equal(read, text);
            close(result.fd);
        }
    }
    return NULL;
}

static void many_threads_ask_read_and_cancel(void **state) {
    (void)state;
    stage s;
    pthread_t threads[4];
    open_stage(&s, 5, 4);
    for (size_t i = 0; i < SB_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_jobs, &s), 0);
    for (size_t i = 0; i < SB_COUNT(threads); i++) pthread_join(threads[i], NULL);
    close_stage(&s);
}

static sb_status open_and_submit(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_jobs *jobs;
    uint64_t id;
    sb_err err;
    sb_jobs_opts o = {.alloc = alloc, .workers = 1, .max_jobs = 4, .max_bytes = 1000};
    sb_status status = sb_jobs_open(&jobs, &o, &err);
    if (status != SB_OK) return status;
    status = sb_jobs_submit(jobs, &echo_kind, SB_LIT("a"), SB_LIT("b"), &id, &err);
    sb_jobs_close(jobs);
    return status;
}

static void every_refused_allocation_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(open_and_submit, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_is_done_and_its_result_can_be_read_more_than_once),
        cmocka_unit_test(failed_job_says_why_and_is_tried_again),
        cmocka_unit_test(equal_questions_share_one_job),
        cmocka_unit_test(job_ends_when_the_last_asker_cancels_it),
        cmocka_unit_test(waiting_job_that_is_cancelled_never_runs),
        cmocka_unit_test(results_stay_within_their_bytes),
        cmocka_unit_test(result_outlives_its_eviction_for_those_who_opened_it),
        cmocka_unit_test(jobs_beyond_the_limit_are_refused_while_all_are_under_way),
        cmocka_unit_test(closing_cancels_what_runs_and_what_waits),
        cmocka_unit_test(many_threads_ask_read_and_cancel),
        cmocka_unit_test(every_refused_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
