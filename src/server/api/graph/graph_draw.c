/* graph_draw.c: a graph with some boxes open, laid out, as columns. */
#include <math.h>

#include "codec/graph.h"
#include "graph/drawing/draw.h"
#include "graph/model/walk.h"
#include "server/api/graph/graph_ask.h"
#include "base/banned.h"

#define AUTO_MOST 60u     /* children of a scope that is opened by itself */
#define MOST_OPEN_AUTO 4u /* scopes that are */
#define IS_CONSTANT 8u
#define MOST_AT_ONCE 6000u /* boxes that a request draws: about a tenth of a second */

/* ---- what is open ---------------------------------------------------------------------------- */

typedef struct opening {
    uint32_t *boxes;
    size_t n;
} opening;

/* A scope that holds two thirds of the graph or more tells nothing while it is closed. With less
 * it stays so: the gradients of a graph of TensorFlow 1 are half of it, and not what people look
 * for first. Blocks that repeat stay folded: their count says more than a long row of them. */
static uint32_t only_child(const sb_model *m, uint32_t box) {
    const sb_box *b = &m->boxes[box];
    for (uint32_t i = 0; i < b->child_count; i++) {
        uint32_t child = m->children[b->first_child + i];
        const sb_box *c = &m->boxes[child];
        bool is_whole = c->kind != SB_BOX_SERIES && c->kind != SB_BOX_PART;
        if (is_whole && c->child_count && c->child_count <= AUTO_MOST &&
            (uint64_t)c->ops * 3 >= (uint64_t)b->ops * 2)
            return child;
    }
    return SB_BOX_NONE;
}

static bool find_open(opening *o, sb_graph_ask *a) {
    const sb_model *m = a->m;
    size_t wanted, shown, depth = 1;
    uint32_t *open = sb_graph_ask_boxes(a, "open", &wanted);
    uint32_t *reveal = sb_graph_ask_boxes(a, "reveal", &shown);
    if (!open || !reveal) return false;
    for (size_t i = 0; i < shown; i++) depth += m->boxes[reveal[i]].depth;
    o->boxes = sb_arena_get(&a->arena, (wanted + depth + MOST_OPEN_AUTO) * sizeof *o->boxes);
    if (!o->boxes) return false;
    for (size_t i = 0; i < wanted; i++) o->boxes[o->n++] = open[i];
    for (size_t i = 0; i < shown; i++)
        for (uint32_t box = m->boxes[reveal[i]].parent; box != SB_BOX_NONE && box != SB_BOX_ROOT;
             box = m->boxes[box].parent)
            o->boxes[o->n++] = box;
    if (!json_is_true(json_object_get(a->body, "auto"))) return true;
    uint32_t box = SB_BOX_ROOT;
    for (unsigned i = 0; i < MOST_OPEN_AUTO && (box = only_child(m, box)) != SB_BOX_NONE; i++)
        o->boxes[o->n++] = box;
    return true;
}

/* ---- marks ----------------------------------------------------------------------------------- */

static sb_status find_marks(sb_graph_ask *a, uint8_t **marked, uint32_t *count) {
    const json_t *path = json_object_get(a->body, "path");
    const sb_model *m = a->m;
    uint32_t box;
    *marked = NULL;
    *count = 0;
    if (json_is_string(json_object_get(a->body, "trace"))) {
        sb_status status = sb_graph_ask_box(a, "trace", &box);
        if (status != SB_OK) return status;
        *marked = sb_arena_zeroed(&a->arena, m->box_count, 1);
        return *marked && sb_walk_inputs(m, box, *marked, count, &a->arena) ? SB_OK : SB_NOMEM;
    }
    if (json_array_size(path) != 2) return SB_OK;
    uint32_t from = sb_model_find(m, sb_json_slice(json_array_get(path, 0)));
    uint32_t to = sb_model_find(m, sb_json_slice(json_array_get(path, 1)));
    *marked = sb_arena_zeroed(&a->arena, m->box_count, 1);
    sb_way way = {0};
    if (!*marked) return SB_NOMEM;
    if (from != SB_BOX_NONE && to != SB_BOX_NONE && !sb_walk_way(&way, m, from, to, &a->arena))
        return SB_NOMEM;
    for (uint32_t i = 0; i < way.n; i++) (*marked)[way.boxes[i]] = 1;
    *count = way.n;
    return SB_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct writing {
    sb_json *j;
    const sb_model *m;
    const sb_drawing *d;
    sb_intern texts, structures;
    sb_buf text;
    bool has_failed;
} writing;

static int64_t text_id(writing *w, sb_slice text) {
    uint32_t id;
    if (text.n == 0) return -1;
    if (sb_intern_add(&w->texts, text, &id, NULL) == SB_OK) return id;
    w->has_failed = true;
    return -1;
}

static int64_t shape_id(writing *w, uint32_t op, int32_t slot) {
    sb_buf_clear(&w->text);
    sb_model_shape(w->m, op, slot, &w->text);
    return text_id(w, sb_buf_slice(&w->text));
}

/* The XLA cluster that a node was put into. */
static int64_t cluster_id(writing *w, const sb_box *b) {
    sb_node node = {.message = b->attrs};
    sb_slice value;
    sb_attr_value attr;
    if (b->kind != SB_BOX_OP || sb_node_find_attr(&value, &node, SB_LIT("_XlaCluster")) != SB_OK ||
        sb_attr_value_read(&attr, value) != SB_OK || attr.kind != SB_ATTR_STRING)
        return -1;
    return text_id(w, attr.body);
}

/* Letters as JavaScript counts them. */
static uint32_t utf16_length(sb_slice text) {
    uint32_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += (text.p[i] & 0xc0) == 0x80 ? 0u : text.p[i] >= 0xf0 ? 2u : 1u;
    return n;
}

static double rounded(float x) {
    return (double)lrintf(x * 8) / 8;
}

#define COLUMN(w, name)                                                                            \
    for (int once_ = (sb_json_key_str((w)->j, name), sb_json_begin_array((w)->j), 1); once_;       \
         once_ = (sb_json_end_array((w)->j), 0))                                                   \
        for (uint32_t i = 0; i < (w)->d->box_count; i++)
#define LINES(w, name)                                                                             \
    for (int once_ = (sb_json_key_str((w)->j, name), sb_json_begin_array((w)->j), 1); once_;       \
         once_ = (sb_json_end_array((w)->j), 0))                                                   \
        for (uint32_t i = 0; i < (w)->d->line_count; i++)
#define DRAWN (w->d->boxes[i])
#define BOX (w->m->boxes[w->d->boxes[i].box])

static void add_places(writing *w) {
    COLUMN(w, "name") sb_json_text(w->j, BOX.name);
    COLUMN(w, "label") sb_json_uint(w->j, utf16_length(sb_slice_of(BOX.name.p, BOX.label)));
    COLUMN(w, "kind") sb_json_uint(w->j, BOX.kind);
    COLUMN(w, "level")
    sb_json_int(w->j, DRAWN.level == SB_BOX_NONE ? -1 : (int64_t)DRAWN.level);
    COLUMN(w, "flags") sb_json_uint(w->j, DRAWN.flags | (BOX.is_constant ? IS_CONSTANT : 0));
    COLUMN(w, "x") sb_json_double(w->j, rounded(DRAWN.x));
    COLUMN(w, "y") sb_json_double(w->j, rounded(DRAWN.y));
    COLUMN(w, "w") sb_json_double(w->j, rounded(DRAWN.w));
    COLUMN(w, "h") sb_json_double(w->j, rounded(DRAWN.h));
}

static void add_facts(writing *w) {
    COLUMN(w, "op") sb_json_int(w->j, text_id(w, sb_model_text(w->m, BOX.op)));
    COLUMN(w, "device") sb_json_int(w->j, text_id(w, sb_model_text(w->m, BOX.device)));
    COLUMN(w, "shape") sb_json_int(w->j, shape_id(w, DRAWN.box, 0));
    COLUMN(w, "cluster") sb_json_int(w->j, cluster_id(w, &BOX));
    COLUMN(w, "children") sb_json_uint(w->j, BOX.child_count);
    COLUMN(w, "ops") sb_json_uint(w->j, BOX.ops);
    COLUMN(w, "params") sb_json_uint(w->j, BOX.params);
    COLUMN(w, "unsized") sb_json_uint(w->j, BOX.unsized);
    COLUMN(w, "time") sb_json_double(w->j, BOX.has_stats ? BOX.time : -1);
    COLUMN(w, "bytes") sb_json_double(w->j, BOX.has_stats ? BOX.bytes : -1);
    COLUMN(w, "incompatible") sb_json_uint(w->j, BOX.incompatible);
    COLUMN(w, "structure") {
        uint32_t id = 0;
        sb_slice bytes = sb_slice_of(&BOX.structure, sizeof BOX.structure);
        if (sb_intern_add(&w->structures, bytes, &id, NULL) != SB_OK) w->has_failed = true;
        sb_json_uint(w->j, id);
    }
    COLUMN(w, "side") sb_json_uint(w->j, BOX.side);
    COLUMN(w, "constants") sb_json_uint(w->j, DRAWN.constants);
    COLUMN(w, "uses") sb_json_uint(w->j, DRAWN.uses);
}

static void add_lines(writing *w) {
    const sb_drawn_line *l = w->d->lines;
    sb_json_key_str(w->j, "lines");
    sb_json_begin_object(w->j);
    LINES(w, "from") sb_json_uint(w->j, l[i].from);
    LINES(w, "to") sb_json_uint(w->j, l[i].to);
    LINES(w, "level") sb_json_int(w->j, l[i].level == SB_BOX_NONE ? -1 : (int64_t)l[i].level);
    LINES(w, "flags") sb_json_uint(w->j, l[i].flags);
    LINES(w, "count") sb_json_uint(w->j, l[i].count);
    LINES(w, "size") sb_json_double(w->j, (double)l[i].size);
    LINES(w, "shape") {
        const sb_edge *e = &w->m->edges[l[i].edge];
        sb_json_int(w->j, shape_id(w, e->from, e->slot));
    }
    LINES(w, "points") sb_json_uint(w->j, l[i].point_count);
    sb_json_end_object(w->j);
    sb_json_key_str(w->j, "points");
    sb_json_begin_array(w->j);
    for (uint32_t i = 0; i < w->d->point_count; i++) {
        sb_json_double(w->j, rounded(w->d->points[i].x));
        sb_json_double(w->j, rounded(w->d->points[i].y));
    }
    sb_json_end_array(w->j);
}

/* Layers, without the models that contain them. */
static uint32_t count_renamed(const sb_model *m) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->renamed_count; i++) {
        uint32_t box = sb_model_find(m, m->renamed[i].name);
        n += m->renamed[i].is_matched && box != SB_BOX_NONE && m->boxes[box].kind == SB_BOX_OP;
    }
    return n;
}

static void add_totals(sb_json *j, const sb_model *m, uint32_t marked) {
    const sb_box *root = &m->boxes[SB_BOX_ROOT];
    sb_json_key_str(j, "totals");
    sb_json_begin_object(j);
    sb_json_put_uint(j, "ops", m->op_count);
    sb_json_put_uint(j, "edges", m->edge_count);
    sb_json_put_uint(j, "boxes", m->box_count - 1);
    sb_json_put_uint(j, "params", root->params);
    sb_json_put_uint(j, "unsized", root->unsized);
    sb_json_put_double(j, "time", m->has_stats ? root->time : -1);
    sb_json_put_double(j, "bytes", m->has_stats ? root->bytes : -1);
    sb_json_put_uint(j, "incompatible", root->incompatible);
    sb_json_put_int(j, "producer", m->producer);
    sb_json_put_uint(j, "marked", marked);
    sb_json_put_uint(j, "renamed", count_renamed(m));
    sb_json_end_object(j);
    sb_json_key_str(j, "odds");
    sb_json_begin_array(j);
    for (int kind = 0; kind < SB_ODD_COUNT; kind++) {
        const sb_odd *odd = &m->odds[kind];
        if (odd->n == 0) continue;
        sb_json_begin_object(j);
        sb_json_put_str(j, "kind", sb_odd_name((sb_odd_kind)kind));
        sb_json_put_uint(j, "n", odd->n);
        sb_json_key_str(j, "examples");
        sb_json_begin_array(j);
        for (uint32_t i = 0; i < odd->shown; i++) sb_json_text(j, odd->examples[i]);
        sb_json_end_array(j);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static bool add_drawing(sb_json *j, const sb_graph_ask *a, const sb_drawing *d, uint32_t marked) {
    writing w = {.j = j, .m = a->m, .d = d};
    const sb_alloc *alloc = a->m->alloc;
    sb_intern_init(&w.texts, alloc, 5, UINT32_MAX - 1);
    sb_intern_init(&w.structures, alloc, 6, UINT32_MAX - 1);
    sb_buf_init(&w.text, alloc, 1 << 20);
    sb_json_put_double(j, "w", rounded(d->w));
    sb_json_put_double(j, "h", rounded(d->h));
    sb_json_key_str(j, "boxes");
    sb_json_begin_object(j);
    add_places(&w);
    add_facts(&w);
    sb_json_end_object(j);
    add_lines(&w);
    add_totals(j, a->m, marked);
    sb_json_key_str(j, "texts");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < w.texts.count; i++) sb_json_text(j, sb_intern_name(&w.texts, i));
    sb_json_end_array(j);
    sb_json_key_str(j, "devices");
    sb_json_begin_array(j);
    for (uint32_t i = 0; i < a->m->device_count; i++)
        sb_json_text(j, sb_model_text(a->m, a->m->devices[i]));
    sb_json_end_array(j);
    sb_json_put_str(j, "format",
                    a->kept->graph.n ? sb_graph_format_name(a->kept->about.format) : "");
    const sb_graph_file *about = &a->kept->about;
    sb_json_put_str(j, "trouble",
                    about->problem.text[0] ? sb_graph_trouble_name(about->trouble)
                    : about->is_cut        ? "cut"
                                           : "");
    sb_json_put_str(j, "problem",
                    about->problem.text[0] ? about->problem.text
                    : about->is_cut        ? "the file ends too early"
                                           : "");
    if (about->fault.line) {
        sb_json_key_str(j, "fault");
        sb_graph_put_fault(j, &about->fault);
    }
    bool is_done = !w.has_failed && w.text.failed == SB_OK;
    sb_buf_fini(&w.text);
    sb_intern_fini(&w.structures);
    sb_intern_fini(&w.texts);
    return is_done;
}

/* Too much for a request: the rest of the reply is that of a graph without nodes. */
static sb_status draw_nothing(sb_graph_ask *a, sb_json *j) {
    static const sb_box no_box;
    sb_model none = {.alloc = a->app->env->alloc, .boxes = (sb_box[]){no_box}, .box_count = 1};
    sb_kept_model kept = {.model = &none};
    sb_graph_ask of_none = {.m = &none, .kept = &kept};
    sb_json_put_bool(j, "isLarge", true);
    return add_drawing(j, &of_none, &(sb_drawing){0}, 0) ? SB_OK : SB_NOMEM;
}

sb_status sb_graph_draw(sb_graph_ask *a, sb_json *j) {
    opening o = {0};
    sb_drawing d;
    uint8_t *marked;
    uint32_t marks;
    sb_draw_ask ask = {.extract = json_is_true(json_object_get(a->body, "extract")),
                       .constants = json_is_true(json_object_get(a->body, "constants")),
                       .progress = a->progress,
                       .ud = a->ud};
    if (!find_open(&o, a)) return SB_NOMEM;
    ask.open = o.boxes;
    ask.open_count = o.n;
    ask.ungrouped = sb_graph_ask_boxes(a, "ungrouped", &ask.ungrouped_count);
    ask.to_main = sb_graph_ask_boxes(a, "main", &ask.to_main_count);
    ask.to_side = sb_graph_ask_boxes(a, "side", &ask.to_side_count);
    if (!ask.ungrouped || !ask.to_main || !ask.to_side) return SB_NOMEM;
    if (a->request && sb_draw_size(a->m, &ask) > MOST_AT_ONCE) return draw_nothing(a, j);
    sb_status status = find_marks(a, &marked, &marks);
    ask.marked = marked;
    if (status == SB_OK) status = sb_draw(&d, a->m, &ask, &a->arena, a->err);
    if (status != SB_OK) return status;
    return add_drawing(j, a, &d, marks) ? SB_OK : SB_NOMEM;
}

sb_status sb_api_graph_draw(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_graph_reply(q, r, app, sb_graph_draw, draw_nothing);
}
