/* json.h: JSON written straight into a buffer, one call per value; no tree in between.
 *
 *     sb_json j;
 *     sb_json_init(&j, &out, &(sb_json_opts){.spaced = true});
 *     sb_json_begin_object(&j);
 *     sb_json_key(&j, SB_LIT("step"));
 *     sb_json_int(&j, 7);
 *     sb_json_end_object(&j);
 *     return sb_json_finish(&j, "the reply", err);
 *
 * Commas, colons, quotes and indentation are the writer's. With spaced set and the rest left out
 * the bytes are those of Python's json.dumps, but for NaN and infinities: there the default is
 * TensorBoard's, which quotes them. Text that is not UTF-8 is repaired, so that the result is
 * always valid (unless the bare spelling is asked for or a raw piece is not).
 *
 * Failures stay in the buffer, as for every append; look at the end. A call that makes no sense
 * where it stands (a value without its key, an end that matches no begin) is a mistake of the
 * program and fails an assertion. Threads: a writer belongs to one thread. Cost: about a
 * nanosecond for eight bytes of plain text, what number.h says for numbers. */
#ifndef SB_BASE_TEXT_JSON_H
#define SB_BASE_TEXT_JSON_H

#include <stdbool.h>

#include "base/buf.h"

/* Deeper nesting is SB_LIMIT in the buffer. */
#define SB_JSON_MAX_DEPTH 256

typedef enum sb_json_nonfinite {
    SB_JSON_QUOTED, /* "NaN", "Infinity", "-Infinity": what TensorBoard's front end takes */
    SB_JSON_BARE,   /* NaN, Infinity, -Infinity: Python's own, not JSON */
    SB_JSON_NULL,
} sb_json_nonfinite;

typedef struct sb_json_opts {
    bool spaced;    /* ", " and ": "; else "," and ":" */
    bool utf8;      /* text beyond ASCII as it is; else \uXXXX in lower case */
    uint8_t indent; /* spaces per level, one item per line, as json.dumps(indent=); 0: all in one
                       line */
    sb_json_nonfinite nonfinite;
} sb_json_opts;

typedef struct sb_json {
    sb_buf *out;
    sb_json_opts opts;
    uint32_t depth;
    bool any;                                 /* something stands before in this object or array */
    bool has_key;                             /* the key is written, its value is awaited */
    uint64_t objects[SB_JSON_MAX_DEPTH / 64]; /* one bit a level: object or array */
} sb_json;

/* opts may be NULL: compact, ASCII, quoted. out is borrowed until finish. */
void sb_json_init(sb_json *j, sb_buf *out, const sb_json_opts *opts);
/* All that was begun has ended, one value was written. What sb_buf_check says of the buffer. */
sb_status sb_json_finish(const sb_json *j, const char *what, sb_err *err);

void sb_json_begin_object(sb_json *j);
void sb_json_end_object(sb_json *j);
void sb_json_begin_array(sb_json *j);
void sb_json_end_array(sb_json *j);

/* In an object each value comes after its key. That keys differ is for the caller to see to. */
void sb_json_key(sb_json *j, sb_slice name);
void sb_json_key_str(sb_json *j, const char *name);

void sb_json_text(sb_json *j, sb_slice text);
void sb_json_str(sb_json *j, const char *text);
void sb_json_int(sb_json *j, int64_t x);
void sb_json_uint(sb_json *j, uint64_t x);
void sb_json_double(sb_json *j, double x);
/* The digits of a float. TensorBoard widens to double first: for its routes use sb_json_double. */
void sb_json_float(sb_json *j, float x);
void sb_json_bool(sb_json *j, bool x);
void sb_json_null(sb_json *j);
/* One value that is JSON already, taken as it is. */
void sb_json_raw(sb_json *j, sb_slice json);

/* A key and its value. */
static inline void sb_json_put_text(sb_json *j, const char *key, sb_slice text) {
    sb_json_key_str(j, key);
    sb_json_text(j, text);
}
static inline void sb_json_put_str(sb_json *j, const char *key, const char *text) {
    sb_json_key_str(j, key);
    sb_json_str(j, text);
}
static inline void sb_json_put_int(sb_json *j, const char *key, int64_t x) {
    sb_json_key_str(j, key);
    sb_json_int(j, x);
}
static inline void sb_json_put_uint(sb_json *j, const char *key, uint64_t x) {
    sb_json_key_str(j, key);
    sb_json_uint(j, x);
}
static inline void sb_json_put_double(sb_json *j, const char *key, double x) {
    sb_json_key_str(j, key);
    sb_json_double(j, x);
}
static inline void sb_json_put_bool(sb_json *j, const char *key, bool x) {
    sb_json_key_str(j, key);
    sb_json_bool(j, x);
}
/* A key, and the array or the object behind it, which begins. */
static inline void sb_json_open_array(sb_json *j, const char *key) {
    sb_json_key_str(j, key);
    sb_json_begin_array(j);
}
static inline void sb_json_open_object(sb_json *j, const char *key) {
    sb_json_key_str(j, key);
    sb_json_begin_object(j);
}
/* A key, and a number or null. */
static inline void sb_json_put_int_or_null(sb_json *j, const char *key, int64_t x, bool is_known) {
    sb_json_key_str(j, key);
    if (is_known)
        sb_json_int(j, x);
    else
        sb_json_null(j);
}

/* Appends text with its quotes and escapes, outside of any writer. */
void sb_json_quote(sb_buf *out, sb_slice text, bool utf8);

#endif
