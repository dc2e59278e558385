/* profile.c: /data/plugin/profile, the routes of XProf, which TensorBoard's profile tab is: runs,
 * tools, hosts, settings, and the data of the trace viewer and of the overview page.
 *
 * A capture is opened by the first request for its data. Nothing is captured here, and no compiled
 * modules are listed. */
#include <stdlib.h>

#include "seaboard/version.h"
#include "server/compat/profile_tools.h"
#include "base/banned.h"

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

SB_COMPAT_HANDLER(profile_runs) {
    sb_app *a = app;
    sb_profile_list list;
    sb_json j;
    void *held = sb_profiles_hold_list(a->profiles, &list);
    size_t n = list.captures.n;
    sb_slice *names = sb_arena_get(q->arena, (n + 1) * sizeof *names);
    for (size_t i = 0; names && i < n; i++) names[i] = run_name(&list.captures.items[i], q->arena);
    sb_compat_json_begin(&j, r);
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
    sb_compat_json_begin(&j, r);
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
    sb_status status = is_trace ? sb_compat_profile_trace(q, r, kept->trace)
                                : sb_compat_profile_overview(q, r, kept->analysis);
    sb_profiles_release(a->profiles, kept);
    return status;
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

SB_COMPAT_HANDLER(profile_modules) {
    (void)q;
    (void)app;
    return sb_compat_plain(r, 200, "%s", "");
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
