/* progress_test.c: how far the reading of a packed trace is, and that it can be cancelled. */
#include <zlib.h>

#include "codec/proto/proto.h"
#include "unit/profile/trace_bed.h"

typedef struct progress {
    uint64_t last, total;
    size_t calls, between; /* between: neither at the begin nor at the end */
    size_t most_calls;     /* cancels after so many; 0: never */
    bool goes_back;
} progress;

static bool note(void *ud, uint64_t done, uint64_t total) {
    progress *p = ud;
    if (p->most_calls && ++p->calls > p->most_calls) return false;
    p->goes_back = p->goes_back || done < p->last || done > total;
    p->between += done > 0 && done < total;
    p->last = done;
    p->total = total;
    return !p->most_calls || p->calls < p->most_calls;
}

static const char *put_packed(sb_test_dir *d, const char *name, sb_slice bytes) {
    const char *path = sb_test_dir_join(d, name);
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes.p, (unsigned)bytes.n), (int)bytes.n);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

/* Twelve megabytes of events whose names do not repeat. */
static const char *packed_json(sb_test_dir *d) {
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 26);
    sb_test_random random = sb_test_random_of(3);
    sb_buf_add_str(&text, "{\"traceEvents\":[");
    for (int i = 0; text.n < (size_t)12 << 20; i++)
        sb_buf_printf(&text, "%s" X("n%llx", 1, 1), i ? "," : "",
                      (unsigned long long)sb_test_u64(&random));
    sb_buf_add_str(&text, "]}");
    const char *path = put_packed(d, "big.json.gz", sb_buf_slice(&text));
    sb_buf_fini(&text);
    return path;
}

/* Two planes, each with six megabytes that nobody reads. */
static const char *packed_xspace(sb_test_dir *d) {
    sb_buf space;
    sb_buf_init(&space, &sb_alloc_libc, 1 << 26);
    static uint8_t bytes[6 << 20];
    sb_test_random random = sb_test_random_of(5);
    sb_test_fill(&random, bytes, sizeof bytes);
    for (int i = 0; i < 2; i++) {
        size_t plane = sb_pb_begin(&space, 1, sizeof bytes + 100);
        sb_pb_add_bytes(&space, 2, i ? SB_LIT("/host:CPU") : SB_LIT("/host:other"));
        sb_pb_add_bytes(&space, 15, sb_slice_of(bytes, sizeof bytes));
        sb_pb_end(&space, plane);
    }
    const char *path = put_packed(d, "vm.xplane.pb.gz", sb_buf_slice(&space));
    sb_buf_fini(&space);
    return path;
}

static sb_status read_with(const char *path, progress *p) {
    sb_trace *t = NULL;
    sb_trace_opts opts = {.progress = note, .ud = p, .most_spans = 1 << 24};
    sb_status status =
        sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local,
                      &(sb_trace_file){.path = path, .name = SB_LIT("vm")}, 1, &opts, NULL);
    if (status == SB_OK) sb_trace_free(t);
    return status;
}

static void progress_of_a_packed_file_rises_while_it_is_read(void **state) {
    const char *paths[] = {packed_json(*state), packed_xspace(*state)};
    for (size_t i = 0; i < 2; i++) {
        progress p = {.calls = 0};
        assert_int_equal(read_with(paths[i], &p), SB_OK);
        assert_true(p.between >= 5);
        assert_false(p.goes_back);
        assert_int_equal(p.last, p.total);
    }
}

static void unpacking_can_be_cancelled(void **state) {
    const char *paths[] = {packed_json(*state), packed_xspace(*state)};
    for (size_t i = 0; i < 2; i++) {
        progress p = {.most_calls = 3};
        assert_int_equal(read_with(paths[i], &p), SB_CANCELLED);
        assert_true(p.last < p.total / 2);
        assert_true(p.calls <= 6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(progress_of_a_packed_file_rises_while_it_is_read,
                                        sb_test_dir_setup, sb_test_dir_teardown),
        cmocka_unit_test_setup_teardown(unpacking_can_be_cancelled, sb_test_dir_setup,
                                        sb_test_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
