/* bench_train.c: steps a second of the MNIST network 784-128-32-10, batch 100, gradient descent;
 * and the memory of the program. peers/trainers.py does the same work. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "harness.h"
#include "seaboard/train.h"
#include "base/banned.h"

#define BATCH 100
#define PIXELS 784
#define WARM_UP 200
#define STEPS 3000
#define ROUNDS 3

typedef struct model {
    sb_net *g;
    sb_op *images, *labels, *loss, *train, *init;
} model;

static sb_op *layer(sb_net *g, const char *name, sb_op *x, int64_t in, int64_t out, bool is_last) {
    sb_net_scope_begin(g, name);
    sb_op *w = sb_net_variable(g, sb_net_truncated_normal(g, SB_DIMS(in, out), 0, 0.05, NULL), true,
                               "weights");
    sb_op *b = sb_net_variable(g, sb_net_zeros(g, SB_DIMS(out), NULL), true, "biases");
    sb_op *y = sb_net_add(g, sb_net_matmul(g, x, w, false, false, NULL), b, NULL);
    sb_net_scope_end(g);
    return is_last ? y : sb_net_relu(g, y, NULL);
}

static bool build(model *m, sb_err *err) {
    if (sb_net_new(&m->g, err) != SB_OK) return false;
    sb_net *g = m->g;
    m->images = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(BATCH, PIXELS), NULL);
    m->labels = sb_net_placeholder(g, SB_INT32, SB_DIMS(BATCH), NULL);
    sb_op *h = layer(g, "hidden1", m->images, PIXELS, 128, false);
    h = layer(g, "hidden2", h, 128, 32, false);
    sb_op *logits = layer(g, "softmax_linear", h, 32, 10, true);
    sb_op *losses = sb_net_sparse_softmax_cross_entropy(g, m->labels, logits, NULL);
    m->loss = sb_net_mean(g, losses, SB_ALL_AXES, false, NULL);
    m->train = sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = 0.01), m->loss,
                               sb_net_global_step(g));
    m->init = sb_net_initializer(g, NULL);
    return sb_net_check(g, err) == SB_OK;
}

static bool run_steps(const model *m, sb_net_session *s, const sb_feed *feeds, size_t steps,
                      sb_err *err) {
    sb_op *const fetches[] = {m->train, m->loss};
    for (size_t i = 0; i < steps; i++) {
        sb_array results[2];
        if (sb_net_run(s, fetches, 2, feeds, 2, results, err) != SB_OK) return false;
    }
    return true;
}

static bool measure(sb_bench *b, const model *m, uint32_t threads, const char *part, sb_err *err) {
    static float images[BATCH * PIXELS];
    static int32_t labels[BATCH];
    sb_net_session *s;
    const sb_net_session_opts opts = SB_INIT(sb_net_session_opts, .seed = 1, .threads = threads);
    if (sb_net_session_open(&s, m->g, &opts, err) != SB_OK) return false;
    for (int i = 0; i < BATCH * PIXELS; i++) images[i] = (float)(i * 7 % 255) / 255;
    for (int i = 0; i < BATCH; i++) labels[i] = i % 10;
    const sb_feed feeds[] = {
        {m->images,
         {.data = images, .dtype = SB_FLOAT, .rank = 2, .dims = sb_op_dims(m->images)->at}},
        {m->labels,
         {.data = labels, .dtype = SB_INT32, .rank = 1, .dims = sb_op_dims(m->labels)->at}}};
    bool done = sb_net_run(s, &m->init, 1, NULL, 0, NULL, err) == SB_OK &&
                run_steps(m, s, feeds, WARM_UP, err);
    size_t steps = sb_bench_count(b, STEPS);
    double best = 0;
    for (int round = 0; round < ROUNDS && done; round++) {
        uint64_t start = sb_bench_ticks();
        done = run_steps(m, s, feeds, steps, err);
        double rate = (double)steps * 1e9 / sb_bench_ns(b, start, sb_bench_ticks());
        if (rate > best) best = rate;
    }
    sb_net_session_close(s);
    if (done) sb_bench_report("training, MNIST 784-128-32-10", part, "steps/s", best);
    return done;
}

int main(int argc, char **argv) {
    sb_bench b;
    sb_err err = {0};
    model m;
    struct rusage used;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    if (!build(&m, &err) || !measure(&b, &m, 1, "one thread", &err) ||
        !measure(&b, &m, 0, "all processors", &err))
        sb_bench_fail(&b, err.text);
    getrusage(RUSAGE_SELF, &used);
    sb_bench_report("training, MNIST 784-128-32-10", "memory", "MB", (double)used.ru_maxrss / 1024);
    sb_net_free(m.g);
    return sb_bench_end(&b);
}
