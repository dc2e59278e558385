/* json_scan.h: a tolerant JSON tokenizer over bytes in memory, for traces. It builds no tree and
 * allocates nothing.
 *
 * Values are slices of the text. Text that ends inside a value is told apart from malformed text,
 * so that the caller can load more and try again. Real traces contain unescaped quotes, control
 * characters, invalid UTF-8 and bare words such as N/A: these are accepted as they are, and
 * counted in `repaired`. Inside the layer only. */
#ifndef SB_PROFILE_JSON_SCAN_H
#define SB_PROFILE_JSON_SCAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

typedef enum sb_scan_step { SB_SCAN_OK, SB_SCAN_END, SB_SCAN_MORE, SB_SCAN_BAD } sb_scan_step;

typedef struct sb_scan {
    const uint8_t *p, *end;
    bool is_last; /* the file ends at `end`: there is no more text to wait for */
    uint32_t repaired;
} sb_scan;

typedef enum sb_scan_kind {
    SB_SCAN_TEXT,   /* a string without its quotes; escapes are not resolved */
    SB_SCAN_NUMBER, /* a number, or a bare word such as true, false, null */
    SB_SCAN_OBJECT,
    SB_SCAN_ARRAY,
} sb_scan_kind;

typedef struct sb_scan_value {
    sb_scan_kind kind;
    bool has_escapes;
    sb_slice raw; /* the text of the value; of objects and arrays with the brackets */
} sb_scan_value;

/* Scans one whole value. */
sb_scan_step sb_scan_value_next(sb_scan *s, sb_scan_value *out);
/* Scans the next member of an object. For the first call *first is true and the position is at the
 * '{'. SB_SCAN_END: the object has no more members. */
sb_scan_step sb_scan_member(sb_scan *s, bool *first, sb_slice *key, sb_scan_value *value);
/* Scans only the key of the next member, up to the beginning of its value. */
sb_scan_step sb_scan_key(sb_scan *s, bool *first, sb_slice *key);
void sb_scan_blank(sb_scan *s);

/* Appends a string with its escapes resolved. */
void sb_scan_unescape(sb_buf *out, sb_slice raw);
/* Appends a value as valid JSON, with what was wrong in it repaired. */
void sb_scan_rewrite(sb_buf *out, const sb_scan_value *value, int depth);

/* Parses a number, with or without quotes. false: it is not a number. */
bool sb_scan_int(sb_slice raw, int64_t *out);
bool sb_scan_uint(sb_slice raw, uint64_t *out);
/* Parses decimal microseconds without rounding, into whole microseconds and the picoseconds below
 * one. Of negative numbers both are negative or zero. false: it is not a number, or it is too
 * large. */
bool sb_scan_micros(sb_slice raw, int64_t *micros, int64_t *picos);

#endif
