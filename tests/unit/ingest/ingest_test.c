/* A log directory and the store that follows it: growth in any cuts, removal, replacement, damage.
 * What the store shows is always a prefix of the truth. */
#include "ingest/ingest.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "support/sync.h"
#include "support/test.h"

static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};

/* ---- making logs ----------------------------------------------------------------------------- */

static void add_scalar(sb_buf *log, const char *tag, int64_t step, float x, double wall) {
    size_t record = sb_record_begin(log);
    sb_pb_add_double(log, SB_EVENT_WALL_TIME, wall);
    sb_pb_add_int_nz(log, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(log, SB_EVENT_SUMMARY, 20);
    size_t value = sb_pb_begin(log, SB_SUMMARY_VALUE, 20);
    sb_pb_add_bytes(log, SB_VALUE_TAG, sb_slice_str(tag));
    sb_pb_add_float(log, SB_VALUE_SIMPLE_VALUE, x);
    sb_pb_end(log, value);
    sb_pb_end(log, summary);
    sb_record_end(log, record);
}

/* Steps from..to of tag "loss", value = step. */
static sb_buf make_log(int64_t from, int64_t to, double wall) {
    sb_buf log;
    sb_buf_init(&log, &sb_alloc_libc, SIZE_MAX / 2);
    for (int64_t i = from; i < to; i++)
        add_scalar(&log, "loss", i, (float)i, wall + (double)i * 0.001);
    return log;
}

static void append(const char *path, sb_slice bytes) {
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    fclose(f);
}

static const char *put_log(sb_test_dir *d, const char *name, int64_t from, int64_t to,
                           double wall) {
    sb_buf log = make_log(from, to, wall);
    const char *path = sb_test_dir_put(d, name, sb_buf_slice(&log));
    sb_buf_fini(&log);
    return path;
}

/* ---- looking --------------------------------------------------------------------------------- */

typedef struct world {
    sb_store *store;
    sb_ingest *in;
} world;

static world watch_over(const char *path, double interval, bool no_inotify) {
    world w;
    sb_err err;
    assert_ok(sb_store_new(&w.store, &(sb_store_opts){.alloc = &sb_alloc_libc}, &err), &err);
    sb_ingest_root root = {NULL, path};
    sb_ingest_opts opts = {
        .roots = &root, .root_count = 1, .reload_interval = interval, .no_inotify = no_inotify};
    assert_ok(sb_ingest_start(&w.in, &env, w.store, &opts, &err), &err);
    return w;
}

static void end_watch(world *w) {
    sb_ingest_stop(w->in);
    sb_store_free(w->store);
}

/* How many points of run/loss are visible; asserts that they are first, first + 1, ... */
static size_t count_points(sb_store *store, const char *run_name, int64_t first) {
    sb_run *run = sb_store_find_run(store, sb_slice_str(run_name));
    if (!run) return 0;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_series s;
    size_t count = 0;
    sb_points *points = malloc(sizeof *points);
    if (sb_series_take(run, SB_LIT("loss"), &arena, &s) == SB_OK) {
        sb_scalar_walk walk = sb_scalars_of(&s, true);
        for (size_t n; (n = sb_scalars_next(&walk, points, NULL));)
            for (size_t i = 0; i < n; i++, count++) {
                assert_int_equal(points->steps[i], first + (int64_t)count);
                assert_true(points->values[i] == (double)points->steps[i]);
            }
        sb_series_release(&s);
    }
    free(points);
    sb_arena_fini(&arena);
    sb_run_release(run);
    return count;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void whole_tree_is_read(void **state) {
    sb_test_dir *d = *state;
    put_log(d, "events.tfevents.1", 0, 10, 1000);
    put_log(d, "a/b/events.tfevents.1", 0, 3000, 1000);
    put_log(d, "中文 run/events.tfevents.1", 0, 5, 1000);
    put_log(d, "a/not-a-log", 0, 5, 1000);
    world w = watch_over(sb_test_dir_path(d), 0, true);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, ".", 0), 10);
    assert_int_equal(count_points(w.store, "a/b", 0), 3000);
    assert_int_equal(count_points(w.store, "中文 run", 0), 5);
    sb_ingest_progress progress;
    sb_ingest_get_progress(w.in, &progress);
    assert_int_equal(progress.runs, 3);
    assert_int_equal(progress.files, 3);
    assert_int_equal(progress.points, 3015);
    assert_int_equal(progress.bytes, progress.bytes_done);
    assert_false(progress.is_loading);
    end_watch(&w);
}

static void file_that_grows_in_any_cuts_shows_whole_records_only(void **state) {
    sb_test_dir *d = *state;
    sb_buf log = make_log(0, 200, 1000);
    sb_test_random random = sb_test_random_of(5);
    const char *path = sb_test_dir_put(d, "r/x.tfevents", SB_LIT(""));
    world w = watch_over(sb_test_dir_path(d), 100, true);
    size_t record = log.n / 200 - 1; /* records are at least this long */
    for (size_t at = 0; at < log.n;) {
        size_t n = 1 + sb_test_below(&random, 150);
        if (n > log.n - at) n = log.n - at;
        append(path, sb_slice_of(log.p + at, n));
        at += n;
        sb_test_sync(w.in);
        size_t seen = count_points(w.store, "r", 0);
        assert_true(seen <= at / record);
        if (at == log.n) assert_int_equal(seen, 200);
    }
    sb_buf_fini(&log);
    end_watch(&w);
}

static void deleted_file_takes_its_points_along(void **state) {
    sb_test_dir *d = *state;
    const char *first = put_log(d, "r/1.tfevents", 0, 10, 1000);
    put_log(d, "r/2.tfevents", 10, 20, 2000);
    world w = watch_over(sb_test_dir_path(d), 100, true);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 20);
    unlink(first);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 10), 10);
    end_watch(&w);
}

static void training_again_in_the_emptied_folder_just_works(void **state) {
    sb_test_dir *d = *state;
    const char *old = put_log(d, "r/1.tfevents", 0, 500, 1000);
    world w = watch_over(sb_test_dir_path(d), 100, true);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 500);
    unlink(old);
    put_log(d, "r/2.tfevents", 0, 7, 500); /* even with a clock that went back */
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 7);
    end_watch(&w);
}

static void run_goes_with_its_last_file_and_comes_back(void **state) {
    sb_test_dir *d = *state;
    const char *path = put_log(d, "r/1.tfevents", 0, 5, 1000);
    world w = watch_over(sb_test_dir_path(d), 100, true);
    sb_test_sync(w.in);
    unlink(path);
    sb_test_sync(w.in);
    assert_null(sb_store_find_run(w.store, SB_LIT("r")));
    put_log(d, "r/1.tfevents", 0, 6, 1000);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 6);
    end_watch(&w);
}

static void truncated_and_replaced_files_are_read_anew(void **state) {
    sb_test_dir *d = *state;
    const char *path = put_log(d, "r/1.tfevents", 0, 100, 1000);
    world w = watch_over(sb_test_dir_path(d), 100, true);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 100);
    sb_buf log = make_log(0, 3, 1000);
    assert_int_equal(truncate(path, 0), 0);
    append(path, sb_buf_slice(&log));
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 3);
    sb_buf_fini(&log);
    put_log(d, "other", 40, 300, 1000);
    assert_int_equal(rename(sb_test_dir_join(d, "other"), path), 0);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 40), 260);
    end_watch(&w);
}

static void directory_may_come_later(void **state) {
    sb_test_dir *d = *state;
    world w = watch_over(sb_test_dir_join(d, "not/yet"), 100, true);
    sb_test_sync(w.in);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_runs runs;
    assert_int_equal(sb_store_runs(w.store, &arena, &runs), SB_OK);
    assert_int_equal(runs.n, 0);
    sb_arena_fini(&arena);
    put_log(d, "not/yet/r/1.tfevents", 0, 5, 1000);
    sb_test_sync(w.in);
    assert_int_equal(count_points(w.store, "r", 0), 5);
    end_watch(&w);
}

static void damage_costs_only_the_damaged_records_and_is_told(void **state) {
    sb_test_dir *d = *state;
    sb_buf log = make_log(0, 100, 1000);
    log.p[log.n / 2] ^= 1;
    sb_test_dir_put(d, "r/1.tfevents", sb_buf_slice(&log));
    sb_buf_fini(&log);
    world w = watch_over(sb_test_dir_path(d), 0, true);
    sb_test_sync(w.in);
    sb_run *run = sb_store_find_run(w.store, SB_LIT("r"));
    sb_run_info info;
    sb_run_get_info(run, &info);
    assert_int_equal(info.points, 99);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_file_info_view *files;
    size_t n;
    assert_int_equal(sb_run_files(run, &arena, &files, &n), SB_OK);
    assert_int_equal(n, 1);
    assert_int_equal(files[0].state.damaged, 1);
    assert_true(files[0].state.lost > 0);
    assert_non_null(strstr(files[0].state.trouble, "offset"));
    assert_true(files[0].state.is_done);
    sb_arena_fini(&arena);
    sb_run_release(run);
    end_watch(&w);
}

static void named_roots_give_their_name_to_the_runs(void **state) {
    sb_test_dir *d = *state;
    put_log(d, "x/1.tfevents", 0, 5, 1000);
    put_log(d, "y/sub/1.tfevents", 0, 6, 1000);
    sb_store *store;
    sb_ingest *in;
    assert_int_equal(sb_store_new(&store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL), SB_OK);
    sb_ingest_root roots[] = {{"one", sb_test_dir_join(d, "x")}, {"two", sb_test_dir_join(d, "y")}};
    sb_ingest_opts opts = {.roots = roots, .root_count = 2};
    assert_int_equal(sb_ingest_start(&in, &env, store, &opts, NULL), SB_OK);
    sb_test_sync(in);
    assert_int_equal(count_points(store, "one/.", 0), 5);
    assert_int_equal(count_points(store, "two/sub", 0), 6);
    sb_ingest_stop(in);
    sb_store_free(store);
}

static void overlapping_roots_show_under_both_names(void **state) {
    sb_test_dir *d = *state;
    put_log(d, "x/1.tfevents", 0, 5, 1000);
    put_log(d, "x/sub/1.tfevents", 0, 6, 1000);
    sb_store *store;
    sb_ingest *in;
    assert_int_equal(sb_store_new(&store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL), SB_OK);
    const char *whole = sb_test_dir_join(d, "x");
    sb_ingest_root roots[] = {{"a", whole}, {"b", whole}, {"c", sb_test_dir_join(d, "x/sub")}};
    sb_ingest_opts opts = {.roots = roots, .root_count = 3};
    assert_int_equal(sb_ingest_start(&in, &env, store, &opts, NULL), SB_OK);
    for (int i = 0; i < 2; i++) { /* the second walk finds what the first one made */
        sb_test_sync(in);
        assert_int_equal(count_points(store, "a/.", 0), 5);
        assert_int_equal(count_points(store, "a/sub", 0), 6);
        assert_int_equal(count_points(store, "b/.", 0), 5);
        assert_int_equal(count_points(store, "b/sub", 0), 6);
        assert_int_equal(count_points(store, "c/.", 0), 6);
    }
    sb_ingest_progress progress;
    sb_ingest_get_progress(in, &progress);
    assert_int_equal(progress.runs, 5);
    sb_ingest_stop(in);
    sb_store_free(store);
}

/* ---- while it is read ------------------------------------------------------------------------ */

/* A file system in which some files do not open before they are let through. */
typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool is_open[2]; /* for the files gate0.tfevents and gate1.tfevents */
    bool waits[2];
} gate;

static int open_gated(void *ctx, const char *path, sb_open_mode mode) {
    gate *g = ctx;
    const char *name = strstr(path, "gate");
    if (name) {
        int which = name[4] - '0';
        pthread_mutex_lock(&g->mutex);
        g->waits[which] = true;
        pthread_cond_broadcast(&g->moved);
        while (!g->is_open[which]) pthread_cond_wait(&g->moved, &g->mutex);
        pthread_mutex_unlock(&g->mutex);
    }
    return sb_fs_local.open(sb_fs_local.ctx, path, mode);
}

static void wait_at_gate(gate *g, int which) {
    pthread_mutex_lock(&g->mutex);
    while (!g->waits[which]) pthread_cond_wait(&g->moved, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void open_gate(gate *g, int which) {
    pthread_mutex_lock(&g->mutex);
    g->is_open[which] = true;
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->mutex);
}

static void run_that_grows_again_does_not_keep_it_loading(void **state) {
    sb_test_dir *d = *state;
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, {0}};
    sb_fs fs = sb_fs_local;
    fs.ctx = &g;
    fs.open = open_gated;
    const sb_env gated = {&sb_alloc_libc, &fs, &sb_clock_system};
    put_log(d, "a/1.tfevents", 0, 10, 1000);
    put_log(d, "b/gate0.tfevents", 0, 10, 1000);
    sb_store *store;
    sb_ingest *in;
    assert_int_equal(sb_store_new(&store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL), SB_OK);
    sb_ingest_root root = {NULL, sb_test_dir_path(d)};
    sb_ingest_opts opts = {.roots = &root, .root_count = 1, .reload_interval = 0.1, .threads = 2};
    assert_int_equal(sb_ingest_start(&in, &gated, store, &opts, NULL), SB_OK);
    wait_at_gate(&g, 0);
    while (count_points(store, "a", 0) < 10) sched_yield();
    put_log(d, "a/gate1.tfevents", 10, 20, 1001);
    wait_at_gate(&g, 1); /* from now on a is being read */
    sb_ingest_progress progress;
    sb_ingest_get_progress(in, &progress);
    assert_true(progress.is_loading);
    open_gate(&g, 0);
    while (sb_ingest_get_progress(in, &progress), progress.is_loading) sched_yield();
    assert_int_equal(count_points(store, "b", 0), 10);
    open_gate(&g, 1);
    sb_test_sync(in);
    assert_int_equal(count_points(store, "a", 0), 20);
    sb_ingest_stop(in);
    sb_store_free(store);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

static void walks_of_a_large_tree_take_a_small_share_of_the_time(void **state) {
    (void)state;
    const uint64_t second = 1000000000;
    assert_int_equal(sb_walk_pause(5, second / 1000, true), 5 * second);
    assert_int_equal(sb_walk_pause(5, second / 5, true), 199 * second / 5);
    assert_int_equal(sb_walk_pause(5, second / 5, false), 5 * second);
    assert_int_equal(sb_walk_pause(5, second, false), 19 * second);
    assert_int_equal(sb_walk_pause(5, 100 * second, true), 300 * second);
    assert_int_equal(sb_walk_pause(600, second, true), 600 * second);
    assert_int_equal(sb_walk_pause(0.001, 0, true), second / 10);
    assert_true(sb_walk_pause(0, second, true) > 1000000 * second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_of_a_large_tree_take_a_small_share_of_the_time),
        DIR_TEST(whole_tree_is_read),
        DIR_TEST(file_that_grows_in_any_cuts_shows_whole_records_only),
        DIR_TEST(deleted_file_takes_its_points_along),
        DIR_TEST(training_again_in_the_emptied_folder_just_works),
        DIR_TEST(run_goes_with_its_last_file_and_comes_back),
        DIR_TEST(truncated_and_replaced_files_are_read_anew),
        DIR_TEST(directory_may_come_later),
        DIR_TEST(damage_costs_only_the_damaged_records_and_is_told),
        DIR_TEST(named_roots_give_their_name_to_the_runs),
        DIR_TEST(overlapping_roots_show_under_both_names),
        DIR_TEST(run_that_grows_again_does_not_keep_it_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
