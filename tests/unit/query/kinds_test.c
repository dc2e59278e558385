/* Texts, curves, meshes and layouts, from TensorBoard's own files and from made ones. */
#include <math.h>
#include <stdio.h>

#include "query/kinds/layout.h"
#include "query/kinds/mesh.h"
#include "query/kinds/pr_curve.h"
#include "query/kinds/text.h"
#include "support/fault_alloc.h"
#include "unit/query/logs.h"

#define FILE_1 "events.out.tfevents.1"

static sb_ref_item *items_of(logs *l, const sb_series *s, size_t *n) {
    sb_ref_item *items;
    sb_err err;
    assert_ok(sb_refs_list(s, &(sb_ref_ask){0}, &l->arena, &items, n, NULL, &err), &err);
    return items;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_of_every_shape(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    const char *texts[] = {"# a", "b", "c", "d", "e", "f", "g", "h"};
    int64_t dims[] = {2, 2, 2};
    for (uint32_t rank = 0; rank <= 3; rank++)
        log_strings(&file, "t", "text", SB_LIT(""), rank, 100 + rank, texts, (size_t)1 << rank,
                    rank, dims);
    float number = 1;
    sb_array no_text = {&number, SB_FLOAT, 0, NULL, NULL};
    log_tensor(&file, "t", "text", SB_LIT(""), 4, 104, &no_text);
    log_put(&l, "run/" FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "t");
    size_t n;
    sb_ref_item *items = items_of(&l, &s, &n);
    sb_text_point points[5];
    sb_err err;
    assert_int_equal(n, 5);
    assert_ok(sb_texts_read(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, points, &err), &err);
    for (size_t rank = 0; rank <= 3; rank++) {
        assert_int_equal(points[rank].status, SB_OK);
        assert_int_equal(points[rank].rank, rank);
        assert_int_equal(points[rank].n, (size_t)1 << rank);
        assert_slice_is(points[rank].strings[points[rank].n - 1], texts[points[rank].n - 1]);
        for (size_t k = 0; k < rank; k++) assert_int_equal(points[rank].dims[k], 2);
    }
    assert_int_equal(points[4].status, SB_CORRUPT);
    sb_buf html = log_begin();
    assert_ok(sb_text_point_render(&html, &points[0], true, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "<h1>a</h1>");
    sb_buf_clear(&html);
    assert_ok(sb_text_point_render(&html, &points[1], false, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "<table>\n<tbody>\n<tr>\n<td># a</td>\n</tr>\n<tr>\n"
                                         "<td>b</td>\n</tr>\n</tbody>\n</table>");
    assert_int_equal(sb_text_point_render(&html, &points[4], true, NULL, &err), SB_CORRUPT);
    sb_buf_fini(&html);
    sb_series_release(&s);
    logs_free(&l);
}

static void a_text_that_claims_to_be_very_many_is_refused(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin(), tensor = log_begin();
    sb_pb_add_uint(&tensor, 1, SB_STRING);
    size_t shape = sb_pb_begin(&tensor, 2, 20), dim = sb_pb_begin(&tensor, 2, 10);
    sb_pb_add_int(&tensor, 1, 1000000000);
    sb_pb_end(&tensor, dim);
    sb_pb_end(&tensor, shape);
    sb_pb_add_bytes(&tensor, 8, SB_LIT("x"));
    sb_metadata metadata = {.plugin_name = SB_LIT("text")};
    log_value(&file, "t", &metadata, 0, 100, SB_VALUE_TENSOR, sb_buf_slice(&tensor));
    sb_buf_fini(&tensor);
    log_put(&l, "run/" FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "t");
    size_t n;
    sb_ref_item *items = items_of(&l, &s, &n);
    sb_text_point point;
    assert_int_equal(sb_texts_read(l.blobs, s.run, items, 1, 1 << 20, NULL, &l.arena, &point, NULL),
                     SB_OK);
    assert_int_equal(point.status, SB_LIMIT);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void curves_lose_their_empty_end(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin();
    float rows[] = {5.9f,  3,     0.9f, 0,   /* tp */ 4,
                    2,     0.5f,  0, /* fp */
                    1,     2,     3,    4,   /* tn */ NAN,
                    1e30f, -2.5f, 0, /* fn */
                    .5f,   .6f,   .7f,  .8f, 1,
                    .75f,  .5f,   .25f};
    sb_array curve = {rows, SB_FLOAT, 2, (int64_t[]){6, 4}, NULL};
    sb_array none = {rows, SB_FLOAT, 2, (int64_t[]){6, 0}, NULL};
    sb_array other = {rows, SB_FLOAT, 2, (int64_t[]){4, 6}, NULL};
    log_tensor(&file, "pr", "pr_curves", SB_LIT(""), 0, 100, &curve);
    log_tensor(&file, "pr", "pr_curves", SB_LIT(""), 1, 101, &none);
    log_tensor(&file, "pr", "pr_curves", SB_LIT(""), 2, 102, &other);
    log_put(&l, "run/" FILE_1, &file);
    logs_load(&l);
    sb_series s = logs_take(&l, "run", "pr");
    size_t n;
    sb_ref_item *items = items_of(&l, &s, &n);
    sb_pr_curve_point points[3];
    sb_err err;
    assert_ok(sb_pr_curves_read(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, points, &err),
              &err);
    const sb_pr_curve_point *c = &points[0];
    assert_int_equal(c->status, SB_OK);
    assert_int_equal(c->n, 2); /* int(0.9) + int(0.5) is 0 too */
    assert_int_equal(c->true_positives[0], 5);
    assert_int_equal(c->false_positives[1], 2);
    assert_int_equal(c->true_negatives[1], 2);
    assert_int_equal(c->false_negatives[0], 0);
    assert_int_equal(c->false_negatives[1], INT64_MAX);
    assert_true(c->precision[1] == (double)0.6f && c->recall[1] == 0.75);
    assert_true(c->thresholds[0] == 0 && c->thresholds[1] == 1.0 / 3);
    assert_int_equal(points[1].status, SB_CORRUPT);
    assert_int_equal(points[2].status, SB_CORRUPT);
    sb_series_release(&s);
    logs_free(&l);
}

static void curves_of_tensorboard(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/plugins", &sb_fs_local);
    sb_series s = logs_take(&l, "a", "pr/pr_curves");
    size_t n;
    sb_ref_item *items = items_of(&l, &s, &n);
    assert_int_equal(n, 4);
    sb_pr_curve_point points[4];
    assert_int_equal(
        sb_pr_curves_read(l.blobs, s.run, items, n, 1 << 20, NULL, &l.arena, points, NULL), SB_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(points[i].status, SB_OK);
        assert_true(points[i].n > 10 && points[i].n <= 21);
        assert_true(points[i].recall[0] == 1);
    }
    assert_true(points[0].precision[0] == 0.49500000476837158);
    sb_series_release(&s);
    logs_free(&l);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

static sb_series_list mesh_list(logs *l, const char *run) {
    sb_series_list list;
    sb_list_ask ask = {.plugin = SB_LIT("mesh"), .run = sb_slice_str(run)};
    sb_err err;
    assert_ok(sb_series_list_read(l->store, &ask, NULL, &l->arena, &list, &err), &err);
    return list;
}

static void meshes_of_tensorboard(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/plugins", &sb_fs_local);
    sb_series_list list = mesh_list(&l, "a");
    sb_mesh_name *names;
    sb_mesh_item *items;
    size_t n;
    sb_err err;
    assert_ok(sb_mesh_names(&list.runs[0], &l.arena, &names, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_slice_is(names[0].name, "cloud");
    assert_int_equal(names[0].samples, 1);
    assert_ok(sb_mesh_list(&list.runs[0], SB_LIT("cloud"), NULL, &l.arena, &items, &n, &err), &err);
    assert_int_equal(n, 9);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].item.step, i / 3);
        assert_int_equal(items[i].part.components, 14);
        assert_int_equal(items[i].part.shape[2], 3);
    }
    sb_slice bytes;
    assert_ok(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_VERTEX, 0, 0,
                           1 << 20, &l.arena, &bytes, &err),
              &err);
    assert_int_equal(bytes.n, 30 * 3 * 4);
    assert_true((double)sb_bits_float(sb_load32(bytes.p)) == -0.45052167773246765);
    assert_ok(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_FACE, 0, 1,
                           1 << 20, &l.arena, &bytes, &err),
              &err);
    assert_int_equal(bytes.n, 12 * 3 * 4);
    assert_int_equal(sb_load32(bytes.p), 18);
    assert_ok(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_COLOR, 0, 1,
                           1 << 20, &l.arena, &bytes, &err),
              &err);
    assert_int_equal(bytes.n, 90);
    assert_int_equal(bytes.p[0], 36);
    /* what is not there */
    assert_ok(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_COLOR, 0, 1.5,
                           1 << 20, &l.arena, &bytes, &err),
              &err);
    assert_int_equal(bytes.n, 0);
    assert_int_equal(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_COLOR, 1,
                                  1, 1 << 20, &l.arena, &bytes, &err),
                     SB_INVALID);
    assert_int_equal(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("cloud"), 0, 0, 1, 1 << 20,
                                  &l.arena, &bytes, &err),
                     SB_INVALID);
    assert_ok(sb_mesh_list(&list.runs[0], SB_LIT("rain"), NULL, &l.arena, &items, &n, &err), &err);
    assert_int_equal(n, 0);
    sb_series_list_release(&list);
    logs_free(&l);
}

static void meshes_of_a_batch(void **state) {
    logs l = logs_new(*state);
    sb_buf file = log_begin(), content = log_begin(), newer = log_begin();
    sb_mesh_plugin plugin = {.name = SB_LIT("m"),
                             .content_type = SB_MESH_CONTENT_FACE,
                             .rank = 3,
                             .shape = {2, 1, 3},
                             .components = 1u << SB_MESH_CONTENT_FACE};
    sb_mesh_plugin_add(&content, &plugin);
    plugin.version = 9;
    sb_mesh_plugin_add(&newer, &plugin);
    int32_t faces[] = {1, 2, 3, -4, 5, 6};
    sb_array array = {faces, SB_INT32, 3, (int64_t[]){2, 1, 3}, NULL};
    for (int i = 0; i < 2; i++) /* twice at one step */
        log_tensor(&file, "m_FACE", "mesh", sb_buf_slice(&content), 4, 100 + i, &array);
    log_tensor(&file, "n_FACE", "mesh", sb_buf_slice(&newer), 4, 102, &array);
    sb_buf_fini(&content);
    sb_buf_fini(&newer);
    log_put(&l, "run/" FILE_1, &file);
    logs_load(&l);
    sb_series_list list = mesh_list(&l, "run");
    sb_mesh_name *names;
    size_t n;
    assert_int_equal(sb_mesh_names(&list.runs[0], &l.arena, &names, &n, NULL), SB_OK);
    assert_int_equal(n, 1); /* the other is of a version that nobody knows */
    assert_int_equal(names[0].samples, 2);
    sb_slice bytes;
    assert_int_equal(sb_mesh_data(l.blobs, &list.runs[0], SB_LIT("m"), SB_MESH_CONTENT_FACE, 1, 4,
                                  1 << 20, &l.arena, &bytes, NULL),
                     SB_OK);
    assert_int_equal(bytes.n, 2 * 12);
    assert_int_equal((int32_t)sb_load32(bytes.p), -4);
    assert_int_equal((int32_t)sb_load32(bytes.p + 20), 6);
    sb_series_list_release(&list);
    logs_free(&l);
}

/* ---- layouts --------------------------------------------------------------------------------- */

static sb_layout_merged layout_of(logs *l) {
    sb_layout_merged layout;
    sb_err err;
    assert_ok(sb_layout_merge(l->store, l->blobs, 1 << 20, 1000, NULL, &l->arena, &layout, &err),
              &err);
    return layout;
}

static void the_layout_of_tensorboard(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/plugins", &sb_fs_local);
    sb_layout_merged layout = layout_of(&l);
    assert_true(layout.is_found);
    assert_int_equal(layout.n, 1);
    assert_slice_is(layout.categories[0].title, "losses");
    assert_int_equal(layout.categories[0].n, 2);
    const sb_layout_chart *all = &layout.categories[0].charts[0];
    const sb_layout_chart *band = &layout.categories[0].charts[1];
    assert_slice_is(all->title, "all");
    assert_int_equal(all->kind, SB_CHART_MULTILINE);
    assert_slice_is(all->tags[0], "loss.*");
    assert_int_equal(band->kind, SB_CHART_MARGIN);
    assert_slice_is(band->series[0].value, "loss/mid");
    assert_slice_is(band->series[0].upper, "loss/hi");
    logs_free(&l);
}

/* A run's layout: categories "title:chart,chart|title:chart". */
static void put_layout(logs *l, const char *run, const char *plan) {
    sb_category_plan categories[8];
    static sb_chart_plan charts[8][8];
    static sb_slice tag = {(const uint8_t *)"t", 1};
    size_t n = 0;
    while (*plan) {
        size_t title = strcspn(plan, ":"), k = 0;
        categories[n] = (sb_category_plan){.title = sb_slice_of(plan, title)};
        for (plan += title; *plan == ':' || *plan == ','; k++) {
            size_t name = strcspn(++plan, ",|");
            charts[n][k] =
                (sb_chart_plan){.title = sb_slice_of(plan, name), .tags = &tag, .tag_count = 1};
            plan += name;
        }
        categories[n].charts = charts[n];
        categories[n++].chart_count = k;
        if (*plan == '|') plan++;
    }
    sb_buf layout = log_begin(), file = log_begin();
    sb_layout_add(&layout, categories, n);
    sb_slice text = sb_buf_slice(&layout);
    sb_array array = {&text, SB_STRING, 0, NULL, NULL};
    log_tensor(&file, SB_LAYOUT_TAG, "custom_scalars", SB_LIT(""), 0, 100, &array);
    sb_buf_fini(&layout);
    char name[64];
    snprintf(name, sizeof name, "%s/" FILE_1, run);
    log_put(l, name, &file);
}

static const char *described(const sb_layout_merged *layout) {
    static char text[512];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < layout->n; i++) {
        const sb_layout_category *c = &layout->categories[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s:", i ? "|" : "",
                                 SB_SHOWN(c->title));
        for (size_t k = 0; k < c->n; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", k ? "," : "",
                                     SB_SHOWN(c->charts[k].title));
    }
    return text;
}

static void layouts_are_merged_by_title(void **state) {
    logs l = logs_new(*state);
    put_layout(&l, "c", "two:z,y|one:a");
    put_layout(&l, "b", "one:b,a,a|two:x,y");
    put_layout(&l, "a", "one:a,b|zero:q");
    logs_load(&l);
    sb_layout_merged layout = layout_of(&l);
    /* the chart z of the third run goes to the second run's category: TensorBoard loses it */
    assert_string_equal(described(&layout), "one:a,b|zero:q|two:x,y,z");
    sb_err err;
    assert_int_equal(sb_layout_merge(l.store, l.blobs, 1 << 20, 4, NULL, &l.arena, &layout, &err),
                     SB_LIMIT);
    logs_free(&l);
}

static void layouts_that_cannot_be_read_are_counted(void **state) {
    logs l = logs_new(*state);
    put_layout(&l, "a", "one:a");
    sb_buf file = log_begin();
    const char *broken = "\x12\x7f no layout";
    log_strings(&file, SB_LAYOUT_TAG, "custom_scalars", SB_LIT(""), 0, 100, &broken, 1, 0, NULL);
    log_put(&l, "b/" FILE_1, &file);
    logs_load(&l);
    sb_layout_merged layout = layout_of(&l);
    assert_string_equal(described(&layout), "one:a");
    assert_int_equal(layout.unreadable, 1);
    logs_free(&l);
}

static void no_layout_is_no_mistake(void **state) {
    logs l = logs_new(*state);
    logs_load(&l);
    assert_false(layout_of(&l).is_found);
    logs_free(&l);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static sb_status ask_all(const sb_alloc *alloc, void *ud) {
    logs *l = ud;
    sb_env env = logs_env;
    env.alloc = alloc;
    sb_blob_cache *cache;
    sb_status status = sb_blob_cache_new(&cache, &env, 2, NULL);
    if (status != SB_OK) return status;
    sb_arena a;
    sb_arena_init(&a, alloc, 64, SIZE_MAX / 2);
    sb_layout_merged layout;
    status = sb_layout_merge(l->store, cache, 1 << 20, 1000, NULL, &a, &layout, NULL);
    sb_series_list list;
    sb_list_ask ask = {.plugin = SB_LIT("mesh")};
    if (status == SB_OK) status = sb_series_list_read(l->store, &ask, NULL, &a, &list, NULL);
    if (status == SB_OK) {
        sb_mesh_name *names;
        sb_mesh_item *items;
        sb_slice bytes;
        size_t n;
        status = sb_mesh_names(&list.runs[0], &a, &names, &n, NULL);
        if (status == SB_OK)
            status = sb_mesh_list(&list.runs[0], SB_LIT("cloud"), NULL, &a, &items, &n, NULL);
        if (status == SB_OK)
            status = sb_mesh_data(cache, &list.runs[0], SB_LIT("cloud"), SB_MESH_CONTENT_FACE, 0, 1,
                                  1 << 20, &a, &bytes, NULL);
        sb_series_list_release(&list);
    }
    sb_arena_fini(&a);
    sb_blob_cache_free(cache);
    return status;
}

static void memory_may_run_out(void **state) {
    logs l = logs_new(*state);
    logs_load_from(&l, SB_FIXTURES "/tf/plugins", &sb_fs_local);
    sb_fault_alloc_sweep(ask_all, &l);
    logs_free(&l);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        IN_DIR(texts_of_every_shape),
        IN_DIR(a_text_that_claims_to_be_very_many_is_refused),
        IN_DIR(curves_lose_their_empty_end),
        IN_DIR(curves_of_tensorboard),
        IN_DIR(meshes_of_tensorboard),
        IN_DIR(meshes_of_a_batch),
        IN_DIR(the_layout_of_tensorboard),
        IN_DIR(layouts_are_merged_by_title),
        IN_DIR(layouts_that_cannot_be_read_are_counted),
        IN_DIR(no_layout_is_no_mistake),
        IN_DIR(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
