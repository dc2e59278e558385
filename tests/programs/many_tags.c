/* many_tags.c: writes an event file with very many distinct tags, for tests of what a reader does
 * with it.
 *
 *     many_tags FILE COUNT EACH
 *
 * COUNT values tag/0, tag/1, ..., EACH of them in an event. The value is the tag's number within
 * its event, the step the event's. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "base/banned.h"

#define WALL 1700000000.0
#define PIECE ((size_t)1 << 20)

static void add_value(sb_buf *b, unsigned long long number, float x) {
    char tag[40];
    int n = snprintf(tag, sizeof tag, "tag/%llu", number);
    size_t value = sb_pb_begin(b, SB_SUMMARY_VALUE, 64);
    sb_pb_add_bytes(b, SB_VALUE_TAG, sb_slice_of(tag, (size_t)n));
    sb_pb_add_float(b, SB_VALUE_SIMPLE_VALUE, x);
    sb_pb_end(b, value);
}

static void add_event(sb_buf *b, unsigned long long event, unsigned long long each) {
    size_t record = sb_record_begin(b);
    sb_pb_add_double(b, SB_EVENT_WALL_TIME, WALL + (double)event);
    sb_pb_add_int_nz(b, SB_EVENT_STEP, (int64_t)event);
    size_t summary = sb_pb_begin(b, SB_EVENT_SUMMARY, each * 32);
    for (unsigned long long i = 0; i < each; i++) add_value(b, event * each + i, (float)i);
    sb_pb_end(b, summary);
    sb_record_end(b, record);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    unsigned long long count = strtoull(argv[2], NULL, 10), each = strtoull(argv[3], NULL, 10);
    FILE *out = fopen(argv[1], "wb");
    if (!out || each == 0) return 1;
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, SIZE_MAX / 2);
    bool ok = true;
    for (unsigned long long event = 0; event * each < count; event++) {
        add_event(&b, event, each);
        if (b.n < PIECE && (event + 1) * each < count) continue;
        ok = ok && fwrite(b.p, 1, b.n, out) == b.n;
        sb_buf_clear(&b);
    }
    ok = fclose(out) == 0 && ok && sb_buf_check(&b, "events", NULL) == SB_OK;
    sb_buf_fini(&b);
    return ok ? 0 : 1;
}
