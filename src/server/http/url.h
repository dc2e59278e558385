/* url.h: percent encoding, paths and query strings.
 *
 * A path is decoded exactly once, and what is left must be plain: whatever could mean something to
 * a second decoder or to a file system ('%', ';', '\', control characters, "." and ".." as a part,
 * bytes that are not UTF-8) is refused, not repaired.
 *
 * A query is taken as Werkzeug takes it, which TensorBoard's routes stand on: '&' separates, the
 * first '=' ends the key, '+' is a space, a '%' without two hex digits stays as it is, and a
 * decoded byte that is not UTF-8 comes back as its escape ("%FF").
 *
 * Threads: none. Cost: one pass, results in the arena given. */
#ifndef SB_SERVER_HTTP_URL_H
#define SB_SERVER_HTTP_URL_H

#include "server/http/http.h"

/* Splits "path?query" (a '#' and what follows is refused: clients do not send it). */
sb_status sb_url_split(sb_slice target, sb_slice *path, sb_slice *query, sb_err *err);

/* raw must begin with '/'; several at the front count as one. SB_INVALID for what is refused. */
sb_status sb_url_path(sb_arena *arena, sb_slice raw, sb_slice *out, sb_err *err);

/* SB_INVALID for raw bytes that are not UTF-8, SB_LIMIT for more than max_params. */
sb_status sb_url_params(sb_arena *arena, sb_slice raw, size_t max_params, sb_http_params *out,
                        sb_err *err);

/* Appends a path with all but unreserved characters, "/" and a few harmless marks escaped. */
void sb_url_add_path(sb_buf *out, sb_slice path);
/* Appends a value of a query, with all but unreserved characters and "/" escaped. */
void sb_url_add_value(sb_buf *out, sb_slice value);

/* Appends a raw query without those pairs whose decoded key is `key`. */
void sb_url_add_query_without(sb_buf *out, sb_arena *arena, sb_slice raw, sb_slice key);

/* -1 for a character that is no hex digit. */
int sb_url_hex(uint8_t c);

#endif
