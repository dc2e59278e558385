/* cuts.c: from which step on the points of a part are superseded.
 *
 * A part is cut by what came later (a file of a higher rank, or a START behind it in its own file)
 * and began only after the part's file had ended; of all these the lowest step counts.
 *
 * sb_part_cut says it for one part by looking at everything. sb_part_cuts says the same for all
 * parts of a series: it goes from late to early times, entering what began later than a part's end
 * into a tree of lowest steps by rank. Cost: n log n, where one by one it would be n times n. */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "store/store_int.h"
#include "base/banned.h"

static bool has_points(const sb_stored_part *part) {
    return part->seen.chunk_n || part->seen.tail_n || part->seen.ref_n;
}

/* ---- one part -------------------------------------------------------------------------------- */

static bool is_later(const sb_run *run, const sb_stored_part *a, uint32_t file, uint32_t segment) {
    if (a->file == file) return segment > a->segment;
    return run->files[file].rank > run->files[a->file].rank;
}

/* Did `file` begin only after the last event of part's file? Files that were written at the same
 * time never supersede each other. */
static bool begins_after(const sb_run *run, uint32_t file, double wall,
                         const sb_stored_part *part) {
    return part->file == file || wall > run->files[part->file].seen_last;
}

int64_t sb_part_cut(const sb_run *run, const sb_stored_series *s, const sb_stored_part *part) {
    int64_t cut = SB_NO_CUT;
    for (uint32_t i = 0; i < s->part_n; i++) {
        const sb_stored_part *other = &s->parts[i];
        if (other->file == part->file || !has_points(other) || other->seen_first_step >= cut)
            continue;
        if (is_later(run, part, other->file, other->segment) &&
            begins_after(run, other->file, run->files[other->file].seen_first, part))
            cut = other->seen_first_step;
    }
    for (uint32_t i = 0; i < run->seen_start_n; i++) {
        const sb_start *start = &run->starts[i];
        if (start->step < cut && is_later(run, part, start->file, start->segment) &&
            begins_after(run, start->file, start->wall, part))
            cut = start->step;
    }
    return cut;
}

/* ---- all parts ------------------------------------------------------------------------------- */

/* Something that began: it cuts parts of lower rank that ended before. */
typedef struct beginning {
    double wall;
    int64_t step;
    uint32_t rank;
} beginning;

typedef struct ending {
    double wall;
    uint32_t part;
} ending;

static int latest_beginning(const void *a, const void *b) {
    const beginning *x = a, *y = b;
    return (x->wall < y->wall) - (x->wall > y->wall);
}

static int latest_ending(const void *a, const void *b) {
    const ending *x = a, *y = b;
    return (x->wall < y->wall) - (x->wall > y->wall);
}

static int by_file_and_segment(const void *a, const void *b) {
    const sb_start *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static size_t list_beginnings(const sb_run *run, const sb_stored_series *s, beginning *out) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->part_n; i++) {
        const sb_stored_file *f = &run->files[s->parts[i].file];
        if (has_points(&s->parts[i]) && !isnan(f->seen_first))
            out[n++] = (beginning){f->seen_first, s->parts[i].seen_first_step, f->rank};
    }
    for (uint32_t i = 0; i < run->seen_start_n; i++) {
        const sb_start *start = &run->starts[i];
        if (!isnan(start->wall))
            out[n++] = (beginning){start->wall, start->step, run->files[start->file].rank};
    }
    if (n) qsort(out, n, sizeof *out, latest_beginning);
    return n;
}

/* The tree: lowest[i] is the lowest step of some ranks from n - i on (a Fenwick tree, turned round,
 * so that "all above" is a prefix). */
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

/* STARTs behind a part in its own file; `starts` are sorted, and each step is the lowest from there
 * to the end of its file. */
static int64_t lowest_behind(const sb_start *starts, uint32_t n, const sb_stored_part *part) {
    uint32_t i;
    SB_PARTITION_POINT(i, 0, n,
                       starts[i].file < part->file ||
                           (starts[i].file == part->file && starts[i].segment <= part->segment));
    return i < n && starts[i].file == part->file ? starts[i].step : SB_NO_CUT;
}

static void sort_starts(const sb_run *run, sb_start *starts) {
    uint32_t n = run->seen_start_n;
    for (uint32_t i = 0; i < n; i++) starts[i] = run->starts[i];
    if (n) qsort(starts, n, sizeof *starts, by_file_and_segment);
    for (uint32_t i = n; i-- > 1;)
        if (starts[i - 1].file == starts[i].file && starts[i].step < starts[i - 1].step)
            starts[i - 1].step = starts[i].step;
}

static size_t list_endings(const sb_run *run, const sb_stored_series *s, ending *out) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->part_n; i++) {
        double wall = run->files[s->parts[i].file].seen_last;
        if (!isnan(wall)) out[n++] = (ending){wall, i};
    }
    if (n) qsort(out, n, sizeof *out, latest_ending);
    return n;
}

sb_status sb_part_cuts(const sb_run *run, const sb_stored_series *s, sb_arena *arena,
                       int64_t *cuts) {
    uint32_t parts = s->part_n, starts_n = run->seen_start_n, ranks = run->order_n;
    uint64_t others = (uint64_t)parts + starts_n;
    if (parts * others <= SB_FEW_PARTS * SB_FEW_PARTS) {
        for (uint32_t i = 0; i < parts; i++) cuts[i] = sb_part_cut(run, s, &s->parts[i]);
        return SB_OK;
    }
    beginning *begun = sb_arena_get(arena, others * sizeof *begun);
    ending *ended = sb_arena_get(arena, parts * sizeof *ended);
    sb_start *starts = sb_arena_get(arena, starts_n * sizeof *starts);
    int64_t *lowest = sb_arena_get(arena, ((size_t)ranks + 1) * sizeof *lowest);
    if (!begun || !ended || !starts || !lowest) return SB_NOMEM;
    for (uint32_t i = 0; i <= ranks; i++) lowest[i] = SB_NO_CUT;
    sort_starts(run, starts);
    for (uint32_t i = 0; i < parts; i++) cuts[i] = lowest_behind(starts, starts_n, &s->parts[i]);
    size_t begun_n = list_beginnings(run, s, begun), ended_n = list_endings(run, s, ended),
           next = 0;
    for (size_t i = 0; i < ended_n; i++) {
        for (; next < begun_n && begun[next].wall > ended[i].wall; next++)
            lower_step_at_rank(lowest, ranks, begun[next].rank, begun[next].step);
        uint32_t part = ended[i].part;
        int64_t step = lowest_above(lowest, ranks, run->files[s->parts[part].file].rank);
        if (step < cuts[part]) cuts[part] = step;
    }
    return SB_OK;
}
