/* profile_totals.c: sums over a range of a profile, and search. */
#include "profile/analysis/views.h"
#include "profile/trace/totals.h"
#include "query/csv.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

#define MOST_ROWS 10000

static sb_slice name_of(const sb_trace *t, sb_total_by by, uint32_t id) {
    switch (by) {
    case SB_BY_KIND:
        return sb_slice_str(sb_span_kind_name((sb_span_kind)id));
    case SB_BY_TRACK:
        return t->tracks.items[id].name;
    case SB_BY_GROUP:
        return t->groups.items[id].name;
    default:
        return sb_trace_name(t, id);
    }
}

static double key_of(const sb_total *s, const sb_profile_table *table) {
    if (sb_profile_table_is_sorted_by(table, "self")) return (double)s->self;
    if (sb_profile_table_is_sorted_by(table, "count")) return (double)s->count;
    if (sb_profile_table_is_sorted_by(table, "mean")) return (double)s->total / (double)s->count;
    if (sb_profile_table_is_sorted_by(table, "max")) return (double)s->greatest;
    return (double)s->total;
}

static unsigned word_of(sb_slice text, const char *const *words) {
    for (unsigned i = 0; words[i]; i++)
        if (sb_slice_eq(text, sb_slice_str(words[i]))) return i;
    return 0;
}

static void add_total(sb_json *j, const sb_total *s, sb_slice name) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", s->id);
    sb_json_put_text(j, "name", name);
    sb_json_put_uint(j, "kind", s->kind);
    sb_json_put_uint(j, "count", s->count);
    sb_json_put_int(j, "totalPs", s->total);
    sb_json_put_int(j, "selfPs", s->self);
    sb_json_put_int(j, "minPs", s->least);
    sb_json_put_int(j, "maxPs", s->greatest);
    sb_json_open_array(j, "durations");
    for (int i = 0; i < SB_TOTAL_BINS; i++) sb_json_uint(j, s->bins[i]);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static void add_csv(sb_http_reply *r, const sb_total *totals, const sb_profile_table *table) {
    sb_buf *out = sb_profile_begin_csv(r, "totals.csv");
    sb_buf_add_str(out, "name,kind,count,total_us,self_us,min_us,max_us\n");
    for (size_t i = 0; i < table->n; i++) {
        const sb_total *s = &totals[table->rows[i].index];
        sb_csv_add_text(out, table->rows[i].name);
        sb_buf_printf(out, ",%s,%llu,%.6f,%.6f,%.6f,%.6f\n",
                      sb_span_kind_name((sb_span_kind)s->kind), (unsigned long long)s->count,
                      (double)s->total * 1e-6, (double)s->self * 1e-6, (double)s->least * 1e-6,
                      (double)s->greatest * 1e-6);
    }
}

static sb_status answer_totals(sb_profile_ask *p, sb_http_reply *r) {
    static const char *const bys[] = {"name", "kind", "track", "group", NULL};
    sb_totals totals;
    sb_profile_table table;
    sb_json j;
    sb_totals_ask ask = {.from = sb_profile_number(p, "from", 0),
                         .to = sb_profile_number(p, "to", p->t->duration),
                         .by = (sb_total_by)word_of(sb_profile_text(p, "by"), bys),
                         .find = sb_profile_text(p, "find"),
                         .is_expired = sb_profile_is_expired,
                         .ud = p->q};
    ask.tracks = sb_profile_track_list(p, &ask.track_count);
    if (!ask.tracks) return SB_NOMEM;
    sb_status status = sb_trace_totals(p->t, &ask, &totals, &p->arena, sb_http_err(r));
    if (status != SB_OK) return status;
    if (!sb_profile_table_init(&table, p, totals.n)) return SB_NOMEM;
    table.find = (sb_slice){NULL, 0}; /* the sums know it already: it is about names of slices */
    if (sb_profile_table_is_sorted_by(&table, "name")) table.order = SB_SORT_LEAST_FIRST;
    for (size_t i = 0; i < totals.n; i++)
        sb_profile_table_add(&table, i, key_of(&totals.items[i], &table),
                             name_of(p->t, ask.by, totals.items[i].id));
    sb_profile_table_finish(&table, MOST_ROWS);
    if (json_is_true(json_object_get(p->body, "csv"))) {
        add_csv(r, totals.items, &table);
        return SB_OK;
    }
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "slices", totals.spans);
    sb_json_put_uint(&j, "tracks", ask.track_count);
    sb_json_put_uint(&j, "rows", totals.n);
    sb_json_put_int(&j, "totalPs", totals.total);
    sb_json_open_array(&j, "items");
    for (size_t i = table.from; i < table.to; i++)
        add_total(&j, &totals.items[table.rows[i].index], table.rows[i].name);
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_totals(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_totals);
}

/* The evidence of the advice that "advice" names, if it names one. */
static sb_status ask_evidence(sb_profile_ask *p, sb_evidence *kept, sb_search_ask *ask,
                              sb_err *err) {
    sb_slice id = sb_profile_text(p, "advice");
    sb_advice *items;
    size_t n;
    if (!id.n) return SB_OK;
    if (!sb_view_advice(p->a, &items, &n, &p->arena)) return sb_fail_nomem(err, "for advice");
    for (size_t i = 0; i < n; i++)
        if (items[i].count && sb_slice_eq(sb_slice_str(items[i].id), id)) {
            *kept = items[i].evidence;
            ask->evidence = kept;
            return SB_OK;
        }
    return sb_fail(err, SB_NOT_FOUND, 0, "this capture has no slices of the advice \"%.*s\"",
                   SB_SHOWN(id));
}

static sb_status answer_search(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_search_result found;
    int64_t offset = sb_profile_number(p, "offset", 0), limit = sb_profile_number(p, "limit", 100);
    sb_search_ask ask = {.text = sb_profile_text(p, "q"),
                         .in_args = sb_profile_number(p, "args", 0) == 1,
                         .from = sb_profile_number(p, "from", INT64_MIN / 4),
                         .to = sb_profile_number(p, "to", INT64_MAX / 4),
                         .offset = offset > 0 ? (size_t)offset : 0,
                         .limit = limit >= 0 && limit < MOST_ROWS ? (size_t)limit : MOST_ROWS,
                         .is_expired = sb_profile_is_expired,
                         .ud = p->q};
    sb_evidence evidence;
    sb_status status = ask_evidence(p, &evidence, &ask, sb_http_err(r));
    if (status != SB_OK) return status;
    status = sb_trace_search(p->t, &ask, &found, &p->arena, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_profile_begin(&j, p, r);
    sb_json_open_array(&j, "names");
    for (size_t i = 0; i < found.name_count; i++) {
        sb_json_begin_array(&j);
        sb_json_uint(&j, found.names[i].name);
        sb_json_uint(&j, found.names[i].count);
        sb_json_int(&j, found.names[i].total);
        sb_json_end_array(&j);
    }
    sb_json_end_array(&j);
    sb_json_put_uint(&j, "total", found.total);
    sb_json_open_array(&j, "items");
    for (size_t i = 0; i < found.n; i++)
        sb_profile_add_ref(&j, p->t, found.items[i].track, found.items[i].index);
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_search(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_search);
}
