/* profile_test.c: profiles are files beside the event file. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "support/fault_fs.h"
#include "support/writer_bed.h"

#include "base/banned.h"

static size_t count_markers(const char *logdir) {
    size_t n = 0;
    DIR *dir = opendir(logdir);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += sb_slice_ends(sb_slice_str(entry->d_name), SB_LIT(".profile-empty"));
    closedir(dir);
    return n;
}

static const char *profile_path(const bed *b, const char *session) {
    char host[256] = {0}, path[1024];
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "run/plugins/profile/%s/%s.xplane.pb", session, host);
    return sb_test_dir_join(b->dir, path);
}

static void a_profile_lies_under_its_session(void **state) {
    bed b = bed_open(*state, "run", SB_STYLE_TF2);
    assert_ok(sb_profile(b.w, "2024_01_02_03_04_05", SB_LIT("xspace"), &b.err), &b.err);
    assert_ok(sb_profile(b.w, "second", SB_LIT(""), &b.err), &b.err);
    assert_slice_is(sb_test_dir_get(b.dir, profile_path(&b, "2024_01_02_03_04_05")), "xspace");
    assert_int_equal(sb_test_dir_get(b.dir, profile_path(&b, "second")).n, 0);
    assert_int_equal(count_markers(b.logdir), 0); /* the writer's own file makes it a run */
    /* The same session again: replaced. */
    assert_ok(sb_profile(b.w, "second", SB_LIT("more"), &b.err), &b.err);
    assert_slice_is(sb_test_dir_get(b.dir, profile_path(&b, "second")), "more");
    bed_close(&b);
    bed_free(&b);
}

static void a_session_is_named_by_the_local_time(void **state) {
    bed b = bed_open(*state, "run", SB_STYLE_TORCH);
    assert_ok(sb_profile(b.w, NULL, SB_LIT("x"), &b.err), &b.err);
    char name[64];
    time_t seconds = 1700000000;
    struct tm local;
    localtime_r(&seconds, &local);
    assert_int_equal(strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &local), 19);
    assert_slice_is(sb_test_dir_get(b.dir, profile_path(&b, name)), "x");
    bed_close(&b);
    bed_free(&b);
}

static void sessions_never_leave_their_folder(void **state) {
    static const char *const bad[] = {"", ".", "..", "a/b", "/etc", "../x", "a\\b", "\xff", "a\nb"};
    bed b = bed_open(*state, "run", SB_STYLE_TF2);
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        assert_int_equal(sb_profile(b.w, bad[i], SB_LIT("x"), &b.err), SB_INVALID);
        assert_non_null(strstr(b.err.text, "folder"));
    }
    char endless[300];
    memset(endless, 'a', sizeof endless);
    endless[sizeof endless - 1] = 0;
    assert_int_equal(sb_profile(b.w, endless, SB_LIT("x"), &b.err), SB_INVALID);
    assert_int_equal(sb_profile(b.w, "x", sb_slice_of(NULL, 3), &b.err), SB_INVALID);
    assert_int_equal(sb_profile(NULL, "x", SB_LIT("x"), NULL), SB_INVALID);
    assert_int_equal(count_markers(b.logdir), 0);
    bed_close(&b);
    bed_free(&b);
}

static void a_refusing_disk_is_named(void **state) {
    for (uint64_t n = 1; n < 100; n++) {
        char name[32];
        snprintf(name, sizeof name, "run%llu", (unsigned long long)n);
        sb_fault_fs fault;
        sb_fault_fs_init(&fault, &sb_fs_local);
        const sb_env env = {&sb_alloc_libc, &fault.fs, &sb_test_clock};
        bed b = bed_open_with(*state, name, SB_STYLE_TF2, &env);
        sb_fault_fs_fail(&fault, SB_CALL_ANY, n, EIO, false);
        sb_status status = sb_profile(b.w, "s", SB_LIT("xspace"), &b.err);
        bool failed = sb_fault_fs_failures(&fault) > 0;
        sb_fault_fs_fail(&fault, SB_CALL_ANY, 0, EIO, false);
        if (status != SB_OK) {
            assert_int_equal(status, SB_IO);
            assert_non_null(strstr(b.err.text, name));
        }
        bed_close(&b);
        bed_free(&b);
        sb_fault_fs_fini(&fault);
        if (!failed) return;
    }
    fail_msg("the sweep never ended");
}

static sb_status make_profile(sb_writer *w) {
    sb_status status = sb_profile(w, "s", SB_LIT("x"), NULL);
    return status == SB_OK ? sb_purge_step(w, 1) : status;
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF2, make_profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(a_profile_lies_under_its_session),  DIR_TEST(a_session_is_named_by_the_local_time),
        DIR_TEST(sessions_never_leave_their_folder), DIR_TEST(a_refusing_disk_is_named),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
