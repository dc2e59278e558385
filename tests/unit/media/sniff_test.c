/* sniff_test.c: the kinds of blobs, their sizes, and what is made of bytes that lie.
 *
 * The samples are the seeds of the fuzz target, so they live in its corpus. Pictures are 5 by 3. */
#include "media/sniff.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "base/banned.h"

static const struct sample {
    const char *name;
    sb_media media;
    sb_status size; /* what asking for the size of the whole answers */
} samples[] = {
    {"rgb.png", SB_MEDIA_PNG, SB_OK},
    {"baseline.jpg", SB_MEDIA_JPEG, SB_OK},
    {"progressive.jpg", SB_MEDIA_JPEG, SB_OK},
    {"comment_exif.jpg", SB_MEDIA_JPEG, SB_OK},
    {"grey.gif", SB_MEDIA_GIF, SB_OK},
    {"bottom_up.bmp", SB_MEDIA_BMP, SB_OK},
    {"top_down.bmp", SB_MEDIA_BMP, SB_OK},
    {"os2.bmp", SB_MEDIA_BMP, SB_OK},
    {"lossy.webp", SB_MEDIA_WEBP, SB_OK},
    {"lossless.webp", SB_MEDIA_WEBP, SB_OK},
    {"extended.webp", SB_MEDIA_WEBP, SB_OK},
    {"no_frame.jpg", SB_MEDIA_JPEG, SB_CORRUPT},
    {"zero_sized.png", SB_MEDIA_PNG, SB_CORRUPT},
    {"plain.svg", SB_MEDIA_SVG, SB_NOT_FOUND},
    {"declared.svg", SB_MEDIA_SVG, SB_NOT_FOUND},
    {"mono.wav", SB_MEDIA_WAV, SB_NOT_FOUND},
    {"frame.mp3", SB_MEDIA_MP3, SB_NOT_FOUND},
    {"id3.mp3", SB_MEDIA_MP3, SB_NOT_FOUND},
    {"page.ogg", SB_MEDIA_OGG, SB_NOT_FOUND},
    {"info.flac", SB_MEDIA_FLAC, SB_NOT_FOUND},
    {"video.mp4", SB_MEDIA_MP4, SB_NOT_FOUND},
    {"sound.m4a", SB_MEDIA_M4A, SB_NOT_FOUND},
    {"still.avif", SB_MEDIA_AVIF, SB_NOT_FOUND},
    {"text.txt", SB_MEDIA_UNKNOWN, SB_NOT_FOUND},
    {"html.html", SB_MEDIA_UNKNOWN, SB_NOT_FOUND},
    {"empty", SB_MEDIA_UNKNOWN, SB_MORE},
};

static sb_slice load(sb_test_dir *dir, const char *name) {
    char path[512];
    int n = snprintf(path, sizeof path, "%s/media_sniff/%s", SB_CORPUS, name);
    assert_in_range(n, 1, sizeof path - 1);
    return sb_test_dir_get(dir, path);
}

static void kinds_and_sizes_are_told_from_the_bytes(void **state) {
    for (size_t i = 0; i < SB_COUNT(samples); i++) {
        sb_slice bytes = load(*state, samples[i].name);
        sb_media media = sb_media_sniff(bytes);
        if (media != samples[i].media) fail_msg("%s: %s", samples[i].name, sb_media_type(media));
        uint32_t width = 0, height = 0;
        sb_err err = {0};
        sb_status status = sb_media_picture_size(&width, &height, bytes, &err);
        if (status != samples[i].size) {
            fail_msg("%s: %s: %s", samples[i].name, sb_status_name(status), err.text);
        }
        if (status == SB_OK) {
            assert_int_equal(width, 5);
            assert_int_equal(height, 3);
        } else if (status != SB_MORE) {
            assert_int_equal(err.code, status);
        }
    }
}

/* Each prefix stands in a block of its own, so that the sanitizer sees a read past its end. */
static void cut_bytes_ask_for_more_and_never_guess(void **state) {
    for (size_t i = 0; i < SB_COUNT(samples); i++) {
        sb_slice bytes = load(*state, samples[i].name);
        sb_status before = SB_MORE;
        for (size_t cut = 0; cut <= bytes.n; cut++) {
            uint8_t *copy = malloc(cut ? cut : 1);
            assert_non_null(copy);
            if (cut) memcpy(copy, bytes.p, cut);
            sb_slice prefix = sb_slice_of(copy, cut);
            sb_media media = sb_media_sniff(prefix);
            uint32_t width = 0, height = 0;
            sb_status status = sb_media_picture_size(&width, &height, prefix, NULL);
            if (before != SB_MORE) assert_int_equal(status, before); /* final once it is known */
            if (status == SB_OK) {
                assert_int_equal(width, 5);
                assert_int_equal(height, 3);
                assert_int_equal(media, samples[i].media);
            }
            if (samples[i].size == SB_OK) assert_true(status == SB_OK || status == SB_MORE);
            before = status;
            free(copy);
        }
        assert_int_equal(before, samples[i].size);
    }
}

static void flipped_bits_are_survived(void **state) {
    for (size_t i = 0; i < SB_COUNT(samples); i++) {
        sb_slice bytes = load(*state, samples[i].name);
        uint8_t *copy = malloc(bytes.n ? bytes.n : 1);
        assert_non_null(copy);
        for (size_t bit = 0; bit < bytes.n * 8; bit++) {
            memcpy(copy, bytes.p, bytes.n);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            uint32_t width = 1, height = 1;
            sb_slice flipped = sb_slice_of(copy, bytes.n);
            sb_status status = sb_media_picture_size(&width, &height, flipped, NULL);
            assert_true(status == SB_OK || status == SB_MORE || status == SB_CORRUPT ||
                        status == SB_NOT_FOUND);
            assert_true(width > 0 && height > 0);
        }
        free(copy);
    }
}

static sb_status size_of_hex(const char *hex, uint32_t *width, uint32_t *height) {
    uint8_t bytes[256];
    sb_err err = {0};
    return sb_media_picture_size(width, height, sb_test_bytes(bytes, sizeof bytes, hex), &err);
}

static void headers_that_lie_are_corrupt(void **state) {
    (void)state;
    uint32_t w = 0, h = 0;
    /* PNG: the first chunk is not IHDR, or has another length; a side over 2^31 - 1 */
    assert_int_equal(size_of_hex("89504e470d0a1a0a 0000000d 49484458 00000005 00000003", &w, &h),
                     SB_CORRUPT);
    assert_int_equal(size_of_hex("89504e470d0a1a0a 0000000e 49484452 00000005 00000003", &w, &h),
                     SB_CORRUPT);
    assert_int_equal(size_of_hex("89504e470d0a1a0a 0000000d 49484452 80000000 00000003", &w, &h),
                     SB_CORRUPT);
    /* BMP: no rows; rows upwards of INT32_MIN; negative columns */
    assert_int_equal(
        size_of_hex("424d 000000000000000000000000 28000000 05000000 00000000", &w, &h),
        SB_CORRUPT);
    assert_int_equal(
        size_of_hex("424d 000000000000000000000000 28000000 05000000 00000080", &w, &h),
        SB_CORRUPT);
    assert_int_equal(
        size_of_hex("424d 000000000000000000000000 28000000 ffffffff 03000000", &w, &h),
        SB_CORRUPT);
    /* JPEG: a segment shorter than its length field; a frame header too short; the scan first */
    assert_int_equal(size_of_hex("ffd8 ffe0 0001 00 ffc0", &w, &h), SB_CORRUPT);
    assert_int_equal(size_of_hex("ffd8 ffc0 0007 08 0003 0005", &w, &h), SB_CORRUPT);
    assert_int_equal(size_of_hex("ffd8 ffda 0008", &w, &h), SB_CORRUPT);
    /* WebP: an unknown first chunk; a lossless chunk without its signature */
    assert_int_equal(
        size_of_hex("52494646 00000000 57454250 58585858 00000000 00000000000000000000", &w, &h),
        SB_CORRUPT);
    assert_int_equal(
        size_of_hex("52494646 00000000 57454250 5650384c 00000000 2e000000000000000000", &w, &h),
        SB_CORRUPT);
    /* GIF: no columns */
    assert_int_equal(size_of_hex("474946383961 0000 0300", &w, &h), SB_CORRUPT);
    assert_int_equal(w, 0);
    assert_int_equal(h, 0);
}

static void jpeg_markers_may_be_padded(void **state) {
    (void)state;
    uint32_t w = 0, h = 0;
    assert_int_equal(
        size_of_hex("ffd8 ffffff e0 0004 4a46 00 ff00 ffd0 ffff c2 000b 08 0003 0005", &w, &h),
        SB_OK);
    assert_int_equal(w, 5);
    assert_int_equal(h, 3);
    /* c4 (Huffman tables), c8 and cc look like frames and are none */
    assert_int_equal(
        size_of_hex("ffd8 ffc4 0007 08 0009 0009 ffcc 0004 0909 ffc1 0008 08 0003 0005", &w, &h),
        SB_OK);
    assert_int_equal(w, 5);
}

static void the_largest_sizes_are_read_whole(void **state) {
    (void)state;
    uint32_t w = 0, h = 0;
    assert_int_equal(size_of_hex("89504e470d0a1a0a 0000000d 49484452 7fffffff 00000001", &w, &h),
                     SB_OK);
    assert_int_equal(w, 0x7fffffff);
    assert_int_equal(size_of_hex("52494646 00000000 57454250 56503858 0a000000 00000000 ffffff "
                                 "020000",
                                 &w, &h),
                     SB_OK);
    assert_int_equal(w, 0x1000000);
    assert_int_equal(h, 3);
    assert_int_equal(size_of_hex("52494646 00000000 57454250 5650384c 00000000 2f ffffff0f 00000000"
                                 "00",
                                 &w, &h),
                     SB_OK);
    assert_int_equal(w, 16384);
    assert_int_equal(h, 16384);
}

static void sound_frames_are_told_from_look_alikes(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        sb_media media;
    } cases[] = {
        {"fffb9064", SB_MEDIA_MP3},
        {"fff36064", SB_MEDIA_MP3},
        {"fffb90", SB_MEDIA_UNKNOWN},
        {"fff15080", SB_MEDIA_UNKNOWN}, /* AAC: layer 0 */
        {"ffeb9064", SB_MEDIA_UNKNOWN},
        {"fffbf064", SB_MEDIA_UNKNOWN},
        {"fffb0064", SB_MEDIA_UNKNOWN},
        {"fffb9c64", SB_MEDIA_UNKNOWN},
        {"fffe7000", SB_MEDIA_UNKNOWN},                     /* UTF-16 text */
        {"424d6600 66747970 69736f6d00", SB_MEDIA_UNKNOWN}, /* a bitmap cut short, no MP4 */
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        uint8_t bytes[16];
        sb_media media = sb_media_sniff(sb_test_bytes(bytes, sizeof bytes, cases[i].hex));
        assert_int_equal(media, cases[i].media);
    }
}

static void content_types_are_tensorboards_for_images_only(void **state) {
    (void)state;
    assert_string_equal(sb_media_type(SB_MEDIA_PNG), "image/png");
    assert_string_equal(sb_media_type(SB_MEDIA_WEBP), "image/webp");
    assert_string_equal(sb_media_type(SB_MEDIA_WAV), "audio/wav");
    assert_string_equal(sb_media_type((sb_media)99), "application/octet-stream");
    assert_string_equal(sb_media_type((sb_media)-1), "application/octet-stream");
    static const char *const known[] = {"image/png", "image/jpeg", "image/gif", "image/bmp"};
    for (int i = SB_MEDIA_UNKNOWN; i <= SB_MEDIA_MP4; i++) {
        bool is_known = i >= SB_MEDIA_PNG && i <= SB_MEDIA_BMP;
        assert_string_equal(sb_media_type_in_tensorboard((sb_media)i),
                            is_known ? known[i - SB_MEDIA_PNG] : "application/octet-stream");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kinds_and_sizes_are_told_from_the_bytes, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(cut_bytes_ask_for_more_and_never_guess, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(flipped_bits_are_survived, sb_test_dir_setup,
                                        sb_test_dir_teardown),
        cmocka_unit_test(headers_that_lie_are_corrupt),
        cmocka_unit_test(jpeg_markers_may_be_padded),
        cmocka_unit_test(the_largest_sizes_are_read_whole),
        cmocka_unit_test(sound_frames_are_told_from_look_alikes),
        cmocka_unit_test(content_types_are_tensorboards_for_images_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
