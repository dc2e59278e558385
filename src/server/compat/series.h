/* series.h: which series a plugin has, one run after the other, and one of them by name.
 *
 *     sb_listing l;
 *     sb_listing_begin(&l, app, q->arena, "images", SB_SERIES_BLOBS);
 *     while (sb_listing_next(&l)) ... l.run_name, l.series[0 .. l.n] ...
 *     status = sb_listing_end(&l);
 *
 * Threads: one request. */
#ifndef SB_SERVER_COMPAT_SERIES_H
#define SB_SERVER_COMPAT_SERIES_H

#include "query/reservoir.h"
#include "server/compat/compat.h"

typedef struct sb_listing {
    sb_arena *arena;
    sb_slice plugin;
    sb_series_kind kind;
    sb_runs runs;
    size_t at;
    sb_status status;
    /* the run that next found */
    sb_run *run;
    sb_slice run_name;
    sb_series_info *series; /* of this plugin, those of an unknown version left out */
    size_t n;
} sb_listing;

void sb_listing_begin(sb_listing *l, sb_app *app, sb_arena *arena, const char *plugin,
                      sb_series_kind kind);
/* The next run with series of the plugin; false behind the last. A run whose series are all of an
 * unknown version comes with none. */
bool sb_listing_next(sb_listing *l);
/* Lets the runs go; call it always. */
sb_status sb_listing_end(sb_listing *l);

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

/* The name to show: old summaries have none and are shown by their tag. */
sb_slice sb_compat_display_name(const sb_series_info *info);

/* Appends a description, rendered, as a JSON text. */
void sb_compat_add_description(sb_json *j, sb_slice markdown);
/* {run: {tag: {"displayName": ..., "description": ...}}}, the whole answer. */
sb_status sb_compat_tag_index(sb_http_request *q, sb_http_reply *r, sb_app *app, const char *plugin,
                              sb_series_kind kind);

/* Both query parameters; false after a reply that says which is missing. */
bool sb_compat_run_tag(const sb_http_request *q, sb_http_reply *r, sb_slice *run, sb_slice *tag);

#endif
