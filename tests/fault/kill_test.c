/* Killing a program that logs, 200 times at random moments: no file is ever damaged before its last
 * complete record, and nothing that was flushed is ever missing. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/event.h"
#include "codec/summary.h"
#include "support/events.h"
#include "writer/writer_int.h"

#define KILLS 200
#define THREADS 4

typedef struct report {
    int32_t thread;
    int64_t flushed; /* all steps below this are in the file */
} report;

typedef struct victim {
    sb_writer *w;
    int32_t id;
    int pipe;
} victim;

/* Logs for ever; tells over the pipe how far a flush has returned. */
static void *log_until_killed(void *ud) {
    victim *v = ud;
    char tag[16];
    snprintf(tag, sizeof tag, "t%d", (int)v->id);
    for (int64_t step = 0;; step++) {
        sb_scalar(v->w, tag, (double)step, step);
        if (step % 50 != 49) continue;
        if (sb_writer_flush(v->w, NULL) != SB_OK) continue;
        report r = {.thread = v->id, .flushed = step + 1};
        if (write(v->pipe, &r, sizeof r) != (ssize_t)sizeof r) _exit(1);
    }
    return NULL;
}

static void live_as_victim(const char *logdir, int pipe) {
    static victim victims[THREADS];
    sb_writer *w;
    if (sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = logdir), NULL) != SB_OK) _exit(1);
    pthread_t thread;
    for (int32_t i = 0; i < THREADS; i++) {
        victims[i] = (victim){w, i, pipe};
        pthread_create(&thread, NULL, log_until_killed, &victims[i]);
    }
    for (;;) pause();
}

static void assert_nothing_flushed_is_missing(sb_test_dir *d, const char *logdir,
                                              const int64_t *flushed) {
    sb_test_files files = sb_test_event_files(d, logdir);
    assert_int_equal(files.count, 1);
    /* Asserts that every record but an incomplete last one is good. */
    sb_test_records records = sb_test_read_records(d, files.paths[0]);
    int64_t next[THREADS] = {0};
    for (size_t i = 1; i < records.count; i++) {
        sb_event event;
        sb_value value;
        assert_int_equal(sb_event_read(&event, records.payloads[i]), SB_OK);
        sb_summary_walk values = sb_summary_over(event.body);
        assert_int_equal(sb_summary_next(&values, &value), SB_OK);
        assert_int_equal(event.step, next[value.tag.p[1] - '0']++);
    }
    for (int i = 0; i < THREADS; i++) assert_true(next[i] >= flushed[i]);
    sb_test_records_free(&records);
}

static void killed_writer_leaves_whole_records_and_all_that_was_flushed(void **state) {
    sb_test_dir *d = *state;
    sb_test_random random = sb_test_random_of(9);
    for (int kills = 0; kills < KILLS; kills++) {
        char name[32];
        snprintf(name, sizeof name, "kill%d", kills);
        const char *logdir = sb_test_dir_join(d, name);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            live_as_victim(logdir, ends[1]);
        }
        close(ends[1]);
        /* The moment is random: after so many reports, wherever the threads are by then. */
        int64_t flushed[THREADS] = {0};
        uint64_t reports = 1 + sb_test_below(&random, 60);
        report r;
        for (uint64_t i = 0; i < reports && read(ends[0], &r, sizeof r) == (ssize_t)sizeof r; i++)
            flushed[r.thread] = r.flushed;
        kill(child, SIGKILL);
        while (read(ends[0], &r, sizeof r) == (ssize_t)sizeof r) flushed[r.thread] = r.flushed;
        close(ends[0]);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        assert_nothing_flushed_is_missing(d, logdir, flushed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_writer_leaves_whole_records_and_all_that_was_flushed,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
