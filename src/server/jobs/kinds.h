/* kinds.h: every kind of background job: one row of a table, and a file for its function.
 *
 * The context of a run function is the application (app_int.h). */
#ifndef SB_SERVER_JOBS_KINDS_H
#define SB_SERVER_JOBS_KINDS_H

#include "base/slice.h"
#include "server/jobs/jobs.h"

/* NULL: there is no such kind. */
const sb_job_kind *sb_job_kind_find(sb_slice name);

/* export.c: every point of the wanted runs and tags as CSV or JSON, without the limits of a reply.
 * Arguments: {"runs": [names], "tags": [tags], "format": "csv" or "json", "superseded": true}; all
 * may be left out. */
sb_status sb_export_job_check(sb_slice args, sb_err *err);
sb_status sb_export_job_run(sb_job *job, void *app, sb_err *err);

/* graph.c: a drawing of a graph that is too large for a request, to be read or to be laid out.
 * Afterwards other questions about the graph are answered at once. Arguments: those of graph/draw;
 * all but "source" may be left out. */
sb_status sb_graph_job_check(sb_slice args, sb_err *err);
sb_status sb_graph_job_run(sb_job *job, void *app, sb_err *err);
sb_status sb_graph_job_key(sb_slice args, void *app, sb_buf *key, sb_err *err);

/* profile.c: parses a capture into memory (profiles.h). Arguments: {"capture": its id}. */
sb_status sb_profile_job_check(sb_slice args, sb_err *err);
sb_status sb_profile_job_run(sb_job *job, void *app, sb_err *err);

/* profile_trace.c: an open capture as a Chrome trace. Arguments: {"capture": its id, "from", "to":
 * picoseconds}; the range may be left out. */
sb_status sb_profile_trace_job_check(sb_slice args, sb_err *err);
sb_status sb_profile_trace_job_run(sb_job *job, void *app, sb_err *err);

#endif
