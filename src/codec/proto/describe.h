/* describe.h: any message of messages.h as JSON, for people (`seaboard dump`) and for comparison.
 *
 * The mapping is protobuf's own, with the fields' proto names: int64 and its kin are strings, bytes
 * are base64, enumerations are names, NaN and infinities are strings, fields with default values
 * are left out, google.protobuf.Value and its kin are plain JSON. One line, no spaces. Two things
 * differ: bytes longer than a limit are shortened to {"bytes": how many, "head": "hex of the
 * first"}, and text that is not UTF-8 is repaired, so the result is always valid JSON.
 *
 * Fields that the tables do not know are left out. Entries of maps come in stored order; a key that
 * was stored twice comes twice, and the later one counts, as it does to JSON parsers.
 *
 * Threads: no state.  Cost: two passes a level, memory only for the output (and for a message that
 * was stored in several parts, which writers do not do). */
#ifndef SB_CODEC_PROTO_DESCRIBE_H
#define SB_CODEC_PROTO_DESCRIBE_H

#include "base/buf.h"
#include "codec/proto/messages.h"

typedef struct sb_describe_opts {
    size_t max_bytes; /* longer bytes fields are shortened; SIZE_MAX: none is */
    bool expand;      /* show bytes that hold a known message (a graph in an event, a plugin's
                         content) as that message, where they parse as one */
} sb_describe_opts;

/* Deeper nesting than this is refused. */
#define SB_DESCRIBE_MAX_DEPTH 100

/* Appends one JSON object. SB_CORRUPT for a malformed message, SB_LIMIT for one nested too deep,
 * else what sb_buf_check(out) says; the JSON is then cut somewhere. opts may be NULL: nothing
 * shortened, nothing expanded. */
sb_status sb_describe(sb_buf *out, sb_message_id id, sb_slice payload, const sb_describe_opts *opts,
                      sb_err *err);

#endif
