/* xspace.c: reads an XSpace, the profile of TensorFlow and JAX, without loading it into memory. */
#include <stdio.h>

#include "base/checked.h"
#include "profile/read/read.h"
#include "profile/read/xspace_int.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define MOST_EVENT ((size_t)64 << 20)
#define FLOW_ID ((UINT64_C(1) << 56) - 1)
#define UNIX_TIME INT64_C(100000000000000000) /* nanoseconds: a larger time is Unix time */

/* A device of this file. A plane may be in pieces: several of one name. */
typedef struct device_place {
    uint32_t group, index; /* `index` into the trace's devices */
    sb_slice plane;
} device_place;

typedef struct reading {
    sb_trace *t;
    sb_trace_bytes *bytes;
    sb_xplane plane;
    uint32_t host; /* the group of the host, above those of the planes */
    uint32_t group;
    bool is_device, is_stream, is_counters, is_steps;
    uint32_t track;
    int64_t line_start; /* start of the current line, in picoseconds */
    int64_t unix_base;  /* in nanoseconds; only for files whose lines have Unix time */
    uint64_t events;
    SB_VEC(device_place) devices;
} reading;

/* ---- events ---------------------------------------------------------------------------------- */

static bool read_facts(reading *r, sb_slice event, sb_xfacts *facts) {
    sb_pb c = sb_pb_over(event);
    sb_pb_field f;
    bool any = false;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number != SB_XEVENT_STATS || f.wire != SB_PB_BYTES) continue;
        if (!sb_xplane_value(&r->plane, f.bytes, &v) || !v.id) continue;
        sb_xfacts_take(facts, &v, r->t);
        any = true;
    }
    return any;
}

static sb_span_kind kind_of(const reading *r, const sb_xevent_meta *m, const sb_xfacts *f,
                            bool has_facts, int64_t dur) {
    if (r->is_steps) return SB_SPAN_STEP;
    if (r->is_device) {
        if (has_facts && f->has_copy) return SB_SPAN_COPY;
        return sb_classify_device(sb_trace_name(r->t, m->name));
    }
    if (has_facts && f->has_step) return SB_SPAN_STEP;
    if (m->kind == SB_SPAN_MEMORY) return SB_SPAN_MEMORY;
    if (dur == 0) return SB_SPAN_MARKER;
    if (has_facts && f->correlation && (f->has_device || f->has_copy)) return SB_SPAN_RUNTIME;
    if (has_facts && f->hlo_op) return sb_classify_hlo(sb_trace_name(r->t, m->name));
    return (sb_span_kind)m->kind;
}

static bool keep_facts(reading *r, sb_trace_span *s, const sb_xfacts *f) {
    if (!f->correlation && !f->has_step && !f->is_root && !f->hlo_op && !f->tf_op && !f->has_kernel)
        return true;
    sb_extra *e = sb_build_extra(r->t, s);
    if (!e) return false;
    e->correlation = f->correlation;
    e->text = f->tf_op && !f->hlo_op ? f->tf_op : f->hlo_op;
    e->occupancy = (float)f->occupancy;
    if (f->is_root) e->flags |= SB_EXTRA_ROOT;
    if (f->has_step) e->flags |= SB_EXTRA_HAS_NUMBER;
    e->number = f->has_step ? f->step_num : f->copied;
    e->second = (int64_t)f->hlo_module << 32 | (f->scope ? f->scope : f->tf_op);
    return true;
}

static bool add_hand_over(reading *r, const sb_trace_span *s, const char *kind, int64_t type,
                          int64_t id, uint8_t phase) {
    int64_t key[3] = {type, id, (int64_t)r->t->build->source};
    return sb_build_flow_end(
        r->t, &(sb_flow_end){.key = sb_build_hash(sb_slice_of(key, sizeof key), sb_slice_str(kind)),
                             .time = s->start,
                             .track = r->track,
                             .phase = phase,
                             .kind = SB_FLOW_OTHER,
                             .at = s->at});
}

/* What one event hands to others, such as a function to the threads that run it. Instants take no
 * part: a thread pool writes two of them for every task. */
static bool keep_hand_overs(reading *r, const sb_trace_span *s, const sb_xfacts *f) {
    if (!s->dur) return true;
    int64_t id = (int64_t)(f->flow >> 2 & FLOW_ID);
    return (!f->has_producer ||
            add_hand_over(r, s, "context", f->producer_type, f->producer, SB_FLOW_PRODUCES)) &&
           (!f->has_consumer ||
            add_hand_over(r, s, "context", f->consumer_type, f->consumer, SB_FLOW_CONSUMES)) &&
           (!(f->flow & 2) || add_hand_over(r, s, "flow", 0, id, SB_FLOW_PRODUCES)) &&
           (!(f->flow & 1) || add_hand_over(r, s, "flow", 0, id, SB_FLOW_CONSUMES));
}

static bool keep_memory(reading *r, const sb_xevent_meta *m, const sb_xfacts *f, int64_t time) {
    bool is_free = sb_text_begins(sb_trace_name(r->t, m->name), "MemoryDe");
    if (f->memory_device == SB_NO_INDEX) return true;
    sb_memory_device *device = &r->t->memory_devices.items[f->memory_device];
    int64_t capacity = f->available;
    sb_sum(&capacity, f->allocated);
    sb_sum(&capacity, f->reserved);
    if (capacity > device->capacity) device->capacity = capacity;
    if (f->memory_peak > device->peak) device->peak = f->memory_peak;
    return sb_build_memory(
        r->t, &(sb_memory_event){
                  .time = time,
                  .address = (uint64_t)f->address,
                  .bytes = is_free && f->allocation > INT64_MIN ? -f->allocation : f->allocation,
                  .allocated = f->allocated,
                  .reserved = f->reserved,
                  .device = f->memory_device,
                  .track = r->track,
                  .op = f->tf_op,
              });
}

static bool add_counter(reading *r, const sb_xevent_meta *m, const sb_xfacts *f, int64_t time) {
    sb_slice name = sb_trace_name(r->t, m->name);
    uint32_t track = sb_build_track(r->t, r->group, name, SB_TRACK_COUNTER, name);
    return track != SB_NO_INDEX && sb_build_point(r->t, track, time, f->counter);
}

static bool add_event(reading *r, sb_slice event, uint64_t at) {
    sb_pb c = sb_pb_over(event);
    sb_pb_field f;
    sb_pb_step step;
    int64_t id = 0, offset = 0, dur = 0, occurrences = 0;
    bool has_stats = false;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) switch (f.number) {
        case SB_XEVENT_METADATA_ID:
            id = sb_pb_int64(&f);
            break;
        case SB_XEVENT_OFFSET_PS:
            offset = sb_pb_int64(&f);
            break;
        case SB_XEVENT_DURATION_PS:
            dur = sb_pb_int64(&f);
            break;
        case SB_XEVENT_STATS:
            has_stats = true;
            break;
        case SB_XEVENT_NUM_OCCURRENCES:
            occurrences = sb_pb_int64(&f);
            break;
        default:
            break;
        }
    if (step != SB_PB_END) {
        sb_trace_note(r->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("an event"));
        return true;
    }
    static const sb_xevent_meta unnamed = {0};
    const sb_xevent_meta *m = sb_xplane_event(&r->plane, id);
    sb_xevent_meta made = unnamed;
    if (!m) {
        char text[40];
        snprintf(text, sizeof text, "event %lld", (long long)id);
        made.name = sb_build_name(r->t, sb_slice_str(text));
        if (made.name == SB_NO_INDEX) return false;
        sb_trace_note(r->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("an event without a name"));
        m = &made;
    }
    if (occurrences) {
        sb_trace_note(r->t, SB_TRACE_ODD_NO_POSITION, 1, sb_trace_name(r->t, m->name));
        return true;
    }
    sb_xfacts facts = m->facts;
    bool has_facts = (has_stats && read_facts(r, event, &facts)) || m->has_facts;
    int64_t start;
    if (__builtin_add_overflow(r->line_start, offset, &start)) start = INT64_MAX / 2;
    if (r->is_counters || (has_facts && facts.has_counter))
        return facts.has_counter ? add_counter(r, m, &facts, start) : true;
    sb_span_kind kind = kind_of(r, m, &facts, has_facts, dur);
    sb_trace_span *s = sb_build_span(r->t, r->track, start, dur, m->name, kind, at);
    if (!s) return false;
    if (!has_facts) return true;
    if (kind == SB_SPAN_MEMORY && facts.has_allocator && !keep_memory(r, m, &facts, start))
        return false;
    return keep_hand_overs(r, s, &facts) && keep_facts(r, s, &facts);
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct line_head {
    int64_t id, timestamp, display_id;
    sb_slice name;
} line_head;

static void read_line_head(reading *r, const sb_file_field *line, line_head *h, char *name,
                           size_t room) {
    sb_fields it = {r->bytes, line->at, line->at + line->n, false};
    sb_file_field f;
    size_t n = 0;
    while (sb_fields_next(&it, &f)) {
        if (f.number == SB_XLINE_ID) h->id = (int64_t)f.u64;
        if (f.number == SB_XLINE_TIMESTAMP_NS) h->timestamp = (int64_t)f.u64;
        if (f.number == SB_XLINE_DISPLAY_ID) h->display_id = (int64_t)f.u64;
        if ((f.number == SB_XLINE_NAME || f.number == SB_XLINE_DISPLAY_NAME) &&
            f.wire == SB_PB_BYTES) {
            sb_slice text = sb_fields_load(&it, &f, room);
            if (!text.n) continue;
            memcpy(name, text.p, text.n);
            n = text.n;
        }
    }
    h->name = sb_slice_of(name, n);
}

/* "tf_XLAEigen/-2424590419818823401": leaves out the number, which is a hash. */
static sb_slice shorten_name(sb_slice name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    if (n && name.p[n - 1] == '-') n--;
    if (n > 1 && name.p[n - 1] == '/' && name.n - n > 9) name.n = n - 1;
    return name;
}

static int64_t line_start_of(reading *r, int64_t timestamp) {
    if (timestamp > UNIX_TIME) {
        if (!r->unix_base) r->unix_base = timestamp;
        timestamp -= r->unix_base;
    }
    /* further away than any event may be, so that each one of the line is told and left out */
    if (timestamp > INT64_MAX / 4000 || timestamp < INT64_MIN / 4000) return INT64_MAX / 2;
    return timestamp * 1000;
}

static bool read_line(reading *r, const sb_file_field *line) {
    char name[512], key[32];
    line_head h = {0};
    read_line_head(r, line, &h, name, sizeof name);
    int n = snprintf(key, sizeof key, "%lld", (long long)(h.display_id ? h.display_id : h.id));
    sb_track_kind kind = SB_TRACK_THREAD;
    r->is_counters = sb_slice_eq(h.name, SB_LIT("_counters_"));
    r->is_steps = r->is_device && sb_slice_eq(h.name, SB_LIT("Steps"));
    r->is_stream = r->is_device &&
                   (sb_text_begins(h.name, "Stream #") || sb_slice_eq(h.name, SB_LIT("XLA Ops")) ||
                    sb_slice_eq(h.name, SB_LIT("Async XLA Ops")));
    if (r->is_steps)
        kind = SB_TRACK_STEPS;
    else if (r->is_stream)
        kind = SB_TRACK_STREAM;
    else if (r->is_device)
        kind = SB_TRACK_DERIVED;
    r->line_start = line_start_of(r, h.timestamp);
    r->track = SB_NO_INDEX;
    if (!r->is_counters) {
        r->track = sb_build_track(r->t, r->group, sb_slice_of(key, (size_t)n), kind,
                                  h.name.n ? shorten_name(h.name) : sb_slice_of(key, (size_t)n));
        if (r->track == SB_NO_INDEX) return false;
        if (r->is_device) r->t->tracks.items[r->track].sort = h.id;
    }
    sb_fields it = {r->bytes, line->at, line->at + line->n, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f)) {
        if (f.number != SB_XLINE_EVENTS || f.wire != SB_PB_BYTES || it.is_bad) continue;
        sb_slice event = sb_fields_load(&it, &f, MOST_EVENT);
        if (event.n < f.n)
            sb_trace_note(r->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("an event"));
        else if (!add_event(r, event, f.at - sb_pb_varint_size(f.n)))
            return false;
        if ((++r->events & 0xffff) == 0) {
            uint64_t done, all;
            sb_trace_bytes_progress(r->bytes, &done, &all);
            if (!sb_build_progress(r->t, done)) return false;
        }
    }
    if (it.is_bad) sb_trace_note(r->t, SB_TRACE_ODD_BAD_MESSAGE, 1, h.name);
    return true;
}

/* ---- planes ---------------------------------------------------------------------------------- */

static bool is_hidden_plane(sb_slice name) {
    return sb_slice_eq(name, SB_LIT("/host:metadata")) ||
           sb_slice_eq(name, SB_LIT("/host:__ScopeRangeCallStack__")) ||
           sb_slice_eq(name, SB_LIT("Task Environment")) ||
           sb_slice_eq(name, SB_LIT("/host:tfstreamz"));
}

static bool keep_plane_fact(reading *r, const sb_xvalue *v, sb_device *device,
                            int64_t *capability) {
    char text[64];
    if (v->id == XSTAT_START_TIME) r->t->sources.items[r->t->build->source].base_ns = v->number;
    if (v->id == XSTAT_GPU_NAME) device->name = sb_build_text(r->t, v->text);
    if (v->id == XSTAT_CORES) device->multiprocessors = (uint32_t)v->number;
    if (v->id == XSTAT_MEMORY) device->memory = (uint64_t)v->number;
    if (v->id == XSTAT_MAJOR) capability[0] = v->number;
    if (v->id == XSTAT_MINOR) capability[1] = v->number;
    if (!v->name.n || v->wire == SB_XSTAT_BYTES_VALUE || v->id == XSTAT_START_TIME) return true;
    if (v->wire == SB_XSTAT_STR_VALUE || v->wire == SB_XSTAT_REF_VALUE)
        return sb_build_fact(r->t, v->name, v->text);
    if (v->wire == SB_XSTAT_DOUBLE_VALUE)
        snprintf(text, sizeof text, "%g", v->real);
    else
        snprintf(text, sizeof text, "%lld", (long long)v->number);
    return sb_build_fact(r->t, v->name, sb_slice_str(text));
}

static bool read_plane_stats(reading *r, sb_device *device) {
    sb_fields it = {r->bytes, r->plane.at, r->plane.end, false};
    sb_file_field f;
    int64_t capability[2] = {0, 0};
    int kept = 0;
    while (sb_fields_next(&it, &f) && kept < 200) {
        sb_xvalue v;
        if (f.number != SB_XPLANE_STATS || f.wire != SB_PB_BYTES) continue;
        sb_slice stat = sb_fields_load(&it, &f, 1 << 20);
        if (!sb_xplane_value(&r->plane, stat, &v)) continue;
        if (!keep_plane_fact(r, &v, device, capability)) return false;
        kept++;
    }
    if (capability[0]) {
        char text[48];
        snprintf(text, sizeof text, "%lld.%lld", (long long)capability[0],
                 (long long)capability[1]);
        device->capability = sb_build_text(r->t, sb_slice_str(text));
    }
    return true;
}

static bool choose_group(reading *r) {
    sb_slice name = r->plane.name;
    r->is_device = sb_text_begins(name, "/device:") || sb_text_begins(name, "#Chip");
    bool is_host = sb_text_begins(name, "/host:");
    sb_slice shown = is_host ? SB_LIT("/host:CPU") : name;
    r->group =
        sb_build_group(r->t, shown, r->host, r->is_device ? SB_GROUP_DEVICE : SB_GROUP_PROCESS,
                       shown.n ? shown : SB_LIT("(unnamed)"));
    if (r->group == SB_NO_INDEX) return false;
    r->t->groups.items[r->group].sort = is_host ? 1 : r->is_device ? 1000 + (int64_t)r->group : 500;
    return true;
}

/* Keeps what a plane says of its device. `has_run`: there are spans in it. */
static bool keep_device(reading *r, const sb_device *device, bool has_run) {
    sb_trace *t = r->t;
    device_place *place = NULL;
    for (size_t i = 0; i < r->devices.n && !place; i++)
        if (r->devices.items[i].group == r->group) place = &r->devices.items[i];
    if (!place) {
        sb_device *d = SB_VEC_PUSH(&t->devices, t->alloc, 4096);
        if (!d) return t->devices.n > 0;
        *d = (sb_device){.source = t->build->source, .group = SB_NO_INDEX};
        place = SB_VEC_PUSH(&r->devices, t->alloc, 4096);
        if (!place) return false;
        *place =
            (device_place){r->group, (uint32_t)t->devices.n - 1, sb_build_text(t, r->plane.name)};
    }
    sb_device *d = &t->devices.items[place->index];
    if (device->name.n) d->name = device->name;
    if (device->capability.n) d->capability = device->capability;
    if (device->memory) d->memory = device->memory;
    if (device->multiprocessors) d->multiprocessors = device->multiprocessors;
    if (has_run) d->group = r->group;
    return true;
}

/* When all pieces of all planes are read: derives the lines above the streams, once for each
 * device. */
static bool finish_devices(reading *r) {
    for (size_t i = 0; i < r->devices.n; i++) {
        const device_place *place = &r->devices.items[i];
        sb_device *d = &r->t->devices.items[place->index];
        if (!d->name.n) d->name = place->plane;
        if (d->group == SB_NO_INDEX)
            sb_trace_note(r->t, SB_TRACE_ODD_EMPTY_DEVICE, 1, place->plane);
        else if (!sb_derive_device_lines(r->t, d->group))
            return false;
    }
    return true;
}

static bool read_plane_lines(reading *r) {
    sb_fields it = {r->bytes, r->plane.at, r->plane.end, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f))
        if (f.number == SB_XPLANE_LINES && f.wire == SB_PB_BYTES && !read_line(r, &f)) return false;
    if (it.is_bad) sb_trace_note(r->t, SB_TRACE_ODD_CUT_FILE, 1, r->plane.name);
    return true;
}

static bool has_lines(reading *r) {
    sb_fields it = {r->bytes, r->plane.at, r->plane.end, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f))
        if (f.number == SB_XPLANE_LINES) return true;
    return false;
}

/* Each event metadata of this plane is a compiled module. */
static bool keep_modules(reading *r) {
    if (!sb_slice_eq(r->plane.name, SB_LIT("/host:metadata"))) return true;
    for (size_t i = 0; i < r->plane.events.n; i++) {
        uint32_t *module = SB_VEC_PUSH(&r->t->modules, r->t->alloc, 1 << 20);
        if (!module) return r->t->modules.n > 0;
        *module = r->plane.events.items[i].name;
    }
    return true;
}

static sb_status read_plane(reading *r, const sb_file_field *f, sb_err *err) {
    sb_device device = {.group = SB_NO_INDEX};
    uint64_t spans = r->t->span_count;
    sb_status status = sb_xplane_read(&r->plane, r->t, r->bytes, f->at, f->n, true, err);
    bool is_fine = status == SB_OK && read_plane_stats(r, &device);
    sb_plane_place *place = is_fine ? SB_VEC_PUSH(&r->t->planes, r->t->alloc, 1 << 20) : NULL;
    if (place) *place = (sb_plane_place){r->t->build->source, f->at, f->n};
    is_fine = is_fine && place && keep_modules(r);
    bool is_device = sb_text_begins(r->plane.name, "/device:");
    if (is_fine && !is_hidden_plane(r->plane.name) && (is_device || has_lines(r)))
        is_fine = choose_group(r) && read_plane_lines(r) &&
                  (!is_device || keep_device(r, &device, r->t->span_count > spans));
    sb_xplane_free(&r->plane);
    if (is_fine) return SB_OK;
    if (r->t->build->is_cancelled) return sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    return status != SB_OK ? status : sb_fail_nomem(err, "for a trace, or it has too many events");
}

sb_status sb_read_xspace(sb_trace *t, sb_trace_bytes *bytes, sb_err *err) {
    reading r = {.t = t, .bytes = bytes};
    sb_trace_source *source = &t->sources.items[t->build->source];
    sb_fields it = {bytes, 0, sb_trace_bytes_size(bytes), false};
    sb_file_field f;
    sb_status status = SB_OK;
    source->format = SB_FORMAT_XSPACE;
    r.host = sb_build_group(t, SB_LIT(""), SB_NO_INDEX, SB_GROUP_HOST, source->name);
    if (r.host == SB_NO_INDEX) return sb_fail_nomem(err, "for a trace");
    while (status == SB_OK && sb_fields_next(&it, &f)) {
        bool is_cut = it.is_bad;
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_XSPACE_PLANES) status = read_plane(&r, &f, err);
        if (f.number == SB_XSPACE_ERRORS || f.number == SB_XSPACE_WARNINGS)
            sb_trace_note(t,
                          f.number == SB_XSPACE_ERRORS ? SB_TRACE_ODD_ERROR : SB_TRACE_ODD_WARNING,
                          1, sb_fields_load(&it, &f, 1 << 16));
        it.is_bad = is_cut;
    }
    if (status == SB_OK && !finish_devices(&r)) status = sb_fail_nomem(err, "for a trace");
    SB_VEC_FREE(&r.devices, t->alloc);
    if (it.is_bad) sb_trace_note(t, SB_TRACE_ODD_CUT_FILE, 1, source->name);
    source = &t->sources.items[t->build->source];
    source->read = it.is_bad && it.at < it.end ? it.at : it.end;
    if (r.unix_base) source->base_ns = r.unix_base;
    return status;
}
