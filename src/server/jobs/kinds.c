/* kinds.c: the table of all kinds of background jobs. */
#include "server/jobs/kinds.h"

#include "base/banned.h"

static const sb_job_kind kinds[] = {
    {"export", sb_export_job_check, sb_export_job_run, NULL},
    {"graph", sb_graph_job_check, sb_graph_job_run, sb_graph_job_key},
    {"profile", sb_profile_job_check, sb_profile_job_run, NULL},
    {"profile_trace", sb_profile_trace_job_check, sb_profile_trace_job_run, NULL},
};

const sb_job_kind *sb_job_kind_find(sb_slice name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (sb_slice_eq(name, sb_slice_str(kinds[i].name))) return &kinds[i];
    return NULL;
}
