/* saver.c: TF1's Saver: variables by name, numbered by step, a list of what it wrote. */
#include <stdio.h>
#include <stdlib.h>

#include "base/sized.h"
#include "base/slice.h"
#include "base/vec.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/bundle/publish.h"
#include "ckpt/object/graph_keys.h"
#include "ckpt/object/object_graph.h"
#include "ckpt/saver_int.h"
#include "ckpt/state.h"
#include "codec/tensor.h"
#include "seaboard/checkpoint.h"
#include "base/banned.h"

#define DEFAULT_KEEP 5
#define DEFAULT_HOURS 10000.0

typedef struct written {
    sb_slice path; /* in the saver's arena */
    double time;
    sb_bundle_id id;
} written;

struct sb_saver {
    sb_env env;
    sb_saver_opts opts;
    sb_arena arena;
    SB_VEC(sb_bundle_item) items; /* in order of names when they are saved */
    SB_VEC(written) list;         /* oldest first */
    double next_keep;             /* one that was written after this moment is preserved */
    sb_arena strings;             /* bytes of strings that were restored */
};

sb_status sb_saver_new(sb_saver **out, const sb_saver_opts *given, sb_err *err) {
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    return sb_saver_new_env(out, &env, given, err);
}

sb_status sb_saver_new_env(sb_saver **out, const sb_env *env, const sb_saver_opts *given,
                           sb_err *err) {
    sb_saver_opts opts = {0};
    sb_status status = SB_OK;
    *out = NULL;
    if (given) status = sb_sized_read(&opts, sizeof opts, given, 0, "sb_saver_opts", err);
    if (status != SB_OK) return status;
    if (!opts.latest_filename) opts.latest_filename = SB_CKPT_STATE_FILE;
    if (!*opts.latest_filename || strchr(opts.latest_filename, '/'))
        return sb_fail(err, SB_INVALID, 0, "'%s': the name of a state file has no '/'",
                       opts.latest_filename);
    sb_saver *s = sb_alloc_zeroed(env->alloc, 1, sizeof *s);
    if (!s) return sb_fail_nomem(err, "for a saver");
    if (opts.max_to_keep == 0) opts.max_to_keep = DEFAULT_KEEP;
    if (!(opts.keep_every_n_hours > 0)) opts.keep_every_n_hours = DEFAULT_HOURS;
    s->env = *env;
    s->opts = opts;
    s->next_keep = sb_wall_seconds(env->clock) + opts.keep_every_n_hours * 3600;
    sb_arena_init(&s->arena, env->alloc, 4096, SIZE_MAX / 2);
    sb_arena_init(&s->strings, env->alloc, 4096, SIZE_MAX / 2);
    sb_slice name = sb_arena_dup(&s->arena, sb_slice_str(opts.latest_filename));
    s->opts.latest_filename = (const char *)name.p;
    if (!name.p) {
        sb_saver_free(s);
        return sb_fail_nomem(err, "for a saver");
    }
    *out = s;
    return SB_OK;
}

void sb_saver_free(sb_saver *s) {
    if (!s) return;
    const sb_alloc *alloc = s->env.alloc;
    SB_VEC_FREE(&s->items, alloc);
    SB_VEC_FREE(&s->list, alloc);
    sb_arena_fini(&s->arena);
    sb_arena_fini(&s->strings);
    sb_alloc_put(alloc, s, sizeof *s);
}

sb_status sb_saver_add(sb_saver *s, const char *name, const sb_variable *given, sb_err *err) {
    sb_variable v = {0};
    uint64_t count;
    sb_status status = sb_sized_read(&v, sizeof v, given, 0, "sb_variable", err);
    if (status != SB_OK) return status;
    if (!name || !*name || v.rank > SB_CKPT_MAX_RANK ||
        !sb_bundle_count_elements(v.dims, v.rank, &count) || count > SIZE_MAX / 16 ||
        (sb_dtype_size(v.dtype) == 0 && v.dtype != SB_STRING) || (count && !v.data))
        return sb_fail(err, SB_INVALID, 0,
                       "'%s': a variable needs a name, a type with numbers or strings, a shape "
                       "that makes sense, and memory",
                       name ? name : "");
    sb_slice copy = sb_arena_dup(&s->arena, sb_slice_str(name));
    int64_t *dims = sb_arena_get(&s->arena, v.rank * sizeof *dims);
    sb_bundle_item *item = SB_VEC_PUSH(&s->items, s->env.alloc, SIZE_MAX);
    if (!copy.p || !dims || !item) return sb_fail_nomem(err, "for a saver");
    if (v.rank) memcpy(dims, v.dims, v.rank * sizeof *dims);
    *item = (sb_bundle_item){.name = copy,
                             .dtype = v.dtype,
                             .rank = v.rank,
                             .dims = dims,
                             .data = v.data,
                             .strings = v.data};
    return SB_OK;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int items_by_name(const void *x, const void *y) {
    const sb_bundle_item *a = x, *b = y;
    return sb_slice_cmp(a->name, b->name);
}

static sb_status write_items(sb_saver *s, const char *path, sb_bundle_id *id, sb_err *err) {
    sb_bundle_writer *w;
    uint32_t shards = s->opts.shards ? s->opts.shards : 1;
    sb_bundle_writer_opts opts = {
        .shards = shards, .no_sync = s->opts.durability == SB_BUFFERED, .id = id};
    if (s->items.n) qsort(s->items.items, s->items.n, sizeof *s->items.items, items_by_name);
    sb_status status = sb_bundle_writer_open(&w, &s->env, path, &opts, err);
    for (size_t i = 0; i < s->items.n && status == SB_OK; i++)
        status = sb_bundle_write(w, (uint32_t)(i * shards / s->items.n), &s->items.items[i], err);
    if (status == SB_OK) return sb_bundle_writer_finish(&w, err);
    sb_bundle_writer_abandon(&w);
    return status;
}

static sb_status write_meta(const sb_saver *s, const char *path, sb_slice meta, sb_err *err) {
    char name[SB_CKPT_PATH];
    int n = snprintf(name, sizeof name, "%s.meta", path);
    if (n < 0 || (size_t)n >= sizeof name)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", path);
    return meta.n ? sb_fs_put(s->env.fs, s->env.alloc, name, meta, err) : SB_OK;
}

/* As the state file has it: whole when the directory is absolute, else relative to it. */
static sb_slice stored_path(const sb_saver *s, sb_slice path) {
    const char *text = (const char *)path.p, *slash = strrchr(text, '/');
    if ((text[0] == '/' && !s->opts.relative_paths) || !slash) return path;
    return sb_slice_str(slash + 1);
}

static sb_status write_state(sb_saver *s, const char *dir, sb_err *err) {
    sb_arena arena;
    sb_arena_init(&arena, s->env.alloc, 4096, SIZE_MAX / 2);
    sb_slice *all = sb_arena_zeroed(&arena, s->list.n, sizeof *all);
    sb_status status = all ? SB_OK : sb_fail_nomem(err, "for a state file");
    for (size_t i = 0; i < s->list.n && all; i++) all[i] = stored_path(s, s->list.items[i].path);
    if (status == SB_OK) {
        sb_ckpt_state state = {.newest = all[s->list.n - 1], .all = all, .count = s->list.n};
        status = sb_ckpt_state_write(&s->env, dir, s->opts.latest_filename, &state,
                                     s->opts.durability == SB_DURABLE, err);
    }
    sb_arena_fini(&arena);
    return status;
}

/* The oldest one leaves the list when there are too many. True: it is to be removed. */
static bool pop_oldest(sb_saver *s, written *oldest) {
    uint64_t most = s->opts.max_to_keep == SB_KEEP_ALL ? 1 : s->opts.max_to_keep;
    if (s->list.n <= most) return false;
    *oldest = s->list.items[0];
    SB_VEC_REMOVE(&s->list, 0);
    if (s->opts.max_to_keep == SB_KEEP_ALL) return false;
    if (oldest->time <= s->next_keep) return true;
    s->next_keep += s->opts.keep_every_n_hours * 3600;
    return false;
}

/* Puts a checkpoint at the end of the list. */
static sb_status note_written(sb_saver *s, const char *path, double time, sb_bundle_id id,
                              sb_err *err) {
    for (size_t i = s->list.n; i-- > 0;)
        if (sb_slice_eq(s->list.items[i].path, sb_slice_str(path))) SB_VEC_REMOVE(&s->list, i);
    sb_slice copy = sb_arena_dup(&s->arena, sb_slice_str(path));
    written *w = copy.p ? SB_VEC_PUSH(&s->list, s->env.alloc, SIZE_MAX) : NULL;
    if (!w) return sb_fail_nomem(err, "for a saver");
    *w = (written){copy, time, id};
    return SB_OK;
}

/* The moment at which a checkpoint was written, by its index or its file of version 1; false: there
 * is none. */
static bool time_of(const sb_saver *s, const char *path, double *out) {
    char name[SB_CKPT_PATH];
    sb_file_info info;
    int n = snprintf(name, sizeof name, "%s.index", path);
    bool found =
        n > 0 && (size_t)n < sizeof name && s->env.fs->stat(s->env.fs->ctx, name, &info) == 0;
    if (!found)
        found = sb_bundle_v1_path(sb_slice_str(path), 0, name, sizeof name) &&
                s->env.fs->stat(s->env.fs->ctx, name, &info) == 0;
    if (found) *out = (double)info.mtime_ns / 1e9;
    return found;
}

sb_status sb_saver_recover_last_checkpoints(sb_saver *s, const char *const *paths, size_t count,
                                            sb_err *err) {
    double time;
    sb_status status = SB_OK;
    s->list.n = 0;
    for (size_t i = 0; i < count && status == SB_OK; i++)
        if (time_of(s, paths[i], &time))
            status = note_written(s, paths[i], time, sb_bundle_identify(&s->env, paths[i]), err);
    return status;
}

const char *sb_saver_at(const sb_saver *s, size_t i) {
    return i < s->list.n ? (const char *)s->list.items[i].path.p : NULL;
}

/* Names the new checkpoint in the state file and removes the oldest. */
static sb_status record(sb_saver *s, const char *path, sb_err *err) {
    char dir[SB_CKPT_PATH];
    written oldest;
    bool is_removed = pop_oldest(s, &oldest);
    if (!sb_directory_of(dir, path))
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", path);
    int lock = sb_lock_directory(s->env.fs, dir);
    sb_status status = write_state(s, dir, err);
    if (status == SB_OK && is_removed)
        status = sb_bundle_remove(&s->env, (const char *)oldest.path.p, &oldest.id, err);
    sb_unlock_directory(s->env.fs, lock);
    return status;
}

sb_status sb_saver_save(sb_saver *s, const char *path, int64_t step, sb_slice meta_graph,
                        const char **out, sb_err *err) {
    char name[SB_CKPT_PATH];
    if (out) *out = NULL;
    int n = step == SB_NO_STEP
                ? snprintf(name, sizeof name, "%s", path)
                : snprintf(name, sizeof name, s->opts.pad_step_number ? "%s-%08lld" : "%s-%lld",
                           path, (long long)step);
    if (n < 0 || (size_t)n >= sizeof name)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", path);
    const char *slash = strrchr(name, '/');
    if (strcmp(slash ? slash + 1 : name, s->opts.latest_filename) == 0)
        return sb_fail(err, SB_INVALID, 0, "%s: is the name of the state file; use another", name);
    sb_bundle_id id = {0};
    sb_status status = write_items(s, name, &id, err);
    if (status == SB_OK) status = write_meta(s, name, meta_graph, err);
    if (status == SB_OK) status = note_written(s, name, sb_wall_seconds(s->env.clock), id, err);
    if (status == SB_OK && !s->opts.no_state) status = record(s, name, err);
    if (status == SB_OK && out) *out = (const char *)s->list.items[s->list.n - 1].path.p;
    return status;
}

/* ---- restoring ------------------------------------------------------------------------------- */

typedef struct restoring {
    sb_saver *s;
    sb_bundle *b;
    sb_arena arena;
    sb_graph_node *nodes; /* of an object-based file; NULL: none */
    size_t count;
    const sb_bundle_tensor **found; /* of each variable */
} restoring;

static sb_status read_graph(restoring *r, sb_err *err) {
    const sb_bundle_tensor *t = sb_bundle_find(r->b, SB_LIT(SB_OBJECT_GRAPH_KEY));
    sb_slice *graph;
    if (!t || t->dtype != SB_STRING || t->count != 1) return SB_OK;
    sb_status status = sb_bundle_read_strings(r->b, t, &r->arena, &graph, err);
    return status == SB_OK ? sb_graph_parse(&r->nodes, &r->count, graph[0], &r->arena, err)
                           : status;
}

/* By its key, else by the full name that an object-based file has for it. */
static const sb_bundle_tensor *find_value(const restoring *r, sb_slice name) {
    const sb_bundle_tensor *t = sb_bundle_find(r->b, name);
    for (size_t n = 0; n < r->count && !t; n++)
        for (uint32_t i = 0; i < r->nodes[n].value_count && !t; i++)
            if (sb_slice_eq(r->nodes[n].values[i].full_name, name))
                t = sb_bundle_find(r->b, r->nodes[n].values[i].key);
    return t;
}

static bool has_form(const sb_saver *s, const sb_bundle_item *item, const sb_bundle_tensor *t) {
    uint64_t count;
    if (t->dtype != item->dtype) return false;
    if (s->opts.reshape)
        return sb_bundle_count_elements(item->dims, item->rank, &count) && count == t->count;
    return t->rank == item->rank &&
           (t->rank == 0 || memcmp(t->dims, item->dims, t->rank * sizeof *t->dims) == 0);
}

static sb_status match_all(restoring *r, const char *path, sb_err *err) {
    sb_buf missing;
    size_t count = 0;
    sb_status status = SB_OK;
    sb_buf_init(&missing, r->s->env.alloc, 1 << 12);
    for (size_t i = 0; i < r->s->items.n && status == SB_OK; i++) {
        const sb_bundle_item *item = &r->s->items.items[i];
        const sb_bundle_tensor *t = find_value(r, item->name);
        if (!t) {
            if (count++ < 10)
                sb_buf_printf(&missing, "%s'%.*s'", count > 1 ? ", " : "", SB_SHOWN(item->name));
        } else if (!has_form(r->s, item, t)) {
            status = sb_fail(err, SB_INVALID, 0,
                             "%s: '%.*s' has another type or shape in the file than in the program",
                             path, SB_SHOWN(item->name));
        } else {
            r->found[i] = t;
        }
    }
    if (status == SB_OK && count)
        status =
            sb_fail(err, SB_NOT_FOUND, 0, "%s: %zu variables are not in this file: %.*s%s", path,
                    count, (int)missing.n, (const char *)missing.p, count > 10 ? ", ..." : "");
    sb_buf_fini(&missing);
    return status;
}

/* Reads all numbers at once, on all processors. */
static sb_status read_numbers(restoring *r, sb_err *err) {
    size_t count = 0;
    sb_bundle_request *requests = sb_arena_zeroed(&r->arena, r->s->items.n, sizeof *requests);
    if (!requests) return sb_fail_nomem(err, "for restoring");
    for (size_t i = 0; i < r->s->items.n; i++)
        if (sb_bundle_width(r->found[i]))
            requests[count++] =
                (sb_bundle_request){.t = r->found[i],
                                    .to = (void *)(uintptr_t)r->s->items.items[i].data,
                                    .n = (size_t)sb_bundle_bytes(r->b, r->found[i])};
    return sb_bundle_read_many(r->b, requests, count, 0, err);
}

/* The program's slices point into the saver's memory then. */
static sb_status read_strings(restoring *r, sb_err *err) {
    sb_arena fresh;
    sb_status status = SB_OK;
    sb_arena_init(&fresh, r->s->env.alloc, 4096, SIZE_MAX / 2);
    for (size_t i = 0; i < r->s->items.n && status == SB_OK; i++) {
        const sb_bundle_tensor *t = r->found[i];
        sb_slice *strings;
        if (sb_bundle_width(t)) continue;
        status = sb_bundle_read_strings(r->b, t, &fresh, &strings, err);
        if (status == SB_OK && t->count)
            memcpy((void *)(uintptr_t)r->s->items.items[i].strings, strings,
                   (size_t)t->count * sizeof *strings);
    }
    if (status == SB_OK) {
        sb_arena old = r->s->strings;
        r->s->strings = fresh;
        fresh = old;
    }
    sb_arena_fini(&fresh);
    return status;
}

sb_status sb_saver_restore(sb_saver *s, const char *path, sb_err *err) {
    restoring r = {.s = s};
    sb_arena_init(&r.arena, s->env.alloc, 4096, SIZE_MAX / 2);
    sb_status status =
        sb_bundle_open(&r.b, s->env.fs, s->env.alloc, NULL, sb_slice_str(path), NULL, err);
    if (status == SB_OK) status = read_graph(&r, err);
    if (status == SB_OK) {
        r.found = sb_arena_zeroed(&r.arena, s->items.n, sizeof(sb_bundle_tensor *));
        status = r.found ? match_all(&r, path, err) : sb_fail_nomem(err, "for restoring");
    }
    if (status == SB_OK) status = read_numbers(&r, err);
    if (status == SB_OK) status = read_strings(&r, err);
    sb_bundle_close(r.b);
    sb_arena_fini(&r.arena);
    return status;
}
