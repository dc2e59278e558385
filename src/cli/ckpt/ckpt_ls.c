/* ckpt_ls.c: `seaboard ckpt ls` and `show`: what is in a checkpoint. */
#include <math.h>
#include <string.h>

#include "base/slice.h"
#include "base/sort_rows.h"
#include "base/text/json.h"
#include "base/vec.h"
#include "ckpt/export/measure.h"
#include "ckpt/object/graph_keys.h"
#include "cli/ckpt/ckpt.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define SHOWN_VALUES 64
#define SHOWN_BYTES 2000
#define BAR 40

/* ---- ls -------------------------------------------------------------------------------------- */

/* The tensors that are listed, by their places in the checkpoint; the key is what they take. */
typedef SB_VEC(sb_sort_row) rows;

static sb_status list_rows(sb_ckpt_cli *c, sb_bundle *b, rows *out, sb_err *err) {
    const char *sort = c->args->options[SB_CKPT_SORT].text;
    if (sort && strcmp(sort, "name") != 0 && strcmp(sort, "bytes") != 0)
        return sb_fail(err, SB_INVALID, 0, "ckpt ls: --sort takes name or bytes, not '%s'", sort);
    for (size_t i = 0; i < sb_bundle_count(b); i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        if (!sb_ckpt_cli_wants(c, t->name)) continue;
        sb_sort_row *slot = SB_VEC_PUSH(out, c->cli->env->alloc, SIZE_MAX);
        if (!slot) return sb_fail_nomem(err, "for a list");
        *slot = (sb_sort_row){i, (double)sb_bundle_bytes(b, t), t->name};
    }
    if (sort && strcmp(sort, "bytes") == 0)
        sb_sort_rows(out->items, out->n, SB_SORT_GREATEST_FIRST);
    return SB_OK;
}

static void add_json_row(sb_json *j, sb_bundle *b, const sb_bundle_tensor *t, bool is_long) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "name", t->name);
    sb_json_put_str(j, "dtype", sb_dtype_name(t->dtype));
    sb_json_key_str(j, "shape");
    sb_json_begin_array(j);
    for (uint32_t d = 0; d < t->rank; d++) sb_json_int(j, t->dims[d]);
    sb_json_end_array(j);
    sb_json_put_uint(j, "bytes", sb_bundle_bytes(b, t));
    if (is_long) {
        sb_json_put_uint(j, "pieces", t->slice_count);
        sb_json_put_uint(j, "shard", t->shard);
        sb_json_put_uint(j, "offset", t->offset);
        sb_json_put_uint(j, "crc32c", t->crc);
    }
    sb_json_end_object(j);
}

static void put_json_rows(sb_ckpt_cli *c, sb_bundle *b, const rows *all) {
    sb_json j;
    sb_json_init(&j, &c->cli->line, &(sb_json_opts){.spaced = true, .indent = 1});
    sb_json_begin_array(&j);
    for (size_t i = 0; i < all->n; i++)
        add_json_row(&j, b, sb_bundle_at(b, all->items[i].index),
                     c->args->options[SB_CKPT_LONG].given);
    sb_json_end_array(&j);
    sb_buf_add_byte(&c->cli->line, '\n');
}

/* Numbers that a model has: strings are none. */
static uint64_t count_parameters(sb_bundle *b, const rows *all) {
    uint64_t sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, all->items[i].index);
        if (sb_bundle_width(t)) sum += t->count;
    }
    return sum;
}

static void put_text_rows(sb_ckpt_cli *c, sb_bundle *b, const rows *all) {
    sb_buf *line = &c->cli->line;
    uint64_t bytes = 0;
    for (size_t i = 0; i < all->n; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, all->items[i].index);
        sb_cli_add_shown(line, t->name, 0);
        sb_buf_printf(line, "  %s ", sb_dtype_name(t->dtype));
        sb_ckpt_cli_add_shape(line, t);
        sb_buf_add_str(line, "  ");
        sb_ckpt_cli_add_size(line, sb_bundle_bytes(b, t));
        if (c->args->options[SB_CKPT_LONG].given) {
            if (t->slice_count)
                sb_buf_printf(line, "  in %u pieces", t->slice_count);
            else
                sb_buf_printf(line, "  data file %u at %llu, checksum %08x", t->shard,
                              (unsigned long long)t->offset, t->crc);
        }
        sb_buf_add_byte(line, '\n');
        bytes += sb_bundle_bytes(b, t);
        if (!sb_cli_put(c->cli)) return;
    }
    sb_cli_add_count(line, all->n);
    sb_buf_add_str(line, all->n == 1 ? " tensor, " : " tensors, ");
    sb_cli_add_count(line, count_parameters(b, all));
    sb_buf_add_str(line, " numbers, ");
    sb_ckpt_cli_add_size(line, bytes);
    sb_buf_add_byte(line, '\n');
}

int sb_ckpt_ls(sb_ckpt_cli *c) {
    sb_bundle *b;
    sb_err err;
    rows all = {0};
    sb_status status = sb_ckpt_cli_open(c, c->operands[0], &b, &err);
    if (status == SB_OK) status = list_rows(c, b, &all, &err);
    if (status == SB_OK) c->json ? put_json_rows(c, b, &all) : put_text_rows(c, b, &all);
    int code = status == SB_OK ? sb_ckpt_cli_put(c) : sb_cli_fail(c->cli, &err);
    SB_VEC_FREE(&all, c->cli->env->alloc);
    sb_bundle_close(b);
    return code;
}

/* ---- show: the whole checkpoint -------------------------------------------------------------- */

#define MOST_DTYPES 64

static void add_sums(sb_buf *line, sb_bundle *b) {
    uint64_t tensors[MOST_DTYPES] = {0}, numbers[MOST_DTYPES] = {0}, bytes[MOST_DTYPES] = {0};
    for (size_t i = 0; i < sb_bundle_count(b); i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        size_t k = (size_t)t->dtype < MOST_DTYPES ? (size_t)t->dtype : 0;
        tensors[k]++;
        numbers[k] += t->count;
        bytes[k] += sb_bundle_bytes(b, t);
    }
    for (size_t k = 0; k < MOST_DTYPES; k++) {
        if (!tensors[k]) continue;
        sb_buf_printf(line, "  %-12s ", sb_dtype_name((sb_dtype)k));
        sb_cli_add_count(line, tensors[k]);
        sb_buf_add_str(line, tensors[k] == 1 ? " tensor, " : " tensors, ");
        sb_cli_add_count(line, numbers[k]);
        sb_buf_add_str(line, numbers[k] == 1 ? " element, " : " elements, ");
        sb_ckpt_cli_add_size(line, bytes[k]);
        sb_buf_add_byte(line, '\n');
    }
}

static int show_all(sb_ckpt_cli *c, sb_bundle *b) {
    sb_buf *line = &c->cli->line;
    bool has_graph = sb_bundle_find(b, SB_LIT(SB_OBJECT_GRAPH_KEY)) != NULL;
    bool is_v1 = sb_bundle_format_of(b) == SB_BUNDLE_V1;
    sb_buf_printf(line, "format: version %d, %s\n", is_v1 ? 1 : 2,
                  has_graph ? "object-based (tf.train.Checkpoint)" : "name-based (Saver)");
    sb_buf_printf(line, "data files: %u, %s-endian\n", sb_bundle_shards(b),
                  sb_bundle_is_big_endian(b) ? "big" : "little");
    sb_cli_add_count(line, sb_bundle_count(b));
    sb_buf_add_str(line, sb_bundle_count(b) == 1 ? " tensor\n" : " tensors\n");
    add_sums(line, b);
    return sb_ckpt_cli_put(c);
}

/* ---- show: one tensor ------------------------------------------------------------------------ */

static void add_histogram(sb_buf *line, const sb_tensor_measure *m) {
    uint64_t most = 1;
    for (size_t i = 0; i < SB_MEASURE_BINS; i++)
        if (m->bins[i] > most) most = m->bins[i];
    double width = (m->max - m->min) / SB_MEASURE_BINS;
    size_t bins = m->max > m->min ? SB_MEASURE_BINS : 1;
    for (size_t i = 0; i < bins; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.4g", m->min + width * (double)i);
        sb_buf_printf(line, "%12s |", label);
        size_t bar = (size_t)((double)m->bins[i] / (double)most * BAR + 0.5);
        if (m->bins[i] && bar == 0) bar = 1;
        for (size_t k = 0; k < bar; k++) sb_buf_add_byte(line, '#');
        sb_buf_add_byte(line, ' ');
        sb_cli_add_count(line, m->bins[i]);
        sb_buf_add_byte(line, '\n');
    }
}

static void add_measure(sb_buf *line, const sb_tensor_measure *m) {
    static const char *const names[] = {"min", "max", "mean", "std", "L2"};
    const double values[] = {m->min, m->max, m->mean, m->std, m->l2};
    for (size_t i = 0; i < 5; i++) {
        sb_buf_printf(line, "%s%s ", i ? ", " : "", names[i]);
        sb_ckpt_cli_add_number(line, values[i]);
    }
    sb_buf_printf(line, ", %llu zero, %llu NaN, %llu infinite\n", (unsigned long long)m->zeros,
                  (unsigned long long)m->nans, (unsigned long long)m->infs);
}

/* The first values; complex ones as pairs would be misread as magnitudes, so both parts. Whether
 * they are damaged turns out when the whole tensor is measured. */
static sb_status add_values(sb_ckpt_cli *c, sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    sb_buf *line = &c->cli->line;
    sb_bundle_cursor *cursor;
    sb_slice bytes = {NULL, 0};
    sb_status status = sb_bundle_cursor_open(&cursor, b, t, err);
    if (status == SB_OK) status = sb_bundle_cursor_next(cursor, &bytes, err);
    size_t count = bytes.n / sb_bundle_width(t),
           shown = count < SHOWN_VALUES ? count : SHOWN_VALUES;
    sb_tensor_view view = {.dtype = t->dtype, .count = count, .content = bytes};
    for (size_t i = 0; status == SB_OK && i < shown; i++) {
        sb_number x;
        if (sb_tensor_at(&view, i, &x) != SB_OK) break;
        sb_buf_add_str(line, i % 8 ? "  " : i ? "\n  " : "  ");
        sb_ckpt_cli_add_number(line, x.re);
        if (sb_dtype_complex(t->dtype)) {
            sb_buf_add_str(line, x.im < 0 ? "" : "+");
            sb_ckpt_cli_add_number(line, x.im);
            sb_buf_add_byte(line, 'i');
        }
    }
    sb_buf_add_str(line, shown < t->count ? "  ...\n" : "\n");
    sb_bundle_cursor_close(cursor);
    return status;
}

static sb_status add_strings(sb_ckpt_cli *c, sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    sb_buf *line = &c->cli->line;
    sb_arena arena;
    sb_slice *strings;
    sb_arena_init(&arena, c->cli->env->alloc, 4096, SIZE_MAX / 2);
    sb_status status = sb_bundle_read_strings(b, t, &arena, &strings, err);
    for (uint64_t i = 0; status == SB_OK && i < t->count && i < SHOWN_VALUES; i++) {
        sb_buf_add_str(line, "  \"");
        sb_cli_add_shown(line, strings[i], SHOWN_BYTES);
        sb_buf_add_str(line, "\"\n");
    }
    if (status == SB_OK && t->count > SHOWN_VALUES) sb_buf_add_str(line, "  ...\n");
    sb_arena_fini(&arena);
    return status;
}

static int show_one(sb_ckpt_cli *c, sb_bundle *b, const char *name) {
    sb_buf *line = &c->cli->line;
    sb_err err;
    const sb_bundle_tensor *t = sb_bundle_find(b, sb_slice_str(name));
    if (!t) {
        sb_fail(&err, SB_NOT_FOUND, 0, "%s: there is no tensor '%s'; 'seaboard ckpt ls' lists them",
                c->operands[0], name);
        return sb_cli_fail(c->cli, &err);
    }
    sb_cli_add_shown(line, t->name, 0);
    sb_buf_printf(line, "  %s ", sb_dtype_name(t->dtype));
    sb_ckpt_cli_add_shape(line, t);
    sb_buf_add_str(line, "  ");
    sb_ckpt_cli_add_size(line, sb_bundle_bytes(b, t));
    sb_buf_add_byte(line, '\n');
    sb_status status;
    if (t->dtype == SB_STRING || t->dtype == SB_VARIANT) {
        status = add_strings(c, b, t, &err);
    } else {
        sb_tensor_measure m;
        status = add_values(c, b, t, &err);
        if (status == SB_OK) status = sb_measure_tensor(&m, b, t, &err);
        if (status == SB_OK) add_measure(line, &m);
        if (status == SB_OK && m.count > m.nans + m.infs) add_histogram(line, &m);
    }
    if (status != SB_OK) sb_buf_clear(line);
    return status == SB_OK ? sb_ckpt_cli_put(c) : sb_cli_fail(c->cli, &err);
}

int sb_ckpt_show(sb_ckpt_cli *c) {
    sb_bundle *b;
    sb_err err;
    if (sb_ckpt_cli_open(c, c->operands[0], &b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    int code = c->count > 1 ? show_one(c, b, c->operands[1]) : show_all(c, b);
    sb_bundle_close(b);
    return code;
}

/* ---- stats ----------------------------------------------------------------------------------- */

static void add_json_measure(sb_json *j, const sb_bundle_tensor *t, const sb_tensor_measure *m) {
    sb_json_begin_object(j);
    sb_json_put_text(j, "name", t->name);
    sb_json_put_uint(j, "count", m->count);
    sb_json_put_double(j, "min", m->min);
    sb_json_put_double(j, "max", m->max);
    sb_json_put_double(j, "mean", m->mean);
    sb_json_put_double(j, "std", m->std);
    sb_json_put_double(j, "l2", m->l2);
    sb_json_put_uint(j, "zeros", m->zeros);
    sb_json_put_uint(j, "nans", m->nans);
    sb_json_put_uint(j, "infs", m->infs);
    sb_json_key_str(j, "bins");
    sb_json_begin_array(j);
    for (size_t i = 0; i < SB_MEASURE_BINS; i++) sb_json_uint(j, m->bins[i]);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static bool is_measured(const sb_ckpt_cli *c, const sb_bundle_tensor *t) {
    if (sb_bundle_width(t) == 0) return false;
    if (c->count > 1) return sb_slice_eq(t->name, sb_slice_str(c->operands[1]));
    return sb_ckpt_cli_wants(c, t->name);
}

static sb_status measure_all(sb_ckpt_cli *c, sb_bundle *b, sb_json *j, size_t *found, sb_err *err) {
    sb_buf *line = &c->cli->line;
    for (size_t i = 0; i < sb_bundle_count(b); i++)
        if (is_measured(c, sb_bundle_at(b, i))) c->all += sb_bundle_bytes(b, sb_bundle_at(b, i));
    for (size_t i = 0; i < sb_bundle_count(b); i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        sb_tensor_measure m;
        if (!is_measured(c, t)) continue;
        ++*found;
        sb_status status = sb_measure_tensor(&m, b, t, err);
        if (status != SB_OK) return status;
        c->before += sb_bundle_bytes(b, t);
        sb_ckpt_cli_progress(c, 0);
        if (j) {
            add_json_measure(j, t, &m);
            continue;
        }
        sb_cli_add_shown(line, t->name, 0);
        sb_buf_add_str(line, "  ");
        add_measure(line, &m);
        if (!sb_cli_put(c->cli)) break;
    }
    return SB_OK;
}

int sb_ckpt_stats(sb_ckpt_cli *c) {
    sb_bundle *b;
    sb_err err;
    sb_json j;
    size_t found = 0;
    if (sb_ckpt_cli_open(c, c->operands[0], &b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    c->what = "stats";
    sb_json_init(&j, &c->cli->line, &(sb_json_opts){.spaced = true, .indent = 1});
    if (c->json) sb_json_begin_array(&j);
    sb_status status = measure_all(c, b, c->json ? &j : NULL, &found, &err);
    if (status == SB_OK && c->json) {
        sb_json_end_array(&j);
        sb_buf_add_byte(&c->cli->line, '\n');
    }
    if (status == SB_OK && found == 0)
        status = sb_fail(&err, SB_NOT_FOUND, 0, "%s: there is no such tensor of numbers",
                         c->operands[0]);
    sb_cli_progress_end(c->cli);
    sb_bundle_close(b);
    if (status != SB_OK) sb_buf_clear(&c->cli->line);
    return status == SB_OK ? sb_ckpt_cli_put(c) : sb_cli_fail(c->cli, &err);
}
