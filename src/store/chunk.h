/* chunk.h: 1024 points of a scalar series, sealed: lossless, small, never changed again.
 *
 * Coding (one block behind the struct):
 *   steps   all deltas equal: nothing but first and delta; else zigzag varints of the deltas'
 *           deltas
 *   walls   the first as bits, then zigzag varints of the deltas of the bit patterns' deltas:
 *           clocks tick evenly, so a few bytes each, exact, NaN included
 *   values  raw: 4 bytes each when every value is a float32 (nearly always), else 8
 * A point costs about 7 bytes. What a chart needs of a whole chunk (first, last, least and greatest
 * value, each with its index) is in the struct, so that a zoomed-out chart decodes nothing: it is
 * the lowest level of the pyramid of summaries.
 *
 * Threads: sealed chunks are read-only and counted; release from any thread. */
#ifndef SB_STORE_CHUNK_H
#define SB_STORE_CHUNK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "store/blocks.h"

#define SB_CHUNK_POINTS 1024u

typedef struct sb_chunk {
    _Atomic uint32_t refs;
    uint32_t block_size; /* of struct and code together */
    int64_t min_step, max_step;
    double min_wall, max_wall;   /* of those that are finite */
    double min_value, max_value; /* of those that are not NaN; min > max: there is none */
    uint16_t min_at, max_at;     /* the index of the first one */
    uint16_t nan_count;
    uint8_t flags; /* SB_CHUNK_ bits */
    double sum;    /* of the finite values */
    uint32_t finite_count;
    uint32_t walls_at, values_at; /* offsets into code; steps at 0 */
    int64_t first_step, last_step;
    double first_value, last_value;
    double first_wall, last_wall;
    sb_blocks *home; /* the allocator of its memory */
    uint8_t code[];
} sb_chunk;

enum {
    SB_CHUNK_EVEN_STEPS = 1,   /* all deltas equal */
    SB_CHUNK_FLOATS = 2,       /* values are 4 bytes each */
    SB_CHUNK_RISING = 4,       /* steps never fall */
    SB_CHUNK_RISING_WALLS = 8, /* wall times never fall (and none is NaN) */
};

/* The columns of SB_CHUNK_POINTS points. */
typedef struct sb_points {
    int64_t steps[SB_CHUNK_POINTS];
    double walls[SB_CHUNK_POINTS];
    double values[SB_CHUNK_POINTS];
} sb_points;

/* Seals SB_CHUNK_POINTS points; NULL when memory is out. */
sb_chunk *sb_chunk_seal(sb_blocks *blocks, const int64_t *steps, const double *walls,
                        const double *values);
void sb_chunk_ref(sb_chunk *c);
void sb_chunk_release(sb_chunk *c);

/* Decodes a chunk into columns; any of the targets may be NULL. */
void sb_chunk_steps(const sb_chunk *c, int64_t *steps);
void sb_chunk_walls(const sb_chunk *c, double *walls);
void sb_chunk_values(const sb_chunk *c, double *values);

/* Only the first n times, into the same array as earlier calls for this chunk: *done, zeroed before
 * the first call, says how far those went, and decoding goes on from there. */
typedef struct sb_walls_done {
    uint32_t n, at;
} sb_walls_done;
void sb_chunk_walls_to(const sb_chunk *c, double *walls, uint32_t n, sb_walls_done *done);

/* One value without decoding the rest. */
double sb_chunk_value_at(const sb_chunk *c, uint32_t i);

#endif
