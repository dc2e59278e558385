/* capture.c: one capture: of a path that a person names, and read. */
#include "profile/find/capture.h"

#include <errno.h>
#include <string.h>

#include "base/sha256.h"
#include "fsio/fs.h"
#include "profile/find/walk_int.h"
#include "profile/read/read.h"
#include "base/banned.h"

void sb_capture_set_id(char out[SB_CAPTURE_ID + 1], sb_slice text) {
    char hex[SB_SHA256_HEX + 1];
    sb_sha256_hex(text, hex);
    memcpy(out, hex, SB_CAPTURE_ID);
    out[SB_CAPTURE_ID] = 0;
}

/* Looks for traces below the path. If there are several captures, it takes the newest one. */
sb_status sb_capture_of_path(sb_capture *out, const sb_env *env, const char *path, sb_arena *arena,
                             sb_err *err) {
    sb_file_info info;
    int failed = env->fs->stat(env->fs->ctx, path, &info);
    if (failed == -ENOENT || failed == -ENOTDIR)
        return sb_fail_errno(err, SB_NOT_FOUND, -failed, "%s", path);
    if (failed < 0) return sb_fail_errno(err, SB_IO, -failed, "%s", path);
    if (info.is_dir) {
        sb_captures found;
        sb_capture_root root = {.path = path};
        sb_status status = sb_captures_find(&found, env, &root, 1, NULL, arena, NULL, err);
        if (status != SB_OK) return status;
        if (found.n == 0)
            return sb_fail(err, SB_NOT_FOUND, 0, "%s: there is no profile beneath it", path);
        *out = found.items[0];
        for (size_t i = 1; i < found.n; i++)
            if (found.items[i].time_ns > out->time_ns) *out = found.items[i];
        return SB_OK;
    }
    sb_trace_file_name name;
    const char *file = strrchr(path, '/');
    file = file ? file + 1 : path;
    bool is_known = sb_read_trace_name(file, &name);
    sb_capture_file *f = sb_arena_zeroed(arena, 1, sizeof *f);
    sb_slice copy = sb_arena_dup(arena, sb_slice_str(path));
    if (!f || !copy.p) return sb_fail_nomem(err, "for a capture");
    *f = (sb_capture_file){
        .path = copy, .shown = copy, .size = info.size, .mtime_ns = info.mtime_ns, .rank = -1};
    f->name = is_known ? sb_arena_dup(arena, name.host) : copy;
    *out = (sb_capture){.run = SB_LIT("."), .name = f->name, .files = f, .file_count = 1};
    out->bytes = info.size;
    out->time_ns = info.mtime_ns;
    return SB_OK;
}

sb_status sb_capture_read(const sb_capture *c, const sb_env *env, const sb_trace_opts *opts,
                          sb_trace **out, sb_err *err) {
    sb_trace_file *files = sb_alloc_zeroed(env->alloc, c->file_count + 1, sizeof *files);
    if (!files) return sb_fail_nomem(err, "for a capture");
    for (size_t i = 0; i < c->file_count; i++)
        files[i] =
            (sb_trace_file){.path = (const char *)c->files[i].path.p, .name = c->files[i].name};
    sb_status status = sb_trace_open(out, env->alloc, env->fs, files, c->file_count, opts, err);
    sb_alloc_put(env->alloc, files, (c->file_count + 1) * sizeof *files);
    return status;
}
