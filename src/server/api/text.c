/* text.c: the texts of one series, newest first: as harmless HTML, or as they were logged. */
#include "query/kinds/text.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "markup/maths.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_TEXTS 500u
#define MAX_SLICE (SB_MAX_RANK - 2)

typedef struct text_ask {
    uint64_t from, count;
    bool by_step; /* from is that of the point nearest to step */
    int64_t step;
    bool markdown, raw, maths;
    uint64_t max;              /* bytes of each point's HTML or strings */
    uint64_t slice[MAX_SLICE]; /* of tensors with more than two dimensions: the first indices */
    size_t slice_n;
} text_ask;

/* Bytes of a text up to max, not in the middle of a character. */
static sb_slice beginning_of(sb_slice whole, uint64_t max) {
    sb_slice part = whole;
    if (part.n > max) part.n = (size_t)max;
    while (part.n && part.n < whole.n && (whole.p[part.n] & 0xc0) == 0x80) part.n--;
    return part;
}

/* The two-dimensional part that is wanted of a tensor with more dimensions. */
static sb_text_point slice_of(const sb_text_point *point, const text_ask *ask) {
    sb_text_point part = *point;
    if (point->status != SB_OK || point->rank <= 2) return part;
    size_t first = 0, size = point->n;
    for (size_t i = 0; i + 2 < point->rank; i++) {
        uint64_t dim = point->dims[i], at = i < ask->slice_n ? ask->slice[i] : 0;
        if (dim == 0) return part;
        size /= (size_t)dim;
        first += (size_t)(at < dim ? at : dim - 1) * size;
    }
    if (first > point->n || size > point->n - first) return part;
    part.strings = point->strings + first;
    part.n = size;
    part.dims = point->dims + point->rank - 2;
    part.rank = 2;
    return part;
}

static sb_status render_point(sb_buf *html, sb_http_request *q, sb_text_point *point,
                              const text_ask *ask, sb_formulas *found) {
    sb_slice *marked = NULL;
    if (ask->maths && ask->markdown) {
        marked = sb_arena_zeroed(q->arena, point->n, sizeof *marked);
        if (!marked) return SB_NOMEM;
        for (size_t i = 0; i < point->n; i++) {
            sb_buf text;
            sb_buf_init(&text, q->alloc, SB_MAX_SMALL_RECORD);
            sb_status status = sb_maths_take(&text, point->strings[i], found, q->alloc);
            if (status == SB_OK) status = text.failed;
            marked[i] = sb_arena_dup(q->arena, sb_buf_slice(&text));
            sb_buf_fini(&text);
            if (status != SB_OK || !marked[i].p) return status == SB_OK ? SB_NOMEM : status;
        }
        point->strings = marked;
    }
    return sb_text_point_render(html, point, ask->markdown, NULL, NULL);
}

static void add_formulas(sb_json *j, const sb_formulas *found) {
    if (found->n == 0) return;
    sb_json_key_str(j, "maths");
    sb_json_begin_array(j);
    for (size_t i = 0; i < found->n; i++) {
        sb_json_begin_object(j);
        sb_json_put_text(j, "tex", found->items[i].tex);
        sb_json_put_bool(j, "display", found->items[i].display);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static sb_status add_html(sb_json *j, sb_http_request *q, sb_text_point *point,
                          const text_ask *ask) {
    sb_buf html;
    sb_formulas found = {0};
    sb_buf_init(&html, q->alloc, SB_MAX_SMALL_RECORD);
    sb_status status = render_point(&html, q, point, ask, &found);
    if (status == SB_OK) {
        sb_slice whole = sb_buf_slice(&html), part = beginning_of(whole, ask->max);
        sb_json_put_text(j, "html", part);
        if (part.n < whole.n) sb_json_put_uint(j, "bytes", whole.n);
        add_formulas(j, &found);
    }
    SB_VEC_FREE(&found, q->alloc);
    sb_buf_fini(&html);
    return status;
}

static void add_strings(sb_json *j, const sb_text_point *point, const text_ask *ask) {
    uint64_t left = ask->max, whole = 0;
    sb_json_key_str(j, "strings");
    sb_json_begin_array(j);
    for (size_t i = 0; i < point->n; i++) {
        sb_slice part = beginning_of(point->strings[i], left);
        whole += point->strings[i].n;
        left -= part.n;
        if (i == 0 || part.n || point->strings[i].n == 0) sb_json_text(j, part);
    }
    sb_json_end_array(j);
    if (whole > ask->max) sb_json_put_uint(j, "bytes", whole);
}

static uint64_t bad_bytes(const sb_text_point *point) {
    uint64_t bad = 0;
    for (size_t i = 0; i < point->n; i++) {
        sb_slice text = point->strings[i];
        if (sb_utf8_valid(text)) continue;
        while (text.n) {
            size_t n = sb_utf8_char(text);
            bad += n == 0;
            text = sb_slice_of(text.p + (n ? n : 1), text.n - (n ? n : 1));
        }
    }
    return bad;
}

static void add_text(sb_json *j, sb_http_request *q, const sb_text_point *whole,
                     const text_ask *ask) {
    sb_text_point point = slice_of(whole, ask);
    sb_status status = point.status;
    if (status == SB_OK && whole->rank) {
        sb_json_key_str(j, "dims");
        sb_json_begin_array(j);
        for (size_t i = 0; i < whole->rank; i++) sb_json_uint(j, whole->dims[i]);
        sb_json_end_array(j);
    }
    uint64_t bad = status == SB_OK ? bad_bytes(&point) : 0;
    if (bad) sb_json_put_uint(j, "badBytes", bad);
    if (status == SB_OK && ask->raw)
        add_strings(j, &point, ask);
    else if (status == SB_OK)
        status = add_html(j, q, &point, ask);
    sb_api_add_point_error(j, status);
}

/* The newest first. */
static void reverse_items(sb_ref_item *items, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        sb_ref_item kept = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = kept;
    }
}

/* The newest of those that are equally near. */
static size_t nearest_item(const sb_ref_item *items, size_t n, int64_t step) {
    size_t best = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t away = items[i].step > step ? (uint64_t)items[i].step - (uint64_t)step
                                             : (uint64_t)step - (uint64_t)items[i].step;
        if (away < least) least = away, best = i;
    }
    return best;
}

static sb_status answer_texts(sb_json *j, sb_http_request *q, sb_http_reply *r, sb_app *app,
                              const sb_series *series, const text_ask *ask) {
    sb_ref_item *items;
    size_t n;
    sb_budget budget = sb_api_budget(q);
    sb_status status =
        sb_refs_list(series, &(sb_ref_ask){0}, q->arena, &items, &n, NULL, sb_http_err(r));
    if (status != SB_OK) return status;
    reverse_items(items, n);
    size_t first = ask->by_step ? nearest_item(items, n, ask->step) : n;
    if (!ask->by_step && ask->from < n) first = (size_t)ask->from;
    size_t shown = n - first < ask->count ? n - first : (size_t)ask->count;
    sb_text_point *points = sb_arena_zeroed(q->arena, shown, sizeof *points);
    if (!points) return SB_NOMEM;
    status = sb_texts_read(app->blobs, series->run, items + first, shown, SB_MAX_SMALL_RECORD,
                           &budget, q->arena, points, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_json_put_uint(j, "total", n);
    sb_json_put_uint(j, "from", first);
    sb_json_key_str(j, "points");
    sb_json_begin_array(j);
    for (size_t i = 0; i < shown; i++) {
        sb_json_begin_object(j);
        sb_api_add_point_head(j, points[i].step, points[i].wall);
        add_text(j, q, &points[i], ask);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

/* "2,0,1" */
static bool read_slice(sb_slice text, text_ask *ask) {
    while (text.n) {
        const uint8_t *comma = memchr(text.p, ',', text.n);
        size_t n = comma ? (size_t)(comma - text.p) : text.n;
        if (ask->slice_n == MAX_SLICE ||
            !sb_parse_uint64(sb_slice_of(text.p, n), &ask->slice[ask->slice_n++]))
            return false;
        size_t used = comma ? n + 1 : n;
        text = sb_slice_of(text.p + used, text.n - used);
    }
    return true;
}

static bool read_ask(sb_http_request *q, text_ask *ask) {
    uint64_t markdown, raw, maths;
    sb_slice step = sb_http_query(q, "at");
    ask->by_step = step.p != NULL;
    bool is_good = sb_api_query_number(q, "from", 0, &ask->from) &&
                   sb_api_query_number(q, "count", 50, &ask->count) &&
                   sb_api_query_number(q, "max", UINT64_MAX, &ask->max) &&
                   sb_api_query_number(q, "markdown", 1, &markdown) && markdown <= 1 &&
                   sb_api_query_number(q, "raw", 0, &raw) && raw <= 1 &&
                   sb_api_query_number(q, "maths", 0, &maths) && maths <= 1 &&
                   ask->count <= MAX_TEXTS && read_slice(sb_http_query(q, "slice"), ask);
    if (!is_good) return false;
    ask->markdown = markdown == 1;
    ask->raw = raw == 1;
    ask->maths = maths == 1;
    return !step.p || sb_parse_int64(step, &ask->step);
}

sb_status sb_api_text(sb_http_request *q, sb_http_reply *r, void *opaque) {
    text_ask ask = {0};
    if (!read_ask(q, &ask))
        return sb_api_fail(r, 400, "invalid",
                           "from, at, count, max and the parts of slice must be whole numbers, "
                           "count at most %u; markdown, raw and maths 0 or 1",
                           MAX_TEXTS);
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, opaque);
    sb_status status = sb_api_take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_texts(&j, q, r, opaque, &series, &ask);
    sb_series_release(&series);
    return status;
}
