/* xspace_int.h: the metadata of one plane of an XSpace: names of events and of statistics. Inside
 * the layer only.
 *
 * A plane holds its lines before its metadata, so it is walked more than once: statistics' names,
 * events' names, then lines. Ids are any 64-bit numbers; values of the kind `ref` are the id of a
 * statistic whose name is the value. */
#ifndef SB_PROFILE_XSPACE_INT_H
#define SB_PROFILE_XSPACE_INT_H

#include "codec/proto/messages.h"
#include "profile/read/fields.h"
#include "profile/trace/build.h"

/* Statistics that mean something to us. */
#define SB_XSTATS(X)                                                                               \
    X(CORRELATION, "correlation_id")                                                               \
    X(STEP_NUM, "step_num")                                                                        \
    X(ROOT, "_r")                                                                                  \
    X(HLO_OP, "hlo_op")                                                                            \
    X(HLO_MODULE, "hlo_module")                                                                    \
    X(TF_OP, "tf_op")                                                                              \
    X(SCOPE, "name")                                                                               \
    X(KERNEL, "kernel_details")                                                                    \
    X(MEMCPY, "memcpy_details")                                                                    \
    X(DEVICE_ID, "device_id")                                                                      \
    X(OCCUPANCY, "theoretical_occupancy_pct")                                                      \
    X(COUNTER, "counter_value")                                                                    \
    X(ALLOCATOR, "allocator_name")                                                                 \
    X(ALLOCATED, "bytes_allocated")                                                                \
    X(RESERVED, "bytes_reserved")                                                                  \
    X(AVAILABLE, "bytes_available")                                                                \
    X(MEMORY_PEAK, "peak_bytes_in_use")                                                            \
    X(ALLOCATION, "allocation_bytes")                                                              \
    X(ADDRESS, "addr")                                                                             \
    X(START_TIME, "profile_start_time")                                                            \
    X(VENDOR, "device_vendor")                                                                     \
    X(GPU_NAME, "gpu_device_name")                                                                 \
    X(CORES, "core_count")                                                                         \
    X(MEMORY, "memory_size")                                                                       \
    X(MAJOR, "compute_cap_major")                                                                  \
    X(MINOR, "compute_cap_minor")

typedef enum sb_xstat_id {
    XSTAT_NONE,
#define XSTAT_ID(id, name) XSTAT_##id,
    SB_XSTATS(XSTAT_ID)
#undef XSTAT_ID
        XSTAT_COUNT,
} sb_xstat_id;

typedef struct sb_xvalue {
    sb_xstat_id id;
    sb_slice name;
    uint32_t wire; /* SB_XSTAT_DOUBLE_VALUE ... SB_XSTAT_REF_VALUE; 0: no value */
    int64_t number;
    double real;
    sb_slice text; /* of strings, bytes and references */
} sb_xvalue;

/* Facts of one event, from its metadata and from itself. */
typedef struct sb_xfacts {
    uint64_t correlation;
    int64_t step_num, allocated, reserved, available, memory_peak, allocation, address;
    double occupancy, counter;
    bool has_step, is_root, has_device, has_kernel, has_copy, has_counter, has_allocator;
    uint32_t hlo_op, hlo_module, tf_op, scope; /* names + 1 */
    uint32_t memory_device;
    int64_t copied;
} sb_xfacts;

typedef struct sb_xstat_meta {
    sb_slice name; /* in the plane's arena */
    sb_xstat_id id;
} sb_xstat_meta;

typedef struct sb_xevent_meta {
    uint32_t name;
    uint8_t kind; /* as a host thread sees it */
    bool has_facts;
    sb_xfacts facts;
} sb_xevent_meta;

typedef struct sb_xplane {
    sb_trace *t;
    sb_trace_bytes *bytes;
    uint64_t at, end;
    sb_arena texts;
    sb_slice name;
    sb_intern stat_ids, event_ids; /* of the eight bytes of an id */
    SB_VEC(sb_xstat_meta) stats;
    SB_VEC(sb_xevent_meta) events;
    SB_VEC(uint32_t) event_of; /* of small ids: index + 1 */
} sb_xplane;

/* Reads the metadata. The plane borrows bytes; free it in any case. */
sb_status sb_xplane_read(sb_xplane *p, sb_trace *t, sb_trace_bytes *bytes, uint64_t at, uint64_t n,
                         bool with_events, sb_err *err);
void sb_xplane_free(sb_xplane *p);
const sb_xevent_meta *sb_xplane_event(const sb_xplane *p, int64_t id);
/* false: malformed. */
bool sb_xplane_value(const sb_xplane *p, sb_slice stat, sb_xvalue *out);
void sb_xfacts_take(sb_xfacts *f, const sb_xvalue *v, sb_trace *t);

#endif
