/* profile_totals.c: sums over a range of a profile, and search. */
#include "profile/trace/totals.h"
#include "query/csv.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

#define MOST_ROWS 10000

typedef enum order { BY_TOTAL, BY_SELF, BY_COUNT, BY_MEAN, BY_MAX, BY_NAME } order;

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

static double key_of(const sb_total *s, order by) {
    switch (by) {
    case BY_SELF:
        return (double)s->self;
    case BY_COUNT:
        return (double)s->count;
    case BY_MEAN:
        return (double)s->total / (double)s->count;
    case BY_MAX:
        return (double)s->greatest;
    case BY_NAME:
        return 0;
    default:
        return (double)s->total;
    }
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
    sb_json_key_str(j, "durations");
    sb_json_begin_array(j);
    for (int i = 0; i < SB_TOTAL_BINS; i++) sb_json_uint(j, s->bins[i]);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

static void add_csv(sb_http_reply *r, const sb_total *totals, const sb_table_row *rows, size_t n) {
    sb_buf *out = sb_http_body(r);
    sb_http_type(r, "text/csv; charset=utf-8");
    sb_http_user_content(r, SB_LIT("totals.csv"));
    sb_buf_add_str(out, "name,kind,count,total_us,self_us,min_us,max_us\n");
    for (size_t i = 0; i < n; i++) {
        const sb_total *s = &totals[rows[i].index];
        sb_csv_add_text(out, rows[i].name);
        sb_buf_printf(out, ",%s,%llu,%.6f,%.6f,%.6f,%.6f\n",
                      sb_span_kind_name((sb_span_kind)s->kind), (unsigned long long)s->count,
                      (double)s->total * 1e-6, (double)s->self * 1e-6, (double)s->least * 1e-6,
                      (double)s->greatest * 1e-6);
    }
}

static sb_status answer_totals(sb_profile_ask *p, sb_http_reply *r) {
    static const char *const bys[] = {"name", "kind", "track", "group", NULL};
    static const char *const orders[] = {"total", "self", "count", "mean", "max", "name", NULL};
    sb_totals totals;
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
    order by = (order)word_of(sb_profile_text(p, "sort"), orders);
    sb_table_row *rows = sb_arena_get(&p->arena, (totals.n + 1) * sizeof *rows);
    if (!rows) return SB_NOMEM;
    for (size_t i = 0; i < totals.n; i++)
        rows[i] = (sb_table_row){i, key_of(&totals.items[i], by),
                                 name_of(p->t, ask.by, totals.items[i].id)};
    sb_table_sort(rows, totals.n, &(sb_table_ask){.is_ascending = by == BY_NAME});
    if (json_is_true(json_object_get(p->body, "csv"))) {
        add_csv(r, totals.items, rows, totals.n);
        return SB_OK;
    }
    sb_json j;
    int64_t offset = sb_profile_number(p, "offset", 0), limit = sb_profile_number(p, "limit", 100);
    if (limit > MOST_ROWS || limit < 0) limit = MOST_ROWS;
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "slices", totals.spans);
    sb_json_put_uint(&j, "tracks", ask.track_count);
    sb_json_put_uint(&j, "rows", totals.n);
    sb_json_put_int(&j, "totalPs", totals.total);
    sb_json_key_str(&j, "items");
    sb_json_begin_array(&j);
    for (size_t i = offset > 0 ? (size_t)offset : 0; i < totals.n && limit-- > 0; i++)
        add_total(&j, &totals.items[rows[i].index], rows[i].name);
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_totals(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_profile_ask p;
    sb_status status = sb_profile_ask_begin(&p, q, r, app);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_totals(&p, r);
    sb_profile_ask_end(&p);
    return status;
}

sb_status sb_api_profile_search(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_profile_ask p;
    sb_json j;
    sb_search_result found;
    sb_status status = sb_profile_ask_begin(&p, q, r, app);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    int64_t offset = sb_profile_number(&p, "offset", 0),
            limit = sb_profile_number(&p, "limit", 100);
    sb_search_ask ask = {.text = sb_profile_text(&p, "q"),
                         .in_args = sb_profile_number(&p, "args", 0) == 1,
                         .from = sb_profile_number(&p, "from", INT64_MIN / 4),
                         .to = sb_profile_number(&p, "to", INT64_MAX / 4),
                         .offset = offset > 0 ? (size_t)offset : 0,
                         .limit = limit >= 0 && limit < MOST_ROWS ? (size_t)limit : MOST_ROWS,
                         .is_expired = sb_profile_is_expired,
                         .ud = q};
    status = sb_trace_search(p.t, &ask, &found, &p.arena, sb_http_err(r));
    if (status == SB_OK) {
        sb_profile_begin(&j, &p, r);
        sb_json_key_str(&j, "names");
        sb_json_begin_array(&j);
        for (size_t i = 0; i < found.name_count; i++) {
            sb_json_begin_array(&j);
            sb_json_uint(&j, found.names[i].name);
            sb_json_uint(&j, found.names[i].count);
            sb_json_int(&j, found.names[i].total);
            sb_json_end_array(&j);
        }
        sb_json_end_array(&j);
        sb_json_put_uint(&j, "total", found.total);
        sb_json_key_str(&j, "items");
        sb_json_begin_array(&j);
        for (size_t i = 0; i < found.n; i++)
            sb_profile_add_ref(&j, p.t, found.items[i].track, found.items[i].index);
        sb_json_end_array(&j);
        status = sb_api_end(&j, r);
    }
    sb_profile_ask_end(&p);
    return status;
}
