/* step_stats.c: reads step statistics of TensorFlow (RunMetadata in event files).
 *
 * A device becomes a group. The thread ids in the file are not reliable, so every device has one
 * track, on which spans that overlap are in different lanes. */
#include <stdio.h>

#include "codec/proto/items.h"
#include "codec/proto/messages.h"
#include "profile/read/read.h"
#include "profile/trace/build.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

typedef struct node_times {
    sb_slice name, label;
    int64_t start_micros, end_micros, start_nanos, end_nanos;
} node_times;

static bool read_node(sb_slice bytes, node_times *out) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    *out = (node_times){0};
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) switch (f.number) {
        case SB_NODE_STATS_NODE_NAME:
            out->name = f.bytes;
            break;
        case SB_NODE_STATS_TIMELINE_LABEL:
            out->label = f.bytes;
            break;
        case SB_NODE_STATS_ALL_START_MICROS:
            out->start_micros = sb_pb_int64(&f);
            break;
        case SB_NODE_STATS_ALL_END_REL_MICROS:
            out->end_micros = sb_pb_int64(&f);
            break;
        case SB_NODE_STATS_ALL_START_NANOS:
            out->start_nanos = sb_pb_int64(&f);
            break;
        case SB_NODE_STATS_ALL_END_REL_NANOS:
            out->end_nanos = sb_pb_int64(&f);
            break;
        default:
            break;
        }
    return step == SB_PB_END;
}

/* Makes "name:Op", as newer profiles have it, of "name = Op(input, input)". */
static sb_slice op_name(const node_times *n, char *to, size_t room) {
    sb_slice label = n->label;
    for (size_t i = 0; i + 3 < label.n; i++) {
        if (memcmp(label.p + i, " = ", 3) != 0) continue;
        size_t end = i + 3;
        while (end < label.n && label.p[end] != '(') end++;
        int length = snprintf(to, room, "%.*s:%.*s", SB_SHOWN(n->name), (int)(end - i - 3),
                              (const char *)label.p + i + 3);
        if (length > 0 && (size_t)length < room) return sb_slice_of(to, (size_t)length);
    }
    return n->name;
}

#define FAR_NANOS (INT64_MAX / 8000) /* 13 days: as picoseconds this fits into 64 bits */

static int64_t nanos_of(int64_t nanos, int64_t micros) {
    int64_t made;
    if (nanos) return nanos;
    return __builtin_mul_overflow(micros, 1000, &made) ? INT64_MAX : made;
}

static bool add_node(sb_trace *t, uint32_t track, const node_times *n, int64_t *base_ns,
                     bool is_stream) {
    char text[512];
    int64_t start = nanos_of(n->start_nanos, n->start_micros);
    int64_t dur = nanos_of(n->end_nanos, n->end_micros);
    if (!*base_ns) *base_ns = start;
    sb_slice name = op_name(n, text, sizeof text);
    uint32_t id = sb_build_name(t, name);
    int64_t since;
    if (__builtin_sub_overflow(start, *base_ns, &since) || since > FAR_NANOS || since < -FAR_NANOS)
        since = FAR_NANOS;
    if (dur > FAR_NANOS) dur = FAR_NANOS;
    if (dur < -FAR_NANOS) dur = -FAR_NANOS;
    sb_span_kind kind = is_stream ? sb_classify_device(name) : SB_SPAN_OP;
    return id != SB_NO_INDEX &&
           sb_build_span(t, track, since * 1000, dur * 1000, id, kind, 0) != NULL;
}

/* Reads the statistics of one device. false: no memory. */
static bool read_device(sb_trace *t, uint32_t host, sb_slice device, int64_t *base_ns) {
    sb_items names = sb_items_of(device, SB_DEVICE_STATS_DEVICE),
             nodes = sb_items_of(device, SB_DEVICE_STATS_NODE_STATS);
    sb_slice name = {NULL, 0}, node;
    sb_items_next(&names, &name);
    /* /stream:all repeats what the numbered streams show */
    if (sb_slice_ends(name, SB_LIT("/stream:all"))) return true;
    bool is_stream = sb_text_has(name, "/stream:") || sb_text_has(name, "/memcpy");
    bool is_device = is_stream || sb_text_has(name, "gpu:") || sb_text_has(name, "tpu:");
    uint32_t group = sb_build_group(t, name, host, is_device ? SB_GROUP_DEVICE : SB_GROUP_PROCESS,
                                    name.n ? name : SB_LIT("device"));
    uint32_t track =
        group == SB_NO_INDEX
            ? group
            : sb_build_track(t, group, SB_LIT("ops"), is_stream ? SB_TRACK_STREAM : SB_TRACK_THREAD,
                             is_stream ? SB_LIT("stream") : SB_LIT("operators"));
    if (track == SB_NO_INDEX) return false;
    t->tracks.items[track].is_mixed = true;
    sb_status status;
    while ((status = sb_items_next(&nodes, &node)) == SB_OK) {
        node_times n;
        if (!read_node(node, &n))
            sb_trace_note(t, SB_TRACE_ODD_BAD_MESSAGE, 1, n.name);
        else if (!add_node(t, track, &n, base_ns, is_stream))
            return false;
    }
    if (status == SB_CORRUPT) sb_trace_note(t, SB_TRACE_ODD_BAD_MESSAGE, 1, name);
    return true;
}

sb_status sb_read_step_stats(sb_trace *t, sb_slice run_metadata, sb_err *err) {
    sb_trace_source *source = &t->sources.items[t->build->source];
    sb_items all = sb_items_of(run_metadata, SB_RUN_METADATA_STEP_STATS);
    sb_slice stats, device;
    int64_t base_ns = 0;
    source->format = SB_FORMAT_STEP_STATS;
    source->size = source->read = run_metadata.n;
    uint32_t host = sb_build_group(t, SB_LIT(""), SB_NO_INDEX, SB_GROUP_HOST, source->name);
    if (host == SB_NO_INDEX) return sb_fail_nomem(err, "for a trace");
    sb_status status;
    while ((status = sb_items_next(&all, &stats)) == SB_OK) {
        sb_items devices = sb_items_of(stats, SB_STEP_STATS_DEV_STATS);
        while (sb_items_next(&devices, &device) == SB_OK)
            if (!read_device(t, host, device, &base_ns)) return sb_fail_nomem(err, "for a trace");
    }
    if (status == SB_CORRUPT) sb_trace_note(t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("RunMetadata"));
    t->sources.items[t->build->source].base_ns = base_ns;
    return SB_OK;
}
