/* compat_requests_test.c: what clients hand to the compatible API: blob keys, requests of the
 * hparams routes; and how names come back in errors. */
#include <math.h>

#include "server/compat/blob_key.h"
#include "server/compat/hparams_request.h"
#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static sb_arena arena_of(const sb_alloc *alloc) {
    sb_arena arena;
    sb_arena_init(&arena, alloc, 1024, 1 << 20);
    return arena;
}

/* ---- blob keys ------------------------------------------------------------------------------- */

static void keys_are_those_of_tensorboards_own_loader(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_blob_key_add(&out, &(sb_blob_key){.experiment = SB_LIT(""),
                                         .plugin = SB_LIT("images"),
                                         .run = SB_LIT("train"),
                                         .tag = SB_LIT("im"),
                                         .step = 5,
                                         .index = 2});
    assert_slice_is(sb_buf_slice(&out), "WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LDJd");
    sb_buf_fini(&out);
}

static void a_key_is_read_back_whatever_the_names(void **state) {
    (void)state;
    static const char *const names[] = {"",        "a",  "it's \"x\"", "\xe8\xae\xad\xe7\xbb\x83",
                                        "a/b c\n", "\\", "\x7f"};
    sb_arena arena = arena_of(&sb_alloc_libc);
    for (size_t i = 0; i < SB_COUNT(names); i++) {
        sb_buf out;
        sb_blob_key key;
        sb_err err;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
        sb_blob_key_add(&out, &(sb_blob_key){.experiment = SB_LIT("e"),
                                             .plugin = SB_LIT("audio"),
                                             .run = sb_slice_str(names[i]),
                                             .tag = sb_slice_str(names[SB_COUNT(names) - 1 - i]),
                                             .step = INT64_MIN,
                                             .index = (int64_t)i});
        assert_ok(sb_blob_key_read(&key, sb_buf_slice(&out), &arena, &err), &err);
        assert_slice_is(key.run, names[i]);
        assert_slice_is(key.tag, names[SB_COUNT(names) - 1 - i]);
        assert_true(key.step == INT64_MIN && key.index == (int64_t)i);
        sb_buf_fini(&out);
    }
    sb_arena_fini(&arena);
}

static void the_fast_loaders_form_is_understood(void **state) {
    (void)state;
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_blob_key key;
    /* ["","train","im",5,2] */
    assert_int_equal(sb_blob_key_read(&key, SB_LIT("WyIiLCJ0cmFpbiIsImltIiw1LDJd"), &arena, NULL),
                     SB_OK);
    assert_slice_is(key.run, "train");
    assert_null(key.plugin.p);
    assert_int_equal(key.index, 2);
    sb_arena_fini(&arena);
}

static void what_is_no_key_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "zz",
        "!!!!",
        "e30",                                         /* {} */
        "W10",                                         /* [] */
        "WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiwiNSIsMl0", /* a text for the step */
        "WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LjUsMl0",
        "WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LDIsM10", /* too many */
        "WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LDJ"};
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_blob_key key;
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(sb_blob_key_read(&key, sb_slice_str(bad[i]), &arena, NULL), SB_INVALID);
    sb_arena_fini(&arena);
}

static void read_key(sb_slice input) {
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_blob_key key;
    sb_blob_key_read(&key, input, &arena, NULL);
    sb_arena_fini(&arena);
}

static void damaged_keys_do_no_harm(void **state) {
    (void)state;
    hostile_cuts(SB_LIT("WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LDJd"), read_key);
    hostile_flips(SB_LIT("WyIiLCJpbWFnZXMiLCJ0cmFpbiIsImltIiw1LDJd"), read_key);
    hostile_noise(11, 2000, read_key);
}

/* ---- requests of the hparams routes ---------------------------------------------------------- */

static void a_whole_request_is_understood(void **state) {
    (void)state;
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_groups_ask ask;
    sb_err err;
    const char *json = "{\"experimentName\": \"e\", \"allowedStatuses\": [\"STATUS_SUCCESS\", 3], "
                       "\"aggregation_type\": \"AGGREGATION_MAX\","
                       " \"aggregationMetric\": {\"group\": \"g\", \"tag\": \"t\"}, "
                       "\"startIndex\": \"3\", \"sliceSize\": 5.0,"
                       " \"includeMetrics\": false, \"colParams\": ["
                       " {\"hparam\": \"lr\", \"order\": 2, \"missingValuesFirst\": true, "
                       "\"filterInterval\": {\"minValue\": \"-Infinity\","
                       "  \"maxValue\": 1}},"
                       " {\"metric\": {\"tag\": \"loss\"}, \"filter_discrete\": [1, \"x\", true, "
                       "null], \"excludeMissingValues\": true},"
                       " {\"hparam\": \"opt\", \"filterRegexp\": \"a.*\", \"includeInResult\": "
                       "false, \"order\": null}]}";
    assert_ok(sb_hparams_read_groups(&ask, sb_slice_str(json), &arena, &err), &err);
    assert_int_equal(ask.statuses, 1u << 1 | 1u << 3);
    assert_int_equal(ask.aggregation, SB_AGGREGATE_GREATEST);
    assert_slice_is(ask.aggregation_tag, "t");
    assert_true(ask.start == 3 && ask.size == 5 && !ask.with_metrics);
    assert_int_equal(ask.column_n, 3);
    assert_true(ask.columns[0].filter == SB_FILTER_INTERVAL && isinf(ask.columns[0].min) &&
                ask.columns[0].max == 1);
    assert_true(ask.columns[0].order == SB_ORDER_FALLING && ask.columns[0].missing_first);
    assert_int_equal(ask.columns[0].include, -1);
    assert_true(ask.columns[1].is_metric && ask.columns[1].value_n == 4 &&
                ask.columns[1].no_missing);
    assert_int_equal(ask.columns[2].include, 0);
    assert_slice_is(ask.columns[2].regexp, "a.*");
    sb_arena_fini(&arena);
}

static void metrics_are_wanted_unless_refused(void **state) {
    (void)state;
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_experiment_ask e;
    sb_groups_ask g;
    assert_int_equal(sb_hparams_read_experiment(&e, SB_LIT("{}"), NULL), SB_OK);
    assert_true(e.with_metrics && e.limit == 0);
    assert_int_equal(sb_hparams_read_experiment(
                         &e, SB_LIT("{\"include_metrics\": false, \"hparamsLimit\": 7}"), NULL),
                     SB_OK);
    assert_true(!e.with_metrics && e.limit == 7);
    assert_int_equal(sb_hparams_read_groups(&g, SB_LIT("{\"includeMetrics\": null}"), &arena, NULL),
                     SB_OK);
    assert_true(g.with_metrics);
    sb_arena_fini(&arena);
}

static void requests_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "1",
        "{\"x\": 1}",
        "{\"sliceSize\": \"x\"}",
        "{\"sliceSize\": 1.5}",
        "{\"sliceSize\": true}",
        "{\"allowedStatuses\": \"STATUS_SUCCESS\"}",
        "{\"allowedStatuses\": [\"X\"]}",
        "{\"colParams\": [{}]}",
        "{\"colParams\": [{\"hparam\": 1}]}",
        "{\"colParams\": {}}",
        "{\"colParams\": [1]}",
        "{\"colParams\": [{\"hparam\": \"a\", \"filterInterval\": {\"min\": 1}}]}",
        "{\"includeMetrics\": 1}",
        "{\"aggregationType\": \"AGGREGATION_ALL\"}",
        "{\"experimentName\": 5}"};
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_groups_ask ask;
    sb_err err;
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        assert_int_equal(sb_hparams_read_groups(&ask, sb_slice_str(bad[i]), &arena, &err),
                         SB_INVALID);
        assert_true(err.text[0] != 0);
    }
    sb_arena_fini(&arena);
}

static void numbers_of_enumerations_that_do_not_exist_do_no_harm(void **state) {
    (void)state;
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_groups_ask ask;
    const char *json = "{\"allowedStatuses\": [-1, 31, 32, 99999999999], \"aggregationType\": -7}";
    assert_int_equal(sb_hparams_read_groups(&ask, sb_slice_str(json), &arena, NULL), SB_OK);
    assert_int_equal(ask.statuses, 1u << 31);
    sb_arena_fini(&arena);
}

static void visible_columns_are_a_list_of_booleans(void **state) {
    (void)state;
    sb_arena arena = arena_of(&sb_alloc_libc);
    bool *visible;
    size_t n;
    assert_int_equal(
        sb_hparams_read_visible(&visible, &n, SB_LIT("[true, false, 1, 0, null]"), &arena, NULL),
        SB_OK);
    assert_int_equal(n, 5);
    assert_true(visible[0] && !visible[1] && visible[2] && !visible[3] && !visible[4]);
    assert_int_equal(sb_hparams_read_visible(&visible, &n, SB_LIT("{}"), &arena, NULL), SB_INVALID);
    assert_int_equal(sb_hparams_read_visible(&visible, &n, (sb_slice){NULL, 0}, &arena, NULL),
                     SB_INVALID);
    sb_arena_fini(&arena);
}

static void read_request(sb_slice input) {
    sb_arena arena = arena_of(&sb_alloc_libc);
    sb_groups_ask ask;
    sb_metric_ask metric;
    sb_experiment_ask experiment;
    sb_hparams_read_groups(&ask, input, &arena, NULL);
    sb_hparams_read_metric(&metric, input, &arena, NULL);
    sb_hparams_read_experiment(&experiment, input, NULL);
    sb_arena_fini(&arena);
}

#define REQUEST                                                                                    \
    "{\"colParams\":[{\"hparam\":\"a\",\"filterDiscrete\":[1,\"x\"]}],\"allowedStatuses\":[1],"    \
    "\"sliceSize\":2}"

static void damaged_requests_do_no_harm(void **state) {
    (void)state;
    hostile_cuts(SB_LIT(REQUEST), read_request);
    hostile_flips(SB_LIT(REQUEST), read_request);
    hostile_noise(13, 1000, read_request);
}

static sb_status with_little_memory(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_arena arena;
    sb_groups_ask ask;
    sb_arena_init(&arena, alloc, 32, 1 << 20);
    sb_status status = sb_hparams_read_groups(&ask, SB_LIT(REQUEST), &arena, NULL);
    sb_arena_fini(&arena);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(with_little_memory, NULL);
}

/* ---- names in errors ------------------------------------------------------------------------- */

static void names_are_shown_as_python_shows_them(void **state) {
    (void)state;
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"", "''"},
        {"train", "'train'"},
        {"it's", "\"it's\""},
        {"say \"x\"", "'say \"x\"'"},
        {"it's \"x\"", "'it\\'s \"x\"'"},
        {"a\\b", "'a\\\\b'"},
        {"a\nb\tc\r", "'a\\nb\\tc\\r'"},
        {"\x01\x7f", "'\\x01\\x7f'"},
        {"\xc3\xa9 \xe8\xae\xad \xf0\x9f\x98\x8a", "'\xc3\xa9 \xe8\xae\xad \xf0\x9f\x98\x8a'"},
        {"\xc2\xa0\xe2\x80\xa8\xe2\x80\xae", "'\\xa0\\u2028\\u202e'"},
        {"\xff", "'\\ufffd'"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_buf out;
        sb_buf_init(&out, &sb_alloc_libc, 1 << 10);
        sb_compat_add_repr(&out, sb_slice_str(cases[i].name));
        assert_slice_is(sb_buf_slice(&out), cases[i].shown);
        sb_buf_fini(&out);
    }
}

static void html_is_escaped(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 10);
    sb_compat_add_html(&out, SB_LIT("<a href=\"x\" b='y'>&"));
    assert_slice_is(sb_buf_slice(&out), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
    sb_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_tensorboards_own_loader),
        cmocka_unit_test(a_key_is_read_back_whatever_the_names),
        cmocka_unit_test(the_fast_loaders_form_is_understood),
        cmocka_unit_test(what_is_no_key_is_refused),
        cmocka_unit_test(damaged_keys_do_no_harm),
        cmocka_unit_test(a_whole_request_is_understood),
        cmocka_unit_test(metrics_are_wanted_unless_refused),
        cmocka_unit_test(requests_that_make_no_sense_are_refused),
        cmocka_unit_test(numbers_of_enumerations_that_do_not_exist_do_no_harm),
        cmocka_unit_test(visible_columns_are_a_list_of_booleans),
        cmocka_unit_test(damaged_requests_do_no_harm),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(names_are_shown_as_python_shows_them),
        cmocka_unit_test(html_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
