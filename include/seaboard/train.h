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
 * Nodes, their names and their inputs are those that TensorFlow 1.4 makes of the same program, the
 * gradients included: sb_net_graph_def gives a graph that TensorFlow imports and runs.
 *
 * Failure: shapes are checked when an op is added. A function that cannot add its op returns NULL,
 * and one that is given NULL does the same; sb_net_check tells the first failure, with the names
 * and the shapes of the ops that do not fit. So a model is written as straight-line code.
 *
 * Names: every function takes the op's name last; NULL asks for the one that TensorFlow would give.
 * Equal names get _1, _2, ... behind them.
 *
 * Ownership: ops belong to their graph and live as long as it does; numbers, names and shapes are
 * copied. A graph must outlive its sessions, and does not change while there is one.
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

/* A shape. No struct of this kind ever changes. */
typedef struct sb_dims {
    uint32_t rank;
    int64_t at[SB_NET_MAX_RANK];
} sb_dims;

/* SB_DIMS(100, 784) is a matrix of 100 rows; SB_SCALAR_DIMS is a single number. */
#define SB_DIMS(...) ((sb_dims){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SB_SCALAR_DIMS ((sb_dims){0, {0}})

/* ---- a graph --------------------------------------------------------------------------------- */

SB_API sb_status sb_net_new(sb_net **out, sb_err *err);
/* NULL is legal. */
SB_API void sb_net_free(sb_net *g);
/* SB_OK, or the first failure since sb_net_new. */
SB_API sb_status sb_net_check(sb_net *g, sb_err *err);

/* Names of ops that are added until the scope ends begin with NAME/ (made unique). */
SB_API void sb_net_scope_begin(sb_net *g, const char *name);
SB_API void sb_net_scope_end(sb_net *g);
/* Ops that are added until it ends run after these. */
SB_API void sb_net_control_begin(sb_net *g, sb_op *const *ops, size_t count);
SB_API void sb_net_control_end(sb_net *g);

/* NULL: there is none of that name. */
SB_API sb_op *sb_net_find(sb_net *g, const char *name);
SB_API size_t sb_net_op_count(const sb_net *g);
/* In the order in which they were added. */
SB_API sb_op *sb_net_op_at(const sb_net *g, size_t i);
/* All of these live as long as the graph. */
SB_API const char *sb_op_name(const sb_op *op);
SB_API const char *sb_op_type(const sb_op *op);
SB_API sb_dtype sb_op_dtype(const sb_op *op);
SB_API const sb_dims *sb_op_dims(const sb_op *op);

/* ---- where values come from ------------------------------------------------------------------ */

/* A value that every run is fed with. Every dimension is a number of 0 or more. */
SB_API sb_op *sb_net_placeholder(sb_net *g, sb_dtype dtype, sb_dims dims, const char *name);
/* The numbers or strings of an array without strides. */
SB_API sb_op *sb_net_constant(sb_net *g, const sb_array *value, const char *name);
/* One number of type float32, int32, int64 or bool. */
SB_API sb_op *sb_net_number(sb_net *g, double value, sb_dtype dtype, const char *name);
SB_API sb_op *sb_net_zeros(sb_net *g, sb_dims dims, const char *name);
/* Normal, redrawn where it is two or more deviations from the mean. */
SB_API sb_op *sb_net_truncated_normal(sb_net *g, sb_dims dims, double mean, double stddev,
                                      const char *name);
SB_API sb_op *sb_net_random_normal(sb_net *g, sb_dims dims, double mean, double stddev,
                                   const char *name);
/* From min up to, but not including, max. */
SB_API sb_op *sb_net_random_uniform(sb_net *g, sb_dims dims, double min, double max,
                                    const char *name);

/* Numbers that stay from run to run. The op returned is the variable's value, as others use it.
 * Optimizers change trainable ones. */
SB_API sb_op *sb_net_variable(sb_net *g, sb_op *initial, bool trainable, const char *name);
/* The same from numbers that are known now. */
SB_API sb_op *sb_net_variable_of(sb_net *g, const sb_array *initial, bool trainable,
                                 const char *name);
/* A variable "global_step", int32, 0, not trainable. */
SB_API sb_op *sb_net_global_step(sb_net *g);
/* An op that sets all variables of the graph to their initial values. */
SB_API sb_op *sb_net_initializer(sb_net *g, const char *name);

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* Dimensions of 1 or missing ones are repeated, as numpy does. */
SB_API sb_op *sb_net_add(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_sub(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_mul(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_div(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_pow(sb_net *g, sb_op *x, sb_op *y, const char *name);
SB_API sb_op *sb_net_square(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_neg(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_equal(sb_net *g, sb_op *x, sb_op *y, const char *name);

/* Two matrices, each transposed first if asked. */
SB_API sb_op *sb_net_matmul(sb_net *g, sb_op *a, sb_op *b, bool transpose_a, bool transpose_b,
                            const char *name);

/* Over the axes of SB_AXES(0, 2), or over all of them; negative ones count from the last.
 * keep_dims leaves a 1 for each. */
#define SB_ALL_AXES ((sb_dims){UINT32_MAX, {0}})
#define SB_AXES SB_DIMS
SB_API sb_op *sb_net_sum(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name);
SB_API sb_op *sb_net_mean(sb_net *g, sb_op *x, sb_dims axes, bool keep_dims, const char *name);

SB_API sb_op *sb_net_cast(sb_net *g, sb_op *x, sb_dtype dtype, const char *name);
/* One dimension may be -1: it is what is left. */
SB_API sb_op *sb_net_reshape(sb_net *g, sb_op *x, sb_dims dims, const char *name);
/* The box that begins at begin; a size of -1 goes to the end. */
SB_API sb_op *sb_net_slice(sb_net *g, sb_op *x, sb_dims begin, sb_dims size, const char *name);
/* Where the largest number along an axis is, the first of equal ones: int64. */
SB_API sb_op *sb_net_argmax(sb_net *g, sb_op *x, int64_t axis, const char *name);
SB_API sb_op *sb_net_identity(sb_net *g, sb_op *x, const char *name);
/* An op without a value that runs all of these. */
SB_API sb_op *sb_net_group(sb_net *g, sb_op *const *ops, size_t count, const char *name);

/* ---- layers ---------------------------------------------------------------------------------- */

SB_API sb_op *sb_net_bias_add(sb_net *g, sb_op *x, sb_op *bias, const char *name);
SB_API sb_op *sb_net_relu(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_sigmoid(sb_net *g, sb_op *x, const char *name);
SB_API sb_op *sb_net_tanh(sb_net *g, sb_op *x, const char *name);
/* Over the last dimension. */
SB_API sb_op *sb_net_softmax(sb_net *g, sb_op *x, const char *name);

typedef enum sb_padding { SB_PADDING_SAME, SB_PADDING_VALID } sb_padding;

/* x [images, height, width, channels], filter [height, width, channels, outputs]. */
SB_API sb_op *sb_net_conv2d(sb_net *g, sb_op *x, sb_op *filter, int64_t stride_y, int64_t stride_x,
                            sb_padding padding, const char *name);
SB_API sb_op *sb_net_max_pool(sb_net *g, sb_op *x, int64_t height, int64_t width, int64_t stride_y,
                              int64_t stride_x, sb_padding padding, const char *name);
/* Keeps each number with a probability (a scalar, often a placeholder) and divides it by that, so
 * that the sum stays; the others become 0. */
SB_API sb_op *sb_net_dropout(sb_net *g, sb_op *x, sb_op *keep_prob, const char *name);

/* A loss for each row. labels: one class a row, int32 or int64. */
SB_API sb_op *sb_net_sparse_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits,
                                                  const char *name);
/* labels: a probability for each class. */
SB_API sb_op *sb_net_softmax_cross_entropy(sb_net *g, sb_op *labels, sb_op *logits,
                                           const char *name);
/* For each row: are fewer than k predictions greater than that of the target? */
SB_API sb_op *sb_net_in_top_k(sb_net *g, sb_op *predictions, sb_op *targets, int32_t k,
                              const char *name);

/* ---- training -------------------------------------------------------------------------------- */

/* grads[i] becomes the derivative of the sum of y with respect to xs[i] (values of variables
 * included), NULL where y does not depend on it. False after a failure. */
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

/* One step that makes the loss smaller by changing all trainable variables; counts global_step up
 * afterwards when that is not NULL. */
SB_API sb_op *sb_net_minimize(sb_net *g, const sb_optimizer *optimizer, sb_op *loss,
                              sb_op *global_step);

/* ---- summaries and checkpoints --------------------------------------------------------------- */

/* Ops whose value is a serialized Summary for sb_summary of seaboard/writer.h. The tag is the name
 * with the scope in front, made unique. */
SB_API sb_op *sb_net_scalar_summary(sb_net *g, const char *name, sb_op *value);
SB_API sb_op *sb_net_histogram_summary(sb_net *g, const char *name, sb_op *values);
/* [images, height, width, 1, 3 or 4]; max_outputs 0: 3. */
SB_API sb_op *sb_net_image_summary(sb_net *g, const char *name, sb_op *pixels,
                                   uint32_t max_outputs);
/* [clips, frames] or [clips, frames, channels], in -1 .. 1; max_outputs 0: 3. */
SB_API sb_op *sb_net_audio_summary(sb_net *g, const char *name, sb_op *samples, double sample_rate,
                                   uint32_t max_outputs);
/* Strings, Markdown. */
SB_API sb_op *sb_net_text_summary(sb_net *g, const char *name, sb_op *strings);
/* All summaries of the graph in one; NULL when there is none, which is no failure. */
SB_API sb_op *sb_net_merge_all(sb_net *g);

/* Adds the ops with which TensorFlow saves and restores the variables that there are now. Answers
 * the one that restores; sb_net_save and sb_net_restore work without them. */
SB_API sb_op *sb_net_saver(sb_net *g);

/* ---- export ---------------------------------------------------------------------------------- */

/* A serialized GraphDef that TensorFlow imports, with the shapes of all outputs. Belongs to the
 * graph, until the next export. */
SB_API sb_status sb_net_graph_def(sb_net *g, sb_slice *out, sb_err *err);
/* A serialized MetaGraphDef: the graph and its collections; with_saver: and where the saver's ops
 * are, as a .meta file has it. The same lifetime. */
SB_API sb_status sb_net_meta_graph_def(sb_net *g, bool with_saver, sb_slice *out, sb_err *err);

/* ---- running --------------------------------------------------------------------------------- */

typedef struct sb_net_session sb_net_session;

typedef struct sb_net_session_opts {
    size_t size;                /* SB_INIT */
    uint64_t seed;              /* of all random ops; 0: another one every time */
    uint32_t threads;           /* 0: as many as there are processors */
    uint32_t flags;             /* 0 */
    const sb_saver_opts *saver; /* for sb_net_save; NULL: its defaults */
} sb_net_session_opts;

/* opts may be NULL. Fails with the graph's failure if there was one. */
SB_API sb_status sb_net_session_open(sb_net_session **out, sb_net *g,
                                     const sb_net_session_opts *opts, sb_err *err);
/* NULL is legal. */
SB_API void sb_net_session_close(sb_net_session *s);

/* A value for a placeholder, for one run. The array is contiguous, of the placeholder's shape and
 * type; uint8 is taken for int32 and int64 as well, and int32 for int64. */
typedef struct sb_feed {
    sb_op *op;
    sb_array value;
} sb_feed;

/* Runs what the fetches need, and nothing else. results[i] (results may be NULL) is the value of
 * fetches[i], of a variable the one after the run; of an op without a value it has no data. Valid
 * until the next run of the session. */
SB_API sb_status sb_net_run(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                            const sb_feed *feeds, size_t feed_count, sb_array *results,
                            sb_err *err);

/* The same, and a serialized RunMetadata of it (*metadata, until the next run): when each op ran,
 * how long, and the memory of its values. */
SB_API sb_status sb_net_run_traced(sb_net_session *s, sb_op *const *fetches, size_t fetch_count,
                                   const sb_feed *feeds, size_t feed_count, sb_array *results,
                                   sb_slice *metadata, sb_err *err);

/* From now on every run is recorded: a slice for each op on `track`, which is the track of the
 * thread that calls sb_net_run; what the session's own threads do of it on tracks "session thread
 * 1", ...; and the memory that is in use as a counter. r NULL ends it: do so before r is stopped.
 * Costs a few percent of a run's time; results are the same. */
SB_API sb_status sb_net_session_record(sb_net_session *s, sb_recorder *r, uint32_t track,
                                       sb_err *err);

/* Writes all variables as PATH-<step> (PATH with SB_NO_STEP) with its .meta, and the state file, as
 * TF1's Saver does. *written (may be NULL) is valid until the next call. */
SB_API sb_status sb_net_save(sb_net_session *s, const char *path, int64_t step,
                             const char **written, sb_err *err);
/* Reads all variables, or changes none: SB_NOT_FOUND lists those that the file does not have. */
SB_API sb_status sb_net_restore(sb_net_session *s, const char *path, sb_err *err);

/* The numbers of a variable, until the session is closed: they change with every run that assigns
 * it. SB_INVALID when it has no value yet, or is no variable. */
SB_API sb_status sb_net_get_variable(sb_net_session *s, sb_op *variable, sb_array *out,
                                     sb_err *err);
/* Sets a variable; type and shape must be its own. */
SB_API sb_status sb_net_set_variable(sb_net_session *s, sb_op *variable, const sb_array *value,
                                     sb_err *err);

#ifdef __cplusplus
}
#endif
#endif
