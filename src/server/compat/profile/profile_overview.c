/* profile_overview.c: XProf's overview page: seven DataTables, with the columns and properties that
 * its page reads.
 *
 * Shares are 0 to 1 in cells and percent in properties. What copies is one column here: the parts
 * of a step do not tell directions apart. */
#include <math.h>
#include <stdio.h>

#include "base/text/number.h"
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "server/compat/data_table.h"
#include "server/compat/profile/profile_tools.h"
#include "base/banned.h"

#define MOST_STEPS 1000u

static void add_property(sb_data *d, const char *key, double x, const char *unit) {
    char text[40];
    int n = snprintf(text, sizeof text, "%.1f%s", x, unit);
    sb_data_add_property(d, key, sb_slice_of(text, (size_t)n));
}

static double share_of(double part, double all) {
    return all > 0 ? part / all : 0;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* What operators of one side do: the sum of their self times, and how often they ran. */
typedef struct op_sums {
    double self, calls;
} op_sums;

static op_sums sum_ops(const sb_analysis *a, bool is_device) {
    op_sums sums = {0};
    for (size_t i = 0; i < a->op_count; i++) {
        const sb_op_row *o = &a->ops[i];
        double self = (double)(is_device ? o->device_self : o->host_self);
        if (!sb_compat_profile_is_op(o) || self <= 0) continue;
        sums.self += self;
        sums.calls += (double)(is_device ? o->kernels : o->calls);
    }
    return sums;
}

/* The heaviest operators of the device; without one, those of the host. */
static void add_analysis(sb_data *d, const sb_analysis *a) {
    static const sb_data_column columns[] = {
        {"selfTimePercent", "Time (%)", "number"},
        {"cumulativeTimePercent", "Cumulative time (%)", "number"},
        {"category", "Category", "string"},
        {"operation", "Operation", "string"},
        {"flopRate", "GFLOPs/Sec", "number"},
        {"tcEligibility", "TensorCore eligibility", "boolean"},
        {"tcUtilization", "Op is using TensorCore", "boolean"}};
    bool is_device = a->device_time > 0;
    op_sums device = sum_ops(a, true), host = sum_ops(a, false);
    double all = is_device ? device.self : host.self, calls = device.calls + host.calls, sum = 0;
    bool has_cores = a->t->devices.n > 0; /* as XProf: without a device nothing is said of them */
    sb_data_begin_table(d, columns, sizeof columns / sizeof columns[0] - (has_cores ? 0 : 2));
    for (size_t i = 0, shown = 0; i < a->op_count && shown < 10; i++) {
        const sb_op_row *o = &a->ops[i];
        double self = (double)(is_device ? o->device_self : o->host_self);
        sb_slice name = sb_trace_name(a->t, o->name);
        if (!sb_compat_profile_is_op(o) || self <= 0) continue;
        sum += self;
        sb_data_begin_row(d);
        sb_data_add_number(d, share_of(self, all));
        sb_data_add_number(d, share_of(sum, all));
        sb_data_add_text(d, sb_compat_profile_op_type(o, name));
        sb_data_add_text(d, name);
        sb_data_add_number(d, 0);
        if (has_cores) {
            sb_data_add_bool(d, sb_op_may_use_tensor_cores(name));
            sb_data_add_bool(d, o->tensor_core_kernels > 0);
        }
        sb_data_end_row(d);
        shown++;
    }
    sb_data_begin_properties(d);
    if (a->has_device) add_property(d, "device_idle_time_percent", (1 - a->device_busy) * 100, "%");
    if (a->host_busy >= 0) add_property(d, "host_idle_time_percent", (1 - a->host_busy) * 100, "%");
    add_property(d, "device_tf_op_percent", share_of(device.calls, calls) * 100, "%");
    add_property(d, "host_tf_op_percent", share_of(host.calls, calls) * 100, "%");
    sb_data_add_property(d, "remark_text",
                         sb_slice_str(a->step_count ? "" : "No step marker observed"));
    sb_data_add_property(d, "remark_color", sb_slice_str(a->step_count ? "" : "red"));
    sb_data_end_table(d);
}

/* Where a part of a step is shown. */
typedef struct step_column {
    const char *id, *label, *property;
    unsigned parts; /* a bit for each */
} step_column;

#define BIT(part) (1u << SB_PART_##part)
static const step_column STEP_COLUMNS[] = {
    {"deviceComputeTimeMs", "Device compute", "device_compute", BIT(COMPUTE)},
    {"deviceToDeviceTimeMs", "Copies", "device_to_device", BIT(COPY)},
    {"deviceCollectivesTimeMs", "Device collective communication", "device_collectives",
     BIT(COMMUNICATION)},
    {"hostComputeTimeMs", "Host compute", "host_compute", BIT(HOST) | BIT(OPTIMIZER)},
    {"kernelLaunchTimeMs", "Kernel launch", "kernel_launch", BIT(LAUNCH) | BIT(SYNC)},
    {"infeedTimeMs", "Input", "infeed", BIT(INPUT)},
    {"outfeedTimeMs", "Output", "outfeed", 0},
    {"compileTimeMs", "Compilation", "compile", BIT(COMPILE)},
    {"otherTimeMs", "All others", "other", BIT(OTHER)},
};
#define STEP_COLUMN_COUNT (sizeof STEP_COLUMNS / sizeof STEP_COLUMNS[0])

static double step_ms(const sb_step *s, const step_column *c) {
    int64_t ps = 0;
    for (int i = 0; i < SB_PART_COUNT; i++)
        if (c->parts & 1u << i) ps += s->parts[i];
    return (double)ps * 1e-9;
}

static void add_step(sb_data *d, const sb_step *s) {
    char text[600];
    size_t n = (size_t)snprintf(text, sizeof text, "%lld", (long long)s->number);
    sb_data_begin_row(d);
    sb_data_add_text(d, sb_slice_of(text, n));
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++)
        sb_data_add_number(d, step_ms(s, &STEP_COLUMNS[i]));
    n = (size_t)snprintf(text, sizeof text, "Step %lld, duration: %.2f ms", (long long)s->number,
                         (double)s->dur * 1e-9);
    for (size_t i = STEP_COLUMN_COUNT; i-- > 0;)
        n += (size_t)snprintf(text + n, sizeof text - n, "\n-%s: %.2f ms", STEP_COLUMNS[i].label,
                              step_ms(s, &STEP_COLUMNS[i]));
    sb_data_add_text(d, sb_slice_of(text, n));
    sb_data_add_number(d, (double)s->dur * 1e-9);
    sb_data_end_row(d);
}

/* Mean and standard deviation of a column. */
static void add_step_figures(sb_data *d, const sb_analysis *a, const step_column *c) {
    double sum = 0, squares = 0, n = (double)a->step_count;
    char key[60];
    for (size_t i = 0; i < a->step_count; i++) sum += step_ms(&a->steps[i], c);
    double mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < a->step_count; i++) {
        double off = step_ms(&a->steps[i], c) - mean;
        squares += off * off;
    }
    snprintf(key, sizeof key, "%s_time_ms_avg", c->property);
    add_property(d, key, mean, "");
    snprintf(key, sizeof key, "%s_time_ms_sdv", c->property);
    add_property(d, key, n > 0 ? sqrt(squares / n) : 0, "");
}

static void add_step_properties(sb_data *d, const sb_analysis *a) {
    int64_t least = a->step_count ? a->steps[0].dur : 0;
    char text[400], input[160];
    size_t n = (size_t)snprintf(text, sizeof text, "stepnum");
    double share = share_of((double)a->stats.parts[SB_PART_INPUT], (double)a->stats.median);
    for (size_t i = 0; i < a->step_count; i++)
        if (a->steps[i].dur < least) least = a->steps[i].dur;
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, ",%s", STEP_COLUMNS[i].id);
        add_step_figures(d, a, &STEP_COLUMNS[i]);
    }
    snprintf(text + n, sizeof text - n, ",tooltip");
    sb_data_add_property(d, "step_time_graph_column_ids", sb_slice_str(text));
    sb_data_add_property(d, "hardware_type", sb_slice_str(a->has_device ? "GPU" : "CPU_ONLY"));
    add_property(d, "steptime_ms_average", (double)a->stats.mean * 1e-9, "");
    add_property(d, "steptime_ms_standard_deviation", (double)a->stats.deviation * 1e-9, "");
    add_property(d, "steptime_ms_minimum", (double)least * 1e-9, "");
    add_property(d, "steptime_ms_maximum", (double)a->stats.worst * 1e-9, "");
    add_property(d, "infeed_percent_average", share * 100, "");
    if (a->step_count)
        snprintf(input, sizeof input, "%.1f%% of a step is waiting for input.", share * 100);
    else
        snprintf(input, sizeof input, "No steps were found.");
    sb_data_add_property(d, "input_conclusion", sb_slice_str(input));
    sb_data_add_property(d, "summary_nextstep", SB_LIT(""));
}

static void add_step_table(sb_data *d, const sb_analysis *a) {
    sb_data_column columns[STEP_COLUMN_COUNT + 3] = {{"stepnum", "Step number", "string"}};
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++)
        columns[i + 1] = (sb_data_column){STEP_COLUMNS[i].id, STEP_COLUMNS[i].label, "number"};
    columns[STEP_COLUMN_COUNT + 1] = (sb_data_column){"tooltip", "tooltip", "string"};
    columns[STEP_COLUMN_COUNT + 2] = (sb_data_column){"stepTimeMs", "Step time", "number"};
    sb_data_begin_table(d, columns, STEP_COLUMN_COUNT + 3);
    for (size_t i = 0; i < a->step_count && i < MOST_STEPS; i++) add_step(d, &a->steps[i]);
    sb_data_begin_properties(d);
    add_step_properties(d, a);
    sb_data_end_table(d);
}

static void add_environment(sb_data *d, const sb_trace *t) {
    static const sb_data_column columns[] = {{"host_id", "Host ID", "string"},
                                             {"command_line", "Command line", "string"},
                                             {"start_time", "Start time", "string"},
                                             {"bns_address", "Address", "string"}};
    char text[80];
    sb_data_begin_table(d, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < t->sources.n; i++) {
        sb_data_begin_row(d);
        sb_data_add_text(d, t->sources.items[i].name);
        for (int k = 0; k < 3; k++) sb_data_add_text(d, SB_LIT(""));
        sb_data_end_row(d);
    }
    sb_data_begin_properties(d);
    size_t n = sb_print_uint64(text, t->sources.n);
    sb_data_add_property(d, "host_count", sb_slice_of(text, n));
    n = (size_t)snprintf(text, sizeof text, "%zu (num tasks per host = 1)", t->sources.n);
    sb_data_add_property(d, "task_count", sb_slice_of(text, n));
    sb_data_add_property(d, "device_type", t->devices.n ? t->devices.items[0].name : SB_LIT("CPU"));
    sb_data_add_property(d, "is_training", SB_LIT("true"));
    n = sb_print_uint64(text, t->devices.n);
    sb_data_add_property(d, "device_core_count", sb_slice_of(text, n));
    sb_data_end_table(d);
}

static bool add_recommendation(sb_data *d, const sb_analysis *a, sb_arena *arena) {
    static const sb_data_column columns[] = {{"tip_type", "tip_type", "string"},
                                             {"link", "link", "string"},
                                             {"description", "description", "string"}};
    sb_advice *items;
    size_t n;
    if (!sb_view_advice(a, &items, &n, arena)) return false;
    sb_data_begin_table(d, columns, 3);
    for (size_t i = 0; i < n; i++) {
        sb_data_begin_row(d);
        sb_data_add_text(d, sb_slice_str(items[i].id));
        sb_data_add_text(d, SB_LIT(""));
        sb_data_add_text(d, sb_slice_str(items[i].text));
        sb_data_end_row(d);
    }
    sb_data_begin_properties(d);
    sb_data_add_property(d, "bottleneck", sb_slice_str(n ? items[0].id : "none"));
    sb_data_add_property(d, "statement", sb_slice_str(n ? items[0].text : ""));
    sb_data_end_table(d);
    return true;
}

static void add_diagnostic(sb_data *d, const char *severity, sb_slice message) {
    sb_data_begin_row(d);
    sb_data_add_text(d, sb_slice_str(severity));
    sb_data_add_text(d, message);
    sb_data_end_row(d);
}

/* Errors and warnings of the profiler itself in its own words. Where nothing is missing, as with
 * spans that cross, XProf has no warning either: that is for information. */
static void add_diagnostics(sb_data *d, const sb_trace *t) {
    static const sb_data_column columns[] = {{"severity", "Severity", "string"},
                                             {"message", "Message", "string"}};
    sb_data_begin_table(d, columns, 2);
    for (int i = 0; i < SB_TRACE_ODD_COUNT; i++) {
        const sb_oddity *o = &t->odds[i];
        bool is_error = i == SB_TRACE_ODD_ERROR;
        if (o->n == 0) continue;
        if (is_error || i == SB_TRACE_ODD_WARNING)
            for (uint32_t k = 0; k < o->shown; k++)
                add_diagnostic(d, is_error ? "ERROR" : "WARNING", o->examples[k]);
        else
            add_diagnostic(d, sb_trace_odd_is_remark((sb_trace_odd)i) ? "INFO" : "WARNING",
                           sb_slice_str(sb_trace_odd_text((sb_trace_odd)i)));
    }
    sb_data_begin_properties(d);
    sb_data_end_table(d);
}

SB_PROFILE_TOOL(overview) {
    static const sb_data_column latencies[] = {
        {"percentile", "percentile", "string"},
        {"hostTimeMs", "Host time (in ms)", "number"},
        {"deviceTimeMs", "Device time (in ms)", "number"},
        {"communicationTimeMs", "Host-device communication time (in ms)", "number"},
        {"totalTimeMs", "Total latency (in ms)", "number"}}; /* of serving: never any here */
    sb_data d;
    sb_data_begin(&d, r, csv);
    sb_data_open_list(&d);
    add_analysis(&d, a);
    add_step_table(&d, a);
    add_environment(&d, a->t);
    if (!add_recommendation(&d, a, q->arena)) return SB_NOMEM;
    sb_data_begin_table(&d, latencies, sizeof latencies / sizeof latencies[0]);
    sb_data_begin_properties(&d);
    sb_data_end_table(&d);
    sb_data_add_nothing(&d);
    add_diagnostics(&d, a->t);
    return sb_data_end(&d, r);
}
