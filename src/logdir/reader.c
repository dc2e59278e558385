/* reader.c: the public reader: walks a log directory and hands out the events of its files.
 *
 * One file is open at a time: a tail reader that has reached the end of its file sleeps until the
 * next pass, and is not even woken then when the walk finds the file unchanged. */
#include "logdir/reader_int.h"

#include "base/sized.h"
#include "base/slice.h"
#include "fsio/fs.h"
#include "logdir/discover.h"
#include "base/banned.h"

#define MOST_GAPS 10000
#define MOST_NAMES (UINT32_MAX - 1)
#define DEFAULT_DECODED ((uint64_t)1 << 30)
#define FOUND_BLOCK ((size_t)64 << 10)

/* ---- damage ---------------------------------------------------------------------------------- */

static const char *run_name(const sb_reader *r, uint32_t run) {
    return (const char *)sb_intern_name(&r->runs, run).p;
}

void sb_reader_note(sb_reader *r, const sb_reader_file *file, sb_status kind, uint64_t offset,
                    uint64_t bytes) {
    r->damage_count++;
    sb_reader_gap *gap = SB_VEC_PUSH(&r->gaps, r->env->alloc, MOST_GAPS);
    if (!gap) return; /* counted, at least */
    *gap = (sb_reader_gap){.run = run_name(r, file->run),
                           .path = file->path,
                           .offset = offset,
                           .bytes = bytes,
                           .kind = kind};
}

const sb_reader_gap *sb_reader_damage(const sb_reader *r, size_t i) {
    return i < r->gaps.n ? &r->gaps.items[i] : NULL;
}

uint64_t sb_reader_damage_count(const sb_reader *r) {
    return r->damage_count;
}

const sb_reader_gap *sb_reader_unfinished(sb_reader *r, size_t i) {
    for (size_t k = 0; k < r->paths.count; k++) {
        const sb_reader_file *file = &r->files.items[k];
        if (file->rest.kind == SB_OK || i-- > 0) continue;
        r->unfinished_out = (sb_reader_gap){.run = run_name(r, file->run),
                                            .path = file->path,
                                            .offset = file->rest.offset,
                                            .bytes = file->rest.bytes,
                                            .kind = file->rest.kind};
        return &r->unfinished_out;
    }
    return NULL;
}

/* ---- which files there are ------------------------------------------------------------------- */

/* The file's place in this pass; files that are at their end and were not written since have none.
 *  */
static sb_status take_file(sb_reader *r, const sb_found_file *found, uint32_t run) {
    uint32_t id;
    bool is_new;
    /* Room first: a name without a file behind it must not exist. */
    if (!SB_VEC_RESERVE(&r->files, r->env->alloc, 1, SIZE_MAX) ||
        !SB_VEC_RESERVE(&r->order, r->env->alloc, 1, SIZE_MAX))
        return SB_NOMEM;
    sb_status status = sb_intern_add(&r->paths, found->path, &id, &is_new);
    if (status != SB_OK) return status;
    sb_reader_file *file = &r->files.items[id];
    if (is_new) {
        r->files.n++;
        *file = (sb_reader_file){.path = (const char *)sb_intern_name(&r->paths, id).p, .run = run};
    }
    bool same = !is_new && file->size == found->size && file->inode == found->inode &&
                file->mtime_ns == found->mtime_ns;
    if (same && file->at_end) return SB_OK;
    file->size = found->size;
    file->inode = found->inode;
    file->mtime_ns = found->mtime_ns;
    file->at_end = false;
    r->order.items[r->order.n++] = id;
    return SB_OK;
}

static sb_status take_found(sb_reader *r, const sb_found *found) {
    for (size_t i = 0; i < found->run_count; i++) {
        const sb_found_run *run = &found->runs[i];
        if (r->only_run && !sb_slice_eq(run->name, sb_slice_str(r->only_run))) continue;
        uint32_t id;
        sb_status status = sb_intern_add(&r->runs, run->name, &id, NULL);
        for (size_t k = 0; k < run->file_count && status == SB_OK; k++)
            status = take_file(r, &run->files[k], id);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static sb_status walk_directory(sb_reader *r, sb_err *err) {
    sb_arena arena;
    sb_found found;
    sb_arena_init(&arena, r->env->alloc, FOUND_BLOCK, SIZE_MAX / 2);
    sb_status status = sb_discover(&found, r->env, &arena, r->root, NULL, err);
    if (status == SB_OK) {
        r->order.n = r->at = 0;
        status = take_found(r, &found);
        if (status != SB_OK) sb_fail(err, status, 0, "%s: too many files to read", r->root);
    }
    sb_arena_fini(&arena);
    return status;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static char *copy_text(const sb_alloc *alloc, const char *text, size_t *size) {
    *size = strlen(text) + 1;
    char *copy = sb_alloc_get(alloc, *size);
    if (copy) memcpy(copy, text, *size);
    return copy;
}

sb_status sb_reader_open_in(sb_reader **out, const sb_env *env, const char *path,
                            const sb_reader_opts *opts, sb_err *err) {
    sb_reader_opts own = {0};
    *out = NULL;
    if (opts) {
        sb_status read = sb_sized_read(&own, sizeof own, opts, 0, "sb_reader_opts", err);
        if (read != SB_OK) return read;
    }
    opts = &own;
    sb_reader *r = sb_alloc_zeroed(env->alloc, 1, sizeof *r);
    if (!r) return sb_fail_nomem(err, "for a reader");
    r->env = env;
    r->max_payload = opts->max_payload;
    r->max_decoded = opts->max_decoded ? opts->max_decoded : DEFAULT_DECODED;
    if (r->max_decoded > SIZE_MAX / 2) r->max_decoded = SIZE_MAX / 2;
    uint64_t seed = (uint64_t)(uintptr_t)r ^ (env->clock ? env->clock->steady(env->clock->ctx) : 0);
    sb_intern_init(&r->runs, env->alloc, seed, MOST_NAMES);
    sb_intern_init(&r->paths, env->alloc, seed, MOST_NAMES);
    sb_intern_init(&r->tags, env->alloc, seed, MOST_NAMES);
    sb_buf_init(&r->key, env->alloc, (size_t)1 << 30);
    sb_arena_init(&r->decoded, env->alloc, 4096, (size_t)r->max_decoded);
    sb_arena_init(&r->metadata_text, env->alloc, 4096, SIZE_MAX / 2);
    r->root = copy_text(env->alloc, path, &r->root_size);
    if (opts->run) r->only_run = copy_text(env->alloc, opts->run, &r->only_run_size);
    sb_status status = SB_OK;
    if (!r->root || (opts->run && !r->only_run)) status = sb_fail_nomem(err, "for a reader");
    if (status == SB_OK) status = walk_directory(r, err);
    if (status != SB_OK) {
        sb_reader_close(r);
        return status;
    }
    *out = r;
    return SB_OK;
}

sb_status sb_reader_open(sb_reader **out, const char *path, const sb_reader_opts *opts,
                         sb_err *err) {
    static const sb_env system_env = {
        .alloc = &sb_alloc_libc, .fs = &sb_fs_local, .clock = &sb_clock_system};
    if (!out || !path) return sb_fail(err, SB_INVALID, 0, "a reader needs a path");
    return sb_reader_open_in(out, &system_env, path, opts, err);
}

void sb_reader_close(sb_reader *r) {
    if (!r) return;
    const sb_alloc *alloc = r->env->alloc;
    for (size_t i = 0; i < r->files.n; i++) sb_tail_close(r->files.items[i].tail);
    SB_VEC_FREE(&r->files, alloc);
    SB_VEC_FREE(&r->order, alloc);
    SB_VEC_FREE(&r->gaps, alloc);
    sb_alloc_put(alloc, r->root, r->root_size);
    sb_alloc_put(alloc, r->only_run, r->only_run_size);
    sb_reader_values_fini(r);
    sb_intern_fini(&r->paths);
    sb_intern_fini(&r->runs);
    sb_alloc_put(alloc, r, sizeof *r);
}

/* ---- events ---------------------------------------------------------------------------------- */

bool sb_reader_fill_event(sb_reader_event *out, const sb_event *e) {
    out->wall_time = e->wall_time;
    out->step = e->step;
    out->body = e->body;
    out->writer = e->source_writer;
    switch (e->what) {
    case SB_WHAT_FILE_VERSION:
        out->what = SB_READS_FILE_VERSION;
        return true;
    case SB_WHAT_SUMMARY:
        out->what = SB_READS_SUMMARY;
        return true;
    case SB_WHAT_GRAPH_DEF:
        out->what = SB_READS_GRAPH;
        return true;
    case SB_WHAT_META_GRAPH_DEF:
        out->what = SB_READS_META_GRAPH;
        return true;
    case SB_WHAT_TAGGED_RUN_METADATA: {
        sb_tagged_run_metadata metadata;
        if (sb_tagged_run_metadata_read(&metadata, e->body) != SB_OK) return false;
        out->what = SB_READS_RUN_METADATA;
        out->tag = metadata.tag;
        out->body = metadata.run_metadata;
        return true;
    }
    case SB_WHAT_SESSION_LOG: {
        sb_session_log log;
        if (sb_session_log_read(&log, e->body) != SB_OK) return false;
        out->what = SB_READS_SESSION;
        out->number = log.status;
        out->body = log.message;
        out->checkpoint_path = log.checkpoint_path;
        return true;
    }
    case SB_WHAT_LOG_MESSAGE: {
        sb_log_message message;
        if (sb_log_message_read(&message, e->body) != SB_OK) return false;
        out->what = SB_READS_LOG_MESSAGE;
        out->number = message.level;
        out->body = message.message;
        return true;
    }
    case SB_WHAT_NONE:
        break;
    }
    out->what = SB_READS_NOTHING;
    return true;
}

/* A record was read: SB_OK when it is an event. */
static sb_status open_event(sb_reader *r, sb_reader_file *file, const sb_tail_record *record,
                            sb_reader_event *out) {
    *out = (sb_reader_event){.run = run_name(r, file->run),
                             .path = file->path,
                             .offset = record->offset,
                             .record = record->payload};
    r->event_file = file;
    r->event_offset = record->offset;
    r->event_size = record->size;
    if (sb_event_read(&r->event, record->payload) == SB_OK &&
        sb_reader_fill_event(out, &r->event)) {
        sb_reader_begin_values(r);
        return SB_OK;
    }
    sb_reader_note(r, file, SB_CORRUPT, record->offset, record->size);
    return SB_CORRUPT;
}

/* The file at hand has nothing more in this pass. */
static void leave_file(sb_reader *r, sb_reader_file *file) {
    file->rest = file->tail ? sb_tail_rest(file->tail) : (sb_tail_ending){.kind = SB_OK};
    file->at_end = file->tail && file->rest.kind == SB_OK;
    if (file->tail) sb_tail_sleep(file->tail);
    r->at++;
}

static sb_status open_file(sb_reader *r, sb_reader_file *file, sb_err *err) {
    if (file->tail) return SB_OK;
    sb_tail_opts opts = {.max_payload = r->max_payload};
    return sb_tail_open(&file->tail, r->env, file->path, &opts, err);
}

/* The next event of the file at hand: SB_OK; SB_MORE when there is none; SB_NOMEM. Anything else is
 * noted here. */
static sb_status next_in_file(sb_reader *r, sb_reader_file *file, sb_reader_event *out,
                              sb_err *err) {
    for (;;) {
        sb_tail_record record;
        sb_status status = open_file(r, file, err);
        if (status == SB_OK) status = sb_tail_next(file->tail, &record, err);
        switch (status) {
        case SB_OK:
            file->refused = false;
            if (open_event(r, file, &record, out) == SB_OK) return SB_OK;
            break;
        case SB_BAD_LENGTH:
        case SB_BAD_PAYLOAD:
        case SB_LIMIT:
            sb_reader_note(r, file, status, record.offset, record.size);
            break;
        case SB_REPLACED:
            sb_tail_close(file->tail);
            file->tail = NULL;
            break;
        case SB_MORE:
        case SB_NOMEM:
            return status;
        case SB_NOT_FOUND: /* removed since the walk */
        case SB_CORRUPT:   /* an archive; told by sb_reader_unfinished */
            return SB_MORE;
        default:
            if (!file->refused)
                sb_reader_note(r, file, SB_IO, file->tail ? sb_tail_stats(file->tail).offset : 0,
                               0);
            file->refused = true; /* once is enough */
            return SB_MORE;
        }
    }
}

sb_status sb_reader_next(sb_reader *r, const sb_reader_event **out, sb_err *err) {
    *out = &r->event_out;
    r->event_file = NULL;
    sb_reader_begin_values(r);
    if (r->pass_over) {
        sb_status status = walk_directory(r, err);
        if (status == SB_NOMEM) return status;
        if (status != SB_OK) return SB_MORE; /* the directory is missing for the moment */
        r->pass_over = false;
    }
    while (r->at < r->order.n) {
        sb_reader_file *file = &r->files.items[r->order.items[r->at]];
        sb_status status = next_in_file(r, file, &r->event_out, err);
        if (status != SB_MORE) return status;
        leave_file(r, file);
    }
    r->pass_over = true;
    return SB_MORE;
}
