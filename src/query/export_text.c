/* export_text.c: lines of CSV, objects of JSON. */
#include "query/export_text.h"

#include "base/text/json.h"
#include "base/text/number.h"
#include "query/csv.h"
#include "base/banned.h"

#define MAX_NAMES ((size_t)64 << 20)

static void add_int(sb_buf *out, int64_t x) {
    if (!sb_buf_reserve(out, SB_NUMBER_ROOM)) return;
    out->n += sb_print_int64((char *)out->p + out->n, x);
}

/* JSON has no NaN and no infinities: there they are texts. */
static void add_number(const sb_export_text *e, sb_buf *out, double x) {
    bool quoted = e->json && (x != x || x - x != 0);
    if (quoted) sb_buf_add_byte(out, '"');
    if (sb_buf_reserve(out, SB_NUMBER_ROOM)) out->n += sb_print_double((char *)out->p + out->n, x);
    if (quoted) sb_buf_add_byte(out, '"');
}

void sb_export_text_begin(sb_export_text *x, sb_buf *out, bool json, const sb_alloc *alloc) {
    *x = (sb_export_text){.out = out, .json = json};
    sb_buf_init(&x->names, alloc, MAX_NAMES);
    if (!json) sb_buf_add_str(out, "run,tag,step,wall_time,value\n");
}

void sb_export_text_series(sb_export_text *x, sb_slice run, sb_slice tag) {
    sb_buf *names = &x->names;
    sb_buf_clear(names);
    if (x->json) {
        sb_buf_add_str(names, "{\"run\": ");
        sb_json_quote(names, run, true);
        sb_buf_add_str(names, ", \"tag\": ");
        sb_json_quote(names, tag, true);
        sb_buf_add_str(names, ", \"step\": ");
    } else {
        sb_csv_add_text(names, run);
        sb_buf_add_byte(names, ',');
        sb_csv_add_text(names, tag);
        sb_buf_add_byte(names, ',');
    }
    if (names->failed && !x->out->failed) x->out->failed = names->failed;
}

void sb_export_text_points(sb_export_text *x, const int64_t *steps, const double *walls,
                           const double *values, size_t n) {
    sb_buf *out = x->out;
    for (size_t i = 0; i < n; i++) {
        if (x->json) sb_buf_add_str(out, x->any ? ",\n" : "[\n");
        x->any = true;
        sb_buf_add_slice(out, sb_buf_slice(&x->names));
        add_int(out, steps[i]);
        sb_buf_add_str(out, x->json ? ", \"wall_time\": " : ",");
        add_number(x, out, walls[i]);
        sb_buf_add_str(out, x->json ? ", \"value\": " : ",");
        add_number(x, out, values[i]);
        sb_buf_add_byte(out, x->json ? '}' : '\n');
    }
}

void sb_export_text_end(sb_export_text *x) {
    if (x->json) sb_buf_add_str(x->out, x->any ? "\n]\n" : "[]\n");
    sb_buf_fini(&x->names);
}
