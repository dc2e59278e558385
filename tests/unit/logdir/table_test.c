/* table_test.c: all points as columns: order, kinds, several files and threads, damage, and the
 * caller's memory. */
#include <pthread.h> /* files are read by several threads: for TSan too */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/summary.h"
#include "codec/tensor.h"
#include "logdir/table.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/frame.h"
#include "unit/logdir/frames.h"
#include "base/banned.h"

#define MANY 3000 /* more than one batch, and enough for events that repeat to be expected */

/* ---- making logs ----------------------------------------------------------------------------- */

static void add_value(frames *f, int64_t step, const char *tag, sb_slice fields) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 24);
    sb_pb_add_double(&b, SB_EVENT_WALL_TIME, 1e9 + (double)step);
    sb_pb_add_int_nz(&b, SB_EVENT_STEP, step);
    size_t summary = sb_pb_begin(&b, SB_EVENT_SUMMARY, 20);
    size_t value = sb_pb_begin(&b, SB_SUMMARY_VALUE, 18);
    sb_pb_add_bytes_nz(&b, SB_VALUE_TAG, sb_slice_str(tag));
    sb_buf_add_slice(&b, fields);
    sb_pb_end(&b, value);
    sb_pb_end(&b, summary);
    sb_test_add_record(&f->bytes, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

static void add_simple(frames *f, int64_t step, const char *tag, float number) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 10);
    sb_pb_add_float(&b, SB_VALUE_SIMPLE_VALUE, number);
    add_value(f, step, tag, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

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

static void add_number(frames *f, int64_t step, const char *tag, double x, const char *plugin) {
    add_tensor(f, step, tag, &(sb_array){.data = &x, .dtype = SB_DOUBLE}, plugin);
}

static void add_strings(frames *f, int64_t step, const char *tag, const sb_slice *texts, int64_t n,
                        const char *plugin) {
    add_tensor(f, step, tag, &(sb_array){.data = texts, .dtype = SB_STRING, .rank = 1, .dims = &n},
               plugin);
}

static void put(sb_test_dir *d, const char *name, frames *f) {
    sb_test_dir_put(d, name, sb_buf_slice(&f->bytes));
    frames_fini(f);
}

static void put_scalars(sb_test_dir *d, const char *name, int64_t from, int64_t to) {
    frames f;
    frames_init(&f);
    for (int64_t i = from; i < to; i++) {
        add_simple(&f, i, "loss", (float)i);
        add_simple(&f, i, "accuracy", (float)(2 * i));
    }
    put(d, name, &f);
}

static sb_reader_table *read_table(sb_test_dir *d, const sb_reader_table_opts *opts) {
    sb_reader_table *t;
    sb_err err;
    assert_ok(sb_reader_table_read(&t, sb_test_dir_path(d), opts, &err), &err);
    return t;
}

static void expect_scalars(const sb_reader_table *t, const char *run, const char *tag,
                           int64_t first, size_t count, double factor) {
    const sb_reader_columns *c = sb_reader_table_find(t, run, tag);
    assert_non_null(c);
    assert_int_equal(c->kind, SB_READS_SCALAR);
    assert_int_equal(c->count, count);
    assert_null(c->items);
    for (size_t i = 0; i < count; i++) {
        int64_t step = first + (int64_t)i;
        assert_int_equal(c->steps[i], step);
        assert_true(c->wall_times[i] == 1e9 + (double)step);
        assert_true(c->values[i] == factor * (double)step);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void all_scalars_come_in_one_call(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "b/1.tfevents", 0, MANY);
    put_scalars(d, "a/1.tfevents", 5, 7);
    for (uint32_t threads = 0; threads < 4; threads++) {
        sb_reader_table *t = read_table(d, &SB_INIT(sb_reader_table_opts, .threads = threads));
        expect_scalars(t, "b", "loss", 0, MANY, 1);
        expect_scalars(t, "b", "accuracy", 0, MANY, 2);
        expect_scalars(t, "a", "loss", 5, 2, 1);
        assert_string_equal(sb_reader_table_at(t, 0)->run, "a");
        assert_slice_is(sb_reader_table_at(t, 0)->tag, "loss");
        assert_slice_is(sb_reader_table_at(t, 1)->tag, "accuracy");
        assert_slice_is(sb_reader_table_at(t, 1)->plugin_name, "scalars");
        assert_string_equal(sb_reader_table_at(t, 3)->run, "b");
        assert_null(sb_reader_table_at(t, 4));
        assert_null(sb_reader_table_find(t, "b", "los"));
        assert_null(sb_reader_table_find(t, "c", "loss"));
        assert_int_equal(sb_reader_table_damage_count(t), 0);
        sb_reader_table_free(t);
    }
}

static void files_of_a_run_are_joined_in_order(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "r/1.tfevents", 0, 1000);
    put_scalars(d, "r/2.tfevents", 1000, 1010);
    put_scalars(d, "r/3.tfevents", 1010, MANY);
    sb_reader_table *t = read_table(d, NULL);
    expect_scalars(t, "r", "loss", 0, MANY, 1);
    expect_scalars(t, "r", "accuracy", 0, MANY, 2);
    sb_reader_table_free(t);
}

static void only_what_is_asked_for_is_kept(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "a/1.tfevents", 0, MANY);
    put_scalars(d, "b/1.tfevents", 0, 10);
    const char *tags[] = {"zzz", "loss", "loss"};
    sb_reader_table *t = read_table(
        d, &SB_INIT(sb_reader_table_opts, .run = "a", .tags = tags, .tag_count = SB_COUNT(tags)));
    expect_scalars(t, "a", "loss", 0, MANY, 1);
    assert_null(sb_reader_table_at(t, 1));
    sb_reader_table_free(t);
    t = read_table(d, &SB_INIT(sb_reader_table_opts, .tags = tags));
    assert_null(sb_reader_table_at(t, 0)); /* a list without a tag asks for none */
    sb_reader_table_free(t);
    t = read_table(d, &SB_INIT(sb_reader_table_opts, .kinds = 1u << SB_READS_TEXT));
    assert_null(sb_reader_table_at(t, 0));
    sb_reader_table_free(t);
}

/* The bytes of item k of point i. */
static sb_slice item_of(const sb_reader_columns *c, size_t i, size_t k) {
    size_t first = i ? c->ends[i - 1] : 0;
    assert_true(first + k < c->ends[i]);
    return c->items[first + k];
}

static void texts_images_and_tensors_come_as_bytes(void **state) {
    sb_test_dir *d = *state;
    const sb_slice words[] = {SB_LIT("one"), SB_LIT("two"), SB_LIT("three"), SB_LIT("")};
    for (int part = 0; part < 2; part++) { /* two files of one run */
        frames f;
        frames_init(&f);
        int64_t base = part * 10;
        for (int64_t i = base; i < base + 3; i++) {
            add_strings(&f, i, "note", words, 1 + i % 4, "text");
            add_strings(&f, i, "photo", words, 3, "images"); /* width, height, one image */
            add_number(&f, i, "weights", (double)i, "mesh");
        }
        add_simple(&f, 5, "note", 1); /* a number where texts were: left out */
        put(d, part ? "r/2.tfevents" : "r/1.tfevents", &f);
    }
    sb_reader_table *t = read_table(d, &SB_INIT(sb_reader_table_opts, .kinds = UINT32_MAX));
    const sb_reader_columns *note = sb_reader_table_find(t, "r", "note");
    assert_int_equal(note->kind, SB_READS_TEXT);
    assert_int_equal(note->count, 6);
    assert_int_equal(note->skipped, 2);
    assert_null(note->values);
    assert_slice_is(note->description, "what");
    assert_slice_is(item_of(note, 0, 0), "one");
    assert_slice_is(item_of(note, 1, 1), "two");
    assert_slice_is(item_of(note, 3, 2), "three"); /* step 10: three strings */
    assert_int_equal(note->steps[3], 10);
    assert_int_equal(note->ends[5], 1 + 2 + 3 + 3 + 4 + 1);
    const sb_reader_columns *photo = sb_reader_table_find(t, "r", "photo");
    assert_int_equal(photo->kind, SB_READS_IMAGES);
    assert_int_equal(photo->ends[5], 6);
    assert_slice_is(item_of(photo, 4, 0), "three");
    const sb_reader_columns *weights = sb_reader_table_find(t, "r", "weights");
    assert_int_equal(weights->kind, SB_READS_TENSOR);
    sb_value value;
    double number;
    assert_int_equal(sb_value_read(&value, item_of(weights, 5, 0)), SB_OK);
    assert_true(sb_scalar_of(&value, &number, NULL) && number == 12);
    sb_reader_table_free(t);
}

static void metadata_of_an_earlier_file_counts_for_later_ones(void **state) {
    sb_test_dir *d = *state;
    frames f;
    frames_init(&f);
    add_number(&f, 0, "x", 0, "scalars");
    put(d, "r/1.tfevents", &f);
    frames_init(&f);
    for (int64_t i = 1; i < 9; i++) add_number(&f, i, "x", (double)i, NULL);
    put(d, "r/2.tfevents", &f);
    sb_reader_table *tensors =
        read_table(d, &SB_INIT(sb_reader_table_opts, .kinds = 1u << SB_READS_TENSOR));
    assert_null(sb_reader_table_at(tensors, 0));
    sb_reader_table_free(tensors);
    sb_reader_table *t = read_table(d, NULL);
    expect_scalars(t, "r", "x", 0, 9, 1);
    sb_reader_table_free(t);
}

/* A SessionLog event. */
static void add_session(frames *f, int64_t step, int64_t status) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 10);
    sb_pb_add_double(&b, SB_EVENT_WALL_TIME, 1e9 + (double)step);
    sb_pb_add_int_nz(&b, SB_EVENT_STEP, step);
    size_t log = sb_pb_begin(&b, SB_EVENT_SESSION_LOG, 20);
    sb_pb_add_int_nz(&b, SB_SESSION_LOG_STATUS, status);
    sb_pb_add_bytes_nz(&b, SB_SESSION_LOG_MSG, SB_LIT("hello"));
    sb_pb_end(&b, log);
    sb_test_add_record(&f->bytes, sb_buf_slice(&b));
    sb_buf_fini(&b);
}

static void superseded_points_are_left_out_on_demand(void **state) {
    sb_test_dir *d = *state;
    const sb_slice words[] = {SB_LIT("one"), SB_LIT("two")};
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 10; i++) { /* wall times 0 to 9 */
        add_simple(&f, i, "loss", (float)i);
        add_strings(&f, i, "note", words, 1 + i % 2, "text");
    }
    put(d, "r/1.tfevents", &f);
    frames_init(&f); /* begins at wall time 20 with step 20; the START says that step 7 comes */
    add_simple(&f, 20, "loss", 20);
    add_session(&f, 7, SB_SESSION_STATUS_START);
    add_simple(&f, 8, "loss", 8);
    add_simple(&f, 21, "loss", 21);
    put(d, "r/2.tfevents", &f);
    sb_reader_table_opts opts = SB_INIT(sb_reader_table_opts, .kinds = UINT32_MAX);
    sb_reader_table *t = read_table(d, &opts);
    assert_int_equal(sb_reader_table_find(t, "r", "loss")->count, 13);
    assert_int_equal(sb_reader_table_find(t, "r", "note")->count, 10);
    sb_reader_table_free(t);
    opts.flags = SB_TABLE_HIDE_SUPERSEDED;
    t = read_table(d, &opts);
    const sb_reader_columns *loss = sb_reader_table_find(t, "r", "loss");
    /* The START cuts step 20 before it in its own file. The piece behind it cuts the first file at
     * 8; the START itself does not, since its wall time is before that file's end. */
    assert_int_equal(loss->count, 10);
    assert_int_equal(loss->steps[7], 7);
    assert_int_equal(loss->steps[8], 8);
    assert_int_equal(loss->steps[9], 21);
    assert_true(loss->values[8] == 8 && loss->wall_times[9] == 1e9 + 21);
    assert_int_equal(sb_reader_table_find(t, "r", "note")->count, 10);
    sb_reader_table_free(t);
    frames_init(&f); /* a third file, whose steps are all beyond; STOPs cut nothing */
    for (int64_t i = 0; i < 2; i++) {
        add_strings(&f, 30 + i, "note", words, 2, "text");
        add_session(&f, 3, SB_SESSION_STATUS_STOP);
    }
    put(d, "r/3.tfevents", &f);
    t = read_table(d, &opts);
    const sb_reader_columns *note = sb_reader_table_find(t, "r", "note");
    assert_int_equal(note->count, 12);
    assert_int_equal(note->ends[11], 5 * 1 + 5 * 2 + 2 * 2);
    sb_reader_table_free(t);
}

static void items_go_with_their_points(void **state) {
    sb_test_dir *d = *state;
    const sb_slice words[] = {SB_LIT("one"), SB_LIT("two"), SB_LIT("three")};
    frames f;
    frames_init(&f);
    for (int64_t i = 5; i < 11; i++) add_strings(&f, i, "note", words, 1 + i % 3, "text");
    put(d, "r/1.tfevents", &f);
    frames_init(&f);
    add_simple(&f, 100, "x", 1); /* the file begins when the other has ended */
    add_strings(&f, 7, "note", words, 3, "text");
    put(d, "r/2.tfevents", &f);
    sb_reader_table *t = read_table(d, &SB_INIT(sb_reader_table_opts, .kinds = 1u << SB_READS_TEXT,
                                                .flags = SB_TABLE_HIDE_SUPERSEDED));
    const sb_reader_columns *note = sb_reader_table_find(t, "r", "note");
    assert_int_equal(note->count, 3); /* 5, 6 and the new 7 */
    assert_int_equal(note->steps[2], 7);
    assert_int_equal(note->ends[0], 3);
    assert_int_equal(note->ends[1], 4);
    assert_int_equal(note->ends[2], 7);
    assert_slice_is(item_of(note, 1, 0), "one");
    assert_slice_is(item_of(note, 2, 2), "three");
    sb_reader_table_free(t);
}

static void positions_tell_the_order_across_tags_and_files(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "r/1.tfevents", 0, 100);
    put_scalars(d, "r/2.tfevents", 100, 150);
    put_scalars(d, "s/1.tfevents", 0, 3);
    sb_reader_table *t = read_table(
        d, &SB_INIT(sb_reader_table_opts, .columns = SB_COLUMN_STEPS | SB_COLUMN_POSITIONS));
    const sb_reader_columns *loss = sb_reader_table_find(t, "r", "loss"),
                            *accuracy = sb_reader_table_find(t, "r", "accuracy");
    assert_int_equal(loss->count, 150);
    assert_null(loss->values);
    assert_null(loss->wall_times);
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(loss->steps[i], (int64_t)i);
        assert_int_equal(loss->positions[i], 2 * i);
        assert_int_equal(accuracy->positions[i], 2 * i + 1);
    }
    assert_int_equal(sb_reader_table_find(t, "s", "loss")->positions[0], 0);
    sb_reader_table_free(t);
}

static const sb_reader_columns *of_kind(const sb_reader_table *t, sb_reader_kind kind) {
    const sb_reader_columns *c;
    for (size_t i = 0; (c = sb_reader_table_at(t, i)); i++)
        if (c->kind == kind) return c;
    return NULL;
}

static void tags_can_be_read_as_they_are_stored(void **state) {
    sb_test_dir *d = *state;
    const sb_slice word = SB_LIT("hello");
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 300;
         i++) { /* one tag in two forms; both are scalars to everybody else */
        add_number(&f, i, "x", (double)i, "scalars");
        if (i % 3 == 0) add_simple(&f, i, "x", (float)i);
    }
    add_strings(&f, 1, "note", &word, 1, "text");
    put(d, "r/1.tfevents", &f);
    sb_reader_table_opts opts = SB_INIT(sb_reader_table_opts, .kinds = UINT32_MAX);
    sb_reader_table *t = read_table(d, &opts);
    assert_int_equal(of_kind(t, SB_READS_SCALAR)->count, 400);
    sb_reader_table_free(t);
    for (uint32_t columns = SB_COLUMN_STEPS; columns <= SB_COLUMN_VALUES; columns *= 4) {
        opts.columns = columns; /* without values numbers in tensors take the fast path, too */
        opts.flags = SB_TABLE_AS_STORED;
        t = read_table(d, &opts);
        assert_int_equal(of_kind(t, SB_READS_SCALAR)->count, 100);
        assert_int_equal(of_kind(t, SB_READS_SCALAR)->steps[99], 297);
        assert_int_equal(of_kind(t, SB_READS_TENSOR)->count, 300);
        assert_slice_is(of_kind(t, SB_READS_TENSOR)->tag, "x");
        assert_null(of_kind(t, SB_READS_TEXT));
        assert_int_equal(sb_reader_table_find(t, "r", "note")->kind, SB_READS_TENSOR);
        sb_reader_table_free(t);
    }
}

static void events_without_values_are_kept_on_demand(void **state) {
    sb_test_dir *d = *state;
    frames f;
    frames_init(&f);
    add_simple(&f, 1, "x", 1);
    add_session(&f, 2, SB_SESSION_STATUS_START);
    add_session(&f, 3, SB_SESSION_STATUS_STOP);
    put(d, "r/1.tfevents", &f);
    sb_reader_table *t = read_table(d, NULL);
    assert_null(sb_reader_table_event(t, 0));
    sb_reader_table_free(t);
    t = read_table(d, &SB_INIT(sb_reader_table_opts, .flags = SB_TABLE_KEEP_EVENTS));
    const sb_reader_event *event = sb_reader_table_event(t, 1);
    assert_int_equal(event->what, SB_READS_SESSION);
    assert_int_equal(event->number, SB_SESSION_STATUS_STOP);
    assert_int_equal(event->step, 3);
    assert_string_equal(event->run, "r");
    assert_slice_is(event->body, "hello");
    assert_null(sb_reader_table_event(t, 2));
    sb_reader_table_free(t);
}

static void a_bad_first_value_does_not_spoil_its_tag(void **state) {
    sb_test_dir *d = *state;
    const double two[] = {1, 2};
    const int64_t n = 2;
    frames f;
    frames_init(&f);
    add_tensor(&f, 0, "x", &(sb_array){.data = two, .dtype = SB_DOUBLE, .rank = 1, .dims = &n},
               "scalars");
    for (int64_t i = 1; i < 5; i++) add_number(&f, i, "x", (double)i, NULL);
    put(d, "r/1.tfevents", &f);
    sb_reader_table *t = read_table(d, NULL);
    expect_scalars(t, "r", "x", 1, 4, 1);
    assert_int_equal(sb_reader_table_at(t, 0)->skipped, 1);
    sb_reader_table_free(t);
}

static void damage_costs_only_itself_and_is_told(void **state) {
    sb_test_dir *d = *state;
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 4; i++) add_simple(&f, i, "loss", (float)i);
    size_t record = f.bytes.n / 4;
    f.bytes.p[f.bytes.n - 6] ^= 1; /* the payload of the last one */
    sb_buf_add_str(&f.bytes, "noise");
    put(d, "r/1.tfevents", &f);
    sb_test_dir_put(d, "s/1.tfevents", SB_LIT(""));
    sb_reader_table *t = read_table(d, NULL);
    expect_scalars(t, "r", "loss", 0, 3, 1);
    assert_int_equal(sb_reader_table_damage_count(t), 1);
    const sb_reader_gap *gap = sb_reader_table_damage(t, 0);
    assert_int_equal(gap->kind, SB_BAD_PAYLOAD);
    assert_true(gap->bytes >= record - 2);
    assert_string_equal(gap->run, "r");
    assert_null(sb_reader_table_damage(t, 1));
    sb_reader_table_free(t);
}

static void senseless_questions_are_refused(void **state) {
    sb_test_dir *d = *state;
    sb_reader_table *t;
    sb_err err;
    assert_int_equal(sb_reader_table_read(&t, sb_test_dir_join(d, "nothing"), NULL, &err),
                     SB_NOT_FOUND);
    assert_int_equal(sb_reader_table_read(&t, NULL, NULL, &err), SB_INVALID);
    sb_reader_table_opts no_size = {0};
    assert_int_equal(sb_reader_table_read(&t, sb_test_dir_path(d), &no_size, &err), SB_INVALID);
    const char *none[] = {NULL};
    assert_int_equal(
        sb_reader_table_read(&t, sb_test_dir_path(d),
                             &SB_INIT(sb_reader_table_opts, .tags = none, .tag_count = 1), &err),
        SB_INVALID);
    assert_null(t);
    t = read_table(d, NULL); /* a directory without runs is no error */
    assert_null(sb_reader_table_at(t, 0));
    sb_reader_table_free(t);
    sb_reader_table_free(NULL);
}

static void items_beyond_the_limit_are_refused(void **state) {
    sb_test_dir *d = *state;
    const sb_slice word = SB_LIT("0123456789");
    frames f;
    frames_init(&f);
    for (int64_t i = 0; i < 100; i++) add_strings(&f, i, "note", &word, 1, "text");
    put(d, "1.tfevents", &f);
    sb_reader_table *t;
    sb_err err;
    sb_reader_table_opts opts =
        SB_INIT(sb_reader_table_opts, .kinds = 1u << SB_READS_TEXT, .max_bytes = 1000);
    assert_int_equal(sb_reader_table_read(&t, sb_test_dir_path(d), &opts, &err), SB_LIMIT);
    opts.max_bytes = 100000;
    assert_ok(sb_reader_table_read(&t, sb_test_dir_path(d), &opts, &err), &err);
    assert_int_equal(sb_reader_table_at(t, 0)->count, 100);
    sb_reader_table_free(t);
}

/* The caller's memory: counts what it holds. */
static _Atomic size_t held;
static void *counted_resize(void *ud, void *p, size_t old_size, size_t new_size) {
    assert_ptr_equal(ud, &held);
    atomic_fetch_add(&held, new_size - old_size);
    return sb_alloc_libc.resize(sb_alloc_libc.ctx, p, old_size, new_size);
}

static void columns_are_in_the_callers_memory(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "r/1.tfevents", 0, MANY);
    put_scalars(d, "r/2.tfevents", MANY, 2 * MANY);
    sb_reader_table *t =
        read_table(d, &SB_INIT(sb_reader_table_opts, .resize = counted_resize, .ud = &held));
    expect_scalars(t, "r", "loss", 0, 2 * MANY, 1);
    size_t points = 2 * 2 * MANY;
    assert_in_range(atomic_load(&held), points * 24, points * 24 * 2 + 4096);
    sb_reader_table_free(t);
    assert_int_equal(atomic_load(&held), 0);
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    sb_env env = {alloc, &sb_fs_local, &sb_clock_system};
    sb_reader_table *t;
    sb_reader_table_opts opts = SB_INIT(sb_reader_table_opts, .threads = 1, .kinds = UINT32_MAX,
                                        .flags = SB_TABLE_KEEP_EVENTS | SB_TABLE_HIDE_SUPERSEDED);
    sb_status status = sb_reader_table_read_in(&t, &env, ud, &opts, NULL);
    if (status != SB_OK) return status;
    assert_int_equal(sb_reader_table_find(t, "r", "loss")->count, 40);
    sb_reader_table_free(t);
    return SB_OK;
}

static void memory_may_run_out_anywhere(void **state) {
    sb_test_dir *d = *state;
    put_scalars(d, "r/1.tfevents", 0, 20);
    put_scalars(d, "r/2.tfevents", 20, 40);
    const sb_slice word = SB_LIT("hello");
    frames f;
    frames_init(&f);
    add_strings(&f, 1, "note", &word, 1, "text");
    add_number(&f, 1, "x", 1, "scalars");
    put(d, "s/1.tfevents", &f);
    frames_init(&f);
    add_number(&f, 2, "x", 2, NULL);
    add_session(&f, 1, SB_SESSION_STATUS_START);
    put(d, "s/2.tfevents", &f);
    sb_fault_alloc_sweep(read_with, (void *)(uintptr_t)sb_test_dir_path(d));
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(all_scalars_come_in_one_call),
        DIR_TEST(files_of_a_run_are_joined_in_order),
        DIR_TEST(only_what_is_asked_for_is_kept),
        DIR_TEST(texts_images_and_tensors_come_as_bytes),
        DIR_TEST(metadata_of_an_earlier_file_counts_for_later_ones),
        DIR_TEST(superseded_points_are_left_out_on_demand),
        DIR_TEST(items_go_with_their_points),
        DIR_TEST(positions_tell_the_order_across_tags_and_files),
        DIR_TEST(tags_can_be_read_as_they_are_stored),
        DIR_TEST(events_without_values_are_kept_on_demand),
        DIR_TEST(a_bad_first_value_does_not_spoil_its_tag),
        DIR_TEST(damage_costs_only_itself_and_is_told),
        DIR_TEST(senseless_questions_are_refused),
        DIR_TEST(items_beyond_the_limit_are_refused),
        DIR_TEST(columns_are_in_the_callers_memory),
        DIR_TEST(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
