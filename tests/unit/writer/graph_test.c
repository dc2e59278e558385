/* graph_test.c: events that are no summaries: graphs, run metadata, sessions; traces and models. */
#include "support/writer_bed.h"

#include "base/banned.h"

/* A GraphDef with one node of name "x". */
#define GRAPH SB_LIT("\x0a\x03\x0a\x01x")
/* A RunMetadata with step_stats, a cost graph, one partition graph and one of function graphs. */
#define RUN_METADATA SB_LIT("\x0a\x02\x0a\x00\x12\x00\x1a\x05\x0a\x03\x0a\x01x\x22\x00")
#define GRAPHS_ONLY SB_LIT("\x1a\x05\x0a\x03\x0a\x01x\x22\x00")

static void graphs_and_run_metadata_are_fields_of_the_event(void **state) {
    bed b = bed_open(*state, "tf1", SB_STYLE_TF1);
    assert_int_equal(sb_graph(b.w, GRAPH), SB_OK);
    assert_int_equal(sb_meta_graph(b.w, GRAPH), SB_OK);
    assert_int_equal(sb_run_metadata(b.w, "step1", RUN_METADATA, 5), SB_OK);
    assert_int_equal(sb_graph(b.w, sb_slice_of(NULL, 0)), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, "22050a030a0178");
    assert_event_bytes(&b, 1, "4a050a030a0178");
    assert_event_bytes(&b, 2, "1005 4218 0a057374657031 120f0a020a0012001a050a030a01782200");
    assert_event_bytes(&b, 3, "2200");
    bed_free(&b);
}

static void a_tag_of_run_metadata_is_taken_once(void **state) {
    bed b = bed_open(*state, "once", SB_STYLE_TORCH);
    assert_int_equal(sb_run_metadata(b.w, "a", RUN_METADATA, 1), SB_OK);
    assert_int_equal(sb_run_metadata(b.w, "b", RUN_METADATA, 2), SB_OK);
    assert_int_equal(sb_run_metadata(b.w, "a", RUN_METADATA, 3), SB_OK);
    bed_close(&b);
    assert_int_equal(b.closed, SB_INVALID);
    assert_non_null(strstr(b.err.text, "used before"));
    assert_int_equal(bed_count(&b), 2);
    bed_free(&b);
}

static sb_slice string_of(const bed *b, size_t i) {
    sb_value value = bed_value(b, i, 0);
    sb_tensor_view tensor = bed_tensor(&value);
    sb_strings walk = sb_tensor_strings(&tensor);
    sb_slice string;
    assert_int_equal(tensor.rank, 0);
    assert_true(sb_strings_next(&walk, &string));
    assert_slice_is(bed_metadata(&value).content, "1");
    return string;
}

static void traces_without_timings_keep_graphs_only(void **state) {
    bed b = bed_open(*state, "trace", SB_STYLE_TF2);
    assert_int_equal(sb_trace(b.w, "t", RUN_METADATA, false, 1), SB_OK);
    assert_int_equal(sb_trace(b.w, "p", RUN_METADATA, true, 1), SB_OK);
    assert_int_equal(sb_keras_model(b.w, "keras", "{\"config\": {}}", 0), SB_OK);
    bed_close(&b);
    assert_slice_equal(string_of(&b, 0), GRAPHS_ONLY);
    assert_slice_equal(string_of(&b, 1), RUN_METADATA);
    assert_slice_is(string_of(&b, 2), "{\"config\": {}}");
    const char *const plugins[] = {"graph_run_metadata_graph", "graph_run_metadata",
                                   "graph_keras_model"};
    for (size_t i = 0; i < 3; i++) {
        sb_value value = bed_value(&b, i, 0);
        assert_slice_is(bed_metadata(&value).plugin_name, plugins[i]);
    }
    bed_free(&b);
}

static void sessions_and_purges_are_marked(void **state) {
    bed b = bed_open(*state, "session", SB_STYLE_TORCH);
    assert_int_equal(sb_session(b.w, SB_SESSION_CHECKPOINT, "p", "m", 4), SB_OK);
    assert_int_equal(sb_session(b.w, SB_SESSION_STOP, NULL, NULL, -1), SB_OK);
    assert_int_equal(sb_purge_step(b.w, 42), SB_OK);
    bed_close(&b);
    assert_event_bytes(&b, 0, "1004 3a08 0803 120170 1a016d");
    assert_event_bytes(&b, 1, "10ffffffffffffffffff01 3a02 0802");
    assert_event_bytes(&b, 2, "102a 1a0d627261696e2e4576656e743a32");
    assert_event_bytes(&b, 3, "102a 3a02 0801");
    bed_free(&b);
}

static void senseless_calls_are_refused(void **state) {
    const sb_slice junk = SB_LIT("\xff\xff"), gone = {NULL, 7},
                   endless = {(const uint8_t *)"", SIZE_MAX};
    bed b = bed_open(*state, "refused", SB_STYLE_TF2);
    sb_writer *w = b.w;
    assert_refused(w, sb_graph(w, junk), SB_INVALID, "not a serialized message");
    assert_refused(w, sb_graph(w, gone), SB_INVALID, "missing");
    assert_refused(w, sb_graph(w, endless), SB_LIMIT, "2 GiB");
    assert_refused(w, sb_meta_graph(w, junk), SB_INVALID, "meta graph");
    assert_refused(w, sb_run_metadata(w, "t", junk, 1), SB_INVALID, "run metadata");
    assert_refused(w, sb_run_metadata(w, NULL, GRAPH, 1), SB_INVALID, "tag is missing");
    assert_refused(w, sb_run_metadata(w, "\xff", GRAPH, 1), SB_INVALID, "UTF-8");
    assert_refused(w, sb_trace(w, "t", junk, true, 1), SB_INVALID, "trace");
    assert_refused(w, sb_trace(w, NULL, GRAPH, true, 1), SB_INVALID, "tag");
    assert_refused(w, sb_keras_model(w, "t", NULL, 1), SB_INVALID, "missing");
    assert_refused(w, sb_keras_model(w, "t", "\xff", 1), SB_INVALID, "UTF-8");
    assert_refused(w, sb_session(w, (sb_session_status)0, NULL, NULL, 1), SB_INVALID, "no status");
    assert_refused(w, sb_session(w, (sb_session_status)4, NULL, NULL, 1), SB_INVALID, "no status");
    assert_refused(w, sb_session(w, SB_SESSION_START, "\xff", NULL, 1), SB_INVALID, "path");
    assert_refused(w, sb_session(w, SB_SESSION_START, NULL, "\xff", 1), SB_INVALID, "message");
    assert_int_equal(sb_graph(NULL, GRAPH), SB_INVALID);
    assert_int_equal(sb_session(NULL, SB_SESSION_START, NULL, NULL, 1), SB_INVALID);
    assert_int_equal(sb_purge_step(NULL, 1), SB_INVALID);
    assert_int_equal(sb_keras_model(NULL, "t", "x", 1), SB_INVALID);
    bed_close(&b);
    assert_int_equal(bed_count(&b), 0);
    bed_free(&b);
}

static sb_status make_events(sb_writer *w) {
    sb_status status = sb_graph(w, GRAPH);
    if (status == SB_OK) status = sb_run_metadata(w, "t", RUN_METADATA, 1);
    if (status == SB_OK) status = sb_trace(w, "t", RUN_METADATA, false, 1);
    if (status == SB_OK) status = sb_session(w, SB_SESSION_START, "p", NULL, 1);
    return status;
}

static void running_out_of_memory_is_told(void **state) {
    bed_sweep(*state, SB_STYLE_TF2, make_events);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(graphs_and_run_metadata_are_fields_of_the_event),
        DIR_TEST(a_tag_of_run_metadata_is_taken_once),
        DIR_TEST(traces_without_timings_keep_graphs_only),
        DIR_TEST(sessions_and_purges_are_marked),
        DIR_TEST(senseless_calls_are_refused),
        DIR_TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
