/* summary_test.c: summaries, checkpoints and run metadata that ops of the graph make. */
#include <math.h>
#include <stdio.h>

#include "codec/graph.h"
#include "codec/summary.h"
#include "seaboard/train.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct bed {
    sb_net *g;
    sb_net_session *s;
} bed;

static void begin(bed *b) {
    sb_err err;
    assert_ok(sb_net_new(&b->g, &err), &err);
    b->s = NULL;
}

static void open_session(bed *b) {
    sb_err err;
    sb_op *init = sb_net_initializer(b->g, NULL);
    assert_ok(sb_net_session_open(&b->s, b->g,
                                  &SB_INIT(sb_net_session_opts, .seed = 5, .threads = 1), &err),
              &err);
    assert_ok(sb_net_run(b->s, &init, 1, NULL, 0, NULL, &err), &err);
}

static void end(bed *b) {
    sb_net_session_close(b->s);
    sb_net_free(b->g);
}

static void one_merged_summary_has_every_kind(void **state) {
    static const char *const tags[] = {"layer/loss",       "weights",     "pictures/image/0",
                                       "pictures/image/1", "sound/audio", "notes"};
    static const sb_slice words[] = {{(const uint8_t *)"*hello*", 7}};
    bed b;
    sb_err err;
    sb_array out;
    (void)state;
    begin(&b);
    sb_op *x = sb_net_variable(b.g, sb_net_truncated_normal(b.g, SB_DIMS(2, 4, 5, 3), 0, 1, NULL),
                               true, "x");
    sb_net_scope_begin(b.g, "layer");
    sb_net_scalar_summary(b.g, "loss", sb_net_mean(b.g, x, SB_ALL_AXES, false, NULL));
    sb_net_scope_end(b.g);
    sb_net_histogram_summary(b.g, "weights", x);
    sb_net_image_summary(b.g, "pictures", x, 2);
    sb_net_audio_summary(b.g, "sound", sb_net_reshape(b.g, x, SB_DIMS(1, 60, 2), NULL), 8000, 1);
    sb_net_text_summary(b.g, "notes",
                        sb_net_constant(b.g, &(sb_array){.data = words, .dtype = SB_STRING}, NULL));
    sb_op *merged = sb_net_merge_all(b.g);
    open_session(&b);
    assert_ok(sb_net_run(b.s, &merged, 1, NULL, 0, &out, &err), &err);
    sb_summary_walk values = sb_summary_over(*(const sb_slice *)out.data);
    sb_value value;
    size_t n = 0;
    for (sb_status status; (status = sb_summary_next(&values, &value)) == SB_OK; n++) {
        assert_true(n < SB_COUNT(tags));
        assert_slice_is(value.tag, tags[n]);
    }
    assert_int_equal(n, SB_COUNT(tags));
    end(&b);
}

static void a_histogram_of_what_is_not_a_number_is_refused(void **state) {
    static const float numbers[] = {1, NAN};
    static const int64_t two[] = {2};
    bed b;
    sb_err err;
    (void)state;
    begin(&b);
    sb_op *x = sb_net_placeholder(b.g, SB_FLOAT, SB_DIMS(2), "x");
    sb_op *summary = sb_net_histogram_summary(b.g, "h", x);
    open_session(&b);
    const sb_feed feed = {x, {.data = numbers, .dtype = SB_FLOAT, .rank = 1, .dims = two}};
    assert_int_equal(sb_net_run(b.s, &summary, 1, &feed, 1, NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "value 1 of x is NaN"));
    end(&b);
}

static void what_is_no_summary_is_refused_when_it_is_added(void **state) {
    bed b;
    sb_err err;
    (void)state;
    begin(&b);
    sb_op *x = sb_net_placeholder(b.g, SB_FLOAT, SB_DIMS(2, 3), "x");
    assert_null(sb_net_scalar_summary(b.g, "s", x));
    assert_int_equal(sb_net_check(b.g, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "x [2,3] is no single number"));
    end(&b);
    begin(&b);
    x = sb_net_placeholder(b.g, SB_FLOAT, SB_DIMS(2, 3), "x");
    assert_null(sb_net_image_summary(b.g, "i", x, 0));
    assert_int_equal(sb_net_check(b.g, &err), SB_INVALID);
    end(&b);
}

static float first_of(bed *b, sb_op *w) {
    sb_array out;
    sb_err err;
    assert_ok(sb_net_get_variable(b->s, w, &out, &err), &err);
    return *(const float *)out.data;
}

static void checkpoints_go_through_the_saver_and_through_ops(void **state) {
    const char *path = sb_test_dir_join(*state, "model.ckpt"), *written;
    const sb_slice plain = sb_slice_str(sb_test_dir_join(*state, "plain"));
    static const float seven[] = {7, 7};
    static const int64_t two[] = {2};
    bed b;
    sb_err err;
    begin(&b);
    sb_op *w = sb_net_variable(b.g, sb_net_zeros(b.g, SB_DIMS(2), NULL), true, "w");
    sb_net_global_step(b.g);
    sb_op *restore = sb_net_saver(b.g);
    sb_op *save = sb_net_find(b.g, "save/control_dependency");
    open_session(&b);
    const sb_array sevens = {.data = seven, .dtype = SB_FLOAT, .rank = 1, .dims = two};
    assert_ok(sb_net_set_variable(b.s, w, &sevens, &err), &err);
    assert_ok(sb_net_save(b.s, path, 3, &written, &err), &err);
    const sb_feed where = {sb_net_find(b.g, "save/Const"), {.data = &plain, .dtype = SB_STRING}};
    assert_ok(sb_net_run(b.s, &save, 1, &where, 1, NULL, &err), &err);
    sb_op *init = sb_net_find(b.g, "init");
    assert_ok(sb_net_run(b.s, &init, 1, NULL, 0, NULL, &err), &err);
    assert_true(first_of(&b, w) == 0);
    assert_ok(sb_net_run(b.s, &restore, 1, &where, 1, NULL, &err), &err);
    assert_true(first_of(&b, w) == 7);
    assert_ok(sb_net_run(b.s, &init, 1, NULL, 0, NULL, &err), &err);
    assert_ok(sb_net_restore(b.s, written, &err), &err);
    assert_true(first_of(&b, w) == 7);
    end(&b);
}

static void a_checkpoint_of_another_model_changes_nothing(void **state) {
    const char *path = sb_test_dir_join(*state, "model.ckpt"), *written;
    char kept[4096];
    bed b;
    sb_err err;
    begin(&b);
    sb_net_variable(b.g, sb_net_zeros(b.g, SB_DIMS(2), NULL), true, "w");
    open_session(&b);
    assert_ok(sb_net_save(b.s, path, SB_NO_STEP, &written, &err), &err);
    snprintf(kept, sizeof kept, "%s", written);
    end(&b);
    begin(&b);
    sb_op *w = sb_net_variable(b.g, sb_net_number(b.g, 4, SB_FLOAT, NULL), true, "v");
    open_session(&b);
    assert_int_equal(sb_net_restore(b.s, kept, &err), SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "'v'"));
    assert_true(first_of(&b, w) == 4);
    end(&b);
}

static void a_traced_run_tells_the_time_and_memory_of_each_op(void **state) {
    bed b;
    sb_err err;
    sb_slice bytes;
    sb_run_metadata_view metadata;
    sb_device_stats device;
    sb_slice item;
    (void)state;
    begin(&b);
    sb_op *x =
        sb_net_variable(b.g, sb_net_truncated_normal(b.g, SB_DIMS(30, 40), 0, 1, NULL), true, "x");
    sb_op *y = sb_net_relu(b.g, sb_net_matmul(b.g, x, x, false, true, NULL), NULL);
    open_session(&b);
    assert_ok(sb_net_run_traced(b.s, &y, 1, NULL, 0, NULL, &bytes, &err), &err);
    assert_int_equal(sb_run_metadata_read(&metadata, bytes), SB_OK);
    sb_items devices = sb_items_of(metadata.step_stats, SB_STEP_STATS_DEV_STATS);
    assert_int_equal(sb_items_next(&devices, &item), SB_OK);
    assert_int_equal(sb_device_stats_read(&device, item), SB_OK);
    assert_int_equal(device.node_count, 2);
    sb_items nodes = sb_items_of(device.message, SB_DEVICE_STATS_NODE_STATS);
    sb_node_stats stats;
    assert_int_equal(sb_items_next(&nodes, &item), SB_OK);
    assert_int_equal(sb_node_stats_read(&stats, item), SB_OK);
    assert_slice_is(stats.name, "MatMul");
    assert_slice_is(stats.label, "MatMul = MatMul(x/read, x/read)");
    assert_true(stats.all_end_rel_nanos > 0 && stats.all_start_micros > 1600000000000000);
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_merged_summary_has_every_kind),
        cmocka_unit_test(a_histogram_of_what_is_not_a_number_is_refused),
        cmocka_unit_test(what_is_no_summary_is_refused_when_it_is_added),
        cmocka_unit_test_setup_teardown(checkpoints_go_through_the_saver_and_through_ops,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_of_another_model_changes_nothing,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test(a_traced_run_tells_the_time_and_memory_of_each_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
