/* snapshot_test.c: what readers see of a run: sums of its files, names, and what grew since a
 * version. */
#include <stdio.h>

#include "store/store_int.h"
#include "support/test.h"

static const sb_series_meta scalar_meta = {.kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};

typedef struct world {
    sb_store *store;
    sb_run *run;
    uint32_t series;
} world;

static world make_world(void) {
    world w = {0};
    bool is_new;
    assert_ok(sb_store_new(&w.store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL), NULL);
    assert_ok(sb_store_add_run(w.store, SB_LIT("run"), SB_LIT("/run"), &w.run, NULL), NULL);
    assert_ok(sb_run_series(w.run, SB_LIT("loss"), &scalar_meta, &w.series, &is_new), NULL);
    return w;
}

static uint32_t add_file(world *w, uint64_t number) {
    char name[32];
    uint32_t file;
    snprintf(name, sizeof name, "/run/%06llu", (unsigned long long)number);
    assert_ok(sb_run_add_file(w->run, sb_slice_str(name), &file, NULL), NULL);
    return file;
}

static void no_memory_is_said_and_leaves_nothing_behind(void **state) {
    (void)state;
    world w = make_world();
    for (uint64_t i = 0; i < 300; i++) {
        uint32_t file = add_file(&w, i);
        assert_ok(sb_run_add_scalar(w.run, file, w.series, 1, 1, 1, SB_NUMBER_REAL), NULL);
    }
    assert_ok(sb_run_commit(w.run), NULL);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 64, 4096);
    sb_series s;
    assert_int_equal(sb_series_take(w.run, SB_LIT("loss"), &arena, &s), SB_NOMEM);
    sb_arena_fini(&arena);
    sb_run_release(w.run);
    sb_store_free(w.store);
}

static sb_run_info info_of(world *w) {
    sb_run_info info;
    sb_run_get_info(w->run, &info);
    return info;
}

static void sums_of_the_files_follow_their_states(void **state) {
    (void)state;
    world w = make_world();
    uint32_t first = add_file(&w, 1), second = add_file(&w, 2);
    assert_true(info_of(&w).is_loading);
    sb_file_state good = {.is_done = true}, bad = {.is_done = true, .damaged = 3, .lost = 40};
    sb_run_set_file_state(w.run, first, &bad);
    assert_true(info_of(&w).is_loading);
    sb_run_set_file_state(w.run, second, &bad);
    assert_false(info_of(&w).is_loading);
    assert_int_equal(info_of(&w).damaged_files, 2);
    assert_int_equal(info_of(&w).damaged, 6);
    assert_int_equal(info_of(&w).lost, 80);
    sb_run_set_file_state(w.run, first, &good);
    assert_int_equal(info_of(&w).damaged, 3);
    sb_run_drop_file(w.run, second);
    sb_run_commit(w.run);
    assert_int_equal(info_of(&w).damaged, 0);
    assert_int_equal(info_of(&w).file_count, 1);
    /* Its number is used again, and is as new. */
    assert_int_equal(add_file(&w, 3), second);
    assert_int_equal(info_of(&w).damaged, 0);
    assert_true(info_of(&w).is_loading);
    sb_run_release(w.run);
    sb_store_free(w.store);
}

static void names_change_when_series_come_and_go_and_not_when_they_grow(void **state) {
    (void)state;
    world w = make_world();
    uint32_t file = add_file(&w, 1);
    uint64_t before = sb_store_names_version(w.store);
    assert_int_equal(info_of(&w).series_count, 0);
    assert_ok(sb_run_add_scalar(w.run, file, w.series, 1, 1, 1, SB_NUMBER_REAL), NULL);
    sb_run_commit(w.run);
    uint64_t with = sb_store_names_version(w.store);
    assert_true(with > before);
    assert_int_equal(info_of(&w).series_count, 1);
    assert_ok(sb_run_add_scalar(w.run, file, w.series, 2, 2, 2, SB_NUMBER_REAL), NULL);
    sb_run_commit(w.run);
    assert_int_equal(sb_store_names_version(w.store), with);
    sb_run_drop_file(w.run, file);
    sb_run_commit(w.run);
    assert_true(sb_store_names_version(w.store) > with);
    assert_int_equal(info_of(&w).series_count, 0);
    assert_int_equal(info_of(&w).points, 0);
    sb_run_release(w.run);
    sb_store_free(w.store);
}

static void what_grew_since_a_version_is_listed_up_to_a_number(void **state) {
    (void)state;
    world w = make_world();
    uint32_t file = add_file(&w, 1), other;
    bool is_new;
    assert_ok(sb_run_series(w.run, SB_LIT("acc"), &scalar_meta, &other, &is_new), NULL);
    assert_ok(sb_run_add_scalar(w.run, file, w.series, 1, 1, 1, SB_NUMBER_REAL), NULL);
    assert_ok(sb_run_add_scalar(w.run, file, other, 1, 1, 1, SB_NUMBER_REAL), NULL);
    sb_run_commit(w.run);
    uint64_t both = sb_store_version(w.store);
    assert_ok(sb_run_add_scalar(w.run, file, other, 2, 2, 2, SB_NUMBER_REAL), NULL);
    sb_run_commit(w.run);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 12, 1 << 20);
    sb_series_info *series;
    size_t n;
    assert_ok(sb_run_list_since(w.run, both, 10, &arena, &series, &n), NULL);
    assert_int_equal(n, 1);
    assert_slice_is(series[0].tag, "acc");
    assert_ok(sb_run_list_since(w.run, 0, 1, &arena, &series, &n), NULL);
    assert_int_equal(n, 1);
    assert_ok(sb_run_list_since(w.run, sb_store_version(w.store), 10, &arena, &series, &n), NULL);
    assert_int_equal(n, 0);
    sb_arena_fini(&arena);
    sb_run_release(w.run);
    sb_store_free(w.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_said_and_leaves_nothing_behind),
        cmocka_unit_test(sums_of_the_files_follow_their_states),
        cmocka_unit_test(names_change_when_series_come_and_go_and_not_when_they_grow),
        cmocka_unit_test(what_grew_since_a_version_is_listed_up_to_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
