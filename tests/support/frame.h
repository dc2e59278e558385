/* frame.h: one record around a payload, for tests and fuzz targets. */
#ifndef SB_TESTS_SUPPORT_FRAME_H
#define SB_TESTS_SUPPORT_FRAME_H

#include "base/slice.h"
#include "codec/record.h"

static inline void sb_test_add_record(sb_buf *out, sb_slice payload) {
    size_t at = sb_record_begin(out);
    sb_buf_add_slice(out, payload);
    sb_record_end(out, at);
}

#endif
