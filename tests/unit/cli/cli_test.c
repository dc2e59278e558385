/* cli_test.c: output fit for terminals, and progress. The file under test belongs to the program,
 * not to a library, so it is included whole. */
#include <stdlib.h>

#include "support/test.h"

/* Last, since it bans what the headers above declare. */
#include "cli/cli.c"

static void assert_shown(sb_slice text, size_t max, const char *expected) {
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_cli_add_shown(&out, text, max);
    assert_slice_is(sb_buf_slice(&out), expected);
    sb_buf_fini(&out);
}

static void harmless_text_stays_as_it_is(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "loss/train", "a\\n", "\xc3\xbc\xc3\xb1", "\xf0\x9f\x98\x8a ok", "  spaces  "};
    for (size_t i = 0; i < SB_COUNT(texts); i++) assert_shown(sb_slice_str(texts[i]), 0, texts[i]);
}

static void harmful_text_is_escaped(void **state) {
    (void)state;
    assert_shown(SB_LIT("a\nb\tc\r"), 0, "a\\nb\\tc\\r");
    assert_shown(SB_LIT("\x1b[31m\0\x7f"), 0, "\\x1b[31m\\x00\\x7f");
    assert_shown(SB_LIT("\xc2\x9b"
                        "2J"),
                 0, "\\u009b2J");
    assert_shown(SB_LIT("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8"), 0, "\\u202e\\u2066\\u2028");
    assert_shown(SB_LIT("\xff\xc3(\xe2\x82"), 0, "\\xff\\xc3(\\xe2\\x82");
    assert_shown(SB_LIT("\xed\xa0\x80\xc0\x80"), 0, "\\xed\\xa0\\x80\\xc0\\x80");
}

static void every_byte_alone_is_printable_after_it(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        uint8_t text = (uint8_t)byte;
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
        sb_cli_add_shown(&out, sb_slice_of(&text, 1), 0);
        for (size_t i = 0; i < out.n; i++) assert_true(out.p[i] >= 0x20 && out.p[i] < 0x7f);
        sb_buf_fini(&out);
    }
}

static void long_text_is_cut_between_characters(void **state) {
    (void)state;
    assert_shown(SB_LIT("abcdef"), 6, "abcdef");
    assert_shown(SB_LIT("abcdef"), 5, "abcde...");
    assert_shown(SB_LIT("\xc3\xbc\xc3\xbc\xc3\xbc"), 2, "\xc3\xbc\xc3\xbc...");
}

static void counts_come_in_groups_of_three(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        const char *text;
    } known[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1 000"},
                 {1234567, "1 234 567"},
                 {UINT64_MAX, "18 446 744 073 709 551 615"}};
    for (size_t i = 0; i < SB_COUNT(known); i++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
        sb_cli_add_count(&out, known[i].n);
        assert_slice_is(sb_buf_slice(&out), known[i].text);
        sb_buf_fini(&out);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

static uint64_t told_time(void *ctx) {
    return *(uint64_t *)ctx;
}

typedef struct terminal {
    uint64_t now;
    sb_clock clock;
    sb_env env;
    sb_cli cli;
    char *text;
    size_t length;
} terminal;

static void terminal_open(terminal *t, bool is_terminal) {
    *t = (terminal){.now = 5};
    t->clock = (sb_clock){.steady = told_time, .wall = told_time, .ctx = &t->now};
    t->env = (sb_env){.alloc = &sb_alloc_libc, .clock = &t->clock};
    FILE *err = open_memstream(&t->text, &t->length);
    assert_non_null(err);
    t->cli = (sb_cli){.env = &t->env, .out = err, .err = err, .err_is_terminal = is_terminal};
    sb_buf_init(&t->cli.line, &sb_alloc_libc, 1 << 20);
}

static void terminal_close(terminal *t) {
    fclose(t->cli.err);
    free(t->text);
    sb_buf_fini(&t->cli.line);
}

static void progress_comes_after_a_second_and_not_too_often(void **state) {
    (void)state;
    terminal t;
    terminal_open(&t, true);
    const uint64_t ms = 1000000;
    for (uint64_t at = 0; at < 3000; at += 10) {
        t.now = 5 + at * ms;
        sb_cli_progress(&t.cli, "verify", 1, 2, 3000000);
        fflush(t.cli.err);
        assert_true(at >= 1000 || t.length == 0);
    }
    size_t shown = 0;
    for (size_t i = 0; i < t.length; i++) shown += t.text[i] == '\r';
    assert_int_equal(shown, 10); /* from second one to three, five times each */
    assert_non_null(strstr(t.text, "verify: 1 of 2 files, 3 MB"));
    sb_cli_progress_end(&t.cli);
    sb_cli_progress_end(&t.cli);
    fflush(t.cli.err);
    assert_string_equal(t.text + t.length - 4, "\r\033[K");
    terminal_close(&t);
}

static void there_is_no_progress_without_a_terminal(void **state) {
    (void)state;
    terminal t;
    terminal_open(&t, false);
    for (; t.now < 9000000000u; t.now += 100000000u)
        sb_cli_progress(&t.cli, "verify", 1, 2, 3000000);
    sb_cli_progress_end(&t.cli);
    fflush(t.cli.err);
    assert_int_equal(t.length, 0);
    terminal_close(&t);
}

static void a_failure_is_told_with_its_exit_code(void **state) {
    (void)state;
    terminal t;
    terminal_open(&t, false);
    sb_err err;
    sb_fail(&err, SB_CORRUPT, 0, "x: broken");
    assert_int_equal(sb_cli_fail(&t.cli, &err), 3);
    fflush(t.cli.err);
    assert_string_equal(t.text, "seaboard: x: broken\n");
    terminal_close(&t);
}

static void an_output_that_is_gone_is_noticed_once(void **state) {
    (void)state;
    terminal t;
    terminal_open(&t, false);
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    setvbuf(full, NULL, _IONBF, 0);
    t.cli.out = full;
    sb_buf_add_str(&t.cli.line, "text");
    assert_false(sb_cli_put(&t.cli));
    assert_int_equal(t.cli.out_error, ENOSPC);
    assert_int_equal(t.cli.line.n, 0);
    errno = 0;
    sb_buf_add_str(&t.cli.line, "more");
    assert_false(sb_cli_put(&t.cli));
    assert_int_equal(t.cli.out_error, ENOSPC);
    fclose(full);
    terminal_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmless_text_stays_as_it_is),
        cmocka_unit_test(harmful_text_is_escaped),
        cmocka_unit_test(every_byte_alone_is_printable_after_it),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(counts_come_in_groups_of_three),
        cmocka_unit_test(progress_comes_after_a_second_and_not_too_often),
        cmocka_unit_test(there_is_no_progress_without_a_terminal),
        cmocka_unit_test(a_failure_is_told_with_its_exit_code),
        cmocka_unit_test(an_output_that_is_gone_is_noticed_once),
    };
    return cmocka_run_group_tests_name("cli/cli", tests, NULL, NULL);
}
