/* text_test.c: texts and tensors of strings, in every style. */
#include "support/writer_bed.h"

#include "base/banned.h"

static void a_text_has_the_bytes_of_each_framework(void **state) {
    static const char tf[] = "10012a190a170a0174420808071200420268694a080a060a0474657874";
    static const char torch[] = "10012a2a0a280a0e742f746578745f73756d6d617279"
                                "420c0807120412020801420268694a080a060a0474657874";
    const char *const expected[] = {tf, tf, torch, torch};
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "style%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(sb_text(b.w, "t", "hi", 1), SB_OK);
        bed_close(&b);
        assert_event_bytes(&b, 0, expected[style]);
        bed_free(&b);
    }
}

static void arrays_keep_their_shape_and_order(void **state) {
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT("b"), SB_LIT("c"), {NULL, 0}};
    bed b = bed_open(*state, "array", SB_STYLE_TF2);
    const sb_meta meta = SB_INIT(sb_meta, .display_name = "dn", .description = "d");
    assert_int_equal(sb_text_array(b.w, "t2", &ARRAY_OF(SB_STRING, strings, 2, 2), 1, NULL), SB_OK);
    assert_int_equal(sb_text_array(b.w, "none", &ARRAY_OF(SB_STRING, strings, 0), 1, &meta), SB_OK);
    bed_close(&b);
    /* Captured from tf.summary.text. */
    assert_event_bytes(&b, 0,
                       "10012a290a270a0274324217080712081202080212020802420161420162420163"
                       "42004a080a060a0474657874");
    sb_value value = bed_value(&b, 1, 0);
    assert_int_equal(bed_tensor(&value).count, 0);
    assert_slice_is(bed_metadata(&value).description, "d");
    assert_slice_is(bed_metadata(&value).display_name, "dn");
    bed_free(&b);
}

static void tf1_writes_metadata_once_a_tag(void **state) {
    bed b = bed_open(*state, "once", SB_STYLE_TF1);
    for (int64_t step = 0; step < 3; step++) {
        assert_int_equal(sb_text(b.w, "a", "x", step), SB_OK);
        assert_int_equal(sb_text(b.w, "b", "x", step), SB_OK);
    }
    bed_close(&b);
    for (size_t i = 0; i < 6; i++) {
        sb_value value = bed_value(&b, i, 0);
        assert_int_equal(value.metadata.n != 0, i < 2);
    }
    bed_free(&b);
}

static void long_texts_and_many_strings_arrive_whole(void **state) {
    size_t n = 300000, count = 5000;
    char *text = test_malloc(n + 1);
    sb_slice *strings = test_malloc(count * sizeof *strings);
    memset(text, 'x', n);
    text[n] = 0;
    for (size_t i = 0; i < count; i++) strings[i] = sb_slice_of(text, i % 7);
    bed b = bed_open(*state, "long", SB_STYLE_TORCH);
    assert_int_equal(sb_text(b.w, "t", text, 1), SB_OK);
    assert_int_equal(
        sb_text_array(b.w, "m", &ARRAY_OF(SB_STRING, strings, (int64_t)count), 1, NULL), SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    sb_tensor_view tensor = bed_tensor(&value);
    sb_strings walk = sb_tensor_strings(&tensor);
    sb_slice string;
    assert_true(sb_strings_next(&walk, &string));
    assert_slice_equal(string, sb_slice_of(text, n));
    value = bed_value(&b, 1, 0);
    tensor = bed_tensor(&value);
    walk = sb_tensor_strings(&tensor);
    for (size_t i = 0; i < count; i++) {
        assert_true(sb_strings_next(&walk, &string));
        assert_int_equal(string.n, i % 7);
    }
    bed_free(&b);
    test_free(strings);
    test_free(text);
}

static void senseless_calls_are_refused(void **state) {
    const sb_slice good[] = {SB_LIT("a"), SB_LIT("b")};
    const sb_slice bad[] = {SB_LIT("a"), SB_LIT("b\xff")};
    const sb_slice broken[] = {SB_LIT("a"), {NULL, 5}};
    const float numbers[] = {1, 2};
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    assert_refused(b.w, sb_text(b.w, "t", NULL, 1), SB_INVALID, "missing");
    assert_refused(b.w, sb_text(b.w, NULL, "x", 1), SB_INVALID, "tag");
    assert_refused(b.w, sb_text(b.w, "t", "\xc3(", 1), SB_INVALID, "not valid UTF-8");
    assert_refused(b.w, sb_text_array(b.w, "t", NULL, 1, NULL), SB_INVALID, "missing");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, bad, 2), 1, NULL), SB_INVALID,
                   "string 1");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, broken, 2), 1, NULL),
                   SB_INVALID, "string 1 is NULL");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_FLOAT, numbers, 2), 1, NULL),
                   SB_INVALID, "float32");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, NULL, 2), 1, NULL), SB_INVALID,
                   "NULL");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, good, -1), 1, NULL),
                   SB_INVALID, "negative");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, good, INT64_MAX, 4), 1, NULL),
                   SB_LIMIT, "overflows");
    assert_refused(b.w, sb_text_array(b.w, "t", &ARRAY_OF(SB_STRING, good, INT64_MAX), 1, NULL),
                   SB_LIMIT, "too many");
    const sb_array deep = {good, SB_STRING, 255, (const int64_t[255]){1}, NULL};
    assert_refused(b.w, sb_text_array(b.w, "t", &deep, 1, NULL), SB_LIMIT, "rank 255");
    const sb_array no_dims = {good, SB_STRING, 1, NULL, NULL};
    assert_refused(b.w, sb_text_array(b.w, "t", &no_dims, 1, NULL), SB_INVALID, "needs dims");
    assert_int_equal(sb_text(NULL, "t", "x", 1), SB_INVALID);
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_texts(sb_writer *w) {
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT("b")};
    sb_status status = sb_text(w, "t", "hi", 1);
    if (status != SB_OK) return status;
    return sb_text_array(w, "u", &ARRAY_OF(SB_STRING, strings, 2), 1, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF1, make_texts);
    bed_sweep(*state, SB_STYLE_TORCH, make_texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(a_text_has_the_bytes_of_each_framework),
        DIR_TEST(arrays_keep_their_shape_and_order),
        DIR_TEST(tf1_writes_metadata_once_a_tag),
        DIR_TEST(long_texts_and_many_strings_arrive_whole),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
