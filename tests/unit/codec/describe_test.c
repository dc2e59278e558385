/* describe_test.c: messages as JSON, as protobuf's own mapping has them; shortened and expanded. */
#include "codec/proto/describe.h"

#include "base/text/utf8.h"
#include "codec/proto/proto.h"
#include "support/fault_alloc.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 64 << 20);
    return b;
}

static void expect_with(sb_message_id id, const char *hex, const sb_describe_opts *opts,
                        const char *json) {
    uint8_t room[512];
    sb_buf b = new_buf();
    sb_err err;
    assert_ok(sb_describe(&b, id, sb_test_bytes(room, sizeof room, hex), opts, &err), &err);
    assert_slice_is(sb_buf_slice(&b), json);
    sb_buf_fini(&b);
}

static void expect(sb_message_id id, const char *hex, const char *json) {
    expect_with(id, hex, NULL, json);
}

static void an_event_is_described(void **state) {
    (void)state;
    expect(SB_MSG_EVENT, "", "{}");
    expect(SB_MSG_EVENT, "0900001040fc54d941 1007 2a0d 0a0b 0a046c6f7373 150000003f",
           "{\"wall_time\":1700000000.25,\"step\":\"7\",\"summary\":{\"value\":[{\"tag\":\"loss\","
           "\"simple_value\":0.5}]}}");
    expect(SB_MSG_EVENT, "3a020801", "{\"session_log\":{\"status\":\"START\"}}");
}

static void each_type_has_its_json(void **state) {
    (void)state;
    expect(SB_MSG_TENSOR, "0801 2204 00ff2202 2a08 cdcccc3d 0000c07f",
           "{\"dtype\":\"DT_FLOAT\",\"tensor_content\":\"AP8iAg==\",\"float_val\":[0.1,\"NaN\"]}");
    expect(SB_MSG_TENSOR, "084d 520a ffffffffffffffffff01 5a02 0100 8a0101 05 820101 06",
           "{\"dtype\":77,\"int64_val\":[\"-1\"],\"bool_val\":[true,false],\"uint32_val\":[6],"
           "\"uint64_val\":[\"5\"]}");
    expect(SB_MSG_HISTOGRAM, "09 000000000000f07f 11 000000000000f0ff 19 0000000000000080",
           "{\"min\":\"Infinity\",\"max\":\"-Infinity\",\"num\":-0.0}");
    expect(SB_MSG_IMAGE, "08ffffffffffffffffff01 2201 61",
           "{\"height\":-1,\"encoded_image_string\":\"YQ==\"}");
    expect(SB_MSG_DEBUG_INFO, "2a0c 0a0161 11 0200000000000000",
           "{\"name_to_trace_id\":{\"a\":\"2\"}}");
}

static void defaults_are_left_out_but_set_members_are_not(void **state) {
    (void)state;
    expect(SB_MSG_EVENT, "1000 0900000000 00000000", "{}");
    expect(SB_MSG_VALUE, "0a00 15 00000000", "{\"simple_value\":0.0}");
    expect(SB_MSG_FILE_LINE_COL, "0800 2200", "{\"file_index\":0,\"func\":\"\"}");
    expect(SB_MSG_TENSOR, "1200 2a00", "{\"tensor_shape\":{}}");
}

static void maps_are_objects(void **state) {
    (void)state;
    expect(SB_MSG_SESSION_START,
           "0a0e 0a0161 1209 11000000000000f03f 0a05 0a0162 1200 0a07 0a0163 12020800",
           "{\"hparams\":{\"a\":1.0,\"b\":null,\"c\":null}}");
    /* A value that is absent is empty, whatever else the entry holds. */
    expect(SB_MSG_NODE, "2a08 0a016b 1a03 416363", "{\"attr\":{\"k\":{}}}");
    expect(SB_MSG_DEVICE_STATS, "1a05 0807 120178 1a00",
           "{\"thread_names\":{\"7\":\"x\",\"0\":\"\"}}");
    expect(SB_MSG_FUNCTION, "4204 0807 1009", "{\"resource_arg_unique_id\":{\"7\":9}}");
}

static void dynamic_values_are_plain_json(void **state) {
    (void)state;
    expect(SB_MSG_PB_VALUE, "", "null");
    expect(SB_MSG_PB_VALUE, "2001", "true");
    expect(SB_MSG_PB_VALUE, "1a0161", "\"a\"");
    expect(SB_MSG_PB_VALUE, "3200", "[]");
    expect(SB_MSG_PB_VALUE, "2a00", "{}");
    expect(SB_MSG_PB_VALUE, "3208 0a022001 0a023200", "[true,[]]");
    expect(SB_MSG_PB_VALUE, "2a0b 0a09 0a0161 1204 1a026869", "{\"a\":\"hi\"}");
    expect(SB_MSG_OBJECT, "2a00", "{\"has_checkpoint_values\":false}");
    expect(SB_MSG_OBJECT, "2a020801", "{\"has_checkpoint_values\":true}");
}

static void text_is_escaped_and_repaired(void **state) {
    (void)state;
    expect(SB_MSG_VALUE, "0a0a 22 5c 0a 01 c3a9 ff 2f f09f",
           "{\"tag\":\"\\\"\\\\\\n\\u0001\xC3\xA9"
           "\xEF\xBF\xBD/\xEF\xBF\xBD\xEF\xBF\xBD"
           "\"}");
}

static void long_bytes_are_shortened(void **state) {
    (void)state;
    const sb_describe_opts four = {.max_bytes = 4};
    expect_with(SB_MSG_IMAGE, "2204 61626364", &four, "{\"encoded_image_string\":\"YWJjZA==\"}");
    expect_with(SB_MSG_IMAGE, "2205 61626364ff", &four,
                "{\"encoded_image_string\":{\"bytes\":5,\"head\":\"61626364ff\"}}");
    expect_with(SB_MSG_IMAGE, "2212 000102030405060708090a0b0c0d0e0f1011", &four,
                "{\"encoded_image_string\":{\"bytes\":18,\"head\":"
                "\"000102030405060708090a0b0c0d0e0f\"}}");
}

static void messages_in_bytes_are_expanded(void **state) {
    (void)state;
    const sb_describe_opts expand = {.max_bytes = 4, .expand = true};
    expect_with(SB_MSG_EVENT, "2205 0a03 0a016e", &expand,
                "{\"graph_def\":{\"node\":[{\"name\":\"n\"}]}}");
    expect_with(SB_MSG_EVENT, "2205 0a03 0a0a6e", &expand,
                "{\"graph_def\":{\"bytes\":5,\"head\":\"0a030a0a6e\"}}");
    expect_with(SB_MSG_EVENT, "4a04 1202 2200", &expand,
                "{\"meta_graph_def\":{\"graph_def\":{\"versions\":{}}}}");
    expect_with(SB_MSG_EVENT, "4207 0a0173 1202 0a00", &expand,
                "{\"tagged_run_metadata\":{\"tag\":\"s\",\"run_metadata\":{\"step_stats\":{}}}}");
    expect_with(SB_MSG_PLUGIN_DATA, "0a09 70725f637572766573 1202 107f", &expand,
                "{\"plugin_name\":\"pr_curves\",\"content\":{\"num_thresholds\":127}}");
    expect_with(SB_MSG_PLUGIN_DATA, "0a0178 1202 107f", &expand,
                "{\"plugin_name\":\"x\",\"content\":\"EH8=\"}");
}

static void merged_parts_and_the_last_member_count(void **state) {
    (void)state;
    expect(
        SB_MSG_TENSOR, "1204 12020801 0801 1204 12020802",
        "{\"dtype\":\"DT_FLOAT\",\"tensor_shape\":{\"dim\":[{\"size\":\"1\"},{\"size\":\"2\"}]}}");
    expect(SB_MSG_EVENT, "2a020a00 1a0161 2a020a00", "{\"summary\":{\"value\":[{}]}}");
    expect(SB_MSG_EVENT, "1007 1009", "{\"step\":\"9\"}");
    expect(SB_MSG_EVENT, "1007 1000", "{}");
}

static void unknown_and_foreign_fields_are_left_out(void **state) {
    (void)state;
    expect(SB_MSG_EVENT, "f206 03616263 1500000000 1007", "{\"step\":\"7\"}");
}

static void malformed_messages_are_refused(void **state) {
    (void)state;
    uint8_t room[64];
    sb_buf b = new_buf();
    sb_err err = {0};
    sb_slice inside = sb_test_bytes(room, sizeof room, "2a04 0a020aff");
    assert_int_equal(sb_describe(&b, SB_MSG_EVENT, inside, NULL, &err), SB_CORRUPT);
    assert_non_null(strstr(err.text, "tensorflow.Event"));
    sb_slice packed = sb_test_bytes(room, sizeof room, "3a02 01ff");
    assert_int_equal(sb_describe(&b, SB_MSG_TENSOR, packed, NULL, &err), SB_CORRUPT);
    sb_buf_fini(&b);
}

static void nesting_is_bounded(void **state) {
    (void)state;
    sb_buf b = new_buf(), inner = new_buf(), out = new_buf();
    sb_err err = {0};
    for (int levels = 1; levels <= 110; levels++) {
        sb_buf_clear(&b);
        bool list = levels % 2 == 0;
        sb_pb_add_bytes(&b, list ? SB_PB_VALUE_LIST_VALUE : SB_PB_LIST_VALUES,
                        sb_buf_slice(&inner));
        sb_buf_clear(&inner);
        sb_buf_add_slice(&inner, sb_buf_slice(&b));
        sb_buf_clear(&out);
        sb_status status = sb_describe(&out, list ? SB_MSG_PB_VALUE : SB_MSG_PB_LIST,
                                       sb_buf_slice(&inner), NULL, &err);
        assert_int_equal(status, levels <= SB_DESCRIBE_MAX_DEPTH ? SB_OK : SB_LIMIT);
    }
    sb_buf_fini(&b);
    sb_buf_fini(&inner);
    sb_buf_fini(&out);
}

/* A graph that is fine by itself, but too deep inside of an event, is shown as the bytes it is. */
static void what_is_too_deep_to_expand_stays_bytes(void **state) {
    (void)state;
    sb_buf b = new_buf(), inner = new_buf(), event = new_buf();
    const sb_describe_opts expand = {.max_bytes = 4, .expand = true};
    static const uint32_t outer[] = {SB_NODE_EXPERIMENTAL_TYPE, SB_GRAPH_NODE, SB_EVENT_GRAPH_DEF};
    sb_err err;
    for (size_t level = 0; level < 98 + SB_COUNT(outer); level++) {
        sb_buf_clear(&b);
        sb_pb_add_bytes(&b, level < 98 ? SB_FULL_TYPE_ARGS : outer[level - 98],
                        sb_buf_slice(&inner));
        sb_buf_clear(&inner);
        sb_buf_add_slice(&inner, sb_buf_slice(&b));
    }
    sb_pb_add_int(&event, SB_EVENT_STEP, 7);
    sb_buf_add_slice(&event, sb_buf_slice(&inner));
    sb_buf_clear(&b);
    assert_ok(sb_describe(&b, SB_MSG_EVENT, sb_buf_slice(&event), &expand, &err), &err);
    sb_slice want = SB_LIT("{\"step\":\"7\",\"graph_def\":{\"bytes\":");
    assert_true(sb_slice_starts(sb_buf_slice(&b), want));
    sb_buf_fini(&b);
    sb_buf_fini(&inner);
    sb_buf_fini(&event);
}

static void output_over_its_cap_is_a_limit(void **state) {
    (void)state;
    sb_buf b;
    sb_err err = {0};
    sb_buf_init(&b, &sb_alloc_libc, 10);
    sb_slice event = SB_LIT("\x10\x07\x1a\x0d"
                            "brain.Event:2");
    assert_int_equal(sb_describe(&b, SB_MSG_EVENT, event, NULL, &err), SB_LIMIT);
    sb_buf_fini(&b);
}

/* Brackets match outside of texts, and all of it is UTF-8. */
static void expect_sound(sb_slice json) {
    bool in_text = false;
    int depth = 0;
    for (size_t i = 0; i < json.n; i++) {
        uint8_t c = json.p[i];
        assert_true(c >= 0x20);
        if (in_text && c == '\\')
            i++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && (c == '{' || c == '['))
            depth++;
        else if (!in_text && (c == '}' || c == ']'))
            depth--;
        assert_true(depth >= 0);
    }
    assert_true(depth == 0 && !in_text && sb_utf8_valid(json));
}

static void describe_both(sb_slice payload) {
    const sb_describe_opts expand = {.max_bytes = 8, .expand = true};
    static const sb_message_id ids[] = {SB_MSG_EVENT, SB_MSG_VALUE,    SB_MSG_TENSOR,
                                        SB_MSG_NODE,  SB_MSG_PB_VALUE, SB_MSG_SESSION_START};
    for (size_t i = 0; i < SB_COUNT(ids); i++) {
        sb_buf b = new_buf();
        if (sb_describe(&b, ids[i], payload, &expand, NULL) == SB_OK)
            expect_sound(sb_buf_slice(&b));
        sb_buf_fini(&b);
    }
}

static void describe_fixture(const char *path, sb_slice payload, void *ud) {
    (void)path;
    size_t *bytes = ud;
    sb_buf b = new_buf();
    sb_err err;
    assert_ok(sb_describe(&b, SB_MSG_EVENT, payload, &(sb_describe_opts){64, true}, &err), &err);
    expect_sound(sb_buf_slice(&b));
    *bytes += b.n;
    sb_buf_fini(&b);
}

static void every_fixture_event_is_described(void **state) {
    (void)state;
    size_t bytes = 0;
    assert_int_equal(fixture_events(SB_FIXTURES, describe_fixture, &bytes), 918);
    assert_true(bytes > 100000);
}

static void damaged_messages_are_survived(void **state) {
    (void)state;
    uint8_t room[128];
    static const char *const good[] = {
        "0900001040fc54d941 1007 2a21 0a1f 0a046c6f7373 420a 0801 1200 22040000003f 4a0b 0a09 "
        "0a077363616c617273",
        "0a0e 0a0161 1209 11000000000000f03f 0a05 0a0162 1200",
        "2205 0a03 0a016e",
        "2a0b 0a09 0a0161 1204 1a026869",
    };
    for (size_t i = 0; i < SB_COUNT(good); i++) {
        sb_slice message = sb_test_bytes(room, sizeof room, good[i]);
        hostile_cuts(message, describe_both);
        hostile_flips(message, describe_both);
    }
    hostile_noise(11, 3000, describe_both);
}

static sb_status describe_with(const sb_alloc *alloc, void *ud) {
    (void)ud;
    uint8_t room[128];
    sb_buf b;
    sb_buf_init(&b, alloc, 1 << 16);
    /* A shape in two parts, so that merging needs memory too. */
    sb_slice tensor =
        sb_test_bytes(room, sizeof room, "1204 12020801 0801 1204 12020802 2206 616263646566");
    sb_status status = sb_describe(&b, SB_MSG_TENSOR, tensor, NULL, NULL);
    sb_buf_fini(&b);
    return status;
}

static void lack_of_memory_is_reported(void **state) {
    (void)state;
    sb_fault_alloc_sweep(describe_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_described),
        cmocka_unit_test(each_type_has_its_json),
        cmocka_unit_test(defaults_are_left_out_but_set_members_are_not),
        cmocka_unit_test(maps_are_objects),
        cmocka_unit_test(dynamic_values_are_plain_json),
        cmocka_unit_test(text_is_escaped_and_repaired),
        cmocka_unit_test(long_bytes_are_shortened),
        cmocka_unit_test(messages_in_bytes_are_expanded),
        cmocka_unit_test(merged_parts_and_the_last_member_count),
        cmocka_unit_test(unknown_and_foreign_fields_are_left_out),
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(what_is_too_deep_to_expand_stays_bytes),
        cmocka_unit_test(output_over_its_cap_is_a_limit),
        cmocka_unit_test(every_fixture_event_is_described),
        cmocka_unit_test(damaged_messages_are_survived),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
