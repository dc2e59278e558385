/* regex.h: regular expressions from a client, with a bound on what they may cost.
 *
 * The dialect is PCRE2's in Unicode mode, which for what people write into a filter is Python's. A
 * pattern that would run for ages (nested repetitions) gives up with SB_LIMIT. Threads: a compiled
 * pattern belongs to one thread. Cost: as PCRE2; at most about ten million steps a call. */
#ifndef SB_QUERY_REGEX_H
#define SB_QUERY_REGEX_H

#include <stdbool.h>

#include "base/status.h"
#include "seaboard/types.h"

typedef struct sb_regex sb_regex;

/* SB_INVALID with the reason when it is no regular expression, or longer than 16 KiB. */
sb_status sb_regex_new(sb_regex **out, sb_slice pattern, sb_err *err);
void sb_regex_free(sb_regex *regex);

/* Does it match somewhere in the text, or (at_start) at its beginning? SB_OK, SB_NOT_FOUND,
 * SB_LIMIT, SB_NOMEM. */
sb_status sb_regex_match(sb_regex *regex, sb_slice text, bool at_start, sb_err *err);

#endif
