/* A series with too many points to be smoothed, in one request with one that has few. */
#include <stdlib.h>

#include "base/bytes.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "support/serve_bed.h"
#include "support/test.h"

/* Offsets in an entry, and its flags, as the interface has them. */
enum {
#define SB_SCALAR_ENTRY(magic, bytes) ENTRY_BYTES = (bytes),
#define SB_SCALAR_FIELD(name, at, type, key, what) AT_##name = (at),
#define SB_SCALAR_FLAG(name, bit, what) IS_##name = (bit),
#include "server/api/columns.def"
};
enum {
#define SB_BAND_ENTRY(magic, bytes) BAND_BYTES = (bytes),
#define SB_BAND_FIELD(name, at, type, key, what) BAND_AT_##name = (at),
#define SB_BAND_FLAG(name, bit, what) BAND_IS_##name = (bit),
#include "server/api/columns.def"
};

#define HEADER_BYTES 16 /* of the container */

static void put_series(sb_buf *log, const char *tag, int points) {
    for (int step = 0; step < points; step++) {
        size_t record = sb_record_begin(log);
        sb_pb_add_double(log, SB_EVENT_WALL_TIME, 1000 + step);
        sb_pb_add_int_nz(log, SB_EVENT_STEP, step);
        size_t summary = sb_pb_begin(log, SB_EVENT_SUMMARY, 20);
        size_t value = sb_pb_begin(log, SB_SUMMARY_VALUE, 20);
        sb_pb_add_bytes(log, SB_VALUE_TAG, sb_slice_str(tag));
        sb_pb_add_float(log, SB_VALUE_SIMPLE_VALUE, (float)(step % 7));
        sb_pb_end(log, value);
        sb_pb_end(log, summary);
        sb_record_end(log, record);
    }
}

/* The bed smooths lines of up to 64 KiB: 8000 points. */
static void put_log(sb_test_dir *d) {
    sb_buf log;
    sb_buf_init(&log, &sb_alloc_libc, SIZE_MAX / 2);
    put_series(&log, "long", 9000);
    put_series(&log, "short", 100);
    sb_test_dir_put(d, "1.tfevents", sb_buf_slice(&log));
    sb_buf_fini(&log);
}

static const uint8_t *ask(sb_serve_bed *bed, sb_serve_answer *a, const char *route,
                          const char *body) {
    sb_serve_ask(bed, a, sb_slice_str(route), SB_LIT("application/json"), sb_slice_str(body),
                 &sb_alloc_libc);
    assert_int_equal(a->status, 200);
    return a->wire.body.p;
}

static void one_series_that_is_too_long_leaves_the_others_smoothed(void **state) {
    sb_test_dir *d = *state;
    put_log(d);
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    sb_serve_bed *bed = malloc(sizeof *bed);
    assert_int_equal(sb_serve_bed_open(bed, &env, sb_test_dir_path(d)), SB_OK);
    sb_serve_answer a;
    const uint8_t *body =
        ask(bed, &a, "POST /api/v1/scalars",
            "{\"width\": 100, \"smoothing\": {\"kind\": \"ema\", \"weight\": 0.6}, \"series\": "
            "[{\"run\": 0, \"tag\": \"long\"}, {\"run\": 0, \"tag\": \"short\"}]}");
    const uint8_t *first = body + HEADER_BYTES, *second = first + ENTRY_BYTES;
    assert_true(sb_load32(first + AT_FLAGS) & IS_UNSMOOTHED);
    assert_true(sb_load32(first + AT_POINTS) > 100);
    assert_int_equal(sb_load32(first + AT_SMOOTH), 0);
    assert_false(sb_load32(second + AT_FLAGS) & IS_UNSMOOTHED);
    assert_int_not_equal(sb_load32(second + AT_SMOOTH), 0);
    sb_serve_answer_fini(&a);
    body = ask(bed, &a, "POST /api/v1/bands",
               "{\"width\": 100, \"smoothing\": {\"kind\": \"ema\", \"weight\": 0.6}, \"groups\": "
               "[{\"series\": [{\"run\": 0, \"tag\": \"long\"}]}, "
               "{\"series\": [{\"run\": 0, \"tag\": \"short\"}]}]}");
    first = body + HEADER_BYTES;
    assert_true(sb_load32(first + BAND_AT_FLAGS) & BAND_IS_MEMBER_UNSMOOTHED);
    assert_false(sb_load32(first + BAND_BYTES + BAND_AT_FLAGS) & BAND_IS_MEMBER_UNSMOOTHED);
    sb_serve_answer_fini(&a);
    sb_serve_bed_close(bed);
    free(bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_series_that_is_too_long_leaves_the_others_smoothed,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
