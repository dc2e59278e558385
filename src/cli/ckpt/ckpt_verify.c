/* ckpt_verify.c: `seaboard ckpt verify`: reads every byte and names what is damaged and where. */
#include <string.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "cli/ckpt/ckpt.h"
#include "base/banned.h"

typedef struct verification {
    sb_ckpt_cli *c;
    sb_bundle *b;
    sb_json j;
    size_t checked, damaged;
    int code; /* the worst */
} verification;

static void report(verification *v, const sb_bundle_tensor *t, const sb_err *err) {
    sb_buf *line = &v->c->cli->line;
    v->damaged++;
    /* A file that is not there is damage, too; one that can't be read is not known to be. */
    int code = sb_status_exit_code(err->code == SB_NOT_FOUND ? SB_CORRUPT : err->code);
    if (v->code == 0 || code == sb_status_exit_code(SB_CORRUPT)) v->code = code;
    if (v->c->json) {
        sb_json_begin_object(&v->j);
        sb_json_put_text(&v->j, "name", t->name);
        sb_json_put_uint(&v->j, "offset", err->offset);
        sb_json_put_str(&v->j, "reason", err->text);
        sb_json_end_object(&v->j);
        return;
    }
    sb_cli_progress_end(v->c->cli);
    sb_buf_add_str(line, "damaged: ");
    sb_cli_add_shown(line, sb_slice_str(err->text), 0);
    sb_buf_add_byte(line, '\n');
    sb_cli_put(v->c->cli);
}

static void verify_one(verification *v, const sb_bundle_tensor *t) {
    sb_err err = {0};
    v->checked++;
    if (sb_bundle_verify(v->b, t, &err) != SB_OK) report(v, t, &err);
    v->c->before += t->size;
    sb_ckpt_cli_progress(v->c, 0);
}

static void verify_all(verification *v) {
    const sb_bundle_tensor *piece;
    for (size_t i = 0; i < sb_bundle_count(v->b); i++) v->c->all += sb_bundle_at(v->b, i)->size;
    for (size_t i = 0; (piece = sb_bundle_piece_at(v->b, i)); i++) v->c->all += piece->size;
    for (size_t i = 0; i < sb_bundle_count(v->b); i++) verify_one(v, sb_bundle_at(v->b, i));
    for (size_t i = 0; (piece = sb_bundle_piece_at(v->b, i)); i++) verify_one(v, piece);
    sb_cli_progress_end(v->c->cli);
}

int sb_ckpt_verify(sb_ckpt_cli *c) {
    verification v = {.c = c};
    sb_err err;
    sb_buf *line = &c->cli->line;
    c->what = "verify";
    if (sb_ckpt_cli_open(c, c->operands[0], &v.b, &err) != SB_OK) return sb_cli_fail(c->cli, &err);
    sb_json_init(&v.j, line, &(sb_json_opts){.spaced = true, .indent = 1});
    if (c->json) sb_json_begin_array(&v.j);
    verify_all(&v);
    if (c->json) {
        sb_json_end_array(&v.j);
        sb_buf_add_byte(line, '\n');
    } else {
        sb_cli_add_count(line, v.checked);
        sb_buf_printf(line, " checked, ");
        sb_ckpt_cli_add_size(line, c->all);
        sb_buf_printf(line, ", %zu damaged\n", v.damaged);
    }
    sb_bundle_close(v.b);
    int code = sb_ckpt_cli_put(c);
    return code ? code : v.code;
}
