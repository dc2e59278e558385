/* bundle_strings.c: tensors of strings and of variants.
 *
 *   strings      varint length each | u32 masked crc of the lengths | all bytes
 *                crc over: each length as u32 (as u64 from 2^32 on), the stored u32, the bytes
 *   variants     each: varint length | bytes | u32 masked crc so far
 *                crc over: length as u64, the bytes, the stored u32; goes on over all of them */
#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/crc32c/crc32c.h"
#include "codec/proto/proto.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

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

/* The strings of an entry that has bytes of its own. */
static sb_status own_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                             sb_slice **out, sb_err *err) {
    if (t->dtype == SB_VARIANT && b->is_swapped)
        return sb_fail(err, SB_INVALID, 0, "%.*s: '%.*s' holds variants of the other byte order",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name));
    if (t->size > b->limits.max_strings)
        return sb_fail(err, SB_LIMIT, 0,
                       "%.*s: '%.*s' has %llu bytes of strings, over the limit of %zu",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name), (unsigned long long)t->size,
                       b->limits.max_strings);
    sb_shard_use use;
    sb_status status = sb_bundle_acquire(b, t, &use, err);
    if (status != SB_OK) return status;
    uint8_t *p = sb_arena_get(arena, (size_t)t->size);
    sb_slice *strings = sb_arena_zeroed(arena, (size_t)t->count, sizeof *strings);
    status = p && strings ? sb_fs_read_exactly(b->fs, use.file, b->prefix, p, (size_t)t->size,
                                               t->offset, err)
                          : sb_fail_nomem(err, "for a tensor");
    sb_bundle_release(b, use);
    if (status != SB_OK) return status;
    sb_slice bytes = sb_slice_of(p, (size_t)t->size);
    if (!(t->dtype == SB_VARIANT ? split_variants(t, bytes, strings)
                                 : split_strings(b, t, bytes, strings)))
        return sb_bundle_bad_checksum(b, t, err);
    *out = strings;
    return SB_OK;
}

typedef struct gather {
    sb_bundle *b;
    const sb_bundle_tensor *t;
    sb_arena *arena;
    sb_slice *to;
} gather;

static sb_status gather_piece(void *ud, const sb_piece_part *part, sb_err *err) {
    const gather *g = ud;
    const sb_bundle_tensor *p = part->piece;
    sb_slice *strings = NULL;
    sb_status status;
    if (p->v1.p) {
        /* A string takes at least two bytes of its message: a lie costs no memory. */
        if (p->count > p->v1.n) return sb_bundle_v1_strings(p, NULL, err);
        strings = sb_arena_zeroed(g->arena, (size_t)p->count, sizeof *strings);
        status =
            strings ? sb_bundle_v1_strings(p, strings, err) : sb_fail_nomem(err, "for a tensor");
    } else {
        status = own_strings(g->b, p, g->arena, &strings, err);
    }
    if (status != SB_OK) return status;
    sb_box_walk walk;
    sb_box_begin(&walk, p->rank, sizeof *strings, part->length,
                 (sb_box_array){p->dims, part->in_piece}, (sb_box_array){g->t->dims, part->in_box});
    sb_box_copy(&walk, (const uint8_t *)strings, (uint8_t *)g->to);
    return SB_OK;
}

static sb_status count_piece(void *ud, const sb_piece_part *part, sb_err *err) {
    (void)ud;
    if (part->piece->v1.p && part->piece->count > part->piece->v1.n)
        return sb_bundle_v1_strings(part->piece, NULL, err);
    return SB_OK;
}

static sb_status gather_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                sb_slice **out, sb_err *err) {
    static const int64_t zeros[SB_CKPT_MAX_RANK];
    /* Are the pieces there? Only then is memory for all of the elements taken. */
    sb_status status = sb_bundle_verify(b, t, err);
    if (status == SB_OK) status = sb_bundle_each_piece(b, t, zeros, t->dims, count_piece, b, err);
    if (status != SB_OK) return status;
    sb_slice *strings =
        t->count > SIZE_MAX ? NULL : sb_arena_zeroed(arena, (size_t)t->count, sizeof *strings);
    if (!strings) return sb_fail_nomem(err, "for a tensor");
    gather g = {.b = b, .t = t, .arena = arena, .to = strings};
    status = sb_bundle_each_piece(b, t, zeros, t->dims, gather_piece, &g, err);
    if (status == SB_OK) *out = strings;
    return status;
}

sb_status sb_bundle_read_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                 sb_slice **out, sb_err *err) {
    *out = NULL;
    if (t->dtype != SB_STRING && t->dtype != SB_VARIANT)
        return sb_fail(err, SB_INVALID, 0, "%.*s: '%.*s' holds no strings but %s",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name), sb_dtype_name(t->dtype));
    return t->slice_count ? gather_strings(b, t, arena, out, err)
                          : own_strings(b, t, arena, out, err);
}
