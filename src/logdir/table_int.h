/* table_int.h: what the two parts of the columnar reader share, and the entry point for tests.
 *
 *   table.c       which files there are, threads, and joining the files of a run
 *   table_file.c  one file, from its records into columns
 *
 * A file is decoded by one thread into parts, one for each tag. The parts of a tag are then joined
 * in the order of the files; the columns of a tag that only one file has are handed over as they
 * are. */
#ifndef SB_LOGDIR_TABLE_INT_H
#define SB_LOGDIR_TABLE_INT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/intern.h"
#include "base/vec.h"
#include "codec/summary.h"
#include "logdir/reader_int.h"

/* The columns of one tag, in the caller's memory. Each has room for at least `room` points. */
typedef struct sb_table_part {
    sb_slice tag;
    sb_reader_kind kind;
    sb_metadata metadata;
    bool has_metadata;
    bool is_wanted;
    size_t column;  /* its index among those that are handed out */
    size_t n, room; /* of points; the columns' own n is set when they grow and at the end */
    SB_VEC(int64_t) steps;
    SB_VEC(double) wall_times;
    SB_VEC(double) values; /* of scalars; ends and items of the others */
    SB_VEC(size_t) ends;
    SB_VEC(sb_slice) items;
    size_t skipped;
} sb_table_part;

/* What is asked for, the same for every file. */
typedef struct sb_table_ask {
    const sb_env *env;
    sb_alloc columns; /* the caller's */
    uint64_t max_payload;
    uint32_t kinds;
    sb_slice *tags; /* sorted */
    size_t tag_count;
    uint64_t max_bytes;
    _Atomic uint64_t bytes; /* of items, in all files */
} sb_table_ask;

typedef struct sb_table_file {
    sb_table_ask *ask;
    const char *path;
    const char *run;
    sb_status status;
    sb_err err;
    sb_intern tags; /* the id is the index of the part */
    SB_VEC(sb_table_part) parts;
    sb_arena bytes; /* items and metadata */
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
/* Makes room for `more` points; false when there is no memory. */
bool sb_table_part_reserve(sb_table_part *p, const sb_alloc *columns, size_t more);
void sb_table_part_fini(sb_table_part *p, const sb_alloc *columns);

sb_status sb_reader_table_read_in(sb_reader_table **out, const sb_env *env, const char *path,
                                  const sb_reader_table_opts *opts, sb_err *err);

#endif
