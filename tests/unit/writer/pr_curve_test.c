/* pr_curve_test.c: precision and recall, as two frameworks count. */
#include "writer/kinds/pr_curve.h"

#include <math.h>

#include "support/writer_bed.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

/* Captured from the pr_curve plugin: labels true, false; predictions 0.9, 0.1; 3 thresholds. */
#define TF_EVENT                                                                                   \
    "100d2a7f0a7d0a0c70722f70725f637572766573425608011208120208061202080322480000803f0000803f0000" \
    "00"                                                                                           \
    "000000803f0000000000000000000000000000803f0000803f00000000000000000000803f0000003f0000803f00" \
    "00"                                                                                           \
    "00000000803f0000803f000000004a150a0f0a0970725f6375727665731202100312027072"

static void events_have_the_bytes_of_tensorboards_op(void **state) {
    const uint8_t labels[] = {1, 0};
    const float predictions[] = {0.9f, 0.1f};
    for (int style = SB_STYLE_TF2; style <= SB_STYLE_TF1; style++) {
        bed b = bed_open(*state, style == SB_STYLE_TF1 ? "tf1" : "tf2", (sb_style)style);
        assert_int_equal(sb_pr_curve(b.w, "pr", &ARRAY_OF(SB_BOOL, labels, 2),
                                     &ARRAY_OF(SB_FLOAT, predictions, 2), NULL, 3, 13, NULL),
                         SB_OK);
        bed_close(&b);
        assert_event_bytes(&b, 0, TF_EVENT);
        bed_free(&b);
    }
}

static void torch_uses_float_val_and_at_most_127_thresholds(void **state) {
    const int32_t labels[] = {1, 0, 5};
    const double predictions[] = {0.9, 0.1, 0.5};
    bed b = bed_open(*state, "torch", SB_STYLE_TORCH);
    assert_int_equal(sb_pr_curve(b.w, "pr", &ARRAY_OF(SB_INT32, labels, 3),
                                 &ARRAY_OF(SB_DOUBLE, predictions, 3), NULL, 500, 1, NULL),
                     SB_OK);
    const double rows[6 * 200] = {1.5};
    assert_int_equal(sb_pr_curve_raw(b.w, "raw", rows, 200, 1, NULL), SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    sb_tensor_view tensor = bed_tensor(&value);
    assert_slice_is(value.tag, "pr");
    assert_int_equal(tensor.content.n, 0);
    assert_int_equal(tensor.dims[1], 127);
    assert_slice_is(bed_metadata(&value).content, "\x10\x7f");
    float first[3];
    assert_int_equal(sb_tensor_floats(&tensor, 0, 1, first), SB_OK);
    assert_true(first[0] == 2); /* both that are not 0 */
    value = bed_value(&b, 1, 0);
    assert_int_equal(bed_tensor(&value).dims[1], 200);
    assert_slice_is(bed_metadata(&value).content, "\x10\x7f");
    bed_free(&b);
}

static sb_tensor_view view_of(const sb_array *array) {
    return sb_array_view(array);
}

static void predictions_without_a_place_count_nowhere(void **state) {
    const uint8_t labels[] = {1, 1, 1, 1, 0, 1};
    const double p[] = {NAN, INFINITY, -INFINITY, 2, -1, 0.5};
    const sb_array label_array = ARRAY_OF(SB_BOOL, labels, 6), p_array = ARRAY_OF(SB_DOUBLE, p, 6);
    const sb_array none = ARRAY_OF(SB_FLOAT, NULL, 0);
    const sb_pr_input in = {view_of(&label_array), view_of(&p_array), view_of(&none)};
    double scratch[4 * 5];
    float rows[6 * 5];
    (void)state;
    sb_pr_curve_torch(&in, 5, scratch, rows);
    assert_true(rows[0] == 1 && rows[2] == 1 && rows[3] == 0); /* only 0.5 */
    sb_pr_curve_tf(&in, 5, scratch, rows);
    /* Clipped: infinity and 2 to 1, -infinity and -1 to 0; NaN is left out. */
    assert_true(rows[0] == 4 && rows[1] == 3 && rows[4] == 2 && rows[5] == 1);
    for (size_t i = 0; i < 30; i++) assert_true(rows[i] == rows[i]); /* never NaN */
}

static void weights_are_one_for_all_or_one_each(void **state) {
    const uint8_t labels[] = {1, 0};
    const float p[] = {0.7f, 0.2f}, each[] = {3, 5}, all[] = {2};
    const sb_array label_array = ARRAY_OF(SB_BOOL, labels, 2), p_array = ARRAY_OF(SB_FLOAT, p, 2);
    const sb_array each_array = ARRAY_OF(SB_FLOAT, each, 2),
                   all_array = {all, SB_FLOAT, 0, NULL, NULL};
    double scratch[4 * 3];
    float rows[6 * 3];
    (void)state;
    sb_pr_input in = {view_of(&label_array), view_of(&p_array), view_of(&each_array)};
    sb_pr_curve_torch(&in, 3, scratch, rows);
    assert_true(rows[0] == 3 && rows[3] == 5);
    in.weights = view_of(&all_array);
    sb_pr_curve_tf(&in, 3, scratch, rows);
    assert_true(rows[0] == 2 && rows[3] == 2);
}

static void senseless_calls_are_refused(void **state) {
    const float x[] = {1, 0, 1};
    const sb_array two = ARRAY_OF(SB_FLOAT, x, 2), three = ARRAY_OF(SB_FLOAT, x, 3);
    const sb_array strings = ARRAY_OF(SB_STRING, x, 0);
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    sb_writer *w = b.w;
    assert_refused(w, sb_pr_curve(w, "p", NULL, &two, NULL, 0, 1, NULL), SB_INVALID, "labels");
    assert_refused(w, sb_pr_curve(w, "p", &two, NULL, NULL, 0, 1, NULL), SB_INVALID, "predictions");
    assert_refused(w, sb_pr_curve(w, "p", &two, &strings, NULL, 0, 1, NULL), SB_INVALID, "string");
    assert_refused(w, sb_pr_curve(w, "p", &two, &three, NULL, 0, 1, NULL), SB_INVALID,
                   "2 labels for 3");
    assert_refused(w, sb_pr_curve(w, "p", &three, &three, &two, 0, 1, NULL), SB_INVALID,
                   "2 weights");
    assert_refused(w, sb_pr_curve(w, "p", &two, &two, NULL, 1, 1, NULL), SB_INVALID, "two");
    assert_refused(w, sb_pr_curve(w, "p", &two, &two, NULL, 1000001, 1, NULL), SB_LIMIT, "1000001");
    assert_refused(w, sb_pr_curve_raw(w, "p", NULL, 3, 1, NULL), SB_INVALID, "missing");
    assert_refused(w, sb_pr_curve_raw(w, "p", (const double[]){0}, 0, 1, NULL), SB_INVALID,
                   "missing");
    assert_refused(w, sb_pr_curve_raw(w, "p", (const double[]){0}, 2000000, 1, NULL), SB_LIMIT,
                   "2000000");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_curves(sb_writer *w) {
    const float x[] = {1, 0, 1};
    const sb_array three = ARRAY_OF(SB_FLOAT, x, 3);
    return sb_pr_curve(w, "p", &three, &three, &three, 0, 1, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF1, make_curves);
    bed_sweep(*state, SB_STYLE_TBX, make_curves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(events_have_the_bytes_of_tensorboards_op),
        DIR_TEST(torch_uses_float_val_and_at_most_127_thresholds),
        cmocka_unit_test(predictions_without_a_place_count_nowhere),
        cmocka_unit_test(weights_are_one_for_all_or_one_each),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
