/* budget.h: how long a query may take. Memory is bounded by the request's arena; time by this.
 *
 * Functions that may run for long ask now and then, at least once in a few thousand points, and
 * give up with SB_TIMEOUT. NULL, or a budget without a function, never ends. */
#ifndef SB_QUERY_BUDGET_H
#define SB_QUERY_BUDGET_H

#include <stdbool.h>

#include "base/status.h"

typedef struct sb_budget {
    bool (*is_over)(void *ud); /* cheap; may be called from the thread that asks only */
    void *ud;
} sb_budget;

static inline bool sb_budget_over(const sb_budget *budget) {
    return budget && budget->is_over && budget->is_over(budget->ud);
}

static inline sb_status sb_fail_timeout(sb_err *err) {
    return sb_fail(err, SB_TIMEOUT, 0, "the answer took longer than allowed");
}

#endif
