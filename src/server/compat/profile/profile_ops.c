/* profile_ops.c: XProf's table of framework operators, with and without the time in which none
 * runs. Operators of one name are one row for the device and one for the host; what counts as
 * occurrence on the device is a kernel. Rates of arithmetic and of memory are not known here: 0. */
#include "base/checked.h"
#include "base/sort_rows.h"
#include "server/compat/data_table.h"
#include "server/compat/profile/profile_tools.h"
#include "base/banned.h"

#define MOST_OPS 10000u
#define IDLE SIZE_MAX /* in place of an operator */

typedef struct side {
    sb_sort_row *rows; /* by self time */
    size_t n;
    double all, idle; /* self time of its operators; time in which none runs */
} side;

bool sb_compat_profile_is_op(const sb_op_row *o) {
    return o->kind == SB_SPAN_OP || o->kind == SB_SPAN_XLA_OP || o->kind == SB_SPAN_INPUT ||
           o->kind == SB_SPAN_COMM;
}

sb_slice sb_compat_profile_op_type(const sb_op_row *o, sb_slice name) {
    if (o->kind == SB_SPAN_INPUT) return SB_LIT("Dataset");
    for (size_t i = name.n; i-- > 0;)
        if (name.p[i] == '/' && i + 1 < name.n) {
            name = sb_slice_of(name.p + i + 1, name.n - i - 1);
            break;
        }
    size_t end = name.n;
    while (end && name.p[end - 1] >= '0' && name.p[end - 1] <= '9') end--;
    if (end > 1 && end < name.n && name.p[end - 1] == '.') name.n = end - 1;
    return name;
}

static bool take_side(side *out, const sb_analysis *a, bool is_device, sb_arena *arena) {
    int64_t sum = 0, span = 0;
    *out = (side){.rows = sb_arena_get(arena, (a->op_count + 2) * sizeof *out->rows)};
    if (!out->rows) return false;
    for (size_t i = 0; i < a->op_count; i++) {
        const sb_op_row *o = &a->ops[i];
        int64_t self = is_device ? o->device_self : o->host_self;
        if (!sb_compat_profile_is_op(o) || self <= 0) continue;
        sb_sum(&sum, self);
        out->rows[out->n++] = (sb_sort_row){i, (double)self, sb_trace_name(a->t, o->name)};
    }
    for (size_t i = 0; i < a->t->sources.n; i++)
        if (!is_device || a->sources[i].has_device) sb_sum(&span, a->t->duration);
    out->all = (double)sum;
    out->idle = span > sum ? (double)(span - sum) : 0;
    if (out->idle > 0) out->rows[out->n++] = (sb_sort_row){IDLE, out->idle, SB_LIT("IDLE")};
    sb_sort_rows(out->rows, out->n, SB_SORT_GREATEST_FIRST);
    return true;
}

typedef struct row {
    const char *side;
    sb_slice type, name;
    double calls, total, self;
    double device, host, device_sum, host_sum; /* shares of self time */
    double tensor_cores;
} row;

static void add_row(sb_data *d, const row *o, uint64_t rank, bool has_cores, bool is_eager) {
    double calls = o->calls > 0 ? o->calls : 1;
    sb_data_begin_row(d);
    sb_data_add_count(d, rank);
    sb_data_add_text(d, sb_slice_str(o->side));
    sb_data_add_text(d, o->type);
    sb_data_add_text(d, o->name);
    sb_data_add_number(d, o->calls);
    sb_data_add_number(d, o->total * 1e-6);
    sb_data_add_number(d, o->calls > 0 ? o->total * 1e-6 / calls : 0);
    sb_data_add_number(d, o->self * 1e-6);
    sb_data_add_number(d, o->calls > 0 ? o->self * 1e-6 / calls : 0);
    sb_data_add_number(d, o->device);
    sb_data_add_number(d, o->device_sum);
    sb_data_add_number(d, o->host);
    sb_data_add_number(d, o->host_sum);
    for (int i = 0; i < 4; i++) sb_data_add_number(d, 0);
    if (has_cores) sb_data_add_number(d, o->tensor_cores);
    sb_data_add_text(d, SB_LIT("Unknown"));
    sb_data_add_text(d, is_eager ? SB_LIT("Eager") : SB_LIT("Function"));
    sb_data_end_row(d);
}

static void add_side(sb_data *d, const sb_analysis *a, const side *s, bool is_device, bool has_idle,
                     uint64_t *rank) {
    double all = s->all + (has_idle ? s->idle : 0), sum = 0;
    bool is_eager = a->t->sources.n && a->t->sources.items[0].format == SB_FORMAT_KINETO;
    for (size_t i = 0; i < s->n && i < MOST_OPS; i++) {
        bool is_idle = s->rows[i].index == IDLE;
        if (is_idle && !has_idle) continue;
        double share = all > 0 ? s->rows[i].key / all : 0;
        sum += share;
        row o = {.side = is_device ? "Device" : "Host",
                 .type = SB_LIT("IDLE"),
                 .name = s->rows[i].name,
                 .total = s->rows[i].key,
                 .self = s->rows[i].key};
        *(is_device ? &o.device : &o.host) = share;
        *(is_device ? &o.device_sum : &o.host_sum) = sum;
        if (!is_idle) {
            const sb_op_row *op = &a->ops[s->rows[i].index];
            o.type = sb_compat_profile_op_type(op, o.name);
            o.calls = (double)(is_device ? op->kernels : op->calls);
            o.total = (double)(is_device ? op->device_total : op->host_total);
            o.tensor_cores = is_device && op->kernels
                                 ? (double)op->tensor_core_kernels / (double)op->kernels
                                 : 0;
        }
        add_row(d, &o, ++*rank, a->t->devices.n > 0, is_eager);
    }
}

static void add_table(sb_data *d, const sb_analysis *a, const side *sides, bool has_idle) {
    static const sb_data_column before[] = {
        {"rank", "Rank", "number"},
        {"host_or_device", "Host/device", "string"},
        {"type", "Operation Type", "string"},
        {"operation", "Operation Name", "string"},
        {"occurrences", "#Occurrences", "number"},
        {"total_time", "Total time (us)", "number"},
        {"avg_time", "Avg. time (us)", "number"},
        {"total_self_time", "Total self-time (us)", "number"},
        {"avg_self_time", "Avg. self-time (us)", "number"},
        {"device_total_self_time_percent", "Total self-time on Device (%)", "number"},
        {"device_cumulative_total_self_time_percent", "Cumulative total-self time on Device (%)",
         "number"},
        {"host_total_self_time_percent", "Total self-time on Host (%)", "number"},
        {"Host_cumulative_total_self_time_percent", "Cumulative total-self time on Host (%)",
         "number"},
        {"measured_flop_rate", "Normalized FLOP Rate (FLOPs/s)", "number"},
        {"model_flop_rate", "Model FLOP Rate (GFLOP/s)", "number"},
        {"measured_memory_bw", "Measured Memory BW (GBytes/Sec)", "number"},
        {"operational_intensity", "Operational Intensity (FLOPs/Byte)", "number"},
    };
    enum { BEFORE = sizeof before / sizeof before[0] };
    sb_data_column columns[BEFORE + 3];
    uint64_t rank = 0;
    size_t n = BEFORE;
    memcpy(columns, before, sizeof before);
    if (a->t->devices.n) /* as XProf: without a device nothing is said of them */
        columns[n++] =
            (sb_data_column){"gpu_tensorcore_utilization", "GPU TensorCore utilization", "number"};
    columns[n++] = (sb_data_column){"bound_by", "Bound by", "string"};
    columns[n++] = (sb_data_column){"eager", "Execution mode", "string"};
    sb_data_begin_table(d, columns, n);
    if (a->has_device) add_side(d, a, &sides[0], true, has_idle, &rank);
    add_side(d, a, &sides[1], false, has_idle, &rank);
    sb_data_begin_properties(d);
    sb_data_add_property(d, "architecture_type", SB_LIT("Unknown"));
    sb_data_add_property(d, "task_type", SB_LIT("Training"));
    sb_data_end_table(d);
}

SB_PROFILE_TOOL(framework_ops) {
    side sides[2];
    sb_data d;
    if (!take_side(&sides[0], a, true, q->arena) || !take_side(&sides[1], a, false, q->arena))
        return SB_NOMEM;
    sb_data_begin(&d, r, csv);
    sb_data_open_list(&d);
    add_table(&d, a, sides, true);
    add_table(&d, a, sides, false);
    return sb_data_end(&d, r);
}
