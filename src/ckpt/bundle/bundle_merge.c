/* bundle_merge.c: joins checkpoints into one, and removes one. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/bundle/publish.h"
#include "base/banned.h"

typedef struct merge {
    const sb_env *env;
    sb_bundle **parts;
    size_t count;
    sb_bundle_entries entries;
    SB_VEC(char *) data; /* paths of the data files in their new order */
    sb_arena arena;
} merge;

/* The number that a part's data file gets, given when it is first met. */
static sb_status number_of(merge *m, const sb_bundle *b, uint32_t shard, uint32_t **numbers,
                           uint32_t *out, sb_err *err) {
    if (shard >= b->shards)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: names data file %u of %u", SB_SHOWN(b->prefix),
                       shard, b->shards);
    if (!*numbers) *numbers = sb_arena_zeroed(&m->arena, b->shards, sizeof **numbers);
    if (!*numbers) return sb_fail_nomem(err, "for merging checkpoints");
    if ((*numbers)[shard] == 0) {
        char path[SB_CKPT_PATH];
        sb_status status = sb_bundle_data_path(b, shard, path, sizeof path, err);
        if (status != SB_OK) return status;
        char **slot = SB_VEC_PUSH(&m->data, m->env->alloc, UINT32_MAX - 1);
        char *copy = slot ? (char *)(uintptr_t)sb_arena_dup(&m->arena, sb_slice_str(path)).p : NULL;
        if (!copy) return sb_fail_nomem(err, "for merging checkpoints");
        *slot = copy;
        (*numbers)[shard] = (uint32_t)m->data.n; /* the number + 1 */
    }
    *out = (*numbers)[shard] - 1;
    return SB_OK;
}

static sb_status add_part(merge *m, const sb_bundle *b, sb_err *err) {
    uint32_t *numbers = NULL;
    const sb_bundle_entries *const lists[] = {&b->pieces, &b->tensors}; /* the order of keys */
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++) {
            sb_bundle_tensor *t = SB_VEC_PUSH(&m->entries, m->env->alloc, SIZE_MAX);
            if (!t) return sb_fail_nomem(err, "for merging checkpoints");
            *t = lists[k]->items[i];
            if (t->slice_count) continue;
            sb_status status = number_of(m, b, t->shard, &numbers, &t->shard, err);
            if (status != SB_OK) return status;
        }
    return SB_OK;
}

static sb_status open_parts(merge *m, const char *const *prefixes, sb_err *err) {
    for (size_t i = 0; i < m->count; i++) {
        sb_status status = sb_bundle_open(&m->parts[i], m->env->fs, m->env->alloc, NULL,
                                          sb_slice_str(prefixes[i]), NULL, err);
        if (status != SB_OK) return status;
        if (m->parts[i]->format != SB_BUNDLE_V2 ||
            m->parts[i]->is_swapped != m->parts[0]->is_swapped)
            return sb_fail(err, SB_INVALID, 0,
                           "%s: is of another version or byte order than %s; these can't be merged",
                           prefixes[i], prefixes[0]);
        status = add_part(m, m->parts[i], err);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* The data file of an empty checkpoint, which no entry names, is left out: then there is none at
 * all and an empty one is made. */
static sb_status need_one_file(merge *m, const char *prefix, sb_err *err) {
    if (m->data.n) return SB_OK;
    uint64_t seed = m->env->clock->wall(m->env->clock->ctx);
    char *path;
    size_t size;
    int file;
    sb_status status = sb_open_temporary(&file, m->env, prefix, &seed, &path, &size, err);
    if (status != SB_OK) return status;
    m->env->fs->close(m->env->fs->ctx, file);
    char **slot = SB_VEC_PUSH(&m->data, m->env->alloc, UINT32_MAX - 1);
    if (slot) *slot = (char *)(uintptr_t)sb_arena_dup(&m->arena, sb_slice_str(path)).p;
    bool is_kept = slot && *slot;
    if (!is_kept) m->env->fs->remove(m->env->fs->ctx, path);
    sb_alloc_put(m->env->alloc, path, size);
    return is_kept ? SB_OK : sb_fail_nomem(err, "for merging checkpoints");
}

static void remove_part(const sb_env *env, const char *prefix, const char *result) {
    char path[SB_CKPT_PATH];
    int n = snprintf(path, sizeof path, "%s.index", prefix);
    if (n > 0 && (size_t)n < sizeof path && strcmp(prefix, result) != 0)
        env->fs->remove(env->fs->ctx, path);
    char dir[SB_CKPT_PATH], kept[SB_CKPT_PATH];
    if (!sb_directory_of(dir, prefix) || !sb_directory_of(kept, result)) return;
    if (strcmp(dir, kept) != 0) env->fs->remove(env->fs->ctx, dir); /* works when it is empty */
}

static sb_status publish_merged(merge *m, const char *prefix, bool no_sync, sb_err *err) {
    char dir[SB_CKPT_PATH];
    if (!sb_directory_of(dir, prefix))
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", prefix);
    sb_status status = sb_fs_make_dirs(m->env->fs, m->env->alloc, dir, err);
    if (status == SB_OK) status = need_one_file(m, prefix, err);
    if (status != SB_OK) return status;
    return sb_publish_bundle(&(sb_publish){.env = m->env,
                                           .prefix = prefix,
                                           .is_synced = !no_sync,
                                           .is_big_endian = m->count && m->parts[0]->is_swapped,
                                           .entries = &m->entries,
                                           .data = m->data.items,
                                           .shards = (uint32_t)m->data.n,
                                           .is_moved = true,
                                           .seed = m->env->clock->wall(m->env->clock->ctx)},
                             err);
}

sb_status sb_bundle_merge(const sb_env *env, const char *const *prefixes, size_t count,
                          const char *prefix, const sb_bundle_writer_opts *opts, sb_err *err) {
    merge m = {.env = env, .count = count};
    sb_arena_init(&m.arena, env->alloc, 4096, SIZE_MAX / 2);
    if (count == 0)
        return sb_fail(err, SB_INVALID, 0, "%s: nothing was given to merge into it", prefix);
    m.parts = sb_alloc_zeroed(env->alloc, count, sizeof *m.parts);
    sb_status status = m.parts ? open_parts(&m, prefixes, err) : sb_fail_nomem(err, "for merging");
    if (status == SB_OK) status = publish_merged(&m, prefix, opts && opts->no_sync, err);
    for (size_t i = 0; m.parts && i < count; i++) sb_bundle_close(m.parts[i]);
    sb_alloc_put(env->alloc, m.parts, count * sizeof *m.parts);
    SB_VEC_FREE(&m.entries, env->alloc);
    SB_VEC_FREE(&m.data, env->alloc);
    sb_arena_fini(&m.arena);
    for (size_t i = 0; i < count && status == SB_OK; i++) remove_part(env, prefixes[i], prefix);
    return status;
}

bool sb_bundle_id_eq(sb_bundle_id a, sb_bundle_id b) {
    return a.device == b.device && a.inode == b.inode && a.mtime_ns == b.mtime_ns;
}

sb_bundle_id sb_bundle_identify(const sb_env *env, const char *prefix) {
    char path[SB_CKPT_PATH];
    sb_file_info info;
    int n = snprintf(path, sizeof path, "%s.index", prefix);
    if (n < 0 || (size_t)n >= sizeof path || env->fs->stat(env->fs->ctx, path, &info) < 0)
        return (sb_bundle_id){0};
    return (sb_bundle_id){info.device, info.inode, info.mtime_ns};
}

sb_status sb_bundle_remove(const sb_env *env, const char *prefix, const sb_bundle_id *only,
                           sb_err *err) {
    static const char *const suffixes[] = {".index", ".meta"};
    if (only && !sb_bundle_id_eq(*only, sb_bundle_identify(env, prefix))) return SB_OK;
    for (size_t i = 0; i < 2; i++) {
        char path[SB_CKPT_PATH];
        int n = snprintf(path, sizeof path, "%s%s", prefix, suffixes[i]);
        if (n < 0 || (size_t)n >= sizeof path)
            return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", prefix);
        int result = env->fs->remove(env->fs->ctx, path);
        if (result < 0 && result != -ENOENT)
            return sb_fail_errno(err, SB_IO, -result, "%s: can't remove this", path);
        if (i == 0) sb_remove_data_files(env, prefix, 0);
    }
    return SB_OK;
}
