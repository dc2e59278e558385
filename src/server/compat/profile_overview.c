/* profile_overview.c: XProf's overview page: seven tables of Google's DataTable JSON (columns,
 * rows, and properties whose values are all texts), with the columns and properties that its page
 * reads.
 *
 * Shares are 0 to 1 in cells and percent in properties. What copies is one column here: the parts
 * of a step do not tell directions apart. */
#include <math.h>
#include <stdio.h>

#include "base/text/number.h"
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "server/compat/profile_tools.h"
#include "base/banned.h"

#define MOST_STEPS 1000u

/* ---- DataTable ------------------------------------------------------------------------------- */

typedef struct column {
    const char *id, *label, *type;
} column;

static void begin_table(sb_json *j, const column *columns, size_t n) {
    sb_json_begin_object(j);
    sb_json_open_array(j, "cols");
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        sb_json_put_str(j, "id", columns[i].id);
        sb_json_put_str(j, "label", columns[i].label);
        sb_json_put_str(j, "type", columns[i].type);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_open_array(j, "rows");
}

static void begin_row(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_open_array(j, "c");
}

static void end_row(sb_json *j) {
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static void add_number(sb_json *j, double x) {
    sb_json_begin_object(j);
    sb_json_put_double(j, "v", x);
    sb_json_end_object(j);
}

static void add_bool(sb_json *j, bool x) {
    sb_json_begin_object(j);
    sb_json_put_bool(j, "v", x);
    sb_json_end_object(j);
}

static void add_text(sb_json *j, sb_slice text) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "v", text);
    sb_json_end_object(j);
}

static void begin_properties(sb_json *j) {
    sb_json_end_array(j);
    sb_json_open_object(j, "p");
}

static void end_table(sb_json *j) {
    sb_json_end_object(j);
    sb_json_end_object(j);
}

static void add_property(sb_json *j, const char *key, double x, const char *unit) {
    char text[40];
    snprintf(text, sizeof text, "%.1f%s", x, unit);
    sb_json_put_str(j, key, text);
}

static double share_of(double part, double all) {
    return all > 0 ? part / all : 0;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static void add_analysis(sb_json *j, const sb_analysis *a) {
    static const column columns[] = {{"selfTimePercent", "Time (%)", "number"},
                                     {"cumulativeTimePercent", "Cumulative time (%)", "number"},
                                     {"category", "Category", "string"},
                                     {"operation", "Operation", "string"},
                                     {"flopRate", "GFLOPs/Sec", "number"},
                                     {"tcEligibility", "TensorCore eligibility", "boolean"},
                                     {"tcUtilization", "Op is using TensorCore", "boolean"}};
    bool is_device = a->device_time > 0;
    double all = (double)(is_device ? a->device_time : a->host_time), sum = 0;
    bool has_cores = a->t->devices.n > 0; /* as XProf: without a device nothing is said of them */
    begin_table(j, columns, sizeof columns / sizeof columns[0] - (has_cores ? 0 : 2));
    for (size_t i = 0, shown = 0; i < a->op_count && shown < 10; i++) {
        const sb_op_row *o = &a->ops[i];
        double self = (double)(is_device ? o->device_self : o->host_self);
        if (o->kind == SB_SPAN_STEP || self <= 0) continue;
        sum += self;
        begin_row(j);
        add_number(j, share_of(self, all));
        add_number(j, share_of(sum, all));
        add_text(j, sb_slice_str(sb_span_kind_name((sb_span_kind)o->kind)));
        add_text(j, sb_trace_name(a->t, o->name));
        add_number(j, 0);
        if (has_cores) {
            add_bool(j, sb_op_may_use_tensor_cores(sb_trace_name(a->t, o->name)));
            add_bool(j, o->tensor_core_kernels > 0);
        }
        end_row(j);
        shown++;
    }
    begin_properties(j);
    if (a->has_device) add_property(j, "device_idle_time_percent", (1 - a->device_busy) * 100, "%");
    add_property(j, "host_idle_time_percent",
                 share_of((double)a->stats.parts[SB_PART_OTHER], (double)a->stats.median) * 100,
                 "%");
    sb_json_put_str(j, "remark_text", a->step_count ? "" : "No step marker observed");
    sb_json_put_str(j, "remark_color", a->step_count ? "" : "red");
    end_table(j);
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

static void add_step(sb_json *j, const sb_step *s) {
    char text[600];
    size_t n = (size_t)snprintf(text, sizeof text, "%lld", (long long)s->number);
    begin_row(j);
    add_text(j, sb_slice_of(text, n));
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++) add_number(j, step_ms(s, &STEP_COLUMNS[i]));
    n = (size_t)snprintf(text, sizeof text, "Step %lld, duration: %.2f ms", (long long)s->number,
                         (double)s->dur * 1e-9);
    for (size_t i = STEP_COLUMN_COUNT; i-- > 0;)
        n += (size_t)snprintf(text + n, sizeof text - n, "\n-%s: %.2f ms", STEP_COLUMNS[i].label,
                              step_ms(s, &STEP_COLUMNS[i]));
    add_text(j, sb_slice_of(text, n));
    add_number(j, (double)s->dur * 1e-9);
    end_row(j);
}

/* Mean and standard deviation of a column. */
static void add_step_figures(sb_json *j, const sb_analysis *a, const step_column *c) {
    double sum = 0, squares = 0, n = (double)a->step_count;
    char key[60];
    for (size_t i = 0; i < a->step_count; i++) sum += step_ms(&a->steps[i], c);
    double mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < a->step_count; i++) {
        double off = step_ms(&a->steps[i], c) - mean;
        squares += off * off;
    }
    snprintf(key, sizeof key, "%s_time_ms_avg", c->property);
    add_property(j, key, mean, "");
    snprintf(key, sizeof key, "%s_time_ms_sdv", c->property);
    add_property(j, key, n > 0 ? sqrt(squares / n) : 0, "");
}

static void add_step_properties(sb_json *j, const sb_analysis *a) {
    int64_t least = a->step_count ? a->steps[0].dur : 0;
    char text[400], input[160];
    size_t n = (size_t)snprintf(text, sizeof text, "stepnum");
    double share = share_of((double)a->stats.parts[SB_PART_INPUT], (double)a->stats.median);
    for (size_t i = 0; i < a->step_count; i++)
        if (a->steps[i].dur < least) least = a->steps[i].dur;
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, ",%s", STEP_COLUMNS[i].id);
        add_step_figures(j, a, &STEP_COLUMNS[i]);
    }
    snprintf(text + n, sizeof text - n, ",tooltip");
    sb_json_put_str(j, "step_time_graph_column_ids", text);
    sb_json_put_str(j, "hardware_type", a->has_device ? "GPU" : "CPU_ONLY");
    add_property(j, "steptime_ms_average", (double)a->stats.mean * 1e-9, "");
    add_property(j, "steptime_ms_standard_deviation", (double)a->stats.deviation * 1e-9, "");
    add_property(j, "steptime_ms_minimum", (double)least * 1e-9, "");
    add_property(j, "steptime_ms_maximum", (double)a->stats.worst * 1e-9, "");
    add_property(j, "infeed_percent_average", share * 100, "");
    if (a->step_count)
        snprintf(input, sizeof input, "%.1f%% of a step is waiting for input.", share * 100);
    else
        snprintf(input, sizeof input, "No steps were found.");
    sb_json_put_str(j, "input_conclusion", input);
    sb_json_put_str(j, "summary_nextstep", "");
}

static void add_step_table(sb_json *j, const sb_analysis *a) {
    column columns[STEP_COLUMN_COUNT + 3] = {{"stepnum", "Step number", "string"}};
    for (size_t i = 0; i < STEP_COLUMN_COUNT; i++)
        columns[i + 1] = (column){STEP_COLUMNS[i].id, STEP_COLUMNS[i].label, "number"};
    columns[STEP_COLUMN_COUNT + 1] = (column){"tooltip", "tooltip", "string"};
    columns[STEP_COLUMN_COUNT + 2] = (column){"stepTimeMs", "Step time", "number"};
    begin_table(j, columns, STEP_COLUMN_COUNT + 3);
    for (size_t i = 0; i < a->step_count && i < MOST_STEPS; i++) add_step(j, &a->steps[i]);
    begin_properties(j);
    add_step_properties(j, a);
    end_table(j);
}

static void add_environment(sb_json *j, const sb_trace *t) {
    static const column columns[] = {{"host_id", "Host ID", "string"},
                                     {"command_line", "Command line", "string"},
                                     {"start_time", "Start time", "string"},
                                     {"bns_address", "Address", "string"}};
    char text[SB_NUMBER_ROOM];
    begin_table(j, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < t->sources.n; i++) {
        begin_row(j);
        add_text(j, t->sources.items[i].name);
        for (int k = 0; k < 3; k++) add_text(j, SB_LIT(""));
        end_row(j);
    }
    begin_properties(j);
    size_t n = sb_print_uint64(text, t->sources.n);
    sb_json_put_text(j, "host_count", sb_slice_of(text, n));
    sb_json_put_text(j, "task_count", sb_slice_of(text, n));
    sb_json_put_text(j, "device_type", t->devices.n ? t->devices.items[0].name : SB_LIT("CPU"));
    sb_json_put_str(j, "is_training", "true");
    n = sb_print_uint64(text, t->devices.n);
    sb_json_put_text(j, "device_core_count", sb_slice_of(text, n));
    end_table(j);
}

static bool add_recommendation(sb_json *j, const sb_analysis *a, sb_arena *arena) {
    static const column columns[] = {{"tip_type", "tip_type", "string"},
                                     {"link", "link", "string"},
                                     {"description", "description", "string"}};
    sb_advice *items;
    size_t n;
    if (!sb_view_advice(a, &items, &n, arena)) return false;
    begin_table(j, columns, 3);
    for (size_t i = 0; i < n; i++) {
        begin_row(j);
        add_text(j, sb_slice_str(items[i].id));
        add_text(j, SB_LIT(""));
        add_text(j, sb_slice_str(items[i].text));
        end_row(j);
    }
    begin_properties(j);
    sb_json_put_str(j, "bottleneck", n ? items[0].id : "none");
    sb_json_put_str(j, "statement", n ? items[0].text : "");
    end_table(j);
    return true;
}

static void add_diagnostics(sb_json *j, const sb_trace *t) {
    static const column columns[] = {{"severity", "Severity", "string"},
                                     {"message", "Message", "string"}};
    begin_table(j, columns, 2);
    for (int i = 0; i < SB_TRACE_ODD_COUNT; i++) {
        if (!t->odds[i].n) continue;
        begin_row(j);
        add_text(j, i == SB_TRACE_ODD_ERROR ? SB_LIT("ERROR") : SB_LIT("WARNING"));
        add_text(j, i == SB_TRACE_ODD_ERROR || i == SB_TRACE_ODD_WARNING
                        ? t->odds[i].examples[0]
                        : sb_slice_str(sb_trace_odd_text((sb_trace_odd)i)));
        end_row(j);
    }
    begin_properties(j);
    end_table(j);
}

sb_status sb_compat_profile_overview(sb_http_request *q, sb_http_reply *r, const sb_analysis *a) {
    static const column latencies[] = {
        {"percentile", "percentile", "string"},
        {"hostTimeMs", "Host time (in ms)", "number"},
        {"deviceTimeMs", "Device time (in ms)", "number"},
        {"communicationTimeMs", "Host-device communication time (in ms)", "number"},
        {"totalTimeMs", "Total latency (in ms)", "number"}}; /* of serving: never any here */
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    add_analysis(&j, a);
    add_step_table(&j, a);
    add_environment(&j, a->t);
    if (!add_recommendation(&j, a, q->arena)) return SB_NOMEM;
    begin_table(&j, latencies, sizeof latencies / sizeof latencies[0]);
    begin_properties(&j);
    end_table(&j);
    sb_json_begin_object(&j);
    sb_json_end_object(&j);
    add_diagnostics(&j, a->t);
    sb_json_end_array(&j);
    return sb_json_finish(&j, "the overview", sb_http_err(r));
}
