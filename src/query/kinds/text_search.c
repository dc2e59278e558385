/* text_search.c: the pattern over the strings of one record after the other. */
#include "query/kinds/text_search.h"

#include "base/text/utf8.h"
#include "query/records/value.h"
#include "base/banned.h"

enum { bytes_before = 60, bytes_match = 160, bytes_after = 120 };

typedef struct searching {
    const sb_ref_item *items;
    sb_tag_regex *pattern;
    sb_arena *arena;
    sb_text_hit *out;
    const sb_budget *budget;
    uint64_t bytes;
    sb_err *err;
} searching;

/* At most so many bytes from the front (or the back), no character cut, repaired where it is no
 * UTF-8. */
static sb_slice excerpt(sb_arena *arena, sb_slice part, size_t most, bool from_back) {
    if (part.n > most) {
        size_t cut = from_back ? part.n - most : most;
        while (cut > 0 && cut < part.n && (part.p[cut] & 0xc0) == 0x80)
            cut = from_back ? cut + 1 : cut - 1;
        part = from_back ? sb_slice_of(part.p + cut, part.n - cut) : sb_slice_of(part.p, cut);
    }
    if (sb_utf8_valid(part)) return sb_arena_dup(arena, part);
    sb_buf repaired;
    sb_buf_init(&repaired, arena->alloc, most * 4);
    sb_utf8_repair(&repaired, part);
    sb_slice copy = sb_arena_dup(arena, sb_buf_slice(&repaired));
    sb_buf_fini(&repaired);
    return copy;
}

static sb_status search_string(searching *s, sb_slice text, sb_text_hit *hit) {
    size_t begin, end = 0;
    while (hit->count < SB_TEXT_HITS_MOST) {
        sb_status status =
            sb_tag_regex_find(s->pattern, text, end, s->budget, &begin, &end, s->err);
        if (status == SB_NOT_FOUND) return SB_OK;
        if (status != SB_OK) return status;
        if (hit->count++ > 0) continue;
        hit->before = excerpt(s->arena, sb_slice_of(text.p, begin), bytes_before, true);
        hit->match =
            excerpt(s->arena, sb_slice_of(text.p + begin, end - begin), bytes_match, false);
        hit->after = excerpt(s->arena, sb_slice_of(text.p + end, text.n - end), bytes_after, false);
        if (!hit->before.p || !hit->match.p || !hit->after.p) return SB_NOMEM;
    }
    return SB_OK;
}

static sb_status search_record(void *ud, size_t index, sb_status status, sb_slice payload,
                               const sb_err *err) {
    (void)err;
    searching *s = ud;
    sb_tensor_view t;
    s->bytes += payload.n;
    if (status == SB_OK) status = sb_ref_tensor(&s->items[index].ref, payload, &t, NULL);
    if (status != SB_OK || t.dtype != SB_STRING) return SB_OK;
    sb_strings strings = sb_tensor_strings(&t);
    sb_slice text, last = {NULL, 0};
    while (sb_strings_next(&strings, &text)) {
        if (text.p == last.p && text.n == last.n) continue; /* one value for many elements */
        last = text;
        status = search_string(s, text, &s->out[index]);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

sb_status sb_texts_search(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                          size_t max_bytes, sb_tag_regex *pattern, const sb_budget *budget,
                          sb_arena *arena, sb_text_hit *out, uint64_t *bytes, sb_err *err) {
    for (size_t i = 0; i < n; i++) out[i] = (sb_text_hit){0};
    searching s = {items, pattern, arena, out, budget, 0, err};
    sb_status status =
        sb_blob_read_many(blobs, run, items, n, max_bytes, budget, arena, search_record, &s, err);
    if (bytes) *bytes += s.bytes;
    return status;
}
