/* writer.h: writes summaries into event files that TensorBoard and Seaboard show.
 *
 *     sb_writer *w;
 *     sb_err err;
 *     if (sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = "runs/first"), &err) != SB_OK)
 *         return puts(err.text), 1;
 *     for (int64_t step = 0; step < 1000; step++) sb_scalar(w, "loss", loss(step), step);
 *     sb_writer_close(w, NULL);
 *
 * A call copies its arguments into a bounded ring buffer and returns; the writer's own thread does
 * the encoding, the checksums and the disk writes. Data is handed to the operating system within
 * 100 ms, so that killing the program loses at most that much; the file is readable at every
 * moment.
 *
 * Threads: any number of threads may use one writer, and any number of writers may share a
 * directory. A child process made by fork() that continues to log gets a file of its own. No other
 * call may run during or after sb_writer_close.
 *
 * Failure: a call with invalid arguments is refused (SB_INVALID, SB_LIMIT) and writes nothing. An
 * error on the writer's thread (a full disk, a removed file) is returned by the next call, by flush
 * and by close; sb_writer_error has the path and the system's error message. While the disk fails,
 * no call blocks: calls that do not fit into the ring buffer are dropped and counted.
 *
 * Text arguments are UTF-8. Tags may be up to SB_TAG_MAX bytes long. */
#ifndef SEABOARD_WRITER_H
#define SEABOARD_WRITER_H

#include <stdbool.h>

#include "seaboard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SB_TAG_MAX ((size_t)1 << 20)

typedef struct sb_writer sb_writer;

/* ---- the writer ------------------------------------------------------------------------------ */

/* Which framework's files to write: the names of files, the header record and the encoding of every
 * summary are the same as that framework writes. TensorBoard and Seaboard show all of them in the
 * same way. */
typedef enum sb_style {
    SB_STYLE_TF2,   /* tf.summary: tensors with metadata in every event */
    SB_STYLE_TF1,   /* tf.compat.v1.summary and FileWriter */
    SB_STYLE_TORCH, /* torch.utils.tensorboard */
    SB_STYLE_TBX,   /* tensorboardX */
} sb_style;

typedef enum sb_full_policy {
    SB_FULL_WAIT, /* the call waits until there is room */
    SB_FULL_DROP, /* the call is dropped and counted: SB_DROPPED */
} sb_full_policy;

typedef enum sb_trouble_policy {
    SB_TROUBLE_BY_CALLS, /* the next call returns the status of an error on the writer's thread */
    /* calls return only their own status; sb_writer_trouble returns errors of the thread */
    SB_TROUBLE_APART,
} sb_trouble_policy;

typedef struct sb_writer_opts {
    size_t size;        /* SB_INIT */
    const char *logdir; /* required; created with all missing parents */
    sb_style style;
    sb_full_policy when_full;    /* what a call does when the ring buffer is full */
    const char *filename_suffix; /* NULL: the style's own (".v2" for TF2, none for the others) */
    /* write after this number of pending calls; default 10; 1: after every call */
    uint32_t max_queue;
    /* The longest time in milliseconds that a call stays pending; default 120 000. Data is written
     * within 100 ms in any case, so larger values have no effect. */
    uint32_t flush_millis;
    size_t ring_bytes; /* default 4 MiB; rounded up to a power of two, at least 64 KiB */
    /* memory for calls over 64 KiB, which are stored outside the ring; default 256 MiB */
    size_t big_bytes;
    /* an sb_trouble_policy: which calls return errors of the writer's thread */
    uint64_t trouble;
} sb_writer_opts;

typedef struct sb_writer_stats {
    size_t size;      /* SB_INIT */
    uint64_t written; /* number of calls that were written to the file */
    uint64_t dropped; /* number of calls lost because the ring was full or writing failed */
    uint64_t bytes;   /* size of the file, including the header record */
    uint64_t pending; /* bytes in the ring that are not written yet */
} sb_writer_stats;

/* Creates the directory and the event file with its header record; both exist when this returns. */
SB_API sb_status sb_writer_open(sb_writer **out, const sb_writer_opts *opts, sb_err *err);
/* Returns when all earlier calls are in the file. The data is handed to the operating system, but
 * is not forced to the disk. */
SB_API sb_status sb_writer_flush(sb_writer *w, sb_err *err);
/* Writes what is pending, ends the thread, frees w even on failure. NULL is legal. */
SB_API sb_status sb_writer_close(sb_writer *w, sb_err *err);
/* Returns the latest error on the writer's thread; SB_OK when there was none. The error is not
 * cleared. */
SB_API sb_status sb_writer_error(sb_writer *w, sb_err *err);
/* For SB_TROUBLE_APART: returns and clears the error on the writer's thread that this function has
 * not returned yet; SB_OK when there is none, which costs one memory load. err may be NULL. */
SB_API sb_status sb_writer_trouble(sb_writer *w, sb_err *err);
/* Copies the path of the event file, truncated to n - 1 bytes and always NUL-terminated. Returns
 * its full length. */
SB_API size_t sb_writer_path(sb_writer *w, char *path, size_t n);
/* out is an SB_INIT(sb_writer_stats); SB_INVALID when its size is not set. */
SB_API sb_status sb_writer_get_stats(sb_writer *w, sb_writer_stats *out);

/* Optional metadata of a summary. Fields that are zero are not written. */
typedef struct sb_meta {
    size_t size; /* SB_INIT */
    const char *display_name;
    const char *description; /* Markdown */
    double wall_time;        /* seconds since the epoch; 0: now */
} sb_meta;

/* ---- scalars --------------------------------------------------------------------------------- */

typedef enum sb_scalar_form {
    SB_SCALAR_DEFAULT, /* the form that the writer's style uses */
    SB_SCALAR_SIMPLE,  /* simple_value, float32 */
    SB_SCALAR_TENSOR,  /* float32 tensor with metadata (torch: new_style) */
    SB_SCALAR_DOUBLE,  /* float64 tensor with metadata (torch: double_precision) */
} sb_scalar_form;

/* Writes one scalar in the default form. Takes about 50 ns. */
SB_API sb_status sb_scalar(sb_writer *w, const char *tag, double value, int64_t step);
/* Writes one scalar in the given form. meta may be NULL, here and in all other functions. */
SB_API sb_status sb_scalar_as(sb_writer *w, const char *tag, double value, int64_t step,
                              sb_scalar_form form, const sb_meta *meta);

/* ---- images and video ------------------------------------------------------------------------ */

typedef struct sb_image_opts {
    size_t size; /* SB_INIT */
    /* Which dimension is which: letters of N, H, W, C in the order of the array's dimensions. NULL:
     * "NHWC", "HWC" or "HW" by rank for TF2 and TF1; "NCHW", "CHW" or "HW" for torch and TBX. */
    const char *layout;
    uint64_t max_outputs; /* the largest number of images of a batch, TF styles; 0: 3 */
} sb_image_opts;

/* Writes images with 1 to 4 channels of any number type, scaled to 8 bits as the style's framework
 * does (see docs/guide/writing.md). TF2: one value with up to max_outputs images. TF1: one value
 * per image. torch and TBX: one image; a batch is arranged as a grid. */
SB_API sb_status sb_image(sb_writer *w, const char *tag, const sb_array *pixels, int64_t step,
                          const sb_image_opts *opts, const sb_meta *meta);
/* Writes images that are already encoded (PNG, JPEG, GIF, WebP), without changes. If width and
 * height are 0, they are taken from the first image. */
SB_API sb_status sb_image_encoded(sb_writer *w, const char *tag, const sb_slice *images,
                                  size_t count, uint32_t width, uint32_t height, int64_t step,
                                  const sb_meta *meta);
/* Writes a video as one animated GIF. The default layout is (N, T, C, H, W); layout is as above,
 * with T for time. fps 0: 4. Several clips are tiled into one image. */
SB_API sb_status sb_video(sb_writer *w, const char *tag, const sb_array *frames, double fps,
                          int64_t step, const char *layout, const sb_meta *meta);

/* ---- audio ----------------------------------------------------------------------------------- */

/* Writes float samples in [-1, 1] as 16-bit WAV. TF2: (clips, frames, channels), up to max_outputs
 * clips (0: 3). TF1: the same, or (clips, frames). torch: (frames), or a shape that becomes it when
 * dimensions of 1 are removed. TBX: (frames) or (frames, channels). */
SB_API sb_status sb_audio(sb_writer *w, const char *tag, const sb_array *samples,
                          double sample_rate, uint32_t max_outputs, int64_t step,
                          const sb_meta *meta);

/* ---- text ------------------------------------------------------------------------------------ */

SB_API sb_status sb_text(sb_writer *w, const char *tag, const char *text, int64_t step);
/* strings: an SB_STRING array of any shape. */
SB_API sb_status sb_text_array(sb_writer *w, const char *tag, const sb_array *strings, int64_t step,
                               const sb_meta *meta);

/* ---- histograms ------------------------------------------------------------------------------ */

typedef struct sb_histogram_opts {
    size_t size;       /* SB_INIT */
    int32_t buckets;   /* TF2; 0: 30; negative: none, as tf.summary does with buckets=0 */
    uint32_t max_bins; /* torch and TBX; 0: all */
} sb_histogram_opts;

/* Computes a histogram of values of any number type, and writes it. */
SB_API sb_status sb_histogram(sb_writer *w, const char *tag, const sb_array *values, int64_t step,
                              const sb_histogram_opts *opts, const sb_meta *meta);

typedef struct sb_histogram_data {
    size_t size; /* SB_INIT */
    double min, max, num, sum, sum_squares;
    const double *limits; /* right edges */
    const double *counts;
    size_t n;
} sb_histogram_data;

/* Writes a histogram with the given buckets, without changes. */
SB_API sb_status sb_histogram_raw(sb_writer *w, const char *tag, const sb_histogram_data *data,
                                  int64_t step, const sb_meta *meta);
/* Writes a histogram in the form of TF2: n rows of left edge, right edge and count. */
SB_API sb_status sb_histogram_rows(sb_writer *w, const char *tag, const double *rows, size_t n,
                                   int64_t step, const sb_meta *meta);

/* ---- tensors and prepared protos ------------------------------------------------------------- */

/* Writes a tensor with the name of a plugin (NULL: "tensor" for torch, none for the others) and the
 * content that this plugin defines. */
SB_API sb_status sb_tensor(sb_writer *w, const char *tag, const sb_array *data, int64_t step,
                           const char *plugin_name, sb_slice plugin_content, const sb_meta *meta);
/* Writes a serialized Summary, as TF1's add_summary does. The TF1 style leaves out the metadata of
 * tags that it has written before, as FileWriter does. */
SB_API sb_status sb_summary(sb_writer *w, sb_slice summary, int64_t step);
/* Writes a serialized Event, without changes. */
SB_API sb_status sb_raw_event(sb_writer *w, sb_slice event);

/* ---- graphs, run metadata, profiles, sessions ------------------------------------------------ */

/* Writes a serialized GraphDef as the graph of the run. */
SB_API sb_status sb_graph(sb_writer *w, sb_slice graph_def);
SB_API sb_status sb_meta_graph(sb_writer *w, sb_slice meta_graph_def);
/* Writes a serialized RunMetadata with a tag, as TF1's add_run_metadata does. Each tag can be used
 * only once. */
SB_API sb_status sb_run_metadata(sb_writer *w, const char *tag, sb_slice run_metadata,
                                 int64_t step);
/* Writes a serialized RunMetadata as tf.summary.trace_export does. with_profile: it contains
 * timings. */
SB_API sb_status sb_trace(sb_writer *w, const char *name, sb_slice run_metadata, bool with_profile,
                          int64_t step);
/* Writes the JSON of a Keras model, for the conceptual graph. */
SB_API sb_status sb_keras_model(sb_writer *w, const char *tag, const char *json, int64_t step);
/* Writes a file for the profile dashboard, DIR/plugins/profile/SESSION/HOST.xplane.pb, and the
 * marker file by which the dashboard finds the run. session NULL: the local time. */
SB_API sb_status sb_profile(sb_writer *w, const char *session, sb_slice xplane, sb_err *err);

typedef enum sb_session_status {
    SB_SESSION_START = 1,
    SB_SESSION_STOP = 2,
    SB_SESSION_CHECKPOINT = 3,
} sb_session_status;

/* checkpoint_path and message may be NULL. */
SB_API sb_status sb_session(sb_writer *w, sb_session_status status, const char *checkpoint_path,
                            const char *message, int64_t step);
/* Writes what torch's purge_step writes: events of earlier files with this step or a later one are
 * superseded. */
SB_API sb_status sb_purge_step(sb_writer *w, int64_t step);

/* ---- hyperparameters ------------------------------------------------------------------------- */

typedef enum sb_hparam_type {
    SB_HPARAM_UNSET = 0, /* only for an sb_hparam_info that leaves its type open */
    SB_HPARAM_STRING = 1,
    SB_HPARAM_BOOL = 2,
    SB_HPARAM_NUMBER = 3,
    /* Stored as a number. In the group name that is made from the values it is printed as 3, not
     * 3.0. */
    SB_HPARAM_INTEGER = 4
} sb_hparam_type;

typedef struct sb_hparam_value {
    sb_hparam_type type;
    double number; /* SB_HPARAM_BOOL: not 0 is true */
    const char *string;
    int64_t integer; /* SB_HPARAM_INTEGER */
} sb_hparam_value;

typedef struct sb_hparam {
    const char *name;
    sb_hparam_value value;
} sb_hparam;

/* Describes one hyperparameter of an experiment. Its domain is a list of values, an interval, or
 * not given. */
typedef struct sb_hparam_info {
    size_t size; /* SB_INIT */
    const char *name, *display_name, *description;
    sb_hparam_type type;
    const sb_hparam_value *values;
    size_t value_count;
    bool has_interval;
    double min, max;
} sb_hparam_info;

typedef enum sb_dataset {
    SB_DATASET_UNKNOWN = 0,
    SB_DATASET_TRAINING = 1,
    SB_DATASET_VALIDATION = 2
} sb_dataset;

typedef struct sb_metric_info {
    size_t size; /* SB_INIT */
    sb_dataset dataset;
    const char *group, *tag, *display_name, *description;
} sb_metric_info;

typedef struct sb_experiment {
    size_t size; /* SB_INIT */
    const char *name, *description, *user;
    double time_created; /* seconds since the epoch; 0: not written */
    const sb_hparam_info *hparams;
    size_t hparam_count;
    const sb_metric_info *metrics;
    size_t metric_count;
} sb_experiment;

typedef enum sb_session_end {
    SB_SESSION_UNKNOWN = 0,
    SB_SESSION_SUCCESS = 1,
    SB_SESSION_FAILURE = 2,
    SB_SESSION_RUNNING = 3,
} sb_session_end;

/* Writes the description of the experiment, usually in the root run (hp.hparams_config). */
SB_API sb_status sb_hparams_config(sb_writer *w, const sb_experiment *experiment, int64_t step);
/* Writes the start of one trial (hp.hparams). group_name NULL: the TF styles make it from the
 * values as TensorBoard does; torch and TBX do not write it. start_time is in seconds since the
 * epoch; 0: now for the TF styles, not written for the others. */
SB_API sb_status sb_hparams_start(sb_writer *w, const sb_hparam *hparams, size_t count,
                                  const char *group_name, double start_time, int64_t step);
/* Writes the end of a trial. end_time is in seconds since the epoch; 0: not written. */
SB_API sb_status sb_hparams_end(sb_writer *w, sb_session_end status, double end_time, int64_t step);

/* ---- PR curves, meshes, custom scalars ------------------------------------------------------- */

/* Computes and writes a precision-recall curve. labels: not 0 means positive. predictions are in
 * [0, 1]. weights NULL: all 1. num_thresholds 0: 201 for the TF styles, 127 for torch and TBX,
 * which is also their maximum. */
SB_API sb_status sb_pr_curve(sb_writer *w, const char *tag, const sb_array *labels,
                             const sb_array *predictions, const sb_array *weights,
                             uint32_t num_thresholds, int64_t step, const sb_meta *meta);
/* Writes a curve that was computed already: six rows of n numbers, which are true positives, false
 * positives, true negatives, false negatives, precision and recall. */
SB_API sb_status sb_pr_curve_raw(sb_writer *w, const char *tag, const double *rows, uint32_t n,
                                 int64_t step, const sb_meta *meta);

/* Writes meshes or point clouds: vertices are [B, N, 3] float, colors [B, N, 3] in 0..255 or NULL,
 * faces [B, M, 3] or NULL. config is JSON for three.js, or NULL. */
SB_API sb_status sb_mesh(sb_writer *w, const char *tag, const sb_array *vertices,
                         const sb_array *colors, const sb_array *faces, const char *config,
                         int64_t step, const sb_meta *meta);

typedef struct sb_chart {
    size_t size; /* SB_INIT */
    bool is_margin;
    const char *title;
    /* Multiline chart: each tag is a regular expression. Margin chart: tags in groups of three,
     * which are value, lower bound and upper bound. */
    const char *const *tags;
    size_t tag_count;
} sb_chart;

typedef struct sb_chart_category {
    size_t size; /* SB_INIT */
    bool closed;
    const char *title;
    const sb_chart *charts;
    size_t chart_count;
} sb_chart_category;

SB_API sb_status sb_custom_scalars(sb_writer *w, const sb_chart_category *categories, size_t count);

/* ---- embeddings (files beside the event file) ------------------------------------------------ */

typedef struct sb_embedding_opts {
    size_t size; /* SB_INIT */
    /* Labels, row by row: N rows of metadata_columns strings each; NULL: none. */
    const char *const *metadata;
    size_t metadata_columns;
    /* Names of the metadata_columns columns; NULL: none, which is allowed for one column only. */
    const char *const *metadata_header;
    const sb_array *images; /* [N, C, H, W] for a sprite; NULL: none */
} sb_embedding_opts;

/* Writes an embedding: matrix is [N, D] of any number type. tag NULL: "default". Writes
 * tensors.tsv, metadata.tsv and sprite.png, then adds an entry to projector_config.pbtxt; entries
 * of other writers are kept. The files are complete when the call returns. */
SB_API sb_status sb_embedding(sb_writer *w, const char *tag, const sb_array *matrix, int64_t step,
                              const sb_embedding_opts *opts, sb_err *err);

/* ---- tags ------------------------------------------------------------------------------------ */

/* Replaces invalid characters of a tag as TF1 and tensorboardX do: characters outside [-/\w.]
 * become '_', and leading slashes are removed. Returns the length of the whole result; writes at
 * most n - 1 bytes and a NUL. */
SB_API size_t sb_tag_clean(const char *tag, char *out, size_t n);

/* Makes tags unique as TF1's name scopes do: loss, loss_1, loss_2, ... */
typedef struct sb_names sb_names;
SB_API sb_status sb_names_new(sb_names **out, sb_err *err);
SB_API void sb_names_free(sb_names *names);
/* Returns the tag of a TF1 summary for a name, scope and family (scope and family may be NULL),
 * cleaned and made unique. The result is valid until the next call. NULL when memory runs out. */
SB_API const char *sb_names_tag(sb_names *names, const char *scope, const char *family,
                                const char *name);

#ifdef __cplusplus
}
#endif
#endif
