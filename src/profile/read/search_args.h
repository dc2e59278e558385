/* search_args.h: finds the spans whose arguments contain a text. Inside the layer only. */
#ifndef SB_PROFILE_SEARCH_ARGS_H
#define SB_PROFILE_SEARCH_ARGS_H

#include "profile/trace/totals.h"

typedef SB_VEC(sb_found_span) sb_found_list;

/* Appends the spans whose arguments contain the text and whose names are not marked. Reads each
 * file once, to its end. SB_TIMEOUT: the request has expired. SB_REPLACED: a file has changed
 * since it was read. */
sb_status sb_search_args(const sb_trace *t, const sb_search_ask *ask, const uint8_t *marks,
                         sb_found_list *out, sb_err *err);

#endif
