/* profile_overview.c: steps and where their time goes, idle devices, the heaviest operators, what
 * to do about it. */
#include "profile/analysis/views.h"
#include "profile/trace/classify.h"
#include "server/api/profile/profile_tables.h"
#include "base/banned.h"

#define MOST_STEPS 2000u

static void add_stats(sb_json *j, const sb_analysis *a) {
    sb_json_open_object(j, "stats");
    sb_json_put_int(j, "medianPs", a->stats.median);
    sb_json_put_int(j, "p95Ps", a->stats.p95);
    sb_json_put_int(j, "worstPs", a->stats.worst);
    sb_json_put_int(j, "meanPs", a->stats.mean);
    sb_json_put_int(j, "deviationPs", a->stats.deviation);
    sb_json_end_object(j);
    sb_profile_add_parts(j, "median", a->stats.parts);
}

static void add_devices(sb_json *j, const sb_trace *t) {
    sb_json_open_array(j, "devices");
    for (size_t i = 0; i < t->devices.n; i++) {
        const sb_device *d = &t->devices.items[i];
        sb_json_begin_object(j);
        sb_json_put_uint(j, "source", d->source);
        sb_json_put_text(j, "name", d->name);
        sb_json_put_text(j, "capability", d->capability);
        sb_json_put_uint(j, "memoryBytes", d->memory);
        sb_json_put_uint(j, "multiprocessors", d->multiprocessors);
        sb_json_put_bool(j, "used", d->group != SB_NO_INDEX);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    sb_json_open_array(j, "facts");
    for (size_t i = 0; i < t->facts.n && i < 200; i++) {
        sb_json_begin_array(j);
        sb_json_text(j, t->facts.items[i].name);
        sb_json_text(j, t->facts.items[i].value);
        sb_json_end_array(j);
    }
    sb_json_end_array(j);
}

/* What the host does while the device does nothing. */
static void add_idle(sb_json *j, const sb_analysis *a) {
    sb_json_open_array(j, "idle");
    for (uint32_t i = 0; i < a->t->sources.n; i++) {
        const sb_source_parts *p = &a->sources[i];
        int64_t parts[SB_PART_COUNT] = {0};
        if (!p->has_device) continue;
        for (int k = SB_PART_INPUT; k < SB_PART_COUNT; k++) parts[k] = p->parts[k];
        sb_json_begin_object(j);
        sb_json_put_uint(j, "source", i);
        sb_json_put_text(j, "name", a->t->sources.items[i].name);
        sb_json_put_int(j, "spanPs", p->to - p->from);
        sb_json_put_int(j, "busyPs", p->device_busy);
        sb_profile_add_parts(j, "parts", parts);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static bool add_advice(sb_json *j, sb_profile_ask *p) {
    sb_advice *items;
    size_t n;
    if (!sb_view_advice(p->a, &items, &n, &p->arena)) return false;
    sb_json_open_array(j, "advice");
    for (size_t i = 0; i < n; i++) {
        const sb_advice *v = &items[i];
        sb_json_begin_object(j);
        sb_json_put_str(j, "id", v->id);
        sb_json_put_int(j, "savesPs", v->saves);
        sb_json_put_double(j, "share", v->share);
        sb_json_put_double(j, "value", v->value);
        sb_json_put_text(j, "name", v->name);
        sb_json_put_str(j, "text", v->text);
        sb_json_put_uint(j, "count", v->count);
        sb_json_open_array(j, "slices");
        for (uint32_t k = 0; k < v->slice_count; k++)
            sb_profile_add_ref(j, p->t, v->tracks[k], v->slices[k]);
        sb_json_end_array(j);
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
    return true;
}

static bool add_memory(sb_json *j, sb_profile_ask *p) {
    const sb_trace *t = p->t;
    sb_memory_view best = {0};
    uint32_t device = SB_NO_INDEX;
    for (uint32_t i = 0; i < t->memory_devices.n; i++) {
        sb_memory_view v;
        if (!sb_view_memory(t, i, 1, &v, &p->arena)) return false;
        if (device != SB_NO_INDEX && v.peak <= best.peak) continue;
        best = v;
        device = i;
    }
    sb_json_key_str(j, "memory");
    if (device == SB_NO_INDEX) {
        sb_json_null(j);
        return true;
    }
    sb_slice name = t->memory_devices.items[device].name;
    uint64_t capacity = 0;
    /* devices have a size; the memory of the host is not theirs */
    for (size_t i = 0; i < t->devices.n && sb_text_begins(name, "GPU"); i++)
        if (t->devices.items[i].group != SB_NO_INDEX && t->devices.items[i].memory > capacity)
            capacity = t->devices.items[i].memory;
    sb_json_begin_object(j);
    sb_json_put_text(j, "device", name);
    sb_json_put_int(j, "peakBytes", best.peak);
    sb_json_put_int(j, "atPs", best.peak_time);
    sb_json_put_uint(j, "capacityBytes", capacity);
    sb_json_end_object(j);
    return true;
}

/* What takes most of a step besides the work itself. */
static void add_verdict(sb_json *j, const sb_analysis *a) {
    static const sb_step_part causes[] = {SB_PART_INPUT,  SB_PART_COMMUNICATION, SB_PART_COPY,
                                          SB_PART_LAUNCH, SB_PART_SYNC,          SB_PART_COMPILE,
                                          SB_PART_HOST,   SB_PART_OTHER};
    sb_step_part work = a->has_device ? SB_PART_COMPUTE : SB_PART_HOST, kind = work;
    int64_t most = 0;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        int64_t ps = a->stats.parts[causes[i]];
        if (causes[i] == work || ps <= most || ps * 10 <= a->stats.median) continue;
        /* what has no name tells least: only where there is more of it than of the work */
        if (causes[i] == SB_PART_OTHER && ps <= a->stats.parts[work]) continue;
        most = ps;
        kind = causes[i];
    }
    sb_json_open_object(j, "verdict");
    sb_json_put_str(j, "kind", a->step_count ? sb_part_name(kind) : "none");
    sb_json_put_double(
        j, "share", a->stats.median ? (double)a->stats.parts[kind] / (double)a->stats.median : 0);
    sb_json_end_object(j);
}

static void add_communication(sb_json *j, const sb_analysis *a) {
    int64_t all = 0, exposed = 0;
    for (size_t i = 0; i < a->t->sources.n; i++) {
        all += a->sources[i].communication;
        exposed += a->sources[i].parts[SB_PART_COMMUNICATION];
    }
    sb_json_open_object(j, "communication");
    sb_json_put_int(j, "totalPs", all);
    sb_json_put_int(j, "exposedPs", exposed);
    sb_json_end_object(j);
}

static sb_status answer_overview(sb_profile_ask *p, sb_http_reply *r) {
    sb_json j;
    sb_profile_begin(&j, p, r);
    sb_json_put_bool(&j, "hasDevice", p->a->has_device);
    sb_json_put_double(&j, "deviceBusy", p->a->device_busy);
    sb_json_put_double(&j, "hostBusy", p->a->host_busy);
    add_verdict(&j, p->a);
    sb_profile_add_steps(&j, p->a, MOST_STEPS, true);
    add_stats(&j, p->a);
    add_devices(&j, p->t);
    add_idle(&j, p->a);
    add_communication(&j, p->a);
    sb_json_open_array(&j, "top");
    for (size_t i = 0, shown = 0; i < p->a->op_count && shown < 10; i++) {
        if (p->a->ops[i].kind == SB_SPAN_STEP) continue;
        sb_profile_add_op(&j, p->t, &p->a->ops[i]);
        shown++;
    }
    sb_json_end_array(&j);
    bool is_done = add_memory(&j, p) && add_advice(&j, p);
    return is_done ? sb_api_end(&j, r) : SB_NOMEM;
}

sb_status sb_api_profile_overview(sb_http_request *q, sb_http_reply *r, void *app) {
    return sb_profile_answer(q, r, app, answer_overview);
}
