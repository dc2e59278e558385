/* recording_test.c: runs of a session as slices of a profile, on one thread and on several. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "seaboard/train.h"
#include "support/test.h"
#include "base/banned.h"

#define SIDE 256
#define RUNS 3

/* ---- reading the profile --------------------------------------------------------------------- */

static sb_slice field(sb_slice message, uint32_t number) {
    sb_items items = sb_items_of(message, number);
    sb_slice found;
    return sb_items_next(&items, &found) == SB_OK ? found : (sb_slice){0};
}

static uint64_t number(sb_slice message, uint32_t which) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    uint64_t found = 0;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == which) found = f.u64;
    return found;
}

static sb_slice line_of(sb_slice plane, const char *name) {
    sb_items lines = sb_items_of(plane, SB_XPLANE_LINES);
    for (sb_slice line; sb_items_next(&lines, &line) == SB_OK;)
        if (sb_slice_eq(field(line, SB_XLINE_NAME), sb_slice_str(name))) return line;
    return (sb_slice){0};
}

static uint64_t id_of(sb_slice plane, const char *name) {
    sb_items entries = sb_items_of(plane, SB_XPLANE_EVENT_METADATA);
    for (sb_slice entry; sb_items_next(&entries, &entry) == SB_OK;) {
        sb_slice value = field(entry, SB_XPLANE_EVENT_META_VALUE);
        if (sb_slice_eq(field(value, SB_XEVENT_META_NAME), sb_slice_str(name)))
            return number(value, SB_XEVENT_META_ID);
    }
    return 0;
}

static size_t count_of(sb_slice plane, sb_slice line, const char *name) {
    uint64_t id = id_of(plane, name);
    size_t n = 0;
    sb_items events = sb_items_of(line, SB_XLINE_EVENTS);
    for (sb_slice e; sb_items_next(&events, &e) == SB_OK;)
        n += id && number(e, SB_XEVENT_METADATA_ID) == id;
    return n;
}

static size_t count_all(sb_slice line) {
    size_t n = 0;
    sb_items events = sb_items_of(line, SB_XLINE_EVENTS);
    for (sb_slice e; sb_items_next(&events, &e) == SB_OK;) n++;
    return n;
}

/* ---- a product of two matrices, large enough for several threads ----------------------------- */

typedef struct work {
    sb_net *g;
    sb_op *product, *mean, *init;
    sb_net_session *s;
} work;

static work open_work(uint32_t threads) {
    work w = {0};
    sb_err err;
    assert_ok(sb_net_new(&w.g, &err), &err);
    sb_op *x =
        sb_net_variable(w.g, sb_net_random_normal(w.g, SB_DIMS(SIDE, SIDE), 0, 1, NULL), true, "x");
    w.product = sb_net_matmul(w.g, x, x, false, false, "product");
    w.mean = sb_net_mean(w.g, w.product, SB_ALL_AXES, false, "mean");
    w.init = sb_net_initializer(w.g, NULL);
    sb_net_session_opts opts = SB_INIT(sb_net_session_opts, .seed = 5, .threads = threads);
    assert_ok(sb_net_session_open(&w.s, w.g, &opts, &err), &err);
    assert_ok(sb_net_run(w.s, &w.init, 1, NULL, 0, NULL, &err), &err);
    return w;
}

static float run(work *w, bool is_traced) {
    sb_err err;
    sb_array result;
    sb_slice metadata;
    if (is_traced)
        assert_ok(sb_net_run_traced(w->s, &w->mean, 1, NULL, 0, &result, &metadata, &err), &err);
    else
        assert_ok(sb_net_run(w->s, &w->mean, 1, NULL, 0, &result, &err), &err);
    return *(const float *)result.data;
}

static void close_work(work *w) {
    sb_net_session_close(w->s);
    sb_net_free(w->g);
}

static sb_slice record(sb_test_dir *d, work *w, sb_recorder_stats *stats) {
    sb_err err;
    sb_recorder *r;
    sb_recorder_opts opts = SB_INIT(sb_recorder_opts, .session = "s", .host = "h");
    assert_ok(sb_recorder_start(&r, &opts, &err), &err);
    uint32_t loop = sb_recorder_track(r, "loop"), step = sb_recorder_name(r, "step");
    float before = run(w, false);
    assert_ok(sb_net_session_record(w->s, r, loop, &err), &err);
    for (int i = 0; i < RUNS; i++) {
        sb_recorder_step(r, loop, step, i);
        assert_true(run(w, i == 1) == before); /* recording changes no number */
        sb_recorder_end(r, loop);
    }
    assert_ok(sb_net_session_record(w->s, NULL, 0, &err), &err);
    run(w, false); /* not recorded any more */
    sb_recorder_get_stats(r, stats);
    assert_ok(sb_recorder_stop(r, sb_test_dir_path(d), &err), &err);
    return field(sb_test_dir_get(d, sb_test_dir_join(d, "plugins/profile/s/h.xplane.pb")),
                 SB_XSPACE_PLANES);
}

static void every_op_of_every_run_is_a_slice_with_its_name(void **state) {
    work w = open_work(1);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_slice plane = record(*state, &w, &stats), loop = line_of(plane, "loop");
    assert_int_equal(count_of(plane, loop, "step"), RUNS);
    assert_int_equal(count_of(plane, loop, "SessionRun"), RUNS);
    assert_int_equal(count_of(plane, loop, "product:MatMul"), RUNS);
    assert_int_equal(count_of(plane, loop, "mean:Mean"), RUNS);
    assert_int_equal(count_all(loop), 4 * RUNS); /* and nothing else */
    assert_int_equal(count_of(plane, line_of(plane, "_counters_"), "memory of the session (bytes)"),
                     2 * RUNS);
    assert_null(line_of(plane, "session thread 1").p);
    assert_int_equal(stats.dropped, 0);
    close_work(&w);
}

static void memory_is_that_of_variables_values_and_scratch(void **state) {
    work w = open_work(1);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_slice plane = record(*state, &w, &stats);
    sb_slice counters = line_of(plane, "_counters_");
    double most = 0;
    sb_items events = sb_items_of(counters, SB_XLINE_EVENTS);
    for (sb_slice e; sb_items_next(&events, &e) == SB_OK;) {
        double bytes = sb_bits_double(number(field(e, SB_XEVENT_STATS), SB_XSTAT_DOUBLE_VALUE));
        if (bytes > most) most = bytes;
    }
    /* x and the product at least; not more than that and the packed panels of both */
    assert_true(most >= 2.0 * SIDE * SIDE * 4 && most < 5.0 * SIDE * SIDE * 4);
    close_work(&w);
}

static void what_other_threads_do_is_on_tracks_of_their_own(void **state) {
    work w = open_work(4);
    sb_recorder_stats stats = SB_INIT(sb_recorder_stats);
    sb_slice plane = record(*state, &w, &stats);
    assert_int_equal(count_of(plane, line_of(plane, "loop"), "product:MatMul"), RUNS);
    /* Who gets a piece is chance; a thread that got one recorded it under the op's name. */
    for (int i = 1; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "session thread %d", i);
        sb_slice line = line_of(plane, name);
        if (!line.p) continue;
        assert_int_equal(count_of(plane, line, "product:MatMul") +
                             count_of(plane, line, "mean:Mean"),
                         count_all(line));
    }
    assert_int_equal(sb_net_session_record(NULL, NULL, 0, NULL), SB_INVALID);
    close_work(&w);
}

static void a_session_may_be_closed_while_it_records(void **state) {
    (void)state;
    sb_err err;
    sb_recorder *r;
    work w = open_work(2);
    assert_ok(sb_recorder_start(&r, NULL, &err), &err);
    assert_ok(sb_net_session_record(w.s, r, sb_recorder_track(r, "t"), &err), &err);
    run(&w, false);
    assert_ok(sb_net_session_record(w.s, r, sb_recorder_track(r, "again"), &err), &err);
    run(&w, false);
    close_work(&w);
    assert_ok(sb_recorder_stop(r, NULL, &err), &err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_op_of_every_run_is_a_slice_with_its_name,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(memory_is_that_of_variables_values_and_scratch,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(what_other_threads_do_is_on_tracks_of_their_own,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test(a_session_may_be_closed_while_it_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
