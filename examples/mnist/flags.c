/* flags.c: one table of options. `--name value` and `--name=value` are the same. Unknown options
 * are passed over with a note, as the tutorial's program passes them on. */
#include "flags.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { REAL, INTEGER, TEXT, SWITCH } kind;

typedef struct option {
    const char *name;
    kind kind;
    size_t at;  /* in flags */
    double min; /* of numbers */
    const char *help;
} option;

#define AT(field) offsetof(flags, field)

static const option options[] = {
    {"learning_rate", REAL, AT(learning_rate), 0, "Initial learning rate."},
    {"max_steps", INTEGER, AT(max_steps), 1, "Number of steps to run trainer."},
    {"hidden1", INTEGER, AT(hidden1), 1, "Number of units in hidden layer 1."},
    {"hidden2", INTEGER, AT(hidden2), 1, "Number of units in hidden layer 2."},
    {"batch_size", INTEGER, AT(batch_size), 1,
     "Batch size. Must divide evenly into the dataset sizes."},
    {"input_data_dir", TEXT, AT(input_data_dir), 0, "Directory with the input data."},
    {"log_dir", TEXT, AT(log_dir), 0, "Directory to put the log data."},
    {"fake_data", SWITCH, AT(fake_data), 0, "If true, uses fake data for unit testing."},
    {"restore", SWITCH, AT(restore), 0, "Go on from the newest checkpoint in log_dir."},
    {"seed", INTEGER, AT(seed), 1, "Of the weights and of the order of batches."},
    {"threads", INTEGER, AT(threads), 0, "0: as many as there are processors."},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static void *field(flags *f, const option *o) {
    return (char *)f + o->at;
}

static void print_help(const char *program) {
    printf("usage: %s [options]\n\n", program);
    for (int i = 0; i < OPTIONS; i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s%s", options[i].name,
                 options[i].kind == SWITCH ? "" : " X");
        printf("  %-22s %s\n", name, options[i].help);
    }
}

static bool set_number(flags *f, const option *o, const char *text) {
    char *end;
    double x = strtod(text, &end);
    bool is_integer = o->kind == REAL || (x == floor(x) && x < 9e15);
    if (end == text || *end || !isfinite(x) || x < o->min || !is_integer) {
        fprintf(stderr, "--%s: '%s' is no %s of at least %g\n", o->name, text,
                o->kind == REAL ? "number" : "whole number", o->min);
        return false;
    }
    if (o->kind == REAL)
        *(double *)field(f, o) = x;
    else if (o->at == AT(threads))
        f->threads = x > 256 ? 256 : (uint32_t)x;
    else
        *(int64_t *)field(f, o) = (int64_t)x;
    return true;
}

static bool set_text(flags *f, const option *o, const char *text) {
    size_t n = strlen(text);
    if (n == 0 || n >= sizeof f->log_dir - 256) {
        fprintf(stderr, "--%s: the path is empty or too long\n", o->name);
        return false;
    }
    memcpy(field(f, o), text, n + 1);
    if (o->at == AT(input_data_dir)) f->is_data_dir_given = true;
    return true;
}

static const option *find(const char *name, size_t n) {
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(options[i].name) == n && strncmp(options[i].name, name, n) == 0)
            return &options[i];
    return NULL;
}

static void set_defaults(flags *f) {
    const char *base = getenv("TEST_TMPDIR");
    *f = (flags){.learning_rate = 0.01,
                 .max_steps = 2000,
                 .hidden1 = 128,
                 .hidden2 = 32,
                 .batch_size = 100,
                 .seed = 1};
    if (!base || !*base || strlen(base) > 3000) base = "/tmp";
    snprintf(f->input_data_dir, sizeof f->input_data_dir, "%s/tensorflow/mnist/input_data", base);
    snprintf(f->log_dir, sizeof f->log_dir, "%s/tensorflow/mnist/logs/fully_connected_feed", base);
}

int flags_read(flags *f, int argc, char **argv) {
    set_defaults(f);
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            print_help(argv[0]);
            return 1;
        }
        size_t n = strncmp(name, "--", 2) == 0 ? strcspn(name + 2, "=") : 0;
        const option *o = n ? find(name + 2, n) : NULL;
        if (!o) {
            fprintf(stderr, "%s: not an option of this program, passed over\n", name);
            continue;
        }
        const char *value = name[2 + n] == '=' ? name + 3 + n : NULL;
        if (o->kind == SWITCH) {
            *(bool *)field(f, o) = !value || strcmp(value, "false") != 0;
            continue;
        }
        if (!value && i + 1 < argc) value = argv[++i];
        if (!value) {
            fprintf(stderr, "--%s: expected one argument\n", o->name);
            return 3;
        }
        if (!(o->kind == TEXT ? set_text(f, o, value) : set_number(f, o, value))) return 3;
    }
    return 0;
}

/* A word as a shell takes it, whatever is in it. */
static void print_quoted(const char *word) {
    putchar('\'');
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, stdout);
    putchar('\'');
}

void flags_print_restore(const flags *f, const char *program) {
    print_quoted(program);
    printf(" --restore --learning_rate %.17g --max_steps %lld --hidden1 %lld --hidden2 %lld "
           "--batch_size %lld --seed %llu --log_dir ",
           f->learning_rate, (long long)f->max_steps, (long long)f->hidden1, (long long)f->hidden2,
           (long long)f->batch_size, (unsigned long long)f->seed);
    print_quoted(f->log_dir);
    if (f->is_data_dir_given) {
        printf(" --input_data_dir ");
        print_quoted(f->input_data_dir);
    }
    if (f->fake_data) printf(" --fake_data");
    printf("\n");
}
