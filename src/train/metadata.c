/* metadata.c: StepStats of one device, one entry for each op that ran. */
#include "train/metadata.h"

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "train/ops.h"
#include "train/session.h"
#include "base/banned.h"

#define DEVICE "/job:localhost/replica:0/task:0/device:CPU:0"
#define ALLOCATOR SB_LIT("cpu")

static int64_t bytes_of(const op_out *o) {
    return (int64_t)(o->count * sb_element_size(o->dtype));
}

static void add_allocator_memory(sb_buf *b, const sb_op *op) {
    int64_t made = 0;
    if (!sb_op_is_alias(op))
        for (uint32_t i = 0; i < op->out_count; i++) made += bytes_of(&op->outs[i]);
    int64_t scratch = op->kind->scratch ? (int64_t)op->kind->scratch(op) : 0;
    size_t memory = sb_pb_begin(b, SB_NODE_STATS_MEMORY, 20);
    sb_pb_add_bytes(b, SB_MEMORY_USED_ALLOCATOR_NAME, ALLOCATOR);
    sb_pb_add_int_nz(b, SB_MEMORY_USED_TOTAL_BYTES, made + scratch);
    sb_pb_add_int_nz(b, SB_MEMORY_USED_PEAK_BYTES, made + scratch);
    sb_pb_add_int_nz(b, SB_MEMORY_USED_LIVE_BYTES, made);
    sb_pb_end(b, memory);
}

static void add_output(sb_buf *b, const op_out *o, uint32_t slot) {
    size_t output = sb_pb_begin(b, SB_NODE_STATS_OUTPUT, 60);
    sb_pb_add_uint_nz(b, SB_NODE_OUTPUT_SLOT, slot);
    size_t tensor = sb_pb_begin(b, SB_NODE_OUTPUT_TENSOR_DESCRIPTION, 50);
    sb_pb_add_uint(b, SB_TENSOR_DESCRIPTION_DTYPE, o->dtype);
    size_t shape = sb_pb_begin(b, SB_TENSOR_DESCRIPTION_SHAPE, 4 * (size_t)o->dims.rank);
    for (uint32_t i = 0; i < o->dims.rank; i++) {
        size_t dim = sb_pb_begin(b, SB_SHAPE_DIM, 4);
        sb_pb_add_int_nz(b, SB_DIM_SIZE, o->dims.at[i]);
        sb_pb_end(b, dim);
    }
    sb_pb_end(b, shape);
    size_t allocation = sb_pb_begin(b, SB_TENSOR_DESCRIPTION_ALLOCATION_DESCRIPTION, 20);
    sb_pb_add_int_nz(b, SB_ALLOCATION_REQUESTED_BYTES, bytes_of(o));
    sb_pb_add_int_nz(b, SB_ALLOCATION_ALLOCATED_BYTES, (bytes_of(o) + 63) / 64 * 64);
    sb_pb_add_bytes(b, SB_ALLOCATION_ALLOCATOR_NAME, ALLOCATOR);
    sb_pb_end(b, allocation);
    sb_pb_end(b, tensor);
    sb_pb_end(b, output);
}

/* "name = Op(input, input)" */
static void add_label(sb_buf *b, const sb_op *op) {
    size_t label = sb_pb_begin(b, SB_NODE_STATS_TIMELINE_LABEL, 100);
    sb_buf_add_str(b, op->name);
    sb_buf_add_str(b, " = ");
    sb_buf_add_str(b, op->kind->type);
    sb_buf_add_str(b, "(");
    for (uint32_t i = 0; i < op->input_count; i++) {
        if (i) sb_buf_add_str(b, ", ");
        sb_buf_add_str(b, op->inputs[i].op->name);
    }
    sb_buf_add_str(b, ")");
    sb_pb_end(b, label);
}

static void add_step(sb_buf *b, const sb_op *op, const step_time *t, uint64_t wall_offset) {
    uint64_t start = t->begin + wall_offset, length = t->end - t->begin;
    /* two ends of one microsecond count as one, so that nothing took no time at all */
    int64_t micros = (int64_t)((length + 999) / 1000);
    size_t stats = sb_pb_begin(b, SB_DEVICE_STATS_NODE_STATS, 300);
    sb_pb_add_bytes(b, SB_NODE_STATS_NODE_NAME, sb_slice_str(op->name));
    sb_pb_add_int(b, SB_NODE_STATS_ALL_START_MICROS, (int64_t)(start / 1000));
    sb_pb_add_int_nz(b, SB_NODE_STATS_OP_END_REL_MICROS, micros);
    sb_pb_add_int_nz(b, SB_NODE_STATS_ALL_END_REL_MICROS, micros);
    add_allocator_memory(b, op);
    for (uint32_t i = 0; i < op->out_count; i++) add_output(b, &op->outs[i], i);
    add_label(b, op);
    sb_pb_add_int(b, SB_NODE_STATS_SCHEDULED_MICROS, (int64_t)(start / 1000));
    sb_pb_add_int(b, SB_NODE_STATS_ALL_START_NANOS, (int64_t)start);
    sb_pb_add_int_nz(b, SB_NODE_STATS_OP_END_REL_NANOS, (int64_t)length);
    sb_pb_add_int_nz(b, SB_NODE_STATS_ALL_END_REL_NANOS, (int64_t)length);
    sb_pb_add_int(b, SB_NODE_STATS_SCHEDULED_NANOS, (int64_t)start);
    sb_pb_end(b, stats);
}

sb_status sb_metadata_make(const plan *p, const step_time *times, uint64_t wall_offset,
                           sb_arena *arena, sb_slice *out, sb_err *err) {
    sb_alloc alloc = sb_arena_alloc(arena);
    sb_buf b;
    sb_buf_init(&b, &alloc, (size_t)1 << 30);
    size_t expected = p->step_count * 300;
    size_t step_stats = sb_pb_begin(&b, SB_RUN_METADATA_STEP_STATS, expected);
    size_t device = sb_pb_begin(&b, SB_STEP_STATS_DEV_STATS, expected);
    sb_pb_add_bytes(&b, SB_DEVICE_STATS_DEVICE, SB_LIT(DEVICE));
    for (size_t i = 0; i < p->step_count; i++) add_step(&b, p->steps[i].op, &times[i], wall_offset);
    sb_pb_end(&b, device);
    sb_pb_end(&b, step_stats);
    *out = sb_buf_slice(&b);
    return sb_buf_check(&b, "run metadata", err);
}
