/* profile.c: /data/plugin/profile, the routes of XProf, which TensorBoard's profile tab is: runs,
 * tools, hosts, settings, and the data of those tools that have an answer here.
 *
 * A capture is opened by the first request for its data. Nothing is captured here. */
#include <stdio.h>
#include <stdlib.h>

#include "seaboard/version.h"
#include "server/api/profile/profile_ask.h"
#include "server/compat/profile/profile_tools.h"
#include "server/compat/profile/profile_which.h"
#include "base/banned.h"

/* ---- captures -------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
    return -sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

SB_COMPAT_HANDLER(profile_runs) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    size_t n = 0;
    sb_slice *names = sb_arena_get(q->arena, (list.captures.n + 1) * sizeof *names);
    for (size_t i = 0; names && i < list.captures.n; i++) {
        names[n] = sb_compat_profile_name(&list.captures.items[i], q);
        n += names[n].n > 0;
    }
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    if (names && n) qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; names && i < n; i++) sb_json_text(&j, names[i]);
    sb_json_end_array(&j);
    sb_profiles_release_list(a->profiles, held);
    return names ? sb_json_finish(&j, "runs", sb_http_err(r)) : SB_NOMEM;
}

/* ---- tools ----------------------------------------------------------------------------------- */

typedef struct tool {
    const char *name;
    sb_profile_tool *answer;
    bool has_table;  /* that can be CSV */
    bool is_by_host; /* else over all hosts together */
} tool;

/* In the order in which the page lists them. */
static const tool TOOLS[] = {
    {"overview_page", sb_compat_profile_overview, true, false},
    {"trace_viewer@", sb_compat_profile_trace, false, true}, /* @: asks again when it is zoomed */
    {"framework_op_stats", sb_compat_profile_framework_ops, true, false},
    {"kernel_stats", sb_compat_profile_kernels, true, false},
    {"memory_profile", sb_compat_profile_memory, false, true},
};
#define TOOL_COUNT (sizeof TOOLS / sizeof TOOLS[0])

/* The name of a tool without the mark of how it is asked for. */
static sb_slice plain_name(sb_slice name) {
    while (name.n && (name.p[name.n - 1] == '^' || name.p[name.n - 1] == '@')) name.n--;
    if (sb_slice_eq(name, SB_LIT("tensorflow_stats"))) return SB_LIT("framework_op_stats");
    return name;
}

static const tool *tool_named(sb_slice name) {
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (sb_slice_eq(plain_name(name), plain_name(sb_slice_str(TOOLS[i].name))))
            return &TOOLS[i];
    return NULL;
}

static const tool *find_tool(sb_http_request *q) {
    return tool_named(sb_http_query(q, "tag"));
}

static void add_tools(sb_json *j) {
    sb_json_begin_array(j);
    for (size_t i = 0; i < TOOL_COUNT; i++) sb_json_str(j, TOOLS[i].name);
    sb_json_end_array(j);
}

SB_COMPAT_HANDLER(profile_run_tools) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    bool is_known = sb_compat_profile_find(&list.captures, q) != NULL;
    sb_profiles_release_list(a->profiles, held);
    sb_compat_json_begin(&j, r);
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
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < list.captures.n; i++) {
        sb_slice name = sb_compat_profile_name(&list.captures.items[i], q);
        if (!name.n) continue;
        sb_json_key(&j, name);
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
    const sb_capture *c = sb_compat_profile_find(&list.captures, q);
    const tool *of = find_tool(q);
    bool is_all = c && c->file_count > 1 && of && !of->is_by_host;
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    if (is_all) {
        sb_json_begin_object(&j);
        sb_json_put_str(&j, "hostname", "ALL_HOSTS");
        sb_json_end_object(&j);
    }
    for (size_t i = 0; c && i < c->file_count && !is_all; i++) {
        sb_json_begin_object(&j);
        sb_json_put_text(&j, "hostname", c->files[i].name);
        sb_json_end_object(&j);
    }
    sb_json_end_array(&j);
    sb_profiles_release_list(a->profiles, held);
    return sb_json_finish(&j, "hosts", sb_http_err(r));
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool go_on(void *ud, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    return !sb_http_expired(ud);
}

/* SB_NOT_FOUND: there is no such capture. Other errors: it can't be read. */
static sb_status open_capture(const sb_kept_trace **out, sb_app *a, sb_http_request *q,
                              sb_err *err) {
    sb_profile_list list;
    char id[SB_CAPTURE_ID + 1] = "";
    void *held = sb_profiles_hold_list(a->profiles, &list);
    const sb_capture *c = sb_compat_profile_find(&list.captures, q);
    if (c) memcpy(id, c->id, sizeof id);
    sb_profiles_release_list(a->profiles, held);
    if (!id[0]) return SB_NOT_FOUND;
    *out = sb_profiles_find(a->profiles, sb_slice_str(id));
    if (*out) return SB_OK;
    sb_status status = sb_profiles_open(a->profiles, sb_slice_str(id), NULL, go_on, q, err);
    if (status != SB_OK) return status;
    *out = sb_profiles_find(a->profiles, sb_slice_str(id));
    return *out ? SB_OK : SB_NOT_FOUND;
}

bool sb_compat_profile_wants(sb_http_request *q, const sb_trace *t, uint32_t source) {
    sb_slice name = t->sources.items[source].name, list = sb_http_query(q, "hosts");
    if (!list.n) list = sb_http_query(q, "host");
    if (!list.n || sb_slice_eq(list, SB_LIT("ALL_HOSTS"))) return true;
    while (list.n) {
        const uint8_t *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        if (sb_slice_eq(sb_slice_of(list.p, n), name)) return true;
        list = sb_slice_of(list.p + n + (comma != NULL), list.n - n - (comma != NULL));
    }
    return false;
}

static sb_status answer_data(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_slice csv) {
    const tool *of = find_tool(q);
    const sb_kept_trace *kept;
    sb_status status = of ? open_capture(&kept, app, q, sb_http_err(r)) : SB_NOT_FOUND;
    if (status == SB_NOT_FOUND) return sb_compat_plain(r, 404, "%s", "No Data");
    if (status == SB_CANCELLED) return SB_TIMEOUT;
    if (status != SB_OK) return sb_compat_plain(r, 500, "%s", sb_http_err(r)->text);
    /* as this request sees them: what is made for it counts as the request's memory */
    sb_trace trace = *kept->trace;
    sb_analysis analysis = *kept->analysis;
    trace.alloc = q->alloc;
    analysis.t = &trace;
    status = of->answer(q, r, &analysis, csv);
    sb_profiles_release(app->profiles, kept);
    return status == SB_NOT_FOUND ? sb_compat_plain(r, 404, "%s", "No Data") : status;
}

SB_COMPAT_HANDLER(profile_data) {
    return answer_data(q, r, app, (sb_slice){NULL, 0});
}

SB_COMPAT_HANDLER(profile_data_csv) {
    const tool *of = find_tool(q);
    char file[100];
    if (of && !of->has_table)
        return sb_compat_plain(r, 400, "%s is no table: there is no CSV of it", of->name);
    int n = snprintf(file, sizeof file, "%s.csv", of ? of->name : "");
    return answer_data(q, r, app, sb_slice_of(file, (size_t)n));
}

static int compare_modules(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

/* The compiled modules of a capture, by name; those of several hosts once. */
SB_COMPAT_HANDLER(profile_modules) {
    sb_app *of = app;
    const sb_kept_trace *kept;
    sb_status status = open_capture(&kept, of, q, sb_http_err(r));
    if (status == SB_CANCELLED) return SB_TIMEOUT;
    if (status != SB_OK) return sb_compat_plain(r, 200, "%s", ""); /* as XProf: none */
    size_t n = kept->trace->modules.n;
    sb_slice *names = sb_arena_get(q->arena, (n + 1) * sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = sb_trace_name(kept->trace, kept->trace->modules.items[i]);
    if (names && n) qsort(names, n, sizeof *names, compare_modules);
    for (size_t i = 0; names && i < n; i++) {
        if (i && sb_slice_eq(names[i], names[i - 1])) continue;
        if (i) sb_buf_add_byte(sb_http_body(r), ',');
        sb_buf_add_slice(sb_http_body(r), names[i]);
    }
    sb_profiles_release(of->profiles, kept);
    return names ? SB_OK : SB_NOMEM;
}

/* Is any of the tools of a list, "a,b", one that has an answer here? An empty list: the usual
 * ones. */
static bool has_answer(sb_slice list) {
    if (!list.n) return true;
    while (list.n) {
        const uint8_t *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        if (tool_named(sb_slice_of(list.p, n))) return true;
        list = sb_slice_of(list.p + n + (comma != NULL), list.n - n - (comma != NULL));
    }
    return false;
}

/* XProf computes the answers of its tools in advance when it gets this request. Here the capture
 * is opened in advance: its answers are then quick to compute. */
SB_COMPAT_HANDLER(profile_cache) {
    sb_app *of = app;
    sb_profile_list list;
    sb_json j;
    const sb_capture *c = NULL;
    if (!sb_http_query(q, "session_path").n)
        return sb_compat_plain(r, 400, "%s", "Missing \"session_path\" parameter");
    if (!has_answer(sb_http_query(q, "tools")))
        return sb_compat_plain(r, 400, "%s", "none of these tools has an answer here");
    void *held = sb_profiles_hold_list(of->profiles, &list);
    for (size_t i = 0; i < list.captures.n && !c; i++)
        if (sb_compat_profile_name(&list.captures.items[i], q).n) c = &list.captures.items[i];
    sb_status status = c ? sb_profile_submit(of, c, sb_http_err(r)) : SB_NOT_FOUND;
    sb_profiles_release_list(of->profiles, held);
    if (status == SB_NOT_FOUND)
        return sb_compat_plain(r, 404, "%s", "No XPlane files found in session_path");
    if (status != SB_OK) return status;
    sb_http_status(r, 202);
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "status", "ACCEPTED");
    sb_json_put_str(&j, "message", "Cache generation started");
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* ---- what the page asks besides -------------------------------------------------------------- */

SB_COMPAT_HANDLER(profile_config) {
    (void)q;
    (void)app;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_bool(&j, "hideCaptureProfileButton", true);
    sb_json_put_str(&j, "srcPathPrefix", "");
    sb_json_put_bool(&j, "enableTabNameLabel", false);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

SB_COMPAT_HANDLER(profile_version) {
    (void)q;
    (void)app;
    return sb_compat_plain(r, 200, "%s", SB_VERSION);
}

SB_COMPAT_HANDLER(profile_capture) {
    (void)q;
    (void)app;
    sb_json j;
    sb_compat_json_begin(&j,
                         r); /* with 200, as XProf's front end also takes it: no fault of ours */
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "error",
                    "Seaboard does not start captures in other programs. Capture from the code of "
                    "the training program: the Profile tab shows how.");
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
