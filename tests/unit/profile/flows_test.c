/* flows_test.c: arrows between the events of an XSpace: from what one event hands on to who takes
 * it. */
#include "codec/proto/proto.h"
#include "profile/trace/trace.h"
#include "unit/profile/trace_bed.h"
#include "base/banned.h"

#define THREADS 2

/* The statistics of the space: their ids are these numbers. */
typedef enum stat {
    CORRELATION = 1,
    PRODUCER_TYPE,
    PRODUCER,
    CONSUMER_TYPE,
    CONSUMER,
    FLOW,
    DEVICE,
} stat;
static const char *const stat_names[] = {
    NULL, "correlation_id", "_pt", "_p", "_ct", "_c", "flow", "device_id",
};

typedef struct event {
    int thread; /* THREADS: the stream of a device */
    uint64_t start, dur;
    struct {
        stat stat;
        uint64_t value;
    } stats[4];
} event;

static void add_event(sb_buf *b, const event *e, uint64_t id) {
    size_t at = sb_pb_begin(b, 4, 80);
    sb_pb_add_uint(b, 1, id);
    sb_pb_add_uint(b, 2, e->start);
    sb_pb_add_uint(b, 3, e->dur);
    for (size_t i = 0; i < 4 && e->stats[i].stat; i++) {
        size_t s = sb_pb_begin(b, 4, 20);
        sb_pb_add_uint(b, 1, e->stats[i].stat);
        sb_pb_add_uint(b, 3, e->stats[i].value);
        sb_pb_end(b, s);
    }
    sb_pb_end(b, at);
}

static void add_line(sb_buf *b, int thread, const event *events, size_t n) {
    size_t line = sb_pb_begin(b, 3, 100);
    sb_pb_add_uint(b, 1, (uint64_t)thread + 1);
    sb_pb_add_bytes(b, 2, thread == THREADS ? SB_LIT("Stream #1") : SB_LIT("thread"));
    for (size_t i = 0; i < n; i++)
        if (events[i].thread == thread) add_event(b, &events[i], i + 1);
    sb_pb_end(b, line);
}

static void add_name(sb_buf *b, uint32_t field, uint64_t id, const char *name) {
    size_t entry = sb_pb_begin(b, field, 40);
    sb_pb_add_uint(b, 1, id);
    size_t meta = sb_pb_begin(b, 2, 30);
    sb_pb_add_uint(b, 1, id);
    sb_pb_add_bytes(b, 2, sb_slice_str(name));
    sb_pb_end(b, meta);
    sb_pb_end(b, entry);
}

static void add_plane(sb_buf *b, const char *name, int first, int end, const event *events,
                      size_t n) {
    size_t plane = sb_pb_begin(b, 1, 1000);
    sb_pb_add_bytes(b, 2, sb_slice_str(name));
    for (int thread = first; thread < end; thread++) add_line(b, thread, events, n);
    for (size_t i = 0; i < n; i++) {
        char text[24];
        snprintf(text, sizeof text, "%zu", i);
        add_name(b, 4, i + 1, text);
    }
    for (uint64_t i = CORRELATION; i <= DEVICE; i++) add_name(b, 5, i, stat_names[i]);
    sb_pb_end(b, plane);
}

/* A trace of events that are named by their index. */
static sb_trace *trace_of_events(const event *events, size_t n) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, 1 << 20);
    add_plane(&b, "/host:CPU", 0, THREADS, events, n);
    add_plane(&b, "/device:GPU:0", THREADS, THREADS + 1, events, n);
    assert_int_equal(sb_buf_check(&b, "a space", NULL), SB_OK);
    sb_trace *t = trace_of_bytes(sb_buf_slice(&b));
    sb_buf_fini(&b);
    return t;
}

static int index_of(const sb_trace *t, uint32_t track, uint32_t index) {
    sb_slice name = sb_trace_name(t, t->tracks.items[track].spans.items[index].name);
    assert_int_equal(name.n, 1);
    return name.p[0] - '0';
}

/* The arrows of a trace of at most ten events, in order: "from>to from>to ". */
static void assert_arrows(const event *events, size_t n, const char *wanted) {
    sb_trace *t = trace_of_events(events, n);
    char found[400] = "";
    size_t length = 0;
    assert_true(n <= 10);
    for (int pair = 0; pair < 100; pair++)
        for (size_t i = 0; i < t->flows.n; i++) {
            const sb_flow *f = &t->flows.items[i];
            int from = index_of(t, f->from_track, f->from), to = index_of(t, f->to_track, f->to);
            if (from * 10 + to == pair)
                length +=
                    (size_t)snprintf(found + length, sizeof found - length, "%d>%d ", from, to);
        }
    assert_string_equal(found, wanted);
    sb_trace_free(t);
}
#define ASSERT_ARROWS(events, wanted) assert_arrows(events, sizeof events / sizeof *events, wanted)

static void what_produces_points_to_all_that_consume_it(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}},
        {1, 5, 10, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
        {1, 20, 10, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
        {1, 40, 10, {{CONSUMER_TYPE, 3}, {CONSUMER, 9}}}, /* the id is of another type */
        {1, 60, 10, {{CONSUMER_TYPE, 2}, {CONSUMER, 8}}},
    };
    ASSERT_ARROWS(events, "0>1 0>2 ");
}

static void a_consumer_belongs_to_the_last_producer_before_it(void **state) {
    (void)state;
    const event events[] = {
        {0, 10, 5, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}},
        {0, 30, 5, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}},
        {1, 5, 2, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}}, /* clocks of threads differ a little */
        {1, 20, 5, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
        {1, 31, 5, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
    };
    ASSERT_ARROWS(events, "0>2 0>3 1>4 ");
}

static void an_event_may_take_from_one_and_hand_on_to_another(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{PRODUCER_TYPE, 1}, {PRODUCER, 4}}},
        {1, 5, 10, {{CONSUMER_TYPE, 1}, {CONSUMER, 4}, {PRODUCER_TYPE, 1}, {PRODUCER, 5}}},
        {0, 20, 10, {{CONSUMER_TYPE, 1}, {CONSUMER, 5}}},
    };
    ASSERT_ARROWS(events, "0>1 1>2 ");
}

static void two_that_begin_together_do_not_point_at_each_other(void **state) {
    (void)state;
    const event events[] = {
        {0, 5, 10, {{PRODUCER_TYPE, 1}, {PRODUCER, 4}, {CONSUMER_TYPE, 1}, {CONSUMER, 4}}},
        {1, 5, 10, {{PRODUCER_TYPE, 1}, {PRODUCER, 4}, {CONSUMER_TYPE, 1}, {CONSUMER, 4}}},
    };
    ASSERT_ARROWS(events, "0>1 ");
}

/* The two lowest bits of a flow: 1 it comes in, 2 it goes out; then 56 of an id, and a category. */
static void flows_point_from_those_that_go_out_to_those_that_come_in(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{FLOW, 7 << 2 | 2}}},
        {1, 5, 10, {{FLOW, 7 << 2 | 3}}},
        {0, 20, 10, {{FLOW, UINT64_C(13) << 58 | 7 << 2 | 1}}},
        {0, 40, 10, {{FLOW, 8 << 2 | 1}}},
    };
    ASSERT_ARROWS(events, "0>1 1>2 ");
}

static void an_arrow_ends_at_the_event_that_names_it_not_at_one_inside(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}},
        {0, 0, 4, {{0, 0}}},
        {1, 5, 10, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
        {1, 5, 8, {{0, 0}}},
        {1, 5, 3, {{0, 0}}},
    };
    ASSERT_ARROWS(events, "0>2 ");
}

/* Events of one thread that cross lie in several lanes. */
static void an_arrow_ends_at_the_event_that_names_it_also_where_others_cross_it(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}},
        {1, 0, 20, {{0, 0}}},
        {1, 10, 30, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}},
        {1, 10, 12, {{0, 0}}},
        {1, 5, 20, {{0, 0}}},
    };
    ASSERT_ARROWS(events, "0>2 ");
}

/* A thread pool writes two of them for every task. */
static void instants_have_no_arrows(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 0, {{PRODUCER_TYPE, 15}, {PRODUCER, 9}}},
        {1, 5, 0, {{CONSUMER_TYPE, 15}, {CONSUMER, 9}}},
    };
    ASSERT_ARROWS(events, "");
}

static void a_launch_that_is_told_twice_is_one_arrow(void **state) {
    (void)state;
    const event events[] = {
        {0, 0, 10, {{CORRELATION, 3}, {DEVICE, 0}, {PRODUCER_TYPE, 9}, {PRODUCER, 3}}},
        {THREADS, 5, 10, {{CORRELATION, 3}, {CONSUMER_TYPE, 9}, {CONSUMER, 3}}},
    };
    sb_trace *t = trace_of_events(events, 2);
    assert_int_equal(t->flows.n, 1);
    assert_int_equal(t->flows.items[0].kind, SB_FLOW_LAUNCH);
    sb_trace_free(t);
}

/* Such as in a file that somebody made of those of several processes. */
static void
what_is_launched_under_an_id_used_again_belongs_to_the_last_launch_before_it(void **state) {
    (void)state;
    static const event events[] = {
        {0, 0, 10, {{CORRELATION, 7}, {DEVICE, 1}}},  {THREADS, 20, 10, {{CORRELATION, 7}}},
        {1, 40, 10, {{CORRELATION, 7}, {DEVICE, 1}}}, {THREADS, 60, 10, {{CORRELATION, 7}}},
        {0, 80, 10, {{CORRELATION, 7}, {DEVICE, 1}}},
    };
    ASSERT_ARROWS(events, "0>1 2>3 ");
    sb_trace *t = trace_of_events(events, 5);
    assert_int_equal(t->odds[SB_TRACE_ODD_REUSED].n, 1);
    sb_trace_free(t);
}

static void an_id_that_many_share_on_both_sides_means_nothing(void **state) {
    (void)state;
    static event events[2 * 64];
    for (uint64_t i = 0; i < 64; i++) {
        events[i] = (event){0, 10 * i, 5, {{PRODUCER_TYPE, 2}, {PRODUCER, 9}}};
        events[64 + i] = (event){1, 10 * i, 5, {{CONSUMER_TYPE, 2}, {CONSUMER, 9}}};
    }
    sb_trace *t = trace_of_events(events, 2 * 64);
    assert_int_equal(t->flows.n, 0);
    sb_trace_free(t);
    t = trace_of_events(events, 2 * 64 - 1); /* 63 on one side */
    assert_int_equal(t->flows.n, 63);
    sb_trace_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_produces_points_to_all_that_consume_it),
        cmocka_unit_test(a_consumer_belongs_to_the_last_producer_before_it),
        cmocka_unit_test(an_event_may_take_from_one_and_hand_on_to_another),
        cmocka_unit_test(two_that_begin_together_do_not_point_at_each_other),
        cmocka_unit_test(flows_point_from_those_that_go_out_to_those_that_come_in),
        cmocka_unit_test(an_arrow_ends_at_the_event_that_names_it_not_at_one_inside),
        cmocka_unit_test(an_arrow_ends_at_the_event_that_names_it_also_where_others_cross_it),
        cmocka_unit_test(instants_have_no_arrows),
        cmocka_unit_test(a_launch_that_is_told_twice_is_one_arrow),
        cmocka_unit_test(
            what_is_launched_under_an_id_used_again_belongs_to_the_last_launch_before_it),
        cmocka_unit_test(an_id_that_many_share_on_both_sides_means_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
