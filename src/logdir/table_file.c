/* table_file.c: one event file, from its records into columns.
 *
 * Most events repeat an earlier one in all but time, step and number (codec/repeats.h): their
 * points go from the record into the columns without decoding any field. All others are decoded
 * value by value. */
#include "logdir/table_int.h"

#include <math.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/event.h"
#include "codec/repeats.h"
#include "base/banned.h"

#define BATCH 64u
#define BYTES_BLOCK ((size_t)64 << 10)

/* ---- damage ---------------------------------------------------------------------------------- */

static void note_gap(sb_table_file *f, sb_status kind, uint64_t offset, uint64_t bytes) {
    f->damage_count++;
    sb_reader_gap *gap = SB_VEC_PUSH(&f->gaps, f->ask->env->alloc, SB_TABLE_MOST_GAPS);
    if (!gap) return; /* counted, at least */
    *gap = (sb_reader_gap){
        .run = f->run_name, .path = f->path, .offset = offset, .bytes = bytes, .kind = kind};
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

static sb_reader_kind stored_kind(const sb_value *value) {
    switch (value->kind) {
    case SB_VALUE_KIND_SIMPLE:
        return SB_READS_SCALAR;
    case SB_VALUE_KIND_HISTO:
        return SB_READS_HISTOGRAM;
    case SB_VALUE_KIND_IMAGE:
        return SB_READS_IMAGES;
    case SB_VALUE_KIND_AUDIO:
        return SB_READS_AUDIO;
    case SB_VALUE_KIND_TENSOR:
        return SB_READS_TENSOR;
    case SB_VALUE_KIND_OLD_HISTO:
    case SB_VALUE_KIND_NONE:
        break;
    }
    return SB_READS_NO_VALUE;
}

/* The kind of a tag, by its first value and its metadata. A value that is not what its metadata
 * promises does not spoil the ones after it. */
static sb_reader_kind kind_of_tag(const sb_table_file *f, const sb_value *value,
                                  sb_metadata *metadata) {
    double ignored;
    if (f->ask->as_stored) return stored_kind(value);
    sb_reader_kind kind = sb_reader_classify(value, metadata, &ignored);
    bool is_old = value->kind != SB_VALUE_KIND_TENSOR && value->kind != SB_VALUE_KIND_NONE;
    return !is_old && sb_reader_promised_kind(metadata) == SB_READS_SCALAR ? SB_READS_SCALAR : kind;
}

/* A tag that is no UTF-8 is shown as sb_utf8_spell writes it, as the server shows it. */
static bool spell_tag(sb_table_file *f, sb_slice *tag) {
    if (sb_utf8_valid(*tag)) return true;
    sb_buf_clear(&f->spelled);
    sb_utf8_spell(&f->spelled, *tag);
    *tag = sb_buf_slice(&f->spelled);
    return !f->spelled.failed && keep_text(f, tag);
}

static sb_status add_part(sb_table_file *f, sb_slice key, sb_slice tag, const sb_value *value,
                          uint32_t *id) {
    sb_table_part *p = SB_VEC_RESERVE(&f->parts, f->ask->env->alloc, 1, UINT32_MAX - 1)
                           ? &f->parts.items[f->parts.n]
                           : NULL;
    if (!p) return SB_NOMEM;
    *p = (sb_table_part){0};
    sb_slice shown = tag;
    if (!f->ask->as_stored && !spell_tag(f, &shown)) return SB_NOMEM;
    p->has_metadata = find_metadata(f, shown, value, &p->metadata);
    p->kind = kind_of_tag(f, value, &p->metadata);
    sb_metadata *m = &p->metadata;
    if (!keep_text(f, &m->plugin_name) || !keep_text(f, &m->content) ||
        !keep_text(f, &m->display_name) || !keep_text(f, &m->description))
        return SB_NOMEM;
    sb_status status = sb_intern_add(&f->tags, key, id, NULL);
    if (status != SB_OK) return status;
    sb_slice name = sb_intern_name(&f->tags, *id);
    bool is_spelled = shown.p != tag.p;
    p->tag = is_spelled ? shown : sb_slice_of(name.p + (name.n - tag.n), tag.n);
    p->is_wanted = is_asked_for(f->ask, p->tag, p->kind);
    f->parts.n++;
    return SB_OK;
}

/* The part of a value's tag; of its tag and its kind, where tags are read as they are stored. */
static sb_status find_part(sb_table_file *f, const sb_value *value, uint32_t *id) {
    sb_slice tag = f->ask->as_stored ? value->tag : sb_value_tag(value), key = tag;
    if (f->ask->as_stored) {
        sb_buf_clear(&f->key);
        sb_buf_add_byte(&f->key, (uint8_t)stored_kind(value));
        sb_buf_add_slice(&f->key, tag);
        if (f->key.failed) return f->key.failed;
        key = sb_buf_slice(&f->key);
    }
    *id = sb_intern_find(&f->tags, key);
    return *id == SB_INTERN_NONE ? add_part(f, key, tag, value, id) : SB_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void saw_time(sb_table_file *f, double wall) {
    if (!isfinite(wall)) return;
    if (isnan(f->first_wall)) f->first_wall = wall;
    if (!(f->last_wall >= wall)) f->last_wall = wall;
}

static sb_table_point point_at(const sb_table_file *f, int64_t step, double wall_time) {
    return (sb_table_point){.step = step,
                            .wall_time = wall_time,
                            .position = f->event_n,
                            .rank = f->rank,
                            .segment = (uint32_t)f->starts.n};
}

/* Copies bytes that the caller gets; SB_LIMIT when there are too many in all. */
static sb_status keep_bytes(sb_table_file *f, sb_slice *bytes) {
    if (atomic_fetch_add(&f->ask->bytes, bytes->n) + bytes->n > f->ask->max_bytes) return SB_LIMIT;
    return keep_text(f, bytes) ? SB_OK : SB_NOMEM;
}

static sb_status add_items(sb_table_file *f, sb_table_part *p, const sb_table_point *at,
                           sb_slice encoded) {
    sb_status status = keep_bytes(f, &encoded);
    if (status == SB_OK) status = sb_table_part_add_items(p, f->ask, at, encoded);
    if (status != SB_CORRUPT) return status;
    p->skipped++;
    return SB_OK;
}

/* One value; *repeats_as is set to its part when later events like it can be read as numbers. */
static sb_status add_value(sb_table_file *f, const sb_event *event, sb_slice encoded,
                           const sb_value *value, uint32_t *repeats_as) {
    uint32_t id;
    double scalar = 0;
    if (value->kind == SB_VALUE_KIND_OLD_HISTO) return SB_OK; /* nobody reads it any more */
    sb_status status = find_part(f, value, &id);
    if (status != SB_OK) return status;
    sb_table_part *p = &f->parts.items[id];
    sb_metadata metadata = p->metadata;
    if (!f->ask->as_stored && sb_reader_classify(value, &metadata, &scalar) != p->kind) {
        p->skipped++;
        return SB_OK;
    }
    bool has_items = p->kind != SB_READS_SCALAR && (f->ask->columns & SB_COLUMN_VALUES);
    bool is_number =
        f->ask->as_stored ? sb_scalar_of(value, &scalar, NULL) : p->kind == SB_READS_SCALAR;
    if (is_number && !has_items) *repeats_as = id;
    if (!p->is_wanted) return SB_OK;
    sb_table_point at = point_at(f, event->step, event->wall_time);
    return has_items ? add_items(f, p, &at, encoded) : sb_table_part_add(p, f->ask, &at, scalar);
}

static sb_status add_summary(sb_table_file *f, sb_repeats *repeats, const sb_event *event,
                             const sb_record *record, uint64_t offset) {
    uint32_t id = SB_INTERN_NONE, values_seen = 0;
    sb_items values = sb_items_of(event->body, SB_SUMMARY_VALUE);
    sb_slice encoded;
    sb_status status;
    while ((status = sb_items_next(&values, &encoded)) == SB_OK) {
        sb_value value;
        if (sb_value_read(&value, encoded) != SB_OK) {
            note_gap(f, SB_CORRUPT, offset, record->size);
            continue;
        }
        values_seen++;
        status = add_value(f, event, encoded, &value, &id);
        if (status != SB_OK) return status;
    }
    if (status == SB_CORRUPT) note_gap(f, SB_CORRUPT, offset, record->size);
    if (values_seen == 1 && id != SB_INTERN_NONE) sb_repeats_learn(repeats, id, record->payload);
    return SB_OK;
}

/* An event without values. A START begins a new segment. */
static sb_status add_other(sb_table_file *f, const sb_event *event, const sb_record *record,
                           uint64_t offset) {
    sb_reader_event out = {.run = f->run_name, .path = f->path, .offset = offset};
    if (!sb_reader_fill_event(&out, event)) {
        note_gap(f, SB_CORRUPT, offset, record->size);
        return SB_OK;
    }
    const sb_alloc *alloc = f->ask->env->alloc;
    if (out.what == SB_READS_SESSION && out.number == SB_SESSION_STATUS_START) {
        sb_start *start = SB_VEC_PUSH(&f->starts, alloc, UINT32_MAX - 1);
        if (!start) return SB_NOMEM;
        *start = (sb_start){f->rank, (uint32_t)f->starts.n, event->step, event->wall_time};
    }
    if (!f->ask->keeps_events) return SB_OK;
    sb_slice *contents[] = {&out.body, &out.tag, &out.checkpoint_path, &out.writer};
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        bool kept = f->ask->columns & SB_COLUMN_VALUES;
        sb_status status = kept ? keep_bytes(f, contents[i]) : SB_OK;
        if (status != SB_OK) return status;
        if (!kept) *contents[i] = (sb_slice){NULL, 0};
    }
    sb_reader_event *slot = SB_VEC_PUSH(&f->events, alloc, SIZE_MAX);
    if (slot) *slot = out;
    return slot ? SB_OK : SB_NOMEM;
}

static sb_status add_event_to_columns(sb_table_file *f, sb_repeats *repeats,
                                      const sb_record *record, uint64_t offset) {
    uint32_t id;
    sb_form_point point;
    sb_status status = SB_OK;
    if (sb_repeats_read(repeats, record->payload, &id, &point)) {
        sb_table_part *p = &f->parts.items[id];
        sb_table_point at = point_at(f, point.step, point.wall_time);
        saw_time(f, point.wall_time);
        f->event_n++;
        return p->is_wanted ? sb_table_part_add(p, f->ask, &at, point.number) : SB_OK;
    }
    sb_event event;
    if (sb_event_read(&event, record->payload) != SB_OK) {
        note_gap(f, SB_CORRUPT, offset, record->size);
        return SB_OK;
    }
    if (event.what != SB_WHAT_FILE_VERSION) saw_time(f, event.wall_time);
    status = event.what == SB_WHAT_SUMMARY ? add_summary(f, repeats, &event, record, offset)
                                           : add_other(f, &event, record, offset);
    f->event_n++;
    return status;
}

/* The reader needs more bytes, or meets something else than a good record: true to go on. */
static bool read_next(sb_table_file *f, sb_tail *tail, sb_repeats *repeats) {
    sb_tail_record record;
    f->status = sb_tail_next(tail, &record, &f->err);
    switch (f->status) {
    case SB_OK:
        f->status = add_event_to_columns(
            f, repeats, &(sb_record){.payload = record.payload, .size = record.size},
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
            f->status = add_event_to_columns(f, &repeats, &records[i], offset);
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
    sb_buf_init(&f->key, env->alloc, SIZE_MAX / 2);
    sb_buf_init(&f->spelled, env->alloc, SIZE_MAX / 2);
    f->first_wall = f->last_wall = (double)NAN;
    sb_tail *tail;
    sb_tail_opts opts = {.max_payload = f->ask->max_payload};
    f->status = sb_tail_open(&tail, env, f->path, &opts, &f->err);
    if (f->status == SB_OK) {
        read_records(f, tail);
        sb_tail_close(tail);
    } else if (f->status != SB_NOMEM) {
        if (f->status != SB_NOT_FOUND)
            note_gap(f, SB_IO, 0, 0); /* not: removed since it was listed */
        f->status = SB_OK;
    }
}

void sb_table_file_fini(sb_table_file *f) {
    const sb_alloc *alloc = f->ask->env->alloc;
    for (size_t i = 0; i < f->parts.n; i++) sb_table_part_fini(&f->parts.items[i], f->ask);
    SB_VEC_FREE(&f->parts, alloc);
    SB_VEC_FREE(&f->events, alloc);
    SB_VEC_FREE(&f->starts, alloc);
    sb_buf_fini(&f->key);
    sb_buf_fini(&f->spelled);
    SB_VEC_FREE(&f->gaps, alloc);
    sb_intern_fini(&f->tags);
    sb_arena_fini(&f->bytes);
}
