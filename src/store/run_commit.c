/* run_commit.c: a commit, which shows readers what the loader has added or dropped since the last
 * one. It touches only the series that have grown. */
#include <math.h>

#include "store/store_int.h"
#include "base/banned.h"

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
    sb_series_close_tail(s);
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
    sb_run_remove_dropped_files(run);
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
