/* demo.c: a log of every kind, written as a real training would write it. Everything is computed
 * from a formula and a fixed seed, so that two demos are alike. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo_graph.h"
#include "seaboard/seaboard.h"

#define STEPS 2000
#define WEIGHTS 2000
#define SIDE 48
#define PI 3.14159265358979323846

/* ---- a little randomness --------------------------------------------------------------------- */

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(uniform(state) + 1e-12));
    return radius * cos(2 * PI * uniform(state));
}

/* ---- one trial ------------------------------------------------------------------------------- */

typedef struct trial {
    const char *optimizer;
    double learning_rate;
    int seed;
    double best; /* the loss at the end of the training */
} trial;

static double loss_at(const trial *t, int step, double noise) {
    double speed = 180 + 2500 * (0.1 - t->learning_rate);
    return t->best + (2.3 - t->best) * exp(-step / speed) + noise;
}

static void log_scalars(sb_writer *w, const trial *t, int step, uint64_t *random,
                        bool is_training) {
    double noise = normal(random) * (is_training ? 0.02 : 0.006);
    double loss = loss_at(t, step, noise) + (is_training ? 0 : 0.05);
    sb_scalar(w, "loss", loss, step);
    sb_scalar(w, "accuracy", 1 / (1 + exp(3.2 * (loss - 1.0))), step);
    if (!is_training) return;
    double warm = step < 200 ? step / 200.0 : 0.5 * (1 + cos(PI * (step - 200) / (STEPS - 200)));
    sb_scalar(w, "optimizer/learning_rate", t->learning_rate * warm, step);
    sb_scalar(w, "optimizer/grad_norm", 0.3 + 2 * exp(-step / 300.0) + fabs(normal(random)) * 0.2,
              step);
}

/* Values that lie around two middles, `share` of them around the second. */
static void log_values(sb_writer *w, const char *tag, int step, double middle, double spread,
                       double second, double share, uint64_t *random) {
    static float values[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++)
        values[i] = (float)((uniform(random) < share ? second : middle) + normal(random) * spread);
    const int64_t dims[] = {WEIGHTS};
    const sb_array array = {.data = values, .dtype = SB_FLOAT, .rank = 1, .dims = dims};
    sb_histogram(w, tag, &array, step, NULL, NULL);
}

/* Weights that spread and drift, gradients that narrow, activations that fall apart into two
 * groups: more so, the higher the learning rate. */
static void log_histograms(sb_writer *w, const trial *t, int step, uint64_t *random) {
    double way = 1 - exp(-step / 600.0), rate = t->learning_rate / 0.1;
    log_values(w, "layer1/weights", step, 0, 0.02 + 0.1 * way * (0.5 + rate), 0, 0, random);
    log_values(w, "layer1/gradients", step, 0, 0.002 + 0.03 * exp(-step / 250.0), 0, 0, random);
    log_values(w, "layer2/weights", step, 0.05 * way * rate, 0.03 + 0.04 * way, 0, 0, random);
    log_values(w, "layer2/activations", step, -1 - 0.6 * way, 0.5, 1.4 * way, 0.4 * way, random);
}

/* Rings that get sharper as training goes on. */
static void log_images(sb_writer *w, int step) {
    static uint8_t pixels[3][SIDE][SIDE][3];
    double sharpness = 1 + step / 250.0;
    for (int n = 0; n < 3; n++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                double r = hypot(x - SIDE / 2.0, y - SIDE / 2.0) / SIDE;
                double ring = pow(0.5 + 0.5 * cos(r * 14 - n), sharpness);
                pixels[n][y][x][0] = (uint8_t)(255 * ring);
                pixels[n][y][x][1] = (uint8_t)(200 * ring * r * 1.4);
                pixels[n][y][x][2] = (uint8_t)(60 + 180 * (1 - ring));
            }
    const int64_t dims[] = {3, SIDE, SIDE, 3};
    const sb_array array = {.data = pixels, .dtype = SB_UINT8, .rank = 4, .dims = dims};
    const sb_meta meta =
        SB_INIT(sb_meta, .description = "What the **generator** makes of three fixed codes.");
    sb_image(w, "samples", &array, step, NULL, &meta);
}

/* A landscape: sky, sun, hill and its reflection; red, green and blue at (x, y), both 0 to 1. */
static double landscape(double x, double y, int channel) {
    static const double sun[] = {250, 214, 120}, sky[] = {96, 140, 205}, dusk[] = {214, 160, 130},
                        hill[] = {34, 62, 70};
    double horizon = 0.58 + 0.05 * sin(7 * x) + 0.02 * sin(19 * x);
    if (hypot(x - 0.68, y - 0.3) < 0.09) return sun[channel];
    if (y > horizon && y < 0.72) return hill[channel];
    double height = y < 0.72 ? y : 1.44 - y; /* the lake is a mirror */
    double light = dusk[channel] * height + sky[channel] * (1 - height);
    return y < 0.72 ? light : 0.75 * light;
}

/* What a denoiser makes of the landscape: the better it is trained, the less noise is left. */
static void log_reconstruction(sb_writer *w, const trial *t, int step, uint64_t *random) {
    enum { N = 2, SIZE = 128 };
    static uint8_t pixels[N][SIZE][SIZE][3];
    double noise = 60 * loss_at(t, step, 0);
    for (int n = 0; n < N; n++)
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                for (int k = 0; k < 3; k++) {
                    double clean =
                        landscape((double)(n ? SIZE - x : x) / SIZE, (double)y / SIZE, k);
                    double value = clean + noise * normal(random);
                    pixels[n][y][x][k] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
                }
    const int64_t dims[] = {N, SIZE, SIZE, 3};
    const sb_array array = {.data = pixels, .dtype = SB_UINT8, .rank = 4, .dims = dims};
    sb_image(w, "val/reconstruction", &array, step, NULL, NULL);
}

/* A ball that rolls through the picture. */
static void log_video(sb_writer *w, int step) {
    enum { FRAMES = 24, SIZE = 64 };
    static uint8_t frames[1][FRAMES][3][SIZE][SIZE];
    for (int f = 0; f < FRAMES; f++)
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                double at = (double)f / FRAMES;
                double r = hypot(x - SIZE * at, y - SIZE * (0.7 - 0.4 * fabs(sin(3 * PI * at))));
                for (int k = 0; k < 3; k++)
                    frames[0][f][k][y][x] = (uint8_t)(r < 7 ? 220 - 60 * k : y > 52 ? 70 : 24);
            }
    const int64_t dims[] = {1, FRAMES, 3, SIZE, SIZE};
    const sb_array array = {.data = frames, .dtype = SB_UINT8, .rank = 5, .dims = dims};
    sb_video(w, "rollout", &array, 12, step, NULL, NULL);
}

/* A voice that learns to speak: syllables of a few harmonics, less noise with every step. Louder in
 * one trial than in the other, which matching the loudness makes up for. */
static void log_sound(sb_writer *w, const trial *t, int step, uint64_t *random) {
    enum { RATE = 16000, LENGTH = 2 * RATE };
    static float samples[LENGTH];
    double skill = (double)step / STEPS, pitch = t->seed % 2 ? 120 : 180;
    for (int i = 0; i < LENGTH; i++) {
        double at = (double)i / RATE, voice = 0;
        double syllable = sqrt(fmax(0, sin(2 * PI * 1.75 * at)));
        double glide = pitch * (1 + 0.15 * sin(2 * PI * 0.8 * at));
        for (int k = 1; k < 12; k++) voice += sin(2 * PI * glide * k * at) / k;
        voice = syllable * voice * (0.3 + 0.7 * skill);
        samples[i] = (float)((voice * 0.35 + normal(random) * 0.12 * (1 - skill)) *
                             (t->seed % 2 ? 1.0 : 0.5));
    }
    const int64_t dims[] = {1, LENGTH, 1};
    const sb_array array = {.data = samples, .dtype = SB_FLOAT, .rank = 3, .dims = dims};
    const sb_meta meta =
        SB_INIT(sb_meta, .description = "*The keeper counted the ships*, spoken by the model.");
    sb_audio(w, "voice", &array, RATE, 1, step, &meta);
}

/* What the model writes: each step keeps a little more of the story. */
static void log_samples(sb_writer *w, const trial *t, int step) {
    static const char *const early[] = {"The lighthouse lighthouse was a house of light.",
                                        "The sea was big and the sea was big.",
                                        "The keeper was keeping the light."};
    static const char *const late[] = {
        "The lighthouse keeper counted forty-one steps to the lamp room.",
        "On some nights the sea was a wall, on others a floor.",
        "Nobody had thanked him in nineteen years, and he had not noticed."};
    char text[600] = "";
    for (int i = 0; i < 3; i++) {
        const char *line = step >= 500 * (i + 1) + 100 * (t->seed % 3) ? late[i] : early[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", line);
    }
    sb_text(w, "samples/keeper", text, step);
}

/* A report as people write them: a table, a formula, code. */
static void log_report(sb_writer *w, const trial *t, int step) {
    char text[1200];
    double loss = loss_at(t, step, 0);
    snprintf(text, sizeof text,
             "## Evaluation at step %d\n\n"
             "| prompts | loss | perplexity |\n|---|---:|---:|\n"
             "| stories | %.3f | %.2f |\n| letters | %.3f | %.2f |\n\n"
             "Repetition is counted as\n\n"
             "$$r = 1 - \\frac{|\\{w_i \\dots w_{i+2}\\}|}{n - 2}$$\n\n"
             "over $n$ tokens:\n\n"
             "```python\ndef repetition(tokens, n=3):\n"
             "    grams = [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]\n"
             "    return 1 - len(set(grams)) / max(1, len(grams))  # 0: never repeats\n```\n",
             step, loss, exp(loss), loss + 0.2, exp(loss + 0.2));
    sb_text(w, "eval/report", text, step);
}

static void log_curve(sb_writer *w, int step, uint64_t *random) {
    enum { N = 500 };
    static float predictions[N];
    static uint8_t labels[N];
    double skill = 0.2 + 0.6 * step / STEPS;
    for (int i = 0; i < N; i++) {
        labels[i] = uniform(random) < 0.4;
        double guess = 0.5 + (labels[i] ? 0.5 : -0.5) * skill + normal(random) * 0.2;
        predictions[i] = (float)(guess < 0 ? 0 : guess > 1 ? 1 : guess);
    }
    const int64_t dims[] = {N};
    const sb_array truth = {.data = labels, .dtype = SB_BOOL, .rank = 1, .dims = dims},
                   guesses = {.data = predictions, .dtype = SB_FLOAT, .rank = 1, .dims = dims};
    sb_pr_curve(w, "detector", &truth, &guesses, NULL, 0, step, NULL);
}

/* ---- things that are logged once ------------------------------------------------------------- */

static void log_text(sb_writer *w, const trial *t) {
    char text[600];
    snprintf(text, sizeof text,
             "### %s, seed %d\n\n| hyperparameter | value |\n|---|---|\n| learning rate | %g |\n| "
             "batch | 100 |\n\n"
             "Trained on *generated* digits. 训练数据是生成的。\n",
             t->optimizer, t->seed, t->learning_rate);
    sb_text(w, "notes", text, 0);
}

static void log_mesh(sb_writer *w) {
    enum { RINGS = 12, ROUND = 24 };
    static float vertices[RINGS * ROUND][3];
    static uint8_t colors[RINGS * ROUND][3];
    for (int i = 0; i < RINGS * ROUND; i++) {
        double a = 2 * PI * (i % ROUND) / ROUND, b = 2 * PI * (i / ROUND) / RINGS;
        vertices[i][0] = (float)((1 + 0.4 * cos(b)) * cos(a));
        vertices[i][1] = (float)((1 + 0.4 * cos(b)) * sin(a));
        vertices[i][2] = (float)(0.4 * sin(b));
        colors[i][0] = (uint8_t)(127 + 127 * cos(a));
        colors[i][1] = (uint8_t)(127 + 127 * sin(b));
        colors[i][2] = 200;
    }
    const int64_t dims[] = {1, RINGS * ROUND, 3};
    const sb_array points = {.data = vertices, .dtype = SB_FLOAT, .rank = 3, .dims = dims},
                   paint = {.data = colors, .dtype = SB_UINT8, .rank = 3, .dims = dims};
    sb_mesh(w, "torus", &points, &paint, NULL, NULL, 0, NULL);
}

static void log_embedding(sb_writer *w, uint64_t *random) {
    enum { N = 200, D = 16 };
    static float matrix[N][D];
    static char labels[N][16];
    static const char *rows[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < D; k++)
            matrix[i][k] = (float)((k == i % 10 ? 3 : 0) + normal(random) * 0.5);
        snprintf(labels[i], sizeof labels[i], "digit %d", i % 10);
        rows[i] = labels[i];
    }
    const int64_t dims[] = {N, D};
    const sb_array array = {.data = matrix, .dtype = SB_FLOAT, .rank = 2, .dims = dims};
    const sb_embedding_opts opts =
        SB_INIT(sb_embedding_opts, .metadata = rows, .metadata_columns = 1);
    sb_err err;
    if (sb_embedding(w, "codes", &array, 0, &opts, &err) != SB_OK)
        fprintf(stderr, "%s\n", err.text);
}

static void log_hparams(sb_writer *w, const trial *t) {
    const sb_hparam hparams[] = {
        {"optimizer", {.type = SB_HPARAM_STRING, .string = t->optimizer}},
        {"learning_rate", {.type = SB_HPARAM_NUMBER, .number = t->learning_rate}},
        {"seed", {.type = SB_HPARAM_NUMBER, .number = t->seed}},
    };
    sb_hparams_start(w, hparams, 3, NULL, 0, 0);
    sb_hparams_end(w, SB_SESSION_SUCCESS, 0, 0);
}

static void log_layout(sb_writer *w) {
    static const char *const both[] = {"loss", "accuracy"};
    const sb_chart chart =
        SB_INIT(sb_chart, .title = "loss and accuracy", .tags = both, .tag_count = 2);
    const sb_chart_category category =
        SB_INIT(sb_chart_category, .title = "overview", .charts = &chart, .chart_count = 1);
    sb_custom_scalars(w, &category, 1);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static sb_writer *open_run(const char *root, const trial *t, const char *part) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-lr%g-seed%d%s", root, t->optimizer, t->learning_rate,
             t->seed, part);
    sb_writer *w = NULL;
    sb_err err;
    if (sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = path), &err) != SB_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(sb_status_exit_code(err.code));
    }
    return w;
}

static void close_run(sb_writer *w) {
    sb_err err;
    if (sb_writer_close(w, &err) == SB_OK) return;
    fprintf(stderr, "%s\n", err.text);
    exit(sb_status_exit_code(err.code));
}

static void write_trial(const char *root, const trial *t, bool is_first, bool has_media) {
    uint64_t random = (uint64_t)t->seed * 7919 + (uint64_t)(t->learning_rate * 1e6);
    uint64_t pictures = random; /* so that pictures leave the other numbers as they are */
    sb_writer *train = open_run(root, t, ""), *validation = open_run(root, t, "/validation");
    log_hparams(train, t);
    log_text(train, t);
    if (is_first) {
        demo_log_graph(train);
        log_mesh(train);
        log_layout(train);
        log_embedding(train, &random);
        log_video(train, STEPS);
    }
    for (int step = 0; step <= STEPS; step++) {
        log_scalars(train, t, step, &random, true);
        if (step % 20 == 0) log_scalars(validation, t, step, &random, false);
        if (step % 25 == 0) log_histograms(train, t, step, &random);
        if (step % 50 == 0) log_reconstruction(validation, t, step, &pictures);
        if (has_media && step % 200 == 0) {
            log_sound(train, t, step, &random);
            log_samples(train, t, step);
            log_report(train, t, step);
        }
        if (is_first && step % 200 == 0) {
            log_images(train, step);
            log_curve(train, step, &random);
        }
    }
    close_run(train);
    close_run(validation);
}

int main(int argc, char **argv) {
    static const trial trials[] = {
        {"adam", 0.01, 1, 0.18}, {"adam", 0.01, 2, 0.21}, {"adam", 0.1, 1, 0.34},
        {"adam", 0.1, 2, 0.37},  {"sgd", 0.1, 1, 0.42},   {"sgd", 0.1, 2, 0.45},
    };
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: %s DIR\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        write_trial(argv[1], &trials[i], i == 0, i < 2);
    return 0;
}
