/* train.h: a static-graph trainer: describe a computation once, then run parts of it many times.
 *
 *     sb_net *g;
 *     sb_net_new(&g, &err);
 *     sb_op *x = sb_net_placeholder(g, SB_FLOAT, SB_DIMS(100, 784), NULL);
 *     sb_op *y = sb_net_placeholder(g, SB_INT32, SB_DIMS(100), NULL);
 *     sb_net_scope_begin(g, "softmax_linear");
 *     sb_op *w = sb_net_variable(g, sb_net_zeros(g, SB_DIMS(784, 10), NULL), true, "weights");
 *     sb_op *logits = sb_net_matmul(g, x, w, false, false, NULL);
 *     sb_net_scope_end(g);
 *     sb_op *losses = sb_net_sparse_softmax_cross_entropy(g, y, logits, "xentropy");
 *     sb_op *loss = sb_net_mean(g, losses, SB_ALL_AXES, false, "loss");
 *     sb_op *step = sb_net_global_step(g);
 *     sb_op *train = sb_net_minimize(g, &SB_INIT(sb_optimizer, .learning_rate = 0.01), loss, step);
 *     sb_op *init = sb_net_initializer(g, NULL);
 *     if (sb_net_check(g, &err) != SB_OK) return puts(err.text), 1;
 *
 *     sb_net_session *s;
 *     sb_net_session_open(&s, g, NULL, &err);
 *     sb_net_run(s, &init, 1, NULL, 0, NULL, &err);
 *     for (int i = 0; i < 1000; i++) {
 *         sb_op *fetches[] = {train, loss};
 *         sb_feed feeds[] = {{x, images(i)}, {y, labels(i)}};
 *         sb_array results[2];
 *         sb_net_run(s, fetches, 2, feeds, 2, results, &err);
 *     }
 *
 * The nodes, their names and their inputs are the same as TensorFlow 1.4 creates for the same
 * program, including the gradients: sb_net_graph_def returns a graph that TensorFlow can import and
 * run.
 *
 * Failure: shapes are checked when an op is added. A function that cannot add its op returns NULL,
 * and so does a function that is given NULL for an op. sb_net_check returns the first failure, with
 * the names and shapes of the ops that do not match. So a model can be written without a check
 * after every call.
 *
 * Names: functions that add an op take its name as the last argument (summaries: as the second);
 * NULL asks for the name that TensorFlow would give. If a name is taken, _1, _2, ... is appended.
 *
 * Ownership: ops belong to their graph and are valid as long as it exists; numbers, names and
 * shapes are copied. A graph must outlive its sessions, and must not be changed while a session is
 * open.
 * Threads: a graph and a session belong to one thread at a time; a run uses all processors. */
#ifndef SEABOARD_TRAIN_H
#define SEABOARD_TRAIN_H

#include <stdbool.h>

#include "seaboard/checkpoint.h"
#include "seaboard/profile.h"
#include "seaboard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sb_net sb_net; /* a graph */
typedef struct sb_op sb_op;   /* one of its nodes; as an argument: the node's first output */

#define SB_NET_MAX_RANK 8

/* A shape. This struct never changes in later versions. */
typedef struct sb_dims {
    uint32_t rank;
    int64_t at[SB_NET_MAX_RANK];
} sb_dims;

/* SB_DIMS(100, 784) is the shape of a matrix with 100 rows; SB_SCALAR_DIMS is that of a single
 * number. */
#define SB_DIMS(...) ((sb_dims){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SB_SCALAR_DIMS ((sb_dims){0, {0}})

/* ---- a graph --------------------------------------------------------------------------------- */

SB_API sb_status sb_net_new(sb_net **out, sb_err *err);
/* NULL is legal. */
SB_API void sb_net_free(sb_net *g);
/* Returns SB_OK, or the first failure since sb_net_new. */
SB_API sb_status sb_net_check(sb_net *g, sb_err *err);

/* Names of ops that are added until the scope ends begin with NAME/ (made unique). */
SB_API void sb_net_scope_begin(sb_net *g, const char *name);
SB_API void sb_net_scope_end(sb_net *g);
/* Ops that are added until sb_net_control_end get control inputs: they run after the given ops. */
SB_API void sb_net_control_begin(sb_net *g, sb_op *const *ops, size_t count);
SB_API void sb_net_control_end(sb_net *g);

/* NULL: there is none of that name. */
SB_API sb_op *sb_net_find(sb_net *g, const char *name);
SB_API size_t sb_net_op_count(const sb_net *g);
/* In the order in which they were added. */
SB_API sb_op *sb_net_op_at(const sb_net *g, size_t i);
/* Properties of an op; what they return is valid as long as the graph exists. */
SB_API const char *sb_op_name(const sb_op *op);
SB_API const char *sb_op_type(const sb_op *op);
SB_API sb_dtype sb_op_dtype(const sb_op *op);
SB_API const sb_dims *sb_op_dims(const sb_op *op);

/* ---- where values come from ------------------------------------------------------------------ */

/* A value that must be fed to every run that needs it. Every dimension is a number of 0 or more;
 * unknown dimensions are not supported. */
SB_API sb_op *sb_net_placeholder(sb_net *g, sb_dtype dtype, sb_dims dims, const char *name);
/* A constant: the numbers or strings of a contiguous array (without strides). */
SB_API sb_op *sb_net_constant(sb_net *g, const sb_array *value, const char *name);
/* A constant with a single number of type float32, int32, int64 or bool. */
SB_API sb_op *sb_net_number(sb_net *g, double value, sb_dtype dtype, const char *name);
SB_API sb_op *sb_net_zeros(sb_net *g, sb_dims dims, const char *name);
/* Normal distribution; values at two or more standard deviations from the mean are drawn again. */
SB_API sb_op *sb_net_truncated_normal(sb_net *g, sb_dims dims, double mean, double stddev,
                                      const char *name);
SB_API sb_op *sb_net_random_normal(sb_net *g, sb_dims dims, double mean, double stddev,
                                   const char *name);
/* Uniform distribution on [min, max). */
SB_API sb_op *sb_net_random_uniform(sb_net *g, sb_dims dims, double min, double max,
                                    const char *name);

/* A variable: numbers that are kept from run to run. The op that is returned is the value of the
 * variable, for use as an input of other ops. Optimizers change only trainable variables. */
SB_API sb_op *sb_net_variable(sb_net *g, sb_op *initial, bool trainable, const char *name);
/* The same with initial values that are given now. */
SB_API sb_op *sb_net_variable_of(sb_net *g, const sb_array *initial, bool trainable,
                                 const char *name);
/* The variable "global_step": int32, initially 0, not trainable. */
SB_API sb_op *sb_net_global_step(sb_net *g);
/* An op that sets all variables of the graph to their initial values. */
SB_API sb_op *sb_net_initializer(sb_net *g, const char *name);

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* Element-wise; dimensions of 1 and missing dimensions are broadcast as in numpy. */
SB_API sb_op *sb_net_add(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_sub(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_mul(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_div(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_pow(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_square(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_neg(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_equal(sb_net *g, sb_op *x, sb_op *y, const char *name);

/* Product of two matrices, each of which may be transposed first. */
SB_API sb_op *sb_net_matmul(sb_net *g, sb_op *a, sb_op *b, bool transpose_a, bool transpose_b,
                            const char *name);

/* Reductions over the given axes, for example SB_AXES(0, 2), or SB_ALL_AXES. Negative axes count
 * from the last one. keep_dims keeps each reduced axis with size 1. */
#define SB_ALL_AXES ((sb_dims){UINT32_MAX, {0}})
#define SB_AXES SB_DIMS
SB_API sb_op *sb_net_sum(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name);
SB_API sb_op *sb_net_mean(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name);

SB_API sb_op *sb_net_cast(sb_net *g, sb_op *x, sb_dtype dtype, const char *name);
/* One dimension may be -1: its size is computed from the number of elements. */
SB_API sb_op *sb_net_reshape(sb_net *g, sb_op *x, sb_dims dims, const char *name);
/* The rectangular part that starts at begin; a size of -1 extends to the end of the dimension. */
SB_API sb_op *sb_net_slice(sb_net *g, sb_op *x, sb_dims begin, sb_dims size, const char *name);
/* The index (int64) of the largest number along an axis; of equal numbers the first one. */
SB_API sb_op *sb_net_argmax(sb_net *g, sb_op *x, int64_t axis, const char *name);
SB_API sb_op *sb_net_identity(sb_net *g, sb_op *x, const char *name);
/* An op without a value; running it runs all of the given ops. */
SB_API sb_op *sb_net_group(sb_net *g, sb_op *const *ops, size_t count, const char *name);

/* ---- layers ---------------------------------------------------------------------------------- */

SB_API sb_op *sb_net_bias_add(sb_net *g, sb_op *x, sb_op *bias, const char *name);
SB_API sb_op *sb_net_relu(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_sigmoid(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_tanh(sb_net *g, sb_op *x, const char *name);
/* Over the last dimension. */
SB_API sb_op *sb_net_softmax(sb_net *g, sb_op *x, const char *name);

typedef enum sb_padding { SB_PADDING_SAME, SB_PADDING_VALID } sb_padding;

/* x has the shape [images, height, width, channels], and filter [height, width, channels,
 * outputs]. */
SB_API sb_op *sb_net_conv2d(sb_net *g, sb_op *x, sb_op *filter, int64_t stride_y, int64_t stride_x,
                            sb_padding padding, const char *name);
SB_API sb_op *sb_net_max_pool(sb_net *g, sb_op *x, int64_t height, int64_t width, int64_t stride_y,
                              int64_t stride_x, sb_padding padding, const char *name);
/* Keeps each number with the given probability (a scalar, often a placeholder) and divides it by
 * that probability, so that the expected sum stays the same; the other numbers become 0. */
SB_API sb_op *sb_net_dropout(sb_net *g, sb_op *x, sb_op *keep_prob, const char *name);

/* Returns one loss per row. labels has one class number per row, int32 or int64. */
SB_API sb_op *sb_net_sparse_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits,
                                                  const char *name);
/* Returns one loss per row. labels has a probability for each class. */
SB_API sb_op *sb_net_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits,
                                           const char *name);
/* For each row, a bool: true when fewer than k predictions are greater than that of the target
 * class. */
SB_API sb_op *sb_net_in_top_k(sb_net *g, sb_op *predictions, sb_op *targets, int32_t k,
                              const char *name);

/* ---- training -------------------------------------------------------------------------------- */

/* Sets grads[i] to an op with the derivative of the sum of y with respect to xs[i] (which may be
 * the value of a variable), or to NULL where y does not depend on it. Returns false after a
 * failure. */
SB_API bool sb_net_gradients(sb_net *g, sb_op *y, sb_op *const *xs, size_t count, sb_op **grads);

typedef enum sb_optimizer_kind {
    SB_GRADIENT_DESCENT,
    SB_MOMENTUM,
    SB_ADAM,
} sb_optimizer_kind;

typedef struct sb_optimizer {
    size_t size; /* SB_INIT */
    double learning_rate;
    double momentum;              /* SB_MOMENTUM; 0: none */
    double beta1, beta2, epsilon; /* SB_ADAM; 0: 0.9, 0.999, 1e-8 */
    sb_optimizer_kind kind;
    uint32_t nesterov; /* SB_MOMENTUM; not 0: yes */
} sb_optimizer;

/* Returns an op that runs one optimization step: it changes all trainable variables to reduce the
 * loss, and then increments global_step if that is not NULL. */
SB_API sb_op *sb_net_minimize(sb_net *g, const sb_optimizer *optimizer, sb_op *loss,
                              sb_op *global_step);

/* ---- summaries and checkpoints --------------------------------------------------------------- */

/* Summary ops: their value is a serialized Summary for sb_summary of seaboard/writer.h. The tag is
 * the name with the scope as its prefix, made unique. */
SB_API sb_op *sb_net_scalar_summary(sb_net *g, const char *name, sb_op *value);
SB_API sb_op *sb_net_histogram_summary(sb_net *g, const char *name, sb_op *values);
/* pixels has the shape [images, height, width, channels] with 1, 3 or 4 channels. max_outputs 0:
 * 3. */
SB_API sb_op *sb_net_image_summary(sb_net *g, const char *name, sb_op *pixels,
                                   uint32_t max_outputs);
/* samples has the shape [clips, frames] or [clips, frames, channels], with values in [-1, 1].
 * max_outputs 0: 3. */
SB_API sb_op *sb_net_audio_summary(sb_net *g, const char *name, sb_op *samples, double sample_rate,
                                   uint32_t max_outputs);
/* The strings may contain Markdown. */
SB_API sb_op *sb_net_text_summary(sb_net *g, const char *name, sb_op *strings);
/* An op that merges all summaries of the graph; NULL when there is none, which is not a failure. */
SB_API sb_op *sb_net_merge_all(sb_net *g);

/* Adds the ops that TensorFlow uses to save and restore the variables that exist now, and returns
 * the restore op. sb_net_save and sb_net_restore do not need them. */
SB_API sb_op *sb_net_saver(sb_net *g);

/* ---- export ---------------------------------------------------------------------------------- */

/* Returns a serialized GraphDef that TensorFlow can import, with the shapes of all outputs. It
 * belongs to the graph and is valid until the next export. */
SB_API sb_status sb_net_graph_def(sb_net *g, sb_slice *out, sb_err *err);
/* Returns a serialized MetaGraphDef: the graph and its collections. with_saver: also the names of
 * the saver's ops, as in a .meta file. It is valid until the next export. */
SB_API sb_status sb_net_meta_graph_def(sb_net *g, bool with_saver, sb_slice *out, sb_err *err);

/* ---- running --------------------------------------------------------------------------------- */

typedef struct sb_net_session sb_net_session;

typedef struct sb_net_session_opts {
    size_t size;   /* SB_INIT */
    uint64_t seed; /* seed of all random ops; 0: a different one for each session */
    /* number of threads; 0: as many as there are processors */
    uint32_t threads;
    uint32_t flags;             /* 0 */
    const sb_saver_opts *saver; /* for sb_net_save; NULL: its defaults */
} sb_net_session_opts;

/* opts may be NULL. Returns the failure of sb_net_check if there is one. */
SB_API sb_status sb_net_session_open(sb_net_session **out, sb_net *g,
                                     const sb_net_session_opts *opts, sb_err *err);
/* NULL is legal. */
SB_API void sb_net_session_close(sb_net_session *s);

/* The value of a placeholder in one run. The array is contiguous and has the shape and type of the
 * placeholder; uint8 is also accepted for int32 and int64, and int32 for int64. */
typedef struct sb_feed {
    sb_op *op;
    sb_array value;
} sb_feed;

/* Runs the ops that the fetches depend on, and no others. results[i] (results may be NULL) is the
 * value of fetches[i]; for a variable the value after the run; for an op without a value it has no
 * data. Results are valid until the next run of the session. */
SB_API sb_status sb_net_run(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                            const sb_feed *feeds, size_t feed_count, sb_array *results,
                            sb_err *err);

/* The same, and also returns a serialized RunMetadata (*metadata, valid until the next run): when
 * each op ran, how long it took, and how much memory its outputs use. */
SB_API sb_status sb_net_run_traced(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                                   const sb_feed *feeds, size_t feed_count, sb_array *results,
                                   sb_slice *metadata, sb_err *err);

/* Records every run from now on: one slice for each op on `track`, which belongs to the thread that
 * calls sb_net_run; the work of the session's own threads on tracks named "session thread 1" and so
 * on; and the memory in use as a counter. Pass r = NULL to end the recording, before r is stopped.
 * Recording costs a few percent of the time of a run and does not change results. */
SB_API sb_status sb_net_session_record(sb_net_session *s, sb_recorder *r, uint32_t track,
                                       sb_err *err);

/* Writes all variables to the checkpoint PATH-<step> (PATH for SB_NO_STEP) with its .meta file, and
 * the state file, as TF1's Saver does. *written (may be NULL) is valid until the next call. */
SB_API sb_status sb_net_save(sb_net_session *s, const char *path, int64_t step,
                             const char **written, sb_err *err);
/* Restores all variables, or changes none: SB_NOT_FOUND lists those that are not in the file. */
SB_API sb_status sb_net_restore(sb_net_session *s, const char *path, sb_err *err);

/* Returns the numbers of a variable. The memory is valid until the session is closed; its contents
 * change with every run that assigns the variable. SB_INVALID when the variable has no value yet,
 * or when the op is not a variable. */
SB_API sb_status sb_net_get_variable(sb_net_session *s, sb_op *variable, sb_array *out,
                                     sb_err *err);
/* Sets the value of a variable; the type and the shape must be equal to those of the variable. */
SB_API sb_status sb_net_set_variable(sb_net_session *s, sb_op *variable, const sb_array *value,
                                     sb_err *err);

#ifdef __cplusplus
}
#endif
#endif
