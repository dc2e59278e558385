/* profile_tools.h: the tools of XProf that have an answer here: each writes the whole reply. Where
 * `csv`, the name of a file, is not empty, the reply is the first table as CSV. */
#ifndef SB_SERVER_COMPAT_PROFILE_TOOLS_H
#define SB_SERVER_COMPAT_PROFILE_TOOLS_H

#include "profile/analysis/analysis.h"
#include "server/compat/compat.h"

#define SB_PROFILE_TOOL(name)                                                                      \
    sb_status sb_compat_profile_##name(sb_http_request *q, sb_http_reply *r, const sb_analysis *a, \
                                       sb_slice csv)

typedef sb_status sb_profile_tool(sb_http_request *q, sb_http_reply *r, const sb_analysis *a,
                                  sb_slice csv);

/* profile_overview.c */
SB_PROFILE_TOOL(overview);
/* profile_trace.c */
SB_PROFILE_TOOL(trace);
/* profile_ops.c */
SB_PROFILE_TOOL(framework_ops);
/* profile_kernels.c */
SB_PROFILE_TOOL(kernels);
/* profile_memory.c */
SB_PROFILE_TOOL(memory);

/* Is it an operator? What only names other spans, as a step does, is none. (profile_ops.c) */
bool sb_compat_profile_is_op(const sb_op_row *o);
/* What kind of operator it is: the last part of its path, without the number that makes it unique;
 * "jit(f)/sort.3" is a sort. (profile_ops.c) */
sb_slice sb_compat_profile_op_type(const sb_op_row *o, sb_slice name);
/* Does the request want this source? `hosts` or `host` of its query; none and ALL_HOSTS: all. */
bool sb_compat_profile_wants(sb_http_request *q, const sb_trace *t, uint32_t source);

#endif
