/* object_test.c: trees of objects saved and restored: keys, matching, values that come later,
 * slots, what is said when file and program differ. TensorFlow's own files are in tests/interop. */
#include "ckpt/object/object_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "ckpt/object/object_graph.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

#define FLOATS(memory, n)                                                                          \
    SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = (const int64_t[]){n},               \
            .data = (memory))

/* A program with a model of two layers, an optimizer with slots, and a list. */
typedef struct program {
    sb_checkpoint *c;
    sb_object *model, *dense, *kernel, *optimizer, *list;
    float w[4], b[2], m[4], item;
} program;

static void build(program *p, const char *model_name, bool with_slots) {
    sb_err err;
    assert_ok(sb_checkpoint_new(&p->c, &err), &err);
    sb_object *root = sb_checkpoint_root(p->c);
    assert_ok(sb_object_add(&p->optimizer, root, "optimizer", &err), &err);
    assert_ok(sb_object_add(&p->model, root, model_name, &err), &err);
    assert_ok(sb_object_add(&p->dense, p->model, "dense", &err), &err);
    sb_variable w = FLOATS(p->w, 4);
    w.full_name = "dense/kernel";
    assert_ok(sb_object_add_variable(&p->kernel, p->dense, "kernel", &w, &err), &err);
    assert_ok(sb_object_add_variable(NULL, p->dense, "bias", &FLOATS(p->b, 2), &err), &err);
    assert_ok(sb_object_add(&p->list, root, "list", &err), &err);
    assert_ok(sb_object_add_variable(NULL, p->list, "a/b.c", &FLOATS(&p->item, 1), &err), &err);
    assert_ok(sb_object_link(p->model, "self", p->model, &err), &err);
    if (with_slots)
        assert_ok(sb_object_add_slot(NULL, p->optimizer, p->kernel, "m", &FLOATS(p->m, 4), &err),
                  &err);
}

static void set(program *p, float from) {
    for (int i = 0; i < 4; i++) p->w[i] = from + (float)i;
    for (int i = 0; i < 4; i++) p->m[i] = from + 50 + (float)i;
    p->b[0] = p->b[1] = from + 20;
    p->item = from + 30;
}

static void assert_values(const program *p, float from) {
    program wanted = {0};
    set(&wanted, from);
    assert_memory_equal(p->w, wanted.w, sizeof p->w);
    assert_memory_equal(p->b, wanted.b, sizeof p->b);
    assert_true(p->item == wanted.item);
}

static const char *save(program *p, sb_test_dir *d, const char *name) {
    const char *path;
    sb_err err;
    assert_ok(sb_checkpoint_save(p->c, sb_test_dir_join(d, name), NULL, &path, &err), &err);
    return path;
}

static void keys_are_those_of_tensorflow(void **state) {
    program p = {0};
    build(&p, "model", true);
    const char *path = save(&p, *state, "deep/er/ckpt");
    sb_bundle *b;
    sb_err err;
    assert_ok(
        sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL, sb_slice_str(path), NULL, &err),
        &err);
    static const char *const keys[] = {
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "list/a.Sb..c/.ATTRIBUTES/VARIABLE_VALUE",
        "model/dense/bias/.ATTRIBUTES/VARIABLE_VALUE",
        "model/dense/kernel/.ATTRIBUTES/VARIABLE_VALUE",
        "model/dense/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
    };
    assert_int_equal(sb_bundle_count(b), SB_COUNT(keys));
    for (size_t i = 0; i < SB_COUNT(keys); i++) assert_slice_is(sb_bundle_at(b, i)->name, keys[i]);
    sb_bundle_close(b);
    char latest[4096];
    assert_ok(
        sb_latest_checkpoint(sb_test_dir_join(*state, "deep/er"), latest, sizeof latest, &err),
        &err);
    assert_string_equal(latest, path);
    assert_int_equal(sb_latest_checkpoint(sb_test_dir_join(*state, "deep/er"), latest, 5, &err),
                     SB_LIMIT);
    assert_int_equal(sb_latest_checkpoint(sb_test_dir_path(*state), latest, 100, &err),
                     SB_NOT_FOUND);
    sb_checkpoint_free(p.c);
}

static void what_was_saved_is_restored(void **state) {
    for (uint32_t shards = 1; shards < 5; shards++) {
        program p = {0}, q = {0};
        const char *path;
        sb_err err;
        build(&p, "model", true);
        set(&p, 7);
        sb_save_opts opts = SB_INIT(sb_save_opts, .durability = SB_BUFFERED, .shards = shards);
        for (int i = 0; i < 3; i++)
            assert_ok(sb_checkpoint_save(p.c, sb_test_dir_join(*state, "ckpt"), &opts, &path, &err),
                      &err);
        assert_non_null(strstr(path, "ckpt-3"));
        build(&q, "model", true);
        sb_restore *r;
        assert_ok(sb_checkpoint_restore(q.c, path, &r, &err), &err);
        assert_values(&q, 7);
        assert_memory_equal(q.m, p.m, sizeof p.m);
        assert_ok(sb_restore_assert_consumed(r, &err), &err);
        assert_ok(sb_restore_assert_nontrivial_match(r, &err), &err);
        assert_null(sb_restore_unused(r, 0));
        assert_int_equal(sb_checkpoint_save_counter(q.c), 3);
        sb_checkpoint_free(p.c);
        sb_checkpoint_free(q.c);
    }
}

static void objects_that_come_later_get_their_values(void **state) {
    program p = {0};
    sb_err err;
    build(&p, "model", true);
    set(&p, 3);
    const char *path = save(&p, *state, "ckpt");
    sb_checkpoint *c;
    sb_object *model, *dense, *kernel, *optimizer;
    sb_restore *r;
    float w[4] = {0}, b[2] = {0}, m[4] = {0}, item = 0;
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    assert_ok(sb_checkpoint_restore(c, path, &r, &err), &err);
    assert_int_equal(sb_checkpoint_save_counter(c), 1);
    assert_int_equal(sb_restore_assert_consumed(r, &err), SB_INVALID);
    assert_int_equal(sb_restore_assert_nontrivial_match(r, &err), SB_OK); /* save_counter */
    assert_non_null(sb_restore_unused(r, 3));
    assert_null(sb_restore_unused(r, 4));
    assert_ok(sb_object_add(&model, sb_checkpoint_root(c), "model", &err), &err);
    assert_ok(sb_object_add(&dense, model, "dense", &err), &err);
    assert_ok(sb_object_add_variable(&kernel, dense, "kernel", &FLOATS(w, 4), &err), &err);
    assert_memory_equal(w, p.w, sizeof w);
    assert_ok(sb_object_add_variable(NULL, dense, "bias", &FLOATS(b, 2), &err), &err);
    assert_true(b[1] == 23);
    assert_ok(sb_object_add(&optimizer, sb_checkpoint_root(c), "optimizer", &err), &err);
    assert_string_equal(sb_object_awaited_slot(optimizer, kernel, 0), "m");
    assert_null(sb_object_awaited_slot(optimizer, kernel, 1));
    assert_null(sb_object_awaited_slot(model, kernel, 0));
    assert_ok(sb_object_add_slot(NULL, optimizer, kernel, "m", &FLOATS(m, 4), &err), &err);
    assert_null(sb_object_awaited_slot(optimizer, kernel, 0));
    assert_memory_equal(m, p.m, sizeof m);
    assert_int_equal(sb_restore_assert_consumed(r, &err), SB_INVALID);
    sb_object *list;
    assert_ok(sb_object_add(&list, sb_checkpoint_root(c), "list", &err), &err);
    assert_ok(sb_object_add_variable(NULL, list, "a/b.c", &FLOATS(&item, 1), &err), &err);
    assert_true(item == 33);
    assert_ok(sb_restore_assert_consumed(r, &err), &err);
    sb_checkpoint_free(c);
    sb_checkpoint_free(p.c);
}

static void a_newer_restore_wins_over_one_that_waits(void **state) {
    program p = {0};
    sb_err err;
    build(&p, "model", false);
    set(&p, 1);
    char first[4096];
    snprintf(first, sizeof first, "%s", save(&p, *state, "ckpt"));
    set(&p, 100);
    const char *second = save(&p, *state, "ckpt");
    sb_checkpoint *c;
    sb_object *model, *dense;
    float w[4];
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    assert_ok(sb_checkpoint_restore(c, first, NULL, &err), &err);
    assert_ok(sb_checkpoint_restore(c, second, NULL, &err), &err);
    assert_ok(sb_object_add(&model, sb_checkpoint_root(c), "model", &err), &err);
    assert_ok(sb_object_add(&dense, model, "dense", &err), &err);
    assert_ok(sb_object_add_variable(NULL, dense, "kernel", &FLOATS(w, 4), &err), &err);
    assert_true(w[0] == 100);
    assert_int_equal(sb_checkpoint_save_counter(c), 2);
    sb_checkpoint_free(c);
    sb_checkpoint_free(p.c);
}

static void messages_name_both_sides(void **state) {
    program p = {0}, q = {0};
    sb_err err = {0};
    sb_restore *r;
    build(&p, "myAwesomeModel", false);
    const char *path = save(&p, *state, "ckpt");
    build(&q, "model", false);
    assert_ok(sb_checkpoint_restore(q.c, path, &r, &err), &err);
    assert_int_equal(sb_restore_assert_consumed(r, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "(root).myAwesomeModel.dense.kernel"));
    assert_non_null(strstr(err.text, "the file has 'myAwesomeModel', the program has 'model'"));
    assert_int_equal(sb_restore_assert_existing_objects_matched(r, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "'dense/kernel'"));
    assert_non_null(strstr(err.text, "the file has 'myAwesomeModel', the program has 'model'"));
    sb_checkpoint_free(p.c);
    sb_checkpoint_free(q.c);
}

static void other_shapes_are_refused_before_anything_is_assigned(void **state) {
    program p = {0};
    sb_err err = {0};
    build(&p, "model", false);
    set(&p, 9);
    const char *path = save(&p, *state, "ckpt");
    sb_checkpoint *c;
    sb_object *model, *dense;
    float w[4] = {0}, b[3] = {0};
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    assert_ok(sb_object_add(&model, sb_checkpoint_root(c), "model", &err), &err);
    assert_ok(sb_object_add(&dense, model, "dense", &err), &err);
    assert_ok(sb_object_add_variable(NULL, dense, "kernel", &FLOATS(w, 4), &err), &err);
    assert_ok(sb_object_add_variable(NULL, dense, "bias", &FLOATS(b, 3), &err), &err);
    assert_int_equal(sb_checkpoint_restore(c, path, NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "the file has float32 [2], the program has float32 [3]"));
    assert_true(w[0] == 0);
    assert_int_equal(sb_checkpoint_restore(c, "nowhere/ckpt-1", NULL, &err), SB_NOT_FOUND);
    sb_checkpoint_free(c);
    sb_checkpoint_free(p.c);
}

static void read_is_the_counterpart_of_write(void **state) {
    program p = {0}, q = {0};
    sb_err err;
    sb_restore *r;
    build(&p, "model", false);
    set(&p, 2);
    const char *path = sb_test_dir_join(*state, "plain");
    assert_ok(sb_checkpoint_write(p.c, path, NULL, &err), &err);
    build(&q, "model", false);
    assert_ok(sb_checkpoint_read(q.c, path, &r, &err), &err);
    assert_ok(sb_restore_assert_consumed(r, &err), &err);
    assert_values(&q, 2);
    sb_checkpoint_free(p.c);
    sb_checkpoint_free(q.c);
}

static void objects_that_make_no_sense_are_refused(void **state) {
    (void)state;
    program p = {0}, q = {0};
    sb_err err;
    sb_object *o;
    build(&p, "model", true);
    build(&q, "model", false);
    assert_int_equal(sb_object_add(&o, p.model, "dense", &err), SB_INVALID);
    assert_int_equal(sb_object_add(&o, p.model, "", &err), SB_INVALID);
    assert_int_equal(sb_object_link(p.model, "other", q.model, &err), SB_INVALID);
    assert_int_equal(sb_object_add_slot(NULL, p.optimizer, p.kernel, "m", &FLOATS(p.m, 4), &err),
                     SB_INVALID);
    assert_int_equal(sb_object_add_slot(NULL, p.optimizer, p.model, "m", &FLOATS(p.m, 4), &err),
                     SB_INVALID);
    sb_variable bad = FLOATS(NULL, 4);
    assert_int_equal(sb_object_add_variable(NULL, p.model, "x", &bad, &err), SB_INVALID);
    bad = FLOATS(p.w, -1);
    assert_int_equal(sb_object_add_variable(NULL, p.model, "x", &bad, &err), SB_INVALID);
    bad = (sb_variable){0};
    assert_int_equal(sb_object_add_variable(NULL, p.model, "x", &bad, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "SB_INIT"));
    sb_checkpoint_free(p.c);
    sb_checkpoint_free(q.c);
    sb_checkpoint_free(NULL);
}

static void a_graph_that_names_a_missing_node_is_corrupt(void **state) {
    (void)state;
    uint8_t room[64];
    sb_arena arena;
    sb_graph_node *nodes;
    size_t count;
    sb_err err;
    static const char *const bad[] = {
        "",
        "0a",
        "0a060a0408071201",
        "0a05 0a03 08071200",
        "0a04 1a02 0801",
        "0a04 1a02 1801",
        "0a0d 0a0b 08ffffffffffffffffff01",
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
        assert_int_equal(
            sb_graph_parse(&nodes, &count, sb_test_bytes(room, sizeof room, bad[i]), &arena, &err),
            SB_CORRUPT);
        sb_arena_fini(&arena);
    }
}

static void a_list_of_many_variables_is_restored_at_once_and_one_by_one(void **state) {
    enum { MANY = 20000 };
    static float out[MANY], in[MANY];
    sb_err err;
    for (int mode = 0; mode < 3;
         mode++) { /* save; restore what is there; restore what comes later */
        sb_checkpoint *c;
        sb_object *list;
        sb_restore *r = NULL;
        const char *path = sb_test_dir_join(*state, "many");
        memset(in, 0, sizeof in);
        assert_ok(sb_checkpoint_new(&c, &err), &err);
        if (mode == 2) assert_ok(sb_checkpoint_read(c, path, &r, &err), &err);
        assert_ok(sb_object_add(&list, sb_checkpoint_root(c), "list", &err), &err);
        for (int i = 0; i < MANY; i++) {
            char name[16];
            out[i] = (float)i;
            snprintf(name, sizeof name, "%d", i);
            sb_variable v =
                SB_INIT(sb_variable, .dtype = SB_FLOAT, .data = mode ? &in[i] : &out[i]);
            assert_ok(sb_object_add_variable(NULL, list, name, &v, &err), &err);
        }
        if (mode == 0) assert_ok(sb_checkpoint_write(c, path, NULL, &err), &err);
        if (mode == 1) assert_ok(sb_checkpoint_read(c, path, &r, &err), &err);
        if (mode) assert_ok(sb_restore_assert_consumed(r, &err), &err);
        if (mode) assert_memory_equal(in, out, sizeof in);
        sb_checkpoint_free(c);
    }
}

static void a_program_that_adds_its_objects_anew_goes_on_counting(void **state) {
    program p = {0};
    sb_err err;
    build(&p, "model", true);
    set(&p, 3);
    sb_checkpoint_set_save_counter(p.c, 8);
    assert_non_null(strstr(save(&p, *state, "ckpt"), "ckpt-9"));
    sb_checkpoint_clear(p.c);
    assert_ok(sb_object_add_variable(NULL, sb_checkpoint_root(p.c), "w", &FLOATS(p.w, 4), &err),
              &err);
    const char *path = save(&p, *state, "ckpt");
    assert_non_null(strstr(path, "ckpt-10"));
    float w[4] = {0};
    sb_object *made;
    sb_checkpoint *c;
    sb_restore *r;
    assert_ok(sb_checkpoint_new(&c, &err), &err);
    assert_ok(sb_checkpoint_restore(c, path, &r, &err), &err);
    assert_string_equal(sb_object_awaited(sb_checkpoint_root(c), 0), "w");
    assert_null(sb_object_awaited(sb_checkpoint_root(c), 1));
    assert_ok(sb_object_add_variable(&made, sb_checkpoint_root(c), "w", &FLOATS(w, 4), &err), &err);
    assert_true(sb_object_is_restored(made, NULL) && !sb_object_is_restored(made, "none"));
    assert_null(sb_object_awaited(sb_checkpoint_root(c), 0));
    assert_ok(sb_restore_assert_consumed(r, &err), &err); /* nothing of the first save is there */
    assert_ok(sb_object_add_variable(&made, sb_checkpoint_root(c), "x", &FLOATS(w, 4), &err), &err);
    assert_false(sb_object_is_restored(made, NULL));
    sb_checkpoint_free(c);
    sb_checkpoint_free(p.c);
}

static sb_status save_and_restore(const sb_alloc *alloc, void *ud) {
    const sb_env env = {alloc, &sb_fs_local, &sb_test_clock};
    float w[2] = {1, 2}, m[2] = {3, 4};
    sb_checkpoint *c;
    sb_object *model, *kernel;
    sb_err err = {0};
    sb_status status = sb_checkpoint_new_env(&c, &env, &err);
    if (status == SB_OK) status = sb_object_add(&model, sb_checkpoint_root(c), "model", &err);
    if (status == SB_OK) status = sb_object_add_variable(&kernel, model, "w", &FLOATS(w, 2), &err);
    if (status == SB_OK) status = sb_object_add_slot(NULL, model, kernel, "m", &FLOATS(m, 2), &err);
    if (status == SB_OK)
        status = sb_checkpoint_save(c, ud, &SB_INIT(sb_save_opts, .durability = SB_BUFFERED), NULL,
                                    &err);
    if (status == SB_OK)
        status = sb_checkpoint_restore(c, c->path.p ? (const char *)c->path.p : "", NULL, &err);
    sb_checkpoint_free(c);
    return status;
}

static void failing_memory_is_reported(void **state) {
    sb_fault_alloc_sweep_lenient(save_and_restore,
                                 (void *)(uintptr_t)sb_test_dir_join(*state, "x"));
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(keys_are_those_of_tensorflow),
        ON_DISK(what_was_saved_is_restored),
        ON_DISK(objects_that_come_later_get_their_values),
        ON_DISK(a_newer_restore_wins_over_one_that_waits),
        ON_DISK(messages_name_both_sides),
        ON_DISK(other_shapes_are_refused_before_anything_is_assigned),
        ON_DISK(read_is_the_counterpart_of_write),
        cmocka_unit_test(objects_that_make_no_sense_are_refused),
        cmocka_unit_test(a_graph_that_names_a_missing_node_is_corrupt),
        ON_DISK(a_list_of_many_variables_is_restored_at_once_and_one_by_one),
        ON_DISK(a_program_that_adds_its_objects_anew_goes_on_counting),
        ON_DISK(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
