/* import.c: the input file, which kind it is, and the checkpoint that it becomes. */
#include "ckpt/export/import.h"

#include <errno.h>

#include "base/slice.h"
#include "ckpt/export/import_int.h"
#include "ckpt/object/graph_keys.h"
#include "base/banned.h"

bool sb_import_wants(const sb_import_file *x, sb_slice name) {
    return !x->opts->wants || x->opts->wants(x->opts->ud, name);
}

static void show_progress(sb_import_file *x, uint64_t n) {
    x->result->bytes += n;
    if (x->opts->progress) x->opts->progress(x->opts->ud, x->result->bytes, x->all);
}

sb_status sb_import_put(sb_import_file *x, const void *p, size_t n, sb_err *err) {
    sb_status status = sb_bundle_write_bytes(x->w, 0, p, n, err);
    show_progress(x, n);
    return status;
}

static bool keep_wanted(void *ud, sb_slice key, sb_buf *to) {
    sb_buf_add_slice(to, key);
    return sb_import_wants(ud, key);
}

sb_status sb_import_strings(sb_import_file *x, const sb_bundle_item *item, uint64_t bytes,
                            sb_err *err) {
    sb_bundle_item changed = *item;
    sb_slice graph;
    sb_buf text;
    sb_status status = SB_OK;
    sb_buf_init(&text, x->env->alloc, SIZE_MAX / 2);
    if (x->opts->wants && item->rank == 0 && sb_slice_eq(item->name, SB_LIT(SB_OBJECT_GRAPH_KEY))) {
        status = sb_graph_keys_change(&text, item->strings[0], keep_wanted, x, err);
        graph = sb_buf_slice(&text);
        changed.strings = &graph;
    }
    if (status == SB_OK) status = sb_bundle_write(x->w, 0, &changed, err);
    sb_buf_fini(&text);
    show_progress(x, bytes);
    return status;
}

/* ---- the front ------------------------------------------------------------------------------- */

typedef sb_status (*import_fn)(sb_import_file *x, sb_err *err);

static import_fn kind_of(const char *path) {
    sb_slice text = sb_slice_str(path);
    if (sb_slice_ends(text, SB_LIT(".npz"))) return sb_import_npz;
    if (sb_slice_ends(text, SB_LIT(".safetensors"))) return sb_import_safetensors;
    return NULL;
}

static sb_status import_opened(sb_import_file *x, import_fn kind, const char *prefix, sb_err *err) {
    sb_bundle_writer_opts opts = {.no_sync = x->opts->no_sync};
    sb_file_info info;
    const sb_fs *fs = x->env->fs;
    int known = fs->info(fs->ctx, x->file, &info);
    if (known < 0) return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this", x->path);
    x->size = info.size;
    x->block = sb_alloc_get(x->env->alloc, SB_IMPORT_BLOCK);
    if (!x->block) return sb_fail_nomem(err, "for an import");
    sb_status status = sb_bundle_writer_open(&x->w, x->env, prefix, &opts, err);
    if (status == SB_OK) status = kind(x, err);
    if (status == SB_OK) status = sb_bundle_writer_finish(&x->w, err);
    sb_bundle_writer_abandon(&x->w);
    sb_alloc_put(x->env->alloc, x->block, SB_IMPORT_BLOCK);
    return status;
}

sb_status sb_bundle_import(const sb_env *env, const char *path, const char *prefix,
                           const sb_import_opts *opts, sb_import_result *out, sb_err *err) {
    static const sb_import_opts no_opts = {.wants = NULL};
    *out = (sb_import_result){0};
    import_fn kind = kind_of(path);
    if (!kind)
        return sb_fail(err, SB_INVALID, 0, "%s: the ending says what it is: .npz or .safetensors",
                       path);
    int file = env->fs->open(env->fs->ctx, path, SB_OPEN_READ);
    if (file < 0)
        return sb_fail_errno(err, file == -ENOENT ? SB_NOT_FOUND : SB_IO, -file,
                             "%s: can't open this", path);
    sb_import_file x = {
        .env = env, .opts = opts ? opts : &no_opts, .result = out, .path = path, .file = file};
    sb_status status = import_opened(&x, kind, prefix, err);
    env->fs->close(env->fs->ctx, file);
    return status;
}
