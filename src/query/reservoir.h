/* reservoir.h: which points TensorBoard would have kept, for those who ask for the same.
 *
 * We keep every point. With --samples_per_plugin or --compat_sampling the compatible routes thin
 * them out as TensorBoard's own loader does, draw by draw:
 *
 *   reservoir   per series, of fixed size, filled as the points come; item number i (from 0) beyond
 *               the size draws r in [0, i]: r inside the reservoir takes item r out and puts the
 *               new one at the end, otherwise the new one takes the place of the last one
 *   limit       per answer: the last point, and limit - 1 of those before, drawn without
 *               replacement
 *
 * Both draw from Python's random.Random(0): a Mersenne Twister (MT19937) whose key is [0]; a number
 * below m takes as many top bits of one output as m has, again until it is below m.
 *
 * Threads: no shared state.  Cost: one draw per point, and for every point that is kept a move of
 * the reservoir. */
#ifndef SB_QUERY_RESERVOIR_H
#define SB_QUERY_RESERVOIR_H

#include "base/arena.h"
#include "base/status.h"

#define SB_NO_LIMIT UINT64_MAX

typedef struct sb_sampling {
    uint64_t reservoir; /* 0: all points, as in TensorBoard */
    uint64_t limit;     /* of one answer; 0 is none at all, as in TensorBoard; SB_NO_LIMIT: all */
} sb_sampling;

/* Indices of n items that a reservoir of that size holds in the end, ascending; in the arena. */
sb_status sb_reservoir_pick(uint64_t n, uint64_t size, sb_arena *arena, uint64_t **out,
                            size_t *count);
/* Indices of n items that an answer of at most limit items holds, ascending; in the arena. */
sb_status sb_downsample_pick(uint64_t n, uint64_t limit, sb_arena *arena, uint64_t **out,
                             size_t *count);
/* One after the other. sampling NULL keeps all. */
sb_status sb_sampling_pick(const sb_sampling *sampling, uint64_t n, sb_arena *arena, uint64_t **out,
                           size_t *count);

/* ---- Python's random.Random ------------------------------------------------------------------ */

typedef struct sb_python_random {
    uint32_t state[624];
    uint32_t at;
} sb_python_random;

/* As random.Random(seed) for a seed below 2^32. */
void sb_python_random_init(sb_python_random *r, uint32_t seed);
uint32_t sb_python_random_u32(sb_python_random *r);
/* Uniform in [0, n), n from 1 to 2^63: as random.Random._randbelow. */
uint64_t sb_python_random_below(sb_python_random *r, uint64_t n);

#endif
