/* profile_list.c: which captures there are, and opening one. */
#include <stdio.h>

#include "server/api/profile/profile_ask.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

static void add_sources(sb_json *j, sb_app *app, const sb_capture *c) {
    const sb_kept_trace *kept = sb_profiles_find(app->profiles, sb_slice_str(c->id));
    sb_json_open_array(j, "sources");
    for (size_t i = 0; i < c->file_count; i++) {
        const sb_capture_file *f = &c->files[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", f->name);
        int64_t rank = kept && i < kept->trace->sources.n ? kept->trace->sources.items[i].rank : -1;
        sb_json_put_int_or_null(j, "rank", rank, rank >= 0);
        sb_json_put_uint(j, "span", f->span);
        sb_json_put_uint(j, "bytes", f->size);
        sb_json_put_text(j, "file", f->shown);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_profiles_release(app->profiles, kept);
}

static const char *state_of(sb_app *app, const sb_profile_info *info, sb_job_info *job) {
    if (info->state == SB_PROFILE_OPEN) return "open";
    if (info->job && sb_jobs_get(app->jobs, info->job, job) == SB_OK) {
        if (job->state == SB_JOB_WAITING) return "waiting";
        if (job->state == SB_JOB_RUNNING) return "parsing";
    }
    return info->state == SB_PROFILE_FAILED ? "failed" : "closed";
}

/* A word for each reason, for which the page has a sentence in the reader's language. */
static const char *trouble_of(const sb_capture *c, sb_status why) {
    switch (why) {
    case SB_INVALID:
        return c->bytes ? "format" : "empty";
    case SB_CORRUPT:
        return "damaged";
    case SB_NOT_FOUND:
        return "gone";
    case SB_NOMEM:
        return "memory";
    default:
        return "unreadable";
    }
}

void sb_profile_add_capture(sb_json *j, sb_app *app, const sb_capture *c) {
    sb_profile_info info;
    sb_job_info job = {0};
    sb_profiles_info(app->profiles, c, &info);
    const char *state = state_of(app, &info, &job);
    sb_json_begin_object(j);
    sb_json_put_str(j, "id", c->id);
    sb_json_put_str(j, "epoch", c->epoch);
    sb_json_put_text(j, "run", c->run);
    sb_json_put_text(j, "name", c->name);
    sb_json_key_str(j, "time");
    if (c->time_ns)
        sb_json_double(j, (double)c->time_ns * 1e-9);
    else
        sb_json_null(j);
    sb_json_put_str(j, "format", sb_trace_format_name(c->format));
    add_sources(j, app, c);
    sb_json_put_uint(j, "bytes", c->bytes);
    sb_json_put_str(j, "state", state);
    sb_json_put_uint(j, "done", job.done);
    sb_json_put_uint(j, "total", job.total);
    sb_json_put_uint(j, "job", info.job);
    sb_json_put_str(j, "error", info.error);
    if (info.state == SB_PROFILE_FAILED) sb_json_put_str(j, "trouble", trouble_of(c, info.why));
    if (info.summary.is_known) {
        sb_json_open_object(j, "summary");
        sb_json_put_int(j, "stepPs", info.summary.step_ps);
        sb_json_put_double(j, "busy", info.summary.busy);
        sb_json_put_uint(j, "odd", info.summary.odd);
        sb_json_put_double(j, "read", info.summary.read);
        sb_json_end_object(j);
    }
    sb_json_end_object(j);
}

typedef struct stats_list {
    sb_json *j;
    sb_app *app;
} stats_list;

static bool add_stats(void *ud, const sb_capture *c, const sb_series *series) {
    stats_list *l = ud;
    (void)series;
    sb_profile_add_capture(l->j, l->app, c);
    return false;
}

sb_status sb_api_profile_captures(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_profile_list list;
    sb_json j;
    sb_api_begin(&j, r, app);
    void *held = sb_profiles_hold_list(app->profiles, &list);
    sb_json_put_bool(&j, "scanning", list.is_scanning);
    sb_json_open_array(&j, "captures");
    for (size_t i = 0; i < list.captures.n; i++)
        sb_profile_add_capture(&j, app, &list.captures.items[i]);
    sb_profiles_release_list(app->profiles, held);
    sb_status status =
        sb_profile_each_stats(app, q->arena, add_stats, &(stats_list){&j, app}, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

/* ---- opening --------------------------------------------------------------------------------- */

sb_status sb_profile_submit(sb_app *app, const sb_capture *c, sb_err *err) {
    char args[64], key[96];
    uint64_t job;
    sb_profile_info info;
    sb_profiles_info(app->profiles, c, &info);
    if (info.state == SB_PROFILE_OPEN) return SB_OK;
    sb_profiles_try_again(app->profiles, c);
    int n = snprintf(args, sizeof args, "{\"capture\":\"%s\"}", c->id);
    int m = snprintf(key, sizeof key, "%s %s %llu", c->id, c->epoch,
                     (unsigned long long)sb_profiles_generation(app->profiles, c));
    sb_status status =
        sb_jobs_submit(app->jobs, sb_job_kind_find(SB_LIT("profile")), sb_slice_of(args, (size_t)n),
                       sb_slice_of(key, (size_t)m), &job, err);
    if (status == SB_OK) sb_profiles_set_job(app->profiles, c, job);
    return status;
}

typedef struct opening {
    sb_app *app;
    sb_json *j;
    sb_slice id;
    sb_status status;
    bool is_found;
    sb_err *err;
} opening;

static bool open_this(void *ud, const sb_capture *c, const sb_series *series) {
    opening *o = ud;
    (void)series;
    if (!sb_slice_eq(sb_slice_str(c->id), o->id)) return false;
    o->is_found = true;
    o->status = sb_profile_submit(o->app, c, o->err);
    if (o->status == SB_OK) {
        sb_json_key_str(o->j, "capture");
        sb_profile_add_capture(o->j, o->app, c);
    }
    return true;
}

sb_status sb_api_profile_open(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_profile_list list;
    sb_json j;
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    const json_t *id = json_object_get(body, "capture");
    opening o = {.app = app, .j = &j, .err = sb_http_err(r)};
    o.id = json_is_string(id) ? sb_slice_str(json_string_value(id)) : (sb_slice){NULL, 0};
    sb_api_begin(&j, r, app);
    void *held = sb_profiles_hold_list(app->profiles, &list);
    for (size_t i = 0; i < list.captures.n && !o.is_found; i++)
        open_this(&o, &list.captures.items[i], NULL);
    sb_profiles_release_list(app->profiles, held);
    sb_status status = o.status;
    if (!o.is_found) status = sb_profile_each_stats(app, q->arena, open_this, &o, sb_http_err(r));
    if (status == SB_OK) status = o.status;
    if (status == SB_OK)
        status = o.is_found ? sb_api_end(&j, r)
                            : sb_api_fail(r, 404, "not_found", "there is no such capture");
    json_decref(body);
    return status;
}
