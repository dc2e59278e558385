/* values_test.c: strings in a tree of objects: variables of strings, Python state, tables; in a
 * program that has them before it restores, after, or not at all. */
#include <stdio.h>

#include "ckpt/object/object_int.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_array no_text = {.data = &(const sb_slice){NULL, 0}, .dtype = SB_STRING};

/* A program with Python state, a table from strings to numbers, and a variable of two strings. */
typedef struct program {
    sb_checkpoint *c;
    sb_object *state, *table;
    sb_slice names[2];
} program;

static sb_status build(program *p, const sb_env *env, sb_err *err) {
    static const int64_t two = 2, none = 0;
    static const sb_array keys = {.dtype = SB_STRING, .rank = 1, .dims = &none};
    static const sb_array values = {.dtype = SB_INT64, .rank = 1, .dims = &none};
    sb_variable v =
        SB_INIT(sb_variable, .dtype = SB_STRING, .rank = 1, .dims = &two, .data = p->names);
    sb_status status = sb_checkpoint_new_env(&p->c, env, err);
    if (status != SB_OK) return status;
    sb_object *root = sb_checkpoint_root(p->c);
    status = sb_object_add(&p->state, root, "state", err);
    if (status == SB_OK) status = sb_object_set_value(p->state, "py_state", &no_text, err);
    if (status == SB_OK) status = sb_object_add(&p->table, root, "table", err);
    if (status == SB_OK) status = sb_object_set_value(p->table, "table-keys", &keys, err);
    if (status == SB_OK) status = sb_object_set_value(p->table, "table-values", &values, err);
    return status == SB_OK ? sb_object_add_variable(NULL, root, "names", &v, err) : status;
}

static sb_status fill(program *p, sb_err *err) {
    static const int64_t three = 3;
    static const sb_slice keys[] = {SB_LIT("a"), SB_LIT(""), SB_LIT("ccc")};
    static const int64_t numbers[] = {5, -6, 7};
    const sb_slice text = SB_LIT("{\"epoch\": 3}");
    p->names[0] = SB_LIT("zero\0byte");
    p->names[1] = SB_LIT("");
    sb_status status = sb_object_set_value(p->state, "py_state",
                                           &(sb_array){.data = &text, .dtype = SB_STRING}, err);
    if (status == SB_OK)
        status = sb_object_set_value(
            p->table, "table-keys",
            &(sb_array){.data = keys, .dtype = SB_STRING, .rank = 1, .dims = &three}, err);
    if (status == SB_OK)
        status = sb_object_set_value(
            p->table, "table-values",
            &(sb_array){.data = numbers, .dtype = SB_INT64, .rank = 1, .dims = &three}, err);
    return status;
}

static void assert_filled(const program *p) {
    sb_array text, keys, numbers;
    sb_err err;
    assert_ok(sb_object_get_value(p->state, "py_state", &text, &err), &err);
    assert_ok(sb_object_get_value(p->table, "table-keys", &keys, &err), &err);
    assert_ok(sb_object_get_value(p->table, "table-values", &numbers, &err), &err);
    assert_slice_is(*(const sb_slice *)text.data, "{\"epoch\": 3}");
    assert_true(keys.rank == 1 && keys.dims[0] == 3 && numbers.dims[0] == 3);
    assert_slice_is(((const sb_slice *)keys.data)[2], "ccc");
    assert_true(((const int64_t *)numbers.data)[1] == -6);
    assert_int_equal(p->names[0].n, 9);
    assert_memory_equal(p->names[0].p, "zero\0byte", 9);
    assert_int_equal(p->names[1].n, 0);
}

static const char *saved(sb_test_dir *d) {
    program p = {0};
    sb_err err;
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    assert_ok(build(&p, &env, &err), &err);
    assert_ok(fill(&p, &err), &err);
    const char *path = sb_test_dir_join(d, "x");
    assert_ok(sb_checkpoint_write(p.c, path, NULL, &err), &err);
    sb_checkpoint_free(p.c);
    return path;
}

static void strings_are_stored_under_tensorflows_keys(void **state) {
    static const char *const keys[] = {
        "_CHECKPOINTABLE_OBJECT_GRAPH",   "names/.ATTRIBUTES/VARIABLE_VALUE",
        "state/.ATTRIBUTES/py_state",     "table/.ATTRIBUTES/table-keys",
        "table/.ATTRIBUTES/table-values",
    };
    sb_ckpt *c;
    sb_err err;
    assert_ok(sb_ckpt_open(&c, saved(*state), &err), &err);
    assert_int_equal(sb_ckpt_count(c), SB_COUNT(keys));
    for (size_t i = 0; i < SB_COUNT(keys); i++) assert_slice_is(sb_ckpt_at(c, i)->name, keys[i]);
    sb_ckpt_close(c);
}

static void strings_are_restored_whatever_their_number(void **state) {
    program p = {0};
    sb_restore *r;
    sb_err err;
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    const char *path = saved(*state);
    assert_ok(build(&p, &env, &err), &err);
    for (int i = 0; i < 2; i++) { /* a second restore gives the memory of the first one back */
        assert_ok(sb_checkpoint_read(p.c, path, &r, &err), &err);
        assert_filled(&p);
        assert_ok(sb_restore_assert_consumed(r, &err), &err);
    }
    sb_checkpoint_free(p.c);
}

static void values_wait_for_objects_and_attributes_that_come_later(void **state) {
    program p = {0};
    sb_restore *r;
    sb_array text;
    sb_err err;
    const char *path = saved(*state);
    assert_ok(sb_checkpoint_new(&p.c, &err), &err);
    sb_object *root = sb_checkpoint_root(p.c);
    assert_ok(sb_object_add(&p.table, root, "table", &err), &err);
    assert_ok(sb_checkpoint_read(p.c, path, &r, &err), &err);
    assert_int_equal(sb_restore_assert_consumed(r, &err), SB_INVALID);
    const int64_t none = 0;
    assert_ok(sb_object_set_value(p.table, "table-values",
                                  &(sb_array){.dtype = SB_INT64, .rank = 1, .dims = &none}, &err),
              &err);
    assert_ok(sb_object_set_value(p.table, "table-keys",
                                  &(sb_array){.dtype = SB_STRING, .rank = 1, .dims = &none}, &err),
              &err);
    assert_ok(sb_object_add(&p.state, root, "state", &err), &err);
    /* its object is there, and its attribute is not asked for yet */
    assert_string_equal(sb_restore_unused(r, 0), "names/.ATTRIBUTES/VARIABLE_VALUE");
    assert_string_equal(sb_restore_unused(r, 1), "state/.ATTRIBUTES/py_state");
    assert_null(sb_restore_unused(r, 2));
    assert_ok(sb_object_set_value(p.state, "py_state", &no_text, &err), &err);
    assert_ok(sb_object_get_value(p.state, "py_state", &text, &err), &err);
    assert_slice_is(*(const sb_slice *)text.data, "{\"epoch\": 3}");
    const int64_t two = 2;
    assert_ok(sb_object_add_variable(NULL, root, "names",
                                     &SB_INIT(sb_variable, .dtype = SB_STRING, .rank = 1,
                                              .dims = &two, .data = p.names),
                                     &err),
              &err);
    assert_filled(&p);
    assert_ok(sb_restore_assert_consumed(r, &err), &err);
    sb_checkpoint_free(p.c);
}

static void a_partial_program_says_so_and_is_not_warned(void **state) {
    program p = {0};
    sb_restore *r;
    sb_err err;
    const char *path = saved(*state);
    assert_ok(sb_checkpoint_new(&p.c, &err), &err);
    assert_ok(sb_object_add(&p.state, sb_checkpoint_root(p.c), "state", &err), &err);
    assert_ok(sb_object_set_value(p.state, "py_state", &no_text, &err), &err);
    assert_ok(sb_checkpoint_read(p.c, path, &r, &err), &err);
    assert_non_null(sb_restore_unused(r, 0));
    sb_restore_expect_partial(r);
    assert_null(sb_restore_unused(r, 0));
    assert_ok(sb_restore_assert_existing_objects_matched(r, &err), &err);
    assert_int_equal(sb_restore_assert_consumed(r, &err), SB_INVALID);
    sb_checkpoint_free(p.c);
}

static void a_value_that_the_file_has_not_is_named(void **state) {
    program p = {0};
    sb_restore *r;
    sb_err err;
    const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    const char *path = saved(*state);
    assert_ok(build(&p, &env, &err), &err);
    assert_ok(sb_object_set_value(p.table, "other", &no_text, &err), &err);
    assert_ok(sb_checkpoint_read(p.c, path, &r, &err), &err);
    assert_int_equal(sb_restore_assert_existing_objects_matched(r, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "'table/other'"));
    sb_checkpoint_free(p.c);
    /* the file has numbers where the program has strings */
    assert_ok(sb_checkpoint_new(&p.c, &err), &err);
    assert_ok(sb_object_add(&p.table, sb_checkpoint_root(p.c), "table", &err), &err);
    assert_ok(sb_object_set_value(p.table, "table-values", &no_text, &err), &err);
    assert_int_equal(sb_checkpoint_read(p.c, path, NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "the file has int64 [3], the program has string []"));
    sb_checkpoint_free(p.c);
}

static void values_that_make_no_sense_are_refused(void **state) {
    (void)state;
    sb_checkpoint *c;
    sb_array out;
    sb_err err;
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    sb_object *root = sb_checkpoint_root(c);
    const int64_t less = -1, one = 1;
    const struct {
        const char *name;
        sb_array array;
    } bad[] = {
        {"", no_text},
        {"-keys", no_text},
        {NULL, no_text},
        {"VARIABLE_VALUE", no_text},
        {"x", {.dtype = SB_FLOAT}},
        {"x", {.dtype = SB_RESOURCE, .data = &one}},
        {"x", {.dtype = SB_INT64, .rank = 1, .dims = &less, .data = &one}},
        {"x", {.dtype = SB_INT64, .rank = 1, .dims = &one, .strides = &one, .data = &one}},
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(sb_object_set_value(root, bad[i].name, &bad[i].array, &err), SB_INVALID);
    assert_int_equal(sb_object_get_value(root, "x", &out, &err), SB_NOT_FOUND);
    sb_checkpoint_free(c);
}

static sb_status save_and_restore(const sb_alloc *alloc, void *path) {
    const sb_env env = {alloc, &sb_fs_local, &sb_clock_system};
    program p = {0};
    sb_save_opts opts = SB_INIT(sb_save_opts, .durability = SB_BUFFERED);
    sb_status status = build(&p, &env, NULL);
    if (status == SB_OK) status = fill(&p, NULL);
    if (status == SB_OK) status = sb_checkpoint_write(p.c, path, &opts, NULL);
    if (status == SB_OK) status = sb_checkpoint_read(p.c, path, NULL, NULL);
    sb_checkpoint_free(p.c);
    return status;
}

static void failing_memory_is_reported(void **state) {
    sb_fault_alloc_sweep_lenient(save_and_restore,
                                 (void *)(uintptr_t)sb_test_dir_join(*state, "x"));
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(strings_are_stored_under_tensorflows_keys),
        ON_DISK(strings_are_restored_whatever_their_number),
        ON_DISK(values_wait_for_objects_and_attributes_that_come_later),
        ON_DISK(a_partial_program_says_so_and_is_not_warned),
        ON_DISK(a_value_that_the_file_has_not_is_named),
        cmocka_unit_test(values_that_make_no_sense_are_refused),
        ON_DISK(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
