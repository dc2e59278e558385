/* xplane.c: reads the metadata of one plane of an XSpace. */
#include "profile/read/xspace_int.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define MOST_META ((size_t)1 << 26)
/* the largest metadata entry that is read: these may hold HLO modules */
#define MOST_MESSAGE ((size_t)256 << 20)
#define SMALL_IDS (1u << 20)

static sb_xstat_id stat_of(sb_slice name) {
    static const char *const names[] = {"",
#define XSTAT_NAME(id, name) name,
                                        SB_XSTATS(XSTAT_NAME)};
    for (int i = 1; i < XSTAT_COUNT; i++)
        if (sb_slice_eq(name, sb_slice_str(names[i]))) return (sb_xstat_id)i;
    return XSTAT_NONE;
}

/* Parses key and value of an entry of a protobuf map. */
static bool read_entry(sb_slice entry, int64_t *key, sb_slice *value) {
    sb_pb c = sb_pb_over(entry);
    sb_pb_field f;
    sb_pb_step step;
    *key = 0;
    *value = (sb_slice){NULL, 0};
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == 1 && f.wire == SB_PB_VARINT) *key = sb_pb_int64(&f);
        if (f.number == 2 && f.wire == SB_PB_BYTES) *value = f.bytes;
    }
    return step == SB_PB_END;
}

static bool add_stat(sb_xplane *p, sb_slice entry) {
    int64_t key;
    sb_slice value, name = {NULL, 0};
    uint32_t id;
    bool is_new;
    if (!read_entry(entry, &key, &value)) {
        sb_trace_note(p->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("the name of a statistic"));
        return true;
    }
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number == SB_XSTAT_META_ID && f.wire == SB_PB_VARINT && !key) key = sb_pb_int64(&f);
        if (f.number == SB_XSTAT_META_NAME && f.wire == SB_PB_BYTES) name = f.bytes;
    }
    sb_slice copy = sb_arena_dup(&p->texts, name);
    if (!copy.p || sb_intern_add(&p->stat_ids, sb_slice_of(&key, 8), &id, &is_new) != SB_OK)
        return false;
    sb_xstat_meta *m =
        is_new ? SB_VEC_PUSH(&p->stats, p->t->alloc, MOST_META) : &p->stats.items[id];
    if (m) *m = (sb_xstat_meta){copy, stat_of(copy)};
    return m != NULL;
}

static const sb_xstat_meta *find_stat(const sb_xplane *p, int64_t id) {
    uint32_t at = sb_intern_find(&p->stat_ids, sb_slice_of(&id, 8));
    return at == SB_INTERN_NONE ? NULL : &p->stats.items[at];
}

bool sb_xplane_value(const sb_xplane *p, sb_slice stat, sb_xvalue *out) {
    sb_pb c = sb_pb_over(stat);
    sb_pb_field f;
    sb_pb_step step;
    int64_t id = 0;
    *out = (sb_xvalue){0};
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_XSTAT_METADATA_ID) {
            id = sb_pb_int64(&f);
            continue;
        }
        if (f.number > SB_XSTAT_REF_VALUE) continue;
        out->wire = f.number;
        out->number = sb_pb_int64(&f);
        if (f.number == SB_XSTAT_DOUBLE_VALUE)
            out->real = sb_pb_double(&f);
        else
            out->real = f.number == SB_XSTAT_UINT64_VALUE ? (double)f.u64 : (double)out->number;
        if (f.wire == SB_PB_BYTES) out->text = f.bytes;
    }
    const sb_xstat_meta *m = find_stat(p, id);
    if (m) {
        out->id = m->id;
        out->name = m->name;
    }
    if (out->wire == SB_XSTAT_REF_VALUE) {
        const sb_xstat_meta *ref = find_stat(p, out->number);
        if (ref) out->text = ref->name;
    }
    if (out->wire == SB_XSTAT_DOUBLE_VALUE)
        out->number = out->real > -9e18 && out->real < 9e18 ? (int64_t)out->real : 0;
    return step == SB_PB_END;
}

/* The size in the details of a copy: "size:4", or "num_bytes:4" in older versions. */
static int64_t copied_bytes(sb_slice details) {
    static const char *const keys[] = {"size:", "num_bytes:"};
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(keys[k]);
        for (size_t i = 0; i + n < details.n; i++) {
            if (memcmp(details.p + i, keys[k], n) != 0) continue;
            int64_t bytes = 0;
            for (i += n; i < details.n && details.p[i] >= '0' && details.p[i] <= '9'; i++)
                if (bytes < INT64_MAX / 20) bytes = bytes * 10 + (details.p[i] - '0');
            return bytes;
        }
    }
    return 0;
}

static uint32_t name_of(sb_trace *t, sb_slice text) {
    uint32_t id = text.n ? sb_build_name(t, text) : SB_NO_INDEX;
    return id == SB_NO_INDEX ? 0 : id + 1;
}

void sb_xfacts_take(sb_xfacts *f, const sb_xvalue *v, sb_trace *t) {
    switch (v->id) {
    case XSTAT_CORRELATION:
        f->correlation = (uint64_t)v->number;
        break;
    case XSTAT_PRODUCER_TYPE:
        f->producer_type = v->number;
        break;
    case XSTAT_PRODUCER:
        f->producer = v->number;
        f->has_producer = true;
        break;
    case XSTAT_CONSUMER_TYPE:
        f->consumer_type = v->number;
        break;
    case XSTAT_CONSUMER:
        f->consumer = v->number;
        f->has_consumer = true;
        break;
    case XSTAT_FLOW:
        f->flow = (uint64_t)v->number;
        break;
    case XSTAT_STEP_NUM:
        f->step_num = v->number;
        f->has_step = true;
        break;
    case XSTAT_ROOT:
        f->is_root = v->number > 0;
        break;
    case XSTAT_HLO_OP:
        f->hlo_op = name_of(t, v->text);
        break;
    case XSTAT_HLO_MODULE:
        f->hlo_module = name_of(t, v->text);
        break;
    case XSTAT_TF_OP:
        f->tf_op = name_of(t, v->text);
        break;
    case XSTAT_SCOPE:
        f->scope = name_of(t, v->text);
        break;
    case XSTAT_KERNEL:
        f->has_kernel = true;
        break;
    case XSTAT_MEMCPY:
        f->has_copy = true;
        f->copied = copied_bytes(v->text);
        break;
    case XSTAT_DEVICE_ID:
        f->has_device = true;
        break;
    case XSTAT_OCCUPANCY:
        f->occupancy = v->real;
        break;
    case XSTAT_COUNTER:
        f->counter = v->real;
        f->has_counter = true;
        break;
    case XSTAT_ALLOCATOR:
        f->has_allocator = true;
        f->memory_device = sb_build_memory_device(t, v->text);
        break;
    case XSTAT_ALLOCATED:
        f->allocated = v->number;
        break;
    case XSTAT_RESERVED:
        f->reserved = v->number;
        break;
    case XSTAT_AVAILABLE:
        f->available = v->number;
        break;
    case XSTAT_MEMORY_PEAK:
        f->memory_peak = v->number;
        break;
    case XSTAT_ALLOCATION:
        f->allocation = v->number;
        break;
    case XSTAT_ADDRESS:
        f->address = v->number;
        break;
    default:
        break;
    }
}

sb_slice sb_xplane_long_name(sb_slice meta) {
    sb_pb c = sb_pb_over(meta);
    sb_pb_field f;
    sb_slice name = {NULL, 0}, shown = {NULL, 0};
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_XEVENT_META_NAME) name = f.bytes;
        if (f.number == SB_XEVENT_META_DISPLAY_NAME) shown = f.bytes;
    }
    if (!shown.n || sb_slice_eq(name, shown)) return (sb_slice){NULL, 0};
    return name.n > SB_TRACE_NAME_BYTES ? sb_slice_of(name.p, SB_TRACE_NAME_BYTES) : name;
}

static bool keep_event(sb_xplane *p, int64_t key, const sb_xevent_meta *meta) {
    uint32_t id;
    bool is_new;
    if (sb_intern_add(&p->event_ids, sb_slice_of(&key, 8), &id, &is_new) != SB_OK) return false;
    sb_xevent_meta *m =
        is_new ? SB_VEC_PUSH(&p->events, p->t->alloc, MOST_META) : &p->events.items[id];
    if (!m) return false;
    *m = *meta;
    if (key < 0 || key >= SMALL_IDS) return true;
    while (p->event_of.n <= (size_t)key) {
        uint32_t *slot = SB_VEC_PUSH(&p->event_of, p->t->alloc, SMALL_IDS);
        if (!slot) return false;
        *slot = 0;
    }
    p->event_of.items[key] = id + 1;
    return true;
}

static bool add_event(sb_xplane *p, sb_slice entry) {
    int64_t key;
    sb_slice value, name = {NULL, 0}, shown = {NULL, 0};
    sb_xevent_meta meta = {0};
    if (!read_entry(entry, &key, &value)) {
        sb_trace_note(p->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("the name of an event"));
        return true;
    }
    sb_pb c = sb_pb_over(value);
    sb_pb_field f;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        sb_xvalue v;
        if (f.number == SB_XEVENT_META_ID && f.wire == SB_PB_VARINT && !key) key = sb_pb_int64(&f);
        if (f.wire != SB_PB_BYTES) continue;
        if (f.number == SB_XEVENT_META_NAME) name = f.bytes;
        if (f.number == SB_XEVENT_META_DISPLAY_NAME) shown = f.bytes;
        if (f.number == SB_XEVENT_META_STATS && sb_xplane_value(p, f.bytes, &v) && v.id) {
            meta.has_facts = true;
            sb_xfacts_take(&meta.facts, &v, p->t);
        }
    }
    /* `name` tells the kind ("dense/MatMul:MatMul"); the display name is shorter ("MatMul") */
    meta.kind = (uint8_t)sb_classify_host(name);
    meta.name = sb_build_name(p->t, shown.n ? shown : name);
    return meta.name != SB_NO_INDEX && keep_event(p, key, &meta);
}

const sb_xevent_meta *sb_xplane_event(const sb_xplane *p, int64_t id) {
    if (id >= 0 && (size_t)id < p->event_of.n) {
        uint32_t at = p->event_of.items[id];
        return at ? &p->events.items[at - 1] : NULL;
    }
    uint32_t at = sb_intern_find(&p->event_ids, sb_slice_of(&id, 8));
    return at == SB_INTERN_NONE ? NULL : &p->events.items[at];
}

/* Calls `add` for each entry of one map of the plane. */
static bool walk_map(sb_xplane *p, uint32_t number, bool (*add)(sb_xplane *, sb_slice)) {
    sb_fields it = {p->bytes, p->at, p->end, false};
    sb_file_field f;
    while (sb_fields_next(&it, &f)) {
        if (f.number == SB_XPLANE_NAME && f.wire == SB_PB_BYTES && !p->name.p) {
            sb_slice name = sb_fields_load(&it, &f, SB_TRACE_NAME_BYTES);
            p->name = sb_arena_dup(&p->texts, name);
            if (!p->name.p) return false;
        }
        if (f.number != number || f.wire != SB_PB_BYTES || it.is_bad) continue;
        sb_slice entry = sb_fields_load(&it, &f, MOST_MESSAGE);
        if (f.n && !entry.n)
            sb_trace_note(p->t, SB_TRACE_ODD_BAD_MESSAGE, 1, SB_LIT("metadata that is too long"));
        else if (!add(p, entry))
            return false;
    }
    return true;
}

sb_status sb_xplane_read(sb_xplane *p, sb_trace *t, sb_trace_bytes *bytes, uint64_t at, uint64_t n,
                         bool with_events, sb_err *err) {
    *p = (sb_xplane){.t = t, .bytes = bytes, .at = at, .end = at + n};
    sb_arena_init(&p->texts, t->alloc, 16 << 10, (size_t)1 << 32);
    sb_intern_init(&p->stat_ids, t->alloc, 21, (uint32_t)MOST_META);
    sb_intern_init(&p->event_ids, t->alloc, 22, (uint32_t)MOST_META);
    if (walk_map(p, SB_XPLANE_STAT_METADATA, add_stat) &&
        (!with_events || walk_map(p, SB_XPLANE_EVENT_METADATA, add_event)))
        return SB_OK;
    return sb_fail_nomem(err, "for the names of a trace");
}

void sb_xplane_free(sb_xplane *p) {
    if (!p->t) return;
    SB_VEC_FREE(&p->stats, p->t->alloc);
    SB_VEC_FREE(&p->events, p->t->alloc);
    SB_VEC_FREE(&p->event_of, p->t->alloc);
    sb_intern_fini(&p->stat_ids);
    sb_intern_fini(&p->event_ids);
    sb_arena_fini(&p->texts);
}
