/* export_text.h: scalar points as text, exactly as they were logged.
 *
 *   csv    run,tag,step,wall_time,value      numbers with the fewest digits that read back the same
 *   json   one array, one object per line; NaN and infinities are texts: "NaN", "Infinity",
 *          "-Infinity"
 *
 * Call sb_export_text_begin, for every series sb_export_text_series and then sb_export_text_points
 * as often as needed, and sb_export_text_end. The caller may empty the buffer between any two
 * calls, so that any amount streams. What fails is kept in the buffer's `failed`.
 *
 * Cost: about 100 ns per point. */
#ifndef SB_QUERY_EXPORT_TEXT_H
#define SB_QUERY_EXPORT_TEXT_H

#include "base/buf.h"

typedef struct sb_export_text {
    sb_buf *out;
    bool json;
    bool any;     /* a point was written */
    sb_buf names; /* run and tag of the series, as every line begins */
} sb_export_text;

void sb_export_text_begin(sb_export_text *x, sb_buf *out, bool json, const sb_alloc *alloc);
void sb_export_text_series(sb_export_text *x, sb_slice run, sb_slice tag);
void sb_export_text_points(sb_export_text *x, const int64_t *steps, const double *walls,
                           const double *values, size_t n);
/* Writes the end of the array and frees what the text holds. */
void sb_export_text_end(sb_export_text *x);

#endif
