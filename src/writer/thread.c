/* thread.c: the writer's thread: takes calls from the ring, encodes them, writes them in batches.
 *
 * It naps for 10 ms while calls come in, so that callers almost never pay for waking it, and sleeps
 * for good after a second without any. A batch is written when it is 1 MiB, when max_queue calls
 * are in it, when its oldest call is 60 ms old, or when somebody flushes.
 *
 * When the file can't be written, the batch stays as it is, the incomplete record at the file's end
 * is completed by the next attempt (or cut off at the end), and the ring fills up behind it. */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "base/slice.h"
#include "codec/record.h"
#include "writer/writer_int.h"
#include "base/banned.h"

#define MAX_EVENT ((size_t)INT32_MAX)
#define AHEAD_BYTES ((size_t)256 << 10)
#define PAGE_BYTES ((uintptr_t)4096)

/* Everything below runs on the writer's thread. The mutex is locked only to access the shared
 * fields. */
typedef struct loop {
    sb_work *work;
    const sb_writer *w;
    bool closing;
    bool flushing;
} loop;

static uint64_t steady_now(const sb_writer *w) {
    return w->env->clock->steady(w->env->clock->ctx);
}

/* ---- ring to batch --------------------------------------------------------------------------- */

static sb_call unpack_call(const uint8_t *entry) {
    sb_packed_call packed;
    const uint8_t *p = entry + SB_RING_HEADER;
    memcpy(&packed, p, sizeof packed);
    const uint8_t *params = p + sizeof packed;
    const uint8_t *data = params + sb_ring_padded(packed.params_n);
    const uint8_t *texts = data + sb_ring_padded(packed.data_n);
    return (sb_call){
        .kind = (sb_call_kind)packed.kind,
        .wall_time = packed.wall_time,
        .step = packed.step,
        .number = packed.number,
        .params = sb_slice_of(params, packed.params_n),
        .data = sb_slice_of(data, (size_t)packed.data_n),
        .tag = sb_slice_of(texts, packed.tag_n),
        .display_name = sb_slice_of(texts + packed.tag_n, packed.display_name_n),
        .description =
            sb_slice_of(texts + packed.tag_n + packed.display_name_n, packed.description_n),
    };
}

static void give_up(sb_work *work, uint64_t calls) {
    atomic_fetch_add(&work->dropped, calls);
    pthread_mutex_lock(&work->mutex);
    work->lost_since_flush += calls;
    pthread_mutex_unlock(&work->mutex);
}

static void encode_next(loop *l, const uint8_t *entry) {
    sb_work *work = l->work;
    sb_call call = unpack_call(entry);
    size_t before = work->batch.n;
    size_t at = sb_record_begin(&work->batch);
    sb_err err = {.code = SB_OK};
    sb_arena_mark mark = sb_arena_here(&work->encoder.scratch);
    sb_status status = sb_encode_call(&work->encoder, &call, &work->batch, &err);
    sb_arena_reset(&work->encoder.scratch, mark);
    if (status == SB_OK) {
        sb_record_end(&work->batch, at);
        status = sb_buf_check(&work->batch, "an event", &err);
        size_t n = work->batch.n - before;
        if (status == SB_OK && n > MAX_EVENT)
            status = sb_fail(&err, SB_LIMIT, 0,
                             "an event of %zu bytes is over the 2 GiB that readers take", n);
    }
    if (status != SB_OK) {
        /* This event is not written; the other ones are. */
        work->batch.n = before;
        work->batch.failed = SB_OK;
        sb_work_trouble(work, &err);
        give_up(work, 1);
        return;
    }
    work->batch_calls++;
}

static void wake_waiters(sb_work *work) {
    if (!atomic_load(&work->waiters)) return;
    pthread_mutex_lock(&work->mutex);
    pthread_cond_broadcast(&work->room);
    pthread_mutex_unlock(&work->mutex);
}

static void take_entry(loop *l, uint8_t *entry, uint32_t size, uint32_t kind) {
    sb_work *work = l->work;
    if (kind == SB_ENTRY_CALL) {
        encode_next(l, entry);
    } else {
        sb_big_call big;
        memcpy(&big, entry + SB_RING_HEADER, sizeof big);
        encode_next(l, big.block);
        sb_alloc_put(l->w->env->alloc, big.block, (size_t)big.size);
        atomic_fetch_sub(&work->big_used, big.size);
    }
    sb_ring_pop(&work->ring, entry, size);
}

/* Encodes calls from the ring into the batch until the ring is empty or the batch is full. True
 * when there was at least one. */
static bool drain_ring(loop *l) {
    sb_work *work = l->work;
    uint8_t *entry;
    uint32_t size, kind;
    uint64_t end;
    bool any = false;
    while (work->batch.n < SB_BATCH_BYTES &&
           (entry = sb_ring_peek(&work->ring, &size, &kind, &end))) {
        if (work->batch_since == 0) work->batch_since = steady_now(l->w);
        take_entry(l, entry, size, kind);
        work->batch_to = end;
        any = true;
        if (atomic_load_explicit(&work->waiters, memory_order_relaxed)) wake_waiters(work);
    }
    wake_waiters(work);
    return any;
}

/* ---- batch to file --------------------------------------------------------------------------- */

/* Wakes the threads that wait for a flush: everything before batch_to is written, or an attempt
 * failed. */
static void settle_flush(sb_work *work, bool ok) {
    atomic_store(&work->failing, !ok);
    atomic_store(&work->bytes, work->file.size);
    pthread_mutex_lock(&work->mutex);
    if (ok)
        work->written_to = work->batch_to;
    else
        work->failures++;
    pthread_cond_broadcast(&work->done);
    pthread_mutex_unlock(&work->mutex);
}

/* Counts the records that are in the file as a whole, also when the rest of the batch is not. */
static void count_written(sb_work *work) {
    uint64_t before = work->batch_counted;
    sb_slice batch = sb_buf_slice(&work->batch);
    while (work->batch_counted < work->batch_calls) {
        sb_record record;
        sb_slice rest = sb_slice_of(batch.p + work->batch_whole, batch.n - work->batch_whole);
        if (sb_record_read_header(&record, rest) != SB_OK) break;
        if (work->batch_whole + record.size > work->batch_done) break;
        work->batch_whole += (size_t)record.size;
        work->batch_counted++;
    }
    atomic_fetch_add(&work->written, work->batch_counted - before);
}

/* None of the batch is in the file. */
static void forget_written(sb_work *work) {
    work->batch_done = work->batch_whole = 0;
    work->batch_counted = 0;
}

/* The file was removed while we had it open: continue in a new one, and report it. Complete records
 * in the old file are lost with it; a record that was only partly written is written again. */
static sb_status replace_file(loop *l, sb_err *err) {
    sb_work *work = l->work;
    sb_err told;
    sb_fail(&told, SB_IO, 0,
            "%s: was removed while it was being written; what comes now goes into a new file",
            sb_event_file_path(&work->file));
    sb_status status = sb_event_file_open(&work->file, err);
    if (status != SB_OK) return status;
    atomic_fetch_sub(&work->written, work->batch_counted); /* they are written again */
    forget_written(work);
    sb_work_trouble(work, &told);
    return sb_work_share_path(work, l->w, err);
}

static sb_status try_write(loop *l, sb_err *err) {
    sb_work *work = l->work;
    if (sb_event_file_is_gone(&work->file)) {
        sb_status status = replace_file(l, err);
        if (status != SB_OK) return status;
    }
    sb_slice rest = sb_slice_of(work->batch.p + work->batch_done, work->batch.n - work->batch_done);
    size_t done = 0;
    sb_status status = sb_event_file_write(&work->file, rest, &done, err);
    work->batch_done += done;
    return status;
}

static void write_batch(loop *l) {
    sb_work *work = l->work;
    sb_err err = {.code = SB_OK};
    if (try_write(l, &err) != SB_OK) {
        count_written(work);
        work->retry_at = steady_now(l->w) + SB_RETRY_NS;
        sb_work_trouble(work, &err);
        settle_flush(work, false);
        return;
    }
    atomic_fetch_add(&work->written, work->batch_calls - work->batch_counted);
    sb_buf_clear(&work->batch);
    forget_written(work);
    work->batch_calls = 0;
    work->batch_since = 0;
    /* Release the memory of the batch when one large event made it grow. */
    if (work->batch.room > 16 * SB_BATCH_BYTES) sb_buf_fini(&work->batch);
    settle_flush(work, true);
}

static bool is_due(const loop *l) {
    const sb_work *work = l->work;
    if (work->batch.n == 0) return false;
    uint64_t now = steady_now(l->w);
    bool failing = atomic_load(&l->work->failing);
    if (l->closing || l->flushing) return true;
    if (failing) return now >= work->retry_at;
    uint64_t age = (uint64_t)l->w->opts.flush_millis * 1000000u;
    if (age > SB_WRITE_AGE_NS) age = SB_WRITE_AGE_NS;
    return work->batch.n >= SB_BATCH_BYTES || work->batch_calls >= l->w->opts.max_queue ||
           now - work->batch_since >= age;
}

/* When the writer is closed and the file still can't be written: truncate it to complete
 * records. */
static void cut_incomplete(loop *l) {
    sb_work *work = l->work;
    if (work->batch.n == 0) return;
    count_written(work);
    give_up(work, work->batch_calls - work->batch_counted);
    size_t whole = work->batch_whole;
    if (whole == work->batch_done || work->file.file < 0) return;
    sb_err err;
    if (sb_event_file_cut(&work->file, work->file.size - (work->batch_done - whole), &err) != SB_OK)
        sb_work_trouble(work, &err);
    atomic_store(&work->bytes, work->file.size);
}

/* Frees the calls that are left in the ring. */
static void empty_ring(loop *l) {
    sb_work *work = l->work;
    uint8_t *entry;
    uint32_t size, kind;
    uint64_t end, calls = 0;
    while ((entry = sb_ring_peek(&work->ring, &size, &kind, &end))) {
        if (kind == SB_ENTRY_BIG) {
            sb_big_call big;
            memcpy(&big, entry + SB_RING_HEADER, sizeof big);
            sb_alloc_put(l->w->env->alloc, big.block, (size_t)big.size);
        }
        sb_ring_pop(&work->ring, entry, size);
        calls++;
    }
    if (calls) give_up(work, calls);
}

/* ---- sleeping -------------------------------------------------------------------------------- */

static struct timespec in_ns(uint64_t ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t sum = (uint64_t)t.tv_nsec + ns;
    t.tv_sec += (time_t)(sum / 1000000000u);
    t.tv_nsec = (long)(sum % 1000000000u);
    return t;
}

static void sleep_for_good(sb_work *work) {
    /* Sequentially consistent on both sides: a producer first reserves and then reads `sleep`; this
     * thread first stores `sleep` and then reads the reservations. So at least one of the two sees
     * the other's store. */
    atomic_store(&work->sleep, SB_ASLEEP);
    while (!work->wake_wanted && atomic_load(&work->ring.head) == atomic_load(&work->ring.tail))
        pthread_cond_wait(&work->wake, &work->mutex);
}

static void sleep_briefly(sb_work *work) {
    atomic_store(&work->sleep, SB_NAPPING);
    struct timespec until = in_ns(SB_NAP_NS);
    while (!work->wake_wanted)
        if (pthread_cond_timedwait(&work->wake, &work->mutex, &until) == ETIMEDOUT) break;
}

static void sleep_unless_busy(loop *l) {
    sb_work *work = l->work;
    bool idle = work->batch.n == 0 && steady_now(l->w) - work->last_active > SB_IDLE_NS;
    pthread_mutex_lock(&work->mutex);
    if (!work->wake_wanted) {
        if (idle)
            sleep_for_good(work);
        else
            sleep_briefly(work);
    }
    atomic_store(&work->sleep, SB_AWAKE);
    work->wake_wanted = false;
    l->closing = work->closing;
    l->flushing = work->flush_target > work->written_to;
    pthread_mutex_unlock(&work->mutex);
}

/* Makes the ring's next pages resident before a caller writes to them: a page fault costs the
 * caller more than fifty calls. Only as many as are needed soon, so that a writer with few calls
 * stays small. Where the kernel does not support it, callers take the page faults. */
static void prepare_pages(sb_work *work) {
#ifdef MADV_POPULATE_WRITE
    uint64_t soon = atomic_load_explicit(&work->ring.head, memory_order_relaxed) + AHEAD_BYTES;
    while (work->prepared < soon && work->prepared < work->ring.size) {
        uintptr_t from =
            ((uintptr_t)work->ring.bytes + work->prepared + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        uintptr_t room = (uintptr_t)work->ring.bytes + work->ring.size - from;
        size_t n = (room < AHEAD_BYTES ? room : AHEAD_BYTES) & ~(PAGE_BYTES - 1);
        void *page = work->ring.bytes + (from - (uintptr_t)work->ring.bytes);
        if (n == 0 || madvise(page, n, MADV_POPULATE_WRITE) != 0) work->prepared = work->ring.size;
        work->prepared += AHEAD_BYTES;
    }
#else
    (void)work;
#endif
}

/* A flush is also complete when all of its calls failed to encode and nothing was written. */
static void settle_empty(sb_work *work) {
    if (work->batch.n) return;
    pthread_mutex_lock(&work->mutex);
    if (work->written_to != work->batch_to || work->flush_target > work->written_to) {
        work->written_to = work->batch_to;
        pthread_cond_broadcast(&work->done);
    }
    pthread_mutex_unlock(&work->mutex);
}

void *sb_writer_thread(void *opaque) {
    sb_thread_args *args = opaque;
    loop l = {.work = args->work, .w = args->writer};
    sb_alloc_put(l.w->env->alloc, args, sizeof *args);
    sb_work *work = l.work;
    work->last_active = steady_now(l.w);
    for (;;) {
        prepare_pages(work);
        bool any = drain_ring(&l);
        if (any) work->last_active = steady_now(l.w);
        if (is_due(&l)) write_batch(&l);
        settle_empty(work);
        bool stuck = atomic_load(&work->failing);
        /* Sleep 10 ms unless there is much to do: a thread that runs after every call slows the
         * callers down more than one that runs now and then. */
        if (any && !stuck && sb_ring_used(&work->ring) > work->ring.size / 8) continue;
        if (l.closing) {
            bool empty = sb_ring_used(&work->ring) == 0 && work->batch.n == 0;
            if (empty || stuck) break;
            continue;
        }
        sleep_unless_busy(&l);
    }
    cut_incomplete(&l);
    empty_ring(&l);
    return NULL;
}
