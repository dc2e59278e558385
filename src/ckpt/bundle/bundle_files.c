/* bundle_files.c: the data files of a bundle, opened when they are needed. A few stay open; which
 * ones is decided under the bundle's lock, reading itself holds no lock. */
#include <errno.h>
#include <stdio.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/crc32c/crc32c.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

size_t sb_bundle_width(const sb_bundle_tensor *t) {
    return sb_dtype_size(t->dtype);
}

sb_status sb_bundle_data_path(const sb_bundle *b, uint32_t shard, char *path, size_t room,
                              sb_err *err) {
    int n =
        snprintf(path, room, "%s.data-%05u-of-%05u", (const char *)b->prefix.p, shard, b->shards);
    if (n < 0 || (size_t)n >= room)
        return sb_fail(err, SB_LIMIT, 0, "%.*s: this path is too long", SB_SHOWN(b->prefix));
    return SB_OK;
}

static sb_status open_shard(sb_bundle *b, const sb_bundle_tensor *t, sb_shard_file *out,
                            sb_err *err) {
    char path[SB_BENEATH_MAX];
    sb_status status = sb_bundle_data_path(b, t->shard, path, sizeof path, err);
    if (status != SB_OK) return status;
    int file = sb_fs_open_beneath(b->fs, b->dir, sb_slice_str(path));
    if (file == -ENOENT)
        return sb_fail(err, SB_NOT_FOUND, 0,
                       "%s: this data file is missing, and '%.*s' is in it; copy it beside the "
                       "index again",
                       path, SB_SHOWN(t->name));
    if (file < 0) return sb_fail_errno(err, SB_IO, -file, "%s: can't open this data file", path);
    sb_file_info info;
    int known = b->fs->info(b->fs->ctx, file, &info);
    if (known < 0) {
        b->fs->close(b->fs->ctx, file);
        return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this data file", path);
    }
    *out = (sb_shard_file){.file = file, .shard = t->shard, .size = info.size};
    return SB_OK;
}

/* A place for one more open file: a free one, or that of the file which was used longest ago; -1
 * when all are in use. The lock is held. */
static int free_slot(sb_bundle *b) {
    int best = -1;
    for (int i = 0; i < SB_BUNDLE_OPEN_FILES; i++) {
        if (b->files[i].file < 0) return i;
        if (b->files[i].users == 0 && (best < 0 || b->files[i].used < b->files[best].used))
            best = i;
    }
    if (best >= 0) {
        b->fs->close(b->fs->ctx, b->files[best].file);
        b->files[best].file = -1;
    }
    return best;
}

static sb_status acquire_file(sb_bundle *b, const sb_bundle_tensor *t, sb_shard_use *out,
                              uint64_t *size, sb_err *err) {
    sb_status status = SB_OK;
    pthread_mutex_lock(&b->lock);
    int slot = -1;
    for (int i = 0; i < SB_BUNDLE_OPEN_FILES && slot < 0; i++)
        if (b->files[i].file >= 0 && b->files[i].shard == t->shard) slot = i;
    sb_shard_file opened;
    if (slot < 0) {
        status = open_shard(b, t, &opened, err);
        slot = status == SB_OK ? free_slot(b) : -1;
        if (slot >= 0) b->files[slot] = opened;
    }
    if (slot >= 0) {
        b->files[slot].users++;
        b->files[slot].used = ++b->uses;
        opened = b->files[slot];
    }
    pthread_mutex_unlock(&b->lock);
    if (status != SB_OK) return status;
    *out = (sb_shard_use){.file = opened.file, .slot = slot};
    *size = opened.size;
    return SB_OK;
}

void sb_bundle_release(sb_bundle *b, sb_shard_use use) {
    if (use.slot < 0) {
        b->fs->close(b->fs->ctx, use.file);
        return;
    }
    pthread_mutex_lock(&b->lock);
    b->files[use.slot].users--;
    pthread_mutex_unlock(&b->lock);
}

/* Strings take a byte each at least. */
static bool size_fits(const sb_bundle_tensor *t) {
    size_t width = sb_bundle_width(t);
    uint64_t size;
    if (width == 0) return t->count <= t->size;
    return !__builtin_mul_overflow(t->count, (uint64_t)width, &size) && size == t->size;
}

sb_status sb_bundle_acquire(sb_bundle *b, const sb_bundle_tensor *t, sb_shard_use *out,
                            sb_err *err) {
    if (t->shard >= b->shards)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: '%.*s' is said to be in data file %u of %u",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name), t->shard, b->shards);
    if (!size_fits(t))
        return sb_fail(err, SB_CORRUPT, 0,
                       "%.*s: '%.*s' has %llu bytes, which is not what its shape needs",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name), (unsigned long long)t->size);
    uint64_t size;
    sb_status status = acquire_file(b, t, out, &size, err);
    if (status != SB_OK) return status;
    if (t->offset <= size && t->size <= size - t->offset) return SB_OK;
    sb_bundle_release(b, *out);
    char path[SB_BENEATH_MAX] = "";
    sb_bundle_data_path(b, t->shard, path, sizeof path, NULL);
    return sb_fail(
        err, SB_CORRUPT, t->offset,
        "%s: '%.*s' lies beyond the end of this file, at byte %llu of %llu: the file was "
        "cut short",
        path, SB_SHOWN(t->name), (unsigned long long)t->offset, (unsigned long long)size);
}

sb_status sb_bundle_bad_checksum(const sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    char path[SB_BENEATH_MAX] = "";
    sb_bundle_data_path(b, t->shard, path, sizeof path, NULL);
    return sb_fail(err, SB_CORRUPT, t->offset,
                   "%s: the checksum of '%.*s' does not match its data (bytes %llu to %llu)", path,
                   SB_SHOWN(t->name), (unsigned long long)t->offset,
                   (unsigned long long)(t->offset + t->size));
}

/* ---- mappings -------------------------------------------------------------------------------- */

static sb_status map_shard(sb_bundle *b, const sb_bundle_tensor *t, const uint8_t **out,
                           sb_err *err) {
    for (size_t i = 0; i < b->maps.n; i++)
        if (b->maps.items[i].shard == t->shard) {
            *out = b->maps.items[i].p;
            return SB_OK;
        }
    sb_shard_file f;
    sb_status status = open_shard(b, t, &f, err);
    if (status != SB_OK) return status;
    const void *p = NULL;
    sb_shard_map *slot = SB_VEC_PUSH(&b->maps, b->alloc, b->limits.max_memory);
    int mapped = f.size > SIZE_MAX || !b->fs->map
                     ? -ENOTSUP
                     : b->fs->map(b->fs->ctx, f.file, (size_t)f.size, &p);
    b->fs->close(b->fs->ctx, f.file);
    if (slot && mapped == 0) {
        *slot = (sb_shard_map){.shard = t->shard, .p = p, .size = (size_t)f.size};
        *out = p;
        return SB_OK;
    }
    if (slot) b->maps.n--;
    if (mapped == 0) b->fs->unmap(b->fs->ctx, p, (size_t)f.size);
    if (!slot) return sb_fail_nomem(err, "for a mapping");
    return sb_fail_errno(err, SB_IO, -mapped, "%.*s: can't map the data file of '%.*s'",
                         SB_SHOWN(b->prefix), SB_SHOWN(t->name));
}

sb_status sb_bundle_map(sb_bundle *b, const sb_bundle_tensor *t, bool verify, sb_slice *out,
                        sb_err *err) {
    *out = (sb_slice){NULL, 0};
    if (t->slice_count || b->format != SB_BUNDLE_V2 || sb_bundle_width(t) == 0 || b->is_swapped)
        return sb_fail(err, SB_INVALID, 0,
                       "%.*s: '%.*s' is not stored as one run of numbers of this machine's byte "
                       "order; read it instead of mapping it",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name));
    sb_shard_use use;
    sb_status status = sb_bundle_acquire(b, t, &use, err); /* the checks */
    if (status != SB_OK) return status;
    sb_bundle_release(b, use);
    if (t->size == 0) return SB_OK;
    const uint8_t *p = NULL;
    pthread_mutex_lock(&b->lock);
    status = map_shard(b, t, &p, err);
    pthread_mutex_unlock(&b->lock);
    if (status != SB_OK) return status;
    *out = sb_slice_of(p + t->offset, (size_t)t->size);
    if (verify && sb_crc32c_masked(out->p, out->n) != t->crc)
        return sb_bundle_bad_checksum(b, t, err);
    return SB_OK;
}

void sb_bundle_close_files(sb_bundle *b) {
    for (size_t i = 0; i < SB_BUNDLE_OPEN_FILES; i++)
        if (b->files[i].file >= 0) b->fs->close(b->fs->ctx, b->files[i].file);
    for (size_t i = 0; i < b->maps.n; i++)
        b->fs->unmap(b->fs->ctx, b->maps.items[i].p, b->maps.items[i].size);
    SB_VEC_FREE(&b->maps, b->alloc);
}
