/* Images, clips and graphs: which steps have which sample, and their bytes, from real files and
 * from made ones. */
#include "query/kinds/media_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"
#include "media/glance.h"
#include "query/records/value.h"
#include "unit/query/logs.h"

#define FILE_1 "run/events.out.tfevents.1"

static sb_media_item *list_of(logs *l, const sb_series *s, sb_media_ask ask, size_t *n) {
    sb_media_item *items;
    sb_err err;
    assert_ok(sb_media_list(s, &ask, &l->arena, &items, n, &err), &err);
    return items;
}

/* Blob i of the first visible point at a step, in the arena, read as the routes do. */
static sb_status read_blob(sb_blob_cache *blobs, const sb_series *series, int64_t step, uint32_t i,
                           size_t max_bytes, sb_arena *arena, sb_slice *out, sb_err *err) {
    sb_ref_item item;
    sb_slice payload;
    if (series->meta->kind != SB_SERIES_BLOBS)
        return sb_fail(err, SB_NOT_FOUND, 0, "%.*s holds no blobs", SB_SHOWN(series->tag));
    sb_status status = sb_refs_find(series, step, &item, err);
    if (status == SB_OK)
        status =
            sb_blob_read(blobs, series->run, item.file, &item.ref, max_bytes, arena, &payload, err);
    if (status == SB_OK) status = sb_ref_blob(&item.ref, payload, i, arena, out, err);
    return status;
}

static sb_slice blob_of(logs *l, const sb_series *s, int64_t step, uint32_t i) {
    sb_slice out;
    sb_err err;
    assert_ok(read_blob(l->blobs, s, step, i, 1 << 24, &l->arena, &out, &err), &err);
    return out;
}

/* What ingest saw of the first blob equals what its bytes say. */
static void assert_seen_as_it_is(logs *l, const sb_series *s, const sb_ref_item *item, uint32_t i) {
    sb_slice blob = blob_of(l, s, item->step, i);
    sb_glance g = i ? sb_glance_picture(blob) : sb_glance_clip(blob);
    assert_int_not_equal(item->ref.media, SB_MEDIA_UNKNOWN);
    assert_int_equal(item->ref.media, g.media);
    assert_int_equal(item->ref.bytes, blob.n);
    assert_int_not_equal(item->ref.width, 0);
    assert_int_equal(item->ref.width, g.width_or_rate);
    assert_int_equal(item->ref.height, g.height_or_frames);
    assert_int_equal(item->ref.channels, g.channels);
}

static void pictures_of_tensorflow_2(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/v2", &sb_fs_local);
    sb_series s = logs_take(&l, "train", "examples");
    size_t n;
    sb_media_item *items = list_of(&l, &s, (sb_media_ask){0}, &n);
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].item.step, 10 * i);
        assert_int_equal(items[i].samples, 3);
        assert_seen_as_it_is(&l, &s, &items[i].item, 2);
        for (uint32_t k = 2; k < 5; k++)
            assert_int_equal(sb_media_sniff(blob_of(&l, &s, (int64_t)(10 * i), k)), SB_MEDIA_PNG);
    }
    sb_err err;
    for (size_t i = 0; i < n; i++) {
        char width[16], height[16];
        snprintf(width, sizeof width, "%u", items[i].item.ref.width);
        snprintf(height, sizeof height, "%u", items[i].item.ref.height);
        assert_slice_is(blob_of(&l, &s, (int64_t)(10 * i), 0), width);
        assert_slice_is(blob_of(&l, &s, (int64_t)(10 * i), 1), height);
        sb_ref_item found;
        const sb_ref *ref = &items[i].item.ref;
        assert_ok(sb_refs_find_at(&s, ref->offset, ref->crc, &found, &err), &err);
        assert_int_equal(found.step, items[i].item.step);
        assert_int_equal(sb_refs_find_at(&s, ref->offset + 1, ref->crc, &found, &err),
                         SB_NOT_FOUND);
        assert_int_equal(sb_refs_find_at(&s, ref->offset, ref->crc + 1, &found, &err),
                         SB_NOT_FOUND);
    }
    list_of(&l, &s, (sb_media_ask){.sample = 2}, &n);
    assert_int_equal(n, 6);
    list_of(&l, &s, (sb_media_ask){.sample = 3}, &n);
    assert_int_equal(n, 0);
    sb_sampling sampling = {.reservoir = 2, .limit = SB_NO_LIMIT};
    list_of(&l, &s, (sb_media_ask){.sampling = &sampling}, &n);
    assert_int_equal(n, 2);
    sb_slice out;
    assert_int_equal(read_blob(l.blobs, &s, 5, 2, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    assert_int_equal(read_blob(l.blobs, &s, 10, 5, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    sb_series_release(&s);
    logs_free(&l);
}

static void pictures_sound_and_graphs_of_tensorflow_1(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/v1", &sb_fs_local);
    size_t n;
    sb_err err;
    sb_slice out;
    sb_series s = logs_take(&l, ".", "im/image/0");
    sb_media_item *items = list_of(&l, &s, (sb_media_ask){0}, &n);
    assert_int_equal(n, 20);
    assert_int_equal(items[7].samples, 1);
    assert_seen_as_it_is(&l, &s, &items[7].item, 2);
    char text[16];
    snprintf(text, sizeof text, "%u", items[0].item.ref.width);
    assert_slice_is(blob_of(&l, &s, 0, 0), text);
    snprintf(text, sizeof text, "%u", items[0].item.ref.height);
    assert_slice_is(blob_of(&l, &s, 0, 1), text);
    assert_int_equal(sb_media_sniff(blob_of(&l, &s, 0, 2)), SB_MEDIA_PNG);
    assert_int_equal(read_blob(l.blobs, &s, 0, 3, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    sb_series_release(&s);

    s = logs_take(&l, ".", "snd/audio");
    items = list_of(&l, &s, (sb_media_ask){.is_audio = true}, &n);
    assert_int_equal(n, 20);
    assert_int_equal(items[0].samples, 1);
    assert_string_equal(sb_audio_type(s.meta), "audio/wav");
    assert_int_equal(blob_of(&l, &s, 3, 0).n, 60);
    assert_seen_as_it_is(&l, &s, &items[3].item, 0);
    assert_int_equal(read_blob(l.blobs, &s, 3, 1, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    sb_series_release(&s);

    s = logs_take(&l, ".", "__run_graph__");
    assert_int_equal(blob_of(&l, &s, 0, 0).n, 13171);
    assert_int_equal(read_blob(l.blobs, &s, 0, 1, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    sb_series_release(&s);
    s = logs_take(&l, ".", "step 13");
    assert_int_equal(blob_of(&l, &s, 13, 0).n, 8483);
    sb_series_release(&s);
    s = logs_take(&l, ".", "loss_1");
    sb_media_item *none;
    assert_int_equal(sb_media_list(&s, &(sb_media_ask){0}, &l.arena, &none, &n, &err), SB_INVALID);
    assert_int_equal(read_blob(l.blobs, &s, 0, 0, 1 << 20, &l.arena, &out, &err), SB_NOT_FOUND);
    sb_series_release(&s);
    logs_free(&l);
}

static void labels_beside_clips_are_dropped(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    const char *texts[] = {"clip 1", "label 1", "clip 2", "label 2"};
    int64_t dims[] = {2, 2};
    log_strings(&file, "snd", "audio", SB_LIT("\x10\x0b"), 0, 100, texts, 4, 2, dims);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "snd");
    assert_slice_is(blob_of(&l, &s, 0, 0), "clip 1");
    assert_slice_is(blob_of(&l, &s, 0, 1), "clip 2");
    size_t n;
    assert_int_equal(list_of(&l, &s, (sb_media_ask){.is_audio = true}, &n)->samples, 2);
    assert_string_equal(sb_audio_type(s.meta), "audio/wav");
    sb_series_meta unknown = {.plugin_content = SB_LIT("\x10\x00")};
    assert_string_equal(sb_audio_type(&unknown), "application/octet-stream");
    sb_series_release(&s);
    logs_free(&l);
}

static void the_first_of_equal_steps_is_shown(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    const char *a[] = {"1", "1", "first"}, *b[] = {"1", "1", "second", "x"};
    log_strings(&file, "im", "images", SB_LIT(""), 7, 100, a, 3, 1, (int64_t[]){3});
    log_strings(&file, "im", "images", SB_LIT(""), 7, 101, b, 4, 1, (int64_t[]){4});
    log_strings(&file, "im", "images", SB_LIT(""), 3, 102, b, 2, 1, (int64_t[]){2});
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "im");
    size_t n;
    sb_media_item *items = list_of(&l, &s, (sb_media_ask){0}, &n);
    assert_int_equal(n, 1); /* step 3 has no picture at all */
    assert_true(items[0].item.wall == 100);
    assert_slice_is(blob_of(&l, &s, 7, 2), "first");
    sb_series_release(&s);
    logs_free(&l);
}

/* Any bytes in place of a record: no answer, no harm. */
static void hostile_payloads_are_refused(void **state) {
    logs l = logs_new(*state);
    sb_test_random r = sb_test_random_of(1);
    sb_buf file = log_begin();
    const char *a[] = {"1", "1", "first"};
    log_strings(&file, "im", "images", SB_LIT(""), 7, 100, a, 3, 1, (int64_t[]){3});
    sb_ref ref = {.where = SB_IN_VALUE};
    sb_slice good = sb_slice_of(file.p + 12, file.n - 16), out;
    uint8_t *bytes = malloc(good.n);
    assert_int_equal(sb_ref_blob(&ref, good, 2, &l.arena, &out, NULL), SB_OK);
    for (size_t cut = 0; cut < good.n; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);
        if (cut) memcpy(exact, good.p, cut);
        sb_ref_blob(&ref, sb_slice_of(exact, cut), 2, &l.arena, &out, NULL);
        free(exact);
    }
    for (int round = 0; round < 3000; round++) {
        memcpy(bytes, good.p, good.n);
        for (int k = 0; k < 3; k++)
            bytes[sb_test_below(&r, good.n)] ^= (uint8_t)(1u << sb_test_below(&r, 8));
        for (uint8_t where = 0; where < 3; where++) {
            sb_tensor_view t;
            ref.where = where;
            ref.value_index = (uint32_t)sb_test_below(&r, 2);
            sb_ref_blob(&ref, sb_slice_of(bytes, good.n), (uint32_t)sb_test_below(&r, 4), &l.arena,
                        &out, NULL);
            sb_ref_tensor(&ref, sb_slice_of(bytes, good.n), &t, NULL);
        }
    }
    free(bytes);
    sb_buf_fini(&file);
    sb_arena_fini(&l.arena);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        IN_DIR(pictures_of_tensorflow_2),        IN_DIR(pictures_sound_and_graphs_of_tensorflow_1),
        IN_DIR(labels_beside_clips_are_dropped), IN_DIR(the_first_of_equal_steps_is_shown),
        IN_DIR(hostile_payloads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
