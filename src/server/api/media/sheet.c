/* sheet.c: a contact sheet: many pictures with their names in one file.
 *
 * The file is an SVG with the thumbnails inside it, so that names in any script are text in the
 * viewer's own fonts. It is sent as a download only, never to be shown by this origin. */
#include <stdio.h>
#include <string.h>

#include "base/text/base64.h"
#include "server/api/media/picture_ref.h"
#include "base/banned.h"

#define MOST_CELLS 2000u
#define LEAST_SIZE 16
#define MOST_SIZE 1024
#define MOST_BYTES ((size_t)128 << 20)
#define GAP 8
#define LINE 18 /* of text */
#define MARGIN 16

typedef struct sheet {
    sb_http_request *q;
    sb_http_reply *r;
    sb_app *app;
    sb_buf *out;
    int size;
} sheet;

/* Text for XML: what has a meaning there is escaped, what may not be there is left out. */
static void add_text(sb_buf *out, const char *text) {
    for (const char *p = text; p && *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '<')
            sb_buf_add_str(out, "&lt;");
        else if (c == '>')
            sb_buf_add_str(out, "&gt;");
        else if (c == '&')
            sb_buf_add_str(out, "&amp;");
        else if (c == '"')
            sb_buf_add_str(out, "&quot;");
        else if (c >= 0x20)
            sb_buf_add_byte(out, c);
    }
}

static void add_label(const sheet *s, const char *look, int x, int y, const char *text) {
    sb_buf_printf(s->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", look, x, y);
    add_text(s->out, text);
    sb_buf_add_str(s->out, "</text>\n");
}

/* The thumbnail as a PNG; SB_NOT_FOUND when there is none to show. */
static sb_status thumbnail_of(const sheet *s, const sb_picture_ref *ref, sb_buf *png) {
    char key[SB_PICTURE_KEY + 48], name[SB_PICTURE_KEY];
    sb_slice bytes;
    sb_picture picture;
    sb_picture_ref_name(name, ref);
    int n = snprintf(key, sizeof key, "t%s-%d-0", name, s->size);
    sb_slice whole = sb_slice_of(key, (size_t)n);
    if (sb_made_find(s->app, s->q, whole, png)) return SB_OK;
    sb_arena_mark mark = sb_arena_here(s->q->arena);
    sb_status status = sb_picture_ref_bytes(ref, s->q, s->r, s->app, &bytes);
    if (status == SB_OK)
        status = sb_picture_ref_decode(&picture, bytes, (uint32_t)s->size, 0, s->q, s->r);
    sb_arena_reset(s->q->arena, mark);
    if (status == SB_OK) {
        status = sb_made_png(png, &picture, s->q, sb_http_err(s->r));
        sb_picture_free(&picture);
    }
    sb_made_keep(s->app, whole, status == SB_OK ? sb_buf_slice(png) : (sb_slice){NULL, 0});
    return status;
}

static sb_status add_cell(const sheet *s, const json_t *cell, int x, int y) {
    const char *tag = json_string_value(json_object_get(cell, "tag")),
               *at = json_string_value(json_object_get(cell, "at"));
    json_int_t run = json_integer_value(json_object_get(cell, "run"));
    json_int_t sample = json_integer_value(json_object_get(cell, "sample"));
    sb_picture_ref ref = {
        .tag = tag ? sb_slice_of(tag, json_string_length(json_object_get(cell, "tag")))
                   : (sb_slice){0}};
    bool is_one = tag && at && run >= 0 && run <= UINT32_MAX && sample >= 0 && sample < INT32_MAX &&
                  sb_picture_ref_at(sb_slice_str(at), &ref.offset, &ref.crc);
    sb_buf png;
    sb_buf_init(&png, s->q->alloc, MOST_BYTES);
    ref.run = (uint32_t)run;
    ref.index = (uint32_t)sample;
    sb_status status = is_one ? thumbnail_of(s, &ref, &png) : SB_END;
    if (status == SB_OK) {
        sb_buf_printf(
            s->out,
            "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" href=\"data:image/png;base64,", x,
            y, s->size, s->size);
        sb_base64_add(s->out, sb_buf_slice(&png), SB_BASE64);
        sb_buf_add_str(s->out, "\"/>\n");
    } else {
        sb_buf_printf(s->out,
                      "<rect class=\"none\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x, y,
                      s->size, s->size);
    }
    sb_buf_fini(&png);
    add_label(s, "label", x, y + s->size + LINE - 5,
              json_string_value(json_object_get(cell, "label")));
    /* one picture that can't be shown leaves its place empty */
    return status == SB_TIMEOUT || status == SB_NOMEM ? status : SB_OK;
}

static sb_status add_sheet_row(const sheet *s, const json_t *row, int y) {
    const json_t *cells = json_object_get(row, "cells"), *cell;
    sb_status status = SB_OK;
    size_t i;
    add_label(s, "row", MARGIN, y + LINE - 5, json_string_value(json_object_get(row, "label")));
    json_array_foreach(cells, i, cell) {
        if (status == SB_OK && json_is_object(cell))
            status = add_cell(s, cell, MARGIN + (int)i * (s->size + GAP), y + LINE);
    }
    return status;
}

/* How many columns; 0 when the request makes no sense. */
static size_t count_columns(const json_t *rows) {
    size_t columns = 0, cells = 0, i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        size_t n = json_array_size(json_object_get(row, "cells"));
        cells += n;
        if (n > columns) columns = n;
    }
    return cells <= MOST_CELLS ? columns : 0;
}

static sb_status write_sheet(sheet *s, const json_t *body, const json_t *rows, size_t columns) {
    int row_height = s->size + 2 * LINE + GAP, n = (int)json_array_size(rows);
    int width = 2 * MARGIN + (int)columns * (s->size + GAP) - GAP,
        height = 2 * MARGIN + LINE + n * row_height;
    sb_status status = SB_OK;
    size_t i;
    const json_t *row;
    sb_buf_printf(
        s->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\">\n"
        "<style>text{font:12px "
        "system-ui,sans-serif;fill:#17202c}.title{font-weight:600;font-size:14px}"
        ".row{font-weight:600}.label{fill:#55606f;font-size:11px}image{image-rendering:auto}"
        ".none{fill:none;stroke:#c3c9d2;stroke-dasharray:4 4}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height);
    add_label(s, "title", MARGIN, MARGIN + 4, json_string_value(json_object_get(body, "title")));
    json_array_foreach(rows, i, row) {
        if (status == SB_OK) status = add_sheet_row(s, row, MARGIN + LINE + (int)i * row_height);
    }
    sb_buf_add_str(s->out, "</svg>\n");
    return status;
}

static sb_status answer_sheet(sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const json_t *body) {
    const json_t *rows = json_object_get(body, "rows");
    json_int_t size = json_integer_value(json_object_get(body, "size"));
    size_t columns = json_is_array(rows) ? count_columns(rows) : 0;
    if (columns == 0 || json_array_size(rows) > MOST_CELLS || size < LEAST_SIZE || size > MOST_SIZE)
        return sb_api_fail(r, 400, "invalid", "rows hold 1 to %u cells, size is %d to %d",
                           MOST_CELLS, LEAST_SIZE, MOST_SIZE);
    sb_buf out;
    sb_buf_init(&out, q->alloc, MOST_BYTES);
    sheet s = {.q = q, .r = r, .app = app, .out = &out, .size = (int)size};
    sb_api_version(r, app);
    sb_status status = write_sheet(&s, body, rows, columns);
    if (status == SB_OK) status = sb_buf_check(&out, "a contact sheet", sb_http_err(r));
    if (status == SB_OK) {
        /* what a cell that failed has left there */
        sb_http_status(r, 200);
        sb_buf_clear(sb_http_body(r));
        sb_buf_add_slice(sb_http_body(r), sb_buf_slice(&out));
        sb_http_type(r, "image/svg+xml");
        sb_http_user_content(r, SB_LIT("contact-sheet.svg"));
    }
    sb_buf_fini(&out);
    return status;
}

sb_status sb_api_sheet(sb_http_request *q, sb_http_reply *r, void *opaque) {
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    sb_status status = answer_sheet(q, r, opaque, body);
    json_decref(body);
    return status;
}
