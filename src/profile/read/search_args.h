/* search_args.h: spans whose arguments hold a text. Inside the layer only. */
#ifndef SB_PROFILE_SEARCH_ARGS_H
#define SB_PROFILE_SEARCH_ARGS_H

#include "profile/trace/totals.h"

typedef SB_VEC(sb_found_span) sb_found_list;

/* Appends those whose names are not marked. The files are read through once. SB_TIMEOUT;
 * SB_REPLACED: a file was changed since. */
sb_status sb_search_args(const sb_trace *t, const sb_search_ask *ask, const uint8_t *marks,
                         sb_found_list *out, sb_err *err);

#endif
