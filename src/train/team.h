/* team.h: threads that share the pieces of one piece of work, and wait for the next one.
 *
 * Work is divided into pieces whose results do not depend on who does them, so that a run gives the
 * same numbers with any number of threads. Between two works a thread looks for the next one a few
 * microseconds long and then sleeps.
 * Threads: one thread owns a team and takes part in its work. */
#ifndef SB_TRAIN_TEAM_H
#define SB_TRAIN_TEAM_H

#include <stddef.h>

#include "base/status.h"
#include "seaboard/profile.h"

typedef struct team team;
/* Does piece i of the work. */
typedef void team_fn(void *work, size_t i);

/* threads: 1 or more, the caller's included. */
sb_status sb_team_new(team **out, unsigned threads, sb_err *err);
void sb_team_free(team *t);
unsigned sb_team_size(const team *t);
/* Each member records its share of the next works as a slice of that name, on a track of its own.
 * NULL ends it. */
void sb_team_record(team *t, sb_recorder *r, uint32_t name);
/* Makes those tracks. */
void sb_team_make_tracks(team *t, sb_recorder *r);
/* Does pieces 0 .. count - 1; returns when all are done. t may be NULL. */
void sb_team_run(team *t, size_t count, team_fn *fn, void *work);

#endif
