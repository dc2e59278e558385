/* logs.h: for tests of queries over real files: event files made record by record, a log directory
 * loaded into a store, and what the queries need.
 *
 *     logs l = logs_new(*state);
 *     sb_buf file = log_begin();
 *     log_tensor(&file, "w", "histograms", SB_LIT(""), 1, 100, &array);
 *     log_put(&l, "run/events.out.tfevents.1", &file);
 *     logs_load(&l); */
#ifndef SB_TESTS_UNIT_QUERY_LOGS_H
#define SB_TESTS_UNIT_QUERY_LOGS_H

#include "codec/record.h"
#include "codec/summary.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "ingest/ingest.h"
#include "query/records/blob.h"
#include "support/sync.h"
#include "support/test.h"

/* Not on the stack: the threads of a test that failed go on for a while. */
static sb_env logs_env;

typedef struct logs {
    sb_test_dir *dir;
    sb_store *store;
    sb_ingest *ingest;
    sb_blob_cache *blobs;
    sb_arena arena;
} logs;

static inline logs logs_new(sb_test_dir *dir) {
    logs l = {.dir = dir};
    sb_arena_init(&l.arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
    return l;
}

/* Reads everything under the directory, or under `path` when it is given. */
static inline void logs_load_from(logs *l, const char *path, const sb_fs *fs) {
    sb_err err;
    logs_env = (sb_env){&sb_alloc_libc, fs, &sb_clock_system};
    assert_ok(sb_store_new(&l->store, &(sb_store_opts){.alloc = &sb_alloc_libc}, &err), &err);
    sb_ingest_root root = {.path = path ? path : sb_test_dir_path(l->dir)};
    sb_ingest_opts opts = {
        .roots = &root, .root_count = 1, .reload_interval = 0, .threads = 1, .no_inotify = true};
    assert_ok(sb_ingest_start(&l->ingest, &logs_env, l->store, &opts, &err), &err);
    sb_test_sync(l->ingest);
    assert_ok(sb_blob_cache_new(&l->blobs, &logs_env, 4, &err), &err);
}

static inline void logs_load(logs *l) {
    logs_load_from(l, NULL, &sb_fs_local);
}

static inline void logs_free(logs *l) {
    sb_blob_cache_free(l->blobs);
    sb_ingest_stop(l->ingest);
    sb_store_free(l->store);
    sb_arena_fini(&l->arena);
}

/* A snapshot that must be there. The run is held by the snapshot. */
static inline sb_series logs_take(logs *l, const char *run_name, const char *tag) {
    sb_series s;
    sb_run *run = sb_store_find_run(l->store, sb_slice_str(run_name));
    assert_non_null(run);
    assert_int_equal(sb_series_take(run, sb_slice_str(tag), &l->arena, &s), SB_OK);
    sb_run_release(run);
    return s;
}

/* ---- files ----------------------------------------------------------------------------------- */

static inline sb_buf log_begin(void) {
    sb_buf file;
    sb_buf_init(&file, &sb_alloc_libc, SIZE_MAX / 2);
    return file;
}

/* One event with a member of its oneof. */
static inline void log_event(sb_buf *file, int64_t step, double wall, uint32_t number,
                             sb_slice body) {
    size_t at = sb_record_begin(file);
    sb_pb_add_double(file, SB_EVENT_WALL_TIME, wall);
    sb_pb_add_int_nz(file, SB_EVENT_STEP, step);
    sb_pb_add_bytes(file, number, body);
    sb_record_end(file, at);
}

/* One event with one value; body: the encoded member `number` of the value. */
static inline void log_value(sb_buf *file, const char *tag, const sb_metadata *metadata,
                             int64_t step, double wall, uint32_t number, sb_slice body) {
    sb_buf summary = log_begin();
    size_t at = sb_pb_begin(&summary, SB_SUMMARY_VALUE, 100);
    sb_pb_add_bytes(&summary, SB_VALUE_TAG, sb_slice_str(tag));
    if (number) sb_pb_add_bytes(&summary, number, body);
    if (metadata) sb_metadata_add(&summary, SB_VALUE_METADATA, metadata);
    sb_pb_end(&summary, at);
    log_event(file, step, wall, SB_EVENT_SUMMARY, sb_buf_slice(&summary));
    sb_buf_fini(&summary);
}

static inline void log_tensor(sb_buf *file, const char *tag, const char *plugin, sb_slice content,
                              int64_t step, double wall, const sb_array *array) {
    sb_buf tensor = log_begin();
    assert_int_equal(sb_tensor_add_fields(&tensor, array, SB_TENSOR_CONTENT), SB_OK);
    sb_metadata metadata = {.plugin_name = sb_slice_str(plugin), .content = content};
    log_value(file, tag, &metadata, step, wall, SB_VALUE_TENSOR, sb_buf_slice(&tensor));
    sb_buf_fini(&tensor);
}

static inline void log_strings(sb_buf *file, const char *tag, const char *plugin, sb_slice content,
                               int64_t step, double wall, const char *const *texts, size_t n,
                               uint32_t rank, const int64_t *dims) {
    sb_slice slices[64];
    assert_true(n <= SB_COUNT(slices));
    for (size_t i = 0; i < n; i++) slices[i] = sb_slice_str(texts[i]);
    sb_array array = {slices, SB_STRING, rank, dims, NULL};
    log_tensor(file, tag, plugin, content, step, wall, &array);
}

static inline void log_simple(sb_buf *file, const char *tag, int64_t step, double wall,
                              float value) {
    sb_buf summary = log_begin();
    size_t at = sb_pb_begin(&summary, SB_SUMMARY_VALUE, 40);
    sb_pb_add_bytes(&summary, SB_VALUE_TAG, sb_slice_str(tag));
    sb_pb_add_float(&summary, SB_VALUE_SIMPLE_VALUE, value);
    sb_pb_end(&summary, at);
    log_event(file, step, wall, SB_EVENT_SUMMARY, sb_buf_slice(&summary));
    sb_buf_fini(&summary);
}

static inline void log_start(sb_buf *file, int64_t step, double wall) {
    log_event(file, step, wall, SB_EVENT_SESSION_LOG, SB_LIT("\x08\x01"));
}

/* Puts the file there and frees it; answers its path. */
static inline const char *log_put(logs *l, const char *name, sb_buf *file) {
    assert_int_equal(file->failed, SB_OK);
    const char *path = sb_test_dir_put(l->dir, name, sb_buf_slice(file));
    sb_buf_fini(file);
    return path;
}

#endif
