/* xspace_int.h: the metadata of one plane of an XSpace: the names of events and statistics. Inside
 * the layer only.
 *
 * In the file the lines come before the metadata that they need, so a plane is read in three
 * passes: names of statistics, names of events, then lines. Ids may be any 64-bit number. A value
 * of the kind `ref` is the id of a statistic whose name is the value. */
#ifndef SB_PROFILE_XSPACE_INT_H
#define SB_PROFILE_XSPACE_INT_H

#include "codec/proto/messages.h"
#include "profile/read/fields.h"
#include "profile/trace/build.h"

/* The statistics that are used. */
#define SB_XSTATS(X)                                                                               \
    X(CORRELATION, "correlation_id")                                                               \
    X(PRODUCER_TYPE, "_pt")                                                                        \
    X(PRODUCER, "_p")                                                                              \
    X(CONSUMER_TYPE, "_ct")                                                                        \
    X(CONSUMER, "_c")                                                                              \
    X(FLOW, "flow")                                                                                \
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
    sb_slice text; /* the value of strings, bytes and references */
} sb_xvalue;

/* What the statistics of one event say, those of its metadata and its own. */
typedef struct sb_xfacts {
    uint64_t correlation;
    /* what the event hands on to others, and what was handed to it: both ends have the same type
     * and id */
    int64_t producer_type, producer, consumer_type, consumer;
    uint64_t flow; /* two bits of direction, 56 of an id, six of a category; 0: none */
    int64_t step_num, allocated, reserved, available, memory_peak, allocation, address;
    double occupancy, counter;
    bool has_producer, has_consumer;
    bool has_step, is_root, has_device, has_kernel, has_copy, has_counter, has_allocator;
    uint32_t hlo_op, hlo_module, tf_op, scope; /* ids of names + 1; 0: none */
    uint32_t memory_device;
    int64_t copied;
} sb_xfacts;

typedef struct sb_xstat_meta {
    sb_slice name; /* its bytes are in the plane's arena */
    sb_xstat_id id;
} sb_xstat_meta;

typedef struct sb_xevent_meta {
    uint32_t name;
    uint8_t kind; /* the kind of its events on host threads */
    bool has_facts;
    sb_xfacts facts;
} sb_xevent_meta;

typedef struct sb_xplane {
    sb_trace *t;
    sb_trace_bytes *bytes;
    uint64_t at, end;
    sb_arena texts;
    sb_slice name;
    sb_intern stat_ids, event_ids; /* keys are the eight bytes of an id */
    SB_VEC(sb_xstat_meta) stats;
    SB_VEC(sb_xevent_meta) events;
    SB_VEC(uint32_t) event_of; /* for small ids: [id] is the index + 1, without a look-up */
} sb_xplane;

/* Reads the metadata of a plane. The plane borrows `bytes`. It must be freed, also after a
 * failure. */
sb_status sb_xplane_read(sb_xplane *p, sb_trace *t, sb_trace_bytes *bytes, uint64_t at, uint64_t n,
                         bool with_events, sb_err *err);
void sb_xplane_free(sb_xplane *p);
const sb_xevent_meta *sb_xplane_event(const sb_xplane *p, int64_t id);
/* Parses one statistic. false: it is malformed. */
bool sb_xplane_value(const sb_xplane *p, sb_slice stat, sb_xvalue *out);
/* The whole name in the metadata of an event, where a shorter one is shown; else nothing. */
sb_slice sb_xplane_long_name(sb_slice meta);
void sb_xfacts_take(sb_xfacts *f, const sb_xvalue *v, sb_trace *t);

#endif
