/* draw_test.c: what is in sight, edges across borders, auxiliary boxes, constants, marks. */
#include "graph/drawing/draw.h"

#include <stdio.h>

#include "codec/proto/proto.h"
#include "unit/graph/model_bed.h"
#include "base/banned.h"

#define NODE(name, op, rest) "node { name: '" name "' op: '" op "' " rest " }\n"
#define NET                                                                                        \
    NODE("x", "Placeholder", "")                                                                   \
    NODE("net/a/m", "MatMul", "input: 'x'")                                                        \
    NODE("net/a/r", "Relu", "input: 'net/a/m'")                                                    \
    NODE("net/b/m", "MatMul", "input: 'net/a/r' input: 'net/b/k'")                                 \
    NODE("net/b/k", "Const", "")                                                                   \
    NODE("loss", "Sum", "input: 'net/b/m' input: '^net/a/m'")

static sb_drawing draw(model_bed *bed, const char *const *open, size_t n, sb_draw_ask ask) {
    uint32_t boxes[16];
    sb_drawing d;
    sb_err err;
    for (size_t i = 0; i < n; i++) boxes[i] = bed_box(bed, open[i]);
    ask.open = boxes;
    ask.open_count = n;
    assert_ok(sb_draw(&d, bed->m, &ask, &bed->arena, &err), &err);
    return d;
}

static const sb_drawn_box *drawn(const model_bed *bed, const sb_drawing *d, const char *name) {
    uint32_t box = bed_box(bed, name);
    for (uint32_t i = 0; i < d->box_count; i++)
        if (d->boxes[i].box == box) return &d->boxes[i];
    return NULL;
}

/* Lines between two names; behind a port the name is that of the box outside. */
static const sb_drawn_line *line(const model_bed *bed, const sb_drawing *d, const char *from,
                                 const char *to, const char *level) {
    for (uint32_t i = 0; i < d->line_count; i++) {
        const sb_drawn_line *l = &d->lines[i];
        uint32_t in = l->level == SB_BOX_NONE ? SB_BOX_ROOT : d->boxes[l->level].box;
        if (d->boxes[l->from].box == bed_box(bed, from) &&
            d->boxes[l->to].box == bed_box(bed, to) &&
            in == (level[0] ? bed_box(bed, level) : SB_BOX_ROOT))
            return l;
    }
    return NULL;
}

static void closed_scopes_have_their_edges_bridged(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NET);
    sb_drawing d = draw(&bed, NULL, 0, (sb_draw_ask){0});
    assert_int_equal(d.box_count, 3);
    assert_int_equal(d.line_count, 2);
    const sb_drawn_line *out = line(&bed, &d, "net", "loss", "");
    assert_non_null(out);
    assert_int_equal(out->count, 2);
    assert_false(out->flags & SB_LINE_CONTROL); /* one of the two carries data */
    assert_true(drawn(&bed, &d, "x")->y < drawn(&bed, &d, "net")->y);
    assert_true(drawn(&bed, &d, "net")->y < drawn(&bed, &d, "loss")->y);
    bed_close(&bed);
}

static void edges_into_open_scopes_come_in_pieces_that_meet_at_the_border(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NET);
    static const char *const open[] = {"net", "net/a"};
    sb_drawing d = draw(&bed, open, 2, (sb_draw_ask){0});
    const sb_drawn_line *outer = line(&bed, &d, "x", "net", "");
    const sb_drawn_line *middle = line(&bed, &d, "x", "net/a", "net");
    const sb_drawn_line *inner = line(&bed, &d, "x", "net/a/m", "net/a");
    assert_non_null(outer);
    assert_non_null(middle);
    assert_non_null(inner);
    assert_true(middle->flags & SB_LINE_FROM_PORT);
    const sb_drawn_box *net = drawn(&bed, &d, "net"), *a = drawn(&bed, &d, "net/a");
    const sb_layout_point *end = &d.points[outer->first_point + outer->point_count - 1];
    const sb_layout_point *begin = &d.points[middle->first_point];
    assert_true(end->x == begin->x);
    assert_true(begin->y == net->y);
    end = &d.points[middle->first_point + middle->point_count - 1];
    begin = &d.points[inner->first_point];
    assert_true(end->x == begin->x && begin->y == a->y);
    /* boxes lie within the open box around them */
    assert_true(a->x >= net->x && a->x + a->w <= net->x + net->w);
    assert_true(a->y >= net->y && a->y + a->h <= net->y + net->h);
    const sb_drawn_box *m = drawn(&bed, &d, "net/a/m");
    assert_true(m->x >= a->x && m->x + m->w <= a->x + a->w);
    /* a box whose scope is closed is not drawn */
    assert_null(drawn(&bed, &d, "net/b/m"));
    bed_close(&bed);
}

static void constants_are_counted_at_what_they_feed_or_drawn(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NET);
    static const char *const open[] = {"net", "net/b"};
    sb_drawing d = draw(&bed, open, 2, (sb_draw_ask){0});
    assert_int_equal(drawn(&bed, &d, "net/b/m")->constants, 1);
    assert_true(drawn(&bed, &d, "net/b/k")->flags & SB_DRAWN_AUXILIARY);
    d = draw(&bed, open, 2, (sb_draw_ask){.constants = true});
    assert_int_equal(drawn(&bed, &d, "net/b/m")->constants, 0);
    assert_non_null(line(&bed, &d, "net/b/k", "net/b/m", "net/b"));
    bed_close(&bed);
}

static void a_box_that_many_use_is_auxiliary_unless_it_is_wanted(void **state) {
    (void)state;
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 20);
    sb_buf_add_str(&text, NODE("step", "Variable", ""));
    for (int i = 0; i < 20; i++)
        sb_buf_printf(&text, "node { name: 'n%c' op: 'Add' input: 'n%c' input: 'step' }\n", 'a' + i,
                      'a' + i - 1);
    sb_buf_add_byte(&text, 0);
    model_bed bed;
    bed_open(&bed, (const char *)text.p);
    sb_drawing d = draw(&bed, NULL, 0, (sb_draw_ask){.extract = true});
    assert_true(drawn(&bed, &d, "step")->flags & SB_DRAWN_AUXILIARY);
    assert_int_equal(drawn(&bed, &d, "step")->uses, 20);
    assert_int_equal(d.line_count, 19);
    uint32_t step = bed_box(&bed, "step");
    d = draw(&bed, NULL, 0, (sb_draw_ask){.extract = true, .to_main = &step, .to_main_count = 1});
    assert_false(drawn(&bed, &d, "step")->flags & SB_DRAWN_AUXILIARY);
    uint32_t nb = bed_box(&bed, "nb");
    d = draw(&bed, NULL, 0, (sb_draw_ask){.to_side = &nb, .to_side_count = 1});
    assert_true(drawn(&bed, &d, "nb")->flags & SB_DRAWN_AUXILIARY);
    assert_false(drawn(&bed, &d, "step")->flags & SB_DRAWN_AUXILIARY);
    bed_close(&bed);
    sb_buf_fini(&text);
}

static void members_of_an_ungrouped_series_stand_in_its_parent(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NODE("s/a_0", "Add", "") NODE("s/a_1", "Add", "input: 's/a_0'")
                       NODE("s/a_2", "Add", "input: 's/a_1'") NODE("s/a_3", "Add", "input: 's/a_2'")
                           NODE("s/a_4", "Add", "input: 's/a_3'"));
    static const char *const open[] = {"s"};
    sb_drawing d = draw(&bed, open, 1, (sb_draw_ask){0});
    assert_int_equal(d.box_count, 2);
    assert_non_null(drawn(&bed, &d, "s/a_[0-4]"));
    uint32_t series = bed_box(&bed, "s/a_[0-4]");
    d = draw(&bed, open, 1, (sb_draw_ask){.ungrouped = &series, .ungrouped_count = 1});
    assert_null(drawn(&bed, &d, "s/a_[0-4]"));
    assert_non_null(line(&bed, &d, "s/a_3", "s/a_4", "s"));
    static const char *const both[] = {"s", "s/a_[0-4]"};
    d = draw(&bed, both, 2, (sb_draw_ask){0});
    assert_non_null(line(&bed, &d, "s/a_3", "s/a_4", "s/a_[0-4]"));
    bed_close(&bed);
}

static void marks_are_told_of_boxes_and_lines(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NET);
    uint8_t *marked = sb_arena_zeroed(&bed.arena, bed.m->box_count, 1);
    marked[bed_box(&bed, "x")] = marked[bed_box(&bed, "net/a/m")] = 1;
    sb_drawing d = draw(&bed, NULL, 0, (sb_draw_ask){.marked = marked});
    assert_true(drawn(&bed, &d, "net")->flags & SB_DRAWN_MARKED);
    assert_false(drawn(&bed, &d, "loss")->flags & SB_DRAWN_MARKED);
    assert_true(line(&bed, &d, "x", "net", "")->flags & SB_LINE_MARKED);
    assert_false(line(&bed, &d, "net", "loss", "")->flags & SB_LINE_MARKED);
    bed_close(&bed);
}

/* A graph with one scope of so many children. */
static model_bed many_children(uint32_t n, uint32_t level_most) {
    model_bed bed;
    sb_buf_init(&bed.bytes, &sb_alloc_libc, 64 << 20);
    for (uint32_t i = 0; i < n; i++) {
        char text[32];
        size_t node = sb_pb_begin(&bed.bytes, SB_GRAPH_NODE, 64);
        int length = snprintf(text, sizeof text, "a/n%ux", i);
        sb_pb_add_bytes(&bed.bytes, SB_NODE_NAME, sb_slice_of(text, (size_t)length));
        length = snprintf(text, sizeof text, "Op%u", i % 7);
        sb_pb_add_bytes(&bed.bytes, SB_NODE_OP, sb_slice_of(text, (size_t)length));
        length = snprintf(text, sizeof text, "a/n%ux", i / 2);
        sb_pb_add_bytes(&bed.bytes, SB_NODE_INPUT, sb_slice_of(text, (size_t)length));
        sb_pb_end(&bed.bytes, node);
    }
    sb_err err;
    sb_model_ask ask = {
        .alloc = &sb_alloc_libc, .graph = sb_buf_slice(&bed.bytes), .level_most = level_most};
    assert_ok(sb_model_new(&bed.m, &ask, &err), &err);
    sb_arena_init(&bed.arena, &sb_alloc_libc, 64 << 10, (size_t)1 << 30);
    return bed;
}

static void fifty_thousand_children_are_folded_into_parts(void **state) {
    (void)state;
    model_bed bed = many_children(50000, 0);
    const char *whole[] = {"a"}, *part[] = {"a", "a/n500x … n999x"};
    sb_drawing d = draw(&bed, whole, 1, (sb_draw_ask){.extract = true});
    assert_int_equal(d.box_count, 1 + 50000 / 500);
    assert_int_equal(bed.m->boxes[bed_box(&bed, part[1])].kind, SB_BOX_PART);
    assert_int_equal(bed.m->boxes[bed_box(&bed, part[1])].ops, 500);
    assert_int_equal(bed.m->boxes[bed_box(&bed, "a")].ops, 50000);
    d = draw(&bed, part, 2, (sb_draw_ask){.extract = true});
    assert_int_equal(d.box_count, 1 + 50000 / 500 + 500);
    assert_int_equal(bed.m->boxes[bed_box(&bed, "a/n700x")].parent, bed_box(&bed, part[1]));
    bed_close(&bed);
}

static void a_level_that_is_kept_whole_is_drawn_whole(void **state) {
    (void)state;
    model_bed bed = many_children(50000, UINT32_MAX);
    const char *open[] = {"a"};
    sb_drawing d = draw(&bed, open, 1, (sb_draw_ask){.extract = true});
    assert_int_equal(d.box_count, 50001);
    assert_true(d.w < 8 * d.h && d.h < 8 * d.w);
    bed_close(&bed);
}

static void what_a_constant_waits_for_leads_to_what_it_feeds(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, "node { name: 'first' op: 'Relu' }"
                   "node { name: 'c' op: 'Const' input: '^first' }"
                   "node { name: 'sum' op: 'Add' input: 'c' }"
                   "node { name: 'alone' op: 'Const' input: '^first' }");
    sb_drawing d = draw(&bed, NULL, 0, (sb_draw_ask){.extract = true});
    assert_int_equal(d.line_count, 2);
    assert_true(line(&bed, &d, "first", "sum", "")->flags & SB_LINE_CONTROL);
    assert_non_null(line(&bed, &d, "first", "alone", "")); /* nothing shows it in its place */
    d = draw(&bed, NULL, 0, (sb_draw_ask){.extract = true, .constants = true});
    assert_int_equal(d.line_count, 3);
    assert_non_null(line(&bed, &d, "c", "sum", ""));
    bed_close(&bed);
}

static void
progress_is_told_level_by_level_and_a_drawing_not_wanted_any_more_is_given_up(void **state) {
    (void)state;
    model_bed bed;
    bed_open(&bed, NET);
    uint32_t open[] = {bed_box(&bed, "net"), bed_box(&bed, "net/a"), bed_box(&bed, "net/b")};
    watching w = {.most = 100};
    sb_draw_ask ask = {.open = open, .open_count = 3, .progress = watch, .ud = &w};
    sb_drawing d;
    sb_err err;
    assert_int_equal(sb_draw_size(bed.m, &ask), 3 + 2 + 2 + 2);
    assert_ok(sb_draw(&d, bed.m, &ask, &bed.arena, &err), &err);
    assert_int_equal(w.calls, 4); /* the whole, and what is open */
    for (unsigned most = 1; most <= 4; most++) {
        w = (watching){.most = most};
        assert_int_equal(sb_draw(&d, bed.m, &ask, &bed.arena, &err), SB_CANCELLED);
    }
    bed_close(&bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_scopes_have_their_edges_bridged),
        cmocka_unit_test(edges_into_open_scopes_come_in_pieces_that_meet_at_the_border),
        cmocka_unit_test(constants_are_counted_at_what_they_feed_or_drawn),
        cmocka_unit_test(a_box_that_many_use_is_auxiliary_unless_it_is_wanted),
        cmocka_unit_test(members_of_an_ungrouped_series_stand_in_its_parent),
        cmocka_unit_test(marks_are_told_of_boxes_and_lines),
        cmocka_unit_test(fifty_thousand_children_are_folded_into_parts),
        cmocka_unit_test(a_level_that_is_kept_whole_is_drawn_whole),
        cmocka_unit_test(what_a_constant_waits_for_leads_to_what_it_feeds),
        cmocka_unit_test(
            progress_is_told_level_by_level_and_a_drawing_not_wanted_any_more_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
