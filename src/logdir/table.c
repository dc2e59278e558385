/* table.c: all points of a log directory as columns: files are decoded side by side
 * (table_file.c), then the parts of each tag are joined in the order of the files. */
#include <stdlib.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/search.h"
#include "base/sized.h"
#include "base/slice.h"
#include "fsio/fs.h"
#include "logdir/discover.h"
#include "logdir/table_int.h"
#include "base/banned.h"

#define MOST_THREADS 64u
#define DEFAULT_BYTES ((uint64_t)4 << 30)
#define TEXTS_BLOCK ((size_t)64 << 10)

struct sb_reader_table {
    sb_table_ask ask;
    sb_arena texts; /* names of runs, paths, the tags that are asked for */
    SB_VEC(sb_table_file) files;
    sb_buf key;     /* scratch: run and tag */
    sb_intern keys; /* run and tag; the id is the index into parts */
    SB_VEC(sb_table_part) parts;
    sb_reader_columns *columns; /* of the parts that are wanted */
    size_t column_n;
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
                            .columns = *env->alloc,
                            .max_payload = opts->max_payload,
                            .kinds = opts->kinds ? opts->kinds : 1u << SB_READS_SCALAR,
                            .max_bytes = opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES};
    if (opts->resize) t->ask.columns = (sb_alloc){.resize = opts->resize, .ctx = opts->ud};
    return copy_tags(t, opts, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static sb_status list_files(sb_reader_table *t, const char *path, const char *only_run,
                            sb_err *err) {
    sb_found found;
    const sb_alloc *alloc = t->ask.env->alloc;
    sb_status status = sb_discover(&found, t->ask.env, &t->texts, path, NULL, err);
    if (status != SB_OK) return status;
    if (!SB_VEC_RESERVE(&t->files, alloc, found.file_count, SIZE_MAX))
        return sb_fail_nomem(err, "for the files");
    for (size_t i = 0; i < found.run_count; i++) {
        const sb_found_run *run = &found.runs[i];
        if (only_run && !sb_slice_eq(run->name, sb_slice_str(only_run))) continue;
        for (size_t k = 0; k < run->file_count; k++) {
            sb_table_file *f = &t->files.items[t->files.n++];
            *f = (sb_table_file){.ask = &t->ask,
                                 .path = (const char *)run->files[k].path.p,
                                 .run = (const char *)run->name.p};
        }
    }
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
    sb_pool_free(pool); /* does what waits */
    return SB_OK;
}

/* ---- joining --------------------------------------------------------------------------------- */

static sb_slice key_of(sb_reader_table *t, const char *run, sb_slice tag) {
    sb_buf_clear(&t->key);
    sb_buf_add(&t->key, run, strlen(run) + 1);
    sb_buf_add_slice(&t->key, tag);
    return sb_buf_slice(&t->key);
}

typedef struct known_tags {
    sb_reader_table *table;
    const char *run;
} known_tags;

static const sb_metadata *known_metadata(const void *ud, sb_slice tag) {
    const known_tags *k = ud;
    uint32_t id = sb_intern_find(&k->table->keys, key_of(k->table, k->run, tag));
    if (id == SB_INTERN_NONE || !k->table->parts.items[id].has_metadata) return NULL;
    return &k->table->parts.items[id].metadata;
}

/* Some writers give a tag's metadata only once. Then a later file of the run can't tell by itself
 * what its tensors are. */
static bool lacks_metadata(const sb_table_file *f, const known_tags *known) {
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
                           .run = f->run,
                           .earlier = known_metadata,
                           .earlier_ud = known};
    sb_table_file_fini(f);
    *f = again;
    sb_table_file_read(f);
    f->earlier_ud = NULL;
    return f->status;
}

static sb_status append_part(sb_table_part *to, const sb_table_part *from,
                             const sb_alloc *columns) {
    to->skipped += from->skipped;
    if (from->kind != to->kind) {
        to->skipped += from->n;
        return SB_OK;
    }
    if (from->n == 0) return SB_OK;
    if (to->room - to->n < from->n && !sb_table_part_reserve(to, columns, from->n)) return SB_NOMEM;
    if (!SB_VEC_RESERVE(&to->items, columns, from->items.n, SIZE_MAX)) return SB_NOMEM;
    memcpy(to->steps.items + to->n, from->steps.items, from->n * sizeof(int64_t));
    memcpy(to->wall_times.items + to->n, from->wall_times.items, from->n * sizeof(double));
    if (to->kind == SB_READS_SCALAR)
        memcpy(to->values.items + to->n, from->values.items, from->n * sizeof(double));
    else
        for (size_t i = 0; i < from->n; i++)
            to->ends.items[to->n + i] = to->items.n + from->ends.items[i];
    for (size_t i = 0; i < from->items.n; i++)
        to->items.items[to->items.n++] = from->items.items[i];
    to->n += from->n;
    return SB_OK;
}

static sb_status join_file(sb_reader_table *t, sb_table_file *f) {
    known_tags known = {t, f->run};
    if (f->status == SB_OK && lacks_metadata(f, &known)) read_again(f, &known);
    if (f->status != SB_OK) return f->status;
    for (size_t i = 0; i < f->parts.n; i++) {
        sb_table_part *part = &f->parts.items[i];
        uint32_t id;
        bool is_new;
        if (!SB_VEC_RESERVE(&t->parts, t->ask.env->alloc, 1, UINT32_MAX)) return SB_NOMEM;
        sb_slice key = key_of(t, f->run, part->tag);
        sb_status status =
            t->key.failed ? t->key.failed : sb_intern_add(&t->keys, key, &id, &is_new);
        if (status != SB_OK) return status;
        if (is_new) { /* handed over as it is */
            t->parts.items[t->parts.n++] = *part;
            *part = (sb_table_part){.tag = part->tag};
            continue;
        }
        status = append_part(&t->parts.items[id], part, &t->ask.columns);
        sb_table_part_fini(part, &t->ask.columns);
        if (status != SB_OK) return status;
    }
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

/* What is handed out. Parts that are not wanted are known for their metadata only. */
static sb_status list_columns(sb_reader_table *t) {
    t->columns = sb_arena_zeroed(&t->texts, (size_t)t->keys.count + 1, sizeof *t->columns);
    if (!t->columns) return SB_NOMEM;
    for (uint32_t i = 0; i < t->keys.count; i++) {
        const sb_table_part *p = &t->parts.items[i];
        if (!p->is_wanted) continue;
        bool is_scalar = p->kind == SB_READS_SCALAR;
        t->columns[t->column_n++] =
            (sb_reader_columns){.run = (const char *)sb_intern_name(&t->keys, i).p,
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
                                .values = is_scalar ? p->values.items : NULL,
                                .items = is_scalar ? NULL : p->items.items,
                                .ends = is_scalar ? NULL : p->ends.items,
                                .skipped = p->skipped};
    }
    return SB_OK;
}

static sb_status join_files(sb_reader_table *t, sb_err *err) {
    sb_status status = SB_OK;
    for (size_t i = 0; i < t->files.n && status == SB_OK; i++) {
        sb_table_file *f = &t->files.items[i];
        status = join_file(t, f);
        if (status == SB_LIMIT)
            return sb_fail(err, SB_LIMIT, 0, "%s: there are more bytes than are to be kept",
                           f->path);
        if (status == SB_OK) status = join_gaps(t, f);
    }
    if (status == SB_OK) status = list_columns(t);
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for the points");
}

/* ---- the public functions -------------------------------------------------------------------- */

void sb_reader_table_free(sb_reader_table *t) {
    if (!t) return;
    const sb_alloc *alloc = t->ask.env->alloc;
    for (size_t i = 0; i < t->parts.n; i++) sb_table_part_fini(&t->parts.items[i], &t->ask.columns);
    SB_VEC_FREE(&t->parts, alloc);
    for (size_t i = 0; i < t->files.n; i++) sb_table_file_fini(&t->files.items[i]);
    SB_VEC_FREE(&t->files, alloc);
    SB_VEC_FREE(&t->gaps, alloc);
    sb_intern_fini(&t->keys);
    sb_buf_fini(&t->key);
    sb_arena_fini(&t->texts);
    sb_alloc_put(alloc, t, sizeof *t);
}

sb_status sb_reader_table_read_in(sb_reader_table **out, const sb_env *env, const char *path,
                                  const sb_reader_table_opts *opts, sb_err *err) {
    sb_reader_table_opts own = {0};
    *out = NULL;
    if (opts) {
        sb_status read = sb_sized_read(&own, sizeof own, opts, 0, "sb_reader_table_opts", err);
        if (read != SB_OK) return read;
    }
    if (!path) return sb_fail(err, SB_INVALID, 0, "there is no path");
    sb_reader_table *t = sb_alloc_zeroed(env->alloc, 1, sizeof *t);
    if (!t) return sb_fail_nomem(err, "for the points");
    sb_arena_init(&t->texts, env->alloc, TEXTS_BLOCK, SIZE_MAX / 2);
    sb_buf_init(&t->key, env->alloc, SIZE_MAX / 2);
    uint64_t seed = (uint64_t)(uintptr_t)t ^ (env->clock ? env->clock->steady(env->clock->ctx) : 0);
    sb_intern_init(&t->keys, env->alloc, seed, UINT32_MAX - 1);
    sb_status status = read_opts(t, env, &own, err);
    if (status == SB_OK) status = list_files(t, path, own.run, err);
    if (status == SB_OK) status = read_files(t, own.threads, err);
    if (status == SB_OK) status = join_files(t, err);
    if (status != SB_OK) {
        sb_reader_table_free(t);
        return status;
    }
    *out = t;
    return SB_OK;
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

const sb_reader_gap *sb_reader_table_damage(const sb_reader_table *t, size_t i) {
    return i < t->gaps.n ? &t->gaps.items[i] : NULL;
}

uint64_t sb_reader_table_damage_count(const sb_reader_table *t) {
    return t->damage_count;
}
