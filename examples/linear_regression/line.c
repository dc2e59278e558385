/* line.c: builds the model. */
#include "line.h"

bool line_build(line *l, int samples, sb_err *err) {
    if (sb_net_new(&l->g, err) != SB_OK) return false;
    sb_net *g = l->g;
    l->x = sb_net_placeholder(g, SB_FLOAT, SB_SCALAR_DIMS, "X");
    l->y = sb_net_placeholder(g, SB_FLOAT, SB_SCALAR_DIMS, "Y");
    sb_op *first = sb_net_random_normal(g, SB_SCALAR_DIMS, 0, 1, NULL);
    l->weight = sb_net_variable(g, first, true, "weight");
    first = sb_net_random_normal(g, SB_SCALAR_DIMS, 0, 1, NULL);
    l->bias = sb_net_variable(g, first, true, "bias");
    l->prediction = sb_net_add(g, sb_net_mul(g, l->x, l->weight, NULL), l->bias, NULL);
    sb_op *error = sb_net_sub(g, l->prediction, l->y, NULL);
    sb_op *squared = sb_net_pow(g, error, sb_net_number(g, 2, SB_FLOAT, "Pow/y"), NULL);
    sb_op *sum = sb_net_sum(g, squared, SB_ALL_AXES, false, NULL);
    l->cost = sb_net_div(g, sum, sb_net_number(g, 2.0 * samples, SB_FLOAT, "truediv/y"), NULL);
    l->train = sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = 0.01), l->cost, NULL);
    sb_net_scalar_summary(g, "cost", l->cost);
    l->summary = sb_net_merge_all(g);
    l->init = sb_net_initializer(g, NULL);
    sb_net_saver(g);
    return sb_net_check(g, err) == SB_OK;
}
