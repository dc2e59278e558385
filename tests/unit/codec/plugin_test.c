/* plugin_test.c: plugin contents are read, and written byte for byte as protobuf's Python library
 * writes the same messages. */
#include "codec/plugin.h"

#include "codec/event.h"
#include "codec/summary.h"
#include "support/fault_alloc.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "unit/codec/touch.h"
#include "base/banned.h"

#define MESH "12016d 1802 2a027b7d 320c01ffffffffffffffffff0103 380e"
#define START "0a0f 0a026c72 1209 11000000000000d03f 120175 1a0177 220167 29000000000000f83f"
#define EXPERIMENT                                                                                 \
    "0a0164 120175 190000000000000040 2217 0a026c72 12014c 1a0178 2003 3209 11000000000000f03f"    \
    "2223 0a036f7074 2001 2a18 0a031a0161 0a022001 0a020800 0a09110000000000000040 3801"           \
    "2a12 0a06 0a0167 120174 1a03616363 220179 2802 32016e"
#define LAYOUT                                                                                     \
    "1224 0a0163 120b 0a0161 1206 0a0178 0a0179 1210 0a0162 1a0b 0a09 0a0176 12016c 1a0175 1801"   \
    "1203 0a0164"

static uint8_t room[1024];

static sb_slice hex(const char *text) {
    return sb_test_bytes(room, sizeof room, text);
}

/* The buffer holds these bytes; frees it. */
static void expect_bytes(sb_buf *b, const char *text) {
    assert_slice_equal(sb_buf_slice(b), hex(text));
    sb_buf_fini(b);
}

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    return b;
}

static void plugins_have_their_content_message(void **state) {
    (void)state;
    assert_int_equal(sb_plugin_content_message(SB_LIT("hparams")), SB_MSG_HPARAMS_PLUGIN);
    assert_int_equal(sb_plugin_content_message(SB_LIT("graph_keras_model")), SB_MSG_NONE);
    assert_int_equal(sb_plugin_content_message(SB_LIT("")), SB_MSG_NONE);
}

static void version_is_zero_unless_said(void **state) {
    (void)state;
    int32_t version = -1;
    assert_int_equal(sb_plugin_version(&version, sb_slice_of(NULL, 0)), SB_OK);
    assert_int_equal(version, 0);
    assert_int_equal(sb_plugin_version(&version, SB_LIT("{}")), SB_OK);
    assert_int_equal(version, 0);
    assert_int_equal(sb_plugin_version(&version, hex("0803 107f")), SB_OK);
    assert_int_equal(version, 3);
    assert_int_equal(sb_plugin_version(&version, SB_LIT("{")), SB_CORRUPT);
}

static void audio_is_read(void **state) {
    (void)state;
    sb_audio_plugin audio;
    assert_int_equal(sb_audio_plugin_read(&audio, hex("100b 1801")), SB_OK);
    assert_int_equal(audio.encoding, SB_AUDIO_ENCODING_WAV);
    assert_true(audio.version == 0 && audio.converted_to_tensor);
}

static void mesh_is_read_and_written(void **state) {
    (void)state;
    sb_mesh_plugin mesh;
    assert_int_equal(sb_mesh_plugin_read(&mesh, hex(MESH)), SB_OK);
    assert_slice_is(mesh.name, "m");
    assert_int_equal(mesh.content_type, SB_MESH_CONTENT_FACE);
    assert_slice_is(mesh.json_config, "{}");
    assert_int_equal(mesh.rank, 3);
    assert_true(mesh.shape[0] == 1 && mesh.shape[1] == -1 && mesh.shape[2] == 3);
    assert_int_equal(mesh.components, 14);
    sb_buf b = new_buf();
    mesh.name = SB_LIT("m");
    mesh.json_config = SB_LIT("{}");
    sb_mesh_plugin_add(&b, &mesh);
    expect_bytes(&b, MESH);
    /* Without components all three parts are meant; a shape may be unpacked and long. */
    assert_int_equal(sb_mesh_plugin_read(&mesh, hex("3001 3002 3203 030405")), SB_OK);
    assert_int_equal(mesh.components, 14);
    assert_int_equal(mesh.rank, 5);
    assert_int_equal(mesh.shape[4], 5);
    assert_int_equal(
        sb_mesh_plugin_read(&mesh, hex("3214 0101010101010101010101010101010101010107")), SB_OK);
    assert_int_equal(mesh.rank, 20);
    assert_int_equal(sb_mesh_plugin_read(&mesh, hex("3202 01ff")), SB_CORRUPT);
}

static void dynamic_values_are_read_and_written(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        sb_any_kind kind;
    } cases[] = {
        {"0800", SB_ANY_NULL},          {"11000000000000d03f", SB_ANY_NUMBER},
        {"1a0161", SB_ANY_STRING},      {"2001", SB_ANY_BOOL},
        {"2000", SB_ANY_BOOL},          {"2a00", SB_ANY_STRUCT},
        {"3204 0a022001", SB_ANY_LIST}, {"", SB_ANY_NONE},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t own[64];
        sb_any any;
        sb_slice value = sb_test_bytes(own, sizeof own, cases[i].hex);
        assert_int_equal(sb_any_read(&any, value), SB_OK);
        assert_int_equal(any.kind, cases[i].kind);
        sb_buf b = new_buf();
        sb_any_add(&b, &any);
        expect_bytes(&b, cases[i].hex);
    }
    sb_any any;
    assert_int_equal(sb_any_read(&any, hex("2001 1a0161 11000000000000d03f")), SB_OK);
    assert_true(any.kind == SB_ANY_NUMBER && any.number == 0.25 && !any.boolean);
}

static void session_start_is_read_and_written(void **state) {
    (void)state;
    sb_session_start_view start;
    sb_hparam_view hparam;
    assert_int_equal(sb_session_start_read(&start, hex(START)), SB_OK);
    assert_slice_is(start.model_uri, "u");
    assert_slice_is(start.monitor_url, "w");
    assert_slice_is(start.group_name, "g");
    assert_true(start.start_time_secs == 1.5);
    sb_items entries = sb_items_of(start.message, SB_SESSION_START_HPARAMS);
    assert_int_equal(sb_hparam_next(&entries, &hparam), SB_OK);
    assert_slice_is(hparam.name, "lr");
    assert_true(hparam.value.kind == SB_ANY_NUMBER && hparam.value.number == 0.25);
    assert_int_equal(sb_hparam_next(&entries, &hparam), SB_END);

    sb_session_start_view out = {SB_LIT("u"), SB_LIT("w"), SB_LIT("g"), 1.5, {NULL, 0}};
    sb_hparam_view lr = {SB_LIT("lr"), {.kind = SB_ANY_NUMBER, .number = 0.25}};
    sb_buf b = new_buf(), plugin = new_buf();
    sb_session_start_add(&b, &out, &lr, 1);
    sb_hparams_plugin_add(&plugin,
                          &(sb_hparams_plugin){0, SB_HPARAMS_SESSION_START, sb_buf_slice(&b)});
    expect_bytes(&b, START);
    sb_hparams_plugin read;
    assert_int_equal(sb_hparams_plugin_read(&read, sb_buf_slice(&plugin)), SB_OK);
    assert_int_equal(read.kind, SB_HPARAMS_SESSION_START);
    assert_slice_equal(read.body, hex(START));
    expect_bytes(&plugin, "1a23" START);
}

static void experiment_is_written_as_protobuf_does(void **state) {
    (void)state;
    const sb_any choices[] = {{.kind = SB_ANY_STRING, .body = SB_LIT("a")},
                              {.kind = SB_ANY_BOOL, .boolean = true},
                              {.kind = SB_ANY_NULL},
                              {.kind = SB_ANY_NUMBER, .number = 2}};
    sb_buf list = new_buf(), b = new_buf();
    sb_any_list_add(&list, choices, 4);
    const sb_hparam_info_view hparams[] = {
        {.name = SB_LIT("lr"),
         .display_name = SB_LIT("L"),
         .description = SB_LIT("x"),
         .type = SB_HPARAM_TYPE_FLOAT64,
         .domain = SB_HPARAM_INFO_DOMAIN_INTERVAL,
         .max = 1},
        {.name = SB_LIT("opt"),
         .type = SB_HPARAM_TYPE_STRING,
         .domain = SB_HPARAM_INFO_DOMAIN_DISCRETE,
         .discrete = sb_buf_slice(&list),
         .differs = true},
    };
    const sb_metric_info_view metric = {SB_LIT("g"), SB_LIT("t"), SB_LIT("acc"), SB_LIT("y"),
                                        SB_DATASET_TYPE_VALIDATION};
    const sb_experiment_view experiment = {SB_LIT("n"), SB_LIT("d"), SB_LIT("u"), 2, {NULL, 0}};
    sb_experiment_add(&b, &experiment, hparams, 2, &metric, 1);
    sb_buf_fini(&list);
    expect_bytes(&b, EXPERIMENT);
}

static void experiment_is_read(void **state) {
    (void)state;
    sb_experiment_view experiment;
    sb_hparam_info_view info;
    sb_metric_info_view metric;
    sb_slice item;
    assert_int_equal(sb_experiment_read(&experiment, hex(EXPERIMENT)), SB_OK);
    assert_slice_is(experiment.name, "n");
    assert_slice_is(experiment.user, "u");
    assert_true(experiment.time_created_secs == 2);
    sb_items infos = sb_items_of(experiment.message, SB_EXPERIMENT_HPARAM_INFOS);
    assert_int_equal(sb_items_next(&infos, &item), SB_OK);
    assert_int_equal(sb_hparam_info_read(&info, item), SB_OK);
    assert_slice_is(info.name, "lr");
    assert_int_equal(info.type, SB_HPARAM_TYPE_FLOAT64);
    assert_int_equal(info.domain, SB_HPARAM_INFO_DOMAIN_INTERVAL);
    assert_true(info.min == 0 && info.max == 1 && !info.differs);
    assert_int_equal(sb_items_next(&infos, &item), SB_OK);
    assert_int_equal(sb_hparam_info_read(&info, item), SB_OK);
    assert_int_equal(info.domain, SB_HPARAM_INFO_DOMAIN_DISCRETE);
    assert_true(info.differs);
    size_t choices = 0;
    sb_items values = sb_items_of(info.discrete, SB_PB_LIST_VALUES);
    for (sb_any any; sb_items_next(&values, &item) == SB_OK; choices++)
        assert_int_equal(sb_any_read(&any, item), SB_OK);
    assert_int_equal(choices, 4);
    sb_items metrics = sb_items_of(experiment.message, SB_EXPERIMENT_METRIC_INFOS);
    assert_int_equal(sb_items_next(&metrics, &item), SB_OK);
    assert_int_equal(sb_metric_info_read(&metric, item), SB_OK);
    assert_slice_is(metric.group, "g");
    assert_slice_is(metric.tag, "t");
    assert_slice_is(metric.display_name, "acc");
    assert_int_equal(metric.dataset_type, SB_DATASET_TYPE_VALIDATION);
}

static void session_end_is_read_and_written(void **state) {
    (void)state;
    sb_session_end_view end;
    assert_int_equal(sb_session_end_read(&end, hex("0801 110000000000000840")), SB_OK);
    assert_int_equal(end.status, SB_HPARAM_STATUS_SUCCESS);
    assert_true(end.end_time_secs == 3);
    sb_buf b = new_buf();
    sb_session_end_add(&b, &end);
    expect_bytes(&b, "0801 110000000000000840");
}

static void layout_is_written_as_protobuf_does(void **state) {
    (void)state;
    const sb_slice tags[] = {SB_LIT("x"), SB_LIT("y")};
    const sb_margin_series series = {SB_LIT("v"), SB_LIT("l"), SB_LIT("u")};
    const sb_chart_plan charts[] = {{SB_LIT("a"), tags, 2, NULL, 0},
                                    {SB_LIT("b"), NULL, 0, &series, 1}};
    const sb_category_plan categories[] = {{SB_LIT("c"), true, charts, 2},
                                           {SB_LIT("d"), false, NULL, 0}};
    sb_buf b = new_buf();
    sb_layout_add(&b, categories, 2);
    expect_bytes(&b, LAYOUT);
}

static void layout_is_read(void **state) {
    (void)state;
    sb_layout layout;
    sb_category category;
    sb_chart_view chart;
    sb_margin_series series;
    sb_slice item;
    assert_int_equal(sb_layout_read(&layout, hex(LAYOUT)), SB_OK);
    sb_items categories = sb_items_of(layout.message, SB_LAYOUT_CATEGORY);
    assert_int_equal(sb_items_next(&categories, &item), SB_OK);
    assert_int_equal(sb_category_read(&category, item), SB_OK);
    assert_slice_is(category.title, "c");
    assert_true(category.closed);
    sb_items charts = sb_items_of(category.message, SB_CATEGORY_CHART);
    assert_int_equal(sb_items_next(&charts, &item), SB_OK);
    assert_int_equal(sb_chart_read(&chart, item), SB_OK);
    assert_int_equal(chart.kind, SB_CHART_MULTILINE);
    sb_items tags = sb_items_of(chart.body, SB_MULTILINE_TAG);
    assert_int_equal(sb_items_next(&tags, &item), SB_OK);
    assert_slice_is(item, "x");
    assert_int_equal(sb_items_next(&charts, &item), SB_OK);
    assert_int_equal(sb_chart_read(&chart, item), SB_OK);
    assert_int_equal(chart.kind, SB_CHART_MARGIN);
    sb_items parts = sb_items_of(chart.body, SB_MARGIN_SERIES);
    assert_int_equal(sb_items_next(&parts, &item), SB_OK);
    assert_int_equal(sb_margin_series_read(&series, item), SB_OK);
    assert_slice_is(series.lower, "l");
}

/* What hp.hparams, torch, the mesh and the curve plugins wrote. */
static void look_at_contents(const char *path, sb_slice payload, void *ud) {
    (void)path;
    size_t *seen = ud;
    sb_event event;
    sb_value value;
    sb_metadata m;
    sb_hparams_plugin hparams;
    sb_mesh_plugin mesh;
    int32_t version;
    assert_int_equal(sb_event_read(&event, payload), SB_OK);
    if (event.what != SB_WHAT_SUMMARY) return;
    sb_summary_walk values = sb_summary_over(event.body);
    while (sb_summary_next(&values, &value) == SB_OK) {
        assert_int_equal(sb_metadata_read(&m, value.metadata), SB_OK);
        if (sb_plugin_content_message(m.plugin_name) == SB_MSG_NONE) continue;
        assert_int_equal(sb_plugin_version(&version, m.content), SB_OK);
        assert_int_equal(version, 0);
        if (sb_slice_eq(m.plugin_name, SB_LIT("hparams"))) {
            assert_int_equal(sb_hparams_plugin_read(&hparams, m.content), SB_OK);
            seen[hparams.kind]++;
        } else if (sb_slice_eq(m.plugin_name, SB_LIT("mesh"))) {
            assert_int_equal(sb_mesh_plugin_read(&mesh, m.content), SB_OK);
            assert_true(mesh.rank == 3 && mesh.shape[2] == 3);
            seen[8]++;
        }
    }
}

static void contents_of_the_fixtures_are_read(void **state) {
    (void)state;
    size_t seen[16] = {0};
    fixture_events(SB_FIXTURES, look_at_contents, seen);
    assert_int_equal(seen[SB_HPARAMS_NONE], 0);
    assert_int_equal(seen[SB_HPARAMS_EXPERIMENT], 4);
    assert_int_equal(seen[SB_HPARAMS_SESSION_START], 7);
    assert_int_equal(seen[SB_HPARAMS_SESSION_END], 3);
    assert_int_equal(seen[8], 21);
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void damaged_contents_are_survived(void **state) {
    (void)state;
    static const char *const good[] = {MESH, START, EXPERIMENT, LAYOUT, "1a23" START, "107f"};
    uint8_t own[512];
    for (size_t i = 0; i < SB_COUNT(good); i++) {
        sb_slice content = sb_test_bytes(own, sizeof own, good[i]);
        hostile_cuts(content, touch_plugin);
        hostile_flips(content, touch_plugin);
    }
    hostile_noise(7, 20000, touch_plugin);
}

static sb_status write_all(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 20);
    const sb_hparam_info_view info = {.name = SB_LIT("lr"),
                                      .domain = SB_HPARAM_INFO_DOMAIN_INTERVAL};
    const sb_metric_info_view metric = {.tag = SB_LIT("t")};
    const sb_hparam_view hparam = {SB_LIT("lr"), {.kind = SB_ANY_NUMBER}};
    const sb_slice tag = SB_LIT("x");
    const sb_chart_plan chart = {SB_LIT("a"), &tag, 1, NULL, 0};
    const sb_category_plan category = {SB_LIT("c"), true, &chart, 1};
    const sb_mesh_plugin mesh = {.name = SB_LIT("m"), .rank = 3, .shape = {1, 2, 3}};
    for (int i = 0; i < 10; i++) {
        sb_experiment_add(&b, &(sb_experiment_view){.name = SB_LIT("n")}, &info, 1, &metric, 1);
        sb_session_start_add(&b, &(sb_session_start_view){.group_name = SB_LIT("g")}, &hparam, 1);
        sb_layout_add(&b, &category, 1);
        sb_mesh_plugin_add(&b, &mesh);
    }
    sb_status status = sb_buf_check(&b, "contents", NULL);
    sb_buf_fini(&b);
    return status;
}

static void writing_without_memory_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(write_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_have_their_content_message),
        cmocka_unit_test(version_is_zero_unless_said),
        cmocka_unit_test(audio_is_read),
        cmocka_unit_test(mesh_is_read_and_written),
        cmocka_unit_test(dynamic_values_are_read_and_written),
        cmocka_unit_test(session_start_is_read_and_written),
        cmocka_unit_test(experiment_is_written_as_protobuf_does),
        cmocka_unit_test(experiment_is_read),
        cmocka_unit_test(session_end_is_read_and_written),
        cmocka_unit_test(layout_is_written_as_protobuf_does),
        cmocka_unit_test(layout_is_read),
        cmocka_unit_test(contents_of_the_fixtures_are_read),
        cmocka_unit_test(damaged_contents_are_survived),
        cmocka_unit_test(writing_without_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
