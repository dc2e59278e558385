/* export.c: the output file, and which kind it is. */
#include "ckpt/export/export.h"

#include <stdio.h>
#include <zlib.h>

#include "base/slice.h"
#include "ckpt/bundle/publish.h"
#include "ckpt/export/export_int.h"
#include "base/banned.h"

#define GATHER ((size_t)1 << 20)

static sb_status write_gathered(sb_export_file *x, sb_err *err) {
    int result = sb_fs_write_all(x->env->fs, x->file, sb_buf_slice(&x->gathered), NULL);
    sb_buf_clear(&x->gathered);
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this", x->path) : SB_OK;
}

sb_status sb_export_put(sb_export_file *x, const void *p, size_t n, sb_err *err) {
    sb_status status = SB_OK;
    if (n == 0) return SB_OK;
    x->offset += n;
    x->zip_crc = (uint32_t)crc32_z(x->zip_crc, p, n);
    if (x->gathered.n + n > GATHER) status = write_gathered(x, err);
    if (status != SB_OK) return status;
    if (n <= GATHER) {
        sb_buf_add(&x->gathered, p, n);
        return sb_buf_check(&x->gathered, "an exported file", err);
    }
    int result = sb_fs_write_all(x->env->fs, x->file, sb_slice_of(p, n), NULL);
    return result < 0 ? sb_fail_errno(err, SB_IO, -result, "%s: can't write this", x->path) : SB_OK;
}

static sb_status pass_on(void *ud, const uint8_t *p, size_t n, sb_err *err) {
    sb_export_file *x = ud;
    x->result->bytes += n;
    if (x->opts && x->opts->progress) x->opts->progress(x->opts->ud, x->result->bytes);
    return sb_export_put(x, p, n, err);
}

sb_status sb_export_numbers(sb_export_file *x, const sb_bundle_tensor *t, sb_err *err) {
    return sb_bundle_stream(x->b, t, pass_on, x, err);
}

bool sb_export_wants(const sb_export_file *x, const sb_bundle_tensor *t) {
    return !x->opts || !x->opts->wants || x->opts->wants(x->opts->ud, t->name);
}

typedef sb_status (*export_fn)(sb_export_file *x, sb_err *err);

static export_fn kind_of(const char *path) {
    sb_slice text = sb_slice_str(path);
    if (sb_slice_ends(text, SB_LIT(".npz"))) return sb_export_npz;
    if (sb_slice_ends(text, SB_LIT(".safetensors"))) return sb_export_safetensors;
    return NULL;
}

/* Writes into a temporary file and renames it. */
static sb_status export_to(sb_export_file *x, export_fn kind, sb_err *err) {
    const sb_fs *fs = x->env->fs;
    uint64_t seed = x->env->clock->wall(x->env->clock->ctx);
    char *temporary;
    size_t size;
    sb_status status = sb_open_temporary(&x->file, x->env, x->path, &seed, &temporary, &size, err);
    if (status != SB_OK) return status;
    sb_buf_init(&x->gathered, x->env->alloc, GATHER);
    status = kind(x, err);
    if (status == SB_OK) status = write_gathered(x, err);
    sb_buf_fini(&x->gathered);
    int result = fs->close(fs->ctx, x->file);
    if (status == SB_OK && result == 0) result = fs->rename(fs->ctx, temporary, x->path);
    if (status == SB_OK && result < 0)
        status = sb_fail_errno(err, SB_IO, -result, "%s: can't write this", x->path);
    if (status != SB_OK) fs->remove(fs->ctx, temporary);
    sb_alloc_put(x->env->alloc, temporary, size);
    return status;
}

sb_status sb_bundle_export(sb_bundle *b, const sb_env *env, const char *path,
                           const sb_export_opts *opts, sb_export_result *out, sb_err *err) {
    *out = (sb_export_result){0};
    export_fn kind = kind_of(path);
    char dir[SB_CKPT_PATH];
    if (!kind)
        return sb_fail(err, SB_INVALID, 0,
                       "%s: the ending says what to write: .npz or .safetensors", path);
    if (!sb_directory_of(dir, path))
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", path);
    sb_status status = sb_fs_make_dirs(env->fs, env->alloc, dir, err);
    if (status != SB_OK) return status;
    sb_export_file x = {.b = b, .env = env, .opts = opts, .result = out, .path = path};
    return export_to(&x, kind, err);
}
