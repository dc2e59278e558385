/* state_write.c: writes the state file, all of it or nothing. */
#include <stdio.h>

#include "base/slice.h"
#include "ckpt/bundle/publish.h"
#include "ckpt/state.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "base/banned.h"

#define MAX_TEXT ((size_t)256 << 20)

sb_status sb_ckpt_state_format(sb_buf *text, const sb_ckpt_state *s, const sb_alloc *alloc,
                               sb_err *err) {
    sb_buf message;
    sb_buf_init(&message, alloc, MAX_TEXT);
    sb_pb_add_bytes_nz(&message, SB_CHECKPOINT_STATE_MODEL_CHECKPOINT_PATH, s->newest);
    for (size_t i = 0; i < s->count; i++)
        sb_pb_add_bytes(&message, SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_PATHS, s->all[i]);
    if (s->time_count)
        sb_pb_add_packed_doubles(&message, SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_TIMESTAMPS,
                                 s->times, s->time_count);
    sb_pb_add_double_nz(&message, SB_CHECKPOINT_STATE_LAST_PRESERVED_TIMESTAMP, s->last_preserved);
    sb_status status = sb_buf_check(&message, "a checkpoint's state", err);
    if (status == SB_OK)
        status = sb_text_write(text, SB_MSG_CHECKPOINT_STATE, sb_buf_slice(&message), err);
    sb_buf_fini(&message);
    return status;
}

static sb_status replace_file(const sb_env *env, const char *dir, const char *path, sb_slice text,
                              bool is_synced, sb_err *err) {
    const sb_fs *fs = env->fs;
    uint64_t seed = env->clock->wall(env->clock->ctx);
    char *temporary;
    size_t size;
    int file;
    sb_status status = sb_open_temporary(&file, env, path, &seed, &temporary, &size, err);
    if (status != SB_OK) return status;
    int result = sb_fs_write_all(fs, file, text, NULL);
    if (result == 0 && is_synced) result = fs->sync(fs->ctx, file);
    int closed = fs->close(fs->ctx, file);
    if (result == 0) result = closed;
    if (result == 0) result = fs->rename(fs->ctx, temporary, path);
    if (result < 0) fs->remove(fs->ctx, temporary);
    sb_alloc_put(env->alloc, temporary, size);
    if (result < 0) return sb_fail_errno(err, SB_IO, -result, "%s: can't write this", path);
    return is_synced ? sb_sync_directory(fs, dir, err) : SB_OK;
}

sb_status sb_ckpt_state_write(const sb_env *env, const char *dir, const char *name,
                              const sb_ckpt_state *state, bool is_synced, sb_err *err) {
    char path[SB_CKPT_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name ? name : SB_CKPT_STATE_FILE);
    if (n < 0 || (size_t)n >= sizeof path)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", dir);
    sb_buf text;
    sb_buf_init(&text, env->alloc, MAX_TEXT);
    sb_status status = sb_ckpt_state_format(&text, state, env->alloc, err);
    if (status == SB_OK) status = replace_file(env, dir, path, sb_buf_slice(&text), is_synced, err);
    sb_buf_fini(&text);
    return status;
}

sb_status sb_ckpt_state_read(sb_ckpt_state *out, const sb_env *env, const char *dir,
                             const char *name, sb_arena *arena, sb_err *err) {
    char path[SB_CKPT_PATH];
    sb_file_info info;
    sb_slice text;
    int n = snprintf(path, sizeof path, "%s/%s", dir, name ? name : SB_CKPT_STATE_FILE);
    if (n < 0 || (size_t)n >= sizeof path)
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", dir);
    if (env->fs->stat(env->fs->ctx, path, &info) < 0)
        return sb_fail(err, SB_NOT_FOUND, 0, "%s: there is no such file", path);
    sb_status status = sb_fs_get(env->fs, env->alloc, path, MAX_TEXT, &text, err);
    if (status != SB_OK) return status;
    status = sb_ckpt_state_parse(out, text, env->alloc, arena, err);
    sb_alloc_put(env->alloc, (void *)(uintptr_t)text.p, text.n);
    return status;
}
