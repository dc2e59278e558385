/* unify.h: from events to points: old and new forms of summaries become the same series.
 *
 * In:  the payload of one record.  Out: points that are appended to the run (store.h); no commit.
 *
 * The first value of a tag decides what its series is. Values that do not fit it are counted and
 * left out. Scalars are kept as numbers; everything else as a reference to its record, which is
 * read again when somebody asks. Threads: with the run's loader. Cost: one look-up of the tag a
 * value, or a compare where events repeat. */
#ifndef SB_INGEST_UNIFY_H
#define SB_INGEST_UNIFY_H

#include "codec/record.h"
#include "codec/repeats.h"
#include "store/store.h"

/* The tag under which the graph of a run is kept, as TensorBoard calls it. */
#define SB_RUN_GRAPH_TAG "__run_graph__"

typedef struct sb_unify_counts {
    uint64_t points;
    uint64_t misfits;    /* values that are not what their series is */
    uint64_t unreadable; /* records with good checksums that are no Event */
    uint64_t dropped;    /* values whose tag was one too many */
} sb_unify_counts;

/* SB_OK, or SB_NOMEM. What is wrong with the event itself only counts. repeats, NULL for none,
 * makes it quick and changes no point. */
sb_status sb_unify_event(sb_run *run, uint32_t file, const sb_record *record, uint64_t offset,
                         sb_repeats *repeats, sb_unify_counts *counts);

#endif
