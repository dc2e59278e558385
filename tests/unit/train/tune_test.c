/* tune_test.c: steps are shared where that was faster, and nowhere when the whole was not. */
#include "support/test.h"
#include "train/tune.h"
#include "base/banned.h"

enum { STEPS = 3 };

/* One run with these times: of each step while shared and alone, and of a mixed run. */
static void run(tune *t, const uint64_t *shared, const uint64_t *alone, uint64_t mixed) {
    uint64_t total = 0;
    tune_phase phase = sb_tune_phase(t);
    for (size_t i = 0; i < t->count && phase != TUNE_DONE; i++) {
        uint64_t ns = phase == TUNE_SHARED ? shared[i] : alone[i];
        sb_tune_step(t, i, ns);
        total += ns;
    }
    sb_tune_run(t, phase == TUNE_MIXED ? mixed : total);
}

static const uint64_t shared[STEPS] = {50, 200, 96}, alone[STEPS] = {100, 100, 100};

static void each_step_is_done_in_the_faster_way(void **state) {
    (void)state;
    step_tune steps[STEPS] = {{0}};
    tune t = {.steps = steps, .count = STEPS};
    assert_true(sb_tune_is_shared(&t, 0) && sb_tune_is_shared(&t, 1));
    for (int i = 0; i < TUNE_EACH; i++) run(&t, shared, alone, 250);
    assert_false(sb_tune_is_shared(&t, 0) || sb_tune_is_shared(&t, 1)); /* all alone, to compare */
    for (int i = 0; i < 2 * TUNE_EACH; i++) run(&t, shared, alone, 250);
    assert_int_equal(sb_tune_phase(&t), TUNE_DONE);
    assert_true(sb_tune_is_shared(&t, 0));
    assert_false(sb_tune_is_shared(&t, 1));
    assert_false(sb_tune_is_shared(&t, 2)); /* a little faster is not enough */
}

static void one_slow_run_does_not_decide(void **state) {
    (void)state;
    static const uint64_t disturbed[STEPS] = {9000, 9000, 9000};
    step_tune steps[STEPS] = {{0}};
    tune t = {.steps = steps, .count = STEPS};
    for (int i = 0; i < 3 * TUNE_EACH; i++)
        run(&t, i == 2 ? disturbed : shared, alone, i == 15 ? 99999 : 250);
    assert_true(sb_tune_is_shared(&t, 0));
}

static void when_the_whole_is_not_faster_one_thread_does_all(void **state) {
    (void)state;
    step_tune steps[STEPS] = {{0}};
    tune t = {.steps = steps, .count = STEPS};
    for (int i = 0; i < 3 * TUNE_EACH; i++) run(&t, shared, alone, 300);
    assert_false(sb_tune_is_shared(&t, 0));
}

static void it_is_measured_anew_after_many_runs(void **state) {
    (void)state;
    static const uint64_t slow[STEPS] = {200, 200, 200};
    step_tune steps[STEPS] = {{0}};
    tune t = {.steps = steps, .count = STEPS};
    for (int i = 0; i < TUNE_AGAIN; i++) run(&t, shared, alone, 250);
    assert_int_equal(sb_tune_phase(&t), TUNE_SHARED);
    for (int i = 0; i < 3 * TUNE_EACH; i++) run(&t, slow, alone, 300);
    assert_false(sb_tune_is_shared(&t, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_done_in_the_faster_way),
        cmocka_unit_test(one_slow_run_does_not_decide),
        cmocka_unit_test(when_the_whole_is_not_faster_one_thread_does_all),
        cmocka_unit_test(it_is_measured_anew_after_many_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
