/* search_args.c: finds the spans whose arguments contain a text.
 *
 * Arguments are not kept in memory, so each file is read once, from begin to end, and every place
 * that may match is noted. A place belongs to the span whose record starts last before it; that is
 * found for many places at once. In JSON every occurrence of the text is noted, and the record
 * around it is parsed to see whether the text is in its arguments. In an XSpace the events are
 * parsed, because the texts are stored elsewhere in the plane. */
#include "profile/read/search_args.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "profile/read/json_scan.h"
#include "profile/read/read.h"
#include "profile/read/xspace_int.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define PIECE ((size_t)1 << 20)
#define MANY_PLACES ((size_t)4 << 20) /* each time there are so many, all spans are looked at */
#define MOST_EVENT ((size_t)64 << 20)
#define SPELLINGS 3

typedef struct place {
    uint64_t at;
    uint64_t record; /* offset of the record of the span that it belongs to */
    uint32_t track, index;
} place;

typedef SB_VEC(place) place_list;
typedef SB_VEC(int64_t) id_list;

typedef struct searching {
    const sb_trace *t;
    const sb_search_ask *ask;
    const uint8_t *marks; /* by id of a name: its spans were found by it already */
    sb_found_list *out;
    uint32_t source;
    sb_trace_bytes *bytes;
    uint64_t last_record; /* of the last place that was joined */
    place_list places;    /* ascending */
    /* for JSON */
    sb_buf spelled;
    sb_slice spellings[SPELLINGS]; /* slices of `spelled` */
    int spelling_count;
    /* for an XSpace */
    sb_xplane plane;
    id_list shared; /* ids of event metadata whose shared statistics contain the text, ascending */
    uint64_t seen;
} searching;

static bool is_expired(const searching *s) {
    return s->ask->is_expired && s->ask->is_expired(s->ask->ud);
}

static bool note(searching *s, uint64_t at) {
    place *p = SB_VEC_PUSH(&s->places, s->t->alloc, SIZE_MAX);
    if (p) *p = (place){.at = at, .track = SB_NO_INDEX};
    return p != NULL;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Assigns each place to a span: the one whose record is the last to start before it. false: there
 * is no time left. */
static bool assign_spans(searching *s) {
    place_list *all = &s->places;
    qsort(all->items, all->n, sizeof all->items[0], compare_places);
    for (uint32_t i = 0; i < s->t->tracks.n; i++) {
        const sb_track *k = &s->t->tracks.items[i];
        if (sb_track_source(s->t, k) != s->source) continue;
        if (is_expired(s)) return false;
        for (uint32_t n = 0; n < k->spans.n; n++) {
            uint64_t at = k->spans.items[n].at;
            size_t first;
            SB_PARTITION_POINT(first, 0, all->n, all->items[first].at < at);
            if (at == 0 || first == all->n) continue;
            place *p = &all->items[first];
            if (p->track == SB_NO_INDEX || at > p->record) {
                p->record = at;
                p->track = i;
                p->index = n;
            }
        }
    }
    return true;
}

/* Reads the record around a place: is the text in its arguments, and not only in its name or
 * category? */
static bool is_in_args(searching *s, const place *p, sb_buf *args) {
    sb_slice category;
    sb_arena scratch;
    sb_arena_init(&scratch, s->t->alloc, 256, 1 << 20);
    sb_buf_clear(args);
    bool is_read = sb_json_args(s->bytes, p->record, args, &category, &scratch, NULL) == SB_OK;
    sb_arena_fini(&scratch);
    for (int i = 0; is_read && i < s->spelling_count; i++)
        if (sb_text_holds(sb_buf_slice(args), s->spellings[i])) return true;
    return false;
}

static bool is_wanted(const searching *s, const sb_trace_span *span) {
    return !s->marks[span->name] && span->start <= s->ask->to && sb_span_end(span) >= s->ask->from;
}

/* Keeps the spans that the noted places belong to, and forgets the places. */
static sb_status join_places(searching *s) {
    bool is_json = s->t->sources.items[s->source].format != SB_FORMAT_XSPACE;
    sb_buf args;
    sb_status status = s->places.n == 0 || assign_spans(s) ? SB_OK : SB_TIMEOUT;
    sb_buf_init(&args, s->t->alloc, MOST_EVENT);
    for (size_t i = 0; status == SB_OK && i < s->places.n; i++) {
        const place *p = &s->places.items[i];
        if (p->track == SB_NO_INDEX || p->record == s->last_record) continue;
        const sb_trace_span *span = &s->t->tracks.items[p->track].spans.items[p->index];
        if ((i & 0xff) == 0 && is_expired(s)) status = SB_TIMEOUT;
        s->last_record = p->record;
        if (!is_wanted(s, span)) continue;
        if (is_json ? !is_in_args(s, p, &args) : p->record != p->at) continue;
        sb_found_span *f = SB_VEC_PUSH(s->out, s->t->alloc, SIZE_MAX);
        if (f)
            *f = (sb_found_span){p->track, p->index, span->start};
        else
            status = SB_NOMEM;
    }
    sb_buf_fini(&args);
    s->places.n = 0;
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

/* Makes the spellings that JSON allows for the text, in lower case: as it is, with only the
 * escapes that JSON requires, and with every character outside ASCII escaped. */
static sb_status spell_text(searching *s) {
    size_t ends[SPELLINGS] = {0};
    sb_buf *out = &s->spelled;
    for (int i = 0; i < SPELLINGS; i++) {
        size_t begin = out->n;
        if (i == 0)
            sb_buf_add_slice(out, s->ask->text);
        else
            sb_json_quote(out, s->ask->text, i == 1);
        if (sb_buf_check(out, "a text", NULL) != SB_OK) return SB_NOMEM;
        ends[i] = out->n;
        if (i == 0) continue;
        /* removes the quotes around it */
        memmove(out->p + begin, out->p + begin + 1, out->n - begin - 2);
        ends[i] = out->n -= 2;
    }
    for (size_t i = 0; i < out->n; i++) out->p[i] = lower(out->p[i]);
    for (int i = 0; i < SPELLINGS; i++) {
        size_t begin = i ? ends[i - 1] : 0;
        sb_slice one = sb_slice_of(out->p + begin, ends[i] - begin);
        bool is_new = true;
        for (int k = 0; k < s->spelling_count; k++)
            if (sb_slice_eq(s->spellings[k], one)) is_new = false;
        if (is_new) s->spellings[s->spelling_count++] = one;
    }
    return SB_OK;
}

/* Notes each place in the first PIECE bytes at which one spelling begins. */
static sb_status scan_piece(searching *s, sb_slice piece, uint64_t at, sb_slice spelling) {
    const uint8_t *end = piece.p + piece.n;
    for (const uint8_t *p = piece.p;; p++) {
        p = memmem(p, (size_t)(end - p), spelling.p, spelling.n);
        if (!p || (size_t)(p - piece.p) >= PIECE) return SB_OK;
        if (!note(s, at + (uint64_t)(p - piece.p))) return SB_NOMEM;
    }
}

static sb_status scan_json(searching *s) {
    uint64_t size = sb_trace_bytes_size(s->bytes);
    size_t room = PIECE;
    for (int i = 0; i < s->spelling_count; i++)
        if (room < PIECE + s->spellings[i].n) room = PIECE + s->spellings[i].n;
    uint8_t *piece = sb_alloc_get(s->t->alloc, room);
    sb_status status = piece ? SB_OK : SB_NOMEM;
    for (uint64_t at = 0; status == SB_OK && at < size; at += PIECE) {
        if (is_expired(s)) status = SB_TIMEOUT;
        sb_slice from = sb_trace_bytes_need(s->bytes, at, room);
        size_t n = from.n < room ? from.n : room;
        if (!from.p) break;
        for (size_t i = 0; i < n; i++) piece[i] = lower(from.p[i]);
        for (int i = 0; status == SB_OK && i < s->spelling_count; i++)
            status = scan_piece(s, sb_slice_of(piece, n), at, s->spellings[i]);
        if (status == SB_OK && s->places.n >= MANY_PLACES) status = join_places(s);
    }
    if (piece) sb_alloc_put(s->t->alloc, piece, room);
    return status;
}

/* ---- XSpace ---------------------------------------------------------------------------------- */

static bool value_holds(const sb_xvalue *v, sb_slice text) {
    char number[SB_NUMBER_ROOM];
    if (sb_text_holds(v->name, text)) return true;
    switch (v->wire) {
    case SB_XSTAT_STR_VALUE:
    case SB_XSTAT_REF_VALUE:
        return sb_text_holds(v->text, text);
    case SB_XSTAT_INT64_VALUE:
        return sb_text_holds(sb_slice_of(number, sb_print_int64(number, v->number)), text);
    case SB_XSTAT_UINT64_VALUE:
        return sb_text_holds(sb_slice_of(number, sb_print_uint64(number, (uint64_t)v->number)),
                             text);
    default:
        return false;
    }
}

/* Does any statistic (the fields `number` of a message) contain the text? */
static bool stats_hold(const searching *s, sb_slice message, uint32_t number) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number == number && f.wire == SB_PB_BYTES &&
            sb_xplane_value(&s->plane, f.bytes, &v) && value_holds(&v, s->ask->text))
            return true;
    }
    return false;
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool find_shared(searching *s) {
    sb_fields it = {s->bytes, s->plane.at, s->plane.end, false};
    sb_file_field f;
    s->shared.n = 0;
    while (sb_fields_next(&it, &f)) {
        sb_pb_field entry;
        int64_t id = 0;
        if (f.number != SB_XPLANE_EVENT_METADATA || f.wire != SB_PB_BYTES) continue;
        sb_pb c = sb_pb_over(sb_fields_load(&it, &f, MOST_EVENT));
        while (sb_pb_next(&c, &entry) == SB_PB_FIELD) {
            if (entry.number == 1) id = sb_pb_int64(&entry);
            if (entry.number != 2 || entry.wire != SB_PB_BYTES) continue;
            if (!stats_hold(s, entry.bytes, SB_XEVENT_META_STATS) &&
                !sb_text_holds(sb_xplane_long_name(entry.bytes), s->ask->text))
                continue;
            int64_t *kept = SB_VEC_PUSH(&s->shared, s->t->alloc, SIZE_MAX);
            if (!kept) return false;
            *kept = id;
        }
    }
    if (s->shared.n) qsort(s->shared.items, s->shared.n, sizeof(int64_t), compare_ids);
    return true;
}

static bool event_holds(const searching *s, sb_slice event) {
    sb_pb c = sb_pb_over(event);
    sb_pb_field f;
    size_t i;
    while (s->shared.n && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != SB_XEVENT_METADATA_ID) continue;
        int64_t id = sb_pb_int64(&f);
        SB_PARTITION_POINT(i, 0, s->shared.n, s->shared.items[i] < id);
        if (i < s->shared.n && s->shared.items[i] == id) return true;
    }
    return stats_hold(s, event, SB_XEVENT_STATS);
}

static sb_status scan_line(searching *s, const sb_file_field *line) {
    sb_fields it = {s->bytes, line->at, line->at + line->n, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f)) {
        if (f.number != SB_XLINE_EVENTS || f.wire != SB_PB_BYTES) continue;
        if ((++s->seen & 0xfff) == 0 && is_expired(s)) return SB_TIMEOUT;
        if (event_holds(s, sb_fields_load(&it, &f, MOST_EVENT)) &&
            !note(s, f.at - sb_pb_varint_size(f.n)))
            return SB_NOMEM;
        if (s->places.n < MANY_PLACES) continue;
        sb_status status = join_places(s);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static sb_status scan_plane(searching *s, const sb_plane_place *of, sb_err *err) {
    sb_trace scratch = {.alloc = s->t->alloc};
    sb_status status = sb_xplane_read(&s->plane, &scratch, s->bytes, of->at, of->n, false, err);
    if (status == SB_OK && !find_shared(s)) status = SB_NOMEM;
    sb_fields it = {s->bytes, of->at, of->at + of->n, false};
    sb_file_field f;
    while (status == SB_OK && sb_fields_next(&it, &f))
        if (f.number == SB_XPLANE_LINES && f.wire == SB_PB_BYTES) status = scan_line(s, &f);
    sb_xplane_free(&s->plane);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static sb_status search_source(searching *s, uint32_t number, sb_err *err) {
    const sb_trace_source *source = &s->t->sources.items[number];
    bool is_json = source->format != SB_FORMAT_XSPACE;
    if (!sb_trace_bytes_is_same(source->bytes))
        return sb_fail(err, SB_REPLACED, 0, "the trace file has changed: open the capture again");
    sb_status status = sb_trace_bytes_view(&s->bytes, source->bytes, err);
    if (status != SB_OK) return status;
    s->source = number;
    s->places.n = 0;
    s->last_record = 0;
    if (is_json) status = scan_json(s);
    for (size_t i = 0; !is_json && status == SB_OK && i < s->t->planes.n; i++)
        if (s->t->planes.items[i].source == number)
            status = scan_plane(s, &s->t->planes.items[i], err);
    if (status == SB_OK) status = join_places(s);
    sb_trace_bytes_close(s->bytes);
    return status;
}

sb_status sb_search_args(const sb_trace *t, const sb_search_ask *ask, const uint8_t *marks,
                         sb_found_list *out, sb_err *err) {
    searching s = {.t = t, .ask = ask, .marks = marks, .out = out};
    sb_buf_init(&s.spelled, t->alloc, MOST_EVENT);
    sb_status status = spell_text(&s);
    for (uint32_t i = 0; status == SB_OK && i < t->sources.n; i++)
        if (t->sources.items[i].bytes) status = search_source(&s, i, err);
    SB_VEC_FREE(&s.places, t->alloc);
    SB_VEC_FREE(&s.shared, t->alloc);
    sb_buf_fini(&s.spelled);
    return status;
}
