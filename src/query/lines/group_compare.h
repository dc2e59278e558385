/* group_compare.h: a group (group.h) against one line: how far seeds are from a baseline.
 *
 * The line is the same for all that count at a place, so centres and extremes are compared with it
 * there, and spreads keep their size (difference) or shrink with it (ratio). Its value at a place
 * is that of the line there (baseline.h); where places are pixel columns, the mean of its points in
 * the column, as it is for the group's lines. Places where it is not known are left out.
 *
 * Threads: any.  Cost: one pass over the line's points. */
#ifndef SB_QUERY_LINES_GROUP_COMPARE_H
#define SB_QUERY_LINES_GROUP_COMPARE_H

#include "query/lines/compare.h"
#include "query/lines/group.h"

/* base: smoothed as the group's lines are. ask: as the group was read. SB_OK (perhaps with no
 * places), SB_INVALID, SB_TIMEOUT, SB_NOMEM. */
sb_status sb_group_compare(sb_group *g, const sb_line *base, const sb_group_ask *ask,
                           sb_compare_kind kind, const sb_budget *budget, sb_arena *arena,
                           sb_err *err);

#endif
