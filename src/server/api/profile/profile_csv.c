/* profile_csv.c: the tables of a profile that are no operators and no kernels, whole, as CSV:
 * steps, memory by operator, stages of the input pipeline, modules, collectives. Times are
 * microseconds. */
#include "profile/analysis/views.h"
#include "query/csv.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

static void add_us(sb_buf *out, int64_t ps) {
    sb_buf_printf(out, ",%.6f", (double)ps * 1e-6);
}

static void add_count(sb_buf *out, uint64_t n) {
    sb_buf_printf(out, ",%llu", (unsigned long long)n);
}

static void add_bytes(sb_buf *out, int64_t n) {
    sb_buf_printf(out, ",%lld", (long long)n);
}

static bool add_steps(sb_buf *out, sb_profile_ask *p) {
    sb_buf_add_str(out, "name,number,source,start_us,duration_us");
    for (int i = 0; i < SB_PART_COUNT; i++)
        sb_buf_printf(out, ",%s_us", sb_part_name((sb_step_part)i));
    sb_buf_add_byte(out, '\n');
    for (size_t i = 0; i < p->a->step_count; i++) {
        const sb_step *s = &p->a->steps[i];
        sb_csv_add_text(out, sb_trace_name(p->t, s->name));
        add_bytes(out, s->number);
        sb_buf_add_byte(out, ',');
        sb_csv_add_text(out, p->t->sources.items[s->source].name);
        add_us(out, s->start);
        add_us(out, s->dur);
        for (int k = 0; k < SB_PART_COUNT; k++) add_us(out, s->parts[k]);
        sb_buf_add_byte(out, '\n');
    }
    return true;
}

static bool add_memory(sb_buf *out, sb_profile_ask *p) {
    int64_t wanted = sb_profile_number(p, "device", -1);
    sb_buf_add_str(out, "device,name,allocations,bytes,freed_bytes,peak_bytes,peak_count\n");
    for (uint32_t i = 0; i < p->t->memory_devices.n; i++) {
        sb_memory_view v;
        if (wanted >= 0 && wanted != (int64_t)i) continue;
        if (!sb_view_memory(p->t, i, 1, &v, &p->arena)) return false;
        for (size_t k = 0; k < v.row_count; k++) {
            const sb_memory_row *row = &v.rows[k];
            sb_csv_add_text(out, p->t->memory_devices.items[i].name);
            sb_buf_add_byte(out, ',');
            sb_csv_add_text(out, row->name ? sb_trace_name(p->t, row->name - 1) : SB_LIT(""));
            add_count(out, row->allocations);
            add_bytes(out, row->bytes);
            add_bytes(out, row->freed);
            add_bytes(out, row->peak);
            add_count(out, row->peak_count);
            sb_buf_add_byte(out, '\n');
        }
    }
    return true;
}

static bool add_input(sb_buf *out, sb_profile_ask *p) {
    sb_input_view v;
    sb_buf_add_str(out, "name,part,calls,slow_calls,total_us,self_us,max_us\n");
    if (!sb_view_input(p->a, &v, &p->arena)) return false;
    for (size_t i = 0; i < v.row_count; i++) {
        sb_slice name = sb_trace_name(p->t, v.rows[i].name);
        sb_csv_add_text(out, name);
        sb_buf_printf(out, ",%s", sb_input_part_name(sb_input_part_of(name)));
        add_count(out, v.rows[i].calls);
        add_count(out, v.rows[i].slow);
        add_us(out, v.rows[i].total);
        add_us(out, v.rows[i].self);
        add_us(out, v.rows[i].greatest);
        sb_buf_add_byte(out, '\n');
    }
    return true;
}

static bool add_modules(sb_buf *out, sb_profile_ask *p) {
    sb_module_view v;
    sb_buf_add_str(out, "depth,name,calls,operators,host_total_us,host_self_us,device_total_us,"
                        "device_self_us\n");
    if (!sb_view_modules(p->t, &v, &p->arena)) return false;
    for (size_t i = 0; i < v.n; i++) {
        const sb_module_row *row = &v.rows[i];
        sb_buf_printf(out, "%u,", row->depth);
        sb_csv_add_text(out, sb_trace_name(p->t, row->name));
        add_count(out, row->calls);
        add_count(out, row->operators);
        add_us(out, row->host_total);
        add_us(out, row->host_self);
        add_us(out, row->device_total);
        add_us(out, row->device_self);
        sb_buf_add_byte(out, '\n');
    }
    return true;
}

static bool add_collectives(sb_buf *out, sb_profile_ask *p) {
    sb_rank_view v;
    sb_buf_add_str(out, "name,calls,bytes,transfer_us,max_us,rank,wait_us\n");
    if (!sb_view_ranks(p->a, &v, &p->arena)) return false;
    for (size_t i = 0; i < v.collective_count; i++)
        for (size_t k = 0; k < v.rank_count; k++) {
            const sb_collective_row *row = &v.collectives[i];
            sb_csv_add_text(out, sb_trace_name(p->t, row->name));
            add_count(out, row->calls);
            add_bytes(out, row->bytes);
            add_us(out, row->transfer);
            add_us(out, row->greatest);
            sb_buf_add_byte(out, ',');
            sb_csv_add_text(out, p->t->sources.items[v.ranks[k].source].name);
            add_us(out, row->wait[k]);
            sb_buf_add_byte(out, '\n');
        }
    return true;
}

static sb_status answer_csv(sb_profile_ask *p, sb_http_reply *r) {
    static const struct {
        const char *table, *file;
        bool (*add)(sb_buf *out, sb_profile_ask *p);
    } tables[] = {{"steps", "steps.csv", add_steps},
                  {"memory", "memory.csv", add_memory},
                  {"input", "input.csv", add_input},
                  {"modules", "modules.csv", add_modules},
                  {"collectives", "collectives.csv", add_collectives}};
    sb_slice wanted = sb_profile_text(p, "table");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (sb_slice_eq(wanted, sb_slice_str(tables[i].table)))
            return tables[i].add(sb_profile_begin_csv(r, tables[i].file), p) ? SB_OK : SB_NOMEM;
    return sb_api_fail(r, 404, "not_found",
                       "there is no such table: steps, memory, input, modules, collectives");
}

sb_status sb_api_profile_csv(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_csv);
}
