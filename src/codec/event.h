/* event.h: a view of one Event, the payload of a record.
 *
 * In:  the borrowed payload.  Out: numbers, and slices into the payload; nothing is copied.
 *
 *   1 wall_time double | 2 step int64 | 10 source_metadata {1 writer}
 *   one of: 3 file_version | 4 graph_def | 5 summary | 6 log_message | 7 session_log
 *           8 tagged_run_metadata | 9 meta_graph_def
 *
 * Any of them may be missing. When several members of the oneof are on the wire the last one wins,
 * whole: two Summary members in one Event are not merged, since no writer makes them. A known field
 * with a foreign wire type is ignored, as protobuf does. Text is not checked to be UTF-8.
 *
 * Threads: no state.  Cost: one pass over the outer fields, no allocation. */
#ifndef SB_CODEC_EVENT_H
#define SB_CODEC_EVENT_H

#include <stdbool.h>

#include "codec/proto/messages.h"
#include "seaboard/status.h"

/* The numbers are those of the fields. */
typedef enum sb_event_what {
    SB_WHAT_NONE = 0,
    SB_WHAT_FILE_VERSION = SB_EVENT_FILE_VERSION,
    SB_WHAT_GRAPH_DEF = SB_EVENT_GRAPH_DEF,
    SB_WHAT_SUMMARY = SB_EVENT_SUMMARY,
    SB_WHAT_LOG_MESSAGE = SB_EVENT_LOG_MESSAGE,
    SB_WHAT_SESSION_LOG = SB_EVENT_SESSION_LOG,
    SB_WHAT_TAGGED_RUN_METADATA = SB_EVENT_TAGGED_RUN_METADATA,
    SB_WHAT_META_GRAPH_DEF = SB_EVENT_META_GRAPH_DEF,
} sb_event_what;

typedef struct sb_event {
    double wall_time; /* seconds since 1970; may be anything, NaN included */
    int64_t step;
    sb_event_what what;
    sb_slice body;          /* the member `what` names: text, or an encoded message */
    sb_slice source_writer; /* who wrote the file; empty in most events */
} sb_event;

/* SB_OK or SB_CORRUPT; *out is then unspecified. An empty payload is an Event with nothing in it.
 */
sb_status sb_event_read(sb_event *out, sb_slice payload);

/* For finding the way again behind damage, where random bytes must not pass: does this parse as an
 * Event with at least one known field, all known fields of the right wire type, down to the values
 * of a Summary? Fits sb_record_accept_fn. */
bool sb_event_looks_valid(sb_slice payload);

typedef struct sb_session_log {
    int32_t status; /* SB_SESSION_STATUS_... */
    sb_slice checkpoint_path;
    sb_slice message;
} sb_session_log;

sb_status sb_session_log_read(sb_session_log *out, sb_slice body);

typedef struct sb_log_message {
    int32_t level; /* SB_LOG_LEVEL_... */
    sb_slice message;
} sb_log_message;

sb_status sb_log_message_read(sb_log_message *out, sb_slice body);

typedef struct sb_tagged_run_metadata {
    sb_slice tag;
    sb_slice run_metadata; /* an encoded RunMetadata, see graph.h */
} sb_tagged_run_metadata;

sb_status sb_tagged_run_metadata_read(sb_tagged_run_metadata *out, sb_slice body);

#endif
