/* Columns, ranges, what a client already has, and summaries of scalar series. */
#include "query/lines/scalars.h"

#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/line_reference.h"
#include "unit/query/made.h"

static sb_scalar_answer read_line(made *m, const sb_line *line, const sb_scalar_ask *ask) {
    sb_scalar_answer answer;
    sb_err err;
    assert_ok(sb_scalar_read(line, ask, NULL, &m->arena, &answer, &err), &err);
    return answer;
}

/* Steps of the answer as text. */
static const char *steps_of(const sb_columns *c) {
    static char text[4096];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < c->n && used < sizeof text - 32; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%ld%s", i ? " " : "",
                                 (long)c->steps[i], c->flags[i] & SB_POINT_SUPERSEDED ? "'" : "");
    return text;
}

static const char *steps_read(made *m, const sb_line *line, const sb_scalar_ask *ask) {
    sb_scalar_answer answer = read_line(m, line, ask);
    return steps_of(&answer.points);
}

/* 0..9, then again from 6 on in a later file. */
static made restarted(void) {
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a"), b = made_file(&m, "/run/b");
    for (int i = 0; i < 10; i++) made_add(&m, a, i, 100 + i, i);
    for (int i = 6; i < 12; i++) made_add(&m, b, i, 200 + i, 10 * i);
    return m;
}

static void restarts_hide_or_are_flagged(void **state) {
    (void)state;
    made m = restarted();
    sb_series s = made_take(&m);
    sb_scalar_ask ask = SB_ASK_ALL;
    sb_scalar_answer got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_string_equal(steps_of(&got.points), "0 1 2 3 4 5 6 7 8 9 10 11");
    assert_true(got.points.values[6] == 60);
    assert_int_equal(got.n, 12);
    assert_int_equal(got.attempts, 2);
    assert_true(sb_line_base(&(sb_line){.series = &s}, SB_AXIS_RELATIVE) == 100);
    assert_true(sb_line_base(&(sb_line){.series = &s}, SB_AXIS_STEP_RELATIVE) == 0);
    got = read_line(&m, &(sb_line){.series = &s, .show_superseded = true}, &ask);
    assert_string_equal(steps_of(&got.points), "0 1 2 3 4 5 6' 7' 8' 9' 6 7 8 9 10 11");
    assert_int_equal(got.n, 16);
    sb_series_release(&s);
    made_free(&m);
}

static void ranges_of_every_axis(void **state) {
    (void)state;
    made m = restarted();
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_scalar_ask ask = {.axis = SB_AXIS_STEP, .from = 3, .to = 7};
    assert_string_equal(steps_read(&m, &line, &ask), "3 4 5 6 7");
    ask = (sb_scalar_ask){.axis = SB_AXIS_WALL, .from = 104.5, .to = 207.5};
    assert_string_equal(steps_read(&m, &line, &ask), "5 6 7");
    ask = (sb_scalar_ask){.axis = SB_AXIS_RELATIVE, .from = 110, .to = NAN};
    assert_string_equal(steps_read(&m, &line, &ask), "10 11");
    ask = (sb_scalar_ask){.axis = SB_AXIS_STEP, .from = 3, .to = 7, .with_neighbours = true};
    assert_string_equal(steps_read(&m, &line, &ask), "2 3 4 5 6 7 8");
    ask = (sb_scalar_ask){.axis = SB_AXIS_STEP, .from = 3.2, .to = 3.8, .with_neighbours = true};
    assert_string_equal(steps_read(&m, &line, &ask), "3 4");
    ask = (sb_scalar_ask){.axis = SB_AXIS_STEP, .from = 50, .to = 60, .with_neighbours = true};
    assert_string_equal(steps_read(&m, &line, &ask), "");
    sb_series_release(&s);
    made_free(&m);
}

/* What the range holds, with the neighbours: looked for the plain way. */
static void ranges_equal_a_pass_over_all_points(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        sb_test_random r = sb_test_random_of(seed);
        made m = made_new();
        made_random(&m, &r, 3500);
        sb_series s = made_take(&m);
        sb_line line = {.series = &s, .show_superseded = seed % 2};
        sb_scalar_ask ask = {.axis = (sb_axis)(seed % 4), .with_neighbours = seed % 5 < 3};
        double base = sb_line_base(&line, ask.axis), low = 0, high = 1;
        sb_line_extent(&line, ask.axis, base, &low, &high);
        ask.from = low + (high - low) * (made_number(&r) + 0.3);
        ask.to = ask.from + (high - low) * (made_number(&r) + 0.5) / 2;
        if (seed % 7 == 0) ask.to = NAN;
        if (seed % 11 == 0) ask.from = NAN;
        sb_scalar_answer got = read_line(&m, &line, &ask);
        sb_reference_line plain = sb_reference_of(&line);
        sb_reference_answer want = {.kept = malloc((plain.n + 1) * sizeof *want.kept)};
        bool bounded = !isnan(ask.from) || !isnan(ask.to);
        long last = -1;
        int last_side = 0;
        for (size_t i = 0; i < plain.n; i++) {
            const sb_reference_point *p = &plain.points[i];
            uint8_t flags = (uint8_t)(p->superseded | (isfinite(p->value) ? 0 : 8));
            if (p->superseded && !line.show_superseded) continue;
            double x = sb_reference_x(p, ask.axis, base);
            if (bounded && !isfinite(x)) continue;
            int side = x < ask.from ? -1 : x > ask.to ? 1 : 0;
            bool changes = last >= 0 && side != last_side;
            if (bounded && changes && ask.with_neighbours) {
                if (last_side) {
                    const sb_reference_point *q = &plain.points[last];
                    uint8_t f = (uint8_t)(q->superseded | (isfinite(q->value) ? 0 : 8));
                    sb_reference_keep(&want, want.n ? want.n - 1 : 0, (size_t)last, f);
                }
                if (side) sb_reference_keep(&want, want.n ? want.n - 1 : 0, i, flags);
            }
            if (side == 0 || !bounded) sb_reference_keep(&want, want.n, i, flags);
            last = (long)i;
            last_side = side;
        }
        assert_int_equal(sb_reference_differs(&plain, &want, &got.points), -1);
        free(want.kept);
        free(plain.points);
        sb_series_release(&s);
        made_free(&m);
    }
}

static void a_client_gets_only_what_is_new(void **state) {
    (void)state;
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a");
    for (int i = 0; i < 2500; i++) made_add(&m, a, i, i, i);
    sb_series s = made_take(&m);
    sb_scalar_ask ask = SB_ASK_ALL;
    sb_scalar_answer got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_false(got.is_append);
    assert_int_equal(got.points.n, 2500);
    sb_series_release(&s);
    /* nothing new */
    ask.have_epoch = got.epoch;
    ask.have_n = got.n;
    s = made_take(&m);
    got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_true(got.is_append);
    assert_int_equal(got.points.n, 0);
    sb_series_release(&s);
    /* five more, behind a chunk that was sealed meanwhile */
    for (int i = 2500; i < 2505; i++) made_add(&m, a, i, i, i);
    s = made_take(&m);
    got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_true(got.is_append);
    assert_string_equal(steps_of(&got.points), "2500 2501 2502 2503 2504");
    sb_series_release(&s);
    /* a restart: all of it again */
    ask.have_n = got.n;
    uint32_t b = made_file(&m, "/run/b");
    for (int i = 2000; i < 2010; i++) made_add(&m, b, i, 5000 + i, i);
    s = made_take(&m);
    got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_false(got.is_append);
    assert_int_equal(got.points.n, 2010);
    sb_series_release(&s);
    /* and behind that only the new ones */
    ask.have_epoch = got.epoch;
    ask.have_n = got.n;
    made_add(&m, b, 2010, 9000, 0);
    s = made_take(&m);
    got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_true(got.is_append);
    assert_string_equal(steps_of(&got.points), "2010");
    sb_series_release(&s);
    made_free(&m);
}

static void growth_of_an_earlier_file_is_sent_whole(void **state) {
    (void)state;
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a"), b = made_file(&m, "/run/b");
    made_add(&m, a, 0, 10, 0);
    made_add(&m, b, 0, 10, 0); /* written at the same time */
    made_add(&m, a, 1, 11, 0);
    sb_series s = made_take(&m);
    sb_scalar_ask ask = SB_ASK_ALL;
    sb_scalar_answer got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_string_equal(steps_of(&got.points), "0 1 0");
    sb_series_release(&s);
    ask.have_epoch = got.epoch;
    ask.have_n = got.n;
    made_add(&m, a, 2, 12, 0);
    s = made_take(&m);
    got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_false(got.is_append);
    assert_string_equal(steps_of(&got.points), "0 1 2 0");
    sb_series_release(&s);
    made_free(&m);
}

static void epochs_fit_into_a_javascript_number(void **state) {
    (void)state;
    made m = restarted();
    sb_series s = made_take(&m);
    assert_true(sb_series_epoch(&s) < ((uint64_t)1 << 53));
    assert_int_equal(sb_series_epoch(&s), sb_series_epoch(&s));
    sb_series_release(&s);
    made_free(&m);
}

static void samples_are_those_of_tensorboard(void **state) {
    (void)state;
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a");
    for (int i = 0; i < 100; i++) made_add(&m, a, i, i, i);
    sb_series s = made_take(&m);
    sb_sampling sampling = {.reservoir = 10, .limit = SB_NO_LIMIT};
    sb_scalar_ask ask = {.from = NAN, .to = NAN, .sampling = &sampling};
    sb_scalar_answer got = read_line(&m, &(sb_line){.series = &s}, &ask);
    assert_string_equal(steps_of(&got.points), "3 20 24 32 37 49 52 53 67 99");
    sb_series_release(&s);
    made_free(&m);
}

static void limits_and_kinds_are_checked(void **state) {
    (void)state;
    made m = restarted();
    sb_series s = made_take(&m);
    sb_line line = {.series = &s};
    sb_scalar_ask ask = {.from = NAN, .to = NAN, .limit = sb_at_most(11)};
    sb_scalar_answer got;
    sb_err err;
    assert_int_equal(sb_scalar_read(&line, &ask, NULL, &m.arena, &got, &err), SB_LIMIT);
    ask.limit = sb_at_most(0); /* an answer that has no room left is no answer without a limit */
    assert_int_equal(sb_scalar_read(&line, &ask, NULL, &m.arena, &got, &err), SB_LIMIT);
    ask.limit = sb_at_most(12);
    assert_int_equal(sb_scalar_read(&line, &ask, NULL, &m.arena, &got, &err), SB_OK);
    sb_series_meta text = {.kind = SB_SERIES_TENSOR};
    s.meta = &text;
    assert_int_equal(sb_scalar_read(&line, &ask, NULL, &m.arena, &got, &err), SB_INVALID);
    sb_scalar_summary summary;
    assert_int_equal(sb_scalar_sum_up(&s, NULL, &summary, &err), SB_INVALID);
    sb_series_release(&s);
    made_free(&m);
}

static bool over(void *ud) {
    (void)ud;
    return true;
}

static void the_time_limit_ends_it(void **state) {
    (void)state;
    made m = made_new();
    uint32_t a = made_file(&m, "/run/a");
    for (int i = 0; i < 300000; i++) made_add(&m, a, i, i, i);
    sb_series s = made_take(&m);
    sb_budget budget = {over, NULL};
    sb_scalar_ask ask = SB_ASK_ALL;
    sb_scalar_answer got;
    sb_scalar_summary summary;
    sb_err err;
    assert_int_equal(sb_scalar_read(&(sb_line){.series = &s}, &ask, &budget, &m.arena, &got, &err),
                     SB_TIMEOUT);
    assert_int_equal(sb_scalar_sum_up(&s, &budget, &summary, &err), SB_TIMEOUT);
    sb_series_release(&s);
    made_free(&m);
}

/* ---- summaries ------------------------------------------------------------------------------- */

static void summaries_equal_a_pass_over_all_points(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        sb_test_random r = sb_test_random_of(seed + 77);
        made m = made_new();
        made_random(&m, &r, 3500);
        sb_series s = made_take(&m);
        sb_line line = {.series = &s};
        sb_scalar_summary got, want = {0};
        assert_int_equal(sb_scalar_sum_up(&s, NULL, &got, NULL), SB_OK);
        sb_reference_line plain = sb_reference_of(&line);
        double sum = 0, max_wall = -INFINITY;
        for (size_t i = 0; i < plain.n; i++) {
            const sb_reference_point *p = &plain.points[i];
            if (p->superseded) {
                want.superseded++;
                continue;
            }
            if (want.n == 0 || p->step > want.max_step) want.max_step = p->step;
            if (isfinite(p->wall)) max_wall = fmax(max_wall, p->wall);
            if (want.n++ == 0) {
                want.first_step = p->step;
                want.first_wall = p->wall;
            }
            want.last_step = p->step;
            want.last_wall = p->wall;
            want.last_value = p->value;
            want.nan += isnan(p->value) != 0;
            want.infinite += isinf(p->value) != 0;
            if (!isfinite(p->value)) continue;
            if (want.finite == 0 || p->value < want.min) {
                want.min = p->value;
                want.min_step_at = p->step;
            }
            if (want.finite++ == 0 || p->value > want.max) {
                want.max = p->value;
                want.max_step_at = p->step;
            }
            sum += p->value;
        }
        assert_int_equal(got.n, want.n);
        assert_int_equal(got.n, sb_line_points(&line));
        assert_int_equal(got.superseded, want.superseded);
        assert_int_equal(got.nan, want.nan);
        assert_int_equal(got.infinite, want.infinite);
        assert_int_equal(got.finite, want.finite);
        assert_int_equal(got.first_step, want.first_step);
        assert_int_equal(got.last_step, want.last_step);
        assert_int_equal(got.max_step, want.max_step);
        assert_true(sb_reference_same_bits(got.last_value, want.last_value));
        assert_true(sb_reference_same_bits(got.first_wall, want.first_wall));
        assert_true(sb_reference_same_bits(got.last_wall, want.last_wall));
        if (max_wall > -INFINITY) assert_true(got.max_wall == max_wall);
        assert_true(got.min == want.min && got.max == want.max);
        assert_int_equal(got.min_step_at, want.min_step_at);
        assert_int_equal(got.max_step_at, want.max_step_at);
        if (want.finite)
            assert_true(fabs(got.mean - sum / (double)want.finite) < 1e-9 * (1 + fabs(got.max)));
        free(plain.points);
        sb_series_release(&s);
        made_free(&m);
    }
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    made *m = ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, SIZE_MAX / 2);
    sb_series s;
    sb_status status = sb_series_take(m->run, SB_LIT("loss"), &arena, &s);
    if (status == SB_OK) {
        sb_sampling sampling = {.reservoir = 10, .limit = 5};
        sb_scalar_ask ask = {.from = NAN, .to = NAN, .sampling = &sampling};
        sb_scalar_answer answer;
        status = sb_scalar_read(&(sb_line){.series = &s}, &ask, NULL, &arena, &answer, NULL);
        sb_series_release(&s);
    }
    sb_arena_fini(&arena);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    made m = restarted();
    assert_int_equal(sb_run_commit(m.run), SB_OK);
    sb_fault_alloc_sweep(read_with, &m);
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_hide_or_are_flagged),
        cmocka_unit_test(ranges_of_every_axis),
        cmocka_unit_test(ranges_equal_a_pass_over_all_points),
        cmocka_unit_test(a_client_gets_only_what_is_new),
        cmocka_unit_test(growth_of_an_earlier_file_is_sent_whole),
        cmocka_unit_test(epochs_fit_into_a_javascript_number),
        cmocka_unit_test(samples_are_those_of_tensorboard),
        cmocka_unit_test(limits_and_kinds_are_checked),
        cmocka_unit_test(the_time_limit_ends_it),
        cmocka_unit_test(summaries_equal_a_pass_over_all_points),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
