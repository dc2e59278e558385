/* record_fuzz.c: frames at the start of any bytes, and the search for one.
 *
 * Input: the bytes. What is read as a frame must be the frame that is made from its payload; a
 * search must find what trying every place in turn finds. */
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/support/frame.h"
#include "base/slice.h"
#include "codec/event.h"
#include "codec/record.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool promise, const char *what) {
    if (promise) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* Each status promises something about the numbers beside it. */
static sb_status check_read(sb_slice window) {
    sb_record record, header;
    sb_status status = sb_record_read(&record, window);
    sb_status of_header = sb_record_read_header(&header, window);
    switch (status) {
    case SB_OK:
    case SB_BAD_PAYLOAD:
        check(of_header == SB_OK && header.size == record.size, "the header alone says the same");
        check(record.size == record.payload.n + SB_RECORD_OVERHEAD, "size of a frame");
        check(record.size <= window.n, "a frame is inside the window");
        break;
    case SB_MORE:
        check(record.size > window.n, "more bytes are needed than there are");
        break;
    default:
        check(status == SB_BAD_LENGTH && of_header == SB_BAD_LENGTH, "a bad length is one to both");
    }
    if (status != SB_OK) return status;
    sb_buf made;
    sb_buf_init(&made, &sb_alloc_libc, (size_t)1 << 24);
    sb_test_add_record(&made, record.payload);
    check(sb_slice_eq(sb_buf_slice(&made), sb_slice_of(window.p, (size_t)record.size)),
          "the frame of its payload");
    sb_buf_fini(&made);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 16) return 0;
    sb_slice window = {data, size};
    size_t at = 0;
    for (;;) { /* frame by frame, as far as the lengths are good */
        sb_slice rest = {window.p + at, window.n - at};
        sb_status status = check_read(rest);
        if (status != SB_OK && status != SB_BAD_PAYLOAD) break;
        sb_record record;
        sb_record_read(&record, rest);
        at += (size_t)record.size;
    }
    return 0;
}
