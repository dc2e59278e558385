/* bundle_write.c: data files under temporary names, with the checksum of each tensor. */
#include "ckpt/bundle/bundle_write.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/slice.h"
#include "ckpt/bundle/parallel.h"
#include "ckpt/bundle/publish.h"
#include "ckpt/bundle/slice_key.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "base/banned.h"

/* Small tensors are collected up to this size. */
#define GATHER ((size_t)1 << 20)
/* From here on one thread sums while another writes. */
#define TWO_THREADS ((size_t)4 << 20)
#define MAX_KEY ((size_t)1 << 20)
#define MOST_SHARDS 99998

typedef struct shard {
    int file; /* -1: closed */
    char *path;
    size_t path_size;
    uint64_t offset; /* bytes of tensors so far, gathered ones included */
    sb_buf gathered; /* not yet written */
    sb_arena arena;  /* names, dims, extents */
    sb_bundle_entries entries;
    /* The tensor between begin and end. */
    sb_bundle_tensor now;
    uint64_t left;
    uint32_t crc;
    bool is_open;
} shard;

struct sb_bundle_writer {
    const sb_env *env;
    char *prefix;
    size_t prefix_size;
    bool no_sync;
    unsigned threads;
    sb_bundle_id *id;
    uint64_t seed;
    uint32_t shard_count;
    shard shards[];
};

/* ---- opening --------------------------------------------------------------------------------- */

static sb_status open_shard(sb_bundle_writer *w, uint32_t i, sb_err *err) {
    shard *s = &w->shards[i];
    char base[SB_CKPT_PATH];
    int n = snprintf(base, sizeof base, "%s.data-%05u-of-%05u", w->prefix, i, w->shard_count);
    if (n < 0 || (size_t)n >= sizeof base - 64)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", w->prefix);
    return sb_open_temporary(&s->file, w->env, base, &w->seed, &s->path, &s->path_size, err);
}

static sb_status open_shards(sb_bundle_writer *w, sb_err *err) {
    char dir[SB_CKPT_PATH];
    if (!sb_directory_of(dir, w->prefix))
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", w->prefix);
    sb_status status = sb_fs_make_dirs(w->env->fs, w->env->alloc, dir, err);
    for (uint32_t i = 0; i < w->shard_count && status == SB_OK; i++) status = open_shard(w, i, err);
    return status;
}

sb_status sb_bundle_writer_open(sb_bundle_writer **out, const sb_env *env, const char *prefix,
                                const sb_bundle_writer_opts *opts, sb_err *err) {
    *out = NULL;
    uint32_t shards = opts && opts->shards ? opts->shards : 1;
    size_t n = strlen(prefix);
    if (n == 0 || prefix[n - 1] == '/' || shards > MOST_SHARDS)
        return sb_fail(err, SB_INVALID, 0,
                       "'%s': a checkpoint needs a name, as in run/ckpt-7, and at most %d shards",
                       prefix, MOST_SHARDS);
    sb_bundle_writer *w = sb_alloc_zeroed(env->alloc, 1, sizeof *w + shards * sizeof *w->shards);
    if (!w) return sb_fail_nomem(err, "for a checkpoint");
    w->env = env;
    w->shard_count = shards;
    w->no_sync = opts && opts->no_sync;
    w->threads = opts ? opts->threads : 0;
    w->id = opts ? opts->id : NULL;
    w->seed = env->clock->wall(env->clock->ctx) ^ (uint64_t)getpid() << 40;
    w->prefix_size = n + 1;
    w->prefix = sb_alloc_get(env->alloc, w->prefix_size);
    for (uint32_t i = 0; i < shards; i++) {
        w->shards[i].file = -1;
        sb_buf_init(&w->shards[i].gathered, env->alloc, 2 * GATHER);
        sb_arena_init(&w->shards[i].arena, env->alloc, 64 << 10, SIZE_MAX / 2);
    }
    if (w->prefix) memcpy(w->prefix, prefix, n + 1);
    sb_status status = w->prefix ? open_shards(w, err) : sb_fail_nomem(err, "for a checkpoint");
    if (status == SB_OK)
        *out = w;
    else
        sb_bundle_writer_abandon(&w);
    return status;
}

/* Closes what is open and frees the writer; with `remove` the data files are removed. */
static void free_writer(sb_bundle_writer *w, bool remove_data) {
    const sb_env *env = w->env;
    for (uint32_t i = 0; i < w->shard_count; i++) {
        shard *s = &w->shards[i];
        if (s->file >= 0) env->fs->close(env->fs->ctx, s->file);
        if (s->path && remove_data) env->fs->remove(env->fs->ctx, s->path);
        sb_alloc_put(env->alloc, s->path, s->path_size);
        sb_buf_fini(&s->gathered);
        SB_VEC_FREE(&s->entries, env->alloc);
        sb_arena_fini(&s->arena);
    }
    sb_alloc_put(env->alloc, w->prefix, w->prefix_size);
    sb_alloc_put(env->alloc, w, sizeof *w + w->shard_count * sizeof *w->shards);
}

void sb_bundle_writer_abandon(sb_bundle_writer **w) {
    if (*w) free_writer(*w, true);
    *w = NULL;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static sb_status write_now(sb_bundle_writer *w, shard *s, sb_slice bytes, sb_err *err) {
    int result = sb_fs_write_all(w->env->fs, s->file, bytes, NULL);
    if (result == -ENOSPC || result == -EDQUOT)
        return sb_fail_errno(err, SB_IO, -result,
                             "%s: no room to save; earlier checkpoints are whole, free some space "
                             "and save again",
                             w->prefix);
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this", s->path) : SB_OK;
}

static sb_status write_gathered(sb_bundle_writer *w, shard *s, sb_err *err) {
    sb_status status = sb_buf_check(&s->gathered, "small tensors", err);
    if (status == SB_OK) status = write_now(w, s, sb_buf_slice(&s->gathered), err);
    sb_buf_clear(&s->gathered);
    return status;
}

typedef struct both {
    sb_bundle_writer *w;
    shard *s;
    sb_slice bytes;
    uint32_t crc;
} both;

static sb_status write_or_sum(void *ud, size_t job, sb_err *err) {
    both *x = ud;
    if (job == 0) return write_now(x->w, x->s, x->bytes, err);
    x->crc = sb_crc32c(x->crc, x->bytes.p, x->bytes.n);
    return SB_OK;
}

/* Appends bytes of the tensor and sums them. */
static sb_status append_bytes(sb_bundle_writer *w, shard *s, const void *p, size_t n, sb_err *err) {
    sb_status status = SB_OK;
    s->offset += n;
    if (n < GATHER / 2) {
        s->crc = sb_crc32c(s->crc, p, n);
        if (s->gathered.n + n > GATHER) status = write_gathered(w, s, err);
        sb_buf_add(&s->gathered, p, n);
        return status == SB_OK ? sb_buf_check(&s->gathered, "small tensors", err) : status;
    }
    if (s->gathered.n) status = write_gathered(w, s, err);
    both x = {.w = w, .s = s, .bytes = sb_slice_of(p, n), .crc = s->crc};
    unsigned threads = n >= TWO_THREADS && w->shard_count == 1 ? w->threads : 1;
    if (status == SB_OK) status = sb_parallel(w->env->alloc, threads, 2, write_or_sum, &x, err);
    s->crc = x.crc;
    return status;
}

/* ---- entries --------------------------------------------------------------------------------- */

static sb_status refuse(const sb_bundle_writer *w, const sb_bundle_item *item, const char *why,
                        sb_err *err) {
    return sb_fail(err, SB_INVALID, 0, "%s: can't save '%.*s': %s", w->prefix, SB_SHOWN(item->name),
                   why);
}

static int64_t *copy_numbers(sb_arena *arena, const int64_t *from, size_t n) {
    int64_t *copy = sb_arena_get(arena, n * sizeof *copy);
    if (copy && n) memcpy(copy, from, n * sizeof *copy);
    return copy;
}

/* Is the piece the whole tensor? TensorFlow then saves it as one. */
static bool is_whole(const sb_bundle_item *item) {
    if (!item->extents) return true;
    for (uint32_t d = 0; d < item->rank; d++)
        if (item->extents[2 * d] != 0 ||
            (item->extents[2 * d + 1] >= 0 && item->extents[2 * d + 1] != item->dims[d]))
            return false;
    return true;
}

/* The entry of the whole tensor, with this one piece; publish.c joins those of one name. */
static sb_status note_piece(sb_bundle_writer *w, shard *s, const sb_bundle_item *item,
                            sb_err *err) {
    sb_bundle_tensor *whole = SB_VEC_PUSH(&s->entries, w->env->alloc, SIZE_MAX);
    sb_slice name = sb_arena_dup(&s->arena, item->name);
    int64_t *dims = copy_numbers(&s->arena, item->dims, item->rank);
    int64_t *extents = copy_numbers(&s->arena, item->extents, 2 * (size_t)item->rank);
    if (!whole || !name.p || !dims || !extents) return sb_fail_nomem(err, "for a checkpoint");
    *whole = (sb_bundle_tensor){.name = name,
                                .dtype = item->dtype,
                                .rank = item->rank,
                                .dims = dims,
                                .extents = extents,
                                .slice_count = 1};
    return SB_OK;
}

/* Key and shape of the piece that will be stored. */
static sb_status begin_piece(sb_bundle_writer *w, shard *s, const sb_bundle_item *item,
                             sb_err *err) {
    for (uint32_t d = 0; d < item->rank; d++) {
        int64_t start = item->extents[2 * d], length = item->extents[2 * d + 1];
        if (length < 0 && start == 0) continue;
        if (start < 0 || length <= 0 || start > item->dims[d] || length > item->dims[d] - start)
            return refuse(w, item, "a piece lies outside of it", err);
    }
    sb_status status = note_piece(w, s, item, err);
    if (status != SB_OK) return status;
    sb_buf key;
    sb_buf_init(&key, w->env->alloc, 4 * MAX_KEY);
    sb_slice_key_add(&key, item->name, item->extents, item->rank);
    status = sb_buf_check(&key, "a piece's key", err);
    if (status == SB_OK) {
        s->now.name = sb_arena_dup(&s->arena, sb_buf_slice(&key));
        int64_t *dims = copy_numbers(&s->arena, item->dims, item->rank);
        s->now.dims = dims;
        for (uint32_t d = 0; dims && d < item->rank; d++)
            if (item->extents[2 * d + 1] >= 0) dims[d] = item->extents[2 * d + 1];
    }
    sb_buf_fini(&key);
    return status;
}

static sb_status begin_entry(sb_bundle_writer *w, shard *s, const sb_bundle_item *item,
                             sb_err *err) {
    uint64_t count;
    if (item->name.n == 0 || item->name.p[0] == 0 || item->name.n > MAX_KEY)
        return refuse(w, item, "its name must not be empty, very long or begin with a zero byte",
                      err);
    if (item->rank > SB_CKPT_MAX_RANK || !sb_bundle_count_elements(item->dims, item->rank, &count))
        return refuse(w, item, "its shape makes no sense", err);
    s->now = (sb_bundle_tensor){.dtype = item->dtype, .rank = item->rank, .offset = s->offset};
    sb_status status = SB_OK;
    if (is_whole(item)) {
        s->now.name = sb_arena_dup(&s->arena, item->name);
        s->now.dims = copy_numbers(&s->arena, item->dims, item->rank);
    } else {
        status = begin_piece(w, s, item, err);
    }
    if (status != SB_OK) return status;
    if (!s->now.name.p || !s->now.dims) return sb_fail_nomem(err, "for a checkpoint");
    sb_bundle_count_elements(s->now.dims, s->now.rank, &s->now.count);
    s->now.shard = (uint32_t)(s - w->shards);
    s->crc = 0;
    s->is_open = true;
    return SB_OK;
}

static sb_status end_entry(sb_bundle_writer *w, shard *s, sb_err *err) {
    s->now.size = s->offset - s->now.offset;
    s->now.crc = sb_crc32c_mask(s->crc);
    s->is_open = false;
    sb_bundle_tensor *slot = SB_VEC_PUSH(&s->entries, w->env->alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for a checkpoint");
    *slot = s->now;
    return SB_OK;
}

/* ---- strings --------------------------------------------------------------------------------- */

static uint32_t crc_number(uint32_t crc, uint64_t x, size_t bytes) {
    uint8_t p[8];
    sb_store64(p, x);
    return sb_crc32c(crc, p, bytes);
}

/* Varint lengths, their checksum, all bytes; the tensor's checksum differs (bundle_strings.c). */
static sb_status append_strings(sb_bundle_writer *w, shard *s, const sb_slice *strings,
                                sb_err *err) {
    uint32_t crc = 0;
    sb_status status = SB_OK;
    uint8_t bytes[10];
    for (uint64_t i = 0; i < s->now.count && status == SB_OK; i++) {
        status = append_bytes(w, s, bytes, sb_pb_put_varint(bytes, strings[i].n), err);
        crc = crc_number(crc, strings[i].n, strings[i].n > UINT32_MAX ? 8 : 4);
    }
    sb_store32(bytes, sb_crc32c_mask(crc));
    if (status == SB_OK) status = append_bytes(w, s, bytes, 4, err);
    s->crc = sb_crc32c(crc, bytes, 4);
    for (uint64_t i = 0; i < s->now.count && status == SB_OK; i++)
        status = append_bytes(w, s, strings[i].p, strings[i].n, err);
    return status;
}

static sb_status append_variants(sb_bundle_writer *w, shard *s, const sb_slice *items,
                                 sb_err *err) {
    uint32_t crc = 0;
    sb_status status = SB_OK;
    for (uint64_t i = 0; i < s->now.count && status == SB_OK; i++) {
        uint8_t bytes[10];
        status = append_bytes(w, s, bytes, sb_pb_put_varint(bytes, items[i].n), err);
        s->crc = crc_number(crc, items[i].n, 8);
        if (status == SB_OK) status = append_bytes(w, s, items[i].p, items[i].n, err);
        sb_store32(bytes, sb_crc32c_mask(s->crc));
        if (status == SB_OK) status = append_bytes(w, s, bytes, 4, err);
        crc = s->crc;
    }
    return status;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static sb_status begin_item(sb_bundle_writer *w, uint32_t i, const sb_bundle_item *item,
                            bool is_numbers, sb_err *err) {
    bool has_width = sb_dtype_size(item->dtype) != 0;
    if (i >= w->shard_count || w->shards[i].is_open)
        return refuse(w, item, "there is no such shard, or it waits for bytes of another tensor",
                      err);
    if (has_width != is_numbers ||
        (!has_width && item->dtype != SB_STRING && item->dtype != SB_VARIANT))
        return refuse(w, item, "its type has no values that can be saved this way", err);
    return begin_entry(w, &w->shards[i], item, err);
}

sb_status sb_bundle_write_begin(sb_bundle_writer *w, uint32_t i, const sb_bundle_item *item,
                                sb_err *err) {
    sb_status status = begin_item(w, i, item, true, err);
    if (status != SB_OK) return status;
    shard *s = &w->shards[i];
    if (__builtin_mul_overflow(s->now.count, (uint64_t)sb_dtype_size(item->dtype), &s->left))
        return refuse(w, item, "its shape is too large", err);
    return SB_OK;
}

sb_status sb_bundle_write_bytes(sb_bundle_writer *w, uint32_t i, const void *p, size_t n,
                                sb_err *err) {
    shard *s = &w->shards[i];
    if (n > s->left)
        return sb_fail(err, SB_INVALID, 0, "%s: more bytes for '%.*s' than its shape has",
                       w->prefix, SB_SHOWN(s->now.name));
    s->left -= n;
    return append_bytes(w, s, p, n, err);
}

sb_status sb_bundle_write_end(sb_bundle_writer *w, uint32_t i, sb_err *err) {
    shard *s = &w->shards[i];
    if (s->left)
        return sb_fail(err, SB_INVALID, 0, "%s: %llu bytes of '%.*s' are missing", w->prefix,
                       (unsigned long long)s->left, SB_SHOWN(s->now.name));
    return end_entry(w, s, err);
}

sb_status sb_bundle_write(sb_bundle_writer *w, uint32_t i, const sb_bundle_item *item,
                          sb_err *err) {
    if (sb_dtype_size(item->dtype)) {
        sb_status status = sb_bundle_write_begin(w, i, item, err);
        uint64_t left = status == SB_OK ? w->shards[i].left : 0;
        if (status == SB_OK && left > SIZE_MAX) status = refuse(w, item, "it is too large", err);
        if (status == SB_OK) status = sb_bundle_write_bytes(w, i, item->data, (size_t)left, err);
        return status == SB_OK ? sb_bundle_write_end(w, i, err) : status;
    }
    sb_status status = begin_item(w, i, item, false, err);
    if (status != SB_OK) return status;
    shard *s = &w->shards[i];
    status = item->dtype == SB_STRING ? append_strings(w, s, item->strings, err)
                                      : append_variants(w, s, item->strings, err);
    return status == SB_OK ? end_entry(w, s, err) : status;
}

/* ---- publishing ------------------------------------------------------------------------------ */

/* All bytes of a shard are in its file, and durable if that is wanted. */
static sb_status close_shard(void *ud, size_t i, sb_err *err) {
    sb_bundle_writer *w = ud;
    shard *s = &w->shards[i];
    const sb_fs *fs = w->env->fs;
    if (s->is_open)
        return sb_fail(err, SB_INVALID, 0, "%s: '%.*s' was begun and not ended", w->prefix,
                       SB_SHOWN(s->now.name));
    sb_status status = write_gathered(w, s, err);
    if (status != SB_OK) return status;
    int result = w->no_sync ? 0 : fs->sync(fs->ctx, s->file);
    int closed = fs->close(fs->ctx, s->file);
    s->file = -1;
    if (result == 0) result = closed;
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this", s->path) : SB_OK;
}

static sb_status list_entries(sb_bundle_writer *w, sb_bundle_entries *all, sb_err *err) {
    for (uint32_t i = 0; i < w->shard_count; i++) {
        const sb_bundle_entries *e = &w->shards[i].entries;
        if (!SB_VEC_RESERVE(all, w->env->alloc, e->n, SIZE_MAX))
            return sb_fail_nomem(err, "for a checkpoint");
        if (e->n) memcpy(all->items + all->n, e->items, e->n * sizeof *e->items);
        all->n += e->n;
    }
    return SB_OK;
}

static sb_status publish(sb_bundle_writer *w, sb_err *err) {
    sb_bundle_entries all = {0};
    char **paths = sb_alloc_zeroed(w->env->alloc, w->shard_count, sizeof *paths);
    sb_status status = paths ? list_entries(w, &all, err) : sb_fail_nomem(err, "for a checkpoint");
    for (uint32_t i = 0; paths && i < w->shard_count; i++) paths[i] = w->shards[i].path;
    if (status == SB_OK)
        status = sb_publish_bundle(&(sb_publish){.env = w->env,
                                                 .prefix = w->prefix,
                                                 .is_synced = !w->no_sync,
                                                 .entries = &all,
                                                 .data = paths,
                                                 .shards = w->shard_count,
                                                 .seed = w->seed,
                                                 .id = w->id},
                                   err);
    sb_alloc_put(w->env->alloc, paths, w->shard_count * sizeof *paths);
    SB_VEC_FREE(&all, w->env->alloc);
    return status;
}

sb_status sb_bundle_writer_finish(sb_bundle_writer **out, sb_err *err) {
    sb_bundle_writer *w = *out;
    *out = NULL;
    sb_status status = sb_parallel(w->env->alloc, w->threads, w->shard_count, close_shard, w, err);
    if (status == SB_OK) status = publish(w, err);
    free_writer(w, status != SB_OK);
    return status;
}
