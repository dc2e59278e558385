/* import_test.c: .npz and .safetensors become checkpoints: what was exported comes back, and files
 * that lie are refused by name and leave nothing behind. NumPy's own files are in tests/interop. */
#include "ckpt/export/import.h"

#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/export/export.h"
#include "ckpt/export/json_read.h"
#include "ckpt/export/npy_header.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_env real = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};

/* A checkpoint with numbers, strings, an empty tensor and one of half floats. */
static void save(const char *prefix) {
    sb_bundle_writer *w;
    sb_err err;
    const float x[] = {1, 2, 3, 4, 5, 6};
    const int64_t six[] = {2, 3}, three = 3, none[] = {0, 4};
    const uint16_t halves[] = {0x3f80, 0x4000, 0x4040};
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT(""), SB_LIT("ccc")};
    const sb_slice graph = SB_LIT("\x0a\x02\x2a\x00");
    const sb_bundle_item items[] = {
        {.name = SB_LIT("a/w"), .dtype = SB_FLOAT, .rank = 2, .dims = six, .data = x},
        {.name = SB_LIT("b"), .dtype = SB_BFLOAT16, .rank = 1, .dims = &three, .data = halves},
        {.name = SB_LIT("e"), .dtype = SB_INT8, .rank = 2, .dims = none},
        {.name = SB_LIT("s"), .dtype = SB_STRING, .rank = 1, .dims = &three, .strings = strings},
        {.name = SB_LIT("_CHECKPOINTABLE_OBJECT_GRAPH"), .dtype = SB_STRING, .strings = &graph},
    };
    assert_ok(
        sb_bundle_writer_open(&w, &real, prefix, &(sb_bundle_writer_opts){.no_sync = true}, &err),
        &err);
    for (size_t i = 0; i < SB_COUNT(items); i++)
        assert_ok(sb_bundle_write(w, 0, &items[i], &err), &err);
    assert_ok(sb_bundle_writer_finish(&w, &err), &err);
}

static void export_to(const char *prefix, const char *path) {
    sb_bundle *b;
    sb_export_result result;
    sb_err err;
    assert_ok(
        sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL, sb_slice_str(prefix), NULL, &err),
        &err);
    assert_ok(sb_bundle_export(b, &real, path, NULL, &result, &err), &err);
    sb_bundle_close(b);
}

static sb_status import_from(const char *path, const char *prefix, size_t *written, sb_err *err) {
    sb_import_result result;
    sb_status status =
        sb_bundle_import(&real, path, prefix, &(sb_import_opts){.no_sync = true}, &result, err);
    if (written) *written = result.written;
    return status;
}

static int count_names(void *ud, const char *name) {
    (void)name;
    ++*(size_t *)ud;
    return 0;
}

static size_t count_files(sb_test_dir *d, const char *dir) {
    size_t n = 0;
    sb_fs_local.list(NULL, sb_test_dir_join(d, dir), count_names, &n);
    return n;
}

/* ---- what was exported ----------------------------------------------------------------------- */

static sb_slice bytes_of(sb_test_dir *d, const char *name, const char *suffix) {
    char path[64];
    snprintf(path, sizeof path, "%s%s", name, suffix);
    return sb_test_dir_get(d, sb_test_dir_join(d, path));
}

static void an_exported_archive_comes_back_with_the_same_bytes(void **state) {
    sb_err err;
    size_t written;
    save(sb_test_dir_join(*state, "x"));
    export_to(sb_test_dir_join(*state, "x"), sb_test_dir_join(*state, "x.npz"));
    assert_ok(import_from(sb_test_dir_join(*state, "x.npz"), sb_test_dir_join(*state, "deep/y"),
                          &written, &err),
              &err);
    assert_int_equal(written, 5);
    /* in order of names, so the data file differs; exported again it is the same archive */
    export_to(sb_test_dir_join(*state, "deep/y"), sb_test_dir_join(*state, "y.npz"));
    sb_slice first = bytes_of(*state, "x", ".npz"), second = bytes_of(*state, "y", ".npz");
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.p, second.p, first.n);
}

static void exported_safetensors_come_back_without_strings(void **state) {
    sb_err err;
    size_t written;
    save(sb_test_dir_join(*state, "x"));
    export_to(sb_test_dir_join(*state, "x"), sb_test_dir_join(*state, "x.safetensors"));
    assert_ok(import_from(sb_test_dir_join(*state, "x.safetensors"), sb_test_dir_join(*state, "y"),
                          &written, &err),
              &err);
    assert_int_equal(written, 3);
    export_to(sb_test_dir_join(*state, "y"), sb_test_dir_join(*state, "y.safetensors"));
    sb_slice first = bytes_of(*state, "x", ".safetensors");
    sb_slice second = bytes_of(*state, "y", ".safetensors");
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.p, second.p, first.n);
}

static bool wants_a(void *ud, sb_slice name) {
    (void)ud;
    return name.p[0] == 'a';
}

static void only_some_arrays_are_imported(void **state) {
    sb_import_result result;
    sb_bundle *b;
    sb_err err;
    save(sb_test_dir_join(*state, "x"));
    const char *const endings[] = {"x.npz", "x.safetensors"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = sb_test_dir_join(*state, endings[i]), *y = sb_test_dir_join(*state, "y");
        export_to(sb_test_dir_join(*state, "x"), path);
        sb_import_opts opts = {.wants = wants_a, .no_sync = true};
        assert_ok(sb_bundle_import(&real, path, y, &opts, &result, &err), &err);
        assert_int_equal(result.written, 1);
        assert_int_equal(result.bytes, 24);
        assert_ok(
            sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL, sb_slice_str(y), NULL, &err),
            &err);
        assert_int_equal(sb_bundle_count(b), 1);
        assert_slice_is(sb_bundle_at(b, 0)->name, "a/w");
        sb_bundle_close(b);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void a_file_that_was_cut_anywhere_is_refused_and_leaves_nothing(void **state) {
    static const char *const names[] = {"x.npz", "x.safetensors"};
    save(sb_test_dir_join(*state, "x"));
    assert_int_equal(sb_fs_local.make_dir(NULL, sb_test_dir_join(*state, "out")), 0);
    for (size_t k = 0; k < 2; k++) {
        export_to(sb_test_dir_join(*state, "x"), sb_test_dir_join(*state, names[k]));
        sb_slice whole = sb_test_dir_get(*state, sb_test_dir_join(*state, names[k]));
        for (size_t cut = 0; cut < whole.n; cut += 1 + cut % 3) {
            char name[32];
            sb_err err = {0};
            snprintf(name, sizeof name, "cut_%s", names[k]);
            const char *path = sb_test_dir_join(*state, name);
            assert_ok(
                sb_fs_put(&sb_fs_local, &sb_alloc_libc, path, sb_slice_of(whole.p, cut), &err),
                &err);
            assert_int_not_equal(import_from(path, sb_test_dir_join(*state, "out/y"), NULL, &err),
                                 SB_OK);
            assert_non_null(strstr(err.text, "cut_x"));
        }
    }
    assert_int_equal(count_files(*state, "out"), 0);
}

static void changed_bytes_are_noticed_or_harmless(void **state) {
    static const char *const names[] = {"x.npz", "x.safetensors"};
    save(sb_test_dir_join(*state, "x"));
    sb_test_random random = sb_test_random_of(4);
    for (size_t k = 0; k < 2; k++) {
        export_to(sb_test_dir_join(*state, "x"), sb_test_dir_join(*state, names[k]));
        sb_slice whole = sb_test_dir_get(*state, sb_test_dir_join(*state, names[k]));
        uint8_t *bytes = (uint8_t *)(uintptr_t)whole.p;
        char name[32];
        snprintf(name, sizeof name, "bad_%s", names[k]);
        for (size_t i = 0; i < whole.n; i++) {
            sb_err err;
            uint8_t flip = (uint8_t)(1u << sb_test_below(&random, 8));
            bytes[i] ^= flip;
            const char *path = sb_test_dir_join(*state, name);
            assert_ok(sb_fs_put(&sb_fs_local, &sb_alloc_libc, path, whole, &err), &err);
            size_t written;
            sb_status status = import_from(path, sb_test_dir_join(*state, "y"), &written, &err);
            if (status == SB_OK) assert_int_equal(written, k == 0 ? 5 : 3);
            bytes[i] ^= flip;
        }
    }
}

/* ---- lies in the header of safetensors ------------------------------------------------------- */

static void put_safetensors(sb_test_dir *d, const char *header, size_t data) {
    sb_buf file;
    sb_err err;
    uint8_t length[8];
    sb_buf_init(&file, &sb_alloc_libc, 1 << 20);
    sb_store64(length, strlen(header));
    sb_buf_add(&file, length, 8);
    sb_buf_add_str(&file, header);
    for (size_t i = 0; i < data; i++) sb_buf_add_byte(&file, (uint8_t)i);
    assert_ok(sb_fs_put(&sb_fs_local, &sb_alloc_libc, sb_test_dir_join(d, "t.safetensors"),
                        sb_buf_slice(&file), &err),
              &err);
    sb_buf_fini(&file);
}

static void safetensors_that_lie_are_refused_by_name(void **state) {
    static const struct {
        const char *header;
        size_t data;
        sb_status status;
        const char *says;
    } cases[] = {
        {"{}", 0, SB_OK, ""},
        {"{\"__metadata__\": {\"a\": \"b\"}, \"x\": {\"dtype\": \"U8\", \"shape\": [], "
         "\"data_offsets\": [0, 1]}}  ",
         1, SB_OK, ""},
        {"[]", 0, SB_CORRUPT, "no JSON object"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 1]}}", 1, SB_CORRUPT,
         "'x' has 1 bytes"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]}}", 2, SB_CORRUPT,
         "cut short or changed"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [1, 2]}}", 2, SB_CORRUPT,
         "'x' begins at byte 1"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 2]}, \"y\": "
         "{\"dtype\": "
         "\"U8\", \"shape\": [2], \"data_offsets\": [1, 3]}}",
         3, SB_CORRUPT, "'y' begins at byte 1"},
        {"{\"x\": {\"dtype\": \"F8_E8M0\", \"shape\": [1], \"data_offsets\": [0, 1]}}", 1,
         SB_INVALID, "type F8_E8M0"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [-1], \"data_offsets\": [0, 1]}}", 1, SB_CORRUPT,
         "'x' is malformed"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [9223372036854775807, 9223372036854775807], "
         "\"data_offsets\": [0, 1]}}",
         1, SB_CORRUPT, "'x' has 1 bytes"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [99999999999999999999], \"data_offsets\": [0, "
         "1]}}",
         1, SB_CORRUPT, "'x' is malformed"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [1]}}", 1, SB_CORRUPT, "'x' is malformed"},
        {"{\"x\": {\"shape\": [1], \"data_offsets\": [0, 1]}}", 1, SB_CORRUPT, "'x' is malformed"},
        {"{\"x\": 3}", 0, SB_CORRUPT, "'x' is malformed"},
        {"{\"x\" {", 0, SB_CORRUPT, "a name is missing"},
        {"{\"\\ud800\": {}}", 0, SB_CORRUPT, "a name is missing"},
        {"{\"\": {\"dtype\": \"U8\", \"shape\": [0], \"data_offsets\": [0, 0]}}", 0, SB_INVALID,
         "must not be empty"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [0], \"data_offsets\": [0, 0]}, \"x\": "
         "{\"dtype\": "
         "\"U8\", \"shape\": [0], \"data_offsets\": [0, 0]}}",
         0, SB_INVALID, "'x' was added twice"},
        {"{} {}", 0, SB_CORRUPT, "something follows"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_err err = {0};
        put_safetensors(*state, cases[i].header, cases[i].data);
        sb_status status = import_from(sb_test_dir_join(*state, "t.safetensors"),
                                       sb_test_dir_join(*state, "y"), NULL, &err);
        if (status != cases[i].status || !strstr(err.text, cases[i].says))
            fail_msg("%s: %d, %s", cases[i].header, (int)status, err.text);
    }
}

static void strings_of_json_are_unescaped(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted; /* NULL: refused */
    } cases[] = {
        {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t"},
        {"\"\\u00e9\\u4e2d\\ud83d\\ude00\"", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"},
        {"\"\xc3\xa9\"", "\xc3\xa9"},
        {"\"\\ud83d\"", NULL},
        {"\"\\ude00\"", NULL},
        {"\"\\u12g4\"", NULL},
        {"\"\\x\"", NULL},
        {"\"\xff\"", NULL},
        {"\"\n\"", NULL},
        {"\"a", NULL},
        {"a\"", NULL},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 10);
        sb_slice text = sb_slice_str(cases[i].text);
        sb_json_cursor c = {text.p, text.p + text.n};
        bool is_good = sb_json_read_string(&c, &out);
        assert_int_equal(is_good, cases[i].wanted != NULL);
        if (is_good) assert_slice_is(sb_buf_slice(&out), cases[i].wanted);
        sb_buf_fini(&out);
    }
    /* nesting has a limit */
    char deep[256];
    memset(deep, '[', sizeof deep);
    sb_json_cursor c = {(uint8_t *)deep, (uint8_t *)deep + sizeof deep};
    sb_buf scratch;
    sb_buf_init(&scratch, &sb_alloc_libc, 1 << 10);
    assert_false(sb_json_skip_value(&c, &scratch));
    sb_buf_fini(&scratch);
}

/* ---- lies in the headers of .npy ------------------------------------------------------------- */

static void headers_of_arrays(void **state) {
    (void)state;
    static const struct {
        const char *text;
        sb_status status;
        const char *says;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n", SB_OK, ""},
        {"{\"shape\": (3L,), 'descr': '>c16', 'fortran_order': True}", SB_OK, ""},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (), }", SB_INVALID, "pickle"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (), }", SB_INVALID, "M8[ns]"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (), }", SB_INVALID, "<f16"},
        {"{'descr': '|V1', 'fortran_order': False, 'shape': (), }", SB_INVALID, "|V1"},
        {"{'descr': '<U99999999999999999999', 'fortran_order': False, 'shape': (), }", SB_INVALID,
         "U9"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", SB_CORRUPT,
         "a structure"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", SB_CORRUPT, "malformed"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", SB_CORRUPT,
         "malformed"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3, }", SB_CORRUPT, "malformed"},
        {"{'descr': '<f4', 'fortran_order': False, }", SB_CORRUPT, "malformed"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (), }", SB_CORRUPT,
         "malformed"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (), }", SB_CORRUPT, "malformed"},
        {"{'descr': '<f4", SB_CORRUPT, "malformed"},
        {"", SB_CORRUPT, "malformed"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_npy_header h;
        sb_err err = {0};
        sb_status status =
            sb_npy_header_parse(&h, sb_slice_str(cases[i].text), SB_LIT("name"), &err);
        if (status != cases[i].status || !strstr(err.text, cases[i].says))
            fail_msg("%s: %d, %s", cases[i].text, (int)status, err.text);
        if (status != SB_OK) assert_non_null(strstr(err.text, "'name'"));
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void another_kind_of_file_and_a_missing_one_are_named(void **state) {
    sb_err err;
    assert_int_equal(import_from("x.pt", "y", NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, ".npz or .safetensors"));
    assert_int_equal(import_from(sb_test_dir_join(*state, "no.npz"), "y", NULL, &err),
                     SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "no.npz"));
}

static void failing_memory_and_calls_are_reported(void **state) {
    static const char *const names[] = {"x.npz", "x.safetensors"};
    save(sb_test_dir_join(*state, "x"));
    for (size_t k = 0; k < 2; k++) {
        const char *path = sb_test_dir_join(*state, names[k]), *to = sb_test_dir_join(*state, "y");
        export_to(sb_test_dir_join(*state, "x"), path);
        sb_import_result result;
        sb_import_opts opts = {.no_sync = true};
        for (uint64_t n = 1, failures = 1; failures; n++) {
            sb_fault_alloc fault;
            sb_fault_alloc_init(&fault);
            sb_fault_alloc_fail_at(&fault, n, false);
            const sb_env env = {&fault.alloc, &sb_fs_local, &sb_test_clock};
            sb_status status = sb_bundle_import(&env, path, to, &opts, &result, NULL);
            failures = fault.failures;
            assert_true(status == SB_OK || (failures && status == SB_NOMEM));
            sb_fault_alloc_fini(&fault);
        }
        for (uint64_t n = 1;; n++) {
            sb_fault_fs f;
            sb_fault_fs_init(&f, &sb_fs_local);
            sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, false);
            const sb_env env = {&sb_alloc_libc, &f.fs, &sb_test_clock};
            sb_bundle_import(&env, path, to, &opts, &result, NULL);
            bool failed = sb_fault_fs_failures(&f) > 0;
            sb_fault_fs_fini(&f);
            if (!failed) break;
        }
    }
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(an_exported_archive_comes_back_with_the_same_bytes),
        ON_DISK(exported_safetensors_come_back_without_strings),
        ON_DISK(only_some_arrays_are_imported),
        ON_DISK(a_file_that_was_cut_anywhere_is_refused_and_leaves_nothing),
        ON_DISK(changed_bytes_are_noticed_or_harmless),
        ON_DISK(safetensors_that_lie_are_refused_by_name),
        cmocka_unit_test(strings_of_json_are_unescaped),
        cmocka_unit_test(headers_of_arrays),
        ON_DISK(another_kind_of_file_and_a_missing_one_are_named),
        ON_DISK(failing_memory_and_calls_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
