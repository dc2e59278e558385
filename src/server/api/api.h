/* api.h: our own HTTP interface, /api/v1: every handler, and what they share.
 * docs/formats/api-v1.md is the contract.
 *
 * Answers are JSON objects, or columns where numbers are many; all carry the store's version.
 * Errors are {"error": {"code", "message"}}. Threads: handlers run on many; all state is in the
 * application. */
#ifndef SB_SERVER_API_H
#define SB_SERVER_API_H

#include <jansson.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "query/budget.h"
#include "server/app_int.h"
#include "server/http/http.h"

/* Every route: method, path below /api/v1/, handler, how it is run, and the types of its request
 * and its reply: names from replies.def, none, or Bytes where it is no JSON. */
#define SB_API_MAP(X)                                                                              \
    X(SB_HTTP_GET, "status", status, SB_HTTP_QUICK, none, Status)                                  \
    X(SB_HTTP_GET, "runs", runs, SB_HTTP_QUICK, none, Runs)                                        \
    X(SB_HTTP_GET, "tags", tags, SB_HTTP_QUICK, none, Tags)                                        \
    X(SB_HTTP_GET, "changes", changes, SB_HTTP_QUICK, none, Changes)                               \
    X(SB_HTTP_POST, "summaries", summaries, SB_HTTP_POOLED, SummariesAsk, Summaries)               \
    X(SB_HTTP_POST, "scalars", scalars, SB_HTTP_POOLED, ScalarsAsk, Bytes)                         \
    X(SB_HTTP_POST, "measure", measure, SB_HTTP_POOLED, MeasureAsk, Measures)                      \
    X(SB_HTTP_POST, "bands", bands, SB_HTTP_POOLED, BandsAsk, Bytes)                               \
    X(SB_HTTP_POST, "histograms", histograms, SB_HTTP_POOLED, HistogramsAsk, Histograms)           \
    X(SB_HTTP_POST, "histograms/grids", histogram_grids, SB_HTTP_POOLED, GridsAsk, Bytes)          \
    X(SB_HTTP_GET, "histograms/export", histogram_export, SB_HTTP_POOLED, none, Bytes)             \
    X(SB_HTTP_GET, "text", text, SB_HTTP_POOLED, none, Texts)                                      \
    X(SB_HTTP_POST, "text/search", text_search, SB_HTTP_POOLED, TextSearchAsk, TextSearch)         \
    X(SB_HTTP_GET, "text/export", text_export, SB_HTTP_POOLED, none, Bytes)                        \
    X(SB_HTTP_GET, "images", images, SB_HTTP_POOLED, none, Media)                                  \
    X(SB_HTTP_GET, "audio", audio, SB_HTTP_POOLED, none, Clips)                                    \
    X(SB_HTTP_GET, "audio/picture", audio_picture, SB_HTTP_POOLED, none, ClipPicture)              \
    X(SB_HTTP_POST, "images", image_columns, SB_HTTP_POOLED, MediaAsk, Bytes)                      \
    X(SB_HTTP_POST, "audio", clip_columns, SB_HTTP_POOLED, MediaAsk, Bytes)                        \
    X(SB_HTTP_GET, "picture", picture, SB_HTTP_POOLED, none, Picture)                              \
    X(SB_HTTP_GET, "thumbnail", thumbnail, SB_HTTP_POOLED, none, Bytes)                            \
    X(SB_HTTP_GET, "compare", compare, SB_HTTP_POOLED, none, Comparison)                           \
    X(SB_HTTP_GET, "difference", difference, SB_HTTP_POOLED, none, Bytes)                          \
    X(SB_HTTP_POST, "sheet", sheet, SB_HTTP_POOLED, SheetAsk, Bytes)                               \
    X(SB_HTTP_GET, "graphs", graphs, SB_HTTP_POOLED, none, Graphs)                                 \
    X(SB_HTTP_POST, "graph/draw", graph_draw, SB_HTTP_POOLED, GraphDrawAsk, GraphDrawing)          \
    X(SB_HTTP_POST, "graph/node", graph_node, SB_HTTP_POOLED, GraphNodeAsk, GraphNode)             \
    X(SB_HTTP_POST, "graph/find", graph_find, SB_HTTP_POOLED, GraphFindAsk, GraphFound)            \
    X(SB_HTTP_POST, "graph/path", graph_path, SB_HTTP_POOLED, GraphPathAsk, GraphPath)             \
    X(SB_HTTP_GET, "profile/captures", profile_captures, SB_HTTP_POOLED, none, ProfileCaptures)    \
    X(SB_HTTP_POST, "profile/open", profile_open, SB_HTTP_POOLED, ProfileOpenAsk, ProfileOpened)   \
    X(SB_HTTP_GET, "profile/tracks", profile_tracks, SB_HTTP_POOLED, none, ProfileTracks)          \
    X(SB_HTTP_GET, "profile/names", profile_names, SB_HTTP_POOLED, none, ProfileNames)             \
    X(SB_HTTP_POST, "profile/slices", profile_slices, SB_HTTP_POOLED, ProfileWindowAsk, Bytes)     \
    X(SB_HTTP_POST, "profile/counters", profile_counters, SB_HTTP_POOLED, ProfileWindowAsk, Bytes) \
    X(SB_HTTP_GET, "profile/slice", profile_slice, SB_HTTP_POOLED, none, ProfileSlice)             \
    X(SB_HTTP_POST, "profile/flows", profile_flows, SB_HTTP_POOLED, ProfileFlowsAsk, ProfileFlows) \
    X(SB_HTTP_POST, "profile/totals", profile_totals, SB_HTTP_POOLED, ProfileTotalsAsk,            \
      ProfileTotals)                                                                               \
    X(SB_HTTP_GET, "profile/search", profile_search, SB_HTTP_POOLED, none, ProfileFound)           \
    X(SB_HTTP_GET, "profile/overview", profile_overview, SB_HTTP_POOLED, none, ProfileOverview)    \
    X(SB_HTTP_GET, "profile/operators", profile_operators, SB_HTTP_POOLED, none, ProfileOps)       \
    X(SB_HTTP_GET, "profile/kernels", profile_kernels, SB_HTTP_POOLED, none, ProfileKernels)       \
    X(SB_HTTP_GET, "profile/memory", profile_memory, SB_HTTP_POOLED, none, ProfileMemory)          \
    X(SB_HTTP_GET, "profile/input", profile_input, SB_HTTP_POOLED, none, ProfileInput)             \
    X(SB_HTTP_GET, "profile/modules", profile_modules, SB_HTTP_POOLED, none, ProfileModules)       \
    X(SB_HTTP_GET, "profile/distributed", profile_distributed, SB_HTTP_POOLED, none,               \
      ProfileDistributed)                                                                          \
    X(SB_HTTP_GET, "profile/difference", profile_difference, SB_HTTP_POOLED, none,                 \
      ProfileDifference)                                                                           \
    X(SB_HTTP_GET, "profile/path", profile_path, SB_HTTP_POOLED, none, ProfilePath)                \
    X(SB_HTTP_GET, "profile/waits", profile_waits, SB_HTTP_POOLED, none, ProfileWaits)             \
    X(SB_HTTP_GET, "profile/csv", profile_csv, SB_HTTP_POOLED, none, Bytes)                        \
    X(SB_HTTP_GET, "blob", blob, SB_HTTP_POOLED, none, Bytes)                                      \
    X(SB_HTTP_GET, "export", export, SB_HTTP_POOLED, none, Bytes)                                  \
    X(SB_HTTP_GET, "jobs", jobs, SB_HTTP_POOLED, none, Jobs)                                       \
    X(SB_HTTP_POST, "jobs", submit_job, SB_HTTP_POOLED, JobAsk, JobReply)                          \
    X(SB_HTTP_GET, "job", job, SB_HTTP_POOLED, none, JobReply)                                     \
    X(SB_HTTP_DELETE, "job", cancel_job, SB_HTTP_POOLED, none, JobCancelled)                       \
    X(SB_HTTP_GET, "job/result", job_result, SB_HTTP_POOLED, none, Bytes)                          \
    X(SB_HTTP_GET, "state", state, SB_HTTP_POOLED, none, People)                                   \
    X(SB_HTTP_PATCH, "state", change_state, SB_HTTP_POOLED, StateChange, StateChanged)

#define SB_API_DECLARE(method, path, name, how, ask, reply)                                        \
    sb_status sb_api_##name(sb_http_request *q, sb_http_reply *r, void *app);
SB_API_MAP(SB_API_DECLARE)
#undef SB_API_DECLARE

/* Takes a file, not JSON, and a larger one than other routes: its row is in routes.c. */
#define SB_MOST_GRAPH_FILE ((size_t)256 << 20)
sb_status sb_api_graph_file(sb_http_request *q, sb_http_reply *r, void *app);

/* A row of the route table in routes.c. */
#define SB_API_ROUTE(method, below, name, run_how, ask, reply)                                     \
    {.methods = (method), .path = "/api/v1/" below, .run = sb_api_##name, .how = (run_how)},

/* ---- answers --------------------------------------------------------------------------------- */

/* An error that has more than a code and a message: these two are written, the caller adds the
 * rest. */
void sb_api_begin_error(sb_json *j, sb_http_reply *r, int status, const char *code,
                        const char *message);
sb_status sb_api_end_error(sb_json *j, sb_http_reply *r);

sb_status sb_api_fail(sb_http_reply *r, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The error page of paths below /api: for requests that the HTTP layer refuses and for statuses
 * that handlers return. */
void sb_api_error_page(sb_http_reply *r, int status, const char *text);

/* The store's version, said in the answer's header with the server's instance. Every handler calls
 * this (or sb_api_begin) before it looks at the data: a change that comes meanwhile is then told
 * again by `changes`. Read after the data, the version would hide that change for ever. */
uint64_t sb_api_version(sb_http_reply *r, const sb_app *app);
/* How our JSON is written. */
extern const sb_json_opts sb_api_json;
/* A JSON answer: begins the outer object with the version, ends it. An error that is found later
 * replaces what was begun. */
uint64_t sb_api_begin(sb_json *j, sb_http_reply *r, const sb_app *app);
sb_status sb_api_end(sb_json *j, sb_http_reply *r);

/* A step as JSON: a number, or a text where a double cannot represent it. */
void sb_api_step(sb_json *j, int64_t step);

/* The request's deadline as a budget for queries. */
sb_budget sb_api_budget(const sb_http_request *q);

/* ---- requests -------------------------------------------------------------------------------- */

/* The body of the request as a JSON object, released with json_decref; NULL when it is not one, and
 * the reply says so. */
json_t *sb_api_body(sb_http_request *q, sb_http_reply *r);

/* All runs, to be found by id. */
typedef struct sb_run_index {
    sb_runs all; /* in order of (start, name) */
    sb_run **by_id;
    uint32_t *ids;
} sb_run_index;
sb_status sb_api_take_runs(sb_run_index *out, sb_http_request *q, sb_app *app);
void sb_api_release_runs(sb_run_index *runs);
/* NULL: there is no such run. The caller does not get a reference. */
sb_run *sb_api_find_run(const sb_run_index *runs, uint32_t id);

/* Appends a run as the runs route describes it. */
void sb_api_add_run(sb_json *j, const sb_app *app, sb_run *run);
/* Appends "loading": {...}. */
void sb_api_add_loading(sb_json *j, sb_app *app);

#endif
