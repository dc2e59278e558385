/* graph_fuzz.c: a GraphDef with its nodes and functions, and the same bytes as run metadata, which
 * holds graphs too. */
#include "../../tests/unit/codec/touch.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_slice input = sb_slice_of(data, size), graph;
    touch_graph(input);
    touch_function(input);
    touch_run_metadata(input);
    if (sb_meta_graph_graph(&graph, input) == SB_OK) touch_graph(graph);
    return 0;
}
