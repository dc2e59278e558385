/* reader_int.h: what the two parts of the public reader share, and the entry point for tests.
 *
 *   reader.c         files and events
 *   reader_values.c  the values of a summary, decoded */
#ifndef SB_LOGDIR_READER_INT_H
#define SB_LOGDIR_READER_INT_H

#include "base/arena.h"
#include "base/env.h"
#include "base/intern.h"
#include "base/vec.h"
#include "codec/event.h"
#include "codec/proto/items.h"
#include "codec/summary.h"
#include "logdir/tail.h"
#include "seaboard/reader.h"

typedef struct sb_reader_file {
    sb_tail *tail; /* NULL until it is first read */
    const char *path;
    uint32_t run;
    /* As the last walk found it; equal again means that nothing was written since. */
    uint64_t size, inode;
    int64_t mtime_ns;
    bool at_end;  /* read to its end, with nothing left over */
    bool refused; /* it could not be read when that was last tried */
    sb_tail_ending rest;
} sb_reader_file;

struct sb_reader {
    const sb_env *env;
    uint64_t max_payload, max_decoded;
    char *root, *only_run;
    size_t root_size, only_run_size;

    sb_intern runs;  /* names */
    sb_intern paths; /* the id is the index into files */
    SB_VEC(sb_reader_file) files;
    SB_VEC(uint32_t) order; /* the files of this pass */
    size_t at;              /* in order */
    bool pass_over;         /* the next call walks again */

    sb_event event;
    sb_reader_file *event_file;
    uint64_t event_offset, event_size;
    sb_items values; /* what of the summary has not been walked yet */
    sb_value value;
    sb_reader_kind value_kind;
    bool has_value;
    sb_arena decoded;

    sb_intern tags; /* run id and tag; the id is the index into metadata */
    sb_buf key;
    SB_VEC(sb_metadata) metadata;
    sb_arena metadata_text;

    SB_VEC(sb_reader_gap) gaps;
    uint64_t damage_count;

    /* What the last call handed out. */
    sb_reader_event event_out;
    sb_reader_value value_out;
    sb_reader_histogram histogram_out;
    sb_reader_images images_out;
    sb_reader_audio audio_out;
    sb_reader_tensor tensor_out;
    sb_reader_gap unfinished_out;
};

sb_status sb_reader_open_in(sb_reader **out, const sb_env *env, const char *path,
                            const sb_reader_opts *opts, sb_err *err);

/* Notes a piece of a file that could not be read. */
void sb_reader_note(sb_reader *r, const sb_reader_file *file, sb_status kind, uint64_t offset,
                    uint64_t bytes);
/* Begins the walk over the values of the event. */
void sb_reader_begin_values(sb_reader *r);
void sb_reader_values_fini(sb_reader *r);

/* Sets all fields of the event but run, path, offset and record. False: its content is
 * malformed. */
bool sb_reader_fill_event(sb_reader_event *out, const sb_event *e);

/* The kind that the metadata of a tag announces. */
sb_reader_kind sb_reader_promised_kind(const sb_metadata *metadata);
/* What a value is, given the tag's metadata. Fills in the number of a scalar, and for TF1's forms
 * the plugin that would show them. */
sb_reader_kind sb_reader_classify(const sb_value *value, sb_metadata *metadata, double *scalar);

#endif
