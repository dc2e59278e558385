/* profile.c: /data/plugin/profile, the routes of XProf, which TensorBoard's profile tab is: runs,
 * tools, hosts, and the data of the trace viewer and of the overview page.
 *
 * A capture is opened by the first request for its data. Tables are Google's DataTable JSON:
 * columns, rows, and properties whose values are all texts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text/number.h"
#include "profile/views.h"
#include "profile/window.h"
#include "server/compat/compat.h"
#include "base/banned.h"

#define ALL_SPANS 200000u /* up to so many are sent one by one */
#define RESOLUTION 8000

/* ---- which capture --------------------------------------------------------------------------- */

/* "<run>/<session>", the session alone for the log directory itself. */
static sb_slice run_name(const sb_capture *c, sb_arena *arena) {
    if (sb_slice_eq(c->run, SB_LIT("."))) return c->name;
    uint8_t *p = sb_arena_get(arena, c->run.n + c->name.n + 1);
    if (!p) return (sb_slice){NULL, 0};
    memcpy(p, c->run.p, c->run.n);
    p[c->run.n] = '/';
    if (c->name.n) memcpy(p + c->run.n + 1, c->name.p, c->name.n);
    return sb_slice_of(p, c->run.n + c->name.n + 1);
}

static int compare_names(const void *a, const void *b) {
    return -sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static const sb_capture *find_capture(const sb_profile_list *list, sb_slice run, sb_arena *arena) {
    for (size_t i = 0; run.p && i < list->captures.n; i++)
        if (sb_slice_eq(run_name(&list->captures.items[i], arena), run))
            return &list->captures.items[i];
    return NULL;
}

static void begin_json(sb_json *j, sb_http_reply *r) {
    sb_http_type(r, "application/json");
    sb_json_init(j, sb_http_body(r), &(sb_json_opts){.spaced = true});
}

SB_COMPAT_HANDLER(profile_runs) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    size_t n = list.captures.n;
    sb_slice *names = sb_arena_get(q->arena, (n + 1) * sizeof *names);
    for (size_t i = 0; names && i < n; i++) names[i] = run_name(&list.captures.items[i], q->arena);
    begin_json(&j, r);
    sb_json_begin_array(&j);
    if (names && n) qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; names && i < n; i++) sb_json_text(&j, names[i]);
    sb_json_end_array(&j);
    sb_profiles_release_list(a->profiles, held);
    return names ? sb_json_finish(&j, "runs", sb_http_err(r)) : SB_NOMEM;
}

static void add_tools(sb_json *j) {
    sb_json_begin_array(j);
    sb_json_str(j, "overview_page");
    sb_json_str(j, "trace_viewer");
    sb_json_end_array(j);
}

SB_COMPAT_HANDLER(profile_run_tools) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    bool is_known = find_capture(&list, sb_http_query(q, "run"), q->arena) != NULL;
    sb_profiles_release_list(a->profiles, held);
    begin_json(&j, r);
    if (is_known) {
        add_tools(&j);
    } else {
        sb_json_begin_array(&j);
        sb_json_end_array(&j);
    }
    return sb_json_finish(&j, "tools", sb_http_err(r));
}

SB_COMPAT_HANDLER(profile_tools) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    begin_json(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < list.captures.n; i++) {
        sb_json_key(&j, run_name(&list.captures.items[i], q->arena));
        add_tools(&j);
    }
    sb_json_end_object(&j);
    sb_profiles_release_list(a->profiles, held);
    return sb_json_finish(&j, "tools", sb_http_err(r));
}

SB_COMPAT_HANDLER(profile_hosts) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    const sb_capture *c = find_capture(&list, sb_http_query(q, "run"), q->arena);
    sb_slice tool = sb_http_query(q, "tag");
    begin_json(&j, r);
    sb_json_begin_array(&j);
    bool is_overview = sb_slice_starts(tool, SB_LIT("overview_page"));
    if (c && c->file_count > 1 && is_overview) {
        sb_json_begin_object(&j);
        sb_json_put_str(&j, "hostname", "ALL_HOSTS");
        sb_json_end_object(&j);
    }
    for (size_t i = 0; c && i < c->file_count && !(is_overview && c->file_count > 1); i++) {
        sb_json_begin_object(&j);
        sb_json_put_text(&j, "hostname", c->files[i].name);
        sb_json_end_object(&j);
    }
    sb_json_end_array(&j);
    sb_profiles_release_list(a->profiles, held);
    return sb_json_finish(&j, "hosts", sb_http_err(r));
}

/* ---- the trace viewer ------------------------------------------------------------------------ */

typedef struct viewer {
    sb_json *j;
    const sb_trace *t;
    sb_window window;
    bool is_all;
    sb_slice hosts; /* wanted, with commas; empty: all */
} viewer;

static bool wants_source(const viewer *v, uint32_t source) {
    sb_slice name = v->t->sources.items[source].name, list = v->hosts;
    while (list.n) {
        const uint8_t *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        if (sb_slice_eq(sb_slice_of(list.p, n), name)) return true;
        list = sb_slice_of(list.p + n + (comma != NULL), list.n - n - (comma != NULL));
    }
    return v->hosts.n == 0;
}

static void add_name(sb_json *j, const char *what, uint32_t pid, int64_t tid, sb_slice name) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", pid);
    if (tid >= 0) sb_json_put_int(j, "tid", tid);
    sb_json_put_str(j, "ph", "M");
    sb_json_put_str(j, "name", what);
    sb_json_key_str(j, "args");
    sb_json_begin_object(j);
    sb_json_put_text(j, "name", name);
    sb_json_end_object(j);
    sb_json_end_object(j);
}

static void add_event(const viewer *v, uint32_t track, int64_t start, int64_t dur, uint32_t name) {
    sb_json *j = v->j;
    sb_json_begin_object(j);
    sb_json_put_uint(j, "pid", v->t->tracks.items[track].group + 1);
    sb_json_put_uint(j, "tid", track + 1);
    sb_json_put_text(j, "name", sb_trace_name(v->t, name));
    sb_json_put_double(j, "ts", (double)start * 1e-6);
    sb_json_put_double(j, "dur", dur ? (double)dur * 1e-6 : 1e-6);
    sb_json_put_str(j, "ph", "X");
    sb_json_end_object(j);
}

static sb_status add_track(const viewer *v, uint32_t track, const sb_alloc *alloc) {
    const sb_track *k = &v->t->tracks.items[track];
    sb_rects rects = {0};
    uint64_t spans;
    if (!wants_source(v, sb_track_source(v->t, k)) || k->spans.n == 0) return SB_OK;
    add_name(v->j, "thread_name", k->group + 1, track + 1, k->name);
    if (v->is_all) {
        for (size_t i = 0; i < k->spans.n; i++) {
            const sb_trace_span *s = &k->spans.items[i];
            if (s->start <= v->window.to && sb_span_end(s) >= v->window.from)
                add_event(v, track, s->start, s->dur, s->name);
        }
        return SB_OK;
    }
    bool is_done = sb_window_rects(k, &v->window, &rects, alloc, &spans);
    for (size_t i = 0; is_done && i < rects.n; i++)
        add_event(v, track, rects.items[i].start, rects.items[i].dur, rects.items[i].name);
    SB_VEC_FREE(&rects, alloc);
    return is_done ? SB_OK : SB_NOMEM;
}

static double number_of(sb_http_request *q, const char *key, double otherwise) {
    sb_slice text = sb_http_query(q, key);
    double x;
    return text.n && sb_parse_double(text, &x) && x > -1e9 && x < 1e9 ? x : otherwise;
}

static sb_status answer_trace(sb_http_request *q, sb_http_reply *r, const sb_trace *t) {
    sb_json j;
    double resolution = number_of(q, "resolution", RESOLUTION);
    double end_ms = (double)t->duration * 1e-9;
    viewer v = {.j = &j, .t = t, .hosts = sb_http_query(q, "hosts")};
    if (!v.hosts.n) v.hosts = sb_http_query(q, "host");
    if (sb_slice_eq(v.hosts, SB_LIT("ALL_HOSTS"))) v.hosts = (sb_slice){NULL, 0};
    v.window.from = (int64_t)(number_of(q, "start_time_ms", 0) * 1e9);
    v.window.to = (int64_t)(number_of(q, "end_time_ms", end_ms + 1) * 1e9);
    v.window.pixels = resolution >= 1 ? (uint32_t)resolution : RESOLUTION;
    v.is_all = resolution == 0 || t->span_count <= ALL_SPANS;
    begin_json(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "displayTimeUnit", "ns");
    sb_json_key_str(&j, "traceEvents");
    sb_json_begin_array(&j);
    for (uint32_t i = 0; i < t->groups.n; i++)
        if (wants_source(&v, t->groups.items[i].source))
            add_name(&j, "process_name", i + 1, -1, t->groups.items[i].name);
    sb_status status = SB_OK;
    for (size_t i = 0; i < t->tracks.n && status == SB_OK; i++) {
        status = sb_http_expired(q) ? SB_TIMEOUT : add_track(&v, t->track_order[i], q->alloc);
    }
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    sb_json_key_str(&j, "fullTimespan");
    sb_json_begin_array(&j);
    sb_json_double(&j, 0);
    sb_json_double(&j, end_ms);
    sb_json_end_array(&j);
    sb_json_end_object(&j);
    return sb_json_finish(&j, "a trace", sb_http_err(r));
}

/* ---- the overview page ----------------------------------------------------------------------- */

typedef struct column {
    const char *id, *label, *type;
} column;

static void begin_table(sb_json *j, const column *columns, size_t n) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "cols");
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(j);
        sb_json_put_str(j, "id", columns[i].id);
        sb_json_put_str(j, "label", columns[i].label);
        sb_json_put_str(j, "type", columns[i].type);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_key_str(j, "rows");
    sb_json_begin_array(j);
}

static void begin_row(sb_json *j) {
    sb_json_begin_object(j);
    sb_json_key_str(j, "c");
    sb_json_begin_array(j);
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

static void add_text(sb_json *j, sb_slice text) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "v", text);
    sb_json_end_object(j);
}

static void begin_properties(sb_json *j) {
    sb_json_end_array(j);
    sb_json_key_str(j, "p");
    sb_json_begin_object(j);
}

static void end_table(sb_json *j) {
    sb_json_end_object(j);
    sb_json_end_object(j);
}

static void add_property(sb_json *j, const char *key, double x) {
    char text[40];
    snprintf(text, sizeof text, "%.1f", x);
    sb_json_put_str(j, key, text);
}

static double percent(double part, double all) {
    return all > 0 ? part / all * 100 : 0;
}

static void add_analysis(sb_json *j, const sb_analysis *a) {
    static const column columns[] = {{"selfTimePercent", "Time (%)", "number"},
                                     {"cumulativeTimePercent", "Cumulative time (%)", "number"},
                                     {"category", "Category", "string"},
                                     {"operation", "Operation", "string"},
                                     {"flopRate", "GFLOPs/Sec", "number"}};
    bool is_device = a->device_time > 0;
    double all = (double)(is_device ? a->device_time : a->host_time), sum = 0;
    begin_table(j, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0, shown = 0; i < a->op_count && shown < 10; i++) {
        const sb_op_row *o = &a->ops[i];
        double self = (double)(is_device ? o->device_self : o->host_self);
        if (o->kind == SB_SPAN_STEP || self <= 0) continue;
        sum += self;
        begin_row(j);
        add_number(j, percent(self, all));
        add_number(j, percent(sum, all));
        add_text(j, sb_slice_str(sb_span_kind_name((sb_span_kind)o->kind)));
        add_text(j, sb_trace_name(a->t, o->name));
        add_number(j, 0);
        end_row(j);
        shown++;
    }
    begin_properties(j);
    add_property(j, "device_idle_time_percent", a->has_device ? (1 - a->device_busy) * 100 : 100);
    add_property(j, "host_idle_time_percent",
                 percent((double)a->stats.parts[SB_PART_OTHER], (double)a->stats.median));
    sb_json_put_str(j, "remark_text", a->step_count ? "" : "No step marker observed");
    end_table(j);
}

static void add_step_table(sb_json *j, const sb_analysis *a) {
    static const column columns[] = {{"stepnum", "Step number", "string"},
                                     {"deviceComputeTimeMs", "Device compute", "number"},
                                     {"deviceCollectivesTimeMs", "Device collectives", "number"},
                                     {"outputTimeMs", "Output", "number"},
                                     {"inputTimeMs", "Input", "number"},
                                     {"compileTimeMs", "Compilation", "number"},
                                     {"hostComputeTimeMs", "Host compute", "number"},
                                     {"kernelLaunchTimeMs", "Kernel launch", "number"},
                                     {"otherTimeMs", "All others", "number"}};
    int64_t least = INT64_MAX;
    begin_table(j, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < a->step_count && i < 1000; i++) {
        const sb_step *s = &a->steps[i];
        char number[SB_NUMBER_ROOM];
        size_t n = sb_print_int64(number, s->number);
        if (s->dur < least) least = s->dur;
        begin_row(j);
        add_text(j, sb_slice_of(number, n));
        add_number(j, (double)s->parts[SB_PART_COMPUTE] * 1e-9);
        add_number(j, (double)s->parts[SB_PART_COMMUNICATION] * 1e-9);
        add_number(j, (double)s->parts[SB_PART_COPY] * 1e-9);
        add_number(j, (double)s->parts[SB_PART_INPUT] * 1e-9);
        add_number(j, (double)s->parts[SB_PART_COMPILE] * 1e-9);
        add_number(j, (double)s->parts[SB_PART_HOST] * 1e-9);
        add_number(j, (double)(s->parts[SB_PART_LAUNCH] + s->parts[SB_PART_SYNC]) * 1e-9);
        add_number(j, (double)(s->parts[SB_PART_OTHER] + s->parts[SB_PART_OPTIMIZER]) * 1e-9);
        end_row(j);
    }
    begin_properties(j);
    add_property(j, "steptime_ms_average", (double)a->stats.mean * 1e-9);
    add_property(j, "steptime_ms_standard_deviation", (double)a->stats.deviation * 1e-9);
    add_property(j, "steptime_ms_minimum", a->step_count ? (double)least * 1e-9 : 0);
    add_property(j, "steptime_ms_maximum", (double)a->stats.worst * 1e-9);
    add_property(j, "infeed_percent_average",
                 percent((double)a->stats.parts[SB_PART_INPUT], (double)a->stats.median));
    end_table(j);
}

static void add_environment(sb_json *j, const sb_trace *t) {
    static const column columns[] = {{"host_id", "Host ID", "string"},
                                     {"command_line", "Command line", "string"}};
    char text[SB_NUMBER_ROOM];
    begin_table(j, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < t->sources.n; i++) {
        begin_row(j);
        add_text(j, t->sources.items[i].name);
        add_text(j, SB_LIT(""));
        end_row(j);
    }
    begin_properties(j);
    size_t n = sb_print_uint64(text, t->sources.n);
    sb_json_put_text(j, "host_count", sb_slice_of(text, n));
    sb_json_put_text(j, "task_count", sb_slice_of(text, n));
    sb_json_put_text(j, "device_type", t->devices.n ? t->devices.items[0].name : SB_LIT("CPU"));
    n = sb_print_uint64(text, t->devices.n);
    sb_json_put_text(j, "device_core_count", sb_slice_of(text, n));
    end_table(j);
}

static bool add_recommendation(sb_json *j, const sb_analysis *a, sb_arena *arena) {
    static const column columns[] = {{"tip_type", "tip_type", "string"},
                                     {"link", "link", "string"}};
    sb_advice *items;
    size_t n;
    if (!sb_view_advice(a, &items, &n, arena)) return false;
    begin_table(j, columns, 2);
    for (size_t i = 0; i < n; i++) {
        begin_row(j);
        add_text(j, sb_slice_str(items[i].id));
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

static sb_status answer_overview(sb_http_request *q, sb_http_reply *r, const sb_analysis *a) {
    sb_json j;
    begin_json(&j, r);
    sb_json_begin_array(&j);
    add_analysis(&j, a);
    add_step_table(&j, a);
    add_environment(&j, a->t);
    if (!add_recommendation(&j, a, q->arena)) return SB_NOMEM;
    begin_table(&j, NULL, 0); /* latencies of serving */
    begin_properties(&j);
    end_table(&j);
    sb_json_begin_object(&j);
    sb_json_end_object(&j);
    add_diagnostics(&j, a->t);
    sb_json_end_array(&j);
    return sb_json_finish(&j, "the overview", sb_http_err(r));
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool go_on(void *ud, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return !sb_http_expired(ud);
}

static const sb_kept_trace *open_capture(sb_app *a, sb_http_request *q, sb_err *err) {
    sb_profile_list list;
    char id[SB_CAPTURE_ID + 1] = "";
    void *held = sb_profiles_hold_list(a->profiles, &list);
    const sb_capture *c = find_capture(&list, sb_http_query(q, "run"), q->arena);
    if (c) memcpy(id, c->id, sizeof id);
    sb_profiles_release_list(a->profiles, held);
    if (!id[0]) return NULL;
    const sb_kept_trace *kept = sb_profiles_find(a->profiles, sb_slice_str(id));
    if (!kept && sb_profiles_open(a->profiles, sb_slice_str(id), NULL, go_on, q, err) == SB_OK)
        kept = sb_profiles_find(a->profiles, sb_slice_str(id));
    return kept;
}

SB_COMPAT_HANDLER(profile_data) {
    sb_app *a = app;
    sb_slice tag = sb_http_query(q, "tag");
    while (tag.n && (tag.p[tag.n - 1] == '^' || tag.p[tag.n - 1] == '@')) tag.n--;
    bool is_trace = sb_slice_eq(tag, SB_LIT("trace_viewer"));
    bool is_overview = sb_slice_eq(tag, SB_LIT("overview_page"));
    if (!is_trace && !is_overview) return sb_http_fail(r, 404, "No Data");
    const sb_kept_trace *kept = open_capture(a, q, sb_http_err(r));
    if (!kept) return sb_http_fail(r, 404, "No Data");
    sb_status status =
        is_trace ? answer_trace(q, r, kept->trace) : answer_overview(q, r, kept->analysis);
    sb_profiles_release(a->profiles, kept);
    return status;
}
