/* store_int.h: the inside of store and run, for src/store and its tests. */
#ifndef SB_STORE_STORE_INT_H
#define SB_STORE_STORE_INT_H

#include <pthread.h>

#include "base/intern.h"
#include "base/vec.h"
#include "store/store.h"

#define SB_RECENT_METAS 8

/* A reference-counted block of memory. The loader appends behind the points that snapshots see, so
 * the loader and snapshots can hold the same block. */
typedef struct sb_counted {
    _Atomic uint32_t refs;
    uint32_t room; /* elements */
    size_t size;   /* of the whole block */
    const sb_alloc *alloc;
} sb_counted;

typedef struct sb_chunk_list {
    sb_counted head;
    size_t n; /* written by the loader; the list holds a reference to each chunk */
    sb_chunk *items[];
} sb_chunk_list;

/* room steps, then room walls, then room values. */
typedef struct sb_tail_block {
    sb_counted head;
    int64_t columns[];
} sb_tail_block;

typedef struct sb_ref_list {
    sb_counted head;
    sb_ref_point items[];
} sb_ref_list;

static inline int64_t *sb_tail_steps(sb_tail_block *t) {
    return t->columns;
}
static inline double *sb_tail_walls(sb_tail_block *t) {
    return (double *)(void *)(t->columns + t->head.room);
}
static inline double *sb_tail_values(sb_tail_block *t) {
    return (double *)(void *)(t->columns + 2 * (size_t)t->head.room);
}

/* How many points of a part one side (the loader, or the readers) sees; each side holds a reference
 * to the blocks. */
typedef struct sb_extent {
    sb_chunk_list *chunks;
    sb_tail_block *tail;
    sb_ref_list *refs;
    size_t chunk_n, tail_n, ref_n;
} sb_extent;

typedef struct sb_stored_part {
    uint32_t file;
    uint32_t segment; /* how many STARTs of its file came before */
    bool has_first;
    bool continues;      /* the part before it, with numbers of another kind */
    uint8_t number_kind; /* sb_number_kind */
    int64_t first_step;  /* of the file's segment */
    sb_extent end;       /* with the points that are not published yet; the loader's */
    sb_extent seen;      /* published by the last commit */
    int64_t seen_first_step;
} sb_stored_part;

typedef struct sb_stored_series {
    /* Where the next scalar goes while its part is open: the steps' column, its end, and how far
     * away the other columns are. They are side by side because every point that is loaded uses
     * them. */
    int64_t *next, *end;
    size_t stride;
    uint32_t open_file, open_segment;
    sb_slice tag;
    const sb_series_meta *meta; /* in run.texts; series with equal ones share it */
    sb_stored_part *parts;
    uint32_t part_n, part_room;
    uint32_t current;  /* the part that was added to last; its tail_n is behind while it is open */
    uint32_t top_file; /* no part is of a file with a greater number */
    uint32_t dirty_from; /* no part before it has grown since the last commit */
    bool is_dirty;
    uint8_t open_kind;     /* the sb_number_kind that the open part was opened for */
    uint16_t kind_changes; /* parts that continue another one */
    /* committed: */
    uint64_t points;
    uint32_t max_count, next_max_count;
    uint64_t version;
    uint64_t begin_version; /* when it went from no points to some */
} sb_stored_series;

typedef struct sb_stored_file {
    bool is_used;
    bool is_dropped; /* its parts go with the next commit */
    char *path;      /* terminated */
    size_t path_n;
    uint32_t rank;                /* among the used files */
    uint32_t segments;            /* STARTs so far */
    double min_wall;              /* of all events; NaN: none yet */
    double first_wall, last_wall; /* of events behind the header; NaN: none yet */
    /* committed: */
    double seen_min, seen_first, seen_last;
    sb_file_state state;
} sb_stored_file;

/* A SessionLog START, as sb_start of codec/restarts.h; the rank is that of the file, which may
 * change. */
typedef struct sb_stored_start {
    uint32_t file;
    uint32_t segment;
    int64_t step;
    double wall;
} sb_stored_start;

/* Sums over the states of a run's files. */
typedef struct sb_file_sum {
    uint32_t unread; /* not read to their end */
    uint32_t damaged_files;
    uint64_t damaged, lost;
} sb_file_sum;

struct sb_run {
    _Atomic uint32_t refs;
    sb_store *store;
    const sb_alloc *alloc;
    uint32_t id;
    sb_arena texts;                               /* name, path, tags' metadata */
    const sb_series_meta *metas[SB_RECENT_METAS]; /* in texts: those of the latest new series */
    uint32_t next_meta;                           /* where the next one goes */
    sb_slice name, path;
    pthread_mutex_t mutex;
    /* The loader changes these under the mutex and reads them without: */
    sb_intern tags;
    sb_stored_series **series;
    uint32_t series_room;
    sb_stored_file *files;
    uint32_t file_n, file_room;
    uint32_t *order; /* the used files by rank */
    uint32_t order_n, order_room;
    uint32_t free_from; /* no file before it is free */
    sb_file_sum sum;    /* of the used files */
    /* the loader's: */
    sb_stored_series **dirty;
    uint32_t dirty_n, dirty_room;
    sb_stored_start *starts;
    uint32_t start_n, start_room;
    uint64_t next_dropped_tags;
    uint64_t next_epoch;
    /* committed: */
    uint32_t seen_start_n;
    uint32_t restarts; /* by files that began after all before them */
    uint64_t points, version, epoch, dropped_tags;
    uint32_t series_count;        /* with points */
    double start_wall, last_wall; /* NaN: no event yet */
};

/* Tombstones of dropped runs, a ring: the newest SB_MAX_GONE_RUNS of them. Guarded by the store's
 * mutex. */
typedef struct sb_tombstone {
    uint32_t id;
    uint64_t version;
    uint8_t *name;
    size_t name_n;
} sb_tombstone;

typedef struct sb_tombstones {
    sb_tombstone *items; /* NULL until the first run is dropped */
    size_t first, n;
    uint64_t evicted_version; /* of the newest tombstone that is not there any more; 0: all are */
} sb_tombstones;

/* Remembers a run that was dropped at that version. Without memory it is as if it were evicted. */
void sb_tombstones_add(sb_tombstones *t, const sb_alloc *alloc, const sb_run *run,
                       uint64_t version);
void sb_tombstones_fini(sb_tombstones *t, const sb_alloc *alloc);

struct sb_store {
    const sb_alloc *alloc;
    sb_store_opts opts;
    sb_blocks *blocks;
    _Atomic uint64_t version;
    _Atomic uint64_t names_version;
    _Atomic uint64_t points; /* committed, of all runs that are not freed */
    pthread_mutex_t mutex;
    SB_VEC(sb_run *) runs;
    uint32_t next_id;
    sb_tombstones gone;
};

/* ---- extent.c -------------------------------------------------------------------------------- */

/* A block with one reference: a head that begins with an sb_counted, and room for elements behind
 * it. NULL: no memory. */
void *sb_counted_new(const sb_alloc *alloc, size_t head, size_t element, uint32_t room);
void sb_counted_hold(void *block);
void sb_counted_release(void *block); /* not for chunk lists */
void sb_chunk_list_release(sb_chunk_list *list);
void sb_extent_hold(sb_extent *e);
void sb_extent_release(sb_extent *e);

/* Makes room for one more element in an array of n; true when there is. */
static inline bool sb_store_grow(const sb_alloc *alloc, void **items, uint32_t n, uint32_t *room,
                                 size_t element) {
    if (n < *room) return true;
    size_t larger = *room;
    void *p = sb_vec_grow(alloc, *items, &larger, n, 1, element, UINT32_MAX);
    if (!p) return false;
    *items = p;
    *room = (uint32_t)larger;
    return true;
}

/* ---- run.c, run_files.c, run_points.c -------------------------------------------------------- */

sb_status sb_run_new(sb_run **out, sb_store *store, sb_slice name, sb_slice path, uint32_t id,
                     sb_err *err);
void sb_run_free(sb_run *run);
/* With the mutex held, after the parts of the dropped files are gone: forgets these files and the
 * restarts that they recorded. */
void sb_run_remove_dropped_files(sb_run *run);
/* Writes the number of points of the open tail back to its part; the next point opens it again. */
void sb_series_close_tail(sb_stored_series *s);

/* ---- store.c --------------------------------------------------------------------------------- */

/* Tells readers and the store's owner; answers the new version. */
uint64_t sb_store_bump(sb_store *s);

#endif
