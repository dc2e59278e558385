/* profile_views.c: memory, input pipeline, modules, ranks, and two captures side by side. */
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "query/csv.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

#define CURVE_POINTS 2000u
#define MOST_ITEMS 5000u

/* ---- memory ---------------------------------------------------------------------------------- */

static void add_column(sb_json *j, const char *key, const sb_memory_view *v, int which) {
    sb_json_open_array(j, key);
    for (size_t i = 0; i < v->point_count; i++)
        sb_json_int(j, which == 0   ? v->points[i].time
                       : which == 1 ? v->points[i].allocated
                                    : v->points[i].reserved);
    sb_json_end_array(j);
}

static void add_memory(sb_json *j, const sb_trace *t, const sb_memory_view *v) {
    add_column(j, "times", v, 0);
    add_column(j, "allocated", v, 1);
    add_column(j, "reserved", v, 2);
    sb_json_put_int(j, "peakBytes", v->peak);
    sb_json_put_int(j, "peakPs", v->peak_time);
    sb_json_open_array(j, "byOp");
    for (size_t i = 0; i < v->row_count && i < MOST_ITEMS; i++) {
        const sb_memory_row *row = &v->rows[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", row->name ? sb_trace_name(t, row->name - 1) : SB_LIT(""));
        sb_json_put_uint(j, "allocations", row->allocations);
        sb_json_put_int(j, "bytes", row->bytes);
        sb_json_put_int(j, "freedBytes", row->freed);
        sb_json_put_int(j, "peakBytes", row->peak);
        sb_json_put_uint(j, "peakCount", row->peak_count);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status answer_memory(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_memory_view v = {0};
    bool is_done = true;
    const sb_trace *t = p->t;
    int64_t wanted = sb_profile_number(p, "device", -1), best = -1;
    sb_profile_begin(&j, p, r);
    sb_json_open_array(&j, "devices");
    uint32_t chosen = SB_NO_INDEX;
    for (uint32_t i = 0; i < t->memory_devices.n && is_done; i++) {
        sb_memory_view one;
        is_done = sb_view_memory(t, i, 1, &one, &p->arena);
        sb_json_begin_object(&j);
        sb_json_put_uint(&j, "id", i);
        sb_json_put_text(&j, "name", t->memory_devices.items[i].name);
        sb_json_put_uint(&j, "source", t->memory_devices.items[i].source);
        sb_json_put_int(&j, "peakBytes", is_done ? one.peak : 0);
        sb_json_put_uint(&j, "events", is_done ? one.events : 0);
        sb_json_end_object(&j);
        if (is_done && (wanted < 0 ? one.peak > best : wanted == (int64_t)i)) {
            best = one.peak;
            chosen = i;
        }
    }
    sb_json_end_array(&j);
    sb_json_put_int(&j, "device", chosen == SB_NO_INDEX ? -1 : (int64_t)chosen);
    if (is_done && chosen != SB_NO_INDEX)
        is_done = sb_view_memory(t, chosen, CURVE_POINTS, &v, &p->arena);
    add_memory(&j, t, &v);
    return is_done ? sb_api_end(&j, r) : SB_NOMEM;
}

sb_status sb_api_profile_memory(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_memory);
}

/* ---- input ----------------------------------------------------------------------------------- */

static sb_status answer_input(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_input_view v;
    if (!sb_view_input(p->a, &v, &p->arena)) return SB_NOMEM;
    sb_profile_begin(&j, p, r);
    sb_json_put_str(&j, "verdict",
                    v.share < 0      ? "unknown"
                    : v.share < 0.05 ? "low"
                    : v.share < 0.20 ? "moderate"
                                     : "high");
    sb_json_put_double(&j, "share", v.share);
    sb_json_open_array(&j, "perStep");
    for (size_t i = 0; i < p->a->step_count && i < MOST_ITEMS; i++)
        sb_json_int(&j, p->a->steps[i].parts[SB_PART_INPUT]);
    sb_json_end_array(&j);
    sb_json_open_array(&j, "parts");
    for (int i = 0; i < SB_INPUT_PARTS; i++) {
        sb_json_begin_object(&j);
        sb_json_put_str(&j, "name", sb_input_part_name(i));
        sb_json_put_int(&j, "ps", v.parts[i]);
        sb_json_end_object(&j);
    }
    sb_json_end_array(&j);
    sb_json_open_array(&j, "stages");
    for (size_t i = 0; i < v.row_count && i < MOST_ITEMS; i++) {
        sb_json_begin_object(&j);
        sb_json_put_text(&j, "name", sb_trace_name(p->t, v.rows[i].name));
        sb_json_put_uint(&j, "calls", v.rows[i].calls);
        sb_json_put_int(&j, "totalPs", v.rows[i].total);
        sb_json_put_int(&j, "selfPs", v.rows[i].self);
        sb_json_put_int(&j, "maxPs", v.rows[i].greatest);
        sb_json_put_uint(&j, "slow", v.rows[i].slow);
        sb_json_end_object(&j);
    }
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_input(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_input);
}

/* ---- modules --------------------------------------------------------------------------------- */

static sb_status answer_modules(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_module_view v;
    if (!sb_view_modules(p->t, &v, &p->arena)) return SB_NOMEM;
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "rows", v.n);
    sb_json_open_array(&j, "items");
    for (size_t i = 0; i < v.n && i < 2 * MOST_ITEMS; i++) {
        const sb_module_row *m = &v.rows[i];
        sb_json_begin_object(&j);
        sb_json_put_text(&j, "name", sb_trace_name(p->t, m->name));
        sb_json_put_int(&j, "parent", m->parent);
        sb_json_put_uint(&j, "depth", m->depth);
        sb_json_put_uint(&j, "calls", m->calls);
        sb_json_put_uint(&j, "operators", m->operators);
        sb_profile_add_times(&j, m->host_total, m->host_self, m->device_total, m->device_self);
        sb_json_end_object(&j);
    }
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_modules(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_modules);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void add_ranks(sb_json *j, const sb_trace *t, const sb_rank_view *v) {
    sb_json_open_array(j, "ranks");
    for (size_t i = 0; i < v->rank_count; i++) {
        const sb_rank_row *k = &v->ranks[i];
        const sb_trace_source *s = &t->sources.items[k->source];
        sb_json_begin_object(j);
        sb_json_put_uint(j, "source", k->source);
        sb_json_put_text(j, "name", s->name);
        sb_json_put_int_or_null(j, "rank", s->rank, s->rank >= 0);
        sb_json_put_text(j, "backend", s->backend);
        sb_json_put_int(j, "spanPs", k->span);
        sb_json_put_int(j, "computePs", k->compute);
        sb_json_put_int(j, "overlapPs", k->overlap);
        sb_json_put_int(j, "communicationPs", k->communication);
        sb_json_put_int(j, "otherPs", k->other);
        sb_json_put_int(j, "waitPs", k->wait);
        sb_json_put_int(j, "skewPs", s->skew);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static void add_collectives(sb_json *j, const sb_trace *t, const sb_rank_view *v) {
    sb_json_open_array(j, "collectives");
    for (size_t i = 0; i < v->collective_count && i < MOST_ITEMS; i++) {
        const sb_collective_row *c = &v->collectives[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", sb_trace_name(t, c->name));
        sb_json_put_uint(j, "calls", c->calls);
        sb_json_put_int(j, "bytes", c->bytes);
        sb_json_put_int(j, "transferPs", c->transfer);
        sb_json_put_int(j, "maxPs", c->greatest);
        sb_json_open_array(j, "waitPs");
        for (size_t k = 0; k < v->rank_count; k++) sb_json_int(j, c->wait[k]);
        sb_json_end_array(j);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status answer_distributed(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_rank_view v;
    if (!sb_view_ranks(p->a, &v, &p->arena)) return SB_NOMEM;
    sb_profile_begin(&j, p, r);
    add_ranks(&j, p->t, &v);
    add_collectives(&j, p->t, &v);
    sb_json_put_int(&j, "straggler", v.straggler);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_distributed(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_distributed);
}

/* ---- difference ------------------------------------------------------------------------------ */

static void add_side(sb_json *j, const char *key, const sb_analysis *a) {
    sb_json_open_object(j, key);
    sb_json_put_int(j, "stepPs", a->stats.median);
    sb_json_put_uint(j, "steps", a->step_count);
    sb_json_open_array(j, "parts");
    for (int i = 0; i < SB_PART_COUNT; i++) {
        sb_json_begin_object(j);
        sb_json_put_str(j, "kind", sb_part_name((sb_step_part)i));
        sb_json_put_int(j, "ps", a->stats.parts[i]);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_end_object(j);
}

/* Unless a column is named, the largest difference comes first, whatever its sign. */
static double difference_key(const sb_difference_row *row, const sb_profile_table *table) {
    double delta = (double)row->total[1] - (double)row->total[0];
    if (sb_profile_table_is_sorted_by(table, "callsA")) return (double)row->calls[0];
    if (sb_profile_table_is_sorted_by(table, "callsB")) return (double)row->calls[1];
    if (sb_profile_table_is_sorted_by(table, "totalA")) return (double)row->total[0];
    if (sb_profile_table_is_sorted_by(table, "totalB")) return (double)row->total[1];
    if (sb_profile_table_is_sorted_by(table, "delta")) return delta;
    return delta < 0 ? -delta : delta;
}

static void add_difference_csv(sb_http_reply *r, const sb_difference *d,
                               const sb_profile_table *table) {
    sb_buf *out = sb_profile_begin_csv(r, "difference.csv");
    sb_buf_add_str(out, "name,kind,calls_a,calls_b,a_us,b_us,delta_us\n");
    for (size_t i = 0; i < table->n; i++) {
        const sb_difference_row *row = &d->rows[table->rows[i].index];
        sb_csv_add_text(out, row->name);
        sb_buf_printf(out, ",%s,%llu,%llu,%.6f,%.6f,%.6f\n",
                      sb_span_kind_name((sb_span_kind)row->kind), (unsigned long long)row->calls[0],
                      (unsigned long long)row->calls[1], (double)row->total[0] * 1e-6,
                      (double)row->total[1] * 1e-6, (double)(row->total[1] - row->total[0]) * 1e-6);
    }
}

static void add_differences(sb_json *j, const sb_difference *d, const sb_profile_table *table) {
    sb_json_put_bool(j, "perStep", d->is_per_step);
    sb_json_put_uint(j, "rows", table->n);
    sb_json_open_array(j, "items");
    for (size_t i = table->from; i < table->to; i++) {
        const sb_difference_row *row = &d->rows[table->rows[i].index];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", row->name);
        sb_json_put_uint(j, "kind", row->kind);
        sb_json_put_uint(j, "callsA", row->calls[0]);
        sb_json_put_uint(j, "callsB", row->calls[1]);
        sb_json_put_int(j, "totalA", row->total[0]);
        sb_json_put_int(j, "totalB", row->total[1]);
        sb_json_put_int(j, "delta", row->total[1] - row->total[0]);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status add_difference(sb_profile_ask *p, const sb_analysis *other, sb_http_reply *r) {
    sb_json j;
    sb_difference d;
    sb_slice by = sb_profile_text(p, "by");
    sb_difference_by how = sb_slice_eq(by, SB_LIT("kernels"))   ? SB_DIFFER_KERNELS
                           : sb_slice_eq(by, SB_LIT("modules")) ? SB_DIFFER_MODULES
                                                                : SB_DIFFER_OPS;
    sb_profile_table table;
    if (!sb_view_difference(p->a, other, how, &d, &p->arena) ||
        !sb_profile_table_init(&table, p, d.n))
        return SB_NOMEM;
    for (size_t i = 0; i < d.n; i++)
        sb_profile_table_add(&table, i, difference_key(&d.rows[i], &table), d.rows[i].name);
    sb_profile_table_finish(&table, MOST_ITEMS);
    if (table.is_csv) {
        add_difference_csv(r, &d, &table);
        return SB_OK;
    }
    sb_profile_begin(&j, p, r);
    add_side(&j, "a", p->a);
    add_side(&j, "b", other);
    add_differences(&j, &d, &table);
    return sb_api_end(&j, r);
}

static sb_status answer_difference(sb_profile_ask *p, sb_http_reply *r) {
    sb_profiles *profiles = p->app->profiles;
    const sb_kept_trace *other = sb_profiles_find(profiles, sb_profile_text(p, "other"));
    if (!other)
        return sb_api_fail(r, 409, "not_open",
                           "the other capture is not open: POST profile/open {\"capture\"} first");
    sb_status status = add_difference(p, other->analysis, r);
    sb_profiles_release(profiles, other);
    return status;
}

sb_status sb_api_profile_difference(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_difference);
}
