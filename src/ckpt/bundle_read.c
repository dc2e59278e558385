/* bundle_read.c: a tensor's bytes from a data file, every one of them checked.
 *
 *   fixed size   elements, row-major; crc over the bytes as they stand
 *   strings      varint length each | u32 masked crc of the lengths | all bytes
 *                crc over: each length as u32 (as u64 from 2^32 on), the stored u32, the bytes
 *   variants     each: varint length | bytes | u32 masked crc so far
 *                crc over: length as u64, the bytes, the stored u32; goes on over all of them */
#include <stdio.h>

#include "base/checked.h"
#include "base/slice.h"
#include "ckpt/bundle_int.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

/* What is read only to be checked goes through a window of this size. */
#define WINDOW ((size_t)256 << 10)

size_t sb_bundle_width(const sb_bundle_tensor *t) {
    return sb_dtype_size(t->dtype);
}

/* ---- data files ------------------------------------------------------------------------------ */

static sb_status open_shard(sb_bundle *b, uint32_t shard, sb_err *err) {
    if (b->file >= 0 && b->file_shard == shard) return SB_OK;
    if (b->file >= 0) b->fs->close(b->fs->ctx, b->file);
    b->file = -1;
    char path[SB_BENEATH_MAX];
    int n = snprintf(path, sizeof path, "%s.data-%05u-of-%05u", (const char *)b->prefix.p, shard,
                     b->shards);
    if (n < 0 || (size_t)n >= sizeof path)
        return sb_fail(err, SB_LIMIT, 0, "%.*s: too long a name", SB_SHOWN(b->prefix));
    int file = sb_fs_open_beneath(b->fs, b->dir, sb_slice_of(path, (size_t)n));
    if (file < 0) return sb_fail_errno(err, SB_IO, -file, "%s: can't open this file", path);
    sb_file_info info;
    int known = b->fs->info(b->fs->ctx, file, &info);
    if (known < 0) {
        b->fs->close(b->fs->ctx, file);
        return sb_fail_errno(err, SB_IO, -known, "%s: can't look at this file", path);
    }
    b->file = file;
    b->file_shard = shard;
    b->file_size = info.size;
    return SB_OK;
}

/* Strings take a byte each at least, variants five. */
static bool size_fits(const sb_bundle_tensor *t) {
    size_t width = sb_bundle_width(t);
    uint64_t size;
    if (width == 0) return t->count <= t->size;
    return !__builtin_mul_overflow(t->count, (uint64_t)width, &size) && size == t->size;
}

sb_status sb_bundle_go_to(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    if (t->shard >= b->shards)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: is in data file %u of %u", SB_SHOWN(t->name),
                       t->shard, b->shards);
    if (!size_fits(t))
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: %llu bytes are not what its shape asks for",
                       SB_SHOWN(t->name), (unsigned long long)t->size);
    sb_status status = open_shard(b, t->shard, err);
    if (status != SB_OK) return status;
    if (t->offset > b->file_size || t->size > b->file_size - t->offset)
        return sb_fail(err, SB_CORRUPT, t->offset, "%.*s: lies beyond the end of its data file",
                       SB_SHOWN(t->name));
    return SB_OK;
}

static sb_status bad_checksum(const sb_bundle_tensor *t, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, t->offset, "%.*s: its checksum does not match its data",
                   SB_SHOWN(t->name));
}

/* Reads all of the entry; bytes keep .. keep + n go to `to`, the others only into the crc. */
static sb_status read_and_check(sb_bundle *b, const sb_bundle_tensor *t, uint64_t keep, uint64_t n,
                                uint8_t *to, uint8_t *window, sb_err *err) {
    uint32_t crc = 0;
    for (uint64_t at = 0; at < t->size;) {
        bool is_kept = at >= keep && at - keep < n;
        uint64_t until = is_kept ? keep + n : at < keep && keep < t->size ? keep : t->size;
        size_t piece = until - at < WINDOW ? (size_t)(until - at) : WINDOW;
        uint8_t *place = is_kept ? to + (at - keep) : window;
        sb_status status =
            sb_fs_read_exactly(b->fs, b->file, b->prefix, place, piece, t->offset + at, err);
        if (status != SB_OK) return status;
        crc = sb_crc32c(crc, place, piece);
        at += piece;
    }
    return sb_crc32c_mask(crc) == t->crc ? SB_OK : bad_checksum(t, err);
}

/* Turns the bytes of each number round. Complex numbers are two. */
static void swap_numbers(uint8_t *p, size_t n, const sb_bundle_tensor *t) {
    size_t unit = sb_bundle_width(t);
    if (sb_dtype_complex(t->dtype)) unit /= 2;
    for (size_t at = 0; unit > 1 && at + unit <= n; at += unit)
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t byte = p[at + i];
            p[at + i] = p[at + unit - 1 - i];
            p[at + unit - 1 - i] = byte;
        }
}

sb_status sb_bundle_read_bytes(sb_bundle *b, const sb_bundle_tensor *t, uint64_t keep, uint64_t n,
                               sb_buf *out, sb_err *err) {
    sb_status status = sb_bundle_go_to(b, t, err);
    if (status != SB_OK) return status;
    if (n > SIZE_MAX || !sb_buf_reserve(out, (size_t)n))
        return n > SIZE_MAX ? sb_fail(err, SB_LIMIT, 0, "%.*s: too large", SB_SHOWN(t->name))
                            : sb_buf_check(out, "a tensor", err);
    uint8_t *window = n < t->size ? sb_alloc_get(b->alloc, WINDOW) : NULL;
    if (n < t->size && !window) return sb_fail_nomem(err, "for a tensor");
    uint8_t *to = n ? out->p + out->n : NULL;
    status = read_and_check(b, t, keep, n, to, window, err);
    sb_alloc_put(b->alloc, window, WINDOW);
    if (status != SB_OK) return status;
    if (b->is_swapped && n) swap_numbers(to, (size_t)n, t);
    out->n += (size_t)n;
    return SB_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

uint64_t sb_bundle_rows(const sb_bundle_tensor *t) {
    return t->rank ? (uint64_t)t->dims[0] : 1;
}

sb_status sb_bundle_read_rows(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                              sb_buf *out, sb_err *err) {
    size_t width = sb_bundle_width(t);
    if (width == 0)
        return sb_fail(err, SB_INVALID, 0, "%.*s: holds no numbers but %s", SB_SHOWN(t->name),
                       sb_dtype_name(t->dtype));
    uint64_t all = sb_bundle_rows(t);
    if (from > all || rows > all - from)
        return sb_fail(err, SB_INVALID, 0, "%.*s: has %llu rows", SB_SHOWN(t->name),
                       (unsigned long long)all);
    uint64_t row = all ? t->count / all : 0, size;
    if (__builtin_mul_overflow(row, (uint64_t)width, &row) ||
        __builtin_mul_overflow(row, all, &size))
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: too large a shape", SB_SHOWN(t->name));
    if (t->slice_count == 0) return sb_bundle_read_bytes(b, t, from * row, rows * row, out, err);
    sb_status status = sb_bundle_check_pieces(b, t, err);
    if (status != SB_OK) return status;
    if (rows * row > SIZE_MAX || !sb_buf_reserve(out, (size_t)(rows * row)))
        return sb_buf_check(out, "a tensor", err);
    if (rows * row == 0) return SB_OK;
    status = sb_bundle_gather(b, t, from, rows, out->p + out->n, err);
    if (status == SB_OK) out->n += (size_t)(rows * row);
    return status;
}

sb_status sb_bundle_read(sb_bundle *b, const sb_bundle_tensor *t, sb_buf *out, sb_err *err) {
    return sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t), out, err);
}

/* ---- strings --------------------------------------------------------------------------------- */

static uint32_t crc_word(uint32_t crc, uint64_t word, size_t bytes, bool is_swapped) {
    uint8_t p[8];
    for (size_t i = 0; i < bytes; i++)
        p[is_swapped ? bytes - 1 - i : i] = (uint8_t)(word >> (8 * i));
    return sb_crc32c(crc, p, bytes);
}

static uint32_t load_word(const uint8_t *p, bool is_swapped) {
    uint32_t word = sb_load32(p);
    return is_swapped ? __builtin_bswap32(word) : word;
}

static bool split_strings(const sb_bundle *b, const sb_bundle_tensor *t, sb_slice bytes,
                          sb_slice *to) {
    sb_pb c = sb_pb_over(bytes);
    uint32_t crc = 0;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t n;
        if (!sb_pb_varint(&c, &n) || n > bytes.n - sum) return false;
        sum += n;
        to[i].n = (size_t)n;
        crc = crc_word(crc, n, n > UINT32_MAX ? 8 : 4, b->is_swapped);
    }
    if ((size_t)(c.end - c.p) != sum + 4) return false;
    if (load_word(c.p, b->is_swapped) != sb_crc32c_mask(crc)) return false;
    crc = sb_crc32c(crc, c.p, (size_t)(c.end - c.p));
    c.p += 4;
    for (uint64_t i = 0; i < t->count; i++) {
        to[i].p = c.p;
        c.p += to[i].n;
    }
    return sb_crc32c_mask(crc) == t->crc;
}

static bool split_variants(const sb_bundle_tensor *t, sb_slice bytes, sb_slice *to) {
    sb_pb c = sb_pb_over(bytes);
    uint32_t crc = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t n;
        if (!sb_pb_varint(&c, &n)) return false;
        size_t left = (size_t)(c.end - c.p);
        if (left < 4 || n > left - 4) return false;
        to[i] = sb_slice_of(c.p, (size_t)n);
        crc = crc_word(crc, n, 8, false);
        crc = sb_crc32c(crc, c.p, (size_t)n);
        c.p += n;
        if (sb_load32(c.p) != sb_crc32c_mask(crc)) return false;
        crc = sb_crc32c(crc, c.p, 4);
        c.p += 4;
    }
    return c.p == c.end && sb_crc32c_mask(crc) == t->crc;
}

sb_status sb_bundle_own_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                sb_slice **out, sb_err *err) {
    if (t->dtype == SB_VARIANT && b->is_swapped)
        return sb_fail(err, SB_INVALID, 0, "%.*s: variants of another byte order",
                       SB_SHOWN(t->name));
    if (t->size > b->limits.max_strings)
        return sb_fail(err, SB_LIMIT, 0, "%.*s: %llu bytes of strings, over the limit of %zu",
                       SB_SHOWN(t->name), (unsigned long long)t->size, b->limits.max_strings);
    sb_status status = sb_bundle_go_to(b, t, err);
    if (status != SB_OK) return status;
    uint8_t *p = sb_arena_get(arena, (size_t)t->size);
    sb_slice *strings = sb_arena_zeroed(arena, (size_t)t->count, sizeof *strings);
    if (!p || !strings) return sb_fail_nomem(err, "for a tensor");
    status = sb_fs_read_exactly(b->fs, b->file, b->prefix, p, (size_t)t->size, t->offset, err);
    if (status != SB_OK) return status;
    sb_slice bytes = sb_slice_of(p, (size_t)t->size);
    if (!(t->dtype == SB_VARIANT ? split_variants(t, bytes, strings)
                                 : split_strings(b, t, bytes, strings)))
        return bad_checksum(t, err);
    *out = strings;
    return SB_OK;
}

sb_status sb_bundle_read_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                 sb_slice **out, sb_err *err) {
    *out = NULL;
    if (t->dtype != SB_STRING && t->dtype != SB_VARIANT)
        return sb_fail(err, SB_INVALID, 0, "%.*s: holds no strings but %s", SB_SHOWN(t->name),
                       sb_dtype_name(t->dtype));
    if (t->slice_count == 0) return sb_bundle_own_strings(b, t, arena, out, err);
    sb_status status = sb_bundle_check_pieces(b, t, err);
    if (status != SB_OK) return status;
    sb_slice *strings =
        t->count > SIZE_MAX ? NULL : sb_arena_zeroed(arena, (size_t)t->count, sizeof *strings);
    if (!strings) return sb_fail_nomem(err, "for a tensor");
    status = sb_bundle_gather_strings(b, t, arena, strings, err);
    if (status == SB_OK) *out = strings;
    return status;
}
