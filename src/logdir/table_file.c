/* table_file.c: one event file, from its records into columns.
 *
 * Most events repeat an earlier one in all but time, step and number (codec/repeats.h): their
 * points go from the record into the columns without anybody looking at fields. All others are
 * decoded value by value. */
#include "logdir/table_int.h"

#include "base/search.h"
#include "base/slice.h"
#include "codec/event.h"
#include "codec/repeats.h"
#include "codec/tensor.h"
#include "base/banned.h"

#define BATCH 64u
#define FIRST_ROOM 16u
#define BYTES_BLOCK ((size_t)64 << 10)

/* ---- damage ---------------------------------------------------------------------------------- */

static void note_gap(sb_table_file *f, sb_status kind, uint64_t offset, uint64_t bytes) {
    f->damage_count++;
    sb_reader_gap *gap = SB_VEC_PUSH(&f->gaps, f->ask->env->alloc, SB_TABLE_MOST_GAPS);
    if (!gap) return; /* counted, at least */
    *gap = (sb_reader_gap){
        .run = f->run, .path = f->path, .offset = offset, .bytes = bytes, .kind = kind};
}

/* ---- columns --------------------------------------------------------------------------------- */

bool sb_table_part_reserve(sb_table_part *p, const sb_alloc *columns, size_t more) {
    p->steps.n = p->wall_times.n = p->n;
    bool ok = SB_VEC_RESERVE(&p->steps, columns, more, SIZE_MAX) &&
              SB_VEC_RESERVE(&p->wall_times, columns, more, SIZE_MAX);
    if (p->kind == SB_READS_SCALAR) {
        p->values.n = p->n;
        ok = ok && SB_VEC_RESERVE(&p->values, columns, more, SIZE_MAX);
    } else {
        p->ends.n = p->n;
        ok = ok && SB_VEC_RESERVE(&p->ends, columns, more, SIZE_MAX);
    }
    if (ok) p->room = p->n + more;
    return ok;
}

void sb_table_part_fini(sb_table_part *p, const sb_alloc *columns) {
    SB_VEC_FREE(&p->steps, columns);
    SB_VEC_FREE(&p->wall_times, columns);
    SB_VEC_FREE(&p->values, columns);
    SB_VEC_FREE(&p->ends, columns);
    SB_VEC_FREE(&p->items, columns);
}

static bool make_room(sb_table_file *f, sb_table_part *p) {
    return p->n < p->room ||
           sb_table_part_reserve(p, &f->ask->columns, p->n < FIRST_ROOM ? FIRST_ROOM : p->n);
}

static inline sb_status add_scalar(sb_table_file *f, sb_table_part *p, int64_t step, double wall,
                                   double value) {
    if (!p->is_wanted) return SB_OK;
    if (!make_room(f, p)) return SB_NOMEM;
    p->steps.items[p->n] = step;
    p->wall_times.items[p->n] = wall;
    p->values.items[p->n] = value;
    p->n++;
    return SB_OK;
}

/* ---- items ----------------------------------------------------------------------------------- */

static sb_status add_item(sb_table_file *f, sb_table_part *p, sb_slice bytes) {
    sb_slice *item = SB_VEC_PUSH(&p->items, &f->ask->columns, SIZE_MAX);
    if (!item) return SB_NOMEM;
    *item = bytes;
    return SB_OK;
}

/* The strings of a tensor from `first` on, each `stride`-th of them. */
static sb_status add_strings(sb_table_file *f, sb_table_part *p, sb_slice tensor, size_t first,
                             bool only_first_column) {
    sb_tensor_view view;
    sb_status status = sb_tensor_read(&view, tensor);
    if (status != SB_OK) return status;
    if (view.dtype != SB_STRING || view.deep || view.count < first) return SB_CORRUPT;
    size_t rows = view.rank >= 2 ? (size_t)view.dims[0] : view.count;
    size_t stride = only_first_column && rows ? view.count / rows : 1;
    sb_strings strings = sb_tensor_strings(&view);
    sb_slice text;
    for (size_t i = 0; i < view.count; i++) {
        if (!sb_strings_next(&strings, &text)) return SB_CORRUPT;
        if (i < first || (stride > 1 && i % stride)) continue;
        status = add_item(f, p, text);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

/* The items of a value whose bytes are kept already. */
static sb_status add_items(sb_table_file *f, sb_table_part *p, const sb_value *value,
                           sb_slice encoded) {
    bool is_tensor = value->kind == SB_VALUE_KIND_TENSOR;
    switch (p->kind) {
    case SB_READS_TEXT:
        return is_tensor ? add_strings(f, p, value->body, 0, false) : SB_CORRUPT;
    case SB_READS_IMAGES: {
        sb_summary_image image;
        if (is_tensor) return add_strings(f, p, value->body, 2, false); /* width and height first */
        sb_status status = sb_summary_image_read(&image, value->body);
        return status == SB_OK ? add_item(f, p, image.encoded) : status;
    }
    case SB_READS_AUDIO: {
        sb_summary_audio audio;
        if (is_tensor) return add_strings(f, p, value->body, 0, true); /* clips, not labels */
        sb_status status = sb_summary_audio_read(&audio, value->body);
        return status == SB_OK ? add_item(f, p, audio.encoded) : status;
    }
    default:
        return add_item(f, p, encoded);
    }
}

static sb_status add_bytes(sb_table_file *f, sb_table_part *p, const sb_event *event,
                           sb_slice encoded) {
    if (!make_room(f, p)) return SB_NOMEM;
    if (atomic_fetch_add(&f->ask->bytes, encoded.n) + encoded.n > f->ask->max_bytes)
        return SB_LIMIT;
    sb_slice copy = sb_arena_dup(&f->bytes, encoded);
    if (!copy.p) return SB_NOMEM;
    sb_value value;
    size_t before = p->items.n;
    sb_status status = sb_value_read(&value, copy);
    if (status == SB_OK) status = add_items(f, p, &value, copy);
    if (status == SB_NOMEM) return status;
    if (status != SB_OK) {
        p->items.n = before;
        p->skipped++;
        return SB_OK;
    }
    p->steps.items[p->n] = event->step;
    p->wall_times.items[p->n] = event->wall_time;
    p->ends.items[p->n] = p->items.n;
    p->n++;
    return SB_OK;
}

/* ---- tags ------------------------------------------------------------------------------------ */

static bool is_asked_for(const sb_table_ask *ask, sb_slice tag, sb_reader_kind kind) {
    if (!(ask->kinds >> kind & 1u)) return false;
    if (!ask->tags) return true;
    size_t i;
    SB_PARTITION_POINT(i, 0, ask->tag_count, sb_slice_cmp(ask->tags[i], tag) < 0);
    return i < ask->tag_count && sb_slice_eq(ask->tags[i], tag);
}

static bool keep_text(sb_table_file *f, sb_slice *text) {
    *text = sb_arena_dup(&f->bytes, *text);
    return text->p != NULL;
}

/* The first metadata of a tag in its run: an earlier file's, else the value's own. */
static bool find_metadata(const sb_table_file *f, sb_slice tag, const sb_value *value,
                          sb_metadata *out) {
    const sb_metadata *earlier = f->earlier ? f->earlier(f->earlier_ud, tag) : NULL;
    *out = (sb_metadata){0};
    if (earlier) *out = *earlier;
    if (earlier) return true;
    if (!value->metadata.p) return false;
    if (sb_metadata_read(out, value->metadata) == SB_OK) return true;
    *out = (sb_metadata){0};
    return false;
}

static sb_status add_part(sb_table_file *f, sb_slice tag, const sb_value *value, uint32_t *id) {
    sb_table_part *p = SB_VEC_RESERVE(&f->parts, f->ask->env->alloc, 1, UINT32_MAX - 1)
                           ? &f->parts.items[f->parts.n]
                           : NULL;
    if (!p) return SB_NOMEM;
    *p = (sb_table_part){0};
    p->has_metadata = find_metadata(f, tag, value, &p->metadata);
    double ignored;
    p->kind = sb_reader_classify(value, &p->metadata, &ignored);
    sb_metadata *m = &p->metadata;
    if (!keep_text(f, &m->plugin_name) || !keep_text(f, &m->content) ||
        !keep_text(f, &m->display_name) || !keep_text(f, &m->description))
        return SB_NOMEM;
    sb_status status = sb_intern_add(&f->tags, tag, id, NULL);
    if (status != SB_OK) return status;
    p->tag = sb_intern_name(&f->tags, *id);
    p->is_wanted = is_asked_for(f->ask, p->tag, p->kind);
    f->parts.n++;
    return SB_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* One value; *scalar_part is set when it is a scalar. */
static sb_status add_value(sb_table_file *f, const sb_event *event, sb_slice encoded,
                           const sb_value *value, uint32_t *scalar_part) {
    sb_slice tag = sb_value_tag(value);
    uint32_t id = sb_intern_find(&f->tags, tag);
    if (id == SB_INTERN_NONE) {
        sb_status status = add_part(f, tag, value, &id);
        if (status != SB_OK) return status;
    }
    sb_table_part *p = &f->parts.items[id];
    sb_metadata metadata = p->metadata;
    double scalar;
    if (sb_reader_classify(value, &metadata, &scalar) != p->kind) {
        p->skipped++;
        return SB_OK;
    }
    if (p->kind == SB_READS_SCALAR) {
        *scalar_part = id;
        return add_scalar(f, p, event->step, event->wall_time, scalar);
    }
    return p->is_wanted ? add_bytes(f, p, event, encoded) : SB_OK;
}

static sb_status add_event(sb_table_file *f, sb_repeats *repeats, const sb_record *record,
                           uint64_t offset) {
    uint32_t id = SB_INTERN_NONE, values_seen = 0;
    sb_form_point point;
    if (sb_repeats_read(repeats, record->payload, &id, &point))
        return add_scalar(f, &f->parts.items[id], point.step, point.wall_time, point.number);
    sb_event event;
    if (sb_event_read(&event, record->payload) != SB_OK) {
        note_gap(f, SB_CORRUPT, offset, record->size);
        return SB_OK;
    }
    if (event.what != SB_WHAT_SUMMARY) return SB_OK;
    sb_items values = sb_items_of(event.body, SB_SUMMARY_VALUE);
    sb_slice encoded;
    sb_status status;
    while ((status = sb_items_next(&values, &encoded)) == SB_OK) {
        sb_value value;
        if (sb_value_read(&value, encoded) != SB_OK) {
            note_gap(f, SB_CORRUPT, offset, record->size);
            continue;
        }
        values_seen++;
        status = add_value(f, &event, encoded, &value, &id);
        if (status != SB_OK) return status;
    }
    if (status == SB_CORRUPT) note_gap(f, SB_CORRUPT, offset, record->size);
    if (values_seen == 1 && id != SB_INTERN_NONE) sb_repeats_learn(repeats, id, record->payload);
    return SB_OK;
}

/* The reader needs more bytes, or meets something else than a good record: true to go on. */
static bool read_next(sb_table_file *f, sb_tail *tail, sb_repeats *repeats) {
    sb_tail_record record;
    f->status = sb_tail_next(tail, &record, &f->err);
    switch (f->status) {
    case SB_OK:
        f->status =
            add_event(f, repeats, &(sb_record){.payload = record.payload, .size = record.size},
                      record.offset);
        return f->status == SB_OK;
    case SB_BAD_PAYLOAD:
    case SB_BAD_LENGTH:
    case SB_LIMIT:
        note_gap(f, f->status, record.offset, record.size);
        f->status = SB_OK;
        return true;
    case SB_NOMEM:
        return false;
    case SB_MORE:
        break;
    default: /* an archive that is damaged, or a file that can't be read any more */
        note_gap(f, f->status == SB_CORRUPT ? SB_CORRUPT : SB_IO, sb_tail_stats(tail).offset, 0);
    }
    f->status = SB_OK;
    return false;
}

static void read_records(sb_table_file *f, sb_tail *tail) {
    sb_repeats repeats;
    sb_repeats_init(&repeats, f->ask->env->alloc);
    bool goes_on = true;
    while (goes_on) {
        sb_record records[BATCH];
        uint64_t offset;
        size_t n = sb_tail_take(tail, records, BATCH, &offset);
        if (n == 0) {
            goes_on = read_next(f, tail, &repeats);
            continue;
        }
        for (size_t i = 0; i < n && f->status == SB_OK; i++) {
            f->status = add_event(f, &repeats, &records[i], offset);
            offset += records[i].size;
        }
        goes_on = f->status == SB_OK;
    }
    sb_repeats_fini(&repeats);
}

void sb_table_file_read(sb_table_file *f) {
    const sb_env *env = f->ask->env;
    uint64_t seed = (uint64_t)(uintptr_t)f ^ (env->clock ? env->clock->steady(env->clock->ctx) : 0);
    sb_intern_init(&f->tags, env->alloc, seed, UINT32_MAX - 1);
    sb_arena_init(&f->bytes, env->alloc, BYTES_BLOCK, SIZE_MAX / 2);
    sb_tail *tail;
    sb_tail_opts opts = {.max_payload = f->ask->max_payload};
    f->status = sb_tail_open(&tail, env, f->path, &opts, &f->err);
    if (f->status == SB_OK) {
        read_records(f, tail);
        sb_tail_close(tail);
    } else if (f->status != SB_NOMEM) { /* gone, or not to be read: the others are */
        note_gap(f, SB_IO, 0, 0);
        f->status = SB_OK;
    }
}

void sb_table_file_fini(sb_table_file *f) {
    const sb_alloc *alloc = f->ask->env->alloc;
    for (size_t i = 0; i < f->parts.n; i++)
        sb_table_part_fini(&f->parts.items[i], &f->ask->columns);
    SB_VEC_FREE(&f->parts, alloc);
    SB_VEC_FREE(&f->gaps, alloc);
    sb_intern_fini(&f->tags);
    sb_arena_fini(&f->bytes);
}
