/* beneath_test.c: nothing outside of a directory is ever opened, by either walk. */
#include "fsio/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

typedef int (*opener)(const char *dir, const char *path);
static const opener openers[] = {sb_beneath_open, sb_beneath_walk};

#define SECRET "secret"

static bool is_secret(int fd) {
    char text[16] = {0};
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    return n >= 6 && memcmp(text, SECRET, 6) == 0;
}

/* A root called "data" with files and links, and beside it "data-secret" and "outside". */
static const char *make_tree(sb_test_dir *d) {
    sb_test_dir_put(d, "data/a", SB_LIT("inside a"));
    sb_test_dir_put(d, "data/sub/b", SB_LIT("inside b"));
    sb_test_dir_put(d, "data/sub/deep/c", SB_LIT("inside c"));
    sb_test_dir_put(d, "data/~x/y~", SB_LIT("inside ~"));
    sb_test_dir_put(d, "data-secret/s", SB_LIT(SECRET));
    sb_test_dir_put(d, "outside", SB_LIT(SECRET));
    static const char *const links[][2] = {
        {"sub/b", "data/link"},
        {"../a", "data/sub/up"},
        {"../../outside", "data/sub/out"},
        {"../data-secret", "data/look"},
        {"sub", "data/sublink"},
        {"loop2", "data/loop1"},
        {"loop1", "data/loop2"},
        {"self", "data/self"},
        {"..", "data/parent"},
        {"sub/deep/../../a", "data/around"},
        {"nothing", "data/dangling"},
        {"/etc/passwd", "data/absolute"},
        {"./sub//./b", "data/dots"},
        {"parent/outside", "data/two"},
    };
    for (size_t i = 0; i < SB_COUNT(links); i++)
        assert_int_equal(symlink(links[i][0], sb_test_dir_join(d, links[i][1])), 0);
    assert_int_equal(mkfifo(sb_test_dir_join(d, "data/pipe"), 0600), 0);
    assert_int_equal(symlink("/proc/self/root", sb_test_dir_join(d, "data/magic")), 0);
    return sb_test_dir_join(d, "data");
}

static void expect_text(const char *root, const char *path, const char *text) {
    for (size_t k = 0; k < SB_COUNT(openers); k++) {
        char got[32] = {0};
        int fd = openers[k](root, path);
        if (fd < 0) fail_msg("%s: %s", path, strerror(-fd));
        assert_true(pread(fd, got, sizeof got - 1, 0) > 0);
        assert_string_equal(got, text);
        close(fd);
    }
}

static void expect_error(const char *root, const char *path, int error) {
    for (size_t k = 0; k < SB_COUNT(openers); k++) {
        int fd = openers[k](root, path);
        if (fd != -error) fail_msg("%s by way %zu: %d, not %d", path, k, fd, -error);
    }
}

static void files_and_links_inside_are_opened(void **state) {
    const char *root = make_tree(*state);
    expect_text(root, "a", "inside a");
    expect_text(root, "./a", "inside a");
    expect_text(root, "sub//b", "inside b");
    expect_text(root, "sub/deep/c", "inside c");
    expect_text(root, "link", "inside b");
    expect_text(root, "sublink/b", "inside b");
    expect_text(root, "sublink/up", "inside a");
    expect_text(root, "sub/up", "inside a");
    expect_text(root, "around", "inside a");
    expect_text(root, "dots", "inside b");
}

static void what_leads_outside_is_refused(void **state) {
    sb_test_dir *d = *state;
    const char *root = make_tree(d);
    static const char *const paths[] = {
        "..",
        "../outside",
        "sub/../../outside",
        "../data-secret/s",
        "../data/a",
        "sub/out",
        "sublink/out",
        "look/s",
        "parent/outside",
        "two",
        "absolute",
        "~/x",
        "~root",
        "~x/y~",
        "",
        "/etc/passwd",
        "a/",
        "sub/../a",
        "a\n",
        "\x7f",
        "magic/etc/passwd",
    };
    for (size_t i = 0; i < SB_COUNT(paths); i++) expect_error(root, paths[i], EXDEV);
    expect_error(root, sb_test_dir_join(d, "data/a"), EXDEV);
    expect_error(root, sb_test_dir_join(d, "data-secret/s"), EXDEV);
}

static void what_is_no_file_is_refused(void **state) {
    const char *root = make_tree(*state);
    expect_error(root, "sub", EISDIR);
    expect_error(root, "sublink", EISDIR);
    expect_error(root, ".", EISDIR);
    expect_error(root, "pipe", EACCES); /* and does not wait for a writer */
    expect_error(root, "none", ENOENT);
    expect_error(root, "none/x", ENOENT);
    expect_error(root, "dangling", ENOENT);
    expect_error(root, "a/x", ENOTDIR);
    expect_error(root, "loop1", ELOOP);
    expect_error(root, "self/x", ELOOP);
    expect_error("/nonexistent-root", "a", ENOENT);
}

static void too_long_and_too_deep_ends(void **state) {
    const char *root = make_tree(*state);
    char path[SB_BENEATH_MAX + 8];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    expect_error(root, path, EXDEV);
    path[300] = 0;
    expect_error(root, path, ENAMETOOLONG);
}

/* Both ways agree on any path made of these parts, and neither shows the secret. */
static void random_paths_never_reach_the_secret(void **state) {
    static const char *const parts[] = {
        "a",    "sub",  "deep", "b",           "c",        "..",     ".",       "link",    "up",
        "out",  "look", "s",    "two",         "parent",   "self",   "loop1",   "outside", "magic",
        "data", "",     "~x",   "data-secret", "absolute", "around", "sublink", "etc"};
    const char *root = make_tree(*state);
    sb_test_random r = sb_test_random_of(20261115);
    size_t opened = 0;
    for (int i = 0; i < 20000; i++) {
        char path[256];
        size_t n = 0, count = 1 + sb_test_below(&r, 5);
        for (size_t k = 0; k < count; k++)
            n += (size_t)snprintf(path + n, sizeof path - n, "%s%s", k ? "/" : "",
                                  parts[sb_test_below(&r, SB_COUNT(parts))]);
        int fd = sb_beneath_open(root, path), twin = sb_beneath_walk(root, path);
        if ((fd >= 0) != (twin >= 0)) fail_msg("%s: %d, and by our own walk %d", path, fd, twin);
        if (fd < 0) continue;
        opened++;
        struct stat x, y;
        assert_int_equal(fstat(fd, &x), 0);
        assert_int_equal(fstat(twin, &y), 0);
        assert_true(x.st_ino == y.st_ino && x.st_dev == y.st_dev);
        if (is_secret(fd)) fail_msg("%s leads to the secret", path);
        close(fd);
        close(twin);
    }
    assert_true(opened > 100);
}

static void nul_and_control_characters_are_not_allowed(void **state) {
    const char *root = make_tree(*state);
    assert_false(sb_beneath_allowed(sb_slice_of("a\0b", 3)));
    assert_true(sb_beneath_allowed(SB_LIT("\xe4\xb8\xad x ..y/...")));
    assert_int_equal(sb_fs_open_beneath(&sb_fs_local, root, sb_slice_of("a\0b", 3)), -EXDEV);
    assert_int_equal(sb_fs_open_beneath(&sb_fs_local, NULL, sb_slice_of("a\0b", 3)), -EXDEV);
    for (int c = 1; c < 256; c++) {
        uint8_t path[3] = {'x', (uint8_t)c, 'y'};
        assert_int_equal(sb_beneath_allowed(sb_slice_of(path, 3)), c >= 0x20 && c != 0x7F);
    }
}

static void absolute_paths_lose_the_directory(void **state) {
    sb_test_dir *d = *state;
    const char *root = make_tree(d);
    sb_slice out;
    assert_true(sb_beneath_relative(root, sb_slice_str(sb_test_dir_join(d, "data/sub/b")), &out));
    assert_slice_is(out, "sub/b");
    assert_true(sb_beneath_relative("/srv/data/", SB_LIT("/srv//data/./x"), &out));
    assert_slice_is(out, "./x");
    assert_true(sb_beneath_relative("/srv/data", SB_LIT("x/y"), &out));
    assert_slice_is(out, "x/y");
    static const char *const refused[] = {
        "/srv/data-secret/x", "/srv/dat/x", "/srv/data", "/srv/data/", "/srv",
        "/srv/data/../x",     "/",          "~/x",       "../data/x"};
    for (size_t i = 0; i < SB_COUNT(refused); i++)
        if (sb_beneath_relative("/srv/data", sb_slice_str(refused[i]), &out))
            fail_msg("%s was taken", refused[i]);
    /* a directory that is itself reached through a link, spelled as the system does */
    assert_int_equal(symlink("data", sb_test_dir_join(d, "alias")), 0);
    assert_true(sb_beneath_relative(sb_test_dir_join(d, "alias"),
                                    sb_slice_str(sb_test_dir_join(d, "data/a")), &out));
    assert_slice_is(out, "a");
}

static sb_status get_link(const sb_alloc *alloc, void *ud) {
    sb_slice out;
    sb_err err;
    sb_status status = sb_fs_get_beneath(&sb_fs_local, alloc, ud, SB_LIT("link"), 100, &out, &err);
    if (status == SB_OK) assert_slice_is(out, "inside b");
    sb_alloc_put(alloc, (void *)(uintptr_t)out.p, out.n);
    return status;
}

static void whole_files_are_read_and_failures_say_why(void **state) {
    const char *root = make_tree(*state);
    sb_fault_alloc_sweep(get_link, (void *)(uintptr_t)root);
    static const struct {
        const char *path;
        sb_status status;
        const char *text;
    } cases[] = {
        {"none", SB_NOT_FOUND, "no such file"},   {"sub", SB_NOT_FOUND, "is a directory"},
        {"self", SB_NOT_FOUND, "link to itself"}, {"../x", SB_INVALID, "outside"},
        {"sub/deep/c", SB_LIMIT, "limit of 3"},   {"pipe", SB_IO, "can't open"},
    };
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_slice out;
        sb_err err = {0};
        assert_int_equal(sb_fs_get_beneath(&sb_fs_local, &sb_alloc_libc, root,
                                           sb_slice_str(cases[i].path), 3, &out, &err),
                         cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
    }
    static const sb_fault_call calls[] = {SB_CALL_OPEN, SB_CALL_INFO, SB_CALL_READ};
    for (size_t i = 0; i < SB_COUNT(calls); i++) {
        sb_fault_fs f;
        sb_slice out;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_fail(&f, calls[i], 1, EIO, false);
        assert_int_equal(
            sb_fs_get_beneath(&f.fs, &sb_alloc_libc, root, SB_LIT("a"), 100, &out, NULL), SB_IO);
        assert_null(out.p);
        sb_fault_fs_fini(&f);
    }
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        ON_DISK(files_and_links_inside_are_opened),
        ON_DISK(what_leads_outside_is_refused),
        ON_DISK(what_is_no_file_is_refused),
        ON_DISK(too_long_and_too_deep_ends),
        ON_DISK(random_paths_never_reach_the_secret),
        ON_DISK(nul_and_control_characters_are_not_allowed),
        ON_DISK(absolute_paths_lose_the_directory),
        ON_DISK(whole_files_are_read_and_failures_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
