/* The index of runs and tags, descriptions, plugins with data. */
#include "query/series_list.h"

#include <stdio.h>

#include "support/fault_alloc.h"
#include "unit/query/logs.h"

#define FILE_1 "events.out.tfevents.1"

static void add_described(sb_buf *file, const char *tag, const char *name, const char *text,
                          double wall) {
    sb_buf tensor = log_begin();
    float x = 1;
    sb_array array = {&x, SB_FLOAT, 0, NULL, NULL};
    assert_int_equal(sb_tensor_add_fields(&tensor, &array, SB_TENSOR_CONTENT), SB_OK);
    sb_metadata metadata = {.plugin_name = SB_LIT("scalars"),
                            .display_name = sb_slice_str(name),
                            .description = sb_slice_str(text)};
    log_value(file, tag, &metadata, 0, wall, SB_VALUE_TENSOR, sb_buf_slice(&tensor));
    sb_buf_fini(&tensor);
}

static const char *listed(const sb_series_list *list) {
    static char text[1024];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < list->n; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s:", i ? " | " : "",
                                 SB_SHOWN(list->runs[i].info.name));
        for (size_t k = 0; k < list->runs[i].n; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, " %.*s",
                                     SB_SHOWN(list->runs[i].series[k].tag));
    }
    return text;
}

static void load(logs *l) {
    sb_buf late = log_begin(), early = log_begin(), other = log_begin();
    add_described(&late, "b", "", "", 500);
    add_described(&late, "a/c", "nice", "**text**", 501);
    log_simple(&late, "\xc3\xa9", 1, 502, 1);
    log_put(l, "late/" FILE_1, &late);
    add_described(&early, "b", "", "one", 100);
    const char *strings[] = {"1", "2", "pixels", "more"};
    int64_t dims[] = {4};
    log_strings(&early, "img", "images", SB_LIT("\x10\x01"), 0, 101, strings, 4, 1, dims);
    log_strings(&early, "img", "images", SB_LIT(""), 1, 102, strings, 3, 1, (int64_t[]){3});
    log_put(l, "early/" FILE_1, &early);
    log_strings(&other, "t", "text", SB_LIT("\x08\x05"), 0, 200, strings, 1, 0, NULL);
    log_strings(&other, "strange", "nobody", SB_LIT(""), 0, 200, strings, 1, 0, NULL);
    log_put(l, "other/" FILE_1, &other);
    logs_load(l);
}

static sb_series_list list_of(logs *l, sb_list_ask ask) {
    sb_series_list list;
    sb_err err;
    assert_ok(sb_series_list_read(l->store, &ask, NULL, &l->arena, &list, &err), &err);
    return list;
}

static void runs_and_tags_come_in_order(void **state) {
    logs l = logs_new(*state);
    load(&l);
    sb_series_list list = list_of(&l, (sb_list_ask){0});
    assert_string_equal(listed(&list), "early: b img | other: t | late: a/c b \xc3\xa9");
    sb_series_list_release(&list);
    list = list_of(&l, (sb_list_ask){.plugin = SB_LIT("scalars")});
    assert_string_equal(listed(&list), "early: b | late: a/c b \xc3\xa9");
    sb_series_list_release(&list);
    list = list_of(&l, (sb_list_ask){.plugin = SB_LIT("scalars"), .kind = SB_SERIES_TENSOR});
    assert_int_equal(list.n, 0);
    sb_series_list_release(&list);
    list = list_of(&l, (sb_list_ask){.run = SB_LIT("other")});
    assert_string_equal(listed(&list), "other: t");
    sb_series_list_release(&list);
    list = list_of(&l, (sb_list_ask){.run = SB_LIT("nowhere")});
    assert_int_equal(list.n, 0);
    sb_series_list_release(&list);
    list = list_of(&l, (sb_list_ask){.since = sb_store_version(l.store)});
    assert_int_equal(list.n, 0);
    sb_series_list_release(&list);
    logs_free(&l);
}

static void entries_say_what_a_series_is(void **state) {
    logs l = logs_new(*state);
    load(&l);
    sb_series_list list = list_of(&l, (sb_list_ask){0});
    const sb_series_entry *image = &list.runs[0].series[1], *nice = &list.runs[2].series[0];
    const sb_series_entry *text = &list.runs[1].series[0], *old = &list.runs[2].series[2];
    assert_int_equal(image->max_count, 4);
    assert_int_equal(sb_entry_samples(image), 2);
    assert_int_equal(image->points, 2);
    assert_int_equal(image->kind, SB_SERIES_BLOBS);
    assert_slice_is(nice->display_name, "nice");
    assert_slice_is(nice->description, "**text**");
    assert_int_equal(nice->version, 0);
    assert_int_equal(text->version, 5);
    assert_int_equal(sb_entry_samples(text), 0);
    /* of old-style data the tag is the name */
    assert_slice_is(old->display_name, "\xc3\xa9");
    assert_slice_is(list.runs[2].series[1].display_name, "");
    sb_series_list_release(&list);
    logs_free(&l);
}

static void descriptions_are_combined(void **state) {
    logs l = logs_new(*state);
    const char *runs[] = {"r1", "r2", "r3", "r4"};
    const char *texts[] = {"same", "zeta", "same", ""};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        sb_buf file = log_begin();
        add_described(&file, "agreed", "", "yes", 100 + (double)i);
        add_described(&file, "split", "", texts[i], 100 + (double)i);
        if (i == 3) add_described(&file, "third", "", "same", 200);
        snprintf(name, sizeof name, "%s/" FILE_1, runs[i]);
        log_put(&l, name, &file);
    }
    logs_load(&l);
    sb_series_list list = list_of(&l, (sb_list_ask){0});
    sb_tag_description *got;
    size_t n;
    sb_err err;
    assert_ok(sb_tag_descriptions(&list, &l.arena, &got, &n, &err), &err);
    assert_int_equal(n, 3);
    assert_slice_is(got[0].tag, "agreed");
    assert_slice_is(got[0].markdown, "yes");
    assert_slice_is(got[1].tag, "split");
    /* r4 has that text for another tag: TensorBoard names it all the same */
    assert_slice_is(got[1].markdown, "# Multiple descriptions\n## For runs: r1, r3, r4\nsame\n"
                                     "## For run: r2\nzeta");
    assert_slice_is(got[2].markdown, "same");
    sb_series_list_release(&list);
    logs_free(&l);
}

static void plugins_are_counted(void **state) {
    logs l = logs_new(*state);
    load(&l);
    sb_plugin_count *got;
    size_t n;
    sb_err err;
    assert_ok(sb_plugins_list(l.store, NULL, &l.arena, &got, &n, &err), &err);
    assert_int_equal(n, 3); /* "nobody" has no known class: no data */
    assert_slice_is(got[0].name, "images");
    assert_int_equal(got[0].tags, 1);
    assert_slice_is(got[1].name, "scalars");
    assert_int_equal(got[1].series, 4);
    assert_int_equal(got[1].tags, 3);
    assert_slice_is(got[2].name, "text");
    logs_free(&l);
}

static void tag_that_two_plugins_have_counts_for_both(void **state) {
    logs l = logs_new(*state);
    sb_buf numbers = log_begin(), more = log_begin(), words = log_begin();
    const char *strings[] = {"hello"};
    log_simple(&numbers, "t", 1, 100, 1);
    log_put(&l, "a/" FILE_1, &numbers);
    log_simple(&more, "t", 1, 101, 1);
    log_put(&l, "b/" FILE_1, &more);
    log_strings(&words, "t", "text", SB_LIT(""), 0, 102, strings, 1, 0, NULL);
    log_put(&l, "c/" FILE_1, &words);
    logs_load(&l);
    sb_plugin_count *got;
    size_t n;
    assert_int_equal(sb_plugins_list(l.store, NULL, &l.arena, &got, &n, NULL), SB_OK);
    assert_int_equal(n, 2);
    assert_slice_is(got[0].name, "scalars");
    assert_int_equal(got[0].series, 2);
    assert_int_equal(got[0].tags, 1);
    assert_slice_is(got[1].name, "text");
    assert_int_equal(got[1].series, 1);
    assert_int_equal(got[1].tags, 1);
    logs_free(&l);
}

static void an_empty_store_is_no_mistake(void **state) {
    logs l = logs_new(*state);
    logs_load(&l);
    sb_series_list list = list_of(&l, (sb_list_ask){0});
    assert_int_equal(list.n, 0);
    sb_tag_description *descriptions;
    sb_plugin_count *plugins;
    size_t n;
    assert_int_equal(sb_tag_descriptions(&list, &l.arena, &descriptions, &n, NULL), SB_OK);
    assert_int_equal(n, 0);
    sb_series_list_release(&list);
    assert_int_equal(sb_plugins_list(l.store, NULL, &l.arena, &plugins, &n, NULL), SB_OK);
    assert_int_equal(n, 0);
    logs_free(&l);
}

static bool over(void *ud) {
    (void)ud;
    return true;
}

static void the_time_limit_ends_it(void **state) {
    logs l = logs_new(*state);
    load(&l);
    sb_budget budget = {over, NULL};
    sb_series_list list;
    sb_plugin_count *plugins;
    size_t n;
    sb_err err;
    assert_int_equal(
        sb_series_list_read(l.store, &(sb_list_ask){0}, &budget, &l.arena, &list, &err),
        SB_TIMEOUT);
    assert_int_equal(sb_plugins_list(l.store, &budget, &l.arena, &plugins, &n, &err), SB_TIMEOUT);
    logs_free(&l);
}

static sb_status list_with(const sb_alloc *alloc, void *ud) {
    logs *l = ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 64, SIZE_MAX / 2);
    sb_series_list list;
    sb_tag_description *descriptions;
    sb_plugin_count *plugins;
    size_t n;
    sb_status status = sb_series_list_read(l->store, &(sb_list_ask){0}, NULL, &arena, &list, NULL);
    if (status == SB_OK) {
        status = sb_tag_descriptions(&list, &arena, &descriptions, &n, NULL);
        sb_series_list_release(&list);
    }
    if (status == SB_OK) status = sb_plugins_list(l->store, NULL, &arena, &plugins, &n, NULL);
    sb_arena_fini(&arena);
    return status;
}

static void memory_may_run_out(void **state) {
    logs l = logs_new(*state);
    for (int i = 0; i < 2; i++) {
        char name[64];
        sb_buf file = log_begin();
        add_described(&file, "split", "", i ? "one" : "two", 100);
        snprintf(name, sizeof name, "%d/" FILE_1, i);
        log_put(&l, name, &file);
    }
    logs_load(&l);
    sb_fault_alloc_sweep(list_with, &l);
    logs_free(&l);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        IN_DIR(runs_and_tags_come_in_order),
        IN_DIR(entries_say_what_a_series_is),
        IN_DIR(descriptions_are_combined),
        IN_DIR(plugins_are_counted),
        IN_DIR(tag_that_two_plugins_have_counts_for_both),
        IN_DIR(an_empty_store_is_no_mistake),
        IN_DIR(the_time_limit_ends_it),
        IN_DIR(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
