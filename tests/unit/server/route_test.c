/* route_test.c: exact paths first, then the longest prefix, and no row twice. */
#include "server/http/route.h"

#include <stdio.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static sb_status nothing(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)q, (void)r, (void)app;
    return SB_OK;
}

static const sb_http_route rows[] = {
    {.methods = SB_HTTP_READ, .path = "/", .run = nothing},
    {.methods = SB_HTTP_GET, .path = "/data/runs", .run = nothing},
    {.methods = SB_HTTP_POST, .path = "/data/runs", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/static/*", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/static/deep/*", .run = nothing},
    {.methods = SB_HTTP_PUT, .path = "/static/deep/*", .run = nothing},
    {.methods = SB_HTTP_READ, .path = "/static/deep/one", .run = nothing},
    {.methods = SB_HTTP_GET, .path = "/stream", .how = SB_HTTP_STREAM},
};

static sb_route_match find(const sb_routes *r, const char *path, sb_http_method method) {
    return sb_routes_find(r, sb_slice_str(path), method);
}

static void finds(const sb_routes *r, const char *path, sb_http_method method, int row) {
    sb_route_match match = find(r, path, method);
    if (match.row != (row < 0 ? NULL : &rows[row]))
        fail_msg("%s led to row %d", path, match.row ? (int)(match.row - rows) : -1);
}

static int setup(void **state) {
    static sb_routes routes;
    sb_err err;
    assert_ok(sb_routes_init(&routes, &sb_alloc_libc, rows, SB_COUNT(rows), 7, &err), &err);
    *state = &routes;
    return 0;
}

static int teardown(void **state) {
    sb_routes_fini(*state);
    return 0;
}

static void exact_paths_are_found(void **state) {
    finds(*state, "/", SB_HTTP_GET, 0);
    finds(*state, "/data/runs", SB_HTTP_GET, 1);
    finds(*state, "/data/runs", SB_HTTP_HEAD, 1);
    finds(*state, "/data/runs", SB_HTTP_POST, 2);
    finds(*state, "/data/runs/", SB_HTTP_GET, 1);
    finds(*state, "/stream", SB_HTTP_GET, 7);
}

static void other_paths_are_not(void **state) {
    finds(*state, "/data/runs//", SB_HTTP_GET, -1);
    finds(*state, "/data", SB_HTTP_GET, -1);
    finds(*state, "/data/run", SB_HTTP_GET, -1);
    finds(*state, "/data/runsx", SB_HTTP_GET, -1);
    finds(*state, "/DATA/runs", SB_HTTP_GET, -1);
    finds(*state, "/data//runs", SB_HTTP_GET, -1);
    finds(*state, "", SB_HTTP_GET, -1);
    finds(*state, "/*", SB_HTTP_GET, -1);
    finds(*state, "/static", SB_HTTP_GET, -1);
    finds(*state, "/statics/x", SB_HTTP_GET, -1);
}

static void the_longest_prefix_wins(void **state) {
    finds(*state, "/static/", SB_HTTP_GET, 3);
    finds(*state, "/static/x/y", SB_HTTP_GET, 3);
    finds(*state, "/static/deep", SB_HTTP_GET, 3);
    finds(*state, "/static/deep/x", SB_HTTP_GET, 4);
    finds(*state, "/static/deep/x", SB_HTTP_PUT, 5);
    finds(*state, "/static/deep/one", SB_HTTP_GET, 6);
    assert_slice_is(find(*state, "/static/a/b", SB_HTTP_GET).rest, "a/b");
    assert_slice_is(find(*state, "/static/deep/", SB_HTTP_GET).rest, "");
}

static void a_path_tells_its_methods(void **state) {
    sb_route_match match = find(*state, "/data/runs", SB_HTTP_DELETE);
    assert_null(match.row);
    assert_int_equal(match.methods, SB_HTTP_GET | SB_HTTP_HEAD | SB_HTTP_POST);
    match = find(*state, "/static/deep/x", SB_HTTP_POST);
    assert_null(match.row);
    assert_int_equal(match.methods, SB_HTTP_GET | SB_HTTP_HEAD | SB_HTTP_PUT);
    assert_int_equal(find(*state, "/none", SB_HTTP_GET).methods, 0);
    finds(*state, "/data/runs", SB_HTTP_OTHER, -1);
}

static void tables_that_make_no_sense_are_invalid(void **state) {
    (void)state;
    static const sb_http_route bad[][2] = {
        {{SB_HTTP_GET, "/a", nothing, SB_HTTP_INLINE, false, 0},
         {SB_HTTP_HEAD, "/a", nothing, SB_HTTP_INLINE, false, 0}},
        {{SB_HTTP_ALL, "/a/*", nothing, SB_HTTP_INLINE, false, 0},
         {SB_HTTP_PUT, "/a/*", nothing, SB_HTTP_INLINE, false, 0}},
        {{SB_HTTP_GET, "a", nothing, SB_HTTP_INLINE, false, 0},
         {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, "", nothing, SB_HTTP_INLINE, false, 0},
         {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, "/a*", nothing, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, "/*/a", nothing, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, "/a", NULL, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, "/a", nothing, SB_HTTP_STREAM, false, 0},
         {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{0, "/a", nothing, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_OTHER, "/a", nothing, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
        {{SB_HTTP_GET, NULL, nothing, 0, false, 0}, {SB_HTTP_GET, "/b", nothing, 0, false, 0}},
    };
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        sb_routes routes;
        sb_err err = {.code = SB_OK};
        if (sb_routes_init(&routes, &sb_alloc_libc, bad[i], 2, 7, &err) != SB_INVALID)
            fail_msg("table %zu was taken", i);
        assert_int_equal(err.code, SB_INVALID);
    }
}

static void a_table_may_be_empty(void **state) {
    (void)state;
    sb_routes routes;
    assert_ok(sb_routes_init(&routes, &sb_alloc_libc, NULL, 0, 7, NULL), NULL);
    assert_null(find(&routes, "/", SB_HTTP_GET).row);
    sb_routes_fini(&routes);
}

static void many_rows_are_all_found(void **state) {
    (void)state;
    static sb_http_route many[500];
    static char paths[500][24];
    for (size_t i = 0; i < 500; i++) {
        snprintf(paths[i], sizeof paths[i], i % 10 ? "/route/%zu" : "/below/%zu/*", i);
        many[i] = (sb_http_route){.methods = SB_HTTP_GET, .path = paths[i], .run = nothing};
    }
    sb_routes routes;
    assert_ok(sb_routes_init(&routes, &sb_alloc_libc, many, 500, 7, NULL), NULL);
    for (size_t i = 0; i < 500; i++) {
        sb_slice path = sb_slice_str(paths[i]);
        if (i % 10 == 0) path.n--; /* without the star */
        assert_ptr_equal(sb_routes_find(&routes, path, SB_HTTP_GET).row, &many[i]);
    }
    sb_routes_fini(&routes);
}

static sb_status build(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_routes routes;
    sb_err err;
    sb_status status = sb_routes_init(&routes, alloc, rows, SB_COUNT(rows), 7, &err);
    if (status == SB_OK) sb_routes_fini(&routes);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    sb_fault_alloc_sweep(build, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exact_paths_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(other_paths_are_not, setup, teardown),
        cmocka_unit_test_setup_teardown(the_longest_prefix_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_tells_its_methods, setup, teardown),
        cmocka_unit_test(tables_that_make_no_sense_are_invalid),
        cmocka_unit_test(a_table_may_be_empty),
        cmocka_unit_test(many_rows_are_all_found),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
