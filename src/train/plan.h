/* plan.h: what a run does: the ops that the fetches need, in order, and where every value is.
 *
 * Made once for each set of fetches and feeds. Values get offsets in one block of memory such that
 * two of them share bytes only if they are never needed at the same time. Ops that only rename
 * their input (Identity, Reshape) and constants take no memory and no time.
 *
 * An op that is needed only by way of a control edge runs if it has an effect; what has none is
 * left out, though it stays in the exported graph. */
#ifndef SB_TRAIN_PLAN_H
#define SB_TRAIN_PLAN_H

#include "train/graph.h"
#include "train/tune.h"

typedef enum place_kind { AT_NOWHERE, AT_CONSTANT, AT_VARIABLE, AT_FEED, AT_OFFSET } place_kind;

/* Where a value is. */
typedef struct place {
    place_kind kind;
    size_t at;     /* which variable, which feed, or the offset */
    const void *p; /* of a constant */
} place;

typedef struct plan_step {
    const sb_op *op;
    const place *in, *out;
    void **in_data, **out_data; /* filled in by every run */
    size_t scratch;             /* offset */
    size_t live;                /* bytes of values and scratch that are needed while it runs */
} plan_step;

typedef struct plan {
    sb_arena arena;
    sb_op **fetches;
    size_t fetch_count;
    sb_op **feeds;
    size_t feed_count;
    plan_step *steps;
    size_t step_count;
    place *results; /* of each fetch */
    size_t bytes;   /* of memory */
    tune tune;      /* which steps are shared by the session's threads */
} plan;

/* SB_INVALID names a placeholder that is needed and not fed. */
sb_status sb_plan_new(plan **out, const sb_net *g, sb_op *const *fetches, size_t fetch_count,
                      sb_op *const *feeds, size_t feed_count, sb_err *err);
void sb_plan_free(plan *p);

#endif
