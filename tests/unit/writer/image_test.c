/* image_test.c: pictures in every style: tags, sizes, which are kept, what is refused. */
#include <math.h>

#include "media/sniff.h"
#include "support/writer_bed.h"
#include "writer/kinds/axes.h"

#include "base/banned.h"

static sb_summary_image image_of(const sb_value *value) {
    sb_summary_image image;
    assert_int_equal(value->kind, SB_VALUE_KIND_IMAGE);
    assert_int_equal(sb_summary_image_read(&image, value->body), SB_OK);
    return image;
}

static void assert_png(sb_slice file, uint32_t width, uint32_t height) {
    uint32_t w, h;
    sb_err err;
    assert_int_equal(sb_media_sniff(file), SB_MEDIA_PNG);
    assert_ok(sb_media_picture_size(&w, &h, file, &err), &err);
    assert_int_equal(w, width);
    assert_int_equal(h, height);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void axes_are_letters_each_once(void **state) {
    char axes[SB_AXES_MAX + 1];
    (void)state;
    assert_true(sb_axes_read(axes, "nhWc", 4, "NHWC"));
    assert_string_equal(axes, "NHWC");
    const char *const bad[] = {"NHW", "NHWCC", "NHHC", "NHWT", "NC", "", "HW1C", "NHWCNHWCNHWC"};
    for (size_t i = 0; i < SB_COUNT(bad); i++) assert_false(sb_axes_read(axes, bad[i], 4, "NHWC"));
    assert_false(sb_axes_read(axes, "CW", 2, "NHWC")); /* no rows */
    assert_false(sb_axes_read(axes, "NTCHWX", 6, "NTCHW"));
}

static void any_order_becomes_any_other(void **state) {
    /* x[c][w][h] = 100 c + 10 w + h */
    uint16_t x[2 * 3 * 4];
    size_t at = 0;
    for (uint16_t c = 0; c < 2; c++)
        for (uint16_t w = 0; w < 3; w++)
            for (uint16_t h = 0; h < 4; h++) x[at++] = (uint16_t)(100 * c + 10 * w + h);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    const sb_array in = ARRAY_OF(SB_UINT16, x, 2, 3, 4);
    sb_array out;
    int64_t dims[SB_AXES_MAX];
    assert_int_equal(sb_axes_order(&arena, &in, 2, "CWH", "NHWC", dims, &out), SB_OK);
    const int64_t expected[] = {1, 4, 3, 2};
    assert_memory_equal(dims, expected, sizeof expected);
    const uint16_t *y = out.data;
    at = 0;
    for (int h = 0; h < 4; h++)
        for (int w = 0; w < 3; w++)
            for (int c = 0; c < 2; c++) assert_int_equal(y[at++], 100 * c + 10 * w + h);
    /* Already in order: nothing is copied. */
    assert_int_equal(sb_axes_order(&arena, &in, 2, "HWC", "NHWC", dims, &out), SB_OK);
    assert_ptr_equal(out.data, x);
    sb_arena_fini(&arena);
    (void)state;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void tf2_writes_one_tensor_with_sizes_and_files(void **state) {
    static const uint8_t pixels[5 * 2 * 3 * 3];
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    const sb_array batch = ARRAY_OF(SB_UINT8, pixels, 5, 2, 3, 3);
    const sb_image_opts one = SB_INIT(sb_image_opts, .max_outputs = 1);
    assert_int_equal(sb_image(b.w, "i", &batch, 1, NULL, NULL), SB_OK);
    assert_int_equal(sb_image(b.w, "i", &batch, 1, &one, NULL), SB_OK);
    assert_int_equal(sb_image(b.w, "i", &ARRAY_OF(SB_UINT8, pixels, 0, 2, 3, 3), 1, NULL, NULL),
                     SB_OK);
    assert_int_equal(sb_image(b.w, "i", &ARRAY_OF(SB_UINT8, pixels, 2, 3), 1, NULL, NULL), SB_OK);
    bed_close(&b);
    const size_t files[] = {3, 1, 0, 1};
    for (size_t i = 0; i < SB_COUNT(files); i++) {
        sb_value value = bed_value(&b, i, 0);
        sb_tensor_view tensor = bed_tensor(&value);
        sb_strings walk = sb_tensor_strings(&tensor);
        sb_slice string;
        assert_int_equal(tensor.count, files[i] + 2);
        assert_true(sb_strings_next(&walk, &string));
        assert_slice_is(string, "3");
        assert_true(sb_strings_next(&walk, &string));
        assert_slice_is(string, "2");
        for (size_t k = 0; k < files[i]; k++) {
            assert_true(sb_strings_next(&walk, &string));
            assert_png(string, 3, 2);
        }
        assert_slice_is(bed_metadata(&value).plugin_name, "images");
    }
    bed_free(&b);
}

static void tf1_numbers_its_pictures_unless_one_is_asked_for(void **state) {
    static const float pixels[2 * 2 * 3 * 1];
    bed b = bed_open(*state, "tf1", SB_STYLE_TF1);
    const sb_array batch = ARRAY_OF(SB_FLOAT, pixels, 2, 2, 3, 1);
    const sb_image_opts one = SB_INIT(sb_image_opts, .max_outputs = 1);
    const sb_meta meta = SB_INIT(sb_meta, .description = "d");
    assert_int_equal(sb_image(b.w, "i", &batch, 1, NULL, &meta), SB_OK);
    assert_int_equal(sb_image(b.w, "i", &batch, 1, &one, NULL), SB_OK);
    assert_int_equal(sb_image(b.w, "i", &ARRAY_OF(SB_FLOAT, pixels, 0, 2, 3, 1), 1, NULL, NULL),
                     SB_OK);
    bed_close(&b);
    assert_int_equal(bed_value_count(&b, 0), 2);
    sb_value value = bed_value(&b, 0, 1);
    assert_slice_is(value.tag, "i/image/1");
    assert_slice_is(bed_metadata(&value).description, "d");
    sb_summary_image image = image_of(&value);
    assert_int_equal(image.width, 3);
    assert_int_equal(image.height, 2);
    assert_int_equal(image.colorspace, 1);
    assert_png(image.encoded, 3, 2);
    assert_int_equal(bed_value_count(&b, 1), 1);
    assert_slice_is(bed_value(&b, 1, 0).tag, "i/image");
    assert_event_bytes(&b, 2, "10012a00");
    bed_free(&b);
}

static void torch_makes_a_grid_of_a_batch(void **state) {
    static const uint8_t pixels[10 * 3 * 2 * 4];
    for (int style = SB_STYLE_TORCH; style <= SB_STYLE_TBX; style++) {
        bed b = bed_open(*state, style == SB_STYLE_TBX ? "tbx" : "torch", (sb_style)style);
        const sb_image_opts last = SB_INIT(sb_image_opts, .layout = "hwc");
        assert_int_equal(
            sb_image(b.w, "a b", &ARRAY_OF(SB_UINT8, pixels, 10, 3, 2, 4), 1, NULL, NULL), SB_OK);
        assert_int_equal(sb_image(b.w, "c", &ARRAY_OF(SB_UINT8, pixels, 2, 4, 1), 1, &last, NULL),
                         SB_OK);
        bed_close(&b);
        sb_value value = bed_value(&b, 0, 0);
        assert_slice_is(value.tag, style == SB_STYLE_TBX ? "a_b" : "a b");
        sb_summary_image image = image_of(&value);
        assert_png(image.encoded, 8 * 4, 2 * 2);
        assert_int_equal(image.colorspace, 3);
        assert_null(value.metadata.p);
        value = bed_value(&b, 1, 0);
        assert_png(image_of(&value).encoded, 4, 2);
        assert_int_equal(image_of(&value).colorspace, 3);
        bed_free(&b);
    }
}

static void odd_numbers_make_pictures_all_the_same(void **state) {
    const float odd[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 0};
    const double wide[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 0};
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "odd%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(sb_image(b.w, "i", &ARRAY_OF(SB_FLOAT, odd, 2, 3), 1, NULL, NULL), SB_OK);
        assert_int_equal(sb_image(b.w, "i", &ARRAY_OF(SB_DOUBLE, wide, 2, 3), 1, NULL, NULL),
                         SB_OK);
        bed_close(&b);
        assert_ok(b.closed, &b.err);
        assert_int_equal(bed_count(&b), 2);
        bed_free(&b);
    }
}

/* ---- ready-made files ------------------------------------------------------------------------ */

/* A GIF's header says 7 by 5. */
static const uint8_t gif[] = {'G', 'I', 'F', '8', '9', 'a', 7, 0, 5, 0, 0, 0, 0, ';'};

static void encoded_files_pass_unchanged(void **state) {
    const sb_slice files[] = {sb_slice_of(gif, sizeof gif), SB_LIT("whatever it is")};
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    assert_int_equal(sb_image_encoded(b.w, "i", files, 2, 0, 0, 1, NULL), SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    sb_tensor_view tensor = bed_tensor(&value);
    sb_strings walk = sb_tensor_strings(&tensor);
    sb_slice string;
    assert_true(sb_strings_next(&walk, &string));
    assert_slice_is(string, "7");
    assert_true(sb_strings_next(&walk, &string));
    assert_slice_is(string, "5");
    for (size_t i = 0; i < 2; i++) {
        assert_true(sb_strings_next(&walk, &string));
        assert_slice_equal(string, files[i]);
    }
    bed_free(&b);
    b = bed_open(*state, "tf1", SB_STYLE_TF1);
    assert_int_equal(sb_image_encoded(b.w, "i", files, 2, 640, 480, 1, NULL), SB_OK);
    bed_close(&b);
    value = bed_value(&b, 0, 1);
    assert_slice_is(value.tag, "i/image/1");
    assert_int_equal(image_of(&value).width, 640);
    assert_slice_equal(image_of(&value).encoded, files[1]);
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    static const uint8_t x[64];
    const sb_slice none = {NULL, 0}, junk = SB_LIT("no picture");
    const sb_image_opts bad_layout = SB_INIT(sb_image_opts, .layout = "NHXC");
    bed b = bed_open(*state, "tf1", SB_STYLE_TF1);
    sb_writer *w = b.w;
    assert_refused(w, sb_image(w, "i", NULL, 1, NULL, NULL), SB_INVALID, "missing");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 4), 1, NULL, NULL), SB_INVALID,
                   "rank 1");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 1, 1, 1, 1, 1), 1, NULL, NULL),
                   SB_INVALID, "rank 5");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 1, 2, 2, 3), 1, &bad_layout, NULL),
                   SB_INVALID, "NHXC");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 1, 0, 2, 3), 1, NULL, NULL),
                   SB_INVALID, "no pixels");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 1, 2, 2, 2), 1, NULL, NULL),
                   SB_INVALID, "1, 3 or 4");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 1, 2, 2, 5), 1, NULL, NULL),
                   SB_INVALID, "5 channels");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_INT32, x, 1, 2, 2, 3), 1, NULL, NULL),
                   SB_INVALID, "int32");
    assert_refused(
        w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 0, (int64_t)1 << 40, 1, 1), 1, NULL, NULL),
        SB_LIMIT, "a side");
    assert_refused(w, sb_image_encoded(w, "i", NULL, 1, 1, 1, 1, NULL), SB_INVALID, "missing");
    assert_refused(w, sb_image_encoded(w, "i", &none, 0, 1, 1, 1, NULL), SB_INVALID, "no image");
    assert_refused(w, sb_image_encoded(w, "i", &none, 1, 1, 1, 1, NULL), SB_INVALID, "no bytes");
    assert_refused(w, sb_image_encoded(w, "i", &junk, 1, 0, 0, 1, NULL), SB_INVALID, "give them");
    assert_refused(w, sb_image_encoded(w, "i", &junk, 70000, 1, 1, 1, NULL), SB_LIMIT, "too many");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
    b = bed_open(*state, "torch", SB_STYLE_TORCH);
    w = b.w;
    const sb_slice two[] = {junk, junk};
    const sb_image_opts no_channels = SB_INIT(sb_image_opts, .layout = "NHW");
    assert_refused(w, sb_image_encoded(w, "i", two, 2, 1, 1, 1, NULL), SB_INVALID, "one image");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 2, 2, 2), 1, &no_channels, NULL),
                   SB_INVALID, "channels (C)");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_UINT8, x, 0, 3, 2, 2), 1, NULL, NULL),
                   SB_INVALID, "no pixels");
    assert_refused(w, sb_image(w, "i", &ARRAY_OF(SB_QINT8, x, 2, 2), 1, NULL, NULL), SB_INVALID,
                   "qint8");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_images(sb_writer *w) {
    static const float x[2 * 3 * 4 * 4];
    const sb_image_opts order = SB_INIT(sb_image_opts, .layout = "NCHW");
    sb_status status = sb_image(w, "i", &ARRAY_OF(SB_FLOAT, x, 2, 3, 4, 4), 1, &order, NULL);
    if (status != SB_OK) return status;
    const sb_slice file = sb_slice_of(gif, sizeof gif);
    return sb_image_encoded(w, "e e", &file, 1, 0, 0, 1, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    for (int style = 0; style < 4; style++) bed_sweep(*state, (sb_style)style, make_images);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_letters_each_once),
        cmocka_unit_test(any_order_becomes_any_other),
        DIR_TEST(tf2_writes_one_tensor_with_sizes_and_files),
        DIR_TEST(tf1_numbers_its_pictures_unless_one_is_asked_for),
        DIR_TEST(torch_makes_a_grid_of_a_batch),
        DIR_TEST(odd_numbers_make_pictures_all_the_same),
        DIR_TEST(encoded_files_pass_unchanged),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
