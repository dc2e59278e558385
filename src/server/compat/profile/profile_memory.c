/* profile_memory.c: XProf's memory profile: for every allocator its curve, its peak, and what was
 * allocated then, as the JSON of its messages (64-bit numbers are texts). */
#include <stdlib.h>

#include "base/checked.h"
#include "base/intern.h"
#include "base/text/number.h"
#include "profile/analysis/views.h"
#include "server/compat/profile/profile_tools.h"
#include "base/banned.h"

#define MOST_SNAPSHOTS 1000u

/* Blocks of one size that one operator holds at the peak. */
typedef struct held {
    int64_t bytes;
    uint32_t op; /* a name + 1 */
    uint64_t count;
    uint32_t event; /* one of those that allocated them */
} held;

typedef SB_VEC(held) held_list;

static void put_number(sb_json *j, const char *key, int64_t x) {
    char text[SB_NUMBER_ROOM];
    sb_json_put_text(j, key, sb_slice_of(text, sb_print_int64(text, x)));
}

/* ---- what is held at the peak ---------------------------------------------------------------- */

static int compare_held(const void *a, const void *b) {
    const held *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static bool take_held(const sb_trace *t, uint32_t device, int64_t until, held_list *out) {
    const sb_memory_device *d = &t->memory_devices.items[device];
    sb_intern addresses;
    bool is_done = true;
    size_t n = 0;
    sb_intern_init(&addresses, t->alloc, 61, UINT32_MAX - 1);
    for (size_t i = d->first; i < d->first + d->n && is_done; i++) {
        const sb_memory_event *e = &t->memory.items[i];
        uint32_t id;
        bool is_new;
        if (e->time > until) break;
        is_done = sb_intern_add(&addresses, sb_slice_of(&e->address, 8), &id, &is_new) == SB_OK;
        if (!is_done) break;
        held *h = is_new ? SB_VEC_PUSH(out, t->alloc, SIZE_MAX) : &out->items[id];
        is_done = h != NULL;
        if (h) *h = e->bytes > 0 ? (held){e->bytes, e->op, 1, (uint32_t)i} : (held){0};
    }
    sb_intern_fini(&addresses);
    if (out->n) qsort(out->items, out->n, sizeof out->items[0], compare_held);
    for (size_t i = 0; i < out->n && out->items[i].bytes; i++) {
        held *last = n ? &out->items[n - 1] : NULL;
        if (last && last->bytes == out->items[i].bytes && last->op == out->items[i].op)
            last->count++;
        else
            out->items[n++] = out->items[i];
    }
    out->n = n;
    return is_done;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_stats(sb_json *j, const char *key, const sb_memory_device *d, int64_t allocated,
                      int64_t reserved, int64_t peak) {
    int64_t room = d->capacity ? d->capacity : reserved;
    sb_sum(&room, allocated > 0 ? -allocated : 0);
    sb_json_open_object(j, key);
    put_number(j, "stackReservedBytes", 0);
    put_number(j, "heapAllocatedBytes", allocated);
    put_number(j, "freeMemoryBytes", room > 0 ? room : 0);
    sb_json_put_double(j, "fragmentation", 0);
    put_number(j, "peakBytesInUse", peak);
    sb_json_end_object(j);
}

static void add_activity(sb_json *j, bool is_free, int64_t bytes, uint64_t address, sb_slice op) {
    char text[SB_NUMBER_ROOM];
    sb_json_put_str(j, "memoryActivity", is_free ? "DEALLOCATION" : "ALLOCATION");
    put_number(j, "requestedBytes", bytes);
    put_number(j, "allocationBytes", bytes);
    sb_json_put_text(j, "address", sb_slice_of(text, sb_print_uint64(text, address)));
    sb_json_put_text(j, "tfOpName", op);
    put_number(j, "stepId", 0);
    sb_json_put_str(j, "regionType", "");
    sb_json_put_str(j, "dataType", "INVALID");
    sb_json_put_str(j, "tensorShape", "");
}

static void add_snapshot(sb_json *j, const sb_trace *t, const sb_memory_event *e, int64_t level) {
    const sb_memory_device *d = &t->memory_devices.items[e->device];
    bool is_free = e->bytes < 0;
    sb_json_begin_object(j);
    put_number(j, "timeOffsetPs", e->time);
    add_stats(j, "aggregationStats", d, level, e->reserved, d->peak);
    sb_json_open_object(j, "activityMetadata");
    add_activity(j, is_free, is_free ? -e->bytes : e->bytes, e->address,
                 e->op ? sb_trace_name(t, e->op - 1) : SB_LIT(""));
    sb_json_end_object(j);
    sb_json_end_object(j);
}

/* In every stretch of events the one after which most is allocated. */
static void add_timeline(sb_json *j, const sb_trace *t, uint32_t device, uint64_t events) {
    const sb_memory_device *d = &t->memory_devices.items[device];
    uint64_t stretch = events / MOST_SNAPSHOTS + 1, seen = 0;
    const sb_memory_event *best = NULL;
    int64_t level = 0, most = 0;
    sb_json_open_array(j, "sampledTimelineSnapshots");
    for (size_t i = d->first; i < d->first + d->n; i++) {
        const sb_memory_event *e = &t->memory.items[i];
        level = sb_memory_level(e, level);
        if (!best || level > most) {
            best = e;
            most = level;
        }
        if (++seen % stretch == 0 || seen == events) {
            add_snapshot(j, t, best, most);
            best = NULL;
        }
    }
    sb_json_end_array(j);
}

static void add_place(sb_json *j, int64_t snapshot, int64_t special, uint64_t count) {
    sb_json_begin_object(j);
    put_number(j, "snapshotIndex", snapshot);
    put_number(j, "specialIndex", special);
    put_number(j, "numOccurrences", (int64_t)count);
    sb_json_end_object(j);
}

static void add_held(sb_json *j, const sb_trace *t, const held_list *list, int64_t peak) {
    int64_t known = 0;
    sb_json_open_array(j, "memoryProfileSnapshots");
    for (size_t i = 0; i < list->n && i < MOST_SNAPSHOTS; i++)
        add_snapshot(j, t, &t->memory.items[list->items[i].event],
                     sb_memory_level(&t->memory.items[list->items[i].event], 0));
    sb_json_end_array(j);
    for (size_t i = 0; i < list->n; i++)
        for (uint64_t k = 0; k < list->items[i].count; k++) sb_sum(&known, list->items[i].bytes);
    bool has_unknown = known < peak; /* allocated before the capture began */
    sb_json_open_array(j, "activeAllocations");
    if (has_unknown) add_place(j, -1, 0, 1);
    for (size_t i = 0; i < list->n && i < MOST_SNAPSHOTS; i++)
        add_place(j, (int64_t)i, -1, list->items[i].count);
    sb_json_end_array(j);
    sb_json_open_array(j, "specialAllocations");
    if (has_unknown) {
        sb_json_begin_object(j);
        add_activity(j, false, peak - known, 0, SB_LIT("allocated before the capture"));
        sb_json_end_object(j);
    }
    sb_json_end_array(j);
}

static bool add_allocator(sb_json *j, const sb_trace *t, uint32_t device, sb_arena *arena) {
    const sb_memory_device *d = &t->memory_devices.items[device];
    sb_memory_view v;
    held_list list = {0};
    sb_arena_mark mark = sb_arena_here(arena);
    if (!sb_view_memory(t, device, 1, &v, arena)) return false;
    bool is_done = take_held(t, device, v.peak_time, &list);
    if (is_done) {
        sb_json_key(j, d->name);
        sb_json_begin_object(j);
        add_held(j, t, &list, v.peak);
        sb_json_open_object(j, "profileSummary");
        put_number(j, "peakBytesUsageLifetime", d->peak > v.peak ? d->peak : v.peak);
        add_stats(j, "peakStats", d, v.peak, 0, v.peak);
        put_number(j, "peakStatsTimePs", v.peak_time);
        put_number(j, "memoryCapacity", d->capacity);
        sb_json_end_object(j);
        add_timeline(j, t, device, v.events);
        sb_json_end_object(j);
    }
    SB_VEC_FREE(&list, t->alloc);
    sb_arena_reset(arena, mark);
    return is_done;
}

SB_PROFILE_TOOL(memory) {
    const sb_trace *t = a->t;
    sb_json j;
    (void)csv; /* no table */
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_open_object(&j, "memoryProfilePerAllocator");
    for (uint32_t i = 0; i < t->memory_devices.n; i++) {
        if (sb_http_expired(q)) return SB_TIMEOUT;
        if (sb_compat_profile_wants(q, t, t->memory_devices.items[i].source) &&
            !add_allocator(&j, t, i, q->arena))
            return SB_NOMEM;
    }
    sb_json_end_object(&j);
    sb_json_put_uint(&j, "numHosts", 1);
    sb_json_open_array(&j, "memoryIds");
    for (uint32_t i = 0; i < t->memory_devices.n; i++)
        if (sb_compat_profile_wants(q, t, t->memory_devices.items[i].source))
            sb_json_text(&j, t->memory_devices.items[i].name);
    sb_json_end_array(&j);
    sb_json_put_uint(&j, "version", 1);
    sb_json_open_array(&j, "hloModules");
    sb_json_end_array(&j);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
