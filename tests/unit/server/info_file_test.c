/* info_file_test.c: info files as notebooks want them, and what others may have left in the
 * directory. */
#include "server/info_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fault_alloc.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static void assert_key(const char *const *words, const char *directory, const char *wanted) {
    sb_buf key;
    sb_buf_init(&key, &sb_alloc_libc, 1 << 16);
    sb_info_cache_key(&key, words, directory);
    assert_slice_is(sb_buf_slice(&key), wanted);
    sb_buf_fini(&key);
}

/* Made by TensorBoard's own manager. */
static void cache_keys_are_tensorboards(void **state) {
    (void)state;
    assert_key((const char *const[]){"--logdir", "logs", "--port", "6006", NULL}, "/home/u",
               "eyJhcmd1bWVudHMiOlsiLS1sb2dkaXIiLCJsb2dzIiwiLS1wb3J0IiwiNjAwNiJdLCJjb25maWd1cmVfa3d"
               "hcmdzIjp7fSwid29ya2l"
               "uZ19kaXJlY3RvcnkiOiIvaG9tZS91In0=");
    assert_key((const char *const[]){"--logdir", "\xc3\xa9\xf0\x9f\x98\x8a\"\\/", NULL}, "/home/u",
               "eyJhcmd1bWVudHMiOlsiLS1sb2dkaXIiLCJcdTAwZTlcdWQ4M2RcdWRlMGFcIlxcLyJdLCJjb25maWd1cmV"
               "fa3dhcmdzIjp7fSwid29"
               "ya2luZ19kaXJlY3RvcnkiOiIvaG9tZS91In0=");
}

static sb_server_info sample(void) {
    return (sb_server_info){.cache_key = SB_LIT("a2V5"),
                            .db = SB_LIT(""),
                            .logdir = SB_LIT("/logs \xc3\xa9"),
                            .path_prefix = SB_LIT("/p"),
                            .version = SB_LIT("1.2"),
                            .program = SB_LIT("seaboard"),
                            .pid = 17,
                            .port = 6006,
                            .start_time = 1700000000};
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    sb_buf out;
    sb_arena arena;
    sb_server_info info = sample(), back;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_arena_init(&arena, &sb_alloc_libc, 1024, 1 << 20);
    sb_info_write(&out, &info);
    assert_slice_is(
        sb_buf_slice(&out),
        "{\n    \"cache_key\": \"a2V5\",\n    \"db\": \"\",\n    \"logdir\": \"/logs \\u00e9\",\n"
        "    \"path_prefix\": \"/p\",\n    \"pid\": 17,\n    \"port\": 6006,\n    \"program\": "
        "\"seaboard\",\n"
        "    \"start_time\": 1700000000,\n    \"tls\": false,\n    \"version\": \"1.2\"\n}\n");
    assert_ok(sb_info_read(&back, sb_buf_slice(&out), &arena, &err), &err);
    assert_slice_equal(back.logdir, info.logdir);
    assert_int_equal(back.pid, 17);
    assert_int_equal(back.port, 6006);
    sb_buf_fini(&out);
    sb_arena_fini(&arena);
}

static void a_file_that_lacks_a_field_is_none(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "1",
                                      "{\"cache_key\": \"\"}",
                                      "{\"cache_key\":\"\",\"db\":\"\",\"logdir\":\"\",\"path_"
                                      "prefix\":\"\",\"pid\":\"1\",\"port\":1,\"start_time\":1,"
                                      "\"version\":\"\"}",
                                      "{\"cache_key\":\"\",\"db\":null,\"logdir\":\"\",\"path_"
                                      "prefix\":\"\",\"pid\":1,\"port\":1,\"start_time\":1,"
                                      "\"version\":\"\"}"};
    sb_arena arena;
    sb_server_info info;
    sb_arena_init(&arena, &sb_alloc_libc, 1024, 1 << 20);
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(sb_info_read(&info, sb_slice_str(bad[i]), &arena, NULL), SB_CORRUPT);
    /* TensorBoard's own has no name of a program */
    const char *theirs = "{\"cache_key\":\"\",\"db\":\"\",\"logdir\":\"x\",\"path_prefix\":\"\","
                         "\"pid\":1,\"port\":1,"
                         "\"start_time\":1,\"version\":\"2\",\"more\":[]}";
    assert_int_equal(sb_info_read(&info, sb_slice_str(theirs), &arena, NULL), SB_OK);
    assert_int_equal(info.program.n, 0);
    sb_arena_fini(&arena);
}

static void files_are_listed_by_port_and_strange_ones_passed_over(void **state) {
    sb_test_dir *dir = *state;
    sb_arena arena;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 16 << 20);
    const char *path;
    sb_server_info *infos;
    size_t n;
    assert_ok(sb_info_list(sb_test_dir_path(dir), &arena, &infos, &n, &err), &err);
    assert_int_equal(n, 0);
    for (int i = 0; i < 3; i++) {
        sb_server_info info = sample();
        info.pid = 100 + i;
        info.port = 6010 - i;
        assert_ok(sb_info_publish(sb_test_dir_path(dir), &info, &arena, &path, &err), &err);
    }
    struct stat folder;
    assert_int_equal(stat(sb_test_dir_join(dir, ".tensorboard-info"), &folder), 0);
    assert_int_equal(folder.st_mode & 0777, 0777);
    sb_test_dir_put(dir, ".tensorboard-info/pid-1.info", SB_LIT("nonsense"));
    sb_test_dir_put(dir, ".tensorboard-info/other", SB_LIT("nonsense"));
    assert_int_equal(mkfifo(sb_test_dir_join(dir, ".tensorboard-info/pid-2.info"), 0600), 0);
    assert_int_equal(symlink(path, sb_test_dir_join(dir, ".tensorboard-info/pid-3.info")), 0);
    assert_ok(sb_info_list(sb_test_dir_path(dir), &arena, &infos, &n, &err), &err);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) assert_int_equal(infos[i].port, 6008 + (int)i);
    assert_int_equal(infos[0].owner, geteuid());
    sb_arena_fini(&arena);
}

/* Somebody put a link where our file goes: what it leads to must stay as it is. */
static void a_link_in_the_way_is_not_written_through(void **state) {
    sb_test_dir *dir = *state;
    sb_arena arena;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    const char *victim = sb_test_dir_put(dir, "victim", SB_LIT("precious"));
    sb_test_dir_put(dir, ".tensorboard-info/x", SB_LIT(""));
    assert_int_equal(symlink(victim, sb_test_dir_join(dir, ".tensorboard-info/pid-17.info")), 0);
    sb_server_info info = sample();
    const char *path;
    assert_ok(sb_info_publish(sb_test_dir_path(dir), &info, &arena, &path, &err), &err);
    assert_slice_is(sb_test_dir_get(dir, victim), "precious");
    sb_arena_fini(&arena);
}

static void a_directory_that_cannot_be_made_is_told(void **state) {
    sb_test_dir *dir = *state;
    sb_arena arena;
    sb_err err;
    const char *path;
    sb_server_info info = sample();
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_int_equal(sb_info_publish(sb_test_dir_join(dir, "nowhere"), &info, &arena, &path, &err),
                     SB_IO);
    sb_arena_fini(&arena);
}

static void read_one(sb_slice input) {
    sb_arena arena;
    sb_server_info info;
    sb_arena_init(&arena, &sb_alloc_libc, 1024, 1 << 20);
    sb_info_read(&info, input, &arena, NULL);
    sb_arena_fini(&arena);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    sb_buf out;
    sb_server_info info = sample();
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_info_write(&out, &info);
    hostile_cuts(sb_buf_slice(&out), read_one);
    hostile_flips(sb_buf_slice(&out), read_one);
    hostile_noise(3, 1000, read_one);
    sb_buf_fini(&out);
}

static sb_status with_little_memory(const sb_alloc *alloc, void *ud) {
    sb_test_dir *dir = ud;
    sb_arena arena;
    sb_server_info info = sample();
    const char *path;
    sb_arena_init(&arena, alloc, 64, 1 << 20);
    sb_status status = sb_info_publish(sb_test_dir_path(dir), &info, &arena, &path, NULL);
    sb_arena_fini(&arena);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    sb_fault_alloc_sweep(with_little_memory, *state);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_keys_are_tensorboards),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_file_that_lacks_a_field_is_none),
        IN_DIR(files_are_listed_by_port_and_strange_ones_passed_over),
        IN_DIR(a_link_in_the_way_is_not_written_through),
        IN_DIR(a_directory_that_cannot_be_made_is_told),
        cmocka_unit_test(damaged_files_are_refused),
        IN_DIR(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
