/* session_test.c: running graphs: what is fed, fetched, kept and refused; optimizers; names. */
#include <math.h>
#include <pthread.h>

#include "seaboard/train.h"
#include "support/test.h"
#include "base/banned.h"

static sb_net *new_net(void) {
    sb_net *g;
    sb_err err;
    assert_ok(sb_net_new(&g, &err), &err);
    return g;
}

static sb_net_session *open_session(sb_net *g, uint32_t threads) {
    sb_net_session *s;
    sb_err err;
    assert_ok(sb_net_session_open(
                  &s, g, &SB_INIT(sb_net_session_opts, .seed = 11, .threads = threads), &err),
              &err);
    return s;
}

static void run_one(sb_net_session *s, sb_op *op, sb_array *out) {
    sb_err err;
    assert_ok(sb_net_run(s, &op, 1, NULL, 0, out, &err), &err);
}

static void expect_failure(sb_net *g, const char *part) {
    sb_err err = {0};
    assert_int_not_equal(sb_net_check(g, &err), SB_OK);
    if (!strstr(err.text, part)) fail_msg("'%s' is not in '%s'", part, err.text);
    sb_net_free(g);
}

/* ---- building -------------------------------------------------------------------------------- */

static void equal_names_get_numbers_as_in_tensorflow(void **state) {
    sb_net *g = new_net();
    (void)state;
    sb_op *a = sb_net_number(g, 1, SB_FLOAT, NULL), *b = sb_net_number(g, 2, SB_FLOAT, NULL);
    assert_string_equal(sb_op_name(a), "Const");
    assert_string_equal(sb_op_name(b), "Const_1");
    sb_net_scope_begin(g, "layer");
    assert_string_equal(sb_op_name(sb_net_add(g, a, b, NULL)), "layer/add");
    assert_string_equal(sb_op_name(sb_net_add(g, a, b, NULL)), "layer/add_1");
    sb_net_scope_end(g);
    sb_net_scope_begin(g, "layer");
    assert_string_equal(sb_op_name(sb_net_add(g, a, b, NULL)), "layer_1/add");
    sb_net_scope_end(g);
    sb_op *w = sb_net_variable(g, a, true, "weights");
    assert_string_equal(sb_op_name(w), "weights/read");
    assert_string_equal(sb_op_type(sb_net_find(g, "weights")), "VariableV2");
    assert_string_equal(sb_op_type(sb_net_find(g, "weights/Assign")), "Assign");
    assert_null(sb_net_find(g, "layer"));
    sb_net_free(g);
}

static void shapes_that_do_not_fit_name_both_ops_and_shapes(void **state) {
    sb_net *g = new_net();
    (void)state;
    sb_op *x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(100, 784), "images");
    sb_op *w = sb_net_variable(g, sb_net_zeros(g, SB_DIMS(780, 128), NULL), true, "weights");
    assert_null(sb_net_relu(g, sb_net_matmul(g, x, w, false, false, NULL), NULL));
    expect_failure(g, "MatMul: the shapes of images [100,784] and weights/read [780,128] do not "
                      "fit: the inner dimensions 784 and 780 differ");
    g = new_net();
    x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(2, 3), "a");
    sb_net_add(g, x, sb_net_placeholder(g, SB_FLOAT, SB_DIMS(4), "b"), NULL);
    expect_failure(g, "the shapes of a [2,3] and b [4] do not fit");
    g = new_net();
    x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(2, 3), "a");
    sb_net_reshape(g, x, SB_DIMS(4, 2), NULL);
    expect_failure(g, "a [2,3] has 6 numbers and cannot have the shape [4,2]");
    g = new_net();
    x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(1, 8, 8, 3), "pictures");
    sb_net_conv2d(g, x, sb_net_zeros(g, SB_DIMS(3, 3, 4, 8), "filter"), 1, 1, SB_PADDING_SAME,
                  NULL);
    expect_failure(g, "pictures [1,8,8,3] and filter [3,3,4,8] do not fit: the channels differ");
}

static void what_cannot_be_built_is_refused_with_a_reason(void **state) {
    sb_net *g = new_net();
    (void)state;
    sb_net_placeholder(g, SB_FLOAT, SB_DIMS(-1, 3), NULL);
    expect_failure(g, "every dimension is known");
    g = new_net();
    sb_op *x = sb_net_placeholder(g, SB_INT32, SB_DIMS(3), "x");
    sb_net_add(g, x, sb_net_placeholder(g, SB_FLOAT, SB_DIMS(3), "y"), NULL);
    expect_failure(g, "x is int32 and y is float32");
    g = new_net();
    sb_net_placeholder(g, SB_COMPLEX64, SB_DIMS(3), NULL);
    expect_failure(g, "no type complex64");
    g = new_net();
    sb_net_scope_end(g);
    expect_failure(g, "a scope ends that did not begin");
    g = new_net();
    sb_op *loss = sb_net_placeholder(g, SB_FLOAT, SB_SCALAR_DIMS, "loss");
    assert_null(sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = 1), loss, NULL));
    expect_failure(g, "loss does not depend on a trainable variable");
    g = new_net();
    sb_op *fail = sb_net_add(g, NULL, NULL, NULL);
    assert_null(fail);
    sb_net_free(g);
}

/* ---- feeding and fetching -------------------------------------------------------------------- */

static void feeds_are_checked_before_anything_runs(void **state) {
    static const int64_t two[] = {2}, three[] = {3};
    static const float floats[] = {1, 2, 3};
    static const uint8_t bytes[] = {7, 8};
    sb_net *g = new_net();
    sb_err err;
    sb_array out;
    (void)state;
    sb_op *x = sb_net_placeholder(g, SB_INT32, SB_DIMS(2), "x");
    sb_op *y = sb_net_add(g, x, x, NULL);
    sb_net_session *s = open_session(g, 1);
    assert_int_equal(sb_net_run(s, &y, 1, NULL, 0, &out, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "you must feed a value for placeholder 'x'"));
    sb_feed feed = {x, {.data = floats, .dtype = SB_INT32, .rank = 1, .dims = three}};
    assert_int_equal(sb_net_run(s, &y, 1, &feed, 1, &out, &err), SB_INVALID);
    assert_non_null(
        strstr(err.text, "cannot feed a value of shape [3] for 'x', which has shape [2]"));
    feed.value = (sb_array){.data = floats, .dtype = SB_FLOAT, .rank = 1, .dims = two};
    assert_int_equal(sb_net_run(s, &y, 1, &feed, 1, &out, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "cannot feed float32 for 'x', which is int32"));
    feed.op = y;
    assert_int_equal(sb_net_run(s, &y, 1, &feed, 1, &out, &err), SB_INVALID);
    feed = (sb_feed){x, {.data = bytes, .dtype = SB_UINT8, .rank = 1, .dims = two}};
    assert_ok(sb_net_run(s, &y, 1, &feed, 1, &out, &err), &err);
    assert_int_equal(((const int32_t *)out.data)[1], 16);
    sb_net_session_close(s);
    sb_net_free(g);
}

static void variables_must_be_initialized_and_stay(void **state) {
    sb_net *g = new_net();
    sb_err err;
    sb_array out;
    (void)state;
    sb_op *step = sb_net_global_step(g);
    sb_op *loss_variable = sb_net_variable(g, sb_net_number(g, 5, SB_FLOAT, NULL), true, "w");
    sb_op *train = sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = 0.1),
                                   sb_net_square(g, loss_variable, NULL), step);
    sb_op *init = sb_net_initializer(g, NULL);
    sb_net_session *s = open_session(g, 1);
    assert_int_equal(sb_net_run(s, &train, 1, NULL, 0, NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "uninitialized value w"));
    assert_int_equal(sb_net_get_variable(s, step, &out, &err), SB_INVALID);
    run_one(s, init, NULL);
    for (int i = 0; i < 3; i++) run_one(s, train, NULL);
    run_one(s, step, &out);
    assert_int_equal(*(const int32_t *)out.data, 3);
    run_one(s, loss_variable, &out);
    assert_true(fabsf(*(const float *)out.data - 5 * 0.8f * 0.8f * 0.8f) < 1e-5f);
    sb_net_session_close(s);
    sb_net_free(g);
}

static void a_label_outside_the_classes_is_refused(void **state) {
    static const int32_t classes[] = {1, 3};
    static const int64_t two[] = {2};
    sb_net *g = new_net();
    sb_err err;
    (void)state;
    sb_op *labels = sb_net_placeholder(g, SB_INT32, SB_DIMS(2), "labels");
    sb_op *loss = sb_net_sparse_softmax_cross_entropy(
        g, labels, sb_net_zeros(g, SB_DIMS(2, 3), "logits"), NULL);
    sb_net_session *s = open_session(g, 1);
    sb_feed feed = {labels, {.data = classes, .dtype = SB_INT32, .rank = 1, .dims = two}};
    assert_int_equal(sb_net_run(s, &loss, 1, &feed, 1, NULL, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "label 3 in row 1 of labels is outside the 3 classes"));
    sb_net_session_close(s);
    sb_net_free(g);
}

static void in_top_k_counts_ties_and_refuses_what_is_not_finite(void **state) {
    static const float x[] = {1, 2, 2, 0, 5, 1, 3, NAN, 1};
    static const int32_t targets[] = {1, 2, 0};
    static const int64_t rows[] = {3}, matrix[] = {3, 3};
    sb_net *g = new_net();
    sb_array out;
    (void)state;
    sb_op *predictions = sb_net_constant(
        g, &(sb_array){.data = x, .dtype = SB_FLOAT, .rank = 2, .dims = matrix}, NULL);
    sb_op *wanted = sb_net_constant(
        g, &(sb_array){.data = targets, .dtype = SB_INT32, .rank = 1, .dims = rows}, NULL);
    sb_op *top = sb_net_in_top_k(g, predictions, wanted, 1, NULL);
    sb_net_session *s = open_session(g, 1);
    run_one(s, top, &out);
    const uint8_t *is_top = out.data;
    assert_int_equal(is_top[0], 1); /* a tie */
    assert_int_equal(is_top[1], 0);
    assert_int_equal(is_top[2], 0); /* not a number in the row */
    sb_net_session_close(s);
    sb_net_free(g);
}

/* ---- random numbers and threads -------------------------------------------------------------- */

static void truncated_normal_has_its_mean_spread_and_limits(void **state) {
    sb_net *g = new_net();
    sb_array out;
    double sum = 0, squares = 0;
    (void)state;
    sb_op *op = sb_net_truncated_normal(g, SB_DIMS(200, 500), 3, 0.5, NULL);
    sb_net_session *s = open_session(g, 1);
    run_one(s, op, &out);
    const float *x = out.data;
    for (int i = 0; i < 100000; i++) {
        assert_true(fabsf(x[i] - 3) < 1.0001f);
        sum += (double)x[i];
        squares += ((double)x[i] - 3) * ((double)x[i] - 3);
    }
    assert_true(fabs(sum / 1e5 - 3) < 0.01);
    /* a normal distribution that is cut at two deviations has 0.8796 of its deviation */
    assert_true(fabs(sqrt(squares / 1e5) - 0.5 * 0.8796) < 0.005);
    float first = x[0];
    run_one(s, op, &out);
    assert_true(((const float *)out.data)[0] != first);
    sb_net_session_close(s);
    s = open_session(g, 1);
    run_one(s, op, &out);
    assert_true(((const float *)out.data)[0] == first); /* the same seed */
    sb_net_session_close(s);
    sb_net_free(g);
}

/* A small network, trained with random data; answers a number that depends on all its weights. */
static float train_net(uint32_t threads, sb_optimizer_kind kind) {
    sb_net *g = new_net();
    sb_err err;
    sb_array out;
    float images[20 * 30];
    int32_t labels[20];
    sb_test_random r = sb_test_random_of(3);
    for (int i = 0; i < 600; i++) images[i] = (float)sb_test_below(&r, 1000) / 1000;
    for (int i = 0; i < 20; i++) labels[i] = (int32_t)sb_test_below(&r, 5);
    sb_op *x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(20, 30), NULL);
    sb_op *y = sb_net_placeholder(g, SB_INT32, SB_DIMS(20), NULL);
    sb_op *w =
        sb_net_variable(g, sb_net_truncated_normal(g, SB_DIMS(30, 40), 0, 0.2, NULL), true, "w");
    sb_op *v =
        sb_net_variable(g, sb_net_truncated_normal(g, SB_DIMS(40, 5), 0, 0.2, NULL), true, "v");
    sb_op *hidden = sb_net_relu(g, sb_net_matmul(g, x, w, false, false, NULL), NULL);
    sb_op *logits = sb_net_matmul(g, hidden, v, false, false, NULL);
    sb_op *loss = sb_net_mean(g, sb_net_sparse_softmax_cross_entropy(g, y, logits, NULL),
                              SB_ALL_AXES, false, NULL);
    sb_op *train = sb_net_minimize(
        g, &SB_INIT(sb_optimizer, .kind = kind, .learning_rate = 0.01, .momentum = 0.9), loss,
        sb_net_global_step(g));
    sb_op *init = sb_net_initializer(g, NULL);
    sb_net_session *s = open_session(g, threads);
    const sb_feed feeds[] = {
        {x, {.data = images, .dtype = SB_FLOAT, .rank = 2, .dims = sb_op_dims(x)->at}},
        {y, {.data = labels, .dtype = SB_INT32, .rank = 1, .dims = sb_op_dims(y)->at}}};
    run_one(s, init, NULL);
    sb_op *fetches[] = {train, loss};
    sb_array both[2];
    float first = 0;
    for (int i = 0; i < 200; i++) {
        assert_ok(sb_net_run(s, fetches, 2, feeds, 2, both, &err), &err);
        if (i == 0) first = *(const float *)both[1].data;
    }
    assert_true(*(const float *)both[1].data < first * 0.9f);
    assert_ok(sb_net_run(s, &loss, 1, feeds, 2, &out, &err), &err);
    float last = *(const float *)out.data;
    sb_net_session_close(s);
    sb_net_free(g);
    return last;
}

static void every_optimizer_learns_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    for (int kind = SB_GRADIENT_DESCENT; kind <= SB_ADAM; kind++) {
        float one = train_net(1, (sb_optimizer_kind)kind);
        assert_true(one == train_net(3, (sb_optimizer_kind)kind));
    }
}

static void *train_in_a_thread(void *arg) {
    *(float *)arg = train_net(2, SB_ADAM);
    return NULL;
}

static void sessions_of_several_threads_do_not_meet(void **state) {
    pthread_t threads[2];
    float results[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, train_in_a_thread, &results[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_true(results[0] == results[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_get_numbers_as_in_tensorflow),
        cmocka_unit_test(shapes_that_do_not_fit_name_both_ops_and_shapes),
        cmocka_unit_test(what_cannot_be_built_is_refused_with_a_reason),
        cmocka_unit_test(feeds_are_checked_before_anything_runs),
        cmocka_unit_test(variables_must_be_initialized_and_stay),
        cmocka_unit_test(a_label_outside_the_classes_is_refused),
        cmocka_unit_test(in_top_k_counts_ties_and_refuses_what_is_not_finite),
        cmocka_unit_test(truncated_normal_has_its_mean_spread_and_limits),
        cmocka_unit_test(every_optimizer_learns_the_same_on_any_number_of_threads),
        cmocka_unit_test(sessions_of_several_threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
