/* reader.h: reads event files: a single file or a whole log directory, also while it is being
 * written.
 *
 *     sb_reader *r;
 *     const sb_reader_event *event;
 *     const sb_reader_value *value;
 *     sb_err err;
 *     if (sb_reader_open(&r, "runs", NULL, &err) != SB_OK) return puts(err.text), 1;
 *     while (sb_reader_next(r, &event, &err) == SB_OK)
 *         while (sb_reader_next_value(r, &value) == SB_OK)
 *             if (value->kind == SB_READS_SCALAR)
 *                 printf("%s step %lld: %g\n", event->run, (long long)event->step, value->scalar);
 *     sb_reader_close(r);
 *
 * Or all points at once as columns, several files at the same time: sb_reader_table_read, below.
 *
 * Order: runs are read in byte order of their names, the files of a run one after the other, and
 * events in the order in which they were written.
 *
 * Growing files: SB_MORE means that everything written so far has been read. Calling sb_reader_next
 * again later looks for new runs and files and continues where each file ended. A file that was
 * replaced is read again from its beginning.
 *
 * Damage never ends the reading: records that cannot be read are skipped and recorded, see
 * sb_reader_damage. Checksums are always verified. Gzip files (.gz) are decompressed while reading.
 *
 * Ownership: all structs belong to the reader. An event and its slices are valid until the next
 * call of sb_reader_next; a value, and what is decoded from it, until the next call of
 * sb_reader_next_value or sb_reader_next. Run names and paths are valid until close. Text from
 * files is not checked to be UTF-8 (run names are).
 *
 * Threads: a reader belongs to one thread at a time; several readers may run at the same time. */
#ifndef SEABOARD_READER_H
#define SEABOARD_READER_H

#include <stdbool.h>

#include "seaboard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sb_reader sb_reader;

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct sb_reader_opts {
    size_t size;          /* SB_INIT */
    const char *run;      /* only this run; default: all */
    uint64_t max_payload; /* larger records are skipped and recorded as damage; default 2 GiB */
    uint64_t max_decoded; /* limit for the memory of one decoded value; default 1 GiB */
} sb_reader_opts;

/* path: a directory, or one event file (then the run is "."). opts may be NULL. SB_NOT_FOUND when
 * the path does not exist; a directory without runs is no error. */
SB_API sb_status sb_reader_open(sb_reader **out, const char *path, const sb_reader_opts *opts,
                                sb_err *err);
/* NULL is legal. */
SB_API void sb_reader_close(sb_reader *r);

/* ---- events ---------------------------------------------------------------------------------- */

typedef enum sb_reader_what {
    SB_READS_NOTHING,      /* an event without content */
    SB_READS_FILE_VERSION, /* body: "brain.Event:2"; writer: who wrote the file, may be empty */
    SB_READS_SUMMARY,      /* values: sb_reader_next_value */
    SB_READS_GRAPH,        /* body: an encoded GraphDef */
    SB_READS_META_GRAPH,   /* body: an encoded MetaGraphDef */
    SB_READS_RUN_METADATA, /* tag; body: an encoded RunMetadata */
    SB_READS_SESSION, /* number: 1 start, 2 stop, 3 checkpoint; body: message; checkpoint_path */
    SB_READS_LOG_MESSAGE, /* number: 10 debug, 20 info, 30 warn, 40 error, 50 fatal; body: text */
} sb_reader_what;

typedef struct sb_reader_event {
    const char *run;  /* "." for the log directory itself */
    const char *path; /* of the file */
    /* position of the record in the file; for a gzip file in the decompressed data */
    uint64_t offset;
    double wall_time; /* seconds since 1970; may be anything, NaN included */
    int64_t step;
    sb_reader_what what;
    int32_t number;
    sb_slice body, tag, checkpoint_path, writer; /* empty when `what` does not use them */
    sb_slice record;                             /* the whole encoded Event */
} sb_reader_event;

/* Reads the next event: SB_OK; SB_MORE when everything that is written so far has been read;
 * SB_NOMEM (calling again tries again). */
SB_API sb_status sb_reader_next(sb_reader *r, const sb_reader_event **out, sb_err *err);

/* ---- values of a summary --------------------------------------------------------------------- */

/* What a value is, whether it was written in the form of TF1 or of TF2. */
typedef enum sb_reader_kind {
    SB_READS_NO_VALUE, /* only metadata, as hyperparameters have */
    SB_READS_SCALAR,
    SB_READS_HISTOGRAM,
    SB_READS_IMAGES,
    SB_READS_AUDIO,
    SB_READS_TEXT,
    SB_READS_TENSOR, /* everything else */
} sb_reader_kind;

typedef struct sb_reader_value {
    sb_slice tag;
    sb_reader_kind kind;
    double scalar; /* for SB_READS_SCALAR */
    /* Metadata of the first value of this tag in this run, because later values often have none. */
    sb_slice plugin_name; /* "scalars", "images", ...; given for TF1's forms too */
    sb_slice plugin_content, display_name, description;
    int32_t data_class; /* 0 unknown, 1 scalar, 2 tensor, 3 blobs */
    sb_slice encoded;   /* the whole encoded Summary.Value */
} sb_reader_value;

/* The next value of the event that sb_reader_next gave: SB_OK, SB_END when there is none left,
 * SB_CORRUPT when the rest is malformed, SB_NOMEM. A single value that is malformed is skipped.
 * Both are recorded as damage. */
SB_API sb_status sb_reader_next_value(sb_reader *r, const sb_reader_value **out);

/* The functions below decode the value that came last. SB_INVALID when it is of another kind,
 * SB_CORRUPT when it is malformed, SB_LIMIT when it needs more memory than allowed, SB_NOMEM. */

typedef struct sb_reader_histogram {
    size_t count; /* of buckets */
    /* Left edge, right edge and count of each bucket: 3 * count numbers. For TF1's form, empty
     * buckets at both ends are left out, and the outer edges are min and max. */
    const double *rows;
    /* The buckets of TF1's form as they are stored; NULL and 0 for TF2's form. */
    size_t stored_count;
    const double *limits, *counts;
    double min, max, num, sum, sum_squares;
} sb_reader_histogram;

SB_API sb_status sb_reader_histogram_of(sb_reader *r, const sb_reader_histogram **out);

typedef struct sb_reader_images {
    /* as the writer stored them; the size in the encoded image is the reliable one */
    int64_t width, height;
    size_t count;
    const sb_slice *images; /* PNG, JPEG, GIF, ... */
} sb_reader_images;

SB_API sb_status sb_reader_images_of(sb_reader *r, const sb_reader_images **out);

typedef struct sb_reader_audio {
    float sample_rate;        /* 0 in TF2's form: it is stored in the encoded clip */
    int64_t channels, frames; /* 0 in TF2's form, as sample_rate */
    sb_slice content_type;    /* "audio/wav"; may be empty */
    size_t count;
    const sb_slice *clips;
    const sb_slice *labels; /* array of count labels; NULL when there are none */
} sb_reader_audio;

SB_API sb_status sb_reader_audio_of(sb_reader *r, const sb_reader_audio **out);

typedef struct sb_reader_tensor {
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    size_t count;
    /* array of count numbers (the real parts of complex ones); NULL for strings */
    const double *numbers;
    const sb_slice *strings; /* array of count strings; NULL for numbers */
} sb_reader_tensor;

/* For every value that is stored as a tensor: text, and TF2's forms of all others. */
SB_API sb_status sb_reader_tensor_of(sb_reader *r, const sb_reader_tensor **out);

/* ---- damage ---------------------------------------------------------------------------------- */

typedef struct sb_reader_gap {
    const char *run;
    const char *path;
    uint64_t offset;
    uint64_t bytes;
    sb_status kind; /* SB_BAD_PAYLOAD, SB_BAD_LENGTH: skipped. SB_CORRUPT: not an Event, or a
                       damaged gzip file. SB_LIMIT: over the limit. SB_IO: the file can't be read.
                       SB_MORE: an incomplete record */
} sb_reader_gap;

/* The i-th gap that was skipped since the reader was opened; NULL after the last one. The first
 * 10 000 are kept; sb_reader_damage_count counts all of them. Valid until the next call of
 * sb_reader_next or sb_reader_next_value. */
SB_API const sb_reader_gap *sb_reader_damage(const sb_reader *r, size_t i);
SB_API uint64_t sb_reader_damage_count(const sb_reader *r);
/* The i-th file that does not end with a complete record (yet), as of the last SB_MORE; NULL after
 * the last one. Valid until the next call of this function or of sb_reader_next. */
SB_API const sb_reader_gap *sb_reader_unfinished(sb_reader *r, size_t i);

/* ---- all points at once ---------------------------------------------------------------------- */

/* The points of one tag of one run as columns, in the order of the files and, within a file, in the
 * order in which they were written. When a restarted run wrote a step again, both points are there,
 * unless SB_TABLE_HIDE_SUPERSEDED is set. A column that was not requested is NULL. */
typedef struct sb_reader_columns {
    const char *run; /* "." for the log directory itself */
    sb_slice tag;
    sb_reader_kind kind;  /* as the tag's first value says; values of another kind are left out */
    sb_slice plugin_name; /* as in sb_reader_value */
    sb_slice plugin_content, display_name, description;
    int32_t data_class;
    size_t count;             /* of points */
    const int64_t *steps;     /* array of count elements, as are the columns below */
    const double *wall_times; /* seconds since 1970 */
    const double *values;     /* for SB_READS_SCALAR; else NULL */
    /* For the other kinds (otherwise NULL): point i has the items from items[ends[i - 1]] up to,
     * but not including, items[ends[i]]; those of point 0 begin at items[0].
     *   SB_READS_TEXT    the strings
     *   SB_READS_IMAGES  the encoded images
     *   SB_READS_AUDIO   the encoded clips
     *   the rest         one item, the encoded Summary.Value */
    const sb_slice *items;
    const size_t *ends;
    size_t skipped; /* values of another kind, or malformed */
    /* The index of the event that contained the point, counted from 0 through all files of the run.
     * It shows in which order points of different tags were written. */
    const uint64_t *positions;
} sb_reader_columns;

/* Which columns are filled. */
typedef enum sb_reader_column {
    SB_COLUMN_STEPS = 1, /* always there */
    SB_COLUMN_WALL_TIMES = 2,
    /* `values`, or `items` and `ends`. Without this flag nothing is copied, and images, clips and
     * texts are not checked for being well-formed. */
    SB_COLUMN_VALUES = 4,
    SB_COLUMN_POSITIONS = 8,
} sb_reader_column;

typedef enum sb_reader_table_flag {
    /* Leaves out points that were written again after the run was restarted: those whose step is at
     * or above the first step of a later file that began after the end of their own file, or at or
     * above the step of a SessionLog START that follows them. */
    SB_TABLE_HIDE_SUPERSEDED = 1,
    /* The kind is that of the field in which a value is stored, whatever plugin the tag belongs to:
     * every tensor is SB_READS_TENSOR. A tag that is stored in several ways has one
     * sb_reader_columns for each. */
    SB_TABLE_AS_STORED = 2,
    SB_TABLE_KEEP_EVENTS = 4, /* keep events that are not summaries: sb_reader_table_event */
} sb_reader_table_flag;

typedef struct sb_reader_table sb_reader_table;

typedef struct sb_reader_table_opts {
    size_t size;             /* SB_INIT */
    const char *run;         /* only this run; default: all */
    const char *const *tags; /* only these tags; default: all */
    size_t tag_count;
    uint32_t kinds; /* the sum of 1u << SB_READS_...; default: scalars only */
    /* number of threads that read files in parallel; default: one per processor */
    uint32_t threads;
    uint64_t max_payload; /* larger records are skipped and recorded as damage; default 2 GiB */
    uint64_t max_bytes;   /* limit for the total size of all items; default 4 GiB */
    /* Allocator of the columns (steps, wall_times, values, items, ends): resize(ud, NULL, 0, n)
     * allocates, resize(ud, p, old, 0) frees and returns NULL, all other calls resize. A result of
     * NULL for n > 0 means that memory has run out. Called from several threads. Default: that of
     * the C library. */
    void *(*resize)(void *ud, void *p, size_t old_size, size_t new_size);
    void *ud;
    uint32_t columns; /* the sum of SB_COLUMN_...; default: steps, wall times and values */
    uint32_t flags;   /* the sum of SB_TABLE_... */
} sb_reader_table_opts;

/* Reads everything that is written so far in one call: files are read in parallel on all
 * processors, and numbers are decoded directly into the columns.
 *
 *     sb_reader_table *table;
 *     if (sb_reader_table_read(&table, "runs", NULL, &err) != SB_OK) return puts(err.text), 1;
 *     const sb_reader_columns *loss = sb_reader_table_find(table, "train", "loss");
 *     for (size_t i = 0; loss && i < loss->count; i++)
 *         printf("%lld %g\n", (long long)loss->steps[i], loss->values[i]);
 *     sb_reader_table_free(table);
 *
 * path as in sb_reader_open; opts may be NULL. SB_NOT_FOUND, SB_IO, SB_LIMIT (items beyond
 * max_bytes), SB_NOMEM, SB_INVALID. Everything in the table is valid until it is freed. */
SB_API sb_status sb_reader_table_read(sb_reader_table **out, const char *path,
                                      const sb_reader_table_opts *opts, sb_err *err);
/* NULL is legal. */
SB_API void sb_reader_table_free(sb_reader_table *table);

/* Returns the i-th columns; NULL after the last one. Runs are in byte order of their names, the
 * tags of a run in the order in which they first appear. The results of consecutive i are elements
 * of one array. */
SB_API const sb_reader_columns *sb_reader_table_at(const sb_reader_table *table, size_t i);
/* Returns NULL when the run has no such tag. Cost: a search through the tags of the run. */
SB_API const sb_reader_columns *sb_reader_table_find(const sb_reader_table *table, const char *run,
                                                     const char *tag);
/* Returns the i-th event that is not a summary: graphs, session logs, run metadata, messages.
 * Events are in the order of runs and files, in one array. NULL after the last one, and always
 * without SB_TABLE_KEEP_EVENTS. `record` is empty; the other slices are empty too without
 * SB_COLUMN_VALUES. */
SB_API const sb_reader_event *sb_reader_table_event(const sb_reader_table *table, size_t i);
/* The same as sb_reader_damage and sb_reader_damage_count, for a table. */
SB_API const sb_reader_gap *sb_reader_table_damage(const sb_reader_table *table, size_t i);
SB_API uint64_t sb_reader_table_damage_count(const sb_reader_table *table);

#ifdef __cplusplus
}
#endif
#endif
