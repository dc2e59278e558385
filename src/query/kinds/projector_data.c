/* projector_data.c: tensors from text, raw files and checkpoints; labels, bookmarks, sprites. All
 * of it is read in pieces: a file may be larger than the memory that a request has. */
#include <errno.h>

#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "ckpt/bundle/bundle.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "query/kinds/projector.h"
#include "base/banned.h"

/* ---- lines ----------------------------------------------------------------------------------- */

#define PIECE ((size_t)256 << 10)
#define MOST_LINE ((size_t)8 << 20)
#define LOOK ((size_t)4 << 10) /* so much of a file tells whether it may be text */

/* The lines of an open file, read in pieces. */
typedef struct lines {
    const sb_fs *fs;
    int file;
    uint64_t at;  /* of the next byte that is read */
    sb_buf held;  /* what was read and not used up */
    size_t used;  /* of held */
    uint64_t end; /* behind the last line that was taken */
    sb_status failed;
} lines;

static void lines_init(lines *l, const sb_fs *fs, const sb_alloc *alloc, int file) {
    *l = (lines){.fs = fs, .file = file};
    sb_buf_init(&l->held, alloc, MOST_LINE);
}

/* Appends up to `room` bytes of an open file: how many, 0 at its end, or a negative errno; -ENOMEM
 * also when the buffer is full. */
static int64_t read_piece(const sb_fs *fs, int file, uint64_t at, size_t room, sb_buf *out) {
    if (!sb_buf_reserve(out, room)) return -ENOMEM;
    int64_t got = fs->read_at(fs->ctx, file, out->p + out->n, room, at);
    if (got > 0) out->n += (size_t)got;
    return got;
}

static bool read_more(lines *l) {
    if (l->used) memmove(l->held.p, l->held.p + l->used, l->held.n - l->used);
    l->held.n -= l->used;
    l->used = 0;
    int64_t got = read_piece(l->fs, l->file, l->at, PIECE, &l->held);
    if (got < 0) l->failed = l->held.failed != SB_OK ? l->held.failed : SB_IO;
    if (got > 0) l->at += (uint64_t)got;
    return got > 0;
}

/* The next line, without its end, valid until the next call; false behind the last, and when
 * l->failed says why. */
static bool next_line(lines *l, sb_slice *line) {
    size_t seen = l->used;
    const uint8_t *end = NULL;
    if (!l->held.p && !read_more(l)) return false;
    for (;;) {
        if (seen < l->held.n) end = memchr(l->held.p + seen, '\n', l->held.n - seen);
        if (end) break;
        seen = l->held.n - l->used;
        if (!read_more(l)) break;
    }
    if (l->failed != SB_OK || (!end && l->used == l->held.n)) return false;
    size_t n = end ? (size_t)(end - l->held.p) - l->used : l->held.n - l->used;
    *line = sb_slice_of(l->held.p + l->used, n);
    l->used += n + (end != NULL);
    l->end += n + (end != NULL);
    return true;
}

static void lines_fini(lines *l) {
    sb_buf_fini(&l->held);
}

static sb_status why_no_line(const lines *l, sb_err *err) {
    if (l->failed == SB_NOMEM) return sb_fail_nomem(err, "for a line of a table");
    return sb_fail(err, SB_IO, l->at, "a file could not be read");
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_blank(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static sb_slice trim(sb_slice s) {
    while (s.n && is_blank(s.p[0])) s = sb_slice_of(s.p + 1, s.n - 1);
    while (s.n && is_blank(s.p[s.n - 1])) s.n--;
    return s;
}

/* Appends the numbers of a line; false when a cell is none. */
static bool add_matrix_row(sb_slice line, sb_buf *out, uint64_t *columns) {
    *columns = 0;
    for (;;) {
        const uint8_t *tab = line.n ? memchr(line.p, '\t', line.n) : NULL;
        size_t n = tab ? (size_t)(tab - line.p) : line.n;
        double x;
        if (!sb_parse_double(trim(sb_slice_of(line.p, n)), &x)) return false;
        float narrow = (float)x;
        sb_buf_add(out, &narrow, sizeof narrow);
        ++*columns;
        if (!tab) return true;
        line = sb_slice_of(tab + 1, line.n - n - 1);
    }
}

typedef enum table_kind {
    TABLE_FAILED, /* it could not be read */
    TABLE_TEXT,
    TABLE_NO_TEXT,  /* it is not UTF-8 */
    TABLE_BAD_TEXT, /* err says where */
} table_kind;

/* Raw numbers are hardly ever UTF-8 for long. The last character may be cut. */
static bool looks_like_text(const sb_fs *fs, int file) {
    uint8_t head[LOOK];
    int64_t got = fs->read_at(fs->ctx, file, head, sizeof head, 0);
    for (int64_t cut = 0; cut < 4 && cut <= got; cut++)
        if (sb_utf8_valid(sb_slice_of(head, (size_t)(got - cut)))) return true;
    return got < 0;
}

/* Is the whole file a table of numbers, as far as max_rows? A reply can't be taken back when its
 * first half was sent, so this is found out before. */
static table_kind check_table(const sb_projector *p, int file, uint64_t max_rows, sb_err *err) {
    lines l;
    sb_slice line;
    sb_buf row;
    uint64_t rows = 0, number = 0, columns = 0, first = 0;
    table_kind kind = TABLE_TEXT;
    if (!looks_like_text(p->fs, file)) return TABLE_NO_TEXT;
    lines_init(&l, p->fs, p->alloc, file);
    sb_buf_init(&row, p->alloc, MOST_LINE);
    while (kind == TABLE_TEXT && next_line(&l, &line)) {
        number++;
        sb_buf_clear(&row);
        if (!sb_utf8_valid(line)) {
            kind = TABLE_NO_TEXT;
        } else if (trim(line).n == 0 || (max_rows && rows == max_rows)) {
            continue;
        } else if (!add_matrix_row(line, &row, &columns)) {
            sb_fail(err, SB_CORRUPT, 0, "line %llu: not a row of numbers",
                    (unsigned long long)number);
            kind = TABLE_BAD_TEXT;
        } else if (row.failed != SB_OK) {
            sb_buf_check(&row, "a row of a table", err);
            kind = TABLE_FAILED;
        } else if (rows++ > 0 && columns != first) {
            sb_fail(err, SB_CORRUPT, 0, "line %llu: %llu columns, and the first has %llu",
                    (unsigned long long)number, (unsigned long long)columns,
                    (unsigned long long)first);
            kind = TABLE_BAD_TEXT;
        } else if (rows % 1024 == 0 && sb_budget_over(p->budget)) {
            sb_fail_timeout(err);
            kind = TABLE_FAILED;
        }
        if (rows == 1) first = columns;
    }
    if (l.failed == SB_LIMIT) {
        kind = TABLE_NO_TEXT; /* no row is that long */
    } else if (l.failed != SB_OK) {
        why_no_line(&l, err);
        kind = TABLE_FAILED;
    }
    sb_buf_fini(&row);
    lines_fini(&l);
    return kind;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Opens a file that the config names; the caller closes it. */
static sb_status open_file(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                           int *file, uint64_t *size, sb_err *err) {
    sb_slice inner;
    sb_file_info info;
    *file = -1;
    if (!sb_beneath_relative(run->dir, path, &inner))
        return sb_fail(err, SB_INVALID, 0, "%.*s: leads outside of its directory", SB_SHOWN(path));
    sb_status status = sb_fs_get_file_beneath(p->fs, run->dir, inner, file, &info, err);
    if (status != SB_OK) return status;
    *size = info.size;
    if (info.size <= p->max_file) return SB_OK;
    p->fs->close(p->fs->ctx, *file);
    *file = -1;
    return sb_fail(err, SB_LIMIT, 0, "%.*s: %llu bytes, more than the limit of %zu", SB_SHOWN(path),
                   (unsigned long long)info.size, p->max_file);
}

/* How many bytes of a raw file are asked for. */
static sb_status measure_raw(const sb_embedding_info *e, uint64_t file_size, uint64_t max_rows,
                             uint64_t *out, sb_err *err) {
    if (e->shape_n != 2)
        return sb_fail(err, SB_CORRUPT, 0,
                       "a tensor that is not text needs a tensor_shape of two numbers");
    uint64_t row = (uint64_t)e->shape[1] * 4, rows = e->shape[0], size;
    if (__builtin_mul_overflow(row, rows, &size) || size != file_size)
        return sb_fail(err, SB_CORRUPT, 0, "%llu bytes are not %u x %u numbers",
                       (unsigned long long)file_size, e->shape[0], e->shape[1]);
    *out = row * (max_rows && rows > max_rows ? max_rows : rows);
    return SB_OK;
}

/* ---- what is read in pieces ------------------------------------------------------------------ */

typedef enum source_kind { SOURCE_BYTES, SOURCE_TABLE, SOURCE_SAVED } source_kind;

struct sb_projector_source {
    source_kind kind;
    const sb_fs *fs;
    const sb_alloc *alloc;
    int file;         /* of bytes and tables */
    uint64_t at, end; /* of bytes: in the file; of rows: how many were read, and how many to read */
    lines lines;
    sb_bundle *bundle;
    const sb_bundle_tensor *tensor;
    uint64_t batch; /* rows of it at a time */
};

static sb_status make_source(const sb_projector *p, source_kind kind, int file,
                             sb_projector_source **out, sb_err *err) {
    sb_projector_source *s = sb_alloc_zeroed(p->alloc, 1, sizeof *s);
    *out = s;
    if (!s) {
        if (file >= 0) p->fs->close(p->fs->ctx, file);
        return sb_fail_nomem(err, "for the projector");
    }
    s->kind = kind;
    s->fs = p->fs;
    s->alloc = p->alloc;
    s->file = file;
    lines_init(&s->lines, p->fs, p->alloc, file);
    return SB_OK;
}

void sb_projector_close(sb_projector_source *s) {
    if (!s) return;
    lines_fini(&s->lines);
    sb_bundle_close(s->bundle);
    if (s->file >= 0) s->fs->close(s->fs->ctx, s->file);
    sb_alloc_put(s->alloc, s, sizeof *s);
}

/* Text if it is text; raw float32 otherwise, and when the text makes no sense but the size does. */
static sb_status open_table(const sb_projector *p, const sb_projector_run *run,
                            const sb_embedding_info *e, uint64_t max_rows,
                            sb_projector_source **out, sb_err *err) {
    int file;
    uint64_t size, bytes = 0;
    sb_err raw_err;
    sb_status status = open_file(p, run, e->tensor_path, &file, &size, err);
    if (status != SB_OK) return status;
    table_kind kind = check_table(p, file, max_rows, err);
    if (kind == TABLE_FAILED) status = err ? err->code : SB_IO;
    if (kind == TABLE_NO_TEXT) status = measure_raw(e, size, max_rows, &bytes, err);
    if (kind == TABLE_BAD_TEXT && measure_raw(e, size, max_rows, &bytes, &raw_err) != SB_OK)
        status = SB_CORRUPT;
    if (status != SB_OK) {
        p->fs->close(p->fs->ctx, file);
        return status;
    }
    status = make_source(p, kind == TABLE_TEXT ? SOURCE_TABLE : SOURCE_BYTES, file, out, err);
    if (status != SB_OK) return status;
    (*out)->end = kind == TABLE_TEXT ? (max_rows ? max_rows : UINT64_MAX) : bytes;
    return SB_OK;
}

static sb_status read_matrix_bytes(sb_projector_source *s, sb_buf *out, sb_err *err) {
    uint64_t left = s->end - s->at;
    if (left == 0) return SB_END;
    int64_t got = read_piece(s->fs, s->file, s->at, left < PIECE ? (size_t)left : PIECE, out);
    if (got == -ENOMEM) return sb_buf_check(out, "a file", err);
    if (got <= 0) return sb_fail(err, SB_IO, s->at, "a file could not be read to its end");
    s->at += (uint64_t)got;
    return s->at == s->end ? SB_END : SB_OK;
}

static sb_status read_table(sb_projector_source *s, sb_buf *out, sb_err *err) {
    sb_slice line;
    uint64_t columns;
    size_t before = out->n;
    while (out->n - before < PIECE) {
        if (s->at == s->end) return SB_END;
        if (!next_line(&s->lines, &line))
            return s->lines.failed == SB_OK ? SB_END : why_no_line(&s->lines, err);
        if (trim(line).n == 0) continue;
        if (!add_matrix_row(line, out, &columns))
            return sb_fail(err, SB_CORRUPT, 0, "a table changed while it was read");
        if (out->failed != SB_OK) return sb_buf_check(out, "a tensor", err);
        s->at++;
    }
    return SB_OK;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static sb_status add_floats(const sb_bundle_tensor *t, sb_slice bytes, uint64_t count, sb_buf *out,
                            sb_err *err) {
    if (t->dtype == SB_FLOAT) {
        sb_buf_add_slice(out, bytes);
        return sb_buf_check(out, "a tensor", err);
    }
    if (count > SIZE_MAX / 4 || !sb_buf_reserve(out, (size_t)count * 4))
        return sb_buf_check(out, "a tensor", err);
    if (count == 0) return SB_OK;
    sb_tensor_view view = {.dtype = t->dtype, .count = (size_t)count, .content = bytes};
    float *floats = sb_alloc_get(out->alloc, (size_t)count * 4);
    if (!floats) return sb_fail_nomem(err, "for a tensor");
    sb_status status = sb_tensor_floats(&view, 0, (size_t)count, floats);
    if (status == SB_OK) sb_buf_add(out, floats, (size_t)count * 4);
    sb_alloc_put(out->alloc, floats, (size_t)count * 4);
    return status == SB_OK
               ? sb_buf_check(out, "a tensor", err)
               : sb_fail(err, SB_CORRUPT, 0, "%.*s: holds no numbers", SB_SHOWN(t->name));
}

static sb_status read_saved(sb_projector_source *s, sb_buf *out, sb_err *err) {
    const sb_bundle_tensor *t = s->tensor;
    uint64_t rows = s->end - s->at < s->batch ? s->end - s->at : s->batch, all = sb_bundle_rows(t);
    sb_buf bytes;
    sb_buf_init(&bytes, s->alloc, out->cap);
    sb_status status = sb_bundle_read_rows(s->bundle, t, s->at, rows, &bytes, err);
    if (status == SB_INVALID) status = SB_CORRUPT; /* strings are no vectors */
    if (status == SB_OK)
        status = add_floats(t, sb_buf_slice(&bytes), all ? t->count / all * rows : 0, out, err);
    sb_buf_fini(&bytes);
    s->at += rows;
    if (status != SB_OK) return status;
    return s->at == s->end ? SB_END : SB_OK;
}

static sb_status open_saved(const sb_projector *p, const sb_projector_run *run, sb_slice name,
                            uint64_t max_rows, sb_projector_source **out, sb_err *err) {
    sb_bundle *b = NULL;
    sb_status status = SB_NOT_FOUND;
    if (run->checkpoint_prefix.n)
        status = sb_bundle_open(&b, p->fs, p->alloc, run->checkpoint_dir, run->checkpoint_prefix,
                                NULL, err);
    const sb_bundle_tensor *t = b ? sb_bundle_find(b, name) : NULL;
    if (t) status = make_source(p, SOURCE_SAVED, -1, out, err);
    if (!t || status != SB_OK) {
        sb_bundle_close(b);
        return status == SB_NOMEM
                   ? status
                   : sb_fail(err, SB_NOT_FOUND, 0, "%.*s: not in the checkpoint", SB_SHOWN(name));
    }
    uint64_t all = sb_bundle_rows(t), row = all ? t->count / all * 8 : 1;
    (*out)->bundle = b;
    (*out)->tensor = t;
    (*out)->end = max_rows && max_rows < all ? max_rows : all;
    (*out)->batch = row < PIECE ? PIECE / (row ? row : 1) : 1;
    return SB_OK;
}

/* ---- answers --------------------------------------------------------------------------------- */

sb_status sb_projector_open_tensor(const sb_projector *p, const sb_projector_run *run,
                                   sb_slice name, uint64_t max_rows, sb_projector_source **out,
                                   sb_err *err) {
    const sb_embedding_info *e = sb_projector_embedding(run, name);
    *out = NULL;
    if (!e || e->tensor_path.n == 0) return open_saved(p, run, name, max_rows, out, err);
    return open_table(p, run, e, max_rows, out, err);
}

/* Where the first max_lines lines end, and one more when the first has a tab. */
static sb_status end_of_lines(const sb_projector *p, int file, uint64_t max_lines, uint64_t *end,
                              sb_err *err) {
    lines l;
    sb_slice line;
    lines_init(&l, p->fs, p->alloc, file);
    for (uint64_t n = 0; n < max_lines && next_line(&l, &line); n++)
        if (n == 0 && line.n && memchr(line.p, '\t', line.n) && max_lines < UINT64_MAX) max_lines++;
    *end = l.end;
    sb_status status = l.failed == SB_OK ? SB_OK : why_no_line(&l, err);
    lines_fini(&l);
    return status;
}

sb_status sb_projector_open_asset(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                                  uint64_t max_lines, sb_projector_source **out, sb_err *err) {
    int file;
    uint64_t end = 0;
    *out = NULL;
    sb_status status = open_file(p, run, path, &file, &end, err);
    if (status != SB_OK) return status;
    if (max_lines) status = end_of_lines(p, file, max_lines, &end, err);
    if (status != SB_OK) {
        p->fs->close(p->fs->ctx, file);
        return status;
    }
    status = make_source(p, SOURCE_BYTES, file, out, err);
    if (status == SB_OK) (*out)->end = end;
    return status;
}

size_t sb_projector_head(const sb_projector_source *s, void *to, size_t n) {
    int64_t got = s->file < 0 ? 0 : s->fs->read_at(s->fs->ctx, s->file, to, n, 0);
    return got > 0 ? (size_t)got : 0;
}

sb_status sb_projector_read(sb_projector_source *s, sb_buf *out, sb_err *err) {
    switch (s->kind) {
    case SOURCE_TABLE:
        return read_table(s, out, err);
    case SOURCE_SAVED:
        return read_saved(s, out, err);
    default:
        return read_matrix_bytes(s, out, err);
    }
}

/* Rows and columns of a text; false when it is none. */
static bool measure(const sb_projector *p, int file, uint32_t shape[2], sb_status *failed) {
    uint64_t rows = 0, columns = 0;
    sb_slice line;
    lines l;
    bool is_text = true;
    lines_init(&l, p->fs, p->alloc, file);
    while (is_text && next_line(&l, &line)) {
        is_text = sb_utf8_valid(line);
        if (trim(line).n == 0 || rows++ > 0) continue;
        for (size_t i = 0; i < line.n; i++) columns += line.p[i] == '\t';
        columns++;
    }
    *failed = l.failed;
    lines_fini(&l);
    if (!is_text || l.failed != SB_OK || rows == 0 || rows > UINT32_MAX || columns > UINT32_MAX)
        return false;
    shape[0] = (uint32_t)rows;
    shape[1] = (uint32_t)columns;
    return true;
}

sb_status sb_projector_shapes(const sb_projector *p, sb_projector_run *run, sb_err *err) {
    for (size_t i = 0; i < run->n; i++) {
        sb_embedding_info *e = &run->embeddings[i];
        if (e->shape_n || e->tensor_path.n == 0) continue;
        if (sb_budget_over(p->budget)) return sb_fail_timeout(err);
        int file;
        uint64_t size;
        sb_status failed = SB_OK;
        uint32_t *shape = sb_arena_get(p->arena, 2 * sizeof *shape);
        if (!shape) return sb_fail_nomem(err, "for the projector");
        if (open_file(p, run, e->tensor_path, &file, &size, err) != SB_OK) continue;
        bool is_known = measure(p, file, shape, &failed);
        p->fs->close(p->fs->ctx, file);
        if (failed == SB_NOMEM) return sb_fail_nomem(err, "for the projector");
        if (!is_known) continue;
        e->shape = shape;
        e->shape_n = 2;
    }
    return SB_OK;
}
