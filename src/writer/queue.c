/* queue.c: the caller's side: checks a call and copies it into the ring. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/checked.h"
#include "base/sized.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "codec/tensor.h"
#include "writer/kinds/strides.h"
#include "writer/writer_int.h"
#include "base/banned.h"

#define MAX_TEXT ((size_t)64 << 20) /* of a display name or a description */
#define WAIT_NS 100000000u

sb_status sb_call_refuse(sb_writer *w, sb_status code, const char *format, ...) {
    sb_work *work = sb_writer_enter(w);
    if (!work) return code;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&work->mutex);
    sb_fail(&work->latest, code, 0, "%s", text);
    pthread_mutex_unlock(&work->mutex);
    return code;
}

sb_status sb_call_read_sized(sb_writer *w, void *to, size_t size, const void *first, size_t i,
                             const char *type) {
    sb_err err;
    sb_status status = sb_sized_read(to, size, first, i, type, &err);
    return status == SB_OK ? SB_OK : sb_call_refuse(w, status, "%s", err.text);
}

static sb_status take_call_text(sb_writer *w, sb_slice *out, const char *text, size_t max,
                                const char *what) {
    if (!text) return SB_OK;
    size_t n = strnlen(text, max + 1);
    if (n > max) return sb_call_refuse(w, SB_LIMIT, "%s is longer than %zu bytes", what, max);
    *out = sb_slice_of(text, n);
    if (!sb_utf8_valid(*out))
        return sb_call_refuse(w, SB_INVALID, "%s '%.*s' is not valid UTF-8", what, SB_SHOWN(*out));
    return SB_OK;
}

static sb_status take_meta(sb_writer *w, sb_call *call, const sb_meta *given) {
    sb_meta meta;
    sb_status status = SB_READ_SIZED(w, &meta, sb_meta, given, 0);
    if (status == SB_OK)
        status =
            take_call_text(w, &call->display_name, meta.display_name, MAX_TEXT, "the display name");
    if (status == SB_OK)
        status =
            take_call_text(w, &call->description, meta.description, MAX_TEXT, "the description");
    /* TensorBoard's fast loader stops reading a whole file at one NaN here. */
    if (status == SB_OK && !isfinite(meta.wall_time))
        return sb_call_refuse(w, SB_INVALID, "a wall time must be a finite number of seconds");
    call->wall_time = status == SB_OK ? meta.wall_time : 0;
    return status;
}

sb_status sb_call_begin(sb_writer *w, sb_call *call, sb_call_kind kind, const char *tag,
                        bool needs_tag, int64_t step, const sb_meta *meta) {
    if (!w) return SB_INVALID;
    *call = (sb_call){.kind = kind, .step = step};
    if (!tag && needs_tag) return sb_call_refuse(w, SB_INVALID, "a summary needs a tag");
    sb_status status = take_call_text(w, &call->tag, tag, SB_TAG_MAX, "the tag");
    if (status == SB_OK && meta) status = take_meta(w, call, meta);
    if (call->wall_time == 0) call->wall_time = sb_wall_seconds(w->env->clock);
    return status;
}

/* The size of a ring entry that holds this call; 0 when the sum overflows. */
static uint64_t entry_size(const sb_call *call, uint64_t data_n) {
    uint64_t fixed = SB_RING_HEADER + sizeof(sb_packed_call) + sb_ring_padded(call->params.n) +
                     call->tag.n + call->display_name.n + call->description.n;
    uint64_t size;
    if (data_n > UINT64_MAX - SB_RING_ALIGN ||
        __builtin_add_overflow(fixed, sb_ring_padded(data_n), &size) || size > SIZE_MAX / 2)
        return 0;
    return sb_ring_padded(size);
}

static void pack_call(uint8_t *entry, const sb_call *call, const sb_piece *pieces, size_t count,
                      uint64_t data_n) {
    sb_packed_call packed = {
        .wall_time = call->wall_time,
        .step = call->step,
        .number = call->number,
        .data_n = data_n,
        .params_n = (uint32_t)call->params.n,
        .tag_n = (uint32_t)call->tag.n,
        .display_name_n = (uint32_t)call->display_name.n,
        .description_n = (uint32_t)call->description.n,
        .kind = call->kind,
    };
    uint8_t *p = entry + SB_RING_HEADER;
    memcpy(p, &packed, sizeof packed);
    p += sizeof packed;
    if (call->params.n) memcpy(p, call->params.p, call->params.n);
    p += sb_ring_padded(call->params.n);
    uint8_t *texts = p + sb_ring_padded(data_n);
    for (size_t i = 0; i < count; i++) {
        const sb_piece *piece = &pieces[i];
        if (piece->gather)
            sb_strides_copy(p, piece->n, piece->gather, sb_dtype_size(piece->gather->dtype));
        else if (piece->n)
            memcpy(p, piece->p, piece->n);
        p += piece->n;
    }
    const sb_slice parts[] = {call->tag, call->display_name, call->description};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].n) memcpy(texts, parts[i].p, parts[i].n);
        texts += parts[i].n;
    }
}

/* Waits until there may be room in the ring. The mutex is held. The caller has announced itself in
 * `waiters` before it looked at the ring again, so the thread either sees the announcement or has
 * already made room. */
static void wait_for_room(sb_work *work) {
    work->wake_wanted = true;
    pthread_cond_signal(&work->wake);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&work->room, &work->mutex, &until);
}

static sb_status drop_call(sb_work *work) {
    atomic_fetch_add(&work->dropped, 1);
    return atomic_load(&work->failing) ? SB_IO : SB_DROPPED;
}

static bool must_drop(const sb_writer *w, sb_work *work) {
    return w->opts.when_full == SB_FULL_DROP || atomic_load(&work->failing);
}

uint8_t *sb_work_reserve_slow(sb_writer *w, sb_work *work, uint32_t size, uint64_t *end,
                              sb_status *status) {
    uint8_t *entry = NULL;
    atomic_fetch_add(&work->waiters, 1);
    for (;;) {
        entry = sb_ring_reserve(&work->ring, size, end);
        if (entry) break;
        if (must_drop(w, work)) {
            *status = drop_call(work);
            break;
        }
        pthread_mutex_lock(&work->mutex);
        entry = sb_ring_reserve(&work->ring, size, end);
        if (!entry) wait_for_room(work);
        pthread_mutex_unlock(&work->mutex);
        if (entry) break;
    }
    atomic_fetch_sub(&work->waiters, 1);
    if (!entry) sb_work_wake(work);
    return entry;
}

static uint8_t *reserve_entry(sb_writer *w, sb_work *work, uint32_t size, uint64_t *end,
                              sb_status *status) {
    uint8_t *entry = sb_ring_reserve(&work->ring, size, end);
    return entry ? entry : sb_work_reserve_slow(w, work, size, end, status);
}

/* Reserves size bytes of the budget for large calls. When there are not enough: waits or drops, by
 * the writer's policy. */
static sb_status take_big(sb_writer *w, sb_work *work, uint64_t size) {
    if (size > w->opts.big_bytes)
        return sb_call_refuse(w, SB_LIMIT,
                              "a call of %llu bytes is larger than big_bytes, which is %zu",
                              (unsigned long long)size, w->opts.big_bytes);
    for (;;) {
        uint64_t used = atomic_load(&work->big_used);
        while (used + size <= w->opts.big_bytes)
            if (atomic_compare_exchange_weak(&work->big_used, &used, used + size)) return SB_OK;
        if (must_drop(w, work)) return drop_call(work);
        atomic_fetch_add(&work->waiters, 1);
        pthread_mutex_lock(&work->mutex);
        if (atomic_load(&work->big_used) + size > w->opts.big_bytes) wait_for_room(work);
        pthread_mutex_unlock(&work->mutex);
        atomic_fetch_sub(&work->waiters, 1);
    }
}

static sb_status put_big(sb_writer *w, sb_work *work, const sb_call *call, const sb_piece *pieces,
                         size_t count, uint64_t data_n, uint64_t size) {
    sb_status status = take_big(w, work, size);
    if (status != SB_OK) return status;
    uint8_t *block = sb_alloc_get(w->env->alloc, (size_t)size);
    if (!block) {
        atomic_fetch_sub(&work->big_used, size);
        return sb_call_refuse(w, SB_NOMEM, "out of memory for a call of %llu bytes",
                              (unsigned long long)size);
    }
    pack_call(block, call, pieces, count, data_n);
    uint64_t end;
    uint32_t small = sb_ring_entry_size(sizeof(sb_big_call));
    uint8_t *entry = reserve_entry(w, work, small, &end, &status);
    if (!entry) {
        sb_alloc_put(w->env->alloc, block, (size_t)size);
        atomic_fetch_sub(&work->big_used, size);
        return status;
    }
    const sb_big_call big = {block, size};
    memcpy(entry + SB_RING_HEADER, &big, sizeof big);
    sb_ring_publish(entry, small, SB_ENTRY_BIG);
    sb_work_nudge(w, work, end);
    return SB_OK;
}

static sb_status put_inline(sb_writer *w, sb_work *work, const sb_call *call,
                            const sb_piece *pieces, size_t count, uint64_t data_n, uint32_t size) {
    sb_status status = SB_OK;
    uint64_t end;
    uint8_t *entry = reserve_entry(w, work, size, &end, &status);
    if (!entry) return status;
    pack_call(entry, call, pieces, count, data_n);
    sb_ring_publish(entry, size, SB_ENTRY_CALL);
    sb_work_nudge(w, work, end);
    return SB_OK;
}

sb_status sb_call_put(sb_writer *w, const sb_call *call, const sb_piece *pieces, size_t count) {
    sb_work *work = sb_writer_enter(w);
    if (!work) return sb_writer_error(w, NULL);
    uint64_t data_n = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(data_n, pieces[i].n, &data_n)) data_n = UINT64_MAX;
    uint64_t size = entry_size(call, data_n);
    if (size == 0 || call->params.n > UINT32_MAX)
        return sb_call_refuse(w, SB_LIMIT, "a call of %llu bytes is too large",
                              (unsigned long long)data_n);
    sb_status status = size <= w->inline_max
                           ? put_inline(w, work, call, pieces, count, data_n, (uint32_t)size)
                           : put_big(w, work, call, pieces, count, data_n, size);
    if (status == SB_OK && atomic_load_explicit(&work->tell, memory_order_relaxed) & SB_TELL_CALL)
        status = sb_work_tell_call(work);
    return status;
}
