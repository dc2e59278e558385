/* text.c: strings out of tensors. */
#include "query/kinds/text.h"

#include "base/checked.h"
#include "query/records/value.h"
#include "base/banned.h"

/* One block for all bytes, one for the slices, one for the shape. */
static sb_status copy_strings(const sb_tensor_view *t, sb_arena *arena, sb_text_point *out) {
    size_t bytes;
    if (!sb_mul_size(&bytes, t->count, sizeof(sb_slice))) return SB_NOMEM;
    sb_slice *strings = sb_arena_get(arena, bytes);
    uint64_t *dims = sb_arena_get(arena, t->rank * sizeof *dims);
    if (!strings || !dims) return SB_NOMEM;
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = (uint64_t)t->dims[i];
    sb_strings walk = sb_tensor_strings(t);
    sb_slice text, last = {NULL, 0};
    size_t n = 0;
    for (; n < t->count && sb_strings_next(&walk, &text); n++) {
        /* A value that stands for many elements is copied once. */
        bool is_repeat = n && text.p == last.p && text.n == last.n;
        last = text;
        strings[n] = is_repeat ? strings[n - 1] : sb_arena_dup(arena, text);
        if (!strings[n].p) return SB_NOMEM;
    }
    out->strings = strings;
    out->n = n;
    out->rank = t->rank;
    out->dims = dims;
    return SB_OK;
}

typedef struct reading {
    const sb_ref_item *items;
    sb_arena *arena;
    sb_text_point *out;
    size_t max_strings;
} reading;

static sb_status take_text(void *ud, size_t index, sb_status status, sb_slice payload,
                           const sb_err *err) {
    (void)err;
    reading *r = ud;
    sb_tensor_view t;
    if (status == SB_OK) status = sb_ref_tensor(&r->items[index].ref, payload, &t, NULL);
    if (status == SB_OK && (t.dtype != SB_STRING || t.deep)) status = SB_CORRUPT;
    /* A tensor may claim more elements than its record has bytes: each takes a slice here. */
    if (status == SB_OK && t.count > r->max_strings) status = SB_LIMIT;
    if (status == SB_OK) status = copy_strings(&t, r->arena, &r->out[index]);
    r->out[index].status = status;
    return status == SB_NOMEM ? SB_NOMEM : SB_OK;
}

sb_status sb_texts_read(sb_blob_cache *blobs, sb_run *run, const sb_ref_item *items, size_t n,
                        size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                        sb_text_point *out, sb_err *err) {
    for (size_t i = 0; i < n; i++)
        out[i] = (sb_text_point){
            .step = items[i].step, .wall = items[i].wall, .superseded = items[i].superseded};
    reading r = {items, arena, out, max_bytes / sizeof(sb_slice) + 1};
    sb_status status =
        sb_blob_read_many(blobs, run, items, n, max_bytes, budget, arena, take_text, &r, err);
    return status == SB_NOMEM ? sb_fail_nomem(err, "for texts") : status;
}

sb_status sb_text_point_render(sb_buf *html, const sb_text_point *point, bool markdown,
                               const sb_markdown_limits *limits, sb_err *err) {
    if (point->status != SB_OK)
        return sb_fail(err, point->status, 0, "the text cannot be read: %s",
                       sb_status_meaning(point->status));
    return sb_text_render(html, point->strings, point->n, point->dims, point->rank, markdown,
                          limits, err);
}
