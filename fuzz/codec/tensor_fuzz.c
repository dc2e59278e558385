/* tensor_fuzz.c: a TensorProto with every element in every form; each way to a number must give the
 * same, and what is built from the numbers must read back. */
#include "../../tests/unit/codec/touch.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the first elements as a tensor of doubles in each style and reads them again. */
static void rebuild(sb_slice tensor) {
    enum { SOME = 16 };
    sb_tensor_view t, again;
    double values[SOME], read[SOME];
    if (sb_tensor_read(&t, tensor) != SB_OK || !sb_dtype_numeric(t.dtype)) return;
    int64_t n = t.count < SOME ? (int64_t)t.count : SOME;
    TOUCH_CHECK(sb_tensor_doubles(&t, 0, (size_t)n, values) == SB_OK);
    const sb_array array = {values, SB_DOUBLE, 1, &n, NULL};
    for (int style = SB_TENSOR_CONTENT; style <= SB_TENSOR_TYPED; style++) {
        sb_buf b;
        sb_buf_init(&b, &sb_alloc_libc, 1 << 12);
        TOUCH_CHECK(sb_tensor_add_fields(&b, &array, (sb_tensor_style)style) == SB_OK);
        TOUCH_CHECK(sb_tensor_read(&again, sb_buf_slice(&b)) == SB_OK);
        TOUCH_CHECK(again.count == (size_t)n);
        TOUCH_CHECK(sb_tensor_doubles(&again, 0, (size_t)n, read) == SB_OK);
        TOUCH_CHECK(n == 0 || memcmp(values, read, (size_t)n * sizeof *read) == 0);
        sb_buf_fini(&b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_slice tensor = sb_slice_of(data, size);
    touch_tensor(tensor);
    rebuild(tensor);
    return 0;
}
