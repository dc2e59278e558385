/* metadata.h: a traced run as RunMetadata: when each op ran, and the memory of what it made. */
#ifndef SB_TRAIN_METADATA_H
#define SB_TRAIN_METADATA_H

#include "train/plan.h"

/* Nanoseconds of the steady clock. */
typedef struct step_time {
    uint64_t begin, end;
} step_time;

/* times: one for each step of the plan. wall_offset: wall clock minus steady clock. */
sb_status sb_metadata_make(const plan *p, const step_time *times, uint64_t wall_offset,
                           sb_arena *arena, sb_slice *out, sb_err *err);

#endif
