/* tensor_build_test.c: tensors are written byte for byte as the reference writers write them. The
 * expected bytes of the Python style are those of tensorboard.util.tensor_util. */
#include "base/bytes.h"
#include "codec/tensor.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static void expect(const sb_array *array, sb_tensor_style style, const char *hex) {
    uint8_t room[512];
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 16);
    assert_int_equal(sb_tensor_add_fields(&b, array, style), SB_OK);
    assert_slice_equal(sb_buf_slice(&b), sb_test_bytes(room, sizeof room, hex));
    sb_buf_fini(&b);
}

#define ONE_OF(type, dtype, ...)                                                                   \
    ((const sb_array){(const type[]){__VA_ARGS__}, dtype, 0, NULL, NULL})
#define ROW_OF(type, dtype, ...)                                                                   \
    ((const sb_array){(const type[]){__VA_ARGS__}, dtype, 2, (const int64_t[]){1, 3}, NULL})

static void python_style_single_elements_are_typed(void **state) {
    (void)state;
    expect(&ONE_OF(float, SB_FLOAT, 3), SB_TENSOR_PYTHON, "0801 1200 2a04 00004040");
    expect(&ONE_OF(double, SB_DOUBLE, 3), SB_TENSOR_PYTHON, "0802 1200 3208 0000000000000840");
    expect(&ONE_OF(int32_t, SB_INT32, 3), SB_TENSOR_PYTHON, "0803 1200 3a0103");
    expect(&ONE_OF(uint8_t, SB_UINT8, 3), SB_TENSOR_PYTHON, "0804 1200 3a0103");
    expect(&ONE_OF(int16_t, SB_INT16, 3), SB_TENSOR_PYTHON, "0805 1200 3a0103");
    expect(&ONE_OF(int8_t, SB_INT8, 3), SB_TENSOR_PYTHON, "0806 1200 3a0103");
    expect(&ONE_OF(int64_t, SB_INT64, 3), SB_TENSOR_PYTHON, "0809 1200 520103");
    expect(&ONE_OF(bool, SB_BOOL, true), SB_TENSOR_PYTHON, "080a 1200 5a0101");
    expect(&ONE_OF(uint16_t, SB_UINT16, 3), SB_TENSOR_PYTHON, "0811 1200 3a0103");
    expect(&ONE_OF(float, SB_COMPLEX64, 3, 0), SB_TENSOR_PYTHON,
           "0808 1200 4a08 00004040 00000000");
    expect(&ONE_OF(double, SB_COMPLEX128, 3, 0), SB_TENSOR_PYTHON,
           "0812 1200 6210 0000000000000840 0000000000000000");
    expect(&ONE_OF(uint16_t, SB_HALF, 0x4200), SB_TENSOR_PYTHON, "0813 1200 6a03 808401");
    expect(&ONE_OF(uint32_t, SB_UINT32, 3), SB_TENSOR_PYTHON, "0816 1200 8201 0103");
    expect(&ONE_OF(uint64_t, SB_UINT64, 3), SB_TENSOR_PYTHON, "0817 1200 8a01 0103");
    expect(&ONE_OF(sb_slice, SB_STRING, SB_LIT("hi")), SB_TENSOR_PYTHON, "0807 1200 4202 6869");
}

#define SHAPE_13 " 1208 12020801 12020803 "

static void python_style_arrays_are_content_for_most_types(void **state) {
    (void)state;
    expect(&ROW_OF(float, SB_FLOAT, -2, -3, -1), SB_TENSOR_PYTHON,
           "0801" SHAPE_13 "220c 000000c0 000040c0 000080bf");
    expect(&ROW_OF(double, SB_DOUBLE, -2, -3, -1), SB_TENSOR_PYTHON,
           "0802" SHAPE_13 "2218 00000000000000c0 00000000000008c0 000000000000f0bf");
    expect(&ROW_OF(int32_t, SB_INT32, -2, -3, -1), SB_TENSOR_PYTHON,
           "0803" SHAPE_13 "220c feffffff fdffffff ffffffff");
    expect(&ROW_OF(uint8_t, SB_UINT8, 1, 0, 2), SB_TENSOR_PYTHON, "0804" SHAPE_13 "2203 010002");
    expect(&ROW_OF(bool, SB_BOOL, 1, 0, 1), SB_TENSOR_PYTHON, "080a" SHAPE_13 "5a03 010001");
    expect(&ROW_OF(uint16_t, SB_UINT16, 1, 0, 2), SB_TENSOR_PYTHON, "0811" SHAPE_13 "3a03 010002");
    expect(&ROW_OF(float, SB_COMPLEX64, -2, 0, -3, 0, -1, 0), SB_TENSOR_PYTHON,
           "0808" SHAPE_13 "4a18 000000c0 00000000 000040c0 00000000 000080bf 00000000");
    expect(&ROW_OF(uint16_t, SB_HALF, 0xc000, 0xc200, 0xbc00), SB_TENSOR_PYTHON,
           "0813" SHAPE_13 "6a09 808003 808403 80f802");
    expect(&ROW_OF(uint32_t, SB_UINT32, 1, 0, 2), SB_TENSOR_PYTHON,
           "0816" SHAPE_13 "220c 01000000 00000000 02000000");
    const sb_array strings = {(const sb_slice[]){SB_LIT("a"), SB_LIT(""), SB_LIT("ccc")}, SB_STRING,
                              1, (const int64_t[]){3}, NULL};
    expect(&strings, SB_TENSOR_PYTHON, "0807 12041202 0803 4201 61 4200 4203 636363");
    const sb_array empty = {NULL, SB_FLOAT, 2, (const int64_t[]){0, 3}, NULL};
    expect(&empty, SB_TENSOR_PYTHON, "0801 1206 1200 12020803");
}

static void content_style_puts_all_numbers_into_content(void **state) {
    (void)state;
    expect(&ONE_OF(float, SB_FLOAT, 0.5f), SB_TENSOR_CONTENT, "0801 1200 2204 0000003f");
    expect(&ONE_OF(uint16_t, SB_HALF, 0x3c00), SB_TENSOR_CONTENT, "0813 1200 2202 003c");
    expect(&ONE_OF(bool, SB_BOOL, true), SB_TENSOR_CONTENT, "080a 1200 2201 01");
    expect(&ONE_OF(float, SB_COMPLEX64, 1, 2), SB_TENSOR_CONTENT,
           "0808 1200 2208 0000803f 00000040");
    expect(&ONE_OF(sb_slice, SB_STRING, SB_LIT("hi")), SB_TENSOR_CONTENT, "0807 1200 4202 6869");
    const sb_array null = {NULL, SB_FLOAT, 1, (const int64_t[]){0}, NULL};
    expect(&null, SB_TENSOR_CONTENT, "0801 1202 1200");
}

static void typed_and_bare_styles_differ_in_the_shape(void **state) {
    (void)state;
    expect(&ONE_OF(float, SB_FLOAT, 0.5f), SB_TENSOR_TYPED, "0801 1200 2a04 0000003f");
    expect(&ONE_OF(float, SB_FLOAT, 0.5f), SB_TENSOR_BARE, "0801 2a04 0000003f");
    expect(&ONE_OF(double, SB_DOUBLE, 0.5), SB_TENSOR_BARE, "0802 3208 000000000000e03f");
    expect(&ROW_OF(int32_t, SB_INT32, -1, 0, 1), SB_TENSOR_TYPED,
           "0803" SHAPE_13 "3a0c ffffffffffffffffff01 00 01");
    expect(&ONE_OF(uint8_t, SB_FLOAT8_E5M2, 0x3c), SB_TENSOR_TYPED, "0818 1200 9201 013c");
    expect(&ONE_OF(uint8_t, SB_INT4, 0x0e), SB_TENSOR_TYPED, "081d 1200 3a0a feffffffffffffffff01");
    /* No typed field exists for it. */
    expect(&ONE_OF(uint8_t, SB_FLOAT4_E2M1FN, 0x03), SB_TENSOR_TYPED, "0821 1200 2201 03");
}

static void what_cannot_be_stored_is_refused(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 16);
    const sb_array negative = {NULL, SB_FLOAT, 1, (const int64_t[]){-1}, NULL};
    const sb_array none = {NULL, SB_FLOAT, 2, (const int64_t[]){-1, 0}, NULL};
    const sb_array huge = {NULL, SB_FLOAT, 2, (const int64_t[]){INT64_MAX, 4}, NULL};
    const sb_array wide = {NULL, SB_DOUBLE, 1, (const int64_t[]){INT64_MAX}, NULL};
    const sb_array resource = {"", SB_RESOURCE, 0, NULL, NULL};
    sb_buf_add_byte(&b, 'x');
    assert_int_equal(sb_tensor_add(&b, 8, &negative, SB_TENSOR_CONTENT), SB_INVALID);
    assert_int_equal(sb_tensor_add(&b, 8, &none, SB_TENSOR_CONTENT), SB_INVALID);
    assert_int_equal(sb_tensor_add(&b, 8, &huge, SB_TENSOR_CONTENT), SB_INVALID);
    assert_int_equal(sb_tensor_add(&b, 8, &wide, SB_TENSOR_CONTENT), SB_INVALID);
    assert_int_equal(sb_tensor_add(&b, 8, &resource, SB_TENSOR_CONTENT), SB_INVALID);
    assert_slice_is(sb_buf_slice(&b), "x"); /* nothing half-written stays */
    sb_buf_fini(&b);
}

/* Every dtype in every style comes back as it went in. */
static void what_is_written_is_read_back(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(5);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 16);
    for (int dtype = 1; dtype <= SB_FLOAT4_E2M1FN; dtype++) {
        if (!sb_dtype_numeric((sb_dtype)dtype)) continue;
        for (int style = SB_TENSOR_CONTENT; style <= SB_TENSOR_BARE; style++) {
            _Alignas(16) uint8_t raw[7 * 16];
            sb_test_fill(&random, raw, sizeof raw);
            if (dtype == SB_BOOL)
                for (size_t i = 0; i < sizeof raw; i++) raw[i] &= 1;
            const sb_array array = {raw, (sb_dtype)dtype, 1, (const int64_t[]){7}, NULL};
            sb_tensor_view typed, content;
            sb_buf_clear(&b);
            assert_int_equal(sb_tensor_add_fields(&b, &array, SB_TENSOR_CONTENT), SB_OK);
            size_t split = b.n;
            assert_int_equal(sb_tensor_add_fields(&b, &array, (sb_tensor_style)style), SB_OK);
            sb_slice first = sb_slice_of(b.p, split),
                     second = sb_slice_of(b.p + split, b.n - split);
            assert_int_equal(sb_tensor_read(&content, first), SB_OK);
            assert_int_equal(sb_tensor_read(&typed, second), SB_OK);
            assert_int_equal(typed.count, 7);
            for (size_t i = 0; i < 7; i++) {
                sb_number x, y;
                assert_int_equal(sb_tensor_at(&content, i, &x), SB_OK);
                assert_int_equal(sb_tensor_at(&typed, i, &y), SB_OK);
                assert_true(sb_double_bits(x.re) == sb_double_bits(y.re) &&
                            sb_double_bits(x.im) == sb_double_bits(y.im) && x.i == y.i);
            }
        }
    }
    sb_buf_fini(&b);
}

static sb_status write_many(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 16);
    for (int i = 0; i < 20; i++)
        for (int style = SB_TENSOR_CONTENT; style <= SB_TENSOR_BARE; style++) {
            const sb_array array = ROW_OF(int32_t, SB_INT32, -1, 0, 1);
            assert_int_equal(sb_tensor_add(&b, 8, &array, (sb_tensor_style)style), SB_OK);
        }
    sb_status status = sb_buf_check(&b, "tensors", NULL);
    sb_buf_fini(&b);
    return status;
}

static void writing_without_memory_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(write_many, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_style_single_elements_are_typed),
        cmocka_unit_test(python_style_arrays_are_content_for_most_types),
        cmocka_unit_test(content_style_puts_all_numbers_into_content),
        cmocka_unit_test(typed_and_bare_styles_differ_in_the_shape),
        cmocka_unit_test(what_cannot_be_stored_is_refused),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(writing_without_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
