/* args.c: the arguments of spans, read from the file when somebody asks for them. */
#include <stdlib.h>

#include "base/search.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "profile/read/json_scan.h"
#include "profile/read/read.h"
#include "profile/read/xspace_int.h"
#include "base/banned.h"

#define FIRST_COPY ((size_t)16 << 10)
#define MOST_COPY ((size_t)64 << 20)
#define MOST_SHARED ((size_t)1 << 26)
#define MOST_OWN 64

/* Where in the file the metadata of one kind of event is, which has the statistics that all its
 * events share. */
typedef struct shared_place {
    int64_t id;
    uint64_t at, n;
} shared_place;

struct sb_args_reader {
    const sb_trace *t;
    uint32_t source;       /* of `bytes` */
    sb_trace_bytes *bytes; /* a view; NULL: no span was asked for yet */
    /* only XSpace: the plane whose names are loaded */
    const sb_plane_place *place;
    sb_trace scratch; /* what `plane` notes oddities in: `t` may not change, as others read it */
    sb_xplane plane;
    SB_VEC(shared_place) shared; /* ordered by id, then by place */
};

/* ---- XSpace ---------------------------------------------------------------------------------- */

/* Numbers that a double does not hold are text. */
static void add_whole(sb_json *j, int64_t x, bool is_unsigned) {
    char text[24];
    if (x < INT64_C(1) << 53 && (x >= 0 || (!is_unsigned && x > -(INT64_C(1) << 53))))
        sb_json_int(j, x);
    else
        sb_json_text(j, sb_slice_of(text, is_unsigned ? sb_print_uint64(text, (uint64_t)x)
                                                      : sb_print_int64(text, x)));
}

static void add_value(sb_json *j, const sb_xvalue *v) {
    sb_json_key(j, v->name.n ? v->name : SB_LIT("?"));
    switch (v->wire) {
    case SB_XSTAT_DOUBLE_VALUE:
        sb_json_double(j, v->real);
        break;
    case SB_XSTAT_UINT64_VALUE:
    case SB_XSTAT_INT64_VALUE:
        add_whole(j, v->number, v->wire == SB_XSTAT_UINT64_VALUE);
        break;
    case SB_XSTAT_BYTES_VALUE:
        sb_json_uint(j, v->text.n);
        break; /* bytes are not shown, only how many there are */
    default:
        sb_json_text(j, v->text);
    }
}

static const sb_plane_place *plane_of(const sb_trace *t, uint32_t source, uint64_t at) {
    size_t i; /* they are in the order in which they were read */
    SB_PARTITION_POINT(i, 0, t->planes.n,
                       t->planes.items[i].source < source ||
                           (t->planes.items[i].source == source && t->planes.items[i].at <= at));
    const sb_plane_place *p = i ? &t->planes.items[i - 1] : NULL;
    return p && p->source == source && at - p->at < p->n ? p : NULL;
}

static int compare_shared(const void *a, const void *b) {
    const shared_place *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Does the metadata say more than the name that is shown? */
static bool says_more(sb_trace_bytes *bytes, uint64_t at, uint64_t n) {
    sb_fields it = {bytes, at, at + n, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f))
        if (f.wire == SB_PB_BYTES &&
            (f.number == SB_XEVENT_META_STATS || f.number == SB_XEVENT_META_DISPLAY_NAME))
            return true;
    return false;
}

static bool index_shared(sb_args_reader *r) {
    sb_fields it = {r->bytes, r->plane.at, r->plane.end, false};
    sb_file_field f, member;
    r->shared.n = 0;
    while (sb_fields_next(&it, &f)) {
        if (f.number != SB_XPLANE_EVENT_METADATA || f.wire != SB_PB_BYTES) continue;
        sb_fields entry = {r->bytes, f.at, f.at + f.n, false};
        shared_place place = {0};
        while (sb_fields_next(&entry, &member)) {
            if (member.number == 1 && member.wire == SB_PB_VARINT) place.id = (int64_t)member.u64;
            if (member.number == 2 && member.wire == SB_PB_BYTES) {
                place.at = member.at;
                place.n = member.n;
            }
        }
        if (place.n > MOST_COPY || !says_more(r->bytes, place.at, place.n)) continue;
        shared_place *kept = SB_VEC_PUSH(&r->shared, r->t->alloc, MOST_SHARED);
        if (!kept) return false;
        *kept = place;
    }
    if (r->shared.n) qsort(r->shared.items, r->shared.n, sizeof r->shared.items[0], compare_shared);
    return true;
}

static void leave_plane(sb_args_reader *r) {
    if (r->place) sb_xplane_free(&r->plane);
    r->place = NULL;
}

static sb_status enter_plane(sb_args_reader *r, uint64_t at, sb_err *err) {
    if (r->place && at >= r->place->at && at < r->place->at + r->place->n) return SB_OK;
    leave_plane(r);
    const sb_plane_place *place = plane_of(r->t, r->source, at);
    if (!place) return sb_fail(err, SB_CORRUPT, at, "the record of this slice can't be read");
    r->scratch = (sb_trace){.alloc = r->t->alloc};
    r->plane = (sb_xplane){0};
    sb_status status =
        sb_xplane_read(&r->plane, &r->scratch, r->bytes, place->at, place->n, false, err);
    r->place = place; /* so that it is freed, also after a failure */
    if (status == SB_OK && !index_shared(r)) status = sb_fail_nomem(err, "for a slice");
    if (status != SB_OK) leave_plane(r);
    return status;
}

/* The names of the statistics that an event has itself: on a clash they win. */
typedef struct own_names {
    sb_slice items[MOST_OWN];
    size_t n;
} own_names;

static bool is_own(const own_names *own, sb_slice name) {
    for (size_t i = 0; i < own->n; i++)
        if (sb_slice_eq(own->items[i], name)) return true;
    return false;
}

/* What an event's metadata says: all events with this metadata have its statistics. Where a shorter
 * name is shown, the whole one is an argument, as in XProf. */
static void add_shared(sb_json *j, sb_args_reader *r, int64_t id, const own_names *own) {
    size_t i;
    SB_PARTITION_POINT(i, 0, r->shared.n, r->shared.items[i].id < id);
    if (i == r->shared.n || r->shared.items[i].id != id) return;
    const shared_place *place = &r->shared.items[i];
    sb_slice meta = sb_trace_bytes_need(r->bytes, place->at, (size_t)place->n);
    sb_slice whole = sb_slice_of(meta.p, meta.n < place->n ? meta.n : (size_t)place->n);
    sb_pb c = sb_pb_over(whole);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number == SB_XEVENT_META_STATS && f.wire == SB_PB_BYTES &&
            sb_xplane_value(&r->plane, f.bytes, &v) && !is_own(own, v.name))
            add_value(j, &v);
    }
    sb_slice name = sb_xplane_long_name(whole);
    if (name.n && !is_own(own, SB_LIT("long_name"))) sb_json_put_text(j, "long_name", name);
}

static sb_status xspace_args(sb_args_reader *r, uint64_t at, sb_buf *out, sb_err *err) {
    sb_status status = enter_plane(r, at, err);
    if (status != SB_OK) return status;
    sb_slice head = sb_trace_bytes_need(r->bytes, at, 10);
    sb_pb c = sb_pb_over(head);
    uint64_t n;
    if (!sb_pb_varint(&c, &n) || n > MOST_COPY)
        return sb_fail(err, SB_CORRUPT, at, "the record of this slice can't be read");
    uint64_t from = at + (uint64_t)(c.p - head.p);
    sb_slice event = sb_trace_bytes_need(r->bytes, from, (size_t)n);
    sb_json j;
    sb_pb_field f;
    own_names own = {.n = 0};
    int64_t id = 0;
    sb_json_init(&j, out, &(sb_json_opts){.utf8 = true});
    sb_json_begin_object(&j);
    c = sb_pb_over(sb_slice_of(event.p, event.n < n ? event.n : (size_t)n));
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number == SB_XEVENT_METADATA_ID) id = sb_pb_int64(&f);
        if (f.number != SB_XEVENT_STATS || f.wire != SB_PB_BYTES ||
            !sb_xplane_value(&r->plane, f.bytes, &v))
            continue;
        add_value(&j, &v);
        if (own.n < MOST_OWN) own.items[own.n++] = v.name;
    }
    add_shared(&j, r, id, &own);
    sb_json_end_object(&j);
    return SB_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Arguments are an object. What is there instead in a file is shown as an argument. */
static void add_json_args(sb_buf *out, const sb_scan_value *value) {
    bool is_object = value->kind == SB_SCAN_OBJECT;
    if (value->kind == SB_SCAN_NUMBER && sb_slice_eq(value->raw, SB_LIT("null"))) {
        sb_buf_add_str(out, "{}");
        return;
    }
    if (!is_object) sb_buf_add_str(out, "{\"args\":");
    sb_scan_rewrite(out, value, 0);
    if (!is_object) sb_buf_add_byte(out, '}');
}

sb_status sb_json_args(sb_trace_bytes *bytes, uint64_t at, sb_buf *out, sb_slice *category,
                       sb_arena *arena, sb_err *err) {
    for (size_t wanted = FIRST_COPY; wanted <= MOST_COPY; wanted *= 8) {
        sb_slice text = sb_trace_bytes_need(bytes, at, wanted);
        sb_scan s = {text.p, text.p ? text.p + text.n : NULL, text.n < wanted, 0};
        bool first = true, has_args = false;
        sb_slice key;
        sb_scan_value value;
        sb_scan_step step;
        size_t before = out->n;
        while (text.p && (step = sb_scan_member(&s, &first, &key, &value)) == SB_SCAN_OK) {
            if (sb_slice_eq(key, SB_LIT("cat"))) *category = sb_arena_dup(arena, value.raw);
            if (!sb_slice_eq(key, SB_LIT("args")) || has_args) continue;
            add_json_args(out, &value);
            has_args = true;
        }
        if (text.p && step == SB_SCAN_MORE) {
            out->n = before;
            continue;
        }
        if (!has_args) sb_buf_add_str(out, "{}");
        return SB_OK;
    }
    return sb_fail(err, SB_CORRUPT, at, "the record of this slice can't be read");
}

/* ---- the reader ------------------------------------------------------------------------------ */

sb_status sb_args_open(sb_args_reader **out, const sb_trace *t, sb_err *err) {
    sb_args_reader *r = sb_alloc_zeroed(t->alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for the arguments of slices");
    r->t = t;
    *out = r;
    return SB_OK;
}

static void leave_source(sb_args_reader *r) {
    leave_plane(r);
    sb_trace_bytes_close(r->bytes);
    r->bytes = NULL;
}

void sb_args_close(sb_args_reader *r) {
    if (!r) return;
    leave_source(r);
    SB_VEC_FREE(&r->shared, r->t->alloc);
    sb_alloc_put(r->t->alloc, r, sizeof *r);
}

static sb_status enter_source(sb_args_reader *r, uint32_t number, sb_err *err) {
    const sb_trace_source *source = &r->t->sources.items[number];
    if (r->bytes && r->source == number) return SB_OK;
    leave_source(r);
    if (!sb_trace_bytes_is_same(source->bytes))
        return sb_fail(err, SB_REPLACED, 0, "the trace file has changed: open the capture again");
    r->source = number;
    return sb_trace_bytes_view(&r->bytes, source->bytes, err);
}

sb_status sb_args_add(sb_args_reader *r, uint32_t track, uint32_t index, sb_buf *out,
                      sb_slice *category, sb_arena *arena, sb_err *err) {
    const sb_track *k = &r->t->tracks.items[track];
    const sb_trace_span *s = &k->spans.items[index];
    uint32_t number = sb_track_source(r->t, k);
    const sb_trace_source *source = &r->t->sources.items[number];
    *category = (sb_slice){NULL, 0};
    if (!source->bytes || s->at == 0) { /* step statistics, or a span that was derived */
        sb_buf_add_str(out, "{}");
        return SB_OK;
    }
    sb_status status = enter_source(r, number, err);
    if (status != SB_OK) return status;
    if (source->format == SB_FORMAT_XSPACE) return xspace_args(r, s->at, out, err);
    return sb_json_args(r->bytes, s->at, out, category, arena, err);
}

sb_status sb_span_args(const sb_trace *t, uint32_t track, uint32_t index, sb_buf *out,
                       sb_slice *category, sb_arena *arena, sb_err *err) {
    sb_args_reader *r;
    sb_status status = sb_args_open(&r, t, err);
    if (status != SB_OK) return status;
    status = sb_args_add(r, track, index, out, category, arena, err);
    sb_args_close(r);
    return status;
}
