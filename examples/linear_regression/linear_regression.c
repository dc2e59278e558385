/* linear_regression.c: fits a line to a few points: the tutorials' first program. X and Y are fed
 * one by one, the cost is logged, and the line is saved for predict.c.
 *
 *     build/examples/linear_regression logs/line
 *     build/examples/linear_regression_predict logs/line 6.1 7.4
 *     build/seaboard --logdir logs */
#include <stdio.h>

#include "line.h"

enum { EPOCHS = 1000, DISPLAY_EVERY = 50, SAMPLES = 17 };

static const float train_x[SAMPLES] = {3.3f,   4.4f,   5.5f,   6.71f,  6.93f,  4.168f,
                                       9.779f, 6.182f, 7.59f,  2.167f, 7.042f, 10.791f,
                                       5.313f, 7.997f, 5.654f, 9.27f,  3.1f};
static const float train_y[SAMPLES] = {1.7f,   2.76f,  2.09f, 3.19f,  1.694f, 1.573f,
                                       3.366f, 2.596f, 2.53f, 1.221f, 2.827f, 3.465f,
                                       1.65f,  2.904f, 2.42f, 2.94f,  1.3f};

static int fail(const sb_err *err) {
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

/* One run with one point. */
static bool run(const line *l, sb_net_session *s, sb_op *op, int i, sb_array *out, sb_err *err) {
    const sb_feed feeds[] = {{l->x, {.data = &train_x[i], .dtype = SB_FLOAT}},
                             {l->y, {.data = &train_y[i], .dtype = SB_FLOAT}}};
    return sb_net_run(s, &op, 1, feeds, 2, out, err) == SB_OK;
}

/* The cost of all points is the sum of the costs of each. */
static bool total_cost(const line *l, sb_net_session *s, double *total, sb_err *err) {
    *total = 0;
    for (int i = 0; i < SAMPLES; i++) {
        sb_array out;
        if (!run(l, s, l->cost, i, &out, err)) return false;
        *total += (double)*(const float *)out.data;
    }
    return true;
}

static bool number_of(sb_net_session *s, sb_op *variable, double *out, sb_err *err) {
    sb_array value;
    if (sb_net_get_variable(s, variable, &value, err) != SB_OK) return false;
    *out = (double)*(const float *)value.data;
    return true;
}

static bool train_epoch(const line *l, sb_net_session *s, sb_writer *w, int epoch, sb_err *err) {
    sb_array summary;
    double cost, weight, bias;
    for (int i = 0; i < SAMPLES; i++)
        if (!run(l, s, l->train, i, NULL, err)) return false;
    if (!run(l, s, l->summary, SAMPLES - 1, &summary, err)) return false;
    sb_summary(w, *(const sb_slice *)summary.data, (int64_t)epoch * SAMPLES);
    if ((epoch + 1) % DISPLAY_EVERY != 0) return true;
    if (!total_cost(l, s, &cost, err) || !number_of(s, l->weight, &weight, err) ||
        !number_of(s, l->bias, &bias, err))
        return false;
    printf("Epoch: %04d cost= %.9f W= %g b= %g\n", epoch + 1, cost, weight, bias);
    return true;
}

int main(int argc, char **argv) {
    line l;
    sb_err err;
    sb_slice graph;
    sb_writer *w;
    sb_net_session *s;
    char path[4096];
    const char *written;
    if (argc != 2) return fprintf(stderr, "usage: %s LOG_DIR\n", argv[0]), 2;
    if (!line_build(&l, SAMPLES, &err)) return fail(&err);
    if (sb_net_session_open(&s, l.g, &SB_INIT(sb_net_session_opts, .seed = 1), &err) != SB_OK ||
        sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = argv[1], .style = SB_STYLE_TF1),
                       &err) != SB_OK ||
        sb_net_graph_def(l.g, &graph, &err) != SB_OK ||
        sb_net_run(s, &l.init, 1, NULL, 0, NULL, &err) != SB_OK)
        return fail(&err);
    sb_graph(w, graph);
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        if (!train_epoch(&l, s, w, epoch, &err)) return fail(&err);
    printf("Optimization Finished!\n");
    snprintf(path, sizeof path, "%s/model.ckpt", argv[1]);
    if (sb_net_save(s, path, SB_NO_STEP, &written, &err) != SB_OK) return fail(&err);
    printf("Model saved in file: %s\n", written);
    sb_net_session_close(s);
    sb_net_free(l.g);
    return sb_writer_close(w, &err) == SB_OK ? 0 : fail(&err);
}
