/* request_fuzz.c: any question, query string and body, to every route there is, over a small log.
 *
 * Input:  a line "METHOD target", a line with the body's content type, and the body.
 * Held:   nothing is read outside the input and nothing leaks; the reply is never a failure of the
 *         server's, but for the one that says there is too little of something (503); what is
 *         called JSON is UTF-8; pages, pictures and sounds carry a policy. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/support/memory_fs.h"
#include "../tests/support/serve_bed.h"
#include "base/text/utf8.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool promise) {
    if (!promise) abort();
}

/* ---- a log ----------------------------------------------------------------------------------- */

static size_t begin_value(sb_buf *log, const char *tag) {
    size_t value = sb_pb_begin(log, SB_SUMMARY_VALUE, 80);
    sb_pb_add_bytes(log, SB_VALUE_TAG, sb_slice_str(tag));
    return value;
}

static void add_text(sb_buf *log, const char *tag, const char *plugin, sb_slice text) {
    size_t value = begin_value(log, tag);
    size_t tensor = sb_pb_begin(log, SB_VALUE_TENSOR, 60);
    sb_pb_add_uint(log, SB_TENSOR_DTYPE, SB_STRING);
    sb_pb_add_bytes(log, SB_TENSOR_STRING_VAL, text);
    sb_pb_end(log, tensor);
    size_t meta = sb_pb_begin(log, SB_VALUE_METADATA, 40);
    size_t data = sb_pb_begin(log, SB_METADATA_PLUGIN_DATA, 30);
    sb_pb_add_bytes(log, SB_PLUGIN_DATA_PLUGIN_NAME, sb_slice_str(plugin));
    sb_pb_end(log, data);
    sb_pb_end(log, meta);
    sb_pb_end(log, value);
}

static void add_event(sb_buf *log, int64_t step) {
    size_t record = sb_record_begin(log);
    sb_pb_add_double(log, SB_EVENT_WALL_TIME, 1000 + (double)step);
    sb_pb_add_int_nz(log, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(log, SB_EVENT_SUMMARY, 900);
    size_t value = begin_value(log, "a");
    sb_pb_add_float(log, SB_VALUE_SIMPLE_VALUE, step == 3 ? -1.0f / 0.0f : (float)step);
    sb_pb_end(log, value);
    value = begin_value(log, "h");
    size_t histo = sb_pb_begin(log, SB_VALUE_HISTO, 40);
    sb_pb_add_double(log, SB_HISTOGRAM_MIN, -1);
    sb_pb_add_double(log, SB_HISTOGRAM_MAX, (double)step);
    sb_pb_end(log, histo);
    sb_pb_end(log, value);
    value = begin_value(log, "i");
    size_t image = sb_pb_begin(log, SB_VALUE_IMAGE, 40);
    sb_pb_add_bytes(log, SB_IMAGE_ENCODED_IMAGE_STRING, SB_LIT("\x89PNG\r\n\x1a\n and no more"));
    sb_pb_end(log, image);
    sb_pb_end(log, value);
    add_text(log, "t", "text", SB_LIT("# *x* [l](javascript:1) <b>y</b>"));
    add_text(log, "_hparams_/session_start_info", "hparams", SB_LIT("\x12\x02\x0a\x00"));
    sb_pb_end(log, summary);
    sb_record_end(log, record);
}

/* Nothing is beneath anything here, and there are no directories. */
static int no_file(void *ctx, const char *dir, const char *path) {
    (void)ctx, (void)dir, (void)path;
    return -ENOENT;
}

/* ---- one question ---------------------------------------------------------------------------- */

static sb_slice take_line(sb_slice *left) {
    const uint8_t *end = left->n ? memchr(left->p, '\n', left->n) : NULL;
    sb_slice line = sb_slice_of(left->p, end ? (size_t)(end - left->p) : left->n);
    size_t used = end ? line.n + 1 : line.n;
    *left = sb_slice_of(left->p + used, left->n - used);
    return line;
}

static void check(const sb_serve_answer *a) {
    if (a->status == 0) return;
    hold(a->status >= 200 && (a->status < 500 || a->status == 503));
    sb_slice type = SB_LIT("");
    bool has_policy = false;
    for (size_t i = 0; i < a->wire.header_count; i++) {
        sb_slice key = a->wire.headers[i].key, value = a->wire.headers[i].value;
        hold(!memchr(value.p, '\n', value.n) && !memchr(value.p, '\r', value.n));
        if (sb_slice_eq(key, SB_LIT("Content-Type"))) type = value;
        if (sb_slice_eq(key, SB_LIT("Content-Security-Policy"))) has_policy = true;
    }
    if (sb_slice_starts(type, SB_LIT("application/json"))) hold(sb_utf8_valid(a->wire.body));
    bool acts = sb_slice_starts(type, SB_LIT("text/html")) ||
                sb_slice_starts(type, SB_LIT("image/")) || sb_slice_starts(type, SB_LIT("audio/"));
    hold(!acts || has_policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_buf log;
    sb_buf_init(&log, &sb_alloc_libc, 1 << 20);
    for (int64_t step = 0; step < 5; step++) add_event(&log, step);
    sb_memory_fs files;
    sb_memory_fs_init(&files, sb_buf_slice(&log));
    files.fs.open_beneath = no_file;
    sb_env env = {&sb_alloc_libc, &files.fs, &sb_clock_system};
    sb_serve_bed *bed = malloc(sizeof *bed);
    sb_serve_answer *a = malloc(sizeof *a);
    hold(bed && a && sb_serve_bed_open(bed, &env, SB_MEMORY_PATH) == SB_OK);
    sb_slice left = sb_slice_of(data, size);
    sb_slice first = take_line(&left), type = take_line(&left);
    sb_serve_ask(bed, a, first, type, left, &sb_alloc_libc);
    check(a);
    sb_serve_answer_fini(a);
    sb_serve_bed_close(bed);
    free(a);
    free(bed);
    sb_buf_fini(&log);
    return 0;
}
