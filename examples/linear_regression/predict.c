/* predict.c: restores the line that linear_regression.c saved, and predicts. */
#include <stdio.h>
#include <stdlib.h>

#include "line.h"

int main(int argc, char **argv) {
    line l;
    sb_err err;
    sb_net_session *s = NULL;
    char path[4096];
    if (argc < 3) return fprintf(stderr, "usage: %s LOG_DIR X...\n", argv[0]), 2;
    if (!line_build(&l, 1, &err) || sb_net_session_open(&s, l.g, NULL, &err) != SB_OK ||
        sb_latest_checkpoint(argv[1], path, sizeof path, &err) != SB_OK ||
        sb_net_restore(s, path, &err) != SB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        char *end;
        float x = strtof(argv[i], &end);
        const sb_feed feed = {l.x, {.data = &x, .dtype = SB_FLOAT}};
        sb_array out;
        if (*end || end == argv[i]) return fprintf(stderr, "%s is no number\n", argv[i]), 2;
        if (sb_net_run(s, &l.prediction, 1, &feed, 1, &out, &err) != SB_OK)
            return fprintf(stderr, "%s\n", err.text), 1;
        printf("X= %g prediction= %g\n", (double)x, (double)*(const float *)out.data);
    }
    sb_net_session_close(s);
    sb_net_free(l.g);
    return 0;
}
