/* fixtures.h: the events of all event files in tests/fixtures. */
#ifndef SB_TESTS_CODEC_FIXTURES_H
#define SB_TESTS_CODEC_FIXTURES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/record.h"
#include "support/test.h"

typedef void (*fixture_fn)(const char *path, sb_slice payload, void *ud);

/* All bytes of a file under tests/fixtures; freed with free((void *)s.p). */
static inline sb_slice fixture_load(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t n = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(n ? n : 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, n, file), n);
    fclose(file);
    return sb_slice_of(bytes, n);
}

static inline void fixture_free(sb_slice s) {
    free((void *)(uintptr_t)s.p);
}

/* The payloads of the good records of one file. */
static inline size_t fixture_records(const char *path, fixture_fn fn, void *ud) {
    sb_slice all = fixture_load(path), rest = all;
    size_t count = 0;
    sb_record record;
    for (;;) {
        sb_status status = sb_record_read(&record, rest);
        if (status != SB_OK && status != SB_BAD_PAYLOAD) break;
        if (status == SB_OK) {
            fn(path, record.payload, ud);
            count++;
        }
        rest = sb_slice_of(rest.p + record.size, rest.n - (size_t)record.size);
    }
    fixture_free(all);
    return count;
}

/* Those of all event files below a folder, in no particular order. Answers how many there were. */
static inline size_t fixture_events(const char *folder, fixture_fn fn, void *ud) {
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        if (entry->d_name[0] == '.') continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_true(n > 0 && n < (int)sizeof path);
        DIR *below = opendir(path);
        if (below) {
            closedir(below);
            count += fixture_events(path, fn, ud);
        } else if (strstr(entry->d_name, "tfevents")) {
            count += fixture_records(path, fn, ud);
        }
    }
    closedir(dir);
    return count;
}

#endif
