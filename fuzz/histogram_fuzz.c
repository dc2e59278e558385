/* histogram_fuzz.c: any buckets, any grid: facts are numbers or told to be missing, edges rise, and
 * every value that is counted is in a bin, below or above.
 *
 * An input is a question (first byte: bins, log or not, which range) and then doubles, three to a
 * bucket; every fourth bucket begins another histogram of the same grid. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "query/kinds/histogram_grid.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_ROWS 4096u
#define MOST_BINS 64u
#define ROWS_A_STEP 4u

static void hold(bool promise) {
    if (!promise) abort();
}

static void check_facts(const sb_histo_facts *f) {
    bool is_empty = (f->marks & SB_HISTO_EMPTY) != 0;
    hold(is_empty == !(f->total > 0));
    hold(isfinite(f->total));
    if (is_empty) return;
    hold(f->least <= f->greatest && isfinite(f->least) && isfinite(f->greatest));
    hold(f->low >= f->least - fabs(f->least) * 1e-9 &&
         f->high <= f->greatest + fabs(f->greatest) * 1e-9);
}

static void check_bins(const sb_histo_rows *clean, const sb_histo_facts *f, const double *edges,
                       size_t bins) {
    float shares[MOST_BINS], below, above;
    sb_histo_rebin(clean, edges, bins, shares, &below, &above);
    double sum = (double)below + (double)above;
    for (size_t i = 0; i < bins; i++) {
        hold(shares[i] >= 0 && isfinite(shares[i]));
        sum += (double)shares[i];
    }
    if (f->marks & SB_HISTO_EMPTY)
        hold(sum == 0);
    else
        hold(fabs(sum - 1) < 1e-3);
}

static void check_steps(const sb_histo_rows *rows, size_t steps, size_t bins, bool is_log,
                        bool is_all, sb_arena *arena) {
    sb_histo_facts facts[MOST_ROWS / ROWS_A_STEP + 1];
    sb_histo_rows clean[MOST_ROWS / ROWS_A_STEP + 1];
    for (size_t i = 0; i < steps; i++) {
        hold(sb_histo_facts_of(&rows[i], arena, &clean[i], &facts[i]) == SB_OK);
        check_facts(&facts[i]);
    }
    sb_value_range range;
    hold(sb_histo_range_of(facts, steps, is_all, arena, &range) == SB_OK);
    hold(range.low < range.high && isfinite(range.low) && isfinite(range.high));
    double edges[MOST_BINS + 1], near;
    sb_histo_edges(range, is_log, bins, edges, &near);
    for (size_t i = 1; i <= bins; i++) hold(edges[i] >= edges[i - 1] && isfinite(edges[i]));
    for (size_t i = 0; i < steps; i++) check_bins(&clean[i], &facts[i], edges, bins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 1 + MOST_ROWS * 24) return 0;
    size_t bins = (data[0] & 63u) + 1, n = (size - 1) / 24;
    double *numbers = malloc(n * 24 + 1);
    sb_histo_rows steps[MOST_ROWS / ROWS_A_STEP + 1];
    size_t count = 0;
    for (size_t i = 0; i < n * 3; i++) numbers[i] = sb_bits_double(sb_load64(data + 1 + i * 8));
    for (size_t i = 0; i < n; i += ROWS_A_STEP)
        steps[count++] = (sb_histo_rows){.n = n - i < ROWS_A_STEP ? n - i : ROWS_A_STEP,
                                         .rows = numbers + i * 3};
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, (size_t)64 << 20);
    check_steps(steps, count, bins, data[0] & 64, data[0] & 128, &arena);
    sb_arena_fini(&arena);
    free(numbers);
    return 0;
}
