/* walk.c: walks a log directory and finds the captures in it. */
#include <stdlib.h>
#include <string.h>

#include "fsio/fs.h"
#include "profile/find/walk_int.h"
#include "base/banned.h"

#define MOST_DEPTH 48u
#define MOST_NAMES 4000000u

static bool is_stopped(const sb_capture_walk *w) {
    return w->stop && atomic_load(w->stop);
}

typedef struct listing {
    sb_capture_walk *w;
    SB_VEC(const char *) names;
} listing;

static int keep_name(void *ud, const char *name) {
    listing *l = ud;
    if (++l->w->names > MOST_NAMES || is_stopped(l->w)) return 1;
    sb_slice copy = sb_arena_dup(l->w->arena, sb_slice_str(name));
    const char **slot = copy.p ? SB_VEC_PUSH(&l->names, l->w->env->alloc, MOST_NAMES) : NULL;
    if (slot)
        *slot = (const char *)copy.p;
    else
        l->w->failed = SB_NOMEM;
    return slot == NULL;
}

static int compare_strings(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Looks into a JSON file. What is no trace by its name must be one by its first bytes. */
static bool is_trace(sb_capture_walk *w, sb_slice dir, sb_worker_file *f, sb_trace_head *head) {
    sb_arena_mark mark = sb_arena_here(w->arena);
    sb_slice path = sb_walk_join(w, dir, f->file);
    const sb_fs *fs = w->env->fs;
    sb_file_info info;
    bool is_one = path.p && fs->stat(fs->ctx, (const char *)path.p, &info) == 0 && info.is_file &&
                  sb_recognize_trace(w->recognized, w->env, (const char *)path.p, &info, head);
    sb_arena_reset(w->arena, mark);
    if (!is_one) *head = (sb_trace_head){.rank = -1, .world = -1};
    if (is_one && f->name.is_unsure) f->name.format = head->format;
    return is_one || !f->name.is_unsure;
}

static void take_files(sb_capture_walk *w, sb_slice dir, const listing *l) {
    const char *const *names = l->names.items;
    bool is_session = sb_is_session(dir);
    bool is_taken = is_session && sb_walk_session(w, dir, names, l->names.n);
    sb_worker_file *files = NULL;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < l->names.n; i++) {
        sb_trace_file_name name;
        /* beside what profilers put into a session there are files that XProf made of it */
        if (!sb_read_trace_name(names[i], &name) ||
            (is_session && (name.is_session || (is_taken && !name.is_torch))))
            continue;
        if (!files) files = sb_arena_zeroed(w->arena, l->names.n, sizeof *files);
        if (!files) {
            w->failed = SB_NOMEM;
            return;
        }
        files[n++] = (sb_worker_file){.file = names[i], .name = name};
    }
    for (size_t i = 0; i < n; i++) {
        sb_trace_head head = {.rank = -1, .world = -1};
        bool is_sure = !files[i].name.is_unsure;
        bool is_asked = !is_sure || (n > 1 && files[i].name.format != SB_FORMAT_XSPACE);
        if (is_stopped(w)) return;
        if (is_asked && !is_trace(w, dir, &files[i], &head)) continue;
        files[kept] = files[i];
        if (!sb_set_worker_stem(w, &files[kept++], &head)) {
            w->failed = SB_NOMEM;
            return;
        }
    }
    if (kept) sb_walk_workers(w, dir, files, kept);
}

static void walk_dir(sb_capture_walk *w, sb_slice dir, unsigned depth) {
    listing l = {.w = w};
    const sb_fs *fs = w->env->fs;
    sb_file_info info;
    bool is_new = false;
    uint32_t id;
    if (fs->stat(fs->ctx, (const char *)dir.p, &info) != 0 || !info.is_dir) return;
    uint64_t key[2] = {info.device, info.inode};
    if (sb_intern_add(&w->seen, sb_slice_of(key, sizeof key), &id, &is_new) != SB_OK) {
        w->failed = SB_NOMEM;
        return;
    }
    if (!is_new || (fs->kind && fs->kind(fs->ctx, (const char *)dir.p) == SB_FS_VIRTUAL)) return;
    fs->list(fs->ctx, (const char *)dir.p, keep_name, &l);
    if (l.names.n) qsort(l.names.items, l.names.n, sizeof l.names.items[0], compare_strings);
    take_files(w, dir, &l);
    for (size_t i = 0; i < l.names.n && w->failed == SB_OK && depth < MOST_DEPTH; i++) {
        sb_trace_file_name name;
        if (strstr(l.names.items[i], "tfevents") ||
            (sb_read_trace_name(l.names.items[i], &name) && !name.is_unsure))
            continue;
        if (is_stopped(w)) break;
        sb_arena_mark mark = sb_arena_here(w->arena);
        size_t before = w->found.n;
        sb_slice inner = sb_walk_join(w, dir, l.names.items[i]);
        if (inner.p) walk_dir(w, inner, depth + 1);
        if (w->found.n == before && w->failed == SB_OK) sb_arena_reset(w->arena, mark);
    }
    SB_VEC_FREE(&l.names, w->env->alloc);
}

static int compare_captures(const void *a, const void *b) {
    const sb_capture *x = a, *y = b;
    int order = sb_slice_cmp(x->run, y->run);
    if (order) return order;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return sb_slice_cmp(y->name, x->name);
}

static sb_status finish_walk(sb_capture_walk *w, sb_captures *out, sb_err *err) {
    *out = (sb_captures){0};
    if (w->failed == SB_OK && w->found.n) {
        qsort(w->found.items, w->found.n, sizeof w->found.items[0], compare_captures);
        out->items = sb_arena_get(w->arena, w->found.n * sizeof *out->items);
        if (!out->items) w->failed = SB_NOMEM;
    }
    if (w->failed == SB_OK && w->found.n) {
        memcpy(out->items, w->found.items, w->found.n * sizeof *out->items);
        out->n = w->found.n;
    }
    SB_VEC_FREE(&w->found, w->env->alloc);
    sb_intern_fini(&w->seen);
    return w->failed == SB_OK ? SB_OK : sb_fail_nomem(err, "for the list of captures");
}

sb_status sb_captures_find(sb_captures *out, const sb_env *env, const sb_capture_root *roots,
                           size_t root_count, sb_recognized *recognized, sb_arena *arena,
                           const _Atomic bool *stop, sb_err *err) {
    sb_capture_walk w = {.env = env, .arena = arena, .stop = stop, .recognized = recognized};
    sb_intern_init(&w.seen, env->alloc, 31, UINT32_MAX - 1);
    for (size_t i = 0; i < root_count && w.failed == SB_OK; i++) {
        sb_slice root = sb_arena_dup(arena, sb_slice_str(roots[i].path));
        while (root.n > 1 && root.p[root.n - 1] == '/') root.n--;
        sb_slice clean = sb_arena_dup(arena, root);
        if (!clean.p) {
            w.failed = SB_NOMEM;
            break;
        }
        w.prefix = roots[i].name;
        w.root_n = clean.n;
        walk_dir(&w, clean, 0);
    }
    return finish_walk(&w, out, err);
}
