/* Whole logs of the real programs, the awkward ones too: what a reader sees of restarts, damage,
 * odd names, and of numbers that tensors hold. */
#include <math.h>
#include <stdio.h>

#include "query/lines/decimate.h"
#include "query/series_list.h"
#include "query/tag_regex.h"
#include "support/line_reference.h"
#include "unit/query/logs.h"

static sb_scalar_answer read_all(logs *l, const char *run, const char *tag, bool superseded) {
    sb_series s = logs_take(l, run, tag);
    sb_line line = {.series = &s, .show_superseded = superseded};
    sb_scalar_ask ask = SB_ASK_ALL;
    sb_scalar_answer answer;
    sb_err err;
    assert_ok(sb_scalar_read(&line, &ask, NULL, &l->arena, &answer, &err), &err);
    sb_series_release(&s);
    return answer;
}

static void expect_rising(const sb_columns *c) {
    for (size_t i = 1; i < c->n; i++) assert_true(c->steps[i] > c->steps[i - 1]);
}

static void restarted_runs_show_the_last_attempt(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/awkward", &sb_fs_local);
    /* 0..18, then a later file from 10 on */
    sb_scalar_answer shown = read_all(&l, "restart", "a", false);
    expect_rising(&shown.points);
    assert_int_equal(shown.attempts, 2);
    sb_scalar_answer all = read_all(&l, "restart", "a", true);
    size_t superseded = 0;
    for (size_t i = 0; i < all.points.n; i++)
        superseded += all.points.flags[i] & SB_POINT_SUPERSEDED;
    assert_int_equal(superseded, 9);
    assert_int_equal(all.points.n, shown.points.n + superseded);
    assert_true(shown.points.values[10] == 100); /* of the second attempt */
    /* the same by a mark in one file */
    shown = read_all(&l, "restart_same_file", "a", false);
    expect_rising(&shown.points);
    assert_int_equal(shown.attempts, 2);
    logs_free(&l);
}

static void damaged_files_give_what_is_good(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/awkward", &sb_fs_local);
    sb_scalar_answer got = read_all(&l, "bitflip", "a", false);
    assert_int_equal(got.points.n, 29); /* of 30; TensorBoard stops at the damage */
    expect_rising(&got.points);
    got = read_all(&l, "truncated", "a", false);
    assert_true(got.points.n > 20);
    expect_rising(&got.points);
    logs_free(&l);
}

static void odd_names_are_names_like_any_other(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/awkward", &sb_fs_local);
    sb_series_list list;
    sb_list_ask ask = {.run = SB_LIT("weird tags")};
    assert_int_equal(sb_series_list_read(l.store, &ask, NULL, &l.arena, &list, NULL), SB_OK);
    assert_int_equal(list.n, 1);
    assert_true(list.runs[0].n > 3);
    sb_tag_regex *any;
    assert_int_equal(sb_tag_regex_new(&any, &sb_alloc_libc, SB_LIT("(?s).*"), NULL, NULL), SB_OK);
    for (size_t i = 0; i < list.runs[0].n; i++) {
        const sb_series_entry *e = &list.runs[0].series[i];
        bool matches;
        assert_int_equal(sb_tag_regex_match(any, e->tag, &matches, NULL), SB_OK);
        assert_true(matches);
        if (i) assert_true(sb_slice_cmp(list.runs[0].series[i - 1].tag, e->tag) < 0);
        sb_series s;
        assert_int_equal(sb_series_take(list.runs[0].run, e->tag, &l.arena, &s), SB_OK);
        sb_scalar_summary summary;
        assert_int_equal(sb_scalar_sum_up(&s, NULL, &summary, NULL), SB_OK);
        assert_true(summary.n > 0);
        sb_series_release(&s);
    }
    sb_tag_regex_free(any);
    sb_series_list_release(&list);
    logs_free(&l);
}

static void many_values_in_one_event(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/awkward", &sb_fs_local);
    sb_series_list list;
    sb_list_ask ask = {.run = SB_LIT("many_values_one_event")};
    assert_int_equal(sb_series_list_read(l.store, &ask, NULL, &l.arena, &list, NULL), SB_OK);
    assert_int_equal(list.runs[0].n, 200);
    sb_series_list_release(&list);
    logs_free(&l);
}

static void numbers_of_torch(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/torch_writer", &sb_fs_local);
    sb_scalar_answer got = read_all(&l, "run", "dbl", false);
    assert_int_equal(got.points.n, 25);
    sb_series s = logs_take(&l, "run", "Loss/train");
    sb_line line = {.series = &s};
    sb_decimated decimated;
    sb_decimate_ask ask = {.from = NAN, .to = NAN, .pixels = 5};
    assert_int_equal(sb_scalar_decimate(&line, &ask, NULL, &l.arena, &decimated, NULL), SB_OK);
    assert_true(decimated.points.n >= 5 && decimated.points.n <= 20);
    assert_int_equal(decimated.points.steps[0], 0);
    assert_int_equal(decimated.points.steps[decimated.points.n - 1], 24);
    sb_series_release(&s);
    logs_free(&l);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        IN_DIR(restarted_runs_show_the_last_attempt),
        IN_DIR(damaged_files_give_what_is_good),
        IN_DIR(odd_names_are_names_like_any_other),
        IN_DIR(many_values_in_one_event),
        IN_DIR(numbers_of_torch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
