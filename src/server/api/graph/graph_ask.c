/* graph_ask.c: the model that a question is about, and the reply that its answer becomes. */
#include "server/api/graph/graph_ask.h"

#include "base/banned.h"

#define ASK_BYTES ((size_t)2 << 30)

sb_status sb_graph_ask_begin(sb_graph_ask *a) {
    sb_graph_wish wish = {.source = json_object_get(a->body, "source"),
                          .arena = &a->arena,
                          .at_once = a->request != NULL,
                          .progress = a->progress,
                          .ud = a->ud,
                          .refused = &a->refused};
    sb_status status = sb_graph_source_check(wish.source, a->err);
    if (status != SB_OK) return status;
    sb_arena_init(&a->arena, a->app->env->alloc, 256 << 10, ASK_BYTES);
    status = sb_graph_model_take(&a->kept, a->app, &wish, a->err);
    if (status == SB_OK)
        a->m = a->kept->model;
    else
        sb_graph_ask_end(a);
    return status == SB_INVALID ? SB_CORRUPT : status; /* the graph is not valid; the request is */
}

void sb_graph_ask_end(sb_graph_ask *a) {
    sb_model_cache_release(a->app->models, a->kept);
    a->kept = NULL;
    sb_arena_fini(&a->arena);
}

void sb_graph_put_fault(sb_json *j, const sb_text_fault *fault) {
    sb_json_begin_object(j);
    sb_json_put_str(j, "reason", sb_text_reason_word(fault->reason));
    sb_json_put_uint(j, "line", fault->line);
    sb_json_put_uint(j, "column", fault->column);
    sb_json_put_str(j, "token", fault->token);
    sb_json_end_object(j);
}

sb_status sb_graph_ask_box(const sb_graph_ask *a, const char *key, uint32_t *box) {
    sb_slice name = sb_json_slice(json_object_get(a->body, key));
    *box = name.p ? sb_model_find(a->m, name) : SB_BOX_NONE;
    if (*box != SB_BOX_NONE) return SB_OK;
    return sb_fail(a->err, SB_NOT_FOUND, 0, "the graph has no node %.*s", SB_SHOWN(name));
}

uint32_t *sb_graph_ask_boxes(sb_graph_ask *a, const char *key, size_t *n) {
    const json_t *list = json_object_get(a->body, key);
    size_t count = json_array_size(list);
    uint32_t *boxes = sb_arena_get(&a->arena, (count + 1) * sizeof *boxes);
    *n = 0;
    for (size_t i = 0; boxes && i < count; i++) {
        uint32_t box = sb_model_find(a->m, sb_json_slice(json_array_get(list, i)));
        if (box != SB_BOX_NONE) boxes[(*n)++] = box;
    }
    return boxes;
}

/* ---- answers --------------------------------------------------------------------------------- */

sb_status sb_graph_answer_text(sb_graph_ask *a, sb_graph_answer *answer, uint64_t version,
                               sb_buf *out) {
    sb_json j;
    sb_json_init(&j, out, &sb_api_json);
    sb_json_begin_object(&j);
    sb_json_put_uint(&j, "version", version);
    sb_status status = answer(a, &j);
    sb_json_end_object(&j);
    return status == SB_OK ? sb_json_finish(&j, "the answer", a->err) : status;
}

/* Answers a failure that has a reply of its own, with the reason; other failures are returned. */
static sb_status explain(sb_http_reply *r, sb_status status, const char *why) {
    static const struct {
        sb_status status;
        int code;
        const char *name;
    } replies[] = {
        {SB_MORE, 409, "large"},      {SB_NOT_FOUND, 404, "not_found"}, {SB_REPLACED, 410, "gone"},
        {SB_CORRUPT, 422, "corrupt"}, {SB_INVALID, 400, "invalid"},
    };
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++)
        if (status == replies[i].status)
            return sb_api_fail(r, replies[i].code, replies[i].name, "%s",
                               why[0] ? why : "the graph can't be read");
    return status;
}

sb_status sb_graph_reply(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_graph_answer *answer,
                         sb_graph_answer *large) {
    sb_err err = {0};
    uint64_t version = sb_api_version(r, app);
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    sb_graph_ask a = {.body = body, .app = app, .err = &err, .request = q};
    sb_status status = sb_graph_ask_begin(&a);
    sb_http_type(r, "application/json");
    if (status == SB_OK) {
        status = sb_graph_answer_text(&a, answer, version, sb_http_body(r));
        sb_graph_ask_end(&a);
    } else if (status == SB_MORE && large) {
        status = sb_graph_answer_text(&a, large, version, sb_http_body(r));
    }
    json_decref(body);
    if (status != SB_OK) *sb_http_err(r) = err;
    return status == SB_OK ? SB_OK : explain(r, status, err.text);
}
