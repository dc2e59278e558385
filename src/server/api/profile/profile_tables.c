/* profile_tables.c: tables of a profile: sorted, filtered, paged, or all as CSV; operators and
 * kernels. */
#include "server/api/profile/profile_tables.h"

#include "base/checked.h"
#include "profile/read/read.h"
#include "profile/trace/classify.h"
#include "query/csv.h"
#include "base/banned.h"

#define MOST_ROWS 10000
#define MOST_KERNELS 500 /* each is read again from the file */

/* ---- rows ------------------------------------------------------------------------------------ */

bool sb_profile_table_init(sb_profile_table *out, sb_profile_ask *p, size_t most) {
    int64_t offset = sb_profile_number(p, "offset", 0), limit = sb_profile_number(p, "limit", 100);
    *out =
        (sb_profile_table){.sort = sb_profile_text(p, "sort"), .find = sb_profile_text(p, "find")};
    if (sb_slice_eq(sb_profile_text(p, "descending"), SB_LIT("0")))
        out->order = SB_SORT_LEAST_FIRST;
    out->is_csv = sb_slice_eq(sb_profile_text(p, "format"), SB_LIT("csv"));
    out->from = offset > 0 ? (size_t)offset : 0;
    out->to = limit >= 0 ? (size_t)limit : SIZE_MAX; /* a number of rows until the table is whole */
    out->rows = sb_arena_get(&p->arena, (most + 1) * sizeof *out->rows);
    return out->rows != NULL;
}

bool sb_profile_table_is_sorted_by(const sb_profile_table *table, const char *column) {
    return sb_slice_eq(table->sort, sb_slice_str(column));
}

void sb_profile_table_add(sb_profile_table *table, size_t index, double key, sb_slice name) {
    if (sb_text_holds(name, table->find)) table->rows[table->n++] = (sb_sort_row){index, key, name};
}

void sb_profile_table_finish(sb_profile_table *table, size_t most) {
    size_t limit = table->to < most ? table->to : most;
    if (sb_profile_table_is_sorted_by(table, "name"))
        sb_sort_rows_by_name(table->rows, table->n, table->order);
    else
        sb_sort_rows(table->rows, table->n, table->order);
    if (table->from > table->n) table->from = table->n;
    table->to = table->n - table->from > limit ? table->from + limit : table->n;
}

sb_buf *sb_profile_begin_csv(sb_http_reply *r, const char *file) {
    sb_http_type(r, "text/csv; charset=utf-8");
    sb_http_user_content(r, sb_slice_str(file));
    return sb_http_body(r);
}

/* ---- steps ----------------------------------------------------------------------------------- */

void sb_profile_add_parts(sb_json *j, const char *key, const int64_t *parts) {
    int64_t sum = 0;
    for (int i = 0; i < SB_PART_COUNT; i++) sb_sum(&sum, parts[i]);
    sb_json_open_array(j, key);
    for (int i = 0; i < SB_PART_COUNT; i++) {
        if (!parts[i]) continue;
        sb_json_begin_object(j);
        sb_json_put_str(j, "kind", sb_part_name((sb_step_part)i));
        sb_json_put_int(j, "ps", parts[i]);
        sb_json_put_double(j, "share", sum ? (double)parts[i] / (double)sum : 0);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

void sb_profile_add_steps(sb_json *j, const sb_analysis *a, size_t most, bool has_parts) {
    sb_json_open_object(j, "steps");
    sb_json_put_str(j, "rule", sb_step_rule_name(a->rule));
    sb_json_put_text(j, "name", a->step_name ? sb_trace_name(a->t, a->step_name - 1) : SB_LIT(""));
    sb_json_put_uint(j, "count", a->step_count);
    sb_json_open_array(j, "items");
    for (size_t i = 0; i < a->step_count && i < most; i++) {
        const sb_step *s = &a->steps[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", sb_trace_name(a->t, s->name));
        sb_json_put_int(j, "number", s->number);
        sb_json_put_uint(j, "source", s->source);
        sb_json_put_uint(j, "track", s->track);
        sb_json_put_uint(j, "index", s->index);
        sb_json_put_int(j, "startPs", s->start);
        sb_json_put_int(j, "durationPs", s->dur);
        if (has_parts) sb_profile_add_parts(j, "parts", s->parts);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_end_object(j);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* By the names of kernels: a guess. */
static const char *tensor_cores_of(const sb_trace *t, const sb_op_row *row) {
    if (row->tensor_core_kernels) return "yes";
    if (!row->kernels) return "";
    return sb_op_may_use_tensor_cores(sb_trace_name(t, row->name)) ? "eligible" : "no";
}

void sb_profile_add_times(sb_json *j, int64_t host_total, int64_t host_self, int64_t device_total,
                          int64_t device_self) {
    sb_json_put_int(j, "hostTotalPs", host_total);
    sb_json_put_int(j, "hostSelfPs", host_self);
    sb_json_put_int(j, "deviceTotalPs", device_total);
    sb_json_put_int(j, "deviceSelfPs", device_self);
}

void sb_profile_add_op(sb_json *j, const sb_trace *t, const sb_op_row *row) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", row->name);
    sb_json_put_text(j, "name", sb_trace_name(t, row->name));
    sb_json_put_uint(j, "kind", row->kind);
    sb_json_put_text(j, "shape", row->shape ? sb_trace_name(t, row->shape - 1) : SB_LIT(""));
    sb_json_put_uint(j, "calls", row->calls);
    sb_profile_add_times(j, row->host_total, row->host_self, row->device_total, row->device_self);
    sb_json_put_str(j, "tensorCores", tensor_cores_of(t, row));
    sb_json_put_uint(j, "track", row->track);
    sb_json_put_uint(j, "index", row->index);
    sb_json_end_object(j);
}

static double op_key(const sb_op_row *row, const sb_profile_table *table, bool is_device) {
    if (sb_profile_table_is_sorted_by(table, "calls")) return (double)row->calls;
    if (sb_profile_table_is_sorted_by(table, "total"))
        return (double)(is_device ? row->device_total : row->host_total);
    return (double)(is_device ? row->device_self : row->host_self);
}

static void add_op_csv(sb_http_reply *r, const sb_trace *t, const sb_op_row *ops,
                       const sb_profile_table *table) {
    sb_buf *out = sb_profile_begin_csv(r, "operators.csv");
    sb_buf_add_str(out, "name,kind,shape,calls,host_total_us,host_self_us,device_total_us,"
                        "device_self_us,tensor_cores\n");
    for (size_t i = 0; i < table->n; i++) {
        const sb_op_row *o = &ops[table->rows[i].index];
        sb_csv_add_text(out, table->rows[i].name);
        sb_buf_printf(out, ",%s,", sb_span_kind_name((sb_span_kind)o->kind));
        sb_csv_add_text(out, o->shape ? sb_trace_name(t, o->shape - 1) : SB_LIT(""));
        sb_buf_printf(out, ",%llu,%.6f,%.6f,%.6f,%.6f,%s\n", (unsigned long long)o->calls,
                      (double)o->host_total * 1e-6, (double)o->host_self * 1e-6,
                      (double)o->device_total * 1e-6, (double)o->device_self * 1e-6,
                      tensor_cores_of(t, o));
    }
}

static sb_status answer_operators(sb_profile_ask *p, sb_http_reply *r) {
    sb_profile_table table;
    sb_json j;
    bool by_shape = sb_slice_eq(sb_profile_text(p, "group"), SB_LIT("shape"));
    bool is_device = sb_slice_eq(sb_profile_text(p, "side"), SB_LIT("device"));
    const sb_op_row *ops = by_shape ? p->a->ops_by_shape : p->a->ops;
    size_t count = by_shape ? p->a->op_by_shape_count : p->a->op_count;
    if (!sb_profile_table_init(&table, p, count)) return SB_NOMEM;
    for (size_t i = 0; i < count; i++)
        sb_profile_table_add(&table, i, op_key(&ops[i], &table, is_device),
                             sb_trace_name(p->t, ops[i].name));
    sb_profile_table_finish(&table, MOST_ROWS);
    if (table.is_csv) {
        add_op_csv(r, p->t, ops, &table);
        return SB_OK;
    }
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "rows", table.n);
    sb_json_put_int(&j, "hostPs", p->a->host_time);
    sb_json_put_int(&j, "devicePs", p->a->device_time);
    sb_json_open_array(&j, "items");
    for (size_t i = table.from; i < table.to; i++)
        sb_profile_add_op(&j, p->t, &ops[table.rows[i].index]);
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_operators(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_operators);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static const char *uses_tensor_cores(const sb_trace *t, const sb_kernel_row *row) {
    if (row->kind != SB_SPAN_KERNEL) return "";
    return sb_kernel_uses_tensor_cores(sb_trace_name(t, row->name)) ? "yes" : "no";
}

static void add_kernel(sb_json *j, sb_profile_ask *p, sb_args_reader *reader,
                       const sb_kernel_row *k) {
    const sb_trace *t = p->t;
    sb_alloc alloc = sb_arena_alloc(&p->arena);
    sb_buf args;
    sb_slice category;
    sb_buf_init(&args, &alloc, 1 << 20);
    if (sb_args_add(reader, k->track, k->index, &args, &category, &p->arena, NULL) != SB_OK ||
        args.failed != SB_OK) {
        sb_buf_clear(&args);
        sb_buf_add_str(&args, "{}");
    }
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", k->name);
    sb_json_put_text(j, "name", sb_trace_name(t, k->name));
    sb_json_put_uint(j, "kind", k->kind);
    sb_json_put_text(j, "op", k->op ? sb_trace_name(t, k->op - 1) : SB_LIT(""));
    sb_json_put_uint(j, "calls", k->calls);
    sb_json_put_int(j, "totalPs", k->total);
    sb_json_put_int(j, "meanPs", k->calls ? k->total / (int64_t)k->calls : 0);
    sb_json_put_int(j, "minPs", k->least);
    sb_json_put_int(j, "maxPs", k->greatest);
    sb_json_put_double(j, "occupancy", k->occupancy);
    sb_json_put_double(j, "blocksPerSm", k->blocks_per_sm);
    sb_json_put_str(j, "tensorCores", uses_tensor_cores(t, k));
    sb_json_put_uint(j, "track", k->track);
    sb_json_put_uint(j, "index", k->index);
    sb_json_key_str(j, "args");
    sb_json_raw(j, sb_buf_slice(&args));
    sb_json_end_object(j);
}

static double kernel_key(const sb_kernel_row *k, const sb_profile_table *table) {
    if (sb_profile_table_is_sorted_by(table, "calls")) return (double)k->calls;
    if (sb_profile_table_is_sorted_by(table, "mean"))
        return (double)k->total / (double)(k->calls ? k->calls : 1);
    if (sb_profile_table_is_sorted_by(table, "min")) return (double)k->least;
    if (sb_profile_table_is_sorted_by(table, "max")) return (double)k->greatest;
    if (sb_profile_table_is_sorted_by(table, "occupancy")) return k->occupancy;
    return (double)k->total;
}

static void add_kernel_csv(sb_http_reply *r, const sb_profile_ask *p,
                           const sb_profile_table *table) {
    sb_buf *out = sb_profile_begin_csv(r, "kernels.csv");
    sb_buf_add_str(out, "name,kind,op,calls,total_us,min_us,max_us,occupancy,blocks_per_sm,"
                        "tensor_cores\n");
    for (size_t i = 0; i < table->n; i++) {
        const sb_kernel_row *k = &p->a->kernels[table->rows[i].index];
        sb_csv_add_text(out, table->rows[i].name);
        sb_buf_printf(out, ",%s,", sb_span_kind_name((sb_span_kind)k->kind));
        sb_csv_add_text(out, k->op ? sb_trace_name(p->t, k->op - 1) : SB_LIT(""));
        sb_buf_printf(out, ",%llu,%.6f,%.6f,%.6f,%g,%g,%s\n", (unsigned long long)k->calls,
                      (double)k->total * 1e-6, (double)k->least * 1e-6, (double)k->greatest * 1e-6,
                      k->occupancy, k->blocks_per_sm, uses_tensor_cores(p->t, k));
    }
}

static sb_status answer_kernels(sb_profile_ask *p, sb_http_reply *r) {
    sb_profile_table table;
    sb_json j;
    int64_t total = 0;
    if (!sb_profile_table_init(&table, p, p->a->kernel_count)) return SB_NOMEM;
    for (size_t i = 0; i < p->a->kernel_count; i++) {
        const sb_kernel_row *k = &p->a->kernels[i];
        sb_sum(&total, k->total);
        sb_profile_table_add(&table, i, kernel_key(k, &table), sb_trace_name(p->t, k->name));
    }
    sb_profile_table_finish(&table, MOST_KERNELS);
    if (table.is_csv) {
        add_kernel_csv(r, p, &table);
        return SB_OK;
    }
    sb_args_reader *reader;
    sb_status status = sb_args_open(&reader, p->t, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "rows", table.n);
    sb_json_put_int(&j, "totalPs", total);
    sb_json_open_array(&j, "items");
    for (size_t i = table.from; i < table.to; i++)
        add_kernel(&j, p, reader, &p->a->kernels[table.rows[i].index]);
    sb_json_end_array(&j);
    sb_args_close(reader);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_kernels(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_kernels);
}
