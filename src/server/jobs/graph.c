/* graph.c: the job that makes the model of a large graph: questions about it are then answered from
 * the cache. */
#include "server/graph_models.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

#define ARENA_BYTES ((size_t)2 << 30)

static json_t *load(sb_slice text) {
    return json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
}

sb_status sb_graph_job_check(sb_slice text, sb_err *err) {
    json_t *args = load(text);
    sb_status status = sb_graph_source_check(json_object_get(args, "source"), err);
    json_decref(args);
    return status;
}

static bool tell(void *ud, uint64_t done, uint64_t total) {
    sb_job_report(ud, done, total);
    return !sb_job_is_cancelled(ud);
}

sb_status sb_graph_job_run(sb_job *job, void *opaque, sb_err *err) {
    sb_app *app = opaque;
    json_t *args = load(sb_job_args(job));
    const sb_kept_model *kept;
    sb_arena arena;
    sb_arena_init(&arena, app->env->alloc, 256 << 10, ARENA_BYTES);
    sb_graph_wish wish = {
        .source = json_object_get(args, "source"), .arena = &arena, .progress = tell, .ud = job};
    sb_status status = sb_graph_model_take(&kept, app, &wish, err);
    sb_arena_fini(&arena);
    json_decref(args);
    if (status != SB_OK) return status;
    sb_model_cache_release(app->models, kept);
    sb_job_describe_result(job, "application/json", "graph.json");
    return sb_job_write(job, SB_LIT("{}\n"), err);
}
