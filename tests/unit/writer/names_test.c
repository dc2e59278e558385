/* names_test.c: cleaned tags and unique names. */
#include "writer/names_int.h"

#include <stdio.h>

#include "support/fault_alloc.h"
#include "support/test.h"

#include "base/banned.h"

static void characters_outside_words_become_underscores(void **state) {
    static const struct {
        const char *given, *expected;
    } rows[] = {
        {"plain", "plain"},
        {"a b:c", "a_b_c"},
        {"a-b/c.d_e", "a-b/c.d_e"},
        {"///x//y/", "x//y/"},
        {"", ""},
        {"///", ""},
        {"gr\xc3\xb6\xc3\x9f"
         "er",
         "gr\xc3\xb6\xc3\x9f"
         "er"},
        {"\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87"},
        {"price \xe2\x82\xac", "price__"},
        {"\xf0\x9f\x98\x80/x", "_/x"},
        {"bad\xff\xc3", "bad__"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        char out[64];
        assert_int_equal(sb_tag_clean(rows[i].given, out, sizeof out), strlen(rows[i].expected));
        assert_string_equal(out, rows[i].expected);
    }
}

static void short_rooms_get_whole_characters(void **state) {
    const char *tag = "ab\xc3\xb6\xe4\xb8\xad!";
    const char *const expected[] = {"", "a", "ab", "ab", "ab\xc3\xb6"};
    char out[16];
    (void)state;
    for (size_t n = 1; n <= SB_COUNT(expected); n++) {
        memset(out, 'x', sizeof out);
        assert_int_equal(sb_tag_clean(tag, out, n), 8);
        assert_string_equal(out, expected[n - 1]);
    }
    assert_int_equal(sb_tag_clean(tag, NULL, 0), 8);
    assert_int_equal(sb_tag_clean(NULL, out, 1), 0);
    assert_string_equal(out, "");
}

static void assert_tag(sb_names *names, const char *scope, const char *family, const char *name,
                       const char *expected) {
    const char *tag = sb_names_tag(names, scope, family, name);
    assert_non_null(tag);
    assert_string_equal(tag, expected);
}

/* What graphs of tf.compat.v1 answered to the same calls. */
static void names_are_made_unique_as_graphs_do(void **state) {
    sb_names *names;
    sb_err err;
    (void)state;
    assert_ok(sb_names_new(&names, &err), &err);
    assert_tag(names, NULL, NULL, "loss", "loss");
    assert_tag(names, NULL, NULL, "loss", "loss_1");
    assert_tag(names, NULL, NULL, "Loss", "Loss_2");
    assert_tag(names, NULL, NULL, "loss_1", "loss_1_1");
    assert_tag(names, NULL, NULL, "a b", "a_b");
    assert_tag(names, NULL, "fam", "x", "fam/fam/x");
    assert_tag(names, NULL, "fam", "x", "fam/fam/x_1");
    assert_tag(names, "scope", NULL, "x", "scope/x");
    assert_tag(names, "scope/", NULL, "x", "scope/x_1");
    assert_tag(names, NULL, NULL, "scope", "scope_1");
    assert_tag(names, "outer", "fam", "x", "fam/outer/fam/x");
    assert_tag(names, NULL, NULL, "again/", "again");
    assert_tag(names, NULL, NULL, "again/", "again");
    assert_tag(names, NULL, NULL, "again", "again");
    assert_tag(names, NULL, NULL, "", "");
    assert_tag(names, "", "", "y", "y");
    assert_null(sb_names_tag(names, NULL, NULL, NULL));
    assert_null(sb_names_tag(NULL, NULL, NULL, "x"));
    sb_names_free(names);
    sb_names_free(NULL);
}

static void thousands_of_names_stay_unique(void **state) {
    sb_names *names;
    char expected[32];
    (void)state;
    assert_int_equal(sb_names_new(&names, NULL), SB_OK);
    assert_tag(names, NULL, NULL, "n", "n");
    for (int i = 1; i < 5000; i++) {
        snprintf(expected, sizeof expected, "n_%d", i);
        assert_tag(names, NULL, NULL, "n", expected);
    }
    sb_names_free(names);
}

static sb_status make_names(const sb_alloc *alloc, void *ud) {
    sb_names *names;
    (void)ud;
    sb_status status = sb_names_new_in(&names, alloc, NULL);
    if (status != SB_OK) return status;
    char name[16];
    for (int i = 0; i < 200 && status == SB_OK; i++) {
        snprintf(name, sizeof name, "n%d", i % 90);
        if (!sb_names_tag(names, "scope/inner", i % 2 ? "family" : NULL, name)) status = SB_NOMEM;
    }
    sb_names_free(names);
    return status;
}

static void running_out_of_memory_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(make_names, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_outside_words_become_underscores),
        cmocka_unit_test(short_rooms_get_whole_characters),
        cmocka_unit_test(names_are_made_unique_as_graphs_do),
        cmocka_unit_test(thousands_of_names_stay_unique),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
