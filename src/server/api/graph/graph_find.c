/* graph_find.c: names in a graph, and the way between two boxes. */
#include "graph/model/walk.h"
#include "query/tag_regex.h"
#include "server/api/graph/graph_ask.h"
#include "base/banned.h"

#define MOST_HITS 1000u

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

/* Letters of ASCII count in either case. */
static bool contains(sb_slice text, sb_slice part) {
    for (size_t i = 0; part.n <= text.n && i <= text.n - part.n; i++) {
        size_t k = 0;
        while (k < part.n && lower(text.p[i + k]) == lower(part.p[k])) k++;
        if (k == part.n) return true;
    }
    return false;
}

typedef struct finding {
    const sb_model *m;
    sb_slice query;
    sb_tag_regex *regex;
    uint64_t from, count, total;
    sb_json *j;
} finding;

static void add_hit(finding *f, const sb_box *b) {
    if (f->total++ < f->from || f->total > f->from + f->count) return;
    sb_json_begin_object(f->j);
    sb_json_put_text(f->j, "name", b->name);
    sb_json_put_uint(f->j, "kind", b->kind);
    sb_json_put_text(f->j, "op", sb_model_text(f->m, b->op));
    sb_json_end_object(f->j);
}

static sb_status look(finding *f, const sb_graph_ask *a) {
    for (uint32_t i = 1; i < f->m->box_count; i++) {
        const sb_box *b = &f->m->boxes[i];
        bool matches = false;
        if (i % 1024 == 0 && a->request && sb_http_expired(a->request)) return SB_TIMEOUT;
        if (f->regex) {
            sb_status status = sb_tag_regex_search(f->regex, b->name, &matches, a->err);
            if (status != SB_OK) return status;
        } else {
            matches = contains(b->name, f->query);
        }
        if (matches) add_hit(f, b);
    }
    return SB_OK;
}

static sb_status find(sb_graph_ask *a, sb_json *j) {
    const json_t *from = json_object_get(a->body, "from"),
                 *count = json_object_get(a->body, "count");
    finding f = {.m = a->m, .j = j, .query = sb_json_slice(json_object_get(a->body, "query"))};
    f.from = json_integer_value(from) > 0 ? (uint64_t)json_integer_value(from) : 0;
    f.count = json_is_integer(count) && json_integer_value(count) >= 0
                  ? (uint64_t)json_integer_value(count)
                  : 100;
    if (f.count > MOST_HITS) f.count = MOST_HITS;
    if (!f.query.n) return sb_fail(a->err, SB_INVALID, 0, "query is empty");
    sb_status status = SB_OK;
    if (json_is_true(json_object_get(a->body, "regex")))
        status = sb_tag_regex_new(&f.regex, a->m->alloc, f.query, NULL, a->err);
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "from", f.from);
    sb_json_key_str(j, "hits");
    sb_json_begin_array(j);
    status = look(&f, a);
    sb_json_end_array(j);
    sb_json_put_uint(j, "total", f.total);
    sb_tag_regex_free(f.regex);
    return status;
}

sb_status sb_api_graph_find(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_graph_reply(q, r, app, find, NULL);
}

static sb_status find_path(sb_graph_ask *a, sb_json *j) {
    uint32_t from, to;
    sb_way way;
    sb_status status = sb_graph_ask_box(a, "from", &from);
    if (status == SB_OK) status = sb_graph_ask_box(a, "to", &to);
    if (status != SB_OK) return status;
    if (!sb_walk_way(&way, a->m, from, to, &a->arena)) return SB_NOMEM;
    sb_json_key_str(j, "names");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < way.n; i++) sb_json_text(j, a->m->boxes[way.boxes[i]].name);
    sb_json_end_array(j);
    sb_json_put_str(j, "direction",
                    way.n == 0 || way.is_loose ? "none"
                    : way.is_back              ? "backward"
                                               : "forward");
    return SB_OK;
}

sb_status sb_api_graph_path(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_graph_reply(q, r, app, find_path, NULL);
}
