/* data_table.c: Google's DataTable as JSON, or its CSV. */
#include "server/compat/data_table.h"

#include "base/text/number.h"
#include "query/csv.h"
#include "base/banned.h"

void sb_data_begin(sb_data *d, sb_http_reply *r, sb_slice csv) {
    *d = (sb_data){0};
    if (csv.n) {
        sb_http_type(r, "text/csv; charset=utf-8");
        sb_http_user_content(r, csv);
        d->csv = sb_http_body(r);
    } else {
        sb_compat_json_begin(&d->j, r);
    }
}

sb_status sb_data_end(sb_data *d, sb_http_reply *r) {
    if (d->csv) return d->csv->failed;
    if (d->is_list) sb_json_end_array(&d->j);
    return sb_compat_json_end(&d->j, r);
}

void sb_data_open_list(sb_data *d) {
    d->is_list = true;
    if (!d->csv) sb_json_begin_array(&d->j);
}

void sb_data_add_nothing(sb_data *d) {
    if (d->csv) return;
    sb_json_begin_object(&d->j);
    sb_json_end_object(&d->j);
}

/* ---- CSV: of the first table only ------------------------------------------------------------ */

static void add_csv(sb_data *d, sb_slice text) {
    if (d->tables > 1) return;
    if (d->cells++) sb_buf_add_byte(d->csv, ',');
    sb_csv_add_quoted(d->csv, text);
}

static void end_line(sb_data *d) {
    if (d->tables == 1) sb_buf_add_byte(d->csv, '\n');
    d->cells = 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

void sb_data_begin_table(sb_data *d, const sb_data_column *columns, size_t n) {
    d->tables++;
    if (d->csv) {
        for (size_t i = 0; i < n; i++) add_csv(d, sb_slice_str(columns[i].label));
        end_line(d);
        return;
    }
    sb_json_begin_object(&d->j);
    sb_json_open_array(&d->j, "cols");
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_object(&d->j);
        sb_json_put_str(&d->j, "id", columns[i].id);
        sb_json_put_str(&d->j, "label", columns[i].label);
        sb_json_put_str(&d->j, "type", columns[i].type);
        sb_json_end_object(&d->j);
    }
    sb_json_end_array(&d->j);
    sb_json_open_array(&d->j, "rows");
}

void sb_data_begin_row(sb_data *d) {
    if (d->csv) return;
    sb_json_begin_object(&d->j);
    sb_json_open_array(&d->j, "c");
}

void sb_data_end_row(sb_data *d) {
    if (d->csv) {
        end_line(d);
        return;
    }
    sb_json_end_array(&d->j);
    sb_json_end_object(&d->j);
}

void sb_data_add_number(sb_data *d, double x) {
    if (d->csv) {
        char text[SB_NUMBER_ROOM];
        add_csv(d, sb_slice_of(text, sb_print_double(text, x)));
        return;
    }
    sb_json_begin_object(&d->j);
    sb_json_put_double(&d->j, "v", x);
    sb_json_end_object(&d->j);
}

void sb_data_add_count(sb_data *d, uint64_t n) {
    if (d->csv) {
        char text[SB_NUMBER_ROOM];
        add_csv(d, sb_slice_of(text, sb_print_uint64(text, n)));
        return;
    }
    sb_json_begin_object(&d->j);
    sb_json_put_uint(&d->j, "v", n);
    sb_json_end_object(&d->j);
}

void sb_data_add_bool(sb_data *d, bool x) {
    if (d->csv) {
        add_csv(d, x ? SB_LIT("True") : SB_LIT("False")); /* as Python writes them */
        return;
    }
    sb_json_begin_object(&d->j);
    sb_json_put_bool(&d->j, "v", x);
    sb_json_end_object(&d->j);
}

void sb_data_add_text(sb_data *d, sb_slice text) {
    if (d->csv) {
        add_csv(d, text);
        return;
    }
    sb_json_begin_object(&d->j);
    sb_json_put_text(&d->j, "v", text);
    sb_json_end_object(&d->j);
}

void sb_data_begin_properties(sb_data *d) {
    if (d->csv) return;
    sb_json_end_array(&d->j);
    sb_json_open_object(&d->j, "p");
}

void sb_data_add_property(sb_data *d, const char *key, sb_slice text) {
    if (!d->csv) sb_json_put_text(&d->j, key, text);
}

void sb_data_end_table(sb_data *d) {
    if (d->csv) return;
    sb_json_end_object(&d->j);
    sb_json_end_object(&d->j);
}
