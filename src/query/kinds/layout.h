/* layout.h: the layout of the custom scalars dashboard, merged from those of all runs.
 *
 * Runs by name; of each the last layout that it logged. Categories of later runs with a title that
 * is known give it those of their charts that are not there yet; others follow at the end. One
 * deliberate difference from TensorBoard, which loses what a third run adds to a category that the
 * second one brought: here nothing is lost.
 *
 * Threads: any.  Cost: one record is read for each run that has a layout. */
#ifndef SB_QUERY_KINDS_LAYOUT_H
#define SB_QUERY_KINDS_LAYOUT_H

#include "codec/plugin.h"
#include "query/records/blob.h"

#define SB_LAYOUT_TAG "custom_scalars__config__"

typedef struct sb_layout_chart {
    sb_slice title;
    int32_t kind;         /* 0, SB_CHART_MULTILINE or SB_CHART_MARGIN */
    const sb_slice *tags; /* of a multiline chart: regular expressions */
    size_t tag_n;
    const sb_margin_series *series; /* of a margin chart */
    size_t series_n;
} sb_layout_chart;

typedef struct sb_layout_category {
    sb_slice title;
    bool closed;
    sb_layout_chart *charts;
    size_t n;
} sb_layout_category;

typedef struct sb_layout_merged {
    bool is_found; /* false: no run has a layout */
    int32_t version;
    sb_layout_category *categories;
    size_t n;
    size_t unreadable; /* runs whose layout could not be read */
} sb_layout_merged;

/* In the arena. SB_LIMIT when there are more than max_charts charts in all. Texts live as long as
 * the arena. */
sb_status sb_layout_merge(sb_store *store, sb_blob_cache *blobs, size_t max_bytes,
                          size_t max_charts, const sb_budget *budget, sb_arena *arena,
                          sb_layout_merged *out, sb_err *err);

#endif
