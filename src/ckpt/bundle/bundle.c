/* bundle.c: from an index file to a list of tensors. */
#include "ckpt/bundle/bundle_int.h"

#include <stdio.h>

#include "base/search.h"
#include "ckpt/table/table.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "fsio/beneath.h"
#include "base/banned.h"

/* Large enough for any real checkpoint, and small enough that sizes in a damaged or hostile file
 * do not use up the memory. */
const sb_bundle_limits sb_bundle_default_limits = {
    .max_index = (size_t)1 << 30,
    .max_memory = (size_t)2 << 30,
    .max_key = (size_t)1 << 20,
    .max_slices = 4096,
    .max_strings = (size_t)1 << 31,
};

#define ARENA_BLOCK ((size_t)64 << 10)

/* ---- the header ------------------------------------------------------------------------------ */

static bool read_version(sb_slice bytes, int32_t *producer, int32_t *min_consumer, bool *is_bad) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_VERSIONS_PRODUCER && f.wire == SB_PB_VARINT) *producer = sb_pb_int32(&f);
        if (f.number == SB_VERSIONS_MIN_CONSUMER && f.wire == SB_PB_VARINT)
            *min_consumer = sb_pb_int32(&f);
        if (f.number == SB_VERSIONS_BAD_CONSUMERS) {
            sb_pb_many many = sb_pb_many_of(&f, SB_PB_VARINT);
            uint64_t bits;
            sb_pb_step more;
            while ((more = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) *is_bad |= bits == 1;
            if (more == SB_PB_BAD) return false;
        }
    }
    return step == SB_PB_END;
}

static sb_status read_header(sb_bundle *b, sb_slice key, sb_slice bytes, const char *name,
                             sb_err *err) {
    (void)key;
    int32_t shards = 0, producer = 0, min_consumer = 0;
    bool is_bad = false;
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_BUNDLE_HEADER_NUM_SHARDS && f.wire == SB_PB_VARINT)
            shards = sb_pb_int32(&f);
        if (f.number == SB_BUNDLE_HEADER_ENDIANNESS && f.wire == SB_PB_VARINT)
            b->is_swapped = f.u64 == 1;
        if (f.number == SB_BUNDLE_HEADER_VERSION && f.wire == SB_PB_BYTES &&
            !read_version(f.bytes, &producer, &min_consumer, &is_bad))
            return sb_fail(err, SB_CORRUPT, 0, "%s: its version is malformed", name);
    }
    if (step == SB_PB_BAD || shards < 0)
        return sb_fail(err, SB_CORRUPT, 0, "%s: its header is malformed", name);
    if (producer < 0 || min_consumer > 1 || is_bad)
        return sb_fail(
            err, SB_INVALID, 0,
            "%s: was written by a newer version (%d, for readers from version %d on); this "
            "one reads version 1: use a newer seaboard, or save it again",
            name, producer, min_consumer);
    b->shards = (uint32_t)shards;
    return SB_OK;
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool read_dim(sb_slice bytes, int64_t *size) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    *size = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD)
        if (f.number == SB_DIM_SIZE && f.wire == SB_PB_VARINT) *size = sb_pb_int64(&f);
    return step == SB_PB_END;
}

bool sb_bundle_read_shape(sb_slice bytes, int64_t dims[SB_CKPT_MAX_RANK], uint32_t *rank) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_SHAPE_UNKNOWN_RANK && f.wire == SB_PB_VARINT && f.u64) return false;
        if (f.number != SB_SHAPE_DIM || f.wire != SB_PB_BYTES) continue;
        int64_t size;
        if (*rank == SB_CKPT_MAX_RANK || !read_dim(f.bytes, &size) || size < 0) return false;
        dims[(*rank)++] = size;
    }
    return step == SB_PB_END;
}

/* All dims but the zeros must multiply without overflow: then so do all parts of the product. */
bool sb_bundle_count_elements(const int64_t *dims, uint32_t rank, uint64_t *count) {
    uint64_t product = 1;
    bool is_empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return false;
        if (dims[i] == 0)
            is_empty = true;
        else if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product))
            return false;
    }
    *count = is_empty ? 0 : product;
    return product <= INT64_MAX;
}

bool sb_bundle_read_extents(sb_slice bytes, uint32_t rank, int64_t *to) {
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    uint32_t n = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != SB_TENSOR_SLICE_EXTENT || f.wire != SB_PB_BYTES) continue;
        if (n == rank) return false;
        sb_pb inner = sb_pb_over(f.bytes);
        sb_pb_field g;
        sb_pb_step more;
        int64_t *pair = to + 2 * (size_t)n++;
        pair[0] = 0;
        pair[1] = -1;
        while ((more = sb_pb_next(&inner, &g)) == SB_PB_FIELD) {
            if (g.wire != SB_PB_VARINT) continue;
            if (g.number == SB_TENSOR_EXTENT_START) pair[0] = sb_pb_int64(&g);
            if (g.number == SB_TENSOR_EXTENT_LENGTH) pair[1] = sb_pb_int64(&g);
        }
        if (more == SB_PB_BAD) return false;
    }
    return step == SB_PB_END && n == rank;
}

static sb_status read_slices(sb_bundle *b, sb_slice bytes, sb_bundle_tensor *t, sb_err *err) {
    if (t->slice_count > b->limits.max_slices)
        return sb_fail(err, SB_LIMIT, 0, "%.*s: is in %u pieces, over the limit of %zu",
                       SB_SHOWN(t->name), t->slice_count, b->limits.max_slices);
    int64_t *extents =
        sb_arena_zeroed(&b->arena, (size_t)t->slice_count * t->rank, 2 * sizeof *extents);
    if (!extents) return sb_fail_nomem(err, "for a checkpoint's index");
    t->extents = extents;
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != SB_BUNDLE_ENTRY_SLICES || f.wire != SB_PB_BYTES) continue;
        if (t->rank == 0 || !sb_bundle_read_extents(f.bytes, t->rank, extents))
            return sb_fail(err, SB_CORRUPT, 0, "%.*s: a piece without the tensor's dimensions",
                           SB_SHOWN(t->name));
        extents += 2 * (size_t)t->rank;
    }
    return SB_OK;
}

static sb_status malformed(const sb_bundle_tensor *t, const char *what, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, 0, "%.*s: its %s is malformed", SB_SHOWN(t->name), what);
}

/* The fields of an entry but for name, dims and extents. */
static sb_status read_fields(sb_slice bytes, sb_bundle_tensor *t, int64_t *dims, sb_err *err) {
    int64_t offset = 0, size = 0;
    int32_t shard = 0;
    sb_pb c = sb_pb_over(bytes);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        bool is_varint = f.wire == SB_PB_VARINT;
        if (f.number == SB_BUNDLE_ENTRY_DTYPE && is_varint)
            t->dtype = f.u64 > INT32_MAX ? SB_NO_DTYPE : (sb_dtype)f.u64;
        if (f.number == SB_BUNDLE_ENTRY_SHAPE && f.wire == SB_PB_BYTES &&
            !sb_bundle_read_shape(f.bytes, dims, &t->rank))
            return malformed(t, "shape", err);
        if (f.number == SB_BUNDLE_ENTRY_SHARD_ID && is_varint) shard = sb_pb_int32(&f);
        if (f.number == SB_BUNDLE_ENTRY_OFFSET && is_varint) offset = sb_pb_int64(&f);
        if (f.number == SB_BUNDLE_ENTRY_SIZE && is_varint) size = sb_pb_int64(&f);
        if (f.number == SB_BUNDLE_ENTRY_CRC32C && f.wire == SB_PB_FIXED32) t->crc = (uint32_t)f.u64;
        if (f.number == SB_BUNDLE_ENTRY_SLICES && f.wire == SB_PB_BYTES) t->slice_count++;
    }
    if (step == SB_PB_BAD) return malformed(t, "entry", err);
    if (!sb_bundle_count_elements(dims, t->rank, &t->count)) return malformed(t, "shape", err);
    if (offset < 0 || size < 0 || shard < 0) return malformed(t, "place", err);
    t->shard = (uint32_t)shard;
    t->offset = (uint64_t)offset;
    t->size = (uint64_t)size;
    return SB_OK;
}

sb_status sb_bundle_add_entry(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    sb_bundle_entries *to = t->name.n && t->name.p[0] == 0 ? &b->pieces : &b->tensors;
    sb_bundle_tensor *slot = SB_VEC_PUSH(to, b->alloc, b->limits.max_memory / sizeof *t);
    if (!slot) return sb_fail_nomem(err, "for a checkpoint's index");
    *slot = *t;
    return SB_OK;
}

static sb_status read_entry(sb_bundle *b, sb_slice key, sb_slice bytes, const char *name,
                            sb_err *err) {
    (void)name;
    sb_bundle_tensor t = {.name = sb_arena_dup(&b->arena, key)};
    if (!t.name.p) return sb_fail_nomem(err, "for a checkpoint's index");
    int64_t room[SB_CKPT_MAX_RANK];
    sb_status status = read_fields(bytes, &t, room, err);
    if (status != SB_OK) return status;
    int64_t *dims = sb_arena_get(&b->arena, t.rank * sizeof *dims);
    if (!dims) return sb_fail_nomem(err, "for a checkpoint's index");
    memcpy(dims, room, t.rank * sizeof *dims);
    t.dims = dims;
    if (t.slice_count) status = read_slices(b, bytes, &t, err);
    return status == SB_OK ? sb_bundle_add_entry(b, &t, err) : status;
}

sb_status sb_bundle_walk_table(sb_bundle *b, sb_slice file, const char *name, size_t max_key,
                               sb_bundle_entry_fn header, sb_bundle_entry_fn entry, sb_err *err) {
    sb_table_limits limits = {
        .max_key = max_key, .max_block = b->limits.max_index, .max_unpacked = b->limits.max_index};
    sb_table table;
    sb_slice key, value;
    sb_status status = sb_table_init(&table, b->alloc, name, file, &limits, err);
    if (status == SB_OK) status = sb_table_next(&table, &key, &value, err);
    if (status == SB_END || (status == SB_OK && key.n != 0))
        status = sb_fail(err, SB_CORRUPT, 0, "%s: has no header", name);
    if (status == SB_OK) status = header(b, key, value, name, err);
    while (status == SB_OK) {
        status = sb_table_next(&table, &key, &value, err);
        if (status == SB_OK) status = entry(b, key, value, name, err);
    }
    sb_table_fini(&table);
    return status == SB_END ? SB_OK : status;
}

static sb_status read_index(sb_bundle *b, sb_slice file, const char *name, sb_err *err) {
    return sb_bundle_walk_table(b, file, name, b->limits.max_key, read_header, read_entry, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef sb_status (*parse_fn)(sb_bundle *b, sb_slice file, const char *name, sb_err *err);

/* Reads a file and hands it to the parser of its format. */
static sb_status parse_file(sb_bundle *b, const char *path, parse_fn parse, sb_err *err) {
    sb_slice file;
    sb_status status = sb_fs_get_beneath(b->fs, b->alloc, b->dir, sb_slice_str(path),
                                         b->limits.max_index, &file, err);
    if (status != SB_OK) return status;
    status = parse(b, file, path, err);
    sb_alloc_put(b->alloc, (void *)(uintptr_t)file.p, file.n);
    return status;
}

static sb_status too_long(const sb_bundle *b, sb_err *err) {
    return sb_fail(err, SB_LIMIT, 0, "%.*s: this path is too long", SB_SHOWN(b->prefix));
}

/* A checkpoint of version 1: one file, or all of PREFIX-?????-of-00002. */
static sb_status open_v1(sb_bundle *b, sb_err *err) {
    char path[SB_BENEATH_MAX];
    uint32_t files = sb_bundle_v1_files(b->prefix), count = files ? files : 1;
    b->format = SB_BUNDLE_V1;
    for (uint32_t i = 0; i < count; i++) {
        if (!sb_bundle_v1_path(b->prefix, i, path, sizeof path)) return too_long(b, err);
        sb_status status = parse_file(b, path, sb_bundle_read_v1, err);
        if (status == SB_NOT_FOUND && i > 0)
            return sb_fail(err, SB_NOT_FOUND, 0,
                           "%s: this file is missing, and the checkpoint has %u; copy it beside "
                           "the others again",
                           path, files);
        if (status != SB_OK) return status;
    }
    return sb_bundle_join_v1(b, err);
}

static sb_status open_files(sb_bundle *b, const char *dir, sb_slice prefix, sb_err *err) {
    b->prefix = sb_arena_dup(&b->arena, prefix);
    b->dir = dir ? (const char *)sb_arena_dup(&b->arena, sb_slice_str(dir)).p : NULL;
    if (!b->prefix.p || (dir && !b->dir)) return sb_fail_nomem(err, "for a checkpoint's index");
    if (memchr(b->prefix.p, 0, b->prefix.n))
        return sb_fail(err, SB_INVALID, 0, "%.*s: a path has no zero bytes", SB_SHOWN(b->prefix));
    char path[SB_BENEATH_MAX];
    int n = snprintf(path, sizeof path, "%s.index", (const char *)b->prefix.p);
    if (n < 0 || (size_t)n >= sizeof path) return too_long(b, err);
    b->format = SB_BUNDLE_V2;
    sb_status status = parse_file(b, path, read_index, err);
    if (status != SB_NOT_FOUND) return status;
    sb_err other;
    sb_status older = open_v1(b, &other);
    /* The message names PREFIX.index. An empty prefix is no file's name either. */
    bool is_none = older == SB_NOT_FOUND || older == SB_INVALID;
    if (is_none && b->tensors.n == 0 && !sb_bundle_v1_files(b->prefix)) return status;
    if (older != SB_OK && err) *err = other;
    return older;
}

sb_status sb_bundle_open(sb_bundle **out, const sb_fs *fs, const sb_alloc *alloc, const char *dir,
                         sb_slice prefix, const sb_bundle_limits *limits, sb_err *err) {
    *out = NULL;
    sb_bundle *b = sb_alloc_zeroed(alloc, 1, sizeof *b);
    if (!b) return sb_fail_nomem(err, "for a checkpoint");
    b->fs = fs;
    b->alloc = alloc;
    b->limits = limits ? *limits : sb_bundle_default_limits;
    for (size_t i = 0; i < SB_BUNDLE_OPEN_FILES; i++) b->files[i].file = -1;
    pthread_mutex_init(&b->lock, NULL);
    sb_arena_init(&b->arena, alloc, ARENA_BLOCK, b->limits.max_memory);
    sb_status status = open_files(b, dir, prefix, err);
    if (status == SB_OK)
        *out = b;
    else
        sb_bundle_close(b);
    return status;
}

void sb_bundle_close(sb_bundle *b) {
    if (!b) return;
    sb_bundle_close_files(b);
    pthread_mutex_destroy(&b->lock);
    SB_VEC_FREE(&b->tensors, b->alloc);
    SB_VEC_FREE(&b->pieces, b->alloc);
    sb_arena_fini(&b->arena);
    sb_alloc_put(b->alloc, b, sizeof *b);
}

/* ---- looking up ------------------------------------------------------------------------------ */

const sb_bundle_tensor *sb_bundle_entry(const sb_bundle_entries *entries, sb_slice key) {
    size_t i;
    SB_PARTITION_POINT(i, 0, entries->n, sb_slice_cmp(entries->items[i].name, key) < 0);
    return i < entries->n && sb_slice_eq(entries->items[i].name, key) ? entries->items + i : NULL;
}

size_t sb_bundle_count(const sb_bundle *b) {
    return b->tensors.n;
}

const sb_bundle_tensor *sb_bundle_at(const sb_bundle *b, size_t i) {
    return b->tensors.items + i;
}

const sb_bundle_tensor *sb_bundle_find(const sb_bundle *b, sb_slice name) {
    return sb_bundle_entry(&b->tensors, name);
}

const sb_bundle_tensor *sb_bundle_piece_at(const sb_bundle *b, size_t i) {
    return i < b->pieces.n ? b->pieces.items + i : NULL;
}

uint32_t sb_bundle_shards(const sb_bundle *b) {
    return b->shards;
}

sb_slice sb_bundle_prefix(const sb_bundle *b) {
    return b->prefix;
}

sb_bundle_format sb_bundle_format_of(const sb_bundle *b) {
    return b->format;
}

bool sb_bundle_is_big_endian(const sb_bundle *b) {
    return b->is_swapped;
}
