/* writer_bed.h: for tests of the summary kinds: write a few calls, then look at the events.
 *
 *     bed b = bed_open(*state, "name", SB_STYLE_TF2);
 *     assert_int_equal(sb_text(b.w, "tag", "text", 3), SB_OK);
 *     bed_close(&b);                      closes the writer and reads its file
 *     assert_event_bytes(&b, 0, "2a ...");    the first event, its wall time left out
 *     bed_free(&b);
 *
 * The wall clock stands still at 1700000000.25 s. Functions are inline, since sb_test_support must
 * not depend on the writer. */
#ifndef SB_TESTS_SUPPORT_WRITER_BED_H
#define SB_TESTS_SUPPORT_WRITER_BED_H

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "codec/event.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "support/events.h"
#include "support/fault_alloc.h"
#include "writer/writer_int.h"

typedef struct bed {
    sb_test_dir *dir;
    const char *logdir;
    sb_writer *w;
    sb_test_records records; /* after bed_close; the first is the header */
    sb_status closed;        /* what closing answered */
    sb_err err;
} bed;

static inline bed bed_open_with(sb_test_dir *dir, const char *name, sb_style style,
                                const sb_env *env) {
    bed b = {.dir = dir, .logdir = sb_test_dir_join(dir, name)};
    sb_writer_opts opts = SB_INIT(sb_writer_opts, .logdir = b.logdir, .style = style);
    assert_ok(sb_writer_open_env(&b.w, &opts, env, &b.err), &b.err);
    return b;
}

static inline bed bed_open(sb_test_dir *dir, const char *name, sb_style style) {
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};
    return bed_open_with(dir, name, style, &env);
}

static inline void bed_close(bed *b) {
    b->err = (sb_err){.code = SB_OK};
    b->closed = sb_writer_close(b->w, &b->err);
    b->w = NULL;
    sb_test_files files = sb_test_event_files(b->dir, b->logdir);
    assert_true(files.count >= 1);
    b->records = sb_test_read_records(b->dir, files.paths[0]);
    assert_int_equal(b->records.tail, 0);
}

static inline void bed_free(bed *b) {
    sb_test_records_free(&b->records);
}

/* How many events stand behind the header. */
static inline size_t bed_count(const bed *b) {
    return b->records.count - 1;
}

/* The i-th event behind the header, without its wall time, which is the first field. */
static inline sb_slice bed_event(const bed *b, size_t i) {
    assert_true(i + 1 < b->records.count);
    sb_slice event = b->records.payloads[i + 1];
    assert_true(event.n >= 9 && event.p[0] == 0x09);
    return sb_slice_of(event.p + 9, event.n - 9);
}

#define assert_event_bytes(bed, i, hex)                                                            \
    do {                                                                                           \
        uint8_t expected_bytes[4096];                                                              \
        assert_slice_equal(bed_event((bed), (i)),                                                  \
                           sb_test_bytes(expected_bytes, sizeof expected_bytes, (hex)));           \
    } while (0)

/* The k-th value of the i-th event. */
static inline sb_value bed_value(const bed *b, size_t i, size_t k) {
    sb_event event;
    sb_value value;
    assert_int_equal(sb_event_read(&event, b->records.payloads[i + 1]), SB_OK);
    assert_int_equal(event.what, SB_WHAT_SUMMARY);
    sb_summary_walk values = sb_summary_over(event.body);
    for (size_t at = 0; at <= k; at++) assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    return value;
}

static inline size_t bed_value_count(const bed *b, size_t i) {
    sb_event event;
    sb_value value;
    size_t n = 0;
    assert_int_equal(sb_event_read(&event, b->records.payloads[i + 1]), SB_OK);
    sb_summary_walk values = sb_summary_over(event.body);
    while (sb_summary_next(&values, &value) == SB_OK) n++;
    return n;
}

static inline sb_metadata bed_metadata(const sb_value *value) {
    sb_metadata metadata;
    assert_int_equal(sb_metadata_read(&metadata, value->metadata), SB_OK);
    return metadata;
}

static inline sb_tensor_view bed_tensor(const sb_value *value) {
    sb_tensor_view tensor;
    assert_int_equal(value->kind, SB_VALUE_KIND_TENSOR);
    assert_int_equal(sb_tensor_read(&tensor, value->body), SB_OK);
    return tensor;
}

/* The call was refused with this status, and the reason contains the piece. */
#define assert_refused(writer, call, status, piece)                                                \
    do {                                                                                           \
        sb_err refused_err = {0};                                                                  \
        assert_int_equal((call), (status));                                                        \
        assert_int_equal(sb_writer_error((writer), &refused_err), (status));                       \
        if (!strstr(refused_err.text, (piece)))                                                    \
            fail_msg("'%s' does not say '%s'", refused_err.text, (piece));                         \
    } while (0)

/* An array over a C array of numbers. */
#define ARRAY_OF(type, numbers, ...)                                                               \
    ((sb_array){(numbers), (type), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),             \
                (const int64_t[]){__VA_ARGS__}, NULL})

/* ---- memory runs out ---------------------------------------------------------------------------
 *
 * Makes the calls with the first request for memory failing, then the second, ...; on the caller's
 * side and on the thread's alike. A refused request is told of by a call or by close, and never
 * leaks. What was written is whole. */
typedef sb_status (*bed_calls_fn)(sb_writer *w);

static inline void bed_sweep(sb_test_dir *dir, sb_style style, bed_calls_fn calls) {
    for (uint64_t n = 1; n < 2000; n++) {
        char name[32];
        snprintf(name, sizeof name, "sweep%d_%llu", (int)style, (unsigned long long)n);
        sb_fault_alloc fault;
        sb_fault_alloc_init(&fault);
        const sb_env env = {&fault.alloc, &sb_fs_local, &sb_test_clock};
        bed b = bed_open_with(dir, name, style, &env);
        sb_fault_alloc_fail_at(&fault, n, false);
        sb_status status = calls(b.w);
        bed_close(&b);
        bool refused = fault.failures > 0;
        if (!refused) {
            assert_int_equal(status, SB_OK);
            assert_ok(b.closed, &b.err);
            assert_true(bed_count(&b) >= 1);
        } else if (status == SB_OK && b.closed == SB_OK) {
            assert_true(bed_count(&b) >= 1); /* it could do without */
        } else {
            assert_int_equal(status == SB_OK ? b.closed : status, SB_NOMEM);
        }
        bed_free(&b);
        sb_fault_alloc_fini(&fault);
        if (!refused) return;
    }
    fail_msg("the sweep never ended");
}

#define DIR_TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, sb_test_dir_setup, sb_test_dir_teardown)

#endif
