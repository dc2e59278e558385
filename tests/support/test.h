/* test.h: what every test program includes: cmocka with the headers it needs, and small helpers.
 *
 * A helper that meets an impossible situation fails the running test; call it from the test's own
 * thread only. */
#ifndef SB_TESTS_SUPPORT_TEST_H
#define SB_TESTS_SUPPORT_TEST_H

/* cmocka.h uses the types of these but does not include them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/slice.h"
#include "seaboard/status.h"

#define SB_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Decodes hex digits (white space between bytes is skipped) into room bytes at to. */
sb_slice sb_test_bytes(uint8_t *to, size_t room, const char *hex);

/* The two slices hold the same bytes; the first difference is shown. */
#define assert_slice_equal(a, b) sb_test_slice_equal((a), (b), __FILE__, __LINE__)
void sb_test_slice_equal(sb_slice a, sb_slice b, const char *file, int line);

/* The slice holds the bytes of a C string. */
#define assert_slice_is(slice, text)                                                               \
    sb_test_slice_equal((slice), sb_slice_str(text), __FILE__, __LINE__)

/* The call succeeded; else its message is shown. err may be NULL. */
#define assert_ok(call, err) sb_test_ok((call), (err), #call, __FILE__, __LINE__)
void sb_test_ok(sb_status status, const sb_err *err, const char *call, const char *file, int line);

/* ---- random numbers, the same in every run --------------------------------------------------- */

typedef struct sb_test_random {
    uint64_t state; /* never 0 */
} sb_test_random;

/* The same seed gives the same numbers on every machine. */
sb_test_random sb_test_random_of(uint64_t seed);
uint64_t sb_test_u64(sb_test_random *r);
/* 0 .. n - 1; n must not be 0. The slight bias does not matter to tests. */
uint64_t sb_test_below(sb_test_random *r, uint64_t n);
void sb_test_fill(sb_test_random *r, void *p, size_t n);

/* ---- a directory that lasts for one test ----------------------------------------------------- */

typedef struct sb_test_dir sb_test_dir;

/* Makes a fresh directory under $TMPDIR or /tmp; free removes it with all that is in it. */
sb_test_dir *sb_test_dir_new(void);
void sb_test_dir_free(sb_test_dir *d);
const char *sb_test_dir_path(const sb_test_dir *d);
/* The path of a name inside it; lives until the directory is freed. */
const char *sb_test_dir_join(sb_test_dir *d, const char *name);
/* Puts a file there, parents made where they are missing; answers its path, as join does. */
const char *sb_test_dir_put(sb_test_dir *d, const char *name, sb_slice data);
/* All bytes of a file at a full path; they live until the directory is freed. */
sb_slice sb_test_dir_get(sb_test_dir *d, const char *path);

/* For cmocka_unit_test_setup_teardown: *state is the sb_test_dir. */
int sb_test_dir_setup(void **state);
int sb_test_dir_teardown(void **state);

#endif
