/* layout_test.c: the custom scalars' layout. */
#include "support/writer_bed.h"

#include "base/banned.h"

#define CHART(name, its_tags, count, margin)                                                       \
    SB_INIT(sb_chart, .title = (name), .tags = (its_tags), .tag_count = (count),                   \
            .is_margin = (margin))
#define CATEGORY(name, its_charts, count, is_closed)                                               \
    SB_INIT(sb_chart_category, .title = (name), .charts = (its_charts), .chart_count = (count),    \
            .closed = (is_closed))

static const char *const lines[] = {"loss.*", "x"};
static const char *const band[] = {"v", "l", "u", "v2", "l2", "u2"};
static const sb_chart charts[] = {CHART("all", lines, 2, false), CHART("band", band, 6, true)};
static const sb_chart_category category = CATEGORY("losses", charts, 2, true);

/* What Google's library makes of this layout. */
#define LAYOUT_EVENT                                                                               \
    "2a7b0a790a18637573746f6d5f7363616c6172735f5f636f6e6669675f5f424908071200424312410a066c6f7373" \
    "657312120a03616c6c120b0a066c6f73732e2a0a017812210a0462616e641a190a090a017612016c1a01750a0c0a" \
    "02763212026c321a02753218014a120a100a0e637573746f6d5f7363616c617273"

static void the_layout_is_the_same_in_every_style(void **state) {
    for (int style = 0; style < 4; style++) {
        char name[32];
        snprintf(name, sizeof name, "style%d", style);
        bed b = bed_open(*state, name, (sb_style)style);
        assert_int_equal(sb_custom_scalars(b.w, &category, 1), SB_OK);
        assert_int_equal(sb_custom_scalars(b.w, NULL, 0), SB_OK);
        bed_close(&b);
        assert_event_bytes(&b, 0, LAYOUT_EVENT);
        bed_free(&b);
    }
}

static void senseless_calls_are_refused(void **state) {
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    sb_writer *w = b.w;
    const char *const none[] = {NULL};
    const char *const garbled[] = {"\xff"};
    const sb_chart bad[] = {
        CHART("x", band, 4, true),  CHART("x", band, 0, true),     CHART("x", NULL, 1, false),
        CHART("x", none, 1, false), CHART("x", garbled, 1, false), CHART("\xff", lines, 1, false),
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        const sb_chart_category row = CATEGORY("c", &bad[i], 1, false);
        assert_refused(w, sb_custom_scalars(w, &row, 1), SB_INVALID, "custom scalars");
    }
    const sb_chart_category missing = CATEGORY("c", NULL, 1, false),
                            endless = CATEGORY("c", charts, SIZE_MAX, false);
    assert_refused(w, sb_custom_scalars(w, NULL, 1), SB_INVALID, "categories");
    assert_refused(w, sb_custom_scalars(w, &missing, 1), SB_INVALID, "charts");
    assert_refused(w, sb_custom_scalars(w, &endless, 1), SB_LIMIT, "too many");
    assert_int_equal(sb_custom_scalars(NULL, &category, 1), SB_INVALID);
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_layout(sb_writer *w) {
    return sb_custom_scalars(w, &category, 1);
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF1, make_layout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(the_layout_is_the_same_in_every_style),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
