/* Answers while memory and files fail: whatever request for memory is refused while a request is
 * answered, the reply is either the right one or says that it could not be made; nothing leaks, and
 * the next reply is right again. The same while the log's files cannot be read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fsio/fs.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/serve_bed.h"
#include "support/test.h"

/* ---- what is asked --------------------------------------------------------------------------- */

typedef struct question {
    const char *first, *body;
} question;

#define P "/data/plugin/"
static const question questions[] = {
    {"GET /data/runs", ""},
    {"GET /data/plugins_listing", ""},
    {"GET /", ""},
    {"GET " P "scalars/tags", ""},
    {"GET " P "scalars/scalars?run=v2%2Ftrain&tag=loss", ""},
    {"GET " P "scalars/scalars?run=v2%2Ftrain&tag=loss&format=csv", ""},
    {"GET " P "timeseries/tags", ""},
    {"GET " P "histograms/tags", ""},
    {"GET " P "histograms/histograms?run=v2%2Ftrain&tag=weights%2Fkernel", ""},
    {"GET " P "distributions/distributions?run=v2%2Ftrain&tag=weights%2Fkernel", ""},
    {"GET " P "images/tags", ""},
    {"GET " P "images/images?run=v2%2Ftrain&tag=examples&sample=0", ""},
    {"GET " P "audio/tags", ""},
    {"GET " P "text/tags", ""},
    {"GET " P "text/text?run=v2%2Ftrain&tag=notes", ""},
    {"GET " P "pr_curves/tags", ""},
    {"GET " P "pr_curves/pr_curves?run=plugins%2Fa&tag=pr%2Fpr_curves", ""},
    {"GET " P "mesh/tags", ""},
    {"GET " P "mesh/meshes?run=plugins%2Fa&tag=cloud&sample=0", ""},
    {"GET " P "audio/audio?run=v2%2Ftrain&tag=tone&sample=0", ""},
    {"GET " P "graphs/info", ""},
    {"GET " P "graphs/graph?run=v1&conceptual=false", ""},
    {"GET " P "custom_scalars/layout", ""},
    {"POST " P "hparams/experiment", "{}"},
    {"POST " P "hparams/session_groups", "{\"startIndex\":0,\"sliceSize\":10}"},
    {"GET " P "projector/runs", ""},
    {"GET " P "projector/info?run=v1", ""},
    {"GET " P "projector/tensor?run=v1&name=W", ""},
    {"GET /api/v1/status?files=1", ""},
    {"GET /api/v1/runs", ""},
    {"GET /api/v1/tags", ""},
    {"GET /api/v1/changes?since=0", ""},
    {"POST /api/v1/summaries", "{\"tags\":[\"loss\"],\"runs\":[18,19]}"},
    {"POST /api/v1/scalars", "{\"series\":[{\"run\":18,\"tag\":\"loss\"}],\"width\":50}"},
    {"POST /api/v1/scalars", "{\"series\":[{\"run\":18,\"tag\":\"loss\"}],\"width\":50,"
                             "\"compare\":{\"run\":19,\"kind\":\"ratio\"},"
                             "\"smoothing\":{\"kind\":\"ema\",\"weight\":0.6}}"},
    {"POST /api/v1/measure", "{\"series\":[{\"run\":18,\"tag\":\"loss\"}],\"from\":0,\"to\":9}"},
    {"GET /api/v1/state", ""},
};

static const uint8_t *bytes_of(const sb_serve_answer *a, size_t *n) {
    *n = a->wire.body.n;
    return a->wire.body.p;
}

static void ask(sb_serve_bed *bed, sb_serve_answer *a, const question *q, const sb_alloc *alloc) {
    sb_slice type = q->body[0] ? SB_LIT("application/json") : SB_LIT("");
    sb_serve_ask(bed, a, sb_slice_str(q->first), type, sb_slice_str(q->body), alloc);
}

typedef struct kept {
    int status;
    uint8_t *bytes;
    size_t n;
} kept;

static kept keep(sb_serve_bed *bed, const question *q) {
    sb_serve_answer *a = malloc(sizeof *a);
    ask(bed, a, q, &sb_alloc_libc);
    kept k = {.status = a->status};
    const uint8_t *from = bytes_of(a, &k.n);
    k.bytes = malloc(k.n + 1);
    if (k.n) memcpy(k.bytes, from, k.n);
    sb_serve_answer_fini(a);
    free(a);
    return k;
}

/* The reply is the good one, or an error of the server's that says so. */
static void assert_right_or_refused(const sb_serve_answer *a, const kept *good, const char *what) {
    size_t n;
    const uint8_t *bytes = bytes_of(a, &n);
    bool is_same = a->status == good->status && n == good->n && memcmp(bytes, good->bytes, n) == 0;
    bool is_refused = a->status == 0 || a->status == 503 || a->status == 500;
    if (!is_same && !is_refused) {
        print_error("%s: %d, %zu bytes; should be %d, %zu bytes\n", what, a->status, n,
                    good->status, good->n);
        fail();
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void sweep(sb_serve_bed *bed, sb_fault_alloc *memory, const question *q) {
    kept good = keep(bed, q);
    assert_int_equal(good.status, 200);
    bool had_fault = true;
    sb_serve_answer *a = malloc(sizeof *a);
    for (uint64_t n = 1; had_fault; n += n < 200 ? 1 : n / 16) {
        sb_fault_alloc_fail_at(memory, n, false);
        uint64_t before = memory->failures;
        ask(bed, a, q, &memory->alloc);
        had_fault = memory->failures > before;
        sb_fault_alloc_fail_at(memory, 0, false);
        assert_right_or_refused(a, &good, q->first);
        sb_serve_answer_fini(a);
    }
    kept again = keep(bed, q);
    assert_int_equal(again.status, good.status);
    assert_int_equal(again.n, good.n);
    assert_memory_equal(again.bytes, good.bytes, good.n);
    free(again.bytes);
    free(good.bytes);
    free(a);
}

static void every_refused_request_gives_the_right_reply_or_none(void **state) {
    (void)state;
    sb_fault_alloc *memory = malloc(sizeof *memory);
    sb_fault_alloc_init(memory);
    sb_env env = {&memory->alloc, &sb_fs_local, &sb_clock_system};
    sb_serve_bed *bed = malloc(sizeof *bed);
    assert_int_equal(sb_serve_bed_open(bed, &env, SB_FIXTURES "/tf"), SB_OK);
    for (size_t i = 0; i < SB_COUNT(questions); i++) sweep(bed, memory, &questions[i]);
    sb_serve_bed_close(bed);
    sb_fault_alloc_fini(memory);
    free(bed);
    free(memory);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void every_failed_call_gives_the_right_reply_or_an_error(void **state) {
    (void)state;
    static const sb_fault_call calls[] = {SB_CALL_OPEN, SB_CALL_READ, SB_CALL_INFO, SB_CALL_STAT};
    sb_fault_fs *files = malloc(sizeof *files);
    sb_fault_fs_init(files, &sb_fs_local);
    sb_env env = {&sb_alloc_libc, &files->fs, &sb_clock_system};
    sb_serve_bed *bed = malloc(sizeof *bed);
    sb_serve_answer *a = malloc(sizeof *a);
    assert_int_equal(sb_serve_bed_open(bed, &env, SB_FIXTURES "/tf"), SB_OK);
    for (size_t i = 0; i < SB_COUNT(questions); i++) {
        kept good = keep(bed, &questions[i]);
        for (size_t c = 0; c < SB_COUNT(calls); c++) {
            uint64_t before;
            uint64_t n = 1;
            do {
                before = sb_fault_fs_failures(files);
                sb_fault_fs_fail(files, calls[c], n++, EIO, true);
                ask(bed, a, &questions[i], &sb_alloc_libc);
                sb_fault_fs_fail(files, calls[c], 0, 0, false);
                /* Whole texts or pictures may be missing, as if the log had ended before them. */
                assert_int_not_equal(a->status, 0);
                sb_serve_answer_fini(a);
            } while (sb_fault_fs_failures(files) > before && n < 20);
        }
        kept again = keep(bed, &questions[i]);
        assert_int_equal(again.status, good.status);
        assert_int_equal(again.n, good.n);
        assert_memory_equal(again.bytes, good.bytes, good.n);
        free(good.bytes);
        free(again.bytes);
    }
    sb_serve_bed_close(bed);
    sb_fault_fs_fini(files);
    free(a);
    free(bed);
    free(files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refused_request_gives_the_right_reply_or_none),
        cmocka_unit_test(every_failed_call_gives_the_right_reply_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
