/* chunk_fuzz.c: sealed chunks against the plain columns that they were made of.
 *
 * Input:  a little program of nine bytes a command: how many points, how steps, times and values go
 *         on (evenly, by jumps, as any bits), and eight bytes for them; repeated until there are
 *         SB_CHUNK_POINTS points.
 * Held:   every step, time and value comes back with the same bits, in one go, in pieces, and one
 *         by one; and what stands in the chunk's head is what a plain pass over the columns
 *         finds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/chunk.h"
#include "base/banned.h"

#define COMMAND 9u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool promise) {
    if (!promise) abort();
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- the columns ----------------------------------------------------------------------------- */

static double next_value(unsigned how, uint64_t bits, double last) {
    float single;
    uint32_t low = (uint32_t)bits;
    switch (how & 3) {
    case 0:
        return last;
    case 1:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case 2:
        return double_of(bits);
    default:
        return (double)(int32_t)low;
    }
}

static void fill(sb_points *p, const uint8_t *data, size_t size) {
    int64_t step = 0;
    double wall = 1.7e9, value = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS;) {
        uint8_t command[COMMAND] = {0};
        for (size_t k = 0; k < COMMAND && size; k++) command[k] = data[(at + k) % size];
        at += COMMAND;
        uint64_t bits = sb_load64(command + 1);
        for (uint32_t count = 1 + (command[0] & 63); count && i < SB_CHUNK_POINTS; count--, i++) {
            unsigned how = command[0] >> 6;
            step = how == 2 ? (int64_t)bits : (int64_t)((uint64_t)step + (bits & 0xffff));
            wall = how == 3 ? double_of(bits) : wall + (double)(bits >> 48) * 1e-3;
            value = next_value((unsigned)(bits >> 16), bits ^ (i * (uint64_t)0x9e3779b9), value);
            p->steps[i] = step;
            p->walls[i] = wall;
            p->values[i] = value;
        }
    }
}

/* ---- the plain columns ----------------------------------------------------------------------  */

static void check_columns(const sb_chunk *c, const sb_points *in, sb_points *out) {
    sb_chunk_steps(c, out->steps);
    sb_chunk_walls(c, out->walls);
    sb_chunk_values(c, out->values);
    hold(memcmp(in->steps, out->steps, sizeof in->steps) == 0);
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        hold(bits_of(in->walls[i]) == bits_of(out->walls[i]));
        hold(bits_of(in->values[i]) == bits_of(out->values[i]));
        hold(bits_of(sb_chunk_value_at(c, i)) == bits_of(in->values[i]));
    }
    sb_walls_done done = {0};
    memset(out->walls, 0, sizeof out->walls);
    for (uint32_t n = 0; n <= SB_CHUNK_POINTS; n += 1 + n / 2)
        sb_chunk_walls_to(c, out->walls, n, &done);
    sb_chunk_walls_to(c, out->walls, SB_CHUNK_POINTS, &done);
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++)
        hold(bits_of(in->walls[i]) == bits_of(out->walls[i]));
}

static void check_head(const sb_chunk *c, const sb_points *in) {
    int64_t low = in->steps[0], high = in->steps[0];
    uint32_t nans = 0, finite = 0;
    double least = INFINITY, greatest = -INFINITY;
    bool rises = true;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        low = in->steps[i] < low ? in->steps[i] : low;
        high = in->steps[i] > high ? in->steps[i] : high;
        rises = rises && (i == 0 || in->steps[i] >= in->steps[i - 1]);
        finite += isfinite(in->values[i]) != 0;
        if (isnan(in->values[i])) {
            nans++;
            continue;
        }
        least = in->values[i] < least ? in->values[i] : least;
        greatest = in->values[i] > greatest ? in->values[i] : greatest;
    }
    hold(c->min_step == low && c->max_step == high);
    hold(c->first_step == in->steps[0] && c->last_step == in->steps[SB_CHUNK_POINTS - 1]);
    hold(c->nan_count == nans && c->finite_count == finite);
    hold(!!(c->flags & SB_CHUNK_RISING) == rises);
    if (nans == SB_CHUNK_POINTS) {
        hold(c->min_value > c->max_value);
        return;
    }
    hold(c->min_value == least && c->max_value == greatest);
    hold(in->values[c->min_at] == least && in->values[c->max_at] == greatest);
    for (uint32_t i = 0; i < c->min_at; i++) hold(!(in->values[i] == least));
    for (uint32_t i = 0; i < c->max_at; i++) hold(!(in->values[i] == greatest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_blocks *blocks;
    if (sb_blocks_new(&blocks, &sb_alloc_libc, 0, NULL, NULL) != SB_OK) return 0;
    sb_points *in = calloc(1, sizeof *in), *out = calloc(1, sizeof *out);
    hold(in && out);
    fill(in, data, size);
    sb_chunk *c = sb_chunk_seal(blocks, in->steps, in->walls, in->values);
    hold(c != NULL);
    check_columns(c, in, out);
    check_head(c, in);
    sb_chunk_release(c);
    free(in);
    free(out);
    sb_blocks_free(blocks);
    return 0;
}
