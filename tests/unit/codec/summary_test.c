/* summary_test.c: values, their metadata and what they hold; every form of a scalar. */
#include "codec/summary.h"

#include <float.h>

#include "codec/tensor.h"
#include "support/fault_alloc.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "unit/codec/touch.h"
#include "base/banned.h"

static uint8_t room[4096];

static sb_slice hex(const char *text) {
    return sb_test_bytes(room, sizeof room, text);
}

static sb_value read_value(const char *text) {
    sb_value value;
    assert_int_equal(sb_value_read(&value, hex(text)), SB_OK);
    return value;
}

static void each_kind_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        sb_value_kind kind;
    } cases[] = {
        {"0a0161", SB_VALUE_KIND_NONE},
        {"0a0161 150000003f", SB_VALUE_KIND_SIMPLE},
        {"0a0161 1a0178", SB_VALUE_KIND_OLD_HISTO},
        {"0a0161 2200", SB_VALUE_KIND_IMAGE},
        {"0a0161 2a00", SB_VALUE_KIND_HISTO},
        {"0a0161 3200", SB_VALUE_KIND_AUDIO},
        {"0a0161 4200", SB_VALUE_KIND_TENSOR},
        {"150000003f 0a0161", SB_VALUE_KIND_SIMPLE},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_value value = read_value(cases[i].hex);
        assert_int_equal(value.kind, cases[i].kind);
        assert_slice_is(value.tag, "a");
        assert_null(value.metadata.p);
    }
}

static void last_kind_of_a_value_wins(void **state) {
    (void)state;
    sb_value value = read_value("0a0161 4202 0801 150000003f");
    double x;
    assert_int_equal(value.kind, SB_VALUE_KIND_SIMPLE);
    assert_true(sb_scalar_of(&value, &x, NULL) && x == 0.5);
    value = read_value("0a0161 150000003f 2200");
    assert_int_equal(value.kind, SB_VALUE_KIND_IMAGE);
    assert_false(sb_scalar_of(&value, &x, NULL));
}

static void node_name_stands_in_for_an_empty_tag(void **state) {
    (void)state;
    sb_value value = read_value("3a046e6f6465");
    assert_slice_is(sb_value_tag(&value), "node");
    value = read_value("0a0161 3a046e6f6465");
    assert_slice_is(sb_value_tag(&value), "a");
}

static void long_tags_and_tensors_are_read(void **state) {
    (void)state;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    static uint8_t text[5000];
    memset(text, 'x', sizeof text);
    for (size_t n = 100; n <= sizeof text; n += 27) {
        sb_buf_clear(&b);
        size_t at = sb_pb_begin(&b, SB_SUMMARY_VALUE, n);
        sb_pb_add_bytes(&b, SB_VALUE_TAG, sb_slice_of(text, n));
        sb_pb_add_bytes(&b, SB_VALUE_TENSOR, sb_slice_of(text, n));
        sb_pb_end(&b, at);
        sb_summary_walk values = sb_summary_over(sb_buf_slice(&b));
        sb_value value;
        assert_int_equal(sb_summary_next(&values, &value), SB_OK);
        assert_int_equal(value.tag.n, n);
        assert_int_equal(value.body.n, n);
        assert_int_equal(sb_summary_next(&values, &value), SB_END);
    }
    sb_buf_fini(&b);
}

static void many_values_come_in_order(void **state) {
    (void)state;
    sb_summary_walk values = sb_summary_over(hex("0a03 0a0161 f20600 0a03 0a0162 0a00"));
    sb_value value;
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_slice_is(value.tag, "a");
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_slice_is(value.tag, "b");
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_int_equal(value.tag.n, 0);
    assert_int_equal(sb_summary_next(&values, &value), SB_END);
    assert_int_equal(sb_summary_next(&values, &value), SB_END);
    values = sb_summary_over(hex("0a03 0a0161 0a09 0a"));
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_int_equal(sb_summary_next(&values, &value), SB_CORRUPT);
}

/* ---- scalars --------------------------------------------------------------------------------- */

typedef struct scalar_case {
    const char *tensor;
    bool is_scalar;
    double x;
    sb_dtype dtype;
} scalar_case;

static const scalar_case scalar_cases[] = {
    {"0801 1200 2204 0000003f", true, 0.5, SB_FLOAT},                   /* TF2 */
    {"0801 2a04 0000003f", true, 0.5, SB_FLOAT},                        /* torch */
    {"0801 1200 2a04 0000003f", true, 0.5, SB_FLOAT},                   /* tensorboard.summary */
    {"0801 2204 0000003f", true, 0.5, SB_FLOAT},                        /* content, no shape */
    {"0801 2d 0000003f", true, 0.5, SB_FLOAT},                          /* not packed */
    {"2a04 0000003f 0801", true, 0.5, SB_FLOAT},                        /* another order */
    {"0801 12041202 0801 2a04 0000003f", true, 0.5, SB_FLOAT},          /* shape [1] */
    {"0801 1208 12020801 12020801 2204 0000003f", true, 0.5, SB_FLOAT}, /* shape [1, 1] */
    {"0802 3208 000000000000e03f", true, 0.5, SB_DOUBLE},
    {"0802 1200 2208 000000000000e03f", true, 0.5, SB_DOUBLE},
    {"0802 1200 3208 000000000000e03f", true, 0.5, SB_DOUBLE},
    {"0813 6a02 8078", true, 1, SB_HALF},
    {"0813 2202 003c", true, 1, SB_HALF},
    {"080e 6a02 807f", true, 1, SB_BFLOAT16},
    {"080e 2202 803f", true, 1, SB_BFLOAT16},
    {"0803 3a0a feffffffffffffffff01", true, -2, SB_INT32},
    {"0803 2204 feffffff", true, -2, SB_INT32},
    {"0804 3a02 ff01", true, 255, SB_UINT8},
    {"0804 8201 02 ff01", true, 255, SB_UINT8}, /* torch puts uint8 into uint32_val */
    {"0805 2202 feff", true, -2, SB_INT16},
    {"0806 2201 fe", true, -2, SB_INT8},
    {"0809 520a feffffffffffffffff01", true, -2, SB_INT64},
    {"080a 5a01 01", true, 1, SB_BOOL},
    {"080a 2201 01", true, 1, SB_BOOL},
    {"0811 3a02 ff7f", true, 16383, SB_UINT16},
    {"0816 8201 05 ffffffff0f", true, 4294967295.0, SB_UINT32},
    {"0817 8a01 0a ffffffffffffffffff01", true, 18446744073709551615.0, SB_UINT64},
    {"0817 2208 ffffffffffffffff", true, 18446744073709551615.0, SB_UINT64},
    {"0818 9201 01 3c", true, 1, SB_FLOAT8_E5M2},
    {"0819 2201 38", true, 1, SB_FLOAT8_E4M3FN},
    {"081d 3a01 01", true, 1, SB_INT4},
    {"0865 2a04 0000003f", true, 0.5, SB_FLOAT}, /* a reference type */
    /* and what is no scalar */
    {"", false, 0, SB_NO_DTYPE},
    {"0801", false, 0, SB_NO_DTYPE},
    {"0801 1200", false, 0, SB_NO_DTYPE},
    {"0801 12021200", false, 0, SB_NO_DTYPE}, /* the null tensor: shape [0] */
    {"0801 2a08 0000003f 0000003f", false, 0, SB_NO_DTYPE},
    {"0801 12041202 0802 2a04 0000003f", false, 0, SB_NO_DTYPE},
    {"0807 4201 61", false, 0, SB_NO_DTYPE},
    {"0808 4a08 0000003f 0000003f", false, 0, SB_NO_DTYPE},
    {"0801 1200 2204 000000", false, 0, SB_NO_DTYPE},
    {"0801 1200 2203 000000", false, 0, SB_NO_DTYPE},
    {"084d 2a04 0000003f", false, 0, SB_NO_DTYPE},
};

static void a_scalar_is_read_from_every_form(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(scalar_cases); i++) {
        const scalar_case *c = &scalar_cases[i];
        sb_value value = {.kind = SB_VALUE_KIND_TENSOR, .body = hex(c->tensor)};
        double x = 0;
        sb_dtype dtype = SB_NO_DTYPE;
        if (sb_scalar_of(&value, &x, &dtype) != c->is_scalar || x != c->x || dtype != c->dtype)
            fail_msg("%s gave %g, %s", c->tensor, x, sb_dtype_name(dtype));
        assert_int_equal(sb_scalar_of(&value, &x, NULL), c->is_scalar);
    }
}

static void not_a_number_is_kept_to_the_bit(void **state) {
    (void)state;
    double x;
    sb_value value = read_value("0a0161 15 0000c07f");
    assert_true(sb_scalar_of(&value, &x, NULL) && isnan(x));
    value = read_value("0a0161 15 000080ff");
    assert_true(sb_scalar_of(&value, &x, NULL) && x == -INFINITY);
    value = (sb_value){.kind = SB_VALUE_KIND_TENSOR, .body = hex("0802 3208 efbeadde0000f87f")};
    assert_true(sb_scalar_of(&value, &x, NULL));
    assert_true(sb_double_bits(x) == 0x7ff80000deadbeef);
    value = (sb_value){.kind = SB_VALUE_KIND_TENSOR, .body = hex("0801 2a04 00000080")};
    assert_true(sb_scalar_of(&value, &x, NULL) && signbit(x));
}

/* ---- what a value holds ---------------------------------------------------------------------- */

static void metadata_is_read(void **state) {
    (void)state;
    sb_metadata m;
    sb_slice body = hex("0a0b 0a077363616c617273 120100 1201 64 1a02 6465 2001");
    assert_int_equal(sb_metadata_read(&m, body), SB_CORRUPT); /* the plugin's length is short */
    body = hex("0a0c 0a077363616c617273 120163 1201 64 1a02 6465 2001");
    assert_int_equal(sb_metadata_read(&m, body), SB_OK);
    assert_slice_is(m.plugin_name, "scalars");
    assert_slice_is(m.content, "c");
    assert_slice_is(m.display_name, "d");
    assert_slice_is(m.description, "de");
    assert_int_equal(m.data_class, SB_DATA_CLASS_SCALAR);
    assert_int_equal(sb_metadata_read(&m, sb_slice_of(NULL, 0)), SB_OK);
    assert_int_equal(m.plugin_name.n + m.content.n + m.display_name.n, 0);
}

static void metadata_is_written_as_it_was_read(void **state) {
    (void)state;
    sb_metadata m = {.plugin_name = SB_LIT("scalars")};
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 10);
    sb_metadata_add(&b, SB_VALUE_METADATA, &m);
    assert_slice_equal(sb_buf_slice(&b), hex("4a0b 0a09 0a077363616c617273"));
    sb_buf_clear(&b);
    m.data_class = SB_DATA_CLASS_SCALAR;
    sb_metadata_add(&b, SB_VALUE_METADATA, &m);
    assert_slice_equal(sb_buf_slice(&b), hex("4a0d 0a09 0a077363616c617273 2001"));
    sb_buf_fini(&b);
}

static void image_and_audio_are_read(void **state) {
    (void)state;
    sb_summary_image image;
    assert_int_equal(sb_summary_image_read(&image, hex("0805 1007 1803 2203 504e47")), SB_OK);
    assert_int_equal(image.height, 5);
    assert_int_equal(image.width, 7);
    assert_int_equal(image.colorspace, 3);
    assert_slice_is(image.encoded, "PNG");
    sb_summary_audio audio;
    sb_slice body = hex("0d0000fa45 1002 1807 2204 52494646 2a09 617564696f2f776176");
    assert_int_equal(sb_summary_audio_read(&audio, body), SB_OK);
    assert_true(audio.sample_rate == 8000);
    assert_int_equal(audio.channels, 2);
    assert_int_equal(audio.frames, 7);
    assert_slice_is(audio.encoded, "RIFF");
    assert_slice_is(audio.content_type, "audio/wav");
}

#define ONE "000000000000f03f"
#define TWO "0000000000000040"
#define MAX "ffffffffffffef7f"

static void histogram_is_read_packed_and_scattered(void **state) {
    (void)state;
    static const char *const forms[] = {
        "09" ONE " 11" TWO " 19" TWO " 21" TWO " 29" TWO " 3210" ONE MAX " 3a10" TWO ONE,
        "3208" ONE " 3208" MAX " 3a08" TWO " 3a08" ONE " 09" ONE " 11" TWO " 19" TWO " 21" TWO
        " 29" TWO,
        "31" ONE " 39" TWO " 31" MAX " 39" ONE " 09" ONE " 11" TWO " 19" TWO " 21" TWO " 29" TWO,
        "3200 31" ONE " 3208" MAX " 3a10" TWO ONE " 3200 3a00 09" ONE " 11" TWO " 19" TWO " 21" TWO
        " 29" TWO,
        "09" ONE " 11" TWO " 19" TWO " 21" TWO " 29" TWO " 3001 3210" ONE MAX " 3a10" TWO ONE,
    };
    for (size_t i = 0; i < SB_COUNT(forms); i++) {
        sb_summary_histo h;
        double x[2];
        assert_int_equal(sb_summary_histo_read(&h, hex(forms[i])), SB_OK);
        assert_true(h.min == 1 && h.max == 2 && h.num == 2 && h.sum == 2 && h.sum_squares == 2);
        assert_int_equal(h.limits.count, 2);
        assert_int_equal(h.buckets.count, 2);
        sb_doubles_copy(&h.limits, 0, 2, x);
        assert_true(x[0] == 1 && x[1] == DBL_MAX);
        sb_doubles_copy(&h.buckets, 0, 2, x);
        assert_true(x[0] == 2 && x[1] == 1);
        sb_doubles_copy(&h.buckets, 1, 1, x);
        assert_true(x[0] == 1);
    }
}

static void histogram_of_unequal_parts_is_corrupt(void **state) {
    (void)state;
    sb_summary_histo h;
    assert_int_equal(sb_summary_histo_read(&h, hex("3208" ONE)), SB_CORRUPT);
    assert_int_equal(sb_summary_histo_read(&h, hex("3208" ONE " 3a10" ONE ONE)), SB_CORRUPT);
    assert_int_equal(sb_summary_histo_read(&h, hex("3207 00000000000000 3a08" ONE)), SB_CORRUPT);
    assert_int_equal(sb_summary_histo_read(&h, sb_slice_of(NULL, 0)), SB_OK);
    assert_int_equal(h.limits.count, 0);
}

/* Kinds of all values that the real programs wrote, as their own library counts them. */
static void count_values(const char *path, sb_slice payload, void *ud) {
    (void)path;
    size_t *kinds = ud;
    sb_event event;
    sb_value value;
    sb_metadata m;
    double x;
    assert_int_equal(sb_event_read(&event, payload), SB_OK);
    if (event.what != SB_WHAT_SUMMARY) return;
    sb_summary_walk values = sb_summary_over(event.body);
    while (sb_summary_next(&values, &value) == SB_OK) {
        kinds[value.kind]++;
        assert_int_equal(sb_metadata_read(&m, value.metadata), SB_OK);
        bool scalar =
            value.kind == SB_VALUE_KIND_SIMPLE || sb_slice_eq(m.plugin_name, SB_LIT("scalars"));
        assert_int_equal(sb_scalar_of(&value, &x, NULL), scalar);
        kinds[10] += scalar;
    }
}

static void values_of_the_fixtures_are_all_there(void **state) {
    (void)state;
    size_t kinds[16] = {0};
    fixture_events(SB_FIXTURES, count_values, kinds);
    assert_int_equal(kinds[SB_VALUE_KIND_NONE], 9);
    assert_int_equal(kinds[SB_VALUE_KIND_HISTO], 28);
    assert_int_equal(kinds[SB_VALUE_KIND_IMAGE], 56);
    assert_int_equal(kinds[SB_VALUE_KIND_AUDIO], 24);
    assert_int_equal(kinds[10] - kinds[SB_VALUE_KIND_SIMPLE], 374); /* scalars in tensors */
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void touch_one_value(sb_slice input) {
    sb_value value, plain;
    sb_status status = sb_value_read(&value, input);
    assert_int_equal(status, sb_value_read_plain(&plain, input));
    if (status == SB_OK) touch_value(&value);
    touch_summary(input);
    touch_metadata(input);
    touch_histogram(input);
}

static const char *const good_values[] = {
    "0a0161 4208 0801 2a040000003f 4a0b 0a09 0a077363616c617273",
    "0a0161 2a2c 09" ONE " 3210" ONE MAX " 3a10" TWO ONE,
    "0a0161 220b 0805 1007 1803 2203 504e47",
    "0a0161 321e 0d0000fa45 1002 1807 2204 52494646 2a09 617564696f2f776176",
};

static void damaged_values_are_survived(void **state) {
    (void)state;
    uint8_t own[256];
    for (size_t i = 0; i < SB_COUNT(good_values); i++) {
        sb_slice value = sb_test_bytes(own, sizeof own, good_values[i]);
        hostile_cuts(value, touch_one_value);
        hostile_flips(value, touch_one_value);
    }
    hostile_noise(3, 20000, touch_one_value);
}

static sb_status write_metadata(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_metadata m = {SB_LIT("a plugin"), SB_LIT("content"), SB_LIT("d"), SB_LIT("e"), 1};
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 10);
    for (int i = 0; i < 8; i++) sb_metadata_add(&b, SB_VALUE_METADATA, &m);
    sb_status status = sb_buf_check(&b, "metadata", NULL);
    sb_buf_fini(&b);
    return status;
}

static void writing_without_memory_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(write_metadata, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_told_apart),
        cmocka_unit_test(last_kind_of_a_value_wins),
        cmocka_unit_test(node_name_stands_in_for_an_empty_tag),
        cmocka_unit_test(long_tags_and_tensors_are_read),
        cmocka_unit_test(many_values_come_in_order),
        cmocka_unit_test(a_scalar_is_read_from_every_form),
        cmocka_unit_test(not_a_number_is_kept_to_the_bit),
        cmocka_unit_test(metadata_is_read),
        cmocka_unit_test(metadata_is_written_as_it_was_read),
        cmocka_unit_test(image_and_audio_are_read),
        cmocka_unit_test(histogram_is_read_packed_and_scattered),
        cmocka_unit_test(histogram_of_unequal_parts_is_corrupt),
        cmocka_unit_test(values_of_the_fixtures_are_all_there),
        cmocka_unit_test(damaged_values_are_survived),
        cmocka_unit_test(writing_without_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
