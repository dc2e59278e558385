/* profile.c: the job that parses a capture. */
#include <jansson.h>
#include <string.h>

#include "server/api/profile/profile_ask.h"
#include "server/graph_source.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

static json_t *load(sb_slice text) {
    return json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
}

sb_status sb_profile_job_check(sb_slice text, sb_err *err) {
    json_t *args = load(text);
    bool is_fine = json_is_string(json_object_get(args, "capture"));
    json_decref(args);
    return is_fine ? SB_OK : sb_fail(err, SB_INVALID, 0, "\"capture\" must be the id of a capture");
}

static bool tell(void *ud, uint64_t done, uint64_t total) {
    sb_job *job = ud;
    sb_job_report(job, done < total ? done : total, total);
    return !sb_job_is_cancelled(job);
}

/* Step statistics are not in a file of their own. */
typedef struct stats {
    sb_app *app;
    sb_slice id;
    sb_arena *arena;
    sb_trace_file file;
    sb_status status;
    sb_err *err;
} stats;

static bool take_stats(void *ud, const sb_capture *c, const sb_series *series) {
    stats *s = ud;
    sb_ref_item item;
    sb_slice bytes;
    if (!sb_slice_eq(sb_slice_str(c->id), s->id)) return false;
    s->status = sb_graph_blob(s->app, series, s->arena, &item, &bytes, s->err);
    if (s->status == SB_OK)
        s->file = (sb_trace_file){.path = "",
                                  .name = sb_arena_dup(s->arena, c->name),
                                  .run_metadata = sb_arena_dup(s->arena, bytes)};
    return true;
}

static bool is_listed(sb_app *app, sb_slice id) {
    sb_profile_list list;
    bool is_there = false;
    void *held = sb_profiles_hold_list(app->profiles, &list);
    for (size_t i = 0; i < list.captures.n; i++)
        is_there |= sb_slice_eq(sb_slice_str(list.captures.items[i].id), id);
    sb_profiles_release_list(app->profiles, held);
    return is_there;
}

sb_status sb_profile_job_run(sb_job *job, void *opaque, sb_err *err) {
    sb_app *app = opaque;
    json_t *args = load(sb_job_args(job));
    const char *id = json_string_value(json_object_get(args, "capture"));
    sb_arena arena, walk;
    sb_arena_init(&arena, app->env->alloc, 64 << 10, SB_MOST_GRAPH_BYTES);
    sb_arena_init(&walk, app->env->alloc, 64 << 10, SB_MOST_GRAPH_BYTES);
    stats s = {.app = app, .id = sb_slice_str(id), .arena = &arena, .err = err};
    sb_status status = SB_OK;
    if (!is_listed(app, s.id)) {
        status = sb_profile_each_stats(app, &walk, take_stats, &s, err);
        if (status == SB_OK) status = s.status;
    }
    if (status == SB_OK)
        status = sb_profiles_open(app->profiles, s.id, s.file.run_metadata.p ? &s.file : NULL, tell,
                                  job, err);
    if (status != SB_OK && !sb_job_is_cancelled(job))
        sb_profiles_failed(app->profiles, s.id, status, err->text);
    if (status == SB_OK) {
        sb_job_describe_result(job, "application/json", "profile.json");
        status = sb_job_write(job, SB_LIT("{}\n"), err);
    }
    sb_arena_fini(&walk);
    sb_arena_fini(&arena);
    json_decref(args);
    return status;
}
