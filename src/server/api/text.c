/* text.c: the texts of one series as harmless HTML, newest first. */
#include "query/kinds/text.h"
#include "base/text/number.h"
#include "server/api/one_series.h"
#include "base/banned.h"

#define MAX_TEXTS 500u

typedef struct text_ask {
    uint64_t from, count;
    bool by_step; /* from is that of the point nearest to step */
    int64_t step;
    bool markdown;
    uint64_t max; /* bytes of each point's HTML */
} text_ask;

static void add_html(sb_json *j, sb_http_request *q, const sb_text_point *point,
                     const text_ask *ask) {
    sb_buf html;
    sb_buf_init(&html, q->alloc, SB_MAX_SMALL_RECORD);
    sb_status status = point->status;
    if (status == SB_OK) status = sb_text_point_render(&html, point, ask->markdown, NULL, NULL);
    if (status == SB_OK) {
        sb_slice whole = sb_buf_slice(&html);
        sb_slice part = whole;
        if (part.n > ask->max) part.n = (size_t)ask->max;
        /* not in the middle of a character */
        while (part.n && part.n < whole.n && (whole.p[part.n] & 0xc0) == 0x80) part.n--;
        sb_json_put_text(j, "html", part);
        if (part.n < whole.n) sb_json_put_uint(j, "bytes", whole.n);
    }
    sb_api_add_point_error(j, status);
    sb_buf_fini(&html);
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
        add_html(j, q, &points[i], ask);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return sb_api_end(j, r);
}

sb_status sb_api_text(sb_http_request *q, sb_http_reply *r, void *opaque) {
    text_ask ask = {0};
    uint64_t markdown;
    sb_slice step = sb_http_query(q, "at");
    ask.by_step = step.p != NULL;
    if (!sb_api_query_number(q, "from", 0, &ask.from) ||
        !sb_api_query_number(q, "count", 50, &ask.count) ||
        !sb_api_query_number(q, "max", UINT64_MAX, &ask.max) ||
        !sb_api_query_number(q, "markdown", 1, &markdown) || markdown > 1 ||
        ask.count > MAX_TEXTS || (step.p && !sb_parse_int64(step, &ask.step)))
        return sb_api_fail(r, 400, "invalid",
                           "from, at, count and max must be whole numbers, count at most %u, "
                           "markdown 0 or 1",
                           MAX_TEXTS);
    ask.markdown = markdown == 1;
    sb_series series;
    sb_json j;
    sb_api_begin(&j, r, opaque);
    sb_status status = sb_api_take_series(q, r, opaque, &series);
    if (status != SB_OK) return status == SB_END ? SB_OK : status;
    status = answer_texts(&j, q, r, opaque, &series, &ask);
    sb_series_release(&series);
    return status;
}
