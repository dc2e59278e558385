/* form.h: an event that repeats an earlier one in all but its time, its step and its number.
 *
 * Logs of scalars are nothing else: the same tags with the same metadata, step after step. A form
 * is learned from one event by reading it field by field; whether another event is of the same form
 * is then a comparison of bytes, and its point is read from known places.
 *
 *   09 time | 10 step | 2a .. 0a .. tag, metadata and all else, with the number's bytes somewhere
 *   8 bytes | varint  | the form's bytes; all but the number's own must be the same
 *
 * Why that is exact: a form is only learned where the number is a fixed-size field of its own, so
 * that no value of these bytes can change how the others are read.
 *
 * Threads: no state.  Cost: learning is a pass over the event; reading a few words' compare. */
#ifndef SB_CODEC_FORM_H
#define SB_CODEC_FORM_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/slice.h"

#define SB_FORM_MOST 112 /* bytes; longer ones are not learned */
#define SB_FORM_TIME 9   /* what comes before the step: key and double */

typedef struct sb_form {
    uint16_t n;         /* bytes, from the summary's key to the end of the payload; 0: no form */
    uint16_t number_at; /* in them */
    uint16_t size;      /* of the number: 4, a float, or 8, a double */
    uint8_t bytes[SB_FORM_MOST];
} sb_form;

typedef struct sb_form_point {
    double wall_time;
    int64_t step;
    double number;
} sb_form_point;

/* False when the payload is not an event with one value that is a float or double scalar in a usual
 * shape; the form is then none. */
bool sb_form_learn(sb_form *out, sb_slice payload);

/* n is 0 or at least 8. */
static inline bool sb_form_same(const uint8_t *a, const uint8_t *b, size_t n) {
    if (n == 0) return true;
    uint64_t differs = sb_load64(a + n - 8) ^ sb_load64(b + n - 8);
    for (size_t i = 0; i + 8 < n; i += 8) differs |= sb_load64(a + i) ^ sb_load64(b + i);
    return differs == 0;
}

/* A step of at most 63 bits in exactly n bytes, which is how writers put it. */
static inline bool sb_form_step(const uint8_t *p, size_t n, int64_t *out) {
    uint64_t x = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (p[i] < 0x80) return false;
        x |= (uint64_t)(p[i] & 0x7F) << (7 * i);
    }
    if (p[n - 1] >= 0x80) return false;
    *out = (int64_t)(x | (uint64_t)p[n - 1] << (7 * (n - 1)));
    return true;
}

/* Is the payload of this form? Its point then. False also for rare ones of the form. */
static inline bool sb_form_read(const sb_form *f, sb_slice payload, sb_form_point *out) {
    const uint8_t *p = payload.p;
    if (f->n == 0 || payload.n < SB_FORM_TIME + (size_t)f->n || p[0] != 0x09) return false;
    size_t step_n = payload.n - SB_FORM_TIME - f->n; /* with its key; none: step 0 */
    out->step = 0;
    if (step_n) {
        if (step_n < 2 || step_n > 10 || p[SB_FORM_TIME] != 0x10) return false;
        if (!sb_form_step(p + SB_FORM_TIME + 1, step_n - 1, &out->step)) return false;
    }
    const uint8_t *body = p + SB_FORM_TIME + step_n;
    size_t behind = (size_t)f->number_at + f->size;
    if (!sb_form_same(body, f->bytes, f->number_at) ||
        !sb_form_same(body + behind, f->bytes + behind, f->n - behind))
        return false;
    const uint8_t *number = body + f->number_at;
    out->wall_time = sb_bits_double(sb_load64(p + 1));
    out->number =
        f->size == 4 ? (double)sb_bits_float(sb_load32(number)) : sb_bits_double(sb_load64(number));
    return true;
}

#endif
