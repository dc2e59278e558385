/* step_stats_fuzz.c: any bytes as the step statistics of TensorFlow, a RunMetadata message.
 * Whatever comes out is asked every question. */

#include "trace_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_trace_file file = {
        .path = "", .name = SB_LIT("host"), .run_metadata = sb_slice_of(data, size)};
    trace_bed_open(&file, data ? 1 : 0);
    return 0;
}
