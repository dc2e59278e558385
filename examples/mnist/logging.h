/* logging.h: what the training writes: one writer for training, one for validation, and a function
 * for each thing that is logged. */
#ifndef LOGGING_H
#define LOGGING_H

#include "seaboard/seaboard.h"

enum { WRONG_MOST = 6, CURVE_MOST = 1000, EMBEDDED = 1000 };

typedef struct hyperparameters {
    const char *optimizer;
    double learning_rate, dropout;
    bool is_made; /* the digits are generated, which the notes say */
} hyperparameters;

typedef struct run_log {
    sb_writer *train, *validation;
    char name[128], path[4300];
} run_log;

/* The description of the whole sweep, for the hyperparameters' tab. */
bool log_experiment(const char *root, sb_err *err);
bool log_open(run_log *l, const char *root, const hyperparameters *h, sb_err *err);
/* False when something could not be written. */
bool log_close(run_log *l, bool is_success, sb_err *err);

void log_training(run_log *l, float loss, float accuracy, int step);
void log_validation(run_log *l, double loss, double accuracy, int step);
/* filters: [5, 5, 1, count] */
void log_filters(run_log *l, const float *filters, int count, int step);

/* Digits that were taken for others. */
typedef struct wrong_digits {
    int count;
    uint8_t pixels[WRONG_MOST][28][28];
    uint8_t is[WRONG_MOST], taken_for[WRONG_MOST];
    int confused[10][10];
} wrong_digits;

void wrong_add(wrong_digits *w, const float *images, const uint8_t *labels,
               const int64_t *predictions, int count);
void log_wrong(run_log *l, const wrong_digits *w, int step);

/* How sure the network is that a picture is an 8. */
typedef struct curve_points {
    int count;
    uint8_t is_eight[CURVE_MOST];
    float probability[CURVE_MOST];
} curve_points;

void curve_add(curve_points *c, const uint8_t *labels, const float *probabilities, int count);
void log_curve(run_log *l, const curve_points *c, int step);

/* features: [EMBEDDED, width], pictures: [EMBEDDED, 784] */
bool log_features(run_log *l, const float *features, int64_t width, const float *pictures,
                  const uint8_t *labels, int step, sb_err *err);

/* A recording of some steps: where the time of the loop and of every op goes. Calls on a recorder
 * that is NULL do nothing, so the loop makes them always. */
typedef struct profile {
    sb_recorder *r;
    uint32_t loop;        /* the track */
    uint32_t train, load; /* names of slices */
} profile;

bool profile_start(profile *p, sb_net_session *s, sb_err *err);
/* run NULL: it is thrown away. */
bool profile_stop(profile *p, sb_net_session *s, const char *run, sb_err *err);

#endif
