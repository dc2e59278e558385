/* tail_test.c: event files that are whole, or grow, or change under the reader's hands. */
#include "logdir/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/crc32c/crc32c.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "unit/logdir/frames.h"
#include "base/banned.h"

/* ---- whole files ----------------------------------------------------------------------------- */

static void every_record_comes_with_its_place(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 100);
    for (size_t window = 1; window < 300; window += 7) {
        reading r;
        reading_begin_with(&r, sb_buf_slice(&f.bytes), &(sb_tail_opts){.window = window});
        reading_expect_from(&r, &f, 0);
        reading_expect_status(&r, SB_MORE);
        reading_expect_status(&r, SB_MORE);
        sb_tail_counts counts = sb_tail_stats(r.tail);
        assert_int_equal(counts.records, 101);
        assert_int_equal(counts.offset, f.bytes.n);
        assert_int_equal(counts.size, f.bytes.n);
        assert_int_equal(counts.bytes_read, f.bytes.n);
        assert_int_equal(counts.last_error, SB_OK);
        assert_int_equal(sb_tail_rest(r.tail).kind, SB_OK);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void reading_can_begin_at_a_later_record(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 10);
    reading r;
    reading_begin_with(&r, sb_buf_slice(&f.bytes), &(sb_tail_opts){.offset = f.offset[4]});
    reading_expect_from(&r, &f, 4);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void an_empty_file_and_an_empty_record_are_legal(void **state) {
    (void)state;
    reading r;
    reading_begin(&r, (sb_slice){(const uint8_t *)"", 0});
    reading_expect_status(&r, SB_MORE);
    assert_int_equal(sb_tail_rest(r.tail).kind, SB_OK);
    frames f;
    frames_init(&f);
    frames_add(&f, (sb_slice){NULL, 0});
    frames_add_scalar(&f, 1, 0);
    r.m.data = sb_buf_slice(&f.bytes);
    reading_expect_from(&r, &f, 0);
    reading_end(&r);
    frames_fini(&f);
}

static void what_is_no_file_is_refused(void **state) {
    sb_env env = {.alloc = &sb_alloc_libc, .fs = &sb_fs_local};
    sb_tail *t;
    sb_err err;
    const char *missing = sb_test_dir_join(*state, "nothing");
    assert_int_equal(sb_tail_open(&t, &env, missing, NULL, &err), SB_NOT_FOUND);
    assert_non_null(strstr(err.text, missing));
    assert_null(t);
    assert_int_equal(sb_tail_open(&t, &env, sb_test_dir_path(*state), NULL, &err), SB_INVALID);
    sb_tail_close(NULL);
}

static void a_record_larger_than_the_window_is_read_whole(void **state) {
    (void)state;
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 20; i++) frames_add_scalar(&f, i, i % 4 == 1 ? 100000 : 10);
    reading r;
    reading_begin_with(&r, sb_buf_slice(&f.bytes), &(sb_tail_opts){.window = 4096});
    reading_expect_from(&r, &f, 0);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void a_payload_above_the_limit_is_stepped_over_unread(void **state) {
    (void)state;
    frames f;
    frames_init(&f);
    frames_add_scalar(&f, 1, 10);
    frames_add_scalar(&f, 2, 5000000);
    frames_add_scalar(&f, 3, 10);
    reading r;
    sb_tail_opts opts = {.window = 4096, .max_payload = 1000};
    reading_begin_with(&r, sb_slice_of(f.bytes.p, f.offset[2] - 1), &opts);
    reading_expect(&r, &f, 0);
    reading_expect_status(&r, SB_MORE); /* one byte is missing */
    r.m.data = sb_buf_slice(&f.bytes);
    reading_expect_gap(&r, SB_LIMIT, f.offset[1], f.offset[2]);
    reading_expect(&r, &f, 2);
    reading_expect_status(&r, SB_MORE);
    sb_tail_counts counts = sb_tail_stats(r.tail);
    assert_int_equal(counts.skipped, 1);
    assert_int_equal(counts.damaged, 0);
    assert_true(counts.bytes_read < 3 * 4096);
    reading_end(&r);
    frames_fini(&f);
}

static void the_limit_holds_for_what_is_in_the_window_too(void **state) {
    (void)state;
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 6; i++) frames_add_scalar(&f, i, i % 2 ? 50 : 0);
    f.bytes.p[f.offset[3] + 20] ^= 1; /* whether it is good does not matter */
    reading r;
    reading_begin_with(&r, sb_buf_slice(&f.bytes), &(sb_tail_opts){.max_payload = 40});
    for (size_t i = 0; i < 6; i += 2) {
        reading_expect(&r, &f, i);
        reading_expect_gap(&r, SB_LIMIT, f.offset[i + 1], f.offset[i + 2]);
    }
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void a_claimed_length_alone_takes_no_memory(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 3);
    size_t whole = f.bytes.n;
    /* A good header that promises a gigabyte. */
    uint8_t header[SB_RECORD_HEADER];
    sb_store64(header, (uint64_t)1 << 30);
    sb_store32(header + 8, sb_crc32c_masked(header, 8));
    sb_buf_add(&f.bytes, header, sizeof header);
    sb_fault_alloc a;
    sb_fault_alloc_init(&a);
    sb_memory_fs m;
    sb_memory_fs_init(&m, sb_buf_slice(&f.bytes));
    sb_env env = {.alloc = &a.alloc, .fs = &m.fs};
    sb_tail *t;
    sb_tail_record record;
    assert_ok(sb_tail_open(&t, &env, SB_MEMORY_PATH, NULL, NULL), NULL);
    for (size_t i = 0; i < f.count; i++) assert_ok(sb_tail_next(t, &record, NULL), NULL);
    assert_int_equal(sb_tail_next(t, &record, NULL), SB_MORE);
    assert_int_equal(sb_tail_rest(t).kind, SB_MORE);
    assert_int_equal(sb_tail_rest(t).offset, whole);
    assert_true(a.peak_bytes < 64 << 10);
    sb_tail_close(t);
    sb_fault_alloc_fini(&a);
    frames_fini(&f);
}

static void a_small_file_takes_a_small_window(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    sb_fault_alloc a;
    sb_fault_alloc_init(&a);
    sb_memory_fs m;
    sb_memory_fs_init(&m, sb_buf_slice(&f.bytes));
    sb_env env = {.alloc = &a.alloc, .fs = &m.fs};
    sb_tail *t;
    sb_tail_record record;
    assert_ok(sb_tail_open(&t, &env, SB_MEMORY_PATH, NULL, NULL), NULL);
    while (sb_tail_next(t, &record, NULL) == SB_OK) continue;
    assert_true(a.peak_bytes < 8 << 10);
    sb_tail_sleep(t);
    assert_true(a.bytes < 2 << 10);
    assert_int_equal(m.open_files, 0);
    sb_tail_close(t);
    sb_fault_alloc_fini(&a);
    frames_fini(&f);
}

/* ---- files that grow ------------------------------------------------------------------------- */

static void a_cut_at_every_byte_waits_and_goes_on(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 4);
    for (size_t cut = 0; cut <= f.bytes.n; cut++) {
        reading r;
        reading_begin(&r, sb_slice_of(f.bytes.p, cut));
        size_t i = 0;
        for (; i < f.count && f.offset[i + 1] <= cut; i++) reading_expect(&r, &f, i);
        reading_expect_status(&r, SB_MORE);
        sb_tail_ending rest = sb_tail_rest(r.tail);
        assert_int_equal(rest.kind, cut == f.offset[i] ? SB_OK : SB_MORE);
        assert_int_equal(rest.offset, f.offset[i]);
        assert_int_equal(rest.bytes, cut - f.offset[i]);
        r.m.data = sb_buf_slice(&f.bytes);
        reading_expect_from(&r, &f, i);
        reading_expect_status(&r, SB_MORE);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void growth_in_random_steps_loses_nothing(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(11);
    for (int round = 0; round < 200; round++) {
        frames f;
        frames_init(&f);
        size_t count = 1 + sb_test_below(&random, 60);
        for (size_t i = 0; i < count; i++)
            frames_add_scalar(&f, (int64_t)i,
                              sb_test_below(&random, 10) ? sb_test_below(&random, 90) : 9000);
        reading r;
        sb_tail_opts opts = {.window = 64 + sb_test_below(&random, 6000)};
        reading_begin_with(&r, sb_slice_of(f.bytes.p, 0), &opts);
        r.m.max_read = sb_test_below(&random, 2) ? 1 + sb_test_below(&random, 500) : 0;
        size_t i = 0;
        while (i < count) {
            size_t left = f.bytes.n - r.m.data.n;
            r.m.data.n += sb_test_below(&random, left < 400 ? left + 1 : 400);
            if (sb_test_below(&random, 8) == 0) sb_tail_sleep(r.tail);
            for (; i < count && f.offset[i + 1] <= r.m.data.n; i++) reading_expect(&r, &f, i);
            reading_expect_status(&r, SB_MORE);
        }
        assert_int_equal(sb_tail_stats(r.tail).damaged, 0);
        reading_end(&r);
        frames_fini(&f);
    }
}

static void seeing_that_nothing_is_new_is_cheap(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    reading r;
    reading_begin_at_end(&r, &f);
    uint64_t before = r.m.reads;
    for (int i = 0; i < 10; i++) reading_expect_status(&r, SB_MORE);
    assert_int_equal(r.m.reads - before, 10);
    reading_end(&r);
    frames_fini(&f);
}

/* ---- files that change ----------------------------------------------------------------------- */

static void a_shorter_file_is_told_apart(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    for (size_t to = 0; to < f.bytes.n; to += 5) {
        reading r;
        reading_begin_at_end(&r, &f);
        r.m.data.n = to;
        if (to % 2) sb_tail_sleep(r.tail);
        reading_expect_status(&r, SB_REPLACED);
        reading_expect_status(&r, SB_REPLACED);
        assert_int_equal(sb_tail_stats(r.tail).last_error, SB_REPLACED);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void another_file_of_the_same_name_is_told_apart(void **state) {
    (void)state;
    frames f, other;
    frames_log(&f, 20);
    frames_init(&other);
    for (int64_t i = 0; i < 40; i++) frames_add_scalar(&other, i + 7, 0);
    for (int asleep = 0; asleep < 2; asleep++) {
        reading r;
        reading_begin_at_end(&r, &f);
        r.m.data = sb_buf_slice(&other.bytes);
        r.m.inode = 2;
        if (asleep) sb_tail_sleep(r.tail);
        /* With the file still open the old bytes are at an end first. */
        if (!asleep) r.m.data.n = f.bytes.n;
        reading_expect_status(&r, SB_REPLACED);
        reading_end(&r);
    }
    frames_fini(&f);
    frames_fini(&other);
}

static void a_longer_copy_of_the_file_is_read_on(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    for (int asleep = 0; asleep < 2; asleep++) {
        reading r;
        reading_begin(&r, sb_slice_of(f.bytes.p, f.offset[8] + 5));
        for (size_t i = 0; i < 8; i++) reading_expect(&r, &f, i);
        reading_expect_status(&r, SB_MORE);
        r.m.inode = 2;
        if (asleep) {
            sb_tail_sleep(r.tail);
        } else {
            reading_expect_status(&r, SB_MORE);
        }
        r.m.data = sb_buf_slice(&f.bytes);
        reading_expect_from(&r, &f, 8);
        reading_expect_status(&r, SB_MORE);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void a_file_written_anew_in_place_is_told_apart(void **state) {
    (void)state;
    frames f, other;
    frames_log(&f, 20);
    frames_init(&other);
    frames_add_scalar(&other, 3, 11);
    for (int64_t i = 0; i < 90; i++) frames_add_scalar(&other, i, 1);
    reading r;
    reading_begin_at_end(&r, &f);
    r.m.data = sb_buf_slice(&other.bytes);
    reading_expect_status(&r, SB_REPLACED);
    reading_end(&r);
    frames_fini(&f);
    frames_fini(&other);
}

/* rsync --inplace: the new records begin where the old ones did. */
static void a_file_written_anew_in_place_with_equal_sizes_is_told_apart(void **state) {
    (void)state;
    frames f, other;
    frames_init(&f);
    frames_init(&other);
    for (int64_t i = 1; i < 100; i++) frames_add_scalar(&f, i, 1);
    for (int64_t i = 1; i < 120; i++) frames_add_scalar(&other, i, 2);
    for (int grown = 0; grown < 2; grown++) {
        reading r;
        reading_begin_at_end(&r, &f);
        r.m.data = sb_buf_slice(&other.bytes);
        if (!grown) r.m.data.n = f.bytes.n;
        r.m.mtime_ns++;
        reading_expect_status(&r, SB_REPLACED);
        reading_end(&r);
    }
    frames_fini(&f);
    frames_fini(&other);
}

static void a_file_that_was_only_touched_is_read_on(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    reading r;
    reading_begin(&r, sb_slice_of(f.bytes.p, f.offset[8]));
    for (size_t i = 0; i < 8; i++) reading_expect(&r, &f, i);
    reading_expect_status(&r, SB_MORE);
    r.m.mtime_ns++;
    reading_expect_status(&r, SB_MORE);
    r.m.data = sb_buf_slice(&f.bytes);
    reading_expect_from(&r, &f, 8);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

static void a_removed_file_is_still_read_by_who_holds_it(void **state) {
    (void)state;
    frames f;
    frames_log(&f, 20);
    reading r;
    reading_begin(&r, sb_slice_of(f.bytes.p, f.offset[5]));
    r.m.removed = true;
    for (size_t i = 0; i < 5; i++) reading_expect(&r, &f, i);
    reading_expect_status(&r, SB_MORE);
    r.m.data = sb_buf_slice(&f.bytes);
    reading_expect_from(&r, &f, 5);
    sb_tail_sleep(r.tail);
    reading_expect_status(&r, SB_NOT_FOUND);
    r.m.removed = false;
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    frames_fini(&f);
}

/* ---- archives -------------------------------------------------------------------------------- */

static size_t pack(uint8_t *to, size_t room, sb_slice data) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z_const Bytef *in = (z_const Bytef *)(uintptr_t)data.p;
    z.next_in = in;
    z.avail_in = (uInt)data.n;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = room - z.avail_out;
    deflateEnd(&z);
    return n;
}

static void archives_are_unpacked_on_the_way(void **state) {
    (void)state;
    static uint8_t packed[200000];
    frames f;
    frames_log(&f, 200);
    sb_slice data = sb_buf_slice(&f.bytes);
    for (size_t window = 64; window < 70000; window = window * 3 + 1) {
        /* Two archives, one behind the other, and something that is none. */
        size_t n = pack(packed, sizeof packed, sb_slice_of(data.p, 1000));
        n += pack(packed + n, sizeof packed - n, sb_slice_of(data.p + 1000, data.n - 1000));
        memset(packed + n, 0, 10);
        n += 10;
        reading r;
        reading_begin_with(&r, sb_slice_of(packed, n), &(sb_tail_opts){.window = window});
        for (size_t i = 0; i < 100; i++) reading_expect(&r, &f, i);
        sb_tail_sleep(r.tail);
        reading_expect_from(&r, &f, 100);
        reading_expect_status(&r, SB_MORE);
        assert_int_equal(sb_tail_stats(r.tail).offset, data.n);
        assert_int_equal(sb_tail_rest(r.tail).kind, SB_OK);
        sb_tail_sleep(r.tail);
        uint64_t before = r.m.reads;
        reading_expect_status(&r, SB_MORE);
        assert_int_equal(r.m.reads, before); /* it is not unpacked again to see that it has ended */
        reading_end(&r);
        reading_begin_with(&r, sb_slice_of(packed, n), &(sb_tail_opts){.offset = f.offset[50]});
        reading_expect_from(&r, &f, 50);
        r.m.mtime_ns = 9;
        reading_expect_status(&r, SB_REPLACED);
        reading_end(&r);
    }
    frames_fini(&f);
}

static void a_damaged_archive_gives_what_comes_before(void **state) {
    (void)state;
    static uint8_t packed[4096];
    frames f;
    frames_log(&f, 40);
    size_t n = pack(packed, sizeof packed, sb_buf_slice(&f.bytes));
    for (size_t cut = 20; cut < n; cut++) {
        reading r;
        reading_begin(&r, sb_slice_of(packed, cut));
        sb_tail_record record;
        size_t i = 0;
        while (reading_next(&r, &record) == SB_OK) {
            assert_slice_equal(record.payload, frames_payload(&f, i));
            i++;
        }
        reading_expect_status(&r, SB_MORE);
        assert_int_equal(sb_tail_rest(r.tail).kind, SB_CORRUPT);
        reading_end(&r);
    }
    for (size_t bit = 16 * 8; bit < n * 8; bit++) {
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        reading r;
        reading_begin(&r, sb_slice_of(packed, n));
        sb_tail_record record;
        sb_status status;
        do {
            status = reading_next(&r, &record);
            /* A flip may move or repeat what is unpacked, but not make up a record. */
            size_t i = 0;
            while (i < f.count && !sb_slice_eq(record.payload, frames_payload(&f, i))) i++;
            if (status == SB_OK) assert_true(i < f.count);
        } while (status != SB_MORE && status != SB_CORRUPT);
        bool padding = bit / 8 == n - 9; /* the byte before checksum and length has unused bits */
        if (!padding) assert_int_equal(sb_tail_rest(r.tail).kind, SB_CORRUPT);
        reading_expect_status(&r, status);
        reading_end(&r);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    frames_fini(&f);
}

static void an_archived_payload_above_the_limit_is_stepped_over(void **state) {
    (void)state;
    static uint8_t packed[200000];
    frames f;
    frames_init(&f);
    frames_add_scalar(&f, 1, 10);
    frames_add_scalar(&f, 2, 500000);
    frames_add_scalar(&f, 3, 10);
    sb_tail_opts opts = {.window = 4096, .max_payload = 1000};
    size_t n = pack(packed, sizeof packed, sb_buf_slice(&f.bytes));
    reading r;
    reading_begin_with(&r, sb_slice_of(packed, n), &opts);
    reading_expect(&r, &f, 0);
    reading_expect_gap(&r, SB_LIMIT, f.offset[1], f.offset[2]);
    reading_expect(&r, &f, 2);
    reading_expect_status(&r, SB_MORE);
    reading_end(&r);
    /* And one that the archive does not have to its end. */
    n = pack(packed, sizeof packed, sb_slice_of(f.bytes.p, f.offset[2] - 1));
    reading_begin_with(&r, sb_slice_of(packed, n), &opts);
    reading_expect(&r, &f, 0);
    for (int i = 0; i < 3; i++) reading_expect_status(&r, SB_MORE);
    assert_int_equal(sb_tail_rest(r.tail).kind, SB_MORE);
    assert_int_equal(sb_tail_rest(r.tail).bytes, f.offset[2] - 1 - f.offset[1]);
    reading_end(&r);
    frames_fini(&f);
}

/* ---- a system that refuses ------------------------------------------------------------------- */

typedef struct whole_log {
    frames f;
    const char *path;
} whole_log;

static void put_log(whole_log *w, sb_test_dir *dir) {
    static uint8_t packed[8192];
    frames_log(&w->f, 30);
    w->f.bytes.p[w->f.offset[7]] ^= 4; /* with a place where the way must be found again */
    w->path = sb_test_dir_put(dir, "events.out.tfevents.1", sb_buf_slice(&w->f.bytes));
    size_t n = pack(packed, sizeof packed, sb_buf_slice(&w->f.bytes));
    sb_test_dir_put(dir, "events.out.tfevents.1.gz", sb_slice_of(packed, n));
}

/* Reads all, trying again after each refusal; every record must come once. */
static sb_status read_all(const sb_env *env, const char *path, const frames *f) {
    sb_tail *t;
    sb_err err = {.code = SB_OK};
    sb_status status = sb_tail_open(&t, env, path, &(sb_tail_opts){.window = 256}, &err);
    if (status != SB_OK) return status;
    sb_status first_error = SB_OK;
    size_t i = 0;
    for (;;) {
        sb_tail_record record;
        status = sb_tail_next(t, &record, &err);
        if (status == SB_MORE) break;
        if (status == SB_BAD_LENGTH) {
            assert_int_equal(record.offset, f->offset[7]);
            i++;
        } else if (status == SB_OK) {
            assert_int_equal(record.offset, f->offset[i]);
            i++;
        } else {
            assert_true(status == SB_IO || status == SB_NOMEM);
            assert_true(err.text[0] != 0);
            if (first_error == SB_OK) first_error = status;
        }
    }
    sb_tail_close(t);
    assert_int_equal(i, f->count);
    return first_error;
}

static void every_refused_call_is_survived(void **state) {
    whole_log w;
    put_log(&w, *state);
    const char *paths[2] = {w.path, sb_test_dir_join(*state, "events.out.tfevents.1.gz")};
    for (int k = 0; k < 2; k++) {
        for (uint64_t n = 1;; n++) {
            sb_fault_fs fs;
            sb_fault_fs_init(&fs, &sb_fs_local);
            sb_fault_fs_fail(&fs, SB_CALL_ANY, n, EIO, false);
            sb_env env = {.alloc = &sb_alloc_libc, .fs = &fs.fs};
            read_all(&env, paths[k], &w.f);
            uint64_t failures = sb_fault_fs_failures(&fs);
            sb_fault_fs_fini(&fs);
            if (failures == 0) break;
        }
    }
    frames_fini(&w.f);
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    const whole_log *w = ud;
    sb_env env = {.alloc = alloc, .fs = &sb_fs_local};
    return read_all(&env, w->path, &w->f);
}

static void every_refused_allocation_is_survived(void **state) {
    whole_log w;
    put_log(&w, *state);
    sb_fault_alloc_sweep(read_with, &w);
    w.path = sb_test_dir_join(*state, "events.out.tfevents.1.gz");
    sb_fault_alloc_sweep(read_with, &w);
    frames_fini(&w.f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_with_its_place),
        cmocka_unit_test(reading_can_begin_at_a_later_record),
        cmocka_unit_test(an_empty_file_and_an_empty_record_are_legal),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test(a_record_larger_than_the_window_is_read_whole),
        cmocka_unit_test(a_payload_above_the_limit_is_stepped_over_unread),
        cmocka_unit_test(the_limit_holds_for_what_is_in_the_window_too),
        cmocka_unit_test(a_claimed_length_alone_takes_no_memory),
        cmocka_unit_test(a_small_file_takes_a_small_window),
        cmocka_unit_test(a_cut_at_every_byte_waits_and_goes_on),
        cmocka_unit_test(growth_in_random_steps_loses_nothing),
        cmocka_unit_test(seeing_that_nothing_is_new_is_cheap),
        cmocka_unit_test(a_shorter_file_is_told_apart),
        cmocka_unit_test(another_file_of_the_same_name_is_told_apart),
        cmocka_unit_test(a_longer_copy_of_the_file_is_read_on),
        cmocka_unit_test(a_file_written_anew_in_place_is_told_apart),
        cmocka_unit_test(a_file_written_anew_in_place_with_equal_sizes_is_told_apart),
        cmocka_unit_test(a_file_that_was_only_touched_is_read_on),
        cmocka_unit_test(a_removed_file_is_still_read_by_who_holds_it),
        cmocka_unit_test(archives_are_unpacked_on_the_way),
        cmocka_unit_test(a_damaged_archive_gives_what_comes_before),
        cmocka_unit_test(an_archived_payload_above_the_limit_is_stepped_over),
        cmocka_unit_test_setup_teardown(every_refused_call_is_survived, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(every_refused_allocation_is_survived, sb_test_dir_setup,
                                        sb_test_dir_teardown),
    };
    return cmocka_run_group_tests_name("logdir/tail", tests, NULL, NULL);
}
