/* Reading a log directory with failure at every request for memory and every call of the file
 * system: nothing crashes or leaks, no point is ever wrong, what was read before a disk stopped
 * answering stays, and when the fault is over everything is there after one sync. */
#include "ingest/ingest.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/sync.h"
#include "support/test.h"

/* ---- a small tree ---------------------------------------------------------------------------- */

/* One event with two scalars ("loss" = step, "twice" = 2 * step) and a histogram. */
static void add_event(sb_buf *log, int64_t step) {
    size_t record = sb_record_begin(log);
    sb_pb_add_double(log, SB_EVENT_WALL_TIME, 1000 + (double)step);
    sb_pb_add_int_nz(log, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(log, SB_EVENT_SUMMARY, 200);
    for (int i = 1; i <= 2; i++) {
        size_t value = sb_pb_begin(log, SB_SUMMARY_VALUE, 40);
        sb_pb_add_bytes(log, SB_VALUE_TAG, i == 1 ? SB_LIT("loss") : SB_LIT("twice"));
        sb_pb_add_float(log, SB_VALUE_SIMPLE_VALUE, (float)(step * i));
        sb_pb_end(log, value);
    }
    size_t value = sb_pb_begin(log, SB_SUMMARY_VALUE, 60);
    sb_pb_add_bytes(log, SB_VALUE_TAG, SB_LIT("weights"));
    size_t histo = sb_pb_begin(log, SB_VALUE_HISTO, 40);
    sb_pb_add_double(log, SB_HISTOGRAM_MAX, (double)step);
    sb_pb_end(log, histo);
    sb_pb_end(log, value);
    sb_pb_end(log, summary);
    sb_record_end(log, record);
}

static sb_buf make_log(int64_t from, int64_t to) {
    sb_buf log;
    sb_buf_init(&log, &sb_alloc_libc, SIZE_MAX / 2);
    for (int64_t i = from; i < to; i++) add_event(&log, i);
    return log;
}

static const char *put_log(sb_test_dir *d, const char *name, int64_t from, int64_t to) {
    sb_buf log = make_log(from, to);
    const char *path = sb_test_dir_put(d, name, sb_buf_slice(&log));
    sb_buf_fini(&log);
    return path;
}

#define FIRST_HALF 600 /* of a/1: enough for one sealed chunk when both halves are there */
#define BOTH_HALVES 1100

static void plant(sb_test_dir *d) {
    put_log(d, "a/1.tfevents", 0, FIRST_HALF);
    put_log(d, "a/2.tfevents", 2000, 2010);
    put_log(d, "b/deep/1.tfevents", 0, 20);
    put_log(d, "c.tfevents", 0, 3);
}

/* The log grows, is replaced, goes and comes: all at once. */
static void change(sb_test_dir *d) {
    put_log(d, "a/1.tfevents", 0, BOTH_HALVES);
    put_log(d, "a/3.tfevents", 3000, 3005);
    put_log(d, "new", 0, 7);
    rename(sb_test_dir_join(d, "new"), sb_test_dir_join(d, "b/deep/1.tfevents"));
    unlink(sb_test_dir_join(d, "c.tfevents"));
    put_log(d, "d/1.tfevents", 0, 4);
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static double factor_of(sb_slice tag) {
    return sb_slice_eq(tag, SB_LIT("twice")) ? 2 : 1;
}

/* Counts the points of a series; each is right, and steps grow. */
static size_t count_right_points(sb_run *run, sb_slice tag) {
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 24);
    sb_series s;
    size_t count = 0;
    if (sb_series_take(run, tag, &arena, &s) == SB_OK) {
        sb_points *points = malloc(sizeof *points);
        sb_scalar_walk walk = sb_scalars_of(&s, true);
        int64_t last = -1;
        for (size_t n; (n = sb_scalars_next(&walk, points, NULL)); count += n)
            for (size_t i = 0; i < n; i++) {
                assert_true(points->steps[i] > last);
                last = points->steps[i];
                assert_true(points->values[i] == factor_of(tag) * (double)last);
                assert_true(points->walls[i] == 1000 + (double)last);
            }
        free(points);
        for (size_t part = 0; part < s.part_n; part++)
            for (size_t i = 0; i < s.parts[part].ref_n; i++) {
                const sb_ref_point *ref = &s.parts[part].refs[i];
                if (ref->step >= s.parts[part].cut_step) continue;
                assert_true(ref->wall == 1000 + (double)ref->step);
                count++;
            }
        sb_series_release(&s);
    }
    sb_arena_fini(&arena);
    return count;
}

/* How many events of a run are in the store: the same number of all its tags, unless in part. */
static size_t count_events(sb_store *store, const char *name, bool in_part) {
    sb_run *run = sb_store_find_run(store, sb_slice_str(name));
    if (!run) return 0;
    size_t loss = count_right_points(run, SB_LIT("loss"));
    size_t twice = count_right_points(run, SB_LIT("twice"));
    size_t weights = count_right_points(run, SB_LIT("weights"));
    sb_run_release(run);
    assert_true(in_part || (loss == twice && loss == weights));
    return loss;
}

static void assert_planted(sb_store *store) {
    assert_int_equal(count_events(store, "a", false), FIRST_HALF + 10);
    assert_int_equal(count_events(store, "b/deep", false), 20);
    assert_int_equal(count_events(store, ".", false), 3);
}

static void assert_changed(sb_store *store) {
    assert_int_equal(count_events(store, "a", false), BOTH_HALVES + 15);
    assert_int_equal(count_events(store, "b/deep", false), 7);
    assert_int_equal(count_events(store, ".", false), 0);
    assert_int_equal(count_events(store, "d", false), 4);
}

static void assert_nothing_wrong(sb_store *store) {
    assert_true(count_events(store, "a", true) <= BOTH_HALVES + 15);
    assert_true(count_events(store, "b/deep", true) <= 20);
    assert_true(count_events(store, ".", true) <= 3);
    assert_true(count_events(store, "d", true) <= 4);
}

/* ---- a world with faults --------------------------------------------------------------------- */

typedef struct world {
    sb_fault_alloc memory;
    sb_fault_fs files;
    sb_env env;
    sb_store *store;
    sb_ingest *in;
} world;

/* On the heap: its threads go on when a test fails. */
static world *world_new(void) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    sb_fault_alloc_init(&w->memory);
    sb_fault_fs_init(&w->files, &sb_fs_local);
    w->env = (sb_env){&w->memory.alloc, &w->files.fs, &sb_clock_system};
    return w;
}

static sb_status world_start(world *w, const char *path) {
    sb_err err;
    sb_store_opts opts = {.alloc = &w->memory.alloc};
    sb_status status = sb_store_new(&w->store, &opts, &err);
    if (status != SB_OK) return status;
    sb_ingest_root root = {NULL, path};
    sb_ingest_opts how = {
        .roots = &root, .root_count = 1, .reload_interval = 1000, .threads = 1, .no_inotify = true};
    return sb_ingest_start(&w->in, &w->env, w->store, &how, &err);
}

static void world_free(world *w) {
    sb_ingest_stop(w->in);
    sb_store_free(w->store);
    sb_fault_fs_fini(&w->files);
    sb_fault_alloc_fini(&w->memory);
    free(w);
}

/* Nothing but the test's thread may touch the fault's settings while others work. */
static bool heal(world *w) {
    pthread_mutex_lock(&w->memory.lock);
    bool had = w->memory.failures > 0;
    w->memory.fail_at = 0;
    pthread_mutex_unlock(&w->memory.lock);
    return had;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void first_reading_survives_every_failed_request(void **state) {
    sb_test_dir *d = *state;
    plant(d);
    for (int all_after = 0; all_after < 2; all_after++) {
        bool had_fault = true;
        for (uint64_t n = 1; had_fault; n++) {
            world *w = world_new();
            sb_fault_alloc_fail_at(&w->memory, n, all_after);
            sb_status status = world_start(w, sb_test_dir_path(d));
            if (status == SB_OK) {
                sb_test_sync(w->in);
                assert_nothing_wrong(w->store);
                had_fault = heal(w);
                sb_test_sync(w->in);
                assert_planted(w->store);
            } else {
                assert_int_equal(status, SB_NOMEM);
            }
            world_free(w);
        }
    }
}

static void growth_survives_every_failed_request(void **state) {
    (void)state;
    bool had_fault = true;
    for (uint64_t n = 1; had_fault; n++) {
        sb_test_dir *d = sb_test_dir_new();
        plant(d);
        world *w = world_new();
        assert_int_equal(world_start(w, sb_test_dir_path(d)), SB_OK);
        sb_test_sync(w->in);
        change(d);
        pthread_mutex_lock(&w->memory.lock);
        w->memory.fail_at = w->memory.calls + n;
        pthread_mutex_unlock(&w->memory.lock);
        sb_test_sync(w->in);
        assert_nothing_wrong(w->store);
        had_fault = heal(w);
        sb_test_sync(w->in);
        assert_changed(w->store);
        world_free(w);
        sb_test_dir_free(d);
    }
}

/* ---- the file system ------------------------------------------------------------------------- */

static const sb_fault_call calls[] = {SB_CALL_OPEN,  SB_CALL_READ, SB_CALL_INFO,
                                      SB_CALL_CLOSE, SB_CALL_STAT, SB_CALL_LIST};
static const int errors[] = {EIO, ENOENT};

typedef bool (*fault_run)(sb_fault_call call, uint64_t n, int error, bool and_after);

static void sweep(fault_run run) {
    for (size_t c = 0; c < SB_COUNT(calls); c++)
        for (size_t e = 0; e < SB_COUNT(errors); e++)
            for (int and_after = 0; and_after < 2; and_after++)
                for (uint64_t n = 1; run(calls[c], n, errors[e], and_after); n++) {
                }
}

static sb_test_dir *planted; /* read only */

static bool read_with_fault(sb_fault_call call, uint64_t n, int error, bool and_after) {
    world *w = world_new();
    sb_fault_fs_fail(&w->files, call, n, error, and_after);
    assert_int_equal(world_start(w, sb_test_dir_path(planted)), SB_OK);
    sb_test_sync(w->in);
    assert_nothing_wrong(w->store);
    bool had_fault = sb_fault_fs_failures(&w->files) > 0;
    sb_fault_fs_fail(&w->files, call, 0, 0, false);
    sb_test_sync(w->in);
    assert_planted(w->store);
    world_free(w);
    return had_fault;
}

static void first_reading_survives_every_failed_call(void **state) {
    planted = *state;
    plant(planted);
    sweep(read_with_fault);
}

static bool grow_with_fault(sb_fault_call call, uint64_t n, int error, bool and_after) {
    sb_test_dir *d = sb_test_dir_new();
    plant(d);
    world *w = world_new();
    assert_int_equal(world_start(w, sb_test_dir_path(d)), SB_OK);
    sb_test_sync(w->in);
    change(d);
    uint64_t before = sb_fault_fs_failures(&w->files);
    sb_fault_fs_fail(&w->files, call, n, error, and_after);
    sb_test_sync(w->in);
    assert_nothing_wrong(w->store);
    bool had_fault = sb_fault_fs_failures(&w->files) > before;
    sb_fault_fs_fail(&w->files, call, 0, 0, false);
    sb_test_sync(w->in);
    assert_changed(w->store);
    world_free(w);
    sb_test_dir_free(d);
    return had_fault;
}

static void growth_survives_every_failed_call(void **state) {
    (void)state;
    sweep(grow_with_fault);
}

/* A disk that does not answer is not an empty one. */
static bool look_with_fault(sb_fault_call call, uint64_t n, int error, bool and_after) {
    if (error == ENOENT) return false; /* then things are gone, as far as anybody can tell */
    world *w = world_new();
    assert_int_equal(world_start(w, sb_test_dir_path(planted)), SB_OK);
    sb_test_sync(w->in);
    assert_planted(w->store);
    uint64_t before = sb_fault_fs_failures(&w->files);
    sb_fault_fs_fail(&w->files, call, n, error, and_after);
    sb_test_sync(w->in);
    sb_test_sync(w->in);
    bool had_fault = sb_fault_fs_failures(&w->files) > before;
    assert_planted(w->store);
    sb_fault_fs_fail(&w->files, call, 0, 0, false);
    world_free(w);
    return had_fault;
}

static void what_was_read_stays_while_the_disk_fails(void **state) {
    planted = *state;
    plant(planted);
    sweep(look_with_fault);
}

static void failing_disk_is_told(void **state) {
    sb_test_dir *d = *state;
    plant(d);
    world *w = world_new();
    assert_int_equal(world_start(w, sb_test_dir_path(d)), SB_OK);
    sb_test_sync(w->in);
    sb_fault_fs_fail(&w->files, SB_CALL_LIST, 1, EIO, true);
    sb_test_sync(w->in);
    sb_ingest_progress progress;
    sb_ingest_get_progress(w->in, &progress);
    assert_int_equal(progress.problems, 1);
    assert_non_null(strstr(progress.problem, sb_test_dir_path(d)));
    sb_fault_fs_fail(&w->files, SB_CALL_LIST, 0, 0, false);
    sb_test_sync(w->in);
    sb_ingest_get_progress(w->in, &progress);
    assert_int_equal(progress.problems, 0);
    world_free(w);
}

static void short_reads_change_nothing(void **state) {
    sb_test_dir *d = *state;
    plant(d);
    for (size_t most = 1; most < 3000; most = most * 5 + 2) {
        world *w = world_new();
        sb_fault_fs_short(&w->files, most, 0);
        assert_int_equal(world_start(w, sb_test_dir_path(d)), SB_OK);
        sb_test_sync(w->in);
        assert_planted(w->store);
        world_free(w);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void tags_beyond_the_limit_are_counted_and_cost_nothing_else(void **state) {
    sb_test_dir *d = *state;
    plant(d);
    world *w = world_new();
    sb_err err;
    sb_store_opts opts = {.alloc = &w->memory.alloc, .max_tags = 1};
    assert_ok(sb_store_new(&w->store, &opts, &err), &err);
    sb_ingest_root root = {NULL, sb_test_dir_path(d)};
    sb_ingest_opts how = {.roots = &root, .root_count = 1};
    assert_ok(sb_ingest_start(&w->in, &w->env, w->store, &how, &err), &err);
    sb_test_sync(w->in);
    sb_run *run = sb_store_find_run(w->store, SB_LIT("a"));
    assert_non_null(run);
    sb_run_info info;
    sb_run_get_info(run, &info);
    assert_int_equal(info.series_count, 1);
    assert_int_equal(info.points, FIRST_HALF + 10);
    assert_int_equal(info.dropped_tags, 2 * (FIRST_HALF + 10));
    assert_int_equal(count_right_points(run, SB_LIT("loss")), FIRST_HALF + 10);
    sb_run_release(run);
    world_free(w);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(first_reading_survives_every_failed_request),
        cmocka_unit_test(growth_survives_every_failed_request),
        DIR_TEST(first_reading_survives_every_failed_call),
        cmocka_unit_test(growth_survives_every_failed_call),
        DIR_TEST(what_was_read_stays_while_the_disk_fails),
        DIR_TEST(failing_disk_is_told),
        DIR_TEST(short_reads_change_nothing),
        DIR_TEST(tags_beyond_the_limit_are_counted_and_cost_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
