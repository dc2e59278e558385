/* bundle_pieces.c: a variable that was saved in pieces, put together again.
 *
 * The pieces are boxes of the whole. They must not overlap and must hold as many elements as it
 * does: then each element is in exactly one. Cost: a pass over the pieces that are touched; the
 * check is quadratic in their number, which is limited. */
#include "base/slice.h"
#include "ckpt/bundle_int.h"
#include "ckpt/slice_key.h"
#include "base/banned.h"

/* Start and length of a piece in a dimension. */
static int64_t start_of(const sb_bundle_tensor *t, uint32_t piece, uint32_t dim) {
    return t->extents[2 * ((size_t)piece * t->rank + dim)];
}

static int64_t length_of(const sb_bundle_tensor *t, uint32_t piece, uint32_t dim) {
    int64_t length = t->extents[2 * ((size_t)piece * t->rank + dim) + 1];
    return length < 0 ? t->dims[dim] : length;
}

static const sb_bundle_tensor *find_piece(const sb_bundle *b, const sb_bundle_tensor *t,
                                          uint32_t piece, sb_buf *key) {
    sb_buf_clear(key);
    sb_slice_key_add(key, t->name, t->extents + 2 * (size_t)piece * t->rank, t->rank);
    return key->failed == SB_OK ? sb_bundle_entry(&b->pieces, sb_buf_slice(key)) : NULL;
}

/* Is the box inside the tensor, and its entry of that very shape? */
static bool is_sound(const sb_bundle_tensor *t, uint32_t piece, const sb_bundle_tensor *entry) {
    if (entry->dtype != t->dtype || entry->rank != t->rank || entry->slice_count) return false;
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t start = start_of(t, piece, d), length = length_of(t, piece, d);
        if (start < 0 || length <= 0 || start > t->dims[d] || length > t->dims[d] - start)
            return false;
        if (entry->dims[d] != length) return false;
    }
    return true;
}

static bool overlap(const sb_bundle_tensor *t, uint32_t x, uint32_t y) {
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t a = start_of(t, x, d), b = start_of(t, y, d);
        if (a + length_of(t, x, d) <= b || b + length_of(t, y, d) <= a) return false;
    }
    return true;
}

sb_status sb_bundle_check_pieces(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    uint64_t sum = 0;
    sb_status status = SB_OK;
    sb_buf key;
    sb_buf_init(&key, b->alloc, 4 * b->limits.max_key);
    for (uint32_t i = 0; i < t->slice_count && status == SB_OK; i++) {
        const sb_bundle_tensor *entry = find_piece(b, t, i, &key);
        if (key.failed != SB_OK) {
            status = sb_buf_check(&key, "a piece's key", err);
        } else if (!entry) {
            status = sb_fail(err, SB_CORRUPT, 0, "%.*s: piece %u of %u is missing",
                             SB_SHOWN(t->name), i, t->slice_count);
        } else if (!is_sound(t, i, entry) || entry->count > t->count - sum) {
            status = sb_fail(err, SB_CORRUPT, 0, "%.*s: piece %u of %u does not fit",
                             SB_SHOWN(t->name), i, t->slice_count);
        } else {
            sum += entry->count;
            status = sb_bundle_go_to(b, entry, err);
        }
        for (uint32_t k = 0; k < i && status == SB_OK; k++)
            if (overlap(t, i, k))
                status = sb_fail(err, SB_CORRUPT, 0, "%.*s: pieces %u and %u overlap",
                                 SB_SHOWN(t->name), k, i);
    }
    sb_buf_fini(&key);
    if (status == SB_OK && sum != t->count)
        status = sb_fail(err, SB_CORRUPT, 0, "%.*s: its pieces don't cover it", SB_SHOWN(t->name));
    return status;
}

/* ---- copying --------------------------------------------------------------------------------- */

/* Where elements go: rows first .. first + rows of a piece, into the rows of the whole that begin
 * at `from`. */
typedef struct target {
    const sb_bundle_tensor *t;
    uint32_t piece;
    uint64_t from;        /* of the whole, where `to` begins */
    uint64_t first, rows; /* of the piece */
    size_t width;         /* bytes of an element */
} target;

/* Elements of the whole behind one step in a dimension. */
static uint64_t stride_of(const sb_bundle_tensor *t, uint32_t dim) {
    uint64_t n = 1;
    for (uint32_t d = dim + 1; d < t->rank; d++) n *= (uint64_t)t->dims[d];
    return n;
}

/* The last dimension in which the piece is not the whole: from there on its elements are one run
 * in both. */
static uint32_t run_dim(const target *g) {
    uint32_t d = g->t->rank - 1;
    while (d > 0 && length_of(g->t, g->piece, d) == g->t->dims[d]) d--;
    return d;
}

static void scatter(const target *g, const uint8_t *bytes, uint8_t *to) {
    const sb_bundle_tensor *t = g->t;
    uint32_t last = run_dim(g);
    uint64_t rows_last = last == 0 ? g->rows : (uint64_t)length_of(t, g->piece, last);
    size_t run = (size_t)(rows_last * stride_of(t, last)) * g->width;
    uint64_t at[SB_BUNDLE_MAX_RANK] = {0}; /* counts through the dimensions before `last` */
    for (;;) {
        uint64_t place = 0;
        for (uint32_t d = 0; d <= last; d++) {
            uint64_t start = (uint64_t)start_of(t, g->piece, d);
            if (d == 0) start = start + g->first - g->from;
            place += (start + (d < last ? at[d] : 0)) * stride_of(t, d);
        }
        memcpy(to + place * g->width, bytes, run);
        bytes += run;
        uint32_t d = last;
        for (;;) {
            if (d == 0) return;
            d--;
            uint64_t length = d == 0 ? g->rows : (uint64_t)length_of(t, g->piece, d);
            if (++at[d] < length) break;
            at[d] = 0;
        }
    }
}

/* The rows that a piece has of from .. from + rows; false when it has none. */
static bool meet(target *g, uint64_t from, uint64_t rows) {
    uint64_t start = (uint64_t)start_of(g->t, g->piece, 0);
    uint64_t end = start + (uint64_t)length_of(g->t, g->piece, 0);
    uint64_t low = start > from ? start : from, high = end < from + rows ? end : from + rows;
    if (low >= high) return false;
    g->from = from;
    g->first = low - start;
    g->rows = high - low;
    return true;
}

sb_status sb_bundle_gather(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                           uint8_t *to, sb_err *err) {
    sb_buf key, bytes;
    sb_buf_init(&key, b->alloc, 4 * b->limits.max_key);
    sb_buf_init(&bytes, b->alloc, SIZE_MAX);
    sb_status status = SB_OK;
    for (uint32_t i = 0; i < t->slice_count && status == SB_OK; i++) {
        target g = {.t = t, .piece = i, .width = sb_bundle_width(t)};
        if (!meet(&g, from, rows)) continue;
        const sb_bundle_tensor *entry = find_piece(b, t, i, &key);
        if (!entry) {
            status = sb_buf_check(&key, "a piece's key", err);
            break;
        }
        uint64_t row = entry->count / (uint64_t)entry->dims[0] * g.width;
        sb_buf_clear(&bytes);
        status = sb_bundle_read_bytes(b, entry, g.first * row, g.rows * row, &bytes, err);
        if (status == SB_OK) scatter(&g, bytes.p, to);
    }
    sb_buf_fini(&key);
    sb_buf_fini(&bytes);
    return status;
}

sb_status sb_bundle_gather_strings(sb_bundle *b, const sb_bundle_tensor *t, sb_arena *arena,
                                   sb_slice *to, sb_err *err) {
    sb_buf key;
    sb_buf_init(&key, b->alloc, 4 * b->limits.max_key);
    sb_status status = SB_OK;
    for (uint32_t i = 0; i < t->slice_count && status == SB_OK; i++) {
        target g = {.t = t, .piece = i, .width = sizeof *to};
        const sb_bundle_tensor *entry = find_piece(b, t, i, &key);
        if (!entry) {
            status = sb_buf_check(&key, "a piece's key", err);
            break;
        }
        sb_slice *strings;
        status = sb_bundle_own_strings(b, entry, arena, &strings, err);
        if (status == SB_OK && meet(&g, 0, (uint64_t)t->dims[0]))
            scatter(&g, (const uint8_t *)strings, (uint8_t *)to);
    }
    sb_buf_fini(&key);
    return status;
}
