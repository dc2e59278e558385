/* hparams_request.h: what clients ask of the hparams routes: proto3 JSON into the questions of
 * query/hparams.h.
 *
 * As Google's parser: names in either spelling, enumerations by name or number, numbers also as
 * texts, null as if it were not there; unknown names are refused. Everything is copied into the
 * arena. */
#ifndef SB_SERVER_COMPAT_HPARAMS_REQUEST_H
#define SB_SERVER_COMPAT_HPARAMS_REQUEST_H

#include "query/hparams/hparams.h"

typedef struct sb_experiment_ask {
    bool with_metrics; /* unless the request says no */
    int64_t limit;
} sb_experiment_ask;

typedef struct sb_metric_ask {
    sb_slice session, group, tag;
} sb_metric_ask;

/* SB_INVALID with the reason when the text is no such request. */
sb_status sb_hparams_read_experiment(sb_experiment_ask *out, sb_slice json, sb_err *err);
sb_status sb_hparams_read_groups(sb_groups_ask *out, sb_slice json, sb_arena *arena, sb_err *err);
sb_status sb_hparams_read_metric(sb_metric_ask *out, sb_slice json, sb_arena *arena, sb_err *err);

/* A JSON array of booleans. */
sb_status sb_hparams_read_visible(bool **out, size_t *n, sb_slice json, sb_arena *arena,
                                  sb_err *err);

#endif
