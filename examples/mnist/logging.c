/* logging.c: everything goes through seaboard/writer.h. */
#include "logging.h"

#include <stdio.h>
#include <string.h>

/* ---- the sweep ------------------------------------------------------------------------------- */

bool log_experiment(const char *root, sb_err *err) {
    sb_writer *w;
    if (sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = root), err) != SB_OK) return false;
    const sb_hparam_info hparams[] = {
        SB_INIT(sb_hparam_info, .name = "optimizer", .type = SB_HPARAM_STRING),
        SB_INIT(sb_hparam_info, .name = "learning_rate", .type = SB_HPARAM_NUMBER),
        SB_INIT(sb_hparam_info, .name = "dropout", .type = SB_HPARAM_NUMBER)};
    const sb_metric_info metrics[] = {
        SB_INIT(sb_metric_info, .group = "validation", .tag = "accuracy",
                .display_name = "validation accuracy"),
        SB_INIT(sb_metric_info, .tag = "loss", .display_name = "training loss")};
    sb_hparams_config(w,
                      &SB_INIT(sb_experiment, .hparams = hparams, .hparam_count = 3,
                               .metrics = metrics, .metric_count = 2),
                      0);
    return sb_writer_close(w, err) == SB_OK;
}

static void log_notes(run_log *l, const hyperparameters *h) {
    char text[600];
    snprintf(
        text, sizeof text,
        "### A small convolutional network\n\n| hyperparameter | value |\n|---|---|\n| optimizer "
        "| %s |\n| learning rate | %g |\n| dropout | %g |\n\nTwo convolutions, 64 features, ten "
        "digits. 两个卷积层，64 个特征，十个数字。\n",
        h->optimizer, h->learning_rate, h->dropout);
    sb_text(l->train, "notes", text, 0);
}

bool log_open(run_log *l, const char *root, const hyperparameters *h, sb_err *err) {
    char path[4400];
    *l = (run_log){0};
    snprintf(l->name, sizeof l->name, "%s-lr%g-drop%g", h->optimizer, h->learning_rate, h->dropout);
    snprintf(l->path, sizeof l->path, "%s/%s", root, l->name);
    if (sb_writer_open(&l->train, &SB_INIT(sb_writer_opts, .logdir = l->path), err) != SB_OK)
        return false;
    snprintf(path, sizeof path, "%s/validation", l->path);
    if (sb_writer_open(&l->validation, &SB_INIT(sb_writer_opts, .logdir = path), err) != SB_OK)
        return false;
    const sb_hparam values[] = {
        {"optimizer", {.type = SB_HPARAM_STRING, .string = h->optimizer}},
        {"learning_rate", {.type = SB_HPARAM_NUMBER, .number = h->learning_rate}},
        {"dropout", {.type = SB_HPARAM_NUMBER, .number = h->dropout}}};
    sb_hparams_start(l->train, values, 3, l->name, 0, 0);
    log_notes(l, h);
    return true;
}

bool log_close(run_log *l, bool is_success, sb_err *err) {
    if (l->train)
        sb_hparams_end(l->train, is_success ? SB_SESSION_SUCCESS : SB_SESSION_FAILURE, 0, 0);
    bool train = sb_writer_close(l->train, err) == SB_OK;
    return sb_writer_close(l->validation, err) == SB_OK && train;
}

/* ---- numbers and weights --------------------------------------------------------------------- */

void log_training(run_log *l, float loss, float accuracy, int step) {
    sb_scalar(l->train, "loss", (double)loss, step);
    sb_scalar(l->train, "accuracy", (double)accuracy, step);
}

void log_validation(run_log *l, double loss, double accuracy, int step) {
    sb_scalar(l->validation, "loss", loss, step);
    sb_scalar(l->validation, "accuracy", accuracy, step);
}

/* Each filter as a picture of 40 by 40, grey is 0. */
void log_filters(run_log *l, const float *filters, int count, int step) {
    enum { MOST = 8, ZOOM = 8, SIDE = 5 * ZOOM };
    static uint8_t pixels[MOST][SIDE][SIDE][1];
    if (count > MOST) count = MOST;
    for (int n = 0; n < count; n++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                float w = filters[((y / ZOOM) * 5 + x / ZOOM) * count + n] * 400 + 128;
                pixels[n][y][x][0] = (uint8_t)(w < 0 ? 0 : w > 255 ? 255 : w);
            }
    const int64_t dims[] = {count, SIDE, SIDE, 1};
    const sb_array array = {.data = pixels, .dtype = SB_UINT8, .rank = 4, .dims = dims};
    sb_image(l->train, "conv1/filters", &array, step, &SB_INIT(sb_image_opts, .max_outputs = MOST),
             NULL);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

void wrong_add(wrong_digits *w, const float *images, const uint8_t *labels,
               const int64_t *predictions, int count) {
    for (int i = 0; i < count; i++) {
        w->confused[labels[i]][predictions[i]]++;
        if (predictions[i] == labels[i] || w->count == WRONG_MOST) continue;
        for (int k = 0; k < 784; k++)
            w->pixels[w->count][k / 28][k % 28] = (uint8_t)(images[i * 784 + k] * 255);
        w->is[w->count] = labels[i];
        w->taken_for[w->count++] = (uint8_t)predictions[i];
    }
}

void log_wrong(run_log *l, const wrong_digits *w, int step) {
    char text[2000];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "| is \\ taken for | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 "
                                "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 10; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "| **%d** |", i);
        for (int k = 0; k < 10; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, " %d |", w->confused[i][k]);
        n += (size_t)snprintf(text + n, sizeof text - n, "\n");
    }
    sb_text(l->validation, "confusion", text, step);
    if (w->count == 0) return;
    const int64_t dims[] = {w->count, 28, 28, 1};
    const sb_array array = {.data = w->pixels, .dtype = SB_UINT8, .rank = 4, .dims = dims};
    n = (size_t)snprintf(text, sizeof text, "Digits that were taken for others:");
    for (int i = 0; i < w->count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %d as %d%s", w->is[i], w->taken_for[i],
                              i + 1 < w->count ? "," : "");
    sb_image(l->validation, "wrong predictions", &array, step,
             &SB_INIT(sb_image_opts, .max_outputs = WRONG_MOST),
             &SB_INIT(sb_meta, .description = text));
}

void curve_add(curve_points *c, const uint8_t *labels, const float *probabilities, int count) {
    for (int i = 0; i < count && c->count < CURVE_MOST; i++) {
        c->is_eight[c->count] = labels[i] == 8;
        c->probability[c->count++] = probabilities[i * 10 + 8];
    }
}

void log_curve(run_log *l, const curve_points *c, int step) {
    const int64_t dims[] = {c->count};
    const sb_array labels = {.data = c->is_eight, .dtype = SB_BOOL, .rank = 1, .dims = dims},
                   guesses = {.data = c->probability, .dtype = SB_FLOAT, .rank = 1, .dims = dims};
    sb_pr_curve(l->validation, "is it an 8", &labels, &guesses, NULL, 0, step, NULL);
}

/* ---- the projector --------------------------------------------------------------------------- */

bool log_features(run_log *l, const float *features, int64_t width, const float *pictures,
                  const uint8_t *labels, int step, sb_err *err) {
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    static const char *rows[EMBEDDED];
    for (int i = 0; i < EMBEDDED; i++) rows[i] = names[labels[i]];
    const int64_t dims[] = {EMBEDDED, width}, picture_dims[] = {EMBEDDED, 1, 28, 28};
    const sb_array matrix = {.data = features, .dtype = SB_FLOAT, .rank = 2, .dims = dims},
                   images = {.data = pictures, .dtype = SB_FLOAT, .rank = 4, .dims = picture_dims};
    return sb_embedding(l->train, "features", &matrix, step,
                        &SB_INIT(sb_embedding_opts, .metadata = rows, .metadata_columns = 1,
                                 .images = &images),
                        err) == SB_OK;
}

/* ---- the profile ----------------------------------------------------------------------------- */

bool profile_start(profile *p, sb_net_session *s, sb_err *err) {
    if (sb_recorder_start(&p->r, NULL, err) != SB_OK) return false;
    p->loop = sb_recorder_track(p->r, "training loop");
    p->train = sb_recorder_name(p->r, "train");
    p->load = sb_recorder_name(p->r, "load batch");
    return sb_net_session_record(s, p->r, p->loop, err) == SB_OK;
}

bool profile_stop(profile *p, sb_net_session *s, const char *run, sb_err *err) {
    if (!p->r) return true;
    sb_recorder *r = p->r;
    sb_net_session_record(s, NULL, 0, NULL);
    p->r = NULL;
    return sb_recorder_stop(r, run, err) == SB_OK;
}
