/* recorder_test.c: slices, steps, spans, instants and counters of many threads become an XSpace. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "fsio/fs.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "writer/recorder/recorder_int.h"

#include "base/banned.h"

#define DIR_TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, sb_test_dir_setup, sb_test_dir_teardown)

/* ---- a clock that each look moves on by 10 ns ------------------------------------------------ */

static _Atomic uint64_t now_ns;

static uint64_t step_clock(void *ctx) {
    (void)ctx;
    return atomic_fetch_add(&now_ns, 10);
}

static uint64_t still_wall(void *ctx) {
    (void)ctx;
    return 1700000000250000000u;
}

static const sb_clock step_by_step = {still_wall, step_clock, NULL};
static const sb_env steps_env = {&sb_alloc_libc, &sb_fs_local, &step_by_step};

/* ---- reading what was written ---------------------------------------------------------------- */

typedef struct event {
    char name[64];
    char line[64];
    int64_t start, duration, step;
    double value;
    bool is_root, counts;
} event;

typedef struct space {
    event events[64]; /* in the order of the file */
    size_t event_count;
    size_t all; /* more than fit into events, too */
    char warnings[4][200];
    size_t warning_count;
    char host[64];
    uint64_t start_time, stop_time;
} space;

static sb_slice field_bytes(sb_slice message, uint32_t number) {
    sb_items items = sb_items_of(message, number);
    sb_slice found = {0};
    if (sb_items_next(&items, &found) != SB_OK) return (sb_slice){0};
    return found;
}

static uint64_t field_uint(sb_slice message, uint32_t number) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    uint64_t found = 0;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == number) found = f.u64;
    return found;
}

static void copy_text(char *to, size_t room, sb_slice text) {
    snprintf(to, room, "%.*s", (int)text.n, text.p ? (const char *)text.p : "");
}

static sb_slice metadata_name(sb_slice plane, uint32_t map, uint64_t id) {
    sb_items items = sb_items_of(plane, map);
    sb_slice entry;
    while (sb_items_next(&items, &entry) == SB_OK)
        if (field_uint(entry, SB_XPLANE_EVENT_META_KEY) == id) {
            sb_slice value = field_bytes(entry, SB_XPLANE_EVENT_META_VALUE);
            assert_int_equal(field_uint(value, SB_XEVENT_META_ID), id);
            return field_bytes(value, SB_XEVENT_META_NAME);
        }
    fail_msg("no metadata %llu", (unsigned long long)id);
    return (sb_slice){0};
}

static void read_stat(event *e, sb_slice plane, sb_slice stat) {
    sb_slice name = metadata_name(plane, SB_XPLANE_STAT_METADATA, field_uint(stat, 1));
    if (sb_slice_eq(name, SB_LIT("_r"))) e->is_root = field_uint(stat, SB_XSTAT_INT64_VALUE) == 1;
    if (sb_slice_eq(name, SB_LIT("step_num")))
        e->step = (int64_t)field_uint(stat, SB_XSTAT_INT64_VALUE);
    if (sb_slice_eq(name, SB_LIT("counter_value"))) {
        e->counts = true;
        e->value = sb_bits_double(field_uint(stat, SB_XSTAT_DOUBLE_VALUE));
    }
}

static void read_event(space *s, sb_slice plane, sb_slice line, sb_slice bytes) {
    if (s->all++ >= SB_COUNT(s->events)) return;
    event *e = &s->events[s->event_count++];
    *e = (event){.start = (int64_t)field_uint(bytes, SB_XEVENT_OFFSET_PS),
                 .duration = (int64_t)field_uint(bytes, SB_XEVENT_DURATION_PS)};
    copy_text(e->line, sizeof e->line, field_bytes(line, SB_XLINE_NAME));
    copy_text(e->name, sizeof e->name,
              metadata_name(plane, SB_XPLANE_EVENT_METADATA, field_uint(bytes, 1)));
    sb_items stats = sb_items_of(bytes, SB_XEVENT_STATS);
    for (sb_slice stat; sb_items_next(&stats, &stat) == SB_OK;) read_stat(e, plane, stat);
}

static void read_plane(space *s, sb_slice plane) {
    if (sb_slice_eq(field_bytes(plane, SB_XPLANE_NAME), SB_LIT("Task Environment"))) {
        sb_items stats = sb_items_of(plane, SB_XPLANE_STATS);
        for (sb_slice stat; sb_items_next(&stats, &stat) == SB_OK;)
            *(field_uint(stat, 1) == 1 ? &s->start_time : &s->stop_time) =
                field_uint(stat, SB_XSTAT_UINT64_VALUE);
        return;
    }
    assert_slice_is(field_bytes(plane, SB_XPLANE_NAME), "/host:CPU");
    sb_items lines = sb_items_of(plane, SB_XPLANE_LINES);
    for (sb_slice line; sb_items_next(&lines, &line) == SB_OK;) {
        sb_items events = sb_items_of(line, SB_XLINE_EVENTS);
        for (sb_slice bytes; sb_items_next(&events, &bytes) == SB_OK;)
            read_event(s, plane, line, bytes);
    }
}

static void read_space(space *s, sb_slice file) {
    memset(s, 0, sizeof *s);
    assert_true(sb_message_valid(SB_MSG_XSPACE, file, 10));
    sb_items planes = sb_items_of(file, SB_XSPACE_PLANES);
    for (sb_slice plane; sb_items_next(&planes, &plane) == SB_OK;) read_plane(s, plane);
    sb_items warnings = sb_items_of(file, SB_XSPACE_WARNINGS);
    for (sb_slice text; sb_items_next(&warnings, &text) == SB_OK && s->warning_count < 4;)
        copy_text(s->warnings[s->warning_count++], sizeof s->warnings[0], text);
    copy_text(s->host, sizeof s->host, field_bytes(file, SB_XSPACE_HOSTNAMES));
}

/* ---- a recording over the stepping clock ----------------------------------------------------- */

static sb_recorder *start(const sb_recorder_opts *more, const sb_env *env) {
    sb_recorder_opts opts = more ? *more : SB_INIT(sb_recorder_opts);
    opts.session = "s";
    opts.host = "here";
    sb_recorder *r;
    sb_err err;
    atomic_store(&now_ns, 1000);
    assert_ok(sb_recorder_start_env(&r, &opts, env, &err), &err);
    return r;
}

static space stop(sb_recorder *r, sb_test_dir *d) {
    sb_err err;
    static space s;
    assert_ok(sb_recorder_stop(r, sb_test_dir_join(d, "run"), &err), &err);
    read_space(&s, sb_test_dir_get(d, sb_test_dir_join(d, "run/plugins/profile/s/here.xplane.pb")));
    return s;
}

static void assert_event(const event *e, const char *line, const char *name, int64_t start_ns,
                         int64_t duration_ns) {
    assert_string_equal(e->line, line);
    assert_string_equal(e->name, name);
    assert_int_equal(e->start, start_ns * 1000);
    assert_int_equal(e->duration, duration_ns * 1000);
}

static void slices_contain_each_other_and_carry_their_names(void **state) {
    sb_recorder *r = start(NULL, &steps_env); /* at 1000 */
    uint32_t loop = sb_recorder_track(r, "loop"), data = sb_recorder_track(r, "data");
    uint32_t train = sb_recorder_name(r, "train"), load = sb_recorder_name(r, "load");
    uint32_t here = sb_recorder_name(r, "here"), past = sb_recorder_name(r, "past");
    assert_int_equal(sb_recorder_name(r, "load"), load);
    assert_int_not_equal(load, train);
    sb_recorder_step(r, loop, train, 7);           /* 1010 */
    sb_recorder_begin(r, loop, load);              /* 1020 */
    sb_recorder_begin(r, data, load);              /* 1030 */
    sb_recorder_end(r, loop);                      /* 1040 */
    sb_recorder_instant(r, loop, here);            /* 1050 */
    sb_recorder_end(r, data);                      /* 1060 */
    sb_recorder_span(r, data, past, 1005, 100000); /* no look at the clock */
    sb_recorder_end(r, loop);                      /* 1070 */
    space s = stop(r, *state);
    assert_int_equal(s.all, 5);
    assert_event(&s.events[0], "loop", "train", 10, 60);
    assert_true(s.events[0].is_root);
    assert_int_equal(s.events[0].step, 7);
    assert_event(&s.events[1], "loop", "load", 20, 20);
    assert_false(s.events[1].is_root);
    assert_event(&s.events[2], "loop", "here", 50, 0);
    assert_event(&s.events[3], "data", "past", 5, 100000);
    assert_event(&s.events[4], "data", "load", 30, 30);
    assert_int_equal(s.warning_count, 0);
    assert_string_equal(s.host, "here");
    assert_int_equal(s.start_time, 1700000000250000000u);
    assert_int_equal(s.stop_time, 1700000000250000080u);
}

static void counters_share_a_line_in_the_order_of_time(void **state) {
    sb_recorder *r = start(NULL, &steps_env);
    uint32_t memory = sb_recorder_track(r, "memory"), queue = sb_recorder_track(r, "queue");
    sb_recorder_count(r, queue, 2);
    sb_recorder_count(r, memory, 1.5e9);
    sb_recorder_count(r, queue, -1);
    space s = stop(r, *state);
    assert_int_equal(s.all, 3);
    assert_event(&s.events[0], "_counters_", "queue", 10, 0);
    assert_event(&s.events[1], "_counters_", "memory", 20, 0);
    assert_event(&s.events[2], "_counters_", "queue", 30, 0);
    assert_true(s.events[0].counts && s.events[0].value == 2);
    assert_true(s.events[1].value == 1.5e9 && s.events[2].value == -1);
}

static void what_is_odd_is_shown_as_far_as_it_goes_and_told(void **state) {
    sb_recorder *r = start(NULL, &steps_env);
    uint32_t track = sb_recorder_track(r, "t"), name = sb_recorder_name(r, "n");
    sb_recorder_end(r, track);                /* 1010: nothing to end */
    sb_recorder_begin(r, track, name);        /* 1020: never ended */
    sb_recorder_begin(r, track, name + 1);    /* 1030: no such name */
    sb_recorder_begin(r, 0, name);            /* 1040: no such track */
    sb_recorder_span(r, track, name, 999, 5); /* before the beginning */
    sb_recorder_span(r, track, name, 1001, UINT64_MAX);
    space s = stop(r, *state); /* 1050 */
    assert_int_equal(s.all, 1);
    assert_event(&s.events[0], "t", "n", 20, 30);
    assert_int_equal(s.warning_count, 4);
    assert_non_null(strstr(s.warnings[0], "1 slices had not ended"));
    assert_non_null(strstr(s.warnings[1], "1 calls of sb_recorder_end"));
    assert_non_null(strstr(s.warnings[2], "2 calls had a number"));
    assert_non_null(strstr(s.warnings[3], "2 spans"));
}

static void names_that_are_no_utf8_are_repaired(void **state) {
    sb_recorder *r = start(NULL, &steps_env);
    uint32_t track = sb_recorder_track(r, ""), name = sb_recorder_name(r, "a\xff");
    sb_recorder_instant(r, track, name);
    space s = stop(r, *state);
    assert_event(&s.events[0], "", "a\xef\xbf\xbd", 10, 0);
}

/* ---- bounded memory -------------------------------------------------------------------------- */

static void fill(sb_recorder *r, uint32_t calls) {
    uint32_t track = sb_recorder_track(r, "t"), name = sb_recorder_name(r, "n");
    for (uint32_t i = 0; i < calls; i++) sb_recorder_span(r, track, name, 1000u + i, 1);
}

static void the_newest_are_kept_and_the_loss_is_told(void **state) {
    sb_recorder *r = start(&SB_INIT(sb_recorder_opts, .memory_bytes = 1), &steps_env);
    uint32_t calls = 10 * SB_RECORD_CHUNK_CALLS + 5;
    fill(r, calls);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    assert_int_equal(sb_recorder_get_stats(r, &stats), SB_OK);
    assert_int_equal(stats.recorded + stats.dropped, calls);
    assert_int_equal(stats.recorded, 3 * SB_RECORD_CHUNK_CALLS + 5);
    space s = stop(r, *state);
    assert_int_equal(s.all, stats.recorded);
    assert_int_equal(s.events[0].start, (int64_t)stats.dropped * 1000);
    assert_int_equal(s.warning_count, 1);
    char expected[64];
    snprintf(expected, sizeof expected, "%llu calls at the beginning were dropped",
             (unsigned long long)stats.dropped);
    assert_non_null(strstr(s.warnings[0], expected));
}

static void the_first_are_kept_when_asked_for(void **state) {
    sb_recorder_opts opts =
        SB_INIT(sb_recorder_opts, .memory_bytes = 1, .when_full = SB_RECORDER_KEEP_FIRST);
    sb_recorder *r = start(&opts, &steps_env);
    fill(r, 10 * SB_RECORD_CHUNK_CALLS);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_recorder_get_stats(r, &stats);
    assert_int_equal(stats.recorded, 4 * SB_RECORD_CHUNK_CALLS);
    assert_int_equal(stats.dropped, 6 * SB_RECORD_CHUNK_CALLS);
    space s = stop(r, *state);
    assert_int_equal(s.all, stats.recorded);
    assert_int_equal(s.events[0].start, 0);
    assert_non_null(strstr(s.warnings[0], "calls at the end were dropped"));
}

static void an_end_whose_beginning_was_dropped_is_no_mistake(void **state) {
    sb_recorder *r = start(&SB_INIT(sb_recorder_opts, .memory_bytes = 1), &steps_env);
    uint32_t track = sb_recorder_track(r, "t"), name = sb_recorder_name(r, "long");
    sb_recorder_begin(r, track, name);
    fill(r, 6 * SB_RECORD_CHUNK_CALLS);
    sb_recorder_end(r, track);
    space s = stop(r, *state);
    assert_int_equal(s.warning_count, 1);
    assert_non_null(strstr(s.warnings[0], "were dropped"));
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 8
#define SLICES 5000

typedef struct work {
    sb_recorder *r;
    uint32_t own, shared, outer, inner, counter;
} work;

static pthread_barrier_t all_record;

static void *record_slices(void *ud) {
    const work *w = ud;
    for (int i = 0; i < SLICES; i++) {
        sb_recorder_begin(w->r, w->own, w->outer);
        sb_recorder_begin(w->r, w->shared, w->inner);
        sb_recorder_count(w->r, w->counter, i);
        sb_recorder_end(w->r, w->shared);
        sb_recorder_end(w->r, w->own);
        if (i == 0) pthread_barrier_wait(&all_record); /* none ends before another begins */
    }
    return NULL;
}

/* Lines in the file with this name hold n events, sorted, each as long as at least 0. */
static void check_line(sb_slice file, const char *name, size_t n) {
    sb_slice plane = field_bytes(file, SB_XSPACE_PLANES), line;
    sb_items lines = sb_items_of(plane, SB_XPLANE_LINES);
    while (sb_items_next(&lines, &line) == SB_OK) {
        if (!sb_slice_eq(field_bytes(line, SB_XLINE_NAME), sb_slice_str(name))) continue;
        size_t count = 0;
        uint64_t before = 0;
        sb_items events = sb_items_of(line, SB_XLINE_EVENTS);
        for (sb_slice e; sb_items_next(&events, &e) == SB_OK; count++) {
            uint64_t at = field_uint(e, SB_XEVENT_OFFSET_PS);
            assert_true(at >= before && at < (uint64_t)INT64_MAX);
            assert_true(field_uint(e, SB_XEVENT_DURATION_PS) < (uint64_t)INT64_MAX);
            before = at;
        }
        assert_int_equal(count, n);
        return;
    }
    fail_msg("no line %s", name);
}

static void many_threads_record_at_once_on_their_own_and_on_shared_tracks(void **state) {
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    sb_recorder *r = start(NULL, &env);
    pthread_barrier_init(&all_record, NULL, THREADS);
    pthread_t threads[THREADS];
    work works[THREADS];
    char name[32];
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %d", i);
        works[i] = (work){r,
                          sb_recorder_track(r, name),
                          sb_recorder_track(r, "shared"),
                          sb_recorder_name(r, "outer"),
                          sb_recorder_name(r, "inner"),
                          sb_recorder_track(r, "counter")};
        assert_int_equal(pthread_create(&threads[i], NULL, record_slices, &works[i]), 0);
    }
    /* Looking at the numbers and making names goes on beside it. */
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(sb_recorder_get_stats(r, &stats), SB_OK);
        snprintf(name, sizeof name, "name %d", i);
        assert_int_not_equal(sb_recorder_name(r, name), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_record);
    sb_recorder_get_stats(r, &stats);
    assert_int_equal(stats.recorded, THREADS * SLICES * 5);
    assert_int_equal(stats.dropped, 0);
    space s = stop(r, *state);
    assert_int_equal(s.all, THREADS * SLICES * 3);
    assert_int_equal(s.warning_count, 0);
    sb_slice file =
        sb_test_dir_get(*state, sb_test_dir_join(*state, "run/plugins/profile/s/here.xplane.pb"));
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %d", i);
        check_line(file, name, SLICES);
    }
    check_line(file, "shared", THREADS * SLICES);
    check_line(file, "_counters_", THREADS * SLICES);
}

static void threads_that_fill_the_memory_take_each_others_oldest(void **state) {
    sb_recorder *r = start(&SB_INIT(sb_recorder_opts, .memory_bytes = 20 * 32768), &steps_env);
    pthread_barrier_init(&all_record, NULL, THREADS);
    pthread_t threads[THREADS];
    work w = {r,
              sb_recorder_track(r, "own"),
              sb_recorder_track(r, "shared"),
              sb_recorder_name(r, "outer"),
              sb_recorder_name(r, "inner"),
              sb_recorder_track(r, "counter")};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_slices, &w), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_record);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_recorder_get_stats(r, &stats);
    assert_int_equal(stats.recorded + stats.dropped, THREADS * SLICES * 5);
    assert_true(stats.recorded <= 20 * SB_RECORD_CHUNK_CALLS);
    space s = stop(r, *state);
    assert_non_null(strstr(s.warnings[0], "were dropped"));
}

static void *record_a_few(void *ud) {
    const work *w = ud;
    sb_recorder_begin(w->r, w->own, w->outer);
    sb_recorder_instant(w->r, w->own, w->inner);
    return NULL; /* the slice is left open */
}

static void short_threads_use_the_same_memory_one_after_the_other(void **state) {
    sb_recorder *r = start(NULL, &steps_env);
    work w = {.r = r,
              .own = sb_recorder_track(r, "t"),
              .outer = sb_recorder_name(r, "open"),
              .inner = sb_recorder_name(r, "i")};
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, record_a_few, &w), 0);
        pthread_join(thread, NULL);
    }
    size_t lanes = 0;
    for (const sb_lane *lane = r->lanes; lane; lane = lane->next) lanes++;
    assert_int_equal(lanes, 1);
    assert_int_equal(r->chunk_count, 2); /* 500 threads with two calls, and one mark for each */
    space s = stop(r, *state);
    assert_int_equal(s.all, 1000);
    /* A slice that its thread left open does not reach into the next thread's time. */
    assert_event(&s.events[0], "t", "open", 10, 10);
    assert_event(&s.events[2], "t", "open", 30, 10);
    assert_non_null(strstr(s.warnings[0], "500 slices had not ended"));
}

static pthread_barrier_t recorded, stopped;

static void *record_and_outlive(void *ud) {
    record_a_few(ud);
    pthread_barrier_wait(&recorded);
    pthread_barrier_wait(&stopped);
    return NULL;
}

static void threads_may_live_longer_than_a_recorder_and_have_several(void **state) {
    pthread_barrier_init(&recorded, NULL, 2);
    pthread_barrier_init(&stopped, NULL, 2);
    sb_recorder *r = start(NULL, &steps_env);
    sb_recorder *other = start(NULL, &steps_env);
    work w = {.r = r,
              .own = sb_recorder_track(r, "t"),
              .outer = sb_recorder_name(r, "o"),
              .inner = sb_recorder_name(r, "i")};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_and_outlive, &w), 0);
    for (int i = 0; i < 10; i++) { /* this thread goes to and fro between two */
        sb_recorder_instant(r, w.own, w.outer);
        sb_recorder_instant(other, sb_recorder_track(other, "t"), sb_recorder_name(other, "n"));
    }
    pthread_barrier_wait(&recorded);
    assert_int_equal(stop(r, *state).all, 12);
    /* One that may well get the address of the first. */
    sb_recorder *third = start(NULL, &steps_env);
    sb_recorder_instant(third, sb_recorder_track(third, "t"), sb_recorder_name(third, "n"));
    assert_int_equal(stop(third, *state).all, 1);
    pthread_barrier_wait(&stopped);
    pthread_join(thread, NULL);
    assert_int_equal(stop(other, *state).all, 10);
    pthread_barrier_destroy(&recorded);
    pthread_barrier_destroy(&stopped);
}

static void a_forked_child_records_nothing_and_its_parent_goes_on(void **state) {
    sb_recorder *r = start(NULL, &steps_env);
    uint32_t track = sb_recorder_track(r, "t"), name = sb_recorder_name(r, "n");
    sb_recorder_instant(r, track, name);
    pid_t child = fork();
    if (child == 0) {
        sb_err err = {0};
        sb_recorder_instant(r, track, name);
        sb_recorder_count(r, track, 1);
        bool ok = sb_recorder_track(r, "new") == 0;
        ok = ok && sb_recorder_stop(r, sb_test_dir_path(*state), &err) == SB_CLOSED;
        _exit(ok && strstr(err.text, "fork()") ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    sb_recorder_instant(r, track, name);
    assert_int_equal(stop(r, *state).all, 2);
}

/* ---- arguments, places and failures ---------------------------------------------------------- */

static void a_recorder_that_is_null_does_nothing(void **state) {
    (void)state;
    sb_recorder_begin(NULL, 1, 1);
    sb_recorder_step(NULL, 1, 1, 1);
    sb_recorder_end(NULL, 1);
    sb_recorder_span(NULL, 1, 1, 1, 1);
    sb_recorder_instant(NULL, 1, 1);
    sb_recorder_count(NULL, 1, 1);
    assert_int_equal(sb_recorder_track(NULL, "t"), 0);
    assert_int_equal(sb_recorder_name(NULL, "n"), 0);
    assert_int_equal(sb_recorder_now(NULL), 0);
    assert_int_equal(sb_recorder_stop(NULL, "x", NULL), SB_OK);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    assert_int_equal(sb_recorder_get_stats(NULL, &stats), SB_OK);
    assert_int_equal(sb_recorder_get_stats(NULL, &(sb_recorder_stats){0}), SB_INVALID);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    sb_recorder *r;
    sb_err err;
    const sb_recorder_opts bad[] = {
        SB_INIT(sb_recorder_opts, .session = "a/b"), SB_INIT(sb_recorder_opts, .session = ".."),
        SB_INIT(sb_recorder_opts, .host = ""),       SB_INIT(sb_recorder_opts, .host = "a\nb"),
        SB_INIT(sb_recorder_opts, .when_full = 9),   {.size = 0},
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        assert_int_equal(sb_recorder_start(&r, &bad[i], &err), SB_INVALID);
        assert_null(r);
    }
    sb_recorder_opts large = SB_INIT(sb_recorder_opts, .memory_bytes = SIZE_MAX);
    assert_int_equal(sb_recorder_start(&r, &large, &err), SB_LIMIT);
    assert_ok(sb_recorder_start(&r, NULL, &err), &err);
    assert_int_equal(sb_recorder_stop(r, "", &err), SB_INVALID);
}

static int count_name(void *ud, const char *name) {
    (void)name;
    ++*(size_t *)ud;
    return 0;
}

static void sessions_without_a_name_never_replace_each_other(void **state) {
    sb_err err;
    const char *run = sb_test_dir_join(*state, "run");
    for (int i = 0; i < 3; i++) {
        sb_recorder *r;
        assert_ok(sb_recorder_start_env(&r, NULL, &steps_env, &err), &err);
        assert_ok(sb_recorder_stop(r, run, &err), &err);
    }
    size_t sessions = 0;
    sb_fs_local.list(NULL, sb_test_dir_join(*state, "run/plugins/profile"), count_name, &sessions);
    assert_int_equal(sessions, 3);
    /* Beside plugins there is one marker, which makes the directory a run. */
    size_t entries = 0;
    sb_fs_local.list(NULL, run, count_name, &entries);
    assert_int_equal(entries, 2);
}

static void a_run_with_an_event_file_gets_no_marker(void **state) {
    sb_err err;
    sb_recorder *r;
    const char *run = sb_test_dir_join(*state, "run");
    assert_ok(sb_recorder_start_env(&r, NULL, &steps_env, &err), &err);
    sb_test_dir_put(*state, "run/events.out.tfevents.1.host", SB_LIT(""));
    assert_ok(sb_recorder_stop(r, run, &err), &err);
    size_t entries = 0;
    sb_fs_local.list(NULL, run, count_name, &entries);
    assert_int_equal(entries, 2); /* the event file and plugins */
}

static void stopping_without_a_directory_writes_nothing(void **state) {
    (void)state;
    sb_recorder *r = start(NULL, &steps_env);
    fill(r, 10);
    assert_int_equal(sb_recorder_stop(r, NULL, NULL), SB_OK);
}

static sb_status record_and_stop(const sb_env *env, const char *logdir, sb_err *err) {
    sb_recorder *r;
    sb_status status = sb_recorder_start_env(
        &r, &SB_INIT(sb_recorder_opts, .session = "s", .host = "here"), env, err);
    if (status != SB_OK) return status;
    uint32_t track = sb_recorder_track(r, "t"), name = sb_recorder_name(r, "n");
    uint32_t counter = sb_recorder_track(r, "c");
    for (int i = 0; i < 2000; i++) {
        sb_recorder_begin(r, track, name);
        sb_recorder_count(r, counter, i);
        if (i % 2) sb_recorder_end(r, track);
    }
    return sb_recorder_stop(r, logdir, err);
}

static void a_refusing_disk_is_named_and_leaves_no_half_file(void **state) {
    for (uint64_t n = 1; n < 100; n++) {
        char name[64];
        sb_err err;
        sb_fault_fs fault;
        sb_fault_fs_init(&fault, &sb_fs_local);
        const sb_env env = {&sb_alloc_libc, &fault.fs, &step_by_step};
        sb_fault_fs_fail(&fault, SB_CALL_ANY, n, EIO, false);
        snprintf(name, sizeof name, "run%llu", (unsigned long long)n);
        const char *logdir = sb_test_dir_join(*state, name);
        sb_status status = record_and_stop(&env, logdir, &err);
        bool failed = sb_fault_fs_failures(&fault) > 0;
        sb_fault_fs_fini(&fault);
        snprintf(name, sizeof name, "run%llu/plugins/profile/s/here.xplane.pb",
                 (unsigned long long)n);
        sb_file_info info;
        bool there = sb_fs_local.stat(NULL, sb_test_dir_join(*state, name), &info) == 0;
        if (status == SB_OK) {
            assert_true(there);
        } else {
            assert_int_equal(status, SB_IO);
            assert_non_null(strstr(err.text, logdir));
            assert_false(there && info.size < 1000);
        }
        if (!failed) return;
    }
    fail_msg("the sweep never ended");
}

static void a_full_disk_is_told_and_leaves_no_file(void **state) {
    sb_err err;
    sb_fault_fs fault;
    sb_fault_fs_init(&fault, &sb_fs_local);
    sb_fault_fs_disk(&fault, 100, ENOSPC);
    const sb_env env = {&sb_alloc_libc, &fault.fs, &step_by_step};
    assert_int_equal(record_and_stop(&env, sb_test_dir_join(*state, "full"), &err), SB_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    sb_fault_fs_fini(&fault);
    size_t files = 0;
    sb_fs_local.list(NULL, sb_test_dir_join(*state, "full/plugins/profile/s"), count_name, &files);
    assert_int_equal(files, 0);
}

static sb_status record_with(const sb_alloc *alloc, void *ud) {
    const sb_env env = {alloc, &sb_fs_local, &step_by_step};
    sb_err err;
    sb_status status = record_and_stop(&env, ud, &err);
    return status;
}

static void running_out_of_memory_is_told_or_costs_only_slices(void **state) {
    const char *logdir = sb_test_dir_join(*state, "run");
    for (uint64_t n = 1; n < 500; n++) {
        sb_fault_alloc fault;
        sb_fault_alloc_init(&fault);
        sb_fault_alloc_fail_at(&fault, n, false);
        char *copy = strdup(logdir);
        sb_status status = record_with(&fault.alloc, copy);
        free(copy);
        bool refused = fault.failures > 0;
        sb_fault_alloc_fini(&fault);
        if (!refused) {
            assert_int_equal(status, SB_OK);
            return;
        }
        /* A chunk or a name that could not be had costs its slices, which the file tells. */
        assert_true(status == SB_NOMEM || status == SB_OK);
    }
    fail_msg("the sweep never ended");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(slices_contain_each_other_and_carry_their_names),
        DIR_TEST(counters_share_a_line_in_the_order_of_time),
        DIR_TEST(what_is_odd_is_shown_as_far_as_it_goes_and_told),
        DIR_TEST(names_that_are_no_utf8_are_repaired),
        DIR_TEST(the_newest_are_kept_and_the_loss_is_told),
        DIR_TEST(the_first_are_kept_when_asked_for),
        DIR_TEST(an_end_whose_beginning_was_dropped_is_no_mistake),
        DIR_TEST(many_threads_record_at_once_on_their_own_and_on_shared_tracks),
        DIR_TEST(threads_that_fill_the_memory_take_each_others_oldest),
        DIR_TEST(short_threads_use_the_same_memory_one_after_the_other),
        DIR_TEST(threads_may_live_longer_than_a_recorder_and_have_several),
        DIR_TEST(a_forked_child_records_nothing_and_its_parent_goes_on),
        cmocka_unit_test(a_recorder_that_is_null_does_nothing),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        DIR_TEST(sessions_without_a_name_never_replace_each_other),
        DIR_TEST(a_run_with_an_event_file_gets_no_marker),
        cmocka_unit_test(stopping_without_a_directory_writes_nothing),
        DIR_TEST(a_refusing_disk_is_named_and_leaves_no_half_file),
        DIR_TEST(a_full_disk_is_told_and_leaves_no_file),
        DIR_TEST(running_out_of_memory_is_told_or_costs_only_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
