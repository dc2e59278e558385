/* discover.c: walks a log directory, breadth first.
 *
 * Every directory that is met becomes a node in a scratch arena that knows its parent, so that a
 * loop of links is seen by walking up. The names of one directory are collected, sorted, and looked
 * at one by one; files are put into a list, which becomes the result when the walk is over and the
 * number of runs is known. Directories that vanish during the walk are no problem; those that can't
 * be read are reported. */
#include "logdir/discover.h"

#include <errno.h>
#include <stdlib.h>

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

typedef struct node {
    struct node *parent;
    struct node *next; /* in the order of the walk */
    sb_slice path;     /* a NUL follows */
    uint64_t device, inode;
    uint32_t depth;
    bool is_bare; /* no event file is directly inside */
} node;

typedef struct file_item {
    struct file_item *next;
    sb_found_file file;
} file_item;

typedef struct run_item {
    struct run_item *next;
    sb_slice path;
    size_t file_count;
    file_item *files, **files_end;
} run_item;

typedef struct problem_item {
    struct problem_item *next;
    sb_found_problem problem;
} problem_item;

typedef struct walk {
    const sb_env *env;
    sb_arena *arena;  /* for what is handed out */
    sb_arena scratch; /* for the walk */
    sb_arena listed;  /* for one directory */
    size_t root_length;
    size_t names_left;
    uint32_t max_depth;
    node *last; /* of the queue */
    run_item *runs, **runs_end;
    size_t run_count, file_count;
    problem_item *problems, **problems_end;
    size_t problem_count;
    size_t bare_count;
    sb_buf text; /* for making paths and names */
} walk;

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
    if (l->w->names_left == 0) {
        l->status = SB_LIMIT;
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

static bool add_dir(walk *w, node *parent, sb_slice path, const sb_file_info *info) {
    if (is_inside_itself(parent, info)) return add_problem(w, path, ELOOP);
    if (parent->depth >= w->max_depth) return add_problem(w, path, E2BIG);
    node *n = sb_arena_get(&w->scratch, sizeof *n);
    if (!n) return false;
    *n = (node){.parent = parent,
                .path = sb_arena_dup(&w->scratch, path),
                .device = info->device,
                .inode = info->inode,
                .depth = parent->depth + 1};
    if (!n->path.p) return false;
    w->last->next = n;
    w->last = n;
    return true;
}

static bool add_file(walk *w, run_item **run, sb_slice dir, sb_slice path, size_t name_length,
                     const sb_file_info *info) {
    if (!*run) {
        run_item *fresh = sb_arena_get(&w->scratch, sizeof *fresh);
        if (!fresh) return false;
        *fresh = (run_item){.path = sb_arena_dup(w->arena, dir)};
        if (!fresh->path.p) return false;
        fresh->files_end = &fresh->files;
        *w->runs_end = fresh;
        w->runs_end = &fresh->next;
        w->run_count++;
        *run = fresh;
    }
    file_item *item = sb_arena_get(&w->scratch, sizeof *item);
    sb_slice copy = sb_arena_dup(w->arena, path);
    if (!item || !copy.p) return false;
    *item = (file_item){.file = {.path = copy,
                                 .name = {copy.p + copy.n - name_length, name_length},
                                 .size = info->size,
                                 .device = info->device,
                                 .inode = info->inode,
                                 .mtime_ns = info->mtime_ns}};
    *(*run)->files_end = item;
    (*run)->files_end = &item->next;
    (*run)->file_count++;
    w->file_count++;
    return true;
}

/* Looks at one name of a directory. */
static bool visit_name(walk *w, node *dir, sb_slice name, run_item **run) {
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
    if (info.is_file && sb_is_event_file(name))
        return add_file(w, run, dir->path, path, name.n, &info);
    return true;
}

/* All that is in one directory. */
static sb_status visit_all(walk *w, node *dir, sb_err *err) {
    const sb_fs *fs = w->env->fs;
    listing l = {.w = w};
    sb_arena_reset(&w->listed, (sb_arena_mark){0});
    int result = fs->list(fs->ctx, (const char *)dir->path.p, add_name, &l);
    if (l.status == SB_LIMIT)
        return sb_fail(err, SB_LIMIT, 0, "%s: there are too many files in here to look at",
                       (const char *)dir->path.p);
    if (l.status != SB_OK) return no_memory(err);
    if (result < 0 && !dir->parent)
        return sb_fail_errno(err, SB_IO, -result, "%s: can't read this directory",
                             (const char *)dir->path.p);
    if (result < 0 && result != -ENOENT && !add_problem(w, dir->path, -result))
        return no_memory(err);
    if (l.names.n) qsort(l.names.items, l.names.n, sizeof *l.names.items, by_bytes);
    run_item *run = NULL;
    for (size_t i = 0; i < l.names.n; i++)
        if (!visit_name(w, dir, l.names.items[i], &run)) return no_memory(err);
    dir->is_bare = !run;
    w->bare_count += dir->is_bare;
    return SB_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The run's name from the path of its directory. */
static sb_slice name_of(walk *w, sb_slice path) {
    sb_slice name = {path.p + w->root_length, path.n - w->root_length};
    while (name.n && name.p[0] == '/') name = (sb_slice){name.p + 1, name.n - 1};
    if (name.n == 0) return sb_arena_dup(w->arena, SB_LIT("."));
    sb_buf_clear(&w->text);
    sb_utf8_repair(&w->text, name);
    if (w->text.failed) return (sb_slice){NULL, 0};
    return sb_arena_dup(w->arena, sb_buf_slice(&w->text));
}

static int by_name(const void *a, const void *b) {
    const sb_found_run *x = a, *y = b;
    int order = sb_slice_cmp(x->name, y->name);
    return order ? order : sb_slice_cmp(x->path, y->path);
}

static bool make_result(walk *w, sb_found *out) {
    out->runs = sb_arena_zeroed(w->arena, w->run_count, sizeof *out->runs);
    sb_found_file *files = sb_arena_zeroed(w->arena, w->file_count, sizeof *files);
    out->problems = sb_arena_zeroed(w->arena, w->problem_count, sizeof *out->problems);
    if (!out->runs || !files || !out->problems) return false;
    for (const run_item *item = w->runs; item; item = item->next) {
        sb_found_run *run = &out->runs[out->run_count++];
        *run = (sb_found_run){.name = name_of(w, item->path), .path = item->path, .files = files};
        if (!run->name.p) return false;
        for (const file_item *file = item->files; file; file = file->next) *files++ = file->file;
        run->file_count = item->file_count;
    }
    for (const problem_item *item = w->problems; item; item = item->next)
        out->problems[out->problem_count++] = item->problem;
    out->file_count = w->file_count;
    if (out->run_count) qsort(out->runs, out->run_count, sizeof *out->runs, by_name);
    return true;
}

static bool list_bare(walk *w, const node *first, sb_found *out) {
    out->bare = sb_arena_zeroed(w->arena, w->bare_count, sizeof *out->bare);
    if (!out->bare) return false;
    for (const node *n = first; n; n = n->next) {
        if (!n->is_bare) continue;
        sb_slice path = sb_arena_dup(w->arena, n->path);
        if (!path.p) return false;
        out->bare[out->bare_count++] = path;
    }
    return true;
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
    if (!info.is_dir) {
        const uint8_t *slash = memrchr(root_path.p, '/', root_path.n);
        size_t name_length = slash ? root_path.n - (size_t)(slash + 1 - root_path.p) : root_path.n;
        run_item *run = NULL;
        out->is_file = true;
        if (!add_file(w, &run, root_path, root_path, name_length, &info)) return no_memory(err);
        return make_result(w, out) ? SB_OK : no_memory(err);
    }
    node root = {.path = root_path, .device = info.device, .inode = info.inode};
    w->last = &root;
    for (node *n = &root; n; n = n->next) {
        sb_status status = visit_all(w, n, err);
        if (status != SB_OK) return status;
    }
    return make_result(w, out) && list_bare(w, &root, out) ? SB_OK : no_memory(err);
}

sb_status sb_discover(sb_found *out, const sb_env *env, sb_arena *arena, const char *path,
                      const sb_discover_opts *opts, sb_err *err) {
    *out = (sb_found){0};
    walk w = {.env = env, .arena = arena};
    w.names_left = opts && opts->max_names ? opts->max_names : DEFAULT_NAMES;
    w.max_depth = opts && opts->max_depth ? opts->max_depth : DEFAULT_DEPTH;
    w.runs_end = &w.runs;
    w.problems_end = &w.problems;
    sb_arena_init(&w.scratch, env->alloc, SCRATCH_BLOCK, SCRATCH_CAP);
    sb_arena_init(&w.listed, env->alloc, SCRATCH_BLOCK, SCRATCH_CAP);
    sb_buf_init(&w.text, env->alloc, 1 << 20);
    sb_status status = walk_all(&w, out, path, err);
    sb_buf_fini(&w.text);
    sb_arena_fini(&w.listed);
    sb_arena_fini(&w.scratch);
    if (status != SB_OK) *out = (sb_found){0};
    return status;
}
