/* flags.h: the options of the training program, as the tutorial has them, and a few more. */
#ifndef FLAGS_H
#define FLAGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct flags {
    double learning_rate;
    int64_t max_steps, hidden1, hidden2, batch_size;
    char input_data_dir[4096], log_dir[4096];
    bool fake_data, restore, is_data_dir_given;
    uint64_t seed;
    uint32_t threads;
} flags;

/* Reads argv; prints what is wrong with it. 0: go on; else the program ends with this code plus 1:
 * 1 means success (--help), 3 bad usage. */
int flags_read(flags *f, int argc, char **argv);
/* Prints the command that goes on where this run stopped. */
void flags_print_restore(const flags *f, const char *program);

#endif
