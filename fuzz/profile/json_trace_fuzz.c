/* json_trace_fuzz.c: Chrome and Kineto traces with their top-level object in place. What comes out
 * is asked every question. */
#include <stdlib.h>
#include <string.h>

#include "trace_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char head[] = "{\"schemaVersion\":1,\"traceEvents\":[";
    uint8_t *text = malloc(size + sizeof head);
    if (!text) return 0;
    memcpy(text, head, sizeof head - 1);
    if (size) memcpy(text + sizeof head - 1, data, size);
    sb_trace_bed_try(text, size + sizeof head - 1);
    free(text);
    return 0;
}
