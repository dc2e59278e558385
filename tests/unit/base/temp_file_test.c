/* temp_file_test.c: temporary files have no name, and a folder that can't have one is no
 * obstacle. */
#include "base/system/temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"
#include "base/banned.h"

static unsigned count_names(const char *folder) {
    unsigned n = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return n;
}

static void a_temporary_file_holds_bytes_and_has_no_name(void **state) {
    const char *folder = sb_test_dir_path(*state);
    unsigned before = count_names(folder);
    int file = sb_temp_file(folder);
    assert_true(file >= 0);
    assert_int_equal(count_names(folder), before);
    char back[6] = "";
    struct stat info;
    assert_int_equal(pwrite(file, "bytes", 5, 0), 5);
    assert_int_equal(pread(file, back, 5, 0), 5);
    assert_string_equal(back, "bytes");
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(info.st_nlink, 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    close(file);
}

static void a_folder_that_is_not_there_is_replaced_by_tmp(void **state) {
    const char *none = sb_test_dir_join(*state, "none");
    assert_int_equal(sb_temp_file(none), -1);
    assert_int_equal(errno, ENOENT);
    const char *folders[] = {none, NULL};
    for (size_t i = 0; i < SB_COUNT(folders); i++) {
        int file = sb_temp_file_or_tmp(folders[i]);
        assert_true(file >= 0);
        close(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_temporary_file_holds_bytes_and_has_no_name,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_replaced_by_tmp,
                                        sb_test_dir_setup, sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
