/* graph_text.c: sorts the map entries of messages by key, and prints messages in text format. */
#include <stdlib.h>

#include "base/slice.h"
#include "codec/proto/proto.h"
#include "codec/proto/text_format.h"
#include "graph/formats/graph.h"
#include "base/banned.h"

typedef struct sorting {
    sb_buf *out;
    sb_arena *scratch;
} sorting;

/* One entry of a map. The keys of all maps that occur here are strings or integers; the field that
 * is not used is empty or 0. */
typedef struct entry {
    const sb_field_info *field;
    sb_slice body;
    sb_slice text;
    uint64_t number;
    size_t order; /* position in the message, so that the last of equal keys can be kept */
} entry;

static int by_key(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->field != y->field) return x->field->number < y->field->number ? -1 : 1;
    int order = sb_slice_cmp(x->text, y->text);
    if (order) return order;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static bool same_key(const entry *a, const entry *b) {
    return a->field == b->field && a->number == b->number && sb_slice_eq(a->text, b->text);
}

/* The key is field 1 of a map entry. If it occurs several times, the last one is valid. */
static sb_status read_key(entry *e) {
    sb_pb c = sb_pb_over(e->body);
    sb_pb_field f;
    sb_pb_step step;
    e->text = (sb_slice){NULL, 0};
    e->number = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number != 1) continue;
        if (f.wire == SB_PB_BYTES)
            e->text = f.bytes;
        else
            e->number = f.u64;
    }
    return step == SB_PB_END ? SB_OK : SB_CORRUPT;
}

static sb_status sort_message(sorting *s, sb_message_id id, sb_slice message, uint32_t depth);

static sb_status put_message(sorting *s, const sb_field_info *field, sb_slice body,
                             uint32_t depth) {
    size_t at = sb_pb_begin(s->out, field->number, body.n);
    sb_status status = sort_message(s, (sb_message_id)field->sub, body, depth + 1);
    sb_pb_end(s->out, at);
    return status;
}

static sb_status put_entries(sorting *s, entry *entries, size_t n, uint32_t depth) {
    sb_status status = SB_OK;
    for (size_t i = 0; i < n; i++) entries[i].order = i;
    for (size_t i = 0; i < n && status == SB_OK; i++) status = read_key(&entries[i]);
    if (status != SB_OK || n == 0) return status;
    qsort(entries, n, sizeof *entries, by_key);
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        if (i + 1 < n && same_key(&entries[i], &entries[i + 1])) continue;
        status = put_message(s, entries[i].field, entries[i].body, depth);
    }
    return status;
}

/* Returns true when the field cannot contain a map, so that its bytes are copied without looking
 * inside. Tensors are the largest part of a graph and contain no maps. */
static bool is_plain(const sb_field_info *field) {
    return !field || field->type != SB_TYPE_MESSAGE || field->sub == SB_MSG_TENSOR ||
           field->sub == SB_MSG_SHAPE;
}

static size_t count_entries(const sb_message_info *info, sb_slice message) {
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    size_t n = 0;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        const sb_field_info *field = sb_field_by_number(info, f.number);
        n += field && field->label == SB_LABEL_MAP && f.wire == SB_PB_BYTES;
    }
    return n;
}

static sb_status sort_message(sorting *s, sb_message_id id, sb_slice message, uint32_t depth) {
    if (depth > SB_TEXT_MAX_DEPTH) return SB_LIMIT;
    const sb_message_info *info = sb_message_get(id);
    sb_arena_mark mark = sb_arena_here(s->scratch);
    size_t room = count_entries(info, message), n = 0;
    entry *entries = room ? sb_arena_zeroed(s->scratch, room, sizeof *entries) : NULL;
    if (room && !entries) return SB_NOMEM;
    sb_pb c = sb_pb_over(message);
    sb_pb_field f;
    sb_pb_step step = SB_PB_END;
    sb_status status = SB_OK;
    for (const uint8_t *from = c.p; status == SB_OK && (step = sb_pb_next(&c, &f)) == SB_PB_FIELD;
         from = c.p) {
        const sb_field_info *field = sb_field_by_number(info, f.number);
        if (f.wire != SB_PB_BYTES || is_plain(field))
            sb_buf_add(s->out, from, (size_t)(c.p - from));
        else if (field->label == SB_LABEL_MAP)
            entries[n++] = (entry){.field = field, .body = f.bytes};
        else
            status = put_message(s, field, f.bytes, depth);
    }
    if (status == SB_OK && step != SB_PB_END) status = SB_CORRUPT;
    if (status == SB_OK) status = put_entries(s, entries, n, depth);
    sb_arena_reset(s->scratch, mark);
    return status;
}

sb_status sb_message_sort(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                          sb_err *err) {
    sorting s = {out, scratch};
    const char *name = sb_message_get(id)->name;
    switch (sort_message(&s, id, message, 0)) {
    case SB_OK:
        return sb_buf_check(out, "a message", err);
    case SB_LIMIT:
        return sb_fail(err, SB_LIMIT, 0, "%s is nested too deep", name);
    case SB_NOMEM:
        return sb_fail_nomem(err, "for a message's maps");
    default:
        return sb_fail(err, SB_CORRUPT, 0, "not a well-formed %s", name);
    }
}

sb_status sb_graph_text(sb_buf *out, sb_message_id id, sb_slice message, sb_arena *scratch,
                        sb_err *err) {
    sb_buf sorted;
    sb_buf_init(&sorted, out->alloc, out->cap);
    sb_status status = sb_message_sort(&sorted, id, message, scratch, err);
    if (status == SB_OK) status = sb_text_write(out, id, sb_buf_slice(&sorted), err);
    sb_buf_fini(&sorted);
    return status;
}
