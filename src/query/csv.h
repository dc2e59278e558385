/* csv.h: fields of comma-separated files, as RFC 4180 and Python's csv have them. */
#ifndef SB_QUERY_CSV_H
#define SB_QUERY_CSV_H

#include "base/buf.h"
#include "seaboard/types.h"

/* Appends a text, in quotes when it holds a comma, a quote or the end of a line. */
void sb_csv_add_text(sb_buf *out, sb_slice text);
/* Appends a text in quotes. */
void sb_csv_add_quoted(sb_buf *out, sb_slice text);

#endif
