/* discover_test.c: which files make which runs, in which order, and what does not stop the walk. */
#include "logdir/discover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "fsio/fs.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_env system_env = {.alloc = &sb_alloc_libc, .fs = &sb_fs_local};

typedef struct result {
    sb_arena arena;
    sb_found found;
    sb_err err;
} result;

static sb_status discover_with(result *r, const char *path, const sb_discover_opts *opts) {
    sb_arena_init(&r->arena, &sb_alloc_libc, 4096, (size_t)1 << 30);
    return sb_discover(&r->found, &system_env, &r->arena, path, opts, &r->err);
}

static void discover(result *r, const char *path) {
    assert_ok(discover_with(r, path, NULL), &r->err);
}

/* "run: file file; run: file; " */
static void assert_found(const result *r, const char *expected) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    size_t files = 0;
    for (size_t i = 0; i < r->found.run_count; i++) {
        const sb_found_run *run = &r->found.runs[i];
        sb_buf_add_slice(&b, run->name);
        sb_buf_add_str(&b, ":");
        for (size_t k = 0; k < run->file_count; k++) {
            sb_buf_add_str(&b, " ");
            sb_buf_add_slice(&b, run->files[k].name);
            sb_file_info info;
            assert_int_equal(sb_fs_local.stat(NULL, (const char *)run->files[k].path.p, &info), 0);
            assert_int_equal(info.inode, run->files[k].inode);
            assert_int_equal(info.size, run->files[k].size);
        }
        sb_buf_add_str(&b, "; ");
        files += run->file_count;
    }
    assert_int_equal(files, r->found.file_count);
    assert_slice_is(sb_buf_slice(&b), expected);
    sb_buf_fini(&b);
}

static void names_with_tfevents_make_runs(void **state) {
    sb_test_dir_put(*state, "x.tfevents.1", SB_LIT("a"));
    sb_test_dir_put(*state, "a/events.out.tfevents.2", SB_LIT("bb"));
    sb_test_dir_put(*state, "a/notes.txt", SB_LIT("c"));
    sb_test_dir_put(*state, "a/b/.hidden/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "a/empty/model.ckpt", SB_LIT(""));
    sb_test_dir_put(*state, "d.tfevents/x.profile-empty",
                    SB_LIT("")); /* a directory's name is not one */
    sb_test_dir_put(*state, "e/x.tfevents.profile-empty", SB_LIT(""));
    sb_test_dir_put(*state, "f/TFEVENTS", SB_LIT(""));
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_found(&r, ".: x.tfevents.1; a: events.out.tfevents.2; a/b/.hidden: tfevents; "
                     "e: x.tfevents.profile-empty; ");
    assert_false(r.found.is_file);
    sb_arena_fini(&r.arena);
}

static void order_is_that_of_bytes(void **state) {
    static const char *const names[] = {"b/tfevents.9",     "b/tfevents.10", "b-c/tfevents",
                                        "a/tfevents",       "b/c/tfevents.", "B/tfevents",
                                        "\xc3\xa4/tfevents"};
    for (size_t i = 0; i < SB_COUNT(names); i++) sb_test_dir_put(*state, names[i], SB_LIT(""));
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_found(&r, "B: tfevents; a: tfevents; b: tfevents.10 tfevents.9; b-c: tfevents; "
                     "b/c: tfevents.; \xc3\xa4: tfevents; ");
    sb_arena_fini(&r.arena);
}

static void slashes_behind_the_path_change_nothing(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "tfevents", SB_LIT(""));
    char path[4096];
    snprintf(path, sizeof path, "%s//", sb_test_dir_path(*state));
    result r;
    discover(&r, path);
    assert_found(&r, ".: tfevents; a: tfevents; ");
    sb_arena_fini(&r.arena);
}

static void a_file_is_a_run_of_its_own(void **state) {
    const char *path = sb_test_dir_put(*state, "a/anything", SB_LIT("abc"));
    result r;
    discover(&r, path);
    assert_found(&r, ".: anything; ");
    assert_true(r.found.is_file);
    assert_slice_is(r.found.runs[0].files[0].path, path);
    sb_arena_fini(&r.arena);
}

static void nothing_there_is_told_from_nothing_found(void **state) {
    result r;
    assert_int_equal(discover_with(&r, sb_test_dir_join(*state, "nowhere"), NULL), SB_NOT_FOUND);
    assert_non_null(strstr(r.err.text, "nowhere"));
    sb_arena_fini(&r.arena);
    discover(&r, sb_test_dir_path(*state));
    assert_int_equal(r.found.run_count, 0);
    assert_int_equal(r.found.file_count, 0);
    sb_arena_fini(&r.arena);
}

static void links_are_followed_but_not_in_circles(void **state) {
    sb_test_dir_put(*state, "logs/a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "elsewhere/deep/tfevents.2", SB_LIT(""));
    assert_int_equal(symlink("../elsewhere", sb_test_dir_join(*state, "logs/link")), 0);
    assert_int_equal(symlink("../../logs", sb_test_dir_join(*state, "logs/a/up")), 0);
    assert_int_equal(symlink("self", sb_test_dir_join(*state, "logs/self")), 0);
    assert_int_equal(symlink("gone", sb_test_dir_join(*state, "logs/broken.tfevents")), 0);
    assert_int_equal(symlink("a/tfevents", sb_test_dir_join(*state, "logs/one.tfevents")), 0);
    result r;
    discover(&r, sb_test_dir_join(*state, "logs"));
    assert_found(&r, ".: one.tfevents; a: tfevents; link/deep: tfevents.2; ");
    assert_int_equal(r.found.problem_count, 2);
    for (size_t i = 0; i < 2; i++) assert_int_equal(r.found.problems[i].error, ELOOP);
    sb_arena_fini(&r.arena);
}

static void names_may_be_any_bytes(void **state) {
    sb_test_dir_put(*state, "a\xff/x\xfetfevents", SB_LIT(""));
    sb_test_dir_put(*state, "new\nline/tfevents", SB_LIT(""));
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_found(&r, "a\xef\xbf\xbd"
                     "ff: x\xfetfevents; new\nline: tfevents; ");
    sb_arena_fini(&r.arena);
}

static void what_cannot_be_read_is_reported_and_skipped(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "b/tfevents", SB_LIT(""));
    sb_fault_fs fs;
    sb_fault_fs_init(&fs, &sb_fs_local);
    sb_env env = {.alloc = &sb_alloc_libc, .fs = &fs.fs};
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    sb_found found;
    sb_err err;
    sb_fault_fs_fail(&fs, SB_CALL_LIST, 2, EACCES, false);
    assert_ok(sb_discover(&found, &env, &arena, sb_test_dir_path(*state), NULL, &err), &err);
    assert_int_equal(found.run_count, 1);
    assert_slice_is(found.runs[0].name, "b");
    assert_int_equal(found.problem_count, 1);
    assert_int_equal(found.problems[0].error, EACCES);
    assert_slice_is(found.problems[0].path, sb_test_dir_join(*state, "a"));
    /* It vanished while we were looking: nobody needs to know. */
    sb_fault_fs_fail(&fs, SB_CALL_LIST, 2, ENOENT, false);
    assert_ok(sb_discover(&found, &env, &arena, sb_test_dir_path(*state), NULL, &err), &err);
    assert_int_equal(found.problem_count, 0);
    sb_fault_fs_fail(&fs, SB_CALL_LIST, 1, EACCES, false);
    assert_int_equal(sb_discover(&found, &env, &arena, sb_test_dir_path(*state), NULL, &err),
                     SB_IO);
    sb_arena_fini(&arena);
    sb_fault_fs_fini(&fs);
}

static void every_refused_call_is_survived(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "a/b/c/tfevents", SB_LIT(""));
    for (uint64_t n = 1;; n++) {
        sb_fault_fs fs;
        sb_fault_fs_init(&fs, &sb_fs_local);
        sb_fault_fs_fail(&fs, SB_CALL_ANY, n, EIO, false);
        sb_env env = {.alloc = &sb_alloc_libc, .fs = &fs.fs};
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
        sb_found found;
        sb_status status = sb_discover(&found, &env, &arena, sb_test_dir_path(*state), NULL, NULL);
        uint64_t failures = sb_fault_fs_failures(&fs);
        assert_int_equal(status, n <= 2 ? SB_IO : SB_OK); /* the root itself, or something in it */
        if (status == SB_OK) assert_int_equal(found.problem_count, failures);
        sb_arena_fini(&arena);
        sb_fault_fs_fini(&fs);
        if (failures == 0) break;
    }
}

static sb_status discover_in(const sb_alloc *alloc, void *ud) {
    sb_env env = {.alloc = alloc, .fs = &sb_fs_local};
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, 1 << 20);
    sb_found found;
    sb_status status = sb_discover(&found, &env, &arena, ud, NULL, NULL);
    if (status == SB_OK) assert_int_equal(found.run_count, 3);
    sb_arena_fini(&arena);
    return status;
}

static void every_refused_allocation_is_survived(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "a/b/c/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "d/tfevents", SB_LIT(""));
    assert_int_equal(symlink("self", sb_test_dir_join(*state, "self")), 0);
    char path[4096];
    snprintf(path, sizeof path, "%s", sb_test_dir_path(*state));
    sb_fault_alloc_sweep(discover_in, path);
}

static void limits_are_kept(void **state) {
    sb_test_dir_put(*state, "a/b/c/d/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "a/b/tfevents", SB_LIT(""));
    result r;
    assert_ok(discover_with(&r, sb_test_dir_path(*state), &(sb_discover_opts){.max_depth = 2}),
              &r.err);
    assert_found(&r, "a/b: tfevents; ");
    assert_int_equal(r.found.problem_count, 1);
    assert_int_equal(r.found.problems[0].error, E2BIG);
    sb_arena_fini(&r.arena);
}

static void at_the_limit_of_names_what_was_found_is_kept(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "b/c/d/tfevents", SB_LIT(""));
    result r;
    assert_ok(discover_with(&r, sb_test_dir_path(*state), &(sb_discover_opts){.max_names = 4}),
              &r.err);
    assert_found(&r, "a: tfevents; ");
    assert_int_equal(r.found.problem_count, 1);
    assert_int_equal(r.found.problems[0].error, SB_LEFT_OUT_LIMIT);
    assert_slice_is(r.found.problems[0].path, sb_test_dir_path(*state));
    assert_true(sb_left_out_may_hide(SB_LEFT_OUT_LIMIT));
    sb_arena_fini(&r.arena);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void put_link(void **state, const char *target, const char *name) {
    assert_int_equal(symlink(target, sb_test_dir_join(*state, name)), 0);
}

static void a_run_behind_a_link_is_shown_under_both_names(void **state) {
    sb_test_dir_put(*state, "z/train/tfevents", SB_LIT(""));
    put_link(state, "z", "a");
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_found(&r, "a/train: tfevents; z/train: tfevents; ");
    assert_int_equal(r.found.problem_count, 0);
    sb_arena_fini(&r.arena);
}

static void directories_without_a_link_are_found_first(void **state) {
    sb_test_dir_put(*state, "z/tfevents", SB_LIT(""));
    put_link(state, "z", "a");
    result r;
    assert_ok(discover_with(&r, sb_test_dir_path(*state), &(sb_discover_opts){.max_names = 3}),
              &r.err);
    assert_found(&r, "z: tfevents; ");
    sb_arena_fini(&r.arena);
}

static void directories_that_link_to_each_other_are_found_under_a_few_names(void **state) {
    sb_test_dir_put(*state, "good/tfevents", SB_LIT(""));
    for (int i = 0; i < 10; i++) {
        char name[32], target[32];
        snprintf(name, sizeof name, "d%d/tfevents", i);
        sb_test_dir_put(*state, name, SB_LIT(""));
        for (int k = 0; k < 10; k++) {
            snprintf(name, sizeof name, "d%d/l%d", i, k);
            snprintf(target, sizeof target, "../d%d", k);
            if (k != i) put_link(state, target, name);
        }
    }
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_int_equal(r.found.run_count, 1 + 10 * 4);
    size_t aliases = 0;
    for (size_t i = 0; i < r.found.problem_count; i++)
        aliases += r.found.problems[i].error == SB_LEFT_OUT_ALIAS;
    assert_true(aliases > 0);
    assert_non_null(strstr(sb_left_out_text(SB_LEFT_OUT_ALIAS), "link"));
    sb_arena_fini(&r.arena);
}

static void file_systems_of_the_kernel_are_left_out(void **state) {
    sb_test_dir_put(*state, "good/tfevents", SB_LIT(""));
    put_link(state, "/proc", "proc");
    result r;
    discover(&r, sb_test_dir_path(*state));
    assert_found(&r, "good: tfevents; ");
    assert_int_equal(r.found.problem_count, 1);
    assert_int_equal(r.found.problems[0].error, SB_LEFT_OUT_VIRTUAL);
    assert_slice_is(r.found.problems[0].path, sb_test_dir_join(*state, "proc"));
    sb_arena_fini(&r.arena);
}

/* ---- while the walk goes on ------------------------------------------------------------------ */

typedef struct watched_walk {
    size_t dirs, runs;
    size_t stop_after; /* directories; 0: never */
    _Atomic bool stop;
} watched_walk;

static void count_dir(void *ctx, const sb_found_run *run) {
    watched_walk *w = ctx;
    w->runs += run != NULL;
    if (++w->dirs == w->stop_after) atomic_store(&w->stop, true);
}

static void each_run_is_told_while_the_walk_goes_on(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "b/c/tfevents", SB_LIT(""));
    watched_walk w = {0};
    result r;
    sb_discover_opts opts = {.each_dir = count_dir, .ctx = &w, .stop = &w.stop};
    assert_ok(discover_with(&r, sb_test_dir_path(*state), &opts), &r.err);
    assert_int_equal(w.dirs, 4);
    assert_int_equal(w.runs, 2);
    sb_arena_fini(&r.arena);
}

static void a_walk_can_be_ended(void **state) {
    sb_test_dir_put(*state, "a/tfevents", SB_LIT(""));
    sb_test_dir_put(*state, "b/c/tfevents", SB_LIT(""));
    watched_walk w = {.stop_after = 2};
    result r;
    sb_discover_opts opts = {.each_dir = count_dir, .ctx = &w, .stop = &w.stop};
    assert_int_equal(discover_with(&r, sb_test_dir_path(*state), &opts), SB_CANCELLED);
    assert_int_equal(w.dirs, 2);
    sb_arena_fini(&r.arena);
}

/* ---- a tree that is not on any disk ---------------------------------------------------------- */

#define WIDE_RUNS 1000
#define WIDE_FILES 100

static int wide_list(void *ctx, const char *path, sb_list_fn each, void *ud) {
    (void)ctx;
    size_t count = strcmp(path, "wide") == 0 ? WIDE_RUNS : WIDE_FILES;
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, count == WIDE_RUNS ? "run%zu" : "%zu.tfevents", i);
        int answer = each(ud, name);
        if (answer) return answer;
    }
    return 0;
}

static int wide_stat(void *ctx, const char *path, sb_file_info *out) {
    uint64_t *calls = ctx;
    *out = (sb_file_info){.inode = ++*calls, .size = 1};
    out->is_file = strstr(path, ".tfevents") != NULL;
    out->is_dir = !out->is_file;
    return 0;
}

static void a_hundred_thousand_files_are_fine(void **state) {
    (void)state;
    uint64_t calls = 0;
    sb_fs fs = {.ctx = &calls, .list = wide_list, .stat = wide_stat};
    sb_env env = {.alloc = &sb_alloc_libc, .fs = &fs};
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1 << 20, (size_t)1 << 30);
    sb_found found;
    sb_err err;
    assert_ok(sb_discover(&found, &env, &arena, "wide", NULL, &err), &err);
    assert_int_equal(found.run_count, WIDE_RUNS);
    assert_int_equal(found.file_count, WIDE_RUNS * WIDE_FILES);
    assert_int_equal(calls, 1 + WIDE_RUNS + WIDE_RUNS * WIDE_FILES);
    assert_slice_is(found.runs[1].name, "run1");
    assert_slice_is(found.runs[2].name, "run10");
    assert_slice_is(found.runs[2].files[2].path, "wide/run10/10.tfevents");
    sb_arena_fini(&arena);
}

#define WITH_DIR(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_DIR(names_with_tfevents_make_runs),
        WITH_DIR(order_is_that_of_bytes),
        WITH_DIR(slashes_behind_the_path_change_nothing),
        WITH_DIR(a_file_is_a_run_of_its_own),
        WITH_DIR(nothing_there_is_told_from_nothing_found),
        WITH_DIR(links_are_followed_but_not_in_circles),
        WITH_DIR(names_may_be_any_bytes),
        WITH_DIR(what_cannot_be_read_is_reported_and_skipped),
        WITH_DIR(every_refused_call_is_survived),
        WITH_DIR(every_refused_allocation_is_survived),
        WITH_DIR(limits_are_kept),
        WITH_DIR(at_the_limit_of_names_what_was_found_is_kept),
        WITH_DIR(a_run_behind_a_link_is_shown_under_both_names),
        WITH_DIR(directories_without_a_link_are_found_first),
        WITH_DIR(directories_that_link_to_each_other_are_found_under_a_few_names),
        WITH_DIR(file_systems_of_the_kernel_are_left_out),
        WITH_DIR(each_run_is_told_while_the_walk_goes_on),
        WITH_DIR(a_walk_can_be_ended),
        cmocka_unit_test(a_hundred_thousand_files_are_fine),
    };
    return cmocka_run_group_tests_name("logdir/discover", tests, NULL, NULL);
}
