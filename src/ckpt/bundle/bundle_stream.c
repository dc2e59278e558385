/* bundle_stream.c: the numbers of a tensor in order, some at a time, in little memory.
 *
 * A tensor that was saved whole is one run of bytes. So is each piece of a partitioned variable
 * that was cut along its first dimension (of more than one element), as TensorFlow cuts them: such
 * pieces are read one after the other. Variables that were cut otherwise are read a number of rows
 * at a time, and every piece is read again for each of these: its checksum is over all of it. */
#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "codec/crc32c/crc32c.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

/* One read. A multiple of every element's size; small enough that its bytes are still in the cache
 * when they are summed. */
#define BLOCK ((size_t)1 << 20)
/* Where rows are read: about so many bytes of them. */
#define ROWS ((uint64_t)64 << 20)

typedef struct run {
    const sb_bundle_tensor *entry;
    int64_t start; /* along the dimension that was cut */
} run;

struct sb_bundle_cursor {
    sb_bundle *b;
    const sb_bundle_tensor *t;
    uint32_t cut; /* the dimension along which pieces follow each other */
    bool by_rows;
    uint64_t row; /* the next one */
    SB_VEC(run) runs;
    size_t next; /* the run that comes after this one */
    /* The run that is being read. */
    const sb_bundle_tensor *entry; /* NULL: none */
    sb_shard_use use;
    uint64_t at;
    uint32_t crc;
    sb_buf block;
};

/* ---- opening --------------------------------------------------------------------------------- */

static sb_status note_run(void *ud, const sb_piece_part *part, sb_err *err) {
    sb_bundle_cursor *c = ud;
    for (uint32_t d = 0; d < c->t->rank; d++)
        if (d != c->cut && part->length[d] != c->t->dims[d]) c->by_rows = true;
    run *slot = SB_VEC_PUSH(&c->runs, c->b->alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for a tensor");
    *slot = (run){part->piece, c->t->rank ? part->in_box[c->cut] : 0};
    return SB_OK;
}

static int by_start(const void *x, const void *y) {
    const run *a = x, *b = y;
    return (a->start > b->start) - (a->start < b->start);
}

static sb_status list_runs(sb_bundle_cursor *c, sb_err *err) {
    static const int64_t zeros[SB_CKPT_MAX_RANK];
    if (c->t->slice_count == 0)
        return note_run(c, &(sb_piece_part){.piece = c->t, .length = c->t->dims, .in_box = zeros},
                        err);
    while (c->cut + 1 < c->t->rank && c->t->dims[c->cut] == 1) c->cut++;
    sb_status status = sb_bundle_each_piece(c->b, c->t, zeros, c->t->dims, note_run, c, err);
    if (c->runs.n) qsort(c->runs.items, c->runs.n, sizeof *c->runs.items, by_start);
    return status;
}

sb_status sb_bundle_cursor_open(sb_bundle_cursor **out, sb_bundle *b, const sb_bundle_tensor *t,
                                sb_err *err) {
    *out = NULL;
    if (sb_bundle_width(t) == 0) return sb_bundle_no_numbers(b, t, err);
    sb_bundle_cursor *c = sb_alloc_zeroed(b->alloc, 1, sizeof *c);
    if (!c) return sb_fail_nomem(err, "for a tensor");
    c->b = b;
    c->t = t;
    sb_buf_init(&c->block, b->alloc, SIZE_MAX);
    sb_status status = list_runs(c, err);
    if (status == SB_OK)
        *out = c;
    else
        sb_bundle_cursor_close(c);
    return status;
}

void sb_bundle_cursor_close(sb_bundle_cursor *c) {
    if (!c) return;
    const sb_alloc *alloc = c->b->alloc;
    if (c->entry) sb_bundle_release(c->b, c->use);
    SB_VEC_FREE(&c->runs, alloc);
    sb_buf_fini(&c->block);
    sb_alloc_put(alloc, c, sizeof *c);
}

/* ---- reading --------------------------------------------------------------------------------- */

static sb_status end_run(sb_bundle_cursor *c, sb_err *err) {
    const sb_bundle_tensor *entry = c->entry;
    c->entry = NULL;
    sb_bundle_release(c->b, c->use);
    return sb_crc32c_mask(c->crc) == entry->crc ? SB_OK : sb_bundle_bad_checksum(c->b, entry, err);
}

/* A block of the run that is being read; at its end the checksum is compared. */
static sb_status read_block(sb_bundle_cursor *c, sb_err *err) {
    uint64_t left = c->entry->size - c->at;
    size_t n = left < BLOCK ? (size_t)left : BLOCK;
    if (n == 0) return end_run(c, err);
    if (!sb_buf_reserve(&c->block, n)) return sb_buf_check(&c->block, "a tensor", err);
    sb_status status = sb_fs_read_exactly(c->b->fs, c->use.file, c->b->prefix, c->block.p, n,
                                          c->entry->offset + c->at, err);
    if (status != SB_OK) return status;
    c->block.n = n;
    c->crc = sb_crc32c(c->crc, c->block.p, n);
    sb_bundle_swap(c->b, c->t, c->block.p, n);
    c->at += n;
    return c->at == c->entry->size ? end_run(c, err) : SB_OK;
}

static sb_status begin_run(sb_bundle_cursor *c, sb_err *err) {
    const sb_bundle_tensor *entry = c->runs.items[c->next++].entry;
    if (entry->v1.p) return sb_bundle_v1_bytes(entry, &c->block, err);
    sb_status status = sb_bundle_acquire(c->b, entry, &c->use, err);
    if (status != SB_OK) return status;
    c->entry = entry;
    c->at = 0;
    c->crc = 0;
    return read_block(c, err);
}

static sb_status read_rows(sb_bundle_cursor *c, sb_err *err) {
    uint64_t rows = sb_bundle_rows(c->t), left = rows - c->row;
    uint64_t bytes = rows ? c->t->count / rows * sb_bundle_width(c->t) : 0;
    uint64_t step = bytes ? (ROWS + bytes - 1) / bytes : rows;
    if (step > left) step = left;
    c->row += step;
    return step ? sb_bundle_read_rows(c->b, c->t, c->row - step, step, &c->block, err) : SB_OK;
}

sb_status sb_bundle_cursor_next(sb_bundle_cursor *c, sb_slice *out, sb_err *err) {
    sb_status status = SB_OK;
    sb_buf_clear(&c->block);
    if (c->by_rows)
        status = read_rows(c, err);
    else
        while (status == SB_OK && c->block.n == 0 && (c->entry || c->next < c->runs.n))
            status = c->entry ? read_block(c, err) : begin_run(c, err);
    *out = sb_buf_slice(&c->block);
    return status;
}

sb_status sb_bundle_stream(sb_bundle *b, const sb_bundle_tensor *t, sb_bundle_sink sink, void *ud,
                           sb_err *err) {
    sb_bundle_cursor *c;
    sb_slice bytes = {NULL, 0};
    sb_status status = sb_bundle_cursor_open(&c, b, t, err);
    while (status == SB_OK) {
        status = sb_bundle_cursor_next(c, &bytes, err);
        if (status != SB_OK || bytes.n == 0) break;
        status = sink(ud, bytes.p, bytes.n, err);
    }
    sb_bundle_cursor_close(c);
    return status;
}
