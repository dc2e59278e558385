/* state.c: people's names, notes, pins and views over HTTP. */
#include <stdlib.h>

#include "server/api/api.h"
#include "server/state.h"
#include "base/banned.h"

static void add_items(sb_json *j, const sb_state_item *items, size_t n) {
    sb_json_key_str(j, "items");
    sb_json_begin_object(j);
    for (size_t i = 0; i < n; i++) {
        sb_json_key(j, items[i].key);
        sb_json_raw(j, items[i].value);
    }
    sb_json_end_object(j);
}

static sb_status answer_state(sb_http_request *q, sb_http_reply *r, sb_app *app) {
    sb_state_item *items;
    size_t n;
    uint64_t revision;
    sb_status status = sb_state_read(app->state, q->arena, &items, &n, &revision, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_uint(&j, "revision", revision);
    sb_json_put_bool(&j, "persistent", sb_state_is_persistent(app->state));
    sb_json_put_str(&j, "hint", sb_state_hint(app->state));
    add_items(&j, items, n);
    return sb_api_end(&j, r);
}

sb_status sb_api_state(sb_http_request *q, sb_http_reply *r, void *app) {
    return answer_state(q, r, app);
}

/* The changes of a request, with their values as JSON text; NULL when memory is out. */
static sb_state_item *read_changes(sb_http_request *q, json_t *changes) {
    sb_state_item *items = sb_arena_zeroed(q->arena, json_object_size(changes) + 1, sizeof *items);
    const char *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach(changes, key, value) {
        if (!items) return NULL;
        items[n].key = sb_slice_str(key);
        if (!json_is_null(value)) {
            char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
            items[n].value =
                text ? sb_arena_dup(q->arena, sb_slice_str(text)) : (sb_slice){NULL, 0};
            free(text);
            if (!items[n].value.p) return NULL;
        }
        n++;
    }
    return items;
}

sb_status sb_api_change_state(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    if (!sb_http_header(q, "X-Seaboard-Request").p)
        return sb_api_fail(r, 403, "forbidden", "a change needs the header X-Seaboard-Request");
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    json_t *changes = json_object_get(body, "items");
    json_int_t seen = json_integer_value(json_object_get(body, "revision"));
    if (!json_is_object(changes) || seen < 0) {
        json_decref(body);
        return sb_api_fail(r, 400, "invalid",
                           "a change needs \"revision\" and \"items\", an object");
    }
    sb_state_item *items = read_changes(q, changes);
    uint64_t revision = 0;
    sb_status status = items ? sb_state_change(app->state, items, json_object_size(changes),
                                               (uint64_t)seen, &revision, sb_http_err(r))
                             : SB_NOMEM;
    json_decref(body);
    if (status == SB_REPLACED) {
        status = answer_state(q, r, app);
        sb_http_status(r, 409);
        return status;
    }
    if (status != SB_OK) return status;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_uint(&j, "revision", revision);
    return sb_api_end(&j, r);
}
