/* progress.h: a bar on the terminal, beside the lines that are printed; none where there is no
 * terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool is_shown;
    int64_t first, last;
    double started, drawn;
} progress;

double now_seconds(void);
void progress_begin(progress *p, int64_t first, int64_t last);
/* At most ten times a second. */
void progress_draw(progress *p, int64_t step);
/* Before a line is printed, and at the end. */
void progress_clear(progress *p);

#endif
