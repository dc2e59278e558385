/* saver.c: checkpoints of a session: by TF1's Saver, and as ops of the graph. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/tensor.h"
#include "train/build/build.h"
#include "train/session.h"
#include "base/banned.h"

/* ---- ops ------------------------------------------------------------------------------------- */

/* The type and shape of the variable that the value is for; TensorFlow knows neither. */
bool sb_infer_restore(sb_op *op, const op_spec *spec) {
    op->outs = sb_arena_zeroed(&op->net->arena, 1, sizeof *op->outs);
    if (!op->outs) return false;
    op->outs[0] = (op_out){.dtype = spec->dtype, .dims = spec->dims, .shape_is_hidden = true};
    op->out_count = 1;
    return true;
}

static int variables_by_name(const void *a, const void *b) {
    return strcmp((*(var_ops *const *)a)->ref->name, (*(var_ops *const *)b)->ref->name);
}

/* All variables in the order of their names, in the graph's arena. */
static var_ops **sorted_variables(sb_net *g) {
    size_t n = g->variables.n;
    var_ops **all = sb_arena_zeroed(&g->arena, n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) all[i] = &g->variables.items[i];
    if (all && n) qsort(all, n, sizeof *all, variables_by_name);
    return all;
}

static sb_op *const_texts(sb_net *g, const sb_slice *texts, size_t n, const char *name) {
    return sb_net_const(g, SB_STRING, &SB_DIMS((int64_t)n), texts, name);
}

static sb_op *add_save(sb_net *g, sb_op *path, var_ops *const *all, size_t n) {
    sb_slice *names = sb_arena_zeroed(&g->arena, n + 1, sizeof *names);
    sb_slice *slices = sb_arena_zeroed(&g->arena, n + 1, sizeof *slices);
    int64_t *types = sb_arena_zeroed(&g->arena, n + 1, sizeof *types);
    port *inputs = sb_arena_zeroed(&g->arena, n + 3, sizeof *inputs);
    if (!names || !slices || !types || !inputs) return sb_net_nomem(g);
    for (size_t i = 0; i < n; i++) {
        names[i] = sb_slice_str(all[i]->ref->name);
        slices[i] = SB_LIT("");
        types[i] = all[i]->ref->outs[0].dtype;
        inputs[i + 3] = port_of(all[i]->ref);
    }
    const char *scope = sb_net_scope(g, "SaveV2");
    inputs[0] = port_of(path);
    inputs[1] = port_of(const_texts(g, names, n, "tensor_names"));
    inputs[2] = port_of(const_texts(g, slices, n, "shape_and_slices"));
    const attr dtypes = {
        .name = "dtypes", .type = ATTR_LIST, .list = types, .count = n, .is_types = true};
    sb_op *op = g->err.code == SB_OK
                    ? sb_net_add_op(g, OP_SPEC_ATTRS(OP_SAVE, scope, inputs, n + 3, &dtypes, 1))
                    : NULL;
    sb_net_scope_end(g);
    return op;
}

static sb_op *add_restore(sb_net *g, sb_op *path, const var_ops *v) {
    const sb_slice name = sb_slice_str(v->ref->name), slice = SB_LIT("");
    const int64_t type = v->ref->outs[0].dtype;
    const attr dtypes = {
        .name = "dtypes", .type = ATTR_LIST, .list = &type, .count = 1, .is_types = true};
    const char *scope = sb_net_scope(g, "RestoreV2");
    const port inputs[] = {port_of(path), port_of(const_texts(g, &name, 1, "tensor_names")),
                           port_of(const_texts(g, &slice, 1, "shape_and_slices"))};
    op_spec spec = *OP_SPEC_ATTRS(OP_RESTORE, scope, inputs, 3, &dtypes, 1);
    spec.dtype = v->ref->outs[0].dtype;
    spec.dims = v->ref->outs[0].dims;
    sb_op *op = g->err.code == SB_OK ? sb_net_add_op(g, &spec) : NULL;
    sb_net_scope_end(g);
    sb_net_colocate_begin(g, v->ref);
    sb_op *assign = sb_net_op2(g, OP_ASSIGN, v->ref, op, "Assign");
    sb_net_colocate_end(g);
    return assign;
}

sb_op *sb_net_saver(sb_net *g) {
    size_t n = g->variables.n;
    var_ops **all = sorted_variables(g);
    sb_op **assigns = sb_arena_zeroed(&g->arena, n + 1, sizeof *assigns);
    if (!all || !assigns) return sb_net_nomem(g);
    if (g->err.code != SB_OK) return NULL;
    if (n == 0) return sb_net_fail(g, SB_INVALID, "no variables to save");
    sb_net_scope(g, "save");
    sb_op *path = sb_net_const_text(g, SB_LIT("model"), "Const");
    sb_op *save = add_save(g, path, all, n);
    sb_net_control_begin(g, &save, save ? 1 : 0);
    sb_net_colocate_begin(g, path);
    sb_op *saved = sb_net_op1(g, OP_IDENTITY, path, "control_dependency");
    sb_net_colocate_end(g);
    sb_net_control_end(g);
    for (size_t i = 0; i < n && saved; i++) assigns[i] = add_restore(g, path, all[i]);
    sb_op *restore = g->err.code == SB_OK ? sb_net_group(g, assigns, n, "restore_all") : NULL;
    sb_net_scope_end(g);
    g->save_path = path;
    g->save_op = saved;
    g->restore_op = restore;
    return restore;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* path, names, slices, then the variables */
sb_status sb_run_save(const op_call *c, sb_err *err) {
    sb_ckpt_writer *w;
    const sb_slice *path = c->in[0], *names = c->in[1];
    sb_status status = sb_ckpt_writer_open(&w, (const char *)path->p, NULL, err);
    if (status != SB_OK) return status;
    for (uint32_t i = 3; i < c->op->input_count && status == SB_OK; i++) {
        const op_out *o = input_of(c->op, i);
        const sb_array array = {
            .data = c->in[i], .dtype = o->dtype, .rank = o->dims.rank, .dims = o->dims.at};
        status = sb_ckpt_add(w, (const char *)names[i - 3].p, &array, NULL, NULL, err);
    }
    if (status == SB_OK) return sb_ckpt_finish(w, err);
    sb_ckpt_abandon(w);
    return status;
}

/* path, one name, one slice */
sb_status sb_run_restore(const op_call *c, sb_err *err) {
    sb_ckpt *file;
    const sb_slice *path = c->in[0], *name = c->in[1];
    const op_out *o = &c->op->outs[0];
    sb_status status = sb_ckpt_open(&file, (const char *)path->p, err);
    if (status != SB_OK) return status;
    const sb_ckpt_tensor *t = sb_ckpt_find(file, (const char *)name->p);
    bool fits = t && t->dtype == o->dtype && t->rank == o->dims.rank;
    for (uint32_t i = 0; fits && i < t->rank; i++) fits = t->dims[i] == o->dims.at[i];
    if (!t)
        status = sb_fail(err, SB_NOT_FOUND, 0, "%s: there is no '%s' in this checkpoint",
                         (const char *)path->p, (const char *)name->p);
    else if (!fits)
        status = sb_fail(err, SB_INVALID, 0,
                         "%s: '%s' has another type or shape in the file than in the program",
                         (const char *)path->p, (const char *)name->p);
    else
        status = sb_ckpt_read(file, t, NULL, c->out[0], o->count * sb_element_size(o->dtype), err);
    sb_ckpt_close(file);
    return status;
}

/* ---- by TF1's Saver -------------------------------------------------------------------------- */

static sb_status open_saver(sb_net_session *s, sb_err *err) {
    if (s->saver) return SB_OK;
    sb_status status = sb_saver_new(&s->saver, s->has_saver_opts ? &s->saver_opts : NULL, err);
    for (size_t i = 0; i < s->variable_count && status == SB_OK; i++) {
        const sb_op *ref = s->g->variables.items[i].ref;
        const op_out *o = &ref->outs[0];
        status = sb_saver_add(s->saver, ref->name,
                              &SB_INIT(sb_variable, .dtype = o->dtype, .rank = o->dims.rank,
                                       .dims = o->dims.at, .data = s->variables[i]),
                              err);
    }
    return status;
}

sb_status sb_net_save(sb_net_session *s, const char *path, int64_t step, const char **written,
                      sb_err *err) {
    sb_slice meta;
    for (size_t i = 0; i < s->variable_count; i++)
        if (!s->is_set[i])
            return sb_fail(err, SB_INVALID, 0,
                           "%s: %s has no value yet: run the initializer or restore a checkpoint "
                           "first",
                           path, s->g->variables.items[i].ref->name);
    sb_status status = open_saver(s, err);
    if (status == SB_OK) status = sb_net_meta_graph_def(s->g, s->g->save_op != NULL, &meta, err);
    if (status == SB_OK) status = sb_saver_save(s->saver, path, step, meta, written, err);
    return status;
}

sb_status sb_net_restore(sb_net_session *s, const char *path, sb_err *err) {
    sb_status status = open_saver(s, err);
    if (status == SB_OK) status = sb_saver_restore(s->saver, path, err);
    for (size_t i = 0; i < s->variable_count && status == SB_OK; i++) s->is_set[i] = true;
    return status;
}
