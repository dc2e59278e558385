/* fs_test.c: whole files and chains of directories, with every single call failing in turn. */
#include "fsio/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

static bool exists(const char *path) {
    sb_file_info info;
    return sb_fs_local.stat(NULL, path, &info) == 0;
}

static bool is_dir(const char *path) {
    sb_file_info info;
    return sb_fs_local.stat(NULL, path, &info) == 0 && info.is_dir;
}

/* ---- directories ----------------------------------------------------------------------------- */

static void missing_parents_are_made(void **state) {
    static const char *const names[] = {"a/b/c", "a/b/c", "d//e", "f/g/", "a"};
    for (size_t i = 0; i < SB_COUNT(names); i++) {
        const char *path = sb_test_dir_join(*state, names[i]);
        sb_err err;
        assert_ok(sb_fs_make_dirs(&sb_fs_local, &sb_alloc_libc, path, &err), &err);
        assert_true(is_dir(path));
    }
}

static void a_file_in_the_way_is_named(void **state) {
    const char *file = sb_test_dir_put(*state, "file", SB_LIT("x"));
    sb_err err;
    assert_int_equal(sb_fs_make_dirs(&sb_fs_local, &sb_alloc_libc, file, &err), SB_IO);
    assert_non_null(strstr(err.text, file));
    const char *under = sb_test_dir_join(*state, "file/under");
    assert_int_equal(sb_fs_make_dirs(&sb_fs_local, &sb_alloc_libc, under, &err), SB_IO);
    assert_non_null(strstr(err.text, under));
    /* Nobody could look at it before; mkdir says that something is there already. */
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    sb_fault_fs_fail(&f, SB_CALL_STAT, 1, EACCES, false);
    assert_int_equal(sb_fs_make_dirs(&f.fs, &sb_alloc_libc, file, &err), SB_IO);
    assert_non_null(strstr(err.text, file));
    sb_fault_fs_fini(&f);
    assert_slice_is(sb_test_dir_get(*state, file), "x");
}

static void an_existing_parent_may_refuse_mkdir(void **state) {
    sb_test_dir_put(*state, "read_only/x", SB_LIT(""));
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    /* Each directory above exists; the system says "read-only" before it looks at that. */
    const char *path = sb_test_dir_join(*state, "read_only/new");
    size_t above = 0;
    for (const char *c = path; *c; c++) above += *c == '/';
    sb_fault_fs_fail(&f, SB_CALL_MAKE_DIR, above - 1, EROFS, false);
    sb_err err;
    assert_ok(sb_fs_make_dirs(&f.fs, &sb_alloc_libc, path, &err), &err);
    assert_int_equal(sb_fault_fs_failures(&f), 1);
    assert_true(is_dir(path));
    sb_fault_fs_fini(&f);
}

static void a_refused_directory_says_which_and_why(void **state) {
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    const char *path = sb_test_dir_join(*state, "new");
    sb_fault_fs_fail(&f, SB_CALL_MAKE_DIR, 1, EROFS, true);
    sb_err err;
    assert_int_equal(sb_fs_make_dirs(&f.fs, &sb_alloc_libc, path, &err), SB_IO);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, strerror(EROFS)));
    sb_fault_fs_fini(&f);
}

static void directories_survive_any_single_failure(void **state) {
    for (uint64_t n = 1;; n++) {
        char name[32];
        snprintf(name, sizeof name, "dir%llu/x/y", (unsigned long long)n);
        const char *path = sb_test_dir_join(*state, name);
        sb_fault_fs f;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EACCES, false);
        sb_err err;
        sb_status status = sb_fs_make_dirs(&f.fs, &sb_alloc_libc, path, &err);
        assert_int_equal(status, is_dir(path) ? SB_OK : SB_IO);
        bool refused = sb_fault_fs_failures(&f) != 0;
        sb_fault_fs_fini(&f);
        if (!refused) break;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void short_writes_are_gone_on_with(void **state) {
    const char *path = sb_test_dir_join(*state, "a");
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    sb_fault_fs_short(&f, 0, 3);
    int file = f.fs.open(f.fs.ctx, path, SB_OPEN_NEW);
    size_t done = 99;
    assert_int_equal(sb_fs_write_all(&f.fs, file, SB_LIT("0123456789"), &done), 0);
    assert_int_equal(done, 10);
    assert_int_equal(sb_fault_fs_calls(&f, SB_CALL_WRITE), 4);
    assert_int_equal(sb_fs_write_all(&f.fs, file, (sb_slice){NULL, 0}, &done), 0);
    assert_int_equal(done, 0);
    f.fs.close(f.fs.ctx, file);
    assert_slice_is(sb_test_dir_get(*state, path), "0123456789");
    sb_fault_fs_fini(&f);
}

static void a_full_disk_tells_how_much_was_written(void **state) {
    for (uint64_t room = 0; room < 10; room++) {
        char name[] = {(char)('a' + room), 0};
        const char *path = sb_test_dir_join(*state, name);
        sb_fault_fs f;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_disk(&f, room, ENOSPC);
        int file = f.fs.open(f.fs.ctx, path, SB_OPEN_NEW);
        size_t done;
        assert_int_equal(sb_fs_write_all(&f.fs, file, SB_LIT("0123456789"), &done), -ENOSPC);
        assert_int_equal(done, room);
        sb_slice found = sb_test_dir_get(*state, path);
        assert_slice_equal(found, sb_slice_of("0123456789", (size_t)room));
        /* What is cut off is room again. */
        assert_int_equal(f.fs.cut(f.fs.ctx, file, 0), 0);
        assert_int_equal(sb_fs_write_all(&f.fs, file, sb_slice_of("xxxxxxxxx", room), NULL), 0);
        f.fs.close(f.fs.ctx, file);
        sb_fault_fs_fini(&f);
    }
}

static int64_t write_nothing(void *ctx, int file, const void *from, size_t n) {
    (void)ctx;
    (void)file;
    (void)from;
    (void)n;
    return 0;
}

static void a_write_that_moves_nothing_is_an_error(void **state) {
    (void)state;
    sb_fs stuck = sb_fs_local;
    stuck.write = write_nothing;
    size_t done = 99;
    assert_int_equal(sb_fs_write_all(&stuck, 1, SB_LIT("x"), &done), -EIO);
    assert_int_equal(done, 0);
}

static void put_makes_and_replaces_a_file(void **state) {
    const char *path = sb_test_dir_join(*state, "a");
    sb_err err;
    assert_ok(sb_fs_put(&sb_fs_local, &sb_alloc_libc, path, SB_LIT("first"), &err), &err);
    assert_slice_is(sb_test_dir_get(*state, path), "first");
    assert_ok(sb_fs_put(&sb_fs_local, &sb_alloc_libc, path, SB_LIT(""), &err), &err);
    assert_slice_is(sb_test_dir_get(*state, path), "");
    assert_false(exists(sb_test_dir_join(*state, "a.part")));
}

static void a_failed_put_leaves_the_old_file(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("old"));
    const char *part = sb_test_dir_join(*state, "a.part");
    for (uint64_t n = 1;; n++) {
        sb_fault_fs f;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_short(&f, 0, 2);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EDQUOT, false);
        sb_err err;
        sb_status status = sb_fs_put(&f.fs, &sb_alloc_libc, path, SB_LIT("newer"), &err);
        bool refused = sb_fault_fs_failures(&f) != 0;
        sb_fault_fs_fini(&f);
        assert_false(exists(part));
        if (!refused) {
            assert_ok(status, &err);
            break;
        }
        assert_int_equal(status, SB_IO);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, strerror(EDQUOT)));
        assert_slice_is(sb_test_dir_get(*state, path), "old");
    }
    assert_slice_is(sb_test_dir_get(*state, path), "newer");
}

static sb_status put_once(const sb_alloc *alloc, void *ud) {
    return sb_fs_put(&sb_fs_local, alloc, ud, SB_LIT("data"), NULL);
}

static sb_status make_dirs_once(const sb_alloc *alloc, void *ud) {
    (void)sb_fs_local.remove(NULL, ud);
    return sb_fs_make_dirs(&sb_fs_local, alloc, ud, NULL);
}

static sb_status get_once(const sb_alloc *alloc, void *ud) {
    sb_slice data;
    sb_status status = sb_fs_get(&sb_fs_local, alloc, ud, 1000, &data, NULL);
    if (data.p) alloc->resize(alloc->ctx, (void *)(uintptr_t)data.p, data.n, 0);
    return status;
}

static void every_allocation_may_fail(void **state) {
    sb_fault_alloc_sweep(put_once, (void *)(uintptr_t)sb_test_dir_join(*state, "put"));
    sb_fault_alloc_sweep(make_dirs_once, (void *)(uintptr_t)sb_test_dir_join(*state, "dirs"));
    const char *path = sb_test_dir_put(*state, "get", SB_LIT("some bytes"));
    sb_fault_alloc_sweep(get_once, (void *)(uintptr_t)path);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void give_back(const sb_alloc *alloc, sb_slice data) {
    sb_alloc_put(alloc, (void *)(uintptr_t)data.p, data.n);
}

static void get_reads_all_of_a_file(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("0123456789"));
    sb_fault_alloc m;
    sb_fault_alloc_init(&m);
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    sb_fault_fs_short(&f, 3, 0);
    sb_slice data;
    sb_err err;
    assert_ok(sb_fs_get(&f.fs, &m.alloc, path, 10, &data, &err), &err);
    assert_slice_is(data, "0123456789");
    give_back(&m.alloc, data);
    assert_int_equal(sb_fs_get(&f.fs, &m.alloc, path, 9, &data, &err), SB_LIMIT);
    assert_non_null(strstr(err.text, path));
    assert_null(data.p);
    sb_fault_fs_fini(&f);
    sb_fault_alloc_fini(&m);
}

static void an_empty_file_is_empty_and_a_missing_one_is_not_found(void **state) {
    sb_slice data;
    sb_err err;
    const char *path = sb_test_dir_put(*state, "a", SB_LIT(""));
    assert_ok(sb_fs_get(&sb_fs_local, &sb_alloc_libc, path, 0, &data, &err), &err);
    assert_null(data.p);
    path = sb_test_dir_join(*state, "missing");
    assert_int_equal(sb_fs_get(&sb_fs_local, &sb_alloc_libc, path, 10, &data, &err), SB_IO);
    assert_non_null(strstr(err.text, strerror(ENOENT)));
    path = sb_test_dir_path(*state);
    assert_int_equal(sb_fs_get(&sb_fs_local, &sb_alloc_libc, path, 1 << 20, &data, &err), SB_IO);
}

static void a_failed_get_leaves_nothing_behind(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("0123456789"));
    for (uint64_t n = 1;; n++) {
        sb_fault_alloc m;
        sb_fault_alloc_init(&m);
        sb_fault_fs f;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_short(&f, 4, 0);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, false);
        sb_slice data;
        sb_err err;
        sb_status status = sb_fs_get(&f.fs, &m.alloc, path, 100, &data, &err);
        bool refused = sb_fault_fs_failures(&f) != 0;
        /* A close that fails after all was read takes nothing away. */
        bool closing = n > 1 && n == sb_fault_fs_calls(&f, SB_CALL_ANY);
        if (refused && !closing) {
            assert_int_equal(status, SB_IO);
            assert_non_null(strstr(err.text, strerror(EIO)));
            assert_null(data.p);
        } else {
            assert_ok(status, &err);
            assert_slice_is(data, "0123456789");
        }
        give_back(&m.alloc, data);
        sb_fault_fs_fini(&f);
        sb_fault_alloc_fini(&m);
        if (!refused) break;
    }
}

/* A file that shrinks between the look at it and the reading. */
static int boast(void *ctx, int file, sb_file_info *out) {
    int answer = sb_fs_local.info(ctx, file, out);
    out->size += 5;
    return answer;
}

static sb_status get_shrunk(const sb_alloc *alloc, void *ud) {
    sb_fs shrinking = sb_fs_local;
    shrinking.info = boast;
    sb_slice data;
    sb_status status = sb_fs_get(&shrinking, alloc, ud, 1000, &data, NULL);
    if (status == SB_OK) assert_int_equal(data.n, 10);
    give_back(alloc, data);
    return status;
}

static void a_file_that_shrank_gives_what_is_there(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("0123456789"));
    sb_fault_alloc_sweep(get_shrunk, (void *)(uintptr_t)path);
    path = sb_test_dir_put(*state, "empty", SB_LIT(""));
    sb_fs shrinking = sb_fs_local;
    shrinking.info = boast;
    sb_fault_alloc m;
    sb_fault_alloc_init(&m);
    sb_slice data;
    assert_ok(sb_fs_get(&shrinking, &m.alloc, path, 1000, &data, NULL), NULL);
    assert_int_equal(data.n, 0);
    assert_null(data.p);
    sb_fault_alloc_fini(&m);
}

/* ---- the failing file system itself ---------------------------------------------------------- */

static void count_calls(void *ud, sb_fault_call call, const char *path) {
    (void)path;
    unsigned *seen = ud;
    *seen |= 1u << call;
}

static void each_kind_of_call_can_be_refused(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("x"));
    sb_fault_fs f;
    sb_fault_fs_init(&f, &sb_fs_local);
    unsigned seen = 0;
    sb_fault_fs_hook(&f, count_calls, &seen);
    const sb_fs *fs = &f.fs;
    sb_file_info info;
    char byte;
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    assert_true(file >= 0);
    sb_fault_fs_fail(&f, SB_CALL_ANY, 1, ENOLCK, true);
    assert_int_equal(fs->open(fs->ctx, path, SB_OPEN_READ), -ENOLCK);
    assert_int_equal(fs->read_at(fs->ctx, file, &byte, 1, 0), -ENOLCK);
    assert_int_equal(fs->write(fs->ctx, file, "x", 1), -ENOLCK);
    assert_int_equal(fs->cut(fs->ctx, file, 0), -ENOLCK);
    assert_int_equal(fs->sync(fs->ctx, file), -ENOLCK);
    assert_int_equal(fs->info(fs->ctx, file, &info), -ENOLCK);
    assert_int_equal(fs->stat(fs->ctx, path, &info), -ENOLCK);
    assert_int_equal(fs->make_dir(fs->ctx, path), -ENOLCK);
    assert_int_equal(fs->rename(fs->ctx, path, path), -ENOLCK);
    assert_int_equal(fs->remove(fs->ctx, path), -ENOLCK);
    assert_int_equal(fs->list(fs->ctx, path, NULL, NULL), -ENOLCK);
    assert_int_equal(fs->lock(fs->ctx, file), -ENOLCK);
    assert_int_equal(fs->map(fs->ctx, file, 1, NULL), -ENOLCK);
    assert_int_equal(sb_fault_fs_open_files(&f), 1);
    assert_int_equal(fs->close(fs->ctx, file), -ENOLCK);
    assert_int_equal(sb_fault_fs_open_files(&f), 0);
    assert_int_equal(fcntl(file, F_GETFD), -1); /* closed all the same */
    assert_int_equal(sb_fault_fs_failures(&f), 14);
    assert_int_equal(sb_fault_fs_calls(&f, SB_CALL_ANY), 15);
    assert_int_equal(seen, (1u << SB_CALL_ANY) - 1);
    sb_fault_fs_fail(&f, SB_CALL_STAT, 2, ENOLCK, false);
    assert_int_equal(fs->stat(fs->ctx, path, &info), 0);
    assert_int_equal(fs->remove(fs->ctx, path), 0);
    assert_int_equal(fs->stat(fs->ctx, path, &info), -ENOLCK);
    assert_int_equal(fs->stat(fs->ctx, path, &info), -ENOENT);
    sb_fault_fs_fini(&f);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIR(missing_parents_are_made),
        IN_DIR(a_file_in_the_way_is_named),
        IN_DIR(an_existing_parent_may_refuse_mkdir),
        IN_DIR(a_refused_directory_says_which_and_why),
        IN_DIR(directories_survive_any_single_failure),
        IN_DIR(short_writes_are_gone_on_with),
        IN_DIR(a_full_disk_tells_how_much_was_written),
        cmocka_unit_test(a_write_that_moves_nothing_is_an_error),
        IN_DIR(put_makes_and_replaces_a_file),
        IN_DIR(a_failed_put_leaves_the_old_file),
        IN_DIR(every_allocation_may_fail),
        IN_DIR(get_reads_all_of_a_file),
        IN_DIR(an_empty_file_is_empty_and_a_missing_one_is_not_found),
        IN_DIR(a_failed_get_leaves_nothing_behind),
        IN_DIR(a_file_that_shrank_gives_what_is_there),
        IN_DIR(each_kind_of_call_can_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
