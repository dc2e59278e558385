/* tune.c: keeps the shortest times and chooses by them. */
#include "train/tune.h"

#include "base/banned.h"

static void keep_least(uint64_t *least, uint64_t ns) {
    if (*least == 0 || ns < *least) *least = ns;
}

void sb_tune_step(tune *t, size_t step, uint64_t ns) {
    tune_phase phase = sb_tune_phase(t);
    if (phase == TUNE_SHARED) keep_least(&t->steps[step].shared, ns);
    if (phase == TUNE_ALONE) keep_least(&t->steps[step].alone, ns);
}

/* A twentieth more is not worth a second processor. */
static bool is_worth(uint64_t shared, uint64_t alone) {
    return shared < alone - alone / 20;
}

static void choose_steps(tune *t) {
    for (size_t i = 0; i < t->count; i++)
        t->steps[i].is_shared = is_worth(t->steps[i].shared, t->steps[i].alone);
}

static void choose_alone(tune *t) {
    for (size_t i = 0; i < t->count; i++) t->steps[i].is_shared = false;
}

static void begin_again(tune *t) {
    for (size_t i = 0; i < t->count; i++) t->steps[i].shared = t->steps[i].alone = 0;
    t->run = 0;
    t->alone = t->mixed = 0;
}

void sb_tune_run(tune *t, uint64_t ns) {
    tune_phase phase = sb_tune_phase(t);
    if (phase == TUNE_ALONE) keep_least(&t->alone, ns);
    if (phase == TUNE_MIXED) keep_least(&t->mixed, ns);
    t->run++;
    if (t->run == 2 * TUNE_EACH) choose_steps(t);
    if (t->run == 3 * TUNE_EACH && !is_worth(t->mixed, t->alone)) choose_alone(t);
    if (t->run == TUNE_AGAIN) begin_again(t);
}
