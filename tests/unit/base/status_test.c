/* status_test.c: the status table is what callers and scripts rely on; messages are fit to show. */
#include "base/status.h"

#include <errno.h>
#include <string.h>

#include "base/text/utf8.h"
#include "support/test.h"
#include "base/banned.h"

static void numbers_and_exit_codes_never_move(void **state) {
    (void)state;
    static const struct {
        sb_status status;
        int number;
        const char *name;
        int exit_code;
    } rows[] = {
        {SB_OK, 0, "ok", 0},
        {SB_MORE, 1, "more", 0},
        {SB_CORRUPT, 2, "corrupt", 3},
        {SB_IO, 3, "io", 4},
        {SB_LIMIT, 4, "limit", 5},
        {SB_NOMEM, 5, "nomem", 6},
        {SB_INVALID, 6, "invalid", 2},
        {SB_CLOSED, 7, "closed", 1},
        {SB_NOT_FOUND, 8, "not_found", 1},
        {SB_DROPPED, 9, "dropped", 1},
        {SB_BAD_LENGTH, 10, "bad_length", 3},
        {SB_BAD_PAYLOAD, 11, "bad_payload", 3},
        {SB_GARBAGE, 12, "garbage", 3},
        {SB_END, 13, "end", 0},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        assert_int_equal(rows[i].status, rows[i].number);
        assert_string_equal(sb_status_name(rows[i].status), rows[i].name);
        assert_int_equal(sb_status_exit_code(rows[i].status), rows[i].exit_code);
        assert_true(strlen(sb_status_meaning(rows[i].status)) > 0);
    }
}

static void a_number_outside_the_table_is_unknown(void **state) {
    (void)state;
    static const int numbers[] = {-1, 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < SB_COUNT(numbers); i++) {
        assert_string_equal(sb_status_name((sb_status)numbers[i]), "unknown");
        assert_string_equal(sb_status_meaning((sb_status)numbers[i]), "unknown");
        assert_int_equal(sb_status_exit_code((sb_status)numbers[i]), 1);
    }
}

static void fail_fills_the_error_and_returns_its_code(void **state) {
    (void)state;
    sb_err err = {0};
    assert_int_equal(sb_fail(&err, SB_CORRUPT, 77, "%s at %d", "damage", 5), SB_CORRUPT);
    assert_int_equal(err.code, SB_CORRUPT);
    assert_int_equal(err.offset, 77);
    assert_string_equal(err.text, "damage at 5");
}

static void nobody_has_to_listen(void **state) {
    (void)state;
    assert_int_equal(sb_fail(NULL, SB_IO, 0, "%d", 1), SB_IO);
    assert_int_equal(sb_fail_errno(NULL, SB_IO, ENOENT, "%d", 1), SB_IO);
    assert_int_equal(sb_fail_nomem(NULL, "for x"), SB_NOMEM);
}

static void control_characters_cannot_reach_a_terminal(void **state) {
    (void)state;
    sb_err err;
    char all[128];
    for (int i = 1; i < 128; i++) all[i - 1] = (char)i;
    all[127] = 0;
    sb_fail(&err, SB_CORRUPT, 0, "%s", all);
    assert_int_equal(strlen(err.text), 127);
    for (int i = 1; i < 128; i++)
        assert_int_equal(err.text[i - 1], i < 0x20 || i == 0x7f ? '?' : i);
}

static void long_text_is_cut_between_characters(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8C\x8A"};
    for (size_t c = 0; c < SB_COUNT(characters); c++)
        for (size_t lead = 0; lead < 4; lead++) {
            char text[800] = {0};
            size_t n = lead, width = strlen(characters[c]);
            memset(text, 'a', lead);
            for (; n + width < sizeof text; n += width) memcpy(text + n, characters[c], width);
            sb_err err;
            sb_fail(&err, SB_IO, 0, "%s", text);
            sb_slice kept = sb_slice_str(err.text);
            assert_true(sb_utf8_valid(kept));
            assert_in_range(kept.n, sizeof err.text - 4, sizeof err.text - 1);
        }
}

static void the_system_reason_follows_the_text(void **state) {
    (void)state;
    sb_err err;
    assert_int_equal(sb_fail_errno(&err, SB_IO, ENOSPC, "%s: can't write", "a/b"), SB_IO);
    assert_string_equal(err.text, "a/b: can't write: No space left on device");
    assert_int_equal(err.offset, 0);
}

static void the_system_reason_survives_a_long_path(void **state) {
    (void)state;
    char path[1000];
    for (size_t i = 0; i + 3 < sizeof path; i += 3) memcpy(path + i, "\xE2\x82\xAC", 3);
    path[sizeof path - 1] = 0;
    sb_err err;
    sb_fail_errno(&err, SB_IO, ENOSPC, "%s", path);
    sb_slice text = sb_slice_str(err.text);
    assert_true(sb_slice_ends(text, SB_LIT(": No space left on device")));
    assert_true(sb_utf8_valid(text));
    assert_in_range(text.n, sizeof err.text - 4, sizeof err.text - 1);
}

static void out_of_memory_says_for_what(void **state) {
    (void)state;
    sb_err err;
    assert_int_equal(sb_fail_nomem(&err, "for a path"), SB_NOMEM);
    assert_int_equal(err.code, SB_NOMEM);
    assert_string_equal(err.text, "out of memory for a path");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_exit_codes_never_move),
        cmocka_unit_test(a_number_outside_the_table_is_unknown),
        cmocka_unit_test(fail_fills_the_error_and_returns_its_code),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(control_characters_cannot_reach_a_terminal),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(the_system_reason_follows_the_text),
        cmocka_unit_test(the_system_reason_survives_a_long_path),
        cmocka_unit_test(out_of_memory_says_for_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
