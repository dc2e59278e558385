/* graph.c: the job that draws a large graph: it is read, unless that was done before, and laid
 * out. */
#include "server/api/graph/graph_ask.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define TOLD_IN 1000u
#define READ_IN 900u /* of them; the rest is the layout's */

static json_t *load(sb_slice text) {
    return json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
}

sb_status sb_graph_job_check(sb_slice text, sb_err *err) {
    json_t *args = load(text);
    sb_status status = sb_graph_source_check(json_object_get(args, "source"), err);
    json_decref(args);
    return status;
}

/* A graph that is not there has a key too: the job says why. */
sb_status sb_graph_job_key(sb_slice text, void *app, sb_buf *key, sb_err *err) {
    sb_arena arena;
    json_t *args = load(text);
    sb_arena_init(&arena, ((const sb_app *)app)->env->alloc, 16 << 10, ARENA_BYTES);
    sb_graph_wish wish = {.source = json_object_get(args, "source"), .arena = &arena};
    sb_status status = sb_graph_model_key(key, app, &wish, err);
    sb_arena_fini(&arena);
    json_decref(args);
    return status == SB_NOT_FOUND || status == SB_REPLACED ? SB_OK : status;
}

typedef struct telling {
    sb_job *job;
    uint64_t from, to; /* of TOLD_IN: the part that is being done */
    uint64_t last;
} telling;

static bool tell(void *ud, uint64_t done, uint64_t total) {
    telling *t = ud;
    double share = total ? (double)done / (double)total : 0;
    t->last = t->from + (uint64_t)((double)(t->to - t->from) * share);
    sb_job_report(t->job, t->last, TOLD_IN);
    return !sb_job_is_cancelled(t->job);
}

static sb_status draw(sb_graph_ask *a, uint64_t version, sb_job *job) {
    sb_buf text;
    sb_buf_init(&text, a->app->env->alloc, SB_MOST_GRAPH_BYTES);
    sb_status status = sb_graph_answer_text(a, sb_graph_draw, version, &text);
    if (status == SB_OK) status = sb_job_write(job, sb_buf_slice(&text), a->err);
    sb_buf_fini(&text);
    return status;
}

static void say_why(sb_job *job, const sb_graph_file *refused, const sb_alloc *alloc) {
    sb_buf facts;
    sb_json j;
    sb_buf_init(&facts, alloc, SB_JOB_FACTS);
    sb_json_init(&j, &facts, &sb_api_json);
    if (refused->fault.line) sb_graph_put_fault(&j, &refused->fault);
    sb_job_set_code(job, sb_graph_trouble_name(refused->trouble),
                    facts.failed == SB_OK ? sb_buf_slice(&facts) : SB_LIT(""));
    sb_buf_fini(&facts);
}

sb_status sb_graph_job_run(sb_job *job, void *opaque, sb_err *err) {
    sb_app *app = opaque;
    json_t *args = load(sb_job_args(job));
    uint64_t version = sb_store_version(app->store);
    telling t = {.job = job, .to = READ_IN};
    sb_graph_ask a = {.body = args, .app = app, .err = err, .progress = tell, .ud = &t};
    sb_job_describe_result(job, "application/json", "graph.json");
    sb_status status = sb_graph_ask_begin(&a);
    if (status == SB_OK) {
        t.from = t.last; /* 0 when it had been read before */
        t.to = TOLD_IN;
        status = draw(&a, version, job);
        sb_graph_ask_end(&a);
    } else if (a.refused.trouble) {
        say_why(job, &a.refused, app->env->alloc);
    }
    json_decref(args);
    return status;
}
