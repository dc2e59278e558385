/* event_fuzz.c: a record's payload, read as an Event down to the last value, node and number. The
 * fast paths are compared with their plain versions on the way. */
#include "../../tests/unit/codec/touch.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    touch_event(sb_slice_of(data, size));
    return 0;
}
