/* profile_kernels.c: XProf's table of kernels. Kernels of one name are one row here, with the
 * launch parameters of the longest of them, which are read again from the file; XProf has a row for
 * each set of parameters. */
#include <jansson.h>
#include <stdio.h>

#include "base/text/number.h"
#include "profile/read/read.h"
#include "profile/trace/classify.h"
#include "server/compat/data_table.h"
#include "server/compat/profile/profile_tools.h"
#include "base/banned.h"

#define MOST_KERNELS 500u

typedef struct launch {
    double registers, shared;
    char grid[64], block[64];
} launch;

/* ---- launch parameters ----------------------------------------------------------------------- */

/* "1,2,3" of an XSpace is used as it is; Kineto has an array of three. */
static void set_dimensions(char *to, size_t room, const json_t *of) {
    if (json_array_size(of) == 3)
        snprintf(to, room, "%.0f,%.0f,%.0f", json_number_value(json_array_get(of, 0)),
                 json_number_value(json_array_get(of, 1)),
                 json_number_value(json_array_get(of, 2)));
}

static void take_detail(launch *l, sb_slice key, sb_slice value) {
    double number = 0;
    if (sb_slice_eq(key, SB_LIT("grid")))
        snprintf(l->grid, sizeof l->grid, "%.*s", SB_SHOWN(value));
    else if (sb_slice_eq(key, SB_LIT("block")))
        snprintf(l->block, sizeof l->block, "%.*s", SB_SHOWN(value));
    else if (!sb_parse_double(value, &number))
        return;
    else if (sb_slice_eq(key, SB_LIT("regs")))
        l->registers = number;
    else if (sb_slice_eq(key, SB_LIT("static_shared")) ||
             sb_slice_eq(key, SB_LIT("dynamic_shared")))
        l->shared += number;
}

/* "regs:32 static_shared:0 grid:1,1,1 ...", split by blanks or by ends of lines. */
static void take_details(launch *l, sb_slice text) {
    size_t at = 0;
    while (at < text.n) {
        size_t end = at, colon = text.n;
        for (; end < text.n && text.p[end] != ' ' && text.p[end] != '\n'; end++)
            if (text.p[end] == ':' && colon == text.n) colon = end;
        if (colon < end)
            take_detail(l, sb_slice_of(text.p + at, colon - at),
                        sb_slice_of(text.p + colon + 1, end - colon - 1));
        at = end + 1;
    }
}

static void find_launch(launch *l, sb_http_request *q, sb_args_reader *reader,
                        const sb_kernel_row *k) {
    sb_buf args;
    sb_slice category;
    sb_arena_mark mark = sb_arena_here(q->arena);
    *l = (launch){0};
    sb_buf_init(&args, q->alloc, 1 << 20);
    json_t *of = NULL;
    if (sb_args_add(reader, k->track, k->index, &args, &category, q->arena, NULL) == SB_OK &&
        args.failed == SB_OK)
        of = json_loadb((const char *)args.p, args.n, 0, NULL);
    const json_t *details = json_object_get(of, "kernel_details");
    if (json_is_string(details)) {
        take_details(l, sb_slice_of(json_string_value(details), json_string_length(details)));
    } else {
        l->registers = json_number_value(json_object_get(of, "registers per thread"));
        l->shared = json_number_value(json_object_get(of, "shared memory"));
        set_dimensions(l->grid, sizeof l->grid, json_object_get(of, "grid"));
        set_dimensions(l->block, sizeof l->block, json_object_get(of, "block"));
    }
    json_decref(of);
    sb_buf_fini(&args);
    sb_arena_reset(q->arena, mark);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_kernel(sb_data *d, const sb_trace *t, const sb_kernel_row *k, const launch *l,
                       uint64_t rank) {
    sb_slice name = sb_trace_name(t, k->name);
    sb_slice op = k->op ? sb_trace_name(t, k->op - 1) : SB_LIT("");
    double calls = (double)(k->calls ? k->calls : 1);
    sb_data_begin_row(d);
    sb_data_add_count(d, rank);
    sb_data_add_text(d, name);
    sb_data_add_number(d, l->registers);
    sb_data_add_number(d, l->shared);
    sb_data_add_text(d, sb_slice_str(l->block));
    sb_data_add_text(d, sb_slice_str(l->grid));
    sb_data_add_number(d, k->occupancy * 100);
    sb_data_add_bool(d, sb_op_may_use_tensor_cores(op));
    sb_data_add_bool(d, sb_kernel_uses_tensor_cores(name));
    sb_data_add_text(d, op);
    sb_data_add_count(d, k->calls);
    sb_data_add_number(d, (double)k->total * 1e-6);
    sb_data_add_number(d, (double)k->total * 1e-6 / calls);
    sb_data_add_number(d, (double)k->least * 1e-6);
    sb_data_add_number(d, (double)k->greatest * 1e-6);
    sb_data_end_row(d);
}

SB_PROFILE_TOOL(kernels) {
    static const sb_data_column columns[] = {
        {"rank", "Rank", "number"},
        {"kernel_name", "Kernel Name", "string"},
        {"registers_per_thread", "Registers per thread", "number"},
        {"shmem_bytes", "Shared Mem bytes", "number"},
        {"block_dim", "Block dim", "string"},
        {"grid_dim", "Grid dim", "string"},
        {"occupancy_pct", "Theoretical Occupancy %", "number"},
        {"is_op_tensor_core_eligible", "Op is TensorCore eligible", "boolean"},
        {"is_kernel_using_tensor_core", "Kernel uses TensorCore", "boolean"},
        {"op_name", "Op Name", "string"},
        {"occurrences", "Occurrences", "number"},
        {"total_duration_us", "Total Duration (μs)", "number"},
        {"avg_duration_us", "Avg Duration (μs)", "number"},
        {"min_duration_us", "Min Duration (μs)", "number"},
        {"max_duration_us", "Max Duration (μs)", "number"}};
    uint64_t rank = 0;
    sb_data d;
    sb_args_reader *reader;
    sb_status status = sb_args_open(&reader, a->t, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_data_begin(&d, r, csv);
    sb_data_begin_table(&d, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < a->kernel_count && rank < MOST_KERNELS && status == SB_OK; i++) {
        launch l;
        if (a->kernels[i].kind == SB_SPAN_COPY) continue; /* as XProf: no kernel */
        if (sb_http_expired(q)) status = SB_TIMEOUT;
        find_launch(&l, q, reader, &a->kernels[i]);
        add_kernel(&d, a->t, &a->kernels[i], &l, ++rank);
    }
    sb_args_close(reader);
    if (status != SB_OK) return status;
    sb_data_begin_properties(&d);
    sb_data_end_table(&d);
    return sb_data_end(&d, r);
}
