/* frames.h: a small event file made in memory, and a reader's answers written down, for the tests
 * of the tail reader. */
#ifndef SB_TESTS_UNIT_LOGDIR_FRAMES_H
#define SB_TESTS_UNIT_LOGDIR_FRAMES_H

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "logdir/tail.h"
#include "support/frame.h"
#include "support/memory_fs.h"
#include "support/test.h"

#define MAX_FRAMES 512

typedef struct frames {
    sb_buf bytes;
    size_t count;
    size_t offset[MAX_FRAMES + 1]; /* one more: the end */
} frames;

static inline void frames_init(frames *f) {
    sb_buf_init(&f->bytes, &sb_alloc_libc, (size_t)1 << 30);
    f->count = 0;
    f->offset[0] = 0;
}

static inline void frames_fini(frames *f) {
    sb_buf_fini(&f->bytes);
}

static inline void frames_add(frames *f, sb_slice payload) {
    assert_true(f->count < MAX_FRAMES);
    sb_test_add_record(&f->bytes, payload);
    f->offset[++f->count] = f->bytes.n;
}

/* A scalar event; extra bytes of tag make it as long as one likes. */
static inline void frames_add_scalar(frames *f, int64_t step, size_t extra) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, (size_t)1 << 30);
    sb_pb_add_double(&b, SB_EVENT_WALL_TIME, 1.7e9 + (double)step);
    sb_pb_add_int_nz(&b, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(&b, SB_EVENT_SUMMARY, 20);
    size_t value = sb_pb_begin(&b, SB_SUMMARY_VALUE, 18);
    sb_pb_add_key(&b, SB_VALUE_TAG, SB_PB_BYTES);
    sb_pb_add_varint(&b, 4 + extra);
    sb_buf_add_str(&b, "loss");
    for (size_t i = 0; i < extra; i++) sb_buf_add_byte(&b, (uint8_t)('a' + i % 26));
    sb_pb_add_float(&b, SB_VALUE_SIMPLE_VALUE, (float)step);
    sb_pb_end(&b, value);
    sb_pb_end(&b, summary);
    assert_int_equal(b.failed, SB_OK);
    frames_add(f, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

static inline void frames_add_header(frames *f) {
    uint8_t bytes[64];
    frames_add(
        f, sb_test_bytes(bytes, sizeof bytes, "0900000040fc54d941 1a0d627261696e2e4576656e743a32"));
}

/* A header and n scalars. */
static inline void frames_log(frames *f, size_t n) {
    frames_init(f);
    frames_add_header(f);
    for (size_t i = 0; i < n; i++) frames_add_scalar(f, (int64_t)i, i % 3);
}

static inline sb_slice frames_payload(const frames *f, size_t i) {
    return sb_slice_of(f->bytes.p + f->offset[i] + SB_RECORD_HEADER,
                       f->offset[i + 1] - f->offset[i] - SB_RECORD_OVERHEAD);
}

/* Which frame begins there; MAX_FRAMES when none does. */
static inline size_t frames_at(const frames *f, uint64_t offset) {
    for (size_t i = 0; i < f->count; i++)
        if (f->offset[i] == offset) return i;
    return MAX_FRAMES;
}

/* A reader over a memory file. */
typedef struct reading {
    sb_memory_fs m;
    sb_env env;
    sb_tail *tail;
    sb_err err;
} reading;

static inline void reading_begin_with(reading *r, sb_slice data, const sb_tail_opts *opts) {
    sb_memory_fs_init(&r->m, data);
    r->env = (sb_env){.alloc = &sb_alloc_libc, .fs = &r->m.fs};
    assert_ok(sb_tail_open(&r->tail, &r->env, SB_MEMORY_PATH, opts, &r->err), &r->err);
}

static inline void reading_begin(reading *r, sb_slice data) {
    reading_begin_with(r, data, NULL);
}

static inline void reading_end(reading *r) {
    sb_tail_close(r->tail);
    assert_int_equal(r->m.open_files, 0);
}

static inline sb_status reading_next(reading *r, sb_tail_record *record) {
    return sb_tail_next(r->tail, record, &r->err);
}

/* The next answer is frame i of the file as it was written. */
static inline void reading_expect(reading *r, const frames *f, size_t i) {
    sb_tail_record record;
    assert_ok(reading_next(r, &record), &r->err);
    assert_int_equal(record.offset, f->offset[i]);
    assert_int_equal(record.size, f->offset[i + 1] - f->offset[i]);
    assert_slice_equal(record.payload, frames_payload(f, i));
}

static inline void reading_expect_from(reading *r, const frames *f, size_t i) {
    for (; i < f->count; i++) reading_expect(r, f, i);
}

static inline void reading_expect_status(reading *r, sb_status status) {
    sb_tail_record record;
    assert_int_equal(reading_next(r, &record), status);
}

/* A reader that has read the whole log. */
static inline void reading_begin_at_end(reading *r, const frames *f) {
    reading_begin(r, sb_buf_slice(&f->bytes));
    reading_expect_from(r, f, 0);
    reading_expect_status(r, SB_MORE);
}

/* The next answer says that bytes from..to were stepped over. */
static inline void reading_expect_gap(reading *r, sb_status status, uint64_t from, uint64_t to) {
    sb_tail_record record;
    assert_int_equal(reading_next(r, &record), status);
    assert_int_equal(record.offset, from);
    assert_int_equal(record.offset + record.size, to);
}

#endif
