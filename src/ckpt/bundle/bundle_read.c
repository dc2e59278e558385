/* bundle_read.c: numbers from data files, every byte of a tensor checked.
 *
 * A tensor's bytes are streamed through its checksum. Runs of the wanted box that are long are read
 * straight into the caller's memory, short ones go through a window. Several tensors are read by
 * several threads; a large one is cut into parts whose checksums are joined at the end. */
#include "base/checked.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/bundle/parallel.h"
#include "codec/crc32c/crc32c.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "base/banned.h"

#define WINDOW ((size_t)256 << 10)
/* Runs from this size on are read without the window. */
#define DIRECT ((size_t)64 << 10)
/* One read; small enough that its bytes are still in the cache when they are summed. */
#define PIECE ((size_t)1 << 20)
/* What one thread reads of a large tensor. */
#define PART ((uint64_t)16 << 20)

void sb_bundle_swap_units(void *to, size_t n, size_t unit) {
    uint8_t *p = to;
    if (unit < 2) return;
    for (size_t at = 0; at + unit <= n; at += unit)
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t byte = p[at + i];
            p[at + i] = p[at + unit - 1 - i];
            p[at + unit - 1 - i] = byte;
        }
}

/* Complex numbers are two. */
void sb_bundle_swap(const sb_bundle *b, const sb_bundle_tensor *t, void *to, size_t n) {
    size_t unit = sb_bundle_width(t);
    if (b->is_swapped) sb_bundle_swap_units(to, n, sb_dtype_complex(t->dtype) ? unit / 2 : unit);
}

/* ---- one entry ------------------------------------------------------------------------------- */

typedef struct stream {
    sb_bundle *b;
    const sb_bundle_tensor *t;
    int file;
    sb_box_walk *walk;
    uint8_t *to;
    uint8_t *window;
    uint32_t crc;
    uint64_t at; /* bytes of the entry that were read */
    /* The run that is being filled. */
    bool has_run;
    uint64_t from, target, done;
} stream;

static void next_run(stream *s) {
    s->has_run = sb_box_next(s->walk, &s->from, &s->target);
    s->done = 0;
}

static sb_status read_and_sum(stream *s, uint8_t *to, size_t n, sb_err *err) {
    sb_status status =
        sb_fs_read_exactly(s->b->fs, s->file, s->b->prefix, to, n, s->t->offset + s->at, err);
    if (status != SB_OK) return status;
    s->crc = sb_crc32c(s->crc, to, n);
    s->at += n;
    return SB_OK;
}

static sb_status read_into_run(stream *s, sb_err *err) {
    uint64_t left = s->walk->run - s->done;
    size_t n = left < PIECE ? (size_t)left : PIECE;
    sb_status status = read_and_sum(s, s->to + s->target + s->done, n, err);
    s->done += n;
    if (s->done == s->walk->run) next_run(s);
    return status;
}

/* Reads a window and copies what belongs to runs. It ends where a long run begins. */
static sb_status read_window(stream *s, sb_err *err) {
    uint64_t begin = s->at, left = s->t->size - begin;
    size_t n = left < WINDOW ? (size_t)left : WINDOW;
    uint64_t place = s->has_run ? s->from + s->done : UINT64_MAX;
    if (place > begin && place - begin < n && s->walk->run - s->done >= DIRECT)
        n = (size_t)(place - begin);
    sb_status status = read_and_sum(s, s->window, n, err);
    if (status != SB_OK) return status;
    while (s->has_run && s->from + s->done < s->at) {
        uint64_t source = s->from + s->done, more = s->walk->run - s->done;
        if (more > s->at - source) more = s->at - source;
        memcpy(s->to + s->target + s->done, s->window + (source - begin), (size_t)more);
        s->done += more;
        if (s->done == s->walk->run) next_run(s);
    }
    return SB_OK;
}

/* Reads all of an entry that is in a data file and keeps the runs of the walk. */
static sb_status read_entry(sb_bundle *b, const sb_bundle_tensor *t, sb_box_walk *walk, uint8_t *to,
                            sb_err *err) {
    sb_shard_use use;
    sb_status status = sb_bundle_acquire(b, t, &use, err);
    if (status != SB_OK) return status;
    stream s = {.b = b, .t = t, .file = use.file, .walk = walk, .to = to};
    next_run(&s);
    while (s.at < t->size && status == SB_OK) {
        if (s.has_run && s.from + s.done == s.at && walk->run - s.done >= DIRECT) {
            status = read_into_run(&s, err);
            continue;
        }
        if (!s.window && !(s.window = sb_alloc_get(b->alloc, WINDOW)))
            status = sb_fail_nomem(err, "for a tensor");
        else
            status = read_window(&s, err);
    }
    sb_alloc_put(b->alloc, s.window, WINDOW);
    sb_bundle_release(b, use);
    if (status == SB_OK && sb_crc32c_mask(s.crc) != t->crc)
        status = sb_bundle_bad_checksum(b, t, err);
    return status;
}

/* ---- a box ----------------------------------------------------------------------------------- */

sb_status sb_bundle_no_numbers(const sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    return sb_fail(err, SB_INVALID, 0, "%.*s: '%.*s' holds no numbers but %s", SB_SHOWN(b->prefix),
                   SB_SHOWN(t->name), sb_dtype_name(t->dtype));
}

typedef struct box {
    int64_t start[SB_CKPT_MAX_RANK], length[SB_CKPT_MAX_RANK];
    uint64_t count;
} box;

static sb_status make_box(const sb_bundle *b, const sb_bundle_tensor *t, const int64_t *extents,
                          box *out, sb_err *err) {
    if (sb_bundle_width(t) == 0) return sb_bundle_no_numbers(b, t, err);
    out->count = 1;
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t start = extents ? extents[2 * d] : 0, length = extents ? extents[2 * d + 1] : -1;
        if (length < 0 && start == 0) length = t->dims[d];
        if (start < 0 || length < 0 || start > t->dims[d] || length > t->dims[d] - start)
            return sb_fail(err, SB_INVALID, 0,
                           "%.*s: '%.*s' has %lld elements in dimension %u, and %lld from %lld on "
                           "were asked for",
                           SB_SHOWN(b->prefix), SB_SHOWN(t->name), (long long)t->dims[d], d,
                           (long long)length, (long long)start);
        out->start[d] = start;
        out->length[d] = length;
        out->count *= (uint64_t)length;
    }
    return SB_OK;
}

typedef struct gather {
    sb_bundle *b;
    const box *wanted;
    uint8_t *to;
} gather;

static const int64_t zeros[SB_CKPT_MAX_RANK];

static sb_status gather_piece(void *ud, const sb_piece_part *part, sb_err *err) {
    const gather *g = ud;
    const sb_bundle_tensor *p = part->piece;
    sb_box_walk walk;
    sb_box_begin(&walk, p->rank, sb_bundle_width(p), part->length,
                 (sb_box_array){p->dims, part->in_piece},
                 (sb_box_array){g->wanted->length, part->in_box});
    if (!p->v1.p) return read_entry(g->b, p, &walk, g->to, err);
    sb_buf bytes;
    sb_buf_init(&bytes, g->b->alloc, SIZE_MAX);
    sb_status status = sb_bundle_v1_bytes(p, &bytes, err);
    if (status == SB_OK) sb_box_copy(&walk, bytes.p, g->to);
    sb_buf_fini(&bytes);
    return status;
}

/* The elements of the box, row-major, at to. */
static sb_status read_box(sb_bundle *b, const sb_bundle_tensor *t, const box *wanted, uint8_t *to,
                          sb_err *err) {
    sb_status status;
    if (t->slice_count) {
        gather g = {.b = b, .wanted = wanted, .to = to};
        status = sb_bundle_each_piece(b, t, wanted->start, wanted->length, gather_piece, &g, err);
    } else {
        sb_box_walk walk;
        sb_box_begin(&walk, t->rank, sb_bundle_width(t), wanted->length,
                     (sb_box_array){t->dims, wanted->start}, (sb_box_array){wanted->length, zeros});
        status = read_entry(b, t, &walk, to, err);
    }
    if (status == SB_OK && wanted->count)
        sb_bundle_swap(b, t, to, (size_t)wanted->count * sb_bundle_width(t));
    return status;
}

/* Is there a file with that many bytes? */
static sb_status look_at_piece(void *ud, const sb_piece_part *part, sb_err *err) {
    sb_bundle *b = ud;
    sb_shard_use use;
    if (part->piece->v1.p) return SB_OK;
    sb_status status = sb_bundle_acquire(b, part->piece, &use, err);
    if (status == SB_OK) sb_bundle_release(b, use);
    return status;
}

static sb_status look_at_box(sb_bundle *b, const sb_bundle_tensor *t, const box *wanted,
                             sb_err *err) {
    if (t->slice_count)
        return sb_bundle_each_piece(b, t, wanted->start, wanted->length, look_at_piece, b, err);
    return look_at_piece(b, &(sb_piece_part){.piece = t}, err);
}

sb_status sb_bundle_read_box(sb_bundle *b, const sb_bundle_tensor *t, const int64_t *extents,
                             void *to, size_t n, sb_err *err) {
    box wanted;
    uint64_t bytes;
    sb_status status = make_box(b, t, extents, &wanted, err);
    if (status != SB_OK) return status;
    if (__builtin_mul_overflow(wanted.count, (uint64_t)sb_bundle_width(t), &bytes) || bytes != n)
        return sb_fail(err, SB_INVALID, 0,
                       "%.*s: '%.*s' needs room for %llu elements of %zu bytes, and has %zu bytes",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name), (unsigned long long)wanted.count,
                       sb_bundle_width(t), n);
    return read_box(b, t, &wanted, to, err);
}

/* The bytes that are stored for strings; a piece's come from its own entry. */
static sb_status add_size(void *ud, const sb_piece_part *part, sb_err *err) {
    (void)err;
    *(uint64_t *)ud += part->piece->v1.p ? part->piece->v1.n : part->piece->size;
    return SB_OK;
}

uint64_t sb_bundle_bytes(sb_bundle *b, const sb_bundle_tensor *t) {
    size_t width = sb_bundle_width(t);
    uint64_t bytes = 0;
    if (width) return __builtin_mul_overflow(t->count, (uint64_t)width, &bytes) ? 0 : bytes;
    if (t->slice_count == 0) return t->size;
    sb_bundle_each_piece(b, t, zeros, t->dims, add_size, &bytes, NULL);
    return bytes;
}

uint64_t sb_bundle_rows(const sb_bundle_tensor *t) {
    return t->rank ? (uint64_t)t->dims[0] : 1;
}

sb_status sb_bundle_read_rows(sb_bundle *b, const sb_bundle_tensor *t, uint64_t from, uint64_t rows,
                              sb_buf *out, sb_err *err) {
    box wanted;
    sb_status status = make_box(b, t, NULL, &wanted, err);
    if (status != SB_OK) return status;
    uint64_t all = sb_bundle_rows(t), bytes;
    if (from > all || rows > all - from)
        return sb_fail(err, SB_INVALID, 0, "%.*s: '%.*s' has %llu rows", SB_SHOWN(b->prefix),
                       SB_SHOWN(t->name), (unsigned long long)all);
    if (t->rank) {
        wanted.start[0] = (int64_t)from;
        wanted.length[0] = (int64_t)rows;
        wanted.count = all ? wanted.count / all * rows : 0;
    } else if (rows == 0) {
        return sb_bundle_verify(b, t, err);
    }
    status = look_at_box(b, t, &wanted, err); /* before memory is taken */
    if (status != SB_OK) return status;
    if (__builtin_mul_overflow(wanted.count, (uint64_t)sb_bundle_width(t), &bytes) ||
        bytes > SIZE_MAX)
        return sb_fail(err, SB_CORRUPT, 0, "%.*s: the shape of '%.*s' is too large",
                       SB_SHOWN(b->prefix), SB_SHOWN(t->name));
    if (!sb_buf_reserve(out, (size_t)bytes))
        return sb_fail(err, out->failed, 0,
                       "%.*s: no memory for the %llu bytes of '%.*s'; read some rows at a time",
                       SB_SHOWN(b->prefix), (unsigned long long)bytes, SB_SHOWN(t->name));
    status = read_box(b, t, &wanted, out->p ? out->p + out->n : NULL, err);
    if (status == SB_OK) out->n += (size_t)bytes;
    return status;
}

/* ---- without keeping anything ---------------------------------------------------------------- */

sb_status sb_bundle_verify(sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    if (t->slice_count) {
        box wanted;
        wanted.count = 1;
        for (uint32_t d = 0; d < t->rank; d++) {
            wanted.start[d] = 0;
            wanted.length[d] = t->dims[d];
        }
        return look_at_box(b, t, &wanted, err);
    }
    if (t->v1.p) return SB_OK; /* the table's blocks were under checksums */
    if (t->dtype == SB_STRING || t->dtype == SB_VARIANT) {
        sb_arena arena;
        sb_slice *strings;
        sb_arena_init(&arena, b->alloc, 4096, SIZE_MAX);
        sb_status status = sb_bundle_read_strings(b, t, &arena, &strings, err);
        sb_arena_fini(&arena);
        return status;
    }
    sb_box_walk none = {.is_over = true};
    return read_entry(b, t, &none, NULL, err);
}

/* ---- several at once ------------------------------------------------------------------------- */

typedef struct part {
    size_t request;
    uint64_t offset, n; /* of the tensor's bytes; n is UINT64_MAX when it is not cut into parts */
    uint32_t crc;
} part;

typedef struct many {
    sb_bundle *b;
    const sb_bundle_request *requests;
    part *parts;
} many;

static sb_status read_part(void *ud, size_t job, sb_err *err) {
    const many *m = ud;
    part *p = &m->parts[job];
    const sb_bundle_request *r = &m->requests[p->request];
    if (p->n == UINT64_MAX) return sb_bundle_read_box(m->b, r->t, NULL, r->to, r->n, err);
    sb_shard_use use;
    sb_status status = sb_bundle_acquire(m->b, r->t, &use, err);
    if (status != SB_OK) return status;
    uint8_t *to = (uint8_t *)r->to + p->offset;
    for (uint64_t at = 0; at < p->n && status == SB_OK;) {
        size_t n = p->n - at < PIECE ? (size_t)(p->n - at) : PIECE;
        status = sb_fs_read_exactly(m->b->fs, use.file, m->b->prefix, to + at, n,
                                    r->t->offset + p->offset + at, err);
        if (status == SB_OK) p->crc = sb_crc32c(p->crc, to + at, n);
        at += n;
    }
    sb_bundle_release(m->b, use);
    if (status == SB_OK) sb_bundle_swap(m->b, r->t, to, (size_t)p->n);
    return status;
}

static bool is_cut(const sb_bundle_request *r) {
    return r->t->slice_count == 0 && r->t->size == r->n && r->n > PART && sb_bundle_width(r->t);
}

/* Parts end at multiples of 16 MiB, so that no number is cut. */
static size_t count_parts(const sb_bundle_request *r) {
    return is_cut(r) ? (size_t)((r->n + PART - 1) / PART) : 1;
}

static sb_status join_parts(const many *m, size_t parts, sb_err *err) {
    for (size_t i = 0; i < parts;) {
        const sb_bundle_request *r = &m->requests[m->parts[i].request];
        uint32_t crc = 0;
        size_t end = i + count_parts(r);
        if (m->parts[i].n != UINT64_MAX) {
            for (size_t k = i; k < end; k++)
                crc = sb_crc32c_join(crc, m->parts[k].crc, m->parts[k].n);
            if (sb_crc32c_mask(crc) != r->t->crc) return sb_bundle_bad_checksum(m->b, r->t, err);
        }
        i = end;
    }
    return SB_OK;
}

sb_status sb_bundle_read_many(sb_bundle *b, const sb_bundle_request *requests, size_t count,
                              unsigned threads, sb_err *err) {
    size_t parts = 0, bytes;
    for (size_t i = 0; i < count; i++) parts += count_parts(&requests[i]);
    many m = {.b = b, .requests = requests};
    if (count == 0) return SB_OK;
    if (!sb_mul_size(&bytes, parts, sizeof *m.parts) || !(m.parts = sb_alloc_get(b->alloc, bytes)))
        return sb_fail_nomem(err, "for reading a checkpoint");
    part *p = m.parts;
    for (size_t i = 0; i < count; i++) {
        size_t n = count_parts(&requests[i]);
        for (size_t k = 0; k < n; k++, p++) {
            uint64_t offset = k * PART, left = requests[i].n - offset;
            *p = (part){.request = i,
                        .offset = offset,
                        .n = !is_cut(&requests[i]) ? UINT64_MAX
                             : left < PART         ? left
                                                   : PART};
        }
    }
    sb_status status = sb_parallel(b->alloc, threads, parts, read_part, &m, err);
    if (status == SB_OK) status = join_parts(&m, parts, err);
    sb_alloc_put(b->alloc, m.parts, bytes);
    return status;
}
