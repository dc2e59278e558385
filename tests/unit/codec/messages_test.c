/* messages_test.c: the tables hang together, and validation by them holds. */
#include "codec/proto/messages.h"

#include "codec/proto/scan_int.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static void numbers_are_those_of_the_formats(void **state) {
    (void)state;
    assert_int_equal(SB_EVENT_WALL_TIME, 1);
    assert_int_equal(SB_EVENT_SOURCE_METADATA, 10);
    assert_int_equal(SB_VALUE_SIMPLE_VALUE, 2);
    assert_int_equal(SB_VALUE_METADATA, 9);
    assert_int_equal(SB_TENSOR_TENSOR_CONTENT, 4);
    assert_int_equal(SB_SESSION_STATUS_START, 1);
    assert_int_equal(SB_DATA_CLASS_BLOB_SEQUENCE, 3);
}

static void tables_are_in_order_and_small_enough(void **state) {
    (void)state;
    for (size_t id = 1; id < SB_MSG_COUNT; id++) {
        const sb_message_info *info = sb_message_get((sb_message_id)id);
        assert_true(info->count > 0 && info->count <= SB_SCAN_MAX_FIELDS);
        for (size_t i = 0; i < info->count; i++) {
            assert_true(info->fields[i].number > (i ? info->fields[i - 1].number : 0));
            assert_true(info->fields[i].name[0] != 0);
        }
    }
}

static void sub_messages_exist(void **state) {
    (void)state;
    for (size_t id = 1; id < SB_MSG_COUNT; id++) {
        const sb_message_info *info = sb_message_get((sb_message_id)id);
        for (size_t i = 0; i < info->count; i++) {
            const sb_field_info *field = &info->fields[i];
            if (field->type == SB_TYPE_MESSAGE) {
                assert_in_range(field->sub, 1, SB_MSG_COUNT - 1);
            } else if (field->type == SB_TYPE_ENUM) {
                assert_in_range(field->sub, 1, SB_ENUM_COUNT - 1);
            } else {
                assert_int_equal(field->sub, 0);
            }
            if (field->label != SB_LABEL_MAP) continue;
            const sb_message_info *entry = sb_message_get((sb_message_id)field->sub);
            assert_int_equal(entry->count, 2);
            assert_string_equal(entry->fields[0].name, "key");
            assert_string_equal(entry->fields[1].name, "value");
        }
    }
}

static void messages_and_fields_are_found(void **state) {
    (void)state;
    const sb_message_info *event = sb_message_get(SB_MSG_EVENT);
    assert_string_equal(sb_field_by_number(event, 2)->name, "step");
    assert_null(sb_field_by_number(event, 99));
    assert_int_equal(sb_field_by_name(event, SB_LIT("summary"))->number, SB_EVENT_SUMMARY);
    assert_null(sb_field_by_name(event, SB_LIT("summar")));
    assert_int_equal(sb_message_get(SB_MSG_NONE)->count, 0);
    assert_int_equal(sb_message_get((sb_message_id)9999)->count, 0);
}

static void enumerations_are_found_both_ways(void **state) {
    (void)state;
    int32_t number = -1;
    assert_string_equal(sb_enum_name(SB_ENUM_DATA_TYPE, 1), "DT_FLOAT");
    assert_string_equal(sb_enum_name(SB_ENUM_DATA_TYPE, 0), "DT_INVALID");
    assert_string_equal(sb_enum_name(SB_ENUM_DATA_TYPE, 133), "DT_FLOAT4_E2M1FN_REF");
    assert_null(sb_enum_name(SB_ENUM_DATA_TYPE, 100));
    assert_null(sb_enum_name(SB_ENUM_DATA_TYPE, 77));
    assert_true(sb_enum_number(SB_ENUM_LOG_LEVEL, SB_LIT("FATAL"), &number));
    assert_int_equal(number, 50);
    assert_false(sb_enum_number(SB_ENUM_LOG_LEVEL, SB_LIT("fatal"), &number));
    assert_string_equal(sb_enum_name(SB_ENUM_SESSION_STATUS, 3), "CHECKPOINT");
}

static bool valid(sb_message_id id, const char *hex, uint32_t depth) {
    uint8_t room[256];
    return sb_message_valid(id, sb_test_bytes(room, sizeof room, hex), depth);
}

static void validation_sees_wrong_wire_types(void **state) {
    (void)state;
    assert_true(valid(SB_MSG_TENSOR, "0801 12041202 0804 2a04 0000803f", 9));
    assert_true(valid(SB_MSG_TENSOR, "0801 2d0000803f", 9)); /* not packed */
    assert_true(valid(SB_MSG_TENSOR, "0801 3a03 01ff01", 9));
    assert_false(valid(SB_MSG_TENSOR, "0801 2a03 000080", 9)); /* not whole floats */
    assert_false(valid(SB_MSG_TENSOR, "0801 3a02 01ff", 9));   /* the last varint is cut */
    assert_false(valid(SB_MSG_TENSOR, "0801 3a0b ffffffffffffffffffff01", 9)); /* too long */
    assert_false(valid(SB_MSG_TENSOR, "0801 2801", 9));       /* a float as a varint */
    assert_false(valid(SB_MSG_TENSOR, "0a01 61", 9));         /* a number as text */
    assert_false(valid(SB_MSG_TENSOR, "0801 12021203", 9));   /* inside the shape */
    assert_true(valid(SB_MSG_TENSOR, "0801 f20602 ffff", 9)); /* unknown fields are free */
}

static void validation_stops_at_its_depth(void **state) {
    (void)state;
    /* A list in a list in a list: Value{6: ListValue{1: Value{...}}}. */
    const char *nested = "3206 0a04 3202 0a00";
    assert_true(valid(SB_MSG_PB_VALUE, nested, 4));
    assert_false(valid(SB_MSG_PB_VALUE, nested, 3));
}

static void validate_all(sb_slice input) {
    for (size_t id = 0; id < SB_MSG_COUNT; id++)
        (void)sb_message_valid((sb_message_id)id, input, 20);
}

static void noise_is_survived_by_every_table(void **state) {
    (void)state;
    hostile_noise(2, 2000, validate_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_formats),
        cmocka_unit_test(tables_are_in_order_and_small_enough),
        cmocka_unit_test(sub_messages_exist),
        cmocka_unit_test(messages_and_fields_are_found),
        cmocka_unit_test(enumerations_are_found_both_ways),
        cmocka_unit_test(validation_sees_wrong_wire_types),
        cmocka_unit_test(validation_stops_at_its_depth),
        cmocka_unit_test(noise_is_survived_by_every_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
