/* run.c: the loader's side of a run: files, series, points, commit.
 *
 * Adding a point takes no lock: it goes behind what readers have seen. New series and files are
 * rare; they are entered under the mutex, so that readers may look names up. */
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "store/store_int.h"
#include "base/banned.h"

/* Small, since there may be a million series with one point each. */
#define FIRST_TAIL 1u /* many series have one point only: a run may have a million */
#define FIRST_REFS 1u
#define FIRST_CHUNKS 4u

/* ---- counted blocks -------------------------------------------------------------------------- */

static void *new_counted(const sb_alloc *alloc, size_t head, size_t element, uint32_t room) {
    size_t size = head + element * room;
    sb_counted *block = sb_alloc_get(alloc, size);
    if (!block) return NULL;
    atomic_init(&block->refs, 1);
    block->room = room;
    block->size = size;
    block->alloc = alloc;
    return block;
}

void sb_counted_hold(void *block) {
    if (block) atomic_fetch_add_explicit(&((sb_counted *)block)->refs, 1, memory_order_relaxed);
}

/* Drops one reference; true when it was the last one. */
static bool drop_reference(sb_counted *block) {
    return block && atomic_fetch_sub_explicit(&block->refs, 1, memory_order_acq_rel) == 1;
}

void sb_counted_release(void *block) {
    sb_counted *head = block;
    if (drop_reference(head)) sb_alloc_put(head->alloc, head, head->size);
}

void sb_chunk_list_release(sb_chunk_list *list) {
    if (!drop_reference(list ? &list->head : NULL)) return;
    for (size_t i = 0; i < list->n; i++) sb_chunk_release(list->items[i]);
    sb_alloc_put(list->head.alloc, list, list->head.size);
}

void sb_extent_hold(sb_extent *e) {
    sb_counted_hold(e->chunks);
    sb_counted_hold(e->tail);
    sb_counted_hold(e->refs);
}

void sb_extent_release(sb_extent *e) {
    sb_chunk_list_release(e->chunks);
    sb_counted_release(e->tail);
    sb_counted_release(e->refs);
    *e = (sb_extent){0};
}

/* Room for one more element in an array of the run's; true when there is. */
static bool grow_array(const sb_alloc *alloc, void **items, uint32_t n, uint32_t *room,
                       size_t element) {
    if (n < *room) return true;
    size_t larger = *room;
    void *p = sb_vec_grow(alloc, *items, &larger, n, 1, element, UINT32_MAX);
    if (!p) return false;
    *items = p;
    *room = (uint32_t)larger;
    return true;
}

/* ---- a run ----------------------------------------------------------------------------------- */

sb_status sb_run_new(sb_run **out, sb_store *store, sb_slice name, sb_slice path, uint32_t id,
                     sb_err *err) {
    const sb_alloc *alloc = store->alloc;
    sb_run *run = sb_alloc_zeroed(alloc, 1, sizeof *run);
    if (!run) return sb_fail_nomem(err, "for a run");
    run->store = store;
    run->alloc = alloc;
    run->id = id;
    run->start_wall = run->last_wall = NAN;
    atomic_init(&run->refs, 1);
    sb_arena_init(&run->texts, alloc, 512, SIZE_MAX / 2);
    run->name = sb_arena_dup(&run->texts, name);
    run->path = sb_arena_dup(&run->texts, path);
    if (!run->name.p || !run->path.p) {
        sb_arena_fini(&run->texts);
        sb_alloc_put(alloc, run, sizeof *run);
        return sb_fail_nomem(err, "for a run");
    }
    sb_intern_init(&run->tags, alloc, store->opts.hash_seed, store->opts.max_tags);
    pthread_mutex_init(&run->mutex, NULL);
    *out = run;
    return SB_OK;
}

static void free_series(sb_run *run, sb_stored_series *s) {
    for (uint32_t i = 0; i < s->part_n; i++) {
        sb_extent_release(&s->parts[i].end);
        sb_extent_release(&s->parts[i].seen);
    }
    sb_alloc_put(run->alloc, s->parts, s->part_room * sizeof *s->parts);
    sb_alloc_put(run->alloc, s, sizeof *s);
}

void sb_run_free(sb_run *run) {
    const sb_alloc *alloc = run->alloc;
    atomic_fetch_sub_explicit(&run->store->points, run->points, memory_order_relaxed);
    for (uint32_t i = 0; i < run->tags.count; i++) free_series(run, run->series[i]);
    sb_alloc_put(alloc, run->series, run->series_room * sizeof *run->series);
    for (uint32_t i = 0; i < run->file_n; i++)
        sb_alloc_put(alloc, run->files[i].path, run->files[i].path_n + 1);
    sb_alloc_put(alloc, run->files, run->file_room * sizeof *run->files);
    sb_alloc_put(alloc, run->order, run->order_room * sizeof *run->order);
    sb_alloc_put(alloc, run->dirty, run->dirty_room * sizeof *run->dirty);
    sb_alloc_put(alloc, run->starts, run->start_room * sizeof *run->starts);
    sb_intern_fini(&run->tags);
    sb_arena_fini(&run->texts);
    pthread_mutex_destroy(&run->mutex);
    sb_alloc_put(alloc, run, sizeof *run);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* With the mutex held: adds a file's state to the sums of the run, or takes it out again. */
static void count_state(sb_run *run, const sb_file_state *state) {
    run->sum.unread += !state->is_done;
    run->sum.damaged_files += state->damaged > 0;
    run->sum.damaged += state->damaged;
    run->sum.lost += state->lost;
}

static void discount_state(sb_run *run, const sb_file_state *state) {
    run->sum.unread -= !state->is_done;
    run->sum.damaged_files -= state->damaged > 0;
    run->sum.damaged -= state->damaged;
    run->sum.lost -= state->lost;
}

static sb_slice path_of(const sb_stored_file *f) {
    return sb_slice_of(f->path, f->path_n);
}

/* With the mutex held: numbers the files from a place in the order on. */
static void rank_files(sb_run *run, uint32_t from) {
    for (uint32_t i = from; i < run->order_n; i++) run->files[run->order[i]].rank = i;
}

/* With the mutex held, and room in the order. Files mostly come in their order: then nothing
 * moves. */
static void rank_new_file(sb_run *run, uint32_t file) {
    uint32_t n = run->order_n, at = n;
    sb_slice path = path_of(&run->files[file]);
    if (n && sb_slice_cmp(path_of(&run->files[run->order[n - 1]]), path) > 0)
        SB_PARTITION_POINT(at, 0, n, sb_slice_cmp(path_of(&run->files[run->order[at]]), path) <= 0);
    memmove(run->order + at + 1, run->order + at, (n - at) * sizeof *run->order);
    run->order[at] = file;
    run->order_n++;
    rank_files(run, at);
}

/* With the mutex held. Nothing before the place where the last search ended is free. */
static uint32_t free_slot(sb_run *run) {
    uint32_t i = run->free_from;
    while (i < run->file_n && (run->files[i].is_used || run->files[i].is_dropped)) i++;
    run->free_from = i;
    return i;
}

sb_status sb_run_add_file(sb_run *run, sb_slice path, uint32_t *file, sb_err *err) {
    char *copy = sb_alloc_get(run->alloc, path.n + 1);
    if (!copy) return sb_fail_nomem(err, "for a path");
    memcpy(copy, path.p, path.n);
    copy[path.n] = 0;
    pthread_mutex_lock(&run->mutex);
    uint32_t slot = free_slot(run);
    void *files = run->files, *order = run->order;
    bool ok = slot < run->file_n ||
              grow_array(run->alloc, &files, run->file_n, &run->file_room, sizeof *run->files);
    run->files = files;
    ok = ok && grow_array(run->alloc, &order, run->order_n, &run->order_room, sizeof *run->order);
    run->order = order;
    if (ok) {
        if (slot == run->file_n)
            run->file_n++;
        else
            sb_alloc_put(run->alloc, run->files[slot].path, run->files[slot].path_n + 1);
        run->files[slot] = (sb_stored_file){.is_used = true,
                                            .path = copy,
                                            .path_n = path.n,
                                            .min_wall = NAN,
                                            .first_wall = NAN,
                                            .last_wall = NAN,
                                            .seen_min = NAN,
                                            .seen_first = NAN,
                                            .seen_last = NAN};
        count_state(run, &run->files[slot].state);
        rank_new_file(run, slot);
        *file = slot;
    }
    pthread_mutex_unlock(&run->mutex);
    if (!ok) {
        sb_alloc_put(run->alloc, copy, path.n + 1);
        return sb_fail_nomem(err, "for a file");
    }
    return SB_OK;
}

void sb_run_drop_file(sb_run *run, uint32_t file) {
    pthread_mutex_lock(&run->mutex);
    run->files[file].is_dropped = true;
    pthread_mutex_unlock(&run->mutex);
}

void sb_run_set_file_state(sb_run *run, uint32_t file, const sb_file_state *state) {
    pthread_mutex_lock(&run->mutex);
    discount_state(run, &run->files[file].state);
    run->files[file].state = *state;
    count_state(run, state);
    pthread_mutex_unlock(&run->mutex);
}

void sb_run_saw_time(sb_run *run, uint32_t file, double wall, bool is_header) {
    sb_stored_file *f = &run->files[file];
    if (!isfinite(wall)) return;
    if (!(f->min_wall <= wall)) f->min_wall = wall;
    if (is_header) return;
    if (isnan(f->first_wall)) f->first_wall = wall;
    if (!(f->last_wall >= wall)) f->last_wall = wall;
}

sb_status sb_run_add_start(sb_run *run, uint32_t file, int64_t step, double wall) {
    void *starts = run->starts;
    pthread_mutex_lock(&run->mutex);
    bool ok = grow_array(run->alloc, &starts, run->start_n, &run->start_room, sizeof *run->starts);
    run->starts = starts;
    pthread_mutex_unlock(&run->mutex);
    if (!ok) return SB_NOMEM;
    run->files[file].segments++;
    run->starts[run->start_n++] = (sb_stored_start){file, run->files[file].segments, step, wall};
    run->next_epoch++;
    return SB_OK;
}

/* ---- series ---------------------------------------------------------------------------------- */

bool sb_run_find(const sb_run *run, sb_slice tag, uint32_t *series) {
    *series = sb_intern_find(&run->tags, tag);
    return *series != SB_INTERN_NONE;
}

const sb_series_meta *sb_run_series_meta(const sb_run *run, uint32_t series) {
    return run->series[series]->meta;
}

static bool copy_text(sb_run *run, sb_slice *text) {
    if (text->n == 0) {
        *text = SB_LIT("");
        return true;
    }
    *text = sb_arena_dup(&run->texts, *text);
    return text->p != NULL;
}

static bool is_same_meta(const sb_series_meta *a, const sb_series_meta *b) {
    return a->kind == b->kind && a->dtype == b->dtype && a->from_v1 == b->from_v1 &&
           sb_slice_eq(a->plugin_name, b->plugin_name) &&
           sb_slice_eq(a->plugin_content, b->plugin_content) &&
           sb_slice_eq(a->display_name, b->display_name) &&
           sb_slice_eq(a->description, b->description);
}

/* A copy of the metadata in the run's texts; the one of an earlier series when it is equal. A run
 * has very many series and few kinds of them. NULL: no memory. */
static const sb_series_meta *share_meta(sb_run *run, const sb_series_meta *meta) {
    for (uint32_t i = 0; i < SB_RECENT_METAS; i++)
        if (run->metas[i] && is_same_meta(run->metas[i], meta)) return run->metas[i];
    sb_series_meta *copy = sb_arena_get(&run->texts, sizeof *copy);
    if (!copy) return NULL;
    *copy = *meta;
    if (!copy_text(run, &copy->plugin_name) || !copy_text(run, &copy->plugin_content) ||
        !copy_text(run, &copy->display_name) || !copy_text(run, &copy->description))
        return NULL;
    run->metas[run->next_meta] = copy;
    run->next_meta = (run->next_meta + 1) % SB_RECENT_METAS;
    return copy;
}

/* With the mutex held. */
static sb_status add_series(sb_run *run, sb_slice tag, const sb_series_meta *meta, uint32_t *id) {
    void *series = run->series, *dirty = run->dirty;
    if (!grow_array(run->alloc, &series, run->tags.count, &run->series_room, sizeof *run->series))
        return SB_NOMEM;
    run->series = series;
    if (!grow_array(run->alloc, &dirty, run->tags.count, &run->dirty_room, sizeof *run->dirty))
        return SB_NOMEM;
    run->dirty = dirty;
    sb_stored_series *s = sb_alloc_zeroed(run->alloc, 1, sizeof *s);
    if (!s) return SB_NOMEM;
    s->meta = share_meta(run, meta);
    sb_status status = s->meta ? sb_intern_add(&run->tags, tag, id, NULL) : SB_NOMEM;
    if (status != SB_OK) {
        sb_alloc_put(run->alloc, s, sizeof *s);
        return status;
    }
    s->tag = sb_intern_name(&run->tags, *id);
    run->series[*id] = s;
    return SB_OK;
}

/* A tag that is no UTF-8 is kept as sb_utf8_spell writes it: what is listed can be asked for, and
 * every reply and export is UTF-8. */
static sb_status spelled_series(sb_run *run, sb_slice tag, const sb_series_meta *meta,
                                uint32_t *series, bool *is_new) {
    sb_buf spelled;
    sb_buf_init(&spelled, run->alloc, SIZE_MAX / 2);
    sb_utf8_spell(&spelled, tag);
    sb_status status = spelled.failed;
    if (status == SB_OK) status = sb_run_series(run, sb_buf_slice(&spelled), meta, series, is_new);
    sb_buf_fini(&spelled);
    return status;
}

sb_status sb_run_series(sb_run *run, sb_slice tag, const sb_series_meta *meta, uint32_t *series,
                        bool *is_new) {
    *is_new = !sb_run_find(run, tag, series);
    if (!*is_new) return SB_OK;
    if (!sb_utf8_valid(tag)) return spelled_series(run, tag, meta, series, is_new);
    if (run->tags.count >= run->tags.limit) {
        run->next_dropped_tags++;
        return SB_LIMIT;
    }
    pthread_mutex_lock(&run->mutex);
    sb_status status = add_series(run, tag, meta, series);
    pthread_mutex_unlock(&run->mutex);
    return status;
}

/* ---- points ---------------------------------------------------------------------------------- */

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
    bool ok = grow_array(run->alloc, &parts, s->part_n, &s->part_room, sizeof *s->parts);
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
    sb_tail_block *tail = new_counted(run->alloc, sizeof *tail, 3 * sizeof(int64_t), room);
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
        sb_chunk_list *list = new_counted(run->alloc, sizeof *list, sizeof(sb_chunk *), room);
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

/* Writes the number of points of the open tail back to its part; the next point opens it again. */
static void close_tail(sb_stored_series *s) {
    if (!s->next) return;
    sb_extent *e = &s->parts[s->current].end;
    e->tail_n = (size_t)(s->next - sb_tail_steps(e->tail));
    s->next = s->end = NULL;
}

/* Makes room for a point of this file, step and kind. */
static bool open_tail(sb_run *run, sb_stored_series *s, uint32_t file, int64_t step,
                      sb_number_kind kind) {
    close_tail(s);
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
        sb_ref_list *list = new_counted(run->alloc, sizeof *list, sizeof(sb_ref_point), room);
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

/* ---- commit ---------------------------------------------------------------------------------- */

static uint64_t points_of(const sb_extent *e) {
    return e->chunk_n * (uint64_t)SB_CHUNK_POINTS + e->tail_n + e->ref_n;
}

/* With the mutex held, as all below. */
static void set_points(sb_run *run, sb_stored_series *s, uint64_t points, uint64_t version) {
    if ((points > 0) != (s->points > 0)) atomic_fetch_add(&run->store->names_version, 1);
    if (points > 0 && s->points == 0) {
        run->series_count++;
        s->begin_version = version;
    }
    if (points == 0 && s->points > 0) run->series_count--;
    run->points += points - s->points;
    atomic_fetch_add_explicit(&run->store->points, points - s->points, memory_order_relaxed);
    s->points = points;
    s->version = version;
}

static void publish_series(sb_run *run, sb_stored_series *s, uint64_t version) {
    uint64_t points = s->points;
    close_tail(s);
    for (uint32_t i = s->dirty_from; i < s->part_n; i++) {
        sb_stored_part *part = &s->parts[i];
        sb_extent old = part->seen;
        part->seen = part->end;
        part->seen_first_step = part->first_step;
        sb_extent_hold(&part->seen);
        points += points_of(&part->seen) - points_of(&old);
        sb_extent_release(&old);
    }
    s->max_count = s->next_max_count;
    s->is_dirty = false;
    set_points(run, s, points, version);
}

/* After publish_series: the dropped parts count among the published points. */
static void remove_parts(sb_run *run, sb_stored_series *s, uint64_t version) {
    uint32_t kept = 0;
    uint64_t points = s->points;
    for (uint32_t i = 0; i < s->part_n; i++) {
        if (run->files[s->parts[i].file].is_dropped) {
            points -= points_of(&s->parts[i].seen);
            sb_extent_release(&s->parts[i].end);
            sb_extent_release(&s->parts[i].seen);
        } else {
            s->parts[kept++] = s->parts[i];
        }
    }
    if (kept == s->part_n) return;
    s->part_n = kept;
    s->current = 0;
    s->kind_changes = 0;
    for (uint32_t i = 0; i < kept; i++) s->kind_changes += s->parts[i].continues;
    set_points(run, s, points, version);
}

static void remove_dropped(sb_run *run, uint64_t version) {
    bool any = false;
    for (uint32_t i = 0; i < run->file_n; i++) any = any || run->files[i].is_dropped;
    if (!any) return;
    for (uint32_t i = 0; i < run->tags.count; i++) remove_parts(run, run->series[i], version);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->start_n; i++)
        if (!run->files[run->starts[i].file].is_dropped) run->starts[kept++] = run->starts[i];
    run->start_n = kept;
    for (uint32_t i = 0; i < run->file_n; i++)
        if (run->files[i].is_dropped) {
            run->files[i].is_dropped = run->files[i].is_used = false;
            discount_state(run, &run->files[i].state);
        }
    kept = 0;
    for (uint32_t i = 0; i < run->order_n; i++)
        if (run->files[run->order[i]].is_used) run->order[kept++] = run->order[i];
    run->order_n = kept;
    run->free_from = 0;
    rank_files(run, 0);
    run->next_epoch++;
}

/* Did the file go on after a later one began? Then they were written at the same time, and its
 * points are not superseded any more. */
static bool outlasts(const sb_run *run, const sb_stored_file *f) {
    for (uint32_t i = 0; i < run->file_n; i++) {
        double first = run->files[i].first_wall;
        if (run->files[i].is_used && run->files[i].rank > f->rank && first > f->seen_last &&
            first <= f->last_wall)
            return true;
    }
    return false;
}

/* How often a file began only after all files before it had ended. */
static uint32_t count_restarts(const sb_run *run) {
    uint32_t count = 0;
    double last = NAN;
    for (uint32_t i = 0; i < run->order_n; i++) {
        const sb_stored_file *f = &run->files[run->order[i]];
        count += f->seen_first > last;
        if (!isnan(f->seen_last) && !(f->seen_last <= last)) last = f->seen_last;
    }
    return count;
}

/* Extends the first and last time of the run by those of one file. */
static void publish_times(sb_run *run, const sb_stored_file *f) {
    if (!f->is_used || isnan(f->seen_min)) return;
    double last = isnan(f->seen_last) ? f->seen_min : f->seen_last;
    if (!(run->start_wall <= f->seen_min)) run->start_wall = f->seen_min;
    if (!(run->last_wall >= last)) run->last_wall = last;
}

static void publish_files(sb_run *run) {
    run->start_wall = run->last_wall = NAN;
    for (uint32_t i = 0; i < run->file_n; i++) {
        sb_stored_file *f = &run->files[i];
        if (f->seen_last < f->last_wall && outlasts(run, f)) run->next_epoch++;
        f->seen_min = f->min_wall;
        f->seen_first = f->first_wall;
        f->seen_last = f->last_wall;
        publish_times(run, f);
    }
    run->seen_start_n = run->start_n;
    run->restarts = count_restarts(run);
}

sb_status sb_run_commit(sb_run *run) {
    pthread_mutex_lock(&run->mutex);
    uint64_t version = sb_store_bump(run->store);
    for (uint32_t i = 0; i < run->dirty_n; i++) publish_series(run, run->dirty[i], version);
    run->dirty_n = 0;
    remove_dropped(run, version);
    publish_files(run);
    run->dropped_tags = run->next_dropped_tags;
    run->epoch = run->next_epoch;
    run->version = version;
    pthread_mutex_unlock(&run->mutex);
    const sb_store_opts *opts = &run->store->opts;
    if (opts->changed) opts->changed(opts->changed_ud, version);
    return SB_OK;
}
