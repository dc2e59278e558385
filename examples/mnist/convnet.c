/* convnet.c: eight trainings of a small convolutional network, logged in every way there is:
 * losses, histograms of each layer, wrong predictions as pictures, notes, the graph with the time
 * of each op, a profile of some steps, curves, features for the projector, hyperparameters. What
 * `make run` shows.
 *
 *     build/examples/convnet logs [STEPS]
 *     build/seaboard --logdir logs      at the same time, if you like */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input_data.h"
#include "logging.h"
#include "made_digits.h"
#include "network.h"

enum {
    USUAL_STEPS = 240,
    LOG_EVERY = 4,
    LOOK_EVERY = 40,
    HISTOGRAM_EVERY = 20,
    VALIDATION_BATCHES = 10,
    PROFILE_FROM = 34, /* with a validation among them */
    PROFILE_TO = 44
};

static int steps = USUAL_STEPS;
static volatile sig_atomic_t is_stopped;

static void stop(int signal_number) {
    (void)signal_number;
    is_stopped = 1;
}

/* One training of the sweep. */
typedef struct trial {
    sb_optimizer_kind kind;
    double learning_rate, keep_prob;
} trial;

static const trial trials[] = {
    {SB_ADAM, 0.002, 0.6},   {SB_ADAM, 0.002, 1.0},           {SB_ADAM, 0.0005, 0.6},
    {SB_ADAM, 0.0005, 1.0},  {SB_MOMENTUM, 0.02, 0.6},        {SB_MOMENTUM, 0.02, 1.0},
    {SB_MOMENTUM, 0.1, 0.6}, {SB_GRADIENT_DESCENT, 0.1, 0.6},
};
static const char *const optimizer_names[] = {"sgd", "momentum", "adam"};

typedef struct training {
    const trial *t;
    digits *data;
    network n;
    sb_net_session *s;
    run_log log;
    profile profile;
    float images[BATCH * 784];
    uint8_t labels[BATCH];
} training;

static bool run(training *t, data_set *set, uint64_t batch, double keep_prob, sb_op *const *fetches,
                size_t count, sb_array *results, sb_slice *metadata, sb_err *err) {
    const float keep = (float)keep_prob;
    const profile *p = &t->profile;
    sb_recorder_begin(p->r, p->loop, p->load);
    bool is_there = fill_batch(set, batch, BATCH, t->images, t->labels);
    sb_recorder_end(p->r, p->loop);
    if (!is_there) return false;
    const sb_feed feeds[] = {
        {t->n.images,
         {.data = t->images, .dtype = SB_FLOAT, .rank = 2, .dims = sb_op_dims(t->n.images)->at}},
        {t->n.labels,
         {.data = t->labels, .dtype = SB_UINT8, .rank = 1, .dims = sb_op_dims(t->n.labels)->at}},
        {t->n.keep_prob, {.data = &keep, .dtype = SB_FLOAT}}};
    if (metadata)
        return sb_net_run_traced(t->s, fetches, count, feeds, 3, results, metadata, err) == SB_OK;
    return sb_net_run(t->s, fetches, count, feeds, 3, results, err) == SB_OK;
}

/* ---- what is looked at now and then ---------------------------------------------------------- */

/* Loss and accuracy of a part of the validation set; wrong predictions; a curve for one digit. */
static bool validate(training *t, int step, double *accuracy, sb_err *err) {
    sb_op *const fetches[] = {t->n.loss, t->n.accuracy, t->n.predictions, t->n.probabilities};
    double loss = 0;
    wrong_digits wrong = {0};
    curve_points curve = {0};
    *accuracy = 0;
    for (uint64_t i = 0; i < VALIDATION_BATCHES; i++) {
        sb_array r[4];
        if (!run(t, &t->data->validation, i, 1, fetches, 4, r, NULL, err)) return false;
        loss += (double)*(const float *)r[0].data / VALIDATION_BATCHES;
        *accuracy += (double)*(const float *)r[1].data / VALIDATION_BATCHES;
        wrong_add(&wrong, t->images, t->labels, r[2].data, BATCH);
        curve_add(&curve, t->labels, r[3].data, BATCH);
    }
    log_validation(&t->log, loss, *accuracy, step);
    log_wrong(&t->log, &wrong, step);
    log_curve(&t->log, &curve, step);
    return true;
}

static bool look_at_weights(training *t, int step, sb_err *err) {
    sb_array summary, filters;
    if (!run(t, &t->data->train, (uint64_t)step, 1, &t->n.summary, 1, &summary, NULL, err))
        return false;
    sb_summary(t->log.train, *(const sb_slice *)summary.data, step);
    if (sb_net_get_variable(t->s, t->n.filters1, &filters, err) != SB_OK) return false;
    log_filters(&t->log, filters.data, FILTERS1, step);
    return true;
}

/* The features of the first thousand test pictures, for the projector. */
static bool look_at_features(training *t, sb_err *err) {
    enum { COUNT = EMBEDDED / BATCH };
    static float features[EMBEDDED * FEATURES], pictures[EMBEDDED * 784];
    static uint8_t labels[EMBEDDED];
    for (size_t i = 0; i < COUNT; i++) {
        sb_array r;
        if (!run(t, &t->data->test, i, 1, &t->n.features, 1, &r, NULL, err)) return false;
        memcpy(features + i * BATCH * FEATURES, r.data, BATCH * FEATURES * sizeof *features);
        memcpy(pictures + i * BATCH * 784, t->images, sizeof t->images);
        memcpy(labels + i * BATCH, t->labels, BATCH);
    }
    return log_features(&t->log, features, FEATURES, pictures, labels, steps, err);
}

/* ---- one training ---------------------------------------------------------------------------- */

static bool train_step(training *t, int step, bool is_traced, double *accuracy, sb_err *err) {
    sb_op *const fetches[] = {t->n.train, t->n.loss, t->n.accuracy};
    sb_array r[3];
    sb_slice metadata = {0};
    if (step % LOOK_EVERY == 0 && !validate(t, step, accuracy, err)) return false;
    if (step % HISTOGRAM_EVERY == 0 && !look_at_weights(t, step, err)) return false;
    if (!run(t, &t->data->train, (uint64_t)step, t->t->keep_prob, fetches, 3, r,
             is_traced ? &metadata : NULL, err))
        return false;
    if (is_traced) sb_run_metadata(t->log.train, "step001", metadata, step);
    if (step % LOG_EVERY == 0)
        log_training(&t->log, *(const float *)r[1].data, *(const float *)r[2].data, step);
    return true;
}

/* The first training's step 1 is traced op by op for the graph, ten later steps are profiled. */
static bool train_steps(training *t, bool is_first, double *accuracy, sb_err *err) {
    profile *p = &t->profile;
    const int from = steps < PROFILE_TO ? 0 : PROFILE_FROM;
    for (int step = 0; step <= steps && !is_stopped; step++) {
        if (is_first && step == from && !profile_start(p, t->s, err)) return false;
        sb_recorder_step(p->r, p->loop, p->train, step);
        if (!train_step(t, step, is_first && step == 1, accuracy, err)) return false;
        sb_recorder_end(p->r, p->loop);
        bool is_last = step + 1 == PROFILE_TO || step == steps;
        if (is_last && !profile_stop(p, t->s, t->log.path, err)) return false;
    }
    return !is_first || is_stopped || look_at_features(t, err);
}

static bool run_trial(const char *root, digits *data, bool is_made, const trial *one, bool is_first,
                      sb_err *err) {
    static training t;
    sb_slice graph;
    double accuracy = 0;
    const sb_optimizer optimizer = SB_INIT(sb_optimizer, .kind = one->kind,
                                           .learning_rate = one->learning_rate, .momentum = 0.9);
    t = (training){.t = one, .data = data};
    const hyperparameters h = {optimizer_names[one->kind], one->learning_rate, 1 - one->keep_prob,
                               is_made};
    bool done =
        network_build(&t.n, &optimizer, err) &&
        sb_net_session_open(&t.s, t.n.g, &SB_INIT(sb_net_session_opts, .seed = 1), err) == SB_OK &&
        log_open(&t.log, root, &h, err) &&
        sb_net_run(t.s, &t.n.init, 1, NULL, 0, NULL, err) == SB_OK &&
        sb_net_graph_def(t.n.g, &graph, err) == SB_OK;
    if (done) sb_graph(t.log.train, graph);
    done = done && train_steps(&t, is_first, &accuracy, err);
    if (done) printf("%s: validation accuracy %.3f\n", t.log.name, accuracy);
    profile_stop(&t.profile, t.s, NULL, NULL); /* when the training was stopped within it */
    if (!log_close(&t.log, done && !is_stopped, done ? err : NULL)) done = false;
    sb_net_session_close(t.s);
    sb_net_free(t.n.g);
    return done;
}

/* Where the digits are: the folder that tools/setup fills, else drawn ones. */
static bool load_digits(digits *d, bool *is_made, char *text, size_t n) {
    char dir[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *base = cache && *cache ? cache : home ? home : "/tmp";
    const char *inner = cache && *cache ? "" : "/.cache";
    snprintf(dir, sizeof dir, "%s%s/seaboard/mnist", base, inner);
    *is_made = !digits_are_in(dir);
    if (*is_made) {
        snprintf(dir, sizeof dir, "%s%s/seaboard/mnist-generated", base, inner);
        printf("The MNIST digits are not here: these are drawn by a program.\n");
        if (!made_digits_write(dir, text, n)) return false;
    }
    return digits_read(d, dir, 1, text, n);
}

int main(int argc, char **argv) {
    digits data;
    sb_err err = {0};
    bool is_made = false;
    if (argc == 3) steps = (int)strtol(argv[2], NULL, 10);
    if (argc < 2 || argc > 3 || steps < 1)
        return fprintf(stderr, "usage: %s LOG_DIR [STEPS]\n", argv[0]), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    bool done =
        load_digits(&data, &is_made, err.text, sizeof err.text) && log_experiment(argv[1], &err);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0] && done && !is_stopped; i++)
        done = run_trial(argv[1], &data, is_made, &trials[i], i == 0, &err);
    digits_free(&data);
    if (!done) fprintf(stderr, "%s\n", err.text);
    return done ? 0 : 1;
}
