/* bench_profile.c: traces of 100 MB, an XSpace (about 4 million slices) and one of torch as JSON
 * (about 400 000): file to finished trace, what it means, and windows of it.
 *
 * The files are made once in the folder and used again. */
#include <stdio.h>
#include <sys/stat.h>

#include "codec/proto/proto.h"
#include "harness.h"
#include "profile/analysis/analysis.h"
#include "profile/read/read.h"
#include "profile/trace/window.h"
#include "base/banned.h"

#define BYTES ((size_t)100 << 20)
#define LINES 8u

typedef struct work {
    sb_bench *b;
    char path[600];
    sb_trace *t;
    uint64_t rects;
} work;

static bool is_there(const char *path, size_t bytes) {
    struct stat info;
    return stat(path, &info) == 0 && (size_t)info.st_size >= bytes / 2;
}

/* Threads with operators three deep, in order of time. */
static void add_xspace(sb_buf *out, size_t bytes) {
    size_t plane = sb_pb_begin(out, 1, bytes);
    sb_pb_add_bytes(out, 2, SB_LIT("/host:CPU"));
    uint64_t events = bytes / 17 / LINES;
    for (uint32_t line = 0; line < LINES; line++) {
        size_t at = sb_pb_begin(out, 3, bytes / LINES);
        sb_pb_add_uint(out, 1, line + 1);
        sb_pb_add_bytes(out, 2, SB_LIT("worker"));
        uint64_t time = 1000000;
        for (uint64_t i = 0; i < events; i++, time += 1000000) {
            size_t event = sb_pb_begin(out, 4, 20);
            sb_pb_add_uint(out, 1, i * 7 % 300 + 1);
            sb_pb_add_uint(out, 2, time + i % 3 * 1000);
            sb_pb_add_uint(out, 3, i % 3 == 0 ? 2900000 : 900000 - i % 3 * 200000);
            if (i % 8 == 0) {
                size_t stat = sb_pb_begin(out, 4, 10);
                sb_pb_add_uint(out, 1, 1);
                sb_pb_add_uint(out, 4, i);
                sb_pb_end(out, stat);
            }
            sb_pb_end(out, event);
        }
        sb_pb_end(out, at);
    }
    for (uint32_t i = 1; i <= 300; i++) {
        char name[40];
        int n = snprintf(name, sizeof name, "model/layer_%u/op:MatMul", i);
        size_t entry = sb_pb_begin(out, 4, 60);
        sb_pb_add_uint(out, 1, i);
        size_t meta = sb_pb_begin(out, 2, 50);
        sb_pb_add_uint(out, 1, i);
        sb_pb_add_bytes(out, 2, sb_slice_of(name, (size_t)n));
        sb_pb_end(out, meta);
        sb_pb_end(out, entry);
    }
    sb_pb_end(out, plane);
}

static void add_json(sb_buf *out, size_t bytes) {
    sb_buf_add_str(
        out,
        "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [");
    for (uint64_t i = 0; out->n < bytes && out->failed == SB_OK; i++)
        sb_buf_printf(
            out,
            "%s\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%llu\", "
            "\"pid\": 399, \"tid\": %llu,\n"
            "    \"ts\": %llu.%03llu, \"dur\": %u.143,\n    \"args\": {\n      \"External id\": "
            "%llu,\"Record function id\": 0, "
            "\"Sequence number\": %llu, \"Fwd thread id\": 1, \"Ev Idx\": %llu\n    }\n  }",
            i ? "," : "", (unsigned long long)(i * 7 % 300), (unsigned long long)(400 + i % LINES),
            (unsigned long long)(3880009157945u + i * 3), (unsigned long long)(i % 1000),
            i % 24 < 8 ? 60u : 18u, (unsigned long long)i, (unsigned long long)i,
            (unsigned long long)i);
    sb_buf_add_str(out, "\n  ]\n}\n");
}

static bool make_file(work *w, const char *name, size_t bytes, void (*add)(sb_buf *, size_t)) {
    snprintf(w->path, sizeof w->path, "%s/%s", w->b->folder, name);
    if (is_there(w->path, bytes)) return true;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, (size_t)4 << 30);
    add(&out, bytes);
    FILE *file = fopen(w->path, "wb");
    bool is_done = file && out.failed == SB_OK && fwrite(out.p, 1, out.n, file) == out.n;
    if (file && fclose(file) != 0) is_done = false;
    sb_buf_fini(&out);
    return is_done;
}

static void read_trace(void *ud) {
    work *w = ud;
    sb_err err;
    sb_trace_free(w->t);
    w->t = NULL;
    sb_trace_file file = {.path = w->path, .name = SB_LIT("host")};
    if (sb_trace_open(&w->t, &sb_alloc_libc, &sb_fs_local, &file, 1, NULL, &err) != SB_OK)
        sb_bench_fail(w->b, err.text);
}

static void analyse(void *ud) {
    work *w = ud;
    sb_analysis *a;
    sb_err err;
    if (sb_analysis_new(&a, w->t, NULL, &err) != SB_OK)
        sb_bench_fail(w->b, err.text);
    else
        sb_analysis_free(a);
}

/* Every track of the whole capture at 1600 pixels: the first picture. */
static void draw(void *ud) {
    work *w = ud;
    w->rects = 0;
    for (size_t i = 0; i < w->t->tracks.n; i++) {
        sb_rects rects = {0};
        uint64_t spans;
        sb_window window = {0, w->t->duration, 1600};
        sb_window_rects(&w->t->tracks.items[i], &window, &rects, &sb_alloc_libc, &spans);
        w->rects += rects.n;
        SB_VEC_FREE(&rects, &sb_alloc_libc);
    }
}

static void measure(sb_bench *b, const char *what, const char *name,
                    void (*add)(sb_buf *, size_t)) {
    work w = {.b = b};
    size_t bytes = (size_t)sb_bench_count(b, BYTES);
    if (!make_file(&w, name, bytes, add)) {
        sb_bench_fail(b, "the trace can't be written");
        return;
    }
    double ns = sb_bench_best_ns(b, read_trace, &w);
    if (!w.t) return;
    sb_bench_report(what, "file to timeline", "ns", ns);
    sb_bench_report(what, "slices", "M", (double)w.t->span_count * 1e-6);
    sb_bench_report(what, "in memory", "MB", (double)sb_trace_bytes_held(w.t) * 1e-6);
    sb_bench_report(what, "steps, parts and operators", "ns", sb_bench_best_ns(b, analyse, &w));
    sb_bench_report(what, "whole capture at 1600 pixels", "ns", sb_bench_best_ns(b, draw, &w));
    sb_trace_free(w.t);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    measure(&b, "trace of 100 MB, XSpace", "trace.xplane.pb", add_xspace);
    measure(&b, "trace of 100 MB, torch JSON", "trace.pt.trace.json", add_json);
    return sb_bench_end(&b);
}
