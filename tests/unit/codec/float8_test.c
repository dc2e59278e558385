/* float8_test.c: small floats, bit for bit as numpy and ml_dtypes have them.
 *
 * The expected values are checksums over the results of numpy 2 and ml_dtypes for the same inputs:
 * all bit patterns when widening; when narrowing to 16 bits all floats whose upper 16 bits are any
 * pattern and whose lower 16 bits are one of `lows`, NaNs left out. NaNs count as 0x7FC00000 when
 * widened. */
#include "codec/float8.h"

#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "codec/crc32c/crc32c.h"
#include "support/test.h"
#include "base/banned.h"

static const uint32_t lows[] = {0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF};

static uint32_t crc_float(uint32_t crc, float x) {
    uint8_t raw[4];
    sb_store32(raw, isnan(x) ? 0x7FC00000u : sb_float_bits(x));
    return sb_crc32c(crc, raw, sizeof raw);
}

static void halves_widen_as_in_numpy(void **state) {
    (void)state;
    uint32_t half = 0, bfloat = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        half = crc_float(half, sb_half_to_float((uint16_t)i));
        bfloat = crc_float(bfloat, sb_bfloat16_to_float((uint16_t)i));
    }
    assert_int_equal(half, 0x04a132e4);
    assert_int_equal(bfloat, 0xa40a1e12);
}

static void halves_narrow_as_in_numpy(void **state) {
    (void)state;
    uint32_t half = 0, bfloat = 0;
    uint8_t raw[2];
    for (size_t k = 0; k < SB_COUNT(lows); k++)
        for (uint32_t i = 0; i < 65536; i++) {
            float x = sb_bits_float(i << 16 | lows[k]);
            if (isnan(x)) continue;
            sb_store16(raw, sb_float_to_half(x));
            half = sb_crc32c(half, raw, sizeof raw);
            sb_store16(raw, sb_float_to_bfloat16(x));
            bfloat = sb_crc32c(bfloat, raw, sizeof raw);
        }
    assert_int_equal(half, 0x99db25de);
    assert_int_equal(bfloat, 0x6d645f37);
}

static const struct {
    sb_dtype dtype;
    uint32_t patterns, widened;
} smalls[] = {
    {SB_FLOAT8_E5M2, 256, 0x9989bbf5},     {SB_FLOAT8_E4M3FN, 256, 0x5cf3155c},
    {SB_FLOAT8_E4M3FNUZ, 256, 0xd6d18dd0}, {SB_FLOAT8_E4M3B11FNUZ, 256, 0x9a284b9f},
    {SB_FLOAT8_E5M2FNUZ, 256, 0x57e4a6bc}, {SB_FLOAT4_E2M1FN, 16, 0x089d4a58},
};

static void small_floats_widen_as_in_ml_dtypes(void **state) {
    (void)state;
    for (size_t k = 0; k < SB_COUNT(smalls); k++) {
        uint32_t crc = 0;
        assert_true(sb_dtype_small_float(smalls[k].dtype));
        for (uint32_t i = 0; i < smalls[k].patterns; i++)
            crc = crc_float(crc, sb_float8_to_float(smalls[k].dtype, (uint8_t)i));
        assert_int_equal(crc, smalls[k].widened);
    }
    assert_false(sb_dtype_small_float(SB_HALF));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_widen_as_in_numpy),
        cmocka_unit_test(halves_narrow_as_in_numpy),
        cmocka_unit_test(small_floats_widen_as_in_ml_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
