/* restarts.c: from which step on the points of a piece are superseded.
 *
 * sb_restart_cut answers for one piece by looking at everything. sb_restart_cuts answers the same
 * for all: it goes from late to early times, and enters whatever began later than a piece's end
 * into a tree of lowest steps by rank. */
#include "codec/restarts.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/banned.h"

/* ---- one piece ------------------------------------------------------------------------------- */

static bool is_later(const sb_restart_piece *piece, uint32_t rank, uint32_t segment) {
    return piece->rank == rank ? segment > piece->segment : rank > piece->rank;
}

/* Did it begin only after the latest event of the piece's file? */
static bool begins_after(const sb_restart_piece *piece, uint32_t rank, double wall) {
    return piece->rank == rank || wall > piece->file_last;
}

int64_t sb_restart_cut(const sb_restarts *r, size_t i) {
    const sb_restart_piece *piece = &r->pieces[i];
    int64_t cut = SB_NO_CUT;
    for (size_t k = 0; k < r->piece_n; k++) {
        const sb_restart_piece *other = &r->pieces[k];
        if (other->rank > piece->rank && other->first_step < cut &&
            begins_after(piece, other->rank, other->file_first))
            cut = other->first_step;
    }
    for (size_t k = 0; k < r->start_n; k++) {
        const sb_start *start = &r->starts[k];
        if (start->step < cut && is_later(piece, start->rank, start->segment) &&
            begins_after(piece, start->rank, start->wall))
            cut = start->step;
    }
    return cut;
}

/* ---- all pieces ------------------------------------------------------------------------------ */

/* Something that began: it cuts pieces of lower rank that ended before. */
typedef struct beginning {
    double wall;
    int64_t step;
    uint32_t rank;
} beginning;

typedef struct ending {
    double wall;
    size_t piece;
} ending;

static int latest_beginning(const void *a, const void *b) {
    const beginning *x = a, *y = b;
    return (x->wall < y->wall) - (x->wall > y->wall);
}

static int latest_ending(const void *a, const void *b) {
    const ending *x = a, *y = b;
    return (x->wall < y->wall) - (x->wall > y->wall);
}

static int by_rank_and_segment(const void *a, const void *b) {
    const sb_start *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static size_t list_beginnings(const sb_restarts *r, beginning *out) {
    size_t n = 0;
    for (size_t i = 0; i < r->piece_n; i++) {
        const sb_restart_piece *p = &r->pieces[i];
        if (!isnan(p->file_first)) out[n++] = (beginning){p->file_first, p->first_step, p->rank};
    }
    for (size_t i = 0; i < r->start_n; i++) {
        const sb_start *start = &r->starts[i];
        if (!isnan(start->wall)) out[n++] = (beginning){start->wall, start->step, start->rank};
    }
    if (n) qsort(out, n, sizeof *out, latest_beginning);
    return n;
}

static size_t list_endings(const sb_restarts *r, ending *out) {
    size_t n = 0;
    for (size_t i = 0; i < r->piece_n; i++)
        if (!isnan(r->pieces[i].file_last)) out[n++] = (ending){r->pieces[i].file_last, i};
    if (n) qsort(out, n, sizeof *out, latest_ending);
    return n;
}

/* The tree: lowest[i] is the lowest step of some ranks from n - i on (a Fenwick tree, reversed, so
 * that "all above" is a prefix). */
static void lower_step_at_rank(int64_t *lowest, uint32_t n, uint32_t rank, int64_t step) {
    for (uint32_t i = n - rank; i <= n; i += i & (0 - i))
        if (step < lowest[i]) lowest[i] = step;
}

static int64_t lowest_above(const int64_t *lowest, uint32_t n, uint32_t rank) {
    int64_t step = SB_NO_CUT;
    for (uint32_t i = n - rank - 1; i > 0; i -= i & (0 - i))
        if (lowest[i] < step) step = lowest[i];
    return step;
}

/* STARTs behind a piece in its own file; `starts` are sorted, and each step is the lowest from
 * there to the end of its file. */
static int64_t lowest_behind(const sb_start *starts, size_t n, const sb_restart_piece *piece) {
    size_t i;
    SB_PARTITION_POINT(i, 0, n,
                       starts[i].rank < piece->rank ||
                           (starts[i].rank == piece->rank && starts[i].segment <= piece->segment));
    return i < n && starts[i].rank == piece->rank ? starts[i].step : SB_NO_CUT;
}

static void sort_starts(const sb_restarts *r, sb_start *starts) {
    size_t n = r->start_n;
    for (size_t i = 0; i < n; i++) starts[i] = r->starts[i];
    if (n) qsort(starts, n, sizeof *starts, by_rank_and_segment);
    for (size_t i = n; i-- > 1;)
        if (starts[i - 1].rank == starts[i].rank && starts[i].step < starts[i - 1].step)
            starts[i - 1].step = starts[i].step;
}

sb_status sb_restart_cuts(const sb_restarts *r, sb_arena *arena, int64_t *cuts) {
    size_t pieces = r->piece_n, others = pieces + r->start_n;
    if (pieces <= SB_FEW_PIECES * SB_FEW_PIECES / (others + 1)) {
        for (size_t i = 0; i < pieces; i++) cuts[i] = sb_restart_cut(r, i);
        return SB_OK;
    }
    beginning *begun = sb_arena_get(arena, others * sizeof *begun);
    ending *ended = sb_arena_get(arena, pieces * sizeof *ended);
    sb_start *starts = sb_arena_get(arena, r->start_n * sizeof *starts);
    int64_t *lowest = sb_arena_get(arena, ((size_t)r->ranks + 1) * sizeof *lowest);
    if (!begun || !ended || !starts || !lowest) return SB_NOMEM;
    for (uint32_t i = 0; i <= r->ranks; i++) lowest[i] = SB_NO_CUT;
    sort_starts(r, starts);
    for (size_t i = 0; i < pieces; i++) cuts[i] = lowest_behind(starts, r->start_n, &r->pieces[i]);
    size_t begun_n = list_beginnings(r, begun), ended_n = list_endings(r, ended), next = 0;
    for (size_t i = 0; i < ended_n; i++) {
        for (; next < begun_n && begun[next].wall > ended[i].wall; next++)
            lower_step_at_rank(lowest, r->ranks, begun[next].rank, begun[next].step);
        size_t piece = ended[i].piece;
        int64_t step = lowest_above(lowest, r->ranks, r->pieces[piece].rank);
        if (step < cuts[piece]) cuts[piece] = step;
    }
    return SB_OK;
}
