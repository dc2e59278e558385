/* state.c: reads the state file and finds the newest checkpoint. */
#include "ckpt/state.h"

#include <stdio.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "fsio/beneath.h"
#include "base/banned.h"

/* A manager that keeps everything writes a line a checkpoint; a million of them fit. */
#define MAX_TEXT ((size_t)256 << 20)

/* ---- parsing --------------------------------------------------------------------------------- */

static void count_values(sb_slice bytes, size_t *paths, size_t *times) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        size_t n;
        if (f.number == SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_PATHS) ++*paths;
        if (f.number == SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_TIMESTAMPS &&
            sb_pb_many_count(&f, SB_PB_FIXED64, &n))
            *times += n;
    }
}

/* The message was made by our own parser of text: it is well-formed. */
static sb_status read_message(sb_ckpt_state *out, sb_slice bytes, sb_arena *arena, sb_err *err) {
    size_t paths = 0, times = 0;
    count_values(bytes, &paths, &times);
    *out = (sb_ckpt_state){0};
    out->all = sb_arena_zeroed(arena, paths, sizeof *out->all);
    out->times = sb_arena_zeroed(arena, times, sizeof *out->times);
    if (!out->all || !out->times) return sb_fail_nomem(err, "for a checkpoint's state");
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_CHECKPOINT_STATE_MODEL_CHECKPOINT_PATH) out->newest = f.bytes;
        if (f.number == SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_PATHS && out->count < paths)
            out->all[out->count++] = f.bytes;
        if (f.number == SB_CHECKPOINT_STATE_LAST_PRESERVED_TIMESTAMP)
            out->last_preserved = sb_pb_double(&f);
        if (f.number == SB_CHECKPOINT_STATE_ALL_MODEL_CHECKPOINT_TIMESTAMPS) {
            sb_pb_many many = sb_pb_many_of(&f, SB_PB_FIXED64);
            uint64_t bits;
            while (out->time_count < times && sb_pb_many_next(&many, &bits) == SB_PB_FIELD)
                out->times[out->time_count++] = sb_bits_double(bits);
        }
    }
    return SB_OK;
}

sb_status sb_ckpt_state_parse(sb_ckpt_state *out, sb_slice text, const sb_alloc *alloc,
                              sb_arena *arena, sb_err *err) {
    sb_buf bytes;
    sb_buf_init(&bytes, alloc, MAX_TEXT);
    sb_status status = sb_text_parse(&bytes, SB_MSG_CHECKPOINT_STATE, text, err);
    if (status == SB_OK) {
        sb_slice kept = sb_arena_dup(arena, sb_buf_slice(&bytes));
        status = kept.p ? read_message(out, kept, arena, err)
                        : sb_fail_nomem(err, "for a checkpoint's state");
    }
    sb_buf_fini(&bytes);
    return status;
}

/* ---- the newest ------------------------------------------------------------------------------ */

static bool is_file(const sb_fs *fs, const char *dir, sb_slice path) {
    int file = sb_fs_open_beneath(fs, dir, path);
    if (file >= 0) fs->close(fs->ctx, file);
    return file >= 0;
}

/* Is there a file PREFIX.index, or one of version 1? */
static bool is_there(const sb_fs *fs, const char *dir, sb_slice prefix) {
    char path[SB_BENEATH_MAX];
    if (memchr(prefix.p, 0, prefix.n)) return false;
    int n = snprintf(path, sizeof path, "%.*s.index", (int)prefix.n, (const char *)prefix.p);
    if (n < 0 || (size_t)n >= sizeof path) return false;
    return is_file(fs, dir, sb_slice_of(path, (size_t)n)) ||
           (sb_bundle_v1_path(prefix, 0, path, sizeof path) &&
            is_file(fs, dir, sb_slice_str(path)));
}

/* Appends the path that the state names, as it is to be opened. */
static sb_status add_path(sb_buf *path, const char *dir, sb_slice newest, sb_ckpt_where where,
                          sb_err *err) {
    if (newest.n == 0) return sb_fail(err, SB_INVALID, 0, "%s: its state names no checkpoint", dir);
    if (where == SB_CKPT_BENEATH) {
        sb_slice inner;
        if (!sb_beneath_relative(dir, newest, &inner))
            return sb_fail(err, SB_INVALID, 0, "%.*s: leads outside of its directory",
                           SB_SHOWN(newest));
        sb_buf_add_slice(path, inner);
        return SB_OK;
    }
    size_t n = strlen(dir);
    if (newest.p[0] != '/' && n) {
        sb_buf_add(path, dir, n);
        if (dir[n - 1] != '/') sb_buf_add_byte(path, '/');
    }
    sb_buf_add_slice(path, newest);
    return SB_OK;
}

static sb_status find_newest(sb_buf *prefix, const sb_fs *fs, const char *dir, sb_slice newest,
                             sb_ckpt_where where, sb_err *err) {
    sb_buf path;
    sb_buf_init(&path, prefix->alloc, SB_BENEATH_MAX);
    sb_status status = add_path(&path, dir, newest, where, err);
    if (status == SB_OK) {
        status = sb_buf_check(&path, "a checkpoint's name", err);
        if (status == SB_OK &&
            !is_there(fs, where == SB_CKPT_BENEATH ? dir : NULL, sb_buf_slice(&path)))
            status = sb_fail(err, SB_NOT_FOUND, 0, "%.*s: there is no such checkpoint",
                             SB_SHOWN(newest));
    }
    if (status == SB_OK) {
        sb_buf_add_slice(prefix, sb_buf_slice(&path));
        status = sb_buf_check(prefix, "a checkpoint's name", err);
    }
    sb_buf_fini(&path);
    return status;
}

sb_status sb_ckpt_latest(sb_buf *prefix, bool *is_absolute, const sb_fs *fs, const sb_alloc *alloc,
                         const char *dir, const char *name, sb_ckpt_where where, sb_err *err) {
    sb_slice text;
    sb_status status = sb_fs_get_beneath(
        fs, alloc, dir, sb_slice_str(name ? name : SB_CKPT_STATE_FILE), MAX_TEXT, &text, err);
    if (status != SB_OK) return status;
    sb_arena arena;
    sb_ckpt_state state;
    sb_arena_init(&arena, alloc, 4096, 4 * MAX_TEXT);
    status = sb_ckpt_state_parse(&state, text, alloc, &arena, err);
    sb_alloc_put(alloc, (void *)(uintptr_t)text.p, text.n);
    if (status == SB_OK) status = find_newest(prefix, fs, dir, state.newest, where, err);
    if (status == SB_OK && is_absolute) *is_absolute = state.newest.p[0] == '/';
    sb_arena_fini(&arena);
    return status;
}
