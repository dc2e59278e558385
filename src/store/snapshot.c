/* snapshot.c: the readers' side of a run: what it holds, and snapshots of its series. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "store/store_int.h"
#include "base/banned.h"

void sb_run_get_info(sb_run *run, sb_run_info *out) {
    *out = (sb_run_info){.id = run->id, .name = run->name, .path = run->path};
    pthread_mutex_lock(&run->mutex);
    out->has_start = !isnan(run->start_wall);
    out->start_wall = out->has_start ? run->start_wall : 0;
    out->last_wall = out->has_start ? run->last_wall : 0;
    out->file_count = run->order_n;
    out->is_loading = run->sum.unread > 0;
    out->damaged_files = run->sum.damaged_files;
    out->damaged = run->sum.damaged;
    out->lost = run->sum.lost;
    out->attempts = run->restarts + run->seen_start_n + 1;
    out->version = run->version;
    out->epoch = run->epoch;
    out->points = run->points;
    out->dropped_tags = run->dropped_tags;
    out->series_count = run->series_count;
    pthread_mutex_unlock(&run->mutex);
}

static sb_series_info info_of(uint32_t id, const sb_stored_series *s) {
    return (sb_series_info){.id = id,
                            .tag = s->tag,
                            .meta = s->meta,
                            .points = s->points,
                            .max_count = s->max_count,
                            .version = s->version,
                            .begin_version = s->begin_version};
}

sb_status sb_run_list_since(sb_run *run, uint64_t since, size_t max, sb_arena *arena,
                            sb_series_info **out, size_t *n) {
    *n = 0;
    pthread_mutex_lock(&run->mutex);
    size_t room = run->version > since ? run->series_count : 0;
    if (room > max) room = max;
    *out = sb_arena_get(arena, room * sizeof **out);
    for (uint32_t i = 0; *out && *n < room && i < run->tags.count; i++)
        if (run->series[i]->points && run->series[i]->version > since)
            (*out)[(*n)++] = info_of(i, run->series[i]);
    pthread_mutex_unlock(&run->mutex);
    return *out ? SB_OK : SB_NOMEM;
}

sb_status sb_run_list(sb_run *run, sb_arena *arena, sb_series_info **out, size_t *n) {
    return sb_run_list_since(run, 0, SIZE_MAX, arena, out, n);
}

sb_status sb_run_find_info(sb_run *run, sb_slice tag, sb_series_info *out) {
    pthread_mutex_lock(&run->mutex);
    uint32_t id = sb_intern_find(&run->tags, tag);
    bool found = id != SB_INTERN_NONE && run->series[id]->points;
    if (found) *out = info_of(id, run->series[id]);
    pthread_mutex_unlock(&run->mutex);
    return found ? SB_OK : SB_NOT_FOUND;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool view_file(const sb_run *run, uint32_t i, sb_arena *arena, sb_file_info_view *out) {
    const sb_stored_file *f = &run->files[i];
    *out = (sb_file_info_view){.file = i, .state = f->state};
    out->path = sb_arena_dup(arena, sb_slice_of(f->path, f->path_n));
    return out->path.p != NULL;
}

static int by_path(const void *a, const void *b) {
    return sb_slice_cmp(((const sb_file_info_view *)a)->path, ((const sb_file_info_view *)b)->path);
}

sb_status sb_run_files(sb_run *run, sb_arena *arena, sb_file_info_view **out, size_t *n) {
    *n = 0;
    pthread_mutex_lock(&run->mutex);
    *out = sb_arena_get(arena, run->file_n * sizeof **out);
    sb_status status = *out ? SB_OK : SB_NOMEM;
    for (uint32_t i = 0; i < run->file_n && status == SB_OK; i++) {
        if (!run->files[i].is_used) continue;
        if (view_file(run, i, arena, &(*out)[*n]))
            (*n)++;
        else
            status = SB_NOMEM;
    }
    pthread_mutex_unlock(&run->mutex);
    if (status == SB_OK && *n) qsort(*out, *n, sizeof **out, by_path);
    return status;
}

sb_status sb_run_file(sb_run *run, uint32_t file, sb_arena *arena, sb_file_info_view *out) {
    pthread_mutex_lock(&run->mutex);
    sb_status status = SB_NOT_FOUND;
    if (file < run->file_n && run->files[file].is_used)
        status = view_file(run, file, arena, out) ? SB_OK : SB_NOMEM;
    pthread_mutex_unlock(&run->mutex);
    return status;
}

/* ---- series ---------------------------------------------------------------------------------- */

typedef struct ranked {
    uint32_t rank;
    sb_stored_part *part;
} ranked;

static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->part->segment != y->part->segment) return x->part->segment < y->part->segment ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part); /* in the order in which they were begun */
}

static bool has_points(const sb_stored_part *part) {
    return part->seen.chunk_n || part->seen.tail_n || part->seen.ref_n;
}

/* From which step on the points of each part are superseded. */
static sb_status find_cuts(const sb_run *run, const ranked *parts, size_t n, sb_arena *arena,
                           int64_t *cuts) {
    sb_restart_piece *pieces = sb_arena_get(arena, n * sizeof *pieces);
    sb_start *starts = sb_arena_get(arena, run->seen_start_n * sizeof *starts);
    if (!pieces || !starts) return SB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const sb_stored_part *p = parts[i].part;
        const sb_stored_file *f = &run->files[p->file];
        pieces[i] = (sb_restart_piece){.rank = f->rank,
                                       .segment = p->segment,
                                       .first_step = p->seen_first_step,
                                       .file_first = f->seen_first,
                                       .file_last = f->seen_last};
    }
    for (uint32_t i = 0; i < run->seen_start_n; i++) {
        const sb_stored_start *s = &run->starts[i];
        starts[i] = (sb_start){run->files[s->file].rank, s->segment, s->step, s->wall};
    }
    sb_restarts restarts = {.pieces = pieces,
                            .piece_n = n,
                            .starts = starts,
                            .start_n = run->seen_start_n,
                            .ranks = run->order_n};
    return sb_restart_cuts(&restarts, arena, cuts);
}

static sb_part view_part(sb_stored_part *p, int64_t cut_step) {
    sb_extent *e = &p->seen;
    sb_extent_hold(e);
    sb_part part = {.file = p->file,
                    .number_kind = p->number_kind,
                    .continues = p->continues,
                    .cut_step = cut_step};
    part.chunks = e->chunks ? e->chunks->items : NULL;
    part.chunk_n = e->chunk_n;
    part.held[0] = e->chunks;
    if (e->tail) {
        part.tail_steps = sb_tail_steps(e->tail);
        part.tail_walls = sb_tail_walls(e->tail);
        part.tail_values = sb_tail_values(e->tail);
        part.tail_n = e->tail_n;
        part.held[1] = e->tail;
    }
    if (e->refs) {
        part.refs = e->refs->items;
        part.ref_n = e->ref_n;
        part.held[1] = e->refs;
    }
    return part;
}

/* With the mutex held. */
static sb_status take_snapshot(sb_run *run, sb_stored_series *s, sb_arena *arena, sb_series *out) {
    ranked *order = sb_arena_get(arena, s->part_n * sizeof *order);
    out->parts = sb_arena_get(arena, s->part_n * sizeof *out->parts);
    int64_t *cuts = sb_arena_get(arena, s->part_n * sizeof *cuts);
    if (!order || !out->parts || !cuts) return SB_NOMEM;
    size_t n = 0;
    for (uint32_t i = 0; i < s->part_n; i++)
        if (has_points(&s->parts[i]))
            order[n++] = (ranked){run->files[s->parts[i].file].rank, &s->parts[i]};
    if (n > 1) qsort(order, n, sizeof *order, by_rank);
    sb_status status = find_cuts(run, order, n, arena, cuts);
    if (status != SB_OK) return status;
    for (size_t i = 0; i < n; i++) out->parts[i] = view_part(order[i].part, cuts[i]);
    out->part_n = n;
    out->tag = s->tag;
    out->meta = s->meta;
    out->epoch = run->epoch;
    out->points = s->points;
    out->run = sb_run_hold(run);
    return SB_OK;
}

sb_status sb_series_take(sb_run *run, sb_slice tag, sb_arena *arena, sb_series *out) {
    *out = (sb_series){0};
    pthread_mutex_lock(&run->mutex);
    uint32_t id = sb_intern_find(&run->tags, tag);
    sb_status status = SB_NOT_FOUND;
    if (id != SB_INTERN_NONE && run->series[id]->points)
        status = take_snapshot(run, run->series[id], arena, out);
    pthread_mutex_unlock(&run->mutex);
    return status;
}

void sb_series_release(sb_series *s) {
    for (size_t i = 0; i < s->part_n; i++) {
        sb_chunk_list_release(s->parts[i].held[0]);
        sb_counted_release(s->parts[i].held[1]);
    }
    sb_run_release(s->run);
    *s = (sb_series){0};
}

/* ---- walking --------------------------------------------------------------------------------- */

sb_scalar_walk sb_scalars_of(const sb_series *s, bool hide) {
    return (sb_scalar_walk){.series = s, .hide = hide};
}

/* Leaves out the points at and above the cut. */
static size_t keep_below(sb_points *points, size_t n, int64_t cut) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (points->steps[i] >= cut) continue;
        points->steps[kept] = points->steps[i];
        points->walls[kept] = points->walls[i];
        points->values[kept] = points->values[i];
        kept++;
    }
    return kept;
}

static size_t read_block(const sb_part *part, size_t chunk, sb_points *out) {
    if (chunk < part->chunk_n) {
        sb_chunk_steps(part->chunks[chunk], out->steps);
        sb_chunk_walls(part->chunks[chunk], out->walls);
        sb_chunk_values(part->chunks[chunk], out->values);
        return SB_CHUNK_POINTS;
    }
    size_t n = part->tail_n;
    if (n) {
        memcpy(out->steps, part->tail_steps, n * sizeof(int64_t));
        memcpy(out->walls, part->tail_walls, n * sizeof(double));
        memcpy(out->values, part->tail_values, n * sizeof(double));
    }
    return n;
}

size_t sb_scalars_next(sb_scalar_walk *walk, sb_points *out, size_t *part_index) {
    while (walk->part < walk->series->part_n) {
        const sb_part *part = &walk->series->parts[walk->part];
        if (walk->chunk > part->chunk_n) {
            walk->part++;
            walk->chunk = 0;
            continue;
        }
        size_t chunk = walk->chunk++;
        bool cut = walk->hide && part->cut_step != SB_NO_CUT;
        if (cut && chunk < part->chunk_n && part->chunks[chunk]->min_step >= part->cut_step)
            continue;
        size_t n = read_block(part, chunk, out);
        if (cut) n = keep_below(out, n, part->cut_step);
        if (n == 0) continue;
        if (part_index) *part_index = walk->part;
        return n;
    }
    return 0;
}
