/* trace_bed.h: traces for tests: from fixtures, and from text or bytes in a temporary file. */
#ifndef SB_TEST_TRACE_BED_H
#define SB_TEST_TRACE_BED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/search.h"
#include "profile/read/read.h"
#include "profile/trace/totals.h"
#include "unit/codec/hostile.h"

#define GPU "profile/torch/gpu_plain.vm_399.1794737035198591415.pt.trace.json.gz"
#define FULL "profile/torch/cpu_full.vm_399.1794737034369441671.pt.trace.json.gz"

/* Events of a Chrome trace on one thread. */
#define AT(name, ts, rest) "{\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" #ts "," rest "}"
#define X(name, ts, dur) AT(name, ts, "\"ph\":\"X\",\"dur\":" #dur)

static inline sb_trace *trace_of_files(const sb_trace_file *files, size_t n) {
    sb_trace *t = NULL;
    sb_err err = {0};
    assert_ok(sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, files, n, NULL, &err), &err);
    return t;
}

static inline sb_trace *trace_of_fixture(const char *path) {
    char full[600];
    snprintf(full, sizeof full, "%s/%s", SB_FIXTURES, path);
    return trace_of_files(&(sb_trace_file){.path = full, .name = SB_LIT("vm")}, 1);
}

/* Two ranks of one program. */
static inline sb_trace *trace_of_ranks(void) {
    char a[600], b[600];
    snprintf(a, sizeof a, "%s/profile/torch/ddp.rank0.1794737052106211918.pt.trace.json.gz",
             SB_FIXTURES);
    snprintf(b, sizeof b, "%s/profile/torch/ddp.rank1.1794737052105617647.pt.trace.json.gz",
             SB_FIXTURES);
    sb_trace_file files[] = {{.path = a, .name = SB_LIT("ddp.rank0")},
                             {.path = b, .name = SB_LIT("ddp.rank1")}};
    return trace_of_files(files, 2);
}

/* Files of one capture. */
static inline sb_trace *trace_of_slices(const sb_slice *texts, size_t n) {
    sb_trace_file files[4];
    char paths[4][40];
    assert_true(n <= 4);
    for (size_t i = 0; i < n; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/seaboard-trace-test-XXXXXX");
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, texts[i].p, texts[i].n), (ssize_t)texts[i].n);
        close(fd);
        files[i] = (sb_trace_file){.path = paths[i], .name = SB_LIT("vm")};
    }
    sb_trace *t = trace_of_files(files, n);
    for (size_t i = 0; i < n; i++) unlink(paths[i]);
    return t;
}

static inline sb_trace *trace_of_bytes(sb_slice bytes) {
    return trace_of_slices(&bytes, 1);
}

static inline sb_trace *trace_of_text(const char *json) {
    return trace_of_bytes(sb_slice_str(json));
}

static inline uint32_t track_named(const sb_trace *t, const char *name) {
    for (uint32_t i = 0; i < t->tracks.n; i++)
        if (sb_slice_eq(t->tracks.items[i].name, sb_slice_str(name))) return i;
    return SB_NO_INDEX;
}

/* How many spans have this name, and how long they take together. */
static inline uint64_t count_named(const sb_trace *t, const char *name, int64_t *total) {
    uint64_t n = 0;
    if (total) *total = 0;
    for (uint32_t i = 0; i < t->tracks.n; i++)
        for (uint32_t k = 0; k < t->tracks.items[i].spans.n; k++) {
            const sb_trace_span *s = &t->tracks.items[i].spans.items[k];
            if (!sb_slice_eq(sb_trace_name(t, s->name), sb_slice_str(name))) continue;
            n++;
            if (total) *total += s->dur;
        }
    return n;
}

static inline uint64_t count_kind(const sb_trace *t, sb_span_kind kind) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->tracks.n; i++) {
        if (t->tracks.items[i].kind == SB_TRACK_DERIVED) continue;
        for (uint32_t k = 0; k < t->tracks.items[i].spans.n; k++)
            n += t->tracks.items[i].spans.items[k].kind == kind;
    }
    return n;
}

#endif
