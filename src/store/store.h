/* store.h: what is known about every run: names, series, points.
 *
 *   store   runs by name, a version that grows with every change that a reader could see
 *   run     files, series by tag, the marks that restarts left
 *   series  one tag of one run: what it is (metadata of its first value) and its points
 *   part    points that one file gave to one series, in the order of the file
 *
 * Writing: one loader for each run. It appends points without a lock; a commit publishes all points
 * that were appended since the last one, at once. Reading: any thread, through snapshots, which
 * never change and never block the loader.
 *
 * Restarts hide, they don't delete (docs/decisions): a snapshot says for each part from which step
 * on its points are superseded (codec/restarts.h).
 *
 * Lock order: store.mutex, then run.mutex; never two run.mutex. Readers hold a run's mutex only to
 * take references. */
#ifndef SB_STORE_STORE_H
#define SB_STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "codec/restarts.h"
#include "store/chunk.h"

typedef struct sb_store sb_store;
typedef struct sb_run sb_run;

typedef struct sb_store_opts {
    const sb_alloc *alloc;
    uint64_t memory_limit; /* for sealed chunks; 0: none */
    const char *spill_dir; /* where chunks beyond it go; NULL: they stay in memory */
    uint32_t max_tags;     /* of one run; further tags are counted, their points are not stored. 0:
                              a million */
    uint64_t hash_seed;
    void (*changed)(void *ud,
                    uint64_t version); /* after every commit; may be NULL; must be quick */
    void *changed_ud;
} sb_store_opts;

sb_status sb_store_new(sb_store **out, const sb_store_opts *opts, sb_err *err);
/* No run may be held any more. */
void sb_store_free(sb_store *s);

/* Grows with every visible change. */
uint64_t sb_store_version(const sb_store *s);
/* Grows only when the set of series with points changes, in any run. */
uint64_t sb_store_names_version(const sb_store *s);
/* Committed points of all runs, superseded ones included. */
uint64_t sb_store_points(const sb_store *s);
void sb_store_get_stats(sb_store *s, sb_blocks_stats *out);

/* ---- what a series is ------------------------------------------------------------------------ */

typedef enum sb_series_kind {
    SB_SERIES_UNKNOWN, /* of an unknown plugin: counted, no points kept */
    SB_SERIES_SCALAR,
    SB_SERIES_TENSOR, /* points refer to a tensor in the log */
    SB_SERIES_BLOBS,  /* points refer to a sequence of byte strings in the log */
} sb_series_kind;

/* Where in an event the bytes of a point are. */
typedef enum sb_ref_where {
    SB_IN_VALUE, /* the summary value with index value_index */
    SB_IN_GRAPH_DEF,
    SB_IN_RUN_METADATA,
} sb_ref_where;

/* A record of a log file: enough to read it again and to notice that it changed. The fields from
 * media on are what ingest saw of the first picture or clip: hints for lists and layout, so that
 * neither needs a read; the decoder checks them again. All 0 for everything else. */
typedef struct sb_ref {
    uint64_t offset; /* of the record in its file */
    uint32_t length; /* of the payload */
    uint32_t crc;    /* of the payload, masked, as stored */
    uint32_t value_index;
    uint32_t count;    /* elements of the first dimension: images + 2, clips, buckets; 0: rank 0 */
    uint8_t where;     /* sb_ref_where */
    uint8_t media;     /* sb_media of media/sniff.h */
    uint16_t channels; /* of a clip; of a picture 1 when its end is missing */
    union {
        uint32_t width; /* of a picture; 0: its header does not say */
        uint32_t rate;  /* of a clip: frames a second; 0: it is no WAV file that can be trusted */
    };
    union {
        uint32_t height; /* of a picture */
        uint32_t frames; /* of a clip; UINT32_MAX: so many or more */
    };
    uint32_t bytes; /* of the first picture or clip; UINT32_MAX: so many or more */
} sb_ref;

typedef struct sb_ref_point {
    int64_t step;
    double wall;
    sb_ref ref;
} sb_ref_point;

/* Metadata of the first value of a tag; slices live as long as the run is held. */
typedef struct sb_series_meta {
    sb_slice plugin_name, plugin_content, display_name, description;
    sb_series_kind kind;
    sb_dtype dtype; /* of scalars, as first seen */
    bool from_v1;   /* a simple_value, image, audio or histo, without a plugin of its own */
} sb_series_meta;

/* ---- loading: only the run's loader calls these ---------------------------------------------- */

/* A new run, held by the caller. name is shown, path is the directory as the system knows it.
 * SB_INVALID when a run of that name is there. */
sb_status sb_store_add_run(sb_store *s, sb_slice name, sb_slice path, sb_run **out, sb_err *err);
/* Removes the run from the store. Readers that hold a reference keep it alive. */
void sb_store_drop_run(sb_store *s, sb_run *run);

/* Files in the order in which they are to be read (byte order of paths): a new file takes its place
 * among the others. *file is the file's number, valid until the file is dropped. */
sb_status sb_run_add_file(sb_run *run, sb_slice path, uint32_t *file, sb_err *err);
/* The file's points disappear with the next commit. The number may be used again. */
void sb_run_drop_file(sb_run *run, uint32_t file);

/* The series of a tag, made if it is new; meta is taken only then. A tag that is no UTF-8 gets the
 * name that sb_utf8_spell makes of it. SB_LIMIT: too many tags (counted). */
sb_status sb_run_series(sb_run *run, sb_slice tag, const sb_series_meta *meta, uint32_t *series,
                        bool *is_new);
/* The series of a tag; false: none yet. */
bool sb_run_find(const sb_run *run, sb_slice tag, uint32_t *series);
const sb_series_meta *sb_run_series_meta(const sb_run *run, uint32_t series);

/* How a number was logged. TensorBoard shows integers without a decimal point and booleans as
 * words, so the kind of every point is known: a part holds numbers of one kind. Values are doubles:
 * integers beyond 2^53 are rounded to the nearest double. After SB_MOST_KIND_CHANGES changes the
 * points of a series keep the kind that they have then, so that a log that changes the kind with
 * every point does not need a part for every point. */
typedef enum sb_number_kind { SB_NUMBER_REAL, SB_NUMBER_WHOLE, SB_NUMBER_BOOL } sb_number_kind;
#define SB_MOST_KIND_CHANGES 256u

sb_status sb_run_add_scalar(sb_run *run, uint32_t file, uint32_t series, int64_t step, double wall,
                            double value, sb_number_kind kind);
sb_status sb_run_add_ref(sb_run *run, uint32_t file, uint32_t series, int64_t step, double wall,
                         const sb_ref *ref);
/* Every event's wall time: says when the run and the file began and ended. A header's time may be
 * rounded down, so it counts for the run only. */
void sb_run_saw_time(sb_run *run, uint32_t file, double wall, bool is_header);
/* A SessionLog START. */
sb_status sb_run_add_start(sb_run *run, uint32_t file, int64_t step, double wall);

/* The progress of reading a file, for status pages. Texts are copied. */
typedef struct sb_file_state {
    uint64_t size; /* when last looked at */
    uint64_t read; /* bytes */
    uint64_t records;
    uint64_t damaged; /* records skipped or lost in a damaged range */
    uint64_t lost;    /* bytes */
    bool is_live;     /* grew lately */
    bool is_done;     /* read to its end for now */
    uint64_t device, inode;
    char trouble[240]; /* the last one; empty: none */
} sb_file_state;
void sb_run_set_file_state(sb_run *run, uint32_t file, const sb_file_state *state);

/* Publishes everything that was added since the last commit. */
sb_status sb_run_commit(sb_run *run);

/* ---- reading --------------------------------------------------------------------------------- */

/* How a reader never misses a change: it reads sb_store_version first and the data afterwards, and
 * next time asks for what changed since that version. A change that comes between the two is seen
 * twice. Read in the other order, it would be lost. */

/* Runs held for the caller, in order of (start time, name), unknown start times last; the array is
 * in the arena. */
typedef struct sb_runs {
    sb_run **items;
    size_t n;
} sb_runs;
sb_status sb_store_runs(sb_store *s, sb_arena *arena, sb_runs *out);
void sb_runs_release(sb_runs *runs);

/* The tombstone of a run that was dropped. */
typedef struct sb_gone_run {
    uint32_t id;
    sb_slice name;
    uint64_t version; /* of the store when it was dropped */
} sb_gone_run;
/* The runs that were dropped after version `since` of the store, oldest first; in the arena.
 * *is_complete is false when older tombstones were already evicted (at most SB_MAX_GONE_RUNS are
 * kept), so that some of them are missing. */
#define SB_MAX_GONE_RUNS 1024u
sb_status sb_store_gone_runs(sb_store *s, uint64_t since, sb_arena *arena, sb_gone_run **out,
                             size_t *n, bool *is_complete);

/* The run of that name, held for the caller; NULL: there is none. */
sb_run *sb_store_find_run(sb_store *s, sb_slice name);
sb_run *sb_run_hold(sb_run *run);
void sb_run_release(sb_run *run);

typedef struct sb_run_info {
    uint32_t id;   /* never used again */
    sb_slice name; /* UTF-8 */
    sb_slice path; /* lives as long as the run is held, as name does */
    bool has_start;
    double start_wall; /* the least wall time of all events */
    double last_wall;  /* the greatest */
    uint64_t version;  /* of the store at the run's last commit */
    uint64_t epoch;    /* changes when points were superseded, or when points disappeared with their
                          file */
    uint64_t points;
    uint64_t dropped_tags; /* values whose tag was one too many */
    uint32_t series_count;
    uint32_t file_count;
    uint32_t attempts; /* how often it was begun: 1, and 1 more a restart */
    bool is_loading;   /* some file is not read to its end */
    uint32_t damaged_files;
    uint64_t damaged, lost; /* records and bytes, of all files */
} sb_run_info;
void sb_run_get_info(sb_run *run, sb_run_info *out);
/* Only its id, at no cost. */
uint32_t sb_run_id(const sb_run *run);

typedef struct sb_series_info {
    uint32_t id;
    sb_slice tag;
    const sb_series_meta *meta; /* lives as long as the run is held */
    uint64_t points;            /* superseded ones included */
    uint32_t max_count;         /* the greatest ref.count */
    uint64_t version;           /* of the store when it last grew */
    uint64_t begin_version;     /* of the store when its first point came */
} sb_series_info;
/* All series with committed points, in order of first sight; in the arena. */
sb_status sb_run_list(sb_run *run, sb_arena *arena, sb_series_info **out, size_t *n);
/* Only those that grew after that version of the store, and at most `max` of them. */
sb_status sb_run_list_since(sb_run *run, uint64_t since, size_t max, sb_arena *arena,
                            sb_series_info **out, size_t *n);
/* The same for one tag; SB_NOT_FOUND. */
sb_status sb_run_find_info(sb_run *run, sb_slice tag, sb_series_info *out);

typedef struct sb_file_info_view {
    uint32_t file;
    sb_slice path;
    sb_file_state state;
} sb_file_info_view;
/* All files in order; in the arena. */
sb_status sb_run_files(sb_run *run, sb_arena *arena, sb_file_info_view **out, size_t *n);
/* One file's path (in the arena) and state; SB_NOT_FOUND when it is gone. */
sb_status sb_run_file(sb_run *run, uint32_t file, sb_arena *arena, sb_file_info_view *out);

/* A run of points that never changes. */
typedef struct sb_part {
    uint32_t file;
    uint8_t number_kind; /* sb_number_kind of its scalars */
    bool continues;      /* goes on where the part before ended, with numbers of another kind */
    int64_t cut_step;    /* points with a step at or above are superseded; SB_NO_CUT: none is */
    /* scalars: sealed chunks, then tail_n points in columns */
    sb_chunk *const *chunks;
    size_t chunk_n;
    const int64_t *tail_steps;
    const double *tail_walls;
    const double *tail_values;
    size_t tail_n;
    /* tensors and blobs */
    const sb_ref_point *refs;
    size_t ref_n;
    void *held[2]; /* references that keep the arrays above alive */
} sb_part;

/* A snapshot of one series. */
typedef struct sb_series {
    sb_run *run;
    sb_slice tag;
    const sb_series_meta *meta;
    uint64_t epoch;  /* of the run */
    uint64_t points; /* superseded ones included */
    sb_part *parts;  /* in the arena, in the order of files */
    size_t part_n;
} sb_series;

/* SB_NOT_FOUND: no such series, or no committed point. Release before the arena goes. */
sb_status sb_series_take(sb_run *run, sb_slice tag, sb_arena *arena, sb_series *out);
void sb_series_release(sb_series *s);

/* All points of a scalar snapshot in order, one block of at most SB_CHUNK_POINTS at a time,
 * superseded ones left out when hide is true. */
typedef struct sb_scalar_walk {
    const sb_series *series;
    bool hide;
    size_t part, chunk;
} sb_scalar_walk;
sb_scalar_walk sb_scalars_of(const sb_series *s, bool hide);
/* How many points were put into the columns; 0: the end. *part (may be NULL): the index of their
 * part. */
size_t sb_scalars_next(sb_scalar_walk *walk, sb_points *out, size_t *part);

#endif
