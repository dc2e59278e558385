/* pixel_rules.c: one small loop for every element type and every peer's rule.
 *
 * The loops differ only in how an element is loaded and how a number becomes a byte, so a macro
 * writes them. Each has a dense form, which the compiler turns into vector code, and a strided one
 * for layouts that must be transposed. Comparisons are written so that NaN ends as 0. */
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
static inline uint8_t tf2_half(uint16_t x) {
    return clip_float(sb_half_to_float(sb_float_to_half(sb_half_to_float(x) * 255.5f)));
}

static inline uint8_t tf2_bfloat16(uint16_t x) {
    return clip_float(sb_bfloat16_to_float(sb_float_to_bfloat16(sb_bfloat16_to_float(x) * 256.0f)));
}

/* What a stored bool means, whatever its bits. */
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

LOOP(tf2_float_loop, float, clip_float(x * 255.5f))
LOOP(tf2_double_loop, double, clip_double(x * 255.5))
LOOP(tf2_half_loop, uint16_t, tf2_half(x))
LOOP(tf2_bfloat16_loop, uint16_t, tf2_bfloat16(x))
LOOP(tf2_int8_loop, int8_t, x > 0 ? x * 2 : 0)
LOOP(tf2_int16_loop, int16_t, x > 0 ? x >> 7 : 0)
LOOP(tf2_int32_loop, int32_t, x > 0 ? x >> 23 : 0)
LOOP(tf2_int64_loop, int64_t, x > 0 ? x >> 55 : 0)
LOOP(tf2_uint16_loop, uint16_t, x >> 8)
LOOP(tf2_uint32_loop, uint32_t, x >> 24)
LOOP(tf2_uint64_loop, uint64_t, x >> 56)

/* Torch goes through float32 for pictures and through float64 for sprites. */
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

sb_pixel_fn *sb_pixel_rule_pick(sb_pixel_rule rule, sb_dtype dtype, size_t *size) {
    static const struct {
        sb_dtype dtype;
        size_t size;
        sb_pixel_fn *by_rule[3];
    } table[] = {
#define ROW(dtype, bytes, name, tf2)                                                               \
    {                                                                                              \
        dtype, bytes, {                                                                            \
            tf2, torch_##name, sprite_##name                                                       \
        }                                                                                          \
    }
        ROW(SB_FLOAT, 4, float, tf2_float_loop),
        ROW(SB_DOUBLE, 8, double, tf2_double_loop),
        ROW(SB_HALF, 2, half, tf2_half_loop),
        ROW(SB_BFLOAT16, 2, bfloat16, tf2_bfloat16_loop),
        ROW(SB_INT8, 1, int8, tf2_int8_loop),
        ROW(SB_INT16, 2, int16, tf2_int16_loop),
        ROW(SB_INT32, 4, int32, tf2_int32_loop),
        ROW(SB_INT64, 8, int64, tf2_int64_loop),
        ROW(SB_UINT16, 2, uint16, tf2_uint16_loop),
        ROW(SB_UINT32, 4, uint32, tf2_uint32_loop),
        ROW(SB_UINT64, 8, uint64, tf2_uint64_loop),
        ROW(SB_BOOL, 1, bool, NULL),
#undef ROW
        {SB_UINT8, 1, {same_uint8, same_uint8, sprite_uint8}},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dtype != dtype) continue;
        *size = table[i].size;
        return table[i].by_rule[rule];
    }
    return NULL;
}
