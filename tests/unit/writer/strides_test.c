/* strides_test.c: every kind that takes an array takes views as well: transposed, reversed, spaced
 * and unaligned ones are written with the same bytes as the contiguous array. */
#include "writer/kinds/strides.h"

#include <stdlib.h>

#include "support/writer_bed.h"

#include "base/banned.h"

typedef enum layout {
    CONTIGUOUS,
    TRANSPOSED, /* the first dimension varies fastest */
    REVERSED,   /* every stride is negative */
    SPACED,     /* gaps between the elements, and none of them is aligned */
    LAYOUTS
} layout;

#define MOST_RANK 5

/* The elements of a contiguous array, put into memory in another layout. */
typedef struct view {
    sb_array array;
    int64_t strides[MOST_RANK];
    uint8_t *memory;
} view;

static size_t element_bytes(sb_dtype dtype) {
    return dtype == SB_STRING ? sizeof(sb_slice) : sb_dtype_size(dtype);
}

static void set_strides(view *v, layout how, int64_t element) {
    const sb_array *a = &v->array;
    int64_t step = how == SPACED ? 2 * element + 1 : element;
    if (how == REVERSED) step = -step;
    for (uint32_t i = 0; i < a->rank; i++) {
        uint32_t k = how == TRANSPOSED ? i : a->rank - 1 - i;
        v->strides[k] = step;
        step *= a->dims[k];
    }
}

static view view_of(layout how, const sb_array *from) {
    view v = {.array = *from};
    if (how == CONTIGUOUS) return v;
    size_t element = element_bytes(from->dtype), count = 1;
    for (uint32_t i = 0; i < from->rank; i++) count *= (size_t)from->dims[i];
    set_strides(&v, how, (int64_t)element);
    v.memory = test_calloc(2 * count + 2, element + 1);
    uint8_t *first = v.memory + (how == REVERSED ? (count - 1) * element : how == SPACED ? 1 : 0);
    for (size_t i = 0; i < count; i++) {
        int64_t offset = 0;
        size_t rest = i;
        for (uint32_t k = from->rank; k-- > 0; rest /= (size_t)from->dims[k])
            offset += (int64_t)(rest % (size_t)from->dims[k]) * v.strides[k];
        memcpy(first + offset, (const uint8_t *)from->data + i * element, element);
    }
    v.array.data = first;
    return v; /* strides are set by whoever has the view in its final place */
}

static const sb_array *array_of(view *v) {
    if (v->memory) v->array.strides = v->strides;
    return &v->array;
}

/* ---- one call of each kind ------------------------------------------------------------------- */

static const uint8_t pixels[2 * 3 * 4 * 3] = {1, 250, 3, 99, 5, 6, 77, 8, 9, 10, 200, 12, 13, 14};
static const float samples[2 * 7 * 2] = {0, .5f, -.5f, 1, -1, .25f, .125f, .75f, .1f, .2f, .3f};
static const double numbers[2 * 3 * 3] = {1, 2, 3, -4, 5, 6.5, 7, 8, 9, 10, 1e-3, 1e3, 13, 14};
static const float halves[12] = {0, .1f, .9f, .4f, .6f, .5f, .3f, .7f, .8f, .2f, 1, .55f};
static const uint8_t truth[12] = {0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0};

static sb_status put_image(sb_writer *w, layout how) {
    const sb_array array = ARRAY_OF(SB_UINT8, pixels, 2, 3, 4, 3);
    view v = view_of(how, &array);
    const sb_image_opts one = SB_INIT(sb_image_opts, .layout = "NHWC", .max_outputs = 1),
                        other = SB_INIT(sb_image_opts, .layout = "NWHC");
    sb_status status = sb_image(w, "first", array_of(&v), 1, &one, NULL);
    if (status == SB_OK) status = sb_image(w, "all", array_of(&v), 2, &other, NULL);
    test_free(v.memory);
    return status;
}

static sb_status put_video(sb_writer *w, layout how) {
    const sb_array array = ARRAY_OF(SB_UINT8, pixels, 2, 3, 1, 4, 3);
    view v = view_of(how, &array);
    sb_status status = sb_video(w, "clip", array_of(&v), 4, 1, NULL, NULL);
    test_free(v.memory);
    return status;
}

static sb_status put_audio(sb_writer *w, layout how) {
    sb_style style = sb_writer_style(w);
    const sb_array clips = ARRAY_OF(SB_FLOAT, samples, 2, 7, 2),
                   flat = ARRAY_OF(SB_FLOAT, samples, 28);
    view v = view_of(how, style == SB_STYLE_TORCH || style == SB_STYLE_TBX ? &flat : &clips);
    sb_status status = sb_audio(w, "sound", array_of(&v), 8000, 1, 1, NULL);
    test_free(v.memory);
    return status;
}

static sb_status put_texts(sb_writer *w, layout how) {
    sb_slice words[6];
    static const char *const list[6] = {"one", "", "three", "four", "5", "six"};
    for (size_t i = 0; i < 6; i++) words[i] = sb_slice_str(list[i]);
    const sb_array array = ARRAY_OF(SB_STRING, words, 2, 3);
    view v = view_of(how, &array);
    sb_status status = sb_text_array(w, "words", array_of(&v), 1, NULL);
    if (status == SB_OK)
        status = sb_tensor(w, "strings", array_of(&v), 1, "p", SB_LIT("content"), NULL);
    test_free(v.memory);
    return status;
}

static sb_status put_histogram(sb_writer *w, layout how) {
    const sb_array array = ARRAY_OF(SB_DOUBLE, numbers, 2, 3, 3);
    view v = view_of(how, &array);
    sb_status status = sb_histogram(w, "h", array_of(&v), 1, NULL, NULL);
    test_free(v.memory);
    return status;
}

static sb_status put_tensor(sb_writer *w, layout how) {
    const sb_array wide = ARRAY_OF(SB_COMPLEX128, numbers, 3, 1, 3),
                   narrow = ARRAY_OF(SB_HALF, numbers, 4, 1, 3),
                   big = ARRAY_OF(SB_DOUBLE, numbers, 1, 18);
    const sb_array *const all[] = {&wide, &narrow, &big};
    sb_status status = SB_OK;
    for (size_t i = 0; status == SB_OK && i < SB_COUNT(all); i++) {
        view v = view_of(how, all[i]);
        status = sb_tensor(w, "t", array_of(&v), 1, "p", SB_LIT("content"), NULL);
        test_free(v.memory);
    }
    return status;
}

static sb_status put_pr_curve(sb_writer *w, layout how) {
    const sb_array labels = ARRAY_OF(SB_BOOL, truth, 3, 4),
                   guesses = ARRAY_OF(SB_FLOAT, halves, 3, 4);
    view v[] = {view_of(how, &labels), view_of(how, &guesses), view_of(how, &guesses)};
    sb_status status =
        sb_pr_curve(w, "pr", array_of(&v[0]), array_of(&v[1]), array_of(&v[2]), 5, 1, NULL);
    for (size_t i = 0; i < SB_COUNT(v); i++) test_free(v[i].memory);
    return status;
}

static sb_status put_mesh(sb_writer *w, layout how) {
    const sb_array points = ARRAY_OF(SB_DOUBLE, numbers, 2, 3, 3),
                   paint = ARRAY_OF(SB_UINT8, pixels, 2, 3, 3),
                   faces = ARRAY_OF(SB_UINT8, truth, 2, 2, 3);
    view v[] = {view_of(how, &points), view_of(how, &paint), view_of(how, &faces)};
    sb_status status =
        sb_mesh(w, "m", array_of(&v[0]), array_of(&v[1]), array_of(&v[2]), NULL, 1, NULL);
    for (size_t i = 0; i < SB_COUNT(v); i++) test_free(v[i].memory);
    return status;
}

/* ---- tests ----------------------------------------------------------------------------------- */

typedef sb_status (*put_fn)(sb_writer *w, layout how);

static bed write_with(sb_test_dir *dir, put_fn put, sb_style style, layout how) {
    static int serial;
    char name[32];
    snprintf(name, sizeof name, "run%d", serial++);
    bed b = bed_open(dir, name, style);
    assert_int_equal(put(b.w, how), SB_OK);
    bed_close(&b);
    assert_ok(b.closed, &b.err);
    return b;
}

static void views_are_written_as_contiguous_arrays_are(void **state) {
    static const put_fn kinds[] = {put_image,     put_video,  put_audio,    put_texts,
                                   put_histogram, put_tensor, put_pr_curve, put_mesh};
    for (size_t kind = 0; kind < SB_COUNT(kinds); kind++) {
        for (int style = 0; style <= SB_STYLE_TBX; style++) {
            bed plain = write_with(*state, kinds[kind], (sb_style)style, CONTIGUOUS);
            assert_true(bed_count(&plain) >= 1);
            for (int how = CONTIGUOUS + 1; how < LAYOUTS; how++) {
                bed b = write_with(*state, kinds[kind], (sb_style)style, (layout)how);
                assert_int_equal(bed_count(&b), bed_count(&plain));
                for (size_t i = 0; i < bed_count(&b); i++)
                    assert_slice_equal(bed_event(&b, i), bed_event(&plain, i));
                bed_free(&b);
            }
            bed_free(&plain);
        }
    }
}

static void an_embedding_of_views_has_the_files_of_contiguous_arrays(void **state) {
    const sb_array matrix = ARRAY_OF(SB_FLOAT, halves, 3, 4),
                   images = ARRAY_OF(SB_UINT8, pixels, 3, 3, 2, 2);
    static const char *const files[] = {"tensors.tsv", "sprite.png"};
    sb_slice expected[SB_COUNT(files)] = {{NULL, 0}};
    for (int how = CONTIGUOUS; how < LAYOUTS; how++) {
        char name[32], path[96];
        snprintf(name, sizeof name, "embedding%d", how);
        bed b = bed_open(*state, name, SB_STYLE_TORCH);
        view v[] = {view_of((layout)how, &matrix), view_of((layout)how, &images)};
        const sb_embedding_opts opts = SB_INIT(sb_embedding_opts, .images = array_of(&v[1]));
        assert_ok(sb_embedding(b.w, "e", array_of(&v[0]), 0, &opts, &b.err), &b.err);
        for (size_t i = 0; i < SB_COUNT(files); i++) {
            snprintf(path, sizeof path, "%s/00000/e/%s", name, files[i]);
            sb_slice text = sb_test_dir_get(b.dir, sb_test_dir_join(b.dir, path));
            if (how == CONTIGUOUS) expected[i] = text;
            assert_slice_equal(text, expected[i]);
        }
        for (size_t i = 0; i < SB_COUNT(v); i++) test_free(v[i].memory);
        bed_close(&b);
        bed_free(&b);
    }
}

static void a_stride_of_zero_repeats_an_element(void **state) {
    const float one = 0.5f, four[] = {.5f, .5f, .5f, .5f};
    const int64_t strides[] = {0, 0};
    sb_array repeated = ARRAY_OF(SB_FLOAT, &one, 2, 2);
    repeated.strides = strides;
    bed b = bed_open(*state, "run", SB_STYLE_TF2);
    assert_int_equal(sb_tensor(b.w, "t", &repeated, 1, NULL, SB_LIT(""), NULL), SB_OK);
    assert_int_equal(
        sb_tensor(b.w, "t", &ARRAY_OF(SB_FLOAT, four, 2, 2), 1, NULL, SB_LIT(""), NULL), SB_OK);
    bed_close(&b);
    assert_slice_equal(bed_event(&b, 0), bed_event(&b, 1));
    bed_free(&b);
}

/* Random shapes and strides against a copy that takes one element at a time. */
static void copies_equal_a_plain_copy(void **state) {
    (void)state;
    static uint8_t memory[1 << 16], out[1 << 14];
    uint32_t seed = 12345;
    for (size_t i = 0; i < sizeof memory; i++) {
        seed = seed * 1664525 + 1013904223;
        memory[i] = (uint8_t)(seed >> 24);
    }
    static const sb_dtype dtypes[] = {SB_UINT8, SB_HALF, SB_FLOAT, SB_DOUBLE, SB_COMPLEX128};
    for (int round = 0; round < 3000; round++) {
        int64_t dims[4], strides[4];
        sb_dtype dtype = dtypes[(seed >> 8) % 5];
        size_t element = sb_dtype_size(dtype), count = 1;
        uint32_t rank = (seed >> 16) % 5;
        int64_t dense = (int64_t)element;
        for (uint32_t i = rank; i-- > 0;) {
            seed = seed * 1664525 + 1013904223;
            dims[i] = (seed >> 8) % 5 + (i + 1 == rank);
            static const int64_t odd[] = {0, -16, 1, 24, 100, -333};
            strides[i] = (seed >> 16) % 2 ? dense : odd[(seed >> 20) % 6];
            dense *= dims[i] ? dims[i] : 1;
            count *= (size_t)dims[i];
        }
        const sb_array a = {memory + (1 << 15), dtype, rank, dims, strides};
        assert_true(sb_strides_in_range(&a));
        size_t n = count * element;
        if (n > 1 && round % 3 == 0) n = n * 2 / 3;
        memset(out, 0xAA, n + 16);
        sb_strides_copy(out, n, &a, element);
        for (size_t i = 0; i < n; i++) {
            size_t rest = i / element;
            int64_t offset = (int64_t)(i % element);
            for (uint32_t k = rank; k-- > 0; rest /= (size_t)dims[k])
                offset += (int64_t)(rest % (size_t)dims[k]) * strides[k];
            assert_int_equal(out[i], *((const uint8_t *)a.data + offset));
        }
        for (size_t i = n; i < n + 16; i++) assert_int_equal(out[i], 0xAA);
        if (sb_strides_contiguous(&a, element)) assert_memory_equal(out, a.data, n);
        seed = seed * 1664525 + 1013904223;
    }
}

static void strides_beyond_the_address_space_are_refused(void **state) {
    const float x[] = {1, 2, 3, 4};
    static const int64_t bad[][2] = {{INT64_MAX, 4},
                                     {INT64_MIN, 4},
                                     {INT64_MAX / 2 + 1, INT64_MAX / 2 + 1},
                                     {INT64_MIN / 2, INT64_MAX / 2 + 2}};
    sb_array a = ARRAY_OF(SB_FLOAT, x, 3, 2);
    bed b = bed_open(*state, "run", SB_STYLE_TF2);
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        a.strides = bad[i];
        assert_refused(b.w, sb_tensor(b.w, "t", &a, 1, NULL, SB_LIT(""), NULL), SB_LIMIT,
                       "strides");
        assert_refused(b.w, sb_histogram(b.w, "h", &a, 1, NULL, NULL), SB_LIMIT, "strides");
        assert_int_equal(sb_embedding(b.w, "e", &a, 1, NULL, &b.err), SB_LIMIT);
        assert_non_null(strstr(b.err.text, "strides"));
    }
    /* No element, no stride that matters. */
    const sb_array none = {NULL, SB_FLOAT, 2, (const int64_t[]){0, 5}, bad[0]};
    assert_int_equal(sb_tensor(b.w, "t", &none, 1, NULL, SB_LIT(""), NULL), SB_OK);
    bed_close(&b);
    bed_free(&b);
}

static sb_status put_views(sb_writer *w) {
    sb_status status = put_texts(w, SPACED);
    return status == SB_OK ? put_mesh(w, TRANSPOSED) : status;
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF2, put_views);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(views_are_written_as_contiguous_arrays_are),
        DIR_TEST(an_embedding_of_views_has_the_files_of_contiguous_arrays),
        DIR_TEST(a_stride_of_zero_repeats_an_element),
        cmocka_unit_test(copies_equal_a_plain_copy),
        DIR_TEST(strides_beyond_the_address_space_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
