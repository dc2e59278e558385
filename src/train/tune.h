/* tune.h: which steps of a plan several threads do faster than one.
 *
 * Sharing a small step costs more than it saves, and how much depends on the machine, so it is
 * measured: the first runs of a plan are done by all threads, the next ones by one thread, then
 * each step in the way that was faster. If such runs are not faster than those of one thread, one
 * thread does them all. Measured anew every TUNE_AGAIN runs, since machines get busy. Results are
 * the same in every way; only the time differs. */
#ifndef SB_TRAIN_TUNE_H
#define SB_TRAIN_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_EACH = 6, TUNE_AGAIN = 5000 };

/* The shortest times, in nanoseconds. */
typedef struct step_tune {
    uint64_t shared, alone;
    bool is_shared; /* the choice */
} step_tune;

typedef enum tune_phase { TUNE_SHARED, TUNE_ALONE, TUNE_MIXED, TUNE_DONE } tune_phase;

typedef struct tune {
    step_tune *steps;
    size_t count;
    uint32_t run; /* since measuring began */
    uint64_t alone, mixed;
} tune;

static inline tune_phase sb_tune_phase(const tune *t) {
    return t->run < 3 * TUNE_EACH ? (tune_phase)(t->run / TUNE_EACH) : TUNE_DONE;
}

/* Do several threads do this step of the next run? */
static inline bool sb_tune_is_shared(const tune *t, size_t step) {
    tune_phase phase = sb_tune_phase(t);
    return phase == TUNE_SHARED || (phase >= TUNE_MIXED && t->steps[step].is_shared);
}

/* How long a step of this run took; while sharing and while alone only. */
void sb_tune_step(tune *t, size_t step, uint64_t ns);
/* How long the run took, of which all steps were told before. Counts the run. */
void sb_tune_run(tune *t, uint64_t ns);

#endif
