/* temp_file.c: O_TMPFILE, or a file that is unlinked at once where a file system does not have
 * it. */
#include "base/system/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/banned.h"

int sb_temp_file(const char *folder) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/seaboard-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

int sb_temp_file_or_tmp(const char *folder) {
    int file = folder ? sb_temp_file(folder) : -1;
    return file >= 0 ? file : sb_temp_file("/tmp");
}
