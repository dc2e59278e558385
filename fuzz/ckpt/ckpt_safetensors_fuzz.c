/* ckpt_safetensors_fuzz.c: any bytes as a file of safetensors that is imported. */
#include "import_bed.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bed_import(sb_slice_of(data, size), "x.safetensors");
    return 0;
}
