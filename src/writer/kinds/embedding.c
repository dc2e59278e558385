/* embedding.c: the projector's files, beside the event file.
 *
 *     LOGDIR/STEP/TAG/tensors.tsv    one row a line, numbers with tabs between them
 *     LOGDIR/STEP/TAG/metadata.tsv   labels, a header line first when there are several columns
 *     LOGDIR/STEP/TAG/sprite.png     small pictures in a square grid
 *     LOGDIR/projector_config.pbtxt  what is where; other writers' entries are kept
 *
 * STEP has five digits at least; in TAG the characters % / \ are %25 %2f %5c. Done on the caller's
 * thread; the config is written last and as a whole, so that what it names is there. */
#include <math.h>

#include "base/checked.h"
#include "base/sized.h"
#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "media/pixels.h"
#include "media/png.h"
#include "writer/kinds/kinds.h"
#include "writer/kinds/projector.h"

#include "base/banned.h"

#define MAX_PATH_BYTES 65536
#define CHUNK ((size_t)1 << 20)
#define MAX_PIXELS ((uint64_t)1 << 28)
#define TBX_MAX_SIDE 8192
#define MAX_TAG 2000

typedef struct job {
    const sb_env *env;
    sb_style style;
    const char *logdir;
    int64_t step;
    sb_slice tag;
    sb_array matrix; /* contiguous */
    sb_array images; /* contiguous; only when has_images */
    bool has_images;
    sb_embedding_opts opts;
    sb_buf folder; /* relative to the log directory: STEP/TAG */
    sb_buf path;   /* scratch for full paths */
    int64_t rows, columns;
} job;

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_real(sb_dtype dtype) {
    return sb_dtype_numeric(dtype) && sb_dtype_size(dtype) && !sb_dtype_complex(dtype);
}

/* Checks an array that is called `what`, and makes a contiguous copy of it in the arena when it is
 * not contiguous. */
static sb_status take_array(sb_array *out, sb_arena *arena, const char *what, const sb_array *a,
                            uint32_t rank, sb_err *err) {
    size_t count;
    if (!a || a->rank != rank || !a->dims || !is_real(a->dtype))
        return sb_fail(err, SB_INVALID, 0, "embedding: the %s must be real numbers of rank %u",
                       what, rank);
    if (!sb_array_count(a, &count) || count > SIZE_MAX / 16)
        return sb_fail(err, SB_LIMIT, 0, "embedding: the %s' dimensions are negative or too large",
                       what);
    if (count == 0 || !a->data)
        return sb_fail(err, SB_INVALID, 0, "embedding: the %s are empty or missing", what);
    if (!sb_strides_in_range(a))
        return sb_fail(err, SB_LIMIT, 0,
                       "embedding: the %s' strides reach beyond the address space", what);
    size_t element = sb_dtype_size(a->dtype);
    *out = *a;
    out->strides = NULL;
    if (sb_strides_contiguous(a, element)) return SB_OK;
    void *copy = sb_arena_get(arena, count * element);
    if (!copy) return sb_fail_nomem(err, "for an embedding");
    sb_strides_copy(copy, count * element, a, element);
    out->data = copy;
    return SB_OK;
}

static sb_status check_labels(const job *j, sb_err *err) {
    const sb_embedding_opts *e = &j->opts;
    if (!e->metadata) return SB_OK;
    size_t columns = e->metadata_columns;
    if (columns == 0 || (columns > 1 && !e->metadata_header))
        return sb_fail(err, SB_INVALID, 0,
                       "embedding: %zu metadata columns; several of them need a header", columns);
    size_t cells;
    if (!sb_mul_size(&cells, (size_t)j->rows, columns))
        return sb_fail(err, SB_LIMIT, 0, "embedding: too many metadata columns");
    for (size_t i = 0; i < cells; i++)
        if (!e->metadata[i] || !sb_utf8_valid(sb_slice_str(e->metadata[i])))
            return sb_fail(err, SB_INVALID, 0,
                           "embedding: label %zu of row %zu is missing or not valid UTF-8",
                           i % columns, i / columns);
    for (size_t i = 0; e->metadata_header && i < columns; i++)
        if (!e->metadata_header[i] || !sb_utf8_valid(sb_slice_str(e->metadata_header[i])))
            return sb_fail(err, SB_INVALID, 0,
                           "embedding: header %zu is missing or not valid UTF-8", i);
    return SB_OK;
}

static sb_status take_images(job *j, sb_arena *arena, sb_err *err) {
    j->has_images = j->opts.images != NULL;
    if (!j->has_images) return SB_OK;
    const sb_array *images = &j->images;
    sb_status status = take_array(&j->images, arena, "images", j->opts.images, 4, err);
    if (status != SB_OK) return status;
    if (images->dims[0] != j->rows)
        return sb_fail(err, SB_INVALID, 0, "embedding: %lld images for %lld rows",
                       (long long)images->dims[0], (long long)j->rows);
    if (images->dims[1] > 4)
        return sb_fail(err, SB_INVALID, 0, "embedding: images of %lld channels; there are 1 to 4",
                       (long long)images->dims[1]);
    if (j->style == SB_STYLE_TBX && images->dims[2] != images->dims[3])
        return sb_fail(err, SB_INVALID, 0, "embedding: in this style images must be square");
    return SB_OK;
}

static sb_status take_arguments(job *j, sb_arena *arena, const char *tag, const sb_array *matrix,
                                const sb_embedding_opts *opts, sb_err *err) {
    j->tag = tag ? sb_slice_str(tag) : SB_LIT("default");
    if (j->tag.n == 0 || j->tag.n > MAX_TAG || !sb_utf8_valid(j->tag))
        return sb_fail(err, SB_INVALID, 0,
                       "embedding: the tag must be valid UTF-8 of 1 to %d bytes", MAX_TAG);
    sb_status status = SB_OK;
    if (opts) status = sb_sized_read(&j->opts, sizeof j->opts, opts, 0, "sb_embedding_opts", err);
    if (status == SB_OK) status = take_array(&j->matrix, arena, "matrix", matrix, 2, err);
    if (status != SB_OK) return status;
    j->rows = j->matrix.dims[0];
    j->columns = j->matrix.dims[1];
    status = check_labels(j, err);
    return status == SB_OK ? take_images(j, arena, err) : status;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Appends a tag as the name of one folder: the result is never "." or ".." and contains no
 * separator. */
static void add_escaped(sb_buf *out, sb_slice tag) {
    bool dots = sb_slice_eq(tag, SB_LIT(".")) || sb_slice_eq(tag, SB_LIT(".."));
    for (size_t i = 0; i < tag.n; i++) {
        uint8_t c = tag.p[i];
        if (c == '%' || c == '/' || c == '\\' || dots)
            sb_buf_printf(out, "%%%02x", c);
        else
            sb_buf_add_byte(out, c);
    }
}

/* Appends a step with leading zeros, five characters with the sign, as Python's zfill does. */
static void add_step(sb_buf *out, int64_t step) {
    if (step < 0)
        sb_buf_printf(out, "-%04llu", 0 - (unsigned long long)step);
    else
        sb_buf_printf(out, "%05lld", (long long)step);
}

static const char *full_path(job *j, const char *name) {
    sb_buf_clear(&j->path);
    sb_buf_printf(&j->path, "%s/", j->logdir);
    if (name[0] !=
        '/') { /* relative to the embedding's folder; with a leading slash: to the log directory */
        sb_buf_add_slice(&j->path, sb_buf_slice(&j->folder));
        sb_buf_add_byte(&j->path, '/');
    }
    sb_buf_add_str(&j->path, name[0] == '/' ? name + 1 : name);
    sb_buf_add_byte(&j->path, 0);
    return j->path.failed ? NULL : (const char *)j->path.p;
}

/* ---- tensors.tsv ----------------------------------------------------------------------------- */

/* Appends an element as Python's str() prints it: floats as doubles, integers exactly. */
static void add_number(sb_buf *out, const sb_tensor_view *view, size_t i) {
    char text[SB_NUMBER_ROOM];
    sb_number x;
    sb_tensor_at(view, i, &x);
    switch (view->dtype) {
    case SB_BOOL:
        sb_buf_add_str(out, x.i ? "True" : "False");
        return;
    case SB_FLOAT:
    case SB_DOUBLE:
    case SB_HALF:
    case SB_BFLOAT16:
    case SB_FLOAT8_E5M2:
    case SB_FLOAT8_E4M3FN:
    case SB_FLOAT8_E4M3FNUZ:
    case SB_FLOAT8_E4M3B11FNUZ:
    case SB_FLOAT8_E5M2FNUZ:
    case SB_FLOAT4_E2M1FN:
        if (isnan(x.re))
            sb_buf_add_str(out, "nan");
        else if (isinf(x.re))
            sb_buf_add_str(out, x.re > 0 ? "inf" : "-inf");
        else
            sb_buf_add(out, text, sb_print_double(text, x.re));
        return;
    case SB_UINT64:
        sb_buf_add(out, text, sb_print_uint64(text, (uint64_t)x.i));
        return;
    default:
        sb_buf_add(out, text, sb_print_int64(text, x.i));
    }
}

typedef struct sink {
    const sb_fs *fs;
    int file;
    sb_buf buf;
    int failed; /* a negative errno */
} sink;

static void sink_flush(sink *s) {
    if (s->failed == 0 && s->buf.n)
        s->failed = sb_fs_write_all(s->fs, s->file, sb_buf_slice(&s->buf), NULL);
    sb_buf_clear(&s->buf);
}

static sb_status add_rows(job *j, sink *s, sb_err *err) {
    sb_tensor_view view = sb_array_view(&j->matrix);
    for (int64_t row = 0; row < j->rows; row++) {
        for (int64_t column = 0; column < j->columns; column++) {
            if (column) sb_buf_add_byte(&s->buf, '\t');
            add_number(&s->buf, &view, (size_t)(row * j->columns + column));
            if (s->buf.failed) return sb_buf_check(&s->buf, "tensors.tsv", err);
            if (s->buf.n >= CHUNK) sink_flush(s);
        }
        sb_buf_add_byte(&s->buf, '\n');
    }
    if (s->buf.failed) return sb_buf_check(&s->buf, "tensors.tsv", err);
    sink_flush(s);
    if (s->failed)
        return sb_fail_errno(err, SB_IO, -s->failed, "%s/%.*s/tensors.tsv: can't write", j->logdir,
                             SB_SHOWN(sb_buf_slice(&j->folder)));
    return SB_OK;
}

/* A large matrix is written in chunks to a temporary name, and renamed when it is complete. */
static sb_status put_matrix(job *j, sb_err *err) {
    const sb_fs *fs = j->env->fs;
    const char *path = full_path(j, "tensors.tsv.part");
    if (!path) return sb_buf_check(&j->path, "the path of an embedding", err);
    sink s = {.fs = fs, .file = fs->open(fs->ctx, path, SB_OPEN_REPLACE)};
    if (s.file < 0) return sb_fail_errno(err, SB_IO, -s.file, "%s: can't make this file", path);
    sb_buf_init(&s.buf, j->env->alloc, 2 * CHUNK);
    sb_status status = add_rows(j, &s, err);
    sb_buf_fini(&s.buf);
    int closed = fs->close(fs->ctx, s.file);
    if (status == SB_OK && closed < 0)
        status = sb_fail_errno(err, SB_IO, -closed, "%s: can't close this file", path);
    size_t part_n = j->path.n - sizeof ".part";
    sb_buf final;
    sb_buf_init(&final, j->env->alloc, MAX_PATH_BYTES);
    sb_buf_add(&final, path, part_n);
    sb_buf_add_byte(&final, 0);
    if (status == SB_OK) status = sb_buf_check(&final, "the path of an embedding", err);
    if (status == SB_OK) {
        int renamed = fs->rename(fs->ctx, path, (const char *) final.p);
        if (renamed < 0)
            status = sb_fail_errno(err, SB_IO, -renamed, "%s: can't rename this file", path);
    }
    if (status != SB_OK) fs->remove(fs->ctx, path);
    sb_buf_fini(&final);
    return status;
}

/* ---- metadata.tsv and sprite.png ------------------------------------------------------------- */

/* A tab or a line break inside a label becomes a space, since it would shift all that follows. */
static void add_cell(sb_buf *out, const char *text) {
    for (const char *c = text; *c; c++)
        sb_buf_add_byte(out, *c == '\t' || *c == '\n' || *c == '\r' ? ' ' : (uint8_t)*c);
}

static void add_line(sb_buf *out, const char *const *cells, size_t columns) {
    for (size_t i = 0; i < columns; i++) {
        if (i) sb_buf_add_byte(out, '\t');
        add_cell(out, cells[i]);
    }
    sb_buf_add_byte(out, '\n');
}

static sb_status put_file(job *j, const char *name, sb_slice data, sb_err *err) {
    const char *path = full_path(j, name);
    if (!path) return sb_buf_check(&j->path, "the path of an embedding", err);
    return sb_fs_put(j->env->fs, j->env->alloc, path, data, err);
}

static sb_status put_labels(job *j, sb_err *err) {
    const sb_embedding_opts *e = &j->opts;
    if (!e->metadata) return SB_OK;
    sb_buf text;
    sb_buf_init(&text, j->env->alloc, SIZE_MAX);
    /* The header of a single column is not written: it has no tab, and readers would take it for a
     * label. */
    if (e->metadata_header && e->metadata_columns > 1)
        add_line(&text, e->metadata_header, e->metadata_columns);
    for (int64_t i = 0; i < j->rows; i++)
        add_line(&text, e->metadata + (size_t)i * e->metadata_columns, e->metadata_columns);
    sb_status status = sb_buf_check(&text, "metadata.tsv", err);
    if (status == SB_OK) status = put_file(j, "metadata.tsv", sb_buf_slice(&text), err);
    sb_buf_fini(&text);
    return status;
}

/* torch interprets uint8 images as 0..1 as well, so that everything but 0 is white. Here uint8
 * means 0..255: each byte is passed as a double that is converted back to the same byte. */
static sb_status make_sprite(job *j, sb_buf *pixels, sb_pixel_shape *shape, sb_err *err) {
    sb_array images = j->images;
    if (images.dtype != SB_UINT8)
        return sb_pixels_torch_sprite(pixels, shape, &images, MAX_PIXELS, err);
    size_t count;
    const uint8_t *from = images.data;
    if (!sb_array_count(&images, &count)) count = 0;
    double *levels = sb_alloc_zeroed(j->env->alloc, count, sizeof *levels);
    if (!levels) return sb_fail_nomem(err, "for a sprite");
    for (size_t i = 0; i < count; i++) levels[i] = (from[i] + 0.5) / 255;
    images.data = levels;
    images.dtype = SB_DOUBLE;
    sb_status status = sb_pixels_torch_sprite(pixels, shape, &images, MAX_PIXELS, err);
    sb_alloc_put(j->env->alloc, levels, count * sizeof *levels);
    return status;
}

static sb_status put_sprite(job *j, sb_err *err) {
    if (!j->has_images) return SB_OK;
    sb_pixel_shape shape;
    sb_png_encoder encoder;
    sb_buf pixels, png;
    sb_buf_init(&pixels, j->env->alloc, SIZE_MAX);
    sb_buf_init(&png, j->env->alloc, SIZE_MAX);
    sb_png_encoder_init(&encoder, j->env->alloc, MAX_PIXELS);
    sb_status status = make_sprite(j, &pixels, &shape, err);
    if (status == SB_OK && j->style == SB_STYLE_TBX && shape.width > TBX_MAX_SIDE)
        status = sb_fail(err, SB_LIMIT, 0,
                         "embedding: a sprite of %u pixels a side; TensorBoard shows up to %d",
                         shape.width, TBX_MAX_SIDE);
    if (status == SB_OK)
        status =
            sb_png_encode(&png, &encoder, pixels.p, shape.width, shape.height, shape.channels, err);
    if (status == SB_OK) status = put_file(j, "sprite.png", sb_buf_slice(&png), err);
    sb_png_encoder_fini(&encoder);
    sb_buf_fini(&png);
    sb_buf_fini(&pixels);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static sb_status put_config(job *j, sb_err *err) {
    sb_buf name;
    sb_buf_init(&name, j->env->alloc, MAX_PATH_BYTES);
    sb_buf_add_slice(&name, j->tag);
    sb_buf_add_byte(&name, ':');
    add_step(&name, j->step);
    const sb_projector_entry entry = {
        .tensor_name = sb_buf_slice(&name),
        .folder = sb_buf_slice(&j->folder),
        .has_labels = j->opts.metadata != NULL,
        .has_sprite = j->has_images,
        .width = j->has_images ? (uint32_t)j->images.dims[3] : 0,
        .height = j->has_images ? (uint32_t)j->images.dims[2] : 0,
    };
    sb_status status = sb_buf_check(&name, "the name of an embedding", err);
    const char *path = status == SB_OK ? full_path(j, "/projector_config.pbtxt") : NULL;
    if (status == SB_OK && !path) status = sb_buf_check(&j->path, "the config's path", err);
    if (status == SB_OK) status = sb_projector_merge(j->env, path, &entry, err);
    sb_buf_fini(&name);
    return status;
}

static sb_status put_all(job *j, sb_err *err) {
    add_step(&j->folder, j->step);
    sb_buf_add_byte(&j->folder, '/');
    add_escaped(&j->folder, j->tag);
    sb_status status = sb_buf_check(&j->folder, "the path of an embedding", err);
    if (status != SB_OK) return status;
    const char *folder = full_path(j, "");
    if (!folder) return sb_buf_check(&j->path, "the path of an embedding", err);
    status = sb_fs_make_dirs(j->env->fs, j->env->alloc, folder, err);
    if (status == SB_OK) status = put_matrix(j, err);
    if (status == SB_OK) status = put_labels(j, err);
    if (status == SB_OK) status = put_sprite(j, err);
    return status == SB_OK ? put_config(j, err) : status;
}

sb_status sb_embedding(sb_writer *w, const char *tag, const sb_array *matrix, int64_t step,
                       const sb_embedding_opts *opts, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "embedding: there is no writer");
    job j = {.env = sb_writer_env(w),
             .style = sb_writer_style(w),
             .logdir = sb_writer_logdir(w),
             .step = step};
    sb_arena copies;
    sb_arena_init(&copies, j.env->alloc, 4096, SIZE_MAX / 2);
    sb_status status = take_arguments(&j, &copies, tag, matrix, opts, err);
    if (status == SB_OK) {
        sb_buf_init(&j.folder, j.env->alloc, MAX_PATH_BYTES);
        sb_buf_init(&j.path, j.env->alloc, MAX_PATH_BYTES);
        status = put_all(&j, err);
        sb_buf_fini(&j.path);
        sb_buf_fini(&j.folder);
    }
    sb_arena_fini(&copies);
    return status;
}
