/* profile_path.c: what a step waits for: its critical path, and collectives that wait for other
 * ranks. */
#include "profile/analysis/critical_path.h"
#include "profile/analysis/views.h"
#include "server/api/profile/profile_ask.h"
#include "base/banned.h"

#define MOST_PIECES 20000u
#define MOST_ROWS 200u
#define MOST_WAITS 5000u

/* ---- critical path --------------------------------------------------------------------------- */

static void add_rows(sb_json *j, const sb_trace *t, const sb_path_view *v, int64_t all) {
    sb_json_put_uint(j, "rows", v->row_count);
    sb_json_open_array(j, "items");
    for (size_t i = 0; i < v->row_count && i < MOST_ROWS; i++) {
        const sb_path_row *row = &v->rows[i];
        sb_json_begin_object(j);
        sb_json_put_text(j, "name", row->name ? sb_trace_name(t, row->name - 1) : SB_LIT(""));
        sb_json_put_uint(j, "kind", row->kind);
        sb_json_put_str(j, "state", sb_path_state_name(row->state));
        sb_json_put_bool(j, "device", row->is_device);
        sb_json_put_uint(j, "pieces", row->pieces);
        sb_json_put_int(j, "ps", row->dur);
        sb_json_put_double(j, "share", all > 0 ? (double)row->dur / (double)all : 0);
        sb_json_put_uint(j, "track", row->track);
        sb_json_put_int(j, "index", row->index == SB_NO_INDEX ? -1 : (int64_t)row->index);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static void add_pieces(sb_json *j, const sb_trace *t, const sb_path_view *v) {
    sb_json_put_uint(j, "total", v->total);
    sb_json_open_array(j, "pieces");
    for (size_t i = 0; i < v->n; i++) {
        const sb_path_piece *p = &v->pieces[i];
        const sb_track *k = &t->tracks.items[p->track];
        sb_json_begin_array(j);
        sb_json_uint(j, p->track);
        sb_json_uint(j, p->index == SB_NO_INDEX ? 0 : k->spans.items[p->index].lane);
        sb_json_int(j, p->start);
        sb_json_int(j, p->dur);
        sb_json_uint(j, p->state);
        sb_json_uint(j, p->is_guess);
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
}

static void add_links(sb_json *j, const sb_path_view *v) {
    sb_json_put_bool(j, "linked", v->is_linked);
    sb_json_put_uint(j, "launches", v->launches);
    sb_json_put_uint(j, "waits", v->waits);
    sb_json_put_uint(j, "arrows", v->arrows);
    sb_json_put_uint(j, "guesses", v->guesses);
}

static sb_status answer_path(sb_profile_ask *p, sb_http_reply *r) {
    int64_t wanted = sb_profile_number(p, "step", -1);
    size_t at = wanted < 0 ? sb_typical_step(p->a) : (size_t)wanted;
    sb_path_view v = {.is_linked = true};
    sb_json j;
    bool is_known = at < p->a->step_count;
    if (!is_known && wanted >= 0) return sb_api_fail(r, 404, "not_found", "there is no such step");
    if (is_known) {
        sb_path_ask ask = {.step = at,
                           .most_pieces = MOST_PIECES,
                           .is_expired = sb_profile_is_expired,
                           .ud = p->q};
        sb_status status = sb_view_path(p->a, &ask, &v, &p->arena, sb_http_err(r));
        if (status != SB_OK) return status;
    }
    const sb_step none = {0}, *step = is_known ? &p->a->steps[at] : &none;
    sb_profile_begin(&j, p, r);
    sb_json_put_int(&j, "step", is_known ? (int64_t)at : -1);
    sb_json_put_text(&j, "name", is_known ? sb_trace_name(p->t, step->name) : SB_LIT(""));
    sb_json_put_uint(&j, "source", step->source);
    sb_json_put_int(&j, "startPs", step->start);
    sb_json_put_int(&j, "durationPs", step->dur);
    add_links(&j, &v);
    add_rows(&j, p->t, &v, step->dur);
    add_pieces(&j, p->t, &v);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_path(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_path);
}

/* ---- waits inside collectives ---------------------------------------------------------------- */

static sb_status answer_waits(sb_profile_ask *p, sb_http_reply *r) {
    int64_t from = sb_profile_number(p, "from", 0);
    int64_t to = sb_profile_number(p, "to", p->t->duration);
    sb_wait *waits;
    size_t n;
    uint64_t total;
    sb_json j;
    if (!sb_view_waits(p->t, from, to, MOST_WAITS, &waits, &n, &total, &p->arena)) return SB_NOMEM;
    sb_profile_begin(&j, p, r);
    sb_json_put_uint(&j, "total", total);
    sb_json_open_array(&j, "waits");
    for (size_t i = 0; i < n; i++) {
        sb_json_begin_array(&j);
        sb_json_uint(&j, waits[i].track);
        sb_json_uint(&j, p->t->tracks.items[waits[i].track].spans.items[waits[i].index].lane);
        sb_json_int(&j, waits[i].start);
        sb_json_int(&j, waits[i].wait);
        sb_json_uint(&j, waits[i].last);
        sb_json_end_array(&j);
    }
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_profile_waits(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_waits);
}
