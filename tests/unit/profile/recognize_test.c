/* recognize_test.c: traces are told from other JSON files by their first bytes, and a file is
 * looked into once while it stays the same. */
#include "profile/find/recognize.h"

#include "support/test.h"
#include "base/banned.h"

static void the_first_bytes_tell_a_trace(void **state) {
    (void)state;
    static const struct {
        const char *head;
        bool is_trace;
        sb_trace_format format;
    } cases[] = {
        {"{\"traceEvents\": [", true, SB_FORMAT_CHROME},
        {"\xef\xbb\xbf \n{ \"displayTimeUnit\": \"ns\", \"traceEvents\":[", true, SB_FORMAT_CHROME},
        {"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n", true, SB_FORMAT_KINETO},
        {"{\"schemaVersion\": 1, \"traceEvents\": [", true, SB_FORMAT_KINETO},
        {"[ {\"name\": \"a\", \"ph\": \"X\", \"ts\": 1", true, SB_FORMAT_CHROME},
        {"[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\"", true, SB_FORMAT_CHROME},
        {"{\"schemaVersion\": 1, \"paths\": {}}", false, 0},
        {"[{\"ph\": 7.4, \"sample\": \"water\"}]", false, 0},
        {"[[\"ph\", \"ts\"]]", false, 0},
        {"\"traceEvents\"", false, 0},
        {"{\"learning_rate\": 0.1}", false, 0},
        {"", false, 0},
        {" \n", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sb_trace_head head = {.format = SB_FORMAT_STEP_STATS};
        assert_int_equal(sb_begins_trace(sb_slice_str(cases[i].head), &head), cases[i].is_trace);
        if (cases[i].is_trace) assert_int_equal(head.format, cases[i].format);
    }
}

static void the_first_bytes_tell_the_rank_of_torch(void **state) {
    (void)state;
    static const struct {
        const char *head;
        int64_t rank, world;
    } cases[] = {
        {"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, "
         "\"world_size\": 16, \"pg_config\": [{\"ranks\": [0, 1]}]}, \"traceEvents\": [",
         3, 16},
        {"{\"schemaVersion\": 1, \"distributedInfo\": {\"world_size\" :8,\n \"rank\" : 0}, "
         "\"deviceProperties\": [",
         0, 8},
        /* events may say such things of themselves */
        {"{\"schemaVersion\": 1, \"traceEvents\": [{\"args\": {\"rank\": 5}}", -1, -1},
        {"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\"}, \"traceEvents\": "
         "[{\"args\": {\"rank\": 5}}",
         -1, -1},
        {"{\"schemaVersion\": 1, \"traceEvents\": [], \"distributedInfo\": {\"rank\"", -1, -1},
        {"{\"schemaVersion\": 1, \"traceEvents\": [], \"distributedInfo\": {\"rank\": \"a\"}", -1,
         -1},
        {"{\"traceEvents\": [], \"distributedInfo\": {\"rank\": 1, \"world_size\": 2}", -1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sb_trace_head head;
        assert_true(sb_begins_trace(sb_slice_str(cases[i].head), &head));
        assert_int_equal(head.rank, cases[i].rank);
        assert_int_equal(head.world, cases[i].world);
    }
}

typedef struct counting_fs {
    sb_fs fs;
    int opened;
} counting_fs;

static int open_counted(void *ctx, const char *path, sb_open_mode mode) {
    counting_fs *c = ctx;
    c->opened++;
    return sb_fs_local.open(sb_fs_local.ctx, path, mode);
}

static void a_file_is_looked_into_again_only_after_it_changed(void **state) {
    sb_test_dir *d = *state;
    counting_fs c = {.fs = sb_fs_local};
    c.fs.ctx = &c;
    c.fs.open = open_counted;
    sb_env env = {&sb_alloc_libc, &c.fs, &sb_clock_system};
    const char *path = sb_test_dir_put(d, "config.json", SB_LIT("{\"lr\": 1}"));
    sb_file_info info;
    sb_trace_head head;
    sb_recognized *r = sb_recognized_new(&sb_alloc_libc);
    assert_non_null(r);
    assert_int_equal(c.fs.stat(c.fs.ctx, path, &info), 0);
    for (int i = 0; i < 3; i++) assert_false(sb_recognize_trace(r, &env, path, &info, &head));
    assert_int_equal(c.opened, 1);
    path = sb_test_dir_put(d, "config.json", SB_LIT("{\"traceEvents\": []}"));
    assert_int_equal(c.fs.stat(c.fs.ctx, path, &info), 0);
    for (int i = 0; i < 3; i++) {
        head.format = SB_FORMAT_XSPACE;
        assert_true(sb_recognize_trace(r, &env, path, &info, &head));
        assert_int_equal(head.format, SB_FORMAT_CHROME);
    }
    assert_int_equal(c.opened, 2);
    assert_true(sb_recognize_trace(NULL, &env, path, &info, &head)); /* without a memory */
    assert_int_equal(c.opened, 3);
    sb_recognized_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bytes_tell_a_trace),
        cmocka_unit_test(the_first_bytes_tell_the_rank_of_torch),
        cmocka_unit_test_setup_teardown(a_file_is_looked_into_again_only_after_it_changed,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
