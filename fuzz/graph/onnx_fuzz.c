/* onnx_fuzz.c: an ONNX model, whatever kind of file it looks like: read and made a model. */
#include "graph/formats/graph_file.h"
#include "graph_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sb_status from_onnx(sb_buf *graph, sb_slice file, sb_arena *scratch, sb_err *err) {
    bool is_cut;
    return sb_onnx_graph(graph, file, &is_cut, scratch, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bed_make_model(data, size, from_onnx);
    return 0;
}
