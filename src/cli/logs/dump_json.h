/* dump_json.h: one record as one line of JSON.
 *
 *     {"offset": 78, "size": 75, "status": "ok", "length_crc": "ok", "payload_crc": "ok",
 *      "wall_time": 1.7e9, "step": 0,
 *      "values": [{"tag": "loss", "kind": "scalar", "plugin": "scalars", "value": 1.0}],
 *      "event": {...}}
 *     {"offset": 584, "size": 39, "status": "bad_payload", "length_crc": "ok", "payload_crc":
 * "bad"}
 *
 * status: ok, bad_payload, bad_length, corrupt (no event, or a damaged archive), limit, io, cut.
 * event: the Event in protobuf's JSON with long blobs shortened; null when it is malformed inside.
 * values: what the public reader makes of them, whatever form they were written in. */
#ifndef SB_CLI_DUMP_JSON_H
#define SB_CLI_DUMP_JSON_H

#include "base/buf.h"
#include "seaboard/reader.h"

/* Appends the line. Walks over the event's values. */
sb_status sb_dump_json_event(sb_buf *out, sb_reader *reader, const sb_reader_event *event,
                             sb_err *err);
void sb_dump_json_gap(sb_buf *out, const sb_reader_gap *gap);

/* "scalar", "images", ... */
const char *sb_dump_kind(sb_reader_kind kind);

#endif
