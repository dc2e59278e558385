/* options_test.c: command lines by table. The file under test belongs to the program, not to a
 * library, so it is included whole. */
#include "support/test.h"

/* Last, since it bans what the headers above declare. */
#include "cli/options.c"

static const sb_option options[] = {
    {"tag", 't', SB_OPTION_TEXT, "TAG", "only this tag", NULL},
    {"json", 0, SB_OPTION_FLAG, NULL, "for programs", NULL},
    {"verbose", 'v', SB_OPTION_FLAG, NULL, "more", NULL},
};

static const sb_command command = {
    .name = "show",
    .summary = "shows something",
    .operands = "FILE [FILE]",
    .min_operands = 1,
    .max_operands = 2,
    .options = options,
    .option_count = SB_COUNT(options),
    .details = "More words.\n",
};

typedef struct parsing {
    sb_args args;
    sb_buf message;
    sb_parsed result;
    char *argv[16];
} parsing;

/* words end with NULL */
static void parse(parsing *p, const char *const *words) {
    static char first[] = "show";
    static char copies[16][64];
    int argc = 1;
    p->argv[0] = first;
    for (; words[argc - 1]; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", words[argc - 1]);
        p->argv[argc] = copies[argc];
    }
    p->argv[argc] = NULL;
    sb_buf_init(&p->message, &sb_alloc_libc, 1 << 20);
    p->result = sb_options_parse(&command, argc, p->argv, &p->args, &p->message);
    sb_buf_add_byte(&p->message, 0);
}

#define PARSE(p, ...) parse(p, (const char *const[]){__VA_ARGS__, NULL})

static void options_and_operands_may_be_mixed(void **state) {
    (void)state;
    parsing p;
    PARSE(&p, "a", "--tag", "loss", "-v", "b");
    assert_int_equal(p.result, SB_PARSED_RUN);
    assert_string_equal(p.args.options[0].text, "loss");
    assert_false(p.args.options[1].given);
    assert_true(p.args.options[2].given);
    assert_int_equal(p.args.rest_count, 2);
    assert_string_equal(p.args.rest[0], "a");
    assert_string_equal(p.args.rest[1], "b");
    sb_buf_fini(&p.message);
}

static void every_spelling_is_understood(void **state) {
    (void)state;
    static const char *const spellings[][3] = {
        {"--tag=x", "a", NULL},
        {"--ta=x", "a", NULL},
        {"-tx", "a", NULL},
        {"-vtx", "a", NULL},
    };
    for (size_t i = 0; i < SB_COUNT(spellings); i++) {
        parsing p;
        parse(&p, spellings[i]);
        assert_int_equal(p.result, SB_PARSED_RUN);
        assert_string_equal(p.args.options[0].text, "x");
        assert_string_equal(p.args.rest[0], "a");
        sb_buf_fini(&p.message);
    }
}

static void the_last_of_several_wins_and_two_dashes_end_the_options(void **state) {
    (void)state;
    parsing p;
    PARSE(&p, "--tag", "one", "--tag", "two", "--", "--json");
    assert_int_equal(p.result, SB_PARSED_RUN);
    assert_string_equal(p.args.options[0].text, "two");
    assert_false(p.args.options[1].given);
    assert_string_equal(p.args.rest[0], "--json");
    sb_buf_fini(&p.message);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        const char *words[5];
        const char *named;
    } wrong_ones[] = {
        {{"--tga", "x", "a"}, "'--tga'"},   {{"a", "-x"}, "'-x'"},
        {{"a", "--tag"}, "'--tag'"},        {{"a", "-t"}, "'-t'"},
        {{"--json=1", "a"}, "no argument"}, {{"-v"}, "'FILE [FILE]'"},
        {{"a", "b", "c"}, "'c'"},           {{"a", "--json=1"}, "'--json=1'"},
        {{"a", "--", "b", "--x"}, "'--x'"},
    };
    for (size_t i = 0; i < SB_COUNT(wrong_ones); i++) {
        parsing p;
        parse(&p, wrong_ones[i].words);
        assert_int_equal(p.result, SB_PARSED_WRONG);
        assert_non_null(strstr((char *)p.message.p, wrong_ones[i].named));
        assert_non_null(strstr((char *)p.message.p, "'seaboard show --help'"));
        sb_buf_fini(&p.message);
    }
}

static void help_wins_over_what_is_missing(void **state) {
    (void)state;
    static const char *const words[][2] = {{"--help", NULL}, {"-h", NULL}, {"--he", NULL}};
    for (size_t i = 0; i < SB_COUNT(words); i++) {
        parsing p;
        parse(&p, words[i]);
        assert_int_equal(p.result, SB_PARSED_HELP);
        sb_buf_fini(&p.message);
    }
}

static void the_help_page_comes_from_the_table(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    sb_options_help(&command, &out);
    assert_slice_is(sb_buf_slice(&out), "usage: seaboard show [options] FILE [FILE]\n"
                                        "\n"
                                        "shows something.\n"
                                        "\n"
                                        "options:\n"
                                        "  -t, --tag TAG              only this tag\n"
                                        "      --json                 for programs\n"
                                        "  -v, --verbose              more\n"
                                        "  -h, --help                 shows this page\n"
                                        "\n"
                                        "More words.\n");
    sb_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_may_be_mixed),
        cmocka_unit_test(every_spelling_is_understood),
        cmocka_unit_test(the_last_of_several_wins_and_two_dashes_end_the_options),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(help_wins_over_what_is_missing),
        cmocka_unit_test(the_help_page_comes_from_the_table),
    };
    return cmocka_run_group_tests_name("cli/options", tests, NULL, NULL);
}
