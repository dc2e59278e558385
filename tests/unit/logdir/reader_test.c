/* reader_test.c: the public reader over directories: order, growth, damage, every kind of value. */
#include "seaboard/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/tensor.h"
#include "logdir/reader_int.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "unit/logdir/frames.h"
#include "base/banned.h"

/* ---- making events --------------------------------------------------------------------------- */

/* An event with one value whose fields (all but the tag) are in `value`. */
static void add_value(frames *f, int64_t step, const char *tag, sb_slice fields) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 24);
    sb_pb_add_double(&b, SB_EVENT_WALL_TIME, 1e9);
    sb_pb_add_int_nz(&b, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(&b, SB_EVENT_SUMMARY, 20);
    size_t value = sb_pb_begin(&b, SB_SUMMARY_VALUE, 18);
    sb_pb_add_bytes_nz(&b, SB_VALUE_TAG, sb_slice_str(tag));
    sb_buf_add_slice(&b, fields);
    sb_pb_end(&b, value);
    sb_pb_end(&b, summary);
    frames_add(f, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

/* A tensor, and metadata when plugin is given. */
static void add_tensor(frames *f, int64_t step, const char *tag, const sb_array *array,
                       const char *plugin) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 24);
    assert_int_equal(sb_tensor_add(&b, SB_VALUE_TENSOR, array, SB_TENSOR_CONTENT), SB_OK);
    if (plugin) {
        sb_metadata metadata = {.plugin_name = sb_slice_str(plugin), .description = SB_LIT("what")};
        sb_metadata_add(&b, SB_VALUE_METADATA, &metadata);
    }
    add_value(f, step, tag, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

static const char *put_frames(sb_test_dir *dir, const char *name, frames *f) {
    const char *path = sb_test_dir_put(dir, name, sb_buf_slice(&f->bytes));
    frames_fini(f);
    return path;
}

static void put_scalars(sb_test_dir *dir, const char *name, int64_t from, int64_t to) {
    frames f;
    frames_init(&f);
    for (int64_t i = from; i < to; i++) frames_add_scalar(&f, i, 0);
    put_frames(dir, name, &f);
}

static sb_reader *open_reader(const char *path) {
    sb_reader *r;
    sb_err err;
    assert_ok(sb_reader_open(&r, path, NULL, &err), &err);
    return r;
}

/* The event and its one value. */
static const sb_reader_value *next_value(sb_reader *r, const sb_reader_event **event) {
    const sb_reader_value *value;
    sb_err err;
    assert_ok(sb_reader_next(r, event, &err), &err);
    assert_int_equal((*event)->what, SB_READS_SUMMARY);
    assert_ok(sb_reader_next_value(r, &value), NULL);
    return value;
}

static void expect_steps(sb_reader *r, const char *run, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) {
        const sb_reader_event *event;
        const sb_reader_value *value = next_value(r, &event);
        assert_string_equal(event->run, run);
        assert_int_equal(event->step, i);
        assert_int_equal(value->kind, SB_READS_SCALAR);
        assert_true(value->scalar == (double)i);
        assert_slice_is(value->tag, "loss");
        assert_int_equal(sb_reader_next_value(r, &value), SB_END);
        assert_int_equal(sb_reader_next_value(r, &value), SB_END);
    }
}

static void expect_more(sb_reader *r) {
    const sb_reader_event *event;
    const sb_reader_value *value;
    assert_int_equal(sb_reader_next(r, &event, NULL), SB_MORE);
    assert_int_equal(sb_reader_next_value(r, &value), SB_END);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void events_come_run_by_run_in_file_order(void **state) {
    put_scalars(*state, "b/events.tfevents.2", 10, 15);
    put_scalars(*state, "b/events.tfevents.1", 5, 10);
    put_scalars(*state, "a/events.tfevents.1", 0, 5);
    put_scalars(*state, "events.tfevents", 20, 22);
    sb_reader *r = open_reader(sb_test_dir_path(*state));
    expect_steps(r, ".", 20, 22);
    expect_steps(r, "a", 0, 5);
    expect_steps(r, "b", 5, 15);
    expect_more(r);
    sb_reader_close(r);
    sb_err err;
    sb_reader_opts opts = SB_INIT(sb_reader_opts, .run = "b");
    assert_ok(sb_reader_open(&r, sb_test_dir_path(*state), &opts, &err), &err);
    expect_steps(r, "b", 5, 15);
    expect_more(r);
    sb_reader_close(r);
    sb_reader_close(NULL);
}

static void one_file_can_be_read(void **state) {
    put_scalars(*state, "a/anything", 3, 9);
    sb_reader *r = open_reader(sb_test_dir_join(*state, "a/anything"));
    const sb_reader_event *event;
    next_value(r, &event);
    assert_string_equal(event->run, ".");
    assert_string_equal(event->path, sb_test_dir_join(*state, "a/anything"));
    assert_int_equal(event->offset, 0);
    expect_steps(r, ".", 4, 9);
    sb_reader_close(r);
    sb_err err;
    assert_int_equal(sb_reader_open(&r, sb_test_dir_join(*state, "no"), NULL, &err), SB_NOT_FOUND);
    assert_null(r);
    assert_int_equal(sb_reader_open(&r, NULL, NULL, &err), SB_INVALID);
}

static void reading_goes_on_when_something_is_new(void **state) {
    put_scalars(*state, "a/tfevents.1", 0, 3);
    sb_reader *r = open_reader(sb_test_dir_path(*state));
    expect_steps(r, "a", 0, 3);
    expect_more(r);
    expect_more(r);
    put_scalars(*state, "a/tfevents.1", 0, 5); /* replaced by a longer copy, as rsync does */
    expect_steps(r, "a", 3, 5);
    expect_more(r);
    put_scalars(*state, "a/tfevents.2", 5, 6);
    put_scalars(*state, "A/tfevents.2", 7, 8);
    expect_steps(r, "A", 7, 8);
    expect_steps(r, "a", 5, 6);
    expect_more(r);
    put_scalars(*state, "a/tfevents.1", 30,
                32); /* something else by that name: from the beginning */
    expect_steps(r, "a", 30, 32);
    expect_more(r);
    assert_int_equal(unlink(sb_test_dir_join(*state, "a/tfevents.1")), 0);
    expect_more(r);
    assert_int_equal(sb_reader_damage_count(r), 0);
    sb_reader_close(r);
}

static void an_empty_directory_may_fill_later(void **state) {
    sb_reader *r = open_reader(sb_test_dir_path(*state));
    expect_more(r);
    put_scalars(*state, "x/y/z.tfevents", 1, 3);
    expect_steps(r, "x/y", 1, 3);
    sb_reader_close(r);
}

static void damage_is_noted_and_stepped_over(void **state) {
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 9; i++) frames_add_scalar(&f, i, 0);
    const size_t at[] = {f.offset[3], f.offset[4], f.offset[6], f.offset[7]};
    f.bytes.p[f.offset[3] + 15] ^= 1;
    f.bytes.p[f.offset[6]] ^= 1;
    frames_add(&f, SB_LIT("\xff\xff no event"));
    size_t odd = f.offset[9];
    frames_add_scalar(&f, 9, 0);
    f.bytes.n -= 3; /* and a cut record at the end */
    size_t cut = f.offset[10], end = f.bytes.n;
    put_frames(*state, "r/tfevents", &f);
    sb_reader *r = open_reader(sb_test_dir_path(*state));
    expect_steps(r, "r", 0, 3);
    expect_steps(r, "r", 4, 6);
    expect_steps(r, "r", 7, 9);
    expect_more(r);
    assert_int_equal(sb_reader_damage_count(r), 3);
    const sb_reader_gap *gap;
    const struct {
        sb_status kind;
        uint64_t offset, bytes;
    } expected[] = {
        {SB_BAD_PAYLOAD, at[0], at[1] - at[0]},
        {SB_BAD_LENGTH, at[2], at[3] - at[2]},
        {SB_CORRUPT, odd, cut - odd},
    };
    for (size_t i = 0; i < SB_COUNT(expected); i++) {
        gap = sb_reader_damage(r, i);
        assert_non_null(gap);
        assert_string_equal(gap->run, "r");
        assert_string_equal(gap->path, sb_test_dir_join(*state, "r/tfevents"));
        assert_int_equal(gap->kind, expected[i].kind);
        assert_int_equal(gap->offset, expected[i].offset);
        assert_int_equal(gap->bytes, expected[i].bytes);
    }
    assert_null(sb_reader_damage(r, 3));
    gap = sb_reader_unfinished(r, 0);
    assert_non_null(gap);
    assert_int_equal(gap->kind, SB_MORE);
    assert_int_equal(gap->offset, cut);
    assert_int_equal(gap->bytes, end - cut);
    assert_null(sb_reader_unfinished(r, 1));
    expect_more(r);
    assert_int_equal(sb_reader_damage_count(r), 3);
    sb_reader_close(r);
}

static void a_malformed_value_costs_only_itself(void **state) {
    frames f;
    frames_init(&f);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    size_t summary = sb_pb_begin(&b, SB_EVENT_SUMMARY, 20);
    sb_pb_add_bytes(&b, SB_SUMMARY_VALUE,
                    SB_LIT("\x0a\x01"
                           "a"
                           "\x15\x00\x00\x80\x3f"));
    sb_pb_add_bytes(&b, SB_SUMMARY_VALUE,
                    SB_LIT("\x0a\x7f"
                           "b"));
    sb_pb_add_bytes(&b, SB_SUMMARY_VALUE,
                    SB_LIT("\x0a\x01"
                           "c"
                           "\x15\x00\x00\x00\x40"));
    sb_buf_add(&b, "\x0a\x7f", 2); /* and a cut one at the end */
    sb_pb_end(&b, summary);
    frames_add(&f, sb_buf_slice(&b));
    sb_buf_fini(&b);
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *event;
    const sb_reader_value *value = next_value(r, &event);
    assert_true(value->scalar == 1);
    assert_ok(sb_reader_next_value(r, &value), NULL);
    assert_slice_is(value->tag, "c");
    assert_true(value->scalar == 2);
    assert_int_equal(sb_reader_next_value(r, &value), SB_CORRUPT);
    assert_int_equal(sb_reader_next_value(r, &value), SB_END);
    assert_int_equal(sb_reader_damage_count(r), 2);
    sb_reader_close(r);
}

/* ---- events that are no summaries ------------------------------------------------------------ */

static void other_events_are_told_by_their_kind(void **state) {
    uint8_t bytes[256];
    frames f;
    frames_init(&f);
    frames_add_header(&f);
    frames_add(&f, sb_test_bytes(bytes, sizeof bytes, "22 03 01 02 03"));
    frames_add(&f, sb_test_bytes(bytes, sizeof bytes, "4a 02 05 06"));
    frames_add(&f, sb_test_bytes(bytes, sizeof bytes, "42 08 0a 02 7331 12 02 0708"));
    frames_add(&f, sb_test_bytes(bytes, sizeof bytes, "10 2a 3a 09 08 03 12 02 6370 1a 01 6d"));
    frames_add(&f, sb_test_bytes(bytes, sizeof bytes, "32 06 08 1e 12 02 6869"));
    frames_add(&f, (sb_slice){NULL, 0});
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *e;
    const sb_reader_value *value;
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_FILE_VERSION);
    assert_slice_is(e->body, "brain.Event:2");
    assert_true(e->wall_time == 1700000000.0);
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_GRAPH);
    assert_slice_is(e->body, "\x01\x02\x03");
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_META_GRAPH);
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_RUN_METADATA);
    assert_slice_is(e->tag, "s1");
    assert_slice_is(e->body, "\x07\x08");
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_SESSION);
    assert_int_equal(e->step, 42);
    assert_int_equal(e->number, 3);
    assert_slice_is(e->checkpoint_path, "cp");
    assert_slice_is(e->body, "m");
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_LOG_MESSAGE);
    assert_int_equal(e->number, 30);
    assert_slice_is(e->body, "hi");
    assert_int_equal(sb_reader_next_value(r, &value), SB_END);
    assert_ok(sb_reader_next(r, &e, NULL), NULL);
    assert_int_equal(e->what, SB_READS_NOTHING);
    expect_more(r);
    sb_reader_close(r);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void scalars_come_in_every_form(void **state) {
    frames f;
    frames_init(&f);
    const float half = 0.5f;
    const double third = 1.0 / 3;
    const int64_t seven = 7, dims[1] = {1}, two[1] = {2};
    add_value(&f, 1, "old", SB_LIT("\x15\x00\x00\x00\x3f"));
    add_tensor(&f, 1, "f32", &(sb_array){.data = &half, .dtype = SB_FLOAT}, "scalars");
    add_tensor(&f, 1, "f64", &(sb_array){.data = &third, .dtype = SB_DOUBLE}, "scalars");
    add_tensor(&f, 1, "i64", &(sb_array){&seven, SB_INT64, 1, dims, NULL}, "scalars");
    add_tensor(&f, 1, "other", &(sb_array){.data = &half, .dtype = SB_FLOAT}, "mine");
    add_tensor(&f, 1, "none", &(sb_array){.data = &half, .dtype = SB_FLOAT}, NULL);
    add_tensor(&f, 1, "many", &(sb_array){(double[]){1, 2}, SB_DOUBLE, 1, two, NULL}, "scalars");
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *e;
    const double expected[] = {0.5, 0.5, third, 7};
    for (size_t i = 0; i < SB_COUNT(expected); i++) {
        const sb_reader_value *value = next_value(r, &e);
        assert_int_equal(value->kind, SB_READS_SCALAR);
        assert_slice_is(value->plugin_name, "scalars");
        assert_true(value->scalar == expected[i]);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(next_value(r, &e)->kind, SB_READS_TENSOR);
        const sb_reader_tensor *tensor;
        const sb_reader_histogram *histogram;
        assert_ok(sb_reader_tensor_of(r, &tensor), NULL);
        assert_true(tensor->numbers[0] == (i == 2 ? 1 : 0.5));
        assert_int_equal(sb_reader_histogram_of(r, &histogram), SB_INVALID);
    }
    sb_reader_close(r);
}

static void metadata_is_remembered_for_the_run(void **state) {
    const float x = 2;
    const sb_array array = {.data = &x, .dtype = SB_FLOAT};
    for (int run = 0; run < 2; run++) {
        frames f;
        frames_init(&f);
        add_tensor(&f, 1, "t", &array, run ? NULL : "scalars");
        add_tensor(&f, 2, "t", &array, NULL);
        add_tensor(&f, 3, "t", &array, "text"); /* too late: the first one counts */
        put_frames(*state, run ? "b/x.tfevents.1" : "a/x.tfevents.1", &f);
        frames_init(&f);
        add_tensor(&f, 4, "t", &array, NULL);
        put_frames(*state, run ? "b/x.tfevents.2" : "a/x.tfevents.2", &f);
    }
    sb_reader *r = open_reader(sb_test_dir_path(*state));
    const sb_reader_event *e;
    for (int i = 0; i < 4; i++) {
        const sb_reader_value *value = next_value(r, &e);
        assert_slice_is(value->plugin_name, "scalars");
        assert_slice_is(value->description, "what");
        assert_int_equal(value->kind, SB_READS_SCALAR);
    }
    for (int i = 0; i < 2; i++) {
        const sb_reader_value *value = next_value(r, &e);
        assert_string_equal(e->run, "b");
        assert_int_equal(value->plugin_name.n, 0);
        assert_int_equal(value->kind, SB_READS_TENSOR);
    }
    for (int i = 0; i < 2; i++) assert_slice_is(next_value(r, &e)->plugin_name, "text");
    sb_reader_close(r);
}

static void histograms_come_in_both_forms(void **state) {
    frames f;
    frames_init(&f);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    size_t histo = sb_pb_begin(&b, SB_VALUE_HISTO, 20);
    sb_pb_add_double(&b, SB_HISTOGRAM_MIN, -1);
    sb_pb_add_double(&b, SB_HISTOGRAM_MAX, 3);
    sb_pb_add_double(&b, SB_HISTOGRAM_NUM, 3);
    sb_pb_add_packed_doubles(&b, SB_HISTOGRAM_BUCKET_LIMIT, (double[]){-2, 0, 2, 4, 1e308}, 5);
    sb_pb_add_packed_doubles(&b, SB_HISTOGRAM_BUCKET, (double[]){0, 1, 2, 0, 0}, 5);
    sb_pb_end(&b, histo);
    add_value(&f, 1, "old", sb_buf_slice(&b));
    sb_buf_fini(&b);
    const double rows[] = {-1, 0, 1, 0, 3, 2};
    add_tensor(&f, 1, "new", &(sb_array){rows, SB_DOUBLE, 2, (int64_t[]){2, 3}, NULL},
               "histograms");
    add_tensor(&f, 1, "bad", &(sb_array){rows, SB_DOUBLE, 1, (int64_t[]){4}, NULL}, "histograms");
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    for (int i = 0; i < 2; i++) {
        const sb_reader_event *e;
        const sb_reader_value *value = next_value(r, &e);
        const sb_reader_histogram *h;
        assert_int_equal(value->kind, SB_READS_HISTOGRAM);
        assert_slice_is(value->plugin_name, "histograms");
        assert_ok(sb_reader_histogram_of(r, &h), NULL);
        assert_int_equal(h->count, 2);
        assert_memory_equal(h->rows, rows, sizeof rows);
        assert_true(h->min == -1 && h->max == 3 && h->num == 3);
        assert_int_equal(h->stored_count, i ? 0 : 5);
        if (i == 0) assert_true(h->limits[2] == 2 && h->counts[2] == 2);
    }
    const sb_reader_event *e;
    next_value(r, &e);
    assert_int_equal(sb_reader_histogram_of(r, &(const sb_reader_histogram *){NULL}), SB_CORRUPT);
    sb_reader_close(r);
}

static void pictures_sound_and_text_come_in_both_forms(void **state) {
    uint8_t bytes[256];
    frames f;
    frames_init(&f);
    add_value(&f, 1, "image",
              sb_test_bytes(bytes, sizeof bytes, "22 0a 08 02 10 03 18 01 22 02 4142"));
    sb_slice pictures[] = {SB_LIT("3"), SB_LIT("2"), SB_LIT("AB"), SB_LIT("CD")};
    add_tensor(&f, 1, "images", &(sb_array){pictures, SB_STRING, 1, (int64_t[]){4}, NULL},
               "images");
    add_value(
        &f, 1, "sound",
        sb_test_bytes(bytes, sizeof bytes, "32 0f 0d 00002c46 10 02 18 05 22 01 57 2a 01 61"));
    sb_slice clips[] = {SB_LIT("W"), SB_LIT("one"), SB_LIT("X"), SB_LIT("")};
    add_tensor(&f, 1, "sounds", &(sb_array){clips, SB_STRING, 2, (int64_t[]){2, 2}, NULL}, "audio");
    add_tensor(&f, 1, "text", &(sb_array){clips, SB_STRING, 2, (int64_t[]){2, 2}, NULL}, "text");
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *e;
    const sb_reader_images *images;
    const sb_reader_audio *audio;
    const sb_reader_tensor *tensor;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next_value(r, &e)->kind, SB_READS_IMAGES);
        assert_ok(sb_reader_images_of(r, &images), NULL);
        assert_int_equal(images->width, 3);
        assert_int_equal(images->height, 2);
        assert_int_equal(images->count, i + 1);
        assert_slice_is(images->images[0], "AB");
        if (i) assert_slice_is(images->images[1], "CD");
    }
    assert_int_equal(next_value(r, &e)->kind, SB_READS_AUDIO);
    assert_ok(sb_reader_audio_of(r, &audio), NULL);
    assert_true(audio->sample_rate == 11008 && audio->channels == 2 && audio->frames == 5);
    assert_slice_is(audio->content_type, "a");
    assert_slice_is(audio->clips[0], "W");
    assert_null(audio->labels);
    assert_int_equal(next_value(r, &e)->kind, SB_READS_AUDIO);
    assert_ok(sb_reader_audio_of(r, &audio), NULL);
    assert_int_equal(audio->count, 2);
    assert_slice_is(audio->clips[1], "X");
    assert_slice_is(audio->labels[0], "one");
    assert_int_equal(next_value(r, &e)->kind, SB_READS_TEXT);
    assert_ok(sb_reader_tensor_of(r, &tensor), NULL);
    assert_int_equal(tensor->rank, 2);
    assert_int_equal(tensor->dims[1], 2);
    assert_null(tensor->numbers);
    assert_slice_is(tensor->strings[2], "X");
    assert_int_equal(sb_reader_images_of(r, &images), SB_INVALID);
    sb_reader_close(r);
}

static void a_value_without_content_still_has_metadata(void **state) {
    frames f;
    frames_init(&f);
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    sb_metadata metadata = {.plugin_name = SB_LIT("hparams"), .content = SB_LIT("\x1a\x00")};
    sb_metadata_add(&b, SB_VALUE_METADATA, &metadata);
    add_value(&f, 0, "_hparams_/session_start_info", sb_buf_slice(&b));
    sb_buf_clear(&b);
    sb_pb_add_bytes(&b, SB_VALUE_NODE_NAME, SB_LIT("node"));
    add_value(&f, 0, "", sb_buf_slice(&b));
    sb_buf_fini(&b);
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *e;
    const sb_reader_value *value = next_value(r, &e);
    assert_int_equal(value->kind, SB_READS_NO_VALUE);
    assert_slice_is(value->plugin_name, "hparams");
    assert_int_equal(value->plugin_content.n, 2);
    assert_int_equal(sb_reader_tensor_of(r, &(const sb_reader_tensor *){NULL}), SB_INVALID);
    assert_slice_is(next_value(r, &e)->tag, "node");
    sb_reader_close(r);
}

static void a_claimed_size_alone_takes_no_memory(void **state) {
    uint8_t bytes[256];
    frames f;
    frames_init(&f);
    /* float32 of shape [1 << 40] with one value for all elements, as constants have it */
    add_value(&f, 1, "huge",
              sb_test_bytes(bytes, sizeof bytes,
                            "42 13 08 01 12 09 12 07 08 80808080 8020 2a 04 0000803f"));
    sb_reader *r = open_reader(put_frames(*state, "x.tfevents", &f));
    const sb_reader_event *e;
    next_value(r, &e);
    assert_int_equal(sb_reader_tensor_of(r, &(const sb_reader_tensor *){NULL}), SB_LIMIT);
    sb_reader_close(r);
}

/* ---- real files ------------------------------------------------------------------------------ */

/* Decodes whatever there is. Returns the number of values. */
static size_t decode_all(sb_reader *r, sb_status *worst) {
    const sb_reader_event *e;
    const sb_reader_value *value;
    sb_status status;
    size_t count = 0;
    while ((status = sb_reader_next(r, &e, NULL)) != SB_MORE) {
        if (status != SB_OK) *worst = status;
        if (status != SB_OK) continue;
        while ((status = sb_reader_next_value(r, &value)) != SB_END) {
            if (status == SB_NOMEM) *worst = status;
            if (status != SB_OK) continue;
            sb_status decoded[] = {sb_reader_histogram_of(r, &(const sb_reader_histogram *){NULL}),
                                   sb_reader_images_of(r, &(const sb_reader_images *){NULL}),
                                   sb_reader_audio_of(r, &(const sb_reader_audio *){NULL}),
                                   sb_reader_tensor_of(r, &(const sb_reader_tensor *){NULL})};
            for (size_t i = 0; i < SB_COUNT(decoded); i++)
                if (decoded[i] == SB_NOMEM) *worst = SB_NOMEM;
            count++;
        }
    }
    return count;
}

static void files_of_the_real_writers_are_read_whole(void **state) {
    (void)state;
    const struct {
        const char *path;
        size_t files;
    } known[] = {
        {SB_FIXTURES "/tf/v2/train", 1},
        {SB_FIXTURES "/tf/v1", 1},
        {SB_FIXTURES "/tf/hparams", 5},
        {SB_FIXTURES "/tf/plugins", 2},
        {SB_FIXTURES "/tf/keras", 2},
        {SB_FIXTURES "/torch_writer", 9},
        {SB_FIXTURES "/tf/awkward/weird tags", 1},
    };
    for (size_t i = 0; i < SB_COUNT(known); i++) {
        sb_reader *r = open_reader(known[i].path);
        sb_status worst = SB_OK;
        assert_true(decode_all(r, &worst) > 0);
        assert_int_equal(worst, SB_OK);
        assert_int_equal(sb_reader_damage_count(r), 0);
        assert_int_equal(r->paths.count, known[i].files);
        assert_null(sb_reader_unfinished(r, 0));
        sb_reader_close(r);
    }
}

static void flipped_bits_in_real_files_are_survived(void **state) {
    static const char *const paths[] = {
        SB_FIXTURES "/torch_writer/hp/trial_0/events.out.tfevents.1794739089.vm.6213.4",
        SB_FIXTURES "/tf/plugins/a/events.out.tfevents.1794739122.vm.6291.8.v2",
    };
    sb_test_random random = sb_test_random_of(9);
    for (int round = 0; round < 60; round++) {
        sb_slice truth = sb_test_dir_get(*state, paths[round % 2]);
        uint8_t *bytes = malloc(truth.n);
        assert_non_null(bytes);
        memcpy(bytes, truth.p, truth.n);
        for (int k = 0; k < 4; k++)
            bytes[sb_test_below(&random, truth.n)] ^= (uint8_t)(1u << sb_test_below(&random, 8));
        const char *path = sb_test_dir_put(*state, "x.tfevents", sb_slice_of(bytes, truth.n));
        sb_reader *r = open_reader(path);
        sb_status worst = SB_OK;
        decode_all(r, &worst);
        assert_int_equal(worst, SB_OK);
        assert_true(sb_reader_damage_count(r) > 0 || sb_reader_unfinished(r, 0) != NULL);
        sb_reader_close(r);
        free(bytes);
    }
}

/* ---- a system that refuses ------------------------------------------------------------------- */

static sb_status read_everything(const sb_env *env, const char *path, size_t *values) {
    sb_reader *r;
    sb_err err;
    sb_status status = sb_reader_open_in(&r, env, path, NULL, &err);
    if (status != SB_OK) return status;
    *values = decode_all(r, &status);
    size_t again = decode_all(r, &status); /* a file that was refused comes in the next pass */
    *values += again;
    sb_reader_close(r);
    return status;
}

static void put_small_log(sb_test_dir *dir) {
    frames f;
    frames_init(&f);
    const double rows[] = {-1, 0, 1, 0, 3, 2};
    sb_slice strings[] = {SB_LIT("3"), SB_LIT("2"), SB_LIT("AB"), SB_LIT("CD")};
    frames_add_scalar(&f, 1, 0);
    add_tensor(&f, 1, "h", &(sb_array){rows, SB_DOUBLE, 2, (int64_t[]){2, 3}, NULL}, "histograms");
    add_tensor(&f, 1, "i", &(sb_array){strings, SB_STRING, 1, (int64_t[]){4}, NULL}, "images");
    add_tensor(&f, 1, "a", &(sb_array){strings, SB_STRING, 2, (int64_t[]){2, 2}, NULL}, "audio");
    frames_add(&f, SB_LIT("\xff no event"));
    put_frames(dir, "log/a/x.tfevents.1", &f);
    put_scalars(dir, "log/a/x.tfevents.2", 0, 2);
    put_scalars(dir, "log/b/x.tfevents", 0, 2);
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    sb_env env = {.alloc = alloc, .fs = &sb_fs_local};
    size_t values;
    sb_status status = read_everything(&env, ud, &values);
    if (status == SB_OK) assert_int_equal(values, 8);
    return status;
}

static void every_refused_allocation_is_survived(void **state) {
    put_small_log(*state);
    char path[4096];
    snprintf(path, sizeof path, "%s", sb_test_dir_join(*state, "log"));
    sb_fault_alloc a;
    for (uint64_t n = 1;; n++) {
        sb_fault_alloc_init(&a);
        sb_fault_alloc_fail_at(&a, n, false);
        sb_status status = read_with(&a.alloc, path);
        uint64_t failures = a.failures;
        /* Only the note about the odd record may be given up for lack of memory. */
        assert_true(status == (failures ? SB_NOMEM : SB_OK) || (failures && status == SB_OK));
        sb_fault_alloc_fini(&a);
        if (failures == 0) break;
    }
}

static void every_refused_call_is_survived(void **state) {
    put_small_log(*state);
    const char *path = sb_test_dir_join(*state, "log");
    for (uint64_t n = 1;; n++) {
        sb_fault_fs fs;
        sb_fault_fs_init(&fs, &sb_fs_local);
        sb_fault_fs_fail(&fs, SB_CALL_ANY, n, EIO, false);
        sb_env env = {.alloc = &sb_alloc_libc, .fs = &fs.fs};
        size_t values = 8;
        sb_status status = read_everything(&env, path, &values);
        assert_true(status == SB_OK || status == SB_IO);
        assert_int_equal(values, 8); /* all of them in the second pass at the latest */
        uint64_t failures = sb_fault_fs_failures(&fs);
        sb_fault_fs_fini(&fs);
        if (failures == 0) break;
    }
}

#define WITH_DIR(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_DIR(events_come_run_by_run_in_file_order),
        WITH_DIR(one_file_can_be_read),
        WITH_DIR(reading_goes_on_when_something_is_new),
        WITH_DIR(an_empty_directory_may_fill_later),
        WITH_DIR(damage_is_noted_and_stepped_over),
        WITH_DIR(a_malformed_value_costs_only_itself),
        WITH_DIR(other_events_are_told_by_their_kind),
        WITH_DIR(scalars_come_in_every_form),
        WITH_DIR(metadata_is_remembered_for_the_run),
        WITH_DIR(histograms_come_in_both_forms),
        WITH_DIR(pictures_sound_and_text_come_in_both_forms),
        WITH_DIR(a_value_without_content_still_has_metadata),
        WITH_DIR(a_claimed_size_alone_takes_no_memory),
        cmocka_unit_test(files_of_the_real_writers_are_read_whole),
        WITH_DIR(flipped_bits_in_real_files_are_survived),
        WITH_DIR(every_refused_allocation_is_survived),
        WITH_DIR(every_refused_call_is_survived),
    };
    return cmocka_run_group_tests_name("logdir/reader", tests, NULL, NULL);
}
