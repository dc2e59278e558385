/* chrome_event.c: parses the members of one event. */
#include "profile/read/chrome_int.h"
#include "base/banned.h"

/* Where to store the value of an argument; NULL: the argument is not used. */
static sb_slice *place_of(sb_chrome_args *a, sb_slice key) {
    static const struct {
        const char *key;
        uint16_t n, at;
    } table[] = {
#define PLACE(text, member) {text, sizeof(text) - 1, offsetof(sb_chrome_args, member)}
        PLACE("External id", external),
        PLACE("external id", external),
        PLACE("correlation", correlation),
        PLACE("correlation_id", correlation),
        PLACE("Sequence number", sequence),
        PLACE("Fwd thread id", forward_thread),
        PLACE("Bytes", bytes),
        PLACE("bytes", bytes),
        PLACE("Addr", address),
        PLACE("Total Allocated", allocated),
        PLACE("Total Reserved", reserved),
        PLACE("Device Type", device_type),
        PLACE("Device Id", device_id),
        PLACE("Python id", python_id),
        PLACE("Python parent id", python_parent),
        PLACE("Python module id", python_module),
        PLACE("Input Dims", dims),
        PLACE("Input dims", dims),
        PLACE("Input type", types),
        PLACE("name", label),
        PLACE("labels", labels),
        PLACE("sort_index", sort_index),
        PLACE("est. achieved occupancy %", occupancy),
        PLACE("theoretical_occupancy_pct", occupancy),
        PLACE("blocks per SM", blocks_per_sm),
        PLACE("In msg nelems", elements),
        PLACE("In msg size", elements),
        PLACE("dtype", dtype),
        PLACE("step_num", step_num),
        PLACE("hlo_op", hlo_op),
        PLACE("stream", stream),
        PLACE("Process Group Name", group),
        PLACE("Process Group Ranks", group_ranks),
        PLACE("Seq", group_sequence),
        PLACE("Src Rank", from_rank),
        PLACE("Dst Rank", to_rank),
#undef PLACE
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].n == key.n && memcmp(table[i].key, key.p, key.n) == 0)
            return (sb_slice *)(void *)((char *)a + table[i].at);
    }
    return NULL;
}

static sb_scan_step read_args(sb_scan *s, sb_chrome_args *a) {
    bool first = true;
    sb_slice key;
    sb_scan_value value;
    sb_scan_step step;
    while ((step = sb_scan_member(s, &first, &key, &value)) == SB_SCAN_OK) {
        if (key.n == 0) continue;
        sb_slice *place = place_of(a, key);
        if (place) *place = value.raw;
        if (value.kind == SB_SCAN_NUMBER && a->series_count < SB_CHROME_SERIES) {
            a->series[a->series_count].key = key;
            a->series[a->series_count++].value = value.raw;
        }
    }
    return step == SB_SCAN_END ? SB_SCAN_OK : step;
}

static void keep_member(sb_chrome_event *e, sb_slice key, const sb_scan_value *v) {
#define IS(text) (key.n == sizeof(text) - 1 && memcmp(key.p, text, sizeof(text) - 1) == 0)
    if (IS("ph"))
        e->phase = v->raw.n ? v->raw.p[0] : 0;
    else if (IS("name")) {
        e->name = v->raw;
        e->name_has_escapes = v->has_escapes;
    } else if (IS("cat"))
        e->category = v->raw;
    else if (IS("ts"))
        e->ts = v->raw;
    else if (IS("dur"))
        e->dur = v->raw;
    else if (IS("pid"))
        e->pid = v->raw;
    else if (IS("tid"))
        e->tid = v->raw;
    else if (IS("id"))
        e->id = v->raw;
    else if (IS("id2"))
        e->id = v->raw;
    else if (IS("scope"))
        e->scope = v->raw;
    else if (IS("bind_id"))
        e->bind_id = v->raw;
    else if (IS("flow_in"))
        e->flow_in = v->raw.n && v->raw.p[0] == 't';
    else if (IS("flow_out"))
        e->flow_out = v->raw.n && v->raw.p[0] == 't';
#undef IS
}

sb_scan_step sb_chrome_read_event(sb_chrome *c, sb_scan *s, sb_chrome_event *e) {
    (void)c;
    bool first = true;
    sb_slice key;
    sb_scan_value value;
    sb_scan_step step;
    *e = (sb_chrome_event){0};
    while ((step = sb_scan_key(s, &first, &key)) == SB_SCAN_OK) {
        if (key.n == 4 && memcmp(key.p, "args", 4) == 0) {
            sb_scan_blank(s);
            if (s->p == s->end) return s->is_last ? SB_SCAN_BAD : SB_SCAN_MORE;
            if (*s->p == '{') {
                step = read_args(s, &e->args);
                if (step != SB_SCAN_OK) return step;
                continue;
            }
        }
        step = sb_scan_value_next(s, &value);
        if (step != SB_SCAN_OK) return step;
        keep_member(e, key, &value);
    }
    return step == SB_SCAN_END ? SB_SCAN_OK : step;
}
