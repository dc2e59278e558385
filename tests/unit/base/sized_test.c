/* sized_test.c: programs that were compiled with an older or a newer header. */
#include "base/sized.h"

#include <stdio.h>
#include <string.h>

#include "seaboard/version.h"
#include "support/test.h"

#include "base/banned.h"

/* The struct as three versions of the header have it. */
typedef struct old_opts {
    size_t size;
    double a;
} old_opts;

typedef struct own_opts {
    size_t size;
    double a, b;
} own_opts;

typedef struct new_opts {
    size_t size;
    double a, b, c;
} new_opts;

static sb_status read_own(own_opts *out, const void *first, size_t i, sb_err *err) {
    memset(out, 0xAA, sizeof *out);
    return sb_sized_read(out, sizeof *out, first, i, "opts", err);
}

static void fields_that_an_older_program_does_not_know_are_zero(void **state) {
    (void)state;
    const old_opts old = SB_INIT(old_opts, .a = 1);
    own_opts own;
    assert_ok(read_own(&own, &old, 0, NULL), NULL);
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 0);
}

static void a_newer_program_works_until_it_sets_what_is_unknown(void **state) {
    (void)state;
    sb_err err;
    own_opts own;
    const new_opts fine = SB_INIT(new_opts, .a = 1, .b = 2), beyond = SB_INIT(new_opts, .c = 3);
    assert_ok(read_own(&own, &fine, 0, &err), &err);
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2);
    assert_int_equal(read_own(&own, &beyond, 0, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "newer libseaboard"));
    assert_non_null(strstr(err.text, SB_VERSION));
}

static void elements_are_as_far_apart_as_the_first_one_says(void **state) {
    (void)state;
    sb_err err;
    own_opts own;
    old_opts list[] = {SB_INIT(old_opts, .a = 1), SB_INIT(old_opts, .a = 2),
                       SB_INIT(old_opts, .a = 3)};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(read_own(&own, list, i, &err), &err);
        assert_true(own.a == (double)i + 1);
    }
    list[1].size = sizeof(new_opts);
    assert_int_equal(read_own(&own, list, 1, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "element 1"));
}

static void a_struct_without_a_plausible_size_is_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 5000, SIZE_MAX};
    for (size_t i = 0; i < SB_COUNT(sizes); i++) {
        own_opts own, given = {.size = sizes[i], .a = 1};
        sb_err err;
        assert_int_equal(read_own(&own, &given, 0, &err), SB_INVALID);
        assert_non_null(strstr(err.text, "SB_INIT(opts"));
        assert_int_equal(sb_sized_write(&given, &own, sizeof own, "opts", &err), SB_INVALID);
    }
}

static void results_are_written_as_far_as_the_program_has_room(void **state) {
    (void)state;
    const own_opts own = SB_INIT(own_opts, .a = 1, .b = 2);
    struct {
        old_opts opts;
        double after;
    } old = {SB_INIT(old_opts, .a = 0), 7};
    new_opts newer = SB_INIT(new_opts, .a = 8, .b = 8, .c = 8);
    assert_ok(sb_sized_write(&old.opts, &own, sizeof own, "opts", NULL), NULL);
    assert_true(old.opts.size == sizeof old.opts && old.opts.a == 1 && old.after == 7);
    assert_ok(sb_sized_write(&newer, &own, sizeof own, "opts", NULL), NULL);
    assert_true(newer.size == sizeof newer && newer.a == 1 && newer.b == 2 && newer.c == 0);
}

static void the_version_is_the_headers(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SB_VERSION_MAJOR, SB_VERSION_MINOR, SB_VERSION_PATCH);
    assert_string_equal(text, SB_VERSION);
    assert_string_equal(sb_version(), SB_VERSION);
    assert_int_equal(sb_version_number(), SB_VERSION_NUMBER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_an_older_program_does_not_know_are_zero),
        cmocka_unit_test(a_newer_program_works_until_it_sets_what_is_unknown),
        cmocka_unit_test(elements_are_as_far_apart_as_the_first_one_says),
        cmocka_unit_test(a_struct_without_a_plausible_size_is_refused),
        cmocka_unit_test(results_are_written_as_far_as_the_program_has_room),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
