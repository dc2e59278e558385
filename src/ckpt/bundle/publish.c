/* publish.c: encodes the index, renames everything into place, cleans up. */
#include "ckpt/bundle/publish.h"

#include <errno.h>
#include <stdio.h>

#include "base/slice.h"
#include "ckpt/table/table_write.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

#define MAX_INDEX ((size_t)1 << 31)
#define MOST_SHARDS 99999 /* five digits */

/* ---- the index ------------------------------------------------------------------------------- */

static void add_shape(sb_buf *b, const sb_bundle_tensor *t) {
    size_t shape = sb_pb_begin(b, SB_BUNDLE_ENTRY_SHAPE, 4 * (size_t)t->rank);
    for (uint32_t d = 0; d < t->rank; d++) {
        size_t dim = sb_pb_begin(b, SB_SHAPE_DIM, 2);
        sb_pb_add_int_nz(b, SB_DIM_SIZE, t->dims[d]);
        sb_pb_end(b, dim);
    }
    sb_pb_end(b, shape);
}

static void add_slices(sb_buf *b, const sb_bundle_tensor *t) {
    const int64_t *pair = t->extents;
    for (uint32_t i = 0; i < t->slice_count; i++) {
        size_t slice = sb_pb_begin(b, SB_BUNDLE_ENTRY_SLICES, 8 * (size_t)t->rank);
        for (uint32_t d = 0; d < t->rank; d++, pair += 2) {
            size_t extent = sb_pb_begin(b, SB_TENSOR_SLICE_EXTENT, 4);
            if (pair[1] >= 0) {
                sb_pb_add_int_nz(b, SB_TENSOR_EXTENT_START, pair[0]);
                sb_pb_add_int(b, SB_TENSOR_EXTENT_LENGTH, pair[1]);
            }
            sb_pb_end(b, extent);
        }
        sb_pb_end(b, slice);
    }
}

static void add_bundle_entry(sb_buf *b, const sb_bundle_tensor *t) {
    sb_pb_add_uint(b, SB_BUNDLE_ENTRY_DTYPE, (uint64_t)t->dtype);
    add_shape(b, t);
    sb_pb_add_uint_nz(b, SB_BUNDLE_ENTRY_SHARD_ID, t->shard);
    sb_pb_add_uint_nz(b, SB_BUNDLE_ENTRY_OFFSET, t->offset);
    sb_pb_add_uint_nz(b, SB_BUNDLE_ENTRY_SIZE, t->size);
    if (t->crc) {
        uint8_t crc[4];
        sb_store32(crc, t->crc);
        sb_pb_add_key(b, SB_BUNDLE_ENTRY_CRC32C, SB_PB_FIXED32);
        sb_buf_add(b, crc, sizeof crc);
    }
    add_slices(b, t);
}

static void add_header(sb_buf *b, const sb_publish *p, uint32_t shards) {
    sb_pb_add_uint_nz(b, SB_BUNDLE_HEADER_NUM_SHARDS, shards);
    sb_pb_add_uint_nz(b, SB_BUNDLE_HEADER_ENDIANNESS, p->is_big_endian);
    size_t version = sb_pb_begin(b, SB_BUNDLE_HEADER_VERSION, 2);
    sb_pb_add_uint(b, SB_VERSIONS_PRODUCER, 1);
    sb_pb_end(b, version);
}

/* Sorts, and joins the entries that each piece of a partitioned variable brought, in the order in
 * which they were added (count, which is not written, holds it). */
static sb_status sort_entries(const sb_publish *p, sb_arena *arena, sb_err *err) {
    const sb_bundle_tensor *twice;
    for (size_t i = 0; i < p->entries->n; i++) p->entries->items[i].count = i;
    if (!sb_bundle_sort_and_join(p->entries, arena, &twice))
        return sb_fail_nomem(err, "for a checkpoint's index");
    if (!twice) return SB_OK;
    return sb_fail(err, SB_INVALID, 0,
                   "%s: '%.*s' was added twice; names must differ, and the pieces of a variable "
                   "must have one type and shape",
                   p->prefix, SB_SHOWN(twice->name));
}

static sb_status build_index(const sb_publish *p, uint32_t shards, sb_table_writer *table,
                             sb_slice *out, sb_err *err) {
    sb_buf value;
    sb_buf_init(&value, p->env->alloc, MAX_INDEX);
    add_header(&value, p, shards);
    sb_table_writer_add(table, SB_LIT(""), sb_buf_slice(&value));
    for (size_t i = 0; i < p->entries->n && value.failed == SB_OK; i++) {
        sb_buf_clear(&value);
        add_bundle_entry(&value, &p->entries->items[i]);
        sb_table_writer_add(table, p->entries->items[i].name, sb_buf_slice(&value));
    }
    sb_status status = sb_buf_check(&value, "an entry of a checkpoint", err);
    sb_buf_fini(&value);
    return status == SB_OK ? sb_table_writer_finish(table, out, err) : status;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool sb_directory_of(char dir[SB_CKPT_PATH], const char *path) {
    const char *slash = strrchr(path, '/');
    const char *from = slash ? path : ".";
    size_t n = !slash || slash == path ? 1 : (size_t)(slash - path);
    if (n >= SB_CKPT_PATH) return false;
    memcpy(dir, from, n);
    dir[n] = 0;
    return true;
}

/* Where locks are refused the renames are still atomic, each by itself. */
int sb_lock_directory(const sb_fs *fs, const char *dir) {
    int lock = fs->lock ? fs->open(fs->ctx, dir, SB_OPEN_READ) : -1;
    if (lock >= 0) fs->lock(fs->ctx, lock);
    return lock;
}

void sb_unlock_directory(const sb_fs *fs, int lock) {
    if (lock >= 0) fs->close(fs->ctx, lock);
}

sb_status sb_sync_directory(const sb_fs *fs, const char *dir, sb_err *err) {
    int file = fs->open(fs->ctx, dir, SB_OPEN_READ);
    int result = file < 0 ? file : fs->sync(fs->ctx, file);
    if (file >= 0) fs->close(fs->ctx, file);
    /* Some file systems have no fsync for directories; they need none. */
    if (result == -EINVAL || result == -ENOTSUP || result == -EBADF) result = 0;
    return result < 0
               ? sb_fail_errno(err, SB_IO, -result, "%s: can't make this directory durable", dir)
               : SB_OK;
}

sb_status sb_open_temporary(int *file, const sb_env *env, const char *base, uint64_t *seed,
                            char **path, size_t *path_size, sb_err *err) {
    *path_size = strlen(base) + 40;
    *path = sb_alloc_get(env->alloc, *path_size);
    *file = -EEXIST;
    if (!*path) return sb_fail_nomem(err, "for a path");
    for (int tries = 0; tries < 100 && *file == -EEXIST; tries++) {
        /* a step of a linear congruential generator */
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        snprintf(*path, *path_size, "%s.tempstate%llu", base, (unsigned long long)*seed);
        *file = env->fs->open(env->fs->ctx, *path, SB_OPEN_NEW);
    }
    if (*file >= 0) return SB_OK;
    sb_alloc_put(env->alloc, *path, *path_size);
    *path = NULL;
    return sb_fail_errno(err, SB_IO, -*file, "%s: can't write a file beside this", base);
}

typedef struct old_files {
    const sb_env *env;
    const char *dir;
    sb_slice base; /* "ckpt-7.data-" */
    uint32_t kept; /* the total of data files that stay; 0: none stays */
} old_files;

static bool is_five_digits(const char *p) {
    for (int i = 0; i < 5; i++)
        if (p[i] < '0' || p[i] > '9') return false;
    return true;
}

static int remove_if_old(void *ud, const char *name) {
    const old_files *old = ud;
    if (!sb_slice_starts(sb_slice_str(name), old->base)) return 0;
    const char *rest = name + old->base.n;
    char total[16];
    snprintf(total, sizeof total, "%05u", old->kept);
    bool is_old = strlen(rest) == 14 && is_five_digits(rest) && strncmp(rest + 5, "-of-", 4) == 0 &&
                  is_five_digits(rest + 9) && strcmp(rest + 9, total) != 0;
    char path[SB_CKPT_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", old->dir, name);
    if (is_old && n > 0 && (size_t)n < sizeof path) old->env->fs->remove(old->env->fs->ctx, path);
    return 0;
}

void sb_remove_data_files(const sb_env *env, const char *prefix, uint32_t kept) {
    char base[SB_CKPT_PATH], dir[SB_CKPT_PATH];
    const char *slash = strrchr(prefix, '/');
    int n = snprintf(base, sizeof base, "%s.data-", slash ? slash + 1 : prefix);
    if (n < 0 || (size_t)n >= sizeof base || !sb_directory_of(dir, prefix)) return;
    old_files old = {env, dir, sb_slice_of(base, (size_t)n), kept};
    env->fs->list(env->fs->ctx, dir, remove_if_old, &old);
}

/* ---- publishing ------------------------------------------------------------------------------ */

typedef struct job {
    const sb_publish *p;
    const sb_fs *fs;
    const char *dir;
    uint32_t shards;  /* of the new checkpoint */
    uint32_t renamed; /* data files that have their new name */
    char path[SB_CKPT_PATH];
} job;

static sb_status data_path(job *j, uint32_t shard, sb_err *err) {
    int n =
        snprintf(j->path, sizeof j->path, "%s.data-%05u-of-%05u", j->p->prefix, shard, j->shards);
    return n > 0 && (size_t)n < sizeof j->path
               ? SB_OK
               : sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", j->p->prefix);
}

/* How many data files the index that stands there refers to; 0: it can't be read. */
static uint32_t old_shards(const sb_publish *p) {
    sb_bundle *b = NULL;
    uint32_t shards = 0;
    if (sb_bundle_open(&b, p->env->fs, p->env->alloc, NULL, sb_slice_str(p->prefix), NULL, NULL) ==
        SB_OK)
        shards = sb_bundle_shards(b);
    sb_bundle_close(b);
    return shards;
}

/* As many shards as there are. When a checkpoint of that name is replaced, one more if it has just
 * as many: none of the files that it refers to is overwritten. When its index can't be read, the
 * next number out of which no data file is numbered. */
static sb_status choose_shards(job *j, bool *is_replacing, sb_err *err) {
    sb_file_info info;
    int n = snprintf(j->path, sizeof j->path, "%s.index", j->p->prefix);
    if (n < 0 || (size_t)n >= sizeof j->path)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", j->p->prefix);
    j->shards = j->p->shards;
    int known = j->fs->stat(j->fs->ctx, j->path, &info);
    *is_replacing = known == 0;
    if (known == -ENOENT) return SB_OK;
    if (known < 0) return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this", j->path);
    uint32_t old = old_shards(j->p);
    if (old) {
        j->shards += old == j->shards;
        return SB_OK;
    }
    for (; j->shards < MOST_SHARDS; j->shards++) {
        sb_status status = data_path(j, 0, err);
        if (status != SB_OK) return status;
        known = j->fs->stat(j->fs->ctx, j->path, &info);
        if (known == -ENOENT) break;
        if (known < 0) return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this", j->path);
    }
    return SB_OK;
}

static sb_status rename_data(job *j, sb_err *err) {
    for (; j->renamed < j->shards; j->renamed++) {
        sb_status status = data_path(j, j->renamed, err);
        if (status != SB_OK) return status;
        if (j->renamed < j->p->shards) {
            int result = j->fs->rename(j->fs->ctx, j->p->data[j->renamed], j->path);
            if (result < 0)
                return sb_fail_errno(err, SB_IO, -result, "%s: can't rename a data file to this",
                                     j->path);
            continue;
        }
        /* The additional, empty shards of a checkpoint that replaces one. */
        int file = j->fs->open(j->fs->ctx, j->path, SB_OPEN_REPLACE);
        if (file >= 0) file = j->fs->close(j->fs->ctx, file);
        if (file < 0) return sb_fail_errno(err, SB_IO, -file, "%s: can't write this", j->path);
    }
    return j->p->is_synced ? sb_sync_directory(j->fs, j->dir, err) : SB_OK;
}

static sb_status write_index(job *j, sb_slice index, const char *base, char **path,
                             size_t *path_size, sb_err *err) {
    uint64_t seed = j->p->seed;
    int file;
    sb_status status = sb_open_temporary(&file, j->p->env, base, &seed, path, path_size, err);
    if (status != SB_OK) return status;
    int result = sb_fs_write_all(j->fs, file, index, NULL);
    if (result == 0 && j->p->is_synced) result = j->fs->sync(j->fs->ctx, file);
    sb_file_info info;
    if (result == 0 && j->p->id && j->fs->info(j->fs->ctx, file, &info) == 0)
        *j->p->id = (sb_bundle_id){info.device, info.inode, info.mtime_ns};
    int closed = j->fs->close(j->fs->ctx, file);
    if (result == 0) result = closed;
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this", *path) : SB_OK;
}

static sb_status put_in_place(job *j, sb_slice index, sb_err *err) {
    char base[SB_CKPT_PATH], *path = NULL;
    size_t path_size = 0;
    int n = snprintf(base, sizeof base, "%s.index", j->p->prefix);
    if (n < 0 || (size_t)n >= sizeof base)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", j->p->prefix);
    sb_status status = write_index(j, index, base, &path, &path_size, err);
    if (status == SB_OK) status = rename_data(j, err);
    if (status == SB_OK) {
        int result = j->fs->rename(j->fs->ctx, path, base);
        if (result < 0)
            status = sb_fail_errno(err, SB_IO, -result, "%s: can't rename to this", base);
    }
    if (status != SB_OK && path) j->fs->remove(j->fs->ctx, path);
    sb_alloc_put(j->p->env->alloc, path, path_size);
    return status;
}

/* Takes back what was done: data files that were renamed are removed, or get their old names. */
static void take_back(job *j) {
    const sb_publish *p = j->p;
    for (uint32_t i = 0; i < j->shards && i <= j->renamed; i++) {
        bool is_ours = i < j->renamed || i >= p->shards;
        if (!is_ours || data_path(j, i, NULL) != SB_OK) continue;
        if (p->is_moved && i < p->shards)
            j->fs->rename(j->fs->ctx, j->path, p->data[i]);
        else
            j->fs->remove(j->fs->ctx, j->path);
    }
    for (uint32_t i = j->renamed; i < p->shards && !p->is_moved; i++)
        j->fs->remove(j->fs->ctx, p->data[i]);
}

static sb_status publish_locked(job *j, sb_err *err) {
    const sb_publish *p = j->p;
    bool is_replacing = false;
    sb_table_writer table;
    sb_slice index;
    sb_arena arena;
    sb_arena_init(&arena, p->env->alloc, 4096, MAX_INDEX);
    sb_table_writer_init(&table, p->env->alloc, MAX_INDEX);
    sb_status status = sort_entries(p, &arena, err);
    if (status == SB_OK) status = choose_shards(j, &is_replacing, err);
    if (status == SB_OK) status = build_index(p, j->shards, &table, &index, err);
    if (status == SB_OK) status = put_in_place(j, index, err);
    sb_table_writer_fini(&table);
    sb_arena_fini(&arena);
    if (status != SB_OK) {
        take_back(j);
        return status;
    }
    /* From here on the new checkpoint is in place: a failure no longer takes it back. */
    if (p->is_synced) status = sb_sync_directory(j->fs, j->dir, err);
    if (is_replacing) sb_remove_data_files(p->env, p->prefix, j->shards);
    return status;
}

sb_status sb_publish_bundle(const sb_publish *p, sb_err *err) {
    char dir[SB_CKPT_PATH];
    job j = {.p = p, .fs = p->env->fs, .dir = dir, .shards = p->shards};
    if (!sb_directory_of(dir, p->prefix)) {
        take_back(&j);
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", p->prefix);
    }
    int lock = sb_lock_directory(j.fs, j.dir);
    sb_status status = publish_locked(&j, err);
    sb_unlock_directory(j.fs, lock);
    return status;
}
