/* tensor_test.c: tensors of every dtype, from every place that their values may be in. */
#include "codec/tensor.h"

#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "unit/codec/touch.h"
#include "base/banned.h"

static uint8_t room[4096];

static sb_slice hex(const char *text) {
    return sb_test_bytes(room, sizeof room, text);
}

static sb_tensor_view read_tensor(const char *text) {
    sb_tensor_view t;
    assert_int_equal(sb_tensor_read(&t, hex(text)), SB_OK);
    return t;
}

static sb_status status_of(const char *text) {
    sb_tensor_view t;
    return sb_tensor_read(&t, hex(text));
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shape_and_count_are_read(void **state) {
    (void)state;
    sb_tensor_view t = read_tensor("0801 1208 12020802 12020803 2218"
                                   "0000803f 00000040 00004040 00008040 0000a040 0000c040");
    assert_int_equal(t.dtype, SB_FLOAT);
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.dims[0], 2);
    assert_int_equal(t.dims[1], 3);
    assert_int_equal(t.count, 6);
    assert_true(t.shape_given);
    assert_int_equal(t.content.n, 24);
}

static void a_dim_without_a_size_is_empty(void **state) {
    (void)state;
    sb_tensor_view t = read_tensor("0801 12021200");
    assert_int_equal(t.rank, 1);
    assert_int_equal(t.dims[0], 0);
    assert_int_equal(t.count, 0);
    double x;
    assert_int_equal(sb_tensor_doubles(&t, 0, 0, &x), SB_OK);
    assert_int_equal(sb_tensor_doubles(&t, 0, 1, &x), SB_INVALID);
    sb_number n;
    assert_int_equal(sb_tensor_at(&t, 0, &n), SB_INVALID);
    assert_slice_equal(SB_TENSOR_NULL, hex("0801 12021200"));
}

static void values_without_a_shape_make_a_vector(void **state) {
    (void)state;
    sb_tensor_view t = read_tensor("0807 4201 31 4201 32 4201 78");
    assert_false(t.shape_given);
    assert_int_equal(t.rank, 1);
    assert_int_equal(t.dims[0], 3);
    assert_int_equal(t.count, 3);
    t = read_tensor("0801 2208 0000803f 00000040");
    assert_int_equal(t.rank, 1);
    assert_int_equal(t.count, 2);
    t = read_tensor("0807 4201 31");
    assert_int_equal(t.rank, 0);
    assert_int_equal(t.count, 1);
}

static void deep_shapes_are_counted_and_marked(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 16);
    sb_pb_add_int(&b, SB_TENSOR_DTYPE, SB_FLOAT);
    size_t at = sb_pb_begin(&b, SB_TENSOR_TENSOR_SHAPE, 100);
    for (int i = 0; i < 20; i++) sb_pb_add_bytes(&b, SB_SHAPE_DIM, SB_LIT("\x08\x02"));
    sb_pb_end(&b, at);
    sb_pb_add_packed_floats(&b, SB_TENSOR_FLOAT_VAL, &(float){3}, 1);
    sb_tensor_view t;
    assert_int_equal(sb_tensor_read(&t, sb_buf_slice(&b)), SB_OK);
    assert_int_equal(t.rank, 20);
    assert_true(t.deep);
    assert_int_equal(t.count, 1 << 20);
    sb_number n;
    assert_int_equal(sb_tensor_at(&t, (1 << 20) - 1, &n), SB_OK);
    assert_true(n.re == 3);
    sb_buf_fini(&b);
}

static void impossible_shapes_are_corrupt(void **state) {
    (void)state;
    assert_int_equal(status_of("0801 120d 120b 08ffffffffffffffffff01"), SB_CORRUPT); /* -1 */
    assert_int_equal(status_of("0801 12021801"), SB_CORRUPT); /* unknown rank */
    /* 2^40 by 2^40 */
    assert_int_equal(status_of("0801 1214 1208 08 8080808080800112 08 08 80808080808001"),
                     SB_CORRUPT);
    assert_int_equal(status_of("0801 1203 120208"), SB_CORRUPT);
}

static void content_of_the_wrong_size_is_corrupt(void **state) {
    (void)state;
    assert_int_equal(status_of("0801 1200 2203 000000"), SB_CORRUPT);
    assert_int_equal(status_of("0801 1200 2208 0000000000000000"), SB_CORRUPT);
    assert_int_equal(status_of("0801 12041202 0802 2204 00000000"), SB_CORRUPT);
    assert_int_equal(status_of("0801 12021200 2204 00000000"), SB_CORRUPT);
    assert_int_equal(status_of("0801 2205 0000000000"), SB_CORRUPT);
    /* A shape of 2^62 floats has more bytes than there are numbers for. */
    assert_int_equal(status_of("0801 120d 120b 08 80808080808080804000 2204 00000000"), SB_CORRUPT);
}

static void malformed_typed_values_are_corrupt(void **state) {
    (void)state;
    assert_int_equal(status_of("0801 2a03 000000"), SB_CORRUPT);
    assert_int_equal(status_of("0803 3a02 01ff"), SB_CORRUPT);
    assert_int_equal(status_of("0803 3a0b ffffffffffffffffffff01"), SB_CORRUPT);
    assert_int_equal(status_of("0803 2a03 000000 3a01 05"), SB_OK); /* not this dtype's field */
}

static void unknown_dtypes_keep_their_shape(void **state) {
    (void)state;
    sb_tensor_view t = read_tensor("084d 12041202 0803");
    assert_int_equal(t.dtype, SB_NO_DTYPE);
    assert_int_equal(t.count, 3);
    sb_number n;
    assert_int_equal(sb_tensor_at(&t, 0, &n), SB_INVALID);
    t = read_tensor("0814 7200"); /* a resource */
    assert_int_equal(t.dtype, SB_RESOURCE);
    assert_int_equal(sb_tensor_at(&t, 0, &n), SB_INVALID);
    t = read_tensor("0865 2a04 0000803f"); /* a reference to floats */
    assert_int_equal(t.dtype, SB_FLOAT);
}

static void dtypes_have_names_and_sizes(void **state) {
    (void)state;
    assert_string_equal(sb_dtype_name(SB_BFLOAT16), "bfloat16");
    assert_string_equal(sb_dtype_name((sb_dtype)99), "invalid");
    assert_int_equal(sb_dtype_named(SB_LIT("float64")), SB_DOUBLE);
    assert_int_equal(sb_dtype_named(SB_LIT("invalid")), SB_NO_DTYPE);
    assert_int_equal(sb_dtype_named(SB_LIT("nonsense")), SB_NO_DTYPE);
    assert_int_equal(sb_dtype_size(SB_COMPLEX128), 16);
    assert_int_equal(sb_dtype_size(SB_STRING), 0);
    assert_int_equal(sb_dtype_size((sb_dtype)99), 0);
    assert_true(sb_dtype_numeric(SB_BOOL));
    assert_false(sb_dtype_numeric(SB_VARIANT));
}

/* ---- elements -------------------------------------------------------------------------------- */

static void expect(const char *text, const double *want, size_t n) {
    sb_tensor_view t = read_tensor(text);
    double got[16];
    float floats[16];
    sb_number one;
    if (t.count != n) fail_msg("%s has %zu elements", text, t.count);
    assert_int_equal(sb_tensor_doubles(&t, 0, n, got), SB_OK);
    assert_int_equal(sb_tensor_floats(&t, 0, n, floats), SB_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sb_tensor_at(&t, i, &one), SB_OK);
        if (got[i] != want[i] || one.re != want[i] || floats[i] != (float)want[i] ||
            one.i != (int64_t)want[i])
            fail_msg("%s: element %zu is %g, not %g", text, i, got[i], want[i]);
    }
}

#define EXPECT(text, ...)                                                                          \
    expect(text, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / 8)
#define SHAPE(n) " 12041202080" #n " "

static void content_of_each_dtype_is_read(void **state) {
    (void)state;
    EXPECT("0801" SHAPE(2) "2208 0000803f 000020c0", 1, -2.5);
    EXPECT("0802" SHAPE(2) "2210 000000000000f03f 00000000000004c0", 1, -2.5);
    EXPECT("0803" SHAPE(2) "2208 01000000 feffffff", 1, -2);
    EXPECT("0804" SHAPE(2) "2202 01fe", 1, 254);
    EXPECT("0805" SHAPE(2) "2204 0100 feff", 1, -2);
    EXPECT("0806" SHAPE(2) "2202 01fe", 1, -2);
    EXPECT("0809" SHAPE(2) "2210 0100000000000000 feffffffffffffff", 1, -2);
    EXPECT("080a" SHAPE(2) "2202 0100", 1, 0);
    EXPECT("080b" SHAPE(2) "2202 01fe", 1, -2);  /* qint8 */
    EXPECT("080c" SHAPE(2) "2202 01fe", 1, 254); /* quint8 */
    EXPECT("080d" SHAPE(1) "2204 feffffff", -2); /* qint32 */
    EXPECT("080e" SHAPE(2) "2204 803f 20c0", 1, -2.5);
    EXPECT("080f" SHAPE(1) "2202 feff", -2);    /* qint16 */
    EXPECT("0810" SHAPE(1) "2202 feff", 65534); /* quint16 */
    EXPECT("0811" SHAPE(1) "2202 feff", 65534); /* uint16 */
    EXPECT("0813" SHAPE(2) "2204 003c 00c1", 1, -2.5);
    EXPECT("0816" SHAPE(1) "2204 feffffff", 4294967294.0);
    EXPECT("0818" SHAPE(2) "2202 3cc1", 1, -2.5);
    EXPECT("0819" SHAPE(2) "2202 38c2", 1, -2.5);
    EXPECT("081a" SHAPE(2) "2202 40ca", 1, -2.5);
    EXPECT("081b" SHAPE(2) "2202 58e2", 1, -2.5);
    EXPECT("081c" SHAPE(2) "2202 40c5", 1, -2.5);
    EXPECT("081d" SHAPE(3) "2203 01fe0e", 1, -2, -2); /* int4 */
    EXPECT("081e" SHAPE(2) "2202 010e", 1, 14);       /* uint4 */
    EXPECT("081f" SHAPE(2) "2202 0102", 1, -2);       /* int2 */
    EXPECT("0820" SHAPE(2) "2202 0102", 1, 2);        /* uint2 */
    EXPECT("0821" SHAPE(2) "2202 030c", 1.5, -2);     /* float4 */
}

static void typed_values_of_each_dtype_are_read(void **state) {
    (void)state;
    EXPECT("0801" SHAPE(2) "2a08 0000803f 000020c0", 1, -2.5);
    EXPECT("0801" SHAPE(2) "2d 0000803f 2d 000020c0", 1, -2.5);
    EXPECT("0801" SHAPE(3) "2a04 0000803f 2d 000020c0 2a04 00000040", 1, -2.5, 2);
    EXPECT("0802" SHAPE(2) "3210 000000000000f03f 00000000000004c0", 1, -2.5);
    EXPECT("0803" SHAPE(2) "3a0b 01 feffffffffffffffff01", 1, -2);
    EXPECT("0803" SHAPE(2) "3801 38feffffffffffffffff01", 1, -2);
    EXPECT("0804" SHAPE(2) "3a03 01fe01", 1, 254);
    EXPECT("0804" SHAPE(2) "820103 01fe01", 1, 254); /* torch */
    EXPECT("0805" SHAPE(2) "3a0b 01 feffffffffffffffff01", 1, -2);
    EXPECT("0806" SHAPE(2) "3a0b 01 feffffffffffffffff01", 1, -2);
    EXPECT("0809" SHAPE(2) "520b 01 feffffffffffffffff01", 1, -2);
    EXPECT("080a" SHAPE(2) "5a02 0100", 1, 0);
    EXPECT("080e" SHAPE(2) "6a05 807f a08003", 1, -2.5);
    EXPECT("0813" SHAPE(2) "6a05 8078 808203", 1, -2.5);
    EXPECT("0811" SHAPE(1) "3a03 feff03", 65534);
    EXPECT("0816" SHAPE(1) "820105 feffffff0f", 4294967294.0);
    EXPECT("0817" SHAPE(1) "8a0101 05", 5);
    EXPECT("0818" SHAPE(2) "920102 3cc1", 1, -2.5);
    EXPECT("081d" SHAPE(2) "3a0b 01 feffffffffffffffff01", 1, -2);
}

static void wide_half_values_are_float_bits(void **state) {
    (void)state;
    /* torch: 1.0f is 0x3f800000, -2.5f is 0xc0200000 as a negative int32 */
    EXPECT("0813" SHAPE(2) "6a0f 808080fc03 80808081fcffffffff01", 1, -2.5);
    EXPECT("080e" SHAPE(2) "6a0f 808080fc03 80808081fcffffffff01", 1, -2.5);
    /* zero among them is zero either way */
    EXPECT("0813" SHAPE(2) "6a06 808080fc03 00", 1, 0);
}

static void too_few_values_repeat_the_last(void **state) {
    (void)state;
    EXPECT("0801" SHAPE(4) "2a04 0000803f", 1, 1, 1, 1);
    EXPECT("0801" SHAPE(4) "2a08 0000803f 00000040", 1, 2, 2, 2);
    EXPECT("0801" SHAPE(4) "2d 0000803f 2d 00000040", 1, 2, 2, 2);
    EXPECT("0803" SHAPE(4) "3a02 0102", 1, 2, 2, 2);
    EXPECT("0818" SHAPE(3) "920101 3c", 1, 1, 1);
    EXPECT("0801" SHAPE(3) "", 0, 0, 0);
    EXPECT("0801" SHAPE(1) "2a08 0000803f 00000040", 1); /* and too many are left alone */
}

static void content_goes_before_typed_values(void **state) {
    (void)state;
    EXPECT("0801" SHAPE(1) "2204 0000803f 2a04 00000040", 1);
    EXPECT("0801" SHAPE(1) "2200 2a04 00000040", 2);
}

static void complex_numbers_have_two_parts(void **state) {
    (void)state;
    static const char *const forms[] = {
        "0808" SHAPE(2) "2210 0000803f 00000040 000020c0 00000000",
        "0808" SHAPE(2) "4a10 0000803f 00000040 000020c0 00000000",
        "0808" SHAPE(2) "4d 0000803f 4d 00000040 4d 000020c0 4d 00000000",
        "0812" SHAPE(2) "2220 000000000000f03f 0000000000000040 00000000000004c0 0000000000000000",
        "0812" SHAPE(2) "6220 000000000000f03f 0000000000000040 00000000000004c0 0000000000000000",
    };
    for (size_t i = 0; i < SB_COUNT(forms); i++) {
        sb_tensor_view t = read_tensor(forms[i]);
        double pairs[4], real[2];
        assert_int_equal(sb_tensor_complex(&t, 0, 2, pairs), SB_OK);
        assert_true(pairs[0] == 1 && pairs[1] == 2 && pairs[2] == -2.5 && pairs[3] == 0);
        assert_int_equal(sb_tensor_doubles(&t, 0, 2, real), SB_OK);
        assert_true(real[0] == 1 && real[1] == -2.5);
    }
}

static void half_a_complex_number_is_none(void **state) {
    (void)state;
    double pair[2] = {7, 7};
    sb_tensor_view t = read_tensor("0812 6208 126202 3a7f023a7f");
    assert_int_equal(t.given, 0);
    assert_int_equal(sb_tensor_complex(&t, 0, 1, pair), SB_OK);
    assert_true(pair[0] == 0 && pair[1] == 0);
    t = read_tensor("0808 4a0c 0000803f 00000040 00004040");
    assert_int_equal(t.count, 1);
    assert_int_equal(sb_tensor_complex(&t, 0, 1, pair), SB_OK);
    assert_true(pair[0] == 1 && pair[1] == 2);
}

static void large_integers_are_exact_as_integers(void **state) {
    (void)state;
    sb_number n;
    sb_tensor_view t = read_tensor("0809 2208 ffffffffffffff7f");
    assert_int_equal(sb_tensor_at(&t, 0, &n), SB_OK);
    assert_true(n.i == INT64_MAX && n.re == 0x1p63);
    t = read_tensor("0817 2208 ffffffffffffffff");
    assert_int_equal(sb_tensor_at(&t, 0, &n), SB_OK);
    assert_true((uint64_t)n.i == UINT64_MAX && n.re == 0x1p64);
}

static void reals_as_integers_are_cut_and_bounded(void **state) {
    (void)state;
    /* 1.75, -1.75, NaN, inf, -inf, 2^126, 2^63 */
    sb_tensor_view t = read_tensor("0801" SHAPE(7) "221c 0000e03f 0000e0bf 0000c07f 0000807f"
                                                   "000080ff 0000807e 0000005f");
    static const int64_t want[] = {1, -1, 0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < SB_COUNT(want); i++) {
        sb_number one;
        assert_int_equal(sb_tensor_at(&t, i, &one), SB_OK);
        assert_true(one.i == want[i]);
    }
}

static void ranges_are_read_from_any_place(void **state) {
    (void)state;
    static const char *const forms[] = {
        "0801" SHAPE(5) "2a0c 0000803f 00000040 00004040",
        "0801" SHAPE(5) "2d 0000803f 2d 00000040 2d 00004040",
        "0803" SHAPE(5) "3a03 010203",
        "0802" SHAPE(5) "3218 000000000000f03f 0000000000000040 0000000000000840",
    };
    static const double want[] = {1, 2, 3, 3, 3};
    for (size_t k = 0; k < SB_COUNT(forms); k++) {
        sb_tensor_view t = read_tensor(forms[k]);
        for (size_t from = 0; from <= 5; from++)
            for (size_t n = 0; from + n <= 5; n++) {
                double got[5];
                float floats[5];
                assert_int_equal(sb_tensor_doubles(&t, from, n, got), SB_OK);
                assert_int_equal(sb_tensor_floats(&t, from, n, floats), SB_OK);
                for (size_t i = 0; i < n; i++)
                    assert_true(got[i] == want[from + i] && floats[i] == (float)want[from + i]);
            }
        double none;
        assert_int_equal(sb_tensor_doubles(&t, 5, 1, &none), SB_INVALID);
        assert_int_equal(sb_tensor_floats(&t, 3, SIZE_MAX, (float *)&none), SB_INVALID);
        assert_int_equal(sb_tensor_complex(&t, 6, 0, &none), SB_INVALID);
    }
}

/* ---- strings --------------------------------------------------------------------------------- */

static void expect_strings(const char *text, const char *const *want, size_t n) {
    sb_tensor_view t = read_tensor(text);
    sb_strings strings = sb_tensor_strings(&t);
    sb_slice s;
    for (size_t i = 0; i < n; i++) {
        assert_true(sb_strings_next(&strings, &s));
        assert_slice_is(s, want[i]);
    }
    assert_false(sb_strings_next(&strings, &s));
    assert_false(sb_strings_next(&strings, &s));
}

static void strings_come_in_order(void **state) {
    (void)state;
    expect_strings("0807" SHAPE(3) "4202 6162 4200 4201 63", (const char *[]){"ab", "", "c"}, 3);
    expect_strings("0807" SHAPE(3) "4201 61 4201 62", (const char *[]){"a", "b", "b"}, 3);
    expect_strings("0807" SHAPE(2) "4201 61 4201 62 4201 63", (const char *[]){"a", "b"}, 2);
    expect_strings("0807" SHAPE(2) "", (const char *[]){"", ""}, 2);
    expect_strings("0807 4201 61 4201 62", (const char *[]){"a", "b"}, 2);
    expect_strings("0801" SHAPE(1) "4201 61", NULL, 0); /* not a tensor of strings */
}

static void strings_in_content_are_split(void **state) {
    (void)state;
    expect_strings("0807" SHAPE(3) "2208 020003 6162 787979", (const char *[]){"ab", "", "xyy"}, 3);
    expect_strings("0807" SHAPE(3) "2207 020003 6162 7879", NULL, 0);
    expect_strings("0807" SHAPE(3) "2202 0200", NULL, 0);
    expect_strings("0807" SHAPE(1) "220a ffffffffffffffffff01", NULL, 0);
}

/* ---- hostile --------------------------------------------------------------------------------- */

static const char *const good_tensors[] = {
    "0801" SHAPE(4) "2a08 0000803f 00000040",
    "0801" SHAPE(2) "2208 0000803f 000020c0",
    "0803" SHAPE(4) "3a0b 01 feffffffffffffffff01",
    "0807" SHAPE(3) "4202 6162 4200 4201 63",
    "0807" SHAPE(3) "2208 020003 6162 787979",
    "0808" SHAPE(2) "4a10 0000803f 00000040 000020c0 00000000",
    "0812" SHAPE(1) "6210 000000000000f03f 0000000000000040",
    "0813" SHAPE(2) "6a0f 808080fc03 80808081fcffffffff01",
    "0817" SHAPE(2) "8a0102 0507",
    "0818" SHAPE(2) "920102 3cc1",
    "0802 1200 2208 000000000000f03f",
};

static void damaged_tensors_are_survived(void **state) {
    (void)state;
    uint8_t own[256];
    for (size_t i = 0; i < SB_COUNT(good_tensors); i++) {
        sb_slice tensor = sb_test_bytes(own, sizeof own, good_tensors[i]);
        hostile_cuts(tensor, touch_tensor);
        hostile_flips(tensor, touch_tensor);
    }
    hostile_noise(4, 20000, touch_tensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_and_count_are_read),
        cmocka_unit_test(a_dim_without_a_size_is_empty),
        cmocka_unit_test(values_without_a_shape_make_a_vector),
        cmocka_unit_test(deep_shapes_are_counted_and_marked),
        cmocka_unit_test(impossible_shapes_are_corrupt),
        cmocka_unit_test(content_of_the_wrong_size_is_corrupt),
        cmocka_unit_test(malformed_typed_values_are_corrupt),
        cmocka_unit_test(unknown_dtypes_keep_their_shape),
        cmocka_unit_test(dtypes_have_names_and_sizes),
        cmocka_unit_test(content_of_each_dtype_is_read),
        cmocka_unit_test(typed_values_of_each_dtype_are_read),
        cmocka_unit_test(wide_half_values_are_float_bits),
        cmocka_unit_test(too_few_values_repeat_the_last),
        cmocka_unit_test(content_goes_before_typed_values),
        cmocka_unit_test(complex_numbers_have_two_parts),
        cmocka_unit_test(half_a_complex_number_is_none),
        cmocka_unit_test(large_integers_are_exact_as_integers),
        cmocka_unit_test(reals_as_integers_are_cut_and_bounded),
        cmocka_unit_test(ranges_are_read_from_any_place),
        cmocka_unit_test(strings_come_in_order),
        cmocka_unit_test(strings_in_content_are_split),
        cmocka_unit_test(damaged_tensors_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
