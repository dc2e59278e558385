/* embedding_test.c: the projector's files. */
#include <errno.h>
#include <math.h>

#include "media/sniff.h"
#include "support/fault_fs.h"
#include "support/writer_bed.h"

#include "base/banned.h"

static const float matrix[] = {0.1f, -2, 3e30f, 0};

static sb_slice file_of(bed *b, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "run/%s", name);
    return sb_test_dir_get(b->dir, sb_test_dir_join(b->dir, path));
}

static void numbers_are_printed_as_python_does(void **state) {
    const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
    const uint64_t large[] = {UINT64_MAX, 0};
    const int8_t small[] = {-128, 127};
    const uint8_t bools[] = {1, 0};
    const uint16_t half = 0x3555;
    const struct {
        sb_array array;
        const char *text;
    } rows[] = {
        {ARRAY_OF(SB_FLOAT, matrix, 2, 2),
         "0.10000000149011612\t-2.0\n2.999999894026671e+30\t0.0\n"},
        {ARRAY_OF(SB_DOUBLE, odd, 1, 4), "nan\tinf\t-inf\t-0.0\n"},
        {ARRAY_OF(SB_UINT64, large, 2, 1), "18446744073709551615\n0\n"},
        {ARRAY_OF(SB_INT8, small, 1, 2), "-128\t127\n"},
        {ARRAY_OF(SB_BOOL, bools, 1, 2), "True\tFalse\n"},
        {ARRAY_OF(SB_HALF, &half, 1, 1), "0.333251953125\n"},
    };
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        assert_ok(sb_embedding(b.w, "e", &rows[i].array, (int64_t)i, NULL, &b.err), &b.err);
        char name[64];
        snprintf(name, sizeof name, "0000%zu/e/tensors.tsv", i);
        assert_slice_is(file_of(&b, name), rows[i].text);
    }
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static void large_matrices_are_written_in_pieces(void **state) {
    size_t n = 300000;
    double *numbers = test_malloc(n * sizeof *numbers);
    for (size_t i = 0; i < n; i++) numbers[i] = (double)i + 0.5;
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    const sb_array array = ARRAY_OF(SB_DOUBLE, numbers, 3000, 100);
    assert_ok(sb_embedding(b.w, NULL, &array, 0, NULL, &b.err), &b.err);
    sb_slice text = file_of(&b, "00000/default/tensors.tsv");
    size_t lines = 0;
    for (size_t i = 0; i < text.n; i++) lines += text.p[i] == '\n';
    assert_int_equal(lines, 3000);
    assert_true(sb_slice_ends(text, SB_LIT("299998.5\t299999.5\n")));
    bed_close(&b);
    bed_free(&b);
    test_free(numbers);
}

static void labels_can_not_break_lines(void **state) {
    const char *const labels[] = {"a\tb", "c\nd\r"};
    const char *const columns[] = {"1", "2", "x\ty", "4"}, *const header[] = {"n", "m\n"};
    const char *const one_header[] = {"name"};
    const sb_array array = ARRAY_OF(SB_FLOAT, matrix, 2, 2);
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    const sb_embedding_opts plain =
        SB_INIT(sb_embedding_opts, .metadata = labels, .metadata_columns = 1);
    const sb_embedding_opts wide = SB_INIT(sb_embedding_opts, .metadata = columns,
                                           .metadata_columns = 2, .metadata_header = header);
    sb_embedding_opts named = plain;
    named.metadata_header = one_header;
    assert_ok(sb_embedding(b.w, "a", &array, 0, &plain, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "b", &array, 0, &wide, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "c", &array, 0, &named, &b.err), &b.err);
    assert_slice_is(file_of(&b, "00000/a/metadata.tsv"), "a b\nc d \n");
    assert_slice_is(file_of(&b, "00000/b/metadata.tsv"), "n\tm \n1\t2\nx y\t4\n");
    /* Readers know a header by its tab. */
    assert_slice_is(file_of(&b, "00000/c/metadata.tsv"), "a b\nc d \n");
    bed_close(&b);
    bed_free(&b);
}

#define THREE                                                                                      \
    "embeddings {\n  tensor_name: \"x:00000\"\n  tensor_path: \"00000/x/tensors.tsv\"\n}\n"        \
    "embeddings {\n  tensor_name: \"a/b:00007\"\n  metadata_path: \"00007/a%2fb/metadata.tsv\"\n"  \
    "  sprite {\n    image_path: \"00007/a%2fb/sprite.png\"\n    single_image_dim: 4\n"            \
    "    single_image_dim: 3\n  }\n  tensor_path: \"00007/a%2fb/tensors.tsv\"\n}\n"                \
    "embeddings {\n  tensor_name: \"x:-0012\"\n  tensor_path: \"-0012/x/tensors.tsv\"\n}\n"

static void the_config_names_every_embedding_once(void **state) {
    static const float pictures[2 * 3 * 3 * 4];
    const char *const labels[] = {"a", "b"};
    const sb_array array = ARRAY_OF(SB_FLOAT, matrix, 2, 2);
    const sb_array images = ARRAY_OF(SB_FLOAT, pictures, 2, 3, 3, 4);
    const sb_embedding_opts full =
        SB_INIT(sb_embedding_opts, .metadata = labels, .metadata_columns = 1, .images = &images);
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    assert_ok(sb_embedding(b.w, "x", &array, 0, NULL, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "a/b", &array, 7, &full, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "x", &array, -12, NULL, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "a/b", &array, 7, &full, &b.err), &b.err);
    assert_ok(sb_embedding(b.w, "x", &array, 0, NULL, &b.err), &b.err);
    assert_slice_is(file_of(&b, "projector_config.pbtxt"), THREE);
    uint32_t width, height;
    sb_slice sprite = file_of(&b, "00007/a%2fb/sprite.png");
    assert_int_equal(sb_media_picture_size(&width, &height, sprite, NULL), SB_OK);
    assert_int_equal(width, 8);
    assert_int_equal(height, 8);
    bed_close(&b);
    bed_free(&b);
}

static void foreign_entries_and_broken_configs_are_left_alone(void **state) {
    const sb_array array = ARRAY_OF(SB_FLOAT, matrix, 2, 2);
    bed b = bed_open(*state, "run", SB_STYLE_TBX);
    sb_test_dir_put(b.dir, "run/projector_config.pbtxt",
                    SB_LIT("model_checkpoint_dir: 'd'\nembeddings <tensor_name: 'other'>\n"
                           "embeddings { tensor_shape: [5, 6] }"));
    assert_ok(sb_embedding(b.w, "x", &array, 0, NULL, &b.err), &b.err);
    assert_slice_is(file_of(&b, "projector_config.pbtxt"),
                    "embeddings {\n  tensor_name: \"other\"\n}\n"
                    "embeddings {\n  tensor_shape: 5\n  tensor_shape: 6\n}\n"
                    "embeddings {\n  tensor_name: \"x:00000\"\n"
                    "  tensor_path: \"00000/x/tensors.tsv\"\n}\nmodel_checkpoint_dir: \"d\"\n");
    const char *const broken[] = {"embeddings {", "unknown: 1", "\xff"};
    for (size_t i = 0; i < SB_COUNT(broken); i++) {
        sb_test_dir_put(b.dir, "run/projector_config.pbtxt", sb_slice_str(broken[i]));
        assert_int_equal(sb_embedding(b.w, "x", &array, 0, NULL, &b.err), SB_CORRUPT);
        assert_non_null(strstr(b.err.text, "left as it is"));
        assert_slice_is(file_of(&b, "projector_config.pbtxt"), broken[i]);
    }
    bed_close(&b);
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    const sb_array good = ARRAY_OF(SB_FLOAT, matrix, 2, 2), flat = ARRAY_OF(SB_FLOAT, matrix, 4);
    const sb_array empty = ARRAY_OF(SB_FLOAT, matrix, 0, 2),
                   text = ARRAY_OF(SB_STRING, matrix, 2, 2);
    const sb_array minus = ARRAY_OF(SB_FLOAT, matrix, -1, 2), gone = ARRAY_OF(SB_FLOAT, NULL, 2, 2);
    const sb_array huge = ARRAY_OF(SB_FLOAT, matrix, INT64_MAX, 3);
    const sb_array no_dims = {matrix, SB_FLOAT, 2, NULL, NULL};
    const sb_array three = ARRAY_OF(SB_FLOAT, matrix, 3, 1, 1, 1);
    const sb_array deep = ARRAY_OF(SB_FLOAT, matrix, 2, 5, 1, 1);
    const char *const labels[] = {"a", NULL}, *const garbled[] = {"a", "\xff"},
                      *const ok[] = {"a", "b"};
#define OPTS(...) SB_INIT(sb_embedding_opts, __VA_ARGS__)
    const struct {
        const sb_array *matrix;
        const char *tag;
        sb_embedding_opts opts;
    } rows[] = {
        {NULL, "x", OPTS()},
        {&flat, "x", OPTS()},
        {&empty, "x", OPTS()},
        {&text, "x", OPTS()},
        {&minus, "x", OPTS()},
        {&gone, "x", OPTS()},
        {&huge, "x", OPTS()},
        {&no_dims, "x", OPTS()},
        {&good, "", OPTS()},
        {&good, "\xff", OPTS()},
        {&good, "x", {.metadata = NULL}}, /* without a size */
        {&good, "x", OPTS(.metadata = labels, .metadata_columns = 1)},
        {&good, "x", OPTS(.metadata = garbled, .metadata_columns = 1)},
        {&good, "x", OPTS(.metadata = ok, .metadata_columns = 0)},
        {&good, "x", OPTS(.metadata = ok, .metadata_columns = 2)},
        {&good, "x", OPTS(.metadata = ok, .metadata_columns = SIZE_MAX, .metadata_header = ok)},
        {&good, "x", OPTS(.metadata = ok, .metadata_columns = 1, .metadata_header = labels + 1)},
        {&good, "x", OPTS(.images = &good)},
        {&good, "x", OPTS(.images = &three)},
        {&good, "x", OPTS(.images = &deep)},
    };
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        sb_status status = sb_embedding(b.w, rows[i].tag, rows[i].matrix, 0, &rows[i].opts, &b.err);
        assert_true(status == SB_INVALID || status == SB_LIMIT);
        assert_non_null(strstr(b.err.text, "embedding"));
    }
    assert_int_equal(sb_embedding(NULL, "x", &good, 0, NULL, NULL), SB_INVALID);
    bed_close(&b);
    bed_free(&b);
    static const float oblong[2 * 2 * 3];
    const sb_array images = ARRAY_OF(SB_FLOAT, oblong, 2, 1, 2, 3);
    b = bed_open(*state, "tbx", SB_STYLE_TBX);
    assert_int_equal(sb_embedding(b.w, "x", &good, 0, &OPTS(.images = &images), &b.err),
                     SB_INVALID);
    assert_non_null(strstr(b.err.text, "square"));
    bed_close(&b);
    bed_free(&b);
}

/* ---- disks and memory that fail -------------------------------------------------------------- */

static sb_status add_one(sb_writer *w, sb_err *err) {
    static const uint8_t pictures[2 * 3 * 2 * 2];
    const char *const labels[] = {"a", "b"};
    const sb_array array = ARRAY_OF(SB_FLOAT, matrix, 2, 2);
    const sb_array images = ARRAY_OF(SB_UINT8, pictures, 2, 3, 2, 2);
    const sb_embedding_opts opts =
        SB_INIT(sb_embedding_opts, .metadata = labels, .metadata_columns = 1, .images = &images);
    return sb_embedding(w, NULL, &array, 0, &opts, err);
}

static void a_refusing_disk_is_named_and_keeps_the_old_config(void **state) {
    for (uint64_t n = 1; n < 200; n++) {
        char name[32], config[64];
        snprintf(name, sizeof name, "run%llu", (unsigned long long)n);
        snprintf(config, sizeof config, "%s/projector_config.pbtxt", name);
        sb_fault_fs fault;
        sb_fault_fs_init(&fault, &sb_fs_local);
        const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
        bed b = bed_open_with(*state, name, SB_STYLE_TORCH, &env);
        const char *path = sb_test_dir_put(b.dir, config, SB_LIT("model_checkpoint_path: \"m\"\n"));
        sb_fault_fs_fail(&fault, SB_CALL_ANY, n, ENOSPC, false);
        sb_status status = add_one(b.w, &b.err);
        bool failed = sb_fault_fs_failures(&fault) > 0;
        sb_fault_fs_fail(&fault, SB_CALL_ANY, 0, ENOSPC, false);
        sb_slice text = sb_test_dir_get(b.dir, path);
        if (status != SB_OK) {
            assert_int_equal(status, SB_IO);
            assert_non_null(strstr(b.err.text, name));
            assert_slice_is(text, "model_checkpoint_path: \"m\"\n");
        } else {
            assert_true(sb_slice_ends(text, SB_LIT("}\n")));
        }
        bed_close(&b);
        bed_free(&b);
        sb_fault_fs_fini(&fault);
        if (!failed) return;
    }
    fail_msg("the sweep never ended");
}

static sb_status make_embedding(sb_writer *w) {
    sb_status status = add_one(w, NULL);
    if (status == SB_OK) status = add_one(w, NULL); /* merges with what is there */
    return status == SB_OK ? sb_purge_step(w, 1) : status;
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TORCH, make_embedding);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(numbers_are_printed_as_python_does),
        DIR_TEST(large_matrices_are_written_in_pieces),
        DIR_TEST(labels_can_not_break_lines),
        DIR_TEST(the_config_names_every_embedding_once),
        DIR_TEST(foreign_entries_and_broken_configs_are_left_alone),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(a_refusing_disk_is_named_and_keeps_the_old_config),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
