/* hparams.h: hyperparameters: the parameters that an experiment varied, and the resulting metrics.
 *
 *     sb_hparams_begin(&h, store, arena, ...);
 *     sb_hparams_experiment(&h, ...);      which parameters and metrics there are
 *     sb_hparams_groups(&h, ...);          one row per group of sessions, filtered, sorted, cut
 *     sb_hparams_close(&h);
 *
 * Runs that have a session_start_info are sessions. Their data is in the metadata of three
 * tags, not in their tensors. Metrics are the last values of scalar series in the session's run or
 * below it.
 *
 * The rules are TensorBoard's, but for what follows from NaN among numbers (there it depends on the
 * order of comparisons; here NaN is left out of an interval and sorts behind all numbers), and a
 * session in the run "." has metrics here.
 *
 * Ownership: everything handed out lives until sb_hparams_close, and as long as the arena. Threads:
 * one request. Cost: one to three look-ups per run, and one summary of a series for each metric of
 * each session. */
#ifndef SB_QUERY_HPARAMS_HPARAMS_H
#define SB_QUERY_HPARAMS_HPARAMS_H

#include "codec/plugin.h"
#include "query/budget.h"
#include "store/store.h"

#define SB_HPARAMS_EXPERIMENT_TAG "_hparams_/experiment"
#define SB_HPARAMS_START_TAG "_hparams_/session_start_info"
#define SB_HPARAMS_END_TAG "_hparams_/session_end_info"

typedef struct sb_hparams_run {
    sb_run *run;
    sb_slice name;
    sb_slice experiment, start, end; /* plugin contents; .p is NULL when there is none */
} sb_hparams_run;

typedef struct sb_hparams {
    sb_store *store;
    sb_arena *arena;
    const sb_budget *budget;
    bool show_superseded;
    sb_runs runs;          /* held */
    sb_hparams_run *items; /* those with hparams, in order of their names */
    size_t n;
    sb_hparams_run **sessions; /* those of them with a start */
    size_t session_n;
} sb_hparams;

/* store, arena and budget must live until the end. */
sb_status sb_hparams_begin(sb_hparams *h, sb_store *store, sb_arena *arena, const sb_budget *budget,
                           bool show_superseded, sb_err *err);
void sb_hparams_close(sb_hparams *h);

/* ---- the experiment -------------------------------------------------------------------------- */

typedef struct sb_hparam_column {
    sb_slice name, display_name, description;
    int32_t type;         /* SB_HPARAM_TYPE_... */
    int32_t domain;       /* 0, SB_HPARAM_INFO_DOMAIN_DISCRETE or SB_HPARAM_INFO_DOMAIN_INTERVAL */
    const sb_any *values; /* of a discrete domain */
    size_t value_n;
    double min, max; /* of an interval */
    bool differs;
} sb_hparam_column;

typedef struct sb_hparams_experiment_view {
    sb_slice name, description, user;
    double time_created_secs;
    sb_hparam_column *hparams;
    size_t hparam_n;
    sb_metric_info_view *metrics;
    size_t metric_n;
} sb_hparams_experiment_view;

/* The experiment that was declared, else one made from what the sessions hold. limit: so many
 * parameters, those that differ first; 0: all. SB_INVALID when the log holds hparams of another
 * version. */
sb_status sb_hparams_experiment(sb_hparams *h, bool with_metrics, int64_t limit,
                                sb_hparams_experiment_view *out, sb_err *err);

/* ---- groups of sessions ---------------------------------------------------------------------- */

typedef struct sb_metric_value {
    sb_slice group, tag;
    size_t column; /* among the experiment's metrics */
    double value;
    int64_t step;
    double wall;
} sb_metric_value;

typedef struct sb_hparams_session {
    sb_slice name, model_uri, monitor_url;
    double start_secs, end_secs;
    int32_t status; /* SB_HPARAM_STATUS_... */
    sb_metric_value *metrics;
    size_t metric_n;
} sb_hparams_session;

typedef struct sb_session_group {
    sb_slice name, monitor_url;
    sb_hparam_view *hparams; /* in order of their names, of the first session */
    size_t hparam_n;
    sb_metric_value *metrics; /* aggregated */
    size_t metric_n;
    sb_hparams_session *sessions;
    size_t session_n;
} sb_session_group;

typedef enum sb_hparam_filter {
    SB_FILTER_NONE,
    SB_FILTER_REGEXP,
    SB_FILTER_INTERVAL,
    SB_FILTER_DISCRETE,
} sb_hparam_filter;

/* The numbers are those of TensorBoard's API. */
typedef enum sb_hparam_order { SB_ORDER_NONE, SB_ORDER_RISING, SB_ORDER_FALLING } sb_hparam_order;
typedef enum sb_aggregation {
    SB_AGGREGATE_UNSET, /* the mean, too */
    SB_AGGREGATE_MEAN,
    SB_AGGREGATE_MEDIAN, /* the values of the session that has the (lower) median of one metric */
    SB_AGGREGATE_LEAST,
    SB_AGGREGATE_GREATEST,
} sb_aggregation;

/* What is asked of one column; either hparam or the metric's names are set. */
typedef struct sb_hparam_ask {
    bool is_metric;
    sb_slice hparam;
    sb_slice group, tag;
    int32_t order; /* sb_hparam_order */
    bool missing_first;
    bool no_missing; /* groups without a value are left out */
    sb_hparam_filter filter;
    sb_slice regexp;
    double min, max;
    const sb_any *values;
    size_t value_n;
    int8_t include; /* part of the answer: 1 yes, 0 no, -1 the request does not say */
} sb_hparam_ask;

typedef struct sb_groups_ask {
    uint32_t statuses; /* bit SB_HPARAM_STATUS_...: sessions of that status count */
    const sb_hparam_ask *columns;
    size_t column_n;
    int32_t aggregation; /* sb_aggregation */
    sb_slice aggregation_group, aggregation_tag;
    int64_t start, size; /* the slice of the answer */
    bool with_metrics;
} sb_groups_ask;

typedef struct sb_groups_answer {
    sb_session_group *groups; /* the slice */
    size_t n;
    uint64_t total; /* before it was cut */
} sb_groups_answer;

/* SB_INVALID for a filter that does not fit a value, an order or an aggregation that does not
 * exist, a metric that no session of a group has. */
sb_status sb_hparams_groups(sb_hparams *h, const sb_groups_ask *ask, sb_groups_answer *out,
                            sb_err *err);

/* The run in which a session's metric is: "SESSION/GROUP" or "SESSION"; in the arena. .p is NULL:
 * no memory. */
sb_slice sb_hparams_metric_run(sb_arena *arena, sb_slice session, sb_slice group);

#endif
