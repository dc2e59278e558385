/* table_int.h: what the parts of the columnar reader share.
 *
 *   table.c       which files there are, threads, and joining the files of a run
 *   table_file.c  one file, from its records into parts
 *   table_part.c  the columns of one tag
 *
 * A file is decoded by one thread into parts, one for each tag. The parts of a tag are then joined
 * in the order of the files; the columns of a tag that only one file has are moved, not copied. */
#ifndef SB_LOGDIR_TABLE_INT_H
#define SB_LOGDIR_TABLE_INT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/intern.h"
#include "base/vec.h"
#include "codec/restarts.h"
#include "codec/summary.h"
#include "logdir/reader_int.h"

/* The options of the caller, the same for every file. */
typedef struct sb_table_ask {
    const sb_env *env;
    sb_alloc memory; /* for columns */
    uint64_t max_payload;
    uint32_t kinds, columns;
    bool as_stored, hides_superseded, keeps_events;
    sb_slice *tags; /* sorted */
    size_t tag_count;
    uint64_t max_bytes;
    _Atomic uint64_t bytes; /* of items and events, in all files */
} sb_table_ask;

/* ---- the columns of one tag ------------------------------------------------------------------ */

/* Points of one file between two SessionLog STARTs (codec/restarts.h). */
typedef struct sb_table_piece {
    size_t first; /* index of its first point */
    uint32_t rank, segment;
} sb_table_piece;

typedef struct sb_table_part {
    sb_slice tag;
    sb_reader_kind kind;
    sb_metadata metadata;
    bool has_metadata;
    bool is_wanted;
    uint32_t run;   /* index of the run; set when files are joined */
    size_t n, room; /* of points; every column has room for `room`, its own n is not used */
    /* In the caller's memory. Scalars have values; other kinds have ends and items. */
    SB_VEC(int64_t) steps;
    SB_VEC(double) wall_times;
    SB_VEC(double) values;
    SB_VEC(uint64_t) positions;
    SB_VEC(size_t) ends;
    SB_VEC(sb_slice) items;
    SB_VEC(sb_table_piece) pieces;
    size_t skipped;
} sb_table_part;

/* The event that a point comes from. */
typedef struct sb_table_point {
    int64_t step;
    double wall_time;
    uint64_t position;
    uint32_t rank, segment;
} sb_table_point;

/* Appends a point; `value` counts for scalars only. SB_NOMEM. */
sb_status sb_table_part_add(sb_table_part *p, const sb_table_ask *ask, const sb_table_point *at,
                            double value);
/* Appends a point with the items of an encoded value, which must outlive the part. SB_CORRUPT: it
 * is malformed, and nothing was appended. */
sb_status sb_table_part_add_items(sb_table_part *p, const sb_table_ask *ask,
                                  const sb_table_point *at, sb_slice encoded);
/* Appends all points of another part of the same tag. */
sb_status sb_table_part_append(sb_table_part *to, const sb_table_part *from,
                               const sb_table_ask *ask);
/* Removes the points of piece i at or above cuts[i]. */
void sb_table_part_cut(sb_table_part *p, const int64_t *cuts);
void sb_table_part_fini(sb_table_part *p, const sb_table_ask *ask);

/* ---- one file -------------------------------------------------------------------------------- */

typedef struct sb_table_file {
    sb_table_ask *ask;
    const char *path;
    const char *run_name;
    uint32_t run;  /* index of the run */
    uint32_t rank; /* among the files of the run */
    sb_status status;
    sb_err err;
    sb_intern tags; /* the id is the index of the part */
    sb_buf key;     /* scratch: what is looked up in tags */
    sb_buf spelled; /* scratch: a tag that is no UTF-8 */
    SB_VEC(sb_table_part) parts;
    sb_arena bytes; /* items, metadata and contents of events */
    SB_VEC(sb_reader_event) events;
    SB_VEC(sb_start) starts;
    double first_wall, last_wall; /* as sb_restart_piece has them */
    uint64_t event_n;             /* records that are events, so far */
    SB_VEC(sb_reader_gap) gaps;
    uint64_t damage_count;
    /* Metadata of tags from earlier files of the run; NULL: none is known. */
    const sb_metadata *(*earlier)(const void *ud, sb_slice tag);
    const void *earlier_ud;
} sb_table_file;

#define SB_TABLE_MOST_GAPS 10000u

/* Reads the file into parts; the outcome is in status. */
void sb_table_file_read(sb_table_file *f);
void sb_table_file_fini(sb_table_file *f);

#endif
