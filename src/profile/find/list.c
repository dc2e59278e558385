/* list.c: the captures that a walk has found, and their files. */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "fsio/fs.h"
#include "profile/find/walk_int.h"
#include "base/banned.h"

#define MOST_CAPTURES 100000u

sb_slice sb_walk_join(sb_capture_walk *w, sb_slice dir, const char *name) {
    size_t n = strlen(name);
    uint8_t *p = sb_arena_get(w->arena, dir.n + n + 2);
    if (!p) {
        w->failed = SB_NOMEM;
        return (sb_slice){NULL, 0};
    }
    memcpy(p, dir.p, dir.n);
    p[dir.n] = '/';
    memcpy(p + dir.n + 1, name, n + 1);
    return sb_slice_of(p, dir.n + n + 1);
}

static sb_slice spelled(sb_capture_walk *w, sb_slice text) {
    sb_buf out;
    sb_alloc alloc = sb_arena_alloc(w->arena);
    sb_buf_init(&out, &alloc, 1 << 16);
    sb_utf8_spell(&out, text);
    return sb_buf_slice(&out);
}

/* The name of the run that a directory stands for: its path relative to the log directory. */
static sb_slice run_of(sb_capture_walk *w, sb_slice dir) {
    sb_slice below =
        dir.n > w->root_n ? sb_slice_of(dir.p + w->root_n + 1, dir.n - w->root_n - 1) : SB_LIT(".");
    below = spelled(w, below);
    if (!w->prefix || !*w->prefix) return below;
    sb_slice prefix = sb_slice_str(w->prefix);
    if (sb_slice_eq(below, SB_LIT("."))) return sb_arena_dup(w->arena, prefix);
    sb_slice whole = sb_arena_dup(w->arena, prefix);
    return whole.p ? sb_walk_join(w, whole, (const char *)sb_arena_dup(w->arena, below).p) : whole;
}

sb_capture *sb_walk_add(sb_capture_walk *w, sb_slice run, sb_slice name, sb_trace_format format) {
    sb_capture *c = SB_VEC_PUSH(&w->found, w->env->alloc, MOST_CAPTURES);
    if (!c) {
        w->failed = w->found.n < MOST_CAPTURES ? SB_NOMEM : w->failed;
        return NULL;
    }
    *c = (sb_capture){.format = format, .name = spelled(w, name)};
    c->run = run_of(w, run);
    return c;
}

bool sb_walk_add_file(sb_capture_walk *w, sb_capture *c, sb_slice dir, const char *file,
                      sb_slice name) {
    sb_file_info info;
    sb_slice path = sb_walk_join(w, dir, file);
    if (!path.p) return false;
    const sb_fs *fs = w->env->fs;
    if (fs->stat(fs->ctx, (const char *)path.p, &info) != 0 || !info.is_file) return true;
    if ((c->file_count & (c->file_count - 1)) == 0) { /* there is room up to a power of two */
        sb_alloc alloc = sb_arena_alloc(w->arena);
        size_t room = c->file_count ? 2 * c->file_count : 1;
        sb_capture_file *files =
            alloc.resize(alloc.ctx, c->files, c->file_count * sizeof *files, room * sizeof *files);
        if (!files) {
            w->failed = SB_NOMEM;
            return false;
        }
        c->files = files;
    }
    sb_slice shown =
        path.n > w->root_n + 1 ? sb_slice_of(path.p + w->root_n + 1, path.n - w->root_n - 1) : path;
    c->files[c->file_count++] = (sb_capture_file){.path = path,
                                                  .shown = spelled(w, shown),
                                                  .name = spelled(w, name),
                                                  .size = info.size,
                                                  .inode = info.inode,
                                                  .mtime_ns = info.mtime_ns,
                                                  .rank = -1,
                                                  .span = 1};
    c->bytes += info.size;
    if (info.mtime_ns > c->time_ns) c->time_ns = info.mtime_ns;
    return true;
}

/* Compares digits as numbers: rank2 comes before rank10. */
static int compare_files(const void *a, const void *b) {
    const sb_capture_file *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->name.n != y->name.n) return x->name.n < y->name.n ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

void sb_walk_drop(sb_capture_walk *w) {
    w->found.n--;
}

void sb_walk_set_ids(sb_capture_walk *w, sb_capture *c, sb_slice place) {
    if (c->file_count) qsort(c->files, c->file_count, sizeof c->files[0], compare_files);
    sb_buf text;
    sb_alloc alloc = sb_arena_alloc(w->arena);
    sb_buf_init(&text, &alloc, 1 << 20);
    sb_buf_add_slice(&text, place);
    sb_capture_set_id(c->id, sb_buf_slice(&text));
    for (size_t i = 0; i < c->file_count; i++)
        sb_buf_printf(&text, " %llu %llu %lld", (unsigned long long)c->files[i].size,
                      (unsigned long long)c->files[i].inode, (long long)c->files[i].mtime_ns);
    sb_capture_set_id(c->epoch, sb_buf_slice(&text));
}
