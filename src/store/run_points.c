/* run_points.c: adding points to a series.
 *
 * Adding a point takes no lock: it is written behind the points that readers have seen. The mutex
 * is taken only when a series gets a new part, since parts move in memory then. */
#include <string.h>

#include "store/store_int.h"
#include "base/banned.h"

/* Small, since there may be a million series with one point each. */
#define FIRST_TAIL 1u
#define FIRST_REFS 1u
#define FIRST_CHUNKS 4u

/* The newest part of the series for the file's present segment; part_n: there is none. A new file
 * has no part yet; with very many files it must not cost a search of all parts. */
static uint32_t newest_part(const sb_run *run, const sb_stored_series *s, uint32_t file) {
    uint32_t segment = run->files[file].segments;
    for (uint32_t i = file > s->top_file ? 0 : s->part_n; i-- > 0;)
        if (s->parts[i].file == file && s->parts[i].segment == segment) return i;
    return s->part_n;
}

/* The part of the series for the file's present segment and this kind of numbers. Entered under the
 * mutex, since parts move. */
static sb_stored_part *find_part(sb_run *run, sb_stored_series *s, uint32_t file,
                                 sb_number_kind kind) {
    sb_stored_part made = {
        .file = file, .segment = run->files[file].segments, .number_kind = (uint8_t)kind};
    uint32_t newest = newest_part(run, s, file);
    if (newest < s->part_n) {
        sb_stored_part *part = &s->parts[newest];
        if (part->number_kind == kind || s->kind_changes == SB_MOST_KIND_CHANGES) {
            s->current = newest;
            return part;
        }
        /* Restarts are told by the first step of a file's segment, whatever kinds it holds. */
        made.continues = true;
        made.has_first = part->has_first;
        made.first_step = part->first_step;
    }
    void *parts = s->parts;
    pthread_mutex_lock(&run->mutex);
    bool ok = sb_store_grow(run->alloc, &parts, s->part_n, &s->part_room, sizeof *s->parts);
    s->parts = parts;
    if (ok) {
        s->current = s->part_n++;
        s->parts[s->current] = made;
        s->kind_changes += made.continues;
        if (file > s->top_file) s->top_file = file;
    }
    pthread_mutex_unlock(&run->mutex);
    if (!ok) return NULL;
    if (s->part_n > 1) run->next_epoch++;
    return &s->parts[s->current];
}

static inline sb_stored_part *part_of(sb_run *run, sb_stored_series *s, uint32_t file,
                                      sb_number_kind kind) {
    if (s->part_n) {
        sb_stored_part *part = &s->parts[s->current];
        if (part->file == file && part->segment == run->files[file].segments &&
            part->number_kind == kind)
            return part;
    }
    return find_part(run, s, file, kind);
}

static inline void mark_dirty(sb_run *run, sb_stored_series *s, sb_stored_part *part,
                              int64_t step) {
    if (!part->has_first) {
        part->has_first = true;
        part->first_step = step;
    }
    if (!s->is_dirty) {
        s->is_dirty = true;
        s->dirty_from = s->current;
        run->dirty[run->dirty_n++] = s;
    }
    if (s->current < s->dirty_from) s->dirty_from = s->current;
}

/* A larger tail with the same points. */
static bool grow_tail(sb_run *run, sb_extent *e) {
    uint32_t room = e->tail ? e->tail->head.room * 2 : FIRST_TAIL;
    if (room > SB_CHUNK_POINTS) room = SB_CHUNK_POINTS;
    sb_tail_block *tail = sb_counted_new(run->alloc, sizeof *tail, 3 * sizeof(int64_t), room);
    if (!tail) return false;
    if (e->tail_n) {
        memcpy(sb_tail_steps(tail), sb_tail_steps(e->tail), e->tail_n * sizeof(int64_t));
        memcpy(sb_tail_walls(tail), sb_tail_walls(e->tail), e->tail_n * sizeof(double));
        memcpy(sb_tail_values(tail), sb_tail_values(e->tail), e->tail_n * sizeof(double));
    }
    sb_counted_release(e->tail);
    e->tail = tail;
    return true;
}

static bool push_chunk(sb_run *run, sb_extent *e, sb_chunk *chunk) {
    if (!e->chunks || e->chunk_n == e->chunks->head.room) {
        uint32_t room = e->chunks ? e->chunks->head.room * 2 : FIRST_CHUNKS;
        sb_chunk_list *list = sb_counted_new(run->alloc, sizeof *list, sizeof(sb_chunk *), room);
        if (!list) return false;
        list->n = e->chunk_n;
        for (size_t i = 0; i < e->chunk_n; i++) {
            list->items[i] = e->chunks->items[i];
            sb_chunk_ref(list->items[i]);
        }
        sb_chunk_list_release(e->chunks);
        e->chunks = list;
    }
    e->chunks->items[e->chunk_n++] = chunk;
    e->chunks->n = e->chunk_n;
    return true;
}

/* Seals the full tail into a chunk. The tail's block is reused unless a snapshot may hold it. */
static bool seal_tail(sb_run *run, sb_stored_part *part) {
    sb_extent *e = &part->end;
    sb_chunk *chunk = sb_chunk_seal(run->store->blocks, sb_tail_steps(e->tail),
                                    sb_tail_walls(e->tail), sb_tail_values(e->tail));
    if (!chunk) return false;
    if (!push_chunk(run, e, chunk)) {
        sb_chunk_release(chunk);
        return false;
    }
    if (part->seen.tail == e->tail) {
        sb_counted_release(e->tail);
        e->tail = NULL;
    }
    e->tail_n = 0;
    return true;
}

void sb_series_close_tail(sb_stored_series *s) {
    if (!s->next) return;
    sb_extent *e = &s->parts[s->current].end;
    e->tail_n = (size_t)(s->next - sb_tail_steps(e->tail));
    s->next = s->end = NULL;
}

/* Makes room for a point of this file, step and kind. */
static bool open_tail(sb_run *run, sb_stored_series *s, uint32_t file, int64_t step,
                      sb_number_kind kind) {
    sb_series_close_tail(s);
    sb_stored_part *part = part_of(run, s, file, kind);
    if (!part) return false;
    sb_extent *e = &part->end;
    if (e->tail_n == SB_CHUNK_POINTS && !seal_tail(run, part)) return false;
    if ((!e->tail || e->tail_n == e->tail->head.room) && !grow_tail(run, e)) return false;
    s->next = sb_tail_steps(e->tail) + e->tail_n;
    s->end = sb_tail_steps(e->tail) + e->tail->head.room;
    s->stride = e->tail->head.room;
    s->open_file = file;
    s->open_segment = part->segment;
    s->open_kind = (uint8_t)kind;
    mark_dirty(run, s, part, step);
    return true;
}

sb_status sb_run_add_scalar(sb_run *run, uint32_t file, uint32_t series, int64_t step, double wall,
                            double value, sb_number_kind kind) {
    sb_stored_series *s = run->series[series];
    bool is_open = s->next != s->end && s->open_file == file &&
                   s->open_segment == run->files[file].segments && s->open_kind == kind;
    if (!is_open && !open_tail(run, s, file, step, kind)) return SB_NOMEM;
    int64_t *to = s->next++;
    to[0] = step;
    memcpy(to + s->stride, &wall, sizeof wall);
    memcpy(to + 2 * s->stride, &value, sizeof value);
    return SB_OK;
}

sb_status sb_run_add_ref(sb_run *run, uint32_t file, uint32_t series, int64_t step, double wall,
                         const sb_ref *ref) {
    sb_stored_series *s = run->series[series];
    sb_stored_part *part = part_of(run, s, file, SB_NUMBER_REAL);
    if (!part) return SB_NOMEM;
    sb_extent *e = &part->end;
    if (!e->refs || e->ref_n == e->refs->head.room) {
        uint32_t room = e->refs ? e->refs->head.room * 2 : FIRST_REFS;
        sb_ref_list *list = sb_counted_new(run->alloc, sizeof *list, sizeof(sb_ref_point), room);
        if (!list) return SB_NOMEM;
        if (e->ref_n) memcpy(list->items, e->refs->items, e->ref_n * sizeof(sb_ref_point));
        sb_counted_release(e->refs);
        e->refs = list;
    }
    e->refs->items[e->ref_n++] = (sb_ref_point){step, wall, *ref};
    if (ref->count > s->next_max_count) s->next_max_count = ref->count;
    mark_dirty(run, s, part, step);
    return SB_OK;
}
