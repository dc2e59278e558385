/* run_metadata.c: views of step statistics and costs. See graph.h. */
#include "codec/graph.h"
#include "codec/proto/pick_int.h"
#include "base/banned.h"

sb_status sb_run_metadata_read(sb_run_metadata_view *out, sb_slice run_metadata) {
    static const sb_pick picks[] = {
        SB_PICK(sb_run_metadata_view, step_stats, SB_RUN_METADATA_STEP_STATS),
    };
    *out = (sb_run_metadata_view){.message = run_metadata};
    return SB_PICK_READ(out, run_metadata, picks);
}

sb_status sb_device_stats_read(sb_device_stats *out, sb_slice dev_stats) {
    static const sb_pick picks[] = {
        SB_PICK(sb_device_stats, device, SB_DEVICE_STATS_DEVICE),
        SB_PICK(sb_device_stats, node_count, SB_DEVICE_STATS_NODE_STATS),
    };
    *out = (sb_device_stats){.message = dev_stats};
    return SB_PICK_READ(out, dev_stats, picks);
}

sb_status sb_node_stats_read(sb_node_stats *out, sb_slice node_stats) {
    static const sb_pick picks[] = {
        SB_PICK(sb_node_stats, name, SB_NODE_STATS_NODE_NAME),
        SB_PICK(sb_node_stats, all_start_micros, SB_NODE_STATS_ALL_START_MICROS),
        SB_PICK(sb_node_stats, op_start_rel_micros, SB_NODE_STATS_OP_START_REL_MICROS),
        SB_PICK(sb_node_stats, op_end_rel_micros, SB_NODE_STATS_OP_END_REL_MICROS),
        SB_PICK(sb_node_stats, all_end_rel_micros, SB_NODE_STATS_ALL_END_REL_MICROS),
        SB_PICK(sb_node_stats, label, SB_NODE_STATS_TIMELINE_LABEL),
        SB_PICK(sb_node_stats, scheduled_micros, SB_NODE_STATS_SCHEDULED_MICROS),
        SB_PICK(sb_node_stats, thread_id, SB_NODE_STATS_THREAD_ID),
        SB_PICK(sb_node_stats, all_start_nanos, SB_NODE_STATS_ALL_START_NANOS),
        SB_PICK(sb_node_stats, op_start_rel_nanos, SB_NODE_STATS_OP_START_REL_NANOS),
        SB_PICK(sb_node_stats, op_end_rel_nanos, SB_NODE_STATS_OP_END_REL_NANOS),
        SB_PICK(sb_node_stats, all_end_rel_nanos, SB_NODE_STATS_ALL_END_REL_NANOS),
        SB_PICK(sb_node_stats, scheduled_nanos, SB_NODE_STATS_SCHEDULED_NANOS),
    };
    *out = (sb_node_stats){.message = node_stats};
    return SB_PICK_READ(out, node_stats, picks);
}

sb_status sb_memory_used_read(sb_memory_used *out, sb_slice memory) {
    static const sb_pick picks[] = {
        SB_PICK(sb_memory_used, allocator, SB_MEMORY_USED_ALLOCATOR_NAME),
        SB_PICK(sb_memory_used, total_bytes, SB_MEMORY_USED_TOTAL_BYTES),
        SB_PICK(sb_memory_used, peak_bytes, SB_MEMORY_USED_PEAK_BYTES),
        SB_PICK(sb_memory_used, live_bytes, SB_MEMORY_USED_LIVE_BYTES),
        SB_PICK(sb_memory_used, in_use_bytes, SB_MEMORY_USED_ALLOCATOR_BYTES_IN_USE),
    };
    *out = (sb_memory_used){0};
    return SB_PICK_READ(out, memory, picks);
}

sb_status sb_node_output_read(sb_node_output *out, sb_slice output) {
    typedef struct parts {
        sb_slice description, allocation;
    } parts;
    static const sb_pick picks[] = {SB_PICK(sb_node_output, slot, SB_NODE_OUTPUT_SLOT)};
    static const sb_pick part_picks[] = {
        SB_PICK(parts, description, SB_NODE_OUTPUT_TENSOR_DESCRIPTION)};
    static const sb_pick tensor_picks[] = {
        SB_PICK(sb_node_output, dtype, SB_TENSOR_DESCRIPTION_DTYPE),
        SB_PICK(sb_node_output, shape, SB_TENSOR_DESCRIPTION_SHAPE),
    };
    static const sb_pick tensor_part_picks[] = {
        SB_PICK(parts, allocation, SB_TENSOR_DESCRIPTION_ALLOCATION_DESCRIPTION)};
    static const sb_pick allocation_picks[] = {
        SB_PICK(sb_node_output, requested_bytes, SB_ALLOCATION_REQUESTED_BYTES),
        SB_PICK(sb_node_output, allocated_bytes, SB_ALLOCATION_ALLOCATED_BYTES),
        SB_PICK(sb_node_output, allocator, SB_ALLOCATION_ALLOCATOR_NAME),
    };
    *out = (sb_node_output){0};
    parts inside = {0};
    if (SB_PICK_READ(out, output, picks) != SB_OK ||
        SB_PICK_READ(&inside, output, part_picks) != SB_OK ||
        SB_PICK_READ(out, inside.description, tensor_picks) != SB_OK ||
        SB_PICK_READ(&inside, inside.description, tensor_part_picks) != SB_OK)
        return SB_CORRUPT;
    return SB_PICK_READ(out, inside.allocation, allocation_picks);
}
