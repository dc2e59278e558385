/* series_list.h: which runs have which series: the index that every dashboard begins with.
 *
 * In:  the store.  Out: runs with their series in the request's arena. Names, tags and metadata are
 * those of the store: they live until the list is released.
 * Order: runs by start time and name, unknown start times last; tags of a run by their bytes, which
 * for UTF-8 is the order of characters, as Python sorts.
 *
 * Threads: any.  Cost: a look at every series of every run asked for, and a sort of those that
 * match. */
#ifndef SB_QUERY_SERIES_LIST_H
#define SB_QUERY_SERIES_LIST_H

#include "query/budget.h"
#include "store/store.h"

typedef struct sb_series_entry {
    sb_slice tag;
    sb_slice plugin_name, plugin_content;
    sb_slice
        display_name; /* as given; of old-style data the tag when none was, as TensorBoard does */
    sb_slice description; /* Markdown */
    sb_series_kind kind;
    sb_dtype dtype;
    int32_t version;        /* of the plugin's content; -1 when that cannot be read */
    uint32_t id;            /* of the series in its run */
    uint32_t max_count;     /* blobs of the point that has most; 0 for all but blobs */
    uint64_t points;        /* superseded ones included */
    uint64_t store_version; /* when it last grew */
} sb_series_entry;

typedef struct sb_run_entry {
    sb_run *run;
    sb_run_info info;
    sb_series_entry *series;
    size_t n;
} sb_run_entry;

typedef struct sb_series_list {
    sb_run_entry *runs; /* only those with a series that matches */
    size_t n;
    sb_runs held;
} sb_series_list;

typedef struct sb_list_ask {
    sb_slice plugin;     /* empty: all plugins */
    sb_series_kind kind; /* SB_SERIES_UNKNOWN: all kinds */
    sb_slice run;        /* empty: all runs */
    uint64_t since;      /* only series that grew after this version of the store; 0: all */
} sb_list_ask;

/* SB_OK, perhaps with nothing in it; SB_TIMEOUT, SB_NOMEM. Release it after SB_OK, before the arena
 * goes. */
sb_status sb_series_list_read(sb_store *store, const sb_list_ask *ask, const sb_budget *budget,
                              sb_arena *arena, sb_series_list *out, sb_err *err);
void sb_series_list_release(sb_series_list *list);

/* How many images or clips a step of this series has at most, as the front end counts them; 0 for
 * series of another kind. max_count is the greatest ref.count of its points. */
uint32_t sb_samples_of(sb_series_kind kind, sb_slice plugin, uint32_t max_count);
uint32_t sb_entry_samples(const sb_series_entry *entry);

/* ---- descriptions ---------------------------------------------------------------------------- */

/* One text per tag, for lists in which a tag has one description, the same for all runs. */
typedef struct sb_tag_description {
    sb_slice tag;
    sb_slice markdown;
} sb_tag_description;

/* The tags of the list that have a description, in order of first sight. Where runs disagree the
 * text has a heading and each description under the names of the runs that use it (for any tag:
 * TensorBoard's way). New texts are in the arena. */
sb_status sb_tag_descriptions(const sb_series_list *list, sb_arena *arena, sb_tag_description **out,
                              size_t *n, sb_err *err);

/* ---- plugins --------------------------------------------------------------------------------- */

typedef struct sb_plugin_count {
    sb_slice name;
    uint64_t series; /* of all runs */
    uint64_t tags;   /* distinct ones */
} sb_plugin_count;

/* The plugins that have data, by name; in the arena. */
sb_status sb_plugins_list(sb_store *store, const sb_budget *budget, sb_arena *arena,
                          sb_plugin_count **out, size_t *n, sb_err *err);

#endif
