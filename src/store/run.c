/* run.c: a run and its series: making them, finding them, freeing them.
 *
 * New series are rare. They are entered under the mutex, so that readers may look names up. */
#include <math.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "store/store_int.h"
#include "base/banned.h"

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
    if (!sb_store_grow(run->alloc, &series, run->tags.count, &run->series_room,
                       sizeof *run->series))
        return SB_NOMEM;
    run->series = series;
    if (!sb_store_grow(run->alloc, &dirty, run->tags.count, &run->dirty_room, sizeof *run->dirty))
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
