/* profile_tables.c: operators and kernels of a profile: sorted, filtered, paged, or all as CSV. */
#include "server/api/profile/profile_tables.h"
#include "base/checked.h"

#include <stdlib.h>

#include "profile/read/read.h"
#include "profile/trace/classify.h"
#include "query/csv.h"
#include "base/banned.h"

#define MOST_ROWS 10000

void sb_table_ask_read(sb_table_ask *out, const sb_profile_ask *p) {
    int64_t offset = sb_profile_number(p, "offset", 0), limit = sb_profile_number(p, "limit", 100);
    *out = (sb_table_ask){.sort = sb_profile_text(p, "sort"), .find = sb_profile_text(p, "find")};
    out->is_ascending = sb_slice_eq(sb_profile_text(p, "descending"), SB_LIT("0"));
    out->is_csv = sb_slice_eq(sb_profile_text(p, "format"), SB_LIT("csv"));
    out->offset = offset > 0 ? (size_t)offset : 0;
    out->limit = limit >= 0 && limit < MOST_ROWS ? (size_t)limit : MOST_ROWS;
}

static int compare_down(const void *a, const void *b) {
    const sb_table_row *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

static int compare_up(const void *a, const void *b) {
    const sb_table_row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

static int compare_names_down(const void *a, const void *b) {
    return -compare_up(a, b);
}

void sb_table_sort(sb_table_row *rows, size_t n, const sb_table_ask *ask) {
    bool is_name = sb_slice_eq(ask->sort, SB_LIT("name"));
    if (n == 0) return;
    if (is_name)
        qsort(rows, n, sizeof *rows, ask->is_ascending ? compare_up : compare_names_down);
    else
        qsort(rows, n, sizeof *rows, ask->is_ascending ? compare_up : compare_down);
}

bool sb_table_wants(const sb_table_ask *ask, sb_slice name) {
    return sb_text_holds(name, ask->find);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* By the names of kernels: a guess. */
static const char *tensor_cores_of(const sb_trace *t, const sb_op_row *row) {
    if (row->tensor_core_kernels) return "yes";
    if (!row->kernels) return "";
    return sb_op_may_use_tensor_cores(sb_trace_name(t, row->name)) ? "eligible" : "no";
}

void sb_profile_add_op(sb_json *j, const sb_trace *t, const sb_op_row *row) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", row->name);
    sb_json_put_text(j, "name", sb_trace_name(t, row->name));
    sb_json_put_uint(j, "kind", row->kind);
    sb_json_put_text(j, "shape", row->shape ? sb_trace_name(t, row->shape - 1) : SB_LIT(""));
    sb_json_put_uint(j, "calls", row->calls);
    sb_json_put_int(j, "hostTotalPs", row->host_total);
    sb_json_put_int(j, "hostSelfPs", row->host_self);
    sb_json_put_int(j, "deviceTotalPs", row->device_total);
    sb_json_put_int(j, "deviceSelfPs", row->device_self);
    sb_json_put_str(j, "tensorCores", tensor_cores_of(t, row));
    sb_json_put_uint(j, "track", row->track);
    sb_json_put_uint(j, "index", row->index);
    sb_json_end_object(j);
}

static double op_key(const sb_op_row *row, sb_slice sort, bool is_device) {
    if (sb_slice_eq(sort, SB_LIT("calls"))) return (double)row->calls;
    if (sb_slice_eq(sort, SB_LIT("name"))) return 0;
    if (sb_slice_eq(sort, SB_LIT("total")))
        return (double)(is_device ? row->device_total : row->host_total);
    return (double)(is_device ? row->device_self : row->host_self);
}

static void add_op_csv(sb_http_reply *r, const sb_trace *t, const sb_op_row *ops,
                       const sb_table_row *rows, size_t n) {
    sb_buf *out = sb_http_body(r);
    sb_http_type(r, "text/csv; charset=utf-8");
    sb_http_user_content(r, SB_LIT("operators.csv"));
    sb_buf_add_str(out, "name,kind,shape,calls,host_total_us,host_self_us,device_total_us,"
                        "device_self_us,tensor_cores\n");
    for (size_t i = 0; i < n; i++) {
        const sb_op_row *o = &ops[rows[i].index];
        sb_csv_add_text(out, rows[i].name);
        sb_buf_printf(out, ",%s,", sb_span_kind_name((sb_span_kind)o->kind));
        sb_csv_add_text(out, o->shape ? sb_trace_name(t, o->shape - 1) : SB_LIT(""));
        sb_buf_printf(out, ",%llu,%.6f,%.6f,%.6f,%.6f,%s\n", (unsigned long long)o->calls,
                      (double)o->host_total * 1e-6, (double)o->host_self * 1e-6,
                      (double)o->device_total * 1e-6, (double)o->device_self * 1e-6,
                      tensor_cores_of(t, o));
    }
}

sb_status sb_api_profile_operators(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_profile_ask p;
    sb_table_ask ask;
    sb_json j;
    sb_status status = sb_profile_ask_begin(&p, q, r, app);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    bool by_shape = sb_slice_eq(sb_profile_text(&p, "group"), SB_LIT("shape"));
    bool is_device = sb_slice_eq(sb_profile_text(&p, "side"), SB_LIT("device"));
    const sb_op_row *ops = by_shape ? p.a->ops_by_shape : p.a->ops;
    size_t count = by_shape ? p.a->op_by_shape_count : p.a->op_count, n = 0;
    sb_table_row *rows = sb_arena_get(&p.arena, (count + 1) * sizeof *rows);
    sb_table_ask_read(&ask, &p);
    for (size_t i = 0; rows && i < count; i++) {
        sb_slice name = sb_trace_name(p.t, ops[i].name);
        if (sb_table_wants(&ask, name))
            rows[n++] = (sb_table_row){i, op_key(&ops[i], ask.sort, is_device), name};
    }
    if (rows) sb_table_sort(rows, n, &ask);
    if (!rows) {
        status = SB_NOMEM;
    } else if (ask.is_csv) {
        add_op_csv(r, p.t, ops, rows, n);
    } else {
        sb_profile_begin(&j, &p, r);
        sb_json_put_uint(&j, "rows", n);
        sb_json_put_int(&j, "hostPs", p.a->host_time);
        sb_json_put_int(&j, "devicePs", p.a->device_time);
        sb_json_key_str(&j, "items");
        sb_json_begin_array(&j);
        for (size_t i = ask.offset; i < n && i - ask.offset < ask.limit; i++)
            sb_profile_add_op(&j, p.t, &ops[rows[i].index]);
        sb_json_end_array(&j);
        status = sb_api_end(&j, r);
    }
    sb_profile_ask_end(&p);
    return status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static const char *uses_tensor_cores(const sb_trace *t, const sb_kernel_row *row) {
    if (row->kind != SB_SPAN_KERNEL) return "";
    return sb_kernel_uses_tensor_cores(sb_trace_name(t, row->name)) ? "yes" : "no";
}

static void add_kernel(sb_json *j, sb_profile_ask *p, const sb_kernel_row *k) {
    const sb_trace *t = p->t;
    sb_alloc alloc = sb_arena_alloc(&p->arena);
    sb_buf args;
    sb_slice category;
    sb_buf_init(&args, &alloc, 1 << 20);
    if (sb_span_args(t, k->track, k->index, &args, &category, &p->arena, NULL) != SB_OK ||
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

static double kernel_key(const sb_kernel_row *k, sb_slice sort) {
    if (sb_slice_eq(sort, SB_LIT("calls"))) return (double)k->calls;
    if (sb_slice_eq(sort, SB_LIT("name"))) return 0;
    if (sb_slice_eq(sort, SB_LIT("mean")))
        return (double)k->total / (double)(k->calls ? k->calls : 1);
    if (sb_slice_eq(sort, SB_LIT("max"))) return (double)k->greatest;
    if (sb_slice_eq(sort, SB_LIT("occupancy"))) return k->occupancy;
    return (double)k->total;
}

static void add_kernel_csv(sb_http_reply *r, const sb_profile_ask *p, const sb_table_row *rows,
                           size_t n) {
    sb_buf *out = sb_http_body(r);
    sb_http_type(r, "text/csv; charset=utf-8");
    sb_http_user_content(r, SB_LIT("kernels.csv"));
    sb_buf_add_str(out, "name,kind,op,calls,total_us,min_us,max_us,occupancy,blocks_per_sm,"
                        "tensor_cores\n");
    for (size_t i = 0; i < n; i++) {
        const sb_kernel_row *k = &p->a->kernels[rows[i].index];
        sb_csv_add_text(out, rows[i].name);
        sb_buf_printf(out, ",%s,", sb_span_kind_name((sb_span_kind)k->kind));
        sb_csv_add_text(out, k->op ? sb_trace_name(p->t, k->op - 1) : SB_LIT(""));
        sb_buf_printf(out, ",%llu,%.6f,%.6f,%.6f,%g,%g,%s\n", (unsigned long long)k->calls,
                      (double)k->total * 1e-6, (double)k->least * 1e-6, (double)k->greatest * 1e-6,
                      k->occupancy, k->blocks_per_sm, uses_tensor_cores(p->t, k));
    }
}

sb_status sb_api_profile_kernels(sb_http_request *q, sb_http_reply *r, void *app) {
    sb_profile_ask p;
    sb_table_ask ask;
    sb_json j;
    size_t n = 0;
    sb_status status = sb_profile_ask_begin(&p, q, r, app);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    sb_table_row *rows = sb_arena_get(&p.arena, (p.a->kernel_count + 1) * sizeof *rows);
    int64_t total = 0;
    sb_table_ask_read(&ask, &p);
    for (size_t i = 0; rows && i < p.a->kernel_count; i++) {
        sb_slice name = sb_trace_name(p.t, p.a->kernels[i].name);
        sb_sum(&total, p.a->kernels[i].total);
        if (sb_table_wants(&ask, name))
            rows[n++] = (sb_table_row){i, kernel_key(&p.a->kernels[i], ask.sort), name};
    }
    if (rows) sb_table_sort(rows, n, &ask);
    if (!rows) {
        status = SB_NOMEM;
    } else if (ask.is_csv) {
        add_kernel_csv(r, &p, rows, n);
    } else {
        if (ask.limit > 500) ask.limit = 500; /* each is read again from the file */
        sb_profile_begin(&j, &p, r);
        sb_json_put_uint(&j, "rows", n);
        sb_json_put_int(&j, "totalPs", total);
        sb_json_key_str(&j, "items");
        sb_json_begin_array(&j);
        for (size_t i = ask.offset; i < n && i - ask.offset < ask.limit; i++)
            add_kernel(&j, &p, &p.a->kernels[rows[i].index]);
        sb_json_end_array(&j);
        status = sb_api_end(&j, r);
    }
    sb_profile_ask_end(&p);
    return status;
}
