/* line.h: the model that both programs use: y = x * weight + bias. */
#ifndef LINE_H
#define LINE_H

#include "seaboard/seaboard.h"

typedef struct line {
    sb_net *g;
    sb_op *x, *y; /* placeholders: one number each */
    sb_op *weight, *bias, *prediction;
    sb_op *cost, *train, *summary, *init;
} line;

/* samples: how many points there are; the cost is divided by twice that. */
bool line_build(line *l, int samples, sb_err *err);

#endif
