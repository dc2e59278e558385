/* mesh_test.c: vertices, faces and colours in every style. */
#include <math.h>

#include "codec/plugin.h"
#include "support/writer_bed.h"

#include "base/banned.h"

/* Captured from TensorBoard's mesh plugins: zeros, vertices (1, 2, 3), faces (1, 1, 3). */
#define TF2_VERTEX                                                                                 \
    "10022a560a540a096d325f564552544558422a0801120c1202080112020802120208032218000000000000000000" \
    "00"                                                                                           \
    "00000000000000000000000000004a1b0a190a046d657368121112026d3218012a027b7d32030102033802"
#define TF1_BOTH                                                                                   \
    "100e2aa0010a550a086d5f564552544558422a0801120c1202080112020802120208032218000000000000000000" \
    "00"                                                                                           \
    "00000000000000000000000000004a1d0a180a046d657368121012016d18012a027b7d3203010203380612016d0a" \
    "47"                                                                                           \
    "0a066d5f46414345421e0803120c120208011202080112020803220c0000000000000000000000004a1d0a180a04" \
    "6d"                                                                                           \
    "657368121012016d18022a027b7d3203010103380612016d"

static const float vertices[6];
static const int32_t faces[3];
static const uint8_t colors[6] = {1, 2, 3, 4, 5, 255};

#define VERTICES &ARRAY_OF(SB_FLOAT, vertices, 1, 2, 3)
#define FACES &ARRAY_OF(SB_INT32, faces, 1, 1, 3)
#define COLORS &ARRAY_OF(SB_UINT8, colors, 1, 2, 3)

static void events_have_the_bytes_of_tensorboards_plugins(void **state) {
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    assert_int_equal(sb_mesh(b.w, "m2", VERTICES, NULL, NULL, NULL, 2, NULL), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF2_VERTEX);
    bed_free(&b);
    b = bed_open(*state, "tf1", SB_STYLE_TF1);
    assert_int_equal(sb_mesh(b.w, "m", VERTICES, NULL, FACES, NULL, 14, NULL), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, TF1_BOTH);
    bed_free(&b);
}

static void tf2_writes_an_event_a_part_and_the_others_one_for_all(void **state) {
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "parts%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(sb_mesh(b.w, "m", VERTICES, COLORS, FACES, "{\"a\": 1}", 2, NULL), SB_OK);
        bed_close(&b);
        bool tf2 = style == SB_STYLE_TF2, tbx = style == SB_STYLE_TBX;
        assert_int_equal(bed_count(&b), tf2 ? 3 : 1);
        const char *const tags[2][3] = {{"m_VERTEX", "m_FACE", "m_COLOR"}, {"m_1", "m_2", "m_3"}};
        const sb_dtype dtypes[] = {SB_FLOAT, SB_INT32, SB_UINT8};
        for (size_t i = 0; i < 3; i++) {
            sb_value value = tf2 ? bed_value(&b, i, 0) : bed_value(&b, 0, i);
            assert_slice_is(value.tag, tags[tbx][i]);
            sb_tensor_view tensor = bed_tensor(&value);
            bool tf = style <= SB_STYLE_TF1;
            assert_int_equal(tensor.dtype, tf ? dtypes[i] : SB_FLOAT);
            sb_mesh_plugin plugin;
            sb_metadata metadata = bed_metadata(&value);
            assert_int_equal(sb_mesh_plugin_read(&plugin, metadata.content), SB_OK);
            assert_slice_is(plugin.json_config, "{\"a\": 1}");
            assert_int_equal(plugin.components, 14);
            if (i < 2) continue;
            double read[6];
            assert_int_equal(sb_tensor_doubles(&tensor, 0, 6, read), SB_OK);
            for (size_t k = 0; k < 6; k++) assert_true(read[k] == colors[k]);
        }
        bed_free(&b);
    }
}

static void other_types_are_converted_and_never_overflow(void **state) {
    const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -5, 300};
    const uint8_t bytes[] = {0, 255, 0, 255, 0, 255};
    const int32_t ints[] = {0, INT32_MAX, INT32_MIN, INT32_MAX, -5, 300};
    bed b = bed_open(*state, "odd", SB_STYLE_TF1);
    const sb_array array = ARRAY_OF(SB_DOUBLE, odd, 1, 2, 3);
    assert_int_equal(sb_mesh(b.w, "m", &array, &array, &array, NULL, 1, NULL), SB_OK);
    bed_close(&b);
    assert_ok(b.closed, &b.err);
    sb_value value = bed_value(&b, 0, 1);
    assert_slice_equal(bed_tensor(&value).content, sb_slice_of(ints, sizeof ints));
    value = bed_value(&b, 0, 2);
    assert_slice_equal(bed_tensor(&value).content, sb_slice_of(bytes, sizeof bytes));
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    bed b = bed_open(*state, "refused", SB_STYLE_TORCH);
    sb_writer *w = b.w;
    assert_refused(w, sb_mesh(w, "m", NULL, NULL, NULL, NULL, 1, NULL), SB_INVALID, "vertices");
    assert_refused(w,
                   sb_mesh(w, "m", &ARRAY_OF(SB_FLOAT, vertices, 2, 3), NULL, NULL, NULL, 1, NULL),
                   SB_INVALID, "[batch, n, 3]");
    assert_refused(
        w, sb_mesh(w, "m", &ARRAY_OF(SB_FLOAT, vertices, 1, 3, 2), NULL, NULL, NULL, 1, NULL),
        SB_INVALID, "[batch, n, 3]");
    assert_refused(
        w,
        sb_mesh(w, "m", VERTICES, &ARRAY_OF(SB_COMPLEX64, vertices, 1, 1, 3), NULL, NULL, 1, NULL),
        SB_INVALID, "colors");
    assert_refused(w, sb_mesh(w, "m", VERTICES, NULL, NULL, "\xff", 1, NULL), SB_INVALID, "config");
    assert_refused(w,
                   sb_mesh(w, "m", &ARRAY_OF(SB_FLOAT, vertices, 0, (int64_t)1 << 40, 3), NULL,
                           NULL, NULL, 1, NULL),
                   SB_LIMIT, "dimension 1");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_mesh(sb_writer *w) {
    return sb_mesh(w, "m", VERTICES, COLORS, FACES, NULL, 1, NULL);
}

static void running_out_of_memory_is_told(void **state) {
    for (int style = 0; style < 4; style++) bed_sweep(*state, (sb_style)style, make_mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(events_have_the_bytes_of_tensorboards_plugins),
        DIR_TEST(tf2_writes_an_event_a_part_and_the_others_one_for_all),
        DIR_TEST(other_types_are_converted_and_never_overflow),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
