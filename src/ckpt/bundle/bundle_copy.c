/* bundle_copy.c: lists what is stored in order of place, then streams it into a writer. */
#include "ckpt/bundle/bundle_copy.h"

#include <stdlib.h>

#include "base/slice.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/bundle/slice_key.h"
#include "ckpt/object/graph_keys.h"
#include "base/banned.h"

/* One thing to write: a whole tensor, or a piece of one. */
typedef struct job {
    const sb_bundle_tensor *t;
    const sb_bundle_tensor *stored; /* t itself, or the piece's entry */
    const int64_t *extents;         /* of a piece; NULL: whole */
    sb_slice name;                  /* what it will be called */
} job;

typedef struct copying {
    sb_bundle *b;
    const sb_env *env;
    const sb_bundle_copy_opts *opts;
    sb_arena arena;
    SB_VEC(job) jobs;
    sb_bundle_writer *w;
    uint32_t shard;
    uint64_t done;
} copying;

static bool name_in_copy(copying *c, sb_slice name, sb_buf *to) {
    if (c->opts && c->opts->rename) return c->opts->rename(c->opts->ud, name, to);
    sb_buf_add_slice(to, name);
    return true;
}

static bool is_graph(sb_slice name) {
    return sb_slice_eq(name, SB_LIT(SB_OBJECT_GRAPH_KEY));
}

static sb_status add_job(copying *c, job j, sb_err *err) {
    job *slot = SB_VEC_PUSH(&c->jobs, c->env->alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for a copy");
    *slot = j;
    return SB_OK;
}

static sb_status add_pieces(copying *c, job j, sb_err *err) {
    sb_buf key;
    sb_status status = SB_OK;
    sb_buf_init(&key, c->env->alloc, 4 * c->b->limits.max_key);
    for (uint32_t i = 0; i < j.t->slice_count && status == SB_OK; i++) {
        j.extents = j.t->extents + 2 * (size_t)i * j.t->rank;
        sb_buf_clear(&key);
        sb_slice_key_add(&key, j.t->name, j.extents, j.t->rank);
        j.stored = sb_bundle_entry(&c->b->pieces, sb_buf_slice(&key));
        status = j.stored ? add_job(c, j, err)
                          : sb_fail(err, SB_CORRUPT, 0, "%.*s: piece %u of '%.*s' is missing",
                                    SB_SHOWN(c->b->prefix), i, SB_SHOWN(j.t->name));
    }
    sb_buf_fini(&key);
    return status;
}

static int by_place(const void *x, const void *y) {
    const sb_bundle_tensor *a = ((const job *)x)->stored, *b = ((const job *)y)->stored;
    if (a->shard != b->shard) return a->shard < b->shard ? -1 : 1;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    return sb_slice_cmp(a->name, b->name);
}

static sb_status list_jobs(copying *c, size_t *copied, sb_err *err) {
    sb_buf name;
    sb_status status = SB_OK;
    sb_buf_init(&name, c->env->alloc, (size_t)1 << 24);
    for (size_t i = 0; i < c->b->tensors.n && status == SB_OK; i++) {
        job j = {.t = &c->b->tensors.items[i], .stored = &c->b->tensors.items[i]};
        sb_buf_clear(&name);
        if (is_graph(j.t->name))
            sb_buf_add_slice(&name, j.t->name);
        else if (!name_in_copy(c, j.t->name, &name))
            continue;
        j.name = sb_arena_dup(&c->arena, sb_buf_slice(&name));
        if (!j.name.p || name.failed != SB_OK) {
            status = sb_fail_nomem(err, "for a copy");
            break;
        }
        if (copied) ++*copied;
        bool is_in_pieces = j.t->slice_count && c->b->format == SB_BUNDLE_V2;
        status = is_in_pieces ? add_pieces(c, j, err) : add_job(c, j, err);
    }
    sb_buf_fini(&name);
    if (c->jobs.n && c->b->format == SB_BUNDLE_V2)
        qsort(c->jobs.items, c->jobs.n, sizeof *c->jobs.items, by_place);
    return status;
}

/* ---- one tensor ------------------------------------------------------------------------------ */

static sb_status pass_on(void *ud, const uint8_t *p, size_t n, sb_err *err) {
    copying *c = ud;
    c->done += n;
    if (c->opts && c->opts->progress) c->opts->progress(c->opts->ud, c->done);
    return sb_bundle_write_bytes(c->w, c->shard, p, n, err);
}

static bool key_of(void *ud, sb_slice key, sb_buf *to) {
    copying *c = ud;
    return name_in_copy(c, key, to);
}

static sb_status copy_strings(copying *c, const job *j, sb_bundle_item *item, sb_err *err) {
    sb_arena_mark mark = sb_arena_here(&c->arena);
    sb_slice *strings;
    sb_buf graph;
    sb_buf_init(&graph, c->env->alloc, SIZE_MAX / 2);
    sb_status status = sb_bundle_read_strings(c->b, j->stored, &c->arena, &strings, err);
    if (status == SB_OK && is_graph(j->t->name) && j->t->dtype == SB_STRING && j->t->count == 1 &&
        c->opts && c->opts->rename) {
        status = sb_graph_keys_change(&graph, strings[0], key_of, c, err);
        strings[0] = sb_buf_slice(&graph);
    }
    item->strings = strings;
    if (status == SB_OK) status = sb_bundle_write(c->w, c->shard, item, err);
    sb_buf_fini(&graph);
    sb_arena_reset(&c->arena, mark);
    return status;
}

static sb_status copy_one(copying *c, const job *j, sb_err *err) {
    sb_bundle_item item = {.name = j->name,
                           .dtype = j->t->dtype,
                           .rank = j->t->rank,
                           .dims = j->t->dims,
                           .extents = j->extents};
    c->shard = j->stored->shard;
    if (c->b->format == SB_BUNDLE_V1) c->shard = 0;
    if (sb_bundle_width(j->t) == 0) return copy_strings(c, j, &item, err);
    sb_status status = sb_bundle_write_begin(c->w, c->shard, &item, err);
    if (status == SB_OK) status = sb_bundle_stream(c->b, j->stored, pass_on, c, err);
    return status == SB_OK ? sb_bundle_write_end(c->w, c->shard, err) : status;
}

static sb_status copy_jobs(copying *c, const char *prefix, sb_err *err) {
    uint32_t shards = c->b->format == SB_BUNDLE_V2 ? c->b->shards : 1;
    sb_bundle_writer_opts opts = {.shards = shards, .no_sync = c->opts && c->opts->no_sync};
    for (size_t i = 0; i < c->jobs.n; i++)
        if (c->b->format == SB_BUNDLE_V2 && c->jobs.items[i].stored->shard >= shards)
            return sb_fail(err, SB_CORRUPT, 0, "%.*s: '%.*s' is said to be in data file %u of %u",
                           SB_SHOWN(c->b->prefix), SB_SHOWN(c->jobs.items[i].t->name),
                           c->jobs.items[i].stored->shard, shards);
    sb_status status = sb_bundle_writer_open(&c->w, c->env, prefix, &opts, err);
    for (size_t i = 0; i < c->jobs.n && status == SB_OK; i++)
        status = copy_one(c, &c->jobs.items[i], err);
    if (status == SB_OK) return sb_bundle_writer_finish(&c->w, err);
    sb_bundle_writer_abandon(&c->w);
    return status;
}

sb_status sb_bundle_copy(sb_bundle *b, const sb_env *env, const char *prefix,
                         const sb_bundle_copy_opts *opts, size_t *copied, sb_err *err) {
    copying c = {.b = b, .env = env, .opts = opts};
    if (copied) *copied = 0;
    sb_arena_init(&c.arena, env->alloc, 64 << 10, SIZE_MAX / 2);
    sb_status status = list_jobs(&c, copied, err);
    if (status == SB_OK) status = copy_jobs(&c, prefix, err);
    SB_VEC_FREE(&c.jobs, env->alloc);
    sb_arena_fini(&c.arena);
    return status;
}
