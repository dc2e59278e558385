/* one_series.h: what the routes share that show points kept in the log (histograms, texts, images,
 * clips, bytes): the series that a query names, and the head of a point. */
#ifndef SB_SERVER_API_ONE_SERIES_H
#define SB_SERVER_API_ONE_SERIES_H

#include "query/records/refs.h"
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

/* ---- blobs ----------------------------------------------------------------------------------- */

/* Appends the path of a blob, relative to api/v1/: it names the value and, by offset and checksum
 * (`at`), its exact bytes, so that clients may cache it for ever. */
void sb_api_add_blob_path(sb_json *j, sb_http_request *q, const sb_series *series,
                          const sb_ref_item *item, uint32_t index);
/* The item at a step. SB_END: the log has other bytes there than `at` of the query says, and the
 * reply is 410. */
sb_status sb_api_find_blob(sb_http_request *q, sb_http_reply *r, const sb_series *series,
                           int64_t step, sb_ref_item *out);
/* The payload of its record, in the request's arena; SB_END and SB_LIMIT as below. */
sb_status sb_api_read_record(sb_http_request *q, sb_http_reply *r, sb_app *app,
                             const sb_series *series, const sb_ref_item *item, size_t max_bytes,
                             sb_slice *payload);
/* A blob of it, in the request's arena. SB_END: it is not there any more, and the reply is 410.
 * SB_LIMIT: its record is larger than max_bytes. */
sb_status sb_api_read_blob(sb_http_request *q, sb_http_reply *r, sb_app *app,
                           const sb_series *series, const sb_ref_item *item, uint32_t index,
                           size_t max_bytes, sb_slice *out);

#endif
