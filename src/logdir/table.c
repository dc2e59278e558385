/* table.c: all points of a log directory as columns: files are decoded side by side
 * (table_file.c), then the parts of each tag are joined in the order of the files, and points that
 * are superseded are removed if the caller wants that. */
#include "logdir/table.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/search.h"
#include "base/sized.h"
#include "base/slice.h"
#include "base/system/pool.h"
#include "fsio/fs.h"
#include "logdir/table_int.h"
#include "base/banned.h"

#define MOST_THREADS 64u
#define DEFAULT_BYTES ((uint64_t)4 << 30)
#define DEFAULT_COLUMNS (SB_COLUMN_STEPS | SB_COLUMN_WALL_TIMES | SB_COLUMN_VALUES)
#define TEXTS_BLOCK ((size_t)64 << 10)

struct sb_reader_table {
    sb_table_ask ask;
    sb_arena texts; /* names of runs, paths, the tags that are asked for */
    const char **runs;
    size_t run_n;
    SB_VEC(sb_table_file) files; /* run by run */
    sb_buf key;                  /* scratch: run, kind and tag */
    sb_intern keys;              /* the id is the index into parts */
    SB_VEC(sb_table_part) parts; /* run by run */
    sb_reader_columns *columns;  /* of the parts that are wanted */
    size_t column_n;
    SB_VEC(sb_reader_event) events;
    SB_VEC(sb_reader_gap) gaps;
    uint64_t damage_count;
};

/* ---- what is asked for ----------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
    return sb_slice_cmp(*(const sb_slice *)a, *(const sb_slice *)b);
}

static sb_status copy_tags(sb_reader_table *t, const sb_reader_table_opts *opts, sb_err *err) {
    if (!opts->tags) return SB_OK;
    sb_table_ask *ask = &t->ask;
    ask->tags = sb_arena_zeroed(&t->texts, opts->tag_count + 1, sizeof *ask->tags);
    if (!ask->tags) return sb_fail_nomem(err, "for the tags");
    for (size_t i = 0; i < opts->tag_count; i++) {
        if (!opts->tags[i]) return sb_fail(err, SB_INVALID, 0, "tag %zu is NULL", i);
        ask->tags[i] = sb_arena_dup(&t->texts, sb_slice_str(opts->tags[i]));
        if (!ask->tags[i].p) return sb_fail_nomem(err, "for the tags");
    }
    ask->tag_count = opts->tag_count;
    if (ask->tag_count) qsort(ask->tags, ask->tag_count, sizeof *ask->tags, by_bytes);
    return SB_OK;
}

static sb_status read_opts(sb_reader_table *t, const sb_env *env, const sb_reader_table_opts *opts,
                           sb_err *err) {
    t->ask = (sb_table_ask){.env = env,
                            .memory = *env->alloc,
                            .max_payload = opts->max_payload,
                            .kinds = opts->kinds ? opts->kinds : 1u << SB_READS_SCALAR,
                            .columns = opts->columns ? opts->columns : DEFAULT_COLUMNS,
                            .as_stored = opts->flags & SB_TABLE_AS_STORED,
                            .hides_superseded = opts->flags & SB_TABLE_HIDE_SUPERSEDED,
                            .keeps_events = opts->flags & SB_TABLE_KEEP_EVENTS,
                            .max_bytes = opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES};
    if (opts->resize) t->ask.memory = (sb_alloc){.resize = opts->resize, .ctx = opts->ud};
    return copy_tags(t, opts, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static sb_status list_files(sb_reader_table *t, const sb_found_run *runs, size_t run_count,
                            sb_err *err) {
    size_t file_count = 0;
    for (size_t i = 0; i < run_count; i++) file_count += runs[i].file_count;
    t->runs = sb_arena_zeroed(&t->texts, run_count + 1, sizeof *t->runs);
    if (!t->runs || !SB_VEC_RESERVE(&t->files, t->ask.env->alloc, file_count, UINT32_MAX))
        return sb_fail_nomem(err, "for the files");
    for (size_t i = 0; i < run_count; i++) {
        const sb_found_run *run = &runs[i];
        t->runs[i] = (const char *)run->name.p;
        for (size_t k = 0; k < run->file_count; k++)
            t->files.items[t->files.n++] =
                (sb_table_file){.ask = &t->ask,
                                .path = (const char *)run->files[k].path.p,
                                .run_name = t->runs[i],
                                .run = (uint32_t)i,
                                .rank = (uint32_t)k};
    }
    t->run_n = run_count;
    return SB_OK;
}

static void read_one(void *file) {
    sb_table_file_read(file);
}

static unsigned thread_count(uint32_t wanted, size_t files) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = wanted ? wanted : online < 1 ? 1 : (unsigned)online;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    return threads > files ? (unsigned)files : threads;
}

static sb_status read_files(sb_reader_table *t, uint32_t wanted_threads, sb_err *err) {
    unsigned threads = thread_count(wanted_threads, t->files.n);
    sb_pool *pool = NULL;
    if (threads > 1) {
        sb_status status = sb_pool_new(&pool, t->ask.env->alloc, threads, t->files.n, err);
        if (status != SB_OK) return status;
    }
    for (size_t i = 0; i < t->files.n; i++)
        if (!pool || sb_pool_submit(pool, read_one, &t->files.items[i]) != SB_OK)
            sb_table_file_read(&t->files.items[i]);
    sb_pool_free(pool); /* waits until all files are read */
    return SB_OK;
}

/* ---- joining --------------------------------------------------------------------------------- */

static sb_slice key_of(sb_reader_table *t, uint32_t run, sb_reader_kind kind, sb_slice tag) {
    uint8_t stored_as = t->ask.as_stored ? (uint8_t)kind : 0;
    sb_buf_clear(&t->key);
    sb_buf_add(&t->key, &run, sizeof run);
    sb_buf_add_byte(&t->key, stored_as);
    sb_buf_add_slice(&t->key, tag);
    return sb_buf_slice(&t->key);
}

typedef struct known_tags {
    sb_reader_table *table;
    uint32_t run;
} known_tags;

static const sb_metadata *known_metadata(const void *ud, sb_slice tag) {
    const known_tags *k = ud;
    sb_slice key = key_of(k->table, k->run, SB_READS_NO_VALUE, tag);
    uint32_t id = sb_intern_find(&k->table->keys, key);
    if (id == SB_INTERN_NONE || !k->table->parts.items[id].has_metadata) return NULL;
    return &k->table->parts.items[id].metadata;
}

/* Some writers give a tag's metadata only once. Then a later file of the run can't tell by itself
 * what its tensors are. */
static bool lacks_metadata(const sb_table_file *f, const known_tags *known) {
    if (f->ask->as_stored) return false;
    for (size_t i = 0; i < f->parts.n; i++) {
        const sb_table_part *p = &f->parts.items[i];
        if (!p->has_metadata && p->kind == SB_READS_TENSOR && known_metadata(known, p->tag))
            return true;
    }
    return false;
}

static sb_status read_again(sb_table_file *f, const known_tags *known) {
    sb_table_file again = {.ask = f->ask,
                           .path = f->path,
                           .run_name = f->run_name,
                           .run = f->run,
                           .rank = f->rank,
                           .earlier = known_metadata,
                           .earlier_ud = known};
    sb_table_file_fini(f);
    *f = again;
    sb_table_file_read(f);
    f->earlier_ud = NULL;
    return f->status;
}

/* Positions count the events of the whole run. */
static void shift_positions(sb_table_part *p, uint64_t earlier_events) {
    if (!p->positions.items || earlier_events == 0) return;
    for (size_t i = 0; i < p->n; i++) p->positions.items[i] += earlier_events;
}

static sb_status join_part(sb_reader_table *t, const sb_table_file *f, sb_table_part *part) {
    uint32_t id;
    bool is_new;
    if (!SB_VEC_RESERVE(&t->parts, t->ask.env->alloc, 1, UINT32_MAX)) return SB_NOMEM;
    sb_slice key = key_of(t, f->run, part->kind, part->tag);
    sb_status status = t->key.failed ? t->key.failed : sb_intern_add(&t->keys, key, &id, &is_new);
    if (status != SB_OK) return status;
    if (is_new) { /* moved, not copied */
        part->run = f->run;
        t->parts.items[t->parts.n++] = *part;
        *part = (sb_table_part){.tag = part->tag};
        return SB_OK;
    }
    status = sb_table_part_append(&t->parts.items[id], part, &t->ask);
    sb_table_part_fini(part, &t->ask);
    return status;
}

static sb_status join_file(sb_reader_table *t, sb_table_file *f, uint64_t earlier_events) {
    known_tags known = {t, f->run};
    if (f->status == SB_OK && lacks_metadata(f, &known)) read_again(f, &known);
    sb_status status = f->status;
    for (size_t i = 0; i < f->parts.n && status == SB_OK; i++) {
        shift_positions(&f->parts.items[i], earlier_events);
        status = join_part(t, f, &f->parts.items[i]);
    }
    if (status != SB_OK) return status;
    if (!SB_VEC_RESERVE(&t->events, t->ask.env->alloc, f->events.n, SIZE_MAX)) return SB_NOMEM;
    for (size_t i = 0; i < f->events.n; i++) t->events.items[t->events.n++] = f->events.items[i];
    return SB_OK;
}

static sb_status join_gaps(sb_reader_table *t, const sb_table_file *f) {
    t->damage_count += f->damage_count;
    for (size_t i = 0; i < f->gaps.n && t->gaps.n < SB_TABLE_MOST_GAPS; i++) {
        sb_reader_gap *gap = SB_VEC_PUSH(&t->gaps, t->ask.env->alloc, SB_TABLE_MOST_GAPS);
        if (!gap) return SB_NOMEM;
        *gap = f->gaps.items[i];
    }
    return SB_OK;
}

/* The columns that callers get. Parts that are not wanted are known for their metadata only. */
static sb_status list_columns(sb_reader_table *t) {
    t->columns = sb_arena_zeroed(&t->texts, (size_t)t->keys.count + 1, sizeof *t->columns);
    if (!t->columns) return SB_NOMEM;
    for (uint32_t i = 0; i < t->keys.count; i++) {
        const sb_table_part *p = &t->parts.items[i];
        if (!p->is_wanted) continue;
        t->columns[t->column_n++] = (sb_reader_columns){.run = t->runs[p->run],
                                                        .tag = p->tag,
                                                        .kind = p->kind,
                                                        .plugin_name = p->metadata.plugin_name,
                                                        .plugin_content = p->metadata.content,
                                                        .display_name = p->metadata.display_name,
                                                        .description = p->metadata.description,
                                                        .data_class = p->metadata.data_class,
                                                        .count = p->n,
                                                        .steps = p->steps.items,
                                                        .wall_times = p->wall_times.items,
                                                        .values = p->values.items,
                                                        .items = p->items.items,
                                                        .ends = p->ends.items,
                                                        .skipped = p->skipped,
                                                        .positions = p->positions.items};
    }
    return SB_OK;
}

static sb_status join_files(sb_reader_table *t, sb_err *err) {
    sb_status status = SB_OK;
    uint64_t earlier_events = 0;
    for (size_t i = 0; i < t->files.n && status == SB_OK; i++) {
        sb_table_file *f = &t->files.items[i];
        if (f->rank == 0) earlier_events = 0;
        status = join_file(t, f, earlier_events);
        earlier_events += f->event_n;
        if (status == SB_LIMIT)
            return sb_fail(err, SB_LIMIT, 0, "%s: there are more bytes than are to be kept",
                           f->path);
        if (status == SB_OK) status = join_gaps(t, f);
    }
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for the points");
}

/* ---- superseded points ----------------------------------------------------------------------- */

/* The files of a run, and the STARTs in them. */
typedef struct run_files {
    const sb_table_file *files;
    size_t n;
    sb_start *starts;
    size_t start_n;
} run_files;

static sb_status list_starts(run_files *run, sb_arena *arena) {
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) n += run->files[i].starts.n;
    run->starts = sb_arena_zeroed(arena, n + 1, sizeof *run->starts);
    if (!run->starts) return SB_NOMEM;
    for (size_t i = 0; i < run->n; i++)
        for (size_t k = 0; k < run->files[i].starts.n; k++)
            run->starts[run->start_n++] = run->files[i].starts.items[k];
    return SB_OK;
}

static sb_status hide_in_part(sb_table_part *p, const run_files *run, sb_arena *arena) {
    if (p->pieces.n + run->start_n < 2) return SB_OK;
    sb_restart_piece *pieces = sb_arena_zeroed(arena, p->pieces.n, sizeof *pieces);
    int64_t *cuts = sb_arena_zeroed(arena, p->pieces.n, sizeof *cuts);
    if (!pieces || !cuts) return SB_NOMEM;
    for (size_t i = 0; i < p->pieces.n; i++) {
        const sb_table_piece *piece = &p->pieces.items[i];
        const sb_table_file *f = &run->files[piece->rank];
        pieces[i] = (sb_restart_piece){.rank = piece->rank,
                                       .segment = piece->segment,
                                       .first_step = p->steps.items[piece->first],
                                       .file_first = f->first_wall,
                                       .file_last = f->last_wall};
    }
    sb_restarts restarts = {.pieces = pieces,
                            .piece_n = p->pieces.n,
                            .starts = run->starts,
                            .start_n = run->start_n,
                            .ranks = (uint32_t)run->n};
    sb_status status = sb_restart_cuts(&restarts, arena, cuts);
    if (status == SB_OK) sb_table_part_cut(p, cuts);
    return status;
}

static sb_status hide_superseded(sb_reader_table *t, sb_err *err) {
    sb_arena arena;
    sb_status status = SB_OK;
    size_t file = 0, part = 0;
    sb_arena_init(&arena, t->ask.env->alloc, TEXTS_BLOCK, SIZE_MAX / 2);
    for (uint32_t i = 0; i < t->run_n && status == SB_OK; i++) {
        run_files run = {.files = t->files.items + file};
        for (; file < t->files.n && t->files.items[file].run == i; file++) run.n++;
        status = list_starts(&run, &arena);
        for (; part < t->parts.n && t->parts.items[part].run == i && status == SB_OK; part++) {
            sb_arena_mark mark = sb_arena_here(&arena);
            status = hide_in_part(&t->parts.items[part], &run, &arena);
            sb_arena_reset(&arena, mark);
        }
    }
    sb_arena_fini(&arena);
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for the points");
}

/* ---- the public functions -------------------------------------------------------------------- */

void sb_reader_table_free(sb_reader_table *t) {
    if (!t) return;
    const sb_alloc *alloc = t->ask.env->alloc;
    for (size_t i = 0; i < t->parts.n; i++) sb_table_part_fini(&t->parts.items[i], &t->ask);
    SB_VEC_FREE(&t->parts, alloc);
    for (size_t i = 0; i < t->files.n; i++) sb_table_file_fini(&t->files.items[i]);
    SB_VEC_FREE(&t->files, alloc);
    SB_VEC_FREE(&t->events, alloc);
    SB_VEC_FREE(&t->gaps, alloc);
    sb_intern_fini(&t->keys);
    sb_buf_fini(&t->key);
    sb_arena_fini(&t->texts);
    sb_alloc_put(alloc, t, sizeof *t);
}

/* An empty table. */
static sb_status new_table(sb_reader_table **out, const sb_env *env,
                           const sb_reader_table_opts *opts, sb_err *err) {
    sb_reader_table *t = sb_alloc_zeroed(env->alloc, 1, sizeof *t);
    *out = t;
    if (!t) return sb_fail_nomem(err, "for the points");
    sb_arena_init(&t->texts, env->alloc, TEXTS_BLOCK, SIZE_MAX / 2);
    sb_buf_init(&t->key, env->alloc, SIZE_MAX / 2);
    uint64_t seed = (uint64_t)(uintptr_t)t ^ (env->clock ? env->clock->steady(env->clock->ctx) : 0);
    sb_intern_init(&t->keys, env->alloc, seed, UINT32_MAX - 1);
    t->ask.env = env;
    return read_opts(t, env, opts, err);
}

static sb_status fill_table(sb_reader_table *t, const sb_found_run *runs, size_t run_count,
                            uint32_t threads, sb_err *err) {
    sb_status status = list_files(t, runs, run_count, err);
    if (status == SB_OK) status = read_files(t, threads, err);
    if (status == SB_OK) status = join_files(t, err);
    if (status == SB_OK && t->ask.hides_superseded) status = hide_superseded(t, err);
    if (status == SB_OK && list_columns(t) != SB_OK) status = sb_fail_nomem(err, "for the points");
    return status;
}

/* The runs of a directory; when one is asked for, only that one. */
static sb_status find_runs(sb_reader_table *t, const char *path, const char *only_run,
                           sb_found *found, sb_err *err) {
    if (!path) return sb_fail(err, SB_INVALID, 0, "there is no path");
    sb_status status = sb_discover(found, t->ask.env, &t->texts, path, NULL, err);
    if (status != SB_OK || !only_run) return status;
    size_t n = 0;
    for (size_t i = 0; i < found->run_count; i++)
        if (sb_slice_eq(found->runs[i].name, sb_slice_str(only_run)))
            found->runs[n++] = found->runs[i];
    found->run_count = n;
    return SB_OK;
}

sb_status sb_reader_table_read_in(sb_reader_table **out, const sb_env *env, const char *path,
                                  const sb_reader_table_opts *opts, sb_err *err) {
    sb_reader_table_opts own = {0};
    sb_found found;
    *out = NULL;
    sb_status status =
        opts ? sb_sized_read(&own, sizeof own, opts, 0, "sb_reader_table_opts", err) : SB_OK;
    if (status != SB_OK) return status;
    status = new_table(out, env, &own, err);
    if (status == SB_OK) status = find_runs(*out, path, own.run, &found, err);
    if (status == SB_OK) status = fill_table(*out, found.runs, found.run_count, own.threads, err);
    if (status == SB_OK) return SB_OK;
    sb_reader_table_free(*out);
    *out = NULL;
    return status;
}

sb_status sb_reader_table_read_runs(sb_reader_table **out, const sb_env *env,
                                    const sb_found_run *runs, size_t run_count,
                                    const sb_reader_table_opts *opts, sb_err *err) {
    sb_status status = new_table(out, env, opts, err);
    if (status == SB_OK) status = fill_table(*out, runs, run_count, opts->threads, err);
    if (status == SB_OK) return SB_OK;
    sb_reader_table_free(*out);
    *out = NULL;
    return status;
}

sb_status sb_reader_table_read(sb_reader_table **out, const char *path,
                               const sb_reader_table_opts *opts, sb_err *err) {
    static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};
    return sb_reader_table_read_in(out, &env, path, opts, err);
}

const sb_reader_columns *sb_reader_table_at(const sb_reader_table *t, size_t i) {
    return i < t->column_n ? &t->columns[i] : NULL;
}

const sb_reader_columns *sb_reader_table_find(const sb_reader_table *t, const char *run,
                                              const char *tag) {
    size_t i;
    SB_PARTITION_POINT(i, 0, t->column_n, strcmp(t->columns[i].run, run) < 0);
    for (; i < t->column_n && strcmp(t->columns[i].run, run) == 0; i++)
        if (sb_slice_eq(t->columns[i].tag, sb_slice_str(tag))) return &t->columns[i];
    return NULL;
}

const sb_reader_event *sb_reader_table_event(const sb_reader_table *t, size_t i) {
    return i < t->events.n ? &t->events.items[i] : NULL;
}

const sb_reader_gap *sb_reader_table_damage(const sb_reader_table *t, size_t i) {
    return i < t->gaps.n ? &t->gaps.items[i] : NULL;
}

uint64_t sb_reader_table_damage_count(const sb_reader_table *t) {
    return t->damage_count;
}
