/* form.h: the fields of a form in a request's body.
 *
 * multipart/form-data (RFC 7578), as browsers send it:
 *
 *     --boundary CRLF  header lines CRLF  CRLF  bytes of the field CRLF  ...  --boundary--
 *
 * The whole body is in memory, so a part is a slice of it: nothing is copied but the names. Files
 * and text fields are treated alike; the content type of a part is not looked at. Threads: none.
 * Cost: one search for the boundary over the body. */
#ifndef SB_SERVER_HTTP_FORM_H
#define SB_SERVER_HTTP_FORM_H

#include "server/http/http.h"

/* By content type: the fields, or none for any other type. Slices of body or of the arena.
 * SB_INVALID for a damaged form, SB_LIMIT for more than max_fields. */
sb_status sb_form_parse(sb_arena *arena, sb_slice content_type, sb_slice body, size_t max_fields,
                        sb_http_params *out, sb_err *err);

/* The value of a parameter of a header like `form-data; name="x"`, unquoted, in the arena.
 * .p is NULL when there is none or it is damaged. */
sb_slice sb_form_header_param(sb_arena *arena, sb_slice header, const char *name);

#endif
