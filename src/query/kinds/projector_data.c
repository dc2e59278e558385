/* projector_data.c: tensors from text, raw files and checkpoints; labels, bookmarks, sprites. */
#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "ckpt/bundle/bundle.h"
#include "codec/tensor.h"
#include "fsio/beneath.h"
#include "query/kinds/projector.h"
#include "base/banned.h"

/* ---- text ------------------------------------------------------------------------------------ */

/* Takes the next line off the front, without its end; false behind the last. */
static bool next_line(sb_slice *text, sb_slice *line) {
    if (text->n == 0) return false;
    const uint8_t *end = memchr(text->p, '\n', text->n);
    size_t n = end ? (size_t)(end - text->p) : text->n;
    *line = sb_slice_of(text->p, n);
    n += end != NULL;
    *text = sb_slice_of(text->p + n, text->n - n);
    return true;
}

static bool is_blank(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static sb_slice trim(sb_slice s) {
    while (s.n && is_blank(s.p[0])) s = sb_slice_of(s.p + 1, s.n - 1);
    while (s.n && is_blank(s.p[s.n - 1])) s.n--;
    return s;
}

/* Appends the numbers of a line; false when a cell is none. */
static bool add_row(sb_slice line, sb_buf *out, uint64_t *columns) {
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

static sb_status add_text(const sb_projector *p, sb_slice text, uint64_t max_rows, sb_buf *out,
                          sb_err *err) {
    uint64_t rows = 0, number = 0, columns, first = 0;
    sb_slice line;
    while (next_line(&text, &line)) {
        number++;
        if (trim(line).n == 0) continue;
        if (max_rows && rows == max_rows) break;
        if (!add_row(line, out, &columns))
            return sb_fail(err, SB_CORRUPT, 0, "line %llu: not a row of numbers",
                           (unsigned long long)number);
        if (rows++ == 0) first = columns;
        if (columns != first)
            return sb_fail(err, SB_CORRUPT, 0, "line %llu: %llu columns, and the first has %llu",
                           (unsigned long long)number, (unsigned long long)columns,
                           (unsigned long long)first);
        if (rows % 1024 == 0 && sb_budget_over(p->budget)) return sb_fail_timeout(err);
    }
    return sb_buf_check(out, "a tensor", err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file that the config names. The caller gives it back. */
static sb_status get_file(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                          sb_slice *out, sb_err *err) {
    sb_slice inner;
    *out = (sb_slice){NULL, 0};
    if (!sb_beneath_relative(run->dir, path, &inner))
        return sb_fail(err, SB_INVALID, 0, "%.*s: leads outside of its directory", SB_SHOWN(path));
    return sb_fs_get_beneath(p->fs, p->alloc, run->dir, inner, p->max_file, out, err);
}

static void put_file(const sb_projector *p, sb_slice file) {
    sb_alloc_put(p->alloc, (void *)(uintptr_t)file.p, file.n);
}

static sb_status add_raw(const sb_embedding_info *e, sb_slice file, uint64_t max_rows, sb_buf *out,
                         sb_err *err) {
    if (e->shape_n != 2)
        return sb_fail(err, SB_CORRUPT, 0,
                       "a tensor that is not text needs a tensor_shape of two numbers");
    uint64_t row = (uint64_t)e->shape[1] * 4, rows = e->shape[0], size;
    if (__builtin_mul_overflow(row, rows, &size) || size != file.n)
        return sb_fail(err, SB_CORRUPT, 0, "%zu bytes are not %u x %u numbers", file.n, e->shape[0],
                       e->shape[1]);
    if (max_rows && rows > max_rows) rows = max_rows;
    sb_buf_add(out, file.p, (size_t)(row * rows));
    return sb_buf_check(out, "a tensor", err);
}

/* Text if it is text; raw float32 otherwise, and when the text makes no sense but the size does. */
static sb_status add_file(const sb_projector *p, const sb_embedding_info *e, sb_slice file,
                          uint64_t max_rows, sb_buf *out, sb_err *err) {
    if (!sb_utf8_valid(file)) return add_raw(e, file, max_rows, out, err);
    size_t before = out->n;
    sb_err raw_err;
    sb_status status = add_text(p, file, max_rows, out, err);
    if (status != SB_CORRUPT) return status;
    out->n = before;
    return add_raw(e, file, max_rows, out, &raw_err) == SB_OK ? SB_OK : status;
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

static sb_status add_saved(const sb_projector *p, const sb_projector_run *run, sb_slice name,
                           uint64_t max_rows, sb_buf *out, sb_err *err) {
    sb_bundle *b = NULL;
    sb_status status = SB_NOT_FOUND;
    if (run->checkpoint_prefix.n)
        status = sb_bundle_open(&b, p->fs, p->alloc, run->checkpoint_dir, run->checkpoint_prefix,
                                NULL, err);
    const sb_bundle_tensor *t = b ? sb_bundle_find(b, name) : NULL;
    if (!t) {
        sb_bundle_close(b);
        return status == SB_NOMEM
                   ? status
                   : sb_fail(err, SB_NOT_FOUND, 0, "%.*s: not in the checkpoint", SB_SHOWN(name));
    }
    uint64_t all = sb_bundle_rows(t), rows = max_rows && max_rows < all ? max_rows : all;
    sb_buf bytes;
    sb_buf_init(&bytes, p->alloc, p->max_file);
    status = sb_bundle_read_rows(b, t, 0, rows, &bytes, err);
    if (status == SB_INVALID) status = SB_CORRUPT; /* strings are no vectors */
    if (status == SB_OK)
        status = add_floats(t, sb_buf_slice(&bytes), all ? t->count / all * rows : 0, out, err);
    sb_buf_fini(&bytes);
    sb_bundle_close(b);
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

sb_status sb_projector_tensor(const sb_projector *p, const sb_projector_run *run, sb_slice name,
                              uint64_t max_rows, sb_buf *out, sb_err *err) {
    const sb_embedding_info *e = sb_projector_embedding(run, name);
    if (!e || e->tensor_path.n == 0) return add_saved(p, run, name, max_rows, out, err);
    sb_slice file;
    sb_status status = get_file(p, run, e->tensor_path, &file, err);
    if (status == SB_OK) status = add_file(p, e, file, max_rows, out, err);
    put_file(p, file);
    return status;
}

sb_status sb_projector_asset(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                             uint64_t max_lines, sb_buf *out, sb_err *err) {
    sb_slice file, line;
    sb_status status = get_file(p, run, path, &file, err);
    sb_slice rest = file;
    if (max_lines) {
        uint64_t lines = 0;
        while (lines < max_lines && next_line(&rest, &line)) {
            if (lines++ == 0 && line.n && memchr(line.p, '\t', line.n) && max_lines < UINT64_MAX)
                max_lines++;
        }
        sb_buf_add(out, file.p, file.n - rest.n);
    } else {
        sb_buf_add_slice(out, file);
    }
    put_file(p, file);
    return status == SB_OK ? sb_buf_check(out, "a file", err) : status;
}

/* Rows and columns of a text; false when it is none. */
static bool measure(sb_slice text, uint32_t shape[2]) {
    uint64_t rows = 0, columns = 0;
    sb_slice line;
    while (next_line(&text, &line)) {
        if (trim(line).n == 0) continue;
        if (rows++ > 0) continue;
        for (size_t i = 0; i < line.n; i++) columns += line.p[i] == '\t';
        columns++;
    }
    if (rows == 0 || rows > UINT32_MAX || columns > UINT32_MAX) return false;
    shape[0] = (uint32_t)rows;
    shape[1] = (uint32_t)columns;
    return true;
}

sb_status sb_projector_shapes(const sb_projector *p, sb_projector_run *run, sb_err *err) {
    for (size_t i = 0; i < run->n; i++) {
        sb_embedding_info *e = &run->embeddings[i];
        if (e->shape_n || e->tensor_path.n == 0) continue;
        if (sb_budget_over(p->budget)) return sb_fail_timeout(err);
        sb_slice file;
        sb_status status = get_file(p, run, e->tensor_path, &file, err);
        if (status == SB_NOMEM) return status;
        uint32_t *shape = sb_arena_get(p->arena, 2 * sizeof *shape);
        bool is_known = shape && status == SB_OK && sb_utf8_valid(file) && measure(file, shape);
        put_file(p, file);
        if (!shape) return sb_fail_nomem(err, "for the projector");
        if (!is_known) continue;
        e->shape = shape;
        e->shape_n = 2;
    }
    return SB_OK;
}
