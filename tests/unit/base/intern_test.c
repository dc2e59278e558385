/* intern_test.c: the same bytes always get the same small number. */
#include "base/intern.h"

#include <stdio.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static sb_slice name_of(char *room, size_t size, unsigned i) {
    int n = snprintf(room, size, "layer_%u/weights", i);
    return sb_slice_of(room, (size_t)n);
}

static void ids_are_dense_in_order_of_first_sight(void **state) {
    (void)state;
    sb_intern t;
    sb_intern_init(&t, &sb_alloc_libc, 42, 100);
    uint32_t id;
    bool is_new;
    assert_ok(sb_intern_add(&t, SB_LIT("loss"), &id, &is_new), NULL);
    assert_int_equal(id, 0);
    assert_true(is_new);
    assert_ok(sb_intern_add(&t, SB_LIT("accuracy"), &id, NULL), NULL);
    assert_int_equal(id, 1);
    assert_ok(sb_intern_add(&t, SB_LIT("loss"), &id, &is_new), NULL);
    assert_int_equal(id, 0);
    assert_false(is_new);
    assert_slice_is(sb_intern_name(&t, 0), "loss");
    assert_slice_is(sb_intern_name(&t, 1), "accuracy");
    assert_int_equal(t.count, 2);
    sb_intern_fini(&t);
}

static void an_empty_table_finds_nothing(void **state) {
    (void)state;
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_intern t;
    sb_intern_init(&t, &f.alloc, 1, 100);
    assert_int_equal(sb_intern_find(&t, SB_LIT("x")), SB_INTERN_NONE);
    assert_int_equal(sb_intern_find(&t, (sb_slice){NULL, 0}), SB_INTERN_NONE);
    assert_int_equal(f.calls, 0);
    sb_intern_fini(&t);
    sb_fault_alloc_fini(&f);
}

static void many_names_keep_their_ids_and_bytes(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_intern t;
    sb_intern_init(&t, &f.alloc, 7, COUNT);
    char room[64];
    uint32_t id;
    for (unsigned i = 0; i < COUNT; i++) {
        assert_ok(sb_intern_add(&t, name_of(room, sizeof room, i), &id, NULL), NULL);
        assert_int_equal(id, i);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        sb_slice name = name_of(room, sizeof room, i);
        assert_int_equal(sb_intern_find(&t, name), i);
        assert_slice_equal(sb_intern_name(&t, i), name);
    }
    assert_int_equal(sb_intern_find(&t, name_of(room, sizeof room, COUNT)), SB_INTERN_NONE);
    sb_intern_fini(&t);
    sb_fault_alloc_fini(&f);
}

static void any_bytes_make_a_name(void **state) {
    (void)state;
    static const sb_slice names[] = {
        {(const uint8_t *)"", 0},     {(const uint8_t *)"\0", 1},  {(const uint8_t *)"\0\0", 2},
        {(const uint8_t *)"a", 1},    {(const uint8_t *)"a\0", 2}, {(const uint8_t *)"\xFF\xFE", 2},
        {(const uint8_t *)"a\0b", 3},
    };
    sb_intern t;
    sb_intern_init(&t, &sb_alloc_libc, 7, 100);
    uint32_t id;
    for (uint32_t i = 0; i < SB_COUNT(names); i++) {
        assert_ok(sb_intern_add(&t, names[i], &id, NULL), NULL);
        assert_int_equal(id, i);
    }
    for (uint32_t i = 0; i < SB_COUNT(names); i++)
        assert_int_equal(sb_intern_find(&t, names[i]), i);
    assert_int_equal(sb_intern_find(&t, (sb_slice){NULL, 0}), 0);
    sb_intern_fini(&t);
}

static void the_table_keeps_its_own_copy(void **state) {
    (void)state;
    char text[] = "loss";
    sb_intern t;
    sb_intern_init(&t, &sb_alloc_libc, 7, 100);
    uint32_t id;
    assert_ok(sb_intern_add(&t, sb_slice_str(text), &id, NULL), NULL);
    text[0] = 'b';
    assert_slice_is(sb_intern_name(&t, id), "loss");
    assert_int_equal(sb_intern_find(&t, SB_LIT("loss")), 0);
    assert_int_equal(sb_intern_find(&t, SB_LIT("boss")), SB_INTERN_NONE);
    sb_intern_fini(&t);
}

static void a_full_table_still_knows_what_it_has(void **state) {
    (void)state;
    sb_intern t;
    sb_intern_init(&t, &sb_alloc_libc, 7, 2);
    uint32_t id;
    bool is_new;
    assert_ok(sb_intern_add(&t, SB_LIT("a"), &id, NULL), NULL);
    assert_ok(sb_intern_add(&t, SB_LIT("b"), &id, NULL), NULL);
    assert_int_equal(sb_intern_add(&t, SB_LIT("c"), &id, &is_new), SB_LIMIT);
    assert_int_equal(id, SB_INTERN_NONE);
    assert_ok(sb_intern_add(&t, SB_LIT("b"), &id, &is_new), NULL);
    assert_int_equal(id, 1);
    assert_false(is_new);
    assert_int_equal(t.count, 2);
    sb_intern_fini(&t);
}

/* After each failed add the table is as before, and the same add then succeeds. */
static void a_failed_add_leaves_the_table_whole(void **state) {
    (void)state;
    enum { COUNT = 300 };
    sb_fault_alloc f;
    sb_fault_alloc_init(&f);
    sb_intern t;
    sb_intern_init(&t, &f.alloc, 7, COUNT);
    char room[64];
    uint32_t id;
    unsigned failures = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        sb_slice name = name_of(room, sizeof room, i);
        for (uint64_t n = 1; n <= 4; n++) {
            sb_fault_alloc_fail_at(&f, n, false);
            sb_status status = sb_intern_add(&t, name, &id, NULL);
            if (status == SB_OK) break;
            failures++;
            assert_int_equal(status, SB_NOMEM);
            assert_int_equal(t.count, i);
            assert_int_equal(sb_intern_find(&t, name), SB_INTERN_NONE);
            if (i) assert_int_equal(sb_intern_find(&t, sb_intern_name(&t, i - 1)), i - 1);
        }
        assert_int_equal(id, i);
    }
    assert_true(failures > 10);
    sb_intern_fini(&t);
    sb_fault_alloc_fini(&f);
}

static void a_table_can_be_ended_twice(void **state) {
    (void)state;
    sb_intern t;
    sb_intern_init(&t, &sb_alloc_libc, 7, 2);
    uint32_t id;
    assert_ok(sb_intern_add(&t, SB_LIT("a"), &id, NULL), NULL);
    sb_intern_fini(&t);
    sb_intern_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_in_order_of_first_sight),
        cmocka_unit_test(an_empty_table_finds_nothing),
        cmocka_unit_test(many_names_keep_their_ids_and_bytes),
        cmocka_unit_test(any_bytes_make_a_name),
        cmocka_unit_test(the_table_keeps_its_own_copy),
        cmocka_unit_test(a_full_table_still_knows_what_it_has),
        cmocka_unit_test(a_failed_add_leaves_the_table_whole),
        cmocka_unit_test(a_table_can_be_ended_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
