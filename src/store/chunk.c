/* chunk.c: sealing and decoding of chunks. The coding is described in chunk.h. */
#include "store/chunk.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/banned.h"

/* ---- varints of differences ------------------------------------------------------------------ */

static uint64_t zigzag(uint64_t x) {
    return (x << 1) ^ (uint64_t)((int64_t)x >> 63);
}

static uint64_t unzigzag(uint64_t x) {
    return (x >> 1) ^ (0 - (x & 1));
}

/* Writes at least four bytes; the return value is behind those that belong to the varint. */
static inline uint8_t *put_varint(uint8_t *p, uint64_t x) {
    if (x < 1u << 28) { /* the usual case, without a branch on the number of bytes */
        uint32_t low = (uint32_t)x;
        uint32_t more = (uint32_t)(31 - __builtin_clz(low | 1)) / 7;
        uint32_t spread =
            (low & 0x7F) | (low & 0x3F80) << 1 | (low & 0x1FC000) << 2 | (low & 0xFE00000) << 3;
        sb_store32(p, spread | (0x808080u & ((1u << 8 * more) - 1)));
        return p + more + 1;
    }
    while (x >= 0x80) {
        *p++ = (uint8_t)(x | 0x80);
        x >>= 7;
    }
    *p++ = (uint8_t)x;
    return p;
}

static const uint8_t *get_varint(const uint8_t *p, uint64_t *out) {
    uint64_t x = *p & 0x7F;
    for (unsigned shift = 7; *p++ & 0x80; shift += 7) x |= (uint64_t)(*p & 0x7F) << shift;
    *out = x;
    return p;
}

/* Differences of differences of 64 bits each, in wrapping arithmetic: any bits go in and come out.
 * The first two are plain. */
static uint8_t *put_series(uint8_t *p, const void *column) {
    const uint8_t *from = column;
    uint64_t delta = 0, last, x;
    memcpy(&last, from, sizeof last);
    for (uint32_t i = 1; i < SB_CHUNK_POINTS; i++) {
        memcpy(&x, from + i * sizeof x, sizeof x);
        p = put_varint(p, zigzag(x - last - delta));
        delta = x - last;
        last = x;
    }
    return p;
}

/* ---- sealing --------------------------------------------------------------------------------- */

#define MAX_EVEN_DELTA ((uint64_t)1 << 52)

/* The most that the code of one chunk can take. The values behind leave room for put_varint. */
#define MAX_CODE (SB_CHUNK_POINTS * (10 + 10 + 8))

static bool even_steps(const int64_t *steps) {
    uint64_t delta = (uint64_t)steps[1] - (uint64_t)steps[0];
    /* The difference of last and first step must fit into 64 bits, since decoding computes the
     * delta by dividing it. */
    if (delta + MAX_EVEN_DELTA > 2 * MAX_EVEN_DELTA) return false;
    for (uint32_t i = 2; i < SB_CHUNK_POINTS; i++)
        if ((uint64_t)steps[i] - (uint64_t)steps[i - 1] != delta) return false;
    return true;
}

/* The values as floats; false when one of them is none. A double beyond float's range becomes an
 * infinity (C17 annex F), which is a different value; the lower bits of a NaN would be lost, too.
 * In two passes without a branch: the second goes over what was written. */
static bool put_floats(uint8_t *p, const double *values) {
    uint64_t differs = 0;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++)
        sb_store32(p + (size_t)i * 4, sb_float_bits((float)values[i]));
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++)
        differs |= sb_double_bits((double)sb_bits_float(sb_load32(p + (size_t)i * 4))) ^
                   sb_double_bits(values[i]);
    return differs == 0;
}

static void sum_up_steps(sb_chunk *c, const int64_t *steps) {
    c->first_step = c->min_step = c->max_step = steps[0];
    c->last_step = steps[SB_CHUNK_POINTS - 1];
    if (c->flags & SB_CHUNK_EVEN_STEPS && steps[1] >= steps[0] && c->last_step >= steps[0]) {
        c->max_step = c->last_step; /* no wrap on the way: the deltas are below 2^52 */
        c->flags |= SB_CHUNK_RISING;
        return;
    }
    bool rising = true;
    for (uint32_t i = 1; i < SB_CHUNK_POINTS; i++) {
        rising = rising && steps[i] >= steps[i - 1];
        if (steps[i] < c->min_step) c->min_step = steps[i];
        if (steps[i] > c->max_step) c->max_step = steps[i];
    }
    if (rising) c->flags |= SB_CHUNK_RISING;
}

static void sum_up_walls(sb_chunk *c, const double *walls) {
    c->first_wall = walls[0];
    c->last_wall = walls[SB_CHUNK_POINTS - 1];
    c->min_wall = INFINITY;
    c->max_wall = -INFINITY;
    bool rising = walls[0] == walls[0];
    for (uint32_t i = 1; i < SB_CHUNK_POINTS; i++) rising &= walls[i] >= walls[i - 1];
    if (rising) c->flags |= SB_CHUNK_RISING_WALLS;
    if (rising && isfinite(c->first_wall) && isfinite(c->last_wall)) {
        c->min_wall = c->first_wall;
        c->max_wall = c->last_wall;
        return;
    }
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        if (!isfinite(walls[i])) continue;
        if (walls[i] < c->min_wall) c->min_wall = walls[i];
        if (walls[i] > c->max_wall) c->max_wall = walls[i];
    }
}

static uint16_t index_of_value(const double *values, double x) {
    uint16_t i = 0;
    while (values[i] != x) i++;
    return i;
}

#define LANES 4u
_Static_assert(SB_CHUNK_POINTS % LANES == 0, "no rest");

/* Several values at a time and without a branch; false when a value is not finite. The sum is
 * computed in order, so that it is bit for bit that of the plain loop. */
static bool sum_up_finite(sb_chunk *c, const double *values) {
    double low[LANES], high[LANES], sum = 0;
    double odd[LANES] = {0}; /* x - x is NaN when x is not finite */
    for (uint32_t k = 0; k < LANES; k++) low[k] = high[k] = values[0];
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i += LANES)
        for (uint32_t k = 0; k < LANES; k++) {
            double x = values[i + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
            odd[k] += x - x;
            sum += x;
        }
    for (uint32_t k = 0; k < LANES; k++)
        if (odd[k] != 0) return false;
    for (uint32_t k = 1; k < LANES; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    c->min_at = index_of_value(values, low[0]);
    c->max_at = index_of_value(values, high[0]);
    c->min_value = values[c->min_at];
    c->max_value = values[c->max_at];
    c->sum = sum;
    c->finite_count = SB_CHUNK_POINTS;
    return true;
}

static void sum_up_values(sb_chunk *c, const double *values) {
    c->first_value = values[0];
    c->last_value = values[SB_CHUNK_POINTS - 1];
    if (sum_up_finite(c, values)) return;
    c->min_value = INFINITY;
    c->max_value = -INFINITY;
    bool any = false;
    for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++) {
        double x = values[i];
        if (x != x) {
            c->nan_count++;
            continue;
        }
        if (!any || x < c->min_value) {
            c->min_value = x;
            c->min_at = (uint16_t)i;
        }
        if (!any || x > c->max_value) {
            c->max_value = x;
            c->max_at = (uint16_t)i;
        }
        any = true;
        if (isfinite(x)) {
            c->sum += x;
            c->finite_count++;
        }
    }
}

sb_chunk *sb_chunk_seal(sb_blocks *blocks, const int64_t *steps, const double *walls,
                        const double *values) {
    uint8_t code[MAX_CODE];
    uint8_t *p = code;
    uint8_t flags = 0;
    if (even_steps(steps)) {
        flags |= SB_CHUNK_EVEN_STEPS;
    } else {
        p = put_series(p, steps);
    }
    uint32_t walls_at = (uint32_t)(p - code);
    p = put_series(p, walls);
    uint32_t values_at = (uint32_t)(p - code);
    if (put_floats(p, values)) {
        flags |= SB_CHUNK_FLOATS;
        p += SB_CHUNK_POINTS * 4;
    } else {
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++, p += 8)
            sb_store64(p, sb_double_bits(values[i]));
    }
    size_t code_n = (size_t)(p - code);
    uint32_t block_size = (uint32_t)(sizeof(sb_chunk) + code_n);
    sb_chunk *c = sb_blocks_get(blocks, block_size);
    if (!c) return NULL;
    memset(c, 0, sizeof *c);
    atomic_init(&c->refs, 1);
    c->block_size = block_size;
    c->home = blocks;
    c->flags = flags;
    c->walls_at = walls_at;
    c->values_at = values_at;
    sum_up_steps(c, steps);
    sum_up_walls(c, walls);
    sum_up_values(c, values);
    memcpy(c->code, code, code_n);
    return c;
}

void sb_chunk_ref(sb_chunk *c) {
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void sb_chunk_release(sb_chunk *c) {
    if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        sb_blocks_put(c->home, c);
}

/* ---- decoding -------------------------------------------------------------------------------- */

void sb_chunk_steps(const sb_chunk *c, int64_t *steps) {
    uint64_t x = (uint64_t)c->first_step;
    steps[0] = c->first_step;
    if (c->flags & SB_CHUNK_EVEN_STEPS) {
        uint64_t span = (uint64_t)c->last_step - (uint64_t)c->first_step;
        uint64_t delta = (uint64_t)((int64_t)span / (int64_t)(SB_CHUNK_POINTS - 1));
        for (uint32_t i = 1; i < SB_CHUNK_POINTS; i++) steps[i] = (int64_t)(x += delta);
        return;
    }
    const uint8_t *p = c->code;
    uint64_t delta = 0, coded;
    for (uint32_t i = 1; i < SB_CHUNK_POINTS; i++) {
        p = get_varint(p, &coded);
        delta += unzigzag(coded);
        steps[i] = (int64_t)(x += delta);
    }
}

void sb_chunk_walls_to(const sb_chunk *c, double *walls, uint32_t n, sb_walls_done *done) {
    if (n <= done->n) return;
    if (done->n == 0) {
        walls[0] = c->first_wall;
        *done = (sb_walls_done){1, c->walls_at};
    }
    const uint8_t *p = c->code + done->at;
    uint64_t x = sb_double_bits(walls[done->n - 1]), coded;
    uint64_t delta = done->n > 1 ? x - sb_double_bits(walls[done->n - 2]) : 0;
    for (uint32_t i = done->n; i < n; i++) {
        p = get_varint(p, &coded);
        delta += unzigzag(coded);
        walls[i] = sb_bits_double(x += delta);
    }
    *done = (sb_walls_done){n, (uint32_t)(p - c->code)};
}

void sb_chunk_walls(const sb_chunk *c, double *walls) {
    sb_chunk_walls_to(c, walls, SB_CHUNK_POINTS, &(sb_walls_done){0});
}

double sb_chunk_value_at(const sb_chunk *c, uint32_t i) {
    const uint8_t *p = c->code + c->values_at;
    return c->flags & SB_CHUNK_FLOATS ? (double)sb_bits_float(sb_load32(p + (size_t)i * 4))
                                      : sb_bits_double(sb_load64(p + (size_t)i * 8));
}

void sb_chunk_values(const sb_chunk *c, double *values) {
    const uint8_t *p = c->code + c->values_at;
    if (c->flags & SB_CHUNK_FLOATS)
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++, p += 4)
            values[i] = (double)sb_bits_float(sb_load32(p));
    else
        for (uint32_t i = 0; i < SB_CHUNK_POINTS; i++, p += 8)
            values[i] = sb_bits_double(sb_load64(p));
}
