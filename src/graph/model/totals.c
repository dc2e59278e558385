/* totals.c: computes properties of operations and their sums over scopes: parameters (params.c),
 * measured time and memory, devices, operations that a TPU cannot run, and structure.
 *
 * Structure is a hash. For an operation it covers its type and the types of those inputs that have
 * the same parent; for a scope it is a sum over its children. So equal blocks get equal hashes,
 * wherever they are, whatever feeds them and whatever their names are. */
#include "base/slice.h"
#include "graph/model/params_int.h"
#include "graph/model/tpu_ops.h"
#include "base/banned.h"

/* ---- statistics ------------------------------------------------------------------------------ */

static double memory_of(const sb_node_stats *stats) {
    sb_items used = sb_items_of(stats->message, SB_NODE_STATS_MEMORY);
    sb_items outputs = sb_items_of(stats->message, SB_NODE_STATS_OUTPUT);
    sb_slice item;
    double total = 0, requested = 0;
    sb_memory_used memory;
    sb_node_output output;
    while (sb_items_next(&used, &item) == SB_OK)
        if (sb_memory_used_read(&memory, item) == SB_OK && memory.total_bytes > 0)
            total += (double)memory.total_bytes;
    while (sb_items_next(&outputs, &item) == SB_OK)
        if (sb_node_output_read(&output, item) == SB_OK && output.requested_bytes > 0)
            requested += (double)output.requested_bytes;
    return total > 0 ? total : requested;
}

static bool keep_stats(sb_model *m, uint32_t op, const sb_node_stats *stats, uint32_t device) {
    sb_box *b = &m->boxes[op];
    double time = (double)stats->all_end_rel_micros;
    if (stats->all_end_rel_nanos > 0) time = (double)stats->all_end_rel_nanos / 1000;
    if (time < 0) time = 0;
    double memory = memory_of(stats);
    bool is_again = b->has_stats && b->device == device;
    /* Several measurements on one device: an operation in a loop, so times are added. On different
     * devices the longest time is used. */
    b->time = is_again ? b->time + time : time > b->time ? time : b->time;
    b->bytes = memory > b->bytes ? memory : b->bytes;
    if (!b->has_stats && stats->message.n <= 4096)
        b->stats = sb_arena_dup(&m->arena, stats->message);
    b->has_stats = m->has_stats = true;
    b->device = device;
    return b->stats.p || stats->message.n > 4096;
}

static uint32_t find_op(const sb_model *m, sb_slice name, sb_buf *text) {
    uint32_t box = sb_model_find(m, name);
    if (box != SB_BOX_NONE && m->boxes[box].kind == SB_BOX_SCOPE) {
        sb_slice label = sb_box_label(&m->boxes[box]);
        sb_buf_clear(text);
        sb_buf_add_slice(text, name);
        sb_buf_add_str(text, "/(");
        sb_buf_add_slice(text, label);
        sb_buf_add_str(text, ")");
        box = sb_model_find(m, sb_buf_slice(text));
    }
    return box != SB_BOX_NONE && m->boxes[box].kind == SB_BOX_OP ? box : SB_BOX_NONE;
}

/* The streams of a GPU repeat the measurements of its device, so they are ignored. */
static bool is_stream(sb_slice device) {
    const char *found = device.n ? memmem(device.p, device.n, "/stream:", 8) : NULL;
    return found != NULL;
}

static bool is_skipped(const sb_model_ask *ask, sb_slice device) {
    for (size_t i = 0; i < ask->skipped_count; i++)
        if (sb_slice_eq(ask->skipped[i], device)) return true;
    return false;
}

static sb_status add_step_stats(sb_raw *r, const sb_model_ask *ask, sb_err *err) {
    sb_run_metadata_view view;
    sb_model *m = r->m;
    sb_buf text;
    if (ask->metadata.n == 0 || sb_run_metadata_read(&view, ask->metadata) != SB_OK) return SB_OK;
    sb_buf_init(&text, &r->alloc, 1 << 20);
    sb_items devices = sb_items_of(view.step_stats, SB_STEP_STATS_DEV_STATS);
    sb_slice item;
    while (sb_items_next(&devices, &item) == SB_OK) {
        sb_device_stats stats;
        uint32_t device;
        if (sb_device_stats_read(&stats, item) != SB_OK || is_stream(stats.device)) continue;
        if (sb_intern_add(&m->texts, stats.device, &device, NULL) != SB_OK)
            return sb_fail_nomem(err, "for a graph");
        if (stats.node_count && m->device_count < SB_MOST_DEVICES)
            m->devices[m->device_count++] = device;
        if (is_skipped(ask, stats.device)) continue;
        sb_items nodes = sb_items_of(stats.message, SB_DEVICE_STATS_NODE_STATS);
        sb_slice one;
        while (sb_items_next(&nodes, &one) == SB_OK) {
            sb_node_stats node;
            if (sb_node_stats_read(&node, one) != SB_OK) continue;
            uint32_t op = find_op(m, node.name, &text);
            if (op != SB_BOX_NONE && !keep_stats(m, op, &node, device))
                return sb_fail_nomem(err, "for a graph");
        }
    }
    return SB_OK;
}

/* ---- structure and sums ---------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static uint64_t op_hash(const sb_model *m, uint32_t op) {
    sb_slice text = sb_model_text(m, m->boxes[op].op);
    /* FNV-1a without a random seed: colours that are derived from it are the same in every
     * process */
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.n; i++) h = (h ^ text.p[i]) * 0x100000001b3u;
    return mix(h + 1);
}

static uint64_t structure_of(const sb_model *m, uint32_t op) {
    const sb_box *b = &m->boxes[op];
    uint64_t h = op_hash(m, op);
    for (uint32_t i = 0; i < b->in_count; i++) {
        const sb_edge *e = &m->edges[b->first_in + i];
        if (m->boxes[e->from].parent == b->parent) h += mix(op_hash(m, e->from) + e->input);
    }
    return mix(h);
}

static bool is_end(sb_slice op, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (sb_slice_eq(op, sb_slice_str(names[i]))) return true;
    return false;
}

static bool is_control_only(const sb_model *m, const sb_box *b) {
    for (uint32_t i = 0; i < b->in_count; i++)
        if (!(m->edges[b->first_in + i].flags & SB_EDGE_CONTROL)) return false;
    return true;
}

static void mark_ends(sb_model *m, sb_box *b) {
    static const char *const inputs[] = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
                                         "_Arg",        "_DeviceArg",    "IO Node",
                                         "Input",       "InputLayer"};
    static const char *const outputs[] = {"_Retval", "_DeviceRetval", "IO Node", "Output"};
    static const char *const constants[] = {"Const", "prim::Constant", "Constant", "Initializer"};
    sb_slice op = sb_model_text(m, b->op);
    b->is_input = b->in_count == 0 && b->out_count && is_end(op, inputs, 8);
    b->is_output = b->out_count == 0 && b->in_count && is_end(op, outputs, 4);
    b->is_constant = is_end(op, constants, 4) && is_control_only(m, b);
}

static void total_op(sb_model *m, uint32_t op) {
    sb_box *b = &m->boxes[op];
    b->ops = 1;
    b->incompatible = m->producer > 0 && !sb_tpu_runs(sb_model_text(m, b->op));
    b->structure = structure_of(m, op);
    mark_ends(m, b);
}

static void add_to_parent(sb_model *m, uint32_t child) {
    const sb_box *b = &m->boxes[child];
    sb_box *p = &m->boxes[b->parent];
    bool is_first = p->ops == 0;
    p->device = is_first || p->device == b->device ? b->device : SB_BOX_NONE;
    p->ops += b->ops;
    p->incompatible += b->incompatible;
    p->unsized += b->unsized;
    p->params += b->params;
    p->time += b->time;
    p->bytes += b->bytes;
    p->has_stats |= b->has_stats;
    p->structure += mix(b->structure + 0x51ed);
    if (b->side != SB_SIDE_SAME) p->side = SB_SIDE_CHANGED;
}

/* A scope is added (or removed) itself when all of its children are. */
static void side_of_scope(sb_model *m, uint32_t box) {
    sb_box *b = &m->boxes[box];
    bool all_added = b->child_count > 0, all_removed = b->child_count > 0;
    for (uint32_t i = 0; i < b->child_count; i++) {
        uint8_t side = m->boxes[m->children[b->first_child + i]].side;
        all_added &= side == SB_SIDE_ADDED;
        all_removed &= side == SB_SIDE_REMOVED;
    }
    if (all_added) b->side = SB_SIDE_ADDED;
    if (all_removed) b->side = SB_SIDE_REMOVED;
}

sb_status sb_totals_build(sb_raw *r, const sb_model_ask *ask, sb_err *err) {
    sb_model *m = r->m;
    sb_status status = add_step_stats(r, ask, err);
    if (status == SB_OK) status = sb_params_count(r, ask->functions, err);
    if (status != SB_OK) return status;
    for (uint32_t i = 0; i < m->box_count; i++)
        if (m->boxes[i].kind == SB_BOX_OP) total_op(m, i);
    for (uint32_t i = m->box_count; i-- > 1;) { /* children before parents */
        uint32_t box = m->downwards[i];
        if (m->boxes[box].kind != SB_BOX_OP) {
            m->boxes[box].structure = mix(m->boxes[box].structure);
            side_of_scope(m, box);
        }
        add_to_parent(m, box);
    }
    return SB_OK;
}
