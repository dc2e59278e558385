#include "support/events.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/record.h"

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

sb_test_files sb_test_event_files(sb_test_dir *d, const char *logdir) {
    sb_test_files files = {0};
    DIR *dir = opendir(logdir);
    if (!dir) return files;
    size_t prefix = strlen(sb_test_dir_path(d)) + 1;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, "tfevents")) continue;
        char path[8192];
        snprintf(path, sizeof path, "%s/%s", logdir, entry->d_name);
        assert_true(files.count < SB_TEST_FILES);
        files.paths[files.count++] = sb_test_dir_join(d, path + prefix);
    }
    closedir(dir);
    qsort(files.paths, files.count, sizeof files.paths[0], by_name);
    return files;
}

sb_test_records sb_test_read_records(sb_test_dir *d, const char *path) {
    sb_test_records out = {0};
    sb_slice rest = sb_test_dir_get(d, path);
    size_t room = 0;
    while (rest.n) {
        sb_record record;
        sb_status status = sb_record_read(&record, rest);
        if (status == SB_MORE) break;
        assert_int_equal(status, SB_OK);
        if (out.count == room) {
            room = room ? room * 2 : 64;
            out.payloads = realloc(out.payloads, room * sizeof *out.payloads);
        }
        out.payloads[out.count++] = record.payload;
        rest = sb_slice_of(rest.p + record.size, rest.n - (size_t)record.size);
    }
    out.tail = rest.n;
    return out;
}

void sb_test_records_free(sb_test_records *r) {
    free(r->payloads);
    r->payloads = NULL;
}

static uint64_t still_wall(void *ctx) {
    (void)ctx;
    return 1700000000250000000u;
}

static uint64_t running(void *ctx) {
    (void)ctx;
    return sb_clock_system.steady(sb_clock_system.ctx);
}

const sb_clock sb_test_clock = {still_wall, running, NULL};
