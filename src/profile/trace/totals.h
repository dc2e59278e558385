/* totals.h: sums over a range of time, and search. */
#ifndef SB_PROFILE_TOTALS_H
#define SB_PROFILE_TOTALS_H

#include "profile/trace/trace.h"

#define SB_TOTAL_BINS 12

typedef enum sb_total_by { SB_BY_NAME, SB_BY_KIND, SB_BY_TRACK, SB_BY_GROUP } sb_total_by;

typedef struct sb_total {
    uint32_t id; /* of a name, a kind, a track or a group */
    uint8_t kind;
    uint64_t count;
    int64_t total, self; /* of the parts inside the range */
    int64_t least, greatest;
    uint32_t bins[SB_TOTAL_BINS]; /* of durations: each twice as long... see sb_total_bin_edge */
} sb_total;

typedef struct sb_totals_ask {
    const uint32_t *tracks;
    size_t track_count;
    int64_t from, to;
    sb_total_by by;
    sb_slice find; /* part of a name, any case; empty: all */
    bool (*is_expired)(void *ud);
    void *ud;
} sb_totals_ask;

typedef struct sb_totals {
    sb_total *items;
    size_t n;
    uint64_t spans;
    int64_t total;
} sb_totals;

/* In the arena, in order of id. Instants count, with no time. SB_TIMEOUT. */
sb_status sb_trace_totals(const sb_trace *t, const sb_totals_ask *ask, sb_totals *out,
                          sb_arena *arena, sb_err *err);
/* Bins are powers of ten thirds of a decade from 100 ns on: the lower edge of bin i. */
int64_t sb_total_bin_edge(uint32_t i);

/* ---- search ---------------------------------------------------------------------------------- */

typedef struct sb_found_span {
    uint32_t track, index;
    int64_t start;
} sb_found_span;

typedef struct sb_search_ask {
    sb_slice text; /* any case */
    bool in_args;  /* also what the file says about a span; its names are then not in `names` */
    int64_t from, to;
    size_t offset, limit;
    bool (*is_expired)(void *ud);
    void *ud;
} sb_search_ask;

typedef struct sb_search_name {
    uint32_t name;
    uint64_t count;
    int64_t total;
} sb_search_name;

typedef struct sb_search_result {
    sb_search_name *names; /* those with the most time first; at most 1000 */
    size_t name_count;
    uint64_t total;
    sb_found_span *items; /* offset ... offset + limit in order of time */
    size_t n;
} sb_search_result;

sb_status sb_trace_search(const sb_trace *t, const sb_search_ask *ask, sb_search_result *out,
                          sb_arena *arena, sb_err *err);
/* Marks the names that hold a text; NULL: no memory. */
uint8_t *sb_trace_match_names(const sb_trace *t, sb_slice text, sb_arena *arena);

#endif
