/* loader.c: the turns of one run's loader. */
#include "ingest/loader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/slice.h"
#include "base/vec.h"
#include "fsio/fs.h"
#include "ingest/unify.h"
#include "base/banned.h"

#define COMMIT_NS (50u * 1000 * 1000)
#define BATCH 64u                        /* records between looks at the clock */
#define SEARCH_BYTES ((uint64_t)8 << 20) /* behind damage, between looks at the clock */
#define RETRY_NS (1000u * 1000 * 1000)
#define LIVE_NS ((uint64_t)10 * 1000 * 1000 * 1000)

static uint64_t now_of(const sb_loader *l) {
    return l->env->clock->steady(l->env->clock->ctx);
}

/* ---- files ----------------------------------------------------------------------------------- */

sb_status sb_loader_new(sb_loader **out, const sb_env *env, sb_store *store, sb_slice name,
                        sb_slice path, sb_err *err) {
    const sb_alloc *alloc = env->alloc;
    sb_loader *l = sb_alloc_zeroed(alloc, 1, sizeof *l);
    char *copy = sb_alloc_get(alloc, path.n + 1);
    sb_status status = SB_NOMEM;
    if (l && copy) {
        memcpy(copy, path.p, path.n);
        copy[path.n] = 0;
        l->env = env;
        l->path = copy;
        status = sb_store_add_run(store, name, path, &l->run, err);
    }
    if (status != SB_OK) {
        sb_alloc_put(alloc, copy, path.n + 1);
        sb_alloc_put(alloc, l, sizeof *l);
        return status == SB_NOMEM ? sb_fail_nomem(err, "for a run") : status;
    }
    *out = l;
    return SB_OK;
}

static void close_file(sb_loader *l, sb_loader_file *f) {
    sb_tail_close(f->tail);
    sb_alloc_put(l->env->alloc, f->path, f->path_n + 1);
}

void sb_loader_free(sb_loader *l) {
    if (!l) return;
    const sb_alloc *alloc = l->env->alloc;
    for (size_t i = 0; i < l->files.n; i++) close_file(l, &l->files.items[i]);
    SB_VEC_FREE(&l->files, alloc);
    sb_run_release(l->run);
    sb_alloc_put(alloc, l->path, strlen(l->path) + 1);
    sb_alloc_put(alloc, l, sizeof *l);
}

static sb_slice path_of(const sb_loader_file *f) {
    return sb_slice_of(f->path, f->path_n);
}

/* Files are kept in the order of their paths. */
static size_t place_of_file(const sb_loader *l, sb_slice path, bool *is_there) {
    size_t i;
    SB_PARTITION_POINT(i, 0, l->files.n, sb_slice_cmp(path_of(&l->files.items[i]), path) < 0);
    *is_there = i < l->files.n && sb_slice_eq(path_of(&l->files.items[i]), path);
    return i;
}

static sb_status add_file(sb_loader *l, size_t at, const sb_found_file *found) {
    const sb_alloc *alloc = l->env->alloc;
    if (!SB_VEC_RESERVE(&l->files, alloc, 1, SIZE_MAX)) return SB_NOMEM;
    char *path = sb_alloc_get(alloc, found->path.n + 1);
    if (!path) return SB_NOMEM;
    memcpy(path, found->path.p, found->path.n);
    path[found->path.n] = 0;
    uint32_t number;
    if (sb_run_add_file(l->run, found->path, &number, NULL) != SB_OK) {
        sb_alloc_put(alloc, path, found->path.n + 1);
        return SB_NOMEM;
    }
    /* A file that was written to a moment ago is likely to be written to again. */
    int64_t wall = (int64_t)l->env->clock->wall(l->env->clock->ctx);
    bool is_fresh = found->mtime_ns > wall - (int64_t)LIVE_NS;
    *SB_VEC_INSERT(&l->files, alloc, at, SIZE_MAX) =
        (sb_loader_file){.path = path,
                         .path_n = found->path.n,
                         .number = number,
                         .device = found->device,
                         .inode = found->inode,
                         .size = found->size,
                         .mtime_ns = found->mtime_ns,
                         .grew_at = is_fresh ? now_of(l) : 0,
                         .has_news = true,
                         .is_found = true};
    return SB_OK;
}

/* True when the size is not the one that was known. A file that changed without that may have been
 * written anew in place: the tail reader looks. */
static bool saw_change(sb_loader *l, sb_loader_file *f, uint64_t size, int64_t mtime_ns) {
    if (mtime_ns != f->mtime_ns) f->has_news = true;
    f->mtime_ns = mtime_ns;
    if (size == f->size) return false;
    f->size = size;
    f->grew_at = now_of(l);
    f->has_news = true;
    return true;
}

static void share_progress(sb_loader *l) {
    uint64_t bytes = 0, done = 0, points = 0;
    for (size_t i = 0; i < l->files.n; i++) {
        bytes += l->files.items[i].size;
        done += l->files.items[i].done < l->files.items[i].size ? l->files.items[i].done
                                                                : l->files.items[i].size;
        points += l->files.items[i].points;
    }
    atomic_store(&l->files_seen, l->files.n);
    atomic_store(&l->bytes, bytes);
    atomic_store(&l->bytes_done, done);
    atomic_store(&l->points, points);
}

static bool is_hidden(const sb_loader_file *f, sb_hidden hidden) {
    sb_slice path = sb_slice_of(f->path, f->path_n);
    for (size_t i = 0; i < hidden.n; i++) {
        const sb_found_problem *p = &hidden.items[i];
        if (!sb_left_out_may_hide(p->error) || !sb_slice_starts(path, p->path)) continue;
        bool is_whole = p->path.n == 0 || p->path.n == path.n || path.p[p->path.n] == '/' ||
                        path.p[p->path.n - 1] == '/';
        if (is_whole) return true;
    }
    return false;
}

bool sb_loader_is_hidden(const sb_loader *l, sb_hidden hidden) {
    for (size_t i = 0; hidden.n && i < l->files.n; i++)
        if (is_hidden(&l->files.items[i], hidden)) return true;
    return false;
}

void sb_loader_retry(sb_loader *l) {
    for (size_t i = 0; i < l->files.n; i++) l->files.items[i].retry_at = 0;
}

sb_status sb_loader_update(sb_loader *l, const sb_found_run *found, sb_hidden hidden,
                           size_t *grown) {
    *grown = 0;
    for (size_t i = 0; i < l->files.n; i++) l->files.items[i].is_found = false;
    for (size_t i = 0; i < found->file_count; i++) {
        const sb_found_file *each = &found->files[i];
        bool is_there;
        size_t at = place_of_file(l, each->path, &is_there);
        if (!is_there) {
            sb_status status = add_file(l, at, each);
            if (status != SB_OK) return status;
            continue;
        }
        sb_loader_file *f = &l->files.items[at];
        f->is_found = true;
        /* Another file under the same name: the tail reader notices by itself when it looks. */
        if (f->inode != each->inode || f->device != each->device) {
            f->inode = each->inode;
            f->device = each->device;
            f->has_news = true;
        }
        *grown += saw_change(l, f, each->size, each->mtime_ns);
    }
    for (size_t i = 0; i < l->files.n; i++)
        if (!l->files.items[i].is_found && !is_hidden(&l->files.items[i], hidden))
            l->files.items[i].is_gone = true;
    share_progress(l);
    return SB_OK;
}

size_t sb_loader_look(sb_loader *l, bool all) {
    uint64_t now = now_of(l);
    size_t grown = 0;
    for (size_t i = 0; i < l->files.n; i++) {
        sb_loader_file *f = &l->files.items[i];
        if (!all && (f->grew_at == 0 || now - f->grew_at > LIVE_NS)) continue;
        sb_file_info info;
        if (l->env->fs->stat(l->env->fs->ctx, f->path, &info) < 0)
            continue; /* the next walk will tell */
        if (info.inode != f->inode || info.device != f->device) {
            f->inode = info.inode;
            f->device = info.device;
            f->has_news = true;
        }
        grown += saw_change(l, f, info.size, info.mtime_ns);
    }
    return grown;
}

bool sb_loader_has_news(const sb_loader *l) {
    uint64_t now = now_of(l);
    for (size_t i = 0; i < l->files.n; i++)
        if ((l->files.items[i].has_news && l->files.items[i].retry_at <= now) ||
            l->files.items[i].is_gone)
            return true;
    return false;
}

bool sb_loader_is_live(const sb_loader *l, uint64_t ns) {
    uint64_t now = now_of(l);
    for (size_t i = 0; i < l->files.n; i++)
        if (l->files.items[i].grew_at && now - l->files.items[i].grew_at <= ns) return true;
    return false;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

typedef struct turn {
    sb_loader *l;
    uint64_t until;
    uint64_t commit_at;
    bool is_dirty;
    sb_repeats repeats;
} turn;

static void share_state(sb_loader *l, const sb_loader_file *f) {
    sb_file_state state = {
        .size = f->size,
        .is_live = f->grew_at && now_of(l) - f->grew_at <= LIVE_NS,
        .is_done = !f->has_news,
        .device = f->device,
        .inode = f->inode,
    };
    if (f->tail) {
        sb_tail_counts counts = sb_tail_stats(f->tail);
        state.read = counts.offset;
        state.records = counts.records;
        state.damaged = counts.damaged + f->unreadable;
        state.lost = counts.lost_bytes;
    }
    memcpy(state.trouble, f->trouble, sizeof state.trouble);
    if (f->dropped && !f->trouble[0])
        snprintf(state.trouble, sizeof state.trouble,
                 "%llu values were left out: the run has more tags than are kept",
                 (unsigned long long)f->dropped);
    sb_run_set_file_state(l->run, f->number, &state);
}

static void commit_turn(turn *t, const sb_loader_file *f) {
    if (f) share_state(t->l, f);
    sb_run_commit(t->l->run);
    share_progress(t->l);
    t->is_dirty = false;
    t->commit_at = now_of(t->l) + COMMIT_NS;
}

static void have_trouble(sb_loader *l, sb_loader_file *f, const sb_err *err) {
    snprintf(f->trouble, sizeof f->trouble, "%.239s", err->text);
    f->retry_at = now_of(l) + RETRY_NS;
}

/* Forgets all of a file's points; it is read again from its start under a new number. Without
 * memory for that everything stays as it is, and the file stays stale. */
static bool start_over(sb_loader *l, sb_loader_file *f) {
    uint32_t number;
    f->is_stale = true;
    if (sb_run_add_file(l->run, sb_slice_of(f->path, f->path_n), &number, NULL) != SB_OK) {
        f->retry_at = now_of(l) + RETRY_NS;
        return false;
    }
    sb_run_drop_file(l->run, f->number);
    f->number = number;
    sb_tail_close(f->tail);
    f->tail = NULL;
    f->points = f->misfits = f->unreadable = f->dropped = f->done = 0;
    f->is_stale = false;
    return true;
}

/* Good records one after the other, the first at `offset`: true to go on with this file. */
static bool take_records(turn *t, sb_loader_file *f, const sb_record *records, size_t n,
                         uint64_t offset) {
    sb_unify_counts counts = {0};
    sb_status status = SB_OK;
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        status = sb_unify_event(t->l->run, f->number, &records[i], offset, &t->repeats, &counts);
        offset += records[i].size;
    }
    f->points += counts.points;
    f->misfits += counts.misfits;
    f->unreadable += counts.unreadable;
    f->dropped += counts.dropped;
    f->done = offset;
    t->is_dirty = true;
    if (status == SB_OK) return true;
    f->is_stale = true; /* the event is in the store in part, and the reader is past it */
    snprintf(f->trouble, sizeof f->trouble, "out of memory while reading");
    f->retry_at = now_of(t->l) + RETRY_NS;
    return false;
}

/* The reader needed more bytes, or found something else than a good record: true to go on with this
 * file. */
static bool take_next(turn *t, sb_loader_file *f) {
    sb_loader *l = t->l;
    sb_tail_record record;
    sb_err err; /* not zeroed: half a kilobyte a record */
    err.text[0] = 0;
    sb_status status = sb_tail_next(f->tail, &record, &err);
    switch (status) {
    case SB_OK:
        return take_records(t, f,
                            &(sb_record){.payload = record.payload,
                                         .length = record.payload.n,
                                         .size = record.size,
                                         .payload_crc = record.payload_crc},
                            1, record.offset);
    case SB_BAD_PAYLOAD:
    case SB_BAD_LENGTH:
    case SB_LIMIT:
        snprintf(f->trouble, sizeof f->trouble, "%llu bytes at offset %llu: %s",
                 (unsigned long long)record.size, (unsigned long long)record.offset,
                 sb_status_meaning(status));
        f->done = record.offset + record.size;
        t->is_dirty = true;
        return true;
    case SB_MORE:
        f->has_news = false;
        return false;
    case SB_TIMEOUT: /* a long search behind damage: not more of it than fits into a turn */
        return true;
    case SB_REPLACED:
        t->is_dirty = true;
        return start_over(l, f);
    default:
        have_trouble(l, f, &err);
        if (status == SB_CORRUPT) f->has_news = false;
        return false;
    }
}

static bool open_tail(turn *t, sb_loader_file *f) {
    sb_err err = {.code = SB_OK};
    sb_tail_opts opts = {.search = SEARCH_BYTES};
    sb_status opened = sb_tail_open(&f->tail, t->l->env, f->path, &opts, &err);
    if (opened == SB_OK) return true;
    have_trouble(t->l, f, &err);
    if (opened == SB_INVALID) f->has_news = false;
    return false;
}

/* True when the file is read as far as it goes. */
static bool read_file(turn *t, sb_loader_file *f) {
    for (;;) {
        if (f->is_stale && !start_over(t->l, f)) return true;
        if (!f->tail && !open_tail(t, f)) return true;
        sb_record records[BATCH];
        uint64_t offset;
        size_t n = sb_tail_take(f->tail, records, BATCH, &offset);
        bool goes_on = n ? take_records(t, f, records, n, offset) : take_next(t, f);
        if (!goes_on) return true;
        uint64_t now = now_of(t->l);
        if (now >= t->commit_at) commit_turn(t, f);
        if (now >= t->until) return false;
    }
}

static void drop_gone(turn *t) {
    sb_loader *l = t->l;
    size_t kept = 0;
    for (size_t i = 0; i < l->files.n; i++) {
        if (l->files.items[i].is_gone) {
            sb_run_drop_file(l->run, l->files.items[i].number);
            close_file(l, &l->files.items[i]);
            t->is_dirty = true;
        } else {
            l->files.items[kept++] = l->files.items[i];
        }
    }
    l->files.n = kept;
}

void sb_loader_turn(sb_loader *l, uint64_t ns) {
    uint64_t now = now_of(l);
    turn t = {.l = l, .until = now + ns, .commit_at = now + COMMIT_NS};
    sb_repeats_init(&t.repeats, l->env->alloc);
    drop_gone(&t);
    for (size_t i = 0; i < l->files.n; i++) {
        sb_loader_file *f = &l->files.items[i];
        if (!f->has_news || f->retry_at > now_of(l)) continue;
        bool finished = read_file(&t, f);
        share_state(l, f);
        if (!finished) break;
        if (f->tail) sb_tail_sleep(f->tail);
        /* Reading very many small files takes as long as reading one large file. */
        now = now_of(l);
        if (t.is_dirty && now >= t.commit_at) commit_turn(&t, NULL);
        if (now >= t.until) break;
    }
    sb_repeats_fini(&t.repeats);
    /* Even when nothing grew, the files' states may have changed. */
    commit_turn(&t, NULL);
}
