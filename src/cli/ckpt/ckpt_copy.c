/* ckpt_copy.c: `seaboard ckpt export`, `import`, `cp` and `rename`: what writes. */
#include <string.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_copy.h"
#include "ckpt/export/export.h"
#include "ckpt/export/import.h"
#include "cli/ckpt/ckpt.h"
#include "base/banned.h"

static void add_all(sb_ckpt_cli *c, sb_bundle *b) {
    for (size_t i = 0; i < sb_bundle_count(b); i++)
        if (sb_ckpt_cli_wants(c, sb_bundle_at(b, i)->name))
            c->all += sb_bundle_bytes(b, sb_bundle_at(b, i));
}

static void progress(void *ud, uint64_t bytes) {
    sb_ckpt_cli_progress(ud, bytes);
}

/* ---- export ---------------------------------------------------------------------------------- */

static bool wants(void *ud, sb_slice name) {
    return sb_ckpt_cli_wants(ud, name);
}

/* "3 tensors, 1.2 MB written to x.npz" */
static void add_written(sb_ckpt_cli *c, size_t count, uint64_t bytes) {
    sb_buf *line = &c->cli->line;
    sb_cli_add_count(line, count);
    sb_buf_add_str(line, count == 1 ? " tensor, " : " tensors, ");
    sb_ckpt_cli_add_size(line, bytes);
    sb_buf_add_str(line, " written to ");
    sb_cli_add_path(line, c->operands[1]);
}

int sb_ckpt_export(sb_ckpt_cli *c) {
    sb_bundle *b;
    sb_err err;
    sb_export_result result;
    sb_export_opts opts = {.wants = wants, .progress = progress, .ud = c};
    sb_buf *line = &c->cli->line;
    c->what = "export";
    if (sb_ckpt_cli_open(c, c->operands[0], &b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    add_all(c, b);
    sb_status status = sb_bundle_export(b, c->cli->env, c->operands[1], &opts, &result, &err);
    sb_cli_progress_end(c->cli);
    sb_bundle_close(b);
    if (status != SB_OK) return sb_cli_fail(c->cli, &err);
    add_written(c, result.written, result.bytes);
    if (result.left_out)
        sb_buf_printf(line, "; %zu left out: this kind of file has no such type", result.left_out);
    sb_buf_add_byte(line, '\n');
    return sb_ckpt_cli_put(c);
}

/* ---- import ---------------------------------------------------------------------------------- */

static void import_progress(void *ud, uint64_t bytes, uint64_t all) {
    sb_ckpt_cli *c = ud;
    c->all = all;
    sb_ckpt_cli_progress(c, bytes);
}

int sb_ckpt_import(sb_ckpt_cli *c) {
    sb_err err;
    sb_import_result result;
    sb_import_opts opts = {
        .wants = sb_ckpt_cli_is_filtered(c) ? wants : NULL, .progress = import_progress, .ud = c};
    c->what = "import";
    sb_status status =
        sb_bundle_import(c->cli->env, c->operands[0], c->operands[1], &opts, &result, &err);
    sb_cli_progress_end(c->cli);
    if (status != SB_OK) return sb_cli_fail(c->cli, &err);
    add_written(c, result.written, result.bytes);
    sb_buf_add_byte(&c->cli->line, '\n');
    return sb_ckpt_cli_put(c);
}

/* ---- cp and rename --------------------------------------------------------------------------- */

static bool keep_name(void *ud, sb_slice name, sb_buf *to) {
    sb_buf_add_slice(to, name);
    return sb_ckpt_cli_wants(ud, name);
}

/* OLD becomes NEW, and OLD/rest becomes NEW/rest. */
static bool change_name(void *ud, sb_slice name, sb_buf *to) {
    const sb_ckpt_cli *c = ud;
    sb_slice old = sb_slice_str(c->operands[1]), rest = name;
    bool is_named = sb_slice_starts(name, old) &&
                    (name.n == old.n || name.p[old.n] == '/' || (old.n && old.p[old.n - 1] == '/'));
    if (is_named) {
        sb_buf_add_str(to, c->operands[2]);
        rest = sb_slice_of(name.p + old.n, name.n - old.n);
    }
    sb_buf_add_slice(to, rest);
    return true;
}

static int copy(sb_ckpt_cli *c, const char *target, sb_bundle_copy_opts *opts, const char *verb) {
    sb_bundle *b;
    sb_err err;
    size_t copied;
    sb_buf *line = &c->cli->line;
    opts->progress = progress;
    opts->ud = c;
    if (sb_ckpt_cli_open(c, c->operands[0], &b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    add_all(c, b);
    sb_status status = sb_bundle_copy(b, c->cli->env, target, opts, &copied, &err);
    sb_cli_progress_end(c->cli);
    sb_bundle_close(b);
    if (status != SB_OK) return sb_cli_fail(c->cli, &err);
    sb_cli_add_count(line, copied);
    sb_buf_printf(line, copied == 1 ? " tensor %s " : " tensors %s ", verb);
    sb_cli_add_path(line, target);
    sb_buf_add_byte(line, '\n');
    return sb_ckpt_cli_put(c);
}

int sb_ckpt_cp(sb_ckpt_cli *c) {
    sb_bundle_copy_opts opts = {.rename = sb_ckpt_cli_is_filtered(c) ? keep_name : NULL};
    c->what = "cp";
    return copy(c, c->operands[1], &opts, "copied to");
}

static bool has_name(sb_ckpt_cli *c, sb_bundle *b) {
    sb_buf name;
    bool found = false;
    sb_buf_init(&name, c->cli->env->alloc, 1 << 24);
    for (size_t i = 0; i < sb_bundle_count(b) && !found; i++) {
        sb_buf_clear(&name);
        change_name(c, sb_bundle_at(b, i)->name, &name);
        found = !sb_slice_eq(sb_buf_slice(&name), sb_bundle_at(b, i)->name);
    }
    sb_buf_fini(&name);
    return found;
}

int sb_ckpt_rename(sb_ckpt_cli *c) {
    const char *output = c->args->options[SB_CKPT_OUTPUT].text;
    sb_bundle *b;
    sb_err err;
    c->what = "rename";
    if (sb_ckpt_cli_open(c, c->operands[0], &b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    bool found = has_name(c, b);
    sb_buf prefix;
    sb_buf_init(&prefix, c->cli->env->alloc, 1 << 16);
    sb_buf_add_slice(&prefix, sb_bundle_prefix(b));
    sb_buf_add_byte(&prefix, 0);
    bool is_v1 = sb_bundle_format_of(b) == SB_BUNDLE_V1;
    sb_bundle_close(b);
    int code;
    if (!found || (is_v1 && !output)) {
        sb_fail(&err, found ? SB_INVALID : SB_NOT_FOUND, 0,
                found ? "%s: is of version 1, which is not written; give --output PREFIX"
                      : "%s: no tensor is called like that, or has a name below it",
                found ? c->operands[0] : c->operands[1]);
        code = sb_cli_fail(c->cli, &err);
    } else {
        sb_bundle_copy_opts opts = {.rename = change_name};
        code = copy(c, output ? output : (const char *)prefix.p, &opts, "are now in");
    }
    sb_buf_fini(&prefix);
    return code;
}
