/* gz_test.c: archives read as if they were plain files; cut, flipped, joined, out of memory. */
#include "fsio/gz.h"

#include <errno.h>
#include <zlib.h>

#include "support/fault_alloc.h"
#include "support/memory_fs.h"
#include "support/test.h"
#include "base/banned.h"

#define PLAIN 300000

typedef struct sample {
    uint8_t plain[PLAIN];
    uint8_t packed[PLAIN + 1000];
    size_t n;
} sample;

static size_t pack(uint8_t *to, size_t room, uint8_t *data, size_t n) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = data;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = room - z.avail_out;
    deflateEnd(&z);
    return made;
}

/* Half noise, half repetition; in `parts` archives one behind the other. */
static sample *sample_of(size_t parts) {
    static sample s;
    sb_test_random random = sb_test_random_of(1);
    sb_test_fill(&random, s.plain, PLAIN);
    for (size_t i = PLAIN / 2; i < PLAIN; i++) s.plain[i] = (uint8_t)(i / 1000);
    s.n = 0;
    for (size_t i = 0; i < parts; i++) {
        size_t from = PLAIN * i / parts, to = PLAIN * (i + 1) / parts;
        s.n += pack(s.packed + s.n, sizeof s.packed - s.n, s.plain + from, to - from);
    }
    return &s;
}

static void reads_at_all_sizes_give_the_bytes(void **state) {
    (void)state;
    static uint8_t out[PLAIN + 10];
    for (size_t parts = 1; parts < 5; parts += 3) {
        const sample *s = sample_of(parts);
        for (size_t step = 1000; step < PLAIN * 2; step = step * 3 + 7) {
            sb_memory_fs m;
            sb_memory_fs_init(&m, sb_slice_of(s->packed, s->n));
            m.max_read = step % 5000 + 1;
            sb_gz *g;
            assert_ok(sb_gz_new(&g, &sb_alloc_libc, &m.fs, 7, NULL), NULL);
            uint64_t at = 0;
            int64_t got;
            while ((got = sb_gz_read_at(g, out + at, step < PLAIN - at ? step : PLAIN - at + 1,
                                        at)) > 0)
                at += (uint64_t)got;
            assert_int_equal(got, 0);
            assert_int_equal(at, PLAIN);
            assert_memory_equal(out, s->plain, PLAIN);
            assert_false(sb_gz_is_cut(g));
            assert_int_equal(sb_gz_offset(g), PLAIN);
            sb_gz_free(g);
        }
    }
}

static void reading_back_and_skipping_work(void **state) {
    (void)state;
    const sample *s = sample_of(2);
    sb_memory_fs m;
    sb_memory_fs_init(&m, sb_slice_of(s->packed, s->n));
    sb_gz *g;
    assert_ok(sb_gz_new(&g, &sb_alloc_libc, &m.fs, 7, NULL), NULL);
    sb_test_random random = sb_test_random_of(2);
    for (int i = 0; i < 100; i++) {
        uint8_t out[100];
        uint64_t at = sb_test_below(&random, PLAIN + 1000);
        int64_t got = sb_gz_read_at(g, out, sizeof out, at);
        int64_t left = at < PLAIN ? PLAIN - (int64_t)at : 0;
        assert_int_equal(got, left < 100 ? left : 100);
        if (got) assert_memory_equal(out, s->plain + at, (size_t)got);
    }
    sb_gz_free(g);
    sb_gz_free(NULL);
}

static void a_cut_archive_says_so(void **state) {
    (void)state;
    static uint8_t out[PLAIN];
    const sample *s = sample_of(1);
    for (size_t cut = 0; cut < s->n; cut += cut < 100 || cut > s->n - 100 ? 1 : 5000) {
        sb_memory_fs m;
        sb_memory_fs_init(&m, sb_slice_of(s->packed, cut));
        sb_gz *g;
        assert_ok(sb_gz_new(&g, &sb_alloc_libc, &m.fs, 7, NULL), NULL);
        uint64_t at = 0;
        int64_t got;
        while (at < PLAIN && (got = sb_gz_read_at(g, out + at, PLAIN - at, at)) > 0)
            at += (uint64_t)got;
        uint8_t more;
        assert_int_equal(sb_gz_read_at(g, &more, 1, at), 0);
        assert_true(sb_gz_is_cut(g));
        assert_memory_equal(out, s->plain, at);
        sb_gz_free(g);
    }
}

static void a_flipped_bit_is_noticed(void **state) {
    (void)state;
    static uint8_t out[PLAIN + 1];
    uint8_t plain[3000], packed[3000];
    for (size_t i = 0; i < sizeof plain; i++) plain[i] = (uint8_t)(i * i / 77);
    size_t n = pack(packed, sizeof packed, plain, sizeof plain);
    for (size_t bit = 10 * 8; bit < n * 8; bit++) {
        if (bit / 8 == n - 9) continue; /* unused bits before the checksum */
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        sb_memory_fs m;
        sb_memory_fs_init(&m, sb_slice_of(packed, n));
        sb_gz *g;
        assert_ok(sb_gz_new(&g, &sb_alloc_libc, &m.fs, 7, NULL), NULL);
        uint64_t at = 0;
        int64_t got;
        while ((got = sb_gz_read_at(g, out, sizeof out, at)) > 0) at += (uint64_t)got;
        assert_true(got == -EBADMSG || sb_gz_is_cut(g));
        assert_int_equal(sb_gz_read_at(g, out, 1, at), got);
        sb_gz_free(g);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static sb_status read_whole(const sb_alloc *alloc, void *ud) {
    static uint8_t out[PLAIN];
    const sample *s = ud;
    sb_memory_fs m;
    sb_memory_fs_init(&m, sb_slice_of(s->packed, s->n));
    sb_gz *g;
    sb_status status = sb_gz_new(&g, alloc, &m.fs, 7, NULL);
    if (status != SB_OK) return status;
    uint64_t at = 0;
    while (at < PLAIN) {
        int64_t got = sb_gz_read_at(g, out + at, 1000 < PLAIN - at ? 1000 : PLAIN - at, at);
        if (got > 0) {
            at += (uint64_t)got;
        } else {
            assert_int_equal(got, -ENOMEM); /* and the next call begins again */
            status = SB_NOMEM;
        }
    }
    assert_memory_equal(out, s->plain, PLAIN);
    sb_gz_free(g);
    return status;
}

static void every_refused_allocation_is_survived(void **state) {
    (void)state;
    sb_fault_alloc_sweep(read_whole, sample_of(3));
}

static void only_archives_begin_like_archives(void **state) {
    (void)state;
    assert_true(sb_gz_begins(SB_LIT("\x1f\x8b\x08\x00")));
    assert_false(sb_gz_begins(SB_LIT("\x1f\x8b")));
    assert_false(sb_gz_begins(SB_LIT("\x18\x00\x00\x00")));
    assert_false(sb_gz_begins((sb_slice){NULL, 0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_at_all_sizes_give_the_bytes),
        cmocka_unit_test(reading_back_and_skipping_work),
        cmocka_unit_test(a_cut_archive_says_so),
        cmocka_unit_test(a_flipped_bit_is_noticed),
        cmocka_unit_test(every_refused_allocation_is_survived),
        cmocka_unit_test(only_archives_begin_like_archives),
    };
    return cmocka_run_group_tests_name("fsio/gz", tests, NULL, NULL);
}
