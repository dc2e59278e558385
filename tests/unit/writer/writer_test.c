/* A writer's life: names, header, scalars in every form, threads, large calls, refusals, forks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/event.h"
#include "codec/summary.h"
#include "support/events.h"
#include "writer/writer_int.h"

static const sb_env still_env = {&sb_alloc_libc, &sb_fs_local, &sb_test_clock};

static sb_writer *open_still(const char *logdir, sb_style style, const char *suffix) {
    sb_writer *w = NULL;
    sb_err err;
    sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = logdir, .style = style, .filename_suffix = suffix);
    assert_ok(sb_writer_open_env(&w, &opts, &still_env, &err), &err);
    return w;
}

static void close_well(sb_writer *w) {
    sb_err err;
    assert_ok(sb_writer_close(w, &err), &err);
}

static sb_slice hex(const char *text) {
    static uint8_t bytes[512];
    return sb_test_bytes(bytes, sizeof bytes, text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void assert_name(sb_style style, const char *suffix, bool has_pid, const char *tail,
                        sb_test_dir *d) {
    char logdir[64], expected[4096], host[256] = {0};
    snprintf(logdir, sizeof logdir, "%d%s", (int)style, suffix ? suffix : "none");
    const char *path = sb_test_dir_join(d, logdir);
    sb_writer *w = open_still(path, style, suffix);
    gethostname(host, sizeof host - 1);
    char name[512];
    snprintf(name, sizeof name, "events.out.tfevents.1700000000.%s", host);
    size_t n = strlen(name);
    if (has_pid) n += (size_t)snprintf(name + n, 32, ".%ld.0", (long)getpid());
    snprintf(name + n, 32, "%s", tail);
    snprintf(expected, sizeof expected, "%s/%s", path, name);
    char actual[4096];
    assert_int_equal(sb_writer_path(w, actual, sizeof actual), strlen(expected));
    assert_string_equal(actual, expected);
    close_well(w);
}

static void file_names_are_those_of_each_framework(void **state) {
    sb_test_dir *d = *state;
    assert_name(SB_STYLE_TF2, NULL, true, ".v2", d);
    assert_name(SB_STYLE_TF2, "mine", true, ".mine", d);
    assert_name(SB_STYLE_TF2, ".mine", true, ".mine", d);
    assert_name(SB_STYLE_TF2, "", true, ".", d);
    assert_name(SB_STYLE_TF1, NULL, false, "", d);
    assert_name(SB_STYLE_TF1, ".suffix", false, ".suffix", d);
    assert_name(SB_STYLE_TORCH, NULL, true, "", d);
    assert_name(SB_STYLE_TORCH, "tail", true, "tail", d);
    assert_name(SB_STYLE_TBX, NULL, false, "", d);
}

static void header_record_is_that_of_each_framework(void **state) {
    sb_test_dir *d = *state;
    const struct {
        sb_style style;
        const char *name, *payload;
    } rows[] = {
        {SB_STYLE_TF2, "tf2",
         "0900000040fc54d941 1a0d627261696e2e4576656e743a32 52240a22"
         "74656e736f72666c6f772e636f72652e7574696c2e6576656e74735f777269746572"},
        {SB_STYLE_TBX, "tbx", "0900001040fc54d941 1a0d627261696e2e4576656e743a32"},
        {SB_STYLE_TORCH, "torch",
         "0900001040fc54d941 1a0d627261696e2e4576656e743a32 522e0a2c"
         "74656e736f72626f6172642e73756d6d6172792e7772697465722e6576656e745f66696c655f77726974657"
         "2"},
    };
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        const char *logdir = sb_test_dir_join(d, rows[i].name);
        close_well(open_still(logdir, rows[i].style, NULL));
        sb_test_files files = sb_test_event_files(d, logdir);
        assert_int_equal(files.count, 1);
        sb_test_records records = sb_test_read_records(d, files.paths[0]);
        assert_int_equal(records.count, 1);
        assert_slice_equal(records.payloads[0], hex(rows[i].payload));
        sb_test_records_free(&records);
    }
}

static void writers_of_the_same_second_never_share_a_file(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "shared");
    sb_writer *writers[8];
    for (int i = 0; i < 8; i++) {
        writers[i] = open_still(logdir, (sb_style)(i % 4), NULL);
        assert_int_equal(sb_scalar(writers[i], "x", i, i), SB_OK);
    }
    for (int i = 0; i < 8; i++) close_well(writers[i]);
    sb_test_files files = sb_test_event_files(d, logdir);
    assert_int_equal(files.count, 8);
    for (size_t i = 0; i < files.count; i++) {
        sb_test_records records = sb_test_read_records(d, files.paths[i]);
        assert_int_equal(records.count, 2);
        sb_test_records_free(&records);
    }
}

static void missing_parents_are_made_whatever_their_names(void **state) {
    sb_test_dir *d = *state;
    char deep[1024] = "训练 日志/a b/";
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(deep);
        memset(deep + n, 'x', 200);
        memcpy(deep + n + 200, "/", 2);
    }
    const char *logdir = sb_test_dir_join(d, deep);
    sb_writer *w = open_still(logdir, SB_STYLE_TF2, NULL);
    assert_int_equal(sb_scalar(w, "损失/训练 🎉", 1, 1), SB_OK);
    close_well(w);
    assert_int_equal(sb_test_event_files(d, logdir).count, 1);
}

static void impossible_directories_are_refused_with_a_reason(void **state) {
    sb_test_dir *d = *state;
    sb_writer *w;
    sb_err err;
    const char *file = sb_test_dir_put(d, "file", SB_LIT("x"));
    assert_int_equal(sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = file), &err), SB_IO);
    assert_non_null(strstr(err.text, "is a file"));
    assert_null(w);
    const char *below = sb_test_dir_join(d, "file/below");
    assert_int_equal(sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = below), &err), SB_IO);
    assert_non_null(strstr(err.text, "Not a directory"));
    assert_int_equal(sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = ""), &err), SB_INVALID);
    assert_int_equal(sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = NULL), &err),
                     SB_INVALID);
    assert_int_equal(sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = "x", .style = 9), &err),
                     SB_INVALID);
    sb_writer_opts slash = SB_INIT(sb_writer_opts, .logdir = "x", .filename_suffix = "../y");
    assert_int_equal(sb_writer_open(&w, &slash, &err), SB_INVALID);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void assert_scalar(sb_test_dir *d, sb_style style, sb_scalar_form form, int64_t step,
                          double value, const char *payload) {
    char name[32];
    snprintf(name, sizeof name, "%d-%d-%ld", (int)style, (int)form, (long)step);
    const char *logdir = sb_test_dir_join(d, name);
    sb_writer *w = open_still(logdir, style, NULL);
    assert_int_equal(sb_scalar_as(w, "loss", value, step, form, NULL), SB_OK);
    if (form == SB_SCALAR_DEFAULT) assert_int_equal(sb_scalar(w, "loss", value, step), SB_OK);
    close_well(w);
    sb_test_files files = sb_test_event_files(d, logdir);
    sb_test_records records = sb_test_read_records(d, files.paths[0]);
    assert_int_equal(records.count, form == SB_SCALAR_DEFAULT ? 3 : 2);
    for (size_t i = 1; i < records.count; i++)
        assert_slice_equal(records.payloads[i], hex(payload));
    sb_test_records_free(&records);
}

#define HEAD "0900001040fc54d941 1007 "
#define SCALARS "4a0b 0a09 0a077363616c617273"

static void scalars_have_the_bytes_of_each_framework(void **state) {
    sb_test_dir *d = *state;
    const char *simple = HEAD "2a0d 0a0b 0a046c6f7373 150000003f";
    assert_scalar(d, SB_STYLE_TORCH, SB_SCALAR_DEFAULT, 7, 0.5, simple);
    assert_scalar(d, SB_STYLE_TBX, SB_SCALAR_DEFAULT, 7, 0.5, simple);
    assert_scalar(d, SB_STYLE_TF1, SB_SCALAR_DEFAULT, 7, 0.5, simple);
    assert_scalar(d, SB_STYLE_TF2, SB_SCALAR_SIMPLE, 7, 0.5, simple);
    assert_scalar(d, SB_STYLE_TORCH, SB_SCALAR_TENSOR, 7, 0.5,
                  HEAD "2a1f 0a1d 0a046c6f7373 4208 0801 2a040000003f " SCALARS);
    assert_scalar(d, SB_STYLE_TORCH, SB_SCALAR_DOUBLE, 7, 0.5,
                  HEAD "2a23 0a21 0a046c6f7373 420c 0802 3208000000000000e03f " SCALARS);
    assert_scalar(d, SB_STYLE_TF2, SB_SCALAR_DEFAULT, 7, 0.5,
                  HEAD "2a21 0a1f 0a046c6f7373 420a 0801 1200 22040000003f " SCALARS);
    assert_scalar(d, SB_STYLE_TBX, SB_SCALAR_DEFAULT, -1, 0.0,
                  "0900001040fc54d941 10ffffffffffffffffff01 2a0d 0a0b 0a046c6f7373 1500000000");
}

static void odd_numbers_are_kept_bit_for_bit(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "odd");
    const uint64_t bits[] = {0x7FF0000000000000u, 0xFFF0000000000000u, 0x7FF8000000000000u,
                             0x8000000000000000u, 0x0000000000000001u, 0x7FEFFFFFFFFFFFFFu};
    const int64_t steps[] = {0, INT64_MIN, INT64_MAX, -1, 127, 128};
    sb_writer *w = open_still(logdir, SB_STYLE_TF2, NULL);
    for (size_t i = 0; i < SB_COUNT(bits); i++)
        assert_int_equal(
            sb_scalar_as(w, "x", sb_bits_double(bits[i]), steps[i], SB_SCALAR_DOUBLE, NULL), SB_OK);
    close_well(w);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_int_equal(records.count, 1 + SB_COUNT(bits));
    for (size_t i = 0; i < SB_COUNT(bits); i++) {
        sb_event event;
        sb_value value;
        double number;
        assert_int_equal(sb_event_read(&event, records.payloads[i + 1]), SB_OK);
        sb_summary_walk values = sb_summary_over(event.body);
        assert_int_equal(sb_summary_next(&values, &value), SB_OK);
        assert_true(sb_scalar_of(&value, &number, NULL));
        assert_int_equal(sb_double_bits(number), bits[i]);
        assert_int_equal(event.step, steps[i]);
    }
    sb_test_records_free(&records);
}

static void display_name_and_description_go_into_the_metadata(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "meta");
    sb_writer *w = open_still(logdir, SB_STYLE_TF2, NULL);
    sb_meta meta =
        SB_INIT(sb_meta, .display_name = "Loss", .description = "**how bad**", .wall_time = 12.5);
    assert_int_equal(sb_scalar_as(w, "loss", 1, 2, SB_SCALAR_DEFAULT, &meta), SB_OK);
    close_well(w);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    sb_event event;
    sb_value value;
    sb_metadata metadata;
    assert_int_equal(sb_event_read(&event, records.payloads[1]), SB_OK);
    assert_true(event.wall_time == 12.5);
    sb_summary_walk values = sb_summary_over(event.body);
    assert_int_equal(sb_summary_next(&values, &value), SB_OK);
    assert_int_equal(sb_metadata_read(&metadata, value.metadata), SB_OK);
    assert_slice_is(metadata.plugin_name, "scalars");
    assert_slice_is(metadata.display_name, "Loss");
    assert_slice_is(metadata.description, "**how bad**");
    sb_test_records_free(&records);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void calls_that_make_no_sense_are_refused_and_write_nothing(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "refused");
    sb_writer *w = open_still(logdir, SB_STYLE_TF2, NULL);
    sb_err err;
    assert_int_equal(sb_scalar(w, NULL, 1, 1), SB_INVALID);
    assert_int_equal(sb_writer_error(w, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "needs a tag"));
    assert_int_equal(sb_scalar(w, "bad \xff byte", 1, 1), SB_INVALID);
    assert_int_equal(sb_writer_error(w, &err), SB_INVALID);
    assert_non_null(strstr(err.text, "not valid UTF-8"));
    size_t n = (size_t)64 << 20;
    char *endless = malloc(n + 1);
    memset(endless, 'a', n);
    endless[n] = 0;
    assert_int_equal(sb_scalar(w, endless, 1, 1), SB_LIMIT);
    endless[SB_TAG_MAX] = 0;
    assert_int_equal(sb_scalar(w, endless, 1, 1), SB_OK);
    free(endless);
    assert_int_equal(sb_scalar_as(w, "x", 1, 1, 77, NULL), SB_INVALID);
    assert_int_equal(sb_raw_event(w, sb_slice_of(NULL, 0)), SB_INVALID);
    assert_int_equal(sb_summary(w, SB_LIT("\xff\xff\xff"), 1), SB_INVALID);
    assert_int_equal(sb_scalar(NULL, "x", 1, 1), SB_INVALID);
    close_well(w);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_int_equal(records.count, 2);
    sb_test_records_free(&records);
}

/* ---- flushing and closing -------------------------------------------------------------------- */

static void flush_puts_every_earlier_call_into_the_file(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "flush");
    sb_writer *w = open_still(logdir, SB_STYLE_TF2, NULL);
    const char *path = sb_test_event_files(d, logdir).paths[0];
    sb_err err;
    for (size_t round = 1; round <= 20; round++) {
        for (int i = 0; i < 7; i++) sb_scalar(w, "x", i, i);
        assert_ok(sb_writer_flush(w, &err), &err);
        sb_test_records records = sb_test_read_records(d, path);
        assert_int_equal(records.count, 1 + 7 * round);
        assert_int_equal(records.tail, 0);
        sb_test_records_free(&records);
    }
    assert_ok(sb_writer_flush(w, &err), &err);
    sb_writer_stats stats = SB_INIT(sb_writer_stats);
    sb_writer_get_stats(w, &stats);
    assert_int_equal(stats.written, 140);
    assert_int_equal(stats.dropped, 0);
    assert_int_equal(stats.pending, 0);
    struct stat info;
    stat(path, &info);
    assert_int_equal(stats.bytes, info.st_size);
    close_well(w);
    assert_int_equal(sb_writer_close(NULL, NULL), SB_OK);
}

static void large_calls_travel_outside_the_ring(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "large");
    sb_writer *w = NULL;
    sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = logdir, .ring_bytes = 1, .big_bytes = 3 << 20);
    assert_int_equal(sb_writer_open(&w, &opts, NULL), SB_OK);
    /* A summary whose unknown field 15 is large. */
    size_t n = (1 << 20) + 4;
    uint8_t *summary = calloc(1, n);
    memcpy(summary, "\x7a\x80\x80\x40", 4);
    for (int i = 0; i < 20; i++) assert_int_equal(sb_summary(w, sb_slice_of(summary, n), i), SB_OK);
    sb_err err;
    uint8_t *over = calloc(1, (3 << 20) + 5);
    memcpy(over, "\x7a\x80\x80\xc0\x01", 5);
    assert_int_equal(sb_summary(w, sb_slice_of(over, (3 << 20) + 5), 0), SB_LIMIT);
    assert_int_equal(sb_writer_error(w, &err), SB_LIMIT);
    assert_non_null(strstr(err.text, "big_bytes"));
    close_well(w);
    free(summary);
    free(over);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_int_equal(records.count, 21);
    assert_true(records.payloads[20].n > n);
    sb_test_records_free(&records);
}

static void tf1_style_writes_the_metadata_of_a_tag_once(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "tf1");
    sb_writer *w = open_still(logdir, SB_STYLE_TF1, NULL);
    /* value { tag: "a" simple_value: 1 metadata { display_name: "A" } } */
    sb_slice summary = hex("0a0d 0a0161 150000803f 4a03 120141");
    assert_int_equal(sb_summary(w, summary, 1), SB_OK);
    assert_int_equal(sb_summary(w, summary, 2), SB_OK);
    close_well(w);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_slice_equal(records.payloads[1],
                       hex("0900001040fc54d941 1001 2a0f 0a0d 0a0161 150000803f 4a03 120141"));
    assert_slice_equal(records.payloads[2],
                       hex("0900001040fc54d941 1002 2a0a 0a08 0a0161 150000803f"));
    sb_test_records_free(&records);
}

/* ---- threads and processes ------------------------------------------------------------------- */

#define THREADS 4
#define EACH 5000

typedef struct logger {
    sb_writer *w;
    int id;
} logger;

static void *log_much(void *ud) {
    logger *l = ud;
    char tag[16];
    snprintf(tag, sizeof tag, "t%d", l->id);
    for (int64_t i = 0; i < EACH; i++) {
        sb_scalar(l->w, tag, (double)i, i);
        if (i % 1000 == 0) sb_writer_flush(l->w, NULL);
    }
    return NULL;
}

static void threads_share_a_writer_and_lose_nothing(void **state) {
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "threads");
    sb_writer *w = NULL;
    sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = logdir, .style = SB_STYLE_TORCH, .ring_bytes = 1);
    assert_int_equal(sb_writer_open(&w, &opts, NULL), SB_OK);
    pthread_t threads[THREADS];
    logger loggers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        loggers[i] = (logger){w, i};
        pthread_create(&threads[i], NULL, log_much, &loggers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    close_well(w);
    sb_test_records records = sb_test_read_records(d, sb_test_event_files(d, logdir).paths[0]);
    assert_int_equal(records.count, 1 + THREADS * EACH);
    int64_t next[THREADS] = {0};
    for (size_t i = 1; i < records.count; i++) {
        sb_event event;
        sb_value value;
        assert_int_equal(sb_event_read(&event, records.payloads[i]), SB_OK);
        sb_summary_walk values = sb_summary_over(event.body);
        assert_int_equal(sb_summary_next(&values, &value), SB_OK);
        int id = value.tag.p[1] - '0';
        assert_int_equal(event.step, next[id]++);
    }
    sb_test_records_free(&records);
}

/* In the child: log, close, and leave without cmocka's or the sanitizer's farewell. */
static void child_logs(sb_writer *w) {
    sb_status status = SB_OK;
    for (int i = 0; i < 50 && status == SB_OK; i++) status = sb_scalar(w, "child", i, i);
    if (status == SB_OK) status = sb_writer_flush(w, NULL);
    if (status == SB_OK) status = sb_writer_close(w, NULL);
    _exit(status == SB_OK ? 0 : 1);
}

static void forked_child_gets_a_file_of_its_own(void **state) {
#ifdef __SANITIZE_THREAD__
    skip(); /* TSan itself can't start threads after a fork */
#endif
    sb_test_dir *d = *state;
    const char *logdir = sb_test_dir_join(d, "fork");
    sb_writer *w = open_still(logdir, SB_STYLE_TORCH, NULL);
    for (int i = 0; i < 100; i++) sb_scalar(w, "parent", i, i);
    pid_t logging = fork();
    if (logging == 0) child_logs(w);
    pid_t silent = fork();
    if (silent == 0) _exit(sb_writer_close(w, NULL) == SB_OK ? 0 : 1);
    for (int i = 100; i < 200; i++) sb_scalar(w, "parent", i, i);
    int result;
    assert_int_equal(waitpid(logging, &result, 0), logging);
    assert_int_equal(result, 0);
    assert_int_equal(waitpid(silent, &result, 0), silent);
    assert_int_equal(result, 0);
    close_well(w);
    sb_test_files files = sb_test_event_files(d, logdir);
    assert_int_equal(files.count, 2);
    char pid[32];
    snprintf(pid, sizeof pid, ".%ld.", (long)logging);
    size_t childs = strstr(files.paths[0], pid) ? 0 : 1;
    assert_non_null(strstr(files.paths[childs], pid));
    sb_test_records records = sb_test_read_records(d, files.paths[childs]);
    assert_int_equal(records.count, 51);
    sb_test_records_free(&records);
    records = sb_test_read_records(d, files.paths[1 - childs]);
    assert_int_equal(records.count, 201);
    sb_test_records_free(&records);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(file_names_are_those_of_each_framework),
        DIR_TEST(header_record_is_that_of_each_framework),
        DIR_TEST(writers_of_the_same_second_never_share_a_file),
        DIR_TEST(missing_parents_are_made_whatever_their_names),
        DIR_TEST(impossible_directories_are_refused_with_a_reason),
        DIR_TEST(scalars_have_the_bytes_of_each_framework),
        DIR_TEST(odd_numbers_are_kept_bit_for_bit),
        DIR_TEST(display_name_and_description_go_into_the_metadata),
        DIR_TEST(calls_that_make_no_sense_are_refused_and_write_nothing),
        DIR_TEST(flush_puts_every_earlier_call_into_the_file),
        DIR_TEST(large_calls_travel_outside_the_ring),
        DIR_TEST(tf1_style_writes_the_metadata_of_a_tag_once),
        DIR_TEST(threads_share_a_writer_and_lose_nothing),
        DIR_TEST(forked_child_gets_a_file_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
