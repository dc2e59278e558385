/* hparams_test.c: experiments and trials, and the name that a group gets from its values. */
#include "writer/kinds/hparams_int.h"

#include <math.h>

#include "codec/plugin.h"
#include "support/writer_bed.h"

#include "base/banned.h"

static const sb_hparam trial[] = {
    {"s", {.type = SB_HPARAM_STRING, .string = "x"}},
    {"lr", {.type = SB_HPARAM_NUMBER, .number = 0.1}},
    {"n", {.type = SB_HPARAM_INTEGER, .integer = 3}},
    {"b", {.type = SB_HPARAM_BOOL, .number = 1}},
};

static sb_hparams_plugin plugin_of(const sb_value *value) {
    sb_hparams_plugin plugin;
    assert_slice_is(bed_metadata(value).plugin_name, "hparams");
    assert_int_equal(sb_hparams_plugin_read(&plugin, bed_metadata(value).content), SB_OK);
    return plugin;
}

static void values_as_json_are_those_of_python(void **state) {
    static const struct {
        sb_hparam_value value;
        const char *json;
    } rows[] = {
        {{.type = SB_HPARAM_NUMBER, .number = 1}, "{\"k\":1.0}"},
        {{.type = SB_HPARAM_NUMBER, .number = -0.0}, "{\"k\":-0.0}"},
        {{.type = SB_HPARAM_NUMBER, .number = 1e16}, "{\"k\":1e+16}"},
        {{.type = SB_HPARAM_NUMBER, .number = 1e-7}, "{\"k\":1e-07}"},
        {{.type = SB_HPARAM_NUMBER, .number = INFINITY}, "{\"k\":Infinity}"},
        {{.type = SB_HPARAM_NUMBER, .number = NAN}, "{\"k\":NaN}"},
        {{.type = SB_HPARAM_INTEGER, .integer = INT64_MIN}, "{\"k\":-9223372036854775808}"},
        {{.type = SB_HPARAM_BOOL, .number = 0}, "{\"k\":false}"},
        {{.type = SB_HPARAM_STRING, .string = "\"\\/\n\r\t\f\b\x01\x7f"},
         "{\"k\":\"\\\"\\\\/\\n\\r\\t\\f\\b\\u0001\\u007f\"}"},
        {{.type = SB_HPARAM_STRING, .string = "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"},
         "{\"k\":\"\\u00e9\\u4e2d\\ud83d\\ude00\"}"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        const sb_hparam row = {"k", rows[i].value}, *sorted[] = {&row};
        sb_buf json;
        sb_buf_init(&json, &sb_alloc_libc, 1000);
        sb_hparams_json(&json, sorted, 1);
        assert_slice_is(sb_buf_slice(&json), rows[i].json);
        sb_buf_fini(&json);
    }
}

static void tf_makes_the_groups_name_from_the_values(void **state) {
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    assert_int_equal(sb_hparams_start(b.w, trial, 4, NULL, 5, 0), SB_OK);
    assert_int_equal(sb_hparams_start(b.w, trial, 4, "mine", 0, 0), SB_OK);
    bed_close(&b);
    sb_value value = bed_value(&b, 0, 0);
    assert_slice_is(value.tag, "_hparams_/session_start_info");
    assert_slice_equal(value.body, SB_LIT("\x08\x01\x12\x02\x12\0"));
    sb_session_start_view info;
    assert_int_equal(sb_session_start_read(&info, plugin_of(&value).body), SB_OK);
    /* What tensorboard.plugins.hparams made of {'lr': 0.1, 'n': 3, 's': 'x', 'b': True}. */
    assert_slice_is(info.group_name,
                    "d20115c52fafdac77e3dc15b15628cb9537bbb161e292a01d548b4dcb67c04d1");
    assert_true(info.start_time_secs == 5);
    const char *const order[] = {"b", "lr", "n", "s"};
    sb_items entries = sb_items_of(info.message, SB_SESSION_START_HPARAMS);
    for (size_t i = 0; i < 4; i++) {
        sb_hparam_view entry;
        assert_int_equal(sb_hparam_next(&entries, &entry), SB_OK);
        assert_slice_is(entry.name, order[i]);
    }
    value = bed_value(&b, 1, 0);
    assert_int_equal(sb_session_start_read(&info, plugin_of(&value).body), SB_OK);
    assert_slice_is(info.group_name, "mine");
    assert_true(info.start_time_secs == 1700000000.25);
    bed_free(&b);
}

static void torch_leaves_out_what_it_is_not_told(void **state) {
    for (int style = SB_STYLE_TORCH; style <= SB_STYLE_TBX; style++) {
        bed b = bed_open(*state, style == SB_STYLE_TBX ? "tbx" : "torch", (sb_style)style);
        assert_int_equal(sb_hparams_start(b.w, trial, 4, NULL, 0, 7), SB_OK);
        assert_int_equal(sb_hparams_end(b.w, SB_SESSION_SUCCESS, 0, 7), SB_OK);
        bed_close(&b);
        sb_value value = bed_value(&b, 0, 0);
        assert_int_equal(value.kind, SB_VALUE_KIND_NONE);
        sb_session_start_view info;
        assert_int_equal(sb_session_start_read(&info, plugin_of(&value).body), SB_OK);
        assert_int_equal(info.group_name.n, 0);
        assert_true(info.start_time_secs == 0);
        sb_items entries = sb_items_of(info.message, SB_SESSION_START_HPARAMS);
        sb_hparam_view entry;
        assert_int_equal(sb_hparam_next(&entries, &entry), SB_OK);
        assert_slice_is(entry.name, "s"); /* the order given */
        value = bed_value(&b, 1, 0);
        assert_slice_is(value.tag, "_hparams_/session_end_info");
        assert_slice_is(plugin_of(&value).body, "\x08\x01");
        bed_free(&b);
    }
}

static void an_experiment_has_the_bytes_of_tensorboard(void **state) {
    const sb_hparam_value two[] = {{.type = SB_HPARAM_INTEGER, .integer = 1},
                                   {.type = SB_HPARAM_INTEGER, .integer = 2}};
    const sb_hparam_info infos[] = {
        SB_INIT(sb_hparam_info, .name = "lr", .type = SB_HPARAM_NUMBER, .has_interval = true,
                .min = 0.1, .max = 0.2),
        SB_INIT(sb_hparam_info, .name = "n", .type = SB_HPARAM_INTEGER, .values = two,
                .value_count = 2),
    };
    const sb_metric_info metric = SB_INIT(sb_metric_info, .group = "train", .tag = "acc",
                                          .display_name = "A", .dataset = SB_DATASET_VALIDATION);
    const sb_experiment experiment =
        SB_INIT(sb_experiment, .time_created = 7, .hparams = infos, .hparam_count = 2,
                .metrics = &metric, .metric_count = 1);
    bed b = bed_open(*state, "tf2", SB_STYLE_TF2);
    assert_int_equal(sb_hparams_config(b.w, &experiment, 0), SB_OK);
    bed_close(&b);
    /* Captured from hp.hparams_config. */
    assert_event_bytes(&b, 0,
                       "2a8b010a88010a145f68706172616d735f2f6578706572696d656e7442060801120212004a6"
                       "80a660a0768706172"
                       "616d73125b1259190000000000001c40221a0a026c7220033212099a9999999999b93f119a9"
                       "999999999c93f221d"
                       "0a016e20032a160a0911000000000000f03f0a091100000000000000402a130a0c0a0574726"
                       "1696e12036163631a"
                       "01412802");
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    sb_writer *w = b.w;
    const sb_hparam twice[] = {trial[0], trial[1], trial[0]};
    const sb_hparam nameless = {NULL, {.type = SB_HPARAM_NUMBER}};
    const sb_hparam textless = {"x", {.type = SB_HPARAM_STRING}};
    const sb_hparam unset = {"x", {.type = SB_HPARAM_UNSET}};
    const sb_hparam garbled = {"x\xff", {.type = SB_HPARAM_NUMBER}};
    assert_refused(w, sb_hparams_start(w, NULL, 2, NULL, 0, 0), SB_INVALID, "missing");
    assert_refused(w, sb_hparams_start(w, trial, SIZE_MAX, NULL, 0, 0), SB_LIMIT, "too many");
    assert_refused(w, sb_hparams_start(w, twice, 3, NULL, 0, 0), SB_INVALID, "'s' has two values");
    assert_refused(w, sb_hparams_start(w, &nameless, 1, NULL, 0, 0), SB_INVALID, "a name");
    assert_refused(w, sb_hparams_start(w, &textless, 1, NULL, 0, 0), SB_INVALID, "a value");
    assert_refused(w, sb_hparams_start(w, &unset, 1, NULL, 0, 0), SB_INVALID, "no type of values");
    assert_refused(w, sb_hparams_start(w, &garbled, 1, NULL, 0, 0), SB_INVALID, "UTF-8");
    assert_refused(w, sb_hparams_start(w, trial, 4, "\xff", 0, 0), SB_INVALID, "group's name");
    assert_refused(w, sb_hparams_end(w, (sb_session_end)4, 0, 0), SB_INVALID, "no way to end");
    assert_refused(w, sb_hparams_config(w, NULL, 0), SB_INVALID, "missing");
    const sb_hparam_value value = {.type = SB_HPARAM_NUMBER};
    const sb_hparam_info infos[] = {
        SB_INIT(sb_hparam_info, .name = NULL),
        SB_INIT(sb_hparam_info, .name = "x", .type = (sb_hparam_type)9),
        SB_INIT(sb_hparam_info, .name = "x", .values = &value, .value_count = 1,
                .has_interval = true),
        SB_INIT(sb_hparam_info, .name = "x", .value_count = 1),
        SB_INIT(sb_hparam_info, .name = "x", .description = "\xff"),
    };
    for (size_t i = 0; i < SB_COUNT(infos); i++) {
        const sb_experiment experiment =
            SB_INIT(sb_experiment, .hparams = &infos[i], .hparam_count = 1);
        assert_refused(w, sb_hparams_config(w, &experiment, 0), SB_INVALID, "hparams");
    }
    const sb_metric_info metric = SB_INIT(sb_metric_info, .tag = "x", .dataset = (sb_dataset)7);
    const sb_experiment bad_metric = SB_INIT(sb_experiment, .metrics = &metric, .metric_count = 1);
    assert_refused(w, sb_hparams_config(w, &bad_metric, 0), SB_INVALID, "data set");
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_hparams(sb_writer *w) {
    const sb_hparam_value list[] = {trial[0].value, trial[1].value};
    const sb_hparam_info info =
        SB_INIT(sb_hparam_info, .name = "x", .values = list, .value_count = 2);
    const sb_metric_info metric = SB_INIT(sb_metric_info, .tag = "m");
    const sb_experiment experiment = SB_INIT(sb_experiment, .hparams = &info, .hparam_count = 1,
                                             .metrics = &metric, .metric_count = 1);
    sb_status status = sb_hparams_config(w, &experiment, 0);
    if (status == SB_OK) status = sb_hparams_start(w, trial, 4, NULL, 0, 0);
    return status == SB_OK ? sb_hparams_end(w, SB_SESSION_FAILURE, 2, 0) : status;
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF1, make_hparams);
    bed_sweep(*state, SB_STYLE_TORCH, make_hparams);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_as_json_are_those_of_python),
        DIR_TEST(tf_makes_the_groups_name_from_the_values),
        DIR_TEST(torch_leaves_out_what_it_is_not_told),
        DIR_TEST(an_experiment_has_the_bytes_of_tensorboard),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
