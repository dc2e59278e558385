/* How growth is noticed while a log directory is followed. The steady clock stands still unless a
 * test moves it, so that a test decides whether polling or a walk is due: what arrives while it
 * stands was told by inotify, and the counters say so. */
#include "ingest/ingest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "support/sync.h"
#include "support/test.h"

#define MS ((uint64_t)1000 * 1000)
#define WALK_NS (100 * MS) /* a changed name leads to a walk after so long */
#define POLL_NS (200 * MS) /* a file that grew lately is looked at after so long */
#define LATEST_SECONDS 60  /* a test that waits longer has failed */

/* ---- a log directory that is followed -------------------------------------------------------- */

typedef struct world {
    _Atomic uint64_t now;
    sb_clock clock;
    sb_env env;
    sb_test_dir *dir;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t version;
    sb_store *store;
    sb_ingest *in;
} world;

static uint64_t read_clock(void *ctx) {
    return atomic_load(&((world *)ctx)->now);
}

static void hear(void *ud, uint64_t version) {
    world *w = ud;
    pthread_mutex_lock(&w->mutex);
    w->version = version;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

/* A user may have 128 inotify instances on most systems: where other programs hold all of them, as
 * the servers of the browser tests may, the server polls, and these tests have nothing to show. */
static bool has_inotify(void) {
    int probe = inotify_init1(IN_CLOEXEC);
    if (probe >= 0) close(probe);
    return probe >= 0;
}

/* Reads what is there now, then follows. */
static world *follow(sb_test_dir *d, bool no_inotify) {
    if (!no_inotify && !has_inotify()) skip();
    world *w = calloc(1, sizeof *w);
    atomic_init(&w->now, 1000 * MS);
    w->clock = (sb_clock){.wall = sb_clock_system.wall, .steady = read_clock, .ctx = w};
    w->env = (sb_env){&sb_alloc_libc, &sb_fs_local, &w->clock};
    w->dir = d;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    sb_err err;
    sb_store_opts opts = {.alloc = &sb_alloc_libc, .changed = hear, .changed_ud = w};
    assert_ok(sb_store_new(&w->store, &opts, &err), &err);
    sb_ingest_root root = {NULL, sb_test_dir_path(d)};
    sb_ingest_opts in_opts = {
        .roots = &root, .root_count = 1, .reload_interval = 1000, .no_inotify = no_inotify};
    assert_ok(sb_ingest_start(&w->in, &w->env, w->store, &in_opts, &err), &err);
    sb_test_sync(w->in);
    return w;
}

static void end(world *w) {
    sb_ingest_stop(w->in);
    sb_store_free(w->store);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

static void move_clock(world *w, uint64_t ns) {
    atomic_fetch_add(&w->now, ns);
}

/* Points begin .. end of the tag "loss" at the end of a file, in one write. */
static void append(world *w, const char *name, int64_t begin, int64_t end) {
    sb_buf log;
    sb_buf_init(&log, &sb_alloc_libc, SIZE_MAX / 2);
    for (int64_t step = begin; step < end; step++) {
        size_t record = sb_record_begin(&log);
        sb_pb_add_double(&log, SB_EVENT_WALL_TIME, 1000 + (double)step);
        sb_pb_add_int_nz(&log, SB_EVENT_STEP, step);
        size_t summary = sb_pb_begin(&log, SB_EVENT_SUMMARY, 20);
        size_t value = sb_pb_begin(&log, SB_SUMMARY_VALUE, 20);
        sb_pb_add_bytes(&log, SB_VALUE_TAG, SB_LIT("loss"));
        sb_pb_add_float(&log, SB_VALUE_SIMPLE_VALUE, (float)step);
        sb_pb_end(&log, value);
        sb_pb_end(&log, summary);
        sb_record_end(&log, record);
    }
    const char *path = sb_test_dir_join(w->dir, name);
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    setvbuf(f, NULL, _IOFBF, log.n + 1);
    assert_int_equal(fwrite(log.p, 1, log.n, f), log.n);
    fclose(f);
    sb_buf_fini(&log);
}

static void make_folder(sb_test_dir *d, const char *name) {
    assert_int_equal(mkdir(sb_test_dir_join(d, name), 0700), 0);
}

static uint64_t points_of(world *w, const char *name) {
    sb_run *run = sb_store_find_run(w->store, sb_slice_str(name));
    if (!run) return 0;
    sb_run_info info;
    sb_run_get_info(run, &info);
    sb_run_release(run);
    return info.points;
}

/* Waits until the run has so many points (0 and no run are the same). */
static void await_points(world *w, const char *name, uint64_t points) {
    struct timespec latest;
    clock_gettime(CLOCK_REALTIME, &latest);
    latest.tv_sec += LATEST_SECONDS;
    for (uint64_t seen = 0; points_of(w, name) != points;) {
        int result = 0;
        pthread_mutex_lock(&w->mutex);
        while (w->version == seen && result == 0)
            result = pthread_cond_timedwait(&w->changed, &w->mutex, &latest);
        seen = w->version;
        pthread_mutex_unlock(&w->mutex);
        if (result) fail_msg("%s did not come to %u points", name, (unsigned)points);
    }
}

static sb_ingest_noticed noticed(world *w) {
    sb_ingest_progress progress;
    sb_ingest_get_progress(w->in, &progress);
    return progress.noticed;
}

static void assert_noticed(world *w, uint64_t by_inotify, uint64_t by_polling) {
    sb_ingest_noticed n = noticed(w);
    assert_int_equal(n.by_inotify, by_inotify);
    assert_int_equal(n.by_polling, by_polling);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static sb_test_dir *with_log(void **state, const char *folder) {
    sb_test_dir *d = *state;
    if (folder) make_folder(d, folder);
    return d;
}

static void growth_of_a_run_is_told_by_inotify(void **state) {
    world *w = follow(with_log(state, "r"), false);
    append(w, "r/1.tfevents", 0, 10);
    sb_test_sync(w->in);
    append(w, "r/1.tfevents", 10, 20);
    await_points(w, "r", 20);
    append(w, "r/1.tfevents", 20, 30);
    await_points(w, "r", 30);
    assert_noticed(w, 2, 0);
    end(w);
}

static void growth_without_inotify_is_found_by_polling(void **state) {
    world *w = follow(with_log(state, "r"), true);
    append(w, "r/1.tfevents", 0, 10);
    sb_test_sync(w->in);
    append(w, "r/1.tfevents", 10, 20);
    move_clock(w, POLL_NS);
    await_points(w, "r", 20);
    assert_noticed(w, 0, 1);
    end(w);
}

static void growth_directly_in_the_log_directory_is_told_by_inotify(void **state) {
    world *w = follow(with_log(state, NULL), false);
    append(w, "1.tfevents", 0, 10);
    sb_test_sync(w->in);
    sb_test_sync(w->in); /* every walk watches the directory again */
    append(w, "1.tfevents", 10, 20);
    await_points(w, ".", 20);
    assert_noticed(w, 1, 0);
    end(w);
}

static void run_folder_that_was_made_again_is_told_by_inotify(void **state) {
    world *w = follow(with_log(state, "r"), false);
    append(w, "r/1.tfevents", 0, 10);
    sb_test_sync(w->in);
    unlink(sb_test_dir_join(w->dir, "r/1.tfevents"));
    rmdir(sb_test_dir_join(w->dir, "r"));
    make_folder(w->dir, "r");
    append(w, "r/1.tfevents", 0, 5);
    move_clock(w, WALK_NS); /* names changed: a walk, but polling is not due yet */
    await_points(w, "r", 5);
    append(w, "r/1.tfevents", 5, 7);
    await_points(w, "r", 7);
    assert_true(noticed(w).by_inotify >= 1);
    assert_int_equal(noticed(w).by_polling, 0);
    end(w);
}

static void run_folder_that_was_exchanged_is_told_by_inotify(void **state) {
    world *w = follow(with_log(state, "r"), false);
    append(w, "r/1.tfevents", 0, 10);
    make_folder(w->dir, "other");
    append(w, "other/1.tfevents", 0, 5);
    sb_test_sync(w->in);
    assert_int_equal(rename(sb_test_dir_join(w->dir, "r"), sb_test_dir_join(w->dir, "old")), 0);
    assert_int_equal(rename(sb_test_dir_join(w->dir, "other"), sb_test_dir_join(w->dir, "r")), 0);
    move_clock(w, WALK_NS);
    await_points(w, "r", 5);
    append(w, "r/1.tfevents", 5, 7);
    await_points(w, "r", 7);
    append(w, "old/1.tfevents", 10, 12);
    await_points(w, "old", 12);
    assert_int_equal(noticed(w).by_polling, 0);
    end(w);
}

/* A walk may come between the making of a folder and that of its first event file. */
static void first_file_of_a_folder_that_was_seen_empty_is_told_by_inotify(void **state) {
    sb_test_dir *d = with_log(state, "experiment");
    make_folder(d, "experiment/r");
    world *w = follow(d, false);
    append(w, "experiment/r/1.tfevents", 0, 5);
    move_clock(w, WALK_NS);
    await_points(w, "experiment/r", 5);
    end(w);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(growth_of_a_run_is_told_by_inotify),
        DIR_TEST(growth_without_inotify_is_found_by_polling),
        DIR_TEST(growth_directly_in_the_log_directory_is_told_by_inotify),
        DIR_TEST(run_folder_that_was_made_again_is_told_by_inotify),
        DIR_TEST(run_folder_that_was_exchanged_is_told_by_inotify),
        DIR_TEST(first_file_of_a_folder_that_was_seen_empty_is_told_by_inotify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
