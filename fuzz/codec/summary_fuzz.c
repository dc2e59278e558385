/* summary_fuzz.c: a Summary with all that its values hold, and the same bytes as a histogram and as
 * metadata. */
#include "../../tests/unit/codec/touch.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_slice input = sb_slice_of(data, size);
    touch_summary(input);
    touch_histogram(input);
    touch_metadata(input);
    return 0;
}
