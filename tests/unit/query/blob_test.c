/* Records read again: what was logged comes back, or a reason why not. */
#include "query/records/blob.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "query/records/value.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/sync.h"
#include "unit/query/logs.h"

#define FILE_1 "run/events.out.tfevents.1"
#define FILE_2 "run/events.out.tfevents.2"

static void add_text(sb_buf *file, int64_t step, double wall, const char *text) {
    log_strings(file, "note", "text", SB_LIT(""), step, wall, &text, 1, 0, NULL);
}

/* n texts "text 0", "text 1", ... and some scalars between. */
static sb_buf texts(int n) {
    sb_buf file = log_begin();
    for (int i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "text %d", i);
        add_text(&file, i, 100 + i, text);
        if (i % 3 == 0) log_simple(&file, "loss", i, 100 + i, 1);
    }
    return file;
}

static size_t list_of(logs *l, const sb_series *s, sb_ref_item **items) {
    size_t n;
    sb_err err;
    assert_ok(sb_refs_list(s, &(sb_ref_ask){0}, &l->arena, items, &n, NULL, &err), &err);
    return n;
}

static sb_status read_item(logs *l, const sb_series *s, const sb_ref_item *item, sb_slice *text,
                           sb_err *err) {
    sb_slice payload;
    sb_status status =
        sb_blob_read(l->blobs, s->run, item->file, &item->ref, 1 << 20, &l->arena, &payload, err);
    if (status != SB_OK) return status;
    return sb_ref_blob(&item->ref, payload, 0, &l->arena, text, err);
}

/* The item is the text with that number. */
static void expect_text(logs *l, const sb_series *s, const sb_ref_item *item, int number) {
    char want[32];
    sb_slice text;
    sb_err err;
    snprintf(want, sizeof want, "text %d", number);
    assert_ok(read_item(l, s, item, &text, &err), &err);
    assert_slice_is(text, want);
}

/* The log of a run with n texts, loaded. */
static logs logs_of_texts(void *dir, int n) {
    logs l = logs_new(dir);
    sb_buf file = texts(n);
    log_put(&l, FILE_1, &file);
    logs_load(&l);
    return l;
}

static void records_come_back(void **state) {
    logs l = logs_of_texts(*state, 20);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    assert_int_equal(list_of(&l, &s, &items), 20);
    for (int round = 0; round < 2; round++)
        for (int i = 19; i >= 0; i--) {
            expect_text(&l, &s, &items[i], i);
            assert_int_equal(items[i].step, i);
        }
    sb_series_release(&s);
    logs_free(&l);
}

static void a_length_can_be_learned(void **state) {
    logs l = logs_of_texts(*state, 3);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    list_of(&l, &s, &items);
    items[1].ref.length = 0;
    sb_slice text;
    sb_err err;
    assert_ok(read_item(&l, &s, &items[1], &text, &err), &err);
    assert_slice_is(text, "text 1");
    items[1].ref.offset++; /* no record begins there */
    assert_int_equal(read_item(&l, &s, &items[1], &text, &err), SB_REPLACED);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- files that changed since ---------------------------------------------------------------- */

typedef void (*harm_fn)(logs *l, const char *path);

static void remove_it(logs *l, const char *path) {
    (void)l;
    assert_int_equal(unlink(path), 0);
}

static void put_another_in_its_place(logs *l, const char *path) {
    sb_buf file = texts(20);
    const char *other = log_put(l, "other", &file);
    assert_int_equal(rename(other, path), 0);
}

static void cut_it(logs *l, const char *path) {
    (void)l;
    assert_int_equal(truncate(path, 40), 0);
}

static void overwrite_it(logs *l, const char *path) {
    sb_slice bytes = sb_test_dir_get(l->dir, path);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    for (size_t i = 0; i < bytes.n; i++) fputc(bytes.p[i] ^ 1, f);
    fclose(f);
}

/* Good records of the same size with other words. */
static void write_it_anew(logs *l, const char *path) {
    (void)l;
    sb_buf file = log_begin();
    for (int i = 0; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof text, "TEXT %d", i);
        add_text(&file, i, 100 + i, text);
        if (i % 3 == 0) log_simple(&file, "loss", i, 100 + i, 1);
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fwrite(file.p, 1, file.n, f);
    fclose(f);
    sb_buf_fini(&file);
}

static void expect_gone(sb_test_dir *dir, harm_fn harm, bool was_open, const char *words) {
    logs l = logs_new(dir);
    sb_buf file = texts(20);
    const char *path = log_put(&l, FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    list_of(&l, &s, &items);
    sb_slice text;
    sb_err err = {0};
    if (was_open) assert_ok(read_item(&l, &s, &items[3], &text, &err), &err);
    harm(&l, path);
    assert_int_equal(read_item(&l, &s, &items[12], &text, &err), SB_REPLACED);
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    sb_series_release(&s);
    logs_free(&l);
    unlink(path);
}

static void changed_files_are_told_from_the_loaded_ones(void **state) {
    for (int was_open = 0; was_open < 2; was_open++) {
        expect_gone(*state, remove_it, was_open, "gone");
        expect_gone(*state, put_another_in_its_place, was_open, "another file");
        expect_gone(*state, cut_it, was_open, "cut short");
        expect_gone(*state, overwrite_it, was_open, "overwritten");
        expect_gone(*state, write_it_anew, was_open, "another record");
    }
}

static void a_file_that_left_the_run_is_gone(void **state) {
    logs l = logs_new(*state);
    sb_buf one = texts(3), two = texts(4);
    const char *path = log_put(&l, FILE_1, &one);
    log_put(&l, FILE_2, &two);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    list_of(&l, &s, &items);
    unlink(path);
    sb_test_sync(l.ingest);
    sb_slice text;
    sb_err err;
    uint32_t first = s.parts[0].file;
    items[0].file = first;
    assert_int_equal(read_item(&l, &s, &items[0], &text, &err), SB_REPLACED);
    sb_series_release(&s);
    logs_free(&l);
}

static void large_records_are_refused(void **state) {
    logs l = logs_of_texts(*state, 2);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    list_of(&l, &s, &items);
    sb_slice payload;
    sb_err err;
    assert_int_equal(
        sb_blob_read(l.blobs, s.run, items[0].file, &items[0].ref, 10, &l.arena, &payload, &err),
        SB_LIMIT);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- packed files ---------------------------------------------------------------------------- */

static void packed_files_are_read_too(void **state) {
    logs l = logs_new(*state);
    sb_buf file = texts(300);
    const char *path = sb_test_dir_put(l.dir, FILE_1 ".gz", (sb_slice){NULL, 0});
    gzFile packed = gzopen(path, "wb");
    assert_int_equal(gzwrite(packed, file.p, (unsigned)file.n), file.n);
    gzclose(packed);
    sb_buf_fini(&file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    assert_int_equal(list_of(&l, &s, &items), 300);
    int order[] = {299, 0, 150, 151, 7};
    for (size_t i = 0; i < SB_COUNT(order); i++) {
        expect_text(&l, &s, &items[order[i]], order[i]);
    }
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- open files ------------------------------------------------------------------------------ */

static void few_files_stay_open(void **state) {
    logs l = logs_new(*state);
    for (int i = 0; i < 12; i++) {
        char name[64], text[32];
        snprintf(name, sizeof name, "run/events.out.tfevents.%02d", i);
        snprintf(text, sizeof text, "file %d", i);
        sb_buf file = log_begin();
        add_text(&file, i, 100 + i, text);
        log_put(&l, name, &file);
    }
    sb_fault_fs fs;
    sb_fault_fs_init(&fs, &sb_fs_local);
    logs_load_from(&l, NULL, &fs.fs);
    int64_t before = sb_fault_fs_open_files(&fs);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    assert_int_equal(list_of(&l, &s, &items), 12);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 12; i++) {
            char want[32];
            sb_slice text;
            sb_err err;
            snprintf(want, sizeof want, "file %d", i);
            assert_ok(read_item(&l, &s, &items[i], &text, &err), &err);
            assert_slice_is(text, want);
            assert_true(sb_fault_fs_open_files(&fs) <= before + 4);
        }
    /* the last four are open: reading them again opens nothing */
    uint64_t opens = sb_fault_fs_calls(&fs, SB_CALL_OPEN);
    sb_slice text;
    for (int i = 8; i < 12; i++) assert_int_equal(read_item(&l, &s, &items[i], &text, NULL), SB_OK);
    assert_int_equal(sb_fault_fs_calls(&fs, SB_CALL_OPEN), opens);
    sb_blob_cache_drop(l.blobs);
    assert_int_equal(sb_fault_fs_open_files(&fs), before);
    sb_series_release(&s);
    logs_free(&l);
    sb_fault_fs_fini(&fs);
}

typedef struct nested {
    logs *l;
    const sb_series *series;
    const sb_ref_item *items;
    size_t n, heard;
} nested;

/* While one file is being read, all others are too. */
static sb_status read_the_others(void *ud, size_t index, sb_status status, sb_slice payload,
                                 const sb_err *err) {
    nested *x = ud;
    (void)index, (void)payload, (void)err;
    assert_int_equal(status, SB_OK);
    x->heard++;
    for (size_t i = 2; i < x->n; i++) {
        sb_slice text;
        assert_int_equal(read_item(x->l, x->series, &x->items[i], &text, NULL), SB_OK);
    }
    return SB_OK;
}

static void a_file_in_use_is_not_closed(void **state) {
    logs l = logs_new(*state);
    for (int i = 0; i < 9; i++) {
        char name[64];
        snprintf(name, sizeof name, "run/events.out.tfevents.%d", i);
        sb_buf file = log_begin();
        add_text(&file, 10 * i, 100 + i, "hello");
        /* far apart, so that the first file takes two readings */
        for (int k = 0; i == 0 && k < 5000; k++) log_simple(&file, "loss", k, 100, 1);
        if (i == 0) add_text(&file, 1, 100, "again");
        log_put(&l, name, &file);
    }
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    size_t n = list_of(&l, &s, &items);
    assert_int_equal(n, 10);
    nested x = {.l = &l, .series = &s, .items = items, .n = n};
    sb_err err;
    assert_ok(sb_blob_read_many(l.blobs, s.run, items, 2, 1 << 20, NULL, &l.arena, read_the_others,
                                &x, &err),
              &err);
    assert_int_equal(x.heard, 2);
    sb_series_release(&s);
    logs_free(&l);
}

static void refused_calls_are_reported(void **state) {
    logs l = logs_new(*state);
    sb_buf file = texts(5);
    log_put(&l, FILE_1, &file);
    sb_fault_fs fs;
    sb_fault_fs_init(&fs, &sb_fs_local);
    logs_load_from(&l, NULL, &fs.fs);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    list_of(&l, &s, &items);
    sb_fault_call calls[] = {SB_CALL_OPEN, SB_CALL_READ, SB_CALL_INFO};
    sb_slice text;
    sb_err err;
    for (size_t i = 0; i < SB_COUNT(calls); i++) {
        sb_fault_fs_fail(&fs, calls[i], 1, EIO, true);
        assert_int_equal(read_item(&l, &s, &items[2], &text, &err), SB_IO);
        sb_fault_fs_fail(&fs, SB_CALL_ANY, 0, 0, false);
        assert_ok(read_item(&l, &s, &items[2], &text, &err), &err);
        sb_blob_cache_drop(l.blobs);
    }
    sb_fault_fs_fail(&fs, SB_CALL_READ, 2, ESTALE, false);
    assert_int_equal(read_item(&l, &s, &items[2], &text, &err), SB_REPLACED);
    /* short reads are gone on with */
    sb_fault_fs_short(&fs, 7, 0);
    assert_ok(read_item(&l, &s, &items[2], &text, &err), &err);
    assert_slice_is(text, "text 2");
    sb_series_release(&s);
    logs_free(&l);
    sb_fault_fs_fini(&fs);
}

/* ---- many at once ---------------------------------------------------------------------------- */

typedef struct heard {
    logs *l;
    const sb_ref_item *items;
    size_t good, bad;
    sb_status last_bad;
    sb_status stop_with;
} heard;

static sb_status hear(void *ud, size_t index, sb_status status, sb_slice payload,
                      const sb_err *err) {
    heard *h = ud;
    if (status != SB_OK) {
        assert_int_equal(err->code, status);
        h->bad++;
        h->last_bad = status;
        return h->stop_with;
    }
    char want[32];
    sb_slice text;
    snprintf(want, sizeof want, "text %d", (int)h->items[index].step);
    assert_int_equal(sb_ref_blob(&h->items[index].ref, payload, 0, &h->l->arena, &text, NULL),
                     SB_OK);
    assert_slice_is(text, want);
    h->good++;
    return h->stop_with;
}

static void many_small_records_take_few_reads(void **state) {
    logs l = logs_new(*state);
    sb_buf file = texts(5000);
    log_put(&l, FILE_1, &file);
    sb_fault_fs fs;
    sb_fault_fs_init(&fs, &sb_fs_local);
    logs_load_from(&l, NULL, &fs.fs);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    size_t n = list_of(&l, &s, &items);
    assert_int_equal(n, 5000);
    for (size_t i = 0; i < n / 2; i++) { /* any order */
        sb_ref_item swap = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = swap;
    }
    heard h = {.l = &l, .items = items};
    uint64_t reads = sb_fault_fs_calls(&fs, SB_CALL_READ);
    sb_err err;
    assert_ok(sb_blob_read_many(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, hear, &h, &err),
              &err);
    assert_int_equal(h.good, n);
    assert_true(sb_fault_fs_calls(&fs, SB_CALL_READ) - reads <= 3);
    /* the caller ends it */
    h = (heard){.l = &l, .items = items, .stop_with = SB_END};
    assert_int_equal(
        sb_blob_read_many(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, hear, &h, &err),
        SB_END);
    assert_int_equal(h.good, 1);
    sb_series_release(&s);
    logs_free(&l);
    sb_fault_fs_fini(&fs);
}

static void one_bad_record_does_not_spoil_the_others(void **state) {
    logs l = logs_new(*state);
    sb_buf one = texts(50), two = texts(50);
    const char *path = log_put(&l, FILE_1, &one);
    const char *other = log_put(&l, FILE_2, &two);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    sb_ref_ask ask = {.show_superseded = true};
    size_t n;
    assert_int_equal(sb_refs_list(&s, &ask, &l.arena, &items, &n, NULL, NULL), SB_OK);
    assert_int_equal(n, 100);
    FILE *f = fopen(path, "r+b");
    fseek(f, (long)items[10].ref.offset + 14, SEEK_SET);
    fputc(0xEE, f);
    fclose(f);
    heard h = {.l = &l, .items = items};
    sb_err err;
    assert_ok(sb_blob_read_many(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, hear, &h, &err),
              &err);
    assert_int_equal(h.good, 99);
    assert_int_equal(h.bad, 1);
    /* a whole file that is gone */
    unlink(other);
    h = (heard){.l = &l, .items = items};
    assert_ok(sb_blob_read_many(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, hear, &h, &err),
              &err);
    assert_int_equal(h.good, 49);
    assert_int_equal(h.last_bad, SB_REPLACED);
    /* and a limit that none passes */
    h = (heard){.l = &l, .items = items};
    assert_ok(sb_blob_read_many(l.blobs, s.run, items, 20, 4, NULL, &l.arena, hear, &h, &err),
              &err);
    assert_int_equal(h.bad, 20);
    assert_int_equal(h.last_bad, SB_LIMIT);
    sb_series_release(&s);
    logs_free(&l);
}

static bool over(void *ud) {
    (void)ud;
    return true;
}

static void the_time_limit_ends_it(void **state) {
    logs l = logs_of_texts(*state, 5);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    size_t n = list_of(&l, &s, &items);
    heard h = {.l = &l, .items = items};
    sb_budget budget = {over, NULL};
    sb_err err;
    assert_int_equal(
        sb_blob_read_many(l.blobs, s.run, items, n, 1 << 20, &budget, &l.arena, hear, &h, &err),
        SB_TIMEOUT);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- memory and threads ---------------------------------------------------------------------- */

typedef struct shortage {
    logs *l;
    sb_series *series;
    sb_ref_item *items;
    size_t n;
} shortage;

static sb_status hear_nothing(void *ud, size_t index, sb_status status, sb_slice payload,
                              const sb_err *err) {
    (void)ud, (void)index, (void)payload, (void)err;
    return status;
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    shortage *x = ud;
    sb_env env = logs_env;
    env.alloc = alloc;
    sb_blob_cache *cache;
    sb_status status = sb_blob_cache_new(&cache, &env, 2, NULL);
    if (status != SB_OK) return status;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, SIZE_MAX / 2);
    sb_slice payload;
    status = sb_blob_read(cache, x->series->run, x->items[0].file, &x->items[0].ref, 1 << 20,
                          &arena, &payload, NULL);
    if (status == SB_OK)
        status = sb_blob_read_many(cache, x->series->run, x->items, x->n, 1 << 20, NULL, &arena,
                                   hear_nothing, NULL, NULL);
    sb_arena_fini(&arena);
    sb_blob_cache_free(cache);
    return status;
}

static void memory_may_run_out(void **state) {
    logs l = logs_of_texts(*state, 5);
    sb_series s = logs_take(&l, "run", "note");
    shortage x = {.l = &l, .series = &s};
    x.n = list_of(&l, &s, &x.items);
    sb_fault_alloc_sweep(read_with, &x);
    sb_series_release(&s);
    logs_free(&l);
}

typedef struct reader {
    logs *l;
    const sb_series *series;
    const sb_ref_item *items;
    size_t n;
    size_t failures;
} reader;

static void *read_much(void *ud) {
    reader *r = ud;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, SIZE_MAX / 2);
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < r->n; i++) {
            sb_slice payload;
            sb_status status = sb_blob_read(r->l->blobs, r->series->run, r->items[i].file,
                                            &r->items[i].ref, 1 << 20, &arena, &payload, NULL);
            r->failures += status != SB_OK;
        }
    sb_arena_fini(&arena);
    return NULL;
}

static void threads_share_open_files(void **state) {
    logs l = logs_new(*state);
    for (int i = 0; i < 9; i++) {
        char name[64];
        snprintf(name, sizeof name, "run/events.out.tfevents.%d%s", i, i == 4 ? ".gz" : "");
        sb_buf file = log_begin();
        add_text(&file, i, 100 + i, "hello");
        if (i == 4) {
            const char *path = sb_test_dir_put(l.dir, name, (sb_slice){NULL, 0});
            gzFile packed = gzopen(path, "wb");
            gzwrite(packed, file.p, (unsigned)file.n);
            gzclose(packed);
            sb_buf_fini(&file);
        } else {
            log_put(&l, name, &file);
        }
    }
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "note");
    sb_ref_item *items;
    size_t n = list_of(&l, &s, &items);
    assert_int_equal(n, 9);
    pthread_t threads[4];
    reader readers[4];
    for (size_t i = 0; i < 4; i++) {
        readers[i] = (reader){&l, &s, items, n, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_much, &readers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(readers[i].failures, 0);
    }
    sb_series_release(&s);
    logs_free(&l);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        IN_DIR(records_come_back),
        IN_DIR(a_length_can_be_learned),
        IN_DIR(changed_files_are_told_from_the_loaded_ones),
        IN_DIR(a_file_that_left_the_run_is_gone),
        IN_DIR(large_records_are_refused),
        IN_DIR(packed_files_are_read_too),
        IN_DIR(few_files_stay_open),
        IN_DIR(a_file_in_use_is_not_closed),
        IN_DIR(refused_calls_are_reported),
        IN_DIR(many_small_records_take_few_reads),
        IN_DIR(one_bad_record_does_not_spoil_the_others),
        IN_DIR(the_time_limit_ends_it),
        IN_DIR(memory_may_run_out),
        IN_DIR(threads_share_open_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
