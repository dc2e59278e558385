/* pixel_rules.c: one small loop for every element type and every framework's rule. The loops differ
 * only in how an element is loaded and how a number becomes a byte, so a macro generates them. Each
 * has a contiguous form, which the compiler vectorises, and a strided one for layouts that must be
 * transposed. Comparisons are written so that NaN becomes 0. */
#include <string.h>

#include "base/half.h"
#include "media/pixels_int.h"
#include "base/banned.h"

static inline uint8_t clip_float(float x) {
    return x > 0.0f ? (x < 255.0f ? (uint8_t)x : 255) : 0;
}

static inline uint8_t clip_double(double x) {
    return x > 0.0 ? (x < 255.0 ? (uint8_t)x : 255) : 0;
}

/* TensorFlow multiplies in the element's own type, so 255.5 and the product are rounded to it; in
 * bfloat16 255.5 itself becomes 256. The float products below are exact before that rounding. */
static inline uint8_t scale_half(uint16_t x) {
    return clip_float(sb_half_to_float(sb_float_to_half(sb_half_to_float(x) * 255.5f)));
}

static inline uint8_t scale_bfloat16(uint16_t x) {
    return clip_float(sb_bfloat16_to_float(sb_float_to_bfloat16(sb_bfloat16_to_float(x) * 256.0f)));
}

/* A stored bool as 0 or 1, whatever its bits are. */
static inline float bool_float(uint8_t x) {
    return x ? 1.0f : 0.0f;
}

#define LOOP(name, type, expression)                                                               \
    static void name(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,           \
                     size_t n) {                                                                   \
        type x;                                                                                    \
        if (dst_step == 1 && src_step == sizeof x) {                                               \
            for (size_t i = 0; i < n; i++) {                                                       \
                memcpy(&x, src + i * sizeof x, sizeof x);                                          \
                dst[i] = (uint8_t)(expression);                                                    \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++, dst += dst_step, src += src_step) {                         \
            memcpy(&x, src, sizeof x);                                                             \
            *dst = (uint8_t)(expression);                                                          \
        }                                                                                          \
    }

LOOP(same_uint8, uint8_t, x)

LOOP(tf2_float, float, clip_float(x * 255.5f))
LOOP(tf2_double, double, clip_double(x * 255.5))
LOOP(tf2_half, uint16_t, scale_half(x))
LOOP(tf2_bfloat16, uint16_t, scale_bfloat16(x))
LOOP(tf2_int8, int8_t, x > 0 ? x * 2 : 0)
LOOP(tf2_int16, int16_t, x > 0 ? x >> 7 : 0)
LOOP(tf2_int32, int32_t, x > 0 ? x >> 23 : 0)
LOOP(tf2_int64, int64_t, x > 0 ? x >> 55 : 0)
LOOP(tf2_uint16, uint16_t, x >> 8)
LOOP(tf2_uint32, uint32_t, x >> 24)
LOOP(tf2_uint64, uint64_t, x >> 56)

/* torch computes pictures in float32 and sprites in float64. */
#define TORCH_LOOPS(name, type, load)                                                              \
    LOOP(torch_##name, type, clip_float((float)(load)*255.0f))                                     \
    LOOP(sprite_##name, type, clip_double((double)(load)*255.0))
TORCH_LOOPS(float, float, x)
TORCH_LOOPS(double, double, x)
TORCH_LOOPS(half, uint16_t, sb_half_to_float(x))
TORCH_LOOPS(bfloat16, uint16_t, sb_bfloat16_to_float(x))
TORCH_LOOPS(int8, int8_t, x)
TORCH_LOOPS(int16, int16_t, x)
TORCH_LOOPS(int32, int32_t, x)
TORCH_LOOPS(int64, int64_t, x)
TORCH_LOOPS(uint16, uint16_t, x)
TORCH_LOOPS(uint32, uint32_t, x)
TORCH_LOOPS(uint64, uint64_t, x)
TORCH_LOOPS(bool, uint8_t, bool_float(x))
LOOP(sprite_uint8, uint8_t, x ? 255 : 0)
#undef TORCH_LOOPS
#undef LOOP

sb_pixel_fn *sb_pixel_rule_pick(sb_pixel_rule rule, sb_dtype dtype) {
    static const struct {
        sb_dtype dtype;
        sb_pixel_fn *by_rule[3];
    } table[] = {
        {SB_FLOAT, {tf2_float, torch_float, sprite_float}},
        {SB_DOUBLE, {tf2_double, torch_double, sprite_double}},
        {SB_HALF, {tf2_half, torch_half, sprite_half}},
        {SB_BFLOAT16, {tf2_bfloat16, torch_bfloat16, sprite_bfloat16}},
        {SB_INT8, {tf2_int8, torch_int8, sprite_int8}},
        {SB_INT16, {tf2_int16, torch_int16, sprite_int16}},
        {SB_INT32, {tf2_int32, torch_int32, sprite_int32}},
        {SB_INT64, {tf2_int64, torch_int64, sprite_int64}},
        {SB_UINT8, {same_uint8, same_uint8, sprite_uint8}},
        {SB_UINT16, {tf2_uint16, torch_uint16, sprite_uint16}},
        {SB_UINT32, {tf2_uint32, torch_uint32, sprite_uint32}},
        {SB_UINT64, {tf2_uint64, torch_uint64, sprite_uint64}},
        {SB_BOOL, {NULL, torch_bool, sprite_bool}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dtype == dtype) return table[i].by_rule[rule];
    }
    return NULL;
}
