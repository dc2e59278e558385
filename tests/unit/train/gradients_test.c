/* gradients_test.c: the gradient of every op equals the slope that its forward pass has: each
 * number of each variable is moved a little both ways, and the loss is computed again. */
#include <math.h>
#include <stdlib.h>

#include "seaboard/train.h"
#include "support/test.h"
#include "base/banned.h"

#define MOST 4

/* A model of a few variables; its output is weighted by fixed numbers and summed, so that every
 * place of the output counts differently. */
typedef struct bed {
    sb_net *g;
    sb_op *x[MOST];
    size_t count;
    sb_test_random random;
} bed;

static void bed_begin(bed *b) {
    sb_err err;
    *b = (bed){.random = sb_test_random_of(7)};
    assert_ok(sb_net_new(&b->g, &err), &err);
}

static float draw(bed *b, double low, double high) {
    return (float)(low + (high - low) * (double)sb_test_below(&b->random, 10000) / 10000);
}

static size_t count_of(const sb_dims *dims) {
    size_t n = 1;
    for (uint32_t i = 0; i < dims->rank; i++) n *= (size_t)dims->at[i];
    return n;
}

static sb_array array_of(const float *p, const sb_dims *dims) {
    return (sb_array){.data = p, .dtype = SB_FLOAT, .rank = dims->rank, .dims = dims->at};
}

/* A variable of random numbers between low and high. */
static sb_op *variable(bed *b, sb_dims dims, double low, double high) {
    float numbers[512];
    for (size_t i = 0; i < count_of(&dims); i++) numbers[i] = draw(b, low, high);
    sb_array value = array_of(numbers, &dims);
    sb_op *op = sb_net_variable_of(b->g, &value, true, NULL);
    b->x[b->count++] = op;
    return op;
}

static float run_loss(sb_net_session *s, sb_op *loss) {
    sb_array out;
    sb_err err;
    assert_ok(sb_net_run(s, &loss, 1, NULL, 0, &out, &err), &err);
    return *(const float *)out.data;
}

static void check_variable(sb_net_session *s, sb_op *loss, sb_op *x, const float *grad,
                           double step) {
    sb_array value;
    sb_err err;
    float moved[512];
    assert_ok(sb_net_get_variable(s, x, &value, &err), &err);
    size_t n = count_of(sb_op_dims(x));
    memcpy(moved, value.data, n * sizeof *moved);
    const sb_array changed = array_of(moved, sb_op_dims(x));
    for (size_t i = 0; i < n; i++) {
        float before = moved[i];
        moved[i] = before + (float)step;
        assert_ok(sb_net_set_variable(s, x, &changed, &err), &err);
        double up = (double)run_loss(s, loss);
        moved[i] = before - (float)step;
        assert_ok(sb_net_set_variable(s, x, &changed, &err), &err);
        double slope = (up - (double)run_loss(s, loss)) / (2 * step);
        moved[i] = before;
        double scale = fmax(1, fabs(slope));
        if (fabs(slope - (double)grad[i]) > 0.01 * scale)
            fail_msg("%s[%zu]: gradient %g, slope %g", sb_op_name(x), i, (double)grad[i], slope);
    }
    assert_ok(sb_net_set_variable(s, x, &changed, &err), &err);
}

/* y is checked against all variables, and the graph is freed. */
static void bed_check(bed *b, sb_op *y, double step) {
    sb_err err;
    assert_ok(sb_net_check(b->g, &err), &err);
    float weights[512];
    const sb_dims dims = *sb_op_dims(y);
    for (size_t i = 0; i < count_of(&dims); i++) weights[i] = draw(b, -1, 1);
    const sb_array array = array_of(weights, &dims);
    sb_op *weighted = sb_net_mul(b->g, y, sb_net_constant(b->g, &array, NULL), NULL);
    sb_op *loss = sb_net_sum(b->g, weighted, SB_ALL_AXES, false, NULL);
    sb_op *grads[MOST];
    if (!sb_net_gradients(b->g, loss, b->x, b->count, grads)) {
        sb_net_check(b->g, &err);
        fail_msg("%s", err.text);
    }
    sb_op *init = sb_net_initializer(b->g, NULL);
    sb_net_session *s;
    assert_ok(
        sb_net_session_open(&s, b->g, &SB_INIT(sb_net_session_opts, .seed = 3, .threads = 2), &err),
        &err);
    assert_ok(sb_net_run(s, &init, 1, NULL, 0, NULL, &err), &err);
    for (size_t i = 0; i < b->count; i++) {
        float grad[512];
        sb_array out;
        assert_non_null(grads[i]);
        assert_ok(sb_net_run(s, &grads[i], 1, NULL, 0, &out, &err), &err);
        assert_int_equal(out.rank, sb_op_dims(b->x[i])->rank);
        memcpy(grad, out.data, count_of(sb_op_dims(b->x[i])) * sizeof *grad);
        check_variable(s, loss, b->x[i], grad, step);
    }
    sb_net_session_close(s);
    sb_net_free(b->g);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

typedef sb_op *pair_fn(sb_net *g, sb_op *x, sb_op *y, const char *name);

static void check_pair(pair_fn *make, double low, double high) {
    const sb_dims shapes[][2] = {{SB_DIMS(3, 4), SB_DIMS(3, 4)},
                                 {SB_DIMS(3, 4), SB_DIMS(4)},
                                 {SB_DIMS(3, 1), SB_DIMS(1, 4)},
                                 {SB_DIMS(2, 3, 4), SB_DIMS(3, 1)},
                                 {SB_SCALAR_DIMS, SB_DIMS(2, 2)}};
    for (size_t i = 0; i < SB_COUNT(shapes); i++) {
        bed b;
        bed_begin(&b);
        sb_op *x = variable(&b, shapes[i][0], low, high),
              *y = variable(&b, shapes[i][1], low, high);
        bed_check(&b, make(b.g, x, y, NULL), 1e-2);
    }
}

static void add_and_its_broadcasts(void **state) {
    (void)state;
    check_pair(sb_net_add, -1, 1);
}

static void sub_and_its_broadcasts(void **state) {
    (void)state;
    check_pair(sb_net_sub, -1, 1);
}

static void mul_and_its_broadcasts(void **state) {
    (void)state;
    check_pair(sb_net_mul, -1, 1);
}

static void div_and_its_broadcasts(void **state) {
    (void)state;
    check_pair(sb_net_div, 1, 2);
}

static void pow_and_its_broadcasts(void **state) {
    (void)state;
    check_pair(sb_net_pow, 1, 2);
}

typedef sb_op *one_fn(sb_net *g, sb_op *x, const char *name);

static void check_one(one_fn *make) {
    bed b;
    bed_begin(&b);
    bed_check(&b, make(b.g, variable(&b, SB_DIMS(3, 5), -2, 2), NULL), 5e-3);
}

static void functions_of_one_number(void **state) {
    (void)state;
    check_one(sb_net_square);
    check_one(sb_net_neg);
    check_one(sb_net_relu);
    check_one(sb_net_sigmoid);
    check_one(sb_net_tanh);
    check_one(sb_net_softmax);
    check_one(sb_net_identity);
}

static void a_value_that_is_used_twice_adds_up(void **state) {
    bed b;
    (void)state;
    bed_begin(&b);
    sb_op *x = variable(&b, SB_DIMS(4), -1, 1);
    sb_op *y = sb_net_mul(b.g, x, sb_net_tanh(b.g, x, NULL), NULL);
    bed_check(&b, sb_net_add(b.g, y, x, NULL), 1e-2);
}

static void matmul_in_all_four_layouts(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bed b;
        bool ta = i & 1, tb = i & 2;
        bed_begin(&b);
        sb_op *x = variable(&b, ta ? SB_DIMS(4, 3) : SB_DIMS(3, 4), -1, 1);
        sb_op *y = variable(&b, tb ? SB_DIMS(5, 4) : SB_DIMS(4, 5), -1, 1);
        bed_check(&b, sb_net_matmul(b.g, x, y, ta, tb, NULL), 1e-2);
    }
}

static void sums_and_means(void **state) {
    const sb_dims axes[] = {SB_ALL_AXES, SB_AXES(0), SB_AXES(1), SB_AXES(-1), SB_AXES(0, 2)};
    (void)state;
    for (size_t i = 0; i < SB_COUNT(axes); i++)
        for (int keep = 0; keep < 2; keep++) {
            bed b;
            bed_begin(&b);
            sb_op *x = variable(&b, SB_DIMS(2, 3, 4), -1, 1);
            bed_check(&b, sb_net_sum(b.g, x, axes[i], keep, NULL), 1e-2);
            bed_begin(&b);
            x = variable(&b, SB_DIMS(2, 3, 4), -1, 1);
            bed_check(&b, sb_net_mean(b.g, x, axes[i], keep, NULL), 1e-2);
        }
}

static void cast_reshape_and_slice(void **state) {
    bed b;
    (void)state;
    bed_begin(&b);
    bed_check(&b, sb_net_cast(b.g, variable(&b, SB_DIMS(2, 3), -1, 1), SB_FLOAT, NULL), 1e-2);
    bed_begin(&b);
    bed_check(&b, sb_net_reshape(b.g, variable(&b, SB_DIMS(2, 6), -1, 1), SB_DIMS(3, -1), NULL),
              1e-2);
    bed_begin(&b);
    bed_check(
        &b,
        sb_net_slice(b.g, variable(&b, SB_DIMS(3, 4), -1, 1), SB_DIMS(1, 0), SB_DIMS(2, 3), NULL),
        1e-2);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void bias_add(void **state) {
    bed b;
    (void)state;
    bed_begin(&b);
    sb_op *x = variable(&b, SB_DIMS(2, 3, 4), -1, 1), *bias = variable(&b, SB_DIMS(4), -1, 1);
    bed_check(&b, sb_net_bias_add(b.g, x, bias, NULL), 1e-2);
}

static void convolutions_of_every_padding_and_stride(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        bed b;
        bed_begin(&b);
        sb_op *x = variable(&b, SB_DIMS(2, 5, 6, 2), -1, 1);
        sb_op *filter = variable(&b, SB_DIMS(3, 2, 2, 3), -1, 1);
        bed_check(&b,
                  sb_net_conv2d(b.g, x, filter, i & 1 ? 2 : 1, i & 2 ? 2 : 1,
                                i & 4 ? SB_PADDING_SAME : SB_PADDING_VALID, NULL),
                  1e-2);
    }
}

static void max_pooling_of_every_padding(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        bed b;
        bed_begin(&b);
        /* numbers far enough apart that a small step does not change which is the largest */
        float numbers[60];
        for (int k = 0; k < 60; k++) numbers[k] = (float)((k * 37) % 60) * 0.1f;
        const sb_dims dims = SB_DIMS(2, 5, 3, 2);
        const sb_array value = array_of(numbers, &dims);
        b.x[b.count++] = sb_net_variable_of(b.g, &value, true, NULL);
        bed_check(&b,
                  sb_net_max_pool(b.g, b.x[0], 2, 2, i & 1 ? 2 : 1, 2,
                                  i & 2 ? SB_PADDING_SAME : SB_PADDING_VALID, NULL),
                  1e-2);
    }
}

static void cross_entropies(void **state) {
    static const int32_t classes[] = {0, 2, 1};
    static const float shares[] = {0.2f, 0.5f, 0.3f, 0, 0, 1, 0.1f, 0.1f, 0.8f};
    static const int64_t rows[] = {3}, matrix[] = {3, 3};
    bed b;
    (void)state;
    bed_begin(&b);
    const sb_array labels = {.data = classes, .dtype = SB_INT32, .rank = 1, .dims = rows};
    sb_op *logits = variable(&b, SB_DIMS(3, 3), -2, 2);
    bed_check(
        &b,
        sb_net_sparse_softmax_cross_entropy(b.g, sb_net_constant(b.g, &labels, NULL), logits, NULL),
        1e-2);
    bed_begin(&b);
    const sb_array dense = {.data = shares, .dtype = SB_FLOAT, .rank = 2, .dims = matrix};
    logits = variable(&b, SB_DIMS(3, 3), -2, 2);
    bed_check(&b,
              sb_net_softmax_cross_entropy(b.g, sb_net_constant(b.g, &dense, NULL), logits, NULL),
              1e-2);
}

/* The loss with these numbers in x, in a session that draws the same mask every time. */
static double dropped_loss(sb_net *g, sb_op *x, const float *numbers, sb_op *fetch, float *grad) {
    sb_op *init = sb_net_find(g, "init");
    const sb_array value = array_of(numbers, sb_op_dims(x));
    sb_net_session *s;
    sb_array out;
    sb_err err;
    assert_ok(sb_net_session_open(&s, g, &SB_INIT(sb_net_session_opts, .seed = 3), &err), &err);
    assert_ok(sb_net_run(s, &init, 1, NULL, 0, NULL, &err), &err);
    assert_ok(sb_net_set_variable(s, x, &value, &err), &err);
    assert_ok(sb_net_run(s, &fetch, 1, NULL, 0, &out, &err), &err);
    if (grad) memcpy(grad, out.data, count_of(sb_op_dims(fetch)) * sizeof *grad);
    double loss = (double)*(const float *)out.data;
    sb_net_session_close(s);
    return loss;
}

static void dropout_through_its_mask(void **state) {
    enum { COUNT = 12 };
    const double step = 1e-2;
    float numbers[COUNT], grad[COUNT];
    int dropped = 0;
    bed b;
    (void)state;
    bed_begin(&b);
    sb_op *x = variable(&b, SB_DIMS(3, 4), -1, 1), *slope_of;
    for (int i = 0; i < COUNT; i++) numbers[i] = draw(&b, 1, 2);
    sb_op *y = sb_net_dropout(b.g, x, sb_net_number(b.g, 0.6, SB_FLOAT, NULL), NULL);
    sb_op *loss = sb_net_sum(b.g, sb_net_square(b.g, y, NULL), SB_ALL_AXES, false, NULL);
    assert_true(sb_net_gradients(b.g, loss, &x, 1, &slope_of));
    sb_net_initializer(b.g, NULL);
    dropped_loss(b.g, x, numbers, slope_of, grad);
    for (int i = 0; i < COUNT; i++) {
        float before = numbers[i];
        numbers[i] = before + (float)step;
        double up = dropped_loss(b.g, x, numbers, loss, NULL);
        numbers[i] = before - (float)step;
        double slope = (up - dropped_loss(b.g, x, numbers, loss, NULL)) / (2 * step);
        numbers[i] = before;
        assert_true(fabs(slope - (double)grad[i]) < 0.01 * fmax(1, fabs(slope)));
        dropped += grad[i] == 0;
    }
    assert_true(dropped > 0 && dropped < COUNT);
    sb_net_free(b.g);
}

static void what_has_no_slope_has_no_gradient(void **state) {
    static const int32_t targets[] = {1, 0};
    static const int64_t two[] = {2};
    bed b;
    (void)state;
    bed_begin(&b);
    sb_op *x = variable(&b, SB_DIMS(2, 3), -1, 1), *grad;
    sb_op *t = sb_net_constant(
        b.g, &(sb_array){.data = targets, .dtype = SB_INT32, .rank = 1, .dims = two}, NULL);
    sb_op *const made[] = {sb_net_argmax(b.g, x, 1, NULL), sb_net_in_top_k(b.g, x, t, 1, NULL),
                           sb_net_equal(b.g, x, x, NULL), sb_net_cast(b.g, x, SB_INT32, NULL)};
    for (size_t i = 0; i < SB_COUNT(made); i++) {
        sb_op *y = sb_net_cast(b.g, made[i], SB_FLOAT, NULL);
        assert_true(sb_net_gradients(b.g, y, &x, 1, &grad));
        assert_null(grad);
    }
    sb_net_free(b.g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_its_broadcasts),
        cmocka_unit_test(sub_and_its_broadcasts),
        cmocka_unit_test(mul_and_its_broadcasts),
        cmocka_unit_test(div_and_its_broadcasts),
        cmocka_unit_test(pow_and_its_broadcasts),
        cmocka_unit_test(functions_of_one_number),
        cmocka_unit_test(a_value_that_is_used_twice_adds_up),
        cmocka_unit_test(matmul_in_all_four_layouts),
        cmocka_unit_test(sums_and_means),
        cmocka_unit_test(cast_reshape_and_slice),
        cmocka_unit_test(bias_add),
        cmocka_unit_test(convolutions_of_every_padding_and_stride),
        cmocka_unit_test(max_pooling_of_every_padding),
        cmocka_unit_test(cross_entropies),
        cmocka_unit_test(dropout_through_its_mask),
        cmocka_unit_test(what_has_no_slope_has_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
