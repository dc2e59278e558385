/* chrome.c: reads Chrome traces, also those of torch (Kineto), as a stream of events.
 *
 * The window on the file is a few megabytes. An event that does not end inside it is read again
 * with a larger window. */
#include <jansson.h>
#include <stdio.h>

#include "profile/read/chrome_int.h"
#include "profile/read/read.h"
#include "profile/trace/classify.h"
#include "base/banned.h"

#define FIRST_LOOK ((size_t)256 << 10)
#define MOST_LOOK ((size_t)256 << 20) /* the longest event that is read */
/* the longest value of the top-level object that is read, other than the events */
#define MOST_HEAD ((size_t)4 << 20)

/* A scanner over the text from `at` on, with at least `wanted` bytes if the file has so many. */
static sb_scan look_at(sb_chrome *c, uint64_t at, size_t wanted) {
    sb_slice text = sb_trace_bytes_need(c->bytes, at, wanted);
    return (sb_scan){text.p, text.p ? text.p + text.n : NULL, text.n < wanted, 0};
}

/* ---- beside the events ----------------------------------------------------------------------- */

static void keep_device(sb_chrome *c, const json_t *item) {
    char text[48];
    sb_trace *t = c->t;
    sb_device *d = SB_VEC_PUSH(&t->devices, t->alloc, 4096);
    if (!d) return;
    *d = (sb_device){.source = t->build->source, .group = SB_NO_INDEX};
    const char *name = json_string_value(json_object_get(item, "name"));
    d->id = json_integer_value(json_object_get(item, "id"));
    d->name = sb_build_text(t, sb_slice_str(name ? name : "GPU"));
    d->memory = (uint64_t)json_integer_value(json_object_get(item, "totalGlobalMem"));
    d->multiprocessors = (uint32_t)json_integer_value(json_object_get(item, "numSms"));
    snprintf(text, sizeof text, "%lld.%lld",
             (long long)json_integer_value(json_object_get(item, "computeMajor")),
             (long long)json_integer_value(json_object_get(item, "computeMinor")));
    d->capability = sb_build_text(t, sb_slice_str(text));
}

static void keep_distributed(sb_chrome *c, const json_t *info) {
    sb_trace_source *s = &c->t->sources.items[c->t->build->source];
    const json_t *rank = json_object_get(info, "rank"),
                 *world = json_object_get(info, "world_size");
    const char *backend = json_string_value(json_object_get(info, "backend"));
    if (json_is_integer(rank)) s->rank = json_integer_value(rank);
    if (json_is_integer(world)) s->world = json_integer_value(world);
    if (backend) s->backend = sb_build_text(c->t, sb_slice_str(backend));
}

static void keep_head(sb_chrome *c, sb_slice key, const sb_scan_value *v) {
    sb_trace_source *s = &c->t->sources.items[c->t->build->source];
    int64_t number;
    if (sb_slice_eq(key, SB_LIT("schemaVersion")) || sb_slice_eq(key, SB_LIT("deviceProperties")))
        s->format = SB_FORMAT_KINETO;
    if (sb_slice_eq(key, SB_LIT("baseTimeNanoseconds"))) {
        if (sb_scan_int(v->raw, &number)) s->base_ns = number;
    } else if (v->kind == SB_SCAN_NUMBER || v->kind == SB_SCAN_TEXT) {
        sb_build_fact(c->t, key, v->raw);
    } else if (v->raw.n < MOST_HEAD) {
        json_t *tree = json_loadb((const char *)v->raw.p, v->raw.n, JSON_ALLOW_NUL, NULL);
        if (sb_slice_eq(key, SB_LIT("deviceProperties")))
            for (size_t i = 0; i < json_array_size(tree); i++)
                keep_device(c, json_array_get(tree, i));
        if (sb_slice_eq(key, SB_LIT("distributedInfo"))) keep_distributed(c, tree);
        json_decref(tree);
    }
}

/* ---- the events ------------------------------------------------------------------------------ */

/* After something that cannot be read: finds the next place that looks like the start of an
 * event. */
static bool find_next_event(sb_chrome *c, uint64_t *at) {
    uint64_t from = *at + 1;
    for (;;) {
        sb_scan s = look_at(c, from, FIRST_LOOK);
        if (!s.p) return false;
        size_t n = (size_t)(s.end - s.p);
        for (size_t i = 0; i + 8 < n; i++) {
            if (s.p[i] != '{') continue;
            size_t k = i + 1;
            while (k < n && (s.p[k] == ' ' || s.p[k] == '\n' || s.p[k] == '\r' || s.p[k] == '\t'))
                k++;
            if (n - k < 7) break;
            const char *p = (const char *)s.p + k;
            if (memcmp(p, "\"ph\"", 4) == 0 || memcmp(p, "\"name\"", 6) == 0 ||
                memcmp(p, "\"pid\"", 5) == 0 || memcmp(p, "\"cat\"", 5) == 0 ||
                memcmp(p, "\"ts\"", 4) == 0) {
                *at = from + i;
                return true;
            }
        }
        if (s.is_last) return false;
        from += n - 64;
    }
}

/* Reads the event at *at, and moves *at behind it. */
static sb_scan_step take_event(sb_chrome *c, uint64_t *at) {
    for (size_t wanted = FIRST_LOOK;; wanted *= 4) {
        sb_scan s = look_at(c, *at, wanted);
        const uint8_t *from = s.p;
        if (!from) return SB_SCAN_END;
        sb_chrome_event e;
        sb_scan_step step = sb_chrome_read_event(c, &s, &e);
        if (step == SB_SCAN_MORE && wanted < MOST_LOOK) continue;
        if (step != SB_SCAN_OK) return SB_SCAN_BAD;
        if (s.repaired) sb_trace_note(c->t, SB_TRACE_ODD_BAD_JSON, s.repaired, e.name);
        e.at = *at;
        if (!sb_chrome_add_event(c, &e)) c->has_failed = true;
        *at += (uint64_t)(s.p - from);
        return SB_SCAN_OK;
    }
}

/* Reads the array of events, whose opening bracket is just before *at; moves *at behind the
 * array. */
static bool read_events(sb_chrome *c, uint64_t *at) {
    for (uint64_t n = 1; !c->has_failed; n++) {
        sb_scan s = look_at(c, *at, 4096);
        const uint8_t *from = s.p;
        if (!from) return false;
        while (s.p < s.end &&
               (*s.p == ' ' || *s.p == '\n' || *s.p == '\r' || *s.p == '\t' || *s.p == ','))
            s.p++;
        *at += (uint64_t)(s.p - from);
        if (s.p == s.end) {
            if (s.is_last) return false;
            continue;
        }
        if (*s.p == ']') {
            ++*at;
            return true;
        }
        uint64_t start = *at;
        if (*s.p != '{' || take_event(c, at) != SB_SCAN_OK) {
            bool is_found = find_next_event(c, at);
            if (!is_found) return false;
            sb_trace_notef(c->t, SB_TRACE_ODD_BAD_JSON, "%llu bytes at %llu were skipped",
                           (unsigned long long)(*at - start), (unsigned long long)start);
        }
        if ((n & 0x3fff) == 0) {
            uint64_t done, all;
            sb_trace_bytes_progress(c->bytes, &done, &all);
            if (!sb_build_progress(c->t, done)) c->has_failed = true;
        }
    }
    return false;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads a value of the top-level object that is not the events. */
static bool read_head_value(sb_chrome *c, sb_slice key, uint64_t *at) {
    char kept[64];
    size_t n = key.n < sizeof kept ? key.n : sizeof kept;
    memcpy(kept, key.p, n);
    for (size_t wanted = FIRST_LOOK;; wanted *= 4) {
        sb_scan s = look_at(c, *at, wanted);
        const uint8_t *from = s.p;
        sb_scan_value value;
        if (!from) return false;
        sb_scan_step step = sb_scan_value_next(&s, &value);
        if (step == SB_SCAN_MORE && wanted < MOST_LOOK) continue;
        if (step != SB_SCAN_OK) return false;
        keep_head(c, sb_slice_of(kept, n), &value);
        *at += (uint64_t)(s.p - from);
        return true;
    }
}

/* What a program tells torch about itself is written before the events as it is, and may be no
 * JSON: finds the events behind it, once. */
static bool find_events(sb_chrome *c, uint64_t *at) {
    static const char key[] = "\"traceEvents\"";
    for (uint64_t from = *at + 1; !c->has_looked_for_events;) {
        sb_scan s = look_at(c, from, FIRST_LOOK);
        size_t n = s.p ? (size_t)(s.end - s.p) : 0;
        const uint8_t *found = n ? memmem(s.p, n, key, sizeof key - 1) : NULL;
        if (found) {
            uint64_t start = *at;
            *at = from + (uint64_t)(found - s.p);
            sb_trace_notef(c->t, SB_TRACE_ODD_BAD_JSON, "%llu bytes at %llu were skipped",
                           (unsigned long long)(*at - start), (unsigned long long)start);
        }
        c->has_looked_for_events = found || s.is_last || n < sizeof key;
        if (found) return true;
        from += n - sizeof key;
    }
    return false;
}

/* Reads the top-level object. false: it does not end. */
static bool read_object(sb_chrome *c, uint64_t at, bool *has_events) {
    bool first = true;
    while (!c->has_failed) {
        sb_scan s = look_at(c, at, FIRST_LOOK);
        const uint8_t *from = s.p;
        sb_slice key;
        if (!from) return *has_events;
        sb_scan_step step = sb_scan_key(&s, &first, &key);
        if (step == SB_SCAN_END) return true;
        if (step != SB_SCAN_OK) {
            if (*has_events || !find_events(c, &at)) return false;
            continue;
        }
        sb_scan_blank(&s);
        bool is_events = sb_slice_eq(key, SB_LIT("traceEvents"));
        at += (uint64_t)(s.p - from);
        if (is_events && s.p < s.end && *s.p == '[') {
            at++;
            *has_events = true;
            if (!read_events(c, &at)) return false;
        } else if (!read_head_value(c, key, &at) && (*has_events || !find_events(c, &at))) {
            return false;
        }
    }
    return false;
}

/* Where the text begins: behind a byte order mark, which some editors write, and blanks. */
static uint64_t find_start(sb_chrome *c) {
    sb_slice head = sb_trace_bytes_need(c->bytes, 0, 3);
    uint64_t at = sb_slice_starts(head, SB_LIT("\xef\xbb\xbf")) ? 3 : 0;
    sb_scan s = look_at(c, at, 4096);
    const uint8_t *from = s.p;
    sb_scan_blank(&s);
    return at + (uint64_t)(s.p - from);
}

sb_status sb_read_chrome(sb_trace *t, sb_trace_bytes *bytes, sb_err *err) {
    sb_chrome c;
    sb_trace_source *source = &t->sources.items[t->build->source];
    sb_slice path = source->path;
    source->format = sb_slice_ends(path, SB_LIT(".pt.trace.json")) ||
                             sb_slice_ends(path, SB_LIT(".pt.trace.json.gz"))
                         ? SB_FORMAT_KINETO
                         : SB_FORMAT_CHROME;
    sb_status status = sb_chrome_begin(&c, t, bytes, err);
    if (status != SB_OK) return status;
    uint64_t at = find_start(&c), done;
    sb_scan s = look_at(&c, at, 4096);
    bool is_whole, has_events = s.p < s.end && *s.p == '[';
    if (has_events) {
        at++;
        is_whole = read_events(&c, &at);
    } else {
        is_whole = read_object(&c, at, &has_events);
    }
    sb_trace_bytes_progress(bytes, &done, &source->size);
    if (!is_whole && !c.has_failed) sb_trace_note(t, SB_TRACE_ODD_CUT_FILE, 1, source->name);
    if (!c.has_failed && !sb_chrome_end(&c)) c.has_failed = true;
    bool has_failed = c.has_failed;
    sb_chrome_free(&c);
    if (is_whole && !has_events)
        return sb_fail(err, SB_INVALID, 0, "%.*s is JSON, but has no traceEvents", SB_SHOWN(path));
    if (!has_failed) return SB_OK;
    if (t->build->is_cancelled) return sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    return sb_fail_nomem(err, "for a trace, or it has too many events");
}
