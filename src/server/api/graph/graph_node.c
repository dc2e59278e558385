/* graph_node.c: everything about one box of a graph, for the card beside it. */
#include <stdlib.h>

#include "codec/graph.h"
#include "codec/proto/text_format.h"
#include "server/api/graph/graph_ask.h"
#include "base/banned.h"

#define MOST_LINKS 200u
#define MOST_ALIKE 50u
#define MOST_COUNTS 30u
#define MOST_INCOMPATIBLE 100u
#define MOST_FUNCTIONS 16u

typedef struct telling {
    sb_json *j;
    const sb_model *m;
    sb_graph_ask *a;
    uint32_t box;
    sb_buf text;
    sb_slice function; /* whose users are listed */
} telling;

static void begin_list(telling *t, const char *key) {
    sb_json_key_str(t->j, key);
    sb_json_begin_array(t->j);
}

static void put_shape(telling *t, const char *key, uint32_t op, int32_t slot) {
    sb_buf_clear(&t->text);
    sb_model_shape(t->m, op, slot, &t->text);
    sb_json_put_text(t->j, key, sb_buf_slice(&t->text));
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* "i: 3\n" as "3"; what takes several lines stays as it is. */
static sb_slice shortened(sb_slice text, sb_attr_kind kind) {
    while (text.n && text.p[text.n - 1] == '\n') text.n--;
    bool is_one_line = !memchr(text.p ? text.p : (const uint8_t *)"", '\n', text.n);
    const uint8_t *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    if (!is_one_line || !colon || kind == SB_ATTR_LIST || kind == SB_ATTR_TENSOR) return text;
    size_t from = (size_t)(colon - text.p) + 2;
    return from < text.n ? sb_slice_of(text.p + from, text.n - from) : text;
}

static void add_attrs(telling *t) {
    sb_items entries = sb_items_of(t->m->boxes[t->box].attrs, SB_NODE_ATTR);
    sb_attr attr;
    begin_list(t, "attrs");
    while (sb_attr_next(&entries, &attr) == SB_OK) {
        sb_attr_value value;
        if (sb_slice_eq(attr.key, SB_LIT("_output_shapes"))) continue;
        sb_buf_clear(&t->text);
        if (sb_attr_value_read(&value, attr.value) != SB_OK ||
            sb_text_write(&t->text, SB_MSG_ATTR_VALUE, attr.value, NULL) != SB_OK)
            continue;
        sb_json_begin_object(t->j);
        sb_json_put_text(t->j, "key", attr.key);
        sb_json_put_text(t->j, "value", shortened(sb_buf_slice(&t->text), value.kind));
        sb_json_end_object(t->j);
    }
    sb_json_end_array(t->j);
}

/* ---- lists of boxes -------------------------------------------------------------------------- */

/* Names of the boxes that are wanted, the first `most` of them. Answers how many there are. */
static uint32_t add_names(telling *t, const char *key, uint32_t most,
                          bool (*is_wanted)(const telling *t, const sb_box *b, uint32_t box)) {
    const sb_model *m = t->m;
    uint32_t total = 0;
    begin_list(t, key);
    for (uint32_t i = 1; i < m->box_count; i++)
        if (is_wanted(t, &m->boxes[i], i) && total++ < most) sb_json_text(t->j, m->boxes[i].name);
    sb_json_end_array(t->j);
    return total;
}

static bool is_alike(const telling *t, const sb_box *b, uint32_t box) {
    const sb_box *own = &t->m->boxes[t->box];
    return b->structure == own->structure && b->kind == own->kind && own->kind != SB_BOX_OP &&
           box != t->box;
}

static bool is_incompatible(const telling *t, const sb_box *b, uint32_t box) {
    return b->incompatible && b->kind == SB_BOX_OP && sb_model_is_in(t->m, box, t->box);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The next attribute that names a function. */
static bool next_function(sb_items *entries, sb_slice *name) {
    sb_attr attr;
    sb_attr_value value;
    while (sb_attr_next(entries, &attr) == SB_OK) {
        if (sb_attr_value_read(&value, attr.value) != SB_OK || value.kind != SB_ATTR_FUNC) continue;
        sb_items names = sb_items_of(value.body, SB_NAME_ATTRS_NAME);
        if (sb_items_next(&names, name) == SB_OK) return true;
    }
    return false;
}

/* Does another box use the function that is being told about? */
static bool is_user(const telling *t, const sb_box *b, uint32_t box) {
    if (box == t->box) return false;
    if (b->kind == SB_BOX_CALL && sb_slice_eq(sb_model_text(t->m, b->op), t->function)) return true;
    sb_items entries = sb_items_of(b->attrs, SB_NODE_ATTR);
    sb_slice name;
    while (next_function(&entries, &name))
        if (sb_slice_eq(name, t->function)) return true;
    return false;
}

static void add_function(telling *t, sb_slice name) {
    t->function = name;
    sb_json_begin_object(t->j);
    sb_json_put_text(t->j, "name", name);
    sb_json_put_uint(t->j, "userCount", add_names(t, "users", MOST_ALIKE, is_user));
    sb_json_end_object(t->j);
}

/* By attributes, or, of a call, by its operation. */
static void add_functions(telling *t) {
    const sb_box *b = &t->m->boxes[t->box];
    sb_items entries = sb_items_of(b->attrs, SB_NODE_ATTR);
    sb_slice name;
    uint32_t n = 0;
    begin_list(t, "functions");
    for (; n < MOST_FUNCTIONS && next_function(&entries, &name); n++) add_function(t, name);
    if (n == 0 && b->kind == SB_BOX_CALL) add_function(t, sb_model_text(t->m, b->op));
    sb_json_end_array(t->j);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void add_link(telling *t, uint32_t other, const sb_edge *e) {
    sb_json_begin_object(t->j);
    sb_json_put_text(t->j, "name", t->m->boxes[other].name);
    sb_json_put_text(t->j, "op", sb_model_text(t->m, t->m->boxes[other].op));
    sb_json_put_int(t->j, "slot", e->slot);
    put_shape(t, "shape", e->from, e->slot);
    sb_json_end_object(t->j);
}

/* Edges over the border of the box. Answers how many; the first ones are written. */
static uint32_t add_links(telling *t, const char *key, bool is_input) {
    const sb_model *m = t->m;
    uint32_t total = 0;
    begin_list(t, key);
    const sb_box *b = &m->boxes[t->box];
    uint32_t n = b->kind == SB_BOX_OP ? is_input ? b->in_count : b->out_count : m->edge_count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = b->kind != SB_BOX_OP ? i
                      : is_input           ? b->first_in + i
                                           : m->outs[b->first_out + i];
        const sb_edge *e = &m->edges[at];
        if (b->kind != SB_BOX_OP) {
            uint32_t inner = is_input ? e->to : e->from, outer = is_input ? e->from : e->to;
            if (!sb_model_is_in(m, inner, t->box) || sb_model_is_in(m, outer, t->box)) continue;
        }
        if (total++ < MOST_LINKS) add_link(t, is_input ? e->from : e->to, e);
    }
    sb_json_end_array(t->j);
    return total;
}

/* ---- what is in a scope ---------------------------------------------------------------------- */

typedef struct counted {
    uint32_t text, n;
} counted;

static int by_count(const void *a, const void *b) {
    const counted *x = a, *y = b;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return x->text < y->text ? -1 : 1;
}

static bool add_counts(telling *t, const char *key, bool of_devices) {
    const sb_model *m = t->m;
    counted *counts = sb_arena_zeroed(&t->a->arena, m->texts.count + 1, sizeof *counts);
    if (!counts) return false;
    for (uint32_t i = 0; i < m->texts.count; i++) counts[i].text = i;
    bool is_scope = m->boxes[t->box].kind != SB_BOX_OP;
    for (uint32_t i = 1; is_scope && i < m->box_count; i++) {
        const sb_box *b = &m->boxes[i];
        uint32_t text = of_devices ? b->device : b->op;
        if (b->kind == SB_BOX_OP && text != SB_BOX_NONE && sb_model_is_in(m, i, t->box))
            counts[text].n++;
    }
    qsort(counts, m->texts.count, sizeof *counts, by_count);
    begin_list(t, key);
    for (uint32_t i = 0; i < m->texts.count && i < MOST_COUNTS && counts[i].n; i++) {
        sb_json_begin_object(t->j);
        sb_json_put_text(t->j, "name", sb_model_text(m, counts[i].text));
        sb_json_put_uint(t->j, "n", counts[i].n);
        sb_json_end_object(t->j);
    }
    sb_json_end_array(t->j);
    return true;
}

/* ---- measurements ---------------------------------------------------------------------------- */

static void add_outputs_stats(telling *t, const sb_node_stats *stats) {
    sb_items items = sb_items_of(stats->message, SB_NODE_STATS_OUTPUT);
    sb_slice item;
    sb_node_output output;
    begin_list(t, "outputs");
    while (sb_items_next(&items, &item) == SB_OK) {
        if (sb_node_output_read(&output, item) != SB_OK) continue;
        sb_items dims = sb_items_of(output.shape, SB_SHAPE_DIM);
        int64_t size;
        sb_buf_clear(&t->text);
        for (int i = 0; sb_shape_next(&dims, &size) == SB_OK; i++)
            sb_buf_printf(&t->text, "%s%lld", i ? " × " : "", (long long)size);
        if (t->text.n == 0) sb_buf_add_str(&t->text, "scalar");
        sb_json_begin_object(t->j);
        sb_json_put_int(t->j, "slot", output.slot);
        sb_json_put_text(t->j, "shape", sb_buf_slice(&t->text));
        sb_json_put_int(t->j, "bytes", output.requested_bytes);
        sb_json_end_object(t->j);
    }
    sb_json_end_array(t->j);
}

static void add_run_stats(telling *t) {
    const sb_box *b = &t->m->boxes[t->box];
    sb_node_stats stats;
    sb_memory_used used;
    sb_slice item;
    if (!b->stats.p || sb_node_stats_read(&stats, b->stats) != SB_OK) return;
    sb_json_key_str(t->j, "stats");
    sb_json_begin_object(t->j);
    sb_json_put_text(t->j, "device", sb_model_text(t->m, b->device));
    sb_json_put_int(t->j, "start", stats.all_start_micros);
    sb_json_put_double(t->j, "time", b->time);
    begin_list(t, "memory");
    sb_items items = sb_items_of(stats.message, SB_NODE_STATS_MEMORY);
    while (sb_items_next(&items, &item) == SB_OK) {
        if (sb_memory_used_read(&used, item) != SB_OK) continue;
        sb_json_begin_object(t->j);
        sb_json_put_text(t->j, "name", used.allocator);
        sb_json_put_int(t->j, "n", used.total_bytes);
        sb_json_end_object(t->j);
    }
    sb_json_end_array(t->j);
    add_outputs_stats(t, &stats);
    sb_json_end_object(t->j);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_head(telling *t) {
    const sb_box *b = &t->m->boxes[t->box];
    uint32_t above[256], n = 0;
    sb_json_put_text(t->j, "name", b->name);
    for (uint32_t i = 0; i < t->m->renamed_count; i++)
        if (sb_slice_eq(t->m->renamed[i].name, b->name))
            sb_json_put_text(t->j, "otherName", t->m->renamed[i].other);
    sb_json_put_uint(t->j, "kind", b->kind);
    sb_json_put_text(t->j, "op", sb_model_text(t->m, b->op));
    sb_json_put_text(t->j, "device", sb_model_text(t->m, b->device));
    for (uint32_t box = b->parent; box != SB_BOX_NONE && box != SB_BOX_ROOT && n < 256;
         box = t->m->boxes[box].parent)
        above[n++] = box;
    begin_list(t, "parents");
    while (n) sb_json_text(t->j, t->m->boxes[above[--n]].name);
    sb_json_end_array(t->j);
    sb_json_put_uint(t->j, "children", b->child_count);
    sb_json_put_uint(t->j, "ops", b->ops);
    sb_json_put_uint(t->j, "params", b->params);
    sb_json_put_uint(t->j, "unsized", b->unsized);
    sb_json_put_double(t->j, "time", b->has_stats ? b->time : -1);
    sb_json_put_double(t->j, "bytes", b->has_stats ? b->bytes : -1);
    sb_json_put_uint(t->j, "side", b->side);
    begin_list(t, "shapes");
    sb_items shapes = sb_items_of(b->outputs, SB_ATTR_LIST_SHAPE);
    sb_slice shape;
    for (int32_t i = 0; i < 64 && sb_items_next(&shapes, &shape) == SB_OK; i++) {
        sb_buf_clear(&t->text);
        sb_model_shape(t->m, t->box, i, &t->text);
        sb_json_text(t->j, sb_buf_slice(&t->text));
    }
    sb_json_end_array(t->j);
}

static sb_status tell(telling *t) {
    add_head(t);
    add_names(t, "incompatible", MOST_INCOMPATIBLE, is_incompatible);
    add_attrs(t);
    add_functions(t);
    sb_json_put_uint(t->j, "inputCount", add_links(t, "inputs", true));
    sb_json_put_uint(t->j, "outputCount", add_links(t, "outputs", false));
    if (!add_counts(t, "opCounts", false) || !add_counts(t, "deviceCounts", true)) return SB_NOMEM;
    sb_json_put_uint(t->j, "alikeCount", add_names(t, "alike", MOST_ALIKE, is_alike));
    add_run_stats(t);
    return t->text.failed;
}

static sb_status tell_of(sb_graph_ask *a, sb_json *j) {
    telling t = {.j = j, .m = a->m, .a = a};
    sb_status status = sb_graph_ask_box(a, "name", &t.box);
    if (status != SB_OK) return status;
    sb_buf_init(&t.text, a->m->alloc, 1 << 20);
    status = tell(&t);
    sb_buf_fini(&t.text);
    return status;
}

sb_status sb_api_graph_node(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_graph_reply(q, r, app, tell_of, NULL);
}
