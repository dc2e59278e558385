/* tensors.c: the public functions that read and write tensors by name, over bundle.h. */
#include <pthread.h>

#include "base/sized.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/state.h"
#include "seaboard/checkpoint.h"
#include "base/banned.h"

static const sb_env world = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};

/* ---- reading --------------------------------------------------------------------------------- */

struct sb_ckpt {
    sb_bundle *b;
    sb_ckpt_tensor *tensors; /* in the order of the bundle's */
    size_t count;
    pthread_mutex_t lock; /* guards the arena */
    sb_arena arena;       /* strings that were handed out */
};

static sb_status open_bundle(sb_ckpt *c, const char *path, sb_err *err) {
    sb_file_info info;
    sb_buf prefix;
    sb_status status = SB_OK;
    sb_buf_init(&prefix, world.alloc, 1 << 16);
    if (world.fs->stat(world.fs->ctx, path, &info) == 0 && info.is_dir)
        status =
            sb_ckpt_latest(&prefix, NULL, world.fs, world.alloc, path, NULL, SB_CKPT_ANYWHERE, err);
    else
        sb_buf_add_str(&prefix, path);
    if (status == SB_OK) status = sb_buf_check(&prefix, "a path", err);
    if (status == SB_OK)
        status =
            sb_bundle_open(&c->b, world.fs, world.alloc, NULL, sb_buf_slice(&prefix), NULL, err);
    sb_buf_fini(&prefix);
    return status;
}

sb_status sb_ckpt_open(sb_ckpt **out, const char *path, sb_err *err) {
    *out = NULL;
    sb_ckpt *c = sb_alloc_zeroed(world.alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for a checkpoint");
    pthread_mutex_init(&c->lock, NULL);
    sb_arena_init(&c->arena, world.alloc, 4096, SIZE_MAX / 2);
    sb_status status = open_bundle(c, path, err);
    if (status == SB_OK) {
        c->count = sb_bundle_count(c->b);
        c->tensors = sb_alloc_zeroed(world.alloc, c->count, sizeof *c->tensors);
        if (!c->tensors && c->count) status = sb_fail_nomem(err, "for a checkpoint");
    }
    if (status != SB_OK) {
        sb_ckpt_close(c);
        return status;
    }
    for (size_t i = 0; i < c->count; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(c->b, i);
        c->tensors[i] = (sb_ckpt_tensor){.name = t->name,
                                         .dtype = t->dtype,
                                         .rank = t->rank,
                                         .dims = t->dims,
                                         .count = t->count,
                                         .bytes = sb_bundle_bytes(c->b, t),
                                         .pieces = t->slice_count};
    }
    *out = c;
    return SB_OK;
}

void sb_ckpt_close(sb_ckpt *c) {
    if (!c) return;
    sb_alloc_put(world.alloc, c->tensors, c->count * sizeof *c->tensors);
    sb_bundle_close(c->b);
    sb_arena_fini(&c->arena);
    pthread_mutex_destroy(&c->lock);
    sb_alloc_put(world.alloc, c, sizeof *c);
}

size_t sb_ckpt_count(const sb_ckpt *c) {
    return c->count;
}

const sb_ckpt_tensor *sb_ckpt_at(const sb_ckpt *c, size_t i) {
    return i < c->count ? &c->tensors[i] : NULL;
}

const sb_ckpt_tensor *sb_ckpt_find(const sb_ckpt *c, const char *name) {
    const sb_bundle_tensor *t = sb_bundle_find(c->b, sb_slice_str(name));
    return t ? &c->tensors[t - sb_bundle_at(c->b, 0)] : NULL;
}

static const sb_bundle_tensor *bundle_tensor(const sb_ckpt *c, const sb_ckpt_tensor *t) {
    return sb_bundle_at(c->b, (size_t)(t - c->tensors));
}

sb_status sb_ckpt_read(sb_ckpt *c, const sb_ckpt_tensor *t, const int64_t *extents, void *to,
                       size_t n, sb_err *err) {
    return sb_bundle_read_box(c->b, bundle_tensor(c, t), extents, to, n, err);
}

sb_status sb_ckpt_read_many(sb_ckpt *c, const sb_ckpt_tensor *const *t, void *const *to,
                            size_t count, sb_err *err) {
    if (count == 0) return SB_OK;
    sb_bundle_request *all = sb_alloc_zeroed(world.alloc, count, sizeof *all);
    if (!all) return sb_fail_nomem(err, "for reading a checkpoint");
    for (size_t i = 0; i < count; i++)
        all[i] =
            (sb_bundle_request){.t = bundle_tensor(c, t[i]), .to = to[i], .n = (size_t)t[i]->bytes};
    sb_status status = sb_bundle_read_many(c->b, all, count, 0, err);
    sb_alloc_put(world.alloc, all, count * sizeof *all);
    return status;
}

sb_status sb_ckpt_strings(sb_ckpt *c, const sb_ckpt_tensor *t, const sb_slice **out, sb_err *err) {
    sb_slice *strings = NULL;
    pthread_mutex_lock(&c->lock);
    sb_status status = sb_bundle_read_strings(c->b, bundle_tensor(c, t), &c->arena, &strings, err);
    pthread_mutex_unlock(&c->lock);
    *out = strings;
    return status;
}

sb_status sb_ckpt_map(sb_ckpt *c, const sb_ckpt_tensor *t, sb_slice *out, sb_err *err) {
    return sb_bundle_map(c->b, bundle_tensor(c, t), true, out, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct sb_ckpt_writer {
    sb_bundle_writer *w;
    uint32_t shards, next;
};

static sb_status read_opts(sb_bundle_writer_opts *out, const sb_save_opts *given, sb_err *err) {
    sb_save_opts opts = {0};
    sb_status status = SB_OK;
    if (given) status = sb_sized_read(&opts, sizeof opts, given, 0, "sb_save_opts", err);
    *out = (sb_bundle_writer_opts){.shards = opts.shards ? opts.shards : 1,
                                   .no_sync = opts.durability == SB_BUFFERED};
    return status;
}

sb_status sb_ckpt_writer_open(sb_ckpt_writer **out, const char *prefix, const sb_save_opts *given,
                              sb_err *err) {
    sb_bundle_writer_opts opts;
    *out = NULL;
    sb_status status = read_opts(&opts, given, err);
    if (status != SB_OK) return status;
    sb_ckpt_writer *w = sb_alloc_zeroed(world.alloc, 1, sizeof *w);
    if (!w) return sb_fail_nomem(err, "for a checkpoint");
    w->shards = opts.shards;
    status = sb_bundle_writer_open(&w->w, &world, prefix, &opts, err);
    if (status != SB_OK) {
        sb_alloc_put(world.alloc, w, sizeof *w);
        return status;
    }
    *out = w;
    return SB_OK;
}

sb_status sb_ckpt_add(sb_ckpt_writer *w, const char *name, const sb_array *array,
                      const int64_t *dims, const int64_t *extents, sb_err *err) {
    if (array->strides)
        return sb_fail(err, SB_INVALID, 0, "'%s': only contiguous arrays are saved", name);
    sb_bundle_item item = {.name = sb_slice_str(name),
                           .dtype = array->dtype,
                           .rank = array->rank,
                           .dims = extents ? dims : array->dims,
                           .extents = extents,
                           .data = array->data,
                           .strings = array->data};
    for (uint32_t d = 0; extents && d < array->rank; d++) {
        int64_t length = extents[2 * d + 1] < 0 ? dims[d] : extents[2 * d + 1];
        if (array->dims[d] != length)
            return sb_fail(err, SB_INVALID, 0, "'%s': the array has not the shape of the piece",
                           name);
    }
    return sb_bundle_write(w->w, w->next++ % w->shards, &item, err);
}

sb_status sb_ckpt_finish(sb_ckpt_writer *w, sb_err *err) {
    sb_status status = sb_bundle_writer_finish(&w->w, err);
    sb_alloc_put(world.alloc, w, sizeof *w);
    return status;
}

void sb_ckpt_abandon(sb_ckpt_writer *w) {
    if (!w) return;
    sb_bundle_writer_abandon(&w->w);
    sb_alloc_put(world.alloc, w, sizeof *w);
}

sb_status sb_ckpt_merge(const char *const *prefixes, size_t count, const char *prefix,
                        const sb_save_opts *given, sb_err *err) {
    sb_bundle_writer_opts opts;
    sb_status status = read_opts(&opts, given, err);
    return status == SB_OK ? sb_bundle_merge(&world, prefixes, count, prefix, &opts, err) : status;
}
