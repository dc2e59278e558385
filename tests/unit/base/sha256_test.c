/* sha256_test.c: the published vectors, and every length around a block's end. */
#include "base/sha256.h"

#include "support/test.h"

#include "base/banned.h"

static void published_vectors_hold(void **state) {
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "mno"
         "pqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        char hex[SB_SHA256_HEX + 1];
        sb_sha256_hex(sb_slice_str(cases[i].text), hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

static void a_million_letters_hash_as_published(void **state) {
    size_t n = 1000000;
    uint8_t *data = test_malloc(n);
    char hex[SB_SHA256_HEX + 1];
    (void)state;
    memset(data, 'a', n);
    sb_sha256_hex(sb_slice_of(data, n), hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    test_free(data);
}

/* Digests of 0, 1, ... 130 zero bytes, hashed together: one wrong padding changes the sum. */
static void every_length_around_a_block_is_padded_rightly(void **state) {
    uint8_t zeros[131] = {0}, digests[131 * SB_SHA256_BYTES];
    char hex[SB_SHA256_HEX + 1];
    (void)state;
    for (size_t n = 0; n <= 130; n++)
        sb_sha256(sb_slice_of(zeros, n), digests + n * SB_SHA256_BYTES);
    sb_sha256_hex(sb_slice_of(digests, sizeof digests), hex);
    assert_string_equal(hex, "d6e99a52e4f306ac462a8669cfa9744fc9ac0cd54f1c1c92b91d2e3257397ead");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors_hold),
        cmocka_unit_test(a_million_letters_hash_as_published),
        cmocka_unit_test(every_length_around_a_block_is_padded_rightly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
