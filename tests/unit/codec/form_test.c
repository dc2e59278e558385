/* form_test.c: an event of a known form is read as the plain way reads it, and nothing else passes
 * for it. */
#include "codec/form.h"

#include <math.h>

#include "codec/event.h"
#include "codec/plain_int.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "hostile.h"

typedef enum style { TORCH, TF2, TF2_DOUBLE, TYPED } style;

static void add_tensor(sb_buf *b, style how, double x) {
    size_t tensor = sb_pb_begin(b, SB_VALUE_TENSOR, 16);
    bool is_double = how == TF2_DOUBLE;
    sb_pb_add_int_nz(b, SB_TENSOR_DTYPE, is_double ? SB_DOUBLE : SB_FLOAT);
    sb_pb_add_bytes(b, SB_TENSOR_TENSOR_SHAPE, SB_LIT(""));
    uint8_t raw[8];
    if (is_double)
        sb_store64(raw, sb_double_bits(x));
    else
        sb_store32(raw, sb_float_bits((float)x));
    sb_pb_add_bytes(b, how == TYPED ? SB_TENSOR_FLOAT_VAL : SB_TENSOR_TENSOR_CONTENT,
                    sb_slice_of(raw, is_double ? 8 : 4));
    sb_pb_end(b, tensor);
}

static void add_value(sb_buf *b, style how, const char *tag, double x) {
    size_t value = sb_pb_begin(b, SB_SUMMARY_VALUE, 64);
    sb_pb_add_bytes(b, SB_VALUE_TAG, sb_slice_str(tag));
    if (how == TORCH)
        sb_pb_add_float(b, SB_VALUE_SIMPLE_VALUE, (float)x);
    else
        add_tensor(b, how, x);
    sb_metadata metadata = {.plugin_name = SB_LIT("scalars")};
    if (how == TF2 || how == TF2_DOUBLE) sb_metadata_add(b, SB_VALUE_METADATA, &metadata);
    sb_pb_end(b, value);
}

static sb_slice event_of(sb_buf *b, style how, const char *tag, double wall, int64_t step,
                         double x) {
    sb_buf_clear(b);
    sb_pb_add_double(b, SB_EVENT_WALL_TIME, wall);
    sb_pb_add_int_nz(b, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(b, SB_EVENT_SUMMARY, 64);
    add_value(b, how, tag, x);
    sb_pb_end(b, summary);
    return sb_buf_slice(b);
}

static sb_buf new_buf(void) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    return b;
}

/* What the plain way reads: the tag of a lone scalar, and its point. */
static bool plainly(sb_slice payload, sb_slice *tag, sb_form_point *out) {
    sb_event event;
    if (sb_event_read_plain(&event, payload) != SB_OK || event.what != SB_WHAT_SUMMARY)
        return false;
    sb_summary_walk values = sb_summary_over(event.body);
    sb_value value, second;
    if (sb_summary_next(&values, &value) != SB_OK || !sb_scalar_of(&value, &out->number, NULL))
        return false;
    if (sb_summary_next(&values, &second) != SB_END) return false;
    *tag = sb_value_tag(&value);
    out->wall_time = event.wall_time;
    out->step = event.step;
    return true;
}

static bool same_point(const sb_form_point *a, const sb_form_point *b) {
    return sb_double_bits(a->wall_time) == sb_double_bits(b->wall_time) && a->step == b->step &&
           sb_double_bits(a->number) == sb_double_bits(b->number);
}

static void events_of_a_form_read_as_the_plain_way_reads_them(void **state) {
    (void)state;
    static const double numbers[] = {0, -0.0, 1.5, -3e38, 1e-45, INFINITY, -INFINITY, (double)NAN};
    static const int64_t steps[] = {0, 1, 127, 128, 16383, 16384, 1 << 28, INT64_MAX};
    sb_buf b = new_buf();
    for (style how = TORCH; how <= TYPED; how++) {
        sb_form form;
        assert_true(sb_form_learn(&form, event_of(&b, how, "loss", 1.5, 3, 0.25)));
        for (size_t i = 0; i < SB_COUNT(numbers); i++)
            for (size_t k = 0; k < SB_COUNT(steps); k++) {
                sb_slice payload =
                    event_of(&b, how, "loss", 1e9 + numbers[i], steps[k], numbers[i]);
                sb_form_point got, truth;
                sb_slice tag;
                assert_true(sb_form_read(&form, payload, &got));
                assert_true(plainly(payload, &tag, &truth));
                assert_true(same_point(&got, &truth));
            }
        /* Ten bytes of step are rare enough for the plain way. */
        sb_form_point got;
        assert_false(sb_form_read(&form, event_of(&b, how, "loss", 1, -1, 2), &got));
        assert_false(sb_form_read(&form, event_of(&b, how, "less", 1, 1, 2), &got));
        assert_false(sb_form_read(&form, event_of(&b, how, "losses", 1, 1, 2), &got));
    }
    sb_buf_fini(&b);
}

static const sb_form *the_form;

/* Damaged in any way: either it is not of the form, or the plain way reads the same. */
static void is_read_plainly_or_not_at_all(sb_slice payload) {
    sb_form_point got, truth;
    sb_slice tag;
    if (!sb_form_read(the_form, payload, &got)) return;
    assert_true(plainly(payload, &tag, &truth));
    assert_slice_is(tag, "some/loss");
    assert_true(same_point(&got, &truth));
}

static void damage_never_gives_another_point_than_the_plain_way(void **state) {
    (void)state;
    sb_buf b = new_buf();
    for (style how = TORCH; how <= TYPED; how++) {
        sb_form form;
        sb_slice payload = event_of(&b, how, "some/loss", 1e9, 300, 0.25);
        assert_true(sb_form_learn(&form, payload));
        the_form = &form;
        hostile_cuts(payload, is_read_plainly_or_not_at_all);
        hostile_flips(payload, is_read_plainly_or_not_at_all);
    }
    sb_buf_fini(&b);
}

/* Each is read by the plain way, or not; a form of it would know less than that. */
static void unusual_events_have_no_form(void **state) {
    (void)state;
    static const struct {
        const char *what, *hex;
    } events[] = {
        {"no time", "1003 2a0c 0a0a 0a03616263 1500000000"},
        {"step before time", "1003 09 0000000000000000 2a0c 0a0a 0a03616263 1500000000"},
        {"two steps", "09 0000000000000000 1003 1004 2a0c 0a0a 0a03616263 1500000000"},
        {"something behind the summary",
         "09 0000000000000000 2a0c 0a0a 0a03616263 1500000000 1003"},
        {"two values",
         "09 0000000000000000 2a18 0a0a 0a03616263 1500000000 0a0a 0a03616263 1500000000"},
        {"two numbers", "09 0000000000000000 2a11 0a0f 0a03616263 1500000000 1500000000"},
        {"two tags", "09 0000000000000000 2a11 0a0f 0a03616263 0a03616263 1500000000"},
        {"a node name", "09 0000000000000000 2a0f 0a0d 0a03616263 1500000000 3a0161"},
        {"an unknown field", "09 0000000000000000 2a0f 0a0d 0a03616263 1500000000 520161"},
        {"an image", "09 0000000000000000 2a09 0a07 0a03616263 2200"},
        {"no number", "09 0000000000000000 2a07 0a05 0a03616263"},
        {"an integer tensor", "09 0000000000000000 2a0f 0a0d 0a03616263 4206 0803 1200 3801"},
        {"half a number", "09 0000000000000000 2a0a 0a08 0a03616263 150000"},
        {"nothing", ""},
    };
    uint8_t room[128];
    for (size_t i = 0; i < SB_COUNT(events); i++) {
        sb_form form;
        if (sb_form_learn(&form, sb_test_bytes(room, sizeof room, events[i].hex)))
            fail_msg("%s has a form", events[i].what);
        assert_int_equal(form.n, 0);
    }
    sb_form form;
    const char *usual = "09 0000000000000000 2a0c 0a0a 0a03616263 1500000000";
    assert_true(sb_form_learn(&form, sb_test_bytes(room, sizeof room, usual)));
}

static void a_tag_too_long_for_a_form_has_none(void **state) {
    (void)state;
    char tag[SB_FORM_MOST + 1];
    sb_buf b = new_buf();
    size_t longest = 0;
    for (size_t n = 1; n <= SB_FORM_MOST; n++) {
        memset(tag, 'a', n);
        tag[n] = 0;
        sb_form form;
        sb_form_point got;
        sb_slice payload = event_of(&b, TF2, tag, 1, 2, 3);
        if (sb_form_learn(&form, payload)) {
            longest = n;
            assert_true(sb_form_read(&form, payload, &got));
        }
    }
    assert_in_range(longest, 40, SB_FORM_MOST - 1);
    sb_buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_a_form_read_as_the_plain_way_reads_them),
        cmocka_unit_test(damage_never_gives_another_point_than_the_plain_way),
        cmocka_unit_test(unusual_events_have_no_form),
        cmocka_unit_test(a_tag_too_long_for_a_form_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
