/* tail.c: the records of an event file, one after the other. Overview in tail.h and tail_int.h. */
#include "logdir/tail.h"

#include <errno.h>

#include "base/slice.h"
#include "logdir/tail_int.h"
#include "base/banned.h"

/* A window must hold a header and what may follow a large record. */
#define SMALLEST_WINDOW ((size_t)64)

/* Begins anew as a reader of what is in the archive. */
static void turn_into_archive(sb_tail *t, uint64_t offset) {
    t->is_archive = true;
    t->base = offset;
    t->at = t->n = 0;
}

static sb_status open_first(sb_tail *t, sb_err *err) {
    int known = t->fs->stat(t->fs->ctx, t->path, &t->seen);
    if (known < 0)
        return sb_fail_errno(err, known == -ENOENT ? SB_NOT_FOUND : SB_IO, -known,
                             "%s: can't open this file", t->path);
    if (!t->seen.is_file)
        return sb_fail(err, SB_INVALID, 0, "%s: is no file that could be read", t->path);
    sb_status status = sb_tail_wake(t, err);
    if (status != SB_OK) return status;
    uint8_t head[3];
    if (t->start > 0 && sb_tail_peek(t, head, sizeof head, 0) &&
        sb_gz_begins(sb_slice_of(head, sizeof head)))
        turn_into_archive(t, t->start);
    return SB_OK;
}

sb_status sb_tail_open(sb_tail **out, const sb_env *env, const char *path, const sb_tail_opts *opts,
                       sb_err *err) {
    static const sb_tail_opts defaults;
    if (!opts) opts = &defaults;
    *out = NULL;
    sb_tail *t = sb_alloc_zeroed(env->alloc, 1, sizeof *t);
    if (!t) return sb_fail_nomem(err, "for reading an event file");
    t->alloc = env->alloc;
    t->fs = env->fs;
    t->file = -1;
    t->window = opts->window ? opts->window : SB_TAIL_WINDOW;
    if (t->window < SMALLEST_WINDOW) t->window = SMALLEST_WINDOW;
    t->search = opts->search ? opts->search : UINT64_MAX;
    t->max_payload = opts->max_payload ? opts->max_payload : SB_TAIL_MAX_PAYLOAD;
    if (t->max_payload > SIZE_MAX / 8) t->max_payload = SIZE_MAX / 8;
    t->start = t->base = opts->offset;
    t->path_size = strlen(path) + 1;
    t->path = sb_alloc_get(t->alloc, t->path_size);
    sb_status status = SB_OK;
    if (t->path) {
        memcpy(t->path, path, t->path_size);
        status = open_first(t, err);
    } else {
        status = sb_fail_nomem(err, "for a path");
    }
    if (status != SB_OK) {
        sb_tail_close(t);
        return status;
    }
    *out = t;
    return SB_OK;
}

void sb_tail_sleep(sb_tail *t) {
    sb_tail_forget(t);
    sb_alloc_put(t->alloc, t->p, t->room);
    t->p = NULL;
    t->room = 0;
    t->was_filled = false;
    sb_gz_free(t->gz);
    t->gz = NULL;
    if (t->file >= 0) t->fs->close(t->fs->ctx, t->file);
    t->file = -1;
}

void sb_tail_close(sb_tail *t) {
    if (!t) return;
    sb_tail_sleep(t);
    sb_alloc_put(t->alloc, t->path, t->path_size);
    sb_alloc_put(t->alloc, t, sizeof *t);
}

/* ---- one record ------------------------------------------------------------------------------ */

static inline sb_status emit(sb_tail *t, const sb_record *record, sb_tail_record *out) {
    out->payload = record->payload;
    out->offset = t->base + t->at;
    out->size = record->size;
    out->payload_crc = record->payload_crc;
    t->last = (sb_tail_place){out->offset, out->size};
    t->last_crc = record->payload_crc;
    t->at += (size_t)record->size;
    t->counts.records++;
    return SB_OK;
}

/* The first record of all: what the file begins with will tell whether it is still the same. */
static void remember_head(sb_tail *t, const sb_record *record) {
    if (t->base + t->at != 0) return;
    t->head_n = record->size < SB_TAIL_HEAD ? (size_t)record->size : SB_TAIL_HEAD;
    memcpy(t->head, t->p + t->at, t->head_n);
}

static sb_status step_over(sb_tail *t, sb_status why, uint64_t size, sb_tail_record *out) {
    out->offset = sb_tail_offset(t);
    out->size = size;
    if (why == SB_LIMIT) {
        t->counts.skipped++;
    } else {
        t->counts.damaged++;
        t->counts.lost_bytes += size;
    }
    return why;
}

/* The payload does not match its checksum. When a record begins behind it the length was right, and
 * it is stepped over. When none does, or when the checksum was perhaps not written yet, the place
 * is lost: what follows may begin inside of what this frame claims. SB_OK: look again. */
static sb_status bad_payload(sb_tail *t, sb_record *record, sb_tail_record *out, sb_err *err) {
    sb_status status = sb_tail_fill(t, record->size + SB_RECORD_HEADER, err);
    if (status != SB_OK && status != SB_MORE && status != SB_CORRUPT) return status;
    if (sb_record_read(record, sb_tail_ahead(t)) != SB_BAD_PAYLOAD) return SB_OK;
    sb_slice behind = sb_tail_ahead(t);
    behind.p += record->size;
    behind.n -= (size_t)record->size;
    sb_record next;
    bool unwritten = behind.n == 0 && record->payload_crc >> 24 == 0; /* its last byte reads as 0 */
    bool is_lost = unwritten || sb_record_read_header(&next, behind) == SB_BAD_LENGTH;
    if (is_lost && sb_tail_may_spend(t, record->size))
        return sb_tail_lose(t, SB_BAD_PAYLOAD, record, err);
    out->payload = record->payload;
    status = step_over(t, SB_BAD_PAYLOAD, record->size, out);
    t->at += (size_t)record->size;
    return status;
}

/* A large frame of which the window holds the header only: SB_OK when all of it is there and good,
 * so that it may be loaded. A length that lies costs no memory. */
static sb_status check_large(sb_tail *t, sb_record *record, sb_tail_record *out, sb_err *err) {
    uint64_t offset = t->base + t->at, end;
    if (__builtin_add_overflow(offset, record->size, &end)) end = UINT64_MAX;
    sb_status status = sb_tail_reach(t, end, err);
    if (status != SB_OK) return status;
    int good = sb_tail_check_frame(t, offset, record->size, &record->payload_crc);
    if (good > 0) return SB_OK;
    if (good < 0) return sb_fail_errno(err, SB_IO, -good, "%s: can't read this file", t->path);
    uint8_t behind[SB_RECORD_HEADER];
    sb_record next;
    bool is_last = !sb_tail_peek(t, behind, sizeof behind, end);
    bool is_lost =
        is_last ? record->payload_crc >> 24 == 0
                : sb_record_read_header(&next, sb_slice_of(behind, sizeof behind)) == SB_BAD_LENGTH;
    if (is_lost && sb_tail_may_spend(t, record->size)) {
        status = sb_tail_lose(t, SB_BAD_PAYLOAD, record, err);
        return status == SB_OK ? SB_GARBAGE : status;
    }
    status = step_over(t, SB_BAD_PAYLOAD, record->size, out);
    sb_tail_move(t, end);
    return status;
}

/* A record above the limit: SB_LIMIT when the file has all of it, else as sb_tail_at_end. */
static sb_status too_large(sb_tail *t, uint64_t size, sb_tail_record *out, sb_err *err) {
    uint64_t offset = t->base + t->at;
    uint64_t end;
    if (__builtin_add_overflow(offset, size, &end)) end = UINT64_MAX;
    sb_status status = sb_tail_reach(t, end, err);
    if (status != SB_OK) return status;
    step_over(t, SB_LIMIT, size, out);
    sb_tail_move(t, end);
    return SB_LIMIT;
}

/* What to do when the window begins with no whole, good record. SB_OK: look again. */
static sb_status mend(sb_tail *t, sb_status why, sb_record *record, sb_tail_record *out,
                      sb_err *err) {
    bool knows_length = why != SB_BAD_LENGTH && sb_tail_ahead(t).n >= SB_RECORD_HEADER;
    if (knows_length && record->length > t->max_payload)
        return too_large(t, record->size, out, err);
    if (why == SB_MORE && sb_tail_is_large(t, record->size)) {
        sb_status status = check_large(t, record, out, err);
        if (status != SB_OK) return status == SB_GARBAGE ? SB_OK : status;
    }
    if (why == SB_MORE) return sb_tail_fill(t, record->size, err);
    if (why == SB_BAD_PAYLOAD) return bad_payload(t, record, out, err);
    if (t->base + t->at == 0 && !t->is_archive && sb_gz_begins(sb_tail_ahead(t))) {
        turn_into_archive(t, 0);
        return SB_OK;
    }
    return sb_tail_lose(t, SB_BAD_LENGTH, NULL, err);
}

static sb_status next_slowly(sb_tail *t, sb_tail_record *out, sb_err *err) {
    out->payload = (sb_slice){NULL, 0};
    for (;;) {
        sb_status status;
        if (t->replaced) return sb_tail_say_replaced(t, err, "it was replaced, open it again");
        if (t->lost) {
            bool again;
            status = sb_tail_find_way(t, &again, err);
            if (status != SB_OK) return status;
            if (again) continue;
            status = step_over(t, t->lost_kind, t->base + t->at - t->lost_at, out);
            t->lost = false;
            return status;
        }
        sb_record record;
        status = sb_record_read(&record, sb_tail_ahead(t));
        if (status == SB_OK && record.length <= t->max_payload) {
            remember_head(t, &record);
            return emit(t, &record, out);
        }
        status = mend(t, status, &record, out, err);
        if (status != SB_OK) return status;
    }
}

static sb_status note_error(sb_tail *t, sb_status status, const sb_tail_record *out) {
    if (status == SB_OK || status == SB_MORE || status == SB_TIMEOUT) return status;
    bool placed = status == SB_BAD_LENGTH || status == SB_BAD_PAYLOAD || status == SB_LIMIT;
    t->counts.last_error = status;
    t->counts.last_error_offset = placed ? out->offset : sb_tail_offset(t);
    return status;
}

sb_status sb_tail_next(sb_tail *t, sb_tail_record *out, sb_err *err) {
    sb_record record;
    if (t->at < t->n && sb_record_read(&record, sb_tail_ahead(t)) == SB_OK &&
        record.length <= t->max_payload)
        return emit(t, &record, out);
    return note_error(t, next_slowly(t, out, err), out);
}

size_t sb_tail_take(sb_tail *t, sb_record *out, size_t max, uint64_t *offset) {
    /* The first record of all is sb_tail_next's, which remembers what the file begins with. */
    if (t->at == t->n || t->base + t->at == 0 || t->lost || t->replaced) return 0;
    size_t n = sb_record_take(sb_tail_ahead(t), t->max_payload, out, max);
    *offset = t->base + t->at;
    if (n == 0) return 0;
    const sb_record *last = &out[n - 1];
    const uint8_t *begin = last->payload.p - SB_RECORD_HEADER;
    size_t end = (size_t)(begin - t->p) + (size_t)last->size;
    t->last = (sb_tail_place){t->base + (uint64_t)(begin - t->p), last->size};
    t->last_crc = last->payload_crc;
    t->at = end;
    t->counts.records += n;
    return n;
}

/* ---- what is known --------------------------------------------------------------------------- */

sb_tail_counts sb_tail_stats(const sb_tail *t) {
    sb_tail_counts counts = t->counts;
    counts.offset = sb_tail_offset(t);
    counts.size = t->is_archive && t->archive_ended ? t->archive_size : t->seen.size;
    return counts;
}

sb_tail_ending sb_tail_rest(const sb_tail *t) {
    sb_tail_counts counts = sb_tail_stats(t);
    uint64_t bytes = counts.size > counts.offset ? counts.size - counts.offset : 0;
    sb_tail_ending rest = {.kind = SB_OK, .offset = counts.offset, .bytes = bytes};
    if (t->archive_damaged || t->archive_cut)
        rest.kind = SB_CORRUPT;
    else if (t->lost)
        rest.kind = t->lost_kind;
    else if (bytes > 0)
        rest.kind = SB_MORE;
    return rest;
}
