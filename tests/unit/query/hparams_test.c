/* hparams_test.c: experiments made from sessions, groups of them, filters, order, tables. */
#include "query/hparams/hparams.h"

#include <math.h>
#include <stdio.h>

#include "base/slice.h"
#include "query/hparams/hparams_table.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct made {
    sb_store *store;
    sb_arena arena;
    sb_hparams h;
} made;

/* ---- making sessions ------------------------------------------------------------------------- */

static void add_meta(sb_run *run, uint32_t file, const char *tag, const sb_hparams_plugin *plugin) {
    sb_buf content;
    uint32_t series;
    bool is_new;
    sb_buf_init(&content, &sb_alloc_libc, 1 << 20);
    sb_hparams_plugin_add(&content, plugin);
    sb_series_meta meta = {.plugin_name = SB_LIT("hparams"),
                           .plugin_content = sb_buf_slice(&content),
                           .kind = SB_SERIES_TENSOR};
    assert_int_equal(sb_run_series(run, sb_slice_str(tag), &meta, &series, &is_new), SB_OK);
    assert_int_equal(sb_run_add_ref(run, file, series, 0, 1, &(sb_ref){.offset = 0}), SB_OK);
    sb_buf_fini(&content);
}

static sb_run *add_run(sb_store *store, const char *name, uint32_t *file) {
    sb_run *run;
    sb_err err;
    assert_ok(sb_store_add_run(store, sb_slice_str(name), sb_slice_str(name), &run, &err), &err);
    assert_ok(sb_run_add_file(run, SB_LIT("f"), file, &err), &err);
    return run;
}

static void add_scalar(sb_run *run, uint32_t file, const char *tag, int64_t step, double value) {
    sb_series_meta meta = {
        .plugin_name = SB_LIT("scalars"), .kind = SB_SERIES_SCALAR, .dtype = SB_FLOAT};
    uint32_t series;
    bool is_new;
    assert_int_equal(sb_run_series(run, sb_slice_str(tag), &meta, &series, &is_new), SB_OK);
    assert_int_equal(
        sb_run_add_scalar(run, file, series, step, 100.0 + (double)step, value, SB_NUMBER_REAL),
        SB_OK);
}

static void finish_run(sb_run *run) {
    assert_int_equal(sb_run_commit(run), SB_OK);
    sb_run_release(run);
}

static sb_any number(double x) {
    return (sb_any){.kind = SB_ANY_NUMBER, .number = x};
}

static sb_any text(const char *s) {
    return (sb_any){.kind = SB_ANY_STRING, .body = sb_slice_str(s)};
}

static sb_any boolean(bool b) {
    return (sb_any){.kind = SB_ANY_BOOL, .boolean = b};
}

static void add_session(sb_store *store, const char *name, const char *group,
                        const sb_hparam_view *hparams, size_t n, int32_t status, double accuracy) {
    uint32_t file;
    sb_run *run = add_run(store, name, &file);
    sb_buf body;
    sb_buf_init(&body, &sb_alloc_libc, 1 << 20);
    sb_session_start_view start = {
        .group_name = sb_slice_str(group), .start_time_secs = 5, .monitor_url = SB_LIT("url")};
    sb_session_start_add(&body, &start, hparams, n);
    add_meta(run, file, SB_HPARAMS_START_TAG,
             &(sb_hparams_plugin){.kind = SB_HPARAMS_SESSION_START, .body = sb_buf_slice(&body)});
    if (status >= 0) {
        sb_buf_clear(&body);
        sb_session_end_add(&body, &(sb_session_end_view){.status = status, .end_time_secs = 9});
        add_meta(run, file, SB_HPARAMS_END_TAG,
                 &(sb_hparams_plugin){.kind = SB_HPARAMS_SESSION_END, .body = sb_buf_slice(&body)});
    }
    sb_buf_fini(&body);
    if (!isnan(accuracy)) {
        add_scalar(run, file, "accuracy", 1, 0);
        add_scalar(run, file, "accuracy", 7, accuracy);
    }
    finish_run(run);
}

/* Four sessions in three groups, with a run below one of them. */
static void made_init(made *to) {
    made m = {0};
    uint32_t file;
    assert_int_equal(sb_store_new(&m.store, &(sb_store_opts){.alloc = &sb_alloc_libc}, NULL),
                     SB_OK);
    sb_arena_init(&m.arena, &sb_alloc_libc, 1 << 14, 1 << 24);
    const sb_hparam_view a[] = {{SB_LIT("bn"), boolean(true)},
                                {SB_LIT("lr"), number(0.1)},
                                {SB_LIT("mix"), number(1)},
                                {SB_LIT("opt"), text("adam")}};
    const sb_hparam_view b[] = {{SB_LIT("bn"), boolean(true)},
                                {SB_LIT("lr"), number(0.5)},
                                {SB_LIT("mix"), text("one")},
                                {SB_LIT("opt"), text("sgd")}};
    const sb_hparam_view c[] = {
        {SB_LIT("bn"), boolean(true)}, {SB_LIT("lr"), number(NAN)}, {SB_LIT("opt"), text("adam")}};
    add_session(m.store, "s1", "g", a, SB_COUNT(a), SB_HPARAM_STATUS_SUCCESS, 0.25);
    add_session(m.store, "s2", "g", a, SB_COUNT(a), SB_HPARAM_STATUS_SUCCESS, 0.75);
    add_session(m.store, "s3", "", b, SB_COUNT(b), SB_HPARAM_STATUS_FAILURE, 0.5);
    add_session(m.store, "s4", "", c, SB_COUNT(c), -1, NAN);
    sb_run *below = add_run(m.store, "s3/eval", &file);
    add_scalar(below, file, "loss", 3, 2.5);
    finish_run(below);
    sb_run *beside = add_run(m.store, "s3x", &file);
    add_scalar(beside, file, "not a metric", 3, 2.5);
    finish_run(beside);
    *to = m; /* from here on it stays where it is */
    sb_err err;
    assert_ok(sb_hparams_begin(&to->h, to->store, &to->arena, NULL, false, &err), &err);
}

static void made_free(made *m) {
    sb_hparams_close(&m->h);
    sb_arena_fini(&m->arena);
    sb_store_free(m->store);
}

/* ---- the experiment -------------------------------------------------------------------------- */

static const sb_hparam_column *column(const sb_hparams_experiment_view *e, const char *name) {
    for (size_t i = 0; i < e->hparam_n; i++)
        if (sb_slice_eq(e->hparams[i].name, sb_slice_str(name))) return &e->hparams[i];
    fail_msg("no %s", name);
    return NULL;
}

static void types_and_domains_come_from_all_sessions(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_hparams_experiment_view e;
    sb_err err;
    assert_ok(sb_hparams_experiment(&m.h, true, 0, &e, &err), &err);
    assert_int_equal(e.hparam_n, 4);
    const sb_hparam_column *lr = column(&e, "lr"), *opt = column(&e, "opt"), *bn = column(&e, "bn"),
                           *mix = column(&e, "mix");
    assert_int_equal(lr->type, SB_HPARAM_TYPE_FLOAT64);
    assert_int_equal(lr->domain, SB_HPARAM_INFO_DOMAIN_INTERVAL);
    assert_true(lr->min == 0.1 && lr->max == 0.5 && lr->differs);
    assert_int_equal(opt->type, SB_HPARAM_TYPE_STRING);
    assert_int_equal(opt->value_n, 2);
    assert_slice_is(opt->values[0].body, "adam");
    assert_int_equal(bn->type, SB_HPARAM_TYPE_BOOL);
    assert_int_equal(bn->value_n, 1);
    assert_false(bn->differs);
    assert_int_equal(mix->type, SB_HPARAM_TYPE_STRING); /* a number and a text */
    assert_int_equal(mix->value_n, 2);
    assert_slice_is(mix->values[0].body, "1.0");
    assert_slice_is(mix->values[1].body, "one");
    /* those that differ come first, then by name */
    assert_slice_is(e.hparams[0].name, "lr");
    assert_slice_is(e.hparams[3].name, "bn");
    made_free(&m);
}

static void metrics_are_the_scalars_in_and_below_sessions(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_hparams_experiment_view e;
    sb_err err;
    assert_ok(sb_hparams_experiment(&m.h, true, 0, &e, &err), &err);
    assert_int_equal(e.metric_n, 2);
    assert_slice_is(e.metrics[0].tag, "accuracy");
    assert_slice_is(e.metrics[0].group, "");
    assert_slice_is(e.metrics[1].tag, "loss");
    assert_slice_is(e.metrics[1].group, "eval");
    assert_ok(sb_hparams_experiment(&m.h, false, 2, &e, &err), &err);
    assert_int_equal(e.metric_n, 0);
    assert_int_equal(e.hparam_n, 2);
    made_free(&m);
}

static void a_declared_experiment_wins(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_hparams_close(&m.h);
    uint32_t file;
    sb_buf body;
    sb_buf_init(&body, &sb_alloc_libc, 1 << 20);
    const sb_any values[] = {text("x"), number(2)};
    sb_buf list;
    sb_buf_init(&list, &sb_alloc_libc, 1 << 20);
    sb_any_list_add(&list, values, 2);
    sb_hparam_info_view info = {.name = SB_LIT("lr"),
                                .display_name = SB_LIT("Rate"),
                                .type = SB_HPARAM_TYPE_STRING,
                                .domain = SB_HPARAM_INFO_DOMAIN_DISCRETE,
                                .discrete = sb_buf_slice(&list)};
    sb_metric_info_view metric = {.group = SB_LIT("eval"), .tag = SB_LIT("loss")};
    sb_experiment_add(&body, &(sb_experiment_view){.name = SB_LIT("E"), .user = SB_LIT("u")}, &info,
                      1, &metric, 1);
    sb_run *run = add_run(m.store, "declared", &file);
    add_meta(run, file, SB_HPARAMS_EXPERIMENT_TAG,
             &(sb_hparams_plugin){.kind = SB_HPARAMS_EXPERIMENT, .body = sb_buf_slice(&body)});
    finish_run(run);
    sb_err err;
    sb_hparams_experiment_view e;
    assert_ok(sb_hparams_begin(&m.h, m.store, &m.arena, NULL, false, &err), &err);
    assert_ok(sb_hparams_experiment(&m.h, true, 0, &e, &err), &err);
    assert_slice_is(e.name, "E");
    assert_int_equal(e.hparam_n, 1);
    assert_int_equal(e.hparams[0].value_n, 2);
    assert_int_equal(e.metric_n, 1);
    sb_buf_fini(&list);
    sb_buf_fini(&body);
    made_free(&m);
}

static void content_of_another_version_is_refused(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_hparams_close(&m.h);
    uint32_t file;
    sb_run *run = add_run(m.store, "new", &file);
    add_meta(run, file, SB_HPARAMS_START_TAG,
             &(sb_hparams_plugin){.version = 1, .kind = SB_HPARAMS_SESSION_START});
    finish_run(run);
    sb_err err;
    sb_hparams_experiment_view e;
    assert_ok(sb_hparams_begin(&m.h, m.store, &m.arena, NULL, false, &err), &err);
    assert_int_equal(sb_hparams_experiment(&m.h, true, 0, &e, &err), SB_INVALID);
    made_free(&m);
}

/* ---- groups ---------------------------------------------------------------------------------- */

#define EVERY_STATUS 15u

static sb_groups_answer ask(made *m, const sb_groups_ask *asked) {
    sb_groups_answer answer;
    sb_err err;
    assert_ok(sb_hparams_groups(&m->h, asked, &answer, &err), &err);
    return answer;
}

/* "g,s3,s4" */
static void assert_groups(const sb_groups_answer *answer, const char *wanted) {
    char names[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < answer->n; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.*s", i ? "," : "",
                              SB_SHOWN(answer->groups[i].name));
    assert_string_equal(names, wanted);
}

static void sessions_of_one_name_are_one_group_with_means(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_groups_answer a =
        ask(&m, &(sb_groups_ask){.statuses = EVERY_STATUS, .size = 100, .with_metrics = true});
    assert_groups(&a, "g,s3,s4");
    assert_int_equal(a.total, 3);
    const sb_session_group *g = &a.groups[0];
    assert_int_equal(g->session_n, 2);
    assert_slice_is(g->sessions[1].name, "s2");
    assert_int_equal(g->metric_n, 1);
    assert_true(g->metrics[0].value == 0.5 && g->metrics[0].step == 7 && g->metrics[0].wall == 107);
    assert_int_equal(a.groups[1].metric_n, 2); /* one of them from the run below */
    assert_int_equal(a.groups[2].metric_n, 0);
    assert_int_equal(a.groups[2].hparam_n, 2); /* NaN can't be written as JSON */
    assert_int_equal(a.groups[2].sessions[0].status, SB_HPARAM_STATUS_UNKNOWN);
    made_free(&m);
}

static void only_sessions_of_the_states_asked_for_count(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_groups_answer a =
        ask(&m, &(sb_groups_ask){.statuses = 1u << SB_HPARAM_STATUS_FAILURE, .size = 100});
    assert_groups(&a, "s3");
    a = ask(&m, &(sb_groups_ask){.size = 100});
    assert_groups(&a, "");
    made_free(&m);
}

static void one_session_may_speak_for_its_group(void **state) {
    (void)state;
    static const struct {
        int32_t how;
        double value;
    } cases[] = {
        {SB_AGGREGATE_MEDIAN, 0.25}, {SB_AGGREGATE_LEAST, 0.25}, {SB_AGGREGATE_GREATEST, 0.75}};
    made m;
    made_init(&m);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_groups_answer a = ask(&m, &(sb_groups_ask){.statuses = 1u << SB_HPARAM_STATUS_SUCCESS,
                                                      .size = 100,
                                                      .with_metrics = true,
                                                      .aggregation = cases[i].how,
                                                      .aggregation_tag = SB_LIT("accuracy")});
        assert_true(a.groups[0].metrics[0].value == cases[i].value);
    }
    sb_groups_answer none;
    sb_err err;
    sb_groups_ask missing = {.statuses = EVERY_STATUS,
                             .size = 9,
                             .with_metrics = true,
                             .aggregation = SB_AGGREGATE_LEAST,
                             .aggregation_tag = SB_LIT("accuracy")};
    assert_int_equal(sb_hparams_groups(&m.h, &missing, &none, &err), SB_INVALID);
    made_free(&m);
}

static void groups_are_sorted_with_missing_values_where_asked(void **state) {
    (void)state;
    static const struct {
        sb_hparam_ask column;
        const char *wanted;
    } cases[] = {
        {{.hparam = {(const uint8_t *)"lr", 2}, .order = SB_ORDER_RISING, .include = -1},
         "g,s3,s4"},
        {{.hparam = {(const uint8_t *)"lr", 2}, .order = SB_ORDER_FALLING, .include = -1},
         "s3,g,s4"},
        {{.hparam = {(const uint8_t *)"lr", 2},
          .order = SB_ORDER_FALLING,
          .missing_first = true,
          .include = -1},
         "s4,s3,g"},
        {{.hparam = {(const uint8_t *)"opt", 3}, .order = SB_ORDER_FALLING, .include = -1},
         "s3,g,s4"},
        {{.is_metric = true,
          .tag = {(const uint8_t *)"accuracy", 8},
          .order = SB_ORDER_RISING,
          .include = -1},
         "g,s3,s4"},
        {{.hparam = {(const uint8_t *)"mix", 3}, .order = SB_ORDER_RISING, .include = -1},
         "g,s3,s4"},
    };
    made m;
    made_init(&m);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_groups_answer a = ask(&m, &(sb_groups_ask){.statuses = EVERY_STATUS,
                                                      .size = 100,
                                                      .with_metrics = true,
                                                      .columns = &cases[i].column,
                                                      .column_n = 1});
        assert_groups(&a, cases[i].wanted);
    }
    made_free(&m);
}

static void filters_pass_what_fits(void **state) {
    (void)state;
    const sb_any adam = text("adam"), truth = number(1);
    const struct {
        sb_hparam_ask column;
        const char *wanted; /* NULL: it is refused */
    } cases[] = {
        {{.hparam = SB_LIT("lr"),
          .filter = SB_FILTER_INTERVAL,
          .min = 0,
          .max = 0.1,
          .include = -1},
         "g,s4"},
        {{.hparam = SB_LIT("lr"),
          .filter = SB_FILTER_INTERVAL,
          .min = 0,
          .max = 0.1,
          .no_missing = true,
          .include = -1},
         "g"},
        {{.hparam = SB_LIT("lr"), .no_missing = true, .include = -1}, "g,s3"},
        {{.hparam = SB_LIT("opt"),
          .filter = SB_FILTER_DISCRETE,
          .values = &adam,
          .value_n = 1,
          .include = -1},
         "g,s4"},
        {{.hparam = SB_LIT("bn"),
          .filter = SB_FILTER_DISCRETE,
          .values = &truth,
          .value_n = 1,
          .include = -1},
         "g,s3,s4"},
        {{.hparam = SB_LIT("opt"),
          .filter = SB_FILTER_REGEXP,
          .regexp = SB_LIT("g.$"),
          .include = -1},
         "s3"},
        {{.hparam = SB_LIT("opt"), .filter = SB_FILTER_REGEXP, .regexp = SB_LIT(""), .include = -1},
         "g,s3,s4"},
        {{.hparam = SB_LIT("lr"), .filter = SB_FILTER_REGEXP, .regexp = SB_LIT("0"), .include = -1},
         NULL},
        {{.hparam = SB_LIT("opt"),
          .filter = SB_FILTER_REGEXP,
          .regexp = SB_LIT("("),
          .include = -1},
         NULL},
        {{.hparam = SB_LIT("opt"), .filter = SB_FILTER_INTERVAL, .include = -1}, NULL},
        {{.hparam = SB_LIT("opt"), .order = 9, .include = -1}, NULL},
    };
    made m;
    made_init(&m);
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        sb_groups_ask asked = {.statuses = EVERY_STATUS,
                               .size = 100,
                               .with_metrics = true,
                               .columns = &cases[i].column,
                               .column_n = 1};
        if (cases[i].wanted) {
            sb_groups_answer a = ask(&m, &asked);
            assert_groups(&a, cases[i].wanted);
        } else {
            sb_groups_answer a;
            sb_err err;
            assert_int_equal(sb_hparams_groups(&m.h, &asked, &a, &err), SB_INVALID);
        }
    }
    made_free(&m);
}

static void the_answer_is_cut_and_reduced_to_what_was_asked_for(void **state) {
    (void)state;
    made m;
    made_init(&m);
    const sb_hparam_ask columns[] = {{.hparam = SB_LIT("lr"), .include = 1},
                                     {.hparam = SB_LIT("opt"), .include = 0}};
    sb_groups_answer a = ask(
        &m,
        &(sb_groups_ask){
            .statuses = EVERY_STATUS, .start = 1, .size = 1, .columns = columns, .column_n = 2});
    assert_groups(&a, "s3");
    assert_int_equal(a.total, 3);
    assert_int_equal(a.groups[0].hparam_n, 1);
    assert_slice_is(a.groups[0].hparams[0].name, "lr");
    static const int64_t nonsense[][2] = {{-5, 2}, {99, 2}, {0, -1}, {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < SB_COUNT(nonsense); i++)
        ask(&m, &(sb_groups_ask){
                    .statuses = EVERY_STATUS, .start = nonsense[i][0], .size = nonsense[i][1]});
    made_free(&m);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void tables_are_spelled_as_pythons(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_hparams_experiment_view e;
    sb_err err;
    assert_ok(sb_hparams_experiment(&m.h, true, 0, &e, &err), &err);
    sb_groups_answer a =
        ask(&m, &(sb_groups_ask){.statuses = EVERY_STATUS, .size = 100, .with_metrics = true});
    const bool visible[] = {true, false, true, true, true, true, true};
    sb_hparams_table t = {&e, &a, visible, SB_COUNT(visible)};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_hparams_table_csv(&t, &out);
    assert_slice_is(sb_buf_slice(&out),
                    "lr,opt,bn,accuracy,loss\r\n0.1,adam,True,0.5,\r\n0.5,sgd,True,0.5,2.5\r\n"
                    ",adam,True,,\r\n");
    sb_buf_clear(&out);
    sb_hparams_table_latex(&t, &out);
    assert_slice_is(sb_buf_slice(&out),
                    "\\begin{table}[tbp]\n\\begin{tabular}{lllll}\nlr & opt & bn & accuracy & loss "
                    "\\\\ \\hline\n"
                    "$0.1$ & adam & $1$ & $0.5$ & - \\\\\n$0.5$ & sgd & $1$ & $0.5$ & $2.5$ \\\\\n"
                    " & adam & $1$ & - & - \\\\\n\\hline\n\\end{tabular}\n\\end{table}\n");
    sb_buf_clear(&out);
    assert_ok(sb_hparams_table_json(&t, &out, &err), &err);
    assert_slice_is(sb_buf_slice(&out),
                    "{\"header\": [\"lr\", \"opt\", \"bn\", \"accuracy\", \"loss\"], \"rows\": "
                    "[[0.1, \"adam\", true, 0.5, "
                    "null], [0.5, \"sgd\", true, 0.5, 2.5], [\"\", \"adam\", true, null, null]]}");
    sb_buf_fini(&out);
    made_free(&m);
}

static void a_metrics_run_is_below_its_session(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 1024, 1 << 16);
    assert_slice_is(sb_hparams_metric_run(&arena, SB_LIT("a/b"), SB_LIT("")), "a/b");
    assert_slice_is(sb_hparams_metric_run(&arena, SB_LIT("a/b"), SB_LIT("eval")), "a/b/eval");
    assert_slice_is(sb_hparams_metric_run(&arena, SB_LIT("a/"), SB_LIT("eval/")), "a/eval");
    assert_slice_is(sb_hparams_metric_run(&arena, SB_LIT(""), SB_LIT("eval")), "eval");
    sb_arena_fini(&arena);
}

/* ---- little memory --------------------------------------------------------------------------- */

static sb_status with_little_memory(const sb_alloc *alloc, void *ud) {
    made *m = ud;
    sb_arena arena;
    sb_hparams h;
    sb_groups_answer answer;
    sb_err err;
    const sb_hparam_ask columns[] = {
        {.hparam = SB_LIT("lr"), .order = SB_ORDER_FALLING, .include = -1},
        {.hparam = SB_LIT("opt"),
         .filter = SB_FILTER_REGEXP,
         .regexp = SB_LIT("a"),
         .include = -1}};
    sb_arena_init(&arena, alloc, 256, 1 << 20);
    sb_status status = sb_hparams_begin(&h, m->store, &arena, NULL, false, &err);
    if (status == SB_OK) {
        sb_groups_ask asked = {.statuses = EVERY_STATUS,
                               .size = 100,
                               .with_metrics = true,
                               .columns = columns,
                               .column_n = 2};
        status = sb_hparams_groups(&h, &asked, &answer, &err);
        sb_hparams_close(&h);
    }
    sb_arena_fini(&arena);
    return status;
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    made m;
    made_init(&m);
    sb_fault_alloc_sweep(with_little_memory, &m);
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_domains_come_from_all_sessions),
        cmocka_unit_test(metrics_are_the_scalars_in_and_below_sessions),
        cmocka_unit_test(a_declared_experiment_wins),
        cmocka_unit_test(content_of_another_version_is_refused),
        cmocka_unit_test(sessions_of_one_name_are_one_group_with_means),
        cmocka_unit_test(only_sessions_of_the_states_asked_for_count),
        cmocka_unit_test(one_session_may_speak_for_its_group),
        cmocka_unit_test(groups_are_sorted_with_missing_values_where_asked),
        cmocka_unit_test(filters_pass_what_fits),
        cmocka_unit_test(the_answer_is_cut_and_reduced_to_what_was_asked_for),
        cmocka_unit_test(tables_are_spelled_as_pythons),
        cmocka_unit_test(a_metrics_run_is_below_its_session),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
