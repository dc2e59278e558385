/* graph.c: `seaboard graph FILE`: what a model's graph holds, as a tree of modules with operations
 * and parameters; series are one line. Everything the page draws stands on the same model. */
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "cli/cli.h"
#include "fsio/fs.h"
#include "graph/formats/graph_file.h"
#include "graph/model/model.h"
#include "base/banned.h"

#define MOST_FILE_BYTES ((size_t)4 << 30)
#define USUAL_DEPTH 3u
#define NAME_COLUMN 56u

enum { OPTION_DEPTH, OPTION_JSON };

static const sb_option graph_options[] = {
    {"depth", 'd', SB_OPTION_TEXT, "N", "shows so many levels of scopes; 3 without it, 0: all",
     NULL},
    {"json", 'j', SB_OPTION_FLAG, NULL, "writes JSON, one object a box", NULL},
};

typedef struct listing {
    sb_cli *cli;
    const sb_model *m;
    uint32_t depth;
    bool is_json;
} listing;

static void add_params(sb_buf *line, const sb_box *b) {
    if (b->params == 0 && b->unsized == 0) return;
    sb_buf_add_str(line, ", ");
    if (b->unsized) sb_buf_add_str(line, "at least ");
    sb_cli_add_count(line, b->params);
    sb_buf_add_str(line, " parameters");
}

static bool put_text(const listing *l, const sb_box *b) {
    sb_buf *line = &l->cli->line;
    for (uint32_t i = 1; i < b->depth; i++) sb_buf_add_str(line, "  ");
    sb_cli_add_shown(line, sb_box_label(b), NAME_COLUMN);
    sb_buf_add_str(line, "  ");
    if (b->kind == SB_BOX_OP) {
        sb_cli_add_shown(line, sb_model_text(l->m, b->op), NAME_COLUMN);
        sb_buf shape;
        sb_buf_init(&shape, l->cli->env->alloc, 4096);
        sb_model_shape(l->m, (uint32_t)(b - l->m->boxes), 0, &shape);
        if (shape.n) sb_buf_printf(line, "  %.*s", (int)shape.n, (const char *)shape.p);
        sb_buf_fini(&shape);
    } else {
        if (b->kind == SB_BOX_SERIES) sb_buf_printf(line, "%u alike, ", b->child_count);
        sb_cli_add_count(line, b->ops);
        sb_buf_add_str(line, b->ops == 1 ? " operation" : " operations");
    }
    add_params(line, b);
    sb_buf_add_byte(line, '\n');
    return sb_cli_put(l->cli);
}

static bool put_json(const listing *l, const sb_box *b) {
    static const char *const kinds[] = {"scope", "operation", "series", "call", "part"};
    sb_json j;
    sb_json_init(&j, &l->cli->line, &(sb_json_opts){.utf8 = true});
    sb_json_begin_object(&j);
    sb_json_put_text(&j, "name", b->name);
    sb_json_put_str(&j, "kind", kinds[b->kind]);
    sb_json_put_text(&j, "op", sb_model_text(l->m, b->op));
    sb_json_put_uint(&j, "operations", b->ops);
    sb_json_put_uint(&j, "parameters", b->params);
    sb_json_put_uint(&j, "unsized", b->unsized);
    sb_json_put_uint(&j, "inputs", b->in_count);
    sb_json_put_uint(&j, "outputs", b->out_count);
    sb_json_end_object(&j);
    sb_buf_add_byte(&l->cli->line, '\n');
    return sb_cli_put(l->cli);
}

/* A box, and what is in it, as deep as wanted. The tree is at most a hundred levels deep. */
static bool put_box(const listing *l, uint32_t box) {
    const sb_box *b = &l->m->boxes[box];
    if (box != SB_BOX_ROOT && !(l->is_json ? put_json(l, b) : put_text(l, b))) return false;
    if (l->depth && b->depth >= l->depth) return true;
    for (uint32_t i = 0; i < b->child_count; i++)
        if (!put_box(l, l->m->children[b->first_child + i])) return false;
    return true;
}

static void put_odds(const listing *l) {
    static const char *const texts[SB_ODD_COUNT] = {
        [SB_ODD_CUT] = "the file is cut after",
        [SB_ODD_NODE] = "nodes that can't be read",
        [SB_ODD_UNNAMED] = "nodes without a name",
        [SB_ODD_DUPLICATE] = "names that several nodes have",
        [SB_ODD_DANGLING] = "inputs that don't exist",
        [SB_ODD_CYCLE] = "edges that close a cycle",
        [SB_ODD_RECURSION] = "functions that call themselves",
        [SB_ODD_FUNCTIONS] = "calls that are not opened",
        [SB_ODD_DEEP] = "names with more than a hundred parts",
        [SB_ODD_LARGE] = "attributes left out for their size",
    };
    sb_buf *line = &l->cli->line;
    for (int kind = 0; kind < SB_ODD_COUNT; kind++) {
        const sb_odd *odd = &l->m->odds[kind];
        if (odd->n == 0) continue;
        sb_buf_add_str(line, "odd: ");
        sb_cli_add_count(line, odd->n);
        sb_buf_printf(line, " %s:", texts[kind]);
        for (uint32_t i = 0; i < odd->shown && i < 3; i++) {
            sb_buf_add_byte(line, ' ');
            sb_cli_add_shown(line, odd->examples[i], 80);
        }
        sb_buf_add_byte(line, '\n');
        sb_cli_put(l->cli);
    }
}

static void put_head(const listing *l, const sb_graph_file *info) {
    sb_buf *line = &l->cli->line;
    const sb_box *root = &l->m->boxes[SB_BOX_ROOT];
    sb_buf_printf(line, "%s: ", sb_graph_format_name(info->format));
    sb_cli_add_count(line, l->m->op_count);
    sb_buf_add_str(line, " operations, ");
    sb_cli_add_count(line, l->m->edge_count);
    sb_buf_add_str(line, " edges");
    add_params(line, root);
    sb_buf_add_byte(line, '\n');
    sb_cli_put(l->cli);
}

static sb_status load(sb_cli *cli, const char *path, sb_buf *graph, sb_graph_file *info,
                      sb_model **m, sb_err *err) {
    sb_slice bytes = {NULL, 0};
    sb_arena scratch;
    const sb_alloc *alloc = cli->env->alloc;
    sb_status status = sb_fs_get(cli->env->fs, alloc, path, MOST_FILE_BYTES, &bytes, err);
    if (status != SB_OK) return status;
    sb_arena_init(&scratch, alloc, 64 << 10, MOST_FILE_BYTES);
    status = sb_graph_file_read(graph, bytes, info, NULL, &scratch, err);
    if (status == SB_CORRUPT) { /* which file it is about */
        sb_err why = *err;
        sb_fail(err, SB_CORRUPT, why.offset, "%s: %s", path, why.text);
    }
    sb_arena_fini(&scratch);
    sb_model_ask ask = {.alloc = alloc, .graph = info->graph, .level_most = UINT32_MAX};
    if (status == SB_OK) status = sb_model_new(m, &ask, err);
    union {
        const uint8_t *in;
        void *out;
    } owned = {.in = bytes.p};
    sb_alloc_put(alloc, owned.out, bytes.n);
    return status;
}

static int graph_main(sb_cli *cli, const sb_args *args) {
    listing l = {.cli = cli, .depth = USUAL_DEPTH, .is_json = args->options[OPTION_JSON].given};
    const char *depth = args->options[OPTION_DEPTH].text;
    uint64_t levels = USUAL_DEPTH;
    sb_graph_file info = {0};
    sb_model *m = NULL;
    sb_buf graph;
    sb_err err;
    if (depth && (!sb_parse_uint64(sb_slice_str(depth), &levels) || levels > 1000)) {
        sb_fail(&err, SB_INVALID, 0, "graph: --depth takes a whole number, not '%s'", depth);
        return sb_cli_fail(cli, &err);
    }
    if (l.is_json && !depth) levels = 0;
    l.depth = (uint32_t)levels;
    sb_buf_init(&graph, cli->env->alloc, MOST_FILE_BYTES);
    sb_status status = load(cli, args->rest[0], &graph, &info, &m, &err);
    if (status == SB_OK) {
        l.m = m;
        if (!l.is_json) put_head(&l, &info);
        put_box(&l, SB_BOX_ROOT);
        if (!l.is_json) put_odds(&l);
        if (info.is_cut)
            status = sb_fail(&err, SB_CORRUPT, 0, "%s: only a part of it could be read: %s",
                             args->rest[0], info.problem.text[0] ? info.problem.text : "it is cut");
    }
    sb_model_free(m);
    sb_buf_fini(&graph);
    return status == SB_OK ? 0 : sb_cli_fail(cli, &err);
}

const sb_command sb_command_graph = {
    .name = "graph",
    .summary = "shows the modules of a model from a file: GraphDef, SavedModel, ONNX, Keras JSON",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .options = graph_options,
    .option_count = sizeof graph_options / sizeof graph_options[0],
    .details =
        "What kind of file it is follows from its bytes. The page shows the same graph as a\n"
        "picture when the file is dropped on its Graph tab.\n\n"
        "exit code: 0 read, 3 damaged or no graph, 4 not readable\n",
    .run = graph_main,
};
