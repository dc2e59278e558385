/* bad_input_test.c: odd and damaged traces are shown as far as they go, and what was odd is
 * told. */
#include <zlib.h>

#include "codec/proto/proto.h"
#include "profile/analysis/views.h"
#include "profile/chrome_write.h"
#include "profile/read/read.h"
#include "support/fault_alloc.h"
#include "unit/profile/analysis_bed.h"
#include "base/banned.h"

static uint64_t odd(const sb_trace *t, sb_trace_odd kind) {
    return t->odds[kind].n;
}

static void spans_without_an_end_last_to_the_end_of_their_track(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" AT("a", 0, "\"ph\":\"B\"") "," AT(
        "b", 5, "\"ph\":\"B\"") "," AT("", 7, "\"ph\":\"E\"") "," X("c", 8, 2) "]");
    int64_t total;
    count_named(t, "a", &total);
    assert_int_equal(total, 10 * SB_PS_PER_US);
    assert_int_equal(odd(t, SB_TRACE_ODD_MISSING_END), 1);
    sb_trace_free(t);
    t = trace_of_text("[" AT("", 7, "\"ph\":\"E\"") "," X("c", 8, 2) "]");
    assert_int_equal(odd(t, SB_TRACE_ODD_MISSING_BEGIN), 1);
    sb_trace_free(t);
}

/* The last slice of the track has a time that is two days away. */
static void spans_without_an_end_do_not_last_to_a_wrong_time(void **state) {
    (void)state;
    sb_trace *t =
        trace_of_text("[" AT("a", 0, "\"ph\":\"B\"") "," X("b", 8, 2) "," X("c", 12, 2) "," X(
            "d", 172800000000, 1) "," AT("e", 3, "\"ph\":\"b\",\"id\":1,\"cat\":\"c\"") "]");
    int64_t total;
    assert_int_equal(count_named(t, "a", &total), 1);
    assert_int_equal(total, 14 * SB_PS_PER_US);
    assert_int_equal(count_named(t, "e", NULL), 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_MISSING_END), 2);
    assert_int_equal(odd(t, SB_TRACE_ODD_FAR), 1);
    sb_trace_free(t);
}

static void spans_beside_the_threads_without_an_end_last_to_the_end_of_their_track(void **state) {
    (void)state;
#define ASYNC(name, ts, phase, id) AT(name, ts, "\"ph\":\"" phase "\",\"id\":" id ",\"cat\":\"c\"")
    sb_trace *t = trace_of_text("[" ASYNC("a", 2, "b", "1") "," ASYNC("b", 3, "b", "2") "," ASYNC(
        "b", 12, "e", "2") "," ASYNC("c", 8, "b", "3") "," ASYNC("c", 7, "e", "3") "]");
    int64_t total;
    count_named(t, "a", &total);
    assert_int_equal(total, 10 * SB_PS_PER_US);
    assert_int_equal(odd(t, SB_TRACE_ODD_MISSING_END), 1);
    count_named(t, "b", &total);
    assert_int_equal(total, 9 * SB_PS_PER_US);
    count_named(t, "c", &total);
    assert_int_equal(total, 0);
    assert_int_equal(odd(t, SB_TRACE_ODD_NEGATIVE), 1);
    sb_trace_free(t);
#undef ASYNC
}

static void negative_durations_are_instants(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" X("a", 5, -3) "," X("b", 6, 1) "]");
    int64_t total;
    assert_int_equal(count_named(t, "a", &total), 1);
    assert_int_equal(total, 0);
    assert_int_equal(odd(t, SB_TRACE_ODD_NEGATIVE), 1);
    sb_trace_free(t);
}

static void unknown_categories_are_shown_and_unknown_phases_told(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("{\"schemaVersion\":1,\"traceEvents\":[" AT(
        "a", 0, "\"ph\":\"X\",\"dur\":1,\"cat\":\"quantum_op\"") "," AT("b", 2,
                                                                        "\"ph\":\"?\"") ",{}]}");
    assert_int_equal(count_kind(t, SB_SPAN_OTHER), 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_PHASE), 1);
    sb_trace_free(t);
}

static void a_cut_file_shows_what_came_before(void **state) {
    (void)state;
    static const char whole[] =
        "{\"traceEvents\":[" X("a", 0, 1) "," X("b", 2, 1) "," X("c", 4, 1) "]}";
    for (size_t cut = 40; cut + 1 < sizeof whole - 1; cut++) {
        sb_trace *t = trace_of_bytes(sb_slice_of(whole, cut));
        assert_true(t->span_count <= 3);
        assert_true(odd(t, SB_TRACE_ODD_CUT_FILE) > 0);
        sb_trace_free(t);
    }
}

static sb_buf packed(const char *text, size_t times) {
    sb_buf out;
    z_stream z = {0};
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < times; i++) { /* each an archive of its own */
        uint8_t room[4096];
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        size_t n = strlen(text), half = n / times;
        union {
            const char *in;
            Bytef *out;
        } bytes = {.in = text + i * half};
        z.next_in = bytes.out;
        z.avail_in = (uInt)(i + 1 == times ? n - i * half : half);
        z.next_out = room;
        z.avail_out = sizeof room;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        sb_buf_add(&out, room, sizeof room - z.avail_out);
        deflateEnd(&z);
    }
    return out;
}

static void a_truncated_gzip_is_told_and_members_may_follow_each_other(void **state) {
    (void)state;
    static const char whole[] = "[" X("a", 0, 1) "," X("b", 2, 1) "," X("c", 4, 1) "]";
    sb_buf two = packed(whole, 2);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&two));
    assert_int_equal(t->span_count, 3);
    assert_int_equal(odd(t, SB_TRACE_ODD_CUT_GZIP), 0);
    sb_trace_free(t);
    sb_buf one = packed(whole, 1);
    t = trace_of_bytes(sb_slice_of(one.p, one.n - 12));
    assert_int_equal(odd(t, SB_TRACE_ODD_CUT_GZIP), 1);
    sb_trace_free(t);
    sb_buf_fini(&one);
    sb_buf_fini(&two);
}

/* The clock of one of two ranks is five seconds ahead of the other. */
static void check_clocks(int ahead) {
    char paths[2][40];
    sb_trace_file files[2];
    for (int rank = 0; rank < 2; rank++) {
        char text[2000];
        long long late = rank == ahead ? 5000000 : 0; /* five seconds */
        int n = snprintf(text, sizeof text,
                         "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1790857026000000000,"
                         "\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":[",
                         rank);
        for (int i = 0; i < 5; i++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:all_"
                          "reduce\",\"pid\":1,"
                          "\"tid\":2,\"ts\":%lld.5,\"dur\":%d}",
                          i ? "," : "", late + i * 100000 + rank * 100, 500 - rank * 100);
        snprintf(text + n, sizeof text - (size_t)n, "]}");
        snprintf(paths[rank], sizeof paths[rank], "/tmp/seaboard-rank-XXXXXX");
        int fd = mkstemp(paths[rank]);
        assert_true(write(fd, text, strlen(text)) > 0);
        close(fd);
        files[rank] =
            (sb_trace_file){.path = paths[rank], .name = sb_slice_str(rank ? "rank1" : "rank0")};
    }
    sb_trace *t = trace_of_files(files, 2);
    assert_int_equal(odd(t, SB_TRACE_ODD_SKEW), 1);
    assert_int_equal(t->sources.items[1].skew, (ahead ? -1 : 1) * INT64_C(5000000) * SB_PS_PER_US);
    assert_true(t->duration < INT64_C(1000000) * SB_PS_PER_US);
    sb_trace_free(t);
    unlink(paths[0]);
    unlink(paths[1]);
}

static void clocks_that_differ_are_moved_so_that_collectives_end_together(void **state) {
    (void)state;
    check_clocks(1);
    check_clocks(0);
}

static void ids_used_again_are_told_and_nothing_is_lost(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" AT("a", 0, "\"ph\":\"b\",\"id\":1,\"cat\":\"c\"") "," AT(
        "a", 5,
        "\"ph\":\"b\",\"id\":1,\"cat\":\"c\"") "," AT("a", 9,
                                                      "\"ph\":\"e\",\"id\":1,\"cat\":\"c\"") "]");
    assert_int_equal(odd(t, SB_TRACE_ODD_REUSED), 1);
    assert_int_equal(t->span_count, 2);
    sb_trace_free(t);
}

static void more_threads_than_anybody_has_share_a_track(void **state) {
    (void)state;
    sb_buf text;
    const unsigned n = SB_TRACE_MOST_TRACKS + 5000;
    sb_buf_init(&text, &sb_alloc_libc, (size_t)64 << 20);
    for (unsigned i = 0; i < n; i++)
        sb_buf_printf(&text,
                      "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":1}",
                      i ? "," : "[", i, i);
    sb_buf_add_byte(&text, ']');
    sb_trace *t = trace_of_bytes(sb_buf_slice(&text));
    assert_int_equal(t->span_count, n);
    assert_true(t->tracks.n <= SB_TRACE_MOST_TRACKS + 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_TRACKS), 5000);
    sb_trace_free(t);
    sb_buf_fini(&text);
}

/* The first file takes all tracks, and all groups: the second one keeps its own. */
static void what_is_beyond_the_limits_stays_with_its_file(void **state) {
    (void)state;
    static const char second[] =
        "[" X("host", 5, 1) "," AT("device", 7, "\"ph\":\"X\",\"cat\":\"kernel\",\"dur\":1") "," AT(
            "host", 9, "\"ph\":\"C\",\"args\":{\"x\":3}") "]";
    for (int processes = 0; processes < 2; processes++) {
        sb_buf text;
        sb_buf_init(&text, &sb_alloc_libc, (size_t)64 << 20);
        for (unsigned i = 0; i < SB_TRACE_MOST_TRACKS + 10; i++)
            sb_buf_printf(
                &text, "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":%u,\"tid\":%u,\"ts\":%u,\"dur\":1}",
                i ? "," : "[", processes ? i : 1, i, i);
        sb_buf_add_byte(&text, ']');
        sb_slice texts[] = {sb_buf_slice(&text), SB_LIT(second)};
        sb_trace *t = trace_of_slices(texts, 2);
        uint64_t of_kind[SB_TRACK_KIND_COUNT] = {0};
        assert_int_equal(t->span_count, SB_TRACE_MOST_TRACKS + 12);
        for (size_t i = 0; i < t->tracks.n; i++) {
            const sb_track *k = &t->tracks.items[i];
            assert_true(k->spans.n == 0 || k->lanes[k->lane_count] == k->spans.n);
            if (sb_track_source(t, k) == 1) of_kind[k->kind] += k->spans.n + k->points.n;
        }
        assert_int_equal(of_kind[SB_TRACK_THREAD], 1);
        assert_int_equal(of_kind[SB_TRACK_STREAM], 1);
        assert_int_equal(of_kind[SB_TRACK_COUNTER], 1);
        sb_trace_free(t);
        sb_buf_fini(&text);
    }
}

/* Each of these looks like the beginning of an event that goes on to the end of the file. */
static void what_never_ends_is_not_read_to_the_end_again_and_again(void **state) {
    (void)state;
    static const char *const beginnings[] = {"{\"ph\"x", "{\"ph\":x", "{\"ph\":\"", "{\"ph\":["};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        sb_buf text;
        sb_buf_init(&text, &sb_alloc_libc, (size_t)64 << 20);
        sb_buf_add_str(&text, "[" X("a", 0, 1) ",");
        for (size_t n = 0; n < 30000; n++) sb_buf_add_str(&text, beginnings[i]);
        sb_buf_add_str(&text, "]," X("b", 5, 1) "]");
        sb_trace *t = trace_of_bytes(sb_buf_slice(&text));
        assert_int_equal(count_named(t, "a", NULL), 1);
        assert_true(odd(t, SB_TRACE_ODD_BAD_JSON) > 0);
        sb_trace_free(t);
        sb_buf_fini(&text);
    }
}

/* Memory and arrows that came with the wrong time are left out as its slices are. */
static void what_came_before_the_right_time_was_known_is_left_out_whole(void **state) {
    (void)state;
    sb_buf text;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 16);
    for (int i = 0; i < 40; i++) {
        const char *era = i < 2 ? "" : "17908570260000"; /* 1970, then 2026 */
        sb_buf_printf(&text,
                      "%s{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":%s%02d,"
                      "\"args\":{\"Addr\":1,\"Bytes\":64,\"Device Type\":0}}",
                      i ? "," : "[", era, i);
        sb_buf_printf(&text,
                      ",{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":%s%02d,\"dur\":1}",
                      era, i);
    }
    sb_buf_add_byte(&text, ']');
    sb_trace *t = trace_of_bytes(sb_buf_slice(&text));
    assert_true(t->memory.n > 10);
    assert_true(t->memory.n < 38);
    for (size_t i = 0; i < t->memory.n; i++) assert_true(t->memory.items[i].time >= 0);
    assert_int_equal(t->memory.n, count_kind(t, SB_SPAN_MEMORY));
    sb_trace_free(t);
    sb_buf_fini(&text);
}

static void arrows_of_two_files_do_not_meet(void **state) {
    (void)state;
    sb_slice texts[] = {
        SB_LIT("[" AT("a", 0, "\"ph\":\"X\",\"dur\":1,\"bind_id\":7,\"flow_out\":true") "]"),
        SB_LIT("[" AT("b", 5, "\"ph\":\"X\",\"dur\":1,\"bind_id\":7,\"flow_in\":true") "]")};
    sb_trace *t = trace_of_slices(texts, 2);
    assert_int_equal(t->span_count, 2);
    assert_int_equal(t->flows.n, 0);
    sb_trace_free(t);
}

static void times_of_1970_are_shown_and_one_wrong_time_among_others_is_left_out(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" X("a", 0, 1) "," X("b", 5, 1) "]");
    assert_int_equal(t->span_count, 2);
    assert_int_equal(t->base_ns, 0);
    sb_trace_free(t);
    t = trace_of_text(
        "[" X("zero", 0, 1) "," X("a", 1790857026000000, 1) "," X("b", 1790857026000005, 1) "," X(
            "c", 1790857026000009, 1) "," X("d", 1790857026000011, 1) "]");
    assert_true(odd(t, SB_TRACE_ODD_FAR) > 0);
    assert_true(t->duration <= 20 * SB_PS_PER_US);
    sb_trace_free(t);
}

/* Fields, wire types and numbers of a version that does not exist yet. */
static void an_xspace_of_another_version_is_read_as_far_as_it_is_known(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&out, 1, 100);
    sb_pb_add_bytes(&out, 2, SB_LIT("/host:CPU"));
    size_t line = sb_pb_begin(&out, 3, 50);
    sb_pb_add_uint(&out, 1, 7);
    sb_pb_add_uint(&out, 77, 1);
    size_t event = sb_pb_begin(&out, 4, 20);
    sb_pb_add_uint(&out, 1, 1);
    sb_pb_add_uint(&out, 2, 1000);
    sb_pb_add_uint(&out, 3, 5000);
    sb_pb_add_bytes(&out, 99, SB_LIT("later"));
    sb_pb_end(&out, event);
    event = sb_pb_begin(&out, 4, 20); /* a count without a place */
    sb_pb_add_uint(&out, 1, 1);
    sb_pb_add_uint(&out, 5, 12);
    sb_pb_end(&out, event);
    sb_pb_end(&out, line);
    size_t entry = sb_pb_begin(&out, 4, 20);
    sb_pb_add_uint(&out, 1, 1);
    size_t meta = sb_pb_begin(&out, 2, 10);
    sb_pb_add_bytes(&out, 2, SB_LIT("work"));
    sb_pb_end(&out, meta);
    sb_pb_end(&out, entry);
    sb_pb_end(&out, plane);
    sb_pb_add_bytes(&out, 2, SB_LIT("the profiler had a problem"));
    sb_pb_add_bytes(&out, 50, SB_LIT("unknown"));
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    int64_t total;
    assert_int_equal(count_named(t, "work", &total), 1);
    assert_int_equal(total, 5000);
    assert_int_equal(odd(t, SB_TRACE_ODD_NO_POSITION), 1);
    assert_slice_is(t->odds[SB_TRACE_ODD_ERROR].examples[0], "the profiler had a problem");
    sb_trace_free(t);
    for (size_t cut = 2; cut < out.n; cut++) {
        t = trace_of_bytes(sb_slice_of(out.p, cut));
        assert_true(t->span_count <= 1);
        sb_trace_free(t);
    }
    sb_buf_fini(&out);
}

static void add_named(sb_buf *out, uint32_t map, uint64_t id, const char *name) {
    size_t entry = sb_pb_begin(out, map, 40);
    sb_pb_add_uint(out, 1, id);
    size_t meta = sb_pb_begin(out, 2, 30);
    sb_pb_add_bytes(out, 2, sb_slice_str(name));
    sb_pb_end(out, meta);
    sb_pb_end(out, entry);
}

/* A piece of the plane of a GPU: one kernel, and whose module it is. */
static void add_piece(sb_buf *out, unsigned number) {
    size_t plane = sb_pb_begin(out, 1, 200);
    sb_pb_add_bytes(out, 2, SB_LIT("/device:GPU:0"));
    size_t line = sb_pb_begin(out, 3, 100);
    sb_pb_add_uint(out, 1, 14);
    sb_pb_add_bytes(out, 2, SB_LIT("Stream #14(Compute)"));
    size_t event = sb_pb_begin(out, 4, 40);
    sb_pb_add_uint(out, 1, 1);
    sb_pb_add_uint(out, 2, number * 10000);
    sb_pb_add_uint(out, 3, 5000);
    size_t stat = sb_pb_begin(out, 4, 20);
    sb_pb_add_uint(out, 1, 1);
    sb_pb_add_bytes(out, 5, number % 2 ? SB_LIT("odd") : SB_LIT("even"));
    sb_pb_end(out, stat);
    sb_pb_end(out, event);
    sb_pb_end(out, line);
    add_named(out, 4, 1, "gemm");
    add_named(out, 5, 1, "hlo_op");
    sb_pb_end(out, plane);
}

static void a_line_at_a_time_that_no_clock_has_is_told(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&out, 1, 100);
    sb_pb_add_bytes(&out, 2, SB_LIT("/host:CPU"));
    static const int64_t times[] = {1000, INT64_MIN, 2000};
    for (uint64_t i = 0; i < 3; i++) {
        size_t line = sb_pb_begin(&out, 3, 50);
        sb_pb_add_uint(&out, 1, i + 1);
        sb_pb_add_uint(&out, 3, (uint64_t)times[i]);
        size_t event = sb_pb_begin(&out, 4, 20);
        sb_pb_add_uint(&out, 1, 1);
        sb_pb_add_uint(&out, 3, 5000);
        sb_pb_end(&out, event);
        sb_pb_end(&out, line);
    }
    sb_pb_end(&out, plane);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    assert_int_equal(t->span_count, 2);
    assert_int_equal(odd(t, SB_TRACE_ODD_FAR), 1);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

/* A line whose time is Unix time begins with the axis; a thread that began a little earlier is
 * read later. */
static void no_span_is_before_the_axis(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&out, 1, 100);
    sb_pb_add_bytes(&out, 2, SB_LIT("/host:CPU"));
    static const uint64_t times[] = {1790857026000000010, 1790857026000000007};
    for (uint64_t i = 0; i < 2; i++) {
        size_t line = sb_pb_begin(&out, 3, 50);
        sb_pb_add_uint(&out, 1, i + 1);
        sb_pb_add_uint(&out, 3, times[i]);
        size_t event = sb_pb_begin(&out, 4, 20);
        sb_pb_add_uint(&out, 1, 1);
        sb_pb_add_uint(&out, 2, 250);
        sb_pb_add_uint(&out, 3, 5000);
        sb_pb_end(&out, event);
        sb_pb_end(&out, line);
    }
    sb_pb_end(&out, plane);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    assert_int_equal(t->span_count, 2);
    assert_int_equal(t->base_ns, times[1]);
    for (size_t i = 0; i < t->tracks.n; i++)
        assert_int_equal(t->tracks.items[i].first, i == 0 ? 3250 : 250);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

static void a_plane_in_pieces_is_one_device(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    for (unsigned i = 0; i < 5; i++) add_piece(&out, i);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    assert_int_equal(t->devices.n, 1);
    assert_slice_is(t->devices.items[0].name, "/device:GPU:0");
    assert_int_equal(count_named(t, "gemm", NULL), 5);
    assert_int_equal(count_named(t, "even", NULL), 3); /* the line that is derived */
    assert_int_equal(count_named(t, "odd", NULL), 2);
    assert_int_equal(odd(t, SB_TRACE_ODD_CROSSING), 0);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

/* Operators of a device of TensorFlow 1 run on several threads, and the file does not say on which:
 * one that runs while another does is not inside it. */
static void operators_of_several_threads_are_not_inside_each_other(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t stats = sb_pb_begin(&out, 1, 400), device = sb_pb_begin(&out, 1, 300);
    sb_pb_add_bytes(&out, 1, SB_LIT("/job:x/device:CPU:0"));
    for (unsigned i = 0; i < 2; i++) {
        size_t node = sb_pb_begin(&out, 2, 60);
        sb_pb_add_bytes(&out, 1, SB_LIT("mul"));
        sb_pb_add_uint(&out, 2, 1790857026000000 + i);
        sb_pb_add_uint(&out, 5, i ? 4 : 10);
        sb_pb_end(&out, node);
    }
    sb_pb_end(&out, device);
    sb_pb_end(&out, stats);
    sb_trace_file file = {.path = "", .name = SB_LIT("vm"), .run_metadata = sb_buf_slice(&out)};
    sb_trace *t = trace_of_files(&file, 1);
    sb_analysis *a = analysis_of(t, "");
    assert_int_equal(a->op_count, 1);
    assert_int_equal(a->ops[0].calls, 2);
    assert_int_equal(a->ops[0].host_self, 14 * SB_PS_PER_US);
    assert_int_equal(sb_track_self(&t->tracks.items[0], 0, NULL), 10 * SB_PS_PER_US);
    assert_int_equal(sb_track_parent(&t->tracks.items[0], 1), SB_NO_INDEX);
    sb_analysis_free(a);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

static void a_duration_that_no_operator_has_is_told(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t stats = sb_pb_begin(&out, 1, 400), device = sb_pb_begin(&out, 1, 300);
    static const int64_t durations[] = {4, INT64_MAX / 2, INT64_MIN / 4000};
    for (unsigned i = 0; i < 3; i++) {
        size_t node = sb_pb_begin(&out, 2, 60);
        sb_pb_add_bytes(&out, 1, SB_LIT("mul"));
        sb_pb_add_uint(&out, 2, 1790857026000000 + i);
        sb_pb_add_uint(&out, 5, (uint64_t)durations[i]);
        sb_pb_end(&out, node);
    }
    sb_pb_end(&out, device);
    sb_pb_end(&out, stats);
    sb_trace_file file = {.path = "", .name = SB_LIT("vm"), .run_metadata = sb_buf_slice(&out)};
    sb_trace *t = trace_of_files(&file, 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_FAR), 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_NEGATIVE), 1);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

static void quotes_that_nobody_escaped_and_bare_words_are_repaired(void **state) {
    (void)state;
    sb_trace *t = trace_of_text("[" AT(
        "say \"hi\" now", 0,
        "\"ph\":\"X\",\"dur\":2,\"args\":{\"x\":N/A,\"y\":18446744073709551616}") ","
                                                                                  "{oops}," X(
                                                                                      "b", 3,
                                                                                      1) "]");
    assert_int_equal(count_named(t, "say \"hi\" now", NULL), 1);
    assert_int_equal(count_named(t, "b", NULL), 1);
    assert_true(odd(t, SB_TRACE_ODD_BAD_JSON) >= 2);
    sb_trace_free(t);
}

static void a_kernel_that_lost_its_times_is_left_out_and_told(void **state) {
    (void)state;
    /* the others are half an hour from the zero of the file: less than a day */
    sb_trace *t =
        trace_of_text("{\"schemaVersion\":1,\"traceEvents\":[" X("a", 1800000000, 5) "," X(
            "b", 1800000010, 5) ","
                                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"lost\",\"pid\":0,"
                                "\"tid\":7,\"ts\":0,\"dur\":0}]}");
    assert_int_equal(count_named(t, "lost", NULL), 0);
    assert_int_equal(odd(t, SB_TRACE_ODD_FAR), 1);
    assert_int_equal(t->duration, 15 * SB_PS_PER_US);
    sb_trace_free(t);
}

static void a_time_that_no_clock_has_is_told_once(void **state) {
    (void)state;
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    size_t plane = sb_pb_begin(&out, 1, 100);
    sb_pb_add_bytes(&out, 2, SB_LIT("/host:CPU"));
    size_t line = sb_pb_begin(&out, 3, 50);
    for (uint64_t i = 0; i < 3; i++) {
        size_t event = sb_pb_begin(&out, 4, 20);
        sb_pb_add_uint(&out, 1, 1);
        sb_pb_add_uint(&out, 2, i == 2 ? (uint64_t)INT64_MAX : 1000 * i);
        sb_pb_add_uint(&out, 3, 500);
        sb_pb_end(&out, event);
    }
    sb_pb_end(&out, line);
    sb_pb_end(&out, plane);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&out));
    assert_int_equal(odd(t, SB_TRACE_ODD_FAR), 1);
    assert_int_equal(t->duration, 1500);
    sb_trace_free(t);
    sb_buf_fini(&out);
}

/* Metadata of the program: a path that ends with a backslash, and a value that is no JSON. */
static void events_are_found_behind_metadata_that_is_no_json(void **state) {
    (void)state;
    static const char *const heads[] = {
        "{\"schemaVersion\":1,\"path\":\"C:\\logs\\\",\"displayTimeUnit\":\"ms\",",
        "{\"schemaVersion\":1,\"config\":{\"a\" 5},\"other\":[}],",
        "{\"schemaVersion\":1,\"config\":\"a\"b\":1\",",
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        sb_buf text;
        sb_buf_init(&text, &sb_alloc_libc, 4096);
        sb_buf_printf(&text, "%s\"traceEvents\":[" X("a", 0, 5) "," X("a", 9, 5) "]}", heads[i]);
        sb_trace *t = trace_of_bytes(sb_buf_slice(&text));
        assert_int_equal(t->span_count, 2);
        sb_trace_free(t);
        sb_buf_fini(&text);
    }
    sb_trace *t = trace_of_text(
        "{\"schemaVersion\":1,\"path\":\"C:\\\",\"b\":\"c\",\"traceEvents\":[" X("a", 0, 5) "]}");
    assert_int_equal(t->span_count, 1);
    assert_int_equal(odd(t, SB_TRACE_ODD_BAD_JSON), 1);
    sb_trace_free(t);
}

static void a_byte_order_mark_is_stepped_over(void **state) {
    (void)state;
    static const char *const texts[] = {"\xef\xbb\xbf[" X("a", 0, 1) "]",
                                        "\xef\xbb\xbf {\"traceEvents\":[" X("a", 0, 1) "]}"};
    for (size_t i = 0; i < 2; i++) {
        sb_trace *t = trace_of_text(texts[i]);
        assert_int_equal(count_named(t, "a", NULL), 1);
        assert_int_equal(odd(t, SB_TRACE_ODD_CUT_FILE), 0);
        sb_trace_free(t);
    }
}

static void a_file_of_another_kind_is_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        sb_slice content;
        const char *reason;
    } cases[] = {
        {SB_LIT("\xff\xfe nothing"), "neither an XSpace nor a Chrome trace"},
        {SB_LIT("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\0\0\0\0\0\0\0\0"), "has Riegeli records"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[] = "/tmp/seaboard-trace-test-XXXXXX";
        int fd = mkstemp(path);
        sb_trace *t = NULL;
        sb_err err = {0};
        assert_true(write(fd, cases[i].content.p, cases[i].content.n) ==
                    (ssize_t)cases[i].content.n);
        close(fd);
        sb_trace_file file = {.path = path, .name = SB_LIT("x")};
        assert_int_equal(sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, &file, 1, NULL, &err),
                         SB_INVALID);
        assert_non_null(strstr(err.text, cases[i].reason));
        unlink(path);
    }
}

static void json_that_is_no_trace_is_refused_with_a_reason(void **state) {
    (void)state;
    char path[] = "/tmp/seaboard-trace-test-XXXXXX";
    int fd = mkstemp(path);
    sb_trace *t = NULL;
    sb_err err = {0};
    assert_true(write(fd, "{\"a\":[1,2]}", 11) == 11);
    close(fd);
    sb_trace_file file = {.path = path, .name = SB_LIT("x")};
    assert_int_equal(sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, &file, 1, NULL, &err),
                     SB_INVALID);
    assert_non_null(strstr(err.text, "has no traceEvents"));
    unlink(path);
}

static bool stop_at_once(void *ud, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    ++*(int *)ud;
    return false;
}

/* One event of each kind; the quotes are single ones. */
static const char all_kinds[] =
    "{'schemaVersion':1,'deviceProperties':[{'id':0,'name':'g'}],'traceEvents':["
    "{'ph':'M','name':'process_name','pid':1,'args':{'name':'p'}},"
    "{'ph':'X','name':'ProfilerStep#1','cat':'user_annotation','pid':1,'tid':2,'ts':0,'dur':90},"
    "{'ph':'B','name':'b','pid':1,'tid':2,'ts':1},"
    "{'ph':'X','name':'aten::mm','cat':'cpu_op','pid':1,'tid':2,'ts':2,'dur':9,"
    "'args':{'External id':3,'Input Dims':[[2]]}},"
    "{'ph':'X','name':'cudaLaunchKernel','cat':'cuda_runtime','pid':1,'tid':2,'ts':3,'dur':2,"
    "'args':{'correlation':7}},"
    "{'ph':'X','name':'gloo:all_reduce','cat':'user_annotation','pid':1,'tid':2,'ts':20,'dur':5,"
    "'args':{'Process Group Name':'0'}},"
    "{'ph':'i','name':'[memory]','pid':1,'tid':2,'ts':4,"
    "'args':{'Addr':1,'Bytes':64,'Device Type':0}},"
    "{'ph':'X','name':'nn.Module: L','cat':'python_function','pid':1,'tid':2,'ts':2,'dur':30},"
    "{'ph':'C','name':'c','pid':1,'ts':5,'args':{'v':3}},"
    "{'ph':'s','name':'s','id':1,'cat':'fwdbwd','pid':1,'tid':2,'ts':2},"
    "{'ph':'f','name':'s','id':1,'cat':'fwdbwd','pid':1,'tid':2,'ts':21},"
    "{'ph':'b','name':'as','id':1,'cat':'x','pid':1,'ts':6},"
    "{'ph':'X','name':'k','cat':'kernel','pid':0,'tid':7,'ts':30,'dur':8,"
    "'args':{'External id':3,'correlation':7}},x]}";

static sb_status drop_text(void *ud, sb_slice piece, uint64_t done, uint64_t total, sb_err *err) {
    (void)ud;
    (void)piece;
    (void)done;
    (void)total;
    (void)err;
    return SB_OK;
}

static sb_status show_all(const sb_trace *t, const sb_analysis *a, sb_arena *arena) {
    sb_memory_view memory;
    sb_input_view input;
    sb_module_view modules;
    sb_rank_view ranks;
    sb_difference difference;
    sb_advice *advice;
    sb_search_result found;
    size_t n;
    sb_search_ask ask = {.text = SB_LIT("3"), .in_args = true, .to = INT64_MAX, .limit = 9};
    sb_status status = sb_trace_search(t, &ask, &found, arena, NULL);
    if (status != SB_OK) return status;
    bool is_done = sb_view_memory(t, 0, 10, &memory, arena) && sb_view_input(a, &input, arena) &&
                   sb_view_modules(t, &modules, arena) && sb_view_ranks(a, &ranks, arena) &&
                   sb_view_difference(a, a, SB_DIFFER_OPS, &difference, arena) &&
                   sb_view_advice(a, &advice, &n, arena);
    return is_done ? sb_chrome_write(t, INT64_MIN / 4, INT64_MAX / 4, drop_text, NULL, NULL)
                   : SB_NOMEM;
}

static sb_status read_with(const sb_alloc *alloc, void *ud) {
    sb_trace *t;
    sb_analysis *a = NULL;
    sb_arena arena;
    sb_status status = sb_trace_open(&t, alloc, &sb_fs_local, ud, 3, NULL, NULL);
    if (status != SB_OK) return status;
    sb_arena_init(&arena, alloc, 4096, 16 << 20);
    status = sb_analysis_new(&a, t, NULL, NULL);
    if (status == SB_OK) status = sb_trace_add_idle(t, a, NULL);
    if (status == SB_OK) status = show_all(t, a, &arena);
    sb_analysis_free(a);
    sb_arena_fini(&arena);
    sb_trace_free(t);
    return status;
}

/* Whichever request for memory fails: two ranks and an XSpace. */
static void a_capture_survives_a_lack_of_memory(void **state) {
    (void)state;
    sb_buf space;
    sb_trace_file files[3];
    char paths[3][40], json[sizeof all_kinds];
    for (size_t i = 0; i < sizeof json; i++) json[i] = all_kinds[i] == '\'' ? '"' : all_kinds[i];
    sb_buf_init(&space, &sb_alloc_libc, 1 << 16);
    for (unsigned i = 0; i < 2; i++) add_piece(&space, i);
    for (size_t i = 0; i < 3; i++) {
        sb_slice text = i < 2 ? sb_slice_str(json) : sb_buf_slice(&space);
        snprintf(paths[i], sizeof paths[i], "/tmp/seaboard-trace-test-XXXXXX");
        int fd = mkstemp(paths[i]);
        assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
        close(fd);
        files[i] = (sb_trace_file){.path = paths[i], .name = SB_LIT("vm")};
    }
    sb_fault_alloc_sweep_lenient(read_with, files);
    for (size_t i = 0; i < 3; i++) unlink(paths[i]);
    sb_buf_fini(&space);
}

static void reading_can_be_cancelled(void **state) {
    (void)state;
    char path[600];
    int calls = 0;
    sb_trace *t = NULL;
    snprintf(path, sizeof path, "%s/profile/jax/cpu_1.vm.xplane.pb.gz", SB_FIXTURES);
    sb_trace_opts opts = {.progress = stop_at_once, .ud = &calls, .most_spans = 1 << 20};
    sb_trace_file files[] = {{.path = path, .name = SB_LIT("a")},
                             {.path = path, .name = SB_LIT("b")}};
    sb_status status = sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, files, 2, &opts, NULL);
    assert_true(calls > 0);
    assert_int_equal(status, SB_CANCELLED);
}

/* Refuses from a call on. */
typedef struct patience {
    int calls, most;
} patience;

static bool stop_later(void *ud, uint64_t done, uint64_t total) {
    patience *p = ud;
    (void)done;
    (void)total;
    return ++p->calls < p->most;
}

static void cancelling_ends_the_reading_wherever_it_is(void **state) {
    (void)state;
    char path[600];
    patience all = {.most = 1 << 30};
    snprintf(path, sizeof path, "%s/" GPU, SB_FIXTURES);
    sb_trace_opts opts = {.progress = stop_later, .ud = &all};
    sb_trace_file files[] = {{.path = path, .name = SB_LIT("a")},
                             {.path = path, .name = SB_LIT("b")}};
    sb_trace *t = NULL;
    assert_int_equal(sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, files, 2, &opts, NULL), SB_OK);
    sb_trace_free(t);
    assert_true(all.calls >= 6); /* each file unpacked and read, slices joined, clocks compared */
    for (int most = 1; most <= all.calls; most++) {
        patience some = {.most = most};
        opts.ud = &some;
        assert_int_equal(sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, files, 2, &opts, NULL),
                         SB_CANCELLED);
        assert_int_equal(some.calls, most);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_without_an_end_last_to_the_end_of_their_track),
        cmocka_unit_test(spans_without_an_end_do_not_last_to_a_wrong_time),
        cmocka_unit_test(spans_beside_the_threads_without_an_end_last_to_the_end_of_their_track),
        cmocka_unit_test(negative_durations_are_instants),
        cmocka_unit_test(unknown_categories_are_shown_and_unknown_phases_told),
        cmocka_unit_test(a_cut_file_shows_what_came_before),
        cmocka_unit_test(a_truncated_gzip_is_told_and_members_may_follow_each_other),
        cmocka_unit_test(clocks_that_differ_are_moved_so_that_collectives_end_together),
        cmocka_unit_test(ids_used_again_are_told_and_nothing_is_lost),
        cmocka_unit_test(more_threads_than_anybody_has_share_a_track),
        cmocka_unit_test(what_is_beyond_the_limits_stays_with_its_file),
        cmocka_unit_test(what_never_ends_is_not_read_to_the_end_again_and_again),
        cmocka_unit_test(what_came_before_the_right_time_was_known_is_left_out_whole),
        cmocka_unit_test(arrows_of_two_files_do_not_meet),
        cmocka_unit_test(times_of_1970_are_shown_and_one_wrong_time_among_others_is_left_out),
        cmocka_unit_test(an_xspace_of_another_version_is_read_as_far_as_it_is_known),
        cmocka_unit_test(a_line_at_a_time_that_no_clock_has_is_told),
        cmocka_unit_test(no_span_is_before_the_axis),
        cmocka_unit_test(a_plane_in_pieces_is_one_device),
        cmocka_unit_test(operators_of_several_threads_are_not_inside_each_other),
        cmocka_unit_test(a_duration_that_no_operator_has_is_told),
        cmocka_unit_test(quotes_that_nobody_escaped_and_bare_words_are_repaired),
        cmocka_unit_test(a_kernel_that_lost_its_times_is_left_out_and_told),
        cmocka_unit_test(a_time_that_no_clock_has_is_told_once),
        cmocka_unit_test(events_are_found_behind_metadata_that_is_no_json),
        cmocka_unit_test(a_byte_order_mark_is_stepped_over),
        cmocka_unit_test(a_file_of_another_kind_is_refused_with_a_reason),
        cmocka_unit_test(json_that_is_no_trace_is_refused_with_a_reason),
        cmocka_unit_test(a_capture_survives_a_lack_of_memory),
        cmocka_unit_test(reading_can_be_cancelled),
        cmocka_unit_test(cancelling_ends_the_reading_wherever_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
