/* text_format_fuzz.c: text to message and back: what is taken can be printed, and what is printed
 * is taken again and printed the same. */
#include <stdlib.h>

#include "base/slice.h"
#include "codec/proto/text_format.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition) {
    if (!condition) abort();
}

static void there_and_back(sb_message_id id, sb_slice text) {
    enum { CAP = 1 << 22 };
    sb_buf bytes, printed, again, last;
    sb_err err = {0};
    sb_buf_init(&bytes, &sb_alloc_libc, CAP);
    sb_buf_init(&printed, &sb_alloc_libc, CAP);
    sb_buf_init(&again, &sb_alloc_libc, CAP);
    sb_buf_init(&last, &sb_alloc_libc, CAP);
    sb_status status = sb_text_parse(&bytes, id, text, &err);
    if (status == SB_OK) {
        check(sb_message_valid(id, sb_buf_slice(&bytes), SB_TEXT_MAX_DEPTH));
        check(sb_text_write(&printed, id, sb_buf_slice(&bytes), &err) == SB_OK);
        check(sb_text_parse(&again, id, sb_buf_slice(&printed), &err) == SB_OK);
        check(sb_text_write(&last, id, sb_buf_slice(&again), &err) == SB_OK);
        check(sb_slice_eq(sb_buf_slice(&printed), sb_buf_slice(&last)));
    } else {
        check(err.code == status && err.offset <= text.n);
    }
    sb_buf_fini(&bytes);
    sb_buf_fini(&printed);
    sb_buf_fini(&again);
    sb_buf_fini(&last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sb_message_id ids[] = {SB_MSG_PROJECTOR, SB_MSG_CHECKPOINT_STATE, SB_MSG_TENSOR,
                                        SB_MSG_SESSION_START};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        there_and_back(ids[i], sb_slice_of(data, size));
    return 0;
}
