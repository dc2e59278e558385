/* form.c: learning a form. What one is and why it is exact is in form.h. */
#include "codec/form.h"

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/tensor_int.h"
#include "base/banned.h"

#define KEY(number, wire) ((number) << 3 | (wire))

_Static_assert(KEY(SB_EVENT_WALL_TIME, SB_PB_FIXED64) == 0x09, "form.h names it");
_Static_assert(KEY(SB_EVENT_STEP, SB_PB_VARINT) == 0x10, "form.h names it");

/* The bytes of a field that must come next and fill the rest. */
static bool rest_is(sb_pb *c, uint32_t number) {
    sb_pb_field f;
    if (sb_pb_next(c, &f) != SB_PB_FIELD || f.number != number || f.wire != SB_PB_BYTES ||
        c->p != c->end)
        return false;
    *c = sb_pb_over(f.bytes);
    return true;
}

/* Where the number of a value is: its only member of the oneof, each other field at most once. */
static const uint8_t *find_number(sb_pb c, uint16_t *size) {
    const uint8_t *number = NULL;
    uint32_t seen = 0;
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number > SB_VALUE_METADATA || seen >> f.number & 1) return NULL;
        seen |= 1u << f.number;
        if (f.number == SB_VALUE_TAG || f.number == SB_VALUE_METADATA) {
            if (f.wire != SB_PB_BYTES) return NULL;
            continue;
        }
        if (number) return NULL;
        if (f.number == SB_VALUE_SIMPLE_VALUE && f.wire == SB_PB_FIXED32) {
            number = c.p - 4;
            *size = 4;
        } else if (f.number == SB_VALUE_TENSOR && f.wire == SB_PB_BYTES) {
            sb_dtype dtype;
            size_t at = sb_tensor_usual_scalar(f.bytes, &dtype);
            if (!at) return NULL;
            number = f.bytes.p + at;
            *size = dtype == SB_FLOAT ? 4 : 8;
        } else {
            return NULL;
        }
    }
    return step == SB_PB_END ? number : NULL;
}

/* Pieces of a length that sb_form_same can compare. */
static bool fits(size_t piece) {
    return piece == 0 || piece >= 8;
}

bool sb_form_learn(sb_form *out, sb_slice payload) {
    out->n = 0;
    sb_pb c = sb_pb_over(payload);
    sb_pb_field f;
    if (payload.n < SB_FORM_TIME || *c.p != KEY(SB_EVENT_WALL_TIME, SB_PB_FIXED64)) return false;
    c.p += SB_FORM_TIME;
    if (c.p < c.end && *c.p == KEY(SB_EVENT_STEP, SB_PB_VARINT) &&
        sb_pb_next(&c, &f) != SB_PB_FIELD)
        return false;
    const uint8_t *body = c.p;
    size_t n = (size_t)(c.end - body);
    if (n > SB_FORM_MOST || !rest_is(&c, SB_EVENT_SUMMARY) || !rest_is(&c, SB_SUMMARY_VALUE))
        return false;
    uint16_t size = 0;
    const uint8_t *number = find_number(c, &size);
    if (!number) return false;
    size_t at = (size_t)(number - body);
    if (!fits(at) || !fits(n - at - size)) return false;
    memcpy(out->bytes, body, n);
    out->number_at = (uint16_t)at;
    out->size = size;
    out->n = (uint16_t)n;
    return true;
}
