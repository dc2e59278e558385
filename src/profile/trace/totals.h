/* totals.h: sums over a range of time, and search. */
#ifndef SB_PROFILE_TOTALS_H
#define SB_PROFILE_TOTALS_H

#include "profile/trace/trace.h"

#define SB_TOTAL_BINS 12

typedef enum sb_total_by { SB_BY_NAME, SB_BY_KIND, SB_BY_TRACK, SB_BY_GROUP } sb_total_by;

typedef struct sb_total {
    uint32_t id; /* the id of a name, a kind, a track or a group, as `by` asks */
    uint8_t kind;
    uint64_t count;
    int64_t total, self; /* only of the parts of spans that are inside the range */
    int64_t least, greatest;
    uint32_t bins[SB_TOTAL_BINS]; /* histogram of durations; see sb_total_bin_edge */
} sb_total;

typedef struct sb_totals_ask {
    const uint32_t *tracks;
    size_t track_count;
    int64_t from, to;
    sb_total_by by;
    sb_slice find; /* only spans whose name contains this, in any case; empty: all spans */
    bool (*is_expired)(void *ud);
    void *ud;
} sb_totals_ask;

typedef struct sb_totals {
    sb_total *items;
    size_t n;
    uint64_t spans;
    int64_t total;
} sb_totals;

/* Sums up the spans of some tracks in a range; the result is in the arena, ordered by id. Instants
 * are counted, with no time. SB_TIMEOUT: `is_expired` said so. */
sb_status sb_trace_totals(const sb_trace *t, const sb_totals_ask *ask, sb_totals *out,
                          sb_arena *arena, sb_err *err);
/* The lower edge of bin i of the histogram. The first bin begins at 100 ns; three bins are one
 * decade. */
int64_t sb_total_bin_edge(uint32_t i);

/* ---- search ---------------------------------------------------------------------------------- */

typedef struct sb_found_span {
    uint32_t track, index;
    int64_t start;
} sb_found_span;

/* Which spans a piece of advice was concluded from. */
typedef struct sb_evidence {
    sb_track_kind track;
    sb_span_kind kind;    /* of input only those in which the program waits for it */
    int64_t shorter_than; /* 0: of any duration */
} sb_evidence;

bool sb_is_evidence(const sb_trace *t, const sb_evidence *e, const sb_track *k,
                    const sb_trace_span *s);

typedef struct sb_search_ask {
    sb_slice text;               /* in any case */
    const sb_evidence *evidence; /* NULL: all spans; else only these */
    bool in_args; /* search in arguments too; `names` then has only what was found by name */
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
    sb_search_name *names; /* ordered by total time, the largest first; at most 1000 */
    size_t name_count;
    uint64_t total;
    sb_found_span *items; /* in order of time: `limit` of them from `offset` on */
    size_t n;
} sb_search_result;

sb_status sb_trace_search(const sb_trace *t, const sb_search_ask *ask, sb_search_result *out,
                          sb_arena *arena, sb_err *err);
/* Marks the names that contain a text: the answer has one byte for each name. NULL: no memory. */
uint8_t *sb_trace_match_names(const sb_trace *t, sb_slice text, sb_arena *arena);

#endif
