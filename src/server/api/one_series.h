/* one_series.h: what the routes share that show points kept in the log (histograms, texts, images,
 * clips, bytes): the series that a query names, and the head of a point. */
#ifndef SB_SERVER_API_ONE_SERIES_H
#define SB_SERVER_API_ONE_SERIES_H

#include "server/api/api.h"

#define SB_MAX_SMALL_RECORD ((size_t)16 << 20) /* of histograms and texts */

/* A whole number from the query, `otherwise` when it is not there; false when it is no number. */
bool sb_api_query_number(sb_http_request *q, const char *key, uint64_t otherwise, uint64_t *out);

/* The series that ?run=ID&tag=T names, released by the caller. SB_END: there is none, and the reply
 * says so. */
sb_status sb_api_take_series(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_series *out);

/* Adds "step" and "wall" to a point's object. */
void sb_api_add_point_head(sb_json *j, int64_t step, double wall);
/* Adds "error" in place of data that can't be read; nothing for SB_OK. */
void sb_api_add_point_error(sb_json *j, sb_status status);

#endif
