/* projector.c: merging entries into projector_config.pbtxt.
 *
 *   ProjectorConfig: 1 model_checkpoint_path 2 embeddings 3 model_checkpoint_dir
 *   EmbeddingInfo:   1 tensor_name 2 metadata_path 5 sprite {1 image_path 2 single_image_dim: W, H}
 *                    6 tensor_path */
#include "writer/kinds/projector.h"

#include <errno.h>

#include "base/buf.h"
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "fsio/fs.h"

#include "base/banned.h"

#define MAX_CONFIG ((size_t)64 << 20)

static void add_path(sb_buf *out, uint32_t field, sb_slice folder, const char *name) {
    size_t at = sb_pb_begin(out, field, folder.n + 16);
    sb_buf_add_slice(out, folder);
    sb_buf_add_byte(out, '/');
    sb_buf_add_str(out, name);
    sb_pb_end(out, at);
}

static void add_embedding_entry(sb_buf *out, const sb_projector_entry *entry) {
    size_t info = sb_pb_begin(out, SB_PROJECTOR_EMBEDDINGS, 100);
    sb_pb_add_bytes(out, SB_EMBEDDING_TENSOR_NAME, entry->tensor_name);
    if (entry->has_labels) add_path(out, SB_EMBEDDING_METADATA_PATH, entry->folder, "metadata.tsv");
    if (entry->has_sprite) {
        size_t sprite = sb_pb_begin(out, SB_EMBEDDING_SPRITE, 40);
        add_path(out, SB_SPRITE_IMAGE_PATH, entry->folder, "sprite.png");
        size_t dims = sb_pb_begin(out, SB_SPRITE_SINGLE_IMAGE_DIM, 2);
        sb_pb_add_varint(out, entry->width);
        sb_pb_add_varint(out, entry->height);
        sb_pb_end(out, dims);
        sb_pb_end(out, sprite);
    }
    add_path(out, SB_EMBEDDING_TENSOR_PATH, entry->folder, "tensors.tsv");
    sb_pb_end(out, info);
}

static sb_slice tensor_name_of(sb_slice info) {
    sb_pb c = sb_pb_over(info);
    sb_pb_field f;
    sb_slice name = {NULL, 0};
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == SB_EMBEDDING_TENSOR_NAME && f.wire == SB_PB_BYTES) name = f.bytes;
    return name;
}

/* Appends the config with the entry; it replaces an entry of the same name. */
static void replace_entry(sb_buf *out, sb_slice config, const sb_projector_entry *entry) {
    sb_pb c = sb_pb_over(config);
    sb_pb_field f;
    const uint8_t *from = c.p;
    bool done = false;
    while (config.n && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        bool same = f.number == SB_PROJECTOR_EMBEDDINGS && f.wire == SB_PB_BYTES &&
                    sb_slice_eq(tensor_name_of(f.bytes), entry->tensor_name);
        if (!same)
            sb_buf_add(out, from, (size_t)(c.p - from));
        else if (!done)
            add_embedding_entry(out, entry);
        done |= same;
        from = c.p;
    }
    if (!done) add_embedding_entry(out, entry);
}

/* Reads the config as a message; empty when there is no file. */
static sb_status read_config(const sb_env *env, const char *path, sb_buf *config, sb_err *err) {
    sb_file_info info;
    sb_slice text;
    int there = env->fs->stat(env->fs->ctx, path, &info);
    if (there == -ENOENT) return SB_OK;
    if (there < 0) return sb_fail_errno(err, SB_IO, -there, "%s: can't look at this file", path);
    sb_status status = sb_fs_get(env->fs, env->alloc, path, MAX_CONFIG, &text, err);
    if (status != SB_OK) return status;
    sb_err why = {.code = SB_OK};
    status = sb_text_parse(config, SB_MSG_PROJECTOR, text, &why);
    if (status != SB_OK)
        status = sb_fail(err, status, why.offset, "%s: can't be read, and is left as it is: %s",
                         path, why.text);
    sb_alloc_put(env->alloc, (void *)(uintptr_t)text.p, text.n);
    return status;
}

sb_status sb_projector_merge(const sb_env *env, const char *path, const sb_projector_entry *entry,
                             sb_err *err) {
    sb_buf before, after, text;
    sb_buf_init(&before, env->alloc, MAX_CONFIG);
    sb_buf_init(&after, env->alloc, MAX_CONFIG);
    sb_buf_init(&text, env->alloc, 4 * MAX_CONFIG);
    sb_status status = read_config(env, path, &before, err);
    if (status == SB_OK) {
        replace_entry(&after, sb_buf_slice(&before), entry);
        status = sb_buf_check(&after, "the projector's config", err);
    }
    if (status == SB_OK) status = sb_text_write(&text, SB_MSG_PROJECTOR, sb_buf_slice(&after), err);
    if (status == SB_OK) status = sb_fs_put(env->fs, env->alloc, path, sb_buf_slice(&text), err);
    sb_buf_fini(&text);
    sb_buf_fini(&after);
    sb_buf_fini(&before);
    return status;
}
