/* events.h: for tests of the writer: the events of a directory's files, read back. */
#ifndef SB_TESTS_SUPPORT_EVENTS_H
#define SB_TESTS_SUPPORT_EVENTS_H

#include "base/env.h"
#include "seaboard/status.h"
#include "support/test.h"

#define SB_TEST_FILES 64

/* The event files of one directory, in order of name. */
typedef struct sb_test_files {
    size_t count;
    const char *paths[SB_TEST_FILES]; /* live as long as the test's directory */
} sb_test_files;

sb_test_files sb_test_event_files(sb_test_dir *d, const char *logdir);

/* The payloads of a file's whole records. Everything before a cut tail must be good; asserts
 * that. */
typedef struct sb_test_records {
    size_t count;
    sb_slice *payloads; /* freed by sb_test_records_free; bytes belong to the directory */
    size_t tail;        /* bytes of an incomplete record at the end */
} sb_test_records;

sb_test_records sb_test_read_records(sb_test_dir *d, const char *path);
void sb_test_records_free(sb_test_records *r);

/* A clock whose wall stands still at 1700000000.25 s, while the steady one runs. */
extern const sb_clock sb_test_clock;

#endif
