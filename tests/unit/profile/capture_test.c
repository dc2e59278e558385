/* capture_test.c: which files of a folder are one capture: ranks of one program are, steps and
 * strangers are not. */
#include "profile/find/capture.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <zlib.h>

#include "base/buf.h"
#include "profile/read/read.h"
#include "support/test.h"
#include "base/banned.h"

/* A file of torch that says its rank; world 0: it does not. */
typedef struct put_file {
    const char *name;
    int rank, world;
} put_file;

static void put_files(sb_test_dir *d, const put_file *files, size_t n) {
    char text[200];
    for (size_t i = 0; i < n; i++) {
        int length =
            files[i].world
                ? snprintf(text, sizeof text,
                           "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", "
                           "\"rank\": %d, \"world_size\": %d}, \"traceEvents\": []}",
                           files[i].rank, files[i].world)
                : snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": []}");
        sb_test_dir_put(d, files[i].name, sb_slice_of(text, (size_t)length));
    }
}

/* All captures as a text: "run/name: worker worker; ", ordered as they are listed. */
static void list_captures(const char *dir, sb_buf *out) {
    sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    sb_capture_root root = {.path = dir};
    sb_captures found;
    sb_arena arena;
    sb_err err = {0};
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    assert_ok(sb_captures_find(&found, &env, &root, 1, NULL, &arena, NULL, &err), &err);
    for (size_t i = 0; i < found.n; i++) {
        sb_buf_printf(out, "%.*s/%.*s:", SB_SHOWN(found.items[i].run),
                      SB_SHOWN(found.items[i].name));
        for (size_t k = 0; k < found.items[i].file_count; k++)
            sb_buf_printf(out, " %.*s", SB_SHOWN(found.items[i].files[k].name));
        sb_buf_add_str(out, "; ");
    }
    sb_arena_fini(&arena);
}

/* Are these files listed as these captures? */
static void check_captures(const put_file *files, size_t n, const char *wanted) {
    sb_test_dir *d = sb_test_dir_new();
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 16);
    put_files(d, files, n);
    list_captures(sb_test_dir_path(d), &text);
    assert_slice_is(sb_buf_slice(&text), wanted);
    sb_buf_fini(&text);
    sb_test_dir_free(d);
}

#define CHECK(wanted, ...)                                                                         \
    do {                                                                                           \
        const put_file files[] = {__VA_ARGS__};                                                    \
        check_captures(files, sizeof files / sizeof files[0], wanted);                             \
    } while (0)
#define AT(seconds) "17947370" #seconds "106211918.pt.trace.json"

static void ranks_whose_names_differ_in_digits_are_one_capture(void **state) {
    (void)state;
    CHECK("./rank0: rank0 rank1; ", {"rank0.pt.trace.json", 0, 2}, {"rank1.pt.trace.json", 1, 2});
    CHECK("./w0: w0 w1 w10; ", {"w0.pt.trace.json", 0, 0}, {"w10.pt.trace.json", 0, 0},
          {"w1.pt.trace.json", 0, 0});
    CHECK("./rank0: rank0 rank1; ", {"rank0_trace.json", 0, 2}, {"rank1_trace.json", 1, 2});
    CHECK("./rank_0: rank_0 rank_1; ", {"rank_0.json", 0, 2}, {"rank_1.json", 1, 2});
    /* the name alone tells the rank */
    CHECK("./rank_0: rank_0 rank_1; ", {"rank_0.json", 0, 0}, {"rank_1.json", 0, 0});
    CHECK("./vm_399: vm_399 vm_401; ", {"vm_399." AT(50), 0, 2}, {"vm_401." AT(51), 1, 2});
    CHECK("./vm_399: vm_399 vm_401; ", {"vm_399." AT(50), 0, 0}, {"vm_401." AT(51), 0, 0});
}

static void ranks_on_hosts_with_any_names_are_one_capture(void **state) {
    (void)state;
    CHECK("./trainer-abc-bq7vw_401: trainer-abc-xkz2p_399 trainer-abc-bq7vw_401; ",
          {"trainer-abc-xkz2p_399." AT(51), 0, 2}, {"trainer-abc-bq7vw_401." AT(50), 1, 2});
    /* two hosts with two ranks each */
    CHECK("./a_1: a_1 a_2 b_1 b_2; ", {"a_1." AT(50), 0, 4}, {"a_2." AT(51), 1, 4},
          {"b_1." AT(52), 2, 4}, {"b_2." AT(53), 3, 4});
    /* programs that have all their ranks under one name are not mixed */
    CHECK("./nccl_1: nccl_1 nccl_2; ./gloo_1: gloo_1 gloo_2; ", {"gloo_1." AT(50), 0, 2},
          {"nccl_1." AT(51), 0, 2}, {"gloo_2." AT(52), 1, 2}, {"nccl_2." AT(53), 1, 2});
}

static void spans_of_a_worker_are_captures_of_their_own(void **state) {
    (void)state;
    CHECK("./r0: r0 r1; ./r0: r0 r1; ", {"r0." AT(10), 0, 2}, {"r1." AT(11), 1, 2},
          {"r0." AT(20), 0, 2}, {"r1." AT(21), 1, 2});
    CHECK("./w0: w0; ./w0: w0; ", {"w0." AT(10), 0, 0}, {"w0." AT(20), 0, 0});
    CHECK("./a_1: a_1 b_2; ./a_1: a_1 b_2; ", {"a_1." AT(10), 0, 2}, {"b_2." AT(11), 1, 2},
          {"a_1." AT(20), 0, 2}, {"b_2." AT(21), 1, 2});
    /* a program that was started again, with other process ids */
    CHECK("./vm_5: vm_5 vm_6; ./vm_3: vm_3 vm_4; ", {"vm_3." AT(10), 0, 2}, {"vm_4." AT(11), 1, 2},
          {"vm_5." AT(20), 0, 2}, {"vm_6." AT(21), 1, 2});
    /* more than ten minutes apart */
    CHECK("./w1: w1; ./w0: w0; ", {"w0.1794737000106211918.pt.trace.json", 0, 2},
          {"w1.1794738000106211918.pt.trace.json", 1, 2});
}

static void timestamps_that_no_clock_says_are_the_latest(void **state) {
    (void)state;
    CHECK("./w: w; ./w: w; ./w: w; ", {"w." AT(10), 0, 0}, {"w.9999999999999.pt.trace.json", 0, 0},
          {"w.9999999999999999999.pt.trace.json", 0, 0});
}

/* The captures have no times in their names, so their order is that of the disk's clock. */
static void files_that_are_no_ranks_stay_apart(void **state) {
    (void)state;
    static const put_file all[][2] = {
        {{"trace_10.json", 0, 0}, {"trace_20.json", 0, 0}},
        {{"trace_10.json", 0, 1}, {"trace_20.json", 0, 1}},
        {{"trace_10.json", 0, 2}, {"trace_20.json", 0, 2}},
        {{"gpu.pt.trace.json", 0, 0}, {"cpu.pt.trace.json", 0, 0}},
        {{"gpu." AT(10), 0, 0}, {"cpu." AT(11), 0, 0}},
        {{"gpu." AT(10), 0, 1}, {"cpu." AT(11), 0, 1}},
        {{"gpu." AT(10), 0, 4}, {"cpu." AT(11), 1, 2}},
        {{"rank0_a.json", 0, 2}, {"rank1_b.json", 1, 2}},
        {{"rank0_step1.json", 0, 0}, {"rank1_step2.json", 0, 0}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sb_test_dir *d = sb_test_dir_new();
        sb_buf text;
        sb_buf_init(&text, &sb_alloc_libc, 1 << 16);
        put_files(d, all[i], 2);
        list_captures(sb_test_dir_path(d), &text);
        sb_slice found = sb_buf_slice(&text);
        size_t captures = 0;
        for (size_t k = 0; k < found.n; k++) captures += found.p[k] == ';';
        if (captures != 2) fail_msg("%s: %.*s", all[i][0].name, SB_SHOWN(found));
        sb_buf_fini(&text);
        sb_test_dir_free(d);
    }
}

#define SESSION(name) "logs/plugins/profile/s1/" name

static void other_traces_in_a_session_are_captures_of_workers(void **state) {
    (void)state;
    CHECK("logs/s1/vm_399: vm_399; ", {SESSION("vm_399." AT(10)), 0, 0});
    CHECK("logs/s1: trace; ", {SESSION("trace.json"), 0, 0});
    CHECK("logs/s1/timeline: timeline; ", {SESSION("timeline.json"), 0, 0});
    CHECK("logs/s1/r0: r0 r1; ", {SESSION("r0." AT(10)), 0, 2}, {SESSION("r1." AT(11)), 1, 2});
    CHECK("logs/s1: vm; ", {SESSION("vm.xplane.riegeli"), 0, 0}, {SESSION("vm.xplane.pb"), 0, 0});
    CHECK("logs/s1: a b; ", {SESSION("a.xplane.riegeli"), 0, 0}, {SESSION("b.xplane.pb"), 0, 0});
    /* what XProf puts beside the captures of a session is none */
    CHECK("logs/s1: vm; ", {SESSION("vm.xplane.pb"), 0, 0}, {SESSION("vm.trace.json"), 0, 0},
          {SESSION("vm.perfetto_trace.json"), 0, 0}, {SESSION("memory_viewer.json"), 0, 0},
          {SESSION("trace.json"), 0, 0});
}

static void a_folder_that_is_named_as_a_capture_is_none(void **state) {
    (void)state;
    CHECK("", {SESSION("vm.xplane.pb/inside"), 0, 0});
    CHECK("logs/s1: b; ", {SESSION("a.xplane.pb/inside"), 0, 0}, {SESSION("b.xplane.pb"), 0, 0});
}

static size_t count_open_files(void) {
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) n++;
    if (dir) closedir(dir);
    return n;
}

static void put_packed(sb_test_dir *d, const char *name, sb_slice text) {
    uint8_t room[4096];
    union {
        const uint8_t *in;
        Bytef *out;
    } bytes = {.in = text.p};
    z_stream z = {.next_in = bytes.out, .avail_in = (uInt)text.n, .next_out = room};
    z.avail_out = sizeof room;
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    sb_test_dir_put(d, name, sb_slice_of(room, sizeof room - z.avail_out));
}

/* A program may have thousands of ranks, and a process seldom that many descriptors. */
static void a_capture_has_more_files_than_may_be_open(void **state) {
    (void)state;
    enum { RANKS = 200 };
    sb_test_dir *d = sb_test_dir_new();
    for (int i = 0; i < RANKS; i++) {
        char name[60], text[300];
        bool is_packed = i % 2;
        int n = snprintf(text, sizeof text,
                         "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%d,\"world_size\":%d},"
                         "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\","
                         "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"args\":{\"mine\":%d}}]}",
                         i, RANKS, i, i);
        snprintf(name, sizeof name, "rank%d.1794737052106211918.pt.trace.json%s", i,
                 is_packed ? ".gz" : "");
        if (is_packed)
            put_packed(d, name, sb_slice_of(text, (size_t)n));
        else
            sb_test_dir_put(d, name, sb_slice_of(text, (size_t)n));
    }
    sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    struct rlimit before, few;
    sb_capture c;
    sb_trace *t;
    sb_buf args;
    sb_arena arena;
    sb_slice category;
    sb_err err = {0};
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, 1 << 28);
    sb_buf_init(&args, &sb_alloc_libc, 1 << 16);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = count_open_files() + 10;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_ok(sb_capture_of_path(&c, &env, sb_test_dir_path(d), &arena, &err), &err);
    assert_ok(sb_capture_read(&c, &env, NULL, &t, &err), &err);
    assert_int_equal(t->odds[SB_TRACE_ODD_UNREAD_FILE].n, 0);
    assert_int_equal(t->span_count, RANKS);
    for (uint32_t i = 0; i < t->tracks.n; i++) { /* arguments are read from the right place */
        char wanted[40];
        snprintf(wanted, sizeof wanted, "{\"mine\":%lld}",
                 (long long)t->sources.items[sb_track_source(t, &t->tracks.items[i])].rank);
        sb_buf_clear(&args);
        assert_ok(sb_span_args(t, i, 0, &args, &category, &arena, &err), &err);
        assert_slice_is(sb_buf_slice(&args), wanted);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    sb_trace_free(t);
    sb_buf_fini(&args);
    sb_arena_fini(&arena);
    sb_test_dir_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_that_is_named_as_a_capture_is_none),
        cmocka_unit_test(a_capture_has_more_files_than_may_be_open),
        cmocka_unit_test(ranks_whose_names_differ_in_digits_are_one_capture),
        cmocka_unit_test(ranks_on_hosts_with_any_names_are_one_capture),
        cmocka_unit_test(spans_of_a_worker_are_captures_of_their_own),
        cmocka_unit_test(timestamps_that_no_clock_says_are_the_latest),
        cmocka_unit_test(files_that_are_no_ranks_stay_apart),
        cmocka_unit_test(other_traces_in_a_session_are_captures_of_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
