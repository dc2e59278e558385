/* json_scan.h: a tolerant JSON tokenizer over bytes in memory, for traces: no tree, no allocation.
 *
 * Values are slices of the text. Text that ends inside a value is told apart from text that is
 * wrong, so that the caller can fetch more and try again. Real traces hold quotes that nobody
 * escaped, control characters, bytes that are no UTF-8 and words such as N/A: these are taken as
 * they are and counted in `repaired`. Inside the layer only. */
#ifndef SB_PROFILE_JSON_SCAN_H
#define SB_PROFILE_JSON_SCAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

typedef enum sb_scan_step { SB_SCAN_OK, SB_SCAN_END, SB_SCAN_MORE, SB_SCAN_BAD } sb_scan_step;

typedef struct sb_scan {
    const uint8_t *p, *end;
    bool is_last; /* nothing follows behind `end` */
    uint32_t repaired;
} sb_scan;

typedef enum sb_scan_kind {
    SB_SCAN_TEXT,   /* without its quotes; escapes are still in it */
    SB_SCAN_NUMBER, /* or true, false, null and other words */
    SB_SCAN_OBJECT,
    SB_SCAN_ARRAY,
} sb_scan_kind;

typedef struct sb_scan_value {
    sb_scan_kind kind;
    bool has_escapes;
    sb_slice raw; /* of objects and arrays with their brackets */
} sb_scan_value;

/* One whole value from here on. */
sb_scan_step sb_scan_value_next(sb_scan *s, sb_scan_value *out);
/* Members of an object: the first call with *first true stands at the '{'. SB_SCAN_END: the object
 * is over. */
sb_scan_step sb_scan_member(sb_scan *s, bool *first, sb_slice *key, sb_scan_value *value);
/* Only the key, up to the value. */
sb_scan_step sb_scan_key(sb_scan *s, bool *first, sb_slice *key);
void sb_scan_blank(sb_scan *s);

/* A text with its escapes resolved. */
void sb_scan_unescape(sb_buf *out, sb_slice raw);
/* A value again as valid JSON. */
void sb_scan_rewrite(sb_buf *out, const sb_scan_value *value, int depth);

/* Numbers as they stand in traces, also within quotes. false: it is none. */
bool sb_scan_int(sb_slice raw, int64_t *out);
bool sb_scan_uint(sb_slice raw, uint64_t *out);
/* Decimal microseconds as picoseconds, exactly: whole microseconds and picoseconds below one.
 * Negative numbers count down from zero. false: it is no number, or too large. */
bool sb_scan_micros(sb_slice raw, int64_t *micros, int64_t *picos);

#endif
