/* negotiate.h: what a client asks of a body: coding, part, whether it has it already.
 *
 * Rules of RFC 9110. A malformed header is ignored, which the RFC allows; no function fails.
 * Threads: none. Cost: one pass over the header, no memory. */
#ifndef SB_SERVER_HTTP_NEGOTIATE_H
#define SB_SERVER_HTTP_NEGOTIATE_H

#include <stdbool.h>

#include "seaboard/types.h"

typedef enum sb_coding {
    SB_CODING_IDENTITY = 0,
    SB_CODING_GZIP = 1,
    SB_CODING_ZSTD = 2,
    SB_CODING_BR = 4,
} sb_coding;

/* The best of the codings in offered (a sum) by Accept-Encoding's q-values; among equals br, zstd,
 * gzip, in this order. Identity when nothing offered is acceptable, and when the header is
 * absent. */
sb_coding sb_accept_coding(sb_slice accept_encoding, unsigned offered);

/* The name as Content-Encoding spells it; NULL for identity. */
const char *sb_coding_name(sb_coding coding);

/* Does If-None-Match name this entity? Weak comparison, "*" matches all. */
bool sb_etag_matches(sb_slice if_none_match, sb_slice name);
/* Does If-Range hold for this entity? Strong comparison; a date never holds, an absent header does.
 */
bool sb_if_range_holds(sb_slice if_range, sb_slice name);

typedef enum sb_range {
    SB_RANGE_WHOLE, /* none asked for, or several, or nonsense: send all */
    SB_RANGE_PART,
    SB_RANGE_OUTSIDE, /* 416 */
} sb_range;

/* One range of a body of size bytes; for SB_RANGE_PART *first and *n are set, n at least 1. */
sb_range sb_range_parse(sb_slice header, uint64_t size, uint64_t *first, uint64_t *n);

/* Do bytes of this content type usually become smaller when they are compressed? */
bool sb_type_compresses(const char *content_type);
/* Is it this type, whatever parameters follow? */
bool sb_type_is(const char *content_type, const char *type);

#define SB_HTTP_DATE_SIZE 30
/* "Sun, 06 Nov 1994 08:49:37 GMT" for seconds since the epoch. */
void sb_http_date(char out[SB_HTTP_DATE_SIZE], uint64_t seconds);

#endif
