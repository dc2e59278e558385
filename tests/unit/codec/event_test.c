/* event_test.c: events are read as protobuf means them, and damaged ones are survived. */
#include "codec/event.h"

#include "base/bytes.h"
#include "unit/codec/fixtures.h"
#include "unit/codec/hostile.h"
#include "unit/codec/touch.h"
#include "base/banned.h"

/* The forms of the specification, at wall_time 1700000000.25, step 7, tag "loss", value 0.5. */
#define HEAD "0900001040fc54d941 1007 "
static const char *const scalar_forms[] = {
    HEAD "2a0d 0a0b 0a046c6f7373 150000003f",
    HEAD "2a1f 0a1d 0a046c6f7373 4208 0801 2a040000003f 4a0b 0a09 0a077363616c617273",
    HEAD "2a23 0a21 0a046c6f7373 420c 0802 3208000000000000e03f 4a0b 0a09 0a077363616c617273",
    HEAD "2a21 0a1f 0a046c6f7373 420a 0801 1200 22040000003f 4a0b 0a09 0a077363616c617273",
    HEAD "2a23 0a21 0a046c6f7373 420a 0801 1200 2a040000003f 4a0d 0a09 0a077363616c617273 2001",
};

static sb_event read_hex(const char *hex) {
    static uint8_t room[512];
    sb_event event;
    assert_int_equal(sb_event_read(&event, sb_test_bytes(room, sizeof room, hex)), SB_OK);
    return event;
}

static sb_status status_of(const char *hex) {
    uint8_t room[512];
    sb_event event;
    return sb_event_read(&event, sb_test_bytes(room, sizeof room, hex));
}

static bool looks_valid(const char *hex) {
    uint8_t room[512];
    return sb_event_looks_valid(sb_test_bytes(room, sizeof room, hex));
}

static void every_scalar_form_is_read(void **state) {
    (void)state;
    for (size_t i = 0; i < SB_COUNT(scalar_forms); i++) {
        sb_event event = read_hex(scalar_forms[i]);
        assert_true(event.wall_time == 1700000000.25);
        assert_int_equal(event.step, 7);
        assert_int_equal(event.what, SB_WHAT_SUMMARY);
        sb_summary_walk values = sb_summary_over(event.body);
        sb_value value;
        double x = 0;
        assert_int_equal(sb_summary_next(&values, &value), SB_OK);
        assert_slice_is(value.tag, "loss");
        assert_true(sb_scalar_of(&value, &x, NULL));
        assert_true(x == 0.5);
        assert_int_equal(sb_summary_next(&values, &value), SB_END);
    }
}

static void header_tells_version_and_writer(void **state) {
    (void)state;
    sb_event event = read_hex("0900000040fc54d941 1a0d627261696e2e4576656e743a32 52050a0377686f");
    assert_int_equal(event.what, SB_WHAT_FILE_VERSION);
    assert_slice_is(event.body, "brain.Event:2");
    assert_slice_is(event.source_writer, "who");
}

static void nothing_is_an_event_without_anything(void **state) {
    (void)state;
    sb_event event;
    assert_int_equal(sb_event_read(&event, sb_slice_of(NULL, 0)), SB_OK);
    assert_int_equal(event.what, SB_WHAT_NONE);
    assert_int_equal(event.step, 0);
    assert_true(event.wall_time == 0);
    assert_int_equal(event.body.n, 0);
}

static void negative_and_large_steps_are_kept(void **state) {
    (void)state;
    assert_int_equal(read_hex("10ffffffffffffffffff01").step, -1);
    assert_int_equal(read_hex("10ffffffffffffffff7f").step, INT64_MAX);
    assert_int_equal(read_hex("1080808080808080808001").step, INT64_MIN);
    assert_int_equal(read_hex("108700").step, 7); /* over-long */
}

static void last_member_of_the_oneof_wins(void **state) {
    (void)state;
    sb_event event = read_hex("2a020a00 1a0161 3a020801");
    assert_int_equal(event.what, SB_WHAT_SESSION_LOG);
    assert_int_equal(event.body.n, 2);
    event = read_hex("1a0161 2a00");
    assert_int_equal(event.what, SB_WHAT_SUMMARY);
    assert_int_equal(event.body.n, 0);
    event = read_hex("1007 1008"); /* and the last of a number's values */
    assert_int_equal(event.step, 8);
}

static void unknown_and_foreign_fields_are_stepped_over(void **state) {
    (void)state;
    sb_event event = read_hex("0d00000000 15000000ff 2805 f206 03616263 a30608 01a406 1007");
    assert_int_equal(event.step, 7);
    assert_int_equal(event.what, SB_WHAT_NONE);
    assert_true(event.wall_time == 0);
}

static void order_of_fields_does_not_matter(void **state) {
    (void)state;
    sb_event event = read_hex("1a0161 1007 0900001040fc54d941");
    assert_int_equal(event.what, SB_WHAT_FILE_VERSION);
    assert_int_equal(event.step, 7);
    assert_true(event.wall_time == 1700000000.25);
}

static void malformed_events_are_corrupt(void **state) {
    (void)state;
    assert_int_equal(status_of("09000010"), SB_CORRUPT);
    assert_int_equal(status_of("10"), SB_CORRUPT);
    assert_int_equal(status_of("10ffffffffffffffffffff01"), SB_CORRUPT);
    assert_int_equal(status_of("2a05 0a"), SB_CORRUPT);
    assert_int_equal(status_of("2a"), SB_CORRUPT);
    assert_int_equal(status_of("2affffffffffffffffff01"), SB_CORRUPT);
    assert_int_equal(status_of("00"), SB_CORRUPT);
    assert_int_equal(status_of("0c"), SB_CORRUPT);
    assert_int_equal(status_of("5202 0a05"), SB_CORRUPT);
}

static void expect_valid(const char *path, sb_slice payload, void *ud) {
    (void)path;
    size_t *kinds = ud;
    sb_event event;
    assert_int_equal(sb_event_read(&event, payload), SB_OK);
    assert_true(sb_event_looks_valid(payload));
    kinds[event.what]++;
}

static void every_fixture_event_reads_and_looks_valid(void **state) {
    (void)state;
    size_t kinds[16] = {0};
    /* 919 records, one of them with a flipped bit. */
    assert_int_equal(fixture_events(SB_FIXTURES, expect_valid, kinds), 918);
    assert_int_equal(kinds[SB_WHAT_FILE_VERSION], 30);
    assert_int_equal(kinds[SB_WHAT_GRAPH_DEF], 2);
    assert_int_equal(kinds[SB_WHAT_META_GRAPH_DEF], 1);
    assert_int_equal(kinds[SB_WHAT_SESSION_LOG], 2);
    assert_int_equal(kinds[SB_WHAT_TAGGED_RUN_METADATA], 3);
    assert_int_equal(kinds[SB_WHAT_NONE], 0);
}

static void session_log_is_read(void **state) {
    (void)state;
    sb_event event = read_hex("102a 3a0c 0801 12046c6f6773 1a026869");
    sb_session_log log;
    assert_int_equal(sb_session_log_read(&log, event.body), SB_OK);
    assert_int_equal(log.status, SB_SESSION_STATUS_START);
    assert_slice_is(log.checkpoint_path, "logs");
    assert_slice_is(log.message, "hi");
    assert_int_equal(sb_session_log_read(&log, SB_LIT("\x12\x05")), SB_CORRUPT);
}

static void log_message_and_run_metadata_are_read(void **state) {
    (void)state;
    sb_log_message message;
    assert_int_equal(sb_log_message_read(&message, SB_LIT("\x08\x1e\x12\x03uhm")), SB_OK);
    assert_int_equal(message.level, SB_LOG_LEVEL_WARN);
    assert_slice_is(message.message, "uhm");
    sb_tagged_run_metadata tagged;
    sb_slice body = SB_LIT("\x0a\x05step1\x12\x02"
                           "ab");
    assert_int_equal(sb_tagged_run_metadata_read(&tagged, body), SB_OK);
    assert_slice_is(tagged.tag, "step1");
    assert_slice_is(tagged.run_metadata, "ab");
}

static void random_bytes_do_not_look_like_events(void **state) {
    (void)state;
    assert_false(looks_valid(""));             /* nothing known in it */
    assert_false(looks_valid("f20603616263")); /* unknown fields only */
    assert_false(looks_valid("0800"));         /* wall_time as a varint */
    assert_false(looks_valid("1007 1500000000"));
    assert_false(looks_valid("1007 2a04 0a020aff")); /* the Value inside is cut */
    assert_false(looks_valid("1007 2a04 0a021001")); /* simple_value as a varint */
    assert_true(looks_valid("1007"));
    assert_true(looks_valid("1007 f20603616263"));
    for (size_t i = 0; i < SB_COUNT(scalar_forms); i++) assert_true(looks_valid(scalar_forms[i]));
}

/* ---- hostile --------------------------------------------------------------------------------- */

static void cut_events_are_survived(void **state) {
    (void)state;
    uint8_t room[512];
    for (size_t i = 0; i < SB_COUNT(scalar_forms); i++)
        hostile_cuts(sb_test_bytes(room, sizeof room, scalar_forms[i]), touch_event);
}

static void flipped_events_are_survived(void **state) {
    (void)state;
    uint8_t room[512];
    for (size_t i = 0; i < SB_COUNT(scalar_forms); i++)
        hostile_flips(sb_test_bytes(room, sizeof room, scalar_forms[i]), touch_event);
}

static void noise_is_survived(void **state) {
    (void)state;
    hostile_noise(1, 20000, touch_event);
}

/* Each small fixture event cut and flipped; the large ones only walked through. */
static void hurt(const char *path, sb_slice payload, void *ud) {
    (void)path;
    size_t *hurt_count = ud;
    touch_event(payload);
    if (payload.n > 400 || ++*hurt_count % 16) return;
    hostile_cuts(payload, touch_event);
    hostile_flips(payload, touch_event);
}

static void damaged_fixture_events_are_survived(void **state) {
    (void)state;
    size_t hurt_count = 0;
    assert_true(fixture_events(SB_FIXTURES, hurt, &hurt_count) > 900);
    assert_true(hurt_count > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_form_is_read),
        cmocka_unit_test(header_tells_version_and_writer),
        cmocka_unit_test(nothing_is_an_event_without_anything),
        cmocka_unit_test(negative_and_large_steps_are_kept),
        cmocka_unit_test(last_member_of_the_oneof_wins),
        cmocka_unit_test(unknown_and_foreign_fields_are_stepped_over),
        cmocka_unit_test(order_of_fields_does_not_matter),
        cmocka_unit_test(malformed_events_are_corrupt),
        cmocka_unit_test(every_fixture_event_reads_and_looks_valid),
        cmocka_unit_test(session_log_is_read),
        cmocka_unit_test(log_message_and_run_metadata_are_read),
        cmocka_unit_test(random_bytes_do_not_look_like_events),
        cmocka_unit_test(cut_events_are_survived),
        cmocka_unit_test(flipped_events_are_survived),
        cmocka_unit_test(noise_is_survived),
        cmocka_unit_test(damaged_fixture_events_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
