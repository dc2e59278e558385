/* profile_tools.h: the tools of XProf that have an answer here: each writes the whole reply. */
#ifndef SB_SERVER_COMPAT_PROFILE_TOOLS_H
#define SB_SERVER_COMPAT_PROFILE_TOOLS_H

#include "profile/analysis/analysis.h"
#include "server/compat/compat.h"

/* profile_trace.c */
sb_status sb_compat_profile_trace(sb_http_request *q, sb_http_reply *r, const sb_trace *t);
/* profile_overview.c */
sb_status sb_compat_profile_overview(sb_http_request *q, sb_http_reply *r, const sb_analysis *a);

#endif
