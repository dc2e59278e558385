/* discover.c: walks a log directory, breadth first.
 *
 * Every directory that is met becomes a node in a scratch arena that knows its parent, so that a
 * loop of links is seen by walking up. Directories behind links wait in a second queue until all
 * others were visited, and a table counts how often each directory (device, inode) was entered. The
 * names of one directory are collected, sorted, and looked at one by one; its event files become a
 * run. Directories that vanish during the walk are no problem; those that can't be read, and those
 * that are left out, are reported. */
#include "logdir/discover.h"

#include <errno.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define SCRATCH_BLOCK ((size_t)64 << 10)
#define SCRATCH_CAP ((size_t)4 << 30)
#define DEFAULT_NAMES ((size_t)10 << 20)
#define DEFAULT_DEPTH 128
#define MOST_PROBLEMS 1000
#define MOST_NAMES_OF_A_DIR 4
#define MOST_DIRS ((uint32_t)64 << 20)

typedef struct node {
    struct node *parent;
    struct node *next; /* in the order of the walk */
    sb_slice path;     /* a NUL follows */
    uint64_t device, inode;
    uint32_t depth;
    bool is_behind_link; /* it, or a directory above it, is a symbolic link */
    bool is_bare;        /* no event file is directly inside */
} node;

typedef struct node_queue {
    node *first, **end;
} node_queue;

typedef struct run_item {
    struct run_item *next;
    sb_found_run run;
} run_item;

typedef struct problem_item {
    struct problem_item *next;
    sb_found_problem problem;
} problem_item;

typedef struct walk {
    const sb_env *env;
    const sb_discover_opts *opts;
    sb_arena *arena;  /* for what is handed out */
    sb_arena scratch; /* for the walk */
    sb_arena listed;  /* for one directory */
    size_t root_length;
    size_t names_left;
    uint32_t max_depth;
    node_queue plain, links; /* directories to visit: those behind links come last */
    node *visited, **visited_end;
    sb_intern dirs;          /* the directories entered so far, by device and inode */
    SB_VEC(uint8_t) entered; /* by id in dirs: under how many names */
    run_item *runs, **runs_end;
    size_t run_count, file_count;
    problem_item *problems, **problems_end;
    size_t problem_count;
    size_t bare_count;
    SB_VEC(sb_found_file) files; /* of the present directory, in the arena listed */
    sb_buf text;                 /* for making paths and names */
} walk;

const char *sb_left_out_text(int error) {
    switch (error) {
    case SB_LEFT_OUT_LOOP:
        return "left out: the directory is inside itself (a loop of links)";
    case SB_LEFT_OUT_ALIAS:
        return "left out: a further link to a directory that is shown under other names";
    case SB_LEFT_OUT_DEPTH:
        return "left out: too many directories inside each other; give a log directory nearer to "
               "the runs";
    case SB_LEFT_OUT_VIRTUAL:
        return "left out: a file system of the kernel, such as /proc or /sys, holds no logs";
    case SB_LEFT_OUT_LIMIT:
        return "only a part was searched: there are too many files; give a log directory with "
               "fewer";
    default:
        return strerror(error);
    }
}

bool sb_left_out_may_hide(int error) {
    return error != SB_LEFT_OUT_LOOP && error != SB_LEFT_OUT_ALIAS && error != SB_LEFT_OUT_DEPTH &&
           error != SB_LEFT_OUT_VIRTUAL;
}

static bool is_stopped(const walk *w) {
    return w->opts && w->opts->stop && atomic_load_explicit(w->opts->stop, memory_order_relaxed);
}

bool sb_is_event_file(sb_slice name) {
    return name.n > 0 && memmem(name.p, name.n, "tfevents", 8) != NULL;
}

static sb_status no_memory(sb_err *err) {
    return sb_fail_nomem(err, "while looking for runs");
}

/* ---- the names in one directory -------------------------------------------------------------- */

typedef struct listing {
    walk *w;
    SB_VEC(sb_slice) names;
    sb_status status;
} listing;

static int add_name(void *ud, const char *name) {
    listing *l = ud;
    if (l->w->names_left == 0 || is_stopped(l->w)) {
        l->status = l->w->names_left ? SB_CANCELLED : SB_LIMIT;
        return 1;
    }
    l->w->names_left--;
    sb_slice copy = sb_arena_dup(&l->w->listed, sb_slice_str(name));
    sb_alloc in_arena = sb_arena_alloc(&l->w->listed);
    sb_slice *slot = copy.p ? SB_VEC_PUSH(&l->names, &in_arena, SIZE_MAX) : NULL;
    if (!slot) {
        l->status = SB_NOMEM;
        return 1;
    }
    *slot = copy;
    return 0;
}

static int by_bytes(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static bool add_problem(walk *w, sb_slice path, int error) {
    if (w->problem_count == MOST_PROBLEMS) return true;
    problem_item *item = sb_arena_get(&w->scratch, sizeof *item);
    sb_slice copy = sb_arena_dup(w->arena, path);
    if (!item || !copy.p) return false;
    *item = (problem_item){.problem = {.path = copy, .error = error}};
    *w->problems_end = item;
    w->problems_end = &item->next;
    w->problem_count++;
    return true;
}

/* ---- one name ----------------------------------------------------------------------------------
 */

static bool is_inside_itself(const node *parent, const sb_file_info *info) {
    for (; parent; parent = parent->parent)
        if (parent->device == info->device && parent->inode == info->inode) return true;
    return false;
}

static void enqueue(node_queue *q, node *n) {
    *q->end = n;
    q->end = &n->next;
}

static node *dequeue(node_queue *q) {
    node *n = q->first;
    if (!n) return NULL;
    q->first = n->next;
    if (!q->first) q->end = &q->first;
    n->next = NULL;
    return n;
}

/* Under how many names this directory was entered, as a place to count in; NULL: no memory. */
static uint8_t *count_of(walk *w, const node *n) {
    uint64_t key[2] = {n->device, n->inode};
    uint32_t id;
    bool is_new;
    if (sb_intern_add(&w->dirs, sb_slice_of(key, sizeof key), &id, &is_new) != SB_OK) return NULL;
    if (is_new) {
        uint8_t *count = SB_VEC_PUSH(&w->entered, w->env->alloc, SIZE_MAX);
        if (!count) return NULL;
        *count = 0;
    }
    return &w->entered.items[id];
}

static bool add_dir(walk *w, node *parent, sb_slice path, const sb_file_info *info) {
    const sb_fs *fs = w->env->fs;
    const char *p = (const char *)path.p;
    if (is_inside_itself(parent, info)) return add_problem(w, path, SB_LEFT_OUT_LOOP);
    if (parent->depth >= w->max_depth) return add_problem(w, path, SB_LEFT_OUT_DEPTH);
    if (info->device != parent->device && fs->kind && fs->kind(fs->ctx, p) == SB_FS_VIRTUAL)
        return add_problem(w, path, SB_LEFT_OUT_VIRTUAL);
    node *n = sb_arena_get(&w->scratch, sizeof *n);
    if (!n) return false;
    *n = (node){.parent = parent,
                .path = sb_arena_dup(&w->scratch, path),
                .device = info->device,
                .inode = info->inode,
                .depth = parent->depth + 1,
                .is_behind_link =
                    parent->is_behind_link || (fs->is_link && fs->is_link(fs->ctx, p))};
    if (!n->path.p) return false;
    enqueue(n->is_behind_link ? &w->links : &w->plain, n);
    return true;
}

static bool add_file(walk *w, sb_slice path, size_t name_length, const sb_file_info *info) {
    sb_alloc in_arena = sb_arena_alloc(&w->listed);
    sb_slice copy = sb_arena_dup(w->arena, path);
    sb_found_file *file = copy.p ? SB_VEC_PUSH(&w->files, &in_arena, SIZE_MAX) : NULL;
    if (!file) return false;
    *file = (sb_found_file){.path = copy,
                            .name = {copy.p + copy.n - name_length, name_length},
                            .size = info->size,
                            .device = info->device,
                            .inode = info->inode,
                            .mtime_ns = info->mtime_ns};
    return true;
}

/* Looks at one name of a directory. */
static bool visit_name(walk *w, node *dir, sb_slice name) {
    sb_buf_clear(&w->text);
    sb_buf_add_slice(&w->text, dir->path);
    if (dir->path.n && dir->path.p[dir->path.n - 1] != '/') sb_buf_add_byte(&w->text, '/');
    sb_buf_add_slice(&w->text, name);
    sb_buf_add_byte(&w->text, 0);
    if (w->text.failed) return false;
    sb_slice path = {w->text.p, w->text.n - 1};
    sb_file_info info;
    int known = w->env->fs->stat(w->env->fs->ctx, (const char *)path.p, &info);
    if (known == -ENOENT || known == -ENOTDIR) return true; /* vanished, or a link to nowhere */
    if (known < 0) return add_problem(w, path, -known);
    if (info.is_dir) return add_dir(w, dir, path, &info);
    if (info.is_file && sb_is_event_file(name)) return add_file(w, path, name.n, &info);
    return true;
}

/* The run's name from the path of its directory. */
static sb_slice run_name_of(walk *w, sb_slice path) {
    sb_slice name = {path.p + w->root_length, path.n - w->root_length};
    while (name.n && name.p[0] == '/') name = (sb_slice){name.p + 1, name.n - 1};
    if (name.n == 0) return sb_arena_dup(w->arena, SB_LIT("."));
    sb_buf_clear(&w->text);
    sb_utf8_spell(&w->text, name);
    if (w->text.failed) return (sb_slice){NULL, 0};
    return sb_arena_dup(w->arena, sb_buf_slice(&w->text));
}

/* The event files collected in w->files become the run of this directory. */
static const sb_found_run *add_run(walk *w, sb_slice dir, sb_slice name) {
    run_item *item = sb_arena_get(&w->scratch, sizeof *item);
    sb_found_file *files = sb_arena_zeroed(w->arena, w->files.n, sizeof *files);
    sb_slice path = sb_arena_dup(w->arena, dir);
    if (!item || !files || !path.p || !name.p) return NULL;
    memcpy(files, w->files.items, w->files.n * sizeof *files);
    *item =
        (run_item){.run = {.name = name, .path = path, .files = files, .file_count = w->files.n}};
    *w->runs_end = item;
    w->runs_end = &item->next;
    w->run_count++;
    w->file_count += w->files.n;
    return &item->run;
}

/* Lists the names of a directory. SB_LIMIT: only a part of them. */
static sb_status list_names(walk *w, const node *dir, listing *l, sb_err *err) {
    const sb_fs *fs = w->env->fs;
    sb_arena_reset(&w->listed, (sb_arena_mark){0});
    w->files.items = NULL;
    w->files.n = w->files.room = 0;
    int result = fs->list(fs->ctx, (const char *)dir->path.p, add_name, l);
    if (l->status == SB_NOMEM) return no_memory(err);
    if (l->status == SB_CANCELLED) return SB_CANCELLED;
    if (result < 0 && !dir->parent)
        return sb_fail_errno(err, SB_IO, -result, "%s: can't read this directory",
                             (const char *)dir->path.p);
    if (result < 0 && result != -ENOENT && !add_problem(w, dir->path, -result))
        return no_memory(err);
    if (l->names.n) qsort(l->names.items, l->names.n, sizeof *l->names.items, by_bytes);
    return l->status;
}

/* Everything in one directory. SB_LIMIT: the walk is over. */
static sb_status visit_dir(walk *w, node *dir, sb_err *err) {
    listing l = {.w = w};
    sb_status status = list_names(w, dir, &l, err);
    if (status != SB_OK && status != SB_LIMIT) return status;
    for (size_t i = 0; i < l.names.n; i++) {
        if (is_stopped(w)) return SB_CANCELLED;
        if (!visit_name(w, dir, l.names.items[i])) return no_memory(err);
    }
    const sb_found_run *run = NULL;
    if (w->files.n && !(run = add_run(w, dir->path, run_name_of(w, dir->path))))
        return no_memory(err);
    dir->is_bare = !run;
    w->bare_count += dir->is_bare;
    *w->visited_end = dir;
    w->visited_end = &dir->next;
    if (w->opts && w->opts->each_dir) w->opts->each_dir(w->opts->ctx, run);
    return status;
}

/* The next directory of the walk, unless it was entered under enough names. Directories that are
 * reached without a link are always entered. */
static sb_status next_dir(walk *w, node **out, sb_err *err) {
    for (;;) {
        node *n = dequeue(&w->plain);
        if (!n) n = dequeue(&w->links);
        *out = n;
        if (!n) return SB_OK;
        uint8_t *count = count_of(w, n);
        if (!count) return no_memory(err);
        bool is_enough = n->is_behind_link && *count >= MOST_NAMES_OF_A_DIR;
        if (*count < UINT8_MAX) (*count)++;
        if (!is_enough) return SB_OK;
        if (!add_problem(w, n->path, SB_LEFT_OUT_ALIAS)) return no_memory(err);
    }
}

/* ---- the result ------------------------------------------------------------------------------ */

static int runs_by_name(const void *a, const void *b) {
    const sb_found_run *x = a, *y = b;
    int order = sb_slice_cmp(x->name, y->name);
    return order ? order : sb_slice_cmp(x->path, y->path);
}

static bool make_result(walk *w, sb_found *out) {
    out->runs = sb_arena_zeroed(w->arena, w->run_count, sizeof *out->runs);
    out->problems = sb_arena_zeroed(w->arena, w->problem_count, sizeof *out->problems);
    if (!out->runs || !out->problems) return false;
    for (const run_item *item = w->runs; item; item = item->next)
        out->runs[out->run_count++] = item->run;
    for (const problem_item *item = w->problems; item; item = item->next)
        out->problems[out->problem_count++] = item->problem;
    out->file_count = w->file_count;
    if (out->run_count) qsort(out->runs, out->run_count, sizeof *out->runs, runs_by_name);
    return true;
}

static bool list_bare(walk *w, sb_found *out) {
    out->bare = sb_arena_zeroed(w->arena, w->bare_count, sizeof *out->bare);
    if (!out->bare) return false;
    for (const node *n = w->visited; n; n = n->next) {
        if (!n->is_bare) continue;
        sb_slice path = sb_arena_dup(w->arena, n->path);
        if (!path.p) return false;
        out->bare[out->bare_count++] = path;
    }
    return true;
}

static sb_status take_one_file(walk *w, sb_found *out, sb_slice path, const sb_file_info *info,
                               sb_err *err) {
    const uint8_t *slash = memrchr(path.p, '/', path.n);
    size_t name_length = slash ? path.n - (size_t)(slash + 1 - path.p) : path.n;
    out->is_file = true;
    bool is_done = add_file(w, path, name_length, info) &&
                   add_run(w, path, sb_arena_dup(w->arena, SB_LIT("."))) && make_result(w, out);
    return is_done ? SB_OK : no_memory(err);
}

static sb_status walk_all(walk *w, sb_found *out, const char *path, sb_err *err) {
    sb_file_info info;
    int known = w->env->fs->stat(w->env->fs->ctx, path, &info);
    if (known < 0)
        return sb_fail_errno(err, known == -ENOENT ? SB_NOT_FOUND : SB_IO, -known,
                             "%s: can't look at this", path);
    sb_slice root_path = sb_arena_dup(w->arena, sb_slice_str(path));
    if (!root_path.p) return no_memory(err);
    w->root_length = root_path.n;
    if (!info.is_dir) return take_one_file(w, out, root_path, &info, err);
    node root = {.path = root_path, .device = info.device, .inode = info.inode};
    enqueue(&w->plain, &root);
    for (;;) {
        node *dir;
        sb_status status = next_dir(w, &dir, err);
        if (status != SB_OK) return status;
        if (!dir) break;
        status = visit_dir(w, dir, err);
        if (status == SB_CANCELLED)
            return sb_fail(err, status, 0, "%s: the search was ended", path);
        if (status == SB_LIMIT && !add_problem(w, root_path, SB_LEFT_OUT_LIMIT))
            return no_memory(err);
        if (status == SB_LIMIT) break;
        if (status != SB_OK) return status;
    }
    return make_result(w, out) && list_bare(w, out) ? SB_OK : no_memory(err);
}

sb_status sb_discover(sb_found *out, const sb_env *env, sb_arena *arena, const char *path,
                      const sb_discover_opts *opts, sb_err *err) {
    *out = (sb_found){0};
    walk w = {.env = env, .arena = arena, .opts = opts};
    w.names_left = opts && opts->max_names ? opts->max_names : DEFAULT_NAMES;
    w.max_depth = opts && opts->max_depth ? opts->max_depth : DEFAULT_DEPTH;
    w.plain.end = &w.plain.first;
    w.links.end = &w.links.first;
    w.visited_end = &w.visited;
    w.runs_end = &w.runs;
    w.problems_end = &w.problems;
    sb_arena_init(&w.scratch, env->alloc, SCRATCH_BLOCK, SCRATCH_CAP);
    sb_arena_init(&w.listed, env->alloc, SCRATCH_BLOCK, SCRATCH_CAP);
    sb_intern_init(&w.dirs, env->alloc, (uint64_t)(uintptr_t)&w, MOST_DIRS);
    sb_buf_init(&w.text, env->alloc, 1 << 20);
    sb_status status = walk_all(&w, out, path, err);
    sb_buf_fini(&w.text);
    SB_VEC_FREE(&w.entered, env->alloc);
    sb_intern_fini(&w.dirs);
    sb_arena_fini(&w.listed);
    sb_arena_fini(&w.scratch);
    if (status != SB_OK) *out = (sb_found){0};
    return status;
}
