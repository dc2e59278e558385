/* graph_file.h: detects the format of a file that holds a graph, and converts it to a GraphDef.
 *
 * Formats: TensorFlow's GraphDef, MetaGraphDef and SavedModel in binary protobuf encoding, a
 * GraphDef in protobuf text format, ONNX models, and the JSON of a Keras model. The format is
 * detected from the bytes of the file; its name does not matter. Threads: no state. */
#ifndef SB_GRAPH_GRAPH_FILE_H
#define SB_GRAPH_GRAPH_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "codec/proto/text_format.h"

typedef enum sb_graph_format {
    SB_FORMAT_GRAPH,
    SB_FORMAT_GRAPH_TEXT,
    SB_FORMAT_META_GRAPH,
    SB_FORMAT_SAVED_MODEL,
    SB_FORMAT_ONNX,
    SB_FORMAT_KERAS,
    SB_FORMAT_COUNT,
} sb_graph_format;

/* Why a file is refused, or why only a part of it was read. */
typedef enum sb_graph_trouble {
    SB_GRAPH_TROUBLE_NONE,
    SB_GRAPH_TROUBLE_EMPTY,         /* the file has no bytes */
    SB_GRAPH_TROUBLE_UNKNOWN,       /* none of the formats above */
    SB_GRAPH_TROUBLE_SYNTAX,        /* text that is not a GraphDef */
    SB_GRAPH_TROUBLE_JSON,          /* JSON that is malformed or is not a Keras model */
    SB_GRAPH_TROUBLE_KERAS_ARCHIVE, /* a .keras file */
    SB_GRAPH_TROUBLE_TORCHSCRIPT,   /* a file that torch.jit.save wrote */
    SB_GRAPH_TROUBLE_TORCH,         /* a file that torch.save wrote, or another zip or pickle */
    SB_GRAPH_TROUBLE_COUNT,
} sb_graph_trouble;

/* A word for each reason, for which the page has a sentence in the reader's language. */
const char *sb_graph_trouble_name(sb_graph_trouble trouble);

const char *sb_graph_format_name(sb_graph_format format);

typedef struct sb_graph_file {
    sb_graph_format format;
    /* the GraphDef: a part of the file's bytes if it is stored there as it is, otherwise bytes in
     * `out` */
    sb_slice graph;
    bool is_cut;              /* the file is truncated or damaged: only its beginning was read */
    sb_err problem;           /* why the rest could not be read (text format only) */
    sb_graph_trouble trouble; /* also set when SB_CORRUPT is returned */
    sb_text_fault fault;      /* likewise, of SB_GRAPH_TROUBLE_SYNTAX */
} sb_graph_file;

/* Finds the GraphDef in the file, or converts the file and appends the GraphDef to `out`. The
 * tensor data of ONNX initializers is not copied. `watch` (may be NULL) is told the progress of
 * parsing the text format, which is the only one that takes long. Returns SB_CORRUPT when the bytes
 * have none of these formats, and SB_CANCELLED when `watch` cancels the work. */
sb_status sb_graph_file_read(sb_buf *out, sb_slice bytes, sb_graph_file *info,
                             const sb_text_watch *watch, sb_arena *scratch, sb_err *err);

/* onnx.c: converts an ONNX ModelProto to a GraphDef and appends it. Nodes keep their names; a node
 * without one is named by its operator type and its number. The inputs of a node refer to the nodes
 * that produce the values. Initializers become nodes of the type "Initializer" that have a shape
 * and are placed in the scope that uses them. Inputs and outputs of the graph become nodes of the
 * types "Input" and "Output". Returns SB_CORRUPT when the bytes are not an ONNX model. Of a
 * truncated model the complete part is converted, and *is_cut is set. */
sb_status sb_onnx_graph(sb_buf *out, sb_slice model, bool *is_cut, sb_arena *scratch, sb_err *err);

#endif
