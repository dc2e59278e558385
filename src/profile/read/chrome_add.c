/* chrome_add.c: makes spans, counters, arrows and memory events of the events of a Chrome
 * trace. */
#include <stdio.h>

#include "base/checked.h"
#include "base/text/number.h"
#include "profile/read/chrome_int.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define FAR_MICROS INT64_C(1000000000000) /* eleven days */
#define MOST_LABELS 200000u

sb_status sb_chrome_begin(sb_chrome *c, sb_trace *t, sb_trace_bytes *bytes, sb_err *err) {
    *c = (sb_chrome){.t = t, .bytes = bytes, .last_track = SB_NO_INDEX};
    sb_buf_init(&c->text, t->alloc, (size_t)64 << 20);
    c->host = sb_build_group(t, SB_LIT(""), SB_NO_INDEX, SB_GROUP_HOST,
                             t->sources.items[t->build->source].name);
    return c->host == SB_NO_INDEX ? sb_fail_nomem(err, "for a trace") : SB_OK;
}

void sb_chrome_free(sb_chrome *c) {
    SB_VEC_FREE(&c->kinds, c->t->alloc);
    SB_VEC_FREE(&c->labels, c->t->alloc);
    sb_buf_fini(&c->text);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Most events so far are far away from the first one, so the first one had the wrong time: begins
 * again with the time of another one. */
static void begin_again(sb_chrome *c, int64_t micros) {
    sb_trace *t = c->t;
    for (size_t i = t->build->first_track; i < t->tracks.n; i++) {
        sb_trace_note(t, SB_TRACE_ODD_FAR, t->tracks.items[i].spans.n, t->tracks.items[i].name);
        t->tracks.items[i].spans.n = 0;
        t->tracks.items[i].points.n = 0;
        t->build->open_top.items[i] = 0;
    }
    t->build->open.n = 0;
    for (size_t i = 0; i < t->build->async_open.n; i++) t->build->async_open.items[i] = 0;
    t->memory.n = t->build->first_memory;
    t->build->ends.n = t->build->first_end;
    c->has_window_end = false;
    c->base = micros;
    c->near = c->far;
    c->far = 0;
}

/* The time of an event. false: it has none that can be shown. */
static bool read_time(sb_chrome *c, const sb_chrome_event *e, int64_t *time) {
    int64_t micros, picos;
    if (!sb_scan_micros(e->ts, &micros, &picos)) {
        sb_trace_note(c->t, SB_TRACE_ODD_BAD_JSON, 1, e->name);
        return false;
    }
    if (!c->has_base) {
        c->has_base = true;
        c->base = micros; /* times relative to this one fit into 64-bit picoseconds */
    }
    int64_t since;
    if (__builtin_sub_overflow(micros, c->base, &since)) since = INT64_MAX;
    if (since > FAR_MICROS || since < -FAR_MICROS) {
        if (++c->far > c->near + 16)
            begin_again(c, micros);
        else
            sb_trace_note(c->t, SB_TRACE_ODD_FAR, 1, e->name);
        if (c->base != micros) return false;
        since = 0;
    }
    c->near++;
    *time = since * SB_PS_PER_US + picos;
    return true;
}

static int64_t read_duration(sb_chrome *c, const sb_chrome_event *e) {
    int64_t micros, picos;
    if (e->dur.n == 0) return 0;
    if (!sb_scan_micros(e->dur, &micros, &picos) || micros > FAR_MICROS || micros < -FAR_MICROS) {
        sb_trace_note(c->t, SB_TRACE_ODD_BAD_JSON, 1, e->name);
        return 0;
    }
    return micros * SB_PS_PER_US + picos;
}

/* ---- names and tracks ------------------------------------------------------------------------ */

static sb_slice plain_name(sb_chrome *c, const sb_chrome_event *e) {
    if (!e->name_has_escapes) return e->name;
    sb_buf_clear(&c->text);
    sb_scan_unescape(&c->text, e->name);
    return sb_buf_slice(&c->text);
}

static bool is_device_category(sb_slice category) {
    return sb_slice_eq(category, SB_LIT("kernel")) || sb_slice_eq(category, SB_LIT("Kernel")) ||
           sb_text_begins(category, "gpu_") || sb_text_begins(category, "cuda_sync") ||
           sb_slice_eq(category, SB_LIT("Memcpy")) || sb_slice_eq(category, SB_LIT("Memset"));
}

/* What a process or a thread is called until the file names it: a number is not enough, while a
 * text such as "stream 7" is. Torch marks the end of the capture without either. */
static sb_slice name_of_id(char name[80], const char *what, sb_slice id) {
    if (!id.n) return SB_LIT("marks of the profiler");
    if (id.n > 60) id.n = 60;
    if (id.p[0] != '-' && (id.p[0] < '0' || id.p[0] > '9')) return id;
    int n = snprintf(name, 80, "%s %.*s", what, (int)id.n, (const char *)id.p);
    return sb_slice_of(name, (size_t)n);
}

static uint32_t group_of(sb_chrome *c, sb_slice pid, bool is_device) {
    char name[80];
    uint32_t group =
        sb_build_group(c->t, pid, c->host, is_device ? SB_GROUP_DEVICE : SB_GROUP_PROCESS,
                       name_of_id(name, is_device ? "GPU" : "process", pid));
    if (group != SB_NO_INDEX && is_device) {
        sb_trace_group *g = &c->t->groups.items[group];
        if (g->kind != SB_GROUP_DEVICE) g->kind = SB_GROUP_DEVICE;
        if (!g->sort) g->sort = 1000;
    }
    return group;
}

static uint32_t track_of(sb_chrome *c, const sb_chrome_event *e) {
    size_t n = e->pid.n + e->tid.n + 2;
    bool is_device = is_device_category(e->category);
    uint8_t key[sizeof c->last_key];
    bool is_short = n <= sizeof key;
    if (is_short) {
        key[0] = is_device;
        if (e->pid.n) memcpy(key + 1, e->pid.p, e->pid.n);
        key[1 + e->pid.n] = 0;
        if (e->tid.n) memcpy(key + 2 + e->pid.n, e->tid.p, e->tid.n);
        if (n == c->last_key_n && memcmp(key, c->last_key, n) == 0) return c->last_track;
    }
    uint32_t group = group_of(c, e->pid, is_device);
    if (group == SB_NO_INDEX) return SB_NO_INDEX;
    char name[80];
    uint32_t track =
        sb_build_track(c->t, group, e->tid, is_device ? SB_TRACK_STREAM : SB_TRACK_THREAD,
                       name_of_id(name, is_device ? "stream" : "thread", e->tid));
    if (track != SB_NO_INDEX && is_short) {
        memcpy(c->last_key, key, n);
        c->last_key_n = n;
        c->last_track = track;
    }
    return track;
}

/* The kind of a span. It depends on name and category, and is remembered for each name. */
static sb_span_kind kind_of(sb_chrome *c, const sb_chrome_event *e, uint32_t name) {
    uint16_t mark = (uint16_t)(sb_build_hash(e->category, SB_LIT("")) & 0x7ff);
    while (c->kinds.n <= name) {
        uint16_t *slot = SB_VEC_PUSH(&c->kinds, c->t->alloc, SIZE_MAX);
        if (!slot) return SB_SPAN_OTHER;
        *slot = 0;
    }
    uint16_t *known = &c->kinds.items[name];
    if (*known && *known >> 5 == mark) return (sb_span_kind)((*known & 31) - 1);
    sb_span_kind kind = sb_classify_kineto(e->category, sb_trace_name(c->t, name));
    if (kind == SB_SPAN_OTHER && e->category.n == 0)
        kind = sb_classify_host(sb_trace_name(c->t, name));
    *known = (uint16_t)((unsigned)mark << 5 | ((unsigned)kind + 1));
    if (kind == SB_SPAN_STEP && !c->t->torch_steps &&
        sb_text_begins(sb_trace_name(c->t, name), SB_TORCH_STEP)) {
        uint32_t all = sb_build_name(c->t, SB_LIT("ProfilerStep*"));
        c->t->torch_steps = all == SB_NO_INDEX ? 0 : all + 1;
    }
    return kind;
}

/* ---- facts of a span ------------------------------------------------------------------------- */

static unsigned element_size(sb_slice type) {
    if (sb_text_has(type, "long") || sb_text_has(type, "double") || sb_text_has(type, "int64"))
        return 8;
    if (sb_text_has(type, "bfloat16") || sb_text_has(type, "half") || sb_text_has(type, "int16"))
        return 2;
    if (sb_text_has(type, "byte") || sb_text_has(type, "char") || sb_text_has(type, "int8"))
        return 1;
    return 4;
}

/* The number of elements of all tensors: "[[263424], [2, 3]]" has 263430. */
static int64_t count_elements(sb_slice dims) {
    int64_t sum = 0, product = 1, number = 0;
    bool any = false, in_number = false;
    for (size_t i = 0; i < dims.n; i++) {
        uint8_t ch = dims.p[i];
        if (ch >= '0' && ch <= '9') {
            if (number < INT64_C(1) << 40) number = number * 10 + (ch - '0');
            in_number = true;
            continue;
        }
        if (in_number && __builtin_mul_overflow(product, number, &product)) product = INT64_MAX;
        if (in_number) any = true;
        in_number = false;
        number = 0;
        if (ch == ']') {
            if (any) sb_sum(&sum, product);
            product = 1;
            any = false;
        }
    }
    return sum;
}

static float read_float(sb_slice raw) {
    double x;
    return sb_parse_double(raw, &x) ? (float)x : 0;
}

/* Keeps which operation of which process group a collective is. The two ends of a message count
 * their operations each for itself, so there the number says nothing. */
static bool keep_group(sb_chrome *c, sb_extra *e, const sb_chrome_args *a) {
    if (!a->group.n && !a->group_ranks.n) return true;
    sb_comm *m = SB_VEC_PUSH(&c->t->comms, c->t->alloc, UINT32_MAX - 1);
    if (!m) return false;
    *m = (sb_comm){sb_build_hash(a->group, a->group_ranks), -1, -1, -1};
    if (a->from_rank.n || a->to_rank.n) {
        sb_scan_int(a->from_rank, &m->from);
        sb_scan_int(a->to_rank, &m->to);
    } else {
        sb_scan_int(a->group_sequence, &m->sequence);
    }
    e->number = (int64_t)c->t->comms.n - 1;
    e->flags |= SB_EXTRA_GROUP;
    return true;
}

static bool keep_facts(sb_chrome *c, sb_trace_span *s, const sb_chrome_args *a, sb_span_kind kind) {
    bool has = a->external.n || a->correlation.n || a->python_id.n || a->step_num.n ||
               a->hlo_op.n || a->elements.n || a->group.n || a->group_ranks.n;
    if (!has) return true;
    sb_extra *e = sb_build_extra(c->t, s);
    int64_t parent;
    if (!e) return false;
    sb_scan_uint(a->external, &e->external);
    sb_scan_uint(a->correlation, &e->correlation);
    if (a->sequence.n) sb_scan_int(a->sequence, &e->number);
    if (a->forward_thread.n && !sb_slice_eq(a->forward_thread, SB_LIT("0")))
        e->flags |= SB_EXTRA_BACKWARD;
    if (a->python_id.n) {
        sb_scan_int(a->python_id, &e->number);
        if (sb_scan_int(a->python_parent, &parent)) e->second = parent + 1;
    }
    if (a->step_num.n && sb_scan_int(a->step_num, &e->number))
        e->flags |= SB_EXTRA_ROOT | SB_EXTRA_HAS_NUMBER;
    e->occupancy = read_float(a->occupancy);
    e->blocks_per_sm = read_float(a->blocks_per_sm);
    if (kind == SB_SPAN_COPY) sb_scan_int(a->bytes, &e->number);
    if (kind == SB_SPAN_COMM) {
        int64_t n = 0;
        if (!sb_scan_int(a->elements, &n)) n = count_elements(a->dims);
        int64_t size = (int64_t)element_size(a->dtype.n ? a->dtype : a->types);
        if (__builtin_mul_overflow(n, size, &e->second)) e->second = INT64_MAX;
        if (!a->step_num.n && !keep_group(c, e, a)) return false;
    }
    sb_slice text = a->hlo_op.n ? a->hlo_op : kind == SB_SPAN_OP ? a->dims : (sb_slice){NULL, 0};
    if (text.n) {
        uint32_t id = sb_build_name(c->t, text);
        if (id == SB_NO_INDEX) return false;
        e->text = id + 1;
    }
    return true;
}

static bool add_memory(sb_chrome *c, const sb_chrome_event *e, uint32_t track, int64_t time) {
    char name[48];
    int64_t type = 0, id = 0, bytes = 0, allocated = -1, reserved = -1;
    uint64_t address = 0;
    sb_scan_int(e->args.device_type, &type);
    sb_scan_int(e->args.device_id, &id);
    sb_scan_int(e->args.bytes, &bytes);
    sb_scan_uint(e->args.address, &address);
    if (e->args.allocated.n) sb_scan_int(e->args.allocated, &allocated);
    if (e->args.reserved.n) sb_scan_int(e->args.reserved, &reserved);
    if (type == 0)
        snprintf(name, sizeof name, "CPU");
    else
        snprintf(name, sizeof name, "GPU %lld", (long long)id);
    uint32_t device = sb_build_memory_device(c->t, sb_slice_str(name));
    if (device == SB_NO_INDEX) return false;
    return sb_build_memory(c->t, &(sb_memory_event){.time = time,
                                                    .address = address,
                                                    .bytes = bytes,
                                                    .allocated = allocated,
                                                    .reserved = reserved,
                                                    .device = device,
                                                    .track = track});
}

static bool is_zero(sb_slice number) {
    int64_t micros = 1, picos = 1;
    return sb_scan_micros(number, &micros, &picos) && micros == 0 && picos == 0;
}

/* ---- kinds of events ------------------------------------------------------------------------- */

static bool add_complete(sb_chrome *c, const sb_chrome_event *e, bool is_instant) {
    int64_t start;
    if (!read_time(c, e, &start)) return true;
    int64_t dur = is_instant ? 0 : read_duration(c, e);
    if (!is_instant && dur == 0 && is_device_category(e->category) && is_zero(e->ts)) {
        /* torch writes this for work of the device whose times it lost */
        sb_trace_note(c->t, SB_TRACE_ODD_FAR, 1, e->name);
        return true;
    }
    uint32_t track = track_of(c, e);
    uint32_t name = sb_build_name(c->t, plain_name(c, e));
    if (track == SB_NO_INDEX || name == SB_NO_INDEX) return false;
    if (is_instant && sb_slice_eq(e->name, SB_LIT("Record Window End"))) {
        c->has_window_end = true;
        c->window_end = start;
        c->window_end_track = track;
        return true;
    }
    sb_span_kind kind = is_instant ? SB_SPAN_MARKER : kind_of(c, e, name);
    if (is_instant && sb_slice_eq(e->name, SB_LIT("[memory]"))) {
        kind = SB_SPAN_MEMORY;
        if (!add_memory(c, e, track, start)) return false;
    }
    sb_trace_span *s = sb_build_span(c->t, track, start, dur, name, kind, e->at);
    if (!s || !keep_facts(c, s, &e->args, kind)) return false;
    if (!e->bind_id.n) return true;
    uint64_t key = sb_build_hash(e->bind_id, SB_LIT("bind")) + c->t->build->source;
    sb_flow_end end = {.key = key, .time = start, .track = track, .kind = SB_FLOW_OTHER};
    end.phase = e->flow_out && e->flow_in ? 't' : e->flow_out ? 's' : 'f';
    return sb_build_flow_end(c->t, &end);
}

static bool add_flow(sb_chrome *c, const sb_chrome_event *e) {
    int64_t time;
    bool is_launch =
        sb_slice_eq(e->category, SB_LIT("ac2g")) || sb_slice_eq(e->category, SB_LIT("async"));
    /* arrows of launches are made from correlation ids instead: those are complete */
    if (is_launch || !read_time(c, e, &time)) return true;
    uint32_t track = track_of(c, e);
    if (track == SB_NO_INDEX) return false;
    bool is_backward = sb_slice_eq(e->category, SB_LIT("fwdbwd")) ||
                       sb_slice_eq(e->category, SB_LIT("forward_backward"));
    return sb_build_flow_end(
        c->t, &(sb_flow_end){.key = sb_build_hash(e->category, e->id) + c->t->build->source,
                             .time = time,
                             .track = track,
                             .phase = e->phase,
                             .kind = is_backward ? SB_FLOW_FORWARD_BACKWARD : SB_FLOW_OTHER});
}

static bool add_counter(sb_chrome *c, const sb_chrome_event *e) {
    int64_t time;
    if (!read_time(c, e, &time)) return true;
    uint32_t group = group_of(c, e->pid, false);
    if (group == SB_NO_INDEX) return false;
    for (uint32_t i = 0; i < e->args.series_count; i++) {
        char name[300];
        double value;
        if (!sb_parse_double(e->args.series[i].value, &value)) continue;
        sb_slice key = e->args.series[i].key;
        int n = e->args.series_count == 1
                    ? snprintf(name, sizeof name, "%.*s", SB_SHOWN(e->name))
                    : snprintf(name, sizeof name, "%.*s: %.*s", SB_SHOWN(e->name), SB_SHOWN(key));
        char full[304];
        int m = snprintf(full, sizeof full, "C\t%s", name);
        uint32_t track = sb_build_track(c->t, group, sb_slice_of(full, (size_t)m), SB_TRACK_COUNTER,
                                        sb_slice_of(name, (size_t)n));
        if (track == SB_NO_INDEX || !sb_build_point(c->t, track, time, value)) return false;
        c->t->tracks.items[track].sort = INT64_MAX / 2;
    }
    return true;
}

static void end_async(sb_trace *t, sb_trace_span *s, int64_t end) {
    s->dur = end >= s->start ? end - s->start : 0;
    if (end < s->start) sb_trace_note(t, SB_TRACE_ODD_NEGATIVE, 1, sb_trace_name(t, s->name));
}

static bool add_async(sb_chrome *c, const sb_chrome_event *e) {
    sb_trace_build *b = c->t->build;
    char text[400];
    int64_t time;
    uint32_t id, group = group_of(c, e->pid, false);
    bool is_new, is_begin = e->phase == 'b' || e->phase == 'S';
    if (!read_time(c, e, &time)) return true;
    int n = snprintf(text, sizeof text, "A\t%.*s", SB_SHOWN(e->category));
    uint32_t track = group == SB_NO_INDEX
                         ? SB_NO_INDEX
                         : sb_build_track(c->t, group, sb_slice_of(text, (size_t)n), SB_TRACK_ASYNC,
                                          e->category.n ? e->category : SB_LIT("async"));
    uint32_t name = sb_build_name(c->t, plain_name(c, e));
    if (track == SB_NO_INDEX || name == SB_NO_INDEX) return false;
    if (e->phase == 'n' || e->phase == 'T' || e->phase == 'p')
        return sb_build_span(c->t, track, time, 0, name, SB_SPAN_MARKER, e->at) != NULL;
    n = snprintf(text, sizeof text, "%u\t%.*s\t%.*s", track, SB_SHOWN(e->id), SB_SHOWN(e->name));
    if (sb_intern_add(&b->async_keys, sb_slice_of(text, (size_t)n), &id, &is_new) != SB_OK)
        return false;
    uint32_t *open =
        is_new ? SB_VEC_PUSH(&b->async_open, c->t->alloc, SIZE_MAX) : &b->async_open.items[id];
    if (!open) return false;
    if (is_new) *open = 0;
    sb_track *k = &c->t->tracks.items[track];
    sb_trace_span *last = *open ? &k->spans.items[*open - 1] : NULL;
    if (!is_begin) {
        if (!last)
            sb_trace_note(c->t, SB_TRACE_ODD_MISSING_BEGIN, 1, e->name);
        else
            end_async(c->t, last, time);
        *open = 0;
        return true;
    }
    if (last) {
        sb_trace_note(c->t, SB_TRACE_ODD_REUSED, 1, e->name);
        last->dur = 0;
    }
    sb_trace_span *s = sb_build_span(c->t, track, time, 0, name, kind_of(c, e, name), e->at);
    if (!s) return false;
    s->dur = SB_STILL_OPEN;
    *open = (uint32_t)k->spans.n;
    return true;
}

static bool add_label(sb_chrome *c, const sb_chrome_event *e) {
    uint8_t what = 0;
    bool is_thread = sb_text_begins(e->name, "thread_");
    sb_slice value = e->args.label;
    if (sb_slice_ends(e->name, SB_LIT("_name"))) what = 'n';
    if (sb_slice_eq(e->name, SB_LIT("process_labels"))) {
        what = 'l';
        value = e->args.labels;
    }
    if (sb_slice_ends(e->name, SB_LIT("_sort_index"))) {
        what = 's';
        value = e->args.sort_index;
    }
    if (!what || c->labels.n >= MOST_LABELS) return true;
    sb_chrome_label *l = SB_VEC_PUSH(&c->labels, c->t->alloc, MOST_LABELS);
    if (!l) return false;
    l->what = what;
    l->pid = sb_arena_dup(&c->t->texts, e->pid);
    l->tid = is_thread ? sb_arena_dup(&c->t->texts, e->tid) : (sb_slice){NULL, 0};
    l->value = sb_build_text(c->t, value);
    return l->pid.p && l->value.p;
}

bool sb_chrome_add_event(sb_chrome *c, const sb_chrome_event *e) {
    int64_t time;
    uint32_t track, name;
    switch (e->phase) {
    case 'X':
        return add_complete(c, e, false);
    case 'i':
    case 'I':
    case 'R':
        return add_complete(c, e, true);
    case 'B':
        if (!read_time(c, e, &time)) return true;
        track = track_of(c, e);
        name = sb_build_name(c->t, plain_name(c, e));
        return track != SB_NO_INDEX && name != SB_NO_INDEX &&
               sb_build_begin(c->t, track, time, name, kind_of(c, e, name), e->at);
    case 'E':
        if (!read_time(c, e, &time)) return true;
        track = track_of(c, e);
        return track != SB_NO_INDEX && sb_build_end(c->t, track, time);
    case 'C':
        return add_counter(c, e);
    case 's':
    case 't':
    case 'f':
        return add_flow(c, e);
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
        return add_async(c, e);
    case 'M':
        return add_label(c, e);
    case 'N':
    case 'O':
    case 'D':
    case 'P':
    case 'c':
    case '(':
    case ')':
    case 'v':
    case 'V':
        return true; /* objects, samples, clock syncs, contexts, memory dumps: nothing to draw */
    default:
        if (e->phase || e->name.n) /* XProf writes an empty object at the end of its arrays */
            sb_trace_note(c->t, SB_TRACE_ODD_PHASE, 1, e->name);
        return true;
    }
}
