/* bundle_test.c: checkpoints: the golden one, hand-made lies, the hostile suites. What TensorFlow
 * itself writes is compared in tests/conformance/test_ckpt_read.py. */
#include "ckpt/bundle/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ckpt/bundle/slice_key.h"
#include "codec/tensor.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "unit/ckpt/made.h"
#include "base/banned.h"

#define GOLDEN_DATA "0000003f000080bf0700000000000000020078270b346869"
#define GOLDEN_INDEX                                                                               \
    "00000608011a02080100010f620801120412020802280835c5af2152000b0d67"                             \
    "6c6f62616c5f73746570080912002008280835bbd79f11000111730807120412"                             \
    "02080220102808359e9e48ed00010d7a080112021200201835d8ea82a2000000"                             \
    "00010000000005704a75000000000100000000c0f2a1b00001027b0065000000"                             \
    "0001000000001cf9a45a6a08770e000000000000000000000000000000000000"                             \
    "00000000000000000000000000000000000057fb808b247547db"
#define HEADER SB_LIT("\x08\x01\x1a\x02\x08\x01")

static void put_golden(sb_test_dir *d) {
    uint8_t room[256];
    sb_test_dir_put(d, "g.index", sb_test_bytes(room, sizeof room, GOLDEN_INDEX));
    sb_test_dir_put(d, "g.data-00000-of-00001", sb_test_bytes(room, sizeof room, GOLDEN_DATA));
}

static sb_bundle *open_in(sb_test_dir *d, const char *prefix) {
    sb_bundle *b;
    sb_err err;
    assert_ok(sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, sb_test_dir_path(d),
                             sb_slice_str(prefix), NULL, &err),
              &err);
    return b;
}

static void the_golden_bundle_is_read(void **state) {
    put_golden(*state);
    sb_bundle *b = open_in(*state, "g");
    assert_int_equal(sb_bundle_count(b), 4);
    assert_int_equal(sb_bundle_shards(b), 1);
    const sb_bundle_tensor *t = sb_bundle_find(b, SB_LIT("b"));
    assert_true(t == sb_bundle_at(b, 0) && t->dtype == SB_FLOAT && t->rank == 1 && t->dims[0] == 2);
    sb_buf out = made_buf();
    sb_err err;
    assert_ok(made_read(b, t, &out, &err), &err);
    assert_int_equal(out.n, 8);
    assert_true(sb_load32(out.p) == 0x3F000000 && sb_load32(out.p + 4) == 0xBF800000);
    sb_buf_clear(&out);
    assert_ok(sb_bundle_read_rows(b, t, 1, 1, &out, &err), &err);
    assert_true(out.n == 4 && sb_load32(out.p) == 0xBF800000);
    sb_buf_clear(&out);
    assert_ok(made_read(b, sb_bundle_find(b, SB_LIT("global_step")), &out, &err), &err);
    assert_true(out.n == 8 && sb_load64(out.p) == 7);
    sb_buf_clear(&out);
    assert_ok(made_read(b, sb_bundle_find(b, SB_LIT("z")), &out, &err), &err);
    assert_int_equal(out.n, 0);
    assert_int_equal(sb_bundle_read_rows(b, t, 2, 1, &out, &err), SB_INVALID);
    assert_int_equal(sb_bundle_read_rows(b, t, UINT64_MAX, 2, &out, &err), SB_INVALID);
    assert_null(sb_bundle_find(b, SB_LIT("nothing")));
    sb_arena arena;
    sb_slice *strings;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_ok(sb_bundle_read_strings(b, sb_bundle_find(b, SB_LIT("s")), &arena, &strings, &err),
              &err);
    assert_slice_is(strings[0], "hi");
    assert_slice_is(strings[1], "");
    assert_int_equal(made_read(b, sb_bundle_find(b, SB_LIT("s")), &out, &err), SB_INVALID);
    assert_int_equal(sb_bundle_read_strings(b, t, &arena, &strings, &err), SB_INVALID);
    sb_arena_fini(&arena);
    sb_buf_fini(&out);
    sb_bundle_close(b);
}

static void keys_of_pieces_are_as_tensorflow_spells_them(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t extents[4];
        const char *hex;
    } cases[] = {
        {"emb", {0, 5, 0, 4}, "00 656d62 0001 0102 80 85 80 84"},
        {"emb", {5, 5, 0, 4}, "00 656d62 0001 0102 85 85 80 84"},
        {"w", {0, -1, 392, 392}, "00 77 0001 0102 80 7f c188 c188"},
        {"\xff", {63, 64, 784, 8192}, "00 ff00 0001 0102 bf c040 c310 e02000"},
        {"",
         {-65, INT64_MAX, INT64_MIN, (int64_t)1 << 55},
         "00 0001 0102 3fbf ffc07fffffffffffffff 003f8000000000000000 ff8080000000000000"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t room[64];
        sb_buf key = made_buf();
        sb_slice_key_add(&key, sb_slice_str(cases[i].name), cases[i].extents, 2);
        assert_slice_equal(sb_buf_slice(&key), sb_test_bytes(room, sizeof room, cases[i].hex));
        sb_buf_fini(&key);
    }
}

/* ---- lies ------------------------------------------------------------------------------------ */

/* A bundle "x" with one tensor "t" of the given entry. */
static void put_entry(sb_test_dir *d, const char *hex, const char *data) {
    uint8_t room[512];
    sb_buf entries = made_buf(), file = made_buf();
    made_entry(&entries, 0, SB_LIT(""), HEADER);
    made_entry(&entries, 0, SB_LIT("t"), sb_test_bytes(room, sizeof room, hex));
    made_table(&file, sb_buf_slice(&entries));
    sb_test_dir_put(d, "x.index", sb_buf_slice(&file));
    sb_test_dir_put(d, "x.data-00000-of-00001", sb_test_bytes(room, sizeof room, data));
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
}

static void entries_that_lie_are_refused(void **state) {
    static const struct {
        const char *hex;
        bool at_open;
        const char *reason;
    } cases[] = {
        {"0801 1204 12020802 2810 35 00000000", false, "not what its shape"}, /* 16 bytes for 8 */
        {"0801 1204 12020802 2808 2080808080808080807f 35 00000000", false, "beyond the end"},
        {"0801 1204 12020802 2808 20ffffffffffffffff7f 35 00000000", false, "beyond the end"},
        {"0801 1204 12020802 2808 20ffffffffffffffffff01 35 00000000", true, "place"},
        {"0801 1204 12020802 2808 1801 35 00000000", false, "data file 1 of 1"},
        {"0801 1204 12020802 2808 18ffffffffffffffffff01 35 00000000", true, "place"},
        {"0801 1204 12020802 2808 35 01000000", false, "checksum"},
        {"0801 120d 120b 08ffffffffffffffffff01 2808", true, "shape"}, /* dim -1 */
        {"0801 1218 120a 08ffffffffffffffff7f 120a 08ffffffffffffffff7f 2808", true, "shape"},
        {"0801 1202 1801 2808", true, "shape"},   /* unknown rank */
        {"0801 1204 12020802 28", true, "entry"}, /* cut */
        {"0807 120b 1209 0880808080808080 7f 2808", false, "not what its shape"},
        {"0807 1207 12050880808040 2808 35 00000000", false,
         "not what its shape"}, /* 2^27 strings */
        {"0801 1204 12020802 3a00", true, "dimensions"},
        {"0801 1200 3a00", true, "dimensions"}, /* pieces of a scalar */
        {"0801 1204 12020802 3a04 0a021001", false, "don't cover"},
        {"0801 1204 12020802 3a04 0a021002", false, "is missing"},
        {"0801 120b 1209 08ffffffffffffff3f 2808", false, "not what its shape"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_test_dir *d = *state;
        put_entry(d, cases[i].hex, "0000003f000080bf");
        sb_bundle *b = NULL;
        sb_err err = {0};
        sb_buf out = made_buf();
        sb_arena arena;
        sb_slice *strings;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
        sb_status status = sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, sb_test_dir_path(d),
                                          SB_LIT("x"), NULL, &err);
        if ((status != SB_OK) != cases[i].at_open)
            fail_msg("case %zu: opening says %s", i, status == SB_OK ? "ok" : err.text);
        if (status == SB_OK) {
            const sb_bundle_tensor *t = sb_bundle_at(b, 0);
            status = t->dtype == SB_STRING ? sb_bundle_read_strings(b, t, &arena, &strings, &err)
                                           : made_read(b, t, &out, &err);
        }
        assert_int_equal(status, SB_CORRUPT);
        if (!strstr(err.text, cases[i].reason))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, cases[i].reason);
        assert_int_equal(out.n, 0);
        sb_bundle_close(b);
        sb_buf_fini(&out);
        sb_arena_fini(&arena);
    }
}

static void headers_are_looked_at(void **state) {
    static const struct {
        const char *hex;
        sb_status status;
    } cases[] = {
        {"", SB_OK}, /* of before September 2016 */
        {"0801 1a020801", SB_OK},
        {"0801 1a0408011002", SB_INVALID},    /* for readers from 2 on */
        {"0801 1a050801 1a0101", SB_INVALID}, /* not for readers of version 1 */
        {"0801 1a0b 08ffffffffffffffffff01", SB_INVALID},
        {"08ffffffffffffffffff01", SB_CORRUPT},
        {"0801 1a", SB_CORRUPT},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t room[64];
        sb_buf entries = made_buf(), file = made_buf();
        made_entry(&entries, 0, SB_LIT(""), sb_test_bytes(room, sizeof room, cases[i].hex));
        made_table(&file, sb_buf_slice(&entries));
        sb_test_dir_put(*state, "x.index", sb_buf_slice(&file));
        sb_bundle *b;
        sb_err err = {0};
        sb_status status = sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc,
                                          sb_test_dir_path(*state), SB_LIT("x"), NULL, &err);
        if (status != cases[i].status) fail_msg("case %zu: %s", i, sb_status_name(status));
        sb_bundle_close(b);
        sb_buf_fini(&entries);
        sb_buf_fini(&file);
    }
}

/* Two pieces of t [4] float; the test says where they are. */
static sb_status read_pieces(sb_test_dir *d, const int64_t *first, const int64_t *second,
                             sb_buf *out, sb_err *err) {
    uint8_t data[64] = {0}, entry[64], whole[64];
    for (uint32_t i = 0; i < 4; i++) sb_store32(data + 4 * i, i);
    sb_buf entries = made_buf(), file = made_buf(), keys[2] = {made_buf(), made_buf()};
    const int64_t *extents[2] = {first, second};
    made_entry(&entries, 0, SB_LIT(""), HEADER);
    for (size_t i = 0; i < 2; i++) sb_slice_key_add(&keys[i], SB_LIT("t"), extents[i], 1);
    bool is_swapped = sb_slice_cmp(sb_buf_slice(&keys[0]), sb_buf_slice(&keys[1])) > 0;
    for (size_t k = 0; k < 2; k++) {
        size_t i = is_swapped ? 1 - k : k;
        uint32_t n = (uint32_t)extents[i][1], at = i ? (uint32_t)first[1] : 0;
        char hex[80];
        snprintf(hex, sizeof hex, "0801 1204 120208%02x 20%02x 28%02x 35", n, 4 * at, 4 * n);
        sb_slice head = sb_test_bytes(entry, sizeof entry, hex);
        sb_store32(entry + head.n, sb_crc32c_masked(data + 4 * at, 4 * n));
        made_entry(&entries, 0, sb_buf_slice(&keys[i]), sb_slice_of(entry, head.n + 4));
    }
    char hex[80];
    snprintf(hex, sizeof hex, "0801 1204 12020804 3a06 0a04 08%02x 10%02x 3a06 0a04 08%02x 10%02x",
             (unsigned)first[0], (unsigned)first[1], (unsigned)second[0], (unsigned)second[1]);
    made_entry(&entries, 0, SB_LIT("t"), sb_test_bytes(whole, sizeof whole, hex));
    made_table(&file, sb_buf_slice(&entries));
    sb_test_dir_put(d, "x.index", sb_buf_slice(&file));
    sb_test_dir_put(d, "x.data-00000-of-00001", sb_slice_of(data, 16));
    sb_bundle *b = open_in(d, "x");
    assert_int_equal(sb_bundle_count(b), 1);
    sb_status status = made_read(b, sb_bundle_at(b, 0), out, err);
    sb_bundle_close(b);
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
    sb_buf_fini(&keys[0]);
    sb_buf_fini(&keys[1]);
    return status;
}

static void pieces_cover_the_whole_once_or_are_refused(void **state) {
    static const struct {
        int64_t first[2], second[2];
        const char *reason; /* NULL: fine */
    } cases[] = {
        {{0, 1}, {1, 3}, NULL},          {{3, 1}, {0, 3}, NULL},      {{0, 2}, {1, 2}, "overlap"},
        {{0, 1}, {2, 1}, "don't cover"}, {{0, 3}, {1, 3}, "overlap"}, {{2, 3}, {0, 1}, "outside"},
        {{5, 1}, {0, 3}, "outside"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_buf out = made_buf();
        sb_err err = {0};
        sb_status status = read_pieces(*state, cases[i].first, cases[i].second, &out, &err);
        if (cases[i].reason) {
            assert_int_equal(status, SB_CORRUPT);
            if (!strstr(err.text, cases[i].reason)) fail_msg("case %zu: %s", i, err.text);
        } else {
            assert_ok(status, &err);
            assert_int_equal(out.n, 16);
            uint32_t moved = (uint32_t)cases[i].first[0];
            for (uint32_t k = 0; k < 4; k++)
                assert_int_equal(sb_load32(out.p + 4 * ((k + moved) % 4)), k);
        }
        sb_buf_fini(&out);
    }
}

static void numbers_of_the_other_byte_order_are_turned(void **state) {
    uint8_t room[64];
    sb_buf entries = made_buf(), file = made_buf();
    made_entry(&entries, 0, SB_LIT(""), SB_LIT("\x08\x01\x10\x01\x1a\x02\x08\x01"));
    uint8_t entry[64];
    sb_slice data = sb_test_bytes(room, sizeof room, "3f000000 bf800000 40000000 c0000000");
    sb_slice head = sb_test_bytes(entry, sizeof entry, "0808 1204 12020802 2810 35");
    sb_store32(entry + head.n, sb_crc32c_masked(data.p, data.n));
    made_entry(&entries, 0, SB_LIT("c"), sb_slice_of(entry, head.n + 4));
    made_table(&file, sb_buf_slice(&entries));
    sb_test_dir_put(*state, "x.index", sb_buf_slice(&file));
    sb_test_dir_put(*state, "x.data-00000-of-00001", data);
    sb_bundle *b = open_in(*state, "x");
    sb_buf out = made_buf();
    sb_err err;
    assert_ok(made_read(b, sb_bundle_at(b, 0), &out, &err), &err);
    static const float expected[] = {0.5f, -1.0f, 2.0f, -2.0f};
    for (size_t i = 0; i < 4; i++)
        assert_true(sb_bits_float(sb_load32(out.p + 4 * i)) == expected[i]);
    sb_bundle_close(b);
    sb_buf_fini(&out);
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
}

static void nothing_outside_of_the_directory_is_opened(void **state) {
    sb_test_dir *d = *state;
    put_golden(d);
    sb_test_dir_put(d, "inner/x", SB_LIT(""));
    static const char *const prefixes[] = {"../g", "/etc/passwd", "~/g", "", "inner/../../g"};
    for (size_t i = 0; i < SB_COUNT(prefixes); i++) {
        sb_bundle *b;
        sb_err err;
        assert_int_equal(sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc,
                                        sb_test_dir_join(d, "inner"), sb_slice_str(prefixes[i]),
                                        NULL, &err),
                         i == 3 ? SB_NOT_FOUND : SB_INVALID);
        assert_null(b);
    }
}

/* ---- boxes, many at once, mappings ----------------------------------------------------------- */

/* A bundle "x" of float tensors "a", "b", ... whose elements count up from 0 over all of them. */
static void put_floats(sb_test_dir *d, const uint32_t *counts, size_t n, const char *shape_of_a) {
    sb_buf entries = made_buf(), file = made_buf(), data = made_buf();
    made_entry(&entries, 0, SB_LIT(""), HEADER);
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        sb_buf entry = made_buf();
        uint8_t room[64];
        size_t at = data.n;
        for (uint32_t k = 0; k < counts[i]; k++) made_u32(&data, sb_float_bits((float)next++));
        sb_pb_add_uint(&entry, SB_BUNDLE_ENTRY_DTYPE, SB_FLOAT);
        if (i == 0 && shape_of_a) {
            sb_pb_add_bytes(&entry, SB_BUNDLE_ENTRY_SHAPE,
                            sb_test_bytes(room, sizeof room, shape_of_a));
        } else {
            size_t shape = sb_pb_begin(&entry, SB_BUNDLE_ENTRY_SHAPE, 8);
            size_t dim = sb_pb_begin(&entry, SB_SHAPE_DIM, 6);
            sb_pb_add_uint(&entry, SB_DIM_SIZE, counts[i]);
            sb_pb_end(&entry, dim);
            sb_pb_end(&entry, shape);
        }
        sb_pb_add_uint_nz(&entry, SB_BUNDLE_ENTRY_OFFSET, at);
        sb_pb_add_uint(&entry, SB_BUNDLE_ENTRY_SIZE, data.n - at);
        sb_pb_add_key(&entry, SB_BUNDLE_ENTRY_CRC32C, SB_PB_FIXED32);
        made_u32(&entry, sb_crc32c_masked(data.p + at, data.n - at));
        uint8_t name = (uint8_t)('a' + i);
        made_entry(&entries, 0, sb_slice_of(&name, 1), sb_buf_slice(&entry));
        sb_buf_fini(&entry);
    }
    made_table(&file, sb_buf_slice(&entries));
    sb_test_dir_put(d, "x.index", sb_buf_slice(&file));
    sb_test_dir_put(d, "x.data-00000-of-00001", sb_buf_slice(&data));
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
    sb_buf_fini(&data);
}

static void any_box_is_read_into_the_callers_memory(void **state) {
    const uint32_t counts[] = {24};
    put_floats(*state, counts, 1, "1202 0802 1202 0803 1202 0804"); /* [2, 3, 4] */
    sb_bundle *b = open_in(*state, "x");
    const sb_bundle_tensor *t = sb_bundle_at(b, 0);
    sb_err err;
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++)
                for (int64_t ni = 0; ni <= 2 - i; ni++)
                    for (int64_t nj = 0; nj <= 3 - j; nj++)
                        for (int64_t nk = 0; nk <= 4 - k; nk++) {
                            float out[24];
                            size_t n = (size_t)(ni * nj * nk);
                            const int64_t extents[] = {i, ni, j, nj, k, nk};
                            assert_ok(sb_bundle_read_box(b, t, extents, out, n * 4, &err), &err);
                            for (size_t at = 0; at < n; at++) {
                                int64_t x = (int64_t)at / (nj * nk), y = (int64_t)at / nk % nj,
                                        z = (int64_t)at % nk;
                                assert_true(out[at] == (float)(((x + i) * 3 + y + j) * 4 + z + k));
                            }
                        }
    float all[24];
    assert_ok(sb_bundle_read_box(b, t, NULL, all, sizeof all, &err), &err);
    assert_true(all[23] == 23);
    assert_int_equal(sb_bundle_read_box(b, t, NULL, all, sizeof all - 4, &err), SB_INVALID);
    const int64_t outside[] = {0, 2, 0, 4, 0, 4}, whole[] = {1, 1, 0, -1, 0, -1};
    assert_int_equal(sb_bundle_read_box(b, t, outside, all, sizeof all, &err), SB_INVALID);
    assert_ok(sb_bundle_read_box(b, t, whole, all, 48, &err), &err);
    assert_true(all[0] == 12 && all[11] == 23);
    sb_bundle_close(b);
}

static void a_column_of_a_long_tensor_is_streamed(void **state) {
    const uint32_t counts[] = {300000};
    put_floats(*state, counts, 1, "1204 08a09c01 1202 080f"); /* [20000, 15] */
    sb_bundle *b = open_in(*state, "x");
    float *column = malloc(20000 * sizeof *column);
    const int64_t extents[] = {0, 20000, 7, 1};
    sb_err err;
    assert_ok(sb_bundle_read_box(b, sb_bundle_at(b, 0), extents, column, 80000, &err), &err);
    for (size_t i = 0; i < 20000; i++) assert_true(column[i] == (float)(15 * i + 7));
    free(column);
    sb_bundle_close(b);
}

static void many_tensors_are_read_at_once(void **state) {
    /* "b" is larger than a part of 16 MiB, so that checksums of parts are joined */
    const uint32_t counts[] = {3, 9000001, 0, 100000};
    put_floats(*state, counts, 4, NULL);
    sb_bundle *b = open_in(*state, "x");
    for (unsigned threads = 0; threads < 4; threads++) {
        sb_bundle_request requests[4];
        float *rooms[4];
        sb_err err;
        for (size_t i = 0; i < 4; i++) {
            const sb_bundle_tensor *t = sb_bundle_at(b, i);
            rooms[i] = malloc((size_t)t->size + 1);
            requests[i] = (sb_bundle_request){.t = t, .to = rooms[i], .n = (size_t)t->size};
            assert_int_equal(sb_bundle_bytes(b, t), t->size);
        }
        assert_ok(sb_bundle_read_many(b, requests, 4, threads, &err), &err);
        assert_true(rooms[0][2] == 2 && rooms[1][0] == 3 && rooms[3][99999] == 9100003);
        for (size_t i = 0; i < 9000001; i++)
            if (rooms[1][i] != (float)(i + 3)) fail_msg("element %zu", i);
        for (size_t i = 0; i < 4; i++) free(rooms[i]);
    }
    sb_bundle_close(b);
}

static void a_changed_byte_is_noticed_in_a_part_and_in_a_mapping(void **state) {
    const uint32_t counts[] = {5000000};
    put_floats(*state, counts, 1, NULL);
    const char *path = sb_test_dir_join(*state, "x.data-00000-of-00001");
    sb_slice data = sb_test_dir_get(*state, path);
    uint8_t *changed = malloc(data.n);
    memcpy(changed, data.p, data.n);
    sb_bundle *b = open_in(*state, "x");
    const sb_bundle_tensor *t = sb_bundle_at(b, 0);
    sb_slice mapped;
    sb_err err;
    assert_ok(sb_bundle_map(b, t, true, &mapped, &err), &err);
    assert_slice_equal(mapped, data);
    assert_ok(sb_bundle_verify(b, t, &err), &err);
    sb_bundle_close(b);
    changed[data.n - 1] ^= 1;
    sb_test_dir_put(*state, "x.data-00000-of-00001", sb_slice_of(changed, data.n));
    b = open_in(*state, "x");
    t = sb_bundle_at(b, 0);
    sb_bundle_request request = {.t = t, .to = changed, .n = data.n};
    assert_int_equal(sb_bundle_read_many(b, &request, 1, 2, &err), SB_CORRUPT);
    assert_non_null(strstr(err.text, "checksum of 'a'"));
    assert_int_equal(sb_bundle_map(b, t, true, &mapped, &err), SB_CORRUPT);
    assert_ok(sb_bundle_map(b, t, false, &mapped, &err), &err);
    assert_int_equal(sb_bundle_verify(b, t, &err), SB_CORRUPT);
    sb_bundle_close(b);
    free(changed);
}

static void a_missing_data_file_is_named_with_its_variable(void **state) {
    put_golden(*state);
    remove(sb_test_dir_join(*state, "g.data-00000-of-00001"));
    sb_bundle *b = open_in(*state, "g");
    float out[2];
    sb_err err;
    assert_int_equal(sb_bundle_read_box(b, sb_bundle_at(b, 0), NULL, out, 8, &err), SB_NOT_FOUND);
    assert_non_null(strstr(err.text, "g.data-00000-of-00001"));
    assert_non_null(strstr(err.text, "'b'"));
    sb_bundle_close(b);
}

/* ---- limits and faults ----------------------------------------------------------------------- */

static void limits_hold(void **state) {
    put_golden(*state);
    for (int which = 0; which < 3; which++) {
        sb_bundle_limits limits = sb_bundle_default_limits;
        if (which == 0) limits.max_index = 100;
        if (which == 1) limits.max_key = 4;
        if (which == 2) limits.max_memory = 64;
        sb_bundle *b;
        sb_err err;
        sb_status status = sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc,
                                          sb_test_dir_path(*state), SB_LIT("g"), &limits, &err);
        assert_true(status == SB_LIMIT || (which == 2 && status == SB_NOMEM));
    }
}

static sb_status read_all(const sb_fs *fs, const sb_alloc *alloc, const char *dir, sb_err *err) {
    sb_bundle *b;
    sb_buf out;
    sb_arena arena;
    sb_buf_init(&out, alloc, 1 << 20);
    sb_arena_init(&arena, alloc, 4096, 1 << 20);
    sb_status status = sb_bundle_open(&b, fs, alloc, dir, SB_LIT("g"), NULL, err);
    for (size_t i = 0; status == SB_OK && i < sb_bundle_count(b); i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        sb_slice *strings;
        if (t->dtype == SB_STRING)
            status = sb_bundle_read_strings(b, t, &arena, &strings, err);
        else
            status = sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t) / 2, &out, err);
    }
    sb_bundle_close(b);
    sb_arena_fini(&arena);
    sb_buf_fini(&out);
    return status;
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    sb_err err;
    return read_all(&sb_fs_local, alloc, ud, &err);
}

static void failing_memory_is_reported(void **state) {
    put_golden(*state);
    sb_fault_alloc_sweep(read_with, (void *)(uintptr_t)sb_test_dir_path(*state));
}

static void failing_calls_are_reported_and_files_closed(void **state) {
    put_golden(*state);
    static const sb_fault_call calls[] = {SB_CALL_OPEN, SB_CALL_READ, SB_CALL_INFO};
    for (size_t c = 0; c < SB_COUNT(calls); c++)
        for (uint64_t n = 1;; n++) {
            sb_fault_fs f;
            sb_err err = {0};
            sb_fault_fs_init(&f, &sb_fs_local);
            sb_fault_fs_fail(&f, calls[c], n, EIO, false);
            sb_fault_fs_short(&f, 3, 0);
            sb_status status = read_all(&f.fs, &sb_alloc_libc, sb_test_dir_path(*state), &err);
            bool failed = sb_fault_fs_failures(&f) > 0;
            sb_fault_fs_fini(&f);
            assert_int_equal(status, failed ? SB_IO : SB_OK);
            if (!failed) break;
        }
}

static void damaged_files_never_give_other_values(void **state) {
    sb_test_dir *d = *state;
    static const char *const names[] = {"g.index", "g.data-00000-of-00001"};
    for (size_t k = 0; k < 2; k++) {
        uint8_t room[256];
        sb_slice good = sb_test_bytes(room, sizeof room, k ? GOLDEN_DATA : GOLDEN_INDEX);
        for (size_t bit = 0; bit < good.n * 8; bit++) {
            put_golden(d);
            room[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            sb_test_dir_put(d, names[k], good);
            room[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            sb_err err = {0};
            sb_status status = read_all(&sb_fs_local, &sb_alloc_libc, sb_test_dir_path(d), &err);
            bool harmless = k == 0 && bit / 8 >= 106; /* metaindex and padding */
            if (status != SB_CORRUPT && !(harmless && status == SB_OK))
                fail_msg("%s, bit %zu: %s", names[k], bit, sb_status_name(status));
        }
        for (size_t cut = 0; cut < good.n; cut++) {
            put_golden(d);
            sb_test_dir_put(d, names[k], sb_slice_of(room, cut));
            sb_err err = {0};
            assert_int_equal(read_all(&sb_fs_local, &sb_alloc_libc, sb_test_dir_path(d), &err),
                             SB_CORRUPT);
        }
    }
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(the_golden_bundle_is_read),
        cmocka_unit_test(keys_of_pieces_are_as_tensorflow_spells_them),
        ON_DISK(entries_that_lie_are_refused),
        ON_DISK(headers_are_looked_at),
        ON_DISK(pieces_cover_the_whole_once_or_are_refused),
        ON_DISK(numbers_of_the_other_byte_order_are_turned),
        ON_DISK(nothing_outside_of_the_directory_is_opened),
        ON_DISK(any_box_is_read_into_the_callers_memory),
        ON_DISK(a_column_of_a_long_tensor_is_streamed),
        ON_DISK(many_tensors_are_read_at_once),
        ON_DISK(a_changed_byte_is_noticed_in_a_part_and_in_a_mapping),
        ON_DISK(a_missing_data_file_is_named_with_its_variable),
        ON_DISK(limits_hold),
        ON_DISK(failing_memory_is_reported),
        ON_DISK(failing_calls_are_reported_and_files_closed),
        ON_DISK(damaged_files_never_give_other_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
