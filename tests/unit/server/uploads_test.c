/* uploads_test.c: files that were sent are there once each, until there is no room. */
#include "server/uploads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/test.h"
#include "base/banned.h"

static sb_uploads *uploads_of(uint64_t bytes) {
    sb_uploads *u;
    sb_err err;
    assert_ok(sb_uploads_new(&u, &sb_alloc_libc, NULL, bytes, &err), &err);
    return u;
}

static sb_status read_back(sb_uploads *u, const char *name, sb_slice wanted) {
    sb_arena arena;
    sb_slice got;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_status status = sb_uploads_read(u, sb_slice_str(name), &arena, &got, &err);
    if (status == SB_OK && !sb_slice_eq(got, wanted)) status = SB_CORRUPT;
    sb_arena_fini(&arena);
    return status;
}

static void a_file_is_read_back_and_named_by_its_bytes(void **state) {
    (void)state;
    sb_uploads *u = uploads_of(100);
    char one[SB_UPLOAD_NAME], again[SB_UPLOAD_NAME], other[SB_UPLOAD_NAME];
    uint64_t bytes;
    sb_err err;
    assert_ok(sb_uploads_keep(u, SB_LIT("graph"), one, &err), &err);
    assert_ok(sb_uploads_keep(u, SB_LIT("graph"), again, &err), &err);
    assert_ok(sb_uploads_keep(u, SB_LIT(""), other, &err), &err);
    assert_int_equal(strlen(one), SB_UPLOAD_NAME - 1);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    assert_true(sb_uploads_find(u, sb_slice_str(one), &bytes) && bytes == 5);
    assert_int_equal(read_back(u, one, SB_LIT("graph")), SB_OK);
    assert_int_equal(read_back(u, other, SB_LIT("")), SB_OK);
    assert_int_equal(read_back(u, "nothing", SB_LIT("")), SB_REPLACED);
    sb_uploads_free(u);
}

static void names_are_the_same_after_a_restart(void **state) {
    (void)state;
    char names[2][SB_UPLOAD_NAME];
    sb_err err;
    for (int i = 0; i < 2; i++) {
        sb_uploads *u = uploads_of(100);
        assert_ok(sb_uploads_keep(u, SB_LIT("graph"), names[i], &err), &err);
        sb_uploads_free(u);
    }
    assert_string_equal(names[0], names[1]);
}

/* Two files of one fingerprint. xxh3 multiplies the halves of each 8 bytes, xored with its secret,
 * and adds the 8 bytes to another sum: where the lower half is that of the secret, the product is 0
 * whatever the upper half is, and two upper halves can change places without a trace. */
static void make_twins(uint8_t one[512], uint8_t other[512]) {
    static const uint8_t secret[2][4] = {{0xb8, 0xfe, 0x6c, 0x39}, {0x7c, 0x01, 0x81, 0x2c}};
    memset(one, 7, 512);
    memcpy(one, secret[0], 4);
    memcpy(one + 64, secret[1], 4);
    memset(one + 4, 1, 4);
    memset(one + 68, 2, 4);
    memcpy(other, one, 512);
    memset(other + 4, 2, 4);
    memset(other + 68, 1, 4);
}

static void files_of_one_fingerprint_are_kept_apart(void **state) {
    (void)state;
    uint8_t one[512], other[512];
    char print[SB_FINGERPRINT_TEXT], same[SB_FINGERPRINT_TEXT];
    char names[2][SB_UPLOAD_NAME], again[SB_UPLOAD_NAME];
    sb_err err;
    make_twins(one, other);
    sb_slice twins[2] = {sb_slice_of(one, sizeof one), sb_slice_of(other, sizeof other)};
    sb_fingerprint(twins[0], 0, print);
    sb_fingerprint(twins[1], 0, same);
    assert_string_equal(print, same);
    sb_uploads *u = uploads_of(4096);
    for (int i = 0; i < 2; i++) assert_ok(sb_uploads_keep(u, twins[i], names[i], &err), &err);
    assert_string_not_equal(names[0], names[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_back(u, names[i], twins[i]), SB_OK);
        assert_ok(sb_uploads_keep(u, twins[i], again, &err), &err);
        assert_string_equal(again, names[i]);
    }
    sb_uploads_free(u);
}

static void the_longest_unused_make_room(void **state) {
    (void)state;
    sb_uploads *u = uploads_of(25);
    char names[3][SB_UPLOAD_NAME], large[SB_UPLOAD_NAME];
    const char *const files[] = {"0123456789", "1234567890", "2345678901"};
    sb_err err;
    for (int i = 0; i < 3; i++) {
        assert_ok(sb_uploads_keep(u, sb_slice_str(files[i]), names[i], &err), &err);
        assert_int_equal(read_back(u, names[0], SB_LIT("0123456789")), SB_OK); /* used again */
    }
    assert_int_equal(read_back(u, names[1], SB_LIT("1234567890")), SB_REPLACED);
    assert_int_equal(read_back(u, names[2], SB_LIT("2345678901")), SB_OK);
    assert_int_equal(sb_uploads_keep(u, SB_LIT("more than there is room for"), large, &err),
                     SB_LIMIT);
    assert_int_equal(read_back(u, names[0], SB_LIT("0123456789")), SB_OK);
    sb_uploads_free(u);
}

enum { THREADS = 4, ROUNDS = 200 };

static void *work(void *ud) {
    sb_uploads *u = ud;
    for (int i = 0; i < ROUNDS; i++) {
        char text[16], name[SB_UPLOAD_NAME];
        int n = snprintf(text, sizeof text, "file %d", i % 7);
        sb_slice bytes = sb_slice_of(text, (size_t)n);
        if (sb_uploads_keep(u, bytes, name, NULL) != SB_OK) return u;
        sb_status status = read_back(u, name, bytes);
        if (status != SB_OK && status != SB_REPLACED) return u;
    }
    return NULL;
}

static void threads_send_equal_files_while_others_are_let_go(void **state) {
    (void)state;
    sb_uploads *u = uploads_of(20);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, u), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    sb_uploads_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_back_and_named_by_its_bytes),
        cmocka_unit_test(names_are_the_same_after_a_restart),
        cmocka_unit_test(files_of_one_fingerprint_are_kept_apart),
        cmocka_unit_test(the_longest_unused_make_room),
        cmocka_unit_test(threads_send_equal_files_while_others_are_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
