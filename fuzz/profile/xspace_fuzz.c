/* xspace_fuzz.c: any bytes as a trace file: XSpace, JSON or an archive of them. Whatever comes out
 * is asked every question. */

#include "profile/find/recognize.h"
#include "trace_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_trace_head head;
    sb_begins_trace(sb_slice_of(data, size), &head);
    sb_trace_bed_try(data, size);
    return 0;
}
