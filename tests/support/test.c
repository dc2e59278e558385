/* test.c: the helpers of test.h. Memory comes from the C library: a test that runs out may die. */
#include "support/test.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

sb_slice sb_test_bytes(uint8_t *to, size_t room, const char *hex) {
    size_t n = 0;
    while (*hex) {
        if (*hex == ' ' || *hex == '\n' || *hex == '\t') {
            hex++;
            continue;
        }
        int high = digit(hex[0]);
        int low = high < 0 ? -1 : digit(hex[1]);
        if (low < 0) fail_msg("not a pair of hex digits: %.10s", hex);
        if (n == room) fail_msg("more than %zu bytes of hex", room);
        to[n++] = (uint8_t)(high << 4 | low);
        hex += 2;
    }
    return sb_slice_of(to, n);
}

static void print_around(const char *name, sb_slice s, size_t at) {
    size_t from = at > 8 ? at - 8 : 0;
    size_t to = s.n - from > 24 ? from + 24 : s.n;
    print_error("%s (%zu bytes), from %zu:", name, s.n, from);
    for (size_t i = from; i < to; i++) print_error(i == at ? " [%02x]" : " %02x", s.p[i]);
    print_error("\n");
}

void sb_test_slice_equal(sb_slice a, sb_slice b, const char *file, int line) {
    if (sb_slice_eq(a, b)) return;
    size_t at = 0;
    while (at < a.n && at < b.n && a.p[at] == b.p[at]) at++;
    print_error("the bytes differ at %zu\n", at);
    print_around("first ", a, at);
    print_around("second", b, at);
    _fail(file, line);
}

void sb_test_ok(sb_status status, const sb_err *err, const char *call, const char *file, int line) {
    if (status == SB_OK) return;
    print_error("%s: %s%s%s\n", call, sb_status_name(status), err ? ": " : "",
                err ? err->text : "");
    _fail(file, line);
}

/* ---- random numbers -------------------------------------------------------------------------- */

sb_test_random sb_test_random_of(uint64_t seed) {
    /* Spread neighbouring seeds; the state of an xorshift must not be 0. */
    uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u;
    return (sb_test_random){state ? state : 1};
}

uint64_t sb_test_u64(sb_test_random *r) {
    uint64_t x = r->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    r->state = x;
    return x * 0x2545F4914F6CDD1Du;
}

uint64_t sb_test_below(sb_test_random *r, uint64_t n) {
    return sb_test_u64(r) % n;
}

void sb_test_fill(sb_test_random *r, void *p, size_t n) {
    uint8_t *bytes = p;
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)(sb_test_u64(r) >> 56);
}

/* ---- directories ----------------------------------------------------------------------------- */

typedef struct kept {
    struct kept *next;
} kept;

struct sb_test_dir {
    char path[4096];
    kept *first; /* blocks that live as long as the directory */
};

static void *keep(sb_test_dir *d, size_t n) {
    kept *block = malloc(sizeof *block + n);
    if (!block) abort();
    block->next = d->first;
    d->first = block;
    return block + 1;
}

sb_test_dir *sb_test_dir_new(void) {
    sb_test_dir *d = calloc(1, sizeof *d);
    if (!d) abort();
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    int n = snprintf(d->path, sizeof d->path, "%s/seaboard-test-XXXXXX", parent);
    if (n < 0 || (size_t)n >= sizeof d->path || !mkdtemp(d->path)) {
        print_error("no temporary directory in %s: %s\n", parent, strerror(errno));
        free(d);
        fail();
        abort(); /* not reached: says so to the compiler */
    }
    return d;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *place) {
    (void)s;
    (void)kind;
    (void)place;
    return remove(path);
}

void sb_test_dir_free(sb_test_dir *d) {
    if (!d) return;
    /* Deepest first, and never through a symbolic link. */
    if (nftw(d->path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        print_error("%s: not wholly removed\n", d->path);
    while (d->first) {
        kept *next = d->first->next;
        free(d->first);
        d->first = next;
    }
    free(d);
}

const char *sb_test_dir_path(const sb_test_dir *d) {
    return d->path;
}

static char *join(sb_test_dir *d, const char *name) {
    size_t n = strlen(d->path) + 1 + strlen(name) + 1;
    char *path = keep(d, n);
    snprintf(path, n, "%s/%s", d->path, name);
    return path;
}

const char *sb_test_dir_join(sb_test_dir *d, const char *name) {
    return join(d, name);
}

const char *sb_test_dir_put(sb_test_dir *d, const char *name, sb_slice data) {
    char *path = join(d, name);
    for (char *c = path + strlen(d->path) + 1; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        if (mkdir(path, 0777) < 0 && errno != EEXIST) fail_msg("%s: %s", path, strerror(errno));
        *c = '/';
    }
    FILE *file = fopen(path, "wb");
    if (!file) {
        fail_msg("%s: %s", path, strerror(errno));
        return path;
    }
    size_t put = data.n ? fwrite(data.p, 1, data.n, file) : 0;
    if (fclose(file) != 0 || put != data.n) fail_msg("%s: not wholly written", path);
    return path;
}

sb_slice sb_test_dir_get(sb_test_dir *d, const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat s;
    if (!file || fstat(fileno(file), &s) < 0) {
        if (file) fclose(file);
        fail_msg("%s: %s", path, strerror(errno));
        return (sb_slice){NULL, 0};
    }
    size_t n = (size_t)s.st_size;
    uint8_t *p = keep(d, n);
    size_t got = n ? fread(p, 1, n, file) : 0;
    fclose(file);
    if (got != n) fail_msg("%s: not wholly read", path);
    return sb_slice_of(p, n);
}

int sb_test_dir_setup(void **state) {
    *state = sb_test_dir_new();
    return 0;
}

int sb_test_dir_teardown(void **state) {
    sb_test_dir_free(*state);
    *state = NULL;
    return 0;
}
