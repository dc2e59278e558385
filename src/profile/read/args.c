/* args.c: the arguments of one span, read from the file when somebody asks for them. */
#include "base/text/json.h"
#include "base/text/number.h"
#include "profile/read/json_scan.h"
#include "profile/read/read.h"
#include "profile/read/xspace_int.h"
#include "base/banned.h"

#define FIRST_COPY ((size_t)16 << 10)
#define MOST_COPY ((size_t)64 << 20)

/* ---- XSpace ---------------------------------------------------------------------------------- */

static void add_value(sb_json *j, const sb_xvalue *v) {
    sb_json_key(j, v->name.n ? v->name : SB_LIT("?"));
    switch (v->wire) {
    case SB_XSTAT_DOUBLE_VALUE:
        sb_json_double(j, v->real);
        break;
    case SB_XSTAT_UINT64_VALUE:
    case SB_XSTAT_INT64_VALUE:
        if (v->number > -(INT64_C(1) << 53) && v->number < INT64_C(1) << 53) {
            sb_json_int(j, v->number);
        } else {
            char text[24];
            size_t n = v->wire == SB_XSTAT_UINT64_VALUE ? sb_print_uint64(text, (uint64_t)v->number)
                                                        : sb_print_int64(text, v->number);
            sb_json_text(j, sb_slice_of(text, n));
        }
        break;
    case SB_XSTAT_BYTES_VALUE:
        sb_json_uint(j, v->text.n);
        break; /* bytes are not shown, only how many there are */
    default:
        sb_json_text(j, v->text);
    }
}

static const sb_plane_place *plane_of(const sb_trace *t, uint32_t source, uint64_t at) {
    for (size_t i = 0; i < t->planes.n; i++) {
        const sb_plane_place *p = &t->planes.items[i];
        if (p->source == source && at >= p->at && at < p->at + p->n) return p;
    }
    return NULL;
}

/* The statistics in an event's metadata: all events with this metadata have them. */
static void add_shared(sb_json *j, const sb_xplane *plane, sb_trace_bytes *bytes, int64_t id) {
    sb_fields it = {bytes, plane->at, plane->end, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f)) {
        sb_pb_field entry, member;
        int64_t key = 0;
        if (f.number != SB_XPLANE_EVENT_METADATA || f.wire != SB_PB_BYTES) continue;
        sb_slice bytes_of = sb_fields_load(&it, &f, MOST_COPY);
        sb_pb c = sb_pb_over(bytes_of);
        while (sb_pb_next(&c, &entry) == SB_PB_FIELD) {
            if (entry.number == 1) key = sb_pb_int64(&entry);
            if (entry.number != 2 || entry.wire != SB_PB_BYTES || key != id) continue;
            sb_pb m = sb_pb_over(entry.bytes);
            while (sb_pb_next(&m, &member) == SB_PB_FIELD) {
                sb_xvalue v;
                if (member.number == SB_XEVENT_META_STATS && member.wire == SB_PB_BYTES &&
                    sb_xplane_value(plane, member.bytes, &v))
                    add_value(j, &v);
            }
        }
        if (key == id) return;
    }
}

static sb_status xspace_args(const sb_trace *t, sb_trace_bytes *bytes, uint32_t source, uint64_t at,
                             sb_buf *out, sb_err *err) {
    const sb_plane_place *place = plane_of(t, source, at);
    sb_xplane plane = {0};
    sb_slice head = sb_trace_bytes_need(bytes, at, 10);
    sb_pb c = sb_pb_over(head);
    uint64_t n;
    if (!place || !sb_pb_varint(&c, &n) || n > MOST_COPY)
        return sb_fail(err, SB_CORRUPT, at, "the record of this slice can't be read");
    uint64_t from = at + (uint64_t)(c.p - head.p);
    /* the reader may only note oddities here; the trace itself may not change, as others read
     * it */
    sb_trace scratch = {.alloc = t->alloc};
    sb_status status = sb_xplane_read(&plane, &scratch, bytes, place->at, place->n, false, err);
    sb_slice event =
        status == SB_OK ? sb_trace_bytes_need(bytes, from, (size_t)n) : (sb_slice){NULL, 0};
    sb_buf copy;
    sb_buf_init(&copy, t->alloc, MOST_COPY);
    sb_buf_add(&copy, event.p, event.n < n ? event.n : (size_t)n);
    sb_json j;
    sb_json_init(&j, out, &(sb_json_opts){.utf8 = true});
    sb_json_begin_object(&j);
    c = sb_pb_over(sb_buf_slice(&copy));
    sb_pb_field f;
    int64_t id = 0;
    while (status == SB_OK && sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number == SB_XEVENT_METADATA_ID) id = sb_pb_int64(&f);
        if (f.number == SB_XEVENT_STATS && f.wire == SB_PB_BYTES &&
            sb_xplane_value(&plane, f.bytes, &v))
            add_value(&j, &v);
    }
    if (status == SB_OK) add_shared(&j, &plane, bytes, id);
    sb_json_end_object(&j);
    sb_buf_fini(&copy);
    sb_xplane_free(&plane);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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
            sb_scan_rewrite(out, &value, 0);
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

sb_status sb_span_args(const sb_trace *t, uint32_t track, uint32_t index, sb_buf *out,
                       sb_slice *category, sb_arena *arena, sb_err *err) {
    const sb_track *k = &t->tracks.items[track];
    const sb_trace_span *s = &k->spans.items[index];
    uint32_t number = sb_track_source(t, k);
    const sb_trace_source *source = &t->sources.items[number];
    *category = (sb_slice){NULL, 0};
    if (!source->bytes || (s->at == 0 && source->format == SB_FORMAT_XSPACE) ||
        k->kind == SB_TRACK_DERIVED || s->at == 0) {
        sb_buf_add_str(out, "{}");
        return SB_OK;
    }
    if (!sb_trace_bytes_is_same(source->bytes))
        return sb_fail(err, SB_REPLACED, 0, "the trace file has changed: open the capture again");
    sb_trace_bytes *view;
    sb_status status = sb_trace_bytes_view(&view, source->bytes, err);
    if (status != SB_OK) return status;
    if (source->format == SB_FORMAT_XSPACE)
        status = xspace_args(t, view, number, s->at, out, err);
    else
        status = sb_json_args(view, s->at, out, category, arena, err);
    sb_trace_bytes_close(view);
    return status;
}
