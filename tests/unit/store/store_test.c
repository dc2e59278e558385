/* Runs, commits, snapshots and restarts. */
#include "store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/test.h"

static const sb_series_meta scalar_meta = {.kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};

typedef struct world {
    sb_store *store;
    sb_run *run;
    sb_arena arena;
    uint32_t file, series;
} world;

static world make_world(const sb_alloc *alloc) {
    world w = {0};
    bool is_new;
    assert_int_equal(sb_store_new(&w.store, &(sb_store_opts){.alloc = alloc}, NULL), SB_OK);
    assert_int_equal(sb_store_add_run(w.store, SB_LIT("run"), SB_LIT("/run"), &w.run, NULL), SB_OK);
    assert_int_equal(sb_run_add_file(w.run, SB_LIT("/run/a"), &w.file, NULL), SB_OK);
    assert_int_equal(sb_run_series(w.run, SB_LIT("loss"), &scalar_meta, &w.series, &is_new), SB_OK);
    assert_true(is_new);
    sb_arena_init(&w.arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    return w;
}

static void free_world(world *w) {
    sb_arena_fini(&w->arena);
    sb_run_release(w->run);
    sb_store_free(w->store);
}

static void add(world *w, uint32_t file, int64_t step, double wall) {
    sb_run_saw_time(w->run, file, wall, false);
    assert_int_equal(
        sb_run_add_scalar(w->run, file, w->series, step, wall, (double)step * 2, SB_NUMBER_REAL),
        SB_OK);
}

/* The steps that a reader sees, in order, as text. */
static const char *steps_of(world *w, bool hide) {
    static char text[4096];
    static sb_points points;
    sb_series s;
    text[0] = 0;
    if (sb_series_take(w->run, SB_LIT("loss"), &w->arena, &s) != SB_OK) return "none";
    sb_scalar_walk walk = sb_scalars_of(&s, hide);
    size_t used = 0, n;
    while ((n = sb_scalars_next(&walk, &points, NULL)))
        for (size_t i = 0; i < n; i++) {
            assert_true(points.values[i] == (double)points.steps[i] * 2);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%ld", used ? " " : "",
                                     (long)points.steps[i]);
        }
    sb_series_release(&s);
    return text;
}

static void points_show_only_after_commit(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    uint64_t before = sb_store_version(w.store);
    add(&w, w.file, 1, 1);
    assert_string_equal(steps_of(&w, true), "none");
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "1");
    assert_true(sb_store_version(w.store) > before);
    add(&w, w.file, 2, 2);
    assert_string_equal(steps_of(&w, true), "1");
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "1 2");
    free_world(&w);
}

static void snapshot_stays_as_it_was_while_the_series_grows(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    for (int64_t i = 0; i < 1500; i++) add(&w, w.file, i, (double)i);
    sb_run_commit(w.run);
    sb_series s;
    assert_int_equal(sb_series_take(w.run, SB_LIT("loss"), &w.arena, &s), SB_OK);
    for (int64_t i = 1500; i < 9000; i++) {
        add(&w, w.file, i, (double)i);
        if (i % 700 == 0) sb_run_commit(w.run);
    }
    sb_run_commit(w.run);
    static sb_points points;
    sb_scalar_walk walk = sb_scalars_of(&s, true);
    int64_t next = 0;
    for (size_t n; (n = sb_scalars_next(&walk, &points, NULL));)
        for (size_t i = 0; i < n; i++) assert_int_equal(points.steps[i], next++);
    assert_int_equal(next, 1500);
    assert_int_equal(s.points, 1500);
    sb_series_release(&s);
    free_world(&w);
}

/* The kind of every point that a reader sees, in order, as a letter. */
static const char *kinds_of(world *w, bool hide) {
    static char text[4096];
    static sb_points points;
    sb_series s;
    assert_int_equal(sb_series_take(w->run, SB_LIT("loss"), &w->arena, &s), SB_OK);
    sb_scalar_walk walk = sb_scalars_of(&s, hide);
    size_t used = 0, n, part;
    while ((n = sb_scalars_next(&walk, &points, &part)))
        for (size_t i = 0; i < n; i++) text[used++] = "rwb"[s.parts[part].number_kind];
    text[used] = 0;
    sb_series_release(&s);
    return text;
}

static void add_kind(world *w, uint32_t file, int64_t step, double wall, sb_number_kind kind) {
    sb_run_saw_time(w->run, file, wall, false);
    assert_int_equal(sb_run_add_scalar(w->run, file, w->series, step, wall, (double)step * 2, kind),
                     SB_OK);
}

static void every_point_keeps_the_kind_of_its_number(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    add_kind(&w, w.file, 0, 100, SB_NUMBER_WHOLE);
    add_kind(&w, w.file, 1, 101, SB_NUMBER_WHOLE);
    add_kind(&w, w.file, 2, 102, SB_NUMBER_REAL);
    sb_run_commit(w.run);
    assert_string_equal(kinds_of(&w, true), "wwr");
    add_kind(&w, w.file, 3, 103, SB_NUMBER_REAL);
    add_kind(&w, w.file, 4, 104, SB_NUMBER_WHOLE);
    add_kind(&w, w.file, 5, 105, SB_NUMBER_BOOL);
    sb_run_commit(w.run);
    assert_string_equal(kinds_of(&w, true), "wwrrwb");
    assert_string_equal(steps_of(&w, true), "0 1 2 3 4 5");
    free_world(&w);
}

/* What a later file hides depends on where it began, not on the kinds of its numbers. */
static void restarts_hide_the_same_whatever_kinds_the_numbers_have(void **state) {
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        world w = make_world(&sb_alloc_libc);
        uint32_t second;
        sb_number_kind other = mixed ? SB_NUMBER_WHOLE : SB_NUMBER_REAL;
        for (int64_t i = 0; i < 6; i++)
            add_kind(&w, w.file, i, 100.0 + (double)i, i == 2 ? other : SB_NUMBER_REAL);
        sb_run_add_file(w.run, SB_LIT("/run/b"), &second, NULL);
        add_kind(&w, second, 3, 200, other);
        add_kind(&w, second, 1, 201, SB_NUMBER_REAL);
        add_kind(&w, second, 4, 202, other);
        sb_run_commit(w.run);
        assert_string_equal(steps_of(&w, true), "0 1 2 3 1 4");
        assert_string_equal(steps_of(&w, false), "0 1 2 3 4 5 3 1 4");
        sb_series s;
        assert_int_equal(sb_series_take(w.run, SB_LIT("loss"), &w.arena, &s), SB_OK);
        size_t pieces = 0;
        for (size_t i = 0; i < s.part_n; i++) pieces += !s.parts[i].continues;
        assert_int_equal(pieces, 2);
        sb_series_release(&s);
        free_world(&w);
    }
}

static void kinds_that_change_all_the_time_cost_no_part_a_point(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    for (int64_t i = 0; i < 2000; i++)
        add_kind(&w, w.file, i, (double)i, i % 2 ? SB_NUMBER_REAL : SB_NUMBER_WHOLE);
    sb_run_commit(w.run);
    sb_series s;
    assert_int_equal(sb_series_take(w.run, SB_LIT("loss"), &w.arena, &s), SB_OK);
    assert_int_equal(s.part_n, SB_MOST_KIND_CHANGES + 1);
    assert_int_equal(s.points, 2000);
    sb_series_release(&s);
    const char *kinds = kinds_of(&w, true);
    for (size_t i = 0; i < SB_MOST_KIND_CHANGES; i++) assert_int_equal(kinds[i], i % 2 ? 'r' : 'w');
    free_world(&w);
}

static void later_file_hides_the_steps_it_goes_over_again(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    uint32_t second;
    for (int64_t i = 0; i < 6; i++) add(&w, w.file, i, 100.0 + (double)i);
    sb_run_commit(w.run);
    sb_run_info before, after;
    sb_run_get_info(w.run, &before);
    sb_run_add_file(w.run, SB_LIT("/run/b"), &second, NULL);
    add(&w, second, 3, 200);
    add(&w, second, 4, 201);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "0 1 2 3 4");
    assert_string_equal(steps_of(&w, false), "0 1 2 3 4 5 3 4");
    sb_run_get_info(w.run, &after);
    assert_true(after.epoch != before.epoch);
    free_world(&w);
}

static void files_written_at_the_same_time_hide_nothing(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    uint32_t second;
    sb_run_add_file(w.run, SB_LIT("/run/b"), &second, NULL);
    add(&w, w.file, 5, 100);
    add(&w, second, 0, 101);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "0");
    sb_run_info before, after;
    sb_run_get_info(w.run, &before);
    /* The first one turns out to live on: it was no predecessor. */
    add(&w, w.file, 6, 102);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "5 6 0");
    sb_run_get_info(w.run, &after);
    assert_true(after.epoch != before.epoch);
    free_world(&w);
}

static void session_start_hides_later_steps_of_every_tag(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    for (int64_t i = 0; i < 5; i++) add(&w, w.file, i, (double)i);
    assert_int_equal(sb_run_add_start(w.run, w.file, 2, 10), SB_OK);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "0 1");
    add(&w, w.file, 7, 11);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "0 1 7");
    assert_string_equal(steps_of(&w, false), "0 1 2 3 4 7");
    free_world(&w);
}

static void points_of_a_dropped_file_disappear(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    uint32_t second, third;
    add(&w, w.file, 1, 1);
    sb_run_add_file(w.run, SB_LIT("/run/b"), &second, NULL);
    add(&w, second, 2, 2);
    sb_run_commit(w.run);
    sb_run_drop_file(w.run, w.file);
    sb_run_add_file(w.run, SB_LIT("/run/0"), &third, NULL);
    add(&w, third, 0, 0);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "0 2");
    sb_run_drop_file(w.run, second);
    sb_run_drop_file(w.run, third);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "none");
    sb_run_info info;
    sb_run_get_info(w.run, &info);
    assert_int_equal(info.points, 0);
    assert_int_equal(info.file_count, 0);
    free_world(&w);
}

static void parts_come_in_the_order_of_file_names(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    uint32_t late, early;
    sb_run_add_file(w.run, SB_LIT("/run/c"), &late, NULL);
    sb_run_add_file(w.run, SB_LIT("/run/A"), &early, NULL);
    add(&w, late, 30, 5);
    add(&w, w.file, 20, 5);
    add(&w, early, 10, 5);
    sb_run_commit(w.run);
    assert_string_equal(steps_of(&w, true), "10 20 30");
    free_world(&w);
}

static void runs_are_listed_by_start_time_then_name(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    const char *names[] = {"z", "b", "a", "unknown"};
    const double starts[] = {1, 2, 2, 0};
    sb_run *runs[4];
    for (size_t i = 0; i < 4; i++) {
        uint32_t file;
        sb_store_add_run(w.store, sb_slice_str(names[i]), SB_LIT("/"), &runs[i], NULL);
        if (!starts[i]) continue;
        sb_run_add_file(runs[i], SB_LIT("/x"), &file, NULL);
        sb_run_saw_time(runs[i], file, starts[i], true);
        sb_run_commit(runs[i]);
    }
    sb_run_saw_time(w.run, w.file, 9, true);
    sb_run_commit(w.run);
    sb_runs list;
    assert_int_equal(sb_store_runs(w.store, &w.arena, &list), SB_OK);
    const char *expected[] = {"z", "a", "b", "run", "unknown"};
    assert_int_equal(list.n, 5);
    for (size_t i = 0; i < 5; i++) {
        sb_run_info info;
        sb_run_get_info(list.items[i], &info);
        assert_slice_is(info.name, expected[i]);
    }
    sb_runs_release(&list);
    sb_run *again;
    assert_int_equal(sb_store_add_run(w.store, SB_LIT("a"), SB_LIT("/"), &again, NULL), SB_INVALID);
    sb_store_drop_run(w.store, runs[2]);
    assert_null(sb_store_find_run(w.store, SB_LIT("a")));
    for (size_t i = 0; i < 4; i++) sb_run_release(runs[i]);
    free_world(&w);
}

static void tags_beyond_the_limit_are_counted_not_kept(void **state) {
    (void)state;
    sb_store *store;
    sb_run *run;
    sb_store_new(&store, &(sb_store_opts){.alloc = &sb_alloc_libc, .max_tags = 3}, NULL);
    sb_store_add_run(store, SB_LIT("r"), SB_LIT("/"), &run, NULL);
    for (int i = 0; i < 10; i++) {
        char tag[16];
        uint32_t series;
        bool is_new;
        snprintf(tag, sizeof tag, "t%d", i);
        sb_status status = sb_run_series(run, sb_slice_str(tag), &scalar_meta, &series, &is_new);
        assert_int_equal(status, i < 3 ? SB_OK : SB_LIMIT);
    }
    sb_run_commit(run);
    sb_run_info info;
    sb_run_get_info(run, &info);
    assert_int_equal(info.dropped_tags, 7);
    sb_run_release(run);
    sb_store_free(store);
}

/* ---- readers beside a loader ----------------------------------------------------------------- */

typedef struct shared {
    world *w;
    _Atomic bool done;
} shared;

static void *read_all_the_time(void *ud) {
    shared *s = ud;
    sb_points *points = malloc(sizeof *points);
    while (!s->done) {
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
        sb_series series;
        if (sb_series_take(s->w->run, SB_LIT("loss"), &arena, &series) == SB_OK) {
            sb_scalar_walk walk = sb_scalars_of(&series, true);
            int64_t next = 0;
            for (size_t n; (n = sb_scalars_next(&walk, points, NULL));)
                for (size_t i = 0; i < n; i++)
                    if (points->steps[i] != next++) abort();
            if ((uint64_t)next != series.points) abort();
            sb_series_release(&series);
        }
        sb_run_info info;
        sb_run_get_info(s->w->run, &info);
        sb_arena_fini(&arena);
    }
    free(points);
    return NULL;
}

static void readers_always_see_a_prefix_of_the_truth(void **state) {
    (void)state;
    world w = make_world(&sb_alloc_libc);
    shared s = {&w, false};
    pthread_t readers[2];
    for (int i = 0; i < 2; i++) pthread_create(&readers[i], NULL, read_all_the_time, &s);
    for (int64_t i = 0; i < 60000; i++) {
        add(&w, w.file, i, (double)i);
        if (i % 97 == 0) sb_run_commit(w.run);
    }
    s.done = true;
    for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
    free_world(&w);
}

static sb_status fill(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_store *store;
    sb_run *run = NULL;
    sb_status status = sb_store_new(&store, &(sb_store_opts){.alloc = alloc}, NULL);
    if (status != SB_OK) return status;
    uint32_t file, series;
    bool is_new;
    status = sb_store_add_run(store, SB_LIT("r"), SB_LIT("/"), &run, NULL);
    if (status == SB_OK) status = sb_run_add_file(run, SB_LIT("f"), &file, NULL);
    if (status == SB_OK) status = sb_run_series(run, SB_LIT("t"), &scalar_meta, &series, &is_new);
    for (int64_t i = 0; status == SB_OK && i < 6000; i++)
        status = sb_run_add_scalar(run, file, series, i, 0, 0, SB_NUMBER_REAL);
    for (int64_t i = 0; status == SB_OK && i < 20; i++) {
        sb_ref ref = {.count = 1};
        status = sb_run_series(run, SB_LIT("b"), &scalar_meta, &series, &is_new);
        if (status == SB_OK) status = sb_run_add_ref(run, file, series, i, 0, &ref);
    }
    if (run) sb_run_commit(run);
    sb_run_release(run);
    sb_store_free(store);
    return status;
}

static void every_refused_allocation_leaves_a_whole_store(void **state) {
    (void)state;
    sb_fault_alloc_sweep(fill, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_show_only_after_commit),
        cmocka_unit_test(snapshot_stays_as_it_was_while_the_series_grows),
        cmocka_unit_test(every_point_keeps_the_kind_of_its_number),
        cmocka_unit_test(restarts_hide_the_same_whatever_kinds_the_numbers_have),
        cmocka_unit_test(kinds_that_change_all_the_time_cost_no_part_a_point),
        cmocka_unit_test(later_file_hides_the_steps_it_goes_over_again),
        cmocka_unit_test(files_written_at_the_same_time_hide_nothing),
        cmocka_unit_test(session_start_hides_later_steps_of_every_tag),
        cmocka_unit_test(points_of_a_dropped_file_disappear),
        cmocka_unit_test(parts_come_in_the_order_of_file_names),
        cmocka_unit_test(runs_are_listed_by_start_time_then_name),
        cmocka_unit_test(tags_beyond_the_limit_are_counted_not_kept),
        cmocka_unit_test(readers_always_see_a_prefix_of_the_truth),
        cmocka_unit_test(every_refused_allocation_leaves_a_whole_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
