/* tail_fuzz.c: the tail reader over a file in memory that grows.
 *
 * Input: 0 window size | 1 bytes a read | 2, 3 how much the file grows at a time
 *        4 limit of a payload (low 7 bits) | the file, or (bit 7 of 4) a recipe for one
 * Recipe, since checksums are hard to guess: pieces of 0 what | 1 n | bytes, where what modulo 4 is
 *        0 the n bytes as they are | 1 a good frame around the n bytes
 *        2 a good header that claims 4 n bytes | 3 n zeros
 *
 * Whatever the file holds: every answer follows the one before it without a gap, what is handed out
 * as good matches its checksum and the file, and reading comes to an end. A file in which no damage
 * is found when it is read at once has the same records when it grows under the reader's hands. */
#include <stdio.h>
#include <stdlib.h>

#include "../tests/support/frame.h"
#include "../tests/support/memory_fs.h"
#include "base/bytes.h"
#include "codec/crc32c/crc32c.h"
#include "codec/record.h"
#include "logdir/tail_int.h"
#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool promise, const char *what) {
    if (promise) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

typedef struct reading {
    sb_memory_fs m;
    sb_tail *tail;
    uint64_t at;
    uint64_t answers;
} reading;

static void check_good(const reading *r, const sb_tail_record *record) {
    check(record->payload.n + SB_RECORD_OVERHEAD == record->size, "size of a record");
    check(sb_crc32c_masked(record->payload.p, record->payload.n) == record->payload_crc,
          "a good payload matches its checksum");
    if (r->tail->is_archive) return;
    check(record->offset + record->size <= r->m.data.n, "a record is inside the file");
    check(record->payload.n == 0 || memcmp(r->m.data.p + record->offset + SB_RECORD_HEADER,
                                           record->payload.p, record->payload.n) == 0,
          "a payload is what stands in the file");
}

/* Reads until there is nothing more for now. False: it will never go on. */
static bool read_on(reading *r) {
    for (;;) {
        sb_tail_record record;
        sb_status status = sb_tail_next(r->tail, &record, NULL);
        if (status == SB_MORE) break;
        if (status == SB_CORRUPT || status == SB_REPLACED) return false; /* an archive */
        check(status == SB_OK || status == SB_BAD_LENGTH || status == SB_BAD_PAYLOAD ||
                  status == SB_LIMIT,
              "an answer that makes sense");
        check(record.offset == r->at, "answers without a gap");
        check(record.size > 0, "every answer gets on");
        r->at += record.size;
        check(++r->answers <= 4096 + 4 * r->m.data.n * (r->tail->is_archive ? 1100 : 1),
              "reading comes to an end");
        if (status == SB_OK) check_good(r, &record);
    }
    sb_tail_ending rest = sb_tail_rest(r->tail);
    check(rest.offset == r->at, "what is left begins behind the last answer");
    if (!r->tail->is_archive)
        check(rest.offset + rest.bytes == r->m.data.n, "what is left is all that is left");
    return true;
}

static sb_tail_counts read_file(sb_slice file, const uint8_t *settings, size_t growth,
                                sb_status *rest) {
    reading r = {.at = 0};
    sb_memory_fs_init(&r.m, file);
    r.m.max_read = settings[1];
    r.m.data.n = growth && growth < file.n ? growth : file.n;
    sb_env env = {.alloc = &sb_alloc_libc, .fs = &r.m.fs};
    sb_tail_opts opts = {.window = 64 + (size_t)settings[0] * 8,
                         .max_payload = (uint64_t)(settings[4] & 127) * 4};
    check(sb_tail_open(&r.tail, &env, SB_MEMORY_PATH, &opts, NULL) == SB_OK, "it opens");
    while (read_on(&r) && r.m.data.n < file.n) {
        size_t left = file.n - r.m.data.n;
        r.m.data.n += growth < left ? growth : left;
        if (growth & 1) sb_tail_sleep(r.tail);
    }
    sb_tail_counts counts = sb_tail_stats(r.tail);
    *rest = sb_tail_rest(r.tail).kind;
    sb_tail_close(r.tail);
    check(r.m.open_files == 0, "files are closed");
    return counts;
}

/* The file that a recipe makes. */
static void cook(sb_buf *out, sb_slice recipe) {
    static const uint8_t zeros[255];
    while (recipe.n >= 2) {
        uint8_t what = recipe.p[0] % 4, n = recipe.p[1];
        recipe = (sb_slice){recipe.p + 2, recipe.n - 2};
        sb_slice bytes = {recipe.p, n < recipe.n ? n : recipe.n};
        if (what == 0) sb_buf_add_slice(out, bytes);
        if (what == 1) sb_test_add_record(out, bytes);
        if (what == 2) {
            uint8_t header[SB_RECORD_HEADER];
            sb_store64(header, (uint64_t)n * 4);
            sb_store32(header + 8, sb_crc32c_masked(header, 8));
            sb_buf_add(out, header, sizeof header);
        }
        if (what == 3) sb_buf_add(out, zeros, n);
        if (what < 2) recipe = (sb_slice){recipe.p + bytes.n, recipe.n - bytes.n};
    }
}

static void try_file(sb_slice file, const uint8_t *settings) {
    size_t growth = (size_t)settings[2] | (size_t)settings[3] << 8;
    sb_status rest, later;
    sb_tail_counts whole = read_file(file, settings, 0, &rest);
    if (growth == 0 || file.n / growth > 300) return;
    sb_tail_counts grown = read_file(file, settings, growth, &later);
    bool is_archive = file.n > 2 && file.p[0] == 0x1f && file.p[1] == 0x8b;
    if (whole.damaged == 0 && !is_archive && (rest == SB_OK || rest == SB_MORE))
        check(grown.records == whole.records && grown.damaged == 0 && later == rest,
              "growth changes nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5 || size > 1 << 20) return 0;
    sb_slice file = {data + 5, size - 5};
    if (data[4] < 128) {
        try_file(file, data);
        return 0;
    }
    sb_buf made;
    sb_buf_init(&made, &sb_alloc_libc, (size_t)1 << 26);
    cook(&made, file);
    if (made.n) try_file(sb_buf_slice(&made), data);
    sb_buf_fini(&made);
    return 0;
}
