/* run_files.c: the files of a run, in the order of their names, and the restarts that they record.
 *
 * New files are rare. They are entered under the mutex, so that readers may list them. */
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "store/store_int.h"
#include "base/banned.h"

/* With the mutex held: adds a file's state to the sums of the run. */
static void count_state(sb_run *run, const sb_file_state *state) {
    run->sum.unread += !state->is_done;
    run->sum.damaged_files += state->damaged > 0;
    run->sum.damaged += state->damaged;
    run->sum.lost += state->lost;
}

/* With the mutex held: takes a file's state out of the sums of the run. */
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

/* With the mutex held, and room in the order: puts a new file into its place. Most files come in
 * the order of their names, and then no other file moves. */
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

/* With the mutex held: the first unused place among the files; file_n when all are used. */
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
              sb_store_grow(run->alloc, &files, run->file_n, &run->file_room, sizeof *run->files);
    run->files = files;
    ok =
        ok && sb_store_grow(run->alloc, &order, run->order_n, &run->order_room, sizeof *run->order);
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

void sb_run_remove_dropped_files(sb_run *run) {
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
    bool ok =
        sb_store_grow(run->alloc, &starts, run->start_n, &run->start_room, sizeof *run->starts);
    run->starts = starts;
    pthread_mutex_unlock(&run->mutex);
    if (!ok) return SB_NOMEM;
    run->files[file].segments++;
    run->starts[run->start_n++] = (sb_stored_start){file, run->files[file].segments, step, wall};
    run->next_epoch++;
    return SB_OK;
}
