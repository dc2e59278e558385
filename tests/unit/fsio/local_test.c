/* local_test.c: each call of the machine's own file system does one thing, and says why it could
 * not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fsio/fs.h"
#include "support/test.h"
#include "base/banned.h"

static const sb_fs *const fs = &sb_fs_local;

static void a_new_file_takes_what_is_written(void **state) {
    const char *path = sb_test_dir_join(*state, "a");
    int file = fs->open(fs->ctx, path, SB_OPEN_NEW);
    assert_true(file >= 0);
    assert_int_equal(fs->write(fs->ctx, file, "one ", 4), 4);
    assert_int_equal(fs->write(fs->ctx, file, "two", 3), 3);
    assert_int_equal(fs->sync(fs->ctx, file), 0);
    assert_int_equal(fs->close(fs->ctx, file), 0);
    assert_slice_is(sb_test_dir_get(*state, path), "one two");
}

static void a_new_file_does_not_replace_an_old_one(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("old"));
    assert_int_equal(fs->open(fs->ctx, path, SB_OPEN_NEW), -EEXIST);
    assert_slice_is(sb_test_dir_get(*state, path), "old");
}

static void replace_forgets_what_was_there(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("old and long"));
    int file = fs->open(fs->ctx, path, SB_OPEN_REPLACE);
    assert_true(file >= 0);
    assert_int_equal(fs->write(fs->ctx, file, "new", 3), 3);
    assert_int_equal(fs->close(fs->ctx, file), 0);
    assert_slice_is(sb_test_dir_get(*state, path), "new");
}

static void writes_go_to_the_end_even_after_a_cut(void **state) {
    const char *path = sb_test_dir_join(*state, "a");
    int file = fs->open(fs->ctx, path, SB_OPEN_NEW);
    assert_int_equal(fs->write(fs->ctx, file, "good|half", 9), 9);
    assert_int_equal(fs->cut(fs->ctx, file, 5), 0);
    assert_int_equal(fs->write(fs->ctx, file, "whole", 5), 5);
    assert_int_equal(fs->close(fs->ctx, file), 0);
    assert_slice_is(sb_test_dir_get(*state, path), "good|whole");
}

static void reads_are_from_any_place_and_short_at_the_end(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("0123456789"));
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    assert_true(file >= 0);
    char bytes[20];
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, 4, 3), 4);
    assert_memory_equal(bytes, "3456", 4);
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, sizeof bytes, 8), 2);
    assert_memory_equal(bytes, "89", 2);
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, sizeof bytes, 10), 0);
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, sizeof bytes, 1000), 0);
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, 1, UINT64_MAX), -EINVAL);
    assert_int_equal(fs->close(fs->ctx, file), 0);
}

static void info_and_stat_tell_the_same(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("12345"));
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    sb_file_info by_file, by_path, dir;
    assert_int_equal(fs->info(fs->ctx, file, &by_file), 0);
    assert_int_equal(fs->stat(fs->ctx, path, &by_path), 0);
    assert_int_equal(by_file.size, 5);
    assert_int_equal(by_file.links, 1);
    assert_true(by_file.is_file && !by_file.is_dir);
    assert_int_equal(by_file.inode, by_path.inode);
    assert_int_equal(by_file.device, by_path.device);
    assert_int_equal(by_file.mtime_ns, by_path.mtime_ns);
    assert_int_equal(fs->stat(fs->ctx, sb_test_dir_path(*state), &dir), 0);
    assert_true(dir.is_dir && !dir.is_file);
    assert_int_equal(fs->close(fs->ctx, file), 0);
}

static void a_removed_file_lives_on_for_who_holds_it(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("12345"));
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    assert_int_equal(fs->remove(fs->ctx, path), 0);
    sb_file_info info;
    assert_int_equal(fs->info(fs->ctx, file, &info), 0);
    assert_int_equal(info.links, 0);
    assert_int_equal(fs->stat(fs->ctx, path, &info), -ENOENT);
    char bytes[5];
    assert_int_equal(fs->read_at(fs->ctx, file, bytes, 5, 0), 5);
    assert_int_equal(fs->close(fs->ctx, file), 0);
}

static void stat_follows_a_link(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("12345"));
    const char *link_path = sb_test_dir_join(*state, "link");
    assert_int_equal(symlink(path, link_path), 0);
    sb_file_info info;
    assert_int_equal(fs->stat(fs->ctx, link_path, &info), 0);
    assert_true(info.is_file);
    assert_int_equal(info.size, 5);
    assert_int_equal(fs->remove(fs->ctx, path), 0);
    assert_int_equal(fs->stat(fs->ctx, link_path, &info), -ENOENT);
}

static void rename_replaces_in_one_step(void **state) {
    const char *from = sb_test_dir_put(*state, "from", SB_LIT("new"));
    const char *to = sb_test_dir_put(*state, "to", SB_LIT("old"));
    assert_int_equal(fs->rename(fs->ctx, from, to), 0);
    assert_slice_is(sb_test_dir_get(*state, to), "new");
    sb_file_info info;
    assert_int_equal(fs->stat(fs->ctx, from, &info), -ENOENT);
}

static void failures_carry_the_system_s_number(void **state) {
    const char *missing = sb_test_dir_join(*state, "missing");
    const char *file = sb_test_dir_put(*state, "file", SB_LIT("x"));
    const char *under_file = sb_test_dir_join(*state, "file/x");
    const char *dir = sb_test_dir_path(*state);
    sb_file_info info;
    char byte;
    assert_int_equal(fs->open(fs->ctx, missing, SB_OPEN_READ), -ENOENT);
    assert_int_equal(fs->open(fs->ctx, dir, SB_OPEN_REPLACE), -EISDIR);
    assert_int_equal(fs->open(fs->ctx, under_file, SB_OPEN_NEW), -ENOTDIR);
    assert_int_equal(fs->stat(fs->ctx, missing, &info), -ENOENT);
    assert_int_equal(fs->make_dir(fs->ctx, file), -EEXIST);
    assert_int_equal(fs->make_dir(fs->ctx, sb_test_dir_join(*state, "no/parent")), -ENOENT);
    assert_int_equal(fs->rename(fs->ctx, missing, file), -ENOENT);
    assert_int_equal(fs->remove(fs->ctx, missing), -ENOENT);
    assert_int_equal(fs->remove(fs->ctx, dir), -ENOTEMPTY);
    assert_int_equal(fs->list(fs->ctx, missing, NULL, NULL), -ENOENT);
    assert_int_equal(fs->list(fs->ctx, file, NULL, NULL), -ENOTDIR);
    assert_int_equal(fs->read_at(fs->ctx, -1, &byte, 1, 0), -EBADF);
    assert_int_equal(fs->write(fs->ctx, -1, "x", 1), -EBADF);
    assert_int_equal(fs->cut(fs->ctx, -1, 0), -EBADF);
    assert_int_equal(fs->sync(fs->ctx, -1), -EBADF);
    assert_int_equal(fs->info(fs->ctx, -1, &info), -EBADF);
    assert_int_equal(fs->close(fs->ctx, -1), -EBADF);
}

static void files_are_not_inherited_by_programs(void **state) {
    const char *path = sb_test_dir_put(*state, "a", SB_LIT("x"));
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fs->close(fs->ctx, file), 0);
}

typedef struct listing {
    unsigned count;
    unsigned seen; /* one bit a name "0" .. "9" */
    unsigned stop_after;
} listing;

static int note(void *ud, const char *name) {
    listing *l = ud;
    l->count++;
    if (strlen(name) == 1 && *name >= '0' && *name <= '9') l->seen |= 1u << (*name - '0');
    return l->count == l->stop_after ? 42 : 0;
}

static void a_listing_has_every_name_but_the_dots(void **state) {
    for (int i = 0; i < 10; i++) {
        char name[] = {(char)('0' + i), 0};
        sb_test_dir_put(*state, name, SB_LIT(""));
    }
    sb_test_dir_put(*state, ".hidden", SB_LIT(""));
    sb_test_dir_put(*state, "..more", SB_LIT(""));
    listing l = {0};
    assert_int_equal(fs->list(fs->ctx, sb_test_dir_path(*state), note, &l), 0);
    assert_int_equal(l.count, 12);
    assert_int_equal(l.seen, 0x3FF);
}

static void a_listing_ends_when_told(void **state) {
    for (int i = 0; i < 10; i++) {
        char name[] = {(char)('0' + i), 0};
        sb_test_dir_put(*state, name, SB_LIT(""));
    }
    listing l = {.stop_after = 3};
    assert_int_equal(fs->list(fs->ctx, sb_test_dir_path(*state), note, &l), 42);
    assert_int_equal(l.count, 3);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIR(a_new_file_takes_what_is_written),
        IN_DIR(a_new_file_does_not_replace_an_old_one),
        IN_DIR(replace_forgets_what_was_there),
        IN_DIR(writes_go_to_the_end_even_after_a_cut),
        IN_DIR(reads_are_from_any_place_and_short_at_the_end),
        IN_DIR(info_and_stat_tell_the_same),
        IN_DIR(a_removed_file_lives_on_for_who_holds_it),
        IN_DIR(stat_follows_a_link),
        IN_DIR(rename_replaces_in_one_step),
        IN_DIR(failures_carry_the_system_s_number),
        IN_DIR(files_are_not_inherited_by_programs),
        IN_DIR(a_listing_has_every_name_but_the_dots),
        IN_DIR(a_listing_ends_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
