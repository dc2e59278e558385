/* recording.h: the numbers under which a session records its runs in a profile. */
#ifndef SB_TRAIN_RECORDING_H
#define SB_TRAIN_RECORDING_H

#include "seaboard/profile.h"

typedef struct recording {
    sb_recorder *recorder; /* NULL: nothing is recorded */
    uint32_t track;        /* of the thread that runs the session */
    uint32_t run, memory;  /* a run's name; the counter of memory */
    uint32_t *names;       /* by op */
    size_t name_count;
} recording;

void sb_recording_fini(recording *r);

#endif
