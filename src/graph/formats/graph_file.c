/* graph_file.c: detects the format of a graph file by its first bytes and its protobuf
 * structure. */
#include "graph/formats/graph_file.h"

#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/graph.h"
#include "codec/proto/text_format.h"
#include "graph/formats/keras_graph.h"
#include "base/banned.h"

#define ZIP_LOOKED_AT ((size_t)1 << 20)

const char *sb_graph_format_name(sb_graph_format format) {
    static const char *const names[SB_FORMAT_COUNT] = {
        "GraphDef", "GraphDef as text", "MetaGraphDef", "SavedModel", "ONNX", "Keras model",
    };
    return names[format];
}

const char *sb_graph_trouble_name(sb_graph_trouble trouble) {
    static const char *const names[SB_GRAPH_TROUBLE_COUNT] = {
        [SB_GRAPH_TROUBLE_NONE] = "",
        [SB_GRAPH_TROUBLE_EMPTY] = "empty",
        [SB_GRAPH_TROUBLE_UNKNOWN] = "unknown",
        [SB_GRAPH_TROUBLE_SYNTAX] = "syntax",
        [SB_GRAPH_TROUBLE_JSON] = "json",
        [SB_GRAPH_TROUBLE_KERAS_ARCHIVE] = "keras_archive",
        [SB_GRAPH_TROUBLE_TORCHSCRIPT] = "torchscript",
        [SB_GRAPH_TROUBLE_TORCH] = "torch",
    };
    return names[trouble];
}

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A file is text when its first 512 bytes contain no control characters except white space. */
static bool is_text(sb_slice bytes) {
    size_t n = bytes.n < 512 ? bytes.n : 512;
    for (size_t i = 0; i < n; i++)
        if (bytes.p[i] < 32 && !is_space(bytes.p[i])) return false;
    return n > 0;
}

static bool is_json(sb_slice bytes) {
    size_t i = 0;
    while (i < bytes.n && is_space(bytes.p[i])) i++;
    return i < bytes.n && bytes.p[i] == '{';
}

/* Returns true when the first node of the GraphDef has a valid name and an operation. Other
 * protobuf messages use the same field numbers, so decoding without an error proves nothing. */
static bool looks_like_graph(sb_slice bytes) {
    sb_items nodes = sb_items_of(bytes, SB_GRAPH_NODE);
    sb_slice first;
    sb_node node;
    return sb_items_next(&nodes, &first) == SB_OK && sb_node_read(&node, first) == SB_OK &&
           node.name.n && node.op.n && node.name.n < 10000 && sb_utf8_valid(node.name) &&
           sb_utf8_valid(node.op);
}

static sb_status read_text(sb_buf *out, sb_slice bytes, sb_graph_file *info,
                           const sb_text_watch *watch, sb_err *err) {
    size_t before = out->n;
    sb_err problem = {0};
    info->format = SB_FORMAT_GRAPH_TEXT;
    sb_status status =
        sb_text_parse_watched(out, SB_MSG_GRAPH, bytes, watch, &info->fault, &problem);
    if (!info->fault.line) {
        if (status != SB_OK) *err = problem;
        return status;
    }
    /* The part before the error is used if it is a graph. If the error is in the first field,
     * nothing was appended and the buffer may have no memory, so an empty slice is used then. */
    sb_slice got = out->n > before ? sb_slice_of(out->p + before, out->n - before) : SB_LIT("");
    info->trouble = SB_GRAPH_TROUBLE_SYNTAX;
    if (!looks_like_graph(got))
        return sb_fail(err, SB_CORRUPT, problem.offset, "not a graph: %s", problem.text);
    info->is_cut = true;
    info->problem = problem;
    return SB_OK;
}

static bool take_meta_graph(sb_slice *graph, sb_slice bytes) {
    return sb_meta_graph_graph(graph, bytes) == SB_OK && looks_like_graph(*graph);
}

/* SavedModel: 1 saved_model_schema_version, 2 meta_graphs. */
static bool take_saved_model(sb_slice *graph, sb_slice bytes) {
    sb_items graphs = sb_items_of(bytes, 2);
    sb_slice meta;
    return sb_items_next(&graphs, &meta) == SB_OK && take_meta_graph(graph, meta);
}

/* Refuses the files that torch.save and torch.jit.save write (a zip archive, or a pickle from older
 * versions) and .keras archives, with a message that tells the user what to do instead. */
static sb_status refuse_torch(sb_slice bytes, sb_graph_file *info, sb_err *err) {
    bool is_zip = sb_slice_starts(bytes, SB_LIT("PK\x03\x04"));
    bool is_pickle = bytes.n > 1 && bytes.p[0] == 0x80 && bytes.p[1] >= 2 && bytes.p[1] <= 5;
    if (!is_zip && !is_pickle) return SB_OK;
    size_t n = bytes.n < ZIP_LOOKED_AT ? bytes.n : ZIP_LOOKED_AT;
    bool is_script = is_zip && memmem(bytes.p, n, "/code/", 6);
    bool is_keras = is_zip && memmem(bytes.p, n, "config.json", 11);
    info->trouble = is_keras    ? SB_GRAPH_TROUBLE_KERAS_ARCHIVE
                    : is_script ? SB_GRAPH_TROUBLE_TORCHSCRIPT
                                : SB_GRAPH_TROUBLE_TORCH;
    if (is_keras)
        return sb_fail(err, SB_CORRUPT, 0,
                       "a .keras archive: its graph is the file config.json in it (or what "
                       "model.to_json() gives)");
    return sb_fail(err, SB_CORRUPT, 0,
                   "%s holds %s, which only torch can run. Write its graph to a log with "
                   "SummaryWriter.add_graph(model, input), or to a file with torch.onnx.export",
                   is_script ? "a TorchScript file"
                   : is_zip  ? "a zip archive, as torch saves it,"
                             : "a pickle, as torch saves it,",
                   is_script ? "code" : "objects");
}

/* Finds a GraphDef that is stored in the file in binary form, so that it does not have to be
 * copied. */
static bool find_graph(sb_slice bytes, sb_graph_file *info) {
    info->graph = bytes;
    info->format = SB_FORMAT_GRAPH;
    if (looks_like_graph(bytes)) return true;
    info->format = SB_FORMAT_META_GRAPH;
    if (take_meta_graph(&info->graph, bytes)) return true;
    info->format = SB_FORMAT_SAVED_MODEL;
    return take_saved_model(&info->graph, bytes);
}

static sb_status make_graph(sb_buf *out, sb_slice bytes, sb_graph_file *info,
                            const sb_text_watch *watch, sb_arena *scratch, sb_err *err) {
    if (is_text(bytes) && is_json(bytes)) {
        info->format = SB_FORMAT_KERAS;
        sb_status status = sb_keras_graph(out, bytes, SB_KERAS_COUNTED, scratch, err);
        if (status == SB_CORRUPT) info->trouble = SB_GRAPH_TROUBLE_JSON;
        return status;
    }
    if (is_text(bytes)) return read_text(out, bytes, info, watch, err);
    if (refuse_torch(bytes, info, err) != SB_OK) return SB_CORRUPT;
    if (find_graph(bytes, info)) return SB_OK;
    info->format = SB_FORMAT_ONNX;
    info->graph = (sb_slice){NULL, 0};
    sb_status status = sb_onnx_graph(out, bytes, &info->is_cut, scratch, err);
    if (status == SB_CORRUPT) info->trouble = SB_GRAPH_TROUBLE_UNKNOWN;
    if (status == SB_CORRUPT)
        return sb_fail(err, SB_CORRUPT, 0,
                       "not a graph: neither a GraphDef (protobuf or text), a MetaGraphDef, a "
                       "SavedModel, an ONNX model nor the JSON of a Keras model");
    return status;
}

sb_status sb_graph_file_read(sb_buf *out, sb_slice bytes, sb_graph_file *info,
                             const sb_text_watch *watch, sb_arena *scratch, sb_err *err) {
    size_t before = out->n;
    *info = (sb_graph_file){0};
    if (bytes.n == 0) {
        info->trouble = SB_GRAPH_TROUBLE_EMPTY;
        return sb_fail(err, SB_CORRUPT, 0, "the file is empty");
    }
    sb_status status = make_graph(out, bytes, info, watch, scratch, err);
    /* valid text may contain no node at all */
    if (status == SB_OK && !info->graph.p && out->n > before)
        info->graph = sb_slice_of(out->p + before, out->n - before);
    return status;
}
