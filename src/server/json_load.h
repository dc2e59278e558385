/* json_load.h: JSON that clients send, with a bound on what it takes in memory.
 *
 * A tree of small values is forty times as large as its text, so what counts is how many values
 * there are. They are counted before anything is parsed. Threads: no state. Cost: one more pass
 * over the text. */
#ifndef SB_SERVER_JSON_LOAD_H
#define SB_SERVER_JSON_LOAD_H

#include <jansson.h>

#include "base/status.h"

#define SB_JSON_MOST_VALUES ((size_t)250000)

/* SB_INVALID: it is no JSON, and err says where; SB_LIMIT: it holds too many values. flags are
 * jansson's. The caller gives *out back with json_decref; it is NULL after a failure. */
sb_status sb_json_load(json_t **out, sb_slice text, size_t flags, sb_err *err);

#endif
