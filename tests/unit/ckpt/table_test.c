/* table_test.c: index tables: what TensorFlow writes is read, what lies is refused. */
#include "ckpt/table/table.h"

#include "ckpt/table/snappy.h"
#include "support/fault_alloc.h"
#include "unit/ckpt/made.h"
#include "base/banned.h"

static const sb_table_limits limits = {
    .max_key = 1000, .max_block = 1 << 20, .max_unpacked = 1 << 20};

/* The table of the checkpoint {b, global_step, s, z}. */
#define GOLDEN                                                                                     \
    "00000608011a02080100010f620801120412020802280835c5af2152000b0d67"                             \
    "6c6f62616c5f73746570080912002008280835bbd79f11000111730807120412"                             \
    "02080220102808359e9e48ed00010d7a080112021200201835d8ea82a2000000"                             \
    "00010000000005704a75000000000100000000c0f2a1b00001027b0065000000"                             \
    "0001000000001cf9a45a6a08770e000000000000000000000000000000000000"                             \
    "00000000000000000000000000000000000057fb808b247547db"

/* Walks all of it: how many entries, or the failure. */
static sb_status walk(const sb_alloc *alloc, sb_slice file, const sb_table_limits *l, size_t *count,
                      sb_err *err) {
    sb_table t;
    sb_slice key, value;
    size_t n = 0;
    sb_status status = sb_table_init(&t, alloc, "table", file, l, err);
    while (status == SB_OK) {
        status = sb_table_next(&t, &key, &value, err);
        if (status == SB_OK) n++;
    }
    sb_table_fini(&t);
    if (count) *count = n;
    return status;
}

static void expect_refusal(sb_buf *file, const char *reason) {
    sb_err err = {0};
    sb_status status = walk(&sb_alloc_libc, sb_buf_slice(file), &limits, NULL, &err);
    if (status != SB_CORRUPT && status != SB_LIMIT)
        fail_msg("\"%s\": answered %s", reason, sb_status_name(status));
    if (!strstr(err.text, reason)) fail_msg("\"%s\" lacks \"%s\"", err.text, reason);
    sb_buf_fini(file);
}

static sb_slice golden(uint8_t room[256]) {
    return sb_test_bytes(room, 256, GOLDEN);
}

static void the_golden_table_is_walked(void **state) {
    (void)state;
    static const char *const keys[] = {"", "b", "global_step", "s", "z"};
    uint8_t room[256];
    sb_table t;
    sb_slice key, value;
    sb_err err;
    assert_ok(sb_table_init(&t, &sb_alloc_libc, "g", golden(room), &limits, &err), &err);
    for (size_t i = 0; i < SB_COUNT(keys); i++) {
        assert_ok(sb_table_next(&t, &key, &value, &err), &err);
        assert_slice_is(key, keys[i]);
    }
    assert_int_equal(value.n, 13);
    assert_int_equal(sb_table_next(&t, &key, &value, &err), SB_END);
    assert_int_equal(sb_table_next(&t, &key, &value, &err), SB_END);
    sb_table_fini(&t);
}

static void keys_share_prefixes_within_a_block(void **state) {
    (void)state;
    sb_buf entries = made_buf(), file = made_buf();
    made_entry(&entries, 0, SB_LIT("layer/bias"), SB_LIT("1"));
    made_entry(&entries, 6, SB_LIT("kernel"), SB_LIT("2"));
    made_entry(&entries, 12, SB_LIT("2"), SB_LIT(""));
    made_table(&file, sb_buf_slice(&entries));
    sb_table t;
    sb_slice key, value;
    sb_err err;
    assert_ok(sb_table_init(&t, &sb_alloc_libc, "t", sb_buf_slice(&file), &limits, &err), &err);
    assert_ok(sb_table_next(&t, &key, &value, &err), &err);
    assert_slice_is(key, "layer/bias");
    assert_ok(sb_table_next(&t, &key, &value, &err), &err);
    assert_slice_is(key, "layer/kernel");
    assert_slice_is(value, "2");
    assert_ok(sb_table_next(&t, &key, &value, &err), &err);
    assert_slice_is(key, "layer/kernel2");
    sb_table_fini(&t);
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
}

static void compressed_blocks_are_unpacked(void **state) {
    (void)state;
    /* entry "aaaaaaaa" -> "" as: literal of 4 bytes, a copy that runs into itself, the restarts */
    static const char packed[] = "\x13"                 /* 19 bytes */
                                 "\x0c\x00\x08\x00\x61" /* literal 00 08 00 'a' */
                                 "\x0d\x01"             /* copy 7 from 1 back */
                                 "\x1c\x00\x00\x00\x00\x01\x00\x00\x00";
    sb_buf file = made_buf();
    made_handle h = made_block(&file, sb_slice_of(packed, sizeof packed - 1), 1);
    made_index(&file, &h, 1);
    sb_table t;
    sb_slice key, value;
    sb_err err;
    assert_ok(sb_table_init(&t, &sb_alloc_libc, "t", sb_buf_slice(&file), &limits, &err), &err);
    assert_ok(sb_table_next(&t, &key, &value, &err), &err);
    assert_slice_is(key, "aaaaaaaa");
    assert_int_equal(sb_table_next(&t, &key, &value, &err), SB_END);
    sb_table_fini(&t);
    sb_table_limits small = limits;
    small.max_unpacked = 18;
    assert_int_equal(walk(&sb_alloc_libc, sb_buf_slice(&file), &small, NULL, &err), SB_LIMIT);
    sb_buf_fini(&file);
}

static void broken_snappy_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        size_t n;
    } cases[] = {
        {"", 0},                 /* no length */
        {"05", 5},               /* nothing behind it */
        {"01 0061 0061", 1},     /* more than it says */
        {"02 0061", 2},          /* less */
        {"08 0061 0d02", 8},     /* a copy from before the beginning */
        {"08 0061 0d00", 8},     /* a copy from nowhere */
        {"08 0061 0d", 8},       /* cut */
        {"08 0061 0e01", 8},     /* two-byte offset cut */
        {"08 0061 0f010000", 8}, /* four-byte offset cut */
        {"08 f0", 8},            /* length of a literal cut */
        {"08 fcffffffff61", 8},  /* a literal of 4 GiB */
        {"02 0061 0d01", 2},     /* a copy past the end */
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t room[64], out[64];
        sb_slice in = sb_test_bytes(room, sizeof room, cases[i].hex);
        if (sb_snappy_decode(in, out, cases[i].n)) fail_msg("took %s", cases[i].hex);
    }
    uint8_t room[64], out[8];
    uint64_t n;
    assert_true(sb_snappy_decode(sb_test_bytes(room, 64, "08 0061 1a0100"), out, 8));
    assert_memory_equal(out, "aaaaaaaa", 8);
    assert_true(sb_snappy_decode(sb_test_bytes(room, 64, "08 f00061 1b01000000"), out, 8));
    assert_true(sb_snappy_decode(sb_test_bytes(room, 64, "00"), out, 0));
    assert_false(sb_snappy_length(sb_test_bytes(room, 64, "8080808080 01"), &n));
}

/* ---- lies with good checksums ---------------------------------------------------------------- */

static void entries_that_run_out_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *entries;
        const char *reason;
    } cases[] = {
        {"00 05 00 61", "runs out"}, /* key past the end */
        {"00 01 09 61", "runs out"}, /* value past the end */
        {"01 01 00 61", "runs out"}, /* shares with nothing */
        {"00 ffffffffffffffffff01 00 61", "runs out"},
        {"00 01 ffffffffffffffffff01 61", "runs out"},
        {"00 01", "cut"},                   /* lengths cut */
        {"80808080808080808080 01", "cut"}, /* a varint of eleven bytes */
        {"00 01 00 62  00 01 00 61", "not in order"},
        {"00 01 00 61  00 01 00 61", "not in order"},
        {"00 01 00 61  01 00 00", "not in order"},
        {"00 01 00 61  02 01 00 62", "runs out"}, /* shares more than there is */
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t room[64];
        sb_buf file = made_buf();
        made_table(&file, sb_test_bytes(room, sizeof room, cases[i].entries));
        expect_refusal(&file, cases[i].reason);
    }
}

static void restarts_that_lie_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *block;
        const char *reason;
    } cases[] = {
        {"00010061 00000000 00000000", "don't fit"},       /* no restart */
        {"00010061 00000000 ffffffff", "don't fit"},       /* four billion */
        {"00010061 00000000 04000000", "don't fit"},       /* more than there is room for */
        {"0001", "don't fit"},                             /* not even a count */
        {"00010061 01000000 01000000", "not its entries"}, /* first not at 0 */
        {"00010061 00000000 02000000 02000000", "not its entries"},          /* between entries */
        {"00010061 01010062 00000000 04000000 02000000", "not its entries"}, /* shares there */
        {"00010061 00000000 ff000000 02000000", "not its entries"},          /* beyond the end */
        {"00010061 00000000 00000000 02000000", "not its entries"},          /* twice */
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t room[64];
        sb_buf file = made_buf();
        made_handle h = made_block(&file, sb_test_bytes(room, sizeof room, cases[i].block), 0);
        made_index(&file, &h, 1);
        expect_refusal(&file, cases[i].reason);
    }
}

static void handles_that_lie_are_refused(void **state) {
    (void)state;
    static const made_handle lies[] = {
        {UINT64_MAX, 1},     {0, UINT64_MAX}, {UINT64_MAX, UINT64_MAX},
        {0, UINT64_MAX - 4}, {1 << 20, 8},    {0, (uint64_t)1 << 60},
        {0, 1000},           {5, 8},
    };
    for (size_t i = 0; i < SB_COUNT(lies); i++) {
        sb_buf file = made_buf();
        made_block(&file, SB_LIT("\0\1\0a\0\0\0\0\1\0\0\0"), 0);
        made_index(&file, &lies[i], 1);
        expect_refusal(&file, i == 7 ? "checksum" : "outside");
    }
    /* the index itself, and a block that reaches into the footer */
    sb_buf file = made_buf();
    made_handle h = made_block(&file, SB_LIT("\0\1\0a\0\0\0\0\1\0\0\0"), 0);
    made_footer(&file, h, (made_handle){0, 13 + 5});
    expect_refusal(&file, "outside");
    file = made_buf();
    h = made_block(&file, SB_LIT("\0\1\0a\0\0\0\0\1\0\0\0"), 7);
    made_index(&file, &h, 1);
    expect_refusal(&file, "unknown type 7");
}

static void no_block_is_read_twice(void **state) {
    (void)state;
    sb_buf file = made_buf();
    made_handle h[4];
    h[0] = made_block(&file, SB_LIT("\0\0\0\0\1\0\0\0"), 0); /* empty: no key would tell */
    h[1] = h[2] = h[3] = h[0];
    made_index(&file, h, 4);
    expect_refusal(&file, "blocks are not in order");
    /* the index as its own data block */
    file = made_buf();
    h[0] = made_block(&file, SB_LIT("\0\4\2\xff\0\0\0\0\x15\0\0\0\0\1\0\0\0"), 0);
    made_footer(&file, h[0], h[0]);
    sb_err err = {0};
    assert_int_equal(walk(&sb_alloc_libc, sb_buf_slice(&file), &limits, NULL, &err), SB_CORRUPT);
    sb_buf_fini(&file);
}

static void order_holds_across_blocks(void **state) {
    (void)state;
    sb_buf file = made_buf();
    made_handle h[3];
    h[0] = made_block(&file, SB_LIT("\0\1\0b\0\0\0\0\1\0\0\0"), 0);
    h[1] = made_block(&file, SB_LIT("\0\0\0\0\1\0\0\0"), 0);
    h[2] = made_block(&file, SB_LIT("\0\1\0b\0\0\0\0\1\0\0\0"), 0);
    made_index(&file, h, 3);
    expect_refusal(&file, "keys are not in order");
}

static void long_keys_meet_their_limit(void **state) {
    (void)state;
    sb_buf entries = made_buf(), file = made_buf();
    uint8_t key[1001] = {0};
    made_entry(&entries, 0, sb_slice_of(key, 1001), SB_LIT(""));
    made_table(&file, sb_buf_slice(&entries));
    sb_err err = {0};
    assert_int_equal(walk(&sb_alloc_libc, sb_buf_slice(&file), &limits, NULL, &err), SB_LIMIT);
    sb_buf_fini(&entries);
    sb_buf_fini(&file);
}

/* ---- hostile suites -------------------------------------------------------------------------- */

static void short_input_is_refused_at_every_offset(void **state) {
    (void)state;
    uint8_t room[256];
    sb_slice file = golden(room);
    for (size_t cut = 0; cut < file.n; cut++) {
        sb_err err = {0};
        uint8_t *copy = sb_alloc_get(&sb_alloc_libc, cut + 1);
        memcpy(copy, file.p, cut);
        assert_int_equal(walk(&sb_alloc_libc, sb_slice_of(copy, cut), &limits, NULL, &err),
                         SB_CORRUPT);
        sb_alloc_put(&sb_alloc_libc, copy, cut + 1);
    }
}

static void every_flipped_bit_is_noticed_or_harmless(void **state) {
    (void)state;
    uint8_t room[256];
    sb_slice file = golden(room);
    for (size_t bit = 0; bit < file.n * 8; bit++) {
        size_t count = 0;
        sb_err err = {0};
        room[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        sb_status status = walk(&sb_alloc_libc, file, &limits, &count, &err);
        room[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        /* metaindex (its block is never looked at) and the footer's padding may change */
        if (status != SB_CORRUPT && !(status == SB_END && count == 5 && bit / 8 >= 106))
            fail_msg("bit %zu: %s, %zu entries", bit, sb_status_name(status), count);
    }
}

static sb_status walk_compressed(const sb_alloc *alloc, void *ud) {
    const sb_buf *file = ud;
    size_t count;
    sb_err err = {0};
    sb_status status = walk(alloc, sb_buf_slice(file), &limits, &count, &err);
    if (status == SB_END) assert_int_equal(count, 2);
    return status == SB_END ? SB_OK : status;
}

static void failing_memory_is_reported(void **state) {
    (void)state;
    sb_buf file = made_buf();
    made_handle h[2];
    h[0] = made_block(&file, SB_LIT("\x0c\x2c\0\1\0a\0\0\0\0\1\0\0\0"), 1);
    h[1] = made_block(&file, SB_LIT("\x0c\x2c\0\1\0b\0\0\0\0\1\0\0\0"), 1);
    made_index(&file, h, 2);
    sb_fault_alloc_sweep(walk_compressed, &file);
    sb_buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_golden_table_is_walked),
        cmocka_unit_test(keys_share_prefixes_within_a_block),
        cmocka_unit_test(compressed_blocks_are_unpacked),
        cmocka_unit_test(broken_snappy_is_refused),
        cmocka_unit_test(entries_that_run_out_are_refused),
        cmocka_unit_test(restarts_that_lie_are_refused),
        cmocka_unit_test(handles_that_lie_are_refused),
        cmocka_unit_test(no_block_is_read_twice),
        cmocka_unit_test(order_holds_across_blocks),
        cmocka_unit_test(long_keys_meet_their_limit),
        cmocka_unit_test(short_input_is_refused_at_every_offset),
        cmocka_unit_test(every_flipped_bit_is_noticed_or_harmless),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
