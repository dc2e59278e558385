/* series.h: the series of a plugin: all of them for an index, one of them by name, and what every
 * index says of a tag.
 *
 * Threads: one request. */
#ifndef SB_SERVER_COMPAT_SERIES_H
#define SB_SERVER_COMPAT_SERIES_H

#include "query/kinds/histogram.h"
#include "query/reservoir.h"
#include "query/series_list.h"
#include "server/compat/compat.h"

/* The series of a plugin, those of an unknown version left out: a run may then be left with none.
 * Release it after SB_OK. */
sb_status sb_compat_list(sb_series_list *out, sb_http_request *q, sb_http_reply *r, sb_app *app,
                         const char *plugin, sb_series_kind kind);

/* One series of a plugin, held until sb_compat_release. SB_NOT_FOUND when there is none. */
typedef struct sb_found_series {
    sb_run *run;
    sb_series series;
} sb_found_series;
sb_status sb_compat_find(sb_found_series *out, sb_app *app, sb_arena *arena, sb_slice run,
                         sb_slice tag, const char *plugin, sb_series_kind kind);
void sb_compat_release(sb_found_series *found);

/* How many points of it to show. http_limit: TensorBoard's own limit for the route, 0: it has
 * none. */
sb_sampling sb_compat_sampling(const sb_app *app, const char *plugin, uint64_t http_limit);

/* Appends a description, rendered, as a JSON text. */
void sb_compat_add_description(sb_json *j, sb_slice markdown);
/* Appends "displayName" and "description" to an object. */
void sb_compat_add_tag_info(sb_json *j, const sb_series_entry *entry);
/* {run: {tag: {"displayName": ..., "description": ...}}}, the whole answer; with "samples" for
 * series of blobs. */
sb_status sb_compat_tag_index(sb_http_request *q, sb_http_reply *r, sb_app *app, const char *plugin,
                              sb_series_kind kind);

/* The histograms of a series in the request's arena, those that can't be read left out. */
sb_status sb_compat_read_histograms(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_run *run,
                                    const sb_series *series, uint64_t http_limit,
                                    sb_histo_point **out, size_t *n);

/* The time that a request has, for queries. */
sb_budget sb_compat_budget(sb_http_request *q);

/* Both query parameters; false after a reply that says which is missing. */
bool sb_compat_run_tag(const sb_http_request *q, sb_http_reply *r, sb_slice *run, sb_slice *tag);

#endif
