/* video_test.c: clips become one GIF, wherever the style keeps its pictures. */
#include <math.h>

#include "media/sniff.h"
#include "support/writer_bed.h"

#include "base/banned.h"

static void a_clip_is_a_gif_in_every_style(void **state) {
    static const uint8_t frames[3 * 2 * 3 * 4 * 6];
    const char *const tags[] = {"a b", "a b/image", "a b", "a_b"};
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "style%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(
            sb_video(b.w, "a b", &ARRAY_OF(SB_UINT8, frames, 3, 2, 3, 4, 6), 5, 1, NULL, NULL),
            SB_OK);
        bed_close(&b);
        assert_ok(b.closed, &b.err);
        sb_value value = bed_value(&b, 0, 0);
        assert_slice_is(value.tag, tags[style]);
        sb_slice file;
        if (style == SB_STYLE_TF2) {
            sb_tensor_view tensor = bed_tensor(&value);
            sb_strings walk = sb_tensor_strings(&tensor);
            while (sb_strings_next(&walk, &file)) continue;
            assert_int_equal(tensor.count, 3);
        } else {
            sb_summary_image image;
            assert_int_equal(sb_summary_image_read(&image, value.body), SB_OK);
            file = image.encoded;
        }
        uint32_t width, height;
        assert_int_equal(sb_media_sniff(file), SB_MEDIA_GIF);
        assert_int_equal(sb_media_picture_size(&width, &height, file, NULL), SB_OK);
        /* Three clips become four places, in two columns and two rows. */
        assert_int_equal(width, 24);
        assert_int_equal(height, 4);
        bed_free(&b);
    }
}

static void layouts_may_leave_letters_out(void **state) {
    static const float frames[2 * 4 * 6];
    bed b = bed_open(*state, "layout", SB_STYLE_TORCH);
    assert_int_equal(sb_video(b.w, "v", &ARRAY_OF(SB_FLOAT, frames, 4, 6, 2), 0, 1, "hwt", NULL),
                     SB_OK);
    bed_close(&b);
    assert_ok(b.closed, &b.err);
    sb_value value = bed_value(&b, 0, 0);
    sb_summary_image image;
    assert_int_equal(sb_summary_image_read(&image, value.body), SB_OK);
    assert_int_equal(image.width, 6);
    assert_int_equal(image.height, 4);
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    static const uint8_t x[64];
    bed b = bed_open(*state, "refused", SB_STYLE_TORCH);
    sb_writer *w = b.w;
    const sb_array good = ARRAY_OF(SB_UINT8, x, 1, 1, 1, 2, 2);
    assert_refused(w, sb_video(w, "v", NULL, 4, 1, NULL, NULL), SB_INVALID, "missing");
    const double rates[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < SB_COUNT(rates); i++)
        assert_refused(w, sb_video(w, "v", &good, rates[i], 1, NULL, NULL), SB_INVALID,
                       "frames a second");
    assert_refused(w, sb_video(w, "v", &ARRAY_OF(SB_UINT8, x, 2, 2), 4, 1, NULL, NULL), SB_INVALID,
                   "rank 2");
    assert_refused(w, sb_video(w, "v", &good, 4, 1, "NTCHH", NULL), SB_INVALID, "NTCHH");
    assert_refused(w, sb_video(w, "v", &ARRAY_OF(SB_UINT8, x, 1, 0, 1, 2, 2), 4, 1, NULL, NULL),
                   SB_INVALID, "dimension T is 0");
    assert_refused(w, sb_video(w, "v", &ARRAY_OF(SB_UINT8, x, 1, 1, 5, 2, 2), 4, 1, NULL, NULL),
                   SB_INVALID, "5 channels");
    assert_refused(w, sb_video(w, "v", &ARRAY_OF(SB_UINT8, x, 1, 1, 1, 1, 65536), 4, 1, NULL, NULL),
                   SB_LIMIT, "65536");
    assert_refused(w, sb_video(w, "v", &ARRAY_OF(SB_QUINT8, x, 1, 1, 1, 2, 2), 4, 1, NULL, NULL),
                   SB_INVALID, "quint8");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_video(sb_writer *w) {
    static const uint8_t x[2 * 3 * 4 * 4];
    return sb_video(w, "v v", &ARRAY_OF(SB_UINT8, x, 2, 4, 4, 3), 4, 1, "THWC", NULL);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF2, make_video);
    bed_sweep(*state, SB_STYLE_TBX, make_video);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(a_clip_is_a_gif_in_every_style),
        DIR_TEST(layouts_may_leave_letters_out),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
