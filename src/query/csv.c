/* csv.c: quoting. */
#include "query/csv.h"

#include "base/banned.h"

static bool must_be_quoted(sb_slice text) {
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ',' || text.p[i] == '"' || text.p[i] == '\r' || text.p[i] == '\n')
            return true;
    return false;
}

void sb_csv_add_quoted(sb_buf *out, sb_slice text) {
    sb_buf_add_byte(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"') sb_buf_add_byte(out, '"');
        sb_buf_add_byte(out, text.p[i]);
    }
    sb_buf_add_byte(out, '"');
}

void sb_csv_add_text(sb_buf *out, sb_slice text) {
    if (must_be_quoted(text))
        sb_csv_add_quoted(out, text);
    else
        sb_buf_add_slice(out, text);
}
