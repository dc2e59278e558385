/* fully_connected_feed.c: trains and evaluates the MNIST network using a feed dictionary: the
 * tutorial's program, step by step.
 *
 *     build/examples/fully_connected_feed --log_dir logs
 *     build/seaboard --logdir logs */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flags.h"
#include "input_data.h"
#include "log_dir.h"
#include "made_digits.h"
#include "mnist.h"
#include "progress.h"

enum { PRINT_EVERY = 100, SAVE_EVERY = 1000 };

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number) {
    (void)signal_number;
    is_interrupted = 1;
}

static int fail(const char *text) {
    fflush(stdout);
    fprintf(stderr, "%s\n", text);
    return 1;
}

/* Everything of one training. */
typedef struct trainer {
    flags f;
    digits data;
    /* the graph */
    sb_net *g;
    sb_op *images, *labels, *loss, *train, *correct, *summary, *init, *global_step;
    /* its run */
    sb_net_session *session;
    sb_writer *writer;
    float *image_batch;
    uint8_t *label_batch;
    progress bar;
    /* the parameters of the last printed step, in case the loss becomes NaN */
    uint8_t *good;
    size_t good_bytes;
} trainer;

/* ---- data ------------------------------------------------------------------------------------ */

static void cache_dir(const char *name, char *path, size_t n) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache)
        snprintf(path, n, "%s/seaboard/%s", cache, name);
    else
        snprintf(path, n, "%s/.cache/seaboard/%s", home ? home : "/tmp", name);
}

/* The given folder; else the default one, the real digits that tools/setup brings, generated
 * ones. */
static bool find_data(trainer *t, char *text, size_t n) {
    char *dir = t->f.input_data_dir;
    size_t room = sizeof t->f.input_data_dir;
    if (t->f.is_data_dir_given || digits_are_in(dir)) return true;
    cache_dir("mnist", dir, room);
    if (digits_are_in(dir)) return true;
    cache_dir("mnist-generated", dir, room);
    if (!digits_are_made(dir))
        printf("The MNIST files are not here; drawing digits into %s\n", dir);
    return made_digits_write(dir, text, n);
}

#define GENERATED "These digits are generated, not MNIST: accuracies are not comparable."

static bool load_data(trainer *t, char *text, size_t n) {
    if (t->f.fake_data) return digits_fake(&t->data);
    if (!find_data(t, text, n) || !digits_read(&t->data, t->f.input_data_dir, t->f.seed, text, n))
        return false;
    if (digits_are_made(t->f.input_data_dir)) printf("%s\n", GENERATED);
    return true;
}

/* A batch size must divide all sets. */
static bool check_batch_size(const trainer *t, char *text, size_t n) {
    const size_t counts[] = {t->data.train.count, t->data.validation.count, t->data.test.count};
    size_t size = (size_t)t->f.batch_size, used;
    bool divides = true;
    for (int i = 0; i < 3; i++) divides &= size <= counts[i] && counts[i] % size == 0;
    if (divides) return true;
    used = (size_t)snprintf(text, n,
                            "--batch_size %zu does not divide the %zu, %zu and %zu examples; these "
                            "sizes do:",
                            size, counts[0], counts[1], counts[2]);
    for (size_t i = 1; i <= counts[1] && used < n; i++)
        if (counts[0] % i == 0 && counts[1] % i == 0 && counts[2] % i == 0)
            used += (size_t)snprintf(text + used, n - used, " %zu", i);
    return false;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool build_graph(trainer *t, sb_err *err) {
    if (sb_net_new(&t->g, err) != SB_OK) return false;
    sb_net *g = t->g;
    t->images = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(t->f.batch_size, IMAGE_PIXELS), NULL);
    t->labels = sb_net_placeholder(g, SB_INT32, SB_DIMS(t->f.batch_size), NULL);
    sb_op *logits = mnist_inference(g, t->images, t->f.hidden1, t->f.hidden2);
    t->loss = mnist_loss(g, logits, t->labels);
    t->train = mnist_training(g, t->loss, t->f.learning_rate, &t->global_step);
    t->correct = mnist_evaluation(g, logits, t->labels);
    t->summary = sb_net_merge_all(g);
    t->init = sb_net_initializer(g, NULL);
    sb_net_saver(g);
    return sb_net_check(g, err) == SB_OK;
}

static bool open_log(trainer *t, sb_err *err) {
    sb_slice graph;
    const sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = t->f.log_dir, .style = SB_STYLE_TF1);
    if (sb_writer_open(&t->writer, &opts, err) != SB_OK ||
        sb_net_graph_def(t->g, &graph, err) != SB_OK || sb_graph(t->writer, graph) != SB_OK ||
        sb_net_meta_graph_def(t->g, false, &graph, err) != SB_OK ||
        sb_meta_graph(t->writer, graph) != SB_OK)
        return false;
    bool is_made = !t->f.fake_data && digits_are_made(t->f.input_data_dir);
    return !is_made || sb_text(t->writer, "data", GENERATED, 0) == SB_OK;
}

/* Fresh weights, or those of the newest checkpoint. */
static bool set_weights(trainer *t, sb_err *err) {
    char path[8192];
    if (!t->f.restore) return sb_net_run(t->session, &t->init, 1, NULL, 0, NULL, err) == SB_OK;
    if (sb_latest_checkpoint(t->f.log_dir, path, sizeof path, err) != SB_OK) return false;
    printf("Restoring parameters from %s\n", path);
    return sb_net_restore(t->session, path, err) == SB_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool run_batch(trainer *t, data_set *set, uint64_t number, sb_op *const *fetches,
                      size_t count, sb_array *results, sb_err *err) {
    if (!fill_batch(set, number, (size_t)t->f.batch_size, t->image_batch, t->label_batch)) {
        snprintf(err->text, sizeof err->text, "out of memory");
        return false;
    }
    const sb_feed feeds[] = {
        {t->images,
         {.data = t->image_batch, .dtype = SB_FLOAT, .rank = 2, .dims = sb_op_dims(t->images)->at}},
        {t->labels,
         {.data = t->label_batch,
          .dtype = SB_UINT8,
          .rank = 1,
          .dims = sb_op_dims(t->labels)->at}}};
    return sb_net_run(t->session, fetches, count, feeds, 2, results, err) == SB_OK;
}

static bool evaluate(trainer *t, const char *title, data_set *set, uint64_t first, sb_err *err) {
    int64_t correct = 0;
    uint64_t steps = set->count / (size_t)t->f.batch_size;
    printf("%s\n", title);
    for (uint64_t i = 0; i < steps; i++) {
        sb_array result;
        if (!run_batch(t, set, first + i, &t->correct, 1, &result, err)) return false;
        correct += *(const int32_t *)result.data;
    }
    int64_t examples = (int64_t)steps * t->f.batch_size;
    printf("  Num examples: %lld  Num correct: %lld  Precision @ 1: %0.4f\n", (long long)examples,
           (long long)correct, (double)correct / (double)examples);
    return true;
}

/* Training batches that a run has used before this step. The evaluations of the training set use
 * the same ones: 550 after every 1000 steps. */
static uint64_t batches_before(const trainer *t, int64_t step) {
    uint64_t each = t->data.train.count / (size_t)t->f.batch_size;
    return (uint64_t)step + (uint64_t)(step / SAVE_EVERY) * each;
}

static bool save(trainer *t, int64_t step, sb_err *err) {
    char path[4200];
    snprintf(path, sizeof path, "%s/model.ckpt", t->f.log_dir);
    return sb_net_save(t->session, path, step, NULL, err) == SB_OK &&
           sb_writer_flush(t->writer, err) == SB_OK;
}

static bool save_and_evaluate(trainer *t, int64_t step, sb_err *err) {
    return save(t, step, err) &&
           evaluate(t, "Training Data Eval:", &t->data.train, batches_before(t, step) + 1, err) &&
           evaluate(t, "Validation Data Eval:", &t->data.validation, 0, err) &&
           evaluate(t, "Test Data Eval:", &t->data.test, 0, err);
}

/* Prints, and writes the summary of the same batch, which now has the loss after the update. */
static bool report(trainer *t, int64_t step, float loss, double seconds, sb_err *err) {
    sb_array summary;
    progress_clear(&t->bar);
    printf("Step %lld: loss = %.2f (%.3f sec)\n", (long long)step, (double)loss, seconds);
    fflush(stdout);
    if (!run_batch(t, &t->data.train, batches_before(t, step), &t->summary, 1, &summary, err))
        return false;
    const sb_slice *bytes = summary.data;
    return sb_summary(t->writer, *bytes, step) == SB_OK && sb_writer_flush(t->writer, err) == SB_OK;
}

/* ---- when the loss is not a number ----------------------------------------------------------- */

static sb_op *const *variables_of(trainer *t, size_t *count) {
    static const char *const names[] = {
        "hidden1/weights",        "hidden1/biases",        "hidden2/weights", "hidden2/biases",
        "softmax_linear/weights", "softmax_linear/biases", "global_step"};
    static sb_op *all[7];
    for (*count = 0; *count < 7; ++*count) all[*count] = sb_net_find(t->g, names[*count]);
    return all;
}

/* Copies all parameters out of the session (or back into it). */
static bool copy_parameters(trainer *t, bool is_back, sb_err *err) {
    size_t count, at = 0;
    sb_op *const *all = variables_of(t, &count);
    for (size_t i = 0; i < count; i++) {
        sb_array value;
        if (sb_net_get_variable(t->session, all[i], &value, err) != SB_OK) return false;
        size_t bytes = 4;
        for (uint32_t k = 0; k < value.rank; k++) bytes *= (size_t)value.dims[k];
        if (!is_back && at + bytes > t->good_bytes) {
            uint8_t *more = realloc(t->good, at + bytes);
            if (!more) return false;
            t->good = more;
            t->good_bytes = at + bytes;
        }
        if (is_back) {
            value.data = t->good + at;
            if (sb_net_set_variable(t->session, all[i], &value, err) != SB_OK) return false;
        } else {
            memcpy(t->good + at, value.data, bytes);
        }
        at += bytes;
    }
    return true;
}

/* The newest parameters whose loss was a number are saved, and the training ends. */
static bool stop_diverged(trainer *t, int64_t step, sb_err *err) {
    int64_t before = step / PRINT_EVERY * PRINT_EVERY;
    progress_clear(&t->bar);
    if (t->good && copy_parameters(t, true, err) && save(t, before > 0 ? before - 1 : 0, err))
        fprintf(stderr, "The parameters of before step %lld are saved in %s\n", (long long)before,
                t->f.log_dir);
    snprintf(err->text, sizeof err->text, "Model diverged with loss = NaN (step %lld)",
             (long long)step);
    return false;
}

/* ---- training -------------------------------------------------------------------------------- */

static bool train_step(trainer *t, int64_t step, sb_err *err) {
    sb_op *const fetches[] = {t->train, t->loss};
    sb_array results[2];
    double start = now_seconds();
    if (!run_batch(t, &t->data.train, batches_before(t, step), fetches, 2, results, err))
        return false;
    double seconds = now_seconds() - start;
    float loss = *(const float *)results[1].data;
    if (isnan(loss)) return stop_diverged(t, step, err);
    if (step % PRINT_EVERY == 0 && !report(t, step, loss, seconds, err)) return false;
    return true;
}

static bool train(trainer *t, const char *program, sb_err *err) {
    sb_array value;
    if (sb_net_get_variable(t->session, t->global_step, &value, err) != SB_OK) return false;
    int64_t first = *(const int32_t *)value.data;
    if (first >= t->f.max_steps)
        printf("The checkpoint has %lld steps already; --max_steps is %lld\n", (long long)first,
               (long long)t->f.max_steps);
    progress_begin(&t->bar, first, t->f.max_steps);
    for (int64_t step = first; step < t->f.max_steps; step++) {
        if (step % PRINT_EVERY == 0 && !copy_parameters(t, false, err)) return false;
        if (!train_step(t, step, err)) return false;
        bool is_last = step + 1 == t->f.max_steps;
        if ((step + 1) % SAVE_EVERY == 0 || is_last) {
            progress_clear(&t->bar);
            if (!save_and_evaluate(t, step, err)) return false;
        } else if (is_interrupted) {
            progress_clear(&t->bar);
            if (!save(t, step, err)) return false;
        }
        if (is_interrupted && !is_last) {
            printf("Stopped after step %lld. To go on:\n", (long long)step);
            flags_print_restore(&t->f, program);
            return true;
        }
        progress_draw(&t->bar, step);
    }
    progress_clear(&t->bar);
    return true;
}

static bool prepare(trainer *t, char *text, size_t n) {
    size_t others;
    if (!log_dir_prepare(t->f.log_dir, t->f.restore, &others, text, n)) return false;
    if (others)
        fprintf(stderr, "%s: %zu files that are not the trainer's stay there\n", t->f.log_dir,
                others);
    if (!load_data(t, text, n) || !check_batch_size(t, text, n)) return false;
    t->image_batch = malloc((size_t)t->f.batch_size * IMAGE_PIXELS * sizeof *t->image_batch);
    t->label_batch = malloc((size_t)t->f.batch_size);
    if (!t->image_batch || !t->label_batch) snprintf(text, n, "out of memory");
    return t->image_batch && t->label_batch;
}

static bool run(trainer *t, const char *program, sb_err *err) {
    if (!prepare(t, err->text, sizeof err->text) || !build_graph(t, err)) return false;
    const sb_net_session_opts opts =
        SB_INIT(sb_net_session_opts, .seed = t->f.seed, .threads = t->f.threads);
    return sb_net_session_open(&t->session, t->g, &opts, err) == SB_OK && open_log(t, err) &&
           set_weights(t, err) && train(t, program, err);
}

int main(int argc, char **argv) {
    static trainer t;
    sb_err err = {0};
    int end = flags_read(&t.f, argc, argv);
    if (end) return end - 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    bool done = run(&t, argv[0], &err);
    sb_net_session_close(t.session);
    if (sb_writer_close(t.writer, done ? &err : NULL) != SB_OK) done = false;
    sb_net_free(t.g);
    digits_free(&t.data);
    free(t.image_batch);
    free(t.label_batch);
    free(t.good);
    if (!done) return fail(err.text);
    return is_interrupted ? 130 : 0;
}
