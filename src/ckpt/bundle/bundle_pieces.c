/* bundle_pieces.c: joins the pieces of a partitioned variable, and finds out which of them hold the
 * elements of a box.
 *
 * Pieces are boxes of the whole tensor. Those that meet the wanted box must be there, must not
 * overlap, and must hold as many of its elements as it has: then each element is in exactly one.
 * Cost: quadratic in the number of pieces, which is limited. */
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/bundle/slice_key.h"
#include "base/banned.h"

/* ---- joining --------------------------------------------------------------------------------- */

static int by_name_and_count(const void *x, const void *y) {
    const sb_bundle_tensor *a = x, *b = y;
    int order = sb_slice_cmp(a->name, b->name);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static bool are_of_one_tensor(const sb_bundle_tensor *a, const sb_bundle_tensor *b) {
    return a->slice_count && b->slice_count && a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* The entries items[0..n) are of one partitioned variable: the first one gets all pieces. */
static bool join_pieces(sb_bundle_tensor *items, size_t n, sb_arena *arena) {
    size_t pair = 2 * (size_t)items->rank, count = 0;
    for (size_t i = 0; i < n; i++) count += items[i].slice_count;
    int64_t *extents =
        count > UINT32_MAX ? NULL : sb_arena_zeroed(arena, count * pair, sizeof *extents);
    if (!extents) return false;
    int64_t *to = extents;
    for (size_t i = 0; i < n; i++) {
        memcpy(to, items[i].extents, items[i].slice_count * pair * sizeof *to);
        to += items[i].slice_count * pair;
    }
    items->extents = extents;
    items->slice_count = (uint32_t)count;
    return true;
}

bool sb_bundle_sort_and_join(sb_bundle_entries *e, sb_arena *arena,
                             const sb_bundle_tensor **twice) {
    *twice = NULL;
    if (e->n) qsort(e->items, e->n, sizeof *e->items, by_name_and_count);
    size_t kept = 0;
    for (size_t i = 0, next; i < e->n; i = next) {
        for (next = i + 1; next < e->n && sb_slice_eq(e->items[i].name, e->items[next].name);
             next++)
            if (!are_of_one_tensor(&e->items[i], &e->items[next])) {
                *twice = &e->items[i];
                return true;
            }
        if (next > i + 1 && !join_pieces(&e->items[i], next - i, arena)) return false;
        e->items[kept++] = e->items[i];
    }
    e->n = kept;
    return true;
}

/* ---- a box ----------------------------------------------------------------------------------- */

static int64_t start_of(const sb_bundle_tensor *t, uint32_t piece, uint32_t dim) {
    return t->extents[2 * ((size_t)piece * t->rank + dim)];
}

static int64_t length_of(const sb_bundle_tensor *t, uint32_t piece, uint32_t dim) {
    int64_t length = t->extents[2 * ((size_t)piece * t->rank + dim) + 1];
    return length < 0 ? t->dims[dim] : length;
}

/* Does the piece lie inside the tensor? */
static bool is_inside(const sb_bundle_tensor *t, uint32_t piece) {
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t start = start_of(t, piece, d), length = length_of(t, piece, d);
        if (start < 0 || length < 0 || start > t->dims[d] || length > t->dims[d] - start)
            return false;
        if (length == 0 && t->dims[d] != 0) return false;
    }
    return true;
}

static bool has_shape_of(const sb_bundle_tensor *t, uint32_t piece, const sb_bundle_tensor *entry) {
    if (entry->dtype != t->dtype || entry->rank != t->rank || entry->slice_count) return false;
    for (uint32_t d = 0; d < t->rank; d++)
        if (entry->dims[d] != length_of(t, piece, d)) return false;
    return true;
}

static bool overlap(const sb_bundle_tensor *t, uint32_t x, uint32_t y) {
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t a = start_of(t, x, d), b = start_of(t, y, d);
        if (a + length_of(t, x, d) <= b || b + length_of(t, y, d) <= a) return false;
    }
    return true;
}

typedef struct part_room {
    int64_t in_piece[SB_CKPT_MAX_RANK], in_box[SB_CKPT_MAX_RANK], length[SB_CKPT_MAX_RANK];
} part_room;

/* The common part of a piece and the box; false when there is none. *count: its elements. */
static bool intersect(const sb_bundle_tensor *t, uint32_t piece, const int64_t *start,
                      const int64_t *length, part_room *out, uint64_t *count) {
    *count = 1;
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t a = start_of(t, piece, d), a_end = a + length_of(t, piece, d);
        int64_t low = a > start[d] ? a : start[d];
        int64_t high = a_end < start[d] + length[d] ? a_end : start[d] + length[d];
        if (low >= high) return false;
        out->in_piece[d] = low - a;
        out->in_box[d] = low - start[d];
        out->length[d] = high - low;
        *count *= (uint64_t)(high - low);
    }
    return true;
}

static sb_status find_piece(const sb_bundle *b, const sb_bundle_tensor *t, uint32_t piece,
                            sb_buf *key, const sb_bundle_tensor **out, sb_err *err) {
    sb_buf_clear(key);
    sb_slice_key_add(key, t->name, t->extents + 2 * (size_t)piece * t->rank, t->rank);
    if (key->failed != SB_OK) return sb_buf_check(key, "a piece's key", err);
    *out = sb_bundle_entry(&b->pieces, sb_buf_slice(key));
    if (!*out)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: piece %u of %u of '%.*s' is missing",
                       SB_SHOWN(b->prefix), piece, t->slice_count, SB_SHOWN(t->name));
    if (!has_shape_of(t, piece, *out))
        return sb_fail(err, SB_CORRUPT, 0,
                       "%.*s: piece %u of %u of '%.*s' has another type or shape",
                       SB_SHOWN(b->prefix), piece, t->slice_count, SB_SHOWN(t->name));
    return SB_OK;
}

/* Every piece lies inside and no two overlap; the pieces that meet the box cover it. */
static sb_status check_cover(const sb_bundle *b, const sb_bundle_tensor *t, const int64_t *start,
                             const int64_t *length, part_room *room, sb_err *err) {
    uint64_t sum = 0, wanted = 1, count;
    for (uint32_t d = 0; d < t->rank; d++) wanted *= (uint64_t)length[d];
    for (uint32_t i = 0; i < t->slice_count; i++) {
        if (!is_inside(t, i))
            return sb_fail(err, SB_CORRUPT, 0, "%.*s: piece %u of %u of '%.*s' lies outside of it",
                           SB_SHOWN(b->prefix), i, t->slice_count, SB_SHOWN(t->name));
        for (uint32_t k = 0; k < i; k++)
            if (overlap(t, i, k))
                return sb_fail(err, SB_CORRUPT, 0, "%.*s: pieces %u and %u of '%.*s' overlap",
                               SB_SHOWN(b->prefix), k, i, SB_SHOWN(t->name));
        if (intersect(t, i, start, length, room, &count)) sum += count;
    }
    if (sum != wanted)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: the pieces of '%.*s' don't cover it",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name));
    return SB_OK;
}

sb_status sb_bundle_each_piece(sb_bundle *b, const sb_bundle_tensor *t, const int64_t *start,
                               const int64_t *length, sb_piece_fn each, void *ud, sb_err *err) {
    part_room room;
    uint64_t count;
    sb_status status = check_cover(b, t, start, length, &room, err);
    sb_buf key;
    sb_buf_init(&key, b->alloc, 4 * b->limits.max_key);
    for (uint32_t i = 0; i < t->slice_count && status == SB_OK; i++) {
        if (!intersect(t, i, start, length, &room, &count)) continue;
        sb_piece_part part = {
            .in_piece = room.in_piece, .in_box = room.in_box, .length = room.length};
        status = find_piece(b, t, i, &key, &part.piece, err);
        if (status == SB_OK) status = each(ud, &part, err);
    }
    sb_buf_fini(&key);
    return status;
}
