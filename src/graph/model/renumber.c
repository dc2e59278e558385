/* renumber.c: gives the layers of a second Keras model the names that the first model uses.
 *
 * Keras numbers the layers of a process: the first model has "sequential/dense" and
 * "sequential/dense_1", the next one that the process makes has "sequential_1/dense_2" and
 * "sequential_1/dense_3". A comparison by name would find nothing in common. So, before names are
 * compared, the counters of the second model are moved to where those of the first begin: scope by
 * scope, the names that differ only by a counter are a family, and when the counters of a family
 * have no gap in either model but begin at different numbers, they came from that counter. A
 * family with a gap was numbered by a person and keeps its names. Whether the layers that meet in
 * this way agree is decided by the comparison afterwards.
 *
 * Input: the raw nodes of both graphs. Output: changed names and inputs in the second one, and the
 * list of renamed boxes in the model. Cost: linear in the nodes times the depth of their names. */
#include "base/slice.h"
#include "base/text/number.h"
#include "codec/proto/proto.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_PATHS (1u << 20)
#define MOST_DEPTH 100u
#define MOST_COUNTER 100000000u

/* Names that differ only by the counter at their end. */
typedef struct family {
    uint64_t first, n;
    bool has_gap;
} family;

typedef struct renaming {
    sb_raw *r;       /* of the second graph */
    sb_intern paths; /* scopes and layers of the second graph; a scope comes before what is in it */
    uint8_t *depths; /* by id: how many scopes are around it */
    sb_slice *meant; /* by id: the name that the first graph would use */
    sb_intern families; /* of both graphs */
    family *ours, *theirs;
    sb_buf text;
} renaming;

static bool is_keras(const sb_raw *r) {
    sb_node node = {0};
    sb_slice value;
    if (r->nodes.n == 0) return false;
    node.message = r->nodes.items[0].message;
    return sb_node_find_attr(&value, &node, SB_LIT("keras_class")) == SB_OK;
}

static sb_slice parent_of(sb_slice path) {
    const uint8_t *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return sb_slice_of(path.p, slash ? (size_t)(slash - path.p) : 0);
}

/* Divides "a/dense_12" into "a/dense" and 12. A name without a counter has the counter 0. */
static sb_slice base_of(sb_slice path, uint64_t *counter) {
    size_t from = path.n;
    *counter = 0;
    while (from && path.p[from - 1] >= '0' && path.p[from - 1] <= '9') from--;
    if (from == path.n || from < 2 || path.p[from - 1] != '_' || path.p[from] == '0') return path;
    sb_slice digits = sb_slice_of(path.p + from, path.n - from);
    if (!sb_parse_uint64(digits, counter) || *counter > MOST_COUNTER) {
        *counter = 0;
        return path;
    }
    return sb_slice_of(path.p, from - 1);
}

/* Adds a path and the scopes that contain it, outermost first. */
static bool add_path(sb_intern *paths, sb_slice path) {
    unsigned depth = 0;
    uint32_t id;
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/') continue;
        if (++depth > MOST_DEPTH) return true;
        if (sb_intern_add(paths, sb_slice_of(path.p, i), &id, NULL) != SB_OK) return false;
    }
    return true;
}

static bool add_paths(sb_intern *paths, const sb_raw *r) {
    for (size_t i = 0; i < r->nodes.n; i++)
        if (!add_path(paths, r->nodes.items[i].name)) return false;
    return true;
}

static void count_in(family *f, uint64_t counter) {
    if (f->n == 0) f->first = counter;
    f->has_gap |= counter != f->first + f->n;
    f->n++;
}

/* A path of the second graph with the name that its scope has in the first one. In `text`. */
static sb_slice moved(renaming *m, uint32_t id) {
    sb_slice path = sb_intern_name(&m->paths, id), scope = parent_of(path);
    sb_buf_clear(&m->text);
    if (scope.n) sb_buf_add_slice(&m->text, m->meant[sb_intern_find(&m->paths, scope)]);
    sb_buf_add(&m->text, path.p + scope.n, path.n - scope.n);
    return sb_buf_slice(&m->text);
}

/* Sets the name of a path of the second graph, when all of its family are known. */
static bool set_meant(renaming *m, uint32_t id) {
    uint64_t counter;
    sb_slice path = moved(m, id), base = base_of(path, &counter);
    uint32_t f = sb_intern_find(&m->families, base);
    bool is_known = f != SB_INTERN_NONE && m->ours[f].n && m->theirs[f].n;
    if (is_known && !m->ours[f].has_gap && !m->theirs[f].has_gap &&
        m->ours[f].first != m->theirs[f].first) {
        counter = counter - m->theirs[f].first + m->ours[f].first;
        m->text.n = base.n;
        if (counter) sb_buf_printf(&m->text, "_%llu", (unsigned long long)counter);
    }
    m->meant[id] = sb_arena_dup(m->r->scratch, sb_buf_slice(&m->text));
    return m->text.failed == SB_OK && m->meant[id].p;
}

/* How many scopes are around each path, and how many there are at most. A scope comes before what
 * is in it. */
static unsigned find_depths(renaming *m) {
    unsigned deepest = 0;
    for (uint32_t i = 0; i < m->paths.count; i++) {
        sb_slice scope = parent_of(sb_intern_name(&m->paths, i));
        unsigned depth = scope.n ? m->depths[sb_intern_find(&m->paths, scope)] + 1u : 0;
        m->depths[i] = (uint8_t)depth;
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

/* Level by level, because the family of a path depends on the name of its scope. */
static bool name_levels(renaming *m) {
    unsigned deepest = find_depths(m);
    for (unsigned depth = 0; depth <= deepest; depth++) {
        uint64_t counter;
        for (uint32_t i = 0; i < m->paths.count; i++) {
            if (m->depths[i] != depth) continue;
            uint32_t f = sb_intern_find(&m->families, base_of(moved(m, i), &counter));
            if (f != SB_INTERN_NONE) count_in(&m->theirs[f], counter);
        }
        for (uint32_t i = 0; i < m->paths.count; i++)
            if (m->depths[i] == depth && !set_meant(m, i)) return false;
    }
    return true;
}

/* The families of the first graph. */
static bool count_ours(renaming *m, const sb_intern *paths) {
    uint64_t counter;
    uint32_t f;
    m->ours = sb_arena_zeroed(m->r->scratch, paths->count + 1, sizeof *m->ours);
    m->theirs = sb_arena_zeroed(m->r->scratch, paths->count + 1, sizeof *m->theirs);
    if (!m->ours || !m->theirs) return false;
    for (uint32_t i = 0; i < paths->count; i++) {
        sb_slice base = base_of(sb_intern_name(paths, i), &counter);
        if (sb_intern_add(&m->families, base, &f, NULL) != SB_OK) return false;
        count_in(&m->ours[f], counter);
    }
    return true;
}

static sb_slice meant_by(const renaming *m, sb_slice path) {
    uint32_t id = sb_intern_find(&m->paths, path);
    return id == SB_INTERN_NONE ? path : m->meant[id];
}

/* The inputs of a node under their new names, as a message with nothing else in it. */
static bool rename_inputs(renaming *m, sb_raw_node *node) {
    sb_buf inputs;
    sb_items items = sb_items_of(node->inputs, SB_NODE_INPUT);
    sb_slice name;
    sb_buf_init(&inputs, &m->r->alloc, SIZE_MAX);
    while (sb_items_next(&items, &name) == SB_OK)
        sb_pb_add_bytes(&inputs, SB_NODE_INPUT, meant_by(m, name));
    node->inputs = inputs.n ? sb_buf_slice(&inputs) : SB_LIT("");
    return inputs.failed == SB_OK;
}

/* Lists the boxes of the first graph that have another name in the second one. */
static bool list_renamed(const renaming *m, const sb_intern *ours) {
    sb_model *model = m->r->m;
    model->renamed = sb_arena_zeroed(&model->arena, m->paths.count + 1, sizeof *model->renamed);
    if (!model->renamed) return false;
    for (uint32_t i = 0; i < m->paths.count; i++) {
        sb_slice other = sb_intern_name(&m->paths, i);
        if (sb_slice_eq(other, m->meant[i])) continue;
        sb_renamed *one = &model->renamed[model->renamed_count];
        one->name = sb_arena_dup(&model->arena, m->meant[i]);
        one->other = sb_arena_dup(&model->arena, other);
        one->is_matched = sb_intern_find(ours, one->name) != SB_INTERN_NONE;
        if (!one->name.p || !one->other.p) return false;
        model->renamed_count++;
    }
    return true;
}

static bool rename_all(renaming *m, const sb_raw *first, sb_intern *ours) {
    sb_raw *second = m->r;
    if (!add_paths(ours, first) || !add_paths(&m->paths, second) || !count_ours(m, ours))
        return false;
    m->meant = sb_arena_zeroed(second->scratch, m->paths.count + 1, sizeof *m->meant);
    m->depths = sb_arena_zeroed(second->scratch, m->paths.count + 1, sizeof *m->depths);
    if (!m->meant || !m->depths || !name_levels(m) || !list_renamed(m, ours)) return false;
    if (second->m->renamed_count == 0) return true;
    for (size_t i = 0; i < second->nodes.n; i++) {
        sb_raw_node *node = &second->nodes.items[i];
        if (!rename_inputs(m, node)) return false;
        node->name = meant_by(m, node->name);
    }
    return true;
}

sb_status sb_raw_renumber(const sb_raw *first, sb_raw *second, sb_err *err) {
    if (!is_keras(first) || !is_keras(second)) return SB_OK;
    renaming m = {.r = second};
    sb_intern ours;
    const sb_alloc *alloc = second->m->alloc;
    sb_intern_init(&ours, alloc, 3, MOST_PATHS);
    sb_intern_init(&m.paths, alloc, 4, MOST_PATHS);
    sb_intern_init(&m.families, alloc, 5, MOST_PATHS);
    sb_buf_init(&m.text, &second->alloc, 1 << 20);
    bool is_done = rename_all(&m, first, &ours);
    sb_intern_fini(&m.families);
    sb_intern_fini(&m.paths);
    sb_intern_fini(&ours);
    return is_done ? SB_OK : sb_fail_nomem(err, "for a graph");
}
