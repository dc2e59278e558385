/* reservoir.c: Python's random numbers, and TensorBoard's use of them. */
#include "query/reservoir.h"

#include <string.h>

#include "base/checked.h"
#include "base/banned.h"

/* ---- the generator --------------------------------------------------------------------------- */

#define MT_N 624u
#define MT_M 397u

/* Matsumoto and Nishimura's MT19937 with initialisation by an array of one word. */
void sb_python_random_init(sb_python_random *r, uint32_t seed) {
    uint32_t *s = r->state;
    s[0] = 19650218u;
    for (uint32_t i = 1; i < MT_N; i++) s[i] = 1812433253u * (s[i - 1] ^ (s[i - 1] >> 30)) + i;
    uint32_t i = 1;
    for (uint32_t k = 0; k < MT_N; k++) {
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1664525u)) + seed;
        if (++i == MT_N) {
            s[0] = s[MT_N - 1];
            i = 1;
        }
    }
    for (uint32_t k = 1; k < MT_N; k++) {
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i == MT_N) {
            s[0] = s[MT_N - 1];
            i = 1;
        }
    }
    s[0] = 0x80000000u;
    r->at = MT_N;
}

static void turn(uint32_t *s) {
    for (uint32_t i = 0; i < MT_N; i++) {
        uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % MT_N] & 0x7FFFFFFFu);
        s[i] = s[(i + MT_M) % MT_N] ^ (y >> 1) ^ (y & 1 ? 0x9908B0DFu : 0);
    }
}

uint32_t sb_python_random_u32(sb_python_random *r) {
    if (r->at == MT_N) {
        turn(r->state);
        r->at = 0;
    }
    uint32_t y = r->state[r->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    return y ^ (y >> 18);
}

/* Whole words first, the lowest one drawn first; of the last word the top bits. */
static uint64_t random_bits(sb_python_random *r, unsigned bits) {
    if (bits <= 32) return sb_python_random_u32(r) >> (32 - bits);
    uint64_t low = sb_python_random_u32(r);
    return low | (uint64_t)(sb_python_random_u32(r) >> (64 - bits)) << 32;
}

uint64_t sb_python_random_below(sb_python_random *r, uint64_t n) {
    unsigned bits = 64 - (unsigned)__builtin_clzll(n);
    uint64_t x;
    do x = random_bits(r, bits);
    while (x >= n);
    return x;
}

/* ---- the reservoir --------------------------------------------------------------------------- */

static uint64_t *room_for(sb_arena *arena, uint64_t n) {
    size_t bytes;
    if (n > SIZE_MAX || !sb_mul_size(&bytes, (size_t)n, sizeof(uint64_t))) return NULL;
    return sb_arena_get(arena, bytes);
}

static sb_status pick_all(uint64_t n, sb_arena *arena, uint64_t **out, size_t *count) {
    *out = room_for(arena, n);
    if (!*out) return SB_NOMEM;
    for (uint64_t i = 0; i < n; i++) (*out)[i] = i;
    *count = (size_t)n;
    return SB_OK;
}

sb_status sb_reservoir_pick(uint64_t n, uint64_t size, sb_arena *arena, uint64_t **out,
                            size_t *count) {
    if (size == 0 || n <= size) return pick_all(n, arena, out, count);
    uint64_t *kept = room_for(arena, size);
    if (!kept) return SB_NOMEM;
    sb_python_random random;
    sb_python_random_init(&random, 0);
    for (uint64_t i = 0; i < size; i++) kept[i] = i;
    for (uint64_t i = size; i < n; i++) {
        uint64_t r = sb_python_random_below(&random, i + 1);
        if (r < size) memmove(kept + r, kept + r + 1, (size_t)(size - 1 - r) * sizeof *kept);
        kept[size - 1] = i;
    }
    *out = kept;
    *count = (size_t)size;
    return SB_OK;
}

/* ---- the limit of an answer ------------------------------------------------------------------ */

/* Python's sample draws from a pool when the pool is small beside the sample. */
static bool uses_pool(uint64_t n, uint64_t k) {
    uint64_t size = 21;
    if (k > 5) {
        /* four to the power of the least exponent that reaches 3k */
        uint64_t power = 1;
        while (power < 3 * k && power <= UINT64_MAX / 8) power *= 4;
        size += power;
    }
    return n <= size;
}

static sb_status sample_from_pool(uint64_t n, uint64_t k, sb_arena *arena, uint64_t *out) {
    uint64_t *pool = room_for(arena, n);
    if (!pool) return SB_NOMEM;
    for (uint64_t i = 0; i < n; i++) pool[i] = i;
    sb_python_random random;
    sb_python_random_init(&random, 0);
    for (uint64_t i = 0; i < k; i++) {
        uint64_t j = sb_python_random_below(&random, n - i);
        out[i] = pool[j];
        pool[j] = pool[n - i - 1];
    }
    return SB_OK;
}

/* Draws below n, again when a number came before: an open-addressed table remembers. */
static sb_status sample_by_drawing(uint64_t n, uint64_t k, sb_arena *arena, uint64_t *out) {
    uint64_t slots = 16;
    while (slots < 2 * k) slots *= 2;
    uint64_t *table = room_for(arena, slots); /* number + 1; 0 is free */
    if (!table) return SB_NOMEM;
    memset(table, 0, (size_t)slots * sizeof *table);
    sb_python_random random;
    sb_python_random_init(&random, 0);
    for (uint64_t i = 0; i < k;) {
        uint64_t x = sb_python_random_below(&random, n);
        uint64_t slot = (x * 0x9E3779B97F4A7C15u) & (slots - 1);
        while (table[slot] && table[slot] != x + 1) slot = (slot + 1) & (slots - 1);
        if (table[slot]) continue;
        table[slot] = x + 1;
        out[i++] = x;
    }
    return SB_OK;
}

static void sift_down(uint64_t *a, size_t at, size_t n) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && a[child + 1] > a[child]) child++;
        if (a[at] >= a[child]) return;
        uint64_t swap = a[at];
        a[at] = a[child];
        a[child] = swap;
    }
}

static void sort_numbers(uint64_t *a, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sift_down(a, i, n);
    for (size_t i = n; i-- > 1;) {
        uint64_t swap = a[0];
        a[0] = a[i];
        a[i] = swap;
        sift_down(a, 0, i);
    }
}

sb_status sb_downsample_pick(uint64_t n, uint64_t limit, sb_arena *arena, uint64_t **out,
                             size_t *count) {
    if (limit > n || n == 0) return pick_all(n, arena, out, count);
    *count = 0;
    *out = room_for(arena, limit);
    if (!*out) return SB_NOMEM;
    if (limit == 0) return SB_OK;
    uint64_t k = limit - 1;
    sb_status status = uses_pool(n - 1, k) ? sample_from_pool(n - 1, k, arena, *out)
                                           : sample_by_drawing(n - 1, k, arena, *out);
    if (status != SB_OK) return status;
    sort_numbers(*out, (size_t)k);
    (*out)[k] = n - 1;
    *count = (size_t)limit;
    return SB_OK;
}

sb_status sb_sampling_pick(const sb_sampling *sampling, uint64_t n, sb_arena *arena, uint64_t **out,
                           size_t *count) {
    if (!sampling) return pick_all(n, arena, out, count);
    sb_status status = sb_reservoir_pick(n, sampling->reservoir, arena, out, count);
    if (status != SB_OK || sampling->limit == SB_NO_LIMIT) return status;
    uint64_t *kept = *out, *chosen;
    size_t chosen_n;
    status = sb_downsample_pick(*count, sampling->limit, arena, &chosen, &chosen_n);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < chosen_n; i++) chosen[i] = kept[chosen[i]];
    *out = chosen;
    *count = chosen_n;
    return SB_OK;
}
