/* projector.c: from directories to the runs that have embeddings. */
#include "query/kinds/projector.h"

#include <errno.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle.h"
#include "ckpt/state.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "fsio/beneath.h"
#include "base/banned.h"

#define MAX_CONFIG ((size_t)64 << 20)

static sb_status no_memory(sb_err *err) {
    return sb_fail_nomem(err, "for the projector");
}

/* Pieces joined, with a NUL behind them, in the arena; .p is NULL without memory. */
static sb_slice join(const sb_projector *p, sb_slice a, const char *between, sb_slice b) {
    size_t m = strlen(between);
    uint8_t *text = sb_arena_get(p->arena, a.n + m + b.n + 1);
    if (!text) return (sb_slice){NULL, 0};
    if (a.n) memcpy(text, a.p, a.n);
    memcpy(text + a.n, between, m);
    if (b.n) memcpy(text + a.n + m, b.p, b.n);
    text[a.n + m + b.n] = 0;
    return sb_slice_of(text, a.n + m + b.n);
}

static sb_slice join_path(const sb_projector *p, const char *dir, sb_slice name) {
    sb_slice d = sb_slice_str(dir);
    return join(p, d, d.n && d.p[d.n - 1] == '/' ? "" : "/", name);
}

/* ---- the message ----------------------------------------------------------------------------- */

static bool read_numbers(const sb_projector *p, sb_slice message, uint32_t number,
                         const uint32_t **out, size_t *n) {
    size_t room = 0, count;
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == number && sb_pb_many_count(&f, SB_PB_VARINT, &count)) room += count;
    uint32_t *numbers = sb_arena_zeroed(p->arena, room, sizeof *numbers);
    if (!numbers) return false;
    c = sb_pb_over(message);
    *n = 0;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != number) continue;
        sb_pb_many many = sb_pb_many_of(&f, SB_PB_VARINT);
        uint64_t bits;
        while (*n < room && sb_pb_many_next(&many, &bits) == SB_PB_FIELD)
            numbers[(*n)++] = (uint32_t)bits;
    }
    *out = numbers;
    return true;
}

static bool read_sprite(const sb_projector *p, sb_slice message, sb_embedding_info *e) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    e->has_sprite = true;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == SB_SPRITE_IMAGE_PATH) e->image_path = f.bytes;
    return read_numbers(p, message, SB_SPRITE_SINGLE_IMAGE_DIM, &e->image_dims, &e->image_dim_n);
}

static bool read_embedding(const sb_projector *p, sb_slice message, sb_embedding_info *e) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_EMBEDDING_TENSOR_NAME) e->name = f.bytes;
        if (f.number == SB_EMBEDDING_METADATA_PATH) e->metadata_path = f.bytes;
        if (f.number == SB_EMBEDDING_BOOKMARKS_PATH) e->bookmarks_path = f.bytes;
        if (f.number == SB_EMBEDDING_TENSOR_PATH) e->tensor_path = f.bytes;
        if (f.number == SB_EMBEDDING_SPRITE && !read_sprite(p, f.bytes, e)) return false;
    }
    return read_numbers(p, message, SB_EMBEDDING_TENSOR_SHAPE, &e->shape, &e->shape_n);
}

/* The message was made by our own parser of text: it is well-formed. */
static sb_status read_config(const sb_projector *p, sb_slice message, sb_projector_run *run,
                             sb_err *err) {
    size_t count = 0;
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_PROJECTOR_MODEL_CHECKPOINT_PATH) run->checkpoint = f.bytes;
        if (f.number == SB_PROJECTOR_MODEL_CHECKPOINT_DIR) run->model_dir = f.bytes;
        if (f.number == SB_PROJECTOR_EMBEDDINGS) count++;
    }
    run->embeddings = sb_arena_zeroed(p->arena, count, sizeof *run->embeddings);
    if (!run->embeddings) return no_memory(err);
    c = sb_pb_over(message);
    while (sb_pb_next(&c, &f) == SB_PB_FIELD)
        if (f.number == SB_PROJECTOR_EMBEDDINGS &&
            !read_embedding(p, f.bytes, &run->embeddings[run->n++]))
            return no_memory(err);
    return SB_OK;
}

/* Most runs have neither config nor checkpoint: one look is cheaper than a careful opening. */
static bool is_missing(const sb_projector *p, sb_slice path) {
    sb_file_info info;
    int known = p->fs->stat(p->fs->ctx, (const char *)path.p, &info);
    return known == -ENOENT || known == -ENOTDIR;
}

/* Reads the config of run->dir; one that is not there is an empty one. */
static sb_status load_config(const sb_projector *p, sb_projector_run *run, bool *is_there,
                             sb_err *err) {
    sb_slice text;
    *is_there = false;
    run->config_path = join_path(p, run->dir, SB_LIT(SB_PROJECTOR_CONFIG));
    if (!run->config_path.p) return no_memory(err);
    if (is_missing(p, run->config_path)) return SB_OK;
    sb_status status = sb_fs_get_beneath(p->fs, p->alloc, run->dir, SB_LIT(SB_PROJECTOR_CONFIG),
                                         MAX_CONFIG, &text, err);
    if (status == SB_NOT_FOUND || status == SB_INVALID) return SB_OK;
    if (status != SB_OK) return status;
    *is_there = true;
    sb_buf message;
    sb_buf_init(&message, p->alloc, MAX_CONFIG);
    status = sb_text_parse(&message, SB_MSG_PROJECTOR, text, err);
    sb_alloc_put(p->alloc, (void *)(uintptr_t)text.p, text.n);
    if (status == SB_OK) {
        sb_slice kept = sb_arena_dup(p->arena, sb_buf_slice(&message));
        status = kept.p ? read_config(p, kept, run, err) : no_memory(err);
    }
    sb_buf_fini(&message);
    return status;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* The newest checkpoint of dir; shown as TensorFlow would spell it. */
static sb_status newest_in(const sb_projector *p, sb_projector_run *run, const char *dir,
                           const char *shown_dir, sb_err *err) {
    sb_slice file = join_path(p, dir, SB_LIT(SB_CKPT_STATE_FILE));
    if (!file.p) return no_memory(err);
    if (is_missing(p, file)) return SB_NOT_FOUND;
    sb_buf prefix;
    sb_buf_init(&prefix, p->alloc, SB_BENEATH_MAX);
    bool is_absolute = false;
    sb_status status =
        sb_ckpt_latest(&prefix, &is_absolute, p->fs, p->alloc, dir, NULL, SB_CKPT_BENEATH, err);
    if (status == SB_OK) {
        run->checkpoint_dir = dir;
        run->checkpoint_prefix = sb_arena_dup(p->arena, sb_buf_slice(&prefix));
        run->checkpoint = join_path(p, is_absolute ? dir : shown_dir, run->checkpoint_prefix);
        if (!run->checkpoint_prefix.p || !run->checkpoint.p) status = no_memory(err);
    }
    sb_buf_fini(&prefix);
    return status;
}

/* In the run's directory, else in its parent, which for the log directory itself we must not look
 * into. `above` is made by cutting the path, so a run that is a symbolic link cannot lead
 * elsewhere. */
static sb_status find_newest(const sb_projector *p, sb_projector_run *run, const char *dir,
                             sb_err *err) {
    sb_status status = newest_in(p, run, dir, dir, err);
    if (status == SB_OK || status == SB_NOMEM) return status;
    sb_slice above = sb_slice_str(dir);
    if (sb_slice_eq(run->name, SB_LIT("."))) return SB_NOT_FOUND;
    while (above.n && above.p[above.n - 1] == '/') above.n--;
    while (above.n && above.p[above.n - 1] != '/') above.n--;
    if (above.n == 0) return SB_NOT_FOUND;
    sb_slice path = sb_arena_dup(p->arena, above), shown = join_path(p, dir, SB_LIT(".."));
    if (!path.p || !shown.p) return no_memory(err);
    return newest_in(p, run, (const char *)path.p, (const char *)shown.p, err);
}

/* The one that the config names: beneath the config's directory, and there. */
static sb_status find_named(const sb_projector *p, sb_projector_run *run, sb_err *err) {
    sb_slice inner;
    if (!sb_beneath_relative(run->dir, run->checkpoint, &inner)) return SB_INVALID;
    sb_slice index = join(p, inner, ".index", SB_LIT(""));
    if (!index.p) return no_memory(err);
    int file = sb_fs_open_beneath(p->fs, run->dir, index);
    if (file < 0) return SB_NOT_FOUND;
    p->fs->close(p->fs->ctx, file);
    run->checkpoint_dir = run->dir;
    run->checkpoint_prefix = inner;
    return SB_OK;
}

static bool is_slot(sb_slice name) {
    static const char slot[] = ".OPTIMIZER_SLOT";
    return name.n && memmem(name.p, name.n, slot, sizeof slot - 1) != NULL;
}

static const uint32_t *shape_of(const sb_projector *p, const sb_bundle_tensor *t) {
    uint32_t *shape = sb_arena_get(p->arena, 2 * sizeof *shape);
    for (int i = 0; shape && i < 2; i++) shape[i] = (uint32_t)t->dims[i];
    return shape;
}

static bool is_offered(const sb_bundle_tensor *t) {
    return t->rank == 2 && !is_slot(t->name) && t->dims[0] <= UINT32_MAX &&
           t->dims[1] <= UINT32_MAX;
}

/* Marks the tensors that the config speaks of, and gives them their shapes. The name may or may not
 * have ":0" on either side. */
static bool mark_known(const sb_projector *p, sb_projector_run *run, const sb_bundle *b,
                       uint8_t *known) {
    for (size_t i = 0; i < run->n; i++) {
        sb_embedding_info *e = &run->embeddings[i];
        sb_slice suffixed = join(p, e->name, ":0", SB_LIT(""));
        if (!suffixed.p) return false;
        const sb_slice names[] = {e->name, suffixed};
        for (size_t k = 0; k < 2; k++) {
            const sb_bundle_tensor *t = sb_bundle_find(b, names[k]);
            if (!t || !is_offered(t) || known[t - sb_bundle_at(b, 0)]) continue;
            known[t - sb_bundle_at(b, 0)] = 1;
            if (e->shape_n) continue;
            e->shape = shape_of(p, t);
            e->shape_n = 2;
            if (!e->shape) return false;
        }
    }
    return true;
}

/* Adds all matrices of the checkpoint. A first embedding without a name stands for all of them: its
 * labels and bookmarks are theirs. */
static sb_status add_matrices(const sb_projector *p, sb_projector_run *run, const sb_bundle *b,
                              sb_err *err) {
    size_t count = sb_bundle_count(b);
    sb_embedding_info special = {0};
    if (run->n && run->embeddings[0].name.n == 0) {
        special = run->embeddings[0];
        run->embeddings++;
        run->n--;
    }
    uint8_t *known = sb_arena_zeroed(p->arena, count, 1);
    if (!known || !mark_known(p, run, b, known)) return no_memory(err);
    size_t more = 0;
    for (size_t i = 0; i < count; i++) more += is_offered(sb_bundle_at(b, i)) && !known[i];
    sb_embedding_info *all = sb_arena_zeroed(p->arena, run->n + more, sizeof *all);
    if (!all) return no_memory(err);
    if (run->n) memcpy(all, run->embeddings, run->n * sizeof *all);
    size_t n = run->n;
    for (size_t i = 0; i < count; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        if (!is_offered(t) || known[i]) continue;
        sb_embedding_info *e = &all[n++];
        e->name = sb_arena_dup(p->arena, t->name);
        e->metadata_path = special.metadata_path;
        e->bookmarks_path = special.bookmarks_path;
        e->shape = shape_of(p, t);
        e->shape_n = 2;
        if (!e->name.p || !e->shape) return no_memory(err);
    }
    run->embeddings = all;
    run->n = n;
    return SB_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The first embedding in a file is called as the file when it has no name. */
static bool name_file(sb_projector_run *run) {
    for (size_t i = 0; i < run->n; i++) {
        sb_embedding_info *e = &run->embeddings[i];
        if (e->tensor_path.n == 0) continue;
        if (e->name.n == 0) {
            size_t at = e->tensor_path.n;
            while (at && e->tensor_path.p[at - 1] != '/') at--;
            e->name = sb_slice_of(e->tensor_path.p + at, e->tensor_path.n - at);
        }
        return true;
    }
    return false;
}

/* One directory as a run. SB_NOT_FOUND when there is nothing to show; any failure but of memory
 * means the same. */
static sb_status look_at(const sb_projector *p, sb_projector_run *run, const char *model_dir,
                         bool needs_config, sb_err *err) {
    bool is_there;
    sb_status status = load_config(p, run, &is_there, err);
    if (status != SB_OK || (needs_config && !is_there))
        return status == SB_OK ? SB_NOT_FOUND : status;
    bool has_files = name_file(run);
    if (run->checkpoint.n) {
        status = find_named(p, run, err);
        if (status != SB_OK) return status;
    } else {
        status = find_newest(p, run, model_dir, err);
        if (status == SB_NOMEM || (status != SB_OK && !has_files)) return status;
    }
    for (size_t i = 0; i < run->n; i++)
        if (sb_slice_ends(run->embeddings[i].name, SB_LIT(":0"))) run->embeddings[i].name.n -= 2;
    if (run->checkpoint_prefix.n) {
        sb_bundle *b;
        status = sb_bundle_open(&b, p->fs, p->alloc, run->checkpoint_dir, run->checkpoint_prefix,
                                NULL, err);
        if (status == SB_NOMEM) return status;
        if (status == SB_OK) status = add_matrices(p, run, b, err);
        sb_bundle_close(b);
        if (status == SB_NOMEM) return status;
    }
    return run->n ? SB_OK : SB_NOT_FOUND;
}

/* Is the plugin's folder a link that leads out of the run? */
static bool leads_outside(const sb_projector *p, const char *run, sb_slice dir) {
    sb_slice config = join_path(p, (const char *)dir.p, SB_LIT(SB_PROJECTOR_CONFIG));
    if (!config.p || is_missing(p, config)) return false;
    int file = sb_fs_open_beneath(p->fs, run, SB_LIT(SB_PROJECTOR_ASSETS "/" SB_PROJECTOR_CONFIG));
    if (file >= 0) p->fs->close(p->fs->ctx, file);
    return file < 0;
}

/* A run's directory, or what plugins may keep inside it, which comes before. */
static sb_status look_into(const sb_projector *p, sb_slice name, const char *path, bool has_assets,
                           sb_projector_run *out, sb_err *err) {
    if (has_assets) {
        sb_slice dir = join_path(p, path, SB_LIT(SB_PROJECTOR_ASSETS));
        if (!dir.p) return no_memory(err);
        *out = (sb_projector_run){.name = name, .dir = (const char *)dir.p};
        sb_status status =
            leads_outside(p, path, dir) ? SB_INVALID : look_at(p, out, path, true, err);
        if (status == SB_OK || status == SB_NOMEM) return status;
    }
    *out = (sb_projector_run){.name = name, .dir = path};
    return look_at(p, out, path, false, err);
}

sb_status sb_projector_find(const sb_projector *p, sb_slice only, bool first,
                            sb_projector_run **out, size_t *n, sb_err *err) {
    sb_projector_run *runs = sb_arena_zeroed(p->arena, p->place_n + 1, sizeof *runs);
    if (!runs) return no_memory(err);
    bool has_root = false;
    *n = 0;
    *out = runs;
    for (size_t i = 0; i <= p->place_n; i++) {
        bool is_root = i == p->place_n;
        if (is_root && (has_root || !p->logdir)) break;
        sb_slice name = is_root ? SB_LIT(".") : p->places[i].name;
        has_root |= !is_root && sb_slice_eq(name, SB_LIT("."));
        if (only.p && !sb_slice_eq(only, name)) continue;
        if (sb_budget_over(p->budget)) return sb_fail_timeout(err);
        sb_arena_mark mark = sb_arena_here(p->arena);
        sb_status status =
            look_into(p, name, is_root ? p->logdir : p->places[i].path, !is_root, &runs[*n], err);
        if (status == SB_NOMEM) return status;
        if (status == SB_OK && ++*n && first) break;
        if (status != SB_OK) sb_arena_reset(p->arena, mark);
    }
    return SB_OK;
}

/* "x" and "x:0" are the same; what has a colon of its own is only itself. */
static bool is_same_name(sb_slice a, sb_slice b) {
    if (sb_slice_eq(a, b)) return true;
    sb_slice less = a.n < b.n ? a : b, more = a.n < b.n ? b : a;
    return more.n == less.n + 2 && sb_slice_starts(more, less) &&
           sb_slice_ends(more, SB_LIT(":0")) && !(less.n && memchr(less.p, ':', less.n));
}

const sb_embedding_info *sb_projector_embedding(const sb_projector_run *run, sb_slice name) {
    for (size_t i = 0; i < run->n; i++)
        if (is_same_name(run->embeddings[i].name, name)) return &run->embeddings[i];
    return NULL;
}
