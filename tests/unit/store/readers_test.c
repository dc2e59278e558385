/* Readers beside a loader that does everything it may do: several series in several files, points
 * and references, restarts, files that are dropped and begun again, chunks that are spilled. Every
 * snapshot is whole and never changes, whatever the loader does meanwhile. For TSan and ASan. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "support/test.h"

#define SERIES 6 /* the last one holds references */
#define FILES 5
#define ROUNDS 600
#define READERS 2

/* Everything about a point follows from its series and step, and from the life of its file. */
static double value_of(uint32_t series, int64_t step) {
    return (double)(step * 16 + series);
}

typedef struct file {
    uint32_t number;
    int64_t life; /* how many files there were before it, in all */
    int64_t first, next;
} file;

typedef struct world {
    sb_store *store;
    sb_run *run;
    uint32_t series[SERIES];
    char tags[SERIES][16];
    file files[FILES];
    int64_t lives;
    int64_t step;
    double wall;
    sb_test_random random;
    _Atomic bool is_over;
    _Atomic uint64_t snapshots;
} world;

/* ---- the loader ------------------------------------------------------------------------------ */

static void open_file(world *w, file *f, int slot) {
    char path[32];
    snprintf(path, sizeof path, "/run/%d", slot);
    if (sb_run_add_file(w->run, sb_slice_str(path), &f->number, NULL) != SB_OK) abort();
    f->life = w->lives++;
    /* some begin again at earlier steps: what came before them is superseded */
    if (sb_test_below(&w->random, 2)) w->step -= (int64_t)sb_test_below(&w->random, 500);
    f->first = f->next = w->step;
}

/* Some points of one file in every series. */
static void grow_file(world *w, file *f) {
    int64_t end = f->next + 1 + (int64_t)sb_test_below(&w->random, 400);
    for (; f->next < end; f->next++) {
        w->wall += 1;
        sb_run_saw_time(w->run, f->number, w->wall, false);
        for (uint32_t i = 0; i + 1 < SERIES; i++)
            if (sb_run_add_scalar(w->run, f->number, w->series[i], f->next, (double)f->life,
                                  value_of(i, f->next), SB_NUMBER_REAL) != SB_OK)
                abort();
        sb_ref ref = {.offset = (uint64_t)f->next, .count = 1};
        if (sb_run_add_ref(w->run, f->number, w->series[SERIES - 1], f->next, (double)f->life,
                           &ref) != SB_OK)
            abort();
    }
    if (f->next > w->step) w->step = f->next;
}

static void load(world *w) {
    for (int i = 0; i < FILES; i++) open_file(w, &w->files[i], i);
    for (int round = 0; round < ROUNDS; round++) {
        int slot = (int)sb_test_below(&w->random, FILES);
        file *f = &w->files[slot];
        uint64_t what = sb_test_below(&w->random, 12);
        if (what == 0) { /* replaced: its points go, new ones come */
            sb_run_drop_file(w->run, f->number);
            open_file(w, f, slot);
        } else if (what == 1) { /* a restart inside the file */
            sb_run_add_start(w->run, f->number, f->next - 10, w->wall);
        }
        grow_file(w, f);
        if (what % 2) sb_run_commit(w->run);
    }
    sb_run_commit(w->run);
}

/* ---- readers --------------------------------------------------------------------------------- */

/* The points of a part are consecutive steps of one life of one file. */
static void check_scalars(const sb_series *s, uint32_t series, sb_points *points) {
    sb_scalar_walk walk = sb_scalars_of(s, false);
    size_t n, part, last_part = SIZE_MAX;
    uint64_t count = 0;
    int64_t step = 0;
    double life = 0;
    for (; (n = sb_scalars_next(&walk, points, &part)); count += n) {
        if (part != last_part) {
            step = points->steps[0];
            life = points->walls[0];
            last_part = part;
        }
        for (size_t i = 0; i < n; i++, step++)
            if (points->steps[i] != step || points->walls[i] != life ||
                points->values[i] != value_of(series, step))
                abort();
    }
    if (count != s->points) abort();
}

/* What a restart superseded is hidden, and nothing else. */
static void check_hidden(const sb_series *s, sb_points *points) {
    sb_scalar_walk all = sb_scalars_of(s, false), visible = sb_scalars_of(s, true);
    uint64_t superseded = 0, shown = 0;
    size_t n, part;
    while ((n = sb_scalars_next(&all, points, &part)))
        for (size_t i = 0; i < n; i++)
            superseded +=
                s->parts[part].cut_step != SB_NO_CUT && points->steps[i] >= s->parts[part].cut_step;
    while ((n = sb_scalars_next(&visible, points, NULL))) shown += n;
    if (shown + superseded != s->points) abort();
}

static void check_refs(const sb_series *s) {
    uint64_t count = 0;
    for (size_t i = 0; i < s->part_n; i++) {
        const sb_part *part = &s->parts[i];
        for (size_t k = 0; k < part->ref_n; k++, count++)
            if (part->refs[k].ref.offset != (uint64_t)part->refs[k].step ||
                part->refs[k].wall != part->refs[0].wall)
                abort();
    }
    if (count != s->points) abort();
}

static void check_listing(world *w, sb_arena *arena) {
    sb_series_info *infos;
    size_t n;
    if (sb_run_list(w->run, arena, &infos, &n) != SB_OK || n > SERIES) abort();
    /* all series get the same number of points, and a commit shows all of them at once */
    for (size_t i = 1; i < n; i++)
        if (infos[i].points != infos[0].points) abort();
    sb_file_info_view *files;
    if (sb_run_files(w->run, arena, &files, &n) != SB_OK || n > 2 * FILES) abort();
    sb_run_info info;
    sb_run_get_info(w->run, &info);
}

static void *read_all_the_time(void *ud) {
    world *w = ud;
    sb_points *points = malloc(sizeof *points);
    for (uint32_t turn = 0; !atomic_load(&w->is_over) || turn < SERIES; turn++) {
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, (size_t)1 << 30);
        uint32_t series = turn % SERIES;
        sb_series s;
        if (sb_series_take(w->run, sb_slice_str(w->tags[series]), &arena, &s) == SB_OK) {
            bool holds_refs = series == SERIES - 1;
            for (int again = 0; again < 2; again++) { /* it does not change while it is held */
                if (holds_refs)
                    check_refs(&s);
                else
                    check_scalars(&s, series, points);
            }
            if (!holds_refs) check_hidden(&s, points);
            sb_series_release(&s);
            atomic_fetch_add(&w->snapshots, 1);
        }
        check_listing(w, &arena);
        sb_arena_fini(&arena);
    }
    free(points);
    return NULL;
}

static void snapshots_stay_whole_beside_drops_restarts_and_spilling(void **state) {
    sb_test_dir *d = *state;
    world *w = calloc(1, sizeof *w);
    w->random = sb_test_random_of(8);
    w->wall = 1000;
    sb_store_opts opts = {
        .alloc = &sb_alloc_libc, .memory_limit = 1 << 20, .spill_dir = sb_test_dir_path(d)};
    sb_err err;
    assert_ok(sb_store_new(&w->store, &opts, &err), &err);
    assert_ok(sb_store_add_run(w->store, SB_LIT("run"), SB_LIT("/run"), &w->run, &err), &err);
    for (uint32_t i = 0; i < SERIES; i++) {
        sb_series_meta meta = {.kind = i + 1 < SERIES ? SB_SERIES_SCALAR : SB_SERIES_TENSOR};
        bool is_new;
        snprintf(w->tags[i], sizeof w->tags[i], "tag %u", i);
        assert_int_equal(
            sb_run_series(w->run, sb_slice_str(w->tags[i]), &meta, &w->series[i], &is_new), SB_OK);
    }
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all_the_time, w), 0);
    load(w);
    atomic_store(&w->is_over, true);
    for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    sb_blocks_stats stats;
    sb_store_get_stats(w->store, &stats);
    assert_true(stats.spilled > 0);
    assert_true(atomic_load(&w->snapshots) >= READERS * SERIES);
    assert_true(w->lives > 3 * FILES);
    sb_run_info info;
    sb_run_get_info(w->run, &info);
    uint64_t expected = 0;
    for (int i = 0; i < FILES; i++)
        expected += (uint64_t)(w->files[i].next - w->files[i].first) * SERIES;
    assert_int_equal(info.points, expected);
    assert_int_equal(sb_store_points(w->store), expected);
    sb_run_release(w->run);
    sb_store_free(w->store);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(snapshots_stay_whole_beside_drops_restarts_and_spilling,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
