/* restarts.h: which points of a run are superseded, because the run was restarted.
 *
 * The points of a tag come in pieces: those that one event file holds between two SessionLog
 * STARTs. A piece is cut by what came later (a piece in a file of a higher rank, or a START behind
 * it in its own file or in a later one) and began only after the piece's file had ended: its points
 * at or above the first step of what came later are superseded. Of several cuts the lowest step
 * counts. Files that were written at the same time do not cut each other.
 *
 * Points are never deleted by this: the caller hides those at or above the cut, or marks them.
 *
 * Threads: no state. Cost: n log n for n pieces and STARTs. */
#ifndef SB_CODEC_RESTARTS_H
#define SB_CODEC_RESTARTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

#define SB_NO_CUT INT64_MAX

typedef struct sb_restart_piece {
    uint32_t rank;    /* of its file among the files of the run, in the order of reading */
    uint32_t segment; /* how many STARTs of its file came before it */
    int64_t first_step;
    double file_first, file_last; /* wall times of the first and of the latest event of its file,
                                     header events not counted; NaN: unknown */
} sb_restart_piece;

/* A SessionLog START. */
typedef struct sb_start {
    uint32_t rank;
    uint32_t segment; /* pieces of its file with a lower one lie before it */
    int64_t step;
    double wall;
} sb_start;

typedef struct sb_restarts {
    const sb_restart_piece *pieces; /* of one tag, each with at least one point */
    size_t piece_n;
    const sb_start *starts; /* of the run */
    size_t start_n;
    uint32_t ranks; /* every rank is below */
} sb_restarts;

/* From which step on the points of piece i are superseded; SB_NO_CUT: none is. Cost: n. */
int64_t sb_restart_cut(const sb_restarts *r, size_t i);
/* The same for all pieces; cuts has room for them. SB_NOMEM. */
sb_status sb_restart_cuts(const sb_restarts *r, sb_arena *arena, int64_t *cuts);

/* Up to here sb_restart_cuts asks for one after the other. */
#define SB_FEW_PIECES 64u

#endif
