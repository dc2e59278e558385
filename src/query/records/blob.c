/* blob.c: open files and the records in them. */
#include "query/records/blob.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/checked.h"
#include "base/lru.h"
#include "base/slice.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "fsio/gz.h"
#include "base/banned.h"

#define SPAN_BYTES ((size_t)1 << 20) /* read at a time, when records are small */
#define GAP_BYTES ((size_t)32 << 10) /* between two records: cheaper to read than to skip */

/* An open file. */
typedef struct source {
    sb_lru_link use; /* in the order of use, while it is listed */
    bool is_listed;
    struct source *next_evicted;
    uint32_t users;
    int file;
    uint64_t device, inode;
    sb_gz *archive;            /* NULL: a plain file */
    pthread_mutex_t unpacking; /* one at a time */
    size_t bytes;              /* of this block */
    size_t path_n;
    char path[];
} source;

struct sb_blob_cache {
    const sb_env *env;
    size_t max_open;
    pthread_mutex_t mutex;
    sb_lru lru;
    size_t listed;
};

sb_status sb_blob_cache_new(sb_blob_cache **out, const sb_env *env, size_t max_open, sb_err *err) {
    sb_blob_cache *cache = sb_alloc_zeroed(env->alloc, 1, sizeof *cache);
    if (!cache) return sb_fail_nomem(err, "for open files");
    cache->env = env;
    cache->max_open = max_open;
    pthread_mutex_init(&cache->mutex, NULL);
    *out = cache;
    return SB_OK;
}

/* ---- the list, with the mutex held ----------------------------------------------------------- */

static void unlist_source(sb_blob_cache *cache, source *s) {
    sb_lru_remove(&cache->lru, &s->use);
    s->is_listed = false;
    cache->listed--;
}

static void list_source(sb_blob_cache *cache, source *s) {
    sb_lru_add(&cache->lru, &s->use);
    s->is_listed = true;
    cache->listed++;
}

/* Takes files that nobody reads off the list, least recently used first, until no more than
 * `allowed` are listed or all that are left are being read. Answers them as a chain, to be closed
 * without the mutex. */
static source *evict_sources(sb_blob_cache *cache, size_t allowed) {
    source *chain = NULL;
    for (sb_lru_link *at = cache->lru.oldest, *next; at && cache->listed > allowed; at = next) {
        next = at->newer;
        source *s = SB_LRU_ENTRY(at, source, use);
        if (s->users) continue;
        unlist_source(cache, s);
        s->next_evicted = chain;
        chain = s;
    }
    return chain;
}

static void close_source(sb_blob_cache *cache, source *s) {
    const sb_fs *fs = cache->env->fs;
    sb_gz_free(s->archive);
    fs->close(fs->ctx, s->file);
    pthread_mutex_destroy(&s->unpacking);
    sb_alloc_put(cache->env->alloc, s, s->bytes);
}

static void close_chain(sb_blob_cache *cache, source *chain) {
    while (chain) {
        source *next = chain->next_evicted;
        close_source(cache, chain);
        chain = next;
    }
}

void sb_blob_cache_drop(sb_blob_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    source *chain = evict_sources(cache, 0);
    pthread_mutex_unlock(&cache->mutex);
    close_chain(cache, chain);
}

void sb_blob_cache_free(sb_blob_cache *cache) {
    if (!cache) return;
    sb_blob_cache_drop(cache);
    pthread_mutex_destroy(&cache->mutex);
    sb_alloc_put(cache->env->alloc, cache, sizeof *cache);
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool is_file_of(const source *s, const sb_file_info_view *view) {
    return s->device == view->state.device && s->inode == view->state.inode &&
           sb_slice_eq(sb_slice_of(s->path, s->path_n), view->path);
}

static source *find_open(sb_blob_cache *cache, const sb_file_info_view *view) {
    pthread_mutex_lock(&cache->mutex);
    source *found = NULL;
    for (sb_lru_link *at = cache->lru.newest; at && !found; at = at->older) {
        source *s = SB_LRU_ENTRY(at, source, use);
        if (is_file_of(s, view)) found = s;
    }
    if (found) {
        found->users++;
        sb_lru_touch(&cache->lru, &found->use);
    }
    pthread_mutex_unlock(&cache->mutex);
    return found;
}

/* is_stale: the file is not to be used again. */
static void give_back(sb_blob_cache *cache, source *s, bool is_stale) {
    pthread_mutex_lock(&cache->mutex);
    s->users--;
    if (is_stale && s->is_listed) unlist_source(cache, s);
    bool is_over = !s->is_listed && s->users == 0;
    source *chain = evict_sources(cache, cache->max_open);
    pthread_mutex_unlock(&cache->mutex);
    if (is_over) close_source(cache, s);
    close_chain(cache, chain);
}

static sb_status begin_archive(sb_blob_cache *cache, source *s, sb_err *err) {
    const sb_fs *fs = cache->env->fs;
    uint8_t head[4];
    int64_t got = fs->read_at(fs->ctx, s->file, head, sizeof head, 0);
    if (got < 0) return sb_fail_errno(err, SB_IO, (int)-got, "%s: reading", s->path);
    if (!sb_gz_begins(sb_slice_of(head, (size_t)got))) return SB_OK;
    return sb_gz_new(&s->archive, cache->env->alloc, fs, s->file, err);
}

/* Opens the file that the view names, and makes sure that it is that one. */
static sb_status open_source(sb_blob_cache *cache, const sb_file_info_view *view, source **out,
                             sb_err *err) {
    const sb_fs *fs = cache->env->fs;
    size_t bytes = sizeof(source) + view->path.n + 1;
    source *s = sb_alloc_zeroed(cache->env->alloc, 1, bytes);
    if (!s) return sb_fail_nomem(err, "for an open file");
    s->bytes = bytes;
    s->path_n = view->path.n;
    memcpy(s->path, view->path.p, view->path.n);
    s->users = 1;
    s->device = view->state.device;
    s->inode = view->state.inode;
    s->file = fs->open(fs->ctx, s->path, SB_OPEN_READ);
    sb_status status = SB_OK;
    if (s->file == -ENOENT || s->file == -ENOTDIR)
        status = sb_fail(err, SB_REPLACED, 0, "%s: the file is gone", s->path);
    else if (s->file < 0)
        status = sb_fail_errno(err, SB_IO, -s->file, "%s: opening", s->path);
    if (status != SB_OK) {
        sb_alloc_put(cache->env->alloc, s, bytes);
        return status;
    }
    pthread_mutex_init(&s->unpacking, NULL);
    sb_file_info info;
    int failed = fs->info(fs->ctx, s->file, &info);
    if (failed < 0)
        status = sb_fail_errno(err, SB_IO, -failed, "%s: looking at it", s->path);
    else if (info.device != s->device || info.inode != s->inode)
        status = sb_fail(err, SB_REPLACED, 0, "%s: another file has this name now", s->path);
    if (status == SB_OK) status = begin_archive(cache, s, err);
    if (status != SB_OK) {
        close_source(cache, s);
        return status;
    }
    *out = s;
    return SB_OK;
}

/* The file of a run, open, and not removed since. Give it back in any case but failure. */
static sb_status take_source(sb_blob_cache *cache, sb_run *run, uint32_t file, sb_arena *arena,
                             source **out, sb_err *err) {
    const sb_fs *fs = cache->env->fs;
    sb_file_info_view view;
    sb_status status = sb_run_file(run, file, arena, &view);
    if (status == SB_NOT_FOUND)
        return sb_fail(err, SB_REPLACED, 0, "the file of this point is gone");
    if (status != SB_OK) return sb_fail_nomem(err, "for a path");
    source *s = find_open(cache, &view);
    if (s) {
        sb_file_info info;
        int failed = fs->info(fs->ctx, s->file, &info);
        if (failed == 0 && info.links > 0) {
            *out = s;
            return SB_OK;
        }
        give_back(cache, s, true);
    }
    status = open_source(cache, &view, &s, err);
    if (status != SB_OK) return status;
    pthread_mutex_lock(&cache->mutex);
    list_source(cache, s);
    pthread_mutex_unlock(&cache->mutex);
    *out = s;
    return SB_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Up to n bytes; fewer only where the file ends. Negative: errno. */
static int64_t read_record_bytes(sb_blob_cache *cache, source *s, uint8_t *to, size_t n,
                                 uint64_t offset) {
    const sb_fs *fs = cache->env->fs;
    size_t done = 0;
    if (s->archive) pthread_mutex_lock(&s->unpacking);
    int64_t got = 1;
    while (done < n && got > 0) {
        got = s->archive ? sb_gz_read_at(s->archive, to + done, n - done, offset + done)
                         : fs->read_at(fs->ctx, s->file, to + done, n - done, offset + done);
        if (got == -EINTR)
            got = 1;
        else if (got > 0)
            done += (size_t)got;
    }
    if (s->archive) pthread_mutex_unlock(&s->unpacking);
    return got < 0 ? got : (int64_t)done;
}

static sb_status read_failed(const source *s, int64_t answer, uint64_t offset, sb_err *err) {
    if (answer == -EBADMSG)
        return sb_fail(err, SB_REPLACED, offset, "%s: the archive is damaged", s->path);
    if (answer == -ENOMEM) return sb_fail_nomem(err, "for unpacking");
    if (answer == -ESTALE)
        return sb_fail(err, SB_REPLACED, offset, "%s: the file is gone", s->path);
    return sb_fail_errno(err, SB_IO, (int)-answer, "%s: reading", s->path);
}

/* Is the frame at the start of the window the one that the reference means? */
static sb_status check_frame(const source *s, const sb_ref *ref, sb_slice window, sb_slice *payload,
                             sb_err *err) {
    sb_record record;
    switch (sb_record_read(&record, window)) {
    case SB_OK:
        break;
    case SB_MORE:
        return sb_fail(err, SB_REPLACED, ref->offset, "%s: the file was cut short", s->path);
    default:
        return sb_fail(err, SB_REPLACED, ref->offset, "%s: the record was overwritten", s->path);
    }
    if (record.payload_crc != ref->crc || (ref->length && record.length != ref->length))
        return sb_fail(err, SB_REPLACED, ref->offset, "%s: another record stands there now",
                       s->path);
    *payload = record.payload;
    return SB_OK;
}

static sb_status too_large(const source *s, const sb_ref *ref, uint64_t length, size_t max_bytes,
                           sb_err *err) {
    return sb_fail(err, SB_LIMIT, ref->offset, "%s: a record of %llu bytes; %zu are allowed",
                   s->path, (unsigned long long)length, max_bytes);
}

/* The length of the record as the log has it, for a reference without one. */
static sb_status learn_length(sb_blob_cache *cache, source *s, const sb_ref *ref, uint64_t *length,
                              sb_err *err) {
    uint8_t head[SB_RECORD_HEADER];
    int64_t got = read_record_bytes(cache, s, head, sizeof head, ref->offset);
    if (got < 0) return read_failed(s, got, ref->offset, err);
    sb_record record;
    if (sb_record_read_header(&record, sb_slice_of(head, (size_t)got)) != SB_OK)
        return sb_fail(err, SB_REPLACED, ref->offset, "%s: no record stands there", s->path);
    *length = record.length;
    return SB_OK;
}

static sb_status read_one(sb_blob_cache *cache, source *s, const sb_ref *ref, size_t max_bytes,
                          sb_arena *arena, sb_slice *payload, sb_err *err) {
    uint64_t length = ref->length;
    sb_status status = SB_OK;
    if (length == 0) status = learn_length(cache, s, ref, &length, err);
    if (status != SB_OK) return status;
    if (length > max_bytes || length > SIZE_MAX - SB_RECORD_OVERHEAD)
        return too_large(s, ref, length, max_bytes, err);
    size_t size = (size_t)length + SB_RECORD_OVERHEAD;
    uint8_t *frame = sb_arena_get(arena, size);
    if (!frame) return sb_fail_nomem(err, "for a record");
    int64_t got = read_record_bytes(cache, s, frame, size, ref->offset);
    if (got < 0) return read_failed(s, got, ref->offset, err);
    return check_frame(s, ref, sb_slice_of(frame, (size_t)got), payload, err);
}

sb_status sb_blob_read(sb_blob_cache *cache, sb_run *run, uint32_t file, const sb_ref *ref,
                       size_t max_bytes, sb_arena *arena, sb_slice *payload, sb_err *err) {
    source *s;
    sb_status status = take_source(cache, run, file, arena, &s, err);
    if (status != SB_OK) return status;
    status = read_one(cache, s, ref, max_bytes, arena, payload, err);
    give_back(cache, s, status == SB_REPLACED || status == SB_IO);
    return status;
}

int sb_blob_open_file(sb_blob_cache *cache, sb_run *run, uint32_t file, sb_arena *arena) {
    const sb_fs *fs = cache->env->fs;
    sb_file_info_view view;
    sb_file_info info;
    uint8_t head[4];
    if (fs != &sb_fs_local || sb_run_file(run, file, arena, &view) != SB_OK) return -1;
    sb_slice path = sb_arena_dup(arena, view.path);
    int fd = path.p ? fs->open(fs->ctx, (const char *)path.p, SB_OPEN_READ) : -1;
    if (fd < 0) return -1;
    bool is_same = fs->info(fs->ctx, fd, &info) == 0 && info.device == view.state.device &&
                   info.inode == view.state.inode &&
                   fs->read_at(fs->ctx, fd, head, sizeof head, 0) == sizeof head &&
                   !sb_gz_begins(sb_slice_of(head, sizeof head));
    if (is_same) return fd;
    fs->close(fs->ctx, fd);
    return -1;
}

/* ---- many ------------------------------------------------------------------------------------ */

typedef struct many {
    sb_blob_cache *cache;
    const sb_ref_item *items;
    size_t max_bytes;
    sb_arena *arena;
    sb_blob_each_fn each;
    void *ud;
    size_t *order; /* indices of items by file and offset */
    sb_buf bytes;  /* what was read at a time */
} many;

typedef struct sortable {
    uint32_t file;
    uint64_t offset;
    size_t index;
} sortable;

static int by_file_and_offset(const void *a, const void *b) {
    const sortable *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static sb_status put_in_order(many *m, size_t n, sb_err *err) {
    size_t bytes;
    sortable *keys = NULL;
    if (sb_mul_size(&bytes, n, sizeof *keys)) keys = sb_arena_get(m->arena, bytes);
    m->order = keys ? sb_arena_get(m->arena, n * sizeof *m->order) : NULL;
    if (!m->order) return sb_fail_nomem(err, "for a list of records");
    for (size_t i = 0; i < n; i++)
        keys[i] = (sortable){m->items[i].file, m->items[i].ref.offset, i};
    if (n > 1) qsort(keys, n, sizeof *keys, by_file_and_offset);
    for (size_t i = 0; i < n; i++) m->order[i] = keys[i].index;
    return SB_OK;
}

/* Where the frame of a reference ends, without overflow. */
static uint64_t end_of(const sb_ref *ref) {
    uint64_t end;
    if (__builtin_add_overflow(ref->offset, (uint64_t)ref->length + SB_RECORD_OVERHEAD, &end))
        return UINT64_MAX;
    return end;
}

/* How many of the items from i on, all of one file, are read with one call. */
static size_t span_of(const many *m, size_t i, size_t n, uint64_t *end) {
    const sb_ref *first = &m->items[m->order[i]].ref;
    size_t k = i + 1;
    *end = end_of(first);
    for (; k < n; k++) {
        const sb_ref *next = &m->items[m->order[k]].ref;
        uint64_t next_end = end_of(next);
        if (next->length > m->max_bytes || next->offset > *end + GAP_BYTES) break;
        if (next_end > *end && next_end - first->offset > SPAN_BYTES) break;
        if (next_end > *end) *end = next_end;
    }
    return k;
}

static sb_status tell_all(const many *m, size_t from, size_t to, sb_status status,
                          const sb_err *err) {
    sb_status answer = SB_OK;
    for (size_t i = from; i < to && answer == SB_OK; i++)
        answer = m->each(m->ud, m->order[i], status, (sb_slice){NULL, 0}, err);
    return answer;
}

static sb_status hand_out(const many *m, const source *s, size_t from, size_t to, sb_slice bytes,
                          uint64_t start) {
    sb_status answer = SB_OK;
    for (size_t i = from; i < to && answer == SB_OK; i++) {
        const sb_ref *ref = &m->items[m->order[i]].ref;
        sb_err err = {.code = SB_OK};
        sb_slice payload = {NULL, 0};
        uint64_t at = ref->offset - start;
        sb_slice window =
            at < bytes.n ? sb_slice_of(bytes.p + at, bytes.n - (size_t)at) : (sb_slice){NULL, 0};
        sb_status status = check_frame(s, ref, window, &payload, &err);
        answer = m->each(m->ud, m->order[i], status, payload, &err);
    }
    return answer;
}

/* Items from..to of the order, which one call reads. */
static sb_status read_span(many *m, source *s, size_t from, size_t to, uint64_t end) {
    const sb_ref *first = &m->items[m->order[from]].ref;
    sb_err err = {.code = SB_OK};
    if (first->length > m->max_bytes) {
        sb_status status = too_large(s, first, first->length, m->max_bytes, &err);
        return tell_all(m, from, to, status, &err);
    }
    uint64_t size = end - first->offset;
    sb_buf_clear(&m->bytes);
    int64_t got = -ENOMEM;
    if (size <= SIZE_MAX && sb_buf_reserve(&m->bytes, (size_t)size))
        got = read_record_bytes(m->cache, s, m->bytes.p, (size_t)size, first->offset);
    if (got < 0) return tell_all(m, from, to, read_failed(s, got, first->offset, &err), &err);
    return hand_out(m, s, from, to, sb_slice_of(m->bytes.p, (size_t)got), first->offset);
}

/* Items from..to of the order, all of one file. */
static sb_status read_file(many *m, sb_run *run, size_t from, size_t to, const sb_budget *budget,
                           sb_err *err) {
    source *s;
    sb_err why = {.code = SB_OK};
    uint32_t file = m->items[m->order[from]].file;
    sb_status status = take_source(m->cache, run, file, m->arena, &s, &why);
    if (status != SB_OK) return tell_all(m, from, to, status, &why);
    sb_status answer = SB_OK;
    for (size_t i = from, next; i < to && answer == SB_OK; i = next) {
        uint64_t end;
        next = span_of(m, i, to, &end);
        answer = sb_budget_over(budget) ? sb_fail_timeout(err) : read_span(m, s, i, next, end);
    }
    give_back(m->cache, s, false);
    return answer;
}

sb_status sb_blob_read_many(sb_blob_cache *cache, sb_run *run, const sb_ref_item *items, size_t n,
                            size_t max_bytes, const sb_budget *budget, sb_arena *arena,
                            sb_blob_each_fn each, void *ud, sb_err *err) {
    many m = {.cache = cache,
              .items = items,
              .max_bytes = max_bytes,
              .arena = arena,
              .each = each,
              .ud = ud};
    sb_buf_init(&m.bytes, arena->alloc, SIZE_MAX / 2);
    sb_status answer = put_in_order(&m, n, err);
    for (size_t i = 0, end; i < n && answer == SB_OK; i = end) {
        uint32_t file = items[m.order[i]].file;
        for (end = i + 1; end < n && items[m.order[end]].file == file;) end++;
        answer = read_file(&m, run, i, end, budget, err);
    }
    sb_buf_fini(&m.bytes);
    return answer;
}
