/* manager.c: numbered checkpoints in a directory, the state file, and which ones are kept.
 *
 * The state file names the new checkpoint before an old one is removed, and is written again
 * afterwards: at every moment it names only checkpoints that are there. Only checkpoints that this
 * directory's state file listed with a time, or that this manager wrote, are ever removed; not one
 * that another process has put in their place since. */
#include <stdio.h>

#include "base/sized.h"
#include "base/slice.h"
#include "ckpt/bundle/bundle_write.h"
#include "ckpt/bundle/publish.h"
#include "ckpt/object/object_int.h"
#include "ckpt/state.h"
#include "base/banned.h"

/* ---- saving without a manager ---------------------------------------------------------------- */

static bool is_synced(const sb_save_opts *opts) {
    return !opts || opts->durability == SB_DURABLE;
}

static sb_slice last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return sb_slice_str(slash ? slash + 1 : path);
}

sb_status sb_checkpoint_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                              sb_err *err) {
    return sb_objects_write(c, prefix, opts, err);
}

/* Counts up and writes PREFIX-<number>, into c->path. Without success the count is taken back. */
static sb_status save_numbered(sb_checkpoint *c, const char *prefix, int64_t number,
                               const sb_save_opts *opts, sb_err *err) {
    sb_status status = sb_checkpoint_need_counter(c, err);
    if (status != SB_OK) return status;
    c->save_counter++;
    sb_buf_clear(&c->path);
    sb_buf_printf(&c->path, "%s-%lld", prefix,
                  (long long)(number == SB_NEXT_NUMBER ? c->save_counter : number));
    sb_buf_add_byte(&c->path, 0);
    status = sb_buf_check(&c->path, "a path", err);
    if (status == SB_OK) status = sb_objects_write(c, (const char *)c->path.p, opts, err);
    if (status != SB_OK) c->save_counter--;
    return status;
}

sb_status sb_checkpoint_save(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                             const char **path, sb_err *err) {
    char dir[SB_CKPT_PATH];
    if (path) *path = NULL;
    if (!sb_directory_of(dir, prefix))
        return sb_fail(err, SB_LIMIT, 0, "%s: this path is too long", prefix);
    sb_status status = save_numbered(c, prefix, SB_NEXT_NUMBER, opts, err);
    if (status != SB_OK) return status;
    sb_slice name = last_part((const char *)c->path.p);
    sb_ckpt_state state = {.newest = name, .all = &name, .count = 1};
    status = sb_ckpt_state_write(&c->env, dir, NULL, &state, is_synced(opts), err);
    if (status == SB_OK && path) *path = (const char *)c->path.p;
    return status;
}

sb_status sb_latest_checkpoint(const char *directory, char *path, size_t n, sb_err *err) {
    sb_buf prefix;
    sb_buf_init(&prefix, &sb_alloc_libc, SB_CKPT_PATH);
    sb_status status = sb_ckpt_latest(&prefix, NULL, &sb_fs_local, &sb_alloc_libc, directory, NULL,
                                      SB_CKPT_ANYWHERE, err);
    if (status == SB_OK && prefix.n >= n)
        status = sb_fail(err, SB_LIMIT, 0, "%s: the path needs %zu bytes", directory, prefix.n + 1);
    if (status == SB_OK) {
        memcpy(path, prefix.p, prefix.n);
        path[prefix.n] = 0;
    }
    sb_buf_fini(&prefix);
    return status;
}

/* ---- the manager ----------------------------------------------------------------------------- */

typedef struct kept {
    char *path; /* as the state file has it: relative to the directory, or absolute */
    size_t size;
    double time;
    sb_bundle_id id;
} kept;

struct sb_manager {
    sb_checkpoint *c;
    sb_manager_opts opts;
    char *directory, *prefix;
    size_t directory_size, prefix_size;
    SB_VEC(kept) kept; /* oldest first */
    double last_preserved;
    int64_t last_step;
    bool has_step; /* last_step is known */
    sb_buf latest; /* a path that can be opened, with a NUL; empty: none */
    sb_buf shown;  /* for sb_manager_at */
};

static double now_of(const sb_manager *m) {
    return sb_wall_seconds(m->c->env.clock);
}

static char *copy_text(const sb_alloc *alloc, const char *text, size_t *size) {
    *size = strlen(text) + 1;
    char *copy = sb_alloc_get(alloc, *size);
    if (copy) memcpy(copy, text, *size);
    return copy;
}

/* The path that a state file's entry stands for. */
static void make_path(const sb_manager *m, sb_slice entry, sb_buf *out) {
    sb_buf_clear(out);
    if (entry.n == 0 || entry.p[0] != '/') sb_buf_printf(out, "%s/", m->directory);
    sb_buf_add_slice(out, entry);
    sb_buf_add_byte(out, 0);
}

static sb_status add_kept(sb_manager *m, sb_slice path, double time, sb_bundle_id id, sb_err *err) {
    const sb_alloc *alloc = m->c->env.alloc;
    kept *k = SB_VEC_PUSH(&m->kept, alloc, SIZE_MAX);
    if (!k) return sb_fail_nomem(err, "for a manager");
    *k = (kept){.size = path.n + 1, .time = time, .id = id};
    k->path = sb_alloc_get(alloc, k->size);
    if (!k->path) {
        m->kept.n--;
        return sb_fail_nomem(err, "for a manager");
    }
    if (path.n) memcpy(k->path, path.p, path.n);
    k->path[path.n] = 0;
    return SB_OK;
}

static void remove_kept(sb_manager *m, size_t i) {
    sb_alloc_put(m->c->env.alloc, m->kept.items[i].path, m->kept.items[i].size);
    SB_VEC_REMOVE(&m->kept, i);
}

static sb_bundle_id identify(const sb_manager *m, const sb_buf *path) {
    return sb_bundle_identify(&m->c->env, (const char *)path->p);
}

static sb_status read_state(sb_manager *m, sb_err *err) {
    sb_arena arena;
    sb_ckpt_state state;
    double now = now_of(m);
    sb_arena_init(&arena, m->c->env.alloc, 4096, SIZE_MAX / 2);
    sb_status status = sb_ckpt_state_read(&state, &m->c->env, m->directory, NULL, &arena, err);
    if (status == SB_NOT_FOUND) {
        m->last_preserved = now - 1;
        status = SB_OK;
    } else if (status == SB_OK) {
        if (state.newest.n) make_path(m, state.newest, &m->latest);
        m->last_preserved = state.last_preserved < now ? state.last_preserved : now;
        for (size_t i = 0; i < state.count && i < state.time_count && status == SB_OK; i++) {
            double time = state.times[i] < now ? state.times[i] : now;
            if (time <= m->last_preserved) continue;
            make_path(m, state.all[i], &m->shown);
            status = sb_buf_check(&m->shown, "a path", err);
            if (status == SB_OK)
                status = add_kept(m, state.all[i], time, identify(m, &m->shown), err);
        }
    }
    sb_arena_fini(&arena);
    return status == SB_OK ? sb_buf_check(&m->latest, "a path", err) : status;
}

static sb_status check_opts(sb_manager_opts *out, const sb_manager_opts *given, sb_err *err) {
    sb_status status = sb_sized_read(out, sizeof *out, given, 0, "sb_manager_opts", err);
    if (status != SB_OK) return status;
    if (!out->directory || !*out->directory)
        return sb_fail(err, SB_INVALID, 0, "a manager needs a directory");
    if (out->checkpoint_interval && !out->step_counter)
        return sb_fail(err, SB_INVALID, 0, "checkpoint_interval needs a step_counter");
    if (out->checkpoint_name && strchr(out->checkpoint_name, '/'))
        return sb_fail(err, SB_INVALID, 0, "'%s': a checkpoint's name has no '/'",
                       out->checkpoint_name);
    out->save.size = sizeof out->save;
    return SB_OK;
}

sb_status sb_manager_open(sb_manager **out, sb_checkpoint *c, const sb_manager_opts *given,
                          sb_err *err) {
    *out = NULL;
    sb_manager_opts opts = {0};
    sb_status status = check_opts(&opts, given, err);
    if (status != SB_OK) return status;
    sb_manager *m = sb_alloc_zeroed(c->env.alloc, 1, sizeof *m);
    if (!m) return sb_fail_nomem(err, "for a manager");
    m->c = c;
    m->opts = opts;
    sb_buf_init(&m->latest, c->env.alloc, SB_CKPT_PATH);
    sb_buf_init(&m->shown, c->env.alloc, SB_CKPT_PATH);
    m->directory = copy_text(c->env.alloc, opts.directory, &m->directory_size);
    make_path(m, sb_slice_str(opts.checkpoint_name ? opts.checkpoint_name : "ckpt"), &m->shown);
    status =
        m->directory ? sb_buf_check(&m->shown, "a path", err) : sb_fail_nomem(err, "for a manager");
    if (status == SB_OK) {
        m->prefix = copy_text(c->env.alloc, (const char *)m->shown.p, &m->prefix_size);
        status = m->prefix ? read_state(m, err) : sb_fail_nomem(err, "for a manager");
    }
    if (status == SB_OK)
        *out = m;
    else
        sb_manager_close(m);
    return status;
}

void sb_manager_close(sb_manager *m) {
    if (!m) return;
    const sb_alloc *alloc = m->c->env.alloc;
    while (m->kept.n) remove_kept(m, m->kept.n - 1);
    SB_VEC_FREE(&m->kept, alloc);
    sb_alloc_put(alloc, m->directory, m->directory_size);
    sb_alloc_put(alloc, m->prefix, m->prefix_size);
    sb_buf_fini(&m->latest);
    sb_buf_fini(&m->shown);
    sb_alloc_put(alloc, m, sizeof *m);
}

/* ---- its state file -------------------------------------------------------------------------- */

static sb_status write_state(sb_manager *m, sb_err *err) {
    sb_arena arena;
    sb_arena_init(&arena, m->c->env.alloc, 4096, SIZE_MAX / 2);
    sb_ckpt_state state = {.count = m->kept.n,
                           .time_count = m->kept.n,
                           .all = sb_arena_zeroed(&arena, m->kept.n, sizeof *state.all),
                           .times = sb_arena_zeroed(&arena, m->kept.n, sizeof *state.times),
                           .last_preserved = m->last_preserved};
    sb_status status = state.all && state.times ? SB_OK : sb_fail_nomem(err, "for a state file");
    for (size_t i = 0; i < m->kept.n && status == SB_OK; i++) {
        state.all[i] = sb_slice_str(m->kept.items[i].path);
        state.times[i] = m->kept.items[i].time;
    }
    if (status == SB_OK && m->kept.n) state.newest = state.all[m->kept.n - 1];
    if (status == SB_OK)
        status = sb_ckpt_state_write(&m->c->env, m->directory, NULL, &state,
                                     is_synced(&m->opts.save), err);
    sb_arena_fini(&arena);
    return status;
}

/* Takes the oldest ones off the list, and removes those that are not to be preserved. */
static sb_status sweep(sb_manager *m, sb_err *err) {
    sb_status status = SB_OK;
    double hours = m->opts.keep_every_n_hours;
    while (m->opts.max_to_keep && m->kept.n > m->opts.max_to_keep && status == SB_OK) {
        double time = m->kept.items[0].time;
        if (hours > 0 && time - hours * 3600 >= m->last_preserved) {
            m->last_preserved = time;
        } else {
            make_path(m, sb_slice_str(m->kept.items[0].path), &m->shown);
            status = sb_buf_check(&m->shown, "a path", err);
            if (status == SB_OK)
                status = sb_bundle_remove(&m->c->env, (const char *)m->shown.p,
                                          &m->kept.items[0].id, err);
        }
        if (status == SB_OK) remove_kept(m, 0);
    }
    return status;
}

/* ---- saving and restoring -------------------------------------------------------------------- */

static bool is_time(const sb_manager *m) {
    if (!m->opts.step_counter || !m->has_step) return true;
    int64_t step = *m->opts.step_counter;
    if (step == m->last_step) return false;
    return !m->opts.checkpoint_interval || step >= m->last_step + m->opts.checkpoint_interval;
}

static void note_step(sb_manager *m) {
    if (!m->opts.step_counter) return;
    m->last_step = *m->opts.step_counter;
    m->has_step = true;
}

/* The new checkpoint goes to the end of the list; one of the same name that was there leaves it. */
static sb_status note_saved(sb_manager *m, sb_err *err) {
    const char *path = (const char *)m->c->path.p;
    sb_slice name = last_part(path);
    sb_buf_clear(&m->latest);
    sb_buf_add(&m->latest, path, strlen(path) + 1);
    for (size_t i = m->kept.n; i-- > 0;)
        if (sb_slice_eq(sb_slice_str(m->kept.items[i].path), name)) remove_kept(m, i);
    sb_status status = add_kept(m, name, now_of(m), m->c->saved, err);
    return status == SB_OK ? sb_buf_check(&m->latest, "a path", err) : status;
}

/* Names the new checkpoint in the state file and removes the oldest; the directory is locked. */
static sb_status record(sb_manager *m, sb_err *err) {
    sb_bundle_id now = identify(m, &m->latest);
    if (sb_bundle_id_eq(now, (sb_bundle_id){0}))
        return sb_fail(
            err, SB_IO, 0,
            "%s: is gone already: another process saves checkpoints of this name in this "
            "directory; give each process a directory of its own",
            (const char *)m->latest.p);
    sb_status status = write_state(m, err);
    size_t before = m->kept.n;
    if (status == SB_OK) status = sweep(m, err);
    return status == SB_OK && m->kept.n != before ? write_state(m, err) : status;
}

sb_status sb_manager_save(sb_manager *m, int64_t number, const char **path, sb_err *err) {
    if (path) *path = NULL;
    if (!is_time(m)) return SB_OK;
    sb_status status = save_numbered(m->c, m->prefix, number, &m->opts.save, err);
    if (status == SB_OK) status = note_saved(m, err);
    if (status != SB_OK) return status;
    int lock = sb_lock_directory(m->c->env.fs, m->directory);
    status = record(m, err);
    sb_unlock_directory(m->c->env.fs, lock);
    if (status != SB_OK) return status;
    note_step(m);
    if (path) *path = (const char *)m->latest.p;
    return SB_OK;
}

sb_status sb_manager_restore_or_initialize(sb_manager *m, const char **path, sb_err *err) {
    if (path) *path = NULL;
    if (m->latest.n == 0) return m->opts.init ? m->opts.init(m->opts.init_ud, err) : SB_OK;
    sb_status status = sb_checkpoint_restore(m->c, (const char *)m->latest.p, NULL, err);
    if (status != SB_OK) return status;
    note_step(m);
    if (path) *path = (const char *)m->latest.p;
    return SB_OK;
}

const char *sb_manager_latest(const sb_manager *m) {
    return m->latest.n ? (const char *)m->latest.p : NULL;
}

const char *sb_manager_at(const sb_manager *m, size_t i) {
    sb_manager *writable = (sb_manager *)(uintptr_t)m; /* the text of the answer lives in it */
    if (i >= m->kept.n) return NULL;
    make_path(m, sb_slice_str(m->kept.items[i].path), &writable->shown);
    return m->shown.failed == SB_OK ? (const char *)m->shown.p : NULL;
}
