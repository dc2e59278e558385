/* tensor_test.c: tensors of every type under any plugin's name. */
#include <math.h>

#include "support/writer_bed.h"

#include "base/banned.h"

/* Every element of every numeric type reads back as it was given. */
static void all_number_types_can_be_read_back(void **state) {
    uint8_t bytes[16 * 5];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i & 1); /* fits bools, too */
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "types%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        sb_dtype written[64];
        size_t count = 0;
        for (int dtype = 0; dtype < 40; dtype++) {
            if (!sb_dtype_numeric((sb_dtype)dtype) || !sb_dtype_size((sb_dtype)dtype)) continue;
            sb_array array = ARRAY_OF((sb_dtype)dtype, bytes, 5);
            assert_int_equal(sb_tensor(b.w, "x", &array, 1, NULL, SB_LIT(""), NULL), SB_OK);
            written[count++] = (sb_dtype)dtype;
        }
        bed_close(&b);
        assert_ok(b.closed, &b.err);
        assert_int_equal(bed_count(&b), count);
        for (size_t i = 0; i < count; i++) {
            sb_value value = bed_value(&b, i, 0);
            sb_tensor_view got = bed_tensor(&value);
            sb_tensor_view given = {.dtype = written[i],
                                    .rank = 1,
                                    .count = 5,
                                    .content = sb_slice_of(bytes, 5 * sb_dtype_size(written[i]))};
            assert_int_equal(got.dtype, written[i]);
            double left[10], right[10];
            assert_int_equal(sb_tensor_complex(&got, 0, 5, left), SB_OK);
            assert_int_equal(sb_tensor_complex(&given, 0, 5, right), SB_OK);
            assert_memory_equal(left, right, sizeof left);
        }
        bed_free(&b);
    }
}

static void plugin_name_and_content_go_into_the_metadata(void **state) {
    const float x[] = {1, 2};
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "plugin%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        const sb_array array = ARRAY_OF(SB_FLOAT, x, 2);
        assert_int_equal(sb_tensor(b.w, "a", &array, 1, "mine", SB_LIT("\x01\xff"), NULL), SB_OK);
        assert_int_equal(sb_tensor(b.w, "b", &array, 1, NULL, SB_LIT(""), NULL), SB_OK);
        assert_int_equal(sb_tensor(b.w, "c", &array, 1, "", SB_LIT("content"), NULL), SB_OK);
        bed_close(&b);
        sb_value value = bed_value(&b, 0, 0);
        assert_slice_is(bed_metadata(&value).plugin_name, "mine");
        assert_slice_is(bed_metadata(&value).content, "\x01\xff");
        value = bed_value(&b, 1, 0);
        assert_slice_is(bed_metadata(&value).plugin_name, style == SB_STYLE_TORCH ? "tensor" : "");
        /* Only TF1 has a metadata field that is empty. */
        assert_int_equal(value.metadata.p != NULL,
                         style == SB_STYLE_TF1 || style == SB_STYLE_TORCH);
        value = bed_value(&b, 2, 0);
        assert_slice_is(bed_metadata(&value).plugin_name, "");
        assert_slice_is(bed_metadata(&value).content, "content");
        bed_free(&b);
    }
}

static void half_and_bytes_of_torch_stand_where_readers_look(void **state) {
    const uint16_t halves[] = {0x3e00, 0xc000}; /* 1.5, -2 */
    const uint8_t bytes[] = {0, 255};
    bed b = bed_open(*state, "torch", SB_STYLE_TORCH);
    assert_int_equal(sb_tensor(b.w, "h", &ARRAY_OF(SB_HALF, halves, 2), 1, NULL, SB_LIT(""), NULL),
                     SB_OK);
    assert_int_equal(sb_tensor(b.w, "u", &ARRAY_OF(SB_UINT8, bytes, 2), 1, NULL, SB_LIT(""), NULL),
                     SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    uint8_t room[64];
    /* dtype, shape, half_val as two varints of 16 bits */
    assert_slice_equal(value.body, sb_test_bytes(room, sizeof room,
                                                 "0813 1204 1202 0802 "
                                                 "6a05 807c 808003"));
    value = bed_value(&b, 1, 0);
    assert_slice_equal(value.body, sb_test_bytes(room, sizeof room,
                                                 "0804 1204 1202 0802 "
                                                 "3a03 00ff01"));
    bed_free(&b);
}

static void shapes_of_any_rank_are_kept(void **state) {
    int64_t dims[254];
    const double one = 1.5;
    bed b = bed_open(*state, "ranks", SB_STYLE_TF2);
    for (uint32_t i = 0; i < 254; i++) dims[i] = 1;
    const uint32_t ranks[] = {0, 1, 16, 17, 254};
    for (size_t i = 0; i < SB_COUNT(ranks); i++) {
        const sb_array array = {&one, SB_DOUBLE, ranks[i], dims, NULL};
        assert_int_equal(sb_tensor(b.w, "x", &array, 1, NULL, SB_LIT(""), NULL), SB_OK);
    }
    bed_close(&b);
    for (size_t i = 0; i < SB_COUNT(ranks); i++) {
        sb_value value = bed_value(&b, i, 0);
        assert_int_equal(bed_tensor(&value).rank, ranks[i]);
        assert_int_equal(bed_tensor(&value).count, 1);
    }
    bed_free(&b);
}

static void strings_may_hold_any_bytes(void **state) {
    const sb_slice strings[] = {SB_LIT("\xff\x00"), SB_LIT(""), SB_LIT("b")};
    bed b = bed_open(*state, "bytes", SB_STYLE_TORCH);
    assert_int_equal(
        sb_tensor(b.w, "s", &ARRAY_OF(SB_STRING, strings, 3), 1, "p", SB_LIT("c"), NULL), SB_OK);
    assert_int_equal(
        sb_tensor(b.w, "one", &ARRAY_OF(SB_STRING, strings, 1), 1, "p", SB_LIT("c"), NULL), SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    sb_tensor_view tensor = bed_tensor(&value);
    sb_strings walk = sb_tensor_strings(&tensor);
    for (size_t i = 0; i < 3; i++) {
        sb_slice string;
        assert_true(sb_strings_next(&walk, &string));
        assert_slice_equal(string, strings[i]);
    }
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    const float x[] = {1, 2};
    const sb_array good = ARRAY_OF(SB_FLOAT, x, 2);
    const sb_slice broken[] = {{NULL, 3}};
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    assert_refused(b.w, sb_tensor(b.w, "x", NULL, 1, NULL, SB_LIT(""), NULL), SB_INVALID,
                   "missing");
    assert_refused(b.w, sb_tensor(b.w, "x", &good, 1, "\xff", SB_LIT(""), NULL), SB_INVALID,
                   "not valid UTF-8");
    assert_refused(b.w, sb_tensor(b.w, "x", &good, 1, "p", sb_slice_of(NULL, 4), NULL), SB_INVALID,
                   "content is missing");
    const int unusable[] = {SB_NO_DTYPE, SB_RESOURCE, SB_VARIANT, 77, -1};
    for (size_t i = 0; i < SB_COUNT(unusable); i++)
        assert_refused(
            b.w,
            sb_tensor(b.w, "x", &ARRAY_OF((sb_dtype)unusable[i], x, 1), 1, NULL, SB_LIT(""), NULL),
            SB_INVALID, "can't be used here");
    assert_refused(b.w,
                   sb_tensor(b.w, "x", &ARRAY_OF(SB_STRING, broken, 1), 1, "", SB_LIT(""), NULL),
                   SB_INVALID, "is NULL");
    assert_refused(
        b.w,
        sb_tensor(b.w, "x", &ARRAY_OF(SB_FLOAT, x, (int64_t)1 << 29, 2), 1, "", SB_LIT(""), NULL),
        SB_LIMIT, "2 GiB");
    const double times[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < SB_COUNT(times); i++) {
        const sb_meta at = SB_INIT(sb_meta, .wall_time = times[i]);
        assert_refused(b.w, sb_tensor(b.w, "x", &good, 1, "", SB_LIT(""), &at), SB_INVALID,
                       "wall time");
    }
    const sb_meta meta = SB_INIT(sb_meta, .description = "\xff");
    assert_refused(b.w, sb_tensor(b.w, "x", &good, 1, "", SB_LIT(""), &meta), SB_INVALID,
                   "description");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

/* Negative numbers take ten bytes each in int_val: a tensor of 256 MB can become an event that no
 * reader takes. The limit is 2 GiB; here it is smaller. */
static void events_that_no_reader_takes_are_refused(void **state) {
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    const sb_call call = {.kind = SB_CALL_EVENT, .tag = SB_LIT("x"), .data = SB_LIT("0123456789")};
    sb_encoder e;
    sb_buf event;
    sb_err err;
    (void)state;
    sb_encoder_init(&e, &env, SB_STYLE_TORCH, 1 << 20, 10);
    sb_buf_init(&event, &sb_alloc_libc, 1 << 20);
    assert_int_equal(e.max_event, INT32_MAX);
    e.max_event = 10;
    assert_ok(sb_encode_call(&e, &call, &event, &err), &err);
    assert_ok(sb_encode_call(&e, &call, &event, &err), &err); /* one event, not the whole buffer */
    e.max_event = 9;
    assert_int_equal(sb_encode_call(&e, &call, &event, &err), SB_LIMIT);
    assert_non_null(strstr(err.text, "2 GiB"));
    sb_buf_fini(&event);
    sb_encoder_fini(&e);
}

static sb_status make_tensors(sb_writer *w) {
    const float x[] = {1, 2};
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT("b")};
    sb_status status = sb_tensor(w, "x", &ARRAY_OF(SB_FLOAT, x, 2), 1, "p", SB_LIT("c"), NULL);
    if (status != SB_OK) return status;
    return sb_tensor(w, "s", &ARRAY_OF(SB_STRING, strings, 2), 1, "p", SB_LIT("c"), NULL);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF1, make_tensors);
    bed_sweep(*state, SB_STYLE_TORCH, make_tensors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(all_number_types_can_be_read_back),
        DIR_TEST(plugin_name_and_content_go_into_the_metadata),
        DIR_TEST(half_and_bytes_of_torch_stand_where_readers_look),
        DIR_TEST(shapes_of_any_rank_are_kept),
        DIR_TEST(strings_may_hold_any_bytes),
        DIR_TEST(senseless_calls_are_refused),
        cmocka_unit_test(events_that_no_reader_takes_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
