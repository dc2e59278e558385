/* graph_ask.c: the model that a request is about. */
#include "server/api/graph/graph_ask.h"

#include "base/banned.h"

#define ASK_BYTES ((size_t)2 << 30)

/* What is told to people as such: the graph is not there, or can't be read. */
static sb_status explain(sb_http_reply *r, sb_status status) {
    static const struct {
        sb_status status;
        int code;
        const char *name;
    } replies[] = {
        {SB_NOT_FOUND, 404, "not_found"},
        {SB_REPLACED, 410, "gone"},
        {SB_CORRUPT, 422, "corrupt"},
        {SB_INVALID, 422, "corrupt"},
    };
    char text[sizeof sb_http_err(r)->text];
    memcpy(text, sb_http_err(r)->text, sizeof text);
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        if (status != replies[i].status) continue;
        sb_api_fail(r, replies[i].code, replies[i].name, "%s",
                    text[0] ? text : "the graph can't be read");
        return SB_END;
    }
    return status;
}

sb_status sb_graph_ask_begin(sb_graph_ask *a, sb_http_request *q, sb_http_reply *r, sb_app *app) {
    *a = (sb_graph_ask){.body = sb_api_body(q, r)};
    if (!a->body) return SB_END;
    sb_arena_init(&a->arena, app->env->alloc, 256 << 10, ASK_BYTES);
    sb_graph_wish wish = {.source = json_object_get(a->body, "source"), .arena = &a->arena};
    sb_err why;
    sb_status status = sb_graph_source_check(wish.source, &why);
    if (status != SB_OK) {
        sb_api_fail(r, 400, "invalid", "%s", why.text);
        status = SB_END;
    } else {
        status = explain(r, sb_graph_model_take(&a->kept, app, &wish, sb_http_err(r)));
    }
    if (status != SB_OK) {
        sb_graph_ask_end(a, app);
        return status;
    }
    a->m = a->kept->model;
    return SB_OK;
}

void sb_graph_ask_end(sb_graph_ask *a, sb_app *app) {
    sb_model_cache_release(app->models, a->kept);
    sb_arena_fini(&a->arena);
    json_decref(a->body);
}

bool sb_graph_ask_box(const sb_graph_ask *a, sb_http_reply *r, const char *key, uint32_t *box) {
    sb_slice name = sb_json_slice(json_object_get(a->body, key));
    *box = name.p ? sb_model_find(a->m, name) : SB_BOX_NONE;
    if (*box != SB_BOX_NONE) return true;
    sb_api_fail(r, 404, "not_found", "the graph has no node %.*s", SB_SHOWN(name));
    return false;
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
