/* ckpt_diff.c: `seaboard ckpt diff`: which tensors are in one checkpoint only, and how far the
 * others are apart. */
#include <string.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "ckpt/export/measure.h"
#include "cli/ckpt/ckpt.h"
#include "codec/tensor.h"
#include "base/banned.h"

typedef struct comparing {
    sb_ckpt_cli *c;
    sb_bundle *a, *b;
    sb_json j;
    size_t same, different;
} comparing;

static void begin_row(comparing *x, sb_slice name, const char *what) {
    sb_buf *line = &x->c->cli->line;
    x->different++;
    if (x->c->json) {
        sb_json_begin_object(&x->j);
        sb_json_put_text(&x->j, "name", name);
        sb_json_put_str(&x->j, "change", what);
        return;
    }
    sb_cli_add_shown(line, name, 0);
    sb_buf_printf(line, "  %s", what);
}

static void end_row(comparing *x) {
    if (x->c->json) {
        sb_json_end_object(&x->j);
        return;
    }
    sb_buf_add_byte(&x->c->cli->line, '\n');
    sb_cli_put(x->c->cli);
}

static void add_form(comparing *x, const char *key, const sb_bundle_tensor *t) {
    sb_buf *line = &x->c->cli->line;
    if (x->c->json) {
        sb_json_key_str(&x->j, key);
        sb_json_begin_object(&x->j);
        sb_json_put_str(&x->j, "dtype", sb_dtype_name(t->dtype));
        sb_json_key_str(&x->j, "shape");
        sb_json_begin_array(&x->j);
        for (uint32_t d = 0; d < t->rank; d++) sb_json_int(&x->j, t->dims[d]);
        sb_json_end_array(&x->j);
        sb_json_end_object(&x->j);
        return;
    }
    sb_buf_printf(line, " %s ", sb_dtype_name(t->dtype));
    sb_ckpt_cli_add_shape(line, t);
}

static bool has_same_form(const sb_bundle_tensor *s, const sb_bundle_tensor *t) {
    return s->dtype == t->dtype && s->rank == t->rank &&
           (s->rank == 0 || memcmp(s->dims, t->dims, s->rank * sizeof *s->dims) == 0);
}

static sb_status compare_strings(comparing *x, const sb_bundle_tensor *s, const sb_bundle_tensor *t,
                                 sb_err *err) {
    sb_arena arena;
    sb_slice *first, *second;
    uint64_t count = 0;
    sb_arena_init(&arena, x->c->cli->env->alloc, 4096, SIZE_MAX / 2);
    sb_status status = sb_bundle_read_strings(x->a, s, &arena, &first, err);
    if (status == SB_OK) status = sb_bundle_read_strings(x->b, t, &arena, &second, err);
    for (uint64_t i = 0; status == SB_OK && i < s->count; i++)
        count += !sb_slice_eq(first[i], second[i]);
    sb_arena_fini(&arena);
    if (status != SB_OK || count == 0) return status;
    begin_row(x, s->name, "differs");
    if (x->c->json)
        sb_json_put_uint(&x->j, "elements", count);
    else
        sb_buf_printf(&x->c->cli->line, " in %llu of %llu strings", (unsigned long long)count,
                      (unsigned long long)s->count);
    end_row(x);
    return SB_OK;
}

static sb_status compare_numbers(comparing *x, const sb_bundle_tensor *s, const sb_bundle_tensor *t,
                                 sb_err *err) {
    sb_tensor_difference d;
    sb_buf *line = &x->c->cli->line;
    sb_status status = sb_measure_difference(&d, x->a, s, x->b, t, err);
    if (status != SB_OK || d.count == 0) return status;
    begin_row(x, s->name, "differs");
    if (x->c->json) {
        sb_json_put_uint(&x->j, "elements", d.count);
        sb_json_put_double(&x->j, "l2", d.l2);
        sb_json_put_double(&x->j, "max", d.max);
    } else {
        sb_buf_printf(line, " in %llu of %llu: L2 ", (unsigned long long)d.count,
                      (unsigned long long)s->count);
        sb_ckpt_cli_add_number(line, d.l2);
        sb_buf_add_str(line, ", max ");
        sb_ckpt_cli_add_number(line, d.max);
    }
    end_row(x);
    return SB_OK;
}

static sb_status compare_both(comparing *x, const sb_bundle_tensor *s, const sb_bundle_tensor *t,
                              sb_err *err) {
    if (!has_same_form(s, t)) {
        begin_row(x, s->name, "has another form:");
        add_form(x, "first", s);
        if (!x->c->json) sb_buf_add_str(&x->c->cli->line, " and");
        add_form(x, "second", t);
        end_row(x);
        return SB_OK;
    }
    size_t before = x->different;
    sb_status status =
        sb_bundle_width(s) ? compare_numbers(x, s, t, err) : compare_strings(x, s, t, err);
    if (x->different == before) x->same++;
    x->c->before += sb_bundle_bytes(x->a, s);
    sb_ckpt_cli_progress(x->c, 0);
    return status;
}

/* Both lists are in order of names. */
static sb_status compare_all(comparing *x, sb_err *err) {
    size_t i = 0, k = 0, n = sb_bundle_count(x->a), m = sb_bundle_count(x->b);
    for (size_t at = 0; at < n; at++) x->c->all += sb_bundle_bytes(x->a, sb_bundle_at(x->a, at));
    while (i < n || k < m) {
        const sb_bundle_tensor *s = i < n ? sb_bundle_at(x->a, i) : NULL;
        const sb_bundle_tensor *t = k < m ? sb_bundle_at(x->b, k) : NULL;
        int order = !s ? 1 : !t ? -1 : sb_slice_cmp(s->name, t->name);
        i += order <= 0;
        k += order >= 0;
        if (!sb_ckpt_cli_wants(x->c, (order <= 0 ? s : t)->name)) continue;
        sb_status status = SB_OK;
        if (order == 0) {
            status = compare_both(x, s, t, err);
        } else {
            begin_row(x, (order < 0 ? s : t)->name,
                      order < 0 ? "only in the first:" : "only in the second:");
            add_form(x, order < 0 ? "first" : "second", order < 0 ? s : t);
            end_row(x);
        }
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

int sb_ckpt_diff(sb_ckpt_cli *c) {
    comparing x = {.c = c};
    sb_err err;
    c->what = "diff";
    sb_status status = sb_ckpt_cli_open(c, c->operands[0], &x.a, &err);
    if (status == SB_OK) status = sb_ckpt_cli_open(c, c->operands[1], &x.b, &err);
    sb_json_init(&x.j, &c->cli->line, &(sb_json_opts){.spaced = true, .indent = 1});
    if (status == SB_OK && c->json) sb_json_begin_array(&x.j);
    if (status == SB_OK) status = compare_all(&x, &err);
    sb_cli_progress_end(c->cli);
    sb_bundle_close(x.a);
    sb_bundle_close(x.b);
    if (status != SB_OK) {
        sb_buf_clear(&c->cli->line);
        return sb_cli_fail(c->cli, &err);
    }
    if (c->json) {
        sb_json_end_array(&x.j);
        sb_buf_add_byte(&c->cli->line, '\n');
    } else {
        sb_buf_printf(&c->cli->line, "%zu equal, %zu different\n", x.same, x.different);
    }
    int code = sb_ckpt_cli_put(c);
    return code ? code : x.different ? 1 : 0;
}
